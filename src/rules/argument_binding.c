/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds the arguments of a call to a signature: positions and names, defaults, the conversions that callers expect (an
 * integer for a float, a bare number for a list of sizes), and the overload: the first that fits. Where none does, the
 * error is that of the overload that took the most arguments.
 */
#include "rules/schema.h"

#include "base/dtype.h"
#include "base/hash.h"
#include "base/near_miss.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REASON_BYTES = 256 };

typedef struct binding {
    dt__arena *arena;
    const dt__schema *schema;
    const dt__signature *signature;
    dt__bound_args *out;
    int n_taken; /* arguments that fitted */
    dt_status status;
    char reason[REASON_BYTES];
} binding;

static bool refuse(binding *self, const char *format, ...) DT_PRINTF(2);
static bool refuse(binding *self, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(self->reason, sizeof self->reason, format, args);
    va_end(args);
    return false;
}

static const char *const expected[DT__N_PARAM_TYPES] = {
    [DT__PARAM_TENSOR] = "a tensor",
    [DT__PARAM_TENSORS] = "a list of tensors",
    [DT__PARAM_INT] = "an integer",
    [DT__PARAM_FLOAT] = "a number",
    [DT__PARAM_BOOL] = "a boolean",
    [DT__PARAM_SCALAR] = "a number",
    [DT__PARAM_INTS] = "a list of integers",
    [DT__PARAM_FLOATS] = "a list of numbers",
    [DT__PARAM_SCALARS] = "a list of numbers",
    [DT__PARAM_DTYPE] = "a dtype such as f32",
    [DT__PARAM_TEXT] = "a string",
    [DT__PARAM_GENERATOR] = "a generator",
};

static const char *const kinds[DT_N_ARG_TYPES] = {
    [DT_ARG_NONE] = "none",
    [DT_ARG_TENSOR] = "a tensor",
    [DT_ARG_TENSORS] = "a list of tensors",
    [DT_ARG_INT] = "an integer",
    [DT_ARG_FLOAT] = "a floating-point number",
    [DT_ARG_BOOL] = "a boolean",
    [DT_ARG_COMPLEX] = "a complex number",
    [DT_ARG_INTS] = "a list of integers",
    [DT_ARG_FLOATS] = "a list of numbers",
    [DT_ARG_DTYPE] = "a dtype",
    [DT_ARG_TEXT] = "a string",
    [DT_ARG_GENERATOR] = "a generator",
};

/* The words "nan", "inf" and "-inf" are numbers. */
static bool named_number(const dt_arg *value, dt_arg *out) {
    if (value->type != DT_ARG_TEXT)
        return false;
    static const struct {
        const char *word;
        double value;
    } named[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    for (int i = 0; i < 3; i++)
        if (!strcmp(named[i].word, value->as.text)) {
            *out = (dt_arg){.type = DT_ARG_FLOAT, .as.f = named[i].value};
            return true;
        }
    return false;
}

static bool take_tensor(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    (void)param;
    if (value->type != DT_ARG_TENSOR)
        return false;
    self->out->inputs[self->out->n_inputs] = value->as.first;
    *out = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = self->out->n_inputs++};
    return true;
}

/* The members of a list of n tensors: the first n_before are inputs from `first` on, and the next is none. */
static int *list_members(binding *self, const dt__param *param, int n, int first, int n_before) {
    if (!param->type.optional_members) {
        refuse(self, "argument '%s': expected a tensor as member %d of the list, got none", param->name,
               n_before + 1);
        return NULL;
    }
    int *members = DT__NEW_ARRAY(self->arena, int, n);
    if (!members)
        self->status = DT_ERR_MEMORY;
    for (int i = 0; members && i < n_before; i++)
        members[i] = first + i;
    return members;
}

static bool take_tensors(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    bool empty = value->n == 0 && value->type == DT_ARG_INTS; /* an empty list has no type */
    if (value->type != DT_ARG_TENSORS && !empty)
        return false;
    int *members = NULL, first = self->out->n_inputs;
    for (int i = 0; i < value->n; i++) {
        bool none = argument->tensors[i] < 0;
        if (none && !members && !(members = list_members(self, param, value->n, first, i)))
            return false;
        if (members)
            members[i] = none ? -1 : self->out->n_inputs;
        if (!none)
            self->out->inputs[self->out->n_inputs++] = (int)argument->tensors[i];
    }
    *out = (dt_arg){.type = DT_ARG_TENSORS, .n = value->n, .as.tensors = {first, members}};
    return true;
}

static bool take_as_is(const dt_arg *value, dt_arg_type type, dt_arg *out) {
    if (value->type != type)
        return false;
    *out = *value;
    return true;
}

static bool take_int(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    (void)self, (void)param;
    return take_as_is(value, DT_ARG_INT, out);
}

static bool take_bool(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    (void)self, (void)param;
    return take_as_is(value, DT_ARG_BOOL, out);
}

static bool take_text(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    (void)self, (void)param;
    return take_as_is(value, DT_ARG_TEXT, out);
}

static bool take_float(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    (void)self, (void)param;
    if (value->type == DT_ARG_INT) {
        *out = (dt_arg){.type = DT_ARG_FLOAT, .as.f = (double)value->as.i};
        return true;
    }
    return take_as_is(value, DT_ARG_FLOAT, out) || named_number(value, out);
}

static bool take_scalar(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    (void)self, (void)param;
    if (value->type == DT_ARG_FLOATS && value->n == 2) {
        *out = (dt_arg){.type = DT_ARG_COMPLEX, .as.c = {value->as.floats[0], value->as.floats[1]}};
        return true;
    }
    return take_as_is(value, DT_ARG_INT, out) || take_as_is(value, DT_ARG_FLOAT, out) ||
           take_as_is(value, DT_ARG_BOOL, out) || take_as_is(value, DT_ARG_COMPLEX, out) || named_number(value, out);
}

/* A list of n equal integers. */
static bool repeat_int(binding *self, int64_t number, int n, dt_arg *out) {
    int64_t *copies = DT__NEW_ARRAY(self->arena, int64_t, n);
    if (!copies) {
        self->status = DT_ERR_MEMORY;
        return false;
    }
    for (int i = 0; i < n; i++)
        copies[i] = number;
    *out = (dt_arg){.type = DT_ARG_INTS, .n = n, .as.ints = copies};
    return true;
}

/* Whether all members of a list are none, which has no type then. */
static bool is_all_none(const dt__argument *argument) {
    bool is_none = argument->value.type == DT_ARG_TENSORS && argument->value.n > 0;
    for (int i = 0; i < argument->value.n && is_none; i++)
        is_none = argument->tensors[i] < 0;
    return is_none;
}

static bool take_ints(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    if (value->type == DT_ARG_INT)
        return repeat_int(self, value->as.i, param->type.n ? param->type.n : 1, out);
    if (param->type.optional_members && is_all_none(argument))
        return repeat_int(self, DT_NONE, value->n, out);
    for (int i = 0; value->type == DT_ARG_INTS && i < value->n && !param->type.optional_members; i++)
        if (value->as.ints[i] == DT_NONE) {
            refuse(self, "argument '%s': expected an integer as member %d of the list, got none", param->name, i + 1);
            return false;
        }
    return take_as_is(value, DT_ARG_INTS, out);
}

static bool take_floats(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    const bool is_one = value->type == DT_ARG_INT || value->type == DT_ARG_FLOAT;
    if (value->type != DT_ARG_INTS && !is_one)
        return take_as_is(value, DT_ARG_FLOATS, out);
    const int n = !is_one ? value->n : param->type.n ? param->type.n : 1;
    double *floats = DT__NEW_ARRAY(self->arena, double, n);
    if (!floats) {
        self->status = DT_ERR_MEMORY;
        return false;
    }
    for (int i = 0; i < n; i++)
        floats[i] = value->type == DT_ARG_FLOAT ? value->as.f
                    : is_one                    ? (double)value->as.i
                                                : (double)value->as.ints[i];
    *out = (dt_arg){.type = DT_ARG_FLOATS, .n = n, .as.floats = floats};
    return true;
}

static bool take_scalars(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    (void)self, (void)param;
    return take_as_is(&argument->value, DT_ARG_INTS, out) || take_as_is(&argument->value, DT_ARG_FLOATS, out);
}

static bool take_generator(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    (void)self, (void)param;
    return take_as_is(&argument->value, DT_ARG_GENERATOR, out);
}

static bool take_dtype(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out) {
    const dt_arg *value = &argument->value;
    (void)self, (void)param;
    dt_dtype dtype;
    if (value->type != DT_ARG_TEXT || !dt_dtype_parse(value->as.text, &dtype))
        return take_as_is(value, DT_ARG_DTYPE, out);
    *out = (dt_arg){.type = DT_ARG_DTYPE, .as.dtype = dtype};
    return true;
}

typedef bool take_fn(binding *self, const dt__param *param, const dt__argument *argument, dt_arg *out);
static take_fn *const take[DT__N_PARAM_TYPES] = {
    [DT__PARAM_TENSOR] = take_tensor, [DT__PARAM_TENSORS] = take_tensors, [DT__PARAM_INT] = take_int,
    [DT__PARAM_FLOAT] = take_float,   [DT__PARAM_BOOL] = take_bool,       [DT__PARAM_SCALAR] = take_scalar,
    [DT__PARAM_INTS] = take_ints,     [DT__PARAM_FLOATS] = take_floats,   [DT__PARAM_DTYPE] = take_dtype,
    [DT__PARAM_TEXT] = take_text,     [DT__PARAM_SCALARS] = take_scalars, [DT__PARAM_GENERATOR] = take_generator,
};

static bool refuse_name(binding *self, const char *name) {
    dt__near_miss near = dt__near_miss_new(name);
    for (int p = 0; p < self->signature->n_params; p++)
        dt__near_miss_add(&near, self->signature->params[p].name, strlen(self->signature->params[p].name));
    return refuse(self, "there is no argument '%.60s'%s", name, dt__near_miss_hint(&near));
}

/* Finds the argument of each parameter: by_param[p], NULL where there is none. */
static bool match(binding *self, int n, const dt__argument *arguments, const dt__argument **by_param) {
    const dt__signature *signature = self->signature;
    int position = 0;
    for (int a = 0; a < n; a++) {
        int p = position;
        if (arguments[a].name) {
            for (p = 0; p < signature->n_params && strcmp(signature->params[p].name, arguments[a].name) != 0; p++)
                ;
            if (p == signature->n_params)
                return refuse_name(self, arguments[a].name);
        } else {
            if (p == signature->n_params || signature->params[p].keyword_only)
                return refuse(self, "too many arguments by position: expected at most %d, got %d", p, n);
            position++;
        }
        if (by_param[p])
            return refuse(self, "argument '%s' is given twice", signature->params[p].name);
        by_param[p] = &arguments[a];
    }
    return true;
}

/* A word in place of a dtype is a dtype that does not exist. */
static bool refuse_value(binding *self, const dt__param *param, const dt_arg *value) {
    if (param->type.kind != DT__PARAM_DTYPE || value->type != DT_ARG_TEXT)
        return refuse(self, "argument '%s': expected %s, got %s", param->name, expected[param->type.kind],
                      kinds[value->type]);
    dt__near_miss near = dt__near_miss_new(value->as.text);
    dt__near_miss_add_list(&near, DT__DTYPE_NAMES);
    return refuse(self, "argument '%s': expected %s, got '%.40s'%s", param->name, expected[param->type.kind],
                  value->as.text, dt__near_miss_hint(&near));
}

static bool fill_param(binding *self, int p, const dt__argument *argument) {
    const dt__param *param = &self->signature->params[p];
    dt_arg *out = &self->out->args[p];
    *out = param->absent;
    if (!argument)
        return !param->required || refuse(self, "argument '%s' is missing", param->name);
    if (argument->value.type == DT_ARG_NONE) {
        *out = (dt_arg){.type = DT_ARG_NONE};
        return param->type.optional ||
               refuse(self, "argument '%s': expected %s, got none", param->name, expected[param->type.kind]);
    }
    self->reason[0] = 0;
    if (!take[param->type.kind](self, param, argument, out))
        return self->reason[0] ? false : refuse_value(self, param, &argument->value);
    self->n_taken++;
    return true;
}

static bool fits_signature(binding *self, int n, const dt__argument *arguments) {
    const dt__argument *by_param[DT__MAX_ARGS] = {NULL};
    self->out->n_inputs = 0;
    self->out->n_args = self->signature->n_params;
    self->n_taken = 0;
    if (!match(self, n, arguments, by_param))
        return false;
    for (int p = 0; p < self->signature->n_params; p++)
        if (!fill_param(self, p, by_param[p]))
            return false;
    return true;
}

static int count_tensors(int n, const dt__argument *arguments) {
    int n_tensors = 0;
    for (int a = 0; a < n; a++) {
        const dt_arg *value = &arguments[a].value;
        n_tensors += value->type == DT_ARG_TENSOR ? 1 : value->type == DT_ARG_TENSORS ? value->n : 0;
    }
    return n_tensors;
}

dt_status dt__schema_bind(dt__arena *arena, const dt__schema *schema, int n, const dt__argument *arguments,
                          dt__bound_args *out) {
    binding self = {.arena = arena, .schema = schema, .out = out};
    char reason[REASON_BYTES] = "";
    int max_taken = -1;
    out->inputs = DT__NEW_ARRAY(arena, int, count_tensors(n, arguments));
    if (!out->inputs)
        return DT_ERR_MEMORY;
    for (out->overload = 0; out->overload < schema->n_signatures; out->overload++) {
        self.signature = &schema->signatures[out->overload];
        if (fits_signature(&self, n, arguments))
            return DT_OK;
        if (self.status != DT_OK)
            return self.status;
        if (self.n_taken > max_taken) {
            max_taken = self.n_taken;
            memcpy(reason, self.reason, sizeof reason);
        }
    }
    return dt__fail(arena->ctx, DT_ERR_VALUE, "%s: %s", schema->name, reason);
}
