/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack in and out. What is lent holds a reference to the storage; what is borrowed is adopted memory whose free
 * function calls the lender's deleter.
 */
#include "dtensor/dlpack.h"

#include "base/size.h"
#include "tensor/tensor.h"

#include <string.h>

enum { HOST = 1, READ_ONLY = 1, MAJOR = 1, MINOR = 0 };

/* The structs are an interface of machine code. */
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

/* What is lent: one of the public structs, and what it points to. */
struct lent {
    union {
        dt_dlpack_managed plain;
        dt_dlpack_versioned versioned;
    } as;
    dt__storage *storage;
    int64_t dims[2 * DT_SPEC_MAX_DIMS]; /* shape and strides */
};

static void give_back(struct lent *lent) {
    dt_ctx *ctx = lent->storage->ctx;
    dt__storage_drop(lent->storage);
    dt__owned_free(ctx, lent);
}

static void delete_plain(dt_dlpack_managed *self) { give_back(self->manager); }
static void delete_versioned(dt_dlpack_versioned *self) { give_back(self->manager); }

static struct lent *lend(dt_tensor *tensor, const char *op) {
    dt_ctx *ctx = tensor->ctx;
    if (!dt__has_data(ctx)) {
        (void)dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: tensors have no data on the fake transport", op);
        return NULL;
    }
    struct lent *lent = dt__owned_new(ctx, sizeof *lent, "a lent tensor");
    if (!lent)
        return NULL;
    lent->storage = tensor->storage;
    lent->storage->n_refs++;
    return lent;
}

static dt_dlpack_tensor describe(struct lent *lent, const dt_tensor *tensor) {
    int n = tensor->local_n_dims;
    size_t bytes = (size_t)n * sizeof(int64_t);
    memcpy(lent->dims, tensor->local_shape, bytes);
    memcpy(lent->dims + n, tensor->strides, bytes);
    return (dt_dlpack_tensor){.data = tensor->data,
                              .device = {HOST, 0},
                              .n_dims = n,
                              .dtype = dtypes[tensor->dtype],
                              .shape = lent->dims,
                              .strides = lent->dims + n};
}

dt_dlpack_managed *dt_to_dlpack(dt_tensor *tensor) {
    struct lent *lent = tensor ? lend(tensor, "to_dlpack") : NULL;
    if (!lent)
        return NULL;
    lent->as.plain = (dt_dlpack_managed){describe(lent, tensor), lent, delete_plain};
    return &lent->as.plain;
}

dt_dlpack_versioned *dt_to_dlpack_versioned(dt_tensor *tensor) {
    struct lent *lent = tensor ? lend(tensor, "to_dlpack") : NULL;
    if (!lent)
        return NULL;
    lent->as.versioned = (dt_dlpack_versioned){MAJOR, MINOR, lent, delete_versioned, 0, describe(lent, tensor)};
    return &lent->as.versioned;
}

/* The dtype with these bits, or an agreed error. */
static dt_status find_dtype(dt_ctx *ctx, dt_dlpack_dtype asked, dt_dtype *out) {
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        if (memcmp(&dtypes[dtype], &asked, sizeof asked) == 0) {
            *out = (dt_dtype)dtype;
            return DT_OK;
        }
    return dt__fail(ctx, DT_ERR_DTYPE, "from_dlpack: there is no dtype for code %d with %d bits in %d lanes",
                    asked.code, asked.bits, asked.lanes);
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

/* Where the memory is and how it is read. */
struct found {
    dt__reading how;
    unsigned char *memory;
    size_t bytes;
};

static dt_status look(dt_ctx *ctx, const dt_dlpack_tensor *t, int64_t strides[DT_SPEC_MAX_DIMS], struct found *out) {
    dt_dtype dtype = DT_F32;
    int64_t n, low, high;
    if (t->device.type != HOST)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED,
                        "from_dlpack: the memory is on device type %d; only host memory, type 1, can be read",
                        t->device.type);
    DT__TRY(find_dtype(ctx, t->dtype, &dtype));
    DT__TRY(dt__shape_check(ctx, "from_dlpack", dtype, t->n_dims, t->shape, &n));
    if (t->strides)
        memcpy(strides, t->strides, (size_t)t->n_dims * sizeof *strides);
    else
        dt__row_strides(t->n_dims, t->shape, strides);
    if (n == 0) {
        *out = (struct found){.how = {dtype, t->n_dims, t->shape, strides, 0}};
        return DT_OK;
    }
    size_t size = dt_dtype_size(dtype);
    if (!t->data)
        return dt__fail(ctx, DT_ERR_VALUE, "from_dlpack: no memory for %lld elements", (long long)n);
    if (!reach(t, strides, &low, &high) || !dt__mul_size((size_t)high - (size_t)low + 1, size, &out->bytes) ||
        out->bytes > INT64_MAX)
        return dt__fail(ctx, DT_ERR_SHAPE, "from_dlpack: the strides reach further than can be counted");
    out->memory = (unsigned char *)t->data + t->byte_offset + low * (int64_t)size;
    out->how = (dt__reading){dtype, t->n_dims, t->shape, strides, -low};
    return DT_OK;
}

/* A tensor on the memory; free_memory is called with user when it goes, but not where this fails. */
static dt_tensor *borrow(dt_ctx *ctx, const dt_dlpack_tensor *t, dt_free_fn *free_memory, void *user) {
    int64_t strides[DT_SPEC_MAX_DIMS];
    struct found found = {0};
    if (look(ctx, t, strides, &found) != DT_OK)
        return NULL;
    dt__storage *storage = dt__storage_adopt(ctx, found.memory, found.bytes, NULL, NULL);
    dt_tensor *tensor = storage ? dt__tensor_plain(storage, &found.how) : NULL;
    if (tensor) {
        storage->free_memory = free_memory;
        storage->user = user;
    }
    dt__storage_drop(storage);
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

dt_tensor *dt_from_dlpack(dt_ctx *ctx, dt_dlpack_managed *managed) {
    if (!ctx || !managed)
        return dt__null_argument(ctx, "from_dlpack", 2);
    return borrow(ctx, &managed->tensor, free_plain, managed);
}

dt_tensor *dt_from_dlpack_versioned(dt_ctx *ctx, dt_dlpack_versioned *managed) {
    if (!ctx || !managed)
        return dt__null_argument(ctx, "from_dlpack", 2);
    if (managed->major != MAJOR) {
        (void)dt__fail(ctx, DT_ERR_UNSUPPORTED, "from_dlpack: version %u.%u; only version 1 is understood",
                       (unsigned)managed->major, (unsigned)managed->minor);
        return NULL;
    }
    if (!(managed->flags & READ_ONLY))
        return borrow(ctx, &managed->tensor, free_versioned, managed);
    dt_tensor *theirs = borrow(ctx, &managed->tensor, NULL, NULL), *copy = dt_clone(theirs);
    dt_drop(theirs);
    if (copy)
        free_versioned(managed, NULL);
    return copy;
}
