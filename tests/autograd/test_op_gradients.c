/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of every op, from its samples: an op is tested by being in the table. One that has neither a gradient nor
 * the mark that it has none is refused. Samples are computed in f64, and in c128 as far as the op takes complex
 * numbers: all of its tensors, only the first one, only the last one. On one rank gradients are compared with
 * differences of the outputs, and second derivatives with differences of gradients; on several ranks both placements
 * and values, with those of one rank. (OPDB-002)
 *
 * A complex element is two numbers, its parts, and the gradient of a real loss has the derivatives by them as its
 * parts: differences by real and by imaginary parts are compared alike.
 */
#include "autograd/records.h"
#include "dispatch/matrix_structure.h"

#include "autograd/gradient_walk.h"

#include <math.h>

#define LIST(n, list) ((dt_tensors){(n), (list)})
enum { MAX_INPUTS = 8, MAX_OUTPUTS = 64, MAX_ELEMENTS = 512 };

/* A sample, run several times on tensors that it makes. */
enum value_range { ANY_SIGN, POSITIVE, BELOW_ONE, N_RANGES }; /* of the elements of inputs */

typedef struct op_sample {
    dt_ctx *ctx;
    const dt__op_info *info;
    test_call call;
    dt_generator_state draws;
    enum value_range range;
} op_sample;

/* Which tensors of a sample are complex. */
enum variation { REAL, ALL_COMPLEX, FIRST_COMPLEX, LAST_COMPLEX, N_VARIATIONS };

/* The text with f64 or c128 instead of f32, and c128 instead of c64; false if the sample is about other dtypes, or
 * about numbers that have no derivatives, or where the variation is none. */
static bool sample_text(const char *from, size_t n, enum variation variation, char *out, size_t capacity) {
    char text[512];
    size_t n_out = 0;
    int n_real = 0, n_complex = 0, at_real = 0;
    snprintf(text, sizeof text, "%.*s", (int)n, from);
    for (const char *at = text; *at; at++) {
        n_real += !strncmp(at, "f32[", 4);
        n_complex += !strncmp(at, "c64[", 4);
    }
    for (const char *at = text; *at && n_out + 8 < capacity;) {
        bool is_real = !strncmp(at, "f32", 3), is_complex = !strncmp(at, "c64", 3);
        if (!is_real && !is_complex) {
            out[n_out++] = *at++;
            continue;
        }
        at_real += !strncmp(at, "f32[", 4);
        bool is_made = variation == ALL_COMPLEX || (variation == FIRST_COMPLEX && at_real == 1) ||
                       (variation == LAST_COMPLEX && at_real == n_real);
        at += 3;
        n_out += (size_t)snprintf(out + n_out, capacity - n_out, "%s",
                                  is_complex || (is_made && *at == '[') ? "c128" : "f64");
    }
    out[n_out] = '\0';
    const char *arguments = out + strcspn(out, "(");
    bool exists = variation == REAL || (variation == ALL_COMPLEX ? n_real > 0 && !n_complex : n_real > 1);
    return exists && !strstr(arguments, "f16") && !strstr(arguments, "nan") && !strstr(arguments, "inf");
}

/* Samples whose gradient is not the derivative, by definition. */
static bool is_excepted(const char *text) {
    return !strcmp(text, "embedding(i64[2,5]; f64[7,3]; 0)") || /* the row of the padding index has none */
           !strcmp(text, "embedding(i64[2,5]; c128[7,3]; 0)") || !strncmp(text, "linalg_svd(c128", 15) ||
           !strncmp(text, "svd(c128", 8); /* the loss must not depend on the phases of vectors */
}

/* The numbers that a dense tensor consists of: its elements, or the parts of complex ones. */
static int64_t n_parts(const dt_tensor *tensor) {
    return dt_tensor_elements(tensor) * (dt__is_complex(tensor->dtype) ? 2 : 1);
}
static double part_at(const dt_tensor *tensor, int64_t i) {
    if (!dt__is_complex(tensor->dtype))
        return calls_element(tensor, i);
    dt__element element = dt__element_read(tensor->dtype, (const unsigned char *)tensor->data +
                                                              (size_t)(i / 2) * dt_dtype_size(tensor->dtype));
    return i % 2 ? element.im : element.re;
}
static void set_part(dt_tensor *tensor, int64_t i, double value) {
    if (!dt__is_complex(tensor->dtype)) {
        calls_set_element(tensor, i, value);
        return;
    }
    unsigned char *at = tensor->data + (size_t)(i / 2) * dt_dtype_size(tensor->dtype);
    dt__element element = dt__element_read(tensor->dtype, at);
    *(i % 2 ? &element.im : &element.re) = value;
    dt__element_write(tensor->dtype, element, at);
}

static bool opens(dt_ctx *ctx, const dt__op_info *info, const char *text, op_sample *out) {
    static const int64_t one[] = {1};
    *out = (op_sample){.ctx = ctx, .info = info, .call = {.arena = dt__arena_new(ctx)}};
    out->draws = dt_generator_save(dt_generator_default(ctx));
    if (dt__placed_call_parse(&out->call.arena, text, 1, one, &out->call.parsed) != DT_OK)
        return false;
    calls_prepare(&out->call);
    return true;
}

static const dt_op_value *input_of(const op_sample *self, int i) { return &self->call.parsed.call.inputs[i]; }

/* No two elements are equal, none is near zero, and there is no order. */
static double element_of(const op_sample *self, int input, int64_t i) {
    uint64_t mixed = (uint64_t)(i * 7 + input * 3 + 1) * UINT64_C(0x9E3779B97F4A7C15);
    double value = 0.3 + (double)(mixed >> 40) / (double)(1 << 24) + 0.01 * (double)i;
    if (self->range == BELOW_ONE)
        value = 0.1 + 0.8 * (double)(mixed >> 40) / (double)(1 << 24);
    return self->range != ANY_SIGN || mixed >> 39 & 1 ? value : -value;
}

static dt_tensor *make_input(const op_sample *self, int input) {
    const dt_op_value *value = input_of(self, input);
    dt_tensor *tensor = dt_empty(self->ctx, TENSORS_SHAPE(value->n_dims, value->shape), .dtype = value->dtype);
    for (int64_t i = 0; tensor && i < n_parts(tensor); i++)
        set_part(tensor, i,
                 dt__is_inexact(value->dtype) ? element_of(self, input, i) : (double)((i * 5 + 1) % 3 % 2));
    return tensor;
}

/* Runs the sample on these inputs; what it writes to is a copy. */
static dt_status run(op_sample *self, dt_tensor **inputs) {
    dt_generator_restore(dt_generator_default(self->ctx), self->draws);
    for (int i = 0; i < self->call.call.n_inputs; i++)
        self->call.call.inputs[i] = dt__writes_input(&self->call.parsed.call, i) && inputs[i]
                                        ? dt_clone(inputs[i])
                                        : structure_of(&self->call, i, inputs[i]);
    return calls_run(self->ctx, &self->call);
}

/* The weight of an element, or of a part of one, of an output in the loss. */
static double weight_of(int output, int64_t i) { return 0.5 + 0.37 * (double)((i * 5 + output * 2) % 7); }

static dt_tensor *weights_of(const dt_tensor *output, int o) {
    dt_tensor *weights = dt_empty(output->ctx, TENSORS_SHAPE(output->n_dims, output->shape), .dtype = output->dtype);
    for (int64_t i = 0; weights && i < n_parts(weights); i++)
        set_part(weights, i, weight_of(o, i));
    return weights;
}

/* The sum of all floating-point outputs times their weights; NaN after an error. */
static double loss_of(op_sample *self, dt_tensor **inputs) {
    double loss = 0;
    dt_scope scope = dt_scope_begin(self->ctx);
    dt_no_grad_begin(self->ctx);
    if (run(self, inputs) != DT_OK)
        loss = NAN;
    for (int o = 0; o < self->call.call.n_outputs && !isnan(loss); o++) {
        dt_tensor *output = dt_contiguous(self->call.call.outputs[o]);
        for (int64_t i = 0; dt__is_inexact(output->dtype) && i < n_parts(output); i++)
            loss += weight_of(o, i) * part_at(output, i);
    }
    (void)dt_no_grad_end(self->ctx);
    dt_scope_end(scope);
    return loss;
}

static bool needs_grad(const op_sample *self, int i) {
    return input_of(self, i)->dtype == DT_F64 || input_of(self, i)->dtype == DT_C128;
}

/* Gradients of the loss by dt_gradients: one per input, NULL where there is none. */
static dt_status gradients_of(op_sample *self, dt_tensor **inputs, bool create_graph, dt_tensor **grads) {
    dt_tensor *outputs[MAX_OUTPUTS], *output_grads[MAX_OUTPUTS], *targets[MAX_INPUTS], *found[MAX_INPUTS];
    int n = 0, n_targets = 0;
    DT__TRY(run(self, inputs));
    for (int o = 0; o < self->call.call.n_outputs && o < MAX_OUTPUTS; o++) {
        dt_tensor *output = self->call.call.outputs[o];
        if (!dt_requires_grad(output))
            continue;
        dt_tensor *weights = weights_of(output, o);
        outputs[n] = output;
        output_grads[n++] = weights;
    }
    for (int i = 0; i < self->call.call.n_inputs; i++) {
        grads[i] = NULL;
        if (needs_grad(self, i))
            targets[n_targets++] = inputs[i];
    }
    if (!n)
        return DT_OK;
    DT__TRY(dt_gradients(LIST(n, outputs), LIST(n_targets, targets), found, .output_grads = output_grads,
                         .allow_unused = true, .create_graph = create_graph));
    for (int i = 0, t = 0; i < self->call.call.n_inputs; i++)
        grads[i] = needs_grad(self, i) ? found[t++] : NULL;
    return DT_OK;
}

static bool is_near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b)) || (isnan(a) && isnan(b));
}

/* A sample with inputs on which it is defined; false where there is none. */
static bool has_values(op_sample *self, dt_tensor **inputs) {
    for (int range = 0; range < N_RANGES; range++) {
        self->range = (enum value_range)range;
        for (int i = 0; i < self->call.call.n_inputs; i++)
            if (!(inputs[i] = make_input(self, i)))
                return false;
        if (isfinite(loss_of(self, inputs)))
            return true;
    }
    return false;
}

/* What the sample is about, in failures. */
#define EXPECT_NEAR(actual, expected, tolerance, ...)                                                                \
    do {                                                                                                             \
        double actual_ = (actual), expected_ = (expected);                                                           \
        if (!is_near(actual_, expected_, tolerance)) {                                                               \
            print_message(__VA_ARGS__);                                                                              \
            print_message(": expected %.12g, got %.12g\n", expected_, actual_);                                      \
            return 1;                                                                                                \
        }                                                                                                            \
    } while (0)

/* First derivatives against differences of the loss. */
static int check_first(op_sample *self, const char *text, dt_tensor **inputs) {
    static const double step = 1e-6;
    dt_tensor *grads[MAX_INPUTS];
    for (int i = 0; i < self->call.call.n_inputs; i++)
        if (needs_grad(self, i))
            CHECK_OK(self->ctx, dt_set_requires_grad(inputs[i], true));
    CHECK_OK(self->ctx, gradients_of(self, inputs, false, grads));
    for (int i = 0; i < self->call.call.n_inputs; i++) {
        if (!needs_grad(self, i))
            continue;
        dt_tensor *grad = grads[i] ? dt_contiguous(grads[i]) : NULL;
        for (int64_t e = 0; e < n_parts(inputs[i]); e++) {
            double value = part_at(inputs[i], e), losses[2];
            for (int side = 0; side < 2; side++) {
                set_part(inputs[i], e, value + (side ? step : -step));
                losses[side] = loss_of(self, inputs);
            }
            set_part(inputs[i], e, value);
            EXPECT_NEAR(grad ? part_at(grad, e) : 0, (losses[1] - losses[0]) / (2 * step), 1e-6,
                        "%s: gradient of input %d, element %d", text, i + 1, (int)e);
        }
    }
    return 0;
}

/* The sum of all gradients times weights, and its gradients unless grads is NULL. */
static dt_status second_loss(op_sample *self, dt_tensor **inputs, double *loss, dt_tensor **grads) {
    dt_tensor *first[MAX_INPUTS], *outputs[MAX_INPUTS], *output_grads[MAX_INPUTS], *targets[MAX_INPUTS];
    int n = 0, n_targets = 0;
    *loss = 0;
    DT__TRY(gradients_of(self, inputs, true, first));
    for (int i = 0; i < self->call.call.n_inputs; i++) {
        if (grads)
            grads[i] = NULL;
        if (needs_grad(self, i))
            targets[n_targets++] = inputs[i];
        if (!first[i])
            continue;
        dt_tensor *dense = dt_contiguous(first[i]);
        for (int64_t e = 0; e < n_parts(dense); e++)
            *loss += weight_of(i, e) * part_at(dense, e);
        if (!dt_requires_grad(first[i]))
            continue;
        outputs[n] = first[i];
        output_grads[n++] = weights_of(first[i], i);
    }
    if (!grads || !n)
        return DT_OK;
    dt_tensor *found[MAX_INPUTS];
    DT__TRY(dt_gradients(LIST(n, outputs), LIST(n_targets, targets), found, .output_grads = output_grads,
                         .allow_unused = true));
    for (int i = 0, t = 0; i < self->call.call.n_inputs; i++)
        grads[i] = needs_grad(self, i) ? found[t++] : NULL;
    return DT_OK;
}

static int check_second(op_sample *self, const char *text, dt_tensor **inputs, int *n_checked) {
    static const double step = 1e-5;
    dt_tensor *grads[MAX_INPUTS];
    double loss;
    dt_status status = second_loss(self, inputs, &loss, grads);
    if (status == DT_ERR_UNSUPPORTED) {
        print_message("%s: no second derivative: %s\n", text, dt_error_text(self->ctx));
        return dt_error_clear(self->ctx) == DT_OK ? 0 : 1;
    }
    CHECK_OK(self->ctx, status);
    ++*n_checked;
    for (int i = 0; i < self->call.call.n_inputs; i++) {
        if (!needs_grad(self, i))
            continue;
        dt_tensor *grad = grads[i] ? dt_contiguous(grads[i]) : NULL;
        for (int64_t e = 0; e < n_parts(inputs[i]); e++) {
            double value = part_at(inputs[i], e), losses[2];
            for (int side = 0; side < 2; side++) {
                dt_scope scope = dt_scope_begin(self->ctx);
                set_part(inputs[i], e, value + (side ? step : -step));
                CHECK_OK(self->ctx, second_loss(self, inputs, &losses[side], NULL));
                dt_scope_end(scope);
            }
            set_part(inputs[i], e, value);
            EXPECT_NEAR(grad ? part_at(grad, e) : 0, (losses[1] - losses[0]) / (2 * step), 1e-5,
                        "%s: second derivative, input %d, element %d", text, i + 1, (int)e);
        }
    }
    return 0;
}

struct counts {
    int n_first, n_second, n_complex;
};

static bool is_complex_text(const char *text) { return strstr(text + strcspn(text, "("), "c128") != NULL; }

/* Whether the op takes the dtypes of a variation: an op that does not refuses them, at the latest where it runs. */
static bool takes_dtypes(dt_ctx *ctx, const dt__op_info *info, const char *text) {
    op_sample self;
    dt_tensor *inputs[MAX_INPUTS];
    dt_status status = DT_OK;
    bool is_open = opens(ctx, info, text, &self); /* its shapes are those of the real sample */
    if (is_open && self.call.call.n_inputs <= MAX_INPUTS) {
        dt_no_grad_begin(ctx);
        for (int i = 0; i < self.call.call.n_inputs; i++)
            inputs[i] = make_input(&self, i);
        status = run(&self, inputs);
        (void)dt_no_grad_end(ctx);
    }
    calls_close(&self.call);
    if (is_open && status != DT_ERR_DTYPE && status != DT_ERR_UNSUPPORTED)
        return true;
    return dt_error_clear(ctx) != DT_OK;
}

static int check_alone(dt_ctx *ctx, const dt__op_info *info, const char *text, struct counts *counts) {
    op_sample self;
    dt_tensor *inputs[MAX_INPUTS];
    CHECK(opens(ctx, info, text, &self), "%s: %s", text, dt_error_text(ctx));
    int result = 0;
    bool any = false;
    for (int i = 0; i < self.call.call.n_inputs; i++)
        any |= needs_grad(&self, i);
    if (any && !is_excepted(text) && self.call.call.n_inputs <= MAX_INPUTS && has_values(&self, inputs)) {
        counts->n_first++;
        counts->n_complex += is_complex_text(text);
        result = check_first(&self, text, inputs) || check_second(&self, text, inputs, &counts->n_second);
    }
    if (dt_failed(ctx))
        print_message("%s: %s\n", text, dt_error_text(ctx));
    calls_close(&self.call);
    return result || dt_failed(ctx);
}

/* Whether calls of the op have gradients: its own, or those of the ops that it is made of. */
static bool has_gradient(const dt__op_info *info) {
    const dt_op *op = info->op;
    bool by_parts = op->decompose && (!op->kernel || op->flags & DT_OP_RECORDS_PARTS);
    return op->gradient || op->backward || by_parts || op->flags & DT_OP_LIST;
}

static bool is_among(const char *name, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* Factors in the form of LAPACK, whose gradients are refused, as in PyTorch. */
static bool has_lapack_factors(const char *name) {
    static const char *const names[] = {"geqrf", "linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_ldl_solve",
                                        NULL};
    return is_among(name, names);
}

static bool is_tested(const dt__op_info *info) {
    return !(info->op->flags & (DT_OP_NOT_DIFFERENTIABLE | DT_OP_MAKER)) && has_gradient(info) &&
           !has_lapack_factors(info->schema.name);
}

typedef int sample_fn(dt_ctx *ctx, const dt__op_info *info, const char *text, void *arg);

static int for_each_sample(dt_ctx *ctx, sample_fn *check, void *arg) {
    int failures = 0;
    CHECK_OK(ctx, dt__ops_open(ctx));
    for (int i = 0; i < dt__op_count(ctx); i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        CHECK(info, "%s", dt_error_text(ctx));
        char text[512];
        for (const char *at = info->op->samples; at && *at && is_tested(info);
             at += strcspn(at, "\n"), at += *at == '\n') {
            for (int variation = 0; variation < N_VARIATIONS; variation++) {
                if (!sample_text(at, strcspn(at, "\n"), (enum variation)variation, text, sizeof text))
                    continue;
                dt_scope scope = dt_scope_begin(ctx);
                if (!is_complex_text(text) || takes_dtypes(ctx, info, text))
                    failures += check(ctx, info, text, arg);
                dt_scope_end(scope);
                if (dt_failed(ctx))
                    CHECK_OK(ctx, dt_error_clear(ctx));
            }
        }
    }
    return failures;
}

/* Conversions to other dtypes: their results are rounded, so that they have no differences. */
static bool is_conversion(const char *name) {
    static const char *const names[] = {"bfloat16", "byte", "cfloat", "char", "float", "half", "short", NULL};
    return is_among(name, names);
}

/* Returned statistics count as constants, as in PyTorch, so that the sum of all outputs has other differences. The
 * published cases have their gradients. */
static bool has_constant_outputs(const char *name) {
    static const char *const names[] = {"native_batch_norm", "_native_batch_norm_legit_functional",
                                        "native_layer_norm", NULL};
    return is_among(name, names);
}

static int check_alone_fn(dt_ctx *ctx, const dt__op_info *info, const char *text, void *arg) {
    return has_constant_outputs(info->schema.name) ? 0
                                                   : check_alone(ctx, info, text, (struct counts *)arg + info->index);
}

/* Of each op some sample was compared, and of each such sample its second derivatives, too. */
static int check_counts(dt_ctx *ctx, const struct counts *counts) {
    int n_missing = 0, n_complex = 0;
    for (int i = 0; i < dt__op_count(ctx); i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        n_complex += counts[i].n_complex > 0;
        if (!is_tested(info) || is_conversion(info->schema.name) || has_constant_outputs(info->schema.name) ||
            (counts[i].n_first > 0 && counts[i].n_first == counts[i].n_second))
            continue;
        print_message("%s: %d samples compared, %d of them twice\n", info->schema.name, counts[i].n_first,
                      counts[i].n_second);
        n_missing++;
    }
    CHECK(n_complex >= 100, "complex samples of %d ops were compared", n_complex);
    return n_missing;
}

static void gradients__equal_differences(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    struct counts counts[DT__N_OPS] = {{0}};
    assert_int_equal(for_each_sample(ctx, check_alone_fn, counts), 0);
    assert_int_equal(check_counts(ctx, counts), 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void op__has_a_gradient_or_the_mark_that_it_has_none(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int n_missing = 0;
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    for (int i = 0; i < dt__op_count(ctx); i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        assert_non_null(info);
        const dt_op *op = info->op;
        bool has = op->flags & (DT_OP_NOT_DIFFERENTIABLE | DT_OP_MAKER) || has_gradient(info);
        if (!has)
            print_message("%s: expected .gradient, .backward or DT_OP_NOT_DIFFERENTIABLE, got none\n",
                          info->schema.name);
        n_missing += !has;
        for (int s = 0; info->gradient && s < info->schema.n_signatures; s++)
            for (int f = 0; f < info->gradient[s].n_formulas; f++) {
                bool targets = false;
                for (int p = 0; p < info->schema.signatures[s].n_params; p++)
                    targets |= info->gradient[s].of_param[p] == f;
                if (targets && dt__formula_bind(ctx, info, s, &info->gradient[s].formulas[f]) != DT_OK) {
                    print_message("%s\n", dt_error_text(ctx));
                    (void)dt_error_clear(ctx);
                    n_missing++;
                }
            }
    }
    assert_int_equal(n_missing, 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* Placements that are tried, in turn, for the inputs of a sample. */
static const char *const places[] = {"S(0)", "R", "S(1)", "P(sum)"};
enum { N_PLACES = sizeof places / sizeof *places };

static dt_tensor *place_input(const op_sample *self, dt_tensor *full, dt_mesh *mesh, int which) {
    const char *place = places[which % N_PLACES];
    if (place[0] == 'S' && place[2] - '0' >= full->n_dims)
        place = "R";
    if (place[0] == 'P' && !dt__is_inexact(full->dtype))
        place = "R";
    (void)self;
    return calls_distribute(full, mesh, place);
}

struct distributed {
    dt_mesh *mesh;
    int n_checked;
};

static int check_distributed(dt_ctx *ctx, const dt__op_info *info, const char *text, void *arg) {
    struct distributed *distributed = arg;
    op_sample self;
    dt_tensor *inputs[MAX_INPUTS], *alone[MAX_INPUTS], *placed[MAX_INPUTS], *grads[MAX_INPUTS];
    CHECK(opens(ctx, info, text, &self), "%s: %s", text, dt_error_text(ctx));
    int n = self.call.call.n_inputs;
    bool any = false;
    for (int i = 0; i < n; i++)
        any |= needs_grad(&self, i);
    if (!any || n > MAX_INPUTS || !has_values(&self, inputs)) {
        calls_close(&self.call);
        return 0;
    }
    for (int i = 0; i < n; i++)
        if (needs_grad(&self, i))
            CHECK_OK(ctx, dt_set_requires_grad(inputs[i], true));
    CHECK_OK(ctx, gradients_of(&self, inputs, false, alone));
    for (int which = 0; which < N_PLACES * (n > 1 ? 2 : 1); which++) {
        dt_scope scope = dt_scope_begin(ctx);
        for (int i = 0; i < n; i++) {
            placed[i] =
                place_input(&self, dt_detach(inputs[i]), distributed->mesh, which + (which >= N_PLACES ? i : 0));
            CHECK(placed[i], "%s: %s", text, dt_error_text(ctx));
            if (needs_grad(&self, i))
                CHECK_OK(ctx, dt_set_requires_grad(placed[i], true));
        }
        dt_status status = gradients_of(&self, placed, false, grads);
        if (status == DT_ERR_PLACEMENT && dt__call_writes(&self.call.parsed.call)) {
            CHECK_OK(ctx, dt_error_clear(ctx)); /* which cannot be written with these placements */
            dt_scope_end(scope);
            continue;
        }
        CHECK(status == DT_OK, "%s: placements %d: %s", text, which, dt_error_text(ctx));
        for (int i = 0; i < n; i++) {
            CHECK(!grads[i] == !alone[i], "%s: gradient of input %d", text, i + 1);
            if (!grads[i])
                continue;
            CHECK(grads[i]->spec && dt__gradient_is_placed(grads[i], placed[i]->spec), "%s: gradient of input %d: %s",
                  text, i + 1, calls_placements(grads[i]));
            dt_tensor *full = dt_contiguous(dt_full_tensor(grads[i])), *expected = dt_contiguous(alone[i]);
            for (int64_t e = 0; e < n_parts(full); e++)
                EXPECT_NEAR(part_at(full, e), part_at(expected, e), 1e-11,
                            "%s on %d ranks: gradient of input %d (%s), element %d", text, (int)dt_world(ctx), i + 1,
                            calls_placements(placed[i]), (int)e);
            distributed->n_checked++;
        }
        dt_scope_end(scope);
    }
    calls_close(&self.call);
    return 0;
}

static int distribute_samples(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    struct distributed distributed = {.mesh = dt_mesh_from_shape(ctx, &n, 1, NULL)};
    int failures = for_each_sample(ctx, check_distributed, &distributed);
    CHECK(distributed.n_checked > 100, "%d gradients", distributed.n_checked);
    dt_mesh_release(distributed.mesh);
    return failures > 0;
}

static void gradients__are_those_of_one_rank(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, distribute_samples, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients__are_those_of_one_rank), /* first: ranks are started from one thread */
        cmocka_unit_test(op__has_a_gradient_or_the_mark_that_it_has_none),
        cmocka_unit_test(gradients__equal_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
