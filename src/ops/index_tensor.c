/* SPDX-License-Identifier: Apache-2.0
 *
 * index.Tensor: a tensor indexed by a list of tensors, with none for a dim that is taken whole. The indices are
 * broadcast to one shape, whose dims replace the indexed ones: in their place where they are adjacent, else in front.
 *
 *     x[5,4,3], {i[2]; none; j[2]} -> [2,4]      x[5,4,3], {none; i[2]; j[2]} -> [5,2]
 *
 * Along a sharded dim that is indexed, each rank reads the elements that it holds and leaves zeros elsewhere: a partial
 * sum.
 */
#include "base/dtype.h"
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
 * them. False where an index is out of range. */
static bool find_elements(const indexing *self, int64_t at, int64_t *offset, int64_t *out_offset) {
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
            (void)dt__fail_local(self->call->ctx, DT_ERR_VALUE,
                                 "%s: index %" PRId64 " is out of range for dim %d: expected %" PRId64 " to %" PRId64,
                                 self->call->name, value, dim, -size, size - 1);
            return false;
        }
        value += value < 0 ? size : 0;
        if (tensor->shape[dim] != size)
            value -= tensor->offset[dim];
        here = here && value >= 0 && value < tensor->shape[dim];
        *offset += value * tensor->strides[dim];
    }
    *offset = here ? *offset : -1;
    return true;
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
        if (!find_elements(self, at, &offset, &out_offset))
            return DT_ERR_VALUE;
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

/* The gradient: the call with the result in the place of the tensor, and the gradient in that of the result. */
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

/* The rows of index with the tensor and the result exchanged. */
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
        if (!find_elements(self, at, &offset, &grad_offset))
            return DT_ERR_VALUE;
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
