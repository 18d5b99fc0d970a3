/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of published behaviors share: tensors that count up, placed without a transfer, the number of
 * collectives, and tables of calls that are compared with the same calls on plain tensors.
 */
#ifndef DT_TESTS_DISPATCH_PUBLISHED_H
#define DT_TESTS_DISPATCH_PUBLISHED_H

#include "tensor/tensors.h"

#include "dtensor/debug.h"

#include <string.h>

static inline dt_tensor *counting(dt_ctx *ctx, dt_shape shape) {
    int64_t n = 1;
    for (int d = 0; d < shape.n; d++)
        n *= shape.sizes[d];
    return dt_reshape(dt_arange(ctx, 0, (double)n, 1), shape);
}

static inline dt_tensor *distributed(dt_tensor *value, dt_mesh *mesh, const char *place) {
    return dt_distribute_tensor(value, mesh, place, .everywhere = true);
}

static inline int64_t n_collectives(const dt_ctx *ctx) { return dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL}).n; }

enum { PUBLISHED_INPUTS = 5 };

/* A tensor of a case: numbers of both signs, or indices below a limit. */
typedef struct published_input {
    int64_t shape[4]; /* ends with a 0 */
    const char *place;
    int64_t limit; /* of indices; 0: numbers */
} published_input;

typedef dt_tensor *published_fn(dt_tensor **in);

typedef struct published {
    const char *id, *mesh;
    published_fn *apply;
    published_input inputs[PUBLISHED_INPUTS];
    const char *expected; /* placements; NULL: any */
    int64_t most;         /* collectives; -1: any number */
} published;

/* Distinct numbers in no order, or indices. */
static inline dt_tensor *published_value(dt_ctx *ctx, const published_input *of) {
    int n = 0;
    while (n < 4 && of->shape[n])
        n++;
    dt_tensor *numbers = counting(ctx, ((dt_shape){n, of->shape}));
    if (of->limit)
        return dt_to(dt_remainder_scalar_other(dt_mul_scalar(numbers, 5), (double)of->limit), DT_I64);
    return dt_sub_scalar(dt_remainder_scalar_other(dt_mul_scalar(numbers, 37), 101), 50);
}

/* With P(max) and P(min) every rank contributes the value, since no tensor is distributed to those. */
static inline dt_tensor *published_placed(dt_ctx *ctx, dt_tensor *value, dt_mesh *mesh, const char *place) {
    char held[64] = {0};
    int n = 0;
    for (const char *at = place; *at && n < 63; n++) {
        const bool is_extreme = strncmp(at, "P(m", 3) == 0;
        held[n] = is_extreme ? 'R' : *at;
        at += is_extreme ? strlen("P(max)") : 1;
    }
    if (strcmp(held, place) == 0)
        return distributed(value, mesh, place);
    dt_shape shape = {dt_tensor_n_dims(value), dt_tensor_shape(value)};
    return dt_from_local(ctx, dt_to_local(distributed(value, mesh, held)), mesh, place, .shape = shape);
}

static inline int published_check_one(dt_ctx *ctx, dt_mesh *mesh, const published *one) {
    dt_tensor *plain[PUBLISHED_INPUTS], *placed[PUBLISHED_INPUTS];
    for (int i = 0; i < PUBLISHED_INPUTS && one->inputs[i].place; i++) {
        plain[i] = published_value(ctx, &one->inputs[i]);
        placed[i] = published_placed(ctx, plain[i], mesh, one->inputs[i].place);
        CHECK(placed[i], "%s: %s", one->id, dt_error_text(ctx));
    }
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *got = one->apply(placed);
    int64_t n = n_collectives(ctx);
    dt_comm_stats_end(ctx);
    CHECK(got, "%s: %s", one->id, dt_error_text(ctx));
    CHECK(one->most < 0 || n <= one->most, "%s: %lld collectives instead of %lld", one->id, (long long)n,
          (long long)one->most);
    char text[64];
    (void)dt_placements_text(dt_mesh_n_dims(mesh), dt_spec_placements(dt_tensor_spec(got)), sizeof text, text);
    CHECK(!one->expected || strcmp(text, one->expected) == 0, "%s: expected %s, got %s", one->id, one->expected,
          text);
    dt_tensor *expected = one->apply(plain), *full = dt_full_tensor(got);
    CHECK(expected && full, "%s: %s", one->id, dt_error_text(ctx));
    dt_tensor *close = dt_allclose(full, expected, .rtol = DT_REAL(1e-5), .atol = DT_REAL(1e-5));
    CHECK(close && *(const bool *)dt_data(close), "%s: the values differ", one->id);
    return 0;
}

/* Checks the cases of a mesh of this shape. */
static inline int published_check(dt_ctx *ctx, size_t n, const published *cases, const char *shape) {
    dt_mesh *mesh = dt_mesh_new(ctx, shape);
    for (size_t i = 0; i < n; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        if (strcmp(cases[i].mesh, shape) == 0 && published_check_one(ctx, mesh, &cases[i]))
            return 1;
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

#endif
