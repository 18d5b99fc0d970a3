/* SPDX-License-Identifier: Apache-2.0
 *
 * No bit of a result depends on the number of threads: every op of the table, on each of its samples with tensors that
 * are enlarged until kernels split their work, with one thread, two and three. Only ops that compute singular values
 * are named: they take minutes for so many elements, and get fewer.
 */
#include "dispatch/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ctest: processors=2 */

enum { N_CONTEXTS = 3, ELEMENTS = 200000, FEW_ELEMENTS = 10000, MAX_SIZE = 1 << 18 };

/* Whether the bracket belongs to a tensor, not to a list of integers. */
static bool is_shape(const char *sample, const char *bracket) { return bracket > sample && bracket[-1] != ' '; }

/* The sample with every size above 1 multiplied, so that its largest tensor has about ELEMENTS elements. */
static void enlarge(const char *sample, char *out, size_t capacity) {
    double largest = 1;
    int n_dims = 1;
    for (const char *at = strchr(sample, '['); at; at = strchr(at + 1, '[')) {
        double elements = 1;
        int n = 0;
        if (!is_shape(sample, at))
            continue;
        for (const char *size = at; *size != ']'; size += 1 + strcspn(size + 1, ",]")) {
            const double read = strtod(size + 1, NULL);
            elements *= read > 1 ? read : 1;
            n += read > 1;
        }
        if (elements > largest) {
            largest = elements;
            n_dims = n;
        }
    }
    const bool is_slow = strstr(sample, "svd") || strstr(sample, "linalg_norm(") || strstr(sample, "\"nuc\"");
    const long factor = lround(ceil(pow((is_slow ? FEW_ELEMENTS : ELEMENTS) / largest, 1.0 / n_dims)));
    size_t used = 0;
    bool inside = false;
    for (const char *at = sample; *at && used + 24 < capacity;) {
        char *end = (char *)at;
        const long size = inside && *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
        if (end != at) {
            used += (size_t)snprintf(out + used, capacity - used, "%ld", size > 1 ? size * factor : size);
            at = end;
            continue;
        }
        inside = *at == '[' ? is_shape(sample, at) : *at == ']' ? false : inside;
        out[used++] = *at++;
    }
    out[used] = '\0';
}

/* The bytes of all outputs in one context; false if the op refuses the call. */
static bool run_call(dt_ctx *ctx, const char *text, test_call *call) {
    static const int64_t one[] = {1};
    *call = (test_call){.arena = dt__arena_new(ctx)};
    if (dt__placed_call_parse(&call->arena, text, 1, one, &call->parsed) != DT_OK)
        return false;
    calls_prepare(call);
    for (int i = 0; i < call->parsed.call.n_inputs; i++)
        if (dt__elements(call->parsed.call.inputs[i].n_dims, call->parsed.call.inputs[i].shape) > 4 * MAX_SIZE)
            return false;
    return calls_make_inputs(call) && dt_generator_seed(dt_generator_default(ctx), 5) == DT_OK &&
           calls_run(ctx, call) == DT_OK;
}

static bool are_equal(const dt_tensor *a, const dt_tensor *b) {
    const dt_tensor *dense_a = dt_contiguous((dt_tensor *)a), *dense_b = dt_contiguous((dt_tensor *)b);
    const size_t bytes = (size_t)dt_tensor_elements(a) * dt_dtype_size(a->dtype);
    return dense_a && dense_b && dt_tensor_elements(a) == dt_tensor_elements(b) &&
           (!bytes || !memcmp(dense_a->data, dense_b->data, bytes));
}

static bool run_sample(dt_ctx *const *contexts, const char *text) {
    test_call calls[N_CONTEXTS];
    dt_scope scopes[N_CONTEXTS];
    int n_run = 0;
    for (int c = 0; c < N_CONTEXTS; c++) {
        scopes[c] = dt_scope_begin(contexts[c]);
        const bool ran = run_call(contexts[c], text, &calls[c]);
        if (!ran)
            (void)dt_error_clear(contexts[c]);
        n_run += ran;
        assert_int_equal(n_run, ran ? c + 1 : 0); /* all refuse a call, or none */
        for (int o = 0; ran && o < calls[0].call.n_outputs; o++)
            if (!are_equal(calls[0].call.outputs[o], calls[c].call.outputs[o]))
                fail_msg("%s: output %d differs between 1 and %d threads", text, o, c + 1);
        for (int i = 0; ran && i < calls[0].call.n_inputs; i++) /* some are written */
            if (!are_equal(calls[0].call.inputs[i], calls[c].call.inputs[i]))
                fail_msg("%s: input %d differs between 1 and %d threads", text, i, c + 1);
    }
    for (int c = 0; c < N_CONTEXTS; c++) {
        dt__call_end(&calls[c].call);
        dt_scope_end(scopes[c]);
        dt__arena_free(&calls[c].arena);
    }
    return n_run > 0;
}

static void ops__have_the_same_bits_with_any_number_of_threads(void **state) {
    (void)state;
    dt_ctx *contexts[N_CONTEXTS];
    int n_run = 0, n_samples = 0;
    for (int c = 0; c < N_CONTEXTS; c++) {
        contexts[c] = dt_init(&(dt_init_options){.transport = "self", .threads = c + 1});
        assert_true(contexts[c] && dt__ops_open(contexts[c]) == DT_OK);
    }
    for (int i = 0; i < dt__op_count(contexts[0]); i++) {
        char samples[4096], text[1024], *rest = samples, *sample;
        const dt_op *op = dt__op_at(contexts[0], i)->op;
        snprintf(samples, sizeof samples, "%s", op->samples ? op->samples : "");
        while ((sample = strsep(&rest, "\n")) != NULL)
            if (*sample) {
                enlarge(sample, text, sizeof text);
                n_samples++;
                n_run += run_sample(contexts, text);
            }
    }
    print_message("%d of %d samples\n", n_run, n_samples);
    assert_true(n_run > 3 * n_samples / 4); /* the others have arguments that do not fit larger tensors */
    for (int c = 0; c < N_CONTEXTS; c++)
        assert_int_equal(dt_close(contexts[c]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops__have_the_same_bits_with_any_number_of_threads),
    };
    return cmocka_run_group_tests_name("dispatch.thread_bits", tests, NULL, NULL);
}
