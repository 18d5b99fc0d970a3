/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of a draw: checked, and turned into the constants that the loops need. Limits are rounded to the dtype
 * first and are kept exactly: a uniform f16 never is its upper limit, however it is rounded.
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

static dt_status prepare_uniform(dt_ctx *ctx, const dt__random *what, dt__draw *draw) {
    const double low = dt__round_to(what->dtype, what->low), high = dt__round_to(what->dtype, what->high);
    if (!(what->low <= what->high) || !is_finite_in(what->dtype, high - low))
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: low %g and high %g: low must not be above high, and the distance must be finite in %s",
                        what->op, what->low, what->high, dt_dtype_name(what->dtype));
    draw->shift = low;
    draw->scale = high - low;
    draw->high = high > low ? dt__below(what->dtype, high) : low;
    return DT_OK;
}

static dt_status check_bell(dt_ctx *ctx, const dt__random *what) {
    if (!isfinite(what->mean) || !(what->std >= 0) || !isfinite(what->std))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: mean %g and std %g: both must be finite, and std at least 0",
                        what->op, what->mean, what->std);
    return DT_OK;
}

static dt_status prepare_normal(dt_ctx *ctx, const dt__random *what, dt__draw *draw) {
    DT__TRY(check_bell(ctx, what));
    if (!is_finite_in(what->dtype, what->mean) || !is_finite_in(what->dtype, what->std))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: mean %g and std %g: both must be finite in f32", what->op, what->mean,
                        what->std);
    draw->shift = what->mean;
    draw->scale = what->std;
    return DT_OK;
}

static dt_status prepare_exponential(dt_ctx *ctx, const dt__random *what, dt__draw *draw) {
    if (!(what->rate > 0) || !isfinite(what->rate) || !is_finite_in(what->dtype, 1 / what->rate))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: rate %g: it must be above 0 and finite, and so must 1 / rate%s",
                        what->op, what->rate, what->dtype == DT_F64 ? "" : " in f32");
    draw->scale = 1 / what->rate;
    return DT_OK;
}

/* See kernels/random_plain.c; alpha is not farther from 0 than beta, and not below it where both are on one side. */
static dt__proposal choose_proposal(double alpha, double beta) {
    const double width = beta - alpha;
    if (alpha <= 0)
        return width >= 2.5 ? DT__PROPOSE_NORMAL : DT__PROPOSE_UNIFORM;
    if (alpha < 1)
        return width >= 1 ? DT__PROPOSE_NORMAL : DT__PROPOSE_UNIFORM;
    return alpha * width > 1 ? DT__PROPOSE_TAIL : DT__PROPOSE_UNIFORM;
}

static dt_status prepare_truncated(dt_ctx *ctx, const dt__random *what, dt__draw *draw) {
    DT__TRY(check_bell(ctx, what));
    draw->low = dt__round_to(what->dtype, what->low);
    draw->high = dt__round_to(what->dtype, what->high);
    double alpha = (draw->low - what->mean) / what->std, beta = (draw->high - what->mean) / what->std;
    if (!(draw->low < draw->high) || !(what->std > 0) || !(alpha < beta) || alpha == INFINITY || beta == -INFINITY)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: low %g, high %g, std %g in %s: low must be below high, std above 0, and the "
                        "limits finitely many std from the mean %g",
                        what->op, what->low, what->high, what->std, dt_dtype_name(what->dtype), what->mean);
    draw->shift = what->mean;
    draw->scale = what->std;
    draw->mirrored = beta < 0;
    draw->alpha = draw->mirrored ? -beta : alpha;
    draw->beta = draw->mirrored ? -alpha : beta;
    draw->proposal = choose_proposal(draw->alpha, draw->beta);
    draw->group = DT__GROUP_BLOCKS;
    return DT_OK;
}

void dt__randint_limits(dt_dtype dtype, int64_t *least, int64_t *most) {
    *least = dtype == DT_F16 ? -65504 : INT64_MIN;
    *most = dtype == DT_F16 ? 65504 : INT64_MAX;
    if (dt__is_integral(dtype))
        dt__integer_limits(dtype, least, most);
}

/* The float that an integer is stored as (dt__write_i64). */
static double stored(dt_dtype dtype, int64_t x) {
    return dtype == DT_F64 ? (double)x : dt__round_to(dtype, (double)(float)x);
}

/* Takes away the ends of a range of integers that a float would round to numbers outside of it. */
static bool fit_float(dt_dtype dtype, int64_t *first, int64_t *last) {
    const double low = stored(dtype, *first), high = stored(dtype, *last), limit = 0x1p63;
    if (high >= limit || (int64_t)high > *last)
        *last = (int64_t)dt__below(dtype, high);
    if (low < limit && (int64_t)low < *first)
        *first = (int64_t)-dt__below(dtype, -low);
    return low < limit && *first <= *last;
}

static dt_status prepare_randint(dt_ctx *ctx, const dt__random *what, dt__draw *draw) {
    int64_t least, most, first = what->from, last = what->to - (what->from < what->to);
    dt__randint_limits(what->dtype, &least, &most);
    if (what->from >= what->to || first < least || last > most)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "%s: from %lld and to %lld: from must be below to, and %s holds %lld … %lld", what->op,
                        (long long)what->from, (long long)what->to, dt_dtype_name(what->dtype), (long long)least,
                        (long long)most);
    if (dt__is_float(what->dtype) && !fit_float(what->dtype, &first, &last))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: from %lld and to %lld: no number between them is one of %s", what->op,
                        (long long)what->from, (long long)what->to, dt_dtype_name(what->dtype));
    draw->from = first;
    draw->range = (uint64_t)last - (uint64_t)first + 1;
    draw->n_rejected = (0 - draw->range) % draw->range;
    draw->group = 2 * DT__GROUP_BLOCKS;
    return DT_OK;
}

static dt_status check_chance(dt_ctx *ctx, const dt__random *what) {
    if (!(what->p >= 0 && what->p <= 1))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: p %g: it must lie from 0 to 1", what->op, what->p);
    return DT_OK;
}

static dt_status prepare_bernoulli(dt_ctx *ctx, const dt__random *what, dt__draw *draw) {
    DT__TRY(check_chance(ctx, what));
    draw->threshold = (uint64_t)(what->p * 0x1p32);
    draw->scale = 1;
    draw->group = 4 * DT__GROUP_BLOCKS;
    return DT_OK;
}

static dt_status prepare_dropout(dt_ctx *ctx, const dt__random *what, dt__draw *draw) {
    DT__TRY(check_chance(ctx, what));
    draw->threshold = (uint64_t)((1 - what->p) * 0x1p32);
    draw->scale = what->p < 1 ? 1 / (1 - what->p) : 0;
    draw->group = 4 * DT__GROUP_BLOCKS;
    return DT_OK;
}

static const struct {
    const char *word;
    dt_status (*prepare)(dt_ctx *ctx, const dt__random *what, dt__draw *draw);
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
    const bool known = dt_dtype_size(dtype) > 0 && dtype != DT_C64 && dtype != DT_C128;
    return known && (integers || dt__is_float(dtype));
}

dt_status dt__draw_begin(dt_generator *generator, const dt__random *asked, dt__draw *out) {
    if (!generator)
        return DT_ERR_VALUE;
    dt_ctx *ctx = dt__generator_ctx(generator);
    if ((unsigned)asked->distribution >= DT__N_DISTRIBUTIONS)
        return dt__fail(ctx, DT_ERR_VALUE, "random: there is no distribution %d", (int)asked->distribution);
    dt__random named = *asked;
    const dt__random *what = &named;
    if (!named.op)
        named.op = distributions[asked->distribution].word;
    if (!supports(what->dtype, distributions[what->distribution].integers))
        return dt__fail(ctx, DT_ERR_DTYPE, "%s: no values of dtype %s; it gives %s", what->op,
                        dt_dtype_name(what->dtype),
                        distributions[what->distribution].integers ? "floats, integers and bool" : "floats");
    dt__draw draw = {
        .distribution = what->distribution,
        .dtype = what->dtype,
        .group = (what->dtype == DT_F64 ? 2 : 4) * DT__GROUP_BLOCKS,
        .low = -INFINITY,
        .high = INFINITY,
        .kernels = dt__generator_kernels(generator),
    };
    DT__TRY(distributions[what->distribution].prepare(ctx, what, &draw));
    DT__TRY(dt__generator_next(generator, &draw.key));
    *out = draw;
    return DT_OK;
}
