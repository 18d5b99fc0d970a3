/* SPDX-License-Identifier: Apache-2.0
 *
 * The text form of a spec: dtype and shape, stride order where it is not row-major, placements, mesh. The mesh part is
 * the mesh's own text form, so that parsing returns an equal mesh. The use placement of a tensor follows its
 * placements; it is not part of the spec.
 */
#include "spec/placement_text.h"
#include "spec/spec.h"

#include <inttypes.h>
#include <string.h>

static bool is_row_major(const dt_spec *spec) {
    for (int d = 0; d < spec->sharding.n_dims; d++)
        if (spec->stride_order[d] != d)
            return false;
    return true;
}

size_t dt__spec_use_text(const dt_spec *spec, const dt_spec *use, size_t capacity, char *out) {
    dt__sink sink = dt__sink_new(capacity, out);
    int n_dims = spec->sharding.n_dims;
    dt__sink_add(&sink, "%s[", dt_dtype_name(spec->dtype));
    for (int d = 0; d < n_dims; d++)
        dt__sink_add(&sink, "%s%" PRId64, d ? "," : "", spec->sharding.shape[d]);
    dt__sink_add(&sink, "] ");
    for (int d = 0; d < n_dims && !is_row_major(spec); d++)
        dt__sink_add(&sink, "%s%d%s", d ? "," : "major(", spec->stride_order[d], d + 1 < n_dims ? "" : ") ");
    dt__sink_add_placements(&sink, spec->sharding.n_mesh_dims, spec->sharding.placements);
    if (use) {
        dt__sink_add(&sink, " use %s%s", use->dtype == spec->dtype ? "" : dt_dtype_name(use->dtype),
                     use->dtype == spec->dtype ? "" : " ");
        dt__sink_add_placements(&sink, use->sharding.n_mesh_dims, use->sharding.placements);
    }
    const char *mesh = dt_mesh_text(spec->mesh);
    dt__sink_add(&sink, " on mesh(%s)", mesh ? mesh : "?");
    return sink.n_chars;
}

size_t dt_spec_text(const dt_spec *spec, size_t capacity, char *out) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    if (capacity > 0)
        out[0] = 0;
    return spec ? dt__spec_use_text(spec, NULL, capacity, out) : 0;
}

/* What the parser has read, besides the mesh. */
typedef struct parts {
    dt_spec_desc desc;
    dt__placement_list placements;
    dt__array_text array;
    int stride_order[DT_SPEC_MAX_DIMS];
} parts;

static bool take_dtype(dt__cursor *cursor, dt_dtype *out) {
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        if (dt__cursor_take(cursor, dt_dtype_name((dt_dtype)dtype))) {
            *out = (dt_dtype)dtype;
            return true;
        }
    return false;
}

dt_status dt__use_parse(dt__arena *arena, const char *text, dt_dtype *dtype, dt__placement_list *out) {
    dt__cursor cursor = dt__cursor_new(arena->ctx, DT_ERR_PLACEMENT, "use", text);
    bool converts = take_dtype(&cursor, dtype);
    *out = (dt__placement_list){.n = 0};
    if (converts && !dt__cursor_peek(&cursor))
        return DT_OK;
    DT__TRY(dt__cursor_placements(&cursor, arena, out));
    return dt__cursor_peek(&cursor) ? dt__cursor_fail(&cursor, "expected the end of the placements") : DT_OK;
}

dt_status dt__cursor_array(dt__cursor *cursor, dt__array_text *out) {
    out->n_dims = 0;
    if (!take_dtype(cursor, &out->dtype))
        return dt__cursor_fail_dtype(cursor);
    cursor->status = DT_ERR_SHAPE;
    DT__TRY(dt__cursor_expect(cursor, "[", "and the shape after the dtype"));
    if (dt__cursor_take(cursor, "]"))
        return DT_OK;
    do {
        if (out->n_dims == DT_SPEC_MAX_DIMS)
            return dt__cursor_fail(cursor, "expected at most %d dims", DT_SPEC_MAX_DIMS);
        DT__TRY(dt__cursor_number(cursor, 0, INT64_MAX, "a size", &out->shape[out->n_dims]));
        out->n_dims++;
    } while (dt__cursor_take(cursor, ","));
    return dt__cursor_expect(cursor, "]", "after the shape");
}

/* As many dims as the shape has; dt_spec_new checks that each appears once. */
static dt_status parse_stride_order(dt__cursor *cursor, parts *out) {
    DT__TRY(dt__cursor_expect(cursor, "(", "after major"));
    for (int d = 0; d < out->desc.n_dims; d++) {
        int64_t dim;
        if (d > 0)
            DT__TRY(dt__cursor_expect(cursor, ",", "and one more dim: the stride order names each dim once"));
        DT__TRY(dt__cursor_number(cursor, 0, out->desc.n_dims - 1, "a dim of the stride order", &dim));
        out->stride_order[d] = (int)dim;
    }
    out->desc.stride_order = out->stride_order;
    return dt__cursor_expect(cursor, ")", "after the stride order");
}

/* The text between "mesh(" and the bracket at the very end. */
static dt_mesh *parse_mesh(dt__cursor *cursor, dt__arena *arena) {
    const char *end = strrchr(cursor->at, ')');
    if (!end || end[1 + strspn(end + 1, " \t")]) {
        cursor->at += strlen(cursor->at);
        dt__cursor_fail(cursor, "expected ')' after the mesh, at the end");
        return NULL;
    }
    const char *text = dt__arena_copy_chars(arena, cursor->at, (size_t)(end - cursor->at));
    return text ? dt_mesh_new(arena->ctx, text) : NULL;
}

static dt_status parse_parts(dt__cursor *cursor, dt__arena *arena, parts *out) {
    dt__placement_list use;
    dt_dtype use_dtype;
    cursor->status = DT_ERR_DTYPE;
    DT__TRY(dt__cursor_array(cursor, &out->array));
    out->desc.dtype = out->array.dtype;
    out->desc.n_dims = out->array.n_dims;
    out->desc.shape = out->array.shape;
    if (dt__cursor_take(cursor, "major"))
        DT__TRY(parse_stride_order(cursor, out));
    cursor->status = DT_ERR_PLACEMENT;
    DT__TRY(dt__cursor_placements(cursor, arena, &out->placements));
    if (dt__cursor_take(cursor, "use")) {
        (void)take_dtype(cursor, &use_dtype);
        DT__TRY(dt__cursor_placements(cursor, arena, &use));
    }
    cursor->status = DT_ERR_MESH;
    DT__TRY(dt__cursor_expect(cursor, "on", "and the mesh after the placements"));
    DT__TRY(dt__cursor_expect(cursor, "mesh", "after on"));
    return dt__cursor_expect(cursor, "(", "after mesh");
}

dt_spec *dt_spec_parse_site(dt_ctx *ctx, const char *text, const dt_site *site) {
    DT__ENTER(ctx, "spec_parse", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    dt__arena arena = dt__arena_new(ctx);
    dt__cursor cursor = dt__cursor_new(ctx, DT_ERR_VALUE, "spec", text);
    parts found = {.desc = {.n_dims = 0}};
    dt_mesh *mesh = NULL;
    if (!text)
        dt__fail(ctx, DT_ERR_VALUE, "the text is NULL");
    else if (parse_parts(&cursor, &arena, &found) == DT_OK)
        mesh = parse_mesh(&cursor, &arena);
    dt_placement *placements;
    dt_spec *spec = NULL;
    if (mesh && dt__placements_resolve_names(&arena, &found.placements, mesh, NULL, &found.desc.n_placements,
                                             &placements) == DT_OK) {
        found.desc.placements = placements;
        spec = dt_spec_new(mesh, &found.desc);
    }
    dt_mesh_release(mesh);
    dt__arena_free(&arena);
    return spec;
}
