/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing replicas: ranks that differ only in their coordinates along mesh dims on which a tensor is replicated must
 * hold the same bits of it. With DTENSOR_CHECK_REPLICAS the members of a mesh exchange a hash of each such tensor that
 * a call of the program reads, before the call runs. The hashes are the same on all ranks, and so is the error.
 */
#include "mesh/mesh.h"
#include "tensor/tensor.h"

#include <string.h>

enum { N_LANES = 4 };

/* Several chains at once, because one would wait for its products. */
static uint64_t hash_bytes(const unsigned char *bytes, size_t n) {
    uint64_t lanes[N_LANES] = {1, 2, 3, 4}, words[N_LANES];
    for (; n >= sizeof words; n -= sizeof words, bytes += sizeof words) {
        memcpy(words, bytes, sizeof words);
        for (int i = 0; i < N_LANES; i++) {
            lanes[i] = (lanes[i] ^ words[i]) * UINT64_C(0xbf58476d1ce4e5b9);
            lanes[i] ^= lanes[i] >> 29;
        }
    }
    return dt__hash(bytes, n, dt__hash(lanes, sizeof lanes, 0));
}

dt_status dt__hash_values(const dt_tensor *tensor, uint64_t *out) {
    const int64_t *shape = tensor->spec ? tensor->spec->local.shape : tensor->shape;
    int n_dims = tensor->spec ? tensor->spec->local.n_dims : tensor->n_dims;
    int64_t elements = dt__elements(n_dims, shape);
    *out = 0;
    if (!tensor->data || elements == 0)
        return DT_OK;
    dt_tensor *copy = dt__is_dense(n_dims, shape, tensor->strides) ? NULL : dt__clone(tensor);
    const dt_tensor *dense = dt__is_dense(n_dims, shape, tensor->strides) ? tensor : copy;
    if (!dense)
        return dt_error_status(tensor->ctx);
    *out = hash_bytes(dense->data, (size_t)elements * dt_dtype_size(tensor->dtype));
    if (copy)
        dt_drop(copy);
    return DT_OK;
}

int64_t dt__first_replica(const dt_mesh *mesh, const dt_placement *placements, int64_t i, const int64_t *coordinate) {
    int64_t stride = 1;
    for (int m = dt_mesh_n_dims(mesh) - 1; m >= 0; m--) {
        if (dt_placement_is_replicate(placements[m]))
            i -= coordinate[m] * stride;
        stride *= dt_mesh_dim_size(mesh, m);
    }
    return i;
}

static bool has_replicas(const dt_tensor *tensor, const dt_mesh *mesh) {
    bool found = false;
    if (!tensor->spec || !tensor->spec->local.member || !dt__mesh_same(tensor->spec->mesh, mesh))
        return false;
    for (int m = 0; m < dt_mesh_n_dims(mesh); m++)
        found = found ||
                (dt_placement_is_replicate(tensor->spec->sharding.placements[m]) && dt_mesh_dim_size(mesh, m) > 1);
    return found;
}

/* The members' hashes of some tensors. */
typedef struct comparison {
    dt_ctx *ctx;
    dt_mesh *mesh;
    int n_tensors, *numbers; /* positions among the arguments */
    const dt_tensor **tensors;
    int64_t n_ranks, *ranks;
    uint64_t *hashes; /* n_tensors of each rank, and at the end this rank's own */
} comparison;

static dt_status gather(const comparison *self) {
    uint64_t *own = self->hashes + self->n_ranks * self->n_tensors;
    for (int i = 0; i < self->n_tensors; i++)
        DT__TRY(dt__hash_values(self->tensors[i], &own[i]));
    dt_group *group = dt_group_new(self->ctx, self->ranks, self->n_ranks);
    if (!group)
        return dt_error_status(self->ctx);
    struct dt__comm_observer *observer = self->ctx->observer;
    self->ctx->observer = NULL; /* counters, traces and policies do not see what a check sends */
    dt_status status = dt__comm_run_on_mesh(
        group,
        &(dt_comm_call){
            .op = DT_ALL_GATHER, .src = own, .dst = self->hashes, .count = self->n_tensors, .dtype = DT_I64},
        dt__mesh_history(self->mesh));
    self->ctx->observer = observer;
    dt_group_release(group);
    return status;
}

static dt_status compare(const comparison *self) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    for (int t = 0; t < self->n_tensors; t++)
        for (int64_t i = 0; i < self->n_ranks; i++) {
            (void)dt_mesh_coordinate_of(self->mesh, self->ranks[i], coordinate);
            int64_t first = dt__first_replica(self->mesh, self->tensors[t]->spec->sharding.placements, i, coordinate);
            if (self->hashes[i * self->n_tensors + t] == self->hashes[first * self->n_tensors + t])
                continue;
            char text[256];
            (void)dt_tensor_text(self->tensors[t], sizeof text, text);
            return dt__fail(self->ctx, DT_ERR_VALUE,
                            "tensor %d, %s: the replicas differ: ranks %lld and %lld hold other values",
                            self->numbers[t] + 1, text, (long long)self->ranks[first], (long long)self->ranks[i]);
        }
    return DT_OK;
}

dt_status dt__compare_replicas(dt_mesh *mesh, int n, dt_tensor *const *tensors) {
    dt_ctx *ctx = dt_mesh_ctx(mesh);
    if (!dt__mesh_history(mesh) || dt_mesh_size(mesh) == 1 || ctx->call.apart || !dt__has_data(ctx) || ctx->estimate)
        return DT_OK;
    dt__arena arena = dt__arena_new(ctx);
    comparison self = {.ctx = ctx, .mesh = mesh, .n_ranks = dt_mesh_size(mesh)};
    self.tensors = DT__NEW_ARRAY(&arena, const dt_tensor *, n);
    self.numbers = DT__NEW_ARRAY(&arena, int, n);
    self.ranks = DT__NEW_ARRAY(&arena, int64_t, self.n_ranks);
    self.hashes = DT__NEW_ARRAY(&arena, uint64_t, (self.n_ranks + 1) * n);
    dt_status status = self.tensors && self.numbers && self.ranks && self.hashes ? DT_OK : DT_ERR_MEMORY;
    for (int i = 0; i < n && status == DT_OK; i++)
        if (has_replicas(tensors[i], mesh)) {
            self.numbers[self.n_tensors] = i;
            self.tensors[self.n_tensors++] = tensors[i];
        }
    if (status == DT_OK && self.n_tensors) {
        dt_mesh_ranks(mesh, self.ranks);
        status = gather(&self);
    }
    if (status == DT_OK && self.n_tensors)
        status = compare(&self);
    dt__arena_free(&arena);
    return status;
}
