/* SPDX-License-Identifier: Apache-2.0
 *
 * An op drawn as SVG: the mesh with a color per rank; each input as it is placed and, below it, as the op needs it,
 * with what moves in between; the outputs; and what each rank holds and receives. A block that several ranks hold is
 * striped in their colors.
 */
#ifndef TOOLS_DTENSOR_EXPLAIN_SVG_H
#define TOOLS_DTENSOR_EXPLAIN_SVG_H

#include "arguments.h"
#include "rules/rules.h"

/* The selected candidate of a call. */
typedef struct drawn_op {
    const char *title, *summary;
    dt_mesh *mesh;
    const dt__placed_call *placed;
    const dt__candidate *selected;
    const dt__input_moves *moves;
} drawn_op;

/* Appends the document. Refuses (unsupported) a mesh of more than 64 ranks. */
dt_status explain_svg(const drawn_op *op, dt__arena *arena, dt__text *out);

#endif
