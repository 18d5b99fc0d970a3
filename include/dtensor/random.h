/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers that do not depend on the layout.
 *
 * A generator is two integers: a seed, and the number of draws made so far. One draw fills one tensor, of any size.
 * The value of an element is a function of (seed, draw, row-major index of the element in the whole tensor) and of
 * nothing else: any mesh, any placement and any number of ranks give the bits that one rank gives, without
 * communication. Ranks of one tensor must hold equal generators; dt_generator_tag makes it visible when they do not.
 *
 * The bits, which stay the same from version to version: Philox-4x32-10 with key {seed low, seed high} and counter
 * {block low, block high, draw low, draw high | attempt << 16} gives the four words w0 … w3 of a block.
 *
 *     32-bit draws   element i takes word i % 64 / 16 of block i / 64 * 16 + i % 16
 *     64-bit draws   element i takes w0 | w1 << 32 (i % 32 < 16) or w2 | w3 << 32 of block i / 32 * 16 + i % 16
 *
 * f32, f16 and bf16 are 32-bit draws, f64 a 64-bit draw; f16 and bf16 are rounded f32. With w the word of w_bits bits:
 *
 *     uniform [a,b)     a + (b - a) u, u the top 24 (f64: 53) bits of w as a fraction, at most the value below b
 *     exponential       -log(v) (1 / rate), v = (w / 2 + 1/2) / 2^31 (f64: (w / 2^11 + 1/2) / 2^53), each step rounded
 *     normal            words w0, w1 of a pair give sqrt(-2 log v(w0)) times cos (even word) and sin (odd word) of
 *                       2 pi w1 / 2^w_bits; the same for w2, w3; f64 pairs the two numbers of a block
 *     bernoulli         32-bit draw for every dtype: w < p 2^32; a dropout mask so with 1 - p, scaled by 1 / (1 - p)
 *     randint [m,n)     64-bit draw for every dtype: m + (w (n - m) >> 64)
 *     truncated normal  block i, computed in f64; what is refused is drawn again with the next attempt
 *     permutation       64-bit draws: for i = n - 1 … 1, entry i changes places with entry w_i (i + 1) >> 64
 *
 * Logarithms, sines and cosines are the library's own (docs/random.md), so that every CPU gives the same bits.
 */
#ifndef DTENSOR_RANDOM_H
#define DTENSOR_RANDOM_H

#include <dtensor/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_generator dt_generator;

/* All that a generator is: what a checkpoint saves. draw stays below 2^48. */
typedef struct dt_generator_state {
    uint64_t seed, draw;
} dt_generator_state;

/* A generator that has drawn nothing yet. NULL with the error recorded. Freed with dt_generator_free, or with the
 * context. Local. */
DT_API dt_generator *dt_generator_new(dt_ctx *ctx, uint64_t seed);
/* The context's own, which is used where no other is given; its seed is 0 until it is set. Belongs to the context:
 * not to be freed. NULL with the error recorded. Local. */
DT_API dt_generator *dt_generator_default(dt_ctx *ctx);
/* A new generator whose seed follows from the parent's seed and the name, not from what the parent has drawn: a stage
 * or a mesh that shall have numbers of its own. NULL with an agreed error where the name is empty. Local. */
DT_API dt_generator *dt_generator_child(const dt_generator *parent, const char *name);
/* One more reference; returns its argument. Local. */
DT_API dt_generator *dt_generator_keep(dt_generator *generator);
/* Drops a reference; NULL is fine. Local. */
DT_API void dt_generator_free(dt_generator *generator);

/* Starts over with another seed. Local. */
DT_API dt_status dt_generator_seed(dt_generator *generator, uint64_t seed);
/* The state, and back to one; zeros for NULL. Restoring a draw number of 2^48 or more is an agreed error. Local. */
DT_API dt_generator_state dt_generator_save(const dt_generator *generator);
DT_API dt_status dt_generator_restore(dt_generator *generator, dt_generator_state state);

/* A hash of the state, to be the tag of a collective (dt_call): ranks whose generators have another seed, or have
 * drawn more or less, then get DT_ERR_MISMATCH instead of numbers that do not belong together. Local. */
DT_API uint64_t dt_generator_tag(const dt_generator *generator);

#ifdef __cplusplus
}
#endif

#endif
