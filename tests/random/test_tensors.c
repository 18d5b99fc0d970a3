/* SPDX-License-Identifier: Apache-2.0
 *
 * Random tensors: for all meshes, placements and numbers of ranks the bits are those of a plain tensor. Matrix: ranks
 * 1 2 3 4 5 7 8, meshes of one to three dims, even, uneven, empty, strided and ordered shards, and explicit extents.
 */
#include "random/fills.h"
#include "support/ranks.h"

#include "dtensor/dtensor.h"
#include "dtensor/redistribute.h"

typedef struct layout_case {
    int64_t world;
    const char *mesh, *place;
} layout_case;

/* Of tensors of shape [7,9,2]. RND-004, RND-005, RND-006, RND-013, RND-014, RND-017 */
static const layout_case layouts[] = {
    {1, "1", "S(0)"},
    {2, "2", "S(0)"},
    {2, "2", "R"},
    {3, "3", "S(1)"},
    {3, "3", "S(2)"}, /* the last shard is empty */
    {4, "4", "_S(1,2)"},
    {4, "2x2", "S(0),S(1)"},
    {4, "2x2", "S(1),S(0)"},
    {4, "2x2", "S(0),R"},
    {4, "2x2", "R,S(1)"},
    {4, "2x2", "S(0)[1],S(0)[0]"},
    {4, "2x2", "P(sum),S(0)"},
    {4, "2x2", "P(avg),P(avg)"},
    {4, "4", "P(max)"},
    {4, "2x2", "P(min),S(2)"},
    {4, "4", "P(product)"},
    {5, "5", "S(0)"},
    {5, "[1,4,3]", "S(1)"}, /* ranks 0 and 2 are outside */
    {6, "2x3", "S(0),S(0)"},
    {6, "3x2", "S(1),S(2)"},
    {7, "7", "S(0)"},
    {7, "7", "S(1:1,0,4,0,1,2,1)"},
    {8, "2x2x2", "S(0),S(1),S(2)"},
    {8, "2x2x2", "R,S(0),R"},
    {8, "2x2x2", "S(0),P(sum),S(0)"},
};
enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

static dt_tensor *make_random(dt_ctx *ctx, int maker, const dt_random_options *o) {
    dt_shape shape = DT_SHAPE(7, 9, 2);
    switch (maker) {
    case 0:
        return dt_rand_sized(ctx, shape, o, sizeof *o);
    case 1:
        return dt_randn_sized(ctx, shape, o, sizeof *o);
    case 2:
        return dt_truncated_normal_sized(ctx, shape, o, sizeof *o);
    case 3:
        return dt_exponential_sized(ctx, shape, o, sizeof *o);
    case 4:
        return dt_randint_sized(ctx, -3, 100, shape, o, sizeof *o);
    case 5:
        return dt_bernoulli_sized(ctx, 0.3, shape, o, sizeof *o);
    case 6:
        return dt_dropout_mask_sized(ctx, 0.2, shape, o, sizeof *o);
    default:
        return dt_randperm_sized(ctx, maker == 7 ? 126 : 5000, o, sizeof *o);
    }
}
enum { N_MAKERS = 9 };

/* Compares the local tensor with the plain one, element by element, with indices of the spec. */
static int compare_local(dt_tensor *got, dt_tensor *expected) {
    const dt_spec *spec = dt_tensor_spec(got);
    const int64_t *shape = dt_tensor_local_shape(got), *strides = dt_tensor_strides(got);
    size_t bytes = dt_dtype_size(dt_tensor_dtype(got));
    int n_dims = dt_tensor_n_dims(got);
    int64_t coordinate[4], index[4] = {0}, global[4];
    if (!dt_mesh_coordinate(dt_spec_mesh(spec), coordinate))
        return dt_tensor_local_elements(got) != 0;
    for (int64_t i = 0; i < dt_tensor_local_elements(got); i++) {
        int64_t local_at = 0, global_at = 0;
        CHECK(dt_spec_to_global(spec, coordinate, index, global), "element %d", (int)i);
        for (int d = 0; d < n_dims; d++) {
            local_at += index[d] * strides[d];
            global_at += global[d] * dt_tensor_strides(expected)[d];
        }
        CHECK(memcmp((char *)dt_data(got) + (size_t)local_at * bytes,
                     (char *)dt_data(expected) + (size_t)global_at * bytes, bytes) == 0,
              "element %d of the local tensor differs from element %d of the plain one", (int)i, (int)global_at);
        for (int d = n_dims - 1; d >= 0 && ++index[d] == shape[d]; d--)
            index[d] = 0;
    }
    return 0;
}

static bool is_partial(const char *place) { return strchr(place, 'P'); }

static int compare_with_plain(dt_ctx *ctx, void *arg) {
    const layout_case *layout = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, layout->mesh);
    CHECK(mesh, "%s", dt_error_text(ctx));
    dt_generator *a = dt_generator_new(ctx, test_seed(5)), *b = dt_generator_new(ctx, test_seed(5));
    static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_BF16, DT_I32, DT_F16};
    for (int maker = 0; maker < N_MAKERS; maker++)
        for (int k = 0; k < 5; k++) {
            bool integers = maker == 4 || maker >= 7, is_float = dtypes[k] != DT_I32;
            if ((maker >= 7 && (is_float || strchr(layout->place, '1') || strchr(layout->place, '2'))) ||
                (!is_float && !integers && maker != 5))
                continue;
            dt_scope scope = dt_scope_begin(ctx);
            dt_random_options distributed = {
                .mesh = mesh, .place = layout->place, .dtype = dtypes[k], .generator = a};
            dt_random_options plain = {.dtype = dtypes[k], .generator = b};
            dt_tensor *got = make_random(ctx, maker, &distributed), *expected = make_random(ctx, maker, &plain);
            CHECK(got && expected, "%s on %s: %s", layout->place, layout->mesh, dt_error_text(ctx));
            CHECK(dt_generator_tag(a) == dt_generator_tag(b), "maker %d: expected one draw", maker);
            if (!is_partial(layout->place))
                CHECK(compare_local(got, expected) == 0, "maker %d, %s on %s", maker, layout->place, layout->mesh);
            dt_tensor *full = dt_full_tensor(got);
            CHECK(full, "%s", dt_error_text(ctx));
            size_t bytes = (size_t)dt_tensor_elements(expected) * dt_dtype_size(dtypes[k]);
            CHECK(dt_tensor_elements(full) == 0 || memcmp(dt_data(full), dt_data(expected), bytes) == 0,
                  "maker %d, %s on %s: the full tensor differs", maker, layout->place, layout->mesh);
            dt_scope_end(scope);
        }
    dt_mesh_release(mesh);
    return 0;
}

static void tensors__of_any_layout_have_the_bits_of_one_rank(void **state) {
    (void)state;
    for (int i = 0; i < N_LAYOUTS; i++)
        run_ranks(layouts[i].world, compare_with_plain, (void *)&layouts[i]);
}

/* A tensor has the numbers of a draw in row-major order, and the next tensor those of the next draw. */
static void rand__has_the_numbers_of_the_draw(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_rand(ctx, DT_SHAPE(3, 5)), *y = dt_rand(ctx, DT_SHAPE(15));
    dt_generator *generator = dt_generator_new(ctx, 0);
    float expected[15];
    dt__draw draw = begin_draw(generator, &(dt__random){DT__UNIFORM, DT_F32, .high = 1});
    dt__draw_range(&draw, 0, 15, expected);
    check_bytes("rand", dt_data(x), expected, sizeof expected);
    draw = begin_draw(generator, &(dt__random){DT__UNIFORM, DT_F32, .high = 1});
    dt__draw_range(&draw, 0, 15, expected);
    check_bytes("next draw", dt_data(y), expected, sizeof expected);
    assert_int_equal(dt_close(ctx), 0);
}

/* RND-001, RND-003, RND-016 */
static void fills__in_place_have_the_values_of_makers(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_generator *a = dt_generator_new(ctx, 42), *b = dt_generator_new(ctx, 42);
    for (int again = 0; again < 2; again++) {
        dt_tensor *big = dt_zeros(ctx, DT_SHAPE(12, 40)), *small = dt_empty(ctx, DT_SHAPE(8, 3), .dtype = DT_F64);
        dt_tensor *view = dt_transpose(dt_slice(big, 1, 3, 38, 5), 0, 1); /* [7,12], strides 5 and 40 */
        assert_int_equal(dt_normal_(view, .mean = DT_REAL(1.5), .std = DT_REAL(0.8), .generator = a), DT_OK);
        dt_tensor *expected =
            dt_randn(ctx, DT_SHAPE(7, 12), .mean = DT_REAL(1.5), .std = DT_REAL(0.8), .generator = b);
        for (int i = 0; i < 12 * 40; i++) {
            int row = i / 40, column = i % 40;
            bool inside = column % 5 == 3 && column < 38;
            float got = ((float *)dt_data(big))[i];
            if (got != (inside ? ((float *)dt_data(expected))[column / 5 * 12 + row] : 0))
                fail_msg("element [%d,%d] is wrong: got %g", row, column, (double)got);
        }
        dt_tensor *forward = dt_empty(ctx, DT_SHAPE(9)); /* filled from the end */
        assert_int_equal(dt_uniform_(dt_as_strided(forward, DT_SHAPE(9), DT_INTS(-1), 8), .generator = a), DT_OK);
        dt_tensor *backward = dt_rand(ctx, DT_SHAPE(9), .generator = b);
        for (int i = 0; i < 9; i++)
            assert_true(((float *)dt_data(forward))[i] == ((float *)dt_data(backward))[8 - i]);
        assert_int_equal(dt_uniform_(small, .high = DT_REAL(1.2), .generator = a), DT_OK);
        check_bytes("uniform_", dt_data(small),
                    dt_data(dt_rand(ctx, DT_SHAPE(8, 3), .high = DT_REAL(1.2), .dtype = DT_F64, .generator = b)),
                    8 * 24);
        assert_int_equal(dt_exponential_(small, .generator = a, .rate = DT_REAL(3)), DT_OK);
        check_bytes("exponential_", dt_data(small),
                    dt_data(dt_exponential(ctx, DT_SHAPE(8, 3), .rate = DT_REAL(3), .dtype = DT_F64, .generator = b)),
                    8 * 24);
        assert_int_equal(dt_truncated_normal_(small, .generator = a), DT_OK);
        check_bytes("truncated_normal_", dt_data(small),
                    dt_data(dt_truncated_normal(ctx, DT_SHAPE(8, 3), .low = DT_REAL(-2), .high = DT_REAL(2),
                                                .dtype = DT_F64, .generator = b)),
                    8 * 24);
        assert_int_equal(dt_randint_(small, 5, 50, .generator = a), DT_OK);
        check_bytes("randint_", dt_data(small), dt_data(dt_randint_like(small, 5, 50, .generator = b)), 8 * 24);
        assert_int_equal(dt_bernoulli_(small, 0.5, .generator = a), DT_OK);
        check_bytes("bernoulli_", dt_data(small), dt_data(dt_bernoulli_like(small, 0.5, .generator = b)), 8 * 24);
        check_bytes("rand_like", dt_data(dt_rand_like(small, .generator = a)),
                    dt_data(dt_rand(ctx, DT_SHAPE(8, 3), .dtype = DT_F64, .generator = b)), 8 * 24);
        check_bytes("randn_like", dt_data(dt_randn_like(view, .generator = a)),
                    dt_data(dt_randn(ctx, DT_SHAPE(7, 12), .generator = b)), 4 * 84);
        check_bytes("dropout_mask_like", dt_data(dt_dropout_mask_like(view, 0.2, .generator = a)),
                    dt_data(dt_dropout_mask(ctx, 0.2, DT_SHAPE(7, 12), .generator = b)), 4 * 84);
        dt_generator_seed(a, 55);
        dt_generator_seed(b, 55);
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void options__have_documented_defaults_and_can_be_zero(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_tensor_dtype(dt_randint(ctx, 0, 5, DT_SHAPE(3))), DT_I64);
    assert_int_equal(dt_tensor_dtype(dt_randint(ctx, 0, 5, DT_SHAPE(3), .dtype = DT_F32)), DT_F32);
    assert_int_equal(dt_tensor_dtype(dt_randperm(ctx, 3)), DT_I64);
    assert_int_equal(dt_tensor_dtype(dt_bernoulli(ctx, 0.5, DT_SHAPE(3), .dtype = DT_BOOL)), DT_BOOL);
    dt_tensor *seven = dt_randn(ctx, DT_SHAPE(100), .mean = DT_REAL(7), .std = DT_REAL(0));
    dt_tensor *negative = dt_rand(ctx, DT_SHAPE(100), .low = DT_REAL(-3), .high = DT_REAL(0));
    dt_tensor *nonnegative = dt_truncated_normal(ctx, DT_SHAPE(100), .low = DT_REAL(0));
    for (int i = 0; i < 100; i++) {
        float x = ((float *)dt_data(seven))[i], y = ((float *)dt_data(negative))[i],
              z = ((float *)dt_data(nonnegative))[i];
        if (x != 7 || !(y >= -3 && y < 0) || !(z >= 0 && z <= 2))
            fail_msg("element %d: %g, %g, %g", i, (double)x, (double)y, (double)z);
    }
    assert_true(dt_requires_grad(dt_randn(ctx, DT_SHAPE(2), .requires_grad = true)));
    assert_int_equal(dt_tensor_elements(dt_randn(ctx, DT_SHAPE())), 1);
    assert_int_equal(dt_tensor_elements(dt_randn(ctx, DT_SHAPE(3, 0, 2))), 0);
    assert_int_equal(dt_tensor_elements(dt_randperm(ctx, 0)), 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* Failed calls take no draw and make no tensor. */
static void calls__with_invalid_arguments_are_refused(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL), *other = dt_init(NULL);
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(4, 1)), *i = dt_zeros(ctx, DT_SHAPE(4), .dtype = DT_I32);
    dt_tensor *wide = dt_expand(x, DT_SHAPE(4, 6)), *windows = dt_unfold(dt_zeros(ctx, DT_SHAPE(9)), 0, 4, 2);
#define ASSERT_REFUSED(call, status, message)                                                                        \
    do {                                                                                                             \
        assert_true(call);                                                                                           \
        assert_error_contains(ctx, status, message);                                                                 \
        dt_error_clear(ctx);                                                                                         \
        assert_int_equal(dt_generator_save(dt_generator_default(ctx)).draw, 0);                                      \
    } while (0)
    ASSERT_REFUSED(!dt_randn(ctx, DT_SHAPE(3), .std = DT_REAL(-1)), DT_ERR_VALUE,
                   "randn: expected a finite mean and a finite std >= 0, got mean 0 and std -1");
    ASSERT_REFUSED(!dt_randn(ctx, DT_SHAPE(3), .dtype = DT_I32), DT_ERR_DTYPE,
                   "randn: unsupported dtype: expected a float, got i32");
    ASSERT_REFUSED(!dt_randn(ctx, DT_SHAPE(3), .dtype = DT_C64), DT_ERR_DTYPE,
                   "randn: unsupported dtype: expected a float, got c64");
    ASSERT_REFUSED(!dt_randn(ctx, DT_SHAPE(-3)), DT_ERR_SHAPE, "randn");
    ASSERT_REFUSED(!dt_rand(ctx, DT_SHAPE(3), .low = DT_REAL(3)), DT_ERR_VALUE, "got low 3 and high 1");
    ASSERT_REFUSED(!dt_exponential(ctx, DT_SHAPE(3), .rate = DT_REAL(-1)), DT_ERR_VALUE,
                   "exponential: expected rate and 1 / rate above 0 and finite in f32, got rate -1");
    ASSERT_REFUSED(!dt_randint(ctx, 5, 5, DT_SHAPE(3)), DT_ERR_VALUE, "got from 5 and to 5");
    ASSERT_REFUSED(!dt_bernoulli(ctx, 1.5, DT_SHAPE(3)), DT_ERR_VALUE, "bernoulli: expected p from 0 to 1, got 1.5");
    ASSERT_REFUSED(!dt_dropout_mask(ctx, -1, DT_SHAPE(3)), DT_ERR_VALUE,
                   "dropout_mask: expected p from 0 to 1, got -1");
    ASSERT_REFUSED(!dt_randperm(ctx, -1), DT_ERR_VALUE, "randperm: expected a size from 0");
    ASSERT_REFUSED(!dt_randperm(ctx, 130, .dtype = DT_I8), DT_ERR_VALUE, "expected a size from 0 to 128");
    ASSERT_REFUSED(!dt_randperm(ctx, 3, .dtype = DT_F64), DT_ERR_DTYPE,
                   "randperm: unsupported dtype: expected an integer, got f64");
    ASSERT_REFUSED(dt_normal_(i) != DT_OK, DT_ERR_DTYPE, "unsupported dtype: expected a float, got i32");
    ASSERT_REFUSED(dt_normal_(wide) != DT_OK, DT_ERR_STATE, "normal_: cannot write to f32[4,6]");
    ASSERT_REFUSED(dt_uniform_(windows) != DT_OK, DT_ERR_STATE, "uniform_: cannot write to f32[3,4]");
    ASSERT_REFUSED(!dt_randn(ctx, DT_SHAPE(3), .generator = dt_generator_default(other)), DT_ERR_STATE,
                   "another context");
    ASSERT_REFUSED(!dt_randn(ctx, DT_SHAPE(3), .place = "S(0)"), DT_ERR_MESH, "randn: placements S(0)");
    assert_null(dt_randn_like(NULL));
    assert_int_equal(dt_normal_(NULL), DT_ERR_VALUE);
    assert_int_equal(dt_close(other), 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* Large fills use several threads; the bits are those of one thread. */
static void fills__are_the_same_with_any_number_of_threads(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 5};
    float *first = NULL;
    int64_t *order = NULL;
    enum { ROWS = 301, COLUMNS = 700, N = ROWS * COLUMNS };
    for (int k = 0; k < 3; k++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.threads = threads[k]});
        dt_tensor *dense = dt_randn(ctx, DT_SHAPE(ROWS, 7, COLUMNS / 7));
        dt_tensor *view = dt_transpose(dt_empty(ctx, DT_SHAPE(COLUMNS, ROWS)), 0, 1);
        dt_generator_seed(dt_generator_default(ctx), 0);
        assert_int_equal(dt_normal_(view), DT_OK);
        dt_tensor *perm = dt_randperm(ctx, N);
        const float *got = dt_data(dense), *transposed = dt_data(view);
        for (int i = 0; i < N; i++)
            if (memcmp(&got[i], &transposed[i % COLUMNS * ROWS + i / COLUMNS], sizeof *got) != 0)
                fail_msg("element %d: expected %g in the view, got %g", i, (double)got[i],
                         (double)transposed[i % COLUMNS * ROWS + i / COLUMNS]);
        if (!first) {
            first = malloc(N * sizeof *first);
            order = malloc(N * sizeof *order);
            memcpy(first, got, N * sizeof *first);
            memcpy(order, dt_data(perm), N * sizeof *order);
        }
        check_bytes("threads", got, first, N * sizeof *first);
        check_bytes("order", dt_data(perm), order, N * sizeof *order);
        assert_int_equal(dt_close(ctx), 0);
    }
    free(first);
    free(order);
}

/* On the fake transport nothing is filled, but draws are counted. */
static void tensors__without_data_count_their_draws(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4096, .rank = 77});
    dt_mesh *mesh = dt_mesh_new(ctx, "64x64");
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(1 << 20, 1 << 20), .mesh = mesh, .place = "S(0),S(1)");
    assert_non_null(x);
    assert_int_equal(dt_tensor_local_elements(x), 1 << 28);
    assert_int_equal(dt_normal_(x), DT_OK);
    assert_int_equal(dt_generator_save(dt_generator_default(ctx)).draw, 2);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

typedef struct difference {
    const char *mesh;
    int kind; /* 0: none, 1: seed, 2: one more draw, 3: another distribution, 4: a draw on a mesh of rank 1 alone */
} difference;

/* Ranks whose draws differ get an error in the next redistribution on the mesh, and not before; after clearing it and
 * setting the same seed they continue. RND-008, RND-009 */
static int draw_differently(dt_ctx *ctx, void *arg) {
    const difference *test = arg;
    bool differs = dt_rank(ctx) == 1;
    dt_mesh *mesh = dt_mesh_new(ctx, test->mesh);
    dt_tensor *other = dt_ones(ctx, DT_SHAPE(6), .mesh = mesh, .place = "S(0)");
    dt_generator *generator = dt_generator_default(ctx);
    if (test->kind == 1 && differs)
        dt_generator_seed(generator, 9);
    if (test->kind == 2 && differs)
        CHECK(dt_rand(ctx, DT_SHAPE(2)), "%s",
              dt_error_text(ctx)); /* a plain tensor is not compared, but its draw is counted */
    if (test->kind == 4 && differs) {
        int64_t one = 1, self = 1;
        dt_mesh *alone = dt_mesh_from_ranks(ctx, &self, &one, 1, NULL);
        dt_generator *own = dt_generator_new(ctx, 77);
        CHECK(dt_rand(ctx, DT_SHAPE(2), .mesh = alone, .place = "R", .generator = own), "%s", dt_error_text(ctx));
    }
    CHECK(dt_full_tensor(other), "%s", dt_error_text(ctx)); /* a collective before the difference succeeds */
    if (test->kind == 3 && differs)
        dt_rand(ctx, DT_SHAPE(6), .mesh = mesh, .place = "R");
    else
        dt_randn(ctx, DT_SHAPE(6), .mesh = mesh, .place = "R");
    bool succeeded = dt_full_tensor(other) != NULL, should_succeed = test->kind == 0 || test->kind == 4;
    CHECK(succeeded == should_succeed, "kind %d: %s", test->kind, dt_error_text(ctx));
    if (succeeded)
        return 0;
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(dt_error_text(ctx), "made different calls on mesh("),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_generator_seed(generator, 3));
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(6), .mesh = mesh, .place = "S(0)");
    CHECK(dt_full_tensor(x) && dt_full_tensor(other), "%s", dt_error_text(ctx));
    return 0;
}

static void ranks__whose_draws_differ_get_an_error(void **state) {
    (void)state;
    for (int kind = 0; kind <= 4; kind++) {
        run_ranks(2, draw_differently, &(difference){"2", kind});
        run_ranks(5, draw_differently, &(difference){"5", kind});
    }
}

/* RND-011: stages with their own generators and meshes are independent. */
static int draw_in_stages(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=2,spmd=2"), *stage = dt_mesh_slice(mesh, "spmd");
    dt_generator *own = dt_generator_new(ctx, 123 + (uint64_t)(dt_rank(ctx) / 2));
    dt_tensor *x = dt_empty(ctx, DT_SHAPE(8, 3), .mesh = stage, .place = "S(0)");
    CHECK_OK(ctx, dt_normal_(x, .generator = own));
    dt_tensor *full = dt_full_tensor(x);
    CHECK(full, "%s", dt_error_text(ctx));
    float local[12], all[4 * 12];
    memcpy(local, dt_data(x), sizeof local);
    CHECK_OK(ctx, dt_comm_all_gather(dt_group_world(ctx), local, all, 12, DT_F32));
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++)
            CHECK(memcmp(&all[a * 12], &all[b * 12], sizeof local) != 0, "ranks %d and %d have the same values", a,
                  b);
    return 0;
}

static void stages__have_independent_numbers(void **state) {
    (void)state;
    run_ranks(4, draw_in_stages, NULL);
}

/* Without a transport there is no heap: the tensors borrow memory. */
static bool fill_tensors(dt_ctx *ctx, void *user) {
    (void)user;
    float memory[16], more[12];
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *local = mesh ? dt_borrow(ctx, memory, DT_SHAPE(4, 4), DT_F32) : NULL;
    dt_tensor *x = local ? dt_from_local(ctx, local, mesh, "S(0)") : NULL;
    dt_tensor *y = x ? dt_borrow(ctx, more, DT_SHAPE(3, 4), DT_F32) : NULL;
    bool first = y && dt_uniform_(x) == DT_OK, second = first && dt_normal_(y) == DT_OK;
    assert_int_equal(dt_generator_save(dt_generator_default(ctx)).draw, first + second); /* a failure takes no draw */
    dt_mesh_release(mesh);
    return second && !dt_failed(ctx);
}

static void fills__survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(fill_tensors, NULL) >= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors__of_any_layout_have_the_bits_of_one_rank),
        cmocka_unit_test(rand__has_the_numbers_of_the_draw),
        cmocka_unit_test(fills__in_place_have_the_values_of_makers),
        cmocka_unit_test(options__have_documented_defaults_and_can_be_zero),
        cmocka_unit_test(calls__with_invalid_arguments_are_refused),
        cmocka_unit_test(fills__are_the_same_with_any_number_of_threads),
        cmocka_unit_test(tensors__without_data_count_their_draws),
        cmocka_unit_test(ranks__whose_draws_differ_get_an_error),
        cmocka_unit_test(stages__have_independent_numbers),
        cmocka_unit_test(fills__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
