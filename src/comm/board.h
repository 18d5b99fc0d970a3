/* SPDX-License-Identifier: Apache-2.0
 *
 * The board of a launch: one block per rank, in which the rank publishes its state, its recent operations and its side
 * of each channel. Its peers read the block to detect and describe failures. A transport decides where the blocks are
 * and how a rank that sleeps is woken.
 *
 * Writers: a rank writes its own block. The supervisor (dtrun, dt_spawn) writes pid and `ended` of a rank, the standard
 * error that it connected, and how many reports it has printed. Any rank may wake another. All of these are atomics.
 */
#ifndef DT_COMM_BOARD_H
#define DT_COMM_BOARD_H

#include "base/hash.h"
#include "comm/call_history.h"
#include "comm/runtime.h"

#include <stdatomic.h>

enum {
    DT__LINE = 64,
    DT__LINES = 128,       /* processors fetch lines in pairs: distance of words that ranks write often */
    DT__N_ENTRIES = 16,    /* operations of one channel that may be in progress at once */
    DT__N_CHANNELS = 4096, /* slots in a rank's channel table; at most half are used */
    DT__N_RECENT = 32,     /* recent operations that a rank keeps */
    DT__INLINE_BYTES = 16, /* data that is published in the header itself */
    DT__REASON_BYTES = 1280,
    DT__TEMPORARY_BYTES = 4096,
    DT__N_REPORTS = 8,  /* texts of a rank that the supervisor has not printed yet */
    DT__ENDED_WELL = 1, /* `ended` of a rank that ended with exit code 0 */
};

enum { DT__EXCHANGE_COPIED_BYTES = 8192, DT__REPORT_BYTES = DT__ERROR_TEXT_BYTES + 64 };
enum { DT__FILLED_IN_ROUNDS = 1 }; /* in the payload of an exchange, in place of the offset of strides */

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
    uint64_t
        verdict; /* with DT__SIGNATURE_VERDICT: a dt__data_verdict in this rank's heap, as an offset in the segment */
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

/* One recent operation. */
struct dt__recent_operation {
    _Atomic uint64_t signature; /* as in the entry */
    _Atomic uint64_t count;
    _Atomic uint64_t channel; /* its key */
    _Atomic uint64_t seq;     /* in the channel */
    _Atomic uint64_t members; /* number of ranks */
    _Atomic uint64_t set[2];  /* bits of the first 128 world ranks that are members */
    _Atomic uint64_t program; /* the program's own call and its line (dt__program_call_word) */
    _Atomic uint64_t name[3]; /* of an exchange: that of its call */
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

/* An incident is an operation that failed on several ranks: a hash, equal on all of them, and whether this rank failed
 * because another one had. */
enum dt__incident { DT__INCIDENT_FOLLOWS = 1 };

/* The first error of a rank's context, for the supervisor of a rank that ends without closing it. */
enum dt__first_error {
    DT__FIRST_ERROR_NONE,
    DT__FIRST_ERROR_UNREAD,  /* see first_error_text */
    DT__FIRST_ERROR_REPORTED /* printed, or left to the supervisor as a report */
};

/* A text that the rank leaves for the supervisor to print (rank_reports.h). */
struct dt__report_slot {
    _Atomic uint64_t complete; /* number of the report, from 1; written last */
    uint64_t hash;             /* of the text, or of the incident: reports of one hash are printed once */
    uint64_t incident;         /* or 0 */
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
    _Atomic uint32_t n_cleared;   /* synchronization points of dt_error_clear that it has reached in this context */
    _Atomic int32_t error_status; /* of the error in error_text, or DT_OK */
    _Atomic uint32_t cause;       /* 1 + the rank whose error made this one fail, or 0; its text outlives the rank */
    _Atomic uint64_t incident;    /* the failed operation that the rank's error is of (enum dt__incident), or 0 */
    uint32_t heap;                /* 1 + the number of its heap; 0: its rank. Set before ranks join */
    DT__ALIGNED(DT__LINE) char error_text[1024]; /* of the local error that is not cleared, or the one closed with */
    _Atomic uint32_t has_temporary;              /* `temporary` is complete, and the file may exist */
    char temporary[DT__TEMPORARY_BYTES];         /* absolute path of a file to remove if the rank dies */
    DT__ALIGNED(DT__LINES) _Atomic uint64_t n_calls;
    struct dt__recent_operation recent[DT__N_RECENT];
    _Atomic int32_t supervisor;                  /* process that prints this rank's reports; 0: none */
    uint64_t stderr_device, stderr_inode;        /* of the standard error that the supervisor connected */
    _Atomic uint64_t n_reports, n_reports_taken; /* claimed by the rank; printed by the supervisor */
    struct dt__report_slot reports[DT__N_REPORTS];
    _Atomic int32_t first_error; /* enum dt__first_error */
    uint64_t first_error_incident;
    char first_error_text[DT__REPORT_BYTES];
    _Atomic uint64_t used[DT__N_CHANNELS / 64]; /* bit per slot of the table that was ever used */
    DT__ALIGNED(4096) struct dt__channel_block channels[DT__N_CHANNELS];
    struct dt__history_block histories[DT__N_HISTORIES];
    char labels[DT__LABEL_BYTES + DT__MAX_LABEL]; /* wherever a label begins, it ends before the end */
};

/* The launch as this rank sees it. The transport makes it when the rank joins. */
typedef struct dt__board {
    dt__runtime *runtime;
    struct dt__rank_block *ranks; /* [n_ranks] */
    struct dt__rank_block *own;
    int64_t n_ranks;
    _Atomic uint32_t *n_events; /* changes of ranks' states, counted: waiting ranks check for failures */
    uint32_t number;  /* of this context among those of this rank, from 1; the same on all ranks at a time */
    bool aborted;     /* this rank has raised the abort flag with a local error */
    bool out_of_step; /* aborted, or a collective failed on this rank, since the last collective dt_error_clear */
    dt__map channels; /* by key; used ones stay, because their numbering continues */
    int64_t n_blocks; /* blocks in use in the own table */
    struct dt__history *histories;
    dt__map labels; /* by fingerprint */
    size_t label_bytes;
    const char *call_name, *call_file; /* of the last operation's call by the program, and their labels */
    uint32_t name_label, file_label;
} dt__board;

/* Whether the rank has an open context: dt_init was called, and dt_close was not. */
static inline bool dt__rank_is_open(const struct dt__rank_block *rank) {
    int32_t state = atomic_load(&rank->state);
    return state != DT__RANK_ABSENT && state != DT__RANK_CLOSED;
}

static inline void dt__board_notify(dt__board *board) { board->runtime->transport->notify(board); }

/* board.c */
/* Prepares what a board keeps in this process, after the transport has set its fields. */
dt_status dt__board_open(dt__board *board);
void dt__board_close(dt__board *board);
void dt__board_set_state(dt__board *board, enum dt__rank_state state);
/* Publishes that this rank closes its context, with its error. */
void dt__board_leave(dt__board *board);
/* Raises the abort flag with a local error of this rank, unless the rank has raised it already. */
void dt__board_raise_abort(dt__board *board, dt_status status, const char *text);
/* The call of the program that is in progress, as a word that peers can read: its name, file and line; 0: none. */
uint64_t dt__program_call_word(dt__board *board);

/* A synchronization point of all ranks: waits until a counter of every rank has reached a target. */
struct dt__sync_point {
    dt__board *board;
    const char *call; /* for errors */
    size_t counter;   /* offset of an _Atomic uint32_t in the rank block */
    uint32_t target;
    int64_t missing;      /* the first rank that has not arrived */
    bool closed_are_gone; /* ranks that have closed their context will not arrive */
};
dt_status dt__synchronize(struct dt__sync_point *point);

/* failure.c */
/* Whether the process of a rank is dead. */
bool dt__rank_is_dead(const dt__board *board, int64_t rank);
/* Why a rank is gone, as a text: its process is dead or, unless it may return, its context is closed; NULL if neither.
 */
const char *dt__rank_gone_reason(const dt__board *board, int64_t rank, bool check_process, bool may_return);
/* A rank of the launch that died, or ended with an exit code other than 0, without closing its context; -1: none. */
int64_t dt__dead_rank(const dt__board *board);
/* "rank 2 has closed its context", with the first cause where it is known: ranks close their contexts because another
 * one died or failed. */
void dt__describe_absence(const dt__board *board, int64_t rank, const char *why, char *text, size_t capacity);
/* Publishes that this rank fails because of another one, with that rank's cause unless it has its own. */
void dt__inherit_cause(dt__board *board, int64_t rank);

/* call_history.c */
/* The block of a rank for the history with this key, which may be free; NULL: it has no more. */
struct dt__history_block *dt__history_block_of(struct dt__rank_block *rank, uint64_t key);
void dt__histories_reset(dt__board *board);
void dt__histories_free(dt__board *board);
/* Writes " (sum at model.c:12)" for a dt__program_call_word of this rank; "" for 0. */
void dt__describe_program_call(const struct dt__rank_block *rank, uint64_t word, char *text, size_t capacity);
/* The last call of a rank on one mesh, "add(f32[8,6] S(0) on mesh(tp=2); …) (at a.c:12)"; false: it has made none. */
bool dt__describe_last_call(const struct dt__rank_block *rank, const struct dt__history_block *block, char *text,
                            size_t capacity);

#endif
