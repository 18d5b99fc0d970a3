/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensor as the folders below see it: a storage, which is counted memory, and a handle, which says how to read it.
 * Handles and storages come from pools of the context. Every live handle is in exactly one list: that of its scope, or
 * that of the handles which only counted references keep alive.
 */
#ifndef DT_TENSOR_TENSOR_H
#define DT_TENSOR_TENSOR_H

#include "comm/comm.h"
#include "dtensor/tensor.h"
#include "kernels/kernels.h"
#include "spec/spec.h"
#include "tensor/file_io.h"
#include "tensor/format.h"
#include "tensor/npy.h"
#include "tensor/view.h"
#include "tensor/zip.h"

/* Memory that tensors share. */
typedef struct dt__storage {
    dt_ctx *ctx;
    int64_t n_refs;
    unsigned char *data; /* NULL: of no bytes, or on a transport without data */
    size_t bytes;
    bool heap;        /* data is a block of the rank's heap */
    uint64_t version; /* counts the calls that changed the data */
    dt_free_fn *free_memory;
    void *user;
    struct dt__storage *previous, *next; /* all that live, or the pool */
} dt__storage;

struct dt_tensor {
    dt_ctx *ctx;
    int64_t n_refs;             /* the scope's included */
    int64_t scope;              /* depth of its scope; -1: in none */
    dt_tensor *previous, *next; /* of its list, or the pool */
    dt__storage *storage;       /* holds a reference */
    dt_spec *spec;              /* holds a reference; NULL: plain */
    unsigned char *data;        /* first element of the local part; NULL where the storage has none */
    dt_dtype dtype;
    int n_dims, local_n_dims;
    const int64_t *shape;       /* of the whole */
    const int64_t *local_shape; /* the same of a plain tensor */
    int64_t *strides;           /* of the local part, in elements */
    bool requires_grad;
    bool large;     /* has space for DT_SPEC_MAX_DIMS dims */
    int64_t dims[]; /* what the pointers above point to, unless that is in the spec */
};

typedef struct dt__tensor_state dt__tensor_state;
/* The context's, made on first use; NULL with the error recorded. */
dt__tensor_state *dt__tensor_state_of(dt_ctx *ctx);

/* Memory of objects that a caller may forget: it goes with the context, unless it is freed before. Zeroed; NULL with
 * the error recorded, for `what`. Free accepts NULL. */
void *dt__owned_new(dt_ctx *ctx, size_t bytes, const char *what);
void dt__owned_free(dt_ctx *ctx, void *memory);

/* Storage: one reference, which belongs to the caller. bytes of the heap; NULL with the error recorded. */
dt__storage *dt__storage_new(dt_ctx *ctx, size_t bytes);
/* Memory of somebody else's; on failure free_memory, unless NULL, has been called. */
dt__storage *dt__storage_adopt(dt_ctx *ctx, void *memory, size_t bytes, dt_free_fn *free_memory, void *user);
void dt__storage_drop(dt__storage *storage);

/* Where and how a handle reads its storage. */
typedef struct dt__reading {
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape;   /* copied */
    const int64_t *strides; /* copied; NULL: dense, row by row */
    int64_t offset;         /* element of the storage */
} dt__reading;

/* A plain handle on a storage, in the current scope. Takes a reference of its own. */
dt_tensor *dt__tensor_plain(dt__storage *storage, const dt__reading *how);
/* A plain handle on a new storage. The shape has been checked or not: its bytes are checked here, for `op`. */
dt_tensor *dt__tensor_new(dt_ctx *ctx, const char *op, dt_dtype dtype, int n_dims, const int64_t *shape);
/* A distributed handle on a new storage, dense as the spec says. Takes references of its own. */
dt_tensor *dt__tensor_of_spec(dt_spec *spec);
/* A distributed handle on a storage that holds this rank's part; strides NULL: dense as the spec says. */
dt_tensor *dt__tensor_wrap(dt_spec *spec, dt__storage *storage, int64_t offset, const int64_t *strides);
/* Another handle that reads the same as this one. */
dt_tensor *dt__tensor_alias(const dt_tensor *tensor);

/* Puts a handle that is in no scope, because its own has ended while it was retained, into the current scope. */
dt_tensor *dt__scope_take(dt_tensor *tensor);
/* The innermost open scope, whose depth is that of dt_tensor.scope; and whether a scope is still open. The context
 * must have tensors. */
typedef struct dt__scope_id {
    int64_t depth, number;
} dt__scope_id;
dt__scope_id dt__scope_current(const dt_ctx *ctx);
bool dt__scope_is_open(const dt_ctx *ctx, dt__scope_id scope);

static inline int64_t dt__tensor_offset(const dt_tensor *tensor) {
    return tensor->data ? (tensor->data - tensor->storage->data) / (int64_t)dt_dtype_size(tensor->dtype) : 0;
}

/* Whether this context's tensors have data at all: not on the fake transport. */
bool dt__has_data(const dt_ctx *ctx);
const dt__kernels *dt__kernels_of(const dt_ctx *ctx);
/* What matrix products need; NULL with the error recorded. */
dt__products *dt__products_of(dt_ctx *ctx);

/* Elements of a shape, or an agreed error that names the op: negative sizes, too many dims, too many bytes. */
dt_status dt__shape_check(dt_ctx *ctx, const char *op, dt_dtype dtype, int n_dims, const int64_t *shape,
                          int64_t *elements);
/* Row by row. */
void dt__row_strides(int n_dims, const int64_t *shape, int64_t *strides);
int64_t dt__elements(int n_dims, const int64_t *shape);
bool dt__is_dense(int n_dims, const int64_t *shape, const int64_t *strides);
/* An error, of a distributed tensor a local one, where two indices of the local part may lead to one element, so that
 * it cannot be written to. */
dt_status dt__refuse_repeats(const dt_tensor *tensor, const char *op);

/* Refuses a number that is no element of an integer dtype, once its fraction is cut off. */
dt_status dt__want_number(dt_ctx *ctx, const char *op, dt_dtype dtype, double value);

/* Reads "f32[3,4]"-like text of shape into a builder: for errors. */
const char *dt__shape_text(int n_dims, const int64_t *shape, size_t capacity, char *out);

/* Whether what takes part in an op belongs to its context; otherwise an agreed error: it could go before the result. */
bool dt__is_of(dt_ctx *ctx, const char *op, const char *what, const dt_ctx *its);

/* "argument N of OP is NULL", as an agreed error, unless one is recorded already. The context may be NULL. */
dt_tensor *dt__null_argument(dt_ctx *ctx, const char *op, int argument);

/* What the public makers do before there are values; order: dims from the slowest to the fastest in memory, or NULL. */
dt_tensor *dt__tensor_make(dt_ctx *ctx, const char *op, dt_shape shape, const dt_make_options *options,
                           const int *order);
/* Whether a maker is to put values into this rank's part, which is dense: not where there is no data, nor where the
 * part of a partial is to change nothing, which is then done. NULL: no. */
bool dt__wants_values(dt_tensor *tensor);

/* Whether this rank's part of a partial holds the value: it is first along every partial mesh dim. Otherwise it holds
 * what changes nothing (0, or the identity of product, min, max). */
bool dt__holds_value(const dt_spec *spec, dt_reduce *identity);

#endif
