/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators: a seed, a number of draws and a reference count. A context lists its generators, so that closing it frees
 * those that were not released. The kernel table is selected once per context, with its first generator.
 */
#include "base/hash.h"
#include "base/lifetime.h"
#include "random/random.h"
#include "tensor/tensor.h"

#include <string.h>

#define DRAW_LIMIT (1ull << 48)

struct dt_generator {
    dt__lifetime life;
    dt_ctx *ctx;
    int64_t n_refs;
    dt_generator_state state;
    dt_generator *older, *newer;
};

typedef struct random_state {
    dt_generator *newest;
    dt__freed_queue freed;
    dt_generator *default_generator; /* of the context */
    const dt__kernels *kernels;
} random_state;

static void free_state(dt_ctx *ctx, void *slot) {
    random_state *state = slot;
    while (state->newest) {
        state->newest->n_refs = 1;
        dt_generator_release(state->newest);
    }
    dt__freed_free(&state->freed, ctx, sizeof(dt_generator));
    dt__free(ctx, state, sizeof *state);
}

static random_state *state_of(dt_ctx *ctx) {
    random_state *state = ctx->slots[DT__SLOT_RANDOM].state;
    if (state)
        return state;
    state = dt__alloc_zeroed(ctx, sizeof *state);
    if (!state) {
        dt__fail_memory(ctx, sizeof *state, "the context's generators");
        return NULL;
    }
    state->kernels = dt__kernels_best();
    ctx->slots[DT__SLOT_RANDOM].state = state;
    ctx->slots[DT__SLOT_RANDOM].free_state = free_state;
    return state;
}

dt_generator *dt_generator_new_site(dt_ctx *ctx, uint64_t seed, const dt_site *site) {
    DT__ENTER(ctx, "generator_new", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    random_state *state = ctx ? state_of(ctx) : NULL;
    if (!state)
        return NULL;
    dt_generator *generator = dt__alloc_zeroed(ctx, sizeof *generator);
    if (!generator) {
        dt__fail_memory(ctx, sizeof *generator, "a generator");
        return NULL;
    }
    dt__life_begin(&generator->life, ctx);
    generator->ctx = ctx;
    generator->n_refs = 1;
    generator->state.seed = seed;
    generator->older = state->newest;
    if (state->newest)
        state->newest->newer = generator;
    state->newest = generator;
    return generator;
}

dt_generator *dt_generator_default_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "generator_default", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    random_state *state = ctx ? state_of(ctx) : NULL;
    if (state && !state->default_generator)
        state->default_generator = dt_generator_new(ctx, 0);
    return state ? state->default_generator : NULL;
}

dt_generator *dt_generator_child_site(const dt_generator *parent, const char *name, const dt_site *site) {
    DT__ENTER(parent ? parent->ctx : NULL, "generator_child", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    parent = DT__LIVE(DT__KIND_GENERATOR, parent);
    if (!parent)
        return NULL;
    if (!name || !*name) {
        dt__fail(parent->ctx, DT_ERR_VALUE, "expected a name, got an empty one");
        return NULL;
    }
    return dt_generator_new(parent->ctx, dt__hash(name, strlen(name), dt__hash_u64(parent->state.seed, 1)));
}

dt_ctx *dt_generator_ctx(const dt_generator *generator) { return generator ? generator->ctx : NULL; }

dt_generator *dt_generator_retain(dt_generator *generator) {
    generator = DT__LIVE(DT__KIND_GENERATOR, generator);
    if (generator)
        generator->n_refs++;
    return generator;
}

void dt_generator_release_site(dt_generator *generator, const dt_site *site) {
    DT__ENTER(generator ? generator->ctx : NULL, "generator_release", site);
    generator = DT__LIVE(DT__KIND_GENERATOR, generator);
    if (!generator || --generator->n_refs > 0)
        return;
    random_state *state = generator->ctx->slots[DT__SLOT_RANDOM].state;
    if (state->default_generator == generator)
        state->default_generator = NULL;
    if (generator->older)
        generator->older->newer = generator->newer;
    if (generator->newer)
        generator->newer->older = generator->older;
    else
        state->newest = generator->older;
    DT__LIFE_END(&state->freed, generator);
    dt__freed_trim(&state->freed, generator->ctx, sizeof *generator);
}

dt_status dt_generator_seed(dt_generator *generator, uint64_t seed) {
    DT__ENTER(generator ? generator->ctx : NULL, "generator_seed", NULL);
    DT__TRY(DT__REFUSAL());
    return dt_generator_restore(generator, (dt_generator_state){.seed = seed});
}

dt_generator_state dt_generator_save(const dt_generator *generator) {
    generator = DT__LIVE(DT__KIND_GENERATOR, generator);
    return generator ? generator->state : (dt_generator_state){0};
}

dt_status dt_generator_restore_site(dt_generator *generator, dt_generator_state state, const dt_site *site) {
    DT__ENTER(generator ? generator->ctx : NULL, "generator_restore", site);
    DT__TRY(DT__REFUSAL());
    generator = DT__LIVE(DT__KIND_GENERATOR, generator);
    if (!generator)
        return DT_ERR_VALUE;
    if (state.draw >= DRAW_LIMIT)
        return dt__fail(generator->ctx, DT_ERR_VALUE, "expected a draw number below 2^48, got %llu",
                        (unsigned long long)state.draw);
    generator->state = state;
    return DT_OK;
}

uint64_t dt_generator_tag(const dt_generator *generator) {
    generator = DT__LIVE(DT__KIND_GENERATOR, generator);
    dt_generator_state state = dt_generator_save(generator);
    return dt__hash_u64(state.draw, dt__hash_u64(state.seed, 2));
}

void dt__draw_log_free(dt_ctx *ctx, dt__draw_log *log) {
    dt__owned_free(ctx, log->keys);
    *log = (dt__draw_log){0};
}

static dt_status log_draw(dt_ctx *ctx, dt__draw_log *log, dt__philox_key key) {
    if (log->n == log->capacity) {
        int capacity = 2 * log->capacity + 8;
        dt__philox_key *keys = dt__owned_new(ctx, (size_t)capacity * sizeof key, "draws");
        if (!keys)
            return dt_error_status(ctx);
        if (log->n)
            memcpy(keys, log->keys, (size_t)log->n * sizeof key);
        dt__owned_free(ctx, log->keys);
        log->keys = keys;
        log->capacity = capacity;
    }
    log->keys[log->n++] = key;
    return DT_OK;
}

static dt_status repeat_draw(dt_ctx *ctx, dt__draw_log *log, dt__philox_key *out) {
    if (log->at == log->n)
        return dt__fail(ctx, DT_ERR_STATE,
                        "random: a function that runs again draws more often than before: expected %d", log->n);
    *out = log->keys[log->at++];
    return DT_OK;
}

dt_status dt__generator_next(dt_generator *generator, dt__philox_key *out) {
    dt_ctx *ctx = generator->ctx;
    if (ctx->draw_log && ctx->draw_log->repeats)
        return repeat_draw(ctx, ctx->draw_log, out);
    if (generator->state.draw + 1 >= DRAW_LIMIT)
        return dt__fail(generator->ctx, DT_ERR_STATE,
                        "random: the generator has made all of its 2^48 draws; seed it again");
    *out = (dt__philox_key){generator->state.seed, generator->state.draw};
    for (dt__draw_log *log = ctx->draw_log; log; log = log->outer)
        DT__TRY(log_draw(ctx, log, *out));
    generator->state.draw++;
    return DT_OK;
}

dt_ctx *dt__generator_ctx(const dt_generator *generator) { return generator->ctx; }

const dt__kernels *dt__generator_kernels(const dt_generator *generator) {
    return ((random_state *)generator->ctx->slots[DT__SLOT_RANDOM].state)->kernels;
}
