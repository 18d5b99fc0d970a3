/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions as matrix products. The elements of an image that a position of the map reads are a column: with all
 * columns as a matrix, the map is weight x columns, the gradient of the weight is map x columnsᵀ, and that of the image
 * is weightᵀ x map, added to the elements that the columns were read from. Columns exist for a block of positions at a
 * time. Where they are the image itself, as in a convolution of one tap, they are not copied. Blocks depend on sizes
 * only, so no result depends on the number of threads. Large convolutions of f32 are left to a library that has code
 * for them (library_convolution.h).
 *
 * Convolutions of one or two dims are computed as if they had three; the first ones have size 1.
 */
#include "kernels/kernels.h"

#include "base/size.h"
#include "kernels/convolution_columns.h"
#include "kernels/library_convolution.h"
#include "kernels/matrix_product.h"

#include <stdatomic.h>
#include <string.h>

enum {
    COLUMN_BYTES = 1 << 20, /* of a block of columns */
    MIN_POSITIONS = 64,     /* of a block */
    MIN_ITEMS = 8,          /* into which the channels of images and weights are split, where there are fewer */
    MIN_ROWS = 64,          /* of columns, of such a part */
};

/* The channels of one group that are here. */
typedef struct group_part {
    int64_t image_channel, n_image, map_channel, n_map; /* in the arrays */
    int64_t weight_column; /* of the first channel of the image, in a row of the weight */
} group_part;

typedef struct conv_job {
    const dt__convolution *args;
    const dt__products *products;
    const dt__kernels *kernels;
    dt__columns columns; /* image, taps and positions */
    dt__conv_operand map;
    dt_dtype dtype;
    int64_t element; /* bytes */
    int64_t n_batch, n_taps, n_positions, weight_row;
    int64_t first_group, n_groups;
    int64_t block, n_blocks;            /* positions */
    int64_t channel_block, n_per_group; /* channels of the image, and how many such blocks a group has */
    bool reads_image;                   /* columns are the image itself */
    int64_t image_stride;               /* of its positions, then */
    bool map_is_joined;                 /* its positions have one stride */
    int64_t map_stride;
    void (*run_item)(const struct conv_job *job, int64_t item, char *memory);
    int64_t n_items;
    char *memory;
    size_t lane_bytes;
    _Atomic int64_t next;
} conv_job;

static dt__number number_of(dt_dtype dtype, int64_t i) {
    return dtype == DT_I64 ? (dt__number){.i = i} : (dt__number){.f = {(double)i, 0}};
}

static group_part part_of(const conv_job *job, int64_t index) {
    const dt__convolution *args = job->args;
    const int64_t group = job->first_group + index;
    const int64_t image_begin = dt__max_i64(group * args->image_group, args->image_first),
                  image_end = dt__min_i64((group + 1) * args->image_group, args->image_first + args->image->shape[1]),
                  map_begin = dt__max_i64(group * args->map_group, args->map_first),
                  map_end = dt__min_i64((group + 1) * args->map_group, args->map_first + args->map->shape[1]);
    return (group_part){.image_channel = image_begin - args->image_first,
                        .n_image = dt__max_i64(image_end - image_begin, 0),
                        .map_channel = map_begin - args->map_first,
                        .n_map = dt__max_i64(map_end - map_begin, 0),
                        .weight_column = image_begin - group * args->image_group};
}

/* The weights of some channels of a part: [n_map, channels * taps]. */
static dt__matrix weights_of(const conv_job *job, const group_part *part, int64_t channel) {
    const int64_t at = part->map_channel * job->weight_row + (part->weight_column + channel) * job->n_taps;
    return (dt__matrix){(char *)job->args->weight->data + at * job->element, job->weight_row, 1};
}

/* [n channels, positions from `from` on] of an operand whose positions have one stride. */
static dt__matrix positions_of(const conv_job *job, const dt__conv_operand *of, int64_t stride, int64_t batch,
                               int64_t channel, int64_t from) {
    const int64_t at = batch * of->batch + channel * of->channel + from * stride;
    return (dt__matrix){of->data + at * job->element, of->channel, stride};
}

/* Columns of some channels: the image itself, or copied to the buffer. */
static dt__matrix load_columns(const conv_job *job, int64_t batch, int64_t channel, int64_t n_channels, int64_t from,
                               int64_t n, char *buffer) {
    if (job->reads_image)
        return positions_of(job, &job->columns.image, job->image_stride, batch, channel, from);
    const dt__column_block block = {batch, channel, n_channels, from, n, buffer};
    dt__columns_unfold(job->kernels, &job->columns, &block);
    return (dt__matrix){buffer, n, 1};
}

/* A block of the map as a factor: in place, or copied to the buffer. */
static dt__matrix load_map(const conv_job *job, const group_part *part, int64_t batch, int64_t from, int64_t n,
                           char *buffer) {
    const dt__matrix in_place = positions_of(job, &job->map, job->map_stride, batch, part->map_channel, from);
    if (job->map_is_joined && dt__matrix_is_readable(in_place, part->n_map, n))
        return in_place;
    const dt__column_block block = {batch, part->map_channel, part->n_map, from, n, buffer};
    dt__positions_copy(job->kernels, &job->map, job->dtype, &block, true);
    return (dt__matrix){buffer, n, 1};
}

/* c = a b + beta c, transposed where the rows of c are not contiguous, but its columns are. */
static void multiply(const conv_job *job, dt__matrix_product p, bool adds) {
    p.alpha = number_of(job->dtype, 1);
    p.beta = number_of(job->dtype, adds);
    if (p.c.column != 1 && p.n > 1)
        p = dt__matrix_product_flip(&p);
    dt__matrix_product_run(job->products, job->dtype, &p);
}

static bool is_writable(dt__matrix c, int64_t rows, int64_t columns) {
    return ((c.column == 1 || columns == 1) && (rows == 1 || c.row >= columns)) ||
           (c.row == 1 && (columns == 1 || c.column >= rows));
}

/* Fills positions of channels, [n_channels, n], with their bias. */
static void fill_bias(const conv_job *job, dt__matrix to, int64_t channel, int64_t n_channels, int64_t n) {
    const dt__array *bias = job->args->bias;
    static const char zeros[16];
    for (int64_t c = 0; c < n_channels; c++) {
        const char *value = bias ? (const char *)bias->data + (channel + c) * bias->strides[0] * job->element : zeros;
        char *row = to.at + c * to.row * job->element;
        if (to.column == 1)
            job->kernels->fill(row, value, (size_t)job->element, (size_t)n, DT__CACHED);
        else
            for (int64_t i = 0; i < n; i++)
                memcpy(row + i * to.column * job->element, value, (size_t)job->element);
    }
}

/* A block of the map: weights times columns. */
static void run_map(const conv_job *job, int64_t item, char *memory) {
    const int64_t block = item % job->n_blocks, group = item / job->n_blocks % job->n_groups,
                  batch = item / job->n_blocks / job->n_groups;
    const int64_t from = block * job->block, n = dt__min_i64(job->block, job->n_positions - from);
    const group_part part = part_of(job, group);
    const int64_t n_rows = part.n_image * job->n_taps;
    char *result = memory + (job->reads_image ? 0 : (n_rows * n * job->element + 63) / 64 * 64);
    const bool has_bias = job->args->bias || n_rows == 0;
    if (part.n_map == 0)
        return;
    dt__matrix c = positions_of(job, &job->map, job->map_stride, batch, part.map_channel, from);
    const bool in_place = job->map_is_joined && is_writable(c, part.n_map, n);
    c = in_place ? c : (dt__matrix){result, n, 1};
    if (has_bias)
        fill_bias(job, c, part.map_channel, part.n_map, n);
    if (n_rows > 0) {
        const dt__matrix b = load_columns(job, batch, part.image_channel, part.n_image, from, n, memory);
        multiply(job, (dt__matrix_product){part.n_map, n, n_rows, weights_of(job, &part, 0), b, c, {0}, {0}},
                 has_bias);
    }
    if (!in_place) {
        const dt__column_block to = {batch, part.map_channel, part.n_map, from, n, result};
        dt__positions_copy(job->kernels, &job->map, job->dtype, &to, false);
    }
}

/* Channels first to first + n of a part of the image. */
typedef struct channel_range {
    int64_t first, n;
} channel_range;

static channel_range channels_of(const conv_job *job, const group_part *part, int64_t index) {
    const int64_t first = index * job->channel_block;
    return (channel_range){first, dt__max_i64(dt__min_i64(job->channel_block, part->n_image - first), 0)};
}

/* Channels of the image: what the map has of them is added to where columns are read from. */
static void run_image(const conv_job *job, int64_t item, char *memory) {
    const int64_t group = item / job->n_per_group % job->n_groups, batch = item / job->n_per_group / job->n_groups;
    const group_part part = part_of(job, group);
    const channel_range channels = channels_of(job, &part, item % job->n_per_group);
    const int64_t n_rows = channels.n * job->n_taps, channel = part.image_channel + channels.first;
    char *loaded = memory + (n_rows * job->block * job->element + 63) / 64 * 64;
    if (n_rows == 0)
        return;
    dt__columns_fill(job->kernels, &job->columns, job->args->bias, batch, channel, channels.n);
    dt__matrix weights = weights_of(job, &part, channels.first);
    weights = (dt__matrix){weights.at, weights.column, weights.row};
    for (int64_t from = 0; from < job->n_positions && part.n_map; from += job->block) {
        const int64_t n = dt__min_i64(job->block, job->n_positions - from);
        const dt__matrix b = load_map(job, &part, batch, from, n, loaded);
        const dt__matrix c = {memory, n, 1};
        multiply(job, (dt__matrix_product){n_rows, n, part.n_map, weights, b, c, {0}, {0}}, false);
        dt__columns_fold(job->kernels, &job->columns,
                         &(dt__column_block){batch, channel, channels.n, from, n, memory});
    }
}

/* Weights of channels of the image: the sum over batch and positions. */
static void run_weight(const conv_job *job, int64_t item, char *memory) {
    const int64_t group = item / job->n_per_group;
    const group_part part = part_of(job, group);
    const channel_range channels = channels_of(job, &part, item % job->n_per_group);
    const int64_t n_rows = channels.n * job->n_taps, channel = part.image_channel + channels.first;
    char *loaded = memory + (job->reads_image ? 0 : (n_rows * job->block * job->element + 63) / 64 * 64);
    if (n_rows == 0 || part.n_map == 0)
        return;
    const dt__matrix c = weights_of(job, &part, channels.first);
    bool adds = false;
    for (int64_t batch = 0; batch < job->n_batch; batch++)
        for (int64_t from = 0; from < job->n_positions; from += job->block) {
            const int64_t n = dt__min_i64(job->block, job->n_positions - from);
            const dt__matrix columns = load_columns(job, batch, channel, channels.n, from, n, memory);
            const dt__matrix b = {columns.at, columns.column, columns.row};
            multiply(job,
                     (dt__matrix_product){
                         part.n_map, n_rows, n, load_map(job, &part, batch, from, n, loaded), b, c, {0}, {0}},
                     adds);
            adds = true;
        }
    for (int64_t k = 0; k < part.n_map && !adds; k++)
        memset(c.at + k * c.row * job->element, 0, (size_t)(n_rows * job->element));
}

static void run_lane(void *arg, int64_t lane) {
    conv_job *job = arg;
    for (;;) {
        const int64_t item = atomic_fetch_add(&job->next, 1);
        if (item >= job->n_items)
            return;
        job->run_item(job, item, job->memory + (size_t)lane * job->lane_bytes);
    }
}

static bool spread(conv_job *job, size_t lane_bytes) {
    dt__pool *pool = dt__products_pool(job->products);
    const int64_t n_lanes = dt__min_i64(dt__pool_threads(pool), job->n_items);
    if (n_lanes == 0)
        return true;
    job->lane_bytes = (lane_bytes + 127) / 64 * 64;
    const size_t bytes = (size_t)n_lanes * job->lane_bytes + 64;
    char *memory = dt__products_take(job->products, bytes);
    if (!memory)
        return false;
    job->memory = memory + (64 - (uintptr_t)memory % 64) % 64;
    atomic_store(&job->next, 0);
    dt__pool_run(pool, n_lanes, run_lane, job);
    dt__products_give_back(job->products, memory, bytes);
    return true;
}

/* Space as three dims. */
static void read_operand(const dt__array *array, int n_dims, dt__conv_operand *out) {
    *out = (dt__conv_operand){.data = array->data, .batch = array->strides[0], .channel = array->strides[1]};
    for (int d = 0; d < DT__SPACE; d++) {
        const int from = d - (DT__SPACE - n_dims);
        out->size[d] = from < 0 ? 1 : array->shape[2 + from];
        out->step[d] = from < 0 ? 0 : array->strides[2 + from];
    }
}

/* Whether positions have one stride. */
static bool join_positions(const dt__conv_operand *of, int64_t *stride) {
    int64_t size = 1;
    *stride = 1;
    for (int d = DT__SPACE - 1; d >= 0; d--) {
        if (of->size[d] == 1)
            continue;
        if (size == 1)
            *stride = of->step[d];
        else if (of->step[d] != *stride * size)
            return false;
        size *= of->size[d];
    }
    return true;
}

static void read_geometry(conv_job *job) {
    const dt__convolution *args = job->args;
    bool is_image = true;
    read_operand(args->image, args->n_dims, &job->columns.image);
    read_operand(args->map, args->n_dims, &job->map);
    job->columns.dtype = job->dtype;
    job->n_batch = args->map->shape[0];
    job->n_taps = job->n_positions = 1;
    for (int d = 0; d < DT__SPACE; d++) {
        const int from = d - (DT__SPACE - args->n_dims);
        job->columns.taps[d] = from < 0 ? 1 : args->weight->shape[2 + from];
        job->columns.stride[d] = from < 0 ? 1 : args->stride[from];
        job->columns.dilation[d] = from < 0 ? 1 : args->dilation[from];
        job->columns.begin[d] = from < 0 ? 0 : args->begin[from];
        job->columns.positions[d] = job->map.size[d];
        job->n_taps *= job->columns.taps[d];
        job->n_positions *= job->map.size[d];
        is_image &= job->columns.taps[d] == 1 && job->columns.begin[d] == 0 &&
                    (job->columns.stride[d] == 1 || job->map.size[d] == 1) &&
                    job->columns.image.size[d] == job->map.size[d];
    }
    job->weight_row = args->weight->shape[1] * job->n_taps;
    job->map_is_joined = join_positions(&job->map, &job->map_stride);
    job->reads_image = is_image && args->out != DT__CONV_IMAGE &&
                       join_positions(&job->columns.image, &job->image_stride) &&
                       dt__matrix_is_readable((dt__matrix){NULL, job->columns.image.channel, job->image_stride},
                                              args->image->shape[1], job->n_positions);
}

static void find_groups(conv_job *job) {
    const dt__convolution *args = job->args;
    const int64_t first =
        args->out == DT__CONV_IMAGE ? args->image_first / args->image_group : args->map_first / args->map_group;
    const int64_t last = args->out == DT__CONV_IMAGE
                             ? (args->image_first + args->image->shape[1] - 1) / args->image_group
                             : (args->map_first + args->map->shape[1] - 1) / args->map_group;
    job->first_group = first;
    job->n_groups = last - first + 1;
}

static void find_blocks(conv_job *job) {
    const dt__convolution *args = job->args;
    const int64_t channels = dt__max_i64(dt__min_i64(args->image_group, args->image->shape[1]), 1);
    const int64_t n_parts = job->n_groups * (args->out == DT__CONV_IMAGE ? job->n_batch : 1);
    const int64_t n_split = dt__min_i64(dt__max_i64(MIN_ITEMS / dt__max_i64(n_parts, 1), 1),
                                        dt__max_i64(channels * job->n_taps / MIN_ROWS, 1));
    job->channel_block = dt__ceil_div(channels, n_split);
    job->n_per_group = dt__ceil_div(channels, job->channel_block);
    const int64_t rows = (args->out == DT__CONV_MAP ? channels : job->channel_block) * job->n_taps;
    job->block = dt__min_i64(dt__max_i64(COLUMN_BYTES / (rows * job->element) / 16 * 16, MIN_POSITIONS),
                             dt__max_i64(job->n_positions, 1));
    job->n_blocks = dt__ceil_div(job->n_positions, job->block);
}

static size_t lane_bytes(const conv_job *job) {
    const dt__convolution *args = job->args;
    const int64_t channels =
        args->out == DT__CONV_MAP ? dt__min_i64(args->image_group, args->image->shape[1]) : job->channel_block;
    const int64_t columns = job->reads_image ? 0 : channels * job->n_taps * job->block;
    return (size_t)((columns + dt__min_i64(args->map_group, args->map->shape[1]) * job->block) * job->element + 64);
}

bool dt__convolution_run(dt__products *products, const dt__convolution *args) {
    conv_job job = {.args = args,
                    .products = products,
                    .kernels = dt__products_kernels(products),
                    .dtype = args->map->dtype,
                    .element = (int64_t)dt__dtype_bytes(args->map->dtype)};
    bool done;
    if (dt__library_convolution_run(products, args, &done))
        return done;
    dt__products_open(products);
    read_geometry(&job);
    find_groups(&job);
    find_blocks(&job);
    switch (args->out) {
    case DT__CONV_MAP:
        job.run_item = run_map;
        job.n_items = job.n_batch * job.n_groups * job.n_blocks;
        break;
    case DT__CONV_IMAGE:
        job.run_item = run_image;
        job.n_items = job.n_batch * job.n_groups * job.n_per_group;
        break;
    default:
        job.run_item = run_weight;
        job.n_items = job.n_groups * job.n_per_group;
    }
    return spread(&job, lane_bytes(&job));
}
