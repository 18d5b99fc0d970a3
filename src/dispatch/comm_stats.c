/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of collectives by name of the call and by scope. They are stored at the innermost scope; queries add up a
 * scope and all nested ones.
 */
#include "base/json_writer.h"
#include "base/options.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "dtensor/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void clear_counts(dt__monitor *self, dt__scope_node *node) {
    while (node->rows) {
        dt__count_row *row = node->rows;
        node->rows = row->next;
        row->next = self->free_rows;
        self->free_rows = row;
    }
    for (dt__scope_node *child = node->first; child; child = child->next)
        clear_counts(self, child);
}

dt_status dt_comm_stats_begin_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "comm_stats_begin", site);
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    clear_counts(self, &self->root);
    self->counts = true;
    dt__monitor_update(ctx, self);
    return DT_OK;
}

static dt__monitor *monitor_of(const dt_ctx *ctx) {
    const dt__dispatch_state *state = ctx ? ctx->slots[DT__SLOT_DISPATCH].state : NULL;
    return state ? state->monitor : NULL;
}

void dt_comm_stats_end(dt_ctx *ctx) {
    dt__monitor *self = monitor_of(ctx);
    if (!self)
        return;
    self->counts = false;
    dt__monitor_update(ctx, self);
}

static dt__count_row *row_of(dt__monitor *self, const char *op) {
    dt__count_row **link = &self->scope->rows;
    for (; *link; link = &(*link)->next)
        if ((*link)->op == op || !strcmp((*link)->op, op))
            return *link;
    dt__count_row *row = self->free_rows ? self->free_rows : DT__NEW(&self->arena, dt__count_row);
    if (row && row == self->free_rows)
        self->free_rows = row->next;
    if (row)
        *row = (dt__count_row){.op = op};
    return *link = row;
}

void dt__count_event(dt__monitor *self, const dt__comm_event *event) {
    dt__count_row *row = NULL;
    for (int c = 0; c < DT_N_COLLECTIVES; c++) {
        if (!event->collectives[c])
            continue;
        bool first = !row;
        row = row ? row : row_of(self, event->call);
        if (!row)
            return; /* out of memory; the error is recorded */
        row->n[c] += event->collectives[c];
        row->bytes[c] += first ? event->bytes : 0;
        row->us[c] += first ? event->end_us - event->begin_us : 0;
    }
}

/* Whether a path is a scope or nested in it. */
static bool is_in(const char *path, const char *scope) {
    size_t n = strlen(scope);
    return n == 0 || (!strncmp(path, scope, n) && (path[n] == '\0' || path[n] == '/'));
}

static void add_up(const dt__scope_node *node, const dt_comm_filter *filter, dt_comm_statistics *sum) {
    if (!filter->scope || is_in(node->path, filter->scope))
        for (const dt__count_row *row = node->rows; row; row = row->next)
            for (int c = 0; c < DT_N_COLLECTIVES; c++) {
                if ((filter->op && strcmp(row->op, filter->op) != 0) ||
                    (filter->collective && strcmp(dt_collective_name((dt_collective)c), filter->collective) != 0))
                    continue;
                sum->n += row->n[c];
                sum->bytes += row->bytes[c];
                sum->seconds += row->us[c] * 1e-6;
            }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        add_up(child, filter, sum);
}

void dt_comm_stats_sized(const dt_ctx *ctx, const dt_comm_filter *filter, size_t filter_size, dt_comm_statistics *out,
                         size_t out_size) {
    const dt__monitor *self = monitor_of(ctx);
    dt_comm_statistics sum = {0};
    dt_comm_filter full;
    filter = DT__STRUCT(NULL, filter, filter_size, &full);
    if (self && filter) /* a filter of a newer version may select something that is not counted: zeros */
        add_up(&self->root, filter, &sum);
    dt__fill_sized(&sum, sizeof sum, out, out_size);
}

/* One line of the table: counts by collective and bytes. */
typedef struct line {
    int64_t n[DT_N_COLLECTIVES], bytes;
} line;

static void add_rows(const dt__scope_node *node, const char *op, line *out) {
    for (const dt__count_row *row = node->rows; row; row = row->next)
        for (int c = 0; c < DT_N_COLLECTIVES && (!op || !strcmp(row->op, op)); c++) {
            out->n[c] += row->n[c];
            out->bytes += row->bytes[c];
        }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        add_rows(child, op, out);
}

static line line_of(const dt__scope_node *node, const char *op) {
    line out = {{0}, 0};
    add_rows(node, op, &out);
    return out;
}

static bool has_counts(const dt__scope_node *node) {
    if (node->rows)
        return true;
    for (const dt__scope_node *child = node->first; child; child = child->next)
        if (has_counts(child))
            return true;
    return false;
}

/* The first row of this name in a scope and its nested scopes. */
static const dt__count_row *first_row(const dt__scope_node *node, const char *op) {
    for (const dt__count_row *row = node->rows; row; row = row->next)
        if (!strcmp(row->op, op))
            return row;
    const dt__count_row *found = NULL;
    for (const dt__scope_node *child = node->first; child && !found; child = child->next)
        found = first_row(child, op);
    return found;
}

static void print_line(const line *all, const line *one, const char *name, int width, int indent, dt__text *out) {
    dt__text_add(out, "%*s%-*s", indent, "", width - indent, name);
    for (int c = 0; c < DT_N_COLLECTIVES; c++)
        if (all->n[c])
            dt__text_add(out, " %*" PRId64, (int)strlen(dt_collective_name((dt_collective)c)), one->n[c]);
    dt__text_add(out, " %14" PRId64 "\n", one->bytes);
}

static int depth_of(const dt__scope_node *node) { return node->parent ? 1 + depth_of(node->parent) : 0; }

static int width_of(const dt__scope_node *node) {
    int width = 2 * depth_of(node) + (int)strlen(node->name), max = width < 16 ? 16 : width;
    for (const dt__count_row *row = node->rows; row; row = row->next) {
        int n = 2 * depth_of(node) + 4 + (int)strlen(row->op);
        max = n > max ? n : max;
    }
    for (const dt__scope_node *child = node->first; child; child = child->next) {
        int n = width_of(child);
        max = n > max ? n : max;
    }
    return max;
}

/* The scope including nested ones, then its own counts by name, then the nested scopes. */
static void print_node(const dt__scope_node *node, const line *all, int width, dt__text *out) {
    int indent = 2 * depth_of(node);
    line total = line_of(node, NULL);
    if (!has_counts(node))
        return;
    print_line(all, &total, node->parent ? node->name : "all", width, indent, out);
    for (const dt__count_row *row = node->rows; row; row = row->next) {
        line one = {{0}, 0};
        char name[128];
        for (int c = 0; c < DT_N_COLLECTIVES; c++) {
            one.n[c] = row->n[c];
            one.bytes += row->bytes[c];
        }
        snprintf(name, sizeof name, "- %s", row->op);
        print_line(all, &one, name, width, indent + 2, out);
    }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        print_node(child, all, width, out);
}

const char *dt_comm_stats_text_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "comm_stats_text", site);
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return NULL;
    line all = line_of(&self->root, NULL);
    int width = width_of(&self->root);
    dt__text *text = dt__returned_text_begin(self, DT__TEXT_COMM_STATS);
    dt__text_add(text, "%-*s", width, "scope");
    for (int c = 0; c < DT_N_COLLECTIVES; c++)
        if (all.n[c])
            dt__text_add(text, " %s", dt_collective_name((dt_collective)c));
    dt__text_add(text, " %14s\n", "bytes received");
    if (has_counts(&self->root))
        print_node(&self->root, &all, width, text);
    else
        print_line(&all, &all, "all", width, 0, text);
    return dt__returned_text_end(text);
}

static void write_counts(const line *one, dt__json_writer *json) {
    dt__json_key(json, "collectives");
    dt__json_open(json, '{');
    for (int c = 0; c < DT_N_COLLECTIVES; c++)
        if (one->n[c]) {
            dt__json_key(json, dt_collective_name((dt_collective)c));
            dt__json_int(json, one->n[c]);
        }
    dt__json_close(json, '}');
    dt__json_key(json, "bytes");
    dt__json_int(json, one->bytes);
}

/* Each name in a scope and its nested scopes, once, with its counts in all of them. */
static void write_ops(const dt__scope_node *top, const dt__scope_node *node, dt__json_writer *json) {
    for (const dt__count_row *row = node->rows; row; row = row->next) {
        if (first_row(top, row->op) != row)
            continue;
        line one = line_of(top, row->op);
        dt__json_key(json, row->op);
        dt__json_open(json, '{');
        write_counts(&one, json);
        dt__json_close(json, '}');
    }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        write_ops(top, child, json);
}

static void write_scope(const dt__scope_node *node, dt__json_writer *json) {
    line total = line_of(node, NULL);
    dt__json_open(json, '{');
    write_counts(&total, json);
    dt__json_key(json, "ops");
    dt__json_open(json, '{');
    write_ops(node, node, json);
    dt__json_close(json, '}');
    dt__json_close(json, '}');
}

static void write_named_scopes(const dt__scope_node *node, dt__json_writer *json) {
    if (node->parent && has_counts(node)) {
        dt__json_key(json, node->path);
        write_scope(node, json);
    }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        write_named_scopes(child, json);
}

const char *dt_comm_stats_json_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "comm_stats_json", site);
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return NULL;
    dt__text *text = dt__returned_text_begin(self, DT__TEXT_COMM_STATS_JSON);
    dt__json_writer json = dt__json_writer_new(text);
    dt__json_open(&json, '{');
    dt__json_key(&json, "total");
    write_scope(&self->root, &json);
    dt__json_key(&json, "scopes");
    dt__json_open(&json, '{');
    write_named_scopes(&self->root, &json);
    dt__json_close(&json, '}');
    dt__json_close(&json, '}');
    return dt__returned_text_end(text);
}
