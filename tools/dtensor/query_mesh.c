/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests about layouts, meshes, shards and redistributions. `shard` and `redistribute` need sizes and placements
 * only, so no mesh and no spec are made: these are the requests that editors and test suites send by the ten thousand.
 */
#include "base/size.h"
#include "json.h"
#include "layout_operations.h"
#include "plan/plan.h"
#include "query.h"
#include "spec/spec.h"

#include <stdio.h>
#include <string.h>

/* A nested list of integers. Its depth is checked on the way down, so that a deep one costs little. */
static dt_status read_tuple(const request *req, const char *name, const json_t *value, int depth, dt_tuple *out) {
    if (!json_is_array(value)) {
        DT__TRY(request_int(req, name, value, 0, INT64_MAX, &out->value));
        *out = dt_tuple_int(out->value);
        return DT_OK;
    }
    if (depth == DT_TUPLE_MAX_DEPTH)
        return dt__fail(req->ctx, DT_ERR_FIELD, "field '%s': lists nest more than %d deep", name,
                        (int)DT_TUPLE_MAX_DEPTH);
    size_t n = json_array_size(value);
    dt_tuple *items = DT__NEW_ARRAY(req->arena, dt_tuple, n);
    if (!items)
        return DT_ERR_MEMORY;
    for (size_t i = 0; i < n; i++)
        DT__TRY(read_tuple(req, name, json_array_get(value, i), depth + 1, &items[i]));
    return dt__tuple_list(req->arena, items, (int64_t)n, out);
}

/* {"shape":…,"stride":…}; without a stride the row-major one is meant. */
static dt_status read_layout(const request *req, const char *name, dt__layout *out) {
    static const request_field allowed[] = {{"shape", true}, {"stride", false}, {0}};
    const json_t *value = request_get(req, name);
    if (!json_is_object(value))
        return request_wrong(req, name, "an object with shape and stride", value);
    request inner = {req->ctx, req->arena, value};
    DT__TRY(request_check_fields(&inner, name, allowed));
    const json_t *stride_json = request_get(&inner, "stride");
    char path[32];
    dt_tuple shape, stride;
    snprintf(path, sizeof path, "%s.shape", name);
    DT__TRY(read_tuple(req, path, request_get(&inner, "shape"), 0, &shape));
    snprintf(path, sizeof path, "%s.stride", name);
    if (stride_json)
        DT__TRY(read_tuple(req, path, stride_json, 0, &stride));
    return dt__layout_new(req->arena, &shape, stride_json ? &stride : NULL, out);
}

/* The operand besides `a`. */
static dt_status read_operand(const request *req, const layout_operation *operation, layout_value *out) {
    const json_t *value = operation->field ? request_get(req, operation->field) : NULL;
    out->is_layout = operation->operand == OPERAND_LAYOUT;
    switch (operation->operand) {
    case OPERAND_LAYOUT:
        return read_layout(req, operation->field, &out->layout);
    case OPERAND_NUMBER:
        return request_int(req, operation->field, value, 0, INT64_MAX, &out->tuple.value);
    case OPERAND_TUPLE:
        return read_tuple(req, operation->field, value, 0, &out->tuple);
    case OPERAND_NONE:
        break;
    }
    return DT_OK;
}

static dt_status answer_layout(const request *req, dt__text *out) {
    const char *name = NULL;
    DT__TRY(request_string(req, "do", request_get(req, "do"), &name));
    const layout_operation *operation = layout_operation_find(name, strlen(name));
    if (!operation)
        return dt__fail(req->ctx, DT_ERR_FIELD, "layout: unknown operation '%.60s'", name);
    const request_field allowed[] = {{"do", true}, {"a", true}, {operation->field, true}, {0}};
    dt__layout a;
    layout_value operand = {0}, result = {0};
    DT__TRY(request_check_fields(req, name, allowed));
    DT__TRY(read_layout(req, "a", &a));
    DT__TRY(read_operand(req, operation, &operand));
    DT__TRY(operation->compute(req->arena, &a, &operand, &result));
    json_t *answer =
        result.is_layout ? layout_json(&result.layout) : json_pack("{s:o}", "value", tuple_json(&result.tuple));
    return json_write(req->ctx, answer, JSON_COST_DIGITS, out);
}

const request_kind query_layout = {
    .q = "layout",
    .fields = {{"do", true}, {"a", true}, {"b", false}, {"size", false}, {"coord", false}, {"index", false}},
    .answer = answer_layout,
};

enum { MAX_STEPS = 1000 };

/* Applies a step to the mesh so far; its items are what follows the word. NULL with an error. */
typedef dt_mesh *step_fn(const request *req, dt_mesh *mesh, const json_t *step);

static const json_t *item(const json_t *step, size_t i) { return json_array_get(step, i + 1); }
static size_t n_items(const json_t *step) { return json_array_size(step) - 1; }

/* Names given as a list, or as the items of a step. */
static dt_status read_names(const request *req, const char *field, const json_t *list, size_t from, dt__names *out) {
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > DT_MESH_MAX_DIMS + from)
        return request_wrong(req, field, "a list of dim names", list);
    const char **names = DT__NEW_ARRAY(req->arena, const char *, n - from);
    if (!names)
        return DT_ERR_MEMORY;
    for (size_t i = from; i < n; i++)
        DT__TRY(request_string(req, field, json_array_get(list, i), &names[i - from]));
    *out = (dt__names){names, (int)(n - from)};
    return DT_OK;
}

static dt_mesh *slice(const request *req, dt_mesh *mesh, const json_t *step) {
    dt__names names;
    return read_names(req, "do", step, 1, &names) == DT_OK ? dt__mesh_slice(mesh, names) : NULL;
}

static dt_mesh *flatten(const request *req, dt_mesh *mesh, const json_t *step) {
    const char *name = NULL;
    if (n_items(step) > 0 && request_string(req, "do", item(step, 0), &name) != DT_OK)
        return NULL;
    return dt_mesh_flatten(mesh, name);
}

static dt_status read_mesh_dim(const request *req, const dt_mesh *mesh, const json_t *value, int *out) {
    if (json_is_string(value))
        return dt__mesh_find_dim(mesh, "unflatten", json_string_value(value), out);
    int64_t dim = 0, n_dims = dt_mesh_n_dims(mesh);
    DT__TRY(request_int(req, "do", value, -n_dims, n_dims - 1, &dim));
    *out = (int)(dim < 0 ? dim + n_dims : dim);
    return DT_OK;
}

static dt_mesh *unflatten(const request *req, dt_mesh *mesh, const json_t *step) {
    int dim = 0, n_sizes = 0;
    int64_t *sizes = NULL;
    dt__names names;
    if (read_mesh_dim(req, mesh, item(step, 0), &dim) != DT_OK ||
        request_ints(req, "do", item(step, 1), 1, DT__MESH_MAX_RANKS, &sizes, &n_sizes) != DT_OK ||
        read_names(req, "do", item(step, 2), 0, &names) != DT_OK)
        return NULL;
    return dt__mesh_unflatten(mesh, dim, sizes, n_sizes, names, NULL);
}

static dt_mesh *concatenate(const request *req, dt_mesh *mesh, const json_t *step) {
    size_t n = n_items(step);
    dt_mesh **slices = DT__NEW_ARRAY(req->arena, dt_mesh *, n);
    if (!slices)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        dt__names names;
        if (read_names(req, "do", item(step, i), 0, &names) != DT_OK)
            return NULL;
        slices[i] = dt__mesh_slice(mesh, names);
        if (!slices[i])
            return NULL;
    }
    return dt_mesh_concatenate(slices, (int)n);
}

static dt_mesh *root_of(const request *req, dt_mesh *mesh, const json_t *step) {
    (void)req;
    (void)step;
    return dt_mesh_root(mesh);
}

/* Steps, and the number of items that follow the word. */
static const struct step_kind {
    const char *word, *form;
    size_t min_items, max_items;
    step_fn *take;
} step_kinds[] = {
    {"slice", "[\"slice\",name,...]", 1, DT_MESH_MAX_DIMS, slice},
    {"flatten", "[\"flatten\",name?]", 0, 1, flatten},
    {"unflatten", "[\"unflatten\",dim,[sizes],[names]]", 3, 3, unflatten},
    {"concatenate", "[\"concatenate\",[names],[names],...]", 1, DT_MESH_MAX_DIMS, concatenate},
    {"root", "[\"root\"]", 0, 0, root_of},
};
enum { N_STEP_KINDS = sizeof step_kinds / sizeof *step_kinds };

static dt_mesh *take_step(const request *req, dt_mesh *mesh, const json_t *step) {
    const char *word = json_string_value(json_array_get(step, 0));
    if (!word) {
        request_wrong(req, "do", "a step such as [\"slice\",\"dp\"]", step);
        return NULL;
    }
    for (int i = 0; i < N_STEP_KINDS; i++) {
        const struct step_kind *kind = &step_kinds[i];
        if (strcmp(word, kind->word) != 0)
            continue;
        if (n_items(step) >= kind->min_items && n_items(step) <= kind->max_items)
            return kind->take(req, mesh, step);
        request_wrong(req, "do", kind->form, step);
        return NULL;
    }
    dt__fail(req->ctx, DT_ERR_FIELD, "field 'do': unknown step '%.60s'", word);
    return NULL;
}

static dt_status take_steps(const request *req, dt_mesh **mesh) {
    const json_t *steps = request_get(req, "do");
    if (steps && (!json_is_array(steps) || json_array_size(steps) > MAX_STEPS))
        return request_wrong(req, "do", "a list of at most 1000 steps", steps);
    for (size_t i = 0; i < json_array_size(steps); i++) {
        *mesh = take_step(req, *mesh, json_array_get(steps, i));
        if (!*mesh)
            return dt_error_status(req->ctx);
    }
    return DT_OK;
}

/* Ranks as nested lists: the shape from the first item at each level, then all of them in order. */
typedef struct rank_grid {
    int64_t shape[DT_MESH_MAX_DIMS];
    int n_dims;
    int64_t *ranks, n_ranks;
} rank_grid;

static dt_status measure_ranks(const request *req, const json_t *value, int64_t world, rank_grid *out) {
    int64_t n = 1;
    for (*out = (rank_grid){0}; json_is_array(value); value = json_array_get(value, 0)) {
        int64_t size = (int64_t)json_array_size(value);
        if (out->n_dims == DT_MESH_MAX_DIMS || size == 0 || size > world / n)
            return dt__fail(req->ctx, DT_ERR_MESH,
                            "field 'ranks': expected nested lists of up to %d dims with 1 to "
                            "%lld ranks",
                            (int)DT_MESH_MAX_DIMS, (long long)world);
        out->shape[out->n_dims++] = size;
        n *= size;
    }
    out->ranks = DT__NEW_ARRAY(req->arena, int64_t, n);
    return out->ranks ? DT_OK : DT_ERR_MEMORY;
}

static dt_status collect_ranks(const request *req, const json_t *value, int dim, int64_t world, rank_grid *grid) {
    if (dim == grid->n_dims)
        return request_int(req, "ranks", value, 0, world - 1, &grid->ranks[grid->n_ranks++]);
    if (!json_is_array(value) || (int64_t)json_array_size(value) != grid->shape[dim])
        return request_wrong(req, "ranks", "lists of equal lengths", value);
    for (size_t i = 0; i < json_array_size(value); i++)
        DT__TRY(collect_ranks(req, json_array_get(value, i), dim + 1, world, grid));
    return DT_OK;
}

static dt_status make_from_ranks(const request *req, dt__mesh_self self, dt__names names, dt_mesh **out) {
    const json_t *value = request_get(req, "ranks");
    rank_grid grid;
    if (!json_is_array(value))
        return request_wrong(req, "ranks", "nested lists of ranks", value);
    DT__TRY(measure_ranks(req, value, self.world, &grid));
    DT__TRY(collect_ranks(req, value, 0, self.world, &grid));
    *out = dt__mesh_from_ranks(req->ctx, self, grid.ranks, grid.shape, grid.n_dims, names, NULL);
    return dt_error_status(req->ctx);
}

static dt_status make_from_shape(const request *req, dt__mesh_self self, dt__names names, dt_mesh **out) {
    int64_t *shape = NULL;
    int n = 0;
    DT__TRY(request_ints(req, "shape", request_get(req, "shape"), 1, INT64_MAX, &shape, &n));
    *out = dt__mesh_from_shape(req->ctx, self, shape, n, names, NULL);
    return dt_error_status(req->ctx);
}

static dt_status make_mesh(const request *req, dt_mesh **out) {
    dt__mesh_self self = {0};
    dt__names names = {0};
    const json_t *named = request_get(req, "names");
    DT__TRY(request_int(req, "world", request_get(req, "world"), 1, DT__MESH_MAX_RANKS, &self.world));
    DT__TRY(request_int(req, "rank", request_get(req, "rank"), 0, self.world - 1, &self.rank));
    if (named && !json_is_null(named))
        DT__TRY(read_names(req, "names", named, 0, &names));
    if (!request_get(req, "shape") == !request_get(req, "ranks"))
        return dt__fail(req->ctx, DT_ERR_FIELD, "mesh: expected one of the fields 'shape' and 'ranks'");
    return (request_get(req, "ranks") ? make_from_ranks : make_from_shape)(req, self, names, out);
}

static dt_status answer_mesh(const request *req, dt__text *out) {
    dt_mesh *mesh = NULL;
    DT__TRY(make_mesh(req, &mesh));
    DT__TRY(take_steps(req, &mesh));
    json_t *answer = NULL;
    DT__TRY(mesh_json(req->arena, mesh, &answer));
    return json_write(req->ctx, answer, JSON_COST_DIGITS, out);
}

const request_kind query_mesh = {
    .q = "mesh",
    .fields = {{"world", true}, {"rank", true}, {"shape", false}, {"ranks", false}, {"names", false}, {"do", false}},
    .answer = answer_mesh,
};

static dt_status read_sharding(const request *req, dt_placement *placements, int n, dt__sharding *out) {
    dt__sharding_desc desc = {.n_placements = n, .placements = placements};
    int64_t *mesh = NULL, *shape = NULL;
    DT__TRY(request_sizes(req, "mesh", 1, &mesh, &desc.n_mesh_dims));
    DT__TRY(request_sizes(req, "shape", 0, &shape, &desc.n_dims));
    dt_placements_resolve(n, placements, desc.n_dims); /* the fields name dims from the first one */
    DT__TRY(request_order(req, "order", placements, n));
    DT__TRY(request_extents(req, "extents", placements, n));
    desc.mesh = mesh;
    desc.shape = shape;
    return dt__sharding_new(req->arena, &desc, out);
}

typedef struct shard_answer {
    dt_ctx *ctx;
    dt__sharding sharding;
} shard_answer;

static dt_status rank_json(void *user, int64_t rank, json_t **out) {
    const shard_answer *self = user;
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    dt__coordinate(self->sharding.n_mesh_dims, self->sharding.mesh, rank, coordinate);
    return local_json(self->ctx, &self->sharding, coordinate, rank, out);
}

static dt_status answer_shard(const request *req, dt__text *out) {
    shard_answer self = {.ctx = req->ctx};
    const char *text = NULL;
    dt_placement *placements = NULL;
    int n = 0;
    int64_t n_ranks = 1;
    DT__TRY(request_string(req, "placements", request_get(req, "placements"), &text));
    DT__TRY(dt__placements_parse(req->arena, text, &n, &placements));
    DT__TRY(read_sharding(req, placements, n, &self.sharding));
    for (int i = 0; i < self.sharding.n_mesh_dims; i++)
        if (!dt__mul_i64(n_ranks, self.sharding.mesh[i], &n_ranks) || n_ranks > JSON_MAX_ITEMS)
            return dt__fail(req->ctx, DT_ERR_UNSUPPORTED, "shard: the answer lists every rank: expected at most %d",
                            (int)JSON_MAX_ITEMS);
    return json_write_list(req->ctx, json_object(), "local", n_ranks, rank_json, &self, REQUEST_MAX_ANSWER_BYTES,
                           out);
}

const request_kind query_shard = {
    .q = "shard",
    .fields = {{"mesh", true}, {"shape", true}, {"placements", true}, {"order", false}, {"extents", false}},
    .answer = answer_shard,
};

/* What source and target of a redistribution share. */
typedef struct move_sizes {
    int64_t *mesh, *shape;
    int n_mesh_dims, n_dims;
    dt_dtype dtype;
} move_sizes;

static dt_status read_side(const request *req, const move_sizes *sizes, const char *field, const char *order,
                           dt__sharding *out) {
    const char *text = NULL;
    dt_placement *placements = NULL;
    dt__sharding_desc desc = {
        .n_mesh_dims = sizes->n_mesh_dims, .mesh = sizes->mesh, .n_dims = sizes->n_dims, .shape = sizes->shape};
    DT__TRY(request_string(req, field, request_get(req, field), &text));
    DT__TRY(dt__placements_parse(req->arena, text, &desc.n_placements, &placements));
    dt_placements_resolve(desc.n_placements, placements, sizes->n_dims);
    DT__TRY(request_order(req, order, placements, desc.n_placements));
    DT__TRY(dt__placements_check_dtype(req->ctx, desc.n_placements, placements, sizes->dtype));
    desc.placements = placements;
    return dt__sharding_new(req->arena, &desc, out);
}

static dt_status read_planner(const request *req, dt__planner *out) {
    const char *word = NULL;
    const json_t *field = request_get(req, "planner");
    *out = DT__PLANNER_MIN_COST;
    if (!field)
        return DT_OK;
    DT__TRY(request_string(req, "planner", field, &word));
    if (dt__planner_parse(word, out))
        return DT_OK;
    char names[80];
    return request_wrong(req, "planner", dt__planner_names(sizeof names, names), field);
}

static dt_status answer_redistribute(const request *req, dt__text *out) {
    move_sizes sizes = {0};
    dt__sharding from, to;
    dt__planner planner;
    dt__plan plan;
    dt__move move = {.from = &from, .to = &to};
    DT__TRY(request_sizes(req, "mesh", 1, &sizes.mesh, &sizes.n_mesh_dims));
    DT__TRY(request_sizes(req, "shape", 0, &sizes.shape, &sizes.n_dims));
    DT__TRY(request_dtype(req, "dtype", request_get(req, "dtype"), &sizes.dtype));
    DT__TRY(read_side(req, &sizes, "from", "from_order", &from));
    DT__TRY(read_side(req, &sizes, "to", "to_order", &to));
    move.item_bytes = (int64_t)dt_dtype_size(sizes.dtype);
    DT__TRY(read_planner(req, &planner));
    DT__TRY(dt__plan_new(req->arena, &move, planner, req->ctx->machine, &plan));
    return json_write(req->ctx, plan_json(req->ctx, &plan), JSON_COST_DIGITS, out);
}

const request_kind query_redistribute = {
    .q = "redistribute",
    .fields = {{"mesh", true},
               {"shape", true},
               {"dtype", false},
               {"from", true},
               {"to", true},
               {"from_order", false},
               {"to_order", false},
               {"planner", false}},
    .answer = answer_redistribute,
};
