/* SPDX-License-Identifier: Apache-2.0
 *
 * Use placements: a tensor is stored in one placement and used in another, like weights that are stored in shards and
 * gathered for a layer; it may be used in another dtype, too. The use placement belongs to the handle. The copy that an
 * op has moved there is kept for the next ops: in a list of the storage, where later ops find it and which a write
 * empties, and in a list of the scope, which frees it. dispatch/used_inputs.c decides which inputs an op sees in their
 * use placements.
 */
#include "tensor/tensor_state.h"

#include "base/dtype.h"

#include <string.h>

/* The elements of a tensor in another placement. */
struct dt__used_copy {
    struct dt__used_copy *next;          /* of the storage */
    struct dt__used_copy *newer, *older; /* of the scope */
    dt__storage *storage;                /* of the tensor */
    dt_tensor *copy;                     /* in the scope; its spec is the placement */
    dt_spec *spec;                       /* of the tensor: a reference */
    const unsigned char *data;           /* of the tensor */
    int64_t strides[];                   /* of the tensor */
};

static struct dt__scope *scope_of(const struct dt__used_copy *self) {
    dt__tensor_state *state = self->storage->ctx->slots[DT__SLOT_TENSOR].state;
    return &state->scopes[self->copy->scope];
}

static void free_copy(struct dt__used_copy *self) {
    struct dt__used_copy **link = &self->storage->used_copies;
    while (*link != self)
        link = &(*link)->next;
    *link = self->next;
    if (self->newer)
        self->newer->older = self->older;
    else
        scope_of(self)->used_copies = self->older;
    if (self->older)
        self->older->newer = self->newer;
    dt_drop(self->copy);
    dt_spec_release(self->spec);
    dt__owned_free(self->storage->ctx, self);
}

void dt__used_copies_free(dt__storage *storage) {
    while (storage->used_copies)
        free_copy(storage->used_copies);
}

static void free_copies(struct dt__scope *scope) {
    while (scope->used_copies)
        free_copy(scope->used_copies);
}

void dt__scope_end_copies(dt__tensor_state *state, int64_t depth) {
    struct dt__scope *scope = &state->scopes[depth], *to = &state->scopes[state->copies_to];
    if (!state->copies_to || depth <= state->copies_to) {
        free_copies(scope);
        return;
    }
    free_copies(to);
    to->used_copies = scope->used_copies;
    scope->used_copies = NULL;
    for (const struct dt__used_copy *at = to->used_copies; at; at = at->older) {
        dt__scope_leave(state, at->copy);
        dt__scope_enter(state, at->copy, state->copies_to);
    }
}

void dt__used_copies_end(dt_ctx *ctx) {
    dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    free_copies(&state->scopes[state->n_scopes - 1]);
}

/* Copies are mostly in the same order in both lists. */
dt_tensor *dt__scope_newest_result(const struct dt__scope *scope) {
    const struct dt__used_copy *at = scope->used_copies;
    for (dt_tensor *tensor = scope->newest; tensor; tensor = tensor->next) {
        if (!at || at->copy != tensor)
            for (at = scope->used_copies; at && at->copy != tensor;)
                at = at->older;
        if (!at)
            return tensor;
        at = at->older;
    }
    return NULL;
}

int64_t dt__used_copies_hand_over(dt_ctx *ctx) {
    dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    int64_t before = state->copies_to;
    state->copies_to = state->n_scopes - 1;
    return before;
}

void dt__used_copies_let(dt_ctx *ctx, int64_t before) {
    dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    state->copies_to = before;
}

static size_t strides_bytes(const dt_tensor *tensor) {
    return (size_t)tensor->local_n_dims * sizeof *tensor->strides;
}

dt_tensor *dt__used_copy_find(const dt_tensor *tensor, const dt_spec *use) {
    struct dt__used_copy *at = tensor->storage->used_copies;
    for (; at; at = at->next)
        if (at->copy->spec == use && at->spec == tensor->spec && at->data == tensor->data &&
            !memcmp(at->strides, tensor->strides, strides_bytes(tensor)))
            return at->copy;
    return NULL;
}

dt_status dt__used_copy_add(const dt_tensor *tensor, dt_tensor *copy) {
    struct dt__used_copy *self =
        dt__owned_new(tensor->ctx, sizeof *self + strides_bytes(tensor), "a tensor in its use placement");
    if (!self)
        return dt_error_status(tensor->ctx);
    *self = (struct dt__used_copy){.next = tensor->storage->used_copies,
                                   .storage = tensor->storage,
                                   .copy = copy,
                                   .spec = dt_spec_retain(tensor->spec),
                                   .data = tensor->data};
    memcpy(self->strides, tensor->strides, strides_bytes(tensor));
    tensor->storage->used_copies = self;
    dt__storage_set_kind(copy->storage, DT_MEMORY_SCRATCH);
    struct dt__scope *scope = scope_of(self);
    self->older = scope->used_copies;
    if (self->older)
        self->older->newer = self;
    scope->used_copies = self;
    return DT_OK;
}

void dt__set_use_spec(dt_tensor *tensor, dt_spec *use) {
    dt_spec *before = tensor->use;
    tensor->use = use && use != tensor->spec ? dt_spec_retain(use) : NULL;
    tensor->special = (uint8_t)(tensor->use ? tensor->special | DT__HAS_USE : tensor->special & ~DT__HAS_USE);
    dt_spec_release(before);
}

/* A value is never split into contributions: the use placement is partial only where the tensor is. */
static dt_status check_partials(const dt_spec *stored, const dt_spec *use) {
    for (int m = 0; m < use->sharding.n_mesh_dims; m++) {
        char text[2][64];
        const dt_placement *from = &stored->sharding.placements[m], *to = &use->sharding.placements[m];
        if (!dt_placement_is_partial(*to) || dt_placement_equal(from, to))
            continue;
        (void)dt_placements_text(1, from, sizeof text[0], text[0]);
        (void)dt_placements_text(1, to, sizeof text[1], text[1]);
        return dt__fail(stored->ctx, DT_ERR_PLACEMENT, "use: mesh dim %d: %s cannot be used as %s", m, text[0],
                        text[1]);
    }
    return DT_OK;
}

/* Gradients are converted back, so both dtypes must support them; and the sum of converted parts is a different
 * value. */
static dt_status check_dtypes(const dt_spec *stored, dt_dtype use) {
    if (!dt__is_inexact(stored->dtype) || !dt__is_inexact(use) ||
        dt__is_complex(stored->dtype) != dt__is_complex(use))
        return dt__fail(stored->ctx, DT_ERR_DTYPE,
                        "use: expected two real or two complex floating-point dtypes, got %s used as %s",
                        dt_dtype_name(stored->dtype), dt_dtype_name(use));
    for (int m = 0; m < stored->sharding.n_mesh_dims; m++)
        if (dt_placement_is_partial(stored->sharding.placements[m]))
            return dt__fail(stored->ctx, DT_ERR_PLACEMENT,
                            "use: mesh dim %d: a partial %s cannot be used as %s; dt_reduced reduces it first", m,
                            dt_dtype_name(stored->dtype), dt_dtype_name(use));
    return DT_OK;
}

/* The spec of a use placement; NULL after an error. */
static dt_spec *parse_use(const dt_spec *stored, const char *place) {
    dt__arena arena = dt__arena_new(stored->ctx);
    dt_dtype dtype = stored->dtype;
    dt__placement_list list;
    dt_placement *placements;
    dt_spec *use = NULL;
    int n;
    if (dt__use_parse(&arena, place, &dtype, &list) == DT_OK &&
        dt__placements_resolve_names(&arena, &list, stored->mesh, stored->sharding.placements, &n, &placements) ==
            DT_OK)
        use = dt_spec_new(stored->mesh, &(dt_spec_desc){.dtype = dtype,
                                                        .n_dims = stored->sharding.n_dims,
                                                        .shape = stored->sharding.shape,
                                                        .n_placements = n ? n : stored->sharding.n_mesh_dims,
                                                        .placements = n ? placements : stored->sharding.placements,
                                                        .stride_order = stored->stride_order});
    dt__arena_free(&arena);
    return use;
}

dt_status dt__set_use(dt_tensor *tensor, const char *place) {
    const dt_spec *spec = tensor->spec;
    if (!place) {
        dt__set_use_spec(tensor, NULL);
        return DT_OK;
    }
    if (!spec)
        return dt__fail(tensor->ctx, DT_ERR_PLACEMENT,
                        "use: expected a distributed tensor, got a plain one; distribute it first");
    dt_spec *use = parse_use(spec, place);
    dt_status status = use ? dt__set_use_checked(tensor, use) : dt_error_status(tensor->ctx);
    dt_spec_release(use);
    return status;
}

dt_status dt__set_use_checked(dt_tensor *tensor, dt_spec *use) {
    DT__TRY(check_partials(tensor->spec, use));
    if (use->dtype != tensor->spec->dtype)
        DT__TRY(check_dtypes(tensor->spec, use->dtype));
    dt__set_use_spec(tensor, use);
    return DT_OK;
}

dt_tensor *dt__with_use(dt_tensor *result, const char *place) {
    if (!result || !place || dt__set_use(result, place) == DT_OK)
        return result;
    dt_drop(result);
    return NULL;
}

dt_status dt_set_use_site(dt_tensor *tensor, const char *place, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "set_use", site);
    DT__TRY(DT__REFUSAL());
    if (!tensor)
        return DT_ERR_VALUE;
    DT__TRY(dt__note_tensor(tensor, &(dt__call_details){.text = place}));
    return dt__set_use(tensor, place);
}

dt_spec *dt_tensor_use(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor ? tensor->use : NULL;
}

dt_status dt_use_release_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "use_release", site);
    if (!tensor)
        return DT_ERR_VALUE;
    DT__TRY(dt__note_tensor(tensor, NULL));
    dt__used_copies_free(tensor->storage);
    return DT_OK;
}

void dt_as_stored_begin(dt_ctx *ctx) {
    if (ctx)
        ctx->as_stored++;
}

dt_status dt_as_stored_end_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "as_stored_end", site);
    if (!ctx)
        return DT_ERR_VALUE;
    if (!ctx->as_stored)
        return dt__fail(ctx, DT_ERR_STATE, "expected an open dt_as_stored_begin, got none");
    ctx->as_stored--;
    return DT_OK;
}
