/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing the values of distributed tensors: dt_to_local, dt_full_tensor, dt_item, dt_assign.
 */
#include "base/dtype.h"
#include "base/options.h"
#include "comm/comm.h"
#include "kernels/kernels.h"
#include "move/move.h"

#include <math.h>
#include <string.h>

static dt_tensor *local_tensor(const dt_tensor *tensor) {
    dt_tensor *local =
        dt__tensor_plain(tensor->storage, &(dt__array_desc){tensor->dtype, tensor->local_n_dims, tensor->local_shape,
                                                            tensor->strides, dt__tensor_offset(tensor)});
    if (local)
        local->requires_grad = tensor->requires_grad;
    return local;
}

dt_tensor *dt_to_local_sized(dt_tensor *tensor, const dt_to_local_options *options, size_t options_size) {
    dt_to_local_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "to_local", options, options_size, &full);
    if (!options)
        return NULL;
    if (!tensor || !tensor->spec)
        return tensor;
    dt__recorded(tensor, NULL);
    return local_tensor(tensor);
}

dt_tensor *dt_full_tensor_sized(dt_tensor *tensor, const dt_full_tensor_options *options, size_t options_size) {
    dt_full_tensor_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "full_tensor", options, options_size, &full);
    if (!options)
        return NULL;
    if (!tensor || !tensor->spec)
        return tensor;
    dt__recorded(tensor, NULL);
    dt_spec *replicate = dt__spec_with(tensor->spec, tensor->spec->mesh, NULL);
    dt_tensor *replicated = replicate ? dt__tensor_redistribute(tensor, replicate, DT__PLANNER_DIRECT) : NULL;
    dt_spec_release(replicate);
    if (!replicated)
        return NULL;
    dt_tensor *result = local_tensor(replicated);
    dt_drop(replicated);
    return result;
}

/* Copies the only element of a tensor; false where this rank has none, perhaps with an error recorded. */
static bool read_item(dt_tensor *tensor, const char *op, unsigned char element[16]) {
    if (!tensor)
        return false;
    if (dt_tensor_elements(tensor) != 1) {
        char text[512];
        (void)dt_tensor_text(tensor, sizeof text, text);
        (void)dt__fail(tensor->ctx, DT_ERR_SHAPE, "%s: %s: expected 1 element, got %lld", op, text,
                       (long long)dt_tensor_elements(tensor));
        return false;
    }
    if (!dt__has_data(tensor->ctx)) {
        (void)dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED, "%s: tensors have no data on the fake transport", op);
        return false;
    }
    dt_tensor *full = dt_full_tensor(tensor);
    bool found = full && full->data && dt_tensor_elements(full) == 1;
    if (found)
        memcpy(element, full->data, dt_dtype_size(full->dtype));
    if (full != tensor)
        dt_drop(full);
    return found;
}

double dt_item_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "item", site);
    dt__recorded(tensor, NULL);
    unsigned char element[16];
    return read_item(tensor, "item", element) ? dt__read_f64(tensor->dtype, element) : (double)NAN;
}

int64_t dt_item_i64_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "item_i64", site);
    dt__recorded(tensor, NULL);
    unsigned char element[16];
    if (tensor && !dt__is_integral(tensor->dtype)) {
        (void)dt__fail(tensor->ctx, DT_ERR_DTYPE, "item_i64: expected an integer dtype, got %s",
                       dt_dtype_name(tensor->dtype));
        return 0;
    }
    return read_item(tensor, "item_i64", element) ? dt__read_i64(tensor->dtype, element) : 0;
}

/* The source as a tensor that can be copied into dst: full, or distributed. */
static dt_tensor *align_source(dt_tensor *dst, dt_tensor *src) {
    if (!dst->spec)
        return dt_full_tensor(src);
    if (!src->spec)
        return dt_distribute_tensor(src, dst->spec->mesh, NULL, .everywhere = true);
    return src;
}

static bool same_shape(const dt_tensor *a, const dt_tensor *b) {
    return a->n_dims == b->n_dims && memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof *a->shape) == 0;
}

static void copy_local(dt_tensor *dst, const dt_tensor *src) {
    if (!dst->data || !src->data)
        return;
    dt__array to = {dst->data, dst->dtype, dst->local_n_dims, dst->local_shape, dst->strides};
    dt__array from = {src->data, src->dtype, src->local_n_dims, src->local_shape, src->strides};
    dt__convert(dt__kernels_of(dst->ctx), dt__pool_of(dst->ctx), &to, &from);
}

/* Both are distributed: redistributes the source to dst's spec, converts and copies. */
static dt_status assign_distributed(dt_tensor *dst, dt_tensor *src) {
    bool convertible = dt__converts_partials(src->spec, dst->dtype), first = convertible && dst->dtype != src->dtype;
    if (!convertible)
        DT__TRY(dt__refuse_partial_target("assign", dst->spec, src->dtype, dst->dtype));
    dt_tensor *converted = first ? dt__tensor_convert(src, dst->dtype) : src;
    if (!converted)
        return dt_error_status(dst->ctx);
    dt_spec *to = dt__spec_with_dtype(dst->spec, converted->dtype);
    dt_tensor *moved = to ? dt__tensor_redistribute(converted, to, DT__PLANNER_DIRECT) : NULL;
    dt_spec_release(to);
    if (converted != src)
        dt_drop(converted);
    if (!moved)
        return dt_error_status(dst->ctx);
    copy_local(dst, moved);
    dt_drop(moved);
    return DT_OK;
}

dt_status dt_assign_site(dt_tensor *dst, dt_tensor *src, const dt_site *site) {
    DT__ENTER(dt_tensor_ctx(dst ? dst : src), "assign", site);
    dst = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, dst, 1);
    src = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, src, 2);
    dt_ctx *ctx = dst ? dst->ctx : src ? src->ctx : NULL;
    if (!dst || !src) {
        (void)dt__null_argument(ctx, "assign", dst ? 2 : 1);
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    }
    if (!dt__check_context(ctx, "assign", "source", src->ctx))
        return DT_ERR_STATE;
    dt__recorded(dst->spec ? dst : src, &(dt__call_details){.other = dst->spec ? src->spec : NULL});
    if (!same_shape(dst, src)) {
        char to[512], from[512];
        (void)dt_tensor_text(dst, sizeof to, to);
        (void)dt_tensor_text(src, sizeof from, from);
        return dt__fail(ctx, DT_ERR_SHAPE, "assign: the shapes differ: expected that of %s, got %s", to, from);
    }
    DT__TRY(dt__check_writable(dst, "assign"));
    dt_tensor *clone = dt_tensor_shares(dst, src) ? dt_clone(src) : NULL;
    dt_tensor *aligned = clone || !dt_tensor_shares(dst, src) ? align_source(dst, clone ? clone : src) : NULL;
    dt_status status = DT_OK;
    if (!aligned)
        status = dt_error_status(ctx);
    else if (dst->spec)
        status = assign_distributed(dst, aligned);
    else
        copy_local(dst, aligned);
    if (aligned && aligned != src && aligned != clone)
        dt_drop(aligned);
    dt_drop(clone);
    if (status == DT_OK)
        dst->storage->version++;
    return status;
}
