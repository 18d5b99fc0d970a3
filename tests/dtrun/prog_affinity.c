/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the CPUs of this rank's process, and those of every thread of it while the pool of the rank works:
 *     rank 1 of 2: 0x2, 2 threads on 0x2 0x2
 */
#include "comm/comm.h"

#include <dirent.h>
#include <dtensor/dtensor.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void work(void *arg, int64_t piece) { (void)arg, (void)piece; }

static unsigned long mask_of(int thread) {
    cpu_set_t set;
    unsigned long mask = 0;
    if (sched_getaffinity(thread, sizeof set, &set))
        return 0;
    for (size_t i = 0; i < 64; i++)
        mask |= (unsigned long)CPU_ISSET(i, &set) << i;
    return mask;
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    dt__pool_run(dt__pool_of(ctx), 64, work, NULL); /* starts the workers */
    char line[1024];
    int at = snprintf(line, sizeof line, "rank %d of %d: %#lx, %d threads on", (int)dt_rank(ctx), (int)dt_world(ctx),
                      mask_of(0), dt_threads(ctx));
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.' && at < (int)sizeof line - 32)
            at += snprintf(line + at, sizeof line - (size_t)at, " %#lx", mask_of(atoi(entry->d_name)));
    if (tasks)
        closedir(tasks);
    at += snprintf(line + at, sizeof line - (size_t)at, "\n");
    if (write(STDOUT_FILENO, line, (size_t)at) != at) /* at once, so that launchers do not mix lines of ranks */
        return 1;
    return dt_close(ctx);
}
