/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes or adds single elements at indexes along a dim. Elements that meet at one destination differ in their position
 * along that dim only, so the others are visited in any order: in units, a range of one of these dims at one position
 * of the rest, whose destinations fit in the cache. Units share no destination; ranges of them run on threads.
 *
 * Where rows of the destination are far apart, sums are made in a dense copy of a unit's destinations, if they are not
 * many more than its elements. Sums of f16 and bf16 are rounded once: their copy is in f64, or else the elements are
 * listed for index_sums.c, which sorts them.
 */
#include "base/dtype.h"
#include "base/size.h"
#include "kernels/element_types.h"
#include "kernels/gather.h"
#include "kernels/index_range.h"
#include "kernels/walk.h"

#include <stdatomic.h>

enum {
    TILE = 1024,          /* elements that are loaded at once */
    AHEAD = 24,           /* from an element to that whose destination is prefetched with it */
    PIECES = 16,          /* for threads */
    LARGE = 1 << 14,      /* elements that are worth threads, and a copy */
    UNIT_BYTES = 1 << 19, /* of destinations */
    MIN_WIDTH = 16,
    MAX_WIDTH = 512,
    MIN_COLUMN = 64 /* elements along the indexed dim for units of one column */
};

/* Elements and their indexes, dense; steps in bytes, from one destination to the next along the dim, and from one
 * column to the next. */
typedef struct tile {
    const dt__i64 *index;
    const void *from;
    char *to;
    int64_t rows, columns, step, column_step;
    uint64_t offset, limit, n_held; /* of dt__indexed; the destinations along the dim on this rank */
} tile;

/* False if an index is out of range. */
typedef bool tile_loop(const tile *t);

/* A row: of destinations anywhere; or next to each other, and prefetched or not. Prefetching costs as much as adding an
 * element whose destination is in the cache. */
#define ROW(place, combined, prefetch)                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                                                \
        const uint64_t held = (uint64_t)index[i] - offset;                                                           \
        prefetch;                                                                                                    \
        if (__builtin_expect(held >= n_held, 0)) {                                                                   \
            if ((uint64_t)index[i] >= limit)                                                                         \
                return false;                                                                                        \
            continue;                                                                                                \
        }                                                                                                            \
        y = place;                                                                                                   \
        *y = combined;                                                                                               \
    }
#define PREFETCH(type)                                                                                               \
    if (i + AHEAD < n)                                                                                               \
    __builtin_prefetch((const void *)((uintptr_t)to + ((uint64_t)index[i + AHEAD] - offset) * sizeof(type)), 1)
#define LOOP(name, type, term, combined)                                                                             \
    static bool name(const tile *t) {                                                                                \
        const int64_t n = t->columns, step = t->step, column_step = t->column_step;                                  \
        const uint64_t offset = t->offset, n_held = t->n_held, limit = t->limit;                                     \
        const dt__i64 *index = t->index;                                                                             \
        const term *x = t->from;                                                                                     \
        char *to = t->to;                                                                                            \
        type *y;                                                                                                     \
        for (int64_t r = t->rows; r > 0; r--, index += n, x += n)                                                    \
            if (step != sizeof(type) || column_step != 0)                                                            \
                ROW((type *)(to + (int64_t)held * step + i * column_step), combined, )                               \
            else if (n_held * sizeof(type) > 2 * UNIT_BYTES)                                                         \
                ROW((type *)to + held, combined, PREFETCH(type))                                                     \
            else                                                                                                     \
                ROW((type *)to + held, combined, )                                                                   \
        return true;                                                                                                 \
    }
LOOP(copy_1, dt__u8, dt__u8, x[i])
LOOP(copy_2, dt__i16, dt__i16, x[i])
LOOP(copy_4, dt__i32, dt__i32, x[i])
LOOP(copy_8, dt__i64, dt__i64, x[i])
LOOP(copy_16, dt__c128, dt__c128, x[i])
LOOP(add_f32, dt__f32, dt__f32, *y + x[i])
LOOP(add_f64, dt__f64, dt__f64, *y + x[i])
LOOP(add_half, dt__f64, dt__f32, *y + (double)x[i])
LOOP(add_c64, dt__c64, dt__c64, ((dt__c64){y->re + x[i].re, y->im + x[i].im}))
LOOP(add_c128, dt__c128, dt__c128, ((dt__c128){y->re + x[i].re, y->im + x[i].im}))
LOOP(add_u8, dt__u8, dt__u8, (uint8_t)(*y + x[i]))
LOOP(add_i16, dt__i16, dt__i16, (int16_t)(*y + x[i]))
LOOP(add_i32, dt__i32, dt__i32, (int32_t)((uint32_t)*y + (uint32_t)x[i]))
LOOP(add_i64, dt__i64, dt__i64, (int64_t)((uint64_t)*y + (uint64_t)x[i]))
LOOP(add_bool, dt__bool8, dt__bool8, (uint8_t)(*y != 0 || x[i] != 0))
#undef LOOP
#undef PREFETCH
#undef ROW

static tile_loop *const adds_of[DT_N_DTYPES] = {
    [DT_F32] = add_f32, [DT_F64] = add_f64,   [DT_F16] = add_half, [DT_BF16] = add_half,
    [DT_C64] = add_c64, [DT_C128] = add_c128, [DT_I8] = add_u8,    [DT_U8] = add_u8,
    [DT_I16] = add_i16, [DT_I32] = add_i32,   [DT_I64] = add_i64,  [DT_BOOL] = add_bool,
};
/* Indexed by log2 of the size. */
static tile_loop *const copies_of[] = {copy_1, copy_2, copy_4, copy_8, copy_16};

typedef struct scatter_job {
    const dt__kernels *kernels;
    const dt__indexed *args;
    tile_loop *loop;
    int across;    /* the dim whose ranges are units; -1: units are of one column */
    int64_t width; /* of a range */
    int64_t n_units, n_pieces, n_held;
    int64_t sum_bytes; /* of an element of a copy */
    bool is_copied, is_listed;
    int64_t n_listed;
    atomic_bool is_bad; /* an index is out of range */
} scatter_job;

static int64_t size_of(const dt__array *array, int d) { return array->n_dims ? array->shape[d] : 1; }
static int64_t stride_of(const dt__array *array, int d) { return array->n_dims ? array->strides[d] : 0; }
static int64_t distance(const dt__indexed *args, int d) {
    const int64_t of_index = stride_of(args->index, d), of_other = stride_of(args->other, d);
    return (of_index < 0 ? -of_index : of_index) + (of_other < 0 ? -of_other : of_other);
}

/* The dim along which elements are closest, unless that is the indexed one. */
static int find_across(const dt__indexed *args) {
    const dt__array *index = args->index;
    int across = -1;
    for (int d = 0; d < index->n_dims; d++)
        if (d != args->dim && index->shape[d] > 1 && (across < 0 || distance(args, d) < distance(args, across)))
            across = d;
    const bool is_close = across >= 0 && distance(args, across) < distance(args, args->dim);
    return is_close || size_of(index, args->dim) < MIN_COLUMN ? across : -1;
}

static void make_units(dt__pool *pool, const dt__indexed *args, bool adds, scatter_job *j) {
    const int64_t n = dt__array_count(args->index), terms_bytes = 2 * n * (int64_t)sizeof(dt__index_term);
    const dt_dtype dtype = args->indexed->dtype;
    const bool is_half = adds && dt__is_half(dtype);
    j->args = args;
    j->loop = adds ? adds_of[dtype] : copies_of[__builtin_ctzll(dt_dtype_size(dtype))];
    j->n_held = size_of(args->indexed, args->dim);
    j->sum_bytes = is_half ? (int64_t)sizeof(double) : (int64_t)dt_dtype_size(dtype);
    j->across = find_across(args);
    j->width = 1;
    if (j->across >= 0) {
        const int64_t fitting = UNIT_BYTES / j->sum_bytes / dt__max_i64(j->n_held, 1);
        j->width =
            dt__min_i64(dt__max_i64(fitting, MIN_WIDTH), dt__min_i64(MAX_WIDTH, args->index->shape[j->across]));
    }
    j->n_units = 1;
    for (int d = 0; d < args->index->n_dims; d++)
        if (d != args->dim)
            j->n_units *= d == j->across ? dt__ceil_div(args->index->shape[d], j->width) : args->index->shape[d];
    j->n_pieces = n < LARGE || dt__pool_threads(pool) == 1 ? 1 : dt__min_i64(j->n_units, PIECES);
    j->is_copied = (is_half || (adds && j->across >= 0 && n >= LARGE)) &&
                   j->n_held <= terms_bytes / j->sum_bytes / j->width / j->n_pieces;
    j->is_listed = is_half && !j->is_copied;
    if (j->is_listed)
        j->n_pieces = 1;
    j->n_listed = 0;
    atomic_init(&j->is_bad, false);
}

int64_t dt__scatter_bytes(dt__pool *pool, const dt__indexed *args) {
    scatter_job j;
    if (dt__array_count(args->index) == 0)
        return 0;
    make_units(pool, args, true, &j);
    return j.is_copied   ? j.n_pieces * j.width * j.n_held * j.sum_bytes
           : j.is_listed ? 2 * dt__array_count(args->index) * (int64_t)sizeof(dt__index_term)
                         : 0;
}

/* Offsets in elements, and columns. */
typedef struct unit {
    int64_t index, other, indexed, width;
} unit;

static unit unit_at(const scatter_job *j, int64_t number) {
    const dt__indexed *args = j->args;
    unit u = {.width = 1};
    for (int d = args->index->n_dims - 1; d >= 0; d--) {
        const int64_t size = args->index->shape[d], step = d == j->across ? j->width : 1;
        if (d == args->dim)
            continue;
        const int64_t n = dt__ceil_div(size, step), at = number % n * step;
        number /= n;
        if (d == j->across)
            u.width = dt__min_i64(j->width, size - at);
        u.index += at * args->index->strides[d];
        u.other += at * args->other->strides[d];
        u.indexed += at * args->indexed->strides[d];
    }
    return u;
}

/* One column is read as one row. */
static dt__patch patch_at(const dt__array *array, int64_t offset, int64_t rows, int64_t columns, int64_t row_stride,
                          int64_t column_stride) {
    const int64_t bytes = (int64_t)dt_dtype_size(array->dtype);
    char *at = (char *)array->data + offset * bytes;
    return columns == 1 ? (dt__patch){at, (size_t)bytes, rows, 1, row_stride * bytes, 0}
                        : (dt__patch){at, (size_t)bytes, columns, rows, column_stride * bytes, row_stride * bytes};
}

static bool list_tile(scatter_job *j, const tile *t, const unit *u, int64_t first) {
    const dt__indexed *args = j->args;
    const int64_t *other = args->other->strides, *indexed = args->indexed->strides;
    const int dim = args->dim, across = j->across;
    dt__index_term *terms = args->memory;
    for (int64_t i = 0; i < t->rows * t->columns; i++) {
        const int64_t row = u->width == 1 ? i : i / u->width, column = i - row * u->width;
        const uint64_t held = (uint64_t)t->index[i] - t->offset;
        if ((uint64_t)t->index[i] >= t->limit)
            return false;
        if (held >= t->n_held)
            continue;
        dt__index_term *term = &terms[j->n_listed++];
        term->place =
            u->indexed + (indexed ? (int64_t)held * indexed[dim] : 0) + (across < 0 ? 0 : column * indexed[across]);
        term->from = u->other + (other ? (first + row) * other[dim] : 0) + (across < 0 ? 0 : column * other[across]);
    }
    return true;
}

/* `rows` positions along the dim, from `first` on, of a unit; to its destinations at `to`. */
static bool scatter_tile(scatter_job *j, const unit *u, int64_t first, int64_t rows, char *to) {
    _Alignas(64) char gathered[2][TILE * 16], indexes[TILE * sizeof(int64_t)], terms[TILE * sizeof(float)];
    const dt__indexed *args = j->args;
    const dt__array *index = args->index, *other = args->other, *indexed = args->indexed;
    const int dim = args->dim, across = j->across;
    const int64_t along[] = {stride_of(index, dim), stride_of(other, dim)};
    const dt__patch at = patch_at(index, u->index + first * along[0], rows, u->width, along[0],
                                  across < 0 ? 0 : index->strides[across]);
    const dt__patch from = patch_at(other, u->other + first * along[1], rows, u->width, along[1],
                                    across < 0 ? 0 : other->strides[across]);
    const int64_t bytes = (int64_t)dt_dtype_size(indexed->dtype);
    tile t = {.index = dt__load_patch(j->kernels, &at, index->dtype, DT_I64, gathered[0], indexes),
              .to = to,
              .rows = at.rows,
              .columns = at.columns,
              .step = j->is_copied ? u->width * j->sum_bytes : stride_of(indexed, dim) * bytes,
              .column_step = u->width == 1  ? 0
                             : j->is_copied ? j->sum_bytes
                                            : indexed->strides[across] * bytes,
              .offset = (uint64_t)args->offset,
              .limit = (uint64_t)args->limit,
              .n_held = (uint64_t)j->n_held};
    if (j->is_listed)
        return list_tile(j, &t, u, first);
    const bool is_half = j->loop == add_half;
    t.from = dt__load_patch(j->kernels, &from, other->dtype, is_half ? DT_F32 : other->dtype, gathered[1], terms);
    return j->loop(&t);
}

/* Copies the destinations of a unit, or back. */
static void copy_sums(const scatter_job *j, const unit *u, char *sums, bool back) {
    _Alignas(64) char gathered[TILE * sizeof(float)], converted[TILE * sizeof(float)];
    const dt__array *indexed = j->args->indexed;
    const bool is_half = j->loop == add_half;
    const int64_t step = stride_of(indexed, j->args->dim), rows = TILE / u->width;
    for (int64_t first = 0; first < j->n_held; first += rows, sums += rows * u->width * j->sum_bytes) {
        const dt__patch p = patch_at(indexed, u->indexed + first * step, dt__min_i64(rows, j->n_held - first),
                                     u->width, step, j->across < 0 ? 0 : indexed->strides[j->across]);
        if (is_half && back)
            dt__store_patch(j->kernels, sums, DT_F64, &p, indexed->dtype, converted);
        else if (is_half)
            (void)dt__load_patch(j->kernels, &p, indexed->dtype, DT_F64, gathered, sums);
        else if (back)
            dt__scatter(sums, &p);
        else
            dt__gather(&p, sums);
    }
}

static bool scatter_unit(scatter_job *j, int64_t number, char *sums) {
    const dt__indexed *args = j->args;
    const unit u = unit_at(j, number);
    const int64_t n = size_of(args->index, args->dim), rows = TILE / u.width;
    char *to =
        j->is_copied ? sums : (char *)args->indexed->data + u.indexed * (int64_t)dt_dtype_size(args->indexed->dtype);
    if (j->is_copied)
        copy_sums(j, &u, sums, false);
    for (int64_t first = 0; first < n; first += rows)
        if (!scatter_tile(j, &u, first, dt__min_i64(rows, n - first), to))
            return false;
    if (j->is_copied)
        copy_sums(j, &u, sums, true);
    return true;
}

static void scatter_piece(void *arg, int64_t piece) {
    scatter_job *j = arg;
    const int64_t n = dt__ceil_div(j->n_units, j->n_pieces), end = dt__min_i64((piece + 1) * n, j->n_units);
    char *sums = j->is_copied ? (char *)j->args->memory + piece * j->width * j->n_held * j->sum_bytes : NULL;
    for (int64_t i = piece * n; i < end && !atomic_load_explicit(&j->is_bad, memory_order_relaxed); i++)
        if (!scatter_unit(j, i, sums))
            atomic_store_explicit(&j->is_bad, true, memory_order_relaxed);
}

bool dt__scatter_along(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, bool adds, int64_t *bad) {
    scatter_job j;
    if (dt__array_count(args->index) == 0)
        return true;
    make_units(pool, args, adds, &j);
    j.kernels = kernels;
    if (!args->is_new && !j.is_listed && !dt__check_indexes(args->index, args->limit, bad))
        return false;
    dt__pool_run(pool, j.n_pieces, scatter_piece, &j);
    if (atomic_load(&j.is_bad))
        return dt__check_indexes(args->index, args->limit, bad);
    if (j.is_listed) {
        const dt__array sums = {args->indexed->data, args->indexed->dtype, 0, NULL, NULL};
        const dt__array terms = {args->other->data, args->other->dtype, 0, NULL, NULL};
        dt__index_sums_run(kernels, pool, &(dt__index_sums){&sums, &terms, args->memory, j.n_listed});
    }
    return true;
}
