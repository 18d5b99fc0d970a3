/* SPDX-License-Identifier: Apache-2.0
 *
 * Read access to a spec. Properties were derived when the spec was made; what another rank holds is computed here, by
 * shard arithmetic.
 */
#include "base/options.h"
#include "spec/shard_sizes.h"
#include "spec/spec.h"
#include "spec/stride_order.h"

uint64_t dt_spec_id(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->id : 0;
}

uint64_t dt_spec_fingerprint(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->fingerprint : 0;
}

dt_mesh *dt_spec_mesh(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->mesh : NULL;
}

dt_dtype dt_spec_dtype(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->dtype : DT_NO_DTYPE;
}

int dt_spec_n_dims(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->sharding.n_dims : 0;
}

const int64_t *dt_spec_shape(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->sharding.shape : NULL;
}

const dt_placement *dt_spec_placements(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->sharding.placements : NULL;
}

const int *dt_spec_stride_order(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->stride_order : NULL;
}

const int64_t *dt_spec_strides(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->strides : NULL;
}

int64_t dt_spec_elements(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->elements : 0;
}

int64_t dt_spec_bytes(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->bytes : 0;
}

int64_t dt_spec_n_shards(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->n_shards : 0;
}

bool dt_spec_is_even(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec && spec->is_even;
}

int64_t dt_spec_max_bytes(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? spec->max_bytes : 0;
}

const dt_local *dt_spec_local(const dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return spec ? &spec->local : NULL;
}

static bool has_dim(const dt_spec *spec, int dim) { return spec && dim >= 0 && dim < spec->sharding.n_dims; }

int64_t dt_spec_dim_shards(const dt_spec *spec, int dim) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    return has_dim(spec, dim) ? dt__sharding_dim_shards(&spec->sharding, dim) : 0;
}

int dt_spec_cut_order(const dt_spec *spec, int dim, int mesh_dims[DT_SPEC_MAX_DIMS]) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    if (!has_dim(spec, dim))
        return 0;
    int first = spec->sharding.first_cut[dim], n = spec->sharding.first_cut[dim + 1] - first;
    for (int i = 0; i < n; i++)
        mesh_dims[i] = spec->sharding.cuts[first + i].mesh_dim;
    return n;
}

void dt__spec_local(const dt_spec *spec, const int64_t *coordinate, dt_local *out) {
    out->member = coordinate != NULL;
    out->n_dims = coordinate ? spec->sharding.n_dims : 1;
    if (coordinate) {
        dt__sharding_local(&spec->sharding, coordinate, out->shape, out->offset);
        dt__dense_strides(out->n_dims, out->shape, spec->stride_order, out->strides);
    } else {
        out->shape[0] = out->offset[0] = 0;
        out->strides[0] = 1;
    }
    dt__product(out->n_dims, out->shape, 1, &out->elements); /* a shard fits, because the global tensor does */
    out->bytes = out->elements * (int64_t)dt_dtype_size(spec->dtype);
}

static bool has_coordinate(const dt_spec *spec, const int64_t *coordinate) {
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++)
        if (coordinate[m] < 0 || coordinate[m] >= spec->sharding.mesh[m])
            return false;
    return true;
}

static void fill_local(const dt_spec *spec, const int64_t *coordinate, dt_local *out, size_t out_size) {
    dt_local full;
    dt__spec_local(spec, coordinate, out_size == sizeof full ? out : &full);
    if (out_size != sizeof full)
        dt__fill_sized(&full, sizeof full, out, out_size);
}

bool dt_spec_local_at_sized(const dt_spec *spec, const int64_t *coordinate, dt_local *out, size_t out_size) {
    DT__ENTER(spec ? spec->ctx : NULL, "spec_local_at", NULL);
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    if (!spec || !has_coordinate(spec, coordinate))
        return false;
    fill_local(spec, coordinate, out, out_size);
    return true;
}

void dt_spec_local_of_sized(const dt_spec *spec, int64_t rank, dt_local *out, size_t out_size) {
    DT__ENTER(spec ? spec->ctx : NULL, "spec_local_of", NULL);
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!spec) {
        dt__fill_sized(&(dt_local){0}, sizeof(dt_local), out, out_size);
        return;
    }
    fill_local(spec, dt_mesh_coordinate_of(spec->mesh, rank, coordinate) ? coordinate : NULL, out, out_size);
}

int64_t dt_spec_runs(const dt_spec *spec, const int64_t *coordinate, int dim, int64_t from, int64_t capacity,
                     dt_run *out) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    dt__shard shard;
    int64_t n = 0;
    if (!has_dim(spec, dim) || !has_coordinate(spec, coordinate) || from < 0)
        return -1;
    dt__shard_at(&spec->sharding, dim, coordinate, &shard);
    for (; n < capacity && from < shard.size; n++) {
        out[n] = dt__shard_run(&shard, from);
        from += out[n].end - out[n].begin;
    }
    return n;
}

bool dt_spec_to_global(const dt_spec *spec, const int64_t *coordinate, const int64_t *local, int64_t *global) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    dt__shard shard;
    if (!spec || !has_coordinate(spec, coordinate))
        return false;
    for (int d = 0; d < spec->sharding.n_dims; d++) {
        dt__shard_at(&spec->sharding, d, coordinate, &shard);
        if (local[d] < 0 || local[d] >= shard.size)
            return false;
        global[d] = dt__shard_to_global(&shard, local[d]);
    }
    return true;
}

bool dt_spec_to_local(const dt_spec *spec, const int64_t *coordinate, const int64_t *global, int64_t *local) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    dt__shard shard;
    if (!spec || !has_coordinate(spec, coordinate))
        return false;
    for (int d = 0; d < spec->sharding.n_dims; d++) {
        dt__shard_at(&spec->sharding, d, coordinate, &shard);
        if (!dt__shard_to_local(&shard, global[d], &local[d]))
            return false;
    }
    return true;
}

bool dt_spec_owners(const dt_spec *spec, const int64_t *global, int64_t *coordinate) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    for (int d = 0; spec && d < spec->sharding.n_dims; d++)
        if (global[d] < 0 || global[d] >= spec->sharding.shape[d])
            return false;
    if (!spec)
        return false;
    dt__sharding_owner(&spec->sharding, global, coordinate);
    return true;
}

bool dt_spec_next_owner(const dt_spec *spec, const int64_t *coordinate, int64_t *at, int64_t *rank) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    int64_t found[DT_SPEC_MAX_DIMS];
    if (!spec || !dt__sharding_next_owner(&spec->sharding, coordinate, at, found))
        return false;
    *rank = dt_mesh_rank_at(spec->mesh, found);
    return true;
}
