/* SPDX-License-Identifier: Apache-2.0
 *
 * What the context holds for communication: the transport, this rank's heap, groups, and the operations under way.
 * The transport table is all that the rest of the library knows of how bytes move.
 */
#ifndef DT_COMM_RUNTIME_H
#define DT_COMM_RUNTIME_H

#include "base/ctx.h"
#include "comm/heap.h"
#include "comm/segment.h"
#include "kernels/kernels.h"

typedef struct dt__runtime dt__runtime;

/* How long a wait has lasted. */
struct dt__pause {
    int64_t n;           /* pauses so far */
    int64_t deadline_ns; /* 0 until it is needed; then CLOCK_MONOTONIC */
    int64_t look_ns;     /* where dt_work_test polls: when to look for trouble again */
    int64_t mark;        /* where the operation stood: when it moves on, waiting begins anew */
};

/* What an operation does: a public collective, or the exchange (exchange.h), which only the library starts. */
typedef enum dt__work_op {
#define ROW(name, word) DT__WORK_##name = DT_##name,
    DT_COLLECTIVE_LIST(ROW)
#undef ROW
        DT__WORK_EXCHANGE,
    DT__N_WORK_OPS
} dt__work_op;

/* One operation under way, from start to wait. */
struct dt_work {
    dt_group *group;
    dt__work_op op;
    dt_comm_call call;                   /* an exchange has no op there */
    uint64_t what, count, check;         /* as published: see struct dt__entry */
    size_t item_bytes;                   /* of one element */
    dt_status status;                    /* DT_IN_PROGRESS until it is over */
    bool refused;                        /* the call is not valid: only shown to the members */
    bool started;                        /* by dt_comm_start: on the runtime's list, to be freed by the wait */
    struct dt__pause tests;              /* a started call: how long dt_work_test has found it unfinished */
    int64_t *own_counts;                 /* copies of the call's counts, for a started call */
    struct dt_work *next;                /* of the runtime's list of started operations, or of the pool */
    const struct dt__exchange *exchange; /* of an exchange: what is shown and done */
    struct dt__ring_call *ring;          /* where this call is remembered; NULL on transports without a ring */
    /* The rest belongs to the transport. */
    struct dt__channel *channel; /* NULL: no other rank takes part */
    uint64_t seq;
    int state, step;         /* where the operation stands; see the transport */
    int64_t round, n_rounds; /* operations with staged members go in rounds */
    int64_t missing;         /* channel member that is looked at next */
    uint32_t alarm;          /* value of the segment's alarm when it was last looked at */
    uint32_t flags;          /* this rank's own, as published */
    bool lockstep;           /* a member is staged: go in rounds */
    bool acknowledge;        /* a member waits until it is told that it was read */
    bool in_place;           /* all_reduce: a member overwrites its src */
    int64_t largest;         /* all_to_all: largest block of any pair */
    int64_t *shown_counts;   /* in the heap, for peers to read: counts of an all_to_all, strides of an exchange */
    unsigned char *staging;  /* in the heap */
};

/* How bytes move between ranks. One table per transport; functions are called by the rank's own thread only. */
typedef struct dt__transport {
    const char *name;
    /* Joins the launch: sets rank and world of the context and opens the heap. */
    dt_status (*open)(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket);
    /* Leaves it, and waits for nobody. */
    void (*close)(dt__runtime *runtime);
    /* Starts an operation whose call is checked already; must not block. */
    dt_status (*start)(dt__runtime *runtime, dt_work *work);
    /* Advances an operation without blocking: DT_OK, DT_IN_PROGRESS or an error; once over, not called again. */
    dt_status (*step)(dt__runtime *runtime, dt_work *work);
    /* (optional where every step ends an operation) Waits a little for something to change: spins, yields or sleeps.
     * Fails `work` when its deadline has passed. */
    dt_status (*pause)(dt__runtime *runtime, dt_work *work, struct dt__pause *pause);
    /* (optional) Looks, without blocking, for a reason why an operation that was not over when it was tested will
     * never be: fails it. */
    dt_status (*glance)(dt__runtime *runtime, dt_work *work);
    /* (optional) A group's last reference is gone. */
    void (*forget)(dt__runtime *runtime, dt_group *group);
    /* (optional) Tells peers that this rank has a local error. */
    void (*tell_error)(dt__runtime *runtime);
    /* (optional) Meets all ranks and takes this rank's error flag away. */
    dt_status (*clear_error)(dt__runtime *runtime);
    /* (optional) Prints what ranks are doing. */
    void (*dump)(const dt__runtime *runtime);
} dt__transport;

extern const dt__transport dt__transport_self, dt__transport_shm, dt__transport_fake;

struct dt__runtime {
    dt_ctx *ctx;
    const dt__transport *transport;
    const dt__kernels *kernels;
    dt__pool *threads; /* made when they are first asked for; NULL: one */
    dt__heap heap;
    double timeout_s; /* negative: no deadline */
    uint32_t epoch;   /* times that errors have been cleared */
    dt_group *world;
    dt_group *groups;    /* all that are alive, world among them */
    dt_work *started;    /* operations under way that dt_comm_start began, oldest first */
    dt_work *pool;       /* free dt_work */
    struct dt__shm *shm; /* state of the shm transport */
};

struct dt__message; /* a message to oneself, waiting to be received */

struct dt_group {
    dt__runtime *runtime;
    dt_group *previous, *next; /* of the runtime's groups */
    int64_t n_references;
    int64_t n_ranks, rank; /* size; this rank's place or -1 */
    int64_t *ranks;        /* world ranks in group order; NULL: 0 to n_ranks - 1 */
    uint64_t order_hash;
    uint64_t origin;              /* what the group was made for, such as a mesh; must be the same on all members */
    uint32_t epoch;               /* times that errors had been cleared when it was made */
    struct dt__channel *channel;  /* of the whole group; made by the transport on first use */
    int64_t *places;              /* index in the channel of each member, unless the group ascends */
    struct dt__channel **pairs;   /* [2 * n_ranks] to and from each member, made on first use; or NULL */
    struct dt__message *messages; /* sent to oneself, oldest first */
};

static inline dt__runtime *dt__runtime_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_RUNTIME].state; }
static inline int64_t dt__group_member(const dt_group *group, int64_t i) {
    return group->ranks ? group->ranks[i] : i;
}

/* The threads of this rank; NULL: one. */
dt__pool *dt__pool_of(dt_ctx *ctx);

/* dt_init with a ticket at hand instead of the environment's; NULL ticket: world of one or fake. */
dt_ctx *dt__init_with_ticket(const dt_init_options *options, const dt__ticket *ticket);

/* Blocks of a call in elements: where member i's block lies among all blocks, and how large it is. */
int64_t dt__block_size(const dt_comm_call *call, int64_t i);
int64_t dt__block_at(const dt_comm_call *call, int64_t i);

/* Moves what an operation of a single rank moves, and messages to oneself: shared by the transports. */
dt_status dt__run_alone(dt__runtime *runtime, dt_work *work);
/* A heap that no other process sees, and its end. */
dt_status dt__open_alone(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket);
void dt__close_alone(dt__runtime *runtime);

/* dt_group_new for somebody whose fingerprint members compare in every collective. */
dt_group *dt__group_new_for(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, uint64_t origin);
/* Frees a group whatever its references say. */
void dt__group_destroy(dt_group *group);

int64_t dt__now_ns(void);

#endif
