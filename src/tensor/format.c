/* SPDX-License-Identifier: Apache-2.0
 *
 * A first pass over the elements finds the format of the column: positional or with exponents, so many digits before
 * and after the point. A second pass writes them.
 */
#include "tensor/format.h"

#include "base/dtype.h"
#include "base/size.h"
#include "tensor/decimal.h"
#include "tensor/tensor.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The value of an option within its bounds, or the default. */
static dt_opt_int within(dt_opt_int option, int64_t low, int64_t high, int64_t default_value) {
    int64_t value = option.given ? option.value : default_value;
    return DT_INT(value < low ? low : dt__min_i64(value, high));
}

dt_print_options dt__print_defaults(const dt_print_options *options) {
    dt_print_options o = options ? *options : (dt_print_options){.local = false};
    o.precision = within(o.precision, 0, 17, 8);
    o.threshold = within(o.threshold, 0, INT64_MAX, 1000);
    o.edge_items = within(o.edge_items, 1, INT_MAX, 3);
    o.width = within(o.width, 1, INT_MAX, 75);
    return o;
}

bool dt__shown_of(int n_dims, const int64_t *shape, const dt_print_options *options, dt__shown *out) {
    int64_t elements = dt__elements(n_dims, shape);
    *out = (dt__shown){
        .n_dims = n_dims, .edge = options->edge_items.value, .summary = elements > options->threshold.value};
    out->elements = 1;
    for (int d = 0; d < n_dims; d++) {
        out->shape[d] = out->sizes[d] = shape[d];
        if (out->summary && shape[d] / 2 >= out->edge)
            out->sizes[d] = dt__min_i64(shape[d], 2 * out->edge);
        if (!dt__mul_i64(out->elements, out->sizes[d], &out->elements))
            return false;
    }
    return true;
}

int64_t dt__shown_index(const dt__shown *shown, int dim, int64_t i) {
    bool after = shown->sizes[dim] < shown->shape[dim] && i >= shown->edge;
    return after ? shown->shape[dim] - shown->sizes[dim] + i : i;
}

void dt__shown_copy(const dt__shown *shown, size_t item_bytes, const void *data, const int64_t *strides, void *out) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0};
    for (int64_t i = 0; i < shown->elements; i++) {
        int64_t at = 0;
        for (int d = 0; d < shown->n_dims; d++)
            at += dt__shown_index(shown, d, index[d]) * strides[d];
        memcpy((unsigned char *)out + (size_t)i * item_bytes, (const unsigned char *)data + at * (int64_t)item_bytes,
               item_bytes);
        for (int d = shown->n_dims - 1; d >= 0 && ++index[d] == shown->sizes[d]; d--)
            index[d] = 0;
    }
}

/* The format of one column of floating-point numbers. */
struct column {
    dt_dtype dtype;
    int precision;
    bool signs;     /* a + before numbers that are not negative */
    bool exponents; /* with exponents, of exponent_digits */
    int before;     /* characters before the point, sign included */
    int after;      /* after it: digits, and with exponents these, too */
    int n_fraction; /* with exponents: digits after the point */
    int exponent_digits;
};

enum { WORD = 400 };

static const char *sign_of(const struct column *c, bool negative) { return negative ? "-" : c->signs ? "+" : ""; }

/* Digits for positional writing: at max_width `precision` after the point. */
static dt__decimal positional(const struct column *c, double x) {
    dt__decimal digits = dt__decimal_unique(c->dtype, x);
    return digits.n - 1 - digits.exponent > c->precision ? dt__decimal_fraction(x, c->precision) : digits;
}

static int n_before_point(const dt__decimal *d) { return d->exponent < 0 ? 1 : d->exponent + 1; }
static int n_after_point(const dt__decimal *d) { return d->n - 1 > d->exponent ? d->n - 1 - d->exponent : 0; }

static dt__decimal scientific(const struct column *c, double x) {
    dt__decimal digits = dt__decimal_unique(c->dtype, x);
    return digits.n - 1 > c->precision ? dt__decimal_rounded(x, c->precision + 1) : digits;
}

static int n_exponent_digits(int exponent) {
    int n = snprintf(NULL, 0, "%d", exponent < 0 ? -exponent : exponent);
    return n < 2 ? 2 : n;
}

static int max_int(int a, int b) { return a > b ? a : b; }

/* A constant rounded to the dtype. */
static double as_dtype(dt_dtype dtype, double x) {
    unsigned char element[16];
    dt__write_f64(dtype, x, element);
    return dt__read_f64(dtype, element);
}

/* Numbers from here on are written with exponents: shorter floats have no digits beyond 10^8. */
static double large_number(dt_dtype dtype) {
    static const double large[DT_N_DTYPES] = {[DT_F32] = 1e6, [DT_C64] = 1e6, [DT_F16] = 1e3, [DT_BF16] = 1e2};
    return large[dtype] > 0 ? large[dtype] : 1e8;
}

/* Reads number i of a column. */
typedef double read_fn(dt_dtype dtype, const unsigned char *elements, int64_t i);

static double read_real(dt_dtype dtype, const unsigned char *elements, int64_t i) {
    return dt__read_f64(dtype, elements + (size_t)i * dt_dtype_size(dtype));
}

static double read_imaginary(dt_dtype dtype, const unsigned char *elements, int64_t i) {
    size_t size = dt_dtype_size(dtype);
    return dt__read_f64(dtype, elements + (size_t)i * size + size / 2);
}

static bool needs_exponents(dt_dtype dtype, const unsigned char *elements, int64_t n, read_fn *read) {
    double max_width = 0, least = (double)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(read(dtype, elements, i));
        if (size == 0 || !isfinite(size))
            continue;
        max_width = fmax(max_width, size);
        least = fmin(least, size);
    }
    return max_width > 0 && (max_width >= large_number(dtype) || least < as_dtype(dtype, 0.0001) ||
                             as_dtype(dtype, max_width / least) > 1000);
}

static struct column column_of(dt_dtype dtype, int precision, bool signs, const unsigned char *elements, int64_t n,
                               read_fn *read) {
    struct column c = {.dtype = dtype, .precision = precision, .signs = signs};
    bool odd = false, minus = signs;
    c.exponents = needs_exponents(dtype, elements, n, read);
    for (int64_t i = 0; i < n; i++) {
        double x = read(dtype, elements, i);
        if (!isfinite(x)) {
            odd = true;
            minus = minus || (isinf(x) && x < 0);
            continue;
        }
        dt__decimal d = c.exponents ? scientific(&c, x) : positional(&c, x);
        int sign = d.negative || signs;
        if (c.exponents) {
            c.before = max_int(c.before, 1 + sign);
            c.n_fraction = max_int(c.n_fraction, d.n - 1);
            c.exponent_digits = max_int(c.exponent_digits, n_exponent_digits(d.exponent));
        } else {
            c.before = max_int(c.before, n_before_point(&d) + sign);
            c.after = max_int(c.after, n_after_point(&d));
        }
    }
    if (c.exponents)
        c.after = c.exponent_digits + 2 + c.n_fraction;
    if (odd)
        c.before = max_int(c.before, max_int(3, 3 + minus) - (c.after + 1));
    return c;
}

/* Writes a word with spaces to its left, so that it is at least `width` long. */
static int put_right(char *out, int width, const char *word) { return snprintf(out, WORD, "%*s", width, word); }

static int write_scientific(const struct column *c, double x, char *out) {
    dt__decimal d = dt__decimal_unique(c->dtype, x);
    if (d.n - 1 != c->n_fraction)
        d = dt__decimal_rounded(x, c->n_fraction + 1);
    while (d.n - 1 < c->n_fraction)
        d.digits[d.n++] = '0';
    d.digits[d.n] = '\0';
    char front[8];
    (void)snprintf(front, sizeof front, "%s%c", sign_of(c, d.negative), d.digits[0]);
    return snprintf(out, WORD, "%*s.%se%c%0*d", c->before, front, d.digits + 1, d.exponent < 0 ? '-' : '+',
                    c->exponent_digits, d.exponent < 0 ? -d.exponent : d.exponent);
}

/* Digits before and after the point, of a number that is not below one or has leading zeros. */
static void split(const dt__decimal *d, char *front, char *after) {
    int n_front = 0, n_after = 0;
    for (int i = 0; i < max_int(d->n, d->exponent + 1); i++) {
        char digit = (char)(i < d->n ? d->digits[i] : '0');
        if (i <= d->exponent)
            front[n_front++] = digit;
        else
            after[n_after++] = digit;
    }
    front[n_front] = after[n_after] = '\0';
}

static int write_positional(const struct column *c, double x, char *out) {
    char digits[WORD / 4], after[WORD / 4], front[WORD / 2];
    dt__decimal d = positional(c, x);
    if (d.exponent < 0) { /* 0.00ddd: with leading zeros */
        dt__decimal shifted = {.negative = d.negative, .n = 1, .digits = "0"};
        for (int i = 1; i < -d.exponent && shifted.n < DT__MAX_DIGITS; i++)
            shifted.digits[shifted.n++] = '0';
        for (int i = 0; i < d.n && shifted.n < DT__MAX_DIGITS; i++)
            shifted.digits[shifted.n++] = d.digits[i];
        d = shifted;
    }
    split(&d, digits, after);
    (void)snprintf(front, sizeof front, "%s%s", sign_of(c, d.negative), digits);
    return snprintf(out, WORD, "%*s.%-*s", c->before, front, c->after, after);
}

static int write_number(const struct column *c, double x, char *out) {
    char word[8];
    if (isfinite(x))
        return c->exponents ? write_scientific(c, x, out) : write_positional(c, x, out);
    (void)snprintf(word, sizeof word, "%s%s", isnan(x) ? (c->signs ? "+" : "") : sign_of(c, x < 0),
                   isnan(x) ? "nan" : "inf");
    return put_right(out, c->before + c->after + 1, word);
}

/* A scalar: all its digits; `short_form`: 1 instead of 1.0. */
static int write_alone(dt_dtype dtype, double x, bool short_form, bool signs, char *out) {
    struct column c = {.dtype = dtype, .signs = signs};
    double size = fabs(x);
    if (!isfinite(x))
        return write_number(&c, x, out);
    dt__decimal d = dt__decimal_unique(dtype, x);
    double large = dt__is_double_precision(dtype) ? 1e16 : large_number(dtype);
    if (size != 0 && (size < 1e-4 || size >= large))
        return snprintf(out, WORD, "%s%c%s%se%c%02d", sign_of(&c, d.negative), d.digits[0], d.n > 1 ? "." : "",
                        d.digits + 1, d.exponent < 0 ? '-' : '+', d.exponent < 0 ? -d.exponent : d.exponent);
    c.precision = DT__MAX_DIGITS;
    int n = write_positional(&c, x, out);
    if (out[n - 1] == '.' && short_form)
        out[--n] = '\0';
    else if (out[n - 1] == '.')
        out[n++] = '0', out[n] = '\0';
    return n;
}

/* The format of the elements of one tensor: floating-point, complex, integer or boolean. */
struct words {
    dt_dtype dtype;
    const unsigned char *elements;
    struct column real, imaginary;
    int width; /* of integers */
    bool alone;
};

static struct words words_of(const dt__shown *shown, dt_dtype dtype, const void *elements, int precision) {
    struct words w = {.dtype = dtype, .elements = elements, .alone = shown->n_dims == 0};
    int64_t n = shown->elements;
    if (dt__is_inexact(dtype))
        w.real = column_of(dtype, precision, false, elements, n, read_real);
    if (dt__is_complex(dtype))
        w.imaginary = column_of(dtype, precision, true, elements, n, read_imaginary);
    for (int64_t i = 0; i < n && dt__is_integral(dtype); i++) {
        int64_t value = dt__read_i64(dtype, w.elements + (size_t)i * dt_dtype_size(dtype));
        w.width = max_int(w.width, snprintf(NULL, 0, "%lld", (long long)value));
    }
    return w;
}

static int write_complex(const struct words *w, int64_t i, char *out) {
    double re = read_real(w->dtype, w->elements, i), im = read_imaginary(w->dtype, w->elements, i);
    if (w->alone) {
        bool short_one = re == 0 && !signbit(re);
        int n = short_one ? 0 : snprintf(out, WORD, "(");
        n += short_one ? 0 : write_alone(w->dtype, re, true, false, out + n);
        n += write_alone(w->dtype, im, true, !short_one, out + n);
        return n + snprintf(out + n, WORD, "%s", short_one ? "j" : "j)");
    }
    int n = write_number(&w->real, re, out);
    int end = n + write_number(&w->imaginary, im, out + n), last = end;
    while (out[last - 1] == ' ') /* the j directly follows the number */
        last--;
    memmove(out + last + 1, out + last, (size_t)(end - last + 1));
    out[last] = 'j';
    return end + 1;
}

static int write_word(const struct words *w, int64_t i, char *out) {
    const unsigned char *element = w->elements + (size_t)i * dt_dtype_size(w->dtype);
    if (dt__is_complex(w->dtype))
        return write_complex(w, i, out);
    if (w->dtype == DT_BOOL)
        return snprintf(out, WORD, "%s", !*element ? "False" : w->alone ? "True" : " True");
    if (!dt__is_float(w->dtype))
        return snprintf(out, WORD, "%*lld", w->width, (long long)dt__read_i64(w->dtype, element));
    double x = dt__read_f64(w->dtype, element);
    return w->alone ? write_alone(w->dtype, x, false, false, out) : write_number(&w->real, x, out);
}

/* The lines written so far. */
struct page {
    dt__text *text;
    const dt__shown *shown;
    struct words words;
    int64_t next; /* element */
    int width;
};

static void spaces(dt__text *text, int n) { dt__text_add(text, "%*s", n, ""); }

/* A line that is continued has no spaces at its end. */
static void end_line(dt__text *text) {
    while (text->n_chars > 0 && text->chars[text->n_chars - 1] == ' ')
        text->chars[--text->n_chars] = '\0';
    dt__text_add(text, "\n");
}

/* One row of words; it starts after `indent` characters, and lines that continue it are indented alike. */
static void write_row(struct page *page, int dim, int indent) {
    int64_t size = page->shown->sizes[dim];
    bool cut = size < page->shown->shape[dim];
    int max_width = page->width - dim - 1, line = indent; /* brackets that close the row stay on its line */
    char word[3 * WORD];
    int gap = 0; /* a space is due before the next word */
    for (int64_t i = 0; i < size + cut; i++) {
        bool dots = cut && i == page->shown->edge;
        int n = dots ? snprintf(word, sizeof word, "...") : write_word(&page->words, page->next++, word);
        if (line + gap + n > max_width && line > indent) {
            end_line(page->text);
            spaces(page->text, indent);
            line = indent;
            gap = 0;
        }
        while (n > 0 && gap > 0) {
            dt__text_add(page->text, " ");
            line += gap--;
        }
        dt__text_add_chars(page->text, word, (size_t)n);
        line += n;
        gap = 1;
    }
}

static void write_dim(struct page *page, int dim, int indent) {
    const dt__shown *shown = page->shown;
    int64_t size = shown->sizes[dim];
    bool cut = size < shown->shape[dim];
    dt__text_add(page->text, "[");
    if (dim == shown->n_dims - 1) {
        write_row(page, dim, indent + 1);
    } else {
        for (int64_t i = 0; i < size + cut; i++) {
            if (i > 0) {
                for (int d = dim; d < shown->n_dims - 1; d++)
                    dt__text_add(page->text, "\n");
                spaces(page->text, indent + 1);
            }
            if (cut && i == shown->edge)
                dt__text_add(page->text, "...");
            else
                write_dim(page, dim + 1, indent + 1);
        }
    }
    dt__text_add(page->text, "]");
}

void dt__format(dt__text *text, const dt__shown *shown, dt_dtype dtype, const void *elements,
                const dt_print_options *options) {
    if (shown->elements == 0) {
        dt__text_add(text, "[]");
        return;
    }
    struct page page = {text, shown, words_of(shown, dtype, elements, (int)options->precision.value), 0,
                        (int)options->width.value};
    if (shown->n_dims == 0) {
        char word[3 * WORD];
        int n = write_word(&page.words, 0, word);
        dt__text_add_chars(text, word, (size_t)n);
        return;
    }
    write_dim(&page, 0, 0);
}
