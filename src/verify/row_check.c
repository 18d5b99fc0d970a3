/* SPDX-License-Identifier: Apache-2.0
 *
 * The trials of a row: all kinds of values, all styles of partials, all worlds. Kinds of cuts other than the plain one
 * are tried with one kind of values: they change who holds what, not what is computed.
 */
#include "verify/row_check.h"

/* From the most telling on: most rows that do not hold fail at the first. */
static const dt__trial trials[] = {
    {DT__VALUES_MIXED, 0, DT__STYLE_RANDOM},         {DT__VALUES_FEW, 0, DT__STYLE_RANDOM},
    {DT__VALUES_MIXED, 0, DT__STYLE_IDENTITY},       {DT__VALUES_NAN, 0, DT__STYLE_RANDOM},
    {DT__VALUES_INFINITE, 0, DT__STYLE_RANDOM},      {DT__VALUES_POSITIVE, 0, DT__STYLE_RANDOM},
    {DT__VALUES_MIXED, 0, DT__STYLE_FROM_REPLICATE}, {DT__VALUES_MIXED, 0, DT__N_STYLES},
    {DT__VALUES_MIXED, 0, DT__N_STYLES + 1},         {DT__VALUES_FEW, 0, DT__STYLE_IDENTITY},
    {DT__VALUES_FEW, 0, DT__STYLE_FROM_REPLICATE},   {DT__VALUES_NAN, 0, DT__STYLE_IDENTITY},
    {DT__VALUES_INFINITE, 0, DT__STYLE_IDENTITY},
};
enum { N_TRIALS = sizeof trials / sizeof *trials };

static dt_status try_all(dt__trial_call *subject, const dt__sim_rank *ranks, const dt__row_specs *arranged,
                         const dt__row *row, int n_of_them, const char **what, int64_t *n_trials) {
    int n_rounds = dt__trial_call_rounds(subject);
    for (int t = 0; t < n_of_them * n_rounds && !*what; t++) {
        dt__trial trial = trials[t / n_rounds];
        trial.round = t % n_rounds;
        if (!dt__trial_applies(subject, row, trial))
            continue;
        ++*n_trials;
        DT__TRY(dt__trial_run(subject, ranks, arranged, row, trial, what));
    }
    return DT_OK;
}

static dt_status try_world(dt__trial_call *subject, const dt__row *row, const dt__trial_set *effort, int n,
                           dt__cut_kind cut, const char **what, int64_t *n_trials) {
    dt__row_specs arranged;
    bool fits;
    const dt__sim_rank *ranks = dt__sim_ranks(subject->stage, n);
    if (!ranks)
        return DT_ERR_MEMORY;
    DT__TRY(dt__row_specs_new(subject->arena, ranks, n, &subject->of.call, row, cut, &arranged, &fits));
    if (!fits)
        return DT_OK;
    bool local = true;
    dt_status status = DT_OK;
    if (effort->only_local)
        status = dt__row_specs_are_local(subject->arena, ranks, &arranged, &subject->of, &local);
    if (!local)
        *what = "the op does not make such parts";
    else if (status == DT_OK)
        status = try_all(subject, ranks, &arranged, row, cut == DT__CUT_PLAIN ? N_TRIALS : 1, what, n_trials);
    dt__row_specs_free(&arranged);
    return status;
}

dt_status dt__check_row(dt__trial_call *subject, const dt__row *row, const dt__trial_set *effort, const char **what,
                        int *n_ranks, int64_t *n_trials) {
    int n_cuts = effort->all_cuts ? DT__N_CUT_KINDS : 1;
    *what = NULL;
    for (int w = 0; w < effort->n_worlds && !*what; w++)
        for (int cut = 0; cut < n_cuts && !*what; cut++) {
            *n_ranks = effort->worlds[w];
            DT__TRY(try_world(subject, row, effort, *n_ranks, (dt__cut_kind)cut, what, n_trials));
        }
    return DT_OK;
}
