/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes tensors of 16 MiB on every rank, at most 2 GiB of them, until one does not fit.
 */
#include <dtensor/dtensor.h>

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    for (int i = 0; i < 128 && !dt_failed(ctx); i++)
        dt_full(ctx, DT_SHAPE(4, 1024, 1024), i);
    return dt_close(ctx);
}
