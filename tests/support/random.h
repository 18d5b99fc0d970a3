/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers for tests, the same on every machine. Every stream starts from test_seed, so that one environment
 * variable, DTENSOR_TEST_SEED, changes the numbers of all tests; `make check-seeds` runs those that use it with other
 * seeds. A state is any number and changes with every draw.
 */
#ifndef DT_TESTS_RANDOM_H
#define DT_TESTS_RANDOM_H

#include <stdint.h>

/* The start of a stream: a hash of DTENSOR_TEST_SEED (1 by default) and the number of the stream in the test.
 * A program that uses it prints the seed when it starts. */
uint64_t test_seed(uint64_t stream);

static inline uint64_t test_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* From 0 to n - 1; n > 0. The bias is below n / 2^64. */
static inline int64_t test_below(uint64_t *state, int64_t n) { return (int64_t)(test_random(state) % (uint64_t)n); }

#endif
