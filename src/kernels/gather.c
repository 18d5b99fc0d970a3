/* SPDX-License-Identifier: Apache-2.0
 *
 * One set of loops per element size; contiguous rows are copied with memcpy.
 */
#include "kernels/gather.h"

#include "kernels/element_types.h"
#include "kernels/kernels.h"

#include <string.h>

enum { MIN_FILL_BYTES = 256 };

#define LOOPS(bytes, element)                                                                                        \
    static void gather_##bytes(const dt__patch *p, void *to) {                                                       \
        element *y = to;                                                                                             \
        for (int64_t r = 0; r < p->rows; r++, y += p->columns) {                                                     \
            const char *x = p->at + r * p->row_stride;                                                               \
            for (int64_t c = 0; c < p->columns; c++)                                                                 \
                y[c] = *(const element *)(x + c * p->column_stride);                                                 \
        }                                                                                                            \
    }                                                                                                                \
    static void repeat_##bytes(const dt__patch *p, void *to) {                                                       \
        const int64_t columns = p->columns;                                                                          \
        element *y = to;                                                                                             \
        for (int64_t r = 0; r < p->rows; r++, y += columns) {                                                        \
            const element x = *(const element *)(p->at + r * p->row_stride);                                         \
            for (int64_t c = 0; c < columns; c++)                                                                    \
                y[c] = x;                                                                                            \
        }                                                                                                            \
    }                                                                                                                \
    static void scatter_##bytes(const void *from, const dt__patch *p) {                                              \
        const element *x = from;                                                                                     \
        for (int64_t r = 0; r < p->rows; r++, x += p->columns) {                                                     \
            char *y = p->at + r * p->row_stride;                                                                     \
            for (int64_t c = 0; c < p->columns; c++)                                                                 \
                *(element *)(y + c * p->column_stride) = x[c];                                                       \
        }                                                                                                            \
    }

LOOPS(1, dt__u8)
LOOPS(2, dt__i16)
LOOPS(4, dt__i32)
LOOPS(8, dt__i64)
LOOPS(16, dt__c128)

/* Indexed by log2 of the size. */
static const struct {
    void (*gather)(const dt__patch *from, void *to);
    void (*repeat)(const dt__patch *from, void *to);
    void (*scatter)(const void *from, const dt__patch *to);
} loops[] = {{gather_1, repeat_1, scatter_1},
             {gather_2, repeat_2, scatter_2},
             {gather_4, repeat_4, scatter_4},
             {gather_8, repeat_8, scatter_8},
             {gather_16, repeat_16, scatter_16}};

void dt__repeat_row(void *rows, size_t row_bytes, int64_t n_rows) {
    const size_t all = row_bytes * (size_t)n_rows;
    for (size_t done = row_bytes; done < all; done *= 2)
        memcpy((char *)rows + done, rows, done < all - done ? done : all - done);
}

void dt__gather(const dt__patch *from, void *to) {
    const size_t row_bytes = (size_t)from->columns * from->bytes;
    if (from->row_stride == 0 && from->rows > 1) {
        const dt__patch first = {from->at, from->bytes, from->columns, 1, from->column_stride, 0};
        dt__gather(&first, to);
        dt__repeat_row(to, row_bytes, from->rows);
    } else if (from->column_stride == (int64_t)from->bytes)
        for (int64_t r = 0; r < from->rows; r++)
            memcpy((char *)to + (size_t)r * row_bytes, from->at + r * from->row_stride, row_bytes);
    else if (from->column_stride == 0)
        loops[__builtin_ctzll(from->bytes)].repeat(from, to);
    else
        loops[__builtin_ctzll(from->bytes)].gather(from, to);
}

void dt__scatter(const void *from, const dt__patch *to) {
    const size_t row_bytes = (size_t)to->columns * to->bytes;
    if (to->column_stride == (int64_t)to->bytes)
        for (int64_t r = 0; r < to->rows; r++)
            memcpy(to->at + r * to->row_stride, (const char *)from + (size_t)r * row_bytes, row_bytes);
    else
        loops[__builtin_ctzll(to->bytes)].scatter(from, to);
}

/* Whether the columns, not the rows, are contiguous, and both are long enough for the transposing copy. */
static bool is_transposed(const dt__patch *p) {
    return p->columns >= 4 && p->rows >= 4 && p->row_stride == (int64_t)p->bytes && p->column_stride > p->row_stride;
}

static void transpose(const dt__kernels *kernels, const dt__patch *p, void *to) {
    const int64_t bytes = (int64_t)p->bytes, sizes[] = {p->rows, p->columns}, dense[] = {p->columns, 1};
    const int64_t strides[] = {p->row_stride / bytes, p->column_stride / bytes};
    kernels->copy_strided(&(dt__strided){to, p->at, p->bytes, 2, sizes, dense, strides}, DT__CACHED);
}

/* Rows that repeat one element each, long enough for the fill of the instruction set. */
static bool repeats_long_rows(const dt__patch *p) {
    return p->column_stride == 0 && (size_t)p->columns * p->bytes >= MIN_FILL_BYTES;
}

/* These elements are converted before they are repeated, from the last row on, over those that were read. */
static const void *load_repeated(const dt__kernels *kernels, const dt__patch *from, dt_dtype stored,
                                 dt_dtype loop_dtype, void *gathered, void *converted) {
    const bool is_one = from->row_stride == 0 || from->rows == 1;
    const dt__patch firsts = {from->at, from->bytes, is_one ? 1 : from->rows, 1, from->row_stride, 0};
    const size_t n = (size_t)(is_one ? from->columns * from->rows : from->columns),
                 bytes = dt__dtype_bytes(loop_dtype);
    char *elements = stored == loop_dtype ? gathered : converted;
    dt__gather(&firsts, gathered);
    if (stored != loop_dtype)
        kernels->loops->convert[stored][loop_dtype](firsts.columns, converted, gathered);
    for (size_t r = (size_t)firsts.columns; r-- > 0;) {
        dt__c128 value;
        memcpy(&value, elements + r * bytes, bytes);
        kernels->fill(elements + r * n * bytes, &value, bytes, n, DT__CACHED);
    }
    return elements;
}

/* One row is converted before it is repeated. */
static const void *load_repeated_row(const dt__kernels *kernels, const dt__patch *from, dt_dtype stored,
                                     dt_dtype loop_dtype, void *gathered, void *converted) {
    const dt__patch first = {from->at, from->bytes, from->columns, 1, from->column_stride, 0};
    const size_t row_bytes = (size_t)from->columns * dt__dtype_bytes(loop_dtype);
    const void *row = dt__load_patch(kernels, &first, stored, loop_dtype, gathered, converted);
    if (row == from->at)
        memcpy(gathered, row, row_bytes);
    void *rows = row == converted ? converted : gathered;
    dt__repeat_row(rows, row_bytes, from->rows);
    return rows;
}

const void *dt__load_patch(const dt__kernels *kernels, const dt__patch *from, dt_dtype stored, dt_dtype loop_dtype,
                           void *gathered, void *converted) {
    const void *elements = from->at;
    if (repeats_long_rows(from))
        return load_repeated(kernels, from, stored, loop_dtype, gathered, converted);
    if (from->row_stride == 0 && from->rows > 1)
        return load_repeated_row(kernels, from, stored, loop_dtype, gathered, converted);
    if (!dt__patch_is_dense(from)) {
        if (is_transposed(from))
            transpose(kernels, from, gathered);
        else
            dt__gather(from, gathered);
        elements = gathered;
    }
    if (stored == loop_dtype)
        return elements;
    kernels->loops->convert[stored][loop_dtype](from->columns * from->rows, converted, elements);
    return converted;
}

void dt__store_patch(const dt__kernels *kernels, const void *from, dt_dtype dtype, const dt__patch *to,
                     dt_dtype stored, void *converted) {
    if (dtype != stored) {
        void *dense = dt__patch_is_dense(to) ? to->at : converted;
        kernels->loops->convert[dtype][stored](to->columns * to->rows, dense, from);
        from = dense;
    }
    if (from != to->at)
        dt__scatter(from, to);
}
