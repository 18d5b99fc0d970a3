/* SPDX-License-Identifier: Apache-2.0
 *
 * Published behaviors of gradients: programs on distributed tensors have the gradients that they have on one rank,
 * each in the placement of its tensor; and the placements that programs state for gradients of local tensors.
 */
#include "autograd/backward.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_INPUTS = 3 };
typedef dt_tensor *program_fn(dt_tensor *const *x);

typedef struct test_input {
    int n_dims;
    int64_t shape[4];
    const char *place; /* on one mesh dim; NULL: plain, and without a gradient */
} test_input;

typedef struct test_program {
    const char *name;
    program_fn *run;
    int n_inputs;
    test_input inputs[MAX_INPUTS];
} test_program;

static dt_tensor *weighted(dt_tensor *x) { return dt_sum(dt_mul(x, dt_mul(x, x))); }

static dt_tensor *run_addmm(dt_tensor *const *x) { return weighted(dt_addmm(x[0], x[1], x[2])); }
static dt_tensor *run_softmax_0(dt_tensor *const *x) { return weighted(dt_softmax(x[0], 0)); }
static dt_tensor *run_softmax_1(dt_tensor *const *x) { return weighted(dt_softmax(x[0], 1)); }
static dt_tensor *run_softmax_2(dt_tensor *const *x) { return weighted(dt_softmax(x[0], 2)); }
static dt_tensor *run_layer_norm_1(dt_tensor *const *x) {
    return weighted(dt_layer_norm(x[0], DT_SHAPE(5, 3), .weight = x[1], .bias = x[2]));
}
static dt_tensor *run_layer_norm_2(dt_tensor *const *x) {
    return weighted(dt_layer_norm(x[0], DT_SHAPE(3), .weight = x[1], .bias = x[2]));
}
static dt_tensor *run_layer_norm_0(dt_tensor *const *x) {
    return weighted(dt_layer_norm(x[0], DT_SHAPE(7, 5, 3), .weight = x[1], .bias = x[2]));
}
static dt_tensor *run_slice(dt_tensor *const *x) { return weighted(dt_slice(x[0], 0, 1, 7, 2)); }
static dt_tensor *run_slice_1(dt_tensor *const *x) { return weighted(dt_slice(x[0], 1, 3, 6, 1)); }
static dt_tensor *run_gather(dt_tensor *const *x) {
    return dt_sum(x[0]->spec ? dt_redistribute(x[0], "R") : dt_mul_scalar(x[0], 1));
}
static dt_tensor *run_permuted_norm(dt_tensor *const *x) {
    return weighted(dt_matmul(dt_layer_norm(dt_permute(x[0], DT_DIMS(0, 2, 1)), DT_SHAPE(6)), x[1]));
}
static dt_tensor *run_gathered_product(dt_tensor *const *x) {
    dt_tensor *y = dt_matmul(x[0], x[1]);
    return weighted(y && y->spec ? dt_redistribute(y, "R") : y);
}
static dt_tensor *run_permuted_linear(dt_tensor *const *x) {
    return weighted(dt_permute(dt_linear(dt_permute(x[0], DT_DIMS(0, 2, 1)), x[1], .bias = x[2]), DT_DIMS(0, 2, 1)));
}
static dt_tensor *run_partial_sum(dt_tensor *const *x) {
    dt_tensor *partial = dt_matmul(x[0], x[1]); /* of shards of its inner dim: a partial sum */
    return weighted(dt_matmul(dt_add(partial, partial), x[2]));
}
static dt_tensor *run_matmul(dt_tensor *const *x) { return weighted(dt_matmul(x[0], x[1])); }
static dt_tensor *run_bmm(dt_tensor *const *x) { return weighted(dt_bmm(x[0], x[1])); }
static dt_tensor *run_topk_0(dt_tensor *const *x) { return weighted(dt_topk(x[0], 3, .dim = DT_INT(0)).values); }
static dt_tensor *run_topk_1(dt_tensor *const *x) { return weighted(dt_topk(x[0], 3, .dim = DT_INT(1)).values); }
static dt_tensor *run_topk_last(dt_tensor *const *x) { return weighted(dt_topk(x[0], 2).values); }
static dt_tensor *indices(const dt_tensor *like, int64_t rows) {
    dt_tensor *plain = dt_empty(like->ctx, DT_SHAPE(5, 4), .dtype = DT_I64);
    for (int64_t i = 0; plain && plain->data && i < 20; i++)
        ((int64_t *)dt_data(plain))[i] = (i * 7 + 3) % rows;
    return like->spec && plain ? calls_distribute(plain, like->spec->mesh, "R") : plain;
}
static dt_tensor *run_embedding(dt_tensor *const *x) {
    return weighted(dt_embedding(indices(x[0], x[0]->shape[0]), x[0], .padding_idx = DT_INT(3)));
}
static dt_tensor *run_embeddings(dt_tensor *const *x) {
    return weighted(dt_add(dt_embedding(indices(x[0], 16), x[0]), dt_embedding(indices(x[0], 32), x[1])));
}
static dt_tensor *run_attention(dt_tensor *const *x) {
    return weighted(dt_scaled_dot_product_attention(x[0], x[1], x[2], .is_causal = true));
}

static const test_program programs[] = {
    {"MAT-009", run_addmm, 3, {{2, {6, 4}, "R"}, {2, {6, 7}, "S(1)"}, {2, {7, 4}, "S(0)"}}},
    {"VIEW-056", run_slice, 1, {{2, {8, 3}, "_S(0,2)"}}},
    {"EXO-001, TOP-042", run_slice_1, 1, {{2, {8, 7}, "S(1)"}}},
    {"VIEW-060", run_gather, 1, {{2, {8, 3}, "_S(0,2)"}}},
    {"DTC-011", run_permuted_norm, 2, {{3, {4, 6, 3}, "S(1)"}, {2, {6, 5}, "R"}}},
    {"DTC-016", run_gathered_product, 2, {{2, {7, 6}, "S(0)"}, {2, {6, 5}, "S(1)"}}},
    {"DTC-021", run_permuted_linear, 3, {{3, {4, 6, 4}, "S(1)"}, {2, {5, 6}, "S(1)"}, {1, {5}, "R"}}},
    {"DTC-022", run_partial_sum, 3, {{2, {5, 6}, "S(1)"}, {2, {6, 4}, "S(0)"}, {2, {4, 3}, "R"}}},
    {"EMB-001", run_embedding, 1, {{2, {17, 11}, "S(1)"}}},
    {"EMB-003", run_embedding, 1, {{2, {13, 22}, "S(0)"}}},
    {"EMB-006", run_embeddings, 2, {{2, {16, 12}, "S(1)"}, {2, {32, 12}, "S(1)"}}},
    {"ATT-001", run_attention, 3, {{4, {4, 3, 6, 5}, "S(0)"}, {4, {4, 3, 6, 5}, "S(0)"}, {4, {4, 3, 6, 5}, "S(0)"}}},
    {"ATT-001, ATT-005",
     run_attention,
     3,
     {{4, {2, 3, 6, 5}, "S(2)"}, {4, {2, 3, 6, 5}, "S(2)"}, {4, {2, 3, 6, 5}, "S(2)"}}},
};

/* Ops along a dim, for every dim that is sharded. */
static const struct {
    const char *name;
    program_fn *run;
} along_dims[] = {
    {"MATH-023", run_softmax_0}, {"MATH-023", run_softmax_1}, {"MATH-023", run_softmax_2},
    {"MATH-013", run_topk_0},    {"MATH-013", run_topk_1},    {"MATH-013", run_topk_last},
};

static dt_tensor *values_of(dt_ctx *ctx, const test_input *of, double step) {
    return calls_counting(ctx, DT_F64, (dt_shape){of->n_dims, of->shape}, 0.3, step);
}

/* Numbers that do not grow with their index, and differ. */
static void spread_values(dt_tensor *tensor, double seed) {
    for (int64_t i = 0; tensor && tensor->data && i < dt_tensor_elements(tensor); i++)
        calls_set_element(tensor, i, sin(seed + 1.7 * (double)i));
}

static bool close_to(dt_tensor *expected, dt_tensor *got, double *worst) {
    *worst = 0;
    if (!expected || !got || dt_tensor_elements(expected) != dt_tensor_elements(got))
        return false;
    for (int64_t i = 0; i < dt_tensor_elements(expected); i++) {
        double a = calls_element(expected, i), b = calls_element(got, i), d = fabs(a - b) / (1 + fabs(a));
        *worst = d > *worst ? d : *worst;
    }
    return *worst < 1e-11;
}

/* With and without the mesh; twice, the second time with what is cached. */
static int check_program(dt_ctx *ctx, dt_mesh *mesh, const test_program *program) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *plain[MAX_INPUTS] = {NULL}, *placed[MAX_INPUTS] = {NULL};
    for (int i = 0; i < program->n_inputs; i++) {
        plain[i] = values_of(ctx, &program->inputs[i], 0);
        spread_values(plain[i], i);
        placed[i] = calls_distribute(plain[i], mesh, program->inputs[i].place);
        CHECK_OK(ctx, dt_set_requires_grad(plain[i], true));
        CHECK_OK(ctx, dt_set_requires_grad(placed[i], true));
    }
    CHECK(dt_backward(program->run(plain)) == DT_OK, "%s: %s", program->name, dt_error_text(ctx));
    for (int again = 0; again < 2; again++) {
        CHECK_OK(ctx, dt_zero_grad((dt_tensors){program->n_inputs, placed}));
        CHECK(dt_backward(program->run(placed)) == DT_OK, "%s: %s", program->name, dt_error_text(ctx));
        for (int i = 0; i < program->n_inputs; i++) {
            dt_tensor *grad = dt_grad(placed[i]), *full = grad ? dt_contiguous(dt_full_tensor(grad)) : NULL;
            double worst;
            CHECK(grad && grad->spec == placed[i]->spec, "%s: input %d: gradient %s", program->name, i + 1,
                  calls_placements(grad));
            CHECK(close_to(dt_contiguous(dt_grad(plain[i])), full, &worst), "%s: input %d: off by %g", program->name,
                  i + 1, worst);
        }
    }
    dt_scope_end(scope);
    return 0;
}

static int check_programs(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (check_program(ctx, mesh, &programs[i]))
            return 1;
    /* MAT-013, MAT-027 */
    static const char *const places[] = {"S(0)", "S(1)", "R", "S(2)"};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            test_program matmul = {"MAT-013", run_matmul, 2, {{2, {5, 8}, places[a]}, {2, {8, 7}, places[b]}}};
            test_program bmm = {"MAT-027", run_bmm, 2, {{3, {4, 5, 4}, places[a]}, {3, {4, 4, 7}, places[b]}}};
            if ((a < 3 && b < 3 && check_program(ctx, mesh, &matmul)) || check_program(ctx, mesh, &bmm))
                return 1;
        }
    static const char *const cuts[] = {"S(0)", "S(1)", "S(2)"};
    for (size_t i = 0; i < sizeof along_dims / sizeof *along_dims; i++)
        for (int d = 0; d < 3; d++) {
            test_program program = {along_dims[i].name, along_dims[i].run, 1, {{3, {7, 5, 3}, cuts[d]}}};
            if (check_program(ctx, mesh, &program))
                return 1;
        }
    /* MATH-027: with weight and bias */
    static program_fn *const norms[] = {run_layer_norm_0, run_layer_norm_1, run_layer_norm_2};
    for (int first = 0; first < 3; first++)
        for (int d = 0; d < 3; d++) {
            test_program program = {"MATH-027", norms[first], 3, {{3, {7, 5, 3}, cuts[d]}}};
            for (int i = 1; i < 3; i++) {
                program.inputs[i] = (test_input){.n_dims = 3 - first, .place = "R"};
                memcpy(program.inputs[i].shape, (int64_t[]){7, 5, 3} + first, (size_t)(3 - first) * 8);
            }
            if (check_program(ctx, mesh, &program))
                return 1;
        }
    dt_mesh_release(mesh);
    return 0;
}

static void programs__have_the_gradients_of_one_rank(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_programs, NULL);
}

/* Programs whose collectives are counted, forward and backward; their outputs get a gradient in their own placement. */
typedef struct counted_program {
    const char *name;
    program_fn *run;
    int n_inputs;
    test_input inputs[MAX_INPUTS];
    const char *forward, *backward;
} counted_program;

static dt_tensor *plain_norm_0(dt_tensor *const *x) { return dt_layer_norm(x[0], DT_SHAPE(16, 8, 4)); }
static dt_tensor *plain_norm_1(dt_tensor *const *x) { return dt_layer_norm(x[0], DT_SHAPE(8, 4)); }
static dt_tensor *plain_norm_2(dt_tensor *const *x) { return dt_layer_norm(x[0], DT_SHAPE(4)); }
static dt_tensor *plain_embedding(dt_tensor *const *x) {
    return dt_embedding(indices(x[0], x[0]->shape[0]), x[0], .padding_idx = DT_INT(10));
}
static dt_tensor *plain_attention(dt_tensor *const *x) {
    return dt_scaled_dot_product_attention(x[0], x[1], x[2], .is_causal = true);
}
#define CUBE(place)                                                                                                  \
    {                                                                                                                \
        { 3, {16, 8, 4}, place }                                                                                     \
    }
#define QUERIES(place)                                                                                               \
    {                                                                                                                \
        {4, {4, 8, 8, 8}, place}, {4, {4, 8, 8, 8}, place}, { 4, {4, 8, 8, 8}, place }                               \
    }

static const counted_program counted[] = {
    /* MATH-027, without weights: one exchange each way where a dim that is normalized is sharded */
    {"MATH-027", plain_norm_0, 1, CUBE("S(0)"), "1", "1"},
    {"MATH-027", plain_norm_0, 1, CUBE("S(1)"), "1", "1"},
    {"MATH-027", plain_norm_0, 1, CUBE("S(2)"), "1", "1"},
    {"MATH-027", plain_norm_1, 1, CUBE("S(0)"), "0", "0"},
    {"MATH-027", plain_norm_1, 1, CUBE("S(1)"), "1", "1"},
    {"MATH-027", plain_norm_1, 1, CUBE("S(2)"), "1", "1"},
    {"MATH-027", plain_norm_2, 1, CUBE("S(0)"), "0", "0"},
    {"MATH-027", plain_norm_2, 1, CUBE("S(1)"), "0", "0"},
    {"MATH-027", plain_norm_2, 1, CUBE("S(2)"), "1", "2"}, /* x moved to S(0): x again, and its gradient back */
    {"EMB-001", plain_embedding, 1, {{2, {17, 12}, "S(1)"}}, "0", "0"},
    {"EMB-001", plain_embedding, 1, {{2, {21, 11}, "S(1)"}}, "0", "0"},
    {"EMB-001", plain_embedding, 1, {{2, {23, 13}, "S(1)"}}, "0", "0"},
    {"EMB-003", plain_embedding, 1, {{2, {16, 22}, "S(0)"}}, "0", "0"},
    {"EMB-003", plain_embedding, 1, {{2, {13, 22}, "S(0)"}}, "0", "0"},
    {"EMB-003", plain_embedding, 1, {{2, {15, 14}, "S(0)"}}, "0", "0"},
    {"MAT-029", plain_attention, 3, QUERIES("R"), "0", "0"},
    {"MAT-029", plain_attention, 3, QUERIES("S(0)"), "0", "0"},
    {"MAT-029", plain_attention, 3, QUERIES("S(1)"), "0", "0"},
};

static int check_counted(dt_ctx *ctx, dt_mesh *mesh, const counted_program *program) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *plain[MAX_INPUTS] = {NULL}, *placed[MAX_INPUTS] = {NULL};
    for (int i = 0; i < program->n_inputs; i++) {
        plain[i] = values_of(ctx, &program->inputs[i], 0);
        spread_values(plain[i], i);
        placed[i] = calls_distribute(plain[i], mesh, program->inputs[i].place);
        CHECK_OK(ctx, dt_set_requires_grad(plain[i], true));
        CHECK_OK(ctx, dt_set_requires_grad(placed[i], true));
    }
    dt_tensor *expected = program->run(plain);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *result = program->run(placed);
    CHECK(expected && result, "%s: %s", program->name, dt_error_text(ctx));
    int64_t n = dt_comm_stats(ctx, NULL).n, is_alone = dt_world(ctx) == 1;
    CHECK(is_alone || n == strtol(program->forward, NULL, 10), "%s, %s: forward: expected %s collectives, got %lld",
          program->name, program->inputs[0].place, program->forward, (long long)n);
    dt_tensor *grad = dt_empty(ctx, TENSORS_SHAPE(expected->n_dims, expected->shape), .dtype = DT_F64);
    spread_values(grad, 9);
    const dt_placement *of_result = dt_spec_placements(dt_tensor_spec(result));
    dt_tensor *placed_grad =
        calls_distribute(grad, mesh, dt_placement_is_partial(of_result[0]) ? "R" : calls_placements(result));
    CHECK_OK(ctx, dt_backward(expected, .grad = grad));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK_OK(ctx, dt_backward(result, .grad = placed_grad));
    n = dt_comm_stats(ctx, NULL).n;
    CHECK(is_alone || n == strtol(program->backward, NULL, 10), "%s, %s: backward: expected %s collectives, got %lld",
          program->name, program->inputs[0].place, program->backward, (long long)n);
    for (int i = 0; i < program->n_inputs; i++) {
        double worst;
        CHECK(dt_grad(placed[i])->spec == placed[i]->spec, "%s: gradient %s", program->name,
              calls_placements(dt_grad(placed[i])));
        CHECK(close_to(dt_contiguous(dt_grad(plain[i])), dt_contiguous(dt_full_tensor(dt_grad(placed[i]))), &worst),
              "%s, %s: input %d: off by %g", program->name, program->inputs[0].place, i + 1, worst);
    }
    dt_scope_end(scope);
    return 0;
}

static int check_counted_programs(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (check_counted(ctx, mesh, &counted[i]))
            return 1;
    dt_mesh_release(mesh);
    return 0;
}

static void programs__send_as_much_as_published(void **state) {
    (void)state;
    run_ranks(2, check_counted_programs, NULL);
    run_ranks(4, check_counted_programs, NULL);
}

/* RED-001, RED-005, RED-006, RED-011, RED-017: the gradients of a move, of real and complex numbers, with the
 * collectives of both directions. The gradient of the result is 1 (1 + 2i) everywhere. */
static int check_moves(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    static const struct {
        const char *id, *from, *to, *forward, *backward, *grad;
    } cases[] = {
        {"RED-001", "S(0)", "R", "all_gather 1", "", "S(0)"},
        {"RED-001", "S(1)", "R", "all_gather 1", "", "S(1)"},
        {"RED-005", "R", "S(0)", "", "all_gather 1", "R"},
        {"RED-005", "R", "S(1)", "", "all_gather 1", "R"},
        {"RED-006", "P(sum)", "R", "all_reduce 1", "", "R"},
        {"RED-011", "P(sum)", "S(0)", "reduce_scatter 1", "all_gather 1", "R"},
        {"RED-011", "P(sum)", "S(1)", "reduce_scatter 1", "all_gather 1", "R"},
        {"RED-017", "S(0)", "S(1)", "all_to_all 1", "all_to_all 1", "S(0)"},
        {"RED-017", "S(1)", "S(0)", "all_to_all 1", "all_to_all 1", "S(1)"},
    };
    static const int64_t sizes[][2] = {{12, 3}, {13, 3}, {14, 3}, {3, 12}, {3, 13}, {3, 14}, {8, 8}, {8, 5}, {5, 5}};
    for (int kind = 0; kind < 2 * 9 * 9; kind++) {
        dt_scope scope = dt_scope_begin(ctx);
        const int64_t *shape = sizes[kind / 18];
        const dt_dtype dtype = kind % 2 ? DT_C64 : DT_F32;
        const char *from = cases[kind / 2 % 9].from, *to = cases[kind / 2 % 9].to, *id = cases[kind / 2 % 9].id;
        dt_tensor *ones = dt_ones(ctx, DT_SHAPE(shape[0], shape[1]), .dtype = dtype);
        dt_tensor *x = *from == 'P' ? dt_from_local(ctx, ones, mesh, from) : calls_distribute(ones, mesh, from);
        dt_tensor *grad = dt_ones(ctx, DT_SHAPE(shape[0], shape[1]), .dtype = dtype);
        for (int64_t i = 0; dtype == DT_C64 && i < shape[0] * shape[1]; i++)
            ((float *)dt_data(grad))[2 * i + 1] = 2;
        CHECK_OK(ctx, dt_set_requires_grad(x, true));
        counting counts = count_begin(ctx);
        dt_tensor *y = dt_redistribute(x, to);
        CHECK(y && all_are(y, *from == 'P' ? (double)n : 1), "%s: %s", id, dt_error_text(ctx));
        CHECK_COUNT(&counts, cases[kind / 2 % 9].forward);
        dt_tensor *placed = calls_distribute(grad, mesh, to);
        counts = count_begin(ctx);
        CHECK_OK(ctx, dt_backward(y, .grad = placed));
        CHECK_COUNT(&counts, cases[kind / 2 % 9].backward);
        CHECK_GRAD(x, cases[kind / 2 % 9].grad, 1);
        CHECK(tensors_equal(dt_to_local(dt_grad(x)),
                            dt_to_local(calls_distribute(grad, mesh, cases[kind / 2 % 9].grad))),
              "%s: %s to %s: the gradient differs", id, from, to);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__passes_gradients_of_every_size(void **state) {
    (void)state;
    run_ranks(4, check_moves, NULL);
    run_ranks(3, check_moves, NULL);
}

/* Placements that programs state. */
static int check_stated(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    double world = (double)n;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *ones = dt_ones(ctx, DT_SHAPE(5, 3));
    counting counts = count_begin(ctx);
    /* DT-013 */
    dt_tensor *local = dt_ones(ctx, DT_SHAPE(5, 3), .requires_grad = true),
              *partial = dt_from_local(ctx, ones, mesh, "P(sum)");
    CHECK_OK(ctx, dt_backward(dt_from_local(ctx, dt_mul_scalar(local, 2), mesh, "R", .grad_place = "P(sum)"),
                              .grad = partial));
    CHECK_GRAD(local, "", 2);
    CHECK_COUNT(&counts, "");
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(local)));
    CHECK_OK(ctx, dt_backward(dt_from_local(ctx, dt_mul_scalar(local, 2), mesh, "R"), .grad = partial));
    CHECK_GRAD(local, "", 2 * world);
    CHECK_COUNT(&counts, "all_reduce 1");
    /* A gradient that every rank has, as contributions: the first one has it. */
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(local)));
    CHECK_OK(ctx, dt_backward(dt_from_local(ctx, local, mesh, "P(sum)", .grad_place = "P(sum)"),
                              .grad = dt_from_local(ctx, ones, mesh, "R")));
    CHECK_GRAD(local, "", dt_rank(ctx) ? 0 : 1);
    CHECK_COUNT(&counts, "");
    /* As an average every rank has it. */
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(local)));
    CHECK_OK(ctx, dt_backward(dt_from_local(ctx, local, mesh, "P(sum)", .grad_place = "P(avg)"),
                              .grad = dt_from_local(ctx, ones, mesh, "R")));
    CHECK_GRAD(local, "", 1);
    CHECK_COUNT(&counts, "");
    /* DT-021 */
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(7, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    dt_tensor *y = dt_to_local(dt_redistribute(x, "R"), .grad_place = "P(sum)");
    CHECK_OK(ctx, dt_backward(y, .grad = dt_ones(ctx, DT_SHAPE(7, 3))));
    CHECK_GRAD(x, "S(0)", world);
    CHECK_COUNT(&counts, "all_gather 1, reduce_scatter 1");
    /* DT-023 */
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_full_tensor(x, .grad_place = "P(sum)"))));
    CHECK_GRAD(x, "S(0)", world);
    CHECK_COUNT(&counts, "all_gather 1, reduce_scatter 1");
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_full_tensor(x))));
    CHECK_GRAD(x, "S(0)", 1);
    CHECK_COUNT(&counts, "all_gather 1");
    /* RED-004, also complex; TOP-055 in the transposed form */
    for (int complex = 0; complex < 2; complex++) {
        dt_tensor *r = dt_ones(ctx, DT_SHAPE(5, 3), .mesh = mesh, .place = "R", .dtype = complex ? DT_C64 : DT_F32,
                               .requires_grad = true);
        dt_tensor *used = dt_transpose(dt_to_local(r, .grad_place = "P(sum)"), 0, 1);
        CHECK_OK(ctx, dt_backward(used, .grad = dt_ones(ctx, DT_SHAPE(3, 5), .dtype = complex ? DT_C64 : DT_F32)));
        CHECK_GRAD(r, "R", world);
        CHECK_COUNT(&counts, "all_reduce 1");
    }
    /* RED-003 in the changed form: the gradient of a partial tensor is replicated, always. */
    CHECK_OK(ctx, dt_set_requires_grad(partial, true));
    dt_tensor *same = dt_redistribute(partial, "P(sum)");
    CHECK_COUNT(&counts, "");
    CHECK_OK(ctx, dt_backward(same, .grad = dt_detach(partial)));
    CHECK_GRAD(partial, "R", world);
    CHECK_COUNT(&counts, "all_reduce 1");
    dt_mesh_release(mesh);
    return 0;
}

static void stated__placements_of_gradients_are_used(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_stated, NULL);
}

static int check_refused(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(6, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    static const struct {
        int function;
        const char *place, *error;
    } cases[] = {
        {0, "R", "grad_place: mesh dim 0: expected S(0), got R"},
        {0, "S(1)", "grad_place: mesh dim 0: expected S(0), got S(1)"},
        {1, "S(0)", "grad_place: mesh dim 0: expected R, P(sum) or P(avg), got S(0)"},
        {1, "P(max)", "grad_place: mesh dim 0: expected R, P(sum) or P(avg), got P(max)"},
        {2, "S(0)", "grad_place: mesh dim 0: expected R, P(sum) or P(avg), got S(0)"},
        {3, "", "grad_dtype: expected a floating-point dtype, got i64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tensor *y = NULL;
        if (cases[i].function == 0)
            y = dt_to_local(x, .grad_place = cases[i].place);
        else if (cases[i].function == 1)
            y = dt_full_tensor(x, .grad_place = cases[i].place);
        else if (cases[i].function == 2)
            y = dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(2)), mesh, "R", .grad_place = cases[i].place);
        else
            y = dt_redistribute(x, "R", .grad_dtype = DT_I64);
        CHECK(!y && strstr(dt_error_text(ctx), cases[i].error), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    /* API-005: what a recorded call made would lose its record. */
    dt_tensor *plain = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true);
    CHECK(!dt_distribute_tensor(dt_exp(plain), mesh, "S(0)"), "a tensor that is not a leaf");
    CHECK(strstr(dt_error_text(ctx), "expected a leaf"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void stated__placements_that_do_not_fit_are_refused(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, check_refused, NULL);
}

/* RED-007, RED-008, RED-077, RED-078: dtypes of both directions. */
static int check_dtypes(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    static const dt_dtype dtypes[] = {DT_NO_DTYPE, DT_BF16, DT_F32};
    for (int forward = 0; forward < 3; forward++)
        for (int back = 0; back < 3; back++)
            for (int cut = 0; cut < 2; cut++) {
                const char *place = cut ? "S(0)" : "R";
                dt_tensor *x = dt_ones(ctx, DT_SHAPE(10, 4), .mesh = mesh, .place = place, .requires_grad = true);
                dt_tensor *y = dt_redistribute(x, "R", .dtype = dtypes[forward], .grad_dtype = dtypes[back]);
                CHECK(y && y->dtype == (dtypes[forward] ? dtypes[forward] : DT_F32), "the dtype of the result");
                counting counts = count_begin(ctx);
                dt_tensor *grad = dt_ones(ctx, DT_SHAPE(10, 4), .mesh = mesh, .place = "R", .dtype = y->dtype);
                CHECK_OK(ctx, dt_backward(y, .grad = grad, .retain_graph = true));
                CHECK_GRAD(x, place, 1);
                CHECK(dt_grad(x)->dtype == DT_F32, "the dtype of the gradient");
                CHECK_COUNT(&counts, "");
                /* A partial gradient is moved in the dtype that was set. */
                CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
                dt_tensor *part =
                    dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(10, 4), .dtype = y->dtype), mesh, "P(sum)");
                int64_t before = dt__redistribute_statistics(ctx).bytes_received;
                CHECK_OK(ctx, dt_backward(y, .grad = part));
                CHECK_GRAD(x, place, (double)n);
                CHECK_COUNT(&counts, cut ? "reduce_scatter 1" : "all_reduce 1");
                int64_t item = dtypes[back] == DT_BF16 ? 2 : 4;
                int64_t bytes = dt__redistribute_statistics(ctx).bytes_received - before;
                if (cut)
                    CHECK(bytes == item * (n - 1) * dt_tensor_local_elements(x), "%lld bytes", (long long)bytes);
            }
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__moves_gradients_in_their_dtype(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_dtypes, NULL);
}

/* RED-025 */
static int check_second(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    static const int64_t shapes[][2] = {{12, 3}, {13, 3}, {14, 3}, {3, 12}, {3, 13}, {3, 14}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        dt_tensor *full = calls_counting(ctx, DT_F64, (dt_shape){2, shapes[s]}, -1, 0.25), *grads[2][1];
        dt_tensor *w[2] = {dt_full(ctx, DT_SHAPE(), 1.5, .dtype = DT_F64, .requires_grad = true)};
        w[1] = calls_distribute(dt_detach(w[0]), mesh, "R");
        dt_tensor *x[2] = {full, calls_distribute(full, mesh, s < 3 ? "S(0)" : "S(1)")};
        CHECK_OK(ctx, dt_set_requires_grad(w[1], true));
        for (int i = 0; i < 2; i++) {
            CHECK_OK(ctx, dt_set_requires_grad(x[i], true));
            dt_tensor *y = dt_relu(dt_mul(x[i], w[i]));
            counting counts = count_begin(ctx);
            dt_tensor *whole = dt_full_tensor(y);
            if (i)
                CHECK_COUNT(&counts, "all_gather 1");
            dt_tensor *loss = dt_sum(dt_mul(whole, whole));
            CHECK_OK(ctx, dt_gradients(DT_TENSORS(loss), DT_TENSORS(x[i]), grads[i], .create_graph = true));
            counts = count_begin(ctx);
            dt_tensor *first = dt_full_tensor(grads[i][0]);
            if (i)
                CHECK_COUNT(&counts, "all_gather 1");
            CHECK_OK(ctx, dt_backward(dt_sum(dt_mul(first, first))));
        }
        double worst;
        CHECK(close_to(dt_contiguous(grads[0][0]), dt_contiguous(dt_full_tensor(grads[1][0])), &worst), "%g", worst);
        CHECK(close_to(dt_grad(w[0]), dt_full_tensor(dt_grad(w[1])), &worst), "%zu: %g", s, worst);
        CHECK(close_to(dt_contiguous(dt_grad(x[0])), dt_contiguous(dt_full_tensor(dt_grad(x[1]))), &worst), "%g",
              worst);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void second__derivatives_pass_full_tensors(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_second, NULL);
}

/* Strides of gradients of local tensors: TOP-054, TOP-056; DT-018 in the changed form. */
static int check_strides(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    counting counts = count_begin(ctx);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(12, 9), .mesh = mesh, .place = "S(1)", .requires_grad = true);
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul_scalar(dt_to_local(x), 2))));
    CHECK_GRAD(x, "S(1)", 2);
    CHECK(dt_tensor_is_contiguous(dt_grad(x)), "TOP-054");
    CHECK_COUNT(&counts, "");
    dt_tensor *nhwc = dt_permute(dt_ones(ctx, DT_SHAPE(2, 9, 4, 3)), DT_DIMS(0, 3, 1, 2));
    dt_tensor *image = dt_from_local(ctx, nhwc, mesh, "S(2)");
    CHECK_OK(ctx, dt_set_requires_grad(image, true));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul_scalar(dt_to_local(image), 2))));
    CHECK_GRAD(image, "S(2)", 2); /* TOP-056 */
    CHECK(dt_grad(image)->spec == image->spec, "the spec of the tensor");
    CHECK_COUNT(&counts, "");
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(3 * n, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    dt_tensor *transposed = dt_transpose(calls_counting(ctx, DT_F32, DT_SHAPE(3, 3), 0, 1), 0, 1);
    CHECK_OK(ctx, dt_backward(dt_to_local(t), .grad = transposed)); /* DT-018 */
    dt_tensor *grad = dt_to_local(dt_grad(t));
    int64_t index[2] = {2, 1};
    CHECK(dt__read_f64(DT_F32, tensors_at(grad, index)) == 5, "element [2,1]");
    CHECK(dt_grad(t)->spec == t->spec, "the spec of the tensor");
    dt_mesh_release(mesh);
    return 0;
}

static void local__gradients_keep_their_strides(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_strides, NULL);
}

/* DTC-019, DT-025, API-011, API-012, TOP-002, TOP-006, DTC-012, DTC-024 */
static int check_leaves(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    dt_tensor *y = dt_mul_scalar(x, 2);
    CHECK_OK(ctx, dt_retain_grad(y)); /* DTC-019 */
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul_scalar(y, 3))));
    CHECK_GRAD(y, "S(0)", 3);
    CHECK_GRAD(x, "S(0)", 6);
    dt_tensor *fresh = dt_full_like(x, 4); /* DT-025: made like another one */
    CHECK_OK(ctx, dt_set_requires_grad(fresh, true));
    CHECK_OK(ctx, dt_backward(dt_sum(fresh)));
    CHECK_GRAD(fresh, "S(0)", 1);
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(3, 5), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *frozen = dt_ones(ctx, DT_SHAPE(5), .mesh = mesh, .place = "R");
    CHECK_OK(ctx, dt_backward(dt_sum(dt_add(dt_matmul(dt_detach(x), w), frozen))));
    CHECK_GRAD(w, "R", 8); /* API-011 */
    CHECK(!dt_grad(frozen), "API-012");
    dt_tensor *detached = dt_detach(x); /* TOP-002 */
    CHECK(detached != x && !dt_requires_grad(detached) && detached->spec == x->spec, "detach");
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
    dt_tensor *turned = dt_contiguous(dt_transpose(x, 0, 1)); /* TOP-006 */
    CHECK_OK(ctx, dt_backward(turned, .grad = dt_ones(ctx, DT_SHAPE(3, 8), .mesh = mesh, .place = "S(1)")));
    CHECK_GRAD(x, "S(0)", 1);
    dt_tensor *second = dt_ones(ctx, DT_SHAPE(8, 3), .mesh = mesh, .place = "S(0)"); /* DTC-024 */
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
    dt_tensor *product = dt_mul_scalar(x, 5);
    CHECK(dt_add_scalar_(second, 1), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_backward(dt_sum(product)));
    CHECK_GRAD(x, "S(0)", 5);
    CHECK(all_are(second, 2), "the second input is changed");
    dt_mesh_release(mesh);
    return 0;
}

static void leaves__have_gradients_as_published(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_leaves, NULL);
}

static int check_three_dims(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){2, 2, 2}, 3, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(9, 3), .mesh = mesh, .place = "S(0),S(0),R", .requires_grad = true);
    dt_tensor *y = dt_redistribute(x, "R,R,R"); /* DTC-012 */
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul(y, y))));
    CHECK_GRAD(x, "S(0),S(0),R", 2);
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__passes_gradients_on_three_mesh_dims(void **state) {
    (void)state;
    run_ranks(8, check_three_dims, NULL);
}

/* DT-035: of an op with two outputs, one unused. */
static dt_status shape_pair(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt_status status = dt_op_add_output(call, input->dtype, input->n_dims, input->shape);
    return status == DT_OK ? dt_op_add_output(call, input->dtype, input->n_dims, input->shape) : status;
}
static dt_status copy_pair(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    for (int64_t i = 0; i < input->shape[0]; i++)
        ((float *)call->outputs[0].data)[i] = ((float *)call->outputs[1].data)[i] = ((const float *)input->data)[i];
    return DT_OK;
}
static bool second_is_null;
static dt_status pair_backward(const dt_op_backward *call, dt_tensor **grads) {
    second_is_null = call->grads[1] == NULL;
    grads[0] = dt_mul_scalar(call->grads[0], 3);
    return DT_OK;
}
static const dt_op pair = {.schema = "pair_of(Tensor self) -> (Tensor, Tensor)",
                           .shape = shape_pair,
                           .kernel = copy_pair,
                           .backward = pair_backward};

static void backward__has_null_for_an_output_without_a_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_op_register(ctx, &pair), DT_OK);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
    assert_int_equal(dt_backward(dt_sum(dt_call(ctx, "pair_of", x))), DT_OK);
    assert_true(second_is_null && at(dt_grad(x), 1) == 3);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs__have_the_gradients_of_one_rank),
        cmocka_unit_test(programs__send_as_much_as_published),
        cmocka_unit_test(redistribute__passes_gradients_of_every_size),
        cmocka_unit_test(stated__placements_of_gradients_are_used),
        cmocka_unit_test(stated__placements_that_do_not_fit_are_refused),
        cmocka_unit_test(redistribute__moves_gradients_in_their_dtype),
        cmocka_unit_test(second__derivatives_pass_full_tensors),
        cmocka_unit_test(local__gradients_keep_their_strides),
        cmocka_unit_test(leaves__have_gradients_as_published),
        cmocka_unit_test(redistribute__passes_gradients_on_three_mesh_dims),
        cmocka_unit_test(backward__has_null_for_an_output_without_a_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
