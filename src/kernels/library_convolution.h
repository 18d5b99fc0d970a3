/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions by a library (onednn.h), in calls that are one thread's work each.
 */
#ifndef DT_KERNELS_LIBRARY_CONVOLUTION_H
#define DT_KERNELS_LIBRARY_CONVOLUTION_H

#include "kernels/kernels.h"

/* The convolutions that were prepared last. They belong to the state of products. */
typedef struct dt__prepared_convolutions dt__prepared_convolutions;

void dt__prepared_convolutions_free(dt_ctx *ctx, dt__prepared_convolutions *all);

/* False if it does not apply: there is no library, it has no fast code for this, or the work is not worth a call.
 * *done is then unchanged, otherwise false when out of memory. */
bool dt__library_convolution_run(dt__products *products, const dt__convolution *args, bool *done);

#endif
