/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice of route and algorithm: one table with a row per collective and algorithm, and the cost of each route on
 * the nodes. With w ranks on the widest node, W on the narrowest, N nodes, n ranks, s bytes, the terms a', o', b' of
 * the line `within`, and c(n, s), the cost of the algorithm on a team:
 *
 *     ranks     c(n, s)
 *     leaders   a' + (w-1) o' + (w-1)/w s b' to the leader, for reductions (w-1) s b'
 *               + c(N, s)
 *               + a' + (w-1) o' + s b' from the leader; a barrier has no s
 *     shares    a' + (w-1) o' + (w-1)/w s b', unless it is an all_gather
 *               + c(N, s / W)
 *               + a' + (w-1) o' + (w-1)/w s b', unless it is a reduce_scatter or an all_to_all
 *     copies    a' + (w-1) o' + (w-1) s b' + c(N, s)
 *     direct    the longer of a' + (w-1) o' + w/n s b' and c(n-w+1, (n-w+1)/n s), which run at once: n-w messages
 *
 * What is sent of blocks by a share is s / W as well, except for an all_to_all, which sends everything once: there it
 * is s, and putting the blocks in order takes 4 s g. The leaders of a gather, scatter or broadcast reduce nothing, and
 * only one of the two steps is needed.
 */
#include "cluster/algorithm_choice.h"

#include "base/size.h"

#include <math.h>
#include <string.h>

static const struct row {
    dt__work_op op;
    dt__algorithm algorithm;
    dt__algorithm_cost *cost;
} rows[] = {
    {DT__WORK_BARRIER, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_barrier_us},
    {DT__WORK_BARRIER, DT__ALGORITHM_RECURSIVE_DOUBLING, dt__doubling_barrier_us},
    {DT__WORK_BROADCAST, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_broadcast_us},
    {DT__WORK_BROADCAST, DT__ALGORITHM_BINOMIAL_TREE, dt__binomial_broadcast_us},
    {DT__WORK_BROADCAST, DT__ALGORITHM_RING, dt__ring_broadcast_us},
    {DT__WORK_SCATTER, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_gather_us},
    {DT__WORK_SCATTER, DT__ALGORITHM_BINOMIAL_TREE, dt__binomial_gather_us},
    {DT__WORK_GATHER, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_gather_us},
    {DT__WORK_GATHER, DT__ALGORITHM_BINOMIAL_TREE, dt__binomial_gather_us},
    {DT__WORK_ALL_GATHER, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_all_gather_us},
    {DT__WORK_ALL_GATHER, DT__ALGORITHM_RECURSIVE_DOUBLING, dt__doubling_all_gather_us},
    {DT__WORK_ALL_REDUCE, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_all_reduce_us},
    {DT__WORK_ALL_REDUCE, DT__ALGORITHM_RECURSIVE_DOUBLING, dt__doubling_all_reduce_us},
    {DT__WORK_ALL_REDUCE, DT__ALGORITHM_RING, dt__ring_all_reduce_us},
    {DT__WORK_REDUCE_SCATTER, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_reduce_scatter_us},
    {DT__WORK_REDUCE_SCATTER, DT__ALGORITHM_RING, dt__ring_reduce_scatter_us},
    {DT__WORK_ALL_TO_ALL, DT__ALGORITHM_PAIRWISE_EXCHANGE, dt__pairwise_all_to_all_us},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* The routes that a collective has. */
#define ROUTE(name) (1u << DT__ROUTE_##name)
static const unsigned routes[DT__N_WORK_OPS] = {
    [DT__WORK_BARRIER] = ROUTE(RANKS) | ROUTE(LEADERS) | ROUTE(COPIES) | ROUTE(DIRECT),
    [DT__WORK_BROADCAST] = ROUTE(RANKS) | ROUTE(LEADERS) | ROUTE(SHARES),
    [DT__WORK_SCATTER] = ROUTE(RANKS) | ROUTE(LEADERS),
    [DT__WORK_GATHER] = ROUTE(RANKS) | ROUTE(LEADERS),
    [DT__WORK_ALL_GATHER] = ROUTE(RANKS) | ROUTE(LEADERS) | ROUTE(SHARES),
    [DT__WORK_ALL_REDUCE] = ROUTE(RANKS) | ROUTE(LEADERS) | ROUTE(SHARES) | ROUTE(COPIES),
    [DT__WORK_REDUCE_SCATTER] = ROUTE(RANKS) | ROUTE(LEADERS) | ROUTE(SHARES),
    [DT__WORK_ALL_TO_ALL] = ROUTE(RANKS) | ROUTE(SHARES) | ROUTE(DIRECT),
};

dt__cost_terms dt__cost_terms_of(const dt__machine *machine, const dt__link *link) {
    return (dt__cost_terms){link->start_us, link->peer_us, 1 / link->bytes_per_us, 1 / machine->copy_bytes_per_us};
}

/* If nodes have several members, all data goes through the nodes, which takes fewer messages. The root of a gather or
 * scatter exchanges blocks with each rank directly if that is cheaper than a copy on a leader. */
static bool goes_by_nodes(const dt__algorithm_request *request) {
    return request->max_width > 1 && !request->in_order && request->op != DT__WORK_GATHER &&
           request->op != DT__WORK_SCATTER;
}

static bool has_route(const dt__algorithm_request *request, dt__node_route route) {
    bool is_regular = request->min_width == request->max_width;
    bool shares_any = request->op == DT__WORK_ALL_REDUCE || request->op == DT__WORK_BROADCAST;
    if (!(routes[request->op] >> route & 1))
        return false;
    if (request->max_width == 1 || request->in_order || route == DT__ROUTE_RANKS)
        return route == DT__ROUTE_RANKS && !goes_by_nodes(request);
    if (route == DT__ROUTE_SHARES)
        return request->min_width > 1 && (is_regular || shares_any) && !request->has_pair_counts;
    return route != DT__ROUTE_COPIES || is_regular;
}

static const struct row *find_row(const dt__algorithm_request *request, dt__algorithm algorithm) {
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].op == request->op && rows[i].algorithm == algorithm)
            return &rows[i];
    return NULL;
}

/* A reduction in the order of the group is one of all ranks at once, and a direct exchange is between pairs. */
bool dt__algorithm_exists(const dt__algorithm_request *request, dt__node_route route, dt__algorithm algorithm) {
    bool by_pairs = request->in_order || route == DT__ROUTE_DIRECT;
    return has_route(request, route) && find_row(request, algorithm) &&
           (!by_pairs || algorithm == DT__ALGORITHM_PAIRWISE_EXCHANGE);
}

/* What happens on a node before, after or during the messages. */
static double node_us(const dt__cost_terms *within, const dt__algorithm_request *request, dt__node_route route) {
    double width = (double)request->max_width, bytes = request->bytes;
    double step = within->a + (width - 1) * within->o, part = (width - 1) / width * bytes * within->b;
    dt__work_op op = request->op;
    bool reduces = op == DT__WORK_ALL_REDUCE || op == DT__WORK_REDUCE_SCATTER;
    switch (route) {
    case DT__ROUTE_LEADERS:
        if (op == DT__WORK_BROADCAST || op == DT__WORK_SCATTER || op == DT__WORK_GATHER)
            return step + (op == DT__WORK_BROADCAST ? bytes * within->b : part);
        return 2 * step + (reduces ? (width - 1) * bytes * within->b : part) + bytes * within->b;
    case DT__ROUTE_SHARES:
        if (op == DT__WORK_ALL_TO_ALL)
            return step + part + 4 * bytes * within->g;
        return op == DT__WORK_ALL_REDUCE || op == DT__WORK_BROADCAST ? 2 * (step + part) : step + part;
    case DT__ROUTE_COPIES:
        return step + (width - 1) * bytes * within->b;
    case DT__ROUTE_DIRECT:
        return step + width / (double)request->n_ranks * bytes * within->b;
    case DT__ROUTE_RANKS:
    case DT__N_ROUTES:
        break;
    }
    return 0;
}

double dt__algorithm_us(const dt__machine *machine, const dt__algorithm_request *request, dt__node_route route,
                        dt__algorithm algorithm) {
    dt__cost_terms within = dt__cost_terms_of(machine, &machine->within);
    dt__cost_terms between = dt__cost_terms_of(machine, &machine->between);
    int64_t n = route == DT__ROUTE_RANKS ? request->n_ranks : request->n_nodes;
    double bytes = request->bytes;
    if (route == DT__ROUTE_SHARES && request->op != DT__WORK_ALL_TO_ALL)
        bytes /= (double)request->min_width;
    if (route == DT__ROUTE_DIRECT) {
        n = request->n_ranks - request->min_width + 1;
        bytes *= (double)n / (double)request->n_ranks;
    }
    double on_node = node_us(&within, request, route);
    double messages = find_row(request, algorithm)->cost(&between, n, bytes);
    return route == DT__ROUTE_DIRECT ? fmax(on_node, messages) : on_node + messages;
}

static int differences(const dt__algorithm_choice *forced, dt__node_route route, dt__algorithm algorithm) {
    return (forced->route != DT__N_ROUTES && forced->route != route) +
           (forced->algorithm != DT__N_ALGORITHMS && forced->algorithm != algorithm);
}

dt__algorithm_choice dt__choose_algorithm(const dt__machine *machine, const dt__algorithm_request *request,
                                          const dt__algorithm_choice *forced) {
    dt__algorithm_choice best = {DT__ROUTE_RANKS, DT__ALGORITHM_PAIRWISE_EXCHANGE, 0};
    int best_differences = -1;
    for (int route = 0; route < DT__N_ROUTES; route++)
        for (int i = 0; i < N_ROWS; i++) {
            dt__algorithm algorithm = rows[i].algorithm;
            if (rows[i].op != request->op || !dt__algorithm_exists(request, (dt__node_route)route, algorithm))
                continue;
            int n = forced ? differences(forced, (dt__node_route)route, algorithm) : 0;
            double us = dt__algorithm_us(machine, request, (dt__node_route)route, algorithm);
            if (best_differences >= 0 && (n > best_differences || (n == best_differences && us >= best.us)))
                continue;
            best = (dt__algorithm_choice){(dt__node_route)route, algorithm, us};
            best_differences = n;
        }
    return best;
}

static const char *const route_names[] = {
#define X(upper, lower) #lower,
    DT__ROUTE_LIST(X)
#undef X
};
static const char *const algorithm_names[] = {
#define X(upper, lower) #lower,
    DT__ALGORITHM_LIST(X)
#undef X
};

const char *dt__route_name(dt__node_route route) { return route_names[route]; }
const char *dt__algorithm_name(dt__algorithm algorithm) { return algorithm_names[algorithm]; }

static int find_name(const char *const *names, int n, const char *text, size_t length) {
    int i = 0;
    while (i < n && (strlen(names[i]) != length || memcmp(names[i], text, length)))
        i++;
    return i;
}

bool dt__algorithm_choice_parse(const char *text, dt__algorithm_choice *out) {
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : strlen(text);
    const char *last = slash ? slash + 1 : text;
    *out = (dt__algorithm_choice){DT__N_ROUTES, DT__N_ALGORITHMS, 0};
    out->route = (dt__node_route)find_name(route_names, DT__N_ROUTES, text, length);
    out->algorithm = (dt__algorithm)find_name(algorithm_names, DT__N_ALGORITHMS, last, strlen(last));
    bool has_route_name = out->route != DT__N_ROUTES, has_algorithm = out->algorithm != DT__N_ALGORITHMS;
    return slash ? has_route_name && has_algorithm : has_route_name || has_algorithm;
}
