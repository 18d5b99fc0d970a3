/* SPDX-License-Identifier: Apache-2.0
 *
 * Use placements: weights that are sharded, and gathered for the ops that read them. Which tensors ops see so, what is
 * moved and when that is freed, and the values, which are compared with sums that this file computes. Ranks 1 to 5,
 * with shards that are uneven or empty, and meshes of two dims.
 */
#include "autograd/records.h"

#include <stdlib.h>
#include <unistd.h>

enum { N_OUT = 7, N_IN = 3, N_BATCH = 4 };

static int open_mesh(dt_ctx *ctx, dt_mesh **mesh) {
    char form[32];
    snprintf(form, sizeof form, "fsdp=%" PRId64, dt_world(ctx));
    *mesh = dt_mesh_new(ctx, form);
    CHECK(*mesh, "%s", dt_error_text(ctx));
    return 0;
}

/* Element i of an arange is i: w[o,k] = 3 o + k, x[b,k] = 3 b + k. */
static dt_tensor *weight(dt_ctx *ctx, dt_mesh *mesh, const char *place, const char *use) {
    dt_tensor *flat = dt_arange(ctx, dt_number_int(0), dt_number_int(N_OUT * N_IN), dt_number_int(1));
    return dt_distribute_tensor(dt_view(flat, DT_SHAPE(N_OUT, N_IN)), mesh, place, .use = use);
}

static dt_tensor *batch(dt_ctx *ctx, dt_mesh *mesh, const char *place) {
    dt_tensor *flat = dt_arange(ctx, dt_number_int(0), dt_number_int(N_BATCH * N_IN), dt_number_int(1));
    return dt_distribute_tensor(dt_view(flat, DT_SHAPE(N_BATCH, N_IN)), mesh, place);
}

/* Whether y is x (w + added)^T. */
static bool is_product(dt_tensor *y, double added) {
    const float *full = dt_data(dt_full_tensor(y));
    for (int b = 0; full && b < N_BATCH; b++)
        for (int o = 0; o < N_OUT; o++) {
            double expected = 0;
            for (int k = 0; k < N_IN; k++)
                expected += (N_IN * b + k) * (N_IN * o + k + added);
            if (full[b * N_OUT + o] != (float)expected)
                return false;
        }
    return full;
}

static bool has_text(const dt_tensor *tensor, const char *part) {
    char text[512];
    (void)dt_tensor_text(tensor, sizeof text, text);
    return strstr(text, part);
}

static bool is_placed(const dt_tensor *tensor, const char *place) {
    char text[256];
    const dt_spec *spec = tensor ? dt_tensor_spec(tensor) : NULL;
    if (!spec)
        return false;
    (void)dt_placements_text(spec->sharding.n_mesh_dims, spec->sharding.placements, sizeof text, text);
    return !strcmp(text, place);
}

/* The bytes of tensors, after a first exchange on the mesh, which has memory of its own. */
static size_t live_bytes(dt_ctx *ctx, dt_tensor *w) {
    dt_drop(dt_redistribute(w, "R"));
    return dt_heap_stats(ctx).live_bytes;
}

static int64_t counted(dt_ctx *ctx, const char *op) { return dt_comm_stats(ctx, &(dt_comm_filter){.op = op}).n; }

#define FAILS(status, call, ...)                                                                                     \
    do {                                                                                                             \
        bool failed_ = !(call) && dt_error_status(ctx) == (status);                                                  \
        const char *parts_[] = {__VA_ARGS__};                                                                        \
        CHECK(failed_, "did not fail so: %s", dt_error_text(ctx));                                                   \
        for (size_t i_ = 0; i_ < sizeof parts_ / sizeof *parts_; i_++)                                               \
            CHECK(strstr(dt_error_text(ctx), parts_[i_]), "expected '%s', got '%s'", parts_[i_],                     \
                  dt_error_text(ctx));                                                                               \
        CHECK_OK(ctx, dt_error_clear(ctx));                                                                          \
    } while (0)

/* The op sees R and gathers under any policy, once per scope; the second call finds its decision. */
static int gathers_once_per_scope(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    int64_t gathers = dt_world(ctx) > 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", "R");
    CHECK(w && has_text(w, "f32[7,3] S(0) use R on mesh(fsdp="), "%s", dt_error_text(ctx));
    size_t live = live_bytes(ctx, w);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    for (int round = 1; round <= 2; round++) {
        dt_scope scope = dt_scope_begin(ctx);
        CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
        int64_t misses = dt_cache_stats(ctx).n_misses;
        dt_tensor *y = dt_linear(x, w), *z = dt_linear(x, w);
        CHECK(is_placed(y, "S(0)") && !dt_tensor_use(y), "%s", dt_error_text(ctx));
        CHECK(dt_cache_stats(ctx).n_misses - misses == (round == 1), "%lld", (long long)dt_cache_stats(ctx).n_misses);
        CHECK(counted(ctx, "use") == round * gathers &&
                  counted(ctx,
                          "linear(f32[4,3] S(0); f32[7,3] S(0) use R) -> f32[4,7] S(0); from -, 1; saves input 1") ==
                      0,
              "%s", dt_comm_stats_text(ctx));
        /* w, gathered, is also what other ops of this scope, and of one inside it, see */
        dt_scope inner = dt_scope_begin(ctx);
        CHECK(is_placed(dt_neg(w), "R") && counted(ctx, "use") == round * gathers, "%s", dt_error_text(ctx));
        dt_scope_end(inner);
        CHECK(is_product(y, 0) && is_product(z, 0), "wrong values");
        dt_scope_end(scope);
        CHECK(dt_heap_stats(ctx).live_bytes == live, "round %d: %zu bytes, before %zu", round,
              dt_heap_stats(ctx).live_bytes, live);
    }
    /* The copy of an inner scope dies with it. */
    dt_scope scope = dt_scope_begin(ctx), inner = dt_scope_begin(ctx);
    int64_t before = counted(ctx, "use");
    (void)dt_neg(w);
    dt_scope_end(inner);
    (void)dt_neg(w);
    CHECK(counted(ctx, "use") - before == 2 * gathers, "%s", dt_comm_stats_text(ctx));
    CHECK_OK(ctx, dt_use_release(w));
    (void)dt_neg(w);
    CHECK(counted(ctx, "use") - before == 3 * gathers, "%s", dt_comm_stats_text(ctx));
    dt_scope_end(scope);
    CHECK(dt_heap_stats(ctx).live_bytes == live, "%zu", dt_heap_stats(ctx).live_bytes);
    dt_mesh_release(mesh);
    return 0;
}

/* Tensors of a list are gathered in one exchange, each once; backward, what the gradients of a scope read. */
static int gathers_a_list_together(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { N = 5 };
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    int64_t gathers = dt_world(ctx) > 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w[N + 2];
    CHECK_OK(ctx, dt_set_requires_grad(x, true));
    for (int i = 0; i < N; i++) {
        w[i] = weight(ctx, mesh, i ? "S(0)" : "S(1)", "R");
        CHECK_OK(ctx, dt_set_requires_grad(w[i], true));
    }
    w[N] = w[1];                             /* twice */
    w[N + 1] = weight(ctx, mesh, "R", NULL); /* nothing to do */
    size_t live = live_bytes(ctx, w[1]);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_scope outer = dt_scope_begin(ctx), scope = dt_scope_begin(ctx);
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    CHECK_OK(ctx, dt_use(((dt_tensors){N + 2, w})));
    CHECK(counted(ctx, "use") == gathers, "%s", dt_comm_stats_text(ctx));
    dt_tensor *loss = NULL;
    for (int i = 0; i < N; i++) {
        dt_tensor *y = dt_linear(x, w[i]);
        CHECK(is_product(y, 0), "weight %d", i);
        loss = loss ? dt_add(loss, dt_sum(y)) : dt_sum(y);
    }
    CHECK(counted(ctx, "use") == gathers, "%s", dt_comm_stats_text(ctx));
    (void)dt_keep(loss);
    dt_scope_end(scope);
    CHECK_OK(ctx, dt_backward(loss));
    CHECK(counted(ctx, "use") == 2 * gathers, "%s", dt_comm_stats_text(ctx));
    CHECK(is_placed(dt_grad(w[0]), "S(1)") && is_placed(dt_grad(w[1]), "S(0)"), "%s", dt_error_text(ctx));
    dt_scope_end(outer);
    CHECK_OK(ctx, dt_zero_grad(((dt_tensors){N, w})));
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
    CHECK(dt_heap_stats(ctx).live_bytes == live, "%zu bytes, before %zu", dt_heap_stats(ctx).live_bytes, live);
    CHECK_OK(ctx, dt_use(((dt_tensors){0, NULL})));
    dt_tensor *none[] = {w[0], NULL};
    FAILS(DT_ERR_VALUE, dt_use(((dt_tensors){2, none})) == DT_OK, "argument 2 of use is NULL");
    dt_mesh_release(mesh);
    return 0;
}

/* Used in another dtype: converted, then gathered; gradients are converted, then summed and reduced. */
static int converts(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    const int64_t n = dt_world(ctx);
    dt_tensor *w = weight(ctx, mesh, "S(0)", "bf16 R"), *same = weight(ctx, mesh, "S(0)", "f32 S(0)");
    CHECK(w && has_text(w, "f32[7,3] S(0) use bf16 R on mesh(fsdp="), "%s", dt_error_text(ctx));
    CHECK(same && !dt_tensor_use(same) && dt_tensor_use(w)->dtype == DT_BF16, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_set_requires_grad(w, true));
    dt_tensor *x = dt_full(ctx, DT_SHAPE(n, N_IN), DT_NUMBER(201), .dtype = DT_BF16, .mesh = mesh, .place = "S(0)");
    int64_t before = dt__redistribute_statistics(ctx).bytes_received;
    dt_tensor *y = dt_linear(x, w), *z = dt_linear(x, w);
    CHECK(y && dt_tensor_dtype(y) == DT_BF16 && is_placed(y, "S(0)"), "%s", dt_error_text(ctx));
    CHECK(is_placed(dt_neg(w), "R") && dt_tensor_dtype(dt_neg(w)) == DT_BF16, "%s", dt_error_text(ctx));
    CHECK(dt_tensor_dtype(dt_clone(w)) == DT_F32, "as it is stored");
    CHECK(has_text(dt_transpose(w, 0, 1), "f32[3,7] S(1) use bf16 R"), "a view");
    const int64_t missing = (N_OUT * N_IN - dt_tensor_local_elements(w)) * 2;
    CHECK(dt__has_nodes(ctx) || dt__redistribute_statistics(ctx).bytes_received - before == missing, "%lld bytes",
          (long long)(dt__redistribute_statistics(ctx).bytes_received - before));
    CHECK_OK(ctx, dt_backward(dt_add(dt_sum(y), dt_mul_scalar(dt_sum(z), 2))));
    dt_tensor *grad = dt_grad(w); /* 201 + 402 from each rank: bf16 has 8 bits */
    CHECK(grad && dt_tensor_dtype(grad) == DT_F32 && is_placed(grad, "S(0)"), "%s", dt_error_text(ctx));
    for (int64_t i = 0; i < dt_tensor_local_elements(grad); i++)
        CHECK(((const float *)dt_data(grad))[i] == (float)(603 * n), "%g", ((const float *)dt_data(grad))[i]);
    dt_spec *spec = dt_spec_parse(ctx, "f32[8,6] S(0) use bf16 R on mesh(1)");
    CHECK(spec && spec->dtype == DT_F32, "%s", dt_error_text(ctx));
    dt_spec_release(spec);
    const char *text = dt_explain(ctx, "linear", x, w);
    CHECK(text && strstr(text, "use bf16 R") && (n == 1 || strstr(text, "used as bf16 R, as requested: S(0)->R")),
          "%s", text ? text : dt_error_text(ctx));
    CHECK_OK(ctx, dt_set_use(w, "bf16")); /* where it is stored */
    CHECK(has_text(w, "f32[7,3] S(0) use bf16 S(0)"), "%s", dt_error_text(ctx));
    dt_tensor *whole = dt_ones(ctx, DT_SHAPE(3), .dtype = DT_I64, .mesh = mesh);
    FAILS(DT_ERR_DTYPE, dt_set_use(w, "i64 R") == DT_OK, "got f32 used as i64");
    FAILS(DT_ERR_DTYPE, dt_set_use(whole, "bf16 R") == DT_OK, "got i64 used as bf16");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(w, "bf17 R") == DT_OK, "use");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(w, "bf16 R R") == DT_OK, "use");
    dt_mesh_release(mesh);
    return 0;
}

/* Without a use placement the policy forbids the same call; both decisions are kept apart. */
static int is_in_the_key(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", NULL);
    bool several = dt_world(ctx) > 1;
    for (int round = 0; round < 2; round++) {
        dt_scope scope = dt_scope_begin(ctx);
        CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
        CHECK_OK(ctx, dt_set_use(w, NULL));
        if (several)
            FAILS(DT_ERR_PLACEMENT, dt_linear(x, w), "linear", "the communication policy forbids");
        CHECK_OK(ctx, dt_set_use(w, "R"));
        dt_tensor *y = dt_linear(x, w), *r = dt_linear(x, dt_redistribute(w, "R"));
        CHECK(is_placed(y, "S(0)") && is_product(y, 0) && is_product(r, 0), "%s", dt_error_text(ctx));
        dt_scope_end(scope);
    }
    CHECK_OK(ctx, dt_set_use(w, "S(0)")); /* as it is stored: none */
    CHECK(!dt_tensor_use(w) && !has_text(w, "use"), "a use placement that is the placement itself");
    dt_mesh_release(mesh);
    return 0;
}

/* A write is to the stored tensor, and later ops see it; what was moved before is freed. */
static int writes_between_uses(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    int64_t gathers = dt_world(ctx) > 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", "R");
    dt_tensor *step = dt_ones(ctx, DT_SHAPE(N_OUT, N_IN), .mesh = mesh, .place = "S(0)");
    size_t live = live_bytes(ctx, w);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    for (int i = 0; i < 3; i++) {
        dt_tensor *y = dt_linear(x, w);
        CHECK(counted(ctx, "use") == (i + 1) * gathers, "%s", dt_comm_stats_text(ctx));
        dt_scope scope = dt_scope_begin(ctx);
        CHECK(is_product(y, i), "after %d writes", i);
        dt_scope_end(scope);
        dt_drop(y);
        int64_t all = counted(ctx, NULL);
        if (i == 1)
            CHECK(dt_add_scalar_(dt_slice(w, 1, 0, N_IN, 1), 1), "%s", dt_error_text(ctx)); /* through a view */
        else
            CHECK(dt_add_(w, step), "%s", dt_error_text(ctx));
        CHECK(counted(ctx, NULL) == all, "a write moves nothing: %s", dt_comm_stats_text(ctx));
    }
    CHECK(dt_foreach_add_(DT_TENSORS(w), DT_TENSORS(step)) == DT_OK, "%s", dt_error_text(ctx));
    CHECK(dt_heap_stats(ctx).live_bytes == live, "%zu bytes, before %zu", dt_heap_stats(ctx).live_bytes, live);
    /* An op that writes a tensor and reads it again sees it as it is stored, both times. */
    int64_t all = counted(ctx, NULL);
    CHECK(dt_add_(w, w) && dt_foreach_add_(DT_TENSORS(w), DT_TENSORS(w)) == DT_OK, "%s", dt_error_text(ctx));
    CHECK(counted(ctx, NULL) == all, "%s", dt_comm_stats_text(ctx));
    const float *full = dt_data(dt_full_tensor(w));
    for (int i = 0; i < N_OUT * N_IN; i++)
        CHECK(full[i] == (float)(4 * (i + 4)), "element %d: %g", i, (double)full[i]);
    dt_mesh_release(mesh);
    return 0;
}

/* A view of what was moved watches the tensor, which may be freed before or after it. */
static int is_freed_with_views_of_the_copy(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    size_t live = live_bytes(ctx, weight(ctx, mesh, "S(0)", "R"));
    for (int i = 0; i < 4; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *w = weight(ctx, mesh, "S(0)", "R"), *view = dt_view(w, DT_SHAPE(N_IN, N_OUT));
        CHECK(is_placed(view, "R"), "%s", dt_error_text(ctx));
        if (i % 2)
            dt_drop(view);
        dt_drop(w);
        if (i < 2)
            CHECK(dt_ones(ctx, DT_SHAPE(1), .mesh = mesh), "%s", dt_error_text(ctx)); /* reuses what was freed */
        dt_scope_end(scope);
        CHECK(dt_heap_stats(ctx).live_bytes == live, "%zu bytes, before %zu", dt_heap_stats(ctx).live_bytes, live);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* Lists: what the op only reads is gathered, once for all items that read it. */
static int is_read_by_list_ops(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *w = weight(ctx, mesh, "S(0)", "R");
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(N_OUT, N_IN), .mesh = mesh, .place = "R");
    dt_tensor *b = dt_ones(ctx, DT_SHAPE(N_OUT, N_IN), .mesh = mesh, .place = "R"),
              *plain = dt_ones(ctx, DT_SHAPE(2));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    for (int i = 1; i <= 2; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
        CHECK_OK(ctx, dt_foreach_add_(DT_TENSORS(a, plain, b), DT_TENSORS(w, plain, w)));
        dt_scope_end(scope);
        CHECK(counted(ctx, "use") == i * (dt_world(ctx) > 1) && counted(ctx, "_foreach_add_") == 0, "%s",
              dt_comm_stats_text(ctx));
    }
    for (int i = 0; i < N_OUT * N_IN; i++)
        CHECK(((float *)dt_data(a))[i] == (float)(1 + 2 * i) && ((float *)dt_data(b))[i] == (float)(1 + 2 * i),
              "element %d", i);
    dt_mesh_release(mesh);
    return 0;
}

/* Views that move nothing share the memory and see the use placement through the view; others are views of the copy. */
static int is_inherited_by_views(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    int64_t several = dt_world(ctx) > 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", "R");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_scope scope = dt_scope_begin(ctx);
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    for (int round = 0; round < 2; round++) {
        dt_tensor *t = dt_transpose(w, 0, 1), *d = dt_detach(t);
        CHECK(dt_tensor_shares(t, w) && is_placed(t, "S(1)"), "%s", dt_error_text(ctx));
        CHECK(has_text(t, "f32[3,7] ") && has_text(t, "S(1) use R on") && has_text(d, "S(1) use R on"), "no use");
        CHECK(is_product(dt_mm(x, t), 0) && is_product(dt_mm(x, d), 0), "%s", dt_error_text(ctx));
        CHECK(counted(ctx, "use") == several && counted(ctx, "mm") == 0, "%s", dt_comm_stats_text(ctx));
    }
    dt_tensor *columns = dt_slice(w, 1, 1, 3, 1);
    CHECK(has_text(columns, "f32[7,2] S(0) use R on"), "a view along another dim");
    CHECK(dt_item(dt_sum(columns)) == 147, "%g", dt_item(dt_sum(columns)));
    /* along the sharded dim the stored tensor would have to move */
    dt_tensor *rows = dt_slice(w, 0, 1, 5, 1);
    CHECK(is_placed(rows, "R") && !dt_tensor_use(rows), "%s", dt_error_text(ctx));
    CHECK(dt_item(dt_sum(rows)) == 102, "%g", dt_item(dt_sum(rows)));
    CHECK(counted(ctx, "slice") == 0, "%s", dt_comm_stats_text(ctx));
    FAILS(DT_ERR_STATE, dt_fill_(rows, 0), "it is a view of a copy made by slice");
    CHECK(dt_fill_(columns, 1), "%s", dt_error_text(ctx));
    FAILS(DT_ERR_STATE, dt_sum(rows), "the input has been changed by fill_");
    CHECK(dt_item(dt_sum(dt_slice(w, 0, 1, 5, 1))) == 38, "taken again: %g",
          dt_item(dt_sum(dt_slice(w, 0, 1, 5, 1))));
    dt_scope_end(scope);
    dt_mesh_release(mesh);
    return 0;
}

/* Functions and ops that see the stored tensor, and results that have no use placement. */
static int is_seen_as_stored(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *w = weight(ctx, mesh, "S(0)", "R"), *buffer = dt_zeros_like(w), *copy = dt_clone(w);
    int64_t several = dt_world(ctx) > 1;
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK(is_placed(buffer, "S(0)") && !dt_tensor_use(buffer) && is_placed(copy, "S(0)") && !dt_tensor_use(copy),
          "%s", dt_error_text(ctx));
    CHECK(dt_copy_(buffer, w) && is_placed(dt_ones_like(w), "S(0)"), "%s", dt_error_text(ctx));
    CHECK(dt_tensor_elements(dt_to_local(w)) == dt_tensor_local_elements(w), "to_local");
    dt_as_stored_begin(ctx);
    dt_as_stored_begin(ctx);
    CHECK(is_placed(dt_mul_scalar(w, 2), "S(0)"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_as_stored_end(ctx));
    CHECK(is_placed(dt_mul_scalar(w, 2), "S(0)"), "they nest: %s", dt_error_text(ctx));
    CHECK(dt_tensor_use(dt_transpose(w, 0, 1)), "views inherit it there, too");
    CHECK_OK(ctx, dt_as_stored_end(ctx));
    CHECK(counted(ctx, NULL) == 0, "%s", dt_comm_stats_text(ctx));
    dt_tensor *norm = dt_linalg_vector_norm(w);
    CHECK(dt_item(dt_mul(norm, norm)) > 2869.9 && dt_item(dt_mul(norm, norm)) < 2870.1, "%g", dt_item(norm));
    CHECK(counted(ctx, "use") == 0, "%s", dt_comm_stats_text(ctx));
    CHECK(is_placed(dt_mul_scalar(w, 2), "R") && counted(ctx, "use") == several, "%s", dt_comm_stats_text(ctx));
    int64_t all = counted(ctx, NULL);
    CHECK(is_placed(dt_redistribute(w, "S(1)"), "S(1)") && counted(ctx, NULL) == all + several, "redistribute");
    char *text = dt_format(w);
    CHECK(text && (dt_rank(ctx) || strstr(text, "f32[7,3] S(0) use R on mesh(fsdp=")), "%s", text ? text : "NULL");
    free(text);
    dt_mesh_release(mesh);
    return 0;
}

/* Some mesh dims only; strided and explicit shards; a use placement that shards what is replicated. */
static int uses_on_two_mesh_dims(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const struct {
        const char *place, *use, *x, *y;
    } cases[] = {
        {"S(0),R", "R,R", "S(0),R", "S(0),R"},          {"S(0),S(1)", "R,S(1)", "S(0),S(1)", "S(0),P(sum)"},
        {"S(0),S(0)", "R,S(0)", "S(0),R", "S(0),S(1)"}, {"R,S(0)", "R,R", "R,S(0)", "R,S(0)"},
        {"S(0),S(0)", "R,R", "S(0),S(0)", "S(0),S(0)"}, {"R,R", "R,S(0)", "S(0),R", "S(0),S(1)"},
        {"P(sum),S(0)", "R,R", "S(0),R", "S(0),R"},
    };
    char form[32];
    snprintf(form, sizeof form, "dp=%" PRId64 ",fsdp=2", dt_world(ctx) / 2);
    dt_mesh *mesh = dt_mesh_new(ctx, form);
    CHECK(mesh, "%s", dt_error_text(ctx));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int round = 0; round < 2; round++) {
            dt_scope scope = dt_scope_begin(ctx);
            dt_tensor *w = weight(ctx, mesh, cases[i].place, cases[i].use), *x = batch(ctx, mesh, cases[i].x);
            CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
            dt_tensor *y = dt_linear(x, w);
            CHECK(is_placed(y, cases[i].y) && is_product(y, 0), "%s use %s: %s", cases[i].place, cases[i].use,
                  dt_error_text(ctx));
            dt_tensor *t = dt_transpose(w, 0, 1);
            CHECK(dt_tensor_use(t) && is_product(dt_mm(x, t), 0), "%s use %s: %s", cases[i].place, cases[i].use,
                  dt_error_text(ctx));
            dt_scope_end(scope);
        }
    dt_mesh_release(mesh);
    return 0;
}

/* Records have the stored tensor; what was moved dies with the scope all the same. */
static int is_recorded_as_stored(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", "R");
    size_t live = live_bytes(ctx, w);
    CHECK_OK(ctx, dt_set_requires_grad(w, true));
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *y = dt_keep(dt_linear(x, w));
    dt_scope_end(scope);
    CHECK(dt_heap_stats(ctx).live_bytes == live + (size_t)dt_tensor_local_elements(y) * 4, "%zu bytes, before %zu",
          dt_heap_stats(ctx).live_bytes, live);
    CHECK_RECORD(y, "linear(f32[4,3] S(0); f32[7,3] S(0) use R) -> f32[4,7] S(0); from -, 1; saves input 1");
    /* a list op records its items in the same way */
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(N_OUT, N_IN), .mesh = mesh, .place = "R");
    CHECK_OK(ctx, dt_foreach_add_(DT_TENSORS(a), DT_TENSORS(w)));
    CHECK_RECORD(a, "_foreach_add_(f32[7,3] R; f32[7,3] S(0) use R) -> f32[7,3] R; changes -, 1");
    dt_mesh_release(mesh);
    return 0;
}

/* A gradient reads the weight in its use placement, gathering it again, and arrives as the weight is stored; a step of
 * an optimizer then moves nothing. */
static int has_a_gradient_as_stored(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    int64_t gathers = dt_world(ctx) > 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", "R");
    CHECK_OK(ctx, dt_set_requires_grad(w, true));
    CHECK_OK(ctx, dt_set_requires_grad(x, true));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    for (int step = 0; step < 2; step++) {
        dt_scope scope = dt_scope_begin(ctx), block = dt_scope_begin(ctx);
        int64_t before = counted(ctx, "use");
        dt_tensor *y = dt_keep(dt_linear(x, w));
        dt_scope_end(block);
        CHECK_OK(ctx, dt_backward(dt_sum(y)));
        CHECK(counted(ctx, "use") - before == 2 * gathers, "%s", dt_comm_stats_text(ctx));
        dt_tensor *g = dt_grad(w);
        CHECK(is_placed(g, "S(0)") && !dt_tensor_use(g) && is_placed(dt_grad(x), "S(0)"), "%s", dt_error_text(ctx));
        const float *gw = dt_data(dt_full_tensor(g)), *gx = dt_data(dt_full_tensor(dt_grad(x)));
        for (int i = 0; i < N_OUT * N_IN; i++) /* the sum of 3 b + k over b */
            CHECK(gw[i] == (float)(18 + 4 * (i % N_IN)), "element %d: %g", i, (double)gw[i]);
        for (int i = 0; i < N_BATCH * N_IN; i++) { /* the sum of 3 o + k over o, less what the first step took */
            int k = i % N_IN;
            CHECK(gx[i] == (float)(63 + 7 * k - step * 7 * (18 + 4 * k)), "element %d: %g", i, (double)gx[i]);
        }
        int64_t all = counted(ctx, NULL);
        dt_no_grad_begin(ctx);
        CHECK(dt_add_(w, g, .alpha = DT_NUMBER(-1)), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_no_grad_end(ctx));
        CHECK(counted(ctx, NULL) == all, "%s", dt_comm_stats_text(ctx));
        CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x, w)));
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static int refuses(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *plain = dt_ones(ctx, DT_SHAPE(4)), *w = weight(ctx, mesh, "S(0)", NULL);
    dt_tensor *p = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .place = "P(sum)");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(plain, "R") == DT_OK, "set_use: f32[4]: use: expected a distributed tensor",
          "test_use_placement.c");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(w, "R,R") == DT_OK, "set_use", "f32[7,3] S(0)");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(w, "X") == DT_OK, "set_use", "expected a placement");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(w, "S(2)") == DT_OK, "set_use");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(w, "P(sum)") == DT_OK, "use: mesh dim 0: S(0) cannot be used as P(sum)");
    FAILS(DT_ERR_PLACEMENT, dt_set_use(p, "P(max)") == DT_OK, "use: mesh dim 0: P(sum) cannot be used as P(max)");
    FAILS(DT_ERR_PLACEMENT, dt_ones(ctx, DT_SHAPE(4), .use = "R"), "ones", "use: expected a distributed tensor");
    FAILS(DT_ERR_PLACEMENT, dt_randn(ctx, DT_SHAPE(4), .mesh = mesh, .use = "Q"), "randn", "expected a placement");
    FAILS(DT_ERR_PLACEMENT, dt_distribute_tensor(plain, mesh, "S(0)", .use = "P(sum)"), "distribute_tensor", "use: ");
    FAILS(DT_ERR_PLACEMENT, dt_from_local(ctx, plain, mesh, "R", .use = "P(sum)"), "from_local", "use: ");
    FAILS(DT_ERR_STATE, dt_as_stored_end(ctx) == DT_OK,
          "as_stored_end: expected an open dt_as_stored_begin, got none");
    CHECK(!dt_tensor_use(w) && !dt_tensor_use(plain) && !dt_tensor_use(NULL), "nothing was set");
    CHECK_OK(ctx, dt_set_use(p, "R"));
    CHECK(dt_item(dt_sum(dt_neg(p))) == -4, "%s", dt_error_text(ctx));
    /* A wrong call is refused before anything is moved. */
    CHECK_OK(ctx, dt_set_use(w, "R"));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    FAILS(DT_ERR_SHAPE, dt_mm(w, w), "mm", "f32[7,3] S(0) use R on mesh");
    CHECK(counted(ctx, NULL) == 0, "%s", dt_comm_stats_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

/* Makers have it as an option, and loading, whose file is `arg`; files do not have it. */
static int is_an_option_of_makers(dt_ctx *ctx, void *arg) {
    const char *path = arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    CHECK_OK(ctx, dt_save_npy(weight(ctx, mesh, "S(0)", "R"), path));
    CHECK(!dt_tensor_use(dt_load_npy(ctx, path, .mesh = mesh, .place = "S(0)")), "%s", dt_error_text(ctx));
    dt_tensor *made[] = {
        dt_zeros(ctx, DT_SHAPE(5, 2), .mesh = mesh, .place = "S(0)", .use = "R"),
        dt_full(ctx, DT_SHAPE(5, 2), dt_number_int(3), .mesh = mesh, .place = "S(0)", .use = "R"),
        dt_eye(ctx, 5, 2, .mesh = mesh, .place = "S(0)", .use = "R"),
        dt_tri(ctx, 5, 2, 0, .mesh = mesh, .place = "S(0)", .use = "R"),
        dt_rand(ctx, DT_SHAPE(5, 2), .mesh = mesh, .place = "S(0)", .use = "R", .requires_grad = true),
        dt_distribute_tensor(dt_ones(ctx, DT_SHAPE(5, 2)), mesh, "S(0)", .use = "R"),
        dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(1, 2)), mesh, "S(0)", .use = "R"),
        dt_load_npy(ctx, path, .mesh = mesh, .place = "S(0)", .use = "R"),
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        CHECK(made[i] && has_text(made[i], "S(0) use R on mesh(fsdp="), "maker %zu: %s", i, dt_error_text(ctx));
        CHECK(is_placed(dt_neg(made[i]), "R"), "maker %zu: %s", i, dt_error_text(ctx));
    }
    CHECK(!dt_tensor_use(dt_zeros(ctx, DT_SHAPE(5, 2), .mesh = mesh, .place = "S(0)")), "the next one has none");
    dt_mesh_release(mesh);
    return 0;
}

/* An op that is a decomposition: its own ops see the use placement. */
static dt_status decompose_project(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    (void)call;
    outputs[0] = dt_linear(inputs[0], inputs[1]);
    return outputs[0] ? DT_OK : DT_ERR_VALUE;
}

static dt_status shape_project(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, 2,
                            (int64_t[]){call->inputs[0].shape[0], call->inputs[1].shape[0]});
}

static int is_seen_in_decompositions(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const dt_op project = {.schema = "project(Tensor self, Tensor weight) -> Tensor",
                                  .shape = shape_project,
                                  .decompose = decompose_project};
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    CHECK_OK(ctx, dt_op_register(ctx, &project));
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", "R");
    CHECK_OK(ctx, dt_set_requires_grad(w, true));
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    dt_tensor *y = dt_call(ctx, "project", x, w);
    CHECK(is_placed(y, "S(0)") && is_product(y, 0) && dt_requires_grad(y), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

/* Traces show the transfer below the op, by its name; explanations and the log show the use placement. */
static int is_shown(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", "R");
    CHECK_OK(ctx, dt_trace_begin(ctx, NULL));
    (void)dt_linear(x, w);
    (void)dt_linear(x, w);
    CHECK_OK(ctx, dt_trace_end(ctx));
    const char *call = strstr(dt_trace_text(ctx), "linear(f32[4,3] S(0); f32[7,3] S(0) use R) -> f32[4,7] S(0)");
    const char *use = strstr(dt_trace_text(ctx), "use: S(0)->R of f32[7,3]: all_gather 1");
    CHECK(call && (use > call || dt_world(ctx) == 1), "%s", dt_trace_text(ctx));
    CHECK(!use || !strstr(use + 1, "use: S(0)->R"), "once: %s", dt_trace_text(ctx));
    const char *why = dt_explain(ctx, "linear", x, w);
    CHECK(why && strstr(why, "f32[7,3] S(0) use R") &&
              strstr(why, "input 2: used as R, as requested: S(0)->R; stays"),
          "%s", why ? why : dt_error_text(ctx));
    why = dt_explain(ctx, "transpose($1; 0; 1)", w);
    CHECK(why && !strstr(why, "as requested"), "a view of the stored tensor: %s", why ? why : dt_error_text(ctx));
    char text[256];
    (void)dt_tensor_text(w, sizeof text, text);
    dt_spec *spec = dt_spec_parse(ctx, text);
    CHECK(spec && spec == dt_tensor_spec(w), "a tensor as it is printed has the spec that it is stored in");
    dt_spec_release(spec);
    FAILS(DT_ERR_PLACEMENT, dt_spec_parse(ctx, "f32[8,6] S(0) use on mesh(1)"), "expected a placement");
    dt_mesh_release(mesh);
    return 0;
}

/* One rank does not set it: an error on all of them, and no wait without end. */
static int differs_between_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *x = batch(ctx, mesh, "S(0)"), *w = weight(ctx, mesh, "S(0)", NULL);
    if (dt_rank(ctx) == 0)
        CHECK_OK(ctx, dt_set_use(w, "R"));
    dt_tensor *y = dt_linear(x, w);
    CHECK(!y && strstr(dt_error_text(ctx), "set_use"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

#define TEST(name, first, last)                                                                                      \
    static void use_placement__##name(void **state) {                                                                \
        (void)state;                                                                                                 \
        for (int64_t n = first; n <= (last); n++)                                                                    \
            run_ranks(n, name, NULL);                                                                                \
    }
TEST(gathers_once_per_scope, 1, 5)
TEST(gathers_a_list_together, 1, 5)
TEST(converts, 1, 5)
TEST(is_in_the_key, 1, 3)
TEST(writes_between_uses, 1, 5)
TEST(is_freed_with_views_of_the_copy, 1, 4)
TEST(is_read_by_list_ops, 1, 3)
TEST(is_inherited_by_views, 1, 5)
TEST(is_seen_as_stored, 1, 3)
TEST(is_recorded_as_stored, 1, 4)
TEST(has_a_gradient_as_stored, 1, 5)
TEST(refuses, 1, 2)
TEST(is_seen_in_decompositions, 1, 3)
TEST(is_shown, 1, 3)
TEST(differs_between_ranks, 2, 3)

static void use_placement__is_an_option_of_makers(void **state) {
    (void)state;
    char folder[256], path[300];
    assert_true(test_make_folder(folder, sizeof folder));
    (void)snprintf(path, sizeof path, "%s/weight.npy", folder);
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, is_an_option_of_makers, path);
    (void)unlink(path);
    assert_int_equal(test_remove_folder(folder), 0);
}

static void use_placement__uses_on_two_mesh_dims(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 6; n += 2)
        run_ranks(n, uses_on_two_mesh_dims, NULL);
}

static void use_placement__survives_failing_allocations(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = test_memory_allocator(&memory)});
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *w = weight(ctx, mesh, "S(0)", NULL), *y = NULL;
    int n_failed = 0;
    for (; !y && n_failed < 200; n_failed += !y) {
        dt_scope scope = dt_scope_begin(ctx);
        size_t heap = dt_heap_stats(ctx).live_bytes;
        memory.fail_at = memory.n_calls + n_failed + 1;
        if (dt_set_use(w, "R") == DT_OK && dt_sum(dt_transpose(w, 0, 1)))
            y = dt_slice(w, 0, 1, 5, 1);
        memory.fail_at = 0;
        if (!y) {
            assert_int_equal(dt_error_status(ctx), DT_ERR_MEMORY);
            assert_int_equal(dt_error_clear(ctx), DT_OK);
        }
        dt_scope_end(scope);
        assert_int_equal(dt_heap_stats(ctx).live_bytes, heap);
    }
    assert_true(y && n_failed > 5 && n_failed < 200);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(use_placement__gathers_once_per_scope),
        cmocka_unit_test(use_placement__gathers_a_list_together),
        cmocka_unit_test(use_placement__converts),
        cmocka_unit_test(use_placement__is_in_the_key),
        cmocka_unit_test(use_placement__writes_between_uses),
        cmocka_unit_test(use_placement__is_freed_with_views_of_the_copy),
        cmocka_unit_test(use_placement__is_read_by_list_ops),
        cmocka_unit_test(use_placement__is_inherited_by_views),
        cmocka_unit_test(use_placement__is_seen_as_stored),
        cmocka_unit_test(use_placement__uses_on_two_mesh_dims),
        cmocka_unit_test(use_placement__is_recorded_as_stored),
        cmocka_unit_test(use_placement__has_a_gradient_as_stored),
        cmocka_unit_test(use_placement__refuses),
        cmocka_unit_test(use_placement__is_an_option_of_makers),
        cmocka_unit_test(use_placement__is_seen_in_decompositions),
        cmocka_unit_test(use_placement__is_shown),
        cmocka_unit_test(use_placement__differs_between_ranks),
        cmocka_unit_test(use_placement__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
