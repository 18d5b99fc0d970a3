/* SPDX-License-Identifier: Apache-2.0
 *
 * The verifier's reference: the complete lists of rows that hold for some ops against published lists; the
 * contributions that it splits values into; and calls that it cannot decide.
 */
#include "support/check.h"

#include "ops/ops.h"
#include "verify/missing_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All rows that hold for a call, one per line, sorted. */
typedef struct row_texts {
    dt__trial_call *trial_call;
    int n;
    char rows[64][64];
} row_texts;

static dt_status add_row(void *user, const dt__row *row) {
    row_texts *self = user;
    if (row->flags & DT_ROW_WINDOW)
        return DT_OK; /* the lists are of local rows */
    dt__text text = dt__text_new(self->trial_call->arena->ctx);
    dt__row_query_text(&self->trial_call->placed.call, row, &text);
    assert_true(self->n < 64 && text.n_chars < 64);
    strcpy(self->rows[self->n++], dt__text_chars(&text));
    dt__text_free(&text);
    return DT_OK;
}

static int compare_text(const void *a, const void *b) { return strcmp(a, b); }

/* Opens a call and passes it to the body. */
typedef void trial_fn(dt__trial_call *trial_call, const void *user);

static void with_trial_call(const char *call, trial_fn *body, const void *user) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    char name[64], reason[256];
    bool usable;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(call, "("), call);
    dt__arena arena = dt__arena_new(ctx);
    dt__sim sim = dt__sim_new(ctx, dt__op_find(ctx, name));
    dt__trial_call *trial_call = DT__NEW(&arena, dt__trial_call);
    assert_int_equal(dt__trial_call_new(&sim, &arena, call, trial_call, &usable, sizeof reason, reason), DT_OK);
    if (!usable)
        fail_msg("%s: %s", call, reason);
    body(trial_call, user);
    dt__sim_free(&sim);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

/* user: the expected rows separated by blanks, without those of products, which the lists do not have. */
static void compare_rows(dt__trial_call *trial_call, const void *user) {
    char expected[64][64], list[2048], *rest = list;
    int n_expected = 0, n = 0;
    int64_t n_trials = 0;
    row_texts self = {.trial_call = trial_call};
    dt__row_list no_rows = {0, trial_call->placed.call.n_inputs + trial_call->placed.call.n_outputs, NULL};
    assert_int_equal(dt__find_missing_rows(trial_call, &no_rows, add_row, &self, &n_trials), DT_OK);
    strcpy(list, user);
    for (char *row; (row = strtok_r(rest, " ", &rest));)
        strcpy(expected[n_expected++], row);
    for (int i = 0; i < self.n; i++)
        if (!strstr(self.rows[i], "product"))
            memmove(self.rows[n++], self.rows[i], sizeof self.rows[i]);
    qsort(self.rows, (size_t)n, sizeof *self.rows, compare_text);
    qsort(expected, (size_t)n_expected, sizeof *expected, compare_text);
    for (int i = 0; i < n || i < n_expected; i++)
        assert_string_equal(i < n ? self.rows[i] : "nothing more", i < n_expected ? expected[i] : "nothing more");
}

static void reference__is_the_published_one(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        /* VAL-009 */
        {"add(f32[8,4]; f32[8,4])",
         "S(0),S(0)->S(0) S(1),S(1)->S(1) P(sum),P(sum)->P(sum) P(avg),P(avg)->P(avg) P(avg),R->P(avg) "
         "R,P(avg)->P(avg) P(max),R->P(max) P(min),R->P(min) R,P(max)->P(max) R,P(min)->P(min)"},
        /* VAL-013, VAL-021 */
        {"add(f32[8,4]; f32[8,4]; alpha=-1)",
         "S(0),S(0)->S(0) S(1),S(1)->S(1) P(sum),P(sum)->P(sum) P(avg),P(avg)->P(avg) P(avg),R->P(avg) "
         "R,P(avg)->P(avg) P(max),R->P(max) P(min),R->P(min) R,P(max)->P(min) R,P(min)->P(max)"},
        /* VAL-010 */
        {"mul(f32[8,4]; f32[8,4])",
         "S(0),S(0)->S(0) S(1),S(1)->S(1) P(sum),R->P(sum) R,P(sum)->P(sum) P(avg),R->P(avg) R,P(avg)->P(avg)"},
        /* VAL-011 */
        {"div(f32[8,4]; f32[8,4])", "S(0),S(0)->S(0) S(1),S(1)->S(1) P(sum),R->P(sum) P(avg),R->P(avg)"},
        /* VAL-012 */
        {"maximum(f32[8,4]; f32[8,4])",
         "S(0),S(0)->S(0) S(1),S(1)->S(1) P(max),P(max)->P(max) P(max),R->P(max) R,P(max)->P(max) P(min),R->P(min) "
         "R,P(min)->P(min)"},
        /* VAL-018: ranks have different indices of the largest element */
        {"argmax(f32[3,2,1,2]; 0)", "S(1)->S(0) S(3)->S(2)"},
        {"argmin(f32[3,2,1,2]; 0)", "S(1)->S(0) S(3)->S(2)"},
        /* VAL-020 */
        {"softplus(f32[8,4])", "S(0)->S(0) S(1)->S(1) P(max)->P(max) P(min)->P(min)"},
        /* VAL-023: several outputs; elements in other places */
        {"flip(f32[8,4]; [1])", "S(0)->S(0) P(sum)->P(sum) P(avg)->P(avg) P(max)->P(max) P(min)->P(min)"},
        {"roll(f32[8,4]; [1]; [1])", "S(0)->S(0) P(sum)->P(sum) P(avg)->P(avg) P(max)->P(max) P(min)->P(min)"},
        {"split(f32[4,6]; 2)",
         "S(1)->S(1),S(1) P(sum)->P(sum),P(sum) P(avg)->P(avg),P(avg) P(max)->P(max),P(max) P(min)->P(min),P(min)"},
        /* VAL-003, VAL-004: a dim of size 1 is not sharded */
        {"neg(f32[1,4])", "S(1)->S(1) P(sum)->P(sum) P(avg)->P(avg) P(max)->P(min) P(min)->P(max)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        with_trial_call(cases[i][0], compare_rows, cases[i][1]);
}

/* VAL-019: results that are all zero would pass everything. */
static void reference__of_zeros_is_not_compared(void **state) {
    (void)state;
    with_trial_call("mul(f32[8,4]; 0)", compare_rows, "");
    with_trial_call("relu(f32[0,4])", compare_rows, "");
}

/* VAL-014: NaN equals NaN. Roots of numbers of both signs. */
static void check_nan(dt__trial_call *trial_call, const void *user) {
    static const int worlds[] = {2, 3, 5};
    const dt__trial_set trial_set = {.n_worlds = 3, .worlds = worlds, .all_cuts = true};
    const char *failure;
    int n_ranks, n_nan = 0;
    int64_t n_trials = 0;
    (void)user;
    for (int e = 0; e < 15; e++)
        n_nan += isnan(trial_call->references[DT__VALUES_MIXED][0].entries[1][e].re);
    assert_true(n_nan > 0);
    dt__row row = {.entries = (dt_row_entry[]){DT_ROW_S(0), DT_ROW_S(0)}};
    assert_int_equal(dt__check_row(trial_call, &row, &trial_set, &failure, &n_ranks, &n_trials), DT_OK);
    assert_null(failure);
    /* VAL-023: a shard is not Replicate */
    dt__row claim = {.entries = (dt_row_entry[]){DT_ROW_S(0), DT_ROW_R}};
    assert_int_equal(dt__check_row(trial_call, &claim, &trial_set, &failure, &n_ranks, &n_trials), DT_OK);
    assert_non_null(failure);
}

static void reference__nan_equals_nan(void **state) {
    (void)state;
    with_trial_call("sqrt(f32[5,3])", check_nan, NULL);
}

/* VAL-015: contributions reduce to the value, for every dtype, reduction and style, for any number of ranks. */
static void partials__reduce_to_the_value(void **state) {
    (void)state;
    long n_checked = 0;
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        for (int r_kind = 0; r_kind < DT_N_REDUCES; r_kind++)
            for (int trial = 0; trial < DT__N_VALUE_KINDS * DT__N_STYLES * 6; trial++) {
                dt_dtype d = (dt_dtype)dtype;
                dt_reduce reduce = (dt_reduce)r_kind;
                dt__value_kind kind = (dt__value_kind)(trial % DT__N_VALUE_KINDS);
                dt__partial_style style = (dt__partial_style)(trial / DT__N_VALUE_KINDS % DT__N_STYLES);
                int n = trial / DT__N_VALUE_KINDS / DT__N_STYLES + 2;
                bool is_arithmetic = reduce != DT_MIN && reduce != DT_MAX;
                if (!dt_reduce_allowed(d, reduce) || (is_arithmetic && kind == DT__VALUES_INFINITE))
                    continue;
                for (int e = 0; e < 40; e++) {
                    dt__element_id id = {9, 1, e};
                    dt__element parts[8], value = dt__trial_value(d, kind, &id);
                    for (int r = 0; r < n && r < 8; r++) {
                        unsigned char bytes[16];
                        dt__element_write(d, dt__partial_value(d, reduce, style, &id, value, n, r), bytes);
                        parts[r] = dt__element_read(d, bytes);
                    }
                    dt__element got = dt__element_reduce(d, reduce, n < 8 ? n : 8, parts);
                    if (!dt__element_close(d, value, got, 0))
                        fail_msg("%s P(%s) of %d ranks, kind %d, style %d: expected %g (%lld), got %g (%lld)",
                                 dt_dtype_name(d), dt_reduce_name(reduce), n, (int)kind, (int)style, value.re,
                                 (long long)value.i, got.re, (long long)got.i);
                    n_checked++;
                }
            }
    assert_true(n_checked > 50000);
}

/* VAL-016: inputs are split differently, and signs are mixed. VAL-017: the rank of the max or min varies from element
 * to element, and some contributions are farther from it than values differ. */
static void partials__are_adversarial(void **state) {
    (void)state;
    int n_negative = 0, n_other = 0, n_first = 0, n_far = 0;
    for (int e = 0; e < 100; e++) {
        dt__element_id one = {9, 0, e}, two = {9, 1, e};
        dt__element value = {.re = 1};
        dt__element a = dt__partial_value(DT_F32, DT_SUM, DT__STYLE_RANDOM, &one, value, 2, 0);
        dt__element b = dt__partial_value(DT_F32, DT_SUM, DT__STYLE_RANDOM, &two, value, 2, 0);
        dt__element c = dt__partial_value(DT_F32, DT_MAX, DT__STYLE_RANDOM, &one, value, 2, 0);
        dt__element d = dt__partial_value(DT_F32, DT_MAX, DT__STYLE_RANDOM, &one, value, 2, 1);
        n_negative += a.re < 0;
        n_other += a.re != b.re;
        n_first += c.re > d.re;
        n_far += fabs(c.re - d.re) > 8;
        assert_true(a.re != 0);
    }
    assert_in_range(n_negative, 30, 70);
    assert_in_range(n_other, 90, 100);
    assert_in_range(n_first, 15, 60);
    assert_in_range(n_far, 10, 60);
}

/* Verifies one small call and searches for all rows. */
static bool verify_small_call(dt_ctx *ctx, void *user) {
    static const int worlds[] = {2};
    const dt__trial_set trial_set = {.n_worlds = 1, .worlds = worlds};
    const dt__op_info *info = dt__ops_open(ctx) == DT_OK ? dt__op_find(ctx, "neg") : NULL;
    char reason[256];
    const char *failure = NULL;
    bool usable = false;
    int n_ranks;
    int64_t n_trials = 0;
    (void)user;
    if (!info)
        return false;
    dt__arena arena = dt__arena_new(ctx);
    dt__sim sim = dt__sim_new(ctx, info);
    dt__trial_call trial_call;
    dt__row row = {.entries = (dt_row_entry[]){DT_ROW_S(0), DT_ROW_S(0)}};
    dt_status status =
        dt__trial_call_new(&sim, &arena, "neg(f32[13,2])", &trial_call, &usable, sizeof reason, reason);
    if (status == DT_OK && usable)
        status = dt__check_row(&trial_call, &row, &trial_set, &failure, &n_ranks, &n_trials);
    dt__sim_free(&sim);
    dt__arena_free(&arena);
    return status == DT_OK && usable && !failure;
}

static void verify__survives_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(verify_small_call, NULL) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference__is_the_published_one), cmocka_unit_test(reference__of_zeros_is_not_compared),
        cmocka_unit_test(reference__nan_equals_nan),       cmocka_unit_test(partials__reduce_to_the_value),
        cmocka_unit_test(partials__are_adversarial),       cmocka_unit_test(verify__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
