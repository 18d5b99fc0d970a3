/* SPDX-License-Identifier: Apache-2.0
 *
 * Running an op on tensors, in five steps: unwrap (what are the inputs), look up (what is to be done; decided once per
 * kind of call and kept), redistribute (bring the inputs to where the chosen rows want them), run (the op's kernel on
 * this rank's parts), wrap (handles for the outputs). No op has a name here.
 */
#ifndef DT_DISPATCH_DISPATCH_H
#define DT_DISPATCH_DISPATCH_H

#include "dtensor/dispatch.h"
#include "rules/rules.h"
#include "tensor/tensor.h"

enum { DT__MAX_INPUTS = 64, DT__MAX_OUTPUTS = DT_OP_MAX_OUTPUTS };

/* A call of an op, its arguments bound to a signature. */
typedef struct dt__invocation {
    const dt__op_info *info;
    int overload;
    const dt_arg *args; /* one per parameter; defaults are filled in */
    int n_inputs;
    dt_tensor *const *inputs; /* in the order of the arguments; none is NULL */
    const dt_site *site;      /* or NULL */
} dt__invocation;

/* Runs it. Outputs, at most DT__MAX_OUTPUTS, belong to the current scope; an in-place op gives its first input.
 * Collective over the mesh of the inputs where inputs have to move, otherwise Local. */
dt_status dt__dispatch(dt_ctx *ctx, const dt__invocation *call, dt_tensor **outputs, int *n_outputs);

/* Runs an op that has a decomposition and no kernel. */
dt_status dt__decompose(dt_ctx *ctx, const dt__invocation *call, dt_tensor **outputs, int *n_outputs);

#endif
