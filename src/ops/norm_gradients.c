/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of layer_norm and rms_norm, in one pass, from the statistics of the rows. With y = (x - mean) rstd, of an
 * RMS norm x rstd, h = grad weight, and means over a row:
 *
 *     input   rstd (h - mean(h) - y mean(h y)), of an RMS norm without mean(h)
 *     weight  the sum of grad y over the rows
 *     bias    the sum of grad over the rows
 *
 * output_mask selects them; the others are empty. Where the dims of a row are sharded, the ranks meet: they add the
 * sums of h and h y of their shards. Where rows are, the gradients of weight and bias are partial sums.
 */
#include "dtensor/ops.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "ops/states.h"

/* Positions in .arguments; the RMS norm has no mean. */
enum { NORMALIZED_SHAPE, RSTD, WEIGHT, OUTPUT_MASK, MEAN };
enum { OF_INPUT, OF_WEIGHT, OF_BIAS, N_GRADS };

static bool is_rms(const dt_op_call *call) { return !dt__arg_at(call, MEAN); }
static int n_grads(const dt_op_call *call) { return is_rms(call) ? OF_BIAS : N_GRADS; }
static bool makes(const dt_op_call *call, int grad) {
    return grad < n_grads(call) && dt__arg_at(call, OUTPUT_MASK)->as.ints[grad] != 0;
}
/* The input of an argument; -1: it is not given. */
static int input_of(const dt_op_call *call, int name) {
    const dt_arg *arg = dt__arg_at(call, name);
    return arg && arg->type == DT_ARG_TENSOR ? arg->as.first : -1;
}
static int n_normalized(const dt_op_call *call) { return dt__arg_at(call, NORMALIZED_SHAPE)->n; }

static bool has_shape(const dt_op_value *value, int n_dims, const int64_t *shape) {
    bool same = value->n_dims == n_dims;
    for (int d = 0; d < n_dims && same; d++)
        same = value->shape[d] == shape[d];
    return same;
}

static dt_status check_values(const dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *input = &call->inputs[1];
    const dt_arg *shape = dt__arg_at(call, NORMALIZED_SHAPE);
    int n_leading = input->n_dims - shape->n, mean = input_of(call, MEAN), weight = input_of(call, WEIGHT);
    if (!has_shape(grad, input->n_dims, input->shape))
        return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient and the input: expected one shape");
    if (shape->n == 0 || n_leading < 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "normalized_shape: expected 1 to %d sizes, got %d", input->n_dims,
                            shape->n);
    for (int d = 0; d < shape->n; d++)
        if (shape->as.ints[d] != input->shape[n_leading + d])
            return dt_op_refuse(call, DT_ERR_SHAPE, "normalized_shape differs from the last sizes of the input");
    if (!has_shape(&call->inputs[input_of(call, RSTD)], n_leading, input->shape) ||
        (mean >= 0 && !has_shape(&call->inputs[mean], n_leading, input->shape)))
        return dt_op_refuse(call, DT_ERR_SHAPE, "statistics: expected the first %d sizes of the input", n_leading);
    if (weight >= 0 && !has_shape(&call->inputs[weight], shape->n, shape->as.ints))
        return dt_op_refuse(call, DT_ERR_SHAPE, "the shape of weight differs from normalized_shape");
    return DT_OK;
}

static dt_status shape_gradients(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[1];
    const dt_arg *shape = dt__arg_at(call, NORMALIZED_SHAPE);
    int weight = input_of(call, WEIGHT);
    DT__TRY(dt__refuse_complex(call));
    for (int i = 0; i < call->n_inputs; i++)
        DT__TRY(dt__expect_floating(call, i));
    if (dt__arg_at(call, OUTPUT_MASK)->n != n_grads(call))
        return dt_op_refuse(call, DT_ERR_VALUE, "output_mask: expected %d numbers, got %d", n_grads(call),
                            dt__arg_at(call, OUTPUT_MASK)->n);
    DT__TRY(check_values(call));
    dt_dtype dtype = call->inputs[weight < 0 ? 1 : weight].dtype;
    for (int i = 0; i < n_grads(call); i++)
        if (!makes(call, i))
            DT__TRY(dt_op_add_output(call, i ? dtype : input->dtype, 1, (int64_t[]){0}));
        else if (i)
            DT__TRY(dt_op_add_output(call, dtype, shape->n, shape->as.ints));
        else
            DT__TRY(dt_op_add_output(call, input->dtype, input->n_dims, input->shape));
    return DT_OK;
}

/* The row in which these inputs are partial, and the gradients that depend on them; the others do not. */
static void add_linear(const dt_op_call *call, dt_rows *rows, uint32_t inputs, uint32_t grads) {
    for (int kind = 0; kind < 2; kind++) {
        dt_row_entry entries[5 + N_GRADS], partial = DT_ROW_P(kind ? DT_AVG : DT_SUM);
        int n = 0;
        for (int i = 0; i < call->n_inputs; i++)
            entries[n++] = inputs >> i & 1 ? partial : DT_ROW_R;
        for (int i = 0; i < n_grads(call); i++)
            entries[n++] = makes(call, i) && grads >> i & 1 ? partial : DT_ROW_R;
        dt_rows_add(rows, 0, entries);
    }
}

/* The gradient of the input needs sums along rows, and is linear in the weight; those of weight and bias are sums over
 * rows, and linear in the statistics. */
static void rows_gradients(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *input = &call->inputs[1];
    int n_leading = input->n_dims - n_normalized(call), rstd = input_of(call, RSTD), weight = input_of(call, WEIGHT);
    for (int d = 0; d < input->n_dims; d++) {
        bool leads = d < n_leading;
        dt_row_entry entries[5 + N_GRADS], of_row = leads ? DT_ROW_S(d) : DT_ROW_R;
        dt_row_entry of_weight = leads ? DT_ROW_P(DT_SUM) : DT_ROW_S(d - n_leading);
        int n = 0;
        entries[n++] = DT_ROW_S(d);
        entries[n++] = DT_ROW_S(d);
        while (n <= rstd)
            entries[n++] = of_row;
        if (weight >= 0)
            entries[n++] = leads ? DT_ROW_R : of_weight;
        for (int i = 0; i < n_grads(call); i++)
            entries[n++] = !makes(call, i) ? DT_ROW_R : i ? of_weight : DT_ROW_S(d);
        dt_rows_add(rows, !leads && makes(call, OF_INPUT) ? DT_ROW_MEET : 0, entries);
    }
    add_linear(call, rows, 1, 1 << OF_INPUT | 1 << OF_WEIGHT | 1 << OF_BIAS);
    if (makes(call, OF_INPUT) && weight >= 0)
        add_linear(call, rows, (uint32_t)1 << weight, 1 << OF_INPUT);
    if (makes(call, OF_INPUT) || !makes(call, OF_WEIGHT))
        return;
    add_linear(call, rows, is_rms(call) ? 2 : 6, 1 << OF_WEIGHT); /* input, and its mean */
    add_linear(call, rows, (uint32_t)1 << rstd, 1 << OF_WEIGHT);
}

/* The arguments of the kernel, and its memory: numbers of each row, and sums over the rows. */
typedef struct norm_arguments {
    dt__array grad, in, out, weight;
    int64_t n_rows, n;
    dt__norm_grads norm;
    dt__scratch memory;
} norm_arguments;

static void load_numbers(const dt_op_call *call, int input, double *to) {
    const dt_op_value *value = &call->inputs[input];
    dt__array from = dt__array_of(value);
    int64_t strides[DT_SPEC_MAX_DIMS];
    dt__row_strides(value->n_dims, value->shape, strides);
    dt__run_convert(call, &(dt__array){to, DT_F64, value->n_dims, value->shape, strides}, &from);
}

/* The sums of rows are those of a state, or memory of its own where `state` is NULL. */
static dt_status open_call(const dt_op_call *call, const dt_state *state, bool is_begin, norm_arguments *self) {
    const dt_op_value *in = &call->inputs[1];
    const dt_arg *shape = dt__arg_at(call, NORMALIZED_SHAPE);
    int n_leading = in->n_dims - shape->n, mean = input_of(call, MEAN), weight = input_of(call, WEIGHT);
    double count = 1;
    self->n_rows = dt__elements(n_leading, in->shape);
    self->n = dt__elements(shape->n, in->shape + n_leading);
    for (int d = 0; d < shape->n; d++)
        count *= (double)shape->as.ints[d];
    int64_t n_sums = dt__norm_grads_pieces(self->n_rows, self->n) * self->n;
    int64_t sizes[] = {self->n_rows,
                       self->n_rows,
                       state ? 0 : self->n_rows,
                       state ? 0 : self->n_rows,
                       makes(call, OF_WEIGHT) && !is_begin ? n_sums : 0,
                       makes(call, OF_BIAS) && !is_begin ? n_sums : 0};
    int64_t total = 0;
    for (int i = 0; i < 6; i++)
        total += sizes[i];
    DT__TRY(dt__scratch_new(call, DT_F64, 1, &total, &self->memory));
    double *at[6], *next = self->memory.array.data;
    for (int i = 0; i < 6; i++) {
        at[i] = next;
        next += sizes[i];
    }
    if (state && is_rms(call))
        at[3] = state->fields[0].data;
    for (int i = 0; state && !is_rms(call) && i < 2; i++)
        at[2 + i] = state->fields[i].data;
    if (mean >= 0)
        load_numbers(call, mean, at[0]);
    load_numbers(call, input_of(call, RSTD), at[1]);
    self->grad = dt__array_of(&call->inputs[0]);
    self->in = dt__array_of(in);
    if (weight >= 0)
        self->weight = dt__array_of(&call->inputs[weight]);
    if (makes(call, OF_INPUT))
        self->out = dt__array_of(&call->outputs[OF_INPUT]);
    self->norm = (dt__norm_grads){.grad = &self->grad,
                                  .in = &self->in,
                                  .n_dims = shape->n,
                                  .is_rms = is_rms(call),
                                  .count = count,
                                  .mean = at[0],
                                  .rstd = at[1],
                                  .weight = weight >= 0 ? &self->weight : NULL,
                                  .sums = at[2],
                                  .products = at[3],
                                  .has_sums = (state && !is_begin) || !makes(call, OF_INPUT),
                                  .out = makes(call, OF_INPUT) && !is_begin ? &self->out : NULL,
                                  .of_weight = sizes[4] ? at[4] : NULL,
                                  .of_bias = sizes[5] ? at[5] : NULL};
    return DT_OK;
}

static void run(const dt_op_call *call, const norm_arguments *self) {
    dt__norm_grads_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &self->norm);
    for (int i = OF_WEIGHT; i <= OF_BIAS; i++) {
        double *sums = i == OF_WEIGHT ? self->norm.of_weight : self->norm.of_bias;
        if (!sums)
            continue;
        const dt_op_value *value = &call->outputs[i];
        dt__array to = dt__array_of(value);
        int64_t strides[DT_SPEC_MAX_DIMS];
        dt__row_strides(value->n_dims, value->shape, strides);
        dt__run_convert(call, &to, &(dt__array){sums, DT_F64, value->n_dims, value->shape, strides});
    }
}

static dt_status run_with(const dt_op_call *call, const dt_state *state, bool is_begin) {
    norm_arguments self;
    DT__TRY(open_call(call, state, is_begin, &self));
    run(call, &self);
    dt__scratch_free(call, &self.memory);
    return DT_OK;
}

static dt_status gradients(dt_op_call *call) { return run_with(call, NULL, false); }
static dt_status begin(dt_op_call *call, const dt_state *state) { return run_with(call, state, true); }
static dt_status finish(dt_op_call *call, const dt_state *merged) { return run_with(call, merged, false); }

static uint32_t row_dims(const dt_op_call *call) {
    return (((uint32_t)1 << n_normalized(call)) - 1) << (call->inputs[0].n_dims - n_normalized(call));
}

static void describe(const dt_op_call *call, dt_state *state) {
    state->n_fields = is_rms(call) ? 1 : 2;
    for (int f = 0; f < state->n_fields; f++)
        state->fields[f] = (dt_state_field){.dtype = DT_F64, .n = dt__n_remaining(&call->inputs[0], row_dims(call))};
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    for (int f = 0; f < into->n_fields; f++)
        dt__kernels_of(call->ctx)->accumulate(DT_F64, DT_SUM, into->fields[f].data, next->fields[f].data,
                                              (size_t)into->fields[f].n);
}

static const dt_meet meet = {describe, begin, merge, finish};

/* The gradient of these gradients. u is the gradient of that of the input times rstd. */
typedef struct second {
    const dt_op_backward *call;
    dt_dims dims; /* of a row */
    int64_t dim_list[DT_SPEC_MAX_DIMS];
    dt_tensor *x, *grad, *weight, *mean, *rstd; /* weight and mean may be NULL */
    dt_tensor *centered, *y, *h;
    dt_tensor *grad_input, *of_weight, *of_bias; /* the gradients of the outputs, NULL: zeros */
    dt_tensor *u, *mean_hy, *mean_uy;            /* NULL without grad_input */
} second;

static dt_tensor *row_mean(const second *self, dt_tensor *tensor) {
    return dt_mean(tensor, .dim = self->dims, .keepdim = true);
}
static dt_tensor *plus(dt_tensor *a, dt_tensor *b) { return a && b ? dt_add(a, b) : a ? a : b; }

/* A number per row, broadcast to the elements of the rows. */
static dt_tensor *beside_rows(const second *self, dt_tensor *tensor) {
    const dt_op_value *input = &self->call->call->inputs[1];
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < input->n_dims; d++)
        sizes[d] = d < input->n_dims - self->dims.n ? input->shape[d] : 1;
    dt_shape shape = {input->n_dims, sizes};
    return tensor ? dt_reshape(tensor, shape) : NULL;
}

/* t - mean(t) - y mean(t y), without the second term for an RMS norm. */
static dt_tensor *projected(const second *self, dt_tensor *tensor, dt_tensor *mean_ty) {
    dt_tensor *rest = dt_sub(tensor, dt_mul(self->y, mean_ty));
    return self->mean ? dt_sub(rest, row_mean(self, tensor)) : rest;
}

static void read_second(const dt_op_backward *call, second *out) {
    const dt_op_call *op = call->call;
    int mean = input_of(op, MEAN), weight = input_of(op, WEIGHT);
    dt_tensor *const *of = call->grads;
    *out = (second){.call = call, .x = call->inputs[1], .grad = call->inputs[0]};
    out->dims = (dt_dims){.n = n_normalized(op), .list = out->dim_list};
    for (int d = 0; d < out->dims.n; d++)
        out->dim_list[d] = d - out->dims.n;
    out->weight = weight >= 0 ? call->inputs[weight] : NULL;
    out->mean = mean >= 0 ? beside_rows(out, call->inputs[mean]) : NULL;
    out->rstd = beside_rows(out, call->inputs[input_of(op, RSTD)]);
    out->grad_input = makes(op, OF_INPUT) ? of[OF_INPUT] : NULL;
    out->of_weight = makes(op, OF_WEIGHT) ? of[OF_WEIGHT] : NULL;
    out->of_bias = makes(op, OF_BIAS) ? of[OF_BIAS] : NULL;
    out->centered = out->mean ? dt_sub(out->x, out->mean) : out->x;
    out->y = dt_mul(out->centered, out->rstd);
    out->h = out->weight ? dt_mul(out->grad, out->weight) : out->grad;
    if (!out->grad_input)
        return;
    out->u = dt_mul(out->grad_input, out->rstd);
    out->mean_hy = row_mean(out, dt_mul(out->h, out->y));
    out->mean_uy = row_mean(out, dt_mul(out->u, out->y));
}

/* Of y: grad times the gradient of that of the weight, less u mean(h y) + h mean(u y). */
static dt_tensor *of_y(const second *self) {
    dt_tensor *sum = self->of_weight ? dt_mul(self->grad, self->of_weight) : NULL;
    if (!self->u)
        return sum;
    dt_tensor *less = dt_add(dt_mul(self->u, self->mean_hy), dt_mul(self->h, self->mean_uy));
    return sum ? dt_sub(sum, less) : dt_neg(less);
}

static dt_tensor *of_grad(const second *self, dt_tensor *of_h) {
    dt_tensor *sum = of_h && self->weight ? dt_mul(of_h, self->weight) : of_h;
    if (self->of_weight)
        sum = plus(sum, dt_mul(self->of_weight, self->y));
    if (self->of_bias)
        sum = plus(sum, sum ? self->of_bias : dt_expand_as(self->of_bias, self->grad));
    return sum;
}

static dt_tensor *of_rstd(const second *self, dt_tensor *of_y) {
    dt_tensor *sum = of_y ? dt_mul(self->centered, of_y) : NULL;
    if (self->grad_input)
        sum = plus(sum, dt_mul(self->grad_input, projected(self, self->h, self->mean_hy)));
    return sum ? dt_sum(sum, .dim = self->dims) : NULL;
}

static dt_status second_gradients(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    int mean = input_of(op, MEAN), rstd = input_of(op, RSTD), weight = input_of(op, WEIGHT);
    second self;
    read_second(call, &self);
    dt_tensor *of_h = self.u ? projected(&self, self.u, self.mean_uy) : NULL, *at_y = of_y(&self);
    dt_tensor *of_x = at_y ? dt_mul(at_y, self.rstd) : NULL;
    if (call->needed[0])
        input_grads[0] = of_grad(&self, of_h);
    input_grads[1] = of_x;
    if (mean >= 0 && call->needed[mean] && of_x)
        input_grads[mean] = dt_neg(dt_sum(of_x, .dim = self.dims));
    if (call->needed[rstd])
        input_grads[rstd] = of_rstd(&self, at_y);
    if (weight >= 0 && call->needed[weight] && of_h)
        input_grads[weight] = dt_mul(self.grad, of_h);
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

const dt_op dt__op_native_layer_norm_backward = {
    .schema = "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, "
              "Tensor rstd, Tensor? weight, int[] output_mask) -> (Tensor grad_input, Tensor grad_weight, "
              "Tensor grad_bias)",
    .summary = "The gradients of layer_norm from the mean and 1 / deviation of each row; output_mask selects them.",
    .rows = rows_gradients,
    .arguments = "normalized_shape,rstd,weight,output_mask,mean",
    .shape = shape_gradients,
    .kernel = gradients,
    .meet = &meet,
    .backward = second_gradients,
    .saves = "grad_out,input,mean,rstd,weight",
    .samples = "native_layer_norm_backward(f32[5,3]; f32[5,3]; [3]; f32[5]; f32[5]; f32[3]; [1,1,1])\n"
               "native_layer_norm_backward(f32[2,5,3]; f32[2,5,3]; [5,3]; f32[2]; f32[2]; none; [1,1,0])\n"
               "native_layer_norm_backward(f32[5,3]; f32[5,3]; [3]; f32[5]; f32[5]; f32[3]; [1,0,0])\n"
               "native_layer_norm_backward(f32[5,3]; f32[5,3]; [3]; f32[5]; f32[5]; none; [0,1,1])",
};
const dt_op dt__op__fused_rms_norm_backward = {
    .schema = "_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, "
              "Tensor? weight, int[] output_mask) -> (Tensor grad_input, Tensor grad_weight)",
    .summary = "The gradients of rms_norm from the 1 / deviation of each row; output_mask selects them.",
    .rows = rows_gradients,
    .arguments = "normalized_shape,rstd,weight,output_mask",
    .shape = shape_gradients,
    .kernel = gradients,
    .meet = &meet,
    .backward = second_gradients,
    .saves = "grad_out,input,rstd,weight",
    .samples = "_fused_rms_norm_backward(f32[5,3]; f32[5,3]; [3]; f32[5]; f32[3]; [1,1])\n"
               "_fused_rms_norm_backward(f32[2,5,3]; f32[2,5,3]; [5,3]; f32[2]; none; [1,0])\n"
               "_fused_rms_norm_backward(f32[5,3]; f32[5,3]; [3]; f32[5]; none; [0,1])",
};
