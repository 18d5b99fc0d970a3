/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting collectives by name of the call and by scope. Counts stand at the innermost scope; sums over a scope and all
 * inside it are made when they are asked for.
 */
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "dtensor/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void forget(dt__monitor *self, dt__scope_node *node) {
    while (node->rows) {
        dt__count_row *row = node->rows;
        node->rows = row->next;
        row->next = self->free_rows;
        self->free_rows = row;
    }
    for (dt__scope_node *child = node->first; child; child = child->next)
        forget(self, child);
}

dt_status dt_comm_stats_begin(dt_ctx *ctx) {
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    forget(self, &self->root);
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
            return; /* out of memory, which is recorded */
        row->n[c] += event->collectives[c];
        row->bytes[c] += first ? event->bytes : 0;
    }
}

/* Whether a path is a scope or inside it. */
static bool is_in(const char *path, const char *scope) {
    size_t n = strlen(scope);
    return n == 0 || (!strncmp(path, scope, n) && (path[n] == '\0' || path[n] == '/'));
}

static void add_up(const dt__scope_node *node, const dt_comm_filter *which, dt_comm_statistics *sum) {
    if (!which->scope || is_in(node->path, which->scope))
        for (const dt__count_row *row = node->rows; row; row = row->next)
            for (int c = 0; c < DT_N_COLLECTIVES; c++) {
                if ((which->op && strcmp(row->op, which->op) != 0) ||
                    (which->collective && strcmp(dt_collective_name((dt_collective)c), which->collective) != 0))
                    continue;
                sum->n += row->n[c];
                sum->bytes += row->bytes[c];
            }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        add_up(child, which, sum);
}

dt_comm_statistics dt_comm_stats(const dt_ctx *ctx, const dt_comm_filter *which) {
    static const dt_comm_filter all;
    const dt__monitor *self = monitor_of(ctx);
    dt_comm_statistics sum = {0};
    if (self)
        add_up(&self->root, which ? which : &all, &sum);
    return sum;
}

/* What one line says: all kinds, of a scope and inside it, of one name or of all. */
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

/* The first row of this name in a scope and inside it. */
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
    int width = 2 * depth_of(node) + (int)strlen(node->name), most = width < 16 ? 16 : width;
    for (const dt__count_row *row = node->rows; row; row = row->next) {
        int n = 2 * depth_of(node) + 4 + (int)strlen(row->op);
        most = n > most ? n : most;
    }
    for (const dt__scope_node *child = node->first; child; child = child->next) {
        int n = width_of(child);
        most = n > most ? n : most;
    }
    return most;
}

/* The scope with all inside it, then what was counted in it alone by name, then the scopes inside. */
static void print_node(const dt__scope_node *node, const line *all, int width, dt__text *out) {
    int indent = 2 * depth_of(node);
    line whole = line_of(node, NULL);
    if (!has_counts(node))
        return;
    print_line(all, &whole, node->parent ? node->name : "all", width, indent, out);
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

static const char *give(dt__monitor *self) {
    return dt__text_status(&self->text) == DT_OK ? dt__text_chars(&self->text) : NULL;
}

const char *dt_comm_stats_text(dt_ctx *ctx) {
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return NULL;
    line all = line_of(&self->root, NULL);
    int width = width_of(&self->root);
    dt__text_clear(&self->text);
    dt__text_add(&self->text, "%-*s", width, "scope");
    for (int c = 0; c < DT_N_COLLECTIVES; c++)
        if (all.n[c])
            dt__text_add(&self->text, " %s", dt_collective_name((dt_collective)c));
    dt__text_add(&self->text, " %14s\n", "bytes received");
    if (has_counts(&self->root))
        print_node(&self->root, &all, width, &self->text);
    else
        print_line(&all, &all, "all", width, 0, &self->text);
    return give(self);
}

static void add_counts(const line *one, dt__text *out) {
    const char *before = "";
    dt__text_add(out, "\"collectives\":{");
    for (int c = 0; c < DT_N_COLLECTIVES; c++)
        if (one->n[c]) {
            dt__text_add(out, "%s\"%s\":%" PRId64, before, dt_collective_name((dt_collective)c), one->n[c]);
            before = ",";
        }
    dt__text_add(out, "},\"bytes\":%" PRId64, one->bytes);
}

/* The names below a node, each once. */
static void add_ops(const dt__scope_node *top, const dt__scope_node *node, const char **before, dt__text *out) {
    for (const dt__count_row *row = node->rows; row; row = row->next) {
        if (first_row(top, row->op) != row)
            continue;
        line one = line_of(top, row->op);
        dt__text_add(out, "%s", *before);
        dt__add_json_string(out, row->op);
        dt__text_add(out, ":{");
        add_counts(&one, out);
        dt__text_add(out, "}");
        *before = ",";
    }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        add_ops(top, child, before, out);
}

static void add_node(const dt__scope_node *node, dt__text *out) {
    line whole = line_of(node, NULL);
    const char *before = "";
    dt__text_add(out, "{");
    add_counts(&whole, out);
    dt__text_add(out, ",\"ops\":{");
    add_ops(node, node, &before, out);
    dt__text_add(out, "}}");
}

static void add_scopes(const dt__scope_node *node, const char **before, dt__text *out) {
    if (node->parent && has_counts(node)) {
        dt__text_add(out, "%s", *before);
        dt__add_json_string(out, node->path);
        dt__text_add(out, ":");
        add_node(node, out);
        *before = ",";
    }
    for (const dt__scope_node *child = node->first; child; child = child->next)
        add_scopes(child, before, out);
}

const char *dt_comm_stats_json(dt_ctx *ctx) {
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    const char *before = "";
    if (!self)
        return NULL;
    dt__text_clear(&self->text);
    dt__text_add(&self->text, "{\"total\":");
    add_node(&self->root, &self->text);
    dt__text_add(&self->text, ",\"scopes\":{");
    add_scopes(&self->root, &before, &self->text);
    dt__text_add(&self->text, "}}");
    return give(self);
}
