/* SPDX-License-Identifier: Apache-2.0
 *
 * The spec as the folders below see it: who holds what (the sharding) and what follows from it. A spec never changes
 * after it was made, so its fields may be read without asking.
 */
#ifndef DT_SPEC_SPEC_H
#define DT_SPEC_SPEC_H

#include "spec/overlap.h"

struct dt_spec {
    dt_ctx *ctx;
    int64_t n_refs;
    uint64_t id, fingerprint;
    dt_mesh *mesh; /* holds a reference */
    dt_dtype dtype;
    dt__sharding sharding;
    const int *stride_order;
    const int64_t *strides;
    int64_t elements, bytes;
    int64_t n_shards, max_bytes;
    bool is_even;
    dt_local local;  /* this rank's */
    dt__arena arena; /* holds all that the pointers above point to, and the spec itself */
};

/* What a coordinate holds; NULL stands for a rank outside the mesh. */
void dt__spec_local(const dt_spec *spec, const int64_t *coordinate, dt_local *out);

/* What two ranks hold in common, perhaps under different specs on different meshes; the shapes must be equal. A rank
 * outside its spec's mesh has nothing in common with any: no boxes, and dims NULL. */
dt_status dt__spec_overlap(dt__arena *arena, const dt_spec *a, int64_t rank_a, const dt_spec *b, int64_t rank_b,
                           dt__overlap *out);

#endif
