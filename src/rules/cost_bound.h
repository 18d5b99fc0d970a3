/* SPDX-License-Identifier: Apache-2.0
 *
 * A lower bound of the cost of redistributing an input, while only some mesh dims of its target are known. Any plan
 * that communicates divides the mesh dims that change among collectives, and no collective both reduces and moves
 * shards; each has a start-up and synchronizes with all peers of its group. It receives what it needs, and writes the
 * result. With t the bytes of the result, f the fraction of it that stays in place, g the ranks whose values are
 * reduced, and w the ranks that get the same result, a rank receives on average
 *
 *     t (1 - f)              where nothing is reduced
 *     t (1 + (g - 2) / w)    otherwise: each rank does its share of the g - 1 sums per element and receives the rest
 *
 * This average over all ranks of a host bounds what passes between hosts. A mesh dim that is not decided counts
 * as sharding the result or as replicating it, whichever is less.
 *
 * Where nothing is reduced, one exchange of just the missing blocks may be cheaper than collectives, because it
 * involves only ranks that have something to send. It has a bound of its own: f is then certain only for shards that
 * are gathered, and, with even shards, for one that becomes another; no sender has more than the largest local
 * tensor.
 */
#ifndef DT_RULES_COST_BOUND_H
#define DT_RULES_COST_BOUND_H

#include "rules/rules.h"

#include <math.h>

/* Less by more than rounding. */
static inline bool dt__is_cheaper(double a, double b) { return isinf(b) ? a < b : a < b - 1e-9 * (1 + fabs(b)); }

/* Within a host and between hosts. */
enum { DT__WITHIN, DT__BETWEEN, DT__N_LINKS };

/* One input so far; products of mesh sizes, by link. */
typedef struct dt__cost_bound {
    double held;                /* t */
    double share[DT__N_LINKS];  /* f */
    double summed[DT__N_LINKS]; /* g */
    double same[DT__N_LINKS];   /* w, of decided mesh dims */
    double open[DT__N_LINKS];   /* of mesh dims that are not decided */
    double peers_us;            /* of the mesh dims one by one, */
    double again_us;            /* the part that is for second rounds */
    unsigned kinds;             /* of collectives that it takes, by bits */
    double gathered;            /* f of an exchange, of shards that are gathered */
    double resharded;           /* and of one that becomes another */
    double source;              /* bytes of the largest local tensor of the source */
    bool even, spans;           /* shards have one size; what moves spans hosts */
} dt__cost_bound;

/* Input i before any mesh dim is decided; may_cut: for each mesh dim, whether some row shards this input there. */
void dt__cost_bound_begin(const dt__placed_inputs *on, int i, const dt_op_value *value, const bool *may_cut,
                          dt__cost_bound *out);
/* Mesh dim m of input i gets this entry. */
void dt__cost_bound_decide(const dt__placed_inputs *on, int i, int m, bool may_cut, dt_row_entry entry,
                           const dt__cost_bound *before, dt__cost_bound *after);
/* The bound in microseconds. */
double dt__cost_bound_us(const dt__machine *machine, const dt__cost_bound *of);

/* An estimate of what this change costs by itself, for trying cheap rows first. */
double dt__estimate_us(const dt__placed_inputs *on, int i, int m, dt_row_entry entry, double source_bytes);

#endif
