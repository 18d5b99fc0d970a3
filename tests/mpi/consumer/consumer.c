/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's program: started by mpirun, dtrun or alone, it prints the number of ranks and the sum of their numbers.
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    int64_t sum = dt_rank(ctx);
    if (dt_comm_all_reduce(dt_group_world(ctx), &sum, &sum, 1, DT_I64, DT_SUM) == DT_OK && dt_rank(ctx) == 0)
        printf("%lld ranks, sum %lld\n", (long long)dt_world(ctx), (long long)sum);
    return dt_close(ctx);
}
