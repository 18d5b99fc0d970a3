/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading values of distributed tensors, and writing them: dt_to_local, dt_full_tensor, dt_item, dt_assign.
 */
#include "base/dtype.h"
#include "base/options.h"
#include "comm/comm.h"
#include "kernels/kernels.h"
#include "move/move.h"

#include <math.h>
#include <string.h>

static dt_tensor *local_part(const dt_tensor *tensor) {
    dt_tensor *local =
        dt__tensor_plain(tensor->storage, &(dt__array_desc){tensor->dtype, tensor->local_n_dims, tensor->local_shape,
                                                            tensor->strides, dt__tensor_offset(tensor)});
    if (local)
        local->requires_grad = tensor->requires_grad;
    return local;
}

dt_tensor *dt_to_local_sized(dt_tensor *tensor, const dt_to_local_options *options, size_t options_size) {
    dt_to_local_options full;
    options = DT__OPTIONS(dt_tensor_ctx(tensor), "to_local", options, options_size, &full);
    if (!options)
        return NULL;
    if (!tensor || !tensor->spec)
        return tensor;
    return local_part(tensor);
}

dt_tensor *dt_full_tensor_sized(dt_tensor *tensor, const dt_full_tensor_options *options, size_t options_size) {
    dt_full_tensor_options full;
    options = DT__OPTIONS(dt_tensor_ctx(tensor), "full_tensor", options, options_size, &full);
    if (!options)
        return NULL;
    if (!tensor || !tensor->spec)
        return tensor;
    const char *before = dt__call_begin(tensor->ctx, "full_tensor");
    dt_spec *whole = dt__spec_with(tensor->spec, tensor->spec->mesh, NULL);
    dt_tensor *everywhere = whole ? dt__tensor_redistribute(tensor, whole, DT__PLANNER_DIRECT) : NULL;
    dt_spec_release(whole);
    dt__call_end(tensor->ctx, before);
    if (!everywhere)
        return NULL;
    dt_tensor *result = local_part(everywhere);
    dt_drop(everywhere);
    return result;
}

/* The element of a tensor that has one, in memory of the caller; false, perhaps with an error recorded, where there
 * is none here. */
static bool read_item(dt_tensor *tensor, const char *op, unsigned char element[16]) {
    if (!tensor)
        return false;
    if (dt_tensor_elements(tensor) != 1) {
        char text[512];
        (void)dt_tensor_text(tensor, sizeof text, text);
        (void)dt__fail(tensor->ctx, DT_ERR_SHAPE, "%s: %s has %lld elements; it must be one", op, text,
                       (long long)dt_tensor_elements(tensor));
        return false;
    }
    if (!dt__has_data(tensor->ctx)) {
        (void)dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED, "%s: tensors have no data on the fake transport", op);
        return false;
    }
    const char *before = dt__call_begin(tensor->ctx, op);
    dt_tensor *whole = dt_full_tensor(tensor);
    dt__call_end(tensor->ctx, before);
    bool here = whole && whole->data && dt_tensor_elements(whole) == 1;
    if (here)
        memcpy(element, whole->data, dt_dtype_size(whole->dtype));
    if (whole != tensor)
        dt_drop(whole);
    return here;
}

double dt_item(dt_tensor *tensor) {
    unsigned char element[16];
    return read_item(tensor, "item", element) ? dt__read_f64(tensor->dtype, element) : (double)NAN;
}

int64_t dt_item_i64(dt_tensor *tensor) {
    unsigned char element[16];
    if (tensor && !dt__is_integral(tensor->dtype)) {
        (void)dt__fail(tensor->ctx, DT_ERR_DTYPE, "item_i64: %s is no integer", dt_dtype_name(tensor->dtype));
        return 0;
    }
    return read_item(tensor, "item_i64", element) ? dt__read_i64(tensor->dtype, element) : 0;
}

/* The source as it is to be copied into dst, element by element: under dst's placements. */
static dt_tensor *bring(dt_tensor *dst, dt_tensor *src) {
    if (!dst->spec)
        return dt_full_tensor(src);
    if (!src->spec)
        return dt_distribute_tensor(src, dst->spec->mesh, NULL, .everywhere = true);
    return src;
}

static bool same_shape(const dt_tensor *a, const dt_tensor *b) {
    return a->n_dims == b->n_dims && memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof *a->shape) == 0;
}

static void copy_part(dt_tensor *dst, const dt_tensor *src) {
    if (!dst->data || !src->data)
        return;
    dt__array to = {dst->data, dst->dtype, dst->local_n_dims, dst->local_shape, dst->strides};
    dt__array from = {src->data, src->dtype, src->local_n_dims, src->local_shape, src->strides};
    dt__convert(dt__kernels_of(dst->ctx), dt__pool_of(dst->ctx), &to, &from);
}

/* src has dst's mesh and no spec of its own kind any more: towards dst's spec, convert and copy. */
static dt_status assign_distributed(dt_tensor *dst, dt_tensor *src) {
    bool parts = dt__converts_partials(src->spec, dst->dtype), first = parts && dst->dtype != src->dtype;
    if (!parts)
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
    copy_part(dst, moved);
    dt_drop(moved);
    return DT_OK;
}

dt_status dt_assign(dt_tensor *dst, dt_tensor *src) {
    dt_ctx *ctx = dst ? dst->ctx : src ? src->ctx : NULL;
    if (!dst || !src) {
        (void)dt__null_argument(ctx, "assign", dst ? 2 : 1);
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    }
    if (!dt__check_context(ctx, "assign", "source", src->ctx))
        return DT_ERR_STATE;
    if (!same_shape(dst, src)) {
        char to[512], from[512];
        (void)dt_tensor_text(dst, sizeof to, to);
        (void)dt_tensor_text(src, sizeof from, from);
        return dt__fail(ctx, DT_ERR_SHAPE, "assign: %s cannot be assigned to %s; the shapes differ", from, to);
    }
    DT__TRY(dt__check_writable(dst, "assign"));
    const char *before = dt__call_begin(ctx, "assign");
    dt_tensor *clone = dt_tensor_shares(dst, src) ? dt_clone(src) : NULL;
    dt_tensor *brought = clone || !dt_tensor_shares(dst, src) ? bring(dst, clone ? clone : src) : NULL;
    dt_status status = DT_OK;
    if (!brought)
        status = dt_error_status(ctx);
    else if (dst->spec)
        status = assign_distributed(dst, brought);
    else
        copy_part(dst, brought);
    dt__call_end(ctx, before);
    if (brought && brought != src && brought != clone)
        dt_drop(brought);
    dt_drop(clone);
    if (status == DT_OK)
        dst->storage->version++;
    return status;
}
