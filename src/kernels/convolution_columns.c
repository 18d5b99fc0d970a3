/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between images and columns. A block of positions is a list of parts of rows of the map. For each channel and
 * tap, such a part reads elements of one row of the image, `stride` apart; those before and after the row are padding.
 */
#include "kernels/convolution_columns.h"

#include "base/size.h"

#include <complex.h>
#include <string.h>

enum { ROW = DT__SPACE - 1 }; /* the dim of rows */

/* Positions begin to end of a row of the map. */
typedef struct row_part {
    int64_t at[ROW]; /* the row */
    int64_t begin, end;
} row_part;

/* The part that begins at a position, of at most n positions. */
static row_part part_at(const int64_t *sizes, int64_t position, int64_t n) {
    row_part part = {.begin = position % sizes[ROW]};
    int64_t row = position / sizes[ROW];
    for (int d = ROW - 1; d >= 0; row /= sizes[d--])
        part.at[d] = row % sizes[d];
    part.end = dt__min_i64(sizes[ROW], part.begin + n);
    return part;
}

/* A tap: where it reads for the first position, and which positions of a row do not read padding. */
typedef struct tap {
    int64_t at[DT__SPACE];
    int64_t first, end;
} tap;

static tap tap_at(const dt__columns *columns, int64_t index) {
    tap out = {{0}, 0, 0};
    for (int d = ROW; d >= 0; index /= columns->taps[d--])
        out.at[d] = columns->begin[d] + index % columns->taps[d] * columns->dilation[d];
    const int64_t stride = columns->stride[ROW], size = columns->image.size[ROW];
    out.first = out.at[ROW] >= 0 ? 0 : dt__ceil_div(-out.at[ROW], stride);
    out.end = out.at[ROW] >= size ? 0 : (size - 1 - out.at[ROW]) / stride + 1;
    return out;
}

/* The element of the image that the first position of a row reads, in elements from the start of the channel; false:
 * the row is padding. It may itself be padding, before the row. */
static bool find_row(const dt__columns *columns, const row_part *part, const tap *of, int64_t *out) {
    int64_t offset = of->at[ROW] * columns->image.step[ROW];
    for (int d = 0; d < ROW; d++) {
        const int64_t at = part->at[d] * columns->stride[d] + of->at[d];
        if (at < 0 || at >= columns->image.size[d])
            return false;
        offset += at * columns->image.step[d];
    }
    *out = offset;
    return true;
}

#define COPY(name, type)                                                                                             \
    static void name(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) {                    \
        type *t = (type *)(void *)to;                                                                                \
        const type *f = (const type *)(const void *)from;                                                            \
        for (int64_t i = 0; i < n; i++)                                                                              \
            t[i * to_step] = f[i * from_step];                                                                       \
    }
COPY(copy_4, uint32_t)
COPY(copy_8, uint64_t)
COPY(copy_16, _Complex double)
#undef COPY

/* n elements that are `step` apart; one of the two steps is 1. */
static void copy_elements(size_t bytes, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) {
    if (to_step == 1 && from_step == 1)
        memcpy(to, from, (size_t)n * bytes);
    else if (bytes == 4)
        copy_4(to, to_step, from, from_step, n);
    else if (bytes == 8)
        copy_8(to, to_step, from, from_step, n);
    else
        copy_16(to, to_step, from, from_step, n);
}

#define ADD(name, type)                                                                                              \
    static void name(char *to, int64_t step, const char *from, int64_t n) {                                          \
        type *t = (type *)(void *)to;                                                                                \
        const type *f = (const type *)(const void *)from;                                                            \
        for (int64_t i = 0; i < n; i++)                                                                              \
            t[i * step] += f[i];                                                                                     \
    }
ADD(add_f32, float)
ADD(add_f64, double)
ADD(add_u64, uint64_t)
ADD(add_c64, _Complex float)
ADD(add_c128, _Complex double)
#undef ADD

typedef void add_function(char *to, int64_t step, const char *from, int64_t n);
static add_function *const add_elements[DT_N_DTYPES] = {
    [DT_F32] = add_f32, [DT_F64] = add_f64, [DT_I64] = add_u64, [DT_C64] = add_c64, [DT_C128] = add_c128};

static void zero(char *to, int64_t n, size_t bytes) {
    if (n > 0)
        memset(to, 0, (size_t)n * bytes);
}

/* One part of a row: columns `to` from the image, with zeros for padding. */
static void unfold_part(const dt__columns *columns, const row_part *part, const tap *of, const char *channel,
                        char *to) {
    const size_t bytes = dt__dtype_bytes(columns->dtype);
    const int64_t begin = dt__min_i64(dt__max_i64(of->first, part->begin), part->end),
                  end = dt__max_i64(dt__min_i64(of->end, part->end), begin);
    const int64_t step = columns->image.step[ROW] * columns->stride[ROW];
    int64_t offset;
    if (!find_row(columns, part, of, &offset)) {
        zero(to, part->end - part->begin, bytes);
        return;
    }
    zero(to, begin - part->begin, bytes);
    if (end > begin)
        copy_elements(bytes, to + (size_t)(begin - part->begin) * bytes, 1,
                      channel + (offset + begin * step) * (int64_t)bytes, step, end - begin);
    zero(to + (size_t)(end - part->begin) * bytes, part->end - end, bytes);
}

static void fold_part(const dt__kernels *kernels, const dt__columns *columns, const row_part *part, const tap *of,
                      char *channel, const char *from) {
    const size_t bytes = dt__dtype_bytes(columns->dtype);
    const int64_t begin = dt__max_i64(of->first, part->begin), end = dt__min_i64(of->end, part->end);
    const int64_t step = columns->image.step[ROW] * columns->stride[ROW];
    int64_t offset;
    if (end <= begin || !find_row(columns, part, of, &offset))
        return;
    char *to = channel + (offset + begin * step) * (int64_t)bytes;
    from += (size_t)(begin - part->begin) * bytes;
    if (step == 1)
        kernels->accumulate(columns->dtype, DT_SUM, to, from, (size_t)(end - begin));
    else
        add_elements[columns->dtype](to, step, from, end - begin);
}

/* Every channel, tap and part of a row, in this order. */
static void walk(const dt__kernels *kernels, const dt__columns *columns, const dt__column_block *block, bool folds) {
    const int64_t bytes = (int64_t)dt__dtype_bytes(columns->dtype);
    const int64_t n_taps = columns->taps[0] * columns->taps[1] * columns->taps[2];
    const dt__conv_operand *image = &columns->image;
    for (int64_t r = 0; r < block->n_channels * n_taps; r++) {
        const tap of = tap_at(columns, r % n_taps);
        char *channel =
            image->data + (block->batch * image->batch + (block->channel + r / n_taps) * image->channel) * bytes;
        for (int64_t i = 0; i < block->n;) {
            const row_part part = part_at(columns->positions, block->from + i, block->n - i);
            char *at = block->data + (r * block->n + i) * bytes;
            if (folds)
                fold_part(kernels, columns, &part, &of, channel, at);
            else
                unfold_part(columns, &part, &of, channel, at);
            i += part.end - part.begin;
        }
    }
}

void dt__columns_unfold(const dt__kernels *kernels, const dt__columns *columns, const dt__column_block *block) {
    walk(kernels, columns, block, false);
}

void dt__columns_fold(const dt__kernels *kernels, const dt__columns *columns, const dt__column_block *block) {
    walk(kernels, columns, block, true);
}

void dt__columns_fill(const dt__kernels *kernels, const dt__columns *columns, const dt__array *bias, int64_t batch,
                      int64_t channel, int64_t n_channels) {
    static const char zeros[16];
    static const int64_t none[DT__SPACE + 1] = {0};
    const dt__conv_operand *image = &columns->image;
    const int64_t bytes = (int64_t)dt__dtype_bytes(columns->dtype);
    const int64_t sizes[] = {n_channels, image->size[0], image->size[1], image->size[2]};
    const int64_t to[] = {image->channel, image->step[0], image->step[1], image->step[2]};
    const int64_t from[DT__SPACE + 1] = {bias ? bias->strides[0] : 0};
    const char *value = bias ? (const char *)bias->data + channel * bias->strides[0] * bytes : zeros;
    kernels->copy_strided(&(dt__strided){image->data + (batch * image->batch + channel * image->channel) * bytes,
                                         value, (size_t)bytes, DT__SPACE + 1, sizes, to, bias ? from : none},
                          DT__CACHED);
}

void dt__positions_copy(const dt__kernels *kernels, const dt__conv_operand *operand, dt_dtype dtype,
                        const dt__column_block *block, bool to_block) {
    const int64_t bytes = (int64_t)dt__dtype_bytes(dtype);
    (void)kernels;
    for (int64_t c = 0; c < block->n_channels; c++) {
        char *channel =
            operand->data + (block->batch * operand->batch + (block->channel + c) * operand->channel) * bytes;
        for (int64_t i = 0; i < block->n;) {
            const row_part part = part_at(operand->size, block->from + i, block->n - i);
            const int64_t step = operand->step[ROW], n = part.end - part.begin;
            char *at =
                channel + (part.at[0] * operand->step[0] + part.at[1] * operand->step[1] + part.begin * step) * bytes;
            char *row = block->data + (c * block->n + i) * bytes;
            if (to_block)
                copy_elements((size_t)bytes, row, 1, at, step, n);
            else
                copy_elements((size_t)bytes, at, step, row, 1, n);
            i += n;
        }
    }
}
