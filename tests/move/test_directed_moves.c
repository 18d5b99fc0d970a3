/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves between two sets of ranks in both directions at once, as between the stages of a pipeline: each side starts
 * them in its own order, and waits in any order. Moves in one direction keep their order, which is checked. Ranks 2, 3,
 * 4, 5, 7; between nodes with DTENSOR_TEST_SPAN and under MPI.
 */
#include "support/random.h"
#include "tensor/tensors.h"

#include "dtensor/redistribute.h"

#include <stdlib.h>

enum { MAX_MOVES = 80 };

/* Two meshes without common ranks; a third of the ranks, at least one, is the first. The last of seven is in neither.
 */
typedef struct sides {
    dt_mesh *mesh[2];
    int own; /* this rank's; 2: neither */
} sides;

static sides sides_new(dt_ctx *ctx) {
    int64_t n = dt_world(ctx), used = n == 7 ? 6 : n, first = (n + 2) / 3, ranks[8], sizes[2] = {first, used - first};
    for (int64_t i = 0; i < used; i++)
        ranks[i] = i;
    int64_t r = dt_rank(ctx);
    return (sides){{dt_mesh_from_ranks(ctx, ranks, &sizes[0], 1, NULL),
                    dt_mesh_from_ranks(ctx, ranks + first, &sizes[1], 1, NULL)},
                   r < first  ? 0
                   : r < used ? 1
                              : 2};
}

static void sides_free(const sides *self) {
    dt_mesh_release(self->mesh[0]);
    dt_mesh_release(self->mesh[1]);
}

/* Move k of a direction: sizes below the number of ranks, and more than is copied. */
static int64_t size_of(int k) { return (const int64_t[]){5, 20000, 1, 300}[k % 4]; }
static double first_of(int side, int k) { return 1000 * side + 7 * k; }

static dt_tensor *source(dt_ctx *ctx, const sides *on, int side, int k) {
    double begin = first_of(side, k);
    return dt_arange(ctx, begin, begin + (double)size_of(k), 1, .dtype = DT_F64, .mesh = on->mesh[side],
                     .place = k % 3 ? "S(0)" : "R");
}

static int check_result(dt_tensor *result, int side, int k) {
    dt_ctx *ctx = dt_tensor_ctx(result);
    dt_tensor *full = dt_full_tensor(result);
    CHECK(full, "%s", dt_error_text(ctx));
    const double *values = dt_data(full);
    for (int64_t i = 0; i < dt_tensor_elements(full); i++)
        CHECK(values[i] == first_of(side, k) + (double)i, "move %d from side %d, element %lld: got %g", k, side,
              (long long)i, values[i]);
    return 0;
}

/* Which side's next move a rank starts: the first side has other preferences than the second. */
static int next_side(uint64_t *random, const int *started, int n) {
    if (started[0] == n || started[1] == n)
        return started[0] == n;
    return (int)test_below(random, 2);
}

/* n moves in each direction; the ranks of a side start them in the same order, and each rank waits in its own. */
static int cross(dt_ctx *ctx, int n, uint64_t seed) {
    sides on = sides_new(ctx);
    uint64_t order = seed + (uint64_t)on.own, waits = seed + 100 + (uint64_t)dt_rank(ctx);
    dt_transfer *moving[2 * MAX_MOVES];
    dt_tensor *results[2 * MAX_MOVES];
    int started[2] = {0, 0}, left[2 * MAX_MOVES];
    while (started[0] + started[1] < 2 * n) {
        int side = next_side(&order, started, n), k = started[side]++;
        moving[2 * k + side] =
            dt_redistribute_start(source(ctx, &on, side, k), k % 2 ? "S(0)" : "R", .mesh = on.mesh[1 - side]);
        CHECK(moving[2 * k + side], "%s", dt_error_text(ctx));
    }
    for (int i = 0; i < 2 * n; i++)
        left[i] = i;
    for (int n_left = 2 * n; n_left; n_left--) {
        int at = (int)test_below(&waits, n_left), i = left[at];
        left[at] = left[n_left - 1];
        results[i] = dt_transfer_wait(moving[i]);
        CHECK(results[i], "move %d from side %d: %s", i / 2, i % 2, dt_error_text(ctx));
    }
    for (int i = 0; i < 2 * n; i++)
        if (check_result(results[i], i % 2, i / 2))
            return 1;
    sides_free(&on);
    return 0;
}

static int cross_often(dt_ctx *ctx, void *arg) {
    uint64_t seed = *(const uint64_t *)arg;
    for (int i = 0; i < 6; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        if (cross(ctx, i == 5 ? MAX_MOVES : 1 + i, seed + (uint64_t)i))
            return 1;
        dt_scope_end(scope);
    }
    return 0;
}

static const int64_t worlds[] = {2, 3, 4, 5, 7};

static void run_on_all_worlds(dt_rank_fn *fn) {
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        uint64_t seed = test_seed(1000 * (i + 1));
        run_ranks(worlds[i], fn, &seed);
    }
}

static void directed__moves_cross_in_any_order(void **state) {
    (void)state;
    run_on_all_worlds(cross_often);
}

static void directed__moves_cross_between_nodes(void **state) {
    (void)state;
    setenv("DTENSOR_TEST_SPAN", "2", 1);
    run_on_all_worlds(cross_often);
    unsetenv("DTENSOR_TEST_SPAN");
}

/* The last side starts two moves in the other order. */
static int swap_one_direction(dt_ctx *ctx, void *arg) {
    (void)arg;
    sides on = sides_new(ctx);
    dt_transfer *moving[2];
    for (int i = 0; i < 2; i++) {
        int k = on.own == 1 ? 1 - i : i;
        moving[i] = dt_redistribute_start(source(ctx, &on, 0, k), "R", .mesh = on.mesh[1]);
    }
    for (int i = 0; i < 2; i++)
        (void)dt_transfer_wait(moving[i]);
    CHECK(on.own == 2 || dt_error_status(ctx) == DT_ERR_MISMATCH, "rank %lld: expected a mismatch, got %s: %s",
          (long long)dt_rank(ctx), dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    sides_free(&on);
    return cross(ctx, 3, 5); /* in channels that are new, since the old ones are broken */
}

static void directed__moves_of_one_direction_keep_their_order(void **state) {
    (void)state;
    run_on_all_worlds(swap_one_direction);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directed__moves_cross_in_any_order),
        cmocka_unit_test(directed__moves_cross_between_nodes),
        cmocka_unit_test(directed__moves_of_one_direction_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
