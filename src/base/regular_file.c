/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening regular files only, for writing also character devices. The file is opened before it is examined, without
 * blocking, so that what was examined is what is read.
 */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *refuse(int fd, const char *why, char *error) {
    snprintf(error, DT__REGULAR_ERROR_BYTES, "%s", why);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static const char *kind_of(mode_t mode) {
    return S_ISDIR(mode)    ? "expected a regular file, got a folder"
           : S_ISFIFO(mode) ? "expected a regular file, got a pipe"
           : S_ISSOCK(mode) ? "expected a regular file, got a socket"
                            : "expected a regular file, got a device";
}

static FILE *open_regular(const char *path, int flags, size_t max_bytes, const char *mode, char *error) {
    struct stat info;
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0 && errno == ENXIO && stat(path, &info) == 0) /* a pipe without a reader, a socket */
        return refuse(fd, kind_of(info.st_mode), error);
    if (fd < 0 || fstat(fd, &info))
        return refuse(fd, strerror(errno), error);
    const bool writes = flags & O_WRONLY; /* a device such as /dev/null accepts any amount of data */
    if (!S_ISREG(info.st_mode) && !(writes && S_ISCHR(info.st_mode)))
        return refuse(fd, kind_of(info.st_mode), error);
    if ((size_t)info.st_size > max_bytes) {
        snprintf(error, DT__REGULAR_ERROR_BYTES, "expected at most %zu bytes, got %lld", max_bytes,
                 (long long)info.st_size);
        close(fd);
        return NULL;
    }
    if (writes && S_ISREG(info.st_mode) && ftruncate(fd, 0))
        return refuse(fd, strerror(errno), error);
    FILE *file = fdopen(fd, mode);
    return file ? file : refuse(fd, strerror(errno), error);
}

FILE *dt__regular_file_read(const char *path, size_t max_bytes, char error[DT__REGULAR_ERROR_BYTES]) {
    return open_regular(path, O_RDONLY, max_bytes, "r", error);
}

FILE *dt__regular_file_write(const char *path, char error[DT__REGULAR_ERROR_BYTES]) {
    return open_regular(path, O_WRONLY | O_CREAT, (size_t)-1, "w", error);
}
