/* SPDX-License-Identifier: Apache-2.0
 *
 * A mesh as the object with which `query mesh` and `mesh --json` answer, and layouts as JSON.
 */
#ifndef TOOLS_DTENSOR_MESH_JSON_H
#define TOOLS_DTENSOR_MESH_JSON_H

#include "base/text.h"
#include "mesh/mesh.h"

enum { MESH_JSON_MAX_RANKS = 1 << 20 }; /* that one answer lists */

/* Appends {"shape":…,"names":…,"ranks":…,"coordinate":…,"groups":…,"layout":…}. Names are null for a mesh without
 * them, coordinate and groups for a rank outside. */
dt_status mesh_json(dt__arena *arena, const dt_mesh *mesh, dt__text *out);

/* Appends a nested list, and {"shape":…,"stride":…}. */
void tuple_json(const dt__tuple *tuple, dt__text *out);
void layout_json(const dt__layout *layout, dt__text *out);

#endif
