/* SPDX-License-Identifier: Apache-2.0
 *
 * index.Tensor and index_put: a tensor indexed by a list of tensors, with none for a dim that is taken whole. The
 * indices are broadcast to one shape, whose dims replace the indexed ones: in their place where they are adjacent,
 * else in front.
 *
 *     x[5,4,3], {i[2]; none; j[2]} -> [2,4]      x[5,4,3], {none; i[2]; j[2]} -> [5,2]
 *
 * Along a sharded dim that is indexed, each rank reads the elements that it holds and leaves zeros elsewhere: a partial
 * sum. index_put writes what it holds, in the order of the indices, so that of equal ones the last wins on every
 * mesh. Its index may be one mask of booleans, if the values do not depend on how many are true.
 */
#include "base/dtype.h"
#include "dtensor/ops.h"
#include "kernels/kernels.h"
#include "ops/add_at_indices.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* How the dims of the result are made. */
typedef struct index_dims {
    int n_indexed;
    int indexed[DT_SPEC_MAX_DIMS]; /* dims of the tensor, in order */
    int index[DT_SPEC_MAX_DIMS];   /* the input that indexes each of them */
    int n_kept;
    int kept[DT_SPEC_MAX_DIMS]; /* the other dims of the tensor */
    int first;                  /* where the dims of the indices begin in the result */
    dt__shape broadcast;        /* of the indices */
} index_dims;

/* Where dim k of the kept ones is in the result. */
static int kept_position(const index_dims *dims, int k) { return k < dims->first ? k : k + dims->broadcast.n; }

static void read_dims(const dt_op_call *call, index_dims *out) {
    const dt_arg *list = &call->args[1];
    int n_dims = call->inputs[0].n_dims;
    *out = (index_dims){0};
    for (int d = 0; d < n_dims; d++) {
        int input = d < list->n ? dt_arg_member(list, d) : -1;
        if (input >= 0) {
            out->indexed[out->n_indexed] = d;
            out->index[out->n_indexed++] = input;
        } else
            out->kept[out->n_kept++] = d;
    }
    int first = out->n_indexed ? out->indexed[0] : 0, last = out->n_indexed ? out->indexed[out->n_indexed - 1] : 0;
    out->first = last - first + 1 == out->n_indexed ? first : 0;
}

/* Broadcasts the indices, globally or locally. */
static dt_status broadcast_indices(const dt_op_call *call, index_dims *dims) {
    for (int i = 0; i < dims->n_indexed; i++) {
        const dt_op_value *index = &call->inputs[dims->index[i]];
        int more = index->n_dims - dims->broadcast.n;
        if (more > 0) {
            memmove(dims->broadcast.sizes + more, dims->broadcast.sizes,
                    (size_t)dims->broadcast.n * sizeof *dims->broadcast.sizes);
            memcpy(dims->broadcast.sizes, index->shape, (size_t)more * sizeof *dims->broadcast.sizes);
            dims->broadcast.n = index->n_dims;
        }
        for (int d = 0; d < index->n_dims; d++) {
            int64_t *size = &dims->broadcast.sizes[d + dims->broadcast.n - index->n_dims];
            if (*size != index->shape[d] && *size != 1 && index->shape[d] != 1)
                return dt_op_refuse(call, DT_ERR_SHAPE,
                                    "the indices do not broadcast: index %d has size %" PRId64
                                    " where another has %" PRId64,
                                    i + 1, index->shape[d], *size);
            if (*size == 1)
                *size = index->shape[d];
        }
    }
    return DT_OK;
}

static dt_status check_index(const dt_op_call *call, int input) {
    dt_dtype dtype = call->inputs[input].dtype;
    if (dtype == DT_BOOL || dtype == DT_U8)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED,
                            "indices of dtype %s, which select as many elements as are true, are not supported; "
                            "expected i64 or i32",
                            dt_dtype_name(dtype));
    return dt__expect_index(call, input);
}

static dt_status shape_index(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    index_dims dims;
    dt__shape shape = {0};
    if (call->args[1].n > self->n_dims)
        return dt_op_refuse(call, DT_ERR_SHAPE, "too many indices: expected at most %d, got %d", self->n_dims,
                            call->args[1].n);
    if (call->n_inputs == 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected at least one index, got none");
    for (int i = 1; i < call->n_inputs; i++)
        DT__TRY(check_index(call, i));
    read_dims(call, &dims);
    DT__TRY(broadcast_indices(call, &dims));
    shape.n = dims.n_kept + dims.broadcast.n;
    if (shape.n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has too many dims: expected at most %d, got %d",
                            DT_SPEC_MAX_DIMS, shape.n);
    for (int k = 0; k < dims.n_kept; k++)
        shape.sizes[kept_position(&dims, k)] = self->shape[dims.kept[k]];
    for (int b = 0; b < dims.broadcast.n; b++)
        shape.sizes[dims.first + b] = dims.broadcast.sizes[b];
    int64_t elements = 1;
    for (int b = 0; b < dims.broadcast.n; b++)
        elements *= dims.broadcast.sizes[b];
    for (int i = 0; i < dims.n_indexed; i++)
        if (self->shape[dims.indexed[i]] == 0 && elements > 0)
            return dt_op_refuse(call, DT_ERR_VALUE, "cannot index dim %d: it is empty", dims.indexed[i]);
    return dt__add_shape(call, self->dtype, &shape);
}

static void rows_index(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *self = &call->inputs[0];
    index_dims dims;
    dt_row_entry entries[DT_SPEC_MAX_DIMS + 2] = {0};
    int output = call->n_inputs;
    read_dims(call, &dims);
    if (broadcast_indices(call, &dims) != DT_OK)
        return;
    for (int k = 0; k < dims.n_kept; k++) { /* dims that are not indexed */
        entries[0] = DT_ROW_S(dims.kept[k]);
        entries[output] = DT_ROW_S(kept_position(&dims, k));
        dt_rows_add(rows, 0, entries);
    }
    for (int b = 0; b < dims.broadcast.n; b++) { /* dims of the indices, those of size 1 being broadcast */
        memset(entries, 0, sizeof entries);
        for (int i = 1; i < call->n_inputs; i++) {
            const dt_op_value *index = &call->inputs[i];
            int d = b - (dims.broadcast.n - index->n_dims);
            if (d >= 0 && index->shape[d] == dims.broadcast.sizes[b])
                entries[i] = DT_ROW_S(d);
        }
        entries[output] = DT_ROW_S(dims.first + b);
        dt_rows_add(rows, 0, entries);
    }
    memset(entries, 0, sizeof entries);
    entries[output] = DT_ROW_P(DT_SUM);
    for (int i = 0; i < dims.n_indexed; i++) {
        entries[0] = DT_ROW_S(dims.indexed[i]);
        dt_rows_add(rows, DT_ROW_OFFSET, entries);
    }
    for (int kind = 0; kind < DT_N_REDUCES && self->n_dims; kind++)
        dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
}

/* One call on local tensors. */
typedef struct indexing {
    const dt_op_call *call;
    index_dims dims;
    int64_t n_positions, n_kept;                               /* elements of the indices, and of the kept dims */
    int64_t index_strides[DT_SPEC_MAX_DIMS][DT_SPEC_MAX_DIMS]; /* per index, over the broadcast dims */
} indexing;

/* Position in the local tensor of the elements at position `at` of the indices, in elements; -1: another rank holds
 * them, or none does, because an index is out of range. */
static dt_status find_elements(const indexing *self, int64_t at, int64_t *offset, int64_t *out_offset) {
    const dt_op_value *tensor = &self->call->inputs[0], *output = &self->call->outputs[0];
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    bool here = true;
    *offset = *out_offset = 0;
    for (int b = self->dims.broadcast.n - 1; b >= 0; b--) {
        coordinate[b] = at % self->dims.broadcast.sizes[b];
        at /= self->dims.broadcast.sizes[b];
        *out_offset += coordinate[b] * output->strides[self->dims.first + b];
    }
    for (int i = 0; i < self->dims.n_indexed; i++) {
        const dt_op_value *index = &self->call->inputs[self->dims.index[i]];
        int dim = self->dims.indexed[i];
        int64_t element = 0, size = tensor->global_shape[dim];
        for (int b = 0; b < self->dims.broadcast.n; b++)
            element += coordinate[b] * self->index_strides[i][b];
        int64_t value = dt__read_i64(index->dtype, (const unsigned char *)index->data +
                                                       element * (int64_t)dt_dtype_size(index->dtype));
        if (value < -size || value >= size) {
            DT__TRY(dt_op_verdict(self->call, DT_ERR_VALUE,
                                  "index %" PRId64 " is out of range for dim %d: expected %" PRId64 " to %" PRId64,
                                  value, dim, -size, size - 1));
            here = false;
            break;
        }
        value += value < 0 ? size : 0;
        if (tensor->shape[dim] != size)
            value -= tensor->offset[dim];
        here = here && value >= 0 && value < tensor->shape[dim];
        *offset += value * tensor->strides[dim];
    }
    *offset = here ? *offset : -1;
    return DT_OK;
}

/* The kept dims of the tensor and of the result, as arrays at their first element. */
static void kept_arrays(const indexing *self, int64_t shape[DT_SPEC_MAX_DIMS], int64_t strides[2][DT_SPEC_MAX_DIMS]) {
    const dt_op_value *tensor = &self->call->inputs[0], *output = &self->call->outputs[0];
    for (int k = 0; k < self->dims.n_kept; k++) {
        shape[k] = tensor->shape[self->dims.kept[k]];
        strides[0][k] = tensor->strides[self->dims.kept[k]];
        strides[1][k] = output->strides[kept_position(&self->dims, k)];
    }
}

static dt_status copy_elements(const indexing *self) {
    const dt_op_value *tensor = &self->call->inputs[0], *output = &self->call->outputs[0];
    int64_t shape[DT_SPEC_MAX_DIMS], strides[2][DT_SPEC_MAX_DIMS], size = (int64_t)dt_dtype_size(tensor->dtype);
    unsigned char zero[16] = {0};
    kept_arrays(self, shape, strides);
    for (int64_t at = 0; at < self->n_positions; at++) {
        int64_t offset, out_offset;
        DT__TRY(find_elements(self, at, &offset, &out_offset));
        unsigned char *to = (unsigned char *)output->data + out_offset * size;
        const unsigned char *from = offset < 0 ? zero : (const unsigned char *)tensor->data + offset * size;
        if (self->n_kept == 1) {
            memcpy(to, from, (size_t)size);
            continue;
        }
        dt__array target = {to, output->dtype, self->dims.n_kept, shape, strides[1]};
        dt__array source = {(void *)from, tensor->dtype, offset < 0 ? 0 : self->dims.n_kept, shape, strides[0]};
        dt__run_convert(self->call, &target, &source);
    }
    return DT_OK;
}

static dt_status run_indexing(const dt_op_call *call, dt_status (*run)(const indexing *self)) {
    indexing self = {.call = call, .n_positions = 1, .n_kept = 1};
    read_dims(call, &self.dims);
    DT__TRY(broadcast_indices(call, &self.dims));
    for (int b = 0; b < self.dims.broadcast.n; b++)
        self.n_positions *= self.dims.broadcast.sizes[b];
    for (int k = 0; k < self.dims.n_kept; k++)
        self.n_kept *= call->inputs[0].shape[self.dims.kept[k]];
    for (int i = 0; i < self.dims.n_indexed; i++) {
        const dt_op_value *index = &call->inputs[self.dims.index[i]];
        for (int d = 0; d < index->n_dims; d++) {
            int b = d + self.dims.broadcast.n - index->n_dims;
            self.index_strides[i][b] = index->shape[d] == self.dims.broadcast.sizes[b] ? index->strides[d] : 0;
        }
    }
    return run(&self);
}

static dt_status index_tensor(dt_op_call *call) { return run_indexing(call, copy_elements); }

/* The gradient: the call with the result in place of the tensor, and the gradient in that of the result. */
static dt_status shape_index_backward(dt_op_call *call) {
    const dt_arg *sizes = &call->args[2];
    const dt_op_value *grad = &call->inputs[0];
    dt_op_value inputs[DT_SPEC_MAX_DIMS + 1];
    dt_op_call forward = *call;
    if (call->n_inputs > DT_SPEC_MAX_DIMS || sizes->n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "too many indices or sizes");
    memcpy(inputs, call->inputs, (size_t)call->n_inputs * sizeof *inputs);
    inputs[0] = (dt_op_value){.dtype = grad->dtype, .n_dims = sizes->n, .shape = sizes->as.ints};
    forward.inputs = inputs;
    DT__TRY(shape_index(&forward));
    const dt_op_value *expected = &forward.outputs[0];
    bool same = expected->n_dims == grad->n_dims;
    for (int d = 0; d < grad->n_dims && same; d++)
        same = expected->shape[d] == grad->shape[d];
    if (!same)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient does not fit the sizes and the indices");
    call->outputs = forward.outputs; /* memory of the same list, which is used again */
    return dt_op_add_output(call, grad->dtype, sizes->n, sizes->as.ints);
}

/* The rows of index with the tensor and the result swapped. */
static void rows_index_backward(const dt_op_call *call, dt_rows *rows) {
    index_dims dims;
    dt_op_value inputs[DT_SPEC_MAX_DIMS + 1];
    dt_op_call forward = *call;
    dt_row_entry entries[DT_SPEC_MAX_DIMS + 2] = {0};
    int output = call->n_inputs;
    memcpy(inputs, call->inputs, (size_t)call->n_inputs * sizeof *inputs);
    inputs[0] = call->outputs[0];
    forward.inputs = inputs;
    read_dims(&forward, &dims);
    if (broadcast_indices(&forward, &dims) != DT_OK)
        return;
    for (int k = 0; k < dims.n_kept; k++) {
        entries[0] = DT_ROW_S(kept_position(&dims, k));
        entries[output] = DT_ROW_S(dims.kept[k]);
        dt_rows_add(rows, 0, entries);
    }
    for (int b = 0; b < dims.broadcast.n; b++) { /* each rank adds those of its indices */
        memset(entries, 0, sizeof entries);
        for (int i = 1; i < call->n_inputs; i++) {
            const dt_op_value *index = &call->inputs[i];
            int d = b - (dims.broadcast.n - index->n_dims);
            if (d >= 0 && index->shape[d] == dims.broadcast.sizes[b])
                entries[i] = DT_ROW_S(d);
        }
        entries[0] = DT_ROW_S(dims.first + b);
        entries[output] = DT_ROW_P(DT_SUM);
        dt_rows_add(rows, 0, entries);
    }
    dt_rows_linear(rows, 1);
}

/* Adds the gradient's elements one position after the other, or lists them where sums are rounded once. */
static dt_status add_positions(const indexing *self, const dt__array *tensor, const dt__array *grad,
                               dt__index_term *terms) {
    int64_t size = (int64_t)dt_dtype_size(tensor->dtype), n = 0;
    for (int64_t at = 0; at < self->n_positions; at++) {
        int64_t offset, grad_offset;
        DT__TRY(find_elements(self, at, &offset, &grad_offset));
        if (offset < 0)
            continue;
        if (terms) {
            terms[n++] = (dt__index_term){offset, grad_offset};
            continue;
        }
        dt__array sum = *tensor, term = *grad;
        sum.data = (unsigned char *)tensor->data + offset * size;
        term.data = (unsigned char *)grad->data + grad_offset * size;
        DT__TRY(dt__run_elements(self->call, DT__EL_ADD, sum.dtype, &sum, &sum, &term, NULL));
    }
    dt__index_sums_run(dt__kernels_of(self->call->ctx), dt__pool_of(self->call->ctx),
                       &(dt__index_sums){tensor, grad, terms, n});
    return DT_OK;
}

static dt_status add_elements(const indexing *self) {
    const dt_op_value *tensor = &self->call->inputs[0], *grad = &self->call->outputs[0];
    int64_t shape[DT_SPEC_MAX_DIMS], strides[2][DT_SPEC_MAX_DIMS];
    dt__scratch memory;
    dt__index_term *terms;
    kept_arrays(self, shape, strides);
    dt__array sums = {tensor->data, tensor->dtype, self->dims.n_kept, shape, strides[0]};
    dt__array rows = {grad->data, grad->dtype, self->dims.n_kept, shape, strides[1]};
    DT__TRY(dt__index_terms_new(self->call, tensor->dtype, self->n_positions, &memory, &terms));
    dt_status status = add_positions(self, &sums, &rows, terms);
    dt__index_terms_free(self->call, &memory, terms);
    return status;
}

static dt_status index_backward(dt_op_call *call) {
    dt_op_value inputs[DT_SPEC_MAX_DIMS + 1], grad = call->inputs[0];
    dt_op_call forward = *call;
    dt__constant constant;
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__array zero = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, out.dtype, &constant);
    dt__run_convert(call, &out, &zero);
    memcpy(inputs, call->inputs, (size_t)call->n_inputs * sizeof *inputs);
    inputs[0] = call->outputs[0];
    forward.inputs = inputs;
    forward.outputs = &grad;
    return run_indexing(&forward, add_elements);
}

const dt_op dt__op_index_backward = {
    .schema = "index_backward(Tensor grad, Tensor?[] indices, int[] sizes) -> Tensor",
    .summary = "The gradient of index: elements of the gradient, added at their indices.",
    .rows = rows_index_backward,
    .shape = shape_index_backward,
    .kernel = index_backward,
    .gradient = "grad: index(grad0, indices)",
    .samples = "index_backward(f32[4,3]; {i64[4]}; [5,3])\nindex_backward(f32[5,4]; {none; i64[4]}; [5,6])\n"
               "index_backward(f32[2,4]; {i64[2,4]; i32[4]}; [5,4])\n"
               "index_backward(f32[2,3,4]; {i64[2,1]; none; i64[3]}; [5,4,3])",
};
const dt_op dt__op_index = {
    .schema = "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    .summary = "The elements that a list of tensors of indices selects; none takes a dim whole.",
    .rows = rows_index,
    .shape = shape_index,
    .kernel = index_tensor,
    .gradient = "self: index_backward(grad, indices, self.shape)",
    .samples = "index(f32[5,3]; {i64[4]})\nindex(f32[5,3]; {none; i64[4]})\nindex(f32[5,3]; {i64[2,4]; i32[4]})\n"
               "index(f32[5,4,3]; {i64[2,1]; none; i64[3]})\nindex(f32[5,4,3]; {none; i64[4]; i64[1]})\n"
               "index(f32[5,4,3]; {none; i64[]})\nindex(f32[5,3]; {i64[0]})",
};

/* index_put. The values are the last input. */
enum { VALUES = 2, ACCUMULATE };

static bool accumulates(const dt_op_call *call) { return call->args[ACCUMULATE].as.b; }
static int values_input(const dt_op_call *call) { return call->args[VALUES].as.first; }

/* The only index, if it is a mask: its first dim; -1: indices are numbers. */
static int mask_dim(const dt_op_call *call) {
    const dt_arg *list = &call->args[1];
    for (int d = 0; d < list->n && call->n_inputs == 3; d++)
        if (dt_arg_member(list, d) >= 0)
            return call->inputs[1].dtype == DT_BOOL ? d : -1;
    return -1;
}

/* The dim of a mask, where values are selected, is one of the values; `dim` is of the tensor. Returns the dim of the
 * values, or -1 where they are repeated. */
static int dim_of_values(const dt_op_call *call, int mask_first, int dim) {
    const dt_op_value *self = &call->inputs[0], *mask = &call->inputs[1], *values = &call->inputs[2];
    int at = dim - self->n_dims + values->n_dims; /* aligned at the right, after the mask */
    if (dim < mask_first)
        at += mask->n_dims - 1;
    bool masked = dim >= mask_first && dim < mask_first + mask->n_dims;
    return masked || at < 0 || values->shape[at] == 1 ? -1 : at;
}

static dt_status shape_mask(dt_op_call *call, int first) {
    const dt_op_value *self = &call->inputs[0], *mask = &call->inputs[1], *values = &call->inputs[2];
    bool fits = first + mask->n_dims <= self->n_dims && mask->n_dims > 0;
    for (int d = 0; d < mask->n_dims && fits; d++)
        fits = mask->shape[d] == self->shape[first + d];
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the mask: expected the sizes of the tensor from dim %d on", first);
    int result_dims = self->n_dims - mask->n_dims + 1, selected = first - result_dims + values->n_dims;
    if (selected >= 0 && values->shape[selected] != 1)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED,
                            "values for each element that a mask selects are not supported: expected size 1, got "
                            "%" PRId64 "; use indices",
                            values->shape[selected]);
    for (int d = 0; d < self->n_dims && fits; d++) {
        int at = dim_of_values(call, first, d);
        fits = at < 0 || values->shape[at] == self->shape[d];
    }
    if (!fits || values->n_dims > result_dims)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "values: they do not broadcast to the elements that the mask selects");
    return dt__add_like(call, 0, self->dtype);
}

/* The result of index, of the tensor with these inputs; its shape in *out. */
static dt_status shape_indexed(const dt_op_call *call, dt__shape *out) {
    index_dims dims;
    read_dims(call, &dims);
    DT__TRY(broadcast_indices(call, &dims));
    out->n = dims.n_kept + dims.broadcast.n;
    if (out->n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the indexed elements have more than %d dims", DT_SPEC_MAX_DIMS);
    for (int k = 0; k < dims.n_kept; k++)
        out->sizes[kept_position(&dims, k)] = call->inputs[0].shape[dims.kept[k]];
    for (int b = 0; b < dims.broadcast.n; b++)
        out->sizes[dims.first + b] = dims.broadcast.sizes[b];
    return DT_OK;
}

static dt_status shape_index_put(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *values = &call->inputs[values_input(call)];
    dt__shape shape;
    if (call->args[1].n > self->n_dims || call->n_inputs < 3)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected 1 to %d indices, got %d", self->n_dims, call->n_inputs - 2);
    if (values->dtype != self->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                            dt_dtype_name(self->dtype), dt_dtype_name(values->dtype));
    if (mask_dim(call) >= 0)
        return shape_mask(call, mask_dim(call));
    for (int i = 1; i < values_input(call); i++)
        DT__TRY(check_index(call, i));
    DT__TRY(shape_indexed(call, &shape));
    bool fits = values->n_dims <= shape.n;
    for (int d = 0; d < values->n_dims && fits; d++)
        fits = values->shape[d] == 1 || values->shape[d] == shape.sizes[d + shape.n - values->n_dims];
    char expected[256], actual[256];
    return fits ? dt__add_like(call, 0, self->dtype)
                : dt_op_refuse(call, DT_ERR_SHAPE, "values: [%s] does not broadcast to [%s], the indexed elements",
                               dt__shape_text(values->n_dims, values->shape, sizeof actual, actual),
                               dt__shape_text(shape.n, shape.sizes, sizeof expected, expected));
}

static void rows_mask(const dt_op_call *call, dt_rows *rows, int first) {
    const dt_op_value *self = &call->inputs[0], *mask = &call->inputs[1];
    for (int d = 0; d < self->n_dims; d++) {
        int at = dim_of_values(call, first, d);
        bool masked = d >= first && d < first + mask->n_dims;
        dt_rows_add(rows, 0,
                    (dt_row_entry[]){DT_ROW_S(d), masked ? DT_ROW_S(d - first) : DT_ROW_R,
                                     at < 0 ? DT_ROW_R : DT_ROW_S(at), DT_ROW_S(d)});
    }
}

/* A row with the values along a dim of the indexed elements, if they have it. */
static void add_put_row(const dt_op_call *call, dt_rows *rows, int n_result, int dim, dt_row_entry *entries) {
    const dt_op_value *values = &call->inputs[values_input(call)];
    int at = dim - (n_result - values->n_dims);
    entries[values_input(call)] = at >= 0 && values->shape[at] != 1 ? DT_ROW_S(at) : DT_ROW_R;
    dt_rows_add(rows, 0, entries);
}

static void rows_put_shards(const dt_op_call *call, dt_rows *rows) {
    const int output = call->n_inputs;
    index_dims dims;
    read_dims(call, &dims);
    if (broadcast_indices(call, &dims) != DT_OK)
        return;
    const int n_result = dims.n_kept + dims.broadcast.n;
    for (int k = 0; k < dims.n_kept; k++) {
        dt_row_entry entries[DT_SPEC_MAX_DIMS + 3] = {DT_ROW_S(dims.kept[k])};
        entries[output] = entries[0];
        if (call->inputs[0].shape[dims.kept[k]] != 1)
            add_put_row(call, rows, n_result, kept_position(&dims, k), entries);
    }
    for (int i = 0; i < dims.n_indexed; i++) {
        dt_row_entry entries[DT_SPEC_MAX_DIMS + 3] = {DT_ROW_S(dims.indexed[i])};
        entries[output] = entries[0];
        dt_rows_add(rows, DT_ROW_OFFSET, entries);
    }
    for (int b = 0; b < dims.broadcast.n && accumulates(call); b++) { /* each rank adds its own */
        dt_row_entry entries[DT_SPEC_MAX_DIMS + 3] = {DT_ROW_P(DT_SUM)};
        for (int i = 1; i < values_input(call); i++) {
            const dt_op_value *index = &call->inputs[i];
            int d = b - (dims.broadcast.n - index->n_dims);
            if (d >= 0 && index->shape[d] == dims.broadcast.sizes[b])
                entries[i] = DT_ROW_S(d);
        }
        entries[output] = DT_ROW_P(DT_SUM);
        if (dims.broadcast.sizes[b] != 1)
            add_put_row(call, rows, n_result, dims.first + b, entries);
    }
}

static void rows_index_put(const dt_op_call *call, dt_rows *rows) {
    const uint64_t both = (uint64_t)1 | (uint64_t)1 << values_input(call);
    if (mask_dim(call) >= 0)
        rows_mask(call, rows, mask_dim(call));
    else
        rows_put_shards(call, rows);
    if (accumulates(call))
        dt_rows_linear(rows, both);
    if (accumulates(call) && dt__is_inexact(call->outputs[0].dtype)) {
        dt_rows_monotone(rows, 0, true);
        if (mask_dim(call) >= 0) /* what is added once has the order of the sum */
            dt_rows_monotone(rows, values_input(call), true);
    }
    for (int kind = 0; kind < DT_N_REDUCES && !accumulates(call); kind++)
        dt_rows_reduce(rows, both, (dt_reduce)kind, (dt_reduce)kind);
}

/* Where the mask is true: the values, or the sums with them. */
static dt_status put_masked(dt_op_call *call, int first) {
    const dt_op_value *self = &call->inputs[0], *mask = &call->inputs[1], *values = &call->inputs[2];
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(self);
    int64_t mask_strides[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt_op_value global[3] = {*self, *mask, *values};
    dt_op_call whole = *call;
    for (int i = 0; i < 3; i++)
        global[i].shape = global[i].global_shape;
    whole.inputs = global;
    for (int d = 0; d < self->n_dims; d++) {
        int at = dim_of_values(&whole, first, d);
        bool masked = d >= first && d < first + mask->n_dims;
        mask_strides[d] = masked ? mask->strides[d - first] : 0;
        strides[d] = at < 0 ? 0 : values->strides[at];
    }
    dt__array where = {mask->data, DT_BOOL, self->n_dims, self->shape, mask_strides};
    dt__array from = {values->data, values->dtype, self->n_dims, self->shape, strides};
    if (!accumulates(call))
        return dt__run_elements(call, DT__EL_WHERE, out.dtype, &out, &where, &from, &in);
    dt__scratch sums;
    DT__TRY(dt__scratch_new(call, out.dtype, self->n_dims, self->shape, &sums));
    dt_status status = dt__run_elements(call, DT__EL_ADD, out.dtype, &sums.array, &in, &from, NULL);
    if (status == DT_OK)
        status = dt__run_elements(call, DT__EL_WHERE, out.dtype, &out, &where, &sums.array, &in);
    dt__scratch_free(call, &sums);
    return status;
}

/* Writes values one position after the other. */
static dt_status write_elements(const indexing *self) {
    const dt_op_value *tensor = &self->call->inputs[0], *values = &self->call->outputs[0];
    int64_t shape[DT_SPEC_MAX_DIMS], strides[2][DT_SPEC_MAX_DIMS], size = (int64_t)dt_dtype_size(tensor->dtype);
    kept_arrays(self, shape, strides);
    for (int64_t at = 0; at < self->n_positions; at++) {
        int64_t offset, from;
        DT__TRY(find_elements(self, at, &offset, &from));
        if (offset < 0)
            continue;
        dt__array target = {(unsigned char *)tensor->data + offset * size, tensor->dtype, self->dims.n_kept, shape,
                            strides[0]};
        dt__array source = {(unsigned char *)values->data + from * size, values->dtype, self->dims.n_kept, shape,
                            strides[1]};
        if (self->n_kept == 1)
            memcpy(target.data, source.data, (size_t)size);
        else
            dt__run_convert(self->call, &target, &source);
    }
    return DT_OK;
}

/* The tensor, then the values at the indices: index with the result as the tensor, and the values as its result. */
static dt_status index_put(dt_op_call *call) {
    const dt_op_value *values = &call->inputs[values_input(call)];
    dt__array out = dt__array_of(&call->outputs[0]), self = dt__array_of(&call->inputs[0]);
    dt_op_value inputs[DT_SPEC_MAX_DIMS + 2], repeated = *values;
    int64_t strides[DT_SPEC_MAX_DIMS];
    dt_op_call forward = *call;
    dt__shape shape;
    if (mask_dim(call) >= 0)
        return put_masked(call, mask_dim(call));
    dt__run_convert(call, &out, &self);
    memcpy(inputs, call->inputs, (size_t)call->n_inputs * sizeof *inputs);
    inputs[0] = call->outputs[0];
    forward.inputs = inputs;
    forward.outputs = &repeated;
    DT__TRY(shape_indexed(&forward, &shape));
    for (int d = 0; d < shape.n; d++) {
        int at = d - (shape.n - values->n_dims);
        strides[d] = at < 0 || values->global_shape[at] == 1 ? 0 : values->strides[at];
    }
    repeated.n_dims = shape.n;
    repeated.shape = shape.sizes;
    repeated.strides = strides;
    if (dt__elements(shape.n, shape.sizes) == 0)
        return DT_OK;
    return run_indexing(&forward, accumulates(call) ? add_elements : write_elements);
}

/* The gradient of values that a mask puts: sums over the mask, with a dim of size 1 in its place. */
static dt_tensor *masked_gradient(const dt_op_call *call, dt_tensor *grad, dt_tensor *where, int first) {
    int64_t dims[DT_SPEC_MAX_DIMS];
    int n = call->inputs[1].n_dims;
    for (int d = 0; d < n; d++)
        dims[d] = first + d;
    dt_dims summed = {.n = n, .list = dims};
    dt_tensor *chosen = dt_where_scalar_other(where, grad, 0), *sums = chosen ? dt_sum(chosen, .dim = summed) : NULL;
    return sums ? dt_unsqueeze(sums, first) : NULL;
}

static dt_status mask_backward(const dt_op_backward *call, int first, dt_tensor **input_grads) {
    const dt_op_value *self = &call->call->inputs[0], *mask = &call->call->inputs[1];
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < self->n_dims; d++)
        sizes[d] = d >= first && d < first + mask->n_dims ? self->shape[d] : 1;
    dt_tensor *where = dt_reshape(call->inputs[1], ((dt_shape){self->n_dims, sizes}));
    if (where && call->needed[0])
        input_grads[0] = accumulates(call->call) ? call->grads[0] : dt_masked_fill(call->grads[0], where, 0);
    if (where && call->needed[2])
        input_grads[2] = masked_gradient(call->call, call->grads[0], where, first);
    return dt_failed(call->call->ctx) ? dt_error_status(call->call->ctx) : DT_OK;
}

static dt_status index_put_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const dt_arg *list = &op->args[1];
    dt_tensor *members[DT_SPEC_MAX_DIMS], *grad = call->grads[0];
    if (mask_dim(op) >= 0)
        return mask_backward(call, mask_dim(op), input_grads);
    for (int i = 0; i < list->n; i++)
        members[i] = dt_arg_member(list, i) < 0 ? NULL : call->inputs[dt_arg_member(list, i)];
    dt_tensors indices = {list->n, members};
    if (call->needed[0])
        input_grads[0] = accumulates(op) ? grad : dt_index_put(grad, indices, dt_new_zeros(grad, DT_SHAPE()));
    if (call->needed[values_input(op)])
        input_grads[values_input(op)] = dt_index(grad, indices);
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

const dt_op dt__op_index_put = {
    .schema = "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    .summary = "Writes or adds values to the elements that indices or a mask select.",
    .rows = rows_index_put,
    .shape = shape_index_put,
    .kernel = index_put,
    .backward = index_put_backward,
    .saves = "indices",
    .samples = "index_put(f32[5,3]; {i64[4]}; f32[4,3]; true)\nindex_put(f32[5,3]; {none; i64[1]}; f32[5,1])\n"
               "index_put(f32[5,3]; {i64[2,4]; i32[4]}; f32[4]; true)\nindex_put(f32[5,4,3]; {i64[1]; none; i64[1]}; "
               "f32[])\n"
               "index_put(f32[5,3]; {bool[5]}; f32[3])\nindex_put(f32[2,5,3]; {none; bool[5,3]}; f32[2,1]; true)",
};
const dt_op dt__op_index_put_ = {.in_place_of = &dt__op_index_put,
                                 .samples = "index_put_(f32[5,3]; {i64[4]}; f32[4,3]; true)"};
