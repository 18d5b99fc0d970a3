/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of cross_entropy and nll_loss. That of logits and classes is one op, in one pass over the logits, which
 * sends nothing: it uses L of the forward call. The others are made of ops, and so is that one where it is
 * differentiated itself. With G the gradient of a row's loss, divided by the divisor of the mean, L its
 * logsumexp (0 in nll_loss), w[t] the weight of its class and s = label_smoothing,
 *
 *     logits         G (((1 - s) w[t] + s / C sum(w)) softmax(x) - (1 - s) w[t] at the class - s / C w)
 *     probabilities  G (1 - s) w (L - x)
 *     weights        G ((1 - s) (L - x) at the class + s / C (L - x)), summed over rows; a mean is divided by weights,
 *                    too: less G loss at the class
 *
 * and G (sum(w p) softmax(x) - w p) for probabilities p.
 */
#include "ops/cross_entropy_gradients.h"

#include "dtensor/autograd.h"
#include "dtensor/ops.h"
#include "ops/class_rows.h"
#include "ops/ops.h"

#include <math.h>

typedef struct loss {
    const dt_op_call *call;
    bool is_nll, mean, by_class;
    int dim;                             /* of classes */
    double smoothing, smooth;            /* s, and s / C */
    dt_tensor *x, *target, *weight;      /* weight may be NULL */
    dt_tensor *mask, *index, *weight_at; /* of classes: not ignored; 0 where ignored; w[t], NULL for 1 */
    dt_tensor *total, *logs, *scaled;    /* logs: x - L; scaled: G, of rows or without dims */
    dt_tensor *weights;                  /* w along the dim of classes, NULL for 1 */
} loss;

static dt_tensor *times(dt_tensor *tensor, dt_tensor *factor) { return factor ? dt_mul(tensor, factor) : tensor; }
/* A number per row, broadcast to the logits. */
static dt_tensor *kept(const loss *self, dt_tensor *tensor) {
    return tensor && tensor->n_dims ? dt_unsqueeze(tensor, self->dim) : tensor;
}

static void read_classes(loss *self) {
    self->mask = dt_ne_scalar(self->target, dt__loss_ignored(self->call));
    self->index = dt_mul(self->target, self->mask);
    if (!self->weight)
        return;
    dt_shape shape = {self->target->n_dims, self->target->shape};
    self->weight_at = dt_reshape(dt_index_select(self->weight, 0, dt_flatten(self->index)), shape);
}

static void read_weights(loss *self) {
    int64_t sizes[DT_SPEC_MAX_DIMS];
    int n = self->x->n_dims - self->dim;
    for (int d = 0; d < n; d++)
        sizes[d] = d ? 1 : self->x->shape[self->dim];
    if (self->weight)
        self->weights = dt_reshape(self->weight, ((dt_shape){n, sizes}));
}

/* x - L, from L of the forward call. Of a row with an infinite logit it is NaN, as of log_softmax. */
static dt_tensor *log_probabilities(const loss *self, dt_tensor *logsumexp) {
    dt_tensor *kept_ = dt_unsqueeze(dt_detach(logsumexp), self->dim);
    return dt_sub(self->x, dt_masked_fill(kept_, dt_eq_scalar(kept_, INFINITY), DT_NUMBER(NAN)));
}

static void read_loss(const dt_op_backward *call, loss *out) {
    const dt_op_call *op = call->call;
    const dt_arg *weight = dt__arg_at(op, DT__LOSS_WEIGHT), *smoothing = dt__arg_at(op, DT__LOSS_SMOOTHING);
    const dt_op_value *input = &op->inputs[0];
    *out = (loss){.call = op,
                  .is_nll = !smoothing,
                  .mean = dt__loss_reduction(op) == 'm',
                  .by_class = !dt__is_float(op->inputs[1].dtype),
                  .dim = dt__class_dim(input),
                  .smoothing = smoothing ? smoothing->as.f : 0,
                  .x = call->inputs[0],
                  .target = call->inputs[1],
                  .weight = weight->type == DT_ARG_TENSOR ? call->inputs[weight->as.first] : NULL,
                  .total = dt_detach(call->outputs[smoothing ? 2 : 1])};
    out->smooth = out->smoothing / (double)input->shape[out->dim];
    if (out->by_class)
        read_classes(out);
    if (out->weight && out->mean && out->by_class && dt_requires_grad(out->weight))
        out->total = dt_sum(dt_mul(out->weight_at, out->mask));
    bool divides = out->mean && (out->by_class || dt_tensor_elements(out->x) > 0); /* of no rows, the total is 0 */
    out->scaled = divides ? dt_div(call->grads[0], out->total) : call->grads[0];
    out->logs = out->is_nll                ? out->x
                : dt_requires_grad(out->x) ? dt_log_softmax(out->x, out->dim)
                                           : log_probabilities(out, call->outputs[1]);
    read_weights(out);
}

/* p = (1 - s) target + s / C */
static dt_tensor *probabilities(const loss *self) {
    return self->smoothing != 0 ? dt_add_scalar(dt_mul_scalar(self->target, 1 - self->smoothing), self->smooth)
                                : self->target;
}

/* G, but 0 where the class is ignored: of a mean of nothing G is NaN. */
static dt_tensor *counted(const loss *self) { return dt_where_scalar_other(self->mask, self->scaled, DT_NUMBER(0)); }

/* A number per row at its class, among zeros. */
static dt_tensor *at_classes(const loss *self, dt_tensor *numbers) {
    dt_shape shape = {self->x->n_dims, self->x->shape};
    return dt_gather_backward(dt_unsqueeze(numbers, self->dim), dt_unsqueeze(self->index, self->dim), shape,
                              self->dim);
}

static dt_tensor *of_probabilities(const loss *self, dt_tensor *softmax) {
    dt_tensor *weighted = times(probabilities(self), self->weights), *g = kept(self, self->scaled);
    dt_tensor *sums = dt_sum(weighted, .dim = DT_DIMS(self->dim), .keepdim = true);
    return dt_mul(g, dt_sub(dt_mul(softmax, sums), weighted));
}

static dt_tensor *of_logits(const loss *self) {
    dt_tensor *softmax = self->is_nll ? NULL : dt_exp(self->logs);
    if (!self->by_class)
        return of_probabilities(self, softmax);
    dt_tensor *g = counted(self), *to_class = times(g, self->weight_at);
    if (self->smoothing == 0) {
        dt_tensor *at = at_classes(self, to_class);
        return self->is_nll ? dt_neg(at) : dt_sub(dt_mul(softmax, dt_unsqueeze(to_class, self->dim)), at);
    }
    to_class = dt_mul_scalar(to_class, 1 - self->smoothing);
    dt_tensor *smooth = dt_unsqueeze(dt_mul_scalar(g, self->smooth), self->dim);
    dt_tensor *all = self->weight ? dt_mul(smooth, dt_sum(self->weight))
                                  : dt_mul_scalar(smooth, (double)self->x->shape[self->dim]);
    dt_tensor *less = dt_add(at_classes(self, to_class), times(smooth, self->weights));
    return dt_sub(dt_mul(softmax, dt_add(dt_unsqueeze(to_class, self->dim), all)), less);
}

/* Whether gradients are differentiated again. */
static bool is_recorded(const dt_op_backward *call, const loss *self) {
    return dt_requires_grad(call->grads[0]) || dt_requires_grad(self->x) ||
           (self->weight && dt_requires_grad(self->weight)) || (!self->by_class && dt_requires_grad(self->target));
}

/* Sums over the rows. */
static dt_tensor *over_rows(const loss *self, dt_tensor *tensor) {
    int64_t dims[DT_SPEC_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < self->x->n_dims; d++)
        if (d != self->dim)
            dims[n++] = d;
    return n ? dt_sum(tensor, .dim = ((dt_dims){.n = n, .list = dims})) : tensor;
}

static dt_tensor *of_weight(const dt_op_backward *call, const loss *self) {
    const dt_op_value *weight = &self->call->inputs[2];
    dt_tensor *logs = dt_neg(self->logs);
    if (!self->by_class)
        return over_rows(self, dt_mul(dt_mul(logs, probabilities(self)), kept(self, self->scaled)));
    dt_tensor *index = dt_unsqueeze(self->index, self->dim);
    dt_tensor *at = dt_squeeze_dim(dt_gather(logs, self->dim, index), self->dim);
    if (self->smoothing != 0)
        at = dt_mul_scalar(at, 1 - self->smoothing);
    if (self->mean)
        at = dt_sub(at, call->outputs[0]);
    dt_tensor *g = counted(self);
    dt_tensor *sum =
        dt_gather_backward(dt_flatten(dt_mul(at, g)), dt_flatten(self->index), ((dt_shape){1, weight->shape}), 0);
    if (self->smoothing == 0)
        return sum;
    return dt_add(sum, over_rows(self, dt_mul(logs, dt_unsqueeze(dt_mul_scalar(g, self->smooth), self->dim))));
}

dt_status dt__cross_entropy_gradients(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const dt_arg *weight = dt__arg_at(op, DT__LOSS_WEIGHT);
    loss self;
    bool of_class = !dt__is_float(op->inputs[1].dtype), has_weight = weight->type == DT_ARG_TENSOR;
    bool others = !of_class || (has_weight && call->needed[2]);
    self = (loss){.x = call->inputs[0],
                  .target = call->inputs[1],
                  .by_class = of_class,
                  .weight = has_weight ? call->inputs[2] : NULL};
    if (!dt__loss_is_nll(op) && !others && !is_recorded(call, &self)) {
        input_grads[0] = dt_cross_entropy_backward(
            call->grads[0], self.x, self.target, call->outputs[1], call->outputs[2], .weight = self.weight,
            .ignore_index = DT_INT(dt__loss_ignored(op)), .reduction = dt__arg_at(op, DT__LOSS_REDUCTION)->as.text,
            .label_smoothing = DT_REAL(dt__loss_smoothing(op)));
        return input_grads[0] ? DT_OK : dt_error_status(op->ctx);
    }
    read_loss(call, &self);
    if (call->needed[0])
        input_grads[0] = of_logits(&self);
    if (!of_class && call->needed[1])
        input_grads[1] = dt_mul_scalar(dt_mul(times(dt_neg(self.logs), self.weights), kept(&self, self.scaled)),
                                       1 - self.smoothing);
    if (has_weight && call->needed[2])
        input_grads[2] = of_weight(call, &self);
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

static dt_status shape_gradient(dt_op_call *call) {
    const dt_op_value *input = dt__loss_value(call, DT__LOSS_INPUT);
    const dt_op_value *logsumexp = dt__loss_value(call, DT__LOSS_LOGSUMEXP), *grad = &call->inputs[0];
    dt__shape rows;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__loss_check(call, false));
    dt__loss_rows_shape(input, &rows);
    bool fits = logsumexp->n_dims == rows.n && grad->n_dims == (dt__loss_reduction(call) == 'n' ? rows.n : 0);
    for (int d = 0; d < rows.n && fits; d++)
        fits = logsumexp->shape[d] == rows.sizes[d] && (grad->n_dims == 0 || grad->shape[d] == rows.sizes[d]);
    if (!fits || dt__loss_value(call, DT__LOSS_TOTAL)->n_dims != 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the shape of grad, logsumexp or total does not fit the input");
    return dt_op_add_output(call, input->dtype, input->n_dims, input->shape);
}

/* Each element depends on the numbers of its row only. */
static void rows_gradient(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *input = dt__loss_value(call, DT__LOSS_INPUT);
    int dim = dt__class_dim(input);
    for (int d = 0; d < input->n_dims; d++) {
        dt_row_entry entries[7], of_row = d == dim ? DT_ROW_R : DT_ROW_S(d < dim ? d : d - 1);
        int n = 0;
        entries[n++] = dt__loss_reduction(call) == 'n' ? of_row : DT_ROW_R;
        entries[n++] = DT_ROW_S(d);
        entries[n++] = of_row;
        if (dt__loss_value(call, DT__LOSS_WEIGHT))
            entries[n++] = DT_ROW_R;
        entries[n++] = of_row;
        entries[n++] = DT_ROW_R;
        entries[n] = DT_ROW_S(d);
        dt_rows_add(rows, d == dim ? DT_ROW_OFFSET : 0, entries);
    }
    dt_rows_linear(rows, 1);
}

/* Numbers of each row: G; the factor of the softmax and its inverse; L; the result at the class. */
typedef struct row_numbers {
    double *scaled, *factor, *inverse, *logsumexp, *at_target;
    double smooth; /* s / C */
} row_numbers;

static void load_numbers(const dt__class_rows *rows, row_numbers *to) {
    const dt_op_call *call = rows->call;
    double total, all = 0, smoothing = dt__loss_smoothing(call);
    dt__array from[] = {dt__array_of(&call->inputs[0]), dt__array_of(dt__loss_value(call, DT__LOSS_LOGSUMEXP)),
                        dt__array_of(dt__loss_value(call, DT__LOSS_TOTAL))};
    dt__array into[] = {dt__class_rows_array(rows, to->scaled, DT_F64),
                        dt__class_rows_array(rows, to->logsumexp, DT_F64),
                        (dt__array){&total, DT_F64, 0, NULL, NULL}};
    for (int i = 0; i < 3; i++)
        dt__run_convert(call, &into[i], &from[i]);
    total = dt__loss_reduction(call) == 'm' ? total : 1;
    to->smooth = smoothing / (double)rows->n_classes;
    for (int64_t c = 0; c < rows->n_classes; c++)
        all += rows->weights[c];
    for (int64_t i = 0; i < rows->n; i++) {
        to->logsumexp[i] = to->logsumexp[i] == INFINITY ? (double)NAN : to->logsumexp[i]; /* as of log_softmax */
        to->scaled[i] = rows->classes[i] == dt__loss_ignored(call) ? 0 : to->scaled[i] / total;
        to->factor[i] = to->scaled[i] * ((1 - smoothing) * rows->weight_at[i] + to->smooth * all);
        to->inverse[i] = 1 / to->factor[i];
    }
}

/* Subtracts s / C G w. */
static void subtract_smoothing(const dt__class_rows *rows, const row_numbers *of, const dt__array *out) {
    const dt_op_call *call = rows->call;
    int64_t by_row[DT_SPEC_MAX_DIMS] = {[0] = 0}, by_class[DT_SPEC_MAX_DIMS] = {[0] = 0};
    for (int d = 0; d < rows->n_dims; d++)
        by_row[d < rows->dim ? d : d + 1] = rows->strides[d];
    by_class[rows->dim] = 1;
    dt__array scaled = {of->scaled, DT_F64, out->n_dims, out->shape, by_row};
    dt__array weights = {rows->weights + rows->first, DT_F64, out->n_dims, out->shape, by_class};
    dt__elementwise_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                        &(dt__elementwise){.op = rows->is_weighted ? DT__EL_ADDCMUL : DT__EL_ADD_SCALED,
                                           .dtype = out->dtype,
                                           .numbers = {{.f = {-of->smooth, 0}}},
                                           .out = out,
                                           .ins = {out, &scaled, &weights}});
}

/* The factor times the softmax, less the smoothing, which is computed in f32 or f64. */
static dt_status write_softmax(const dt__class_rows *rows, const row_numbers *of) {
    const dt_op_call *call = rows->call;
    dt__array in = dt__array_of(rows->logits), out = dt__array_of(&call->outputs[0]), to = out;
    dt__array logsumexp = dt__class_rows_array(rows, of->logsumexp, DT_F64);
    dt__array inverse = dt__class_rows_array(rows, of->inverse, DT_F64);
    bool apart = of->smooth != 0 && out.dtype != dt__loss_dtype(out.dtype);
    dt__scratch wide;
    if (apart) {
        DT__TRY(dt__scratch_new(call, dt__loss_dtype(out.dtype), out.n_dims, out.shape, &wide));
        to = wide.array;
    }
    dt__softmax_finish(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &in, rows->dim, false, &logsumexp, &inverse,
                       &to);
    if (of->smooth != 0)
        subtract_smoothing(rows, of, &to);
    if (apart) {
        dt__run_convert(call, &out, &wide.array);
        dt__scratch_free(call, &wide);
    }
    return DT_OK;
}

/* The elements at the classes, from numbers that were not rounded. */
static dt_status write_at_classes(const dt__class_rows *rows, const row_numbers *of) {
    double to_class = 1 - dt__loss_smoothing(rows->call) + of->smooth;
    DT__TRY(dt__load_at_classes(rows, of->at_target));
    for (int64_t i = 0; i < rows->n; i++)
        of->at_target[i] =
            of->factor[i] * exp(of->at_target[i] - of->logsumexp[i]) - of->scaled[i] * to_class * rows->weight_at[i];
    return dt__store_at_classes(rows, &rows->call->outputs[0], of->at_target);
}

static dt_status gradient(dt_op_call *call) {
    dt__class_rows rows;
    dt__scratch memory;
    DT__TRY(dt__class_rows_open(call, &rows));
    int64_t n = 5 * rows.n;
    dt_status status = dt__scratch_new(call, DT_F64, 1, &n, &memory);
    if (status == DT_OK) {
        double *data = memory.array.data;
        row_numbers list = {data, data + rows.n, data + 2 * rows.n, data + 3 * rows.n, data + 4 * rows.n, 0};
        load_numbers(&rows, &list);
        status = write_softmax(&rows, &list);
        if (status == DT_OK)
            status = write_at_classes(&rows, &list);
        dt__scratch_free(call, &memory);
    }
    dt__class_rows_close(&rows);
    return status;
}

/* Computes the gradient by ops, for a call that is recorded. */
static dt_status decompose_gradient(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_arg *weight = dt__arg_at(call, DT__LOSS_WEIGHT);
    const dt_op_value *input = dt__loss_value(call, DT__LOSS_INPUT);
    loss self = {.call = call,
                 .mean = dt__loss_reduction(call) == 'm',
                 .by_class = true,
                 .dim = dt__class_dim(input),
                 .smoothing = dt__loss_smoothing(call),
                 .x = inputs[1],
                 .target = inputs[2],
                 .weight = weight->type == DT_ARG_TENSOR ? inputs[weight->as.first] : NULL,
                 .total = inputs[dt__arg_at(call, DT__LOSS_TOTAL)->as.first]};
    self.smooth = self.smoothing / (double)input->shape[self.dim];
    self.logs = dt_sub(self.x, dt_unsqueeze(inputs[dt__arg_at(call, DT__LOSS_LOGSUMEXP)->as.first], self.dim));
    self.scaled = self.mean ? dt_div(inputs[0], self.total) : inputs[0];
    read_classes(&self);
    read_weights(&self);
    dt_tensor *grad = of_logits(&self);
    outputs[0] = grad && dt_tensor_dtype(grad) != call->outputs[0].dtype ? dt_to(grad, call->outputs[0].dtype) : grad;
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_cross_entropy_backward = {
    .schema = "cross_entropy_backward(Tensor grad, Tensor input, Tensor target, Tensor? weight, Tensor logsumexp, "
              "Tensor total, int ignore_index=-100, str reduction=\"mean\", float label_smoothing=0.0) -> Tensor",
    .summary = "The gradient of the cross entropy of logits and classes with respect to the logits.",
    .rows = rows_gradient,
    .arguments = DT__LOSS_ARGUMENTS ",label_smoothing,logsumexp,total",
    .varying = "ignore_index,label_smoothing",
    .check = dt__loss_check_smoothing,
    .shape = shape_gradient,
    .kernel = gradient,
    .decompose = decompose_gradient,
    .flags = DT_OP_RECORDS_PARTS,
    .samples = "cross_entropy_backward(f32[]; f32[5,3]; i64[5]; none; f32[5]; f32[])\n"
               "cross_entropy_backward(f32[2,5]; f32[2,3,5]; i64[2,5]; f32[3]; f32[2,5]; f32[]; 1; \"none\"; 0.1)\n"
               "cross_entropy_backward(f32[]; f32[5,3]; i64[5]; f32[3]; f32[5]; f32[]; 1; sum)\n"
               "cross_entropy_backward(f32[]; f32[5]; i64[]; none; f32[]; f32[]; label_smoothing=0.1)",
};
