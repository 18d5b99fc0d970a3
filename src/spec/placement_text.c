/* SPDX-License-Identifier: Apache-2.0
 *
 * The text form of placements: one parser, one printer. Parsing what the printer writes returns the same values. A
 * bracket is printed for ordered placements. dt__placements_normalize checks lists against a mesh, not the parser;
 * named_placements.c brings lists with names to the order of a mesh.
 */
#include "spec/placement_text.h"

#include "base/near_miss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

dt__sink dt__sink_new(size_t capacity, char *chars) {
    if (capacity)
        chars[0] = 0;
    return (dt__sink){.chars = chars, .capacity = capacity};
}

void dt__sink_add(dt__sink *sink, const char *format, ...) {
    bool open = sink->n_chars < sink->capacity;
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(open ? sink->chars + sink->n_chars : NULL, open ? sink->capacity - sink->n_chars : 0, format, args);
    va_end(args);
    sink->n_chars += n > 0 ? (size_t)n : 0;
}

static void print_cut(dt__sink *sink, const dt_placement *placement) {
    dt__sink_add(sink, placement->kind == DT_PLACEMENT_STRIDED ? "_S(%d" : "S(%d", placement->dim);
    if (placement->kind == DT_PLACEMENT_STRIDED)
        dt__sink_add(sink, ",%" PRId64, placement->split_factor);
    for (int64_t r = 0; r < placement->n_extents && placement->extents; r++)
        dt__sink_add(sink, "%c%" PRId64, r ? ',' : ':', placement->extents[r]);
    dt__sink_add(sink, ")");
    if (placement->ordered)
        dt__sink_add(sink, "[%d]", placement->position);
}

static void print_partial(dt__sink *sink, const dt_placement *placement) {
    dt__sink_add(sink, "P(%s)", dt_reduce_name(placement->reduce));
}
static void print_replicate(dt__sink *sink, const dt_placement *placement) {
    (void)placement;
    dt__sink_add(sink, "R");
}
static void print_masked(dt__sink *sink, const dt_placement *placement) {
    (void)placement;
    dt__sink_add(sink, "P(mask)");
}

static void (*const print_kind[DT_N_PLACEMENT_KINDS])(dt__sink *sink, const dt_placement *placement) = {
    [DT_PLACEMENT_REPLICATE] = print_replicate, [DT_PLACEMENT_SHARD] = print_cut,
    [DT_PLACEMENT_STRIDED] = print_cut,         [DT_PLACEMENT_PARTIAL] = print_partial,
    [DT_PLACEMENT_MASKED] = print_masked,
};

void dt__sink_add_placements(dt__sink *sink, int n, const dt_placement *placements) {
    for (int m = 0; m < n; m++) {
        dt__sink_add(sink, m ? "," : "");
        if ((unsigned)placements[m].kind < DT_N_PLACEMENT_KINDS)
            print_kind[placements[m].kind](sink, &placements[m]);
        else
            dt__sink_add(sink, "?");
    }
}

size_t dt_placements_text(int n, const dt_placement *placements, size_t capacity, char *out) {
    dt__sink sink = dt__sink_new(capacity, out);
    dt__sink_add_placements(&sink, n, placements);
    return sink.n_chars;
}

static dt_status parse_dim(dt__cursor *cursor, dt_placement *out) {
    int64_t dim;
    DT__TRY(dt__cursor_number(cursor, -DT_SPEC_MAX_DIMS, DT_SPEC_MAX_DIMS - 1, "a tensor dim", &dim));
    out->dim = (int)dim;
    return DT_OK;
}

static dt_status parse_position(dt__cursor *cursor, dt_placement *out) {
    int64_t position;
    if (!dt__cursor_take(cursor, "["))
        return DT_OK;
    DT__TRY(dt__cursor_number(cursor, 0, DT_SPEC_MAX_DIMS - 1, "a position in the order of shards", &position));
    out->ordered = true;
    out->position = (int)position;
    return dt__cursor_expect(cursor, "]", "after the position");
}

static dt_status parse_extents(dt__cursor *cursor, dt__arena *arena, dt_placement *out) {
    size_t max_extents = 1;
    for (const char *at = cursor->at; *at && *at != ')'; at++)
        max_extents += *at == ',';
    int64_t *extents = DT__NEW_ARRAY(arena, int64_t, max_extents);
    if (!extents)
        return DT_ERR_MEMORY;
    out->extents = extents;
    do {
        DT__TRY(dt__cursor_number(cursor, 0, INT64_MAX, "an extent", &extents[out->n_extents]));
        out->n_extents++;
    } while (dt__cursor_take(cursor, ","));
    return DT_OK;
}

static dt_status parse_shard(dt__cursor *cursor, dt__arena *arena, dt_placement *out) {
    DT__TRY(parse_dim(cursor, out));
    if (dt__cursor_take(cursor, ":"))
        DT__TRY(parse_extents(cursor, arena, out));
    DT__TRY(
        dt__cursor_expect(cursor, ")", out->n_extents ? "after the extents" : "or ':' and extents after the dim"));
    return parse_position(cursor, out);
}

static dt_status parse_strided(dt__cursor *cursor, dt__arena *arena, dt_placement *out) {
    (void)arena;
    DT__TRY(parse_dim(cursor, out));
    DT__TRY(dt__cursor_expect(cursor, ",", "and a split factor after the dim"));
    DT__TRY(dt__cursor_number(cursor, 1, INT64_MAX, "a split factor", &out->split_factor));
    DT__TRY(dt__cursor_expect(cursor, ")", "after the split factor"));
    return parse_position(cursor, out);
}

static dt_status refuse_partial(dt__cursor *cursor) {
    static const char kinds[] = "sum, avg, product, min, max or mask";
    dt__cursor_peek(cursor);
    dt__near_miss near = dt__near_miss_of(cursor->at, strcspn(cursor->at, " ,;)"));
    dt__near_miss_add_list(&near, kinds);
    return dt__cursor_fail(cursor, "expected a kind of partial: %s%s", kinds, dt__near_miss_hint(&near));
}

static dt_status parse_partial(dt__cursor *cursor, dt__arena *arena, dt_placement *out) {
    (void)arena;
    int reduce = 0;
    while (reduce < DT_N_REDUCES && !dt__cursor_take(cursor, dt_reduce_name((dt_reduce)reduce)))
        reduce++;
    if (reduce < DT_N_REDUCES)
        *out = dt_placement_partial((dt_reduce)reduce);
    else if (dt__cursor_take(cursor, "mask"))
        *out = dt_placement_masked();
    else
        return refuse_partial(cursor);
    return dt__cursor_expect(cursor, ")", "after the kind of partial");
}

/* The letters that begin a placement. */
static const struct {
    const char *word;
    dt_placement_kind kind;
    dt_status (*parse)(dt__cursor *cursor, dt__arena *arena, dt_placement *out); /* NULL: nothing follows */
} letters[] = {
    {"S", DT_PLACEMENT_SHARD, parse_shard},
    {"R", DT_PLACEMENT_REPLICATE, NULL},
    {"P", DT_PLACEMENT_PARTIAL, parse_partial},
    {"_S", DT_PLACEMENT_STRIDED, parse_strided},
};

dt_status dt__cursor_placement(dt__cursor *cursor, dt__arena *arena, dt_placement *out) {
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (!dt__cursor_take(cursor, letters[i].word))
            continue;
        *out = (dt_placement){.kind = letters[i].kind};
        if (!letters[i].parse)
            return DT_OK;
        DT__TRY(dt__cursor_expect(cursor, "(", "after the letter of the placement"));
        return letters[i].parse(cursor, arena, out);
    }
    return dt__cursor_fail(cursor, "expected a placement: S(0), R, P(sum), _S(0,2)");
}

/* "tp=" before a placement: the name; 0 characters where there is none. */
static size_t name_length(dt__cursor *cursor) {
    dt__cursor_peek(cursor);
    if (!strchr(cursor->at, '=')) /* the usual case, which takes no sets of characters */
        return 0;
    size_t n = strcspn(cursor->at, " \t,;=:()[]");
    return cursor->at[n + strspn(cursor->at + n, " \t")] == '=' ? n : 0;
}

/* All placements of a list have names, or none has. */
static dt_status parse_name(dt__cursor *cursor, dt__arena *arena, dt__placement_list *out) {
    size_t n = name_length(cursor);
    if (out->n == 0 && n > 0 && !(out->names = DT__NEW_ARRAY(arena, const char *, DT_SPEC_MAX_DIMS)))
        return DT_ERR_MEMORY;
    if (!out->names != (n == 0))
        return dt__cursor_fail(cursor, out->names
                                           ? "expected a mesh dim, as in tp=S(0): the placements before it have names"
                                           : "expected a placement without a name, as those before it");
    if (n == 0)
        return DT_OK;
    if (!(out->names[out->n] = dt__arena_copy_chars(arena, cursor->at, n)))
        return DT_ERR_MEMORY;
    cursor->at += n;
    return dt__cursor_expect(cursor, "=", "after the mesh dim");
}

dt_status dt__cursor_placements(dt__cursor *cursor, dt__arena *arena, dt__placement_list *out) {
    *out = (dt__placement_list){.placements = DT__NEW_ARRAY(arena, dt_placement, DT_SPEC_MAX_DIMS)};
    if (!out->placements)
        return DT_ERR_MEMORY;
    if (!dt__cursor_peek(cursor))
        return DT_OK;
    do {
        if (out->n == DT_SPEC_MAX_DIMS)
            return dt__cursor_fail(cursor, "expected at most %d placements", DT_SPEC_MAX_DIMS);
        DT__TRY(parse_name(cursor, arena, out));
        DT__TRY(dt__cursor_placement(cursor, arena, &out->placements[out->n]));
        out->n++;
    } while (dt__cursor_take(cursor, ","));
    return DT_OK;
}

dt_status dt__placement_list_parse(dt__arena *arena, const char *text, dt__placement_list *out) {
    dt__cursor cursor = dt__cursor_new(arena->ctx, DT_ERR_PLACEMENT, "placements", text);
    DT__TRY(dt__cursor_placements(&cursor, arena, out));
    if (dt__cursor_peek(&cursor))
        return dt__cursor_fail(&cursor, "expected ',' or the end after a placement");
    return DT_OK;
}

dt_status dt__placements_parse(dt__arena *arena, const char *text, int *n, dt_placement **out) {
    return dt__placements_parse_on(arena, text, NULL, NULL, n, out);
}

dt_status dt__placements_parse_on(dt__arena *arena, const char *text, dt_mesh *mesh, const dt_placement *others,
                                  int *n, dt_placement **out) {
    dt__placement_list list;
    DT__TRY(dt__placement_list_parse(arena, text, &list));
    return dt__placements_resolve_names(arena, &list, mesh, others, n, out);
}

/* The result of dt_placements_parse: placements and then their extents, in one block that stores its size. */
typedef struct parsed {
    size_t bytes;
    dt_placement placements[];
} parsed;

static parsed *copy_out(dt_ctx *ctx, int n, const dt_placement *placements) {
    size_t bytes = sizeof(parsed) + (size_t)n * sizeof *placements;
    for (int m = 0; m < n; m++)
        bytes += (size_t)placements[m].n_extents * sizeof(int64_t);
    parsed *out = dt__alloc_zeroed(ctx, bytes);
    if (!out) {
        dt__fail_memory(ctx, bytes, "placements");
        return NULL;
    }
    out->bytes = bytes;
    int64_t *extents = (int64_t *)(out->placements + n);
    for (int m = 0; m < n; m++) {
        out->placements[m] = placements[m];
        if (!placements[m].n_extents)
            continue;
        out->placements[m].extents =
            memcpy(extents, placements[m].extents, (size_t)placements[m].n_extents * sizeof *extents);
        extents += placements[m].n_extents;
    }
    return out;
}

dt_placement *dt_placements_parse_site(dt_ctx *ctx, const char *text, int *n, const dt_site *site) {
    DT__ENTER(ctx, "placements_parse", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    dt__arena arena = dt__arena_new(ctx);
    dt_placement *placements;
    parsed *out = NULL;
    if (!text)
        dt__fail(ctx, DT_ERR_PLACEMENT, "the text is NULL");
    else if (dt__placements_parse(&arena, text, n, &placements) == DT_OK)
        out = copy_out(ctx, *n, placements);
    dt__arena_free(&arena);
    return out ? out->placements : NULL;
}

void dt_placements_free(dt_ctx *ctx, dt_placement *placements) {
    if (!placements)
        return;
    parsed *block = (parsed *)((char *)placements - offsetof(parsed, placements));
    dt__free(ctx, block, block->bytes);
}
