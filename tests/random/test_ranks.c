/* SPDX-License-Identifier: Apache-2.0
 *
 * Several ranks: shards that are drawn without communication form the tensor that one rank draws, and generators that
 * differ are detected by the tag of a collective.
 */
#include "random/fills.h"
#include "support/ranks.h"

enum { N_ROWS = 7, N_COLUMNS = 5 };

/* Each rank draws its rows; gathered, they are the full tensor. RND-004, RND-013, RND-014 */
static int gather_rows(dt_ctx *ctx, void *arg) {
    (void)arg;
    char text[64];
    snprintf(text, sizeof text, "f32[%d,%d] S(0) on mesh(%d)", N_ROWS, N_COLUMNS, (int)dt_world(ctx));
    dt_spec *spec = dt_spec_parse(ctx, text);
    CHECK(spec, "%s", dt_error_text(ctx));
    dt_generator *generator = dt_generator_default(ctx);
    dt__draw draw;
    CHECK_OK(ctx, dt_generator_seed(generator, 123));
    CHECK_OK(ctx, dt__draw_begin(generator, &(dt__random){DT__NORMAL, DT_F32, .std = 1}, &draw));
    float local_part[N_ROWS * N_COLUMNS], all[N_ROWS * N_COLUMNS], full[N_ROWS * N_COLUMNS];
    int64_t rank = dt_rank(ctx), counts[16];
    dt__draw_spec(&draw, NULL, spec, &rank, NULL, local_part);
    for (int64_t r = 0; r < dt_world(ctx); r++) {
        dt_local local;
        dt_spec_local_of(spec, r, &local);
        counts[r] = local.elements;
    }
    CHECK_OK(ctx, dt_comm_run(dt_group_world(ctx), &(dt_comm_call){.op = DT_ALL_GATHER,
                                                                   .dtype = DT_F32,
                                                                   .src = local_part,
                                                                   .dst = all,
                                                                   .counts = counts,
                                                                   .tag = dt_generator_tag(generator)}));
    dt__draw_range(&draw, 0, N_ROWS * N_COLUMNS, full);
    for (int i = 0; i < N_ROWS * N_COLUMNS; i++)
        CHECK(!memcmp(&all[i], &full[i], sizeof *all), "element %d: expected %g, got %g", i, (double)full[i],
              (double)all[i]);
    dt_spec_release(spec);
    return 0;
}

static void ranks__draw_what_one_rank_draws(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 4, 8};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], gather_rows, NULL);
}

typedef struct difference {
    uint64_t seed, draw; /* of rank 1 from the others */
} difference;

static int reduce_with_tags(dt_ctx *ctx, void *arg) {
    const difference *test = arg;
    dt_generator *generator = dt_generator_new(ctx, 7);
    dt_generator_state at = {7, 3};
    if (dt_rank(ctx) == 1)
        at = (dt_generator_state){at.seed + test->seed, at.draw + test->draw};
    CHECK_OK(ctx, dt_generator_restore(generator, at));
    float x = 1;
    dt_status status = dt_comm_run(dt_group_world(ctx), &(dt_comm_call){.op = DT_ALL_REDUCE,
                                                                        .dtype = DT_F32,
                                                                        .reduce = DT_SUM,
                                                                        .src = &x,
                                                                        .dst = &x,
                                                                        .count = 1,
                                                                        .tag = dt_generator_tag(generator)});
    dt_status expected = test->seed || test->draw ? DT_ERR_MISMATCH : DT_OK;
    CHECK(status == expected, "expected %s, got %s: %s", dt_status_name(expected), dt_status_name(status),
          dt_error_text(ctx));
    CHECK(status != DT_OK || x == (float)dt_world(ctx), "the sum is %g", (double)x);
    dt_error_clear(ctx);
    return 0;
}

static void generators__that_differ_are_an_error_on_every_rank(void **state) {
    (void)state;
    static difference differences[] = {{0, 0}, {1, 0}, {0, 1}, {UINT64_MAX, 1}};
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        for (int64_t world = 2; world <= 5; world += world < 3 ? 1 : 2)
            run_ranks(world, reduce_with_tags, &differences[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks__draw_what_one_rank_draws),
        cmocka_unit_test(generators__that_differ_are_an_error_on_every_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
