/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of simulated ranks: inputs are filled from the global values by the op's window function, as if every rank
 * had fetched what it needs.
 */
#ifndef DT_VERIFY_SIMULATED_WINDOWS_H
#define DT_VERIFY_SIMULATED_WINDOWS_H

#include "verify/row_specs.h"

/* The windows of one rank. */
typedef struct dt__sim_windows {
    bool used, needs_none;
    dt__dim_window **inputs;
    const dt__row_specs *specs;
    int rank;
} dt__sim_windows;

/* What rank r needs, if the row uses windows; an error of the window function is in the context of the call. */
dt_status dt__sim_windows_new(dt__arena *arena, const dt_op_call *call, const dt__row *row,
                              const dt__row_specs *specs, int r, dt__sim_windows *out);
/* Sets shape and offset of an input to those of its window. */
dt_status dt__sim_windows_shape(dt__arena *arena, const dt__sim_windows *self, int input, dt_op_value *value);
/* The global index of a local one, of a window or of a shard. */
void dt__sim_windows_to_global(const dt__sim_windows *self, int input, const int64_t *index, int64_t *global);
/* Copies the windows to the output that they are. */
void dt__sim_windows_copy(const dt__sim_windows *self, const dt_op_call *call, dt_op_value *values);

#endif
