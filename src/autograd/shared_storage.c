/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes through one handle on a storage that others share. A recorded call that writes through a view changes the
 * viewed tensor and its other views, and a write to the tensor changes its views. The storage keeps its recorded
 * *writes*: which elements, and the record that made them. A handle whose record is older than a write gets a new
 * record before it is used again, *overlay*: its old elements, except where the write replaced them. Addresses alone
 * decide which elements these are, so it does not matter how views were made. A detached tensor and its views have
 * writes of their own, which affect nothing else on the storage and are not affected by other writes.
 *
 * The map from elements to the elements at the same addresses is linear, and so are its gradients: *overlap*. The
 * gradient of dt_as_strided is one, too.
 */
#include "autograd/gradient_walk.h"

#include "base/dtype.h"

#include <stdlib.h>
#include <string.h>

/* Where the elements of a local tensor are in its storage, as arguments of a record. */
enum { OFFSET, N_DIMS, SHAPE };
enum { MAX_NUMBERS = 2 + 2 * DT_SPEC_MAX_DIMS };

static int n_numbers(const int64_t *at) { return 2 + 2 * (int)at[N_DIMS]; }
static const int64_t *shape_of(const int64_t *at) { return at + SHAPE; }
static const int64_t *strides_of(const int64_t *at) { return at + SHAPE + at[N_DIMS]; }

static void describe_elements(const dt_tensor *tensor, int64_t *out) {
    int n = tensor->local_n_dims;
    out[OFFSET] = tensor->data ? dt__tensor_offset(tensor) : 0;
    out[N_DIMS] = n;
    for (int d = 0; d < n; d++) {
        out[SHAPE + d] = tensor->local_shape[d];
        out[SHAPE + n + d] = tensor->strides[d];
    }
}

static int64_t count_elements(const int64_t *at) {
    int64_t n = 1;
    for (int d = 0; d < at[N_DIMS]; d++)
        n *= shape_of(at)[d];
    return n;
}

/* The first and the last address, in elements of the storage; false without elements. */
static bool reach(const int64_t *at, int64_t *low, int64_t *high) {
    *low = *high = at[OFFSET];
    for (int d = 0; d < at[N_DIMS]; d++) {
        int64_t span = (shape_of(at)[d] - 1) * strides_of(at)[d];
        *(span < 0 ? low : high) += span;
    }
    return count_elements(at) > 0;
}

static bool may_overlap(const int64_t *a, const int64_t *b) {
    int64_t low[2], high[2];
    return reach(a, &low[0], &high[0]) && reach(b, &low[1], &high[1]) && low[0] <= high[1] && low[1] <= high[0];
}

/* A recorded write. */
typedef struct shared_write {
    struct shared_write *next;
    dt__recorded_call *record; /* holds a reference */
    uint16_t output;
    bool is_detached;
    dt_dtype dtype;
    uint64_t version; /* of the storage after it */
    int64_t at[MAX_NUMBERS];
} shared_write;

/* What dt__storage.writes points to. */
typedef struct shared_writes {
    dt__storage_writes head;
    shared_write *first; /* the oldest */
} shared_writes;

static void remove_write(dt_ctx *ctx, shared_write **link) {
    shared_write *write = *link;
    *link = write->next;
    dt__record_release(&write->record->head);
    dt__owned_free(ctx, write);
}

/* The storage may be freed with the last record. */
static void free_writes(dt__storage *storage) {
    dt_ctx *ctx = storage->ctx;
    shared_writes *writes = (shared_writes *)storage->writes;
    storage->writes = NULL;
    while (writes->first)
        remove_write(ctx, &writes->first);
    dt__owned_free(ctx, writes);
}

/* Whether everything that an older write changed was overwritten: through the same handle, whose record was `before`,
 * or as the addresses show. Addresses of distributed tensors are not compared: they differ between ranks, which would
 * then record different calls. */
static bool covers(const shared_write *newer, const shared_write *older, const dt_tensor *tensor,
                   const dt__previous_record *before) {
    const dt__storage *storage = tensor->storage;
    int64_t low, high, elements = (int64_t)(storage->bytes / dt_dtype_size(newer->dtype));
    if (newer->is_detached != older->is_detached)
        return false;
    if (tensor->spec)
        return before->record == &older->record->head && before->output == older->output;
    bool all = reach(newer->at, &low, &high) && count_elements(newer->at) == elements && high - low + 1 == elements;
    return all || (newer->dtype == older->dtype && newer->at[N_DIMS] == older->at[N_DIMS] &&
                   !memcmp(newer->at, older->at, (size_t)n_numbers(newer->at) * sizeof *newer->at));
}

/* Whether a write affects a handle. */
static bool is_behind(const dt_tensor *tensor, const shared_write *write, const int64_t *at) {
    const dt__recorded_call *record = dt__recorded_call_of(tensor);
    bool knows = record && record->tensors[record->n_inputs + tensor->output].version >= write->version;
    return !knows && write->is_detached == !!(tensor->special & DT__DETACHED) &&
           (tensor->spec || may_overlap(at, write->at)); /* of a distributed tensor, addresses differ between ranks */
}

static bool concern(const dt_tensor *tensor) {
    int64_t at[MAX_NUMBERS];
    describe_elements(tensor, at);
    for (const shared_write *write = ((const shared_writes *)tensor->storage->writes)->first; write;
         write = write->next)
        if (is_behind(tensor, write, at))
            return true;
    return false;
}

/* The record of a tensor that a write changed. Its inputs: the tensor before the write, and the output of the write. */
static dt__recorded_call *new_overlay(dt_tensor *tensor, const shared_write *write, const int64_t *at) {
    dt_ctx *ctx = tensor->ctx;
    const dt__recorded_tensor *written = &write->record->tensors[write->record->n_inputs + write->output];
    int n_own = n_numbers(at), n_write = n_numbers(write->at), n_dims = tensor->spec ? 0 : tensor->n_dims;
    dt__recorded_call *record = dt__record_new(ctx, "overlay",
                                               sizeof *record + 3 * sizeof(dt__recorded_tensor) +
                                                   (size_t)(n_own + n_write + n_dims) * sizeof(int64_t));
    if (!record)
        return NULL;
    int64_t *numbers = (int64_t *)(record->tensors + 3), *sizes = numbers + n_own + n_write;
    record->site = write->record->site;
    record->n_inputs = 2;
    record->n_outputs = 1;
    record->n_numbers = n_own + n_write;
    record->numbers = numbers;
    memcpy(numbers, at, (size_t)n_own * sizeof *numbers);
    memcpy(numbers + n_own, write->at, (size_t)n_write * sizeof *numbers);
    for (int d = 0; d < n_dims; d++)
        sizes[d] = tensor->shape[d];
    for (int i = 0; i < 3; i += 2) {
        record->tensors[i] = (dt__recorded_tensor){.spec = dt_spec_retain(tensor->spec),
                                                   .sizes = sizes,
                                                   .version = tensor->storage->version,
                                                   .n_dims = (int16_t)tensor->n_dims,
                                                   .dtype = tensor->dtype};
    }
    record->tensors[0].made_by = dt__recorded_call_of(tensor); /* whose reference it takes */
    record->tensors[0].output = tensor->output;
    record->tensors[1] = (dt__recorded_tensor){.made_by = write->record,
                                               .output = write->output,
                                               .spec = dt_spec_retain(written->spec),
                                               .sizes = written->sizes,
                                               .version = write->version,
                                               .n_dims = written->n_dims,
                                               .dtype = written->dtype};
    write->record->head.n_refs++;
    return record;
}

static dt_status refresh(dt_tensor *tensor) {
    int64_t at[MAX_NUMBERS];
    uint64_t version = tensor->storage->version;
    describe_elements(tensor, at);
    dt__recorded_call *made = NULL;
    for (const shared_write *write = ((shared_writes *)tensor->storage->writes)->first; write; write = write->next) {
        if (!is_behind(tensor, write, at))
            continue;
        if (write->dtype != tensor->dtype)
            return dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED,
                            "a view of another dtype was written to: expected %s, got %s",
                            dt_dtype_name(tensor->dtype), dt_dtype_name(write->dtype));
        if (!(made = new_overlay(tensor, write, at)))
            return dt_error_status(tensor->ctx);
        made->tensors[2].version = write->version; /* so that it is older than the next one */
        tensor->record = &made->head;
        tensor->output = 0;
    }
    if (made)
        made->tensors[2].version = version;
    return DT_OK;
}

static dt_status apply(dt_tensor *tensor) { return dt__is_inexact(tensor->dtype) ? refresh(tensor) : DT_OK; }

dt_status dt__shared_write_add(dt__recorded_call *record, int output, const dt_tensor *tensor,
                               const dt__previous_record *before) {
    dt__storage *storage = tensor->storage;
    dt_ctx *ctx = record->ctx;
    shared_writes *writes = (shared_writes *)storage->writes;
    if (storage->n_refs - storage->n_saved <= 1) { /* no other handle */
        if (writes)
            free_writes(storage);
        return DT_OK;
    }
    if (!writes) {
        if (!(writes = dt__owned_new(ctx, sizeof *writes, "writes to a storage")))
            return dt_error_status(ctx);
        writes->head = (dt__storage_writes){free_writes, concern, apply};
        storage->writes = &writes->head;
    }
    shared_write *write = dt__owned_new(ctx, sizeof *write, "writes to a storage");
    if (!write)
        return dt_error_status(ctx);
    *write = (shared_write){.record = record,
                            .output = (uint16_t)output,
                            .is_detached = tensor->special & DT__DETACHED,
                            .dtype = tensor->dtype,
                            .version = storage->version};
    describe_elements(tensor, write->at);
    record->head.n_refs++;
    shared_write **link = &writes->first;
    while (*link)
        if (covers(write, *link, tensor, before))
            remove_write(ctx, link);
        else
            link = &(*link)->next;
    *link = write;
    return DT_OK;
}

/* Adds the elements of an array to the buffer at their addresses. Elements that share an address are consecutive. */
static void add_elements(dt_dtype dtype, unsigned char *buffer, const unsigned char *from, const int64_t *strides,
                         const int64_t *at) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, n = count_elements(at), item = (int64_t)dt_dtype_size(dtype);
    int parts = dt__is_complex(dtype) ? 2 : 1;
    dt_dtype part = dtype == DT_C64 ? DT_F32 : dtype == DT_C128 ? DT_F64 : dtype;
    for (int64_t i = 0; i < n; i++) {
        int64_t to = at[OFFSET], source = 0;
        for (int d = 0; d < at[N_DIMS]; d++) {
            to += index[d] * strides_of(at)[d];
            source += index[d] * strides[d];
        }
        for (int p = 0; p < parts; p++) {
            unsigned char *sum = buffer + to * item + p * (item / parts);
            dt__write_f64(
                part, dt__read_f64(part, sum) + dt__read_f64(part, from + source * item + p * (item / parts)), sum);
        }
        for (int d = (int)at[N_DIMS] - 1; d >= 0 && ++index[d] == shape_of(at)[d]; d--)
            index[d] = 0;
    }
}

/* Whether no two elements can have one address: each stride is larger than what the smaller ones reach. */
static bool is_injective(const int64_t *at) {
    int n = (int)at[N_DIMS];
    bool used[DT_SPEC_MAX_DIMS] = {false};
    int64_t span = 0;
    for (int k = 0; k < n; k++) {
        int least = -1;
        for (int d = 0; d < n; d++)
            if (!used[d] && shape_of(at)[d] > 1 &&
                (least < 0 || llabs(strides_of(at)[d]) < llabs(strides_of(at)[least])))
                least = d;
        if (least < 0)
            return true;
        used[least] = true;
        if (llabs(strides_of(at)[least]) <= span)
            return false;
        span += (shape_of(at)[least] - 1) * llabs(strides_of(at)[least]);
    }
    return true;
}

/* The elements of `from` at the addresses of `to`, zeros where it has none, through a buffer that spans both. */
static dt_status copy_overlap(dt_tensor *grad, const int64_t *from, const int64_t *to, dt_tensor *out) {
    dt_ctx *ctx = grad->ctx;
    int64_t low[2], high[2], size = (int64_t)dt_dtype_size(grad->dtype);
    bool some = reach(from, &low[0], &high[0]);
    if (!reach(to, &low[1], &high[1]))
        return DT_OK;
    int64_t first = some && low[0] < low[1] ? low[0] : low[1], last = some && high[0] > high[1] ? high[0] : high[1];
    int64_t n = last - first + 1;
    dt_tensor *buffer = dt__tensor_new(ctx, "backward", grad->dtype, 1, &n);
    if (!buffer)
        return dt_error_status(ctx);
    unsigned char *base = buffer->data - first * size;
    dt__spread_fill(dt__kernels_of(ctx), dt__pool_of(ctx), buffer->data, (unsigned char[16]){0}, (size_t)size, n);
    if (some && is_injective(from))
        dt__spread_copy(dt__kernels_of(ctx), dt__pool_of(ctx),
                        &(dt__strided){base + from[OFFSET] * size, grad->data, (size_t)size, (int)from[N_DIMS],
                                       shape_of(from), strides_of(from), grad->strides},
                        DT__CACHED);
    else if (some)
        add_elements(grad->dtype, base, grad->data, grad->strides, from);
    dt__spread_copy(dt__kernels_of(ctx), dt__pool_of(ctx),
                    &(dt__strided){out->data, base + to[OFFSET] * size, (size_t)size, (int)to[N_DIMS], shape_of(to),
                                   out->strides, strides_of(to)},
                    DT__CACHED);
    dt_drop(buffer);
    return DT_OK;
}

/* An uninitialized gradient of a recorded tensor, of any dtype. */
static dt_tensor *new_gradient(dt_ctx *ctx, const dt__recorded_tensor *of, dt_dtype dtype) {
    if (!of->spec)
        return dt__tensor_new(ctx, "backward", dtype, of->n_dims, of->sizes);
    dt_spec *spec = dt__gradient_spec(of->spec), *own = spec;
    if (spec && spec->dtype != dtype) {
        spec = dt_spec_new(own->mesh, &(dt_spec_desc){.dtype = dtype,
                                                      .n_dims = own->sharding.n_dims,
                                                      .shape = own->sharding.shape,
                                                      .n_placements = own->sharding.n_mesh_dims,
                                                      .placements = own->sharding.placements,
                                                      .stride_order = own->stride_order});
        dt_spec_release(own);
    }
    dt_tensor *tensor = spec ? dt__tensor_of_spec(spec) : NULL;
    dt_spec_release(spec);
    return tensor;
}

static dt_tensor *gradient_overlap(dt_tensor *grad, const int64_t *from, const int64_t *to,
                                   const dt__recorded_tensor *of) {
    dt_tensor *out = new_gradient(grad->ctx, of, grad->dtype);
    if (out && out->data && grad->data && copy_overlap(grad, from, to, out) != DT_OK) {
        dt_drop(out);
        return NULL;
    }
    if (out && out->data && !grad->data && dt__has_data(grad->ctx))
        dt__spread_fill(dt__kernels_of(grad->ctx), dt__pool_of(grad->ctx), out->data, (unsigned char[16]){0},
                        dt_dtype_size(out->dtype), dt_tensor_local_elements(out));
    int64_t numbers[2 * MAX_NUMBERS];
    int n = n_numbers(from), m = n_numbers(to);
    memcpy(numbers, from, (size_t)n * sizeof *numbers);
    memcpy(numbers + n, to, (size_t)m * sizeof *numbers);
    return dt__made_from("overlap", grad, out, n + m, numbers);
}

dt_tensor *dt__gradient_of_overlap(const dt__backward_call *call, int input, dt_tensor *grad) {
    const dt__recorded_call *record = call->record;
    const int64_t *from = record->numbers, *to = from + n_numbers(from);
    return gradient_overlap(grad, to, from, &record->tensors[input]);
}

/* Splits a gradient: the tensor as it was gets it without the written elements, the write gets those elements. */
dt_tensor *dt__gradient_of_overlay(const dt__backward_call *call, int input, dt_tensor *grad) {
    const dt__recorded_call *record = call->record;
    const int64_t *own = record->numbers, *write = own + n_numbers(own);
    if (input == 1)
        return gradient_overlap(grad, own, write, &record->tensors[1]);
    dt_tensor *ones = new_gradient(call->ctx, &record->tensors[1], DT_BOOL), *kept = NULL;
    if (ones && ones->data)
        memset(ones->data, 1, (size_t)dt_tensor_local_elements(ones));
    dt_tensor *mask = ones ? gradient_overlap(ones, write, own, &record->tensors[0]) : NULL;
    if (mask)
        kept = dt__gradient_mask(grad, mask);
    dt_drop(mask);
    dt_drop(ones);
    return kept;
}

dt_tensor *dt__gradient_of_as_strided(const dt__backward_call *call, int input, dt_tensor *grad) {
    const dt__recorded_call *record = call->record;
    const dt__recorded_tensor *to = &record->tensors[input];
    int64_t from[MAX_NUMBERS];
    int n = record->tensors[1].n_dims;
    from[OFFSET] = record->numbers[0];
    from[N_DIMS] = n;
    for (int d = 0; d < n; d++) {
        from[SHAPE + d] = record->tensors[1].sizes[d];
        from[SHAPE + n + d] = record->numbers[1 + d];
    }
    return gradient_overlap(grad, from, record->numbers + 1 + n, to);
}
