/* SPDX-License-Identifier: Apache-2.0
 *
 * The least that bringing an input to its target can cost, while only some mesh dims of the target are known. Whatever
 * the plan, an input that must communicate starts a collective (two, where it must reduce and also move what is cut,
 * which no collective does at once), meets the peers of each mesh dim that changes, receives what it needs, and writes
 * the result. With t the bytes of the result, f the part of it that source and target leave in one place, g the ranks
 * whose values are reduced, and w the ranks that want the same result, a rank receives on average
 *
 *     t (1 - f)              where nothing is reduced
 *     t (1 + (g - 2) / w)    otherwise: of g - 1 sums per element each rank does its share, and gets the rest done
 *
 * The same, asked of all ranks of a host together, gives what has to pass between hosts. Mesh dims that are not
 * decided count as cutting the result and as wanting the same, whichever is less.
 *
 * Where nothing is reduced, one exchange of just the blocks that ranks lack may be cheaper than collectives, because it
 * meets only the ranks that have something. It is bounded apart: f is then sure only for cuts that are gathered, and,
 * in even parts, for one that becomes another; no sender has more than the largest part of the source.
 */
#ifndef DT_RULES_COST_BOUND_H
#define DT_RULES_COST_BOUND_H

#include "rules/rules.h"

#include <math.h>

/* Less by more than rounding. */
static inline bool dt__is_cheaper(double a, double b) { return isinf(b) ? a < b : a < b - 1e-9 * (1 + fabs(b)); }

/* Within a host and between hosts. */
enum { DT__WITHIN, DT__BETWEEN, DT__N_LINKS };

/* What is known of one input so far; products of mesh sizes, by link. */
typedef struct dt__cost_bound {
    double held;                /* t */
    double share[DT__N_LINKS];  /* f */
    double summed[DT__N_LINKS]; /* g */
    double same[DT__N_LINKS];   /* w, of decided mesh dims */
    double open[DT__N_LINKS];   /* of those that are not decided */
    double peers_us;
    unsigned kinds;   /* of collectives that it takes, by bits */
    double gathered;  /* f of an exchange, of cuts that are gathered */
    double anew;      /* and of one that becomes another */
    double source;    /* bytes of the source's largest part */
    bool even, spans; /* parts are of one size; what moves spans hosts */
} dt__cost_bound;

/* Input i before any mesh dim is decided; may_cut says of each mesh dim whether some row cuts this input there. */
void dt__cost_bound_begin(const dt__placed_inputs *on, int i, const dt_op_value *value, const bool *may_cut,
                          dt__cost_bound *out);
/* Mesh dim m of input i is decided: what the row asks for. */
void dt__cost_bound_decide(const dt__placed_inputs *on, int i, int m, bool may_cut, dt_row_entry asked,
                           const dt__cost_bound *before, dt__cost_bound *after);
/* The bound in microseconds. */
double dt__cost_bound_us(const dt__machine *machine, const dt__cost_bound *of);

/* What this change alone would cost, roughly: for trying good rows first. */
double dt__estimate_us(const dt__placed_inputs *on, int i, int m, dt_row_entry asked, double source_bytes);

#endif
