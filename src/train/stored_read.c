/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads this rank's shard of a stored tensor. The box of the shard is walked in the order of the file, by blocks:
 *
 *     file   ....rrrr....rrrr....rrrr....      r: one row of a block; the shard has some columns of it
 *
 * A long row is read straight into its place. Short rows are read together with the gaps between them, because a system
 * call costs more than some extra bytes, and are converted and scattered from a buffer.
 */
#include "train/stored_files.h"

#include "base/size.h"
#include "comm/comm.h"

#include <string.h>

enum {
    BUFFER_BYTES = 1 << 20,
    LONG_ROW_BYTES = 1 << 16, /* is read by itself */
    MAX_GAP_FACTOR = 8,       /* gaps are read along if they are at most this many times the row */
};

/* One dim of the tensor as it is stored, and where it goes. Strides are in elements. */
struct axis {
    dt__shard shard; /* of the window */
    int64_t begin;   /* of the window */
    int64_t from, to;
};

/* Rows and columns that are evenly spaced in the file and in memory. Columns are contiguous in the file. */
struct block {
    int64_t from_at, to_at;
    int64_t n_rows, row_from, row_to;
    int64_t n_columns, column_to;
};

struct reading {
    const dt__stored_entry *entry;
    dt_tensor *to;
    unsigned char *buffer, *decoded; /* BUFFER_BYTES of the file, and what is made of them */
};

static int64_t file_offset(const struct reading *r, int64_t element) {
    return r->entry->file->header.data_at + r->entry->tensor->begin + element * r->entry->tensor->dtype->bytes;
}

/* Whether bytes of the file are those of the tensor. */
static bool is_alike(const struct reading *r) {
    return !r->entry->tensor->dtype->decode && r->entry->tensor->dtype->dtype == r->to->dtype;
}

static unsigned char *place_of(const struct reading *r, int64_t element) {
    return r->to->data + element * (int64_t)dt__dtype_bytes(r->to->dtype);
}

/* A block whose bytes, with gaps, fit in the buffer. */
static dt_status read_small(const struct reading *r, const struct block *b) {
    const dt__stored_dtype *stored = r->entry->tensor->dtype;
    const dt__file *file = &r->entry->file->file;
    const int64_t span = (b->n_rows - 1) * b->row_from + b->n_columns;
    const int64_t shape[] = {b->n_rows, b->n_columns}, from[] = {b->row_from, 1}, to[] = {b->row_to, b->column_to};
    DT__TRY(dt__file_read(file, file_offset(r, b->from_at), r->buffer, (size_t)(span * stored->bytes)));
    if (stored->decode && !stored->decode(span, r->buffer, r->decoded))
        return dt__file_fail(file, DT_ERR_VALUE, "'%.100s' has a number that does not fit in %s",
                             r->entry->tensor->name, dt_dtype_name(stored->dtype));
    const dt__array src = {stored->decode ? r->decoded : r->buffer, stored->dtype, 2, shape, from};
    const dt__array dst = {place_of(r, b->to_at), r->to->dtype, 2, shape, to};
    dt__convert(dt__kernels_of(r->to->ctx), dt__pool_of(r->to->ctx), &dst, &src);
    return DT_OK;
}

/* The rows that are read at once, and of a long row the columns. */
static void choose_piece(const struct block *b, int64_t element_bytes, int64_t *rows, int64_t *columns) {
    const int64_t most = BUFFER_BYTES / element_bytes;
    *rows = 1;
    *columns = dt__min_i64(b->n_columns, most);
    if (b->n_rows > 1 && *columns == b->n_columns && b->row_from <= (MAX_GAP_FACTOR + 1) * b->n_columns &&
        b->row_from <= most)
        *rows = dt__min_i64(b->n_rows, (most - b->n_columns) / b->row_from + 1);
}

static dt_status read_rows(const struct reading *r, const struct block *b) {
    const int64_t bytes = (int64_t)dt__dtype_bytes(r->to->dtype);
    for (int64_t i = 0; i < b->n_rows; i++)
        DT__TRY(dt__file_read(&r->entry->file->file, file_offset(r, b->from_at + i * b->row_from),
                              place_of(r, b->to_at + i * b->row_to), (size_t)(b->n_columns * bytes)));
    return DT_OK;
}

static dt_status read_block(const struct reading *r, const struct block *b) {
    const int64_t element_bytes = r->entry->tensor->dtype->bytes;
    int64_t rows, columns;
    const bool is_long = b->n_rows == 1 || b->n_columns * element_bytes >= LONG_ROW_BYTES;
    if (is_alike(r) && is_long && (b->column_to == 1 || b->n_columns == 1))
        return read_rows(r, b);
    choose_piece(b, element_bytes, &rows, &columns);
    for (int64_t row = 0; row < b->n_rows; row += rows)
        for (int64_t column = 0; column < b->n_columns; column += columns) {
            struct block piece = *b;
            piece.from_at += row * b->row_from + column;
            piece.to_at += row * b->row_to + column * b->column_to;
            piece.n_rows = dt__min_i64(rows, b->n_rows - row);
            piece.n_columns = dt__min_i64(columns, b->n_columns - column);
            DT__TRY(read_small(r, &piece));
        }
    return DT_OK;
}

/* Where the run of an axis begins, and its length. */
static dt_run run_of(const struct axis *axis, int64_t i, int64_t *from, int64_t *to) {
    dt_run run = dt__shard_run(&axis->shard, i);
    *from += (axis->begin + run.begin) * axis->from;
    *to += i * axis->to;
    return run;
}

/* The blocks of the last two axes, from elements that the axes before them chose. `inner` elements follow each index of
 * the last one. */
static dt_status read_plane(const struct reading *r, const struct axis *rows, const struct axis *columns,
                            int64_t inner, int64_t from_at, int64_t to_at) {
    for (int64_t i = 0; i < rows->shard.size;) {
        int64_t row_from = from_at, row_to = to_at;
        dt_run row = run_of(rows, i, &row_from, &row_to);
        for (int64_t k = 0; k < columns->shard.size;) {
            int64_t from = row_from, to = row_to;
            dt_run column = run_of(columns, k, &from, &to);
            const struct block block = {.from_at = from,
                                        .to_at = to,
                                        .n_rows = row.end - row.begin,
                                        .row_from = rows->from,
                                        .row_to = rows->to,
                                        .n_columns = (column.end - column.begin) * inner,
                                        .column_to = inner > 1 ? 1 : columns->to};
            DT__TRY(read_block(r, &block));
            k += column.end - column.begin;
        }
        i += row.end - row.begin;
    }
    return DT_OK;
}

/* All axes; the n - 2 first ones index by index. */
static dt_status read_box(const struct reading *r, int n, const struct axis *axes, int64_t inner) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0};
    for (;;) {
        int64_t from = 0, to = 0;
        int d = n - 3;
        for (int i = 0; i < n - 2; i++) {
            from += (axes[i].begin + dt__shard_to_global(&axes[i].shard, index[i])) * axes[i].from;
            to += index[i] * axes[i].to;
        }
        DT__TRY(read_plane(r, &axes[n - 2], &axes[n - 1], inner, from, to));
        for (; d >= 0 && ++index[d] == axes[d].shard.size; d--)
            index[d] = 0;
        if (d < 0)
            return DT_OK;
    }
}

/* Axes of the stored dims, after two of size 1, so that there are always two. Trailing dims that are whole and dense on
 * both sides become `inner`. Returns their number. */
static int make_axes(const dt__stored_tensor *stored, const dt__stored_window *window, const dt_tensor *to,
                     struct axis *axes, int64_t *inner) {
    const dt__shard one = {.global_size = 1, .size = 1};
    const int n = stored->n_dims;
    int64_t stride = 1;
    axes[0] = axes[1] = (struct axis){.shard = one};
    for (int s = n - 1; s >= 0; s--) {
        const int d = window && window->transposed && s >= n - 2 ? 2 * n - 3 - s : s;
        axes[2 + s] = (struct axis){.begin = window ? window->begin[s] : 0, .from = stride, .to = to->strides[d]};
        dt__local_shard(to->spec, to->shape, d, &axes[2 + s].shard);
        stride *= stored->shape[s];
    }
    int left = n;
    for (*inner = 1; left > 0; left--) {
        const struct axis *axis = &axes[1 + left];
        if (axis->shard.size != stored->shape[left - 1] || (axis->to != *inner && axis->shard.size > 1))
            break;
        *inner *= axis->shard.size;
    }
    if (*inner > 1 && axes[1 + left].to != *inner) /* rows that are not dense in memory */
        axes[2 + left++] = (struct axis){.shard = one};
    return 2 + left;
}

dt_status dt__stored_read(dt__stored_files *self, const dt__stored_entry *entry, const dt__stored_window *window,
                          dt_tensor *to) {
    enum { MEMORY_BYTES = 3 * BUFFER_BYTES }; /* decoding at most doubles the bytes of an element */
    struct axis axes[DT_SPEC_MAX_DIMS + 3];
    int64_t inner;
    if (!to->data || dt_tensor_local_elements(to) == 0 || (to->spec && !to->spec->local.member))
        return DT_OK;
    unsigned char *memory = dt__alloc(self->call->ctx, MEMORY_BYTES);
    if (!memory)
        return dt__fail_memory(self->call->ctx, MEMORY_BYTES, "reading a file");
    const struct reading reading = {entry, to, memory, memory + BUFFER_BYTES};
    const int n = make_axes(entry->tensor, window, to, axes, &inner);
    dt_status status = read_box(&reading, n, axes, inner);
    dt__free(self->call->ctx, memory, MEMORY_BYTES);
    return status;
}
