/* SPDX-License-Identifier: Apache-2.0
 *
 * The named schedules. All but one are phases: a pattern of actions that a rank repeats some number of times, with
 * micro-batches in ascending order; p is the number of ranks, r the rank, n the number of micro-batches. Actions beyond
 * the last micro-batch are left out, so that a schedule for few of them is the one for many, cut.
 *
 *                  idle time of a step   activations  for n
 *     gpipe        (p-1)(F+B)            n            any
 *     1f1b         (p-1)(F+B)            p-r          any
 *     interleaved  (p-1)(F+B)                         >= p
 *     zb-h1        p-1 if F = I = W = 1  p            >= p
 *     zb-v         p-1 if F = I = W = 1  2p           >= 2p-1; never idle between its first and its last action
 *     dualpipe-v   p-1 if F = I = W = 1  2p+1         >= 2p; F and B of two micro-batches are next to each other
 *
 * Times are those of one stage, and B = I + W.
 *
 * GPipe: Huang et al. 2019; 1F1B and interleaved stages: Narayanan et al. 2021; zero-bubble: Qi et al. 2023, 2024;
 * DualPipe-V: DeepSeek-AI 2025.
 */
#include "train/pipeline_table.h"

#include "base/near_miss.h"

#include <string.h>

/* Actions of a pattern name a stage of the rank: 0 is its first, 1 its second. W without a number is the oldest weight
 * gradient that is due of either stage. */
typedef struct phase {
    int64_t n_times;
    const char *pattern;
} phase;

typedef struct row_writer {
    dt__pipeline_row *row;
    int64_t n_micro;
    int64_t stages[2];
    int64_t n_forward[2], n_backward[2];
    int64_t *due, n_due; /* positions in the row of I without a W */
} row_writer;

static void add_action(row_writer *self, char kind, int64_t stage, int64_t micro) {
    self->row->actions[self->row->n++] = (dt_action){stage, micro, kind};
}

/* stage -1: of any. */
static void add_weight(row_writer *self, int64_t stage) {
    int64_t i = 0;
    while (i < self->n_due && stage >= 0 && self->row->actions[self->due[i]].stage != stage)
        i++;
    if (i == self->n_due)
        return;
    const dt_action input = self->row->actions[self->due[i]];
    memmove(self->due + i, self->due + i + 1, (size_t)(--self->n_due - i) * sizeof *self->due);
    add_action(self, 'W', input.stage, input.micro);
}

static void add_of_pattern(row_writer *self, char kind, int chunk) {
    if (kind == 'W') {
        add_weight(self, chunk < 0 ? -1 : self->stages[chunk]);
        return;
    }
    int64_t micro = kind == 'F' ? self->n_forward[chunk]++ : self->n_backward[chunk]++;
    if (micro >= self->n_micro)
        return;
    if (kind == 'I')
        self->due[self->n_due++] = self->row->n;
    add_action(self, kind, self->stages[chunk], micro);
}

static void add_pattern(row_writer *self, const char *pattern) {
    for (const char *at = pattern; *at; at++) {
        bool has_chunk = at[1] == '0' || at[1] == '1';
        if (*at != ' ')
            add_of_pattern(self, *at, has_chunk ? at[1] - '0' : -1);
        at += has_chunk;
    }
}

static void add_phases(row_writer *self, int n_phases, const phase *phases) {
    for (int i = 0; i < n_phases; i++)
        for (int64_t k = 0; k < phases[i].n_times; k++)
            add_pattern(self, phases[i].pattern);
}
#define ADD_PHASES(self, ...)                                                                                        \
    add_phases(self, (int)(sizeof((const phase[]){__VA_ARGS__}) / sizeof(phase)), (const phase[]){__VA_ARGS__})

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void write_gpipe(row_writer *self, int64_t p, int64_t r) {
    (void)p, (void)r;
    ADD_PHASES(self, {self->n_micro, "F0"}, {self->n_micro, "B0"});
}

static void write_1f1b(row_writer *self, int64_t p, int64_t r) {
    ADD_PHASES(self, {p - 1 - r, "F0"}, {self->n_micro, "F0 B0"});
}

static void write_zb_h1(row_writer *self, int64_t p, int64_t r) {
    ADD_PHASES(self, {p - 1 - r, "F0"}, {r, "F0 I0"}, {self->n_micro, "F0 I0 W0"});
}

static void write_zb_v(row_writer *self, int64_t p, int64_t r) {
    const int64_t n = larger(self->n_micro, 2 * p - 1);
    ADD_PHASES(self, {2 * (p - r) - 1, "F0"}, {r, "F1 F0"}, {p - r, "F1 I1 W1"}, {n - p, "F0 I0 W0 F1 I1 W1"},
               {r, "I0 I1"}, {p - r, "I0 W0"}, {n, "W1"}, {n, "W0"});
}

static void write_dualpipe_v(row_writer *self, int64_t p, int64_t r) {
    const int64_t n = larger(self->n_micro, 2 * p), after = p - 1 - r, half = (r + 1) / 2;
    ADD_PHASES(self, {2 * after, "F0"}, {r + 1, "F0 F1"}, {after, "I1 W F1"}, {n - 2 * p + r + 1, "F0 B1 F1 B0"},
               {after, "B1 F1 B0"}, {half, "B1 B0"}, {r % 2 == 0, "B1 I0"}, {half, "I1 I0"}, {after, "W I0"},
               {2 * n, "W"});
}

/* Rounds of micro-batches: a stage runs those of a round before the rank's next stage does. A round has p of them or
 * more, their sizes differing by one, so that no stage waits for the one before it; fewer than p are one round. */
static void write_interleaved(const dt__pipeline *self, int64_t r) {
    const int64_t p = self->n_ranks, v = self->n_stages / p, n = self->n_micro, n_rounds = larger(n / p, 1);
    const int64_t n_all = n * v, longest = (n + n_rounds - 1) / n_rounds;
    const int64_t before = (v - 1) * longest + 2 * (p - 1 - r), n_first = before < n_all ? before : n_all;
    dt__pipeline_row *row = &self->rows[r];
    int64_t at = 0;
    for (int64_t round = 0, first = 0; round < n_rounds; round++) {
        const int64_t size = n / n_rounds + (round < n % n_rounds);
        for (int64_t i = 0; i < size * v; i++, at++) {
            const int64_t chunk = i / size, micro = first + i % size;
            /* Forward action number i is preceded by one backward action for each after the first ones. */
            const int64_t forward = at < n_first ? at : 2 * at - n_first;
            const int64_t backward = at + n_first < n_all ? n_first + 2 * at + 1 : n_all + at;
            row->actions[forward] = (dt_action){chunk * p + r, micro, 'F'};
            row->actions[backward] = (dt_action){(v - 1 - chunk) * p + r, micro, 'B'};
        }
        first += size;
    }
    row->n = 2 * n_all;
}

typedef struct named_schedule {
    const char *name;
    int stages_per_rank; /* 0: any number, 2 unless stated */
    void (*write)(row_writer *self, int64_t p, int64_t r);
} named_schedule;

static const named_schedule schedules[] = {
    {"gpipe", 1, write_gpipe}, {"1f1b", 1, write_1f1b}, {"interleaved", 0, NULL},
    {"zb-h1", 1, write_zb_h1}, {"zb-v", 2, write_zb_v}, {"dualpipe-v", 2, write_dualpipe_v},
};
enum { N_SCHEDULES = sizeof schedules / sizeof *schedules };

static const named_schedule *find_schedule(dt_ctx *ctx, const char *name) {
    dt__near_miss near = dt__near_miss_new(name);
    for (int i = 0; i < N_SCHEDULES; i++) {
        if (!strcmp(name, schedules[i].name))
            return &schedules[i];
        dt__near_miss_add(&near, schedules[i].name, strlen(schedules[i].name));
    }
    dt__fail(ctx, DT_ERR_VALUE,
             "unknown schedule: expected gpipe, 1f1b, interleaved, zb-h1, zb-v, dualpipe-v or a table, got '%.40s'%s",
             name, dt__near_miss_hint(&near));
    return NULL;
}

static dt_status find_sizes(dt_ctx *ctx, const named_schedule *named, dt__pipeline_sizes *sizes) {
    const int64_t per_rank = named->stages_per_rank ? named->stages_per_rank : 2;
    if (sizes->n_micro == 0)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: the number of micro-batches is missing: set .micro", named->name);
    if (sizes->n_ranks == 0 && sizes->n_stages == 0)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: the number of stages is missing: set .stages or .ranks", named->name);
    if (sizes->n_ranks == 0)
        sizes->n_ranks = sizes->n_stages < per_rank ? 1 : sizes->n_stages / per_rank;
    if (sizes->n_stages == 0)
        sizes->n_stages = sizes->n_ranks * per_rank;
    if (named->stages_per_rank && sizes->n_stages != sizes->n_ranks * per_rank)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: wrong number of stages: expected %lld for %lld ranks, got %lld",
                        named->name, (long long)(sizes->n_ranks * per_rank), (long long)sizes->n_ranks,
                        (long long)sizes->n_stages);
    if (sizes->n_stages % sizes->n_ranks)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: wrong number of stages: expected a multiple of %lld ranks, got %lld",
                        named->name, (long long)sizes->n_ranks, (long long)sizes->n_stages);
    if (sizes->n_micro > DT__MAX_PIPELINE_ACTIONS / 3 / sizes->n_stages)
        return dt__fail(
            ctx, DT_ERR_VALUE, "%s: too many actions: expected at most %d, got %lld stages and %lld micro-batches",
            named->name, (int)DT__MAX_PIPELINE_ACTIONS, (long long)sizes->n_stages, (long long)sizes->n_micro);
    return DT_OK;
}

static dt_status write_row(dt__arena *arena, const named_schedule *named, const dt__pipeline *self, int64_t r) {
    dt__pipeline_row *row = &self->rows[r];
    row->capacity = 3 * self->n_micro * (self->n_stages / self->n_ranks);
    row->actions = DT__NEW_ARRAY(arena, dt_action, row->capacity);
    row_writer writer = {.row = row, .n_micro = self->n_micro, .stages = {r, self->n_stages - 1 - r}};
    writer.due = DT__NEW_ARRAY(arena, int64_t, row->capacity);
    if (!row->actions || !writer.due)
        return DT_ERR_MEMORY;
    if (named->write)
        named->write(&writer, self->n_ranks, r);
    else
        write_interleaved(self, r);
    return DT_OK;
}

dt_status dt__pipeline_build(dt__arena *arena, const char *name, dt__pipeline_sizes sizes, dt__pipeline *out) {
    const named_schedule *named = find_schedule(arena->ctx, name);
    if (!named)
        return DT_ERR_VALUE;
    DT__TRY(find_sizes(arena->ctx, named, &sizes));
    *out = (dt__pipeline){sizes.n_ranks, sizes.n_stages, sizes.n_micro,
                          DT__NEW_ARRAY(arena, dt__pipeline_row, sizes.n_ranks), NULL};
    if (!out->rows)
        return DT_ERR_MEMORY;
    for (int64_t r = 0; r < out->n_ranks; r++)
        DT__TRY(write_row(arena, named, out, r));
    return DT_OK;
}
