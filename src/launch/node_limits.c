/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process may use of its node: cores (the minimum of those in its affinity mask and the CPU quotas of its
 * cgroups) and memory (the minimum of what is available on the node and within the limits of its cgroups). Both
 * versions of cgroups, all levels up to the root.
 */
#include "base/quantity.h"
#include "launch/launch.h"
#include "launch/node_cpus.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int min_int(int a, int b) { return a < b ? a : b; }
static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

/* A group: its folder, and which version's files it has. */
typedef struct cgroup {
    char folder[4400];
    bool version_2;
} cgroup;

/* Calls visit for the process's group of a controller ("cpu", "memory") and for every group above it. */
static void visit_groups(const char *root, const char *controller, void (*visit)(const cgroup *group, void *arg),
                         void *arg) {
    char line[4096];
    cgroup group;
    snprintf(group.folder, sizeof group.folder, "%s/proc/self/cgroup", root);
    FILE *file = fopen(group.folder, "re");
    while (file && fgets(line, sizeof line, file)) { /* "0::/path" is version 2, "4:cpu,cpuacct:/path" version 1 */
        line[strcspn(line, "\n")] = 0;
        char *names = strchr(line, ':');
        char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        group.version_2 = names[1] == 0;
        bool found = group.version_2;
        char *rest = NULL;
        for (char *name = strtok_r(names + 1, ",", &rest); name && !found; name = strtok_r(NULL, ",", &rest))
            found = !strcmp(name, controller);
        for (char *slash = path; found && slash; *slash = 0) {
            snprintf(group.folder, sizeof group.folder, "%s/sys/fs/cgroup%s%s%s", root, group.version_2 ? "" : "/",
                     group.version_2 ? "" : controller, path);
            visit(&group, arg);
            if (!(slash = strrchr(path, '/')))
                break;
        }
    }
    if (file)
        fclose(file);
}

/* Reads up to two numbers from a file of a group; returns how many it has ("max" is none). */
static int read_numbers(const cgroup *group, const char *name, long long numbers[2]) {
    char path[4500];
    snprintf(path, sizeof path, "%s/%s", group->folder, name);
    FILE *file = fopen(path, "re");
    int n = file ? fscanf(file, "%lld %lld", &numbers[0], &numbers[1]) : 0;
    if (file)
        fclose(file);
    return n > 0 ? n : 0;
}

/* The number after a word at the start of a line ("MemAvailable: 123 kB"); 0 if there is no such line. */
static size_t read_field(const char *path, const char *word) {
    char line[256];
    size_t value = 0, length = strlen(word);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, word, length) && sscanf(line + length, "%zu", &value) == 1)
            break;
    if (file)
        fclose(file);
    return value;
}

static int cores_by_affinity(void) {
    dt__cpu_set set;
    if (dt__cpus_of_process(&set))
        return dt__cores_of("", &set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* Version 2 has "max 100000" or "150000 100000" in one file, version 1 the two numbers in two. */
static void take_cores(const cgroup *group, void *arg) {
    int *cores = arg;
    long long quota[2] = {-1, 0}, period[2] = {0, 0};
    int n = read_numbers(group, group->version_2 ? "cpu.max" : "cpu.cfs_quota_us", quota);
    if (n == 1 && !group->version_2 && read_numbers(group, "cpu.cfs_period_us", period) == 1) {
        quota[1] = period[0];
        n = 2;
    }
    if (n == 2 && quota[0] > 0 && quota[1] > 0 && quota[0] / quota[1] < *cores)
        *cores = (int)(quota[0] / quota[1]);
}

int dt__usable_cores(void) {
    int cores = INT_MAX;
    visit_groups("", "cpu", take_cores, &cores);
    cores = min_int(cores_by_affinity(), cores);
    return cores < 1 ? 1 : cores;
}

/* What the limit of a group leaves. File pages that were not used lately can be reclaimed. */
static void take_memory(const cgroup *group, void *arg) {
    size_t *memory = arg;
    char stat[4500];
    long long limit[2], usage[2];
    if (read_numbers(group, group->version_2 ? "memory.max" : "memory.limit_in_bytes", limit) < 1 ||
        read_numbers(group, group->version_2 ? "memory.current" : "memory.usage_in_bytes", usage) < 1)
        return;
    snprintf(stat, sizeof stat, "%s/memory.stat", group->folder);
    size_t idle = read_field(stat, group->version_2 ? "inactive_file " : "total_inactive_file ");
    size_t used = (size_t)usage[0] > idle ? (size_t)usage[0] - idle : 0;
    *memory = min_size(*memory, (size_t)limit[0] > used ? (size_t)limit[0] - used : 0);
}

size_t dt__available_memory(const char *root) {
    char path[4400];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    size_t kib = read_field(path, "MemAvailable:");
    size_t memory = kib ? kib * 1024 : (size_t)8 << 30;
    visit_groups(root, "memory", take_memory, &memory);
    return memory;
}

int64_t dt__oom_kills(const char *root) {
    char path[4400];
    snprintf(path, sizeof path, "%s/proc/vmstat", root);
    return (int64_t)read_field(path, "oom_kill ");
}

void dt__offer_to_oom_killer(void) {
    FILE *file = fopen("/proc/self/oom_score_adj", "r+e");
    int score = 0;
    if (!file)
        return;
    if (fscanf(file, "%d", &score) == 1 && score < DT__OOM_SCORE) {
        rewind(file);
        fprintf(file, "%d", DT__OOM_SCORE);
    }
    fclose(file);
}

enum { MIN_RESERVE = 256 << 20 };

size_t dt__heap_memory(void) {
    size_t memory = dt__available_memory(""), reserve = memory / 8;
    return memory - (reserve > MIN_RESERVE ? reserve : memory / 2 < MIN_RESERVE ? memory / 2 : MIN_RESERVE);
}

size_t dt__heap_bytes_default(int64_t n_ranks) { return dt__heap_share(dt__heap_memory(), n_ranks); }

bool dt__heap_bytes_from_environment(size_t *bytes, char *error, size_t error_bytes) {
    const char *text = getenv("DTENSOR_HEAP");
    *bytes = 0;
    if (!text || !*text || dt__size_parse(text, bytes))
        return true;
    snprintf(error, error_bytes, "DTENSOR_HEAP: expected a size such as 512M or 8G, got \"%.64s\"", text);
    return false;
}
