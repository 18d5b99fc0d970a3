/* SPDX-License-Identifier: Apache-2.0
 *
 * One element of any dtype as a value to compute with, one at a time: for judging, where speed does not matter and
 * where the tuned loops must not judge themselves.
 */
#ifndef DT_VERIFY_ELEMENT_H
#define DT_VERIFY_ELEMENT_H

#include "base/dtype.h"
#include "base/text.h"

/* What the parts are together. */
dt__element dt__element_reduce(dt_dtype dtype, dt_reduce reduce, int n, const dt__element *parts);

bool dt__element_is_nan(dt_dtype dtype, dt__element value);
bool dt__element_is_infinite(dt_dtype dtype, dt__element value);
/* The larger of the sizes of its parts; 0 for what is not finite. */
double dt__element_size(dt_dtype dtype, dt__element value);
/* Equal up to rounding: whole numbers exactly, NaN equals NaN, others within `allowed`. */
bool dt__element_close(dt_dtype dtype, dt__element a, dt__element b, double allowed);

void dt__element_text(dt_dtype dtype, dt__element value, dt__text *out);

#endif
