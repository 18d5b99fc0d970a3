/* SPDX-License-Identifier: Apache-2.0
 *
 * One element of any dtype as a value to compute with, one at a time: for judging, where speed does not matter and
 * where the tuned loops must not judge themselves.
 */
#ifndef DT_VERIFY_ELEMENT_H
#define DT_VERIFY_ELEMENT_H

#include "base/text.h"

/* Whole numbers and truth values are in i, others in re and im. */
typedef struct dt__element {
    int64_t i;
    double re, im;
} dt__element;

static inline bool dt__element_is_complex(dt_dtype dtype) { return dtype == DT_C64 || dtype == DT_C128; }
static inline bool dt__element_is_whole(dt_dtype dtype) {
    return dtype == DT_I8 || dtype == DT_I16 || dtype == DT_I32 || dtype == DT_I64 || dtype == DT_U8 ||
           dtype == DT_BOOL;
}

dt__element dt__element_get(dt_dtype dtype, const void *from);
/* Whole numbers wrap around, others are rounded. */
void dt__element_put(dt_dtype dtype, dt__element value, void *to);
/* The least and the largest whole number of a dtype. */
void dt__element_range(dt_dtype dtype, int64_t *low, int64_t *high);

/* What the parts are together. */
dt__element dt__element_reduce(dt_dtype dtype, dt_reduce reduce, int n, const dt__element *parts);

bool dt__element_is_nan(dt_dtype dtype, dt__element value);
bool dt__element_is_infinite(dt_dtype dtype, dt__element value);
/* The larger of the sizes of its parts; 0 for what is not finite. */
double dt__element_size(dt_dtype dtype, dt__element value);
/* Equal up to rounding: whole numbers exactly, NaN equals NaN, others within `allowed`. */
bool dt__element_close(dt_dtype dtype, dt__element a, dt__element b, double allowed);
/* The spacing of the dtype's numbers around 1; 0 for whole ones. */
double dt__element_epsilon(dt_dtype dtype);

void dt__element_text(dt_dtype dtype, dt__element value, dt__text *out);

#endif
