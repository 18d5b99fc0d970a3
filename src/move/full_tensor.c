/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the values of distributed tensors: dt_to_local, dt_full_tensor, dt_item.
 */
#include "base/dtype.h"
#include "base/options.h"
#include "comm/comm.h"
#include "move/move.h"

#include <math.h>
#include <string.h>

static dt_tensor *local_tensor(const dt_tensor *tensor) {
    dt_tensor *local =
        dt__tensor_plain(tensor->storage, &(dt__array_desc){tensor->dtype, tensor->local_n_dims, tensor->local_shape,
                                                            tensor->strides, dt__tensor_offset(tensor)});
    return dt__inherit_detached(local, tensor);
}

static bool is_gradient(const dt_placement *placement) {
    return placement->kind == DT_PLACEMENT_REPLICATE ||
           (placement->kind == DT_PLACEMENT_PARTIAL && (placement->reduce == DT_SUM || placement->reduce == DT_AVG));
}

dt_status dt__grad_place_parse(const char *op, const dt_spec *spec, const char *place, dt_spec **out) {
    *out = NULL;
    if (!place)
        return DT_OK;
    dt_spec *parsed = dt__spec_with(spec, spec->mesh, place);
    if (!parsed)
        return dt_error_status(spec->ctx);
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *own = &spec->sharding.placements[m], *stated = &parsed->sharding.placements[m];
        bool cut = dt__is_cut(own);
        if (cut ? dt_placement_equal(own, stated) : is_gradient(stated))
            continue;
        char expected[256], got[256];
        (void)dt_placements_text(1, own, sizeof expected, expected);
        (void)dt_placements_text(1, stated, sizeof got, got);
        dt_spec_release(parsed);
        return dt__fail(spec->ctx, DT_ERR_PLACEMENT, "%s: grad_place: mesh dim %d: expected %s, got %s", op, m,
                        cut ? expected : "R, P(sum) or P(avg)", got);
    }
    *out = parsed;
    return DT_OK;
}

dt_tensor *dt_to_local_sized(dt_tensor *tensor, const dt_to_local_options *options, size_t options_size) {
    dt_to_local_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "to_local", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options)
        return NULL;
    if (!tensor || !tensor->spec)
        return tensor;
    dt_spec *grad_spec;
    if (dt__grad_place_parse("to_local", tensor->spec, options->grad_place, &grad_spec) != DT_OK)
        return NULL;
    dt_tensor *result = dt__made_with_grad("to_local", tensor, local_tensor(tensor), grad_spec);
    dt_spec_release(grad_spec);
    return result;
}

dt_tensor *dt__full_tensor(dt_tensor *tensor) {
    if (!tensor->spec)
        return tensor;
    dt_spec *replicate = dt__spec_with(tensor->spec, tensor->spec->mesh, NULL);
    dt_tensor *replicated = replicate ? dt__tensor_redistribute(tensor, replicate, DT__PLANNER_DIRECT) : NULL;
    dt_spec_release(replicate);
    if (!replicated)
        return NULL;
    dt_tensor *result = local_tensor(replicated);
    dt_drop(replicated);
    return result;
}

dt_tensor *dt_full_tensor_sized(dt_tensor *tensor, const dt_full_tensor_options *options, size_t options_size) {
    dt_full_tensor_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "full_tensor", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options)
        return NULL;
    if (!tensor || !tensor->spec)
        return tensor;
    if (!dt__noted_read(tensor, &(dt__call_details){.text = options->grad_place}))
        return NULL;
    dt_spec *grad_spec, *replicate = dt__spec_with(tensor->spec, tensor->spec->mesh, NULL);
    dt_tensor *result = NULL;
    if (replicate && dt__grad_place_parse("full_tensor", replicate, options->grad_place, &grad_spec) == DT_OK) {
        result = dt__made_with_grad("full_tensor", tensor, dt__full_tensor(tensor), grad_spec);
        dt_spec_release(grad_spec);
    }
    dt_spec_release(replicate);
    return result;
}

/* Copies the only element of a tensor; false if this rank does not have it, perhaps with an error recorded. */
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
    if (tensor->ctx->is_dry) {
        (void)dt__fail(tensor->ctx, DT_ERR_STATE, "%s: a decomposition reads a value while it is planned", op);
        return false;
    }
    if (!dt__has_data(tensor->ctx)) {
        (void)dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED, "%s: tensors have no data on the fake transport", op);
        return false;
    }
    dt_tensor *full = dt__check_current(tensor) == DT_OK ? dt__full_tensor(tensor) : NULL;
    bool found = full && full->data && dt_tensor_elements(full) == 1;
    if (found && dt__is_idle(tensor->ctx, full->data)) {
        dt__write_f64(full->dtype, tensor->ctx->estimate->options.value, element);
        dt__estimate_notes_add(tensor->ctx, DT__STAND_IN, op);
    } else if (found)
        memcpy(element, full->data, dt_dtype_size(full->dtype));
    if (full != tensor)
        dt_drop(full);
    return found;
}

double dt_item_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "item", site);
    tensor = dt__noted_read(tensor, NULL);
    unsigned char element[16];
    return read_item(tensor, "item", element) ? dt__read_f64(tensor->dtype, element) : (double)NAN;
}

int64_t dt_item_i64_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "item_i64", site);
    tensor = dt__noted_read(tensor, NULL);
    unsigned char element[16];
    if (tensor && !dt__is_integral(tensor->dtype)) {
        (void)dt__fail(tensor->ctx, DT_ERR_DTYPE, "item_i64: expected an integer dtype, got %s",
                       dt_dtype_name(tensor->dtype));
        return 0;
    }
    return read_item(tensor, "item_i64", element) ? dt__read_i64(tensor->dtype, element) : 0;
}
