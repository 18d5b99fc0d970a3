/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention on meshes against one rank: batches, heads, queries and keys sharded, unevenly and with empty shards, with
 * masks and grouped heads, forward and backward, the second call from the cache; what moves, and what is refused.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"
#include "ops/ops.h"
#include "rules/rules.h"

#include <math.h>
#include <string.h>

enum { BATCH = 2, WIDTH = 4 };

typedef struct request {
    const char *mesh, *query, *key; /* placements; values have those of the keys */
    const char *mask;               /* NULL: none; else of a mask [1,queries,keys] */
    int64_t heads, kv_heads, queries, keys;
    dt_dtype dtype;
    bool is_causal;
    const char *result; /* its placements; NULL: any */
    int n_exchanges;    /* -1: any number */
} request;

static dt_tensor *numbers(dt_ctx *ctx, dt_mesh *mesh, dt_dtype dtype, const char *place, int64_t heads, int64_t n) {
    return dt_randn(ctx, DT_SHAPE(BATCH, heads, n, WIDTH), .dtype = dtype, .mesh = mesh, .place = place);
}

static int compare(dt_ctx *ctx, const request *r, const char *name, dt_tensor *expected, dt_tensor *got) {
    CHECK(expected && got, "%s: %s", name, dt_error_text(ctx));
    const double near = r->dtype == DT_BF16 ? 2e-2 : r->dtype == DT_F32 ? 1e-5 : 1e-12;
    dt_tensor *a = dt_contiguous(dt_to(dt_full_tensor(expected), DT_F64));
    dt_tensor *b = dt_contiguous(dt_to(dt_full_tensor(got), DT_F64));
    CHECK(a && b, "%s: %s", name, dt_error_text(ctx));
    const double *x = dt_data(a), *y = dt_data(b);
    for (int64_t i = 0; i < dt_tensor_elements(a); i++)
        CHECK(fabs(x[i] - y[i]) <= near * (1 + fabs(x[i])),
              "%s on mesh(%s), query %s, key %s: %lld: expected %g, got %g", name, r->mesh, r->query, r->key,
              (long long)i, x[i], y[i]);
    return 0;
}

static int run_backward(dt_ctx *ctx, const request *r, dt_mesh *mesh, dt_tensor *query, dt_tensor *key,
                        dt_tensor *value, dt_tensor *mask) {
    const bool gqa = r->heads != r->kv_heads;
    dt_tensor *grad = numbers(ctx, mesh, r->dtype, r->query, r->heads, r->queries);
    dt_tensor *out = numbers(ctx, mesh, r->dtype, r->query, r->heads, r->queries);
    dt_tensor *sums = dt_full(ctx, DT_SHAPE(BATCH, r->heads, r->queries), 3, .mesh = mesh,
                              .dtype = r->dtype == DT_F64 ? DT_F64 : DT_F32);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_attention_backward_result got = dt_attention_backward(grad, query, key, value, out, sums, .attn_mask = mask,
                                                             .is_causal = r->is_causal, .enable_gqa = gqa);
    const int64_t n = dt_comm_stats(ctx, NULL).n;
    dt_comm_stats_end(ctx);
    CHECK(!gqa || r->n_exchanges != 0 || n == 0, "backward of query %s, key %s: expected no exchange, got %lld",
          r->query, r->key, (long long)n);
    dt_attention_backward_result expected = dt_attention_backward(
        dt_full_tensor(grad), dt_full_tensor(query), dt_full_tensor(key), dt_full_tensor(value), dt_full_tensor(out),
        dt_full_tensor(sums), .attn_mask = mask ? dt_full_tensor(mask) : NULL, .is_causal = r->is_causal,
        .enable_gqa = gqa);
    return compare(ctx, r, "grad_query", expected.grad_query, got.grad_query) ||
           compare(ctx, r, "grad_key", expected.grad_key, got.grad_key) ||
           compare(ctx, r, "grad_value", expected.grad_value, got.grad_value);
}

static int compare_with_one_rank(dt_ctx *ctx, void *arg) {
    const request *r = arg;
    const bool gqa = r->heads != r->kv_heads;
    dt_mesh *mesh = dt_mesh_new(ctx, r->mesh);
    CHECK(mesh, "%s", dt_error_text(ctx));
    for (int again = 0; again < 2; again++) {
        dt_tensor *query = numbers(ctx, mesh, r->dtype, r->query, r->heads, r->queries);
        dt_tensor *key = numbers(ctx, mesh, r->dtype, r->key, r->kv_heads, r->keys);
        dt_tensor *value = numbers(ctx, mesh, r->dtype, r->key, r->kv_heads, r->keys);
        dt_tensor *mask = r->mask ? dt_randn(ctx, DT_SHAPE(1, r->queries, r->keys), .dtype = r->dtype, .mesh = mesh,
                                             .place = r->mask)
                                  : NULL;
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *got = dt_scaled_dot_product_attention(query, key, value, .attn_mask = mask,
                                                         .is_causal = r->is_causal, .enable_gqa = gqa);
        CHECK(got, "%s", dt_error_text(ctx));
        const int64_t n = dt_comm_stats(ctx, NULL).n;
        dt_comm_stats_end(ctx);
        CHECK(r->n_exchanges < 0 || n == r->n_exchanges, "query %s, key %s: expected %d exchanges, got %lld",
              r->query, r->key, r->n_exchanges, (long long)n);
        char place[64];
        const dt_spec *spec = dt_tensor_spec(got);
        (void)dt_placements_text(dt_mesh_n_dims(mesh), spec->sharding.placements, sizeof place, place);
        CHECK(!r->result || !strcmp(place, r->result), "expected %s, got %s", r->result, place);
        dt_tensor *expected = dt_scaled_dot_product_attention(
            dt_full_tensor(query), dt_full_tensor(key), dt_full_tensor(value),
            .attn_mask = mask ? dt_full_tensor(mask) : NULL, .is_causal = r->is_causal, .enable_gqa = gqa);
        if (compare(ctx, r, "attention", expected, got) || run_backward(ctx, r, mesh, query, key, value, mask))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void attention__on_meshes_equals_one_rank(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        request request;
    } requests[] = {
        /* MAT-029, forward */
        {2, {"2", "S(0)", "S(0)", NULL, 8, 8, 8, 8, DT_BF16, true, "S(0)", 0}},
        {2, {"2", "S(1)", "S(1)", NULL, 8, 8, 8, 8, DT_BF16, true, "S(1)", 0}},
        {2, {"2", "R", "R", NULL, 8, 8, 8, 8, DT_BF16, true, "R", 0}},
        {3, {"3", "S(1)", "S(1)", NULL, 4, 4, 5, 7, DT_F32, false, "S(1)", 0}},
        {3, {"3", "S(2)", "R", NULL, 2, 2, 7, 5, DT_F32, false, "S(2)", 0}},
        {3, {"3", "S(2)", "R", NULL, 2, 2, 7, 5, DT_F64, true, "S(2)", 0}},
        {2, {"2", "S(2)", "R", NULL, 1, 1, 300, 260, DT_F32, true, "S(2)", 0}},
        /* ATT-001: the sequence of all is sharded; ATT-005: as long as there are ranks */
        {2, {"2", "S(2)", "S(2)", NULL, 2, 2, 64, 64, DT_F32, true, NULL, -1}},
        {3, {"3", "S(2)", "S(2)", NULL, 2, 2, 50, 50, DT_F64, false, NULL, -1}},
        {3, {"3", "S(2)", "S(2)", NULL, 2, 2, 3, 3, DT_F64, true, NULL, -1}},
        {5, {"5", "S(2)", "S(2)", NULL, 2, 2, 5, 5, DT_F32, true, NULL, -1}},
        /* keys meet: a state per query is all that moves */
        {2, {"2", "R", "S(2)", NULL, 1, 1, 3, 400, DT_F32, false, "R", 1}},
        {3, {"3", "R", "S(2)", NULL, 1, 1, 3, 700, DT_F64, true, "R", 1}},
        {3, {"3", "R", "S(2)", "S(2)", 2, 2, 3, 500, DT_F32, false, "R", 1}},
        {5, {"5", "R", "S(2)", NULL, 1, 1, 2, 403, DT_BF16, false, "R", 1}},
        {4, {"2,2", "S(2),R", "R,S(2)", NULL, 1, 1, 8, 600, DT_F32, true, "S(2),R", 1}},
        {4, {"2,2", "R,R", "S(2),S(2)", NULL, 1, 1, 2, 900, DT_F32, false, "R,R", 1}},
        {5, {"5", "S(2)", "S(2)", NULL, 2, 2, 3, 2, DT_F32, false, NULL, -1}},
        /* masks and grouped heads */
        {2, {"2", "S(0)", "S(0)", "S(1)", 2, 2, 5, 6, DT_F32, false, NULL, -1}},
        {3, {"3", "S(1)", "R", "R", 6, 3, 5, 6, DT_F32, false, "S(1)", 0}},
        {5, {"5", "S(1)", "R", NULL, 6, 2, 5, 6, DT_F64, true, "S(1)", 0}},
        /* heads sharded by whole groups: nothing moves, forward and backward; else only the queries do */
        {2, {"2", "S(1)", "S(1)", NULL, 8, 4, 5, 6, DT_F32, true, "S(1)", 0}},
        {2, {"2", "S(1)", "S(1)", "R", 8, 2, 5, 6, DT_F64, false, "S(1)", 0}},
        {2, {"2", "S(1:6,2)", "S(1:3,1)", NULL, 8, 4, 5, 6, DT_F32, false, "S(1:6,2)", 0}},
        {5, {"5", "S(1:2,0,4,0,2)", "S(1:1,0,2,0,1)", NULL, 8, 4, 3, 4, DT_F32, true, "S(1:2,0,4,0,2)", 0}},
        {4, {"2,2", "S(1),S(1)", "S(1),S(1)", NULL, 8, 4, 5, 6, DT_BF16, true, "S(1),S(1)", 0}},
        {4, {"2,2", "S(0),S(1)", "S(0),S(1)", NULL, 4, 2, 5, 6, DT_F32, true, "S(0),S(1)", 0}},
        {4, {"2,2", "S(1),S(2)", "S(1),R", NULL, 4, 2, 5, 6, DT_F32, true, "S(1),S(2)", 0}},
        {3, {"3", "S(1)", "S(1)", NULL, 8, 4, 5, 6, DT_F32, true, NULL, 1}},
        {4, {"2,2", "S(1),S(1)", "S(1),S(1)", NULL, 4, 2, 5, 6, DT_F32, true, NULL, -1}},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        run_ranks(requests[i].n, compare_with_one_rank, (void *)&requests[i].request);
}

static void attention__refuses_what_does_not_fit(void **state) {
    (void)state;
    static const struct {
        const char *call, *text;
    } cases[] = {
        {"scaled_dot_product_attention(f32[2,5,3]; f32[2,4,2]; f32[2,4,2])", "different sizes: 3 and 2"},
        {"scaled_dot_product_attention(f32[2,5,3]; f32[2,4,3]; f32[2,5,3])", "there are 4 keys, but 5 values"},
        {"scaled_dot_product_attention(f32[2,5,3]; f32[3,4,3]; f32[3,4,3])", "leading dims do not broadcast"},
        {"scaled_dot_product_attention(f32[5,3]; f64[4,3]; f32[4,3])", "the dtypes differ: f32 and f64"},
        {"scaled_dot_product_attention(i32[5,3]; i32[4,3]; i32[4,3])", "floating-point"},
        {"scaled_dot_product_attention(f32[3]; f32[4,3]; f32[4,3])", "at least two dims"},
        {"scaled_dot_product_attention(f32[5,3]; f32[4,3]; f32[4,3]; f32[5,3])", "does not broadcast to the scores"},
        {"scaled_dot_product_attention(f32[5,3]; f32[4,3]; f32[4,3]; i64[5,4])", "expected bool, f32 or f32"},
        {"scaled_dot_product_attention(f32[5,3,2]; f32[2,4,2]; f32[2,4,2]; enable_gqa=true)", "which divide those"},
        {"scaled_dot_product_attention(f32[3,2]; f32[4,2]; f32[4,2]; enable_gqa=true)", "a dim of heads"},
    };
    static const int64_t one[] = {1};
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__arena arena = dt__arena_new(ctx);
        dt__placed_call parsed;
        assert_int_not_equal(dt__placed_call_parse(&arena, cases[i].call, 1, one, &parsed), DT_OK);
        assert_error_contains(ctx, dt_error_status(ctx), cases[i].text);
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        dt__arena_free(&arena);
    }
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 3));
    assert_null(dt_scaled_dot_product_attention(x, x, x, .dropout_p = DT_REAL(1.5)));
    assert_error_contains(ctx, DT_ERR_VALUE, "dropout_p: expected a probability from 0 to 1, got 1.5");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

/* Dropout has the same bits on any mesh and placement, forward and backward, and those that the definition has: the
 * softmax of all scores, where dt_dropout sets elements to zero. */
static int drops_weights(dt_ctx *ctx, int64_t n_keys) {
    enum { QUERIES = 7 };
    static const char *const places[][2] = {{"R", "R"},    {"S(0)", "S(0)"}, {"S(1)", "S(1)"}, {"S(2)", "R"},
                                            {"R", "S(2)"}, {"S(2)", "S(2)"}, {"_S(1,2)", "R"}, {"P(sum)", "S(1)"}};
    char text[16];
    snprintf(text, sizeof text, "%d", (int)dt_world(ctx));
    dt_mesh *mesh = dt_mesh_new(ctx, text);
    dt_generator *generator = dt_generator_default(ctx);
    dt_tensor *full[3], *grads[3];
    for (int i = 0; i < 3; i++) {
        full[i] = dt_randn(ctx, DT_SHAPE(BATCH, 3, i ? n_keys : QUERIES, WIDTH), .dtype = DT_F64);
        dt_set_requires_grad(full[i], true);
    }
    const dt_generator_state from = dt_generator_save(generator);
    dt_tensor *scores = dt_mul_scalar(dt_matmul(full[0], dt_transpose(full[1], -2, -1)), 1 / sqrt((double)WIDTH));
    dt_tensor *expected = dt_matmul(dt_dropout(dt_softmax(scores, -1), .p = DT_REAL(0.3)), full[2]);
    const request r = {.mesh = text, .query = "", .key = "", .dtype = DT_F64};
    CHECK_OK(ctx, dt_backward(dt_sum(dt_square(expected))));
    for (int i = 0; i < 3; i++)
        grads[i] = dt_grad(full[i]);
    for (size_t n = 0; n < sizeof places / sizeof *places; n++) {
        dt_tensor *x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = dt_distribute_tensor(dt_detach(full[i]), mesh, places[n][i > 0], .everywhere = true);
            dt_set_requires_grad(x[i], true);
        }
        CHECK_OK(ctx, dt_generator_restore(generator, from));
        dt_tensor *got = dt_scaled_dot_product_attention(x[0], x[1], x[2], .dropout_p = DT_REAL(0.3));
        CHECK(got, "%s", dt_error_text(ctx));
        CHECK(dt_generator_save(generator).draw == from.draw + 1, "%s: one draw on every rank", places[n][0]);
        CHECK_OK(ctx, dt_backward(dt_sum(dt_square(got))));
        if (compare(ctx, &r, "dropout", dt_detach(expected), got))
            return 1;
        for (int i = 0; i < 3; i++)
            if (compare(ctx, &r, "dropout: gradient", grads[i], dt_grad(x[i])))
                return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

/* Keys beyond a block, and fewer than ranks. */
static int drops(dt_ctx *ctx, void *arg) {
    (void)arg;
    return drops_weights(ctx, 530) || drops_weights(ctx, 3);
}

static void attention__drops_weights_by_their_index(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, drops, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention__on_meshes_equals_one_rank),
        cmocka_unit_test(attention__drops_weights_by_their_index),
        cmocka_unit_test(attention__refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
