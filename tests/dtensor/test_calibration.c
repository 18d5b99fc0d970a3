/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines that `dtensor calibrate` fits to measured times.
 */
#include "support/check.h"
#include "support/random.h"

#include "dtensor/calibration.h"

#include <math.h>

static calibration_series series_of(double start_us, double bytes_per_us) {
    calibration_series series = {.kind = DT__STEP_ALL_GATHER, .strided = true, .group = 4, .ranks = 8};
    for (double bytes = 1024; bytes <= 8 << 20; bytes *= 8)
        series.points[series.n_points++] = (calibration_point){bytes, start_us + bytes / bytes_per_us};
    return series;
}

static void assert_about(double got, double expected, double ratio) {
    if (!(got < expected * ratio && expected < got * ratio))
        fail_msg("expected about %g, got %g", expected, got);
}

static void fit__finds_the_line_that_the_points_are_on(void **state) {
    (void)state;
    static const double starts[] = {0.3, 7, 200}, rates[] = {150, 4000, 40000};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            calibration_series series = series_of(starts[i], rates[j]);
            dt__measured_step step;
            assert_true(calibration_fit(&series, &step) < 1.001);
            assert_about(step.start_us, starts[i], 1.02);
            assert_about(step.bytes_per_us, rates[j], 1.02);
            assert_int_equal(step.kind, DT__STEP_ALL_GATHER);
            assert_int_equal(step.group, 4);
            assert_int_equal(step.ranks, 8);
            assert_true(step.strided);
        }
}

static double us_by(const dt__measured_step *step, double bytes) {
    double cached = step->cache_bytes > 0 ? fmin(bytes, step->cache_bytes) : bytes;
    double us = step->start_us + cached / step->bytes_per_us;
    return bytes > cached ? us + (bytes - cached) / step->memory_bytes_per_us : us;
}

static void fit__finds_where_the_caches_end(void **state) {
    (void)state;
    calibration_series series = series_of(5, 20000);
    dt__measured_step step;
    series.points[series.n_points - 1].us *= 4;
    series.points[series.n_points - 2].us *= 3;
    double cache_bytes = series.points[series.n_points - 3].bytes;
    assert_true(calibration_fit(&series, &step) < 1.3);
    assert_true(step.cache_bytes == cache_bytes);
    assert_about(step.bytes_per_us, 20000, 1.02);
    assert_about(step.memory_bytes_per_us, 5000, 1.5);
}

/* Points that are off by up to a factor are fitted within it: the line that they came from is one that does so. */
static void fit__is_within_the_factor_of_the_points(void **state) {
    (void)state;
    uint64_t random = test_seed(81);
    for (int i = 0; i < 50; i++) {
        calibration_series series = series_of(5, 3000);
        dt__measured_step step;
        for (int k = 0; k < series.n_points; k++)
            series.points[k].us *= pow(1.5, (double)test_below(&random, 201) / 100 - 1);
        double ratio = calibration_fit(&series, &step), worst = 1;
        for (int k = 0; k < series.n_points; k++) {
            double one = us_by(&step, series.points[k].bytes) / series.points[k].us;
            worst = fmax(worst, fmax(one, 1 / one));
        }
        assert_true(ratio < 1.5 * 1.01);
        assert_about(worst, ratio, 1.000001);
    }
}

static void fit__accepts_a_single_point(void **state) {
    (void)state;
    calibration_series series = {.n_points = 1, .points = {{4096, 12}}};
    dt__measured_step step;
    assert_true(calibration_fit(&series, &step) < 1.01);
    assert_true(step.start_us > 0 && step.bytes_per_us > 0 && isfinite(step.bytes_per_us));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit__finds_the_line_that_the_points_are_on),
        cmocka_unit_test(fit__finds_where_the_caches_end),
        cmocka_unit_test(fit__is_within_the_factor_of_the_points),
        cmocka_unit_test(fit__accepts_a_single_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
