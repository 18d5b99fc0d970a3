/* SPDX-License-Identifier: Apache-2.0
 *
 * The seed of a test program. It is read and printed before main, once: ranks that are forked later inherit it, and
 * ranks that are threads only read it. Programs that draw nothing do not link this file and print nothing.
 */
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t program_seed;

__attribute__((constructor)) static void read_seed(void) {
    const char *text = getenv("DTENSOR_TEST_SEED");
    char *end = NULL;
    program_seed = text && *text ? strtoull(text, &end, 10) : 1;
    if (end && *end) {
        fprintf(stderr, "DTENSOR_TEST_SEED: expected an integer, got \"%s\"\n", text);
        exit(2);
    }
    fprintf(stderr, "DTENSOR_TEST_SEED=%" PRIu64 "\n", program_seed);
}

uint64_t test_seed(uint64_t stream) {
    uint64_t state = program_seed;
    state = test_random(&state) ^ stream;
    return test_random(&state);
}
