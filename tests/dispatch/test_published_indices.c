/* SPDX-License-Identifier: Apache-2.0
 *
 * Published behaviors of ops that select, put and normalize: values are those of plain tensors, for the placements
 * that are listed, and placements and numbers of collectives where they are published. The id of each is in its row.
 */
#include "dispatch/published.h"

static dt_tensor *median_of_all(dt_tensor **in) { return dt_median(in[0]); }
static dt_tensor *nanmedian_of_all(dt_tensor **in) { return dt_nanmedian(in[0]); }
static dt_tensor *nanmedian_rows(dt_tensor **in) { return dt_nanmedian_dim(in[0], 0).values; }
static dt_tensor *nanmedian_columns(dt_tensor **in) { return dt_nanmedian_dim(in[0], 1).indices; }
static dt_tensor *third_row(dt_tensor **in) { return dt_kthvalue(in[0], 3, .dim = DT_INT(0)).indices; }
static dt_tensor *third_column(dt_tensor **in) { return dt_kthvalue(in[0], 3, .dim = DT_INT(1)).values; }
static dt_tensor *mode_of_rows(dt_tensor **in) { return dt_mode(dt_sign(in[0]), .dim = DT_INT(0)).values; }
static dt_tensor *mode_of_columns(dt_tensor **in) { return dt_mode(dt_sign(in[0]), .dim = DT_INT(1)).indices; }
static dt_tensor *histogram(dt_tensor **in) { return dt_histc(in[0], 7, -40, 40); }
static dt_tensor *histogram_of_range(dt_tensor **in) { return dt_histc(in[0], 7, 0, 0); }
static dt_tensor *complex_and_back(dt_tensor **in) { return dt_view_as_real(dt_view_as_complex(in[0])); }
static dt_tensor *tensordot(dt_tensor **in) { return dt_tensordot(in[0], in[1], DT_INTS(0), DT_INTS(0)); }
static dt_tensor *groups(dt_tensor **in) { return dt_group_norm(in[0], 3); }
static dt_tensor *affine_groups(dt_tensor **in) { return dt_group_norm(in[0], 3, .weight = in[1], .bias = in[2]); }
static dt_tensor *evaluated(dt_tensor **in) {
    return dt_batch_norm(in[0], .running_mean = in[1], .running_var = dt_mul(in[2], in[2]));
}
static dt_tensor *trained(dt_tensor **in) {
    return dt_batch_norm(in[0], .running_mean = in[1], .running_var = in[2], .weight = in[3], .bias = in[4],
                         .training = true);
}
static dt_tensor *at_first(dt_tensor **in) { return dt_index(in[0], DT_TENSORS(in[1])); }
static dt_tensor *at_second(dt_tensor **in) { return dt_index(in[0], DT_TENSORS(NULL, in[1])); }
static dt_tensor *at_last(dt_tensor **in) { return dt_index(in[0], DT_TENSORS(NULL, NULL, in[1])); }
static dt_tensor *at_both(dt_tensor **in) { return dt_index(in[0], DT_TENSORS(in[1], in[2])); }
static dt_tensor *put(dt_tensor **in) { return dt_index_put(in[0], DT_TENSORS(in[1]), in[2]); }
static dt_tensor *add(dt_tensor **in) { return dt_index_put(in[0], DT_TENSORS(in[1]), in[2], .accumulate = true); }
static dt_tensor *put_second(dt_tensor **in) { return dt_index_put(in[0], DT_TENSORS(NULL, in[1]), in[2]); }
static dt_tensor *put_last(dt_tensor **in) { return dt_index_put(in[0], DT_TENSORS(NULL, NULL, in[1]), in[2]); }
static dt_tensor *put_in_place(dt_tensor **in) { return dt_index_put_(in[0], DT_TENSORS(in[1]), in[2]); }
static dt_tensor *put_number(dt_tensor **in) {
    return dt_index_put(in[0], DT_TENSORS(in[1]), dt_new_full(in[0], DT_SHAPE(), 5));
}
static dt_tensor *copy_at(dt_tensor **in) { return dt_index_copy(in[0], 0, in[1], in[2]); }
static dt_tensor *copy_columns(dt_tensor **in) { return dt_index_copy(in[0], 1, in[1], in[2]); }
static dt_tensor *add_at(dt_tensor **in) { return dt_index_add(in[0], 0, in[1], in[2]); }
static dt_tensor *add_columns(dt_tensor **in) { return dt_index_add(in[0], 1, in[1], in[2]); }
static dt_tensor *fill_columns(dt_tensor **in) { return dt_index_fill(in[0], 1, in[1], 3); }
static dt_tensor *mean_of_columns(dt_tensor **in) { return dt_index_reduce(in[0], 1, in[1], in[2], "mean"); }
static dt_tensor *largest_of_columns(dt_tensor **in) { return dt_index_reduce(in[0], 1, in[1], in[2], "amax"); }
static dt_tensor *smallest_of_columns(dt_tensor **in) { return dt_index_reduce(in[0], 1, in[1], in[2], "amin"); }
static dt_tensor *product_of_columns(dt_tensor **in) { return dt_index_reduce(in[0], 1, in[1], in[2], "prod"); }
static dt_tensor *scatter_first(dt_tensor **in) { return dt_select_scatter(in[0], in[1], 0, 2); }
static dt_tensor *scatter_second(dt_tensor **in) { return dt_select_scatter(in[0], in[1], 1, 1); }
static dt_tensor *scatter_third(dt_tensor **in) { return dt_select_scatter(in[0], in[1], 2, 3); }
static dt_tensor *scatter_diagonal(dt_tensor **in) { return dt_diagonal_scatter(in[0], in[1], 0, 1, 2); }
static dt_tensor *scatter_slice(dt_tensor **in) { return dt_slice_scatter(in[0], in[1], 0, 1, 9, 2); }
static dt_tensor *scatter_columns(dt_tensor **in) { return dt_slice_scatter(in[0], in[1], 1, 2, 5, 1); }
static dt_tensor *buckets(dt_tensor **in) { return dt_bucketize(in[0], dt_mul(in[1], in[1])); }

static const published cases[] = {
    {"MATH-007", "4", median_of_all, {{{12, 8}, "S(0)", 0}}, NULL, -1},
    {"MATH-007", "4", nanmedian_of_all, {{{12, 8}, "S(0)", 0}}, NULL, -1},
    {"MATH-008", "4", nanmedian_rows, {{{12, 8}, "S(0)", 0}}, NULL, 1},
    {"MATH-008", "4", nanmedian_columns, {{{12, 8}, "S(0)", 0}}, "S(0)", 0},
    {"MATH-008", "4", third_row, {{{12, 8}, "S(0)", 0}}, NULL, 1},
    {"MATH-008", "4", third_column, {{{12, 8}, "S(0)", 0}}, "S(0)", 0},
    {"MATH-008", "4", mode_of_rows, {{{12, 8}, "S(0)", 0}}, NULL, 1},
    {"MATH-008", "4", mode_of_columns, {{{12, 8}, "S(0)", 0}}, "S(0)", 0},
    {"MATH-012", "4", histogram, {{{12, 8, 8}, "S(0)", 0}}, "P(sum)", 0},
    {"MATH-012", "4", histogram, {{{12, 8, 8}, "S(2)", 0}}, "P(sum)", 0},
    {"MATH-012", "4", histogram_of_range, {{{12, 8, 8}, "S(1)", 0}}, NULL, 2},
    {"MATH-012", "4", histogram_of_range, {{{12, 8, 8}, "R", 0}}, "R", 0},
    {"VIEW-025", "3,2", complex_and_back, {{{24, 13, 2}, "R,S(0)", 0}}, "R,S(0)", 0},
    {"VIEW-025", "3,2", complex_and_back, {{{24, 13, 2}, "S(0),S(0)", 0}}, "S(0),S(0)", 0},
    {"VIEW-026", "3,2", complex_and_back, {{{24, 13, 2}, "P(sum),R", 0}}, "P(sum),R", 0},
    {"VIEW-026", "3,2", complex_and_back, {{{24, 13, 2}, "P(max),R", 0}}, NULL, -1},
    {"MATH-042", "4", evaluated, {{{8, 6, 4}, "S(0)", 0}, {{6}, "R", 0}, {{6}, "R", 0}}, "S(0)", 0},
    {"MATH-043",
     "4",
     trained,
     {{{8, 8, 4}, "S(1)", 0}, {{8}, "S(0)", 0}, {{8}, "S(0)", 0}, {{8}, "S(0)", 0}, {{8}, "S(0)", 0}},
     "S(1)",
     0},
    {"MATH-044", "4", groups, {{{8, 6, 4}, "S(0)", 0}}, "S(0)", 0},
    {"MATH-044", "4", affine_groups, {{{8, 6, 4}, "S(0)", 0}, {{6}, "R", 0}, {{6}, "R", 0}}, "S(0)", 0},
    {"TOP-031", "4", at_first, {{{16, 32, 4}, "S(1)", 0}, {{4, 8}, "R", 16}}, NULL, 0},
    {"TOP-031", "4", at_second, {{{16, 32, 4}, "S(0)", 0}, {{12}, "R", 32}}, NULL, 0},
    {"TOP-031", "4", at_last, {{{4, 8, 16}, "S(1)", 0}, {{4, 12}, "R", 16}}, NULL, 0},
    {"TOP-031", "4", at_both, {{{16, 32, 4}, "S(2)", 0}, {{6, 4}, "R", 16}, {{6, 4}, "R", 32}}, NULL, 0},
    {"TOP-031", "4", at_both, {{{16, 32, 4}, "S(0)", 0}, {{6, 4}, "S(0)", 16}, {{1, 4}, "R", 32}}, NULL, -1},
    {"TOP-032", "2,2", put_number, {{{2, 4, 8}, "S(0),S(1)", 0}, {{1}, "R,R", 2}}, NULL, -1},
    {"TOP-033", "2,2", put, {{{2, 4, 8}, "S(0),R", 0}, {{1}, "R,R", 2}, {{4, 8}, "S(1),R", 0}}, NULL, -1},
    {"TOP-033", "2,2", add, {{{2, 4, 8}, "S(0),R", 0}, {{1}, "R,R", 2}, {{4, 8}, "S(1),R", 0}}, NULL, -1},
    {"TOP-034", "4", put, {{{8, 6}, "S(0)", 0}, {{3}, "S(0)", 8}, {{3, 6}, "S(1)", 0}}, NULL, -1},
    {"TOP-035", "4", put, {{{8, 6}, "P(sum)", 0}, {{3}, "R", 8}, {{3, 6}, "P(sum)", 0}}, "P(sum)", 0},
    {"TOP-035", "4", add, {{{8, 6}, "P(sum)", 0}, {{3}, "R", 8}, {{3, 6}, "P(sum)", 0}}, "P(sum)", 0},
    {"TOP-036", "4", put, {{{3, 6}, "S(1)", 0}, {{7}, "R", 3}, {{7, 6}, "S(1)", 0}}, "S(1)", 0},
    {"TOP-036", "4", add, {{{3, 6}, "S(1)", 0}, {{7}, "R", 3}, {{7, 6}, "S(1)", 0}}, "S(1)", 0},
    {"TOP-037", "4", put, {{{3, 6}, "S(1)", 0}, {{2}, "R", 3}, {{2, 1}, "R", 0}}, "S(1)", 0},
    {"TOP-038", "4", copy_at, {{{8, 6}, "P(max)", 0}, {{3}, "R", 8}, {{3, 6}, "P(max)", 0}}, "P(max)", 0},
    {"TOP-038", "4", copy_at, {{{8, 6}, "P(sum)", 0}, {{3}, "R", 8}, {{3, 6}, "P(sum)", 0}}, "P(sum)", 0},
    {"TOP-038", "4", add_at, {{{8, 6}, "P(avg)", 0}, {{3}, "R", 8}, {{3, 6}, "P(avg)", 0}}, "P(avg)", 0},
    {"TOP-039", "4", put_second, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}, {{6, 3}, "S(1)", 0}}, NULL, -1},
    {"TOP-039", "4", copy_columns, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}, {{6, 3}, "S(1)", 0}}, NULL, -1},
    {"TOP-039", "4", add_columns, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}, {{6, 3}, "S(1)", 0}}, NULL, -1},
    {"TOP-040", "4", fill_columns, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}}, "S(0)", 0},
    {"TOP-040", "4", mean_of_columns, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}, {{6, 3}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-040", "4", largest_of_columns, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}, {{6, 3}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-040", "4", smallest_of_columns, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}, {{6, 3}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-040", "4", product_of_columns, {{{6, 8}, "S(0)", 0}, {{3}, "R", 8}, {{6, 3}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-041", "4", put, {{{4, 8, 6}, "S(1)", 0}, {{3}, "R", 4}, {{3, 8, 6}, "S(1)", 0}}, "S(1)", 0},
    {"TOP-041", "4", put_in_place, {{{4, 8, 6}, "S(1)", 0}, {{3}, "R", 4}, {{3, 8, 6}, "S(1)", 0}}, "S(1)", 0},
    {"TOP-041", "4", put_last, {{{4, 8, 6}, "S(0)", 0}, {{3}, "R", 6}, {{4, 8, 3}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-044", "4", scatter_first, {{{8, 4, 6}, "S(1)", 0}, {{4, 6}, "S(0)", 0}}, "S(1)", 0},
    {"TOP-044", "4", scatter_second, {{{8, 4, 6}, "S(2)", 0}, {{8, 6}, "S(1)", 0}}, "S(2)", 0},
    {"TOP-044", "4", scatter_third, {{{8, 4, 6}, "S(0)", 0}, {{8, 4}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-045", "4", scatter_diagonal, {{{8, 4, 6}, "S(0)", 0}, {{8, 4}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-046", "4", buckets, {{{6, 8}, "P(sum)", 0}, {{1}, "R", 0}}, NULL, 1},
    {"TOP-046", "4", buckets, {{{6, 8}, "P(max)", 0}, {{1}, "R", 0}}, "P(max)", 0},
    {"TOP-046", "4", buckets, {{{6, 8}, "S(1)", 0}, {{1}, "R", 0}}, "S(1)", 0},
    {"TOP-046", "4", buckets, {{{6, 8}, "R", 0}, {{1}, "S(0)", 0}}, NULL, -1},
    {"VIEW-055", "4", scatter_slice, {{{9, 6}, "S(0)", 0}, {{4, 6}, "R", 0}}, "S(0)", 0},
    {"VIEW-055", "4", scatter_columns, {{{9, 6}, "S(0)", 0}, {{9, 3}, "S(0)", 0}}, "S(0)", 0},
    {"MAT-030", "4", tensordot, {{{4, 4}, "S(0)", 0}, {{4, 15}, "S(0)", 0}}, "P(sum)", 0},
    {"MAT-030", "4", tensordot, {{{4, 4}, "S(1)", 0}, {{4, 15}, "R", 0}}, "S(0)", 0},
    {"MAT-030", "4", tensordot, {{{4, 4}, "R", 0}, {{4, 15}, "S(1)", 0}}, "S(1)", 0},
    {"MAT-030", "4", tensordot, {{{4, 4}, "S(0)", 0}, {{4, 15}, "S(1)", 0}}, NULL, -1},
    {"MAT-030", "4", tensordot, {{{4, 4}, "S(1)", 0}, {{4, 15}, "S(1)", 0}}, NULL, -1},
};

static int check_all(dt_ctx *ctx, void *arg) {
    return published_check(ctx, sizeof cases / sizeof *cases, cases, arg);
}

static void published__indices_and_norms(void **state) {
    (void)state;
    run_ranks(4, check_all, "4");
    run_ranks(4, check_all, "2,2");
    run_ranks(6, check_all, "3,2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(published__indices_and_norms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
