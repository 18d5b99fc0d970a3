/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures links by all_gathers: along groups of one rank per node, which all communicate at the same time because they
 * share the link, and along groups of the ranks of a node. A line through the times of several sizes gives the start-up
 * time of a collective and the rate at which a rank receives; the additional time of the smallest all_gather over all
 * ranks gives the time per further peer. Clocks of nodes differ, so the time of a repeat is the longest on any rank,
 * after a barrier; the result is the lower quartile of all repeats.
 */
#include "node_links.h"

#include "calibration.h"

#include "comm/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that a rank receives. */
static const int64_t all_sizes[] = {1 << 10, 16 << 10, 128 << 10, 1 << 20, 8 << 20};
static const int64_t quick_sizes[] = {1 << 10, 128 << 10, 1 << 20};
enum { N_SIZES = sizeof all_sizes / sizeof *all_sizes, N_QUICK_SIZES = sizeof quick_sizes / sizeof *quick_sizes };
enum { MIN_REPEATS = 5, MAX_REPEATS = 200, COPIED_BYTES = 8 << 20 };

/* The memory that is sent and received, and who takes part. */
typedef struct measurement {
    dt_ctx *ctx;
    dt_group *world;
    bool quick;
    char *src, *dst;
    dt_status status;
} measurement;

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Microseconds of one all_gather of so many bytes of each member, the same on all ranks; negative after an error. */
static double repeat(measurement *self, dt_group *group, int64_t bytes) {
    self->status = dt_comm_barrier(self->world);
    double us = -dt__now_us();
    if (self->status == DT_OK)
        self->status = dt_comm_all_gather(group, self->src, self->dst, bytes, DT_U8);
    us += dt__now_us();
    if (self->status == DT_OK)
        self->status = dt_comm_all_reduce(self->world, &us, &us, 1, DT_F64, DT_MAX);
    return self->status == DT_OK ? fmax(us, 1e-3) : -1;
}

static double measure(measurement *self, dt_group *group, int64_t bytes) {
    double times[MAX_REPEATS], spent = repeat(self, group, bytes), budget = self->quick ? 4e3 : 50e3;
    int n = 0;
    for (; spent >= 0 && n < MAX_REPEATS && (n < MIN_REPEATS || spent < budget); n++) {
        times[n] = repeat(self, group, bytes);
        spent = times[n] < 0 ? -1 : spent + times[n];
    }
    if (spent < 0)
        return -1;
    qsort(times, (size_t)n, sizeof *times, compare_times);
    return times[n / 4];
}

/* The line through the times of a group: start-up time, with all its peers, and rate. */
static dt_status measure_line(measurement *self, dt_group *group, dt__link *out) {
    calibration_series series = {.kind = DT__STEP_ALL_GATHER, .group = dt_group_size(group)};
    dt__measured_step line;
    int64_t peers = dt_group_size(group) - 1;
    for (int i = 0; i < (self->quick ? N_QUICK_SIZES : N_SIZES); i++) {
        int64_t bytes = (self->quick ? quick_sizes : all_sizes)[i] / peers;
        double us = measure(self, group, bytes);
        if (us < 0)
            return self->status;
        series.points[series.n_points++] = (calibration_point){(double)(bytes * peers), us};
    }
    (void)calibration_fit(&series, &line);
    *out = (dt__link){.start_us = line.start_us,
                      .bytes_per_us = line.memory_bytes_per_us > 0 ? line.memory_bytes_per_us : line.bytes_per_us};
    return DT_OK;
}

/* Members every `step` ranks from `first` on, `n` at most. */
static dt_group *new_group(const measurement *self, int64_t first, int64_t step, int64_t n) {
    int64_t world = dt_world(self->ctx), count = 0;
    int64_t *ranks = malloc((size_t)world * sizeof *ranks);
    dt_group *group = NULL;
    for (int64_t rank = first; ranks && rank < world && count < n; rank += step)
        ranks[count++] = rank;
    if (ranks)
        group = dt_group_new(self->ctx, ranks, count);
    free(ranks);
    return group;
}

/* The line of this rank's group; where the groups of some ranks have no peer, that of the first group. */
static dt_status measure_groups(measurement *self, int64_t first, int64_t step, int64_t n, dt__link *out) {
    dt_group *group = new_group(self, first, step, n);
    if (!group)
        return dt_error_status(self->ctx);
    int64_t sizes[2] = {dt_group_size(group), -dt_group_size(group)};
    dt_status status = dt_comm_all_reduce(self->world, sizes, sizes, 2, DT_I64, DT_MAX);
    if (status == DT_OK && sizes[0] == -sizes[1] && sizes[0] > 1)
        status = measure_line(self, group, out);
    else if (status == DT_OK && sizes[0] > 1)
        status = measure_line(self, self->world, out);
    dt_group_release(group);
    return status;
}

/* From the rank where it is lowest, because all ranks continue with the same numbers. */
static dt_status measure_copy(measurement *self, double *out) {
    double us = INFINITY, rate;
    for (int i = 0; i < MIN_REPEATS; i++) {
        double begin = dt__now_us();
        memcpy(self->dst, self->src, COPIED_BYTES);
        us = fmin(us, fmax(dt__now_us() - begin, 1e-3));
    }
    rate = COPIED_BYTES / us;
    self->status = dt_comm_all_reduce(self->world, &rate, out, 1, DT_F64, DT_MIN);
    return self->status;
}

/* The ranks of a node, if they are numbered node by node, the same number on each but the last. */
static dt_status find_nodes(dt_ctx *ctx, int64_t *out) {
    int64_t world = dt_world(ctx), n = 0;
    while (n < world && dt__node_of(ctx, n) == dt__node_of(ctx, 0))
        n++;
    if (n == world)
        return dt__fail(ctx, DT_ERR_STATE,
                        "expected ranks on several nodes, got %lld on one; start it without a launcher",
                        (long long)world);
    for (int64_t rank = 0; rank < world; rank++)
        if (dt__node_of(ctx, rank) != rank / n)
            return dt__fail(ctx, DT_ERR_STATE,
                            "expected ranks numbered node by node, %lld on each, got rank %lld on node %lld",
                            (long long)n, (long long)rank, (long long)dt__node_of(ctx, rank));
    *out = n;
    return DT_OK;
}

static dt_status measure_links(measurement *self, node_links *out) {
    int64_t n = out->ranks_per_node, world = dt_world(self->ctx), rank = dt_rank(self->ctx);
    int64_t n_nodes = (world + n - 1) / n;
    DT__TRY(measure_copy(self, &out->copy_bytes_per_us));
    DT__TRY(measure_groups(self, rank % n, n, world, &out->between));
    out->within = out->between;
    if (n > 1)
        DT__TRY(measure_groups(self, rank / n * n, 1, n, &out->within));
    double all = measure(self, self->world, (quick_sizes[0] + world - 2) / (world - 1));
    if (all < 0)
        return self->status;
    double more = all - out->between.start_us - (double)quick_sizes[0] / out->between.bytes_per_us;
    double start = out->between.start_us; /* peers are half of it at most: small times are noisy */
    if (world > n_nodes && more > 0)
        out->between.peer_us = fmin(more / (double)(world - n_nodes), start / 2 / (double)(n_nodes - 1));
    out->between.start_us = start - (double)(n_nodes - 1) * out->between.peer_us;
    return dt_comm_broadcast(self->world, out, out, sizeof *out, DT_U8, 0);
}

dt_status node_links_measure(dt_ctx *ctx, bool quick, node_links *out) {
    measurement self = {.ctx = ctx, .world = dt_group_world(ctx), .quick = quick};
    *out = (node_links){0};
    DT__TRY(find_nodes(ctx, &out->ranks_per_node));
    size_t bytes = (size_t)COPIED_BYTES + (size_t)dt_world(ctx) * ((size_t)1 << 10) + (size_t)COPIED_BYTES;
    self.src = dt_heap_alloc(ctx, bytes);
    self.dst = dt_heap_alloc(ctx, bytes);
    dt_status status = self.src && self.dst ? DT_OK : dt_error_status(ctx);
    if (status == DT_OK) {
        memset(self.src, 1, bytes);
        memset(self.dst, 0, bytes);
        status = measure_links(&self, out);
    }
    (void)dt_heap_free(ctx, self.src);
    (void)dt_heap_free(ctx, self.dst);
    return status;
}
