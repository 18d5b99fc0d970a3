/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of bf16 by instructions for pairs of them (bf16_loops.h). Blocks of both factors are copied so that a tile
 * of the result reads them from beginning to end: pairs of 8 rows of a, and pairs of 32 columns of b, one after
 * another. Columns of the result are divided among threads in pieces that leave their block of b in the second cache.
 * Sums are f32, in an order that depends on k only, and are rounded once.
 */
#include "kernels/bf16_loops.h"
#include "kernels/matrix_product.h"

#include "base/size.h"

#include <string.h>

enum {
    ROWS = DT__BF16_ROWS,
    COLUMNS = DT__BF16_COLUMNS,
    K_BLOCK = 1024,
    M_BLOCK = 2048,
    N_BLOCK = 2048,
    PIECE = 256, /* columns: the block of b has half a megabyte */
    MIN_WORK = 1 << 15,
};

/* A matrix whose rows are summed with those of the other one: [k,width]. */
typedef struct factor {
    const uint16_t *at;
    int64_t k, width; /* strides */
} factor;

typedef struct block_of_product {
    const dt__products *products;
    const dt__stored_product *of;
    const dt__bf16_loops *loops;
    uint32_t *a, *b;
    float *sums;              /* of the block, if k takes several; else of a strip of a piece */
    int64_t i, j, l, m, n, k; /* where it begins, and its sizes */
    bool is_first, is_last;
} block_of_product;

/* An array of a program may have any address. */
static uint16_t load(const uint16_t *from) {
    uint16_t element;
    memcpy(&element, from, sizeof element);
    return element;
}

/* Elements 2 l and 2 l + 1 along k of `width` columns; 0 where k ends. */
static void pack_pairs(const factor *x, int64_t k, int64_t l, int64_t width, int64_t tile, uint32_t *out) {
    const uint16_t *first = x->at + 2 * l * x->k;
    for (int64_t i = 0; i < width; i++)
        out[i] = load(first + i * x->width) | (uint32_t)(2 * l + 1 < k ? load(first + i * x->width + x->k) : 0) << 16;
    memset(out + width, 0, (size_t)(tile - width) * sizeof *out);
}

/* `tile` columns; `width` of them exist. */
static void pack_tile(const dt__bf16_loops *loops, const factor *x, int64_t k, int64_t width, int64_t tile,
                      uint32_t *out) {
    enum { SIDE = 16 }; /* of the blocks that are transposed at once */
    int64_t l = 0;
    if (x->k == 1 && width == tile && tile == ROWS)
        for (; 2 * l + 1 < k; l++)
            for (int64_t i = 0; i < tile; i++)
                memcpy(&out[l * tile + i], x->at + i * x->width + 2 * l, sizeof *out);
    else if (x->k == 1 && width == tile)
        for (; 2 * (l + SIDE) <= k; l += SIDE)
            for (int64_t i = 0; i < tile; i += SIDE)
                loops->transpose(x->at + i * x->width + 2 * l, x->width, out + l * tile + i, tile);
    for (; 2 * l < k; l++) {
        if (x->width != 1 || width < tile) {
            pack_pairs(x, k, l, width, tile, out + l * tile);
            continue;
        }
        const uint16_t *row = x->at + 2 * l * x->k;
        loops->interleave(tile, row, 2 * l + 1 < k ? row + x->k : NULL, out + l * tile);
    }
}

static int64_t n_pairs(int64_t k) { return dt__ceil_div(k, 2); }

static void pack_a(void *arg, int64_t piece) {
    const block_of_product *b = arg;
    const dt__matrix a = b->of->p.a;
    const int64_t i = piece * ROWS;
    const factor x = {(const uint16_t *)(const void *)a.at + (b->i + i) * a.row + b->l * a.column, a.column, a.row};
    pack_tile(b->loops, &x, b->k, dt__min_i64(ROWS, b->m - i), ROWS, b->a + i * n_pairs(b->k));
}

static void pack_b(const block_of_product *b, int64_t begin, int64_t end) {
    const dt__matrix w = b->of->p.b;
    for (int64_t j = begin; j < end; j += COLUMNS) {
        const factor x = {(const uint16_t *)(const void *)w.at + b->l * w.row + (b->j + j) * w.column, w.row,
                          w.column};
        pack_tile(b->loops, &x, b->k, dt__min_i64(COLUMNS, b->n - j), COLUMNS, b->b + j * n_pairs(b->k));
    }
}

static void run_piece(void *arg, int64_t piece) {
    const block_of_product *b = arg;
    const int64_t begin = piece * PIECE, end = dt__min_i64(begin + PIECE, b->n), pairs = n_pairs(b->k);
    const bool alone = b->is_first && b->is_last;
    _Alignas(64) float strip[ROWS * PIECE], old[PIECE];
    pack_b(b, begin, end);
    for (int64_t i = 0; i < b->m; i += ROWS) {
        float *sums = alone ? strip : b->sums + i * N_BLOCK + begin;
        const int64_t row = alone ? PIECE : N_BLOCK, n_rows = dt__min_i64(ROWS, b->m - i);
        for (int64_t j = begin; j < end; j += COLUMNS)
            b->loops->tile(pairs, b->a + i * pairs, b->b + j * pairs, sums + j - begin, row, !b->is_first);
        for (int64_t r = 0; b->is_last && r < n_rows; r++)
            dt__stored_product_finish(b->products, b->of, b->i + i + r, b->j + begin, end - begin, sums + r * row,
                                      old);
    }
}

static void run_block(block_of_product *b) {
    const int64_t k = b->of->p.k;
    for (b->l = 0; b->l < k; b->l += K_BLOCK) {
        b->k = dt__min_i64(K_BLOCK, k - b->l);
        b->is_first = b->l == 0;
        b->is_last = b->l + b->k == k;
        dt__pool *pool = dt__products_pool(b->products);
        dt__pool_run(pool, dt__ceil_div(b->m, ROWS), pack_a, b);
        dt__pool_run(pool, dt__ceil_div(b->n, PIECE), run_piece, b);
    }
}

static int64_t block_side(int64_t size, int64_t block, int64_t tile) {
    return dt__ceil_div(dt__min_i64(size, block), tile) * tile;
}

static bool run(const dt__products *products, const dt__bf16_loops *loops, const dt__stored_product *product) {
    const dt__matrix_product *p = &product->p;
    const int64_t m = block_side(p->m, M_BLOCK, ROWS), n = block_side(p->n, N_BLOCK, COLUMNS),
                  pairs = n_pairs(dt__min_i64(p->k, K_BLOCK));
    const size_t a_bytes = (size_t)(m * pairs) * sizeof(uint32_t), b_bytes = (size_t)(n * pairs) * sizeof(uint32_t),
                 sums_bytes = p->k > K_BLOCK ? (size_t)(m * N_BLOCK) * sizeof(float) : 0;
    const size_t bytes = 64 + a_bytes + b_bytes + sums_bytes;
    char *memory = dt__products_take(products, bytes);
    if (!memory)
        return false;
    char *aligned = memory + -(uintptr_t)memory % 64; /* rows of tiles of b have 128 bytes */
    block_of_product b = {.products = products,
                          .of = product,
                          .loops = loops,
                          .b = (uint32_t *)(void *)aligned,
                          .a = (uint32_t *)(void *)(aligned + b_bytes),
                          .sums = (float *)(void *)(aligned + b_bytes + a_bytes)};
    for (b.i = 0; b.i < p->m; b.i += M_BLOCK)
        for (b.j = 0; b.j < p->n; b.j += N_BLOCK) {
            b.m = dt__min_i64(M_BLOCK, p->m - b.i);
            b.n = dt__min_i64(N_BLOCK, p->n - b.j);
            run_block(&b);
        }
    dt__products_give_back(products, memory, bytes);
    return true;
}

bool dt__bf16_product_run(dt__products *products, const dt__stored_product *product, bool *done) {
    const dt__matrix_product *p = &product->p;
    const dt__bf16_loops *loops =
        product->stored == DT_BF16 ? dt__bf16_loops_of(dt__products_kernels(products)) : NULL;
    if (!loops || p->k == 0 || (double)p->m * (double)p->n * (double)p->k < MIN_WORK)
        return false;
    *done = run(products, loops, product);
    return true;
}
