/* SPDX-License-Identifier: Apache-2.0
 *
 * Fetches windows of several tensors in one exchange: every rank publishes the addresses and strides of its shards, and
 * pulls the indices that it needs straight from its peers' memory to their place; between nodes, every rank sends what
 * the others need, in one all_to_all. The list of pulls is prepared once per decision. Partials stay as they are: a
 * rank reads only from ranks that differ from it along the mesh dims that take part.
 */
#ifndef DT_MOVE_WINDOW_FETCH_H
#define DT_MOVE_WINDOW_FETCH_H

#include "comm/comm.h"
#include "spec/spec.h"

/* One tensor: its shards, and what this rank needs of each dim. */
typedef struct dt__fetched_tensor {
    const dt_spec *from;
    const dt__dim_window *windows; /* per dim; read while the fetch is prepared */
    const int64_t *dst_strides;    /* of the memory that the window is written to; kept */
    bool is_same;                  /* another window of the tensor that is listed before it */
} dt__fetched_tensor;

typedef struct dt__fetch_request {
    dt_mesh *mesh; /* of all tensors; this rank is in it */
    int n;         /* tensors */
    const dt__fetched_tensor *tensors;
    uint32_t mesh_dims; /* that take part: bits */
    bool exchanges;     /* some rank needs something from another; the same on all */
    uint64_t tag;       /* hash of what the ranks must agree on */
    /* Where ranks are on several nodes: what the rank at a coordinate needs of each tensor and dim, as above. */
    dt_status (*windows_at)(const void *user, dt__arena *arena, const int64_t *coordinate, dt__dim_window **out);
    const void *user;
} dt__fetch_request;

typedef struct dt__fetch dt__fetch;

/* Everything is in the arena; the group must be released by dt__fetch_end. */
dt_status dt__fetch_new(dt__arena *arena, const dt__fetch_request *request, dt__fetch **out);
void dt__fetch_end(dt__fetch *fetch);

/* The memory of a shard: the element of index 0, and strides in elements. */
typedef struct dt__shard_memory {
    const char *at;
    const int64_t *strides;
} dt__shard_memory;

/* The memory of one tensor in a run: this rank's shard, of any strides, and where its window is written; either may be
 * NULL where it is empty. */
typedef struct dt__fetch_memory {
    dt__shard_memory src;
    char *dst;
} dt__fetch_memory;

/* What a fetch took. */
typedef struct dt__fetch_cost {
    int64_t bytes; /* that this rank received */
    double us;     /* from the start and while waiting, if the context has an observer */
} dt__fetch_cost;

/* Between nodes, a start only sends: the caller may compute until it waits. On one node a start fetches everything,
 * because the receiving core does the copying. A successful start must be waited for, whatever happens in between;
 * sources and destinations must stay until then. Both are collective over the ranks that take part, if anything is
 * exchanged. */
dt_status dt__fetch_start(dt__fetch *self, const dt__fetch_memory *memory, struct dt__history *history);
dt_status dt__fetch_wait(dt__fetch *self, dt__fetch_cost *out);

#endif
