/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of a tensor side by side, repeat and tile; of its elements, repeat_interleave; and one_hot. Dims that are not
 * repeated keep their shards.
 */
#include "dtensor/ops.h"
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* How often dim d of the result is repeated; tile has ones in front of a list that is too short. */
static int64_t repeats_of(const dt_op_call *call, int n, int d) {
    const dt_arg *repeats = &call->args[1];
    int at = d - (n - repeats->n);
    return at < 0 ? 1 : repeats->as.ints[at];
}

static int64_t size_of(const dt_op_value *self, int n, int d) {
    int own = d - (n - self->n_dims);
    return own < 0 ? 1 : self->shape[own];
}

static dt_status shape_repeat(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    const dt_arg *repeats = &call->args[1];
    bool extends = call->op->family; /* tile */
    dt__shape shape = {.n = repeats->n > self->n_dims ? repeats->n : self->n_dims};
    if (repeats->n < self->n_dims && !extends)
        return dt_op_refuse(call, DT_ERR_VALUE, "repeats: expected at least %d, one per dim, got %d", self->n_dims,
                            repeats->n);
    if (shape.n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    for (int d = 0; d < shape.n; d++) {
        int64_t times = repeats_of(call, shape.n, d), sizes[2] = {times, size_of(self, shape.n, d)};
        if (times < 0)
            return dt_op_refuse(call, DT_ERR_VALUE, "repeats: expected numbers of at least 0, got %" PRId64, times);
        if (!dt__product(2, sizes, 1, &shape.sizes[d]))
            return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than 2^63 - 1 elements");
    }
    return dt__add_made(call, self->dtype, shape.n, shape.sizes);
}

static void rows_repeat(const dt_op_call *call, dt_rows *rows) {
    int n = call->outputs[0].n_dims, more = n - call->inputs[0].n_dims;
    for (int d = more; d < n; d++)
        if (repeats_of(call, n, d) == 1)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d - more), DT_ROW_S(d)});
}

/* One copy per block of the result. */
static dt_status repeat(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *result = &call->outputs[0];
    dt__array out = dt__array_of(result), in = dt__array_of(self);
    int n = out.n_dims, more = n - in.n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS], block[DT_SPEC_MAX_DIMS] = {0}, n_blocks = 1;
    for (int d = 0; d < n; d++) {
        shape[d] = size_of(self, n, d);
        strides[d] = d < more ? 0 : in.strides[d - more];
        n_blocks *= repeats_of(call, n, d);
    }
    if (dt__array_count(&out) == 0)
        return DT_OK;
    for (int64_t i = 0; i < n_blocks; i++) {
        int64_t at = 0;
        for (int d = 0; d < n; d++)
            at += block[d] * shape[d] * out.strides[d];
        dt__run_convert(call,
                        &(dt__array){(unsigned char *)out.data + at * (int64_t)dt_dtype_size(out.dtype), out.dtype, n,
                                     shape, out.strides},
                        &(dt__array){in.data, in.dtype, n, shape, strides});
        for (int d = n - 1; d >= 0 && ++block[d] == repeats_of(call, n, d); d--)
            block[d] = 0;
    }
    return DT_OK;
}

/* The sum of the copies: each repeated dim as two; the first is summed. */
static dt_status repeat_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *forward = call->call;
    const dt_op_value *self = &forward->inputs[0];
    int n = forward->outputs[0].n_dims, n_split = 0, n_summed = 0;
    int64_t sizes[2 * DT_SPEC_MAX_DIMS], summed[2 * DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n; d++) {
        if (repeats_of(forward, n, d) != 1) {
            summed[n_summed++] = n_split;
            sizes[n_split++] = repeats_of(forward, n, d);
        }
        sizes[n_split++] = size_of(self, n, d);
    }
    dt_shape split = {n_split, sizes}, shape = {self->n_dims, self->shape};
    dt_dims dims = {.n = n_summed, .list = summed};
    dt_tensor *grad = n_summed ? dt_reshape(call->grads[0], split) : call->grads[0];
    if (grad && n_summed)
        grad = dt_sum(grad, .dim = dims);
    input_grads[0] = grad ? dt_reshape(grad, shape) : NULL;
    return input_grads[0] ? DT_OK : dt_error_status(forward->ctx);
}

#define REPEAT(name, argument)                                                                                       \
    .schema = name "(Tensor self, int[] " argument ") -> Tensor", .partial = DT_PARTIAL_ANY, .rows = rows_repeat,    \
    .shape = shape_repeat, .kernel = repeat, .saves = "", .backward = repeat_backward

const dt_op dt__op_repeat = {
    REPEAT("repeat", "repeats"),
    .summary = "Copies of a tensor side by side, in the given number along each dim; new dims come first.",
    .samples = "repeat(f32[5,3]; [1,2])\nrepeat(f32[3]; [2,2])",
};
const dt_op dt__op_tile = {
    REPEAT("tile", "dims"),
    .summary = "Copies of a tensor side by side along its last dims.",
    .family = "extends a list that is too short",
    .samples = "tile(f32[5,3]; [2])",
};

static dt_status check_indices(const dt_op_call *call) {
    dt_dtype dtype = call->inputs[0].dtype;
    return dtype == DT_I64
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_DTYPE, "expected indices of dtype i64, got %s", dt_dtype_name(dtype));
}

static bool is_unknown(const dt_arg *num_classes) { return num_classes->as.i == -1; }

static dt_tensor *largest_index(const dt_op_call *call, dt_tensor *const *inputs) {
    if (check_indices(call) != DT_OK)
        return NULL;
    if (dt_tensor_elements(inputs[0]) == 0) {
        dt_op_refuse(call, DT_ERR_VALUE, "num_classes: there is no largest index: expected at least 1, got -1");
        return NULL;
    }
    return dt_amax(inputs[0]);
}

static dt_status count_classes(const dt_op_call *call, dt_arg *value) {
    int64_t largest = value->as.i;
    if (largest < 0 || largest == INT64_MAX)
        return dt_op_refuse(call, DT_ERR_VALUE, "index %" PRId64 " is out of range: expected 0 to 2^63 - 2", largest);
    value->as.i = largest + 1;
    return DT_OK;
}

static const dt_read read_classes = {
    .argument = "num_classes",
    .is_read = is_unknown,
    .values = largest_index,
    .convert = count_classes,
};

static dt_status shape_one_hot(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    int64_t n = call->args[1].as.i;
    dt__shape shape = {.n = self->n_dims};
    DT__TRY(check_indices(call));
    if (n < 1)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "num_classes: expected at least 1, or -1 for the largest index, got %" PRId64, n);
    if (shape.n == DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    memcpy(shape.sizes, self->shape, (size_t)self->n_dims * sizeof *shape.sizes);
    shape.sizes[shape.n++] = n;
    return dt__add_made(call, DT_I64, shape.n, shape.sizes);
}

/* Zeros, with ones scattered along the last dim. */
static dt_status one_hot(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), index = dt__array_of(&call->inputs[0]);
    int n = out.n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS], none[DT_SPEC_MAX_DIMS] = {0}, bad;
    dt__constant constants[2];
    dt__array zero = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, DT_I64, &constants[0]);
    dt__array one = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT, .as.i = 1}, DT_I64, &constants[1]);
    dt__run_convert(call, &out, &zero);
    for (int d = 0; d < n; d++) {
        shape[d] = d < n - 1 ? index.shape[d] : 1;
        strides[d] = d < n - 1 ? index.strides[d] : 0;
    }
    dt__array at = {index.data, index.dtype, n, shape, strides}, ones = {one.data, DT_I64, n, shape, none};
    bool fine =
        dt__array_count(&index) == 0 ||
        dt__scatter_along(
            dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
            &(dt__indexed){.indexed = &out, .dim = n - 1, .index = &at, .limit = out.shape[n - 1], .other = &ones},
            false, &bad);
    return fine ? DT_OK : dt__bad_index(call, bad, out.shape[n - 1]);
}

const dt_op dt__op_one_hot = {
    .schema = "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    .summary = "Zeros, with a one at each index along a new last dim of num_classes; -1: as the indices require.",
    .rule = "... -> ...c",
    .shape = shape_one_hot,
    .kernel = one_hot,
    .read = &read_classes,
    .flags = DT_OP_NOT_DIFFERENTIABLE | DT_OP_POSITIONAL,
    .samples = "one_hot(i64[5]; 7)\none_hot(i64[2,3]; 4)",
};

/* repeat_interleave: positions in .arguments. The overload without a tensor to repeat makes positions. */
enum { INTERLEAVE_REPEATS, INTERLEAVE_DIM, OUTPUT_SIZE };
enum { OF_POSITIONS, BY_TENSOR, BY_NUMBER };

static const dt_op_value *repeats_tensor(const dt_op_call *call) {
    const dt_arg *repeats = dt__arg_at(call, INTERLEAVE_REPEATS);
    return repeats->type == DT_ARG_TENSOR ? &call->inputs[repeats->as.first] : NULL;
}

/* The dim that is repeated, and its size; without one, all elements in a row. */
static dt_status interleaved_dim(const dt_op_call *call, int *dim, int64_t *size) {
    const dt_op_value *self = &call->inputs[0];
    const dt_arg *arg = dt__arg_at(call, INTERLEAVE_DIM);
    *dim = 0;
    *size = self->n_dims ? self->shape[0] : 1;
    if (call->overload == OF_POSITIONS)
        return DT_OK;
    if (arg->type != DT_ARG_INT) {
        *size = dt__elements(self->n_dims, self->shape);
        return DT_OK;
    }
    DT__TRY(dt__read_dim(call, arg->as.i, self->n_dims, dim));
    *size = self->n_dims ? self->shape[*dim] : 1;
    return DT_OK;
}

static dt_status check_repeats(const dt_op_call *call, int64_t size) {
    const dt_op_value *repeats = repeats_tensor(call);
    int64_t n = dt__elements(repeats->n_dims, repeats->shape);
    if (!dt__is_integer(repeats->dtype) || repeats->n_dims > 1 || (n != 1 && n != size))
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "repeats: expected a vector of 1 or %" PRId64 " integers, got %d dims, %" PRId64
                            " elements of %s",
                            size, repeats->n_dims, n, dt_dtype_name(repeats->dtype));
    return DT_OK;
}

static bool is_absent(const dt_arg *output_size) { return output_size->type == DT_ARG_NONE; }

/* A single number of repeats, for each index of the dim. */
static dt_tensor *repeats_of_each(dt_tensor *repeats, int64_t size) {
    dt_shape sizes = {1, &size};
    return dt_tensor_elements(repeats) == size && dt_tensor_n_dims(repeats) == 1
               ? repeats
               : dt_expand(dt_reshape(repeats, DT_SHAPE(1)), sizes);
}

static dt_tensor *total_repeats(const dt_op_call *call, dt_tensor *const *inputs) {
    int dim;
    int64_t size;
    if (interleaved_dim(call, &dim, &size) != DT_OK || check_repeats(call, size) != DT_OK)
        return NULL;
    return dt_sum(repeats_of_each(inputs[dt__arg_at(call, INTERLEAVE_REPEATS)->as.first], size));
}

static const dt_read read_output_size = {.argument = "output_size", .is_read = is_absent, .values = total_repeats};

static dt_status shape_interleave(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    const dt_arg *repeats = dt__arg_at(call, INTERLEAVE_REPEATS), *total = dt__arg_at(call, OUTPUT_SIZE);
    int dim;
    int64_t size, n;
    DT__TRY(interleaved_dim(call, &dim, &size));
    if (call->overload == BY_NUMBER) {
        if (repeats->as.i < 0 || !dt__product(2, (int64_t[]){size, repeats->as.i}, 1, &n))
            return dt_op_refuse(call, DT_ERR_VALUE, "repeats: expected at least 0, got %" PRId64, repeats->as.i);
        if (total->as.i >= 0 && total->as.i != n)
            return dt_op_refuse(call, DT_ERR_VALUE, "output_size: expected %" PRId64 ", got %" PRId64, n,
                                total->as.i);
    } else {
        DT__TRY(check_repeats(call, size));
        n = total->as.i;
    }
    if (call->overload == OF_POSITIONS || dt__arg_at(call, INTERLEAVE_DIM)->type != DT_ARG_INT || self->n_dims == 0)
        return dt__add_made(call, call->overload == OF_POSITIONS ? DT_I64 : self->dtype, 1, &n);
    dt__shape shape = {.n = self->n_dims};
    memcpy(shape.sizes, self->shape, (size_t)self->n_dims * sizeof *shape.sizes);
    shape.sizes[dim] = n;
    return dt__add_made(call, self->dtype, shape.n, shape.sizes);
}

/* Other dims keep their shards; the repeated dim keeps them as long as the copies of an element stay together. */
static void rows_interleave(const dt_op_call *call, dt_rows *rows) {
    if (call->overload == BY_NUMBER)
        dt_rows_factors(rows, "...[dim!] -> ...[dim]", DT_PARTIAL_ANY);
    else if (call->overload == BY_TENSOR)
        dt_rows_factors(rows, "...[dim!], n! -> ...[dim]", 0);
}

/* A new dim of copies after the one that is repeated, made part of it. */
static dt_tensor *interleave_number(const dt_op_call *call, dt_tensor *self, int dim) {
    const dt_op_value *out = &call->outputs[0];
    int64_t sizes[DT_SPEC_MAX_DIMS + 1];
    int n = (int)dt_tensor_n_dims(self);
    if (n == DT_SPEC_MAX_DIMS) {
        (void)dt_op_refuse(call, DT_ERR_UNSUPPORTED, "expected at most %d dims, got %d", DT_SPEC_MAX_DIMS - 1, n);
        return NULL;
    }
    for (int d = 0; d <= n; d++)
        sizes[d] = d == dim + 1 ? dt__arg_at(call, INTERLEAVE_REPEATS)->as.i : dt_tensor_size(self, d - (d > dim));
    dt_tensor *apart = dt_unsqueeze(self, dim + 1),
              *copies = apart ? dt_expand(apart, ((dt_shape){n + 1, sizes})) : NULL;
    return copies ? dt_reshape(copies, ((dt_shape){out->n_dims, out->shape})) : NULL;
}

/* Element i of the result repeats the first index whose running sum of repeats exceeds i. */
static dt_tensor *interleaved_positions(const dt_op_call *call, dt_tensor *repeats, int dim, int64_t size) {
    dt_tensor *each = repeats_of_each(repeats, size), *ends = each ? dt_cumsum(each, 0, .dtype = DT_I64) : NULL;
    dt_tensor *places = ends ? dt_arange(call->ctx, 0, call->outputs[0].shape[dim], 1, .dtype = DT_I64,
                                         .mesh = dt_tensor_mesh(repeats))
                             : NULL;
    return places ? dt_searchsorted(ends, places, .right = true) : NULL;
}

static dt_status interleave(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_arg *repeats = dt__arg_at(call, INTERLEAVE_REPEATS);
    dt_tensor *self = inputs[0];
    int dim;
    int64_t size;
    DT__TRY(interleaved_dim(call, &dim, &size));
    if (call->overload != OF_POSITIONS &&
        (dt__arg_at(call, INTERLEAVE_DIM)->type != DT_ARG_INT || call->inputs[0].n_dims == 0))
        self = dt_reshape(self, DT_SHAPE(-1));
    if (call->overload == BY_NUMBER)
        outputs[0] = self ? interleave_number(call, self, dim) : NULL;
    else {
        dt_tensor *index = interleaved_positions(call, inputs[repeats->as.first], dim, size);
        outputs[0] = call->overload == OF_POSITIONS ? index
                     : index && self                ? dt_index_select(self, dim, index)
                                                    : NULL;
    }
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_repeat_interleave = {
    .schema =
        "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor | "
        "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> "
        "Tensor | "
        "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=-1) -> Tensor",
    .summary = "Repeats every index of a dim by a number, or by its element of a tensor.",
    .rows = rows_interleave,
    .arguments = "repeats,dim,output_size",
    .shape = shape_interleave,
    .decompose = interleave,
    .read = &read_output_size,
    .samples = "repeat_interleave(f32[5,3]; 2; 1)\nrepeat_interleave(f32[5,3]; 3)\n"
               "repeat_interleave(f32[5,1]; i64[1]; 1; output_size=0)",
};
