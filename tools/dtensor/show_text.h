/* SPDX-License-Identifier: Apache-2.0
 *
 * The pictures of `dtensor show` in characters. The library has them as SVG (show/show.h).
 */
#ifndef TOOLS_DTENSOR_SHOW_TEXT_H
#define TOOLS_DTENSOR_SHOW_TEXT_H

#include "arguments.h"
#include "show/show.h"

/* Appends the drawing, all slices of it. */
dt_status show_text_picture(const grid *drawn, const text_style *style, dt__arena *arena, dt__text *out);

#endif
