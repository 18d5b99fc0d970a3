/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses maps of names.
 */
#include "train/name_map.h"

#include "base/cursor.h"
#include "base/near_miss.h"
#include "train/param_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 4, MAX_LINES = 512 };

/* Where a line is: the map's own, or a line of a built-in one, which has the number of the line that uses it. */
struct parsing {
    dt__arena *arena;
    dt__name_map *out;
    int n_lines; /* so far: the order in which lines decide */
};

static bool is_name(char c) { return c && !strchr(" \t[]?=,#", c); }

/* A name at the cursor, in the arena; with star, at most one star is allowed. */
static dt_status parse_name(dt__cursor *cursor, dt__arena *arena, bool star, const char *what, const char **out) {
    size_t n = 0, stars = 0;
    (void)dt__cursor_peek(cursor);
    for (; is_name(cursor->at[n]); n++)
        stars += cursor->at[n] == '*';
    if (n == 0 || n >= DT__MAP_NAME_BYTES)
        return dt__cursor_fail(cursor, "expected %s of 1 to %d characters", what, DT__MAP_NAME_BYTES - 1);
    if (stars > (star ? 1 : 0))
        return dt__cursor_fail(cursor, star ? "expected one '*' at most" : "expected no '*'");
    *out = dt__arena_copy_chars(arena, cursor->at, n);
    cursor->at += n;
    return *out ? DT_OK : DT_ERR_MEMORY;
}

/* "E", "2E" or "64" */
static dt_status parse_bound(dt__cursor *cursor, const dt__name_map *map, dt__map_bound *out) {
    *out = (dt__map_bound){.n = 1, .size = -1};
    bool is_number = isdigit((unsigned char)dt__cursor_peek(cursor));
    if (is_number)
        DT__TRY(dt__cursor_number(cursor, 0, INT64_MAX, "a size", &out->n));
    for (int i = 0; i < map->n_sizes; i++)
        if (dt__cursor_take(cursor, map->sizes[i].name)) {
            out->size = i;
            return DT_OK;
        }
    return is_number ? DT_OK : dt__cursor_fail(cursor, "expected a number, or a size that a line above names");
}

/* "[:,E:2E]", after "[" */
static dt_status parse_ranges(dt__cursor *cursor, const dt__name_map *map, dt__map_line *out) {
    do {
        dt__map_range *range = &out->ranges[out->n_ranges];
        if (out->n_ranges == DT__MAP_MAX_DIMS)
            return dt__cursor_fail(cursor, "expected at most %d dims", DT__MAP_MAX_DIMS);
        out->n_ranges++;
        if (dt__cursor_take(cursor, ":"))
            continue;
        range->is_given = true;
        DT__TRY(parse_bound(cursor, map, &range->begin));
        DT__TRY(dt__cursor_expect(cursor, ":", "between the bounds"));
        DT__TRY(parse_bound(cursor, map, &range->end));
    } while (dt__cursor_take(cursor, ","));
    return dt__cursor_expect(cursor, "]", "after the ranges");
}

/* "FROM[ranges]? T -> TO = TIED" */
static dt_status parse_pair(struct parsing *p, dt__cursor *cursor) {
    dt__map_line *line = &p->out->lines[p->out->n_lines];
    *line = (dt__map_line){.line = p->n_lines};
    DT__TRY(parse_name(cursor, p->arena, true, "a name", &line->from));
    if (dt__cursor_skip(cursor, "["))
        DT__TRY(parse_ranges(cursor, p->out, line));
    line->is_optional = dt__cursor_skip(cursor, "?");
    line->transposed = dt__cursor_take(cursor, "T");
    DT__TRY(dt__cursor_expect(cursor, "->", "after the name"));
    DT__TRY(parse_name(cursor, p->arena, true, "a name", &line->to));
    line->has_star = strchr(line->from, '*');
    if (line->has_star != !!strchr(line->to, '*'))
        return dt__cursor_fail(cursor, "expected a '*' in both names or in none");
    if (dt__cursor_take(cursor, "="))
        DT__TRY(parse_name(cursor, p->arena, false, "the name to which it is tied", &line->tied));
    p->out->n_lines++;
    return DT_OK;
}

/* "E = FROM[1]", after "=" */
static dt_status parse_size(struct parsing *p, dt__cursor *cursor, const char *name) {
    dt__map_size *size = &p->out->sizes[p->out->n_sizes];
    int64_t dim;
    for (const char *c = name; *c; c++)
        if (!isupper((unsigned char)*c))
            return dt__cursor_fail(cursor, "expected a size in capital letters before '='");
    DT__TRY(parse_name(cursor, p->arena, false, "a name", &size->from));
    DT__TRY(dt__cursor_expect(cursor, "[", "after the name"));
    DT__TRY(dt__cursor_number(cursor, 0, DT__MAP_MAX_DIMS - 1, "a dim", &dim));
    DT__TRY(dt__cursor_expect(cursor, "]", "after the dim"));
    size->name = name;
    size->dim = (int)dim;
    p->out->n_sizes++;
    return DT_OK;
}

static dt_status parse_word(struct parsing *p, dt__cursor *cursor, dt__map_word *words, int *n) {
    dt__map_word *word = &words[*n];
    (void)dt__cursor_peek(cursor);
    const size_t length = strcspn(cursor->at, " \t");
    *word = (dt__map_word){p->n_lines, dt__arena_copy_chars(p->arena, cursor->at, length)};
    if (!word->text)
        return DT_ERR_MEMORY;
    if (dt__pattern_problem(word->text))
        return dt__cursor_fail(cursor, "%s", dt__pattern_problem(word->text));
    cursor->at += length;
    (*n)++;
    return DT_OK;
}

static dt_status parse_text(struct parsing *p, const char *text, int depth);

static dt_status parse_use(struct parsing *p, dt__cursor *cursor, int depth) {
    const char *name, *text;
    DT__TRY(parse_name(cursor, p->arena, false, "the name of a map", &name));
    text = dt__name_map_text(name);
    if (!text || depth == MAX_DEPTH)
        return dt__cursor_fail(cursor, "expected gpt2 or llama, got '%.40s'", name);
    return parse_text(p, text, depth + 1);
}

static dt_status parse_line(struct parsing *p, dt__cursor *cursor, int depth) {
    const char *start = cursor->at, *name;
    if (p->n_lines++ >= MAX_LINES)
        return dt__cursor_fail(cursor, "expected at most %d lines", MAX_LINES);
    if (dt__cursor_take(cursor, "ignore"))
        return parse_word(p, cursor, p->out->ignored, &p->out->n_ignored);
    if (dt__cursor_take(cursor, "prefix"))
        return parse_word(p, cursor, p->out->prefixes, &p->out->n_prefixes);
    if (dt__cursor_take(cursor, "use"))
        return parse_use(p, cursor, depth);
    DT__TRY(parse_name(cursor, p->arena, true, "a name", &name));
    if (dt__cursor_take(cursor, "="))
        return parse_size(p, cursor, name);
    cursor->at = start;
    return parse_pair(p, cursor);
}

static dt_status parse_text(struct parsing *p, const char *text, int depth) {
    int number = 1;
    for (const char *at = text; at; number++) {
        const char *end = strchr(at, '\n');
        char what[32], *line = dt__arena_copy_chars(p->arena, at, end ? (size_t)(end - at) : strlen(at));
        if (!line)
            return DT_ERR_MEMORY;
        line[strcspn(line, "#\r")] = 0;
        (void)snprintf(what, sizeof what, "map: line %d", number);
        dt__cursor cursor = dt__cursor_new(p->arena->ctx, DT_ERR_VALUE, what, line);
        if (dt__cursor_peek(&cursor)) {
            DT__TRY(parse_line(p, &cursor, depth));
            if (dt__cursor_peek(&cursor))
                return dt__cursor_fail(&cursor, "expected the end of the line");
        }
        at = end ? end + 1 : NULL;
    }
    return DT_OK;
}

dt_status dt__name_map_parse(dt__arena *arena, const char *text, dt__name_map *out) {
    const char *built_in = dt__name_map_text(text);
    *out = (dt__name_map){.lines = DT__NEW_ARRAY(arena, dt__map_line, MAX_LINES),
                          .sizes = DT__NEW_ARRAY(arena, dt__map_size, MAX_LINES),
                          .ignored = DT__NEW_ARRAY(arena, dt__map_word, MAX_LINES),
                          .prefixes = DT__NEW_ARRAY(arena, dt__map_word, MAX_LINES)};
    if (!out->lines || !out->sizes || !out->ignored || !out->prefixes)
        return DT_ERR_MEMORY;
    struct parsing parsing = {arena, out, 0};
    return parse_text(&parsing, built_in ? built_in : text, 0);
}
