/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks forked from inside a program. The caller supervises them: it publishes the death of a rank to the others, and
 * after a failure lets them exit within a grace period and kills those that do not, and it prints their reports.
 * Meanwhile the program's handling
 * of SIGCHLD is suspended: a program that ignores it, or waits for any child, would hide the end of a rank.
 */
#include "launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 5000, KILL_AGAIN_MS = 100, POLL_MS = 10 };

struct child {
    pid_t pid; /* 0 after it was reaped */
    int fd;    /* pidfd, or -1 if the system lacks them: then the child is polled */
};

struct launch {
    struct dt__segment *segment;
    int fd;
    int64_t n;
    struct child *children;
    struct pollfd *polls; /* one per child, and one for signal_fd */
    int64_t n_alive;
    const dt_site *site;
    int signal_fd; /* SIGCHLD: a rank has ended or reported something; or -1 */
    dt__reports reports;
    int64_t report_due_ns;
    char *error;  /* of the first failure */
    bool by_peer; /* error is of a rank that failed because of another one */
    bool killed;  /* ranks that are left are killed: their ends are no failures */
    struct sigaction on_child;
    sigset_t signal_mask; /* this and on_child: the program's settings, to be restored */
};

static int n_threads(void) {
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return 1;
    for (const struct dirent *entry; (entry = readdir(tasks));)
        n += entry->d_name[0] != '.';
    closedir(tasks);
    return n;
}

static char *format_text(const char *format, ...) DT_PRINTF(1);
static char *format_text(const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    return text;
}

static void suspend_signals(struct launch *launch) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &launch->signal_mask);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &launch->on_child);
    launch->signal_fd = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void restore_signals(const struct launch *launch) {
    if (launch->signal_fd >= 0)
        close(launch->signal_fd);
    sigaction(SIGCHLD, &launch->on_child, NULL);
    sigprocmask(SIG_SETMASK, &launch->signal_mask, NULL);
}

static _Noreturn void run_rank(const struct launch *launch, int64_t rank, pid_t parent, dt_rank_fn *fn, void *arg) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    restore_signals(launch);
    dt__offer_to_oom_killer();
    dt__ticket ticket = dt__segment_ticket(launch->segment, launch->fd, rank, dt__usable_cores());
    dt__segment_unmap(launch->segment);
    dt_ctx *ctx = dt__init_with_ticket(&(dt_init_options){0}, &ticket, launch->site);
    int code = ctx ? fn(ctx, arg) : 1;
    int closed = ctx ? dt_close(ctx) : 1;
    fflush(NULL);
    _exit(code ? code : closed);
}

static bool fork_all(struct launch *launch, dt_rank_fn *fn, void *arg) {
    pid_t parent = getpid();
    fflush(NULL);
    for (int64_t rank = 0; rank < launch->n; rank++) {
        if (launch->signal_fd >= 0)
            dt__segment_print_reports_of(launch->segment, rank, STDERR_FILENO);
        pid_t pid = fork();
        if (pid == 0)
            run_rank(launch, rank, parent, fn, arg);
        if (pid < 0) {
            launch->error = format_text("cannot start rank %" PRId64 ": %s", rank, strerror(errno));
            return false;
        }
        launch->children[rank] = (struct child){pid, (int)syscall(SYS_pidfd_open, pid, 0)};
        launch->n_alive++;
        dt__segment_set_pid(launch->segment, rank, pid);
    }
    return true;
}

/* Ranks that a dead one failed may be reaped before it, so the first rank that failed on its own replaces them. */
static void note_failure(struct launch *launch, int64_t rank, int status) {
    const bool by_peer = WIFEXITED(status) && dt__segment_failed_by_peer(launch->segment, rank);
    if (launch->killed || (launch->error && (by_peer || !launch->by_peer)))
        return;
    char activity[1400], ending[256];
    dt__segment_describe(launch->segment, rank, activity, sizeof activity);
    dt__segment_describe_ending(launch->segment, status, ending, sizeof ending);
    free(launch->error);
    launch->error = format_text("rank %" PRId64 " ended with %s; %s", rank, ending, activity);
    launch->by_peer = by_peer;
}

/* Records the end of a rank, if it has ended. */
static void reap(struct launch *launch, int64_t rank) {
    struct child *child = &launch->children[rank];
    int status;
    pid_t ended = waitpid(child->pid, &status, WNOHANG);
    if (ended == 0)
        return;
    if (ended < 0)
        status = 255 << 8; /* a signal handler of the program has waited for it: its status is lost */
    if (dt__segment_left_error(launch->segment, rank) || status)
        note_failure(launch, rank, status);
    if (child->fd >= 0)
        close(child->fd);
    *child = (struct child){0, -1};
    launch->n_alive--;
    dt__segment_set_ended(launch->segment, rank, status);
}

/* Prints the reports that are due: "on ranks 0-3: shape: …". */
static void print_reports(struct launch *launch, int64_t now_ns) {
    dt__report report;
    while (dt__reports_next(&launch->reports, now_ns, &report, &launch->report_due_ns))
        fprintf(stderr, "%s\n", report.text);
}

static void take_signals(const struct launch *launch) {
    struct signalfd_siginfo info;
    while (launch->signal_fd >= 0 && read(launch->signal_fd, &info, sizeof info) == sizeof info)
        continue;
}

static void wait_for_change(struct launch *launch, int timeout_ms) {
    bool without_fd = false;
    for (int64_t i = 0; i < launch->n; i++) {
        const struct child *child = &launch->children[i];
        launch->polls[i] = (struct pollfd){.fd = child->pid ? child->fd : -1, .events = POLLIN};
        without_fd = without_fd || (child->pid && child->fd < 0);
    }
    launch->polls[launch->n] = (struct pollfd){.fd = launch->signal_fd, .events = POLLIN};
    if (without_fd || poll(launch->polls, (nfds_t)launch->n + 1, timeout_ms) < 0)
        poll(NULL, 0, POLL_MS);
    take_signals(launch);
    for (int64_t i = 0; i < launch->n; i++)
        if (launch->children[i].pid)
            reap(launch, i);
}

static void kill_all(struct launch *launch) {
    launch->killed = true;
    for (int64_t i = 0; i < launch->n; i++)
        if (launch->children[i].pid)
            kill(launch->children[i].pid, SIGKILL);
}

/* For poll: until the earlier of both; at least 1, so that a child that does not die is not waited for in a loop. */
static int milliseconds_until(int64_t a_ns, int64_t b_ns) {
    int64_t at_ns = a_ns < b_ns ? a_ns : b_ns;
    int64_t left_ms = at_ns == INT64_MAX ? -1 : (at_ns - dt__now_ns()) / 1000000 + 1;
    return (int)(at_ns == INT64_MAX || left_ms > 0 ? left_ms : 1);
}

static void supervise(struct launch *launch) {
    int64_t kill_at = INT64_MAX;
    while (launch->n_alive) {
        if (launch->error && kill_at == INT64_MAX)
            kill_at = dt__now_ns() + GRACE_MS * INT64_C(1000000);
        if (dt__now_ns() >= kill_at) {
            kill_all(launch);
            kill_at = dt__now_ns() + KILL_AGAIN_MS * INT64_C(1000000);
        }
        wait_for_change(launch, milliseconds_until(kill_at, launch->report_due_ns));
        print_reports(launch, dt__now_ns());
    }
    print_reports(launch, INT64_MAX);
}

dt_status dt_spawn_site(int64_t n_ranks, dt_rank_fn *fn, void *arg, char **error, const dt_site *site) {
    struct launch launch = {.n = n_ranks, .site = site, .report_due_ns = INT64_MAX};
    char reason[DT__MACHINE_ERROR_BYTES] = "";
    if (error)
        *error = NULL;
    if (n_threads() > 1) {
        launch.error =
            format_text("expected a process without other threads, got %d threads; spawn ranks first", n_threads());
        goto report;
    }
    size_t heap_bytes;
    dt__machine machine;
    if (dt__heap_bytes_from_environment(&heap_bytes, reason, sizeof reason) &&
        dt__machine_from_environment(&machine, reason, sizeof reason))
        launch.segment = dt__segment_new(n_ranks, heap_bytes, &launch.fd, reason, sizeof reason);
    if (!launch.segment) {
        launch.error = format_text("%s", reason);
        goto report;
    }
    dt__segment_set_machine(launch.segment, &machine);
    launch.children = calloc((size_t)n_ranks, sizeof *launch.children);
    launch.polls = calloc((size_t)n_ranks + 1, sizeof *launch.polls);
    bool has_memory = dt__reports_open(&launch.reports, launch.segment) && launch.children && launch.polls;
    suspend_signals(&launch);
    if (!has_memory)
        launch.error = format_text("out of memory");
    else if (!fork_all(&launch, fn, arg))
        kill_all(&launch);
    if (has_memory)
        supervise(&launch);
    restore_signals(&launch);
    free(launch.children);
    free(launch.polls);
    dt__reports_close(&launch.reports);
    close(launch.fd);
    dt__segment_unmap(launch.segment);

report:
    if (!launch.error)
        return DT_OK;
    if (error) {
        char where[DT__SITE_TEXT_BYTES];
        dt__site_text(site, where, sizeof where);
        *error = format_text("spawn: %s%s", launch.error, where);
    }
    free(launch.error);
    return DT_ERR_PEER;
}
