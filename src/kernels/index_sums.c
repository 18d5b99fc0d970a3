/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums at indices in half precision: a list of terms, sorted by place, brings those of a place together, so that no
 * wide copy of the result is needed. The terms of a place are a run of the sorted list. A run is summed chunk by
 * chunk of its row, in buffers on the stack, on one thread: the one whose range of the list it begins in. So the
 * order of a sum does not depend on threads.
 */
#include "kernels/kernels.h"

#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/element_types.h"
#include "kernels/gather.h"
#include "kernels/walk.h"

enum {
    CHUNK = 512,
    PIECES = 16,
    LARGE = 1 << 14 /* elements that are worth threads */,
    DIGIT = 8,
    DIGITS = 1 << DIGIT,
    LINE = 64,         /* bytes */
    AHEAD_BYTES = 1024 /* of the next row, which are prefetched */
};

static bool is_sorted(const dt__index_term *list, int64_t n) {
    for (int64_t i = 1; i < n; i++)
        if (list[i - 1].place > list[i].place)
            return false;
    return true;
}

static void sort_digit(const dt__index_term *from, dt__index_term *to, int64_t n, int64_t lowest, int shift) {
    int64_t begins[DIGITS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++)
        begins[(uint64_t)(from[i].place - lowest) >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        const int64_t count = begins[d];
        begins[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[begins[(uint64_t)(from[i].place - lowest) >> shift & (DIGITS - 1)]++] = from[i];
}

/* By place, a radix sort, which keeps the order of equal places; in one half of the memory or the other. */
static const dt__index_term *sort_terms(dt__index_term *list, int64_t n) {
    dt__index_term *from = list, *to = list + n;
    int64_t lowest = list[0].place, highest = lowest;
    if (is_sorted(list, n))
        return list;
    for (int64_t i = 1; i < n; i++) {
        lowest = dt__min_i64(lowest, list[i].place);
        highest = dt__max_i64(highest, list[i].place);
    }
    for (int shift = 0; shift < 64 && (uint64_t)(highest - lowest) >> shift; shift += DIGIT) {
        sort_digit(from, to, n, lowest, shift);
        dt__index_term *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

typedef struct sum_job {
    const dt__kernels *kernels;
    const dt__index_sums *args;
    const dt__index_term *sorted;
    dt__walk walk; /* rows of sums and of terms */
    int64_t n_per_piece;
} sum_job;

/* n elements of a row: those at `sum`, of the run's place, and those of its terms, at offsets from `term`. One term of
 * the same dtype is added in f32, which has two digits more than twice theirs: as exact as in f64, once rounded. */
static void sum_chunk(const sum_job *j, int64_t run, int64_t end, char *sum, char *term, int64_t n) {
    _Alignas(64) double sums[CHUNK];
    _Alignas(64) char gathered[CHUNK * sizeof(float)], converted[CHUNK * sizeof(float)];
    const dt__loops *loops = j->kernels->loops;
    const dt_dtype stored = j->args->sums->dtype, of_terms = j->args->terms->dtype;
    const bool is_short = end - run == 1 && of_terms == stored;
    const dt_dtype dtype = is_short ? DT_F32 : DT_F64;
    const int64_t term_bytes = (int64_t)dt_dtype_size(of_terms);
    const dt__patch at = {sum, dt_dtype_size(stored), n, 1, j->walk.dims[0].strides[0], 0};
    dt__loop *half = is_short && j->walk.dims[0].strides[0] == term_bytes && j->walk.dims[0].strides[1] == term_bytes
                         ? loops->ops[DT__EL_ADD][stored]
                         : NULL;
    if (half) { /* which computes in f32, too */
        half(n, sum, (const void *[]){sum, term + j->sorted[run].from * term_bytes}, NULL);
        return;
    }
    (void)dt__load_patch(j->kernels, &at, stored, dtype, gathered, sums); /* converted, so never in place */
    for (int64_t i = run; i < end; i++) {
        const dt__patch from = {
            term + j->sorted[i].from * term_bytes, (size_t)term_bytes, n, 1, j->walk.dims[0].strides[1], 0};
        const void *x = dt__load_patch(j->kernels, &from, of_terms, DT_F32, gathered, converted);
        if (is_short)
            loops->ops[DT__EL_ADD][DT_F32](n, sums, (const void *[]){sums, x}, NULL);
        else
            loops->add_widened(n, sums, x, 1, 0);
    }
    dt__store_patch(j->kernels, sums, dtype, &at, stored, converted);
}

static double element_at(dt_dtype dtype, const char *at) {
    return dtype == DT_F16    ? (double)DT__GET_F16(*(const dt__f16 *)at)
           : dtype == DT_BF16 ? (double)DT__GET_BF16(*(const dt__bf16 *)at)
                              : (double)*(const dt__f32 *)at;
}

/* For rows of one element. */
static void sum_element(const sum_job *j, int64_t run, int64_t end) {
    const dt_dtype stored = j->args->sums->dtype, of_terms = j->args->terms->dtype;
    const int64_t bytes = (int64_t)dt_dtype_size(of_terms);
    char *at = j->walk.at[0] + j->sorted[run].place * (int64_t)dt_dtype_size(stored);
    double sum = element_at(stored, at);
    for (int64_t i = run; i < end; i++)
        sum += element_at(of_terms, j->walk.at[1] + j->sorted[i].from * bytes);
    if (stored == DT_F16)
        *(dt__f16 *)at = DT__PUT_F16(sum);
    else
        *(dt__bf16 *)at = DT__PUT_BF16(sum);
}

/* The next run's place and its first term, while this run is summed. */
static void prefetch_run(const sum_job *j, int64_t run) {
    const dt__walk_dim *inner = &j->walk.dims[0];
    const int64_t bytes[] = {(int64_t)dt_dtype_size(j->args->sums->dtype),
                             (int64_t)dt_dtype_size(j->args->terms->dtype)};
    const int64_t offsets[] = {j->sorted[run].place, j->sorted[run].from};
    for (int k = 0; k < 2; k++)
        for (int64_t b = 0; b < dt__min_i64(inner->size * inner->strides[k], AHEAD_BYTES); b += LINE)
            __builtin_prefetch(j->walk.at[k] + offsets[k] * bytes[k] + b);
}

static void sum_run(const sum_job *j, int64_t run, int64_t end) {
    const dt__walk_dim *inner = &j->walk.dims[0];
    const int64_t place = j->sorted[run].place * (int64_t)dt_dtype_size(j->args->sums->dtype);
    int64_t position[DT__WALK_DIMS] = {0};
    char *at[2] = {j->walk.at[0], j->walk.at[1]};
    do
        for (int64_t i = 0; i < inner->size; i += CHUNK)
            sum_chunk(j, run, end, at[0] + place + i * inner->strides[0], at[1] + i * inner->strides[1],
                      dt__min_i64(CHUNK, inner->size - i));
    while (dt__walk_next(&j->walk, 1, position, at));
}

/* The runs that begin in a range of the list. */
static void sum_piece(void *arg, int64_t piece) {
    const sum_job *j = arg;
    const dt__index_term *list = j->sorted;
    const int64_t n = j->args->n, end = dt__min_i64((piece + 1) * j->n_per_piece, n);
    int64_t run = piece * j->n_per_piece, next;
    while (run > 0 && run < end && list[run].place == list[run - 1].place)
        run++;
    for (; run < end; run = next) {
        for (next = run + 1; next < n && list[next].place == list[run].place;)
            next++;
        if (j->walk.n_dims == 0) {
            sum_element(j, run, next);
            continue;
        }
        if (next < n)
            prefetch_run(j, next);
        sum_run(j, run, next);
    }
}

void dt__index_sums_run(const dt__kernels *kernels, dt__pool *pool, const dt__index_sums *args) {
    sum_job j;
    j.kernels = kernels;
    j.args = args;
    if (args->n == 0 || !dt__walk_make(2, (const dt__array *const[]){args->sums, args->terms}, &j.walk))
        return;
    j.sorted = sort_terms(args->list, args->n);
    const bool is_large = args->n >= LARGE || args->n * dt__array_count(args->sums) >= LARGE;
    j.n_per_piece = is_large ? dt__ceil_div(args->n, PIECES) : args->n;
    dt__pool_run(pool, dt__ceil_div(args->n, j.n_per_piece), sum_piece, &j);
}
