/* SPDX-License-Identifier: Apache-2.0
 *
 * The communication state of a context: the transport, this rank's heap, groups, and operations in progress. The
 * transport table hides how bytes move from the rest of the library.
 */
#ifndef DT_COMM_RUNTIME_H
#define DT_COMM_RUNTIME_H

#include "base/lifetime.h"
#include "comm/comm.h"
#include "comm/heap.h"

typedef struct dt__runtime dt__runtime;

/* The state of a wait. */
struct dt__pause {
    int64_t n;             /* pauses so far */
    int64_t deadline_ns;   /* 0 until it is needed; then CLOCK_MONOTONIC */
    int64_t next_check_ns; /* when to check again whether missing peers are alive */
    int64_t mark;          /* progress of the operation: when it changes, the wait begins again */
};

/* The kind of an operation: a public collective, or the exchange, which only the library starts. */
typedef enum dt__work_op {
#define ROW(name, word) DT__WORK_##name = DT_##name,
    DT_COLLECTIVE_LIST(ROW)
#undef ROW
        DT__WORK_EXCHANGE,
    DT__N_WORK_OPS
} dt__work_op;

/* One operation in progress, from start to wait. */
struct dt_work {
    dt__lifetime life; /* of a started call */
    dt_ctx *ctx;
    dt_group *group;
    dt__work_op op;
    dt_comm_call call;                      /* an exchange has no op there */
    uint64_t signature, count, check;       /* as published: see struct dt__entry */
    size_t item_bytes;                      /* of one element */
    dt_status status;                       /* DT_IN_PROGRESS until it has ended */
    bool refused;                           /* the call is invalid: only the refusal is published */
    bool started;                           /* by dt_comm_start: on the runtime's list, to be freed by the wait */
    struct dt__pause tests;                 /* a started call: the wait as dt_work_test measures it */
    int64_t *own_counts;                    /* copies of the call's counts, for a started call */
    struct dt_work *next;                   /* of the runtime's list of started operations */
    const struct dt__exchange *exchange;    /* of an exchange: its memory and functions */
    const struct dt__history *histories[2]; /* of the meshes whose members it compares */
    uint64_t history_words[2];              /* their hashes when it started, odd; 0: not a member of that mesh */
    int n_histories;
    struct dt__ring_call *ring; /* this call in the ring of recent calls; NULL on transports without one */
    /* The rest belongs to the transport. */
    struct dt__channel *channel; /* NULL: no other rank takes part */
    struct dt__span *span;       /* of an operation between nodes (spanning.h) */
    uint64_t seq;
    int state, step;           /* progress; see the transport */
    int64_t round, n_rounds;   /* operations with staged members run in rounds */
    int64_t missing;           /* channel member that is checked next */
    uint32_t n_events;         /* of the segment, when it was last checked for failures */
    uint32_t flags;            /* of this rank, as published */
    bool lockstep;             /* a member is staged: run in rounds */
    bool acknowledge;          /* a member waits until this rank publishes that it has read */
    bool in_place;             /* all_reduce: a member overwrites its src */
    bool shares_far;           /* members of this NUMA node share what they read from others (numa.c) */
    int64_t max_block;         /* all_to_all: largest block of any pair */
    int64_t *published_counts; /* in the heap, for peers to read: counts of an all_to_all, strides of an exchange */
    unsigned char *staging;    /* in the heap */
};

/* How bytes move between ranks. One table per transport; functions are called by the rank's own thread only. */
typedef struct dt__transport {
    const char *name;
    /* Joins the launch: sets the context's rank and world, and opens the heap. */
    dt_status (*open)(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket);
    /* Leaves it, without waiting for any rank. */
    void (*close)(dt__runtime *runtime);
    /* Starts an operation whose call is checked already; must not block. */
    dt_status (*start)(dt__runtime *runtime, dt_work *work);
    /* Advances an operation without blocking: DT_OK, DT_IN_PROGRESS or an error; not called again after its end. */
    dt_status (*step)(dt__runtime *runtime, dt_work *work);
    /* (optional where every step ends an operation) Waits briefly for progress: spins, yields or sleeps. Fails `work`
     * when its deadline has passed. */
    dt_status (*pause)(dt__runtime *runtime, dt_work *work, struct dt__pause *pause);
    /* (optional where every step ends an operation) Ends an unfinished operation of a context that closes, with an
     * error on every member. */
    dt_status (*abandon)(dt_work *work);
    /* (optional) Checks, without blocking, whether an operation that dt_work_test found unfinished can still finish;
     * fails it otherwise. */
    dt_status (*check_failure)(dt__runtime *runtime, dt_work *work);
    /* (optional) A group's last reference is gone. */
    void (*release_group)(dt__runtime *runtime, dt_group *group);
    /* (optional) Raises the abort flag with a local error of this rank, unless the rank has raised it already. */
    void (*raise_abort)(dt__runtime *runtime, dt_status status, const char *text);
    /* (optional) Whether this rank has had neither a local error nor a failed collective since all ranks last cleared
     * errors together. */
    bool (*is_in_step)(const dt__runtime *runtime);
    /* (optional) Waits for all ranks and clears their errors. */
    dt_status (*clear_error)(dt__runtime *runtime);
    /* (optional) Leaves a line to the supervisor of the launch; false: there is none that prints it. */
    bool (*hand_over)(const dt__runtime *runtime, const char *line);
    /* (optional) Prints the current and recent calls of all ranks. */
    void (*dump)(const dt__runtime *runtime);
} dt__transport;

extern const dt__transport dt__transport_self, dt__transport_shm, dt__transport_mpi, dt__transport_fake;

struct dt__runtime {
    dt_ctx *ctx;
    const dt__transport *transport;
    const dt__kernels *kernels;
    dt__pool *threads; /* started on first use; NULL: one */
    dt__heap heap;
    dt__describe_fn *describe_heap; /* adds what the heap holds to an error; or NULL */
    double timeout_s;               /* negative: no deadline */
    uint32_t epoch;                 /* times that all ranks have cleared errors together */
    dt_group *world;
    dt_group *groups; /* all live groups, including world */
    dt_work *started; /* operations in progress that dt_comm_start began, oldest first */
    dt__freed_queue freed_works, freed_groups;
    struct dt__shm *shm;            /* state of the shm transport */
    struct dt__mpi *mpi;            /* state of the mpi transport */
    int32_t *node_of;               /* [world] the node of each rank; NULL: all are on one */
    int32_t *pretended_nodes;       /* the same, for tests on shm; or NULL */
    int64_t cores_per_rank;         /* as the transport found; 0: those of the ticket */
    int64_t n_logged, logged_bytes; /* collectives of the program, counted for the log at level info */
};

struct dt__message; /* a message of a rank to itself that is not received yet */

struct dt_group {
    dt__lifetime life;
    dt_ctx *ctx;
    int64_t n_refs;
    dt__runtime *runtime;
    dt_group *previous, *next; /* of the runtime's groups */
    int64_t n_ranks, rank;     /* size; this rank's index or -1 */
    int64_t *ranks;            /* world ranks in group order; NULL: 0 to n_ranks - 1 */
    bool spans_nodes;
    uint64_t order_hash;
    uint64_t origin;                /* fingerprint of the group's owner, such as a mesh; members compare it */
    uint32_t epoch;                 /* of the runtime, when the group was created */
    struct dt__channel *channel;    /* of the group; created by the transport on first use */
    int64_t *places;                /* index in the channel of each member, unless the group ascends */
    struct dt__channel **pairs;     /* [2 * n_ranks] to and from each member, created on first use; or NULL */
    struct dt__message *messages;   /* of this rank to itself, oldest first */
    struct dt_group *on_node;       /* its members on this node, for the transport; or NULL */
    struct dt__node_layout *layout; /* its members by nodes, for the transport; or NULL */
};

/* The context of a group; NULL for NULL. */
static inline dt_ctx *dt__group_ctx(const dt_group *group) { return group ? group->ctx : NULL; }

static inline dt__runtime *dt__runtime_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_RUNTIME].state; }
static inline int64_t dt__group_member(const dt_group *group, int64_t i) {
    return group->ranks ? group->ranks[i] : i;
}

/* Blocks of a call in elements: the offset of member i's block among all blocks, and its size. */
int64_t dt__block_size(const dt_comm_call *call, int64_t i);
int64_t dt__block_at(const dt_comm_call *call, int64_t i);

/* Runs an operation that involves no other rank, including messages of a rank to itself; used by all transports. */
dt_status dt__run_single_rank(dt__runtime *runtime, dt_work *work);
/* Frees the messages to itself that this rank has not received. */
void dt__messages_free(dt_group *group);
/* Opens and closes a heap that no other process maps. */
dt_status dt__open_private_heap(dt__runtime *runtime, const dt_init_options *options);
void dt__close_private_heap(dt__runtime *runtime);

/* Ends all started operations, with an error those that cannot be finished now; they must still be waited for. */
void dt__abandon_started_works(dt__runtime *runtime);

/* Frees a group, whatever its reference count is. */
void dt__group_destroy(dt_group *group);

/* The ticket of DTENSOR_LAUNCH; false if the text is not one. */
bool dt__ticket_parse(const char *text, dt__ticket *ticket);
/* DTENSOR_HEAP, 0 if it is not set. False, with the text of the error, if it is not a size. */
bool dt__heap_bytes_from_environment(size_t *bytes, char *error, size_t error_bytes);
/* The default size of each of n heaps that one process maps: the memory of the node, if address space suffices. */
size_t dt__heap_bytes_default(int64_t n_ranks);

#endif
