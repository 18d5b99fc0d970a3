/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating, sharing and placing a file. A new name is linked directly to the file; an existing one is replaced by
 * linking a temporary name and renaming it, because a link cannot replace a file. Only between these two steps can a
 * complete temporary file remain if every process is killed. Mode and owner of a replaced file are kept.
 */
#include "move/atomic_file.h"

#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 };
enum handle { PID, FD, DEVICE, INODE, NAMED };

static dt_status fail_with(const dt__atomic_file *f, const char *failure, int error) {
    return dt__file_fail(&f->file, DT_ERR_SYSTEM, "%s: %s", failure, strerror(error));
}

/* The path with its folder resolved: "/FOLDER/NAME". */
static bool resolve_folder(const char *path, char out[PATH_MAX]) {
    char folder[PATH_MAX], absolute[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(folder, path, n);
    folder[n] = 0;
    if (!realpath(n ? folder : slash ? "/" : ".", absolute))
        return false;
    const char *between = strcmp(absolute, "/") ? "/" : "";
    if ((size_t)snprintf(out, PATH_MAX, "%s%s%s", absolute, between, name) >= PATH_MAX)
        errno = ENAMETOOLONG;
    else if (*name)
        return true;
    else
        errno = EISDIR;
    return false;
}

/* In a sticky folder that everyone may write to (/tmp), another user may plant a link. As in the kernel, only links of
 * this user or of the folder's owner are followed. */
static bool may_follow(const char *link, const struct stat *info) {
    char folder[PATH_MAX];
    struct stat parent;
    (void)snprintf(folder, sizeof folder, "%s", link);
    char *slash = strrchr(folder, '/');
    slash[slash == folder] = 0;
    if (stat(folder, &parent) != 0)
        return false;
    bool shared = (parent.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    return !shared || info->st_uid == geteuid() || info->st_uid == parent.st_uid;
}

/* Replaces the path of a link by what it points to. */
static bool follow(char path[PATH_MAX]) {
    char link[PATH_MAX], joined[PATH_MAX];
    ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0)
        return false;
    link[n] = 0;
    if (link[0] == '/') {
        memcpy(path, link, (size_t)n + 1);
        return true;
    }
    int folder = (int)(strrchr(path, '/') - path);
    if ((size_t)snprintf(joined, sizeof joined, "%.*s/%s", folder, path, link) >= sizeof joined) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path, joined, sizeof joined);
    return true;
}

/* Finds the target: the path without links at its end, which need not exist. */
static dt_status resolve(dt__atomic_file *f, struct stat *info) {
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s", f->file.call->path) >= sizeof path)
        return fail_with(f, "cannot be created", ENAMETOOLONG);
    for (int i = 0; i < MAX_LINKS; i++) {
        if (!resolve_folder(path, f->target))
            return fail_with(f, "cannot be created", errno);
        if (lstat(f->target, info) != 0)
            return errno == ENOENT ? DT_OK : fail_with(f, "cannot be created", errno);
        if (!S_ISLNK(info->st_mode)) {
            f->replaces = true;
            return DT_OK;
        }
        if (!may_follow(f->target, info))
            return dt__file_fail(&f->file, DT_ERR_SYSTEM,
                                 "%s is a link of another user in a folder that all may write", f->target);
        memcpy(path, f->target, sizeof path);
        if (!follow(path))
            return fail_with(f, "cannot be created", errno);
    }
    return fail_with(f, "cannot be created", ELOOP);
}

static dt_status check_target(dt__atomic_file *f, const struct stat *info) {
    if (!f->replaces)
        return DT_OK;
    if (!S_ISREG(info->st_mode))
        return dt__file_fail(&f->file, DT_ERR_VALUE, "expected a regular file or a new name, got a %s",
                             dt__file_kind(info->st_mode));
    if (faccessat(AT_FDCWD, f->target, W_OK, AT_EACCESS) != 0)
        return fail_with(f, "cannot be replaced", errno);
    return DT_OK;
}

static int open_unnamed(const dt__atomic_file *f) {
    char folder[PATH_MAX], link[64];
    memcpy(folder, f->target, sizeof folder);
    char *slash = strrchr(folder, '/');
    slash[slash == folder] = 0;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) == 0)
        return fd;
    close(fd); /* without /proc it can be neither shared nor linked */
    errno = EOPNOTSUPP;
    return -1;
}

/* A name in the target's folder that no other process will choose. */
static dt_status choose_temporary(dt__atomic_file *f) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid() << 32 ^ (uint64_t)dt__now_ns();
    int folder = (int)(strrchr(f->target, '/') - f->target);
    if (snprintf(f->temporary, sizeof f->temporary, "%.*s/.%.64s.%016" PRIx64 DT__TEMPORARY_ENDING, folder, f->target,
                 f->target + folder + 1, number) >= (int)sizeof f->temporary ||
        dt__temporary_register(f->file.ctx, f->temporary) != DT_OK) {
        f->temporary[0] = 0;
        return fail_with(f, "cannot be created", ENAMETOOLONG);
    }
    return DT_OK;
}

static void forget_temporary(dt__atomic_file *f) {
    f->temporary[0] = 0;
    (void)dt__temporary_register(f->file.ctx, NULL);
}

static dt_status create_named(dt__atomic_file *f) {
    DT__TRY(choose_temporary(f));
    if (f->file.call->spans_nodes && strlen(f->temporary) >= DT__FILE_PATH_BYTES) {
        forget_temporary(f);
        return fail_with(f, "cannot be created", ENAMETOOLONG);
    }
    f->file.fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->file.fd >= 0)
        return DT_OK;
    int error = errno;
    forget_temporary(f);
    return fail_with(f, "cannot be created", error);
}

/* The new file gets the mode and the owner of the one that it replaces. */
static dt_status copy_attributes(const dt__atomic_file *f, const struct stat *old) {
    struct stat own;
    if (fstat(f->file.fd, &own) != 0)
        return fail_with(f, "cannot be created", errno);
    bool same_owner = own.st_uid == old->st_uid && own.st_gid == old->st_gid;
    if (!same_owner && fchown(f->file.fd, old->st_uid, old->st_gid) != 0)
        return dt__file_fail(&f->file, DT_ERR_SYSTEM, "the owner (%lu:%lu) cannot be kept: %s",
                             (unsigned long)old->st_uid, (unsigned long)old->st_gid, strerror(errno));
    if (fchmod(f->file.fd, old->st_mode & 07777) != 0)
        return dt__file_fail(&f->file, DT_ERR_SYSTEM, "the mode (%o) cannot be kept: %s",
                             (unsigned)(old->st_mode & 07777), strerror(errno));
    return DT_OK;
}

dt_status dt__atomic_file_create(dt__atomic_file *f, bool named) {
    struct stat info;
    DT__TRY(resolve(f, &info));
    DT__TRY(check_target(f, &info));
    named = named || f->file.call->spans_nodes; /* ranks of another node open it by its name */
    if (!named) {
        f->file.fd = open_unnamed(f);
        named = f->file.fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
        if (f->file.fd < 0 && !named)
            return fail_with(f, "cannot be created", errno);
    }
    if (named)
        DT__TRY(create_named(f));
    return f->replaces ? copy_attributes(f, &info) : DT_OK;
}

void dt__atomic_file_publish(const dt__atomic_file *f, dt__file_record *record) {
    int64_t *handle = record->handle;
    struct stat info = {0};
    (void)fstat(f->file.fd, &info);
    (void)snprintf(record->temporary, sizeof record->temporary, "%.*s", (int)sizeof record->temporary - 1,
                   f->temporary);
    handle[PID] = getpid();
    handle[FD] = f->file.fd;
    handle[DEVICE] = (int64_t)info.st_dev;
    handle[INODE] = (int64_t)info.st_ino;
    handle[NAMED] = f->temporary[0] != 0;
}

/* The number of a device is that of a node. */
static bool is_the_file(const dt__atomic_file *f, const int64_t handle[5]) {
    struct stat info;
    return fstat(f->file.fd, &info) == 0 && (int64_t)info.st_ino == handle[INODE] &&
           (f->file.call->spans_nodes || (int64_t)info.st_dev == handle[DEVICE]);
}

dt_status dt__atomic_file_open(dt__atomic_file *f) {
    const dt__file_call *call = f->file.call;
    const int64_t *handle = call->handle;
    char path[PATH_MAX] = "";
    if (call->spans_nodes)
        (void)snprintf(path, sizeof path, "%s", call->temporary);
    else if (!handle[NAMED])
        (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId64, handle[PID], handle[FD]);
    else
        (void)dt__temporary_of(f->file.ctx, f->file.call->first_rank, sizeof path, path);
    f->file.fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (f->file.fd >= 0 && is_the_file(f, handle))
        return DT_OK;
    int error = f->file.fd >= 0 ? ESTALE : errno;
    if (!handle[NAMED])
        return DT_IN_PROGRESS;
    if (!call->spans_nodes &&
        dt__peer_is_dead(f->file.ctx, call->first_rank)) /* and its supervisor has removed the file */
        return dt__file_fail(&f->file, DT_ERR_PEER, "rank %" PRId64 " is dead, which had created the file",
                             call->first_rank);
    return fail_with(f, "is not visible on this rank", error);
}

dt_status dt__atomic_file_flush(const dt__atomic_file *f) {
    int copy = fcntl(f->file.fd, F_DUPFD_CLOEXEC, 0); /* closing any copy reports */
    return copy >= 0 && close(copy) != 0 ? fail_with(f, "cannot be written", errno) : DT_OK;
}

static bool link_to(const dt__atomic_file *f, const char *name) {
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", f->file.fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Links a file without a name to a temporary one; done: to its own. */
static dt_status link_file(dt__atomic_file *f, bool *done) {
    struct stat info;
    *done = !f->replaces && link_to(f, f->target);
    if (*done)
        return DT_OK;
    if (!f->replaces && errno != EEXIST)
        return fail_with(f, "cannot be created", errno);
    if (lstat(f->target, &info) == 0 && !S_ISREG(info.st_mode)) /* something else has appeared there meanwhile */
        return dt__file_fail(&f->file, DT_ERR_VALUE, "expected a regular file or a new name, got a %s",
                             S_ISLNK(info.st_mode) ? "link" : dt__file_kind(info.st_mode));
    DT__TRY(choose_temporary(f));
    if (link_to(f, f->temporary))
        return DT_OK;
    int error = errno;
    forget_temporary(f);
    return fail_with(f, "cannot be created", error);
}

dt_status dt__atomic_file_place(dt__atomic_file *f) {
    bool done = false;
    if (!f->temporary[0])
        DT__TRY(link_file(f, &done));
    if (done)
        return DT_OK;
    if (rename(f->temporary, f->target) != 0)
        return fail_with(f, "cannot be renamed", errno);
    forget_temporary(f);
    return DT_OK;
}

void dt__atomic_file_close(dt__atomic_file *f) {
    if (f->file.fd >= 0)
        (void)close(f->file.fd);
    f->file.fd = -1;
    if (f->temporary[0]) {
        (void)unlink(f->temporary);
        forget_temporary(f);
    }
    if (!f->file.call->is_first && !f->file.call->spans_nodes)
        dt__temporary_remove(f->file.ctx, f->file.call->first_rank);
}
