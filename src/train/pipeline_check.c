/* SPDX-License-Identifier: Apache-2.0
 *
 * Proves that a table can run: its actions are complete and in order, both ranks of a link agree on its order, and no
 * ranks wait for each other in a circle, which the simulation would find. A link is the boundary between two stages of
 * different ranks, in one direction.
 */
#include "train/pipeline_table.h"

#include <string.h>

/* Where an action is in its row; 0: nowhere, otherwise its position plus 1. */
typedef struct placed_actions {
    int64_t *forward, *backward, *weight; /* per stage and micro-batch */
} placed_actions;

static int64_t at(const dt__pipeline *self, int64_t stage, int64_t micro) { return stage * self->n_micro + micro; }

static dt_status check_sizes(dt_ctx *ctx, const dt__pipeline *self) {
    if (self->n_ranks == 0)
        return dt__fail(ctx, DT_ERR_VALUE, "the table has no actions: expected a line such as 0F0,0B0 for each rank");
    if (self->n_micro > DT__MAX_PIPELINE_ACTIONS / self->n_stages)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "the table is too large: expected at most %d pairs of stage and micro-batch, got %lld stages "
                        "and %lld micro-batches",
                        (int)DT__MAX_PIPELINE_ACTIONS, (long long)self->n_stages, (long long)self->n_micro);
    return DT_OK;
}

static dt_status place_action(dt_ctx *ctx, dt__pipeline *self, const placed_actions *placed, int64_t rank,
                              int64_t i) {
    const dt_action *action = &self->rows[rank].actions[i];
    const int64_t key = at(self, action->stage, action->micro), old_rank = self->rank_of[action->stage];
    int64_t *slot = action->kind == 'F'   ? &placed->forward[key]
                    : action->kind == 'W' ? &placed->weight[key]
                                          : &placed->backward[key];
    if (old_rank >= 0 && old_rank != rank)
        return dt__fail(ctx, DT_ERR_VALUE, "rank %lld: action %lld, %lld%c%lld: stage %lld is already on rank %lld",
                        (long long)rank, (long long)i + 1, (long long)action->stage, action->kind,
                        (long long)action->micro, (long long)action->stage, (long long)old_rank);
    if (*slot)
        return dt__fail(ctx, DT_ERR_VALUE, "rank %lld: action %lld, %lld%c%lld: it is action %lld already",
                        (long long)rank, (long long)i + 1, (long long)action->stage, action->kind,
                        (long long)action->micro, (long long)*slot);
    self->rank_of[action->stage] = rank;
    *slot = i + 1;
    return DT_OK;
}

static dt_status fail_missing(dt_ctx *ctx, const dt__pipeline *self, int64_t stage, int64_t micro, const char *kind) {
    if (self->rank_of[stage] < 0)
        return dt__fail(ctx, DT_ERR_VALUE, "stage %lld has no actions: expected stages 0 to %lld", (long long)stage,
                        (long long)self->n_stages - 1);
    return dt__fail(ctx, DT_ERR_VALUE, "rank %lld: stage %lld has no %s of micro-batch %lld",
                    (long long)self->rank_of[stage], (long long)stage, kind, (long long)micro);
}

static dt_status fail_order(dt_ctx *ctx, const dt__pipeline *self, const dt_action *late, char before) {
    return dt__fail(ctx, DT_ERR_VALUE, "rank %lld: %lld%c%lld comes before %lld%c%lld",
                    (long long)self->rank_of[late->stage], (long long)late->stage, late->kind, (long long)late->micro,
                    (long long)late->stage, before, (long long)late->micro);
}

/* F, then B; or F, I, W. */
static dt_status check_micro(dt_ctx *ctx, const dt__pipeline *self, const placed_actions *placed, int64_t stage,
                             int64_t micro) {
    const int64_t key = at(self, stage, micro);
    const int64_t forward = placed->forward[key], backward = placed->backward[key], weight = placed->weight[key];
    if (!forward)
        return fail_missing(ctx, self, stage, micro, "F");
    if (!backward)
        return fail_missing(ctx, self, stage, micro, "B or I");
    const dt_action *actions = self->rows[self->rank_of[stage]].actions, *gradient = &actions[backward - 1];
    if (backward < forward)
        return fail_order(ctx, self, gradient, 'F');
    if (gradient->kind == 'I' && !weight)
        return fail_missing(ctx, self, stage, micro, "W");
    if (gradient->kind == 'B' && weight)
        return dt__fail(ctx, DT_ERR_VALUE, "rank %lld: action %lld, %lldW%lld: B of this micro-batch includes it",
                        (long long)self->rank_of[stage], (long long)weight, (long long)stage, (long long)micro);
    return weight && weight < backward ? fail_order(ctx, self, &actions[weight - 1], 'I') : DT_OK;
}

/* The actions of one row that use one end of a link, in order. */
typedef struct link_end {
    const dt__pipeline_row *row;
    int64_t stage, i;
    bool forward;
} link_end;

static const dt_action *next_of_link(link_end *self) {
    for (; self->i < self->row->n; self->i++) {
        const dt_action *action = &self->row->actions[self->i];
        const bool uses = self->forward ? action->kind == 'F' : action->kind == 'B' || action->kind == 'I';
        if (uses && action->stage == self->stage) {
            self->i++;
            return action;
        }
    }
    return NULL;
}

static dt_status check_link(dt_ctx *ctx, const dt__pipeline *self, int64_t from, int64_t to) {
    const int64_t sender = self->rank_of[from], receiver = self->rank_of[to];
    link_end sends = {&self->rows[sender], from, 0, to > from}, receives = {&self->rows[receiver], to, 0, to > from};
    const dt_action *sent, *received;
    while (sender != receiver && (sent = next_of_link(&sends)) && (received = next_of_link(&receives)))
        if (sent->micro != received->micro)
            return dt__fail(
                ctx, DT_ERR_VALUE,
                "rank %lld: action %lld, %lld%c%lld: rank %lld, which sends to this stage, has micro-batch "
                "%lld before %lld: both ranks of a link must have them in one order",
                (long long)receiver, (long long)receives.i, (long long)received->stage, received->kind,
                (long long)received->micro, (long long)sender, (long long)sent->micro, (long long)received->micro);
    return DT_OK;
}

static void count_live(dt__pipeline_row *row) {
    int64_t n = 0;
    row->n_live = 0;
    for (int64_t i = 0; i < row->n; i++) {
        n += row->actions[i].kind == 'F';
        n -= row->actions[i].kind == 'B' || row->actions[i].kind == 'W';
        row->n_live = n > row->n_live ? n : row->n_live;
    }
}

static dt_status check_actions(dt__arena *arena, dt__pipeline *self) {
    const int64_t n = self->n_stages * self->n_micro;
    placed_actions placed = {DT__NEW_ARRAY(arena, int64_t, n), DT__NEW_ARRAY(arena, int64_t, n),
                             DT__NEW_ARRAY(arena, int64_t, n)};
    if (!placed.forward || !placed.backward || !placed.weight)
        return DT_ERR_MEMORY;
    memset(self->rank_of, -1, (size_t)self->n_stages * sizeof *self->rank_of);
    for (int64_t rank = 0; rank < self->n_ranks; rank++)
        for (int64_t i = 0; i < self->rows[rank].n; i++)
            DT__TRY(place_action(arena->ctx, self, &placed, rank, i));
    for (int64_t stage = 0; stage < self->n_stages; stage++)
        for (int64_t micro = 0; micro < self->n_micro; micro++)
            DT__TRY(check_micro(arena->ctx, self, &placed, stage, micro));
    return DT_OK;
}

dt_status dt__pipeline_check(dt__arena *arena, dt__pipeline *self) {
    DT__TRY(check_sizes(arena->ctx, self));
    self->rank_of = DT__NEW_ARRAY(arena, int64_t, self->n_stages);
    if (!self->rank_of)
        return DT_ERR_MEMORY;
    DT__TRY(check_actions(arena, self));
    for (int64_t stage = 0; stage + 1 < self->n_stages; stage++) {
        DT__TRY(check_link(arena->ctx, self, stage, stage + 1));
        DT__TRY(check_link(arena->ctx, self, stage + 1, stage));
    }
    for (int64_t rank = 0; rank < self->n_ranks; rank++)
        count_live(&self->rows[rank]);
    double makespan;
    static const dt_stage_times units = {1, 1, 1, 0};
    return dt__pipeline_simulate(arena, self, (dt__pipeline_times){&units, false}, NULL, &makespan);
}
