/* SPDX-License-Identifier: Apache-2.0
 *
 * Applies a map to the tensors of files. Lines decide in their order: those with a star, of one run, layer by layer, so
 * that parameters are listed in the order of the model. The number of layers is one more than the highest that a name
 * has; every line without "?" must be found for each of them.
 */
#include "train/name_map.h"

#include "base/size.h"
#include "train/param_rules.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct applying {
    const dt__name_map *map;
    dt__arena *arena;
    const dt__stored_files *files;
    int64_t n_layers;
    bool *is_used;     /* of the entries by name */
    int64_t *elements; /* of each that parameters have */
    dt__mapped_params *out;
    dt__text missing;
    int n_missing;
};

void dt__map_expand(const char *pattern, int64_t layer, char out[DT__MAP_NAME_BYTES]) {
    const char *star = strchr(pattern, '*');
    if (star)
        (void)snprintf(out, DT__MAP_NAME_BYTES, "%.*s%" PRId64 "%s", (int)(star - pattern), pattern, layer, star + 1);
    else
        (void)snprintf(out, DT__MAP_NAME_BYTES, "%s", pattern);
}

int64_t dt__map_layer(const char *pattern, const char *name) {
    const size_t before = strcspn(pattern, "*"), after = strlen(pattern + before + 1), n = strlen(name);
    int64_t layer = 0;
    if (n <= before + after || strncmp(pattern, name, before) != 0 ||
        strcmp(pattern + before + 1, name + n - after) != 0)
        return -1;
    for (size_t i = before; i < n - after; i++)
        if (!isdigit((unsigned char)name[i]) || (name[before] == '0' && n - after > before + 1) || layer > INT32_MAX)
            return -1;
        else
            layer = 10 * layer + (name[i] - '0');
    return layer;
}

/* A name without one of the prefixes, which files may lack; NULL: it has none. */
static const char *without_prefix(const dt__name_map *map, const char *name) {
    for (int i = 0; i < map->n_prefixes; i++)
        if (!strncmp(name, map->prefixes[i].text, strlen(map->prefixes[i].text)))
            return name + strlen(map->prefixes[i].text);
    return NULL;
}

static bool matches_pattern(const dt__name_map *map, const char *pattern, const char *name) {
    const char *rest = without_prefix(map, pattern);
    return dt__pattern_matches(pattern, name) || (rest && dt__pattern_matches(rest, name));
}

/* Whether a line before this one ignores the name. */
static bool is_ignored(const dt__name_map *map, int line, const char *name) {
    for (int i = 0; i < map->n_ignored; i++)
        if (map->ignored[i].line < line && matches_pattern(map, map->ignored[i].text, name))
            return true;
    return false;
}

/* The tensor of a name as the map has it, or as files have it that lack the prefix. */
static const dt__stored_entry *find(const struct applying *a, const char *name, int line) {
    const char *rest = without_prefix(a->map, name);
    const dt__stored_entry *found = dt__stored_files_find(a->files, name);
    if (!found && rest)
        found = dt__stored_files_find(a->files, rest);
    return found && !is_ignored(a->map, line, found->tensor->name) ? found : NULL;
}

static void count_layers(struct applying *a) {
    for (int i = 0; i < a->files->n; i++)
        for (int l = 0; l < a->map->n_lines; l++) {
            const char *name = a->files->entries[i].tensor->name, *from = a->map->lines[l].from;
            if (!a->map->lines[l].has_star)
                continue;
            int64_t layer = dt__map_layer(from, name);
            if (layer < 0 && without_prefix(a->map, from))
                layer = dt__map_layer(without_prefix(a->map, from), name);
            if (layer < a->files->n) /* more layers than tensors are none */
                a->n_layers = dt__max_i64(a->n_layers, layer + 1);
        }
}

static dt_status fail(const struct applying *a, dt_status status, const char *format, ...) DT_PRINTF(3);
static dt_status fail(const struct applying *a, dt_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return dt__file_call_fail(a->files->call, status, text);
}

/* Bounds of windows. */

static dt_status value_of(const struct applying *a, const dt__map_bound *bound, int64_t *out) {
    *out = bound->n;
    if (bound->size < 0)
        return DT_OK;
    const dt__map_size *size = &a->map->sizes[bound->size];
    const dt__stored_entry *entry = find(a, size->from, INT32_MAX);
    if (!entry || entry->tensor->n_dims <= size->dim)
        return fail(a, DT_ERR_VALUE, "expected '%.100s' with a dim %d, which is %s", size->from, size->dim,
                    size->name);
    return dt__mul_i64(bound->n, entry->tensor->shape[size->dim], out)
               ? DT_OK
               : fail(a, DT_ERR_SHAPE, "%" PRId64 "%s overflows 64 bits", bound->n, size->name);
}

static dt_status set_range(const struct applying *a, const dt__map_line *line, const dt__stored_tensor *stored, int d,
                           dt__stored_window *window) {
    int64_t begin, end;
    DT__TRY(value_of(a, &line->ranges[d].begin, &begin));
    DT__TRY(value_of(a, &line->ranges[d].end, &end));
    if (begin > end || end > stored->shape[d])
        return fail(a, DT_ERR_SHAPE,
                    "'%.100s' has size %" PRId64 " in dim %d: expected at least %" PRId64 " for '%s'", stored->name,
                    stored->shape[d], d, end, line->to);
    window->begin[d] = begin;
    window->size[d] = end - begin;
    return DT_OK;
}

static dt_status set_window(struct applying *a, const dt__map_line *line, dt__mapped_param *param) {
    const dt__stored_tensor *stored = param->entry->tensor;
    const int n = stored->n_dims;
    dt__stored_window *window = DT__NEW(a->arena, dt__stored_window);
    int64_t *shape = DT__NEW_ARRAY(a->arena, int64_t, n), at = param->entry - a->files->by_name;
    if (!window || !shape)
        return DT_ERR_MEMORY;
    if (line->n_ranges > n || (line->transposed && n < 2))
        return fail(a, DT_ERR_SHAPE, "'%.100s' has %d dims: expected at least %d for '%s'", stored->name, n,
                    line->n_ranges > n ? line->n_ranges : 2, line->to);
    memcpy(window->size, stored->shape, (size_t)n * sizeof *shape);
    for (int d = 0; d < line->n_ranges; d++)
        if (line->ranges[d].is_given)
            DT__TRY(set_range(a, line, stored, d, window));
    window->transposed = line->transposed;
    for (int d = 0; d < n; d++)
        shape[d] = window->size[line->transposed && d >= n - 2 ? 2 * n - 3 - d : d];
    param->window = window;
    param->n_dims = n;
    param->shape = shape;
    a->is_used[at] = true;
    a->elements[at] += dt__elements(n, shape);
    return DT_OK;
}

/* Lines. */

static void miss(struct applying *a, const char *name) {
    enum { SHOWN = 4 };
    if (a->n_missing++ < SHOWN)
        dt__text_add(&a->missing, "%s%.60s", a->n_missing > 1 ? ", " : "", name);
    else if (a->n_missing == SHOWN + 1)
        dt__text_add(&a->missing, ", ...");
}

static dt_status add(const struct applying *a, const dt__mapped_param *param) {
    dt__mapped_params *out = a->out;
    if (out->n == out->capacity) {
        const int capacity = 2 * out->capacity + 64;
        dt__mapped_param *params = DT__NEW_ARRAY(a->arena, dt__mapped_param, capacity);
        if (!params)
            return DT_ERR_MEMORY;
        if (out->n)
            memcpy(params, out->params, (size_t)out->n * sizeof *params);
        out->params = params;
        out->capacity = capacity;
    }
    out->params[out->n++] = *param;
    return DT_OK;
}

static dt_status apply_line(struct applying *a, const dt__map_line *line, int64_t layer) {
    char from[DT__MAP_NAME_BYTES], to[DT__MAP_NAME_BYTES];
    dt__map_expand(line->from, layer, from);
    dt__mapped_param param = {.entry = find(a, from, line->line)};
    if (!param.entry && !line->tied) {
        if (!line->is_optional)
            miss(a, from);
        return DT_OK;
    }
    dt__map_expand(line->to, layer, to);
    param.name = dt__arena_copy_text(a->arena, to);
    if (!param.name)
        return DT_ERR_MEMORY;
    if (param.entry)
        DT__TRY(set_window(a, line, &param));
    else
        param.tied = line->tied;
    return add(a, &param);
}

/* Lines with a star that follow each other are one run. */
static dt_status apply_run(struct applying *a, int begin, int end) {
    for (int64_t layer = 0; layer < (a->map->lines[begin].has_star ? a->n_layers : 1); layer++)
        for (int l = begin; l < end; l++)
            DT__TRY(apply_line(a, &a->map->lines[l], layer));
    return DT_OK;
}

static dt_status apply_lines(struct applying *a) {
    for (int begin = 0, end; begin < a->map->n_lines; begin = end) {
        end = begin + 1;
        while (end < a->map->n_lines && a->map->lines[begin].has_star && a->map->lines[end].has_star)
            end++;
        DT__TRY(apply_run(a, begin, end));
    }
    return DT_OK;
}

/* What is wrong with the whole. */
static dt_status check_all(struct applying *a) {
    enum { SHOWN = 4 };
    dt__text left = dt__text_new(a->arena->ctx);
    int n_left = 0;
    for (int i = 0; i < a->files->n; i++) {
        const dt__stored_tensor *stored = a->files->by_name[i].tensor;
        if (a->is_used[i] || is_ignored(a->map, INT32_MAX, stored->name))
            continue;
        if (n_left++ < SHOWN)
            dt__text_add(&left, "%s%.60s", n_left > 1 ? ", " : "", stored->name);
        else if (n_left == SHOWN + 1)
            dt__text_add(&left, ", ...");
    }
    dt_status status = DT_OK;
    if (n_left || a->n_missing)
        status = fail(a, DT_ERR_VALUE, "the map does not fit: %d missing%s%.280s; %d that it does not name%s%.280s",
                      a->n_missing, a->n_missing ? ": " : "", dt__text_chars(&a->missing), n_left, n_left ? ": " : "",
                      dt__text_chars(&left));
    dt__text_free(&left);
    for (int i = 0; i < a->files->n && status == DT_OK; i++) {
        const dt__stored_tensor *stored = a->files->by_name[i].tensor;
        if (a->is_used[i] && a->elements[i] != dt__elements(stored->n_dims, stored->shape))
            status =
                fail(a, DT_ERR_SHAPE, "'%.100s' has %" PRId64 " elements: expected the %" PRId64 " of its parameters",
                     stored->name, dt__elements(stored->n_dims, stored->shape), a->elements[i]);
    }
    return status;
}

/* Without a map. */
static dt_status list_all(const struct applying *a) {
    for (int i = 0; i < a->files->n; i++) {
        const dt__stored_entry *entry = &a->files->entries[i];
        DT__TRY(add(a, &(dt__mapped_param){.name = entry->tensor->name,
                                           .entry = entry,
                                           .n_dims = entry->tensor->n_dims,
                                           .shape = entry->tensor->shape}));
    }
    return DT_OK;
}

dt_status dt__name_map_apply(const dt__name_map *self, dt__arena *arena, const dt__stored_files *files,
                             dt__mapped_params *out) {
    struct applying a = {
        .map = self, .arena = arena, .files = files, .out = out, .missing = dt__text_new(arena->ctx)};
    *out = (dt__mapped_params){.n = 0};
    if (!self)
        return list_all(&a);
    count_layers(&a);
    a.is_used = DT__NEW_ARRAY(arena, bool, files->n);
    a.elements = DT__NEW_ARRAY(arena, int64_t, files->n);
    if (!a.is_used || !a.elements)
        return DT_ERR_MEMORY;
    dt_status status = apply_lines(&a);
    if (status == DT_OK)
        status = check_all(&a);
    dt__text_free(&a.missing);
    return status;
}
