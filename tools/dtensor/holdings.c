/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects who holds what from a spec and its mesh.
 */
#include "holdings.h"

#include "dtensor/mesh.h"
#include "labels.h"

#include <stdio.h>

bool holdings_is_partial(const holdings *held) {
    for (int dim = 0; dim < held->n_mesh_dims; dim++)
        if (held->mesh_dims[dim].reduce)
            return true;
    return false;
}

static void coordinate_of(const dt_mesh *mesh, int64_t position, int64_t *out) {
    for (int dim = dt_mesh_n_dims(mesh) - 1; dim >= 0; dim--) {
        out[dim] = position % dt_mesh_dim_size(mesh, dim);
        position /= dt_mesh_dim_size(mesh, dim);
    }
}

static dt_status read_runs(const dt_spec *spec, const int64_t *coordinate, int dim, dt__arena *arena, run_list *out) {
    dt_run found[HOLDINGS_MAX_RUNS];
    int64_t n = dt_spec_runs(spec, coordinate, dim, 0, HOLDINGS_MAX_RUNS, found);
    if (n < 0)
        return dt__fail(arena->ctx, DT_ERR_INTERNAL, "dim %d has no runs", dim);
    dt_run *runs = dt__arena_copy(arena, found, (size_t)n, sizeof *runs);
    if (!runs)
        return DT_ERR_MEMORY;
    *out = (run_list){runs, n};
    return DT_OK;
}

dt_status holdings_at(const dt_spec *spec, int64_t position, dt__arena *arena, int64_t *rank, holding *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    int n_dims = dt_spec_n_dims(spec);
    run_list *runs = DT__NEW_ARRAY(arena, run_list, n_dims);
    if (!runs)
        return DT_ERR_MEMORY;
    coordinate_of(dt_spec_mesh(spec), position, coordinate);
    *rank = dt_mesh_rank_at(dt_spec_mesh(spec), coordinate);
    if (!dt_spec_local_at(spec, coordinate, &out->local))
        return dt__fail(arena->ctx, DT_ERR_INTERNAL, "position %lld is not in the mesh", (long long)position);
    for (int dim = 0; dim < n_dims; dim++)
        DT__TRY(read_runs(spec, coordinate, dim, arena, &runs[dim]));
    out->runs = runs;
    return DT_OK;
}

static dt_status read_all(const dt_spec *spec, dt__arena *arena, holdings *out) {
    if (out->n_positions > HOLDINGS_MAX_POSITIONS)
        return DT_OK;
    holding *of = DT__NEW_ARRAY(arena, holding, out->n_positions);
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, out->n_positions);
    if (!of || !ranks)
        return DT_ERR_MEMORY;
    for (int64_t position = 0; position < out->n_positions; position++)
        DT__TRY(holdings_at(spec, position, arena, &ranks[position], &of[position]));
    out->of = of;
    out->ranks = ranks;
    return DT_OK;
}

/* "first", "second" … where the order in which mesh dims cut a tensor dim is not from left to right. */
static void add_turn(dt__text *text, const dt_spec *spec, int mesh_dim, int dim) {
    int order[DT_SPEC_MAX_DIMS], n = dt_spec_cut_order(spec, dim, order);
    bool usual = true;
    for (int i = 1; i < n; i++)
        usual = usual && order[i] > order[i - 1];
    for (int i = 0; i < n && !usual; i++)
        if (order[i] == mesh_dim)
            dt__text_add(text, " (cut %d of %d)", i + 1, n);
}

static void add_sizes(dt__text *text, const dt_placement *placement) {
    for (int64_t i = 0; i < placement->n_extents && i < 8; i++)
        dt__text_add(text, "%s%lld", i ? "," : " of sizes ", (long long)placement->extents[i]);
    if (placement->n_extents > 8)
        dt__text_add(text, ",..");
}

/* What a placement does on a mesh dim of n coordinates, in words. */
typedef void meaning_fn(dt__text *text, const dt_spec *spec, int mesh_dim, long long n);

static void mean_replicate(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    (void)spec;
    (void)mesh_dim;
    dt__text_add(text, n == 1 ? "one copy" : "%lld copies", n);
}

static void mean_shard(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    const dt_placement *placement = &dt_spec_placements(spec)[mesh_dim];
    dt__text_add(text, "cuts dim %d into %lld", placement->dim, n);
    add_sizes(text, placement);
    add_turn(text, spec, mesh_dim, placement->dim);
}

static void mean_strided(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    const dt_placement *placement = &dt_spec_placements(spec)[mesh_dim];
    dt__text_add(text, "cuts dim %d into %lld chunks, each of them into %lld", placement->dim,
                 (long long)placement->split_factor, n);
    add_turn(text, spec, mesh_dim, placement->dim);
}

static void mean_partial(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    (void)spec;
    (void)mesh_dim;
    dt__text_add(text, "%lld partial values, still to be reduced", n);
}

static void mean_masked(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    (void)spec;
    (void)mesh_dim;
    dt__text_add(text, "%lld partial values, masked where the index is elsewhere", n);
}

static meaning_fn *const meanings[DT_N_PLACEMENT_KINDS] = {
    [DT_PLACEMENT_REPLICATE] = mean_replicate, [DT_PLACEMENT_SHARD] = mean_shard,
    [DT_PLACEMENT_STRIDED] = mean_strided,     [DT_PLACEMENT_PARTIAL] = mean_partial,
    [DT_PLACEMENT_MASKED] = mean_masked,
};

static const char *reduce_word(const dt_placement *placement) {
    if (placement->kind == DT_PLACEMENT_MASKED)
        return "mask";
    return placement->kind == DT_PLACEMENT_PARTIAL ? dt_reduce_name(placement->reduce) : NULL;
}

static const char *placement_text(const dt_placement *placement, dt__arena *arena) {
    size_t room = dt_placements_text(1, placement, 0, NULL) + 1;
    char *text = dt__arena_alloc(arena, room, 1);
    if (text)
        dt_placements_text(1, placement, room, text);
    return text;
}

static const char *dim_name(const dt_mesh *mesh, int dim, dt__arena *arena) {
    char number[32];
    snprintf(number, sizeof number, "mesh dim %d", dim);
    const char *name = dt_mesh_dim_name(mesh, dim);
    return dt__arena_copy_text(arena, name ? name : number);
}

static dt_status read_mesh_dims(const dt_spec *spec, dt__arena *arena, holdings *out) {
    const dt_mesh *mesh = dt_spec_mesh(spec);
    out->n_mesh_dims = dt_mesh_n_dims(mesh);
    holdings_mesh_dim *dims = DT__NEW_ARRAY(arena, holdings_mesh_dim, out->n_mesh_dims);
    if (!dims)
        return DT_ERR_MEMORY;
    for (int i = 0; i < out->n_mesh_dims; i++) {
        const dt_placement *placement = &dt_spec_placements(spec)[i];
        dt__text meaning = dt__text_new(arena->ctx);
        meanings[placement->kind](&meaning, spec, i, dt_mesh_dim_size(mesh, i));
        dims[i] = (holdings_mesh_dim){.name = dim_name(mesh, i, arena),
                                      .is_named = dt_mesh_dim_name(mesh, i) != NULL,
                                      .placement = placement_text(placement, arena),
                                      .meaning = label_keep(&meaning, arena),
                                      .reduce = reduce_word(placement),
                                      .size = dt_mesh_dim_size(mesh, i)};
        if (!dims[i].name || !dims[i].placement || !dims[i].meaning)
            return DT_ERR_MEMORY;
    }
    out->mesh_dims = dims;
    return DT_OK;
}

static dt_status describe(const dt_spec *spec, dt__arena *arena, holdings *out) {
    out->spec = label_spec(spec, arena);
    const char *most = label_bytes(dt_spec_max_bytes(spec), arena), *all = label_bytes(dt_spec_bytes(spec), arena);
    if (!out->spec || !most || !all)
        return DT_ERR_MEMORY;
    dt__text summary = dt__text_new(arena->ctx);
    dt__text_add(&summary, "%lld rank%s, ", (long long)out->n_positions, out->n_positions == 1 ? "" : "s");
    dt__text_add(&summary, dt_spec_is_even(spec) ? "%s of %s on each" : "at most %s of %s on each", most, all);
    out->summary = label_keep(&summary, arena);
    return out->summary ? DT_OK : DT_ERR_MEMORY;
}

dt_status holdings_new(const dt_spec *spec, dt__arena *arena, holdings *out) {
    *out = (holdings){.n_dims = dt_spec_n_dims(spec),
                      .shape = dt_spec_shape(spec),
                      .n_positions = dt_mesh_size(dt_spec_mesh(spec))};
    DT__TRY(read_mesh_dims(spec, arena, out));
    DT__TRY(describe(spec, arena, out));
    return read_all(spec, arena, out);
}
