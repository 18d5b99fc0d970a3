/* SPDX-License-Identifier: Apache-2.0
 *
 * Divides a convolution into calls of a library: into parts of the batch, and where the batch is small into blocks of
 * rows of the map, of channels of the image (its gradient) or of filters (the gradient of the weight), or of groups.
 * The calls depend on sizes only, so no result depends on the number of threads. The gradient of a weight is a sum
 * over the parts of the batch, in their order.
 *
 * The library needs sizes for which padding fills the image exactly, so the rows and columns that no tap reads are cut
 * off first.
 */
#include "kernels/library_convolution.h"

#include "base/ctx.h"
#include "base/size.h"
#include "kernels/convolution_columns.h"
#include "kernels/matrix_product.h"
#include "kernels/onednn.h"

#include <stdatomic.h>
#include <string.h>

enum {
    LEAST = 1 << 21,     /* multiplications that are worth a call */
    CALL = 1 << 25,      /* of a call, at most about, if there are MIN_CALLS */
    MIN_CALLS = 8,       /* into which a convolution is divided, if it has that many parts */
    MIN_ROWS = 4,        /* of a block of the map */
    BLOCK = 16,          /* blocks of channels and groups are multiples of this */
    MIN_FILTERS = 64,    /* of a block of them: each block reads the image again */
    SUM_BYTES = 4 << 20, /* of the terms of the gradient of a weight */
    MAX_BLOCKS = MIN_CALLS,
    N_SIZES = 2, /* parts of the batch have one size or one more */
    N_PREPARED = 64,
};

typedef struct prepared {
    dt__onednn_sizes sizes;
    dt__onednn_conv *conv; /* NULL: there is no fast code */
    uint64_t used;         /* 0: nothing is here */
} prepared;

struct dt__prepared_convolutions {
    uint64_t n_used;
    prepared all[N_PREPARED];
};

/* A block of the rows, channels, filters or groups: where its arrays begin, in elements, and its code for each size of
 * a part of the batch. */
typedef struct block {
    int64_t image, map, weight, bias;
    int64_t image_channel, n_image;
    const dt__onednn_conv *of[N_SIZES];
    char *weights[N_SIZES]; /* in the order of the code */
} block;

typedef struct library_job {
    const dt__convolution *args;
    const dt__kernels *kernels;
    dt__onednn_sizes whole; /* of all; image, before and after are set for blocks */
    int64_t begin[DT__SPACE];
    dt__columns columns; /* of the image, to fill it */
    int64_t n_parts;     /* of the batch */
    int n_blocks;
    block blocks[MAX_BLOCKS];
    bool is_cut;       /* parts of the image are read by no tap */
    int64_t n_weights; /* elements */
    char *terms, *memory;
    size_t lane_bytes;
    _Atomic int64_t next;
    _Atomic bool failed;
} library_job;

void dt__prepared_convolutions_free(dt_ctx *ctx, dt__prepared_convolutions *all) {
    for (int i = 0; all && i < N_PREPARED; i++)
        dt__onednn_conv_free(ctx, all->all[i].conv);
    dt__free(ctx, all, sizeof *all);
}

/* The code for these sizes, prepared now or before; new code replaces the least recently used. NULL: there is none. A
 * convolution uses fewer than N_PREPARED. */
static const dt__onednn_conv *find_code(dt_ctx *ctx, dt__prepared_convolutions *all, const dt__onednn_sizes *sizes) {
    prepared *at = &all->all[0];
    for (int i = 0; i < N_PREPARED; i++) {
        if (all->all[i].used && !memcmp(&all->all[i].sizes, sizes, sizeof *sizes)) {
            all->all[i].used = ++all->n_used;
            return all->all[i].conv;
        }
        at = all->all[i].used < at->used ? &all->all[i] : at;
    }
    dt__onednn_conv_free(ctx, at->conv);
    *at = (prepared){*sizes, dt__onednn_conv_new(ctx, sizes), ++all->n_used};
    return at->conv;
}

static double multiplications(const dt__onednn_sizes *s) {
    double n = (double)s->batch * (double)s->filters * (double)(s->channels / s->groups);
    for (int d = 0; d < s->n_dims; d++)
        n *= (double)s->taps[d] * (double)s->map[d];
    return n;
}

/* Whether image and map have the same whole groups. */
static bool read_groups(const dt__convolution *args, dt__onednn_sizes *out) {
    const int64_t channels = args->image->shape[1], filters = args->map->shape[1];
    if (channels == 0 || filters == 0 || channels % args->image_group || filters % args->map_group ||
        args->image_first % args->image_group || args->map_first % args->map_group)
        return false;
    out->groups = channels / args->image_group;
    out->channels = channels;
    out->filters = filters;
    return filters / args->map_group == out->groups &&
           args->image_first / args->image_group == args->map_first / args->map_group &&
           args->weight->shape[0] == filters && args->weight->shape[1] == args->image_group;
}

/* A map of one tap is a product with the image as it is, which our own way does not reorder. */
static bool is_one_product(const library_job *job) {
    const dt__onednn_sizes *s = &job->whole;
    bool is_one = s->out == DT__CONV_MAP && s->groups == 1;
    for (int d = 0; d < s->n_dims; d++)
        is_one &= s->taps[d] == 1 && s->stride[d] == 1 && job->begin[d] == 0 && s->map[d] == s->image[d];
    return is_one;
}

static bool read_sizes(library_job *job) {
    const dt__convolution *args = job->args;
    dt__onednn_sizes *s = &job->whole;
    if (args->map->dtype != DT_F32 || !read_groups(args, s))
        return false;
    s->out = args->out;
    s->n_dims = args->n_dims;
    s->batch = args->map->shape[0];
    s->has_bias = args->bias && args->out == DT__CONV_MAP;
    for (int d = 0; d < args->n_dims; d++) {
        s->image[d] = args->image->shape[2 + d];
        s->map[d] = args->map->shape[2 + d];
        s->taps[d] = args->weight->shape[2 + d];
        s->stride[d] = args->stride[d];
        s->dilation[d] = args->dilation[d];
        job->begin[d] = args->begin[d];
    }
    for (int d = 0; d < args->n_dims + 2; d++) {
        s->image_strides[d] = args->image->strides[d];
        s->map_strides[d] = args->map->strides[d];
    }
    job->n_weights = 1;
    for (int d = args->n_dims + 1; d >= 0; d--) {
        s->weight_strides[d] = job->n_weights;
        job->n_weights *= args->weight->shape[d];
    }
    return multiplications(s) >= LEAST && !is_one_product(job) &&
           (!args->bias || args->bias->strides[0] == 1 || args->bias->shape[0] == 1);
}

/* Cuts off what no tap reads, from some row of the map on; false if taps read padding only. */
static bool cut_image(library_job *job, const int64_t *begin, dt__onednn_sizes *s, int64_t *image) {
    for (int d = 0; d < s->n_dims; d++) {
        const int64_t end = begin[d] + (s->map[d] - 1) * s->stride[d] + (s->taps[d] - 1) * s->dilation[d] + 1;
        const int64_t first = dt__max_i64(begin[d], 0), last = dt__min_i64(end, s->image[d]);
        if (first >= last)
            return false;
        job->is_cut |= first > 0 || last < s->image[d];
        s->before[d] = first - begin[d];
        s->after[d] = end - last;
        s->image[d] = last - first;
        *image += first * s->image_strides[2 + d];
    }
    return true;
}

/* The first dim of space that can be divided. */
static int row_dim(const dt__onednn_sizes *s) {
    int d = 0;
    while (d < s->n_dims - 1 && s->map[d] == 1)
        d++;
    return d;
}

/* What is divided into blocks: rows of the map, groups, channels or filters. */
static int64_t n_units(const dt__onednn_sizes *s) {
    if (s->out == DT__CONV_MAP)
        return s->map[row_dim(s)];
    return s->groups > 1 ? s->groups : s->out == DT__CONV_IMAGE ? s->channels : s->filters;
}

static int64_t min_units(const dt__onednn_sizes *s) {
    return s->out == DT__CONV_MAP ? MIN_ROWS : s->out == DT__CONV_WEIGHT && s->groups == 1 ? MIN_FILTERS : BLOCK;
}

/* Narrows a convolution to units `from` to `from` + n. */
static bool narrow(library_job *job, int64_t from, int64_t n, dt__onednn_sizes *s, block *out) {
    int64_t begin[DT__SPACE];
    memcpy(begin, job->begin, sizeof begin);
    if (s->out == DT__CONV_MAP) {
        const int d = row_dim(s);
        begin[d] += from * s->stride[d];
        s->map[d] = n;
        out->map = from * s->map_strides[2 + d];
    } else {
        const int64_t channels = s->channels / s->groups, filters = s->filters / s->groups;
        const bool all_channels = s->groups == 1 && s->out == DT__CONV_WEIGHT,
                   all_filters = s->groups == 1 && s->out == DT__CONV_IMAGE;
        const int64_t first_filter = all_filters ? 0 : from * (s->groups > 1 ? filters : 1);
        out->image_channel = all_channels ? 0 : from * (s->groups > 1 ? channels : 1);
        out->image = out->image_channel * s->image_strides[1];
        out->map = first_filter * s->map_strides[1];
        out->weight = first_filter * s->weight_strides[0] + (all_filters ? from * s->weight_strides[1] : 0);
        if (s->groups > 1) {
            s->channels = n * channels;
            s->filters = n * filters;
            s->groups = n;
        } else
            *(all_filters ? &s->channels : &s->filters) = n;
    }
    out->n_image = s->channels;
    return cut_image(job, begin, s, &out->image);
}

/* The parts of the batch have one size, or that and one more. */
static int64_t part_begin(const library_job *job, int64_t part) {
    const int64_t n = job->whole.batch / job->n_parts, more = job->whole.batch % job->n_parts;
    return part * n + dt__min_i64(part, more);
}

static void choose_parts(library_job *job) {
    const dt__onednn_sizes *s = &job->whole;
    const double calls = multiplications(s) / CALL;
    int64_t n = calls > MIN_CALLS ? (int64_t)(calls < (double)s->batch ? calls : (double)s->batch) : MIN_CALLS;
    if (s->out == DT__CONV_WEIGHT)
        n = dt__min_i64(MIN_CALLS, dt__max_i64(SUM_BYTES / (job->n_weights * (int64_t)sizeof(float)), 1));
    job->n_parts = dt__min_i64(n, s->batch);
}

/* Prepares the calls; false if some of them have no fast code. */
static bool prepare(library_job *job, dt_ctx *ctx, dt__prepared_convolutions *all) {
    const int64_t n = n_units(&job->whole), least = min_units(&job->whole);
    const int64_t n_parts = dt__max_i64(dt__min_i64(dt__ceil_div(MIN_CALLS, job->n_parts), n / least), 1);
    int64_t size = dt__ceil_div(n, n_parts);
    if (job->whole.out != DT__CONV_MAP)
        size = dt__min_i64(dt__ceil_div(size, BLOCK) * BLOCK, n);
    for (int64_t from = 0; from < n; from += size) {
        block *to = &job->blocks[job->n_blocks++];
        dt__onednn_sizes sizes = job->whole;
        *to = (block){0};
        if (!narrow(job, from, dt__min_i64(size, n - from), &sizes, to))
            return false;
        for (int i = 0; i < N_SIZES; i++) {
            sizes.batch = job->whole.batch / job->n_parts + i;
            if (i == 1 && job->whole.batch % job->n_parts == 0)
                continue;
            to->of[i] = find_code(ctx, all, &sizes);
            if (!to->of[i])
                return false;
        }
    }
    return true;
}

/* Adds the bias of the image: the code for its gradient has none. */
static void add_bias(const dt__columns *columns, const float *bias, int64_t batch, int64_t channel, int64_t n) {
    const dt__conv_operand *image = &columns->image;
    for (int64_t c = channel; c < channel + n; c++)
        for (int64_t i = 0; i < image->size[0]; i++)
            for (int64_t j = 0; j < image->size[1]; j++) {
                float *row = (float *)image->data + batch * image->batch + c * image->channel + i * image->step[0] +
                             j * image->step[1];
                for (int64_t k = 0; k < image->size[2]; k++)
                    row[k * image->step[2]] += bias[c];
            }
}

static bool run_call(library_job *job, int64_t call, char *memory) {
    const dt__convolution *args = job->args;
    const block *b = &job->blocks[call % job->n_blocks];
    const int64_t part = call / job->n_blocks, first = part_begin(job, part), end = part_begin(job, part + 1);
    const int i = end - first > job->whole.batch / job->n_parts;
    float *weight = (float *)args->weight->data + b->weight;
    if (args->out == DT__CONV_WEIGHT && part > 0)
        weight = (float *)(void *)job->terms + (part - 1) * job->n_weights + b->weight;
    for (int64_t n = first; n < end && args->out == DT__CONV_IMAGE && job->is_cut; n++)
        dt__columns_fill(job->kernels, &job->columns, NULL, n, b->image_channel, b->n_image);
    const bool fine = dt__onednn_conv_run(
        b->of[i],
        &(dt__onednn_arrays){.image = (float *)args->image->data + first * job->whole.image_strides[0] + b->image,
                             .map = (float *)args->map->data + first * job->whole.map_strides[0] + b->map,
                             .weight = b->weights[i] ? (void *)b->weights[i] : weight,
                             .bias = args->bias ? args->bias->data : NULL,
                             .memory = memory});
    for (int64_t n = first; n < end && args->out == DT__CONV_IMAGE && args->bias; n++)
        add_bias(&job->columns, args->bias->data, n, b->image_channel, b->n_image);
    return fine;
}

static void run_lane(void *arg, int64_t lane) {
    library_job *job = arg;
    for (;;) {
        const int64_t call = atomic_fetch_add(&job->next, 1);
        if (call >= job->n_parts * job->n_blocks)
            return;
        if (!run_call(job, call, job->memory + (size_t)lane * job->lane_bytes))
            atomic_store(&job->failed, true);
    }
}

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Places the reordered weights; NULL memory: only counts their bytes, and those of a lane. */
static size_t place_weights(library_job *job, char *memory) {
    size_t bytes = 0;
    for (int b = 0; b < job->n_blocks; b++)
        for (int i = 0; i < N_SIZES; i++) {
            const dt__onednn_conv *of = job->blocks[b].of[i];
            if (!of)
                continue;
            job->lane_bytes =
                dt__onednn_conv_bytes(of) > job->lane_bytes ? dt__onednn_conv_bytes(of) : job->lane_bytes;
            if (job->args->out == DT__CONV_WEIGHT || dt__onednn_weight_bytes(of) == 0)
                continue;
            job->blocks[b].weights[i] = memory ? memory + bytes : NULL;
            bytes += aligned(dt__onednn_weight_bytes(of));
        }
    return bytes;
}

/* Blocks of rows that have the same code have the same weights. */
static bool reorder_weights(library_job *job) {
    for (int b = 0; b < job->n_blocks; b++)
        for (int i = 0; i < N_SIZES; i++) {
            block *to = &job->blocks[b];
            if (!to->weights[i])
                continue;
            bool is_made = false;
            for (int before = 0; before < b && !is_made; before++)
                if (job->blocks[before].of[i] == to->of[i] && job->blocks[before].weight == to->weight) {
                    to->weights[i] = job->blocks[before].weights[i];
                    is_made = true;
                }
            if (!is_made && !dt__onednn_reorder_weight(to->of[i], (float *)job->args->weight->data + to->weight,
                                                       to->weights[i], job->memory))
                return false;
        }
    return true;
}

static bool run(library_job *job, dt__products *products) {
    dt__pool *pool = dt__products_pool(products);
    const int64_t n_calls = job->n_parts * job->n_blocks, n_lanes = dt__min_i64(dt__pool_threads(pool), n_calls);
    const bool sums = job->args->out == DT__CONV_WEIGHT && job->n_parts > 1;
    const size_t weight_bytes = place_weights(job, NULL);
    const size_t term_bytes = sums ? aligned((size_t)((job->n_parts - 1) * job->n_weights) * sizeof(float)) : 0;
    job->lane_bytes = aligned(job->lane_bytes) + 64;
    const size_t bytes = weight_bytes + term_bytes + (size_t)n_lanes * job->lane_bytes + 64;
    char *memory = dt__products_take(products, bytes);
    if (!memory)
        return false;
    char *at = memory + (64 - (uintptr_t)memory % 64) % 64;
    (void)place_weights(job, at);
    job->terms = at + weight_bytes;
    job->memory = job->terms + term_bytes;
    bool fine = reorder_weights(job);
    if (fine)
        dt__pool_run(pool, n_lanes, run_lane, job);
    for (int64_t part = 1; part < job->n_parts && sums; part++)
        job->kernels->accumulate(DT_F32, DT_SUM, job->args->weight->data,
                                 job->terms + (size_t)((part - 1) * job->n_weights) * sizeof(float),
                                 (size_t)job->n_weights);
    dt__products_give_back(products, memory, bytes);
    return fine && !atomic_load(&job->failed);
}

/* The image as three dims of space. */
static void read_columns(const dt__array *image, int n_dims, dt__columns *out) {
    out->dtype = DT_F32;
    out->image = (dt__conv_operand){.data = image->data, .batch = image->strides[0], .channel = image->strides[1]};
    for (int d = 0; d < DT__SPACE; d++) {
        const int from = d - (DT__SPACE - n_dims);
        out->image.size[d] = from < 0 ? 1 : image->shape[2 + from];
        out->image.step[d] = from < 0 ? 0 : image->strides[2 + from];
    }
}

bool dt__library_convolution_run(dt__products *products, const dt__convolution *args, bool *done) {
    library_job job = {.args = args, .kernels = dt__products_kernels(products)};
    if (!strcmp(job.kernels->name, "plain") || !read_sizes(&job) || !dt__onednn_load())
        return false;
    dt__prepared_convolutions **all = dt__products_convolutions(products);
    dt_ctx *ctx = dt__products_ctx(products);
    if (!*all && !(*all = dt__alloc_zeroed(ctx, sizeof **all)))
        return false;
    choose_parts(&job);
    if (!prepare(&job, ctx, *all))
        return false;
    read_columns(args->image, args->n_dims, &job.columns);
    *done = run(&job, products);
    return true;
}
