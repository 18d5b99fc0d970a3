/* SPDX-License-Identifier: Apache-2.0
 *
 * Making, naming and removing folders of checkpoints. A folder gets the name of a part before it is removed, so that no
 * folder with the name of a checkpoint is ever incomplete.
 */
#include "train/checkpoint_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_TRIES = 16 };
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

__attribute__((format(printf, 2, 3))) static bool fail(char failure[DT__FAILURE_BYTES], const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(failure, DT__FAILURE_BYTES, format, args);
    va_end(args);
    return false;
}

static bool fail_errno(char failure[DT__FAILURE_BYTES], const char *path, const char *what) {
    return fail(failure, "%.300s %s: %s", path, what, strerror(errno));
}

/* The step of a name, -1 if it is not that of a checkpoint. */
static int64_t step_of(const char *name) {
    static const char prefix[] = "step-";
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return -1;
    const char *digits = name + strlen(prefix);
    const size_t n = strlen(digits);
    if (n < 6 || n > 18 || strspn(digits, "0123456789") != n || (n > 6 && digits[0] == '0'))
        return -1;
    return strtoll(digits, NULL, 10);
}

static bool skip(const char **at, const char *text) {
    const size_t n = strlen(text);
    const bool begins = strncmp(*at, text, n) == 0;
    *at += begins ? n : 0;
    return begins;
}

/* Whether an entry of a folder is the part of one with that name; NULL: of a checkpoint. */
static bool is_part(const char *entry, const char *name) {
    if (!skip(&entry, ".") || !skip(&entry, name ? name : "step-"))
        return false;
    entry += name ? 0 : strspn(entry, "0123456789");
    return skip(&entry, ".") && strcmp(entry + strspn(entry, "0123456789abcdef"), ".part") == 0;
}

static void step_name(int64_t step, char out[NAME_MAX + 1]) {
    (void)snprintf(out, NAME_MAX + 1, "step-%06" PRId64, step);
}

bool dt__step_path(const char *run, int64_t step, char out[PATH_MAX]) {
    char name[NAME_MAX + 1];
    step_name(step, name);
    return snprintf(out, PATH_MAX, "%s/%s", run, name) < PATH_MAX;
}

static bool part_path(const char *run, const char *name, char out[PATH_MAX]) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)out;
    return snprintf(out, PATH_MAX, "%s/.%s.%016" PRIx64 ".part", run, name, number) < PATH_MAX;
}

static bool sync_folder(const char *path) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool synced = fsync(fd) == 0 || errno == EINVAL; /* where folders cannot be */
    const int error = errno;
    (void)close(fd);
    errno = error;
    return synced;
}

bool dt__folder_remove(const char *path) {
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT;
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)closedir(dir);
    return rmdir(path) == 0;
}

/* Whether the folder has nothing but files. */
static bool has_only_files(const char *path) {
    DIR *dir = opendir(path);
    bool only = dir != NULL;
    struct stat info;
    for (const struct dirent *entry; only && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            only = fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode);
    if (dir)
        (void)closedir(dir);
    return only;
}

/* Removes part folders that no process has locked: those of a name, or of all checkpoints. */
static void remove_abandoned(const char *run, const char *name) {
    DIR *dir = opendir(run);
    char path[PATH_MAX];
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!is_part(entry->d_name, name) ||
            snprintf(path, sizeof path, "%s/%s", run, entry->d_name) >= (int)sizeof path)
            continue;
        const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            (void)dt__folder_remove(path);
        if (fd >= 0)
            (void)close(fd);
    }
    if (dir)
        (void)closedir(dir);
}

/* Makes a folder that may exist. A crash could lose a new one, so the folder around it is written to the disk, if this
 * user may read it. */
static bool make_folder(const char *path) {
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST;
    if (!slash)
        (void)sync_folder(".");
    else if (snprintf(parent, sizeof parent, "%.*s", (int)(slash - path) + 1, path) < (int)sizeof parent)
        (void)sync_folder(parent);
    return true;
}

/* Makes the folder with those around it. */
static bool make_run(const char *run) {
    char path[PATH_MAX];
    size_t n = strlen(run);
    while (n > 1 && run[n - 1] == '/')
        n--;
    if (n >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    (void)snprintf(path, sizeof path, "%.*s", (int)n, run);
    for (char *slash = path + 1; *slash; slash++)
        if (*slash == '/') {
            *slash = 0;
            if (!make_folder(path))
                return false;
            *slash = '/';
        }
    return make_folder(path);
}

/* Makes a part folder and locks it; one that another process took for abandoned before it was locked is made again. */
static bool make_locked(dt__part_folder *self) {
    struct stat named, opened;
    if (!part_path(self->run, self->name, self->path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdir(self->path, 0777) != 0)
        return false;
    self->lock = open(self->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->lock >= 0) {
        (void)flock(self->lock, LOCK_EX | LOCK_NB); /* where there are no locks, nothing is taken for abandoned */
        if (stat(self->path, &named) == 0 && fstat(self->lock, &opened) == 0 && named.st_ino == opened.st_ino)
            return true;
        (void)close(self->lock);
    }
    self->lock = -1;
    errno = EAGAIN;
    return false;
}

static bool make_part(dt__part_folder *self, char failure[DT__FAILURE_BYTES]) {
    for (int i = 0; i < MAX_TRIES; i++) {
        if (make_locked(self))
            return true;
        if (errno != EEXIST && errno != EAGAIN)
            break;
    }
    (void)fail_errno(failure, self->path, "cannot be created");
    self->path[0] = 0;
    return false;
}

bool dt__part_folder_make(dt__part_folder *self, const char *run, int64_t step, char failure[DT__FAILURE_BYTES]) {
    *self = (dt__part_folder){.lock = -1};
    step_name(step, self->name);
    if (!make_run(run))
        return fail(failure, "cannot be created: %s", strerror(errno));
    if (!realpath(run, self->run))
        return fail(failure, "cannot be opened: %s", strerror(errno));
    remove_abandoned(self->run, NULL);
    return make_part(self, failure);
}

bool dt__part_folder_make_at(dt__part_folder *self, const char *path, char failure[DT__FAILURE_BYTES]) {
    char parent[PATH_MAX];
    size_t n = strlen(path), before;
    *self = (dt__part_folder){.lock = -1};
    while (n > 1 && path[n - 1] == '/')
        n--;
    for (before = n; before > 0 && path[before - 1] != '/';)
        before--;
    if (n >= sizeof parent || n - before >= sizeof self->name)
        return fail(failure, "cannot be created: %s", strerror(ENAMETOOLONG));
    (void)snprintf(parent, sizeof parent, "%.*s", (int)before, before ? path : "");
    (void)snprintf(self->name, sizeof self->name, "%.*s", (int)(n - before), path + before);
    if (!realpath(before ? parent : ".", self->run))
        return fail(failure, "cannot be created: %s", strerror(errno));
    remove_abandoned(self->run, self->name);
    return make_part(self, failure);
}

static bool swap_names(const char *a, const char *b) {
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
}

/* Replaces a folder that has the name. If the file system cannot swap names, neither folder has the name for a
 * moment. */
static bool replace(const dt__part_folder *self, const char *target) {
    char old[PATH_MAX];
    if (swap_names(self->path, target))
        return true;
    if ((errno != EINVAL && errno != ENOSYS) || !part_path(self->run, self->name, old) || rename(target, old) != 0)
        return false;
    if (rename(self->path, target) != 0) {
        const int error = errno;
        (void)rename(old, target);
        errno = error;
        return false;
    }
    return rename(old, self->path) == 0;
}

bool dt__part_folder_place(dt__part_folder *self, bool sync, char failure[DT__FAILURE_BYTES]) {
    char target[PATH_MAX];
    struct stat info;
    if (snprintf(target, sizeof target, "%s/%s", self->run, self->name) >= (int)sizeof target) {
        errno = ENAMETOOLONG;
        return fail_errno(failure, self->path, "cannot be renamed");
    }
    if (sync && !sync_folder(self->path))
        return fail_errno(failure, self->path, "cannot be written");
    const bool exists = lstat(target, &info) == 0;
    if (exists && !S_ISDIR(info.st_mode))
        return fail(failure, "%.300s is not a folder", target);
    if (exists ? !replace(self, target) : rename(self->path, target) != 0)
        return fail_errno(failure, self->path, "cannot be renamed");
    if (exists)
        (void)dt__folder_remove(self->path);
    self->path[0] = 0;
    dt__part_folder_abandon(self);
    if (sync && !sync_folder(self->run))
        return fail_errno(failure, self->run, "cannot be written");
    return true;
}

/* Moves one file of the part folder to the run's. */
static bool unpack_file(const dt__part_folder *self, const char *name, char failure[DT__FAILURE_BYTES]) {
    char from[2 * PATH_MAX], to[2 * PATH_MAX];
    (void)snprintf(from, sizeof from, "%s/%s", self->path, name);
    (void)snprintf(to, sizeof to, "%s/%s", self->run, name);
    return rename(from, to) == 0 || fail_errno(failure, to, "cannot be replaced");
}

bool dt__part_folder_unpack(dt__part_folder *self, bool sync, char failure[DT__FAILURE_BYTES]) {
    static const char single[] = "model.safetensors", index[] = "model.safetensors.index.json";
    char stale[2 * PATH_MAX];
    bool has_single = false, ok = true;
    DIR *dir = opendir(self->path);
    if (!dir)
        return fail_errno(failure, self->path, "cannot be read");
    for (const struct dirent *entry; ok && (entry = readdir(dir));)
        if (entry->d_name[0] != '.') {
            has_single = has_single || strcmp(entry->d_name, single) == 0;
            ok = unpack_file(self, entry->d_name, failure);
        }
    (void)closedir(dir);
    (void)snprintf(stale, sizeof stale, "%s/%s", self->run, has_single ? index : single);
    if (ok && unlink(stale) != 0 && errno != ENOENT)
        ok = fail_errno(failure, stale, "cannot be removed");
    if (ok && sync && !sync_folder(self->run))
        ok = fail_errno(failure, self->run, "cannot be written");
    dt__part_folder_abandon(self);
    return ok;
}

void dt__part_folder_abandon(dt__part_folder *self) {
    if (self->path[0])
        (void)dt__folder_remove(self->path);
    self->path[0] = 0;
    if (self->lock >= 0)
        (void)close(self->lock);
    self->lock = -1;
}

/* Calls fn with each step of the run; false if the folder cannot be read. */
static bool each_step(const char *run, void (*fn)(void *user, int64_t step), void *user) {
    DIR *dir = opendir(run);
    if (!dir)
        return false;
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const int64_t step = step_of(entry->d_name);
        struct stat info;
        if (step >= 0 && fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 && S_ISDIR(info.st_mode))
            fn(user, step);
    }
    (void)closedir(dir);
    return true;
}

static void take_newest(void *user, int64_t step) {
    int64_t *newest = user;
    *newest = step > *newest ? step : *newest;
}

bool dt__run_newest(const char *run, int64_t *step, char failure[DT__FAILURE_BYTES]) {
    *step = -1;
    return each_step(run, take_newest, step) || errno == ENOENT ||
           fail(failure, "cannot be opened: %s", strerror(errno));
}

/* The oldest step, other than one, and the number of all. */
struct oldest {
    int64_t step, except, n;
};

static void take_oldest(void *user, int64_t step) {
    struct oldest *self = user;
    self->n++;
    if (step != self->except && (self->step < 0 || step < self->step))
        self->step = step;
}

bool dt__run_keep(const char *run, int64_t keep, int64_t step, char failure[DT__FAILURE_BYTES]) {
    for (;;) {
        char path[PATH_MAX], part[PATH_MAX], name[NAME_MAX + 1];
        struct oldest oldest = {.step = -1, .except = step};
        if (!each_step(run, take_oldest, &oldest))
            return fail(failure, "cannot be opened: %s", strerror(errno));
        if (oldest.n <= keep || oldest.step < 0)
            return true;
        step_name(oldest.step, name);
        if (!dt__step_path(run, oldest.step, path) || !part_path(run, name, part))
            return fail(failure, "cannot be removed: %s", strerror(ENAMETOOLONG));
        if (!has_only_files(path))
            return fail(failure, "%.300s cannot be removed: it contains folders", path);
        if (rename(path, part) != 0 || !dt__folder_remove(part))
            return fail_errno(failure, path, "cannot be removed");
    }
}

bool dt__checkpoint_find(const char *folder, const char *stem, char out[PATH_MAX]) {
    static const char *const endings[] = {"safetensors", "safetensors.index.json"};
    for (int i = 0; i < 2; i++)
        if (snprintf(out, PATH_MAX, "%s/%s.%s", folder, stem, endings[i]) < PATH_MAX && access(out, F_OK) == 0)
            return true;
    return false;
}
