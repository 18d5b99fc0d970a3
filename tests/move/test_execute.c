/* SPDX-License-Identifier: Apache-2.0
 *
 * Running redistributions: every pair of placements on small meshes, and random ones of every kind, element by
 * element against the definition.
 *
 * ctest: processors=2
 */
#include "move/moves.h"

static const int64_t shapes[][2] = {{12, 6}, {5, 7}, {1, 4}, {3, 2}, {0, 5}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

typedef struct mesh_shape {
    int n_dims;
    int64_t sizes[4];
} mesh_shape;

/* Placements; all pairs of them are tested. */
enum { N_PLACEMENTS = 4 };
static dt_placement placement_at(int64_t i) {
    const dt_placement all[N_PLACEMENTS] = {dt_placement_replicate(), dt_placement_shard(0), dt_placement_shard(1),
                                            dt_placement_partial(DT_SUM)};
    return all[i];
}

/* The case whose placements are the digits of `from` and `to`; false if it has a new partial. */
static bool make_pair(const mesh_shape *mesh, const int64_t *shape, int64_t from, int64_t to, moves_case *out) {
    memset(out, 0, sizeof *out);
    moves_defaults(out);
    out->dtype = DT_F32;
    brute_case *sides[] = {&out->from, &out->to};
    for (int i = 0; i < 2; i++) {
        brute_case *c = sides[i];
        int64_t number = i ? to : from;
        c->n_mesh_dims = mesh->n_dims;
        c->n_dims = 2;
        memcpy(c->mesh, mesh->sizes, sizeof c->mesh);
        memcpy(c->shape, shape, 2 * sizeof *shape);
        for (int m = 0; m < mesh->n_dims; m++, number /= N_PLACEMENTS) {
            c->placements[m] = placement_at(number % N_PLACEMENTS);
            if (dt_placement_is_shard(c->placements[m]))
                c->order[c->placements[m].dim][c->n_order[c->placements[m].dim]++] = m;
        }
        brute_name(c);
    }
    for (int m = 0; m < mesh->n_dims; m++)
        if (moves_is_partial(&out->to, m) && !moves_is_partial(&out->from, m))
            return false;
    moves_name(out);
    return true;
}

static int64_t n_states(const mesh_shape *mesh) {
    int64_t n = 1;
    for (int m = 0; m < mesh->n_dims; m++)
        n *= N_PLACEMENTS;
    return n;
}

static int run_all_pairs(dt_ctx *ctx, void *arg) {
    const mesh_shape *mesh = arg;
    static _Thread_local moves_case test;
    int64_t n = n_states(mesh);
    for (int s = 0; s < N_SHAPES; s++)
        for (int64_t i = 0; i < n * n; i++)
            if (make_pair(mesh, shapes[s], i / n, i % n, &test) && moves_run(ctx, &test))
                return 1;
    return 0;
}

/* RED-001 RED-002 RED-003 RED-005 RED-006 RED-011 RED-016 RED-017 RED-018 RED-020 RED-024 RED-026 */
static void redistribute__has_the_values_of_every_pair(void **state) {
    (void)state;
    static mesh_shape meshes[] = {{1, {1}}, {1, {2}},    {1, {3}},    {1, {4}},
                                  {1, {5}}, {2, {2, 2}}, {2, {2, 3}}, {2, {3, 2}}};
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        run_ranks(meshes[i].sizes[0] * (meshes[i].n_dims > 1 ? meshes[i].sizes[1] : 1), run_all_pairs, &meshes[i]);
}

static int run_random_pairs(dt_ctx *ctx, void *arg) {
    const mesh_shape *mesh = arg;
    static _Thread_local moves_case test;
    uint64_t random = test_seed(5);
    int64_t n = n_states(mesh);
    for (int k = 0; k < 150; k++) {
        int64_t i = test_below(&random, n), j = test_below(&random, n);
        const int64_t *shape = shapes[test_below(&random, N_SHAPES)];
        if (make_pair(mesh, shape, i, j, &test) && moves_run(ctx, &test))
            return 1;
    }
    return 0;
}

static void redistribute__has_the_values_on_meshes_of_more_dims(void **state) {
    (void)state;
    static mesh_shape three = {3, {2, 2, 2}}, four = {4, {2, 2, 2, 2}};
    run_ranks(8, run_random_pairs, &three);
    run_ranks(16, run_random_pairs, &four);
}

struct sample {
    uint64_t stream;
    int n;
    bool large;
};

static int run_sample(dt_ctx *ctx, void *arg) {
    const struct sample *sample = arg;
    static _Thread_local moves_case test;
    uint64_t random = test_seed(sample->stream * 1000 + (uint64_t)dt_world(ctx));
    for (int k = 0; k < sample->n; k++) {
        moves_random(&random, dt_world(ctx), sample->large, &test);
        if (moves_run(ctx, &test))
            return 1;
    }
    return 0;
}

static void redistribute__has_the_values_of_random_moves(void **state) {
    (void)state;
    static const int64_t n_ranks[] = {1, 2, 3, 4, 5, 7, 8};
    for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++)
        run_ranks(n_ranks[i], run_sample, &(struct sample){1, 400, false});
}

static void redistribute__has_the_values_of_large_shards(void **state) {
    (void)state;
    static const int64_t n_ranks[] = {2, 3, 4, 6};
    for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++)
        run_ranks(n_ranks[i], run_sample, &(struct sample){2, 40, true});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redistribute__has_the_values_of_every_pair),
        cmocka_unit_test(redistribute__has_the_values_on_meshes_of_more_dims),
        cmocka_unit_test(redistribute__has_the_values_of_random_moves),
        cmocka_unit_test(redistribute__has_the_values_of_large_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
