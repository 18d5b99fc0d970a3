/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops over lists of tensors, each another op on every item of them (DT_OP_LIST).
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
const dt_op dt__op__foreach_power_sum = {
    .schema = "_foreach_power_sum(Tensor[] self, Scalar ord=2) -> Tensor[]",
    .summary = "Sum of |x|^ord in f64 of each tensor of a list; of ord inf the largest |x|.",
    .each = "power_sum",
    .samples = "_foreach_power_sum({f32[5,3]; f64[2]})\n_foreach_power_sum({f32[5,3]; bf16[2]}; inf)",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_add = {
    .schema = "_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[] | "
              "_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
    .summary = "Each tensor of a list plus that of another list times alpha, or plus a number.",
    .each = "add",
    .samples = "_foreach_add({f32[5,3]; i32[2]}; {f32[3]; i32[2]}; alpha=-2)\n_foreach_add({f32[5]; f64[2,3]}; 2.5)",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_mul = {
    .schema = "_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[] | "
              "_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
    .summary = "Each tensor of a list times that of another list, or times a number.",
    .each = "mul",
    .samples = "_foreach_mul({f32[5,3]; i32[2]}; {f32[5,1]; i32[2]})\n_foreach_mul({f32[5]; f64[2,3]}; -2.5)",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_norm = {
    .schema = "_foreach_norm(Tensor[] self, Scalar ord=2) -> Tensor[]",
    .summary = "The norm of each tensor of a list.",
    .each = "linalg_vector_norm",
    .samples = "_foreach_norm({f32[5,3]; f64[2]})\n_foreach_norm({f32[5,3]; f64[2]}; inf)",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_abs = {
    .schema = "_foreach_abs(Tensor[] self) -> Tensor[]",
    .summary = "The magnitudes of the elements of each tensor of a list.",
    .each = "abs",
    .samples = "_foreach_abs({f32[5,3]; f64[2]})",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_acos = {
    .schema = "_foreach_acos(Tensor[] self) -> Tensor[]",
    .summary = "The arc cosines of the elements of each tensor of a list.",
    .each = "acos",
    .samples = "_foreach_acos({f32[5,3]; f64[2]})",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_acos_ = {
    .schema = "_foreach_acos_(Tensor(a!)[] self) -> ()",
    .summary = "The arc cosines of the elements of each tensor of a list, in place.",
    .each = "acos_",
    .samples = "_foreach_acos_({f32[5,3]; f64[2]})",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_neg = {
    .schema = "_foreach_neg(Tensor[] self) -> Tensor[]",
    .summary = "The negated elements of each tensor of a list.",
    .each = "neg",
    .samples = "_foreach_neg({f32[5,3]; f64[2]})",
    .flags = DT_OP_LIST,
};
const dt_op dt__op__foreach_max = {
    .schema = "_foreach_max(Tensor[] self) -> Tensor[]",
    .summary = "The largest element of each tensor of a list.",
    .each = "max",
    .samples = "_foreach_max({f32[5,3]; i32[2]})",
    .flags = DT_OP_LIST,
};
