/* SPDX-License-Identifier: Apache-2.0
 *
 * Meshes and layouts as JSON.
 */
#include "mesh_json.h"

#include "json_text.h"

void tuple_json(const dt__tuple *tuple, dt__text *out) {
    if (dt__tuple_is_int(tuple)) {
        json_add_int(out, tuple->value);
        return;
    }
    json_add(out, "[");
    for (int64_t i = 0; i < tuple->n_items; i++) {
        json_add(out, i ? "," : "");
        tuple_json(&tuple->items[i], out);
    }
    json_add(out, "]");
}

void layout_json(const dt__layout *layout, dt__text *out) {
    json_add(out, "{\"shape\":");
    tuple_json(&layout->shape, out);
    json_add(out, ",\"stride\":");
    tuple_json(&layout->stride, out);
    json_add(out, "}");
}

static void add_shape(const dt_mesh *mesh, dt__text *out) {
    json_add(out, "{\"shape\":[");
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++) {
        json_add(out, dim ? "," : "");
        json_add_int(out, dt_mesh_dim_size(mesh, dim));
    }
    json_add(out, "]");
}

static void add_names(const dt_mesh *mesh, dt__text *out) {
    bool named = dt_mesh_n_dims(mesh) > 0 && dt_mesh_dim_name(mesh, 0);
    json_add(out, named ? ",\"names\":[" : ",\"names\":null");
    for (int dim = 0; named && dim < dt_mesh_n_dims(mesh); dim++) {
        json_add(out, dim ? "," : "");
        json_add_string(out, dt_mesh_dim_name(mesh, dim));
    }
    json_add(out, named ? "]" : "");
}

/* The ranks below one coordinate of the dims before `dim`; returns how many that were. */
static int64_t add_nested(const dt_mesh *mesh, int dim, const int64_t *ranks, dt__text *out) {
    int64_t size = dt_mesh_dim_size(mesh, dim), used = 0;
    if (dim + 1 >= dt_mesh_n_dims(mesh)) {
        json_add_ints(out, ranks, size);
        return size;
    }
    json_add(out, "[");
    for (int64_t i = 0; i < size; i++) {
        json_add(out, i ? "," : "");
        used += add_nested(mesh, dim + 1, ranks + used, out);
    }
    json_add(out, "]");
    return used;
}

static void add_coordinate(const dt_mesh *mesh, dt__text *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    json_add(out, ",\"coordinate\":");
    if (dt_mesh_coordinate(mesh, coordinate))
        json_add_ints(out, coordinate, dt_mesh_n_dims(mesh));
    else
        json_add(out, "null");
}

static void add_groups(const dt_mesh *mesh, int64_t *room, dt__text *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    if (!dt_mesh_coordinate(mesh, coordinate)) {
        json_add(out, ",\"groups\":null");
        return;
    }
    json_add(out, ",\"groups\":[");
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++) {
        json_add(out, dim ? "," : "");
        dt_mesh_group_ranks(mesh, dim, room);
        json_add_ints(out, room, dt_mesh_dim_size(mesh, dim));
    }
    json_add(out, "]");
}

dt_status mesh_json(dt__arena *arena, const dt_mesh *mesh, dt__text *out) {
    int64_t n = dt_mesh_size(mesh);
    if (n > MESH_JSON_MAX_RANKS)
        return dt__fail(arena->ctx, DT_ERR_UNSUPPORTED,
                        "mesh: the answer would list %lld ranks, and lists at most %d", (long long)n,
                        (int)MESH_JSON_MAX_RANKS);
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, n);
    dt__layout layout;
    if (!ranks)
        return DT_ERR_MEMORY;
    DT__TRY(dt__mesh_layout(arena, mesh, &layout));
    add_shape(mesh, out);
    add_names(mesh, out);
    json_add(out, ",\"ranks\":");
    dt_mesh_ranks(mesh, ranks);
    add_nested(mesh, 0, ranks, out);
    add_coordinate(mesh, out);
    add_groups(mesh, ranks, out);
    json_add(out, ",\"layout\":");
    layout_json(&layout, out);
    json_add(out, "}");
    return DT_OK;
}
