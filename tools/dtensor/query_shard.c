/* SPDX-License-Identifier: Apache-2.0
 *
 * `{"q":"shard",…}`: what each rank of a mesh holds of a tensor. Needs sizes and placements only, so no mesh and no
 * spec are made: this is the request that editors and test suites send by the ten thousand.
 */
#include "query_answer.h"

#include "base/size.h"
#include "json_text.h"
#include "local_json.h"
#include "mesh_json.h"
#include "request_placements.h"
#include "spec/spec.h"

static dt_status read_sharding(const request *asked, dt_placement *placements, int n, dt__sharding *out) {
    dt__sharding_desc desc = {.n_placements = n, .placements = placements};
    int64_t *mesh = NULL, *shape = NULL;
    DT__TRY(request_ints(asked, "mesh", request_get(asked, "mesh"), 1, INT64_MAX, &mesh, &desc.n_mesh_dims));
    DT__TRY(request_ints(asked, "shape", request_get(asked, "shape"), 0, INT64_MAX, &shape, &desc.n_dims));
    DT__TRY(request_order(asked, "order", placements, n));
    DT__TRY(request_extents(asked, "extents", placements, n));
    desc.mesh = mesh;
    desc.shape = shape;
    return dt__sharding_new(asked->arena, &desc, out);
}

static dt_status add_all(const request *asked, const dt__sharding *sharding, dt__text *out) {
    int64_t n_ranks = 1;
    for (int i = 0; i < sharding->n_mesh_dims; i++)
        if (!dt__mul_i64(n_ranks, sharding->mesh[i], &n_ranks) || n_ranks > MESH_JSON_MAX_RANKS)
            return dt__fail(asked->ctx, DT_ERR_UNSUPPORTED, "shard: the answer lists every rank, of at most %d",
                            (int)MESH_JSON_MAX_RANKS);
    json_add(out, "{\"local\":[");
    for (int64_t rank = 0; rank < n_ranks; rank++) {
        int64_t coordinate[DT_SPEC_MAX_DIMS];
        for (int64_t left = rank, i = sharding->n_mesh_dims - 1; i >= 0; left /= sharding->mesh[i--])
            coordinate[i] = left % sharding->mesh[i];
        json_add(out, rank ? "," : "");
        if (!local_json(sharding, coordinate, rank, REQUEST_MAX_ANSWER_BYTES, out))
            return request_check_size(asked, out);
    }
    json_add(out, "]}");
    return DT_OK;
}

static dt_status answer(const request *asked, dt__text *out) {
    const char *text = NULL;
    dt_placement *placements = NULL;
    dt__sharding sharding;
    int n = 0;
    DT__TRY(request_string(asked, "placements", request_get(asked, "placements"), &text));
    DT__TRY(dt__placements_parse(asked->arena, text, &n, &placements));
    DT__TRY(read_sharding(asked, placements, n, &sharding));
    return add_all(asked, &sharding, out);
}

const request_kind query_shard = {
    .q = "shard",
    .fields = {{"mesh", true}, {"shape", true}, {"placements", true}, {"order", false}, {"extents", false}},
    .answer = answer,
};
