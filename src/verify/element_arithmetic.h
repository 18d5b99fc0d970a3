/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on one element of any dtype: an independent reference for the tuned loops, where speed does not matter.
 */
#ifndef DT_VERIFY_ELEMENT_ARITHMETIC_H
#define DT_VERIFY_ELEMENT_ARITHMETIC_H

#include "base/dtype.h"
#include "base/text.h"

/* The reduction of the terms. */
dt__element dt__element_reduce(dt_dtype dtype, dt_reduce reduce, int n, const dt__element *parts);

bool dt__element_is_nan(dt_dtype dtype, dt__element value);
bool dt__element_is_infinite(dt_dtype dtype, dt__element value);
/* The max of the absolute values of its components; 0 for infinities and NaN. */
double dt__element_magnitude(dt_dtype dtype, dt__element value);
/* Equal up to rounding: integers exactly, NaN equals NaN, others within `allowed`. */
bool dt__element_close(dt_dtype dtype, dt__element a, dt__element b, double allowed);

void dt__element_text(dt_dtype dtype, dt__element value, dt__text *out);

#endif
