/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of a file, for training: rows in a random order, or in that of the file, as tensors that are placed on a
 * mesh. Each rank reads the rows of its shard and no others.
 *
 *     dt_save_npy(dt_arange(ctx, 0, 9000, 1, .dtype = DT_I64, .mesh = mesh), "tokens.npy"); // stands for a text
 *     dt_batches *text = dt_batches_open(ctx, "tokens.npy", 32, .mesh = mesh, .place = "dp=S(0)",
 *                                        .length = DT_INT(64), .seed = DT_INT(7));
 *     for (int step = 0; step < 10; step++) {
 *         dt_scope scope = dt_scope_begin(ctx);
 *         dt_tensor *rows = dt_batches_next(text);         // i64[32,65] S(0) along dp
 *         dt_tensor *inputs = dt_at(rows, ":, :-1"), *targets = dt_at(rows, ":, 1:");
 *         dt_scope_end(scope);
 *     }
 *     dt_batches_free(text);
 *
 * A file of tokens is one long sequence. A row is .length + 1 tokens and begins .length tokens after the row before,
 * so that each token but the first is the target of one position: inputs are all tokens of a row but the last, targets
 * all but the first. Tokens that do not fill the last row are not used. Without .length the file is an array, whose
 * rows are the indices of its first dim: two files with the same number of rows, read with the same seed and batch,
 * give the rows that belong together.
 *
 * An epoch has every row once. Epoch e has the order of dt_randperm by a generator in the state {seed, e}; beyond 4096
 * rows each entry is computed on its own, without a table. So a reader continues anywhere, at once, from two integers:
 * the seed, and the position, which counts batches over all epochs. The batches of a position do not depend on mesh,
 * placement or number of ranks.
 */
#ifndef DTENSOR_BATCHES_H
#define DTENSOR_BATCHES_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_batches dt_batches;

typedef struct dt_batches_open_options {
    DT_OPTION(dt_mesh *, mesh);      /* as in dt_make_options */
    DT_OPTION(const char *, place);  /* as in dt_make_options, of a batch: its dim 0 is rows */
    DT_OPTION(const char *, format); /* "npy", or raw little-endian tokens, "u16" or "u32"; default npy */
    DT_OPTION(dt_opt_int, length);   /* of a file of tokens: those of a row, but for the last target */
    DT_OPTION(dt_opt_int, seed);     /* shuffles; default: the order of the file */
    DT_OPTION(bool, drop_last);      /* the rest of an epoch that is smaller than a batch is not used */
    const dt_site *site;
} dt_batches_open_options;

/* Opens a file for batches of this many rows. Raw files need .length. A .npy file of tokens has integers in one dim,
 * u2 and u4 as well; one of an array is row-major and has any dtype, where u2 and u4 become i64. The file stays open
 * and must not change. Path, options and file must be the same on all ranks of the mesh; an error of one rank is the
 * error of all. The reader belongs to the context, and may be freed before. Collective over the mesh; Local without
 * one. */
DT_API dt_batches *dt_batches_open_sized(dt_ctx *ctx, const char *path, int64_t batch,
                                         DT_OPTIONS(dt_batches_open_options));
/* Frees the reader and closes its file; accepts NULL. Local. */
DT_API void dt_batches_free_site(dt_batches *batches, DT_CALLER);

/* Returns the batch at the position and advances the position: tokens i64[rows,length + 1], or rows of the array in its
 * dtype. The last batch of an epoch may be smaller. After an error the position is as before. Ranks that are at
 * different positions get an error that shows both. Collective over the mesh; Local without one. */
DT_API dt_tensor *dt_batches_next_site(dt_batches *batches, DT_CALLER);

/* Returns the position, the number of batches before the next one; and sets it. Epoch and batch of the epoch are the
 * quotient and the remainder by dt_batches_per_epoch. An agreed error for a position below 0 or beyond epoch 2^48.
 * Local; every rank of the mesh goes to the same one. */
DT_API int64_t dt_batches_position(const dt_batches *batches);
DT_API dt_status dt_batches_seek_site(dt_batches *batches, int64_t position, DT_CALLER);

/* The rows of the file, and the batches of an epoch. Local. */
DT_API int64_t dt_batches_n_rows(const dt_batches *batches);
DT_API int64_t dt_batches_per_epoch(const dt_batches *batches);

#ifndef __cplusplus
/* clang-format off */
#define dt_batches_open(...) DT_BATCHES_OPEN_(__VA_ARGS__, .site = DT_SITE)
#define DT_BATCHES_OPEN_(ctx, path, batch, ...) \
    dt_batches_open_sized(ctx, path, batch, DT_CHECKED(dt_batches_open_options, __VA_ARGS__))
#define dt_batches_free(...) dt_batches_free_site(__VA_ARGS__, DT_SITE)
#define dt_batches_next(...) dt_batches_next_site(__VA_ARGS__, DT_SITE)
#define dt_batches_seek(...) dt_batches_seek_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
