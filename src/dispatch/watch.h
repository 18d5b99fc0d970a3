/* SPDX-License-Identifier: Apache-2.0
 *
 * What hangs off the dispatch state of those who look on: the tree of named scopes, counts at its nodes, and a trace.
 */
#ifndef DT_DISPATCH_WATCH_H
#define DT_DISPATCH_WATCH_H

#include "base/text.h"
#include "comm/watch.h"
#include "dispatch/decision.h"

/* Counts of one call's name in one scope. */
typedef struct dt__count_row {
    struct dt__count_row *next;
    const char *op; /* lives as long as the context */
    int64_t n[DT_N_COLLECTIVES], bytes[DT_N_COLLECTIVES];
} dt__count_row;

/* A named scope; the root stands for the whole program and has an empty path. */
typedef struct dt__scope_node {
    struct dt__scope_node *parent, *first, *next; /* children in the order in which they came */
    const char *name, *path;
    dt__count_row *rows;
} dt__scope_node;

typedef struct dt__trace dt__trace;

typedef struct dt__watching {
    dt__watch watch;
    dt__arena arena; /* of nodes and rows */
    dt__scope_node root, *scope;
    dt__count_row *free_rows;
    bool counts;
    dt__trace *trace; /* NULL: there was none */
    dt__text text;    /* what the last printing call gave */
} dt__watching;

/* The context's, made on first use; NULL with the error recorded. */
dt__watching *dt__watching_of(dt_ctx *ctx);
/* Hangs the watch in or takes it out, as counting and tracing ask. */
void dt__watching_update(dt_ctx *ctx, dt__watching *self);
void dt__watching_free(dt_ctx *ctx, dt__watching *self);

/* count.c */
void dt__count_moved(dt_ctx *ctx, dt__watching *self, const dt__moved *moved);
/* trace.c; each does nothing where no trace runs. */
bool dt__trace_runs(const dt__watching *self);
void dt__trace_moved(dt_ctx *ctx, dt__watching *self, const dt__moved *moved);
void dt__trace_scope(dt_ctx *ctx, dt__watching *self, const char *name, bool begins);
void dt__trace_op_begin(dt__watching *self, const dt__invocation *call, const dt__decision *decision);
void dt__trace_op_end(dt_ctx *ctx, dt__watching *self, const dt__invocation *call, const dt__decision *decision,
                      double begin_us);
void dt__trace_free(dt_ctx *ctx, dt__watching *self);
/* Begins the trace that the environment asks for. */
void dt__trace_from_environment(dt_ctx *ctx);

/* Appends a JSON string. */
void dt__add_json_string(dt__text *out, const char *chars);

#endif
