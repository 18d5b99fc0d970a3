/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_print and dt_format: collect the elements to show. How they are written is in tensor/format.c. From a distributed
 * tensor each rank copies the shown elements that it holds into a row of its own. These rows form a small distributed
 * tensor with one row per distinct shard and the partials of the tensor; moving it to the first rank reduces it like
 * any redistribution. There each element is read from the row of the shard that holds it.
 */
#include "base/options.h"
#include "base/size.h"
#include "move/move.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool cuts(const dt_placement *p) { return dt_placement_is_shard(*p) || dt_placement_is_strided(*p); }

/* [shards,shown] on the tensor's mesh: mesh dims that shard the tensor shard the rows. */
static dt_spec *rows_spec(const dt_spec *spec, const dt__shown *shown) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *p = &spec->sharding.placements[m];
        placements[m] = cuts(p) ? dt_placement_shard(0) : *p;
    }
    return dt_spec_new(spec->mesh, &(dt_spec_desc){.dtype = spec->dtype,
                                                   .n_dims = 2,
                                                   .shape = (const int64_t[]){spec->n_shards, shown->elements},
                                                   .n_placements = spec->sharding.n_mesh_dims,
                                                   .placements = placements});
}

/* The spec of those rows on the mesh's first rank alone. */
static dt_spec *collected_spec(const dt_spec *rows) {
    const int64_t zeros[DT_SPEC_MAX_DIMS] = {0}, one = 1;
    int64_t first = dt_mesh_rank_at(rows->mesh, zeros);
    dt_mesh *mesh = dt_mesh_from_ranks(rows->ctx, &first, &one, 1, NULL);
    dt_spec *spec = mesh ? dt__spec_with(rows, mesh, "R") : NULL;
    dt_mesh_release(mesh);
    return spec;
}

static bool next_shown(const dt__shown *shown, int64_t *index) {
    for (int d = shown->n_dims - 1; d >= 0; d--) {
        if (++index[d] < shown->sizes[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static void global_index(const dt__shown *shown, const int64_t *index, int64_t *out) {
    for (int d = 0; d < shown->n_dims; d++)
        out[d] = dt__shown_index(shown, d, index[d]);
}

/* This rank's row: the shown elements that it holds; the rest is never read. */
static void fill_row(const dt_tensor *tensor, const dt__shown *shown, unsigned char *row) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, global[DT_SPEC_MAX_DIMS], local[DT_SPEC_MAX_DIMS];
    int64_t coordinate[DT_SPEC_MAX_DIMS], n = 0;
    size_t bytes = dt_dtype_size(tensor->dtype);
    memset(row, 0, (size_t)shown->elements * bytes);
    (void)dt_mesh_coordinate(tensor->spec->mesh, coordinate);
    do {
        global_index(shown, index, global);
        if (dt_spec_to_local(tensor->spec, coordinate, global, local)) {
            int64_t at = 0;
            for (int d = 0; d < tensor->n_dims; d++)
                at += local[d] * tensor->strides[d];
            memcpy(row + (size_t)n * bytes, tensor->data + at * (int64_t)bytes, bytes);
        }
        n++;
    } while (next_shown(shown, index));
}

/* The row of a shard: mesh dims that shard the tensor shard the rows from left to right. */
static int64_t row_of(const dt_spec *spec, const int64_t *owner) {
    int64_t row = 0;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++)
        if (cuts(&spec->sharding.placements[m]))
            row = row * spec->sharding.mesh[m] + owner[m];
    return row;
}

/* Collects the shown elements in the first row. */
static void pick(const dt_spec *spec, const dt__shown *shown, unsigned char *rows) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, global[DT_SPEC_MAX_DIMS], owner[DT_SPEC_MAX_DIMS], n = 0;
    size_t bytes = dt_dtype_size(spec->dtype);
    do {
        global_index(shown, index, global);
        (void)dt_spec_owners(spec, global, owner);
        memmove(rows + (size_t)n * bytes, rows + (size_t)(row_of(spec, owner) * shown->elements + n) * bytes, bytes);
        n++;
    } while (next_shown(shown, index));
}

/* The shown elements, on the first rank of the mesh; elsewhere a tensor without elements. */
static dt_tensor *collect(dt_tensor *tensor, const dt__shown *shown) {
    dt_spec *rows = rows_spec(tensor->spec, shown), *collected = rows ? collected_spec(rows) : NULL;
    dt_tensor *mine = collected ? dt__tensor_of_spec(rows) : NULL, *all = NULL;
    if (mine) {
        if (mine->data && rows->local.elements)
            fill_row(tensor, shown, mine->data);
        all = dt__tensor_redistribute(mine, collected, DT__PLANNER_DIRECT);
        dt_drop(mine);
    }
    if (all && all->data)
        pick(tensor->spec, shown, all->data);
    dt_spec_release(rows);
    dt_spec_release(collected);
    return all;
}

/* "rank 2 holds f32[2,4] from (4,0) of f32[8,4] S(0),R on mesh(dp=2,tp=2)" */
static void add_local_head(dt__text *text, const dt_tensor *tensor) {
    char shape[512], offset[512];
    const dt_local *local = &tensor->spec->local;
    dt__text_add(text, "rank %lld holds %s[%s] from (%s) of ", (long long)tensor->ctx->rank,
                 dt_dtype_name(tensor->dtype), dt__shape_text(local->n_dims, local->shape, sizeof shape, shape),
                 dt__shape_text(local->n_dims, local->offset, sizeof offset, offset));
}

static void add_head(dt__text *text, const dt_tensor *tensor) {
    size_t n = dt_tensor_text(tensor, 0, NULL);
    char *head = dt__alloc(tensor->ctx, n + 1);
    if (!head) {
        text->broken = true;
        return;
    }
    (void)dt_tensor_text(tensor, n + 1, head);
    dt__text_add(text, "%s\n", head);
    dt__free(tensor->ctx, head, n + 1);
}

/* A plain tensor, or a local one. */
static dt_status add_array(dt__text *text, const dt_tensor *tensor, const dt_print_options *o) {
    dt__shown shown;
    if (!dt__shown_of(tensor->local_n_dims, tensor->local_shape, o, &shown))
        return dt__fail(tensor->ctx, DT_ERR_SHAPE, "print: the number of elements to show overflows 64 bits");
    size_t bytes = (size_t)shown.elements * dt_dtype_size(tensor->dtype);
    void *elements = bytes ? dt__alloc(tensor->ctx, bytes) : NULL;
    if (bytes && !elements)
        return dt__fail_memory(tensor->ctx, bytes, "a text");
    if (bytes)
        dt__shown_copy(&shown, dt_dtype_size(tensor->dtype), tensor->data, tensor->strides, elements);
    dt__format(text, &shown, tensor->dtype, elements, o);
    dt__free(tensor->ctx, elements, bytes);
    return DT_OK;
}

static dt_status add_distributed(dt__text *text, dt_tensor *tensor, const dt_print_options *o) {
    dt__shown shown;
    const int64_t zeros[DT_SPEC_MAX_DIMS] = {0};
    bool writes = dt_mesh_rank_at(tensor->spec->mesh, zeros) == tensor->ctx->rank;
    if (!dt__shown_of(tensor->n_dims, tensor->shape, o, &shown))
        return dt__fail(tensor->ctx, DT_ERR_SHAPE, "print: the number of elements to show overflows 64 bits");
    if (writes)
        add_head(text, tensor);
    dt_tensor *all = shown.elements ? collect(tensor, &shown) : NULL;
    if (shown.elements && !all)
        return dt_error_status(tensor->ctx);
    if (writes)
        dt__format(text, &shown, tensor->dtype, all ? all->data : NULL, o);
    dt_drop(all);
    return DT_OK;
}

static dt_status add_tensor(dt__text *text, dt_tensor *tensor, const dt_print_options *options) {
    dt_print_options o = dt__print_defaults(options);
    DT__TRY(dt__check_current(tensor));
    if (!dt__has_data(tensor->ctx) || dt__is_idle(tensor->ctx, tensor->data)) {
        add_head(text, tensor);
        dt__text_add(text, "(no data)");
    } else if (!tensor->spec) {
        DT__TRY(add_array(text, tensor, &o));
    } else if (!o.local) {
        DT__TRY(add_distributed(text, tensor, &o));
    } else if (tensor->spec->local.member) {
        add_local_head(text, tensor);
        add_head(text, tensor);
        DT__TRY(add_array(text, tensor, &o));
    }
    return dt__text_status(text);
}

char *dt_format_sized(dt_tensor *tensor, const dt_print_options *options, size_t options_size) {
    dt_print_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "format", options, options_size, &full);
    if (!options)
        return NULL;
    if (!dt__noted_read(tensor, NULL))
        return NULL;
    dt__text text = dt__text_new(tensor->ctx);
    char *result = NULL;
    if (add_tensor(&text, tensor, options) == DT_OK) {
        result = strdup(dt__text_chars(&text));
        if (!result)
            (void)dt__fail_memory(tensor->ctx, text.n_chars + 1, "a text");
    }
    dt__text_free(&text);
    return result;
}

dt_status dt_print_sized(dt_tensor *tensor, const dt_print_options *options, size_t options_size) {
    dt_print_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "print", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    if (!tensor)
        return DT_ERR_VALUE;
    if (!dt__noted_read(tensor, NULL))
        return dt_error_status(tensor->ctx);
    dt__text text = dt__text_new(tensor->ctx);
    dt_status status = add_tensor(&text, tensor, options);
    if (status == DT_OK && text.n_chars > 0) {
        dt__text_add(&text, "\n");
        status = dt__text_status(&text);
    }
    if (status == DT_OK && text.n_chars > 0 &&
        (fwrite(text.chars, 1, text.n_chars, stdout) != text.n_chars || fflush(stdout) != 0))
        status = dt__fail_local(tensor->ctx, DT_ERR_SYSTEM, "print: cannot write to standard output");
    dt__text_free(&text);
    return status;
}
