/* SPDX-License-Identifier: Apache-2.0
 *
 * What one rank holds, as JSON.
 */
#include "local_json.h"

#include "json_text.h"

static bool add_runs(const dt__shard *shard, size_t max_bytes, dt__text *out) {
    json_add(out, "[");
    for (int64_t i = 0; i < shard->size;) {
        dt_run run = dt__shard_run(shard, i);
        json_add(out, i ? ",[" : "[");
        json_add_int(out, run.begin);
        json_add(out, ",");
        json_add_int(out, run.end);
        json_add(out, "]");
        i += run.end - run.begin;
        if (out->n_chars > max_bytes || out->broken)
            return false;
    }
    json_add(out, "]");
    return true;
}

bool local_json(const dt__sharding *sharding, const int64_t *coordinate, int64_t rank, size_t max_bytes,
                dt__text *out) {
    int64_t shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS];
    dt__sharding_local(sharding, coordinate, shape, offset);
    json_add(out, "{\"rank\":");
    json_add_int(out, rank);
    json_add(out, ",\"shape\":");
    json_add_ints(out, shape, sharding->n_dims);
    json_add(out, ",\"offset\":");
    json_add_ints(out, offset, sharding->n_dims);
    json_add(out, ",\"runs\":[");
    for (int dim = 0; dim < sharding->n_dims; dim++) {
        dt__shard shard;
        dt__shard_at(sharding, dim, coordinate, &shard);
        json_add(out, dim ? "," : "");
        if (!add_runs(&shard, max_bytes, out))
            return false;
    }
    json_add(out, "]}");
    return true;
}
