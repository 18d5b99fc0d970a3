/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor show`: which rank holds which shard of a tensor, as text, as SVG or as JSON. In text, ranks that hold the
 * same shard share a row; of many shards, and of meshes too large to be listed, only the first and the last are shown.
 */
#include "arguments.h"
#include "json.h"
#include "plan/plan.h"
#include "show_text.h"
#include "spec/spec.h"
#include "table.h"

#include <string.h>

enum {
    MAX_JSON_BYTES = 256 << 20,
    MAX_SHARDS = 64,       /* rows of the table of shards */
    MAX_DRAWN_SHARDS = 16, /* rows of that table below a picture, which shows them all */
    FIRST_SHARDS = 8,      /* of a table that is cut short */
    LAST_SHARDS = 4,
};

typedef struct show {
    session *session;
    text_style style;
    int64_t rank; /* -1: all */
    dt_spec *spec;
    holdings held;
} show;

static dt_status not_in_mesh(const show *self) {
    return dt__fail(self->session->ctx, DT_ERR_MESH, "rank %lld is not in the mesh of %lld ranks",
                    (long long)self->rank, (long long)self->held.n_positions);
}

static dt_status rank_json(void *user, int64_t position, json_t **out) {
    const show *self = user;
    int64_t coordinate[DT_MESH_MAX_DIMS];
    const dt_mesh *mesh = dt_spec_mesh(self->spec);
    dt__coordinate(self->spec->sharding.n_mesh_dims, self->spec->sharding.mesh, position, coordinate);
    if (self->rank >= 0)
        (void)dt_mesh_coordinate_of(mesh, self->rank, coordinate);
    return local_json(self->session->ctx, &self->spec->sharding, coordinate, dt_mesh_rank_at(mesh, coordinate), out);
}

static dt_status print_json(show *self, dt__text *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS], n = self->rank < 0 ? self->held.n_positions : 1;
    if (self->rank >= 0 && !dt_mesh_coordinate_of(dt_spec_mesh(self->spec), self->rank, coordinate))
        return not_in_mesh(self);
    if (n > JSON_MAX_ITEMS)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED, "cannot list %lld ranks: expected at most %d",
                        (long long)n, (int)JSON_MAX_ITEMS);
    json_t *members =
        json_pack("{s:o, s:I, s:I}", "spec", string_json(self->held.spec), "bytes",
                  (json_int_t)dt_spec_bytes(self->spec), "max_bytes", (json_int_t)dt_spec_max_bytes(self->spec));
    DT__TRY(json_write_list(self->session->ctx, members, "local", n, rank_json, self, MAX_JSON_BYTES, out));
    dt__text_add(out, "\n");
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
    DT__TRY(dt__grid_new(&self->held, self->session->arena, &drawn, &why_not));
    if (why_not)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED, "--svg: cannot draw %s", why_not);
    return dt__show_svg(&self->held, &drawn, find_position(&self->held, self->rank), self->session->arena, out);
}

static dt_status add_head(const holdings *held, dt__arena *arena, dt__text *out) {
    table dims = table_new(arena, 4);
    for (int i = 0; i < held->n_mesh_dims; i++) {
        const holdings_mesh_dim *dim = &held->mesh_dims[i];
        const char *size = label_format(arena, "%lld", (long long)dim->size);
        DT__TRY(table_add(&dims, (const char *[]){dim->name, size, dim->placement, dim->meaning}));
    }
    dt__text_add(out, "%s\n%s\n\n", held->spec, held->summary);
    table_print(&dims, out);
    return DT_OK;
}

/* The table of shards: ranks, a column per tensor dim, local shape, bytes. */
static dt_status add_titles(const holdings *held, table *shards) {
    const char *cells[DT_SPEC_MAX_DIMS + 3] = {"ranks"};
    for (int dim = 0; dim < held->n_dims; dim++)
        cells[1 + dim] = label_format(shards->arena, "dim %d", dim);
    cells[1 + held->n_dims] = "shape";
    cells[2 + held->n_dims] = "bytes";
    return table_add(shards, cells);
}

static dt_status add_shard(const holdings *held, const char *ranks, const holding *shard, table *shards) {
    const char *cells[DT_SPEC_MAX_DIMS + 3] = {ranks};
    for (int dim = 0; dim < held->n_dims; dim++)
        cells[1 + dim] = label_runs(shard->runs[dim].runs, shard->runs[dim].n, shards->arena);
    cells[1 + held->n_dims] = label_shape(shard->local.shape, held->n_dims, shards->arena);
    cells[2 + held->n_dims] = label_bytes(shard->local.bytes, shards->arena);
    for (int i = 1; shard->local.elements == 0 && i < held->n_dims + 3; i++)
        cells[i] = i == 1 ? "nothing" : "";
    return table_add(shards, cells);
}

static dt_status add_gap(const holdings *held, int64_t n, table *shards) {
    const char *cells[DT_SPEC_MAX_DIMS + 3];
    for (int i = 0; i < held->n_dims + 3; i++)
        cells[i] = "";
    cells[0] = label_format(shards->arena, ".. %lld more", (long long)n);
    return table_add(shards, cells);
}

/* Different shards have no element in common, so one that is not empty is identified by where it begins. */
static bool same_shard(const holdings *held, const holding *a, const holding *b) {
    if (a->local.elements == 0 || b->local.elements == 0)
        return a->local.elements == b->local.elements;
    return !memcmp(a->local.offset, b->local.offset, (size_t)held->n_dims * sizeof *a->local.offset);
}

/* Positions by shard: those of shard s are members[begin[s]] … members[begin[s + 1] - 1]. */
typedef struct shard_index {
    int64_t n_shards, *begin, *members;
} shard_index;

static dt_status find_shards(const holdings *held, dt__arena *arena, shard_index *out) {
    int64_t n = held->n_positions;
    *out = (shard_index){0, DT__NEW_ARRAY(arena, int64_t, n + 1), DT__NEW_ARRAY(arena, int64_t, n)};
    bool *done = DT__NEW_ARRAY(arena, bool, n);
    if (!out->begin || !out->members || !done)
        return DT_ERR_MEMORY;
    int64_t used = 0;
    for (int64_t first = 0; first < n; first++) {
        if (done[first])
            continue;
        for (int64_t position = first; position < n; position++)
            if (!done[position] && same_shard(held, &held->of[first], &held->of[position])) {
                done[position] = true;
                out->members[used++] = position;
            }
        out->begin[++out->n_shards] = used;
    }
    return DT_OK;
}

static dt_status add_shards(const holdings *held, int max_shards, dt__arena *arena, table *shards) {
    shard_index index;
    DT__TRY(find_shards(held, arena, &index));
    int64_t hidden = index.n_shards > max_shards ? index.n_shards - FIRST_SHARDS - LAST_SHARDS : 0;
    for (int64_t i = 0; i < index.n_shards; i++) {
        if (hidden && i == FIRST_SHARDS) {
            DT__TRY(add_gap(held, hidden, shards));
            i += hidden;
        }
        const int64_t *members = index.members + index.begin[i];
        const char *ranks = dt__label_holders(held, members, index.begin[i + 1] - index.begin[i], arena);
        DT__TRY(add_shard(held, ranks, &held->of[members[0]], shards));
    }
    return DT_OK;
}

/* A mesh that is not listed: its first and last ranks, one row each. */
static dt_status add_ends(const show *self, table *shards) {
    const holdings *held = &self->held;
    for (int64_t i = 0; i < 2 * LAST_SHARDS; i++) {
        int64_t position = i < LAST_SHARDS ? i : held->n_positions - 2 * LAST_SHARDS + i, rank;
        holding shard;
        if (i == LAST_SHARDS)
            DT__TRY(add_gap(held, held->n_positions - 2 * LAST_SHARDS, shards));
        DT__TRY(dt__holdings_at(self->spec, position, shards->arena, &rank, &shard));
        DT__TRY(add_shard(held, label_ranks(&rank, 1, shards->arena), &shard, shards));
    }
    return DT_OK;
}

static dt_status add_table(const show *self, int max_shards, dt__text *out) {
    const holdings *held = &self->held;
    dt__arena *arena = self->session->arena;
    table shards = table_new(arena, held->n_dims + 3);
    DT__TRY(add_titles(held, &shards));
    DT__TRY(held->of ? add_shards(held, max_shards, arena, &shards) : add_ends(self, &shards));
    dt__text_add(out, "\n");
    table_print(&shards, out);
    return DT_OK;
}

static dt_status add_picture(const show *self, const grid *drawn, dt__text *out) {
    const char *empty = NULL;
    DT__TRY(show_text_picture(drawn, &self->style, self->session->arena, out));
    DT__TRY(dt__grid_empty_ranks(&self->held, drawn, self->session->arena, &empty));
    if (empty)
        dt__text_add(out, "no elements: %s\n", empty);
    return DT_OK;
}

static dt_status print_all(const show *self, dt__text *out) {
    grid drawn;
    const char *why_not;
    DT__TRY(add_head(&self->held, self->session->arena, out));
    DT__TRY(dt__grid_new(&self->held, self->session->arena, &drawn, &why_not));
    dt__text_add(out, "\n");
    if (why_not)
        dt__text_add(out, "not drawn: %s\n", why_not);
    else
        DT__TRY(add_picture(self, &drawn, out));
    return add_table(self, why_not ? MAX_SHARDS : MAX_DRAWN_SHARDS, out);
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

/* The ranks that hold the same as a position does. */
static const char *holders_of(const holdings *held, int64_t position, dt__arena *arena) {
    int64_t *members = DT__NEW_ARRAY(arena, int64_t, held->n_positions), n = 0;
    if (!members)
        return NULL;
    for (int64_t other = 0; other < held->n_positions; other++)
        if (same_shard(held, &held->of[position], &held->of[other]))
            members[n++] = other;
    return dt__label_holders(held, members, n, arena);
}

static dt_status add_facts(const holdings *held, const holding *shard, table *facts) {
    dt__arena *arena = facts->arena;
    DT__TRY(table_add(facts, (const char *[]){"shape", label_shape(shard->local.shape, held->n_dims, arena)}));
    DT__TRY(table_add(facts, (const char *[]){"offset", label_shape(shard->local.offset, held->n_dims, arena)}));
    DT__TRY(table_add(facts, (const char *[]){"strides", label_shape(shard->local.strides, held->n_dims, arena)}));
    for (int dim = 0; dim < held->n_dims; dim++)
        DT__TRY(table_add(facts, (const char *[]){label_format(arena, "dim %d", dim),
                                                  label_runs(shard->runs[dim].runs, shard->runs[dim].n, arena)}));
    return table_add(facts, (const char *[]){"bytes", label_bytes(shard->local.bytes, arena)});
}

/* One rank in detail. */
static dt_status print_rank(const show *self, dt__text *out) {
    const holdings *held = &self->held;
    const dt__sharding *sharding = &self->spec->sharding;
    dt__arena *arena = self->session->arena;
    int64_t coordinate[DT_MESH_MAX_DIMS], rank;
    holding shard;
    if (!dt_mesh_coordinate_of(dt_spec_mesh(self->spec), self->rank, coordinate))
        return not_in_mesh(self);
    int64_t position = dt__position(sharding->n_mesh_dims, sharding->mesh, coordinate);
    table facts = table_new(arena, 2);
    DT__TRY(dt__holdings_at(self->spec, position, arena, &rank, &shard));
    DT__TRY(table_add(&facts, (const char *[]){"coordinate", coordinate_text(held, coordinate, arena)}));
    DT__TRY(add_facts(held, &shard, &facts));
    if (held->of)
        DT__TRY(table_add(&facts, (const char *[]){"held by", holders_of(held, position, arena)}));
    dt__text_add(out, "%s\nrank %lld\n\n", held->spec, (long long)rank);
    table_print(&facts, out);
    return DT_OK;
}

static dt_status run_session(session *started, void *user) {
    show *self = user;
    self->session = started;
    self->spec = dt_spec_parse(started->ctx, started->args->words[0]);
    if (!self->spec)
        return dt_error_status(started->ctx);
    DT__TRY(dt__holdings_new(self->spec, started->arena, &self->held));
    if (args_has(started->args, "svg"))
        return print_svg(self, started->out);
    if (args_has(started->args, "json"))
        return print_json(self, started->out);
    return self->rank < 0 ? print_all(self, started->out) : print_rank(self, started->out);
}

static int run_show(const arguments *args) {
    show self = {.rank = -1};
    if (args_has(args, "svg") && args_has(args, "json"))
        return args_misused(args->command, "--svg and --json exclude each other");
    if (args_int(args, "rank", 0, DT__MESH_MAX_RANKS - 1, &self.rank) != DT_OK ||
        args_text_style(args, &self.style) != DT_OK)
        return EXIT_USAGE;
    return session_run(args, 0, run_session, &self);
}

const command show_command = {
    .name = "show",
    .summary = "draw which rank holds which shard of a tensor",
    .synopsis = "[OPTIONS] TENSOR",
    .about =
        "Draws a tensor divided into the shards that the ranks hold: to scale, with the ranks in each block,\n"
        "followed by a table. \"0-3\" are four ranks that hold the same, \"sum(0,4)\" two whose values are added.\n"
        "A tensor is its dtype and shape, placements, and mesh. Placements, one per mesh dim: S(0) shard,\n"
        "S(0:3,5,2) shard of these sizes, _S(0,2) strided shard, R replicate, P(sum) partial (avg, product, min,\n"
        "max, mask); with S(0)[1],S(0)[0] the second mesh dim cuts first.\n" MESH_FORMS ", and with\n"
        "--ranks one size may be *. Pictures are drawn for up to 3 dims and 64 ranks, tables for any.",
    .options =
        (const command_option[]){
            RANKS_OPTION,
            {.name = "rank", .value = "N", .help = "only what this rank holds, in detail; in SVG, fade the rest"},
            {.name = "svg", .value = "FILE", .help = "write the drawing as SVG; - is standard output"},
            {.name = "json", .help = "print the answer of dtensor query to \"shard\", and the spec"},
            TEXT_STYLE_OPTIONS,
            {0},
        },
    .examples = "  dtensor show 'f32[1024,512] S(0),R on mesh(dp=2,tp=4)'\n"
                "  dtensor show 'f32[10,7] S(0),S(1) on mesh(3x5)' --svg shards.svg\n"
                "  dtensor show 'f32[8,8] S(0)[1],S(0)[0] on mesh(dp=2,tp=*)' --ranks 4\n"
                "  dtensor show 'bf16[4096,4096] S(0),P(sum) on mesh(dp=2,tp=4)' --rank 5",
    .min_words = 1,
    .max_words = 1,
    .operand = "a tensor, such as 'f32[8,8] S(0) on mesh(2)'",
    .run = run_show,
};
