/* SPDX-License-Identifier: Apache-2.0
 *
 * The distance of two words (Damerau and Levenshtein, each letter edited at most once), and the nearest of several.
 */
#include "base/near_miss.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static char lowered(char c) { return c == '-' ? '_' : (char)tolower((unsigned char)c); }

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

/* rows[i % 3][j]: the distance of the first i letters of a and the first j of b, which have at most
 * DT__NEAR_MISS_CHARS. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b) {
    size_t rows[3][DT__NEAR_MISS_CHARS + 1];
    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before_last = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            char x = lowered(a[i - 1]), y = lowered(b[j - 1]);
            row[j] = min(min(row[j - 1], last[j]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lowered(b[j - 2]) && y == lowered(a[i - 2]))
                row[j] = min(row[j], before_last[j - 2] + 1);
        }
    }
    return rows[n_a % 3][n_b];
}

/* One edit in every three letters. */
static size_t max_distance(size_t n_chars) { return (n_chars + 1) / 3; }

static int begins_with(const char *name, size_t n_name, const char *word, size_t n_word) {
    if (n_word < 3 || n_word > n_name)
        return 0;
    for (size_t i = 0; i < n_word; i++)
        if (lowered(name[i]) != lowered(word[i]))
            return 0;
    return 1;
}

dt__near_miss dt__near_miss_of(const char *word, size_t n_chars) {
    return (dt__near_miss){.word = word, .n_chars = n_chars, .distance = max_distance(n_chars) + 1};
}

dt__near_miss dt__near_miss_new(const char *word) {
    return dt__near_miss_of(word ? word : "", word ? strlen(word) : 0);
}

void dt__near_miss_add(dt__near_miss *self, const char *name, size_t n_chars) {
    if (self->n_chars == 0 || self->n_chars > DT__NEAR_MISS_CHARS || n_chars > DT__NEAR_MISS_CHARS)
        return;
    size_t found = distance(self->word, self->n_chars, name, n_chars);
    if (begins_with(name, n_chars, self->word, self->n_chars))
        found = min(found, max_distance(self->n_chars));
    if (found >= self->distance)
        return;
    self->distance = found;
    snprintf(self->hint, sizeof self->hint, "; did you mean %.*s?", (int)n_chars, name);
}

void dt__near_miss_add_list(dt__near_miss *self, const char *names) {
    for (size_t n; *names; names += n ? n : 1) {
        for (n = 0; isalnum((unsigned char)names[n]) || names[n] == '_' || names[n] == '-';)
            n++;
        if (n && !(n == 2 && !strncmp(names, "or", 2)))
            dt__near_miss_add(self, names, n);
    }
}

const char *dt__near_miss_hint(const dt__near_miss *self) { return self->hint; }
