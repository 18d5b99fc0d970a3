/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_params_save: the way back from dt_params_open. The map is read from right to left: parts that its lines cut from
 * one tensor are transposed back and joined in the order of the lines. How files are written is up to checkpoints.
 */
#include "train/checkpoint_view.h"

#include "base/dtype.h"
#include "base/options.h"
#include "base/size.h"
#include "train/name_map.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PARTS = 16 };

struct exporting {
    dt_ctx *ctx;
    const dt_params *from;
    dt_params *to;
    const dt__name_map *map;
    dt_dtype dtype; /* of floating-point numbers; 0: theirs */
    bool *is_saved; /* of each parameter */
};

/* The layers are those that dt_params_open will count: one more than the highest that a name has. */
static int64_t count_layers(const struct exporting *e) {
    int64_t n = 0;
    for (int i = 0; i < dt_params_n(e->from); i++)
        for (int l = 0; l < e->map->n_lines; l++) {
            const dt__map_line *line = &e->map->lines[l];
            const int64_t layer = line->has_star ? dt__map_layer(line->to, dt_params_name(e->from, i)) : -1;
            if (layer < dt_params_n(e->from))
                n = dt__max_i64(n, layer + 1);
        }
    return n;
}

/* The parameter that a line makes; -1: there is none. */
static int find_param(const struct exporting *e, const char *name) {
    for (int i = 0; i < dt_params_n(e->from); i++)
        if (!strcmp(dt_params_name(e->from, i), name))
            return i;
    return -1;
}

/* The dim of the tensor in the file that the line cuts. */
static int cut_dim(const dt__map_line *line) {
    int d = 0;
    while (d < line->n_ranges - 1 && !line->ranges[d].is_given)
        d++;
    return d;
}

static dt_tensor *converted(const struct exporting *e, dt_tensor *tensor) {
    const bool changes = e->dtype && tensor && dt__is_float(tensor->dtype) && tensor->dtype != e->dtype;
    return changes ? dt_to(tensor, e->dtype) : tensor;
}

static dt_status fail_missing(const struct exporting *e, const char *to, const char *from) {
    return dt__fail(e->ctx, DT_ERR_VALUE, "the map does not fit: there is no parameter '%.200s', for '%.200s'", to,
                    from);
}

/* The parts of a tensor of the file; line `first` has the first one. None where the tensor is absent and may
 * be: all parts are missing, or those that exist are tied. */
static dt_status collect_parts(struct exporting *e, int first, int64_t layer, const char *from,
                               dt_tensor *parts[MAX_PARTS], int *n) {
    char to[DT__MAP_NAME_BYTES], missing[DT__MAP_NAME_BYTES] = "";
    bool may_be_absent = true;
    *n = 0;
    for (int l = first; l < e->map->n_lines; l++) {
        const dt__map_line *line = &e->map->lines[l];
        if (strcmp(line->from, e->map->lines[first].from) != 0)
            continue;
        dt__map_expand(line->to, layer, to);
        const int i = find_param(e, to);
        if (i < 0) {
            may_be_absent = may_be_absent && (line->is_optional || line->tied);
            (void)snprintf(missing, sizeof missing, "%s", to);
            continue;
        }
        const dt__param_entry entry = dt__params_entry(e->from, i);
        e->is_saved[i] = true;
        if (entry.tied && line->tied)
            continue;
        if (*n == MAX_PARTS)
            return dt__fail(e->ctx, DT_ERR_VALUE, "the map does not fit: '%.200s' has more than %d parts", from,
                            MAX_PARTS);
        parts[(*n)++] = line->transposed ? dt_transpose(entry.tensor, -2, -1) : entry.tensor;
    }
    return missing[0] && (*n || !may_be_absent) ? fail_missing(e, missing, from) : DT_OK;
}

static bool is_first_part(const dt__name_map *map, int l) {
    for (int k = 0; k < l; k++)
        if (!strcmp(map->lines[k].from, map->lines[l].from))
            return false;
    return true;
}

static dt_status export_line(struct exporting *e, int l, int64_t layer) {
    const dt__map_line *line = &e->map->lines[l];
    char name[DT__MAP_NAME_BYTES];
    dt_tensor *parts[MAX_PARTS];
    int n;
    if (!is_first_part(e->map, l))
        return DT_OK;
    dt__map_expand(line->from, layer, name);
    DT__TRY(collect_parts(e, l, layer, name, parts, &n));
    if (n == 0)
        return DT_OK;
    const dt_tensors all = {n, parts};
    dt_tensor *tensor = converted(e, n == 1 ? parts[0] : dt_cat(all, .dim = DT_INT(cut_dim(line))));
    return tensor ? dt__params_append(e->to, name, tensor) : dt_error_status(e->ctx);
}

/* In the order of the map; lines with a star that follow each other, layer by layer. */
static dt_status export_all(struct exporting *e) {
    const int64_t n_layers = count_layers(e);
    for (int begin = 0, end; begin < e->map->n_lines; begin = end) {
        const bool has_star = e->map->lines[begin].has_star;
        for (end = begin + 1; end < e->map->n_lines && has_star && e->map->lines[end].has_star;)
            end++;
        for (int64_t layer = 0; layer < (has_star ? n_layers : 1); layer++)
            for (int l = begin; l < end; l++)
                DT__TRY(export_line(e, l, layer));
    }
    for (int i = 0; i < dt_params_n(e->from); i++)
        if (!e->is_saved[i])
            return dt__fail(e->ctx, DT_ERR_VALUE, "the map does not fit: it does not name the parameter '%s'",
                            dt_params_name(e->from, i));
    return DT_OK;
}

/* Without a map. */
static dt_status export_names(struct exporting *e) {
    for (int i = 0; i < dt_params_n(e->from); i++) {
        const dt__param_entry entry = dt__params_entry(e->from, i);
        dt_tensor *tensor = converted(e, entry.tensor);
        if (!tensor)
            return dt_error_status(e->ctx);
        if (!entry.tied)
            DT__TRY(dt__params_append(e->to, entry.name, tensor));
    }
    return DT_OK;
}

static dt_status save(struct exporting *e, dt__arena *arena, const char *folder, const dt_params_save_options *o) {
    dt__name_map map;
    if (o->map)
        DT__TRY(dt__name_map_parse(arena, o->map, &map));
    e->map = &map;
    e->is_saved = DT__NEW_ARRAY(arena, bool, dt_params_n(e->from));
    e->to = e->is_saved ? dt_params_new(e->ctx, .mesh = dt__params_mesh(e->from)) : NULL;
    if (!e->to)
        return dt_error_status(e->ctx);
    dt_status status = o->map ? export_all(e) : export_names(e);
    if (status == DT_OK)
        status = dt__save_files(e->to, folder, o->file_bytes.value, o->unsynced);
    dt_params_free(e->to);
    return status;
}

dt_status dt_params_save_sized(dt_params *params, const char *folder, const dt_params_save_options *options,
                               size_t options_size) {
    dt_params_save_options full;
    DT__ENTER_OPTIONS(dt__params_ctx(params), "params_save", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    params = DT__LIVE(DT__KIND_PARAMS, params);
    if (!params || !options)
        return DT_ERR_STATE;
    dt_ctx *ctx = dt__params_ctx(params);
    if (options->dtype && !dt__is_float(options->dtype))
        return dt__fail(ctx, DT_ERR_DTYPE, "dtype: expected f64, f32, f16 or bf16, got %s",
                        dt_dtype_name(options->dtype));
    DT__TRY(dt__params_check(params));
    dt__arena arena = dt__arena_new(ctx);
    dt_scope scope = dt_scope_begin(ctx);
    dt__training_setting setting = dt__training_begin(ctx);
    dt_comm_policy(ctx, DT_COMM_ALLOW); /* of the scope: parts are joined where they are */
    struct exporting exporting = {.ctx = ctx, .from = params, .dtype = options->dtype};
    dt_status status = save(&exporting, &arena, folder, options);
    dt__training_end(&setting);
    dt_scope_end(scope);
    dt__arena_free(&arena);
    return status;
}
