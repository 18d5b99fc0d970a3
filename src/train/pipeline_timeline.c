/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline of a simulated schedule in characters: a column of time is as wide as the longest action's name.
 */
#include "train/pipeline_table.h"

#include <math.h>

enum { MAX_COLUMNS = 4096 };

typedef struct timeline {
    const dt__pipeline *table;
    const dt_stage_times *times;
    double unit, makespan;
    const double *begins;
    bool with_stages;
    int width; /* of a column, with the blank after it */
} timeline;

/* The shortest time above 0; 1 if there is none. */
static double column_time(const dt_stage_times *times) {
    const double all[] = {times->forward, times->input, times->weight};
    double least = 0;
    for (int i = 0; i < 3; i++)
        if (all[i] > 0 && (least == 0 || all[i] < least))
            least = all[i];
    return least > 0 ? least : 1;
}

static int digits(int64_t number) {
    int n = 1;
    while (number /= 10)
        n++;
    return n;
}

static void add_cell(dt__text *out, int width, const char *cell, int n_chars) {
    dt__text_add(out, "%s%*s", cell, width > n_chars ? width - n_chars : 0, "");
}

/* Adds columns up to a time; returns the number of columns so far. */
static int64_t add_columns(const timeline *self, dt__text *out, int64_t column, double until, const char *cell) {
    for (; (double)column + 0.5 < until / self->unit; column++)
        add_cell(out, self->width, cell, 1);
    return column;
}

static void draw_row(const timeline *self, int64_t rank, const double *begins, dt__text *out) {
    const dt__pipeline_row *row = &self->table->rows[rank];
    double busy = 0;
    int64_t column = 0;
    dt__text_add(out, "%*lld |", digits(self->table->n_ranks - 1), (long long)rank);
    for (int64_t i = 0; i < row->n; i++) {
        const double time = dt__action_time(self->times, row->actions[i].kind);
        column = add_columns(self, out, column, begins[i], ".");
        const size_t before = out->n_chars;
        dt__action_print(out, &row->actions[i], self->with_stages);
        add_cell(out, self->width, "", (int)(out->n_chars - before));
        column = add_columns(self, out, column + 1, begins[i] + time, "-");
        busy += time;
    }
    (void)add_columns(self, out, column, self->makespan, ".");
    if (!out->broken && out->n_chars && out->chars[out->n_chars - 1] == ' ')
        out->chars[--out->n_chars] = 0;
    dt__text_add(out, "| %.6g idle of %.6g, %lld live\n", self->makespan - busy, self->makespan,
                 (long long)row->n_live);
}

dt_status dt__pipeline_draw(dt__arena *arena, const dt__pipeline *table, const dt_stage_times *times, dt__text *out) {
    int64_t n = 0;
    for (int64_t rank = 0; rank < table->n_ranks; rank++)
        n += table->rows[rank].n;
    double *begins = DT__NEW_ARRAY(arena, double, n);
    timeline self = {.table = table, .times = times, .unit = column_time(times), .begins = begins};
    if (!begins)
        return DT_ERR_MEMORY;
    DT__TRY(dt__pipeline_simulate(arena, table, (dt__pipeline_times){times, false}, begins, &self.makespan));
    if (self.makespan / self.unit > MAX_COLUMNS)
        return dt__fail(arena->ctx, DT_ERR_VALUE,
                        "the timeline is too long to draw: expected at most %d columns of %g, got a step of %g",
                        (int)MAX_COLUMNS, self.unit, self.makespan);
    self.with_stages = table->n_stages != table->n_ranks;
    self.width = 2 + digits(table->n_micro - 1) + (self.with_stages ? digits(table->n_stages - 1) : 0);
    for (int64_t rank = 0; rank < table->n_ranks; rank++) {
        draw_row(&self, rank, begins, out);
        begins += table->rows[rank].n;
    }
    return dt__text_status(out);
}
