/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank needs to know about the CPUs that it may run on, however it was started: how many cores they are, and the
 * NUMA node that they all belong to, where its heap is placed. Read from the kernel's own files, so the binding of a
 * launcher (dtrun, mpirun) is respected without further code.
 */
#include "launch/node_cpus.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define CPU_FOLDER  "/sys/devices/system/cpu"
#define NODE_FOLDER "/sys/devices/system/node"

bool dt__cpus_of_process(dt__cpu_set *out) {
    memset(out, 0, sizeof *out);
    return sched_getaffinity(0, sizeof *out, (cpu_set_t *)(void *)out->words) == 0;
}

bool dt__cpu_set_has(const dt__cpu_set *set, int cpu) {
    return cpu >= 0 && cpu < DT__MAX_CPUS && set->words[cpu / 64] >> cpu % 64 & 1;
}

static FILE *open_file(const char *root, const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "re");
}

/* Reads the next range of a list "0-3,8,10-11"; false at its end. */
static bool next_range(FILE *file, int *first, int *last) {
    if (fscanf(file, "%d", first) != 1)
        return false;
    *last = *first;
    int sign = fgetc(file);
    if (sign == '-' && fscanf(file, "%d", last) == 1)
        sign = fgetc(file);
    return sign == ',' || sign == '\n' || sign == EOF;
}

/* The first CPU of the set that is a hardware thread of this CPU's core. */
static int first_sibling(const char *root, const dt__cpu_set *set, int cpu) {
    char path[128];
    int first, last, found = -1;
    snprintf(path, sizeof path, CPU_FOLDER "/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = open_file(root, path);
    while (file && found < 0 && next_range(file, &first, &last))
        for (int i = first; i <= last && found < 0; i++)
            found = dt__cpu_set_has(set, i) ? i : -1;
    if (file)
        fclose(file);
    return found < 0 ? cpu : found;
}

static bool has_single_threads(const char *root) {
    FILE *file = open_file(root, CPU_FOLDER "/smt/active");
    int active = 1;
    if (file && fscanf(file, "%d", &active) != 1)
        active = 1;
    if (file)
        fclose(file);
    return active == 0;
}

int dt__cores_of(const char *root, const dt__cpu_set *set) {
    bool single = has_single_threads(root);
    int n = 0;
    for (int cpu = 0; cpu < DT__MAX_CPUS; cpu++)
        if (dt__cpu_set_has(set, cpu))
            n += single || first_sibling(root, set, cpu) == cpu;
    return n;
}

/* The number of CPUs of the set that a node has. */
static int count_in_node(const char *root, const dt__cpu_set *set, int node) {
    char path[128];
    int first, last, n = 0;
    snprintf(path, sizeof path, NODE_FOLDER "/node%d/cpulist", node);
    FILE *file = open_file(root, path);
    while (file && next_range(file, &first, &last))
        for (int i = first; i <= last; i++)
            n += dt__cpu_set_has(set, i);
    if (file)
        fclose(file);
    return n;
}

int dt__numa_node_of(const char *root, const dt__cpu_set *set) {
    int first, last, n_nodes = 0, n_used = 0, used = -1;
    FILE *file = open_file(root, NODE_FOLDER "/online");
    while (file && next_range(file, &first, &last))
        for (int node = first; node <= last; node++) {
            n_nodes++;
            if (count_in_node(root, set, node)) {
                n_used++;
                used = node;
            }
        }
    if (file)
        fclose(file);
    return n_nodes > 1 && n_used == 1 ? used : -1;
}
