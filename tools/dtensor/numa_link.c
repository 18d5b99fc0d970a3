/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the link between two NUMA nodes as collectives load it: one thread per CPU of a node, each of which copies
 * memory of the other node to its own, all at the same time.
 */
#include "numa_link.h"

#include "comm/comm.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 2 << 20 };

struct measurement {
    const numa_link *link;
    char *src;
    pthread_barrier_t barrier;
    _Atomic int gate; /* 0: wait until all threads exist; 1: go; -1: one could not be started */
    _Atomic bool failed;
};

struct reader {
    struct measurement *measurement;
    int index;
    double *begin_us, *end_us; /* per round */
};

static bool run_on(int cpu) {
    cpu_set_t *set = CPU_ALLOC(DT__MAX_CPUS);
    size_t bytes = CPU_ALLOC_SIZE(DT__MAX_CPUS);
    if (!set)
        return false;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)cpu, bytes, set);
    bool ok = sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return ok;
}

/* On a CPU of the other node, whose memory this becomes. */
static void *touch(void *arg) {
    struct measurement *self = arg;
    if (!run_on(self->link->far_cpu))
        self->failed = true;
    memset(self->src, 1, self->link->bytes * (size_t)self->link->n_readers);
    return NULL;
}

static void *copy_rounds(void *arg) {
    const struct reader *reader = arg;
    struct measurement *self = reader->measurement;
    while (self->gate == 0)
        sched_yield();
    if (self->gate < 0)
        return NULL;
    size_t bytes = self->link->bytes;
    const dt__kernels *kernels = dt__kernels_best();
    char *dst = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!run_on(self->link->readers[reader->index]) || !dst)
        self->failed = true;
    if (dst)
        memset(dst, 0, bytes);
    for (int i = 0; i < self->link->n_rounds; i++) {
        pthread_barrier_wait(&self->barrier);
        reader->begin_us[i] = dt__now_us();
        if (dst)
            kernels->copy(dst, self->src + (size_t)reader->index * bytes, bytes, DT__STREAM);
        reader->end_us[i] = dt__now_us();
    }
    free(dst);
    return NULL;
}

/* From the first that began to the last that ended. */
static double best_rate(const struct reader *readers, const numa_link *link) {
    double best = 0;
    for (int i = 0; i < link->n_rounds; i++) {
        double begin = readers[0].begin_us[i], end = readers[0].end_us[i];
        for (int k = 1; k < link->n_readers; k++) {
            begin = readers[k].begin_us[i] < begin ? readers[k].begin_us[i] : begin;
            end = readers[k].end_us[i] > end ? readers[k].end_us[i] : end;
        }
        double rate = (double)link->bytes * link->n_readers / (end > begin ? end - begin : 1);
        best = rate > best ? rate : best;
    }
    return best;
}

static double run_readers(struct measurement *self, struct reader *readers, double *times, pthread_t *threads) {
    const numa_link *link = self->link;
    int n = 0;
    pthread_barrier_init(&self->barrier, NULL, (unsigned)link->n_readers);
    for (; n < link->n_readers; n++) {
        double *own = times + (size_t)n * 2 * (size_t)link->n_rounds;
        readers[n] = (struct reader){self, n, own, own + link->n_rounds};
        if (pthread_create(&threads[n], NULL, copy_rounds, &readers[n]))
            break;
    }
    self->gate = n == link->n_readers ? 1 : -1;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&self->barrier);
    return n < link->n_readers || self->failed ? 0 : best_rate(readers, link);
}

static bool place_source(struct measurement *self) {
    pthread_t toucher;
    dt__place_memory(self->src, self->link->bytes * (size_t)self->link->n_readers, self->link->far_node);
    return pthread_create(&toucher, NULL, touch, self) == 0 && pthread_join(toucher, NULL) == 0;
}

double numa_link_rate(const numa_link *link) {
    size_t n = (size_t)link->n_readers, bytes = link->bytes * n;
    struct measurement self = {.link = link};
    struct reader *readers = calloc(n, sizeof *readers);
    pthread_t *threads = calloc(n, sizeof *threads);
    double *times = calloc(n * 2 * (size_t)link->n_rounds, sizeof *times), rate = 0;
    self.src = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (readers && threads && times && self.src != MAP_FAILED && place_source(&self))
        rate = run_readers(&self, readers, times, threads);
    if (self.src != MAP_FAILED)
        munmap(self.src, bytes);
    free(times);
    free(threads);
    free(readers);
    return rate;
}

static int node_of(int cpu) {
    dt__cpu_set set = {{0}};
    set.words[cpu / 64] = UINT64_C(1) << cpu % 64;
    return dt__numa_node_of("", &set);
}

double numa_link_measure(bool quick) {
    static int readers[DT__MAX_CPUS];
    numa_link link = {
        .readers = readers, .far_node = -1, .bytes = (size_t)(quick ? 4 : 16) << 20, .n_rounds = quick ? 3 : 10};
    dt__cpu_set own;
    int near = -1;
    if (!dt__cpus_of_process(&own))
        return 0;
    for (int cpu = 0; cpu < DT__MAX_CPUS; cpu++) {
        int node = dt__cpu_set_has(&own, cpu) ? node_of(cpu) : -1;
        near = near < 0 ? node : near;
        if (node >= 0 && node == near) {
            readers[link.n_readers++] = cpu;
        } else if (node >= 0 && link.far_node < 0) {
            link.far_node = node;
            link.far_cpu = cpu;
        }
    }
    return link.far_node >= 0 ? numa_link_rate(&link) : 0;
}
