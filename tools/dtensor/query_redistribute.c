/* SPDX-License-Identifier: Apache-2.0
 *
 * `{"q":"redistribute",…}`: the plan that takes a tensor from one list of placements to another. Needs sizes and
 * placements only, so no mesh and no spec are made.
 */
#include "query_answer.h"

#include "json_text.h"
#include "plan_json.h"
#include "request_placements.h"
#include "spec/spec.h"

/* What both sides share. */
typedef struct sizes {
    int64_t *mesh, *shape;
    int n_mesh_dims, n_dims;
    dt_dtype dtype;
} sizes;

static dt_status read_side(const request *asked, const sizes *of, const char *field, const char *order,
                           dt__sharding *out) {
    const char *text = NULL;
    dt_placement *placements = NULL;
    dt__sharding_desc desc = {
        .n_mesh_dims = of->n_mesh_dims, .mesh = of->mesh, .n_dims = of->n_dims, .shape = of->shape};
    DT__TRY(request_string(asked, field, request_get(asked, field), &text));
    DT__TRY(dt__placements_parse(asked->arena, text, &desc.n_placements, &placements));
    dt_placements_resolve(desc.n_placements, placements, of->n_dims);
    DT__TRY(request_order(asked, order, placements, desc.n_placements));
    DT__TRY(dt__placements_check_dtype(asked->ctx, desc.n_placements, placements, of->dtype));
    desc.placements = placements;
    return dt__sharding_new(asked->arena, &desc, out);
}

static dt_status read_dtype(const request *asked, dt_dtype *out) {
    const char *word = "f32";
    if (request_get(asked, "dtype"))
        DT__TRY(request_string(asked, "dtype", request_get(asked, "dtype"), &word));
    if (!dt_dtype_parse(word, out))
        return dt__fail(asked->ctx, DT_ERR_DTYPE, "there is no dtype '%.60s'", word);
    return DT_OK;
}

static dt_status read_planner(const request *asked, dt__planner *out) {
    const char *word = NULL;
    const json_t *field = request_get(asked, "planner");
    *out = DT__PLANNER_MIN_COST;
    if (!field)
        return DT_OK;
    DT__TRY(request_string(asked, "planner", field, &word));
    return dt__planner_parse(word, out) ? DT_OK
                                        : request_wrong(asked, "planner", "greedy, graph, min_cost or direct", field);
}

static dt_status answer(const request *asked, dt__text *out) {
    sizes of = {0};
    dt__sharding from, to;
    dt__planner planner;
    dt__plan plan;
    dt__move move = {.from = &from, .to = &to};
    DT__TRY(request_ints(asked, "mesh", request_get(asked, "mesh"), 1, INT64_MAX, &of.mesh, &of.n_mesh_dims));
    DT__TRY(request_ints(asked, "shape", request_get(asked, "shape"), 0, INT64_MAX, &of.shape, &of.n_dims));
    DT__TRY(read_dtype(asked, &of.dtype));
    DT__TRY(read_side(asked, &of, "from", "from_order", &from));
    DT__TRY(read_side(asked, &of, "to", "to_order", &to));
    move.item_bytes = (int64_t)dt_dtype_size(of.dtype);
    DT__TRY(read_planner(asked, &planner));
    DT__TRY(dt__plan_new(asked->arena, &move, planner, &dt__machine_builtin, &plan));
    json_add(out, "{");
    plan_json(asked->ctx, &plan, out);
    json_add(out, "}");
    return DT_OK;
}

const request_kind query_redistribute = {
    .q = "redistribute",
    .fields = {{"mesh", true},
               {"shape", true},
               {"dtype", false},
               {"from", true},
               {"to", true},
               {"from_order", false},
               {"to_order", false},
               {"planner", false}},
    .answer = answer,
};
