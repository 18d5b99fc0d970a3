/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of calls, and the gradients computed from them: the interface of this folder. Other folders reach it through
 * the recorder of the context (base/recorder.h); programs call dtensor/autograd.h.
 */
#ifndef DT_AUTOGRAD_AUTOGRAD_H
#define DT_AUTOGRAD_AUTOGRAD_H

#include "dispatch/dispatch.h"
#include "dtensor/autograd.h"

/* record_text.c: appends the records that the tensor was made by, oldest first, a line each:
 *
 *     1 leaf f32[4,3]
 *     2 mul(f32[4,3]; f32[4,3]) -> f32[4,3]; from 1, 1; saves input 1, input 2
 *     3 sum(f32[4,3]; dim=[0]) -> f32[3]; from 2
 *     4 transpose(f32[4,3]; dim0=0; dim1=1) -> f32[3,4]; view of 2
 *
 * Records are numbered within the text. Nothing for a tensor that requires no gradient. */
dt_status dt__record_text(const dt_tensor *tensor, dt__text *out);

/* held_gradients.c: whether it is a gradient that is held (dt_backward): only these are partial. */
bool dt__gradient_is_held(const dt_tensor *grad);

/* gradients.c: dt_backward_rest that holds gradients along these mesh dims, as dt_backward can; NULL: none. */
dt_status dt__backward_rest(dt_rest *rest, const char *hold);

#endif
