/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_params_open: a list of parameters from files that others wrote. Every rank reads the headers, derives the same
 * list from them and the map, makes the parameters where the rules place them, and reads its shards. The ranks meet
 * when the headers are read, and when the data is.
 */
#include "train/train.h"

#include "base/dtype.h"
#include "base/hash.h"
#include "base/options.h"
#include "train/name_map.h"

#include <string.h>

static const dt__exchange_call open_call = {.name = "params_open", .has_text = true};

struct opening {
    dt_ctx *ctx;
    const dt_params_open_options *options;
    dt__arena arena;
    dt__file_call call;
    dt__stored_files files;
    dt__mapped_params mapped;
};

static uint64_t hash_text(const char *text, uint64_t hash) {
    return text ? dt__hash(text, strlen(text), hash) : dt__hash_u64(1, hash);
}

/* params_open("gpt2", mesh=mesh(tp=2), map=gpt2, dtype=f64) */
static dt_status describe(struct opening *o) {
    const dt_params_open_options *options = o->options;
    if (!o->call.group)
        return DT_OK;
    dt__text text = dt__text_new(o->ctx);
    dt__text_add(&text, "params_open(\"%s\", mesh=mesh(%s)", o->call.path, dt_mesh_text(options->mesh));
    if (options->map)
        dt__text_add(&text, ", map=%.*s", (int)strcspn(options->map, "\n"), options->map);
    if (options->dtype)
        dt__text_add(&text, ", dtype=%s", dt_dtype_name(options->dtype));
    dt__text_add(&text, ")");
    const uint64_t hash = hash_text(options->map, hash_text(options->rules, dt_mesh_fingerprint(options->mesh)));
    dt_status status = dt__file_call_describe(&o->call, &text, hash);
    dt__text_free(&text);
    return status;
}

static dt_status read_headers(struct opening *o, const dt__name_map *map) {
    DT__TRY(dt__stored_files_open(&o->files, &o->call, &o->arena));
    return dt__name_map_apply(map, &o->arena, &o->files, &o->mapped);
}

/* What the parameter is stored as: floating-point numbers may be converted. */
static dt_dtype dtype_of(const struct opening *o, const dt__mapped_param *param) {
    const dt_dtype stored = param->entry->tensor->dtype->dtype;
    return o->options->dtype && dt__is_float(stored) ? o->options->dtype : stored;
}

static dt_shape shape_of(const dt__mapped_param *param) { return (dt_shape){param->n_dims, param->shape}; }

static dt_tensor *make(const struct opening *o, dt_params *params, const dt__mapped_param *param) {
    if (!param->tied)
        return dt_param(params, param->name, shape_of(param), .dtype = dtype_of(o, param));
    const dt_tensor *other = dt_params_get(params, param->tied);
    return other ? dt_param(params, param->name, ((dt_shape){other->n_dims, other->shape}), .tied = param->tied)
                 : NULL;
}

static dt_status make_all(const struct opening *o, dt_params *params) {
    for (int i = 0; i < o->mapped.n; i++)
        if (!make(o, params, &o->mapped.params[i]))
            return dt_error_status(o->ctx);
    return DT_OK;
}

static dt_status read_all(struct opening *o, const dt_params *params) {
    for (int i = 0; i < o->mapped.n; i++) {
        const dt__mapped_param *param = &o->mapped.params[i];
        if (!param->tied)
            DT__TRY(dt__stored_read(&o->files, param->entry, param->window, dt_params_tensor(params, i)));
    }
    return DT_OK;
}

static void drop_all(dt_params *params) {
    for (int i = 0; i < dt_params_n(params); i++) {
        bool is_tied = false;
        for (int k = 0; k < i; k++)
            is_tied = is_tied || dt_params_tensor(params, k) == dt_params_tensor(params, i);
        if (!is_tied)
            dt_drop(dt_params_tensor(params, i));
    }
    dt_params_free(params);
}

static dt_params *run(struct opening *o) {
    dt__name_map map;
    const dt_params_open_options *options = o->options;
    if ((options->map && dt__name_map_parse(&o->arena, options->map, &map) != DT_OK) || describe(o) != DT_OK ||
        dt__file_call_meet(&o->call, read_headers(o, options->map ? &map : NULL)) != DT_OK)
        return NULL;
    dt_params *params =
        dt_params_new(o->ctx, .mesh = options->mesh, .rules = options->rules, .dtype = options->dtype);
    if (!params)
        return NULL;
    dt_status status = make_all(o, params);
    if (status == DT_OK)
        status = dt__file_call_meet(&o->call, read_all(o, params));
    if (status == DT_OK)
        return params;
    drop_all(params);
    return NULL;
}

dt_params *dt_params_open_sized(dt_ctx *ctx, const char *path, const dt_params_open_options *options,
                                size_t options_size) {
    dt_params_open_options full;
    DT__ENTER_OPTIONS(ctx, "params_open", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !ctx || !options)
        return NULL;
    if (!path) {
        (void)dt__fail(ctx, DT_ERR_VALUE, "argument 2 is NULL: expected a path");
        return NULL;
    }
    if (options->mesh && (!DT__LIVE(DT__KIND_MESH, options->mesh) ||
                          !dt__check_context(ctx, "params_open", "mesh", dt_mesh_ctx(options->mesh))))
        return NULL;
    if (options->dtype && !dt__is_float(options->dtype)) {
        (void)dt__fail(ctx, DT_ERR_DTYPE, "dtype: expected f64, f32, f16 or bf16, got %s",
                       dt_dtype_name(options->dtype));
        return NULL;
    }
    struct opening opening = {.ctx = ctx, .options = options, .arena = dt__arena_new(ctx)};
    dt_params *params =
        dt__file_call_begin(&opening.call, ctx, &open_call, path, options->mesh) == DT_OK ? run(&opening) : NULL;
    dt__stored_files_close(&opening.files);
    dt__file_call_end(&opening.call);
    dt__arena_free(&opening.arena);
    return params;
}
