/* SPDX-License-Identifier: Apache-2.0
 *
 * The bits: the generator's published vectors, every table against the definition, every part of a range against the
 * whole, and the definition against the C library's functions.
 */
#include "random/fills.h"

#include "kernels/philox.h"
#include "kernels/vector_math.h"

/* Counter, key and output of Philox-4x32-10, as published by its authors. */
static const struct {
    uint32_t counter[4];
    uint64_t seed;
    uint32_t words[4];
} known[] = {
    {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     0xffffffffffffffffu,
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     0x299f31d0a4093822u,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void philox__gives_the_published_words(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint32_t *c = known[i].counter, *expected = known[i].words;
        philox_block block = philox((philox_block){{c[0], c[1], c[2], c[3]}}, known[i].seed);
        for (int w = 0; w < 4; w++)
            assert_int_equal(block.w[w], expected[w]);
        uint64_t number = c[0] | (uint64_t)c[1] << 32;
        dt__philox_key at = {known[i].seed, c[2] | (uint64_t)c[3] << 32};
        for (int t = 0; t < N_TABLES; t++) {
            const dt__kernels *table = dt__kernels_named(table_names[t]);
            uint64_t words[2 * DT__GROUP_BLOCKS];
            if (!table)
                continue;
            table->random_words(at, number / DT__GROUP_BLOCKS, words);
            assert_int_equal(words[number % 16], expected[0] | (uint64_t)expected[1] << 32);
            assert_int_equal(words[number % 16 + 16], expected[2] | (uint64_t)expected[3] << 32);
        }
    }
}

enum { N_ELEMENTS = 200 };

/* Ranges of the draw from element `begin` on against one range of the plain table. From 0, all short ranges are
 * tried. */
static void check_all_ranges(const char *name, dt__draw draw, int64_t begin) {
    const size_t bytes = dt_dtype_size(draw.dtype);
    char whole[N_ELEMENTS * 8], part[N_ELEMENTS * 8 + 2];
    const dt__kernels *table = draw.kernels;
    draw.kernels = &dt__kernels_plain;
    dt__draw_range(&draw, begin, N_ELEMENTS, whole);
    draw.kernels = table;
    for (int64_t from = 0; from < N_ELEMENTS; from += begin ? 11 : from < 70 ? 1 : 23)
        for (int64_t n = 0; from + n <= N_ELEMENTS; n += n < 70 ? 1 : 19) {
            memset(part, 0x5a, sizeof part);
            dt__draw_range(&draw, begin + from, n, part + 1); /* not aligned */
            check_bytes(name, part + 1, whole + (size_t)from * bytes, (size_t)n * bytes);
            assert_int_equal(part[0], 0x5a);
            assert_int_equal(part[1 + (size_t)n * bytes], 0x5a);
        }
}

static void range__has_the_bits_of_the_definition_in_every_table(void **state) {
    (void)state;
    /* Also where the block number passes 2^32, and at the last elements. */
    static const int64_t begins[] = {0, 7, ((int64_t)1 << 36) - 100, INT64_MAX - N_ELEMENTS + 1};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 0x0123456789abcdefu);
    dt_generator_restore(generator, (dt_generator_state){0x8123456789abcdefu, 0xffffffffffu});
    for (int f = 0; f < N_FILLS; f++) {
        dt__draw draw = begin_draw(generator, &all_fills[f]);
        for (int t = 1; t < N_TABLES; t++)
            for (size_t b = 0; b < sizeof begins / sizeof *begins; b++) {
                char name[100];
                if (!(draw.kernels = dt__kernels_named(table_names[t])))
                    continue;
                snprintf(name, sizeof name, "fill %d (distribution %d, %s) with %s from %" PRId64, f,
                         (int)draw.distribution, dt_dtype_name(draw.dtype), table_names[t], begins[b]);
                check_all_ranges(name, draw, begins[b]);
            }
    }
    dt__ctx_free(ctx);
}

/* Many groups, so that rare words occur; the tables are compared with one another. */
static void tables__agree_on_many_elements(void **state) {
    (void)state;
    enum { N = 1 << 17 };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(77));
    char *expected = malloc(N * 8), *got = malloc(N * 8);
    for (int f = 0; f < N_FILLS; f++) {
        dt__draw draw = begin_draw(generator, &all_fills[f]);
        draw.kernels = dt__kernels_named("baseline");
        dt__draw_range(&draw, 0, N, expected);
        for (int t = 2; t < N_TABLES; t++)
            if ((draw.kernels = dt__kernels_named(table_names[t]))) {
                dt__draw_range(&draw, 0, N, got);
                check_bytes(table_names[t], got, expected, N * dt_dtype_size(draw.dtype));
            }
    }
    free(expected);
    free(got);
    dt__ctx_free(ctx);
}

static void check_near(const char *name, long double got, long double expected, long double tolerance) {
    if (!(fabsl(got - expected) <= tolerance))
        fail_msg("%s: expected %.20Lg, got %.20Lg: the difference is more than %Lg", name, expected, got, tolerance);
}

#define TWO_PI 6.283185307179586476925286766559L

/* The functions that values are computed with, against those of the C library. */
static void functions__are_near_the_true_ones(void **state) {
    (void)state;
    static const uint64_t ends[] = {0,          1,          UINT64_MAX,       1ull << 63,
                                    1ull << 62, 1ull << 61, (1ull << 61) - 1, 0xfffff00000000000};
    const uint64_t seed = test_seed(5);
    for (uint64_t i = 0; i < 200000; i++) {
        philox_block block = random_block((dt__philox_key){seed, 0}, i, 0);
        uint64_t w = i < sizeof ends / sizeof *ends ? ends[i] : block_u64(&block, 0);
        uint32_t h = (uint32_t)(w >> 32);
        float u = random_positive_f32(h);
        double v = random_positive_f64(w);
        assert_true(u > 0 && u <= 1 && v > 0 && v <= 1);
        assert_true(random_unit_f32(h) >= 0 && random_unit_f32(h) < 1 && random_unit_f64(w) >= 0 &&
                    random_unit_f64(w) < 1);
        check_near("log f32", (long double)random_log_f32(u), logl((long double)u),
                   3e-7L * fabsl(logl((long double)u)));
        check_near("log f64", (long double)random_log_f64(v), logl((long double)v),
                   5e-16L * fabsl(logl((long double)v)));
        check_near("sin f32", (long double)random_turn_f32(h).sin, sinl(TWO_PI * (long double)h / 0x1p32L), 1.5e-7L);
        check_near("cos f32", (long double)random_turn_f32(h).cos, cosl(TWO_PI * (long double)h / 0x1p32L), 1.5e-7L);
        check_near("sin f64", (long double)random_turn_f64(w).sin, sinl(TWO_PI * (long double)w / 0x1p64L), 1e-15L);
        check_near("cos f64", (long double)random_turn_f64(w).cos, cosl(TWO_PI * (long double)w / 0x1p64L), 1e-15L);
    }
}

/* The definition in dtensor/random.h, from words computed one by one, with the C library's functions. */
static void values__are_what_the_header_defines(void **state) {
    (void)state;
    enum { N = 500 };
    const uint64_t seed = test_seed(12);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, seed);
    float normal[N], uniform[N];
    double normal64[N];
    int64_t numbers[N];
    dt__draw draw = begin_draw(generator, &(dt__random){DT__NORMAL, DT_F32, .std = 1});
    dt__draw_range(&draw, 0, N, normal);
    draw = begin_draw(generator, &(dt__random){DT__UNIFORM, DT_F32, .high = 1});
    dt__draw_range(&draw, 0, N, uniform);
    draw = begin_draw(generator, &(dt__random){DT__NORMAL, DT_F64, .std = 1});
    dt__draw_range(&draw, 0, N, normal64);
    draw = begin_draw(generator, &(dt__random){DT__RANDINT, DT_I64, .from = -5, .to = 95});
    dt__draw_range(&draw, 0, N, numbers);
    for (uint64_t i = 0; i < N; i++) {
        philox_block b = random_block((dt__philox_key){seed, 0}, i / 64 * 16 + i % 16, 0);
        uint32_t word = (uint32_t)(i % 64 / 16), pair = word / 2 * 2;
        long double r = sqrtl(-2 * logl(((long double)(b.w[pair] / 2) + 0.5L) / 0x1p31L));
        long double angle = TWO_PI * (long double)b.w[pair + 1] / 0x1p32L;
        check_near("normal", (long double)normal[i], r * (word % 2 ? sinl(angle) : cosl(angle)), 2e-6L);
        b = random_block((dt__philox_key){seed, 1}, i / 64 * 16 + i % 16, 0);
        check_near("uniform", (long double)uniform[i], (long double)(b.w[word] >> 8) / 0x1p24L, 0);
        b = random_block((dt__philox_key){seed, 2}, i / 32 * 16 + i % 16, 0);
        r = sqrtl(-2 * logl(((long double)(block_u64(&b, 0) >> 11) + 0.5L) / 0x1p53L));
        angle = TWO_PI * (long double)block_u64(&b, 1) / 0x1p64L;
        check_near("normal f64", (long double)normal64[i], r * (i % 32 / 16 ? sinl(angle) : cosl(angle)), 1e-14L);
        b = random_block((dt__philox_key){seed, 3}, i / 32 * 16 + i % 16, 0);
        long double fraction = (long double)block_u64(&b, (int)(i % 32 / 16)) / 0x1p64L;
        assert_int_equal(numbers[i], (int64_t)floorl(fraction * 100) - 5);
    }
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox__gives_the_published_words),
        cmocka_unit_test(range__has_the_bits_of_the_definition_in_every_table),
        cmocka_unit_test(tables__agree_on_many_elements),
        cmocka_unit_test(functions__are_near_the_true_ones),
        cmocka_unit_test(values__are_what_the_header_defines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
