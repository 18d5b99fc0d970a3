/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the program once for each rank that is estimated, and groups the ranks whose reports are equal. Of a world of
 * more than ALL_RANKS ranks, only the first of each class runs, by the list that the first report has.
 */
#include "estimate_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALL_RANKS = 16, MAX_CLASSES = 256 };

static void set_variables(const estimate_settings *self, int64_t rank, const char *file, const char *meetings) {
    char text[256];
    int n = snprintf(text, sizeof text, "world=%" PRId64 ",rank=%" PRId64, self->ranks, rank);
    if (self->threads)
        n += snprintf(text + n, sizeof text - (size_t)n, ",threads=%" PRId64, self->threads);
    if (self->cores)
        n += snprintf(text + n, sizeof text - (size_t)n, ",cores=%" PRId64, self->cores);
    if (self->value)
        (void)snprintf(text + n, sizeof text - (size_t)n, ",value=%.64s", self->value);
    setenv("DTENSOR_ESTIMATE", text, 1);
    setenv("DTENSOR_REPORT", file, 1);
    setenv("DTENSOR_MEETINGS", meetings, 1);
    unsetenv("DTENSOR_TRANSPORT");
    if (self->machine)
        setenv("DTENSOR_MACHINE", self->machine, 1);
    if (self->trace)
        setenv("DTENSOR_TRACE", self->trace, 1);
}

/* In the child: what the program prints has no meaning, because its values have none. */
static _Noreturn void start(const estimate_settings *self, int64_t rank, const char *file, const char *meetings) {
    char *words[ARGS_MAX + 1];
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < self->n_words; i++)
        words[i] = (char *)(uintptr_t)self->words[i];
    words[self->n_words] = NULL;
    set_variables(self, rank, file, meetings);
    (void)dup2(none, STDIN_FILENO);
    (void)dup2(none, STDOUT_FILENO);
    if (self->is_quiet)
        (void)dup2(none, STDERR_FILENO);
    execvp(words[0], words);
    fprintf(stderr, "dtensor estimate: %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static dt_status wait_for(dt_ctx *ctx, const estimate_settings *self, pid_t pid, int64_t rank) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return dt__fail_local(ctx, DT_ERR_SYSTEM, "%s: %s", self->words[0], strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return DT_OK;
    if (WIFSIGNALED(status))
        return dt__fail_local(ctx, DT_ERR_PEER, "%s as rank %" PRId64 " of %" PRId64 ": ended by signal %d",
                              self->words[0], rank, self->ranks, WTERMSIG(status));
    return dt__fail_local(ctx, DT_ERR_PEER, "%s as rank %" PRId64 " of %" PRId64 ": expected exit code 0, got %d",
                          self->words[0], rank, self->ranks, WEXITSTATUS(status));
}

static dt_status run_program(dt_ctx *ctx, const estimate_settings *self, int64_t rank, const char *file,
                             const char *meetings) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        start(self, rank, file, meetings);
    if (pid < 0)
        return dt__fail_local(ctx, DT_ERR_SYSTEM, "cannot start %s: %s", self->words[0], strerror(errno));
    return wait_for(ctx, self, pid, rank);
}

json_t *estimate_run(dt_ctx *ctx, const estimate_settings *settings, int64_t rank, replay *meetings) {
    const char *parent = getenv("TMPDIR");
    char folder[512], file[560], written[600], met[560];
    json_error_t error;
    (void)snprintf(folder, sizeof folder, "%.400s/dtensor-estimate.XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return (void)dt__fail_local(ctx, DT_ERR_SYSTEM, "%s: %s", folder, strerror(errno)), NULL;
    (void)snprintf(file, sizeof file, "%s/report.json", folder);
    (void)snprintf(met, sizeof met, "%s/meetings", folder);
    if (settings->ranks == 1)
        (void)snprintf(written, sizeof written, "%s", file);
    else
        (void)snprintf(written, sizeof written, "%s/report.%" PRId64 ".json", folder, rank);
    json_t *report = NULL;
    if (run_program(ctx, settings, rank, file, meetings ? met : "") == DT_OK &&
        !(report = json_load_file(written, 0, &error)))
        (void)dt__fail_local(ctx, DT_ERR_VALUE,
                             "%s: expected a program that uses dtensor and closes its context, got no report",
                             settings->words[0]);
    if (report && meetings && replay_add(meetings, rank, met) != DT_OK) {
        json_decref(report);
        report = NULL;
    }
    (void)unlink(written);
    (void)unlink(met);
    (void)rmdir(folder);
    return report;
}

int64_t estimate_peak(const json_t *report, const char *kind) {
    return json_integer_value(json_object_get(json_object_get(json_object_get(report, "memory"), kind), "peak"));
}

/* Whether two ranks need the same; times and the rank itself do not count. */
static bool is_same(const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "communication"), *y = json_object_get(b, "communication");
    if (!json_equal(json_object_get(a, "memory"), json_object_get(b, "memory")) ||
        json_array_size(x) != json_array_size(y))
        return false;
    static const char *const keys[] = {"scope", "op", "file", "line", "collectives", "bytes"};
    for (size_t i = 0; i < json_array_size(x); i++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const json_t *p = json_object_get(json_array_get(x, i), keys[k]),
                         *q = json_object_get(json_array_get(y, i), keys[k]);
            if ((p || q) && !json_equal(p, q))
                return false;
        }
    return true;
}

/* Adds a run to the class of its equals; the class has the report of its first rank. */
static dt_status add_run(dt__arena *arena, json_t *report, int64_t rank, int64_t n_ranks, estimate_classes *out) {
    estimate_class *class = NULL;
    for (int i = 0; i < out->n && !class; i++)
        class = is_same(out->list[i].report, report) ? &out->list[i] : NULL;
    if (class)
        json_decref(report);
    else {
        class = &out->list[out->n++];
        *class =
            (estimate_class){.report = report, .waited_us = NAN, .first = DT__NEW_ARRAY(arena, int64_t, MAX_CLASSES)};
        if (!class->first)
            return DT_ERR_MEMORY;
    }
    class->first[class->n_first++] = rank;
    class->n_ranks += n_ranks;
    return DT_OK;
}

static dt_status run_and_add(dt__arena *arena, const estimate_settings *settings, int64_t rank, int64_t n_ranks,
                             replay *meetings, estimate_classes *out) {
    json_t *report = estimate_run(arena->ctx, settings, rank, meetings);
    return report ? add_run(arena, report, rank, n_ranks, out) : dt_error_status(arena->ctx);
}

static int by_peak(const void *a, const void *b) {
    int64_t x = estimate_peak(((const estimate_class *)a)->report, "all"),
            y = estimate_peak(((const estimate_class *)b)->report, "all");
    return (x < y) - (x > y);
}

/* Of a large world: the first rank of each class that the report of rank 0 lists. */
static dt_status run_classes(dt__arena *arena, const estimate_settings *settings, replay *meetings, json_t **first,
                             estimate_classes *out) {
    *first = estimate_run(arena->ctx, settings, 0, meetings);
    if (!*first)
        return dt_error_status(arena->ctx);
    const json_t *listed = json_object_get(*first, "classes");
    size_t n = json_array_size(listed);
    dt_status status = DT_OK;
    for (size_t i = 0; i < n && i < MAX_CLASSES && status == DT_OK; i++) {
        int64_t rank = json_integer_value(json_object_get(json_array_get(listed, i), "rank")),
                ranks = json_integer_value(json_object_get(json_array_get(listed, i), "ranks"));
        status = rank == 0 ? add_run(arena, json_incref(*first), 0, ranks, out)
                           : run_and_add(arena, settings, rank, ranks, meetings, out);
    }
    if (status == DT_OK && n == 0)
        status = add_run(arena, json_incref(*first), 0, settings->ranks, out);
    out->n_left = settings->ranks;
    for (int i = 0; i < out->n; i++)
        out->n_left -= out->list[i].n_ranks;
    return status;
}

/* The class of a rank of a large world, by the cuts along each mesh dim; classes are listed with those of the last dim
 * next to each other, and rank 0 is the first that was run. */
static int class_of_rank(const void *user, int64_t rank) {
    const json_t *report = user, *dims = json_object_get(report, "class_dims");
    int64_t offset = rank - json_integer_value(json_object_get(report, "class_first"));
    int index = 0;
    size_t m, i;
    json_t *dim, *cut;
    json_array_foreach(dims, m, dim) {
        int64_t step = json_integer_value(json_object_get(dim, "step")),
                size = json_integer_value(json_object_get(dim, "size"));
        int64_t coordinate = step > 0 ? offset / step % size : 0;
        const json_t *cuts = json_object_get(dim, "cuts");
        index *= (int)json_array_size(cuts) + 1;
        json_array_foreach(cuts, i, cut) index += coordinate >= json_integer_value(cut);
    }
    return index;
}

static int rank_itself(const void *user, int64_t rank) {
    (void)user;
    return (int)rank;
}

/* The longest wait of the ranks of each class; unknown where the ranks cannot be replayed. */
static void set_waits(replay *meetings, const json_t *first, estimate_classes *out) {
    double waited[MAX_CLASSES];
    if (!replay_run(meetings, first ? class_of_rank : rank_itself, first, waited))
        return;
    for (int c = 0; c < out->n; c++)
        for (int i = 0; i < out->list[c].n_first; i++)
            for (int k = 0; k < meetings->n; k++)
                if (replay_rank_at(meetings, k) == out->list[c].first[i])
                    out->list[c].waited_us = fmax(out->list[c].waited_us, waited[k]); /* of NAN and a number, that */
}

dt_status estimate_all(dt__arena *arena, const estimate_settings *settings, int64_t only_rank,
                       estimate_classes *out) {
    dt_status status = DT_OK;
    json_t *first = NULL;
    replay meetings = replay_new(arena, MAX_CLASSES);
    *out = (estimate_classes){.list = DT__NEW_ARRAY(arena, estimate_class, MAX_CLASSES)};
    if (!out->list || !meetings.ranks)
        return DT_ERR_MEMORY;
    out->is_complete = only_rank < 0 && settings->ranks <= ALL_RANKS;
    if (only_rank >= 0)
        status = run_and_add(arena, settings, only_rank, 1, NULL, out);
    else if (!out->is_complete)
        status = run_classes(arena, settings, &meetings, &first, out);
    for (int64_t rank = 0; out->is_complete && rank < settings->ranks && status == DT_OK; rank++)
        status = run_and_add(arena, settings, rank, 1, &meetings, out);
    if (status == DT_OK && only_rank < 0)
        set_waits(&meetings, first, out);
    json_decref(first);
    qsort(out->list, (size_t)out->n, sizeof *out->list, by_peak);
    return status;
}

void estimate_classes_free(estimate_classes *self) {
    for (int i = 0; i < self->n; i++)
        json_decref(self->list[i].report);
}
