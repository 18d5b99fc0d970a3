/* SPDX-License-Identifier: Apache-2.0
 *
 * The internal interface of communication beyond the public header: the state of a context, observers, groups of
 * meshes, exchanges. The headers that it includes are for the folders of transports and launches.
 */
#ifndef DT_COMM_COMM_H
#define DT_COMM_COMM_H

#include "base/ctx.h"
#include "comm/board.h"
#include "comm/call_history.h"
#include "comm/channel.h"
#include "comm/collective.h"
#include "comm/estimate.h"
#include "comm/operation_text.h"
#include "comm/runtime.h"
#include "comm/verdict.h"
#include "dtensor/comm.h"

/* The name of the context's transport ("shm"), or NULL without one (a context of dt__ctx_new). */
const char *dt__transport_name(const dt_ctx *ctx);
/* Whether collectives move data: not on the fake transport, nor without a transport. */
bool dt__transport_has_data(const dt_ctx *ctx);
/* The kernels of this rank. */
const dt__kernels *dt__rank_kernels(const dt_ctx *ctx);
/* The threads of this rank, started on first use; NULL: one thread. */
dt__pool *dt__pool_of(dt_ctx *ctx);
/* Whether all of this memory is in this rank's heap, where peers can read it. */
bool dt__is_in_heap(const dt_ctx *ctx, const void *memory, size_t bytes);

/* A transfer in which a rank receives at least this many bytes is logged at level info. */
enum { DT__LARGE_TRANSFER = 64 << 20 };

/* CLOCK_MONOTONIC. */
int64_t dt__now_ns(void);
static inline double dt__now_us(void) { return (double)dt__now_ns() / 1e3; }
/* The clock of a context: virtual in an estimate. */
static inline double dt__clock_us(const dt_ctx *ctx) {
    return ctx->estimate ? ctx->estimate->clock_us : dt__now_us();
}
/* Advances the virtual clock; nothing outside an estimate. */
static inline void dt__clock_advance(const dt_ctx *ctx, double us) {
    if (__builtin_expect(ctx->estimate != NULL, 0))
        ctx->estimate->clock_us += us;
}

/* A collective that this rank took part in and finished. */
typedef struct dt__collective_report {
    dt_collective op;
    int64_t bytes;           /* of this rank's result */
    double begin_us, end_us; /* dt__now_us */
} dt__collective_report;

/* The context's observer is called for every collective of the program that this rank has finished. Redistributions
 * report themselves (move/move.h). Without an observer (NULL) this costs one comparison. */
typedef struct dt__comm_observer {
    void (*collective)(dt_ctx *ctx, const dt__collective_report *report);
    const char *op; /* name of the op in progress, the outermost that has a kernel; NULL: none */
    double
        waited_us; /* that collectives have spent waiting for other ranks so far; counted while there is an observer */
} dt__comm_observer;

/* dt_group_new for an object, such as a mesh, whose fingerprint `origin` members compare in every collective. */
dt_group *dt__group_new_for(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, uint64_t origin);
uint64_t dt__group_origin(const dt_group *group);
/* A group for moves from some of its members to others. `direction` is a hash of who sends, the same on all members:
 * groups of the same ranks with other directions number their operations separately, so that ranks may start moves in
 * opposite directions in any order. 0: as dt_group_new. */
dt_group *dt__group_new_directed(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, uint64_t direction);
/* A new group like this one, for use after errors were cleared. */
dt_group *dt__group_renew(const dt_group *group);
/* dt_comm_run, a collective of all ranks of a mesh, for the library's own meetings: they compare the mesh's history,
 * unless it is NULL. */
dt_status dt__comm_run_on_mesh(dt_group *group, const dt_comm_call *call, dt__history *history);
/* dt_comm_run and dt_comm_start among some ranks of a mesh, with a tag for what must agree. Where the calls do not
 * match, the error names the first difference of the mesh's history, which may be NULL. */
dt_status dt__comm_run_within(dt_group *group, const dt_comm_call *call, dt__history *history);
dt_work *dt__comm_start_within(dt_group *group, const dt_comm_call *call, dt__history *history);
/* Whether the group was created before the last collective dt_error_clear: it may be broken. */
bool dt__group_is_stale(const dt_group *group);
/* Whether the members are on more than one node: they cannot read each other's memory, so only collectives move data
 * between them, and an exchange can only compare calls. The same on all members. */
bool dt__group_spans_nodes(const dt_group *group);
/* The node of a rank; 0 for all where they are on one. */
int64_t dt__node_of(const dt_ctx *ctx, int64_t rank);
/* Whether the ranks of this world may be on several. */
bool dt__has_nodes(const dt_ctx *ctx);

/* Writes two texts of calls into buffers of equal capacity, at least 64 each. A text that is too long becomes its
 * beginning up to the first comma and the part that differs from the other text. */
void dt__describe_difference(const char *a, const char *b, char *a_out, char *b_out, size_t capacity);

/* An exchange is a collective whose members determine on their own what they read: every member publishes the address
 * of its memory, waits for the others, runs a function that reads their memory, and returns only when its own memory
 * has been read. An optional second function runs when every member has finished the first. Redistributions are
 * exchanges.
 */

/* Called when all data that it reads is complete; must not block. */
typedef dt_status dt__exchange_step(dt_work *work, void *user);

typedef struct dt__exchange {
    const dt__exchange_call *call;
    uint64_t tag; /* hash of all that members must agree on */
    /* Of the mesh of all members, or of the two meshes between which it moves; members of both compare them. NULL for
     * a mesh that this rank is not a member of. */
    struct dt__history *histories[2];
    int n_histories;
    bool compares_later; /* members compare the histories in what they read; here they are for verdicts only */
    /* If one of these has a verdict: the mesh dims along which all ranks of the mesh meet, each in one exchange of this
     * call. 0: some do not meet, and a later exchange carries the verdict. */
    uint64_t mesh_dims;
    dt_dtype dtype;
    int64_t count; /* elements, for error texts; must agree too */
    /* The memory that this rank publishes, in its heap. Only a dense src of at most DT__EXCHANGE_COPIED_BYTES may be
     * elsewhere, if there is no second step: it is copied, so that no rank waits at the end. With `fill`, it is a
     * staging buffer. */
    const void *src;
    size_t src_bytes;           /* 0: nothing */
    const int64_t *src_strides; /* n_strides strides of src; NULL: dense */
    int n_strides;
    const void *dst;             /* for the second step */
    dt__exchange_step *steps[2]; /* NULL: the members compare their calls only */
    /* (optional) Fills src again in each round, before any member runs its first step. If any member has it, all run
     * their first step once in each of n_rounds(user) rounds, which must agree, and their second one in the last. */
    void (*fill)(int64_t round, void *user);
    int64_t (*n_rounds)(void *user);
    void *user;
} dt__exchange;

/* Collective over the group, which has more than one member and includes this rank. A started exchange and the memory
 * that it publishes must stay unchanged until dt_work_wait. */
dt_status dt__exchange_run(dt_group *group, const dt__exchange *exchange);
dt_work *dt__exchange_start(dt_group *group, const dt__exchange *exchange);

/* If members cannot read each other's memory (dt__group_spans_nodes), a collective carries what the exchange would
 * read. It compares the call, the tag and the histories of the exchange, but does not use its memory and steps. It is
 * not reported: the call that it is part of reports itself. The memory of a started collective must stay unchanged
 * until dt_work_wait; the exchange itself may be freed. */
dt_status dt__carry_run(dt_group *group, const dt__exchange *exchange, const dt_comm_call *call);
dt_work *dt__carry_start(dt_group *group, const dt__exchange *exchange, const dt_comm_call *call);

/* For steps: member i's src or dst, if `bytes` bytes from offset `from` (which may be negative) on are in its heap;
 * NULL otherwise. */
const void *dt__exchange_src(const dt_work *work, int64_t i, int64_t from, size_t bytes);
const void *dt__exchange_dst(const dt_work *work, int64_t i, size_t bytes);
/* The round in progress; -1: no member fills its memory again, and there are no rounds. */
int64_t dt__exchange_round(const dt_work *work);
/* Whether member i fills its memory again in each round. */
bool dt__exchange_fills(const dt_work *work, int64_t i);
/* Whether member i publishes strides; *out is NULL if n of them are not in its heap. */
bool dt__exchange_strides(const dt_work *work, int64_t i, int n, const int64_t **out);
/* Fails the exchange because member i published memory outside its heap. */
dt_status dt__exchange_fail(dt_work *work, int64_t i);
/* Fails the exchange because this rank has no memory for a step. */
dt_status dt__exchange_fail_memory(dt_work *work);

/* Marks the last call of this rank as failed because of a peer, so that the supervisor blames the peer. For errors
 * that members of an exchange find in what they have read. */
void dt__blame_peer(dt_ctx *ctx);

/* Whether the process of a rank is dead. */
bool dt__peer_is_dead(const dt_ctx *ctx, int64_t rank);

/* Allocates the memory of a tensor, which dt_heap_free refuses; frees it; changes the kind of heap memory. In an
 * estimate, memory of distributed tensors is idle, and so is the memory of calls that compute without data. */
void *dt__alloc_heap(dt_ctx *ctx, size_t bytes, dt_memory_kind kind, bool is_distributed);
void dt__free_heap(dt_ctx *ctx, void *memory);
void dt__set_memory_kind(dt_ctx *ctx, void *memory, dt_memory_kind kind);
/* Sets the function that adds what the heap holds ("largest tensors: …") to the error of a full heap. */
void dt__heap_set_describe(dt_ctx *ctx, dt__describe_fn *describe);

#endif
