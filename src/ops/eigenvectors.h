/* SPDX-License-Identifier: Apache-2.0
 *
 * The phases of eigenvectors: the largest component of each is real and positive, so that vectors do not depend on the
 * library that found them.
 */
#ifndef DT_OPS_EIGENVECTORS_H
#define DT_OPS_EIGENVECTORS_H

#include "dtensor/tensor.h"

/* Turns each of n vectors of n numbers, one after the other, so that its largest component is real and positive. */
void dt__turn_vectors(dt_dtype dtype, int64_t n, void *vectors);

/* The gradient of the columns of V, as if only the directions of vectors could change: what changes the norm or the
 * phase of a column, which are fixed, is taken out. */
dt_tensor *dt__at_fixed_phases(dt_tensor *v, dt_tensor *grad);

#endif
