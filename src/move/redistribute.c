/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_redistribute and its two halves: handles, dtypes and specs; executor.c works on raw memory.
 */
#include "move/move.h"

#include "base/dtype.h"
#include "base/near_miss.h"
#include "base/options.h"
#include "kernels/kernels.h"
#include "move/prepared_move.h"

#include <string.h>

dt_spec *dt__spec_with(const dt_spec *spec, dt_mesh *mesh, const char *place) {
    dt_placement everywhere[DT_SPEC_MAX_DIMS]; /* 3 KB, which are written only where they are used */
    const int n = place ? 0 : dt_mesh_n_dims(mesh);
    for (int m = 0; m < n; m++)
        everywhere[m] = dt_placement_replicate();
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = spec->dtype,
                                             .n_dims = spec->sharding.n_dims,
                                             .shape = spec->sharding.shape,
                                             .text = place,
                                             .n_placements = n,
                                             .placements = place ? NULL : everywhere,
                                             .others = spec->mesh == mesh ? spec->sharding.placements : NULL,
                                             .stride_order = spec->stride_order});
}

dt_spec *dt__spec_with_dtype(const dt_spec *spec, dt_dtype dtype) {
    return dt_spec_new(spec->mesh, &(dt_spec_desc){.dtype = dtype,
                                                   .n_dims = spec->sharding.n_dims,
                                                   .shape = spec->sharding.shape,
                                                   .n_placements = spec->sharding.n_mesh_dims,
                                                   .placements = spec->sharding.placements,
                                                   .stride_order = spec->stride_order});
}

bool dt__converts_partials(const dt_spec *spec, dt_dtype dtype) {
    bool alike = spec->dtype == dtype || (dt__is_float(spec->dtype) && dt__is_inexact(dtype)) ||
                 (dt__is_complex(spec->dtype) && dt__is_complex(dtype));
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *placement = &spec->sharding.placements[m];
        if (dt_placement_is_partial(*placement) && (!alike || !dt_reduce_allowed(dtype, placement->reduce)))
            return false;
    }
    return true;
}

dt_tensor *dt__tensor_convert(const dt_tensor *tensor, dt_dtype dtype) {
    dt_tensor *to;
    if (tensor->spec) {
        dt_spec *spec = dt__spec_with_dtype(tensor->spec, dtype);
        to = spec ? dt__tensor_of_spec(spec) : NULL;
        dt_spec_release(spec);
    } else {
        to = dt__tensor_new(tensor->ctx, "to", dtype, tensor->n_dims, tensor->shape);
    }
    if (to && to->data && tensor->data)
        dt__convert(
            dt__kernels_of(tensor->ctx), dt__pool_of(tensor->ctx),
            &(dt__array){to->data, to->dtype, to->local_n_dims, to->local_shape, to->strides},
            &(dt__array){tensor->data, tensor->dtype, tensor->local_n_dims, tensor->local_shape, tensor->strides});
    return to;
}

static dt__redistribution redistribution_of(dt_tensor *tensor, dt_tensor *to, dt__planner planner) {
    return (dt__redistribution){.from = tensor->spec,
                                .to = to->spec,
                                .src = tensor->data,
                                .src_strides = tensor->strides,
                                .dst = to->data,
                                .planner = planner};
}

static dt_tensor *redistribute(dt_tensor *tensor, dt_spec *to, dt__planner planner, const dt__step_counts *counts) {
    if (dt__check_current(tensor) != DT_OK)
        return NULL;
    if (tensor->spec == to)
        return dt__tensor_alias(tensor);
    dt_tensor *result = dt__tensor_of_spec(to);
    if (!result)
        return NULL;
    dt__redistribution redistribution = redistribution_of(tensor, result, planner);
    redistribution.counts = counts;
    if (dt__redistribute_run(&redistribution) != DT_OK) {
        dt_drop(result);
        return NULL;
    }
    return result;
}

dt_tensor *dt__tensor_redistribute(dt_tensor *tensor, dt_spec *to, dt__planner planner) {
    return redistribute(tensor, to, planner, NULL);
}

dt_tensor *dt__tensor_move(dt_tensor *tensor, dt_spec *to, const dt__step_counts *counts) {
    return redistribute(tensor, to, DT__PLANNER_DIRECT, counts);
}

/* A call with its options resolved. */
struct request {
    dt_tensor *source; /* converted, where that comes first */
    dt_spec *to;       /* a reference; NULL after a failure, which is recorded */
    dt__planner planner;
    bool convert_after;
    dt_dtype dtype, grad_dtype;
};

dt_status dt__refuse_partial_target(const char *op, const dt_spec *to, dt_dtype from, dt_dtype dtype) {
    for (int m = 0; m < to->sharding.n_mesh_dims; m++)
        if (dt_placement_is_partial(to->sharding.placements[m]))
            return dt__fail(
                to->ctx, DT_ERR_PLACEMENT,
                "%s: mesh dim %d: contributions to a partial of %s cannot be converted to %s one by one: expected "
                "a target that is not partial",
                op, m, dt_dtype_name(from), dt_dtype_name(dtype));
    return DT_OK;
}

static struct request resolve(dt_tensor *tensor, const char *place, const dt_redistribute_options *o) {
    struct request request = {.source = tensor, .planner = DT__PLANNER_DIRECT};
    if (dt__check_current(tensor) != DT_OK)
        return request;
    if (!tensor->spec) {
        char text[256];
        (void)dt_tensor_text(tensor, sizeof text, text);
        (void)dt__fail(tensor->ctx, DT_ERR_PLACEMENT,
                       "redistribute: %s is a plain tensor; dt_distribute_tensor places it on a mesh", text);
        return request;
    }
    if (o->planner && !dt__planner_parse(o->planner, &request.planner)) {
        char names[80];
        dt__near_miss near = dt__near_miss_new(o->planner);
        dt__near_miss_add_list(&near, dt__planner_names(sizeof names, names));
        (void)dt__fail(tensor->ctx, DT_ERR_VALUE, "redistribute: planner: expected %s, got %s%s", names, o->planner,
                       dt__near_miss_hint(&near));
        return request;
    }
    if (o->dtype && dt_dtype_size(o->dtype) == 0) {
        (void)dt__fail(tensor->ctx, DT_ERR_DTYPE, "redistribute: dtype: expected a dt_dtype, got %d", (int)o->dtype);
        return request;
    }
    if (o->grad_dtype &&
        !(dt__is_complex(tensor->dtype) ? dt__is_complex(o->grad_dtype) : dt__is_float(o->grad_dtype))) {
        (void)dt__fail(tensor->ctx, DT_ERR_DTYPE, "redistribute: grad_dtype: expected a %s dtype, got %s",
                       dt__is_complex(tensor->dtype) ? "complex" : "floating-point",
                       dt_dtype_size(o->grad_dtype) ? dt_dtype_name(o->grad_dtype) : "an unknown one");
        return request;
    }
    request.grad_dtype = o->grad_dtype;
    if (o->mesh && !DT__LIVE(DT__KIND_MESH, o->mesh))
        return request;
    if (o->mesh && !dt__check_context(tensor->ctx, "redistribute", "mesh", dt_mesh_ctx(o->mesh)))
        return request;
    dt_spec *to = dt__spec_with(tensor->spec, o->mesh ? o->mesh : tensor->spec->mesh, place);
    request.dtype = o->dtype ? o->dtype : tensor->dtype;
    if (!to || request.dtype == tensor->dtype) {
        request.to = to;
        return request;
    }
    request.convert_after = !dt__converts_partials(tensor->spec, request.dtype);
    if (request.convert_after) {
        if (dt__refuse_partial_target("redistribute", to, tensor->dtype, request.dtype) == DT_OK)
            request.to = to;
        else
            dt_spec_release(to);
        return request;
    }
    request.source = dt__tensor_convert(tensor, request.dtype);
    request.to = request.source ? dt__spec_with_dtype(to, request.dtype) : NULL;
    dt_spec_release(to);
    return request;
}

/* The result in the requested dtype; drops temporary tensors. */
static dt_tensor *finish(const struct request *request, const dt_tensor *tensor, dt_tensor *result) {
    if (request->source != tensor)
        dt_drop(request->source);
    if (!result || !request->convert_after)
        return result;
    dt_tensor *converted = dt__tensor_convert(result, request->dtype);
    dt_drop(result);
    return converted;
}

/* With the dtype of the gradient, where that was set. */
static dt_tensor *record(const struct request *request, const dt_tensor *tensor, dt_tensor *result) {
    int64_t dtype = request->grad_dtype;
    return dt__made_from("redistribute", tensor, result, dtype != 0, &dtype);
}

dt_tensor *dt_redistribute_sized(dt_tensor *tensor, const char *place, const dt_redistribute_options *options,
                                 size_t options_size) {
    dt_redistribute_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "redistribute", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options)
        return NULL;
    if (!dt__noted_read(tensor, &(dt__call_details){.text = place, .mesh = options->mesh}))
        return NULL;
    struct request request = resolve(tensor, place, options);
    dt_tensor *result = request.to ? dt__tensor_redistribute(request.source, request.to, request.planner) : NULL;
    dt_spec_release(request.to);
    return record(&request, tensor, finish(&request, tensor, result));
}

struct dt_transfer {
    dt__lifetime life;
    dt_ctx *ctx;
    struct request request;
    dt_tensor *tensor, *result; /* held */
    dt__execution *execution;   /* NULL: nothing moves */
    uint64_t version;           /* of the source's storage at the start */
};

static void free_transfer(dt_transfer *transfer) {
    dt_ctx *ctx = transfer->ctx;
    dt__freed_queue *freed = &dt__executor_of(ctx)->freed_transfers;
    dt_tensor_release(transfer->result);
    dt_tensor_release(transfer->request.source);
    dt_tensor_release(transfer->tensor);
    dt_spec_release(transfer->request.to);
    DT__LIFE_END(freed, transfer);
    dt__owned_free(ctx, dt__freed_pop(freed, ctx, sizeof *transfer));
}

dt_transfer *dt_redistribute_start_sized(dt_tensor *tensor, const char *place, const dt_redistribute_options *options,
                                         size_t options_size) {
    dt_redistribute_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "redistribute_start", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options)
        return NULL;
    if (!dt__noted_read(tensor, &(dt__call_details){.text = place, .mesh = options->mesh}))
        return NULL;
    struct request request = resolve(tensor, place, options);
    if (!request.to) {
        (void)finish(&request, tensor, NULL);
        return NULL;
    }
    bool same = request.to == request.source->spec;
    dt_tensor *result = same ? dt__tensor_alias(request.source) : dt__tensor_of_spec(request.to);
    dt_transfer *transfer =
        result && dt__executor_of(tensor->ctx) ? dt__owned_new(tensor->ctx, sizeof *transfer, "a transfer") : NULL;
    if (!transfer) {
        dt_drop(result);
        dt_spec_release(request.to);
        (void)finish(&request, tensor, NULL);
        return NULL;
    }
    *transfer = (dt_transfer){.ctx = tensor->ctx,
                              .request = request,
                              .tensor = dt_tensor_retain(tensor),
                              .result = dt_tensor_retain(result),
                              .version = request.source->storage->version};
    dt__life_begin(&transfer->life, tensor->ctx);
    dt_tensor_retain(request.source);
    if (same)
        return transfer;
    dt__redistribution redistribution = redistribution_of(request.source, result, request.planner);
    transfer->execution = dt__redistribute_start(&redistribution);
    if (!transfer->execution) {
        if (request.source != tensor)
            dt_drop(request.source);
        dt_drop(result);
        free_transfer(transfer);
        return NULL;
    }
    return transfer;
}

dt_status dt_transfer_test_site(dt_transfer *transfer, const dt_site *site) {
    DT__ENTER(transfer ? transfer->ctx : NULL, "transfer_test", site);
    transfer = DT__LIVE(DT__KIND_TRANSFER, transfer);
    if (!transfer)
        return DT_ERR_STATE;
    return transfer->execution ? dt__redistribute_test(transfer->execution) : DT_OK;
}

dt_tensor *dt_transfer_wait_site(dt_transfer *transfer, const dt_site *site) {
    DT__ENTER(transfer ? transfer->ctx : NULL, "transfer_wait", site);
    transfer = DT__LIVE(DT__KIND_TRANSFER, transfer);
    if (!transfer)
        return NULL;
    dt_status refusal = DT__REFUSAL(), status = DT_OK; /* the transfer is finished and freed all the same */
    if (transfer->execution)
        status = dt__redistribute_wait(transfer->execution);
    if (status == DT_OK)
        status = refusal;
    if (status == DT_OK && transfer->request.source->storage->version != transfer->version)
        status = dt__fail(transfer->tensor->ctx, DT_ERR_STATE,
                          "redistribute: the tensor was changed between the start and the wait");
    struct request request = transfer->request;
    dt_tensor *result = dt__scope_take(transfer->result);
    if (request.source != transfer->tensor)
        dt_drop(dt__scope_take(request.source));
    dt_tensor *converted = NULL;
    if (status == DT_OK && request.convert_after)
        converted = dt__tensor_convert(result, request.dtype);
    if (status != DT_OK || request.convert_after) {
        dt_drop(result);
        result = converted;
    }
    result = record(&request, transfer->tensor, result);
    free_transfer(transfer);
    return result;
}
