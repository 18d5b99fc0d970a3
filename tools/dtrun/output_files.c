/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks write to these files themselves: nothing is read and passed on, so lines are there at once and stay if dtrun is
 * killed.
 */
#include "dtrun/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the folders of a path up to its last slash. */
static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0777); /* if it fails, opening the file does */
        *slash = '/';
    }
}

int output_file_open(const char *dir, int64_t rank, int which, bool appends, char *error, size_t error_bytes) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/rank-%" PRId64 ".%s", dir, rank, which ? "err" : "out");
    int fd = -1;
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
    } else {
        make_folders(path);
        fd = open(path, O_WRONLY | O_CREAT | (appends ? 0 : O_TRUNC) | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                  0666);
    }
    struct stat info;
    if (fd >= 0 && (fstat(fd, &info) || !S_ISREG(info.st_mode))) {
        errno = EEXIST; /* a device or a pipe of that name, which would not hold the text */
        fd = -1;
    }
    if (fd < 0)
        snprintf(error, error_bytes, "%.300s/rank-%" PRId64 ".%s: %s", dir, rank, which ? "err" : "out",
                 strerror(errno));
    return fd;
}
