/* SPDX-License-Identifier: Apache-2.0
 *
 * The communication state of a context: the transport, this rank's heap, groups, and operations in progress. The
 * transport table hides how bytes move from the rest of the library.
 */
#ifndef DT_COMM_RUNTIME_H
#define DT_COMM_RUNTIME_H

#include "base/ctx.h"
#include "base/lifetime.h"
#include "base/machine.h"
#include "comm/heap.h"
#include "dtensor/comm.h"
#include "kernels/kernels.h"

typedef struct dt__runtime dt__runtime;

/* The state of a wait. */
struct dt__pause {
    int64_t n;             /* pauses so far */
    int64_t deadline_ns;   /* 0 until it is needed; moves on while this rank is stopped */
    int64_t checked_ns;    /* when the deadline was last checked */
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
    dt_comm_call call;                   /* an exchange has no op there */
    uint64_t signature, count, check;    /* as published: see struct dt__entry */
    size_t item_bytes;                   /* of one element */
    dt_status status;                    /* DT_IN_PROGRESS until it has ended */
    bool refused;                        /* the call is invalid: only the refusal is published */
    bool started;                        /* by dt_comm_start: on the runtime's list, to be freed by the wait */
    struct dt__pause tests;              /* a started call: the wait as dt_work_test measures it */
    int64_t *own_counts;                 /* copies of the call's counts, for a started call */
    struct dt_work *next;                /* of the runtime's list of started operations */
    const struct dt__exchange *exchange; /* of an exchange: its memory and functions */
    struct dt__history *histories[2];    /* of the meshes whose members it compares */
    uint64_t history_words[2];           /* their hashes when it started, odd; 0: not a member of that mesh */
    int n_histories;
    uint64_t mesh_dims; /* along which a verdict is known when it ends; 0: it carries none (verdict.h) */
    struct dt__data_verdict *verdict; /* the first that is known of; NULL: none */
    struct dt__recent_operation
        *recent; /* this call in the log of recent operations; NULL on transports without one */
    /* The following fields belong to the transport. */
    struct dt__channel *channel; /* NULL: no other rank takes part */
    struct dt__span *span;       /* of an operation between nodes (cluster) */
    uint64_t seq;
    int state, step;           /* progress; see the transport */
    int64_t round, n_rounds;   /* operations with staged members run in rounds */
    int64_t missing;           /* channel member that is checked next */
    uint32_t n_events;         /* of the segment, when it was last checked for failures */
    uint32_t flags;            /* of this rank, as published */
    bool lockstep;             /* a member is staged: run in rounds */
    bool acknowledge;          /* a member waits until this rank publishes that it has read */
    bool in_place;             /* all_reduce: a member overwrites its src */
    int64_t max_block;         /* all_to_all: largest block of any pair */
    int64_t *published_counts; /* in the heap, for peers to read: counts of an all_to_all, strides of an exchange */
    unsigned char *staging;    /* in the heap */
    void *published_verdict;   /* in the heap */
};

enum {
    DT__MAX_RANKS = 4096,   /* of one node */
    DT__MAX_THREADS = 4096, /* of one rank */
};

/* What a process needs to join a launch as a rank. */
typedef struct dt__ticket {
    int fd;     /* of the segment; -1 if base is set */
    void *base; /* the segment, already mapped (ranks as threads of one process) */
    uint64_t nonce;
    int64_t rank;
    int64_t n_cores; /* cores that the ranks of this node share */
} dt__ticket;

/* The CPUs of a rank: a hash of their list, and how many cores of them it may use. */
typedef struct dt__rank_cpus {
    uint64_t set;
    int64_t n_cores;
} dt__rank_cpus;

struct dt__board;
struct dt__channel;

/* What a transport does for ranks that cannot read each other's blocks (board.h): it sends what this rank publishes,
 * and enters in their blocks what others have sent. All functions may be called while the transport opens or closes. */
typedef struct dt__messenger {
    /* This rank's state has changed. */
    void (*send_state)(dt__runtime *runtime);
    /* This rank has broken a channel. */
    void (*send_break)(struct dt__channel *channel, uint64_t seq, dt_status status, const char *reason);
    /* In dt_error_clear: how many operations this rank has numbered. */
    void (*send_numbered)(struct dt__channel *channel);
    /* Whether other members have retired the channel of this key, which this rank has not used, at this clear or
     * before. */
    bool (*is_retired)(const dt__runtime *runtime, uint64_t key, uint32_t epoch);
    /* Whether this rank reads the blocks of another as it writes them. */
    bool (*is_remote)(const dt__runtime *runtime, int64_t rank);
    /* Whether an operation needs something that member c has not done yet, as far as is known: a message in flight
     * arrives even if its sender has closed since. */
    bool (*needs)(dt_work *work, int64_t c);
    /* Brings the calls that are known of member c up to date, and waits briefly for that; false: c has not answered. */
    bool (*fetch_calls)(dt_work *work, int64_t c);
    /* Updates the calls of up to `max` members, missing ones first. */
    void (*fetch_all_calls)(dt_work *work, int max);
    /* Requests the calls of the members that the operation waits for, from time to time, without waiting. */
    void (*request_calls)(dt_work *work);
    /* For how many seconds a rank has not answered; 0: nothing was requested, or it has answered. */
    double (*silence)(const dt__runtime *runtime, int64_t rank);
    /* Around a collective dt_error_clear: before this rank enters it, and when channels that are out of step are
     * retired. */
    void (*before_clear)(dt__runtime *runtime);
    void (*after_clear)(dt__runtime *runtime);
} dt__messenger;

/* How bytes move between ranks. One table per transport; functions are called by the rank's own thread only. */
typedef struct dt__transport {
    const char *name;
    bool has_data; /* collectives move data */
    /* Joins the launch: sets the context's rank and world, opens the heap and, with several ranks, the board. */
    dt_status (*open)(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket);
    /* (optional) The context is complete, with the number of its threads. */
    void (*opened)(dt__runtime *runtime);
    /* (optional) The context is about to report its first error, for the last time, and to close. */
    void (*closing)(dt__runtime *runtime);
    /* Leaves it, without waiting for any rank. */
    void (*close)(dt__runtime *runtime);
    /* Starts an operation whose call was checked; must not block. With a board, only operations that have a channel and
     * a number are started. */
    dt_status (*start)(dt__runtime *runtime, dt_work *work);
    /* Advances an operation without blocking: DT_OK, DT_IN_PROGRESS or an error; not called again after its end. */
    dt_status (*step)(dt__runtime *runtime, dt_work *work);
    /* (optional where every step ends an operation) Waits briefly for progress: spins, yields or sleeps. Fails `work`
     * when its deadline has passed. */
    dt_status (*pause)(dt__runtime *runtime, dt_work *work, struct dt__pause *pause);
    /* (optional) Checks, without blocking, whether an operation that dt_work_test found unfinished can still finish;
     * fails it otherwise. */
    dt_status (*check_failure)(dt__runtime *runtime, dt_work *work);
    /* (optional) A group's last reference is gone. */
    void (*release_group)(dt__runtime *runtime, dt_group *group);

    /* The rest is for transports with a board. */
    /* Whether an operation, in its current state, waits for member c of its channel. */
    bool (*waits_for)(dt_work *work, int64_t c);
    /* Frees what the transport has for an operation. */
    void (*end)(dt_work *work);
    /* Member c's memory at an offset that c published; NULL unless all of it is in c's heap. */
    const void *(*peer_memory)(const dt_work *work, int64_t c, uint64_t at, size_t bytes);
    /* A state on the board has changed: counts an event, and wakes all ranks that sleep. */
    void (*notify)(struct dt__board *board);
    /* This rank has published a word for the members of a channel: wakes those that sleep. */
    void (*wake)(const struct dt__channel *channel);
    /* Sleeps until another rank notifies, or for a moment; `ready` is checked once more before falling asleep. */
    void (*sleep)(struct dt__board *board, bool (*ready)(void *arg), void *arg);
    const dt__messenger *messenger; /* NULL: all ranks read each other's blocks */
} dt__transport;

extern const dt__transport dt__transport_self, dt__transport_fake;
/* In a forked process, replaces the one that the context was opened with. */
extern const dt__transport dt__transport_forked;

/* Writes a text, truncated to the capacity. */
typedef void dt__describe_fn(dt_ctx *ctx, char *text, size_t capacity);

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
    struct dt__board *board; /* what the ranks of the launch publish; NULL: no others that could */
    void *state;             /* of the transport, besides the board */
    const struct dt__estimate_options
        *described;                 /* by DTENSOR_ESTIMATE; set before the transport is opened; or NULL */
    size_t heap_memory;             /* bytes that the heaps of this node may use together; set before it is opened */
    dt__rank_cpus cpus;             /* of this rank, where the transport shares memory; set before it is opened */
    int numa_node;                  /* that this rank is bound to, or -1; set before it is opened */
    int32_t *node_of;               /* [world] the node of each rank; NULL: all are on one */
    int32_t *pretended_nodes;       /* [world] nodes that tests on shm pretend, or NULL */
    int64_t cores_per_rank;         /* as the transport found; 0: those of the ticket */
    bool host_waits;                /* the host was notified of a wait that has not ended (dt__host_waits) */
    bool shares_mpi;                /* the program itself calls MPI, and a rank may wait in it */
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
    uint64_t direction;             /* of a group whose members send to others: who does; 0: none in particular */
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

/* Ends all started operations; those that cannot finish now end with an error. They must still be waited for. */
void dt__abandon_started_works(dt__runtime *runtime);

/* Frees what the transport has for a group; the next operation makes it again. */
void dt__group_release_state(dt_group *group);
/* Frees a group, whatever its reference count is. */
void dt__group_destroy(dt_group *group);

#endif
