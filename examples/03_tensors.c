/* SPDX-License-Identifier: Apache-2.0
 *
 * 3: tensors. A tensor without a mesh is an ordinary array. With a mesh and placements it is distributed: each rank
 * holds its local tensor, and its value is that of the full tensor.
 *
 *     $ ./03_tensors                    # starts four ranks by itself
 *     $ ./03_tensors 6                  # six
 */
#include <dtensor/dtensor.h>

#include <stdio.h>
#include <stdlib.h>

/* Only one rank prints, so that lines do not mix; dt_print does the same for distributed tensors. */
static void print_title(dt_ctx *ctx, const char *title) {
    if (dt_rank(ctx) == 0) {
        printf("\n%s\n", title);
        fflush(stdout);
    }
}

/* Plain tensors and views of them. Options are named; what is made in a scope is freed at its end. */
static void plain_tensors(dt_ctx *ctx) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *a = dt_reshape(dt_arange(ctx, 0, 12, 1, .dtype = DT_I32), DT_SHAPE(3, 4));
    dt_tensor *column = dt_select(a, 1, 2);
    print_title(ctx, "a plain tensor, after its column 2 was set to -1 through a view");
    dt_copy_(column, dt_full_like(column, -1));
    if (dt_rank(ctx) == 0)
        dt_print(a);
    dt_scope_end(scope);
}

/* One value with different placements. */
static void placements(dt_ctx *ctx, dt_mesh *mesh) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *value = dt_reshape(dt_arange(ctx, 0, 1.5, 0.1), DT_SHAPE(5, 3));

    print_title(ctx, "rows along dp; 5 rows for 2 coordinates are 3 and 2");
    dt_tensor *rows = dt_distribute_tensor(value, mesh, "S(0),R");
    dt_print(rows);

    print_title(ctx, "rows along dp and columns along tp: every rank has its block already");
    dt_tensor *both = dt_redistribute(rows, "S(0),S(1)");
    dt_print(both);

    print_title(ctx, "ranks contribute 1, 2, 3, 4, ...: a partial value, which is reduced when it is read");
    dt_tensor *mine = dt_full(ctx, DT_SHAPE(2), (double)(dt_rank(ctx) + 1));
    dt_tensor *sum = dt_from_local(ctx, mine, mesh, "P(sum),P(sum)");
    dt_print(sum);
    dt_tensor *shards = dt_redistribute(sum, "S(0),R");
    double first = dt_item(dt_select(dt_full_tensor(shards), 0, 0));
    if (dt_rank(ctx) == 0)
        printf("its first number is %g; this rank holds %d of 2\n", first, (int)dt_tensor_local_elements(shards));

    print_title(ctx, "a million numbers: some of those that are printed come from other ranks");
    dt_print(dt_arange(ctx, 0, 1e6, 1, .mesh = mesh, .place = "S(0),S(0)"));
    dt_scope_end(scope);
}

/* A transfer that is started and waited for: the rank can do something else in between. */
static void transfers(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *rows = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "S(0),S(1)");
    dt_transfer *transfer = dt_redistribute_start(rows, "R,R", .dtype = DT_F64);
    dt_tensor *other = dt_eye(ctx, 2, 2);
    dt_tensor *all = dt_transfer_wait(transfer);
    char text[64];
    dt_tensor_text(all, sizeof text, text);
    if (dt_rank(ctx) == 0)
        printf("\nmoved %s while this rank made %d numbers\n", text, (int)dt_tensor_elements(other));
}

/* A NULL operand makes a NULL result: expressions nest, and the first error is kept. */
static void errors(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *t =
        dt_full_tensor(dt_redistribute(dt_zeros(ctx, DT_SHAPE(4), .mesh = mesh, .place = "S(1),R"), "R,R"));
    if (!t && dt_rank(ctx) == 0)
        printf("\n%s\n", dt_error_text(ctx));
    dt_error_clear(ctx);
}

static int run_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=*");
    plain_tensors(ctx);
    placements(ctx, mesh);
    transfers(ctx, mesh);
    errors(ctx, mesh);
    dt_mesh_release(mesh);
    return dt_report(ctx);
}

int main(int argc, char **argv) {
    char *error = NULL;
    if (dt_spawn(argc > 1 ? atoll(argv[1]) : 4, run_rank, NULL, &error) == DT_OK)
        return 0;
    fprintf(stderr, "%s\n", error);
    return 1;
}
