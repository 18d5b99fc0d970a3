/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimal digits of floating-point numbers: the shortest that identify the number, or a fixed number of them. Does not
 * depend on the locale.
 */
#ifndef DT_TENSOR_DECIMAL_H
#define DT_TENSOR_DECIMAL_H

#include "dtensor/base.h"

enum { DT__MAX_DIGITS = 40 };

/* d.ddd * 10^exponent, without trailing zeros; zero is one digit, 0, with exponent 0. */
typedef struct dt__decimal {
    bool negative;
    int n, exponent;
    char digits[DT__MAX_DIGITS + 1];
} dt__decimal;

/* The shortest digits that read back as the same number of this dtype (that of a part, for complex ones), and among
 * these the nearest; the number is finite. */
dt__decimal dt__decimal_unique(dt_dtype dtype, double value);
/* The nearest with this number of digits in total, or after the point; ties go to even. */
dt__decimal dt__decimal_rounded(double value, int n_digits);
dt__decimal dt__decimal_fraction(double value, int n_after);

#endif
