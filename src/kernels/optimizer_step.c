/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of optimizers: the loops of the instruction set (optimizer_loops.h), run by the driver of loop_driver.c.
 */
#include "kernels/kernels.h"

struct bound_step {
    dt__optimizer_loop *loop;
    const dt__optimizer_step *step;
};

static void run_loop(int64_t n, const void *const *ins, void *const *outs, const void *arg) {
    const struct bound_step *self = arg;
    self->loop(n, ins, outs, self->step);
}

void dt__optimizer_run(const dt__kernels *kernels, dt__pool *pool, dt__optimizer kind, const dt__optimizer_step *step,
                       int n_ins, int n_all, const dt__array *arrays) {
    dt_dtype dtype = DT_F32;
    for (int i = 0; i < n_all; i++)
        dtype = arrays[i].dtype == DT_F64 ? DT_F64 : dtype;
    struct bound_step bound = {kernels->loops->optimizers[kind][dtype == DT_F64], step};
    dt__loop_operands_run(kernels, pool, &(dt__loop_operands){dtype, n_ins, n_all, arrays, run_loop, &bound});
}
