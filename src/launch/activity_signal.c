/* SPDX-License-Identifier: Apache-2.0
 *
 * A handler of SIGUSR1 in the ranks of a launch, where the signal has its default action, which would end the process,
 * or a handler of the MPI library (MPICH has one), which is called after this one. It reads the blocks of the board and
 * writes to standard error, by functions that allocate nothing and take no lock, so that it works whatever the rank is
 * doing: waiting, computing, or in a call of MPI. Signals belong to the process, and so do the slots of the boards that
 * the handler reads. A signal from the supervisor is ignored: dtrun has printed what the ranks are doing, and passes
 * the signal on for programs that handle it.
 */
#include "launch/activity_signal.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BOARDS = 16, LINE_BYTES = 4096 };

static _Atomic(const dt__board *) boards[MAX_BOARDS];
static _Atomic int n_running; /* handlers, in any thread */
static _Atomic int32_t owner; /* the process that has the boards */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_boards; /* under the lock, as is the next */
static struct sigaction previous;

static void write_line(const char *text) {
    size_t n = strlen(text);
    while (n > 0) {
        ssize_t written = write(STDERR_FILENO, text, n);
        if (written < 0 && errno != EINTR)
            return;
        text += written > 0 ? written : 0;
        n -= written > 0 ? (size_t)written : 0;
    }
}

static void print_board(const dt__board *board) {
    char line[LINE_BYTES], activity[LINE_BYTES - 64];
    int64_t own = board->own - board->ranks;
    snprintf(line, sizeof line, "rank %" PRId64 " (process %d): what ranks are doing:\n", own, (int)getpid());
    write_line(line);
    for (int64_t rank = 0; rank < board->n_ranks; rank++) {
        dt__describe_activity(board->ranks, board->n_ranks, rank, activity, sizeof activity);
        snprintf(line, sizeof line, "  rank %" PRId64 ": %s\n", rank, activity);
        write_line(line);
    }
}

static void on_signal(int number, siginfo_t *info, void *context) {
    int error = errno;
    if (atomic_load(&owner) != (int32_t)getpid()) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    atomic_fetch_add(&n_running, 1);
    const struct dt__rank_block *printed = NULL; /* ranks may be threads of this process, each with its board */
    for (int i = 0; i < MAX_BOARDS; i++) {
        const dt__board *board = atomic_load(&boards[i]);
        if (!board || board->ranks == printed ||
            (info->si_code == SI_USER && info->si_pid == atomic_load(&board->own->supervisor)))
            continue;
        print_board(board);
        printed = board->ranks;
    }
    atomic_fetch_sub(&n_running, 1);
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(number, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(number);
    errno = error;
}

/* Whether no handler of the program would be replaced. */
static bool is_free(void) {
    struct sigaction now;
    Dl_info info;
    if (sigaction(SIGUSR1, NULL, &now) || (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN))
        return false;
    if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        return true;
    const void *handler = now.sa_flags & SA_SIGINFO ? (const void *)(uintptr_t)now.sa_sigaction
                                                    : (const void *)(uintptr_t)now.sa_handler;
    return now.sa_sigaction != on_signal && dladdr(handler, &info) && info.dli_fname &&
           strstr(info.dli_fname, "libmpi");
}

static bool is_ours(void) {
    struct sigaction now;
    return sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal;
}

void dt__activity_signal_add(const dt__board *board) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    if (board->n_ranks == 1) /* which waits for none */
        return;
    pthread_mutex_lock(&lock);
    if (atomic_load(&owner) != (int32_t)getpid()) { /* also in a forked process, which has those of its parent */
        for (int i = 0; i < MAX_BOARDS; i++)
            atomic_store(&boards[i], NULL);
        n_boards = 0;
        atomic_store(&owner, (int32_t)getpid());
    }
    for (int i = 0; i < MAX_BOARDS; i++)
        if (!atomic_load(&boards[i])) {
            atomic_store(&boards[i], board);
            n_boards++;
            break;
        }
    if (is_free())
        sigaction(SIGUSR1, &action, &previous);
    pthread_mutex_unlock(&lock);
}

/* A handler in another thread may still read the board: it is waited for. */
void dt__activity_signal_remove(const dt__board *board) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_BOARDS; i++)
        if (atomic_load(&boards[i]) == board) {
            atomic_store(&boards[i], NULL);
            n_boards--;
        }
    if (!n_boards && is_ours())
        sigaction(SIGUSR1, &previous, NULL);
    pthread_mutex_unlock(&lock);
    while (atomic_load(&n_running) > 0)
        sched_yield();
}
