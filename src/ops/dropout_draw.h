/* SPDX-License-Identifier: Apache-2.0
 *
 * The draw of ops that drop elements.
 */
#ifndef DT_OPS_DROPOUT_DRAW_H
#define DT_OPS_DROPOUT_DRAW_H

#include "dtensor/op.h"
#include "kernels/kernels.h"

/* Factors of elements, 0 with probability p and otherwise 1 / (1 - p), from the next draw of the call's generator.
 * Every rank of the mesh of the first output draws, with or without elements. */
dt_status dt__take_dropout_draw(const dt_op_call *call, double p, dt_dtype dtype, dt__draw *out);
/* The mask of a draw that was taken before. */
dt_status dt__repeat_dropout_draw(const dt_op_call *call, double p, dt_dtype dtype, dt_generator_state from,
                                  dt__draw *out);

#endif
