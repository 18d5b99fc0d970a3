/* SPDX-License-Identifier: Apache-2.0
 *
 * The text form of a call: tensors with their placements, other arguments as values or name=value, separated by
 * semicolons; a list of tensors in braces.
 *
 *     matmul(f32[1024,512] S(0),R; f32[512,256] R,S(1))
 *     cat({f32[4,3] S(1); f32[5,3] R}; dim=0)
 */
#ifndef DT_RULES_CALL_TEXT_H
#define DT_RULES_CALL_TEXT_H

#include "rules/rules.h"

/* A call on a mesh, with its outputs inferred. Everything lives in the arena that it was made in. */
typedef struct dt__placed_call {
    const dt__op_info *info;
    dt__bound_args bound;
    dt_op_call call;
    int n_mesh_dims;
    const int64_t *mesh;
    const dt__sharding *const *inputs; /* in the order of the call's inputs */
} dt__placed_call;

/* Puts the tensors of a bound call (info and bound are set), which their caller numbered, into the order of the call,
 * and infers the outputs. placed may be NULL. */
dt_status dt__placed_call_build(dt__arena *arena, const dt_op_value *values, const dt__sharding *const *placed,
                                dt__placed_call *out);

/* Reads the text; tensors without placements are Replicate. Refuses (value) what is not of the form, and what binding
 * and inference refuse. */
dt_status dt__placed_call_parse(dt__arena *arena, const char *text, int n_mesh_dims, const int64_t *mesh,
                                dt__placed_call *out);

#endif
