/* SPDX-License-Identifier: Apache-2.0
 *
 * The expected result of a collective, computed by definition from the inputs of all ranks: a rank's inputs are a
 * function of (seed, rank, element), so that each rank can compute its own expected result alone.
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
    uint64_t tag;
} test_case;

/* A random collective of the group (not send or recv), with blocks of up to max_bytes in total. */
test_case test_random_case(uint64_t *random, int64_t n_members, int64_t max_bytes);

/* A case in progress on this rank. */
typedef struct test_run {
    dt_ctx *ctx;
    dt_group *group;
    test_case collective;
    dt_comm_call call;
    int64_t *counts, *recv_counts;
    unsigned char *src, *dst;    /* start of the guarded blocks */
    unsigned char *expected;     /* contents of dst; computed on first use */
    size_t src_bytes, dst_bytes; /* without guards */
    bool heap;
} test_run;

/* Fills memory and the call; 0, or 1 if an allocation failed, with the error in the context. */
int test_prepare(test_run *run, dt_ctx *ctx, dt_group *group, const test_case *collective);
/* Prepares a finished run to be run again: new input where the call overwrote it, and a dst with wrong values. */
void test_reset(test_run *run);
/* Compares the result, the source, which is not changed, and the guards around both. 0 or 1. */
int test_check(test_run *run);
/* After a call that failed: the source and the guards are as they were, whatever happened to dst. 0 or 1. */
int test_source_is_intact(const test_run *run);
void test_drop(test_run *run);
/* Frees a run whose context was closed, and with it the heap. */
void test_drop_closed(test_run *run);
/* Checks and frees. */
int test_finish(test_run *run);
/* Prepares, runs to the end and finishes. */
int test_run_once(dt_ctx *ctx, dt_group *group, const test_case *collective);

#endif
