/* SPDX-License-Identifier: Apache-2.0
 *
 * The ops of a context: the library's, whose schema lines are parsed when they are first asked for, and those that the
 * program registers. Lives in the context's slot.
 */
#include "rules/op_registry.h"

#include "base/hash.h"
#include "rules/factors.h"

#include <string.h>

typedef struct registry {
    dt__arena arena;
    int n_infos, room;
    dt__op_info **infos; /* by index; NULL until the line is parsed */
    dt__map by_name;
} registry;

static uint64_t name_hash(const char *name) { return dt__hash(name, strlen(name), 0); }

static bool same_name(const void *value, const void *probe) {
    return !strcmp(((const dt__op_info *)value)->schema.name, probe);
}

static void free_registry(dt_ctx *ctx, void *state) {
    registry *self = state;
    dt__map_free(&self->by_name);
    dt__free(ctx, self->infos, (size_t)self->room * sizeof(*self->infos));
    dt__arena_free(&self->arena);
    dt__free(ctx, self, sizeof *self);
}

static registry *open_registry(dt_ctx *ctx) {
    registry *self = ctx->slots[DT__SLOT_OPS].state;
    if (self)
        return self;
    self = dt__alloc_zeroed(ctx, sizeof *self);
    dt__op_info **infos = self ? dt__alloc_zeroed(ctx, (size_t)dt__n_ops * sizeof *infos) : NULL;
    if (!infos) {
        dt__fail_memory(ctx, sizeof *self, "the table of ops");
        dt__free(ctx, self, sizeof *self);
        return NULL;
    }
    *self = (registry){.arena = dt__arena_new(ctx),
                       .n_infos = dt__n_ops,
                       .room = dt__n_ops,
                       .infos = infos,
                       .by_name = dt__map_new(ctx)};
    ctx->slots[DT__SLOT_OPS].state = self;
    ctx->slots[DT__SLOT_OPS].free_state = free_registry;
    return self;
}

/* Parses and checks the descriptor, and makes it known. */
static dt__op_info *learn(registry *self, const dt_op *op, int index) {
    dt__op_info *info = DT__NEW(&self->arena, dt__op_info);
    dt_ctx *ctx = self->arena.ctx;
    if (!info || dt__schema_parse(&self->arena, op->schema, &info->schema) != DT_OK)
        return NULL;
    if (dt__map_get(&self->by_name, name_hash(info->schema.name), same_name, info->schema.name)) {
        dt__fail(ctx, DT_ERR_VALUE, "there is an op '%s' already", info->schema.name);
        return NULL;
    }
    if (!op->shape) {
        dt__fail(ctx, DT_ERR_VALUE, "%s: the descriptor has no shape function", info->schema.name);
        return NULL;
    }
    if (op->rule && dt__factors_check(ctx, op->rule) != DT_OK)
        return NULL;
    info->op = op;
    info->index = index;
    return dt__map_add(&self->by_name, name_hash(info->schema.name), info) ? info : NULL;
}

const dt__op_info *dt__op_at(dt_ctx *ctx, int index) {
    registry *self = open_registry(ctx);
    if (!self)
        return NULL;
    if (index < 0 || index >= self->n_infos) {
        dt__fail(ctx, DT_ERR_OP, "there is no op number %d", index);
        return NULL;
    }
    if (!self->infos[index])
        self->infos[index] = learn(self, dt__op_table[index], index);
    return self->infos[index];
}

/* Whether the schema line is that of an op of this name. */
static bool is_named(const char *schema, const char *name) {
    size_t n = strlen(name);
    return !strncmp(schema, name, n) && (schema[n] == '(' || schema[n] == '.');
}

static const dt__op_info *look_up(dt_ctx *ctx, const char *name, bool *broken) {
    registry *self = open_registry(ctx);
    *broken = !self;
    const dt__op_info *known = self ? dt__map_get(&self->by_name, name_hash(name), same_name, name) : NULL;
    for (int i = 0; i < dt__n_ops && self && !known; i++)
        if (!self->infos[i] && is_named(dt__op_table[i]->schema, name)) {
            known = dt__op_at(ctx, i);
            *broken = !known;
            return known;
        }
    return known;
}

const dt__op_info *dt__op_find(dt_ctx *ctx, const char *name) {
    bool broken;
    const dt__op_info *known = look_up(ctx, name, &broken);
    if (!known && !broken)
        dt__fail(ctx, DT_ERR_OP, "there is no op '%.60s'", name);
    return known;
}

int dt__op_count(dt_ctx *ctx) {
    registry *self = open_registry(ctx);
    return self ? self->n_infos : 0;
}

static dt_status make_room(registry *self) {
    dt_ctx *ctx = self->arena.ctx;
    if (self->n_infos < self->room)
        return DT_OK;
    int room = self->room * 2 + 8;
    dt__op_info **infos =
        dt__resize(ctx, self->infos, (size_t)self->room * sizeof *infos, (size_t)room * sizeof *infos);
    if (!infos)
        return dt__fail_memory(ctx, (size_t)room * sizeof *infos, "the table of ops");
    self->infos = infos;
    self->room = room;
    return DT_OK;
}

/* Whether the name is free; a name of the library's that was not asked for yet becomes known on the way. */
static dt_status check_name(dt_ctx *ctx, const char *line) {
    dt__schema schema;
    bool broken = false;
    dt__arena scratch = dt__arena_new(ctx);
    dt_status status = dt__schema_parse(&scratch, line, &schema);
    if (status == DT_OK)
        look_up(ctx, schema.name, &broken);
    dt__arena_free(&scratch);
    return broken ? dt_error_status(ctx) : status;
}

dt_status dt_op_register(dt_ctx *ctx, const dt_op *op) {
    registry *self = open_registry(ctx);
    if (!self)
        return dt_error_status(ctx);
    DT__TRY(check_name(ctx, op->schema));
    DT__TRY(make_room(self));
    dt__op_info *info = learn(self, op, self->n_infos);
    if (!info)
        return dt_error_status(ctx);
    self->infos[self->n_infos++] = info;
    return DT_OK;
}
