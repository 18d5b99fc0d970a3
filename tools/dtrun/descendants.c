/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and ending descendants. Only children are searched: when they end, their children become ours. A pid found
 * here cannot be reused meanwhile, because a child keeps its pid until we wait for it.
 */
#include "dtrun/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILL_ROUNDS = 500, ROUND_NS = 10000000 };

void descendants_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/* The parent of a process, from "pid (name) state parent …", or 0. */
static pid_t parent_of(const char *pid) {
    char path[64], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    line[n > 0 ? n : 0] = 0;
    char *name_end = strrchr(line, ')');
    return name_end && sscanf(name_end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_one_of(pid_t group, const pid_t *groups, int64_t n_groups) {
    for (int64_t i = 0; i < n_groups; i++) {
        if (groups[i] == group)
            return true;
    }
    return false;
}

void descendants_signal(int signal_number, const pid_t *groups, int64_t n_groups) {
    DIR *proc = opendir("/proc");
    pid_t self = getpid();
    if (!proc)
        return;
    for (struct dirent *entry = readdir(proc); entry; entry = readdir(proc)) {
        if (!isdigit((unsigned char)entry->d_name[0]) || parent_of(entry->d_name) != self)
            continue;
        pid_t child = (pid_t)strtol(entry->d_name, NULL, 10);
        pid_t group = getpgid(child);
        bool is_ours = group > 0 && (group == child || is_one_of(group, groups, n_groups));
        kill(is_ours ? -group : child, signal_number);
    }
    closedir(proc);
}

/* Whether a process has a handler of a signal: the bit in "SigCgt:" of its status. */
static bool handles(const char *pid, int signal_number) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *caught = strstr(text, "\nSigCgt:");
    return caught && strtoull(caught + strlen("\nSigCgt:"), NULL, 16) >> (signal_number - 1) & 1;
}

void descendants_signal_handlers(int signal_number, const pid_t *groups, int64_t n_groups) {
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (struct dirent *entry = readdir(proc); entry; entry = readdir(proc)) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
        if (pid > 0 && is_one_of(getpgid(pid), groups, n_groups) && handles(entry->d_name, signal_number))
            kill(pid, signal_number);
    }
    closedir(proc);
}

void descendants_kill(void) {
    const struct timespec pause = {.tv_nsec = ROUND_NS};
    for (int i = 0; i < KILL_ROUNDS; i++) {
        pid_t ended;
        descendants_signal(SIGKILL, NULL, 0);
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (ended < 0 && errno == ECHILD)
            return;
        nanosleep(&pause, NULL);
    }
}
