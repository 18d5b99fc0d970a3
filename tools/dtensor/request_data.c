/* SPDX-License-Identifier: Apache-2.0
 *
 * Values to memory and back.
 */
#include "request_data.h"
#include "base/dtype.h"

#include "json_text.h"
#include "ops/shape_inference.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    double parts[2] = {0, 0};
    if (dt__is_complex(dtype) && json_is_array(value)) {
        if (json_array_size(value) != 2 || !read_number(json_array_get(value, 0), &parts[0]) ||
            !read_number(json_array_get(value, 1), &parts[1]))
            return false;
    } else if (!read_number(value, &parts[0]))
        return false;
    if (dtype == DT_I64 && json_is_integer(value))
        dt__write_i64(dtype, json_integer_value(value), out);
    else if (dt__is_complex(dtype))
        dt__element_write(dtype, (dt__element){.re = parts[0], .im = parts[1]}, out);
    else
        dt__write_f64(dtype, parts[0], out);
    return true;
}

static dt_status read_values(const request *asked, int number, const dt_op_value *value, const void **out) {
    const json_t *tensor = json_array_get(request_get(asked, "tensors"), (size_t)number);
    const json_t *list = json_object_get(tensor, "data");
    int64_t n = dt__elements(value->n_dims, value->shape);
    size_t bytes = dt_dtype_size(value->dtype);
    char name[64];
    snprintf(name, sizeof name, "tensors[%d].data", number);
    if (!json_is_array(list))
        return request_wrong(asked, name, "a list of numbers", list);
    if ((int64_t)json_array_size(list) != n)
        return dt__fail(asked->ctx, DT_ERR_SHAPE, "%s has %zu values; the shape has %" PRId64, name,
                        json_array_size(list), n);
    unsigned char *data = dt__arena_alloc(asked->arena, (size_t)n, bytes);
    if (!data)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if (!read_element(json_array_get(list, (size_t)i), value->dtype, data + (size_t)i * bytes))
            return request_wrong(asked, name, "numbers", json_array_get(list, (size_t)i));
    *out = data;
    return DT_OK;
}

dt_status request_data(const request *asked, const dt__placed_call *parts, const void ***out) {
    *out = DT__NEW_ARRAY(asked->arena, const void *, parts->call.n_inputs);
    if (!*out)
        return DT_ERR_MEMORY;
    for (int i = 0; i < parts->call.n_inputs; i++)
        DT__TRY(read_values(asked, parts->bound.inputs[i], &parts->call.inputs[i], &(*out)[i]));
    return DT_OK;
}

static void add_number(dt__text *out, double number, bool single) {
    if (isnan(number))
        json_add(out, "\"nan\"");
    else if (isinf(number))
        json_add(out, number > 0 ? "\"inf\"" : "\"-inf\"");
    else
        dt__text_add(out, single ? "%.9g" : "%.17g", number);
}

static void add_element(dt__text *out, dt_dtype dtype, const unsigned char *bytes) {
    const dt__element element = dt__element_read(dtype, bytes);
    const bool single = !dt__is_double_precision(dtype);
    if (dtype == DT_BOOL)
        json_add(out, element.i ? "true" : "false");
    else if (dt__is_integer(dtype))
        json_add_int(out, element.i);
    else if (!dt__is_complex(dtype))
        add_number(out, element.re, single);
    else {
        json_add(out, "[");
        add_number(out, element.re, single);
        json_add(out, ",");
        add_number(out, element.im, single);
        json_add(out, "]");
    }
}

void request_data_add(dt__text *out, dt_dtype dtype, const void *data, int64_t n) {
    const unsigned char *element = data;
    json_add(out, "[");
    for (int64_t i = 0; i < n; i++, element += dt_dtype_size(dtype)) {
        json_add(out, i ? "," : "");
        add_element(out, dtype, element);
    }
    json_add(out, "]");
}
