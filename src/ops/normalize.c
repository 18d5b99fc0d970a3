/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that normalize along dims: softmax and its logarithm, layer_norm, rms_norm. Where these dims are sharded, the
 * ranks meet: they merge the statistics of their shards of the rows.
 */
#include "dtensor/ops.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <inttypes.h>
#include <math.h>

enum { SOFTMAX_DIM, SOFTMAX_DTYPE };
enum { NORMALIZED_SHAPE, WEIGHT, EPS, BIAS }; /* rms_norm has no bias */
enum { MAX_ENTRIES = 6 };                     /* of a row of layer_norm: its tensors */

static dt_status shape_softmax(dt_op_call *call) {
    dt_dtype dtype = dt__arg_dtype(dt__arg_at(call, SOFTMAX_DTYPE), call->inputs[0].dtype);
    int ignored;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, SOFTMAX_DIM)->as.i, call->inputs[0].n_dims, &ignored));
    if (!dt__is_float(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point tensor or dtype, got %s",
                            dt_dtype_name(dtype));
    return dt__add_like(call, 0, dtype);
}

static bool is_rms(const dt_op_call *call) { return !dt__arg_at(call, BIAS); }
/* Whether an optional tensor is given. */
static bool has(const dt_op_call *call, int name) {
    const dt_arg *arg = dt__arg_at(call, name);
    return arg && arg->type == DT_ARG_TENSOR;
}

static dt_status check_like(const dt_op_call *call, int arg, const char *name, const dt_arg *shape) {
    if (!has(call, arg))
        return DT_OK;
    const dt_op_value *value = &call->inputs[dt__arg_at(call, arg)->as.first];
    bool same = value->n_dims == shape->n;
    for (int d = 0; d < shape->n && same; d++)
        same = value->shape[d] == shape->as.ints[d];
    return same ? DT_OK : dt_op_refuse(call, DT_ERR_SHAPE, "the shape of %s differs from normalized_shape", name);
}

static dt_status shape_layer_norm(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *shape = dt__arg_at(call, NORMALIZED_SHAPE);
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    if (shape->n == 0 || shape->n > input->n_dims)
        return dt_op_refuse(call, DT_ERR_SHAPE, "normalized_shape: expected 1 to %d sizes, got %d", input->n_dims,
                            shape->n);
    for (int d = 0; d < shape->n; d++)
        if (shape->as.ints[d] != input->shape[input->n_dims - shape->n + d])
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "normalized_shape differs from the last sizes of the input: expected %" PRId64
                                ", got %" PRId64,
                                input->shape[input->n_dims - shape->n + d], shape->as.ints[d]);
    DT__TRY(check_like(call, WEIGHT, "weight", shape));
    DT__TRY(check_like(call, BIAS, "bias", shape));
    DT__TRY(dt__add_like(call, 0, input->dtype));
    dt_dtype dtype = dt__is_double_precision(input->dtype) ? DT_F64 : DT_F32;
    for (int i = is_rms(call); i < 2; i++) /* mean and 1 / standard deviation, for the gradient */
        DT__TRY(dt_op_add_output(call, dtype, input->n_dims - shape->n, input->shape));
    return DT_OK;
}

/* Where weight and bias are sharded and the input is not, each rank makes the part of the rows that it has them for:
 * it has all elements for the statistics. */
static void add_part_rows(const dt_op_call *call, dt_rows *rows) {
    int n = dt__arg_at(call, NORMALIZED_SHAPE)->n;
    for (int d = 0; d < n && call->n_inputs > 1; d++) {
        dt_row_entry entries[MAX_ENTRIES] = {DT_ROW_R};
        for (int i = 1; i < call->n_inputs; i++)
            entries[i] = DT_ROW_S(d);
        entries[call->n_inputs] = DT_ROW_S(call->inputs[0].n_dims - n + d);
        dt_rows_add(rows, DT_ROW_OFFSET | DT_ROW_UNLISTED, entries);
    }
}

/* The result is linear in weight and bias together, and non-decreasing in the bias. */
static void rows_layer_norm(const dt_op_call *call, dt_rows *rows) {
    uint64_t affine = 0;
    add_part_rows(call, rows);
    for (int i = 1; i < call->n_inputs; i++)
        affine |= (uint64_t)1 << i;
    if (has(call, WEIGHT))
        dt_rows_linear(rows, affine);
    else if (has(call, BIAS))
        dt_rows_reduce(rows, affine, DT_AVG, DT_AVG);
    if (has(call, BIAS))
        dt_rows_monotone(rows, dt__arg_at(call, BIAS)->as.first, true);
}

static int softmax_dim(const dt_op_call *call) {
    return dt__wrap_dim(dt__arg_at(call, SOFTMAX_DIM)->as.i, call->inputs[0].n_dims);
}

/* The elements: the input, or the output if these are converted. */
static dt__array softmax_elements(const dt_op_call *call) {
    return dt__array_of(call->inputs[0].dtype != call->outputs[0].dtype ? &call->outputs[0] : &call->inputs[0]);
}

static void convert_elements(const dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    if (in.dtype != out.dtype)
        dt__run_convert(call, &out, &in);
}

static dt_status run_softmax(dt_op_call *call, bool is_log) {
    convert_elements(call);
    dt__array out = dt__array_of(&call->outputs[0]), in = softmax_elements(call);
    dt__softmax(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &in, softmax_dim(call), is_log, &out);
    return DT_OK;
}

static void describe_softmax(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, DT__EXPONENTIALS, (uint32_t)1 << softmax_dim(call), state);
}

static dt_status begin_log_softmax(dt_op_call *call, const dt_state *state) {
    convert_elements(call);
    dt__array in = softmax_elements(call);
    dt__statistics_begin(call, DT__EXPONENTIALS, (uint32_t)1 << softmax_dim(call), &in, NULL, state);
    return DT_OK;
}

/* Whether begin leaves the exponentials, relative to the largest element of the shard, in the output: rows must be
 * contiguous. */
static bool keeps_powers(const dt_op_call *call) {
    const dt_op_value *in = &call->inputs[0], *out = &call->outputs[0];
    int last = in->n_dims - 1;
    return last >= 0 && softmax_dim(call) == last && in->dtype == out->dtype &&
           (out->dtype == DT_F32 || out->dtype == DT_F64) && in->strides[last] == 1 && out->strides[last] == 1;
}

static dt_status begin_softmax(dt_op_call *call, const dt_state *state) {
    if (!keeps_powers(call))
        return begin_log_softmax(call, state);
    dt__array in = dt__array_of(&call->inputs[0]), out = dt__array_of(&call->outputs[0]);
    dt__statistics_begin(call, DT__EXPONENTIALS, (uint32_t)1 << softmax_dim(call), &in, &out, state);
    return DT_OK;
}

/* Scales what begin has left in the output: by exp(largest of the shard - largest of all) / sum. */
static dt_status scale_powers(const dt_op_call *call, const dt_state *begun, const dt_state *merged) {
    const double *own = begun->fields[0].data, *all = merged->fields[0].data;
    double *factors = merged->fields[1].data;
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__reduced by;
    for (int64_t i = 0; i < merged->fields[1].n; i++)
        factors[i] = exp(own[i] - all[i]) / factors[i];
    dt__state_array(call, (uint32_t)1 << softmax_dim(call), &merged->fields[1], &by);
    dt__rows_scale(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &by.array, &out);
    return DT_OK;
}

static void merge_softmax(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, DT__EXPONENTIALS, into, next);
}

static dt_status finish_rows(dt_op_call *call, const dt_state *merged, bool is_log) {
    dt__array out = dt__array_of(&call->outputs[0]), in = softmax_elements(call);
    int dim = softmax_dim(call);
    dt__reduced largest, sums;
    dt__state_array(call, (uint32_t)1 << dim, &merged->fields[0], &largest);
    dt__state_array(call, (uint32_t)1 << dim, &merged->fields[1], &sums);
    dt__softmax_finish(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &in, dim, is_log, &largest.array,
                       &sums.array, &out);
    return DT_OK;
}

static dt_status finish_softmax(dt_op_call *call, const dt_state *merged) {
    return keeps_powers(call) ? scale_powers(call, call->begun, merged) : finish_rows(call, merged, false);
}
static dt_status finish_log_softmax(dt_op_call *call, const dt_state *merged) {
    return finish_rows(call, merged, true);
}

static const dt_meet softmax_meet = {describe_softmax, begin_softmax, merge_softmax, finish_softmax};
static const dt_meet log_softmax_meet = {describe_softmax, begin_log_softmax, merge_softmax, finish_log_softmax};

static dt_status softmax(dt_op_call *call) { return run_softmax(call, false); }
static dt_status log_softmax(dt_op_call *call) { return run_softmax(call, true); }

/* eps, by default the distance from 1 to the next number of the dtype that is computed in. */
static double eps_of(const dt_op_call *call) {
    static const double next[DT_N_DTYPES] = {
        [DT_F16] = 0x1p-23, [DT_BF16] = 0x1p-23, [DT_F32] = 0x1p-23, [DT_F64] = 0x1p-52};
    const dt_arg *eps = dt__arg_at(call, EPS);
    return eps->type == DT_ARG_NONE ? next[call->inputs[0].dtype] : eps->as.f;
}

/* The arguments of the kernel. */
typedef struct norm_arguments {
    dt__array in, out, affine[2];
    dt__layer_norm norm;
} norm_arguments;

/* Whether this rank may make a part of the rows of its input. */
static bool makes_part(const dt_op_call *call) { return call->row_flags & DT_ROW_OFFSET; }

/* The elements of the input that the result has. */
static dt__array part_of_input(const dt_op_call *call) {
    const dt_op_value *in = &call->inputs[0], *out = &call->outputs[0];
    dt__array part = dt__array_of(in);
    part.shape = out->shape;
    for (int d = 0; d < in->n_dims; d++)
        part.data =
            (char *)part.data + (out->offset[d] - in->offset[d]) * in->strides[d] * (int64_t)dt_dtype_size(in->dtype);
    return part;
}

static void read_norm(const dt_op_call *call, norm_arguments *out) {
    out->in = makes_part(call) ? part_of_input(call) : dt__array_of(&call->inputs[0]);
    out->out = dt__array_of(&call->outputs[0]);
    out->norm = (dt__layer_norm){.in = &out->in,
                                 .out = &out->out,
                                 .n_dims = dt__arg_at(call, NORMALIZED_SHAPE)->n,
                                 .eps = eps_of(call),
                                 .is_rms = is_rms(call),
                                 .weight = has(call, WEIGHT) ? &out->affine[0] : NULL,
                                 .bias = has(call, BIAS) ? &out->affine[1] : NULL};
    for (int i = 0; i < 2; i++)
        if (has(call, i ? BIAS : WEIGHT))
            out->affine[i] = dt__array_of(&call->inputs[dt__arg_at(call, i ? BIAS : WEIGHT)->as.first]);
}

static dt_status layer_norm(dt_op_call *call) {
    norm_arguments self;
    dt__array saved[2];
    if (makes_part(call))
        return dt__run_alone(call);
    read_norm(call, &self);
    for (int i = 1; i < call->n_outputs; i++)
        saved[i - 1] = dt__array_of(&call->outputs[i]);
    self.norm.mean = call->n_outputs > 2 ? &saved[0] : NULL;
    self.norm.rstd = call->n_outputs > 1 ? &saved[call->n_outputs - 2] : NULL;
    dt__layer_norm_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &self.norm);
    return DT_OK;
}

/* Mean and 1 / standard deviation of each row: those that were saved, or, where the graph of gradients is recorded,
 * computed from x again, so that they are part of it, as precisely. */
typedef struct row_numbers {
    dt_tensor *mean, *rstd; /* mean is NULL for an RMS norm */
} row_numbers;

static row_numbers numbers_of(const dt_op_backward *call, dt_dims dims) {
    dt_tensor *x = call->inputs[0];
    bool rms = is_rms(call->call);
    if (!dt_requires_grad(x))
        return rms ? (row_numbers){.rstd = call->outputs[1]} : (row_numbers){call->outputs[1], call->outputs[2]};
    x = dt_to(x, DT_F64);
    dt_tensor *mean = rms ? NULL : dt_mean(x, .dim = dims, .keepdim = true), *centered = mean ? dt_sub(x, mean) : x;
    dt_tensor *variance = dt_mean(dt_mul(centered, centered), .dim = dims);
    return (row_numbers){.mean = mean ? dt_mean(x, .dim = dims) : NULL,
                         .rstd = dt_rsqrt(dt_add_scalar(variance, eps_of(call->call)))};
}

static dt_status norm_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_arg *shape = dt__arg_at(call->call, NORMALIZED_SHAPE);
    int64_t list[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < shape->n; d++)
        list[d] = d - shape->n;
    row_numbers of = numbers_of(call, (dt_dims){.n = shape->n, .list = list});
    int weight = has(call->call, WEIGHT) ? dt__arg_at(call->call, WEIGHT)->as.first : -1;
    int bias = has(call->call, BIAS) ? dt__arg_at(call->call, BIAS)->as.first : -1;
    int64_t mask[] = {call->needed[0], weight >= 0 && call->needed[weight], bias >= 0 && call->needed[bias]};
    dt_tensor *grad = call->grads[0], *x = call->inputs[0], *scale = NULL;
    if (mask[0] && weight >= 0) /* the other gradients do not depend on it */
        scale = call->inputs[weight];
    dt_shape sizes = {shape->n, shape->as.ints};
    dt_native_layer_norm_backward_result grads;
    if (is_rms(call->call)) {
        dt_fused_rms_norm_backward_result two =
            dt_fused_rms_norm_backward(grad, x, sizes, of.rstd, ((dt_ints){.n = 2, .list = mask}), .weight = scale);
        grads = (dt_native_layer_norm_backward_result){.grad_input = two.grad_input, .grad_weight = two.grad_weight};
    } else
        grads = dt_native_layer_norm_backward(grad, x, sizes, of.mean, of.rstd, ((dt_ints){.n = 3, .list = mask}),
                                              .weight = scale);
    if (!grads.grad_input)
        return dt_error_status(call->call->ctx);
    if (mask[0])
        input_grads[0] = grads.grad_input;
    if (mask[1])
        input_grads[weight] = grads.grad_weight;
    if (mask[2])
        input_grads[bias] = grads.grad_bias;
    return DT_OK;
}

static dt__statistic norm_statistic(const dt_op_call *call) { return is_rms(call) ? DT__SQUARES : DT__MOMENTS; }
static uint32_t norm_dims(const dt_op_call *call) {
    int n_dims = call->inputs[0].n_dims, n = dt__arg_at(call, NORMALIZED_SHAPE)->n;
    return (((uint32_t)1 << n) - 1) << (n_dims - n);
}

static void describe_norm(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, norm_statistic(call), norm_dims(call), state);
}

static dt_status begin_norm(dt_op_call *call, const dt_state *state) {
    dt__array in = dt__array_of(&call->inputs[0]);
    dt__statistics_begin(call, norm_statistic(call), norm_dims(call), &in, NULL, state);
    return DT_OK;
}

static void merge_norm(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, norm_statistic(call), into, next);
}

/* In the state the squares become 1 / standard deviation. */
static dt_status finish_norm(dt_op_call *call, const dt_state *merged) {
    const dt_arg *shape = dt__arg_at(call, NORMALIZED_SHAPE);
    const dt_state_field *second = &merged->fields[dt__second_field(norm_statistic(call))];
    double *squares = second->data, count = 1, zero = 0;
    norm_arguments self;
    dt__reduced mean = {.array = {&zero, DT_F64, 0, NULL, NULL}}, rstd;
    read_norm(call, &self);
    for (int d = 0; d < shape->n; d++)
        count *= (double)shape->as.ints[d];
    for (int64_t i = 0; i < second->n; i++)
        squares[i] = 1 / sqrt(squares[i] / count + self.norm.eps);
    if (!is_rms(call)) {
        double *means = merged->fields[0].data;
        for (int64_t i = 0; i < second->n && count == 0; i++)
            means[i] = (double)NAN;
        dt__state_array(call, norm_dims(call), &merged->fields[0], &mean);
    }
    dt__state_array(call, norm_dims(call), second, &rstd);
    for (int i = 1; i < call->n_outputs; i++) {
        dt__array to = dt__array_of(&call->outputs[i]);
        dt__run_convert(call, &to, i == call->n_outputs - 1 ? &rstd.array : &mean.array);
    }
    self.norm.mean = &mean.array;
    self.norm.rstd = &rstd.array;
    self.norm.has_statistics = true;
    dt__layer_norm_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &self.norm);
    return DT_OK;
}

static const dt_meet norm_meet = {describe_norm, begin_norm, merge_norm, finish_norm};

const dt_op dt__op_softmax = {
    .schema = "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    .summary = "Exponentials along a dim, divided by their sum.",
    .rule = "...[dim~] -> ...[dim]",
    .arguments = "dim,dtype",
    .shape = shape_softmax,
    .kernel = softmax,
    .gradient = "self: _softmax_backward_data(grad, result, dim, self.dtype)",
    .meet = &softmax_meet,
    .samples = "softmax(f32[5,3]; -1)\nsoftmax(f32[2,5,3]; 1)\nsoftmax(f16[5,3]; 0; f32)",
};
const dt_op dt__op_log_softmax = {
    .schema = "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    .summary = "Logarithm of the softmax along a dim.",
    .rule = "...[dim~] -> ...[dim]",
    .arguments = "dim,dtype",
    .shape = shape_softmax,
    .kernel = log_softmax,
    .gradient = "self: _log_softmax_backward_data(grad, result, dim, self.dtype)",
    .meet = &log_softmax_meet,
    .samples = "log_softmax(f32[5,3]; -1)\nlog_softmax(f32[2,5,3]; 1)\nlog_softmax(f16[5,3]; 0; f32)",
};
const dt_op dt__op_layer_norm = {
    .schema = "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
              "float eps=1e-05) -> Tensor",
    .summary = "Normalizes the last dims to mean 0 and variance 1, then scales by weight and adds bias.",
    .rule = "...[#normalized_shape~], [#normalized_shape], [#normalized_shape] -> ...[#normalized_shape], ..., ...",
    .flags = DT__OP_STATE_OF_FIRST,
    .rows = rows_layer_norm,
    .arguments = "normalized_shape,weight,eps,bias",
    .varying = "eps",
    .shape = shape_layer_norm,
    .kernel = layer_norm,
    .meet = &norm_meet,
    .samples = "layer_norm(f32[5,3]; [3]; f32[3]; f32[3])\nlayer_norm(f32[2,5,3]; [5,3])\n"
               "layer_norm(f32[5,3]; [3]; bias=f32[3])\n"
               "layer_norm(f32[5,3]; [3]; f32[3])",
    .backward = norm_backward,
    .saves = "input,weight,result1,result2",
    .n_saved = 2,
};
const dt_op dt__op_rms_norm = {
    .schema = "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    .summary = "Divides the last dims by the root of their mean square, then scales by weight.",
    .rule = "...[#normalized_shape~], [#normalized_shape] -> ...[#normalized_shape], ...",
    .flags = DT__OP_STATE_OF_FIRST,
    .rows = rows_layer_norm,
    .arguments = "normalized_shape,weight,eps",
    .varying = "eps",
    .shape = shape_layer_norm,
    .kernel = layer_norm,
    .meet = &norm_meet,
    .samples = "rms_norm(f32[5,3]; [3]; f32[3])\nrms_norm(f32[2,5,3]; [5,3])",
    .backward = norm_backward,
    .saves = "input,weight,result1",
    .n_saved = 1,
};
