/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers that do not depend on the layout.
 *
 * A generator is two integers: a seed, and the number of draws made so far. One draw fills one tensor, of any size.
 * The value of an element is a function of (seed, draw, row-major index of the element in the full tensor) and of
 * nothing else: every mesh, placement and number of ranks produces the bits of one rank, without communication.
 *
 *     dt_tensor *w = dt_randn(ctx, DT_SHAPE(512, 512), .std = DT_REAL(0.02), .mesh = mesh, .place = "S(0),R");
 *     dt_tensor *order = dt_randperm(ctx, 60000, .mesh = mesh, .place = "S(0),R");
 *     dt_uniform_(b, .low = DT_REAL(-0.1), .high = DT_REAL(0.1));
 *
 * The ranks of a tensor must have generators in the same state. Draws on a mesh are remembered, and the next
 * redistribution on that mesh fails on every rank, with DT_ERR_MISMATCH, if the draws differ; dt_generator_tag
 * extends this check to collectives of the program.
 *
 * The bits, which stay the same from version to version: Philox-4x32-10 with key {seed low, seed high} and counter
 * {block low, block high, draw low, draw high | attempt << 16} yields the four words w0 … w3 of a block.
 *
 *     32-bit draws   element i takes word i % 64 / 16 of block i / 64 * 16 + i % 16
 *     64-bit draws   element i takes w0 | w1 << 32 (i % 32 < 16) or w2 | w3 << 32 of block i / 32 * 16 + i % 16
 *
 * f32, f16 and bf16 are 32-bit draws, f64 a 64-bit draw; f16 and bf16 are rounded f32. With w the word of w_bits bits:
 *
 *     uniform [a,b)     a + (b - a) u, u the top 24 (f64: 53) bits of w as a fraction, at most the value below b
 *     exponential       -log(v) (1 / rate), v = (w / 2 + 1/2) / 2^31 (f64: (w / 2^11 + 1/2) / 2^53), each step rounded
 *     normal            words w0, w1 of a pair become sqrt(-2 log v(w0)) times cos (even word) and sin (odd word) of
 *                       2 pi w1 / 2^w_bits; the same for w2, w3; f64 pairs the two numbers of a block
 *     bernoulli         32-bit draw for every dtype: w < t, t the integer part of p 2^32; a dropout mask likewise with
 *                       1 - p, scaled by 1 / (1 - p)
 *     randint [m,n)     64-bit draw for every dtype: m + (w (n - m) >> 64); a word for which the low half of the
 *                       product is below 2^64 mod (n - m) is drawn again with the next attempt. Where a float rounds
 *                       m or n - 1 to a number outside, the first or last number of that float takes its place
 *     truncated normal  block i, computed in f64; a rejected proposal is drawn again with the next attempt
 *     permutation       up to 4096 entries, 64-bit draws: for i = n - 1 … 1, entry i is swapped with entry
 *                       w_i (i + 1) >> 64; beyond, entry i is computed directly (src/random/permutation.c)
 *
 * Logarithms, sines and cosines are the library's own (docs/random.md), so that every CPU computes the same bits.
 */
#ifndef DTENSOR_RANDOM_H
#define DTENSOR_RANDOM_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_generator dt_generator;

/* The complete state of a generator, for checkpoints. draw is below 2^48. */
typedef struct dt_generator_state {
    uint64_t seed, draw;
} dt_generator_state;

/* A generator that has drawn nothing yet. NULL with the error recorded. Freed with dt_generator_release, or with the
 * context. Local. */
DT_API dt_generator *dt_generator_new_site(dt_ctx *ctx, uint64_t seed, DT_CALLER);
/* The default generator of the context, used if a call names no other; its seed is 0 until it is set. Owned by the
 * context: must not be freed. NULL with the error recorded. Local. */
DT_API dt_generator *dt_generator_default_site(dt_ctx *ctx, DT_CALLER);
/* A new generator whose seed is derived from the parent's seed and the name, not from the parent's draws: for a stage
 * or a mesh that needs independent numbers. NULL with an agreed error if the name is empty. Local. */
DT_API dt_generator *dt_generator_child_site(const dt_generator *parent, const char *name, DT_CALLER);
/* The context of the generator; NULL for a NULL generator. Local. */
DT_API dt_ctx *dt_generator_ctx(const dt_generator *generator);
/* One more reference; returns its argument. Local. */
DT_API dt_generator *dt_generator_retain(dt_generator *generator);
/* Drops a reference; NULL is fine. Local. */
DT_API void dt_generator_release_site(dt_generator *generator, DT_CALLER);

/* Restarts the generator with another seed. Local. */
DT_API dt_status dt_generator_seed(dt_generator *generator, uint64_t seed);
/* Returns or restores the state; zeros for NULL. Restoring a draw number of 2^48 or more is an agreed error. Local. */
DT_API dt_generator_state dt_generator_save(const dt_generator *generator);
DT_API dt_status dt_generator_restore_site(dt_generator *generator, dt_generator_state state, DT_CALLER);

/* A hash of the state, for use as the tag of a collective (dt_comm_call): ranks whose generators differ in seed or
 * number of draws then get DT_ERR_MISMATCH instead of inconsistent numbers. Local. */
DT_API uint64_t dt_generator_tag(const dt_generator *generator);

/* Random tensors. */

/* A zeroed field means "not set"; an explicit zero is written DT_REAL(0). Fields that a call does not use are ignored.
 */
typedef struct dt_random_options {
    DT_OPTION(dt_opt_real, mean); /* default 0 */
    DT_OPTION(dt_opt_real, std);  /* default 1 */
    DT_OPTION(dt_opt_real, low);  /* default 0; -2 for a truncated normal */
    DT_OPTION(dt_opt_real, high); /* default 1; 2 for a truncated normal */
    DT_OPTION(dt_opt_real, rate); /* default 1 */
    DT_OPTION(dt_dtype, dtype);   /* default f32; i64 for randint and randperm; for a _like that of the tensor */
    DT_OPTION(dt_mesh *, mesh);
    DT_OPTION(const char *, place);       /* both as in dt_make_options */
    DT_OPTION(dt_generator *, generator); /* default: the context's */
    DT_OPTION(bool, requires_grad);
    DT_OPTION(const char *, use); /* as in dt_make_options; not of a _like */
    const dt_site *site;
} dt_random_options;

/* Each takes one draw of the generator, whatever the size, also on ranks outside the mesh; a call that fails takes
 * none. In a partial tensor the first coordinate holds the numbers and the others the identity of the reduction (of
 * P(avg) all hold the numbers). Local; every rank of the mesh must make the same call.
 *
 * rand              uniform in [low, high)                          floats
 * randn             normal with mean and std                        floats
 * truncated_normal  the same, none outside [low, high]              floats
 * exponential       with rate, that is mean 1 / rate                floats
 * randint           integers from low to high - 1                   floats, integers, bool
 * bernoulli         1 with probability p, otherwise 0               floats, integers, bool
 * dropout_mask      0 with probability p, otherwise 1 / (1 - p)     floats
 * randperm          0 … n - 1 in random order; integers. A rank computes only its own shard */
DT_API dt_tensor *dt_rand_sized(dt_ctx *ctx, dt_shape shape, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_randn_sized(dt_ctx *ctx, dt_shape shape, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_truncated_normal_sized(dt_ctx *ctx, dt_shape shape, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_exponential_sized(dt_ctx *ctx, dt_shape shape, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_randint_sized(dt_ctx *ctx, int64_t low, int64_t high, dt_shape shape,
                                   DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_bernoulli_sized(dt_ctx *ctx, double p, dt_shape shape, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_dropout_mask_sized(dt_ctx *ctx, double p, dt_shape shape, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_randperm_sized(dt_ctx *ctx, int64_t n, DT_OPTIONS(dt_random_options));

/* Random tensors with the shape and placements of another tensor; mesh and place are ignored. Local; every rank of the
 * mesh must make the same call. */
DT_API dt_tensor *dt_rand_like_sized(const dt_tensor *tensor, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_randn_like_sized(const dt_tensor *tensor, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_randint_like_sized(const dt_tensor *tensor, int64_t low, int64_t high,
                                        DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_bernoulli_like_sized(const dt_tensor *tensor, double p, DT_OPTIONS(dt_random_options));
DT_API dt_tensor *dt_dropout_mask_like_sized(const dt_tensor *tensor, double p, DT_OPTIONS(dt_random_options));

/* Fill an existing tensor, which may be a view: the numbers are those of a new tensor of its shape. Only the
 * parameters of the distribution and the generator of the options are used. An agreed error if two indices may refer
 * to the same element (an expanded view). Local; every rank of the mesh must make the same call. */
DT_API dt_status dt_uniform_in_place_sized(dt_tensor *tensor, DT_OPTIONS(dt_random_options));
DT_API dt_status dt_normal_in_place_sized(dt_tensor *tensor, DT_OPTIONS(dt_random_options));
DT_API dt_status dt_truncated_normal_in_place_sized(dt_tensor *tensor, DT_OPTIONS(dt_random_options));
DT_API dt_status dt_exponential_in_place_sized(dt_tensor *tensor, DT_OPTIONS(dt_random_options));
DT_API dt_status dt_randint_in_place_sized(dt_tensor *tensor, int64_t low, int64_t high,
                                           DT_OPTIONS(dt_random_options));
DT_API dt_status dt_bernoulli_in_place_sized(dt_tensor *tensor, double p, DT_OPTIONS(dt_random_options));

#ifndef __cplusplus
/* clang-format off */
#define dt_rand(...)              DT_RAND_(__VA_ARGS__, .site = DT_SITE)
#define dt_randn(...)             DT_RANDN_(__VA_ARGS__, .site = DT_SITE)
#define dt_truncated_normal(...)  DT_TRUNCATED_NORMAL_(__VA_ARGS__, .site = DT_SITE)
#define dt_exponential(...)       DT_EXPONENTIAL_(__VA_ARGS__, .site = DT_SITE)
#define dt_randint(...)           DT_RANDINT_(__VA_ARGS__, .site = DT_SITE)
#define dt_bernoulli(...)         DT_BERNOULLI_(__VA_ARGS__, .site = DT_SITE)
#define dt_dropout_mask(...)      DT_DROPOUT_MASK_(__VA_ARGS__, .site = DT_SITE)
#define dt_randperm(...)          DT_RANDPERM_(__VA_ARGS__, .site = DT_SITE)
#define dt_rand_like(...)         DT_RAND_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define dt_randn_like(...)        DT_RANDN_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define dt_randint_like(...)      DT_RANDINT_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define dt_bernoulli_like(...)    DT_BERNOULLI_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define dt_dropout_mask_like(...) DT_DROPOUT_MASK_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define dt_uniform_(...)          DT_UNIFORM_IN_(__VA_ARGS__, .site = DT_SITE)
#define dt_normal_(...)           DT_NORMAL_IN_(__VA_ARGS__, .site = DT_SITE)
#define dt_truncated_normal_(...) DT_TRUNCATED_NORMAL_IN_(__VA_ARGS__, .site = DT_SITE)
#define dt_exponential_(...)      DT_EXPONENTIAL_IN_(__VA_ARGS__, .site = DT_SITE)
#define dt_randint_(...)          DT_RANDINT_IN_(__VA_ARGS__, .site = DT_SITE)
#define dt_bernoulli_(...)        DT_BERNOULLI_IN_(__VA_ARGS__, .site = DT_SITE)
#define DT_RANDOM_(...)                        DT_CHECKED(dt_random_options, __VA_ARGS__)
#define DT_RAND_(ctx, shape, ...)              dt_rand_sized(ctx, shape, DT_RANDOM_(__VA_ARGS__))
#define DT_RANDN_(ctx, shape, ...)             dt_randn_sized(ctx, shape, DT_RANDOM_(__VA_ARGS__))
#define DT_TRUNCATED_NORMAL_(ctx, shape, ...)  dt_truncated_normal_sized(ctx, shape, DT_RANDOM_(__VA_ARGS__))
#define DT_EXPONENTIAL_(ctx, shape, ...)       dt_exponential_sized(ctx, shape, DT_RANDOM_(__VA_ARGS__))
#define DT_RANDINT_(ctx, low, high, shape, ...)                                                                      \
    dt_randint_sized(ctx, low, high, shape, DT_RANDOM_(__VA_ARGS__))
#define DT_BERNOULLI_(ctx, p, shape, ...)      dt_bernoulli_sized(ctx, p, shape, DT_RANDOM_(__VA_ARGS__))
#define DT_DROPOUT_MASK_(ctx, p, shape, ...)   dt_dropout_mask_sized(ctx, p, shape, DT_RANDOM_(__VA_ARGS__))
#define DT_RANDPERM_(ctx, n, ...)              dt_randperm_sized(ctx, n, DT_RANDOM_(__VA_ARGS__))
#define DT_RAND_LIKE_(tensor, ...)             dt_rand_like_sized(tensor, DT_RANDOM_(__VA_ARGS__))
#define DT_RANDN_LIKE_(tensor, ...)            dt_randn_like_sized(tensor, DT_RANDOM_(__VA_ARGS__))
#define DT_RANDINT_LIKE_(tensor, low, high, ...)                                                                     \
    dt_randint_like_sized(tensor, low, high, DT_RANDOM_(__VA_ARGS__))
#define DT_BERNOULLI_LIKE_(tensor, p, ...)     dt_bernoulli_like_sized(tensor, p, DT_RANDOM_(__VA_ARGS__))
#define DT_DROPOUT_MASK_LIKE_(tensor, p, ...)  dt_dropout_mask_like_sized(tensor, p, DT_RANDOM_(__VA_ARGS__))
#define DT_UNIFORM_IN_(tensor, ...)            dt_uniform_in_place_sized(tensor, DT_RANDOM_(__VA_ARGS__))
#define DT_NORMAL_IN_(tensor, ...)             dt_normal_in_place_sized(tensor, DT_RANDOM_(__VA_ARGS__))
#define DT_TRUNCATED_NORMAL_IN_(tensor, ...)   dt_truncated_normal_in_place_sized(tensor, DT_RANDOM_(__VA_ARGS__))
#define DT_EXPONENTIAL_IN_(tensor, ...)        dt_exponential_in_place_sized(tensor, DT_RANDOM_(__VA_ARGS__))
#define DT_RANDINT_IN_(tensor, low, high, ...)  dt_randint_in_place_sized(tensor, low, high, DT_RANDOM_(__VA_ARGS__))
#define DT_BERNOULLI_IN_(tensor, p, ...)       dt_bernoulli_in_place_sized(tensor, p, DT_RANDOM_(__VA_ARGS__))
/* clang-format on */
#endif

#ifndef __cplusplus
/* clang-format off */
#define dt_generator_new(...) dt_generator_new_site(__VA_ARGS__, DT_SITE)
#define dt_generator_default(...) dt_generator_default_site(__VA_ARGS__, DT_SITE)
#define dt_generator_child(...) dt_generator_child_site(__VA_ARGS__, DT_SITE)
#define dt_generator_release(...) dt_generator_release_site(__VA_ARGS__, DT_SITE)
#define dt_generator_restore(...) dt_generator_restore_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
