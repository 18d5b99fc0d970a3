/* SPDX-License-Identifier: Apache-2.0
 *
 * A prepared move while it runs: executor.c runs one in an exchange or a collective of its own, redistribute_list.c
 * several in one.
 */
#ifndef DT_MOVE_EXECUTION_H
#define DT_MOVE_EXECUTION_H

#include "move/prepared_move.h"

/* A move among others in one exchange: members of its own group have different numbers there, and addresses and strides
 * are words of a table that each member publishes: the distances of its source and of its target from the address that
 * it publishes, whether the source is a staging buffer, then the strides of the source. */
enum { DT__LISTED_SRC, DT__LISTED_DST, DT__LISTED_STAGED, DT__LISTED_STRIDES };
typedef struct dt__listed_move {
    const int64_t *members; /* in the group of the exchange, of those of its own */
    int n_words, at;        /* of the table, and the first word of this move */
} dt__listed_move;

struct dt__execution {
    dt__executor *executor;
    dt__prepared_move *prepared;
    dt_spec *from, *to;
    dt__shard_memory src;
    char *dst;         /* where the target is written */
    void *copied_src;  /* in the heap, or NULL */
    char *staging;     /* through which src passes in rounds (staged_source.h), or NULL; of the caller */
    void *own_staging; /* staging that the execution is to free, or NULL */
    void *copied_dst;  /* in the heap, or NULL; copied to final_dst at the end */
    void *final_dst;   /* of the caller */
    dt__exchange exchange;
    dt_work *work; /* NULL: finished, with `status` */
    dt_status status;
    struct dt__execution *next;        /* of the executor's list */
    int64_t strides[DT_SPEC_MAX_DIMS]; /* copies of the caller's, where it is started */
    const dt__listed_move *listed;     /* in an exchange of several moves; NULL: in its own */
    dt__message_part part;             /* where a collective carries it: the tensor, */
    dt__message_transfer transfer;     /* and its messages, from the start to the end */
};

void dt__execution_open(dt__execution *execution, dt__executor *executor, dt__prepared_move *prepared,
                        const dt__redistribution *request);
dt_status dt__execution_check_memory(const dt__execution *execution);
/* Makes sure that peers can read the source, and in two phases the target. *dense: whether the source is. A large
 * source outside the heap passes through *staging, which is allocated if it is NULL, and which the caller frees. */
dt_status dt__execution_publish(dt__execution *execution, char **staging, bool *dense);
/* With rounds: fills the staging buffer. */
void dt__execution_fill(dt__execution *execution, int64_t round);
/* With rounds: pulls one, in place of all blocks. */
dt_status dt__execution_pull_round(dt_work *work, dt__execution *execution, int64_t round);
/* The two phases, as steps of an exchange; work is NULL where no other rank takes part. */
dt_status dt__execution_pull_blocks(dt_work *work, void *user);
dt_status dt__execution_pull_portions(dt_work *work, void *user);
/* A move that a collective carries: the tensor of a transfer; its bytes are counted. */
dt__message_part dt__execution_part(const dt__execution *execution);
dt_status dt__execution_run_locally(dt__execution *execution);
/* Frees copies and releases the prepared move, whatever the status. */
dt_status dt__execution_close(dt__execution *execution, dt_status status);

/* The state before a run, for the observer's report and the log. */
typedef struct dt__run_start {
    double us;
    int64_t bytes;
} dt__run_start;
dt__run_start dt__run_begin(const dt__executor *executor);
/* Counts a move and, unless it repeats another one in the same exchange, its collectives. */
void dt__run_count(dt__executor *executor, const dt__prepared_move *prepared, dt__run_start start, bool repeats);

#endif
