/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes through views, and through tensors that have views: random programs against finite differences, on ranks
 * against one rank, and what is changed by whom.
 */
#include "autograd/backward.h"
#include "support/random.h"

#include <math.h>

enum { ROWS = 5, COLUMNS = 6, MAX_HANDLES = 8, MAX_STEPS = 14, MAX_PATH = 8 };

/* A view of a matrix: the steps that lead to it. */
typedef struct path {
    int n;
    struct {
        bool transposes;
        int64_t start, end, step;
    } steps[MAX_PATH];
    int64_t columns; /* along the dim that is not sharded */
    bool is_turned;  /* that dim is the first one */
} path;

static dt_tensor *follow(const path *of, dt_tensor *tensor) {
    bool turned = false;
    for (int i = 0; i < of->n && tensor; i++) {
        if (of->steps[i].transposes) {
            tensor = dt_transpose(tensor, 0, 1);
            turned = !turned;
        } else
            tensor = dt_slice(tensor, turned ? 0 : 1, of->steps[i].start, of->steps[i].end, of->steps[i].step);
    }
    return tensor;
}

/* One more step of a path. */
static path extend(uint64_t *random, path of) {
    if (of.n == MAX_PATH)
        return of;
    if (of.columns < 2 || test_below(random, 3) == 0) {
        of.steps[of.n++].transposes = true;
        of.is_turned = !of.is_turned;
        return of;
    }
    int64_t start = test_below(random, of.columns), end = start + 1 + test_below(random, of.columns - start),
            step = 1 + test_below(random, 2);
    of.steps[of.n].transposes = false;
    of.steps[of.n].start = start;
    of.steps[of.n].end = end;
    of.steps[of.n++].step = step;
    of.columns = (end - start + step - 1) / step;
    return of;
}

static dt_tensor *constant(const dt_tensor *x, double seed) {
    dt_tensor *full = calls_counting(x->ctx, DT_F64, DT_SHAPE(ROWS, COLUMNS), 0, 0);
    for (int64_t i = 0; full && full->data && i < ROWS * COLUMNS; i++)
        calls_set_element(full, i, 1 + 0.5 * sin(seed + 2.3 * (double)i));
    return x->spec ? calls_distribute(full, x->spec->mesh, "S(0)") : full;
}

/* Views of one tensor are made, written to and read, in an order that follows from its number. */
static dt_tensor *run_program(dt_tensor *x, uint64_t program) {
    uint64_t random = test_seed(program);
    dt_tensor *handles[MAX_HANDLES], *loss = NULL;
    path paths[MAX_HANDLES] = {{.columns = COLUMNS}};
    int n = 1;
    handles[0] = test_below(&random, 2) ? dt_mul(x, constant(x, 1)) : dt_zeros_like(x);
    for (int step = 0; step < MAX_STEPS && handles[n - 1]; step++) {
        int h = (int)test_below(&random, n), action = (int)test_below(&random, 9);
        double number = 0.5 + (double)test_below(&random, 4);
        dt_tensor *source = follow(&paths[h], dt_mul(x, constant(x, number)));
        dt_tensor *factor = follow(&paths[h], constant(x, number + 7)), *ok = handles[h];
        if (action <= 2 && n < MAX_HANDLES) {
            paths[n] = extend(&random, paths[h]);
            /* Only the new step, from the handle itself: its sharded dim may be turned. */
            path one = {.n = paths[n].n > paths[h].n};
            if (one.n)
                one.steps[0] = paths[n].steps[paths[n].n - 1];
            bool slices_turned = one.n && !one.steps[0].transposes && paths[h].is_turned;
            handles[n] = slices_turned
                             ? dt_slice(handles[h], 0, one.steps[0].start, one.steps[0].end, one.steps[0].step)
                             : follow(&one, handles[h]);
            n++;
        } else if (action == 3)
            ok = dt_add_(handles[h], source);
        else if (action == 4)
            ok = dt_mul_scalar_(handles[h], number);
        else if (action == 5)
            ok = dt_copy_(handles[h], source);
        else if (action == 6)
            ok = dt_fill_(handles[h], number);
        else if (action == 7)
            ok = dt_mul_(handles[h], factor);
        else {
            dt_tensor *read = dt_sum(dt_mul(dt_tanh(handles[h]), factor));
            loss = loss ? dt_add(loss, read) : read;
        }
        if (!ok)
            return NULL;
    }
    for (int h = 0; h < n; h++) {
        dt_tensor *read = dt_sum(dt_mul(dt_tanh(handles[h]), follow(&paths[h], constant(x, 20 + h))));
        loss = loss ? dt_add(loss, read) : read;
    }
    return dt_add(loss, dt_sum(dt_mul(x, constant(x, 50)))); /* all else may have been overwritten */
}

static dt_tensor *point(dt_ctx *ctx) {
    dt_tensor *x = calls_counting(ctx, DT_F64, DT_SHAPE(ROWS, COLUMNS), 0, 0);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        calls_set_element(x, i, 0.4 * sin(3.1 * (double)i));
    return x;
}

static double value_at(dt_ctx *ctx, int64_t changed, double by, uint64_t program) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_no_grad_begin(ctx);
    dt_tensor *x = point(ctx);
    calls_set_element(x, changed, calls_element(x, changed) + by);
    double value = dt_item(run_program(x, program));
    (void)dt_no_grad_end(ctx);
    dt_scope_end(scope);
    return value;
}

static void programs__have_the_gradients_of_differences(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    size_t before = dt_heap_stats(ctx).live_bytes;
    for (uint64_t program = 1; program <= 40; program++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *x = point(ctx);
        assert_int_equal(dt_set_requires_grad(x, true), DT_OK);
        if (dt_backward(run_program(x, program)) != DT_OK)
            fail_msg("program %d: %s", (int)program, dt_error_text(ctx));
        for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
            double h = 1e-5, slope = (value_at(ctx, i, h, program) - value_at(ctx, i, -h, program)) / (2 * h);
            double grad = calls_element(dt_grad(x), i);
            if (fabs(grad - slope) > 1e-7 * (1 + fabs(slope)))
                fail_msg("program %d, element %d: expected %.10g, got %.10g", (int)program, (int)i, slope, grad);
        }
        dt_scope_end(scope);
    }
    assert_int_equal(dt_heap_stats(ctx).live_bytes, before);
    assert_int_equal(dt_close(ctx), 0);
}

static int check_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    for (uint64_t program = 1; program <= 20; program++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *plain = point(ctx), *x = calls_distribute(plain, mesh, "S(0)");
        CHECK_OK(ctx, dt_set_requires_grad(plain, true));
        CHECK_OK(ctx, dt_set_requires_grad(x, true));
        CHECK_OK(ctx, dt_backward(run_program(plain, program)));
        CHECK_OK(ctx, dt_backward(run_program(x, program)));
        dt_tensor *expected = dt_contiguous(dt_grad(plain)), *got = dt_contiguous(dt_full_tensor(dt_grad(x)));
        CHECK(expected && got, "%d: %s", (int)program, dt_error_text(ctx));
        for (int64_t i = 0; i < ROWS * COLUMNS; i++)
            CHECK(fabs(calls_element(expected, i) - calls_element(got, i)) < 1e-12, "program %d, element %d: %g, %g",
                  (int)program, (int)i, calls_element(expected, i), calls_element(got, i));
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void programs__on_ranks_have_the_gradients_of_one(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_ranks, NULL);
}

static void write__through_a_view_changes_the_tensor(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3, 2), .requires_grad = true), *b = dt_mul_scalar(x, 2);
    dt_tensor *row = dt_select(b, 0, 0), *column = dt_select(b, 1, 1);
    assert_non_null(dt_mul_scalar_(row, 3));
    assert_string_equal(records_last(b), "mul(f32[3,2]; 2) -> f32[3,2]; from 1"); /* until it is used */
    assert_int_equal(dt_backward(dt_sum(b)), DT_OK);
    dt_tensor *grad = dt_grad(x);
    assert_true(at(grad, 0) == 6 && at(grad, 1) == 6 && at(grad, 2) == 2 && at(grad, 5) == 2);
    assert_int_equal(dt_zero_grad(DT_TENSORS(x)), DT_OK);
    assert_int_equal(dt_backward(dt_sum(column)), DT_OK); /* another view: one of its elements was written */
    grad = dt_grad(x);
    assert_true(at(grad, 0) == 0 && at(grad, 1) == 6 && at(grad, 3) == 2 && at(grad, 4) == 0);
    /* The other way round: a view of a tensor that is written. */
    assert_int_equal(dt_zero_grad(DT_TENSORS(x)), DT_OK);
    dt_tensor *c = dt_mul_scalar(x, 2), *view = dt_select(c, 0, 1);
    assert_non_null(dt_mul_scalar_(c, 5));
    assert_int_equal(dt_backward(dt_sum(view)), DT_OK);
    grad = dt_grad(x);
    assert_true(at(grad, 0) == 0 && at(grad, 2) == 10 && at(grad, 3) == 10);
    assert_int_equal(dt_close(ctx), 0);
}

static void write__to_a_part_makes_a_tensor_require_a_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true), *b = dt_zeros(ctx, DT_SHAPE(3, 2));
    dt_tensor *rows[3];
    for (int i = 0; i < 3; i++)
        rows[i] = dt_select(b, 0, i);
    assert_true(!dt_requires_grad(b) && dt_is_leaf(b));
    assert_non_null(dt_copy_(rows[1], dt_mul_scalar(x, 4)));
    assert_true(dt_requires_grad(b) && !dt_is_leaf(b) && !dt_requires_grad(rows[0]));
    assert_non_null(dt_copy_(rows[2], dt_mul_scalar(x, 6)));
    assert_int_equal(dt_backward(dt_sum(dt_mul(b, b))), DT_OK);
    assert_true(at(dt_grad(x), 0) == 2 * 16 + 2 * 36);
    /* Overwritten: nothing of it is left. */
    assert_int_equal(dt_zero_grad(DT_TENSORS(x)), DT_OK);
    assert_non_null(dt_copy_(rows[1], x));
    assert_int_equal(dt_uniform_(rows[1]), DT_OK);
    assert_non_null(dt_fill_(rows[2], 0));
    assert_int_equal(dt_backward(dt_add(dt_sum(b), dt_sum(x))), DT_OK);
    assert_true(at(dt_grad(x), 0) == 1);
    assert_int_equal(dt_close(ctx), 0);
}

static void write__is_refused_or_found_by_its_version(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_full(ctx, DT_SHAPE(3, 2), 2, .requires_grad = true);
    assert_null(dt_fill_(dt_select(x, 0, 1), 1));
    assert_error_contains(ctx, DT_ERR_STATE, "a view of a leaf");
    (void)dt_error_clear(ctx);
    dt_tensor *b = dt_exp(x), *y = dt_sum(b), *view = dt_select(b, 1, 0);
    assert_non_null(dt_fill_(view, 1));
    assert_int_equal(dt_backward(y), DT_ERR_STATE); /* exp has saved all of its result */
    assert_error_contains(ctx, DT_ERR_STATE, "output 1 of exp (at ");
    assert_error_contains(ctx, DT_ERR_STATE, "has been changed by fill_ (at ");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void detached__tensors_are_apart(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true), *b = dt_mul_scalar(x, 2), *d = dt_detach(b);
    dt_tensor *part = dt_slice(d, 0, 0, 2, 1);
    assert_non_null(dt_mul_scalar_(b, 3));
    assert_true(!dt_requires_grad(d) && !dt_requires_grad(part) && at(d, 0) == 6);
    /* What is written through a detached tensor requires a gradient there, and nowhere else. */
    assert_non_null(dt_copy_(part, dt_slice(x, 0, 0, 2, 1)));
    assert_true(dt_requires_grad(d) && dt_requires_grad(part));
    assert_int_equal(dt_backward(dt_sum(d)), DT_OK);
    assert_true(at(dt_grad(x), 0) == 1 && at(dt_grad(x), 3) == 0);
    assert_int_equal(dt_zero_grad(DT_TENSORS(x)), DT_OK);
    assert_int_equal(dt_backward(dt_sum(b)), DT_OK);
    assert_true(at(dt_grad(x), 0) == 6);
    dt_no_grad_begin(ctx);
    dt_tensor *c = dt_zeros(ctx, DT_SHAPE(4)), *hidden = dt_slice(c, 0, 0, 2, 1);
    assert_int_equal(dt_no_grad_end(ctx), DT_OK);
    assert_non_null(dt_copy_(c, x));
    assert_true(!dt_requires_grad(hidden));
    assert_int_equal(dt_close(ctx), 0);
}

/* Records that save what they write keep nothing alive once no tensor is left, with or without a walk. */
static void storages__are_freed_with_the_last_handle(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(64, 64), .requires_grad = true);
    size_t before = dt_heap_stats(ctx).live_bytes;
    for (int computes = 0; computes < 2; computes++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *b = dt_mul_scalar(x, 1), *rows[8];
        for (int i = 0; i < (computes ? 1 : 8); i++) { /* each changes the version of what the others saved */
            rows[i] = dt_select(b, 0, i);
            assert_non_null(dt_exp_(rows[i])); /* saves its result, which is in b */
        }
        dt_tensor *loss = dt_sum(dt_select(b, 0, 63));
        if (computes)
            assert_int_equal(dt_backward(loss), DT_OK);
        dt_scope_end(scope);
        assert_int_equal(dt_zero_grad(DT_TENSORS(x)), DT_OK);
        assert_int_equal(dt_heap_stats(ctx).live_bytes, before);
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void as_strided__sums_elements_that_it_repeats(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(6), .dtype = DT_F64, .requires_grad = true), *first[1];
    dt_tensor *windows = dt_as_strided(x, DT_SHAPE(4, 3), DT_INTS(1, 1), 0); /* [4,3]: i + j */
    static const double expected[] = {1, 2, 3, 3, 2, 1};
    assert_int_equal(dt_backward(dt_sum(windows)), DT_OK);
    for (int i = 0; i < 6; i++)
        assert_true(at(dt_grad(x), i) == expected[i]);
    /* Second derivatives pass it, and writes through views. */
    dt_tensor *b = dt_mul_scalar(x, 2), *part = dt_slice(b, 0, 1, 3, 1);
    assert_non_null(dt_mul_(part, dt_slice(x, 0, 0, 2, 1))); /* b: 2 x0, 2 x1 x0, 2 x2 x1, 2 x3, … */
    dt_tensor *loss = dt_sum(dt_as_strided(dt_mul(b, b), DT_SHAPE(2, 6), DT_INTS(0, 1), 0));
    assert_int_equal(dt_gradients(DT_TENSORS(loss), DT_TENSORS(x), first, .create_graph = true), DT_OK);
    assert_true(at(first[0], 0) == 32 && at(first[0], 1) == 32 && at(first[0], 2) == 16 && at(first[0], 3) == 16);
    assert_int_equal(dt_zero_grad(DT_TENSORS(x)), DT_OK);
    if (dt_backward(dt_sum(first[0])) != DT_OK)
        fail_msg("%s", dt_error_text(ctx));
    /* loss = 8 (x0² + x0² x1² + x1² x2² + …): sums of the rows of its second derivatives at ones. */
    assert_true(at(dt_grad(x), 0) == 16 + 16 + 32 && at(dt_grad(x), 1) == 16 + 32 + 16 + 32 &&
                at(dt_grad(x), 2) == 32 + 16 && at(dt_grad(x), 4) == 16);
    assert_int_equal(dt_close(ctx), 0);
}

static bool write_row(dt_ctx *ctx, void *user) {
    (void)user;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3, 2), .requires_grad = true), *b = dt_zeros(ctx, DT_SHAPE(3, 2));
    dt_tensor *row = dt_select(b, 0, 1);
    return dt_copy_(row, dt_select(x, 0, 2)) && dt_backward(dt_sum(b)) == DT_OK;
}

static void writes__survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_recovers_from_failing_allocations(write_row, NULL, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs__have_the_gradients_of_differences),
        cmocka_unit_test(programs__on_ranks_have_the_gradients_of_one),
        cmocka_unit_test(write__through_a_view_changes_the_tensor),
        cmocka_unit_test(write__to_a_part_makes_a_tensor_require_a_gradient),
        cmocka_unit_test(write__is_refused_or_found_by_its_version),
        cmocka_unit_test(detached__tensors_are_apart),
        cmocka_unit_test(storages__are_freed_with_the_last_handle),
        cmocka_unit_test(as_strided__sums_elements_that_it_repeats),
        cmocka_unit_test(writes__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
