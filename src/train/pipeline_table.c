/* SPDX-License-Identifier: Apache-2.0
 *
 * The text form of pipeline schedules: a line per rank, actions such as 2F0 separated by commas, as in the CSV files of
 * PyTorch's schedules. Cells that follow from the others are skipped: sends, receives, and what fully sharded
 * parameters do.
 */
#include "train/pipeline_table.h"

#include "base/cursor.h"

#include <string.h>

static const char kinds[] = "FBIW";

/* What a cell may have in place of a kind, and the micro-batch that may follow. */
static const char *const skipped_kinds[] = {"SEND_F",  "RECV_F",      "SEND_B", "RECV_B",
                                            "UNSHARD", "REDUCE_GRAD", "RESHARD"};

bool dt__pipeline_is_table(const char *text) { return strpbrk(text, ",\n") != NULL; }

static dt_status read_action(dt__cursor *cursor, dt__pipeline_row *row, dt__pipeline *out) {
    dt_action action = {0};
    DT__TRY(dt__cursor_number(cursor, 0, INT32_MAX, "a stage", &action.stage));
    for (size_t i = 0; i < sizeof skipped_kinds / sizeof *skipped_kinds; i++)
        if (dt__cursor_skip(cursor, skipped_kinds[i])) {
            while (*cursor->at >= '0' && *cursor->at <= '9')
                cursor->at++;
            return DT_OK;
        }
    if (!*cursor->at || !strchr(kinds, *cursor->at))
        return dt__cursor_fail(cursor, "expected F, B, I or W after a stage");
    action.kind = *cursor->at++;
    if (*cursor->at < '0' || *cursor->at > '9')
        return dt__cursor_fail(cursor, "expected a micro-batch after %c", action.kind);
    DT__TRY(dt__cursor_number(cursor, 0, INT32_MAX, "a micro-batch", &action.micro));
    row->actions[row->n++] = action;
    out->n_stages = action.stage >= out->n_stages ? action.stage + 1 : out->n_stages;
    out->n_micro = action.micro >= out->n_micro ? action.micro + 1 : out->n_micro;
    return DT_OK;
}

/* "(0F1;1B0)OVERLAP_F_B": two actions that may run at once run one after the other. */
static dt_status read_overlap(dt__cursor *cursor, dt__pipeline_row *row, dt__pipeline *out) {
    do
        DT__TRY(read_action(cursor, row, out));
    while (dt__cursor_take(cursor, ";"));
    DT__TRY(dt__cursor_expect(cursor, ")", "after overlapped actions"));
    (void)dt__cursor_skip(cursor, "OVERLAP_F_B");
    return DT_OK;
}

static bool at_line_end(const dt__cursor *cursor) {
    return *cursor->at == 0 || *cursor->at == '\n' || *cursor->at == '\r';
}

static dt_status read_row(dt__cursor *cursor, dt__pipeline_row *row, dt__pipeline *out) {
    for (;;) {
        while (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == ',')
            cursor->at++;
        if (at_line_end(cursor))
            return DT_OK;
        if (dt__cursor_skip(cursor, "("))
            DT__TRY(read_overlap(cursor, row, out));
        else
            DT__TRY(read_action(cursor, row, out));
        while (*cursor->at == ' ' || *cursor->at == '\t')
            cursor->at++;
        if (*cursor->at != ',' && !at_line_end(cursor))
            return dt__cursor_fail(cursor, "expected a comma between actions");
    }
}

/* At most as many actions as there are letters of kinds. */
static int64_t row_capacity(const char *line) {
    int64_t n = 0;
    for (; *line && *line != '\n'; line++)
        n += strchr(kinds, *line) != NULL;
    return n;
}

static int64_t count_lines(const char *text) {
    int64_t n = 0;
    for (; *text; text += *text != 0) {
        n++;
        text += strcspn(text, "\n");
    }
    return n;
}

dt_status dt__pipeline_parse(dt__arena *arena, const char *text, dt__pipeline *out) {
    *out = (dt__pipeline){.rows = DT__NEW_ARRAY(arena, dt__pipeline_row, count_lines(text))};
    if (!out->rows)
        return DT_ERR_MEMORY;
    dt__cursor cursor = dt__cursor_new(arena->ctx, DT_ERR_VALUE, "schedule", text);
    while (*cursor.at) {
        dt__pipeline_row *row = &out->rows[out->n_ranks];
        row->capacity = row_capacity(cursor.at);
        row->actions = DT__NEW_ARRAY(arena, dt_action, row->capacity);
        if (!row->actions)
            return DT_ERR_MEMORY;
        DT__TRY(read_row(&cursor, row, out));
        out->n_ranks += row->n > 0; /* blank lines are no ranks */
        cursor.at += strspn(cursor.at, "\r\n");
    }
    return DT_OK;
}

void dt__action_print(dt__text *text, const dt_action *action, bool with_stage) {
    if (with_stage)
        dt__text_add(text, "%lld", (long long)action->stage);
    dt__text_add(text, "%c%lld", action->kind, (long long)action->micro);
}

void dt__pipeline_print(dt__text *text, const dt__pipeline *self) {
    for (int64_t rank = 0; rank < self->n_ranks; rank++) {
        for (int64_t i = 0; i < self->rows[rank].n; i++) {
            dt__text_add(text, "%s", i ? "," : "");
            dt__action_print(text, &self->rows[rank].actions[i], true);
        }
        dt__text_add(text, "\n");
    }
}
