/* SPDX-License-Identifier: Apache-2.0
 *
 * eye: ones on the diagonal of a matrix. Each rank finds the diagonal in its own rows and columns.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

/* Positions in .arguments. */
enum { EYE_N, EYE_M, EYE_DTYPE };

static dt_status shape_eye(dt_op_call *call) {
    const dt_arg *n = dt__arg_at(call, EYE_N), *m = dt__arg_at(call, EYE_M);
    int64_t shape[2] = {n->as.i, m ? m->as.i : n->as.i};
    return dt__add_made(call, dt__arg_dtype(dt__arg_at(call, EYE_DTYPE), DT_F32), 2, shape);
}

static dt_status eye(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__fill_band(call->ctx, &out, call->outputs[0].spec, 0, 0);
    return DT_OK;
}

const dt_op dt__op_eye = {
    .schema = "eye(int n, *, ScalarType? dtype=None) -> Tensor | "
              "eye.m(int n, int m, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A matrix of n rows and m columns with ones on its diagonal.",
    .arguments = "n,m,dtype",
    .shape = shape_eye,
    .kernel = eye,
    .samples = "eye(5)\neye(5; 3; dtype=f64)\neye(2; 7; dtype=bool)\neye(0; 3)",
    .flags = DT_OP_MAKER | DT_OP_POSITIONAL,
};
