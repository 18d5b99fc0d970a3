/* SPDX-License-Identifier: Apache-2.0
 *
 * A convolution in one dim as a program would register it, with its two gradients: windows that follow from the parts
 * of outputs (values, gradient of the input) and of inputs (gradient of the weight, a partial sum). Values against
 * loops on the full tensors; bytes: exactly what a rank needs and does not hold. x is [n,c,h], w is [k,c,t], y is
 * [n,k,o].
 */
#include "dispatch/calls.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* What kernels note of the operand that has a halo, where a test asks for it. */
static struct {
    const double *shard; /* NULL: nothing is noted */
    int64_t shard_elements, n_in_place, n_copied;
    bool gives_sign; /* that a kernel runs */
} notes;

static void note(const dt_op_call *call);

/* The last arguments of all three. */
typedef struct geometry {
    int64_t stride, padding, dilation;
} geometry;

static geometry geometry_of(const dt_op_call *call) {
    const dt_arg *args = call->args + call->n_args - 3;
    return (geometry){args[0].as.i, args[1].as.i, args[2].as.i};
}

static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); } /* b > 0 */
static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int64_t output_size(geometry g, int64_t h, int64_t taps) {
    int64_t room = h + 2 * g.padding - (taps - 1) * g.dilation - 1;
    return room < 0 ? -1 : room / g.stride + 1;
}

static dt_status check_tensors(const dt_op_call *call) {
    geometry g = geometry_of(call);
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    bool fits = a->n_dims == 3 && b->n_dims == 3 && a->dtype == b->dtype &&
                (a->dtype == DT_F64 || a->dtype == DT_F32) && g.stride > 0 && g.padding >= 0 && g.dilation > 0;
    return fits ? DT_OK : dt_op_refuse(call, DT_ERR_SHAPE, "expected tensors of three dims");
}

static dt_status shape_conv(dt_op_call *call) {
    DT__TRY(check_tensors(call));
    const int64_t *x = call->inputs[0].shape, *w = call->inputs[1].shape;
    int64_t size = output_size(geometry_of(call), x[2], w[2]);
    if (x[1] != w[1] || w[2] < 1 || size < 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected as many channels, and taps that fit");
    return dt_op_add_output(call, call->inputs[0].dtype, 3, (int64_t[]){x[0], w[0], size});
}

static dt_status shape_conv_input(dt_op_call *call) {
    DT__TRY(check_tensors(call));
    const int64_t *grad = call->inputs[0].shape, *w = call->inputs[1].shape;
    int64_t size = call->args[2].as.i;
    if (grad[1] != w[0] || w[2] < 1 || size < 0 || output_size(geometry_of(call), size, w[2]) != grad[2])
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a gradient of this size");
    return dt_op_add_output(call, call->inputs[0].dtype, 3, (int64_t[]){grad[0], w[1], size});
}

static dt_status shape_conv_weight(dt_op_call *call) {
    DT__TRY(check_tensors(call));
    const int64_t *x = call->inputs[0].shape, *grad = call->inputs[1].shape;
    int64_t taps = call->args[2].as.i;
    if (x[0] != grad[0] || taps < 1 || output_size(geometry_of(call), x[2], taps) != grad[2])
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a gradient of this size");
    return dt_op_add_output(call, call->inputs[0].dtype, 3, (int64_t[]){grad[1], x[1], taps});
}

/* The indices of x that outputs first to first + n - 1 read. */
static void add_read(dt_window *out, geometry g, int64_t taps, int64_t size, int64_t first, int64_t n) {
    int64_t begin = max_i64(first * g.stride - g.padding, 0);
    int64_t end = min_i64((first + n - 1) * g.stride - g.padding + (taps - 1) * g.dilation + 1, size);
    dt_window_add(out, begin < end ? begin : 0, max_i64(end - begin, 0), 1);
}

static void window_conv(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *y = &call->outputs[0];
    if (input == 0 && dim == 2)
        add_read(out, geometry_of(call), call->inputs[1].shape[2], call->inputs[0].global_shape[2], y->offset[2],
                 y->shape[2]);
}

/* The outputs that read some of these indices of x. */
static void window_conv_input(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *grad = &call->inputs[0], *x = &call->outputs[0];
    geometry g = geometry_of(call);
    if (input != 0 || dim != 2)
        return;
    int64_t reach = (call->inputs[1].shape[2] - 1) * g.dilation, last = x->offset[2] + x->shape[2] - 1;
    int64_t begin = max_i64(ceil_div(x->offset[2] + g.padding - reach, g.stride), 0);
    int64_t end = min_i64(floor_div(last + g.padding, g.stride) + 1, grad->global_shape[2]);
    dt_window_add(out, begin < end ? begin : 0, max_i64(end - begin, 0), 1);
}

/* What this rank's part of the gradient was made from. */
static void window_conv_weight(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *x = &call->inputs[0], *grad = &call->inputs[1];
    if (input == 0 && dim == 2)
        add_read(out, geometry_of(call), call->outputs[0].shape[2], x->global_shape[2], grad->offset[2],
                 grad->shape[2]);
}

static unsigned char *address(const dt_op_value *value, int64_t i, int64_t j, int64_t k) {
    return (unsigned char *)value->data + (i * value->strides[0] + j * value->strides[1] + k * value->strides[2]) *
                                              (int64_t)dt_dtype_size(value->dtype);
}
static double read_at(const dt_op_value *value, int64_t i, int64_t j, int64_t k) {
    return dt__read_f64(value->dtype, address(value, i, j, k));
}
static void write_at(const dt_op_value *value, int64_t i, int64_t j, int64_t k, double to) {
    dt__write_f64(value->dtype, to, address(value, i, j, k));
}

/* The index in the window of x that output `o` (of the full tensor) reads for a tap; false: it is padding, or, which is
 * never the case where windows are right, outside the window. */
static bool find_read(geometry g, const dt_op_value *x, int64_t o, int64_t tap, int64_t *out) {
    int64_t at = o * g.stride - g.padding + tap * g.dilation;
    *out = at - (x->shape[2] ? x->offset[2] : 0);
    return at >= 0 && at < x->global_shape[2] && *out >= 0 && *out < x->shape[2];
}

static dt_status run_conv(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *w = &call->inputs[1], *y = &call->outputs[0];
    geometry g = geometry_of(call);
    int64_t at;
    note(call);
    for (int64_t n = 0; n < y->shape[0]; n++)
        for (int64_t k = 0; k < y->shape[1]; k++)
            for (int64_t o = 0; o < y->shape[2]; o++) {
                double sum = 0;
                for (int64_t c = 0; c < w->shape[1]; c++)
                    for (int64_t t = 0; t < w->shape[2]; t++)
                        if (find_read(g, x, y->offset[2] + o, t, &at))
                            sum += read_at(x, n, c, at) * read_at(w, k, c, t);
                write_at(y, n, k, o, sum);
            }
    return DT_OK;
}

/* The gradient in the window whose output reads index `at` of x with this tap. */
static bool find_reader(geometry g, const dt_op_value *grad, int64_t at, int64_t tap, int64_t *out) {
    int64_t from = at + g.padding - tap * g.dilation;
    *out = from / g.stride - (grad->shape[2] ? grad->offset[2] : 0);
    return from >= 0 && from % g.stride == 0 && *out >= 0 && *out < grad->shape[2];
}

static dt_status run_conv_input(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *w = &call->inputs[1], *x = &call->outputs[0];
    geometry g = geometry_of(call);
    int64_t at;
    note(call);
    for (int64_t n = 0; n < x->shape[0]; n++)
        for (int64_t c = 0; c < x->shape[1]; c++)
            for (int64_t h = 0; h < x->shape[2]; h++) {
                double sum = 0;
                for (int64_t k = 0; k < w->shape[0]; k++)
                    for (int64_t t = 0; t < w->shape[2]; t++)
                        if (find_reader(g, grad, x->offset[2] + h, t, &at))
                            sum += read_at(grad, n, k, at) * read_at(w, k, c, t);
                write_at(x, n, c, h, sum);
            }
    return DT_OK;
}

static dt_status run_conv_weight(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *grad = &call->inputs[1], *w = &call->outputs[0];
    geometry g = geometry_of(call);
    int64_t at;
    note(call);
    for (int64_t k = 0; k < w->shape[0]; k++)
        for (int64_t c = 0; c < w->shape[1]; c++)
            for (int64_t t = 0; t < w->shape[2]; t++) {
                double sum = 0;
                for (int64_t n = 0; n < grad->shape[0]; n++)
                    for (int64_t o = 0; o < grad->shape[2]; o++)
                        if (find_read(g, x, grad->offset[2] + o, t, &at))
                            sum += read_at(x, n, c, at) * read_at(grad, n, k, o);
                write_at(w, k, c, t, sum);
            }
    return DT_OK;
}

#define GEOMETRY "int stride=1, int padding=0, int dilation=1"
#define SAME     "stride=stride, padding=padding, dilation=dilation"

static const dt_op conv = {
    .schema = "conv(Tensor x, Tensor w, " GEOMETRY ") -> Tensor",
    .rule = "nch^, kct! -> nkh",
    .partial = DT_PARTIAL_EACH,
    .flags = DT_OP_TILES,
    .shape = shape_conv,
    .kernel = run_conv,
    .window = window_conv,
    .gradient = "x: conv_input(grad, w, size(x.shape, 2), " SAME "); "
                "w: conv_weight(x, grad, size(w.shape, 2), " SAME ")",
    .samples = "conv(f64[2,3,9]; f64[2,3,3])\nconv(f64[2,1,11]; f64[1,1,3]; stride=2; padding=2)\n"
               "conv(f32[1,2,10]; f32[2,2,2]; padding=3; dilation=4)\nconv(f64[1,1,9]; f64[1,1,2]; stride=5)",
};

static const dt_op conv_input = {
    .schema = "conv_input(Tensor of_y, Tensor w, int size, " GEOMETRY ") -> Tensor",
    .rule = "nkh^, kct! -> nch",
    .partial = DT_PARTIAL_EACH,
    .flags = DT_OP_TILES,
    .shape = shape_conv_input,
    .kernel = run_conv_input,
    .window = window_conv_input,
    .samples = "conv_input(f64[2,3,7]; f64[3,2,3]; 9)\nconv_input(f64[2,1,7]; f64[1,1,3]; 11; stride=2; padding=2)\n"
               "conv_input(f64[1,1,2]; f64[1,1,2]; 9; stride=5)",
};

static const dt_op conv_weight = {
    .schema = "conv_weight(Tensor x, Tensor of_y, int taps, " GEOMETRY ") -> Tensor",
    .rule = "nch^, nkh -> kct!",
    .partial = DT_PARTIAL_EACH,
    .flags = DT_OP_TILES,
    .shape = shape_conv_weight,
    .kernel = run_conv_weight,
    .window = window_conv_weight,
    .samples =
        "conv_weight(f64[2,3,9]; f64[2,2,7]; 3)\nconv_weight(f64[2,1,11]; f64[2,1,7]; 3; stride=2; padding=2)\n"
        "conv_weight(f32[1,2,10]; f32[1,2,12]; 2; padding=3; dilation=4)",
};

static dt_status register_all(dt_ctx *ctx) {
    DT__TRY(dt_op_register(ctx, &conv_weight));
    DT__TRY(dt_op_register(ctx, &conv_input));
    return dt_op_register(ctx, &conv);
}

static void convolution__rows_are_verified(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const char *const names[] = {"conv", "conv_input", "conv_weight"};
    if (register_all(ctx) != DT_OK)
        fail_msg("%s", dt_error_text(ctx));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dt_op_verify(ctx, names[i]) != DT_OK)
            fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_close(ctx), 0);
}

/* A case: sizes, and where the tensors are. */
typedef struct conv_case {
    int64_t n_ranks;
    const char *mesh, *x, *w;
    int64_t h, taps;
    geometry g;
    const char *of_y;     /* where the gradient of the output is */
    const char *y, *of_w; /* expected placements of the output, and of the gradients */
    bool moves;           /* other transfers than windows are made, or another row is cheaper */
    bool is_thin;         /* n, c and k are 1, not 2, 3 and 4: no other dim is worth sharding */
} conv_case;

enum { N = 2, C = 3, K = 4 };

static dt_tensor *call_conv(dt_ctx *ctx, const char *op, dt_tensor *a, dt_tensor *b, int64_t size, geometry g) {
    char text[160];
    if (size < 0)
        (void)snprintf(text, sizeof text, "%s($1; $2; %" PRId64 "; %" PRId64 "; %" PRId64 ")", op, g.stride,
                       g.padding, g.dilation);
    else
        (void)snprintf(text, sizeof text, "%s($1; $2; %" PRId64 "; %" PRId64 "; %" PRId64 "; %" PRId64 ")", op, size,
                       g.stride, g.padding, g.dilation);
    return CALL(ctx, text, a, b);
}

/* The elements of y, of the gradient of x or of that of w, by loops over all products. */
typedef struct expected {
    double y[N * K * 64], x[N * C * 64], w[K * C * 16];
} expected;

static void compute_expected(const conv_case *of, const dt_tensor *x, const dt_tensor *w, const dt_tensor *of_y,
                             expected *out) {
    int64_t size = output_size(of->g, of->h, of->taps), channels = x->shape[1], filters = w->shape[0];
    memset(out, 0, sizeof *out);
    for (int64_t n = 0; n < x->shape[0]; n++)
        for (int64_t k = 0; k < filters; k++)
            for (int64_t o = 0; o < size; o++)
                for (int64_t c = 0; c < channels; c++)
                    for (int64_t t = 0; t < of->taps; t++) {
                        int64_t at = o * of->g.stride - of->g.padding + t * of->g.dilation;
                        if (at < 0 || at >= of->h)
                            continue;
                        int64_t ix = (n * channels + c) * of->h + at, iw = (k * channels + c) * of->taps + t;
                        int64_t iy = (n * filters + k) * size + o;
                        out->y[iy] += calls_element(x, ix) * calls_element(w, iw);
                        out->x[ix] += calls_element(of_y, iy) * calls_element(w, iw);
                        out->w[iw] += calls_element(of_y, iy) * calls_element(x, ix);
                    }
}

static int check_elements(const char *what, dt_tensor *got, const double *want) {
    dt_tensor *full = dt_contiguous(dt_full_tensor(got));
    CHECK(full, "%s", dt_error_text(got->ctx));
    for (int64_t i = 0; i < dt_tensor_elements(full); i++)
        CHECK(calls_element(full, i) == want[i], "%s: element %" PRId64 ": expected %g, got %g", what, i, want[i],
              calls_element(full, i));
    return 0;
}

/* Which indices of a dim this rank holds. */
static bool holds(const dt_tensor *tensor, const int64_t *coordinate, int dim, int64_t at) {
    dt_run runs[16];
    int64_t n = dt_spec_runs(tensor->spec, coordinate, dim, 0, 16, runs);
    for (int64_t r = 0; r < n; r++)
        if (at >= runs[r].begin && at < runs[r].end)
            return true;
    return false;
}

/* The bytes that this rank needs of `from` and does not hold, where rows of `of` that it holds need rows of `from`:
 * those of x from the first to the last tap, or, reversed, the outputs with such taps. */
static int64_t halo_bytes(const conv_case *test, const dt_tensor *from, const dt_tensor *of, bool reversed) {
    int64_t coordinate[DT_MESH_MAX_DIMS], halo = 0, first = INT64_MAX, last = -1;
    const int64_t *local = dt_tensor_local_shape(from), *of_local = dt_tensor_local_shape(of);
    if (!dt_mesh_coordinate(of->spec->mesh, coordinate) || of_local[0] * of_local[1] * of_local[2] == 0)
        return 0;
    for (int64_t i = 0; i < of->shape[2]; i++)
        for (int64_t at = 0; at < from->shape[2] && holds(of, coordinate, 2, i); at++) {
            int64_t x = reversed ? i : at, y = reversed ? at : i, tap = x - (y * test->g.stride - test->g.padding);
            if (tap < 0 || tap > (test->taps - 1) * test->g.dilation)
                continue;
            first = min_i64(first, at);
            last = max_i64(last, at);
        }
    for (int64_t at = first; at <= last; at++)
        halo += !holds(from, coordinate, 2, at);
    return halo * local[0] * local[1] * (int64_t)dt_dtype_size(from->dtype);
}

/* Runs one op twice, the second time from the cache, and checks what was sent. */
static dt_tensor *run_counted(dt_ctx *ctx, const char *op, dt_tensor *a, dt_tensor *b, int64_t size, geometry g,
                              dt_comm_statistics *all, dt_comm_statistics *windows) {
    dt_tensor *out = NULL;
    for (int again = 0; again < 2; again++) {
        if (dt_comm_stats_begin(ctx) != DT_OK)
            return NULL;
        out = call_conv(ctx, op, a, b, size, g);
        *all = dt_comm_stats(ctx, NULL);
        *windows = dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_to_all"});
        dt_comm_stats_end(ctx);
    }
    return out;
}

/* Of small tensors another way may need even less. */
static int check_bytes(const char *what, const conv_case *test, dt_comm_statistics all, dt_comm_statistics windows,
                       int64_t bytes, dt_tensor *out, const char *place) {
    bool is_windowed = test->moves || !strcmp(calls_placements(out), place);
    bool is_small = output_size(test->g, test->h, test->taps) < 20;
    if (test->moves)
        return 0;
    CHECK(is_windowed || is_small, "%s of %s on mesh(%s): expected %s, got %s", what, test->x, test->mesh, place,
          calls_placements(out));
    if (!is_windowed)
        return 0;
    CHECK(all.n == windows.n && windows.n <= 1, "%s of %s: %lld collectives, %lld windows", what, test->x,
          (long long)all.n, (long long)windows.n);
    CHECK(all.bytes == bytes, "%s of %s on mesh(%s): received %lld bytes, expected %lld", what, test->x, test->mesh,
          (long long)all.bytes, (long long)bytes);
    return 0;
}

static int run_case(dt_ctx *ctx, void *arg) {
    const conv_case *test = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, test->mesh);
    int64_t size = output_size(test->g, test->h, test->taps);
    int64_t n = test->is_thin ? 1 : N, c = test->is_thin ? 1 : C, k = test->is_thin ? 1 : K;
    static expected want;
    dt_comm_statistics all, windows;
    CHECK_OK(ctx, register_all(ctx));
    dt_tensor *x = calls_counting(ctx, DT_F64, DT_SHAPE(n, c, test->h), -7, 3);
    dt_tensor *w = calls_counting(ctx, DT_F64, DT_SHAPE(k, c, test->taps), 2, -1);
    dt_tensor *of_y = calls_counting(ctx, DT_F64, DT_SHAPE(n, k, size), -3, 2);
    compute_expected(test, x, w, of_y, &want);
    dt_tensor *placed_x = calls_distribute(x, mesh, test->x), *placed_w = calls_distribute(w, mesh, test->w);
    dt_tensor *placed_of_y = calls_distribute(of_y, mesh, test->of_y);
    CHECK(placed_x && placed_w && placed_of_y, "%s", dt_error_text(ctx));

    dt_tensor *y = run_counted(ctx, "conv", placed_x, placed_w, -1, test->g, &all, &windows);
    CHECK(y, "%s", dt_error_text(ctx));
    if (check_elements("y", y, want.y) ||
        check_bytes("y", test, all, windows, halo_bytes(test, placed_x, y, false), y, test->y))
        return 1;

    dt_tensor *of_x = run_counted(ctx, "conv_input", placed_of_y, placed_w, test->h, test->g, &all, &windows);
    CHECK(of_x, "%s", dt_error_text(ctx));
    if (check_elements("the gradient of x", of_x, want.x) ||
        check_bytes("the gradient of x", test, all, windows, halo_bytes(test, placed_of_y, of_x, true), of_x,
                    test->y))
        return 1;

    dt_tensor *of_w = run_counted(ctx, "conv_weight", placed_x, placed_of_y, test->taps, test->g, &all, &windows);
    CHECK(of_w, "%s", dt_error_text(ctx));
    if (check_elements("the gradient of w", of_w, want.w) ||
        check_bytes("the gradient of w", test, all, windows, halo_bytes(test, placed_x, placed_of_y, false), of_w,
                    test->of_w))
        return 1;

    CHECK_OK(ctx, dt_set_requires_grad(placed_x, true));
    CHECK_OK(ctx, dt_set_requires_grad(placed_w, true));
    y = call_conv(ctx, "conv", placed_x, placed_w, -1, test->g);
    CHECK(y && dt_backward(y, .grad = placed_of_y) == DT_OK, "%s", dt_error_text(ctx));
    if (check_elements("grad of x", dt_grad(placed_x), want.x) ||
        check_elements("grad of w", dt_grad(placed_w), want.w))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

/* Every geometry, on shards of one dim: even and uneven, smaller than the halo, empty. */
static void convolution__moves_the_halo_only(void **state) {
    (void)state;
    static const geometry geometries[] = {{1, 1, 1}, {1, 0, 1}, {2, 1, 1}, {3, 2, 2}, {1, 4, 4}, {5, 0, 1}};
    static const struct {
        int64_t n;
        const char *mesh, *x, *of_w;
    } worlds[] = {{1, "1", "S(2)", "P(sum)"},
                  {2, "2", "S(2)", "P(sum)"},
                  {3, "3", "S(2)", "P(sum)"},
                  {5, "5", "S(2)", "P(sum)"},
                  {7, "7", "S(2)", "P(sum)"},
                  {4, "2,2", "S(2),S(2)", "P(sum),P(sum)"},
                  {4, "2,2", "S(0),S(2)", "P(sum),P(sum)"},
                  {4, "2,2", "S(2)[1],S(2)[0]", "P(sum),P(sum)"},
                  {6, "2,3", "R,S(2)", "R,P(sum)"}};
    static const int64_t heights[] = {40, 13};
    for (size_t v = 0; v < sizeof worlds / sizeof *worlds; v++)
        for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++) {
            conv_case test = {.n_ranks = worlds[v].n,
                              .mesh = worlds[v].mesh,
                              .x = worlds[v].x,
                              .w = strchr(worlds[v].mesh, ',') ? "R,R" : "R",
                              .h = heights[(v + i) % 2],
                              .taps = 3,
                              .g = geometries[i],
                              .of_y = worlds[v].x,
                              .y = worlds[v].x,
                              .of_w = worlds[v].of_w};
            run_ranks(test.n_ranks, run_case, &test);
        }
}

/* Halos that are wider than a neighbor's shard, some of them empty: they come from several ranks. */
static void convolution__reads_beyond_its_neighbors(void **state) {
    (void)state;
    static const geometry geometries[] = {{1, 12, 12}, {1, 9, 9}, {1, 14, 14}};
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
        for (int64_t n = 5; n <= 7; n++) {
            char mesh[8];
            (void)snprintf(mesh, sizeof mesh, "%d", (int)n);
            conv_case test = {n, mesh, "S(2)", "R", 50, 3, geometries[i], "S(2)", "S(2)", "P(sum)", false, true};
            run_ranks(n, run_case, &test);
        }
}

/* All placements, of x, w and the gradient; of strided shards whole windows are fetched. */
static void convolution__of_any_placement(void **state) {
    (void)state;
    static const conv_case cases[] = {
        {2, "2", "R", "R", 13, 3, {1, 1, 1}, "R", "R", "R", true, false},
        {2, "2", "S(0)", "R", 13, 3, {2, 1, 1}, "S(0)", NULL, NULL, true, false},
        {3, "3", "S(1)", "S(1)", 13, 3, {1, 1, 2}, "R", NULL, NULL, true, false},
        {3, "3", "R", "S(0)", 13, 3, {1, 0, 1}, "S(1)", NULL, NULL, true, false},
        {2, "2", "S(2)", "S(2)", 13, 3, {1, 0, 1}, "P(sum)", NULL, NULL, true, false},
        {3, "3", "P(sum)", "R", 13, 3, {1, 1, 1}, "S(2)", NULL, NULL, true, false},
        {4, "2,2", "S(2),S(1)", "R,S(1)", 40, 3, {1, 1, 1}, "S(2),R", NULL, NULL, true, false},
        {4, "2,2", "S(2),R", "R,S(0)", 40, 3, {1, 1, 1}, "S(2),S(1)", NULL, NULL, true, false},
        {4, "2,2", "S(2),P(sum)", "R,R", 40, 3, {2, 1, 1}, "S(2),R", NULL, NULL, true, false},
        {8, "2,2,2", "S(0),S(2),S(2)", "R,R,R", 40, 3, {1, 1, 1}, "S(0),S(2),S(2)", NULL, NULL, true, false},
        {2, "2", "S(2:3,37)", "R", 40, 3, {1, 1, 1}, "S(2)", NULL, NULL, true, false},
        {3, "3", "S(2:20,0,20)", "R", 40, 5, {1, 2, 1}, "S(2:19,20,1)", NULL, NULL, true, false},
        {2, "2", "_S(2,2)", "R", 40, 3, {1, 1, 1}, "_S(2,2)", NULL, NULL, true, false},
        {4, "2,2", "_S(2,2),S(2)", "R,R", 40, 3, {1, 1, 1}, "S(2),S(2)", NULL, NULL, true, false},
        {3, "3", "S(2)", "R", 1, 1, {1, 0, 1}, "S(2)", NULL, NULL, true, false},
        {5, "5", "S(2)", "R", 2, 2, {1, 1, 1}, "R", NULL, NULL, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_ranks(cases[i].n_ranks, run_case, (void *)&cases[i]);
}

/* A file by which the kernel of rank 0 tells rank 3 that it runs. */
static const char *sign_path(void) {
    static char path[64];
    (void)snprintf(path, sizeof path, "/tmp/dtensor-convolution.%ld", (long)getppid());
    return path;
}

static void note(const dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0];
    const double *from = x->data;
    bool in_place = notes.shard && from >= notes.shard && from < notes.shard + notes.shard_elements;
    *(in_place ? &notes.n_in_place : &notes.n_copied) += x->shape[0] * x->shape[1] * x->shape[2];
    if (notes.gives_sign)
        (void)close(open(sign_path(), O_CREAT | O_WRONLY, 0600));
}

enum { HEIGHT = 900 };

/* Of each op nearly all of the shard is read where it is: only what surrounds the halo is copied. */
static int count_copies(dt_ctx *ctx, void *arg) {
    static const char *const ops[] = {"conv", "conv_input", "conv_weight"};
    const geometry g = {1, 1, 1};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    CHECK_OK(ctx, register_all(ctx));
    dt_tensor *x = calls_distribute(calls_counting(ctx, DT_F64, DT_SHAPE(N, C, HEIGHT), -7, 3), mesh, "S(2)");
    dt_tensor *w = calls_distribute(calls_counting(ctx, DT_F64, DT_SHAPE(K, C, 3), 2, -1), mesh, "R");
    dt_tensor *of_y = calls_distribute(calls_counting(ctx, DT_F64, DT_SHAPE(N, K, HEIGHT), -3, 2), mesh, "S(2)");
    for (int i = 0; i < 3; i++) {
        dt_tensor *a = i == 1 ? of_y : x, *b = i == 2 ? of_y : w;
        const int64_t n_local = a->spec->local.elements, n_rows = a->shape[0] * a->shape[1];
        memset(&notes, 0, sizeof notes);
        notes.shard = (const double *)a->data;
        notes.shard_elements = n_local;
        dt_tensor *out = call_conv(ctx, ops[i], a, b, i == 0 ? -1 : i == 1 ? HEIGHT : 3, g);
        CHECK(out, "%s", dt_error_text(ctx));
        CHECK(notes.n_in_place > n_local / 2 && notes.n_copied <= 16 * n_rows,
              "%s: of %" PRId64 " elements %" PRId64 " were read in place, %" PRId64 " copied", ops[i], n_local,
              notes.n_in_place, notes.n_copied);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void convolution__reads_the_inside_in_place(void **state) {
    (void)state;
    run_ranks(2, count_copies, NULL);
    run_ranks(5, count_copies, NULL);
}

static bool wait_for_sign(void) {
    for (int tries = 0; access(sign_path(), F_OK); tries++) {
        if (tries == 2000)
            return false;
        (void)usleep(10000);
    }
    return true;
}

/* Between nodes rank 0 computes its inside before rank 3, on the other node, has even made the call. */
static int run_inside_first(dt_ctx *ctx, void *arg) {
    const geometry g = {1, 1, 1};
    int64_t last_on_first_node = 0;
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    CHECK_OK(ctx, register_all(ctx));
    dt_tensor *x = calls_distribute(calls_counting(ctx, DT_F64, DT_SHAPE(N, C, HEIGHT), -7, 3), mesh, "S(2)");
    dt_tensor *w = calls_distribute(calls_counting(ctx, DT_F64, DT_SHAPE(K, C, 3), 2, -1), mesh, "R");
    CHECK(x && w, "%s", dt_error_text(ctx));
    for (int64_t rank = 0; rank < 4; rank++)
        last_on_first_node = dt__node_of(ctx, rank) == dt__node_of(ctx, 0) ? rank : last_on_first_node;
    memset(&notes, 0, sizeof notes);
    notes.gives_sign = dt_rank(ctx) == 0;
    if (dt_rank(ctx) == 0)
        (void)unlink(sign_path());
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 3 && last_on_first_node < 3)
        CHECK(wait_for_sign(), "rank 0 waits for halos before it computes its inside");
    CHECK(call_conv(ctx, "conv", x, w, -1, g), "%s", dt_error_text(ctx));
    notes.gives_sign = false;
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    (void)unlink(sign_path());
    dt_mesh_release(mesh);
    return 0;
}

static void convolution__computes_the_inside_while_halos_arrive(void **state) {
    (void)state;
    run_ranks(4, run_inside_first, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution__rows_are_verified),
        cmocka_unit_test(convolution__moves_the_halo_only),
        cmocka_unit_test(convolution__reads_beyond_its_neighbors),
        cmocka_unit_test(convolution__of_any_placement),
        cmocka_unit_test(convolution__reads_the_inside_in_place),
        cmocka_unit_test(convolution__computes_the_inside_while_halos_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
