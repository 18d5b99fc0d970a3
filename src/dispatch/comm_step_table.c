/* SPDX-License-Identifier: Apache-2.0
 *
 * The communication of one step of a program as a table: counts of many steps, by call, divided by their number.
 */
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "dtensor/debug.h"

#include <inttypes.h>
#include <string.h>

typedef struct step_table {
    dt_ctx *ctx;
    double steps, seconds;
    int n_calls;
    const char **calls; /* in the order they were first counted */
} step_table;

static int count_rows(const dt__scope_node *node) {
    int n = 0;
    for (const dt__count_row *row = node->rows; row; row = row->next)
        n++;
    for (const dt__scope_node *child = node->first; child; child = child->next)
        n += count_rows(child);
    return n;
}

static void find_calls(const dt__scope_node *node, step_table *out) {
    for (const dt__count_row *row = node->rows; row; row = row->next) {
        int i = 0;
        while (i < out->n_calls && strcmp(out->calls[i], row->op) != 0)
            i++;
        if (i == out->n_calls)
            out->calls[out->n_calls++] = row->op;
    }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        find_calls(child, out);
}

static void add_bytes(dt__text *out, double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; unit < 3 && bytes >= 1024; unit++)
        bytes /= 1024;
    dt__text_add(out, "  %7.*f %-3s", unit ? 1 : 0, bytes, units[unit]);
}

/* The line of a call; NULL: of all. */
static void add_line(const step_table *self, const char *call, dt__text *out) {
    const dt_comm_statistics all = dt_comm_stats(self->ctx, &(dt_comm_filter){.op = call});
    const char *separator = "  ";
    dt__text_add(out, "%-24s", call ? call : "all");
    add_bytes(out, (double)all.bytes / self->steps);
    dt__text_add(out, "  %5.1f %%", 100 * all.seconds / self->seconds);
    for (int c = 0; c < DT_N_COLLECTIVES; c++) {
        const char *name = dt_collective_name((dt_collective)c);
        const int64_t n = dt_comm_stats(self->ctx, &(dt_comm_filter){.op = call, .collective = name}).n;
        if (n)
            dt__text_add(out, "%s%g %s", separator, (double)n / self->steps, name);
        separator = n ? ", " : separator;
    }
    dt__text_add(out, "\n");
}

const char *dt_comm_steps_text_site(dt_ctx *ctx, int64_t steps, double seconds, const dt_site *site) {
    DT__ENTER(ctx, "comm_steps_text", site);
    dt__monitor *monitor = ctx ? dt__monitor_of(ctx) : NULL;
    if (!monitor)
        return NULL;
    if (steps < 1 || !(seconds > 0)) {
        (void)dt__fail(ctx, DT_ERR_VALUE, "expected steps and seconds above 0, got %" PRId64 " and %g", steps,
                       seconds);
        return NULL;
    }
    dt__arena arena = dt__arena_new(ctx);
    step_table self = {.ctx = ctx, .steps = (double)steps, .seconds = seconds};
    self.calls = DT__NEW_ARRAY(&arena, const char *, count_rows(&monitor->root) + 1);
    dt__text *text = self.calls ? dt__returned_text_begin(monitor, DT__TEXT_COMM_STEPS) : NULL;
    if (text) {
        find_calls(&monitor->root, &self);
        dt__text_add(text, "%-24s  %11s  %7s  collectives\n", "call", "received", "of time");
        for (int i = 0; i < self.n_calls; i++)
            add_line(&self, self.calls[i], text);
        add_line(&self, NULL, text);
    }
    dt__arena_free(&arena);
    return text ? dt__returned_text_end(text) : NULL;
}
