/* SPDX-License-Identifier: Apache-2.0
 *
 * Digits come from printf, which rounds exactly, and are checked by reading them back. The decimal point of the locale
 * is never written or read: digits are joined to an integer with an exponent.
 */
#include "tensor/decimal.h"

#include "base/dtype.h"
#include "tensor/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void trim(dt__decimal *digits) {
    while (digits->n > 1 && digits->digits[digits->n - 1] == '0')
        digits->n--;
    digits->digits[digits->n] = '\0';
}

dt__decimal dt__decimal_rounded(double value, int n_digits) {
    char text[DT__MAX_DIGITS + 32];
    dt__decimal out = {.negative = signbit(value) != 0};
    n_digits = n_digits < 1 ? 1 : n_digits > DT__MAX_DIGITS ? DT__MAX_DIGITS : n_digits;
    (void)snprintf(text, sizeof text, "%.*e", n_digits - 1, fabs(value));
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            out.digits[out.n++] = *at;
    out.exponent = (int)strtol(at + 1, NULL, 10);
    trim(&out);
    return out;
}

dt__decimal dt__decimal_fraction(double value, int n_after) {
    dt__decimal first = dt__decimal_rounded(value, 17); /* for the exponent */
    int n_digits = first.exponent + 1 + n_after;
    if (n_digits >= 1)
        return dt__decimal_rounded(value, n_digits);
    /* Less than one unit of the last place: it becomes 0 or, above one half, 1. */
    dt__decimal out = {.negative = signbit(value) != 0, .n = 1, .digits = "0"};
    if (n_digits == 0 && (first.digits[0] > '5' || (first.digits[0] == '5' && first.n > 1))) {
        out.digits[0] = '1';
        out.exponent = -n_after;
    }
    return out;
}

/* The digits as a number of the dtype. */
static double read_back(dt_dtype dtype, const dt__decimal *digits) {
    char text[DT__MAX_DIGITS + 32];
    unsigned char element[16];
    (void)snprintf(text, sizeof text, "%se%d", digits->digits, digits->exponent - (digits->n - 1));
    if (dtype == DT_F32 || dtype == DT_C64)
        return (double)strtof(text, NULL);
    double value = strtod(text, NULL);
    if (dt__is_double_precision(dtype))
        return value;
    dt__write_f64(dtype, value, element);
    return dt__read_f64(dtype, element);
}

/* Adds one to the last digit; false if that carries to the front, a case that fewer digits have covered already. */
static bool next_digits(dt__decimal *digits) {
    for (int i = digits->n - 1; i >= 0; i--) {
        if (digits->digits[i] < '9') {
            digits->digits[i]++;
            return true;
        }
        digits->digits[i] = '0';
    }
    return false;
}

/* Numbers are denser below a power of two than above it, so that the nearest digits may read back as the number below,
 * and the next digits up as this one. */
dt__decimal dt__decimal_unique(dt_dtype dtype, double value) {
    enum { ALL_DIGITS = 17 };
    double size = fabs(value);
    for (int n = 1; n < ALL_DIGITS; n++) {
        dt__decimal digits = dt__decimal_rounded(value, n);
        if (read_back(dtype, &digits) == size)
            return digits;
        while (digits.n < n)
            digits.digits[digits.n++] = '0';
        digits.digits[n] = '\0';
        if (next_digits(&digits) && read_back(dtype, &digits) == size) {
            trim(&digits);
            return digits;
        }
    }
    return dt__decimal_rounded(value, ALL_DIGITS);
}
