/* SPDX-License-Identifier: Apache-2.0
 *
 * The call of an op as a request has it: `op`, `tensors`, `args` and `kwargs`; for requests that place tensors also
 * `mesh`, and dtype and placements per tensor.
 */
#ifndef TOOLS_DTENSOR_REQUEST_CALL_H
#define TOOLS_DTENSOR_REQUEST_CALL_H

#include "request.h"
#include "rules/call_text.h"

/* Reads the fields; `placed` says whether tensors have placements on the mesh of the request.
 * Everything lives in the request's arena. */
dt_status request_call(const request *asked, bool placed, dt__placed_call *out);

#endif
