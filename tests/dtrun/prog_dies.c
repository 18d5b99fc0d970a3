/* SPDX-License-Identifier: Apache-2.0
 *
 * "dies WHERE": rank 1 is killed in a collective (call), after one (between), after an error of its own (failed) or
 * after the end of its context (closed), or ends with 5 after an error of its own (error). The others continue with
 * a collective, which fails.
 */
#include "dtensor/comm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { N = 1024 };

static void die(int number) {
    (void)number;
    kill(getpid(), SIGKILL);
}

static void die_after_100_ms(void) {
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 100000}, NULL);
}

static void reduce(dt_ctx *ctx) {
    static float values[N];
    dt_comm_all_reduce(dt_group_world(ctx), values, values, N, DT_F32, DT_SUM);
}

static int run_rank(dt_ctx *ctx, const char *where, bool dies) {
    reduce(ctx);
    if (strcmp(where, "call") == 0 && dies)
        die_after_100_ms();
    else if (strcmp(where, "call") == 0)
        usleep(500000); /* the other rank waits until it is killed */
    if ((strcmp(where, "failed") == 0 || strcmp(where, "error") == 0) && dies)
        dt_error_set(ctx, DT_ERR_MEMORY, "no memory for %d tensors", 5);
    if (strcmp(where, "error") == 0 && dies) {
        usleep(200000); /* the others end first */
        return 4 + dt_close(ctx);
    }
    if (strcmp(where, "closed") == 0) {
        int code = dt_close(ctx);
        if (dies)
            die(0);
        return code;
    }
    if (dies && strcmp(where, "call") != 0)
        die(0);
    reduce(ctx); /* may succeed: the dead rank may have published its values */
    reduce(ctx);
    return dt_close(ctx);
}

int main(int argc, char **argv) {
    const char *rank = getenv("RANK");
    bool dies = rank && strcmp(rank, "1") == 0;
    dt_ctx *ctx = argc == 2 ? dt_init(NULL) : NULL;
    return ctx ? run_rank(ctx, argv[1], dies) : 90;
}
