/* SPDX-License-Identifier: Apache-2.0
 *
 * The call of an op as a request has it: `op`, `tensors`, `args` and `kwargs`; for requests that place tensors also
 * `mesh`, and dtype and placements per tensor.
 */
#ifndef TOOLS_DTENSOR_REQUEST_CALL_H
#define TOOLS_DTENSOR_REQUEST_CALL_H

#include "request.h"
#include "rules/rules.h"

/* What a request says of its tensors: shapes; also placements on its mesh; also values. */
typedef enum request_tensors { REQUEST_SHAPES, REQUEST_PLACED, REQUEST_VALUES } request_tensors;

/* Reads the fields, but for the values. Everything lives in the request's arena. */
dt_status request_call(const request *asked, request_tensors have, dt__placed_call *out);

#endif
