/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of at most eight rows with a matrix, which take as long as reading the matrix: a BLAS would copy it first.
 * The rows are copied in the dtype of the computation, the matrix is read where it is and converted in registers. A
 * product with few columns is the transposed one. Sums have an order that depends on k only, so that columns can be
 * divided among threads at will.
 */
#include "kernels/bf16_loops.h"
#include "kernels/matrix_product.h"

#include "base/size.h"

#include <string.h>

enum {
    MAX_ROWS = 8,
    MIN_ELEMENTS = 1 << 12, /* of the matrix */
    K_BLOCK = 1 << 14,      /* numbers of a row of x that are copied at a time */
    N_BLOCK = 1 << 15,      /* columns whose sums are in memory at a time */
    SUMS_BYTES = 128 << 10, /* of the sums of a piece, which stay in the second cache */
    MIN_COLUMNS = 512,      /* of a piece */
    LINE = 64,              /* bytes that rows are padded to */
};

typedef struct thin_product {
    const dt__products *products;
    const dt__stored_product *of; /* with few rows */
    dt__thin_loop *loop;
    bool dots;
    dt_dtype dtype, x_dtype; /* of sums; of x as the loop reads it */
    int64_t n_rows;          /* of the loop, at least m */
    char *x, *sums, *old;
    int64_t x_row, sums_row;   /* in elements */
    int64_t first, n, columns; /* of the block; of a piece */
    int64_t l, k;              /* of the block */
    bool is_first, is_last;    /* block of k */
} thin_product;

static bool is_dense(int64_t stride, int64_t size) { return stride == 1 || size == 1; }

static bool applies(const dt__stored_product *product) {
    const dt__matrix_product *p = &product->p;
    return (product->stored == DT_F32 || product->stored == DT_F64 || product->stored == DT_BF16 ||
            product->stored == DT_F16) &&
           p->m <= MAX_ROWS && p->k > 0 && (double)p->n * (double)p->k >= MIN_ELEMENTS &&
           (is_dense(p->b.column, p->n) || is_dense(p->b.row, p->k));
}

static void run_piece(void *arg, int64_t piece) {
    const thin_product *t = arg;
    const dt__matrix_product *p = &t->of->p;
    const int64_t begin = piece * t->columns, n = dt__min_i64(t->columns, t->n - begin);
    const int64_t size = (int64_t)dt_dtype_size(t->dtype), stored = (int64_t)dt_dtype_size(t->of->stored);
    char *sums = t->sums + begin * size;
    if (t->is_first)
        for (int64_t r = 0; r < t->n_rows; r++)
            memset(sums + r * t->sums_row * size, 0, (size_t)(t->columns * size));
    t->loop(&(dt__thin_product){.n = n,
                                .k = t->k,
                                .x = t->x,
                                .w = p->b.at + (t->l * p->b.row + (t->first + begin) * p->b.column) * stored,
                                .sums = sums,
                                .x_row = t->x_row,
                                .w_row = t->dots ? p->b.column : p->b.row,
                                .sums_row = t->sums_row});
    for (int64_t r = 0; t->is_last && r < p->m; r++)
        dt__stored_product_finish(t->products, t->of, r, t->first + begin, n, sums + r * t->sums_row * size,
                                  t->old + begin * size);
}

/* Rows l to l + k of x, as the loop reads them. */
static void copy_rows(thin_product *t) {
    const dt__matrix_product *p = &t->of->p;
    const int64_t size = (int64_t)dt_dtype_size(t->x_dtype), shape[] = {p->m, t->k}, from[] = {p->a.row, p->a.column},
                  to[] = {t->x_row, 1};
    memset(t->x, 0, (size_t)(t->n_rows * t->x_row * size));
    dt__convert(dt__products_kernels(t->products), NULL, &(dt__array){t->x, t->x_dtype, 2, shape, to},
                &(dt__array){p->a.at + t->l * p->a.column * (int64_t)dt_dtype_size(t->of->stored), t->of->stored, 2,
                             shape, from});
}

static void run_blocks(thin_product *t) {
    const dt__matrix_product *p = &t->of->p;
    dt__pool *pool = dt__products_pool(t->products);
    for (t->first = 0; t->first < p->n; t->first += N_BLOCK) {
        t->n = dt__min_i64(N_BLOCK, p->n - t->first);
        for (t->l = 0; t->l < p->k; t->l += K_BLOCK) {
            t->k = dt__min_i64(K_BLOCK, p->k - t->l);
            t->is_first = t->l == 0;
            t->is_last = t->l + t->k == p->k;
            copy_rows(t);
            dt__pool_run(pool, dt__ceil_div(t->n, t->columns), run_piece, t);
        }
    }
}

static void choose_loop(thin_product *t) {
    const dt__kernels *kernels = dt__products_kernels(t->products);
    const dt__matrix_product *p = &t->of->p;
    const dt__thin_loops *loops = &kernels->loops->thin_products[t->of->stored];
    const dt__bf16_loops *pairs = t->of->stored == DT_BF16 ? dt__bf16_loops_of(kernels) : NULL;
    const int rows = p->m == 1 ? DT__THIN_ROWS_1 : p->m <= 4 ? DT__THIN_ROWS_4 : DT__THIN_ROWS_8;
    t->n_rows = p->m == 1 ? 1 : p->m <= 4 ? 4 : 8;
    t->dots = is_dense(p->b.row, p->k) && !(is_dense(p->b.column, p->n) && p->k < p->n);
    t->dtype = t->of->stored == DT_F64 ? DT_F64 : DT_F32;
    t->x_dtype = pairs && t->dots ? DT_BF16 : t->dtype;
    t->loop = t->x_dtype == DT_BF16 ? pairs->dots[rows] : t->dots ? loops->dots[rows] : loops->sums[rows];
}

static int64_t padded(int64_t n) { return dt__ceil_div(n, LINE) * LINE; }

static bool run(const dt__products *products, const dt__stored_product *product) {
    const dt__matrix_product *p = &product->p;
    thin_product t = {.products = products, .of = product};
    choose_loop(&t);
    const int64_t size = (int64_t)dt_dtype_size(t.dtype), n = dt__min_i64(p->n, N_BLOCK);
    t.columns = dt__max_i64(dt__ceil_div(n, dt__pool_threads(dt__products_pool(products))), MIN_COLUMNS);
    t.columns = padded(dt__min_i64(t.columns, SUMS_BYTES / size / t.n_rows));
    t.x_row = padded(dt__min_i64(p->k, K_BLOCK));
    t.sums_row = dt__ceil_div(n, t.columns) * t.columns;
    const size_t x_bytes = (size_t)(t.n_rows * t.x_row * size), sums_bytes = (size_t)(t.n_rows * t.sums_row * size),
                 bytes = x_bytes + sums_bytes + (size_t)(t.sums_row * size);
    t.x = dt__products_take(products, bytes);
    if (!t.x)
        return false;
    t.sums = t.x + x_bytes;
    t.old = t.sums + sums_bytes;
    run_blocks(&t);
    dt__products_give_back(products, t.x, bytes);
    return true;
}

bool dt__thin_product_run(dt__products *products, const dt__stored_product *product, bool *done) {
    if (applies(product)) {
        *done = run(products, product);
        return true;
    }
    const dt__stored_product flipped = {product->stored, dt__matrix_product_flip(&product->p), NULL};
    if (product->bias || product->p.m <= MAX_ROWS || !applies(&flipped))
        return false;
    *done = run(products, &flipped);
    return true;
}
