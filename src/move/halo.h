/* SPDX-License-Identifier: Apache-2.0
 *
 * Halos: what a rank needs of tensors around its own shards. Only that is fetched, in one exchange, to strips; the
 * shard itself stays where it is. A box of the shard is then read in place, and one that reaches into the halo is
 * copied together from the shard and the strips. Boxes may reach beyond the borders of the tensor, where a border
 * states what is read.
 *
 *     +-----------------+
 *     |     before      |   of dim 0, over all that is needed of dim 1
 *     +---+---------+---+
 *     | b |  shard  | a |   of dim 1, over the shard's indices of dim 0
 *     +---+---------+---+
 *     |      after      |
 *     +-----------------+
 */
#ifndef DT_MOVE_HALO_H
#define DT_MOVE_HALO_H

#include "move/window_fetch.h"

/* What is read beyond the borders of a tensor. */
typedef enum dt__border {
    DT__BORDER_ZEROS,
    DT__BORDER_CIRCULAR,  /* the tensor again */
    DT__BORDER_REPLICATE, /* the outermost element */
} dt__border;

typedef struct dt__halo_tensor {
    const dt_spec *from; /* its shards are contiguous runs of each dim that is fetched */
    uint32_t fetched;    /* the dims along which more than the shard may be needed: bits, the same on all ranks */
    dt__border border;
} dt__halo_tensor;

typedef struct dt__halo_request {
    dt_mesh *mesh; /* of all tensors; this rank is in it */
    int n;         /* tensors */
    const dt__halo_tensor *tensors;
    uint32_t mesh_dims; /* that take part: bits */
    bool exchanges;     /* some rank needs something from another; the same on all */
    uint64_t tag;       /* hash of what the ranks must agree on */
    /* What the rank at a coordinate needs of each tensor and dim: one range each, of dims that are not fetched its
     * shard. */
    dt_status (*needed_at)(const void *user, dt__arena *arena, const int64_t *coordinate, dt__range **out);
    const void *user;
} dt__halo_request;

typedef struct dt__halo dt__halo;

/* Everything is in the arena; dt__halo_end releases the group. */
dt_status dt__halo_new(dt__arena *arena, const dt__halo_request *request, dt__halo **out);
void dt__halo_end(dt__halo *self);

/* Fetches the strips, as dt__fetch_start and dt__fetch_wait do; src has the shard of each tensor. Memory is held until
 * dt__halo_release, also after an error. */
dt_status dt__halo_start(dt__halo *self, const dt__shard_memory *src, struct dt__history *history);
dt_status dt__halo_wait(dt__halo *self, dt__fetch_cost *out);
void dt__halo_release(dt__halo *self);

/* Whether the shard holds all of a box. */
bool dt__halo_holds(const dt__halo *self, int tensor, const dt__range *box);
/* Copies a box of what is needed to dense memory; after the wait. */
void dt__halo_copy(const dt__halo *self, int tensor, const dt__range *box, void *dst);

#endif
