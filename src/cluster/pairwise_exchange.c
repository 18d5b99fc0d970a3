/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairwise exchange: every rank of the team sends what each other rank needs directly to it. All messages of a step are
 * in transfer at once; rank i starts with rank i + 1, so that they do not all start with the same rank. Reductions are
 * over all ranks at once, in the order of the team. With n ranks, s bytes (of the value, or of all blocks of one rank)
 * and the terms of algorithm_choice.h:
 *
 *     barrier             an empty message to every rank                        a + (n-1) o
 *     broadcast           the root sends the value to every rank                a + (n-1) (o + s b)
 *     gather, scatter     every rank exchanges its block with the root          a + (n-1) o + (n-1)/n s b
 *     all_gather          every rank sends its block to every rank              a + (n-1) o + (n-1)/n s b
 *     all_to_all          every rank sends each rank its block                  a + (n-1) o + (n-1)/n s b
 *     reduce_scatter      the same, and each rank reduces what it receives      a + (n-1) o + (n-1)/n s (b + g)
 *     all_reduce          reduce_scatter of slices of the value, then all_gather of the reduced slices
 *                                                                               2 (a + (n-1) o) + (n-1)/n s (2 b + g)
 */
#include "cluster/team.h"

static double one_step(const dt__cost_terms *terms, int64_t n, double bytes) {
    return terms->a + (double)(n - 1) * (terms->o + bytes / (double)n * terms->b);
}

double dt__pairwise_barrier_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    (void)bytes;
    return one_step(terms, n, 0);
}

double dt__pairwise_broadcast_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return terms->a + (double)(n - 1) * (terms->o + bytes * terms->b);
}

double dt__pairwise_gather_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return one_step(terms, n, bytes);
}
double dt__pairwise_all_gather_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return one_step(terms, n, bytes);
}
double dt__pairwise_all_to_all_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return one_step(terms, n, bytes);
}

double dt__pairwise_reduce_scatter_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return one_step(terms, n, bytes) + (double)(n - 1) / (double)n * bytes * terms->g;
}

double dt__pairwise_all_reduce_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return dt__pairwise_reduce_scatter_us(terms, n, bytes) + one_step(terms, n, bytes);
}

static void send_to(dt_work *work, const dt__team *team, int64_t t, dt__team_piece piece) {
    dt__span_send(work, dt__team_member(team, t), piece.at, dt__span_bytes(work, piece.n));
}
static void receive_from(dt_work *work, const dt__team *team, int64_t t, dt__team_piece piece) {
    dt__span_receive(work, dt__team_member(team, t), piece.at, dt__span_bytes(work, piece.n));
}

static bool takes_part(const dt__team_data *data, int64_t t) { return !data->left_out || !data->left_out[t]; }

void dt__pairwise_barrier(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__span_add_stage(work);
    for (int64_t k = 1; k < team->n; k++) {
        int64_t to = (team->me + k) % team->n, from = (team->me + team->n - k) % team->n;
        if (takes_part(data, to))
            send_to(work, team, to, (dt__team_piece){0});
        if (takes_part(data, from))
            receive_from(work, team, from, (dt__team_piece){0});
    }
}

void dt__pairwise_broadcast(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__span_add_stage(work);
    if (team->me != data->root)
        receive_from(work, team, data->root, data->value);
    for (int64_t k = 1; team->me == data->root && k < team->n; k++)
        send_to(work, team, (team->me + k) % team->n, data->value);
}

void dt__pairwise_gather(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__span_add_stage(work);
    if (team->me != data->root) {
        send_to(work, team, data->root, data->value);
        return;
    }
    for (int64_t t = 0; t < team->n; t++)
        if (t != team->me)
            receive_from(work, team, t, data->pieces[t]);
    dt__span_copy(work, data->pieces[team->me].at, data->value.at, dt__span_bytes(work, data->value.n));
}

void dt__pairwise_scatter(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__span_add_stage(work);
    if (team->me != data->root) {
        receive_from(work, team, data->root, data->value);
        return;
    }
    for (int64_t t = 0; t < team->n; t++)
        if (t != team->me)
            send_to(work, team, t, data->pieces[t]);
    dt__span_copy(work, data->value.at, data->pieces[team->me].at, dt__span_bytes(work, data->value.n));
}

void dt__pairwise_all_gather(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__span_add_stage(work);
    for (int64_t k = 1; k < team->n; k++) {
        int64_t to = (team->me + k) % team->n, from = (team->me + team->n - k) % team->n;
        send_to(work, team, to, data->pieces[team->me]);
        receive_from(work, team, from, data->pieces[from]);
    }
}

void dt__pairwise_all_to_all(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__span_add_stage(work);
    for (int64_t k = 1; k < team->n; k++) {
        int64_t to = (team->me + k) % team->n, from = (team->me + team->n - k) % team->n;
        if (takes_part(data, to))
            send_to(work, team, to, data->pieces[to]);
        if (takes_part(data, from))
            receive_from(work, team, from, data->received[from]);
    }
    if (takes_part(data, team->me))
        dt__span_copy(work, data->received[team->me].at, data->pieces[team->me].at,
                      dt__span_bytes(work, data->pieces[team->me].n));
}

void dt__pairwise_reduce_scatter(dt_work *work, const dt__team *team, const dt__team_data *data) {
    const void *sources[DT__MAX_RANKS];
    int64_t n = data->pieces[team->me].n;
    unsigned char *received = dt__span_scratch(work, dt__span_bytes(work, n) * (size_t)(team->n - 1));
    dt__span_add_stage(work);
    for (int64_t t = 0; t < team->n; t++) {
        if (t == team->me)
            sources[t] = data->pieces[t].at;
        else
            sources[t] = received + dt__span_bytes(work, n) * (size_t)(t - (t > team->me));
    }
    for (int64_t k = 1; k < team->n; k++) {
        int64_t to = (team->me + k) % team->n, from = (team->me + team->n - k) % team->n;
        send_to(work, team, to, data->pieces[to]);
        dt__span_receive(work, dt__team_member(team, from), (void *)(uintptr_t)sources[from],
                         dt__span_bytes(work, n));
    }
    dt__span_reduce(work, data->value.at, sources, team->n, n, work->call.reduce);
}

/* The pieces are slices of the value. */
void dt__pairwise_all_reduce(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__team_piece slices[DT__MAX_RANKS];
    for (int64_t t = 0; t < team->n; t++) {
        struct dt__slice slice = dt__slice_of(data->value.n, team->n, t, work->item_bytes);
        slices[t] = (dt__team_piece){data->value.at + dt__span_bytes(work, slice.first), slice.n};
    }
    dt__team_data sliced = {.value = slices[team->me], .pieces = slices};
    dt__pairwise_reduce_scatter(work, team, &sliced);
    dt__pairwise_all_gather(work, team, &sliced);
}
