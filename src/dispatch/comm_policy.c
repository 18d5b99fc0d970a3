/* SPDX-License-Identifier: Apache-2.0
 *
 * Communication policies per scope, and implicit replication of plain tensors.
 */
#include "base/text.h"
#include "dispatch/dispatch_state.h"
#include "move/move.h"
#include "tensor/tensor.h"

#include <inttypes.h>

/* A policy set in a scope; removed when the scope has ended. */
struct dt__policy {
    dt__scope_id scope;
    dt_policy policy;
};

void dt__policies_free(dt_ctx *ctx, dt__dispatch_state *state) {
    dt__free(ctx, state->policies, (size_t)state->policy_capacity * sizeof *state->policies);
}

/* Removes the policies whose scopes have ended. */
static void remove_ended(dt_ctx *ctx, dt__dispatch_state *state) {
    while (state->n_policies > 0 && !dt__scope_is_open(ctx, state->policies[state->n_policies - 1].scope))
        state->n_policies--;
}

dt_status dt_comm_policy_site(dt_ctx *ctx, dt_policy policy, const dt_site *site) {
    DT__ENTER(ctx, "comm_policy", site);
    dt__dispatch_state *state = ctx ? dt__dispatch_state_of(ctx) : NULL;
    if (!state || !dt__tensor_state_of(ctx))
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    if (policy < 0 || policy >= DT_N_POLICIES)
        return dt__fail(ctx, DT_ERR_VALUE, "expected a policy, got %d", (int)policy);
    remove_ended(ctx, state);
    dt__scope_id scope = dt__scope_current(ctx);
    if (state->n_policies > 0 && state->policies[state->n_policies - 1].scope.depth == scope.depth) {
        state->policies[state->n_policies - 1].policy = policy;
        return DT_OK;
    }
    if (state->n_policies == state->policy_capacity) {
        int capacity = state->policy_capacity ? state->policy_capacity * 2 : 8;
        struct dt__policy *policies =
            dt__resize(ctx, state->policies, (size_t)state->policy_capacity * sizeof *policies,
                       (size_t)capacity * sizeof *policies);
        if (!policies)
            return dt__fail_memory(ctx, (size_t)capacity * sizeof *policies, "communication policies");
        state->policies = policies;
        state->policy_capacity = capacity;
    }
    state->policies[state->n_policies++] = (struct dt__policy){scope, policy};
    return DT_OK;
}

/* "matmul: moves argument 1, f32[8,4] S(0) on mesh(2), to R" */
static void describe_moves(const dt__call *call, const dt__decision *decision, dt__text *out) {
    dt__text_add(out, "%s", call->info->schema.name);
    const char *before = ": moves ";
    for (int i = 0; i < decision->n_inputs; i++) {
        char from[512], to[256];
        const dt_spec *target = decision->inputs[i].to;
        if (!target)
            continue;
        (void)dt_spec_text(decision->inputs[i].from, sizeof from, from);
        (void)dt_placements_text(target->sharding.n_mesh_dims, target->sharding.placements, sizeof to, to);
        dt__text_add(out, "%sargument %d, %s, to %s", before, i + 1, from, to);
        before = " and ";
    }
    const dt__way *way = decision->meeting ? &decision->meeting->way : NULL;
    if (way && way->group > 1)
        dt__text_add(out, "%s%s the states of %" PRId64 " ranks, because a dim that it %s is sharded",
                     *before == ':' ? ": " : " and ", way->flags & DT_ROW_MEET ? "merges" : "scans", way->group,
                     way->flags & DT_ROW_MEET ? "reduces" : "runs along");
    way = decision->windowed ? dt__windowed_way(decision->windowed) : NULL;
    if (way && way->bytes > 0)
        dt__text_add(
            out, "%sfetches windows from its %" PRId64 " ranks, because a dim along which elements move is sharded",
            *before == ':' ? ": " : " and ", way->group);
}

/* The policy in force. */
static dt_policy current_policy(dt_ctx *ctx, dt__dispatch_state *state) {
    if (!state || state->n_policies == 0 || state->n_allowed > 0)
        return DT_COMM_ALLOW;
    remove_ended(ctx, state);
    return state->n_policies ? state->policies[state->n_policies - 1].policy : DT_COMM_ALLOW;
}

bool dt__policy_allows(dt_ctx *ctx) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    return state && state->n_policies > 0 && current_policy(ctx, state) == DT_COMM_ALLOW && state->n_policies > 0;
}

void dt__policy_allow(dt_ctx *ctx, int change) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    if (state)
        state->n_allowed += change;
}

/* Warns of a transfer or refuses it. */
static dt_status apply_policy(dt_ctx *ctx, dt_policy policy, const dt__decision *decision, const char *text) {
    if (policy != DT_COMM_WARN)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "%s, which the communication policy forbids; redistribute it first",
                        text);
    dt__log_warning(ctx, decision, text);
    return DT_OK;
}

/* Whether the call sends only a state whose size does not depend on that of its tensors. */
static bool sends_numbers_only(const dt__decision *decision) {
    for (int i = 0; i < decision->n_inputs; i++)
        if (decision->inputs[i].to && dt__step_counts_communicate(decision->inputs[i].counts))
            return false;
    return decision->meeting && decision->meeting->way.is_fixed;
}

/* The line of an op in a dry run: what it moves, and by which collectives. */
static void add_dry_moves(const dt__call *call, const dt__decision *decision, dt__text *out) {
    static const dt__way none;
    const dt__way *way = decision->windowed  ? dt__windowed_way(decision->windowed)
                         : decision->meeting ? &decision->meeting->way
                                             : &none;
    dt__input_moves all = {.way = way};
    for (int i = 0; i < decision->n_inputs; i++)
        for (int kind = 0; decision->inputs[i].to && kind < DT__N_STEP_KINDS; kind++)
            all.counts.of[kind] += decision->inputs[i].counts->of[kind];
    all.counts.of[way->kind] += way->bytes > 0;
    dt__text_add(out, "  ");
    describe_moves(call, decision, out);
    dt__text_add(out, ": ");
    if (!dt__input_moves_text(&all, out))
        dt__text_add(out, "nothing is sent");
    dt__text_add(out, "\n");
}

dt_status dt__policy_check(dt_ctx *ctx, const dt__call *call, const dt__decision *decision) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    if (ctx->is_dry) {
        dt__dry_add_way(state, decision);
        if (dt__dry_moves(state))
            add_dry_moves(call, decision, dt__dry_moves(state));
    }
    dt_policy policy = current_policy(ctx, state);
    if (policy == DT_COMM_ALLOW || sends_numbers_only(decision))
        return DT_OK;
    dt__text text = dt__text_new(ctx);
    describe_moves(call, decision, &text);
    dt_status status = apply_policy(ctx, policy, decision, dt__text_chars(&text));
    dt__text_free(&text);
    return status;
}

dt_status dt__policy_check_read(dt_ctx *ctx, const dt__call *call, dt_spec *from, dt_spec *to) {
    dt_policy policy = current_policy(ctx, ctx->slots[DT__SLOT_DISPATCH].state);
    dt__step_counts counts;
    char source[512];
    if (policy == DT_COMM_ALLOW)
        return DT_OK;
    DT__TRY(dt__redistribute_count(from, to, &counts));
    if (!dt__step_counts_communicate(&counts))
        return DT_OK;
    dt__text text = dt__text_new(ctx);
    (void)dt_spec_text(from, sizeof source, source);
    dt__text_add(&text, "%s: reads %s from %s", call->info->schema.name, call->info->op->read->argument, source);
    dt_status status = apply_policy(ctx, policy, NULL, dt__text_chars(&text));
    dt__text_free(&text);
    return status;
}

void dt_implicit_replication_begin_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "implicit_replication_begin", site);
    dt__dispatch_state *state = ctx ? dt__dispatch_state_of(ctx) : NULL;
    if (state)
        state->implicit_replication++;
}

void dt_implicit_replication_end(dt_ctx *ctx) {
    dt__dispatch_state *state = ctx ? dt__dispatch_state_of(ctx) : NULL;
    if (state && state->implicit_replication > 0)
        state->implicit_replication--;
}
