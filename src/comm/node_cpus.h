/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPUs of a process: their cores, their NUMA node, and memory on that node. `root` is "", or the folder in which a
 * test has its own /sys.
 */
#ifndef DT_COMM_NODE_CPUS_H
#define DT_COMM_NODE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT__MAX_CPUS = 8192, DT__MAX_NODES = 1024 };

typedef struct dt__cpu_set {
    uint64_t words[DT__MAX_CPUS / 64];
} dt__cpu_set;

/* The CPUs that the affinity mask of this thread allows; false if it cannot be read. */
bool dt__cpus_of_process(dt__cpu_set *out);
bool dt__cpu_set_has(const dt__cpu_set *set, int cpu);
/* The number of cores that the set has CPUs of. */
int dt__cores_of(const char *root, const dt__cpu_set *set);
/* The NUMA node of all CPUs of the set; -1 if they are on several, or if the machine has only one. */
int dt__numa_node_of(const char *root, const dt__cpu_set *set);
/* The CPUs of a rank: a hash of which, and the cores that it may use of them. */
typedef struct dt__rank_cpus {
    uint64_t set;
    int64_t n_cores;
} dt__rank_cpus;
/* Ranks of a host that have equal sets of CPUs share the cores of the set. Returns the number of cores that all ranks
 * have together, and how many of them rank `me` of the list has for itself, at least 1. */
int64_t dt__share_cores(const dt__rank_cpus *ranks, int64_t n_ranks, int64_t me, int64_t *own);

/* Pages of this memory that are touched from now on come from the node while it has free ones, from others afterwards.
 * False where the system does not allow it, which changes nothing. */
bool dt__place_memory(void *memory, size_t bytes, int node);

#endif
