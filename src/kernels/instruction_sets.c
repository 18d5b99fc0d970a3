/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects the table for this CPU. Rows are ordered from the slowest to the fastest table; a tuned table is used only
 * if the CPU and the operating system support every instruction set that its file is compiled for (flags.cmake).
 */
#include "kernels/bf16_loops.h"
#include "kernels/kernel_table.h"

#include <stdlib.h>
#include <string.h>

static bool runs_always(void) { return true; }

#ifdef __x86_64__
#include <cpuid.h>

static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool runs_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && has_f16c();
}

static bool runs_avx512(void) {
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

static const struct {
    const dt__kernels *table;
    bool (*runs)(void);
} rows[] = {
    {&dt__kernels_plain, runs_always},
    {&dt__kernels_baseline, runs_always},
#ifdef __x86_64__
    {&dt__kernels_avx2, runs_avx2},
    {&dt__kernels_avx512, runs_avx512},
#endif
};

enum { N_ROWS = sizeof rows / sizeof *rows };

const dt__kernels *dt__kernels_named(const char *name) {
    for (int i = 0; name && i < N_ROWS; i++)
        if (!strcmp(name, rows[i].table->name))
            return rows[i].runs() ? rows[i].table : NULL;
    return NULL;
}

const dt__kernels *dt__kernels_best(void) {
    const dt__kernels *named = dt__kernels_named(getenv("DTENSOR_KERNELS"));
    if (named)
        return named;
    int best = N_ROWS - 1;
    while (!rows[best].runs())
        best--;
    return rows[best].table;
}

const dt__bf16_loops *dt__bf16_loops_of(const dt__kernels *kernels) {
#ifdef __x86_64__
    if (kernels->loops == dt__kernels_avx512.loops && runs_avx512() && __builtin_cpu_supports("avx512bf16"))
        return &dt__bf16_loops_avx512;
#endif
    (void)kernels;
    return NULL;
}
