/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor handles: shape arithmetic and checks, creation of plain and distributed handles on a storage, and read access.
 */
#include "base/dtype.h"
#include "base/hot.h"
#include "base/size.h"
#include "base/text.h"
#include "mesh/mesh.h"
#include "tensor/tensor_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t dt__elements(int n_dims, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= shape[d];
    return n;
}

/* The strides of an expanded shape may overflow: those of its view replace them. */
void dt__row_strides(int n_dims, const int64_t *shape, int64_t *strides) {
    uint64_t step = 1;
    for (int d = n_dims - 1; d >= 0; d--) {
        strides[d] = (int64_t)step;
        step *= (uint64_t)dt__max_i64(shape[d], 1);
    }
}

bool dt__is_dense(int n_dims, const int64_t *shape, const int64_t *strides) {
    int64_t step = 1;
    for (int d = n_dims - 1; d >= 0; d--) {
        if (shape[d] == 0)
            return true;
        if (shape[d] != 1 && strides[d] != step)
            return false;
        step *= shape[d];
    }
    return true;
}

/* In order of stride, each dim must step over all that the smaller ones reach; otherwise two indices may share an
 * element. */
static bool __attribute__((noinline)) may_overlap(const dt_tensor *tensor) {
    bool taken[DT_SPEC_MAX_DIMS] = {false};
    int64_t reach = 0, steps[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < tensor->local_n_dims; d++) {
        if (tensor->local_shape[d] == 0)
            return false;
        steps[d] = tensor->local_shape[d] == 1 ? 0 : llabs(tensor->strides[d]);
    }
    for (int k = 0; k < tensor->local_n_dims; k++) {
        int min = -1;
        for (int d = 0; d < tensor->local_n_dims; d++)
            if (!taken[d] && (min < 0 || steps[d] < steps[min]))
                min = d;
        taken[min] = true;
        if (tensor->local_shape[min] == 1)
            continue;
        if (steps[min] <= reach)
            return true;
        reach += (tensor->local_shape[min] - 1) * steps[min];
    }
    return false;
}

static dt_status __attribute__((noinline)) refuse_overlap(const dt_tensor *tensor, const char *op) {
    static const char *const format =
        "%s: cannot write to %s: two indices may share an element, as in an expanded view; clone it first";
    char text[256];
    (void)dt_tensor_text(tensor, sizeof text, text);
    /* A local error: the local tensors of other ranks may be too small to overlap. */
    return tensor->spec ? dt__fail_local(tensor->ctx, DT_ERR_STATE, format, op, text)
                        : dt__fail(tensor->ctx, DT_ERR_STATE, format, op, text);
}

dt_status dt__check_writable(const dt_tensor *tensor, const char *op) {
    if (__builtin_expect(tensor->special & DT__OF_COPY, 0))
        return dt__refuse_write_to_copy(tensor, op);
    if (dt__is_dense(tensor->local_n_dims, tensor->local_shape, tensor->strides) || !may_overlap(tensor))
        return DT_OK;
    return refuse_overlap(tensor, op);
}

const char *dt__shape_text(int n_dims, const int64_t *shape, size_t capacity, char *out) {
    size_t used = 0;
    out[0] = '\0';
    for (int d = 0; d < n_dims && used < capacity; d++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%lld", d ? "," : "", (long long)shape[d]);
    return out;
}

dt_status dt__shape_check(dt_ctx *ctx, const char *op, dt_dtype dtype, int n_dims, const int64_t *shape,
                          int64_t *elements) {
    char text[256];
    if (n_dims < 0 || n_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(ctx, DT_ERR_SHAPE, "%s: wrong number of dims: expected 0 to %d, got %d", op, DT_SPEC_MAX_DIMS,
                        n_dims);
    if (n_dims > 0 && !shape)
        return dt__fail(ctx, DT_ERR_SHAPE, "%s: the sizes of %d dims are NULL", op, n_dims);
    if (dt_dtype_size(dtype) == 0)
        return dt__fail(ctx, DT_ERR_DTYPE, "%s: unknown dtype %d", op, (int)dtype);
    int64_t n = 1, bytes;
    bool empty = false, fits = true;
    for (int d = 0; d < n_dims; d++) {
        if (shape[d] < 0)
            return dt__fail(ctx, DT_ERR_SHAPE, "%s: [%s] has a negative size", op,
                            dt__shape_text(n_dims, shape, sizeof text, text));
        empty = empty || shape[d] == 0;
        fits = fits && dt__mul_i64(n, dt__max_i64(shape[d], 1), &n);
    }
    if (!fits || !dt__mul_i64(n, (int64_t)dt_dtype_size(dtype), &bytes))
        return dt__fail(ctx, DT_ERR_SHAPE, "%s: %s[%s] has more than 2^63 - 1 bytes", op, dt_dtype_name(dtype),
                        dt__shape_text(n_dims, shape, sizeof text, text));
    *elements = empty ? 0 : n;
    return DT_OK;
}

bool dt__check_context(dt_ctx *ctx, const char *op, const char *noun, const dt_ctx *owner) {
    if (owner != ctx)
        (void)dt__fail(ctx, DT_ERR_STATE, "%s: the %s belongs to another context", op, noun);
    return owner == ctx;
}

dt_tensor *dt__null_argument(dt_ctx *ctx, const char *op, int argument) {
    if (ctx && !dt_failed(ctx))
        (void)dt__fail(ctx, DT_ERR_VALUE, "argument %d of %s is NULL", argument, op);
    return NULL;
}

static inline unsigned char *data_at(const dt__storage *storage, dt_dtype dtype, int64_t offset) {
    return storage->data ? storage->data + offset * (int64_t)dt__dtype_bytes(dtype) : NULL;
}

static inline uint8_t special_of(const dt__storage *storage, bool is_permuted) {
    return (uint8_t)((storage->origin ? DT__OF_COPY : 0) | (is_permuted ? DT__PERMUTED : 0));
}

/* Sets what dt__handle_new leaves to its caller. Takes over the caller's reference to the storage. */
static inline void set_plain(dt_tensor *tensor, dt__storage *storage, const dt__array_desc *desc) {
    int n = desc->n_dims;
    int64_t *shape = tensor->dims, *strides = shape + n;
    tensor->storage = storage;
    tensor->special = special_of(storage, desc->strides && dt__is_permuted(n, desc->strides));
    tensor->data = data_at(storage, desc->dtype, desc->offset);
    tensor->dtype = desc->dtype;
    tensor->n_dims = tensor->local_n_dims = n;
    tensor->shape = tensor->local_shape = shape;
    tensor->strides = strides;
    for (int d = 0; d < n && desc->strides; d++)
        strides[d] = desc->strides[d];
    int64_t step = 1;
    for (int d = n - 1; d >= 0; d--) {
        shape[d] = desc->shape[d];
        if (!desc->strides)
            strides[d] = step;
        step *= dt__max_i64(shape[d], 1);
    }
}

dt_tensor *dt__tensor_plain(dt__storage *storage, const dt__array_desc *desc) {
    dt_tensor *tensor = dt__handle_new(storage->ctx, desc->n_dims);
    if (!tensor)
        return NULL;
    storage->n_refs++;
    set_plain(tensor, storage, desc);
    return tensor;
}

DT__HOT dt_tensor *dt__tensor_dense(dt_ctx *ctx, dt_dtype dtype, int n_dims, const int64_t *shape, size_t bytes) {
    dt__storage *storage = dt__storage_new(ctx, bytes, false);
    dt_tensor *tensor = storage ? dt__handle_new(ctx, n_dims) : NULL;
    if (tensor)
        set_plain(tensor, storage, &(dt__array_desc){dtype, n_dims, shape, NULL, 0});
    else
        dt__storage_release(storage);
    return tensor;
}

dt_tensor *dt__tensor_new(dt_ctx *ctx, const char *op, dt_dtype dtype, int n_dims, const int64_t *shape) {
    int64_t n;
    if (dt__shape_check(ctx, op, dtype, n_dims, shape, &n) != DT_OK)
        return NULL;
    return dt__tensor_dense(ctx, dtype, n_dims, shape, (size_t)n * dt_dtype_size(dtype));
}

/* Sets the fields of a distributed tensor; strides NULL: those of the spec. */
static inline void set_distributed(dt_tensor *tensor, dt_spec *spec, dt__storage *storage, int64_t offset,
                                   const int64_t *strides) {
    const dt_local *local = &spec->local;
    tensor->storage = storage;
    tensor->special = special_of(storage, strides ? dt__is_permuted(local->n_dims, strides) : spec->is_permuted);
    tensor->data = data_at(storage, spec->dtype, offset);
    tensor->spec = dt__spec_retain(spec);
    tensor->dtype = spec->dtype;
    tensor->n_dims = spec->sharding.n_dims;
    tensor->shape = spec->sharding.shape;
    tensor->local_n_dims = local->n_dims;
    tensor->local_shape = local->shape;
    tensor->strides = tensor->dims;
    strides = strides ? strides : local->strides;
    for (int d = 0; d < local->n_dims; d++)
        tensor->dims[d] = strides[d];
}

dt_tensor *dt__tensor_wrap(dt_spec *spec, dt__storage *storage, int64_t offset, const int64_t *strides) {
    dt_tensor *tensor = dt__handle_new(spec->ctx, spec->local.n_dims);
    if (!tensor)
        return NULL;
    storage->n_refs++;
    set_distributed(tensor, spec, storage, offset, strides);
    return tensor;
}

/* In an estimate, blocks have the text forms of their tensors. */
static void label_block(const dt_spec *spec, const void *memory) {
    const char *label = dt__estimate_label(spec->ctx, spec->id);
    char text[512];
    if (!label) {
        (void)dt_spec_text(spec, sizeof text, text);
        label = dt__estimate_set_label(spec->ctx, spec->id, text);
    }
    dt__estimate_label_block(spec->ctx, memory, label);
}

DT__HOT dt_tensor *dt__tensor_of_spec(dt_spec *spec) {
    dt__storage *storage = dt__storage_new(spec->ctx, (size_t)spec->local.bytes, true);
    if (__builtin_expect(spec->ctx->estimate != NULL, 0) && storage && storage->data)
        label_block(spec, storage->data);
    dt_tensor *tensor = storage ? dt__handle_new(spec->ctx, spec->local.n_dims) : NULL;
    if (tensor)
        set_distributed(tensor, spec, storage, 0, NULL);
    else
        dt__storage_release(storage);
    return tensor;
}

void dt__tensor_set_order(dt_tensor *tensor, const int *order) {
    const int n = tensor->local_n_dims;
    (void)dt__dense_strides(n, tensor->local_shape, order, tensor->strides); /* its bytes are below 2^63 */
    tensor->special &= (uint8_t)~DT__PERMUTED;
    tensor->special |= dt__is_permuted(n, tensor->strides) ? DT__PERMUTED : 0;
}

dt_tensor *dt__tensor_alias(const dt_tensor *tensor) {
    int64_t offset = dt__tensor_offset(tensor);
    dt_tensor *alias =
        tensor->spec ? dt__tensor_wrap(tensor->spec, tensor->storage, offset, tensor->strides)
                     : dt__tensor_plain(tensor->storage, &(dt__array_desc){tensor->dtype, tensor->n_dims,
                                                                           tensor->shape, tensor->strides, offset});
    return dt__inherit_detached(alias, tensor);
}

dt_ctx *dt_tensor_ctx(const dt_tensor *tensor) { return tensor ? tensor->ctx : NULL; }
dt_dtype dt_tensor_dtype(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->dtype : DT_NO_DTYPE;
}

int dt_tensor_n_dims(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->n_dims : 0;
}

const int64_t *dt_tensor_shape(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->shape : NULL;
}

int dt_tensor_local_n_dims(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->local_n_dims : 0;
}

const int64_t *dt_tensor_local_shape(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->local_shape : NULL;
}

const int64_t *dt_tensor_strides(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->strides : NULL;
}

dt_spec *dt_tensor_spec(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->spec : NULL;
}

dt_mesh *dt_tensor_mesh(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor && tensor->spec ? tensor->spec->mesh : NULL;
}

/* Writes the value that an estimate shows to a program into a small tensor; larger ones are left as they are, 0. */
static void write_stand_in(const dt_tensor *tensor) {
    enum { MAX_BYTES = 1 << 16 };
    unsigned char element[16];
    dt_ctx *ctx = tensor->ctx;
    dt__estimate_notes_add_read(ctx, "data", tensor->storage->heap ? tensor->storage->data : NULL);
    if (tensor->storage->bytes > MAX_BYTES || dt_dtype_size(tensor->dtype) == 0)
        return;
    dt__write_f64(tensor->dtype, ctx->estimate->options.value, element);
    size_t size = dt_dtype_size(tensor->dtype);
    for (size_t at = 0; at + size <= tensor->storage->bytes; at += size)
        memcpy(tensor->storage->data + at, element, size);
}

void *dt_data(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    if (tensor && dt__is_idle(tensor->ctx, tensor->data))
        write_stand_in(tensor);
    if (tensor && tensor->ctx->is_dry)
        (void)dt__fail(tensor->ctx, DT_ERR_STATE, "data: a decomposition reads a value while it is planned");
    return tensor ? tensor->data : NULL;
}

bool dt_requires_grad(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor && (tensor->record || (tensor->storage->writes && tensor->storage->writes->concern(tensor)));
}

int64_t dt_tensor_size(const dt_tensor *tensor, int dim) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    int n = dt_tensor_n_dims(tensor);
    return dim >= -n && dim < n ? tensor->shape[dim < 0 ? dim + n : dim] : -1;
}

int64_t dt_tensor_elements(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? dt__elements(tensor->n_dims, tensor->shape) : 0;
}

int64_t dt_tensor_local_elements(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? dt__elements(tensor->local_n_dims, tensor->local_shape) : 0;
}

bool dt_tensor_is_contiguous(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor && dt__is_dense(tensor->local_n_dims, tensor->local_shape, tensor->strides);
}

bool dt_tensor_shares(const dt_tensor *a, const dt_tensor *b) {
    a = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, a, 1);
    b = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, b, 2);
    return a && b && a->storage == b->storage;
}

size_t dt_tensor_text(const dt_tensor *tensor, size_t capacity, char *out) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    if (tensor && tensor->spec)
        return dt__spec_use_text(tensor->spec, tensor->use, capacity, out);
    char shape[DT_SPEC_MAX_DIMS * 21];
    if (tensor)
        dt__shape_text(tensor->n_dims, tensor->shape, sizeof shape, shape);
    int n = tensor ? snprintf(out, capacity, "%s[%s]", dt_dtype_name(tensor->dtype), shape)
                   : snprintf(out, capacity, "no tensor");
    return (size_t)n;
}

void dt__tensor_describe(const void *tensor, char *out, size_t capacity) {
    (void)dt_tensor_text(tensor, capacity, out);
}

/* The calls on a mesh have the same numbers on all its ranks. A leaf gets its number with each call that asks for one:
 * the ranks may have been in different calls when an error ended the call that made it. */
static dt_status number_leaf(const dt_tensor *tensor) {
    const bool is_shared = tensor->spec && !tensor->ctx->call.apart;
    const dt__history *history = is_shared ? dt__mesh_history(tensor->spec->mesh) : NULL;
    tensor->record->made_by = history ? history->n : 0;
    return dt_error_status(tensor->ctx);
}

dt_status dt_set_requires_grad_site(dt_tensor *tensor, bool requires_grad, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "set_requires_grad", site);
    DT__TRY(DT__REFUSAL());
    if (!tensor)
        return DT_ERR_VALUE;
    if (requires_grad && !dt__is_inexact(tensor->dtype))
        return dt__fail(tensor->ctx, DT_ERR_DTYPE,
                        "set_requires_grad: wrong dtype: expected a floating-point or complex one, got %s",
                        dt_dtype_name(tensor->dtype));
    DT__TRY(dt__note_tensor(tensor, &(dt__call_details){.n_values = 1, .values = {requires_grad}}));
    if (tensor->storage->writes)
        DT__TRY(tensor->storage->writes->apply(tensor));
    if (requires_grad && tensor->record)
        return tensor->record->is_leaf ? number_leaf(tensor) : DT_OK;
    if (requires_grad) {
        DT__TRY(dt__require_grad(tensor));
        dt__storage_set_kind(tensor->storage, DT_MEMORY_PARAMETERS);
        return number_leaf(tensor);
    }
    if (tensor->record && !tensor->record->is_leaf)
        return dt__fail(
            tensor->ctx, DT_ERR_STATE,
            "set_requires_grad: expected a leaf, got the result of a call that is recorded; use dt_detach");
    if (tensor->record)
        dt__storage_set_kind(tensor->storage, DT_MEMORY_ACTIVATIONS);
    dt__record_release(tensor->record);
    tensor->record = NULL;
    return DT_OK;
}

dt_tensor *dt__report_made(const char *name, const dt_tensor *from, dt_tensor *result, dt_spec *grad_spec,
                           int n_numbers, const int64_t *numbers) {
    dt_ctx *ctx = from->ctx;
    dt_tensor *input = (dt_tensor *)from; /* whose value is only read */
    if (input->storage->writes && input->storage->writes->apply(input) != DT_OK) {
        if (result != from)
            dt_drop(result);
        return NULL;
    }
    if (!input->record)
        return result;
    dt__made made = {.name = name,
                     .n_inputs = 1,
                     .inputs = &input,
                     .n_outputs = 1,
                     .outputs = &result,
                     .grad_spec = grad_spec,
                     .n_numbers = n_numbers,
                     .numbers = numbers};
    if (ctx->recorder->record(ctx, &made) == DT_OK)
        return result;
    if (result != from)
        dt_drop(result);
    return NULL;
}
