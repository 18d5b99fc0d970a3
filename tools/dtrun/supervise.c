/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a launch. One loop waits for signals (a child that ended is one of them), for the front's death, for
 * output to move, and for the deadline of the present stage.
 *
 * A launch goes through stages, only forwards. A failure leads from RUNNING to WAITING: the other ranks get an error
 * from the library and may end in order. Those that have not ended by then get SIGTERM, and finally SIGKILL. When no
 * descendant is left, the rest of the output is written, and the launch is OVER. The first cause decides the exit code;
 * what happens later is an effect of it. An effect may be seen before its cause: ranks that fail because a peer has
 * failed can be quicker than the peer. So a rank whose calls failed for that reason is only a suspect, until there is
 * no better explanation.
 */
#include "dtrun/supervise.h"

#include "dtrun/descendants.h"
#include "dtrun/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_LEFT_ERROR = 1 }; /* as of dt_close */

#define SECOND_NS INT64_C(1000000000)

enum stage { RUNNING, WAITING, TERMINATING, KILLING, FLUSHING, OVER };

#define FAILURE_PATIENCE_NS   (2 * SECOND_NS)  /* for ranks, after one has failed */
#define LEFTOVER_PATIENCE_NS  (SECOND_NS / 2)  /* for processes that outlive all ranks */
#define TERMINATE_PATIENCE_NS (3 * SECOND_NS)  /* between SIGTERM and SIGKILL */
#define KILL_PATIENCE_NS      (5 * SECOND_NS)  /* for the kernel to end what was killed */
#define FLUSH_PATIENCE_NS     (2 * SECOND_NS)  /* for the reader of our output, after a signal */
#define SIGNAL_EFFECT_NS      (10 * SECOND_NS) /* a rank that fails so soon after a signal fails because of it */

struct failure {
    int64_t rank; /* -1: none */
    int code;
    char text[2560];
    char brief[320]; /* without the activity */
};

struct run {
    const struct options *options;
    struct output output;
    struct start start;
    struct dt__segment *segment;
    dt__reports reports;
    bool has_signal_of_child; /* a rank may have ended or reported something */
    int64_t report_due_ns;    /* FOR_EVER: no report waits */
    pid_t *pids;              /* of the ranks */
    struct rank_end *ends;
    int64_t n_alive;
    int signal_fd, life_fd;
    int64_t now_ns, start_ns;
    enum stage stage;
    int64_t stage_end_ns;
    int64_t stopped_ns;              /* since when the launch is stopped; 0: it is not */
    int code;                        /* to exit with; -1 while nothing has decided it */
    int64_t first;                   /* the rank whose failure decided it, or -1 */
    struct failure suspect, verdict; /* the verdict is on the first; its rank is -1 once it is printed */
    int last_signal, n_end_signals;
    int64_t last_signal_ns;
    struct outcome *outcome;
};

static int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void decide(struct run *run, int code) {
    if (run->code < 0)
        run->code = code;
}

/* Every rank that is alive, with what it has started in its process group. */
static void signal_ranks(const struct run *run, int number) {
    for (int64_t rank = 0; rank < run->options->n_ranks; rank++) {
        pid_t pid = run->pids[rank];
        if (pid > 0 && !run->ends[rank].has_ended && kill(-pid, number))
            kill(pid, number); /* it has left its group */
    }
}

static void signal_all(const struct run *run, int number) {
    descendants_signal(number, run->pids, run->options->n_ranks);
    if (number == SIGTERM) /* a stopped process ends only once it continues */
        descendants_signal(SIGCONT, run->pids, run->options->n_ranks);
}

/* Goes to a later stage; in the same stage, patience may only get shorter. */
static void hasten(struct run *run, enum stage stage, int64_t patience_ns) {
    int64_t end_ns = run->now_ns + patience_ns;
    if (stage < run->stage || (stage == run->stage && end_ns >= run->stage_end_ns))
        return;
    bool is_new = stage > run->stage;
    run->stage = stage;
    run->stage_end_ns = end_ns;
    if (stage >= TERMINATING)
        run->stopped_ns = 0;
    if (is_new && stage == TERMINATING)
        signal_all(run, SIGTERM);
    if (is_new && stage == KILLING)
        signal_all(run, SIGKILL);
}

static void terminate(struct run *run) { hasten(run, TERMINATING, TERMINATE_PATIENCE_NS); }

/* No process is left that could write. A reader of our output may take its time, unless a signal has requested our
 * end. */
static void flush(struct run *run) {
    hasten(run, FLUSHING, run->n_end_signals ? FLUSH_PATIENCE_NS : FOR_EVER - run->now_ns);
}

/* How the first rank failed is printed after its reports, which are the reason. */
static void print_verdict(struct run *run) {
    if (run->verdict.rank < 0 || dt__reports_waiting(&run->reports, run->verdict.rank))
        return;
    output_say(&run->output, "%s", run->verdict.text);
    run->verdict.rank = -1;
}

/* Prints the reports that are due, as far as there is capacity. */
static void print_reports(struct run *run) {
    dt__report report;
    int64_t now_ns = run->stage < FLUSHING ? run->now_ns : INT64_MAX;
    if (!run->has_signal_of_child && now_ns < run->report_due_ns)
        return;
    run->has_signal_of_child = false;
    run->report_due_ns = 0; /* unless all that is due is printed */
    while (output_has_capacity(&run->output) && dt__reports_next(&run->reports, now_ns, &report, &run->report_due_ns))
        output_report(&run->output, &report, run->now_ns);
    print_verdict(run);
}

static bool reports_wait(const struct run *run) {
    for (int64_t rank = 0; rank < run->options->n_ranks; rank++)
        if (dt__reports_waiting(&run->reports, rank))
            return true;
    return false;
}

static void blame(struct run *run, const struct failure *failure) {
    decide(run, failure->code);
    run->first = failure->rank;
    (void)snprintf(run->outcome->reason, sizeof run->outcome->reason, "%s", failure->brief);
    run->verdict = *failure;
    print_verdict(run);
}

/* No better explanation will come. */
static void blame_suspect(struct run *run) {
    if (run->code < 0 && run->suspect.rank >= 0)
        blame(run, &run->suspect);
}

static void lose_patience(struct run *run) {
    if (run->stage == WAITING) {
        blame_suspect(run);
        terminate(run);
    } else if (run->stage == TERMINATING) {
        hasten(run, KILLING, KILL_PATIENCE_NS);
    } else if (run->stage == KILLING) {
        output_say(&run->output, "some processes have been killed but do not end");
        decide(run, EXIT_OURS);
        flush(run);
    } else {
        hasten(run, OVER, 0);
    }
}

/* Why a rank could not even start, if that is how it ended. */
static bool is_start_failure(struct run *run, int64_t rank, int status) {
    char text[1024];
    int error = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND ? start_failure(&run->start, rank) : 0;
    if (!error)
        return false;
    decide(run, start_describe_failure(run->options->command[0], error, text, sizeof text));
    output_say(&run->output, "%s", text);
    terminate(run);
    return true;
}

bool supervise_is_end_signal(int number) {
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* Whether a signal that was passed on caused the failure. */
static bool is_effect_of_signal(struct run *run, int status) {
    int number = run->last_signal;
    bool is_soon = supervise_is_end_signal(number) && run->now_ns - run->last_signal_ns < SIGNAL_EFFECT_NS;
    if (!number || !(is_soon || ending_code(status) == EXIT_BY_SIGNAL + number))
        return false;
    char text[64];
    dt__describe_wait_status(number, text, sizeof text); /* of a process that it ended */
    output_say(&run->output, "ended by %s", text);
    decide(run, EXIT_BY_SIGNAL + number);
    return true;
}

/* Whether a rank failed because of a peer. */
static bool is_effect_of_peer(const struct run *run, int64_t rank, int status) {
    return WIFEXITED(status) && dt__segment_failed_by_peer(run->segment, rank);
}

/* An exit code of 0 counts as a failure if the rank left an error. */
static struct failure describe_failure(const struct run *run, int64_t rank, int status) {
    struct failure failure = {.rank = rank, .code = status ? ending_code(status) : EXIT_LEFT_ERROR};
    char ending[256], activity[2048] = "";
    dt__segment_describe_ending(run->segment, status, ending, sizeof ending);
    if (!status)
        snprintf(ending, sizeof ending, "exit code 0, but without dt_close after an error");
    if (dt__segment_is_open(run->segment, rank))
        dt__segment_describe(run->segment, rank, activity, sizeof activity);
    snprintf(failure.brief, sizeof failure.brief, "rank %" PRId64 " ended with %s", rank, ending);
    snprintf(failure.text, sizeof failure.text, "%s%s%s", failure.brief, activity[0] ? ", " : "", activity);
    return failure;
}

static void on_failure(struct run *run, int64_t rank, int status) {
    if (run->code >= 0 || is_start_failure(run, rank, status))
        return;
    if (!is_effect_of_signal(run, status)) {
        struct failure failure = describe_failure(run, rank, status);
        if (!is_effect_of_peer(run, rank, status))
            blame(run, &failure);
        else if (run->suspect.rank < 0)
            run->suspect = failure;
    }
    hasten(run, WAITING, FAILURE_PATIENCE_NS);
}

static void on_rank_end(struct run *run, int64_t rank, int status) {
    bool has_sent_it = WIFSIGNALED(status) && ((WTERMSIG(status) == SIGTERM && run->stage >= TERMINATING) ||
                                               (WTERMSIG(status) == SIGKILL && run->stage >= KILLING));
    run->ends[rank] = (struct rank_end){.has_ended = true, .by_us = has_sent_it, .status = status};
    run->n_alive--;
    output_catch_up(&run->output, rank, run->now_ns);
    if (dt__segment_left_error(run->segment, rank) || status)
        on_failure(run, rank, status); /* describes the activity of the rank */
    dt__segment_set_ended(run->segment, rank, status);
}

static void reap(struct run *run) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int64_t rank = 0; rank < run->options->n_ranks; rank++) {
            if (run->pids[rank] == pid && !run->ends[rank].has_ended) {
                on_rank_end(run, rank, status);
                break;
            }
        }
    }
    if (run->n_alive == 0)
        blame_suspect(run);
    if (pid < 0 && errno == ECHILD) {
        flush(run);
        return;
    }
    if (run->stage == KILLING) /* a process that has just lost its parent is now our child */
        signal_all(run, SIGKILL);
    if (run->n_alive == 0)
        hasten(run, WAITING, LEFTOVER_PATIENCE_NS);
}

/* The first request to end is left to the ranks; the second ends them, the third kills them at once. */
static void on_end_signal(struct run *run, int number) {
    run->n_end_signals++;
    if (run->n_alive == 0 || run->n_end_signals > 1)
        decide(run, EXIT_BY_SIGNAL + number);
    if (run->stage == FLUSHING)
        hasten(run, OVER, 0);
    else if (run->n_end_signals > 2)
        hasten(run, KILLING, KILL_PATIENCE_NS);
    else if (run->n_alive == 0 || run->n_end_signals > 1)
        terminate(run);
}

/* The time in which the launch is stopped does not count against the patience with its ranks. */
static void on_stop_or_continue(struct run *run, int number) {
    if (number == SIGTSTP && run->stage < TERMINATING && !run->stopped_ns)
        run->stopped_ns = run->now_ns;
    if (number == SIGCONT && run->stopped_ns) {
        run->stage_end_ns += run->now_ns - run->stopped_ns;
        run->stopped_ns = 0;
    }
}

/* Prints what every rank is doing. */
static void print_activity(struct run *run) {
    char text[4096];
    double seconds = (double)(run->now_ns - run->start_ns) * 1e-9;
    output_say(&run->output, "%s, for %.1f s:", run->options->command[0], seconds);
    for (int64_t rank = 0; rank < run->options->n_ranks; rank++) {
        if (!output_has_capacity(&run->output)) {
            output_say(&run->output, "  and %" PRId64 " more ranks", run->options->n_ranks - rank);
            return;
        }
        dt__segment_describe_activity(run->segment, rank, text, sizeof text);
        output_say(&run->output, "  rank %" PRId64 " (process %d): %s", rank, (int)run->pids[rank], text);
    }
}

static void on_signal(struct run *run, int number) {
    if (number == SIGCHLD) {
        run->has_signal_of_child = true;
        reap(run);
        return;
    }
    if (number == SIGUSR1) {
        print_activity(run);
        descendants_signal_handlers(SIGUSR1, run->pids, run->options->n_ranks);
    } else {
        signal_ranks(run, number);
    }
    if (number == SIGCONT || number == SIGTSTP) {
        on_stop_or_continue(run, number);
        return;
    }
    run->last_signal = number;
    run->last_signal_ns = run->now_ns;
    if (supervise_is_end_signal(number))
        on_end_signal(run, number);
}

static void take_signals(struct run *run) {
    struct signalfd_siginfo info;
    while (read(run->signal_fd, &info, sizeof info) == sizeof info)
        on_signal(run, (int)info.ssi_signo);
}

/* No process reads our output any more: end as a filter would. */
static void check_output(struct run *run) {
    int error = output_error(&run->output);
    if (!error || run->code >= 0)
        return;
    if (error != EPIPE)
        output_say(&run->output, "cannot write the ranks' output: %s", strerror(error));
    decide(run, error == EPIPE ? EXIT_BY_SIGNAL + SIGPIPE : EXIT_OURS);
    terminate(run);
}

static int milliseconds_until(int64_t wake_ns, int64_t now_ns) {
    if (wake_ns == FOR_EVER)
        return -1;
    int64_t ms = wake_ns <= now_ns ? 0 : (wake_ns - now_ns) / 1000000 + 1;
    return ms < 60000 ? (int)ms : 60000;
}

static void wait_and_handle(struct run *run) {
    enum { SIGNALS = OUTPUT_POLLS, LIFE, N_POLLS };
    struct pollfd polls[N_POLLS] = {
        [SIGNALS] = {.fd = run->signal_fd, .events = POLLIN}, [LIFE] = {.fd = run->life_fd, .events = POLLIN}};
    int64_t wake_ns = run->stage == RUNNING || run->stopped_ns ? FOR_EVER : run->stage_end_ns;
    if (output_has_capacity(&run->output) && run->report_due_ns < wake_ns)
        wake_ns = run->report_due_ns;
    output_wait_for(&run->output, polls, run->now_ns, &wake_ns);
    int n = poll(polls, N_POLLS, milliseconds_until(wake_ns, run->now_ns));
    run->now_ns = clock_ns();
    if (n > 0 && polls[LIFE].revents) {
        descendants_kill();
        dt__segment_remove_temporaries(run->segment);
        _exit(EXIT_BY_SIGNAL + SIGKILL);
    }
    if (n > 0 && polls[SIGNALS].revents)
        take_signals(run);
    if (n >= 0)
        output_advance(&run->output, polls, run->now_ns);
    print_reports(run);
    check_output(run);
    if (run->stage != RUNNING && !run->stopped_ns && run->now_ns >= run->stage_end_ns)
        lose_patience(run);
}

static void report_how_the_others_ended(struct run *run) {
    char text[4096];
    if (run->first >= 0 && ending_summarize(run->ends, run->options->n_ranks, run->first, text, sizeof text))
        output_say(&run->output, "the others: %s", text);
}

static void run_to_end(struct run *run) {
    reap(run);
    while (run->stage < FLUSHING)
        wait_and_handle(run);
    print_reports(run);
    while (run->stage < OVER && reports_wait(run))
        wait_and_handle(run);
    report_how_the_others_ended(run);
    while (run->stage < OVER && !output_finish(&run->output, run->now_ns))
        wait_and_handle(run);
}

void supervise_list_signals(sigset_t *set) {
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaddset(set, passed_on[i]);
}

/* Makes what the launch needs before ranks can start. False after printing why it cannot. */
static bool open_run(struct run *run, const struct inheritance *inheritance) {
    const struct options *options = run->options;
    char error[512];
    sigset_t signals;
    supervise_list_signals(&signals);
    run->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    run->pids = calloc((size_t)options->n_ranks, sizeof *run->pids);
    run->ends = calloc((size_t)options->n_ranks, sizeof *run->ends);
    if (!output_open(&run->output, options->n_ranks, options->tag_output) || run->signal_fd < 0 || !run->pids ||
        !run->ends) {
        fprintf(stderr, "dtrun: cannot start: %s\n", strerror(errno));
        return false;
    }
    run->start = (struct start){.options = options, .inheritance = inheritance, .output = &run->output};
    run->segment =
        dt__segment_new(options->n_ranks, options->heap_bytes, &run->start.segment_fd, error, sizeof error);
    if (!run->segment)
        fprintf(stderr, "dtrun: %s\n", error);
    else
        dt__segment_set_machine(run->segment, &options->machine);
    run->start.segment = run->segment;
    if (run->segment && !dt__reports_open(&run->reports, run->segment)) {
        fprintf(stderr, "dtrun: cannot start: %s\n", strerror(errno));
        return false;
    }
    return run->segment != NULL;
}

/* Closes what only the ranks use, so that a process that waits for its end is not kept waiting by us. */
static void leave_to_ranks(struct run *run, int input) {
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    close(run->start.segment_fd);
    if (input != STDIN_FILENO)
        close(input);
    if (null_fd >= 0) {
        dup2(null_fd, STDIN_FILENO);
        close(null_fd);
    }
}

static void close_run(struct run *run) {
    if (run->signal_fd >= 0)
        close(run->signal_fd);
    start_close(&run->start);
    output_close(&run->output);
    dt__reports_close(&run->reports);
    dt__segment_unmap(run->segment);
    free(run->pids);
    free(run->ends);
}

int supervise(const struct options *options, const struct inheritance *inheritance, int life_fd,
              struct outcome *outcome) {
    struct run run = {.options = options,
                      .life_fd = life_fd,
                      .outcome = outcome,
                      .code = -1,
                      .first = -1,
                      .suspect.rank = -1,
                      .verdict.rank = -1,
                      .report_due_ns = FOR_EVER,
                      .now_ns = clock_ns()};
    run.start_ns = run.now_ns;
    descendants_adopt();
    if (open_run(&run, inheritance)) {
        bool has_started = start_ranks(&run.start, run.pids);
        leave_to_ranks(&run, inheritance->input);
        for (int64_t rank = 0; rank < options->n_ranks; rank++)
            run.n_alive += run.pids[rank] > 0;
        if (!has_started) {
            decide(&run, EXIT_OURS);
            terminate(&run);
        }
        run_to_end(&run);
        decide(&run, 0);
        outcome->rank = run.first;
        outcome->may_restart = run.first >= 0 && run.n_end_signals == 0;
    }
    close_run(&run);
    return run.code < 0 ? EXIT_OURS : run.code;
}
