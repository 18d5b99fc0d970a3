/* SPDX-License-Identifier: Apache-2.0
 *
 * Named scopes, and the observers that pass communication to counts and traces.
 */
#include "dispatch/monitor.h"

#include "dispatch/dispatch_state.h"
#include "dtensor/debug.h"

#include <string.h>

static void observe(dt_ctx *ctx, const dt__comm_event *event) {
    const dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    dt__monitor *self = state->monitor;
    if (self->counts)
        dt__count_event(self, event);
    if (self->report)
        dt__report_event(ctx, self, event);
    dt__trace_event(ctx, self, event);
}

/* What communication counts as: an op, or the call of the program. Collectives of comm.h count together, and a transfer
 * as the redistribution that it is. */
static const char *counted_as(const dt_ctx *ctx, const char *otherwise) {
    static const char *const together[] = {"comm_", "work_", "redistribute_start", "transfer_"};
    if (ctx->observer->op || ctx->call.depth == 0 || !ctx->call.name)
        return ctx->observer->op ? ctx->observer->op : otherwise;
    for (size_t i = 0; i < sizeof together / sizeof *together; i++)
        if (!strncmp(ctx->call.name, together[i], strlen(together[i])))
            return otherwise;
    return ctx->call.name;
}

static void observe_collective(dt_ctx *ctx, const dt__collective_report *report) {
    int64_t collectives[DT_N_COLLECTIVES] = {0};
    collectives[report->op] = 1;
    observe(ctx, &(dt__comm_event){.call = counted_as(ctx, "comm"),
                                   .collectives = collectives,
                                   .bytes = report->bytes,
                                   .begin_us = report->begin_us,
                                   .end_us = report->end_us});
}

static void observe_redistribution(dt_ctx *ctx, const dt__redistribution_report *report) {
    observe(ctx, &(dt__comm_event){.call = counted_as(ctx, "redistribute"),
                                   .collectives = report->collectives,
                                   .bytes = report->bytes,
                                   .redistribution = report,
                                   .begin_us = report->begin_us,
                                   .end_us = report->end_us});
}

void dt__observe_way(dt_ctx *ctx, const dt__way *way, int64_t bytes, double begin_us) {
    int64_t collectives[DT_N_COLLECTIVES] = {0};
    collectives[dt__collective_of_step(way->kind)] = 1;
    observe(ctx, &(dt__comm_event){.call = counted_as(ctx, "op"),
                                   .collectives = collectives,
                                   .bytes = bytes,
                                   .way = way,
                                   .begin_us = begin_us,
                                   .end_us = dt__clock_us(ctx)});
}

dt__monitor *dt__monitor_of(dt_ctx *ctx) {
    dt__dispatch_state *state = dt__dispatch_state_of(ctx);
    if (!state || state->monitor)
        return state ? state->monitor : NULL;
    dt__monitor *self = dt__alloc_zeroed(ctx, sizeof *self);
    if (!self)
        return (void)dt__fail_memory(ctx, sizeof *self, "counts and traces"), NULL;
    self->comm.collective = observe_collective;
    self->move.redistribution = observe_redistribution;
    self->arena = dt__arena_new(ctx);
    self->root.name = self->root.path = "";
    self->scope = &self->root;
    for (int i = 0; i < DT__N_TEXTS; i++)
        self->texts[i] = dt__text_new(ctx);
    return state->monitor = self;
}

dt__text *dt__returned_text_begin(dt__monitor *self, enum dt__returned_text which) {
    dt__text_clear(&self->texts[which]);
    return &self->texts[which];
}

const char *dt__returned_text_end(dt__text *text) {
    return dt__text_status(text) == DT_OK ? dt__text_chars(text) : NULL;
}

void dt__monitor_update(dt_ctx *ctx, dt__monitor *self) {
    bool observes = self->counts || self->report || self->ran || dt__trace_runs(self);
    ctx->notes_sites = ctx->estimate || self->report || dt__trace_runs(self);
    ctx->observer = observes ? &self->comm : NULL;
    ctx->move_observer = observes ? &self->move : NULL;
}

dt_status dt__observe_ops(dt_ctx *ctx, dt__op_ran *ran, void *user) {
    dt__monitor *self = dt__monitor_of(ctx);
    if (!self)
        return dt_error_status(ctx);
    self->ran = ran;
    self->ran_user = user;
    dt__monitor_update(ctx, self);
    return DT_OK;
}

void dt__monitor_free(dt_ctx *ctx, dt__monitor *self) {
    if (!self)
        return;
    dt__trace_free(ctx, self);
    ctx->observer = NULL;
    ctx->move_observer = NULL;
    dt__arena_free(&self->arena);
    for (int i = 0; i < DT__N_TEXTS; i++)
        dt__text_free(&self->texts[i]);
    dt__free(ctx, self, sizeof *self);
}

static dt__scope_node *child_of(dt__monitor *self, dt__scope_node *parent, const char *name) {
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

/* The scope of a path; NULL without memory. */
static dt__scope_node *scope_at(dt__monitor *self, const char *path) {
    dt__scope_node *node = &self->root;
    while (node && *path) {
        const size_t n = strcspn(path, "/");
        const char *name = dt__arena_copy_chars(&self->arena, path, n);
        node = name ? child_of(self, node, name) : NULL;
        path += n + (path[n] == '/');
    }
    return node;
}

dt_status dt__comm_stats_add(dt_ctx *ctx, const char *scope, const char *op,
                             const int64_t collectives[DT_N_COLLECTIVES], int64_t bytes) {
    dt__monitor *self = dt__monitor_of(ctx);
    dt__scope_node *node = self ? scope_at(self, scope) : NULL, *outer = self ? self->scope : NULL;
    if (!node)
        return dt_error_status(ctx);
    self->scope = node;
    dt__count_event(self, &(dt__comm_event){.call = op, .collectives = collectives, .bytes = bytes});
    self->scope = outer;
    return dt_error_status(ctx);
}

dt_status dt_comm_scope_begin_site(dt_ctx *ctx, const char *name, const dt_site *site) {
    DT__ENTER(ctx, "comm_scope_begin", site);
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    if (!name || !*name || strchr(name, '/'))
        return dt__fail(ctx, DT_ERR_VALUE, "expected a name without '/', got '%s'", name ? name : "");
    dt__scope_node *node = child_of(self, self->scope, name);
    if (!node)
        return dt_error_status(ctx);
    self->scope = node;
    dt__trace_scope(ctx, self, node->name, true);
    return DT_OK;
}

void dt_comm_scope_end(dt_ctx *ctx) {
    dt__dispatch_state *state = ctx ? ctx->slots[DT__SLOT_DISPATCH].state : NULL;
    dt__monitor *self = state ? state->monitor : NULL;
    if (!self || !self->scope->parent)
        return;
    dt__trace_scope(ctx, self, self->scope->name, false);
    self->scope = self->scope->parent;
}
