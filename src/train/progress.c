/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress line of a training: which steps print it, its text, and how a live line replaces the one before.
 */
#include "dtensor/progress.h"
#include "comm/comm.h"
#include "spec/spec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static double seconds_now(void) { return 1e-9 * (double)dt__now_ns(); }

dt_progress dt_progress_begin(const dt_ctx *ctx, int64_t steps) {
    dt_progress progress = {.steps = steps,
                            .stop = steps,
                            .every = 25,
                            .per_step = 1,
                            .shown = ctx && dt_rank(ctx) == 0,
                            .live = dt_world(ctx) == 1 && isatty(STDOUT_FILENO),
                            .begin = seconds_now()};
    return progress;
}

size_t dt_progress_text(const dt_progress *progress, int64_t step, double seconds, const char *values,
                        size_t capacity, char *out) {
    const double done = (double)(step + 1 - progress->first), left = (double)(progress->stop - step - 1);
    const bool begun = done > 0 && seconds > 0;
    const double rate = begun ? done * progress->per_step / seconds : 0;
    dt__sink sink = dt__sink_new(capacity, out);
    dt__sink_add(&sink, "step %4" PRId64 "/%" PRId64, step + 1, progress->steps);
    if (values && *values)
        dt__sink_add(&sink, "  %s", values);
    dt__sink_add(&sink, "  %6.*f %s/s  %3.0f s left", begun && rate < 9.95 ? 1 : 0, rate,
                 progress->unit ? progress->unit : "steps", begun && left > 0 ? seconds / done * left : 0);
    return sink.n_chars;
}

static bool is_due(const dt_progress *progress, int64_t step) {
    return progress->live || step == progress->first || step + 1 == progress->stop ||
           (progress->every > 0 && (step + 1) % progress->every == 0);
}

void dt_progress_step(dt_progress *progress, int64_t step, const char *format, ...) {
    if (!progress->shown || !is_due(progress, step))
        return;
    char values[256] = "", line[512];
    va_list arguments;
    va_start(arguments, format);
    if (format)
        vsnprintf(values, sizeof values, format, arguments);
    va_end(arguments);
    dt_progress_text(progress, step, seconds_now() - progress->begin, values, sizeof line, line);
    const int n = printf(progress->live ? "\r%s" : "%s", line) - progress->live;
    if (progress->open_chars > n) /* characters that only the last line had */
        printf("%*s", progress->open_chars - n, "");
    progress->open_chars = n;
    if (!progress->live || step + 1 == progress->stop)
        dt_progress_end(progress);
    else
        (void)fflush(stdout);
}

void dt_progress_end(dt_progress *progress) {
    if (progress->open_chars <= 0)
        return;
    progress->open_chars = 0;
    printf("\n");
    (void)fflush(stdout);
}
