/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns of parameter names: * matches any characters, ? one, [abc] and [0-9] one of these. Matching takes at most
 * the product of the two lengths: only the last star is tried again. A pattern that matches no name has the distance of
 * each: the fewest characters that are inserted, left out or replaced so that it would match.
 */
#include "train/param_rules.h"

#include "base/size.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_MISSES = 2 }; /* of a near name */

/* Whether a character is in the set at "[", and the end of the set. */
static bool in_set(const char *set, char c, const char **end) {
    bool found = false;
    const char *at = set + 1;
    for (; *at && *at != ']'; at++) {
        if (at[1] == '-' && at[2] && at[2] != ']') {
            found = found || ((unsigned char)at[0] <= (unsigned char)c && (unsigned char)c <= (unsigned char)at[2]);
            at += 2;
        } else {
            found = found || *at == c;
        }
    }
    *end = *at ? at + 1 : at;
    return found;
}

/* Whether the pattern's next element, which is not a star, matches a character; and what follows the element. */
static bool matches_one(const char *pattern, char c, const char **next) {
    if (*pattern == '[')
        return in_set(pattern, c, next);
    *next = pattern + 1;
    return *pattern == '?' || *pattern == c;
}

bool dt__pattern_matches(const char *pattern, const char *name) {
    const char *after_star = NULL, *retry = NULL, *next;
    while (*name) {
        if (*pattern == '*') {
            after_star = ++pattern;
            retry = name;
        } else if (*pattern && matches_one(pattern, *name, &next)) {
            pattern = next;
            name++;
        } else if (after_star) {
            pattern = after_star;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* One row per element of the pattern: row[j] is the distance of the elements so far and the first j characters of the
 * name. */
static int64_t distance(const char *pattern, const char *name, int n) {
    int64_t row[DT__PATTERN_MISS_CHARS + 1], nearest = INT64_MAX;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (const char *next; *pattern; pattern = next) {
        const bool is_star = *pattern == '*';
        int64_t before = row[0]; /* row[j - 1] of the element before */
        next = pattern + 1;
        (void)(is_star || matches_one(pattern, 0, &next));
        row[0] += !is_star;
        for (int j = 1; j <= n; j++) {
            const char *end;
            int64_t replaced = is_star ? row[j] : before + !matches_one(pattern, name[j - 1], &end);
            int64_t inserted = row[j - 1] + !is_star, left_out = row[j] + !is_star;
            before = row[j];
            row[j] = dt__min_i64(replaced, dt__min_i64(inserted, left_out));
        }
    }
    for (int j = 0; j <= n; j++)
        nearest = dt__min_i64(nearest, row[j]);
    return nearest == 0 ? dt__min_i64(row[n], 1) : row[n]; /* a name that begins with the pattern is near */
}

dt__pattern_miss dt__pattern_miss_new(const char *pattern) {
    int n_literal = 0;
    for (const char *at = pattern; *at; at++)
        n_literal += !strchr("*?[]", *at);
    return (dt__pattern_miss){.pattern = pattern, .distance = dt__min_i64(MAX_MISSES, (n_literal + 1) / 3) + 1};
}

void dt__pattern_miss_add(dt__pattern_miss *self, const char *name) {
    const size_t n = strlen(name);
    const int64_t found = n <= DT__PATTERN_MISS_CHARS ? distance(self->pattern, name, (int)n) : INT64_MAX;
    if (found >= self->distance)
        return;
    char text[DT__PATTERN_MISS_CHARS + 1];
    dt__pattern_of_name(name, sizeof text, text);
    self->distance = found;
    (void)snprintf(self->hint, sizeof self->hint, "; did you mean %s?", text);
}

const char *dt__pattern_problem(const char *pattern) {
    for (const char *at = pattern; *at; at++) {
        if (*at != '[')
            continue;
        const char *end = strchr(at, ']');
        if (!end || end == at + 1)
            return end ? "expected characters between '[' and ']'" : "expected ']' after '['";
        at = end;
    }
    return *pattern ? NULL : "expected a pattern";
}

void dt__pattern_of_name(const char *name, size_t capacity, char *out) {
    dt__sink sink = dt__sink_new(capacity, out);
    while (*name) {
        size_t n = strcspn(name, "."), digits = 0;
        while (isdigit((unsigned char)name[digits]))
            digits++;
        if (n > 0 && digits == n)
            dt__sink_add(&sink, "*");
        else
            dt__sink_add(&sink, "%.*s", (int)n, name);
        name += n;
        if (*name)
            dt__sink_add(&sink, ".");
        name += *name == '.';
    }
}
