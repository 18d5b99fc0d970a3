/* SPDX-License-Identifier: Apache-2.0
 *
 * The public layouts of dtensor/layout.h: handles that own a copy of a layout and belong to a context. Functions of
 * layout.h compute in an arena that is freed at the end of the call; only the result is kept.
 */
#include "base/lifetime.h"
#include "layout/layout.h"

#include <string.h>

struct dt_layout {
    dt__lifetime life;
    dt_ctx *ctx;
    int64_t n_refs;
    dt__arena arena; /* of the value and its text */
    dt__layout value;
    const char *text;
    dt_layout *older, *newer; /* live layouts of the context */
};

typedef struct layout_list {
    dt_layout *newest;
    dt__freed_queue freed;
} layout_list;

static void destroy_layout(layout_list *list, dt_layout *layout) {
    if (layout->newer)
        layout->newer->older = layout->older;
    else
        list->newest = layout->older;
    if (layout->older)
        layout->older->newer = layout->newer;
    dt__arena_free(&layout->arena);
    DT__LIFE_END(&list->freed, layout);
    dt__freed_trim(&list->freed, layout->ctx, sizeof *layout);
}

static void free_list(dt_ctx *ctx, void *state) {
    layout_list *list = state;
    while (list->newest)
        destroy_layout(list, list->newest);
    dt__freed_free(&list->freed, ctx, sizeof(dt_layout));
    dt__free(ctx, list, sizeof *list);
}

static layout_list *list_of(dt_ctx *ctx) {
    if (ctx->slots[DT__SLOT_LAYOUT].state)
        return ctx->slots[DT__SLOT_LAYOUT].state;
    layout_list *list = dt__alloc_zeroed(ctx, sizeof *list);
    if (!list) {
        dt__fail_memory(ctx, sizeof *list, "the context's layouts");
        return NULL;
    }
    ctx->slots[DT__SLOT_LAYOUT].state = list;
    ctx->slots[DT__SLOT_LAYOUT].free_state = free_list;
    return list;
}

static dt_status copy_value(dt_layout *layout, const dt__layout *value) {
    dt__text text = dt__text_new(layout->ctx);
    dt__layout_print(&text, value);
    dt_status status = dt__text_status(&text);
    layout->text = status == DT_OK ? dt__arena_copy_text(&layout->arena, dt__text_chars(&text)) : NULL;
    dt__text_free(&text);
    DT__TRY(dt__tuple_copy(&layout->arena, &value->shape, &layout->value.shape));
    DT__TRY(dt__tuple_copy(&layout->arena, &value->stride, &layout->value.stride));
    return layout->text ? DT_OK : DT_ERR_MEMORY;
}

/* A handle of a copy. */
static dt_layout *keep(dt_ctx *ctx, const dt__layout *value) {
    layout_list *list = list_of(ctx);
    dt_layout *layout = list ? dt__alloc_zeroed(ctx, sizeof *layout) : NULL;
    if (!layout) {
        if (list)
            dt__fail_memory(ctx, sizeof *layout, "a layout");
        return NULL;
    }
    dt__life_begin(&layout->life, ctx);
    layout->ctx = ctx;
    layout->n_refs = 1;
    layout->arena = dt__arena_new(ctx);
    if (copy_value(layout, value) != DT_OK) {
        dt__arena_free(&layout->arena);
        dt__free(ctx, layout, sizeof *layout);
        return NULL;
    }
    layout->older = list->newest;
    if (list->newest)
        list->newest->newer = layout;
    list->newest = layout;
    return layout;
}

/* A handle of what was computed in the arena, which is freed. */
static dt_layout *finish(dt__arena *arena, dt_status status, const dt__layout *value) {
    dt_layout *layout = status == DT_OK ? keep(arena->ctx, value) : NULL;
    dt__arena_free(arena);
    return layout;
}

static dt_status refuse_null(dt_ctx *ctx, const char *what) {
    return dt__fail(ctx, DT_ERR_VALUE, "%s is NULL", what);
}

dt_layout *dt_layout_parse_site(dt_ctx *ctx, const char *text, const dt_site *site) {
    DT__ENTER(ctx, "layout_parse", site);
    if (DT__REFUSAL() != DT_OK || !ctx)
        return NULL;
    dt__arena arena = dt__arena_new(ctx);
    dt__layout value = {0};
    dt_status status = text ? dt__layout_parse(&arena, text, &value) : refuse_null(ctx, "the text");
    return finish(&arena, status, &value);
}

/* Tuples of the program may be nested too deep. */
static dt_status new_value(dt__arena *arena, const dt_tuple *shape, const dt_tuple *stride, dt__layout *out) {
    if (!shape)
        return refuse_null(arena->ctx, "the shape");
    int depth = stride && stride->depth > shape->depth ? stride->depth : shape->depth;
    if (depth > DT_TUPLE_MAX_DEPTH)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "the tuple nests too deep: expected at most %d levels, got %d",
                        (int)DT_TUPLE_MAX_DEPTH, depth);
    return dt__layout_new(arena, shape, stride, out);
}

dt_layout *dt_layout_new_site(dt_ctx *ctx, const dt_tuple *shape, const dt_tuple *stride, const dt_site *site) {
    DT__ENTER(ctx, "layout_new", site);
    if (DT__REFUSAL() != DT_OK || !ctx)
        return NULL;
    dt__arena arena = dt__arena_new(ctx);
    dt__layout value = {0};
    dt_status status = new_value(&arena, shape, stride, &value);
    return finish(&arena, status, &value);
}

static dt_status flat_value(dt__arena *arena, const int64_t *shape, const int64_t *strides, int n, dt__layout *out) {
    if (n < 0)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "wrong number of modes: expected at least 0, got %d", n);
    if (n > 0 && !shape)
        return refuse_null(arena->ctx, "the shape");
    dt_tuple sizes, steps;
    DT__TRY(dt__tuple_ints(arena, shape, n, &sizes));
    if (strides)
        DT__TRY(dt__tuple_ints(arena, strides, n, &steps));
    return dt__layout_new(arena, &sizes, strides ? &steps : NULL, out);
}

dt_layout *dt_layout_from_shape_site(dt_ctx *ctx, const int64_t *shape, const int64_t *strides, int n,
                                     const dt_site *site) {
    DT__ENTER(ctx, "layout_from_shape", site);
    if (DT__REFUSAL() != DT_OK || !ctx)
        return NULL;
    dt__arena arena = dt__arena_new(ctx);
    dt__layout value = {0};
    dt_status status = flat_value(&arena, shape, strides, n, &value);
    return finish(&arena, status, &value);
}

dt_ctx *dt_layout_ctx(const dt_layout *layout) { return layout ? layout->ctx : NULL; }

dt_layout *dt_layout_retain(dt_layout *layout) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (layout)
        layout->n_refs++;
    return layout;
}

void dt_layout_release_site(dt_layout *layout, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_release", site);
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (layout && --layout->n_refs == 0)
        destroy_layout(layout->ctx->slots[DT__SLOT_LAYOUT].state, layout);
}

const dt_tuple *dt_layout_shape(const dt_layout *layout) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    return layout ? &layout->value.shape : NULL;
}

const dt_tuple *dt_layout_stride(const dt_layout *layout) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    return layout ? &layout->value.stride : NULL;
}

const char *dt_layout_text(const dt_layout *layout) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    return layout ? layout->text : NULL;
}

bool dt_layout_equal(const dt_layout *a, const dt_layout *b) {
    a = DT__LIVE(DT__KIND_LAYOUT, a);
    b = DT__LIVE(DT__KIND_LAYOUT, b);
    return a == b || (a && b && dt__layout_equal(&a->value, &b->value));
}

int64_t dt_layout_size(const dt_layout *layout) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    return layout ? dt__layout_size(&layout->value) : 0;
}

int64_t dt_layout_cosize(const dt_layout *layout) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    return layout ? dt__layout_cosize(&layout->value) : 0;
}

int64_t dt_layout_at(const dt_layout *layout, int64_t index) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (!layout || index < 0 || index >= dt__layout_size(&layout->value))
        return -1;
    return dt__layout_at(&layout->value, index);
}

int64_t dt_layout_at_coordinate_site(const dt_layout *layout, const dt_tuple *coordinate, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_at_coordinate", site);
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (!layout)
        return -1;
    dt__arena arena = dt__arena_new(layout->ctx);
    int64_t value = -1;
    if (coordinate)
        (void)dt__layout_crd2idx(&arena, &layout->value, coordinate, &value);
    else
        refuse_null(layout->ctx, "the coordinate");
    dt__arena_free(&arena);
    return value;
}

bool dt_layout_coordinate_of(const dt_layout *layout, int64_t value, int64_t *out) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (!layout || value < 0)
        return false;
    dt__layout_digits(&layout->value, value, out);
    return true;
}

dt_status dt_layout_is_injective_site(const dt_layout *layout, bool *out, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_is_injective", site);
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (!layout)
        return DT_ERR_VALUE;
    dt__arena arena = dt__arena_new(layout->ctx);
    dt_status status = dt__layout_is_injective(&arena, &layout->value, out);
    dt__arena_free(&arena);
    return status;
}

typedef dt_status map_fn(dt__arena *arena, const dt__layout *layout, dt__layout *out);

static dt_layout *map_layout(const dt_layout *layout, map_fn *map) {
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (!layout)
        return NULL;
    dt__arena arena = dt__arena_new(layout->ctx);
    dt__layout value = {0};
    dt_status status = map(&arena, &layout->value, &value);
    return finish(&arena, status, &value);
}

dt_layout *dt_layout_coalesce_site(const dt_layout *layout, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_coalesce", site);
    return DT__REFUSAL() == DT_OK ? map_layout(layout, dt__layout_coalesce) : NULL;
}

dt_layout *dt_layout_flatten_site(const dt_layout *layout, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_flatten", site);
    return DT__REFUSAL() == DT_OK ? map_layout(layout, dt__layout_flatten) : NULL;
}

dt_layout *dt_layout_right_inverse_site(const dt_layout *layout, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_right_inverse", site);
    return DT__REFUSAL() == DT_OK ? map_layout(layout, dt__layout_right_inverse) : NULL;
}

dt_layout *dt_layout_left_inverse_site(const dt_layout *layout, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_left_inverse", site);
    return DT__REFUSAL() == DT_OK ? map_layout(layout, dt__layout_left_inverse) : NULL;
}

dt_layout *dt_layout_complement_site(const dt_layout *layout, int64_t size, const dt_site *site) {
    DT__ENTER(layout ? layout->ctx : NULL, "layout_complement", site);
    layout = DT__LIVE(DT__KIND_LAYOUT, layout);
    if (DT__REFUSAL() != DT_OK || !layout)
        return NULL;
    dt__arena arena = dt__arena_new(layout->ctx);
    dt__layout value = {0};
    dt_status status = dt__layout_complement(&arena, &layout->value, size, &value);
    return finish(&arena, status, &value);
}

dt_layout *dt_layout_composition_site(const dt_layout *a, const dt_layout *b, const dt_site *site) {
    DT__ENTER(a ? a->ctx : NULL, "layout_composition", site);
    a = DT__LIVE_ARGUMENT(DT__KIND_LAYOUT, a, 1);
    b = DT__LIVE_ARGUMENT(DT__KIND_LAYOUT, b, 2);
    if (DT__REFUSAL() != DT_OK || !a || !b)
        return NULL;
    if (a->ctx != b->ctx) {
        dt__fail(a->ctx, DT_ERR_STATE, "the layout %s belongs to another context than %s", b->text, a->text);
        return NULL;
    }
    dt__arena arena = dt__arena_new(a->ctx);
    dt__layout value = {0};
    dt_status status = dt__layout_composition(&arena, &a->value, &b->value, &value);
    return finish(&arena, status, &value);
}
