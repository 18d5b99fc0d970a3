/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan as JSON: what `dtensor query` answers to "redistribute" and `dtensor plan --json` prints.
 */
#ifndef TOOLS_DTENSOR_PLAN_JSON_H
#define TOOLS_DTENSOR_PLAN_JSON_H

#include "plan/plan.h"

/* Appends "planner":…,"trace":…, and so on: the members of an object, without its braces. */
void plan_json(dt_ctx *ctx, const dt__plan *plan, dt__text *out);

#endif
