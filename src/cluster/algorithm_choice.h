/* SPDX-License-Identifier: Apache-2.0
 *
 * Which algorithm a collective between nodes uses: a pure function of the machine model, the nodes of the group and the
 * size. All ranks have the same model, so all make the same choice.
 *
 * A *route* is how the ranks of a node take part; an *algorithm* is the pattern of messages among those that carry data
 * between nodes, a *team* with one rank of each node. Their costs add up. Costs have these terms, from the model's line
 * `between` (for what happens on a node, `within`):
 *
 *     a  start_us           latency of a step in which messages are sent
 *     o  peer_us            overhead of each message that a rank sends or receives in it
 *     b  1 / bytes_per_us   time of each byte that a rank sends or receives
 *     g  1 / copy rate      time of each byte that is written to memory and read again besides
 *
 * The costs of an algorithm on a team of n are in the file of that algorithm, those of a route in algorithm_choice.c.
 */
#ifndef DT_CLUSTER_ALGORITHM_CHOICE_H
#define DT_CLUSTER_ALGORITHM_CHOICE_H

#include "base/machine.h"
#include "comm/comm.h"

#define DT__ROUTE_LIST(X)                                                                                            \
    X(RANKS, ranks)     /* every rank is a node of its own */                                                        \
    X(LEADERS, leaders) /* one rank of each node carries everything: shm to it, messages, shm from it */             \
    X(SHARES, shares)   /* each rank of a node carries its share */                                                  \
    X(COPIES, copies)   /* each rank of a node carries the same result of the node: shm, messages, no shm after */   \
    X(DIRECT, direct)   /* messages between ranks of different nodes, shm between those of one */

#define DT__ALGORITHM_LIST(X)                                                                                        \
    X(PAIRWISE_EXCHANGE, pairwise_exchange)                                                                          \
    X(RING, ring)                                                                                                    \
    X(RECURSIVE_DOUBLING, recursive_doubling)                                                                        \
    X(BINOMIAL_TREE, binomial_tree)

typedef enum dt__node_route {
#define X(upper, lower) DT__ROUTE_##upper,
    DT__ROUTE_LIST(X)
#undef X
        DT__N_ROUTES
} dt__node_route;

typedef enum dt__algorithm {
#define X(upper, lower) DT__ALGORITHM_##upper,
    DT__ALGORITHM_LIST(X)
#undef X
        DT__N_ALGORITHMS
} dt__algorithm;

typedef struct dt__algorithm_choice {
    dt__node_route route;    /* DT__N_ROUTES, when forced: any */
    dt__algorithm algorithm; /* DT__N_ALGORITHMS, when forced: any */
    double us;               /* by the model */
} dt__algorithm_choice;

/* A collective, as far as the choice depends on it. */
typedef struct dt__algorithm_request {
    dt__work_op op;
    int64_t n_ranks, n_nodes;
    int64_t min_width, max_width; /* members of the group on one node */
    double bytes;                 /* of the value, or of all blocks of one rank together */
    bool in_order;                /* the reduction must run over all ranks in group order, on one rank */
    bool has_pair_counts;         /* an all_to_all whose blocks have sizes that only their two ranks have */
} dt__algorithm_request;

/* The cheapest by the model, or the one that `forced` names, unless it is NULL or the collective lacks it. */
dt__algorithm_choice dt__choose_algorithm(const dt__machine *machine, const dt__algorithm_request *request,
                                          const dt__algorithm_choice *forced);
/* Whether the collective has this route, for these nodes, and this algorithm. */
bool dt__algorithm_exists(const dt__algorithm_request *request, dt__node_route route, dt__algorithm algorithm);
/* The cost of one combination, in microseconds. */
double dt__algorithm_us(const dt__machine *machine, const dt__algorithm_request *request, dt__node_route route,
                        dt__algorithm algorithm);

const char *dt__route_name(dt__node_route route);
const char *dt__algorithm_name(dt__algorithm algorithm);
/* Reads "leaders", "ring" or "shares/ring", the value of DTENSOR_TEST_ALGORITHM; what is not named is free. */
bool dt__algorithm_choice_parse(const char *text, dt__algorithm_choice *out);

/* The terms of the head, of one link. */
typedef struct dt__cost_terms {
    double a, o, b, g;
} dt__cost_terms;
dt__cost_terms dt__cost_terms_of(const dt__machine *machine, const dt__link *link);
/* ceil(log2(n)) for n of at least 1. */
int dt__ceil_log2(int64_t n);

/* The cost of an algorithm on a team of n for a value, or for all blocks of one rank, of so many bytes. */
typedef double dt__algorithm_cost(const dt__cost_terms *terms, int64_t n, double bytes);

dt__algorithm_cost dt__pairwise_barrier_us, dt__pairwise_broadcast_us, dt__pairwise_gather_us,
    dt__pairwise_all_gather_us, dt__pairwise_all_reduce_us, dt__pairwise_reduce_scatter_us,
    dt__pairwise_all_to_all_us;
dt__algorithm_cost dt__ring_broadcast_us, dt__ring_all_reduce_us, dt__ring_reduce_scatter_us;
dt__algorithm_cost dt__doubling_barrier_us, dt__doubling_all_gather_us, dt__doubling_all_reduce_us;
dt__algorithm_cost dt__binomial_broadcast_us, dt__binomial_gather_us;

#endif
