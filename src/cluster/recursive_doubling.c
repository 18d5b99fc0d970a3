/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursive doubling: the data of a rank of the team doubles in each step, so that the number of steps grows with the
 * logarithm of the team. With n ranks, L = ceil(log2 n), s bytes (of the value, or of all blocks of one rank) and the
 * terms of algorithm_choice.h:
 *
 *     barrier     in step k, rank i sends to i + 2^k and receives from i - 2^k           L (a + o)
 *     all_gather  in step k, rank i sends the blocks i, i + 1, … that it has, up to 2^k of them, to i - 2^k; they are
 *                 kept in this order, beginning with its own, and copied to their places at the end
 *                                                                            L (a + o) + (n-1)/n s b + 2 s g
 *     all_reduce  in step k, ranks whose numbers differ in bit k exchange the values of their 2^k ranks and both
 *                 reduce them, the lower ranks' first: all get the same bits             L (a + o + s (b + g))
 *                 If n is no power of two, 2^K < n: the odd ones among the first 2 (n - 2^K) ranks pass their
 *                 value to the rank before them, and get the result at the end:    (K + 2) (a + o + s b) + (K + 1) s g
 */
#include "cluster/team.h"

#include "base/size.h"

int dt__ceil_log2(int64_t n) {
    int log = 0;
    while (log < 62 && INT64_C(1) << log < n)
        log++;
    return log;
}

static int floor_log2(int64_t n) { return dt__ceil_log2(n + 1) - 1; }

double dt__doubling_barrier_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    (void)bytes;
    return dt__ceil_log2(n) * (terms->a + terms->o);
}

double dt__doubling_all_gather_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return dt__ceil_log2(n) * (terms->a + terms->o) + (double)(n - 1) / (double)n * bytes * terms->b +
           2 * bytes * terms->g;
}

double dt__doubling_all_reduce_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    int steps = floor_log2(n), pairs = INT64_C(1) << steps == n ? 0 : 1;
    return (steps + 2 * pairs) * (terms->a + terms->o + bytes * terms->b) + (steps + pairs) * bytes * terms->g;
}

void dt__doubling_barrier(dt_work *work, const dt__team *team, const dt__team_data *data) {
    (void)data;
    for (int64_t distance = 1; distance < team->n; distance *= 2) {
        dt__span_add_stage(work);
        dt__span_send(work, dt__team_member(team, (team->me + distance) % team->n), NULL, 0);
        dt__span_receive(work, dt__team_member(team, (team->me + team->n - distance) % team->n), NULL, 0);
    }
}

/* Elements of n pieces from piece `first` on, round the team. */
static int64_t count_pieces(const dt__team *team, const dt__team_piece *pieces, int64_t first, int64_t n) {
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++)
        count += pieces[(first + k) % team->n].n;
    return count;
}

void dt__doubling_all_gather(dt_work *work, const dt__team *team, const dt__team_data *data) {
    const dt__team_piece *pieces = data->pieces;
    int64_t me = team->me, n = team->n;
    unsigned char *all = dt__span_scratch(work, dt__span_bytes(work, count_pieces(team, pieces, me, n)));
    dt__span_copy(work, all, pieces[me].at, dt__span_bytes(work, pieces[me].n));
    for (int64_t distance = 1; distance < n; distance *= 2) {
        int64_t sent = dt__min_i64(distance, n - distance), from = (me + distance) % n;
        unsigned char *end = all + dt__span_bytes(work, count_pieces(team, pieces, me, distance));
        dt__span_add_stage(work);
        dt__span_send(work, dt__team_member(team, (me + n - distance) % n), all,
                      dt__span_bytes(work, count_pieces(team, pieces, me, sent)));
        dt__span_receive(work, dt__team_member(team, from), end,
                         dt__span_bytes(work, count_pieces(team, pieces, from, sent)));
    }
    for (int64_t k = 0; k < n; k++) {
        dt__team_piece piece = pieces[(me + k) % n];
        if (k)
            dt__span_copy(work, piece.at, all, dt__span_bytes(work, piece.n));
        all += dt__span_bytes(work, piece.n);
    }
}

/* Reduces the value with the received value of other ranks. */
static void combine(dt_work *work, dt__team_piece value, const void *received, bool received_first,
                    dt_reduce reduce) {
    const void *sources[] = {received_first ? received : value.at, received_first ? value.at : received};
    dt__span_reduce(work, value.at, sources, 2, value.n, reduce);
}

/* Pairs of the first 2 n_pairs ranks count as one. */
struct pairing {
    int64_t n_pairs;
};
static int64_t number_of(struct pairing self, int64_t t) { return t < 2 * self.n_pairs ? t / 2 : t - self.n_pairs; }
static int64_t rank_of(struct pairing self, int64_t number) {
    return number < self.n_pairs ? 2 * number : number + self.n_pairs;
}

void dt__doubling_all_reduce(dt_work *work, const dt__team *team, const dt__team_data *data) {
    int64_t me = team->me, power = INT64_C(1) << floor_log2(team->n);
    struct pairing pairs = {team->n - power};
    dt__team_piece value = data->value;
    size_t bytes = dt__span_bytes(work, value.n);
    unsigned char *received = dt__span_scratch(work, bytes);
    bool is_paired = me < 2 * pairs.n_pairs, takes_part = !is_paired || me % 2 == 0;
    if (pairs.n_pairs) {
        dt__span_add_stage(work);
        if (is_paired && takes_part) {
            dt__span_receive(work, dt__team_member(team, me + 1), received, bytes);
            combine(work, value, received, false, dt__partial_reduce(work));
        } else if (is_paired) {
            dt__span_send(work, dt__team_member(team, me - 1), value.at, bytes);
        }
    }
    for (int64_t bit = 1; bit < power; bit *= 2) {
        int64_t partner = rank_of(pairs, number_of(pairs, me) ^ bit);
        dt__span_add_stage(work);
        if (!takes_part)
            continue;
        dt__span_send(work, dt__team_member(team, partner), value.at, bytes);
        dt__span_receive(work, dt__team_member(team, partner), received, bytes);
        combine(work, value, received, partner < me, bit * 2 == power ? work->call.reduce : dt__partial_reduce(work));
    }
    if (pairs.n_pairs) {
        dt__span_add_stage(work);
        if (is_paired && takes_part)
            dt__span_send(work, dt__team_member(team, me + 1), value.at, bytes);
        else if (is_paired)
            dt__span_receive(work, dt__team_member(team, me - 1), value.at, bytes);
    }
}
