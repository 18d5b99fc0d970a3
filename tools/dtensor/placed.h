/* SPDX-License-Identifier: Apache-2.0
 *
 * How subcommands read a tensor from the command line: --mesh, --shape and --dtype, and placements as words.
 */
#ifndef TOOLS_DTENSOR_PLACED_H
#define TOOLS_DTENSOR_PLACED_H

#include "session.h"
#include "spec/spec.h"

/* A whole number at *text, which is moved behind it; false, with *text as it was, where there is none that fits. */
bool placed_number(const char **text, int64_t *out);
/* "1024,512", "[1024,512]"; "" and "[]" are a tensor without dims. */
dt_status placed_shape(const session *self, const char *text, int64_t *shape, int *n);
/* The mesh of --mesh, or of another option: its text form, or sizes written like those of --shape (2,4 for 2x4). NULL
 * with an error. */
dt_mesh *placed_mesh(const session *self, const char *option);
/* The value of --dtype; f32 without one. */
dt_status placed_dtype(const session *self, dt_dtype *out);

#endif
