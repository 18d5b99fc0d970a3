/* SPDX-License-Identifier: Apache-2.0
 *
 * A cached decision is the one that the call would get without the cache. Every sample of every op is called, then with
 * each of its arguments changed in turn, then with several changed at random, while the cache keeps what it has; each
 * outcome (outputs, decision, or refusal) is compared with that of the same call after the cache was cleared. No op is
 * named here. One rank of a fake world, whose decisions are those of real ones; no kernel runs. TOP-019.
 */
#include "dispatch/calls.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "dispatch/dispatch_state.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_MEMBERS = 8, MAX_DIMS = 6, MAX_LIST = 8, N_RANDOM = 60, N_SANITIZED = 12, MAX_OUTPUTS = 64 };

/* Placements of tensors; those with two mesh dims are on another mesh. */
static const char *const places[] = {NULL, "R", "S(0)", "S(1)", "P(sum)", "P(max)", "R,S(0)"};
enum { PLAIN, N_PLACES = sizeof places / sizeof *places };

/* A tensor of a call, before it is made. */
typedef struct described_tensor {
    bool none;
    dt_dtype dtype;
    int n_dims;
    int64_t shape[MAX_DIMS];
    int place;
} described_tensor;

/* An argument: a value whose lists are stored here, or tensors. */
typedef struct described_arg {
    const dt__param *param;
    dt_arg value; /* its type is that of a tensor or a list of tensors for these */
    int n_tensors;
    described_tensor tensors[MAX_MEMBERS];
    int64_t ints[MAX_LIST];
    double floats[MAX_LIST];
} described_arg;

typedef struct described_call {
    const dt__op_info *info;
    int n_args;
    described_arg args[DT__MAX_ARGS];
} described_call;

typedef struct fixture {
    dt_ctx *ctx;
    dt_mesh *line, *grid;
    int n_texts;
    const char *texts[64]; /* every string in a schema line: candidates for arguments of this type */
    long n_calls, n_hits, n_refused, n_refused_on_hits, n_different;
    bool was_hit;     /* the last call */
    char first[1024]; /* the first difference */
} fixture;

static void set_tensor(described_tensor *to, const dt_op_value *from, int place) {
    *to = (described_tensor){.dtype = from->dtype, .n_dims = from->n_dims, .place = place};
    assert_true(from->n_dims < MAX_DIMS);
    memcpy(to->shape, from->shape, (size_t)from->n_dims * sizeof *to->shape);
    if (from->n_dims == 0 && place > 1)
        to->place = 1;
}

/* A parsed sample, with all tensors placed alike. */
static void describe(const dt__placed_call *parsed, int place, described_call *out) {
    const dt__signature *signature = &parsed->info->schema.signatures[parsed->bound.overload];
    out->info = parsed->info;
    out->n_args = signature->n_params;
    for (int p = 0; p < out->n_args; p++) {
        described_arg *to = &out->args[p];
        const dt_arg *from = &parsed->bound.args[p];
        *to = (described_arg){.param = &signature->params[p], .value = *from};
        bool is_list = from->type == DT_ARG_TENSORS;
        to->n_tensors = from->type == DT_ARG_TENSOR ? 1 : is_list ? from->n : 0;
        assert_true(to->n_tensors <= MAX_MEMBERS && (from->type != DT_ARG_INTS || from->n <= MAX_LIST));
        for (int i = 0; i < to->n_tensors; i++) {
            int at = is_list ? dt_arg_member(from, i) : from->as.first;
            if (at < 0)
                to->tensors[i].none = true;
            else
                set_tensor(&to->tensors[i], &parsed->call.inputs[at], place);
        }
        if (from->type == DT_ARG_INTS && from->n)
            memcpy(to->ints, from->as.ints, (size_t)from->n * sizeof *to->ints);
        if (from->type == DT_ARG_FLOATS && from->n)
            memcpy(to->floats, from->as.floats, (size_t)from->n * sizeof *to->floats);
    }
}

/* Changes. Each function makes the k-th change, or returns false where there are fewer. */

static bool change_tensor(described_tensor *tensor, int k) {
    if (k < DT_N_DTYPES)
        return tensor->dtype = (dt_dtype)k, true;
    k -= DT_N_DTYPES;
    if (k < N_PLACES)
        return tensor->place = k, true;
    k -= N_PLACES;
    if (k == 0) { /* one dim more */
        if (tensor->n_dims + 1 < MAX_DIMS) {
            memmove(tensor->shape + 1, tensor->shape, (size_t)tensor->n_dims * sizeof *tensor->shape);
            tensor->shape[0] = 2;
            tensor->n_dims++;
        }
        return true;
    }
    if (k == 1) {
        tensor->n_dims -= tensor->n_dims > 0;
        return true;
    }
    static const int64_t sizes[] = {0, 1, 4};
    k -= 2;
    if (k / 3 >= tensor->n_dims)
        return false;
    tensor->shape[k / 3] = sizes[k % 3];
    return true;
}

static bool change_tensors(described_arg *arg, int k) {
    if (k == 0) {
        if (arg->n_tensors < MAX_MEMBERS && arg->n_tensors) {
            arg->tensors[arg->n_tensors] = arg->tensors[arg->n_tensors - 1];
            arg->n_tensors++;
        }
        return true;
    }
    if (k == 1)
        return arg->n_tensors -= arg->n_tensors > 0, true;
    k -= 2;
    if (arg->param->type.optional_members) {
        if (k < arg->n_tensors)
            return arg->tensors[k].none = !arg->tensors[k].none, true;
        k -= arg->n_tensors;
    }
    return arg->n_tensors && change_tensor(&arg->tensors[arg->n_tensors - 1], k);
}

enum { N_INTS = 14 };

static bool change_int(int64_t *value, int k) {
    const int64_t values[N_INTS] = {(int64_t)((uint64_t)*value + 1),
                                    (int64_t)((uint64_t)*value - 1),
                                    (int64_t)(0 - (uint64_t)*value),
                                    0,
                                    1,
                                    -1,
                                    2,
                                    3,
                                    -2,
                                    1000,
                                    -100000,
                                    1L << 40,
                                    INT64_MAX,
                                    INT64_MIN};
    if (k >= N_INTS)
        return false;
    *value = values[k];
    return true;
}

static bool change_double(double *value, int k) {
    const double values[] = {0, -0.0, 1, -1, 0.5, *value * 2, -*value, 7, 300, 1e300, NAN, INFINITY, -INFINITY};
    if (k >= (int)(sizeof values / sizeof *values))
        return false;
    *value = values[k];
    return true;
}

static bool change_ints(described_arg *arg, int k) {
    int *n = &arg->value.n;
    if (k == 0 || k == 1) {
        if (*n < MAX_LIST)
            arg->ints[(*n)++] = k;
        return true;
    }
    if (k == 2)
        return *n -= *n > 0, true;
    if (k == 3 && *n > 1) {
        int64_t first = arg->ints[0];
        arg->ints[0] = arg->ints[*n - 1];
        arg->ints[*n - 1] = first;
        return true;
    }
    return *n && change_int(&arg->ints[*n - 1], k - 3);
}

static bool change_floats(described_arg *arg, int k) {
    if (k == 0)
        return arg->floats[arg->value.n < MAX_LIST ? arg->value.n++ : 0] = 1, true;
    if (k == 1)
        return arg->value.n -= arg->value.n > 0, true;
    return arg->value.n && change_double(&arg->floats[arg->value.n - 1], k - 2);
}

/* A number of another type. */
static bool change_scalar(dt_arg *value, int k) {
    int64_t i = value->type == DT_ARG_INT ? value->as.i : 5;
    double f = value->type == DT_ARG_FLOAT ? value->as.f : 2.5;
    if (k < 2)
        return *value = (dt_arg){.type = DT_ARG_BOOL, .as.b = k}, true;
    if (k < 4)
        return *value = (dt_arg){.type = DT_ARG_COMPLEX, .as.c = {k - 2, 2}}, true;
    k -= 4;
    if (change_int(&i, k))
        return *value = (dt_arg){.type = DT_ARG_INT, .as.i = i}, true;
    if (change_double(&f, k - N_INTS))
        return *value = (dt_arg){.type = DT_ARG_FLOAT, .as.f = f}, true;
    return false;
}

/* An argument in place of none. */
static void set_some(described_arg *arg, dt_arg_type type) {
    arg->value = (dt_arg){.type = type};
    if (type == DT_ARG_TEXT)
        arg->value.as.text = "";
    if (type == DT_ARG_TENSOR || type == DT_ARG_TENSORS) {
        arg->n_tensors = 1;
        arg->tensors[0] = (described_tensor){.dtype = DT_F32, .n_dims = 1, .shape = {3}};
    }
}

static bool change(const fixture *self, described_arg *arg, int k) {
    static const dt_arg_type by_kind[DT__N_PARAM_TYPES] = {
        [DT__PARAM_TENSOR] = DT_ARG_TENSOR, [DT__PARAM_TENSORS] = DT_ARG_TENSORS, [DT__PARAM_INT] = DT_ARG_INT,
        [DT__PARAM_FLOAT] = DT_ARG_FLOAT,   [DT__PARAM_BOOL] = DT_ARG_BOOL,       [DT__PARAM_INTS] = DT_ARG_INTS,
        [DT__PARAM_FLOATS] = DT_ARG_FLOATS, [DT__PARAM_DTYPE] = DT_ARG_DTYPE,     [DT__PARAM_TEXT] = DT_ARG_TEXT,
        [DT__PARAM_SCALAR] = DT_ARG_INT,    [DT__PARAM_SCALARS] = DT_ARG_INTS,
    };
    dt__param_type kind = arg->param->type.kind;
    bool was_none = arg->value.type == DT_ARG_NONE;
    if (was_none)
        set_some(arg, by_kind[kind]);
    if (arg->param->type.optional && k-- == 0) {
        if (!was_none)
            *arg = (described_arg){.param = arg->param};
        return true;
    }
    switch (arg->value.type) {
    case DT_ARG_TENSOR:
        return change_tensor(&arg->tensors[0], k);
    case DT_ARG_TENSORS:
        return change_tensors(arg, k);
    case DT_ARG_INTS:
        return change_ints(arg, k);
    case DT_ARG_FLOATS:
        return change_floats(arg, k);
    case DT_ARG_DTYPE:
        return k < DT_N_DTYPES ? arg->value.as.dtype = (dt_dtype)k, true : false;
    case DT_ARG_TEXT:
        return k < self->n_texts ? arg->value.as.text = self->texts[k], true : false;
    default:
        break;
    }
    if (kind == DT__PARAM_SCALAR)
        return change_scalar(&arg->value, k);
    if (kind == DT__PARAM_BOOL)
        return arg->value.as.b = !arg->value.as.b, k == 0;
    return kind == DT__PARAM_INT ? change_int(&arg->value.as.i, k)
                                 : kind == DT__PARAM_FLOAT && change_double(&arg->value.as.f, k);
}

/* The tensor; NULL, without an error, where such a tensor does not exist. */
static dt_tensor *make(const fixture *self, const described_tensor *tensor) {
    dt_shape shape = {.n = tensor->n_dims, .sizes = tensor->shape};
    const char *place = places[tensor->place];
    dt_mesh *mesh = !place ? NULL : strchr(place, ',') ? self->grid : self->line;
    dt_tensor *made = dt_empty(self->ctx, shape, .dtype = tensor->dtype, .mesh = mesh, .place = place);
    if (!made)
        dt_error_clear(self->ctx);
    return made;
}

/* The decision that was used last. */
static const dt__decision *last_decision(const dt_ctx *ctx) {
    const dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    const dt__decision *last = NULL;
    for (int s = 0; s < DT__N_SETS; s++)
        for (int w = 0; w < DT__WAYS; w++) {
            const dt__decision *decision = state->cache[s][w];
            if (decision && (!last || decision->last_use > last->last_use))
                last = decision;
        }
    return last;
}

static void add_spec(const char *name, const dt_spec *spec, dt__text *out) {
    char text[512];
    if (!spec)
        return;
    (void)dt_spec_text(spec, sizeof text, text);
    dt__text_add(out, " %s %s", name, text);
}

static void add_decision(const dt__decision *decision, dt__text *out) {
    dt__text_add(out, "decision: flags %u, %d, %d, %g us\n", decision->row_flags, decision->runs,
                 decision->communicates, decision->cost_us);
    for (int i = 0; i < decision->n_inputs; i++) {
        const dt__input_decision *input = &decision->inputs[i];
        dt__text_add(out, "  %d: %d %d", i, input->identity, input->identity_of);
        add_spec("from", input->from, out);
        add_spec("to", input->to, out);
        add_spec("kernel", input->kernel, out);
        dt__text_add(out, "\n");
    }
    for (int i = 0; i < decision->n_outputs; i++) {
        const dt__output_decision *output = &decision->outputs[i];
        dt__text_add(out, "  -> %s, %" PRId64 " bytes:", dt_dtype_name(output->dtype), output->bytes);
        for (int d = 0; d < output->n_dims; d++)
            dt__text_add(out, " %" PRId64, output->shape[d]);
        add_spec("spec", output->spec, out);
        dt__text_add(out, "\n");
    }
}

/* Makes the call and appends what came of it. */
enum outcome { NOT_MADE, REFUSED, DONE }; /* its tensors do not exist, … */
static enum outcome make_call(fixture *self, const described_call *call, dt__text *out) {
    dt_op_argument args[DT__MAX_ARGS];
    dt_tensor *lists[DT__MAX_ARGS][MAX_MEMBERS], *outputs[MAX_OUTPUTS];
    dt_scope scope = dt_scope_begin(self->ctx);
    bool fine = true;
    int n_outputs = 0;
    for (int p = 0; p < call->n_args; p++) {
        const described_arg *from = &call->args[p];
        args[p] = (dt_op_argument){.name = from->param->name, .value = from->value};
        args[p].value.as.ints = from->value.type == DT_ARG_INTS ? from->ints : args[p].value.as.ints;
        args[p].value.as.floats = from->value.type == DT_ARG_FLOATS ? from->floats : args[p].value.as.floats;
        for (int i = 0; i < from->n_tensors; i++) {
            lists[p][i] = from->tensors[i].none ? NULL : make(self, &from->tensors[i]);
            fine = fine && (lists[p][i] || from->tensors[i].none);
        }
        if (from->value.type == DT_ARG_TENSOR)
            args[p].tensor = lists[p][0];
        else if (from->value.type == DT_ARG_TENSORS)
            args[p].tensors = lists[p], args[p].n_tensors = from->n_tensors;
    }
    enum outcome outcome = NOT_MADE;
    int64_t n_hits = dt_cache_stats(self->ctx).n_hits; /* makers are ops, too */
    if (fine)
        outcome = dt_op_run(self->ctx, call->info->schema.name, call->n_args, args, NULL, outputs, MAX_OUTPUTS,
                            &n_outputs) == DT_OK
                      ? DONE
                      : REFUSED;
    self->was_hit = dt_cache_stats(self->ctx).n_hits > n_hits;
    if (outcome == DONE) {
        char text[512];
        for (int i = 0; i < n_outputs && i < MAX_OUTPUTS; i++) {
            (void)dt_tensor_text(outputs[i], sizeof text, text);
            dt__text_add(out, "%s\n", text);
        }
        if (last_decision(self->ctx))
            add_decision(last_decision(self->ctx), out);
    } else if (outcome == REFUSED) {
        dt__text_add(out, "%s: %s\n", dt_status_name(dt_error_status(self->ctx)), dt_error_text(self->ctx));
        dt_error_clear(self->ctx);
    }
    dt_scope_end(scope);
    return outcome;
}

/* A list of calls, each compared with itself after the cache was cleared. */
typedef struct call_list {
    int n, capacity;
    described_call *calls;
} call_list;

static described_call *add(call_list *list, const described_call *call) {
    if (list->n == list->capacity) {
        list->capacity = list->capacity * 2 + 64;
        list->calls = realloc(list->calls, (size_t)list->capacity * sizeof *list->calls);
        assert_non_null(list->calls);
    }
    list->calls[list->n] = *call;
    return &list->calls[list->n++];
}

static void list_changes(const fixture *self, const described_call *base, call_list *out) {
    add(out, base);
    for (int p = 0; p < base->n_args; p++)
        for (int k = 0;; k++) {
            described_call *changed = add(out, base);
            if (change(self, &changed->args[p], k))
                continue;
            out->n--;
            break;
        }
}

/* Two or three arguments at once. */
static void list_random_changes(const fixture *self, const described_call *base, uint64_t *random, call_list *out) {
    const int n_random = test_slowness > 1 ? N_SANITIZED : N_RANDOM; /* a sanitizer is for paths, not for values */
    for (int i = 0; i < n_random && base->n_args; i++) {
        described_call *changed = add(out, base);
        for (int c = 0; c < 2 + i % 2; c++) {
            described_arg *arg = &changed->args[test_below(random, base->n_args)], before = *arg;
            if (!change(self, arg, (int)test_below(random, 24)))
                *arg = before;
        }
    }
}

static void compare(fixture *self, const call_list *list) {
    dt__text *cached = calloc((size_t)list->n, sizeof *cached);
    bool *was_hit = calloc((size_t)list->n, sizeof *was_hit);
    assert_true(cached && was_hit);
    dt_cache_clear(self->ctx);
    for (int pass = 0; pass < 2; pass++) /* in the second one, all that can be cached is */
        for (int i = 0; i < list->n; i++) {
            if (pass)
                dt__text_free(&cached[i]);
            cached[i] = dt__text_new(self->ctx);
            if (make_call(self, &list->calls[i], &cached[i]) == NOT_MADE)
                continue;
            was_hit[i] = self->was_hit;
            self->n_hits += was_hit[i];
            self->n_calls++;
        }
    for (int i = 0; i < list->n; i++) {
        dt__text fresh = dt__text_new(self->ctx);
        dt_cache_clear(self->ctx);
        bool refused = make_call(self, &list->calls[i], &fresh) == REFUSED;
        const char *expected = dt__text_chars(&fresh), *actual = dt__text_chars(&cached[i]);
        self->n_refused += refused;
        self->n_refused_on_hits += refused && was_hit[i];
        if (strcmp(expected, actual) != 0 && !self->n_different++)
            snprintf(self->first, sizeof self->first, "%s, call %d:\nexpected:\n%.400s\ngot:\n%.400s",
                     list->calls[i].info->schema.name, i, expected, actual);
        dt__text_free(&fresh);
        dt__text_free(&cached[i]);
    }
    free(cached);
    free(was_hit);
}

static void check_op(fixture *self, const dt__op_info *info, uint64_t *random) {
    static const int64_t one[] = {1};
    dt__arena arena = dt__arena_new(self->ctx);
    char samples[4096], *rest = samples, *sample;
    snprintf(samples, sizeof samples, "%s", info->op->samples ? info->op->samples : "");
    while ((sample = strsep(&rest, "\n"))) {
        if (!*sample)
            continue;
        dt__placed_call parsed;
        described_call base;
        if (dt__placed_call_parse(&arena, sample, 1, one, &parsed) != DT_OK)
            fail_msg("%s: %s", sample, dt_error_text(self->ctx));
        call_list list = {0};
        for (int place = PLAIN; place < 3; place++) { /* plain, R, S(0) */
            describe(&parsed, place, &base);
            list_changes(self, &base, &list);
            list_random_changes(self, &base, random, &list);
        }
        compare(self, &list);
        free(list.calls);
    }
    dt__arena_free(&arena);
}

/* The strings in the schema lines: between quotes. */
static void find_texts(fixture *self) {
    self->texts[self->n_texts++] = "";
    self->texts[self->n_texts++] = "nonsense";
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        const dt__op_info *info = dt__op_at(self->ctx, i);
        assert_non_null(info);
        for (int s = 0; s < info->schema.n_signatures; s++)
            for (int p = 0; p < info->schema.signatures[s].n_params; p++) {
                const dt_arg *absent = &info->schema.signatures[s].params[p].absent;
                if (absent->type == DT_ARG_TEXT && self->n_texts < 64)
                    self->texts[self->n_texts++] = absent->as.text;
            }
    }
}

static fixture open_fixture(void) {
    fixture self = {.ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 6, .rank = 1})};
    assert_non_null(self.ctx);
    assert_int_equal(dt__ops_open(self.ctx), DT_OK);
    self.line = dt_mesh_new(self.ctx, "x=6");
    self.grid = dt_mesh_new(self.ctx, "y=2,z=3");
    assert_true(self.line && self.grid);
    find_texts(&self);
    return self;
}

static void close_fixture(fixture *self) {
    dt_mesh_release(self->line);
    dt_mesh_release(self->grid);
    assert_int_equal(dt_close(self->ctx), 0);
}

static void cached__decisions_and_refusals_are_those_of_fresh_calls(void **state) {
    (void)state;
    fixture self = open_fixture();
    uint64_t random = test_seed(1);
    for (int i = 0; i < dt__op_count(self.ctx); i++) {
        long before = self.n_different;
        check_op(&self, dt__op_at(self.ctx, i), &random);
        if (self.n_different > before)
            print_message("%s: %ld calls differ\n", dt__op_at(self.ctx, i)->schema.name, self.n_different - before);
    }
    print_message("%ld calls, %ld hits, %ld refused, %ld of these by a cached decision\n", self.n_calls, self.n_hits,
                  self.n_refused, self.n_refused_on_hits);
    if (self.n_different)
        fail_msg("%ld calls differ; the first: %s", self.n_different, self.first);
    assert_true(self.n_hits > self.n_calls / 4);
    assert_true(self.n_refused_on_hits > 0);
    close_fixture(&self);
}

/* Two ops of the test's own: one keeps a size out of the key, and one refuses a value in its shape function
 * only. The same ops without these mistakes pass. */
static dt_status shape_sized(dt_op_call *call) {
    int64_t size = (int64_t)call->args[1].as.f;
    if (!(call->args[1].as.f >= 0 && call->args[1].as.f < 1e6))
        return dt_op_refuse(call, DT_ERR_VALUE, "n: expected 0 to 999999");
    return dt_op_add_output(call, call->inputs[0].dtype, 1, &size);
}
static dt_status shape_like(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status check_probability(const dt_op_call *call) {
    double p = call->args[1].as.f;
    return p >= 0 && p <= 1 ? DT_OK : dt_op_refuse(call, DT_ERR_VALUE, "p: expected 0 to 1, got %g", p);
}
static dt_status shape_checked(dt_op_call *call) {
    if (check_probability(call) != DT_OK)
        return DT_ERR_VALUE;
    return shape_like(call);
}
static dt_status no_kernel(dt_op_call *call) { return (void)call, DT_OK; }

static void cached__mistakes_of_descriptors_are_found(void **state) {
    (void)state;
    static const struct {
        dt_op op;
        bool wrong;
    } cases[] = {
        {{.schema = "sized(Tensor self, float n) -> Tensor", .shape = shape_sized, .samples = "sized(f32[2]; 5.0)"},
         false},
        {{.schema = "sized(Tensor self, float n) -> Tensor",
          .shape = shape_sized,
          .samples = "sized(f32[2]; 5.0)",
          .varying = "n"},
         true},
        {{.schema = "likely(Tensor self, float p) -> Tensor",
          .shape = shape_like,
          .samples = "likely(f32[2]; 0.25)",
          .varying = "p",
          .check = check_probability},
         false},
        {{.schema = "likely(Tensor self, float p) -> Tensor",
          .shape = shape_checked,
          .samples = "likely(f32[2]; 0.25)",
          .varying = "p"},
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture self = open_fixture();
        uint64_t random = test_seed(2);
        dt_op op = cases[i].op;
        op.kernel = no_kernel;
        assert_int_equal(dt_op_register(self.ctx, &op), DT_OK);
        check_op(&self, dt__op_at(self.ctx, dt__op_count(self.ctx) - 1), &random);
        if (cases[i].wrong != (self.n_different > 0))
            fail_msg("%s, case %zu: %ld differences: %s", op.schema, i, self.n_different, self.first);
        close_fixture(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached__decisions_and_refusals_are_those_of_fresh_calls),
        cmocka_unit_test(cached__mistakes_of_descriptors_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
