/* SPDX-License-Identifier: Apache-2.0
 *
 * Distributed tensors as text: the first rank returns the text of the full tensor, the others an empty text; of a
 * large tensor only the printed elements move. Ranks 1, 2, 3, 4, 5, 7 on shm.
 */
#include "spec/brute.h"
#include "tensor/tensors.h"

#include "move/move.h"

static int compare_texts(dt_ctx *ctx, void *arg) {
    uint64_t random = *(const uint64_t *)arg;
    int64_t n_summarized = 0;
    for (int i = 0; i < 120; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        brute_case c;
        brute_random_case(&random, (int)dt_world(ctx), &c);
        char place[256];
        for (int m = 0; m < c.n_mesh_dims; m++)
            if (dt_placement_is_partial(c.placements[m]))
                c.placements[m] = dt_placement_partial(test_below(&random, 2) ? DT_SUM : DT_AVG);
        brute_name(&c);
        dt_mesh *mesh = dt_mesh_from_shape(ctx, c.mesh, c.n_mesh_dims, NULL);
        dt_placements_text(c.n_mesh_dims, c.placements, sizeof place, place);
        int64_t n = 1;
        for (int d = 0; d < c.n_dims; d++)
            n *= c.shape[d];
        dt_tensor *plain = dt_reshape(dt_arange(ctx, 0, (double)n, 1), TENSORS_SHAPE(c.n_dims, c.shape));
        dt_tensor *t = dt_distribute_tensor(plain, mesh, place, .everywhere = true);
        int64_t threshold = test_below(&random, 2) ? 1000 : 10;
        char header[512], *got = dt_format(t, .threshold = DT_INT(threshold)),
                          *expected = dt_format(plain, .threshold = DT_INT(threshold));
        CHECK(got && expected, "%s: %s", c.text, dt_error_text(ctx));
        dt_tensor_text(t, sizeof header, header);
        n_summarized += strstr(expected, "...") != NULL;
        if (dt_rank(ctx) > 0) {
            CHECK(strcmp(got, "") == 0, "%s: expected no text on rank %lld, got\n%s", c.text, (long long)dt_rank(ctx),
                  got);
        } else {
            size_t length = strlen(header);
            CHECK(strncmp(got, header, length) == 0 && got[length] == '\n', "%s: expected the header %s, got\n%s",
                  c.text, header, got);
            CHECK(strcmp(got + length + 1, expected) == 0, "%s: expected\n%s\ngot\n%s", c.text, expected, got);
        }
        free(got);
        free(expected);
        dt_mesh_release(mesh);
        dt_scope_end(scope);
    }
    CHECK(n_summarized > 10, "expected more than 10 summarized tensors, got %lld", (long long)n_summarized);
    return 0;
}

static void texts__are_those_of_the_full_tensor(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 4, 5, 7};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        uint64_t seed = test_seed(70 + i);
        run_ranks(worlds[i], compare_texts, &seed);
    }
}

static int print_large_tensor(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "[[1,2],[0,3]]"), *sub = dt_mesh_new(ctx, "[2,3]");
    dt_tensor *t = dt_arange(ctx, 0, 1 << 20, 1, .dtype = DT_I64, .mesh = mesh, .place = "S(0),S(0)");
    int64_t before = dt__redistribute_statistics(ctx).bytes_received;
    char *text = dt_format(t);
    int64_t moved = dt__redistribute_statistics(ctx).bytes_received - before;
    CHECK(moved <= 4 * 6 * 8, "expected at most 192 bytes, got %lld", (long long)moved);
    CHECK(strcmp(text, dt_rank(ctx) != 1 ? ""
                                         : "i64[1048576] S(0),S(0) on mesh([[1,2],[0,3]])\n"
                                           "[      0       1       2 ... 1048573 1048574 1048575]") == 0,
          "rank %lld: %s", (long long)dt_rank(ctx), text);
    free(text);
    /* The local tensor of each rank, partial or not. */
    dt_tensor *partial = dt_from_local(ctx, dt_full(ctx, DT_SHAPE(2, 2), (double)dt_rank(ctx)), sub, "P(sum)");
    text = dt_format(partial, .local = true);
    CHECK(strcmp(text,
                 dt_rank(ctx) < 2 ? ""
                 : dt_rank(ctx) == 2
                     ? "rank 2 holds f32[2,2] from (0,0) of f32[2,2] P(sum) on mesh([2,3])\n[[2. 2.]\n [2. 2.]]"
                     : "rank 3 holds f32[2,2] from (0,0) of f32[2,2] P(sum) on mesh([2,3])\n[[3. 3.]\n [3. 3.]]") ==
              0,
          "rank %lld: %s", (long long)dt_rank(ctx), text);
    free(text);
    text = dt_format(partial);
    CHECK(strcmp(text, dt_rank(ctx) == 2 ? "f32[2,2] P(sum) on mesh([2,3])\n[[5. 5.]\n [5. 5.]]" : "") == 0, "%s",
          text);
    free(text);
    text = dt_format(dt_zeros(ctx, DT_SHAPE(0, 3), .mesh = sub, .place = "S(0)"));
    CHECK(strcmp(text, dt_rank(ctx) == 2 ? "f32[0,3] S(0) on mesh([2,3])\n[]" : "") == 0, "%s", text);
    free(text);
    dt_mesh_release(mesh);
    dt_mesh_release(sub);
    return 0;
}

static void print__moves_only_printed_elements(void **state) {
    (void)state;
    run_ranks(4, print_large_tensor, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts__are_those_of_the_full_tensor),
        cmocka_unit_test(print__moves_only_printed_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
