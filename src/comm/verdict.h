/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts on data. A kernel that finds bad data in its shard, such as an index out of range, records a *verdict* in
 * the history of the mesh instead of an error, because the other ranks have not seen that data. The next operations of
 * the mesh carry it in their headers, and when all ranks of the mesh have it, all of them get it as the same agreed
 * error, in the same call. This sends no messages of its own, and without a verdict it costs nothing.
 *
 * On a mesh of several dims an operation may join the ranks along some of them only. A verdict therefore has the mesh
 * dims along which it has spread: all ranks of that part of the mesh have it. It is reported at the end of the
 * operation that completes them. Only operations in which every rank of the mesh takes part, each with the ranks along
 * the same mesh dims, carry verdicts.
 */
#ifndef DT_COMM_VERDICT_H
#define DT_COMM_VERDICT_H

#include "comm/call_history.h"
#include "comm/runtime.h"

enum { DT__VERDICT_TEXT_BYTES = 1024 };
#define DT__ALL_MESH_DIMS UINT64_MAX

typedef struct dt__data_verdict {
    uint64_t call;    /* of the history, from 1 */
    int64_t rank;     /* that found it */
    uint64_t spread;  /* mesh dims */
    uint64_t meeting; /* mesh dims of the operation that carries it */
    int32_t status;
    int32_t history; /* of the operation's: 0 or 1 */
    char text[DT__VERDICT_TEXT_BYTES];
} dt__data_verdict;

/* Records a verdict of the call in progress; an earlier one is kept. */
dt_status dt__verdict_record(dt__history *history, dt_status status, const char *text);

/* For operations: the start takes this rank's verdict, the headers of members are merged into it, so that all members
 * end up with the same one, and the end keeps or reports it. */
dt_status dt__verdict_take(dt_work *work);
dt_status dt__verdict_merge(dt_work *work, const dt__data_verdict *other);
dt_status dt__verdict_conclude(dt_work *work);

/* Whether one of the histories has a verdict; NULL: none. */
static inline bool dt__has_verdict(const dt__history *a, const dt__history *b) {
    return __builtin_expect((a && a->verdict) || (b && b->verdict), 0);
}

/* The mesh dims of an operation of the history's mesh, as dt__exchange has them: DT__ALL_MESH_DIMS if the others have
 * one rank each. */
static inline uint64_t dt__dims_met(const dt__history *history, uint64_t mesh_dims) {
    return history && !(history->mesh_dims & ~mesh_dims) ? DT__ALL_MESH_DIMS : mesh_dims;
}

void dt__verdict_free(dt_ctx *ctx, dt__data_verdict *verdict);
/* When histories begin again: verdicts that were not reported still will be. */
void dt__verdict_restart(dt__history *history);
/* The line for a verdict that was not reported yet, followed by a note; false: there is none. */
bool dt__verdict_line(const dt_ctx *ctx, const char *note, char *out, size_t capacity);
/* When no operation will follow: makes an unreported verdict the error of the context. */
void dt__verdicts_end(dt_ctx *ctx);

#endif
