/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPUs of a process: their cores and their NUMA node. `root` is "", or the folder in which a
 * test has its own /sys.
 */
#ifndef DT_LAUNCH_NODE_CPUS_H
#define DT_LAUNCH_NODE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT__MAX_CPUS = 8192 };

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

#endif
