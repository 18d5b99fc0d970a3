/* SPDX-License-Identifier: Apache-2.0
 *
 * The heart of `dtensor query`: one line in, one line out. Knows nothing of files and pipes.
 */
#ifndef TOOLS_DTENSOR_QUERY_ANSWER_H
#define TOOLS_DTENSOR_QUERY_ANSWER_H

#include "request.h"

/* Kinds, each in a file of its own. */
extern const request_kind query_layout, query_mesh, query_shard, query_redistribute, query_rules, query_propagate,
    query_run;

/* Writes the answer to the line (n bytes, without its newline) into out, which is cleared first: a JSON object
 * without a newline. A request that cannot be served gets an answer that says why. */
void query_answer(const char *line, size_t n, dt__text *out);

/* Writes {"error":{"code":…,"message":…}} into out, which is cleared first. Statuses that callers of `query` do not
 * know are told as "internal". */
void query_answer_error(dt__text *out, dt_status status, const char *message);

/* Ends the ranks that `run` keeps alive. */
void query_run_end(void);

#endif
