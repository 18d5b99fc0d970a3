/* SPDX-License-Identifier: Apache-2.0
 *
 * Items of a list that run as loops on their memory have the same bits as single calls, next to items that cannot:
 * views, tensors that overlap, several dtypes, empty and large shards.
 */
#include "dispatch/calls.h"

#include "base/ctx.h"

enum { PARAMETER, GRADIENT, MEAN, SQUARE, N_MEMBERS };
enum { PER_KIND = 3, STEPS = 3 };

/* A tensor of an item: where it is, and its values. */
typedef struct place {
    dt_ctx *ctx;
    dt_mesh *mesh; /* NULL: plain */
    const char *text;
    int seed;
} place;

static dt_tensor *tensor_on(const place *at, dt_dtype dtype, dt_shape shape) {
    dt_tensor *plain = calls_counting(at->ctx, dtype, shape, 0.25 + 0.5 * at->seed, 0.125);
    return at->mesh ? dt_distribute_tensor(plain, at->mesh, at->text, .everywhere = true) : plain;
}

typedef void fill_fn(const place *at, dt_tensor **item);

static void fill(const place *at, dt_dtype dtype, dt_dtype state, dt_shape shape, dt_tensor **item) {
    for (int m = 0; m < N_MEMBERS; m++) {
        place of = *at;
        of.seed += m;
        item[m] = tensor_on(&of, m < MEAN ? dtype : state, shape);
    }
}
static void dense(const place *at, dt_tensor **item) { fill(at, DT_F32, DT_F32, DT_SHAPE(4, 5), item); }
static void of_f64(const place *at, dt_tensor **item) { fill(at, DT_F64, DT_F64, DT_SHAPE(4, 5), item); }
static void of_bf16(const place *at, dt_tensor **item) { fill(at, DT_BF16, DT_F32, DT_SHAPE(4, 5), item); }
static void empty(const place *at, dt_tensor **item) { fill(at, DT_F32, DT_F32, DT_SHAPE(0, 5), item); }
static void column(const place *at, dt_tensor **item) { fill(at, DT_F32, DT_F32, DT_SHAPE(7, 1), item); }
static void large(const place *at, dt_tensor **item) { fill(at, DT_F32, DT_F32, DT_SHAPE(131, 3, 127), item); }
static void with_bf16_gradient(const place *at, dt_tensor **item) {
    dense(at, item);
    item[GRADIENT] = tensor_on(at, DT_BF16, DT_SHAPE(4, 5));
}
static void transposed(const place *at, dt_tensor **item) {
    dense(at, item);
    item[PARAMETER] = dt_transpose(tensor_on(at, DT_F32, DT_SHAPE(5, 4)), 0, 1);
}
static void with_columns(const place *at, dt_tensor **item) {
    dense(at, item);
    item[MEAN] = dt_narrow(tensor_on(at, DT_F32, DT_SHAPE(4, 8)), 1, 2, 5);
}
static void one_column(const place *at, dt_tensor **item) {
    column(at, item);
    item[SQUARE] = dt_narrow(tensor_on(at, DT_F32, DT_SHAPE(7, 3)), 1, 1, 1);
}
static void expanded(const place *at, dt_tensor **item) {
    dense(at, item);
    item[GRADIENT] = dt_expand(tensor_on(at, DT_F32, DT_SHAPE(1, 5)), DT_SHAPE(4, 5));
}
static void aliased(const place *at, dt_tensor **item) {
    dense(at, item);
    item[GRADIENT] = item[PARAMETER];
}
static void overlapping(const place *at, dt_tensor **item) {
    dense(at, item);
    dt_tensor *both = tensor_on(at, DT_F32, DT_SHAPE(5, 5));
    item[PARAMETER] = dt_narrow(both, 0, 1, 4);
    item[GRADIENT] = dt_narrow(both, 0, 0, 4);
}

/* Views are of replicated tensors, in which nothing has to move. */
static const struct {
    const char *name;
    fill_fn *fill;
    bool is_view;
} kinds[] = {
    {"dense", dense, false},          {"transposed", transposed, true},
    {"dense again", dense, false},    {"columns", with_columns, true},
    {"expanded", expanded, true},     {"overlapping", overlapping, true},
    {"aliased", aliased, true},       {"f64", of_f64, false},
    {"bf16", of_bf16, false},         {"bf16 gradient", with_bf16_gradient, false},
    {"empty", empty, false},          {"a column", column, false},
    {"one column", one_column, true}, {"large", large, false},
    {"dense at last", dense, false},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, N = N_KINDS * PER_KIND };

static int compare(dt_ctx *ctx, int i, dt_tensor *const *list, dt_tensor *const *single) {
    for (int m = 0; m < N_MEMBERS; m++) {
        const dt_tensor *a = list[m]->spec ? dt_to_local(list[m]) : list[m],
                        *b = single[m]->spec ? dt_to_local(single[m]) : single[m];
        CHECK(a && b && tensors_equal(a, b), "%s, item %d, tensor %d: values differ", kinds[i / PER_KIND].name, i, m);
        CHECK(list[m]->storage->version == single[m]->storage->version, "%s, tensor %d: version %lld, alone %lld",
              kinds[i / PER_KIND].name, m, (long long)list[m]->storage->version,
              (long long)single[m]->storage->version);
    }
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    return 0;
}

static int lists_and_single_calls(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = arg ? dt_mesh_new(ctx, "x=*") : NULL;
    dt_tensor *items[2][N][N_MEMBERS], *lists[N_MEMBERS][N];
    for (int i = 0; i < N; i++)
        for (int copy = 0; copy < 2; copy++) {
            const place at = {ctx, mesh, kinds[i / PER_KIND].is_view ? "R" : "S(0)", i};
            kinds[i / PER_KIND].fill(&at, items[copy][i]);
        }
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    for (int i = 0; i < N; i++)
        for (int m = 0; m < N_MEMBERS; m++)
            lists[m][i] = items[0][i][m];
    for (int s = 1; s <= STEPS; s++) {
        const dt_tensors all[] = {{N, lists[0]}, {N, lists[1]}, {N, lists[2]}, {N, lists[3]}};
        CHECK_OK(ctx, dt_fused_adamw_(all[0], all[1], all[2], all[3], 0.1, s, .weight_decay = DT_REAL(0.1)));
        CHECK_OK(ctx, dt_fused_sgd_momentum_(all[0], all[1], all[2], 0.1, .momentum = DT_REAL(0.5)));
        for (int i = 0; i < N; i++) {
            dt_tensor **one = items[1][i];
            dt_adamw_(one[0], one[1], one[2], one[3], 0.1, s, .weight_decay = DT_REAL(0.1));
            dt_sgd_momentum_(one[0], one[1], one[2], 0.1, .momentum = DT_REAL(0.5));
        }
        for (int i = 0; i < N; i++)
            if (compare(ctx, i, items[0][i], items[1][i]))
                return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void loops__have_the_bits_of_single_calls(void **state) {
    (void)state;
    bool is_placed = true;
    run_ranks(1, lists_and_single_calls, NULL);
    run_ranks(3, lists_and_single_calls, &is_placed);
    run_ranks(5, lists_and_single_calls, &is_placed);
}

/* A later item is refused before the loop has run for the items before it. */
static void loops__run_after_all_items_are_checked(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt_tensor *p[5], *g[5];
    for (int i = 0; i < 5; i++) {
        p[i] = dt_ones(ctx, DT_SHAPE(3));
        g[i] = dt_ones(ctx, DT_SHAPE(3));
    }
    p[3] = dt_expand(dt_ones(ctx, DT_SHAPE(1)), DT_SHAPE(3));
    const dt_tensors ps[] = {{3, p}, {5, p}}, gs[] = {{3, g}, {5, g}};
    for (int cached = 0; cached < 2; cached++) {
        assert_true(dt_fused_sgd_(ps[1], gs[1], 0.5) < 0);
        assert_error_contains(ctx, DT_ERR_STATE, "item 4: f32[3]; f32[3]: cannot write");
        dt_error_clear(ctx);
        assert_true(dt_fused_sgd_(ps[0], gs[0], -0.5) < 0);
        assert_error_contains(ctx, DT_ERR_VALUE, "item 1: f32[3]; f32[3]: lr: expected a number >= 0, got -0.5");
        dt_error_clear(ctx);
        assert_true(calls_element(p[0], 0) == (cached ? 0.5 : 1));
        assert_int_equal(dt_fused_sgd_(ps[0], gs[0], 0.5), DT_OK);
    }
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops__have_the_bits_of_single_calls),
        cmocka_unit_test(loops__run_after_all_items_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
