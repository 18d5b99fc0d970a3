/* SPDX-License-Identifier: Apache-2.0
 *
 * Random tensors: the arguments of a call become a draw, and the draw fills the local tensor of this rank. The index of
 * an element is its row-major index in the full tensor, so nothing is communicated. The generator's state and the call,
 * which must agree between ranks, are added to the history of the mesh (mesh/agreed.c), which the next redistribution
 * on it compares.
 */
#include "base/dtype.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/size.h"
#include "kernels/kernels.h"
#include "mesh/mesh.h"
#include "move/move.h"
#include "random/draw.h"
#include "tensor/tensor.h"

#include <string.h>

static const dt_random_options defaults;

static double value_or(dt_opt_real value, double otherwise) { return value.given ? value.value : otherwise; }

/* The distribution's arguments. */
static dt__random arguments_of(const char *op, dt__distribution distribution, const dt_random_options *o) {
    o = o ? o : &defaults;
    bool truncated = distribution == DT__TRUNCATED_NORMAL;
    return (dt__random){.distribution = distribution,
                        .low = value_or(o->low, truncated ? -2 : 0),
                        .high = value_or(o->high, truncated ? 2 : 1),
                        .mean = o->mean.value,
                        .std = value_or(o->std, 1),
                        .rate = value_or(o->rate, 1),
                        .op = op};
}

static dt__random integer_arguments(const char *op, int64_t low, int64_t high, const dt_random_options *o) {
    dt__random args = arguments_of(op, DT__RANDINT, o);
    args.from = low;
    args.to = high;
    return args;
}

static dt__random probability_arguments(const char *op, dt__distribution distribution, double p,
                                        const dt_random_options *o) {
    dt__random args = arguments_of(op, distribution, o);
    args.p = p;
    return args;
}

static dt_dtype dtype_or(const dt_random_options *o, dt_dtype otherwise) {
    return o && o->dtype ? o->dtype : otherwise;
}

static dt_generator *generator_of(dt_ctx *ctx, const char *op, const dt_random_options *o) {
    dt_generator *generator = o && o->generator ? o->generator : dt_generator_default(ctx);
    generator = DT__LIVE(DT__KIND_GENERATOR, generator);
    return generator && dt__check_context(ctx, op, "generator", dt__generator_ctx(generator)) ? generator : NULL;
}

/* Records a draw that every rank of the tensor's mesh must make. */
static dt_status remember(const dt_tensor *tensor, dt__philox_key drawn, int kind) {
    if (!tensor->spec)
        return DT_OK;
    uint64_t number = dt__hash_u64(drawn.draw, dt__hash_u64(drawn.seed, (uint64_t)kind));
    return dt__mesh_history_add(tensor->spec->mesh, dt__hash_u64(tensor->spec->fingerprint, number));
}

/* Whether this rank needs the numbers: not if it has no data, nor if its local tensor of a partial is the identity of
 * the reduction, which is then written. */
static bool wants_numbers(dt_tensor *tensor) {
    static const int64_t still[DT_SPEC_MAX_DIMS];
    unsigned char element[16];
    dt_reduce reduce;
    if (!tensor->data || dt_tensor_local_elements(tensor) == 0 || dt__is_idle(tensor->ctx, tensor->data))
        return false;
    if (!tensor->spec || dt__holds_value(tensor->spec, &reduce))
        return true;
    dt__write_identity(tensor->dtype, reduce, element);
    dt__spread_copy(dt__kernels_of(tensor->ctx), dt__pool_of(tensor->ctx),
                    &(dt__strided){tensor->data, element, dt_dtype_size(tensor->dtype), tensor->local_n_dims,
                                   tensor->local_shape, tensor->strides, still},
                    DT__CACHED);
    return false;
}

static void fill_plain(const dt__draw *draw, dt_tensor *tensor) {
    dt__shard shards[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < tensor->n_dims; d++)
        shards[d] = (dt__shard){.global_size = tensor->shape[d], .size = tensor->shape[d]};
    dt__draw_shard(draw, dt__pool_of(tensor->ctx), tensor->n_dims, shards, tensor->strides, tensor->data);
}

static dt_status fill_with(const dt__draw *draw, dt_tensor *tensor) {
    DT__TRY(remember(tensor, draw->key, (int)draw->distribution));
    if (!wants_numbers(tensor))
        return DT_OK;
    if (!tensor->spec) {
        fill_plain(draw, tensor);
        return DT_OK;
    }
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    (void)dt_mesh_coordinate(tensor->spec->mesh, coordinate); /* a member: it holds elements */
    dt__draw_spec(draw, dt__pool_of(tensor->ctx), tensor->spec, coordinate, tensor->strides, tensor->data);
    return DT_OK;
}

static uint64_t hash_arguments(const dt__random *args) {
    const double numbers[] = {args->low,  args->high, args->mean,         args->std,
                              args->rate, args->p,    (double)args->from, (double)args->to};
    uint64_t hash = (uint64_t)args->distribution, bits;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        memcpy(&bits, &numbers[i], sizeof bits);
        hash = dt__hash_u64(bits, hash);
    }
    return hash;
}

/* The arguments of the distribution, for errors. */
static void add_arguments(const void *arg, dt__text *text) {
    const dt__random *args = arg;
    switch (args->distribution) {
    case DT__UNIFORM:
        dt__text_add(text, "; low=%g; high=%g", args->low, args->high);
        return;
    case DT__EXPONENTIAL:
        dt__text_add(text, "; rate=%g", args->rate);
        return;
    case DT__RANDINT:
        dt__text_add(text, "; low=%lld; high=%lld", (long long)args->from, (long long)args->to);
        return;
    case DT__BERNOULLI:
    case DT__DROPOUT:
        dt__text_add(text, "; p=%g", args->p);
        return;
    case DT__TRUNCATED_NORMAL:
        dt__text_add(text, "; low=%g; high=%g", args->low, args->high);
        break;
    default:
        break;
    }
    dt__text_add(text, "; mean=%g; std=%g", args->mean, args->std);
}

static dt_status fill(dt_tensor *tensor, const dt__random *args, const dt_random_options *o) {
    dt__random typed = *args;
    dt__draw draw;
    typed.dtype = tensor->dtype;
    const dt__call_details details = {.hash = hash_arguments(args), .describe = add_arguments, .describe_arg = args};
    dt_generator *generator = dt__noted(tensor, &details) ? generator_of(tensor->ctx, args->op, o) : NULL;
    if (!generator)
        return dt_error_status(tensor->ctx);
    DT__TRY(dt__draw_begin(generator, &typed, &draw));
    dt_status status = fill_with(&draw, tensor);
    if (status != DT_OK)
        (void)dt_generator_restore(
            generator, (dt_generator_state){draw.key.seed, draw.key.draw}); /* a call that fails takes no draw */
    return status;
}

/* The result of a factory function: the filled tensor, or NULL after freeing it. */
static dt_tensor *filled(dt_tensor *tensor, const dt__random *args, const dt_random_options *o) {
    if (!tensor || fill(tensor, args, o) == DT_OK)
        return tensor;
    dt_drop(tensor);
    return NULL;
}

static dt_tensor *new_tensor(dt_ctx *ctx, const char *op, dt_shape shape, dt_dtype otherwise,
                             const dt_random_options *o) {
    dt_dtype dtype = dtype_or(o, otherwise);
    o = o ? o : &defaults;
    return dt__tensor_make(ctx, op, shape,
                           &(dt_make_options){.dtype = dtype,
                                              .mesh = o->mesh,
                                              .place = o->place,
                                              .requires_grad = o->requires_grad,
                                              .use = o->use,
                                              .site = o->site},
                           NULL);
}

static dt_tensor *make(dt_ctx *ctx, dt_shape shape, dt_dtype otherwise, dt__random args, const dt_random_options *o) {
    return filled(new_tensor(ctx, args.op, shape, otherwise, o), &args, o);
}

static dt_tensor *make_like(const dt_tensor *tensor, dt__random args, const dt_random_options *o) {
    if (!tensor)
        return NULL;
    dt_dtype dtype = dtype_or(o, tensor->dtype);
    dt_tensor *result = NULL;
    if (tensor->spec) {
        dt_spec *spec = dt__spec_with_dtype(tensor->spec, dtype);
        result = spec ? dt__tensor_of_spec(spec) : NULL;
        dt_spec_release(spec);
    } else {
        result = dt__tensor_new(tensor->ctx, args.op, dtype, tensor->n_dims, tensor->shape);
    }
    if (result && o && o->requires_grad && dt_set_requires_grad(result, true) != DT_OK) {
        dt_drop(result);
        return NULL;
    }
    return filled(result, &args, o);
}

dt_tensor *dt_rand_sized(dt_ctx *ctx, dt_shape shape, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "rand", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make(ctx, shape, DT_F32, arguments_of("rand", DT__UNIFORM, options), options) : NULL;
}

dt_tensor *dt_randn_sized(dt_ctx *ctx, dt_shape shape, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "randn", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make(ctx, shape, DT_F32, arguments_of("randn", DT__NORMAL, options), options) : NULL;
}

dt_tensor *dt_truncated_normal_sized(dt_ctx *ctx, dt_shape shape, const dt_random_options *options,
                                     size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "truncated_normal", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options
               ? make(ctx, shape, DT_F32, arguments_of("truncated_normal", DT__TRUNCATED_NORMAL, options), options)
               : NULL;
}

dt_tensor *dt_exponential_sized(dt_ctx *ctx, dt_shape shape, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "exponential", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make(ctx, shape, DT_F32, arguments_of("exponential", DT__EXPONENTIAL, options), options) : NULL;
}

dt_tensor *dt_randint_sized(dt_ctx *ctx, int64_t low, int64_t high, dt_shape shape, const dt_random_options *options,
                            size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "randint", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make(ctx, shape, DT_I64, integer_arguments("randint", low, high, options), options) : NULL;
}

dt_tensor *dt_bernoulli_sized(dt_ctx *ctx, double p, dt_shape shape, const dt_random_options *options,
                              size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "bernoulli", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make(ctx, shape, DT_F32, probability_arguments("bernoulli", DT__BERNOULLI, p, options), options)
                   : NULL;
}

dt_tensor *dt_dropout_mask_sized(dt_ctx *ctx, double p, dt_shape shape, const dt_random_options *options,
                                 size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "dropout_mask", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make(ctx, shape, DT_F32, probability_arguments("dropout_mask", DT__DROPOUT, p, options), options)
                   : NULL;
}

dt_tensor *dt_rand_like_sized(const dt_tensor *tensor, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "rand_like", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make_like(tensor, arguments_of("rand_like", DT__UNIFORM, options), options) : NULL;
}

dt_tensor *dt_randn_like_sized(const dt_tensor *tensor, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "randn_like", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make_like(tensor, arguments_of("randn_like", DT__NORMAL, options), options) : NULL;
}

dt_tensor *dt_randint_like_sized(const dt_tensor *tensor, int64_t low, int64_t high, const dt_random_options *options,
                                 size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "randint_like", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make_like(tensor, integer_arguments("randint_like", low, high, options), options) : NULL;
}

dt_tensor *dt_bernoulli_like_sized(const dt_tensor *tensor, double p, const dt_random_options *options,
                                   size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "bernoulli_like", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make_like(tensor, probability_arguments("bernoulli_like", DT__BERNOULLI, p, options), options)
                   : NULL;
}

dt_tensor *dt_dropout_mask_like_sized(const dt_tensor *tensor, double p, const dt_random_options *options,
                                      size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "dropout_mask_like", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? make_like(tensor, probability_arguments("dropout_mask_like", DT__DROPOUT, p, options), options)
                   : NULL;
}

/* Random orders. */

/* Entries of one run, converted to the dtype, a chunk at a time. */
typedef struct entries {
    const dt__order *order;
    dt_tensor *tensor;
    int64_t local, global, n; /* start of the run in the local and in the full tensor; its length */
} entries;

enum { CHUNK = 1 << 12 };

static void fill_entries(void *arg, int64_t piece) {
    const entries *run = arg;
    int64_t numbers[CHUNK], at = piece * CHUNK, n = dt__min_i64(CHUNK, run->n - at), one = 1;
    const dt_tensor *tensor = run->tensor;
    dt__order_range(run->order, run->global + at, n, numbers);
    dt__convert(dt__kernels_of(tensor->ctx), NULL,
                &(dt__array){tensor->data + (size_t)(run->local + at) * dt_dtype_size(tensor->dtype), tensor->dtype,
                             1, &n, &one},
                &(dt__array){numbers, DT_I64, 1, &n, &one});
}

static void fill_order(dt_tensor *tensor, const dt__order *order) {
    dt__shard shard = {.global_size = order->size, .size = order->size};
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (tensor->spec && dt_mesh_coordinate(tensor->spec->mesh, coordinate))
        dt__shard_at(&tensor->spec->sharding, 0, coordinate, &shard);
    for (int64_t i = 0; i < shard.size;) {
        dt_run run = dt__shard_run(&shard, i);
        entries part = {order, tensor, i, run.begin, run.end - run.begin};
        dt__pool_run(dt__pool_of(tensor->ctx), dt__ceil_div(part.n, CHUNK), fill_entries, &part);
        i += part.n;
    }
}

static dt_status check_order(dt_ctx *ctx, int64_t n, dt_dtype dtype) {
    int64_t min, max;
    if (!dt__is_integer(dtype))
        return dt__fail(ctx, DT_ERR_DTYPE, "randperm: unsupported dtype: expected an integer, got %s",
                        dt_dtype_name(dtype));
    dt__integer_limits(dtype, &min, &max);
    if (n < 0 || n - 1 > max)
        return dt__fail(ctx, DT_ERR_VALUE, "randperm: expected a size from 0 to %llu for %s, got %lld",
                        (unsigned long long)max + (unsigned)(dtype != DT_I64), dt_dtype_name(dtype), (long long)n);
    return DT_OK;
}

/* The draw and its destination; allocated, because the table of the order is large for a stack. */
static dt_status order_tensor(dt_tensor *tensor, int64_t n, const dt_random_options *o) {
    dt_ctx *ctx = tensor->ctx;
    dt_generator *generator = generator_of(ctx, "randperm", o);
    if (!dt__noted(tensor, NULL) || !generator)
        return dt_error_status(ctx);
    dt__order *order = dt__alloc(ctx, sizeof *order);
    if (!order)
        return dt__fail_memory(ctx, sizeof *order, "a random order");
    dt_generator_state drawn = dt_generator_save(generator);
    dt_status status = dt__order_begin(generator, n, order);
    if (status == DT_OK)
        status = remember(tensor, (dt__philox_key){drawn.seed, drawn.draw}, DT__N_DISTRIBUTIONS);
    if (status != DT_OK)
        (void)dt_generator_restore(generator, drawn);
    else if (wants_numbers(tensor))
        fill_order(tensor, order);
    dt__free(ctx, order, sizeof *order);
    return status;
}

dt_tensor *dt_randperm_sized(dt_ctx *ctx, int64_t n, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_OPTIONS(ctx, "randperm", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options || !ctx || check_order(ctx, n, dtype_or(options, DT_I64)) != DT_OK)
        return NULL;
    dt_tensor *tensor = new_tensor(ctx, "randperm", (dt_shape){1, &n}, DT_I64, options);
    if (!tensor || order_tensor(tensor, n, options) == DT_OK)
        return tensor;
    dt_drop(tensor);
    return NULL;
}

/* Fills in place. */

static dt_status fill_in(dt_tensor *tensor, dt__random args, const dt_random_options *o) {
    if (!tensor)
        return DT_ERR_VALUE;
    DT__TRY(dt__check_writable(tensor, args.op));
    if (tensor->ctx->recorder && tensor->record)
        DT__TRY(tensor->ctx->recorder->check_write(tensor, args.op));
    DT__TRY(fill(tensor, &args, o));
    dt__storage_changed(tensor->storage);
    return dt__made_from(args.op, tensor, tensor, 0, NULL) ? DT_OK : dt_error_status(tensor->ctx);
}

dt_status dt_uniform_in_place_sized(dt_tensor *tensor, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "uniform_", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return options ? fill_in(tensor, arguments_of("uniform_", DT__UNIFORM, options), options) : DT_ERR_VALUE;
}

dt_status dt_normal_in_place_sized(dt_tensor *tensor, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "normal_", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return options ? fill_in(tensor, arguments_of("normal_", DT__NORMAL, options), options) : DT_ERR_VALUE;
}

dt_status dt_truncated_normal_in_place_sized(dt_tensor *tensor, const dt_random_options *options,
                                             size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "truncated_normal_", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return options ? fill_in(tensor, arguments_of("truncated_normal_", DT__TRUNCATED_NORMAL, options), options)
                   : DT_ERR_VALUE;
}

dt_status dt_exponential_in_place_sized(dt_tensor *tensor, const dt_random_options *options, size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "exponential_", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return options ? fill_in(tensor, arguments_of("exponential_", DT__EXPONENTIAL, options), options) : DT_ERR_VALUE;
}

dt_status dt_randint_in_place_sized(dt_tensor *tensor, int64_t low, int64_t high, const dt_random_options *options,
                                    size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "randint_", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return options ? fill_in(tensor, integer_arguments("randint_", low, high, options), options) : DT_ERR_VALUE;
}

dt_status dt_bernoulli_in_place_sized(dt_tensor *tensor, double p, const dt_random_options *options,
                                      size_t options_size) {
    dt_random_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "bernoulli_", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return options ? fill_in(tensor, probability_arguments("bernoulli_", DT__BERNOULLI, p, options), options)
                   : DT_ERR_VALUE;
}
