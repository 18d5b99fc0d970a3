/* SPDX-License-Identifier: Apache-2.0
 *
 * Dropout. The mask is a function of the global index, so any cut gives the mask of one rank, and parts of a sum
 * have the mask of the whole.
 */
#include "ops/infer.h"
#include "ops/table.h"

static dt_status shape_dropout(dt_op_call *call) {
    double p = dt__arg(call, "p")->as.f;
    if (!(p >= 0 && p <= 1))
        return dt_op_refuse(call, DT_ERR_VALUE, "p is %g; wanted a probability from 0 to 1", p);
    DT__TRY(dt__want_floating(call, 0));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static unsigned partial_dropout(const dt_op_call *call) {
    return dt__arg(call, "training")->as.b ? DT_PARTIAL_LINEAR | DT_PARTIAL_UP : DT_PARTIAL_ANY;
}

const dt_op dt__op_dropout = {
    .schema = "dropout(Tensor input, float p=0.5, bool training=True) -> Tensor",
    .rule = "...->...",
    .partial_of = partial_dropout,
    .shape = shape_dropout,
    .samples = "dropout(f32[5,3]; 0.3)\ndropout(f32[5,3]; 0.3; false)",
    .flags = DT_OP_RANDOM,
};
