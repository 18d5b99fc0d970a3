/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantities: digits, optionally a point and more digits, and a unit.
 */
#include "base/quantity.h"

#include "base/size.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *word;
    double factor;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads digits as an integer; returns how many there are. */
static int digits_read(const char *text, double *out) {
    int n = 0;
    for (*out = 0; is_digit(text[n]); n++)
        *out = *out * 10 + (text[n] - '0');
    return n;
}

/* Parses "12", "1.5" or ".5"; returns its end, or NULL if there is no digit. */
static const char *number_read(const char *text, double *out) {
    double fraction = 0;
    int n_before = digits_read(text, out), n_after = 0;
    const char *end = text + n_before;
    if (*end == '.') {
        n_after = digits_read(end + 1, &fraction);
        end += 1 + n_after;
    }
    *out += fraction / pow(10, n_after);
    return n_before + n_after ? end : NULL;
}

/* Parses "1.5m" as 1.5 times the factor of "m", rounded up; false unless the result is from 1 to `max`. */
static bool quantity_parse(const char *text, const struct unit *units, double max, double *out) {
    double number;
    const char *end = number_read(text, &number);
    for (const struct unit *unit = units; end && unit->word; unit++) {
        if (strcmp(unit->word, end) == 0) {
            *out = ceil(number * unit->factor);
            return *out >= 1 && *out <= max;
        }
    }
    return false;
}

bool dt__count_parse(const char *text, int64_t max, int64_t *out) {
    int64_t number = 0;
    const char *at = text;
    for (; is_digit(*at); at++)
        if (!dt__mul_i64(number, 10, &number) || !dt__add_i64(number, *at - '0', &number))
            return false;
    if (*at || number < 1 || number > max)
        return false;
    *out = number;
    return true;
}

bool dt__size_parse(const char *text, size_t *out) {
    static const struct unit units[] = {{"", 1},         {"K", 0x1p10},   {"M", 0x1p20},   {"G", 0x1p30},
                                        {"T", 0x1p40},   {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                                        {"TiB", 0x1p40}, {NULL, 0}};
    double number;
    if (!quantity_parse(text, units, 0x1p62, &number))
        return false;
    *out = (size_t)number;
    return true;
}

bool dt__duration_parse(const char *text, int64_t *out) {
    static const struct unit units[] = {{"ms", 1}, {"s", 1e3}, {"", 1e3}, {"m", 60e3}, {"h", 3600e3}, {NULL, 0}};
    double number = DT__DURATION_OFF;
    if (strcmp(text, "off") != 0 && !quantity_parse(text, units, 1e15, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

void dt__size_print(size_t bytes, char *text, size_t capacity) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes;
    int unit = 0;
    while (amount >= (unit ? 1023.5 : 1024) && unit < 6) { /* what would be rounded to 1024 is 1.0 of the next */
        amount /= 1024;
        unit++;
    }
    int digits = unit && amount < 100 && amount != (double)(int64_t)amount;
    snprintf(text, capacity, "%.*f %s", digits, amount, units[unit]);
}
