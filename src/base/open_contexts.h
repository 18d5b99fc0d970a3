/* SPDX-License-Identifier: Apache-2.0
 *
 * The contexts that are open in this process. Everything else belongs to a context; this list is the one thing that
 * belongs to the process, because two events do: its end, when an error that the program has not read would be lost,
 * and fork, when a second process gets contexts that are not its own.
 */
#ifndef DT_BASE_OPEN_CONTEXTS_H
#define DT_BASE_OPEN_CONTEXTS_H

#include "base/ctx.h"

/* Adds a context when dt_init has finished, and removes it, if it was added, before it is freed; in any thread. */
void dt__open_contexts_add(dt_ctx *ctx);
void dt__open_contexts_remove(dt_ctx *ctx);

#endif
