/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a subcommand that asks about meshes of any size: a context that stands for a rank of the largest world,
 * an arena for all that is made, and the text that is to be printed. Failures are told on standard error.
 */
#ifndef TOOLS_DTENSOR_SESSION_H
#define TOOLS_DTENSOR_SESSION_H

#include "args.h"
#include "base/arena.h"
#include "base/text.h"

typedef struct session {
    const args *given;
    dt_ctx *ctx;
    dt__arena *arena;
    dt__text *out;
} session;

/* What a subcommand does once its command line is right. */
typedef dt_status session_fn(session *self, void *user);

/* Runs it for this rank, frees what it made, and gives the exit code. */
int session_run(const args *given, int64_t rank, session_fn *body, void *user);

#endif
