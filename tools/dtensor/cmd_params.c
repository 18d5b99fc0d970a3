/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor params`: the table that dt_params_text prints, for rules and a list of shapes on any mesh. No tensor is made
 * and no rank is started. A line of the list is a name and a tensor without placements; a range in braces stands for
 * the layers of a loop.
 */
#include "arguments.h"
#include "json.h"
#include "table.h"
#include "train/train.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PARAMS = 1 << 20 };

typedef struct placing {
    session *session;
    dt_mesh *mesh;
    dt__param_rules rules;
    dt__param_row *rows;
    int n, capacity;
} placing;

static dt_status add_row(placing *self, const dt__param_row *row) {
    if (self->n == MAX_PARAMS)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED, "shapes: expected at most %d parameters",
                        (int)MAX_PARAMS);
    if (self->n == self->capacity) {
        int capacity = 2 * self->capacity + 64;
        dt__param_row *rows = DT__NEW_ARRAY(self->session->arena, dt__param_row, capacity);
        if (!rows)
            return DT_ERR_MEMORY;
        if (self->n)
            memcpy(rows, self->rows, (size_t)self->n * sizeof *rows);
        self->rows = rows;
        self->capacity = capacity;
    }
    self->rows[self->n++] = *row;
    return DT_OK;
}

/* "f32[768,768]" or "[768,768]" */
static dt_status read_shape(placing *self, dt__cursor *cursor, dt__param_shape *out) {
    int64_t *shape = DT__NEW_ARRAY(self->session->arena, int64_t, DT_SPEC_MAX_DIMS);
    if (!shape)
        return DT_ERR_MEMORY;
    *out = (dt__param_shape){.name = out->name, .dtype = DT_F32, .shape = shape};
    if (dt__cursor_peek(cursor) != '[') {
        char word[8] = "";
        size_t n = strcspn(cursor->at, "[ \t");
        if (n < sizeof word)
            memcpy(word, cursor->at, n);
        if (!dt_dtype_parse(word, &out->dtype))
            return dt__cursor_fail_dtype(cursor);
        cursor->at += n;
    }
    DT__TRY(dt__cursor_expect(cursor, "[", "and the shape after the dtype"));
    while (dt__cursor_peek(cursor) != ']') {
        if (out->n_dims == DT_SPEC_MAX_DIMS)
            return dt__cursor_fail(cursor, "expected at most %d dims", DT_SPEC_MAX_DIMS);
        if (out->n_dims)
            DT__TRY(dt__cursor_expect(cursor, ",", "between sizes"));
        DT__TRY(dt__cursor_number(cursor, 0, INT64_MAX, "a size", &shape[out->n_dims++]));
    }
    cursor->at++;
    return dt__cursor_peek(cursor) ? dt__cursor_fail(cursor, "expected the end of the line") : DT_OK;
}

static dt_status place_row(placing *self, const dt__param_shape *of) {
    dt__param_traits traits;
    DT__TRY(dt__param_rules_apply(&self->rules, self->session->arena, of, self->mesh, &traits));
    dt_spec_desc desc = {.dtype = of->dtype,
                         .n_dims = of->n_dims,
                         .shape = of->shape,
                         .n_placements = traits.n_mesh_dims,
                         .placements = traits.placements};
    dt__param_row row = {.of = *of, .decay = traits.decay, .lr = traits.lr, .is_frozen = traits.is_frozen};
    row.spec = dt_spec_new(self->mesh, &desc);
    desc.placements = traits.used;
    desc.dtype = traits.use_dtype ? traits.use_dtype : of->dtype;
    row.use = row.spec && traits.has_use ? dt_spec_new(self->mesh, &desc) : NULL;
    if (!row.spec || (traits.has_use && !row.use))
        return dt_error_status(self->session->ctx);
    return add_row(self, &row);
}

/* A name with "{0..11}" is twelve names. */
static dt_status place_names(placing *self, const dt__cursor *cursor, const char *name, dt__param_shape *of) {
    const char *open = strchr(name, '{');
    int from = 0, to = 0, used = 0;
    if (!open) {
        of->name = name;
        return place_row(self, of);
    }
    if (sscanf(open, "{%9d..%9d}%n", &from, &to, &used) != 2 || !used || from < 0 || to < from)
        return dt__cursor_fail(cursor, "expected a range such as {0..11} in the name");
    for (int i = from; i <= to; i++) {
        const char *next = label_format(self->session->arena, "%.*s%d%s", (int)(open - name), name, i, open + used);
        if (!next)
            return DT_ERR_MEMORY;
        DT__TRY(place_names(self, cursor, next, of));
    }
    return DT_OK;
}

static dt_status read_line(placing *self, char *line, int number) {
    const char *what = label_format(self->session->arena, "shapes: line %d", number);
    line[strcspn(line, "#\r")] = 0;
    line += strspn(line, " \t");
    if (!what)
        return DT_ERR_MEMORY;
    if (!*line)
        return DT_OK;
    dt__cursor cursor = dt__cursor_new(self->session->ctx, DT_ERR_VALUE, what, line);
    dt__param_shape of = {.name = NULL};
    const size_t n = strcspn(line, " \t");
    const char *name = dt__arena_copy_chars(self->session->arena, line, n);
    if (!name)
        return DT_ERR_MEMORY;
    cursor.at += n;
    DT__TRY(read_shape(self, &cursor, &of));
    return place_names(self, &cursor, name, &of);
}

static dt_status read_shapes(placing *self, const char *text) {
    int number = 1;
    for (const char *at = text; at && *at; number++) {
        const char *end = strchr(at, '\n');
        char *line = dt__arena_copy_chars(self->session->arena, at, end ? (size_t)(end - at) : strlen(at));
        if (!line)
            return DT_ERR_MEMORY;
        DT__TRY(read_line(self, line, number));
        at = end ? end + 1 : NULL;
    }
    return self->n ? DT_OK : dt__fail(self->session->ctx, DT_ERR_VALUE, "shapes: expected a parameter, got none");
}

static dt_status check_rules(const placing *self) {
    const char **names = DT__NEW_ARRAY(self->session->arena, const char *, self->n);
    if (!names)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->n; i++)
        names[i] = self->rows[i].of.name;
    return dt__param_rules_check(&self->rules, self->session->ctx, self->n, names);
}

static json_t *placements_json(const placing *self, const dt_spec *spec) {
    dt__text text = dt__text_new(self->session->ctx);
    if (spec)
        dt__named_placements_add(spec, &text);
    json_t *value = spec ? string_json(dt__text_chars(&text)) : json_null();
    dt__text_free(&text);
    return value;
}

static json_t *row_json(const placing *self, const dt__param_row *row) {
    json_t *shape = json_array();
    for (int d = 0; d < row->of.n_dims; d++)
        json_append(&shape, json_integer(row->of.shape[d]));
    return json_pack("{s:o, s:o?, s:s, s:o, s:o, s:s?, s:I, s:f, s:f, s:b}", "name", string_json(row->of.name),
                     "shape", shape, "dtype", dt_dtype_name(row->of.dtype), "placed",
                     placements_json(self, row->spec), "used", placements_json(self, row->use), "use_dtype",
                     row->use ? dt_dtype_name(row->use->dtype) : NULL, "bytes", (json_int_t)dt__param_row_bytes(row),
                     "decay", row->decay, "lr", row->lr, "frozen", row->is_frozen);
}

static dt_status print_json(const placing *self) {
    json_t *list = json_array();
    int64_t bytes = 0;
    for (int i = 0; i < self->n; i++) {
        json_append(&list, row_json(self, &self->rows[i]));
        bytes += dt__param_row_bytes(&self->rows[i]);
    }
    json_t *answer = json_pack("{s:o, s:I, s:o?}", "mesh", string_json(dt_mesh_text(self->mesh)), "bytes",
                               (json_int_t)bytes, "params", list);
    return json_write_line(self->session->ctx, answer, self->session->out);
}

static dt_status place(placing *self, const char *rules, const char *shapes) {
    const arguments *args = self->session->args;
    DT__TRY(dt__param_rules_parse(self->session->arena, rules, &self->rules));
    self->mesh = dt_mesh_new(self->session->ctx, args_value(args, "mesh"));
    if (!self->mesh)
        return dt_error_status(self->session->ctx);
    DT__TRY(dt__param_rules_check_mesh(&self->rules, self->mesh));
    DT__TRY(read_shapes(self, shapes));
    DT__TRY(check_rules(self));
    if (args_has(args, "json"))
        return print_json(self);
    dt__param_table(self->session->arena, self->n, self->rows, self->session->out);
    return DT_OK;
}

static dt_status run_session(session *started, void *user) {
    placing *self = user;
    dt__text rules = dt__text_new(started->ctx), shapes = dt__text_new(started->ctx);
    self->session = started;
    dt_status status = args_read_file(started->ctx, started->args->words[0], &rules);
    if (status == DT_OK)
        status = args_read_file(started->ctx, args_value(started->args, "shapes"), &shapes);
    if (status == DT_OK)
        status = place(self, dt__text_chars(&rules), dt__text_chars(&shapes));
    dt__text_free(&rules);
    dt__text_free(&shapes);
    return status;
}

static int run_params(const arguments *args) {
    placing self = {.n = 0};
    if (!args_has(args, "shapes") || !args_has(args, "mesh"))
        return args_misused(args->command, "expected --shapes FILE and --mesh MESH");
    return session_run(args, 0, run_session, &self);
}

const command params_command = {
    .name = "params",
    .summary = "show how rules place the parameters of a model on a mesh",
    .synopsis = "[OPTIONS] RULES --shapes FILE --mesh MESH",
    .about =
        "Prints the table of dt_params_text for a file of rules (dtensor/params.h) and a file of shapes on any\n"
        "mesh, without ranks. A line of shapes is a name and a tensor, such as tok.weight f32[50257,768]; f32 may\n"
        "be left out, and h.{0..11}.fc1.bias [3072] is twelve parameters. A rule without effect is an error.",
    .options =
        (const command_option[]){
            {.name = "shapes", .value = "FILE", .help = "names and shapes of the parameters"},
            {.name = "mesh", .value = "MESH", .help = "the mesh, such as fsdp=64,tp=8"},
            RANKS_OPTION,
            {.name = "json", .help = "print a JSON object with each parameter"},
            {0},
        },
    .examples = "  dtensor params gpt.rules --shapes gpt.shapes --mesh fsdp=64,tp=8\n"
                "  dtensor params gpt.rules --shapes gpt.shapes --mesh 'dp=2,fsdp=*' --ranks 16 --json",
    .min_words = 1,
    .max_words = 1,
    .operand = "a file of rules",
    .run = run_params,
};
