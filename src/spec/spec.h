/* SPDX-License-Identifier: Apache-2.0
 *
 * The spec as other folders see it: the sharding, which maps ranks to indices, and what is derived from it. A spec is
 * immutable, so its fields may be read directly. The headers included here belong to the interface of this folder.
 */
#ifndef DT_SPEC_SPEC_H
#define DT_SPEC_SPEC_H

#include "base/lifetime.h"
#include "spec/overlap.h"
#include "spec/placement_text.h"
#include "spec/shard.h"
#include "spec/shard_order.h"
#include "spec/shard_sizes.h"
#include "spec/stride_order.h"
#include "spec/window.h"

struct dt_spec {
    dt__lifetime life;
    dt_ctx *ctx;
    int64_t n_refs;
    uint64_t id, fingerprint;
    uint64_t layout_fingerprint; /* of everything but the mesh */
    dt_mesh *mesh;               /* holds a reference */
    dt_dtype dtype;
    dt__sharding sharding;
    const int *stride_order;
    const int64_t *strides;
    int64_t elements, bytes;
    int64_t n_shards, max_bytes;
    bool is_even;
    bool is_permuted; /* the stride order is not row-major */
    dt_local local;   /* this rank's */
    dt__arena arena;  /* holds all that the pointers above point to */
};

/* dt_spec_text of a tensor that is used in another placement, "f32[8,6] S(0) use R on mesh(tp=2)"; use NULL: none. */
size_t dt__spec_use_text(const dt_spec *spec, const dt_spec *use, size_t capacity, char *out);
/* Parses a use placement, "R,S(0)", "bf16 R,S(0)" or "bf16": *dtype stays without one; the list is empty where there
 * are no placements. Refuses (placement) anything else. */
dt_status dt__use_parse(dt__arena *arena, const char *text, dt_dtype *dtype, dt__placement_list *out);

/* dt_spec_retain of one that is alive. */
static inline dt_spec *dt__spec_retain(dt_spec *spec) {
    spec->n_refs++;
    return spec;
}

/* What a coordinate holds; NULL: a rank outside the mesh. */
void dt__spec_local(const dt_spec *spec, const int64_t *coordinate, dt_local *out);

/* rank_classes.c: notes which ranks hold other shapes of a new spec, in an estimate. */
void dt__rank_classes_note(const dt_spec *spec);

#endif
