/* SPDX-License-Identifier: Apache-2.0
 *
 * Makers: plain tensors against arithmetic, for every dtype; distributed tensors against plain ones.
 * Ranks 1, 2, 3, 4, 5, 7 on shm; every kind of placement, uneven and empty shards, ranks outside the mesh.
 */
#include "base/dtype.h"
#include "spec/brute.h"
#include "support/launch.h"
#include "tensor/tensors.h"

#include <float.h>
#include <math.h>

/* Element i as a double, read without the library. */
static double element(const dt_tensor *t, int64_t i) {
    const unsigned char *at = (const unsigned char *)dt_data(t) + (size_t)i * dt_dtype_size(dt_tensor_dtype(t));
    union {
        float f32;
        double f64;
        uint16_t bits;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint32_t u32;
    } u = {0};
    memcpy(&u, at, dt_dtype_size(dt_tensor_dtype(t)) < 8 ? dt_dtype_size(dt_tensor_dtype(t)) : 8);
    switch (dt_tensor_dtype(t)) {
    case DT_F32:
    case DT_C64:
        return (double)u.f32;
    case DT_F64:
    case DT_C128:
        return u.f64;
    case DT_BF16:
        u.u32 = (uint32_t)u.bits << 16;
        return (double)u.f32;
    case DT_F16: {
        int exponent = u.bits >> 10 & 31, fraction = u.bits & 1023;
        double size = exponent == 0    ? fraction * pow(2, -24)
                      : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                       : (1 + fraction / 1024.0) * pow(2, exponent - 15);
        return u.bits >> 15 ? -size : size;
    }
    case DT_I8:
        return u.i8;
    case DT_I16:
        return u.i16;
    case DT_I32:
        return u.i32;
    case DT_I64:
        return (double)u.i64;
    default:
        return u.u8;
    }
}

/* A small number converted to a dtype. */
static double converted(dt_dtype dtype, double x) {
    if (dtype == DT_BOOL)
        return x != 0;
    return dt__is_integral(dtype) ? trunc(x) : x;
}

static void makers__set_the_requested_values(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    for (dt_dtype dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *t = dt_zeros(ctx, DT_SHAPE(3, 7), .dtype = dtype);
        assert_int_equal(dt_tensor_dtype(t), dtype);
        assert_int_equal(dt_tensor_elements(t), 21);
        for (int64_t i = 0; i < 21; i++)
            assert_true(element(t, i) == 0);
        t = dt_ones(ctx, DT_SHAPE(300), .dtype = dtype);
        for (int64_t i = 0; i < 300; i++)
            assert_true(element(t, i) == 1);
        t = dt_full(ctx, DT_SHAPE(2, 3, 1, 2), 2.5, .dtype = dtype);
        for (int64_t i = 0; i < 12; i++)
            assert_true(element(t, i) == converted(dtype, 2.5));
        t = dt_scalar(ctx, 3, .dtype = dtype);
        assert_true(dt_tensor_n_dims(t) == 0 && dt_tensor_elements(t) == 1 && element(t, 0) == converted(dtype, 3));
        assert_true(dt_item(t) == converted(dtype, 3));
        t = dt_arange(ctx, 1, 121, 3, .dtype = dtype);
        assert_int_equal(dt_tensor_elements(t), 40);
        for (int64_t i = 0; i < 40; i++)
            assert_true(element(t, i) == converted(dtype, (double)(1 + 3 * i)));
        t = dt_arange(ctx, 5, 0, -0.5, .dtype = dtype);
        assert_int_equal(dt_tensor_elements(t), 10);
        for (int64_t i = 0; i < 10; i++)
            assert_true(element(t, i) == converted(dtype, 5 - 0.5 * (double)i));
        t = dt_linspace(ctx, 0, 10, 21, .dtype = dtype);
        for (int64_t i = 0; i < 21; i++)
            assert_true(element(t, i) == converted(dtype, 0.5 * (double)i));
        assert_true(element(dt_linspace(ctx, 4, 10, 1, .dtype = dtype), 0) == converted(dtype, 4));
        t = dt_eye(ctx, 4, 6, .dtype = dtype);
        for (int64_t i = 0; i < 24; i++)
            assert_true(element(t, i) == (i / 6 == i % 6));
        for (int64_t k = -5; k <= 7; k++) {
            t = dt_tri(ctx, 4, 6, k, .dtype = dtype);
            for (int64_t i = 0; i < 24; i++)
                assert_true(element(t, i) == (i % 6 - i / 6 <= k));
        }
        t = dt_full_like(t, 7);
        assert_true(dt_tensor_elements(t) == 24 && element(t, 23) == converted(dtype, 7));
        assert_int_equal(dt_tensor_dtype(dt_empty_like(t)), dtype);
        if (dt__is_complex(dtype)) { /* the imaginary part is 0 */
            unsigned char zero[8] = {0};
            size_t half = dt_dtype_size(dtype) / 2;
            assert_memory_equal((unsigned char *)dt_data(t) + half, zero, half);
        }
        dt_scope_end(scope);
    }
    assert_int_equal(dt_heap_stats(ctx).n_live, 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* Bits of f16 and bf16: exact, rounded, ties to even, the ends of the range, subnormal. */
static void f16_and_bf16__are_rounded_to_nearest(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const struct {
        dt_dtype dtype;
        double value;
        uint16_t bits;
    } cases[] = {
        {DT_F16, 0, 0},
        {DT_F16, -0.0, 0x8000},
        {DT_F16, 1, 0x3c00},
        {DT_F16, -2, 0xc000},
        {DT_F16, 65504, 0x7bff},
        {DT_F16, 65519, 0x7bff},
        {DT_F16, 65520, 0x7c00},
        {DT_F16, 1e300, 0x7c00},
        {DT_F16, -(double)INFINITY, 0xfc00},
        {DT_F16, 1.0 / 3, 0x3555},
        {DT_F16, 2049, 0x6800},
        {DT_F16, 2051, 0x6802},
        {DT_F16, 0x1p-14, 0x0400},
        {DT_F16, 0x1p-24, 0x0001},
        {DT_F16, 0x1p-25, 0},
        {DT_F16, 0x1.8p-25, 0x0001},
        {DT_F16, 0x3p-25, 0x0002},
        {DT_F16, 0x1.ff8p-15, 0x03ff},
        {DT_F16, 0x1.ffcp-15, 0x0400},
        {DT_BF16, 0, 0},
        {DT_BF16, -0.0, 0x8000},
        {DT_BF16, 1, 0x3f80},
        {DT_BF16, 1.0 / 3, 0x3eab},
        {DT_BF16, 257, 0x4380},
        {DT_BF16, 259, 0x4382},
        {DT_BF16, 3.4e38, 0x7f80},
        {DT_BF16, 1e300, 0x7f80},
        {DT_BF16, 0x1p-133, 0x0001},
        {DT_BF16, 0x1p-134, 0},
        {DT_BF16, 0x3p-134, 0x0002},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t bits;
        memcpy(&bits, dt_data(dt_scalar(ctx, cases[i].value, .dtype = cases[i].dtype)), sizeof bits);
        if (bits != cases[i].bits)
            fail_msg("%s of %g: expected %04x, got %04x", dt_dtype_name(cases[i].dtype), cases[i].value,
                     cases[i].bits, bits);
    }
    assert_true(isnan(dt_item(dt_scalar(ctx, (double)NAN, .dtype = DT_F16))));
    assert_true(isnan(dt_item(dt_scalar(ctx, (double)NAN, .dtype = DT_BF16))));
    for (uint32_t bits = 0; bits < 65536; bits++) { /* every value round-trips */
        for (int k = 0; k < 2; k++) {
            dt_dtype dtype = k ? DT_BF16 : DT_F16;
            uint16_t half = (uint16_t)bits, again;
            dt_tensor *t = dt_from_memory(ctx, &half, DT_SHAPE(), dtype);
            double x = dt_item(t);
            dt_tensor *u = dt_scalar(ctx, x, .dtype = dtype);
            memcpy(&again, dt_data(u), sizeof again);
            assert_true(isnan(x) == isnan(element(t, 0)) && (isnan(x) || x == element(t, 0)));
            assert_true(isnan(x) || again == half);
            dt_drop(t);
            dt_drop(u);
        }
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void integers__out_of_range_are_refused(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const struct {
        dt_dtype dtype;
        double value;
        const char *message;
    } out_of_range[] = {
        {DT_I64, 0x1p63, "scalar: 9.2233720368547758e+18 does not fit i64"},
        {DT_I64, -1e30, "does not fit i64"},
        {DT_I8, 128, "128 does not fit i8: expected a number from -128 to 127"},
        {DT_U8, -1, "-1 does not fit u8: expected a number from 0 to 255"},
        {DT_I16, (double)NAN, "nan does not fit i16"},
        {DT_I32, (double)INFINITY, "inf does not fit i32"},
    };
    for (size_t i = 0; i < sizeof out_of_range / sizeof *out_of_range; i++) {
        assert_null(dt_scalar(ctx, out_of_range[i].value, .dtype = out_of_range[i].dtype));
        assert_error_contains(ctx, DT_ERR_VALUE, out_of_range[i].message);
        dt_error_clear(ctx);
        assert_null(dt_full(ctx, DT_SHAPE(2), out_of_range[i].value, .dtype = out_of_range[i].dtype));
        dt_error_clear(ctx);
        assert_null(dt_full_like(dt_zeros(ctx, DT_SHAPE(2), .dtype = out_of_range[i].dtype), out_of_range[i].value));
        dt_error_clear(ctx);
    }
    assert_int_equal(dt_item_i64(dt_scalar(ctx, -0x1p63, .dtype = DT_I64)), INT64_MIN);
    assert_int_equal(dt_item_i64(dt_scalar(ctx, 127.9, .dtype = DT_I8)), 127);
    assert_int_equal(dt_item_i64(dt_scalar(ctx, -0.9, .dtype = DT_U8)), 0);
    assert_int_equal(dt_item_i64(dt_scalar(ctx, -1.9, .dtype = DT_I32)), -1);
    assert_int_equal(dt_item_i64(dt_scalar(ctx, (double)NAN, .dtype = DT_BOOL)), 1);
    int64_t big = (INT64_C(1) << 62) + 1;
    assert_int_equal(dt_item_i64(dt_from_memory(ctx, &big, DT_SHAPE(1, 1), DT_I64)), big);
    /* Values beyond the range of i64 saturate. */
    dt_tensor *t = dt_arange(ctx, 0, 1e20, 1e16, .dtype = DT_I64);
    assert_int_equal(dt_item_i64(dt_select(t, 0, -1)), INT64_MAX);
    t = dt_arange(ctx, 0, 1e20, 1e15, .dtype = DT_I64);
    assert_int_equal(dt_item_i64(dt_select(t, 0, 1)), INT64_C(1000000000000000));
    assert_int_equal(dt_item_i64(dt_select(t, 0, -1)), INT64_MAX);
    assert_int_equal(dt_close(ctx), 0);
}

static void assert_refused(dt_ctx *ctx, const dt_tensor *result, dt_status status, const char *part) {
    assert_null(result);
    assert_error_contains(ctx, status, part);
    dt_error_clear(ctx);
}

static void makers__refuse_invalid_arguments(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "1x1");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(2, -1)), DT_ERR_SHAPE, "zeros: [2,-1] has a negative size");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(INT64_MAX, 2)), DT_ERR_SHAPE, "more than 2^63 - 1 bytes");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(0, INT64_MAX, INT64_MAX)), DT_ERR_SHAPE, "more than 2^63 - 1 bytes");
    assert_refused(ctx, dt_zeros(ctx, TENSORS_SHAPE(33, (int64_t[33]){0})), DT_ERR_SHAPE,
                   "zeros: wrong number of dims: expected 0 to 32, got 33");
    assert_refused(ctx, dt_zeros(ctx, TENSORS_SHAPE(2, NULL)), DT_ERR_VALUE,
                   "zeros: size: expected a list, got NULL with the length 2");
    assert_refused(ctx, dt_full(ctx, TENSORS_SHAPE(-1, NULL), 3), DT_ERR_VALUE, "full: size: expected a list");
    dt_tensor *point = dt_scalar(ctx, 1);
    assert_refused(ctx, dt_view(point, TENSORS_SHAPE(2, NULL)), DT_ERR_VALUE, "view: f32[]: size: expected a list");
    assert_refused(ctx, dt_permute(point, ((dt_dims){.n = 2})), DT_ERR_VALUE,
                   "permute: f32[]: dims: expected a list");
    dt_drop(point);
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(2), .dtype = (dt_dtype)50), DT_ERR_DTYPE, "zeros: unknown dtype 50");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(2), .place = "R"), DT_ERR_MESH, "zeros: placements R without a mesh");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(2), .mesh = mesh, .place = "R"), DT_ERR_PLACEMENT,
                   "expected 2, one per mesh dim, got 1");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(2), .mesh = mesh, .place = "S(1),R"), DT_ERR_PLACEMENT,
                   "S(1) on mesh dim 0");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(2), .mesh = mesh, .place = "S(0,R"), DT_ERR_PLACEMENT,
                   "column 4: expected ')' or ':'");
    assert_refused(ctx, dt_arange(ctx, 0, 5, 0), DT_ERR_VALUE, "does not lead from start to end: 0 to 5 by 0");
    assert_refused(ctx, dt_arange(ctx, 0, 5, -1), DT_ERR_VALUE, "arange");
    assert_refused(ctx, dt_arange(ctx, 0, (double)INFINITY, 1), DT_ERR_VALUE, "arange");
    assert_refused(ctx, dt_arange(ctx, 0, (double)NAN, 1), DT_ERR_VALUE, "arange");
    assert_refused(ctx, dt_linspace(ctx, 0, 1, -1), DT_ERR_SHAPE, "linspace");
    assert_refused(ctx, dt_linspace(ctx, 0, 1, INT64_MIN), DT_ERR_SHAPE, "linspace");
    assert_refused(ctx, dt_zeros(ctx, DT_SHAPE(INT64_C(1) << 50)), DT_ERR_MEMORY, "heap");
    assert_null(dt_zeros(NULL, DT_SHAPE(1)));
    assert_null(dt_arange(NULL, 0, 1, 0));
    assert_null(dt_from_memory(NULL, "", DT_SHAPE(), DT_I8));
    assert_int_equal(dt_tensor_elements(dt_arange(ctx, 5, 5, 1)), 0);
    assert_int_equal(dt_tensor_elements(dt_linspace(ctx, 0, 1, 0)), 0);
    assert_int_equal(dt_tensor_elements(dt_eye(ctx, 0, 3)), 0);
    dt_mesh_release(mesh);
    assert_int_equal(dt_heap_stats(ctx).n_live, 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* Makers with values whose sums and averages over a few ranks are exact in every dtype. */
enum { N_MAKERS = 7 };

static dt_tensor *make(dt_ctx *ctx, int maker, const brute_case *c, const dt_make_options *o) {
    dt_shape shape = {c->n_dims, c->shape};
    switch (maker) {
    case 0:
        return dt_zeros_sized(ctx, shape, o, sizeof *o);
    case 1:
        return dt_full_sized(ctx, shape, DT_NUMBER(3), o, sizeof *o);
    case 2:
        return c->n_dims == 1 ? dt_arange_sized(ctx, DT_NUMBER(-2), DT_NUMBER((double)c->shape[0] / 2 - 2),
                                                DT_NUMBER(0.5), o, sizeof *o)
                              : dt_ones_sized(ctx, shape, o, sizeof *o);
    case 3:
        return c->n_dims == 1 ? dt_arange_sized(ctx, DT_NUMBER(1), DT_NUMBER((double)c->shape[0] + 1), DT_NUMBER(1),
                                                o, sizeof *o)
                              : dt_ones_sized(ctx, shape, o, sizeof *o);
    case 4:
        return c->n_dims == 1 ? dt_linspace_sized(ctx, DT_NUMBER(0), DT_NUMBER((double)(c->shape[0] - 1) / 4),
                                                  c->shape[0], o, sizeof *o)
                              : dt_full_sized(ctx, shape, DT_NUMBER(2), o, sizeof *o);
    case 5:
        return c->n_dims == 2 ? dt_eye_sized(ctx, c->shape[0], c->shape[1], o, sizeof *o)
                              : dt_ones_sized(ctx, shape, o, sizeof *o);
    default:
        return c->n_dims == 2 ? dt_tri_sized(ctx, c->shape[0], c->shape[1], c->shape[0] % 5 - 2, o, sizeof *o)
                              : dt_full_sized(ctx, shape, DT_NUMBER(5), o, sizeof *o);
    }
}

/* Whether the dtype has the reductions of the placements. */
static bool is_allowed(const brute_case *c, dt_dtype dtype) {
    for (int m = 0; m < c->n_mesh_dims; m++)
        if (dt_placement_is_partial(c->placements[m]) && !dt_reduce_allowed(dtype, c->placements[m].reduce))
            return false;
    return true;
}

static int compare_with_plain(dt_ctx *ctx, void *arg) {
    uint64_t random = *(const uint64_t *)arg;
    int64_t n_partial = 0;
    for (int i = 0; i < 400; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        brute_case c;
        brute_random_case(&random, (int)dt_world(ctx), &c);
        dt_dtype dtype = (dt_dtype)(DT_F32 + test_below(&random, DT_N_DTYPES - DT_F32));
        int maker = (int)test_below(&random, N_MAKERS);
        if (!is_allowed(&c, dtype)) {
            dt_scope_end(scope);
            continue;
        }
        char place[256];
        dt_mesh *mesh = dt_mesh_from_shape(ctx, c.mesh, c.n_mesh_dims, NULL);
        dt_placements_text(c.n_mesh_dims, c.placements, sizeof place, place);
        dt_make_options options = {.dtype = dtype, .mesh = mesh, .place = place};
        dt_tensor *t = make(ctx, maker, &c, &options), *full = dt_full_tensor(t);
        CHECK(full, "%s, %s, maker %d: %s", c.text, dt_dtype_name(dtype), maker, dt_error_text(ctx));
        options = (dt_make_options){.dtype = dtype};
        dt_tensor *plain = make(ctx, maker, &c, &options);
        CHECK(dt_tensor_n_dims(t) == c.n_dims && dt_tensor_elements(t) == dt_tensor_elements(plain), "%s", c.text);
        if (dt_rank(ctx) < brute_world(&c))
            CHECK(tensors_equal(full, plain), "rank %lld: %s, %s, maker %d", (long long)dt_rank(ctx), c.text,
                  dt_dtype_name(dtype), maker);
        else
            CHECK(dt_tensor_n_dims(full) == 1 && dt_tensor_elements(full) == 0, "%s", c.text);
        for (int m = 0; m < c.n_mesh_dims; m++)
            n_partial += dt_placement_is_partial(c.placements[m]);
        dt_tensor *like = dt_full_tensor(dt_full_like(t, 1)), *ones = dt_full_like(plain, 1);
        CHECK(dt_rank(ctx) >= brute_world(&c) || tensors_equal(like, ones), "full_like: %s", c.text);
        dt_tensor *clone = dt_clone(t);
        CHECK(tensors_equal(clone, t) && !dt_tensor_shares(clone, t), "clone: %s", c.text);
        dt_mesh_release(mesh);
        dt_scope_end(scope);
    }
    CHECK(n_partial > 20, "%lld", (long long)n_partial);
    /* Groups hold a block each; the tensors are freed. */
    CHECK(dt_heap_stats(ctx).n_live < 10, "%lld blocks leak", (long long)dt_heap_stats(ctx).n_live);
    return 0;
}

static void distributed_makers__make_shards_of_the_plain_tensor(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 4, 5, 7};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        uint64_t seed = test_seed(100 + i);
        run_ranks(worlds[i], compare_with_plain, &seed);
    }
}

static bool has_shape(const dt_tensor *t, int n, const int64_t *sizes) {
    return dt_tensor_local_n_dims(t) == n && memcmp(dt_tensor_local_shape(t), sizes, (size_t)n * sizeof *sizes) == 0;
}
#define LOCAL_IS(t, ...)                                                                                             \
    has_shape((t), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static int make_on_four_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t r = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "4"), *two = dt_mesh_new(ctx, "2x2");
    /* INI-001, INI-002 */
    dt_tensor *t = dt_full_like(dt_empty(ctx, DT_SHAPE(32, 4), .mesh = mesh, .place = "S(0)"), 2.4);
    CHECK(LOCAL_IS(t, 8, 4), "INI-001");
    for (int i = 0; i < 32; i++)
        CHECK(((float *)dt_data(t))[i] == 2.4f, "INI-001");
    CHECK(tensors_equal(dt_to_local(dt_eye(ctx, 8, 8, .mesh = mesh)), dt_eye(ctx, 8, 8)), "INI-002");
    /* INI-003 */
    static const char *const places[] = {"S(0)", "S(1)", "S(2)", "R"};
    for (int p = 0; p < 4; p++) {
        int64_t even[3] = {4, 8, 12}, odd[3] = {5, 10, 15};
        t = dt_full(ctx, DT_SHAPE(4, 8, 12), 123.4, .mesh = mesh, .place = places[p], .requires_grad = true);
        CHECK(dt_requires_grad(t), "INI-003");
        if (p < 3)
            even[p] /= 4;
        CHECK(tensors_equal(dt_to_local(t), dt_full(ctx, TENSORS_SHAPE(3, even), 123.4)), "INI-003 %s", places[p]);
        t = dt_ones(ctx, DT_SHAPE(5, 10, 15), .mesh = mesh, .place = places[p]);
        if (p < 3) {
            int64_t chunk = (odd[p] + 3) / 4, left = odd[p] - r * chunk;
            odd[p] = left < 0 ? 0 : left < chunk ? left : chunk;
        }
        CHECK(tensors_equal(dt_to_local(t), dt_ones(ctx, TENSORS_SHAPE(3, odd))), "INI-003 %s", places[p]);
    }
    CHECK(dt_tensor_n_dims(dt_zeros(ctx, DT_SHAPE(), .mesh = mesh)) == 0, "INI-003");
    /* INI-004 */
    t = dt_zeros(ctx, DT_SHAPE(32, 3), .mesh = mesh, .place = "S(0)");
    CHECK(dt_tensor_size(t, 0) == 32 && LOCAL_IS(t, 8, 3), "INI-004");
    t = dt_zeros(ctx, DT_SHAPE(31, 3), .mesh = mesh, .place = "S(0)");
    CHECK(dt_tensor_size(t, 0) == 31 && LOCAL_IS(t, r < 3 ? 8 : 7, 3), "INI-004");
    /* INI-005 */
    CHECK(LOCAL_IS(dt_zeros(ctx, DT_SHAPE(32, 4), .mesh = two, .place = "S(0),R"), 16, 4), "INI-005");
    CHECK(LOCAL_IS(dt_zeros(ctx, DT_SHAPE(32, 4), .mesh = two, .place = "S(0),S(1)"), 16, 2), "INI-005");
    t = dt_zeros(ctx, DT_SHAPE(31, 3), .mesh = two, .place = "S(0),S(1)");
    CHECK(LOCAL_IS(t, r < 2 ? 16 : 15, r % 2 ? 1 : 2), "INI-005");
    /* INI-006 */
    t = dt_zeros(ctx, DT_SHAPE(32, 3), .mesh = dt_mesh_new(ctx, "[0,3]"), .place = "S(0)");
    CHECK(dt_tensor_size(t, 0) == 32 && (r % 3 ? LOCAL_IS(t, 0) : LOCAL_IS(t, 16, 3)), "INI-006");
    t = dt_zeros(ctx, DT_SHAPE(32, 3), .mesh = dt_mesh_new(ctx, "[0,1,3]"), .place = "S(0)");
    CHECK(r == 2 ? LOCAL_IS(t, 0) : LOCAL_IS(t, r < 2 ? 11 : 10, 3), "INI-006");
    t = dt_zeros(ctx, DT_SHAPE(32, 3), .mesh = dt_mesh_new(ctx, "[[0],[3]]"), .place = "S(0),S(1)");
    CHECK(dt_tensor_size(t, 1) == 3 && (r % 3 ? LOCAL_IS(t, 0) : LOCAL_IS(t, 16, 3)), "INI-006");
    /* The current mesh is used if placements are set. */
    CHECK_OK(ctx, dt_mesh_scope_begin(mesh));
    CHECK(LOCAL_IS(dt_zeros(ctx, DT_SHAPE(8), .place = "S(0)"), 2), "expected a shard on the current mesh");
    CHECK(!dt_tensor_spec(dt_zeros(ctx, DT_SHAPE(8))), "expected a plain tensor without placements");
    CHECK_OK(ctx, dt_mesh_scope_end(ctx));
    return 0;
}

static void makers__follow_the_chunk_rule(void **state) {
    (void)state;
    run_ranks(4, make_on_four_ranks, NULL);
}

/* Makers of tensors that are large enough for several threads, and their elements. */
enum { LARGE_ROWS = 1201, LARGE_COLUMNS = 1003, LARGE = LARGE_ROWS * LARGE_COLUMNS, N_LARGE = 8 };

static dt_tensor *make_large(dt_ctx *ctx, int maker, const dt_make_options *o) {
    static const int64_t line[] = {LARGE}, matrix[] = {LARGE_ROWS, LARGE_COLUMNS};
    switch (maker) {
    case 0:
        return dt_zeros_sized(ctx, (dt_shape){1, line}, o, sizeof *o);
    case 1:
        return dt_ones_sized(ctx, (dt_shape){2, matrix}, o, sizeof *o);
    case 2:
        return dt_full_sized(ctx, (dt_shape){2, matrix}, DT_NUMBER(3), o, sizeof *o);
    case 3:
        return dt_arange_sized(ctx, DT_NUMBER(-2), DT_NUMBER(LARGE / 2.0 - 2), DT_NUMBER(0.5), o, sizeof *o);
    case 4:
        return dt_arange_sized(ctx, DT_NUMBER(5), DT_NUMBER(LARGE + 5), DT_NUMBER(1), o, sizeof *o);
    case 5:
        return dt_linspace_sized(ctx, DT_NUMBER(1), DT_NUMBER(2), LARGE, o, sizeof *o);
    case 6:
        return dt_eye_sized(ctx, LARGE_ROWS, LARGE_COLUMNS, o, sizeof *o);
    default:
        return dt_tri_sized(ctx, LARGE_ROWS, LARGE_COLUMNS, 37, o, sizeof *o);
    }
}

static double large_element(int maker, int64_t i) {
    const double numbers[N_LARGE] = {0,
                                     1,
                                     3,
                                     -2 + 0.5 * (double)i,
                                     5 + (double)i,
                                     i == LARGE - 1 ? 2 : 1 + (double)i * (1.0 / (LARGE - 1)),
                                     i / LARGE_COLUMNS == i % LARGE_COLUMNS,
                                     i % LARGE_COLUMNS <= i / LARGE_COLUMNS + 37};
    return numbers[maker];
}

static const int threads[] = {1, 2, 3, 5};
enum { N_THREADS = sizeof threads / sizeof *threads };

static void check_large(dt_ctx *const *contexts, int maker, dt_dtype dtype) {
    size_t bytes = (size_t)LARGE * dt_dtype_size(dtype);
    const void *first = NULL;
    dt_scope scopes[N_THREADS];
    for (int k = 0; k < N_THREADS; k++) {
        scopes[k] = dt_scope_begin(contexts[k]);
        dt_tensor *t = make_large(contexts[k], maker, &(dt_make_options){.dtype = dtype});
        first = k == 0 ? dt_data(t) : first;
        dt_tensor *copy = dt_from_memory(contexts[k], first, DT_SHAPE(LARGE), dtype);
        if (memcmp(dt_data(t), first, bytes) != 0 || memcmp(dt_data(copy), first, bytes) != 0)
            fail_msg("maker %d of %s: the bits differ with %d threads", maker, dt_dtype_name(dtype), threads[k]);
        for (int64_t i = 0; k == 0 && (dtype == DT_F64 || dtype == DT_I64) && i < LARGE; i++)
            if (element(t, i) != converted(dtype, large_element(maker, i)))
                fail_msg("maker %d: element %lld: expected %g, got %g", maker, (long long)i,
                         converted(dtype, large_element(maker, i)), element(t, i));
    }
    for (int k = 0; k < N_THREADS; k++)
        dt_scope_end(scopes[k]);
}

static void large_makers__are_the_same_with_any_number_of_threads(void **state) {
    (void)state;
    dt_ctx *contexts[N_THREADS];
    for (int k = 0; k < N_THREADS; k++)
        contexts[k] = dt_init(&(dt_init_options){.threads = threads[k]});
    for (int maker = 0; maker < N_LARGE; maker++)
        for (dt_dtype dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
            check_large(contexts, maker, dtype);
    for (int k = 0; k < N_THREADS; k++)
        assert_int_equal(dt_close(contexts[k]), 0);
}

/* Three times a value is rounded, and so is its third. */
static bool is_within_one_ulp(const float *averages, const float *expected) {
    for (int64_t i = 0; i < LARGE; i++)
        if (!(fabsf(averages[i] - expected[i]) <= FLT_EPSILON * fabsf(expected[i])))
            return false;
    return true;
}

static int compare_large_with_plain(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const places[] = {"S(0)", "_S(0,5)", "R", "P(sum)", "P(product)", "P(max)", "P(avg)"};
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    for (int maker = 0; maker < N_LARGE; maker++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            dt_scope scope = dt_scope_begin(ctx);
            dt_make_options options = {.dtype = p % 2 ? DT_F64 : DT_F32, .mesh = mesh, .place = places[p]};
            dt_tensor *t = make_large(ctx, maker, &options), *full = dt_full_tensor(t);
            options = (dt_make_options){.dtype = options.dtype};
            dt_tensor *plain = make_large(ctx, maker, &options);
            CHECK(full && plain, "%s", dt_error_text(ctx));
            if (strcmp(places[p], "P(avg)") == 0)
                CHECK(is_within_one_ulp(dt_data(full), dt_data(plain)), "maker %d, %s", maker, places[p]);
            else
                CHECK(!memcmp(dt_data(full), dt_data(plain), (size_t)LARGE * dt_dtype_size(options.dtype)),
                      "maker %d, %s", maker, places[p]);
            dt_scope_end(scope);
        }
    /* Integers that f64 cannot represent, and some near the end of i64: all ranks compute them in the same way. */
    for (double n = 800; n < 1000; n += 90) {
        double step = 4503599627370497.0;
        dt_tensor *t = dt_arange(ctx, 0, n * step, step, .dtype = DT_I64, .mesh = mesh, .place = "S(0)");
        dt_tensor *plain = dt_arange(ctx, 0, n * step, step, .dtype = DT_I64);
        CHECK(tensors_equal(dt_full_tensor(t), plain), "%g", n);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void large_makers__make_shards_of_the_plain_tensor(void **state) {
    (void)state;
    for (int k = 1; k < N_THREADS; k++)
        run_ranks_with(&(test_ranks){.n = 3, .options = {.threads = threads[k]}}, compare_large_with_plain, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makers__set_the_requested_values),
        cmocka_unit_test(f16_and_bf16__are_rounded_to_nearest),
        cmocka_unit_test(integers__out_of_range_are_refused),
        cmocka_unit_test(makers__refuse_invalid_arguments),
        cmocka_unit_test(distributed_makers__make_shards_of_the_plain_tensor),
        cmocka_unit_test(makers__follow_the_chunk_rule),
        cmocka_unit_test(large_makers__are_the_same_with_any_number_of_threads),
        cmocka_unit_test(large_makers__make_shards_of_the_plain_tensor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
