/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of who holds what as SVG.
 */
#ifndef TOOLS_DTENSOR_SHOW_SVG_H
#define TOOLS_DTENSOR_SHOW_SVG_H

#include "base/text.h"
#include "grid.h"

/* Appends the document. Blocks that the position does not hold are faded; -1: none are. */
dt_status show_svg(const holdings *held, const grid *drawn, int64_t position, dt__arena *arena, dt__text *out);

#endif
