/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole text of `dtensor show`: what the placements mean, the picture where there is one, and a table of parts.
 */
#ifndef TOOLS_DTENSOR_SHOW_REPORT_H
#define TOOLS_DTENSOR_SHOW_REPORT_H

#include "canvas.h"
#include "holdings.h"

dt_status show_report(const dt_spec *spec, const holdings *held, const canvas_style *style, dt__arena *arena,
                      dt__text *out);
/* One rank in detail. */
dt_status show_report_rank(const dt_spec *spec, const holdings *held, int64_t rank, dt__arena *arena, dt__text *out);

#endif
