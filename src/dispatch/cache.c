/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of decisions: bounded, counted, and holding references to the specs that its keys name.
 */
#include "dispatch/state.h"

#include <string.h>

static void drop(dt_ctx *ctx, dt__dispatch_state *state, dt__decision **place) {
    if (!*place)
        return;
    dt__decision_free(ctx, *place);
    *place = NULL;
    state->stats.n_entries--;
}

static void drop_all(dt_ctx *ctx, dt__dispatch_state *state) {
    for (int s = 0; s < DT__N_SETS; s++)
        for (int w = 0; w < DT__WAYS; w++)
            drop(ctx, state, &state->cache[s][w]);
    dt__decision_free(ctx, state->uncached);
    state->uncached = NULL;
}

static void free_state(dt_ctx *ctx, void *slot) {
    dt__dispatch_state *state = slot;
    drop_all(ctx, state);
    dt__policies_free(ctx, state);
    dt__free(ctx, state, sizeof *state);
}

dt__dispatch_state *dt__dispatch_state_of(dt_ctx *ctx) {
    if (ctx->slots[DT__SLOT_DISPATCH].state)
        return ctx->slots[DT__SLOT_DISPATCH].state;
    dt__dispatch_state *state = dt__alloc_zeroed(ctx, sizeof *state);
    if (!state)
        return (void)dt__fail_memory(ctx, sizeof *state, "the cache of decisions"), NULL;
    state->stats.most_entries = DT__N_SETS * DT__WAYS;
    ctx->slots[DT__SLOT_DISPATCH].state = state;
    ctx->slots[DT__SLOT_DISPATCH].free_state = free_state;
    return state;
}

static dt__decision *find(dt__dispatch_state *state, const dt__key *key) {
    dt__decision **set = state->cache[key->hash % DT__N_SETS];
    for (int w = 0; w < DT__WAYS; w++) {
        dt__decision *decision = set[w];
        if (decision && decision->hash == key->hash && decision->n_words == key->n_words &&
            memcmp(decision->words, key->words, (size_t)key->n_words * sizeof *key->words) == 0)
            return decision;
    }
    return NULL;
}

static void keep(dt_ctx *ctx, dt__dispatch_state *state, const dt__key *key, dt__decision *decision) {
    dt__decision **set = state->cache[key->hash % DT__N_SETS], **oldest = &set[0];
    for (int w = 0; w < DT__WAYS && *oldest; w++)
        if (!set[w] || set[w]->used < (*oldest)->used)
            oldest = &set[w];
    state->stats.n_evicted += *oldest != NULL;
    drop(ctx, state, oldest);
    decision->hash = key->hash;
    decision->n_words = key->n_words;
    *oldest = decision;
    state->stats.n_entries++;
}

static const dt__decision *decide_anew(dt_ctx *ctx, dt__dispatch_state *state, const dt__invocation *call,
                                       const dt__key *key) {
    state->stats.n_misses++;
    dt__decision *decision = dt__decision_new(ctx, call);
    if (!decision)
        return NULL;
    decision->words =
        key->too_long ? NULL : dt__arena_copy(&decision->arena, key->words, (size_t)key->n_words, sizeof *key->words);
    if (decision->words)
        keep(ctx, state, key, decision);
    else
        state->uncached = decision;
    return decision;
}

const dt__decision *dt__decide(dt_ctx *ctx, const dt__invocation *call) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    dt__key key;
    dt__key_of(ctx, call, &key);
    if (state->uncached) {
        dt__decision_free(ctx, state->uncached);
        state->uncached = NULL;
    }
    dt__decision *decision = key.too_long ? NULL : find(state, &key);
    if (!decision)
        return decide_anew(ctx, state, call, &key);
    state->stats.n_hits++;
    decision->used = ++state->tick;
    return decision;
}

dt_cache_statistics dt_cache_stats(const dt_ctx *ctx) {
    const dt__dispatch_state *state = ctx ? ctx->slots[DT__SLOT_DISPATCH].state : NULL;
    return state ? state->stats : (dt_cache_statistics){.most_entries = DT__N_SETS * DT__WAYS};
}

void dt_cache_clear(dt_ctx *ctx) {
    if (ctx && ctx->slots[DT__SLOT_DISPATCH].state)
        drop_all(ctx, ctx->slots[DT__SLOT_DISPATCH].state);
}
