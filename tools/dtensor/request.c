/* SPDX-License-Identifier: Apache-2.0
 *
 * The one reader of requests: fields, orders and extents of placements, calls of ops, and values of tensors. Each
 * reader checks type and range and records an error that names the field, what was expected and what was found.
 */
#include "base/dtype.h"
#include "json.h"
#include "ops/ops.h"
#include "query.h"
#include "spec/spec.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 60 };

const json_t *request_get(const request *req, const char *name) { return json_object_get(req->fields, name); }

/* The value as JSON, shortened. Long lists are not printed at all, so that a huge value costs nothing. */
static const char *preview(const json_t *value, char *buffer) {
    if (!value)
        return "nothing";
    if (json_is_array(value) && json_array_size(value) > 16)
        return "a longer list";
    size_t n = json_dumpb(value, buffer, SHOWN_BYTES, JSON_COMPACT | JSON_ENCODE_ANY);
    if (n == 0)
        return "a value that is too deep";
    if (n <= SHOWN_BYTES) {
        buffer[n] = 0;
        return buffer;
    }
    n = SHOWN_BYTES;
    while (n > 0 && ((unsigned char)buffer[n - 1] & 0xc0) == 0x80)
        n--; /* not in the middle of a character */
    if (n > 0 && (unsigned char)buffer[n - 1] >= 0xc0)
        n--;
    memcpy(buffer + n, "…", sizeof "…");
    return buffer;
}

dt_status request_wrong(const request *req, const char *name, const char *expected, const json_t *got) {
    char buffer[SHOWN_BYTES + 8];
    return dt__fail(req->ctx, DT_ERR_FIELD, "field '%s': expected %s, got %s", name, expected, preview(got, buffer));
}

static const request_field *find_field(const request_field *allowed, const char *name) {
    for (; allowed->name; allowed++)
        if (!strcmp(allowed->name, name))
            return allowed;
    return NULL;
}

dt_status request_check_fields(const request *req, const char *owner, const request_field *allowed) {
    for (const request_field *field = allowed; field->name; field++)
        if (field->required && !request_get(req, field->name))
            return dt__fail(req->ctx, DT_ERR_FIELD, "%s: field '%s' is missing", owner, field->name);
    void *fields = (void *)req->fields; /* required by the iterator's type; nothing is changed */
    for (void *at = json_object_iter(fields); at; at = json_object_iter_next(fields, at)) {
        const char *name = json_object_iter_key(at);
        if (strcmp(name, "q") != 0 && !find_field(allowed, name))
            return dt__fail(req->ctx, DT_ERR_FIELD, "%s: unknown field '%.60s'", owner, name);
    }
    return DT_OK;
}

dt_status request_int(const request *req, const char *name, const json_t *value, int64_t min, int64_t max,
                      int64_t *out) {
    if (json_is_integer(value) && json_integer_value(value) >= min && json_integer_value(value) <= max) {
        *out = json_integer_value(value);
        return DT_OK;
    }
    char expected[96];
    if (max == INT64_MAX)
        snprintf(expected, sizeof expected, "an integer of at least %lld", (long long)min);
    else
        snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)min, (long long)max);
    return request_wrong(req, name, expected, value);
}

dt_status request_string(const request *req, const char *name, const json_t *value, const char **out) {
    if (!json_is_string(value))
        return request_wrong(req, name, "a string", value);
    *out = json_string_value(value);
    return DT_OK;
}

static dt_status read_list_size(const request *req, const char *name, const json_t *value, const char *expected,
                                int *n) {
    if (!json_is_array(value) || json_array_size(value) > INT_MAX)
        return request_wrong(req, name, expected, value);
    *n = (int)json_array_size(value);
    return DT_OK;
}

/* The name of an element, "shape[1]", for errors. */
static const char *element_name(const char *name, int i, char *buffer, size_t capacity) {
    snprintf(buffer, capacity, "%s[%d]", name, i);
    return buffer;
}

dt_status request_ints(const request *req, const char *name, const json_t *value, int64_t min, int64_t max,
                       int64_t **out, int *n) {
    DT__TRY(read_list_size(req, name, value, "a list of integers", n));
    int64_t *ints = DT__NEW_ARRAY(req->arena, int64_t, *n);
    if (!ints)
        return DT_ERR_MEMORY;
    for (int i = 0; i < *n; i++) {
        const json_t *item = json_array_get(value, (size_t)i);
        char buffer[64];
        if (json_is_integer(item) && json_integer_value(item) >= min && json_integer_value(item) <= max)
            ints[i] = json_integer_value(item);
        else
            return request_int(req, element_name(name, i, buffer, sizeof buffer), item, min, max, &ints[i]);
    }
    *out = ints;
    return DT_OK;
}

dt_status request_sizes(const request *req, const char *field, int64_t min, int64_t **out, int *n) {
    return request_ints(req, field, request_get(req, field), min, INT64_MAX, out, n);
}

dt_status request_dtype(const request *req, const char *name, const json_t *value, dt_dtype *out) {
    const char *word = "f32";
    if (value)
        DT__TRY(request_string(req, name, value, &word));
    if (!dt_dtype_parse(word, out))
        return dt__fail(req->ctx, DT_ERR_DTYPE, "field '%s': expected a dtype such as f32, got \"%.60s\"", name,
                        word);
    return DT_OK;
}

dt_status request_check_size(const request *req, const dt__text *out) {
    if (out->broken)
        return dt__fail_memory(req->ctx, out->n_chars, "an answer");
    if (out->n_chars <= REQUEST_MAX_ANSWER_BYTES)
        return DT_OK;
    return dt__fail(req->ctx, DT_ERR_UNSUPPORTED, "the answer is larger than %d bytes", REQUEST_MAX_ANSWER_BYTES);
}

/* The tensor dim that a key such as "0" of `order` or `extents` names. */
static dt_status read_dim(const request *req, const char *field, const char *key, int *out) {
    char *end;
    long dim = strtol(key, &end, 10);
    bool digits = *key >= '0' && *key <= '9' && !*end;
    if (!digits || dim > INT_MAX)
        return dt__fail(req->ctx, DT_ERR_FIELD, "field '%s': expected a tensor dim as key, got \"%.60s\"", field,
                        key);
    *out = (int)dim;
    return DT_OK;
}

/* Applies a key of `order` or of `extents` to the placements. */
typedef dt_status apply_fn(const request *req, const char *field, dt_placement *placements, int n, int dim,
                           const json_t *list);

static dt_status apply_order(const request *req, const char *field, dt_placement *placements, int n, int dim,
                             const json_t *list) {
    int64_t *mesh_dims = NULL;
    int n_mesh_dims = 0;
    DT__TRY(request_ints(req, field, list, 0, DT_SPEC_MAX_DIMS - 1, &mesh_dims, &n_mesh_dims));
    int *narrow = DT__NEW_ARRAY(req->arena, int, n_mesh_dims);
    if (!narrow)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n_mesh_dims; i++)
        narrow[i] = (int)mesh_dims[i];
    return dt_placements_set_order(req->ctx, n, placements, dim, n_mesh_dims, narrow);
}

static dt_status apply_extents(const request *req, const char *field, dt_placement *placements, int n, int dim,
                               const json_t *list) {
    int64_t *sizes = NULL;
    int n_sizes = 0;
    DT__TRY(request_ints(req, field, list, 0, INT64_MAX, &sizes, &n_sizes));
    return dt_placements_set_extents(req->ctx, n, placements, dim, n_sizes, sizes);
}

static dt_status apply_field(const request *req, const char *field, apply_fn *apply, dt_placement *placements,
                             int n) {
    void *by_dim = (void *)request_get(req, field); /* required by the iterator's type; nothing is changed */
    if (by_dim && !json_is_object((json_t *)by_dim))
        return request_wrong(req, field, "an object with a list per tensor dim", by_dim);
    for (void *at = json_object_iter(by_dim); at; at = json_object_iter_next(by_dim, at)) {
        int dim = 0;
        DT__TRY(read_dim(req, field, json_object_iter_key(at), &dim));
        DT__TRY(apply(req, field, placements, n, dim, json_object_iter_value(at)));
    }
    return DT_OK;
}

dt_status request_order(const request *req, const char *field, dt_placement *placements, int n) {
    return apply_field(req, field, apply_order, placements, n);
}

dt_status request_extents(const request *req, const char *field, dt_placement *placements, int n) {
    return apply_field(req, field, apply_extents, placements, n);
}

/* The request's tensors, by their numbers. */
typedef struct tensors {
    int n;
    dt_op_value *values;
    dt__sharding *placed; /* NULL: not placed */
} tensors;

typedef struct reading {
    const request *req;
    dt__placed_call *out;
    request_tensors have;
    tensors tensors;
} reading;

static dt_status read_placements(reading *self, const char *name, const json_t *field, int i) {
    const dt_op_value *value = &self->tensors.values[i];
    const char *text = NULL;
    dt_placement *placements = NULL;
    dt__sharding_desc desc = {.n_mesh_dims = self->out->n_mesh_dims,
                              .mesh = self->out->mesh,
                              .n_dims = value->n_dims,
                              .shape = value->shape};
    DT__TRY(request_string(self->req, name, field, &text));
    DT__TRY(dt__placements_parse(self->req->arena, text, &desc.n_placements, &placements));
    dt_placements_resolve(desc.n_placements, placements, value->n_dims);
    desc.placements = placements;
    return dt__sharding_new(self->req->arena, &desc, &self->tensors.placed[i]);
}

static dt_status read_tensor(reading *self, const json_t *tensor, int i) {
    static const request_field fields[][5] = {
        [REQUEST_SHAPES] = {{"shape", true}, {"dtype", false}, {0}},
        [REQUEST_PLACED] = {{"shape", true}, {"dtype", false}, {"placements", true}, {0}},
        [REQUEST_VALUES] = {{"shape", true}, {"dtype", false}, {"placements", true}, {"data", true}, {0}},
    };
    dt_op_value *value = &self->tensors.values[i];
    char name[64];
    int64_t *shape = NULL, elements;
    request inner = *self->req;
    snprintf(name, sizeof name, "tensors[%d]", i);
    if (!json_is_object(tensor))
        return request_wrong(self->req, name, "an object with a shape", tensor);
    inner.fields = tensor;
    DT__TRY(request_check_fields(&inner, name, fields[self->have]));
    DT__TRY(request_ints(self->req, name, json_object_get(tensor, "shape"), 0, INT64_MAX, &shape, &value->n_dims));
    value->shape = shape;
    DT__TRY(request_dtype(self->req, name, json_object_get(tensor, "dtype"), &value->dtype));
    if (value->n_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(self->req->ctx, DT_ERR_SHAPE, "%s has %d dims; expected at most %d", name, value->n_dims,
                        DT_SPEC_MAX_DIMS);
    if (!dt__product(value->n_dims, shape, (int64_t)dt_dtype_size(value->dtype), &elements))
        return dt__fail(self->req->ctx, DT_ERR_SHAPE, "%s has more than 2^63 - 1 bytes", name);
    return self->tensors.placed ? read_placements(self, name, json_object_get(tensor, "placements"), i) : DT_OK;
}

static dt_status read_tensors(reading *self) {
    bool placed = self->have != REQUEST_SHAPES;
    const json_t *list = request_get(self->req, "tensors");
    dt__arena *arena = self->req->arena;
    if (!json_is_array(list) || json_array_size(list) > INT_MAX)
        return request_wrong(self->req, "tensors", "a list of objects", list);
    self->tensors.n = (int)json_array_size(list);
    self->tensors.values = DT__NEW_ARRAY(arena, dt_op_value, self->tensors.n);
    self->tensors.placed = placed ? DT__NEW_ARRAY(arena, dt__sharding, self->tensors.n) : NULL;
    if (!self->tensors.values || (placed && !self->tensors.placed))
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->tensors.n; i++)
        DT__TRY(read_tensor(self, json_array_get(list, (size_t)i), i));
    return DT_OK;
}

/* {"t":1} */
static dt_status read_reference(reading *self, const char *name, const json_t *value, int64_t *out) {
    const json_t *number = json_object_get(value, "t");
    if (!number || json_object_size(value) != 1)
        return request_wrong(self->req, name, "a value or {\"t\":number}", value);
    return request_int(self->req, name, number, 0, self->tensors.n - 1, out);
}

/* Numbers, or tensors, one kind in a list; null is an absent member, among tensors or integers. */
static dt_status read_list_arg(reading *self, const char *name, const json_t *value, dt__argument *out) {
    size_t n = json_array_size(value);
    int64_t *ints = DT__NEW_ARRAY(self->req->arena, int64_t, n);
    double *floats = DT__NEW_ARRAY(self->req->arena, double, n);
    bool are_ints = true, are_tensors = n > 0;
    if (!ints || !floats)
        return DT_ERR_MEMORY;
    if (n > INT_MAX)
        return request_wrong(self->req, name, "a shorter list", value);
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(value, i);
        are_tensors = are_tensors && (json_is_object(entry) || json_is_null(entry));
        are_ints = are_ints && (json_is_integer(entry) || json_is_null(entry));
        if (!json_is_object(entry) && !json_is_null(entry) && !json_is_number(entry))
            return request_wrong(self->req, name, "a list of numbers or of tensors", value);
        ints[i] = json_is_integer(entry) ? json_integer_value(entry) : -1;
        floats[i] = json_is_number(entry) ? json_number_value(entry) : 0;
        if (json_is_object(entry))
            DT__TRY(read_reference(self, name, entry, &ints[i]));
    }
    if (are_tensors) {
        out->value = (dt_arg){.type = DT_ARG_TENSORS, .n = (int)n};
        out->tensors = ints;
    } else if (are_ints) {
        for (size_t i = 0; i < n; i++)
            ints[i] = json_is_null(json_array_get(value, i)) ? DT_NONE : ints[i];
        out->value = (dt_arg){.type = DT_ARG_INTS, .n = (int)n, .as.ints = ints};
    } else
        out->value = (dt_arg){.type = DT_ARG_FLOATS, .n = (int)n, .as.floats = floats};
    return DT_OK;
}

static dt_status read_arg(reading *self, const char *name, const json_t *value, dt__argument *argument) {
    int64_t number;
    dt_arg *out = &argument->value;
    *out = (dt_arg){.type = DT_ARG_NONE};
    if (json_is_null(value))
        return DT_OK;
    if (json_is_array(value))
        return read_list_arg(self, name, value, argument);
    if (json_is_object(value)) {
        DT__TRY(read_reference(self, name, value, &number));
        *out = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = (int)number};
    } else if (json_is_boolean(value))
        *out = (dt_arg){.type = DT_ARG_BOOL, .as.b = json_is_true(value)};
    else if (json_is_integer(value))
        *out = (dt_arg){.type = DT_ARG_INT, .as.i = json_integer_value(value)};
    else if (json_is_real(value))
        *out = (dt_arg){.type = DT_ARG_FLOAT, .as.f = json_real_value(value)};
    else
        *out = (dt_arg){.type = DT_ARG_TEXT, .as.text = json_string_value(value)};
    return DT_OK;
}

static dt_status read_args(reading *self, dt__argument *out, int *n) {
    const json_t *args = request_get(self->req, "args");
    void *kwargs = (void *)request_get(self->req, "kwargs"); /* required by the iterator's type */
    char name[64];
    if (!json_is_array(args) || json_array_size(args) > DT__MAX_ARGS)
        return request_wrong(self->req, "args", "a list of up to 32 arguments", args);
    if (!json_is_object((json_t *)kwargs) || json_object_size(kwargs) > DT__MAX_ARGS)
        return request_wrong(self->req, "kwargs", "an object of up to 32 arguments", kwargs);
    for (size_t i = 0; i < json_array_size(args); i++, ++*n) {
        snprintf(name, sizeof name, "args[%zu]", i);
        DT__TRY(read_arg(self, name, json_array_get(args, i), &out[*n]));
    }
    for (void *at = json_object_iter(kwargs); at; at = json_object_iter_next(kwargs, at), ++*n) {
        out[*n].name = json_object_iter_key(at);
        DT__TRY(read_arg(self, "kwargs", json_object_iter_value(at), &out[*n]));
    }
    return DT_OK;
}

static const dt__sharding **list_placed(reading *self) {
    const dt__sharding **placed = DT__NEW_ARRAY(self->req->arena, const dt__sharding *, self->tensors.n);
    for (int i = 0; i < self->tensors.n && placed; i++)
        placed[i] = &self->tensors.placed[i];
    return placed;
}

static dt_status read_mesh(reading *self) {
    int64_t *mesh = NULL;
    DT__TRY(request_ints(self->req, "mesh", request_get(self->req, "mesh"), 1, INT64_MAX, &mesh,
                         &self->out->n_mesh_dims));
    self->out->mesh = mesh;
    if (self->out->n_mesh_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(self->req->ctx, DT_ERR_MESH, "the mesh has %d dims; expected at most %d",
                        self->out->n_mesh_dims, DT_SPEC_MAX_DIMS);
    return DT_OK;
}

dt_status request_call(const request *req, request_tensors have, dt__placed_call *out) {
    reading self = {.req = req, .out = out, .have = have};
    dt__argument args[2 * DT__MAX_ARGS] = {{0}};
    const char *op = NULL;
    int n_args = 0;
    *out = (dt__placed_call){0};
    DT__TRY(request_string(req, "op", request_get(req, "op"), &op));
    DT__TRY(dt__ops_open(req->ctx));
    out->info = dt__op_find(req->ctx, op);
    if (!out->info)
        return dt_error_status(req->ctx);
    if (have != REQUEST_SHAPES)
        DT__TRY(read_mesh(&self));
    DT__TRY(read_tensors(&self));
    DT__TRY(read_args(&self, args, &n_args));
    DT__TRY(dt__schema_bind(req->arena, &out->info->schema, n_args, args, &out->bound));
    bool placed = have != REQUEST_SHAPES;
    const dt__sharding **list = placed ? list_placed(&self) : NULL;
    if (placed && !list)
        return DT_ERR_MEMORY;
    DT__TRY(dt__placed_call_build(req->arena, self.tensors.values, list, out));
    bool is_read = dt__unread_argument(out->info, out->bound.overload, out->bound.args) >= 0;
    return have == REQUEST_VALUES && is_read ? DT_OK : dt__op_call_infer(req->arena, &out->call);
}

static bool read_number(const json_t *value, double *out) {
    static const struct {
        const char *word;
        double number;
    } words[] = {{"nan", (double)NAN}, {"inf", (double)INFINITY}, {"-inf", -(double)INFINITY}};
    if (json_is_number(value))
        return *out = json_number_value(value), true;
    if (json_is_boolean(value))
        return *out = json_is_true(value), true;
    for (size_t i = 0; json_is_string(value) && i < sizeof words / sizeof *words; i++)
        if (!strcmp(json_string_value(value), words[i].word))
            return *out = words[i].number, true;
    return false;
}

static bool read_element(const json_t *value, dt_dtype dtype, unsigned char *out) {
    double numbers[2] = {0, 0};
    if (dt__is_complex(dtype) && json_is_array(value)) {
        if (json_array_size(value) != 2 || !read_number(json_array_get(value, 0), &numbers[0]) ||
            !read_number(json_array_get(value, 1), &numbers[1]))
            return false;
    } else if (!read_number(value, &numbers[0]))
        return false;
    if (dtype == DT_I64 && json_is_integer(value))
        dt__write_i64(dtype, json_integer_value(value), out);
    else if (dt__is_complex(dtype))
        dt__element_write(dtype, (dt__element){.re = numbers[0], .im = numbers[1]}, out);
    else
        dt__write_f64(dtype, numbers[0], out);
    return true;
}

static dt_status read_values(const request *req, int number, const dt_op_value *value, const void **out) {
    const json_t *tensor = json_array_get(request_get(req, "tensors"), (size_t)number);
    const json_t *list = json_object_get(tensor, "data");
    int64_t n = dt__elements(value->n_dims, value->shape);
    size_t bytes = dt_dtype_size(value->dtype);
    char name[64];
    snprintf(name, sizeof name, "tensors[%d].data", number);
    if (!json_is_array(list))
        return request_wrong(req, name, "a list of numbers", list);
    if ((int64_t)json_array_size(list) != n)
        return dt__fail(req->ctx, DT_ERR_SHAPE, "%s: expected %" PRId64 " values, got %zu", name, n,
                        json_array_size(list));
    unsigned char *data = dt__arena_alloc(req->arena, (size_t)n, bytes);
    if (!data)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if (!read_element(json_array_get(list, (size_t)i), value->dtype, data + (size_t)i * bytes))
            return request_wrong(req, name, "numbers", json_array_get(list, (size_t)i));
    *out = data;
    return DT_OK;
}

dt_status request_data(const request *req, const dt__placed_call *placed, const void ***out) {
    *out = DT__NEW_ARRAY(req->arena, const void *, placed->call.n_inputs);
    if (!*out)
        return DT_ERR_MEMORY;
    for (int i = 0; i < placed->call.n_inputs; i++)
        DT__TRY(read_values(req, placed->bound.inputs[i], &placed->call.inputs[i], &(*out)[i]));
    return DT_OK;
}

static json_t *element_json(dt_dtype dtype, const unsigned char *bytes) {
    dt__element element = dt__element_read(dtype, bytes);
    if (dtype == DT_BOOL)
        return json_boolean(element.i);
    if (dt__is_integer(dtype))
        return json_integer(element.i);
    if (dt__is_complex(dtype))
        return json_pack("[o, o]", number_json(element.re), number_json(element.im));
    return number_json(element.re);
}

json_t *request_data_json(dt_dtype dtype, const void *data, int64_t n) {
    const unsigned char *element = data;
    json_t *list = json_array();
    for (int64_t i = 0; list && i < n; i++, element += dt_dtype_size(dtype))
        json_append(&list, element_json(dtype, element));
    return list;
}
