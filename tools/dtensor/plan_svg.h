/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of a plan as SVG: who sends what to whom, to scale.
 */
#ifndef TOOLS_DTENSOR_PLAN_SVG_H
#define TOOLS_DTENSOR_PLAN_SVG_H

#include "base/text.h"
#include "plan/plan.h"

/* Texts that the picture takes over from the report. */
typedef struct plan_svg_texts {
    const char *title, *summary;
    const char **states; /* per column */
    const char **steps;  /* three lines per step */
} plan_svg_texts;

/* Appends the document. */
dt_status plan_svg(const dt_spec *from, const dt_spec *to, const dt__plan *plan, const plan_svg_texts *texts,
                   dt__arena *arena, dt__text *out);

#endif
