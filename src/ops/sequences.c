/* SPDX-License-Identifier: Apache-2.0
 *
 * Sequences of numbers: arange and linspace. Each rank computes the values of its shard from their global indices, in
 * f64, or exactly in i64 where all numbers are integers; then they are converted.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <math.h>

/* The values first + i * step. */
typedef struct sequence {
    bool integral; /* computed in i64, modulo 2^64 */
    int64_t first_i64, step_i64;
    double first, step;
    double last; /* the value of index n_last, exactly; n_last -1: as computed */
    int64_t n_last;
} sequence;

/* The values of the local tensor; each thread fills pieces of it. */
typedef struct sequence_fill {
    const sequence *values;
    const dt__kernels *kernels;
    const dt_op_value *out;
    dt__shard shard;
} sequence_fill;

enum { PIECE = 1 << 16 }; /* elements per task of a thread */

/* Consecutive elements from index `begin` on, computed and converted a chunk at a time. */
static void fill_run(const sequence_fill *self, int64_t begin, int64_t n, unsigned char *out) {
    enum { CHUNK = 256 };
    union {
        double f64[CHUNK];
        int64_t i64[CHUNK];
    } chunk;
    const sequence *values = self->values;
    dt_dtype dtype = self->out->dtype;
    int64_t one = 1;
    for (int64_t at = 0; at < n;) {
        int64_t size = dt__min_i64(n - at, CHUNK);
        for (int64_t i = 0; i < size; i++) {
            int64_t index = begin + at + i;
            if (values->integral)
                chunk.i64[i] = (int64_t)((uint64_t)values->first_i64 + (uint64_t)index * (uint64_t)values->step_i64);
            else
                chunk.f64[i] = index == values->n_last ? values->last : values->first + (double)index * values->step;
        }
        dt__array from = {&chunk, values->integral ? DT_I64 : DT_F64, 1, &size, &one};
        dt__array to = {out + (size_t)at * dt_dtype_size(dtype), dtype, 1, &size, &one};
        dt__convert(self->kernels, NULL, &to, &from);
        at += size;
    }
}

static void fill_piece(void *arg, int64_t piece) {
    const sequence_fill *self = arg;
    unsigned char *data = self->out->data;
    int64_t i = piece * PIECE, end = dt__min_i64(i + PIECE, self->shard.size);
    while (i < end) {
        dt_run run = dt__shard_run(&self->shard, i);
        int64_t n = dt__min_i64(run.end - run.begin, end - i);
        fill_run(self, run.begin, n, data + (size_t)i * dt_dtype_size(self->out->dtype));
        i += n;
    }
}

/* Fills the output, of one dim and dense. */
static dt_status fill_sequence(const dt_op_call *call, const sequence *values) {
    sequence_fill self = {.values = values, .kernels = dt__kernels_of(call->ctx), .out = &call->outputs[0]};
    dt__local_shard(self.out->spec, self.out->shape, 0, &self.shard);
    dt__pool_run(dt__pool_of(call->ctx), dt__ceil_div(self.shard.size, PIECE), fill_piece, &self);
    return DT_OK;
}

/* The arguments of arange. */
typedef struct bounds {
    bool exact; /* all of them are integers */
    int64_t start_i64, end_i64, step_i64;
    double start, end, step;
} bounds;

/* Positions in .arguments. */
enum { ARANGE_START, ARANGE_END, ARANGE_STEP, ARANGE_DTYPE };

static bounds read_bounds(const dt_op_call *call) {
    static const dt_arg zero = {.type = DT_ARG_INT, .as.i = 0}, one = {.type = DT_ARG_INT, .as.i = 1};
    const dt_arg *start = dt__arg_at(call, ARANGE_START), *end = dt__arg_at(call, ARANGE_END);
    const dt_arg *step = dt__arg_at(call, ARANGE_STEP);
    start = start ? start : &zero;
    step = step ? step : &one;
    bounds self = {.start = dt__arg_number(start), .end = dt__arg_number(end), .step = dt__arg_number(step)};
    self.exact = start->type == DT_ARG_INT && end->type == DT_ARG_INT && step->type == DT_ARG_INT;
    if (self.exact) {
        self.start_i64 = start->as.i;
        self.end_i64 = end->as.i;
        self.step_i64 = step->as.i;
    }
    return self;
}

/* The number of values; -1 where the step does not lead from start to end. */
static int64_t count_values(const bounds *b) {
    if (b->exact) {
        bool up = b->step_i64 > 0;
        if (b->step_i64 == 0 || (up ? b->end_i64 < b->start_i64 : b->end_i64 > b->start_i64))
            return -1;
        uint64_t low = (uint64_t)(up ? b->start_i64 : b->end_i64), high = (uint64_t)(up ? b->end_i64 : b->start_i64);
        uint64_t step = up ? (uint64_t)b->step_i64 : -(uint64_t)b->step_i64, range = high - low;
        uint64_t n = range / step + (range % step != 0);
        return n <= INT64_MAX ? (int64_t)n : INT64_MAX;
    }
    double n = ceil((b->end - b->start) / b->step);
    return b->step == 0 || !(n >= 0) || n > 9e15 ? -1 : (int64_t)n;
}

/* The dtype of numbers without one: f32 if there is a floating-point number among them, otherwise i64. */
static dt_dtype dtype_of_numbers(const dt_op_call *call) {
    for (int i = 0; i < call->n_args; i++)
        if (call->args[i].type == DT_ARG_FLOAT)
            return DT_F32;
    return DT_I64;
}

static dt_status refuse_complex_numbers(const dt_op_call *call) {
    for (int i = 0; i < call->n_args; i++)
        if (call->args[i].type == DT_ARG_COMPLEX)
            return dt_op_refuse(call, DT_ERR_DTYPE, "expected real numbers, got a complex one");
    return DT_OK;
}

static int64_t class_arange(const dt_op_call *call) {
    bounds b = read_bounds(call);
    return count_values(&b);
}

static dt_status shape_arange(dt_op_call *call) {
    DT__TRY(refuse_complex_numbers(call));
    bounds b = read_bounds(call);
    int64_t n = count_values(&b);
    if (n < 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "the step does not lead from start to end: %g to %g by %g", b.start,
                            b.end, b.step);
    return dt__add_made(call, dt__arg_dtype(dt__arg_at(call, ARANGE_DTYPE), dtype_of_numbers(call)), 1, &n);
}

static bool is_integer(double x) { return fabs(x) < 9007199254740992.0 && x == trunc(x); }

static dt_status arange(dt_op_call *call) {
    const dt_op_value *out = &call->outputs[0];
    bounds b = read_bounds(call);
    sequence values = {.first = b.start, .step = b.step, .n_last = -1, .integral = b.exact};
    if (!b.exact && is_integer(b.start) && is_integer(b.step)) {
        values.integral = fabs(b.start + (double)out->global_shape[0] * b.step) < 4e18;
        b.start_i64 = (int64_t)b.start;
        b.step_i64 = (int64_t)b.step;
    }
    values.integral = values.integral && dt__is_integral(out->dtype);
    values.first_i64 = b.start_i64;
    values.step_i64 = b.step_i64;
    return fill_sequence(call, &values);
}

/* Positions in .arguments. */
enum { LINSPACE_START, LINSPACE_END, LINSPACE_STEPS, LINSPACE_DTYPE };

static dt_status shape_linspace(dt_op_call *call) {
    dt_dtype dtype = dt__arg_dtype(dt__arg_at(call, LINSPACE_DTYPE), DT_F32);
    DT__TRY(refuse_complex_numbers(call));
    return dt__add_made(call, dtype, 1, &dt__arg_at(call, LINSPACE_STEPS)->as.i);
}

static dt_status linspace(dt_op_call *call) {
    double start = dt__arg_number(dt__arg_at(call, LINSPACE_START));
    double end = dt__arg_number(dt__arg_at(call, LINSPACE_END));
    int64_t n = dt__arg_at(call, LINSPACE_STEPS)->as.i;
    sequence values = {.first = start, .n_last = -1};
    if (n > 1) {
        values.step = (end - start) / (double)(n - 1);
        values.last = end;
        values.n_last = n - 1;
    }
    return fill_sequence(call, &values);
}

const dt_op dt__op_arange = {
    .schema = "arange(Scalar end, *, ScalarType? dtype=None) -> Tensor | "
              "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None) -> Tensor | "
              "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None) -> Tensor",
    .summary = "start, start + step, … up to but excluding end.",
    .arguments = "start,end,step,dtype",
    .varying = "start,end,step",
    .class_of = class_arange,
    .shape = shape_arange,
    .kernel = arange,
    .samples = "arange(7)\narange(2; 11)\narange(5; -4; -2; dtype=f32)\narange(0.5; 3; 0.25)\narange(3; 3)",
    .flags = DT_OP_MAKER | DT_OP_POSITIONAL,
};
const dt_op dt__op_linspace = {
    .schema = "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Evenly spaced values, including both ends.",
    .arguments = "start,end,steps,dtype",
    .varying = "start,end",
    .shape = shape_linspace,
    .kernel = linspace,
    .samples = "linspace(0; 1; 5)\nlinspace(2.5; -2.5; 11; dtype=f64)\nlinspace(3; 4; 1)\nlinspace(0; 1; 0)",
    .flags = DT_OP_MAKER,
};
