/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a job: making them on the first rank, and writing pieces on all. One thread makes the system calls:
 * writing is limited by a core's copies to the page cache, and ranks write at the same time.
 */
#include "train/checkpoint_writer.h"

#include "base/size_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_CALL_BYTES = 1 << 30 };

/* "File too large" is more often the limit of the process than that of the file system. */
static bool fail(dt__save_job *self, const char *name, const char *what, int error) {
    struct rlimit limit;
    char reason[96] = "";
    if (error == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        (void)snprintf(reason, sizeof reason, "; the limit of file sizes (ulimit -f) is %llu bytes",
                       (unsigned long long)limit.rlim_cur);
    (void)snprintf(self->failure, sizeof self->failure, "%s %s: %s%s", name, what, strerror(error), reason);
    self->failed = true;
    return false;
}

static bool write_at(int fd, int64_t at, const unsigned char *data, size_t n) {
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < MAX_CALL_BYTES ? n - done : MAX_CALL_BYTES;
        const ssize_t count = pwrite(fd, data + done, some, (off_t)(at + (int64_t)done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            errno = count < 0 ? errno : ENOSPC;
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

static int open_file(const dt__save_job *self, const dt__new_file *file, int flags) {
    char path[PATH_MAX + DT__FILE_NAME_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", self->folder, file->name);
    return open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
}

static bool make_file(dt__save_job *self, const dt__new_file *file) {
    const int fd = open_file(self, file, O_CREAT | O_EXCL);
    if (fd < 0)
        return fail(self, file->name, "cannot be created", errno);
    const bool made = write_at(fd, 0, (const unsigned char *)file->head, file->head_bytes) &&
                      ftruncate(fd, (off_t)file->bytes) == 0;
    const int error = errno;
    (void)close(fd);
    return made || fail(self, file->name, "cannot be written", error);
}

bool dt__save_job_make_files(dt__save_job *self) {
    dt__size_guard guard = dt__size_guard_begin();
    bool made = true;
    for (int f = 0; f < self->n_files && made; f++)
        made = make_file(self, self->files[f]);
    dt__size_guard_end(&guard);
    return made;
}

/* Writes the pieces of a file, from piece `at` on; returns the first one of another file. */
static int64_t write_file(dt__save_job *self, int f, int64_t at) {
    const dt__new_file *file = self->files[f];
    const int fd = open_file(self, file, 0);
    bool written = fd >= 0;
    if (fd < 0)
        (void)fail(self, file->name, "cannot be opened", errno);
    for (; written && at < self->n_pieces && self->pieces[at].file == f; at++) {
        const dt__save_piece *piece = &self->pieces[at];
        written =
            write_at(fd, piece->at, piece->data, piece->bytes) || fail(self, file->name, "cannot be written", errno);
    }
    if (written && self->sync && fsync(fd) != 0)
        (void)fail(self, file->name, "cannot be written", errno);
    if (fd >= 0 && close(fd) != 0 && !self->failed)
        (void)fail(self, file->name, "cannot be written", errno);
    return at;
}

void dt__save_job_run(dt__save_job *self) {
    dt__size_guard guard = dt__size_guard_begin();
    int64_t at = 0;
    for (int f = 0; f < self->n_files && !self->failed; f++)
        if (self->makes_files || (at < self->n_pieces && self->pieces[at].file == f))
            at = write_file(self, f, at);
    dt__size_guard_end(&guard);
}
