/* SPDX-License-Identifier: Apache-2.0
 *
 * Communication between ranks: the shared heap, groups, collectives on raw memory, and starting ranks from inside a
 * program. Tensors are built on these; an MPI program may use them as they are.
 *
 * The other ranks of the node read memory from dt_heap_alloc directly; any other pointer works too, through a bounded
 * staging buffer. Every wait has a deadline. If a peer dies, a deadline passes or calls do not match, the call fails
 * on every member of the group, with a text that names the missing ranks and the current call of each rank; the group
 * is unusable afterwards, other groups are not affected. Between nodes, MPI may read what a failed call sends until all
 * ranks have closed: memory that is not of the heap must not be freed before.
 */
#ifndef DTENSOR_COMM_H
#define DTENSOR_COMM_H

#include "dtensor/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of this rank's heap, 64-byte aligned, not zeroed. NULL with the error recorded if the heap is full. Local. */
DT_API void *dt_heap_alloc_site(dt_ctx *ctx, size_t bytes, DT_CALLER);
/* Frees memory; NULL is fine. A pointer that is not a live block of this heap, or is the data of a tensor, is an error.
 * Local. */
DT_API dt_status dt_heap_free_site(dt_ctx *ctx, void *memory, DT_CALLER);

/* Freed memory keeps its pages for the next allocations. They go back to the system after DTENSOR_HEAP_IDLE (a minute)
 * without use, when memory of the node is short, or when an allocation fails on another rank of the node; a rank does
 * this when it allocates or frees a large block, and while it waits. dt_heap_trim returns all pages of free memory at
 * once, and the number of their bytes. Local. */
DT_API size_t dt_heap_trim(dt_ctx *ctx);

/* The purposes of heap memory: X(name, word). Parameters are the leaves that require gradients, gradients those that
 * are stored (dt_grad), optimizer the state of optimizers; activations are all other tensors, except those that a
 * backward pass makes and tensors in their use placements, which are scratch, as is everything that is not a tensor. */
#define DT_MEMORY_KIND_LIST(X)                                                                                       \
    X(PARAMETERS, "parameters")                                                                                      \
    X(GRADIENTS, "gradients")                                                                                        \
    X(OPTIMIZER, "optimizer")                                                                                        \
    X(ACTIVATIONS, "activations")                                                                                    \
    X(SCRATCH, "scratch")

typedef enum dt_memory_kind {
#define DT_MEMORY_KIND_ENUM(name, word) DT_MEMORY_##name,
    DT_MEMORY_KIND_LIST(DT_MEMORY_KIND_ENUM)
#undef DT_MEMORY_KIND_ENUM
        DT_N_MEMORY_KINDS
} dt_memory_kind;

/* The word of a kind; "?" for any other number. Local. */
DT_API const char *dt_memory_kind_name(dt_memory_kind kind);

/* Allocated now, and the maximum so far; as requested, without rounding. */
typedef struct dt_memory_use {
    size_t live_bytes, peak_bytes;
} dt_memory_use;

typedef struct dt_heap_statistics {
    size_t live_bytes, peak_bytes;            /* of all kinds together */
    size_t held_bytes;                        /* address range in use: live blocks and cached free ones */
    int64_t n_live;                           /* blocks allocated now */
    dt_memory_use by_kind[DT_N_MEMORY_KINDS]; /* each has its maximum at a time of its own */
} dt_heap_statistics;

/* Statistics of the heap. Local. */
DT_API void dt_heap_stats_sized(const dt_ctx *ctx, dt_heap_statistics *out, size_t out_size);
static inline dt_heap_statistics dt_heap_stats(const dt_ctx *ctx) {
    dt_heap_statistics out;
    dt_heap_stats_sized(ctx, &out, sizeof out);
    return out;
}

typedef struct dt_group dt_group;

/* The group of all ranks, in order. Owned by the context: must not be freed. Local. */
DT_API dt_group *dt_group_world_site(dt_ctx *ctx, DT_CALLER);

/* A group of these world ranks, which must be distinct; their order defines the group ranks. Nothing is communicated:
 * members synchronize in their first collective. Groups of the same set of ranks share transport resources. A rank that
 * is not a member may create and query the group, but not communicate in it. Freed with dt_group_release. Local. */
DT_API dt_group *dt_group_new_site(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, DT_CALLER);
/* The context of the group; NULL for a NULL group. Local. */
DT_API dt_ctx *dt_group_ctx(const dt_group *group);
/* One more reference; returns its argument. Local. */
DT_API dt_group *dt_group_retain(dt_group *group);
/* Drops a reference; accepts NULL. Must not be called while an operation of the group is in progress. Local. */
DT_API void dt_group_release_site(dt_group *group, DT_CALLER);

/* Number of members; this rank's index among them or -1; the world rank of member i or -1. Local. */
DT_API int64_t dt_group_size(const dt_group *group);
DT_API int64_t dt_group_rank(const dt_group *group);
DT_API int64_t dt_group_world_rank(const dt_group *group, int64_t i);

/* The collectives: X(name, word). */
#define DT_COLLECTIVE_LIST(X)                                                                                        \
    X(BARRIER, "barrier")                                                                                            \
    X(BROADCAST, "broadcast")                                                                                        \
    X(SCATTER, "scatter")                                                                                            \
    X(GATHER, "gather")                                                                                              \
    X(ALL_GATHER, "all_gather")                                                                                      \
    X(ALL_REDUCE, "all_reduce")                                                                                      \
    X(REDUCE_SCATTER, "reduce_scatter")                                                                              \
    X(ALL_TO_ALL, "all_to_all")                                                                                      \
    X(SEND, "send")                                                                                                  \
    X(RECV, "recv")

typedef enum dt_collective {
#define DT_COLLECTIVE_ENUM(name, word) DT_##name,
    DT_COLLECTIVE_LIST(DT_COLLECTIVE_ENUM)
#undef DT_COLLECTIVE_ENUM
        DT_N_COLLECTIVES
} dt_collective;

/* The word ("all_reduce"), or "?". Local. */
DT_API const char *dt_collective_name(dt_collective op);

/* One call of any collective. Blocks of several ranks are stored one after the other in the order of the group.
 *
 *                   src                       dst                       count is the number of elements
 *   broadcast       the value, on root        the value, on all         of the value
 *   scatter         all blocks, on root       this rank's block         of one block
 *   gather          this rank's block         all blocks, on root       of one block
 *   all_gather      this rank's block         all blocks                of one block
 *   all_reduce      this rank's value         the reduced value         of the value
 *   reduce_scatter  all blocks                this rank's, reduced      of one block
 *   all_to_all      one block for each rank   one block of each rank    of one block
 *   send, recv      the message               the message               of the message
 *
 * In place: src equals dst (broadcast, all_reduce, and all_to_all if recv_counts equals counts), or the block is at its
 * position among all blocks (gather, scatter, all_gather, reduce_scatter). Other overlaps are refused. */
typedef struct dt_comm_call {
    dt_collective op;
    dt_dtype dtype;
    dt_reduce reduce; /* all_reduce, reduce_scatter */
    const void *src;
    void *dst;
    int64_t count;              /* elements, as in the table; ignored if counts is set */
    const int64_t *counts;      /* unequal blocks: elements of each member's block, the same on every rank;
                                   all_to_all: elements that this rank sends to each */
    const int64_t *recv_counts; /* all_to_all with counts: elements that this rank receives from each */
    int64_t root;               /* group rank: root of broadcast, scatter, gather; peer of send, recv */
    uint64_t tag;               /* any number; the call fails unless it is the same on all members */
} dt_comm_call;

/* Runs a call to completion. Collective over the group (send, recv: over the two ranks). */
DT_API dt_status dt_comm_run_sized(dt_group *group, const dt_comm_call *call, size_t call_size, DT_CALLER);

typedef struct dt_work dt_work;

/* Starts a call; its memory must not be accessed until it was waited for. Several calls may be in flight, on several
 * groups, and may be waited for in any order; all members must start the calls of a group in the same order. NULL on
 * failure. Collective. */
DT_API dt_work *dt_comm_start_sized(dt_group *group, const dt_comm_call *call, size_t call_size, DT_CALLER);
/* DT_OK when finished, DT_IN_PROGRESS when not, or the error; advances all calls that this rank has started. The handle
 * stays valid until dt_work_wait. Local. */
DT_API dt_status dt_work_test_site(dt_work *work, DT_CALLER);
/* Waits for completion and frees the handle. NULL returns DT_ERR_STATE. Collective with its start. */
DT_API dt_status dt_work_wait_site(dt_work *work, DT_CALLER);

/* Collectives by name; count and blocks as in the table above. Collective over the group. */
DT_API dt_status dt_comm_barrier_site(dt_group *group, DT_CALLER);
DT_API dt_status dt_comm_broadcast_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                        int64_t root, DT_CALLER);
DT_API dt_status dt_comm_scatter_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                      int64_t root, DT_CALLER);
DT_API dt_status dt_comm_gather_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                     int64_t root, DT_CALLER);
DT_API dt_status dt_comm_all_gather_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                         DT_CALLER);
DT_API dt_status dt_comm_all_reduce_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                         dt_reduce reduce, DT_CALLER);
DT_API dt_status dt_comm_reduce_scatter_site(dt_group *group, const void *src, void *dst, int64_t count,
                                             dt_dtype dtype, dt_reduce reduce, DT_CALLER);
DT_API dt_status dt_comm_all_to_all_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                         DT_CALLER);
/* To and from a group rank; messages between two ranks of a group arrive in order. Collective over the two ranks. */
DT_API dt_status dt_comm_send_site(dt_group *group, const void *src, int64_t count, dt_dtype dtype, int64_t to,
                                   DT_CALLER);
DT_API dt_status dt_comm_recv_site(dt_group *group, void *dst, int64_t count, dt_dtype dtype, int64_t from,
                                   DT_CALLER);

/* Prints the current and recent calls of each rank of the launch on standard error. Local. */
DT_API void dt_comm_dump(const dt_ctx *ctx);

/* The main function of a rank; its result is the rank's exit code. */
typedef int dt_rank_fn(dt_ctx *ctx, void *arg);

/* Forks n ranks from this process, runs fn on each with its own context (closed after fn returns), and waits for all.
 * If one fails, the others are terminated. An error if this process has other threads. On failure *error, unless NULL,
 * is set to a text with the rank and its exit status, to be freed with free(). Local. */
DT_API dt_status dt_spawn_site(int64_t n_ranks, dt_rank_fn *fn, void *arg, char **error, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_heap_alloc(...) dt_heap_alloc_site(__VA_ARGS__, DT_SITE)
#define dt_heap_free(...) dt_heap_free_site(__VA_ARGS__, DT_SITE)
#define dt_group_world(...) dt_group_world_site(__VA_ARGS__, DT_SITE)
#define dt_group_new(...) dt_group_new_site(__VA_ARGS__, DT_SITE)
#define dt_group_release(...) dt_group_release_site(__VA_ARGS__, DT_SITE)
#define dt_work_test(...) dt_work_test_site(__VA_ARGS__, DT_SITE)
#define dt_work_wait(...) dt_work_wait_site(__VA_ARGS__, DT_SITE)
#define dt_comm_barrier(...) dt_comm_barrier_site(__VA_ARGS__, DT_SITE)
#define dt_comm_broadcast(...) dt_comm_broadcast_site(__VA_ARGS__, DT_SITE)
#define dt_comm_scatter(...) dt_comm_scatter_site(__VA_ARGS__, DT_SITE)
#define dt_comm_gather(...) dt_comm_gather_site(__VA_ARGS__, DT_SITE)
#define dt_comm_all_gather(...) dt_comm_all_gather_site(__VA_ARGS__, DT_SITE)
#define dt_comm_all_reduce(...) dt_comm_all_reduce_site(__VA_ARGS__, DT_SITE)
#define dt_comm_reduce_scatter(...) dt_comm_reduce_scatter_site(__VA_ARGS__, DT_SITE)
#define dt_comm_all_to_all(...) dt_comm_all_to_all_site(__VA_ARGS__, DT_SITE)
#define dt_comm_send(...) dt_comm_send_site(__VA_ARGS__, DT_SITE)
#define dt_comm_recv(...) dt_comm_recv_site(__VA_ARGS__, DT_SITE)
#define dt_spawn(...) dt_spawn_site(__VA_ARGS__, DT_SITE)
#define dt_comm_run(...) dt_comm_run_sized(__VA_ARGS__, sizeof(dt_comm_call), DT_SITE)
#define dt_comm_start(...) dt_comm_start_sized(__VA_ARGS__, sizeof(dt_comm_call), DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
