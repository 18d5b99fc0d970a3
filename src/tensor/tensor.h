/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensor as other folders see it: a storage, which is reference-counted memory, and a handle, which describes how
 * to read it. Handles and storages come from pools of the context. Every handle is in exactly one list: that of its
 * scope, or that of the handles that only references keep alive. The headers included here belong to the interface of
 * this folder.
 */
#ifndef DT_TENSOR_TENSOR_H
#define DT_TENSOR_TENSOR_H

#include "base/recorder.h"
#include "comm/comm.h"
#include "dtensor/tensor.h"
#include "kernels/kernels.h"
#include "spec/spec.h"
#include "tensor/file_io.h"
#include "tensor/format.h"
#include "tensor/npy.h"
#include "tensor/view.h"
#include "tensor/zip.h"

struct dt__storage;
/* Recorded calls that wrote to a storage with several handles; only src/autograd knows the rest of the struct. It is
 * freed when only records refer to the storage. */
typedef struct dt__storage_writes {
    void (*free_writes)(struct dt__storage *storage);
    /* Whether writes through other handles have changed the tensor since its record was made. */
    bool (*concern)(const dt_tensor *tensor);
    /* Brings its record up to date. Memory. */
    dt_status (*apply)(dt_tensor *tensor);
} dt__storage_writes;

/* Memory that tensors share. */
typedef struct dt__storage {
    dt_ctx *ctx;
    int64_t n_refs;
    unsigned char *data; /* NULL: of no bytes, or on a transport without data */
    size_t bytes;
    uint64_t version;       /* counts the calls that changed the data */
    const char *changed_by; /* name and site of the last of them; NULL: none */
    const char *changed_file;
    int changed_line;
    bool heap;                         /* data is a block of the rank's heap */
    bool is_held;                      /* of a gradient to which later walks add (dt_backward) */
    bool is_tied_copy;                 /* of a parameter that has an original on another mesh (dt_param) */
    int64_t n_watchers;                /* copies that read `version`: the storage is kept for them without its data */
    struct dt__origin *origin;         /* copied_views.c: the origin of a copy for a view; or NULL */
    dt__storage_writes *writes;        /* NULL: none that a handle might not know of */
    int64_t n_saved;                   /* references that records hold */
    struct dt__used_copy *used_copies; /* use_placement.c: the data in other placements, for ops that read it */
    dt_free_fn *free_memory;
    void *user;
} dt__storage;

enum {
    DT__OF_COPY = 1,  /* the storage has an origin */
    DT__HAS_USE = 2,  /* `use` is not NULL */
    DT__DETACHED = 4, /* made by dt_detach, or a view of such a tensor, or made where nothing is recorded */
    DT__PERMUTED = 8, /* the dims are in another order in memory than row-major */
};

/* The first line of the cache is what dispatch checks, and what is written when the handle is freed. */
struct dt_tensor {
    dt__lifetime life;
    dt_ctx *ctx;
    int64_t n_refs;             /* including the scope's */
    int64_t scope;              /* depth of its scope; -1: in none */
    dt_tensor *previous, *next; /* of its list */
    dt__storage *storage;       /* holds a reference */
    dt_spec *spec;              /* holds a reference; NULL: plain */
    unsigned char *data;        /* first element of the local tensor; NULL where the storage has none */
    dt_dtype dtype;
    int n_dims, local_n_dims;
    bool large;                 /* has capacity for DT_SPEC_MAX_DIMS dims */
    uint8_t special;            /* what a call checks before it reads the tensor: DT__OF_COPY, … */
    uint16_t output;            /* of the record */
    dt__record *record;         /* holds a reference; NULL: requires no gradient */
    dt_spec *use;               /* holds a reference: the spec in which ops that only read it see it; NULL: `spec` */
    const int64_t *shape;       /* global */
    const int64_t *local_shape; /* of this rank; for a plain tensor, equal to `shape` */
    int64_t *strides;           /* of the local tensor, in elements */
    int64_t dims[];             /* what the pointers above point to, unless it is in the spec */
};

typedef struct dt__tensor_state dt__tensor_state;
/* The context's, made on first use; NULL after an error. */
dt__tensor_state *dt__tensor_state_of(dt_ctx *ctx);

/* Zeroed memory that is freed with the context, if not before. NULL after an error, which names the purpose. Free
 * accepts NULL. */
void *dt__owned_new(dt_ctx *ctx, size_t bytes, const char *purpose);
void dt__owned_free(dt_ctx *ctx, void *memory);

/* A storage on the heap, with one reference, which belongs to the caller; NULL after an error. */
dt__storage *dt__storage_new(dt_ctx *ctx, size_t bytes, bool is_distributed);
/* A storage on memory of the caller's; on failure free_memory, unless NULL, has been called. */
dt__storage *dt__storage_adopt(dt_ctx *ctx, void *memory, size_t bytes, dt_free_fn *free_memory, void *user);
void dt__storage_release(dt__storage *storage);
void dt__used_copies_free(dt__storage *storage);
/* The public call in progress, as one that changes data; */
typedef struct dt__data_change {
    const char *by, *file;
    int line;
} dt__data_change;
static inline dt__data_change dt__data_change_of(const dt_ctx *ctx) {
    const dt__public_call *call = &ctx->call;
    bool has_site = call->depth && call->site;
    return (dt__data_change){call->depth ? call->name : NULL, has_site ? call->site->file : NULL,
                             has_site ? call->site->line : 0};
}
/* and counts it in a storage whose data it has changed. */
static inline void dt__storage_set_changed(dt__storage *storage, const dt__data_change *change) {
    storage->version++;
    if (__builtin_expect(storage->used_copies != NULL, 0))
        dt__used_copies_free(storage);
    storage->changed_by = change->by;
    storage->changed_file = change->file;
    storage->changed_line = change->line;
}
static inline void dt__storage_changed(dt__storage *storage) {
    const dt__data_change change = dt__data_change_of(storage->ctx);
    dt__storage_set_changed(storage, &change);
}
/* " by fill_ (at FILE:LINE)" of the last change; "" where it is unknown. */
void dt__storage_change_text(const dt__storage *storage, char *out, size_t capacity);

/* copied_views.c: the result of a view op whose input had to move, or whose elements came from other ranks, is a view
 * of a copy. Notes that in its storage: it is not written to, and not read after `base` has changed. If the base is
 * such a copy itself, refers to the base's own origin. Memory. */
dt_status dt__copied_view_note(dt_tensor *view, dt__storage *base);
void dt__origin_free(dt__storage *storage);
/* An agreed error where the tensor is a view of a copy and its base has changed. Every function that reads values
 * checks it. */
dt_status dt__check_origin(const dt_tensor *tensor);
static inline dt_status dt__check_current(const dt_tensor *tensor) {
    return __builtin_expect(tensor->special & DT__OF_COPY, 0) ? dt__check_origin(tensor) : DT_OK;
}

/* Use placements (use_placement.c). Sets that of a tensor as dt_set_use does; place NULL: none. */
dt_status dt__set_use(dt_tensor *tensor, const char *place);
/* Sets a use placement by a spec on the mesh of the tensor, which is distributed and has the shape; refuses what
 * cannot be used so. */
dt_status dt__set_use_checked(dt_tensor *tensor, dt_spec *use);
/* Sets the use placement of the result of a call, which is dropped after an error; both may be NULL, which leaves the
 * result. */
dt_tensor *dt__with_use(dt_tensor *result, const char *place);
/* Sets a use placement by a spec that has the tensor's shape, dtype and mesh; the tensor's own spec, or NULL: none. */
void dt__set_use_spec(dt_tensor *tensor, dt_spec *use);
/* The tensor in another placement, as an op of an open scope has brought it there since the last write to its storage;
 * NULL: none has. */
dt_tensor *dt__used_copy_find(const dt_tensor *tensor, const dt_spec *use);
/* Frees the copies of the current scope. */
void dt__used_copies_end(dt_ctx *ctx);
/* Until dt__used_copies_let, a scope inside the current one hands its copies to the current one when it ends; they
 * replace the copies there. Returns what dt__used_copies_let restores. */
int64_t dt__used_copies_hand_over(dt_ctx *ctx);
void dt__used_copies_let(dt_ctx *ctx, int64_t before);
/* Keeps such a copy, which is in the current scope, until the scope ends or the storage is written to or released.
 * Memory. */
dt_status dt__used_copy_add(const dt_tensor *tensor, dt_tensor *copy);

/* A strided array in a storage. */
typedef struct dt__array_desc {
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape;   /* copied */
    const int64_t *strides; /* copied; NULL: dense, row-major */
    int64_t offset;         /* element of the storage */
} dt__array_desc;

/* A plain handle on a storage, in the current scope. Takes a reference. */
dt_tensor *dt__tensor_plain(dt__storage *storage, const dt__array_desc *desc);
/* A plain handle on a new storage of `bytes`, dense and row-major; the shape was checked. */
dt_tensor *dt__tensor_dense(dt_ctx *ctx, dt_dtype dtype, int n_dims, const int64_t *shape, size_t bytes);
/* A plain handle on a new dense storage; checks the shape, for `op`. */
dt_tensor *dt__tensor_new(dt_ctx *ctx, const char *op, dt_dtype dtype, int n_dims, const int64_t *shape);
/* A distributed handle on a new storage, dense in the stride order of the spec. */
dt_tensor *dt__tensor_of_spec(dt_spec *spec);
/* A distributed handle on a storage that holds this rank's local tensor; strides NULL: dense, as the spec. */
dt_tensor *dt__tensor_wrap(dt_spec *spec, dt__storage *storage, int64_t offset, const int64_t *strides);
/* Puts the dims of a new tensor, which is dense, in another order in memory: from the slowest to the fastest. */
void dt__tensor_set_order(dt_tensor *tensor, const int *order);
/* As dt_empty_like and dt_clone, for the library's own copies: not recorded. */
dt_tensor *dt__empty_like(const dt_tensor *tensor);
dt_tensor *dt__clone(const dt_tensor *tensor);
/* Another handle on the same elements. */
dt_tensor *dt__tensor_alias(const dt_tensor *tensor);
/* A new handle on the storage of another one is detached if that one is, or if nothing is recorded. */
static inline dt_tensor *dt__inherit_detached(dt_tensor *view, const dt_tensor *of) {
    if (view && __builtin_expect(of->special & DT__DETACHED || of->ctx->no_grad, 0))
        view->special |= DT__DETACHED;
    return view;
}

/* Reports a tensor that a public function other than an op made from another one to the recorder, with the numbers
 * among its arguments. Returns it, or NULL after an error; result may be NULL. */
dt_tensor *dt__report_made(const char *name, const dt_tensor *from, dt_tensor *result, dt_spec *grad_spec,
                           int n_numbers, const int64_t *numbers);
/* Whether the tensor requires a gradient, or will when writes through other handles are applied to its record. */
static inline bool dt__may_require_grad(const dt_tensor *tensor) { return tensor->record || tensor->storage->writes; }
static inline dt_tensor *dt__made_from(const char *name, const dt_tensor *from, dt_tensor *result, int n_numbers,
                                       const int64_t *numbers) {
    bool recorded = __builtin_expect(from->ctx->recorder != NULL, 0) && result && dt__may_require_grad(from);
    return recorded ? dt__report_made(name, from, result, NULL, n_numbers, numbers) : result;
}
/* Reports a result for which the caller stated the placements of the gradient. */
static inline dt_tensor *dt__made_with_grad(const char *name, const dt_tensor *from, dt_tensor *result,
                                            dt_spec *grad_spec) {
    bool recorded = __builtin_expect(from->ctx->recorder != NULL, 0) && result && dt__may_require_grad(from);
    return recorded ? dt__report_made(name, from, result, grad_spec, 0, NULL) : result;
}

/* Puts a handle that is in no scope, because its own has ended while it was retained, into the current scope. */
dt_tensor *dt__scope_take(dt_tensor *tensor);
/* The innermost open scope, whose depth is that of dt_tensor.scope; and whether a scope is still open. The context
 * must have tensors. */
typedef struct dt__scope_id {
    int64_t depth, number;
} dt__scope_id;
dt__scope_id dt__scope_current(const dt_ctx *ctx);
bool dt__scope_is_open(const dt_ctx *ctx, dt__scope_id scope);

/* noted_functions.c: adds the public call in progress, if it is the program's own, to the history of the spec's mesh,
 * and of that of `other`. Every rank of a mesh makes the same calls on its tensors; with DTENSOR_CHECK_CALLS it is an
 * error at once if they do not. */
typedef struct dt__call_details {
    const dt_spec *other; /* a second tensor, or NULL */
    dt_mesh *mesh;        /* a second mesh, without a second tensor, or NULL */
    const char *text;     /* an argument, or NULL */
    int n_values;         /* numbers; the first one is shown in errors */
    double values[3];
    uint64_t hash;                                     /* of further arguments, which `describe` adds to the text */
    void (*describe)(const void *arg, dt__text *text); /* "; mean=0; std=1"; or NULL */
    const void *describe_arg;
} dt__call_details;
dt_status dt__note_public_call(const dt_spec *spec, const dt__call_details *details);

/* replicas.c: a hash of this rank's values in logical order; 0 where there are none. */
dt_status dt__hash_values(const dt_tensor *tensor, uint64_t *out);
/* For the rank at position i of the mesh, with this coordinate: the position of the first rank that holds the same
 * values of a tensor with these placements. */
int64_t dt__first_replica(const dt_mesh *mesh, const dt_placement *placements, int64_t i, const int64_t *coordinate);
/* Compares those of the tensors that are on the mesh and replicated; an agreed error where replicas differ. Collective
 * over the mesh; every member passes the same tensors. The second form only with DTENSOR_CHECK_REPLICAS. */
dt_status dt__compare_replicas(dt_mesh *mesh, int n, dt_tensor *const *tensors);
static inline dt_status dt__check_replicas(dt_mesh *mesh, int n, dt_tensor *const *tensors) {
    return __builtin_expect(dt_mesh_ctx(mesh)->checks_replicas, false) ? dt__compare_replicas(mesh, n, tensors)
                                                                       : DT_OK;
}
/* Adds a call on a tensor to the history of its mesh; the tensor may be plain or NULL, and so may details. dt__noted
 * returns the tensor, or NULL after an error. */
static inline dt_status dt__note_tensor(const dt_tensor *tensor, const dt__call_details *details) {
    if (!tensor || dt__is_freed(&tensor->life) || !tensor->spec || !dt__call_is_noted(tensor->ctx))
        return DT_OK;
    return dt__note_public_call(tensor->spec, details);
}
/* A part of a call by name: an option of an optimizer, the position of a parameter. */
typedef struct dt__field {
    const char *name;
    double value;
    const char *text; /* instead of a value, or NULL */
} dt__field;
/* Adds the public call in progress, if it is the program's own, to the history of the spec's mesh, as one entry per
 * field. Ranks whose fields differ then get an error that shows the first such field with both values:
 * "optimizer_step(f32[8,6] R on mesh(dp=2); weight_decay=0.1)". The caller meets the other ranks
 * (dt__mesh_check_calls). */
void dt__note_fields(const dt_spec *spec, const dt__field *fields, int n);
static inline dt_tensor *dt__noted(dt_tensor *tensor, const dt__call_details *details) {
    return dt__note_tensor(tensor, details) == DT_OK ? tensor : NULL;
}
/* Adds a call that reads the tensor's values: with DTENSOR_CHECK_REPLICAS its replicas are compared. */
static inline dt_tensor *dt__noted_read(dt_tensor *tensor, const dt__call_details *details) {
    bool compares = tensor && !dt__is_freed(&tensor->life) && tensor->spec && dt__call_is_noted(tensor->ctx);
    if (dt__note_tensor(tensor, details) != DT_OK)
        return NULL;
    return !compares || dt__check_replicas(tensor->spec->mesh, 1, &tensor) == DT_OK ? tensor : NULL;
}

static inline int64_t dt__tensor_offset(const dt_tensor *tensor) {
    return tensor->data ? (tensor->data - tensor->storage->data) / (int64_t)dt_dtype_size(tensor->dtype) : 0;
}

/* The kind of memory of a storage, for statistics; and that of storages that are allocated from now on, which returns
 * the one before. The context has made tensors. */
void dt__storage_set_kind(const dt__storage *storage, dt_memory_kind kind);
dt_memory_kind dt__set_new_kind(dt_ctx *ctx, dt_memory_kind kind);

/* Whether this context's tensors have data: false on the fake transport. */
bool dt__has_data(const dt_ctx *ctx);
const dt__kernels *dt__kernels_of(const dt_ctx *ctx);
/* Workspace of matrix products; NULL after an error. */
dt__products *dt__products_of(dt_ctx *ctx);

/* Counts the elements of a shape; an agreed error of `op` for negative sizes, too many dims or too many bytes. */
dt_status dt__shape_check(dt_ctx *ctx, const char *op, dt_dtype dtype, int n_dims, const int64_t *shape,
                          int64_t *elements);
/* Row-major strides. */
void dt__row_strides(int n_dims, const int64_t *shape, int64_t *strides);
int64_t dt__elements(int n_dims, const int64_t *shape);
bool dt__is_dense(int n_dims, const int64_t *shape, const int64_t *strides);
/* An error where the tensor must not be written to: a view of a copy, or a tensor whose local tensor may have one
 * element at two indices. For a distributed tensor the latter is a local error. */
dt_status dt__check_writable(const dt_tensor *tensor, const char *op);

/* An agreed error of `op` for a number that, truncated, does not fit an integer dtype. */
dt_status dt__check_number(dt_ctx *ctx, const char *op, dt_dtype dtype, double value);

/* Writes "3,4" into out, truncated; returns out. */
const char *dt__shape_text(int n_dims, const int64_t *shape, size_t capacity, char *out);

/* Whether an argument of an op, called noun in the error, belongs to its context; otherwise an agreed error. */
bool dt__check_context(dt_ctx *ctx, const char *op, const char *noun, const dt_ctx *owner);

/* Records the agreed error "argument N of OP is NULL", unless there is one already; returns NULL. The context may be
 * NULL. */
dt_tensor *dt__null_argument(dt_ctx *ctx, const char *op, int argument);

/* A tensor of the options, without values; order: dims from the slowest to the fastest in memory, or NULL. */
dt_tensor *dt__tensor_make(dt_ctx *ctx, const char *op, dt_shape shape, const dt_make_options *options,
                           const int *order);
/* Whether a maker has to write values into the local tensor, which is dense. Not where there is no data, nor where the
 * local tensor of a partial holds the identity of the reduction, which is filled in here. False for NULL. */
bool dt__needs_values(dt_tensor *tensor);

/* This rank's shard of a dim, or all of it where spec is NULL: a plain tensor of that shape. The rank is in the mesh.
 */
void dt__local_shard(const dt_spec *spec, const int64_t *shape, int dim, dt__shard *out);
/* Fills a local tensor of two dims, dense and row-major: ones where first <= column - row <= last, zeros elsewhere. */
void dt__fill_band(dt_ctx *ctx, const dt__array *local, const dt_spec *spec, int64_t first, int64_t last);

/* Whether the local tensor of a partial holds the value: this rank's coordinate is 0 along every partial mesh dim.
 * Otherwise it holds the identity of the reduction. */
bool dt__holds_value(const dt_spec *spec, dt_reduce *identity);

/* Enters a public call on a tensor (base/ctx.h), which its errors then show. A freed tensor becomes NULL, with the
 * error recorded (base/lifetime.h); tensor may be NULL. */
void dt__tensor_describe(const void *tensor, char *out, size_t capacity);
#define DT__ENTER_TENSOR(tensor, name, site)                                                                         \
    DT__ENTER_ON(dt_tensor_ctx(tensor), name, site, tensor, dt__tensor_describe);                                    \
    (tensor) = DT__LIVE(DT__KIND_TENSOR, tensor)
/* Enters a call with the site of its options, which are converted in place (base/options.h). */
#define DT__ENTER_TENSOR_OPTIONS(tensor, name, options, size, full)                                                  \
    (options) = DT__OPTIONS(dt_tensor_ctx(tensor), name, options, size, full);                                       \
    DT__ENTER_TENSOR(tensor, name, (options) ? (options)->site : NULL)

#endif
