/* SPDX-License-Identifier: Apache-2.0
 *
 * moment_norm: elements minus their mean, divided by their standard deviation over some dims, times weight plus bias,
 * which are broadcast. Batch, group, instance and layer norms are this op on other dims (channel_norms.c). Where the
 * dims are sharded the ranks meet and merge counts, means and squares, so that uneven shards weigh what they hold.
 */
#include "base/dtype.h"
#include "dtensor/ops.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <inttypes.h>
#include <math.h>

/* Positions in .arguments, and outputs. */
enum { DIMS, WEIGHT, BIAS, EPS };
enum { OUTPUT, MEAN, RSTD, VAR, N_OUTPUTS };

/* NULL: it is not given. */
static const dt_op_value *affine_of(const dt_op_call *call, int name) {
    const dt_arg *arg = dt__arg_at(call, name);
    return arg->type == DT_ARG_TENSOR ? &call->inputs[arg->as.first] : NULL;
}

static uint32_t norm_dims(const dt_op_call *call) {
    return dt__wrap_dims(dt__arg_at(call, DIMS), call->inputs[0].n_dims);
}

static dt_status shape_norm(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims};
    uint32_t dims;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DIMS), input->n_dims, &dims));
    for (int name = WEIGHT; name <= BIAS; name++) {
        const dt_op_value *affine = affine_of(call, name);
        bool fits = !affine || affine->n_dims == input->n_dims;
        for (int d = 0; affine && d < input->n_dims && fits; d++)
            fits = affine->shape[d] == 1 || affine->shape[d] == input->shape[d];
        if (!fits)
            return dt_op_refuse(call, DT_ERR_SHAPE, "%s: expected the sizes of the input, or 1",
                                name == WEIGHT ? "weight" : "bias");
    }
    for (int d = 0; d < input->n_dims; d++)
        shape.sizes[d] = dims >> d & 1 ? 1 : input->shape[d];
    DT__TRY(dt__add_like(call, 0, input->dtype));
    for (int i = MEAN; i < N_OUTPUTS; i++)
        DT__TRY(dt__add_shape(call, input->dtype == DT_F64 ? DT_F64 : DT_F32, &shape));
    return DT_OK;
}

/* The result is linear in weight and bias together, and not less where the bias is not. */
static void rows_norm(const dt_op_call *call, dt_rows *rows) {
    static const dt_reduce kinds[] = {DT_SUM, DT_AVG, DT_MAX, DT_MIN};
    const dt_arg *weight = dt__arg_at(call, WEIGHT), *bias = dt__arg_at(call, BIAS);
    const bool has_weight = weight->type == DT_ARG_TENSOR, has_bias = bias->type == DT_ARG_TENSOR;
    for (int k = 0; k < 4 && (has_weight || has_bias); k++) {
        dt_row_entry entries[3 + N_OUTPUTS] = {0};
        if (kinds[k] == DT_SUM ? !has_weight : kinds[k] != DT_AVG && !has_bias)
            continue;
        if (has_weight && kinds[k] <= DT_AVG)
            entries[weight->as.first] = DT_ROW_P(kinds[k]);
        if (has_bias)
            entries[bias->as.first] = DT_ROW_P(kinds[k]);
        entries[call->n_inputs] = DT_ROW_P(kinds[k]);
        dt_rows_add(rows, 0, entries);
        for (int alone = WEIGHT; alone <= BIAS && kinds[k] == DT_AVG && has_weight && has_bias; alone++) {
            entries[weight->as.first] = alone == WEIGHT ? DT_ROW_P(DT_AVG) : DT_ROW_R;
            entries[bias->as.first] = alone == BIAS ? DT_ROW_P(DT_AVG) : DT_ROW_R;
            dt_rows_add(rows, 0, entries);
        }
    }
}

static void describe(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, DT__MOMENTS, norm_dims(call), state);
}

static dt_status begin(dt_op_call *call, const dt_state *state) {
    dt__array in = dt__array_of(&call->inputs[0]);
    dt__statistics_begin(call, DT__MOMENTS, norm_dims(call), &in, NULL, state);
    return DT_OK;
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, DT__MOMENTS, into, next);
}

/* An array of all dims of the input; those that are 1 are repeated. */
typedef struct broadcast {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array array;
} broadcast;

/* A number for each element that remains when the dims are reduced. */
static void broadcast_state(const dt_op_call *call, uint32_t dims, const dt_state_field *field, broadcast *out) {
    const dt_op_value *input = &call->inputs[0];
    int64_t stride = 1;
    for (int d = input->n_dims - 1; d >= 0; d--) {
        bool reduced = dims >> d & 1;
        out->shape[d] = reduced ? 1 : input->shape[d];
        out->strides[d] = reduced ? 0 : stride;
        stride *= out->shape[d];
    }
    out->array = (dt__array){field->data, DT_F64, input->n_dims, out->shape, out->strides};
}

/* out = a + b c, in the dtype of out. */
static void multiply_add(const dt_op_call *call, const dt__array *out, const dt__array *a, const dt__array *b,
                         const dt__array *c) {
    dt__elementwise_run(
        dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
        &(dt__elementwise){.op = DT__EL_ADDCMUL,
                           .dtype = out->dtype,
                           .numbers = {dt__number_of(&(dt_arg){.type = DT_ARG_FLOAT, .as.f = 1}, out->dtype)},
                           .out = out,
                           .ins = {a, b, c}});
}

static dt__array number_array(double *number) { return (dt__array){number, DT_F64, 0, NULL, NULL}; }

/* out = in * scale + shift, where scale is rstd * weight and shift is bias - mean * scale, for each combination of what
 * these have; `in` is the output where it is normalized already. */
static dt_status scale_by(const dt_op_call *call, const dt__array *in, const broadcast *mean, const broadcast *rstd,
                          const dt__array *weight, const dt__array *bias, const int64_t *shape,
                          const dt__array *out) {
    dt__scratch scale, shift;
    double one = 1, zero = 0;
    dt__array ones = number_array(&one), zeros = number_array(&zero);
    DT__TRY(dt__scratch_new(call, DT_F64, in->n_dims, shape, &scale));
    dt_status status = dt__scratch_new(call, DT_F64, in->n_dims, shape, &shift);
    if (status == DT_OK) {
        status =
            dt__run_elements(call, DT__EL_MUL, DT_F64, &scale.array, &rstd->array, weight ? weight : &ones, NULL);
        if (status == DT_OK)
            status = dt__run_elements(call, DT__EL_MUL, DT_F64, &shift.array, &mean->array, &scale.array, NULL);
        if (status == DT_OK)
            status =
                dt__run_elements(call, DT__EL_SUB, DT_F64, &shift.array, bias ? bias : &zeros, &shift.array, NULL);
        if (status == DT_OK)
            multiply_add(call, out, &shift.array, in, &scale.array);
        dt__scratch_free(call, &shift);
    }
    dt__scratch_free(call, &scale);
    return status;
}

/* Weight and bias along dims that are reduced would make scale and shift as large as the input: then they are applied
 * to normalized elements, which are rounded once, at the end. */
static dt_status normalize_twice(const dt_op_call *call, const dt__array *in, const broadcast *mean,
                                 const broadcast *rstd, const dt__array *weight, const dt__array *bias,
                                 const dt__array *out) {
    double one = 1, zero = 0;
    dt__array ones = number_array(&one), zeros = number_array(&zero);
    dt__scratch unit = {.array = *out};
    bool is_half = dt__is_half(out->dtype);
    if (is_half)
        DT__TRY(dt__scratch_new(call, DT_F32, out->n_dims, out->shape, &unit));
    dt_status status = scale_by(call, in, mean, rstd, NULL, NULL, mean->shape, &unit.array);
    if (status == DT_OK)
        multiply_add(call, out, bias ? bias : &zeros, &unit.array, weight ? weight : &ones);
    if (is_half)
        dt__scratch_free(call, &unit);
    return status;
}

static dt_status normalize(const dt_op_call *call, const broadcast *mean, const broadcast *rstd) {
    const dt_op_value *affine[2] = {affine_of(call, WEIGHT), affine_of(call, BIAS)};
    const uint32_t dims = norm_dims(call);
    dt__array in = dt__array_of(&call->inputs[0]), out = dt__array_of(&call->outputs[OUTPUT]), arrays[2] = {{0}};
    int64_t shape[DT_SPEC_MAX_DIMS];
    bool along_reduced = false;
    for (int d = 0; d < in.n_dims; d++) {
        shape[d] = mean->shape[d];
        for (int i = 0; i < 2; i++)
            if (affine[i] && affine[i]->global_shape[d] != 1) {
                shape[d] = in.shape[d];
                along_reduced = along_reduced || dims >> d & 1;
            }
    }
    for (int i = 0; i < 2; i++)
        if (affine[i])
            arrays[i] = dt__array_of(affine[i]);
    const dt__array *weight = affine[0] ? &arrays[0] : NULL, *bias = affine[1] ? &arrays[1] : NULL;
    if (dt__array_count(&out) == 0)
        return DT_OK;
    return along_reduced && 4 * dt__elements(in.n_dims, shape) > dt__array_count(&in)
               ? normalize_twice(call, &in, mean, rstd, weight, bias, &out)
               : scale_by(call, &in, mean, rstd, weight, bias, shape, &out);
}

/* In the state the squares become the variance, then 1 / standard deviation. */
static dt_status finish(dt_op_call *call, const dt_state *merged) {
    const uint32_t dims = norm_dims(call);
    const double eps = dt__arg_at(call, EPS)->as.f, count = *(const double *)merged->fields[2].data;
    double *means = merged->fields[0].data, *squares = merged->fields[1].data;
    broadcast mean, second;
    broadcast_state(call, dims, &merged->fields[0], &mean);
    broadcast_state(call, dims, &merged->fields[1], &second);
    for (int64_t i = 0; i < merged->fields[1].n; i++) {
        squares[i] /= count;
        means[i] = count > 0 ? means[i] : (double)NAN;
    }
    for (int i = MEAN; i < N_OUTPUTS; i++) {
        int output = i == RSTD ? VAR : i == VAR ? RSTD : MEAN; /* the variance is overwritten */
        dt__array to = dt__array_of(&call->outputs[output]);
        for (int64_t k = 0; k < merged->fields[1].n && output == RSTD; k++)
            squares[k] = 1 / sqrt(squares[k] + eps);
        dt__run_convert(call, &to, output == MEAN ? &mean.array : &second.array);
    }
    return normalize(call, &mean, &second);
}

static bool order_of(const dt_op_call *call, int output, int *order) {
    return output == OUTPUT && dt__order_of_elements(call, output, order);
}

static const dt_meet norm_meet = {describe, begin, merge, finish};

/* Mean and 1 / standard deviation: those of the call, or, where the graph of gradients is recorded, computed again. */
typedef struct row_numbers {
    dt_tensor *mean, *rstd;
} row_numbers;

static row_numbers numbers_of(const dt_op_backward *call, dt_tensor *x, dt_dims dims) {
    if (!dt_requires_grad(x))
        return (row_numbers){call->outputs[MEAN], call->outputs[RSTD]};
    dt_tensor *mean = dt_mean(x, .dim = dims, .keepdim = true), *apart = mean ? dt_sub(x, mean) : NULL;
    dt_tensor *variance = apart ? dt_mean(dt_mul(apart, apart), .dim = dims, .keepdim = true) : NULL;
    return (row_numbers){mean,
                         variance ? dt_rsqrt(dt_add_scalar(variance, dt__arg_at(call->call, EPS)->as.f)) : NULL};
}

/* The gradients of the moments themselves: (grad of mean - grad of rstd rstd^2 y + 2 grad of var y / rstd) / n. */
static dt_tensor *moments_gradient(const dt_op_backward *call, dt_tensor *y, dt_tensor *rstd) {
    const dt_op_value *input = &call->call->inputs[0];
    const uint32_t dims = norm_dims(call->call);
    dt_tensor *of_y = call->grads[RSTD] ? dt_neg(dt_mul(call->grads[RSTD], dt_mul(rstd, rstd))) : NULL;
    dt_tensor *of_var = call->grads[VAR] ? dt_div(dt_mul_scalar(call->grads[VAR], 2), rstd) : NULL;
    double n = 1;
    for (int d = 0; d < input->n_dims; d++)
        n *= dims >> d & 1 ? (double)input->shape[d] : 1;
    of_y = of_y && of_var ? dt_add(of_y, of_var) : of_y ? of_y : of_var;
    dt_tensor *sum = of_y ? dt_mul(of_y, y) : NULL;
    if (call->grads[MEAN])
        sum = sum ? dt_add(sum, call->grads[MEAN])
                  : dt_expand(call->grads[MEAN], ((dt_shape){input->n_dims, input->shape}));
    return sum ? dt_div_scalar(sum, n) : NULL;
}

/* Dims along which the weight or the bias varies. */
static uint32_t affine_dims(const dt_op_call *call) {
    uint32_t dims = 0;
    for (int name = WEIGHT; name <= BIAS; name++) {
        const dt_op_value *affine = affine_of(call, name);
        for (int d = 0; affine && d < affine->n_dims; d++)
            dims |= (uint32_t)(affine->shape[d] != 1) << d;
    }
    return dims;
}

/* The weight with all sizes of affine dims, which those of the bias may be. */
static dt_tensor *expanded_weight(const dt_op_call *call, dt_tensor *weight, uint32_t affine) {
    const dt_op_value *input = &call->inputs[0], *from = affine_of(call, WEIGHT);
    int64_t sizes[DT_SPEC_MAX_DIMS];
    bool differs = false;
    for (int d = 0; d < input->n_dims; d++) {
        sizes[d] = affine >> d & 1 ? input->shape[d] : 1;
        differs = differs || sizes[d] != from->shape[d];
    }
    return differs ? dt_expand(weight, ((dt_shape){input->n_dims, sizes})) : weight;
}

/* Whether this is a layer norm: of the last dims, with weight or bias for each of their elements. It has a weight, as
 * sums have the dtype of that. */
static bool is_layer_norm(const dt_op_call *call, uint32_t affine) {
    const dt_op_value *input = &call->inputs[0];
    const uint32_t dims = norm_dims(call);
    bool fits = affine_of(call, WEIGHT) && affine != 0 && dims >> (input->n_dims - 1) & 1 && !(affine & ~dims);
    for (int d = 0; d < input->n_dims && fits; d++) {
        const bool is_in = dims >> d & 1, is_varied = affine >> d & 1;
        fits = (!is_in || is_varied || input->shape[d] == 1) && (d == 0 || is_in || !(dims >> (d - 1) & 1));
    }
    return fits;
}

/* Those of a layer norm need less memory there: it has as many numbers of weights as elements of a row. */
static dt_moment_norm_backward_result layer_gradients(const dt_op_backward *call, row_numbers of, dt_tensor *weight,
                                                      dt_ints mask) {
    const dt_op_value *input = &call->call->inputs[0];
    const int n = __builtin_popcount(norm_dims(call->call)), n_leading = input->n_dims - n;
    const dt_shape rows = {n_leading, input->shape}, row = {n, input->shape + n_leading};
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < input->n_dims; d++)
        sizes[d] = d < n_leading ? 1 : input->shape[d];
    const dt_shape of_weight = {input->n_dims, sizes};
    const dt_native_layer_norm_backward_result grads = dt_native_layer_norm_backward(
        call->grads[OUTPUT], call->inputs[0], row, dt_reshape(of.mean, rows), dt_reshape(of.rstd, rows), mask,
        .weight = weight ? dt_reshape(weight, row) : NULL);
    if (!grads.grad_input)
        return (dt_moment_norm_backward_result){0};
    return (dt_moment_norm_backward_result){
        grads.grad_input, mask.list[1] ? dt_reshape(grads.grad_weight, of_weight) : grads.grad_weight,
        mask.list[2] ? dt_reshape(grads.grad_bias, of_weight) : grads.grad_bias};
}

static dt_moment_norm_backward_result any_gradients(const dt_op_backward *call, row_numbers of, dt_tensor *weight,
                                                    dt_ints mask) {
    const int n_dims = call->call->inputs[0].n_dims;
    int64_t list[DT_SPEC_MAX_DIMS], affine_list[DT_SPEC_MAX_DIMS];
    const dt_dims dims = dt__list_dims(norm_dims(call->call), n_dims, list),
                  affine = dt__list_dims(affine_dims(call->call), n_dims, affine_list);
    return dt_moment_norm_backward(call->grads[OUTPUT], call->inputs[0], dims, of.mean, of.rstd,
                                   ((dt_ints){.n = affine.n, .list = affine.list}), mask, .weight = weight);
}

static dt_status gradients_of_output(const dt_op_backward *call, row_numbers of, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const dt_arg *weight = dt__arg_at(op, WEIGHT), *bias = dt__arg_at(op, BIAS);
    const int at[] = {0, weight->type == DT_ARG_TENSOR ? weight->as.first : -1,
                      bias->type == DT_ARG_TENSOR ? bias->as.first : -1};
    const uint32_t affine = affine_dims(op);
    int64_t mask[3];
    for (int i = 0; i < 3; i++)
        mask[i] = at[i] >= 0 && call->needed[at[i]];
    const bool is_layer = is_layer_norm(op, affine);
    dt_tensor *scale = (mask[0] || is_layer) && at[1] >= 0 ? expanded_weight(op, call->inputs[at[1]], affine) : NULL;
    const dt_ints all = {.n = 3, .list = mask};
    const dt_moment_norm_backward_result grads = (is_layer ? layer_gradients : any_gradients)(call, of, scale, all);
    dt_tensor *made[] = {grads.grad_input, grads.grad_weight, grads.grad_bias};
    for (int i = 0; i < 3 && grads.grad_input; i++)
        if (mask[i])
            input_grads[at[i]] = made[i];
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

static dt_status backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    int64_t list[DT_SPEC_MAX_DIMS];
    const dt_dims dims = dt__list_dims(norm_dims(op), op->inputs[0].n_dims, list);
    dt_tensor *x = dt__is_half(op->inputs[0].dtype) ? dt_to(call->inputs[0], DT_F32) : call->inputs[0];
    const row_numbers of = x ? numbers_of(call, x, dims) : (row_numbers){NULL, NULL};
    if (!of.rstd)
        return dt_error_status(op->ctx);
    if (call->grads[OUTPUT])
        DT__TRY(gradients_of_output(call, of, input_grads));
    if (call->needed[0] && (call->grads[MEAN] || call->grads[RSTD] || call->grads[VAR])) {
        dt_tensor *more = moments_gradient(call, dt_mul(dt_sub(x, of.mean), of.rstd), of.rstd);
        input_grads[0] = more && input_grads[0] ? dt_add(input_grads[0], more) : more;
    }
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

const dt_op dt__op_moment_norm = {
    .schema = "moment_norm(Tensor input, int[] dims, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> "
              "(Tensor output, Tensor mean, Tensor rstd, Tensor var)",
    .summary = "Normalizes some dims to mean 0 and variance 1, scales and shifts them; with the moments.",
    .rule = "...[dims~], ...[dims], ...[dims] -> ...[dims], ...[dims:1], ...[dims:1], ...[dims:1]",
    .rows = rows_norm,
    .arguments = "dims,weight,bias,eps",
    .varying = "eps",
    .shape = shape_norm,
    .kernel = dt__run_alone,
    .meet = &norm_meet,
    .order = order_of,
    .backward = backward,
    .saves = "input,weight,mean,rstd",
    .samples =
        "moment_norm(f32[4,3,5]; [0,2]; f32[1,3,1]; f32[1,3,1])\nmoment_norm(f32[4,3,5]; [2])\n"
        "moment_norm(f32[4,3,5]; [1,2]; f32[1,3,5]; f32[1,3,5])\nmoment_norm(f32[4,2,3,5]; [2,3]; f32[1,2,3,1])",
};
