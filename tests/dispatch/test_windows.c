/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that move elements along a sharded dim fetch windows: values against one rank, one all_to_all, and exactly the
 * bytes that a rank needs and does not hold, which are found here by running the op on the numbers of the elements.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 3, MAX_OUTPUTS = 8, MAX_DIMS = 4 };

/* What is done to the inputs; returns the number of outputs. */
typedef int apply_fn(dt_tensor **in, dt_tensor **out);

static int one(dt_tensor *y, dt_tensor **out) {
    out[0] = y;
    return y ? 1 : 0;
}
static int slice_middle(dt_tensor **in, dt_tensor **out) { return one(dt_slice(in[0], 0, 3, 9, 1), out); }
static int slice_steps(dt_tensor **in, dt_tensor **out) { return one(dt_slice(in[0], 0, 1, 12, 3), out); }
static int slice_none(dt_tensor **in, dt_tensor **out) { return one(dt_slice(in[0], 0, 5, 5, 1), out); }
static int slice_all(dt_tensor **in, dt_tensor **out) { return one(dt_slice(in[0], 0, 0, 1000, 1), out); }

static int narrow_end(dt_tensor **in, dt_tensor **out) { return one(dt_narrow(in[0], 0, -7, 6), out); }

static int unfold_rows(dt_tensor **in, dt_tensor **out) { return one(dt_unfold(in[0], 0, 4, 2), out); }
static int split_rows(dt_tensor **in, dt_tensor **out) { return dt_split(in[0], 5, out, MAX_OUTPUTS); }
static int split_sizes(dt_tensor **in, dt_tensor **out) {
    return dt_split_sizes(in[0], DT_INTS(1, 0, 7, 5), out, MAX_OUTPUTS);
}
static int cat_rows(dt_tensor **in, dt_tensor **out) { return one(dt_cat(DT_TENSORS(in[0], in[1], in[2])), out); }

static int flip_rows(dt_tensor **in, dt_tensor **out) { return one(dt_flip(in[0], DT_DIMS(0)), out); }
static int flip_both(dt_tensor **in, dt_tensor **out) { return one(dt_flip(in[0], DT_DIMS(-1, 0)), out); }
static int roll_rows(dt_tensor **in, dt_tensor **out) {
    return one(dt_roll(in[0], DT_INTS(-4), .dims = DT_DIMS(0)), out);
}
static int roll_one(dt_tensor **in, dt_tensor **out) {
    return one(dt_roll(in[0], DT_INTS(1), .dims = DT_DIMS(0)), out);
}
static int pad_reflect(dt_tensor **in, dt_tensor **out) {
    return one(dt_pad(in[0], DT_INTS(1, 0, 3, 5), .mode = "reflect"), out);
}
static int pad_replicate(dt_tensor **in, dt_tensor **out) {
    return one(dt_pad(in[0], DT_INTS(0, 0, 2, -3), .mode = "replicate"), out);
}
static int pad_circular(dt_tensor **in, dt_tensor **out) {
    return one(dt_pad(in[0], DT_INTS(0, 0, -2, 9), .mode = "circular"), out);
}
static int pad_zeros(dt_tensor **in, dt_tensor **out) {
    return one(dt_constant_pad_nd(in[0], DT_INTS(1, 1, 4, -2)), out);
}

struct request {
    int64_t n; /* ranks */
    const char *mesh, *place;
    apply_fn *apply;
    int n_inputs;
    int64_t shape[2];
    dt_dtype dtype;
    const char *expected; /* placements of the first output */
    const char *other;    /* placements of the other inputs; NULL: the same */
    bool transposed;      /* inputs are transposed views */
    bool moves;           /* inputs are redistributed as well */
};

/* Input i: the numbers of its elements after those of the inputs before, as 13 rows, or fewer of the others. */
static dt_tensor *new_input(dt_ctx *ctx, const struct request *request, int i, int64_t first) {
    int64_t rows = request->shape[0] - i, columns = request->shape[1];
    dt_tensor *x =
        dt_view(dt_arange(ctx, first, first + rows * columns, 1, .dtype = DT_I64), DT_SHAPE(rows, columns));
    return request->dtype == DT_I64 ? x : dt_to(x, request->dtype);
}

static dt_tensor *place_input(const struct request *request, dt_tensor *x, dt_mesh *mesh, const char *place) {
    if (!request->transposed)
        return dt_distribute_tensor(x, mesh, place);
    char swapped[64];
    (void)snprintf(swapped, sizeof swapped, "%s", place);
    for (char *at = swapped; (at = strchr(at, '(')); at++)
        at[1] = at[1] == '0' ? '1' : at[1] == '1' ? '0' : at[1];
    return dt_transpose(dt_distribute_tensor(dt_contiguous(dt_transpose(x, 0, 1)), mesh, swapped), 0, 1);
}

static void unravel(int n, const int64_t *shape, int64_t at, int64_t *index) {
    for (int d = n - 1; d >= 0; d--) {
        index[d] = at % shape[d];
        at /= shape[d];
    }
}

/* Marks the elements of the inputs that the part of an output at a coordinate has. */
static void mark_needed(dt_tensor *output, const int64_t *coordinate, dt_tensor *numbers, char *needed) {
    int64_t index[MAX_DIMS], local[MAX_DIMS];
    const int64_t *all = dt_data(numbers);
    for (int64_t e = 0; e < dt_tensor_elements(output); e++) {
        unravel(dt_tensor_n_dims(output), dt_tensor_shape(output), e, index);
        if (dt_spec_to_local(dt_tensor_spec(output), coordinate, index, local))
            needed[all[e]] = 1;
    }
}

static int64_t count_lacking(int n, dt_tensor *const *inputs, const int64_t *coordinate, const char *needed) {
    int64_t lacking = 0, first = 0, index[MAX_DIMS], local[MAX_DIMS];
    for (int i = 0; i < n; i++) {
        dt_spec *spec = dt_tensor_spec(inputs[i]);
        for (int64_t e = 0; e < dt_tensor_elements(inputs[i]); e++) {
            unravel(2, dt_tensor_shape(inputs[i]), e, index);
            lacking += needed[first + e] && !dt_spec_to_local(spec, coordinate, index, local);
        }
        first += dt_tensor_elements(inputs[i]);
    }
    return lacking;
}

static int check_placements(dt_tensor *y, const char *expected) {
    char text[128];
    (void)dt_tensor_text(y, sizeof text, text);
    CHECK(strstr(text, expected), "expected %s, got %s", expected, text);
    return 0;
}

static int compare_with_one_rank(dt_ctx *ctx, void *arg) {
    const struct request *request = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, request->mesh);
    int64_t coordinate[DT_MESH_MAX_DIMS];
    CHECK(mesh && dt_mesh_coordinate(mesh, coordinate), "%s", dt_error_text(ctx));
    for (int again = 0; again < 2; again++) {
        dt_tensor *numbers[MAX_INPUTS], *full[MAX_INPUTS], *inputs[MAX_INPUTS];
        dt_tensor *y[MAX_OUTPUTS], *expected[MAX_OUTPUTS], *sources[MAX_OUTPUTS];
        int64_t first = 0, elements = 0;
        for (int i = 0; i < request->n_inputs; i++) {
            struct request of_numbers = *request;
            of_numbers.dtype = DT_I64;
            numbers[i] = new_input(ctx, &of_numbers, i, first);
            full[i] = new_input(ctx, request, i, first);
            inputs[i] = place_input(request, full[i], mesh, i && request->other ? request->other : request->place);
            CHECK(inputs[i], "%s", dt_error_text(ctx));
            first = elements += dt_tensor_elements(full[i]);
        }
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        int n = request->apply(inputs, y);
        CHECK(n, "%s", dt_error_text(ctx));
        dt_comm_statistics moved = dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_to_all"});
        dt_comm_statistics all = dt_comm_stats(ctx, NULL);
        dt_comm_stats_end(ctx);
        CHECK(request->apply(full, expected) == n && request->apply(numbers, sources) == n, "%s", dt_error_text(ctx));
        char *needed = calloc((size_t)elements + 1, 1);
        for (int o = 0; o < n; o++) {
            mark_needed(y[o], coordinate, dt_contiguous(sources[o]), needed);
            if (check_placements(y[o], request->expected))
                return free(needed), 1;
            dt_tensor *got = dt_contiguous(dt_full_tensor(y[o])), *want = dt_contiguous(expected[o]);
            CHECK(got && want, "%s", dt_error_text(ctx));
            CHECK(dt_tensor_elements(got) == dt_tensor_elements(want), "shapes differ");
            size_t bytes = (size_t)dt_tensor_elements(got) * dt_dtype_size(request->dtype);
            CHECK(!bytes || !memcmp(dt_data(got), dt_data(want), bytes), "output %d of %s on mesh(%s) differs", o,
                  request->place, request->mesh);
        }
        int64_t lacking = count_lacking(request->n_inputs, inputs, coordinate, needed);
        free(needed);
        CHECK(request->moves || all.n == moved.n, "%lld collectives, %lld windows", (long long)all.n,
              (long long)moved.n);
        CHECK(request->moves || moved.n <= 1, "%lld exchanges", (long long)moved.n);
        CHECK(request->moves || moved.bytes == lacking * (int64_t)dt_dtype_size(request->dtype),
              "%s on mesh(%s): received %lld bytes, expected %lld elements", request->place, request->mesh,
              (long long)moved.bytes, (long long)lacking);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void run_all(size_t n, const struct request *requests) {
    for (size_t i = 0; i < n; i++)
        run_ranks(requests[i].n, compare_with_one_rank, (void *)&requests[i]);
}

static void windows__give_the_values_of_one_rank(void **state) {
    (void)state;
    static apply_fn *const fns[] = {slice_middle, slice_steps, slice_none,    slice_all,   narrow_end, unfold_rows,
                                    split_rows,   split_sizes, cat_rows,      flip_rows,   flip_both,  roll_rows,
                                    pad_zeros,    pad_reflect, pad_replicate, pad_circular};
    static const struct {
        int64_t n;
        const char *mesh, *place;
    } worlds[] = {{1, "1", "S(0)"},        {2, "2", "S(0)"},        {3, "3", "S(0)"},
                  {5, "5", "S(0)"},        {4, "2,2", "S(0),S(0)"}, {4, "2,2", "S(0)[1],S(0)[0]"},
                  {4, "2,2", "S(0),S(1)"}, {4, "2,2", "S(0),R"},    {6, "2,3", "R,S(0)"},
                  {2, "2", "S(0:2,11)"},   {3, "3", "S(0:9,0,4)"}};
    for (size_t f = 0; f < sizeof fns / sizeof *fns; f++)
        for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
            struct request request = {
                .n = worlds[w].n,
                .mesh = worlds[w].mesh,
                .place = worlds[w].place,
                .apply = fns[f],
                .n_inputs = 1,
                .shape = {13, fns[f] == unfold_rows || fns[f] == split_rows || fns[f] == split_sizes
                                  ? 1
                                  : 6}, /* so that other ways cost more */
                .dtype = DT_F32,
                .expected = worlds[w].place};
            if (fns[f] == cat_rows) {
                request.n_inputs = 3;
                request.other = strchr(request.place, ':') ? "S(0)" : NULL;
            }
            if (fns[f] == pad_zeros || fns[f] == pad_reflect || fns[f] == pad_replicate || fns[f] == pad_circular) {
                request.moves = true; /* padding has no source, or one twice */
                request.expected = "";
            }
            if (strchr(request.place, 'R') && (fns[f] == flip_rows || fns[f] == flip_both || fns[f] == roll_rows)) {
                request.moves = true; /* most of the tensor: another dim costs less */
                request.expected = "";
            }
            if (strchr(request.place, ':')) {
                request.moves = fns[f] != slice_middle && fns[f] != cat_rows; /* other ways may cost less */
                request.expected = request.moves ? "" : "S(0)";
            }
            run_all(1, &request);
        }
}

/* All dtypes, and inputs that are not contiguous. */
static void windows__of_any_dtype_and_strides(void **state) {
    (void)state;
    static apply_fn *const fns[] = {slice_steps, split_rows, cat_rows};
    for (int dtype = 1; dtype < DT_N_DTYPES; dtype++) {
        apply_fn *apply = fns[dtype % 3];
        struct request request = {.n = 3,
                                  .mesh = "3",
                                  .place = "S(0)",
                                  .apply = apply,
                                  .n_inputs = apply == cat_rows ? 3 : 1,
                                  .shape = {13, 2},
                                  .dtype = (dt_dtype)dtype,
                                  .expected = "S(0)",
                                  .transposed = dtype % 2};
        run_all(1, &request);
    }
}

/* A strided shard is served run by run; a replicated input of cat is read where it is. */
static void windows__of_strided_and_replicated_inputs(void **state) {
    (void)state;
    static const struct request requests[] = {
        {2, "2", "_S(0,2)", slice_middle, 1, {13, 6}, DT_F32, "S(0)", NULL, false, false},
        {4, "2,2", "_S(0,2),S(0)", slice_middle, 1, {13, 6}, DT_F32, "S(0),S(0)", NULL, false, false},
        {2, "2", "_S(0,3)", split_rows, 1, {13, 6}, DT_F64, "S(0)", NULL, true, false},
        {2, "2", "S(0)", cat_rows, 3, {13, 6}, DT_F32, "S(0)", "R", false, false},
        {3, "3", "R", cat_rows, 3, {13, 6}, DT_F32, "S(0)", "S(0)", false, false},
    };
    run_all(sizeof requests / sizeof *requests, requests);
}

/* Partials on another mesh dim stay as they are. */
static int fetch_partials(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, "2,2");
    int64_t coordinate[DT_MESH_MAX_DIMS];
    (void)arg;
    CHECK(mesh && dt_mesh_coordinate(mesh, coordinate), "%s", dt_error_text(ctx));
    dt_tensor *x = dt_view(dt_arange(ctx, 0, 60, 1, .dtype = DT_F32), DT_SHAPE(10, 6));
    dt_tensor *part =
        dt_mul(dt_narrow(x, 0, 5 * coordinate[1], 5), dt_full(ctx, DT_SHAPE(5, 6), coordinate[0] ? 0.25 : 0.75));
    dt_tensor *partial = dt_from_local(ctx, part, mesh, "P(sum),S(0)");
    dt_tensor *y = dt_slice(partial, 0, 2, 9, 1);
    CHECK(y, "%s", dt_error_text(ctx));
    if (check_placements(y, "f32[7,6] P(sum),S(0)"))
        return 1;
    const float *got = dt_data(dt_full_tensor(y));
    for (int i = 0; i < 42; i++)
        CHECK(got[i] == (float)(12 + i), "element %d: %g", i, (double)got[i]);
    dt_mesh_release(mesh);
    return 0;
}

static void windows__keep_partials_of_other_mesh_dims(void **state) {
    (void)state;
    run_ranks(4, fetch_partials, NULL);
}

/* The bytes that the decision has, which are the statistics where there is no data, are those of the rank that
 * receives most. Other mesh dims stay as they are, however much less would be fetched if they sharded something. */
static void check_most(const char *mesh_text, int64_t world, const char *place, apply_fn *apply) {
    enum { ROWS = 13, COLUMNS = 6 };
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = world}), *one_rank = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, mesh_text);
    dt_tensor *x = dt_empty(ctx, DT_SHAPE(ROWS, COLUMNS), .mesh = mesh, .place = place), *y[MAX_OUTPUTS];
    assert_int_equal(dt_comm_stats_begin(ctx), DT_OK);
    assert_int_equal(apply(&x, y), 1);
    dt_comm_statistics fetched = dt_comm_stats(ctx, NULL);
    dt_comm_stats_end(ctx);
    char text[128];
    (void)dt_tensor_text(y[0], sizeof text, text);
    if (!strstr(text, place))
        fail_msg("%s on mesh(%s): expected the same placements, got %s", place, mesh_text, text);
    struct request request = {.shape = {ROWS, COLUMNS}, .dtype = DT_I64};
    dt_tensor *numbers = new_input(one_rank, &request, 0, 0), *sources[MAX_OUTPUTS];
    assert_int_equal(apply(&numbers, sources), 1);
    int64_t most = 0, coordinate[DT_MESH_MAX_DIMS], sizes[DT_MESH_MAX_DIMS];
    for (int m = 0; m < dt_mesh_n_dims(mesh); m++)
        sizes[m] = dt_mesh_dim_size(mesh, m);
    for (int64_t rank = 0; rank < world; rank++) {
        char needed[ROWS * COLUMNS] = {0};
        unravel(dt_mesh_n_dims(mesh), sizes, rank, coordinate);
        mark_needed(y[0], coordinate, dt_contiguous(sources[0]), needed);
        int64_t lacking = count_lacking(1, &x, coordinate, needed);
        most = lacking > most ? lacking : most;
    }
    assert_int_equal(fetched.n, most > 0);
    assert_int_equal(fetched.bytes, most * 4);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(one_rank), 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void windows__leave_other_mesh_dims_as_they_are(void **state) {
    (void)state;
    static apply_fn *const fns[] = {slice_middle, slice_steps, narrow_end, roll_one};
    static const struct {
        int64_t n;
        const char *mesh, *place;
    } worlds[] = {{3, "3", "S(0)"},
                  {6, "3,2", "S(0),R"},
                  {10, "2,5", "R,S(0)"},
                  {6, "3,2", "S(0),P(sum)"},
                  {6, "2,3", "R,S(0)"},
                  {8, "2,2,2", "P(sum),S(0),R"},
                  {8, "2,2,2", "S(0),R,S(0)"},
                  {12, "2,3,2", "R,S(0),S(1)"}};
    for (size_t f = 0; f < sizeof fns / sizeof *fns; f++)
        for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
            check_most(worlds[w].mesh, worlds[w].n, worlds[w].place, fns[f]);
}

/* Along an uncut dim any start has the same decision; along a cut one each start has its own window. */
static int vary_the_start(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    (void)arg;
    dt_tensor *full = dt_view(dt_arange(ctx, 0, 96, 1, .dtype = DT_F32), DT_SHAPE(12, 8));
    dt_tensor *x = dt_distribute_tensor(full, mesh, "S(0)");
    for (int round = 0; round < 2; round++)
        for (int64_t start = 0; start < 6; start++)
            for (int way = 0; way < 3; way++)
                for (int dim = 0; dim < 2; dim++) {
                    dt_tensor *y = way == 0   ? dt_slice(x, dim, start, start + 3, 1)
                                   : way == 1 ? dt_narrow(x, dim, start, 3)
                                              : dt_select(x, dim, start);
                    dt_tensor *expected = way == 0   ? dt_slice(full, dim, start, start + 3, 1)
                                          : way == 1 ? dt_narrow(full, dim, start, 3)
                                                     : dt_select(full, dim, start);
                    CHECK(y && expected, "%s", dt_error_text(ctx));
                    dt_tensor *got = dt_contiguous(dt_full_tensor(y)), *want = dt_contiguous(expected);
                    CHECK(!memcmp(dt_data(got), dt_data(want), (size_t)dt_tensor_elements(want) * sizeof(float)),
                          "start %lld of dim %d, way %d", (long long)start, dim, way);
                }
    dt_mesh_release(mesh);
    return 0;
}

static void windows__depend_on_the_start_of_a_slice(void **state) {
    (void)state;
    run_ranks(2, vary_the_start, NULL);
}

static int64_t count_misses(dt_ctx *ctx, dt_tensor *x, int dim) {
    int64_t before = dt_cache_stats(ctx).n_misses;
    for (int64_t start = 0; start < 5; start++)
        assert_non_null(dt_slice(x, dim, start, start + 3, 1));
    return dt_cache_stats(ctx).n_misses - before;
}

/* Decisions, counts and bytes of one rank of a large world, without data; the policy names the exchange. */
static void windows__in_fake_worlds(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4096, .rank = 4033});
    dt_mesh *mesh = dt_mesh_new(ctx, "4096");
    dt_tensor *x = dt_empty(ctx, DT_SHAPE(40960, 64), .mesh = mesh, .place = "S(0)");
    assert_int_equal(dt_comm_stats_begin(ctx), DT_OK);
    dt_tensor *y = dt_slice(x, 0, 1, 40960, 1); /* the last rank lacks nothing, each other one the next row */
    assert_non_null(y);
    assert_int_equal(check_placements(y, "f32[40959,64] S(0)"), 0);
    assert_int_equal(dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_to_all"}).n, 1);
    assert_int_equal(dt_comm_stats(ctx, NULL).n, 1);
    assert_int_equal(dt_comm_stats(ctx, NULL).bytes, 64 * 4);
    dt_comm_stats_end(ctx);
    assert_int_equal(count_misses(ctx, x, 1), 1);
    assert_int_equal(count_misses(ctx, x, 0), 5);
    assert_int_equal(count_misses(ctx, x, 0), 0);
    const char *text = dt_explain(ctx, "slice($1; 0; 1; 40960)", x);
    assert_non_null(text);
    assert_non_null(strstr(text, "all_to_all 1 (fetches windows), 256 bytes"));
    assert_int_equal(dt_comm_policy(ctx, DT_COMM_ERROR), DT_OK);
    assert_null(dt_slice(x, 0, 1, 40960, 1));
    assert_error_contains(ctx, DT_ERR_PLACEMENT, ": fetches windows from its 4096 ranks, because");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_non_null(dt_slice(x, 0, 0, 40960, 1)); /* all of it: nothing is fetched */
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

/* A view that was fetched is a copy: it is not written. */
static int write_to_copy(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    (void)arg;
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(8, 2), .mesh = mesh, .place = "S(0)");
    dt_tensor *y = dt_slice(x, 0, 1, 7, 1);
    CHECK(y, "%s", dt_error_text(ctx));
    CHECK(!dt_fill_(y, 1), "a copy was written");
    CHECK(strstr(dt_error_text(ctx), "copy"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void windows__of_views_are_copies(void **state) {
    (void)state;
    run_ranks(2, write_to_copy, NULL);
}

/* A program's own op: differences of neighbors along the first dim, whose windows overlap. */
static dt_status shape_steps(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0];
    if (x->n_dims != 2 || x->dtype != DT_F64 || x->shape[0] < 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected an f64 matrix of at least one row");
    return dt_op_add_output(call, DT_F64, 2, (int64_t[]){x->shape[0] - 1, x->shape[1]});
}

static dt_status run_steps(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *y = &call->outputs[0];
    for (int64_t i = 0; i < y->shape[0]; i++)
        for (int64_t j = 0; j < y->shape[1]; j++) {
            const double *at = (const double *)x->data + i * x->strides[0] + j * x->strides[1];
            ((double *)y->data)[i * y->strides[0] + j * y->strides[1]] = at[x->strides[0]] - at[0];
        }
    return DT_OK;
}

static void window_steps(const dt_op_call *call, int input, int dim, dt_window *out) {
    (void)input;
    if (dim == 0)
        dt_window_add(out, call->outputs[0].offset[0], call->outputs[0].shape[0] + 1, 1);
}

static const dt_op steps = {
    .schema = "steps(Tensor x) -> Tensor",
    .rule = "m^n -> mn",
    .partial = DT_PARTIAL_LINEAR,
    .shape = shape_steps,
    .kernel = run_steps,
    .window = window_steps,
    .samples = "steps(f64[5,3])\nsteps(f64[9,1])",
};

/* Wrong in one way each. */
static void window_shifted(const dt_op_call *call, int input, int dim, dt_window *out) {
    (void)input;
    int64_t offset = call->outputs[0].offset[0];
    if (dim == 0)
        dt_window_add(out, offset ? offset - 1 : 0, call->outputs[0].shape[0] + 1, 1);
}
static void window_outside(const dt_op_call *call, int input, int dim, dt_window *out) {
    (void)input;
    if (dim == 0)
        dt_window_add(out, call->outputs[0].offset[0], call->outputs[0].shape[0] + 2, 1);
}
static void window_own(const dt_op_call *call, int input, int dim, dt_window *out) {
    (void)call, (void)input, (void)dim, (void)out;
}

static void windows__of_a_programs_op_are_verified(void **state) {
    (void)state;
    static const struct {
        void (*window)(const dt_op_call *call, int input, int dim, dt_window *out);
        const char *text;
    } wrong[] = {{window_shifted, "expected"}, {window_outside, "is out of range"}, {window_own, "S(0) -> S(0)"}};
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_op_register(ctx, &steps), DT_OK);
    if (dt_op_verify(ctx, "steps") != DT_OK)
        fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_close(ctx), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dt_op op = steps;
        op.window = wrong[i].window;
        ctx = dt_init(NULL);
        assert_int_equal(dt_op_register(ctx, &op), DT_OK);
        assert_int_not_equal(dt_op_verify(ctx, "steps"), DT_OK);
        assert_error_contains(ctx, dt_error_status(ctx), "row S(0) -> S(0) is wrong");
        assert_error_contains(ctx, dt_error_status(ctx), wrong[i].text);
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        assert_int_equal(dt_close(ctx), 0);
    }
}

/* A mark without the function, and the reverse, are refused. */
static void windows__need_a_mark_and_a_function(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_op op = steps;
    op.window = NULL;
    assert_int_equal(dt_op_register(ctx, &op), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "steps: the ranks fetch windows (^) in the rule \"m^n -> mn\"");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    op.window = window_steps;
    op.rule = "m!n -> mn";
    assert_int_equal(dt_op_register(ctx, &op), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "expected a rule with ^ after a dim, got \"m!n -> mn\"");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

static int run_own_op(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &steps));
    for (int64_t rows = 1; rows < 12; rows++) {
        dt_tensor *x = dt_randn(ctx, DT_SHAPE(rows, 2), .dtype = DT_F64, .mesh = mesh, .place = "S(0)");
        dt_tensor *y = dt_call(ctx, "steps", x);
        CHECK(y, "%s", dt_error_text(ctx));
        const double *a = dt_data(dt_full_tensor(x)), *b = dt_data(dt_full_tensor(y));
        for (int64_t i = 0; i < 2 * (rows - 1); i++)
            CHECK(b[i] == a[i + 2] - a[i], "%lld rows, element %lld", (long long)rows, (long long)i);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void windows__of_a_programs_op(void **state) {
    (void)state;
    run_ranks(3, run_own_op, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows__give_the_values_of_one_rank),
        cmocka_unit_test(windows__of_any_dtype_and_strides),
        cmocka_unit_test(windows__of_strided_and_replicated_inputs),
        cmocka_unit_test(windows__keep_partials_of_other_mesh_dims),
        cmocka_unit_test(windows__leave_other_mesh_dims_as_they_are),
        cmocka_unit_test(windows__depend_on_the_start_of_a_slice),
        cmocka_unit_test(windows__in_fake_worlds),
        cmocka_unit_test(windows__of_views_are_copies),
        cmocka_unit_test(windows__of_a_programs_op_are_verified),
        cmocka_unit_test(windows__need_a_mark_and_a_function),
        cmocka_unit_test(windows__of_a_programs_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
