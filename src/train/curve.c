/* SPDX-License-Identifier: Apache-2.0
 *
 * The curve of a list of numbers, as rows of bars and as an SVG picture. Both begin at 0, or at the lowest number if
 * that is less, and leave out numbers that are infinite or NaN.
 *
 * Numbers are multiplied by a small power of two first: sums and differences of finite numbers stay finite, and
 * quotients have the bits that they would have without it.
 */
#include "base/c_locale.h"
#include "base/options.h"
#include "base/regular_file.h"
#include "dtensor/progress.h"
#include "spec/spec.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCALE   0x1p-64
#define UNSCALE 0x1p64

/* Scaled limits of the vertical axis; low <= 0, low < high. */
typedef struct axis {
    double low, high;
} axis;

static void widen(axis *self, double scaled) {
    self->low = fmin(self->low, scaled); /* of NaN and a number, fmin is the number */
    self->high = fmax(self->high, scaled);
}

/* How many of `units` the axis has from its beginning to a value. */
static double height_of(const axis *self, double scaled, double units) {
    return units * (scaled - self->low) / (self->high - self->low);
}

/* The value at a part of the axis, numerator / denominator. */
static double value_at(const axis *self, double numerator, double denominator) {
    return (self->low + (self->high - self->low) * numerator / denominator) * UNSCALE;
}

/* The scaled mean of a column's share of the numbers; a column that has none takes the nearest one. NaN: none is
 * finite. */
static double column_mean(int64_t n, const double *values, int column, int columns) {
    const int64_t from = column * n / columns, end = (column + 1) * n / columns;
    double sum = 0;
    int64_t n_finite = 0;
    for (int64_t i = from; i < (end > from ? end : from + 1); i++)
        if (isfinite(values[i])) {
            sum += values[i] * SCALE;
            n_finite++;
        }
    return n_finite ? sum / (double)n_finite : NAN;
}

static axis range_of_columns(int64_t n, const double *values, int columns) {
    axis out = {0, 0};
    for (int c = 0; c < columns; c++)
        widen(&out, column_mean(n, values, c, columns));
    if (out.high <= out.low)
        out.high = out.low + SCALE;
    return out;
}

/* Part of a column's bar in row r, counted from the bottom. */
static const char *bar_of(const axis *range, double scaled, int r, int rows) {
    static const char *const bars[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};
    if (isnan(scaled))
        return r ? " " : "?";
    const double eighths = floor(height_of(range, scaled, 1) * rows * 8) - 8.0 * r;
    return bars[eighths < 0 ? 0 : eighths > 8 ? 8 : (int)eighths];
}

size_t dt_curve_text(int64_t n, const double *values, int rows, int columns, size_t capacity, char *out) {
    dt__sink sink = dt__sink_new(capacity, out);
    if (n < 1 || !values || rows < 0 || columns < 0)
        return 0;
    rows = rows ? rows : 10;
    columns = columns ? columns : 64;
    const axis range = range_of_columns(n, values, columns);
    const double largest = fmax(range.high, -range.low) * UNSCALE;
    const bool is_plain = largest >= 0.1 && largest < 1000;
    for (int r = rows - 1; r >= 0; r--) {
        dt__sink_add(&sink, is_plain ? "%6.2f |" : "%10.2e |", value_at(&range, r + 1, rows));
        for (int c = 0; c < columns; c++)
            dt__sink_add(&sink, "%s", bar_of(&range, column_mean(n, values, c, columns), r, rows));
        dt__sink_add(&sink, "\n");
    }
    return sink.n_chars;
}

/* The picture's area for the curve, in its units. */
enum { WIDTH = 640, HEIGHT = 320, LEFT = 56, RIGHT = 624, TOP = 32, BOTTOM = 272, N_TICKS = 4 };

/* From 0 to a round number: the next integer, or below 0.1 the next power of ten. */
static double round_up(double value) {
    return value <= 0 ? 0 : value > 0.1 ? ceil(value) : pow(10, ceil(log10(value)));
}

static axis range_of_picture(int64_t n, const double *values) {
    axis out = {0, 0};
    for (int64_t i = 0; i < n; i++)
        if (isfinite(values[i]))
            widen(&out, values[i] * SCALE);
    out.high = round_up(out.high * UNSCALE) * SCALE;
    out.low = -round_up(-out.low * UNSCALE) * SCALE;
    if (out.high <= out.low)
        out.high = out.low + SCALE;
    return out;
}

/* A text of XML. */
static void write_text(FILE *file, const char *text) {
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        default:
            fputc(*text, file);
        }
}

static void write_axes(FILE *file, const axis *range, int64_t n, const dt_curve_options *options) {
    const double first = options->first.given ? (double)options->first.value : 0;
    for (int i = 0; i <= N_TICKS; i++) {
        const double y = BOTTOM - (BOTTOM - TOP) * i / (double)N_TICKS,
                     x = LEFT + (RIGHT - LEFT) * i / (double)N_TICKS;
        fprintf(
            file,
            "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.2g</text>\n",
            LEFT, y, RIGHT, LEFT - 8, y + 4, value_at(range, i, N_TICKS));
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n", x, BOTTOM + 18,
                first + (double)n * i / N_TICKS);
    }
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + RIGHT) / 2, BOTTOM + 36);
    write_text(file, options->label ? options->label : "step");
    fprintf(file, "</text>\n");
}

/* Lines between finite numbers; a number without such neighbors is a short line of its own. */
static void write_line(FILE *file, const axis *range, int64_t n, const double *values) {
    const double step = (double)(n > 1 ? n - 1 : 1);
    fprintf(file, "<path fill=\"none\" stroke=\"#08519c\" stroke-width=\"1.5\" d=\"");
    for (int64_t i = 0; i < n; i++) {
        const bool continues = i > 0 && isfinite(values[i - 1]), ends = i + 1 == n || !isfinite(values[i + 1]);
        if (isfinite(values[i]))
            fprintf(file, "%c%.1f %.1f%s", continues ? 'L' : 'M', LEFT + (RIGHT - LEFT) * (double)i / step,
                    BOTTOM - height_of(range, values[i] * SCALE, BOTTOM - TOP), !continues && ends ? "h1" : "");
    }
    fprintf(file, "\"/>\n");
}

static void write_picture(FILE *file, int64_t n, const double *values, const dt_curve_options *options) {
    const axis range = range_of_picture(n, values);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\" fill=\"#333\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, HEIGHT);
    if (options->title) {
        fprintf(file, "<text x=\"%d\" y=\"18\">", LEFT);
        write_text(file, options->title);
        fprintf(file, "</text>\n");
    }
    write_axes(file, &range, n, options);
    write_line(file, &range, n, values);
    fprintf(file, "</svg>\n");
}

dt_status dt_curve_save_svg_sized(dt_ctx *ctx, const char *path, int64_t n, const double *values,
                                  const dt_curve_options *options, size_t options_size) {
    dt_curve_options full;
    DT__ENTER_OPTIONS(ctx, "curve_save_svg", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    if (!ctx || !options)
        return DT_ERR_VALUE;
    if (!path)
        return dt__fail(ctx, DT_ERR_VALUE, "the path is NULL");
    if (n < 0 || (n > 0 && !values))
        return dt__fail(ctx, DT_ERR_VALUE, "the numbers are invalid: expected 0 or more, got %" PRId64 "%s", n,
                        values ? "" : " at NULL");
    char why[DT__REGULAR_ERROR_BYTES];
    FILE *file = dt__regular_file_write(path, why);
    if (!file)
        return dt__fail_local(ctx, DT_ERR_SYSTEM, "cannot open %s for writing: %s", path, why);
    /* Numbers of SVG have points, whatever the locale of the program. */
    const dt__c_locale points = dt__c_locale_begin();
    write_picture(file, n, values, options);
    dt__c_locale_end(&points);
    const bool failed = ferror(file) != 0;
    if (fclose(file) || failed)
        return dt__fail_local(ctx, DT_ERR_SYSTEM, "cannot write all of %s: %s; the file is cut off", path,
                              strerror(errno));
    return DT_OK;
}
