/* SPDX-License-Identifier: Apache-2.0
 *
 * The ops of the library that meet or scan, over sharded dims, against the same call on one rank, the first time and
 * from the cache: 1 to 5 ranks, uneven and empty shards, several mesh dims on one tensor dim, shard orders, explicit
 * extents, strided shards, every dtype; ties, NaN and infinities. Where the tensor is large, only states are
 * exchanged.
 */
#include "dispatch/calls.h"
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

/* ctest: processors=2 */

typedef struct op_text {
    const char *text; /* $1: the tensor; $2, $3: weight and bias, along its last dim */
    const char *dtypes;
} op_text;

#define FLOATS   "f32 f64 f16 bf16"
#define REALS    FLOATS " i8 i16 i32 i64 u8 bool"
#define NUMBERS  REALS " c64 c128"
#define LAST_DIM "23" /* of every tensor here */

static const op_text ops[] = {
    {"softmax($1; 1)", FLOATS},
    {"softmax($1; 2)", FLOATS},
    {"softmax($1; -1; f64)", FLOATS},
    {"log_softmax($1; 1)", FLOATS},
    {"log_softmax($1; 2)", FLOATS},
    {"logsumexp($1; [2])", REALS},
    {"logsumexp($1; [1,2]; true)", FLOATS},
    {"logsumexp($1; [0])", FLOATS},
    {"layer_norm($1; [" LAST_DIM "]; $2; $3)", FLOATS},
    {"layer_norm($1; [" LAST_DIM "]; bias=$3)", FLOATS},
    {"layer_norm($1; [7," LAST_DIM "])", FLOATS},
    {"rms_norm($1; [" LAST_DIM "]; $2)", FLOATS},
    {"rms_norm($1; [7," LAST_DIM "])", FLOATS},
    {"argmax($1)", REALS},
    {"argmax($1; 2)", REALS},
    {"argmin($1; 1; true)", REALS},
    {"linalg_vector_norm($1)", FLOATS},
    {"linalg_vector_norm($1; 2; [2]; true)", FLOATS},
    {"linalg_vector_norm($1; 3; [1,2])", FLOATS},
    {"linalg_vector_norm($1; -inf; [2])", FLOATS},
    {"var($1)", FLOATS},
    {"var($1; [1,2]; correction=2)", FLOATS},
    {"std($1; [2]; keepdim=true)", FLOATS},
    {"var_mean($1; [0,2])", FLOATS},
    {"cumsum($1; 2)", NUMBERS},
    {"cumsum($1; 1; dtype=i64)", REALS},
    {"cumprod($1; 2)", NUMBERS},
    {"cumprod($1; 0)", FLOATS},
};

typedef struct request {
    const char *mesh, *place;
    int64_t shape[3];
} request;

enum values { MIXED, TIES, SOME_NAN, SOME_INFINITE, ALL_INFINITE, N_VALUES };

static double value_at(enum values kind, int64_t i) {
    double x = (double)(i * 7919 % 61 - 30) / 8;
    switch (kind) {
    case TIES:
        return (double)(i * 31 % 4);
    case SOME_NAN:
        return i % 13 == 5 ? (double)NAN : x;
    case SOME_INFINITE:
        return i % 29 == 3 ? -INFINITY : i % 97 == 8 ? INFINITY : x;
    case ALL_INFINITE:
        return i / 23 % 3 ? x : -INFINITY; /* whole rows */
    default:
        return x;
    }
}

static dt_tensor *filled(dt_ctx *ctx, dt_dtype dtype, dt_shape shape, enum values kind) {
    dt_tensor *full = dt_empty(ctx, shape, .dtype = dtype);
    for (int64_t i = 0; full && i < dt_tensor_elements(full); i++) {
        double x = value_at(kind, i);
        bool small = dtype == DT_U8 || dtype == DT_BOOL;
        calls_set_element(full, i, isfinite(x) && small ? fabs(x) : x);
    }
    return full;
}

static double tolerance(dt_dtype dtype) {
    static const double of[DT_N_DTYPES] = {[DT_F32] = 0x1p-20, [DT_F16] = 0x1p-8,  [DT_BF16] = 0x1p-5,
                                           [DT_F64] = 0x1p-40, [DT_C64] = 0x1p-20, [DT_C128] = 0x1p-40};
    return of[dtype];
}

static int compare(const char *label, const dt_tensor *expected, const dt_tensor *got) {
    bool complex = expected->dtype == DT_C64 || expected->dtype == DT_C128;
    dt_dtype part = expected->dtype == DT_C64 ? DT_F32 : expected->dtype == DT_C128 ? DT_F64 : expected->dtype;
    size_t bytes = dt_dtype_size(part);
    int64_t n = dt_tensor_elements(expected) * (complex ? 2 : 1);
    CHECK(got->dtype == expected->dtype && dt_tensor_elements(got) == dt_tensor_elements(expected), "%s: shapes",
          label);
    for (int64_t i = 0; i < n; i++) {
        double a = dt__read_f64(part, (const unsigned char *)expected->data + (size_t)i * bytes);
        double b = dt__read_f64(part, (const unsigned char *)got->data + (size_t)i * bytes);
        bool same = a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance(part) * (1 + fabs(a));
        CHECK(same, "%s: element %" PRId64 ": expected %.17g, got %.17g", label, i, a, b);
    }
    return 0;
}

static int run_op(dt_ctx *ctx, const request *self, dt_mesh *mesh, const op_text *op, dt_dtype dtype,
                  enum values kind) {
    char label[256];
    snprintf(label, sizeof label, "%s of %s[%d,%d,%d] %s on mesh(%s), values %d", op->text, dt_dtype_name(dtype),
             (int)self->shape[0], (int)self->shape[1], (int)self->shape[2], self->place, self->mesh, (int)kind);
    dt_scope scope = dt_scope_begin(ctx);
    dt_shape shape = DT_SHAPE(self->shape[0], self->shape[1], self->shape[2]);
    dt_tensor *full[3] = {filled(ctx, dtype, shape, kind), filled(ctx, dtype, DT_SHAPE(self->shape[2]), MIXED),
                          filled(ctx, dtype, DT_SHAPE(self->shape[2]), TIES)};
    dt_tensor *placed[3] = {calls_distribute(full[0], mesh, self->place)};
    CHECK(placed[0], "%s: %s", label, dt_error_text(ctx));
    for (int i = 1; i < 3; i++)
        placed[i] = calls_distribute(full[i], mesh, dt_mesh_n_dims(mesh) == 1 ? i == 1 ? "S(0)" : "R" : "R,R");
    dt_tensor *expected = calls_output(ctx, op->text, full);
    CHECK(expected, "%s: %s", label, dt_error_text(ctx));
    dt_tensor *got = calls_output(ctx, op->text, placed);
    CHECK(got, "%s: %s", label, dt_error_text(ctx));
    if (compare(label, expected, dt_full_tensor(got)))
        return 1;
    dt_scope_end(scope);
    return 0;
}

static int run_all(dt_ctx *ctx, void *arg) {
    const request *self = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, self->mesh);
    CHECK(mesh, "%s", dt_error_text(ctx));
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (int dtype = 0; dtype < DT_N_DTYPES; dtype++) {
            const char *name = dt_dtype_name((dt_dtype)dtype), *found = strstr(ops[o].dtypes, name);
            bool listed = found && (found[strlen(name)] == ' ' || !found[strlen(name)]) &&
                          (found == ops[o].dtypes || found[-1] == ' ');
            bool floating = dtype == DT_F32 || dtype == DT_F64 || dtype == DT_F16 || dtype == DT_BF16;
            bool none = strstr(ops[o].text, "argmax($1)") && self->shape[0] == 0; /* which is refused */
            if (!listed || none || (strstr(ops[o].text, "[7,") && self->shape[1] != 7))
                continue;
            /* the second kind of values is called from the cache */
            for (int kind = 0; kind < (floating ? N_VALUES : SOME_NAN); kind++)
                if (!(kind >= SOME_NAN && strstr(ops[o].text, "dtype=i64")) &&
                    run_op(ctx, self, mesh, &ops[o], (dt_dtype)dtype, (enum values)kind))
                    return 1;
        }
    dt_mesh_release(mesh);
    return 0;
}

static void ops__that_meet_give_the_values_of_one_rank(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        request request;
    } requests[] = {
        {1, {"1", "S(2)", {3, 7, 23}}},
        {2, {"2", "S(2)", {3, 7, 23}}},
        {2, {"2", "S(2:23,0)", {3, 7, 23}}},
        {3, {"3", "S(1)", {3, 7, 23}}},
        {3, {"3", "S(2:4,0,19)", {3, 7, 23}}},
        {3, {"3", "_S(2,2)", {3, 7, 23}}},
        {4, {"4", "S(0)", {3, 7, 23}}},
        {4, {"2,2", "S(2),S(2)", {3, 7, 23}}},
        {4, {"2,2", "S(2)[1],S(2)[0]", {3, 7, 23}}},
        {4, {"2,2", "S(1),S(2)", {40, 7, 23}}},
        {4, {"2,2", "S(2),S(0)", {3, 7, 23}}},
        {5, {"5", "S(2)", {3, 7, 23}}},
        {5, {"5", "S(1)", {3, 2, 23}}},
        {2, {"2", "S(2)", {0, 7, 23}}},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        run_ranks(requests[i].n, run_all, (void *)&requests[i].request);
}

/* Only states are exchanged, in one all_gather, and the result is sharded as the tensor was. */
typedef struct exchange {
    const char *text, *mesh, *place, *result;
    int64_t rows, columns, state_bytes; /* state_bytes: of one rank */
} exchange;

static int check_exchange(dt_ctx *ctx, void *arg) {
    const exchange *self = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, self->mesh);
    CHECK(mesh, "%s", dt_error_text(ctx));
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(self->rows, self->columns), .mesh = mesh, .place = self->place);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *y = CALL(ctx, self->text, x);
    CHECK(y, "%s", dt_error_text(ctx));
    dt_comm_statistics gathers = dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_gather"});
    dt_comm_statistics all = dt_comm_stats(ctx, NULL);
    dt_comm_stats_end(ctx);
    CHECK(gathers.n == 1 && all.n == 1, "%s: expected one all_gather, got %" PRId64 " exchanges", self->text, all.n);
    int64_t expected = self->state_bytes * (dt_world(ctx) - 1);
    CHECK(all.bytes == expected, "%s: expected %" PRId64 " bytes, got %" PRId64, self->text, expected, all.bytes);
    CHECK(!strcmp(calls_placements(y), self->result), "%s: expected %s, got %s", self->text, self->result,
          calls_placements(y));
    dt_mesh_release(mesh);
    return 0;
}

static const struct {
    int64_t n;
    exchange exchange;
} exchanges[] = {
    {4, {"softmax($1; 1)", "4", "S(1)", "S(1)", 1024, 4096, 2 * 8 * 1024}},
    {4, {"softmax($1; 1)", "2,2", "S(1),S(1)", "S(1),S(1)", 1024, 4096, 2 * 8 * 1024}},
    {3, {"logsumexp($1; [1])", "3", "S(1)", "R", 512, 1024, 2 * 8 * 512}},
    {2, {"layer_norm($1; [4096])", "2", "S(1)", "S(1)", 1024, 4096, 2 * 8 * 1024 + 16}},
    {2, {"rms_norm($1; [4096])", "2", "S(1)", "S(1)", 1024, 4096, 8 * 1024}},
    {2, {"argmax($1)", "2", "S(0)", "R", 1024, 4096, 2 * 16}},
    {2, {"var($1; [0])", "2", "S(0)", "R", 1024, 256, 2 * 8 * 256 + 16}},
    {3, {"cumsum($1; 0)", "3", "S(0)", "S(0)", 1024, 512, 8 * 512}},
};

static void ops__that_meet_exchange_states_only(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++)
        run_ranks(exchanges[i].n, check_exchange, (void *)&exchanges[i].exchange);
}

static void ops__that_meet_are_counted_in_fake_worlds(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = exchanges[i].n});
        assert_int_equal(check_exchange(ctx, (void *)&exchanges[i].exchange), 0);
        assert_int_equal(dt_close(ctx), 0);
    }
}

/* A strided shard has no first element to scan from: its dim is moved, by a row that does not scan. */
static int scan_strided(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    dt_tensor *full = calls_counting(ctx, DT_F32, DT_SHAPE(600, 700), 0, 1);
    dt_tensor *y = CALL(ctx, "cumsum($1; 1)", calls_distribute(full, mesh, "_S(1,2)"));
    CHECK(y, "%s", dt_error_text(ctx));
    CHECK(!strstr(calls_placements(y), "_S"), "got %s", calls_placements(y));
    dt_tensor *expected = CALL(ctx, "cumsum($1; 1)", full);
    dt_mesh_release(mesh);
    return compare("cumsum of strided shards", expected, dt_full_tensor(y));
}

static void scans__of_strided_shards_move_them(void **state) {
    (void)state;
    run_ranks(2, scan_strided, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops__that_meet_give_the_values_of_one_rank),
        cmocka_unit_test(ops__that_meet_exchange_states_only),
        cmocka_unit_test(ops__that_meet_are_counted_in_fake_worlds),
        cmocka_unit_test(scans__of_strided_shards_move_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
