/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs an op on tensors, in five steps: unwrap (describe the inputs), look up (the decision, made once per kind of call
 * and cached), redistribute (move the inputs to the placements of the selected rows), run (the op's kernel on this
 * rank's local tensors), wrap (create handles for the outputs). No code in this folder depends on a particular op.
 */
#ifndef DT_DISPATCH_DISPATCH_H
#define DT_DISPATCH_DISPATCH_H

#include "dtensor/debug.h"
#include "dtensor/dispatch.h"
#include "rules/rules.h"
#include "tensor/tensor.h"

enum { DT__MAX_INPUTS = 64, DT__MAX_OUTPUTS = DT_OP_MAX_OUTPUTS };

/* A call of an op on tensors: one object from the C function, or the call by name, to the kernel. The caller sets the
 * fields up to `site`; dispatch sets the others. */
typedef struct dt__call {
    const dt__op_info *info;
    int overload;
    int n_inputs;                       /* more than DT__MAX_INPUTS are refused */
    const dt_arg *args;                 /* one per parameter; defaults are filled in */
    dt_tensor *inputs[DT__MAX_INPUTS];  /* in the order of the arguments */
    dt_op_call op_call;                 /* the argument of shape functions, rules and kernels */
    dt_op_value values[DT__MAX_INPUTS]; /* its inputs: global up to the decision, local in the kernel */
} dt__call;

/* Without inputs; the caller sets info. */
static inline void dt__call_init(dt__call *call, int overload, const dt_arg *values) {
    call->overload = overload;
    call->n_inputs = 0;
    call->args = values;
}

/* The texts of the inputs, for errors (base/ctx.h). */
void dt__call_describe(const void *call, char *out, size_t capacity);

/* Runs the call. Outputs, at most DT__MAX_OUTPUTS, belong to the current scope; an in-place op returns its first input.
 * Collective over the mesh of the inputs if inputs move, otherwise Local. */
dt_status dt__dispatch(dt_ctx *ctx, dt__call *call, dt_tensor **outputs, int *n_outputs);

/* dt_explain_tensors for a context whose ops are installed. */
const char *dt__explain(dt_ctx *ctx, const char *call, int n, dt_tensor *const *tensors);

#endif
