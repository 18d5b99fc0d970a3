/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of who holds what, in characters: blocks to scale, with ranks in them and indices along the edges.
 */
#ifndef TOOLS_DTENSOR_SHOW_TEXT_H
#define TOOLS_DTENSOR_SHOW_TEXT_H

#include "canvas.h"
#include "grid.h"

/* Appends the picture, all slices of it. */
dt_status show_text_picture(const grid *drawn, const canvas_style *style, dt__arena *arena, dt__text *out);

#endif
