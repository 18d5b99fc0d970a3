/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluates the formulas of a gradient (rules/gradient_text.h) for a recorded call. Before its first use a formula is
 * bound: each call gets its op, the signature that its arguments fit, and the source of each parameter's value. A bound
 * formula is a list of calls, run from the first node to the last; every value is used once and then freed.
 */
#include "autograd/gradient_walk.h"

#include "base/dtype.h"

#include <string.h>

enum { MAX_NODES = 64, MAX_LISTS = 8 };

/* The types that matter for the choice of a signature. */
typedef enum value_type { NONE, TENSOR, TENSORS, NUMBER, INTS, FLOATS, DTYPE, TEXT, GENERATOR } value_type;

static const value_type type_of_param[DT__N_PARAM_TYPES] = {
    [DT__PARAM_TENSOR] = TENSOR, [DT__PARAM_TENSORS] = TENSORS, [DT__PARAM_INT] = NUMBER,
    [DT__PARAM_FLOAT] = NUMBER,  [DT__PARAM_BOOL] = NUMBER,     [DT__PARAM_SCALAR] = NUMBER,
    [DT__PARAM_INTS] = INTS,     [DT__PARAM_FLOATS] = FLOATS,   [DT__PARAM_SCALARS] = FLOATS,
    [DT__PARAM_DTYPE] = DTYPE,   [DT__PARAM_TEXT] = TEXT,       [DT__PARAM_GENERATOR] = GENERATOR,
};

static const value_type type_of_arg[DT_N_ARG_TYPES] = {
    [DT_ARG_NONE] = NONE,     [DT_ARG_TENSOR] = TENSOR, [DT_ARG_TENSORS] = TENSORS, [DT_ARG_INT] = NUMBER,
    [DT_ARG_FLOAT] = NUMBER,  [DT_ARG_BOOL] = NUMBER,   [DT_ARG_COMPLEX] = NUMBER,  [DT_ARG_INTS] = INTS,
    [DT_ARG_FLOATS] = FLOATS, [DT_ARG_DTYPE] = DTYPE,   [DT_ARG_TEXT] = TEXT,       [DT_ARG_GENERATOR] = GENERATOR,
};

static const value_type type_of_function[DT__N_FUNCTIONS] = {
    [DT__FN_AGAIN] = TENSOR,  [DT__FN_KEPT] = INTS,        [DT__FN_COUNT] = NUMBER,  [DT__FN_SIZE] = NUMBER,
    [DT__FN_INVERSE] = INTS,  [DT__FN_CONJUGATE] = TENSOR, [DT__FN_EITHER] = NUMBER, [DT__FN_UNLESS] = TENSOR,
    [DT__FN_NEGATIVE] = INTS, [DT__FN_IS_ZERO] = NUMBER,
};

/* How a call is run: on numbers by arithmetic; on tensors by an op, preceded by another op where the first operand of
 * an operator is a number. */
typedef struct binding {
    value_type type; /* of the result */
    bool is_product; /* of a tensor and a number */
    char arithmetic; /* of numbers: + - * /, or n for a negative; 0: an op */
    const dt__op_info *info, *before;
    int overload;
    signed char sources[DT__MAX_ARGS]; /* the node of each parameter; -1: its default */
} binding;

static const struct {
    const char *name, *before, *instead; /* of number OP tensor: instead(before(tensor), number) */
    char arithmetic;
} operators[] = {
    {"add", NULL, "add", '+'},         {"mul", NULL, "mul", '*'}, {"sub", "neg", "add", '-'},
    {"div", "reciprocal", "mul", '/'}, {"neg", NULL, NULL, 'n'},
};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

static value_type type_of_node(const dt__formula_node *nodes, int i, const dt__signature *signature) {
    const dt__formula_node *node = &nodes[i];
    switch (node->kind) {
    case DT__FORMULA_CONSTANT:
        return type_of_arg[node->value.type];
    case DT__FORMULA_ARGUMENT:
        return type_of_param[signature->params[node->index].type.kind];
    case DT__FORMULA_SHAPE:
        return INTS;
    case DT__FORMULA_DTYPE:
        return DTYPE;
    case DT__FORMULA_FUNCTION:
        if (node->index == DT__FN_CONJUGATE)
            return type_of_node(nodes, node->args[0].node, signature);
        return type_of_function[node->index];
    case DT__FORMULA_OP:
        return ((const binding *)node->binding)->type;
    default:
        return TENSOR;
    }
}

static bool fits(value_type value, const dt__param *param) {
    value_type expected = type_of_param[param->type.kind];
    if (value == NONE)
        return param->type.optional;
    return value == expected || (value == NUMBER && expected == INTS) || (value == INTS && expected == FLOATS);
}

/* Whether the arguments of a node fit a signature; sets the node of each parameter. */
static bool fits_signature(const dt__formula_node *nodes, const dt__formula_node *node, const dt__signature *own,
                           const dt__signature *to, signed char *sources) {
    memset(sources, -1, DT__MAX_ARGS);
    for (int a = 0; a < node->n_args; a++) {
        const dt__formula_arg *arg = &node->args[a];
        int p = a;
        if (arg->name)
            for (p = 0; p < to->n_params && strcmp(to->params[p].name, arg->name) != 0;)
                p++;
        if (p >= to->n_params || sources[p] >= 0 || (!arg->name && to->params[p].keyword_only) ||
            !fits(type_of_node(nodes, arg->node, own), &to->params[p]))
            return false;
        sources[p] = (signed char)arg->node;
    }
    for (int p = 0; p < to->n_params; p++)
        if (sources[p] < 0 && to->params[p].required)
            return false;
    return true;
}

static dt_status refuse_call(dt_ctx *ctx, const dt__op_info *of, const dt__formula_node *node) {
    return dt__fail(ctx, DT_ERR_VALUE, "%s: gradient: column %d: no signature of '%s' takes these arguments",
                    of->schema.name, node->column + 1, node->name);
}

/* number OP tensor. */
static dt_status bind_reversed(dt_ctx *ctx, int o, const dt__formula_node *node, binding *to) {
    if (operators[o].before && !(to->before = dt__op_find(ctx, operators[o].before)))
        return dt_error_status(ctx);
    if (!(to->info = dt__op_find(ctx, operators[o].instead)))
        return dt_error_status(ctx);
    const dt__schema *schema = &to->info->schema;
    memset(to->sources, -1, sizeof to->sources);
    to->sources[0] = (signed char)node->args[1].node;
    to->sources[1] = (signed char)node->args[0].node;
    for (to->overload = 0; to->overload < schema->n_signatures; to->overload++)
        if (schema->signatures[to->overload].n_params > 1 &&
            type_of_param[schema->signatures[to->overload].params[1].type.kind] == NUMBER)
            return DT_OK;
    return dt__fail(ctx, DT_ERR_OP, "%s: expected an overload that takes a number", operators[o].instead);
}

static dt_status find_binding(dt_ctx *ctx, const dt__op_info *of, const dt__signature *own,
                              const dt__formula_node *nodes, const dt__formula_node *node, binding *to) {
    to->type = TENSOR;
    bool numbers = node->n_args > 0;
    for (int a = 0; a < node->n_args; a++)
        numbers = numbers && type_of_node(nodes, node->args[a].node, own) == NUMBER;
    for (int o = 0; o < N_OPERATORS; o++) {
        if (strcmp(node->name, operators[o].name) != 0)
            continue;
        if (numbers) {
            to->type = NUMBER;
            to->arithmetic = operators[o].arithmetic;
            return DT_OK;
        }
        if (node->n_args == 2 && type_of_node(nodes, node->args[0].node, own) == NUMBER)
            return bind_reversed(ctx, o, node, to);
    }
    if (!(to->info = dt__op_find(ctx, node->name)))
        return dt_error_status(ctx);
    const dt__schema *schema = &to->info->schema;
    for (to->overload = 0; to->overload < schema->n_signatures; to->overload++)
        if (fits_signature(nodes, node, own, &schema->signatures[to->overload], to->sources)) {
            to->is_product = !strcmp(node->name, "mul") && node->n_args == 2 &&
                             type_of_node(nodes, node->args[1].node, own) == NUMBER;
            return DT_OK;
        }
    return refuse_call(ctx, of, node);
}

static dt_status bind_node(dt_ctx *ctx, const dt__op_info *of, const dt__signature *own, dt__formula_node *nodes,
                           dt__formula_node *node) {
    binding *to = dt__owned_new(ctx, sizeof *to, "a gradient");
    if (!to)
        return DT_ERR_MEMORY;
    dt_status status = find_binding(ctx, of, own, nodes, node, to);
    if (status == DT_OK)
        node->binding = to;
    else
        dt__owned_free(ctx, to);
    return status;
}

dt_status dt__formula_bind(dt_ctx *ctx, const dt__op_info *info, int overload, dt__formula *formula) {
    const dt__signature *own = &info->schema.signatures[overload];
    for (int i = 0; i < formula->n_nodes; i++)
        if (formula->nodes[i].kind == DT__FORMULA_OP && !formula->nodes[i].binding)
            DT__TRY(bind_node(ctx, info, own, formula->nodes, &formula->nodes[i]));
    formula->is_bound = true;
    return DT_OK;
}

/* A value while a formula is evaluated. */
typedef struct value {
    dt_arg arg;        /* tensors: only its type */
    dt_tensor *tensor; /* NULL: none, or no tensor */
    bool owned;        /* freed after use */
} value;

typedef struct evaluation {
    const dt__backward_call *call;
    const dt__formula *formula;
    value values[MAX_NODES];
    int64_t lists[MAX_LISTS][2 * DT_SPEC_MAX_DIMS]; /* that functions make; the oldest is overwritten */
    int n_lists;
} evaluation;

static int64_t *new_list(evaluation *self) { return self->lists[self->n_lists++ % MAX_LISTS]; }

static double real_of(const dt_arg *arg) {
    return arg->type == DT_ARG_INT ? (double)arg->as.i : arg->type == DT_ARG_BOOL ? arg->as.b : arg->as.f;
}

static dt_arg compute(char sign, const dt_arg *a, const dt_arg *b) {
    if (a->type == DT_ARG_INT && (!b || b->type == DT_ARG_INT) && sign != '/') {
        int64_t x = a->as.i, y = b ? b->as.i : 0;
        int64_t result = sign == '+' ? x + y : sign == '-' ? x - y : sign == '*' ? x * y : -x;
        return (dt_arg){.type = DT_ARG_INT, .as.i = result};
    }
    double x = real_of(a), y = b ? real_of(b) : 0;
    double result = sign == '+' ? x + y : sign == '-' ? x - y : sign == '*' ? x * y : sign == '/' ? x / y : -x;
    return (dt_arg){.type = DT_ARG_FLOAT, .as.f = result};
}

static void drop_value(value *of) {
    if (of->owned)
        dt_drop(of->tensor);
    of->owned = false;
}

/* A number as the parameter has it. */
static dt_arg convert_number(evaluation *self, const dt_arg *from, const dt__param *param) {
    switch (param->type.kind) {
    case DT__PARAM_FLOAT:
        return (dt_arg){.type = DT_ARG_FLOAT, .as.f = real_of(from)};
    case DT__PARAM_INT:
        return (dt_arg){.type = DT_ARG_INT,
                        .as.i = from->type == DT_ARG_FLOAT  ? (int64_t)from->as.f
                                : from->type == DT_ARG_BOOL ? from->as.b
                                                            : from->as.i};
    case DT__PARAM_BOOL:
        return (dt_arg){.type = DT_ARG_BOOL, .as.b = real_of(from) != 0};
    case DT__PARAM_INTS: {
        int64_t *list = new_list(self);
        *list = from->as.i;
        return (dt_arg){.type = DT_ARG_INTS, .n = 1, .as.ints = list};
    }
    default:
        return *from;
    }
}

/* A list of tensors of the recorded call, whose saved values the caller drops. */
static dt_status set_list(const evaluation *self, const dt_arg *from, dt__call *call, dt_arg *to) {
    DT__TRY(dt__call_reserve(call, call->n_inputs + from->n));
    *to = *from;
    to->as.tensors.first = call->n_inputs;
    to->as.tensors.members = from->as.tensors.members ? call->members : NULL;
    for (int i = 0; i < from->n; i++) {
        int at = dt_arg_member(from, i);
        if (from->as.tensors.members)
            call->members[i] = at < 0 ? -1 : call->n_inputs;
        if (at < 0)
            continue;
        if (!(call->inputs[call->n_inputs] = dt__saved_value(self->call, at)))
            return dt_error_status(call->ctx);
        call->n_inputs++;
    }
    return DT_OK;
}

static dt_status set_arg(evaluation *self, const dt__param *param, const value *from, dt__call *call, dt_arg *to) {
    *to = from->arg;
    if (from->arg.type == DT_ARG_TENSORS)
        return set_list(self, &from->arg, call, to);
    if (from->arg.type == DT_ARG_TENSOR) {
        *to = from->tensor ? (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = call->n_inputs}
                           : (dt_arg){.type = DT_ARG_NONE};
        if (from->tensor)
            call->inputs[call->n_inputs++] = from->tensor;
    } else if (type_of_arg[from->arg.type] == NUMBER)
        *to = convert_number(self, &from->arg, param);
    return DT_OK;
}

static void drop_lists(const dt__call *call, int n_args) {
    for (int p = 0; p < n_args; p++)
        for (int i = 0; call->args[p].type == DT_ARG_TENSORS && i < call->args[p].n; i++) {
            int at = dt_arg_member(&call->args[p], i);
            if (at >= 0 && at < call->n_inputs)
                dt_drop(call->inputs[at]);
        }
}

static dt_tensor *run_before(dt_ctx *ctx, const dt__op_info *info, dt_tensor *tensor) {
    dt_arg arg = {.type = DT_ARG_TENSOR, .n = 1};
    dt__call call;
    dt__call_init(&call, ctx, 0, &arg);
    call.info = info;
    call.inputs[call.n_inputs++] = tensor;
    dt_tensor *result = dt__dispatch(ctx, &call) == DT_OK ? call.outputs[0] : NULL;
    dt__call_end(&call);
    return result;
}

/* Runs the call of a node. n outputs are kept, the others dropped. */
static dt_status run_op(evaluation *self, const binding *how, int n, dt_tensor **outputs) {
    dt_ctx *ctx = self->call->ctx;
    const dt__signature *signature = &how->info->schema.signatures[how->overload];
    dt_arg args[DT__MAX_ARGS];
    dt__call call;
    if (how->before) {
        value *operand = &self->values[how->sources[0]];
        dt_tensor *result = run_before(ctx, how->before, operand->tensor);
        if (!result)
            return dt_error_status(ctx);
        drop_value(operand);
        operand->tensor = result;
        operand->owned = true;
    }
    dt__call_init(&call, ctx, how->overload, args);
    call.info = how->info;
    dt_status status = DT_OK;
    int n_args = 0;
    for (; n_args < signature->n_params && status == DT_OK; n_args++) {
        int p = n_args;
        args[p] = signature->params[p].absent;
        if (how->sources[p] >= 0)
            status = set_arg(self, &signature->params[p], &self->values[how->sources[p]], &call, &args[p]);
    }
    if (status == DT_OK)
        status = dt__dispatch(ctx, &call);
    drop_lists(&call, n_args);
    for (int o = 0; o < call.n_outputs && status == DT_OK; o++) {
        if (o < n)
            outputs[o] = call.outputs[o];
        else if (dt__output_input(&call.op_call, o) < 0)
            dt_drop(call.outputs[o]);
    }
    dt__call_end(&call);
    for (int p = 0; p < signature->n_params; p++)
        if (how->sources[p] >= 0)
            drop_value(&self->values[how->sources[p]]);
    return status;
}

/* The recorded call with another first tensor. */
static dt_status run_again(evaluation *self, dt_tensor *first, dt_tensor **output) {
    const dt__recorded_call *record = self->call->record;
    dt__call call;
    dt__call_init(&call, record->ctx, record->overload, record->args);
    call.info = record->info;
    call.draw = record->draw;
    call.inputs[call.n_inputs++] = first;
    dt_status status =
        record->n_inputs == 1
            ? dt__dispatch(record->ctx, &call)
            : dt__fail(record->ctx, DT_ERR_STATE, "%s: gradient: again: expected an op of one tensor", record->name);
    if (status == DT_OK)
        *output = call.outputs[0];
    dt__call_end(&call);
    return status;
}

/* Whether dim d is among those of an argument: an int, a list, or none or an empty list for all. */
static bool has_dim(const dt_arg *dims, int n_dims, int d) {
    if (dims->type == DT_ARG_INT)
        return dims->as.i == d || dims->as.i == d - n_dims;
    if (dims->type != DT_ARG_INTS || dims->n == 0)
        return true;
    for (int i = 0; i < dims->n; i++)
        if (dims->as.ints[i] == d || dims->as.ints[i] == d - n_dims)
            return true;
    return false;
}

/* A real tensor is its own conjugate. */
static dt_status conjugate(const evaluation *self, value *of, value *out) {
    dt_ctx *ctx = self->call->ctx;
    *out = *of;
    of->owned = false;
    if (out->arg.type == DT_ARG_COMPLEX)
        out->arg.as.c[1] = -out->arg.as.c[1];
    if (!out->tensor || !dt__is_complex(out->tensor->dtype))
        return DT_OK;
    const dt__op_info *info = dt__op_find(ctx, "conj");
    dt_tensor *result = info ? run_before(ctx, info, out->tensor) : NULL;
    drop_value(out);
    *out = (value){.arg.type = DT_ARG_TENSOR, .tensor = result, .owned = true};
    return result ? DT_OK : dt_error_status(ctx);
}

static bool is_zero(const dt_arg *number) {
    return number->type == DT_ARG_COMPLEX ? number->as.c[0] == 0 && number->as.c[1] == 0
           : number->type == DT_ARG_FLOAT ? number->as.f == 0
           : number->type == DT_ARG_BOOL  ? !number->as.b
                                          : number->as.i == 0;
}

static dt_status run_function(evaluation *self, const dt__formula_node *node, value *out) {
    value *first = &self->values[node->args[0].node];
    const dt_arg *second = node->n_args > 1 ? &self->values[node->args[1].node].arg : NULL;
    int n = first->arg.n;
    int64_t *sizes = new_list(self), count = 1;
    switch ((dt__formula_function)node->index) {
    case DT__FN_AGAIN:
        *out = (value){.arg.type = DT_ARG_TENSOR, .owned = true};
        DT__TRY(run_again(self, first->tensor, &out->tensor));
        drop_value(first);
        return DT_OK;
    case DT__FN_KEPT:
        for (int d = 0; d < n; d++)
            sizes[d] = has_dim(second, n, d) ? 1 : first->arg.as.ints[d];
        break;
    case DT__FN_COUNT:
        for (int d = 0; d < n; d++)
            count *= has_dim(second, n, d) ? first->arg.as.ints[d] : 1;
        *out = (value){.arg = {.type = DT_ARG_INT, .as.i = count > 0 ? count : 1}}; /* no element is divided by 0 */
        return DT_OK;
    case DT__FN_SIZE:
        count = second->as.i < 0 ? second->as.i + n : second->as.i;
        *out = (value){.arg = {.type = DT_ARG_INT, .as.i = count >= 0 && count < n ? first->arg.as.ints[count] : 1}};
        return DT_OK;
    case DT__FN_NEGATIVE:
        for (int d = 0; d < n && d < 2 * DT_SPEC_MAX_DIMS; d++)
            sizes[d] = -first->arg.as.ints[d];
        break;
    case DT__FN_EITHER:
        *out = first->arg.type == DT_ARG_NONE ? self->values[node->args[1].node] : *first;
        return DT_OK;
    case DT__FN_IS_ZERO:
        *out = (value){.arg = {.type = DT_ARG_INT, .as.i = is_zero(&first->arg)}};
        return DT_OK;
    case DT__FN_UNLESS:
        *out = self->values[node->args[1].node];
        if (first->arg.type != DT_ARG_NONE) {
            drop_value(out);
            out->tensor = NULL;
        }
        return DT_OK;
    case DT__FN_INVERSE:
        for (int d = 0; d < n; d++) {
            int64_t at = first->arg.as.ints[d];
            sizes[at < 0 ? at + n : at] = d;
        }
        break;
    default:
        return conjugate(self, first, out);
    }
    *out = (value){.arg = {.type = DT_ARG_INTS, .n = n, .as.ints = sizes}};
    return DT_OK;
}

/* A tensor argument as it was saved. */
static dt_status read_argument(const dt__backward_call *call, const dt_arg *arg, value *out) {
    *out = (value){.arg = *arg};
    if (arg->type == DT_ARG_NONE)
        out->arg.type = DT_ARG_NONE;
    if (arg->type != DT_ARG_TENSOR)
        return DT_OK;
    out->owned = true;
    return (out->tensor = dt__saved_value(call, arg->as.first)) ? DT_OK : dt_error_status(call->ctx);
}

/* The gradient of an output; zeros where the program did not use it. */
static dt_status read_grad(const dt__backward_call *call, int output, value *out) {
    *out =
        (value){.arg.type = DT_ARG_TENSOR, .tensor = output < call->record->n_outputs ? call->grads[output] : NULL};
    if (out->tensor)
        return DT_OK;
    out->owned = true;
    const dt__recorded_tensor *of = &call->record->tensors[call->record->n_inputs + output];
    return (out->tensor = dt__constant_gradient(call->ctx, of, 0)) ? DT_OK : dt_error_status(call->ctx);
}

/* The tensor of a parameter, or output ~index. */
static const dt__recorded_tensor *tensor_at(const dt__recorded_call *record, int index) {
    return &record->tensors[index < 0 ? record->n_inputs + ~index : record->args[index].as.first];
}

static bool is_one(const dt_arg *arg) {
    return (arg->type == DT_ARG_INT && arg->as.i == 1) || (arg->type == DT_ARG_FLOAT && arg->as.f == 1);
}

static dt_status evaluate_node(evaluation *self, const dt__formula_node *node, value *out) {
    const dt__backward_call *call = self->call;
    const dt__recorded_call *record = call->record;
    switch (node->kind) {
    case DT__FORMULA_CONSTANT:
        *out = (value){.arg = node->value};
        return DT_OK;
    case DT__FORMULA_ARGUMENT:
        return read_argument(call, &record->args[node->index], out);
    case DT__FORMULA_SHAPE: {
        const dt__recorded_tensor *tensor = tensor_at(record, node->index);
        *out = (value){.arg = {.type = DT_ARG_INTS, .n = tensor->n_dims, .as.ints = dt__recorded_shape(tensor)}};
        return DT_OK;
    }
    case DT__FORMULA_DTYPE:
        *out = (value){.arg = {.type = DT_ARG_DTYPE, .as.dtype = dt__recorded_dtype(tensor_at(record, node->index))}};
        return DT_OK;
    case DT__FORMULA_RESULT:
        *out = (value){.arg.type = DT_ARG_TENSOR, .owned = true};
        out->tensor = dt__saved_value(call, record->n_inputs + node->index);
        return out->tensor ? DT_OK : dt_error_status(call->ctx);
    case DT__FORMULA_GRAD:
        return read_grad(call, node->index, out);
    case DT__FORMULA_FUNCTION:
        return run_function(self, node, out);
    default:
        break;
    }
    const binding *how = node->binding;
    if (how->arithmetic) {
        const dt_arg *a = &self->values[node->args[0].node].arg;
        *out = (value){
            .arg = compute(how->arithmetic, a, node->n_args > 1 ? &self->values[node->args[1].node].arg : NULL)};
        return DT_OK;
    }
    if (how->is_product && is_one(&self->values[how->sources[1]].arg)) {
        *out = self->values[how->sources[0]];
        return DT_OK;
    }
    *out = (value){.arg.type = DT_ARG_TENSOR, .owned = true};
    return run_op(self, how, 1, &out->tensor);
}

dt_status dt__formula_run(const dt__backward_call *call, dt__formula *formula, dt_tensor **out) {
    const dt__recorded_call *record = call->record;
    if (!formula->is_bound)
        DT__TRY(dt__formula_bind(call->ctx, record->info, record->overload, formula));
    for (int t = 0; t < formula->n_targets; t++)
        out[t] = NULL;
    evaluation self;
    self.call = call;
    self.formula = formula;
    self.n_lists = 0;
    int last = formula->n_nodes - 1;
    for (int i = 0; i < last; i++)
        DT__TRY(evaluate_node(&self, &formula->nodes[i], &self.values[i]));
    const dt__formula_node *node = &formula->nodes[last];
    if (formula->n_targets > 1 && node->kind == DT__FORMULA_OP)
        return run_op(&self, node->binding, formula->n_targets, out);
    DT__TRY(evaluate_node(&self, node, &self.values[last]));
    value *result = &self.values[last];
    if (result->arg.type != DT_ARG_TENSOR)
        return dt__fail(call->ctx, DT_ERR_VALUE, "%s: gradient: expected a tensor, got a number or a list",
                        record->name);
    if (!result->tensor)
        return DT_OK;
    out[0] = result->owned ? result->tensor : dt__share_handle(result->tensor);
    return out[0] ? DT_OK : dt_error_status(call->ctx);
}
