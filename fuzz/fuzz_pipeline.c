/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of pipeline schedules: one that is accepted is the same after it was printed and parsed again, and its
 * simulation ends.
 */
#include "dtensor/comm.h"
#include "dtensor/pipeline.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt__arena arena = dt__arena_new(ctx);
    dt_schedule *schedule = dt_schedule_new(ctx, fuzz_text(&arena, bytes, n));
    fuzz_check_status(ctx, schedule != NULL);
    if (schedule) {
        dt_schedule *again = dt_schedule_new(ctx, dt_schedule_text(schedule));
        FUZZ_CHECK(again && !strcmp(dt_schedule_text(again), dt_schedule_text(schedule)), "%s",
                   dt_schedule_text(schedule));
        FUZZ_CHECK(dt_schedule_simulate(schedule, NULL, NULL) > 0, "%s", dt_schedule_text(schedule));
    }
    dt__arena_free(&arena);
    if (dt_failed(ctx))
        (void)dt_error_clear(ctx);
    return dt_close(ctx);
}
