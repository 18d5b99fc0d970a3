/* SPDX-License-Identifier: Apache-2.0
 *
 * The inputs of a call that is run: each rank makes its part of the values that the request gives. Of a partial input
 * every rank gets a part of its own, so that the parts reduce to the value.
 */
#ifndef TOOLS_DTENSOR_RUN_INPUTS_H
#define TOOLS_DTENSOR_RUN_INPUTS_H

#include "dtensor/redistribute.h"
#include "request_call.h"

/* On each rank of the mesh; data has the whole value of each input. */
dt_status run_inputs(dt_mesh *mesh, const dt__placed_call *parts, const void *const *data, dt_tensor **inputs);

#endif
