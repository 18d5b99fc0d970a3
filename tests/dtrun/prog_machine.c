/* SPDX-License-Identifier: Apache-2.0
 *
 * "machine [--spawn N]": each rank prints the fingerprint of its machine model and the number of its measured steps.
 */
#include "base/ctx.h"
#include "dtensor/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_model(dt_ctx *ctx, void *arg) {
    (void)arg;
    printf("%" PRIx64 " %d\n", ctx->machine->fingerprint, ctx->machine->n_measured);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--spawn")) {
        char *error = NULL;
        if (dt_spawn(atoi(argv[2]), print_model, NULL, &error) == DT_OK)
            return 0;
        fprintf(stderr, "%s\n", error ? error : "out of memory");
        free(error);
        return 1;
    }
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    print_model(ctx, NULL);
    return dt_close(ctx);
}
