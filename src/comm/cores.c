/* SPDX-License-Identifier: Apache-2.0
 *
 * The number of cores that this process may use: the minimum of its affinity mask and its cgroup's CPU quota (versions
 * 1 and 2, all levels up to the root).
 */
#include "comm/comm.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int cores_by_affinity(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* "max 100000" or "150000 100000"; version 1 has the two numbers in two files. No limit: INT_MAX. */
static int cores_of_quota(const char *quota_path, const char *period_path) {
    long quota = -1, period = 0;
    FILE *file = fopen(quota_path, "re");
    if (!file)
        return INT_MAX;
    int n = fscanf(file, "%ld %ld", &quota, &period);
    fclose(file);
    if (n == 1 && period_path && (file = fopen(period_path, "re"))) {
        n += fscanf(file, "%ld", &period);
        fclose(file);
    }
    if (n != 2 || quota <= 0 || period <= 0)
        return INT_MAX;
    long cores = quota / period;
    return cores < 1 ? 1 : cores > INT_MAX ? INT_MAX : (int)cores;
}

static int min_int(int a, int b) { return a < b ? a : b; }

/* The smallest quota of the group at `path` and of every group above it. */
static int min_cores_up_the_tree(const char *mount, char *path, const char *quota, const char *period) {
    int cores = INT_MAX;
    for (;;) {
        char quota_path[4400], period_path[4400];
        snprintf(quota_path, sizeof quota_path, "%s%s/%s", mount, path, quota);
        snprintf(period_path, sizeof period_path, "%s%s/%s", mount, path, period ? period : "");
        cores = min_int(cores, cores_of_quota(quota_path, period ? period_path : NULL));
        char *slash = strrchr(path, '/');
        if (!slash)
            return cores;
        *slash = 0;
    }
}

static int cores_by_cgroup(void) {
    int cores = INT_MAX;
    char line[4096];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return cores;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *names = strchr(line, ':');
        char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        if (names[1] == 0)
            cores = min_int(cores, min_cores_up_the_tree("/sys/fs/cgroup", path, "cpu.max", NULL));
        else if (strstr(names, "cpu") && !strstr(names, "cpuset"))
            cores = min_int(
                cores, min_cores_up_the_tree("/sys/fs/cgroup/cpu", path, "cpu.cfs_quota_us", "cpu.cfs_period_us"));
    }
    fclose(file);
    return cores;
}

int dt__usable_cores(void) {
    int cores = min_int(cores_by_affinity(), cores_by_cgroup());
    return cores < 1 ? 1 : cores;
}
