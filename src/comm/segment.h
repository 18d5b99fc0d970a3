/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared memory of one launch: a memfd without a name that starts with control words and goes on with one heap
 * per rank. It is sparse: address space is reserved, pages come when they are touched. Everything that two processes
 * see is declared in this file.
 *
 *     [ header | rank blocks | heap of rank 0 | heap of rank 1 | … ]
 *
 * Who writes what: a rank writes its own block and its own heap. The supervisor (dtrun, dt_spawn) writes pid and
 * `ended` of a rank. Any rank may ring a bell, count itself among the sleepers, and count events and aborts. All of
 * these are atomics; a rank's heap is mapped read-only by its peers.
 */
#ifndef DT_COMM_SEGMENT_H
#define DT_COMM_SEGMENT_H

#include "dtensor/comm.h"

#include <stdatomic.h>

enum {
    DT__LINE = 64,
    DT__LINES = 128,        /* processors fetch lines in pairs: what one rank writes often stands apart by as much */
    DT__MAX_RANKS = 4096,   /* of one node */
    DT__MAX_THREADS = 4096, /* of one rank */
    DT__N_ENTRIES = 16,     /* operations of one channel that may be under way at once */
    DT__N_CHANNELS = 4096,  /* places in a rank's channel table; at most half are used */
    DT__N_RING = 32,        /* calls that a rank remembers */
    DT__INLINE_BYTES = 16,  /* payload that travels in the header itself */
    DT__REASON_BYTES = 448,
};

#define DT__ALIGNED(n) _Alignas(n)

/* What one rank publishes about one operation. The payload words are written first, `seq` last with release order; a
 * peer that reads the awaited seq with acquire order sees the rest. */
struct dt__entry {
    DT__ALIGNED(DT__LINES) _Atomic uint64_t seq; /* number of the operation in its channel, from 1 */
    uint64_t what;                               /* op, dtype, reduce, flags and root, packed */
    uint64_t count;                              /* elements, or a hash of the counts */
    uint64_t check;                              /* hash of group order, tag and all calls before */
    uint64_t src;                                /* where peers read: offset in the segment */
    uint64_t done;                               /* operations of this channel that this rank has finished */
    unsigned char payload[DT__INLINE_BYTES];
    DT__ALIGNED(DT__LINE) _Atomic uint64_t phase; /* seq << 32 | number of phases that this rank has finished */
};

/* A rank's side of one channel: a set of ranks that communicate. The first line changes seldom, so that looking at it
 * costs peers nothing. */
struct dt__channel_block {
    DT__ALIGNED(DT__LINES) _Atomic uint64_t key; /* 0: never used; 1: given back; else hash of the set of ranks */
    _Atomic uint64_t broken;                     /* number of the operation that failed here, or 0 */
    _Atomic int32_t broken_status;
    _Atomic uint32_t retired;  /* which dt_error_clear found the channel broken, from 1; 0: none */
    _Atomic uint64_t numbered; /* operations that this rank had numbered when it last came to dt_error_clear */
    _Atomic uint64_t refused;  /* number of the last operation that this rank found invalid, or 0 */
    DT__ALIGNED(DT__LINES) _Atomic uint64_t done; /* all operations up to this one are finished here */
    struct dt__entry entries[DT__N_ENTRIES];
    char reason[DT__REASON_BYTES]; /* text of the failure; written before `broken` */
};

/* One remembered call. */
struct dt__ring_call {
    _Atomic uint64_t number; /* of this rank's calls, from 1; 0: none */
    _Atomic uint64_t what;   /* as in the entry */
    _Atomic uint64_t count;
    _Atomic uint64_t channel; /* its key */
    _Atomic uint64_t seq;     /* in the channel */
    _Atomic uint64_t members; /* number of ranks */
    _Atomic uint64_t set[2];  /* bits of the first 128 world ranks that are members */
    _Atomic int64_t start_ns; /* CLOCK_MONOTONIC when waiting became long; 0 before */
    _Atomic int32_t state;    /* DT_IN_PROGRESS, DT_OK or the error */
};

enum dt__rank_state {
    DT__RANK_ABSENT,  /* not yet started */
    DT__RANK_JOINING, /* in dt_init */
    DT__RANK_READY,
    DT__RANK_FAILED,   /* has a local error that is not cleared: see error_text */
    DT__RANK_CLEARING, /* in dt_error_clear: comes to no call before all have come there */
    DT__RANK_CLOSED,   /* after dt_close */
};

/* What one rank shows to all. */
struct dt__rank_block {
    DT__ALIGNED(DT__LINES) _Atomic uint32_t bell; /* futex that the rank sleeps on; rung by peers */
    _Atomic uint32_t asleep;
    _Atomic uint32_t fence;                      /* only ever counted up, for the barrier that goes with it */
    DT__ALIGNED(DT__LINE) _Atomic int32_t state; /* enum dt__rank_state */
    _Atomic int32_t pid;
    _Atomic int32_t ended;                       /* 0 while alive; else wait status + 1, set by the supervisor */
    _Atomic uint32_t n_joined;                   /* times that the rank has announced itself in dt_init */
    _Atomic uint32_t n_ready;                    /* times that it has finished dt_init */
    _Atomic uint32_t n_cleared;                  /* meetings of dt_error_clear that it has come to in this context */
    _Atomic int32_t error_status;                /* of the local error that is not cleared, or DT_OK */
    DT__ALIGNED(DT__LINE) char error_text[1024]; /* of the local error; written before state */
    DT__ALIGNED(DT__LINES) _Atomic uint64_t n_calls;
    struct dt__ring_call ring[DT__N_RING];
    _Atomic uint64_t used[DT__N_CHANNELS / 64]; /* bit per place of the table that was ever taken */
    DT__ALIGNED(4096) struct dt__channel_block channels[DT__N_CHANNELS];
};

struct dt__segment {
    uint64_t magic;
    uint64_t nonce;      /* random; the same number is in the launch's environment variable */
    uint64_t bytes;      /* of the whole segment */
    uint64_t heap_at;    /* offset of rank 0's heap; multiple of 2 MiB */
    uint64_t heap_bytes; /* of each rank */
    int64_t n_ranks;
    DT__ALIGNED(DT__LINES) _Atomic uint32_t n_asleep; /* ranks that sleep or are about to */
    _Atomic uint32_t fenced; /* a rank cannot make others' stores visible (membarrier): whoever publishes must */
    DT__ALIGNED(DT__LINES)
    _Atomic uint32_t n_events; /* changes of a rank's state; ranks that wait check for failures */
    _Atomic uint32_t
        n_aborts; /* the abort flag: deaths, local errors, broken channels, calls of a collective clear */
    DT__ALIGNED(4096) struct dt__rank_block ranks[];
};

/* What a process needs to take its place in a launch. */
typedef struct dt__ticket {
    int fd;     /* of the segment; -1 where base is given */
    void *base; /* the segment, mapped already (ranks that are threads of one process) */
    uint64_t nonce;
    int64_t rank;
    int64_t n_cores; /* cores that the ranks of this node share */
} dt__ticket;

/* What DTENSOR_HEAP asks for; 0 where it asks for nothing. False, with the text of the error, where it is no size. */
bool dt__heap_bytes_wanted(size_t *bytes, char *error, size_t room);
/* For each of n heaps that one process maps: the node's memory, as long as address space is left. */
size_t dt__heap_bytes_default(int64_t n_ranks);

/* Makes and maps a segment for n ranks; *fd is close-on-exec. heap_bytes 0 takes the default. The text of a
 * failure goes to error (room bytes). Used before there is a context, so it does not allocate ordinary memory. */
struct dt__segment *dt__segment_new(int64_t n_ranks, size_t heap_bytes, int *fd, char *error, size_t room);
/* Maps the segment of a ticket for its rank: control words and own heap to write, the other heaps to read. */
struct dt__segment *dt__segment_join(const dt__ticket *ticket, char *error, size_t room);
void dt__segment_unmap(struct dt__segment *segment);

/* The ticket as the value of DTENSOR_LAUNCH, and back; false if the text is not a ticket. */
void dt__ticket_print(const dt__ticket *ticket, char *text, size_t room);
bool dt__ticket_parse(const char *text, dt__ticket *ticket);

/* The supervisor's words: this rank is process pid; it has ended (status of waitpid). The second wakes all ranks. */
void dt__segment_set_pid(struct dt__segment *segment, int64_t rank, int32_t pid);
void dt__segment_set_ended(struct dt__segment *segment, int64_t rank, int wait_status);

/* What a rank is doing, for people: "in all_reduce #12 of ranks 0-3 (f32 x 1024, sum) for 3.2 s" or "between calls;
 * last: …", and with it the rank's own error text if it has one. */
void dt__segment_describe(const struct dt__segment *segment, int64_t rank, char *text, size_t room);
/* "exit code 3" or "signal 11 (SIGSEGV)". */
void dt__describe_wait_status(int wait_status, char *text, size_t room);

/* Counts an event and wakes every rank that sleeps. */
void dt__segment_notify(struct dt__segment *segment);
/* The same, and raises the abort flag. */
void dt__segment_abort(struct dt__segment *segment);
/* Wakes one rank if it sleeps. */
void dt__segment_ring(struct dt__segment *segment, int64_t rank);

/* Cores that this process may use: affinity and cgroup limits count. At least 1. */
int dt__usable_cores(void);

#endif
