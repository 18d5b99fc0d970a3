/* SPDX-License-Identifier: Apache-2.0
 *
 * Start to finish of an empty program: dtrun starts ranks that open and close a context, mpirun starts as many
 * processes that do nothing at all, in turn, until the fastest of either has settled (settle.h). Without mpirun the
 * peer is the limit that was set for four ranks. Usage: bench_launch [--quick]
 */
#include "comm/comm.h"
#include "settle.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 40 };
#define LIMIT_RANKS "4"

/* Seconds that a command takes, a list of words; negative if it cannot be run or fails. */
static double run(void *user) {
    char **command = user;
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int64_t start_ns = dt__now_ns();
    int error = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error || waitpid(pid, &status, 0) != pid || status)
        return -1;
    return (double)(dt__now_ns() - start_ns) * 1e-9;
}

static int compare(const char *self, const char *dtrun, const char *n, double budget_s) {
    char *ours[] = {(char *)dtrun, "-n", (char *)n, (char *)self, "--rank", NULL};
    char *theirs[] = {"mpirun",     "-n",      (char *)n, "--oversubscribe", "--allow-run-as-root",
                      (char *)self, "--empty", NULL};
    bool has_mpi = run(theirs) >= 0;
    double best[2];
    if (!bench_settle_pair(budget_s, (bench_repeat *[]){run, run}, (void *[]){ours, has_mpi ? theirs : ours}, best)) {
        fprintf(stderr, "bench_launch: %s cannot be run\n", dtrun);
        return 1;
    }
    double our_ms = best[0] * 1e3, their_ms = best[1] * 1e3;
    if (!has_mpi && strcmp(n, LIMIT_RANKS) != 0)
        return 0;
    if (!has_mpi)
        their_ms = LIMIT_MS;
    printf("%5s ranks  %7.2f ms  %s %.0f ms\n", n, our_ms, has_mpi ? "openmpi" : "limit", their_ms);
    printf("{\"bench\":\"launch\",\"config\":{\"ranks\":%s},\"ours\":%.3f,\"unit\":\"ms\",\"peer\":\"%s\",\"theirs\":"
           "%.3f,"
           "\"ratio\":%.2f}\n",
           n, our_ms, has_mpi ? "openmpi" : "limit", their_ms, their_ms / our_ms);
    return 0;
}

static int measure(bool quick) {
    char self[4096], dtrun[4200];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return 1;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    snprintf(dtrun, sizeof dtrun, "%.*s/../bin/dtrun", (int)(slash - self), self);
    int failed = 0;
    static const char *const counts[] = {"1", "4", "16"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        failed |= compare(self, dtrun, counts[i], quick ? 0.2 : 1);
    return failed;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "--empty") == 0)
        return 0;
    if (strcmp(what, "--rank") == 0) {
        dt_ctx *ctx = dt_init(NULL);
        return ctx ? dt_close(ctx) : 1;
    }
    return measure(strcmp(what, "--quick") == 0);
}
