/* SPDX-License-Identifier: Apache-2.0
 *
 * The call of an op as a request has it: `op`, `tensors`, `args` and `kwargs`; for requests that place tensors also
 * `mesh`, and dtype and placements per tensor.
 */
#ifndef TOOLS_DTENSOR_REQUEST_CALL_H
#define TOOLS_DTENSOR_REQUEST_CALL_H

#include "request.h"
#include "rules/rules.h"

/* A call whose outputs are known. Everything lives in the request's arena. */
typedef struct request_call_parts {
    const dt__op_info *info;
    dt__bound *bound;
    dt_op_call call;
    int n_mesh_dims;
    const int64_t *mesh;
    const dt__sharding *const *inputs; /* in the order of the call's; NULL without a mesh */
} request_call_parts;

/* What a request says of its tensors: shapes; also placements on its mesh; also values. */
typedef enum request_tensors { REQUEST_SHAPES, REQUEST_PLACED, REQUEST_VALUES } request_tensors;

/* Reads the fields, but for the values. */
dt_status request_call(const request *asked, request_tensors tensors, request_call_parts *out);

#endif
