/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser of the text form of a mesh:
 *
 *     mesh  = ( root | sub " of " root ) [ " on " DEVICE ]
 *     root  = dim { "," dim }  |  size { ( "x" | "," ) size }  |  [ NAME { "," NAME } "=" ] ranks
 *     dim   = NAME "=" size
 *     size  = INT | "*"
 *     sub   = NAME "=" layout { "," NAME "=" layout } [ "+" INT ]
 *     ranks = "[" ( ranks { "," ranks } | INT { "," INT } ) "]"
 *
 * where layout is SHAPE:STRIDE of layout.h and spaces may follow any comma; nowhere else. One size may be a star: what
 * is left of the world once it is divided by the others.
 */
#include "base/cursor.h"
#include "base/size.h"
#include "mesh/mesh_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct reader {
    dt__cursor cursor;
    dt__arena arena;
    dt__mesh_self self;
};

/* The first part of a text, before it is clear whether it is a root or a sub-mesh. */
struct front {
    const char *names[DT_MESH_MAX_DIMS];
    dt__layout layouts[DT_MESH_MAX_DIMS]; /* of a sub-mesh */
    int64_t sizes[DT_MESH_MAX_DIMS];      /* of a root */
    int n_names, n_sizes, n_layouts;
    const char *star; /* the size "*" in the text; NULL: none */
    int star_dim;     /* whose size it is */
    int64_t *ranks;   /* NULL: none */
    int64_t offset;
};

static bool skip_comma(struct reader *in) {
    if (!dt__cursor_skip(&in->cursor, ","))
        return false;
    while (dt__cursor_skip(&in->cursor, " "))
        ;
    return true;
}

static bool at_digit(const struct reader *in) { return isdigit((unsigned char)*in->cursor.at); }

static dt_status read_int(struct reader *in, int64_t *out) {
    dt_tuple number;
    if (!at_digit(in))
        return dt__cursor_fail(&in->cursor, "expected a number");
    DT__TRY(dt__tuple_parse(&in->arena, &in->cursor, &number));
    *out = number.value;
    return DT_OK;
}

static dt_status fail_too_many_dims(const struct reader *in) {
    return dt__cursor_fail(&in->cursor, "expected at most %d dims", DT_MESH_MAX_DIMS);
}

/* Up to the next character that cannot be part of a name; names are checked when the mesh is made. */
static dt_status read_name(struct reader *in, struct front *front) {
    size_t n = strcspn(in->cursor.at, ",=:()[] ");
    if (n == 0)
        return dt__cursor_fail(&in->cursor, "expected a name");
    if (front->n_names == DT_MESH_MAX_DIMS)
        return fail_too_many_dims(in);
    const char *name = dt__arena_copy_chars(&in->arena, in->cursor.at, n);
    if (!name)
        return DT_ERR_MEMORY;
    front->names[front->n_names++] = name;
    in->cursor.at += n;
    return DT_OK;
}

/* A nested list of ranks; rows of one level have one length. */
struct rank_reader {
    int64_t *sizes; /* per level; 0: not yet known */
    int n_levels;   /* where the numbers are; 0: not yet known */
    int64_t *ranks, n, capacity;
};

static dt_status add_rank(struct reader *in, struct rank_reader *list) {
    if (list->n == list->capacity) {
        int64_t capacity = list->capacity ? 2 * list->capacity : 64;
        int64_t *ranks = DT__NEW_ARRAY(&in->arena, int64_t, capacity);
        if (!ranks)
            return DT_ERR_MEMORY;
        if (list->n)
            memcpy(ranks, list->ranks, (size_t)list->n * sizeof *ranks);
        list->ranks = ranks;
        list->capacity = capacity;
    }
    return read_int(in, &list->ranks[list->n++]);
}

static dt_status read_ranks(struct reader *in, struct rank_reader *list, int level) {
    const char *start = in->cursor.at;
    if (level == DT_MESH_MAX_DIMS)
        return fail_too_many_dims(in);
    if (!dt__cursor_skip(&in->cursor, "["))
        return dt__cursor_fail(&in->cursor, "expected '['");
    int64_t n = 0;
    do {
        if (*in->cursor.at != '[' && list->n_levels == 0)
            list->n_levels = level + 1;
        if (level + 1 == list->n_levels)
            DT__TRY(add_rank(in, list));
        else
            DT__TRY(read_ranks(in, list, level + 1));
        n++;
    } while (skip_comma(in));
    if (!dt__cursor_skip(&in->cursor, "]"))
        return dt__cursor_fail(&in->cursor, "expected ',' or ']'");
    if (list->sizes[level] == 0)
        list->sizes[level] = n;
    if (list->sizes[level] != n) {
        in->cursor.at = start;
        return dt__cursor_fail(&in->cursor, "expected a row as long as those before it");
    }
    return DT_OK;
}

static dt_status read_rank_list(struct reader *in, struct front *front) {
    struct rank_reader list = {.sizes = front->sizes};
    DT__TRY(read_ranks(in, &list, 0));
    front->ranks = list.ranks;
    front->n_sizes = list.n_levels;
    return DT_OK;
}

/* "*": its size is computed once all sizes are known. */
static dt_status read_star(struct reader *in, struct front *front) {
    if (front->star)
        return dt__cursor_fail(&in->cursor, "expected one '*', got a second one");
    if (in->self.world == DT__ANY_WORLD)
        return dt__cursor_fail(
            &in->cursor, "'*' takes what is left of the world, whose size is not known; tools have --ranks for it");
    front->star = in->cursor.at;
    front->star_dim = front->n_sizes;
    front->sizes[front->n_sizes++] = 1;
    dt__cursor_skip(&in->cursor, "*");
    return DT_OK;
}

static dt_status read_sizes(struct reader *in, struct front *front) {
    do {
        if (front->n_sizes == DT_MESH_MAX_DIMS)
            return fail_too_many_dims(in);
        if (*in->cursor.at == '*')
            DT__TRY(read_star(in, front));
        else
            DT__TRY(read_int(in, &front->sizes[front->n_sizes++]));
    } while (dt__cursor_skip(&in->cursor, "x") || skip_comma(in));
    return DT_OK;
}

/* Divides the world by the other sizes. Sizes below 1 are refused where the mesh is made. */
static dt_status resolve_star(struct reader *in, struct front *front) {
    int64_t world = in->self.world, others = 1;
    for (int i = 0; i < front->n_sizes; i++)
        if (!dt__mul_i64(others, front->sizes[i], &others))
            others = INT64_MAX;
    if (!front->star || others < 1)
        return DT_OK;
    if (world % others) {
        char hint[80] = "";
        if (others <= DT__MESH_MAX_RANKS)
            snprintf(hint, sizeof hint, "; start the program with dtrun -n %lld, or a multiple of it",
                     (long long)others);
        in->cursor.at = front->star;
        return dt__cursor_fail(&in->cursor,
                               "'*' takes what is left of the world of %lld rank%s: expected other sizes whose "
                               "product divides it, got %lld%s",
                               (long long)world, world == 1 ? "" : "s", (long long)others, hint);
    }
    front->sizes[front->star_dim] = world / others;
    return DT_OK;
}

/* "2" or "2:4" or "(2,2):(4,1)" after a name: the first belongs to a root, the others to a sub-mesh. */
static dt_status read_extent(struct reader *in, struct front *front) {
    const char *start = in->cursor.at;
    dt_tuple shape, stride;
    if (*start == '*')
        return read_star(in, front);
    DT__TRY(dt__tuple_parse(&in->arena, &in->cursor, &shape));
    if (dt__cursor_skip(&in->cursor, ":")) {
        DT__TRY(dt__tuple_parse(&in->arena, &in->cursor, &stride));
        return dt__layout_new(&in->arena, &shape, &stride, &front->layouts[front->n_layouts++]);
    }
    if (!dt_tuple_is_int(&shape)) {
        in->cursor.at = start;
        return dt__cursor_fail(&in->cursor, "expected a number");
    }
    front->sizes[front->n_sizes++] = shape.value;
    return DT_OK;
}

/* Several names may precede a list of ranks; everywhere else each name has its size or layout. */
static dt_status read_named(struct reader *in, struct front *front) {
    do {
        DT__TRY(read_name(in, front));
        bool first_extent = front->n_sizes + front->n_layouts == 0;
        if (first_extent && *in->cursor.at == ',')
            continue;
        if (!dt__cursor_skip(&in->cursor, "="))
            return dt__cursor_fail(&in->cursor, first_extent ? "expected '=' or ','" : "expected '='");
        if (first_extent && *in->cursor.at == '[')
            return read_rank_list(in, front);
        if (front->n_names != front->n_sizes + front->n_layouts + 1)
            return dt__cursor_fail(&in->cursor, "expected '['");
        DT__TRY(read_extent(in, front));
    } while (skip_comma(in));
    if (front->n_sizes && front->n_layouts)
        return dt__cursor_fail(&in->cursor, "expected strides for all sizes or for none");
    return front->n_layouts && dt__cursor_skip(&in->cursor, "+") ? read_int(in, &front->offset) : DT_OK;
}

static dt_status read_front(struct reader *in, struct front *front) {
    if (*in->cursor.at == '[')
        return read_rank_list(in, front);
    if (at_digit(in) || *in->cursor.at == '*') {
        DT__TRY(read_sizes(in, front));
        return resolve_star(in, front);
    }
    DT__TRY(read_named(in, front));
    DT__TRY(resolve_star(in, front));
    return front->n_sizes + front->n_layouts ? DT_OK : dt__cursor_fail(&in->cursor, "expected '='");
}

static dt_mesh *build_root(struct reader *in, const struct front *front, const char *device) {
    dt__names names = {front->n_names ? front->names : NULL, front->n_names};
    dt_mesh_options options = {.device = device};
    if (front->ranks)
        return dt__mesh_from_ranks(in->cursor.ctx, in->self, front->ranks, front->sizes, front->n_sizes, names,
                                   &options);
    return dt__mesh_from_shape(in->cursor.ctx, in->self, front->sizes, front->n_sizes, names, &options);
}

/* The dims of a sub-mesh, from the layouts that were read. */
static dt_status fill_draft(struct reader *in, const struct front *front, const dt_mesh *root,
                            dt__mesh_draft *draft) {
    bool fits = front->offset < root->ranks->n;
    draft->n_dims = front->n_layouts;
    for (int i = 0; i < front->n_layouts && fits; i++) {
        int64_t n;
        dt__mode *modes;
        DT__TRY(dt__layout_list_modes(&in->arena, &front->layouts[i], &modes, &n));
        n = dt__modes_coalesce(modes, n);
        fits = n <= DT__MESH_MAX_MODES;
        for (int64_t m = 0; m < n && fits; m++)
            fits = modes[m].stride > 0 && front->offset / modes[m].stride % modes[m].size == 0;
        draft->dims[i] = (dt__mesh_dim){
            .name = front->names[i], .size = dt__layout_size(&front->layouts[i]), .modes = modes, .n_modes = (int)n};
    }
    if (!fits || !dt__draft_tiles(draft, root))
        return dt__mesh_fail(root, "mesh_new", "'%.200s' is not a sub-mesh of it", in->cursor.text);
    return dt__draft_check_names(in->cursor.ctx, "mesh_new", draft);
}

static dt_mesh *build_sub(struct reader *in, const struct front *front, dt_mesh *root) {
    dt__mesh_draft draft;
    if (!root || fill_draft(in, front, root, &draft) != DT_OK)
        return NULL;
    return dt__mesh_build_sub(root, &draft, front->offset);
}

/* Reads " on DEVICE" and the end. */
static dt_status read_end(struct reader *in, const char **device) {
    if (dt__cursor_skip(&in->cursor, " on ")) {
        *device = in->cursor.at;
        in->cursor.at += strlen(in->cursor.at);
    }
    return *in->cursor.at ? dt__cursor_fail(&in->cursor, "expected the end") : DT_OK;
}

static dt_mesh *read_mesh(struct reader *in) {
    struct front front = {.n_names = 0}, root_front = {.n_names = 0};
    const char *device = NULL;
    if (read_front(in, &front) != DT_OK)
        return NULL;
    if (front.n_layouts == 0)
        return read_end(in, &device) == DT_OK ? build_root(in, &front, device) : NULL;
    if (!dt__cursor_skip(&in->cursor, " of ")) {
        dt__cursor_fail(&in->cursor, "expected ' of ' and the root");
        return NULL;
    }
    const char *start = in->cursor.at;
    if (read_front(in, &root_front) != DT_OK || read_end(in, &device) != DT_OK)
        return NULL;
    if (root_front.n_layouts) {
        in->cursor.at = start;
        dt__cursor_fail(&in->cursor, "expected a root after ' of ', got a sub-mesh");
        return NULL;
    }
    dt_mesh *root = build_root(in, &root_front, device);
    dt_mesh *mesh = build_sub(in, &front, root);
    dt_mesh_release(root);
    return mesh;
}

dt_mesh *dt__mesh_parse(dt_ctx *ctx, dt__mesh_self self, const char *text) {
    struct reader in = {dt__cursor_new(ctx, DT_ERR_MESH, "mesh", text), dt__arena_new(ctx), self};
    dt_mesh *mesh = read_mesh(&in);
    dt__arena_free(&in.arena);
    return mesh;
}

dt_mesh *dt_mesh_new_site(dt_ctx *ctx, const char *text, const dt_site *site) {
    DT__ENTER(ctx, "mesh_new", site);
    if (DT__REFUSAL() != DT_OK || !ctx)
        return NULL;
    if (!text) {
        dt__fail(ctx, DT_ERR_MESH, "the text is NULL");
        return NULL;
    }
    return dt__mesh_parse(ctx, (dt__mesh_self){dt_world(ctx), dt_rank(ctx)}, text);
}
