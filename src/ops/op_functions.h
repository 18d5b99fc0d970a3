/* SPDX-License-Identifier: Apache-2.0
 *
 * What the functions of dtensor/ops.h are made of: each writes its arguments one by one and runs the call.
 */
#ifndef DT_OPS_OP_FUNCTIONS_H
#define DT_OPS_OP_FUNCTIONS_H

#include "base/options.h"
#include "dispatch/dispatch.h"
#include "dtensor/ops.h"
#include "ops/ops.h"

/* Each writes one argument, field by field. */
static inline void dt__call_none(dt_arg *to) { to->type = DT_ARG_NONE; }
static inline void dt__call_int(dt_arg *to, int64_t value) {
    to->type = DT_ARG_INT;
    to->as.i = value;
}
static inline void dt__call_real(dt_arg *to, double value) {
    to->type = DT_ARG_FLOAT;
    to->as.f = value;
}
static inline void dt__call_bool(dt_arg *to, bool value) {
    to->type = DT_ARG_BOOL;
    to->as.b = value;
}
static inline void dt__call_dtype(dt_arg *to, dt_dtype value) {
    to->type = DT_ARG_DTYPE;
    to->as.dtype = value;
}
static inline void dt__call_text(dt_arg *to, const char *value) {
    to->type = value ? DT_ARG_TEXT : DT_ARG_NONE;
    to->as.text = value;
}
static inline void dt__call_generator(dt_arg *to, struct dt_generator *value) {
    to->type = value ? DT_ARG_GENERATOR : DT_ARG_NONE;
    to->as.generator = value;
}
/* A list that is NULL is none; its length is kept, for the error. */
static inline void dt__call_sizes(dt_arg *to, dt_shape value) {
    to->type = value.n < 0 || (value.n > 0 && !value.sizes) ? DT_ARG_NONE : DT_ARG_INTS;
    to->n = value.n;
    to->as.ints = value.sizes;
}
static inline void dt__call_ints(dt_arg *to, dt_ints value) {
    to->type = value.n < 0 || (value.n > 0 && !value.list) ? DT_ARG_NONE : DT_ARG_INTS;
    to->n = value.n;
    to->as.ints = value.list;
}
static inline void dt__call_reals(dt_arg *to, dt_reals value) {
    to->type = value.n < 0 || (value.n > 0 && !value.list) ? DT_ARG_NONE : DT_ARG_FLOATS;
    to->n = value.n;
    to->as.floats = value.list;
}
static inline void dt__call_dims(dt_arg *to, dt_dims value) {
    to->type = value.n < 0 || (value.n > 0 && !value.list) ? DT_ARG_NONE : DT_ARG_INTS;
    to->n = value.n;
    to->as.ints = value.list;
}
static inline void dt__call_number(dt_arg *to, dt_number value) {
    if (value.type == DT_ARG_FLOAT)
        dt__call_real(to, value.f);
    else if (value.type == DT_ARG_BOOL)
        dt__call_bool(to, value.i);
    else
        dt__call_int(to, value.i);
}
static inline void dt__call_tensor(dt_arg *to, dt__call *call, dt_tensor *tensor) {
    int at = call->n_inputs++; /* there is space for DT__MAX_ARGS tensors after any list */
    call->inputs[at] = tensor;
    to->type = DT_ARG_TENSOR;
    to->n = 1;
    to->as.first = at;
}
/* A list whose members may be none where `optional`. */
void dt__call_add_list(dt_arg *to, dt__call *call, dt_tensors tensors, bool optional);
static inline void dt__call_tensors(dt_arg *to, dt__call *call, dt_tensors tensors) {
    dt__call_add_list(to, call, tensors, false);
}
static inline void dt__call_optional_tensors(dt_arg *to, dt__call *call, dt_tensors tensors) {
    dt__call_add_list(to, call, tensors, true);
}

static inline dt_ctx *dt__ctx_of_list(dt_tensors tensors) {
    return tensors.n > 0 ? dt_tensor_ctx(tensors.list[0]) : NULL;
}

/* Runs the call; returns its first output, or NULL with the error recorded. */
dt_tensor *dt__call_run(dt__call *call, dt__op_number op, const dt_site *site);
/* Runs a call that has no outputs. */
dt_status dt__call_run_status(dt__call *call, dt__op_number op, const dt_site *site);
/* Runs the call; writes its n outputs, all NULL after an error. */
void dt__call_run_several(dt__call *call, dt__op_number op, const dt_site *site, dt_tensor **outputs, int n);
/* Runs the call; writes up to capacity outputs and returns their number, or -1. */
int dt__call_run_list(dt__call *call, dt__op_number op, const dt_site *site, dt_tensor **out, int capacity);

#endif
