/* SPDX-License-Identifier: Apache-2.0
 *
 * Text reports. Ranks that hold the same part share a row; beyond some dozens of parts, and for meshes that are too
 * large to be listed, only the first and the last ones are shown.
 */
#include "show_report.h"

#include "dtensor/mesh.h"
#include "grid.h"
#include "labels.h"
#include "show_text.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_PARTS = 64,       /* rows of the table of parts */
    MAX_DRAWN_PARTS = 16, /* the same below a picture, which shows them all */
    FIRST_PARTS = 8,      /* of a table that is cut short */
    LAST_PARTS = 4,
};

static dt_status add_head(const holdings *held, dt__arena *arena, dt__text *out) {
    table dims = table_new(arena, 4);
    for (int i = 0; i < held->n_mesh_dims; i++) {
        const holdings_mesh_dim *dim = &held->mesh_dims[i];
        char size[32];
        snprintf(size, sizeof size, "%lld", (long long)dim->size);
        DT__TRY(table_add(
            &dims, (const char *[]){dim->name, dt__arena_copy_text(arena, size), dim->placement, dim->meaning}));
    }
    dt__text_add(out, "%s\n%s\n\n", held->spec, held->summary);
    table_print(&dims, out);
    return DT_OK;
}

/* Columns of the table of parts: who, one per tensor dim, local shape, bytes. */
static table new_parts(const holdings *held, dt__arena *arena) { return table_new(arena, held->n_dims + 3); }

static dt_status add_titles(const holdings *held, table *parts) {
    const char *cells[DT_SPEC_MAX_DIMS + 3] = {"ranks"};
    for (int dim = 0; dim < held->n_dims; dim++) {
        char title[32];
        snprintf(title, sizeof title, "dim %d", dim);
        cells[1 + dim] = dt__arena_copy_text(parts->arena, title);
    }
    cells[1 + held->n_dims] = "shape";
    cells[2 + held->n_dims] = "bytes";
    return table_add(parts, cells);
}

static dt_status add_part(const holdings *held, const char *who, const holding *part, table *parts) {
    const char *cells[DT_SPEC_MAX_DIMS + 3] = {who};
    for (int dim = 0; dim < held->n_dims; dim++)
        cells[1 + dim] = label_runs(&part->runs[dim], parts->arena);
    cells[1 + held->n_dims] = label_shape(part->local.shape, held->n_dims, parts->arena);
    cells[2 + held->n_dims] = label_bytes(part->local.bytes, parts->arena);
    for (int i = 1; part->local.elements == 0 && i < held->n_dims + 3; i++)
        cells[i] = i == 1 ? "nothing" : "";
    return table_add(parts, cells);
}

static dt_status add_gap(const holdings *held, int64_t n, table *parts) {
    const char *cells[DT_SPEC_MAX_DIMS + 3];
    for (int i = 0; i < held->n_dims + 3; i++)
        cells[i] = "";
    char text[64];
    snprintf(text, sizeof text, ".. %lld more", (long long)n);
    cells[0] = dt__arena_copy_text(parts->arena, text);
    return table_add(parts, cells);
}

/* Different parts have no element in common, so one that is not empty is told by where it begins. */
static bool same_part(const holdings *held, const holding *a, const holding *b) {
    if (a->local.elements == 0 || b->local.elements == 0)
        return a->local.elements == b->local.elements;
    return !memcmp(a->local.offset, b->local.offset, (size_t)held->n_dims * sizeof *a->local.offset);
}

/* Positions by part: those of part p are members[begin[p]] … members[begin[p + 1] - 1]. */
typedef struct parts_index {
    int64_t n_parts, *begin, *members;
} parts_index;

static dt_status find_parts(const holdings *held, dt__arena *arena, parts_index *out) {
    int64_t n = held->n_positions;
    *out = (parts_index){0, DT__NEW_ARRAY(arena, int64_t, n + 1), DT__NEW_ARRAY(arena, int64_t, n)};
    bool *seen = DT__NEW_ARRAY(arena, bool, n);
    if (!out->begin || !out->members || !seen)
        return DT_ERR_MEMORY;
    int64_t used = 0;
    for (int64_t first = 0; first < n; first++) {
        if (seen[first])
            continue;
        for (int64_t position = first; position < n; position++)
            if (!seen[position] && same_part(held, &held->of[first], &held->of[position])) {
                seen[position] = true;
                out->members[used++] = position;
            }
        out->begin[++out->n_parts] = used;
    }
    return DT_OK;
}

static dt_status add_parts(const holdings *held, int max_parts, dt__arena *arena, table *parts) {
    parts_index index;
    DT__TRY(find_parts(held, arena, &index));
    int64_t hidden = index.n_parts > max_parts ? index.n_parts - FIRST_PARTS - LAST_PARTS : 0;
    for (int64_t part = 0; part < index.n_parts; part++) {
        if (hidden && part == FIRST_PARTS) {
            DT__TRY(add_gap(held, hidden, parts));
            part += hidden;
        }
        const int64_t *members = index.members + index.begin[part];
        const char *who = label_holders(held, members, index.begin[part + 1] - index.begin[part], arena);
        DT__TRY(add_part(held, who, &held->of[members[0]], parts));
    }
    return DT_OK;
}

/* A mesh that is not listed: its first and last ranks, one row each. */
static dt_status add_ends(const dt_spec *spec, const holdings *held, dt__arena *arena, table *parts) {
    for (int64_t i = 0; i < 2 * LAST_PARTS; i++) {
        int64_t position = i < LAST_PARTS ? i : held->n_positions - 2 * LAST_PARTS + i, rank;
        holding part;
        if (i == LAST_PARTS)
            DT__TRY(add_gap(held, held->n_positions - 2 * LAST_PARTS, parts));
        DT__TRY(holdings_at(spec, position, arena, &rank, &part));
        DT__TRY(add_part(held, label_ranks(&rank, 1, arena), &part, parts));
    }
    return DT_OK;
}

static dt_status add_table(const dt_spec *spec, const holdings *held, int max_parts, dt__arena *arena,
                           dt__text *out) {
    table parts = new_parts(held, arena);
    DT__TRY(add_titles(held, &parts));
    DT__TRY(held->of ? add_parts(held, max_parts, arena, &parts) : add_ends(spec, held, arena, &parts));
    dt__text_add(out, "\n");
    table_print(&parts, out);
    return DT_OK;
}

static dt_status add_empty(const holdings *held, const grid *drawn, dt__arena *arena, dt__text *out) {
    const char *ranks = NULL;
    DT__TRY(grid_empty_ranks(held, drawn, arena, &ranks));
    if (ranks)
        dt__text_add(out, "no elements: %s\n", ranks);
    return DT_OK;
}

dt_status show_report(const dt_spec *spec, const holdings *held, const canvas_style *style, dt__arena *arena,
                      dt__text *out) {
    grid drawn;
    const char *why_not;
    DT__TRY(add_head(held, arena, out));
    DT__TRY(grid_new(held, arena, &drawn, &why_not));
    dt__text_add(out, "\n");
    if (why_not)
        dt__text_add(out, "not drawn: %s\n", why_not);
    else
        DT__TRY(show_text_picture(&drawn, style, arena, out));
    if (!why_not)
        DT__TRY(add_empty(held, &drawn, arena, out));
    DT__TRY(add_table(spec, held, why_not ? MAX_PARTS : MAX_DRAWN_PARTS, arena, out));
    return dt__text_status(out);
}

/* "dp=1, tp=3", or "1, 3" without names. */
static const char *coordinate_text(const holdings *held, const int64_t *coordinate, dt__arena *arena) {
    dt__text text = dt__text_new(arena->ctx);
    for (int i = 0; i < held->n_mesh_dims; i++) {
        const holdings_mesh_dim *dim = &held->mesh_dims[i];
        dt__text_add(&text, "%s%s%s%lld", i ? ", " : "", dim->is_named ? dim->name : "", dim->is_named ? "=" : "",
                     (long long)coordinate[i]);
    }
    return label_keep(&text, arena);
}

static const char *sharers(const holdings *held, int64_t position, dt__arena *arena) {
    int64_t *members = DT__NEW_ARRAY(arena, int64_t, held->n_positions), n = 0;
    if (!members)
        return NULL;
    for (int64_t other = 0; other < held->n_positions; other++)
        if (same_part(held, &held->of[position], &held->of[other]))
            members[n++] = other;
    return label_holders(held, members, n, arena);
}

static dt_status add_facts(const holdings *held, const holding *part, table *facts) {
    dt__arena *arena = facts->arena;
    DT__TRY(table_add(facts, (const char *[]){"shape", label_shape(part->local.shape, held->n_dims, arena)}));
    DT__TRY(table_add(facts, (const char *[]){"offset", label_shape(part->local.offset, held->n_dims, arena)}));
    DT__TRY(table_add(facts, (const char *[]){"strides", label_shape(part->local.strides, held->n_dims, arena)}));
    for (int dim = 0; dim < held->n_dims; dim++) {
        char title[32];
        snprintf(title, sizeof title, "dim %d", dim);
        DT__TRY(table_add(facts,
                          (const char *[]){dt__arena_copy_text(arena, title), label_runs(&part->runs[dim], arena)}));
    }
    return table_add(facts, (const char *[]){"bytes", label_bytes(part->local.bytes, arena)});
}

dt_status show_report_rank(const dt_spec *spec, const holdings *held, int64_t rank, dt__arena *arena, dt__text *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS], position = 0, found;
    if (!dt_mesh_coordinate_of(dt_spec_mesh(spec), rank, coordinate))
        return dt__fail(arena->ctx, DT_ERR_MESH, "rank %lld is not in the mesh of %lld ranks", (long long)rank,
                        (long long)held->n_positions);
    for (int i = 0; i < held->n_mesh_dims; i++)
        position = position * held->mesh_dims[i].size + coordinate[i];
    holding part;
    table facts = table_new(arena, 2);
    DT__TRY(holdings_at(spec, position, arena, &found, &part));
    DT__TRY(table_add(&facts, (const char *[]){"coordinate", coordinate_text(held, coordinate, arena)}));
    DT__TRY(add_facts(held, &part, &facts));
    if (held->of)
        DT__TRY(table_add(&facts, (const char *[]){"held by", sharers(held, position, arena)}));
    dt__text_add(out, "%s\nrank %lld\n\n", held->spec, (long long)rank);
    table_print(&facts, out);
    return dt__text_status(out);
}
