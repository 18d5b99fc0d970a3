/* SPDX-License-Identifier: Apache-2.0
 *
 * 5: random numbers. A random tensor has the same values on one rank and on many, in any placement: each number
 * follows from the seed, the draw counter and the global index of its element. Ranks make their own shards, and nothing
 * is sent.
 *
 *     $ dtrun -n 3 ./05_random          # any number of ranks prints the same
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

/* The first numbers of a tensor, whatever its placements. */
static void print_some(const char *title, dt_tensor *x) {
    dt_tensor *full = dt_full_tensor(x);
    if (!full || dt_rank(dt_tensor_ctx(x)) != 0)
        return;
    printf("%-12s", title);
    for (int64_t i = 0; i < dt_tensor_elements(full) && i < 8; i++)
        if (dt_tensor_dtype(full) == DT_I64)
            printf(" %lld", (long long)((int64_t *)dt_data(full))[i]);
        else
            printf(" %.3f", (double)((float *)dt_data(full))[i]);
    printf("\n");
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "*"); /* a line of all ranks */

    /* The context has a generator. Its seed is 0 by default, and must be the same on every rank. */
    dt_generator *generator = dt_generator_default(ctx);
    dt_generator_seed(generator, 2024);
    print_some("randn", dt_randn(ctx, DT_SHAPE(5, 7), .mesh = mesh, .place = "S(0)"));
    print_some("rand",
               dt_rand(ctx, DT_SHAPE(5, 7), .low = DT_REAL(-1), .high = DT_REAL(1), .mesh = mesh, .place = "S(1)"));
    print_some("exponential", dt_exponential(ctx, DT_SHAPE(10), .rate = DT_REAL(2), .mesh = mesh, .place = "S(0)"));

    /* With the same seed and other placements, the numbers are the same. A tensor is one draw, however large it is. */
    dt_generator_seed(generator, 2024);
    print_some("again", dt_randn(ctx, DT_SHAPE(5, 7), .mesh = mesh, .place = "R"));
    if (first)
        printf("draws so far: %llu\n", (unsigned long long)dt_generator_save(generator).draw);

    /* Initial weights, and the same in place; a mask for dropout; integers; a permutation. */
    dt_tensor *w = dt_truncated_normal(ctx, DT_SHAPE(4, 6), .std = DT_REAL(0.02), .mesh = mesh, .place = "S(0)");
    print_some("weights", w);
    dt_uniform_(w, .low = DT_REAL(-0.1), .high = DT_REAL(0.1));
    print_some("in place", w);
    print_some("mask", dt_dropout_mask_like(w, 0.5));
    print_some("randint", dt_randint(ctx, 0, 100, DT_SHAPE(12), .mesh = mesh, .place = "S(0)"));
    print_some("permutation", dt_randperm(ctx, 8, .mesh = mesh, .place = "S(0)"));

    /* A component that should have random numbers of its own gets a child generator by name: other draws do not change
     * its numbers. */
    dt_generator *own = dt_generator_child(generator, "data");
    print_some("child", dt_randn(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)", .generator = own));

    /* The state of a generator is two numbers: saved with the weights, they continue the sequence. */
    dt_generator_state state = dt_generator_save(generator);
    print_some("before", dt_rand(ctx, DT_SHAPE(8)));
    dt_generator_restore(generator, state);
    print_some("restored", dt_rand(ctx, DT_SHAPE(8)));

    /* Ranks with different seeds would compute with inconsistent numbers. The next redistribution on the mesh reports
     * it, on every rank. */
    dt_generator_seed(generator, (uint64_t)dt_rank(ctx));
    dt_tensor *bad = dt_rand(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)");
    bool reported = dt_world(ctx) == 1 || !dt_full_tensor(bad);
    dt_error_clear(ctx);
    if (first)
        printf("different seeds: %s\n", reported ? "an error, if there are several ranks" : "not reported");

    dt_mesh_release(mesh);
    return dt_close(ctx);
}
