/* SPDX-License-Identifier: Apache-2.0
 *
 * Which table runs on this CPU: the one with the name of the local kernels' table, which have asked the CPU.
 */
#include "kernels/kernels.h"
#include "random/kernels.h"

#include <string.h>

static const dt__random_kernels *const tables[] = {
    &dt__random_plain,
    &dt__random_baseline,
#ifdef __x86_64__
    &dt__random_avx2,
    &dt__random_avx512,
#endif
};

const dt__random_kernels *dt__random_kernels_named(const char *name) {
    if (!dt__kernels_named(name))
        return NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(name, tables[i]->name))
            return tables[i];
    return NULL;
}

const dt__random_kernels *dt__random_kernels_best(void) { return dt__random_kernels_named(dt__kernels_best()->name); }
