/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks on which `run` runs, and the inputs that each of them makes. One thread launches the ranks and waits for
 * them; the ranks wait for work, which is numbered.
 *
 * A partial input is split into terms that follow from a seed, the element's number and the rank. Sums: the sums of the
 * first 1, 2, … terms are random, and each is between half and twice the next, so that their differences, which are the
 * terms, are exact, and so is adding them up in order. Extremes: one rank, which changes from element to element, holds
 * the value, and the others hold something beyond it. Products: all terms but the last are small powers of two, or
 * signs for integers.
 */
#include "base/dtype.h"
#include "launch/launch.h"
#include "move/move.h"
#include "query.h"
#include "tensor/tensor.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct rank_pool {
    int64_t n_ranks;
    pthread_t launcher;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t number;  /* of the current work; 0: none yet */
    int64_t n_ready; /* ranks that have finished it */
    bool closing, failed;
    dt_rank_fn *fn;
    void *arg;
};

static int serve_rank(dt_ctx *ctx, void *arg) {
    rank_pool *self = arg;
    int64_t done = 0;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        self->n_ready++;
        pthread_cond_broadcast(&self->changed);
        while (self->number == done && !self->closing)
            pthread_cond_wait(&self->changed, &self->lock);
        if (self->closing)
            break;
        done = self->number;
        pthread_mutex_unlock(&self->lock);
        (void)self->fn(ctx, self->arg);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return 0;
}

static void *launch_ranks(void *arg) {
    rank_pool *self = arg;
    bool ran = dt__run_threads(self->n_ranks, NULL, serve_rank, self, NULL);
    pthread_mutex_lock(&self->lock);
    self->failed = !ran || !self->closing;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* The lock is held. */
static void wait_for_ranks(rank_pool *self) {
    while (self->n_ready < self->n_ranks && !self->failed)
        pthread_cond_wait(&self->changed, &self->lock);
}

rank_pool *rank_pool_open(int64_t n_ranks) {
    rank_pool *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->n_ranks = n_ranks;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    if (pthread_create(&self->launcher, NULL, launch_ranks, self)) {
        free(self);
        return NULL;
    }
    pthread_mutex_lock(&self->lock);
    wait_for_ranks(self);
    bool failed = self->failed;
    pthread_mutex_unlock(&self->lock);
    if (failed) {
        rank_pool_close(self);
        return NULL;
    }
    return self;
}

int64_t rank_pool_size(const rank_pool *self) { return self->n_ranks; }

void rank_pool_run(rank_pool *self, dt_rank_fn *fn, void *arg) {
    pthread_mutex_lock(&self->lock);
    self->fn = fn;
    self->arg = arg;
    self->n_ready = 0;
    self->number++;
    pthread_cond_broadcast(&self->changed);
    wait_for_ranks(self);
    pthread_mutex_unlock(&self->lock);
}

void rank_pool_close(rank_pool *self) {
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    self->closing = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->launcher, NULL);
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->changed);
    free(self);
}

/* How a value is split into n terms that reduce to it. Sums and averages may be mixed: n_averaged of the n terms are
 * averaged, the quotients summed. */
typedef struct split {
    dt_reduce reduce;
    dt_dtype dtype;
    int64_t n, n_averaged;
    uint64_t seed;
} split;

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

static uint64_t random_bits(const split *self, int64_t element, int64_t term) {
    return mix(mix(self->seed + (uint64_t)element * UINT64_C(0x9e3779b97f4a7c15)) + (uint64_t)term);
}

/* A multiple of 1/16, not 0, between -4 and 4: sums of a few are exact in every floating-point dtype. */
static double small(const split *self, int64_t element, int64_t term) {
    double steps = (double)(random_bits(self, element, term) % 63 + 1);
    return (random_bits(self, element, term) >> 40 & 1 ? -steps : steps) / 16;
}

/* Of 0 and of what is not finite: small terms, and the rest. */
static double term_of_special_sum(const split *self, double value, int64_t element, int64_t term) {
    double rest = value;
    if (term < self->n - 1)
        return small(self, element, term);
    for (int64_t i = 0; i < self->n - 1; i++)
        rest -= small(self, element, i);
    return rest;
}

static double rounded(dt_dtype dtype, double value) {
    unsigned char element[16];
    dt__write_f64(dtype, value, element);
    return dt__read_f64(dtype, element);
}

static double term_of_sum(const split *self, double value, int64_t element, int64_t term) {
    double sum = rounded(self->dtype, value * (double)self->n_averaged); /* of all terms */
    if (sum == 0 || !isfinite(sum))
        return term_of_special_sum(self, sum, element, term);
    for (int64_t i = self->n - 1; i > 0; i--) {
        static const double factors[] = {0.59375, 0.6875, 0.84375, 1.1875, 1.4375, 1.78125};
        double factor = factors[random_bits(self, element, i) % (sizeof factors / sizeof *factors)];
        double before = rounded(self->dtype, sum * factor); /* of the terms before this one */
        if (i == term)
            return sum - before;
        sum = before;
    }
    return sum;
}

static double term_of_product(const split *self, double value, int64_t element, int64_t term) {
    double rest = value;
    for (int64_t i = 0; i < self->n - 1; i++) {
        uint64_t bits = random_bits(self, element, i);
        double factor = (bits & 1 ? -1 : 1) * (bits & 2 ? 2 : 0.5);
        if (i == term)
            return factor;
        rest /= factor;
    }
    return rest;
}

/* The term that is the extreme value of an element. */
static int64_t extreme_term(const split *self, int64_t element) {
    return (int64_t)(random_bits(self, element, -1) % (uint64_t)self->n);
}

static double split_number(const split *self, double value, int64_t element, int64_t term) {
    if (self->n == 1)
        return value;
    switch (self->reduce) {
    case DT_SUM:
    case DT_AVG:
        return term_of_sum(self, value, element, term);
    case DT_PRODUCT:
        return term_of_product(self, value, element, term);
    default:
        break;
    }
    if (term == extreme_term(self, element) || isnan(value))
        return value;
    double beyond = fabs(small(self, element, term)) + 1;
    return self->reduce == DT_MAX ? value - beyond : value + beyond;
}

/* Booleans: sum and max are "or", product and min are "and". */
static int64_t term_of_bool(const split *self, int64_t value, int64_t element, int64_t term) {
    bool any = self->reduce == DT_SUM || self->reduce == DT_MAX;
    if ((value != 0) != any)
        return value; /* all terms are equal */
    return term == extreme_term(self, element) ? value : (int64_t)(random_bits(self, element, term) & 1);
}

static int64_t split_int(const split *self, int64_t value, int64_t element, int64_t term) {
    uint64_t rest = (uint64_t)value * (uint64_t)self->n_averaged;
    if (self->n == 1)
        return value;
    if (self->dtype == DT_BOOL)
        return term_of_bool(self, value, element, term);
    if (self->reduce == DT_MIN || self->reduce == DT_MAX) {
        int64_t beyond = (int64_t)(random_bits(self, element, term) % 5) + 1;
        if (term == extreme_term(self, element))
            return value;
        bool up = self->reduce == DT_MIN;
        bool fits = up ? value <= INT64_MAX - beyond : value >= INT64_MIN + beyond;
        if (dt__is_unsigned(self->dtype)) {
            int64_t min, max;
            dt__integer_limits(self->dtype, &min, &max);
            fits = up ? value + beyond <= max : value >= beyond;
        }
        return !fits ? value : up ? value + beyond : value - beyond;
    }
    for (int64_t i = 0; i < self->n - 1; i++) {
        uint64_t bits = random_bits(self, element, i);
        uint64_t current = self->reduce == DT_PRODUCT ? (bits & 1 ? UINT64_MAX : 1) : bits % 9 + 1;
        if (dt__is_unsigned(self->dtype) && self->reduce == DT_PRODUCT)
            current = 1;
        if (i == term)
            return (int64_t)current;
        rest = self->reduce == DT_PRODUCT ? rest * current : rest - current;
    }
    return (int64_t)rest; /* wraps in narrow dtypes, and so does the reduction */
}

/* The term of a partial that this rank holds. */
typedef struct own_term {
    split split;
    int64_t term;
    bool partial;
} own_term;

static own_term find_term(const dt__sharding *placed, const int64_t *coordinate, dt_dtype dtype, int number) {
    own_term out = {
        .split = {.reduce = DT_SUM, .dtype = dtype, .n = 1, .n_averaged = 1, .seed = (uint64_t)number + 1}};
    for (int m = 0; m < placed->n_mesh_dims; m++) {
        const dt_placement *p = &placed->placements[m];
        if (!dt_placement_is_partial(*p))
            continue;
        out.partial = true;
        out.split.n *= placed->mesh[m];
        out.term = out.term * placed->mesh[m] + coordinate[m];
        if (p->reduce == DT_AVG)
            out.split.n_averaged *= placed->mesh[m];
        else
            out.split.reduce = p->reduce;
    }
    return out;
}

static void take_term(const own_term *own, const unsigned char *value, int64_t element, unsigned char *out) {
    dt_dtype dtype = own->split.dtype;
    if (dt__is_complex(dtype)) {
        dt_dtype real = dtype == DT_C64 ? DT_F32 : DT_F64;
        size_t bytes = dt_dtype_size(real);
        split real_split = own->split;
        real_split.dtype = real;
        for (int i = 0; i < 2; i++)
            dt__write_f64(
                real,
                split_number(&real_split, dt__read_f64(real, value + (size_t)i * bytes), 2 * element + i, own->term),
                out + (size_t)i * bytes);
    } else if (dt__is_integral(dtype)) {
        int64_t integer = dt__read_i64(dtype, value);
        dt__write_i64(dtype, split_int(&own->split, integer, element, own->term), out);
    } else
        dt__write_f64(dtype, split_number(&own->split, dt__read_f64(dtype, value), element, own->term), out);
}

/* A plain tensor with the full value, or with this rank's term of it. */
static dt_tensor *full_input(dt_ctx *ctx, const dt_op_value *value, const void *data, const own_term *own) {
    dt_tensor *full = dt_from_memory(ctx, data, (dt_shape){value->n_dims, value->shape}, value->dtype);
    size_t bytes = dt_dtype_size(value->dtype);
    const unsigned char *from = data;
    for (int64_t i = 0; full && own->partial && i < dt_tensor_elements(full); i++)
        take_term(own, from + (size_t)i * bytes, i, full->data + (size_t)i * bytes);
    return full;
}

static dt_spec *spec_of(dt_mesh *mesh, const dt_op_value *value, int n, const dt_placement *placements) {
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = value->dtype,
                                             .n_dims = value->n_dims,
                                             .shape = value->shape,
                                             .n_placements = n,
                                             .placements = placements});
}

/* The local tensor of the placements, cut out of the full one. */
static dt_tensor *place(dt_mesh *mesh, const dt_op_value *value, const dt__sharding *placed, dt_tensor *full) {
    dt_placement replicated[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    dt_placement cut[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    int n = placed->n_mesh_dims;
    for (int m = 0; m < n; m++)
        if (!dt_placement_is_partial(placed->placements[m]))
            cut[m] = placed->placements[m];
    dt_spec *from = spec_of(mesh, value, n, replicated), *to = spec_of(mesh, value, n, cut);
    dt_spec *spec = spec_of(mesh, value, n, placed->placements);
    dt_tensor *result = from && to && spec ? dt__tensor_of_spec(spec) : NULL;
    if (result &&
        dt__redistribute_run(&(dt__redistribution){
            .from = from, .to = to, .src = full->data, .dst = result->data, .planner = DT__PLANNER_DIRECT}) != DT_OK)
        result = NULL;
    dt_spec_release(from);
    dt_spec_release(to);
    dt_spec_release(spec);
    return result;
}

dt_status rank_inputs(dt_mesh *mesh, const dt__placed_call *placed, const void *const *data, dt_tensor **inputs) {
    dt_ctx *ctx = dt_mesh_ctx(mesh);
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    (void)dt_mesh_coordinate(mesh, coordinate);
    for (int i = 0; i < placed->call.n_inputs; i++) {
        const dt_op_value *value = &placed->call.inputs[i];
        int number = placed->bound.inputs[i];
        inputs[i] = NULL;
        for (int k = 0; k < i && !inputs[i]; k++)
            if (placed->bound.inputs[k] == number)
                inputs[i] = inputs[k]; /* the same tensor again */
        if (inputs[i])
            continue;
        own_term own = find_term(placed->inputs[i], coordinate, value->dtype, number);
        dt_tensor *full = full_input(ctx, value, data[i], &own);
        inputs[i] = full ? place(mesh, value, placed->inputs[i], full) : NULL;
        if (!inputs[i])
            return dt_error_status(ctx);
    }
    return DT_OK;
}
