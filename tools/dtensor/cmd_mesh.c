/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor mesh`: prints a mesh, its groups, and the sub-meshes that slices and flattened dims make.
 */
#include "arguments.h"
#include "json.h"
#include "mesh/mesh.h"
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
    MAX_PLANES = 4, /* and sub-meshes that are drawn */
};

typedef struct shown {
    session *session;
    int64_t rank; /* -1: none */
    dt_mesh *mesh;
} shown;

/* "dp=1", or "[1]" for a dim without a name. */
static const char *index_text(const dt_mesh *mesh, int dim, int64_t index, dt__arena *arena) {
    const char *name = dt_mesh_dim_name(mesh, dim);
    if (name)
        return label_format(arena, "%s=%lld", name, (long long)index);
    return label_format(arena, "[%lld]", (long long)index);
}

static const char *number_text(int64_t number, dt__arena *arena) {
    return label_format(arena, "%lld", (long long)number);
}

static int64_t dim_size(const dt_mesh *mesh, int dim) { return dim < 0 ? 1 : dt_mesh_dim_size(mesh, dim); }

/* Sets the coordinates of dims from … to-1 to those of position i, row-major. */
static void set_coordinate(const dt_mesh *mesh, int from, int to, int64_t i, int64_t *coordinate) {
    for (int dim = to - 1; dim >= from; dim--) {
        coordinate[dim] = i % dt_mesh_dim_size(mesh, dim);
        i /= dt_mesh_dim_size(mesh, dim);
    }
}

/* The rows of a plane: the last two dims at one coordinate of the others, with indices along the edges. */
static dt_status add_plane(const dt_mesh *mesh, int64_t *coordinate, dt__arena *arena, dt__text *out) {
    int across = dt_mesh_n_dims(mesh) - 1, down = across - 1;
    listed columns = list_of(dim_size(mesh, across), MAX_RANKS);
    listed rows = list_of(dim_size(mesh, down), dt_mesh_size(mesh) > SMALL ? LARGE_ROWS : MAX_ROWS);
    table plane = table_new(arena, columns.n + 1);
    const char *cells[MAX_LISTED + 1] = {""};
    for (int i = 0; i < columns.n; i++)
        cells[1 + i] = columns.items[i] == LISTED_GAP ? ".." : index_text(mesh, across, columns.items[i], arena);
    DT__TRY(table_add(&plane, cells));
    for (int row = 0; row < rows.n; row++) {
        bool is_gap = rows.items[row] == LISTED_GAP;
        cells[0] = is_gap ? ".." : down < 0 ? "" : index_text(mesh, down, rows.items[row], arena);
        for (int i = 0; i < columns.n; i++) {
            coordinate[across] = columns.items[i];
            if (down >= 0)
                coordinate[down] = rows.items[row];
            cells[1 + i] = is_gap || columns.items[i] == LISTED_GAP
                               ? ".."
                               : number_text(dt_mesh_rank_at(mesh, coordinate), arena);
        }
        DT__TRY(table_add(&plane, cells));
    }
    table_print(&plane, out);
    return DT_OK;
}

/* All ranks: a plane for each coordinate of the dims before the last two. */
static dt_status add_grid(const dt_mesh *mesh, dt__arena *arena, dt__text *out) {
    int n_dims = dt_mesh_n_dims(mesh), n_outer = n_dims > 2 ? n_dims - 2 : 0;
    int64_t coordinate[DT_MESH_MAX_DIMS] = {0};
    int64_t n_planes = dt_mesh_size(mesh) / (dim_size(mesh, n_dims - 1) * dim_size(mesh, n_dims - 2));
    listed planes = list_of(n_planes, MAX_PLANES);
    for (int i = 0; i < planes.n; i++) {
        if (planes.items[i] == LISTED_GAP) {
            dt__text_add(out, "..\n");
            continue;
        }
        set_coordinate(mesh, 0, n_outer, planes.items[i], coordinate);
        for (int dim = 0; dim < n_outer; dim++) {
            const char *index = index_text(mesh, dim, coordinate[dim], arena);
            dt__text_add(out, "%s%s%s", dim ? ", " : "", index ? index : "", dim + 1 == n_outer ? "\n" : "");
        }
        DT__TRY(add_plane(mesh, coordinate, arena, out));
    }
    return DT_OK;
}

/* "0 4 8 12": the ranks at n positions, in the mesh's order. */
typedef int64_t rank_fn(const dt_mesh *mesh, int dim, int64_t *coordinate, int64_t i);

static void add_list(const dt_mesh *mesh, int dim, int64_t *coordinate, int64_t n, rank_fn *rank_of, dt__text *out) {
    listed list = list_of(n, MAX_RANKS);
    for (int i = 0; i < list.n; i++)
        if (list.items[i] == LISTED_GAP)
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
    set_coordinate(mesh, 0, dt_mesh_n_dims(mesh), i, coordinate);
    return dt_mesh_rank_at(mesh, coordinate);
}

/* All groups along a dim: "(0 4)  (1 5)". */
static const char *groups_text(const dt_mesh *mesh, int dim, dt__arena *arena) {
    int64_t size = dt_mesh_dim_size(mesh, dim), coordinate[DT_MESH_MAX_DIMS] = {0};
    listed groups = list_of(dt_mesh_size(mesh) / size, MAX_GROUPS);
    dt__text text = dt__text_new(arena->ctx);
    for (int i = 0; i < groups.n; i++) {
        dt__text_add(&text, i ? "  " : "");
        if (groups.items[i] == LISTED_GAP) {
            dt__text_add(&text, "..");
            continue;
        }
        int64_t below = 1;
        for (int inner = dim + 1; inner < dt_mesh_n_dims(mesh); inner++)
            below *= dt_mesh_dim_size(mesh, inner);
        set_coordinate(mesh, dim + 1, dt_mesh_n_dims(mesh), groups.items[i] % below, coordinate);
        set_coordinate(mesh, 0, dim, groups.items[i] / below, coordinate);
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
        DT__TRY(table_add(&groups, (const char *[]){label_mesh_dim(mesh, dim, arena),
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
    dt__text_add(out, "\nrank %lld: coordinate and group along each dim\n", (long long)self->rank);
    table rows = table_new(arena, 2);
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++) {
        memcpy(coordinate, own, sizeof own);
        dt__text list = dt__text_new(arena->ctx);
        add_list(mesh, dim, coordinate, dt_mesh_dim_size(mesh, dim), rank_along, &list);
        const char *kept = label_keep(&list, arena);
        DT__TRY(table_add(&rows, (const char *[]){index_text(mesh, dim, own[dim], arena), kept}));
    }
    table_print(&rows, out);
    return DT_OK;
}

/* A sub-mesh: a 1-D or flattened one is one line. */
static dt_status add_submesh(const dt_mesh *submesh, bool flat, dt__arena *arena, dt__text *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS] = {0};
    if (!flat)
        return add_grid(submesh, arena, out);
    dt__text_add(out, "  ");
    add_list(submesh, 0, coordinate, dt_mesh_size(submesh), rank_of_all, out);
    dt__text_add(out, "\n");
    return DT_OK;
}

static dt_status add_submeshes(shown *self, const char *option, const char *names, void *user) {
    dt__text *out = user;
    int64_t n = dt_mesh_n_slices(self->mesh, names);
    if (dt_failed(self->session->ctx))
        return dt_error_status(self->session->ctx);
    bool flat = !strcmp(option, "flatten") || !strchr(names, ',');
    dt__text_add(out, "\n%s %s: %lld sub-mesh%s\n", option, names, (long long)n, n == 1 ? "" : "es");
    listed shown_ones = list_of(n, flat ? MAX_RANKS : MAX_PLANES);
    for (int i = 0; i < shown_ones.n; i++) {
        if (shown_ones.items[i] == LISTED_GAP) {
            dt__text_add(out, flat ? "  ..\n" : "\n  ..\n");
            continue;
        }
        dt_mesh *submesh = dt_mesh_slice_at(self->mesh, names, shown_ones.items[i]);
        if (!submesh)
            return dt_error_status(self->session->ctx);
        dt__text_add(out, i && !flat ? "\n" : "");
        DT__TRY(add_submesh(submesh, flat, self->session->arena, out));
        dt_mesh_release(submesh);
    }
    return DT_OK;
}

/* Calls the function for each --slice and --flatten, in the order of the command line. */
typedef dt_status submesh_fn(shown *self, const char *option, const char *names, void *user);

static dt_status for_submeshes(shown *self, submesh_fn *fn, void *user) {
    const arguments *args = self->session->args;
    for (int i = 0; i < args->n_options; i++) {
        const char *option = args->options[i].option->name;
        if (!strcmp(option, "slice") || !strcmp(option, "flatten"))
            DT__TRY(fn(self, option, args->options[i].value, user));
    }
    return DT_OK;
}

static dt_status print_text(shown *self, const char *text, dt__text *out) {
    dt__text_add(out, "mesh(%s), %lld rank%s\n\n", text, (long long)dt_mesh_size(self->mesh),
                 dt_mesh_size(self->mesh) == 1 ? "" : "s");
    DT__TRY(add_grid(self->mesh, self->session->arena, out));
    dt__text_add(out, "\n");
    DT__TRY(add_groups(self->mesh, self->session->arena, out));
    if (self->rank >= 0)
        DT__TRY(add_rank(self, out));
    return for_submeshes(self, add_submeshes, out);
}

/* Appends the sub-mesh of this rank to the list. */
static dt_status submesh_json(shown *self, const char *option, const char *names, void *list) {
    json_t *object = NULL;
    dt_mesh *submesh = dt_mesh_slice(self->mesh, names);
    if (!strcmp(option, "flatten"))
        submesh = dt_mesh_flatten(submesh, NULL);
    if (!submesh)
        return dt_error_status(self->session->ctx);
    DT__TRY(mesh_json(self->session->arena, submesh, &object));
    object = json_pack("{s:o, s:o}", option, string_json(names), "mesh", object);
    return json_array_append_new(list, object) ? dt__fail_memory(self->session->ctx, 0, "an answer") : DT_OK;
}

static dt_status print_json(shown *self, const char *text, dt__text *out) {
    json_t *mesh = NULL, *list = json_array();
    dt_status status = mesh_json(self->session->arena, self->mesh, &mesh);
    if (status == DT_OK)
        status = for_submeshes(self, submesh_json, list);
    json_t *answer = json_pack("{s:o, s:o?, s:o}", "text", string_json(text), "mesh", mesh, "parts", list);
    if (status != DT_OK) {
        json_decref(answer);
        return status;
    }
    return json_write_line(self->session->ctx, answer, out);
}

static dt_status run_session(session *started, void *user) {
    shown *self = user;
    self->session = started;
    self->mesh = dt_mesh_new(started->ctx, started->args->words[0]);
    const char *text = self->mesh ? dt_mesh_text(self->mesh) : NULL;
    if (!text)
        return dt_error_status(started->ctx);
    return (args_has(started->args, "json") ? print_json : print_text)(self, text, started->out);
}

static int run_mesh(const arguments *args) {
    shown self = {.rank = -1};
    if (args_int(args, "rank", 0, DT__MESH_MAX_RANKS - 1, &self.rank) != DT_OK)
        return EXIT_USAGE;
    return session_run(args, self.rank < 0 ? 0 : self.rank, run_session, &self);
}

const command mesh_command = {
    .name = "mesh",
    .summary = "print a mesh, its groups and its sub-meshes",
    .synopsis = "[OPTIONS] MESH",
    .about =
        "Prints the rank at each coordinate and the ranks that form a group along each dim. A mesh is dp=2,tp=4,\n"
        "or 2x4, or a list of ranks such as [[0,1],[2,3]], with names dp,tp=[[0,1],[2,3]]. With --ranks one size\n"
        "may be a star, dp=2,tp=*: what is left of the world.",
    .options =
        (const command_option[]){
            RANKS_OPTION,
            {.name = "rank", .value = "N", .help = "also the coordinate and the groups of this rank"},
            {.name = "slice",
             .value = "NAMES",
             .help = "the sub-meshes of these dims, such as dp,tp",
             .repeats = true},
            {.name = "flatten",
             .value = "NAMES",
             .help = "the same sub-meshes, each flattened to a list of ranks",
             .repeats = true},
            {.name = "json", .help = "print the answer of dtensor query to \"mesh\", for the rank (default 0)"},
            {0},
        },
    .examples = "  dtensor mesh dp=2,cp=2,tp=2 --rank 5\n"
                "  dtensor mesh dp=2,cp=2,tp=2 --slice dp,tp --flatten dp,tp\n"
                "  dtensor mesh 'dp=2,tp=*' --ranks 8\n"
                "  dtensor mesh 'dp,tp=[[0,2],[1,3]]' --json",
    .min_words = 1,
    .max_words = 1,
    .operand = "a mesh, such as dp=2,tp=4",
    .run = run_mesh,
};
