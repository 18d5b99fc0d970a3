/* SPDX-License-Identifier: Apache-2.0
 *
 * "mpi.programs FILE": the tests that the file lists, a line "program test" each, in one process. Test programs that
 * run ranks are linked into this one, because a start of mpirun takes longer than most tests; the build makes the
 * table of their main functions. The first test that fails is the last one. What each test took is in a file of this
 * process, "FILE.<pid>": launchers may cut the output of ranks in the middle of a line.
 */
#include "support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MIN_FD = 300 }; /* above those that tests open and count on */

#define PROGRAM(name, function) int function(void);
#include "programs.inc"
#undef PROGRAM

static const struct program {
    const char *name;
    int (*main)(void);
} programs[] = {
#define PROGRAM(name, function) {name, function},
#include "programs.inc"
};

static FILE *report;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run(const char *name, const char *test) {
    const struct program *program = programs;
    const struct program *end = programs + sizeof programs / sizeof *programs;
    while (program < end && strcmp(program->name, name))
        program++;
    if (program == end) {
        fprintf(stderr, "%s: there is no such program\n", name);
        return 2;
    }
    double begin = seconds();
    cmocka_set_test_filter(test);
    int code = program->main();
    fprintf(report, "%s %s: %s %.3f s\n", name, test, code ? "failed after" : "took", seconds() - begin);
    fflush(report);
    return code;
}

static FILE *open_report(const char *list) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%ld", list, (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, MIN_FD);
    if (fd >= 0)
        close(fd);
    return high < 0 ? NULL : fdopen(high, "w");
}

int main(int argc, char **argv) {
    FILE *list = argc > 1 ? fopen(argv[1], "re") : NULL;
    char name[128], test[256];
    report = argc > 1 ? open_report(argv[1]) : NULL;
    int code = list && report ? 0 : 2;
    while (!code && fscanf(list, "%127s %255s", name, test) == 2)
        code = run(name, test);
    if (list)
        fclose(list);
    return code;
}
