/* SPDX-License-Identifier: Apache-2.0
 *
 * What a collective must give, computed by definition from what every rank would have put in: a rank's inputs are a
 * function of (seed, rank, element), so that each rank can work out its own expected result alone.
 */
#ifndef DT_TESTS_COLLECTIVES_H
#define DT_TESTS_COLLECTIVES_H

#include "support/ranks.h"

enum test_memory_kind { TEST_HEAP, TEST_OUTSIDE, TEST_MIXED }; /* mixed: some ranks in the heap, some not */

typedef struct test_case {
    dt_collective op;
    dt_dtype dtype;
    dt_reduce reduce;
    int64_t count; /* of one block; with unequal blocks, their largest */
    bool unequal;  /* blocks of different sizes */
    bool in_place;
    int64_t root;
    enum test_memory_kind memory;
    uint64_t seed;
} test_case;

/* A case under way on this rank. */
typedef struct test_run {
    dt_ctx *ctx;
    dt_group *group;
    test_case what;
    dt_call call;
    int64_t *counts, *recv_counts;
    unsigned char *src, *dst;    /* start of the guarded blocks */
    size_t src_bytes, dst_bytes; /* without guards */
    bool heap;
} test_run;

/* Fills memory and the call; 0, or 1 after printing why not. */
int test_prepare(test_run *run, dt_ctx *ctx, dt_group *group, const test_case *what);
/* Compares the result, the untouched source and the guards around both; frees everything. 0 or 1. */
int test_finish(test_run *run);
/* Prepares, runs to the end and finishes. */
int test_once(dt_ctx *ctx, dt_group *group, const test_case *what);

#endif
