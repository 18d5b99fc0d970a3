/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine model: what a collective costs, as data. One row per kind of link, a rate for copies inside a rank, and
 * one price per collective made from them.
 */
#ifndef DT_PLAN_MACHINE_H
#define DT_PLAN_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* One list makes the enum and the names. NONE is a step that every rank does by itself. */
#define DT__STEP_KIND_LIST(X)                                                                                        \
    X(NONE, none)                                                                                                    \
    X(ALL_GATHER, all_gather)                                                                                        \
    X(ALL_REDUCE, all_reduce)                                                                                        \
    X(REDUCE_SCATTER, reduce_scatter)                                                                                \
    X(ALL_TO_ALL, all_to_all)

typedef enum dt__step_kind {
#define X(upper, lower) DT__STEP_##upper,
    DT__STEP_KIND_LIST(X)
#undef X
        DT__N_STEP_KINDS
} dt__step_kind;

const char *dt__step_kind_name(dt__step_kind collective);

typedef struct dt__link {
    double start_us;     /* of a collective, whatever its size */
    double peer_us;      /* for each other member of the group */
    double bytes_per_us; /* received by one rank */
} dt__link;

typedef struct dt__machine {
    int64_t ranks_per_host;   /* 0: all ranks are on one host */
    dt__link within, between; /* groups on one host, groups that span hosts */
    double copy_bytes_per_us; /* written by one rank */
} dt__machine;

/* The built-in table. */
extern const dt__machine dt__machine_builtin;

/* A step as its price sees it. */
typedef struct dt__priced {
    dt__step_kind collective;
    int64_t group; /* ranks that take part */
    bool spans_hosts;
    double before_bytes, after_bytes; /* of the largest part */
} dt__priced;

/* Microseconds. Received bytes are (group - 1) / group of the result of an all-gather and of an all-to-all, twice
 * that for an all-reduce, and group - 1 contributions to the result of a reduce-scatter. Each step writes its result
 * once; an all-to-all also packs what it sends. */
double dt__machine_price(const dt__machine *machine, const dt__priced *step);
/* One exchange as a rank sees it: messages from so many peers that bring so many bytes, each part packed before and
 * put into its place after. */
typedef struct dt__priced_exchange {
    int64_t peers;
    bool spans_hosts;
    double received_bytes, before_bytes, after_bytes;
} dt__priced_exchange;

double dt__machine_price_exchange(const dt__machine *machine, const dt__priced_exchange *step);
/* Whether groups along this mesh dim span hosts, ranks being numbered host by host and the last dim running fastest.
 */
bool dt__machine_spans_hosts(const dt__machine *machine, int n_mesh_dims, const int64_t *mesh, int mesh_dim);

#endif
