/* SPDX-License-Identifier: Apache-2.0
 *
 * Binomial tree: from the root, the number of ranks of the team that take part doubles in each step. Ranks are numbered
 * around the team: v = 0 is the root. With n ranks, L = ceil(log2 n), s bytes (of the value, or of all blocks together)
 * and the terms of algorithm_choice.h:
 *
 *     broadcast  in step k = 0, 1, …, each v < 2^k sends the value to v + 2^k               L (a + o + s b)
 *     scatter    in step k = L-1, …, 0, each multiple v of 2^(k+1) sends the blocks of v + 2^k and of the 2^k - 1 ranks
 *                after it to v + 2^k                                            L (a + o) + (n-1)/n s b + s g
 *     gather     the same backwards                                             L (a + o) + (n-1)/n s b + s g
 *
 * The blocks of v, v + 1, … are kept in this order, so that a message is one range of memory.
 */
#include "cluster/team.h"

#include "base/size.h"

double dt__binomial_broadcast_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return dt__ceil_log2(n) * (terms->a + terms->o + bytes * terms->b);
}

double dt__binomial_gather_us(const dt__cost_terms *terms, int64_t n, double bytes) {
    return dt__ceil_log2(n) * (terms->a + terms->o) + (double)(n - 1) / (double)n * bytes * terms->b +
           bytes * terms->g;
}

/* The number of this rank from the root, and the member of the group that has a number. */
static int64_t own_number(const dt__team *team, int64_t root) { return (team->me + team->n - root) % team->n; }
static int64_t member_at(const dt__team *team, int64_t root, int64_t v) {
    return dt__team_member(team, (root + v) % team->n);
}

void dt__binomial_broadcast(dt_work *work, const dt__team *team, const dt__team_data *data) {
    int64_t v = own_number(team, data->root);
    size_t bytes = dt__span_bytes(work, data->value.n);
    for (int64_t distance = 1; distance < team->n; distance *= 2) {
        dt__span_add_stage(work);
        if (v < distance && v + distance < team->n)
            dt__span_send(work, member_at(team, data->root, v + distance), data->value.at, bytes);
        else if (v >= distance && v < 2 * distance)
            dt__span_receive(work, member_at(team, data->root, v - distance), data->value.at, bytes);
    }
}

/* Bytes of the blocks of the numbers from `first` to `last`, which is not included. */
static size_t bytes_between(const dt_work *work, const dt__team *team, const dt__team_data *data, int64_t first,
                            int64_t last) {
    int64_t count = 0;
    for (int64_t v = first; v < last && v < team->n; v++)
        count += data->pieces[(data->root + v) % team->n].n;
    return dt__span_bytes(work, count);
}

/* The distance to the rank that this one gets its blocks from, and the end of its range; the root's is the whole
 * team. */
static int64_t own_distance(const dt__team *team, int64_t v) {
    int64_t distance = 1;
    while (distance < team->n && !(v & distance))
        distance *= 2;
    return distance;
}

/* The root's blocks, in the order of the numbers, from or to its pieces. */
static void copy_pieces(dt_work *work, const dt__team *team, const dt__team_data *data, unsigned char *all,
                        bool from_pieces) {
    for (int64_t v = 0; v < team->n; v++) {
        dt__team_piece piece = data->pieces[(data->root + v) % team->n];
        dt__span_copy(work, from_pieces ? all : piece.at, from_pieces ? piece.at : all,
                      dt__span_bytes(work, piece.n));
        all += dt__span_bytes(work, piece.n);
    }
}

void dt__binomial_scatter(dt_work *work, const dt__team *team, const dt__team_data *data) {
    int64_t v = own_number(team, data->root), own = own_distance(team, v);
    unsigned char *all = dt__span_scratch(work, bytes_between(work, team, data, v, v + own));
    if (v == 0)
        copy_pieces(work, team, data, all, true);
    for (int64_t distance = INT64_C(1) << dt__ceil_log2(team->n) >> 1; distance; distance /= 2) {
        dt__span_add_stage(work);
        if (distance == own)
            dt__span_receive(work, member_at(team, data->root, v - distance), all,
                             bytes_between(work, team, data, v, v + distance));
        else if (distance < own && v + distance < team->n)
            dt__span_send(work, member_at(team, data->root, v + distance),
                          all + bytes_between(work, team, data, v, v + distance),
                          bytes_between(work, team, data, v + distance, v + 2 * distance));
    }
    dt__span_copy(work, data->value.at, v ? all : data->pieces[team->me].at, dt__span_bytes(work, data->value.n));
}

void dt__binomial_gather(dt_work *work, const dt__team *team, const dt__team_data *data) {
    int64_t v = own_number(team, data->root), own = own_distance(team, v);
    unsigned char *all = dt__span_scratch(work, bytes_between(work, team, data, v, v + own));
    dt__span_copy(work, all, data->value.at, dt__span_bytes(work, data->value.n));
    for (int64_t distance = 1; distance < team->n; distance *= 2) {
        dt__span_add_stage(work);
        if (distance == own)
            dt__span_send(work, member_at(team, data->root, v - distance), all,
                          bytes_between(work, team, data, v, v + distance));
        else if (distance < own && v + distance < team->n)
            dt__span_receive(work, member_at(team, data->root, v + distance),
                             all + bytes_between(work, team, data, v, v + distance),
                             bytes_between(work, team, data, v + distance, v + 2 * distance));
    }
    if (v == 0)
        copy_pieces(work, team, data, all, false);
}
