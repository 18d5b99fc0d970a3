/* SPDX-License-Identifier: Apache-2.0
 *
 * The text form of calls: the reader, and the printer of the tensors in it, which errors, traces and explanations
 * share.
 */
#include "rules/rules.h"

#include "rules/literal.h"
#include "spec/spec.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { PLACEMENTS_BYTES = 1024 };

typedef struct reading {
    dt__arena *arena;
    dt__cursor at;
    dt__placed_call *out;
    int n_tensors, capacity;
    dt_op_value *values;
    const dt__sharding **placed, **used; /* used: NULL where a tensor has no use placement */
    dt_dtype *use_dtypes;
    int n_arguments;
    dt__argument arguments[DT__MAX_ARGS];
} reading;

static const char ON_MESH[] = " on mesh(";

/* Whether a tensor follows: a word and a bracket. *dtype is none where the word is not a dtype. */
static bool at_tensor(reading *self, dt_dtype *dtype, size_t *n) {
    char word[16];
    dt__cursor_peek(&self->at);
    for (*n = 0; isalnum((unsigned char)self->at.at[*n]) && *n + 1 < sizeof word; ++*n)
        word[*n] = self->at.at[*n];
    word[*n] = 0;
    if (!dt_dtype_parse(word, dtype))
        *dtype = DT_NO_DTYPE;
    return *n > 0 && self->at.at[*n] == '[';
}

/* The text between the parentheses of the next " on mesh(…)" before `end`; NULL where there is none. */
static const char *find_mesh(const char *text, const char *end, size_t *n) {
    const char *found = strstr(text, ON_MESH), *begin = found ? found + strlen(ON_MESH) : NULL, *at = begin;
    if (!found || found >= end)
        return NULL;
    for (int depth = 1; *at && (depth += (*at == '(') - (*at == ')')) > 0;)
        at++;
    *n = (size_t)(at - begin);
    return begin;
}

dt_mesh *dt__call_text_mesh(dt__arena *arena, const char *text) {
    dt_ctx *ctx = arena->ctx;
    dt_mesh *mesh = NULL;
    size_t n;
    for (const char *at = text; !dt_failed(ctx) && (at = find_mesh(at, at + strlen(at), &n)); at += n) {
        const char *form = dt__arena_copy_chars(arena, at, n);
        dt_mesh *next = form ? dt_mesh_new(ctx, form) : NULL;
        if (next && mesh && !dt_mesh_equal(mesh, next))
            dt__fail(ctx, DT_ERR_MESH, "call: the tensors are on different meshes: %.200s and %.200s",
                     dt_mesh_text(mesh), form);
        dt_mesh_release(mesh);
        mesh = next;
    }
    if (!mesh)
        dt__fail(ctx, DT_ERR_MESH, "call: expected a mesh, as in 'mm(f32[8,4] S(0); f32[4,6] R) on mesh(4)'");
    if (!dt_failed(ctx))
        return mesh;
    dt_mesh_release(mesh);
    return NULL;
}

static dt_status read_shape(reading *self, dt_op_value *value) {
    int64_t *shape = DT__NEW_ARRAY(self->arena, int64_t, DT_SPEC_MAX_DIMS), bytes;
    if (!shape)
        return DT_ERR_MEMORY;
    value->shape = shape;
    self->at.at++;
    while (dt__cursor_peek(&self->at) != ']') {
        if (value->n_dims == DT_SPEC_MAX_DIMS)
            return dt__cursor_fail(&self->at, "expected at most %d dims", DT_SPEC_MAX_DIMS);
        if (value->n_dims)
            DT__TRY(dt__cursor_expect(&self->at, ",", "between sizes"));
        DT__TRY(dt__cursor_number(&self->at, 0, INT64_MAX, "a size", &shape[value->n_dims++]));
    }
    self->at.at++;
    if (!dt__product(value->n_dims, shape, (int64_t)dt_dtype_size(value->dtype), &bytes))
        return dt__cursor_fail(&self->at, "the tensor has more than 2^63 - 1 bytes");
    return DT_OK;
}

/* Checks a mesh in the text against that of the call. */
static dt_status check_mesh(reading *self, const char *text, size_t n_chars) {
    const char *copy = dt__arena_copy_chars(self->arena, text, n_chars);
    dt_mesh *mesh = copy ? dt_mesh_new(self->arena->ctx, copy) : NULL;
    if (!mesh)
        return copy ? dt_error_status(self->arena->ctx) : DT_ERR_MEMORY;
    bool same = dt_mesh_n_dims(mesh) == self->out->n_mesh_dims;
    for (int m = 0; m < self->out->n_mesh_dims && same; m++)
        same = dt_mesh_dim_size(mesh, m) == self->out->mesh[m];
    dt_mesh_release(mesh);
    self->at.at = text;
    return same ? DT_OK : dt__cursor_fail(&self->at, "expected the mesh of the call");
}

static dt_status fail_comma(const reading *self) {
    return dt__cursor_fail(&self->at, "expected ';' between arguments, got ','");
}

/* At a comma between placements: whether something else than a placement follows it. */
static bool ends_argument(const char *comma) {
    const char *next = comma + 1 + strspn(comma + 1, " ");
    size_t n = strcspn(next, " ,;=:()[]");
    bool is_named = next[n] == '=' && next[n + 1] && strchr("SRP_", next[n + 1]);
    return *next && *next != ')' && !strchr("SRP_", *next) && !is_named;
}

/* One placement per mesh dim; names are those of the mesh in the text of the call. */
static dt_status resolve_names(const reading *self, const dt__placement_list *list, const dt_placement *others,
                               dt__sharding_desc *desc, dt_placement **out) {
    dt_mesh *mesh = list->names ? dt__call_text_mesh(self->arena, self->at.text) : NULL;
    if (list->names && !mesh)
        return dt_error_status(self->arena->ctx);
    dt_status status = dt__placements_resolve_names(self->arena, list, mesh, others, &desc->n_placements, out);
    dt_mesh_release(mesh);
    return status;
}

/* The sharding of a list of placements; an empty one is Replicate. */
static dt_status parse_sharding(const reading *self, const dt_op_value *value, const char *text, dt__sharding *out) {
    dt_placement replicate[DT_SPEC_MAX_DIMS] = {dt_placement_replicate()}, *placements = replicate;
    dt__sharding_desc desc = {.n_mesh_dims = self->out->n_mesh_dims,
                              .mesh = self->out->mesh,
                              .n_dims = value->n_dims,
                              .shape = value->shape,
                              .n_placements = self->out->n_mesh_dims};
    if (text[strspn(text, " ")]) {
        dt__placement_list list;
        DT__TRY(dt__placement_list_parse(self->arena, text, &list));
        DT__TRY(resolve_names(self, &list, NULL, &desc, &placements));
    }
    dt_placements_resolve(desc.n_placements, placements, value->n_dims);
    desc.placements = placements;
    return dt__sharding_new(self->arena, &desc, out);
}

/* The use placement of a tensor that is stored so. */
static dt_status parse_use(const reading *self, const dt_op_value *value, const char *text,
                           const dt__sharding *stored, dt__sharding *out, dt_dtype *dtype) {
    dt__placement_list list;
    dt_placement *placements;
    dt__sharding_desc desc = {.n_mesh_dims = self->out->n_mesh_dims,
                              .mesh = self->out->mesh,
                              .n_dims = value->n_dims,
                              .shape = value->shape};
    *dtype = value->dtype;
    DT__TRY(dt__use_parse(self->arena, text, dtype, &list));
    DT__TRY(resolve_names(self, &list, stored->placements, &desc, &placements));
    *out = *stored;
    if (!desc.n_placements)
        return DT_OK;
    dt_placements_resolve(desc.n_placements, placements, value->n_dims);
    desc.placements = placements;
    return dt__sharding_new(self->arena, &desc, out);
}

/* "S(0) use R": the placements up to the end of the argument. *used is set to NULL where there is no use placement. */
static dt_status read_placements(reading *self, const dt_op_value *value, dt__sharding *out,
                                 const dt__sharding **used, dt_dtype *use_dtype) {
    static const char USE[] = " use ";
    const char *begin = self->at.at;
    int depth = 0;
    for (; *self->at.at; self->at.at++) {
        char c = *self->at.at;
        if (depth == 0 && (c == ';' || c == ')' || c == '}'))
            break;
        if (depth == 0 && c == ',' && ends_argument(self->at.at))
            return fail_comma(self);
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    }
    const char *end = self->at.at;
    size_t n_mesh = 0;
    const char *mesh = find_mesh(begin, end, &n_mesh);
    if (mesh)
        DT__TRY(check_mesh(self, mesh, n_mesh));
    self->at.at = end;
    char *text = dt__arena_copy_chars(self->arena, begin, (size_t)((mesh ? mesh - strlen(ON_MESH) : end) - begin));
    dt__sharding *use = DT__NEW(self->arena, dt__sharding);
    if (!text || !use)
        return DT_ERR_MEMORY;
    char *word = strstr(text, USE);
    *used = word ? use : NULL;
    if (word)
        *word = 0;
    DT__TRY(parse_sharding(self, value, text, out));
    return word ? parse_use(self, value, word + strlen(USE), out, use, use_dtype) : DT_OK;
}

static dt_status grow_tensors(reading *self) {
    int capacity = 2 * self->capacity + 8;
    dt_op_value *values = DT__NEW_ARRAY(self->arena, dt_op_value, capacity);
    const dt__sharding **placed = DT__NEW_ARRAY(self->arena, const dt__sharding *, capacity);
    const dt__sharding **used = DT__NEW_ARRAY(self->arena, const dt__sharding *, capacity);
    dt_dtype *use_dtypes = DT__NEW_ARRAY(self->arena, dt_dtype, capacity);
    if (!values || !placed || !used || !use_dtypes)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->n_tensors; i++) {
        values[i] = self->values[i];
        placed[i] = self->placed[i];
        used[i] = self->used[i];
        use_dtypes[i] = self->use_dtypes[i];
    }
    self->use_dtypes = use_dtypes;
    self->values = values;
    self->placed = placed;
    self->used = used;
    self->capacity = capacity;
    return DT_OK;
}

static dt_status read_tensor(reading *self, dt_dtype dtype, size_t n_word, int *number) {
    if (self->n_tensors == self->capacity)
        DT__TRY(grow_tensors(self));
    dt__sharding *placed = DT__NEW(self->arena, dt__sharding);
    if (!placed)
        return DT_ERR_MEMORY;
    if (!dtype)
        return dt__cursor_fail_dtype(&self->at);
    *number = self->n_tensors++;
    dt_op_value *value = &self->values[*number];
    *value = (dt_op_value){.dtype = dtype};
    self->at.at += n_word;
    DT__TRY(read_shape(self, value));
    DT__TRY(read_placements(self, value, placed, &self->used[*number], &self->use_dtypes[*number]));
    self->placed[*number] = placed;
    return DT_OK;
}

static dt_status read_tensors(reading *self, dt__argument *out) {
    int capacity = 1, n = 0;
    for (const char *c = self->at.at; *c && *c != '}'; c++)
        capacity += *c == ';';
    int64_t *numbers = DT__NEW_ARRAY(self->arena, int64_t, capacity);
    if (!numbers)
        return DT_ERR_MEMORY;
    self->at.at++;
    while (dt__cursor_peek(&self->at) != '}') {
        dt_dtype dtype;
        size_t n_word;
        int number;
        if (n)
            DT__TRY(dt__cursor_expect(&self->at, ";", "between the tensors of a list"));
        if (n == capacity)
            return dt__cursor_fail(&self->at, "expected '}' after the tensors of a list");
        numbers[n] = -1;
        if (!dt__cursor_take(&self->at, "none")) {
            if (!at_tensor(self, &dtype, &n_word))
                return dt__cursor_fail(&self->at, "expected a tensor such as f32[4,3] S(0)");
            DT__TRY(read_tensor(self, dtype, n_word, &number));
            numbers[n] = number;
        }
        n++;
    }
    self->at.at++;
    out->value = (dt_arg){.type = DT_ARG_TENSORS, .n = n};
    out->tensors = numbers;
    return DT_OK;
}

static dt_status read_value(reading *self, dt__argument *out) {
    dt_dtype dtype;
    size_t n_word;
    int number;
    if (dt__cursor_peek(&self->at) == '{')
        return read_tensors(self, out);
    if (!at_tensor(self, &dtype, &n_word))
        return dt__literal_read(&self->at, self->arena, &out->value);
    DT__TRY(read_tensor(self, dtype, n_word, &number));
    out->value = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = number};
    return DT_OK;
}

/* "dim=": a name followed by an equals sign; NULL where there is none. */
static dt_status read_name(reading *self, const char **out) {
    size_t n = 0;
    dt__cursor_peek(&self->at);
    while (isalnum((unsigned char)self->at.at[n]) || self->at.at[n] == '_')
        n++;
    *out = NULL;
    if (n == 0 || self->at.at[n] != '=')
        return DT_OK;
    *out = dt__arena_copy_chars(self->arena, self->at.at, n);
    self->at.at += n + 1;
    return *out ? DT_OK : DT_ERR_MEMORY;
}

static dt_status read_args(reading *self) {
    DT__TRY(dt__cursor_expect(&self->at, "(", "after the name of the op"));
    while (dt__cursor_peek(&self->at) != ')') {
        if (self->n_arguments == DT__MAX_ARGS)
            return dt__cursor_fail(&self->at, "expected at most %d arguments", DT__MAX_ARGS);
        if (self->n_arguments && *self->at.at == ',')
            return fail_comma(self);
        if (self->n_arguments)
            DT__TRY(dt__cursor_expect(&self->at, ";", "between arguments"));
        dt__argument *argument = &self->arguments[self->n_arguments++];
        DT__TRY(read_name(self, &argument->name));
        DT__TRY(read_value(self, argument));
    }
    self->at.at++;
    size_t n_mesh;
    if (!strncmp(self->at.at, ON_MESH, strlen(ON_MESH))) {
        const char *mesh = find_mesh(self->at.at, self->at.at + 1, &n_mesh);
        DT__TRY(check_mesh(self, mesh, n_mesh));
        self->at.at += n_mesh;
        DT__TRY(dt__cursor_expect(&self->at, ")", "after the mesh"));
    }
    return dt__cursor_peek(&self->at) ? dt__cursor_fail(&self->at, "expected the end of the call") : DT_OK;
}

/* Whether the call sends nothing with its inputs as they are stored. */
static dt_status is_free(dt__arena *arena, const dt__placed_call *placed, bool *out) {
    dt__candidate selected;
    dt__placed_inputs on = {placed->n_mesh_dims, placed->mesh, placed->inputs, arena->ctx->machine};
    DT__TRY(dt__select_placements(arena, &placed->call, &on, &selected));
    *out = selected.cost_us == 0;
    return DT_OK;
}

/* Replaces the inputs that are seen in their use placements (dispatch/used_inputs.c). */
static dt_status see_uses(dt__arena *arena, const dt__sharding *const *used, const dt_dtype *use_dtypes,
                          dt__placed_call *out) {
    const dt_op *op = out->info->op;
    int n = out->bound.n_inputs;
    dt_op_value *values = dt__arena_copy(arena, out->call.inputs, (size_t)n, sizeof *values);
    dt_dtype *stored_dtypes = DT__NEW_ARRAY(arena, dt_dtype, n);
    const dt__sharding **seen = DT__NEW_ARRAY(arena, const dt__sharding *, n);
    const dt__sharding **stored = DT__NEW_ARRAY(arena, const dt__sharding *, n);
    bool any = false, views = false;
    if (!seen || !stored || !values || !stored_dtypes)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        const dt__sharding *use = used[out->bound.inputs[i]];
        bool is_used = use && !(op->flags & DT_OP_AS_STORED) && !dt__writes_input(&out->call, i);
        stored[i] = is_used ? out->inputs[i] : NULL;
        seen[i] = is_used ? use : out->inputs[i];
        stored_dtypes[i] = values[i].dtype;
        if (is_used)
            values[i].dtype = use_dtypes[out->bound.inputs[i]];
        any = any || is_used;
    }
    if (any && op->flags & DT_OP_VIEW) {
        DT__TRY(dt__op_call_infer(arena, &out->call));
        DT__TRY(is_free(arena, out, &views));
    }
    if (!any || views)
        return DT_OK;
    out->inputs = seen;
    out->stored = stored;
    out->stored_dtypes = stored_dtypes;
    out->call.inputs = values;
    return DT_OK;
}

dt_status dt__placed_call_build(dt__arena *arena, const dt_op_value *values, const dt__sharding *const *placed,
                                dt__placed_call *out) {
    int n = out->bound.n_inputs;
    dt_op_value *inputs = DT__NEW_ARRAY(arena, dt_op_value, n);
    const dt__sharding **shardings = DT__NEW_ARRAY(arena, const dt__sharding *, n);
    const dt_arg *args = dt__arena_copy(arena, out->bound.args, (size_t)out->bound.n_args, sizeof *args);
    if (!inputs || !shardings || !args)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        int number = out->bound.inputs[i];
        inputs[i] = values[number];
        shardings[i] = placed ? placed[number] : NULL;
    }
    out->inputs = placed ? shardings : NULL;
    dt__op_call_init(&out->call, arena->ctx, out->info, out->bound.overload, args, n, inputs);
    return DT_OK;
}

dt_status dt__placed_call_parse(dt__arena *arena, const char *text, int n_mesh_dims, const int64_t *mesh,
                                dt__placed_call *out) {
    reading *self = DT__NEW(arena, reading);
    if (!self)
        return DT_ERR_MEMORY;
    *self = (reading){
        .arena = arena,
        .at = dt__cursor_new(arena->ctx, DT_ERR_VALUE, "call", text),
        .out = out,
    };
    *out = (dt__placed_call){.n_mesh_dims = n_mesh_dims, .mesh = mesh};
    const char *name = dt__literal_name(&self->at, arena);
    out->info = name ? dt__op_find(arena->ctx, name) : NULL;
    if (!out->info)
        return dt_error_status(arena->ctx);
    DT__TRY(read_args(self));
    DT__TRY(dt__schema_bind(arena, &out->info->schema, self->n_arguments, self->arguments, &out->bound));
    DT__TRY(dt__placed_call_build(arena, self->values, self->placed, out));
    if (self->used)
        DT__TRY(see_uses(arena, self->used, self->use_dtypes, out));
    return dt__op_call_infer(arena, &out->call);
}

void dt__tensor_form_text(dt_dtype dtype, int n_dims, const int64_t *shape, const dt_spec *spec, dt__text *out) {
    dt__text_add(out, "%s[", dt_dtype_name(dtype));
    for (int d = 0; d < n_dims; d++)
        dt__text_add(out, "%s%" PRId64, d ? "," : "", shape[d]);
    dt__text_add(out, "]");
    if (!spec)
        return;
    const dt_placement *placements = spec->sharding.placements;
    dt__text_add(out, " ");
    dt__placement_lists_text(spec->sharding.n_mesh_dims, 1, &placements, out);
}

void dt__use_form_text(dt_dtype stored, const dt_spec *use, dt__text *out) {
    if (!use)
        return;
    const dt_placement *placements = use->sharding.placements;
    dt__text_add(out, " use ");
    if (use->dtype != stored)
        dt__text_add(out, "%s ", dt_dtype_name(use->dtype));
    dt__placement_lists_text(use->sharding.n_mesh_dims, 1, &placements, out);
}

void dt__placement_lists_text(int n_mesh_dims, int n, const dt_placement *const *lists, dt__text *out) {
    char text[PLACEMENTS_BYTES];
    for (int i = 0; i < n; i++) {
        (void)dt_placements_text(n_mesh_dims, lists[i], sizeof text, text);
        dt__text_add(out, "%s%s", i ? "; " : "", text);
    }
}
