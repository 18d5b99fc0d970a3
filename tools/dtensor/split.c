/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums: the sums of the first 1, 2, … parts are random, and each lies between half and twice the next, so that their
 * differences, which are the parts, are exact, and so is adding them up in order. Extremes: one place, which changes
 * from element to element, holds the value, and the others lie beyond it. Products: all parts but the last are small
 * powers of two, or signs where numbers are whole.
 */
#include "split.h"
#include "base/dtype.h"

#include "tensor/tensor.h"

#include <math.h>

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

static uint64_t random_bits(const split *how, int64_t element, int64_t place) {
    return mix(mix(how->seed + (uint64_t)element * UINT64_C(0x9e3779b97f4a7c15)) + (uint64_t)place);
}

/* A multiple of 1/16, not 0, between -4 and 4: sums of a few are exact in every dtype that has fractions. */
static double small(const split *how, int64_t element, int64_t place) {
    double steps = (double)(random_bits(how, element, place) % 63 + 1);
    return (random_bits(how, element, place) >> 40 & 1 ? -steps : steps) / 16;
}

/* Of 0 and of what is not finite: small parts, and what remains. */
static double part_of_odd_sum(const split *how, double value, int64_t element, int64_t place) {
    double rest = value;
    if (place < how->n - 1)
        return small(how, element, place);
    for (int64_t i = 0; i < how->n - 1; i++)
        rest -= small(how, element, i);
    return rest;
}

static double rounded(dt_dtype dtype, double value) {
    unsigned char element[16];
    dt__write_f64(dtype, value, element);
    return dt__read_f64(dtype, element);
}

static double part_of_sum(const split *how, double value, int64_t element, int64_t place) {
    double sum = rounded(how->dtype, value * (double)how->n_averaged); /* of all parts */
    if (sum == 0 || !isfinite(sum))
        return part_of_odd_sum(how, sum, element, place);
    for (int64_t i = how->n - 1; i > 0; i--) {
        static const double factors[] = {0.59375, 0.6875, 0.84375, 1.1875, 1.4375, 1.78125};
        double factor = factors[random_bits(how, element, i) % (sizeof factors / sizeof *factors)];
        double before = rounded(how->dtype, sum * factor); /* of the parts before this one */
        if (i == place)
            return sum - before;
        sum = before;
    }
    return sum;
}

static double part_of_product(const split *how, double value, int64_t element, int64_t place) {
    double rest = value;
    for (int64_t i = 0; i < how->n - 1; i++) {
        uint64_t bits = random_bits(how, element, i);
        double factor = (bits & 1 ? -1 : 1) * (bits & 2 ? 2 : 0.5);
        if (i == place)
            return factor;
        rest /= factor;
    }
    return rest;
}

/* Who holds the extreme value of an element. */
static int64_t holder(const split *how, int64_t element) {
    return (int64_t)(random_bits(how, element, -1) % (uint64_t)how->n);
}

double split_number(const split *how, double value, int64_t element, int64_t place) {
    if (how->n == 1)
        return value;
    switch (how->reduce) {
    case DT_SUM:
    case DT_AVG:
        return part_of_sum(how, value, element, place);
    case DT_PRODUCT:
        return part_of_product(how, value, element, place);
    default:
        break;
    }
    if (place == holder(how, element) || isnan(value))
        return value;
    double beyond = fabs(small(how, element, place)) + 1;
    return how->reduce == DT_MAX ? value - beyond : value + beyond;
}

/* Truth values: sum and max are "or", product and min are "and". */
static int64_t part_of_truth(const split *how, int64_t value, int64_t element, int64_t place) {
    bool any = how->reduce == DT_SUM || how->reduce == DT_MAX;
    if ((value != 0) != any)
        return value; /* all agree */
    return place == holder(how, element) ? value : (int64_t)(random_bits(how, element, place) & 1);
}

int64_t split_whole(const split *how, int64_t value, int64_t element, int64_t place) {
    uint64_t rest = (uint64_t)value * (uint64_t)how->n_averaged;
    if (how->n == 1)
        return value;
    if (how->dtype == DT_BOOL)
        return part_of_truth(how, value, element, place);
    if (how->reduce == DT_MIN || how->reduce == DT_MAX) {
        int64_t beyond = (int64_t)(random_bits(how, element, place) % 5) + 1;
        if (place == holder(how, element))
            return value;
        bool up = how->reduce == DT_MIN;
        bool fits = up ? value <= INT64_MAX - beyond : value >= INT64_MIN + beyond;
        if (how->dtype == DT_U8)
            fits = up ? value + beyond <= UINT8_MAX : value >= beyond;
        return !fits ? value : up ? value + beyond : value - beyond;
    }
    for (int64_t i = 0; i < how->n - 1; i++) {
        uint64_t bits = random_bits(how, element, i);
        uint64_t part = how->reduce == DT_PRODUCT ? (bits & 1 ? UINT64_MAX : 1) : bits % 9 + 1;
        if (how->dtype == DT_U8 && how->reduce == DT_PRODUCT)
            part = 1;
        if (i == place)
            return (int64_t)part;
        rest = how->reduce == DT_PRODUCT ? rest * part : rest - part;
    }
    return (int64_t)rest; /* wraps in narrow dtypes, and so does the reduction */
}
