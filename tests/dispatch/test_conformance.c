/* SPDX-License-Identifier: Apache-2.0
 *
 * Published behaviors that need ops: strided shards through products, reductions, views and ops in place; implicit
 * redistribution; shards without elements; sub-meshes; plain tensors among distributed ones. Each value is
 * compared with that of plain tensors, and collectives are counted.
 */
#include "dispatch/published.h"

#include <string.h>

/* Whether a tensor of this value has these placements. Some can be written in more than one way: _S(0,2),S(0)
 * is S(0)[1],S(0)[0]. So local tensors are compared, except those of partials. */
static bool matches(dt_tensor *tensor, const char *place, dt_tensor *value) {
    char text[64];
    if (!strchr(place, 'P'))
        return tensors_equal(dt_to_local(tensor), dt_to_local(distributed(value, dt_tensor_mesh(tensor), place)));
    const dt_spec *spec = dt_tensor_spec(tensor);
    (void)dt_placements_text(dt_mesh_n_dims(dt_tensor_mesh(tensor)), dt_spec_placements(spec), sizeof text, text);
    return strcmp(text, place) == 0;
}

/* Checks value, placements and number of collectives of a result. */
static int check_result(dt_ctx *ctx, const char *id, dt_tensor *got, const char *place, int64_t n,
                        dt_tensor *expected) {
    CHECK(n_collectives(ctx) == n, "%s: expected %lld collectives, got %lld", id, (long long)n,
          (long long)n_collectives(ctx));
    CHECK(got && matches(got, place, expected), "%s: expected %s: %s", id, place, dt_error_text(ctx));
    CHECK(tensors_equal(dt_full_tensor(got), expected), "%s: the values differ", id);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    return 0;
}

static int products(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4,4");
    dt_tensor *a = counting(ctx, DT_SHAPE(16, 16)), *b = dt_add_scalar(a, 1), *ab = dt_matmul(a, b);
    dt_tensor *left = distributed(a, mesh, "S(1),S(1)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    if (check_result(ctx, "UTL-030", dt_matmul(left, distributed(b, mesh, "S(0),S(0)")), "P(sum),P(sum)", 0, ab))
        return 1;
    /* Another shard order: PyTorch gathers both, with four collectives. */
    dt_tensor *crossed = dt_matmul(left, distributed(b, mesh, "_S(0,4),S(0)"));
    CHECK(n_collectives(ctx) >= 1 && n_collectives(ctx) <= 4, "UTL-030: %lld", (long long)n_collectives(ctx));
    CHECK(crossed && tensors_equal(dt_full_tensor(crossed), ab), "UTL-030: %s", dt_error_text(ctx));
    /* UTL-032 */
    dt_tensor *c = counting(ctx, DT_SHAPE(2, 16)), *strided = distributed(c, mesh, "_S(1,4),S(1)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *scaled = dt_mul_scalar(c, 0.9), *more = dt_add_scalar(scaled, 1.0);
    if (check_result(ctx, "UTL-032", dt_mul_scalar_(strided, 0.9), "_S(1,4),S(1)", 0, scaled) ||
        check_result(ctx, "UTL-032", dt_add_scalar_(strided, 1.0), "_S(1,4),S(1)", 0, more))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

static int reductions(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2,2,2,2");
    dt_tensor *a = counting(ctx, DT_SHAPE(2, 16)), *x = distributed(a, mesh, "S(1),_S(1,2),S(1),S(0)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *down = dt_sum(x, .dim = DT_DIMS(0)), *across = dt_sum(x, .dim = DT_DIMS(1));
    CHECK(n_collectives(ctx) == 0, "UTL-031");
    CHECK(tensors_equal(dt_full_tensor(down), dt_sum(a, .dim = DT_DIMS(0))), "UTL-031: %s", dt_error_text(ctx));
    CHECK(tensors_equal(dt_full_tensor(across), dt_sum(a, .dim = DT_DIMS(1))), "UTL-031: %s", dt_error_text(ctx));
    /* UTL-036: expected failures in PyTorch; they work here. */
    dt_tensor *cube = counting(ctx, DT_SHAPE(4, 4, 8)), *split = dt_view(cube, DT_SHAPE(4, 4, 2, 4));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    if (check_result(ctx, "UTL-036", dt_view(distributed(cube, mesh, "_S(2,2),R,R,R"), DT_SHAPE(4, 4, 2, 4)),
                     "S(3),R,R,R", 0, split) ||
        check_result(ctx, "UTL-036", dt_view(distributed(cube, mesh, "_S(2,4),S(2),R,R"), DT_SHAPE(4, 4, 2, 4)),
                     "_S(3,2),S(2),R,R", 0, split))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

/* UTL-033, UTL-034, UTL-035 */
static int views(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const struct {
        const char *id, *mesh;
        int n;
        int64_t from[3], to[4];
        const char *before, *after; /* NULL: it is redistributed, see the list of deviations */
    } cases[] = {
        {"UTL-033", "3,2,2", 4, {24, 12, 24}, {12, 2, 12, 24}, "_S(0,2),_S(1,2),S(0)", "_S(0,2),_S(2,2),S(0)"},
        {"UTL-033", "3,2,2", 4, {24, 12, 24}, {12, 2, 12, 24}, "_S(0,2),R,R", "_S(0,2),R,R"},
        {"UTL-034", "3,4", 4, {48, 35, 26}, {24, 4, 35, 13}, "_S(0,2),S(0)", NULL},
        {"UTL-034", "3,4", 4, {48, 35, 26}, {24, 4, 35, 13}, "S(0),_S(0,2)", "S(0),_S(0,2)"},
        {"UTL-035", "3,4", 4, {2, 48, 2}, {2, 12, 4, 2}, "_S(1,2),S(1)", NULL},
        {"UTL-035", "3,4", 4, {2, 48, 2}, {2, 12, 4, 2}, "_S(1,2),R", "_S(1,2),R"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_mesh *mesh = dt_mesh_new(ctx, cases[i].mesh);
        dt_shape to = {cases[i].n, cases[i].to};
        dt_tensor *a = counting(ctx, (dt_shape){3, cases[i].from}), *x = distributed(a, mesh, cases[i].before);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *y = dt_view(x, to);
        CHECK(y && dt_tensor_shares(x, y) == (cases[i].after != NULL), "%s: %s", cases[i].id, dt_error_text(ctx));
        if (cases[i].after ? check_result(ctx, cases[i].id, y, cases[i].after, 0, dt_view(a, to))
                           : !tensors_equal(dt_full_tensor(y), dt_view(a, to)))
            return 1;
        dt_mesh_release(mesh);
    }
    return 0;
}

static int four_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    /* UTL-045: one implicit collective. */
    dt_tensor *x = counting(ctx, DT_SHAPE(8, 128)), *a = dt_eye(ctx, 128, 128);
    dt_tensor *rows = distributed(x, mesh, "S(0)"), *weight = distributed(a, mesh, "S(0)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *product = dt_mm(rows, weight);
    CHECK(n_collectives(ctx) == 1 && tensors_equal(dt_full_tensor(product), x), "UTL-045: %s", dt_error_text(ctx));
    /* UTL-046, UTL-047 */
    dt_scope strict = dt_scope_begin(ctx);
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    CHECK(!dt_mm(rows, weight) && strstr(dt_error_text(ctx), "mm"), "UTL-046: %s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_tensor *replicated = dt_redistribute(weight, "R");
    product = dt_mm(rows, replicated);
    CHECK(product && matches(product, "S(0)", x), "UTL-047: %s", dt_error_text(ctx));
    dt_scope_end(strict);
    /* DT-034: empty shards. */
    dt_tensor *small = counting(ctx, DT_SHAPE(2, 8)), *with_empty_shards = distributed(small, mesh, "S(0)");
    CHECK(dt_tensor_local_shape(with_empty_shards)[0] == (dt_rank(ctx) < 2), "DT-034");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    if (check_result(ctx, "DT-034", dt_add(with_empty_shards, with_empty_shards), "S(0)", 0, dt_add(small, small)) ||
        check_result(ctx, "DT-034", dt_mul_scalar(with_empty_shards, 3), "S(0)", 0, dt_mul_scalar(small, 3)) ||
        check_result(ctx, "DT-034", dt_sum(with_empty_shards), "P(sum)", 0, dt_sum(small)) ||
        check_result(ctx, "DT-034", dt_transpose(with_empty_shards, 0, 1), "S(1)", 0, dt_transpose(small, 0, 1)))
        return 1;
    /* DT-047, DT-050 */
    dt_tensor *ones = dt_ones(ctx, DT_SHAPE(32, 3)), *vector = dt_ones(ctx, DT_SHAPE(3)), *sum;
    dt_tensor *sharded = distributed(ones, mesh, "S(0)");
    dt_implicit_replication_begin(ctx);
    sum = dt_add(vector, sharded);
    dt_implicit_replication_end(ctx);
    if (check_result(ctx, "DT-047", sum, "S(0)", 0, dt_full(ctx, DT_SHAPE(32, 3), 2)) ||
        check_result(ctx, "DT-050", dt_add(sharded, dt_scalar(ctx, 1)), "S(0)", 0,
                     dt_full(ctx, DT_SHAPE(32, 3), 2)) ||
        check_result(ctx, "DT-050", dt_add(sharded, dt_ones(ctx, DT_SHAPE(1))), "S(0)", 0,
                     dt_full(ctx, DT_SHAPE(32, 3), 2)))
        return 1;
    /* PW-012, PW-014: norms of shards are met over, so the norm is a value like any. */
    static const double four[] = {1, 1, 7, 7};
    dt_tensor *vector_of_four = dt_zeros(ctx, DT_SHAPE(4), .dtype = DT_F64);
    memcpy(dt_data(vector_of_four), four, sizeof four);
    dt_tensor *norm = dt_norm(distributed(vector_of_four, mesh, "S(0)"));
    CHECK(norm && n_collectives(ctx) == 1, "PW-012: %s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    const struct {
        dt_tensor *got;
        double expected;
    } of_norm[] = {{norm, 10},
                   {dt_mul_scalar(norm, 2), 20},
                   {dt_div_scalar(norm, 2), 5},
                   {dt_mul_scalar(norm, -2), -20},
                   {dt_div_scalar(norm, -2), -5},
                   {dt_add_scalar(norm, 1), 11},
                   {dt_sub_scalar(norm, 1), 9}};
    for (size_t i = 0; i < sizeof of_norm / sizeof *of_norm; i++)
        if (check_result(ctx, "PW-012, PW-014", of_norm[i].got, "R", 0,
                         dt_full(ctx, DT_SHAPE(), of_norm[i].expected, .dtype = DT_F64)))
            return 1;
    /* API-014, without modules and autocasting. */
    dt_tensor *narrow = dt_to(sharded, DT_BF16);
    CHECK(dt_tensor_dtype(narrow) == DT_BF16 && dt_tensor_dtype(dt_to_local(narrow)) == DT_BF16, "API-014");
    dt_mesh_release(mesh);
    return 0;
}

/* VIEW-032: a dim that a view does not touch may be sharded unevenly; the view has the memory of its base. */
static int untouched_dims(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "6");
    for (int64_t size = 1; size <= 7; size += 6) {
        const int64_t shapes[][4] = {{size, 2, 4}, {size, 4, 2}, {size, 8}, {size, 2, 2, 2}};
        static const int n_dims[] = {3, 3, 2, 4};
        dt_tensor *x = distributed(counting(ctx, DT_SHAPE(size, 2, 2, 2)), mesh, "S(0)");
        for (int i = 0; i < 4; i++) {
            CHECK_OK(ctx, dt_comm_stats_begin(ctx));
            const dt_shape to = {n_dims[i], shapes[i]};
            dt_tensor *y = dt_view(x, to);
            CHECK(y && n_collectives(ctx) == 0 && dt_tensor_shares(x, y) && dt_data(x) == dt_data(y), "VIEW-032: %s",
                  dt_error_text(ctx));
        }
    }
    dt_mesh_release(mesh);
    return 0;
}

/* The collectives of one kind since dt_comm_stats_begin. */
static int64_t n_of_kind(const dt_ctx *ctx, const char *kind) {
    return dt_comm_stats(ctx, &(dt_comm_filter){.collective = kind}).n;
}

static int embeddings_and_equality(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    /* EMB-004: the result of sharded rows is partial; reading it is one all-reduce. */
    dt_tensor *table = counting(ctx, DT_SHAPE(10, 20));
    dt_tensor *rows = dt_to(dt_remainder(counting(ctx, DT_SHAPE(8, 8)), dt_full(ctx, DT_SHAPE(), 10)), DT_I64);
    dt_tensor *weight = distributed(table, mesh, "S(0)"), *index = distributed(rows, mesh, "R");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *found = dt_embedding(index, weight);
    CHECK(found && n_collectives(ctx) == 0 && matches(found, "P(sum)", NULL), "EMB-004: %s", dt_error_text(ctx));
    dt_tensor *full = dt_full_tensor(found);
    CHECK(n_collectives(ctx) == 1 && n_of_kind(ctx, "all_reduce") == 1, "EMB-004: %lld",
          (long long)n_collectives(ctx));
    CHECK(tensors_equal(full, dt_embedding(rows, table)), "EMB-004: the values differ");
    /* DT-036: values are compared, whatever the placements. */
    dt_tensor *a = distributed(table, mesh, "R"), *b = distributed(dt_add_scalar(table, 1), mesh, "R");
    CHECK(dt_item(dt_equal(a, distributed(table, mesh, "R"))) == 1, "DT-036: %s", dt_error_text(ctx));
    CHECK(dt_item(dt_equal(a, b)) == 0 && dt_item(dt_equal(a, weight)) == 1, "DT-036: %s", dt_error_text(ctx));
    CHECK(!dt_equal(a, table), "DT-036: a plain tensor");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_tensor *answer = distributed(dt_full(ctx, DT_SHAPE(), 42), mesh, "R");
    CHECK(dt_item(dt_full_tensor(answer)) == 42 && dt_item(dt_to_local(answer)) == 42, "DT-036");
    /* MATH-038, the conjugate. */
    dt_tensor *z = dt_ones(ctx, DT_SHAPE(1, 1), .dtype = DT_C64);
    ((float *)dt_data(z))[1] = 2;
    dt_tensor *placed = distributed(z, mesh, "R");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *more = dt_add_scalar(dt_conj(placed), 1);
    CHECK(more && n_collectives(ctx) == 0, "MATH-038: %s", dt_error_text(ctx));
    const float *parts = dt_data(dt_full_tensor(more));
    CHECK(parts[0] == 2 && parts[1] == -2, "MATH-038: expected 2 - 2i, got %g %+gi", (double)parts[0],
          (double)parts[1]);
    /* PW-024, in place. */
    dt_tensor *half = dt_full(ctx, DT_SHAPE(8, 3), 0.5),
              *list[] = {distributed(half, mesh, "S(0)"), distributed(half, mesh, "S(1)")};
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK_OK(ctx, dt_foreach_acos_(((dt_tensors){2, list})));
    CHECK(n_collectives(ctx) == 0 && tensors_equal(dt_full_tensor(list[0]), dt_acos(half)) &&
              tensors_equal(dt_full_tensor(list[1]), dt_acos(half)) && matches(list[0], "S(0)", dt_acos(half)) &&
              matches(list[1], "S(1)", dt_acos(half)),
          "PW-024: %s", dt_error_text(ctx));
    /* MAT-025: a transposed partial product. */
    dt_tensor *left = counting(ctx, DT_SHAPE(12, 8)), *right = counting(ctx, DT_SHAPE(8, 4));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    if (check_result(ctx, "MAT-025", dt_t(dt_mm(distributed(left, mesh, "S(1)"), distributed(right, mesh, "S(0)"))),
                     "P(sum)", 0, dt_t(dt_mm(left, right))))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

/* The exponential of a partial sum whose contributions leave the range of their dtype: the sum is reduced first. */
static int exponentials(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    static const struct {
        dt_dtype dtype;
        double part;
    } cases[] = {{DT_F32, 200}, {DT_F16, 20}, {DT_F64, 1000}};
    for (int i = 0; i < 3; i++) {
        const double part = dt_rank(ctx) % 2 ? -cases[i].part : cases[i].part;
        dt_tensor *x = dt_from_local(ctx, dt_full(ctx, DT_SHAPE(5), part, .dtype = cases[i].dtype), mesh, "P(sum)");
        dt_tensor *one = dt_full_tensor(dt_exp(x)), *two = dt_full_tensor(dt_exp2(x));
        CHECK(one && two && dt_item(dt_amin(dt_to(one, DT_F64))) == 1 && dt_item(dt_amax(dt_to(two, DT_F64))) == 1,
              "exp of 0 in %s: %s", dt_dtype_name(cases[i].dtype), dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

/* The extremes of a dim with their positions, and the first of all by size. */
static int orders(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_tensor *a = dt_randn(ctx, DT_SHAPE(128, 64));
    static const char *const places[] = {"S(0)", "S(1)", "P(sum)"}; /* MATH-003 */
    dt_max_dim_result most = dt_max_dim(a, 1);
    dt_min_dim_result least = dt_min_dim(a, 1);
    for (int p = 0; p < 3; p++) {
        dt_tensor *x = distributed(a, mesh, places[p]);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_max_dim_result got = dt_max_dim(x, 1);
        CHECK(n_collectives(ctx) == (p > 0), "MATH-003: %lld", (long long)n_collectives(ctx));
        CHECK(got.values && tensors_equal(dt_full_tensor(got.values), most.values) &&
                  tensors_equal(dt_full_tensor(got.indices), most.indices),
              "MATH-003: %s: %s", places[p], dt_error_text(ctx));
        dt_min_dim_result low = dt_min_dim(x, 1);
        CHECK(low.values && tensors_equal(dt_full_tensor(low.values), least.values) &&
                  tensors_equal(dt_full_tensor(low.indices), least.indices),
              "MATH-003: %s: %s", places[p], dt_error_text(ctx));
    }
    /* MATH-005 */
    dt_tensor *partial = dt_from_local(ctx, a, mesh, "P(max)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    if (check_result(ctx, "MATH-005", dt_max(partial), "P(max)", 0, dt_max(a)))
        return 1;
    dt_tensor *cube = dt_randn(ctx, DT_SHAPE(8, 8, 8));
    static const char *const cuts[] = {"S(0)", "S(1)", "S(2)", "R"};
    for (int c = 0; c < 4; c++) {
        dt_tensor *x = distributed(cube, mesh, cuts[c]);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_topk_result got = dt_topk(x, 3, .dim = DT_INT(0)), expected = dt_topk(cube, 3, .dim = DT_INT(0));
        CHECK(n_collectives(ctx) == (c == 0), "topk of %s: %lld", cuts[c], (long long)n_collectives(ctx));
        CHECK(got.values && tensors_equal(dt_full_tensor(got.values), expected.values) &&
                  tensors_equal(dt_full_tensor(got.indices), expected.indices),
              "topk of %s: %s", cuts[c], dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

/* DT-043, DT-044, DT-045 */
static int ranks_outside_the_mesh(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t ranks[] = {0, 2}, two = 2;
    dt_mesh *mesh = dt_mesh_from_ranks(ctx, ranks, &two, 1, NULL);
    bool member = dt_rank(ctx) == 0 || dt_rank(ctx) == 2;
    dt_tensor *x =
        dt_from_local(ctx, member ? dt_ones(ctx, DT_SHAPE(3, 4)) : NULL, mesh, "S(0)", .shape = DT_SHAPE(6, 4));
    CHECK(x, "DT-043: %s", dt_error_text(ctx));
    dt_tensor *y = dt_add_scalar(x, 2);
    CHECK(y && dt_tensor_local_elements(y) == (member ? 12 : 0), "DT-043: %s", dt_error_text(ctx));
    CHECK(!member || ((float *)dt_data(y))[11] == 3, "DT-043");
    CHECK(dt_mul_scalar_(x, 0.5) == x && dt_add_scalar_(x, 1.0) == x, "DT-044: %s", dt_error_text(ctx));
    CHECK(dt_tensor_local_elements(x) == (member ? 12 : 0) && (!member || ((float *)dt_data(x))[5] == 1.5F),
          "DT-044");
    dt_tensor *same = dt_equal(y, dt_add_scalar(x, 1.5)); /* both are 3 */
    CHECK(same && (!member || dt_item(same) == 1), "DT-045: equal: %s", dt_error_text(ctx));
    dt_tensor *sum = dt_sum(y), *parts[2];
    CHECK(sum && (!member || ((float *)dt_data(sum))[0] == 36), "DT-045: %s", dt_error_text(ctx));
    CHECK(dt_split_sizes(y, DT_INTS(2, 2), parts, 2, .dim = DT_INT(1)) == 2, "DT-045: %s", dt_error_text(ctx));
    for (int i = 0; i < 2; i++)
        CHECK(dt_tensor_local_elements(parts[i]) == (member ? 6 : 0), "DT-045: part %d", i);
    dt_mesh_release(mesh);
    return 0;
}

static void ops__take_strided_shards_as_they_are(void **state) {
    (void)state;
    run_ranks(16, products, NULL);
    run_ranks(16, reductions, NULL);
    run_ranks(12, views, NULL);
}

static void ops__move_no_more_than_they_must(void **state) {
    (void)state;
    run_ranks(4, four_ranks, NULL);
}

static void ops__keep_what_they_can(void **state) {
    (void)state;
    run_ranks(6, untouched_dims, NULL);
    run_ranks(4, embeddings_and_equality, NULL);
    run_ranks(4, exponentials, NULL);
}

static void ops__select_by_order(void **state) {
    (void)state;
    run_ranks(4, orders, NULL);
}

static void ops__run_on_ranks_outside_the_mesh(void **state) {
    (void)state;
    run_ranks(8, ranks_outside_the_mesh, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops__take_strided_shards_as_they_are),
        cmocka_unit_test(ops__move_no_more_than_they_must),
        cmocka_unit_test(ops__keep_what_they_can),
        cmocka_unit_test(ops__select_by_order),
        cmocka_unit_test(ops__run_on_ranks_outside_the_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
