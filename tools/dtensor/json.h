/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON of the tools: values of the library as Jansson's values, and writing them. A function that makes a value returns
 * NULL when memory is out; Jansson's containers propagate that, so only json_write checks. A list that may be long
 * (ranks of a mesh) is written item by item, so that it is never in memory as a tree.
 */
#ifndef TOOLS_DTENSOR_JSON_H
#define TOOLS_DTENSOR_JSON_H

#include "base/text.h"
#include "mesh/mesh.h"
#include "plan/plan.h"
#include "rules/rules.h"

#include <jansson.h>

enum {
    JSON_MAX_ITEMS = 1 << 20, /* ranks that one answer lists, and runs of one rank */
    JSON_COST_DIGITS = 6,     /* of predicted times */
};

/* Appends to a list. A missing item makes the list NULL, so that only json_write has to check. */
void json_append(json_t **list, json_t *item);
/* A string; bytes that are not UTF-8 become U+FFFD. NULL stays NULL. */
json_t *string_json(const char *chars);
/* A number; an integer without a point, and "nan", "inf" and "-inf" as strings. */
json_t *number_json(double value);
/* A nested list, and {"shape":…,"stride":…}. */
json_t *tuple_json(const dt_tuple *tuple);
json_t *layout_json(const dt__layout *layout);
/* {"shape":…,"names":…,"ranks":…,"coordinate":…,"groups":…,"layout":…}. Names are null for a mesh without them,
 * coordinate and groups for a rank outside. */
dt_status mesh_json(dt__arena *arena, const dt_mesh *mesh, json_t **out);
/* {"trace":…,"steps":…,"collectives":…,…} */
json_t *plan_json(dt_ctx *ctx, const dt__plan *plan);
/* {"all_gather":2}: the collectives whose count is not 0, by dt__step_kind. */
json_t *collectives_json(const int64_t *counts);
/* {"shape":…,"dtype":…,"placements":…} */
json_t *output_json(int n_dims, const int64_t *shape, dt_dtype dtype, json_t *placements);

/* Appends a value on one line and releases it; NULL is an error: out of memory. Numbers with a point have at most
 * `digits` digits. Errors are recorded in the context. */
dt_status json_write(dt_ctx *ctx, json_t *value, int digits, dt__text *out);
/* Appends a value with the digits of times, and a newline. */
dt_status json_write_line(dt_ctx *ctx, json_t *value, dt__text *out);

/* {"rank":0,"shape":[3,5],"offset":[0,0],"runs":[[[0,3]],[[0,5]]]}; refuses (unsupported) more than JSON_MAX_ITEMS
 * runs, because a strided shard may have as many as the tensor has elements. */
dt_status local_json(dt_ctx *ctx, const dt__sharding *sharding, const int64_t *coordinate, int64_t rank,
                     json_t **out);
/* Makes item i of a list. */
typedef dt_status json_item_fn(void *user, int64_t i, json_t **out);
/* Appends the members of an object, released, and after them the list `name` of n items; stops, refusing
 * (unsupported), once out has more than max_bytes. */
dt_status json_write_list(dt_ctx *ctx, json_t *members, const char *name, int64_t n, json_item_fn *item, void *user,
                          size_t max_bytes, dt__text *out);

/* {"inputs":[…],"outputs":[…],"collectives":{…},"bytes":…,"cost_us":…} */
json_t *moves_json(const dt__placed_call *placed, const dt__candidate *candidate, const dt__input_moves *moved);

#endif
