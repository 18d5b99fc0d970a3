/* SPDX-License-Identifier: Apache-2.0
 * ctest: processors=2
 *
 * Ops that are made of others have no rows of their own: the decomposition itself is run, with every combination of
 * placements of its inputs, and compared with the op on plain tensors. Ranks 2, 3 and 5 on shm; with 3 also variations
 * of the samples: sizes 0, 1, even and odd, other dtypes, but not those of half precision, in which the values
 * between two ops are rounded where the kernel of another op does not. Each op that has a decomposition must have been
 * tried, also those that have a kernel, too. (VAL-022)
 */
#include "autograd/records.h"
#include "dispatch/matrix_structure.h"
#include "verify/sample_variations.h"

#include <math.h>

enum { MAX_INPUTS = 8, MAX_COMBINATIONS = 60, LINE_BYTES = 512 };

typedef struct trial {
    dt_ctx *ctx;
    dt_mesh *mesh;
    test_call call, plain;
    int n_compared;
} trial;

/* Indices are below 2, which is in range of every dim that is used with them; other numbers are exact in f16, and no
 * two elements of a small tensor are equal. */
static double number_at(dt_dtype dtype, int input, int64_t i) {
    if (dt__is_integral(dtype))
        return (double)((i * 5 + input + 1) % 3 % 2);
    return (double)((i * 7 + input * 5) % 31 - 15) / 8 + 0.0625;
}

static dt_tensor *make_full(trial *self, int input) {
    const dt_op_value *value = &self->call.parsed.call.inputs[input];
    dt_tensor *tensor = dt_empty(self->ctx, TENSORS_SHAPE(value->n_dims, value->shape), .dtype = value->dtype);
    for (int64_t i = 0; tensor && i < dt_tensor_elements(tensor); i++)
        calls_set_element(tensor, i, number_at(value->dtype, input, i));
    return dt__is_inexact(value->dtype) ? structure_of(&self->call, input, tensor) : tensor;
}

/* Placements that an input is tried with: Replicate, a shard of each dim, and P(sum) of floating point. */
static int n_places(const dt_op_value *value) { return 1 + value->n_dims + dt__is_inexact(value->dtype); }

static dt_tensor *place(trial *self, dt_tensor *full, int which) {
    char text[16] = "R";
    if (which > full->n_dims)
        snprintf(text, sizeof text, "P(sum)");
    else if (which > 0)
        snprintf(text, sizeof text, "S(%d)", which - 1);
    return calls_distribute(full, self->mesh, text);
}

/* Of the least exact dtype among inputs and output, in which intermediate values may be rounded. */
static double tolerance(const trial *self, dt_dtype output) {
    double largest = 0;
    for (int i = -1; i < self->call.call.n_inputs; i++) {
        dt_dtype dtype = i < 0 ? output : self->call.call.inputs[i]->dtype;
        double one = dt__is_integral(dtype) ? 0 : dtype == DT_F64 || dtype == DT_C128 ? 1e-12 : 1e-5;
        largest = one > largest ? one : largest;
    }
    return largest;
}

static int compare(trial *self, const char *text, const char *places) {
    CHECK(self->call.call.n_outputs == self->plain.call.n_outputs, "%s: %s: %d outputs", text, places,
          self->call.call.n_outputs);
    for (int o = 0; o < self->call.call.n_outputs; o++) {
        dt_tensor *output = self->call.call.outputs[o], *full = output->spec ? dt_full_tensor(output) : output;
        dt_tensor *got = dt_contiguous(full), *expected = dt_contiguous(self->plain.call.outputs[o]);
        CHECK(got && expected, "%s: %s: %s", text, places, dt_error_text(self->ctx));
        CHECK(got->dtype == expected->dtype && tensors_same_shape(got, expected), "%s: %s: shape of output %d", text,
              places, o + 1);
        for (int64_t i = 0; i < dt_tensor_elements(expected); i++) {
            double a = calls_element(got, i), b = calls_element(expected, i);
            bool near =
                a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance(self, expected->dtype) * (1 + fabs(b));
            CHECK(near, "%s on %d ranks: %s: output %d (%s), element %d: expected %.9g, got %.9g", text,
                  (int)dt_world(self->ctx), places, o + 1, calls_placements(output), (int)i, b, a);
        }
    }
    return 0;
}

/* Runs the decomposition on the inputs with these placements. */
static int run_combination(trial *self, const char *text, dt_tensor *const *fulls, int64_t which) {
    char places[256] = "";
    int n = self->call.call.n_inputs;
    dt_scope scope = dt_scope_begin(self->ctx);
    for (int i = 0; i < n; i++) {
        const int count = n_places(&self->call.parsed.call.inputs[i]);
        self->call.call.inputs[i] = place(self, fulls[i], (int)(which % count));
        which /= count;
        CHECK(self->call.call.inputs[i], "%s: %s", text, dt_error_text(self->ctx));
        size_t used = strlen(places);
        snprintf(places + used, sizeof places - used, "%s ", calls_placements(self->call.call.inputs[i]));
    }
    dt_status status = dt__dispatch_decomposed(self->ctx, &self->call.call);
    if (status == DT_ERR_UNSUPPORTED && self->call.call.info->op->kernel) {
        CHECK_OK(self->ctx, dt_error_clear(self->ctx)); /* it has rows, and no decomposition of this call */
        dt_scope_end(scope);
        return 0;
    }
    CHECK(status == DT_OK, "%s: %s: %s", text, places, dt_error_text(self->ctx));
    int wrong = compare(self, text, places);
    self->n_compared++;
    dt_scope_end(scope);
    return wrong;
}

/* A limited number of combinations is spread over all: the step is prime to the numbers of placements, up to 6. */
static int64_t stride_of(int64_t n_all) {
    int64_t step = n_all / MAX_COMBINATIONS + 1;
    while (n_all > MAX_COMBINATIONS && (step % 2 == 0 || step % 3 == 0 || step % 5 == 0))
        step++;
    return step;
}

static int run_text(trial *self, const char *text, bool is_sample) {
    static const int64_t one[] = {1};
    dt_tensor *fulls[MAX_INPUTS];
    int64_t n_all = 1;
    int wrong = 0;
    self->call = (test_call){.arena = dt__arena_new(self->ctx)};
    self->plain = (test_call){.arena = dt__arena_new(self->ctx)};
    dt_scope scope = dt_scope_begin(self->ctx);
    bool usable = dt__placed_call_parse(&self->call.arena, text, 1, one, &self->call.parsed) == DT_OK;
    CHECK(usable || !is_sample, "%s: %s", text, dt_error_text(self->ctx));
    if (usable && self->call.parsed.call.n_inputs <= MAX_INPUTS) {
        calls_prepare(&self->call);
        self->plain.parsed = self->call.parsed;
        calls_prepare(&self->plain);
        for (int i = 0; i < self->call.call.n_inputs; i++) {
            self->plain.call.inputs[i] = fulls[i] = make_full(self, i);
            n_all *= n_places(&self->call.parsed.call.inputs[i]);
        }
        usable = calls_run(self->ctx, &self->plain) == DT_OK;
        CHECK(usable || !is_sample, "%s: %s", text, dt_error_text(self->ctx));
        for (int64_t which = 0; usable && which < n_all && !wrong; which += stride_of(n_all))
            wrong = run_combination(self, text, fulls, which);
        dt__call_end(&self->call.call);
        dt__call_end(&self->plain.call);
    }
    if (dt_failed(self->ctx) && !wrong)
        CHECK_OK(self->ctx, dt_error_clear(self->ctx));
    dt_scope_end(scope);
    dt__arena_free(&self->call.arena);
    dt__arena_free(&self->plain.arena);
    return wrong;
}

static int run_op(trial *self, const dt__op_info *info) {
    dt__arena arena = dt__arena_new(self->ctx);
    int n_before = self->n_compared, wrong = 0;
    for (const char *at = info->op->samples; at && *at && !wrong; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[LINE_BYTES];
        const char *sample = line;
        dt__text_list texts = {.n = 1, .list = &sample};
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (dt_world(self->ctx) == 3)
            CHECK_OK(self->ctx, dt__sample_variations(&arena, sample, &texts));
        for (int t = 0; t < texts.n && !wrong; t++)
            wrong = !strstr(texts.list[t], "f16") && run_text(self, texts.list[t], t == 0);
    }
    dt__arena_free(&arena);
    CHECK(wrong || self->n_compared > n_before, "%s: no sample was tried", info->schema.name);
    return wrong;
}

static int every_decomposition(dt_ctx *ctx, void *arg) {
    int64_t n = dt_world(ctx);
    trial self = {.ctx = ctx, .mesh = dt_mesh_from_shape(ctx, &n, 1, NULL)};
    int n_ops = 0, failures = 0;
    (void)arg;
    CHECK_OK(ctx, dt__ops_open(ctx));
    for (int i = 0; i < dt__op_count(ctx); i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        if (!info->op->decompose)
            continue;
        n_ops++;
        failures += run_op(&self, info);
        if (dt_failed(ctx))
            CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_mesh_release(self.mesh);
    CHECK(n_ops > 15, "%d ops", n_ops);
    return failures > 0;
}

static void decomposition__has_the_values_of_the_op_for_all_placements(void **state) {
    static const int64_t worlds[] = {2, 3, 5};
    (void)state;
    for (int w = 0; w < 3; w++)
        run_ranks(worlds[w], every_decomposition, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decomposition__has_the_values_of_the_op_for_all_placements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
