/* SPDX-License-Identifier: Apache-2.0
 *
 * The program "train" of dtrun(1): rank 0 reads data, and all ranks sum their gradients. Without data, rank 2 is
 * killed in the twelfth collective, for which rank 0 is late.
 */
#define _POSIX_C_SOURCE 200809L
#include <dtensor/dtensor.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void die(int signal) {
    (void)signal;
    raise(SIGKILL);
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    char line[80];
    float gradient[1024] = {0};
    int64_t has_data = dt_rank(ctx) == 0 && fgets(line, sizeof line, stdin);
    dt_comm_broadcast(dt_group_world(ctx), &has_data, &has_data, 1, DT_I64, 0);
    if (dt_rank(ctx) == 2 && !has_data) {
        signal(SIGALRM, die);
        alarm(1);
    }
    for (int step = 2; step <= 20; step++) {
        if (dt_rank(ctx) == 0 && !has_data && step == 12)
            nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000}, NULL);
        dt_comm_all_reduce(dt_group_world(ctx), gradient, gradient, 1024, DT_F32, DT_SUM);
    }
    return dt_close(ctx);
}
