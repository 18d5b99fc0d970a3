/* SPDX-License-Identifier: Apache-2.0
 *
 * Values to parts.
 */
#include "run_inputs.h"
#include "base/dtype.h"

#include "move/move.h"
#include "ops/shape_inference.h"
#include "split.h"
#include "tensor/tensor.h"

#include <string.h>

/* Which part of a partial this rank has. */
typedef struct part {
    split how;
    int64_t place;
    bool partial;
} part;

static part find_part(const dt__sharding *placed, const int64_t *coordinate, dt_dtype dtype, int number) {
    part out = {.how = {.reduce = DT_SUM, .dtype = dtype, .n = 1, .n_averaged = 1, .seed = (uint64_t)number + 1}};
    for (int m = 0; m < placed->n_mesh_dims; m++) {
        const dt_placement *p = &placed->placements[m];
        if (!dt_placement_is_partial(*p))
            continue;
        out.partial = true;
        out.how.n *= placed->mesh[m];
        out.place = out.place * placed->mesh[m] + coordinate[m];
        if (p->reduce == DT_AVG)
            out.how.n_averaged *= placed->mesh[m];
        else
            out.how.reduce = p->reduce;
    }
    return out;
}

static void take_part(const part *which, const unsigned char *value, int64_t element, unsigned char *out) {
    dt_dtype dtype = which->how.dtype;
    if (dt__is_complex(dtype)) {
        dt_dtype real = dtype == DT_C64 ? DT_F32 : DT_F64;
        size_t bytes = dt_dtype_size(real);
        split how = which->how;
        how.dtype = real;
        for (int i = 0; i < 2; i++)
            dt__write_f64(
                real,
                split_number(&how, dt__read_f64(real, value + (size_t)i * bytes), 2 * element + i, which->place),
                out + (size_t)i * bytes);
    } else if (dt__is_integral(dtype)) {
        int64_t whole = (int64_t)dt__read_f64(dtype, value);
        if (dtype == DT_I64)
            memcpy(&whole, value, sizeof whole);
        uint64_t taken = (uint64_t)split_whole(&which->how, whole, element, which->place);
        memcpy(out, &taken, dt_dtype_size(dtype)); /* little-endian: the low bytes, which wrap */
    } else
        dt__write_f64(dtype, split_number(&which->how, dt__read_f64(dtype, value), element, which->place), out);
}

/* This rank's share of the value: all of it, or its part of a partial. Plain. */
static dt_tensor *share_of(dt_ctx *ctx, const dt_op_value *value, const void *data, const part *which) {
    dt_tensor *share = dt_from_memory(ctx, data, (dt_shape){value->n_dims, value->shape}, value->dtype);
    size_t bytes = dt_dtype_size(value->dtype);
    const unsigned char *from = data;
    for (int64_t i = 0; share && which->partial && i < dt_tensor_elements(share); i++)
        take_part(which, from + (size_t)i * bytes, i, share->data + (size_t)i * bytes);
    return share;
}

static dt_spec *spec_of(dt_mesh *mesh, const dt_op_value *value, int n, const dt_placement *placements) {
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = value->dtype,
                                             .n_dims = value->n_dims,
                                             .shape = value->shape,
                                             .n_placements = n,
                                             .placements = placements});
}

/* From the share to what the placements leave of it on this rank. */
static dt_tensor *place(dt_mesh *mesh, const dt_op_value *value, const dt__sharding *placed, dt_tensor *share) {
    dt_placement everywhere[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    dt_placement cut[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    int n = placed->n_mesh_dims;
    for (int m = 0; m < n; m++)
        if (!dt_placement_is_partial(placed->placements[m]))
            cut[m] = placed->placements[m];
    dt_spec *from = spec_of(mesh, value, n, everywhere), *to = spec_of(mesh, value, n, cut);
    dt_spec *asked = spec_of(mesh, value, n, placed->placements);
    dt_tensor *result = from && to && asked ? dt__tensor_of_spec(asked) : NULL;
    if (result &&
        dt__redistribute_run(&(dt__redistribution){
            .from = from, .to = to, .src = share->data, .dst = result->data, .planner = DT__PLANNER_DIRECT}) != DT_OK)
        result = NULL;
    dt_spec_release(from);
    dt_spec_release(to);
    dt_spec_release(asked);
    return result;
}

dt_status run_inputs(dt_mesh *mesh, const dt__placed_call *parts, const void *const *data, dt_tensor **inputs) {
    dt_ctx *ctx = dt_mesh_ctx(mesh);
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    (void)dt_mesh_coordinate(mesh, coordinate);
    for (int i = 0; i < parts->call.n_inputs; i++) {
        const dt_op_value *value = &parts->call.inputs[i];
        int number = parts->bound.inputs[i];
        inputs[i] = NULL;
        for (int k = 0; k < i && !inputs[i]; k++)
            if (parts->bound.inputs[k] == number)
                inputs[i] = inputs[k]; /* the same tensor again */
        if (inputs[i])
            continue;
        part which = find_part(parts->inputs[i], coordinate, value->dtype, number);
        dt_tensor *share = share_of(ctx, value, data[i], &which);
        inputs[i] = share ? place(mesh, value, parts->inputs[i], share) : NULL;
        if (!inputs[i])
            return dt_error_status(ctx);
    }
    return DT_OK;
}
