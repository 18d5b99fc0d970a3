/* SPDX-License-Identifier: Apache-2.0
 *
 * What every test program includes: cmocka with the headers that it needs before it, random numbers, and a memory hook
 * that counts, checks sizes and can be made to fail.
 */
#ifndef DT_TESTS_CHECK_H
#define DT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dtensor/base.h"
#include "support/random.h"

/* The allocator of this memory is passed to dt_init or dt__ctx_new. Allocation number fail_at (from 1) returns NULL;
 * 0: none. */
typedef struct test_memory {
    long n_calls, fail_at; /* n_calls counts allocations and enlargements */
    long n_live;           /* blocks not yet freed */
    size_t live_bytes;
    bool wrong_size; /* a block was freed or resized with a size that was not its own */
} test_memory;

dt_allocator test_memory_allocator(test_memory *memory);

/* Does something with a context and undoes it; returns whether it succeeded. */
typedef bool test_body(dt_ctx *ctx, void *user);

/* Runs the body with a fresh context whose n-th allocation fails, for n = 1, 2, … until it needs fewer than n. Each
 * time that an allocation failed the body must return false, with DT_ERR_MEMORY in the context; in the end it must
 * return true. Nothing may leak. Returns the number of failed allocations. */
long assert_survives_failing_allocations(test_body *body, void *user);

/* With a context of dt_init, and for every step-th allocation. The body may do without an allocation, such as that of
 * a cache. If it failed, the error is cleared, and the body must work in the same context. Returns how often it
 * failed. */
long assert_recovers_from_failing_allocations(test_body *body, void *user, long step);

/* Skips the rest of a test for this reason, which `make test` lists at its end. */
#define test_skip(reason)                                                                                            \
    do {                                                                                                             \
        print_message("skipped: %s\n", reason);                                                                      \
        skip();                                                                                                      \
    } while (0)

/* The error of the context has this status, and its text contains this part; prints the text otherwise. */
void assert_error_contains(const dt_ctx *ctx, dt_status status, const char *part);

/* Begins and ends a locale with decimal commas, the German one, which is compiled for it. */
void test_commas_begin(void);
void test_commas_end(void);

#endif
