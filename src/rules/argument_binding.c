/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds a call's arguments to a signature: positions and names, defaults, the conversions that callers expect (a whole
 * number for a float, a bare number for a list of sizes), and which overload is meant: the first that fits. Of refused
 * overloads, the one that took most arguments tells why.
 */
#include "rules/schema.h"

#include "base/hash.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REASON_BYTES = 256 };

typedef struct binding {
    dt__arena *arena;
    const dt__schema *schema;
    const dt__signature *signature;
    dt__bound_args *out;
    int n_taken; /* arguments that fitted */
    dt_status status;
    char reason[REASON_BYTES];
} binding;

static bool no(binding *self, const char *format, ...) DT_PRINTF(2);
static bool no(binding *self, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(self->reason, sizeof self->reason, format, args);
    va_end(args);
    return false;
}

static const char *const wanted[DT__N_PARAM_TYPES] = {
    [DT__PARAM_TENSOR] = "a tensor",           [DT__PARAM_TENSORS] = "a list of tensors",
    [DT__PARAM_INT] = "a whole number",        [DT__PARAM_FLOAT] = "a number",
    [DT__PARAM_BOOL] = "true or false",        [DT__PARAM_SCALAR] = "a number",
    [DT__PARAM_INTS] = "a list of integers",   [DT__PARAM_FLOATS] = "a list of numbers",
    [DT__PARAM_DTYPE] = "a dtype such as f32", [DT__PARAM_TEXT] = "a text",
};

static const char *const called[DT_N_ARG_TYPES] = {
    [DT_ARG_NONE] = "none",
    [DT_ARG_TENSOR] = "a tensor",
    [DT_ARG_TENSORS] = "a list of tensors",
    [DT_ARG_INT] = "an integer",
    [DT_ARG_FLOAT] = "a number",
    [DT_ARG_BOOL] = "a truth value",
    [DT_ARG_COMPLEX] = "complex",
    [DT_ARG_INTS] = "a list of integers",
    [DT_ARG_FLOATS] = "a list of numbers",
    [DT_ARG_DTYPE] = "a dtype",
    [DT_ARG_TEXT] = "a text",
};

/* "nan", "inf" and "-inf" stand for numbers. */
static bool named_number(const dt_arg *value, dt_arg *out) {
    if (value->type != DT_ARG_TEXT)
        return false;
    static const struct {
        const char *word;
        double value;
    } named[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    for (int i = 0; i < 3; i++)
        if (!strcmp(named[i].word, value->as.text)) {
            *out = (dt_arg){.type = DT_ARG_FLOAT, .as.f = named[i].value};
            return true;
        }
    return false;
}

static bool take_tensor(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)param;
    if (value->type != DT_ARG_TENSOR)
        return false;
    self->out->inputs[self->out->n_inputs] = value->as.first;
    *out = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = self->out->n_inputs++};
    return true;
}

static bool take_tensors(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)param;
    bool empty = value->n == 0 && value->type == DT_ARG_INTS; /* an empty list has no type */
    if (value->type != DT_ARG_TENSORS && !empty)
        return false;
    *out = (dt_arg){.type = DT_ARG_TENSORS, .n = value->n, .as.first = self->out->n_inputs};
    for (int i = 0; i < value->n; i++)
        self->out->inputs[self->out->n_inputs++] = (int)value->as.ints[i];
    return true;
}

static bool take_as_is(const dt_arg *value, dt_arg_type type, dt_arg *out) {
    if (value->type != type)
        return false;
    *out = *value;
    return true;
}

static bool take_int(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)self, (void)param;
    return take_as_is(value, DT_ARG_INT, out);
}

static bool take_bool(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)self, (void)param;
    return take_as_is(value, DT_ARG_BOOL, out);
}

static bool take_text(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)self, (void)param;
    return take_as_is(value, DT_ARG_TEXT, out);
}

static bool take_float(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)self, (void)param;
    if (value->type == DT_ARG_INT) {
        *out = (dt_arg){.type = DT_ARG_FLOAT, .as.f = (double)value->as.i};
        return true;
    }
    return take_as_is(value, DT_ARG_FLOAT, out) || named_number(value, out);
}

static bool take_scalar(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)self, (void)param;
    if (value->type == DT_ARG_FLOATS && value->n == 2) {
        *out = (dt_arg){.type = DT_ARG_COMPLEX, .as.c = {value->as.floats[0], value->as.floats[1]}};
        return true;
    }
    return take_as_is(value, DT_ARG_INT, out) || take_as_is(value, DT_ARG_FLOAT, out) ||
           take_as_is(value, DT_ARG_BOOL, out) || take_as_is(value, DT_ARG_COMPLEX, out) || named_number(value, out);
}

static bool take_ints(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    if (value->type != DT_ARG_INT)
        return take_as_is(value, DT_ARG_INTS, out);
    int n = param->n ? param->n : 1;
    int64_t *copies = DT__NEW_ARRAY(self->arena, int64_t, n);
    if (!copies) {
        self->status = DT_ERR_MEMORY;
        return false;
    }
    for (int i = 0; i < n; i++)
        copies[i] = value->as.i;
    *out = (dt_arg){.type = DT_ARG_INTS, .n = n, .as.ints = copies};
    return true;
}

static bool take_floats(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)param;
    if (value->type != DT_ARG_INTS)
        return take_as_is(value, DT_ARG_FLOATS, out);
    double *floats = DT__NEW_ARRAY(self->arena, double, value->n);
    if (!floats) {
        self->status = DT_ERR_MEMORY;
        return false;
    }
    for (int i = 0; i < value->n; i++)
        floats[i] = (double)value->as.ints[i];
    *out = (dt_arg){.type = DT_ARG_FLOATS, .n = value->n, .as.floats = floats};
    return true;
}

static bool take_dtype(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out) {
    (void)self, (void)param;
    dt_dtype dtype;
    if (value->type != DT_ARG_TEXT || !dt_dtype_parse(value->as.text, &dtype))
        return take_as_is(value, DT_ARG_DTYPE, out);
    *out = (dt_arg){.type = DT_ARG_DTYPE, .as.dtype = dtype};
    return true;
}

typedef bool take_fn(binding *self, const dt__param *param, const dt_arg *value, dt_arg *out);
static take_fn *const take[DT__N_PARAM_TYPES] = {
    [DT__PARAM_TENSOR] = take_tensor, [DT__PARAM_TENSORS] = take_tensors, [DT__PARAM_INT] = take_int,
    [DT__PARAM_FLOAT] = take_float,   [DT__PARAM_BOOL] = take_bool,       [DT__PARAM_SCALAR] = take_scalar,
    [DT__PARAM_INTS] = take_ints,     [DT__PARAM_FLOATS] = take_floats,   [DT__PARAM_DTYPE] = take_dtype,
    [DT__PARAM_TEXT] = take_text,
};

/* Which argument each parameter gets: given[p], or NULL. */
static bool match(binding *self, int n_given, const dt__argument *given, const dt__argument **by_param) {
    const dt__signature *signature = self->signature;
    int position = 0;
    for (int g = 0; g < n_given; g++) {
        int p = position;
        if (given[g].name) {
            for (p = 0; p < signature->n_params && strcmp(signature->params[p].name, given[g].name) != 0; p++)
                ;
            if (p == signature->n_params)
                return no(self, "there is no argument '%.60s'", given[g].name);
        } else {
            if (p == signature->n_params || signature->params[p].keyword_only)
                return no(self, "%d arguments are given by position; at most %d are taken", n_given, p);
            position++;
        }
        if (by_param[p])
            return no(self, "argument '%s' is given twice", signature->params[p].name);
        by_param[p] = &given[g];
    }
    return true;
}

static bool fill_param(binding *self, int p, const dt__argument *given) {
    const dt__param *param = &self->signature->params[p];
    dt_arg *out = &self->out->args[p];
    *out = param->absent;
    if (!given)
        return !param->required || no(self, "argument '%s' is missing", param->name);
    if (given->value.type == DT_ARG_NONE) {
        *out = (dt_arg){.type = DT_ARG_NONE};
        return param->optional || no(self, "argument '%s': wanted %s, got none", param->name, wanted[param->type]);
    }
    if (!take[param->type](self, param, &given->value, out))
        return no(self, "argument '%s': wanted %s, got %s", param->name, wanted[param->type],
                  called[given->value.type]);
    self->n_taken++;
    return true;
}

static bool try_signature(binding *self, int n_given, const dt__argument *given) {
    const dt__argument *by_param[DT__MAX_ARGS] = {NULL};
    self->out->n_inputs = 0;
    self->out->n_args = self->signature->n_params;
    self->n_taken = 0;
    if (!match(self, n_given, given, by_param))
        return false;
    for (int p = 0; p < self->signature->n_params; p++)
        if (!fill_param(self, p, by_param[p]))
            return false;
    return true;
}

static int count_tensors(int n_given, const dt__argument *given) {
    int n = 0;
    for (int g = 0; g < n_given; g++)
        n += given[g].value.type == DT_ARG_TENSOR ? 1 : given[g].value.type == DT_ARG_TENSORS ? given[g].value.n : 0;
    return n;
}

dt_status dt__schema_bind(dt__arena *arena, const dt__schema *schema, int n_given, const dt__argument *given,
                          dt__bound_args *out) {
    binding self = {.arena = arena, .schema = schema, .out = out};
    char best[REASON_BYTES] = "";
    int most = -1;
    out->inputs = DT__NEW_ARRAY(arena, int, count_tensors(n_given, given));
    if (!out->inputs)
        return DT_ERR_MEMORY;
    for (out->overload = 0; out->overload < schema->n_signatures; out->overload++) {
        self.signature = &schema->signatures[out->overload];
        if (try_signature(&self, n_given, given))
            return DT_OK;
        if (self.status != DT_OK)
            return self.status;
        if (self.n_taken > most) {
            most = self.n_taken;
            memcpy(best, self.reason, sizeof best);
        }
    }
    return dt__fail(arena->ctx, DT_ERR_VALUE, "%s: %s", schema->name, best);
}
