/* SPDX-License-Identifier: Apache-2.0
 *
 * The monitor of a context: observes collectives and redistributions, and passes them to counts and traces. It holds
 * the tree of named scopes, the counts at its nodes, and a trace; the dispatch state owns it.
 */
#ifndef DT_DISPATCH_MONITOR_H
#define DT_DISPATCH_MONITOR_H

#include "base/text.h"
#include "comm/comm.h"
#include "dispatch/decision.h"
#include "dispatch/dispatch.h"
#include "move/move.h"

/* Counts of one call's name in one scope. */
typedef struct dt__count_row {
    struct dt__count_row *next;
    const char *op; /* lives as long as the context */
    int64_t n[DT_N_COLLECTIVES], bytes[DT_N_COLLECTIVES];
    double us[DT_N_COLLECTIVES];
} dt__count_row;

/* A named scope; the root is the program and has an empty path. */
typedef struct dt__scope_node {
    struct dt__scope_node *parent, *first, *next; /* children in the order of their first use */
    const char *name, *path;
    dt__count_row *rows;
} dt__scope_node;

typedef struct dt__trace dt__trace;
typedef struct dt__run_report dt__run_report;

/* The functions whose text stays valid until their next call. Each has its own, so that one printf can show several. */
enum dt__returned_text {
    DT__TEXT_COMM_STATS,
    DT__TEXT_COMM_STATS_JSON,
    DT__TEXT_COMM_STEPS,
    DT__TEXT_MEMORY,
    DT__TEXT_EXPLAIN,
    DT__N_TEXTS
};

typedef struct dt__monitor {
    dt__comm_observer comm;
    dt__move_observer move;
    dt__arena arena; /* of nodes and rows */
    dt__scope_node root, *scope;
    dt__count_row *free_rows;
    bool counts;
    dt__trace *trace;       /* NULL: there was none */
    dt__run_report *report; /* NULL: none was asked for */
    dt__op_ran *ran;        /* NULL: nobody measures ops */
    void *ran_user;
    dt__text texts[DT__N_TEXTS]; /* the last result of each function that returns a text */
} dt__monitor;

/* The monitor of the context, created on first use; NULL with the error recorded. */
dt__monitor *dt__monitor_of(dt_ctx *ctx);
/* The text of a function, emptied for its next result; and the result, or NULL with the error recorded. */
dt__text *dt__returned_text_begin(dt__monitor *self, enum dt__returned_text which);
const char *dt__returned_text_end(dt__text *text);
/* Installs the observers in the context or removes them, as counting and tracing require. */
void dt__monitor_update(dt_ctx *ctx, dt__monitor *self);
void dt__monitor_free(dt_ctx *ctx, dt__monitor *self);

/* What bringing a tensor to its use placement counts as. */
#define DT__USE_NAME "use"

/* A communication event for counts and traces: a collective of the program, a redistribution, or
 * the exchange of an op. */
typedef struct dt__comm_event {
    const char *call;                                /* name of the call that communicated */
    const int64_t *collectives;                      /* [DT_N_COLLECTIVES] the collectives that it counts as */
    int64_t bytes;                                   /* received by this rank */
    const dt__redistribution_report *redistribution; /* NULL: a collective of the program, or a way */
    const dt__way *way;                              /* what a row of an op exchanges; NULL: something else */
    double begin_us, end_us;
} dt__comm_event;

/* Appends the call with its inputs and outputs: "sum(f32[8,4] S(0); dim=[1]) -> f32[8] S(0) on mesh(4)". */
void dt__call_decision_text(const dt__call *call, const dt__decision *decision, dt__text *out);

/* Counts and traces an exchange that a row of an op makes, as one collective. Only if the context has an observer. */
void dt__observe_way(dt_ctx *ctx, const dt__way *way, int64_t bytes, double begin_us);

/* comm_stats.c */
void dt__count_event(dt__monitor *self, const dt__comm_event *event);
/* op_trace.c; each does nothing without a running trace. */
bool dt__trace_runs(const dt__monitor *self);
void dt__trace_event(dt_ctx *ctx, dt__monitor *self, const dt__comm_event *event);
void dt__trace_scope(dt_ctx *ctx, dt__monitor *self, const char *name, bool begins);
void dt__trace_op_begin(dt__monitor *self, const dt__call *call, const dt__decision *decision);
void dt__trace_op_end(dt_ctx *ctx, dt__monitor *self, const dt__call *call, const dt__decision *decision,
                      double begin_us);
void dt__trace_free(dt_ctx *ctx, dt__monitor *self);
/* Begins the trace that the environment requests. */
void dt__trace_from_environment(dt_ctx *ctx);
/* FILE; with several ranks, FILE with ".RANK" before its extension. NULL when out of memory. */
char *dt__rank_file_name(dt_ctx *ctx, const char *file, size_t *bytes);
/* run_report.c: begins the report that the environment requests; an event; writes and frees it, if there is one. */
void dt__report_from_environment(dt_ctx *ctx);
void dt__report_event(dt_ctx *ctx, dt__monitor *monitor, const dt__comm_event *event);
void dt__report_end(dt_ctx *ctx, dt__monitor *monitor);

#endif
