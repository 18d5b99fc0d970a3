/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions, transposed ones and their gradients against loops over all products, in integers, which are exact:
 * every geometry, groups, views and dtypes on one rank; shards of batch, channels and space on several, where only the
 * halo moves. CNV-001, CNV-002, CNV-003, CNV-004, CNV-005, CNV-006, CNV-007.
 */
#include "dispatch/calls.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

enum { SPACE = 3, MOST = 1 << 15 };

typedef struct geometry {
    int n; /* dims of space */
    int64_t batch, channels, filters, groups;
    int64_t image[SPACE], taps[SPACE], stride[SPACE], padding[SPACE], dilation[SPACE], more[SPACE];
} geometry;

static int64_t out_size(const geometry *g, int d) {
    return (g->image[d] + 2 * g->padding[d] - g->dilation[d] * (g->taps[d] - 1) - 1) / g->stride[d] + 1;
}

/* Sizes in three dims; those that a geometry lacks are 1. */
typedef struct sizes {
    int64_t image[SPACE], taps[SPACE], map[SPACE];
    int64_t n_image, n_taps, n_map;
} sizes;

static sizes sizes_of(const geometry *g) {
    sizes out = {.n_image = 1, .n_taps = 1, .n_map = 1};
    for (int d = 0; d < SPACE; d++) {
        out.image[d] = d < g->n ? g->image[d] : 1;
        out.taps[d] = d < g->n ? g->taps[d] : 1;
        out.map[d] = d < g->n ? out_size(g, d) : 1;
        out.n_image *= out.image[d];
        out.n_taps *= out.taps[d];
        out.n_map *= out.map[d];
    }
    return out;
}

/* The index of the image that a tap reads for a position of the map; -1: padding. */
static int64_t find_read(const geometry *g, const sizes *s, int64_t map, int64_t tap) {
    int64_t index = 0, scale = 1;
    for (int d = SPACE - 1; d >= 0; d--) {
        int64_t p = map % s->map[d], t = tap % s->taps[d];
        int64_t at = d < g->n ? p * g->stride[d] - g->padding[d] + t * g->dilation[d] : 0;
        if (at < 0 || at >= s->image[d])
            return -1;
        index += at * scale;
        scale *= s->image[d];
        map /= s->map[d];
        tap /= s->taps[d];
    }
    return index;
}

/* Adds every product: to the map, or, with the roles exchanged, to the image or the weight. */
static void add_products(const geometry *g, double *image, double *weight, double *map, double *to) {
    const sizes s = sizes_of(g);
    const int64_t c_group = g->channels / g->groups, k_group = g->filters / g->groups;
    for (int64_t n = 0; n < g->batch; n++)
        for (int64_t k = 0; k < g->filters; k++)
            for (int64_t c = 0; c < c_group; c++)
                for (int64_t p = 0; p < s.n_map; p++)
                    for (int64_t t = 0; t < s.n_taps; t++) {
                        int64_t at = find_read(g, &s, p, t);
                        double *x = image + ((n * g->channels + k / k_group * c_group + c) * s.n_image + at);
                        double *w = weight + ((k * c_group + c) * s.n_taps + t);
                        double *y = map + ((n * g->filters + k) * s.n_map + p);
                        if (at < 0)
                            continue;
                        if (to == map)
                            *y += *x * *w;
                        else if (to == image)
                            *x += *y * *w;
                        else
                            *w += *x * *y;
                    }
}

typedef struct tensors {
    dt_tensor *image, *weight, *map; /* plain f64; the map is a gradient of the output */
    double values[3][MOST];          /* of the map, the image and the weight, each from the other two */
} tensors;

static dt_shape shape_of(const geometry *g, const int64_t *space, int64_t first, int64_t second, int64_t *out) {
    out[0] = first;
    out[1] = second;
    for (int d = 0; d < g->n; d++)
        out[2 + d] = space[d];
    return (dt_shape){g->n + 2, out};
}

static void read_doubles(const dt_tensor *from, double *out) {
    for (int64_t i = 0; i < dt_tensor_elements(from); i++)
        out[i] = calls_element(from, i);
}

static dt_tensor *pattern(dt_ctx *ctx, dt_shape shape, int64_t seed) {
    dt_tensor *out = dt_empty(ctx, shape, .dtype = DT_F64);
    for (int64_t i = 0; i < dt_tensor_elements(out); i++)
        calls_set_element(out, i, (double)((i * 7 + seed) % 11 - 5));
    return out;
}

static tensors *make(dt_ctx *ctx, const geometry *g) {
    static tensors all;
    static double image[MOST], weight[MOST], map[MOST];
    const sizes s = sizes_of(g);
    int64_t shape[SPACE + 2];
    memset(&all, 0, sizeof all);
    all.image = pattern(ctx, shape_of(g, s.image, g->batch, g->channels, shape), 3);
    all.weight = pattern(ctx, shape_of(g, s.taps, g->filters, g->channels / g->groups, shape), 8);
    all.map = pattern(ctx, shape_of(g, s.map, g->batch, g->filters, shape), 5);
    read_doubles(all.image, image);
    read_doubles(all.weight, weight);
    read_doubles(all.map, map);
    add_products(g, image, weight, all.values[0], all.values[0]);
    add_products(g, all.values[1], weight, map, all.values[1]);
    add_products(g, image, all.values[2], map, all.values[2]);
    return &all;
}

#define INTS(list_) ((dt_ints){.n = g->n, .list = (list_)})

static dt_tensor *convolve(const geometry *g, dt_tensor *image, dt_tensor *weight, dt_tensor *bias) {
    static const int64_t none[SPACE];
    return dt_convolution(image, weight, INTS(g->stride), INTS(g->padding), INTS(g->dilation), false, INTS(none),
                          g->groups, .bias = bias);
}

static dt_tensor *convolve_transposed(const geometry *g, dt_tensor *map, dt_tensor *weight, dt_tensor *bias) {
    return dt_convolution(map, weight, INTS(g->stride), INTS(g->padding), INTS(g->dilation), true, INTS(g->more),
                          g->groups, .bias = bias);
}

static int check_values(const char *what, const dt_tensor *got, const double *want) {
    CHECK(got, "%s failed", what);
    dt_tensor *full = dt_contiguous(dt_full_tensor((dt_tensor *)(uintptr_t)got));
    CHECK(full, "%s: %s", what, dt_error_text(got->ctx));
    for (int64_t i = 0; i < dt_tensor_elements(full); i++)
        CHECK(calls_element(full, i) == want[i], "%s: element %" PRId64 ": expected %g, got %g", what, i, want[i],
              calls_element(full, i));
    return 0;
}

static const geometry geometries[] = {
    {1, 2, 3, 4, 1, {9}, {3}, {1}, {0}, {1}, {0}},
    {1, 2, 4, 6, 2, {11}, {3}, {2}, {2}, {1}, {0}},
    {1, 1, 2, 2, 1, {9}, {2}, {5}, {0}, {3}, {0}},
    {2, 2, 3, 4, 1, {7, 6}, {3, 2}, {1, 1}, {1, 0}, {1, 1}, {0, 0}},
    {2, 2, 3, 5, 1, {5, 4}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}},
    {2, 1, 6, 6, 6, {6, 9}, {3, 3}, {2, 3}, {1, 2}, {1, 2}, {1, 1}},
    {2, 1, 4, 8, 4, {6, 7}, {2, 3}, {1, 2}, {0, 1}, {2, 1}, {0, 0}},
    {3, 1, 2, 3, 1, {4, 3, 5}, {2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {2, 1, 3}, {0, 0, 0}},
    {3, 2, 2, 4, 2, {3, 4, 3}, {1, 2, 3}, {2, 1, 1}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}},
};
enum { N_GEOMETRIES = sizeof geometries / sizeof *geometries };

/* The image that a map of this size may have come from: its size, without what the last stride left over. */
static bool transposes_exactly(const geometry *g) {
    bool is_exact = true;
    for (int d = 0; d < g->n; d++)
        is_exact &=
            (g->image[d] + 2 * g->padding[d] - g->dilation[d] * (g->taps[d] - 1) - 1) % g->stride[d] == g->more[d];
    return is_exact;
}

static int run_alone(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (int i = 0; i < N_GEOMETRIES; i++) {
        const geometry *g = &geometries[i];
        const tensors *all = make(ctx, g);
        dt_shape image = {g->n + 2, all->image->shape}, weight = {g->n + 2, all->weight->shape};
        if (check_values("map", convolve(g, all->image, all->weight, NULL), all->values[0]) ||
            (transposes_exactly(g) &&
             check_values("transposed", convolve_transposed(g, all->map, all->weight, NULL), all->values[1])) ||
            check_values("image",
                         dt_conv_input_backward(all->map, all->weight, image, .stride = INTS(g->stride),
                                                .padding = INTS(g->padding), .dilation = INTS(g->dilation),
                                                .groups = DT_INT(g->groups)),
                         all->values[1]) ||
            check_values("weight",
                         dt_conv_weight_backward(all->image, all->map, weight, .stride = INTS(g->stride),
                                                 .padding = INTS(g->padding), .dilation = INTS(g->dilation),
                                                 .groups = DT_INT(g->groups)),
                         all->values[2]))
            return 1;
    }
    return 0;
}

static void convolutions__are_sums_of_products(void **state) {
    (void)state;
    run_ranks(1, run_alone, NULL);
}

/* Dtypes, and views whose strides are in another order: channels last, or every second element. */
static int run_views(dt_ctx *ctx, void *arg) {
    static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_F16, DT_BF16, DT_I64, DT_I32, DT_C64, DT_C128};
    (void)arg;
    for (int i = 0; i < N_GEOMETRIES; i++) {
        const geometry *g = &geometries[i];
        const tensors *all = make(ctx, g);
        int64_t last[SPACE + 2] = {0}, back[SPACE + 2] = {0, g->n + 1};
        for (int d = 0; d < g->n; d++) {
            last[1 + d] = d + 2;
            back[2 + d] = d + 1;
        }
        last[g->n + 1] = 1;
        dt_dims to_last = {.n = g->n + 2, .list = last}, to_first = {.n = g->n + 2, .list = back};
        for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++) {
            if (dtypes[t] == DT_F16 || dtypes[t] == DT_BF16) /* sums are above what they count exactly */
                if (g->channels * g->groups > 3)
                    continue;
            dt_tensor *image = dt_to(all->image, dtypes[t]), *weight = dt_to(all->weight, dtypes[t]);
            dt_tensor *channels_last = dt_permute(dt_contiguous(dt_permute(image, to_last)), to_first);
            dt_tensor *pairs = dt_stack(DT_TENSORS(image, image), .dim = DT_INT(-1));
            dt_tensor *wide = dt_select(pairs, -1, 0);
            dt_tensor *flipped = dt_permute(dt_contiguous(dt_permute(weight, to_last)), to_first);
            dt_tensor *results[] = {convolve(g, channels_last, weight, NULL), convolve(g, wide, flipped, NULL)};
            for (int r = 0; r < 2; r++) {
                CHECK(results[r], "%s", dt_error_text(ctx));
                dt_tensor *real = dtypes[t] == DT_C64 || dtypes[t] == DT_C128 ? dt_view_as_real(results[r]) : NULL;
                dt_tensor *number = real ? dt_select(real, -1, 0) : results[r];
                if (check_values("a view", dt_to(number, DT_F64), all->values[0]))
                    return 1;
            }
        }
    }
    return 0;
}

static void convolutions__take_views_and_dtypes(void **state) {
    (void)state;
    run_ranks(1, run_views, NULL);
}

/* A case of conv2d on several ranks. */
typedef struct sharded {
    int n_ranks;
    const char *mesh, *image, *weight, *map, *of_weight; /* map: expected of the output, and of its gradient */
    geometry g;
    bool moves; /* more than halos */
} sharded;

static void find_box(const dt_tensor *tensor, int64_t *begin, int64_t *end) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    if (!dt_mesh_coordinate(tensor->spec->mesh, coordinate))
        return;
    for (int d = 0; d < tensor->n_dims; d++) {
        dt_run run = {0};
        (void)dt_spec_runs(tensor->spec, coordinate, d, 0, 1, &run);
        begin[d] = run.begin;
        end[d] = run.end;
    }
}

/* What this rank's part of `of` needs of `from` and does not hold: the box of all that is read, or that reads. */
static int64_t halo_bytes(const geometry *g, const dt_tensor *from, const dt_tensor *of, bool is_reversed) {
    int64_t begin[5], end[5], held_begin[5], held_end[5], needed = 1, held = 1;
    find_box(of, begin, end);
    find_box(from, held_begin, held_end);
    for (int d = 0; d < g->n + 2; d++)
        if (begin[d] == end[d])
            return 0;
    for (int d = 0; d < g->n; d++) {
        int64_t first = INT64_MAX, last = -1;
        for (int64_t y = 0; y < (is_reversed ? from : of)->shape[2 + d]; y++)
            for (int64_t x = 0; x < (is_reversed ? of : from)->shape[2 + d]; x++) {
                int64_t tap = x - (y * g->stride[d] - g->padding[d]), i = is_reversed ? x : y,
                        at = is_reversed ? y : x;
                if (i < begin[2 + d] || i >= end[2 + d] || tap < 0 || tap > (g->taps[d] - 1) * g->dilation[d])
                    continue;
                first = at < first ? at : first;
                last = at > last ? at : last;
            }
        int64_t size = last < first ? 0 : last - first + 1;
        int64_t lower = held_begin[2 + d] > first ? held_begin[2 + d] : first;
        int64_t upper = held_end[2 + d] < last + 1 ? held_end[2 + d] : last + 1;
        needed *= size;
        held *= upper > lower ? upper - lower : 0;
    }
    return (needed - held) * (held_end[0] - held_begin[0]) * (held_end[1] - held_begin[1]) * (int64_t)sizeof(double);
}

static int check_sent(dt_ctx *ctx, const char *what, const sharded *test, const dt_tensor *out, const char *place,
                      int64_t bytes) {
    dt_comm_statistics all = dt_comm_stats(ctx, NULL);
    dt_comm_stats_end(ctx);
    if (test->moves)
        return 0;
    CHECK(!strcmp(calls_placements(out), place), "%s of %s on mesh(%s): expected %s, got %s", what, test->image,
          test->mesh, place, calls_placements(out));
    CHECK(all.bytes == bytes, "%s of %s on mesh(%s): received %lld bytes, expected %lld", what, test->image,
          test->mesh, (long long)all.bytes, (long long)bytes);
    return 0;
}

static int run_sharded(dt_ctx *ctx, void *arg) {
    const sharded *test = arg;
    const geometry *g = &test->g;
    const tensors *all = make(ctx, g);
    dt_mesh *mesh = dt_mesh_new(ctx, test->mesh);
    dt_tensor *image = calls_distribute(all->image, mesh, test->image);
    dt_tensor *weight = calls_distribute(all->weight, mesh, test->weight);
    CHECK(image && weight, "%s", dt_error_text(ctx));
    dt_shape image_shape = {4, all->image->shape}, weight_shape = {4, all->weight->shape};
    for (int again = 0; again < 2; again++) {
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *map = convolve(g, image, weight, NULL);
        CHECK(map, "%s", dt_error_text(ctx));
        if (check_sent(ctx, "map", test, map, test->map, halo_bytes(g, image, map, false)) ||
            check_values("map", map, all->values[0]))
            return 1;
        dt_tensor *grad = calls_distribute(all->map, mesh,
                                           !strchr(test->map, 'P')  ? test->map
                                           : strchr(test->map, ',') ? "R,R"
                                                                    : "R");
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *of_image =
            dt_conv_input_backward(grad, weight, image_shape, .stride = INTS(g->stride), .padding = INTS(g->padding),
                                   .dilation = INTS(g->dilation), .groups = DT_INT(g->groups));
        CHECK(of_image, "%s", dt_error_text(ctx));
        if (check_sent(ctx, "image", test, of_image, test->image, halo_bytes(g, grad, of_image, true)) ||
            check_values("image", of_image, all->values[1]))
            return 1;
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *of_weight =
            dt_conv_weight_backward(image, grad, weight_shape, .stride = INTS(g->stride), .padding = INTS(g->padding),
                                    .dilation = INTS(g->dilation), .groups = DT_INT(g->groups));
        CHECK(of_weight, "%s", dt_error_text(ctx));
        if (check_sent(ctx, "weight", test, of_weight, test->of_weight, halo_bytes(g, image, grad, false)) ||
            check_values("weight", of_weight, all->values[2]))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

#define PLAIN_3X3                                                                                                    \
    {                                                                                                                \
        2, 2, 3, 4, 1, {44, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, { 0, 0 }                                            \
    }
#define STRIDED_5X3                                                                                                  \
    {                                                                                                                \
        2, 2, 3, 4, 1, {95, 26}, {5, 3}, {2, 3}, {2, 0}, {1, 2}, { 0, 0 }                                            \
    }
#define DILATED                                                                                                      \
    {                                                                                                                \
        2, 1, 2, 2, 1, {30, 16}, {3, 1}, {1, 1}, {9, 0}, {9, 1}, { 0, 0 }                                            \
    }
#define FAR_TAPS                                                                                                     \
    {                                                                                                                \
        2, 1, 1, 1, 1, {70, 1}, {3, 1}, {1, 1}, {11, 0}, {11, 1}, { 0, 0 }                                           \
    }
#define DEPTHWISE                                                                                                    \
    {                                                                                                                \
        2, 2, 4, 4, 4, {44, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, { 0, 0 }                                            \
    }

static void convolutions__in_space_move_halos(void **state) {
    (void)state;
    static const geometry all[] = {PLAIN_3X3, STRIDED_5X3, DILATED, DEPTHWISE};
    static const struct {
        int n;
        const char *mesh, *place, *of_weight;
    } worlds[] = {{1, "1", "S(2)", "P(sum)"},
                  {2, "2", "S(2)", "P(sum)"},
                  {3, "3", "S(3)", "P(sum)"},
                  {5, "5", "S(2)", "P(sum)"},
                  {7, "7", "S(2)", "P(sum)"},
                  {4, "2,2", "S(2),S(3)", "P(sum),P(sum)"},
                  {4, "2,2", "S(2),S(2)", "P(sum),P(sum)"},
                  {6, "2,3", "S(0),S(2)", "P(sum),P(sum)"}};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            const char *weight = strchr(worlds[w].mesh, ',') ? "R,R" : "R";
            sharded test = {worlds[w].n,     worlds[w].mesh,      worlds[w].place, weight,
                            worlds[w].place, worlds[w].of_weight, all[i],          all[i].batch == 1};
            run_ranks(worlds[w].n, run_sharded, &test);
        }
    /* Taps that are further apart than the rows of a rank. */
    sharded far = {7, "7", "S(2)", "R", "S(2)", "P(sum)", FAR_TAPS, false};
    run_ranks(7, run_sharded, &far);
}

/* Other placements than those that need halos only, and shards that are smaller than what a rank needs. */
static void convolutions__of_any_placement(void **state) {
    (void)state;
    static const sharded cases[] = {
        {2, "2", "S(0)", "R", "S(0)", "P(sum)", PLAIN_3X3, false},
        {3, "3", "R", "S(0)", "S(1)", "S(0)", PLAIN_3X3, true},
        {3, "3", "S(1)", "S(1)", "P(sum)", "S(1)", PLAIN_3X3, true},
        {2, "2", "S(1)", "S(0)", "S(1)", "S(0)", DEPTHWISE, false},
        {3, "3", "S(1)", "S(0)", "S(1)", "S(0)", DEPTHWISE, true},
        {4, "2,2", "S(2),S(1)", "R,S(1)", "S(2),P(sum)", "R,R", PLAIN_3X3, true},
        {4, "2,2", "S(2),R", "R,S(0)", "S(2),S(1)", "R,R", PLAIN_3X3, true},
        {3, "3", "P(sum)", "R", "P(sum)", "R", PLAIN_3X3, true},
        {3, "3", "R", "S(2)", "R", "R", STRIDED_5X3, true},
        {7, "7", "S(2)", "R", "S(2)", "R", {2, 1, 1, 1, 1, {5, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}, true},
        {5, "5", "S(3)", "R", "S(3)", "R", {2, 1, 1, 2, 1, {2, 3}, {2, 2}, {1, 1}, {2, 1}, {3, 1}, {0, 0}}, true},
        {3, "3", "S(2:40,0,4)", "R", "S(2)", "R", PLAIN_3X3, true},
        {2, "2", "_S(2,2)", "R", "S(2)", "R", PLAIN_3X3, true},
        {4,
         "4",
         "S(1)",
         "S(0)",
         "S(1)",
         "S(0)",
         {2, 1, 6, 4, 2, {5, 5}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, {0, 0}},
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_ranks(cases[i].n_ranks, run_sharded, (void *)(uintptr_t)&cases[i]);
}

/* CNV-006, CNV-007: a sharded batch moves nothing, forward and backward. */
static int run_batch(dt_ctx *ctx, void *arg) {
    static const geometry all[] = {
        {2, 4, 3, 8, 1, {16, 16}, {7, 7}, {2, 2}, {3, 3}, {1, 1}, {0, 0}},
        {1, 4, 3, 4, 1, {16}, {3}, {1}, {1}, {1}, {0}},
        {3, 4, 3, 2, 1, {8, 8, 8}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}},
    };
    (void)arg;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const geometry *g = &all[i];
        const tensors *full = make(ctx, g);
        dt_mesh *mesh = dt_mesh_new(ctx, "2");
        dt_tensor *image = calls_distribute(full->image, mesh, "S(0)"),
                  *weight = calls_distribute(full->weight, mesh, "R");
        dt_tensor *bias =
            dt_zeros(ctx, DT_SHAPE(g->filters), .dtype = DT_F64, .mesh = mesh, .place = "R", .requires_grad = true);
        dt_tensor *grad = calls_distribute(full->map, mesh, "S(0)");
        CHECK_OK(ctx, dt_set_requires_grad(image, true));
        CHECK_OK(ctx, dt_set_requires_grad(weight, true));
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *map = convolve(g, image, weight, bias);
        CHECK(map && !strcmp(calls_placements(map), "S(0)"), "%s", dt_error_text(ctx));
        CHECK(dt_backward(map, .grad = grad) == DT_OK, "%s", dt_error_text(ctx));
        dt_comm_statistics sent = dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_gather"});
        dt_comm_stats_end(ctx);
        CHECK(sent.n == 0, "expected no gather, got %lld", (long long)sent.n);
        if (check_values("map", map, full->values[0]) || check_values("image", dt_grad(image), full->values[1]) ||
            check_values("weight", dt_grad(weight), full->values[2]))
            return 1;
        dt_mesh_release(mesh);
    }
    return 0;
}

static void convolutions__of_a_sharded_batch_move_nothing(void **state) {
    (void)state;
    run_ranks(2, run_batch, NULL);
}

/* CNV-003, CNV-005: an image without a gradient; no bias. */
static int run_without_input_grad(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(1, 4, 5, 5), .mesh = mesh, .place = "R");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(8, 4, 3, 3), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *b = dt_zeros(ctx, DT_SHAPE(8), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *y = dt_conv2d(x, w, .bias = b, .padding = DT_INTS(1, 1));
    CHECK(y && dt_backward(dt_sum(y)) == DT_OK, "%s", dt_error_text(ctx));
    CHECK(dt_grad(w) && dt_grad(b) && !dt_grad(x), "expected gradients of weight and bias only");
    CHECK(dt_item(dt_sum(dt_grad(b))) == 8 * 25, "the gradient of the bias");
    y = dt_conv2d_padding(x, w, .padding = "same");
    CHECK(y && dt_tensor_size(y, 2) == 5 && dt_item(dt_sum(dt_detach(y))) == 8 * 4 * (9 * 9 + 4 * 3 * 6 + 4 * 4),
          "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void convolutions__without_a_gradient_of_the_image(void **state) {
    (void)state;
    run_ranks(2, run_without_input_grad, NULL);
}

/* CNV-001, CNV-002: ten steps of gradient descent, sharded along the width and on one rank. */
static int train(dt_ctx *ctx, const geometry *g, dt_mesh *mesh, const char *place, dt_tensor **weight,
                 dt_tensor **bias) {
    const sizes s = sizes_of(g);
    int64_t shape[SPACE + 2];
    const char *whole = mesh ? "R" : NULL;
    dt_tensor *x = dt_randn(ctx, shape_of(g, s.image, g->batch, g->channels, shape), .mesh = mesh, .place = place,
                            .generator = dt_generator_new(ctx, 7));
    dt_tensor *grad = dt_randn(ctx, shape_of(g, s.map, g->batch, g->filters, shape), .mesh = mesh, .place = place,
                               .generator = dt_generator_new(ctx, 8));
    *weight = dt_randn(ctx, shape_of(g, s.taps, g->filters, g->channels / g->groups, shape), .mesh = mesh,
                       .place = whole, .generator = dt_generator_new(ctx, 9), .requires_grad = true);
    *bias = dt_zeros(ctx, DT_SHAPE(g->filters), .mesh = mesh, .place = whole, .requires_grad = true);
    for (int step = 0; step < 10; step++) {
        dt_tensor *y = convolve(g, x, *weight, *bias);
        CHECK(y && dt_backward(y, .grad = grad) == DT_OK, "%s", dt_error_text(ctx));
        dt_no_grad_begin(ctx);
        CHECK(dt_add_(*weight, dt_grad(*weight), .alpha = DT_NUMBER(-0.001)), "%s", dt_error_text(ctx));
        CHECK(dt_add_(*bias, dt_grad(*bias), .alpha = DT_NUMBER(-0.001)), "%s", dt_error_text(ctx));
        dt_no_grad_end(ctx);
        CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(*weight, *bias)));
    }
    return 0;
}

static int run_training(dt_ctx *ctx, void *arg) {
    const geometry *g = arg;
    dt_tensor *weights[2], *biases[2];
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    if (train(ctx, g, mesh, "S(3)", &weights[0], &biases[0]) || train(ctx, g, NULL, NULL, &weights[1], &biases[1]))
        return 1;
    dt_tensor *pairs[][2] = {{weights[0], weights[1]}, {biases[0], biases[1]}};
    for (int i = 0; i < 2; i++) {
        dt_tensor *full = dt_full_tensor(dt_detach(pairs[i][0])), *alone = dt_detach(pairs[i][1]);
        const double differ = dt_item(dt_mean(dt_square(dt_sub(full, alone)))),
                     size = dt_item(dt_mean(dt_square(alone)));
        CHECK(differ <= 1e-6 && differ <= 1e-6 * size, "mean squares: of the difference %g, of the values %g", differ,
              size);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void convolutions__train_as_on_one_rank(void **state) {
    (void)state;
    static const geometry downsampling = {2, 7, 3, 16, 1, {32, 64}, {4, 4}, {4, 4}, {0, 0}, {1, 1}, {0, 0}};
    static const geometry depthwise = {2, 3, 16, 16, 16, {16, 32}, {7, 7}, {1, 1}, {3, 3}, {1, 1}, {0, 0}};
    run_ranks(2, run_training, (void *)(uintptr_t)&downsampling);
    run_ranks(2, run_training, (void *)(uintptr_t)&depthwise);
}

static int run_refused(dt_ctx *ctx, void *arg) {
    static const struct {
        const char *call, *error;
    } cases[] = {
        {"conv2d($1; $2; stride=0)", "stride: expected numbers from 1 to 2147483647, got 0"},
        {"conv2d($1; $2; padding=[1,1,1])", "padding: expected 2 numbers, or one, got 3"},
        {"conv2d($1; $2; padding=-1)", "padding: expected numbers from 0"},
        {"conv2d($1; $2; groups=2)", "groups: expected a divisor of 3 and 4 channels, got 2"},
        {"conv2d($1; $2; groups=0)", "groups: expected at least 1, got 0"},
        {"conv2d($1; $2; dilation=9)", "the weight is larger than the padded input"},
        {"conv2d($1; $2; padding=other)", "expected numbers, \"same\" or \"valid\", got \"other\""},
        {"conv2d($1; $2; stride=2; padding=same)", "expected \"same\" with a stride of 1 only, got 2"},
        {"conv2d($1; $3)", "(input channels / groups): expected 3, got 4"},
        {"conv1d($1; $2)", "expected an input of 3 dims, or 2 without a batch, got 4"},
        {"conv_transpose2d($1; $3; stride=2; output_padding=2)", "the first size of the weight"},
        {"conv_transpose2d($4; $3; stride=2; output_padding=2)", "output_padding: expected less than the stride"},
        {"conv2d($1; $2; $1)", "bias: expected 1 dims, got 4"},
    };
    (void)arg;
    dt_tensor *of[] = {dt_ones(ctx, DT_SHAPE(2, 3, 6, 6)), dt_ones(ctx, DT_SHAPE(4, 3, 2, 2)),
                       dt_ones(ctx, DT_SHAPE(4, 4, 2, 2)), dt_ones(ctx, DT_SHAPE(2, 4, 6, 6))};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tensor *got = calls_output(ctx, cases[i].call, of);
        CHECK(!got && strstr(dt_error_text(ctx), cases[i].error), "%s: expected '%s', got '%s'", cases[i].call,
              cases[i].error, dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    return 0;
}

static void convolutions__refuse_what_does_not_fit(void **state) {
    (void)state;
    run_ranks(1, run_refused, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions__are_sums_of_products),
        cmocka_unit_test(convolutions__take_views_and_dtypes),
        cmocka_unit_test(convolutions__in_space_move_halos),
        cmocka_unit_test(convolutions__of_any_placement),
        cmocka_unit_test(convolutions__of_a_sharded_batch_move_nothing),
        cmocka_unit_test(convolutions__without_a_gradient_of_the_image),
        cmocka_unit_test(convolutions__train_as_on_one_rank),
        cmocka_unit_test(convolutions__refuse_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
