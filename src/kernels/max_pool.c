/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest elements of windows of images, with their indices, and what gradients need: adding to the elements with
 * these indices, and reading them. An index counts the elements of all of space, in row-major order; the arrays may
 * hold a part of it.
 */
#include "kernels/kernels.h"

#include "base/size.h"

#include <string.h>

enum { CHUNK = 64, MAX_TAPS = 1 << 16 }; /* CHUNK: windows that are searched together */

/* Inner indices begin to end - 1, whose windows are of one size, `distance` apart. */
typedef struct window_run {
    int64_t begin, end, distance;
} window_run;

/* How far elements of a full window are from its first one, by the difference of their indices. */
typedef struct tap_table {
    int64_t n;
    const int32_t *offsets; /* in elements of the image; NOT_A_TAP: the window does not have that index */
    bool is_dense;          /* they are these differences */
    window_run full[3];     /* of each dim: windows of full size inside the image; the distance is not set */
} tap_table;
#define NOT_A_TAP INT32_MIN

typedef struct pool_job {
    const dt__max_pool *args;
    int64_t n_images, n_pieces;
    window_run alike; /* the longest one */
    tap_table taps;
} pool_job;

/* Of one image: its index, and the first elements of the arrays. */
typedef struct pool_image {
    char *image, *values;
    int64_t *indices;
} pool_image;

static pool_image image_at(const pool_job *job, int64_t index) {
    const dt__max_pool *args = job->args;
    const int64_t c = index % args->indices->shape[1], n = index / args->indices->shape[1];
    const int64_t bytes = (int64_t)dt__dtype_bytes(args->image->dtype);
    return (pool_image){
        (char *)args->image->data + (n * args->image->strides[0] + c * args->image->strides[1]) * bytes,
        (char *)args->values->data + (n * args->values->strides[0] + c * args->values->strides[1]) * bytes,
        (int64_t *)args->indices->data + n * args->indices->strides[0] + c * args->indices->strides[1]};
}

/* A position of the result, row by row. */
typedef struct position {
    int64_t at[3];
} position;

static int64_t offset_of(const dt__array *array, const position *of) {
    return of->at[0] * array->strides[2] + of->at[1] * array->strides[3] + of->at[2] * array->strides[4];
}

/* Rounded toward zero; without a division of 64 bits, which is slow, where that is possible. */
static int64_t quotient_of(int64_t a, int64_t b) {
    if (b == 1)
        return a;
    if (a >= 0 && a < b)
        return 0;
    return ((uint64_t)a | (uint64_t)b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

/* The element of the image with this index, in elements; false: it is not in the window of the
 * position, or not in the array. */
static bool find_element(const dt__max_pool *args, const position *of, int64_t index, int64_t *out) {
    *out = 0;
    for (int d = 2; d >= 0; d--) {
        const dt__pool_window *window = &args->windows[d];
        const int64_t size = args->sizes[d];
        if (index < 0 || size == 0)
            return false;
        const int64_t quotient = quotient_of(index, size), at = index - quotient * size - args->offset[d],
                      from = at - window->begin[of->at[d]], tap = quotient_of(from, window->step);
        if (from < 0 || tap * window->step != from || tap >= window->count[of->at[d]] || at < 0 ||
            at >= args->image->shape[2 + d])
            return false;
        *out += at * args->image->strides[2 + d];
        index = quotient;
    }
    return index == 0;
}

/* What is added to the index of the first element of a window for its element (i, j, k). */
static int64_t index_of_tap(const dt__max_pool *args, int64_t i, int64_t j, int64_t k) {
    const dt__pool_window *w = args->windows;
    return (i * w[0].step * args->sizes[1] + j * w[1].step) * args->sizes[2] + k * w[2].step;
}

static int64_t largest_count(const dt__max_pool *args, int d) {
    int64_t most = 0;
    for (int64_t o = 0; o < args->indices->shape[2 + d]; o++)
        most = dt__max_i64(most, args->windows[d].count[o]);
    return most;
}

/* The longest run, for rows of the result; empty if differences of indices in a window need more than 32 bits. */
static window_run longest_run(const dt__max_pool *args) {
    const dt__pool_window *w = &args->windows[2];
    const int64_t n = args->indices->shape[4];
    window_run longest = {0, 0, 0};
    if (index_of_tap(args, largest_count(args, 0), largest_count(args, 1), largest_count(args, 2)) > INT32_MAX)
        return longest;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        const int64_t distance = begin + 1 < n ? w->begin[begin + 1] - w->begin[begin] : 0;
        end = begin + 1;
        while (end < n && w->count[end] == w->count[begin] && w->begin[end] - w->begin[end - 1] == distance)
            end++;
        if (end - begin > longest.end - longest.begin && w->count[begin] > 0)
            longest = (window_run){begin, end, distance};
    }
    return longest;
}

/* The first run of windows of this size inside the image. */
static window_run full_run(const dt__max_pool *args, int d, int64_t count) {
    const dt__pool_window *w = &args->windows[d];
    const int64_t n = args->indices->shape[2 + d], last = (count - 1) * w->step;
    window_run run = {0, 0, 0};
    for (int64_t o = 0; o < n; o++) {
        const bool is_full =
            w->count[o] == count && w->begin[o] >= 0 && w->begin[o] + last < args->image->shape[2 + d];
        if (is_full && run.begin == run.end)
            run.begin = o;
        if (is_full)
            run.end = o + 1;
        else if (run.begin < run.end)
            break;
    }
    return run;
}

int64_t dt__max_pool_taps(const dt__max_pool *args) {
    int64_t most[3], extent = 0;
    for (int d = 0; d < 3; d++) {
        most[d] = largest_count(args, d);
        const int64_t stride = args->image->strides[2 + d];
        extent += most[d] * args->windows[d].step * (stride < 0 ? -stride : stride);
    }
    if (args->part == DT__POOL_FIND || most[0] == 0 || most[1] == 0 || most[2] == 0 || extent > INT32_MAX)
        return 0;
    const int64_t n = index_of_tap(args, most[0] - 1, most[1] - 1, most[2] - 1) + 1;
    return n <= MAX_TAPS ? n : 0;
}

static void make_taps(const dt__max_pool *args, tap_table *out) {
    const int64_t *strides = args->image->strides + 2;
    int64_t most[3];
    *out = (tap_table){.n = args->n_taps, .offsets = args->taps};
    out->is_dense = strides[2] == 1 && strides[1] == args->sizes[2] && strides[0] == args->sizes[1] * args->sizes[2];
    for (int d = 0; d < 3 && out->n > 0; d++) {
        most[d] = largest_count(args, d);
        out->full[d] = full_run(args, d, most[d]);
    }
    for (int64_t i = 0; i < out->n; i++)
        args->taps[i] = NOT_A_TAP;
    for (int64_t i = 0; out->n > 0 && i < most[0]; i++)
        for (int64_t j = 0; j < most[1]; j++)
            for (int64_t k = 0; k < most[2]; k++)
                args->taps[index_of_tap(args, i, j, k)] =
                    (int32_t)(i * args->windows[0].step * strides[0] + j * args->windows[1].step * strides[1] +
                              k * args->windows[2].step * strides[2]);
}

/* `small` is an integer of the size of the type, so that selections of both are vectorized. */
#define MAX_POOL(name, type, small)                                                                                  \
    static void find_##name(const dt__max_pool *args, const pool_image *of, const position *at) {                    \
        const dt__pool_window *w = args->windows;                                                                    \
        const type *image = (const type *)(const void *)of->image;                                                   \
        const int64_t *strides = args->image->strides + 2;                                                           \
        type largest = 0;                                                                                            \
        int64_t index = -1;                                                                                          \
        for (int64_t i = 0; i < w[0].count[at->at[0]]; i++)                                                          \
            for (int64_t j = 0; j < w[1].count[at->at[1]]; j++)                                                      \
                for (int64_t k = 0; k < w[2].count[at->at[2]]; k++) {                                                \
                    const int64_t a = w[0].begin[at->at[0]] + i * w[0].step,                                         \
                                  b = w[1].begin[at->at[1]] + j * w[1].step,                                         \
                                  c = w[2].begin[at->at[2]] + k * w[2].step;                                         \
                    const type value = image[a * strides[0] + b * strides[1] + c * strides[2]];                      \
                    if (index < 0 || value > largest || value != value) {                                            \
                        largest = value;                                                                             \
                        index = ((a + args->offset[0]) * args->sizes[1] + b + args->offset[1]) * args->sizes[2] +    \
                                c + args->offset[2];                                                                 \
                    }                                                                                                \
                }                                                                                                    \
        ((type *)(void *)of->values)[offset_of(args->values, at)] = largest;                                         \
        of->indices[offset_of(args->indices, at)] = index;                                                           \
    }                                                                                                                \
    /* Windows of a run in the row `at` of the result, tap by tap. */                                                \
    static void find_chunk_##name(const dt__max_pool *args, const pool_image *of, const position *at, int64_t n,     \
                                  int64_t distance) {                                                                \
        const dt__pool_window *w = args->windows;                                                                    \
        const int64_t *strides = args->image->strides + 2, step = distance * strides[2];                             \
        const int64_t a = w[0].begin[at->at[0]], b = w[1].begin[at->at[1]], c = w[2].begin[at->at[2]];               \
        const type *first =                                                                                          \
            (const type *)(const void *)of->image + a * strides[0] + b * strides[1] + c * strides[2];                \
        type largest[CHUNK];                                                                                         \
        small best[CHUNK] = {0};                                                                                     \
        for (int64_t o = 0; o < n; o++)                                                                              \
            largest[o] = first[o * step];                                                                            \
        for (int64_t i = 0; i < w[0].count[at->at[0]]; i++)                                                          \
            for (int64_t j = 0; j < w[1].count[at->at[1]]; j++)                                                      \
                for (int64_t k = 0; k < w[2].count[at->at[2]]; k++) {                                                \
                    const small tap = (small)index_of_tap(args, i, j, k);                                            \
                    const type *x = first + i * w[0].step * strides[0] + j * w[1].step * strides[1] +                \
                                    k * w[2].step * strides[2];                                                      \
                    for (int64_t o = 0; o < n; o++) {                                                                \
                        const type value = x[o * step];                                                              \
                        const bool takes = (value > largest[o]) | (value != value);                                  \
                        largest[o] = takes ? value : largest[o];                                                     \
                        best[o] = takes ? tap : best[o];                                                             \
                    }                                                                                                \
                }                                                                                                    \
        type *values = (type *)(void *)of->values + offset_of(args->values, at);                                     \
        int64_t *indices = of->indices + offset_of(args->indices, at);                                               \
        const int64_t index =                                                                                        \
            ((a + args->offset[0]) * args->sizes[1] + b + args->offset[1]) * args->sizes[2] + c + args->offset[2];   \
        for (int64_t o = 0; o < n; o++) {                                                                            \
            values[o * args->values->strides[4]] = largest[o];                                                       \
            indices[o * args->indices->strides[4]] = index + o * distance + best[o];                                 \
        }                                                                                                            \
    }                                                                                                                \
    static void add_##name(const dt__max_pool *args, const pool_image *of, const position *at) {                     \
        int64_t element;                                                                                             \
        if (find_element(args, at, of->indices[offset_of(args->indices, at)], &element))                             \
            ((type *)(void *)of->image)[element] +=                                                                  \
                ((const type *)(const void *)of->values)[offset_of(args->values, at)];                               \
    }                                                                                                                \
    static void read_##name(const dt__max_pool *args, const pool_image *of, const position *at) {                    \
        int64_t element;                                                                                             \
        const bool is_here = find_element(args, at, of->indices[offset_of(args->indices, at)], &element);            \
        ((type *)(void *)of->values)[offset_of(args->values, at)] =                                                  \
            is_here ? ((const type *)(const void *)of->image)[element] : 0;                                          \
    }

MAX_POOL(f32, float, int32_t)
MAX_POOL(f64, double, int64_t)
MAX_POOL(i64, int64_t, int64_t)
#undef MAX_POOL

typedef void position_function(const dt__max_pool *args, const pool_image *of, const position *at);
typedef void chunk_function(const dt__max_pool *args, const pool_image *of, const position *at, int64_t n,
                            int64_t distance);

static position_function *const find_functions[3] = {find_f32, find_f64, find_i64};
static chunk_function *const chunk_functions[3] = {find_chunk_f32, find_chunk_f64, find_chunk_i64};

/* Follows the indices of rows of the result, for the window `a` of the first dim: full windows by the table, others one
 * by one. EACH does it for the element `place` of the image, or none, and *value. */
#define FOLLOW(what, name, type, EACH)                                                                               \
    static void what##_rows_##name(const dt__max_pool *args, const tap_table *taps, const pool_image *of,            \
                                   int64_t a) {                                                                      \
        const int64_t *shape = args->indices->shape + 2, *strides = args->image->strides + 2, step = strides[2];     \
        const int64_t index_step = args->indices->strides[4], value_step = args->values->strides[4];                 \
        const int64_t index_row = args->indices->strides[3], value_row = args->values->strides[3];                   \
        const int64_t *begin = args->windows[2].begin, *row_begin = args->windows[1].begin;                          \
        const int32_t *offsets = taps->offsets;                                                                      \
        const uint64_t n_taps = (uint64_t)taps->n;                                                                   \
        const bool is_dense = taps->is_dense;                                                                        \
        const window_run full = taps->full[2], none = {shape[2], shape[2], 0}, *rows = &taps->full[1];               \
        const bool has_full = a >= taps->full[0].begin && a < taps->full[0].end;                                     \
        const int64_t x = args->windows[0].begin[a], n_columns = args->sizes[2];                                     \
        const int64_t first_row = (x + args->offset[0]) * args->sizes[1] + args->offset[1];                          \
        const int64_t *indices = of->indices + a * args->indices->strides[2];                                        \
        type *values = (type *)(void *)of->values + a * args->values->strides[2];                                    \
        for (int64_t b = 0; b < shape[1]; b++, indices += index_row, values += value_row) {                          \
            const window_run run = has_full && b >= rows->begin && b < rows->end ? full : none;                      \
            const int64_t first = (first_row + row_begin[b]) * n_columns + args->offset[2];                          \
            type *image = (type *)(void *)of->image + x * strides[0] + row_begin[b] * strides[1];                    \
            for (int64_t o = 0; o < run.begin; o++)                                                                  \
                what##_##name(args, of, &(position){{a, b, o}});                                                     \
            for (int64_t o = run.begin; o < run.end; o++) {                                                          \
                const int64_t place = indices[o * index_step] - first;                                               \
                const uint64_t tap = (uint64_t)(place - begin[o]);                                                   \
                const bool is_here = tap < n_taps && offsets[tap] != NOT_A_TAP;                                      \
                EACH(is_here, image[is_dense ? place : begin[o] * step + offsets[tap]], values[o * value_step])      \
            }                                                                                                        \
            for (int64_t o = run.end; o < shape[2]; o++)                                                             \
                what##_##name(args, of, &(position){{a, b, o}});                                                     \
        }                                                                                                            \
    }
#define ADD_EACH(is_here, element, value)                                                                            \
    if (is_here)                                                                                                     \
        (element) += (value);
#define READ_EACH(is_here, element, value) (value) = (is_here) ? (element) : 0;
FOLLOW(add, f32, float, ADD_EACH)
FOLLOW(add, f64, double, ADD_EACH)
FOLLOW(add, i64, int64_t, ADD_EACH)
FOLLOW(read, f32, float, READ_EACH)
FOLLOW(read, f64, double, READ_EACH)
FOLLOW(read, i64, int64_t, READ_EACH)

typedef void rows_function(const dt__max_pool *args, const tap_table *taps, const pool_image *of, int64_t a);
static rows_function *const rows_functions[][3] = {
    [DT__POOL_ADD] = {add_rows_f32, add_rows_f64, add_rows_i64},
    [DT__POOL_READ] = {read_rows_f32, read_rows_f64, read_rows_i64},
};

/* Positions of one row: in the run chunk by chunk, the others one by one. */
static void find_row(const pool_job *job, int dtype, const pool_image *of, position at) {
    const dt__max_pool *args = job->args;
    const int64_t n_rows = args->windows[0].count[at.at[0]] * args->windows[1].count[at.at[1]];
    while (at.at[2] < args->indices->shape[4]) {
        const int64_t n = n_rows > 0 && at.at[2] >= job->alike.begin ? job->alike.end - at.at[2] : 0;
        if (n > 0)
            chunk_functions[dtype](args, of, &at, dt__min_i64(n, CHUNK), job->alike.distance);
        else
            find_functions[dtype](args, of, &at);
        at.at[2] += n > 0 ? dt__min_i64(n, CHUNK) : 1;
    }
}

static void run_image(const pool_job *job, const pool_image *of) {
    const dt_dtype type = job->args->image->dtype;
    const int dtype = type == DT_F32 ? 0 : type == DT_F64 ? 1 : 2;
    const int64_t *shape = job->args->indices->shape + 2;
    for (int64_t a = 0; a < shape[0]; a++) {
        if (job->args->part != DT__POOL_FIND)
            rows_functions[job->args->part][dtype](job->args, &job->taps, of, a);
        for (int64_t b = 0; b < shape[1] && job->args->part == DT__POOL_FIND; b++)
            find_row(job, dtype, of, (position){{a, b, 0}});
    }
}

/* Row by row, or at once where rows follow one another. */
static void clear_image(const dt__max_pool *args, const pool_image *of) {
    const int64_t *shape = args->image->shape + 2, *strides = args->image->strides + 2;
    const size_t bytes = dt__dtype_bytes(args->image->dtype);
    const bool is_dense = strides[2] == 1 && strides[1] == shape[2] && strides[0] == shape[1] * shape[2];
    const int64_t n = is_dense ? shape[0] * shape[1] * shape[2] : strides[2] == 1 ? shape[2] : 1;
    for (int64_t a = 0; a < (is_dense ? 1 : shape[0]); a++)
        for (int64_t b = 0; b < (is_dense ? 1 : shape[1]); b++)
            for (int64_t c = 0; c < (n > 1 ? 1 : shape[2]); c++)
                memset(of->image + (a * strides[0] + b * strides[1] + c * strides[2]) * (int64_t)bytes, 0,
                       (size_t)n * bytes);
}

static void run_piece(void *arg, int64_t piece) {
    const pool_job *job = arg;
    for (int64_t i = piece * job->n_images / job->n_pieces; i < (piece + 1) * job->n_images / job->n_pieces; i++) {
        const pool_image of = image_at(job, i);
        if (job->args->part == DT__POOL_ADD)
            clear_image(job->args, &of);
        run_image(job, &of);
    }
}

void dt__max_pool_run(dt__pool *pool, const dt__max_pool *args) {
    pool_job job = {.args = args, .n_images = args->indices->shape[0] * args->indices->shape[1]};
    if (job.n_images == 0)
        return;
    job.alike = longest_run(args);
    make_taps(args, &job.taps);
    job.n_pieces = dt__min_i64(dt__pool_threads(pool), job.n_images);
    dt__pool_run(pool, job.n_pieces, run_piece, &job);
}
