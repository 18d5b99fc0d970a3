/* SPDX-License-Identifier: Apache-2.0
 *
 * Named scopes, and what is told to counts and traces.
 */
#include "dispatch/watch.h"

#include "dispatch/state.h"
#include "dtensor/debug.h"

#include <string.h>

static void moved(dt_ctx *ctx, const dt__moved *what) {
    const dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    dt__watching *self = state->watching;
    if (self->counts)
        dt__count_moved(ctx, self, what);
    dt__trace_moved(ctx, self, what);
}

dt__watching *dt__watching_of(dt_ctx *ctx) {
    dt__dispatch_state *state = dt__dispatch_state_of(ctx);
    if (!state || state->watching)
        return state ? state->watching : NULL;
    dt__watching *self = dt__alloc_zeroed(ctx, sizeof *self);
    if (!self)
        return (void)dt__fail_memory(ctx, sizeof *self, "counts and traces"), NULL;
    self->watch.moved = moved;
    self->arena = dt__arena_new(ctx);
    self->root.name = self->root.path = "";
    self->scope = &self->root;
    self->text = dt__text_new(ctx);
    return state->watching = self;
}

void dt__watching_update(dt_ctx *ctx, dt__watching *self) {
    ctx->watch = self->counts || dt__trace_runs(self) ? &self->watch : NULL;
}

void dt__watching_free(dt_ctx *ctx, dt__watching *self) {
    if (!self)
        return;
    dt__trace_free(ctx, self);
    ctx->watch = NULL;
    dt__arena_free(&self->arena);
    dt__text_free(&self->text);
    dt__free(ctx, self, sizeof *self);
}

static dt__scope_node *child_of(dt__watching *self, dt__scope_node *parent, const char *name) {
    dt__scope_node **link = &parent->first;
    for (; *link; link = &(*link)->next)
        if (!strcmp((*link)->name, name))
            return *link;
    size_t before = strlen(parent->path), n = strlen(name);
    dt__scope_node *node = DT__NEW(&self->arena, dt__scope_node);
    char *path = node ? DT__NEW_ARRAY(&self->arena, char, before + n + 2) : NULL;
    if (!path)
        return NULL;
    memcpy(path, parent->path, before);
    if (before)
        path[before++] = '/';
    memcpy(path + before, name, n + 1);
    *node = (dt__scope_node){.parent = parent, .name = path + before, .path = path};
    return *link = node;
}

dt_status dt_comm_scope_begin(dt_ctx *ctx, const char *name) {
    dt__watching *self = ctx ? dt__watching_of(ctx) : NULL;
    if (!self)
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    if (!name || !*name || strchr(name, '/'))
        return dt__fail(ctx, DT_ERR_VALUE, "comm_scope_push: '%s' is no name; wanted one without '/'",
                        name ? name : "");
    dt__scope_node *node = child_of(self, self->scope, name);
    if (!node)
        return dt_error_status(ctx);
    self->scope = node;
    dt__trace_scope(ctx, self, node->name, true);
    return DT_OK;
}

void dt_comm_scope_end(dt_ctx *ctx) {
    dt__dispatch_state *state = ctx ? ctx->slots[DT__SLOT_DISPATCH].state : NULL;
    dt__watching *self = state ? state->watching : NULL;
    if (!self || !self->scope->parent)
        return;
    dt__trace_scope(ctx, self, self->scope->name, false);
    self->scope = self->scope->parent;
}

void dt__add_json_string(dt__text *out, const char *chars) {
    dt__text_add(out, "\"");
    for (; *chars; chars++) {
        unsigned char c = (unsigned char)*chars;
        if (c == '"' || c == '\\')
            dt__text_add(out, "\\%c", c);
        else if (c < 0x20)
            dt__text_add(out, "\\u%04x", c);
        else
            dt__text_add_chars(out, chars, 1);
    }
    dt__text_add(out, "\"");
}
