/* SPDX-License-Identifier: Apache-2.0
 *
 * max_pool1d to max_pool3d and adaptive_max_pool1d to adaptive_max_pool3d: the largest elements of windows, with their
 * indices in all of space on request. max_pool_backward and max_pool_read are the gradients, and each other's: they add
 * to the elements with these indices, and read them. Sharded dims of space fetch the elements in a rank's windows.
 */
#include "base/dtype.h"
#include "dtensor/dispatch.h"
#include "dtensor/ops.h"
#include "ops/ops.h"
#include "ops/resampling.h"

#include <inttypes.h>
#include <string.h>

typedef struct pool_family {
    dt__max_pool_part part;
    int n_space; /* 0: by the dims of the input */
    bool is_adaptive;
    const char *with_indices; /* the op that this one is written with */
} pool_family;

/* The windows of a call, by global sizes. */
typedef struct pooling {
    int n_space, n_leading;
    bool is_adaptive;
    int64_t image[DT__SPACE_DIMS], result[DT__SPACE_DIMS];
    int64_t kernel[DT__SPACE_DIMS], stride[DT__SPACE_DIMS], padding[DT__SPACE_DIMS], dilation[DT__SPACE_DIMS];
} pooling;

static const pool_family *family_of(const dt_op_call *call) { return call->op->family; }

/* Number d of a list that has one for each dim of space, or one for all. */
static int64_t number_at(const dt_arg *list, int d) { return list->as.ints[list->n == 1 ? 0 : d]; }

static bool has_list(const dt_arg *arg) { return arg && arg->type == DT_ARG_INTS && arg->n > 0; }

/* The windows of an op that has been checked; the sizes are those of the image on all ranks. */
static void read_windows(const dt_op_call *call, int n_dims, const int64_t *sizes, pooling *out) {
    const dt_arg *kernel = dt_op_arg(call, "kernel_size"), *stride = dt_op_arg(call, "stride"),
                 *padding = dt_op_arg(call, "padding"), *dilation = dt_op_arg(call, "dilation"),
                 *ceil_mode = dt_op_arg(call, "ceil_mode"), *size = dt_op_arg(call, "output_size");
    *out = (pooling){.n_space = family_of(call)->n_space, .is_adaptive = !has_list(kernel)};
    out->n_space = out->n_space ? out->n_space : n_dims - 2;
    out->n_leading = n_dims - out->n_space;
    for (int d = 0; d < out->n_space; d++) {
        out->image[d] = sizes[out->n_leading + d];
        if (out->is_adaptive) {
            out->result[d] = size ? number_at(size, d) : 0;
            out->result[d] = out->result[d] == DT_NONE ? out->image[d] : out->result[d];
            continue;
        }
        out->kernel[d] = number_at(kernel, d);
        out->stride[d] = number_at(has_list(stride) ? stride : kernel, d);
        out->padding[d] = number_at(padding, d);
        out->dilation[d] = number_at(dilation, d);
        if (out->kernel[d] >= 1 && out->stride[d] >= 1 && out->dilation[d] >= 1)
            out->result[d] = dt__pooled_size(out->image[d], (out->kernel[d] - 1) * out->dilation[d], out->stride[d],
                                             out->padding[d], ceil_mode && ceil_mode->as.b);
    }
}

static dt_status check_lists(const dt_op_call *call, int n_space) {
    static const char *const names[] = {"kernel_size", "stride", "padding", "dilation", "output_size"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const dt_arg *list = dt_op_arg(call, names[i]);
        const bool may_be_empty = i == 1 || !family_of(call)->n_space;
        if (!list || list->type != DT_ARG_INTS || (list->n == 0 && may_be_empty))
            continue;
        if (list->n != n_space && list->n != 1)
            return dt_op_refuse(call, DT_ERR_VALUE, "%s: expected %d numbers, or one, got %d", names[i], n_space,
                                list->n);
        for (int d = 0; d < list->n; d++)
            if (list->as.ints[d] > INT32_MAX || (list->as.ints[d] < 0 && list->as.ints[d] != DT_NONE))
                return dt_op_refuse(call, DT_ERR_VALUE, "%s: expected numbers from 0 to %d, got %" PRId64, names[i],
                                    INT32_MAX, list->as.ints[d]);
    }
    return DT_OK;
}

static dt_status check_windows(const dt_op_call *call, const pooling *of) {
    for (int d = 0; d < of->n_space; d++) {
        if (of->is_adaptive)
            continue;
        if (of->kernel[d] < 1 || of->stride[d] < 1 || of->dilation[d] < 1)
            return dt_op_refuse(call, DT_ERR_VALUE,
                                "expected kernel_size, stride and dilation of at least 1, got %" PRId64 ", %" PRId64
                                " and %" PRId64,
                                of->kernel[d], of->stride[d], of->dilation[d]);
        const int64_t most = ((of->kernel[d] - 1) * of->dilation[d] + 1) / 2;
        if (of->padding[d] > most)
            return dt_op_refuse(call, DT_ERR_VALUE,
                                "padding: expected 0 to %" PRId64 ", half of the window, got %" PRId64, most,
                                of->padding[d]);
    }
    for (int d = 0; d < of->n_space; d++)
        if (of->image[d] < 1 || (!of->is_adaptive && of->result[d] < 1))
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "expected sizes of at least 1, got %" PRId64 " from %" PRId64 " in dim %d of space",
                                of->result[d], of->image[d], d);
    return DT_OK;
}

static dt_status shape_pool(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const int n = family_of(call)->n_space;
    const dt_arg *wants_indices = dt_op_arg(call, "return_indices");
    dt__shape shape = {.n = input->n_dims};
    pooling of;
    DT__TRY(dt__refuse_complex(call));
    if (input->n_dims != n + 1 && input->n_dims != n + 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected %d dims, or %d without a batch, got %d", n + 2, n + 1,
                            input->n_dims);
    if (input->dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected numeric dtypes, got bool");
    DT__TRY(check_lists(call, n));
    read_windows(call, input->n_dims, input->shape, &of);
    DT__TRY(check_windows(call, &of));
    for (int d = 0; d < input->n_dims; d++)
        shape.sizes[d] = d < of.n_leading ? input->shape[d] : of.result[d - of.n_leading];
    DT__TRY(dt__add_shape(call, input->dtype, &shape));
    return wants_indices && !wants_indices->as.b ? DT_OK : dt__add_shape(call, DT_I64, &shape);
}

/* Of max_pool_backward and max_pool_read: values and indices have one shape. */
static dt_status check_indices(const dt_op_call *call, const dt_op_value *values) {
    const dt_op_value *indices = &call->inputs[1];
    bool fits = values->n_dims == indices->n_dims;
    DT__TRY(dt__refuse_complex(call));
    for (int d = 0; d < values->n_dims && fits; d++)
        fits = values->shape[d] == indices->shape[d];
    if (indices->dtype != DT_I64 || indices->n_dims < 3 || indices->n_dims > 5)
        return dt_op_refuse(call, DT_ERR_DTYPE, "indices: expected i64 of 3 to 5 dims, got %s of %d",
                            dt_dtype_name(indices->dtype), indices->n_dims);
    return fits ? DT_OK : dt_op_refuse(call, DT_ERR_SHAPE, "expected as many values as indices");
}

/* Of max_pool_backward and max_pool_read: the windows, unless they are adaptive; sizes are those of the image. */
static dt_status check_part(const dt_op_call *call, int n_dims, const int64_t *sizes) {
    pooling of;
    DT__TRY(check_lists(call, n_dims - 2));
    if (!has_list(dt_op_arg(call, "kernel_size")))
        return DT_OK;
    if (!has_list(dt_op_arg(call, "padding")) || !has_list(dt_op_arg(call, "dilation")))
        return dt_op_refuse(call, DT_ERR_VALUE, "expected padding and dilation with a kernel_size, got none");
    read_windows(call, n_dims, sizes, &of);
    for (int d = 0; d < of.n_space; d++) /* ceil_mode, which is not an argument here, may have made one more */
        of.result[d] = call->inputs[1].shape[of.n_leading + d];
    return check_windows(call, &of);
}

static dt_status shape_backward(dt_op_call *call) {
    const dt_arg *sizes = dt_op_arg(call, "sizes");
    const dt_op_value *grad = &call->inputs[0];
    DT__TRY(check_indices(call, grad));
    if (sizes->n != grad->n_dims || sizes->as.ints[0] != grad->shape[0] || sizes->as.ints[1] != grad->shape[1])
        return dt_op_refuse(call, DT_ERR_SHAPE, "sizes: expected %d numbers, the first two as those of the gradient",
                            grad->n_dims);
    DT__TRY(check_part(call, sizes->n, sizes->as.ints));
    return dt_op_add_output(call, grad->dtype, sizes->n, sizes->as.ints);
}

static dt_status shape_read(dt_op_call *call) {
    const dt_op_value *indices = &call->inputs[1], *self = &call->inputs[0];
    DT__TRY(check_indices(call, indices));
    if (self->n_dims != indices->n_dims || self->shape[0] != indices->shape[0] || self->shape[1] != indices->shape[1])
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected images like the indices, but for sizes of space");
    DT__TRY(check_part(call, self->n_dims, self->shape));
    return dt_op_add_output(call, self->dtype, indices->n_dims, indices->shape);
}

static void rows_pool(const dt_op_call *call, dt_rows *rows) {
    static const char *const rules[][DT__SPACE_DIMS] = {
        [DT__POOL_FIND] = {"nch^ -> nch, nch", "nch^i^ -> nchi, nchi", "nch^i^j^ -> nchij, nchij"},
        [DT__POOL_ADD] = {"nch^, nch^ -> nch", "nch^i^, nch^i^ -> nchi", "nch^i^j^, nch^i^j^ -> nchij"},
        [DT__POOL_READ] = {"nch^, nch -> nch", "nch^i^, nchi -> nchi", "nch^i^j^, nchij -> nchij"}};
    static const char *const unbatched[] = {"ch^ -> ch, ch", "ch^i^ -> chi, chi", "ch^i^j^ -> chij, chij"};
    const dt__max_pool_part part = family_of(call)->part;
    const int n = family_of(call)->n_space ? family_of(call)->n_space : call->inputs[0].n_dims - 2;
    const bool has_batch = call->inputs[0].n_dims == n + 2;
    dt_rows_factors(rows, has_batch ? rules[part][n - 1] : unbatched[n - 1], DT_PARTIAL_NONE);
    if (part != DT__POOL_FIND)
        dt_rows_linear(rows, 1);
}

/* What the op that this one is written with does without windows. */
static void rows_leading(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims - family_of(call)->n_space; d++)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d), DT_ROW_S(d)});
}

/* The window of index `at` of the result: its first index of the image, and the number of them. */
static int64_t window_at(const pooling *of, int d, int64_t at, int64_t *begin) {
    if (of->is_adaptive) {
        const dt__resampling parts = {.mode = DT__ADAPTIVE, .image = {of->image[d]}, .result = {of->result[d]}};
        return dt__resampling_band(&parts, 0, at, begin, NULL);
    }
    const int64_t first = at * of->stride[d] - of->padding[d], dilation = of->dilation[d];
    const int64_t skipped = first < 0 ? dt__ceil_div(-first, dilation) : 0;
    const int64_t end = dt__min_i64(first + (of->kernel[d] - 1) * dilation + 1, of->image[d]);
    *begin = first + skipped * dilation;
    return end > *begin ? (end - *begin - 1) / dilation + 1 : 0;
}

static int64_t step_of(const pooling *of, int d) { return of->is_adaptive ? 1 : of->dilation[d]; }

/* The first and last index that windows first to first + n - 1 have. */
static dt__index_range read_range(const pooling *of, int d, int64_t first, int64_t n) {
    dt__index_range out;
    int64_t begin;
    (void)window_at(of, d, first, &out.begin);
    const int64_t count = window_at(of, d, first + n - 1, &begin);
    out.end = count ? begin + (count - 1) * step_of(of, d) + 1 : begin;
    for (int64_t i = 1; i < n && !of->is_adaptive && i <= of->dilation[d]; i++) { /* skipped padding differs */
        (void)window_at(of, d, first + i, &begin);
        out.begin = dt__min_i64(out.begin, begin);
    }
    for (int64_t i = 2; i <= n && !of->is_adaptive && i <= of->dilation[d] + 1; i++) {
        const int64_t more = window_at(of, d, first + n - i, &begin);
        out.end = dt__max_i64(out.end, more ? begin + (more - 1) * step_of(of, d) + 1 : 0);
    }
    out.begin = dt__min_i64(out.begin, of->image[d]);
    out.end = dt__max_i64(dt__min_i64(out.end, of->image[d]), out.begin);
    return out;
}

/* The windows that may have indices first to first + n - 1. */
static dt__index_range reader_range(const pooling *of, int d, int64_t first, int64_t n) {
    dt__index_range out;
    if (of->is_adaptive) {
        const dt__resampling parts = {.mode = DT__ADAPTIVE, .image = {of->image[d]}, .result = {of->result[d]}};
        return dt__resampling_readers(&parts, 0, first, n);
    }
    const int64_t reach = (of->kernel[d] - 1) * of->dilation[d], at = first + of->padding[d];
    out.begin = at > reach ? dt__ceil_div(at - reach, of->stride[d]) : 0;
    out.end = dt__min_i64((at + n - 1) / of->stride[d] + 1, of->result[d]);
    out.end = dt__max_i64(out.end, out.begin);
    return out;
}

/* The tensors of a local call that have the dims of the image and of the result. */
static const dt_op_value *image_of(const dt_op_call *call) {
    return family_of(call)->part == DT__POOL_ADD ? &call->outputs[0] : &call->inputs[0];
}
static const dt_op_value *result_of(const dt_op_call *call) {
    return family_of(call)->part == DT__POOL_FIND ? &call->outputs[0] : &call->inputs[1];
}

/* The windows of a local call. */
static void read_local(const dt_op_call *call, pooling *out) {
    const dt_op_value *image = image_of(call);
    read_windows(call, image->n_dims, image->global_shape, out);
    for (int d = 0; d < out->n_space; d++)
        out->result[d] = result_of(call)->global_shape[out->n_leading + d];
}

static void window_pool(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt__max_pool_part part = family_of(call)->part;
    const dt_op_value *result = &call->outputs[0];
    pooling of;
    read_local(call, &of);
    if (dim < of.n_leading || (input == 1 && part == DT__POOL_READ))
        return;
    const dt__index_range range = (part == DT__POOL_ADD ? reader_range : read_range)(
        &of, dim - of.n_leading, result->offset[dim], result->shape[dim]);
    dt_window_add(out, range.begin < range.end ? range.begin : 0, range.end - range.begin, 1);
}

enum { IMAGE, VALUES, INDICES, N_OPERANDS };

static dt_status make_windows(const dt_op_call *call, const pooling *of, dt__scratch *memory, dt__max_pool *args) {
    const dt_op_value *image = image_of(call), *result = result_of(call);
    int64_t total = 1;
    for (int d = 0; d < DT__SPACE_DIMS; d++)
        total += 2 * args->indices->shape[2 + d];
    DT__TRY(dt__scratch_new(call, DT_I64, 1, &total, memory));
    int64_t *at = memory->array.data;
    for (int i = 0; i < DT__SPACE_DIMS; i++) {
        const int d = i - (DT__SPACE_DIMS - of->n_space), dim = of->n_leading + d;
        const int64_t n = args->indices->shape[2 + i];
        args->windows[i] = (dt__pool_window){at, at + n, d < 0 ? 1 : step_of(of, d)};
        at += 2 * n;
        for (int64_t o = 0; o < n; o++) {
            args->windows[i].begin[o] = 0;
            args->windows[i].count[o] = 1;
            if (d < 0)
                continue;
            args->windows[i].count[o] = window_at(of, d, result->offset[dim] + o, &args->windows[i].begin[o]);
            args->windows[i].begin[o] -= image->offset[dim];
        }
    }
    return DT_OK;
}

static dt_status run_opened(const dt_op_call *call, const pooling *of, dt__image *images) {
    const dt__max_pool_part part = family_of(call)->part;
    const dt_op_value *image = image_of(call);
    dt__scratch memory, taps;
    dt__max_pool args = {.part = part,
                         .image = &images[IMAGE].array,
                         .values = &images[VALUES].array,
                         .indices = &images[INDICES].array};
    for (int i = 0; i < DT__SPACE_DIMS; i++) {
        const int d = i - (DT__SPACE_DIMS - of->n_space), dim = of->n_leading + d;
        args.sizes[i] = d < 0 ? 1 : of->image[d];
        args.offset[i] = d < 0 || image->shape[dim] == 0 ? 0 : image->offset[dim];
    }
    DT__TRY(make_windows(call, of, &memory, &args));
    args.n_taps = dt__max_pool_taps(&args);
    dt_status status = dt__scratch_new(call, DT_I32, 1, &args.n_taps, &taps);
    if (status == DT_OK) {
        args.taps = taps.array.data;
        dt__max_pool_run(dt__pool_of(call->ctx), &args);
        dt__scratch_free(call, &taps);
    }
    dt__scratch_free(call, &memory);
    return status;
}

static dt_status pool(dt_op_call *call) {
    /* Where image, values and indices are: inputs, then outputs. */
    static const int places[][N_OPERANDS] = {
        [DT__POOL_FIND] = {0, 1, 2}, [DT__POOL_ADD] = {2, 0, 1}, [DT__POOL_READ] = {0, 2, 1}};
    const int *place = places[family_of(call)->part];
    dt__image images[N_OPERANDS] = {0};
    dt_status status = DT_OK;
    pooling of;
    if (dt__elements(call->outputs[0].n_dims, call->outputs[0].shape) == 0)
        return DT_OK;
    read_local(call, &of);
    for (int i = 0; i < N_OPERANDS && status == DT_OK; i++) {
        const bool is_output = place[i] >= call->n_inputs;
        const dt_op_value *value = is_output ? &call->outputs[place[i] - call->n_inputs] : &call->inputs[place[i]];
        status = dt__image_open(call, value,
                                (dt__image_form){.adds_batch = of.n_leading == 1,
                                                 .n_added = DT__SPACE_DIMS - of.n_space,
                                                 .is_output = is_output},
                                &images[i]);
    }
    if (status == DT_OK)
        status = run_opened(call, &of, images);
    for (int i = 0; i < N_OPERANDS; i++) {
        if (status == DT_OK && place[i] >= call->n_inputs)
            dt__image_store(call, &images[i]);
        dt__image_close(call, &images[i]);
    }
    return status;
}

/* max_pool2d: with or without the indices. */
static dt_status decompose(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_op_argument arguments[8] = {{.tensor = inputs[0]}};
    dt_tensor *made[2] = {0};
    int n_outputs, n = 1;
    for (; n < call->n_args - 1; n++)
        arguments[n] = (dt_op_argument){.value = call->args[n]};
    DT__TRY(dt_op_run(call->ctx, family_of(call)->with_indices, n, arguments, NULL, made, 2, &n_outputs));
    for (int o = 0; o < call->n_outputs; o++)
        outputs[o] = made[o];
    return DT_OK;
}

static dt_op_argument ints(int n, const int64_t *list) {
    return (dt_op_argument){.value = {.type = DT_ARG_INTS, .n = n, .as.ints = list}};
}

static dt_tensor *run_part(const dt_op_call *call, const pooling *of, const char *name, dt_tensor *values,
                           dt_tensor *indices, const dt_shape *sizes) {
    dt_op_argument arguments[7] = {{.tensor = values}, {.tensor = indices}};
    dt_tensor *out = NULL;
    int n = 2, n_outputs, n_numbers = of->is_adaptive ? 0 : of->n_space;
    if (sizes)
        arguments[n++] = ints(sizes->n, sizes->sizes);
    arguments[n++] = ints(n_numbers, of->kernel);
    arguments[n++] = ints(n_numbers, of->stride);
    arguments[n++] = ints(n_numbers, of->padding);
    arguments[n++] = ints(n_numbers, of->dilation);
    (void)dt_op_run(call->ctx, name, n, arguments, NULL, &out, 1, &n_outputs);
    return out;
}

/* A tensor with a batch of one, or without it. */
static dt_tensor *with_batch(const pooling *of, dt_tensor *tensor) {
    return of->n_leading == 1 && tensor ? dt_unsqueeze(tensor, 0) : tensor;
}
static dt_tensor *without_batch(const pooling *of, dt_tensor *tensor) {
    return of->n_leading == 1 && tensor ? dt_squeeze_dim(tensor, 0) : tensor;
}

static dt_status gradient_of_pool(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *input = &call->call->inputs[0];
    int64_t sizes[DT__SPACE_DIMS + 2] = {1};
    pooling of;
    if (!call->grads[0])
        return DT_OK;
    read_windows(call->call, input->n_dims, input->shape, &of);
    for (int d = 0; d < input->n_dims; d++)
        sizes[d + (of.n_leading == 1)] = input->shape[d];
    dt_shape shape = {of.n_space + 2, sizes};
    input_grads[0] =
        without_batch(&of, run_part(call->call, &of, "max_pool_backward", with_batch(&of, call->grads[0]),
                                    with_batch(&of, call->outputs[1]), &shape));
    return input_grads[0] ? DT_OK : dt_error_status(call->call->ctx);
}

static dt_status gradient_of_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *output = &call->call->outputs[0];
    pooling of;
    read_windows(call->call, output->n_dims, output->shape, &of);
    input_grads[0] = run_part(call->call, &of, "max_pool_read", call->grads[0], call->inputs[1], NULL);
    return input_grads[0] ? DT_OK : dt_error_status(call->call->ctx);
}

static dt_status gradient_of_read(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *input = &call->call->inputs[0];
    dt_shape shape = {input->n_dims, input->shape};
    pooling of;
    read_windows(call->call, input->n_dims, input->shape, &of);
    input_grads[0] = run_part(call->call, &of, "max_pool_backward", call->grads[0], call->inputs[1], &shape);
    return input_grads[0] ? DT_OK : dt_error_status(call->call->ctx);
}

/* A pair of ops: with indices, and with or without. */
#define WINDOWS(n)                                                                                                   \
    "(Tensor input, int[" n "] kernel_size, int[" n "]? stride=None, int[" n "] padding=0, int[" n                   \
    "] dilation=1, bool ceil_mode=False"
#define SIZES(n, kind) "(Tensor input, " kind "[" n "] output_size"
#define POOL(name, arguments, dims, adaptive, summary_, samples_)                                                    \
    .schema = name arguments ") -> (Tensor output, Tensor indices)",                                                 \
    .summary = summary_ ", with their indices in space.", .rows = rows_pool, .shape = shape_pool, .kernel = pool,    \
    .window = window_pool, .order = dt__order_of_images, .flags = DT_OP_TILES, .saves = "result1",                   \
    .backward = gradient_of_pool, .samples = samples_, .family = &(const pool_family) {                              \
        DT__POOL_FIND, dims, adaptive, NULL                                                                          \
    }
#define EITHER(name, arguments, dims, adaptive, summary_, samples_)                                                  \
    .schema = name arguments ", bool return_indices=False) -> Tensor or (Tensor, Tensor)", .summary = summary_ ".",  \
    .rows = rows_leading, .shape = shape_pool, .decompose = decompose, .unused = "return_indices",                   \
    .samples = samples_, .family = &(const pool_family) {                                                            \
        DT__POOL_FIND, dims, adaptive, name "_with_indices"                                                          \
    }
#define LARGEST(of)          "The largest elements of windows of " of
#define ADAPTIVE_LARGEST(of) "The largest elements of so many windows that cover " of

const dt_op dt__op_max_pool1d = {
    EITHER("max_pool1d", WINDOWS("1"), 1, false, LARGEST("sequences"), "max_pool1d(f32[2,3,9]; 3; 2; 1)")};
const dt_op dt__op_max_pool2d = {
    EITHER("max_pool2d", WINDOWS("2"), 2, false, LARGEST("images"),
           "max_pool2d(f32[2,3,5,4]; 2)\nmax_pool2d(f32[3,5,4]; 2; return_indices=true)")};
const dt_op dt__op_max_pool3d = {
    EITHER("max_pool3d", WINDOWS("3"), 3, false, LARGEST("volumes"), "max_pool3d(f32[1,2,3,4,5]; 2)")};
const dt_op dt__op_max_pool1d_with_indices = {POOL("max_pool1d_with_indices", WINDOWS("1"), 1, false,
                                                   LARGEST("sequences"),
                                                   "max_pool1d_with_indices(f32[2,3,9]; 3; 2; 1)\n"
                                                   "max_pool1d_with_indices(f32[2,11]; 3; 2; 2; 2; ceil_mode=true)\n"
                                                   "max_pool1d_with_indices(i32[1,2,7]; 2)\n"
                                                   "max_pool1d_with_indices(f32[1,2,2]; 3; ceil_mode=true)")};
const dt_op dt__op_max_pool2d_with_indices = {POOL("max_pool2d_with_indices", WINDOWS("2"), 2, false,
                                                   LARGEST("images"),
                                                   "max_pool2d_with_indices(f32[2,3,5,4]; [3,2]; 2; [1,0]; [1,2])")};
const dt_op dt__op_max_pool3d_with_indices = {POOL("max_pool3d_with_indices", WINDOWS("3"), 3, false,
                                                   LARGEST("volumes"),
                                                   "max_pool3d_with_indices(f32[1,2,3,4,5]; 2; 1)")};
const dt_op dt__op_adaptive_max_pool1d = {EITHER("adaptive_max_pool1d", SIZES("1", "int"), 1, true,
                                                 ADAPTIVE_LARGEST("sequences"),
                                                 "adaptive_max_pool1d(f32[2,3,9]; 4)")};
const dt_op dt__op_adaptive_max_pool2d = {EITHER("adaptive_max_pool2d", SIZES("2", "int?"), 2, true,
                                                 ADAPTIVE_LARGEST("images"),
                                                 "adaptive_max_pool2d(f32[2,3,5,4]; [3,none])")};
const dt_op dt__op_adaptive_max_pool3d = {EITHER("adaptive_max_pool3d", SIZES("3", "int?"), 3, true,
                                                 ADAPTIVE_LARGEST("volumes"),
                                                 "adaptive_max_pool3d(f32[1,2,3,4,5]; 2)")};
const dt_op dt__op_adaptive_max_pool1d_with_indices = {POOL("adaptive_max_pool1d_with_indices", SIZES("1", "int"), 1,
                                                            true, ADAPTIVE_LARGEST("sequences"),
                                                            "adaptive_max_pool1d_with_indices(f32[2,3,9]; 4)")};
const dt_op dt__op_adaptive_max_pool2d_with_indices = {POOL("adaptive_max_pool2d_with_indices", SIZES("2", "int?"), 2,
                                                            true, ADAPTIVE_LARGEST("images"),
                                                            "adaptive_max_pool2d_with_indices(f32[2,5,4]; [3,7])")};
const dt_op dt__op_adaptive_max_pool3d_with_indices = {POOL("adaptive_max_pool3d_with_indices", SIZES("3", "int?"), 3,
                                                            true, ADAPTIVE_LARGEST("volumes"),
                                                            "adaptive_max_pool3d_with_indices(f32[1,2,3,4,5]; 2)")};

#define NUMBERS "int[] kernel_size, int[] stride, int[] padding, int[] dilation) -> Tensor"
const dt_op dt__op_max_pool_backward = {
    .schema = "max_pool_backward(Tensor grad_output, Tensor indices, int[] sizes, " NUMBERS,
    .summary = "The gradient of max_pool, adaptive without a kernel_size: adds to elements with these indices.",
    .rows = rows_pool,
    .shape = shape_backward,
    .kernel = pool,
    .window = window_pool,
    .order = dt__order_of_images,
    .flags = DT_OP_TILES,
    .saves = "indices",
    .backward = gradient_of_backward,
    .family = &(const pool_family){DT__POOL_ADD, 0, false, NULL},
    .samples = "max_pool_backward(f32[2,3,4]; i64[2,3,4]; [2,3,9]; [3]; [2]; [0]; [1])\n"
               "max_pool_backward(f32[2,3,4]; i64[2,3,4]; [2,3,9]; []; []; []; [])",
};
const dt_op dt__op_max_pool_read = {
    .schema = "max_pool_read(Tensor self, Tensor indices, " NUMBERS,
    .summary = "The elements of images with these indices: the transpose of max_pool_backward.",
    .rows = rows_pool,
    .shape = shape_read,
    .kernel = pool,
    .window = window_pool,
    .order = dt__order_of_images,
    .flags = DT_OP_TILES,
    .saves = "indices",
    .backward = gradient_of_read,
    .family = &(const pool_family){DT__POOL_READ, 0, false, NULL},
    .samples = "max_pool_read(f32[2,3,9]; i64[2,3,4]; [3]; [2]; [0]; [1])",
};
