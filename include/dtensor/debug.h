/* SPDX-License-Identifier: Apache-2.0
 *
 * Observing a program: its communication, counted by collective, by op and by named scope; a trace of its ops and
 * redistributions; and why an op selects its placements.
 *
 *     dt_comm_stats_begin(ctx);
 *     dt_comm_scope_begin(ctx, "layer1");
 *     dt_tensor *y = dt_softmax(dt_matmul(x, w), -1);
 *     dt_comm_scope_end(ctx);
 *     dt_comm_stats_end(ctx);
 *     printf("%s", dt_comm_stats_text(ctx));
 *
 * All of it is local to this rank, and costs almost nothing while it is off.
 */
#ifndef DTENSOR_DEBUG_H
#define DTENSOR_DEBUG_H

#include <dtensor/comm.h>
#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins or ends a named scope. Scopes nest; the names of open ones are joined by "/". A name must not be empty or
 * contain "/". An end without a begin does nothing. Local. */
DT_API dt_status dt_comm_scope_begin_site(dt_ctx *ctx, const char *name, DT_CALLER);
DT_API void dt_comm_scope_end(dt_ctx *ctx);

/* Starts counting from zero. Counts can still be read after the end. Local. */
DT_API dt_status dt_comm_stats_begin_site(dt_ctx *ctx, DT_CALLER);
DT_API void dt_comm_stats_end(dt_ctx *ctx);

/* Which counts to add up: a NULL field selects all. */
typedef struct dt_comm_filter {
    const char *collective; /* "all_gather" */
    const char *op;         /* "mm"; outside an op, the name of the call: "redistribute", "full_tensor", "item",
                               "print", "save_npy", …, or "comm" for dt_comm_run and the collectives by name; "use"
                               for bringing a tensor to its use placement, whichever op it was for */
    const char *scope;      /* "layer1", including all nested scopes */
} dt_comm_filter;

typedef struct dt_comm_statistics {
    int64_t n; /* collectives; a direct exchange counts as those that it replaces */
    int64_t
        bytes; /* received by this rank; those of an exchange that counts as several collectives are in the first */
    double seconds; /* from begin to end, including waiting for other ranks; counted in the first, like bytes */
} dt_comm_statistics;

/* The counts since the last begin; a NULL filter selects all. Local. */
DT_API void dt_comm_stats_sized(const dt_ctx *ctx, const dt_comm_filter *filter, size_t filter_size,
                                dt_comm_statistics *out, size_t out_size);
static inline dt_comm_statistics dt_comm_stats(const dt_ctx *ctx, const dt_comm_filter *filter) {
    dt_comm_statistics out;
    dt_comm_stats_sized(ctx, filter, sizeof *filter, &out, sizeof out);
    return out;
}
/* All counts, as a table or as JSON: {"total":{…},"scopes":{"layer1":{…}}} with counts by collective, bytes and ops.
 * Each is valid until the same function is called again or the context is closed; NULL with the error recorded.
 * Local. */
DT_API const char *dt_comm_stats_text_site(dt_ctx *ctx, DT_CALLER);
DT_API const char *dt_comm_stats_json_site(dt_ctx *ctx, DT_CALLER);
/* A step of a program that has counted this many, in this many seconds, as a table: a line for each call that
 * communicated, with the bytes that this rank received, its share of the time and its collectives; the last line has
 * all. Validity as dt_comm_stats_text. An error unless steps and seconds are above 0. Local. */
DT_API const char *dt_comm_steps_text_site(dt_ctx *ctx, int64_t steps, double seconds, DT_CALLER);

/* The memory of this rank's heap by kind, as a table: the maximum so far, and what is allocated now (dt_heap_stats has
 * the numbers). Valid until the next dt_memory_text or the end of the context; NULL with the error recorded. Local. */
DT_API const char *dt_memory_text_site(dt_ctx *ctx, DT_CALLER);

/* Seconds of a clock that never goes back, from any beginning. In an estimate (DTENSOR_ESTIMATE) it is the time that
 * the machine model predicts: ops and transfers advance it, and everything else that the program does takes no time.
 * Local. */
DT_API double dt_now(const dt_ctx *ctx);

/* Traces ops, redistributions, collectives and scopes from now on. A file whose name ends in ".json" is written in the
 * format of Chrome's trace viewer, any other as text, a line per op; with several ranks each writes its own file, with
 * ".RANK" before the extension. NULL: as text in memory. A running trace is ended first. The environment variable
 * DTENSOR_TRACE=FILE does the same from the first op on. dt_close ends a running trace, and reports like dt_trace_end.
 * Local. */
DT_API dt_status dt_trace_begin_site(dt_ctx *ctx, const char *file, DT_CALLER);
/* Ends the trace and completes its file; a system error if it cannot be written. Local. */
DT_API dt_status dt_trace_end_site(dt_ctx *ctx, DT_CALLER);
/* The text of a trace in memory, running or ended; "" where it is written to a file. Valid until a running trace gets
 * another line, another trace begins, or the context is closed. Local. */
DT_API const char *dt_trace_text(const dt_ctx *ctx);

/* Explains which placements an op would select: the cheapest candidates with their costs, the selected one, and the
 * inputs that would move. The call is the name of an op, which gets the tensors in their order, or a text in which $1,
 * $2, … are the tensors: "sum($1; dim=[1])", "cat({$1; $2}; dim=0)". Nothing is run. Valid until the next dt_explain or
 * the end of the context; NULL with an agreed error, and for a NULL tensor. Local. */
DT_API const char *dt_explain_tensors(dt_ctx *ctx, const char *call, int n, dt_tensor *const *tensors,
                                      const dt_site *site);
#ifndef __cplusplus
/* dt_explain(ctx, "matmul", x, w); dt_explain(ctx, "sum($1; dim=[1])", x) */
#define dt_explain(ctx, call, ...)                                                                                   \
    dt_explain_tensors(ctx, call, (int)(sizeof((dt_tensor *const[]){__VA_ARGS__}) / sizeof(dt_tensor *)),            \
                       (dt_tensor *const[]){__VA_ARGS__}, DT_SITE)
/* clang-format off */
#define dt_comm_scope_begin(...) dt_comm_scope_begin_site(__VA_ARGS__, DT_SITE)
#define dt_comm_stats_begin(...) dt_comm_stats_begin_site(__VA_ARGS__, DT_SITE)
#define dt_comm_stats_text(...) dt_comm_stats_text_site(__VA_ARGS__, DT_SITE)
#define dt_comm_stats_json(...) dt_comm_stats_json_site(__VA_ARGS__, DT_SITE)
#define dt_comm_steps_text(...) dt_comm_steps_text_site(__VA_ARGS__, DT_SITE)
#define dt_memory_text(...) dt_memory_text_site(__VA_ARGS__, DT_SITE)
#define dt_trace_begin(...) dt_trace_begin_site(__VA_ARGS__, DT_SITE)
#define dt_trace_end(...) dt_trace_end_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
