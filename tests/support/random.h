/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeded numbers for property tests: the same on every machine, so that a failure can be repeated from its seed.
 */
#ifndef DT_TESTS_RANDOM_H
#define DT_TESTS_RANDOM_H

#include <stdint.h>

typedef struct test_random {
    uint64_t seed; /* changes with every draw */
} test_random;

static inline uint64_t test_random_u64(test_random *random) {
    uint64_t x = random->seed += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* From 0 to n - 1; n > 0. The bias is below n / 2^64. */
static inline uint64_t test_random_below(test_random *random, uint64_t n) { return test_random_u64(random) % n; }

#endif
