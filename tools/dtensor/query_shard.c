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
#include "spec/shard.h"
#include "spec/text.h"

#include <limits.h>
#include <stdlib.h>

/* The tensor dim that a key such as "0" of `order` or `extents` names. */
static dt_status read_dim(const request *asked, const char *field, const char *key, int *out) {
    char *end;
    long dim = strtol(key, &end, 10);
    bool digits = *key >= '0' && *key <= '9' && !*end;
    if (!digits || dim > INT_MAX)
        return dt__fail(asked->ctx, DT_ERR_FIELD, "field '%s': wanted a tensor dim as key, got \"%.60s\"", field,
                        key);
    *out = (int)dim;
    return DT_OK;
}

/* What a key of `order` or of `extents` does to the placements. */
typedef dt_status apply_fn(const request *asked, dt_placement *placements, int n, int dim, const json_t *list);

static dt_status apply_order(const request *asked, dt_placement *placements, int n, int dim, const json_t *list) {
    int64_t *mesh_dims = NULL;
    int n_mesh_dims = 0;
    DT__TRY(request_ints(asked, "order", list, 0, DT_SPEC_MAX_DIMS - 1, &mesh_dims, &n_mesh_dims));
    int *narrow = DT__NEW_ARRAY(asked->arena, int, n_mesh_dims);
    if (!narrow)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n_mesh_dims; i++)
        narrow[i] = (int)mesh_dims[i];
    return dt_placements_set_order(asked->ctx, n, placements, dim, n_mesh_dims, narrow);
}

static dt_status apply_extents(const request *asked, dt_placement *placements, int n, int dim, const json_t *list) {
    int64_t *sizes = NULL;
    int n_sizes = 0;
    DT__TRY(request_ints(asked, "extents", list, 0, INT64_MAX, &sizes, &n_sizes));
    return dt_placements_set_extents(asked->ctx, n, placements, dim, n_sizes, sizes);
}

static dt_status apply_field(const request *asked, const char *field, apply_fn *apply, dt_placement *placements,
                             int n) {
    void *by_dim = (void *)request_get(asked, field); /* the iterator's type asks for it; nothing is changed */
    if (by_dim && !json_is_object((json_t *)by_dim))
        return request_wrong(asked, field, "an object with a list per tensor dim", by_dim);
    for (void *at = json_object_iter(by_dim); at; at = json_object_iter_next(by_dim, at)) {
        int dim = 0;
        DT__TRY(read_dim(asked, field, json_object_iter_key(at), &dim));
        DT__TRY(apply(asked, placements, n, dim, json_object_iter_value(at)));
    }
    return DT_OK;
}

static dt_status read_sharding(const request *asked, dt_placement *placements, int n, dt__sharding *out) {
    dt__sharding_desc desc = {.n_placements = n, .placements = placements};
    int64_t *mesh = NULL, *shape = NULL;
    DT__TRY(request_ints(asked, "mesh", request_get(asked, "mesh"), 1, INT64_MAX, &mesh, &desc.n_mesh_dims));
    DT__TRY(request_ints(asked, "shape", request_get(asked, "shape"), 0, INT64_MAX, &shape, &desc.n_dims));
    DT__TRY(apply_field(asked, "order", apply_order, placements, n));
    DT__TRY(apply_field(asked, "extents", apply_extents, placements, n));
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
