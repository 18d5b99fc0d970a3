/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the heap by kind, as a table.
 */
#include "dispatch/monitor.h"
#include "dtensor/debug.h"

#include <string.h>

static void print_use(const char *name, size_t peak, size_t live, dt__text *out) {
    dt__text_add(out, "%-16s %14zu %14zu\n", name, peak, live);
}

const char *dt_memory_text_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "memory_text", site);
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return NULL;
    const dt_heap_statistics stats = dt_heap_stats(ctx);
    dt__text *text = dt__returned_text_begin(self, DT__TEXT_MEMORY);
    dt__text_add(text, "%-16s %14s %14s\n", "memory", "peak bytes", "live bytes");
    for (int k = 0; k < DT_N_MEMORY_KINDS; k++)
        print_use(dt_memory_kind_name((dt_memory_kind)k), stats.by_kind[k].peak_bytes, stats.by_kind[k].live_bytes,
                  text);
    print_use("all", stats.peak_bytes, stats.live_bytes, text);
    return dt__returned_text_end(text);
}
