/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the arguments of a draw, and converts them to the constants that the loops need. Bounds are rounded to the
 * dtype first and hold exactly: a uniform f16 never equals its upper bound, however it is rounded.
 */
#include "random/draw.h"

#include "base/dtype.h"
#include "base/half_float.h"

#include <math.h>

double dt__round_to(dt_dtype dtype, double x) {
    switch (dtype) {
    case DT_F32:
        return (double)(float)x;
    case DT_F16:
        return (double)dt__f16_to_f32(dt__f32_to_f16((float)x));
    case DT_BF16:
        return (double)dt__bf16_to_f32(dt__f32_to_bf16((float)x));
    default:
        return x;
    }
}

double dt__below(dt_dtype dtype, double x) {
    if (dtype == DT_F64)
        return nextafter(x, -INFINITY);
    if (dtype == DT_F32)
        return (double)nextafterf((float)x, -INFINITY);
    const bool f16 = dtype == DT_F16;
    uint16_t bits = f16 ? dt__f32_to_f16((float)x) : dt__f32_to_bf16((float)x);
    bits = (uint16_t)(x > 0 ? bits - 1 : x < 0 ? bits + 1 : 0x8001);
    return (double)(f16 ? dt__f16_to_f32(bits) : dt__bf16_to_f32(bits));
}

/* Whether a number is finite in the dtype that values are computed in. */
static bool is_finite_in(dt_dtype dtype, double x) {
    return isfinite(dt__round_to(dtype == DT_F64 ? DT_F64 : DT_F32, x));
}

static dt_status prepare_uniform(dt_ctx *ctx, const dt__random *args, dt__draw *draw) {
    const double low = dt__round_to(args->dtype, args->low), high = dt__round_to(args->dtype, args->high);
    if (!(args->low <= args->high) || !is_finite_in(args->dtype, high - low))
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: invalid bounds: expected low <= high and a difference that is finite in %s, got low %g "
                        "and high %g",
                        args->op, dt_dtype_name(args->dtype), args->low, args->high);
    draw->shift = low;
    draw->scale = high - low;
    draw->high = high > low ? dt__below(args->dtype, high) : low;
    return DT_OK;
}

static dt_status check_normal(dt_ctx *ctx, const dt__random *args) {
    if (!isfinite(args->mean) || !(args->std >= 0) || !isfinite(args->std))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: expected a finite mean and a finite std >= 0, got mean %g and std %g",
                        args->op, args->mean, args->std);
    return DT_OK;
}

static dt_status prepare_normal(dt_ctx *ctx, const dt__random *args, dt__draw *draw) {
    DT__TRY(check_normal(ctx, args));
    if (!is_finite_in(args->dtype, args->mean) || !is_finite_in(args->dtype, args->std))
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: expected a mean and a std that are finite in f32, got mean %g and std %g", args->op,
                        args->mean, args->std);
    draw->shift = args->mean;
    draw->scale = args->std;
    return DT_OK;
}

static dt_status prepare_exponential(dt_ctx *ctx, const dt__random *args, dt__draw *draw) {
    if (!(args->rate > 0) || !isfinite(args->rate) || !is_finite_in(args->dtype, 1 / args->rate))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: expected rate and 1 / rate above 0 and finite%s, got rate %g",
                        args->op, args->dtype == DT_F64 ? "" : " in f32", args->rate);
    draw->scale = 1 / args->rate;
    return DT_OK;
}

/* See kernels/random_plain.h; |alpha| <= |beta|, and alpha >= 0 if both bounds are on one side of the mean. */
static dt__proposal choose_proposal(double alpha, double beta) {
    const double width = beta - alpha;
    if (alpha <= 0)
        return width >= 2.5 ? DT__PROPOSE_NORMAL : DT__PROPOSE_UNIFORM;
    if (alpha < 1)
        return width >= 1 ? DT__PROPOSE_NORMAL : DT__PROPOSE_UNIFORM;
    return alpha * width > 1 ? DT__PROPOSE_TAIL : DT__PROPOSE_UNIFORM;
}

static dt_status prepare_truncated(dt_ctx *ctx, const dt__random *args, dt__draw *draw) {
    DT__TRY(check_normal(ctx, args));
    draw->low = dt__round_to(args->dtype, args->low);
    draw->high = dt__round_to(args->dtype, args->high);
    double alpha = (draw->low - args->mean) / args->std, beta = (draw->high - args->mean) / args->std;
    if (!(draw->low < draw->high) || !(args->std > 0) || !(alpha < beta) || alpha == INFINITY || beta == -INFINITY)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: expected low < high and std > 0 in %s, and bounds at finite distances in std from the "
                        "mean, got low %g, high %g, std %g, mean %g",
                        args->op, dt_dtype_name(args->dtype), args->low, args->high, args->std, args->mean);
    draw->shift = args->mean;
    draw->scale = args->std;
    draw->mirrored = beta < 0;
    draw->alpha = draw->mirrored ? -beta : alpha;
    draw->beta = draw->mirrored ? -alpha : beta;
    draw->proposal = choose_proposal(draw->alpha, draw->beta);
    draw->group = DT__GROUP_BLOCKS;
    return DT_OK;
}

void dt__randint_limits(dt_dtype dtype, int64_t *min, int64_t *max) {
    *min = dtype == DT_F16 ? -65504 : INT64_MIN;
    *max = dtype == DT_F16 ? 65504 : INT64_MAX;
    if (dt__is_integral(dtype))
        dt__integer_limits(dtype, min, max);
}

/* The float value with which an integer is stored (dt__write_i64). */
static double stored(dt_dtype dtype, int64_t x) {
    return dtype == DT_F64 ? (double)x : dt__round_to(dtype, (double)(float)x);
}

/* Shrinks a range of integers so that rounding to a float dtype does not leave it. */
static bool fit_float(dt_dtype dtype, int64_t *first, int64_t *last) {
    const double low = stored(dtype, *first), high = stored(dtype, *last), limit = 0x1p63;
    if (high >= limit || (int64_t)high > *last)
        *last = (int64_t)dt__below(dtype, high);
    if (low < limit && (int64_t)low < *first)
        *first = (int64_t)-dt__below(dtype, -low);
    return low < limit && *first <= *last;
}

static dt_status prepare_randint(dt_ctx *ctx, const dt__random *args, dt__draw *draw) {
    int64_t min, max, first = args->from, last = args->to - (args->from < args->to);
    dt__randint_limits(args->dtype, &min, &max);
    if (args->from >= args->to || first < min || last > max)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: expected from < to within the range of %s, %lld to %lld, got from %lld and to %lld",
                        args->op, dt_dtype_name(args->dtype), (long long)min, (long long)max, (long long)args->from,
                        (long long)args->to);
    if (dt__is_float(args->dtype) && !fit_float(args->dtype, &first, &last))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: no integer from %lld to below %lld is a value of %s", args->op,
                        (long long)args->from, (long long)args->to, dt_dtype_name(args->dtype));
    draw->from = first;
    draw->range = (uint64_t)last - (uint64_t)first + 1;
    draw->n_rejected = (0 - draw->range) % draw->range;
    draw->group = 2 * DT__GROUP_BLOCKS;
    return DT_OK;
}

static dt_status check_probability(dt_ctx *ctx, const dt__random *args) {
    if (!(args->p >= 0 && args->p <= 1))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: expected p from 0 to 1, got %g", args->op, args->p);
    return DT_OK;
}

static dt_status prepare_bernoulli(dt_ctx *ctx, const dt__random *args, dt__draw *draw) {
    DT__TRY(check_probability(ctx, args));
    draw->threshold = (uint64_t)(args->p * 0x1p32);
    draw->scale = 1;
    draw->group = 4 * DT__GROUP_BLOCKS;
    return DT_OK;
}

static dt_status prepare_dropout(dt_ctx *ctx, const dt__random *args, dt__draw *draw) {
    DT__TRY(check_probability(ctx, args));
    draw->threshold = (uint64_t)((1 - args->p) * 0x1p32);
    draw->scale = args->p < 1 ? 1 / (1 - args->p) : 0;
    draw->group = 4 * DT__GROUP_BLOCKS;
    return DT_OK;
}

static const struct {
    const char *word;
    dt_status (*prepare)(dt_ctx *ctx, const dt__random *args, dt__draw *draw);
    bool integers; /* besides floats */
} distributions[DT__N_DISTRIBUTIONS] = {
    [DT__UNIFORM] = {"uniform", prepare_uniform, false},
    [DT__NORMAL] = {"normal", prepare_normal, false},
    [DT__EXPONENTIAL] = {"exponential", prepare_exponential, false},
    [DT__TRUNCATED_NORMAL] = {"truncated_normal", prepare_truncated, false},
    [DT__RANDINT] = {"randint", prepare_randint, true},
    [DT__BERNOULLI] = {"bernoulli", prepare_bernoulli, true},
    [DT__DROPOUT] = {"dropout", prepare_dropout, false},
};

static bool supports(dt_dtype dtype, bool integers) {
    const bool known = dt_dtype_size(dtype) > 0 && !dt__is_complex(dtype);
    return known && (integers || dt__is_float(dtype));
}

dt_status dt__draw_prepare(dt_ctx *ctx, const dt__kernels *kernels, const dt__random *args, dt__draw *out) {
    if ((unsigned)args->distribution >= DT__N_DISTRIBUTIONS)
        return dt__fail(ctx, DT_ERR_VALUE, "random: unknown distribution %d", (int)args->distribution);
    dt__random named = *args;
    named.op = args->op ? args->op : distributions[args->distribution].word;
    args = &named;
    if (!supports(args->dtype, distributions[args->distribution].integers))
        return dt__fail(ctx, DT_ERR_DTYPE, "%s: unsupported dtype: expected %s, got %s", args->op,
                        distributions[args->distribution].integers ? "a float, an integer or bool" : "a float",
                        dt_dtype_name(args->dtype));
    dt__draw draw = {
        .distribution = args->distribution,
        .dtype = args->dtype,
        .group = (args->dtype == DT_F64 ? 2 : 4) * DT__GROUP_BLOCKS,
        .low = -INFINITY,
        .high = INFINITY,
        .kernels = kernels,
    };
    DT__TRY(distributions[args->distribution].prepare(ctx, args, &draw));
    *out = draw;
    return DT_OK;
}

dt_status dt__draw_begin(dt_generator *generator, const dt__random *args, dt__draw *out) {
    dt__draw draw;
    if (!generator)
        return DT_ERR_VALUE;
    DT__TRY(dt__draw_prepare(dt__generator_ctx(generator), dt__generator_kernels(generator), args, &draw));
    DT__TRY(dt__generator_next(generator, &draw.key));
    *out = draw;
    return DT_OK;
}
