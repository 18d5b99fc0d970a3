/* SPDX-License-Identifier: Apache-2.0
 *
 * Norms of images, whose dims are the batch, channels and space: batch_norm, group_norm, instance_norm and their native
 * forms, native_layer_norm, local_response_norm. All but the last are moment_norm with the channels apart; without
 * statistics of their own they use running ones. Running statistics are written in place, with variances that divide
 * by one less than the number of elements.
 */
#include "base/dtype.h"
#include "dtensor/autograd.h"
#include "dtensor/ops.h"
#include "dtensor/tensor.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments; an op has those that it needs. */
enum { WEIGHT, BIAS, RUNNING_MEAN, RUNNING_VAR, TRAINING, MOMENTUM, EPS };
enum { SAVED = 1, RUNNING_OUT = 3 }; /* outputs of native forms */
enum { GROUPS = 3, GROUP_EPS = 2, LAYER_SHAPE = 3, LAYER_EPS = 2 };

static dt_tensor *tensor_at(const dt_op_call *call, dt_tensor *const *inputs, int name) {
    const dt_arg *arg = dt__arg_at(call, name);
    return arg && arg->type == DT_ARG_TENSOR ? inputs[arg->as.first] : NULL;
}

static const dt_op_value *value_at(const dt_op_call *call, int name) {
    const dt_arg *arg = dt__arg_at(call, name);
    return arg && arg->type == DT_ARG_TENSOR ? &call->inputs[arg->as.first] : NULL;
}

static dt_dtype moment_dtype(const dt_op_call *call) { return call->inputs[0].dtype == DT_F64 ? DT_F64 : DT_F32; }

/* Refuses tensors that are not images, and weights that are not one per channel. */
static dt_status check_channels(const dt_op_call *call, int min_dims, int last_name) {
    const dt_op_value *input = &call->inputs[0];
    static const char *const names[] = {"weight", "bias", "running_mean", "running_var"};
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    if (input->n_dims < min_dims)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least %d dims, batch and channels first, got %d",
                            min_dims, input->n_dims);
    for (int name = WEIGHT; name <= last_name; name++) {
        const dt_op_value *value = value_at(call, name);
        if (value && (value->n_dims != 1 || value->shape[0] != input->shape[1]))
            return dt_op_refuse(call, DT_ERR_SHAPE, "%s: expected %" PRId64 " numbers, one per channel", names[name],
                                input->shape[1]);
    }
    return DT_OK;
}

/* One number per channel as it is broadcast to an image of n dims; of groups, whose channels are two dims. */
static dt_tensor *per_channel(dt_tensor *numbers, int n, int64_t groups) {
    int64_t sizes[DT_SPEC_MAX_DIMS];
    if (!numbers)
        return NULL;
    for (int d = 0; d < n; d++)
        sizes[d] = 1;
    sizes[1] = groups ? groups : dt_tensor_size(numbers, 0);
    if (groups)
        sizes[2] = dt_tensor_size(numbers, 0) / groups;
    return dt_reshape(numbers, ((dt_shape){n, sizes}));
}

static dt_tensor *flat(dt_tensor *numbers, int64_t n) {
    dt_shape shape = {1, &n};
    return numbers ? dt_reshape(numbers, shape) : NULL;
}

/* Dims of an image of n dims from `first` on; also the batch. */
static dt_dims norm_dims(int n, int first, bool with_batch, int64_t *list) {
    dt_dims dims = {.n = 0, .list = list};
    if (with_batch)
        list[dims.n++] = 0;
    for (int d = first; d < n; d++)
        list[dims.n++] = d;
    return dims;
}

/* Whether new running statistics are outputs instead of being written. */
static bool is_functional(const dt_op_call *call) { return call->n_outputs > RUNNING_OUT; }

/* (1 - momentum) running + momentum number. */
static dt_tensor *next_running(const dt_op_call *call, dt_tensor *running, dt_tensor *number) {
    double momentum = dt__arg_at(call, MOMENTUM)->as.f;
    dt_tensor *kept = dt_mul_scalar(running, 1 - momentum), *more = number ? dt_mul_scalar(number, momentum) : NULL;
    return kept && more ? dt_add(kept, more) : NULL;
}

/* The running statistics after those of a batch, [1,C,1..], or of instances, [N,C,1..], whose mean over the batch
 * counts. They are not part of gradients. An input without elements leaves them as they are. */
static dt_status update_running(const dt_op_call *call, dt_tensor *const *inputs, const dt_moment_norm_result *of,
                                double count, dt_tensor **next) {
    const dt_op_value *input = &call->inputs[0];
    dt_tensor *running[] = {tensor_at(call, inputs, RUNNING_MEAN), tensor_at(call, inputs, RUNNING_VAR)};
    dt_tensor *numbers[] = {of->mean, of->var};
    if (dt__elements(input->n_dims, input->shape) == 0)
        return DT_OK;
    for (int i = 0; i < 2; i++) {
        if (!running[i])
            continue;
        dt_tensor *number = dt_detach(numbers[i]);
        if (number && dt_tensor_size(number, 0) != 1)
            number = dt_mean(number, .dim = DT_DIMS(0));
        number = flat(number, input->shape[1]);
        if (i == 1 && number)
            number = dt_mul_scalar(number, count / (count - 1));
        next[i] = next_running(call, running[i], number);
        if (!next[i] || (!is_functional(call) && !dt_copy_(running[i], next[i])))
            return dt_error_status(call->ctx);
    }
    return DT_OK;
}

/* (x - mean) / sqrt(var + eps) * weight + bias, with running statistics, which have no gradients. */
static dt_tensor *use_running(const dt_op_call *call, dt_tensor *const *inputs) {
    int n = call->inputs[0].n_dims;
    dt_tensor *mean = tensor_at(call, inputs, RUNNING_MEAN), *var = tensor_at(call, inputs, RUNNING_VAR);
    dt_tensor *weight = tensor_at(call, inputs, WEIGHT), *bias = tensor_at(call, inputs, BIAS);
    mean = dt_detach(mean);
    dt_tensor *rstd = dt_rsqrt(dt_add_scalar(dt_detach(var), dt__arg_at(call, EPS)->as.f));
    dt_tensor *scale = rstd && weight ? dt_mul(rstd, weight) : rstd;
    dt_tensor *shift = scale ? dt_mul(mean, scale) : NULL;
    shift = !shift ? NULL : bias ? dt_sub(bias, shift) : dt_neg(shift);
    scale = per_channel(scale, n, 0);
    shift = per_channel(shift, n, 0);
    dt_tensor *result = scale && shift ? dt_addcmul(shift, inputs[0], scale) : NULL;
    return result && dt_tensor_dtype(result) != call->inputs[0].dtype ? dt_to(result, call->inputs[0].dtype) : result;
}

static bool has_running(const dt_op_call *call) {
    return value_at(call, RUNNING_MEAN) && value_at(call, RUNNING_VAR);
}
static bool trains(const dt_op_call *call) { return dt__arg_at(call, TRAINING)->as.b; }

static dt_status check_running(const dt_op_call *call, int min_dims) {
    DT__TRY(check_channels(call, min_dims, RUNNING_VAR));
    if (!trains(call) && !has_running(call))
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "without statistics of the input: expected running_mean and running_var");
    return DT_OK;
}

/* Elements of space. */
static int64_t n_space(const dt_op_value *input) { return dt__elements(input->n_dims - 2, input->shape + 2); }

/* Statistics of one number are that number and 0; native forms accept it. */
static dt_status expect_several(const dt_op_call *call, int64_t n, const char *of) {
    return n != 1 ? DT_OK : dt_op_refuse(call, DT_ERR_VALUE, "expected more than 1 element per %s, got 1", of);
}

static dt_status shape_batch(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    DT__TRY(check_running(call, 2));
    if (trains(call))
        DT__TRY(expect_several(call, input->shape[0] * n_space(input), "channel"));
    return dt__add_like(call, 0, input->dtype);
}

static dt_status shape_instance(dt_op_call *call) {
    DT__TRY(check_running(call, 3));
    if (trains(call))
        DT__TRY(expect_several(call, n_space(&call->inputs[0]), "channel of an instance"));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status shape_native_batch(dt_op_call *call) {
    int64_t n = trains(call) ? call->inputs[0].n_dims > 1 ? call->inputs[0].shape[1] : 0 : 0;
    DT__TRY(check_running(call, 2));
    DT__TRY(dt__add_like(call, 0, call->inputs[0].dtype));
    DT__TRY(dt_op_add_output(call, moment_dtype(call), 1, &n));
    return dt_op_add_output(call, moment_dtype(call), 1, &n);
}

static dt_status shape_functional_batch(dt_op_call *call) {
    DT__TRY(shape_native_batch(call));
    for (int name = RUNNING_MEAN; name <= RUNNING_VAR; name++)
        DT__TRY(dt_op_add_output(call, value_at(call, name)->dtype, 1, value_at(call, name)->shape));
    return DT_OK;
}

/* The statistics of a batch, or of each instance; they update the running ones. */
static dt_status run_training(const dt_op_call *call, dt_tensor *const *inputs, bool of_batch,
                              dt_moment_norm_result *out, dt_tensor **next) {
    const dt_op_value *input = &call->inputs[0];
    int64_t list[DT_SPEC_MAX_DIMS];
    int n = input->n_dims;
    dt_dims dims = norm_dims(n, 2, of_batch, list);
    double count = of_batch ? (double)input->shape[0] : 1;
    for (int d = 2; d < n; d++)
        count *= (double)input->shape[d];
    *out = dt_moment_norm(inputs[0], dims, .weight = per_channel(tensor_at(call, inputs, WEIGHT), n, 0),
                          .bias = per_channel(tensor_at(call, inputs, BIAS), n, 0),
                          .eps = DT_REAL(dt__arg_at(call, EPS)->as.f));
    if (!out->output)
        return dt_error_status(call->ctx);
    dt_no_grad_begin(call->ctx);
    const dt_status status = update_running(call, inputs, out, count, next);
    dt_no_grad_end(call->ctx);
    return status;
}

static dt_status decompose_batch(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const bool of_batch = !call->op->family; /* else of instances */
    dt_moment_norm_result of = {0};
    dt_tensor *ignored[2];
    if (!trains(call))
        of.output = use_running(call, inputs);
    else
        DT__TRY(run_training(call, inputs, of_batch, &of, ignored));
    outputs[0] = of.output;
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

static dt_status decompose_native_batch(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_moment_norm_result of = {0};
    dt_tensor *next[2] = {tensor_at(call, inputs, RUNNING_MEAN), tensor_at(call, inputs, RUNNING_VAR)};
    const int64_t channels = call->inputs[0].shape[1];
    if (trains(call)) {
        DT__TRY(run_training(call, inputs, true, &of, next));
        outputs[SAVED] = flat(dt_detach(of.mean), channels);
        outputs[SAVED + 1] = flat(dt_detach(of.rstd), channels);
    } else {
        of.output = use_running(call, inputs);
        for (int o = SAVED; o < RUNNING_OUT; o++)
            outputs[o] = dt_new_zeros(inputs[0], DT_SHAPE(0), .dtype = moment_dtype(call));
    }
    for (int o = RUNNING_OUT; o < call->n_outputs; o++)
        outputs[o] = dt_clone(dt_detach(next[o - RUNNING_OUT]));
    outputs[0] = of.output;
    return dt_failed(call->ctx) ? dt_error_status(call->ctx) : DT_OK;
}

/* Channels may be sharded together with everything that has one number per channel; with running statistics every dim
 * may be. */
static void rows_channels(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *input = &call->inputs[0];
    for (int d = 0; d < input->n_dims; d++) {
        dt_row_entry entries[10] = {DT_ROW_S(d)};
        if (d != 1 && trains(call) && !(call->op->family && d == 0))
            continue;
        for (int i = 1; i < call->n_inputs; i++)
            entries[i] = d == 1 ? DT_ROW_S(0) : DT_ROW_R;
        entries[call->n_inputs] = DT_ROW_S(d);
        for (int o = 1; o < call->n_outputs; o++)
            entries[call->n_inputs + o] = d == 1 && (trains(call) || o >= RUNNING_OUT) ? DT_ROW_S(0) : DT_ROW_R;
        dt_rows_add(rows, 0, entries);
    }
}

#define RUNNING(shape_, decompose_) .rows = rows_channels, .shape = shape_, .decompose = decompose_

const dt_op dt__op_batch_norm = {
    .schema = "batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, "
              "Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
    .summary = "Normalizes each channel over batch and space, or with running statistics, which training updates.",
    RUNNING(shape_batch, decompose_batch),
    .arguments = "weight,bias,running_mean,running_var,training,momentum,eps",
    .samples = "batch_norm(f32[4,3,5]; none; none; f32[3]; f32[3]; true)\n"
               "batch_norm(f32[4,3]; f32[3]; f32[3]; training=true)",
};
const dt_op dt__op_instance_norm = {
    .schema = "instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, "
              "Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor",
    .summary = "Normalizes each channel of each instance over space, or with running statistics.",
    RUNNING(shape_instance, decompose_batch),
    .arguments = "weight,bias,running_mean,running_var,use_input_stats,momentum,eps",
    .family = "instances",
    .samples = "instance_norm(f32[4,3,5])\ninstance_norm(f32[4,3,5]; f32[3]; f32[3]; f32[3]; f32[3])",
};
const dt_op dt__op_native_batch_norm = {
    .schema = "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
              "Tensor? running_var, bool training, float momentum, float eps) -> "
              "(Tensor output, Tensor save_mean, Tensor save_invstd)",
    .summary = "batch_norm, with the means and the inverse standard deviations that it used in training.",
    RUNNING(shape_native_batch, decompose_native_batch),
    .arguments = "weight,bias,running_mean,running_var,training,momentum,eps",
    .samples = "native_batch_norm(f32[4,3,5]; f32[3]; f32[3]; none; none; true; 0.1; 1e-05)\n"
               "native_batch_norm(f32[4,3,5]; none; none; f32[3]; f32[3]; true; 0.1; 1e-05)",
};

const dt_op dt__op__native_batch_norm_legit_functional = {
    .schema = "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
              "Tensor running_var, bool training, float momentum, float eps) -> (Tensor output, Tensor save_mean, "
              "Tensor save_invstd, Tensor running_mean_out, Tensor running_var_out)",
    .summary = "native_batch_norm that returns new running statistics and writes none.",
    RUNNING(shape_functional_batch, decompose_native_batch),
    .arguments = "weight,bias,running_mean,running_var,training,momentum,eps",
    .samples = "_native_batch_norm_legit_functional(f32[4,3,5]; f32[3]; f32[3]; f32[3]; f32[3]; true; 0.1; 1e-05)\n"
               "_native_batch_norm_legit_functional(f32[4,3,5]; none; none; f32[3]; f32[3]; false; 0.1; 1e-05)",
};

/* group_norm: the channels as two dims, groups and what is in each. */
static dt_status check_groups(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t groups = dt__arg_at(call, GROUPS)->as.i;
    DT__TRY(check_channels(call, 2, BIAS));
    if (groups < 1 || input->shape[1] % groups)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "expected groups of equal size: %" PRId64 " channels in %" PRId64 " groups",
                            input->shape[1], groups);
    if (input->n_dims == DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at most %d dims", DT_SPEC_MAX_DIMS - 1);
    return DT_OK;
}

static dt_status shape_group(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    DT__TRY(check_groups(call));
    const int64_t n_channels = input->shape[1] / dt__arg_at(call, GROUPS)->as.i;
    DT__TRY(expect_several(call, input->shape[0] * n_channels * n_space(input), "group of a batch"));
    return dt__add_like(call, 0, input->dtype);
}

static dt_status shape_native_group(dt_op_call *call) {
    int64_t sizes[2];
    DT__TRY(check_groups(call));
    DT__TRY(dt__add_like(call, 0, call->inputs[0].dtype));
    sizes[0] = call->inputs[0].shape[0];
    sizes[1] = dt__arg_at(call, GROUPS)->as.i;
    DT__TRY(dt_op_add_output(call, moment_dtype(call), 2, sizes));
    return dt_op_add_output(call, moment_dtype(call), 2, sizes);
}

static dt_moment_norm_result norm_groups(const dt_op_call *call, dt_tensor *const *inputs) {
    const dt_op_value *input = &call->inputs[0];
    const int64_t groups = dt__arg_at(call, GROUPS)->as.i;
    int n = input->n_dims + 1;
    int64_t sizes[DT_SPEC_MAX_DIMS], list[DT_SPEC_MAX_DIMS];
    sizes[0] = input->shape[0];
    sizes[1] = groups;
    sizes[2] = input->shape[1] / groups;
    for (int d = 3; d < n; d++)
        sizes[d] = input->shape[d - 1];
    dt_tensor *x = dt_reshape(inputs[0], ((dt_shape){n, sizes}));
    dt_dims dims = norm_dims(n, 2, false, list);
    if (!x)
        return (dt_moment_norm_result){0};
    dt_moment_norm_result of =
        dt_moment_norm(x, dims, .weight = per_channel(tensor_at(call, inputs, WEIGHT), n, groups),
                       .bias = per_channel(tensor_at(call, inputs, BIAS), n, groups),
                       .eps = DT_REAL(dt__arg_at(call, GROUP_EPS)->as.f));
    of.output = of.output ? dt_reshape(of.output, ((dt_shape){input->n_dims, input->shape})) : NULL;
    return of;
}

static dt_status decompose_group(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_moment_norm_result of = norm_groups(call, inputs);
    outputs[0] = of.output;
    if (call->n_outputs > 1 && of.output) {
        dt_shape shape = {2, call->outputs[1].shape};
        outputs[1] = dt_reshape(of.mean, shape);
        outputs[2] = dt_reshape(of.rstd, shape);
    }
    return dt_failed(call->ctx) ? dt_error_status(call->ctx) : DT_OK;
}

static void rows_batch(const dt_op_call *call, dt_rows *rows) {
    dt_row_entry entries[6] = {DT_ROW_S(0)};
    for (int o = 0; o < call->n_outputs; o++)
        entries[call->n_inputs + o] = DT_ROW_S(0);
    dt_rows_add(rows, 0, entries);
}

const dt_op dt__op_group_norm = {
    .schema = "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> "
              "Tensor",
    .summary = "Normalizes groups of channels of each instance, then scales and shifts each channel.",
    .rows = rows_batch,
    .arguments = "weight,bias,eps,num_groups",
    .shape = shape_group,
    .decompose = decompose_group,
    .samples = "group_norm(f32[4,6,5]; 3; f32[6]; f32[6])\ngroup_norm(f32[2,4]; 2)",
};
const dt_op dt__op_native_group_norm = {
    .schema = "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, "
              "float eps) -> (Tensor output, Tensor mean, Tensor rstd)",
    .summary = "group_norm, with the means and the inverse standard deviations that it used.",
    .rows = rows_batch,
    .arguments = "weight,bias,eps,group",
    .unused = "N,C,HxW",
    .shape = shape_native_group,
    .decompose = decompose_group,
    .samples = "native_group_norm(f32[4,6,5]; f32[6]; f32[6]; 4; 6; 5; 3; 1e-05)",
};

static dt_status shape_native_layer(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *shape = dt__arg_at(call, LAYER_SHAPE);
    dt__shape moments = {.n = input->n_dims};
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    bool fits = shape->n > 0 && shape->n <= input->n_dims;
    for (int d = 0; d < shape->n && fits; d++) {
        fits = shape->as.ints[d] == input->shape[input->n_dims - shape->n + d];
        for (int name = WEIGHT; name <= BIAS && fits; name++) {
            const dt_op_value *value = value_at(call, name);
            fits = !value || (value->n_dims == shape->n && value->shape[d] == shape->as.ints[d]);
        }
    }
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "normalized_shape: expected the last sizes of the input, as weight and bias have them");
    for (int d = 0; d < input->n_dims; d++)
        moments.sizes[d] = d < input->n_dims - shape->n ? input->shape[d] : 1;
    DT__TRY(dt__add_like(call, 0, input->dtype));
    DT__TRY(dt__add_shape(call, moment_dtype(call), &moments));
    return dt__add_shape(call, moment_dtype(call), &moments);
}

/* Weight and bias with dims of size 1 in front. */
static dt_tensor *at_last(dt_tensor *numbers, int n) {
    int64_t sizes[DT_SPEC_MAX_DIMS];
    if (!numbers)
        return NULL;
    int more = n - (int)dt_tensor_n_dims(numbers);
    for (int d = 0; d < n; d++)
        sizes[d] = d < more ? 1 : dt_tensor_size(numbers, d - more);
    return dt_reshape(numbers, ((dt_shape){n, sizes}));
}

static dt_status decompose_native_layer(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    int n = call->inputs[0].n_dims;
    int64_t list[DT_SPEC_MAX_DIMS];
    dt_dims dims = norm_dims(n, n - dt__arg_at(call, LAYER_SHAPE)->n, false, list);
    dt_moment_norm_result of = dt_moment_norm(inputs[0], dims, .weight = at_last(tensor_at(call, inputs, WEIGHT), n),
                                              .bias = at_last(tensor_at(call, inputs, BIAS), n),
                                              .eps = DT_REAL(dt__arg_at(call, LAYER_EPS)->as.f));
    outputs[0] = of.output;
    outputs[1] = of.output ? dt_detach(of.mean) : NULL;
    outputs[2] = of.output ? dt_detach(of.rstd) : NULL;
    return outputs[2] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_native_layer_norm = {
    .schema = "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
              "(Tensor output, Tensor mean, Tensor rstd)",
    .summary = "layer_norm, with the means and the inverse standard deviations that it used.",
    .arguments = "weight,bias,eps,normalized_shape",
    .shape = shape_native_layer,
    .decompose = decompose_native_layer,
    .samples = "native_layer_norm(f32[5,3]; [3]; f32[3]; f32[3]; 1e-05)\n"
               "native_layer_norm(f32[2,5,3]; [5,3]; none; none; 1e-05)",
};

/* local_response_norm: x / (k + alpha mean of squares of the channels around)^beta. */
static dt_status shape_response(dt_op_call *call) {
    DT__TRY(check_channels(call, 3, -1));
    if (call->args[1].as.i < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "size: expected at least 1, got %" PRId64, call->args[1].as.i);
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status decompose_response(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    int n = call->inputs[0].n_dims;
    int64_t size = call->args[1].as.i, pads[2 * DT_SPEC_MAX_DIMS] = {0};
    pads[2 * (n - 2)] = size / 2;
    pads[2 * (n - 2) + 1] = (size - 1) / 2;
    dt_ints pad = {.n = 2 * (n - 1), .list = pads};
    dt_tensor *squares = dt_mul(inputs[0], inputs[0]), *padded = squares ? dt_constant_pad_nd(squares, pad) : NULL;
    dt_tensor *windows = padded ? dt_unfold(padded, 1, size, 1) : NULL;
    dt_tensor *means = windows ? dt_mean(windows, .dim = DT_DIMS(-1)) : NULL;
    dt_tensor *base = means ? dt_add_scalar(dt_mul_scalar(means, call->args[2].as.f), call->args[4].as.f) : NULL;
    outputs[0] = base ? dt_div(inputs[0], dt_pow_scalar_exponent(base, call->args[3].as.f)) : NULL;
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_local_response_norm = {
    .schema =
        "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor",
    .summary = "Divides elements by a power of the mean of squares of the channels around them.",
    .shape = shape_response,
    .decompose = decompose_response,
    .samples = "local_response_norm(f32[2,5,3]; 3)\nlocal_response_norm(f32[2,5,3,2]; 2; 0.5; 0.5; 2.0)",
};
