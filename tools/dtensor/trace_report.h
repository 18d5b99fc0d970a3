/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of a program (DTENSOR_TRACE, as text or as JSON), summed up by call and line: which calls received how much.
 * Then, for a call that moved something, the placement of one of its inputs with which it would have moved least, found
 * by trying the placements of all of its rows with the cost model.
 */
#ifndef TOOLS_DTENSOR_TRACE_REPORT_H
#define TOOLS_DTENSOR_TRACE_REPORT_H

#include "arguments.h"
#include "rules/rules.h"
#include "trace_times.h"

/* All calls of one text at one line of the program. */
typedef struct traced_call {
    const char *text;  /* "mm(f32[8,8] S(0); f32[8,32] S(0)) on mesh(8)", or "redistribute" */
    const char *site;  /* "model.c:12"; "" where the trace has none */
    const char *moves; /* of the first one: "S(0)->R of f32[8,32]: all_gather 1"; "" where nothing moved */
    bool is_op;
    int64_t n_calls, bytes; /* that this rank received in all of them */
} traced_call;

typedef struct trace_report {
    traced_call **calls; /* those that received most first, then in the order of the trace */
    int64_t n, capacity;
    int64_t n_calls, bytes; /* of all */
    trace_times times;      /* empty where all files are text */
} trace_report;

/* Reads a file and adds its calls; refuses (system) one that cannot be read, and (value) one that is not a trace. */
dt_status trace_report_add(dt__arena *arena, const char *file, trace_report *out);
/* Sorts calls and times once all files are added. */
void trace_report_sort(trace_report *self);

/* Another placement of one input. */
typedef struct trace_advice {
    int input;
    const char *name;            /* of the input's parameter */
    const char *now, *better;    /* its placements */
    int64_t bytes, better_bytes; /* that one call moves: the rank that receives most */
    int64_t held, better_held;   /* bytes of the input on the rank that holds most */
} trace_advice;

/* Whether another placement of one input would have moved less in this call, and the best one: the one that moves least
 * and, among these, takes the least memory. Fails if the text is not a call that the library has. */
dt_status trace_advise(dt__arena *arena, const traced_call *call, bool *found, trace_advice *out);

#endif
