/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of gradients on ranks share: elements, collectives that were counted, and the placement and value of a
 * gradient.
 */
#ifndef DT_TESTS_AUTOGRAD_BACKWARD_H
#define DT_TESTS_AUTOGRAD_BACKWARD_H

#include "autograd/records.h"

static inline double at(const dt_tensor *tensor, int64_t i) { return tensor ? calls_element(tensor, i) : -99; }

/* Counts of the collectives since the last one. */
typedef struct counting {
    dt_ctx *ctx;
    dt__redistribute_stats before;
} counting;

static inline counting count_begin(dt_ctx *ctx) { return (counting){ctx, dt__redistribute_statistics(ctx)}; }

#define CHECK_COUNT(counts, expected)                                                                                \
    do {                                                                                                             \
        const char *found_ = calls_collectives((counts)->ctx, &(counts)->before);                                    \
        const char *counted_ = (expected);                                                                           \
        if (dt_world((counts)->ctx) == 1)                                                                            \
            counted_ = "";                                                                                           \
        CHECK(!strcmp(found_, counted_), "expected '%s', got '%s'", counted_, found_);                               \
        *(counts) = count_begin((counts)->ctx);                                                                      \
    } while (0)

static inline bool all_are(dt_tensor *tensor, double value) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0};
    for (int64_t i = 0; i < dt_tensor_local_elements(tensor); i++) {
        if (dt__read_f64(tensor->dtype, tensors_at(tensor, index)) != value)
            return false;
        tensors_next(tensor->local_n_dims, tensor->local_shape, index);
    }
    return tensor != NULL;
}

#define CHECK_GRAD(tensor, place, value)                                                                             \
    do {                                                                                                             \
        CHECK(dt_grad(tensor), "a gradient");                                                                        \
        CHECK(!strcmp(calls_placements(dt_grad(tensor)), place), "expected %s, got %s", place,                       \
              calls_placements(dt_grad(tensor)));                                                                    \
        CHECK(all_are(dt_grad(tensor), value), "expected %g, got %g", (double)(value), at(dt_grad(tensor), 0));      \
    } while (0)

#endif
