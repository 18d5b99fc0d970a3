/* SPDX-License-Identifier: Apache-2.0
 *
 * The ops of a context: a table of ops that is installed once, by src/ops, and those that the program registers.
 * Schema lines are parsed on first use. Everything is kept in the context's slot. A context without a table has no
 * ops: rules need none of the library's.
 */
#include "rules/rules.h"

#include "base/hash.h"
#include "base/near_miss.h"
#include "base/options.h"
#include "rules/absent_ops.h"
#include "rules/factors.h"
#include "rules/in_place_twin.h"
#include "rules/list_op.h"

#include <string.h>

typedef struct registry {
    dt__known_ops known; /* the first member: dt__op_at reads it */
    dt__arena arena;
    int n_table;
    const dt_op *const *table; /* the installed ops */
    int capacity;              /* of known.infos */
    dt__map by_name;
} registry;

static uint64_t name_hash(const char *name) { return dt__hash(name, strlen(name), 0); }

static bool same_name(const void *value, const void *probe) {
    return !strcmp(((const dt__op_info *)value)->schema.name, probe);
}

static void free_registry(dt_ctx *ctx, void *state) {
    registry *self = state;
    dt__map_free(&self->by_name);
    dt__free(ctx, self->known.infos, (size_t)self->capacity * sizeof(*self->known.infos));
    dt__arena_free(&self->arena);
    dt__free(ctx, self, sizeof *self);
}

static registry *registry_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_OPS].state; }

bool dt__op_is_registered(const dt_ctx *ctx, const dt__op_info *info) {
    return info->index >= registry_of(ctx)->n_table;
}

dt_status dt__op_table_install(dt_ctx *ctx, int n_ops, const dt_op *const *table) {
    if (registry_of(ctx))
        return DT_OK;
    registry *self = dt__alloc_zeroed(ctx, sizeof *self);
    dt__op_info **infos = self && n_ops ? dt__alloc_zeroed(ctx, (size_t)n_ops * sizeof *infos) : NULL;
    if (!self || (n_ops && !infos)) {
        dt__free(ctx, self, sizeof *self);
        return dt__fail_memory(ctx, sizeof *self, "the table of ops");
    }
    *self = (registry){.arena = dt__arena_new(ctx),
                       .n_table = n_ops,
                       .table = table,
                       .known = {n_ops, infos},
                       .capacity = n_ops,
                       .by_name = dt__map_new(ctx)};
    ctx->slots[DT__SLOT_OPS].state = self;
    ctx->slots[DT__SLOT_OPS].free_state = free_registry;
    return DT_OK;
}

static int find_param(const dt__signature *signature, const char *name, size_t n) {
    for (int p = 0; p < signature->n_params; p++)
        if (!strncmp(signature->params[p].name, name, n) && !signature->params[p].name[n])
            return p;
    return -1;
}

/* Sets the position of a parameter in each signature, -1 where it has none, `step` apart; refuses (value) a name that
 * no signature has, which is in this field of the descriptor. */
static dt_status resolve_param(dt_ctx *ctx, const dt__schema *schema, const char *field, const char *name, size_t n,
                               int step, signed char *positions) {
    bool exists = false;
    for (int s = 0; s < schema->n_signatures; s++) {
        int p = find_param(&schema->signatures[s], name, n);
        positions[s * step] = (signed char)p;
        exists |= p >= 0;
    }
    return exists ? DT_OK
                  : dt__fail(ctx, DT_ERR_VALUE, "%s: %s: no signature has an argument '%.*s'", schema->name, field,
                             (int)n, name);
}

/* Finds the arguments that the op's functions read. */
static dt_status resolve_arguments(dt__arena *arena, const char *names, dt__op_info *info) {
    int n = 1;
    for (const char *c = names; *c; c++)
        n += *c == ',';
    signed char *positions = DT__NEW_ARRAY(arena, signed char, n * info->schema.n_signatures);
    if (!positions)
        return DT_ERR_MEMORY;
    info->n_arguments = n;
    info->positions = positions;
    for (int a = 0; a < n; a++) {
        size_t length = strcspn(names, ",");
        DT__TRY(resolve_param(arena->ctx, &info->schema, "arguments", names, length, n, positions + a));
        names += length + 1;
    }
    return DT_OK;
}

/* Finds the argument that may be read from values. */
static dt_status resolve_read(dt__arena *arena, const dt_read *read, dt__op_info *info) {
    signed char *positions = DT__NEW_ARRAY(arena, signed char, info->schema.n_signatures);
    const char *name = read->argument ? read->argument : "";
    info->read = positions;
    return positions ? resolve_param(arena->ctx, &info->schema, "read", name, strlen(name), 1, positions)
                     : DT_ERR_MEMORY;
}

static bool is_named(const dt_op *op, const char *name);

/* For gradients: an op that is entered, that is in the table, or that is being entered. */
typedef struct known_ops {
    const registry *ops;
    const char *entered;
} known_ops;

static bool op_exists(const void *known, const char *name) {
    const known_ops *self = known;
    bool exists =
        !strcmp(self->entered, name) || dt__map_get(&self->ops->by_name, name_hash(name), same_name, name) != NULL;
    for (int i = 0; i < self->ops->n_table && !exists; i++)
        exists = is_named(self->ops->table[i], name);
    return exists;
}

/* Refuses marks for dims over which ranks meet without the functions to do so, and the reverse. */
static dt_status check_meet(dt_ctx *ctx, const dt_op *op, const char *name, unsigned flags) {
    const dt_meet *meet = op->meet;
    bool meets = flags & DT__ROW_STATES;
    if (meets && !meet)
        return dt__fail(
            ctx, DT_ERR_VALUE,
            "%s: the ranks meet (~) or scan (>) in the rule \"%s\": expected .meet in the descriptor, got none", name,
            op->rule);
    if (meet && (!meet->describe || !meet->begin || !meet->merge || !meet->finish))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: meet: expected describe, begin, merge and finish, got no %s", name,
                        !meet->describe ? "describe"
                        : !meet->begin  ? "begin"
                        : !meet->merge  ? "merge"
                                        : "finish");
    if (meet && !meets && !op->rows)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: the descriptor has .meet: expected a rule with ~ or > after a dim, got \"%s\"", name,
                        op->rule ? op->rule : "");
    return DT_OK;
}

/* Checks that a descriptor with a window has a rule that uses it, and the reverse. */
static dt_status check_window(dt_ctx *ctx, const dt_op *op, const char *name, unsigned flags) {
    if (flags & DT_ROW_WINDOW && !op->window)
        return dt__fail(
            ctx, DT_ERR_VALUE,
            "%s: the ranks fetch windows (^) in the rule \"%s\": expected .window in the descriptor, got none", name,
            op->rule);
    if (op->window && !(flags & DT_ROW_WINDOW) && !op->rows)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: the descriptor has .window: expected a rule with ^ after a dim, got \"%s\"", name,
                        op->rule ? op->rule : "");
    return DT_OK;
}

/* Parses and checks a descriptor, and enters its name. */
static dt__op_info *enter(registry *self, const dt_op *op, int index) {
    dt__op_info *info = DT__NEW(&self->arena, dt__op_info);
    dt_ctx *ctx = self->arena.ctx;
    if (!info || dt__schema_parse(&self->arena, op->schema, &info->schema) != DT_OK)
        return NULL;
    const char *name = info->schema.name;
    if (dt__map_get(&self->by_name, name_hash(name), same_name, name)) {
        dt__fail(ctx, DT_ERR_VALUE, "%s: an op of this name exists already", name);
        return NULL;
    }
    if (!op->shape && !(op->flags & DT_OP_LIST)) {
        dt__fail(ctx, DT_ERR_VALUE, "%s: the descriptor has no shape function", name);
        return NULL;
    }
    unsigned flags = 0;
    const char *read = op->read ? op->read->argument : NULL;
    if (op->rule && dt__factors_check(ctx, op->rule, &info->schema, read, &flags) != DT_OK)
        return NULL;
    if (check_meet(ctx, op, name, flags) != DT_OK || check_window(ctx, op, name, flags) != DT_OK)
        return NULL;
    if (op->arguments && resolve_arguments(&self->arena, op->arguments, info) != DT_OK)
        return NULL;
    known_ops known = {self, name};
    if (op->gradient && op->backward) {
        dt__fail(ctx, DT_ERR_VALUE, "%s: the descriptor has two gradients: expected formulas or a function", name);
        return NULL;
    }
    if (op->gradient &&
        dt__gradient_parse(&self->arena, &info->schema, op->gradient, op_exists, &known, &info->gradient) != DT_OK)
        return NULL;
    if (dt__saved_values_parse(&self->arena, op, &info->schema, &info->saves) != DT_OK)
        return NULL;
    if (dt__schema_set_varying(&self->arena, &info->schema, op->varying) != DT_OK)
        return NULL;
    info->op = op;
    info->index = index;
    if (op->read && resolve_read(&self->arena, op->read, info) != DT_OK)
        return NULL;
    info->is_simple =
        op->kernel && !op->class_of && !op->check && !op->read && !(op->flags & (DT_OP_LIST | DT__OP_ALIGN));
    if (op->flags & DT_OP_LIST && dt__list_op_resolve(&self->arena, info) != DT_OK)
        return NULL;
    return dt__map_add(&self->by_name, name_hash(name), info) ? info : NULL;
}

static const dt__op_info *look_up(registry *self, const char *name, bool *failed);

/* The descriptor of a twin from that of its op, which is entered first. One that is complete has a schema line. */
static const dt_op *complete(registry *self, const dt_op *op) {
    dt_ctx *ctx = self->arena.ctx;
    bool failed = false;
    if (!op->in_place_of || op->schema)
        return op;
    const char *schema = op->in_place_of->schema;
    char *name = dt__arena_copy_chars(&self->arena, schema, strcspn(schema, ".("));
    const dt__op_info *of = name ? look_up(self, name, &failed) : NULL;
    if (of)
        return dt__in_place_twin(&self->arena, op, of);
    if (name && !failed)
        dt__fail(ctx, DT_ERR_VALUE, "%s_: in_place_of: expected an op that is registered, got %s", name, name);
    return NULL;
}

const dt__op_info *dt__op_enter(dt_ctx *ctx, int index) {
    registry *self = registry_of(ctx);
    if (!self || index < 0 || index >= self->known.n) {
        dt__fail(ctx, DT_ERR_OP, "no op has index %d: expected one from 0 to %d", index, dt__op_count(ctx) - 1);
        return NULL;
    }
    if (!self->known.infos[index]) {
        const dt_op *op = complete(self, self->table[index]);
        self->known.infos[index] = op ? enter(self, op, index) : NULL;
    }
    return self->known.infos[index];
}

/* Whether the op has this name; that of a twin is its op's with an underscore. */
static bool is_named(const dt_op *op, const char *name) {
    size_t n = strlen(name);
    if (op->in_place_of && (!n || name[n - 1] != '_'))
        return false;
    const char *schema = op->in_place_of ? op->in_place_of->schema : op->schema;
    n -= op->in_place_of != NULL;
    return !strncmp(schema, name, n) && (schema[n] == '(' || schema[n] == '.');
}

/* NULL where the context has no such op, or, with *failed, where its descriptor could not be entered. */
static const dt__op_info *look_up(registry *self, const char *name, bool *failed) {
    *failed = false;
    const dt__op_info *known = dt__map_get(&self->by_name, name_hash(name), same_name, name);
    for (int i = 0; i < self->n_table && !known; i++)
        if (!self->known.infos[i] && is_named(self->table[i], name)) {
            known = dt__op_at(self->arena.ctx, i);
            *failed = !known;
            return known;
        }
    return known;
}

/* Records that there is no such op; with the nearest one that exists, unless PyTorch means another by the name. */
static void refuse_name(dt_ctx *ctx, const registry *self, const char *name) {
    const char *absent = dt__absent_op(name);
    if (absent) {
        dt__fail(ctx, DT_ERR_OP, "there is no op '%.60s': PyTorch's %s does not exist in dtensor yet", name, absent);
        return;
    }
    dt__near_miss near = dt__near_miss_new(name);
    for (int i = 0; self && i < self->known.n; i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        if (info)
            dt__near_miss_add(&near, info->schema.name, strlen(info->schema.name));
    }
    dt__fail(ctx, DT_ERR_OP, "there is no op '%.60s'%s", name, dt__near_miss_hint(&near));
}

const dt__op_info *dt__op_find(dt_ctx *ctx, const char *name) {
    registry *self = registry_of(ctx);
    bool failed = false;
    const dt__op_info *known = self ? look_up(self, name, &failed) : NULL;
    if (!known && !failed)
        refuse_name(ctx, self, name);
    return known;
}

int dt__op_count(dt_ctx *ctx) {
    const registry *self = registry_of(ctx);
    return self ? self->known.n : 0;
}

static dt_status grow(registry *self) {
    dt_ctx *ctx = self->arena.ctx;
    if (self->known.n < self->capacity)
        return DT_OK;
    int capacity = self->capacity * 2 + 8;
    dt__op_info **infos =
        dt__resize(ctx, self->known.infos, (size_t)self->capacity * sizeof *infos, (size_t)capacity * sizeof *infos);
    if (!infos)
        return dt__fail_memory(ctx, (size_t)capacity * sizeof *infos, "the table of ops");
    self->known.infos = infos;
    self->capacity = capacity;
    return DT_OK;
}

/* Enters an op of the table that has the name of the line, so that the name is found to be taken. */
static dt_status enter_namesake(registry *self, const char *line) {
    dt__schema schema;
    bool failed = false;
    dt__arena scratch = dt__arena_new(self->arena.ctx);
    dt_status status = dt__schema_parse(&scratch, line, &schema);
    if (status == DT_OK)
        look_up(self, schema.name, &failed);
    dt__arena_free(&scratch);
    return failed ? dt_error_status(self->arena.ctx) : status;
}

/* A descriptor of another version is converted into memory of the registry, which lives as long as the context. */
static const dt_op *read_op(registry *self, const dt_op *op, size_t op_size) {
    dt_op full, *copy;
    op = DT__STRUCT(self->arena.ctx, op, op_size, &full);
    if (op != &full)
        return op;
    if ((copy = DT__NEW(&self->arena, dt_op)))
        *copy = full;
    return copy;
}

dt_status dt__op_table_add(dt_ctx *ctx, const dt_op *op, size_t op_size) {
    DT__TRY(dt__op_table_install(ctx, 0, NULL));
    registry *self = registry_of(ctx);
    if (!(op = read_op(self, op, op_size)))
        return dt_error_status(ctx);
    if (!op->schema && !(op->in_place_of && op->in_place_of->schema))
        return dt__fail(ctx, DT_ERR_VALUE, "op_register: expected an op with a schema line, got none");
    if (!(op = complete(self, op)))
        return dt_error_status(ctx);
    DT__TRY(enter_namesake(self, op->schema));
    DT__TRY(grow(self));
    dt__op_info *info = enter(self, op, self->known.n);
    if (!info)
        return dt_error_status(ctx);
    self->known.infos[self->known.n++] = info;
    return DT_OK;
}

dt_status dt_op_register_sized(dt_ctx *ctx, const dt_op *op, size_t op_size, const dt_site *site) {
    DT__ENTER(ctx, "op_register", site);
    DT__TRY(DT__REFUSAL());
    DT__TRY(dt__library_ops_open(ctx));
    return dt__op_table_add(ctx, op, op_size);
}
