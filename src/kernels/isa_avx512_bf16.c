/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of bf16 with AVX512-BF16; flags.cmake compiles this file for it.
 */
#include "kernels/bf16_loops.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

enum { ROWS = DT__BF16_ROWS, COLUMNS = DT__BF16_COLUMNS, PAIRS = 16, LANES = 32, AHEAD = 512, LONG_ROW = 4096 };

static void tile(int64_t n, const uint32_t *a, const uint32_t *b, float *c, int64_t c_row, bool adds) {
    __m512 sums[ROWS][2];
    for (int i = 0; i < ROWS; i++)
        for (int h = 0; h < 2; h++)
            sums[i][h] = adds ? _mm512_loadu_ps(c + i * c_row + h * PAIRS) : _mm512_setzero_ps();
    for (int64_t l = 0; l < n; l++, a += ROWS, b += COLUMNS) {
        const __m512bh low = (__m512bh)_mm512_load_si512(b), high = (__m512bh)_mm512_load_si512(b + PAIRS);
        _mm_prefetch((const char *)(b + 8 * COLUMNS), _MM_HINT_T0);
        _mm_prefetch((const char *)(b + 8 * COLUMNS + PAIRS), _MM_HINT_T0);
        for (int i = 0; i < ROWS; i++) {
            const __m512bh x = (__m512bh)_mm512_set1_epi32((int)a[i]);
            sums[i][0] = _mm512_dpbf16_ps(sums[i][0], x, low);
            sums[i][1] = _mm512_dpbf16_ps(sums[i][1], x, high);
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int h = 0; h < 2; h++)
            _mm512_storeu_ps(c + i * c_row + h * PAIRS, sums[i][h]);
}

/* 16 pairs of each of 16 rows, transposed: blocks of 8 by 8, then 4 by 4, 2 by 2 and 1 by 1 change places. */
static void transpose(const uint16_t *rows, int64_t row, uint32_t *out, int64_t out_row) {
    __m512i x[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        x[i] = _mm512_loadu_si512(rows + i * row);
    for (int side = PAIRS / 2; side > 0; side /= 2) {
        const __m512i place = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        const __mmask16 second = _mm512_test_epi32_mask(place, _mm512_set1_epi32(side));
        const __m512i low = _mm512_mask_add_epi32(place, second, place, _mm512_set1_epi32(PAIRS - side)),
                      high = _mm512_mask_add_epi32(_mm512_add_epi32(place, _mm512_set1_epi32(side)), second, place,
                                                   _mm512_set1_epi32(PAIRS));
        for (int i = 0; i < PAIRS; i++)
            if (!(i & side)) {
                const __m512i first = x[i];
                x[i] = _mm512_permutex2var_epi32(first, low, x[i + side]);
                x[i + side] = _mm512_permutex2var_epi32(first, high, x[i + side]);
            }
    }
    for (int i = 0; i < PAIRS; i++)
        _mm512_storeu_si512(out + i * out_row, x[i]);
}

static void interleave(int64_t n, const uint16_t *first, const uint16_t *second, uint32_t *out) {
    int64_t i = 0;
    for (; second && i + PAIRS <= n; i += PAIRS) {
        const __m512i x = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(first + i))),
                      y = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(second + i)));
        _mm512_storeu_si512(out + i, _mm512_or_si512(x, _mm512_slli_epi32(y, 16)));
    }
    for (; i < n; i++) { /* at any address */
        uint16_t x, y = 0;
        memcpy(&x, first + i, sizeof x);
        if (second)
            memcpy(&y, second + i, sizeof y);
        out[i] = x | (uint32_t)y << 16;
    }
}

static __m512bh load(const uint16_t *from) { return (__m512bh)_mm512_loadu_si512(from); }

/* 32 numbers of each row of x, times as many of n_w rows of the matrix. */
#define STEP(n_x, n_w, w_at)                                                                                         \
    do {                                                                                                             \
        __m512bh y[n_w];                                                                                             \
        for (int q = 0; q < (n_w); q++)                                                                              \
            y[q] = load(w_at);                                                                                       \
        for (int r = 0; r < (n_x); r++) {                                                                            \
            const __m512bh x = load(rows + r * p->x_row + l);                                                        \
            for (int q = 0; q < (n_w); q++)                                                                          \
                sums[r][q] = _mm512_dpbf16_ps(sums[r][q], x, y[q]);                                                  \
        }                                                                                                            \
    } while (0)

/* Where fewer than n_w rows are left, the last one is read again. x is 0 from k on. Short rows end before the CPU has
 * begun to read ahead, and it does not read ahead into other pages: of these, the next n_w rows are fetched. */
#define DOTS(name, n_x, n_w)                                                                                         \
    static void name(const dt__thin_product *p) {                                                                    \
        const uint16_t *rows = p->x, *w[n_w];                                                                        \
        const int64_t ahead = (n_x) > 4 || p->w_row > LONG_ROW ? AHEAD : (n_w)*p->w_row;                             \
        for (int64_t j = 0; j < p->n; j += (n_w)) {                                                                  \
            __m512 sums[n_x][n_w];                                                                                   \
            int64_t l = 0;                                                                                           \
            for (int q = 0; q < (n_w); q++) {                                                                        \
                w[q] = (const uint16_t *)p->w + (j + q < p->n ? j + q : p->n - 1) * p->w_row;                        \
                for (int r = 0; r < (n_x); r++)                                                                      \
                    sums[r][q] = _mm512_setzero_ps();                                                                \
            }                                                                                                        \
            for (; l + LANES <= p->k; l += LANES) {                                                                  \
                for (int q = 0; q < (n_w) && (n_x) != 4; q++)                                                        \
                    _mm_prefetch((const char *)(w[q] + l + ahead), _MM_HINT_T0);                                     \
                STEP(n_x, n_w, w[q] + l);                                                                            \
            }                                                                                                        \
            if (l < p->k) {                                                                                          \
                uint16_t last[n_w][LANES] = {{0}};                                                                   \
                for (int q = 0; q < (n_w); q++)                                                                      \
                    memcpy(last[q], w[q] + l, (size_t)(p->k - l) * sizeof **last);                                   \
                STEP(n_x, n_w, last[q]);                                                                             \
            }                                                                                                        \
            for (int q = 0; q < (n_w) && j + q < p->n; q++)                                                          \
                for (int r = 0; r < (n_x); r++)                                                                      \
                    ((float *)p->sums)[r * p->sums_row + j + q] += _mm512_reduce_add_ps(sums[r][q]);                 \
        }                                                                                                            \
    }
DOTS(dots_1, 1, 4)
DOTS(dots_4, 4, 4)
DOTS(dots_8, 8, 2)

const dt__bf16_loops dt__bf16_loops_avx512 = {
    .tile = tile, .interleave = interleave, .transpose = transpose, .dots = {dots_1, dots_4, dots_8}};
#else
typedef int dt__no_avx512_bf16;
#endif
