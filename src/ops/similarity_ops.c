/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors along a dim, divided by their norms: cosine_similarity and normalize; and rearrangements of channels and
 * pixels. They consist of other ops and have the rows of these.
 */
#include "dtensor/autograd.h"
#include "dtensor/ops.h"
#include "dtensor/tensor.h"
#include "ops/op_families.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

static dt_status finished(const dt_op_call *call, dt_tensor *result, dt_tensor **outputs) {
    outputs[0] = result;
    return result ? DT_OK : dt_error_status(call->ctx);
}

/* cosine_similarity: positions in .arguments; normalize has its p after them. */
enum { DIM, EPS, P };

static dt_status shape_cosine(dt_op_call *call) {
    dt__shape shape, out = {0};
    int dim;
    DT__TRY(dt__refuse_complex(call));
    for (int i = 0; i < 2; i++)
        DT__TRY(dt__expect_floating(call, i));
    DT__TRY(dt__broadcast(call, 3, &shape));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, shape.n, &dim));
    for (int d = 0; d < shape.n; d++)
        if (d != dim)
            out.sizes[out.n++] = shape.sizes[d];
    return dt__add_shape(call, dt__promote_call(call, 3, 2), &out);
}

/* A tensor as it is broadcast to the other, its norms, and it divided by norms of at least eps. */
typedef struct unit_vectors {
    dt_tensor *x, *norm, *bounded, *unit;
} unit_vectors;

static unit_vectors divide_by_norm(const dt_op_call *call, dt_tensor *x) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    int n = a->n_dims > b->n_dims ? a->n_dims : b->n_dims;
    const int64_t dim = dt__wrap_dim(dt__arg_at(call, DIM)->as.i, n);
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n; d++) {
        int da = d - (n - a->n_dims), db = d - (n - b->n_dims);
        sizes[d] = da < 0 || (db >= 0 && a->shape[da] == 1) ? b->shape[db] : a->shape[da];
    }
    dt_dims dims = {.n = n > 0, .list = &dim};
    unit_vectors out = {.x = dt_expand(x, ((dt_shape){n, sizes}))};
    out.norm = out.x ? dt_linalg_vector_norm(out.x, .ord = DT_NUMBER(2.0), .dim = dims, .keepdim = true) : NULL;
    out.bounded = out.norm ? dt_clamp_min(out.norm, dt__arg_at(call, EPS)->as.f) : NULL;
    out.unit = out.bounded ? dt_div(out.x, out.bounded) : NULL;
    return out;
}

/* The same numbers, which gradients of gradients see as if there were no bound. */
static void forget_bound(unit_vectors *of) {
    of->bounded = dt_add(of->norm, dt_detach(dt_sub(of->bounded, of->norm)));
    of->unit = dt_div(of->x, of->bounded);
}

static dt_status decompose_cosine(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    unit_vectors a = divide_by_norm(call, inputs[0]), b = divide_by_norm(call, inputs[1]);
    int n = a.unit && b.unit ? (int)dt_tensor_n_dims(a.unit) : 0;
    const int64_t dim = dt__wrap_dim(dt__arg_at(call, DIM)->as.i, n);
    dt_dims dims = {.n = n > 0, .list = &dim};
    return finished(call, a.unit && b.unit ? dt_sum(dt_mul(a.unit, b.unit), .dim = dims) : NULL, outputs);
}

/* Of the first tensor: grad (unit of the other - result x / norm) / bounded norm. The bound has no effect on how the
 * norm is derived. */
static dt_status cosine_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    unit_vectors of[2];
    for (int i = 0; i < 2; i++) {
        of[i] = divide_by_norm(op, call->inputs[i]);
        if (of[i].unit && dt_requires_grad(of[i].norm))
            forget_bound(&of[i]);
        if (!of[i].unit)
            return dt_error_status(op->ctx);
    }
    int n = (int)dt_tensor_n_dims(of[0].unit);
    int64_t dim = dt__wrap_dim(dt__arg_at(op, DIM)->as.i, n);
    dt_tensor *product = dt_mul(of[0].unit, of[1].unit);
    dt_dims dims = {.n = n > 0, .list = &dim};
    dt_tensor *result = dt_sum(product, .dim = dims, .keepdim = true);
    dt_tensor *grad = n ? dt_unsqueeze(call->grads[0], dim) : call->grads[0];
    for (int i = 0; i < 2; i++) {
        if (!call->needed[i])
            continue;
        dt_tensor *zero = dt_eq_scalar(of[i].norm, 0);
        dt_tensor *along = dt_masked_fill(dt_div(of[i].x, of[i].norm), zero, 0);
        dt_tensor *across = dt_sub(of[1 - i].unit, dt_mul(result, along));
        input_grads[i] = dt_div(dt_mul(grad, across), of[i].bounded);
        if (!input_grads[i])
            return dt_error_status(op->ctx);
    }
    return DT_OK;
}

const dt_op dt__op_cosine_similarity = {
    .schema = "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    .summary = "Products of vectors along a dim, divided by their norms, which count as eps at least.",
    .rule = "...[dim!], ...[dim!] -> ...",
    .arguments = "dim,eps",
    .varying = "eps",
    .shape = shape_cosine,
    .decompose = decompose_cosine,
    .backward = cosine_backward,
    .saves = "x1,x2",
    .samples = "cosine_similarity(f32[5,3]; f32[5,3])\ncosine_similarity(f32[5,3]; f32[5,3]; 0)\n"
               "cosine_similarity(f32[2,5,3]; f32[5,3]; -1; 0.5)",
};

static dt_status shape_normalize(dt_op_call *call) {
    int ignored;
    DT__TRY(dt__expect_floating(call, 0));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims, &ignored));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status decompose_normalize(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const int64_t dim = dt__arg_at(call, DIM)->as.i;
    dt_dims dims = {.n = call->inputs[0].n_dims > 0, .list = &dim};
    dt_tensor *norm =
        dt_linalg_vector_norm(inputs[0], .ord = DT_NUMBER(dt__arg_at(call, P)->as.f), .dim = dims, .keepdim = true);
    dt_tensor *bounded = norm ? dt_clamp_min(norm, dt__arg_at(call, EPS)->as.f) : NULL;
    return finished(call, bounded ? dt_div(inputs[0], bounded) : NULL, outputs);
}

const dt_op dt__op_normalize = {
    .schema = "normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor",
    .summary = "Vectors along a dim, divided by their p-norms, which count as eps at least.",
    .rule = "...[dim!] -> ...[dim]",
    .arguments = "dim,eps,p",
    .varying = "eps",
    .shape = shape_normalize,
    .decompose = decompose_normalize,
    .samples = "normalize(f32[5,3])\nnormalize(f32[5,3]; 1.0; 0)",
};

/* pixel_shuffle and pixel_unshuffle, the inverse: channels in blocks of r x r become pixels. */
static dt_status shape_shuffle(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    const int64_t r = call->args[1].as.i;
    const bool inverse = call->op->family;
    dt__shape shape = {.n = self->n_dims};
    if (self->n_dims < 3 || r < 1 || r > (int64_t)1 << 15)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "expected at least 3 dims and a factor of at least 1, got %d dims and %" PRId64,
                            self->n_dims, r);
    memcpy(shape.sizes, self->shape, (size_t)self->n_dims * sizeof *shape.sizes);
    int64_t *of = shape.sizes + shape.n - 3;
    if (inverse ? of[1] % r || of[2] % r : of[0] % (r * r))
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            inverse ? "height and width: expected multiples of %" PRId64 ", got %" PRId64
                                      " and %" PRId64
                                    : "channels: expected a multiple of the square of %" PRId64 ", got %" PRId64,
                            r, of[!inverse ? 0 : 1], of[2]);
    for (int i = 0; i < 3; i++) {
        int64_t factor = i == 0 ? r * r : r;
        of[i] = (i == 0) == inverse ? of[i] * factor : of[i] / factor;
    }
    return dt__add_made(call, self->dtype, shape.n, shape.sizes);
}

static dt_status decompose_shuffle(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *self = &call->inputs[0], *out = &call->outputs[0];
    const int64_t r = call->args[1].as.i;
    const bool inverse = call->op->family;
    const int lead = self->n_dims - 3;
    const int64_t *in = self->shape + lead, *to = out->shape + lead;
    int64_t sizes[DT_SPEC_MAX_DIMS + 2], order[DT_SPEC_MAX_DIMS + 2];
    if (self->n_dims + 2 > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "expected at most %d dims", DT_SPEC_MAX_DIMS - 2);
    const int64_t apart[2][5] = {{to[0], r, r, in[1], in[2]}, {in[0], to[1], r, to[2], r}};
    static const int places[2][5] = {{0, 3, 1, 4, 2}, {0, 2, 4, 1, 3}};
    for (int d = 0; d < lead; d++) {
        sizes[d] = self->shape[d];
        order[d] = d;
    }
    for (int d = 0; d < 5; d++) {
        sizes[lead + d] = apart[inverse][d];
        order[lead + d] = lead + places[inverse][d];
    }
    dt_dims dims = {.n = lead + 5, .list = order};
    dt_tensor *blocks = dt_reshape(inputs[0], ((dt_shape){lead + 5, sizes}));
    dt_tensor *moved = blocks ? dt_permute(blocks, dims) : NULL;
    return finished(call, moved ? dt_reshape(moved, ((dt_shape){out->n_dims, out->shape})) : NULL, outputs);
}

#define SHUFFLE(name, argument, inverse_)                                                                            \
    .schema = name "(Tensor self, int " argument ") -> Tensor", .rule = "...c!h!w! -> ...chw",                       \
    .partial = DT_PARTIAL_ANY, .shape = shape_shuffle, .decompose = decompose_shuffle, .family = inverse_

const dt_op dt__op_pixel_shuffle = {
    SHUFFLE("pixel_shuffle", "upscale_factor", NULL),
    .summary = "Channels in blocks of r x r as pixels: c r^2, h, w becomes c, h r, w r.",
    .samples = "pixel_shuffle(f32[8,3,2]; 2)\npixel_shuffle(f32[2,9,1,2]; 3)",
};
const dt_op dt__op_pixel_unshuffle = {
    SHUFFLE("pixel_unshuffle", "downscale_factor", "inverse"),
    .summary = "Blocks of r x r pixels as channels: c, h r, w r becomes c r^2, h, w.",
    .samples = "pixel_unshuffle(f32[2,6,4]; 2)\npixel_unshuffle(f32[2,1,3,6]; 3)",
};

/* prelu: the weight is one number, or one per channel, dim 1. */
static dt_status shape_prelu(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *weight = &call->inputs[1];
    int64_t n = dt__elements(weight->n_dims, weight->shape), channels = self->n_dims > 1 ? self->shape[1] : 1;
    DT__TRY(dt__refuse_complex(call));
    for (int i = 0; i < 2; i++)
        DT__TRY(dt__expect_floating(call, i));
    if (weight->n_dims > 1 || (n != 1 && n != channels))
        return dt_op_refuse(call, DT_ERR_SHAPE, "weight: expected 1 or %" PRId64 " numbers, got %" PRId64, channels,
                            n);
    return dt__add_like(call, 0, self->dtype);
}

static bool has_channels(const dt_op_call *call) {
    const dt_op_value *weight = &call->inputs[1];
    return weight->n_dims == 1 && weight->shape[0] != 1;
}

static void rows_prelu(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        dt_rows_add(
            rows, 0,
            (dt_row_entry[]){DT_ROW_S(d), d == 1 && has_channels(call) ? DT_ROW_S(0) : DT_ROW_R, DT_ROW_S(d)});
    dt_rows_reduce(rows, 2, DT_AVG, DT_AVG); /* affine in the weight */
}

/* The weight as it is broadcast to the elements. */
static dt_status prelu(dt_op_call *call) {
    dt__array self = dt__array_of(&call->inputs[0]), weight = dt__array_of(&call->inputs[1]);
    dt__array out = dt__array_of(&call->outputs[0]);
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < self.n_dims; d++) {
        bool channel = d == 1 && weight.n_dims == 1 && call->inputs[1].global_shape[0] != 1;
        shape[d] = self.shape[d];
        strides[d] = channel ? weight.strides[0] : 0;
    }
    dt__array repeated = {weight.data, weight.dtype, self.n_dims, shape, strides};
    return dt__run_elements(call, DT__EL_PRELU, out.dtype, &out, &self, &repeated, NULL);
}

static dt_status prelu_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *self = &call->call->inputs[0], *weight = &call->call->inputs[1];
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < self->n_dims; d++)
        sizes[d] = d == 1 && has_channels(call->call) ? weight->shape[0] : 1;
    dt_tensor *grad = call->grads[0], *x = call->inputs[0], *positive = dt_gt_scalar(x, 0);
    if (call->needed[0]) {
        dt_tensor *slope = dt_reshape(call->inputs[1], ((dt_shape){self->n_dims, sizes}));
        input_grads[0] = dt_where(positive, grad, dt_mul(grad, slope));
    }
    if (call->needed[1]) {
        int64_t others[DT_SPEC_MAX_DIMS];
        dt_dims dims = {.n = 0, .list = others};
        for (int d = 0; d < self->n_dims; d++)
            if (sizes[d] == 1)
                others[dims.n++] = d;
        dt_tensor *terms = dt_where_scalar_self(positive, 0, dt_mul(grad, x));
        dt_tensor *sums = terms && dims.n ? dt_sum(terms, .dim = dims) : terms;
        input_grads[1] = sums ? dt_reshape(sums, ((dt_shape){weight->n_dims, weight->shape})) : NULL;
    }
    return dt_failed(call->call->ctx) ? dt_error_status(call->call->ctx) : DT_OK;
}

const dt_op dt__op_prelu = {
    .schema = "prelu(Tensor self, Tensor weight) -> Tensor",
    .summary = "Elements, times a weight where they are not positive: one weight, or one per index of dim 1.",
    .rows = rows_prelu,
    .shape = shape_prelu,
    .kernel = prelu,
    .backward = prelu_backward,
    .saves = "self,weight",
    .samples = "prelu(f32[5,3]; f32[3])\nprelu(f32[2,5,3]; f32[1])\nprelu(f32[4]; f32[])",
};
