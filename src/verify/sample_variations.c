/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes the text: a size is a number in brackets, and equal sizes change together, so that shapes which fit each
 * other still do. Numbers below MIN_SIZE in brackets may be dims and stay.
 */
#include "verify/sample_variations.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_SIZE = 3, MAX_SIZE = 64 };

static const char *const dtypes[] = {"f64", "f16", "bf16", "i64", "i32", "i8", "u8", "bool", "c64"};
static const int sizes[] = {0, 1, 4, 7};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes, N_SIZES = sizeof sizes / sizeof *sizes };

/* Flags the sizes of a call; or appends the call to out, with size `from` replaced by `to`. */
static void walk_sizes(const char *call, bool *sizes_present, long from, int to, dt__text *out) {
    int depth = 0;
    for (const char *at = call; *at;) {
        depth += (*at == '[') - (*at == ']');
        if (!isdigit((unsigned char)*at) || depth == 0) {
            if (out)
                dt__text_add_chars(out, at, 1);
            at++;
            continue;
        }
        char *end;
        long size = strtol(at, &end, 10);
        bool is_size = size >= MIN_SIZE && size < MAX_SIZE && *end != '.';
        if (sizes_present && is_size)
            sizes_present[size] = true;
        if (out && is_size && size == from)
            dt__text_add(out, "%d", to);
        else if (out)
            dt__text_add_chars(out, at, (size_t)(end - at));
        at = end;
    }
}

static void change_dtype(const char *call, const char *dtype, dt__text *out) {
    for (const char *at = call; *at;)
        if (!strncmp(at, "f32[", 4)) {
            dt__text_add(out, "%s[", dtype);
            at += 4;
        } else
            dt__text_add_chars(out, at++, 1);
}

static dt_status add_variation(dt__arena *arena, dt__text *text, dt__text_list *out) {
    DT__TRY(dt__text_status(text));
    out->list[out->n] = dt__arena_copy_text(arena, dt__text_chars(text));
    dt__text_clear(text);
    return out->list[out->n++] ? DT_OK : DT_ERR_MEMORY;
}

static dt_status add_variations(dt__arena *arena, const char *call, dt__text *text, dt__text_list *out) {
    bool sizes_present[MAX_SIZE] = {false};
    walk_sizes(call, sizes_present, -1, 0, NULL);
    for (int size = MIN_SIZE; size < MAX_SIZE; size++)
        for (int i = 0; i < N_SIZES && sizes_present[size]; i++) {
            walk_sizes(call, NULL, size, sizes[i], text);
            if (sizes[i] != size)
                DT__TRY(add_variation(arena, text, out));
            dt__text_clear(text);
        }
    for (int i = 0; i < N_DTYPES && strstr(call, "f32["); i++) {
        change_dtype(call, dtypes[i], text);
        DT__TRY(add_variation(arena, text, out));
    }
    return DT_OK;
}

dt_status dt__sample_variations(dt__arena *arena, const char *call, dt__text_list *out) {
    dt__text text = dt__text_new(arena->ctx);
    out->list = DT__NEW_ARRAY(arena, const char *, 1 + N_DTYPES + N_SIZES * MAX_SIZE);
    if (!out->list)
        return DT_ERR_MEMORY;
    out->n = 1;
    out->list[0] = call;
    dt_status status = add_variations(arena, call, &text, out);
    dt__text_free(&text);
    return status;
}

dt_status dt__split_lines(dt__arena *arena, const char *text, dt__text_list *out) {
    out->n = 0;
    out->list = DT__NEW_ARRAY(arena, const char *, strlen(text) / 2 + 1);
    while (out->list && *text) {
        size_t n = strcspn(text, "\n");
        if (n && !(out->list[out->n++] = dt__arena_copy_chars(arena, text, n)))
            return DT_ERR_MEMORY;
        text += n + (text[n] == '\n');
    }
    return out->list ? DT_OK : DT_ERR_MEMORY;
}
