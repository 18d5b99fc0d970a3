/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses that compare two tensors element by element: the results, or their sum or mean. Over sharded tensors sums are
 * partial, and so are means: each rank divides by the global element count. A weighted mean of mse_loss and l1_loss is
 * divided by the sum of weights: there the ranks meet, with two numbers each.
 *
 * A loss is a loop that gets x, y, the weight and the weight of positives, the last two 1 if they are missing, and
 * derivatives made of ops.
 */
#include "dtensor/autograd.h"
#include "dtensor/ops.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <string.h>
#include <tgmath.h>

enum { OPERANDS = 4, BLOCK = 1 << 18 };

typedef struct derivatives {
    dt_tensor *x, *y, *p;
} derivatives;

typedef struct element_loss {
    void (*f32)(int64_t n, const void *const *in, void *const *out, const void *number);
    void (*f64)(int64_t n, const void *const *in, void *const *out, const void *number);
    derivatives (*derive)(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number);
    dt_tensor *(*plain)(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number); /* NULL: there are no weights */
    bool divides_by_weights;                                                      /* a weighted mean */
    unsigned affine;    /* a bit for each input that it is affine in: averages are kept */
    const char *number; /* the argument that the loop gets: delta, beta or log_target; NULL: none */
} element_loss;

static const dt_op_value *value_of(const dt_op_call *call, const char *name) {
    const dt_arg *arg = dt_op_arg(call, name);
    return arg && arg->type == DT_ARG_TENSOR ? &call->inputs[arg->as.first] : NULL;
}
/* 'n', 'm', 's' or 'b': none, mean, sum or batchmean. */
static char reduction_of(const dt_op_call *call) { return *dt_op_arg(call, "reduction")->as.text; }
static const dt_arg *number_arg(const dt_op_call *call) {
    const element_loss *of = call->op->family;
    return of->number ? dt_op_arg(call, of->number) : NULL;
}
static double number_of(const dt_op_call *call) { return number_arg(call) ? dt__arg_number(number_arg(call)) : 0; }
static bool meets(const dt_op_call *call) {
    const element_loss *of = call->op->family;
    return of->divides_by_weights && value_of(call, "weight") && reduction_of(call) == 'm';
}

static dt_status shape_loss(dt_op_call *call) {
    const char *reduction = dt_op_arg(call, "reduction")->as.text;
    bool divergence = strcmp(call->name, "kl_div") == 0;
    dt_dtype dtype = dt__promote(call->inputs[0].dtype, call->inputs[1].dtype);
    dt__shape shape;
    DT__TRY(dt__refuse_complex(call));
    if (!dt__is_float(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected floating-point tensors, got %s", dt_dtype_name(dtype));
    if (strcmp(reduction, "none") != 0 && strcmp(reduction, "mean") != 0 && strcmp(reduction, "sum") != 0 &&
        (!divergence || strcmp(reduction, "batchmean") != 0))
        return dt_op_refuse(call, DT_ERR_VALUE, "reduction: expected 'none', 'mean'%s or 'sum', got '%.60s'",
                            divergence ? ", 'batchmean'" : "", reduction);
    DT__TRY(dt__broadcast(call, UINT64_MAX, &shape));
    if (reduction_of(call) != 'n')
        shape.n = 0;
    return dt__add_shape(call, dtype, &shape);
}

static dt_status check_number(const dt_op_call *call) {
    const dt_arg *number = number_arg(call);
    bool huber = strcmp(call->name, "huber_loss") == 0;
    if (!number || number->type == DT_ARG_BOOL || number_of(call) > 0 || (!huber && number_of(call) == 0))
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_VALUE, "%s: expected a number %s 0, got %g", huber ? "delta" : "beta",
                        huber ? "above" : "of at least", number_of(call));
}

/* Dim d of the broadcast shape, of n dims, in a tensor that has it; -1: it is broadcast along it. */
static int dim_of(const dt_op_value *value, int n, const int64_t *sizes, int d) {
    int own = d - (n - value->n_dims);
    return own >= 0 && value->shape[own] == sizes[d] ? own : -1;
}

static void rows_loss(const dt_op_call *call, dt_rows *rows) {
    const element_loss *of = call->op->family;
    int weight_at = value_of(call, "weight") ? dt_op_arg(call, "weight")->as.first : -1;
    dt__shape shape;
    if (dt__broadcast(call, UINT64_MAX, &shape) != DT_OK)
        return;
    for (int d = 0; d < shape.n; d++) {
        dt_row_entry entries[OPERANDS + 1];
        for (int i = 0; i < call->n_inputs; i++) {
            int own = dim_of(&call->inputs[i], shape.n, shape.sizes, d);
            entries[i] = own < 0 ? DT_ROW_R : DT_ROW_S(own);
        }
        entries[call->n_inputs] = meets(call) ? DT_ROW_R : reduction_of(call) == 'n' ? DT_ROW_S(d) : DT_ROW_P(DT_SUM);
        dt_rows_add(rows, meets(call) ? DT_ROW_MEET : 0, entries);
    }
    for (int i = 0; i < call->n_inputs; i++)
        if (of->affine >> i & 1 && i != weight_at)
            dt_rows_reduce(rows, (uint64_t)1 << i, DT_AVG, DT_AVG);
    if (weight_at >= 0 && !(of->divides_by_weights && reduction_of(call) == 'm'))
        dt_rows_linear(rows, (uint64_t)1 << weight_at);
}

/* The operands of the loop, broadcast to the result before it is reduced. */
typedef struct operands {
    double one;
    dt__array arrays[OPERANDS + 1]; /* the last is the output of the loop */
    int64_t shape[DT_SPEC_MAX_DIMS], strides[OPERANDS][DT_SPEC_MAX_DIMS];
    int n_dims;
    dt_dtype dtype;         /* computed in */
    double n_global, batch; /* elements of all ranks, and the size of the first dim of the input */
    double number;
} operands;

/* The local shape to which all tensors broadcast. */
static void broadcast_shape(const dt_op_call *call, operands *out) {
    out->n_dims = 0;
    out->n_global = 1;
    for (int i = 0; i < call->n_inputs; i++)
        out->n_dims = call->inputs[i].n_dims > out->n_dims ? call->inputs[i].n_dims : out->n_dims;
    for (int d = 0; d < out->n_dims; d++) {
        int64_t global = 1;
        out->shape[d] = 1;
        for (int i = 0; i < call->n_inputs; i++) {
            const dt_op_value *value = &call->inputs[i];
            int own = d - (out->n_dims - value->n_dims);
            if (own >= 0 && value->global_shape[own] != 1) {
                global = value->global_shape[own];
                out->shape[d] = value->shape[own];
            }
        }
        for (int i = 0; i < call->n_inputs; i++) { /* of size 1 everywhere: perhaps an empty shard of it */
            int own = d - (out->n_dims - call->inputs[i].n_dims);
            if (own >= 0 && global == 1 && call->inputs[i].shape[own] == 0)
                out->shape[d] = 0;
        }
        out->n_global *= (double)global;
    }
}

static void expand(const dt_op_value *value, operands *to, int i) {
    for (int d = 0; d < to->n_dims; d++) {
        int own = d - (to->n_dims - value->n_dims);
        to->strides[i][d] = own >= 0 && value->global_shape[own] != 1 ? value->strides[own] : 0;
    }
    to->arrays[i] = (dt__array){value->data, value->dtype, to->n_dims, to->shape, to->strides[i]};
}

static void read_operands(const dt_op_call *call, operands *out) {
    const dt_op_value *values[OPERANDS] = {&call->inputs[0], &call->inputs[1], value_of(call, "weight"),
                                           value_of(call, "pos_weight")};
    static const int64_t none[DT_SPEC_MAX_DIMS];
    out->one = 1;
    out->number = number_of(call);
    out->dtype = call->outputs[0].dtype == DT_F64 ? DT_F64 : DT_F32;
    out->batch = call->inputs[0].n_dims ? (double)call->inputs[0].global_shape[0] : 1;
    broadcast_shape(call, out);
    for (int i = 0; i < OPERANDS; i++)
        if (values[i])
            expand(values[i], out, i);
        else
            out->arrays[i] = (dt__array){&out->one, DT_F64, out->n_dims, out->shape, none};
}

static void run_loop(const dt_op_call *call, const operands *of, const dt__array *arrays) {
    const element_loss *loss = call->op->family;
    dt__loop_operands_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                          &(dt__loop_operands){of->dtype, OPERANDS, OPERANDS + 1, arrays,
                                               of->dtype == DT_F64 ? loss->f64 : loss->f32, &of->number});
}

/* As vectors, where all are dense: blocks of them have any size. */
static void flatten(operands *of) {
    int64_t n = 1;
    for (int d = 0; d < of->n_dims; d++)
        n *= of->shape[d];
    bool dense = of->n_dims > 1;
    for (int i = 0; i < OPERANDS && dense; i++)
        dense = of->arrays[i].data == &of->one || dt__array_is_dense(&of->arrays[i]);
    if (!dense)
        return;
    of->n_dims = 1;
    of->shape[0] = n;
    for (int i = 0; i < OPERANDS; i++) {
        of->arrays[i].n_dims = 1;
        if (of->arrays[i].data != &of->one)
            of->strides[i][0] = 1;
    }
}

/* The sum of the loop's results, or of the weights, a block at a time. */
static dt_status sum_blocks(const dt_op_call *call, operands *of, bool of_weights, double *out) {
    int64_t inner = 1, size = of->n_dims ? of->shape[0] : 1, shape[DT_SPEC_MAX_DIMS];
    dt__scratch block;
    for (int d = 1; d < of->n_dims; d++)
        inner *= of->shape[d];
    int64_t step = dt__min_i64(size, BLOCK / dt__max_i64(inner, 1) + 1);
    *out = 0;
    if (size == 0 || inner == 0)
        return DT_OK;
    memcpy(shape, of->shape, (size_t)of->n_dims * sizeof *shape);
    shape[0] = of->n_dims ? step : 1;
    DT__TRY(dt__scratch_new(call, of->dtype, of->n_dims, shape, &block));
    for (int64_t first = 0; first < size; first += step) {
        dt__array arrays[OPERANDS + 1];
        double sum = 0;
        shape[0] = dt__min_i64(step, size - first);
        for (int i = 0; i < OPERANDS; i++) {
            arrays[i] = of->arrays[i];
            arrays[i].shape = shape;
            if (of->n_dims)
                arrays[i].data =
                    (char *)arrays[i].data + first * arrays[i].strides[0] * (int64_t)dt_dtype_size(arrays[i].dtype);
        }
        arrays[OPERANDS] = block.array;
        if (of_weights)
            dt__run_convert(call, &block.array, &arrays[2]);
        else
            run_loop(call, of, arrays);
        dt__array to = {&sum, DT_F64, 0, NULL, NULL};
        dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                   &(dt__reduction){DT__FOLD_SUM, ((uint64_t)1 << of->n_dims) - 1, 0, &block.array, &to});
        *out += sum;
    }
    dt__scratch_free(call, &block);
    return DT_OK;
}

/* The state of a weighted mean: the sums of weighted losses and of weights. */
static void describe(const dt_op_call *call, dt_state *state) {
    (void)call;
    state->n_fields = 1;
    state->fields[0] = (dt_state_field){.dtype = DT_F64, .n = 2, .identity = 0};
}

static dt_status begin(dt_op_call *call, const dt_state *state) {
    double *sums = state->fields[0].data;
    operands of;
    read_operands(call, &of);
    DT__TRY(sum_blocks(call, &of, false, &sums[0]));
    return sum_blocks(call, &of, true, &sums[1]);
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    double *sums = into->fields[0].data;
    const double *more = next->fields[0].data;
    (void)call;
    sums[0] += more[0];
    sums[1] += more[1];
}

static void write_number(const dt_op_call *call, double number) {
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__run_convert(call, &out, &(dt__array){&number, DT_F64, 0, NULL, NULL});
}

static dt_status finish(dt_op_call *call, const dt_state *merged) {
    const double *sums = merged->fields[0].data;
    write_number(call, sums[0] / sums[1]);
    return DT_OK;
}

static const dt_meet weighted_mean = {describe, begin, merge, finish};

static dt_status run_loss(dt_op_call *call) {
    char reduction = reduction_of(call);
    operands of;
    double sum;
    if (meets(call))
        return dt__run_alone(call);
    read_operands(call, &of);
    if (reduction == 'n') {
        of.arrays[OPERANDS] = dt__array_of(&call->outputs[0]);
        run_loop(call, &of, of.arrays);
        return DT_OK;
    }
    flatten(&of);
    DT__TRY(sum_blocks(call, &of, false, &sum));
    write_number(call, sum / (reduction == 'm' ? of.n_global : reduction == 'b' ? of.batch : 1));
    return DT_OK;
}

/* The loops, for f32 and f64, of x, y, the weight of positives p and the number d. */
#define LOOP(name, T, expression)                                                                                    \
    static void name(int64_t n, const void *const *in, void *const *out, const void *number) {                       \
        const T *xs = in[0], *ys = in[1], *ws = in[2], *ps = in[3], d = (T) * (const double *)number;                \
        T *to = out[0];                                                                                              \
        (void)d;                                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            const T x = xs[i], y = ys[i], p = ps[i];                                                                 \
            (void)p;                                                                                                 \
            to[i] = ws[i] * (T)(expression);                                                                         \
        }                                                                                                            \
    }
#define LOOPS(name, expression)                                                                                      \
    LOOP(name##_f32, float, expression)                                                                              \
    LOOP(name##_f64, double, expression)

/* A logarithm that is not below -100; NaN stays. */
static inline double bounded(double logarithm) { return logarithm < -100 ? -100 : logarithm; }

LOOPS(mse, (x - y) * (x - y))
LOOPS(l1, fabs(x - y))
LOOPS(huber, fabs(x - y) <= d ? (x - y) * (x - y) / 2 : d * (fabs(x - y) - d / 2))
LOOPS(smooth_l1, fabs(x - y) < d ? (x - y) * (x - y) / (2 * d) : fabs(x - y) - d / 2)
LOOPS(bce, -((double)y *bounded(log(x)) + (1 - (double)y) * bounded(log1p(-x))))
LOOPS(logits, (1 - y) * x + (1 + (p - 1) * y) * (log1p(exp(-fabs(x))) + (x < 0 ? -x : 0)))
LOOPS(kl, d != 0 ? exp(y) * (y - x) : (y == 0 ? 0 : y * log(y)) - y * x)

/* Derivatives by x, y and p, without the weight. */
static derivatives derive_mse(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p, (void)number;
    dt_tensor *twice = dt_mul_scalar(dt_sub(x, y), 2);
    return (derivatives){twice, dt_neg(twice), NULL};
}
static derivatives derive_l1(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p, (void)number;
    dt_tensor *sign = dt_sign(dt_sub(x, y));
    return (derivatives){sign, dt_neg(sign), NULL};
}
static derivatives derive_huber(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p;
    dt_tensor *bounded_ = dt_clamp(dt_sub(x, y), .min = DT_NUMBER(-number), .max = DT_NUMBER(number));
    return (derivatives){bounded_, dt_neg(bounded_), NULL};
}
static derivatives derive_smooth_l1(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    if (number == 0)
        return derive_l1(x, y, p, number);
    dt_tensor *difference = dt_div_scalar(dt_sub(x, y), number);
    dt_tensor *bounded_ = dt_clamp(difference, .min = DT_NUMBER(-1), .max = DT_NUMBER(1));
    return (derivatives){bounded_, dt_neg(bounded_), NULL};
}
static derivatives derive_bce(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p, (void)number;
    dt_tensor *other = dt_rsub_scalar(x, 1);
    dt_tensor *product = dt_mul(x, other);
    product = dt_add(product, dt_detach(dt_relu(dt_rsub_scalar(product, 1e-12)))); /* at least 1e-12 */
    return (derivatives){dt_div(dt_sub(x, y), product), dt_sub(dt_log(other), dt_log(x)), NULL};
}
static derivatives derive_logits(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)number;
    if (!p)
        return (derivatives){dt_sub(dt_sigmoid(x), y), dt_neg(x), NULL};
    dt_tensor *both = dt_mul(p, y), *l = dt_softplus(dt_neg(x), .threshold = DT_NUMBER(INFINITY));
    return (derivatives){dt_sub(dt_mul(dt_add(both, dt_rsub_scalar(y, 1)), dt_sigmoid(x)), both),
                         dt_sub(dt_mul(p, l), dt_softplus(x, .threshold = DT_NUMBER(INFINITY))), dt_mul(y, l)};
}
static derivatives derive_kl(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p;
    if (number == 0)
        return (derivatives){dt_neg(y), dt_sub(dt_add_scalar(dt_log(y), 1), x), NULL};
    dt_tensor *power = dt_exp(y);
    return (derivatives){dt_neg(power), dt_mul(power, dt_add_scalar(dt_sub(y, x), 1)), NULL};
}

/* The number of all elements, or the size of the first dim. */
static double divisor_of(const dt_op_call *call) {
    dt__shape shape = {.n = 0};
    double n = 1;
    (void)dt__broadcast(call, UINT64_MAX, &shape);
    for (int d = 0; d < shape.n; d++)
        n *= (double)shape.sizes[d];
    return reduction_of(call) == 'm' ? n : call->inputs[0].n_dims ? (double)call->inputs[0].shape[0] : 1;
}

/* The losses without their weights. */
static dt_tensor *plain_mse(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p, (void)number;
    return dt_mse_loss(x, y, .reduction = "none");
}
static dt_tensor *plain_l1(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p, (void)number;
    return dt_l1_loss(x, y, .reduction = "none");
}
static dt_tensor *plain_huber(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p;
    return dt_huber_loss(x, y, .reduction = "none", .delta = DT_REAL(number));
}
static dt_tensor *plain_bce(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)p, (void)number;
    return dt_binary_cross_entropy(x, y, .reduction = "none");
}
static dt_tensor *plain_logits(dt_tensor *x, dt_tensor *y, dt_tensor *p, double number) {
    (void)number;
    return dt_binary_cross_entropy_with_logits(x, y, .reduction = "none", .pos_weight = p);
}

/* The gradient of each loss: that of the result, broadcast, where tensors have other shapes than the losses. */
static dt_tensor *of_each(const dt_op_call *call, dt_tensor *grad) {
    dt__shape shape = {.n = 0};
    bool same = true;
    if (dt__broadcast(call, UINT64_MAX, &shape) != DT_OK)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const dt_op_value *value = &call->inputs[i];
        same = same && value->n_dims == shape.n &&
               memcmp(value->shape, shape.sizes, (size_t)shape.n * sizeof *shape.sizes) == 0;
    }
    return same ? grad : dt_expand(grad, ((dt_shape){shape.n, shape.sizes}));
}

/* Gradients of f16 and bf16 are computed in f32, and rounded once. */
static dt_tensor *wide(dt_tensor *tensor) {
    dt_dtype dtype = dt_tensor_dtype(tensor);
    return dtype == DT_F16 || dtype == DT_BF16 ? dt_to(tensor, DT_F32) : tensor;
}

static dt_status backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const element_loss *of = op->op->family;
    const dt_arg *args[] = {dt_op_arg(op, "weight"), dt_op_arg(op, "pos_weight")};
    dt_tensor *x = wide(call->inputs[0]), *y = wide(call->inputs[1]), *given[2] = {NULL, NULL};
    dt_tensor *g = wide(call->grads[0]);
    for (int i = 0; i < 2; i++)
        given[i] = args[i] && args[i]->type == DT_ARG_TENSOR ? wide(call->inputs[args[i]->as.first]) : NULL;
    dt_tensor *w = given[0], *p = given[1];
    if (meets(op))
        g = dt_div(g, dt_sum(w));
    else if (reduction_of(op) == 'b' || (reduction_of(op) == 'm' && divisor_of(op) != 0)) /* 0: of no losses */
        g = dt_div_scalar(g, divisor_of(op));
    g = of_each(op, g);
    if (w && call->needed[args[0]->as.first]) {
        dt_tensor *losses = of->plain(x, y, p, number_of(op));
        if (meets(op))
            losses = dt_sub(losses, dt_div(dt_sum(dt_mul(losses, w)), dt_sum(w)));
        input_grads[args[0]->as.first] = dt_mul(g, losses);
    }
    derivatives by = of->derive(x, y, p, number_of(op));
    dt_tensor *weighted = w ? dt_mul(g, w) : g;
    if (call->needed[0])
        input_grads[0] = dt_mul(weighted, by.x);
    if (call->needed[1])
        input_grads[1] = dt_mul(weighted, by.y);
    if (p && call->needed[args[1]->as.first])
        input_grads[args[1]->as.first] = dt_mul(weighted, by.p);
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

#define LOSS_OP(loop, plain_, divides, affine_, number)                                                              \
    .rows = rows_loss, .shape = shape_loss, .kernel = run_loss, .meet = &weighted_mean, .backward = backward,        \
    .family = &(const element_loss) {                                                                                \
        loop##_f32, loop##_f64, derive_##loop, plain_, divides, affine_, number                                      \
    }

const dt_op dt__op_mse_loss = {
    .schema = "mse_loss(Tensor input, Tensor target, str reduction=\"mean\", Tensor? weight=None) -> Tensor",
    .summary = "Squared differences, or their mean or sum.",
    LOSS_OP(mse, plain_mse, true, 0, NULL),
    .saves = "input,target,weight",
    .samples = "mse_loss(f32[5,3]; f32[5,3])\nmse_loss(f32[5,3]; f32[3]; reduction=sum)\n"
               "mse_loss(f32[5,3]; f32[5,3]; reduction=\"none\"; weight=f32[5,3])\n"
               "mse_loss(f32[5,3]; f32[5,3]; weight=f32[5,3])",
};
const dt_op dt__op_l1_loss = {
    .schema = "l1_loss(Tensor input, Tensor target, str reduction=\"mean\", Tensor? weight=None) -> Tensor",
    .summary = "Absolute differences, or their mean or sum.",
    LOSS_OP(l1, plain_l1, true, 0, NULL),
    .saves = "input,target,weight",
    .samples = "l1_loss(f32[5,3]; f32[5,3])\nl1_loss(f32[5,3]; f32[5,3]; reduction=sum; weight=f32[5,3])\n"
               "l1_loss(f32[2,5,3]; f32[5,1]; reduction=\"none\")",
};
const dt_op dt__op_smooth_l1_loss = {
    .schema = "smooth_l1_loss(Tensor input, Tensor target, str reduction=\"mean\", float beta=1.0) -> Tensor",
    .summary = "Absolute differences, squared below beta, or their mean or sum.",
    LOSS_OP(smooth_l1, NULL, false, 0, "beta"),
    .varying = "beta",
    .check = check_number,
    .saves = "input,target",
    .samples = "smooth_l1_loss(f32[5,3]; f32[5,3])\nsmooth_l1_loss(f32[5,3]; f32[5,3]; reduction=sum; beta=0.5)\n"
               "smooth_l1_loss(f32[5,3]; f32[3]; reduction=\"none\"; beta=0)",
};
const dt_op dt__op_huber_loss = {
    .schema = "huber_loss(Tensor input, Tensor target, str reduction=\"mean\", float delta=1.0, "
              "Tensor? weight=None) -> Tensor",
    .summary = "Half of squared differences, linear above delta, or their mean or sum.",
    LOSS_OP(huber, plain_huber, false, 0, "delta"),
    .varying = "delta",
    .check = check_number,
    .saves = "input,target,weight",
    .samples = "huber_loss(f32[5,3]; f32[5,3])\nhuber_loss(f32[5,3]; f32[5,3]; reduction=sum; delta=0.5)\n"
               "huber_loss(f32[5,3]; f32[3]; reduction=\"none\"; delta=1.5)\n"
               "huber_loss(f32[5,3]; f32[5,3]; weight=f32[5,3])",
};
const dt_op dt__op_binary_cross_entropy = {
    .schema =
        "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction=\"mean\") -> Tensor",
    .summary = "Cross entropy of probabilities, or its mean or sum.",
    LOSS_OP(bce, plain_bce, false, 0, NULL),
    .saves = "input,target,weight",
    .samples = "binary_cross_entropy(f32[5,3]; f32[5,3])\n"
               "binary_cross_entropy(f32[5,3]; f32[5,3]; f32[3]; reduction=sum)\n"
               "binary_cross_entropy(f32[5,3]; f32[5,3]; reduction=\"none\")",
};
const dt_op dt__op_binary_cross_entropy_with_logits = {
    .schema = "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
              "str reduction=\"mean\", Tensor? pos_weight=None) -> Tensor",
    .summary = "Cross entropy of the sigmoid of logits and probabilities, or its mean or sum.",
    LOSS_OP(logits, plain_logits, false, 1 << 1 | 1 << 2 | 1 << 3, NULL),
    .saves = "input,target,weight,pos_weight",
    .samples = "binary_cross_entropy_with_logits(f32[5,3]; f32[5,3])\n"
               "binary_cross_entropy_with_logits(f32[5,3]; f32[5,3]; f32[5,1]; reduction=sum)\n"
               "binary_cross_entropy_with_logits(f32[5,3]; f32[5,3]; reduction=\"none\"; pos_weight=f32[3])",
};
const dt_op dt__op_kl_div = {
    .schema = "kl_div(Tensor input, Tensor target, str reduction=\"mean\", bool log_target=False) -> Tensor",
    .summary = "Kullback-Leibler divergence of log-probabilities from probabilities, or its mean or sum.",
    LOSS_OP(kl, NULL, false, 1 << 0, "log_target"),
    .saves = "input,target",
    .samples = "kl_div(f32[5,3]; f32[5,3])\nkl_div(f32[5,3]; f32[5,3]; reduction=sum; log_target=true)\n"
               "kl_div(f32[5,3]; f32[5,3]; reduction=\"none\")\nkl_div(f32[5,3]; f32[3]; reduction=batchmean)",
};
