/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting the processes of the ranks.
 */
#ifndef DTRUN_START_H
#define DTRUN_START_H

#include "dtrun/environment.h"
#include "dtrun/output.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What dtrun inherited and passes to the ranks as it was. */
struct inheritance {
    sigset_t signal_mask;
    int input; /* standard input of rank 0 */
};

struct start {
    const struct options *options;
    const struct inheritance *inheritance;
    struct output *output; /* the ranks' pipes are connected to it, warnings go to it */
    struct dt__segment *segment;
    int segment_fd;
    struct rlimit file_limit; /* as the ranks get it */
    int report_fds[2];        /* pipe on which a process reports why it could not become the program */
    char file_error[512];     /* why a file for output could not be opened; or "" */
    int *errors;              /* what came through it, by rank: errno */
};

/* Starts every rank and fills in pids, 0 for those that were not started. False after printing why. */
bool start_ranks(struct start *start, pid_t *pids);

/* errno of the attempt of a rank, which has ended, to become the program; 0 if it succeeded. */
int start_failure(struct start *start, int64_t rank);
/* Describes why the program cannot be run; returns the exit code. */
int start_describe_failure(const char *program, int error, char *text, size_t capacity);

void start_close(struct start *start);

#endif
