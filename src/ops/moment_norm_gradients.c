/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of moment_norm, in two passes over the elements. With y = (x - mean) rstd, h = grad weight, and means over
 * the reduced dims:
 *
 *     input   rstd (h - mean(h) - y mean(h y))
 *     weight  the sum of grad y over all but affine_dims
 *     bias    the sum of grad over all but affine_dims
 *
 * output_mask selects them; the others are empty. Where reduced dims are sharded, the ranks meet: they add the sums of
 * h and h y. If the weight does not vary along reduced dims, they add those of grad and grad y instead, which are the
 * gradients of weight and bias, too: these are then not partial. A call that is differentiated again is made of other
 * ops.
 */
#include "dtensor/ops.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <string.h>

/* Positions in .arguments. */
enum { DIMS, WEIGHT, AFFINE_DIMS, OUTPUT_MASK };
enum { GRAD, INPUT, MEAN, RSTD };
enum { OF_INPUT, OF_WEIGHT, OF_BIAS, N_GRADS };
enum { MAX_INPUTS = 5 };

static bool makes(const dt_op_call *call, int grad) { return dt__arg_at(call, OUTPUT_MASK)->as.ints[grad] != 0; }

/* The input of the weight; -1: it is not given. */
static int weight_of(const dt_op_call *call) {
    const dt_arg *arg = dt__arg_at(call, WEIGHT);
    return arg->type == DT_ARG_TENSOR ? arg->as.first : -1;
}

static uint32_t all_dims(const dt_op_call *call) { return (uint32_t)(((uint64_t)1 << call->inputs[0].n_dims) - 1); }
static uint32_t reduced_dims(const dt_op_call *call) {
    return dt__wrap_dims(dt__arg_at(call, DIMS), call->inputs[0].n_dims);
}
static uint32_t affine_dims(const dt_op_call *call) {
    const dt_arg *dims = dt__arg_at(call, AFFINE_DIMS);
    return dims->n ? dt__wrap_dims(dims, call->inputs[0].n_dims) : 0;
}

/* Whether the weight varies along reduced dims: then rows have several cells. */
static bool is_weighted(const dt_op_call *call) { return reduced_dims(call) & affine_dims(call); }

/* Sizes of the input, and 1 along the dims that are not set. */
static dt__shape along(const dt_op_call *call, uint32_t dims) {
    dt__shape shape = {.n = call->inputs[0].n_dims};
    for (int d = 0; d < shape.n; d++)
        shape.sizes[d] = dims >> d & 1 ? call->inputs[0].shape[d] : 1;
    return shape;
}

static dt_status check_input(const dt_op_call *call, int input, const char *name, const dt__shape *shape) {
    const dt_op_value *value = &call->inputs[input];
    bool fits = value->n_dims == shape->n;
    for (int d = 0; d < shape->n && fits; d++)
        fits = value->shape[d] == shape->sizes[d];
    return fits ? DT_OK
                : dt_op_refuse(call, DT_ERR_SHAPE, "%s: expected the sizes of the gradient along its dims, and 1",
                               name);
}

static dt_status shape_gradients(dt_op_call *call) {
    const int weight = weight_of(call), n_dims = call->inputs[0].n_dims;
    uint32_t dims;
    DT__TRY(dt__refuse_complex(call));
    for (int i = 0; i < call->n_inputs; i++)
        DT__TRY(dt__expect_floating(call, i));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DIMS), n_dims, &dims));
    if (dt__arg_at(call, AFFINE_DIMS)->n)
        DT__TRY(dt__read_dims(call, dt__arg_at(call, AFFINE_DIMS), n_dims, &dims));
    if (dt__arg_at(call, OUTPUT_MASK)->n != N_GRADS)
        return dt_op_refuse(call, DT_ERR_VALUE, "output_mask: expected %d numbers, got %d", N_GRADS,
                            dt__arg_at(call, OUTPUT_MASK)->n);
    const dt__shape all = along(call, all_dims(call)), affine = along(call, affine_dims(call)),
                    rows = along(call, ~reduced_dims(call));
    DT__TRY(check_input(call, INPUT, "input", &all));
    DT__TRY(check_input(call, MEAN, "mean", &rows));
    DT__TRY(check_input(call, RSTD, "rstd", &rows));
    if (weight >= 0)
        DT__TRY(check_input(call, weight, "weight", &affine));
    const dt_dtype dtype = call->inputs[INPUT].dtype;
    for (int i = 0; i < N_GRADS; i++) {
        const dt__shape none = {.n = 1};
        const dt_dtype of = i == OF_INPUT ? dtype : dt__is_double_precision(dtype) ? DT_F64 : DT_F32;
        DT__TRY(dt__add_shape(call, of, !makes(call, i) ? &none : i == OF_INPUT ? &all : &affine));
    }
    return DT_OK;
}

/* The row where these inputs are partial, and these gradients with them. */
static void add_linear(const dt_op_call *call, dt_rows *rows, uint32_t inputs, uint32_t grads) {
    for (int kind = 0; kind < 2; kind++) {
        const dt_row_entry partial = DT_ROW_P(kind ? DT_AVG : DT_SUM);
        dt_row_entry entries[MAX_INPUTS + N_GRADS] = {0};
        for (int i = 0; i < call->n_inputs; i++)
            entries[i] = inputs >> i & 1 ? partial : DT_ROW_R;
        for (int i = 0; i < N_GRADS; i++)
            entries[call->n_inputs + i] = makes(call, i) && grads >> i & 1 ? partial : DT_ROW_R;
        dt_rows_add(rows, 0, entries);
    }
}

static void add_sharded(const dt_op_call *call, dt_rows *rows, int d) {
    const uint32_t affine = affine_dims(call);
    const bool reduced = reduced_dims(call) >> d & 1, meets = reduced && makes(call, OF_INPUT);
    const bool has_sums = meets && !is_weighted(call); /* the merged state has the sums of weight and bias */
    const dt_row_entry of_row = reduced ? DT_ROW_R : DT_ROW_S(d),
                       of_weight = affine >> d & 1 ? DT_ROW_S(d) : DT_ROW_R;
    const dt_row_entry of_sum = of_weight || has_sums ? of_weight : DT_ROW_P(DT_SUM);
    dt_row_entry entries[MAX_INPUTS + N_GRADS] = {
        [GRAD] = DT_ROW_S(d), [INPUT] = DT_ROW_S(d), [MEAN] = of_row, [RSTD] = of_row};
    if (weight_of(call) >= 0)
        entries[weight_of(call)] = of_weight;
    for (int i = 0; i < N_GRADS; i++)
        if (makes(call, i))
            entries[call->n_inputs + i] = i == OF_INPUT ? DT_ROW_S(d) : of_sum;
    dt_rows_add(rows, meets ? DT_ROW_MEET : 0, entries);
}

static void rows_gradients(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        add_sharded(call, rows, d);
    add_linear(call, rows, 1 << GRAD, 1 << OF_INPUT | 1 << OF_WEIGHT | 1 << OF_BIAS);
    if (makes(call, OF_INPUT) && weight_of(call) >= 0)
        add_linear(call, rows, (uint32_t)1 << weight_of(call), 1 << OF_INPUT);
    if (makes(call, OF_INPUT) || !makes(call, OF_WEIGHT))
        return;
    add_linear(call, rows, 1 << INPUT | 1 << MEAN, 1 << OF_WEIGHT);
    add_linear(call, rows, 1 << RSTD, 1 << OF_WEIGHT);
}

/* The arguments of the kernel and their memory. */
typedef struct gradients {
    dt__array grad, in, out;
    dt__shape cells, rows;
    int64_t n_affine;
    dt__moment_grads args;
    double *of_weight; /* n_affine numbers, then as many of the bias */
    dt__scratch memory, indices;
    int64_t *affine; /* of each cell */
} gradients;

/* out = the index of each element among those along `dims`, in row-major order. */
static void number_along(const dt__shape *shape, uint32_t dims, int64_t *out) {
    int64_t n = 1, stride = 1;
    if (dt__elements(shape->n, shape->sizes) == 0)
        return;
    out[0] = 0;
    for (int d = shape->n - 1; d >= 0; d--) {
        for (int64_t k = 1; k < shape->sizes[d]; k++)
            for (int64_t i = 0; i < n; i++)
                out[k * n + i] = out[i] + k * (dims >> d & 1 ? stride : 0);
        n *= shape->sizes[d];
        stride *= dims >> d & 1 ? shape->sizes[d] : 1;
    }
}

/* An input with a number for each cell, or 1 for all. */
static void load_numbers(const dt_op_call *call, int input, const dt__shape *cells, double *to) {
    static const float one = 1;
    const dt__array from =
        input >= 0 ? dt__array_of(&call->inputs[input]) : (dt__array){(void *)(uintptr_t)&one, DT_F32, 0, NULL, NULL};
    int64_t strides[DT_SPEC_MAX_DIMS];
    dt__row_strides(cells->n, cells->sizes, strides);
    dt__run_convert(call, &(dt__array){to, DT_F64, cells->n, cells->sizes, strides}, &from);
}

static int64_t count_along(const dt_op_call *call, uint32_t dims, dt__shape *shape) {
    *shape = along(call, dims);
    return dt__elements(shape->n, shape->sizes);
}

/* All numbers that the kernel and its results need, in one block. */
static dt_status take_memory(const dt_op_call *call, const dt_state *state, gradients *self) {
    dt__moment_grads *args = &self->args;
    const int64_t n_cells = args->n_cells, n_rows = state ? 0 : args->n_rows;
    const int64_t sizes[] = {n_cells,
                             n_cells,
                             n_cells,
                             n_cells,
                             n_cells,
                             n_rows,
                             n_rows,
                             2 * self->n_affine,
                             dt__moment_grads_numbers(args)};
    enum { N = sizeof sizes / sizeof *sizes };
    double *at[N];
    int64_t total = 0;
    for (int i = 0; i < N; i++)
        total += sizes[i];
    DT__TRY(dt__scratch_new(call, DT_F64, 1, &total, &self->memory));
    at[0] = self->memory.array.data;
    for (int i = 1; i < N; i++)
        at[i] = at[i - 1] + sizes[i - 1];
    load_numbers(call, MEAN, &self->cells, at[0]);
    load_numbers(call, RSTD, &self->cells, at[1]);
    load_numbers(call, weight_of(call), &self->cells, at[2]);
    args->mean = at[0];
    args->rstd = at[1];
    args->weight = at[2];
    args->sums = at[3];
    args->products = at[4];
    args->row_sums = state ? state->fields[0].data : at[5];
    args->row_products = state ? state->fields[1].data : at[6];
    self->of_weight = at[7];
    args->memory = at[8];
    return DT_OK;
}

static dt_status open_call(const dt_op_call *call, const dt_state *state, gradients *self) {
    const uint32_t reduced = reduced_dims(call), affine = affine_dims(call);
    const dt_op_value *input = &call->inputs[INPUT];
    dt__shape ignored;
    double count = 1;
    for (int d = 0; d < input->n_dims; d++)
        count *= reduced >> d & 1 ? (double)input->global_shape[d] : 1;
    self->grad = dt__array_of(&call->inputs[GRAD]);
    self->in = dt__array_of(input);
    self->args = (dt__moment_grads){.grad = &self->grad,
                                    .in = &self->in,
                                    .reduced = reduced,
                                    .cells = (~reduced & all_dims(call)) | affine,
                                    .count = count,
                                    .is_weighted = is_weighted(call)};
    self->args.n_cells = count_along(call, (uint32_t)self->args.cells, &self->cells);
    self->args.n_rows = count_along(call, ~reduced, &self->rows);
    self->n_affine = count_along(call, affine, &ignored);
    DT__TRY(dt__scratch_new(call, DT_I64, 1, (int64_t[]){2 * self->args.n_cells}, &self->indices));
    self->affine = (int64_t *)self->indices.array.data + self->args.n_cells;
    number_along(&self->cells, ~reduced, self->indices.array.data);
    number_along(&self->cells, affine, self->affine);
    self->args.row = self->indices.array.data;
    dt_status status = take_memory(call, state, self);
    if (status != DT_OK)
        dt__scratch_free(call, &self->indices);
    return status;
}

static void close_call(const dt_op_call *call, gradients *self) {
    dt__scratch_free(call, &self->memory);
    dt__scratch_free(call, &self->indices);
}

/* Gradients of weight and bias: sums of those of cells. */
static void write_affine(const dt_op_call *call, gradients *self, const double *sums, const double *products) {
    const dt__moment_grads *args = &self->args;
    double *of_weight = self->of_weight, *of_bias = of_weight + self->n_affine;
    memset(of_weight, 0, (size_t)(2 * self->n_affine) * sizeof *of_weight);
    for (int64_t c = 0; c < args->n_cells; c++) {
        of_weight[self->affine[c]] += products[c];
        of_bias[self->affine[c]] += sums[c];
    }
    for (int i = OF_WEIGHT; i <= OF_BIAS; i++) {
        const dt_op_value *value = &call->outputs[i];
        const dt__array to = dt__array_of(value);
        int64_t strides[DT_SPEC_MAX_DIMS];
        if (!makes(call, i))
            continue;
        dt__row_strides(value->n_dims, value->shape, strides);
        dt__run_convert(
            call, &to,
            &(dt__array){i == OF_WEIGHT ? of_weight : of_bias, DT_F64, value->n_dims, value->shape, strides});
    }
}

static dt_status run(const dt_op_call *call, const dt_state *state, bool is_begin) {
    gradients self;
    DT__TRY(open_call(call, state, &self));
    dt__moment_grads *args = &self.args;
    args->has_rows = state && !is_begin;
    if (makes(call, OF_INPUT) && !is_begin) {
        self.out = dt__array_of(&call->outputs[OF_INPUT]);
        args->out = &self.out;
    }
    dt__moment_grads_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), args);
    const bool merged_rows = args->has_rows && !args->is_weighted; /* a row is a cell unless they are weighted */
    if (!state || args->is_weighted == is_begin || dt__array_count(&self.in) == 0) /* empty shards do not begin */
        write_affine(call, &self, merged_rows ? args->row_sums : args->sums,
                     merged_rows ? args->row_products : args->products);
    close_call(call, &self);
    return DT_OK;
}

static dt_status gradients_alone(dt_op_call *call) { return run(call, NULL, false); }
static dt_status begin(dt_op_call *call, const dt_state *state) { return run(call, state, true); }
static dt_status finish(dt_op_call *call, const dt_state *merged) { return run(call, merged, false); }

static void describe(const dt_op_call *call, dt_state *state) {
    state->n_fields = 2;
    for (int f = 0; f < 2; f++)
        state->fields[f] =
            (dt_state_field){.dtype = DT_F64, .n = dt__n_remaining(&call->inputs[0], reduced_dims(call))};
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    for (int f = 0; f < into->n_fields; f++)
        dt__kernels_of(call->ctx)->accumulate(DT_F64, DT_SUM, into->fields[f].data, next->fields[f].data,
                                              (size_t)into->fields[f].n);
}

static bool order_of(const dt_op_call *call, int output, int *order) {
    return output == OF_INPUT && makes(call, OF_INPUT) && dt__order_of_elements(call, output, order);
}

static const dt_meet meet = {describe, begin, merge, finish};

/* By ops, in calls that are differentiated again. rstd (h - mean of h - y mean of h y). */
static dt_tensor *input_gradient(dt_tensor *h, dt_tensor *y, dt_tensor *rstd, dt_dims dims) {
    dt_tensor *first = dt_mean(h, .dim = dims, .keepdim = true);
    dt_tensor *second = first ? dt_mean(dt_mul(h, y), .dim = dims, .keepdim = true) : NULL;
    return second ? dt_mul(rstd, dt_sub(dt_sub(h, first), dt_mul(y, second))) : NULL;
}

static dt_tensor *sum_to(dt_tensor *tensor, dt_dims dims) {
    return dims.n && tensor ? dt_sum(tensor, .dim = dims, .keepdim = true) : tensor;
}

static dt_tensor *to_dtype(dt_tensor *tensor, dt_dtype dtype) {
    return tensor && dt_tensor_dtype(tensor) != dtype ? dt_to(tensor, dtype) : tensor;
}

static dt_status decompose(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    int64_t list[DT_SPEC_MAX_DIMS], summed_list[DT_SPEC_MAX_DIMS];
    const int n = call->inputs[0].n_dims, weight = weight_of(call);
    const dt_dims dims = dt__list_dims(reduced_dims(call), n, list),
                  summed = dt__list_dims(all_dims(call) & ~affine_dims(call), n, summed_list);
    const dt_dtype dtype = call->outputs[OF_BIAS].dtype;
    dt_tensor *grad = to_dtype(inputs[GRAD], dtype), *x = to_dtype(inputs[INPUT], dtype);
    dt_tensor *rstd = inputs[RSTD], *centered = x ? dt_sub(x, inputs[MEAN]) : NULL;
    dt_tensor *y = centered ? dt_mul(centered, rstd) : NULL;
    if (!grad || !y)
        return dt_error_status(call->ctx);
    for (int i = 0; i < N_GRADS; i++)
        if (!makes(call, i))
            outputs[i] = dt_new_zeros(x, DT_SHAPE(0), .dtype = call->outputs[i].dtype);
        else if (i == OF_INPUT)
            outputs[i] = to_dtype(input_gradient(weight >= 0 ? dt_mul(grad, inputs[weight]) : grad, y, rstd, dims),
                                  call->outputs[i].dtype);
        else
            outputs[i] = sum_to(i == OF_WEIGHT ? dt_mul(grad, y) : grad, summed);
    return dt_failed(call->ctx) ? dt_error_status(call->ctx) : DT_OK;
}

const dt_op dt__op_moment_norm_backward = {
    .schema = "moment_norm_backward(Tensor grad_output, Tensor input, int[] dims, Tensor mean, Tensor rstd, "
              "Tensor? weight, int[] affine_dims, int[] output_mask) -> (Tensor grad_input, Tensor grad_weight, "
              "Tensor grad_bias)",
    .summary = "The gradients of moment_norm, from the mean and 1 / deviation; affine_dims are those of the weight.",
    .rows = rows_gradients,
    .arguments = "dims,weight,affine_dims,output_mask",
    .shape = shape_gradients,
    .kernel = gradients_alone,
    .meet = &meet,
    .order = order_of,
    .decompose = decompose,
    .flags = DT_OP_RECORDS_PARTS,
    .samples =
        "moment_norm_backward(f32[4,3,5]; f32[4,3,5]; [0,2]; f32[1,3,1]; f32[1,3,1]; f32[1,3,1]; [1]; [1,1,1])\n"
        "moment_norm_backward(f32[4,3,5]; f32[4,3,5]; [0,2]; f32[1,3,1]; f32[1,3,1]; none; [1]; [0,1,1])\n"
        "moment_norm_backward(f32[4,2,3,5]; f32[4,2,3,5]; [2,3]; f32[4,2,1,1]; f32[4,2,1,1]; f32[1,2,3,1]; [1,2]; "
        "[1,1,1])\n"
        "moment_norm_backward(f32[4,3,5]; f32[4,3,5]; [2]; f32[4,3,1]; f32[4,3,1]; f32[1,3,1]; [1]; [1,1,0])\n"
        "moment_norm_backward(f32[4,3,5]; f32[4,3,5]; [2]; f32[4,3,1]; f32[4,3,1]; none; []; [1,0,0])\n"
        "moment_norm_backward(f32[4,3]; f32[4,3]; [1]; f32[4,1]; f32[4,1]; f32[4,3]; [0,1]; [1,1,1])",
};
