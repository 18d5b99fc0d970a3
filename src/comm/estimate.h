/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is estimated runs on the estimating transport (shm/estimate_transport.c): one process acts as one rank
 * of a world of any size, makes the decisions and the allocations of a real rank, and neither computes nor sends the
 * elements of distributed tensors. Their blocks come from a heap of their own, whose address space is reserved and
 * whose pages are never touched: *idle* memory. Kernels run on it with an idle thread pool, so that they allocate their
 * scratch memory and touch no data. Plain tensors have data, and calls on plain tensors alone run as usual.
 */
#ifndef DT_COMM_ESTIMATE_H
#define DT_COMM_ESTIMATE_H

#include "base/hash.h"
#include "comm/block_watch.h"
#include "comm/runtime.h"

/* What DTENSOR_ESTIMATE describes. */
typedef struct dt__estimate_options {
    int64_t world, rank;
    int64_t threads, cores; /* of a rank, and of its node; 0: as ranks on this machine would have them */
    double value;           /* replaces every value that is read */
} dt__estimate_options;

/* Where an estimate differs from the program. */
typedef enum dt__estimate_event {
    DT__STAND_IN, /* a value was read that nobody has computed */
    DT__NOT_RUN,  /* a function of the program, or a file that would have been written */
} dt__estimate_event;

/* How often that happened in a line of the program. */
typedef struct dt__estimate_note {
    struct dt__estimate_note *next;
    dt__estimate_event event;
    const char *what;
    const char *file; /* NULL: unknown */
    int line;
    int64_t n;
} dt__estimate_note;

/* The coordinates along each dim of the mesh of all ranks at which local shapes change (spec/rank_classes.c). */
enum { DT__MAX_CUTS = 256, DT__MAX_CLASS_DIMS = 8 };
typedef struct dt__rank_classes {
    int n_dims;         /* 0: no mesh of all ranks was used */
    int64_t first_rank; /* at coordinate 0 */
    int64_t sizes[DT__MAX_CLASS_DIMS],
        steps[DT__MAX_CLASS_DIMS];  /* steps: in ranks, from one coordinate to the next */
    int n_cuts[DT__MAX_CLASS_DIMS]; /* ascending coordinates; DT__MAX_CUTS: there may be more */
    int64_t cuts[DT__MAX_CLASS_DIMS][DT__MAX_CUTS];
} dt__rank_classes;

typedef struct dt__estimate {
    dt_ctx *ctx;
    dt__estimate_options options;
    dt__heap heap;            /* idle memory; its blocks count in the statistics of the rank's heap */
    dt__kernels kernels;      /* those of the rank, which know the idle memory */
    int n_idle;               /* nested calls that compute without data */
    dt__estimate_note *notes; /* in the order of their first time */
    dt__block_watch blocks;
    dt__map labels; /* texts of specs, by their ids */
    dt__rank_classes classes;
    int n_items;     /* of the list op that runs; 0: none does */
    double clock_us; /* virtual time since dt_init: ops and plans advance it */
} dt__estimate;

/* Reads DTENSOR_ESTIMATE: "world=8,rank=3,value=1". False with the reason in error. */
bool dt__estimate_parse(const char *text, dt__estimate_options *out, char *error, size_t error_bytes);

/* Opens and closes the idle heap of a runtime whose own heap is open. */
dt_status dt__estimate_open(dt__runtime *runtime, const dt__estimate_options *options);
void dt__estimate_close(dt__runtime *runtime);

/* Whether memory is idle; never outside an estimate. */
static inline bool dt__is_idle(const dt_ctx *ctx, const void *memory) {
    return __builtin_expect(ctx->estimate != NULL, 0) && dt__heap_holds(&ctx->estimate->heap, memory, 0) && memory;
}

/* Begins and ends a call that computes with idle memory: scratch memory is idle, too, and the rank's threads do
 * nothing. */
void dt__idle_begin(dt_ctx *ctx);
void dt__idle_end(dt_ctx *ctx);

/* Notes an event of the call in progress; `what` lives as long as the context. */
void dt__estimate_notes_add(dt_ctx *ctx, dt__estimate_event event, const char *what);

/* Notes that the program read a value by a function that knows no line, such as dt_data. The note has the line that
 * made the block; NULL: the block is unknown, and so is the line. */
void dt__estimate_notes_add_read(dt_ctx *ctx, const char *what, const void *block);

/* The text of a spec, by its id: NULL until it was set. A text that is set is copied. */
const char *dt__estimate_label(const dt_ctx *ctx, uint64_t id);
const char *dt__estimate_set_label(dt_ctx *ctx, uint64_t id, const char *text);
/* Names the tensor of a block. */
void dt__estimate_label_block(const dt_ctx *ctx, const void *memory, const char *label);

#endif
