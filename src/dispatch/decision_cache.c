/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of decisions: bounded, with statistics, and holding references to the specs that its keys name. A decision
 * that a call uses is freed only after that call, even if the cache evicts it earlier.
 */
#include "base/options.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"

#include <string.h>

static void drop(dt_ctx *ctx, dt__dispatch_state *state, dt__decision **place) {
    dt__decision *decision = *place;
    if (!decision)
        return;
    *place = NULL;
    state->stats.n_entries--;
    decision->cached = false;
    if (decision->n_users == 0)
        dt__decision_free(ctx, decision);
}

static void drop_all(dt_ctx *ctx, dt__dispatch_state *state) {
    for (int s = 0; s < DT__N_SETS; s++)
        for (int w = 0; w < DT__WAYS; w++)
            drop(ctx, state, &state->cache[s][w]);
}

static void free_state(dt_ctx *ctx, void *slot) {
    dt__dispatch_state *state = slot;
    dt__log_calls(ctx, state);
    drop_all(ctx, state);
    dt__stencils_free(ctx, state);
    dt__free(ctx, state->key_words, state->key_capacity * sizeof *state->key_words);
    dt__free(ctx, state->class_words, state->class_capacity * sizeof *state->class_words);
    dt__policies_free(ctx, state);
    dt__monitor_free(ctx, state->monitor);
    dt__dry_context_free(ctx, state->dry);
    dt__free(ctx, state, sizeof *state);
}

/* A trace that is still running is completed. */
static void finish(dt_ctx *ctx) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    if (state->monitor)
        dt__report_end(ctx, state->monitor);
    (void)dt_trace_end(ctx);
}

dt__dispatch_state *dt__dispatch_state_of(dt_ctx *ctx) {
    if (ctx->slots[DT__SLOT_DISPATCH].state)
        return ctx->slots[DT__SLOT_DISPATCH].state;
    dt__dispatch_state *state = dt__alloc_zeroed(ctx, sizeof *state);
    if (!state)
        return (void)dt__fail_memory(ctx, sizeof *state, "the cache of decisions"), NULL;
    state->stats.max_entries = DT__N_SETS * DT__WAYS;
    ctx->slots[DT__SLOT_DISPATCH].state = state;
    ctx->slots[DT__SLOT_DISPATCH].free_state = free_state;
    ctx->slots[DT__SLOT_DISPATCH].finish = finish;
    if (!ctx->is_dry) {
        dt__trace_from_environment(ctx);
        dt__report_from_environment(ctx);
    }
    return state;
}

/* A free way of the set, or that of its least recently used decision. */
static dt__decision **place_for(dt__dispatch_state *state, uint64_t hash) {
    dt__decision **set = state->cache[hash % DT__N_SETS], **oldest = &set[0];
    for (int w = 0; w < DT__WAYS && *oldest; w++)
        if (!set[w] || set[w]->last_use < (*oldest)->last_use)
            oldest = &set[w];
    return oldest;
}

void dt__decision_cache_add(dt_ctx *ctx, dt__dispatch_state *state, dt__decision *decision) {
    dt__decision **place = place_for(state, decision->hash);
    state->stats.n_evicted += *place != NULL;
    drop(ctx, state, place);
    decision->cached = true;
    *place = decision;
    state->stats.n_entries++;
}

void dt_cache_stats_sized(const dt_ctx *ctx, dt_cache_statistics *out, size_t out_size) {
    dt_cache_statistics stats = {.max_entries = DT__N_SETS * DT__WAYS};
    const dt__dispatch_state *state = ctx ? ctx->slots[DT__SLOT_DISPATCH].state : NULL;
    if (state)
        stats = state->stats;
    stats.n_capped = ctx ? ctx->n_capped : 0;
    dt__fill_sized(&stats, sizeof stats, out, out_size);
}

void dt_cache_clear(dt_ctx *ctx) {
    if (!ctx || !ctx->slots[DT__SLOT_DISPATCH].state)
        return;
    drop_all(ctx, ctx->slots[DT__SLOT_DISPATCH].state);
    dt__stencils_free(ctx, ctx->slots[DT__SLOT_DISPATCH].state);
}
