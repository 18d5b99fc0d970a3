/* SPDX-License-Identifier: Apache-2.0
 *
 * Every op of the table, decompositions included, on each of its samples, with random placements on random meshes: the
 * value of the distributed call is that of the same call on plain tensors, the first time and from the cache. Partial
 * inputs have unrelated contributions; shards are uneven, empty and strided. Ranks 1, 2, 3, 4, 5, 6 on shm, with the
 * address sanitizer, which makes this slow, 1, 3, 5; meshes smaller than the world leave ranks outside.
 */
#include "dispatch/matrix_structure.h"

#include "base/dtype.h"
#include "mesh/mesh.h"
#include "ops/ops.h"

#include <math.h>

/* ctest: processors=2 */

#ifdef __SANITIZE_ADDRESS__
enum { WORLD_STEP = 2 };
#else
enum { WORLD_STEP = 1 };
#endif

static const struct {
    int n_dims;
    int64_t sizes[2];
} meshes[] = {{1, {1}}, {1, {2}}, {1, {3}}, {2, {2, 2}}, {2, {2, 3}}, {1, {5}}, {2, {1, 3}}};

/* One sample of an op on one mesh. */
typedef struct op_case {
    dt_ctx *ctx;
    uint64_t *random;
    dt_mesh *mesh;
    int64_t coordinate[2]; /* of this rank, zeros outside */
    dt__arena arena;
    dt__placed_call parsed;
} op_case;

/* Small and exact in every dtype, and not 0 where it may be a divisor; indices are valid in every dim. */
static double number_at(uint64_t seed, int64_t i, dt_dtype dtype, int64_t min_size) {
    uint64_t state = seed * 1000003 + (uint64_t)i;
    int64_t number = test_below(&state, 17);
    if (dtype == DT_BOOL)
        return (double)(number % 2);
    if (dtype == DT_I64 || dtype == DT_I32)
        return (double)(number % min_size);
    if (dtype == DT_U8)
        return (double)number;
    return dtype == DT_I8 || dtype == DT_I16 ? (double)(number - 8) : (double)(2 * number - 17) / 8;
}

static double noise_at(uint64_t seed, int64_t i, int64_t k) {
    uint64_t state = seed * 7919 + (uint64_t)i * 31 + (uint64_t)k;
    return (double)(test_below(&state, 9) - 4);
}

/* Contribution k of n to a partial value. */
static double contribution_at(dt_reduce reduce, double x, uint64_t seed, int64_t i, int64_t k, int64_t n) {
    double others = 0;
    switch (reduce) {
    case DT_SUM:
        for (int64_t other = 1; other < n; other++)
            others += noise_at(seed, i, other);
        return k ? noise_at(seed, i, k) : x - others;
    case DT_AVG:
        for (int64_t other = 1; other < n; other++)
            others += noise_at(seed, i, other);
        return k ? x + noise_at(seed, i, k) : x - others;
    case DT_PRODUCT:
        return k ? 1 : x;
    case DT_MAX:
        return k == i % n ? x : x - fabs(noise_at(seed, i, k));
    default:
        return k == i % n ? x : x + fabs(noise_at(seed, i, k));
    }
}

/* Random placements for a tensor: plain and strided shards, Replicate, one kind of partial where the dtype has it. */
static void draw_placements(op_case *self, const dt_op_value *value, dt_placement *out) {
    dt_reduce reduce = (dt_reduce)test_below(self->random, DT_N_REDUCES);
    bool floating = value->dtype == DT_F32 || value->dtype == DT_F64;
    for (int m = 0; m < dt_mesh_n_dims(self->mesh); m++) {
        int64_t number = test_below(self->random, 10);
        out[m] = dt_placement_replicate();
        if (value->n_dims && number < 5)
            out[m] = dt_placement_shard((int)test_below(self->random, value->n_dims));
        else if (value->n_dims && number < 6)
            out[m] =
                dt_placement_strided((int)test_below(self->random, value->n_dims), 1 + test_below(self->random, 3));
        else if (number < 8 && floating)
            out[m] = dt_placement_partial(reduce);
    }
}

static dt_spec *spec_of(op_case *self, const dt_op_value *value, const dt_placement *placements) {
    return dt_spec_new(self->mesh, &(dt_spec_desc){.dtype = value->dtype,
                                                   .n_dims = value->n_dims,
                                                   .shape = value->shape,
                                                   .n_placements = dt_mesh_n_dims(self->mesh),
                                                   .placements = placements});
}

/* A tensor with random placements: each rank computes its contribution to the full tensor and keeps its shard of it.
 * */
static dt_tensor *make_input(op_case *self, int input, int64_t min_size) {
    const dt_op_value *value = &self->parsed.call.inputs[input];
    dt_placement requested[2], sharded[2], replicated[2];
    uint64_t seed = test_random(self->random);
    dt_reduce reduce = DT_N_REDUCES;
    int64_t k = 0, n = 1;
    draw_placements(self, value, requested);
    for (int m = 0; m < dt_mesh_n_dims(self->mesh); m++) {
        replicated[m] = sharded[m] = dt_placement_replicate();
        if (!dt_placement_is_partial(requested[m])) {
            sharded[m] = requested[m];
            continue;
        }
        reduce = requested[m].reduce;
        k = k * dt_mesh_dim_size(self->mesh, m) + self->coordinate[m];
        n *= dt_mesh_dim_size(self->mesh, m);
    }
    dt_tensor *values = dt_empty(self->ctx, TENSORS_SHAPE(value->n_dims, value->shape), .dtype = value->dtype);
    for (int64_t i = 0; values && i < dt_tensor_elements(values); i++)
        calls_set_element(values, i, number_at(seed, i, value->dtype, min_size));
    values = structure_of(&(test_call){.parsed = self->parsed}, input, values);
    dt_tensor *contribution = values ? dt_clone(values) : NULL;
    for (int64_t i = 0; contribution && i < dt_tensor_elements(contribution); i++) {
        double x = calls_element(values, i);
        calls_set_element(contribution, i, reduce == DT_N_REDUCES ? x : contribution_at(reduce, x, seed, i, k, n));
    }
    dt_spec *from = spec_of(self, value, replicated), *to = spec_of(self, value, sharded);
    dt_spec *spec = spec_of(self, value, requested);
    dt_tensor *result = contribution && from && to && spec ? dt__tensor_of_spec(spec) : NULL;
    if (result &&
        dt__redistribute_run(&(dt__redistribution){
            .from = from, .to = to, .src = contribution->data, .dst = result->data, .planner = DT__PLANNER_DIRECT}) !=
            DT_OK)
        result = NULL;
    dt_spec_release(from);
    dt_spec_release(to);
    dt_spec_release(spec);
    return result;
}

/* Partial inputs are reduced in their dtype: an f64 made from an f32 is as exact as that. Half precision is computed
 * in f32, and what its rounding adds is in rounding_of. */
static double tolerance(const test_call *call, dt_dtype dtype) {
    for (int i = 0; i < call->call.n_inputs; i++) {
        dt_dtype input = call->call.inputs[i] ? call->call.inputs[i]->dtype : dtype;
        dtype = dt__is_inexact(input) && input != DT_F64 && input != DT_C128 ? DT_F32 : dtype;
    }
    return dtype == DT_F64 ? 1e-13 : 2e-5;
}

static bool is_half(dt_dtype dtype) { return dtype == DT_F16 || dtype == DT_BF16; }

/* What rounding to half precision adds to the difference of two results whose f32 values are near. With u the unit
 * roundoff, 2^-11 of f16 and 2^-8 of bf16, each value that is rounded to nearest is off by at most u times its
 * magnitude, so that
 *
 *     the plain result adds          u |expected| / (1 - u)           rounded once
 *     the distributed one adds       u |got| / (1 - u)                rounded once, when it is reduced or computed
 *     and, if it is a partial sum    u / (1 - u) sum of |part|        each part was rounded by its rank
 *     between nodes                  n - 2 times that again           each sum on the way may be rounded
 *
 * where `parts` is that last sum over the n ranks (their average, for P(avg)), of the rounded parts. Between nodes a
 * value may pass through one rank after the other (a ring): it takes n - 1 additions until all parts are added,
 * whatever the nodes and the algorithm, and the last one is the result, which is counted. On one node all parts are
 * added in f32. Of a partial product of n ranks `parts` is n |got|, and between nodes (2 n - 2) |got|: (1 + u)^k - 1 is
 * at most k u / (1 - k u). Extremes are exact: rounding keeps the order.
 * Subnormal numbers are off by less than 2^-25 each, which the tolerance of f32 covers. */
static double rounding_of(dt_dtype dtype, double got, double expected, double parts) {
    const double u = dtype == DT_F16 ? 0x1p-11 : 0x1p-8;
    return is_half(dtype) ? u / (1 - 8 * u) * (fabs(got) + fabs(expected) + parts) : 0; /* k: up to 7 */
}

/* Whether the mesh has ranks on several nodes along a mesh dim that is partial. */
static bool reduces_between_nodes(const dt_tensor *output) {
    int64_t nodes[DT_SPEC_MAX_DIMS];
    const dt_placement *placements = dt_spec_placements(dt_tensor_spec(output));
    bool spans = false;
    if (!dt__mesh_nodes(dt_tensor_mesh(output), nodes))
        return false;
    for (int m = 0; m < dt_mesh_n_dims(dt_tensor_mesh(output)); m++)
        spans |= dt_placement_is_partial(placements[m]) && nodes[m] > 1;
    return spans;
}

/* The sums of magnitudes that rounding_of needs; NULL: 0. Collective. */
static dt_tensor *magnitudes_of(dt_tensor *output) {
    bool is_sum = false, is_product = false;
    double n = 1;
    const dt_placement *placements = dt_spec_placements(dt_tensor_spec(output));
    for (int m = 0; m < dt_mesh_n_dims(dt_tensor_mesh(output)); m++) {
        if (!dt_placement_is_partial(placements[m]))
            continue;
        is_sum |= placements[m].reduce == DT_SUM || placements[m].reduce == DT_AVG;
        is_product |= placements[m].reduce == DT_PRODUCT;
        n *= (double)dt_mesh_dim_size(dt_tensor_mesh(output), m);
    }
    double n_on_the_way = reduces_between_nodes(output) && n > 2 ? n - 2 : 0;
    if (is_product)
        return dt_mul_scalar(dt_abs(dt_to(dt_full_tensor(output), DT_F32)), n + n_on_the_way);
    if (!is_sum)
        return NULL;
    dt_tensor *local = dt_abs(dt_to(dt_to_local(output), DT_F32));
    dt_tensor *parts = dt_from_local(output->ctx, local, dt_tensor_mesh(output), calls_placements(output),
                                     .shape = TENSORS_SHAPE(output->n_dims, output->shape));
    return dt_contiguous(dt_mul_scalar(dt_full_tensor(parts), 1 + n_on_the_way));
}

/* Index of the first element that differs, or -1. */
static int64_t first_difference(const dt_tensor *got, const dt_tensor *expected, double tolerated,
                                const dt_tensor *magnitudes) {
    if (got->dtype != expected->dtype || !tensors_same_shape(got, expected))
        return 0;
    for (int64_t i = 0; i < dt_tensor_elements(expected); i++) {
        double a = calls_element(got, i), b = calls_element(expected, i);
        double parts = magnitudes ? calls_element(magnitudes, i) : 0;
        if (!(isnan(a) && isnan(b)) && a != b &&
            !(fabs(a - b) <= tolerated * (1 + fabs(b)) + rounding_of(got->dtype, a, b, parts)))
            return i;
    }
    return -1;
}

static bool is_random(const dt_op *op) { return op->flags & DT_OP_RANDOM; }

static int compare(op_case *self, const test_call *call, const test_call *plain, const char *text, const char *when) {
    bool inside = dt_mesh_coordinate(self->mesh, (int64_t[2]){0});
    CHECK(call->call.n_outputs == plain->call.n_outputs, "%s: expected %d outputs, got %d", text,
          plain->call.n_outputs, call->call.n_outputs);
    for (int o = 0; o < call->call.n_outputs; o++) {
        dt_tensor *output = call->call.outputs[o], *full = dt_full_tensor(output);
        dt_tensor *magnitudes = full && is_half(output->dtype) ? magnitudes_of(output) : NULL;
        CHECK(full && !dt_failed(self->ctx), "%s: %s", text, dt_error_text(self->ctx));
        if (!inside)
            continue;
        dt_tensor *got = dt_contiguous(full), *expected = dt_contiguous(plain->call.outputs[o]);
        int64_t at = first_difference(got, expected, tolerance(plain, expected->dtype), magnitudes);
        CHECK(at < 0, "%s on %s (%s): output %d, %s, element %" PRId64 ": expected %g, got %g", text,
              dt_mesh_text(self->mesh), when, o, calls_placements(call->call.outputs[o]), at,
              calls_element(expected, at), calls_element(got, at));
    }
    return 0;
}

/* The sample and the placements of the inputs, for messages. */
static void describe_inputs(const char *sample, const test_call *call, char *out, size_t capacity) {
    int n = snprintf(out, capacity, "%.*s", (int)strcspn(sample, "\n"), sample);
    for (int i = 0; i < call->call.n_inputs; i++)
        n += snprintf(out + n, capacity - (size_t)n, " %s", calls_placements(call->call.inputs[i]));
}

/* Runs the call on full tensors, before the distributed call, which may be in place. */
static int run_plain(op_case *self, const test_call *call, test_call *plain) {
    plain->parsed = call->parsed;
    calls_prepare(plain);
    for (int i = 0; i < call->call.n_inputs; i++) {
        dt_tensor *full = dt_full_tensor(call->call.inputs[i]);
        plain->call.inputs[i] = dt_clone(full);
        CHECK(plain->call.inputs[i], "%s", dt_error_text(self->ctx));
    }
    if (dt_mesh_coordinate(self->mesh, (int64_t[2]){0}) || is_random(call->call.info->op)) {
        if (!dt_mesh_coordinate(self->mesh, (int64_t[2]){0}))
            return 0; /* a rank outside the mesh has no values */
        CHECK_OK(self->ctx, calls_run(self->ctx, plain));
    }
    return 0;
}

static int run_sample(op_case *self, const char *sample) {
    test_call call = {.arena = {.ctx = self->ctx}, .parsed = self->parsed}, plain = {.arena = {.ctx = self->ctx}};
    char text[1024];
    int64_t min_size = 1000;
    dt_scope scope = dt_scope_begin(self->ctx);
    for (int i = 0; i < self->parsed.call.n_inputs; i++)
        for (int d = 0; d < self->parsed.call.inputs[i].n_dims; d++)
            if (self->parsed.call.inputs[i].shape[d] > 0 && self->parsed.call.inputs[i].shape[d] < min_size)
                min_size = self->parsed.call.inputs[i].shape[d];
    calls_prepare(&call);
    for (int i = 0; i < self->parsed.call.n_inputs; i++) {
        call.call.inputs[i] = make_input(self, i, min_size);
        CHECK(call.call.inputs[i], "%s: %s", sample, dt_error_text(self->ctx));
    }
    describe_inputs(sample, &call, text, sizeof text);
    dt_generator *generator = dt_generator_default(self->ctx);
    dt_generator_state drawn = dt_generator_save(generator);
    if (run_plain(self, &call, &plain))
        return 1;
    for (int again = 0; again < 2; again++) {
        CHECK_OK(self->ctx, dt_generator_restore(generator, drawn));
        int64_t n_misses = dt_cache_stats(self->ctx).n_misses;
        dt_status status = calls_run(self->ctx, &call);
        CHECK(!again || dt_cache_stats(self->ctx).n_misses == n_misses, "%s was decided twice", text);
        if (status == DT_ERR_PLACEMENT && dt__call_writes(&self->parsed.call)) {
            CHECK_OK(self->ctx, dt_error_clear(self->ctx)); /* it cannot keep its placements: an agreed error */
            break;
        }
        CHECK(status == DT_OK, "%s: %s", text, dt_error_text(self->ctx));
        if (!dt_mesh_coordinate(self->mesh, (int64_t[2]){0}))
            plain.call.n_outputs = call.call.n_outputs;
        if (compare(self, &call, &plain, text, again ? "from the cache" : "first"))
            return 1;
        if (dt__call_writes(&self->parsed.call))
            break; /* its input has changed */
    }
    dt__call_end(&call.call);
    dt__call_end(&plain.call);
    dt_scope_end(scope);
    return 0;
}

static int run_op(op_case *self, const dt_op *op) {
    for (const char *sample = op->samples; sample && *sample;
         sample += strcspn(sample, "\n"), sample += *sample == '\n') {
        char line[512];
        int64_t mesh[2];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(sample, "\n"), sample);
        self->arena = dt__arena_new(self->ctx);
        CHECK_OK(self->ctx, dt__ops_open(self->ctx));
        for (int m = 0; m < dt_mesh_n_dims(self->mesh); m++)
            mesh[m] = dt_mesh_dim_size(self->mesh, m);
        CHECK_OK(self->ctx,
                 dt__placed_call_parse(&self->arena, line, dt_mesh_n_dims(self->mesh), mesh, &self->parsed));
        int wrong = 0;
        for (int draw = 0; draw < 4 && !wrong; draw++)
            wrong = run_sample(self, sample);
        dt__arena_free(&self->arena);
        if (wrong)
            return 1;
    }
    return 0;
}

static int every_mesh(dt_ctx *ctx, uint64_t random) {
    for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++) {
        op_case self = {.ctx = ctx, .random = &random};
        if (meshes[m].sizes[0] * (meshes[m].n_dims == 2 ? meshes[m].sizes[1] : 1) > dt_world(ctx))
            continue;
        self.mesh = dt_mesh_from_shape(ctx, meshes[m].sizes, meshes[m].n_dims, NULL);
        CHECK(self.mesh, "%s", dt_error_text(ctx));
        (void)dt_mesh_coordinate(self.mesh, self.coordinate);
        CHECK_OK(ctx, dt__ops_open(ctx));
        for (int i = 0; i < DT__N_OPS; i++)
            if (run_op(&self, dt__op_at(ctx, i)->op))
                return 1;
        dt_mesh_release(self.mesh);
    }
    return 0;
}

/* Twice, so that redistribution has filled its caches. */
static int every_op(dt_ctx *ctx, void *arg) {
    uint64_t seed = *(const uint64_t *)arg;
    if (every_mesh(ctx, seed))
        return 1;
    int64_t n_live = dt_heap_stats(ctx).n_live;
    if (every_mesh(ctx, seed))
        return 1;
    CHECK(dt_heap_stats(ctx).n_live == n_live, "%" PRId64 " blocks leak", dt_heap_stats(ctx).n_live - n_live);
    return 0;
}

/* CMR-001 to CMR-007, CMR-014, DEC-004, DEC-005: values; rows are tested with the rules. */
static void dispatch__returns_the_values_of_plain_tensors(void **state) {
    (void)state;
    for (int64_t world = 1; world <= 6; world += WORLD_STEP) {
        uint64_t seed = test_seed(40 + (uint64_t)world);
        run_ranks(world, every_op, &seed);
    }
}

/* Plain calls against loops, on which the comparison above relies. */
static void dispatch__plain_calls_equal_loops(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt_tensor *a = calls_counting(ctx, DT_F32, DT_SHAPE(3, 4), -3, 0.5);
    dt_tensor *b = calls_counting(ctx, DT_F32, DT_SHAPE(4, 5), 2, -0.25);
    dt_tensor *row = calls_counting(ctx, DT_F32, DT_SHAPE(4), 1, 1);
    dt_tensor *sum = CALL(ctx, "add($1; $2; alpha=-2)", a, row), *product = CALL(ctx, "mm($1; $2)", a, b);
    dt_tensor *max = CALL(ctx, "amax($1; [1])", a), *turned = CALL(ctx, "transpose($1; 0; 1)", a);
    dt_tensor *joined = CALL(ctx, "cat({$1; $1}; 1)", a);
    assert_non_null(sum);
    assert_non_null(product);
    assert_non_null(max);
    assert_non_null(turned);
    assert_non_null(joined);
    for (int64_t i = 0; i < 3; i++) {
        double largest = -INFINITY;
        for (int64_t k = 0; k < 4; k++) {
            double x = calls_element(a, i * 4 + k);
            largest = x > largest ? x : largest;
            assert_true(calls_element(sum, i * 4 + k) == x - 2 * calls_element(row, k));
            assert_true(*(const float *)(const void *)tensors_at(turned, (int64_t[]){k, i}) == (float)x);
            assert_true(calls_element(joined, i * 8 + k) == x && calls_element(joined, i * 8 + 4 + k) == x);
        }
        assert_true(calls_element(max, i) == largest);
        for (int64_t j = 0; j < 5; j++) {
            double expected = 0;
            for (int64_t k = 0; k < 4; k++)
                expected += calls_element(a, i * 4 + k) * calls_element(b, k * 5 + j);
            assert_true(calls_element(product, i * 5 + j) == expected);
        }
    }
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatch__plain_calls_equal_loops),
        cmocka_unit_test(dispatch__returns_the_values_of_plain_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
