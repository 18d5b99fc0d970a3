/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack export and import. An exported tensor holds a reference to the storage; an imported one is adopted memory
 * whose free function calls the producer's deleter.
 */
#include "dtensor/dlpack.h"

#include "base/size.h"
#include "tensor/tensor.h"

#include <string.h>

enum { HOST = 1, READ_ONLY = 1, MAJOR = 1, MINOR = 0 };

/* The structs are a binary interface. */
_Static_assert(sizeof(dt_dlpack_tensor) == 48 && offsetof(dt_dlpack_tensor, dtype) == 20 &&
                   offsetof(dt_dlpack_tensor, shape) == 24 && offsetof(dt_dlpack_tensor, byte_offset) == 40,
               "DLTensor");
_Static_assert(sizeof(dt_dlpack_managed) == 64 && offsetof(dt_dlpack_managed, deleter) == 56, "DLManagedTensor");
_Static_assert(sizeof(dt_dlpack_versioned) == 80 && offsetof(dt_dlpack_versioned, tensor) == 32,
               "DLManagedTensorVersioned");

static const dt_dlpack_dtype dtypes[DT_N_DTYPES] = {
    [DT_F32] = {2, 32, 1}, [DT_F64] = {2, 64, 1}, [DT_F16] = {2, 16, 1}, [DT_BF16] = {4, 16, 1},
    [DT_I8] = {0, 8, 1},   [DT_I16] = {0, 16, 1}, [DT_I32] = {0, 32, 1}, [DT_I64] = {0, 64, 1},
    [DT_U8] = {1, 8, 1},   [DT_BOOL] = {6, 8, 1}, [DT_C64] = {5, 64, 1}, [DT_C128] = {5, 128, 1},
};

/* An exported tensor: one of the public structs, and what it points to. */
struct exported {
    union {
        dt_dlpack_managed plain;
        dt_dlpack_versioned versioned;
    } as;
    dt__storage *storage;
    int64_t dims[2 * DT_SPEC_MAX_DIMS]; /* shape and strides */
};

static void release_exported(struct exported *exported) {
    dt_ctx *ctx = exported->storage->ctx;
    dt__storage_release(exported->storage);
    dt__owned_free(ctx, exported);
}

static void delete_plain(dt_dlpack_managed *self) { release_exported(self->manager); }
static void delete_versioned(dt_dlpack_versioned *self) { release_exported(self->manager); }

static struct exported *export_tensor(dt_tensor *tensor, const char *op) {
    dt_ctx *ctx = tensor->ctx;
    if (!dt__has_data(ctx)) {
        (void)dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: tensors have no data on the fake transport", op);
        return NULL;
    }
    if (dt__check_current(tensor) != DT_OK)
        return NULL;
    struct exported *exported = dt__owned_new(ctx, sizeof *exported, "an exported tensor");
    if (!exported)
        return NULL;
    exported->storage = tensor->storage;
    exported->storage->n_refs++;
    return exported;
}

static dt_dlpack_tensor describe(struct exported *exported, const dt_tensor *tensor) {
    int n = tensor->local_n_dims;
    size_t bytes = (size_t)n * sizeof(int64_t);
    memcpy(exported->dims, tensor->local_shape, bytes);
    memcpy(exported->dims + n, tensor->strides, bytes);
    return (dt_dlpack_tensor){.data = tensor->data,
                              .device = {HOST, 0},
                              .n_dims = n,
                              .dtype = dtypes[tensor->dtype],
                              .shape = exported->dims,
                              .strides = exported->dims + n};
}

dt_dlpack_managed *dt_to_dlpack_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "to_dlpack", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    struct exported *exported = tensor ? export_tensor(tensor, "to_dlpack") : NULL;
    if (!exported)
        return NULL;
    exported->as.plain = (dt_dlpack_managed){describe(exported, tensor), exported, delete_plain};
    return &exported->as.plain;
}

dt_dlpack_versioned *dt_to_dlpack_versioned_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "to_dlpack_versioned", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    struct exported *exported = tensor ? export_tensor(tensor, "to_dlpack") : NULL;
    if (!exported)
        return NULL;
    exported->as.versioned =
        (dt_dlpack_versioned){MAJOR, MINOR, exported, delete_versioned, 0, describe(exported, tensor)};
    return &exported->as.versioned;
}

/* The dtype with these bits, or an agreed error. */
static dt_status find_dtype(dt_ctx *ctx, dt_dlpack_dtype requested, dt_dtype *out) {
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        if (memcmp(&dtypes[dtype], &requested, sizeof requested) == 0) {
            *out = (dt_dtype)dtype;
            return DT_OK;
        }
    return dt__fail(ctx, DT_ERR_DTYPE, "from_dlpack: unsupported dtype: code %d, %d bits, %d lanes", requested.code,
                    requested.bits, requested.lanes);
}

/* The elements that the strides reach, from the first one: low <= 0 <= high. */
static bool reach(const dt_dlpack_tensor *t, const int64_t *strides, int64_t *low, int64_t *high) {
    *low = *high = 0;
    for (int d = 0; d < t->n_dims; d++) {
        int64_t span;
        if (!dt__mul_i64(t->shape[d] - 1, strides[d], &span) ||
            !dt__add_i64(span < 0 ? *low : *high, span, span < 0 ? low : high))
            return false;
    }
    return true;
}

/* Imported memory. */
struct imported {
    dt__array_desc desc;
    unsigned char *memory;
    size_t bytes;
};

/* Sets the first byte that the strides reach; false if the memory is not within the addresses that there are. */
static bool find_memory(const dt_dlpack_tensor *t, int64_t low_bytes, struct imported *out) {
    uintptr_t data = (uintptr_t)t->data, below = (uintptr_t)-low_bytes, first;
    if (t->byte_offset > INT64_MAX || __builtin_add_overflow(data, t->byte_offset, &first) || first < below ||
        out->bytes > UINTPTR_MAX - (first - below))
        return false;
    out->memory = (unsigned char *)t->data + ((int64_t)t->byte_offset + low_bytes);
    return true;
}

static dt_status check_import(dt_ctx *ctx, const dt_dlpack_tensor *t, int64_t strides[DT_SPEC_MAX_DIMS],
                              struct imported *out) {
    dt_dtype dtype = DT_F32;
    int64_t n, low, high;
    if (t->device.type != HOST)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "from_dlpack: wrong device type: expected 1 (host), got %d",
                        t->device.type);
    DT__TRY(find_dtype(ctx, t->dtype, &dtype));
    DT__TRY(dt__shape_check(ctx, "from_dlpack", dtype, t->n_dims, t->shape, &n));
    if (t->strides)
        memcpy(strides, t->strides, (size_t)t->n_dims * sizeof *strides);
    else
        dt__row_strides(t->n_dims, t->shape, strides);
    for (int d = 0; d < t->n_dims;
         d++) /* a stride that no element uses may have any value, and views would multiply it */
        if (t->shape[d] <= 1 || n == 0)
            strides[d] = 1;
    if (n == 0) {
        *out = (struct imported){.desc = {dtype, t->n_dims, t->shape, strides, 0}};
        return DT_OK;
    }
    size_t size = dt_dtype_size(dtype);
    if (!t->data)
        return dt__fail(ctx, DT_ERR_VALUE, "from_dlpack: the memory of %lld elements is NULL", (long long)n);
    if (!reach(t, strides, &low, &high) || !dt__mul_size((size_t)high - (size_t)low + 1, size, &out->bytes) ||
        out->bytes > INT64_MAX)
        return dt__fail(ctx, DT_ERR_SHAPE, "from_dlpack: the strides span more than 2^63 - 1 bytes");
    if (!find_memory(t, low * (int64_t)size, out))
        return dt__fail(
            ctx, DT_ERR_SHAPE,
            "from_dlpack: the memory is outside the address space: byte_offset %llu, and strides that reach "
            "from %lld to %lld elements",
            (unsigned long long)t->byte_offset, (long long)low, (long long)high);
    out->desc = (dt__array_desc){dtype, t->n_dims, t->shape, strides, -low};
    return DT_OK;
}

/* A tensor on the memory; free_memory is called with user when its storage is freed, but not if this fails. */
static dt_tensor *import_tensor(dt_ctx *ctx, const dt_dlpack_tensor *t, dt_free_fn *free_memory, void *user) {
    int64_t strides[DT_SPEC_MAX_DIMS];
    struct imported imported = {0};
    if (check_import(ctx, t, strides, &imported) != DT_OK)
        return NULL;
    dt__storage *storage = dt__storage_adopt(ctx, imported.memory, imported.bytes, NULL, NULL);
    dt_tensor *tensor = storage ? dt__tensor_plain(storage, &imported.desc) : NULL;
    if (tensor) {
        storage->free_memory = free_memory;
        storage->user = user;
    }
    dt__storage_release(storage);
    return tensor;
}

static void free_plain(void *user, void *memory) {
    dt_dlpack_managed *managed = user;
    (void)memory;
    if (managed->deleter)
        managed->deleter(managed);
}

static void free_versioned(void *user, void *memory) {
    dt_dlpack_versioned *managed = user;
    (void)memory;
    if (managed->deleter)
        managed->deleter(managed);
}

dt_tensor *dt_from_dlpack_site(dt_ctx *ctx, dt_dlpack_managed *managed, const dt_site *site) {
    DT__ENTER(ctx, "from_dlpack", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    if (!ctx || !managed)
        return dt__null_argument(ctx, "from_dlpack", 2);
    return import_tensor(ctx, &managed->tensor, free_plain, managed);
}

dt_tensor *dt_from_dlpack_versioned_site(dt_ctx *ctx, dt_dlpack_versioned *managed, const dt_site *site) {
    DT__ENTER(ctx, "from_dlpack_versioned", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    if (!ctx || !managed)
        return dt__null_argument(ctx, "from_dlpack", 2);
    if (managed->major != MAJOR) {
        (void)dt__fail(ctx, DT_ERR_UNSUPPORTED, "from_dlpack: wrong version: expected 1, got %u.%u",
                       (unsigned)managed->major, (unsigned)managed->minor);
        return NULL;
    }
    if (!(managed->flags & READ_ONLY))
        return import_tensor(ctx, &managed->tensor, free_versioned, managed);
    dt_tensor *view = import_tensor(ctx, &managed->tensor, NULL, NULL), *copy = view ? dt__clone(view) : NULL;
    dt_drop(view);
    if (copy)
        free_versioned(managed, NULL);
    return copy;
}
