/* SPDX-License-Identifier: Apache-2.0
 *
 * `{"q":"mesh",…}`: makes a mesh for the rank and world in the request, takes steps on it (slice, flatten, unflatten,
 * concatenate, root) and answers with the mesh at the end. Meshes go with the request's context.
 */
#include "query_answer.h"

#include "json_text.h"
#include "mesh_json.h"

#include <string.h>

enum { MAX_STEPS = 1000 };

/* What a step does to the mesh so far; items are what follows the step's word. NULL after recording an error. */
typedef dt_mesh *step_fn(const request *asked, dt_mesh *mesh, const json_t *step);

static const json_t *item(const json_t *step, size_t i) { return json_array_get(step, i + 1); }
static size_t n_items(const json_t *step) { return json_array_size(step) - 1; }

/* Names given as a list, or as the items of a step. */
static dt_status read_names(const request *asked, const char *field, const json_t *list, size_t from,
                            dt__names *out) {
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > DT_MESH_MAX_DIMS + from)
        return request_wrong(asked, field, "a list of dim names", list);
    const char **names = DT__NEW_ARRAY(asked->arena, const char *, n - from);
    if (!names)
        return DT_ERR_MEMORY;
    for (size_t i = from; i < n; i++)
        DT__TRY(request_string(asked, field, json_array_get(list, i), &names[i - from]));
    *out = (dt__names){names, (int)(n - from)};
    return DT_OK;
}

static dt_mesh *slice(const request *asked, dt_mesh *mesh, const json_t *step) {
    dt__names names;
    return read_names(asked, "do", step, 1, &names) == DT_OK ? dt__mesh_slice(mesh, names) : NULL;
}

static dt_mesh *flatten(const request *asked, dt_mesh *mesh, const json_t *step) {
    const char *name = NULL;
    if (n_items(step) > 0 && request_string(asked, "do", item(step, 0), &name) != DT_OK)
        return NULL;
    return dt_mesh_flatten(mesh, name, NULL);
}

static dt_status read_dim(const request *asked, const dt_mesh *mesh, const json_t *value, int *out) {
    if (json_is_string(value))
        return dt__mesh_find_dim(mesh, "unflatten", json_string_value(value), out);
    int64_t dim = 0, n_dims = dt_mesh_n_dims(mesh);
    DT__TRY(request_int(asked, "do", value, -n_dims, n_dims - 1, &dim));
    *out = (int)(dim < 0 ? dim + n_dims : dim);
    return DT_OK;
}

static dt_mesh *unflatten(const request *asked, dt_mesh *mesh, const json_t *step) {
    int dim = 0, n_sizes = 0;
    int64_t *sizes = NULL;
    dt__names names;
    if (read_dim(asked, mesh, item(step, 0), &dim) != DT_OK ||
        request_ints(asked, "do", item(step, 1), 1, DT__MESH_MAX_RANKS, &sizes, &n_sizes) != DT_OK ||
        read_names(asked, "do", item(step, 2), 0, &names) != DT_OK)
        return NULL;
    return dt__mesh_unflatten(mesh, dim, sizes, n_sizes, names, NULL);
}

static dt_mesh *concatenate(const request *asked, dt_mesh *mesh, const json_t *step) {
    size_t n = n_items(step);
    dt_mesh **parts = DT__NEW_ARRAY(asked->arena, dt_mesh *, n);
    if (!parts)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        dt__names names;
        if (read_names(asked, "do", item(step, i), 0, &names) != DT_OK)
            return NULL;
        parts[i] = dt__mesh_slice(mesh, names);
        if (!parts[i])
            return NULL;
    }
    return dt_mesh_concatenate(parts, (int)n);
}

static dt_mesh *root(const request *asked, dt_mesh *mesh, const json_t *step) {
    (void)asked;
    (void)step;
    return dt_mesh_root(mesh);
}

/* Steps, and how many items follow the word. */
static const struct step_kind {
    const char *word, *form;
    size_t min_items, max_items;
    step_fn *take;
} step_kinds[] = {
    {"slice", "[\"slice\",name,...]", 1, DT_MESH_MAX_DIMS, slice},
    {"flatten", "[\"flatten\",name?]", 0, 1, flatten},
    {"unflatten", "[\"unflatten\",dim,[sizes],[names]]", 3, 3, unflatten},
    {"concatenate", "[\"concatenate\",[names],[names],...]", 1, DT_MESH_MAX_DIMS, concatenate},
    {"root", "[\"root\"]", 0, 0, root},
};
enum { N_STEP_KINDS = sizeof step_kinds / sizeof *step_kinds };

static dt_mesh *take_step(const request *asked, dt_mesh *mesh, const json_t *step) {
    const char *word = json_string_value(json_array_get(step, 0));
    if (!word) {
        request_wrong(asked, "do", "a step such as [\"slice\",\"dp\"]", step);
        return NULL;
    }
    for (int i = 0; i < N_STEP_KINDS; i++) {
        const struct step_kind *kind = &step_kinds[i];
        if (strcmp(word, kind->word) != 0)
            continue;
        if (n_items(step) >= kind->min_items && n_items(step) <= kind->max_items)
            return kind->take(asked, mesh, step);
        request_wrong(asked, "do", kind->form, step);
        return NULL;
    }
    dt__fail(asked->ctx, DT_ERR_FIELD, "field 'do': there is no step '%.60s'", word);
    return NULL;
}

static dt_status take_steps(const request *asked, dt_mesh **mesh) {
    const json_t *steps = request_get(asked, "do");
    if (steps && (!json_is_array(steps) || json_array_size(steps) > MAX_STEPS))
        return request_wrong(asked, "do", "a list of at most 1000 steps", steps);
    for (size_t i = 0; i < json_array_size(steps); i++) {
        *mesh = take_step(asked, *mesh, json_array_get(steps, i));
        if (!*mesh)
            return dt_error_status(asked->ctx);
    }
    return DT_OK;
}

/* Ranks as nested lists: the shape from the first item at each level, then all of them in order. */
typedef struct rank_grid {
    int64_t shape[DT_MESH_MAX_DIMS];
    int n_dims;
    int64_t *ranks, n_ranks;
} rank_grid;

static dt_status measure(const request *asked, const json_t *value, int64_t world, rank_grid *out) {
    int64_t n = 1;
    for (*out = (rank_grid){0}; json_is_array(value); value = json_array_get(value, 0)) {
        int64_t size = (int64_t)json_array_size(value);
        if (out->n_dims == DT_MESH_MAX_DIMS || size == 0 || size > world / n)
            return dt__fail(asked->ctx, DT_ERR_MESH,
                            "field 'ranks': wanted nested lists of up to %d dims with 1 to "
                            "%lld ranks",
                            (int)DT_MESH_MAX_DIMS, (long long)world);
        out->shape[out->n_dims++] = size;
        n *= size;
    }
    out->ranks = DT__NEW_ARRAY(asked->arena, int64_t, n);
    return out->ranks ? DT_OK : DT_ERR_MEMORY;
}

static dt_status collect(const request *asked, const json_t *value, int dim, int64_t world, rank_grid *grid) {
    if (dim == grid->n_dims)
        return request_int(asked, "ranks", value, 0, world - 1, &grid->ranks[grid->n_ranks++]);
    if (!json_is_array(value) || (int64_t)json_array_size(value) != grid->shape[dim])
        return request_wrong(asked, "ranks", "lists of equal lengths", value);
    for (size_t i = 0; i < json_array_size(value); i++)
        DT__TRY(collect(asked, json_array_get(value, i), dim + 1, world, grid));
    return DT_OK;
}

static dt_status make_from_ranks(const request *asked, dt__mesh_self self, dt__names names, dt_mesh **out) {
    const json_t *value = request_get(asked, "ranks");
    rank_grid grid;
    if (!json_is_array(value))
        return request_wrong(asked, "ranks", "nested lists of ranks", value);
    DT__TRY(measure(asked, value, self.world, &grid));
    DT__TRY(collect(asked, value, 0, self.world, &grid));
    *out = dt__mesh_from_ranks(asked->ctx, self, grid.ranks, grid.shape, grid.n_dims, names, NULL);
    return dt_error_status(asked->ctx);
}

static dt_status make_from_shape(const request *asked, dt__mesh_self self, dt__names names, dt_mesh **out) {
    int64_t *shape = NULL;
    int n = 0;
    DT__TRY(request_ints(asked, "shape", request_get(asked, "shape"), 1, INT64_MAX, &shape, &n));
    *out = dt__mesh_from_shape(asked->ctx, self, shape, n, names, NULL);
    return dt_error_status(asked->ctx);
}

static dt_status make(const request *asked, dt_mesh **out) {
    dt__mesh_self self = {0};
    dt__names names = {0};
    const json_t *named = request_get(asked, "names");
    DT__TRY(request_int(asked, "world", request_get(asked, "world"), 1, DT__MESH_MAX_RANKS, &self.world));
    DT__TRY(request_int(asked, "rank", request_get(asked, "rank"), 0, self.world - 1, &self.rank));
    if (named && !json_is_null(named))
        DT__TRY(read_names(asked, "names", named, 0, &names));
    if (!request_get(asked, "shape") == !request_get(asked, "ranks"))
        return dt__fail(asked->ctx, DT_ERR_FIELD, "mesh: wanted one of the fields 'shape' and 'ranks'");
    return (request_get(asked, "ranks") ? make_from_ranks : make_from_shape)(asked, self, names, out);
}

static dt_status answer(const request *asked, dt__text *out) {
    dt_mesh *mesh = NULL;
    DT__TRY(make(asked, &mesh));
    DT__TRY(take_steps(asked, &mesh));
    return mesh_json(asked->arena, mesh, out);
}

const request_kind query_mesh = {
    .q = "mesh",
    .fields = {{"world", true}, {"rank", true}, {"shape", false}, {"ranks", false}, {"names", false}, {"do", false}},
    .answer = answer,
};
