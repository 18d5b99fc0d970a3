/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking on: what a program communicates, counted by collective, by op and by named part of the program; a trace of
 * its ops and redistributions; and why an op chooses its placements.
 *
 *     dt_comm_stats_begin(ctx);
 *     dt_comm_scope_begin(ctx, "layer1");
 *     …
 *     dt_comm_scope_end(ctx);
 *     dt_comm_stats_end(ctx);
 *     printf("%s", dt_comm_stats_text(ctx));
 *
 * All of it is this rank's own view, and costs next to nothing while it is off.
 */
#ifndef DTENSOR_DEBUG_H
#define DTENSOR_DEBUG_H

#include <dtensor/comm.h>
#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names the part of the program that begins or ends: parts nest, and the names of open ones are joined by "/". A name
 * must not be empty or have a "/" in it. Popping more than was pushed changes nothing. Local. */
DT_API dt_status dt_comm_scope_begin(dt_ctx *ctx, const char *name);
DT_API void dt_comm_scope_end(dt_ctx *ctx);

/* Counts from zero; what was counted before is forgotten. Counts stay readable after the end. Local. */
DT_API dt_status dt_comm_stats_begin(dt_ctx *ctx);
DT_API void dt_comm_stats_end(dt_ctx *ctx);

/* What to count: each field may be NULL, which stands for all. */
typedef struct dt_comm_filter {
    const char *collective; /* "all_gather" */
    const char *op;         /* "mm"; what is not done for an op has the name of its call: "redistribute",
                               "full_tensor", "item", "assign", "distribute_tensor", or "comm" for dt_comm_run */
    const char *scope;      /* "layer1": with all that is inside it */
} dt_comm_filter;

typedef struct dt_comm_statistics {
    int64_t n; /* collectives; a direct exchange counts as those that it replaces */
    int64_t
        bytes; /* that this rank received for them; where one exchange counts as several collectives, all its bytes
                      are counted for the first of them */
} dt_comm_statistics;

/* What was counted since the last begin; a NULL filter stands for all. Local. */
DT_API void dt_comm_stats_sized(const dt_ctx *ctx, const dt_comm_filter *filter, size_t filter_size,
                                dt_comm_statistics *out, size_t out_size);
static inline dt_comm_statistics dt_comm_stats(const dt_ctx *ctx, const dt_comm_filter *filter) {
    dt_comm_statistics out;
    dt_comm_stats_sized(ctx, filter, sizeof *filter, &out, sizeof out);
    return out;
}
/* All of it, as a table or as JSON: {"total":{…},"scopes":{"layer1":{…}}} with counts by collective, bytes and ops.
 * Valid until the next call; NULL with the error recorded. Local. */
DT_API const char *dt_comm_stats_text(dt_ctx *ctx);
DT_API const char *dt_comm_stats_json(dt_ctx *ctx);

/* Traces ops, redistributions, collectives and scopes from now on. To a file: one whose name ends in ".json" is in the
 * form that trace viewers open (Chrome's), any other is text, a line per op; of several ranks each writes a file of its
 * own, with ".RANK" in front of the ending. NULL: as text in memory. A trace that is running is ended first. The
 * environment variable DTENSOR_TRACE=FILE does the same from the first op on. Local. */
DT_API dt_status dt_trace_begin(dt_ctx *ctx, const char *file);
/* Ends it and completes the file; a system error where that cannot be written. Local. */
DT_API dt_status dt_trace_end(dt_ctx *ctx);
/* What is in memory of the trace, running or ended: "" where it went to a file. Valid until the next call. Local. */
DT_API const char *dt_trace_text(const dt_ctx *ctx);

/* Explains the placements that an op would select: the cheapest candidates with their costs, the selected one, and
 * what would move for it. The call is text, in which $0, $1, … stand for the tensors: "matmul($0; $1)",
 * "sum($0; dim=[1])", "cat({$0; $1}; dim=0)". Nothing is run. Valid until the next call; NULL with an agreed error.
 * Local. */
DT_API const char *dt_explain(dt_ctx *ctx, const char *call, dt_tensor *const *tensors, int n_tensors);

#ifdef __cplusplus
}
#endif

#endif
