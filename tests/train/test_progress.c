/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress line: its text, the steps that print it, live lines, and the rank that shows it. What is printed is read
 * back from a file in place of standard output; runs that begin at infinity have no time to estimate from, so that
 * their lines are known. A terminal's line is tested with the GPT (tests/tools/test_gpt_program.py). Ranks 1, 2, 3 and
 * 5 on shm.
 */
#include "support/ranks.h"

#include "dtensor/progress.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void assert_line(const dt_progress *progress, int64_t step, double seconds, const char *values,
                        const char *expected) {
    char text[200];
    assert_int_equal(dt_progress_text(progress, step, seconds, values, sizeof text, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void text__has_step_values_rate_and_time_left(void **state) {
    (void)state;
    dt_progress progress = {.steps = 600, .stop = 600, .per_step = 1024, .unit = "tokens"};
    assert_line(&progress, 0, 0.0625, "loss 3.2989", "step    1/600  loss 3.2989   16384 tokens/s   37 s left");
    assert_line(&progress, 24, 0.5, "loss 2.0581", "step   25/600  loss 2.0581   51200 tokens/s   12 s left");
    assert_line(&progress, 599, 12, "loss 0.4043", "step  600/600  loss 0.4043   51200 tokens/s    0 s left");
    progress.per_step = 1, progress.unit = NULL;
    assert_line(&progress, 99, 8, NULL, "step  100/600      12 steps/s   40 s left");
    assert_line(&progress, 99, 800, "", "step  100/600     0.1 steps/s  4000 s left");
    assert_line(&progress, 99, 8, "loss nan", "step  100/600  loss nan      12 steps/s   40 s left");
}

static void text__counts_the_steps_of_this_run(void **state) {
    (void)state;
    const dt_progress progress = {.steps = 20, .first = 8, .stop = 12, .per_step = 1};
    assert_line(&progress, 8, 2, NULL, "step    9/20     0.5 steps/s    6 s left");
    assert_line(&progress, 11, 8, NULL, "step   12/20     0.5 steps/s    0 s left");
    assert_line(&progress, 15, 8, NULL, "step   16/20     1.0 steps/s    0 s left"); /* after the last one */
}

static void text__estimates_nothing_from_nothing(void **state) {
    (void)state;
    const dt_progress progress = {.steps = 20, .first = 8, .stop = 20, .per_step = 1};
    const double all[] = {0, -1, NAN, -INFINITY};
    for (int i = 0; i < 4; i++)
        assert_line(&progress, 9, all[i], NULL, "step   10/20       0 steps/s    0 s left");
    assert_line(&progress, 3, 5, NULL, "step    4/20       0 steps/s    0 s left"); /* before the first one */
    const dt_progress none = {0};
    assert_line(&none, 0, 1, NULL, "step    1/0     0.0 steps/s    0 s left");
}

static void text__is_cut_off_where_the_buffer_ends(void **state) {
    (void)state;
    const dt_progress progress = {.steps = 20, .stop = 20, .per_step = 1};
    char text[8] = "unused";
    assert_int_equal(dt_progress_text(&progress, 0, 1, NULL, 0, NULL), 40);
    assert_int_equal(dt_progress_text(&progress, 0, 1, NULL, sizeof text, text), 40);
    assert_string_equal(text, "step   ");
}

/* What a function prints about a progress. */
static const char *printed(void (*print)(dt_progress *progress), dt_progress progress) {
    static char text[4000];
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    print(&progress);
    (void)fflush(stdout);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    (void)fclose(file);
    return text;
}

static void run_all(dt_progress *progress) {
    for (int64_t step = progress->first; step < progress->stop; step++)
        dt_progress_step(progress, step, "loss %.1f", 0.5 * (double)step);
    dt_progress_end(progress);
}

static void end_early(dt_progress *progress) {
    dt_progress_step(progress, 0, NULL);
    dt_progress_end(progress);
    dt_progress_end(progress);
}

static void become_shorter(dt_progress *progress) {
    dt_progress_step(progress, 0, "loss %s", "100.25");
    dt_progress_step(progress, 1, "loss %s", "9.5");
    dt_progress_step(progress, 2, "loss %s", "8.5");
}

static void print_much(dt_progress *progress) { dt_progress_step(progress, 0, "%*s", 1000, "x"); }

#define TAIL "       0 steps/s    0 s left"

static void lines__are_those_of_every_few_steps(void **state) {
    (void)state;
    const dt_progress plain = {.steps = 9, .stop = 9, .every = 4, .per_step = 1, .shown = true, .begin = INFINITY};
    assert_string_equal(printed(run_all, plain), "step    1/9  loss 0.0" TAIL "\nstep    4/9  loss 1.5" TAIL
                                                 "\nstep    8/9  loss 3.5" TAIL "\nstep    9/9  loss 4.0" TAIL "\n");
    dt_progress resumed = plain;
    resumed.first = 5, resumed.stop = 7;
    assert_string_equal(printed(run_all, resumed), "step    6/9  loss 2.5" TAIL "\nstep    7/9  loss 3.0" TAIL "\n");
    dt_progress seldom = plain;
    for (seldom.every = -1; seldom.every <= 0; seldom.every++)
        assert_string_equal(printed(run_all, seldom),
                            "step    1/9  loss 0.0" TAIL "\nstep    9/9  loss 4.0" TAIL "\n");
    dt_progress other = plain;
    other.shown = false;
    assert_string_equal(printed(run_all, other), "");
    other.live = true;
    assert_string_equal(printed(run_all, other), "");
}

static void lines__that_are_live_replace_each_other(void **state) {
    (void)state;
    const dt_progress live = {.steps = 3, .stop = 3, .every = 9, .shown = true, .live = true, .begin = INFINITY};
    assert_string_equal(printed(run_all, live), "\rstep    1/3  loss 0.0" TAIL "\rstep    2/3  loss 0.5" TAIL
                                                "\rstep    3/3  loss 1.0" TAIL "\n");
    assert_string_equal(printed(end_early, live), "\rstep    1/3" TAIL "\n");
    assert_string_equal(printed(become_shorter, live),
                        "\rstep    1/3  loss 100.25" TAIL "\rstep    2/3  loss 9.5" TAIL
                        "   \rstep    3/3  loss 8.5" TAIL "\n");
}

static void lines__have_a_limit(void **state) {
    (void)state;
    const dt_progress plain = {.steps = 1, .stop = 1, .shown = true, .begin = INFINITY};
    assert_int_equal(strlen(printed(print_much, plain)), strlen("step    1/1  ") + 255 + strlen(TAIL "\n"));
}

static int show_on_one_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    const dt_progress progress = dt_progress_begin(ctx, 7);
    CHECK(progress.shown == (dt_rank(ctx) == 0), "rank %lld: shown is %d", (long long)dt_rank(ctx), progress.shown);
    CHECK(dt_world(ctx) == 1 || !progress.live, "a line of %lld ranks is live", (long long)dt_world(ctx));
    CHECK(progress.steps == 7 && progress.first == 0 && progress.stop == 7, "got %lld, %lld to %lld",
          (long long)progress.steps, (long long)progress.first, (long long)progress.stop);
    return 0;
}

static void begin__shows_on_one_rank(void **state) {
    (void)state;
    const int64_t ranks[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++)
        run_ranks(ranks[i], show_on_one_rank, NULL);
    assert_false(dt_progress_begin(NULL, 7).shown);
    assert_string_equal(printed(run_all, dt_progress_begin(NULL, 7)), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__has_step_values_rate_and_time_left),
        cmocka_unit_test(text__counts_the_steps_of_this_run),
        cmocka_unit_test(text__estimates_nothing_from_nothing),
        cmocka_unit_test(text__is_cut_off_where_the_buffer_ends),
        cmocka_unit_test(lines__are_those_of_every_few_steps),
        cmocka_unit_test(lines__that_are_live_replace_each_other),
        cmocka_unit_test(lines__have_a_limit),
        cmocka_unit_test(begin__shows_on_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
