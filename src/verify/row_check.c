/* SPDX-License-Identifier: Apache-2.0
 *
 * The trials of a row: all kinds of values, all styles of partials, all worlds. Kinds of shards other than the plain
 * one are tried with one kind of values: they change which rank holds an element, not how it is computed.
 */
#include "verify/row_check.h"

/* In the order of how often they fail: most wrong rows fail at the first. */
static const struct {
    dt__value_kind kind;
    int style;
} trials[] = {
    {DT__VALUES_MIXED, DT__STYLE_RANDOM},         {DT__VALUES_FEW, DT__STYLE_RANDOM},
    {DT__VALUES_MIXED, DT__STYLE_IDENTITY},       {DT__VALUES_NAN, DT__STYLE_RANDOM},
    {DT__VALUES_INFINITE, DT__STYLE_RANDOM},      {DT__VALUES_POSITIVE, DT__STYLE_RANDOM},
    {DT__VALUES_MIXED, DT__STYLE_FROM_REPLICATE}, {DT__VALUES_MIXED, DT__N_STYLES},
    {DT__VALUES_MIXED, DT__N_STYLES + 1},         {DT__VALUES_FEW, DT__STYLE_IDENTITY},
    {DT__VALUES_FEW, DT__STYLE_FROM_REPLICATE},   {DT__VALUES_NAN, DT__STYLE_IDENTITY},
    {DT__VALUES_INFINITE, DT__STYLE_IDENTITY},
};
enum { N_TRIALS = sizeof trials / sizeof *trials };

static dt_status try_all(dt__trial_call *trial_call, const dt__sim_rank *ranks, const dt__row_specs *specs,
                         const dt__row *row, int n_of_them, int only_output, const char **failure,
                         int64_t *n_trials) {
    int n_rounds = dt__trial_call_rounds(trial_call);
    for (int t = 0; t < n_of_them * n_rounds && !*failure; t++) {
        dt__trial trial = {trials[t / n_rounds].kind, t % n_rounds, trials[t / n_rounds].style, only_output};
        if (!dt__trial_applies(trial_call, row, trial))
            continue;
        ++*n_trials;
        DT__TRY(dt__trial_run(trial_call, ranks, specs, row, trial, failure));
    }
    return DT_OK;
}

static dt_status try_world(dt__trial_call *trial_call, const dt__row *row, const dt__trial_set *trial_set, int n,
                           dt__cut_kind cut, const char **failure, int64_t *n_trials) {
    dt__row_specs specs;
    bool fits;
    const dt__sim_rank *ranks = dt__sim_ranks(trial_call->sim, n);
    if (!ranks)
        return DT_ERR_MEMORY;
    DT__TRY(dt__row_specs_new(trial_call->arena, ranks, n, &trial_call->placed.call, row, cut, &specs, &fits));
    if (!fits)
        return DT_OK;
    bool local = true;
    dt_status status = DT_OK;
    if (trial_set->only_local)
        status = dt__row_specs_are_local(trial_call->arena, ranks, &specs, &trial_call->placed, 0, &local);
    if (!local)
        *failure = "the shape function does not return such local outputs";
    else if (status == DT_OK)
        status = try_all(trial_call, ranks, &specs, row, cut == DT__CUT_PLAIN ? N_TRIALS : 1, trial_set->only_output,
                         failure, n_trials);
    dt__row_specs_free(&specs);
    return status;
}

dt_status dt__check_row(dt__trial_call *trial_call, const dt__row *row, const dt__trial_set *trial_set,
                        const char **failure, int *n_ranks, int64_t *n_trials) {
    int n_cuts = trial_set->all_cuts ? DT__N_CUT_KINDS : 1;
    *failure = NULL;
    for (int w = 0; w < trial_set->n_worlds && !*failure; w++)
        for (int cut = 0; cut < n_cuts && !*failure; cut++) {
            *n_ranks = trial_set->worlds[w];
            DT__TRY(try_world(trial_call, row, trial_set, *n_ranks, (dt__cut_kind)cut, failure, n_trials));
        }
    return DT_OK;
}

dt_status dt__output_is_local(dt__trial_call *trial_call, const dt__row *row, const dt__trial_set *trial_set,
                              int output, bool *out) {
    *out = true;
    for (int w = 0; w < trial_set->n_worlds && *out; w++) {
        int n = trial_set->worlds[w];
        const dt__sim_rank *ranks = dt__sim_ranks(trial_call->sim, n);
        dt__row_specs specs;
        bool fits;
        if (!ranks)
            return DT_ERR_MEMORY;
        DT__TRY(dt__row_specs_new(trial_call->arena, ranks, n, &trial_call->placed.call, row, DT__CUT_PLAIN, &specs,
                                  &fits));
        if (!fits)
            continue;
        dt_status status =
            dt__row_specs_are_local(trial_call->arena, ranks, &specs, &trial_call->placed, output + 1, out);
        dt__row_specs_free(&specs);
        DT__TRY(status);
    }
    return DT_OK;
}
