/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistribution of tensors, for the folders below: as the public calls, with specs in the place of text.
 */
#ifndef DT_MOVE_REDISTRIBUTE_H
#define DT_MOVE_REDISTRIBUTE_H

#include "dtensor/redistribute.h"
#include "plan/plan.h"
#include "tensor/tensor.h"

/* A spec like this one on a mesh with other placements, given as text or, where text is NULL, Replicate everywhere.
 * NULL with an agreed error. One reference, which belongs to the caller. */
dt_spec *dt__spec_with(const dt_spec *spec, dt_mesh *mesh, const char *place);
dt_spec *dt__spec_with_dtype(const dt_spec *spec, dt_dtype dtype);

/* The tensor's value under another spec, which has its shape and dtype: a new handle, or, where the spec is the
 * tensor's own, another handle on the same storage. */
dt_tensor *dt__tensor_redistribute(dt_tensor *tensor, dt_spec *to, dt__planner planner);

/* The tensor with another dtype, element by element; the spec keeps its placements. */
dt_tensor *dt__tensor_convert(const dt_tensor *tensor, dt_dtype dtype);

/* Whether converting the parts of a partial converts its value. */
bool dt__converts_parts(const dt_spec *spec, dt_dtype dtype);
/* Refuses a partial target of what is reduced before it is converted: its parts would be converted after all. */
dt_status dt__want_whole(const char *op, const dt_spec *to, dt_dtype from, dt_dtype dtype);

#endif
