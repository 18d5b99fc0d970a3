/* SPDX-License-Identifier: Apache-2.0
 *
 * The expected result of a collective, computed by definition from the inputs of all ranks: a rank's inputs are a
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
    uint64_t tag;
} test_case;

/* Any collective of the group (send and recv are the caller's matter), of blocks up to so many bytes together. */
test_case test_any_case(uint64_t *random, int64_t n_members, int64_t most_bytes);

/* A case under way on this rank. */
typedef struct test_run {
    dt_ctx *ctx;
    dt_group *group;
    test_case collective;
    dt_comm_call call;
    int64_t *counts, *recv_counts;
    unsigned char *src, *dst;    /* start of the guarded blocks */
    unsigned char *want;         /* what dst must hold; made when it is first needed */
    size_t src_bytes, dst_bytes; /* without guards */
    bool heap;
} test_run;

/* Fills memory and the call; 0, or 1 when memory is out, with the error in the context. */
int test_prepare(test_run *run, dt_ctx *ctx, dt_group *group, const test_case *collective);
/* Makes a finished run ready to be run once more: fresh input where the call overwrote it, and a dst that is wrong. */
void test_again(test_run *run);
/* Compares the result, the untouched source and the guards around both. 0 or 1. */
int test_check(test_run *run);
/* After a call that failed: the source and the guards are as they were, whatever happened to dst. 0 or 1. */
int test_spared(const test_run *run);
void test_drop(test_run *run);
/* The same when the context is closed already, and its heap gone. */
void test_drop_closed(test_run *run);
/* Checks and frees. */
int test_finish(test_run *run);
/* Prepares, runs to the end and finishes. */
int test_once(dt_ctx *ctx, dt_group *group, const test_case *collective);

#endif
