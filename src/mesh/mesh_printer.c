/* SPDX-License-Identifier: Apache-2.0
 *
 * The printer of the text form of a mesh; mesh_parser.c has its grammar.
 */
#include "mesh/mesh_internal.h"
#include "mesh/rank_list.h"

#include <stdio.h>
#include <string.h>

/* "dp=2,tp=4" or "2x4". */
static void print_sizes(dt__text *text, const dt_mesh *mesh) {
    for (int i = 0; i < mesh->n_dims; i++) {
        const dt__mesh_dim *dim = &mesh->dims[i];
        if (dim->name)
            dt__text_add(text, "%s%s=%lld", i ? "," : "", dim->name, (long long)dim->size);
        else
            dt__text_add(text, "%s%lld", i ? "x" : "", (long long)dim->size);
    }
}

void dt__mesh_print_dims(dt__text *text, const dt_mesh *mesh) {
    dt__text_add(text, "mesh(");
    print_sizes(text, mesh);
    dt__text_add(text, ")");
}

/* The ranks from *position on, nested like the dims from dim on. */
static void print_ranks(dt__text *text, const dt_mesh *mesh, int dim, int64_t *position) {
    if (dim == mesh->n_dims) {
        dt__text_add(text, "%lld", (long long)dt__rank_list_at(mesh->ranks, (*position)++));
        return;
    }
    for (int64_t i = 0; i < mesh->dims[dim].size; i++) {
        dt__text_add(text, i ? "," : "[");
        print_ranks(text, mesh, dim + 1, position);
    }
    dt__text_add(text, "]");
}

static bool counts_from_zero(const dt__rank_list *ranks) {
    return !ranks->ranks && ranks->first == 0 && (ranks->step == 1 || ranks->n == 1);
}

static void print_root(dt__text *text, const dt_mesh *root) {
    if (counts_from_zero(root->ranks)) {
        print_sizes(text, root);
        return;
    }
    for (int i = 0; root->dims[0].name && i < root->n_dims; i++)
        dt__text_add(text, "%s%s", root->dims[i].name, i + 1 < root->n_dims ? "," : "=");
    int64_t position = 0;
    print_ranks(text, root, 0, &position);
}

/* "tp=4:1,f=(2,2):(4,1)+3 of " */
static dt_status print_sub(dt__arena *arena, dt__text *text, const dt_mesh *mesh) {
    for (int i = 0; i < mesh->n_dims; i++) {
        const dt__mesh_dim *dim = &mesh->dims[i];
        dt__layout layout;
        DT__TRY(dt__layout_of_modes(arena, dim->modes, dim->n_modes, false, &layout));
        dt__text_add(text, "%s%s=", i ? "," : "", dim->name);
        dt__layout_print(text, &layout);
    }
    if (mesh->offset)
        dt__text_add(text, "+%lld", (long long)mesh->offset);
    dt__text_add(text, " of ");
    return DT_OK;
}

static dt_status print_mesh(dt__arena *arena, dt__text *text, const dt_mesh *mesh) {
    if (mesh != mesh->root)
        DT__TRY(print_sub(arena, text, mesh));
    print_root(text, mesh->root);
    if (strcmp(mesh->device, "cpu") != 0)
        dt__text_add(text, " on %s", mesh->device);
    return dt__text_status(text);
}

/* A copy of the exact size, which dt_mesh_release derives from the length. */
static char *copy_text(const dt__text *text) {
    char *copy = dt__alloc(text->ctx, text->n_chars + 1);
    if (copy)
        memcpy(copy, dt__text_chars(text), text->n_chars + 1);
    else
        dt__fail_memory(text->ctx, text->n_chars + 1, "the text of a mesh");
    return copy;
}

void dt__mesh_describe(const void *mesh, char *out, size_t capacity) {
    const char *text = dt_mesh_text((dt_mesh *)(uintptr_t)mesh); /* caches the text in the mesh */
    snprintf(out, capacity, "mesh(%s)", text ? text : "?");
}

const char *dt_mesh_text_site(dt_mesh *mesh, const dt_site *site) {
    DT__ENTER(dt_mesh_ctx(mesh), "mesh_text", site);
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    if (!mesh || mesh->text)
        return mesh ? mesh->text : NULL;
    dt__arena arena = dt__arena_new(mesh->ctx);
    dt__text text = dt__text_new(mesh->ctx);
    char *copy = print_mesh(&arena, &text, mesh) == DT_OK ? copy_text(&text) : NULL;
    if (!mesh->text) /* the error of a failed copy may have described the mesh, and thereby made its text */
        mesh->text = copy;
    dt__text_free(&text);
    dt__arena_free(&arena);
    return mesh->text;
}

dt_status dt__mesh_layout(dt__arena *arena, const dt_mesh *mesh, dt__layout *out) {
    dt_tuple shapes[DT_MESH_MAX_DIMS], strides[DT_MESH_MAX_DIMS];
    for (int i = 0; i < mesh->n_dims; i++) {
        dt__layout dim;
        DT__TRY(dt__layout_of_modes(arena, mesh->dims[i].modes, mesh->dims[i].n_modes, false, &dim));
        shapes[i] = dim.shape;
        strides[i] = dim.stride;
    }
    dt_tuple shape, stride;
    DT__TRY(dt__tuple_list(arena, shapes, mesh->n_dims, &shape));
    DT__TRY(dt__tuple_list(arena, strides, mesh->n_dims, &stride));
    *out = (dt__layout){shape, stride};
    return DT_OK;
}
