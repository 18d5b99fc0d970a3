/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor show`: which rank holds which part of a tensor, as text, as a picture in SVG, or as JSON. The mesh may be
 * of any size, because nothing is run: a context of its own stands for a rank of the largest world.
 */
#include "args.h"
#include "grid.h"
#include "json_text.h"
#include "local_json.h"
#include "mesh/mesh.h"
#include "mesh_json.h"
#include "output.h"
#include "placed.h"
#include "session.h"
#include "show_report.h"
#include "show_svg.h"
#include "spec/spec.h"

#include <string.h>

enum { MAX_JSON_BYTES = 256 << 20 };

/* What is shown. */
typedef struct show {
    session *session;
    canvas_style style;
    int64_t rank; /* -1: all */
    dt_spec *spec;
    holdings held;
} show;

/* The mesh dim at *text, by number or by name. */
static bool read_mesh_dim(const dt_mesh *mesh, const char **text, int *out) {
    size_t n = strcspn(*text, ",");
    char name[256];
    int64_t number = -1;
    const char *at = *text;
    if (n >= sizeof name)
        return false;
    memcpy(name, *text, n);
    name[n] = 0;
    *text += n;
    if (placed_number(&at, &number) && at == *text && number < dt_mesh_n_dims(mesh))
        *out = (int)number;
    else
        *out = dt_mesh_dim(mesh, name);
    return *out >= 0;
}

/* "0=tp,dp": mesh dim tp cuts tensor dim 0 first, then dp. */
static dt_status apply_order(show *self, const dt_mesh *mesh, const char *text, int n, dt_placement *placements) {
    const char *at = text;
    int mesh_dims[DT_SPEC_MAX_DIMS], n_mesh_dims = 0;
    int64_t dim = 0;
    bool ok = placed_number(&at, &dim) && dim < DT_SPEC_MAX_DIMS && *at == '=';
    do
        at++;
    while (ok && n_mesh_dims < DT_SPEC_MAX_DIMS && (ok = read_mesh_dim(mesh, &at, &mesh_dims[n_mesh_dims++])) &&
           *at == ',');
    if (!ok || *at)
        return dt__fail(self->session->ctx, DT_ERR_PLACEMENT,
                        "'%s' is not an order; wanted a tensor dim and the mesh dims that cut it, such as 0=1,0",
                        text);
    return dt_placements_set_order(self->session->ctx, n, placements, (int)dim, n_mesh_dims, mesh_dims);
}

static dt_status make_spec(show *self, const char *placements_text) {
    int64_t shape[DT_SPEC_MAX_DIMS];
    dt_spec_desc desc = {.shape = shape};
    DT__TRY(placed_dtype(self->session, &desc.dtype));
    DT__TRY(placed_shape(self->session, args_value(self->session->given, "shape"), shape, &desc.n_dims));
    dt_mesh *mesh = placed_mesh(self->session, "mesh");
    if (!mesh)
        return dt_error_status(self->session->ctx);
    dt_placement *placements = NULL;
    DT__TRY(dt__placements_parse(self->session->arena, placements_text, &desc.n_placements, &placements));
    for (int i = 0; i < self->session->given->n_given; i++)
        if (!strcmp(self->session->given->given[i].option->name, "order"))
            DT__TRY(apply_order(self, mesh, self->session->given->given[i].value, desc.n_placements, placements));
    desc.placements = placements;
    self->spec = dt_spec_new(mesh, &desc);
    return dt_error_status(self->session->ctx);
}

/* A whole spec as one text, or placements beside --mesh and --shape. */
static dt_status read_spec(show *self) {
    if (args_has(self->session->given, "mesh"))
        return make_spec(self, self->session->given->words[0]);
    self->spec = dt_spec_parse(self->session->ctx, self->session->given->words[0]);
    return dt_error_status(self->session->ctx);
}

static dt_status add_json_rank(const show *self, const int64_t *coordinate, dt__text *out) {
    int64_t rank = dt_mesh_rank_at(dt_spec_mesh(self->spec), coordinate);
    if (local_json(&self->spec->sharding, coordinate, rank, MAX_JSON_BYTES, out))
        return DT_OK;
    return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED,
                    "the parts are in too many pieces: more than %d bytes of JSON", (int)MAX_JSON_BYTES);
}

static dt_status add_json_ranks(const show *self, dt__text *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS], n = self->held.n_positions;
    if (self->rank >= 0) {
        if (!dt_mesh_coordinate_of(dt_spec_mesh(self->spec), self->rank, coordinate))
            return dt__fail(self->session->ctx, DT_ERR_MESH, "rank %lld is not in the mesh of %lld ranks",
                            (long long)self->rank, (long long)n);
        return add_json_rank(self, coordinate, out);
    }
    if (n > MESH_JSON_MAX_RANKS)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED, "the mesh has %lld ranks, and at most %d are listed",
                        (long long)n, (int)MESH_JSON_MAX_RANKS);
    for (int64_t position = 0; position < n; position++) {
        for (int64_t left = position, i = self->held.n_mesh_dims - 1; i >= 0; left /= self->held.mesh_dims[i--].size)
            coordinate[i] = left % self->held.mesh_dims[i].size;
        json_add(out, position ? "," : "");
        DT__TRY(add_json_rank(self, coordinate, out));
    }
    return DT_OK;
}

static dt_status print_json(show *self, dt__text *out) {
    json_add(out, "{\"spec\":");
    json_add_string(out, self->held.spec);
    json_add(out, ",\"bytes\":");
    json_add_int(out, dt_spec_bytes(self->spec));
    json_add(out, ",\"max_bytes\":");
    json_add_int(out, dt_spec_max_bytes(self->spec));
    json_add(out, ",\"local\":[");
    DT__TRY(add_json_ranks(self, out));
    json_add(out, "]}\n");
    return DT_OK;
}

static int64_t find_position(const holdings *held, int64_t rank) {
    for (int64_t position = 0; held->ranks && position < held->n_positions; position++)
        if (held->ranks[position] == rank)
            return position;
    return -1;
}

static dt_status print_svg(show *self, dt__text *out) {
    grid drawn;
    const char *why_not;
    DT__TRY(grid_new(&self->held, self->session->arena, &drawn, &why_not));
    if (why_not)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED, "there is no picture of %s", why_not);
    return show_svg(&self->held, &drawn, find_position(&self->held, self->rank), self->session->arena, out);
}

static dt_status print_text(show *self, dt__text *out) {
    if (self->rank >= 0)
        return show_report_rank(self->spec, &self->held, self->rank, self->session->arena, out);
    return show_report(self->spec, &self->held, &self->style, self->session->arena, out);
}

static dt_status show_it(session *run_by, void *user) {
    show *self = user;
    const char *svg = args_value(run_by->given, "svg");
    self->session = run_by;
    DT__TRY(read_spec(self));
    DT__TRY(holdings_new(self->spec, run_by->arena, &self->held));
    DT__TRY((svg ? print_svg : args_has(run_by->given, "json") ? print_json : print_text)(self, run_by->out));
    DT__TRY(dt__text_status(run_by->out));
    return output_write(run_by->out, svg);
}

/* What getopt cannot check. */
static int misuse(const args *given, show *self) {
    const command *of = given->command;
    if (given->n_words == 0)
        return args_misused(of, "the placements are missing");
    if (args_has(given, "mesh") != args_has(given, "shape"))
        return args_misused(of, "--mesh and --shape go together");
    if (!args_has(given, "mesh") && (args_has(given, "order") || args_has(given, "dtype")))
        return args_misused(of, "--order and --dtype go with --mesh and --shape");
    if (args_has(given, "svg") && args_has(given, "json"))
        return args_misused(of, "--svg and --json exclude each other");
    if (args_has(given, "rank") && args_number(given, "rank", 0, DT__MESH_MAX_RANKS - 1, &self->rank) != DT_OK)
        return EXIT_USAGE;
    return output_style(given, &self->style) == DT_OK ? EXIT_OK : EXIT_USAGE;
}

static int run(const command *self, int argc, char **argv) {
    args given;
    show one = {.rank = -1};
    dt_status parsed = args_parse(self, argc, argv, 1, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    if (misuse(&given, &one) != EXIT_OK)
        return EXIT_USAGE;
    return session_run(&given, 0, show_it, &one);
}

const command show_command = {
    .name = "show",
    .summary = "draw which rank holds which part of a tensor",
    .synopsis = "--mesh MESH --shape SIZES [OPTIONS] PLACEMENTS\n       dtensor show [OPTIONS] SPEC",
    .about =
        "Draws a tensor cut into the parts that the ranks hold: to scale, with the ranks in each part, followed by\n"
        "a table. \"0-3\" are four ranks that hold the same, \"sum(0,4)\" two whose values have to be added.\n"
        "Placements, one per mesh dim: S(0) shard, S(0:3,5,2) with these sizes, _S(0,2) strided shard,\n"
        "R replicate, P(sum) partial (avg, product, min, max, mask). A mesh is dp=2,tp=4, or 2x4, or a list of\n"
        "ranks such as [[0,1],[2,3]]. Pictures are drawn for up to 3 dims and 64 ranks, tables for any.",
    .options =
        (const command_option[]){
            {.name = "mesh", .value = "MESH", .help = "the mesh"},
            {.name = "shape", .value = "SIZES", .help = "sizes of the whole tensor, such as 1024,512"},
            {.name = "dtype", .value = "DTYPE", .help = "element type, for the bytes; default f32"},
            {.name = "order",
             .value = "DIM=MESHDIMS",
             .help = "the order in which mesh dims cut a dim: 0=tp,dp",
             .repeats = true},
            {.name = "rank", .value = "N", .help = "only what this rank holds, in detail; in SVG, the rest is faded"},
            {.name = "svg", .value = "FILE", .help = "write the picture as SVG; - is standard output"},
            {.name = "json", .help = "print what dtensor query answers to \"shard\", and the spec"},
            OUTPUT_STYLE_OPTIONS,
            {0},
        },
    .examples = "  dtensor show --mesh dp=2,tp=4 --shape 1024,512 'S(0),R'\n"
                "  dtensor show --mesh 3x5 --shape 10,7 'S(0),S(1)' --svg parts.svg\n"
                "  dtensor show --mesh dp=2,tp=2 --shape 8,8 --order 0=tp,dp 'S(0),S(0)'\n"
                "  dtensor show 'bf16[4096,4096] S(0),P(sum) on mesh(dp=2,tp=4)' --rank 5",
    .run = run,
};
