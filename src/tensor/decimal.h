/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimal digits of floating numbers: the fewest that say which number it is, or a given number of them. Does not
 * depend on the locale.
 */
#ifndef DT_TENSOR_DIGITS_H
#define DT_TENSOR_DIGITS_H

#include "dtensor/base.h"

enum { DT__MOST_DIGITS = 40 };

/* d.ddd * 10^exponent, without trailing zeros; zero is one digit, 0, with exponent 0. */
typedef struct dt__digits {
    bool negative;
    int n, exponent;
    char digits[DT__MOST_DIGITS + 1];
} dt__digits;

/* The shortest digits that read back as the same number of this dtype (that of a part, for complex ones), and among
 * these the nearest; the number is finite. */
dt__digits dt__digits_unique(dt_dtype dtype, double value);
/* The nearest with so many digits in all, or behind the point; ties go to the even digit. The rest is as above. */
dt__digits dt__digits_rounded(double value, int n_digits);
dt__digits dt__digits_fraction(double value, int n_behind);

#endif
