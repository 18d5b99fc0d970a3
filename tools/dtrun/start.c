/* SPDX-License-Identifier: Apache-2.0
 *
 * From dtrun to the program. Each rank is forked, made the leader of a process group of its own, tied to the life of
 * its parent, connected, bound, and turned into the program. Nothing is waited for in between, so that ranks start
 * side by side. Failures in the new process are reported through a pipe that closes by itself on success.
 */
#include "dtrun/start.h"

#include "dtrun/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    SEGMENT_FD = 200,  /* at least: out of the way of numbers that programs choose */
    SPARE_FILES = 256, /* descriptors for everything but the ranks' pipes */
};

struct report {
    int64_t rank;
    int error;
};

/* Descriptors that all ranks get. */
struct plan {
    int null_fd;
    int shared_fd; /* the segment, to be inherited */
};

static void raise_file_limit(struct start *start) {
    rlim_t needed = (rlim_t)start->options->n_ranks * 2 + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &start->file_limit) || start->file_limit.rlim_cur >= needed)
        return;
    struct rlimit raised = start->file_limit;
    raised.rlim_cur = needed < raised.rlim_max ? needed : raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

static bool make_plan(struct start *start, struct plan *plan) {
    *plan = (struct plan){.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC)};
    plan->shared_fd = fcntl(start->segment_fd, F_DUPFD, SEGMENT_FD);
    if (plan->shared_fd < 0)
        plan->shared_fd = fcntl(start->segment_fd, F_DUPFD, STDERR_FILENO + 1);
    return plan->null_fd >= 0 && plan->shared_fd >= 0;
}

static void end_plan(struct plan *plan) {
    if (plan->null_fd >= 0)
        close(plan->null_fd);
    if (plan->shared_fd >= 0)
        close(plan->shared_fd);
}

static void restore_signals(const struct inheritance *inheritance) {
    /* A shell without job control lets background programs ignore these; the ranks get them from dtrun. */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    sigprocmask(SIG_SETMASK, &inheritance->signal_mask, NULL);
}

/* Everything between fork and the program. Returns only if something fails, with errno. */
static void become_program(const struct start *start, const struct plan *plan, int64_t rank, const int *outputs) {
    const struct options *options = start->options;
    const dt__ticket ticket = dt__segment_ticket(start->segment, plan->shared_fd, rank, options->n_cores);
    if (setpgid(0, 0) || dup2(rank == 0 ? start->inheritance->input : plan->null_fd, STDIN_FILENO) < 0 ||
        dup2(outputs[0], STDOUT_FILENO) < 0 || dup2(outputs[1], STDERR_FILENO) < 0)
        return;
    if (options->shares && !options->topology.is_pretended &&
        !binding_apply(&options->topology, &options->shares[rank]))
        return;
    if (!environment_set_rank(&ticket) || setrlimit(RLIMIT_NOFILE, &start->file_limit))
        return;
    restore_signals(start->inheritance);
    dt__offer_to_oom_killer();
    execvp(options->command[0], options->command);
}

static _Noreturn void run_child(const struct start *start, const struct plan *plan, int64_t rank, const int *outputs,
                                pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before it could be tied to */
        _exit(EXIT_OURS);
    become_program(start, plan, rank, outputs);
    struct report report = {.rank = rank, .error = errno};
    ssize_t n = write(start->report_fds[1], &report, sizeof report);
    _exit(n == sizeof report ? EXIT_NOT_FOUND : EXIT_OURS);
}

/* What the rank writes to: its file, or a pipe whose read end belongs to the output and does not block; -1: neither. */
static int connect_output(struct start *start, int64_t rank, int which) {
    int ends[2];
    if (start->options->output_dir)
        return output_file_open(start->options->output_dir, rank, which, start->options->n_done_restarts > 0,
                                start->file_error, sizeof start->file_error);
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && output_connect(start->output, rank, which, ends[0]))
        return ends[1];
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return -1;
}

static pid_t start_rank(struct start *start, const struct plan *plan, int64_t rank) {
    pid_t parent = getpid(), pid = -1;
    int outputs[2] = {connect_output(start, rank, 0), -1};
    if (outputs[0] >= 0)
        outputs[1] = connect_output(start, rank, 1);
    if (outputs[1] >= 0) {
        dt__segment_print_reports_of(start->segment, rank, outputs[1]);
        pid = fork();
    }
    if (pid == 0)
        run_child(start, plan, rank, outputs, parent);
    int error = errno;
    if (pid > 0)
        setpgid(pid, pid); /* as the child does: the first of the two counts */
    for (int i = 0; i < 2; i++) {
        if (outputs[i] >= 0)
            close(outputs[i]);
    }
    errno = error;
    return pid;
}

/* True, or false with errno and the number of the rank that could not be started. */
static bool start_each(struct start *start, pid_t *pids, int64_t *rank) {
    struct plan plan = {.null_fd = -1, .shared_fd = -1};
    bool ok = environment_set_common(start->options) && make_plan(start, &plan);
    for (*rank = 0; ok && *rank < start->options->n_ranks; ++*rank) {
        pid_t pid = start_rank(start, &plan, *rank);
        ok = pid > 0;
        if (!ok)
            break;
        pids[*rank] = pid;
        dt__segment_set_pid(start->segment, *rank, pid);
    }
    int error = errno;
    end_plan(&plan);
    errno = error;
    return ok;
}

bool start_ranks(struct start *start, pid_t *pids) {
    int64_t rank = 0;
    start->errors = calloc((size_t)start->options->n_ranks, sizeof *start->errors);
    raise_file_limit(start);
    if (start->errors && pipe2(start->report_fds, O_CLOEXEC | O_NONBLOCK) == 0 && start_each(start, pids, &rank))
        return true;
    if (start->file_error[0])
        output_say(start->output, "--output-dir: %s", start->file_error);
    else
        output_say(start->output, "cannot start rank %" PRId64 " of %" PRId64 ": %s%s", rank, start->options->n_ranks,
                   strerror(errno), errno == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
    return false;
}

int start_failure(struct start *start, int64_t rank) {
    struct report report;
    while (read(start->report_fds[0], &report, sizeof report) == sizeof report)
        start->errors[report.rank] = report.error;
    return start->errors[rank];
}

int start_describe_failure(const char *program, int error, char *text, size_t capacity) {
    const char *hint = "";
    bool exists = access(program, F_OK) == 0, named_by_path = strchr(program, '/') != NULL;
    if (error == ENOENT && exists)
        hint = named_by_path ? "; the file exists, but the interpreter or loader that it names does not"
                             : "; a file of this name is in this directory: run it with ./ before the name";
    snprintf(text, capacity, "cannot run %s: %s%s", program, strerror(error), hint);
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

void start_close(struct start *start) {
    for (int i = 0; i < 2; i++) {
        if (start->report_fds[i] > 0)
            close(start->report_fds[i]);
    }
    free(start->errors);
}
