/* SPDX-License-Identifier: Apache-2.0
 *
 * What dispatch logs: the first decision of each op (info) or each decision (debug), warnings of the communication
 * policy, once per call site and decision, and counts of calls at the end.
 */
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_WARNINGS = 1000 }; /* of one context; ever new shapes would produce ever new warnings */

enum kind { FIRST_DECISION, WARNING };

/* Whether this is the first time; remembers the text. */
static bool is_first(dt_ctx *ctx, dt__dispatch_state *state, enum kind kind, uint64_t hash) {
    if (!state->logged.ctx)
        state->logged = dt__map_new(ctx);
    uint64_t key = dt__hash_u64(hash, (uint64_t)kind + 1);
    return !dt__map_get(&state->logged, key, NULL, NULL) && dt__map_add(&state->logged, key, state);
}

/* "; moves argument 1 to R and argument 2 to S(0)" */
static void add_moves(const dt__decision *decision, dt__text *out) {
    const char *before = "; moves ";
    for (int i = 0; i < decision->n_inputs; i++) {
        const dt_spec *to = decision->inputs[i].to;
        if (!to)
            continue;
        const dt_placement *placements = to->sharding.placements;
        dt__text_add(out, "%sargument %d to ", before, i + 1);
        dt__placement_lists_text(to->sharding.n_mesh_dims, 1, &placements, out);
        before = " and ";
    }
    const dt__way *way = decision->meeting    ? &decision->meeting->way
                         : decision->windowed ? dt__windowed_way(decision->windowed)
                                              : NULL;
    if (way && way->group > 1 && way->bytes > 0) {
        dt__text_add(out, "; %s of %" PRId64 " ranks", dt__way_name(way), way->group);
        before = "";
    }
    if (*before == ';')
        dt__text_add(out, "; moves nothing");
    else
        dt__text_add(out, ", %.3g us", decision->cost_us);
}

void dt__log_decision(dt_ctx *ctx, const dt__call *call, const dt__decision *decision) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    if (ctx->log_level < DT_LOG_INFO)
        return;
    bool first = is_first(ctx, state, FIRST_DECISION, (uint64_t)call->info->index);
    dt_log_level level = first ? DT_LOG_INFO : DT_LOG_DEBUG;
    if (level > ctx->log_level)
        return;
    dt__text text = dt__text_new(ctx);
    dt__call_decision_text(call, decision, &text);
    add_moves(decision, &text);
    dt__log(ctx, level, "decision: %s", dt__text_chars(&text));
    dt__text_free(&text);
}

/* A decision that is not cached is made anew for each call, and reading an argument has none: the text identifies
 * it. */
static uint64_t hash_warning(dt_ctx *ctx, const dt__decision *decision, const char *text) {
    uint64_t hash = decision && decision->cached ? decision->hash : dt__hash(text, strlen(text), 0);
    const dt_site *site = dt__call_site(ctx);
    if (!site || !site->file)
        return hash;
    return dt__hash_u64((uint64_t)site->line, dt__hash(site->file, strlen(site->file), hash));
}

void dt__log_warning(dt_ctx *ctx, const dt__decision *decision, const char *text) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    if (ctx->log_level < DT_LOG_WARN || state->n_warnings > MAX_WARNINGS ||
        !is_first(ctx, state, WARNING, hash_warning(ctx, decision, text)))
        return;
    if (++state->n_warnings > MAX_WARNINGS)
        dt__log(ctx, DT_LOG_WARN, "%d warnings about communication; further ones are not shown", MAX_WARNINGS);
    else
        dt__log_call(ctx, DT_LOG_WARN, "%s", text);
}

void dt__log_calls(dt_ctx *ctx, dt__dispatch_state *state) {
    dt__log(ctx, DT_LOG_INFO, "close: %" PRId64 " calls of ops, %" PRId64 " decided, %" PRId64 " from the cache",
            state->stats.n_hits + state->stats.n_misses, state->stats.n_misses, state->stats.n_hits);
    if (state->logged.ctx)
        dt__map_free(&state->logged);
}
