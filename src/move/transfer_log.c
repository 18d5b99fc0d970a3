/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistributions in the log: large ones at level info, all at level debug, and their sum at the end.
 */
#include "base/quantity.h"
#include "mesh/mesh.h"
#include "move/prepared_move.h"

#include <inttypes.h>
#include <stdio.h>

/* "all_gather 1, all_to_all 1" */
static void add_collectives(const int64_t *collectives, char *text, size_t capacity) {
    size_t at = (size_t)snprintf(text, capacity, "nothing sent");
    for (int c = 0, n = 0; c < DT_N_COLLECTIVES && at < capacity; c++) {
        if (!collectives[c])
            continue;
        at = n++ ? at : 0;
        at += (size_t)snprintf(text + at, capacity - at, "%s%s %" PRId64, n > 1 ? ", " : "",
                               dt_collective_name((dt_collective)c), collectives[c]);
    }
}

void dt__log_redistribution(dt_ctx *ctx, const dt__redistribution_report *report) {
    dt_log_level level = report->bytes >= DT__LARGE_TRANSFER ? DT_LOG_INFO : DT_LOG_DEBUG;
    char from[512], to[512], collectives[128], received[32];
    if (level > ctx->log_level)
        return;
    (void)dt_spec_text(report->from, sizeof from, from);
    if (dt__mesh_same(report->from->mesh, report->to->mesh))
        (void)dt_placements_text(report->to->sharding.n_mesh_dims, report->to->sharding.placements, sizeof to, to);
    else
        (void)dt_spec_text(report->to, sizeof to, to);
    add_collectives(report->collectives, collectives, sizeof collectives);
    dt__size_print((size_t)report->bytes, received, sizeof received);
    dt__log(ctx, level, "redistribute: %s to %s: %s, received %s", from, to, collectives, received);
}

void dt__log_redistributions(dt_ctx *ctx, const dt__redistribute_stats *stats) {
    char received[32];
    dt__size_print((size_t)stats->bytes_received, received, sizeof received);
    dt__log(ctx, DT_LOG_INFO, "close: %" PRId64 " redistributions, received %s", stats->n_runs, received);
}
