/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns of parameter names: * matches any characters, ? one, [abc] and [0-9] one of these. Matching takes at most
 * the product of the two lengths: only the last star is tried again.
 */
#include "train/param_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
