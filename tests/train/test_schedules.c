/* SPDX-License-Identifier: Apache-2.0
 *
 * Pipeline schedules: their idle times and activations against the formulas of the papers, the checker against a brute
 * force over all orders of small tables, and errors.
 */
#include "dtensor/comm.h"
#include "dtensor/pipeline.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dt_ctx *new_ctx(test_memory *memory) {
    return dt_init(&(dt_init_options){.transport = "fake", .world = 1, .allocator = test_memory_allocator(memory)});
}

static void end_ctx(dt_ctx *ctx, const test_memory *memory) {
    if (dt_failed(ctx))
        fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory->n_live, 0);
}

static double time_of(const dt_stage_times *times, char kind) {
    return kind == 'F'   ? times->forward
           : kind == 'I' ? times->input
           : kind == 'W' ? times->weight
                         : times->input + times->weight;
}

typedef struct idle_times {
    double worst;  /* the time of the step less the work of a rank */
    double inside; /* between the first and the last action of a rank */
    int64_t live;
} idle_times;

static idle_times idle_of(const dt_schedule *schedule, const dt_stage_times *times) {
    static double begins[1 << 16];
    double makespan = dt_schedule_simulate(schedule, times, begins), *row = begins;
    idle_times out = {0};
    for (int64_t rank = 0; rank < dt_schedule_n_ranks(schedule); rank++) {
        double busy = 0, end = 0;
        const int64_t n = dt_schedule_n_actions(schedule, rank);
        for (int64_t i = 0; i < n; i++) {
            dt_action action;
            assert_true(dt_schedule_action(schedule, rank, i, &action));
            assert_int_equal(dt_schedule_rank_of(schedule, action.stage), rank);
            assert_true(row[i] >= end - 1e-9);
            busy += time_of(times, action.kind);
            end = row[i] + time_of(times, action.kind);
        }
        assert_true(end <= makespan + 1e-9);
        out.worst = fmax(out.worst, makespan - busy);
        out.inside = fmax(out.inside, end - row[0] - busy);
        out.live = dt_schedule_n_live(schedule, rank) > out.live ? dt_schedule_n_live(schedule, rank) : out.live;
        row += n;
    }
    return out;
}

static const dt_stage_times unit = {1, 1, 1, 0};

typedef struct named {
    const char *name;
    int stages_per_rank;
} named;
static const named all[] = {{"gpipe", 1}, {"1f1b", 1},        {"interleaved", 2}, {"interleaved", 3},
                            {"zb-h1", 1}, {"interleaved", 4}, {"zb-v", 2},        {"dualpipe-v", 2}};
enum { N_ALL = sizeof all / sizeof *all };

static dt_schedule *schedule_of(dt_ctx *ctx, const named *of, int64_t ranks, int64_t micro) {
    dt_schedule *schedule = dt_schedule_new(ctx, of->name, .ranks = DT_INT(ranks),
                                            .stages = DT_INT(ranks * of->stages_per_rank), .micro = DT_INT(micro));
    if (!schedule)
        fail_msg("%s, %lld ranks, %lld micro-batches: %s", of->name, (long long)ranks, (long long)micro,
                 dt_error_text(ctx));
    return schedule;
}

static void schedules__exist_for_every_size(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    for (int k = 0; k < N_ALL; k++)
        for (int64_t ranks = 1; ranks <= 9; ranks++)
            for (int64_t micro = 1; micro <= 40; micro += micro < 20 ? 1 : 7) {
                dt_schedule *schedule = schedule_of(ctx, &all[k], ranks, micro);
                assert_int_equal(dt_schedule_n_stages(schedule), ranks * all[k].stages_per_rank);
                assert_int_equal(dt_schedule_n_micro(schedule), micro);
                dt_schedule_free(schedule);
            }
    end_ctx(ctx, &memory);
}

/* The idle time that a paper states; negative: none for so few micro-batches. */
static double expected_idle(const named *of, int64_t p, int64_t n, const dt_stage_times *t) {
    const double f = t->forward, b = t->input + t->weight;
    const double d = (double)(p - 1);
    if (!strcmp(of->name, "gpipe") || !strcmp(of->name, "1f1b"))
        return d * (f + b);
    if (!strcmp(of->name, "interleaved"))
        return n < p ? -1 : d * (f + b);
    if (!strcmp(of->name, "zb-h1"))
        return n < p ? -1 : d * (f + t->input - t->weight);
    const int64_t fewest = !strcmp(of->name, "zb-v") ? 2 * p - 1 : 2 * p;
    return n < fewest || f != t->input || f != t->weight ? -1 : d * f;
}

static void check_idle(dt_ctx *ctx, const named *of, int64_t p, int64_t n, const dt_stage_times *times) {
    const double expected = expected_idle(of, p, n, times);
    dt_schedule *schedule = schedule_of(ctx, of, p, n);
    const idle_times idle = idle_of(schedule, times);
    if (expected >= 0 && fabs(idle.worst - expected) > 1e-9)
        fail_msg("%s, %lld ranks, %lld micro-batches: expected %g idle, got %g", of->name, (long long)p, (long long)n,
                 expected, idle.worst);
    if (!strcmp(of->name, "zb-v") && n >= 2 * p - 1 && times == &unit)
        assert_true(fabs(idle.inside) < 1e-9);
    dt_schedule_free(schedule);
}

static void schedules__idle_as_their_papers_state(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    static const int64_t ranks[] = {1, 2, 3, 4, 5, 8};
    static const dt_stage_times longer = {3, 2, 1, 0};
    for (int k = 0; k < N_ALL; k++)
        for (int i = 0; i < 6; i++)
            for (int64_t n = 1; n <= 5 * ranks[i]; n += ranks[i] < 4 ? 1 : 3) {
                check_idle(ctx, &all[k], ranks[i], n, &unit);
                if (!strchr(all[k].name, 'z')) /* zb-h1's formula holds where W fits into the gaps */
                    check_idle(ctx, &all[k], ranks[i], n, &longer);
            }
    end_ctx(ctx, &memory);
}

static void schedules__hold_the_activations_that_they_promise(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    static const int64_t ranks[] = {2, 3, 4, 8};
    for (int i = 0; i < 4; i++)
        for (int64_t p = ranks[i], n = p; n <= 4 * p; n += p) {
            dt_schedule *gpipe = schedule_of(ctx, &all[0], p, n), *one = schedule_of(ctx, &all[1], p, n);
            dt_schedule *zero = schedule_of(ctx, &all[4], p, n), *vee = schedule_of(ctx, &all[6], p, n);
            dt_schedule *dual = schedule_of(ctx, &all[7], p, n);
            for (int64_t rank = 0; rank < p; rank++) {
                assert_int_equal(dt_schedule_n_live(gpipe, rank), n);
                assert_int_equal(dt_schedule_n_live(one, rank), p - rank);
                assert_int_equal(dt_schedule_n_live(zero, rank), p);
                if (n >= 2 * p) {
                    assert_int_equal(dt_schedule_n_live(vee, rank), 2 * p);
                    assert_int_equal(dt_schedule_n_live(dual, rank), 2 * p + 1);
                }
            }
            dt_schedule_free(gpipe), dt_schedule_free(one), dt_schedule_free(zero), dt_schedule_free(vee),
                dt_schedule_free(dual);
        }
    end_ctx(ctx, &memory);
}

/* A hop delays what crosses between ranks, and nothing else. */
static void hops__delay_what_crosses(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_schedule *gpipe = schedule_of(ctx, &all[0], 3, 2);
    assert_true(fabs(dt_schedule_simulate(gpipe, (&(dt_stage_times){1, 1, 1, 0.25}), NULL) - (12 + 4 * 0.25)) <
                1e-12);
    dt_schedule *alone = schedule_of(ctx, &all[6], 1, 3); /* zb-v on one rank: two stages, no hop */
    assert_true(dt_schedule_simulate(alone, (&(dt_stage_times){1, 1, 1, 100}), NULL) == 18);
    end_ctx(ctx, &memory);
}

static void expect_error(dt_ctx *ctx, const char *error) {
    if (!strstr(dt_error_text(ctx), error))
        fail_msg("expected '%s', got '%s'", error, dt_error_text(ctx));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
}

/* A first stage without an input gradient, and a last one that is longer. */
static void stages__have_times_of_their_own(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_schedule *schedule = dt_schedule_new(ctx, "zb-h1", .stages = DT_INT(2), .micro = DT_INT(3));
    const dt_stage_times same[] = {{1, 2, 3, 0.5}, {1, 2, 3, 0.5}};
    assert_true(dt_schedule_simulate_stages(schedule, same, NULL) == dt_schedule_simulate(schedule, same, NULL));
    assert_true(dt_schedule_simulate_stages(schedule, NULL, NULL) == dt_schedule_simulate(schedule, NULL, NULL));
    /* Rank 1: F0 1.5, I0 4.5, F1 6.5, I1 9.5, W0 11.5, F2 12.5, I2 15.5, W1 17.5, W2 18.5 to 19.5.
     * Rank 0: F0 0, F1 1, I0 and W0 6.75, F2 8.75, I1 and W1 11.75, I2 and W2 17.75 to 19.75. */
    const dt_stage_times differ[] = {{1, 0, 2, 0.5}, {3, 2, 1, 0.25}};
    double begins[18];
    assert_true(dt_schedule_simulate_stages(schedule, differ, begins) == 19.75);
    static const double expected[18] = {0,   1,   6.75, 6.75, 8.75, 11.75, 11.75, 17.75, 17.75,
                                        1.5, 4.5, 6.5,  9.5,  11.5, 12.5,  15.5,  17.5,  18.5};
    for (int i = 0; i < 18; i++)
        assert_true(begins[i] == expected[i]);
    dt_stage_times wrong[] = {{1, 1, 1, 0}, {1, -1, 1, 0}};
    assert_true(dt_schedule_simulate_stages(schedule, wrong, NULL) == -1);
    expect_error(ctx, "the time input is out of range: expected at least 0, got -1");
    end_ctx(ctx, &memory);
}

static void timeline__of_zb_h1(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_schedule *schedule = dt_schedule_new(ctx, "zb-h1", .stages = DT_INT(2), .micro = DT_INT(4));
    assert_string_equal(dt_schedule_timeline(schedule, NULL),
                        "0 |F0 F1 .  I0 W0 F2 I1 W1 F3 I2 W2 I3 W3| 1 idle of 13, 2 live\n"
                        "1 |.  F0 I0 F1 I1 W0 F2 I2 W1 F3 I3 W2 W3| 1 idle of 13, 2 live\n");
    assert_string_equal(dt_schedule_text(schedule), "0F0,0F1,0I0,0W0,0F2,0I1,0W1,0F3,0I2,0W2,0I3,0W3\n"
                                                    "1F0,1I0,1F1,1I1,1W0,1F2,1I2,1W1,1F3,1I3,1W2,1W3\n");
    dt_schedule *again = dt_schedule_new(ctx, dt_schedule_text(schedule));
    assert_string_equal(dt_schedule_text(again), dt_schedule_text(schedule));
    dt_schedule *wide = dt_schedule_new(ctx, "0F0,0B0\n1F0,1B0\n", .stages = DT_INT(2));
    assert_string_equal(dt_schedule_timeline(wide, (&(dt_stage_times){2, 1, 1, 1})),
                        "0 |F0 -  .  .  .  .  .  .  B0 - | 6 idle of 10, 1 live\n"
                        "1 |.  .  .  F0 -  B0 -  .  .  . | 6 idle of 10, 1 live\n");
    end_ctx(ctx, &memory);
}

static void table__of_others_loads(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_schedule *schedule = dt_schedule_new(ctx, "0F0, 0SEND_F0,0F1,,,0RECV_B0,0B0,0REDUCE_GRAD,0B1\r\n\r\n"
                                                 ",1UNSHARD,1RECV_F0,1F0,(1F1;1B0)OVERLAP_F_B,1B1,1RESHARD");
    assert_string_equal(dt_schedule_text(schedule), "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
    assert_int_equal(dt_schedule_n_ranks(schedule), 2);
    end_ctx(ctx, &memory);
}

typedef struct refusal {
    const char *text, *error;
} refusal;

static void errors__name_the_action(void **state) {
    (void)state;
    static const refusal refusals[] = {
        {"0F0,0F0,0B0", "rank 0: action 2, 0F0: it is action 1 already"},
        {"0F0,0B0\n0F1,0B1", "rank 1: action 1, 0F1: stage 0 is already on rank 0"},
        {"0F0,0I0", "rank 0: stage 0 has no W of micro-batch 0"},
        {"0F0,0B0,0W0", "rank 0: action 3, 0W0: B of this micro-batch includes it"},
        {"0F0,0F1,0B1", "rank 0: stage 0 has no B or I of micro-batch 0"},
        {"0B0,0F0", "rank 0: 0B0 comes before 0F0"},
        {"0F0,0W0,0I0", "rank 0: 0W0 comes before 0I0"},
        {"0F0,0B0\n2F0,2B0", "stage 1 has no actions: expected stages 0 to 2"},
        {"0F0,0F1,0B0,0B1\n1F1,1F0,1B0,1B1",
         "rank 1: action 1, 1F1: rank 0, which sends to this stage, has micro-batch 0 "
         "before 1"},
        {"0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1",
         "the ranks wait in a circle: rank 0 waits in 0B0 for 1B0, rank 1 waits in 1F1 for 0F1"},
        {"0F0,0X0", "column 6: expected F, B, I or W after a stage"},
        {"0F,0B0", "column 3: expected a micro-batch after F"},
        {"F0,B0", "column 1: expected a stage"},
        {"0F0 0B0,", "column 5: expected a comma between actions"},
        {"(0F0,0B0", "column 5: expected ')'"},
        {"\n", "the table has no actions"},
        {"99999999F99999999,0B0", "the table is too large"},
        {"1F1B", "expected gpipe, 1f1b, interleaved, zb-h1, zb-v, dualpipe-v or a table, got '1F1B'"},
        {"", "got ''"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        test_memory memory = {0};
        dt_ctx *ctx = new_ctx(&memory);
        assert_null(dt_schedule_new(ctx, refusals[i].text));
        if (!strstr(dt_error_text(ctx), refusals[i].error))
            fail_msg("'%s': expected '%s', got '%s'", refusals[i].text, refusals[i].error, dt_error_text(ctx));
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        end_ctx(ctx, &memory);
    }
}

static void errors__name_the_option(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    assert_null(dt_schedule_new(ctx, "1f1b", .stages = DT_INT(4)));
    expect_error(ctx, "1f1b: the number of micro-batches is missing: set .micro");
    assert_null(dt_schedule_new(ctx, "1f1b", .micro = DT_INT(4)));
    expect_error(ctx, "1f1b: the number of stages is missing: set .stages or .ranks");
    assert_null(dt_schedule_new(ctx, "zb-v", .ranks = DT_INT(2), .stages = DT_INT(2), .micro = DT_INT(4)));
    expect_error(ctx, "zb-v: wrong number of stages: expected 4 for 2 ranks, got 2");
    assert_null(dt_schedule_new(ctx, "interleaved", .ranks = DT_INT(2), .stages = DT_INT(5), .micro = DT_INT(4)));
    expect_error(ctx, "interleaved: wrong number of stages: expected a multiple of 2 ranks, got 5");
    assert_null(dt_schedule_new(ctx, "gpipe", .ranks = DT_INT(0), .micro = DT_INT(4)));
    expect_error(ctx, ".ranks is out of range: expected 1 to 16777216, got 0");
    assert_null(dt_schedule_new(ctx, "gpipe", .ranks = DT_INT(4096), .micro = DT_INT(1 << 20)));
    expect_error(ctx, "gpipe: too many actions");
    assert_null(dt_schedule_new(ctx, "0F0,0B0", .micro = DT_INT(2)));
    expect_error(ctx, ".micro differs from the table: expected 1, got 2");
    assert_null(dt_schedule_new(ctx, NULL));
    expect_error(ctx, "the name or table is NULL");
    dt_schedule *schedule = dt_schedule_new(ctx, "0F0,0B0");
    assert_true(dt_schedule_simulate(schedule, (&(dt_stage_times){1, -1, 1, 0}), NULL) == -1);
    expect_error(ctx, "the time input is out of range: expected at least 0, got -1");
    assert_true(dt_schedule_simulate(schedule, (&(dt_stage_times){NAN, 1, 1, 0}), NULL) == -1);
    expect_error(ctx, "the time forward");
    assert_null(dt_schedule_timeline(schedule, (&(dt_stage_times){1, 1e-9, 1, 0})));
    expect_error(ctx, "the timeline is too long to draw");
    assert_int_equal(dt_schedule_rank_of(schedule, 1), -1);
    assert_int_equal(dt_schedule_n_actions(schedule, 1), 0);
    assert_int_equal(dt_schedule_n_ranks(NULL), 0);
    assert_null(dt_schedule_text(NULL));
    end_ctx(ctx, &memory);
}

/* Whether actions of two stages on two ranks can all run, by trying to run whichever can. */
static bool can_run(const int rows[2][4]) {
    int next[2] = {0, 0};
    bool done[8] = {false}; /* F0 F1 B0 B1 of stage 0, then of stage 1 */
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < 2; r++) {
            const int action = next[r] < 4 ? rows[r][next[r]] : -1;
            const bool is_forward = action >= 0 && action < 2;
            const bool ready = action >= 0 && (is_forward ? r == 0 || done[action] : done[r * 4 + action - 2]) &&
                               (is_forward || r == 1 || done[4 + action]);
            if (ready) {
                done[r * 4 + action] = moved = true;
                next[r]++;
            }
        }
    }
    return next[0] == 4 && next[1] == 4;
}

/* Whether a stage has its micro-batches in one order at both ends. */
static bool in_order(const int rows[2][4], int first) {
    int order[2] = {0, 0};
    for (int r = 0; r < 2; r++)
        for (int i = 0, n = 0; i < 4; i++)
            if (rows[r][i] / 2 == first)
                order[r] = n++ == 0 ? rows[r][i] % 2 : order[r];
    return order[0] == order[1];
}

static const int permutations[24][4] = {
    {0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}, {1, 0, 2, 3}, {1, 0, 3, 2},
    {1, 2, 0, 3}, {1, 2, 3, 0}, {1, 3, 0, 2}, {1, 3, 2, 0}, {2, 0, 1, 3}, {2, 0, 3, 1}, {2, 1, 0, 3}, {2, 1, 3, 0},
    {2, 3, 0, 1}, {2, 3, 1, 0}, {3, 0, 1, 2}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 1, 2, 0}, {3, 2, 0, 1}, {3, 2, 1, 0}};

/* All orders of two stages and two micro-batches: accepted if and only if they run and their links agree. */
static void check__accepts_what_runs(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    int n_accepted = 0;
    for (int a = 0; a < 24; a++)
        for (int b = 0; b < 24; b++) {
            int rows[2][4];
            char text[128] = "";
            memcpy(rows[0], permutations[a], sizeof rows[0]);
            memcpy(rows[1], permutations[b], sizeof rows[1]);
            for (int r = 0; r < 2; r++)
                for (int i = 0; i < 4; i++)
                    snprintf(text + strlen(text), sizeof text - strlen(text), "%d%c%d%c", r,
                             rows[r][i] < 2 ? 'F' : 'B', rows[r][i] % 2, i == 3 ? '\n' : ',');
            const bool expected = can_run((const int(*)[4])rows) && in_order((const int(*)[4])rows, 0) &&
                                  in_order((const int(*)[4])rows, 1);
            dt_schedule *schedule = dt_schedule_new(ctx, text);
            if ((schedule != NULL) != expected)
                fail_msg("expected %d for\n%s%s", expected, text, dt_error_text(ctx));
            n_accepted += expected;
            if (schedule)
                dt_schedule_free(schedule);
            else
                assert_int_equal(dt_error_clear(ctx), DT_OK);
        }
    assert_in_range(n_accepted, 8, 200);
    end_ctx(ctx, &memory);
}

static bool call_all_functions(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_schedule *made[] = {dt_schedule_new(ctx, "dualpipe-v", .ranks = DT_INT(2), .micro = DT_INT(3)),
                           dt_schedule_new(ctx, "0F0,0B0\n1F0,1B0\n")};
    bool all_made =
        made[0] && made[1] && dt_schedule_timeline(made[0], NULL) && dt_schedule_simulate(made[1], NULL, NULL) > 0;
    dt_schedule_free(made[0]), dt_schedule_free(made[1]);
    return all_made;
}

static void memory__every_allocation_may_fail(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(call_all_functions, NULL), 10, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules__exist_for_every_size),
        cmocka_unit_test(schedules__idle_as_their_papers_state),
        cmocka_unit_test(schedules__hold_the_activations_that_they_promise),
        cmocka_unit_test(hops__delay_what_crosses),
        cmocka_unit_test(stages__have_times_of_their_own),
        cmocka_unit_test(timeline__of_zb_h1),
        cmocka_unit_test(table__of_others_loads),
        cmocka_unit_test(errors__name_the_action),
        cmocka_unit_test(errors__name_the_option),
        cmocka_unit_test(check__accepts_what_runs),
        cmocka_unit_test(memory__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
