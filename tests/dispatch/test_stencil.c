/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_local_map with halos: a function of the program on sharded dims. Values against loops on the full tensor, bytes:
 * exactly what a rank reads and does not hold; the inside is this rank's memory.
 */
#include "dispatch/calls.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <fcntl.h>
#include <unistd.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__})

typedef struct stencil_case {
    int64_t n_ranks;
    const char *mesh, *x, *y;
    int64_t rows, columns;       /* of x */
    int64_t y_rows, y_columns;   /* 0: as x */
    int64_t before[2], after[2]; /* the halo */
    const char *border;
} stencil_case;

/* What the function needs, and what it notes. */
typedef struct notes {
    const stencil_case *test;
    const double *shard; /* the memory of x on this rank */
    int64_t shard_elements, n_calls, n_copied, n_in_place;
} notes;

static double weight(int64_t i, int64_t j) { return (double)(1 + 3 * i + 7 * j); }

/* The sum of what is around each element, with weights, and its index. */
static dt_status sum_around(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    notes *of = user;
    const int64_t *before = of->test->before, *after = of->test->after, *offset = dt_local_map_offset(ctx);
    const dt_tensor *x = inputs[0], *y = outputs[0];
    const double *from = (const double *)x->data;
    bool in_place = of->shard && from >= of->shard && from < of->shard + of->shard_elements;
    of->n_calls++;
    *(in_place ? &of->n_in_place : &of->n_copied) += dt_tensor_elements(x);
    for (int d = 0; d < 2; d++)
        if (x->shape[d] != y->shape[d] + before[d] + after[d])
            return dt_error_set(ctx, DT_ERR_SHAPE, "dim %d: %" PRId64 " elements for %" PRId64, d, x->shape[d],
                                y->shape[d]);
    for (int64_t i = 0; i < y->shape[0]; i++)
        for (int64_t j = 0; j < y->shape[1]; j++) {
            double sum = (double)(1000 * (offset[0] + i) + offset[1] + j);
            for (int64_t a = 0; a <= before[0] + after[0]; a++)
                for (int64_t b = 0; b <= before[1] + after[1]; b++)
                    sum += weight(a, b) * from[(i + a) * x->strides[0] + (j + b) * x->strides[1]];
            ((double *)y->data)[i * y->strides[0] + j * y->strides[1]] = sum;
        }
    return DT_OK;
}

/* The index that is read beyond a border; -1: zero. */
static int64_t source_of(const char *border, int64_t at, int64_t size) {
    if (at >= 0 && at < size)
        return at;
    if (!border || !strcmp(border, "constant"))
        return -1;
    return !strcmp(border, "circular") ? (at % size + size) % size : at < 0 ? 0 : size - 1;
}

static double expected_at(const stencil_case *test, const dt_tensor *x, int64_t i, int64_t j) {
    double sum = (double)(1000 * i + j);
    for (int64_t a = -test->before[0]; a <= test->after[0]; a++)
        for (int64_t b = -test->before[1]; b <= test->after[1]; b++) {
            int64_t row = source_of(test->border, i + a, test->rows);
            int64_t column = source_of(test->border, j + b, test->columns);
            if (row >= 0 && column >= 0)
                sum +=
                    weight(a + test->before[0], b + test->before[1]) * calls_element(x, row * test->columns + column);
        }
    return sum;
}

/* The bytes of what this rank reads and does not hold. */
static int64_t halo_bytes(const stencil_case *test, const dt_tensor *x, const dt_tensor *y) {
    int64_t coordinate[DT_MESH_MAX_DIMS], local[2], n = 0;
    const dt_local *part = &y->spec->local;
    (void)dt_mesh_coordinate(y->spec->mesh, coordinate);
    for (int64_t i = part->offset[0] - test->before[0];
         part->elements && i < part->offset[0] + part->shape[0] + test->after[0]; i++)
        for (int64_t j = part->offset[1] - test->before[1]; j < part->offset[1] + part->shape[1] + test->after[1];
             j++) {
            int64_t at[] = {source_of(test->border, i, test->rows), source_of(test->border, j, test->columns)};
            n += at[0] >= 0 && at[1] >= 0 && !dt_spec_to_local(x->spec, coordinate, at, local);
        }
    return n * 8;
}

static int run_case(dt_ctx *ctx, void *arg) {
    const stencil_case *test = arg;
    int64_t shape[] = {test->y_rows ? test->y_rows : test->rows, test->y_columns ? test->y_columns : test->columns};
    dt_mesh *mesh = dt_mesh_new(ctx, test->mesh);
    dt_tensor *full = calls_counting(ctx, DT_F64, DT_SHAPE(test->rows, test->columns), -5, 3);
    dt_tensor *x = calls_distribute(full, mesh, test->x), *y = NULL;
    CHECK(x, "%s", dt_error_text(ctx));
    char halo[64];
    (void)snprintf(halo, sizeof halo, "%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64, test->before[0],
                   test->after[0], test->before[1], test->after[1]);
    for (int again = 0; again < 2; again++) { /* the second time it is prepared */
        notes of = {test, (const double *)x->data, x->spec->local.elements, 0, 0, 0};
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK_OK(ctx, dt_local_map(ctx,
                                   &(dt_local_mapping){.run = sum_around,
                                                       .user = &of,
                                                       .n_inputs = 1,
                                                       .inputs = &x,
                                                       .n_outputs = 1,
                                                       .out = LIST(test->y),
                                                       .shapes = test->y_rows ? &(dt_shape){2, shape} : NULL,
                                                       .halo = LIST(halo),
                                                       .border = test->border},
                                   &y));
        dt_comm_statistics all = dt_comm_stats(ctx, NULL);
        dt_comm_stats_end(ctx);
        int64_t bytes = halo_bytes(test, x, y), elements = y->spec->local.elements;
        CHECK(all.n <= 1 && all.bytes == bytes, "%s on mesh(%s), halo %s: %lld exchanges, %lld bytes, expected %lld",
              test->x, test->mesh, halo, (long long)all.n, (long long)all.bytes, (long long)bytes);
        CHECK(!dt_local_map_offset(ctx) && of.n_calls <= 5 && (of.n_calls > 0) == (elements > 0), "%lld calls",
              (long long)of.n_calls);
        dt_tensor *got = dt_full_tensor(y);
        CHECK(got && got->shape[0] == shape[0] && got->shape[1] == shape[1], "%s", dt_error_text(ctx));
        for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
            double want = expected_at(test, full, i / shape[1], i % shape[1]);
            CHECK(calls_element(got, i) == want, "%s on mesh(%s), halo %s: element %lld: expected %g, got %g",
                  test->x, test->mesh, halo, (long long)i, want, calls_element(got, i));
        }
        CHECK(strcmp(calls_placements(y), test->y) == 0, "expected %s, got %s", test->y, calls_placements(y));
        int64_t largest = test->before[0] + test->after[0] + test->before[1] + test->after[1];
        if (elements > 1000 && !strcmp(test->x, test->y))
            CHECK(of.n_copied < largest * 4 * (test->rows + test->columns), "%lld elements copied",
                  (long long)of.n_copied);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void stencil__gives_the_values_of_one_rank(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        const char *mesh, *x;
    } worlds[] = {{1, "1", "S(0)"},        {2, "2", "S(0)"},        {3, "3", "S(1)"},        {5, "5", "S(0)"},
                  {4, "2,2", "S(0),S(1)"}, {6, "3,2", "S(1),S(0)"}, {4, "2,2", "S(0),S(0)"}, {6, "2,3", "R,S(0)"},
                  {3, "3", "S(0:5,0,4)"},  {7, "7", "S(0)"}};
    static const struct {
        int64_t before[2], after[2];
    } halos[] = {{{1, 1}, {1, 1}}, {{2, 0}, {1, 0}}, {{0, 0}, {0, 0}}, {{0, 3}, {2, 1}}, {{4, 0}, {5, 2}}};
    static const char *const borders[] = {NULL, "circular", "replicate"};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        for (size_t h = 0; h < sizeof halos / sizeof *halos; h++) {
            stencil_case test = {.n_ranks = worlds[w].n,
                                 .mesh = worlds[w].mesh,
                                 .x = worlds[w].x,
                                 .y = worlds[w].x,
                                 .rows = 9,
                                 .columns = 7,
                                 .border = borders[(w + h) % 3]};
            memcpy(test.before, halos[h].before, sizeof test.before);
            memcpy(test.after, halos[h].after, sizeof test.after);
            run_ranks(test.n_ranks, run_case, &test);
        }
}

/* Outputs of other sizes and placements than the input; large ones, whose inside is not copied. */
static void stencil__of_other_shapes_and_placements(void **state) {
    (void)state;
    static const stencil_case cases[] = {
        {2, "2", "S(0)", "S(0)", 12, 5, 10, 3, {0, 0}, {2, 2}, NULL},
        {3, "3", "S(0)", "S(0)", 12, 5, 20, 5, {0, 1}, {1, 1}, "circular"},
        {3, "3", "S(0)", "S(1)", 8, 7, 0, 0, {1, 1}, {1, 1}, "replicate"},
        {2, "2", "R", "S(0)", 8, 7, 0, 0, {1, 1}, {1, 1}, NULL},
        {2, "2", "S(1)", "R", 8, 7, 0, 0, {1, 1}, {1, 1}, NULL},
        {4, "2,2", "S(0),S(1)", "S(1),S(0)", 8, 7, 0, 0, {1, 2}, {2, 1}, "circular"},
        {5, "5", "S(0)", "S(0)", 3, 2, 0, 0, {1, 1}, {1, 1}, "circular"},
        {2, "2", "S(0)", "S(0)", 1, 1, 0, 0, {3, 3}, {3, 3}, "circular"},
        {4, "2,2", "S(0),S(1)", "S(0),S(1)", 130, 120, 0, 0, {1, 1}, {1, 1}, NULL},
        {3, "3", "S(1)", "S(1)", 130, 120, 0, 0, {2, 0}, {1, 4}, "circular"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_ranks(cases[i].n_ranks, run_case, (void *)&cases[i]);
}

/* Differences of neighbors by ops: gradients flow through them, whatever the placement. */
static dt_status differences(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    int64_t n = dt_tensor_size(outputs[0], 0);
    (void)user;
    outputs[0] = dt_mul(dt_sub(dt_narrow(inputs[0], 0, 2, n), dt_narrow(inputs[0], 0, 0, n)), inputs[1]);
    return outputs[0] ? DT_OK : dt_error_status(ctx);
}

static int take_gradients(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    dt_tensor *x = calls_distribute(calls_counting(ctx, DT_F64, DT_SHAPE(7, 2), 1, 2), mesh, "S(0)");
    dt_tensor *factor = calls_distribute(calls_counting(ctx, DT_F64, DT_SHAPE(7, 2), -3, 1), mesh, "S(0)"), *y;
    (void)arg;
    dt_local_mapping mapping = {.run = differences,
                                .n_inputs = 2,
                                .inputs = (dt_tensor *const[]){x, factor},
                                .n_outputs = 1,
                                .out = LIST("S(0)"),
                                .halo = LIST("1,0", "0,0")};
    CHECK_OK(ctx, dt_local_map(ctx, &mapping, &y));
    dt_tensor *plain = dt_full_tensor(y);
    CHECK_OK(ctx, dt_set_requires_grad(x, true));
    CHECK_OK(ctx, dt_local_map(ctx, &mapping, &y));
    CHECK(tensors_equal(dt_detach(dt_full_tensor(y)), plain), "recorded: other values");
    CHECK_OK(ctx, dt_backward(dt_sum(y)));
    dt_tensor *grad = dt_full_tensor(dt_grad(x));
    CHECK(grad, "%s", dt_error_text(ctx));
    for (int64_t i = 0; i < 14; i++) {
        double want = (i >= 2 ? -3 + (double)(i - 2) : 0) - (i < 12 ? -3 + (double)(i + 2) : 0);
        CHECK(calls_element(grad, i) == want, "element %lld: expected %g, got %g", (long long)i, want,
              calls_element(grad, i));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void stencil__gradients_flow_through_ops(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 5};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], take_gradients, NULL);
}

/* A file by which the function of rank 0 tells rank 3 that it runs. */
static const char *sign_path(void) {
    static char path[64];
    (void)snprintf(path, sizeof path, "/tmp/dtensor-inside.%ld", (long)getppid());
    return path;
}

static dt_status give_sign(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    if (dt_rank(ctx) == 0)
        (void)close(open(sign_path(), O_CREAT | O_WRONLY, 0600));
    return sum_around(ctx, inputs, outputs, user);
}

static bool wait_for_sign(void) {
    for (int tries = 0; access(sign_path(), F_OK); tries++) {
        if (tries == 2000)
            return false;
        (void)usleep(10000);
    }
    return true;
}

/* Between nodes rank 0 computes its inside before rank 3, on the other node, has even made the call. */
static int run_inside_first(dt_ctx *ctx, void *arg) {
    const stencil_case test = {4, "4", "S(0)", "S(0)", 64, 8, 0, 0, {1, 1}, {1, 1}, NULL};
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_tensor *full = calls_counting(ctx, DT_F64, DT_SHAPE(64, 8), -5, 3), *x = calls_distribute(full, mesh, "S(0)"),
              *y;
    int64_t last_on_first_node = 0;
    (void)arg;
    CHECK(x, "%s", dt_error_text(ctx));
    notes of = {&test, (const double *)x->data, x->spec->local.elements, 0, 0, 0};
    for (int64_t rank = 0; rank < 4; rank++)
        last_on_first_node = dt__node_of(ctx, rank) == dt__node_of(ctx, 0) ? rank : last_on_first_node;
    if (dt_rank(ctx) == 0)
        (void)unlink(sign_path());
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 3 && last_on_first_node < 3)
        CHECK(wait_for_sign(), "rank 0 waits for halos before it computes its inside");
    CHECK_OK(ctx, dt_local_map(ctx,
                               &(dt_local_mapping){.run = give_sign,
                                                   .user = &of,
                                                   .n_inputs = 1,
                                                   .inputs = &x,
                                                   .n_outputs = 1,
                                                   .out = LIST("S(0)"),
                                                   .halo = LIST("1,1")},
                               &y));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    (void)unlink(sign_path());
    dt_mesh_release(mesh);
    return 0;
}

static void stencil__computes_the_inside_while_halos_arrive(void **state) {
    (void)state;
    run_ranks(4, run_inside_first, NULL);
}

static dt_status fail_always(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)ctx, (void)inputs, (void)user;
    outputs[0] = NULL;
    return DT_OK;
}

/* Everything that is refused leaves the context usable, on all ranks alike. */
static int refuse(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0)", .dtype = DT_F64), *y;
    dt_tensor *strided = dt_zeros(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "_S(0,2)", .dtype = DT_F64);
    dt_tensor *plain = dt_zeros(ctx, DT_SHAPE(8, 4));
    (void)arg;
    const struct {
        dt_tensor *x;
        const char *halo, *border, *out, *text;
    } wrong[] = {{x, "1", NULL, "S(0)", "between the dims of a halo"},
                 {x, "1,1,1", NULL, "S(0)", "expected 2 dims"},
                 {x, "-1,1", NULL, "S(0)", "number"},
                 {x, "1,1", "mirror", "S(0)", "border: expected 'constant'"},
                 {x, "1,1", NULL, NULL, "expected placements of output 1"},
                 {x, "1,1", NULL, "S(5)", "S(5)"},
                 {strided, "1,1", NULL, "S(0)", "shards in one piece"},
                 {plain, "1,1", NULL, "S(0)", "expected a distributed input"},
                 {x, "1,1", NULL, "S(0)", "output 1 of the function"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(dt_local_map(ctx,
                           &(dt_local_mapping){.run = fail_always,
                                               .n_inputs = 1,
                                               .inputs = (dt_tensor *const[]){wrong[i].x},
                                               .n_outputs = 1,
                                               .out = LIST(wrong[i].out),
                                               .halo = LIST(wrong[i].halo),
                                               .border = wrong[i].border},
                           &y) != DT_OK &&
                  !y,
              "%zu: not refused", i);
        CHECK(strstr(dt_error_text(ctx), wrong[i].text), "%zu: expected %s, got %s", i, wrong[i].text,
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void stencil__refuses_what_it_cannot_read(void **state) {
    (void)state;
    run_ranks(2, refuse, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stencil__gives_the_values_of_one_rank),
        cmocka_unit_test(stencil__of_other_shapes_and_placements),
        cmocka_unit_test(stencil__gradients_flow_through_ops),
        cmocka_unit_test(stencil__computes_the_inside_while_halos_arrive),
        cmocka_unit_test(stencil__refuses_what_it_cannot_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
