/* SPDX-License-Identifier: Apache-2.0
 *
 * What is recorded: of every op of the table on each of its samples, and of every other public function that makes a
 * tensor from a tensor (tests/autograd/test_recorded_functions.py compares the cases with the headers).
 */
#include "autograd/records.h"
#include "dispatch/matrix_structure.h"

#include "autograd/record.h"
#include "base/dtype.h"

#include <stdlib.h>
#include <unistd.h>

static dt_ctx *open_alone(void) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_non_null(ctx);
    return ctx;
}

static int open_mesh(dt_ctx *ctx, dt_mesh **mesh) {
    int64_t n = dt_world(ctx);
    *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    CHECK(*mesh, "%s", dt_error_text(ctx));
    return 0;
}

static void chain__is_recorded_in_order(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 3), .requires_grad = true), *b = dt_ones(ctx, DT_SHAPE(3));
    dt_tensor *y = dt_sum(dt_relu(dt_add(dt_mul(x, x), b, .alpha = DT_NUMBER(2))), .dim = DT_DIMS(-1));
    assert_string_equal(records_text(y, 0),
                        "1 leaf f32[4,3]\n"
                        "2 mul(f32[4,3]; f32[4,3]) -> f32[4,3]; from 1, 1; saves input 1, input 2\n"
                        "3 add(f32[4,3]; f32[3]; alpha=2) -> f32[4,3]; from 2, -\n"
                        "4 relu(f32[4,3]) -> f32[4,3]; from 3; saves output 1\n"
                        "5 sum(f32[4,3]; dim=[-1]) -> f32[4]; from 4\n");
    assert_true(dt_requires_grad(y) && !dt_is_leaf(y) && dt_is_leaf(x) && dt_is_leaf(b) && !dt_requires_grad(b));
    assert_string_equal(records_text(dt_add(b, b), 0), "");
    assert_int_equal(dt_close(ctx), 0);
}

static void record__has_the_site_of_its_call(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *y = dt_exp(dt_ones(ctx, DT_SHAPE(4), .requires_grad = true));
    const dt__recorded_call *record = dt__recorded_call_of(y);
    assert_string_equal(record->site.file, __FILE__);
    assert_int_equal(record->site.line, __LINE__ - 3);
    assert_int_equal(dt_close(ctx), 0);
}

static void no_grad__records_nothing_and_nests(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_no_grad_begin(ctx);
    dt_tensor *x =
        dt_ones(ctx, DT_SHAPE(4), .requires_grad = true); /* a leaf requires a gradient wherever it is made */
    dt_no_grad_begin(ctx);
    assert_true(dt_requires_grad(x) && !dt_requires_grad(dt_exp(x)));
    assert_int_equal(dt_no_grad_end(ctx), DT_OK);
    assert_false(dt_requires_grad(dt_exp(x)));
    assert_non_null(dt_add_(x, x)); /* which is how parameters are updated */
    assert_int_equal(dt_no_grad_end(ctx), DT_OK);
    assert_true(dt_requires_grad(dt_exp(x)) && dt_is_leaf(x));
    assert_int_equal(dt_no_grad_end(ctx), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "no_grad_end: expected an open dt_no_grad_begin, got none (at ");
    (void)dt_error_clear(ctx);
    dt_no_grad_begin(NULL);
    assert_int_equal(dt_no_grad_end(NULL), DT_ERR_VALUE);
    assert_int_equal(dt_close(ctx), 0);
}

static void detach__shares_elements_and_not_the_record(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_exp(dt_ones(ctx, DT_SHAPE(4), .requires_grad = true)), *d = dt_detach(x);
    assert_true(d != x && dt_tensor_shares(x, d) && dt_is_leaf(d) && !dt_requires_grad(d));
    assert_string_equal(records_text(dt_exp(d), 0), "");
    assert_null(dt_detach(NULL));
    assert_false(dt_is_leaf(NULL));
    assert_int_equal(dt_close(ctx), 0);
}

static void leaf__is_not_written_to(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 3), .requires_grad = true), *y = dt_ones(ctx, DT_SHAPE(4, 3));
    assert_null(dt_add_(x, y));
    assert_error_contains(ctx, DT_ERR_STATE,
                          "add_: f32[4,3]; f32[4,3]: cannot write to a leaf that requires a gradient");
    (void)dt_error_clear(ctx);
    assert_null(dt_fill_(dt_transpose(dt_slice(x, 0, 1, 4, 1), 0, 1), DT_NUMBER(2)));
    assert_error_contains(ctx, DT_ERR_STATE, "cannot write to a view of a leaf that requires a gradient");
    (void)dt_error_clear(ctx);
    assert_non_null(dt_fill_(dt_detach(x), DT_NUMBER(2)));
    assert_int_equal(dt_close(ctx), 0);
}

static void in_place__replaces_the_record(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true), *y = dt_exp(x), *z = dt_ones(ctx, DT_SHAPE(4));
    assert_ptr_equal(dt_mul_(y, x), y);
    assert_string_equal(records_text(y, 0),
                        "1 leaf f32[4]\n"
                        "2 exp(f32[4]) -> f32[4]; from 1; saves output 1\n"
                        "3 mul_(f32[4]; f32[4]) -> f32[4]; changes 2, 1; saves input 1, input 2\n");
    assert_ptr_equal(dt_add_(z, x), z); /* a tensor that required none does now */
    assert_true(dt_requires_grad(z) && !dt_is_leaf(z));
    dt_tensor *index = dt_ones(ctx, DT_SHAPE(4), .dtype = DT_I64);
    assert_ptr_equal(dt_copy_(index, x), index); /* integers have no gradient */
    assert_false(dt_requires_grad(index));
    assert_int_equal(dt_close(ctx), 0);
}

static void requires_grad__is_set_on_leaves(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true), *y = dt_exp(x);
    assert_int_equal(dt_set_requires_grad(y, true), DT_OK); /* it does already */
    assert_false(dt_is_leaf(y));
    assert_int_equal(dt_set_requires_grad(y, false), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE,
                          "expected a leaf, got the result of a call that is recorded; use dt_detach");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_set_requires_grad(x, false), DT_OK);
    assert_false(dt_requires_grad(dt_exp(x)));
    assert_true(dt_requires_grad(y)); /* it was made before */
    /* An intermediate tensor that requires none is a leaf. */
    dt_tensor *z = dt_mul(x, x);
    assert_int_equal(dt_set_requires_grad(z, true), DT_OK);
    assert_string_equal(records_text(dt_exp(z), 0),
                        "1 leaf f32[4]\n2 exp(f32[4]) -> f32[4]; from 1; saves output 1\n");
    assert_int_equal(dt_close(ctx), 0);
}

/* Functions that are not ops, with the record of each; and of those that return their argument or a leaf. */
/* One call of an op on leaves, or, where it changes its first input, on copies of leaves. */
static int check_op(dt_ctx *ctx, test_call *self, dt_tensor **inputs) {
    const dt__op_info *info = self->parsed.info;
    const char *name = info->schema.name;
    bool any = false;
    CHECK_OK(ctx, calls_run(ctx, self));
    for (int i = 0; i < self->call.n_inputs; i++)
        any = any || (dt_requires_grad(inputs[i]) && !(info->op->flags & DT_OP_NOT_DIFFERENTIABLE));
    dt__saved_values saves = {0};
    uint32_t recorded = 0;
    for (int p = 0; p < info->schema.signatures[self->call.overload].n_params; p++) {
        const dt_arg *arg = &self->call.args[p];
        for (int i = 0; i < arg->n && (arg->type == DT_ARG_TENSOR || arg->type == DT_ARG_TENSORS); i++) {
            int at = arg->type == DT_ARG_TENSOR ? arg->as.first : dt_arg_member(arg, i);
            recorded |= (uint32_t)(at >= 0 && dt_requires_grad(inputs[at])) << p;
        }
    }
    saves = dt__values_to_save(info, self->call.overload, recorded);
    for (int o = 0; o < self->call.n_outputs; o++) {
        const dt_tensor *output = self->call.outputs[o];
        if (info->op->flags & DT_OP_NOT_DIFFERENTIABLE && dt__output_input(&self->call.op_call, o) >= 0)
            continue; /* it keeps its record */
        /* Statistics that these return are constants, as in PyTorch. */
        bool is_constant = o > 0 && (!strcmp(name, "native_batch_norm") || !strcmp(name, "native_layer_norm") ||
                                     !strcmp(name, "_native_batch_norm_legit_functional"));
        /* What a mask leaves out of gradients depends on nothing. */
        is_constant |= !strcmp(name, "moment_norm_backward") && dt_tensor_elements(output) == 0;
        CHECK(dt_requires_grad(output) == (any && dt__is_inexact(output->dtype) && !is_constant), "%s: output %d",
              name, o);
        bool of_parts = info->op->flags & DT_OP_RECORDS_PARTS || (!info->op->kernel && !dt__has_gradient(info->op));
        if (!output->record || of_parts)
            continue;
        const dt__recorded_call *record = dt__recorded_call_of(output);
        CHECK(!strcmp(record->name, name) && record->info == info && record->n_inputs == self->call.n_inputs &&
                  record->n_outputs >= self->call.n_outputs && output->output == o,
              "%s: %s", name, records_last(output));
        for (int p = 0; p < record->n_args; p++) {
            const dt_arg *arg = &record->args[p];
            CHECK(arg->type == self->call.args[p].type, "%s: argument %d", name, p);
            for (int i = 0; i < arg->n && (arg->type == DT_ARG_TENSOR || arg->type == DT_ARG_TENSORS); i++) {
                int at = arg->type == DT_ARG_TENSOR ? arg->as.first : dt_arg_member(arg, i);
                if (at < 0)
                    continue;
                const dt__recorded_tensor *input = &record->tensors[at];
                bool saved = saves.params >> p & 1;
                CHECK(saved == (input->storage != NULL), "%s: argument %d: %s", name, p, records_last(output));
                bool copied = dt__writes_input(&self->parsed.call, at);
                CHECK(!saved || copied || input->storage == inputs[at]->storage, "%s: argument %d", name, p);
            }
        }
        for (int i = 0; i < record->n_inputs; i++)
            CHECK((record->tensors[i].made_by != NULL) == dt_requires_grad(inputs[i]), "%s: input %d", name, i);
    }
    return 0;
}

static int check_sample(dt_ctx *ctx, dt_mesh *mesh, const char *sample) {
    static const int64_t one[] = {1};
    test_call self = {.arena = dt__arena_new(ctx)};
    dt_tensor *inputs[DT__FEW_TENSORS];
    CHECK_OK(ctx, dt__placed_call_parse(&self.arena, sample, 1, one, &self.parsed));
    calls_prepare(&self);
    for (int i = 0; i < self.call.n_inputs; i++) {
        const dt_op_value *value = &self.parsed.call.inputs[i];
        bool differentiable = dt__is_inexact(value->dtype);
        dt_shape shape = TENSORS_SHAPE(value->n_dims, value->shape);
        dt_tensor *zeros =
            dt_zeros(ctx, shape, .dtype = value->dtype, .mesh = mesh, .place = value->n_dims ? "S(0)" : "R");
        inputs[i] = structure_of(&self, i, zeros);
        CHECK_OK(ctx, dt_set_requires_grad(inputs[i], differentiable));
        if (differentiable && (i == 0 || self.parsed.info->list) && dt__call_writes(&self.parsed.call))
            inputs[i] = dt_clone(inputs[i]);
        self.call.inputs[i] = inputs[i];
    }
    int status = check_op(ctx, &self, inputs);
    dt_no_grad_begin(ctx);
    for (int i = 0; status == 0 && i < self.call.n_inputs; i++)
        self.call.inputs[i] = dt__clone(inputs[i]);
    if (status == 0)
        CHECK_OK(ctx, calls_run(ctx, &self));
    for (int o = 0; o < self.call.n_outputs && status == 0; o++)
        CHECK(!dt_requires_grad(self.call.outputs[o]), "%s: recorded without recording", sample);
    CHECK_OK(ctx, dt_no_grad_end(ctx));
    calls_close(&self);
    return status;
}

static int record_ops(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    CHECK_OK(ctx, dt__ops_open(ctx));
    for (int i = 0; i < dt__op_count(ctx); i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        CHECK(info, "%s", dt_error_text(ctx));
        dt_scope scope = dt_scope_begin(ctx);
        char sample[512];
        for (const char *at = info->op->samples; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
            snprintf(sample, sizeof sample, "%.*s", (int)strcspn(at, "\n"), at);
            if (check_sample(ctx, mesh, sample))
                return 1;
        }
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void ops__are_recorded_with_what_they_save(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks(n, record_ops, NULL);
}

static int record_functions(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    int64_t n = dt_world(ctx);
    char expected[256];
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 3), .requires_grad = true);
    dt_tensor *d = dt_ones(ctx, DT_SHAPE(4 * n, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
#define RECORDS(function, call, text) CHECK_RECORD(call, text)
#define SIZED(...)                    (snprintf(expected, sizeof expected, __VA_ARGS__), expected)
    long long rows = 4 * n;
    RECORDS(as_strided, dt_as_strided(x, DT_SHAPE(2, 2), DT_INTS(3, 1), 4),
            "as_strided(f32[4,3]; 4; 3; 1; 0; 2; 4; 3; 3; 1) -> f32[2,2]; view of 1");
    RECORDS(detach, dt_detach(x), "");
    RECORDS(rand_like, dt_rand_like(x), "");
    RECORDS(randn_like, dt_randn_like(x), "");
    RECORDS(randint_like, dt_randint_like(x, 0, 3), "");
    RECORDS(bernoulli_like, dt_bernoulli_like(x, 0.5), "");
    RECORDS(dropout_mask_like, dt_dropout_mask_like(x, 0.5), "");
/* On a result; a leaf is not changed. */
#define RECORDS_CHANGE(function, text, ...)                                                                          \
    do {                                                                                                             \
        dt_tensor *changed = dt_exp(x), *leaf = x;                                                                   \
        CHECK_OK(ctx, dt_##text(changed __VA_ARGS__));                                                               \
        CHECK_RECORD(changed, #text "(f32[4,3]) -> f32[4,3]; changes 2");                                            \
        CHECK(dt_##text(leaf __VA_ARGS__) == DT_ERR_STATE && dt_error_clear(ctx) == DT_OK, "a leaf was changed");    \
    } while (0)
    RECORDS_CHANGE(uniform_in_place, uniform_, );
    RECORDS_CHANGE(normal_in_place, normal_, );
    RECORDS_CHANGE(truncated_normal_in_place, truncated_normal_, );
    RECORDS_CHANGE(exponential_in_place, exponential_, );
    RECORDS_CHANGE(randint_in_place, randint_, , 0, 3);
    RECORDS_CHANGE(bernoulli_in_place, bernoulli_, , 0.5);
    RECORDS(keep, dt_keep(dt_exp(x)), "exp(f32[4,3]) -> f32[4,3]; from 1; saves output 1");
    RECORDS(from_local, dt_from_local(ctx, x, mesh, "S(0)"),
            SIZED("from_local(f32[4,3]) -> f32[%lld,3] S(0); view of 1", rows));
    RECORDS(to_local, dt_to_local(d), SIZED("to_local(f32[%lld,3] S(0)) -> f32[4,3]; view of 1", rows));
    RECORDS(to_local, dt_to_local(x), "leaf f32[4,3]");
    RECORDS(full_tensor, dt_full_tensor(d),
            SIZED("full_tensor(f32[%lld,3] S(0)) -> f32[%lld,3]; from 1", rows, rows));
    RECORDS(redistribute, dt_redistribute(d, "S(1)"),
            SIZED("redistribute(f32[%lld,3] S(0)) -> f32[%lld,3] S(1); from 1", rows, rows));
    RECORDS(redistribute, dt_redistribute(d, "R", .dtype = DT_BF16),
            SIZED("redistribute(f32[%lld,3] S(0)) -> bf16[%lld,3] R; from 1", rows, rows));
    RECORDS(redistribute, dt_redistribute(d, "S(0)"),
            SIZED("redistribute(f32[%lld,3] S(0)) -> f32[%lld,3] S(0); view of 1", rows, rows));
    RECORDS(reduced, dt_reduced(d, .place = "S(1)"),
            SIZED("redistribute(f32[%lld,3] S(0)) -> f32[%lld,3] S(1); from 1", rows, rows));
    RECORDS(transfer_wait, dt_transfer_wait(dt_redistribute_start(d, "R")),
            SIZED("redistribute(f32[%lld,3] S(0)) -> f32[%lld,3] R; from 1", rows, rows));
    RECORDS(transfer_wait, dt_transfer_wait(dt_redistribute_start(d, "R", .dtype = DT_F64)),
            SIZED("redistribute(f32[%lld,3] S(0)) -> f64[%lld,3] R; from 1", rows, rows));
    /* API-001: a leaf that requires what its value does */
    RECORDS(distribute_tensor, dt_distribute_tensor(x, mesh, "S(1)"), "leaf f32[4,3] S(1)");
    RECORDS(distribute_tensor, dt_distribute_tensor(dt_detach(x), mesh, "S(1)"), "");
    /* Reading records nothing and needs nothing recorded. */
    dt_tensor *one = dt_sum(d);
    CHECK(dt_item(one) == 12.0 * (double)n, "%g", dt_item(one));
    CHECK_RECORD(one, SIZED("sum(f32[%lld,3] S(0); dim=none) -> f32[] P(sum); from 1", rows));
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void functions__are_recorded(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, record_functions, NULL);
}

/* What the library does for itself makes no record: each of these calls makes the number that is stated. */
static int count_records(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    char path[64];
    snprintf(path, sizeof path, "/tmp/dtensor-records-%d.npy", (int)getppid());
    dt_tensor *probe = dt_ones(ctx, DT_SHAPE(1), .requires_grad = true);
    dt_tensor *s = dt_ones(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    dt_tensor *x = dt_clone(s), *row = dt_ones(ctx, DT_SHAPE(4)), *r = dt_redistribute(x, "R");
    int64_t first = 0;
    dt_mesh *alone = dt_mesh_from_ranks(ctx, &first, (int64_t[]){1}, 1, NULL);
    dt_tensor *elsewhere = dt_ones(ctx, DT_SHAPE(6, 4), .mesh = alone, .requires_grad = true);
#define COUNTS(expected, call)                                                                                       \
    do {                                                                                                             \
        uint64_t before_ = dt__recorded_call_of(dt_exp(probe))->number;                                              \
        CHECK((call), "%s: %s", #call, dt_error_text(ctx));                                                          \
        uint64_t made_ = dt__recorded_call_of(dt_exp(probe))->number - before_ - 1;                                  \
        CHECK(made_ == (expected), "%s: %llu records", #call, (unsigned long long)made_);                            \
    } while (0)
    dt_tensor *sum = dt_sum(x);
    COUNTS(0, dt_item(sum) == 24);
    char *text = NULL;
    COUNTS(0, (text = dt_format(x)) != NULL);
    free(text);
    COUNTS(0, dt_save_npy(x, path) == DT_OK);
    dt_dlpack_managed *exported = NULL;
    COUNTS(0, (exported = dt_to_dlpack(x)) != NULL);
    exported->deleter(exported);
    COUNTS(1, dt_matmul(x, dt_ones(ctx, DT_SHAPE(4, 2), .mesh = mesh, .place = "S(0)")));
    COUNTS(1, dt_softmax(x, 0));                                /* the input moves */
    COUNTS(1, dt_slice(x, 0, 1, 5, 1));                         /* and a view of it */
    COUNTS(2, dt_reshape(dt_transpose(r, 0, 1), DT_SHAPE(24))); /* a dense copy */
    COUNTS(1, dt_copy_(x, row));                                /* the source is brought to the mesh */
    COUNTS(1, dt_copy_(x, elsewhere));                          /* from another one */
    CHECK_RECORD(x, "copy_(f32[6,4] S(0); f32[6,4] R) -> f32[6,4] S(0); changes 4, 3");
    dt_tensor *square = dt_exp(dt_ones(ctx, DT_SHAPE(3, 3), .requires_grad = true));
    COUNTS(1, dt_add_(square, dt_transpose(dt_detach(square), 0, 1))); /* an input that overlaps what is written */
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    if (dt_rank(ctx) == 0)
        (void)remove(path);
    dt_mesh_release(alone);
    dt_mesh_release(mesh);
    return 0;
}

static void library__records_nothing_for_itself(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, count_records, NULL);
}

static dt_status twice(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)ctx, (void)user;
    outputs[0] = dt_add(inputs[0], inputs[0]);
    return DT_OK;
}

/* The parts of dt_local_map are recorded. */
static int record_local_map(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *d = dt_ones(ctx, DT_SHAPE(12, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true), *y;
    dt_local_mapping mapping = {.run = twice,
                                .n_inputs = 1,
                                .inputs = &d,
                                .in = (const char *[]){"R"},
                                .redistributes = true,
                                .n_outputs = 1,
                                .out = (const char *[]){"R"}};
    CHECK_OK(ctx, dt_local_map(ctx, &mapping, &y));
    CHECK(!strcmp(records_text(y, 0), "1 leaf f32[12,3] S(0)\n"
                                      "2 redistribute(f32[12,3] S(0)) -> f32[12,3] R; from 1\n"
                                      "3 to_local(f32[12,3] R) -> f32[12,3]; view of 2\n"
                                      "4 add(f32[12,3]; f32[12,3]) -> f32[12,3]; from 3, 3\n"
                                      "5 from_local(f32[12,3]) -> f32[12,3] R; view of 4\n"),
          "%s", records_text(y, 0));
    dt_mesh_release(mesh);
    return 0;
}

static void local_map__records_its_parts(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, record_local_map, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain__is_recorded_in_order),
        cmocka_unit_test(record__has_the_site_of_its_call),
        cmocka_unit_test(no_grad__records_nothing_and_nests),
        cmocka_unit_test(detach__shares_elements_and_not_the_record),
        cmocka_unit_test(leaf__is_not_written_to),
        cmocka_unit_test(in_place__replaces_the_record),
        cmocka_unit_test(requires_grad__is_set_on_leaves),
        cmocka_unit_test(ops__are_recorded_with_what_they_save),
        cmocka_unit_test(functions__are_recorded),
        cmocka_unit_test(library__records_nothing_for_itself),
        cmocka_unit_test(local_map__records_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
