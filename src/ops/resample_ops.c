/* SPDX-License-Identifier: Apache-2.0
 *
 * avg_pool1d to avg_pool3d, adaptive_avg_pool1d to adaptive_avg_pool3d and interpolate, and the two ops that are their
 * gradients and each other's: resample, which is any of these maps, and resample_backward, its transpose. Sharded dims
 * of space fetch the elements in the bands of a rank's part.
 */
#include "base/dtype.h"
#include "dtensor/dispatch.h"
#include "dtensor/ops.h"
#include "ops/ops.h"
#include "ops/resampling.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_NUMBERS = 3 * DT__SPACE_DIMS + 2 };

/* Reads the arguments of an op; the sizes of the image, or with is_transposed those of the result, are set. Refuses
 * what is wrong. */
typedef dt_status resample_reader(const dt_op_call *call, dt__resampling *out);

typedef struct resample_family {
    resample_reader *read;
    int n_space; /* 0: by the dims of the input */
    bool is_transposed;
} resample_family;

/* Number d of a list that has one for each dim of space, or one for all. */
static int64_t number_at(const dt_arg *list, int d) { return list->as.ints[list->n == 1 ? 0 : d]; }

static dt_status check_list(const dt_op_call *call, const char *name, const dt_arg *list, int n) {
    if (list->n == n || list->n == 1)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_VALUE, "%s: expected %d numbers, or one, got %d", name, n, list->n);
}

static dt_status check_window(const dt_op_call *call, const dt__resampling *of, int d) {
    if (of->kernel[d] < 1 || of->stride[d] < 1 || of->kernel[d] > INT32_MAX || of->stride[d] > INT32_MAX)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "expected a kernel_size and a stride of at least 1, got %" PRId64 " and %" PRId64,
                            of->kernel[d], of->stride[d]);
    if (of->padding[d] < 0 || of->padding[d] > of->kernel[d] / 2)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "padding: expected 0 to %" PRId64 ", half of the kernel_size, got %" PRId64,
                            of->kernel[d] / 2, of->padding[d]);
    return DT_OK;
}

static dt_status read_average(const dt_op_call *call, dt__resampling *out) {
    const dt_arg *kernel = &call->args[1], *stride = &call->args[2], *padding = &call->args[3];
    const dt_arg *divisor = dt_op_arg(call, "divisor_override");
    out->mode = DT__AVERAGE;
    out->counts_padding = call->args[5].as.b;
    if (divisor && divisor->type == DT_ARG_INT) {
        out->divisor = (double)divisor->as.i;
        if (divisor->as.i == 0)
            return dt_op_refuse(call, DT_ERR_VALUE, "divisor_override: expected a number other than 0, got 0");
    }
    stride = stride->n ? stride : kernel;
    DT__TRY(check_list(call, "kernel_size", kernel, out->n_space));
    DT__TRY(check_list(call, "stride", stride, out->n_space));
    DT__TRY(check_list(call, "padding", padding, out->n_space));
    for (int d = 0; d < out->n_space; d++) {
        out->kernel[d] = number_at(kernel, d);
        out->stride[d] = number_at(stride, d);
        out->padding[d] = number_at(padding, d);
        DT__TRY(check_window(call, out, d));
        out->result[d] =
            dt__pooled_size(out->image[d], out->kernel[d] - 1, out->stride[d], out->padding[d], call->args[4].as.b);
    }
    return DT_OK;
}

static dt_status read_adaptive(const dt_op_call *call, dt__resampling *out) {
    const dt_arg *size = &call->args[1];
    out->mode = DT__ADAPTIVE;
    DT__TRY(check_list(call, "output_size", size, out->n_space));
    for (int d = 0; d < out->n_space; d++) {
        out->result[d] = number_at(size, d) == DT_NONE ? out->image[d] : number_at(size, d);
        if (out->result[d] < 0)
            return dt_op_refuse(call, DT_ERR_VALUE, "output_size: expected at least 0, got %" PRId64, out->result[d]);
    }
    return DT_OK;
}

static const struct {
    const char *name;
    dt__resample_mode mode;
    int n_space; /* 0: any */
    bool has_corners;
} interpolations[] = {
    {"nearest", DT__NEAREST, 0, false}, {"nearest-exact", DT__NEAREST_EXACT, 0, false},
    {"area", DT__ADAPTIVE, 0, false},   {"linear", DT__LINEAR, 1, true},
    {"bilinear", DT__LINEAR, 2, true},  {"bicubic", DT__CUBIC, 2, true},
    {"trilinear", DT__LINEAR, 3, true},
};
enum { N_INTERPOLATIONS = sizeof interpolations / sizeof *interpolations };

/* Arguments of interpolate. */
enum { SIZE = 1, SCALE_FACTOR, MODE, ALIGN_CORNERS, RECOMPUTE, ANTIALIAS };

static dt_status read_mode(const dt_op_call *call, dt__resampling *out) {
    const char *name = call->args[MODE].as.text;
    const dt_arg *corners = &call->args[ALIGN_CORNERS];
    int i = 0;
    while (i < N_INTERPOLATIONS && strcmp(interpolations[i].name, name) != 0)
        i++;
    if (i == N_INTERPOLATIONS)
        return dt_op_refuse(
            call, DT_ERR_VALUE,
            "mode: expected nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear, got %s", name);
    if (interpolations[i].n_space && interpolations[i].n_space != out->n_space)
        return dt_op_refuse(call, DT_ERR_SHAPE, "mode %s: expected %d dims, got %d", name,
                            interpolations[i].n_space + 2, out->n_space + 2);
    if (corners->type == DT_ARG_BOOL && !interpolations[i].has_corners)
        return dt_op_refuse(call, DT_ERR_VALUE, "align_corners: expected a linear or cubic mode, got %s", name);
    out->mode = interpolations[i].mode;
    out->aligns_corners = corners->type == DT_ARG_BOOL && corners->as.b;
    out->is_smooth = call->args[ANTIALIAS].as.b;
    if (out->is_smooth && (out->n_space != 2 || !interpolations[i].has_corners))
        return dt_op_refuse(call, DT_ERR_VALUE, "antialias: expected mode bilinear or bicubic, got %s", name);
    return DT_OK;
}

static dt_status read_interpolation(const dt_op_call *call, dt__resampling *out) {
    const dt_arg *size = &call->args[SIZE], *scale = &call->args[SCALE_FACTOR], *recompute = &call->args[RECOMPUTE];
    const bool has_size = size->type == DT_ARG_INTS, has_scale = scale->type == DT_ARG_FLOATS;
    const bool recomputes = recompute->type == DT_ARG_BOOL && recompute->as.b;
    DT__TRY(read_mode(call, out));
    if (has_size == has_scale || (recomputes && has_size))
        return dt_op_refuse(call, DT_ERR_VALUE, "expected either size or scale_factor%s",
                            recomputes ? "; recompute_scale_factor needs the latter" : "");
    DT__TRY(check_list(call, has_size ? "size" : "scale_factor", has_size ? size : scale, out->n_space));
    for (int d = 0; d < out->n_space; d++) {
        const double factor = has_size ? 0 : scale->as.floats[scale->n == 1 ? 0 : d];
        const double scaled = floor((double)out->image[d] * factor);
        if (!has_size && !(scaled >= 0 && scaled < 0x1p62))
            return dt_op_refuse(call, DT_ERR_VALUE, "scale_factor: expected a positive number, got %g", factor);
        out->result[d] = has_size ? number_at(size, d) : (int64_t)scaled;
        out->scale[d] = recomputes || out->mode == DT__ADAPTIVE ? 0 : factor;
        if (out->result[d] < 1 || out->image[d] < 1)
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "expected sizes of at least 1, got %" PRId64 " from %" PRId64 " in dim %d of space",
                                out->result[d], out->image[d], d);
    }
    return DT_OK;
}

static const char *const mode_names[DT__N_RESAMPLE_MODES] = {
    [DT__AVERAGE] = "average", [DT__ADAPTIVE] = "adaptive",
    [DT__NEAREST] = "nearest", [DT__NEAREST_EXACT] = "nearest-exact",
    [DT__LINEAR] = "linear",   [DT__CUBIC] = "cubic",
};

/* What else than sizes and mode determines a map, as resample takes it. */
static int write_numbers(const dt__resampling *of, double *out) {
    int n = 0;
    if (of->mode == DT__ADAPTIVE)
        return 0;
    for (int d = 0; d < of->n_space; d++) {
        if (of->mode != DT__AVERAGE) {
            out[n++] = of->scale[d];
            continue;
        }
        out[n++] = (double)of->kernel[d];
        out[n++] = (double)of->stride[d];
        out[n++] = (double)of->padding[d];
    }
    out[n++] = of->mode == DT__AVERAGE ? of->counts_padding : of->aligns_corners;
    out[n++] = of->mode == DT__AVERAGE ? of->divisor : of->is_smooth;
    return n;
}

static dt_status read_numbers(const dt_op_call *call, const dt_arg *numbers, dt__resampling *out) {
    const int per_dim = out->mode == DT__AVERAGE ? 3 : 1;
    const int n = out->mode == DT__ADAPTIVE ? 0 : per_dim * out->n_space + 2;
    if (numbers->n != n)
        return dt_op_refuse(call, DT_ERR_VALUE, "numbers: expected %d for mode %s, got %d", n, mode_names[out->mode],
                            numbers->n);
    const double *at = numbers->as.floats;
    for (int d = 0; d < out->n_space && n; d++) {
        if (out->mode != DT__AVERAGE) {
            out->scale[d] = *at++;
            continue;
        }
        for (int i = 0; i < 3; i++)
            if (!(at[i] >= 0 && at[i] <= INT32_MAX))
                return dt_op_refuse(call, DT_ERR_VALUE, "numbers: expected a size, got %g", at[i]);
        out->kernel[d] = (int64_t)*at++;
        out->stride[d] = (int64_t)*at++;
        out->padding[d] = (int64_t)*at++;
        DT__TRY(check_window(call, out, d));
    }
    if (n && out->mode == DT__AVERAGE) {
        out->counts_padding = at[0] != 0;
        out->divisor = at[1];
    } else if (n) {
        out->aligns_corners = at[0] != 0;
        out->is_smooth = at[1] != 0;
    }
    return DT_OK;
}

/* Sizes are those of the whole output. */
static dt_status read_any(const dt_op_call *call, dt__resampling *out) {
    const dt_arg *sizes = &call->args[1], *mode = &call->args[2];
    int m = 0;
    while (m < DT__N_RESAMPLE_MODES && strcmp(mode_names[m], mode->as.text) != 0)
        m++;
    if (m == DT__N_RESAMPLE_MODES)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "mode: expected average, adaptive, nearest, nearest-exact, linear or cubic, got %s",
                            mode->as.text);
    out->mode = (dt__resample_mode)m;
    if (sizes->n != call->inputs[0].n_dims)
        return dt_op_refuse(call, DT_ERR_SHAPE, "sizes: expected %d numbers, got %d", call->inputs[0].n_dims,
                            sizes->n);
    for (int d = 0; d < out->n_space; d++) {
        (out->is_transposed ? out->image : out->result)[d] = sizes->as.ints[out->n_leading + d];
        if (sizes->as.ints[out->n_leading + d] < 0)
            return dt_op_refuse(call, DT_ERR_SHAPE, "sizes: expected at least 0, got %" PRId64,
                                sizes->as.ints[out->n_leading + d]);
    }
    return read_numbers(call, &call->args[3], out);
}

/* The map of a call; `sizes` are those of its input on all ranks. */
static dt_status read_call(const dt_op_call *call, const int64_t *sizes, dt__resampling *out) {
    const resample_family *family = call->op->family;
    const int n_dims = call->inputs[0].n_dims;
    *out = (dt__resampling){.is_transposed = family->is_transposed, .n_space = family->n_space};
    if (!out->n_space)
        out->n_space = n_dims - 2;
    out->n_leading = n_dims - out->n_space;
    for (int d = 0; d < out->n_space; d++)
        (out->is_transposed ? out->result : out->image)[d] = sizes[out->n_leading + d];
    return family->read(call, out);
}

static dt_status shape_resample(dt_op_call *call) {
    const resample_family *family = call->op->family;
    const dt_op_value *input = &call->inputs[0];
    dt__resampling of;
    dt__shape shape = {.n = input->n_dims};
    const int n = family->n_space;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    if (n ? input->n_dims != n + 1 && input->n_dims != n + 2 : input->n_dims < 3 || input->n_dims > 5)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected %s%d dims, got %d", n ? "" : "3 to ", n ? n + 2 : 5,
                            input->n_dims);
    DT__TRY(read_call(call, input->shape, &of));
    for (int d = 0; d < of.n_leading; d++)
        shape.sizes[d] = input->shape[d];
    for (int d = 0; d < of.n_space; d++) {
        shape.sizes[of.n_leading + d] = of.is_transposed ? of.image[d] : of.result[d];
        if (of.result[d] > 0 && of.image[d] > 0)
            continue;
        if (of.mode != DT__ADAPTIVE || of.image[d] == 0)
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "expected sizes of at least 1, got %" PRId64 " from %" PRId64 " in dim %d of space",
                                of.result[d], of.image[d], d);
    }
    return dt__add_shape(call, input->dtype, &shape);
}

/* Maps are linear; the nearest elements are only moved, forward. */
static void rows_resample(const dt_op_call *call, dt_rows *rows) {
    static const char *const rules[][DT__SPACE_DIMS] = {{"ch^ -> ch", "ch^i^ -> chi", "ch^i^j^ -> chij"},
                                                        {"nch^ -> nch", "nch^i^ -> nchi", "nch^i^j^ -> nchij"}};
    dt__resampling of;
    if (read_call(call, call->inputs[0].shape, &of) != DT_OK)
        return;
    const bool moves = (of.mode == DT__NEAREST || of.mode == DT__NEAREST_EXACT) && !of.is_transposed;
    dt_rows_factors(rows, rules[of.n_leading - 1][of.n_space - 1], moves ? DT_PARTIAL_ANY : DT_PARTIAL_LINEAR);
}

static void window_resample(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *result = &call->outputs[0];
    dt__resampling of;
    if (read_call(call, call->inputs[input].global_shape, &of) != DT_OK || dim < of.n_leading)
        return;
    const dt__index_range range = (of.is_transposed ? dt__resampling_readers : dt__resampling_read)(
        &of, dim - of.n_leading, result->offset[dim], result->shape[dim]);
    dt_window_add(out, range.begin < range.end ? range.begin : 0, range.end - range.begin, 1);
}

/* The bands of one dim of the result, or of the image if the map is transposed, and their memory. */
typedef struct band_memory {
    dt__scratch indices, weights;
} band_memory;

/* A part of a dim: `n` indices from `first` on. */
typedef struct dim_part {
    int64_t first, n;
} dim_part;

/* Adds weight w of the image's index i and the result's index o; `bands` are by the one that is computed. */
static void add_weight(dt__band *band, int64_t row, int64_t column, double weight) {
    if (band->count[row] == 0)
        band->begin[row] = column;
    if (band->weights)
        band->weights[band->first[row] + band->count[row]] = weight;
    band->count[row]++;
}

/* Counts the weights of each band, or writes them; `one` has memory for a band. */
static void walk_bands(const dt__resampling *of, int d, dim_part image, dim_part result, double *one,
                       dt__band *band) {
    const dim_part rows = of->is_transposed ? image : result;
    memset(band->count, 0, (size_t)rows.n * sizeof *band->count);
    memset(band->begin, 0, (size_t)rows.n * sizeof *band->begin);
    for (int64_t o = 0; o < result.n; o++) {
        int64_t begin;
        const int64_t n = dt__resampling_band(of, d, result.first + o, &begin, one);
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = begin + i - image.first;
            if (at < 0 || at >= image.n)
                continue;
            add_weight(band, of->is_transposed ? at : o, of->is_transposed ? o : at, one[i]);
        }
    }
}

static int64_t longest_band(const dt__resampling *of, int d, dim_part result) {
    int64_t longest = 1, begin;
    for (int64_t o = 0; o < result.n; o++)
        longest = dt__max_i64(longest, dt__resampling_band(of, d, result.first + o, &begin, NULL));
    return longest;
}

/* A dim that the tensors lack has one index, of weight 1. */
static dt_status make_bands(const dt_op_call *call, const dt__resampling *of, int d, dim_part image, dim_part result,
                            band_memory *memory, dt__band *out) {
    const int64_t n = dt__max_i64(of->is_transposed ? image.n : result.n, 1);
    const int64_t longest = d < 0 ? 1 : longest_band(of, d, result);
    int64_t total = 0;
    DT__TRY(dt__scratch_new(call, DT_I64, 2, (int64_t[]){3, n}, &memory->indices));
    int64_t *indices = memory->indices.array.data;
    *out = (dt__band){indices, indices + n, indices + 2 * n, NULL};
    DT__TRY(dt__scratch_new(call, DT_F64, 1, (int64_t[]){longest * (1 + (d < 0 ? 1 : result.n))}, &memory->weights));
    double *weights = memory->weights.array.data;
    if (d < 0) {
        *out->begin = *out->first = 0;
        *out->count = 1;
        out->weights = weights;
        *weights = 1;
        return DT_OK;
    }
    walk_bands(of, d, image, result, weights, out);
    for (int64_t i = 0; i < n; i++) {
        out->first[i] = total;
        total += out->count[i];
    }
    out->weights = weights + longest;
    walk_bands(of, d, image, result, weights, out);
    return DT_OK;
}

static dt_status run_maps(const dt_op_call *call, const dt__resampling *of, const dt__image *from,
                          const dt__image *to, band_memory *memory) {
    const dt_op_value *input = &call->inputs[0], *output = &call->outputs[0];
    dt__resample args = {.in = &from->array, .out = &to->array};
    dt__scratch rows;
    for (int i = 0; i < DT__SPACE_DIMS; i++) {
        const int d = i - (DT__SPACE_DIMS - of->n_space), dim = of->n_leading + d;
        dim_part read = {0, 1}, written = {0, 1};
        if (d >= 0) {
            read = (dim_part){input->shape[dim] ? input->offset[dim] : 0, input->shape[dim]};
            written = (dim_part){output->offset[dim], output->shape[dim]};
        }
        DT__TRY(make_bands(call, of, d, of->is_transposed ? written : read, of->is_transposed ? read : written,
                           &memory[i], &args.bands[i]));
    }
    dt__pool *pool = dt__pool_of(call->ctx);
    DT__TRY(dt__scratch_new(call, DT_U8, 1, (int64_t[]){(int64_t)dt__resample_bytes(pool, &args)}, &rows));
    args.memory = rows.array.data;
    dt__resample_run(pool, &args);
    dt__scratch_free(call, &rows);
    return DT_OK;
}

static dt_status resample(dt_op_call *call) {
    dt__image from = {0}, to = {0};
    band_memory memory[DT__SPACE_DIMS] = {0};
    dt__resampling of;
    DT__TRY(read_call(call, call->inputs[0].global_shape, &of));
    if (dt__elements(call->outputs[0].n_dims, call->outputs[0].shape) == 0)
        return DT_OK;
    dt__image_form form = {.adds_batch = of.n_leading == 1, .n_added = DT__SPACE_DIMS - of.n_space};
    dt_status status = dt__image_open(call, &call->inputs[0], form, &from);
    form.is_output = true;
    if (status == DT_OK)
        status = dt__image_open(call, &call->outputs[0], form, &to);
    if (status == DT_OK)
        status = run_maps(call, &of, &from, &to, memory);
    if (status == DT_OK)
        dt__image_store(call, &to);
    for (int d = 0; d < DT__SPACE_DIMS; d++) {
        if (memory[d].weights.array.data)
            dt__scratch_free(call, &memory[d].weights);
        if (memory[d].indices.array.data)
            dt__scratch_free(call, &memory[d].indices);
    }
    dt__image_close(call, &to);
    dt__image_close(call, &from);
    return status;
}

/* The transposed map of the gradient, of images with a batch. */
static dt_status gradient(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const dt_op_value *input = &op->inputs[0];
    double numbers[MAX_NUMBERS];
    int64_t sizes[DT__SPACE_DIMS + 2] = {1};
    dt__resampling of;
    dt_tensor *grad = call->grads[0], *out = NULL;
    int n_outputs;
    DT__TRY(read_call(op, input->shape, &of));
    const bool adds_batch = of.n_leading == 1;
    for (int d = 0; d < input->n_dims; d++)
        sizes[d + adds_batch] = input->shape[d];
    const int n = write_numbers(&of, numbers);
    const dt_op_argument arguments[] = {{.tensor = adds_batch ? dt_unsqueeze(grad, 0) : grad},
                                        {.value = {.type = DT_ARG_INTS, .n = of.n_space + 2, .as.ints = sizes}},
                                        {.value = {.type = DT_ARG_TEXT, .as.text = mode_names[of.mode]}},
                                        {.value = {.type = DT_ARG_FLOATS, .n = n, .as.floats = numbers}}};
    DT__TRY(dt_op_run(op->ctx, of.is_transposed ? "resample" : "resample_backward", 4, arguments, NULL, &out, 1,
                      &n_outputs));
    input_grads[0] = adds_batch ? dt_squeeze_dim(out, 0) : out;
    return input_grads[0] ? DT_OK : dt_error_status(op->ctx);
}

#define RESAMPLE(read_, n_, transposed_)                                                                             \
    .rows = rows_resample, .shape = shape_resample, .kernel = resample, .window = window_resample,                   \
    .order = dt__order_of_images, .flags = DT_OP_TILES, .saves = "", .backward = gradient,                           \
    .family = &(const resample_family) {                                                                             \
        read_, n_, transposed_                                                                                       \
    }

const dt_op dt__op_avg_pool1d = {
    .schema = "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
              "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
    .summary = "Means of windows of sequences.",
    RESAMPLE(read_average, 1, false),
    .samples = "avg_pool1d(f32[2,3,9]; 3)\navg_pool1d(f32[2,9]; 3; 2; 1; ceil_mode=true; count_include_pad=false)",
};
const dt_op dt__op_avg_pool2d = {
    .schema = "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, "
              "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    .summary = "Means of windows of images.",
    RESAMPLE(read_average, 2, false),
    .samples = "avg_pool2d(f32[2,3,7,5]; [3,2]; 2; [1,0]; ceil_mode=true)\n"
               "avg_pool2d(f32[1,2,6,5]; 2; 1; divisor_override=3)",
};
const dt_op dt__op_avg_pool3d = {
    .schema = "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, "
              "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    .summary = "Means of windows of volumes.",
    RESAMPLE(read_average, 3, false),
    .samples = "avg_pool3d(f32[1,2,4,3,5]; 2; 1; 1; count_include_pad=false)",
};
const dt_op dt__op_adaptive_avg_pool1d = {
    .schema = "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
    .summary = "Means of the given number of windows, which cover a sequence.",
    RESAMPLE(read_adaptive, 1, false),
    .samples = "adaptive_avg_pool1d(f32[2,3,9]; 4)\nadaptive_avg_pool1d(f32[2,5]; 7)",
};
const dt_op dt__op_adaptive_avg_pool2d = {
    .schema = "adaptive_avg_pool2d(Tensor input, int?[2] output_size) -> Tensor",
    .summary = "Means of the given numbers of windows, which cover an image.",
    RESAMPLE(read_adaptive, 2, false),
    .samples = "adaptive_avg_pool2d(f32[2,3,5,4]; [3,none])\nadaptive_avg_pool2d(f32[3,5,4]; 1)",
};
const dt_op dt__op_adaptive_avg_pool3d = {
    .schema = "adaptive_avg_pool3d(Tensor input, int?[3] output_size) -> Tensor",
    .summary = "Means of the given numbers of windows, which cover a volume.",
    RESAMPLE(read_adaptive, 3, false),
    .samples = "adaptive_avg_pool3d(f32[1,2,3,5,4]; [2,3,1])",
};
const dt_op dt__op_interpolate = {
    .schema = "interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode=\"nearest\", "
              "bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
    .summary = "Images of another size: nearest, linear, bilinear, trilinear, bicubic or area.",
    RESAMPLE(read_interpolation, 0, false),
    .samples = "interpolate(f32[2,3,5]; 8)\ninterpolate(f32[1,2,5,4]; scale_factor=[1.5,0.7]; mode=bilinear)\n"
               "interpolate(f32[1,2,5,4]; [9,3]; mode=bicubic; align_corners=true)\n"
               "interpolate(f32[1,2,7,6]; [3,4]; mode=bilinear; antialias=true)\n"
               "interpolate(f32[1,1,3,4,5]; [2,3,7]; mode=area)",
};
const dt_op dt__op_resample = {
    .schema = "resample(Tensor self, int[] sizes, str mode, float[] numbers) -> Tensor",
    .summary = "Images of the given sizes: any of avg_pool, adaptive_avg_pool and interpolate.",
    RESAMPLE(read_any, 0, false),
    .samples = "resample(f32[2,3,9]; [2,3,4]; average; [3,2,0,1,0])\nresample(f32[1,2,5,4]; [1,2,3,3]; adaptive; [])",
};
const dt_op dt__op_resample_backward = {
    .schema = "resample_backward(Tensor grad_output, int[] sizes, str mode, float[] numbers) -> Tensor",
    .summary = "The transpose of resample: its gradient, of the sizes of its input.",
    RESAMPLE(read_any, 0, true),
    .samples = "resample_backward(f32[2,3,4]; [2,3,9]; average; [3,2,0,1,0])\n"
               "resample_backward(f32[1,2,9,3]; [1,2,5,4]; cubic; [0,0,1,0])\n"
               "resample_backward(f32[2,3,8]; [2,3,5]; nearest; [0,0,0])",
};
