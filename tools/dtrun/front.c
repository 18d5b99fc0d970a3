/* SPDX-License-Identifier: Apache-2.0
 *
 * The front passes signals and the keyboard to the supervisor and takes its exit code. The supervisor is a process
 * group of its own, so that what is sent to the front's group (by a terminal, or kill -9) does not reach it directly.
 * If the supervisor dies before its time, its descendants become the front's, which kills them; if the front dies,
 * the supervisor sees the end of a pipe. A launch that is started again (restarts.c) has a new supervisor.
 */
#include "dtrun/front.h"

#include "dtrun/descendants.h"
#include "dtrun/keyboard.h"
#include "dtrun/restarts.h"
#include "dtrun/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNREAD_MS = 1000 };

struct front {
    pid_t supervisor; /* -1 between launches */
    int signal_fd;
    int last_end_signal; /* that was passed on, or 0 */
    int64_t last_end_ms; /* when */
    struct keyboard keyboard;
    int life[2];             /* a pipe: its write end closes with this process */
    struct outcome *outcome; /* of the launch, in memory that is shared with its supervisor */
};

static int64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Opens descriptors 0, 1 and 2 if they are closed, so that no other file gets these numbers. */
static void open_standard_files(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Blocks signals that are read from a descriptor instead; returns those that are passed on. What the user has set to
 * be ignored (nohup) stays ignored. */
static void block_signals(sigset_t *passed_on, sigset_t *mask_before) {
    struct sigaction hangup;
    sigset_t blocked;
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, the kernel does not report how children end */
    supervise_list_signals(passed_on);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN)
        sigdelset(passed_on, SIGHUP);
    blocked = *passed_on;
    sigaddset(&blocked, SIGPIPE); /* a failed write is enough */
    sigaddset(&blocked, SIGTTIN);
    sigaddset(&blocked, SIGTTOU);
    sigprocmask(SIG_BLOCK, &blocked, mask_before);
}

/* Stops on the terminal's request, if a parent could continue us: the kernel decides. */
static void stop(const struct front *front) {
    sigset_t set;
    kill(front->supervisor, SIGTSTP);
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(front->supervisor, SIGCONT);
}

/* Whether the supervisor has ended; *code is then the launch's. */
static bool has_ended(const struct front *front, int *code) {
    int status;
    if (waitpid(front->supervisor, &status, WNOHANG) != front->supervisor)
        return false;
    if (WIFEXITED(status)) {
        *code = WEXITSTATUS(status);
        return true;
    }
    char how[64];
    dt__describe_wait_status(status, how, sizeof how);
    descendants_kill();
    fprintf(stderr, "dtrun: the process that supervises the ranks ended with %s; the ranks were killed\n", how);
    *code = EXIT_BY_SIGNAL + WTERMSIG(status);
    return true;
}

static bool take_signals(struct front *front, int *code) {
    struct signalfd_siginfo info;
    while (read(front->signal_fd, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;
        if (supervise_is_end_signal(number)) {
            front->last_end_signal = number;
            front->last_end_ms = clock_ms();
        }
        if (number == SIGCHLD && has_ended(front, code))
            return true;
        if (number == SIGTSTP)
            stop(front);
        else if (number != SIGCHLD)
            kill(front->supervisor, number);
    }
    return false;
}

static int wait_for_end(struct front *front) {
    struct pollfd polls[KEYBOARD_POLLS + 1];
    int code;
    for (;;) {
        polls[KEYBOARD_POLLS] = (struct pollfd){.fd = front->signal_fd, .events = POLLIN};
        int timeout_ms = keyboard_wait_for(&front->keyboard, polls);
        if (poll(polls, KEYBOARD_POLLS + 1, timeout_ms) <= 0)
            continue;
        if (polls[KEYBOARD_POLLS].revents && take_signals(front, &code))
            return code;
        keyboard_advance(&front->keyboard, polls);
    }
}

static _Noreturn void become_supervisor(const struct options *options, struct inheritance *inheritance,
                                        struct front *front) {
    setpgid(0, 0);
    prctl(PR_SET_NAME, "dt-supervisor");
    keyboard_close(&front->keyboard);
    close(front->signal_fd);
    close(front->life[1]);
    exit(supervise(options, inheritance, front->life[0], front->outcome));
}

/* Standard input is rank 0's: if it stayed open here, its writer would not notice that no process reads it. */
static void close_input(int input) {
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (input != STDIN_FILENO) {
        close(input);
    } else if (null_fd >= 0) {
        dup2(null_fd, STDIN_FILENO);
    }
    if (null_fd >= 0)
        close(null_fd);
}

/* Runs one launch to completion; -1: it could not be started. */
static int run_launch(const struct options *options, struct inheritance *inheritance, struct front *front) {
    *front->outcome = (struct outcome){.rank = -1};
    if (pipe2(front->life, O_CLOEXEC))
        return -1;
    front->supervisor = fork();
    if (front->supervisor == 0)
        become_supervisor(options, inheritance, front);
    close(front->life[0]);
    close_input(inheritance->input);
    const int code = front->supervisor < 0 ? -1 : wait_for_end(front);
    close(front->life[1]);
    return code;
}

/* Waits before the next launch. Returns the number of a signal that ends it, or 0. A signal that was passed on just
 * before counts, too: the supervisor may have been about to end, and reads none then. */
static int back_off(const struct front *front, int64_t delay_ms) {
    const int64_t end_ms = clock_ms() + delay_ms;
    if (front->last_end_signal && clock_ms() - front->last_end_ms < UNREAD_MS)
        return front->last_end_signal;
    for (int64_t left = delay_ms; left > 0; left = end_ms - clock_ms()) {
        struct signalfd_siginfo info;
        struct pollfd poll_signals = {.fd = front->signal_fd, .events = POLLIN};
        (void)poll(&poll_signals, 1, (int)left);
        while (read(front->signal_fd, &info, sizeof info) == sizeof info)
            if (supervise_is_end_signal((int)info.ssi_signo))
                return (int)info.ssi_signo;
    }
    return 0;
}

/* Launches until one succeeds or there is no other. Standard input is that of the first one. */
static int run_launches(struct options *options, struct inheritance *inheritance, struct front *front) {
    struct restarts restarts = {
        .n_most = options->n_restarts, .n_least = options->min_ranks, .n_ranks = options->n_ranks, .last_rank = -1};
    char text[640];
    for (;;) {
        const int64_t start_ms = clock_ms();
        const int code = run_launch(options, inheritance, front);
        const bool again = code > 0 && restarts_decide(&restarts, front->outcome, clock_ms() - start_ms, text);
        if (code > 0 && front->outcome->may_restart && restarts.n_most && text[0])
            fprintf(stderr, "dtrun: %s\n", text);
        if (!again)
            return code;
        inheritance->input = STDIN_FILENO; /* empty by now */
        const int ended = back_off(front, restarts.delay_ms);
        if (ended)
            return EXIT_BY_SIGNAL + ended;
        options->n_done_restarts = restarts.n_done;
        if (restarts.n_ranks != options->n_ranks && !options_set_ranks(options, restarts.n_ranks))
            return EXIT_OURS;
    }
}

int front_run(struct options *options) {
    struct front front = {.supervisor = -1};
    struct inheritance inheritance;
    sigset_t passed_on;
    int code = -1;
    open_standard_files();
    block_signals(&passed_on, &inheritance.signal_mask);
    descendants_adopt();
    front.signal_fd = signalfd(-1, &passed_on, SFD_NONBLOCK | SFD_CLOEXEC);
    front.outcome = mmap(NULL, sizeof *front.outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (front.signal_fd >= 0 && front.outcome != MAP_FAILED) {
        inheritance.input = keyboard_open(&front.keyboard);
        code = run_launches(options, &inheritance, &front);
    }
    if (code < 0)
        fprintf(stderr, "dtrun: cannot start: %s\n", strerror(errno));
    return code < 0 ? EXIT_OURS : code;
}
