/* SPDX-License-Identifier: Apache-2.0
 *
 * Watching a training: a line that shows how far it is, and the curve of its losses as text and as a picture.
 *
 *     double losses[600];
 *     dt_progress progress = dt_progress_begin(ctx, 600);
 *     progress.unit = "tokens", progress.per_step = 16 * 64; // otherwise steps per second
 *     for (int64_t step = 0; step < 600; step++) {
 *         losses[step] = 3.0 / (double)(step + 1); // train
 *         dt_progress_step(&progress, step, "loss %.4f", losses[step]);
 *     }
 *     dt_progress_end(&progress);
 *     char curve[4096];
 *     dt_curve_text(600, losses, 0, 0, sizeof curve, curve);
 *     if (dt_rank(ctx) == 0)
 *         printf("\n%s", curve);
 *
 * The line:
 *
 *     step   25/600  loss 2.0581   45058 tokens/s   13 s left
 *
 * Progress is a value that the program may change at any time; the texts are pure functions. dt_progress_step and
 * dt_progress_end print on standard output, because that is their purpose, as dt_print does; otherwise the library
 * prints errors and what DTENSOR_LOG selects, on standard error.
 */
#ifndef DTENSOR_PROGRESS_H
#define DTENSOR_PROGRESS_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_progress {
    int64_t steps;       /* of the whole training, as the line shows it */
    int64_t first, stop; /* this run makes the steps from `first` up to `stop` - 1, counted from 0 */
    int64_t every;       /* steps per line where the line is not live; the first and the last step always have one */
    double per_step;     /* what a step processes, in `unit`, for the rate */
    const char *unit;    /* "tokens"; NULL: "steps" */
    bool shown;          /* this rank prints */
    bool live;           /* one line that changes, for a terminal; otherwise a line for each `every` steps */
    int open_chars;      /* of a live line that has not ended */
    double begin;        /* when the run began: seconds of a clock that is not set back */
} dt_progress;

/* The progress of a run that begins now and makes all steps: a line for each 25, shown on rank 0. It is live where the
 * world is one rank that writes to a terminal; the ranks of a launcher share theirs with it, so that a program sets
 * `live` for them. Prints nothing; without a context nothing is shown. Local. */
DT_API dt_progress dt_progress_begin(const dt_ctx *ctx, int64_t steps);
/* The line after a step and this many seconds, without its end: as dt_placements_text. The values, such as "loss
 * 2.0581", may be NULL. The rate and the seconds left are 0 before there is anything to estimate them from. Local. */
DT_API size_t dt_progress_text(const dt_progress *progress, int64_t step, double seconds, const char *values,
                               size_t capacity, char *out);
/* Prints the line after a step if it is due, on the rank where progress is shown. The format is printf's, for up to 255
 * characters of values; NULL: none. Output that cannot be written is dropped. Local. */
DT_API void dt_progress_step(dt_progress *progress, int64_t step, const char *format, ...) DT_PRINTF(3);
/* Ends a live line that is still open, as after an error; the last step has ended its own. Local. */
DT_API void dt_progress_end(dt_progress *progress);

/* The numbers as bars in rows and columns of UTF-8, with the upper limit of each row before it; as dt_placements_text.
 * 0 rows or columns: 10 or 64. A column has the mean of its share of the numbers, without those that are infinite or
 * NaN; if all of them are, it has a question mark at the bottom. Bars begin at 0, or at the lowest mean if that is
 * less. The text is empty without numbers, and for negative rows or columns. Local. */
DT_API size_t dt_curve_text(int64_t n, const double *values, int rows, int columns, size_t capacity, char *out);

typedef struct dt_curve_options {
    DT_OPTION(const char *, title); /* above the curve; default: none */
    DT_OPTION(const char *, label); /* of the horizontal axis; default "step" */
    DT_OPTION(dt_opt_int, first);   /* the step of the first number; default 0 */
    const dt_site *site;
} dt_curve_options;

/* Writes the curve of the numbers to a file, as an SVG picture. The curve has gaps where numbers are infinite or NaN;
 * without any finite number there are only the axes. An error that the file cannot be written is this rank's own.
 * Local: one rank makes the call, or each with a file of its own. */
DT_API dt_status dt_curve_save_svg_sized(dt_ctx *ctx, const char *path, int64_t n, const double *values,
                                         DT_OPTIONS(dt_curve_options));

#ifndef __cplusplus
/* clang-format off */
#define dt_curve_save_svg(...) DT_CURVE_SAVE_SVG_(__VA_ARGS__, .site = DT_SITE)
#define DT_CURVE_SAVE_SVG_(ctx, path, n, values, ...) \
    dt_curve_save_svg_sized(ctx, path, n, values, DT_CHECKED(dt_curve_options, __VA_ARGS__))
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
