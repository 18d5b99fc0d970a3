/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements of reshaped tensors against the definition: every rank holds the same elements, in the same order,
 * before and after.
 */
#include "support/check.h"

#include "rules/rules.h"
#include "spec/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ELEMENTS = 4096 };

typedef struct layout {
    int n_mesh_dims, n_dims;
    int64_t mesh[4], shape[6];
    dt_placement placements[4];
} layout;

static dt_status make_sharding(dt__arena *arena, const layout *of, dt__sharding *out) {
    dt__sharding_desc desc = {of->n_mesh_dims, of->mesh, of->n_dims, of->shape, of->n_mesh_dims, of->placements};
    return dt__sharding_new(arena, &desc, out);
}

/* Row-major indices of the elements that a coordinate holds, in its own row-major order. */
static int64_t elements_of(const dt__sharding *of, const int64_t *coordinate, int64_t *out) {
    dt__shard shards[6];
    int64_t n = 1, at[6] = {0};
    for (int d = 0; d < of->n_dims; d++) {
        dt__shard_at(of, d, coordinate, &shards[d]);
        n *= shards[d].size;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t index = 0;
        for (int d = 0; d < of->n_dims; d++)
            index = index * of->shape[d] + dt__shard_to_global(&shards[d], at[d]);
        out[i] = index;
        for (int d = of->n_dims - 1; d >= 0 && ++at[d] == shards[d].size; d--)
            at[d] = 0;
    }
    return n;
}

static void assert_same_elements(const dt__sharding *a, const dt__sharding *b, const char *label) {
    static int64_t lists[2][MAX_ELEMENTS];
    int64_t n_ranks = 1;
    for (int m = 0; m < a->n_mesh_dims; m++)
        n_ranks *= a->mesh[m];
    for (int64_t rank = 0; rank < n_ranks; rank++) {
        int64_t coordinate[4], remaining = rank;
        for (int m = a->n_mesh_dims - 1; m >= 0; m--) {
            coordinate[m] = remaining % a->mesh[m];
            remaining /= a->mesh[m];
        }
        int64_t n = elements_of(a, coordinate, lists[0]);
        if (n != elements_of(b, coordinate, lists[1]) || memcmp(lists[0], lists[1], (size_t)n * sizeof(int64_t)) != 0)
            fail_msg("%s: rank %" PRId64 " holds other elements after the reshape", label, rank);
    }
}

/* Whether the placements can be kept; if so, compares the elements of every rank. */
static bool reshape_fits(const layout *from, int n_to, const int64_t *to) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    dt__sharding before, after;
    layout target = {.n_mesh_dims = from->n_mesh_dims, .n_dims = n_to};
    char texts[2][200], label[500];
    bool fits = false;
    memcpy(target.mesh, from->mesh, sizeof target.mesh);
    memcpy(target.shape, to, (size_t)n_to * sizeof *to);
    if (make_sharding(&arena, from, &before) == DT_OK) {
        assert_int_equal(dt__reshape_placements(&arena, &before, n_to, to, target.placements, &fits), DT_OK);
        if (fits) {
            dt_placements_text(from->n_mesh_dims, from->placements, sizeof texts[0], texts[0]);
            dt_placements_text(from->n_mesh_dims, target.placements, sizeof texts[1], texts[1]);
            snprintf(label, sizeof label, "%s as %s", texts[0], texts[1]);
            if (make_sharding(&arena, &target, &after) != DT_OK)
                fail_msg("%s: %s", label, dt_error_text(ctx));
            assert_same_elements(&before, &after, label);
        }
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return fits;
}

static dt_placement random_placement(uint64_t *seed, int n_dims) {
    int64_t kind = test_below(seed, 10);
    int dim = (int)test_below(seed, n_dims);
    if (kind == 0)
        return dt_placement_replicate();
    if (kind == 1)
        return dt_placement_partial(DT_SUM);
    return kind < 4 ? dt_placement_strided(dim, 1 + test_below(seed, 4)) : dt_placement_shard(dim);
}

/* Random sizes whose product is n. */
static int random_shape(uint64_t *seed, int64_t n, int64_t *out) {
    int n_dims = 0;
    while (n > 1 && n_dims < 5) {
        int64_t size = n_dims == 4 ? n : 1 + test_below(seed, n < 12 ? n : 12);
        if (n % size)
            continue;
        out[n_dims++] = size;
        n /= size;
    }
    if (n_dims == 0 || n > 1)
        out[n_dims++] = n;
    return n_dims;
}

static void reshape__random_layouts_keep_their_elements(void **state) {
    (void)state;
    static const int64_t sizes[] = {12, 16, 24, 30, 48, 64, 96, 144};
    uint64_t seed = test_seed(11);
    int n_fit = 0;
    for (int round = 0; round < 20000; round++) {
        int64_t n = sizes[test_below(&seed, 8)], to[6];
        layout from = {.n_mesh_dims = 1 + (int)test_below(&seed, 3)};
        from.n_dims = random_shape(&seed, n, from.shape);
        for (int m = 0; m < from.n_mesh_dims; m++) {
            from.mesh[m] = 1 + test_below(&seed, 4);
            from.placements[m] = random_placement(&seed, from.n_dims);
        }
        n_fit += reshape_fits(&from, random_shape(&seed, n, to), to);
    }
    assert_true(n_fit > 4000);
}

/* All that PyTorch reshapes without communication, and more. */
static void reshape__known_cases_fit(void **state) {
    (void)state;
    static const struct {
        int64_t mesh[2], from[4], to[4];
        int n_from, n_to;
        const char *placements;
        bool fits;
    } cases[] = {
        {{2, 2}, {16, 8}, {4, 4, 8}, 2, 3, "S(1),R", true},
        {{2, 2}, {8, 4, 8}, {32, 8}, 3, 2, "R,S(1)", true},
        {{2, 2}, {8, 4, 8}, {32, 8}, 3, 2, "S(0),S(1)", true},
        {{2, 2}, {8, 4, 8}, {32, 8}, 3, 2, "S(1),S(0)", true},
        {{2, 2}, {16}, {2, 8}, 1, 2, "S(0),S(0)", true},
        {{3, 1}, {5, 4}, {20}, 2, 1, "S(0),R", true},       /* uneven: explicit extents */
        {{3, 1}, {20}, {5, 4}, 1, 2, "S(0),R", false},      /* 7, 7 and 6 elements are not rows of 4 */
        {{3, 1}, {5, 4, 7}, {20, 7}, 3, 2, "S(1),R", true}, /* uneven in the last dim of its group: _S(0,5) */
        {{2, 1}, {4, 5}, {2, 10}, 2, 2, "S(1),R", true},
        {{3, 1}, {20}, {4, 5}, 1, 2, "_S(0,4),R", true},  /* and back: S(1) */
        {{3, 1}, {20}, {4, 5}, 1, 2, "_S(0,3),R", false}, /* chunks of 7 */
        {{2, 1}, {4, 5, 2}, {40}, 3, 1, "S(1),R", false}, /* 3 and 2 pairs of each 5: no equal split of 10 */
        {{6, 1}, {1, 2, 4}, {1, 2, 4}, 3, 3, "S(0),R", true},
        {{6, 1}, {1, 2, 4}, {1, 8}, 3, 2, "S(0),R", true},
        {{6, 1}, {1, 8}, {8}, 2, 1, "S(0),R", false},
        {{3, 2}, {0, 4}, {0, 4}, 2, 2, "S(1),S(0)", true},
        {{3, 2}, {0, 4}, {0, 2, 2}, 2, 3, "S(0),R", true},
        {{3, 2}, {4, 0}, {2, 2, 0}, 2, 3, "S(0),R", false},
        {{2, 1}, {6, 4}, {4, 6}, 2, 2, "S(0),R", true},
        {{3, 1}, {6, 4}, {4, 6}, 2, 2, "S(0),R", false},
        {{2, 2},
         {2, 12},
         {24},
         2,
         1,
         "_S(1,3),S(1)",
         false}, /* the second split begins inside a chunk of the first */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        int n = 0;
        dt_placement *placements = dt_placements_parse(ctx, cases[i].placements, &n);
        layout from = {.n_mesh_dims = 2, .n_dims = cases[i].n_from};
        memcpy(from.mesh, cases[i].mesh, sizeof cases[i].mesh);
        memcpy(from.shape, cases[i].from, sizeof cases[i].from);
        memcpy(from.placements, placements, 2 * sizeof *placements);
        if (reshape_fits(&from, cases[i].n_to, cases[i].to) != cases[i].fits)
            fail_msg("case %zu: %s", i,
                     cases[i].fits ? "expected placements, got none" : "expected no placements, got some");
        dt_placements_free(ctx, placements);
        dt__ctx_free(ctx);
    }
}

static void reshape__groups_are_the_published_ones(void **state) {
    (void)state;
    static const struct {
        const char *id;
        int n_from, n_to;
        int64_t from[9], to[7];
        int n_groups;
        dt__dim_group groups[4]; /* first dims, numbers of dims */
    } cases[] = {
        {"VIEW-001", 2, 2, {2, 3}, {3, 2}, 1, {{{0, 0}, {2, 2}}}},
        {"VIEW-002", 3, 2, {3, 4, 5}, {12, 5}, 2, {{{0, 0}, {2, 1}}, {{2, 1}, {1, 1}}}},
        {"VIEW-003", 5, 2, {2, 3, 4, 5, 7}, {12, 70}, 1, {{{0, 0}, {5, 2}}}},
        {"VIEW-004", 5, 4, {2, 3, 4, 5, 7}, {3, 8, 7, 5}, 2, {{{0, 0}, {3, 2}}, {{3, 2}, {2, 2}}}},
        {"VIEW-005", 4, 4, {3, 4, 8, 3}, {12, 4, 2, 3}, 3, {{{0, 0}, {2, 1}}, {{2, 1}, {1, 2}}, {{3, 3}, {1, 1}}}},
        {"VIEW-006", 2, 7, {3, 24}, {1, 3, 2, 4, 1, 3, 1}, 2, {{{0, 1}, {1, 1}}, {{1, 2}, {1, 4}}}},
        {"VIEW-007",
         6,
         4,
         {1, 1, 3, 2, 1, 1},
         {6, 1, 1, 1},
         3,
         {{{2, 0}, {2, 1}}, {{4, 1}, {1, 1}}, {{5, 2}, {1, 1}}}},
        {"VIEW-008",
         9,
         4,
         {1, 1, 12, 1, 1, 1, 2, 5, 1},
         {3, 4, 1, 10},
         3,
         {{{2, 0}, {1, 2}}, {{3, 2}, {1, 1}}, {{6, 3}, {2, 1}}}},
        {"VIEW-009", 3, 3, {2, 3, 4}, {2, 3, 4}, 3, {{{0, 0}, {1, 1}}, {{1, 1}, {1, 1}}, {{2, 2}, {1, 1}}}},
        {"VIEW-010", 3, 4, {48, 35, 26}, {24, 4, 35, 13}, 1, {{{0, 0}, {3, 4}}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__dim_group groups[DT_SPEC_MAX_DIMS];
        int n = dt__dim_groups_find(cases[i].n_from, cases[i].from, cases[i].n_to, cases[i].to, groups);
        if (n != cases[i].n_groups || memcmp(groups, cases[i].groups, (size_t)n * sizeof *groups) != 0)
            fail_msg("%s: %d groups, expected %d, or others", cases[i].id, n, cases[i].n_groups);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshape__random_layouts_keep_their_elements),
        cmocka_unit_test(reshape__known_cases_fit),
        cmocka_unit_test(reshape__groups_are_the_published_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
