/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensors of a context, for the files of this folder.
 */
#ifndef DT_TENSOR_TENSOR_STATE_H
#define DT_TENSOR_TENSOR_STATE_H

#include "tensor/tensor.h"

/* A free object holds the pointer to the next one. */
struct dt__pooled {
    struct dt__pooled *next;
    int64_t n_refs; /* 0 */
};

typedef struct dt__object_pool {
    size_t object_bytes; /* a multiple of DT__CACHE_LINE, to which objects are aligned */
    struct dt__pooled *free;
    struct dt__pool_block *blocks;
    dt__freed_queue freed; /* of handles */
} dt__object_pool;

enum { DT__CACHE_LINE = 64 };

/* One open scope; the first one is the context itself. */
struct dt__scope {
    int64_t number; /* never reused */
    dt_tensor *newest;
    struct dt__used_copy *used_copies; /* that were made in it */
};

struct dt__tensor_state {
    bool has_data;
    dt_memory_kind new_kind; /* of storages that are allocated */
    const dt__kernels *kernels;
    dt__products *products; /* made on first use */
    dt__object_pool storage_pool, few_pool, many_pool;
    struct dt__scope *scopes;
    int64_t n_scopes;
    size_t capacity;   /* of scopes */
    int64_t n_begun;   /* scopes so far */
    int64_t copies_to; /* the depth of the scope to which those inside it hand their copies; 0: they free them */
    dt_tensor *others; /* handles in no scope */
    struct dt__owned *owned;
};

struct dt__owned {
    struct dt__owned *previous, *next;
    size_t bytes;
    max_align_t memory[];
};

/* A handle with one reference, the current scope's, and no spec; the caller sets storage, dtype, dims and strides. NULL
 * after an error. */
dt_tensor *dt__handle_new(dt_ctx *ctx, int n_dims);
/* Frees a handle without references, which is in no list; name and site: as dt__life_end. */
void dt__handle_free(dt_tensor *tensor, const char *name, const dt_site *site);

/* copied_views.c: refuses, with an agreed error, to write to a view of a copy. */
dt_status dt__refuse_write_to_copy(const dt_tensor *tensor, const char *op);

/* use_placement.c: frees the copies of a scope that ends, or hands them over. */
void dt__scope_end_copies(dt__tensor_state *state, int64_t depth);
/* The newest tensor of a scope that is no used copy; NULL: there is none. */
dt_tensor *dt__scope_newest_result(const struct dt__scope *scope);

/* scope.c: opens the context's own scope. */
bool dt__scopes_open(dt_ctx *ctx, dt__tensor_state *state);
/* The list of the handles of a scope; -1: of those in none. */
static inline dt_tensor **dt__scope_list(dt__tensor_state *state, int64_t depth) {
    return depth < 0 ? &state->others : &state->scopes[depth].newest;
}
/* Takes the handle out of its list. */
static inline void dt__scope_leave(dt__tensor_state *state, const dt_tensor *tensor) {
    if (tensor->previous)
        tensor->previous->next = tensor->next;
    else
        *dt__scope_list(state, tensor->scope) = tensor->next;
    if (tensor->next)
        tensor->next->previous = tensor->previous;
}
/* Puts the handle, which is in no list, into that of a scope. */
static inline void dt__scope_enter(dt__tensor_state *state, dt_tensor *tensor, int64_t depth) {
    dt_tensor **list = dt__scope_list(state, depth);
    tensor->scope = depth;
    tensor->previous = NULL;
    tensor->next = *list;
    if (*list)
        (*list)->previous = tensor;
    *list = tensor;
}

#endif
