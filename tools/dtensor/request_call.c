/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads calls of ops.
 */
#include "request_call.h"

#include "spec/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What is known of the request's tensors, by their numbers. */
typedef struct tensors {
    int n;
    dt_op_value *values;
    dt__sharding *placed; /* NULL: not placed */
} tensors;

typedef struct reading {
    const request *asked;
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
    DT__TRY(request_string(self->asked, name, field, &text));
    DT__TRY(dt__placements_parse(self->asked->arena, text, &desc.n_placements, &placements));
    dt_placements_resolve(desc.n_placements, placements, value->n_dims);
    desc.placements = placements;
    return dt__sharding_new(self->asked->arena, &desc, &self->tensors.placed[i]);
}

static dt_status read_dtype(const request *asked, const char *name, const json_t *field, dt_dtype *out) {
    const char *word = "f32";
    if (field)
        DT__TRY(request_string(asked, name, field, &word));
    if (!dt_dtype_parse(word, out))
        return dt__fail(asked->ctx, DT_ERR_DTYPE, "field '%s': there is no dtype '%.60s'", name, word);
    return DT_OK;
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
    request inner = *self->asked;
    snprintf(name, sizeof name, "tensors[%d]", i);
    if (!json_is_object(tensor))
        return request_wrong(self->asked, name, "an object with a shape", tensor);
    inner.fields = tensor;
    DT__TRY(request_check_fields(&inner, name, fields[self->have]));
    DT__TRY(request_ints(self->asked, name, json_object_get(tensor, "shape"), 0, INT64_MAX, &shape, &value->n_dims));
    value->shape = shape;
    DT__TRY(read_dtype(self->asked, name, json_object_get(tensor, "dtype"), &value->dtype));
    if (value->n_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(self->asked->ctx, DT_ERR_SHAPE, "%s has %d dims; at most %d are possible", name,
                        value->n_dims, DT_SPEC_MAX_DIMS);
    if (!dt__product(value->n_dims, shape, (int64_t)dt_dtype_size(value->dtype), &elements))
        return dt__fail(self->asked->ctx, DT_ERR_SHAPE, "%s has more than 2^63 - 1 bytes", name);
    return self->tensors.placed ? read_placements(self, name, json_object_get(tensor, "placements"), i) : DT_OK;
}

static dt_status read_tensors(reading *self) {
    bool placed = self->have != REQUEST_SHAPES;
    const json_t *list = request_get(self->asked, "tensors");
    dt__arena *arena = self->asked->arena;
    if (!json_is_array(list) || json_array_size(list) > INT_MAX)
        return request_wrong(self->asked, "tensors", "a list of objects", list);
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
        return request_wrong(self->asked, name, "a value or {\"t\":number}", value);
    return request_int(self->asked, name, number, 0, self->tensors.n - 1, out);
}

/* Numbers, or tensors and null, one kind in a list. */
static dt_status read_list(reading *self, const char *name, const json_t *value, dt_arg *out) {
    size_t n = json_array_size(value);
    int64_t *ints = DT__NEW_ARRAY(self->asked->arena, int64_t, n);
    double *floats = DT__NEW_ARRAY(self->asked->arena, double, n);
    bool whole = true, refer = n > 0;
    if (!ints || !floats)
        return DT_ERR_MEMORY;
    if (n > INT_MAX)
        return request_wrong(self->asked, name, "a shorter list", value);
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(value, i);
        refer = refer && (json_is_object(entry) || json_is_null(entry));
        whole = whole && json_is_integer(entry);
        if (!json_is_object(entry) && !json_is_null(entry) && !json_is_number(entry))
            return request_wrong(self->asked, name, "a list of numbers or of tensors", value);
        ints[i] = json_is_integer(entry) ? json_integer_value(entry) : -1;
        floats[i] = json_is_number(entry) ? json_number_value(entry) : 0;
        if (json_is_object(entry))
            DT__TRY(read_reference(self, name, entry, &ints[i]));
    }
    if (refer || whole)
        *out = (dt_arg){.type = refer ? DT_ARG_TENSORS : DT_ARG_INTS, .n = (int)n, .as.ints = ints};
    else
        *out = (dt_arg){.type = DT_ARG_FLOATS, .n = (int)n, .as.floats = floats};
    return DT_OK;
}

static dt_status read_value(reading *self, const char *name, const json_t *value, dt_arg *out) {
    int64_t number;
    *out = (dt_arg){.type = DT_ARG_NONE};
    if (json_is_null(value))
        return DT_OK;
    if (json_is_array(value))
        return read_list(self, name, value, out);
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

static dt_status read_args(reading *self, dt__argument *given, int *n) {
    const json_t *args = request_get(self->asked, "args");
    void *kwargs = (void *)request_get(self->asked, "kwargs"); /* the iterator's type asks for it */
    char name[64];
    if (!json_is_array(args) || json_array_size(args) > DT__MAX_ARGS)
        return request_wrong(self->asked, "args", "a list of up to 32 arguments", args);
    if (!json_is_object((json_t *)kwargs) || json_object_size(kwargs) > DT__MAX_ARGS)
        return request_wrong(self->asked, "kwargs", "an object of up to 32 arguments", kwargs);
    for (size_t i = 0; i < json_array_size(args); i++, ++*n) {
        snprintf(name, sizeof name, "args[%zu]", i);
        DT__TRY(read_value(self, name, json_array_get(args, i), &given[*n].value));
    }
    for (void *at = json_object_iter(kwargs); at; at = json_object_iter_next(kwargs, at), ++*n) {
        given[*n].name = json_object_iter_key(at);
        DT__TRY(read_value(self, "kwargs", json_object_iter_value(at), &given[*n].value));
    }
    return DT_OK;
}

static const dt__sharding **list_placed(reading *self) {
    const dt__sharding **placed = DT__NEW_ARRAY(self->asked->arena, const dt__sharding *, self->tensors.n);
    for (int i = 0; i < self->tensors.n && placed; i++)
        placed[i] = &self->tensors.placed[i];
    return placed;
}

static dt_status read_mesh(reading *self) {
    int64_t *mesh = NULL;
    DT__TRY(request_ints(self->asked, "mesh", request_get(self->asked, "mesh"), 1, INT64_MAX, &mesh,
                         &self->out->n_mesh_dims));
    self->out->mesh = mesh;
    if (self->out->n_mesh_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(self->asked->ctx, DT_ERR_MESH, "the mesh has %d dims; at most %d are possible",
                        self->out->n_mesh_dims, DT_SPEC_MAX_DIMS);
    return DT_OK;
}

dt_status request_call(const request *asked, request_tensors have, dt__placed_call *out) {
    reading self = {.asked = asked, .out = out, .have = have};
    dt__argument given[2 * DT__MAX_ARGS] = {{0}};
    const char *op = NULL;
    int n_given = 0;
    *out = (dt__placed_call){0};
    DT__TRY(request_string(asked, "op", request_get(asked, "op"), &op));
    out->info = dt__op_find(asked->ctx, op);
    if (!out->info)
        return dt_error_status(asked->ctx);
    if (have != REQUEST_SHAPES)
        DT__TRY(read_mesh(&self));
    DT__TRY(read_tensors(&self));
    DT__TRY(read_args(&self, given, &n_given));
    DT__TRY(dt__schema_bind(asked->arena, &out->info->schema, n_given, given, &out->bound));
    bool placed = have != REQUEST_SHAPES;
    const dt__sharding **list = placed ? list_placed(&self) : NULL;
    if (placed && !list)
        return DT_ERR_MEMORY;
    return dt__placed_call_build(asked->arena, self.tensors.values, list, out);
}
