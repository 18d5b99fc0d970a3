/* SPDX-License-Identifier: Apache-2.0
 *
 * What the functions of dtensor/ops.h are made of: arguments given one by one, and the call.
 */
#ifndef DT_OPS_CALLS_H
#define DT_OPS_CALLS_H

#include "dispatch/dispatch.h"
#include "dtensor/ops.h"
#include "ops/table.h"

/* A call while its tensors are gathered. */
typedef struct dt__giving {
    int op, overload;
    int n_inputs; /* may pass the room: then the call is refused */
    int absent;   /* which tensor, from 1, is NULL; 0: none */
    dt_tensor *inputs[DT__MAX_INPUTS];
} dt__giving;

static inline void dt__giving_begin(dt__giving *call, int op, int overload) {
    call->op = op;
    call->overload = overload;
    call->n_inputs = call->absent = 0;
}

static inline dt_arg dt__give_none(void) { return (dt_arg){.type = DT_ARG_NONE}; }
static inline dt_arg dt__give_int(int64_t value) { return (dt_arg){.type = DT_ARG_INT, .as.i = value}; }
static inline dt_arg dt__give_real(double value) { return (dt_arg){.type = DT_ARG_FLOAT, .as.f = value}; }
static inline dt_arg dt__give_bool(bool value) { return (dt_arg){.type = DT_ARG_BOOL, .as.b = value}; }
static inline dt_arg dt__give_dtype(dt_dtype value) { return (dt_arg){.type = DT_ARG_DTYPE, .as.dtype = value}; }
static inline dt_arg dt__give_text(const char *value) {
    return (dt_arg){.type = value ? DT_ARG_TEXT : DT_ARG_NONE, .as.text = value};
}
static inline dt_arg dt__give_ints(dt_shape value) {
    return (dt_arg){.type = DT_ARG_INTS, .n = value.n, .as.ints = value.sizes};
}
static inline dt_arg dt__give_number(dt_number value) {
    return value.type == DT_ARG_FLOAT  ? dt__give_real(value.f)
           : value.type == DT_ARG_BOOL ? dt__give_bool(value.i)
                                       : dt__give_int(value.i);
}
static inline dt_arg dt__give_tensor(dt__giving *call, dt_tensor *tensor) {
    int at = call->n_inputs++;
    if (at < DT__MAX_INPUTS)
        call->inputs[at] = tensor;
    if (!tensor && !call->absent)
        call->absent = at + 1;
    return (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = at};
}
static inline dt_arg dt__give_tensors(dt__giving *call, dt_tensors tensors) {
    dt_arg arg = {.type = DT_ARG_TENSORS, .n = tensors.n, .as.first = call->n_inputs};
    for (int i = 0; i < tensors.n; i++)
        dt__give_tensor(call, tensors.list[i]);
    return arg;
}

/* Runs the call: its first output; NULL with the error recorded. */
dt_tensor *dt__give(const dt__giving *call, const dt_arg *args, const dt_site *site);
/* Runs the call: writes up to room outputs and gives their number, or -1. */
int dt__give_several(const dt__giving *call, const dt_arg *args, const dt_site *site, dt_tensor **out, int room);

#endif
