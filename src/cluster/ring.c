/* SPDX-License-Identifier: Apache-2.0
 *
 * Ring: in each step every rank of the team sends one piece to the next rank and receives one from the rank before it.
 * It takes as many steps as there are other ranks, but needs scratch memory for two pieces only, where a pairwise
 * exchange needs it for all that a rank receives. A piece is reduced on its way around the ring, starting at the rank
 * after its final one: the order is always the same, and all ranks get the same result. With n ranks, s bytes (of the
 * value, or of all blocks of one rank) and the terms of algorithm_choice.h:
 *
 *     reduce_scatter  n-1 steps; block t starts at rank t + 1 and ends at t    (n-1) (a + o + s/n b) + s/n g
 *     all_reduce      reduce_scatter of slices of the value, then n-1 steps in which the reduced slices travel
 *                                                                              2 (n-1) (a + o + s/n b) + s/n g
 *     broadcast       the root sends each rank a slice of the value, then n-1 steps in which the slices travel
 *                                                                   a + (n-1) o + (n-1) (a + o) + 2 (n-1) s/n b
 */
#include "cluster/team.h"

#include "base/size.h"

double dt__ring_reduce_scatter_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    double piece = bytes / (double)n;
    return (double)(n - 1) * (terms->a + terms->o + piece * terms->b) + piece * terms->g;
}

double dt__ring_all_reduce_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    double piece = bytes / (double)n;
    return 2 * (double)(n - 1) * (terms->a + terms->o + piece * terms->b) + piece * terms->g;
}

double dt__ring_broadcast_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    double piece = bytes / (double)n, others = (double)(n - 1);
    return terms->a + others * terms->o + others * (terms->a + terms->o) + 2 * others * piece * terms->b;
}

static int64_t next_of(const dt__team *team) { return dt__team_member(team, (team->me + 1) % team->n); }
static int64_t previous_of(const dt__team *team) { return dt__team_member(team, (team->me + team->n - 1) % team->n); }
/* The piece `back` places before this rank's. */
static int64_t piece_before(const dt__team *team, int64_t back) { return (team->me + 2 * team->n - back) % team->n; }

static void get_slices(const dt_work *work, const dt__team *team, dt__team_piece value, dt__team_piece *out) {
    for (int64_t t = 0; t < team->n; t++) {
        struct dt__slice slice = dt__slice_of(value.n, team->n, t, work->item_bytes);
        out[t] = (dt__team_piece){value.at + dt__span_bytes(work, slice.first), slice.n};
    }
}

/* Reduces the received piece with this rank's own, the received one first, and sends it on in the next step. The last
 * piece, this rank's, is reduced into the value. */
void dt__ring_reduce_scatter(dt_work *work, const dt__team *team, const dt__team_data *data) {
    int64_t max = 0, last = team->n - 2;
    for (int64_t t = 0; t < team->n; t++)
        max = dt__max_i64(max, data->pieces[t].n);
    size_t bytes = dt__span_bytes(work, max);
    unsigned char *buffers = dt__span_scratch(work, 2 * bytes);
    const unsigned char *sent = data->pieces[piece_before(team, 1)].at;
    for (int64_t step = 0; step <= last; step++) {
        dt__team_piece piece = data->pieces[piece_before(team, step + 2)];
        unsigned char *received = buffers + (step % 2 ? bytes : 0);
        const void *sources[] = {received, piece.at};
        dt__span_add_stage(work);
        dt__span_send(work, next_of(team), sent, dt__span_bytes(work, data->pieces[piece_before(team, step + 1)].n));
        dt__span_receive(work, previous_of(team), received, dt__span_bytes(work, piece.n));
        dt__span_reduce(work, step == last ? data->value.at : received, sources, 2, piece.n,
                        step == last ? work->call.reduce : dt__partial_reduce(work));
        sent = received;
    }
}

/* Pieces travel round; the one of this rank is complete. */
static void all_gather(dt_work *work, const dt__team *team, const dt__team_piece *pieces) {
    for (int64_t step = 0; step < team->n - 1; step++) {
        dt__team_piece sent = pieces[piece_before(team, step)], received = pieces[piece_before(team, step + 1)];
        dt__span_add_stage(work);
        dt__span_send(work, next_of(team), sent.at, dt__span_bytes(work, sent.n));
        dt__span_receive(work, previous_of(team), received.at, dt__span_bytes(work, received.n));
    }
}

void dt__ring_all_reduce(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__team_piece slices[DT__MAX_RANKS];
    get_slices(work, team, data->value, slices);
    dt__ring_reduce_scatter(work, team, &(dt__team_data){.value = slices[team->me], .pieces = slices});
    all_gather(work, team, slices);
}

void dt__ring_broadcast(dt_work *work, const dt__team *team, const dt__team_data *data) {
    dt__team_piece slices[DT__MAX_RANKS];
    get_slices(work, team, data->value, slices);
    dt__pairwise_scatter(work, team,
                         &(dt__team_data){.value = slices[team->me], .pieces = slices, .root = data->root});
    all_gather(work, team, slices);
}
