/* SPDX-License-Identifier: Apache-2.0
 *
 * Separable linear maps of images, dim by dim of space: averages of windows, interpolation, and their transposes. Along
 * each dim an element of the result is a weighted sum of neighboring elements, the band of its index. For each row of
 * the result, the rows of the image in the bands of the outer dims are added, weighted, to one row; then the elements
 * of that row are.
 */
#include "kernels/kernels.h"

#include "base/size.h"

#include <string.h>

enum { INNER = 2 };

/* Indices begin to end - 1. */
typedef struct run_of_indices {
    int64_t begin, end;
} run_of_indices;

typedef struct resample_job {
    const dt__resample *args;
    int64_t n_images, n_pieces;
    int64_t width;        /* of a row of the image */
    run_of_indices alike; /* the longest run of the inner dim with equal counts */
} resample_job;

/* Whether two indices of a dim have the same band. */
static bool same_band(const dt__band *bands, int64_t a, int64_t b) {
    return bands->begin[a] == bands->begin[b] && bands->count[a] == bands->count[b] &&
           !memcmp(bands->weights + bands->first[a], bands->weights + bands->first[b],
                   (size_t)bands->count[a] * sizeof *bands->weights);
}

static run_of_indices longest_run(const int64_t *count, int64_t n) {
    run_of_indices longest = {0, 0};
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        while (end < n && count[end] == count[begin])
            end++;
        if (end - begin > longest.end - longest.begin)
            longest = (run_of_indices){begin, end};
    }
    return longest;
}

static int64_t inner_weights(const dt__resample *args) {
    const dt__band *inner = &args->bands[INNER];
    const int64_t n = args->out->shape[4];
    return n ? inner->first[n - 1] + inner->count[n - 1] : 0;
}

static int64_t row_elements(const dt__resample *args) { return (args->in->shape[4] + 31) / 16 * 16; }

/* Sums start at 0, so that none is -0. */
#define RESAMPLE(name, type)                                                                                         \
    static void add_##name(type *to, const type *from, int64_t step, type weight, int64_t n) {                       \
        if (step == 1)                                                                                               \
            for (int64_t i = 0; i < n; i++)                                                                          \
                to[i] += weight * from[i];                                                                           \
        else                                                                                                         \
            for (int64_t i = 0; i < n; i++)                                                                          \
                to[i] += weight * from[i * step];                                                                    \
    }                                                                                                                \
    /* The sum of rows for the row (a, b) of the result: in `memory`, or the one row of the image that it is. */     \
    static const type *sum_rows_##name(const resample_job *job, const type *image, int64_t a, int64_t b,             \
                                       type *memory) {                                                               \
        const dt__array *in = job->args->in;                                                                         \
        const dt__band *outer = &job->args->bands[0], *middle = &job->args->bands[1];                                \
        const double *outer_weights = outer->weights + outer->first[a],                                              \
                     *middle_weights = middle->weights + middle->first[b];                                           \
        const type *first = image + outer->begin[a] * in->strides[2] + middle->begin[b] * in->strides[3];            \
        if (outer->count[a] == 1 && middle->count[b] == 1 && *outer_weights == 1 && *middle_weights == 1 &&          \
            in->strides[4] == 1)                                                                                     \
            return first;                                                                                            \
        memset(memory, 0, (size_t)job->width * sizeof *memory);                                                      \
        for (int64_t i = 0; i < outer->count[a]; i++)                                                                \
            for (int64_t j = 0; j < middle->count[b]; j++)                                                           \
                add_##name(memory, first + i * in->strides[2] + j * in->strides[3], in->strides[4],                  \
                           (type)(outer_weights[i] * middle_weights[j]), job->width);                                \
        return memory;                                                                                               \
    }                                                                                                                \
    static void weigh_run_##name(const dt__band *inner, run_of_indices run, const type *weights, const type *row,    \
                                 type *to, int64_t stride) {                                                         \
        for (int64_t o = run.begin; o < run.end; o++) {                                                              \
            const int64_t count = inner->count[o];                                                                   \
            const type *x = row + inner->begin[o], *w = weights + inner->first[o];                                   \
            type sum = 0;                                                                                            \
            for (int64_t i = 0; i < count; i++)                                                                      \
                sum += w[i] * x[i];                                                                                  \
            to[o * stride] = sum;                                                                                    \
        }                                                                                                            \
    }                                                                                                                \
    /* Runs of one or two weights each need no inner loop; weights of a run follow each other. */                    \
    static void weigh_##name(const resample_job *job, const type *weights, const type *row, type *to,                \
                             int64_t stride) {                                                                       \
        const dt__band *inner = &job->args->bands[INNER];                                                            \
        const run_of_indices run = job->alike;                                                                       \
        const int64_t count = inner->count[run.begin], *begin = inner->begin;                                        \
        const type *w = weights + inner->first[run.begin];                                                           \
        weigh_run_##name(inner, (run_of_indices){0, run.begin}, weights, row, to, stride);                           \
        if (count == 1)                                                                                              \
            for (int64_t o = run.begin; o < run.end; o++, w++)                                                       \
                to[o * stride] = (type)0 + *w * row[begin[o]];                                                       \
        else if (count == 2)                                                                                         \
            for (int64_t o = run.begin; o < run.end; o++, w += 2)                                                    \
                to[o * stride] = (type)0 + w[0] * row[begin[o]] + w[1] * row[begin[o] + 1];                          \
        else                                                                                                         \
            weigh_run_##name(inner, run, weights, row, to, stride);                                                  \
        weigh_run_##name(inner, (run_of_indices){run.end, job->args->out->shape[4]}, weights, row, to, stride);      \
    }                                                                                                                \
    static void copy_row_##name(type *to, const type *from, int64_t stride, int64_t n) {                             \
        if (stride == 1)                                                                                             \
            memcpy(to, from, (size_t)n * sizeof *to);                                                                \
        else                                                                                                         \
            for (int64_t i = 0; i < n; i++)                                                                          \
                to[i * stride] = from[i * stride];                                                                   \
    }                                                                                                                \
    static void run_image_##name(const resample_job *job, int64_t index, const type *weights, type *memory) {        \
        const dt__array *in = job->args->in, *out = job->args->out;                                                  \
        const int64_t n = index / out->shape[1], c = index % out->shape[1];                                          \
        const type *image = (const type *)in->data + n * in->strides[0] + c * in->strides[1];                        \
        type *to = (type *)out->data + n * out->strides[0] + c * out->strides[1];                                    \
        for (int64_t a = 0; a < out->shape[2]; a++)                                                                  \
            for (int64_t b = 0; b < out->shape[3]; b++) {                                                            \
                type *at = to + a * out->strides[2] + b * out->strides[3];                                           \
                if (b > 0 && same_band(&job->args->bands[1], b, b - 1))                                              \
                    copy_row_##name(at, at - out->strides[3], out->strides[4], out->shape[4]);                       \
                else                                                                                                 \
                    weigh_##name(job, weights, sum_rows_##name(job, image, a, b, memory), at, out->strides[4]);      \
            }                                                                                                        \
    }                                                                                                                \
    static void run_images_##name(const resample_job *job, int64_t begin, int64_t end, type *memory) {               \
        type *weights = memory + row_elements(job->args);                                                            \
        for (int64_t i = 0; i < inner_weights(job->args); i++)                                                       \
            weights[i] = (type)job->args->bands[INNER].weights[i];                                                   \
        for (int64_t i = begin; i < end; i++)                                                                        \
            run_image_##name(job, i, weights, memory);                                                               \
    }

RESAMPLE(f32, float)
RESAMPLE(f64, double)
#undef RESAMPLE

/* The scratch memory of a piece: a row, and the inner weights. */
static size_t piece_bytes(const dt__resample *args) {
    const int64_t n = row_elements(args) + (inner_weights(args) + 31) / 16 * 16;
    return (size_t)n * dt__dtype_bytes(args->in->dtype);
}

static void run_piece(void *arg, int64_t piece) {
    const resample_job *job = arg;
    void *memory = (char *)job->args->memory + (size_t)piece * piece_bytes(job->args);
    const int64_t begin = piece * job->n_images / job->n_pieces, end = (piece + 1) * job->n_images / job->n_pieces;
    if (job->args->in->dtype == DT_F64)
        run_images_f64(job, begin, end, memory);
    else
        run_images_f32(job, begin, end, memory);
}

size_t dt__resample_bytes(const dt__pool *pool, const dt__resample *args) {
    return (size_t)dt__pool_threads(pool) * piece_bytes(args);
}

void dt__resample_run(dt__pool *pool, const dt__resample *args) {
    resample_job job = {
        .args = args, .n_images = args->out->shape[0] * args->out->shape[1], .width = args->in->shape[4]};
    job.alike = longest_run(args->bands[INNER].count, args->out->shape[4]);
    job.n_pieces = dt__min_i64(dt__pool_threads(pool), job.n_images);
    dt__pool_run(pool, job.n_pieces, run_piece, &job);
}
