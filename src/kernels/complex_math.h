/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of one complex number in f64, from the real ones of vector_math.h and like them: without branches, with the
 * same bits in every instruction set. c64 is computed in f64 and rounded once.
 *
 * Most functions are in two parts. X_plain is right for operands of moderate size, for which X_is_plain is 1; X_rare is
 * right for all others: parts that are large, tiny or not finite, with the results that Annex G of C specifies. Flags
 * are doubles, 0 or 1, so that the compiler makes vectors of them. u is 2^-53; bounds of one part are in ULP of that
 * part, those in u are relative and add up the worst of each step. tests/kernels/test_complex.c checks them, and
 * smaller ones where the worst cases do not meet (sin, cos, tanh).
 */
#ifndef DT_KERNELS_COMPLEX_MATH_H
#define DT_KERNELS_COMPLEX_MATH_H

#include "kernels/vector_math.h"

typedef struct complex_value {
    double re, im;
} complex_value;

DT__INLINE double is_finite_f64(double x) { return magnitude_of(x) < INFINITY ? 1 : 0; }
DT__INLINE double is_infinite_f64(double x) { return magnitude_of(x) == INFINITY ? 1 : 0; }
DT__INLINE double larger_of(double x, double y) { return x > y ? x : y; }
DT__INLINE double smaller_of(double x, double y) { return x > y ? y : x; }
/* x with its sign changed if y is negative. */
DT__INLINE double flip_by(double x, double y) {
    return dt__f64_from_bits(dt__f64_bits(x) ^ (dt__f64_bits(y) & (1ull << 63)));
}

/* m 2^n, for n from -2200 to 2200. */
typedef struct scaled_value {
    double m, n;
} scaled_value;

/* x m 2^n, in steps that leave the range only if the result does. */
DT__INLINE double times_scaled(double x, scaled_value s) {
    double third = nearest_integer(s.n * (1 / 3.0)), step = power_of_two(third);
    return x * step * step * s.m * power_of_two(s.n - 2 * third);
}

/* The power of two from 2^-1022 to 2^1023 that is at most x; 2^-1022 for subnormal numbers and 0. */
DT__INLINE double power_below(double x) {
    double power = dt__f64_from_bits(dt__f64_bits(x) & 0x7ff0000000000000u);
    return larger_of(power, 0x1p-1022);
}
/* log2 of a power of two. */
DT__INLINE double log2_of_power(double x) { return u52_to_f64(dt__f64_bits(x) >> 52) - 1023; }

/* x^2 exactly, for 0 or |x| from 2^-480 to 2^500. */
DT__INLINE double_pair square_of(double x) {
    double c = 134217729 * x, x1 = c - (c - x), x2 = x - x1, square = x * x;
    return (double_pair){square, ((x1 * x1 - square) + 2 * x1 * x2) + x2 * x2};
}

DT__INLINE double_pair exact_sum_of(double x, double y) {
    double sum = x + y, part = sum - x;
    return (double_pair){sum, (x - (sum - part)) + (y - part)};
}

/* large^2 + small^2: all sums but the last are exact, so that the error is u of the distance from any number of the
 * format, 1 above all. */
DT__INLINE double_pair sum_of_squares(double large, double small) {
    double_pair a = square_of(large), b = square_of(small), sum = sum_of(a.high, b.high);
    double_pair low = exact_sum_of(a.low, b.low), middle = exact_sum_of(sum.low, low.high);
    double_pair all = sum_of(sum.high, middle.high);
    return (double_pair){all.high, all.low + (middle.low + low.low)};
}

/* Magnitudes whose squares are normal; 0 is one. */
#define SQUARES_MIN 0x1p-400
#define SQUARES_MAX 0x1p500
DT__INLINE double has_squares(complex_value z) {
    double max = larger_of(magnitude_of(z.re), magnitude_of(z.im)), is_plain = max <= SQUARES_MAX ? 1 : 0;
    is_plain = max >= SQUARES_MIN ? is_plain : 0;
    is_plain = max == 0 ? 1 : is_plain;
    return magnitude_of(z.re) + magnitude_of(z.im) < INFINITY ? is_plain : 0; /* not for NaN */
}
/* Brings any finite number there; an even power of two. */
DT__INLINE double scale_for_squares(double max) {
    double scale = max > SQUARES_MAX ? 0x1p-600 : 1;
    return max < SQUARES_MIN ? 0x1p600 : scale;
}

/* |z|: the root of the larger part of the sum, and one step of Newton's with the rest: 0.5 ULP + 2u. */
DT__INLINE double root_of_squares(double large, double small) {
    double_pair h = sum_of_squares(large, small);
    double root = sqrt(h.high);
    double_pair square = square_of(root);
    return root + (((h.high - square.high) - square.low) + h.low) / (2 * root + 0x1p-1000);
}
DT__INLINE double abs_is_plain(complex_value z) { return has_squares(z); }
DT__INLINE complex_value abs_plain(complex_value z) {
    double x = magnitude_of(z.re), y = magnitude_of(z.im);
    return (complex_value){root_of_squares(larger_of(x, y), smaller_of(x, y)), 0};
}
DT__INLINE complex_value abs_rare(complex_value z) {
    double x = magnitude_of(z.re), y = magnitude_of(z.im), max = larger_of(x, y), scale = scale_for_squares(max);
    double size = root_of_squares(max * scale, smaller_of(x, y) * scale) / scale;
    size = x + y < INFINITY ? size : x + y; /* NaN, too; the sum overflows only if the result does */
    size = x == INFINITY ? x : size;
    return (complex_value){y == INFINITY ? y : size, 0};
}

/* The angle of z. With t the smaller magnitude over the larger, t or, above tan(pi/8), pi/4 + atan((t - 1) / (t + 1)),
 * reflected into the octant. The quotient is off by u or, above, 3u, which is 2.1 ULP of the smallest sum, pi/8; with
 * the two last sums 3.4 ULP. */
DT__INLINE double angle_of(complex_value z) {
    double x = magnitude_of(z.re), y = magnitude_of(z.im), max = larger_of(x, y), min = smaller_of(x, y);
    double is_steep = y > x ? 1 : 0, is_upper = min > 0x1.a827999fcef32p-2 * max ? 1 : 0; /* tan(pi/8) */
    double over = is_upper != 0 ? min - max : min, under = is_upper != 0 ? min + max : max;
    double q = over / (under == 0 ? 1 : under), square = q * q;
    /* In eighths of a turn of pi/4, the angle is base +- (is_upper + atan q). */
    double is_left = with_sign_of(1, z.re) < 0 ? 1 : 0;
    double turned = is_left != is_steep ? 1 : 0; /* whether atan is subtracted */
    double base = is_left * 4, upper = is_upper;
    base = is_steep != 0 ? 2 : base;
    base = turned != 0 ? base - upper : base + upper;
    double sign = turned != 0 ? -1 : 1;
    double high = base * 0x1.921fb54442d18p-1, low = base * 0x1.1a62633145c07p-55;
    double angle = high + (sign * q + (sign * (q * square * atan_rest_long(square)) + low));
    return flip_by(angle, z.im);
}
/* For any numbers: large ones are made smaller, so that their sum is finite; infinities count as 1. */
DT__INLINE double any_angle_of(complex_value z) {
    double max = larger_of(magnitude_of(z.re), magnitude_of(z.im)), scale = max > 0x1p1000 ? 0x1p-10 : 1;
    double infinite = is_infinite_f64(z.re) + is_infinite_f64(z.im);
    double x = infinite != 0 ? is_infinite_f64(z.re) : magnitude_of(z.re) * scale;
    double y = infinite != 0 ? is_infinite_f64(z.im) : magnitude_of(z.im) * scale;
    double angle = angle_of((complex_value){with_sign_of(x, z.re), with_sign_of(y, z.im)});
    angle = z.re == z.re ? angle : z.re;
    return z.im == z.im ? angle : z.im;
}

/* log(high + low) + shift log 2: as log_long, with log(1 + low/high) among the small terms. */
DT__INLINE double log_of_pair(double_pair x, double shift) {
    split p = split_of(x.high);
    double exponent = p.exponent + shift, f = p.m - 1, s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
    double rest = s * (half_square + z * log_rest_long(z)) + (exponent * LN2_LOW + x.low / x.high);
    return exponent * LN2_HIGH - ((half_square - rest) - f);
}

/* log z = log|z| + i angle. Around |z| = 1, log|z| is as exact as the sum of the squares: 2 ULP. */
DT__INLINE double log_is_plain(complex_value z) {
    double is_plain = has_squares(z);
    return larger_of(magnitude_of(z.re), magnitude_of(z.im)) == 0 ? 0 : is_plain;
}
DT__INLINE complex_value log_plain(complex_value z) {
    double x = magnitude_of(z.re), y = magnitude_of(z.im);
    return (complex_value){0.5 * log_of_pair(sum_of_squares(larger_of(x, y), smaller_of(x, y)), 0), angle_of(z)};
}
DT__INLINE complex_value log_rare(complex_value z) {
    double x = magnitude_of(z.re), y = magnitude_of(z.im), max = larger_of(x, y), scale = scale_for_squares(max);
    double_pair h = sum_of_squares(max * scale, smaller_of(x, y) * scale);
    double log = 0.5 * log_of_pair(h, -2 * log2_of_power(scale));
    log = x + y == 0 ? -INFINITY : log;
    log = x == x ? log : x;
    log = y == y ? log : y;
    log = x == INFINITY ? x : log;
    log = y == INFINITY ? y : log;
    return (complex_value){log, any_angle_of(z)};
}

/* sqrt z, by t = sqrt((|x| + |z|) / 2): |z| is off by 2u, so t by 2.5u and y / 2t by 3.5u. */
DT__INLINE double sqrt_is_plain(complex_value z) { return has_squares(z); }
DT__INLINE complex_value sqrt_from(complex_value z, double t) {
    double other = magnitude_of(z.im) / (2 * t + 0x1p-1000);
    return (complex_value){z.re < 0 ? other : t, with_sign_of(z.re < 0 ? t : other, z.im)};
}
DT__INLINE complex_value sqrt_plain(complex_value z) {
    return sqrt_from(z, sqrt(0.5 * (magnitude_of(z.re) + sqrt(z.re * z.re + z.im * z.im))));
}
DT__INLINE complex_value sqrt_rare(complex_value z) {
    double x = magnitude_of(z.re), y = magnitude_of(z.im), scale = scale_for_squares(larger_of(x, y));
    double root_scale = scale > 1 ? 0x1p-300 : 1;
    root_scale = scale < 1 ? 0x1p300 : root_scale;
    double sx = x * scale, sy = y * scale;
    complex_value root = sqrt_from(z, sqrt(0.5 * (sx + sqrt(sx * sx + sy * sy))) * root_scale);
    double is_nan = z.re == z.re ? 0 : 1;
    is_nan = z.im == z.im ? is_nan : 1;
    root.re = is_nan != 0 ? (double)NAN : root.re;
    root.im = is_nan != 0 ? (double)NAN : root.im;
    double zero = y < INFINITY ? 0 : y; /* NaN for NaN; infinities of y are next */
    root.re = z.re == INFINITY ? z.re : root.re;
    root.im = z.re == INFINITY ? with_sign_of(zero, z.im) : root.im;
    root.re = z.re == -INFINITY ? zero : root.re;
    root.im = z.re == -INFINITY ? with_sign_of(INFINITY, z.im) : root.im;
    root.re = y == INFINITY ? y : root.re;
    root.im = y == INFINITY ? z.im : root.im;
    return root;
}

/* The angle of a rare number; reduce_angle does for a plain one. */
DT__INLINE reduced_angle reduce_any_angle(double x) {
    reduced_angle near = reduce_angle(x), far = reduce_far_angle(x);
    double is_near = magnitude_of(x) <= NEAR_ANGLE_MAX ? 1 : 0;
    uint64_t mask = 0 - (dt__f64_bits(is_near) >> 61); /* all bits for 1, none for 0 */
    return (reduced_angle){is_near != 0 ? near.rest : far.rest, is_near != 0 ? near.low : far.low,
                           (near.quarters & mask) | (far.quarters & ~mask)};
}
DT__INLINE double is_moderate(double exponent, double max, double angle) {
    double is_plain = magnitude_of(exponent) <= max ? 1 : 0;
    return magnitude_of(angle) <= NEAR_ANGLE_MAX ? is_plain : 0;
}

/* e^x for x from -1500 to 1500. */
DT__INLINE scaled_value exp_scaled(double x) {
    double n = nearest_integer(x * LOG2_E), r = (x - n * LN2_HIGH) - n * LN2_LOW;
    return (scaled_value){1 + (r + r * r * exp_rest_long(r)), n};
}

/* e^z = e^x (cos y + i sin y). Factors that are off by 1.1 and 1 ULP make a product that is off by 2 * 1.1 + 1 and the
 * last half: 3.7 ULP. */
DT__INLINE double exp_is_plain(complex_value z) { return is_moderate(z.re, 700, z.im); }
DT__INLINE complex_value exp_plain(complex_value z) {
    reduced_angle a = reduce_angle(z.im);
    double e = exp_long(z.re);
    return (complex_value){e * sine_long(a, 1), e * sine_long(a, 0)};
}
DT__INLINE complex_value exp_rare(complex_value z) {
    reduced_angle a = reduce_any_angle(z.im);
    scaled_value e = exp_scaled(limit_below(limit_above(z.re, 1470), -760));
    double re = times_scaled(sine_long(a, 1), e), im = times_scaled(sine_long(a, 0), e);
    double open = is_finite_f64(z.im) != 0 ? 0 : is_infinite_f64(z.re); /* infinite, in no direction */
    re = open != 0 ? larger_of(z.re, 0) : re;
    open = z.re < 0 ? open : 0;
    im = open != 0 ? 0 : im;
    return (complex_value){re, z.im == 0 ? z.im : im};
}

/* cosh and sinh, by e = e^|x| - 1, for |x| up to 700. e is off by 4.1u at most (at ln(2)/2), 1 + e by 2.2u, its inverse
 * by 3.2u; so cosh by 3.7u and sinh by 6.8u. */
typedef struct hyperbolic {
    double cosh, sinh;
} hyperbolic;

DT__INLINE hyperbolic hyperbolic_of(double x) {
    double e = expm1_long(magnitude_of(x)), inverse = 1 / (1 + e);
    return (hyperbolic){0.5 * ((1 + e) + inverse), with_sign_of(0.5 * (e + e * inverse), x)};
}

/* sin z = sin x cosh y + i cos x sinh y; cos z = cos x cosh y - i sin x sinh y. With 2u of sin and cos: 9.8u. */
DT__INLINE double sin_is_plain(complex_value z) { return is_moderate(z.im, 700, z.re); }
DT__INLINE complex_value sin_plain(complex_value z) {
    reduced_angle a = reduce_angle(z.re);
    hyperbolic h = hyperbolic_of(z.im);
    return (complex_value){sine_long(a, 0) * h.cosh, sine_long(a, 1) * h.sinh};
}
DT__INLINE double cos_is_plain(complex_value z) { return is_moderate(z.im, 700, z.re); }
DT__INLINE complex_value cos_plain(complex_value z) {
    reduced_angle a = reduce_angle(z.re);
    hyperbolic h = hyperbolic_of(z.im);
    return (complex_value){sine_long(a, 1) * h.cosh, -(sine_long(a, 0) * h.sinh)};
}

/* Both for any numbers: the products with cosh y and with sinh y. Beyond 700, both are e^|y| / 2. A factor of exactly 0
 * makes a 0, whatever the other one is. */
typedef struct hyperbolic_products {
    double cosh_sin, cosh_cos, sinh_sin, sinh_cos;
} hyperbolic_products;

DT__INLINE hyperbolic_products any_products(complex_value z) {
    reduced_angle a = reduce_any_angle(z.re);
    double sine = sine_long(a, 0), cosine = sine_long(a, 1), y = magnitude_of(z.im);
    hyperbolic h = hyperbolic_of(limit_above(y, 700));
    scaled_value large = exp_scaled(limit_above(y, 1470));
    double n = y > 700 ? large.n - 1 : 0;
    scaled_value cosh_y = {y > 700 ? large.m : h.cosh, n}, sinh_y = {y > 700 ? large.m : h.sinh, n};
    double cosh_sin = times_scaled(sine, cosh_y), cosh_cos = times_scaled(cosine, cosh_y);
    double sinh_sin = times_scaled(sine, sinh_y), sinh_cos = times_scaled(cosine, sinh_y);
    double open = is_finite_f64(z.re) != 0 ? 0 : 1; /* no direction */
    cosh_sin = z.re == 0 ? z.re : cosh_sin;
    sinh_sin = z.re == 0 ? z.re : sinh_sin;
    double is_none = z.im == 0 ? open : 0, is_all = y == INFINITY ? open : 0;
    sinh_sin = is_none != 0 ? with_sign_of(0, z.re) : sinh_sin;
    sinh_cos = is_none != 0 ? 0 : sinh_cos;
    cosh_cos = is_all != 0 ? y : cosh_cos;
    sinh_cos = is_all != 0 ? y : sinh_cos;
    return (hyperbolic_products){cosh_sin, cosh_cos, flip_by(sinh_sin, z.im), flip_by(sinh_cos, z.im)};
}
DT__INLINE complex_value sin_rare(complex_value z) {
    hyperbolic_products p = any_products(z);
    return (complex_value){p.cosh_sin, p.sinh_cos};
}
DT__INLINE complex_value cos_rare(complex_value z) {
    hyperbolic_products p = any_products(z);
    return (complex_value){p.cosh_cos, -p.sinh_sin};
}

/* x / y = (a + bi) / (c + di), after Smith: with |c| >= |d| and r = d/c, (a + br) / (c + dr) + i (b - ar) / (c + dr);
 * otherwise x and y are turned by a quarter. The error is at most 5.5u of |x / y|: 1.4u for the products with r, u for
 * each sum, 2u for the divisor's, u for the quotients. Numbers without imaginary parts are divided as real ones. */
DT__INLINE complex_value divide_finite(complex_value x, complex_value y) {
    double turned = magnitude_of(y.re) < magnitude_of(y.im) ? 1 : 0;
    double a = turned != 0 ? x.im : x.re, b = turned != 0 ? -x.re : x.im;
    double c = turned != 0 ? y.im : y.re, d = turned != 0 ? -y.re : y.im;
    double r = d / c, under = c + d * r;
    return (complex_value){(a + b * r) / under, (b - a * r) / under};
}
DT__INLINE double div_is_plain(complex_value x, complex_value y) {
    double is_plain = has_squares(x) != 0 ? has_squares(y) : 0;
    return larger_of(magnitude_of(y.re), magnitude_of(y.im)) == 0 ? 0 : is_plain;
}
DT__INLINE complex_value div_plain(complex_value x, complex_value y) { return divide_finite(x, y); }

/* The quotients with infinities and with the divisor 0, whose signs do not matter (as in NumPy and PyTorch), where
 * `finite` is the quotient of other numbers. */
DT__INLINE complex_value div_of_special(complex_value x, complex_value y, complex_value finite) {
    complex_value q = finite;
    double x_infinite = is_infinite_f64(x.re) + is_infinite_f64(x.im);
    double y_infinite = is_infinite_f64(y.re) + is_infinite_f64(y.im);
    double x_finite = is_finite_f64(x.re) * is_finite_f64(x.im), y_finite = is_finite_f64(y.re) * is_finite_f64(y.im);
    double a = x_infinite != 0 ? with_sign_of(is_infinite_f64(x.re), x.re) : x.re;
    double b = x_infinite != 0 ? with_sign_of(is_infinite_f64(x.im), x.im) : x.im;
    double c = y_infinite != 0 ? with_sign_of(is_infinite_f64(y.re), y.re) : y.re;
    double d = y_infinite != 0 ? with_sign_of(is_infinite_f64(y.im), y.im) : y.im;
    double over = x_infinite != 0 ? y_finite : 0, under = y_infinite != 0 ? x_finite : 0,
           factor = over != 0 ? INFINITY : 0;
    double is_special = over + under;
    a = over != 0 ? a : 0.5 * a; /* the sums times 0 must not overflow */
    b = over != 0 ? b : 0.5 * b;
    q.re = is_special != 0 ? factor * (a * c + b * d) : q.re;
    q.im = is_special != 0 ? factor * (b * c - a * d) : q.im;
    double is_zero = magnitude_of(y.re) + magnitude_of(y.im) == 0 ? 1 : 0;
    q.re = is_zero != 0 ? INFINITY * x.re : q.re;
    q.im = is_zero != 0 ? INFINITY * x.im : q.im;
    return q;
}
DT__INLINE complex_value div_rare(complex_value x, complex_value y) {
    double x_power = power_below(larger_of(magnitude_of(x.re), magnitude_of(x.im)));
    double y_power = power_below(larger_of(magnitude_of(y.re), magnitude_of(y.im)));
    x_power = smaller_of(x_power, 0x1p1023);
    y_power = smaller_of(y_power, 0x1p1023);
    complex_value q = divide_finite((complex_value){x.re / x_power, x.im / x_power},
                                    (complex_value){y.re / y_power, y.im / y_power});
    scaled_value scale = {1, log2_of_power(x_power) - log2_of_power(y_power)};
    return div_of_special(x, y, (complex_value){times_scaled(q.re, scale), times_scaled(q.im, scale)});
}

/* The quotient of numbers from f32, whose products are exact: 0.5 ULP of f32 + 2u in each part. */
DT__INLINE double div_short_is_plain(complex_value x, complex_value y) {
    double sizes = magnitude_of(x.re) + magnitude_of(x.im), divisors = magnitude_of(y.re) + magnitude_of(y.im);
    double is_plain = sizes + divisors < INFINITY ? 1 : 0;
    return divisors > 0 ? is_plain : 0;
}
DT__INLINE complex_value div_short_plain(complex_value x, complex_value y) {
    double under = y.re * y.re + y.im * y.im;
    return (complex_value){(x.re * y.re + x.im * y.im) / under, (x.im * y.re - x.re * y.im) / under};
}
DT__INLINE complex_value div_short_rare(complex_value x, complex_value y) {
    return div_of_special(x, y, div_short_plain(x, y));
}

/* |z| of numbers from f32, whose squares are exact. */
DT__INLINE complex_value abs_short(complex_value z) {
    double size = sqrt(z.re * z.re + z.im * z.im);
    size = magnitude_of(z.re) == INFINITY ? INFINITY : size;
    return (complex_value){magnitude_of(z.im) == INFINITY ? INFINITY : size, 0};
}

/* w log z for the power; a part of w that is 0 has no share, whatever the logarithm is. */
DT__INLINE complex_value power_exponent(complex_value log, complex_value w) {
    complex_value p = {w.re * log.re - w.im * log.im, w.re * log.im + w.im * log.re};
    p.re = w.re == 0 ? -(w.im * log.im) : p.re;
    p.im = w.re == 0 ? w.im * log.re : p.im;
    p.re = w.im == 0 ? w.re * log.re : p.re;
    p.im = w.im == 0 ? w.re * log.im : p.im;
    double is_zero = magnitude_of(w.re) + magnitude_of(w.im) == 0 ? 1 : 0; /* z^0 is 1 */
    return (complex_value){is_zero != 0 ? 0 : p.re, is_zero != 0 ? 0 : p.im};
}

/* tanh z = (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y): 11.5u over 15.6u, and u. */
DT__INLINE double tanh_is_plain(complex_value z) { return is_moderate(z.re, 350, z.im); }
DT__INLINE complex_value tanh_plain(complex_value z) {
    reduced_angle a = reduce_angle(z.im);
    hyperbolic h = hyperbolic_of(z.re);
    double sine = sine_long(a, 0), cosine = sine_long(a, 1), d = h.sinh * h.sinh + cosine * cosine;
    return (complex_value){h.sinh * h.cosh / d, sine * cosine / d};
}
/* Beyond 350: 1 and 4 sin y cos y e^(-2 |x|). */
DT__INLINE complex_value tanh_rare(complex_value z) {
    reduced_angle a = reduce_any_angle(z.im);
    double x = magnitude_of(z.re), e = exp_long(-x), sine = sine_long(a, 0), cosine = sine_long(a, 1);
    hyperbolic h = hyperbolic_of(limit_above(x, 350));
    double d = h.sinh * h.sinh + cosine * cosine;
    double re = h.sinh * h.cosh / d, im = sine * cosine / d;
    im = x > 350 ? 4 * sine * cosine * e * e : im;
    re = x > 350 ? 1 + 0 * sine : re; /* NaN if the angle is */
    re = x == INFINITY ? 1 : re;
    re = x == 0 ? 0 : re;
    double open = is_finite_f64(z.im) != 0 ? 0 : is_infinite_f64(x);
    im = open != 0 ? with_sign_of(0, z.im) : im;
    return (complex_value){flip_by(re, z.re), z.im == 0 ? z.im : im};
}

#endif
