/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared memory of one launch: a memfd without a name that starts with control words, followed by one heap per
 * rank. It is sparse: address space is reserved, pages are allocated when they are touched. Everything that two
 * processes share is declared in this file.
 *
 *     [ header | rank blocks | heap of rank 0 | heap of rank 1 | … ]
 *
 * Under MPI each node has a segment, with blocks for all ranks of the world and heaps for those of the node. The blocks
 * of ranks on other nodes are private memory of each process, in which it keeps what those ranks have reported.
 *
 * Writers: a rank writes its own block and its own heap. The supervisor (dtrun, dt_spawn) writes pid and `ended` of a
 * rank, which standard error it connected, and how many reports it has printed. Any rank may wake another, count
 * itself among the sleepers, and count events. All of these are atomics; a rank's heap is mapped read-only by its
 * peers.
 */
#ifndef DT_COMM_SEGMENT_H
#define DT_COMM_SEGMENT_H

#include "comm/comm.h"

#include <stdatomic.h>

enum {
    DT__LINE = 64,
    DT__LINES = 128,       /* processors fetch lines in pairs: distance of words that ranks write often */
    DT__N_ENTRIES = 16,    /* operations of one channel that may be in progress at once */
    DT__N_CHANNELS = 4096, /* slots in a rank's channel table; at most half are used */
    DT__N_RING = 32,       /* recent calls that a rank keeps */
    DT__INLINE_BYTES = 16, /* data that is published in the header itself */
    DT__REASON_BYTES = 1280,
    DT__TEMPORARY_BYTES = 4096,
    DT__N_REPORTS = 8,  /* texts of a rank that the supervisor has not printed yet */
    DT__ENDED_WELL = 1, /* `ended` of a rank that ended with exit code 0 */
};

#define DT__ALIGNED(n) _Alignas(n)

/* The *header* that one rank publishes for one operation. The other words are written first, `seq` last with release
 * order; a peer that reads the expected seq with acquire order sees the rest. */
struct dt__entry {
    DT__ALIGNED(DT__LINES) _Atomic uint64_t seq; /* number of the operation in its channel, from 1 */
    uint64_t signature;                          /* op, dtype, reduce, flags and root, packed */
    uint64_t count;                              /* elements, or a hash of the counts */
    uint64_t check;                              /* hash of group order, tag and all calls before */
    uint64_t src;                                /* memory that peers read: offset in the segment */
    uint64_t done;                               /* operations of this channel that this rank has finished */
    unsigned char payload[DT__INLINE_BYTES];
    DT__ALIGNED(DT__LINE) _Atomic uint64_t phase; /* seq << 32 | number of phases that this rank has finished */
    _Atomic uint64_t histories[2];                /* of the operation's meshes, when it started; 0: not a member */
};

/* A rank's side of one channel: a set of ranks that communicate. The first line rarely changes, so that it stays in
 * the caches of the peers that check it. */
struct dt__channel_block {
    DT__ALIGNED(DT__LINES) _Atomic uint64_t key; /* 0: never used; 1: released; else hash of the set of ranks */
    _Atomic uint64_t broken;                     /* number of the operation that failed on this rank, or 0 */
    _Atomic int32_t broken_status;
    _Atomic uint32_t retired;  /* number of the collective dt_error_clear that found it broken, from 1; 0: none */
    _Atomic uint64_t numbered; /* operations that this rank had numbered when it last entered dt_error_clear */
    _Atomic uint64_t refused;  /* number of the last operation that this rank found invalid, or 0 */
    DT__ALIGNED(DT__LINES) _Atomic uint64_t done; /* all operations up to this one are finished on this rank */
    struct dt__entry entries[DT__N_ENTRIES];
    char reason[DT__REASON_BYTES]; /* text of the failure; written before `broken` */
};

/* One recent call. */
struct dt__ring_call {
    _Atomic uint64_t signature; /* as in the entry */
    _Atomic uint64_t count;
    _Atomic uint64_t channel; /* its key */
    _Atomic uint64_t seq;     /* in the channel */
    _Atomic uint64_t members; /* number of ranks */
    _Atomic uint64_t set[2];  /* bits of the first 128 world ranks that are members */
    _Atomic uint64_t program; /* the program's own call and its line (dt__program_call_word) */
    _Atomic int64_t start_ns; /* CLOCK_MONOTONIC when waiting became long; 0 before */
    _Atomic int32_t state;    /* DT_IN_PROGRESS, DT_OK or the error */
};

enum dt__rank_state {
    DT__RANK_ABSENT,  /* not yet started */
    DT__RANK_JOINING, /* in dt_init */
    DT__RANK_READY,
    DT__RANK_FAILED,   /* the abort flag: has a local error that is not cleared, see error_text */
    DT__RANK_CLEARING, /* in a collective dt_error_clear: makes no other call before all ranks are in it */
    DT__RANK_CLOSED,   /* after dt_close */
};

/* A text that the rank leaves to the supervisor to print (rank_reports.h). */
struct dt__report_slot {
    _Atomic uint64_t complete; /* number of the report, from 1; written last */
    uint64_t hash;             /* of the text */
    int64_t at_ns;             /* dt__now_ns when it was reported */
    char text[DT__REPORT_BYTES];
};

/* The block that one rank publishes to all. */
struct dt__rank_block {
    DT__ALIGNED(DT__LINES) _Atomic uint32_t wake_count; /* futex that the rank sleeps on; peers increment it */
    _Atomic uint32_t asleep;
    _Atomic uint32_t fence;                      /* incremented only for the memory barrier that this implies */
    DT__ALIGNED(DT__LINE) _Atomic int32_t state; /* enum dt__rank_state */
    _Atomic int32_t pid;
    _Atomic int32_t ended;        /* 0 while alive; else wait status + 1, set by the supervisor */
    _Atomic uint32_t n_joined;    /* times that the rank has entered dt_init */
    _Atomic uint32_t n_ready;     /* times that it has finished dt_init */
    _Atomic uint32_t n_cleared;   /* synchronisation points of dt_error_clear that it has reached in this context */
    _Atomic int32_t error_status; /* of the error in error_text, or DT_OK */
    _Atomic uint32_t cause;       /* 1 + the rank whose error made this one fail, or 0; its text outlives the rank */
    _Atomic int32_t numa_node;    /* 1 + the NUMA node that it is bound to, or 0; set before the first collective */
    uint32_t heap;                /* 1 + the number of its heap; 0: its rank. Set before ranks join */
    DT__ALIGNED(DT__LINE) char error_text[1024]; /* of the local error that is not cleared, or the one closed with */
    _Atomic uint32_t has_temporary;              /* `temporary` is complete, and the file may exist */
    char temporary[DT__TEMPORARY_BYTES];         /* absolute path of a file to remove if the rank dies */
    DT__ALIGNED(DT__LINES) _Atomic uint64_t n_calls;
    struct dt__ring_call ring[DT__N_RING];
    _Atomic int32_t supervisor;                  /* process that prints this rank's reports; 0: none */
    uint64_t stderr_device, stderr_inode;        /* of the standard error that the supervisor connected */
    _Atomic uint64_t n_reports, n_reports_taken; /* claimed by the rank; printed by the supervisor */
    struct dt__report_slot reports[DT__N_REPORTS];
    _Atomic uint64_t used[DT__N_CHANNELS / 64]; /* bit per slot of the table that was ever used */
    DT__ALIGNED(4096) struct dt__channel_block channels[DT__N_CHANNELS];
    struct dt__history_block histories[DT__N_HISTORIES];
    char labels[DT__LABEL_BYTES + DT__MAX_LABEL]; /* wherever a label begins, it ends before the end */
};

struct dt__segment {
    uint64_t magic;
    uint64_t nonce;      /* random; also in the launch's environment variable */
    uint64_t bytes;      /* of the segment */
    uint64_t heap_at;    /* offset of rank 0's heap; multiple of 2 MiB */
    uint64_t heap_bytes; /* of each rank */
    int64_t n_ranks;
    int64_t n_heaps;
    int64_t oom_kills;                                /* of the node, when the launch started */
    DT__ALIGNED(DT__LINES) _Atomic uint32_t n_asleep; /* ranks that sleep or are about to */
    _Atomic uint32_t fenced; /* a rank lacks membarrier: publishing ranks must issue a memory barrier themselves */
    DT__ALIGNED(DT__LINES) _Atomic uint32_t n_events; /* changes of ranks' states; waiting ranks check for failures */

    dt__machine machine; /* of all ranks; set before they start, then never changed */

    DT__ALIGNED(4096) struct dt__rank_block ranks[];
};

/* A segment for a world of n_ranks with heaps for those of one node. */
struct dt__segment *dt__segment_new_on_node(int64_t n_ranks, const int64_t *local, int64_t n_local, size_t heap_bytes,
                                            int *fd, char *error, size_t error_bytes);
/* The offset of a rank's heap, if it has one. */
static inline uint64_t dt__segment_heap_at(const struct dt__segment *segment, int64_t rank) {
    uint32_t heap = segment->ranks[rank].heap;
    return segment->heap_at + (heap ? heap - 1 : (uint64_t)rank) * segment->heap_bytes;
}
/* Maps private blocks of this process for the ranks of other nodes. */
bool dt__segment_separate(struct dt__segment *segment, const int32_t *node_of, int32_t node);

/* Maps the segment of a ticket for its rank: control words and own heap writable, the other heaps read-only. */
struct dt__segment *dt__segment_join(const dt__ticket *ticket, char *error, size_t error_bytes);

/* Writes " (sum at model.c:12)" for a dt__program_call_word of this rank; "" for 0. */
void dt__describe_program_call(const struct dt__rank_block *rank, uint64_t word, char *text, size_t capacity);

/* Removes the file that a rank has registered (temporary_file.c). */
void dt__segment_remove_temporary(const struct dt__segment *segment, int64_t rank);

/* Counts an event and wakes every rank that sleeps. */
void dt__segment_notify(struct dt__segment *segment);
/* Wakes one rank if it sleeps. */
void dt__segment_wake(struct dt__segment *segment, int64_t rank);

#endif
