/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements as values and as text: equality, invalid values, and the columns of syntax errors.
 */
#include "spec/brute.h"

static void placement__kinds_are_distinguished(void **state) {
    (void)state; /* PLT-001, DTC-001 */
    const struct {
        dt_placement placement;
        bool is_shard, is_strided, is_partial, is_replicate;
    } rows[] = {
        {dt_placement_shard(3), true, false, false, false},
        {dt_placement_shard(0), true, false, false, false},
        {dt_placement_strided(0, 2), false, true, false, false},
        {dt_placement_strided(0, 3), false, true, false, false},
        {dt_placement_strided(0, 4), false, true, false, false},
        {dt_placement_strided(3, 7), false, true, false, false},
        {dt_placement_partial(DT_SUM), false, false, true, false},
        {dt_placement_partial(DT_MAX), false, false, true, false},
        {dt_placement_masked(), false, false, true, false},
        {dt_placement_replicate(), false, false, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_placement copy = rows[i].placement;
        check_equal("kind", dt_placement_is_shard(copy), rows[i].is_shard);
        check_equal("kind", dt_placement_is_strided(copy), rows[i].is_strided);
        check_equal("kind", dt_placement_is_partial(copy), rows[i].is_partial);
        check_equal("kind", dt_placement_is_replicate(copy), rows[i].is_replicate);
    }
}

static void placement__equal_means_the_same_kind_and_fields(void **state) {
    (void)state; /* PLT-002, PLT-003: the split factor has a field of its own */
    static const int64_t extents[] = {1, 2}, same[] = {1, 2}, other[] = {2, 1};
    dt_placement ordered = dt_placement_shard(3), with_extents = dt_placement_shard(3), with_other = with_extents;
    ordered.ordered = true;
    with_extents.n_extents = with_other.n_extents = 2;
    with_extents.extents = extents;
    with_other.extents = other;
    const dt_placement all[] = {
        dt_placement_shard(3),
        dt_placement_shard(4),
        dt_placement_strided(3, 1),
        dt_placement_strided(3, 2),
        {.kind = DT_PLACEMENT_STRIDED, .dim = 4, .split_factor = 9},
        dt_placement_replicate(),
        dt_placement_partial(DT_SUM),
        dt_placement_partial(DT_MAX),
        dt_placement_masked(),
        ordered,
        with_extents,
        with_other,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            check_equal("equality", dt_placement_equal(&all[i], &all[k]), i == k);
    with_other.extents = same;
    assert_true(dt_placement_equal(&with_extents, &with_other));
}

static void placements__text_round_trips(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",         "R",       "S(0)",         "S(-1)",           "_S(0,2)",
        "P(sum)",   "P(avg)",  "P(product)",   "P(min)",          "P(max)",
        "P(mask)",  "S(0),R",  "S(0:3,5,2)",   "S(0:0)",          "S(0)[1],S(0)[0]",
        "S(0:3),R", "R,R,R,R", "_S(-2,3)[0]",  "S(0:1,2)[0],R",   "S(1)[1],S(1)[2],S(1)[0]",
        "S(31)",    "S(-32)",  "S(0)[31],R,R", "S(0:1,2),S(1:3)", "_S(0,9223372036854775807)",
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int n = -1;
        char printed[200];
        dt_placement *placements = dt_placements_parse(ctx, texts[i], &n);
        if (!placements)
            fail_msg("%s: %s", texts[i], dt_error_text(ctx));
        assert_int_equal(dt_placements_text(n, placements, sizeof printed, printed), strlen(texts[i]));
        assert_string_equal(printed, texts[i]);
        dt_placements_free(ctx, placements);
    }
    dt__ctx_free(ctx);
}

static void placements__blanks_between_tokens_are_ignored(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    int n;
    char printed[100];
    dt_placement *placements = dt_placements_parse(ctx, "  S( 0 : 3 , 5 ) [ 0 ] ,\tR, _S(0, 3) ,P( sum )  ", &n);
    assert_non_null(placements);
    dt_placements_text(n, placements, sizeof printed, printed);
    assert_string_equal(printed, "S(0:3,5)[0],R,_S(0,3),P(sum)");
    dt_placements_free(ctx, placements);
    dt__ctx_free(ctx);
}

static void placements__text_is_truncated_to_the_capacity(void **state) {
    (void)state;
    dt_placement placements[] = {dt_placement_shard(0), dt_placement_strided(1, 12345)};
    char out[16];
    memset(out, 'x', sizeof out);
    assert_int_equal(dt_placements_text(2, placements, 8, out), 16);
    assert_string_equal(out, "S(0),_S");
    assert_int_equal(out[8], 'x');
    assert_int_equal(dt_placements_text(2, placements, 1, out), 16);
    assert_string_equal(out, "");
    assert_int_equal(dt_placements_text(2, placements, 0, NULL), 16);
}

static void placements__random_values_round_trip(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(5);
    for (int i = 0; i < 5000; i++) {
        brute_case c;
        char text[400], again[400];
        int n;
        dt_placement *read;
        dt__arena_mark mark = dt__arena_begin(&arena);
        brute_random_case(&random, 60, &c);
        dt__sharding sharding = brute_sharding(&arena, &c);
        const dt_placement *const written[] = {c.placements, sharding.placements};
        for (int k = 0; k < 2; k++) {
            dt_placements_text(c.n_mesh_dims, written[k], sizeof text, text);
            assert_int_equal(dt__placements_parse(&arena, text, &n, &read), DT_OK);
            check_equal(text, n, c.n_mesh_dims);
            for (int m = 0; m < n; m++)
                check_equal(text, dt_placement_equal(&read[m], &written[k][m]), true);
            dt_placements_text(n, read, sizeof again, again);
            assert_string_equal(again, text);
        }
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void placements__errors_point_at_the_character(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *message;
    } rows[] = {
        {"S(0,R", 4, "expected ')' or ':'"},
        {"S", 2, "expected '('"},
        {"S0", 1, "expected a placement"},
        {"S()", 3, "a tensor dim"},
        {"S(x)", 3, "a tensor dim"},
        {"S(99)", 3, "from -32 to 31"},
        {"S(-33)", 3, "from -32 to 31"},
        {"S(99999999999999999999)", 3, "from -32 to 31"},
        {"S(0),", 6, "expected a placement"},
        {"S(0),,R", 6, "expected a placement"},
        {"S(0) R", 6, "expected ',' or the end"},
        {"S(0)R", 5, "expected ',' or the end"},
        {"R,P(median)", 5, "sum, avg, product, min, max or mask"},
        {"P(summ)", 3, "sum, avg"},
        {"P(sum", 6, "expected ')'"},
        {"P", 2, "expected '('"},
        {"_S(0)", 5, "split factor"},
        {"_S(0,0)", 6, "a split factor must be from 1"},
        {"_S(0,-1)", 6, "expected a split factor"},
        {"_S(0,2:1,1)", 7, "expected ')'"},
        {"S(0:)", 5, "expected an extent"},
        {"S(0:1,)", 7, "expected an extent"},
        {"S(0:-1)", 5, "expected an extent"},
        {"S(0:9223372036854775808)", 5, "an extent must be from 0 to 9223372036854775807"},
        {"S(0)[", 6, "a position"},
        {"S(0)[1", 7, "expected ']'"},
        {"S(0)[-1]", 6, "a position"},
        {"R[0]", 2, "expected ',' or the end"},
        {"s(0)", 1, "expected a placement"},
        {"\xc3\xa4(0)", 1, "expected a placement"},
        {"R,\xc3\xa4\xc3\xb6", 3, "expected a placement"},
        {"R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R", 65, "expected at most 32 placements"},
        {"S(0:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,x,1,1,1)", 77, "an extent"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        int n;
        char column[40];
        assert_null(dt_placements_parse(ctx, rows[i].text, &n));
        snprintf(column, sizeof column, "column %d:", rows[i].column);
        assert_error_contains(ctx, DT_ERR_PLACEMENT, column);
        assert_error_contains(ctx, DT_ERR_PLACEMENT, rows[i].message);
        dt__ctx_free(ctx);
    }
}

static void placements__null_text_is_an_error(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    int n;
    assert_null(dt_placements_parse(ctx, NULL, &n));
    assert_error_contains(ctx, DT_ERR_PLACEMENT, "NULL");
    dt_placements_free(ctx, NULL);
    dt__ctx_free(ctx);
}

/* Placements that are invalid on a mesh of 2x3 for a tensor of 10x5. */
static void placements__invalid_for_mesh_and_shape_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"S(0)", "wrong number: expected 2, one per mesh dim, got 1"},
        {"S(0),R,R", "expected 2, one per mesh dim, got 3"},
        {"", "expected 2, one per mesh dim, got 0"},
        {"S(2),R", "wrong tensor dim: expected -2 to 1, got 2"},
        {"R,S(-3)", "S(-3) on mesh dim 1"},
        {"_S(5,2),R", "_S(5,2) on mesh dim 0"},
        {"P(sum),P(max)", "cannot be mixed, except sum with avg"},
        {"P(avg),P(min)", "cannot be mixed"},
        {"P(mask),P(sum)", "P(mask),P(sum): kinds of partial cannot be mixed"},
        {"S(0)[0],S(0)", "1 of the 2 shards of dim 0 have a position"},
        {"S(0)[0],S(0)[0]", "two shards of dim 0 have position 0"},
        {"S(0)[0],S(0)[2]", "wrong position among the shards of dim 0: expected 0 to 1, got 2"},
        {"S(0)[1],S(1)[0]", "expected 0 to 0, got 1"},
        {"S(0:5,5,0),R", "wrong number of extents: expected 2, got 3"},
        {"S(0:5),R", "wrong number of extents: expected 2, got 1"},
        {"S(0:5,6),R", "add up to more than the size of the dim: 10"},
        {"S(0:5,4),R", "wrong sum of the extents: expected 10, got 9"},
        {"S(0:9223372036854775807,9223372036854775807),R", "add up to more than"},
        {"S(0:4,6),S(0)", "expected 1, got 2"},
        {"S(0:5,5),S(0)", "expected 1, got 2"},
    };
    const int64_t mesh[] = {2, 3}, shape[] = {10, 5};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        int n;
        dt_placement *placements = dt_placements_parse(ctx, rows[i].text, &n), out[DT_SPEC_MAX_DIMS];
        assert_non_null(placements);
        dt__sharding_desc desc = {2, mesh, 2, shape, n, placements};
        assert_int_equal(dt__placements_normalize(ctx, &desc, out), DT_ERR_PLACEMENT);
        assert_error_contains(ctx, DT_ERR_PLACEMENT, rows[i].message);
        dt_placements_free(ctx, placements);
        dt__ctx_free(ctx);
    }
}

static void check_refused(const dt__sharding_desc *desc, dt_status status, const char *message) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_placement out[DT_SPEC_MAX_DIMS];
    assert_int_equal(dt__placements_normalize(ctx, desc, out), status);
    assert_error_contains(ctx, status, message);
    dt__ctx_free(ctx);
}

static void placements__values_without_a_text_form_are_refused(void **state) {
    (void)state;
    const int64_t mesh[] = {2}, shape[] = {10}, no_rank[] = {0}, negative[] = {-1}, with_negative[] = {11, -1};
    const int64_t huge[] = {INT64_C(1) << 62, INT64_C(1) << 62}, empty[] = {INT64_C(1) << 62, INT64_C(1) << 62, 0};
    dt_placement shard = dt_placement_shard(0), replicate = dt_placement_replicate(), two[2] = {replicate, replicate};
    dt_placement unknown = {.kind = DT_N_PLACEMENT_KINDS}, no_reduce = {.kind = DT_PLACEMENT_PARTIAL, .reduce = 77};
    dt_placement no_factor = {.kind = DT_PLACEMENT_STRIDED}, strided = dt_placement_strided(0, 2), extents = shard;
    dt_placement position = shard;
    strided.n_extents = 2;
    strided.extents = with_negative;
    extents.n_extents = 2;
    extents.extents = with_negative;
    position.ordered = true;
    position.position = -1;
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &unknown}, DT_ERR_PLACEMENT,
                  "unknown kind of placement"); /* UTL-020 */
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &no_reduce}, DT_ERR_PLACEMENT,
                  "unknown reduction of the partial on mesh dim 0: 77");
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &no_factor}, DT_ERR_PLACEMENT, "at least 1");
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &strided}, DT_ERR_PLACEMENT,
                  "cannot have explicit extents");
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &extents}, DT_ERR_PLACEMENT,
                  "more than the size of the dim: 10");
    extents.extents = (const int64_t[]){-1, 11};
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &extents}, DT_ERR_PLACEMENT,
                  "an extent is negative: -1");
    extents.extents = NULL;
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &extents}, DT_ERR_PLACEMENT, "wrong number of extents");
    check_refused(&(dt__sharding_desc){1, mesh, 1, shape, 1, &position}, DT_ERR_PLACEMENT, "got -1");
    check_refused(&(dt__sharding_desc){1, mesh, 0, NULL, 1, &shard}, DT_ERR_PLACEMENT, "without dims");
    check_refused(&(dt__sharding_desc){1, no_rank, 1, shape, 1, &shard}, DT_ERR_MESH, "at least 1");
    check_refused(&(dt__sharding_desc){2, huge, 1, shape, 2, two}, DT_ERR_MESH, "more than 2^63 - 1 ranks");
    check_refused(&(dt__sharding_desc){1, mesh, 1, negative, 1, &shard}, DT_ERR_SHAPE, "is negative");
    check_refused(&(dt__sharding_desc){1, mesh, 2, huge, 1, &shard}, DT_ERR_SHAPE, "more than 2^63 - 1 elements");
    check_refused(&(dt__sharding_desc){1, mesh, 33, shape, 1, &shard}, DT_ERR_SHAPE, "got 33");
    check_refused(&(dt__sharding_desc){33, mesh, 1, shape, 33, &shard}, DT_ERR_MESH, "got 33");
    dt_placement out;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__sharding_desc without_elements = {1, mesh, 3, empty, 1, &shard}; /* no elements: nothing overflows */
    assert_int_equal(dt__placements_normalize(ctx, &without_elements, &out), DT_OK);
    dt__ctx_free(ctx);
}

static void placements__are_normalized(void **state) {
    (void)state;
    static const struct {
        const char *text, *normal;
    } rows[] = {
        {"S(-1),S(-2)", "S(1),S(0)"},
        {"S(0)[0],S(0)[1]", "S(0),S(0)"},
        {"S(0)[1],S(0)[0]", "S(0)[1],S(0)[0]"},
        {"S(0)[0],R", "S(0),R"},
        {"S(0:5,5),R", "S(0),R"},
        {"S(0:6,4),R", "S(0:6,4),R"},
        {"R,S(0:4,4,2)", "R,S(0)"},
        {"R,S(1:2,2,1)", "R,S(1)"},
        {"_S(-1,1),S(0)", "_S(1,1),S(0)"},
        {"P(sum),P(avg)", "P(sum),P(avg)"},
        {"P(mask),P(mask)", "P(mask),P(mask)"},
        {"P(max),P(max)", "P(max),P(max)"},
    };
    const int64_t mesh[] = {2, 3}, shape[] = {10, 5};
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int n;
        char printed[100];
        dt_placement *placements = dt_placements_parse(ctx, rows[i].text, &n), out[DT_SPEC_MAX_DIMS];
        dt__sharding_desc desc = {2, mesh, 2, shape, n, placements};
        assert_int_equal(dt__placements_normalize(ctx, &desc, out), DT_OK);
        dt_placements_text(2, out, sizeof printed, printed);
        assert_string_equal(printed, rows[i].normal);
        dt_placements_free(ctx, placements);
    }
    dt__ctx_free(ctx);
}

static void placements__order_can_be_set_by_mesh_dims(void **state) {
    (void)state;
    dt_placement placements[] = {dt_placement_shard(1), dt_placement_shard(1), dt_placement_strided(1, 3),
                                 dt_placement_shard(0)};
    char printed[100];
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_int_equal(dt_placements_set_order(ctx, 4, placements, 1, 3, (int[]){2, 0, 1}), DT_OK);
    dt_placements_text(4, placements, sizeof printed, printed);
    assert_string_equal(printed, "S(1)[1],S(1)[2],_S(1,3)[0],S(0)");
    static const struct {
        int dim, n, mesh_dims[3];
        const char *message;
    } rows[] = {
        {1, 2, {0, 1}, "expected 3, got 2"},
        {1, 3, {0, 1, 1}, "mesh dim 1 appears twice"},
        {1, 3, {0, 1, 7}, "mesh dim 7 does not shard dim 1"},
        {1, 3, {0, 1, -1}, "mesh dim -1 does not shard"},
        {1, 3, {0, 1, 3}, "mesh dim 3 does not shard"},
        {5, 1, {0}, "expected 0, got 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *failing_ctx = dt__ctx_new(NULL);
        assert_int_equal(
            dt_placements_set_order(failing_ctx, 4, placements, rows[i].dim, rows[i].n, rows[i].mesh_dims),
            DT_ERR_PLACEMENT);
        assert_error_contains(failing_ctx, DT_ERR_PLACEMENT, rows[i].message);
        dt_placements_text(4, placements, sizeof printed, printed);
        assert_string_equal(printed, "S(1)[1],S(1)[2],_S(1,3)[0],S(0)");
        dt__ctx_free(failing_ctx);
    }
    dt__ctx_free(ctx);
}

static void placements__negative_dims_are_resolved_for_a_tensor(void **state) {
    (void)state;
    dt_placement placements[] = {dt_placement_shard(-1), dt_placement_strided(-2, 3), dt_placement_shard(-3),
                                 dt_placement_replicate(), dt_placement_shard(1)};
    char printed[100];
    dt_placements_resolve(5, placements, 2);
    dt_placements_text(5, placements, sizeof printed, printed);
    assert_string_equal(printed, "S(1),_S(0,3),S(-3),R,S(1)");
}

static void placements__extents_can_be_set_by_tensor_dim(void **state) {
    (void)state;
    static const int64_t sizes[] = {3, 5, 2};
    dt_placement placements[] = {dt_placement_shard(1), dt_placement_shard(1), dt_placement_strided(2, 3),
                                 dt_placement_shard(0)};
    char printed[100];
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_int_equal(dt_placements_set_extents(ctx, 4, placements, 0, 3, sizes), DT_OK);
    dt_placements_text(4, placements, sizeof printed, printed);
    assert_string_equal(printed, "S(1),S(1),_S(2,3),S(0:3,5,2)");
    static const struct {
        int dim;
        int64_t n;
        const char *message;
    } rows[] = {
        {1, 3, "by several mesh dims"},
        {2, 3, "by a strided shard"},
        {3, 3, "is not sharded"},
        {0, 0, "no sizes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *failing_ctx = dt__ctx_new(NULL);
        assert_int_equal(dt_placements_set_extents(failing_ctx, 4, placements, rows[i].dim, rows[i].n, sizes),
                         DT_ERR_PLACEMENT);
        assert_error_contains(failing_ctx, DT_ERR_PLACEMENT, rows[i].message);
        dt__ctx_free(failing_ctx);
    }
    dt__ctx_free(ctx);
}

/* Errors quote only the beginning of long lists. */
static void placements__errors_quote_a_bounded_text(void **state) {
    (void)state;
    enum { N = 5000 };
    static int64_t extents[N];
    const int64_t mesh[] = {N}, shape[] = {7};
    dt_placement placement = dt_placement_shard(0), out;
    placement.n_extents = N;
    placement.extents = extents;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__sharding_desc desc = {1, mesh, 1, shape, 1, &placement};
    assert_int_equal(dt__placements_normalize(ctx, &desc, &out), DT_ERR_PLACEMENT);
    assert_error_contains(ctx, DT_ERR_PLACEMENT, "...: wrong sum of the extents: expected 7, got 0");
    assert_in_range(strlen(dt_error_text(ctx)), 100, 250);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placement__kinds_are_distinguished),
        cmocka_unit_test(placement__equal_means_the_same_kind_and_fields),
        cmocka_unit_test(placements__text_round_trips),
        cmocka_unit_test(placements__blanks_between_tokens_are_ignored),
        cmocka_unit_test(placements__text_is_truncated_to_the_capacity),
        cmocka_unit_test(placements__random_values_round_trip),
        cmocka_unit_test(placements__errors_point_at_the_character),
        cmocka_unit_test(placements__null_text_is_an_error),
        cmocka_unit_test(placements__invalid_for_mesh_and_shape_are_refused),
        cmocka_unit_test(placements__values_without_a_text_form_are_refused),
        cmocka_unit_test(placements__are_normalized),
        cmocka_unit_test(placements__order_can_be_set_by_mesh_dims),
        cmocka_unit_test(placements__negative_dims_are_resolved_for_a_tensor),
        cmocka_unit_test(placements__extents_can_be_set_by_tensor_dim),
        cmocka_unit_test(placements__errors_quote_a_bounded_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
