/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers for tests: the same on every machine, so that a failure can be repeated from its seed. The state is
 * the seed at first, any number, and changes with every draw.
 */
#ifndef DT_TESTS_RANDOM_H
#define DT_TESTS_RANDOM_H

#include <stdint.h>

static inline uint64_t test_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* From 0 to n - 1; n > 0. The bias is below n / 2^64. */
static inline int64_t test_below(uint64_t *state, int64_t n) { return (int64_t)(test_random(state) % (uint64_t)n); }

#endif
