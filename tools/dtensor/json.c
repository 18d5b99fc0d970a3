/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON of the tools. Jansson encodes; this file decides which members a value has.
 */
#include "json.h"

#include "table.h"

#include <math.h>
#include <string.h>

json_t *string_json(const char *chars) {
    json_t *valid = json_string(chars);
    if (valid || !chars)
        return valid;
    size_t n = 0, length = strlen(chars);
    char *clean = malloc(3 * length + 1);
    if (!clean)
        return NULL;
    for (const char *p = chars; *p;) {
        size_t bytes = utf8_length(p);
        memcpy(clean + n, bytes ? p : "\xef\xbf\xbd", bytes ? bytes : 3);
        n += bytes ? bytes : 3;
        p += bytes ? bytes : 1;
    }
    json_t *string = json_stringn(clean, n);
    free(clean);
    return string;
}

json_t *number_json(double value) {
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    bool is_int = fabs(value) < 0x1p53 && value == trunc(value) && !(value == 0 && signbit(value));
    return is_int ? json_integer((json_int_t)value) : json_real(value);
}

void json_append(json_t **list, json_t *item) {
    if (!*list) {
        json_decref(item);
    } else if (json_array_append_new(*list, item)) {
        json_decref(*list);
        *list = NULL;
    }
}

static json_t *ints_json(const int64_t *values, int64_t n) {
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_append(&list, json_integer(values[i]));
    return list;
}

static json_t *placements_json(int n, const dt_placement *placements) {
    size_t capacity = dt_placements_text(n, placements, 0, NULL) + 1;
    char *text = malloc(capacity);
    if (!text)
        return NULL;
    dt_placements_text(n, placements, capacity, text);
    json_t *string = string_json(text);
    free(text);
    return string;
}

json_t *tuple_json(const dt_tuple *tuple) {
    if (dt_tuple_is_int(tuple))
        return json_integer(tuple->value);
    json_t *list = json_array();
    for (int64_t i = 0; i < tuple->n_items; i++)
        json_append(&list, tuple_json(&tuple->items[i]));
    return list;
}

json_t *layout_json(const dt__layout *layout) {
    return json_pack("{s:o, s:o}", "shape", tuple_json(&layout->shape), "stride", tuple_json(&layout->stride));
}

static json_t *mesh_shape_json(const dt_mesh *mesh) {
    json_t *list = json_array();
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++)
        json_append(&list, json_integer(dt_mesh_dim_size(mesh, dim)));
    return list;
}

static json_t *mesh_names_json(const dt_mesh *mesh) {
    if (dt_mesh_n_dims(mesh) == 0 || !dt_mesh_dim_name(mesh, 0))
        return json_null();
    json_t *list = json_array();
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++)
        json_append(&list, string_json(dt_mesh_dim_name(mesh, dim)));
    return list;
}

/* The ranks below one coordinate of the dims before `dim`, from *ranks on, which is moved past them. */
static json_t *nested_ranks_json(const dt_mesh *mesh, int dim, const int64_t **ranks) {
    int64_t size = dt_mesh_dim_size(mesh, dim);
    if (dim + 1 >= dt_mesh_n_dims(mesh)) {
        *ranks += size;
        return ints_json(*ranks - size, size);
    }
    json_t *list = json_array();
    for (int64_t i = 0; i < size; i++)
        json_append(&list, nested_ranks_json(mesh, dim + 1, ranks));
    return list;
}

/* buffer holds the ranks of one group. */
static json_t *groups_json(const dt_mesh *mesh, int64_t *buffer) {
    json_t *list = json_array();
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++) {
        dt_mesh_group_ranks(mesh, dim, buffer);
        json_append(&list, ints_json(buffer, dt_mesh_dim_size(mesh, dim)));
    }
    return list;
}

dt_status mesh_json(dt__arena *arena, const dt_mesh *mesh, json_t **out) {
    int64_t n = dt_mesh_size(mesh), coordinate[DT_MESH_MAX_DIMS];
    if (n > JSON_MAX_ITEMS)
        return dt__fail(arena->ctx, DT_ERR_UNSUPPORTED, "mesh: cannot list %lld ranks: expected at most %d",
                        (long long)n, (int)JSON_MAX_ITEMS);
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, n);
    dt__layout layout;
    if (!ranks)
        return DT_ERR_MEMORY;
    DT__TRY(dt__mesh_layout(arena, mesh, &layout));
    dt_mesh_ranks(mesh, ranks);
    const int64_t *next = ranks;
    json_t *nested = nested_ranks_json(mesh, 0, &next);
    bool inside = dt_mesh_coordinate(mesh, coordinate);
    *out =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "shape", mesh_shape_json(mesh), "names", mesh_names_json(mesh),
                  "ranks", nested, "coordinate", inside ? ints_json(coordinate, dt_mesh_n_dims(mesh)) : json_null(),
                  "groups", inside ? groups_json(mesh, ranks) : json_null(), "layout", layout_json(&layout));
    return *out ? DT_OK : dt__fail_memory(arena->ctx, 0, "an answer");
}

static json_t *step_json(const dt__plan_step *step) {
    json_t *mesh_dims = json_array();
    for (int i = 0; i < step->n_mesh_dims; i++)
        json_append(&mesh_dims, json_integer(step->mesh_dims[i]));
    return json_pack("{s:o, s:s, s:I, s:o}", "mesh_dims", mesh_dims, "collective",
                     dt__step_kind_name(step->collective), "bytes", (json_int_t)step->bytes, "cost_us",
                     number_json(step->cost_us));
}

json_t *plan_json(dt_ctx *ctx, const dt__plan *plan) {
    dt__text trace = dt__text_new(ctx);
    dt__plan_trace(plan, &trace);
    json_t *trace_string = trace.broken ? NULL : string_json(dt__text_chars(&trace)), *steps = json_array();
    dt__text_free(&trace);
    for (int i = 0; i < plan->n_steps; i++)
        json_append(&steps, step_json(&plan->steps[i]));
    return json_pack("{s:o, s:o, s:i, s:I, s:I, s:I, s:o}", "trace", trace_string, "steps", steps, "collectives",
                     plan->n_collectives, "bytes", (json_int_t)plan->bytes, "lower_bound_bytes",
                     (json_int_t)plan->lower_bound_bytes, "peak_bytes", (json_int_t)plan->peak_bytes, "cost_us",
                     number_json(plan->cost_us));
}

json_t *collectives_json(const int64_t *counts) {
    json_t *object = json_object();
    for (int c = DT__STEP_NONE + 1; object && c < DT__N_STEP_KINDS; c++)
        if (counts[c] && json_object_set_new(object, dt__step_kind_name((dt__step_kind)c), json_integer(counts[c]))) {
            json_decref(object);
            return NULL;
        }
    return object;
}

json_t *output_json(int n_dims, const int64_t *shape, dt_dtype dtype, json_t *placements) {
    return json_pack("{s:o, s:s, s:o}", "shape", ints_json(shape, n_dims), "dtype", dt_dtype_name(dtype),
                     "placements", placements);
}

static int append_chars(const char *chars, size_t n, void *out) {
    dt__text_add_chars(out, chars, n);
    return ((dt__text *)out)->broken ? -1 : 0;
}

static dt_status write_flagged(dt_ctx *ctx, json_t *value, size_t flags, int digits, dt__text *out) {
    flags |= JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION((size_t)digits);
    bool ok = value && json_dump_callback(value, append_chars, out, flags) == 0;
    json_decref(value);
    return ok ? DT_OK : dt__fail_memory(ctx, out->n_chars, "an answer");
}

dt_status json_write(dt_ctx *ctx, json_t *value, int digits, dt__text *out) {
    return write_flagged(ctx, value, 0, digits, out);
}

dt_status json_write_line(dt_ctx *ctx, json_t *value, dt__text *out) {
    DT__TRY(json_write(ctx, value, JSON_COST_DIGITS, out));
    dt__text_add(out, "\n");
    return DT_OK;
}

dt_status json_write_list(dt_ctx *ctx, json_t *members, const char *name, int64_t n, json_item_fn *item, void *user,
                          size_t max_bytes, dt__text *out) {
    bool first = json_object_size(members) == 0;
    dt__text_add(out, "{");
    DT__TRY(write_flagged(ctx, members, JSON_EMBED, JSON_COST_DIGITS, out));
    dt__text_add(out, "%s\"%s\":[", first ? "" : ",", name);
    for (int64_t i = 0; i < n; i++) {
        json_t *value = NULL;
        DT__TRY(item(user, i, &value));
        dt__text_add(out, i ? "," : "");
        DT__TRY(json_write(ctx, value, JSON_COST_DIGITS, out));
        if (out->n_chars > max_bytes)
            return dt__fail(ctx, DT_ERR_UNSUPPORTED, "the answer is larger than %zu bytes", max_bytes);
    }
    dt__text_add(out, "]}");
    return DT_OK;
}

/* The index ranges that a shard holds of one dim; NULL with *n_left < 0 where there are too many. */
static json_t *runs_json(const dt__shard *shard, int64_t *n_left) {
    json_t *list = json_array();
    for (int64_t i = 0; i < shard->size;) {
        dt_run run = dt__shard_run(shard, i);
        json_append(&list, ints_json((const int64_t[]){run.begin, run.end}, 2));
        i += run.end - run.begin;
        if (--*n_left < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

dt_status local_json(dt_ctx *ctx, const dt__sharding *sharding, const int64_t *coordinate, int64_t rank,
                     json_t **out) {
    int64_t shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS], n_left = JSON_MAX_ITEMS;
    json_t *runs = json_array();
    dt__sharding_local(sharding, coordinate, shape, offset);
    for (int dim = 0; dim < sharding->n_dims; dim++) {
        dt__shard shard;
        dt__shard_at(sharding, dim, coordinate, &shard);
        json_append(&runs, runs_json(&shard, &n_left));
    }
    if (n_left < 0)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "shard: rank %lld holds more than %d runs", (long long)rank,
                        (int)JSON_MAX_ITEMS);
    *out = json_pack("{s:I, s:o, s:o, s:o}", "rank", (json_int_t)rank, "shape", ints_json(shape, sharding->n_dims),
                     "offset", ints_json(offset, sharding->n_dims), "runs", runs);
    return *out ? DT_OK : dt__fail_memory(ctx, 0, "an answer");
}

json_t *moves_json(const dt__placed_call *placed, const dt__candidate *candidate, const dt__input_moves *moved) {
    const dt_op_call *call = &placed->call;
    json_t *inputs = json_array(), *outputs = json_array();
    for (int i = 0; i < call->n_inputs; i++)
        json_append(&inputs, placements_json(placed->n_mesh_dims, candidate->inputs[i]));
    for (int o = 0; o < call->n_outputs; o++)
        json_append(&outputs, output_json(call->outputs[o].n_dims, call->outputs[o].shape, call->outputs[o].dtype,
                                          placements_json(placed->n_mesh_dims, candidate->outputs[o])));
    return json_pack("{s:o, s:o, s:o, s:I, s:o}", "inputs", inputs, "outputs", outputs, "collectives",
                     collectives_json(moved->counts.of), "bytes", (json_int_t)moved->bytes, "cost_us",
                     number_json(candidate->cost_us));
}
