/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of arrays, by a BLAS (blas.h) or by our own loops. Products of few rows (thin_products.c), and of
 * bf16 where the CPU has instructions for them (bf16_products.c), are faster in loops of their own. A product of arrays
 * becomes products of matrices: leading dims along which b has stride 0 and the rows of a and out continue are joined
 * to the rows of one larger product; the others are iterated over. Matrices that do not have the dtype of the
 * computation, or whose strides BLAS cannot express, are copied first, in blocks of bounded size. Products of many
 * multiplications are split into tiles of the result, for threads. A BLAS packs the operands of every tile again, so
 * tiles have long rows where they can: on Zen 4, 1024x1024x256 runs at 0.97 of the speed of one call in tiles of
 * 256x1024, and at 0.91 in tiles of 256x512. One thread makes one call, if the BLAS computes the same bits so (blas.c).
 */
#include "kernels/kernels.h"

#include "base/ctx.h"
#include "base/size.h"
#include "kernels/blas.h"
#include "kernels/gather.h"
#include "kernels/library_convolution.h"
#include "kernels/matrix_product.h"
#include "kernels/walk.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum {
    TINY = 2048,    /* multiplications up to which our own loops are faster than BLAS */
    TILE = 1 << 25, /* multiplications of a tile, about */
    FEW_TILES = 8,  /* of a product, unless tiles have more than LARGE_TILE multiplications */
    LARGE_TILE = 1 << 30,
    MAX_TILES = 64,
    MIN_ROWS = 256,          /* of a tile */
    MIN_COLUMNS = 512,       /* where the rows are not cut */
    MIN_LONG_COLUMNS = 4096, /* where they are */
    LARGE = 1 << 19,         /* multiplications that are worth splitting */
    MAX_SIZE = 1 << 30,      /* of a matrix dim that is passed to BLAS */
    COPY_BYTES = 32 << 20,   /* of a copy of a block */
    COPY_SIDE = 2048,        /* of a block that has rows and columns of its matrix, at most if it is cut */
};

enum { COPY_A, COPY_B, COPY_OUT, N_COPIES };

struct dt__products {
    dt_ctx *ctx;
    const dt__kernels *kernels;
    dt__pool *pool;
    bool tried_blas, has_blas;
    bool is_uncut; /* one thread, and tiles have the bits of the whole */
    dt__blas blas;
    const dt__scratch_source *source;
    dt__prepared_convolutions *convolutions; /* NULL until there are any */
};

/* Dense copies of blocks that a product is computed with. */
typedef struct product_copy {
    void *memory;
    size_t bytes;
    const char *from; /* the block that was copied last, and its size */
    int64_t rows, columns;
} product_copy;
typedef struct product_copies {
    product_copy of[N_COPIES];
} product_copies;

dt__products *dt__products_new(dt_ctx *ctx, const dt__kernels *kernels, dt__pool *pool,
                               const dt__scratch_source *source) {
    dt__products *products = dt__alloc_zeroed(ctx, sizeof *products);
    if (!products)
        return NULL;
    products->ctx = ctx;
    products->kernels = kernels;
    products->pool = pool;
    products->source = source;
    return products;
}

void dt__products_free(dt__products *products) {
    if (!products)
        return;
    dt__prepared_convolutions_free(products->ctx, products->convolutions);
    dt__free(products->ctx, products, sizeof *products);
}

static const dt_dtype compute_dtype[DT_N_DTYPES] = {
    [DT_F32] = DT_F32, [DT_F64] = DT_F64,  [DT_F16] = DT_F32, [DT_BF16] = DT_F32,
    [DT_I8] = DT_I64,  [DT_I16] = DT_I64,  [DT_I32] = DT_I64, [DT_I64] = DT_I64,
    [DT_U8] = DT_I64,  [DT_BOOL] = DT_I64, [DT_C64] = DT_C64, [DT_C128] = DT_C128,
};

void *dt__products_take(const dt__products *products, size_t bytes) {
    return products->source->take(products->ctx, bytes);
}

void dt__products_give_back(const dt__products *products, void *memory, size_t bytes) {
    products->source->give_back(products->ctx, memory, bytes);
}

/* Memory for a copy, which later blocks use again: none is larger than the first. NULL when out of memory, or if there
 * are no elements. */
static void *take_copy(const dt__products *products, product_copies *copies, int which, int64_t rows, int64_t columns,
                       dt_dtype dtype) {
    size_t bytes;
    if (copies->of[which].memory)
        return copies->of[which].memory;
    if (!dt__mul_size((size_t)rows, (size_t)columns, &bytes) || !dt__mul_size(bytes, dt_dtype_size(dtype), &bytes) ||
        bytes == 0)
        return NULL;
    copies->of[which].bytes = bytes;
    return copies->of[which].memory = dt__products_take(products, bytes);
}

static void free_copies(const dt__products *products, product_copies *copies) {
    for (int i = 0; i < N_COPIES; i++)
        if (copies->of[i].memory)
            dt__products_give_back(products, copies->of[i].memory, copies->of[i].bytes);
}

static dt__number number_of(dt_dtype dtype, int64_t i) {
    return dtype == DT_I64 ? (dt__number){.i = i} : (dt__number){.f = {(double)i, 0}};
}

static bool is_zero(dt_dtype dtype, dt__number x) { return dtype == DT_I64 ? x.i == 0 : x.f.re == 0 && x.f.im == 0; }

static dt__matrix matrix_at(dt__matrix x, dt_dtype dtype, int64_t row, int64_t column) {
    x.at += (row * x.row + column * x.column) * (int64_t)dt_dtype_size(dtype);
    return x;
}

/* Whether BLAS can read the matrix in place. The stride along a dim of size 1 is arbitrary. */
static bool is_plain(dt__matrix x, int64_t rows, int64_t columns) {
    return (x.column == 1 || columns == 1) && (rows == 1 || (x.row >= columns && x.row <= INT_MAX));
}
static bool is_transposed(dt__matrix x, int64_t rows, int64_t columns) {
    return is_plain((dt__matrix){x.at, x.column, x.row}, columns, rows);
}

static int leading_dimension(int64_t stride, int64_t rows, int64_t columns) {
    return (int)(rows == 1 || stride < columns ? dt__max_i64(columns, 1) : stride);
}

/* Sizes and strides fit an int. c is plain, a and b are plain or transposed. */
static void call_blas(const dt__blas *blas, dt_dtype dtype, const dt__matrix_product *p) {
    const bool plain_a = is_plain(p->a, p->m, p->k), plain_b = is_plain(p->b, p->k, p->n);
    const int trans_a = plain_a ? DT__BLAS_PLAIN : DT__BLAS_TRANSPOSED,
              trans_b = plain_b ? DT__BLAS_PLAIN : DT__BLAS_TRANSPOSED;
    const int lda = plain_a ? leading_dimension(p->a.row, p->m, p->k) : leading_dimension(p->a.column, p->k, p->m);
    const int ldb = plain_b ? leading_dimension(p->b.row, p->k, p->n) : leading_dimension(p->b.column, p->n, p->k);
    const int ldc = leading_dimension(p->c.row, p->m, p->n), m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const void *a = p->a.at, *b = p->b.at;
    void *c = p->c.at;
    const float alpha[] = {(float)p->alpha.f.re, (float)p->alpha.f.im},
                beta[] = {(float)p->beta.f.re, (float)p->beta.f.im};
    switch (dtype) {
    case DT_F32:
        blas->sgemm(DT__BLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, alpha[0], a, lda, b, ldb, beta[0], c, ldc);
        break;
    case DT_F64:
        blas->dgemm(DT__BLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, p->alpha.f.re, a, lda, b, ldb, p->beta.f.re, c,
                    ldc);
        break;
    case DT_C64:
        blas->cgemm(DT__BLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        break;
    default:
        blas->zgemm(DT__BLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, &p->alpha.f, a, lda, b, ldb, &p->beta.f, c, ldc);
    }
}

/* Uses our own loops, which need contiguous rows of b and c: b is packed block by block where its rows are not. */
static void call_loops(const dt__kernels *kernels, dt_dtype dtype, const dt__matrix_product *p) {
    enum { SIDE = 64 };
    _Alignas(64) char block[SIDE * SIDE * 16];
    const int64_t size = (int64_t)dt_dtype_size(dtype);
    dt__small_product s = {
        .m = p->m, .a_row = p->a.row, .a_column = p->a.column, .c_row = p->c.row, .alpha = p->alpha};
    for (int64_t l = 0; l == 0 || l < p->k; l += SIDE) /* once even if k is 0, which scales c */
        for (int64_t j = 0; j < p->n; j += SIDE) {
            const dt__matrix b = matrix_at(p->b, dtype, l, j);
            s.k = dt__min_i64(SIDE, p->k - l);
            s.n = dt__min_i64(SIDE, p->n - j);
            s.a = p->a.at + l * p->a.column * size;
            s.c = p->c.at + j * size;
            s.b = b.at;
            s.b_row = b.row;
            s.beta = l == 0 ? p->beta : number_of(dtype, 1);
            if (b.column != 1 && s.n > 1) {
                const int64_t sizes[] = {s.k, s.n}, to[] = {s.n, 1}, from[] = {b.row, b.column};
                kernels->copy_strided(&(dt__strided){block, b.at, (size_t)size, 2, sizes, to, from}, DT__CACHED);
                s.b = block;
                s.b_row = s.n;
            }
            kernels->loops->small_products[dtype](&s);
        }
}

/* Every row of c becomes the bias; c is plain. */
static void fill_with_bias(dt_dtype dtype, const dt__matrix_product *p, const char *bias) {
    const size_t size = dt_dtype_size(dtype), bytes = (size_t)p->n * size;
    for (int64_t i = 0; i < p->m; i++)
        memcpy(p->c.at + i * p->c.row * (int64_t)size, bias, bytes);
}

/* c is plain. The bias, or NULL, is in place of beta c. */
static void multiply(const dt__kernels *kernels, const dt__blas *blas, dt_dtype dtype, const dt__matrix_product *p,
                     const char *bias) {
    dt__matrix_product part = *p;
    if (p->m == 0 || p->n == 0)
        return;
    if (bias) {
        fill_with_bias(dtype, p, bias);
        part.beta = number_of(dtype, 1);
    }
    if (!blas || dtype == DT_I64) {
        call_loops(kernels, dtype, &part);
        return;
    }
    for (int64_t l = 0; l == 0 || l < p->k; l += MAX_SIZE) {
        part.k = dt__min_i64(MAX_SIZE, p->k - l);
        part.a = matrix_at(p->a, dtype, 0, l);
        part.b = matrix_at(p->b, dtype, l, 0);
        call_blas(blas, dtype, &part);
        part.beta = number_of(dtype, 1);
    }
}

static const dt__blas *blas_of(dt__products *products) {
    if (!products->tried_blas) {
        products->has_blas = dt__blas_load(&products->blas);
        products->is_uncut =
            products->has_blas && dt__pool_threads(products->pool) == 1 && products->blas.tiles_are_alike;
    }
    products->tried_blas = true;
    return products->has_blas ? &products->blas : NULL;
}

/* A product in tiles. */
typedef struct tiles {
    const dt__kernels *kernels;
    const dt__blas *blas;
    dt_dtype dtype;
    dt__matrix_product whole;
    const char *bias;
    int64_t rows, columns, n_down, n_across; /* the last tile of a row or column of tiles has what is left */
} tiles;

static void multiply_tile(void *arg, int64_t piece) {
    const tiles *t = arg;
    const int64_t i = piece / t->n_across * t->rows, j = piece % t->n_across * t->columns;
    dt__matrix_product part = t->whole;
    part.m = piece / t->n_across == t->n_down - 1 ? t->whole.m - i : t->rows;
    part.n = piece % t->n_across == t->n_across - 1 ? t->whole.n - j : t->columns;
    part.a = matrix_at(t->whole.a, t->dtype, i, 0);
    part.b = matrix_at(t->whole.b, t->dtype, 0, j);
    part.c = matrix_at(t->whole.c, t->dtype, i, j);
    multiply(t->kernels, t->blas, t->dtype, &part, t->bias ? t->bias + j * (int64_t)dt_dtype_size(t->dtype) : NULL);
}

/* The size of at most n pieces of a dim, none much below min. */
static int64_t tile_side(int64_t size, int64_t n, int64_t min) {
    n = dt__min_i64(n, dt__max_i64(size / min, 1));
    return dt__min_i64(n == 1 ? size : dt__ceil_div(dt__ceil_div(size, n), 64) * 64, MAX_SIZE / 2);
}

/* The number of pieces: the last one has half the side to one and a half, so that none is tiny. */
static int64_t n_sides(int64_t size, int64_t side) { return dt__max_i64((size + side / 2) / side, 1); }

/* How many tiles a product is cut into, at most: by its multiplications, never by the number of threads. */
static int64_t count_tiles(const dt__matrix_product *p) {
    const double work = (double)p->m * (double)p->n * (double)p->k;
    const double n = fmax(fmin(work / TILE, FEW_TILES), fmin(work / LARGE_TILE, MAX_TILES));
    return n > 1 ? (int64_t)n : 1;
}

/* Rows first. */
static void multiply_in_tiles(dt__products *products, const dt__blas *blas, dt_dtype dtype,
                              const dt__matrix_product *p, const char *bias) {
    const int64_t n = products->is_uncut ? 1 : count_tiles(p);
    tiles t = {products->kernels, blas, dtype, *p, bias, tile_side(p->m, n, MIN_ROWS), 0, 0, 0};
    t.n_down = n_sides(p->m, t.rows);
    t.columns = t.n_down == 1 ? tile_side(p->n, n, MIN_COLUMNS)
                              : tile_side(p->n, dt__max_i64(n / t.n_down, 1), MIN_LONG_COLUMNS);
    t.n_across = n_sides(p->n, t.columns);
    dt__pool_run(products->pool, t.n_down * t.n_across, multiply_tile, &t);
}

dt__matrix_product dt__matrix_product_flip(const dt__matrix_product *p) {
    return (dt__matrix_product){p->n,
                                p->m,
                                p->k,
                                {p->b.at, p->b.column, p->b.row},
                                {p->a.at, p->a.column, p->a.row},
                                {p->c.at, p->c.column, p->c.row},
                                p->alpha,
                                p->beta};
}

/* Where c cannot be filled row by row, all of it becomes the bias before the product. */
static void add_bias_first(dt__products *products, dt_dtype stored, const char *bias, const dt__array *c,
                           dt__matrix_product *p) {
    const int64_t strides[] = {0, 1};
    dt__convert(products->kernels, products->pool, c,
                &(dt__array){(void *)(uintptr_t)bias, stored, 2, c->shape, strides});
    p->beta = number_of(c->dtype, 1);
}

/* Whether products read a factor in place: it has the dtype of the computation, and strides that BLAS can express. */
static bool is_read_in_place(dt_dtype stored, dt__matrix x, int64_t rows, int64_t columns) {
    return compute_dtype[stored] == stored &&
           (stored == DT_I64 || is_plain(x, rows, columns) || is_transposed(x, rows, columns));
}

/* A product of matrices of any stored dtype and strides, which is cut into blocks of m by n results that are each the
 * sum of products over k: as large as possible, so that no copy has more than COPY_BYTES. Depends on sizes and strides
 * only, so that all ranks compute the same bits. */
typedef struct block_product {
    dt__products *products;
    product_copies copies;
    dt_dtype stored;
    dt__matrix_product whole;
    bool a_in_place, b_in_place, c_in_place;
    int64_t m, n, k;
} block_product;

/* Replaces a block of a factor by a dense copy that BLAS can read, by columns if the factor is; one that was copied
 * last is not copied again. False when out of memory. */
static bool copy_block(block_product *self, int which, dt__matrix *x, int64_t rows, int64_t columns) {
    const dt__products *products = self->products;
    const dt_dtype dtype = compute_dtype[self->stored];
    void *copy = take_copy(products, &self->copies, which, rows, columns, dtype);
    if (!copy)
        return rows == 0 || columns == 0;
    const bool by_columns = x->row == 1 && x->column != 1;
    const int64_t shape[] = {by_columns ? columns : rows, by_columns ? rows : columns};
    const int64_t from[] = {by_columns ? x->column : x->row, by_columns ? x->row : x->column}, to[] = {shape[1], 1};
    const product_copy *last = &self->copies.of[which];
    if (last->from != x->at || last->rows != rows || last->columns != columns)
        dt__convert(products->kernels, products->pool, &(dt__array){copy, dtype, 2, shape, to},
                    &(dt__array){x->at, self->stored, 2, shape, from});
    self->copies.of[which] = (product_copy){copy, last->bytes, x->at, rows, columns};
    *x = by_columns ? (dt__matrix){copy, 1, rows} : (dt__matrix){copy, columns, 1};
    return true;
}

/* The side of a block that has `other` elements along the other side. */
static int64_t block_side(const block_product *self, int64_t size, int64_t other) {
    const int64_t most = COPY_BYTES / (int64_t)dt_dtype_size(compute_dtype[self->stored]);
    return dt__min_i64(size, dt__max_i64(most / dt__max_i64(other, 1), 1));
}

static void choose_blocks(block_product *self) {
    const dt__matrix_product *p = &self->whole;
    self->m = p->m;
    self->n = p->n;
    self->k = dt__max_i64(p->k, 1);
    if (!self->a_in_place)
        self->k = block_side(self, self->k, dt__min_i64(p->m, COPY_SIDE));
    if (!self->b_in_place)
        self->k = block_side(self, self->k, dt__min_i64(p->n, COPY_SIDE));
    if (!self->a_in_place)
        self->m = block_side(self, self->m, self->k);
    if (!self->b_in_place)
        self->n = block_side(self, self->n, self->k);
    if (!self->c_in_place)
        self->n = block_side(self, self->n, dt__min_i64(self->m, COPY_SIDE));
    if (!self->c_in_place)
        self->m = block_side(self, self->m, self->n);
}

/* Adds the products of all blocks of k to c, which is plain. */
static bool sum_blocks(block_product *self, const dt__matrix_product *p, const char *bias) {
    const dt_dtype dtype = compute_dtype[self->stored];
    const dt__blas *blas = dtype == DT_I64 ? NULL : blas_of(self->products);
    dt__matrix_product part = *p;
    for (int64_t l = 0; l == 0 || l < p->k; l += self->k) { /* once even if k is 0, which scales c */
        part.k = dt__min_i64(self->k, p->k - l);
        part.a = matrix_at(p->a, self->stored, 0, l);
        part.b = matrix_at(p->b, self->stored, l, 0);
        if ((!self->a_in_place && !copy_block(self, COPY_A, &part.a, p->m, part.k)) ||
            (!self->b_in_place && !copy_block(self, COPY_B, &part.b, part.k, p->n)))
            return false;
        multiply_in_tiles(self->products, blas, dtype, &part, bias);
        part.beta = number_of(dtype, 1);
        bias = NULL;
    }
    return true;
}

/* The results of one block. */
static bool run_block(block_product *self, dt__matrix_product p, const char *bias) {
    const dt__products *products = self->products;
    const dt_dtype dtype = compute_dtype[self->stored];
    const int64_t shape[] = {p.m, p.n}, strides[] = {p.c.row, p.c.column}, dense[] = {p.n, 1};
    const dt__array out = {p.c.at, self->stored, 2, shape, strides};
    if (self->c_in_place)
        return sum_blocks(self, &p, bias);
    void *copy = take_copy(products, &self->copies, COPY_OUT, p.m, p.n, dtype);
    if (!copy)
        return false;
    const dt__array dense_out = {copy, dtype, 2, shape, dense};
    if (bias)
        add_bias_first(self->products, self->stored, bias, &dense_out, &p);
    else if (!is_zero(dtype, p.beta))
        dt__convert(products->kernels, products->pool, &dense_out, &out);
    p.c = (dt__matrix){copy, p.n, 1};
    if (!sum_blocks(self, &p, NULL))
        return false;
    dt__convert(products->kernels, products->pool, &out, &dense_out);
    return true;
}

static bool run_blocks(block_product *self, const char *bias) {
    const dt__matrix_product *whole = &self->whole;
    const int64_t size = (int64_t)dt_dtype_size(self->stored);
    for (int64_t i = 0; i < whole->m; i += self->m)
        for (int64_t j = 0; j < whole->n; j += self->n) {
            dt__matrix_product part = *whole;
            part.m = dt__min_i64(self->m, whole->m - i);
            part.n = dt__min_i64(self->n, whole->n - j);
            part.a = matrix_at(whole->a, self->stored, i, 0);
            part.b = matrix_at(whole->b, self->stored, 0, j);
            part.c = matrix_at(whole->c, self->stored, i, j);
            if (!run_block(self, part, bias ? bias + j * size : NULL))
                return false;
        }
    return true;
}

void dt__stored_product_finish(const dt__products *products, const dt__stored_product *product, int64_t row,
                               int64_t column, int64_t n, void *sums, void *old) {
    const dt__matrix_product *p = &product->p;
    const dt_dtype stored = product->stored, dtype = compute_dtype[stored];
    const int64_t one = 1, size = (int64_t)dt_dtype_size(stored);
    const dt__array out = {matrix_at(p->c, stored, row, column).at, stored, 1, &n, &p->c.column},
                    bias = {(void *)(uintptr_t)(product->bias ? product->bias + column * size : NULL), stored, 1, &n,
                            &one},
                    numbers = {sums, dtype, 1, &n, &one};
    const bool adds = product->bias || p->beta.f.re != 0;
    const double alpha = p->alpha.f.re, beta = product->bias ? 1 : p->beta.f.re;
    if (adds)
        dt__convert(products->kernels, NULL, &(dt__array){old, dtype, 1, &n, &one}, product->bias ? &bias : &out);
    for (int64_t i = 0; i < n && (adds || alpha != 1) && dtype == DT_F32; i++)
        ((float *)sums)[i] = (float)alpha * ((float *)sums)[i] + (adds ? (float)beta * ((float *)old)[i] : 0);
    for (int64_t i = 0; i < n && (adds || alpha != 1) && dtype == DT_F64; i++)
        ((double *)sums)[i] = alpha * ((double *)sums)[i] + (adds ? beta * ((double *)old)[i] : 0);
    if (p->c.column == 1 || n == 1)
        products->kernels->loops->convert[dtype][stored](n, out.data, sums);
    else
        dt__convert(products->kernels, NULL, &out, &numbers);
}

/* False when out of memory. */
static bool run_product(dt__products *products, dt_dtype stored, dt__matrix_product p, const char *bias) {
    const dt__stored_product product = {stored, p, bias};
    bool done = false;
    if (dt__thin_product_run(products, &product, &done) || dt__bf16_product_run(products, &product, &done))
        return done;
    const bool computes = stored == compute_dtype[stored], plain = computes && is_plain(p.c, p.m, p.n);
    if (computes && !plain && is_transposed(p.c, p.m, p.n)) {
        const int64_t shape[] = {p.m, p.n}, strides[] = {p.c.row, p.c.column};
        if (bias)
            add_bias_first(products, stored, bias, &(dt__array){p.c.at, stored, 2, shape, strides}, &p);
        return run_product(products, stored, dt__matrix_product_flip(&p), NULL);
    }
    block_product self = {.products = products,
                          .stored = stored,
                          .whole = p,
                          .a_in_place = is_read_in_place(stored, p.a, p.m, p.k),
                          .b_in_place = is_read_in_place(stored, p.b, p.k, p.n),
                          .c_in_place = plain};
    choose_blocks(&self);
    done = run_blocks(&self, bias);
    free_copies(products, &self.copies);
    return done;
}

/* Many products of the same shape that need no copies: each is one thread's work. */
typedef struct batch {
    const dt__kernels *kernels;
    const dt__blas *blas;
    dt_dtype dtype;
    dt__matrix_product first;
    const char *bias;
    const dt__walk *walk;
    int64_t n, n_per_piece;
} batch;

static void run_batch_piece(void *arg, int64_t piece) {
    const batch *b = arg;
    const int64_t begin = piece * b->n_per_piece, end = dt__min_i64(begin + b->n_per_piece, b->n);
    int64_t position[DT__WALK_DIMS];
    char *at[3] = {b->walk->at[0], b->walk->at[1], b->walk->at[2]};
    dt__matrix_product p = b->first;
    dt__walk_seek(b->walk, 0, begin, position, at);
    for (int64_t i = begin; i < end; i++, dt__walk_next(b->walk, 0, position, at)) {
        p.c.at = at[0];
        p.a.at = at[1];
        p.b.at = at[2];
        multiply(b->kernels, b->blas, b->dtype, &p, b->bias);
    }
}

static dt__array leading_dims(const dt__array *x) {
    return (dt__array){x->data, x->dtype, x->n_dims - 2, x->shape, x->strides};
}

static dt__matrix last_dims(const dt__array *x) {
    return (dt__matrix){x->data, x->strides[x->n_dims - 2], x->strides[x->n_dims - 1]};
}

/* Joins leading dims to the rows of the product where a and out allow it and b has stride 0. */
static void join_rows(dt__walk *walk, dt__matrix_product *p, dt_dtype dtype) {
    const int64_t size = (int64_t)dt_dtype_size(dtype);
    if (p->m == 1 && walk->n_dims > 0) { /* the stride of a single row is arbitrary */
        p->a.row = walk->dims[0].strides[1] / size;
        p->c.row = walk->dims[0].strides[0] / size;
    }
    while (walk->n_dims > 0 && walk->dims[0].strides[2] == 0 && walk->dims[0].strides[1] == p->m * p->a.row * size &&
           walk->dims[0].strides[0] == p->m * p->c.row * size) {
        p->m *= walk->dims[0].size;
        walk->n_dims--;
        for (int d = 0; d < walk->n_dims; d++)
            walk->dims[d] = walk->dims[d + 1];
    }
    p->c.at = walk->at[0];
    p->a.at = walk->at[1];
    p->b.at = walk->at[2];
}

/* Whether every product of the batch can be computed in place. */
static bool needs_no_copies(dt_dtype stored, const dt__matrix_product *p) {
    return compute_dtype[stored] == stored && is_plain(p->c, p->m, p->n) && p->m <= MAX_SIZE && p->n <= MAX_SIZE &&
           (is_plain(p->a, p->m, p->k) || is_transposed(p->a, p->m, p->k)) &&
           (is_plain(p->b, p->k, p->n) || is_transposed(p->b, p->k, p->n));
}

static bool is_tiny(const dt__matrix_product *p) {
    return p->m <= TINY && p->n <= TINY && p->k <= TINY && p->m * p->n <= TINY && p->m * p->n * p->k <= TINY;
}

static bool run_batch(dt__products *products, dt_dtype stored, const dt__matrix_product *p, const char *bias,
                      dt__walk *walk) {
    const int64_t n = dt__walk_positions(walk, 0);
    const double work = (double)p->m * (double)p->n * (double)p->k;
    if (needs_no_copies(stored, p) && (is_tiny(p) || (n > 1 && work < LARGE * 4.0))) {
        batch b = {products->kernels, NULL, stored, *p, bias, walk, n, 0};
        b.blas = is_tiny(p) ? NULL : blas_of(products);
        b.n_per_piece = (int64_t)((LARGE + work) / (work + 1));
        dt__pool_run(products->pool, dt__ceil_div(n, b.n_per_piece), run_batch_piece, &b);
        return true;
    }
    int64_t position[DT__WALK_DIMS] = {0};
    char *at[3] = {walk->at[0], walk->at[1], walk->at[2]};
    do {
        dt__matrix_product one = *p;
        one.c.at = at[0];
        one.a.at = at[1];
        one.b.at = at[2];
        if (!run_product(products, stored, one, bias))
            return false;
    } while (dt__walk_next(walk, 0, position, at));
    return true;
}

/* The shortest path, for one tiny product; at most b is packed. False if this does not apply. */
static bool run_tiny(dt__products *products, dt_dtype dtype, const dt__matrix_product *p, const char *bias) {
    _Alignas(64) char packed[TINY * 16];
    const int64_t size = (int64_t)dt_dtype_size(dtype);
    dt__small_product s = {p->m,     p->n,        p->k,     p->a.at,  p->b.at,  p->c.at,
                           p->a.row, p->a.column, p->b.row, p->c.row, p->alpha, p->beta};
    if (compute_dtype[dtype] != dtype || !is_tiny(p) || p->c.column != 1)
        return false;
    if (p->b.column != 1) {
        if (p->m == 0 || p->n * p->k > TINY)
            return false;
        const dt__patch b = {p->b.at, (size_t)size, p->n, p->k, p->b.column * size, p->b.row * size};
        dt__gather(&b, packed);
        s.b = packed;
        s.b_row = p->n;
    }
    if (bias) {
        fill_with_bias(dtype, p, bias);
        s.beta = number_of(dtype, 1);
    }
    products->kernels->loops->small_products[dtype](&s);
    return true;
}

bool dt__matmul_run(dt__products *products, const dt__matmul *args) {
    const dt__array *a = args->a, *b = args->b, *out = args->out;
    dt__matrix_product p = {.m = a->shape[a->n_dims - 2],
                            .n = b->shape[b->n_dims - 1],
                            .k = a->shape[a->n_dims - 1],
                            .a = last_dims(a),
                            .b = last_dims(b),
                            .c = last_dims(out),
                            .alpha = args->alpha,
                            .beta = args->beta};
    if (out->n_dims == 2 && run_tiny(products, a->dtype, &p, args->bias))
        return true;
    const dt__array outs = leading_dims(out), as = leading_dims(a), bs = leading_dims(b);
    dt__walk walk;
    if (!dt__walk_make(3, (const dt__array *const[]){&outs, &as, &bs}, &walk) || p.m == 0 || p.n == 0)
        return true;
    join_rows(&walk, &p, a->dtype);
    return run_batch(products, a->dtype, &p, args->bias, &walk);
}

bool dt__matrix_is_readable(dt__matrix x, int64_t rows, int64_t columns) {
    return is_plain(x, rows, columns) || is_transposed(x, rows, columns);
}

void dt__matrix_product_run(const dt__products *products, dt_dtype dtype, const dt__matrix_product *product) {
    multiply(products->kernels, products->has_blas && !is_tiny(product) ? &products->blas : NULL, dtype, product,
             NULL);
}

void dt__products_open(dt__products *products) { (void)blas_of(products); }
const dt__kernels *dt__products_kernels(const dt__products *products) { return products->kernels; }
dt__pool *dt__products_pool(const dt__products *products) { return products->pool; }
dt_ctx *dt__products_ctx(const dt__products *products) { return products->ctx; }
struct dt__prepared_convolutions **dt__products_convolutions(dt__products *products) {
    return &products->convolutions;
}
