/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor mesh`: prints a mesh, its groups, and the sub-meshes that slices and flattened dims give.
 */
#include "mesh/mesh.h"
#include "args.h"
#include "json_text.h"
#include "labels.h"
#include "mesh_json.h"
#include "output.h"
#include "session.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

/* Of many things in a row only some are shown: the first ones, a gap, and the last. */
enum {
    MAX_RANKS = 12, /* in a line, and flat sub-meshes */
    MAX_ROWS = 12,  /* of a plane */
    SMALL = 64,     /* a mesh of more ranks is shown with fewer: */
    LARGE_ROWS = 6,
    MAX_GROUPS = 6,
    MAX_PLANES = 4,  /* and sub-meshes that are drawn */
    MAX_LISTED = 12, /* the most of these */
    GAP = -1,
};

typedef struct listed {
    int64_t items[MAX_LISTED]; /* numbers, or GAP */
    int n;
} listed;

/* At most `most` of n, counted from 0. */
static listed list_of(int64_t n, int most) {
    listed list = {.n = n < most ? (int)n : most};
    for (int i = 0; i < list.n; i++)
        list.items[i] = i;
    if (n > most) {
        list.items[most - 2] = GAP;
        list.items[most - 1] = n - 1;
    }
    return list;
}

/* What is shown. */
typedef struct shown {
    session *session;
    int64_t rank; /* -1: none */
    dt_mesh *mesh;
    int n_parts; /* written so far */
} shown;

/* "dp=1", or "1" for a dim without a name; NULL when memory is out. */
static const char *place_text(const dt_mesh *mesh, int dim, int64_t index, dt__arena *arena) {
    const char *name = dt_mesh_dim_name(mesh, dim);
    dt__text text = dt__text_new(arena->ctx);
    dt__text_add(&text, "%s%s%lld", name ? name : "", name ? "=" : "", (long long)index);
    return label_keep(&text, arena);
}

static const char *number_text(int64_t number, dt__arena *arena) { return label_ranks(&number, 1, arena); }

static int64_t dim_size(const dt_mesh *mesh, int dim) { return dim < 0 ? 1 : dt_mesh_dim_size(mesh, dim); }

/* Sets the coordinates of dims from … to-1 to place number i of them, row-major. */
static void set_place(const dt_mesh *mesh, int from, int to, int64_t i, int64_t *coordinate) {
    for (int dim = to - 1; dim >= from; dim--) {
        coordinate[dim] = i % dt_mesh_dim_size(mesh, dim);
        i /= dt_mesh_dim_size(mesh, dim);
    }
}

/* The rows of a plane: the last two dims at a place of the others, with places along the edges. */
static dt_status add_plane(const dt_mesh *mesh, int64_t *coordinate, dt__arena *arena, dt__text *out) {
    int across = dt_mesh_n_dims(mesh) - 1, down = across - 1;
    listed columns = list_of(dim_size(mesh, across), MAX_RANKS);
    listed rows = list_of(dim_size(mesh, down), dt_mesh_size(mesh) > SMALL ? LARGE_ROWS : MAX_ROWS);
    table plane = table_new(arena, columns.n + 1);
    const char *cells[MAX_LISTED + 1] = {""};
    for (int i = 0; i < columns.n; i++)
        cells[1 + i] = columns.items[i] == GAP ? ".." : place_text(mesh, across, columns.items[i], arena);
    DT__TRY(table_add(&plane, cells));
    for (int row = 0; row < rows.n; row++) {
        bool is_gap = rows.items[row] == GAP;
        cells[0] = is_gap ? ".." : down < 0 ? "" : place_text(mesh, down, rows.items[row], arena);
        for (int i = 0; i < columns.n; i++) {
            coordinate[across] = columns.items[i];
            if (down >= 0)
                coordinate[down] = rows.items[row];
            cells[1 + i] =
                is_gap || columns.items[i] == GAP ? ".." : number_text(dt_mesh_rank_at(mesh, coordinate), arena);
        }
        DT__TRY(table_add(&plane, cells));
    }
    table_print(&plane, out);
    return DT_OK;
}

/* All ranks where they sit: a plane for each place of the dims before the last two. */
static dt_status add_grid(const dt_mesh *mesh, dt__arena *arena, dt__text *out) {
    int n_dims = dt_mesh_n_dims(mesh), n_outer = n_dims > 2 ? n_dims - 2 : 0;
    int64_t coordinate[DT_MESH_MAX_DIMS] = {0};
    int64_t n_planes = dt_mesh_size(mesh) / (dim_size(mesh, n_dims - 1) * dim_size(mesh, n_dims - 2));
    listed planes = list_of(n_planes, MAX_PLANES);
    for (int i = 0; i < planes.n; i++) {
        if (planes.items[i] == GAP) {
            dt__text_add(out, "..\n");
            continue;
        }
        set_place(mesh, 0, n_outer, planes.items[i], coordinate);
        for (int dim = 0; dim < n_outer; dim++) {
            const char *place = place_text(mesh, dim, coordinate[dim], arena);
            dt__text_add(out, "%s%s%s", dim ? ", " : "", place ? place : "", dim + 1 == n_outer ? "\n" : "");
        }
        DT__TRY(add_plane(mesh, coordinate, arena, out));
    }
    return DT_OK;
}

/* "0 4 8 12": the ranks at n places, in the mesh's order. */
typedef int64_t rank_fn(const dt_mesh *mesh, int dim, int64_t *coordinate, int64_t i);

static void add_list(const dt_mesh *mesh, int dim, int64_t *coordinate, int64_t n, rank_fn *rank_of, dt__text *out) {
    listed list = list_of(n, MAX_RANKS);
    for (int i = 0; i < list.n; i++)
        if (list.items[i] == GAP)
            dt__text_add(out, " ..");
        else
            dt__text_add(out, "%s%lld", i ? " " : "", (long long)rank_of(mesh, dim, coordinate, list.items[i]));
}

/* Number i along a dim, and number i of all. */
static int64_t rank_along(const dt_mesh *mesh, int dim, int64_t *coordinate, int64_t i) {
    coordinate[dim] = i;
    return dt_mesh_rank_at(mesh, coordinate);
}

static int64_t rank_of_all(const dt_mesh *mesh, int dim, int64_t *coordinate, int64_t i) {
    (void)dim;
    set_place(mesh, 0, dt_mesh_n_dims(mesh), i, coordinate);
    return dt_mesh_rank_at(mesh, coordinate);
}

static const char *dim_text(const dt_mesh *mesh, int dim, dt__arena *arena) {
    const char *name = dt_mesh_dim_name(mesh, dim);
    return name ? name : number_text(dim, arena);
}

/* All groups along a dim: "(0 4)  (1 5)". */
static const char *groups_text(const dt_mesh *mesh, int dim, dt__arena *arena) {
    int64_t size = dt_mesh_dim_size(mesh, dim), coordinate[DT_MESH_MAX_DIMS] = {0};
    listed groups = list_of(dt_mesh_size(mesh) / size, MAX_GROUPS);
    dt__text text = dt__text_new(arena->ctx);
    for (int i = 0; i < groups.n; i++) {
        dt__text_add(&text, i ? "  " : "");
        if (groups.items[i] == GAP) {
            dt__text_add(&text, "..");
            continue;
        }
        int64_t below = 1;
        for (int inner = dim + 1; inner < dt_mesh_n_dims(mesh); inner++)
            below *= dt_mesh_dim_size(mesh, inner);
        set_place(mesh, dim + 1, dt_mesh_n_dims(mesh), groups.items[i] % below, coordinate);
        set_place(mesh, 0, dim, groups.items[i] / below, coordinate);
        dt__text_add(&text, "(");
        add_list(mesh, dim, coordinate, size, rank_along, &text);
        dt__text_add(&text, ")");
    }
    return label_keep(&text, arena);
}

static dt_status add_groups(const dt_mesh *mesh, dt__arena *arena, dt__text *out) {
    table groups = table_new(arena, 3);
    DT__TRY(table_add(&groups, (const char *[]){"dim", "size", "groups"}));
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++)
        DT__TRY(table_add(&groups, (const char *[]){dim_text(mesh, dim, arena),
                                                    number_text(dt_mesh_dim_size(mesh, dim), arena),
                                                    groups_text(mesh, dim, arena)}));
    table_print(&groups, out);
    return DT_OK;
}

static dt_status add_rank(shown *self, dt__text *out) {
    const dt_mesh *mesh = self->mesh;
    dt__arena *arena = self->session->arena;
    int64_t own[DT_MESH_MAX_DIMS], coordinate[DT_MESH_MAX_DIMS];
    if (!dt_mesh_coordinate(mesh, own)) {
        dt__text_add(out, "\nrank %lld is not in the mesh\n", (long long)self->rank);
        return DT_OK;
    }
    dt__text_add(out, "\nrank %lld: where it is and its group, along each dim\n", (long long)self->rank);
    table rows = table_new(arena, 2);
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++) {
        memcpy(coordinate, own, sizeof own);
        dt__text list = dt__text_new(arena->ctx);
        add_list(mesh, dim, coordinate, dt_mesh_dim_size(mesh, dim), rank_along, &list);
        const char *kept = label_keep(&list, arena);
        DT__TRY(table_add(&rows, (const char *[]){place_text(mesh, dim, own[dim], arena), kept}));
    }
    table_print(&rows, out);
    return DT_OK;
}

/* A sub-mesh: a 1-D or flattened one is one line. */
static dt_status add_submesh(const dt_mesh *part, bool flat, dt__arena *arena, dt__text *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS] = {0};
    if (!flat)
        return add_grid(part, arena, out);
    dt__text_add(out, "  ");
    add_list(part, 0, coordinate, dt_mesh_size(part), rank_of_all, out);
    dt__text_add(out, "\n");
    return DT_OK;
}

static dt_status add_submeshes(shown *self, const char *option, const char *names, dt__text *out) {
    int64_t n = dt_mesh_n_slices(self->mesh, names);
    if (dt_failed(self->session->ctx))
        return dt_error_status(self->session->ctx);
    bool flat = !strcmp(option, "flatten") || !strchr(names, ',');
    dt__text_add(out, "\n%s %s: %lld sub-mesh%s\n", option, names, (long long)n, n == 1 ? "" : "es");
    listed parts = list_of(n, flat ? MAX_RANKS : MAX_PLANES);
    for (int i = 0; i < parts.n; i++) {
        if (parts.items[i] == GAP) {
            dt__text_add(out, flat ? "  ..\n" : "\n  ..\n");
            continue;
        }
        dt_mesh *part = dt_mesh_slice_at(self->mesh, names, parts.items[i]);
        if (!part)
            return dt_error_status(self->session->ctx);
        dt__text_add(out, i && !flat ? "\n" : "");
        DT__TRY(add_submesh(part, flat, self->session->arena, out));
        dt_mesh_release(part);
    }
    return DT_OK;
}

/* Calls `add` for each --slice and --flatten, in the order of the command line. */
typedef dt_status add_fn(shown *self, const char *option, const char *names, dt__text *out);

static dt_status for_submeshes(shown *self, add_fn *add, dt__text *out) {
    for (int i = 0; i < self->session->given->n_given; i++) {
        const struct args_given *given = &self->session->given->given[i];
        const char *option = given->option->name;
        if (!strcmp(option, "slice") || !strcmp(option, "flatten"))
            DT__TRY(add(self, option, given->value, out));
    }
    return DT_OK;
}

static dt_status print_text(shown *self, dt__text *out) {
    const char *text = dt_mesh_text(self->mesh);
    if (!text)
        return dt_error_status(self->session->ctx);
    dt__text_add(out, "mesh(%s), %lld rank%s\n\n", text, (long long)dt_mesh_size(self->mesh),
                 dt_mesh_size(self->mesh) == 1 ? "" : "s");
    DT__TRY(add_grid(self->mesh, self->session->arena, out));
    dt__text_add(out, "\n");
    DT__TRY(add_groups(self->mesh, self->session->arena, out));
    if (self->rank >= 0)
        DT__TRY(add_rank(self, out));
    return for_submeshes(self, add_submeshes, out);
}

/* The sub-mesh of this rank, as a member of the object. */
static dt_status add_submesh_json(shown *self, const char *option, const char *names, dt__text *out) {
    dt_mesh *part = dt_mesh_slice(self->mesh, names);
    if (!strcmp(option, "flatten"))
        part = dt_mesh_flatten(part, NULL, NULL);
    if (!part)
        return dt_error_status(self->session->ctx);
    json_add(out, self->n_parts++ ? ",{\"" : "{\"");
    json_add(out, option);
    json_add(out, "\":");
    json_add_string(out, names);
    json_add(out, ",\"mesh\":");
    DT__TRY(mesh_json(self->session->arena, part, out));
    json_add(out, "}");
    return DT_OK;
}

static dt_status print_json(shown *self, dt__text *out) {
    const char *text = dt_mesh_text(self->mesh);
    if (!text)
        return dt_error_status(self->session->ctx);
    json_add(out, "{\"text\":");
    json_add_string(out, text);
    json_add(out, ",\"mesh\":");
    DT__TRY(mesh_json(self->session->arena, self->mesh, out));
    json_add(out, ",\"parts\":[");
    DT__TRY(for_submeshes(self, add_submesh_json, out));
    json_add(out, "]}\n");
    return DT_OK;
}

static dt_status show_it(session *run_by, void *user) {
    shown *self = user;
    self->session = run_by;
    self->mesh = dt_mesh_new(run_by->ctx, run_by->given->words[0]);
    if (!self->mesh)
        return dt_error_status(run_by->ctx);
    DT__TRY((args_has(run_by->given, "json") ? print_json : print_text)(self, run_by->out));
    DT__TRY(dt__text_status(run_by->out));
    return output_write(run_by->out, NULL);
}

static int run(const command *self, int argc, char **argv) {
    args given;
    shown one = {.rank = -1};
    dt_status parsed = args_parse(self, argc, argv, 1, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    if (given.n_words == 0)
        return args_misused(self, "the mesh is missing");
    if (args_has(&given, "rank") && args_number(&given, "rank", 0, DT__MESH_MAX_RANKS - 1, &one.rank) != DT_OK)
        return EXIT_USAGE;
    return session_run(&given, one.rank < 0 ? 0 : one.rank, show_it, &one);
}

const command mesh_command = {
    .name = "mesh",
    .summary = "print a mesh, its groups and its sub-meshes",
    .synopsis = "[OPTIONS] MESH",
    .about =
        "Prints where each rank sits and which ranks form a group along each dim. A mesh is dp=2,tp=4, or 2x4, or\n"
        "a list of ranks such as [[0,1],[2,3]], with names dp,tp=[[0,1],[2,3]].",
    .options =
        (const command_option[]){
            {.name = "rank", .value = "N", .help = "also the coordinate and the groups of this rank"},
            {.name = "slice",
             .value = "NAMES",
             .help = "the sub-meshes of these dims, such as dp,tp",
             .repeats = true},
            {.name = "flatten",
             .value = "NAMES",
             .help = "the same as lists of ranks: the dims as one",
             .repeats = true},
            {.name = "json", .help = "print what dtensor query answers to \"mesh\", for the rank (default 0)"},
            {0},
        },
    .examples = "  dtensor mesh dp=2,cp=2,tp=2 --rank 5\n"
                "  dtensor mesh dp=2,cp=2,tp=2 --slice dp,tp --flatten dp,tp\n"
                "  dtensor mesh 'dp,tp=[[0,2],[1,3]]' --json",
    .run = run,
};
