/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops over lists of tensors, each another op on every tuple of their members (DT_OP_LIST).
 */
#include "ops/ops.h"

const dt_op dt__op__foreach_add_ = {
    .schema = "_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> () | "
              "_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
    .summary = "Adds to each tensor of a list that of another list times alpha, or a number, in place.",
    .each = "add_",
    .samples =
        "_foreach_add_({f32[5,3]; i32[2]}; {f32[3]; i32[2]}; alpha=-2)\n_foreach_add_({f32[5]; f64[2,3]}; 2.5)",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_mul_ = {
    .schema = "_foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> () | "
              "_foreach_mul_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
    .summary = "Multiplies each tensor of a list by that of another list, or by a number, in place.",
    .each = "mul_",
    .samples = "_foreach_mul_({f32[5,3]; i32[2]}; {f32[5,1]; i32[2]})\n_foreach_mul_({f32[5]; f64[2,3]}; -2.5)",
    .flags = DT_OP_LIST,
};
