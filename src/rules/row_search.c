/* SPDX-License-Identifier: Apache-2.0
 *
 * Branch and bound over mesh dims. Options that look cheap come first, so that a good candidate soon bounds the rest.
 */
#include "rules/row_search.h"

#include "base/dtype.h"

#include <string.h>

/* After this many choices, complete or partial, the search ends with the best so far. Only meshes of many dims with
 * inputs whose placements conflict get there. */
enum { MAX_NODES = 1 << 20 };

static double local_bytes(const dt_op_call *call, const dt__placed_inputs *on, int i) {
    const dt_op_value *value = &call->inputs[i];
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < on->n_mesh_dims; m++)
        if (dt__is_cut(&on->inputs[i]->placements[m]))
            bytes /= (double)on->mesh[m];
    return bytes;
}

static dt_status list_options(dt__row_search *self, const dt__row_list *rows) {
    const dt__row_choice *choice = &self->choice;
    int n = choice->on->n_mesh_dims;
    int *n_options = DT__NEW_ARRAY(choice->arena, int, n + 1);
    dt__row_option **options = DT__NEW_ARRAY(choice->arena, dt__row_option *, n + 1);
    double *source_bytes = DT__NEW_ARRAY(choice->arena, double, choice->call->n_inputs);
    if (!n_options || !options || !source_bytes)
        return DT_ERR_MEMORY;
    for (int i = 0; i < choice->call->n_inputs; i++)
        source_bytes[i] = local_bytes(choice->call, choice->on, i);
    for (int m = 0; m < n; m++)
        DT__TRY(dt__row_options_list(choice->arena, choice->call, choice->on, rows, m, source_bytes, &options[m],
                                     &n_options[m]));
    self->options = options;
    self->n_options = n_options;
    return DT_OK;
}

dt_status dt__row_search_begin(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on, int max,
                               dt__row_search *out) {
    int n = on->n_mesh_dims, n_entries = call->n_inputs + call->n_outputs;
    dt__row_list rows;
    *out = (dt__row_search){
        .choice = {arena, call, on, .options = DT__NEW_ARRAY(arena, const dt__row_option *, n + 1)},
        .kinds = DT__NEW_ARRAY(arena, unsigned char, (n + 1) * n_entries),
        .found = {.items = DT__NEW_ARRAY(arena, dt__priced_candidate, max + 1)},
    };
    if (!out->choice.options || !out->kinds || !out->found.items)
        return DT_ERR_MEMORY;
    DT__TRY(dt__op_call_rows(arena, call, &rows));
    DT__TRY(list_options(out, &rows));
    return dt__choice_prices_begin(&out->choice, &rows, &out->prices);
}

/* Candidates that cost no less are of no use. */
static double price_limit(const dt__row_search *self) {
    const dt__found_candidates *found = &self->found;
    return found->n < found->max ? self->goal.ceiling : found->items[found->n - 1].us;
}

bool dt__same_candidate(const dt__row_search *self, const dt__candidate *a, const dt__candidate *b) {
    int n = self->choice.on->n_mesh_dims;
    bool same = !memcmp(a->rows, b->rows, (size_t)n * sizeof(*a->rows));
    for (int i = 0; i < self->choice.call->n_inputs && same; i++)
        same = dt__same_placements(n, a->inputs[i], b->inputs[i]);
    return same;
}

static void insert(dt__row_search *self, double us, const dt__candidate *one) {
    dt__found_candidates *found = &self->found;
    for (int f = 0; f < found->n && found->max > 1; f++)
        if (dt__same_candidate(self, &found->items[f].candidate, one))
            return;
    int at = found->n;
    while (at > 0 && dt__is_cheaper(us, found->items[at - 1].us))
        at--;
    int last = found->n < found->max ? found->n++ : found->n - 1;
    memmove(&found->items[at + 1], &found->items[at], (size_t)(last - at) * sizeof *found->items);
    found->items[at] = (dt__priced_candidate){us, *one};
}

/* The choice as a candidate, which was priced. */
static dt_status make_candidate(const dt__row_search *self, dt_placement *const *outputs, double cost_us,
                                double finish_us, dt__candidate *out) {
    const dt__row_choice *choice = &self->choice;
    int n = choice->on->n_mesh_dims, n_inputs = choice->call->n_inputs;
    dt_placement **inputs = dt__placement_lists_new(choice->arena, n_inputs, n);
    dt_placement **moved = dt__placement_lists_new(choice->arena, n_inputs, n);
    const dt__row **rows = DT__NEW_ARRAY(choice->arena, const dt__row *, n + 1);
    const double *us = self->prices.moves.us,
                 *input_us = dt__arena_copy(choice->arena, us, (size_t)n_inputs, sizeof *us);
    if (!inputs || !moved || !rows || !input_us)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n_inputs; i++) {
        dt__choice_placements(choice, i, inputs[i]);
        memcpy(moved[i], self->prices.moves.targets[i], (size_t)n * sizeof *moved[i]);
    }
    for (int m = 0; m < n; m++)
        rows[m] = choice->options[m]->row;
    *out = (dt__candidate){
        .n_mesh_dims = n,
        .inputs = (const dt_placement *const *)inputs,
        .moved = (const dt_placement *const *)moved,
        .outputs = (const dt_placement *const *)outputs,
        .rows = rows,
        .input_us = input_us,
        .way = self->prices.way,
        .cost_us = cost_us,
        .finish_us = finish_us,
        .repeated_work = dt__choice_repeated_work(choice),
        .flags = dt__choice_flags(choice),
    };
    return DT_OK;
}

/* All mesh dims have their option. */
static dt_status consider_choice(dt__row_search *self) {
    const dt__search_goal *goal = &self->goal;
    const dt__row_choice *choice = &self->choice;
    dt__candidate one;
    double us;
    bool fits;
    if ((goal->sends_nothing && !dt__choice_moves_locally(choice)) ||
        (goal->finishes && dt__choice_repeated_work(choice) > goal->max_work))
        return DT_OK;
    double finish_us = dt__choice_finish_us(choice, choice->on->n_mesh_dims), extra = goal->finishes ? finish_us : 0;
    DT__TRY(dt__choice_price_below(&self->prices, extra, price_limit(self), &us));
    if (isinf(us) || (goal->sends_nothing && self->prices.way.bytes > 0))
        return DT_OK;
    dt_placement **outputs = dt__placement_lists_new(choice->arena, choice->call->n_outputs, choice->on->n_mesh_dims);
    if (!outputs)
        return DT_ERR_MEMORY;
    DT__TRY(dt__choice_outputs(choice, outputs, &fits));
    if (!fits || (dt__call_writes(choice->call) && !dt__choice_keeps_written(choice, outputs)))
        return DT_OK;
    DT__TRY(make_candidate(self, outputs, us, finish_us, &one));
    insert(self, us + extra, &one);
    return DT_OK;
}

/* One tensor may have partials of sum and avg together, but of no other two reductions. */
static bool has_mixed_reductions(unsigned kinds) {
    unsigned linear = 1u << DT_SUM | 1u << DT_AVG;
    return kinds & ~linear ? (kinds & (kinds - 1)) != 0 : false;
}

/* Whether no tensor gets mixed reductions by the option of mesh dim m. */
static bool add_kinds(dt__row_search *self, int m) {
    int n_entries = self->choice.call->n_inputs + self->choice.call->n_outputs;
    unsigned char *kinds = self->kinds + (int64_t)(m + 1) * n_entries;
    const unsigned char *before = kinds - n_entries;
    for (int e = 0; e < n_entries; e++) {
        dt_row_entry row_entry = dt__choice_entry(&self->choice, m, e);
        kinds[e] = before[e];
        if (row_entry < 0)
            kinds[e] |= (unsigned char)(1u << (-1 - row_entry));
        if (has_mixed_reductions(kinds[e]))
            return false;
    }
    return true;
}

/* Next to windows, mesh dims that need not change stay as they are. */
static bool strays_beside_windows(const dt__row_search *self, int m) {
    bool windows = false, strays = false;
    for (int other = 0; other <= m; other++) {
        windows |= dt__choice_row_flags(&self->choice, other) & DT_ROW_WINDOW;
        strays |= self->choice.options[other]->strays;
    }
    return windows && strays;
}

/* Whether something must be sent once mesh dim m has its option. A window may need nothing, which is known only when
 * all mesh dims are decided. */
static bool must_send(const dt__row_search *self, int m) {
    bool exchanges = dt__choice_row_flags(&self->choice, m) & DT__ROW_STATES && self->choice.on->mesh[m] > 1;
    return exchanges || dt__choice_must_send(&self->prices, m);
}

/* A lower bound of the price once mesh dim m has its option. */
static double price_bound(dt__row_search *self, int m) {
    double us = fmax(dt__choice_bound(&self->prices, m), self->goal.min_us);
    return self->goal.finishes ? us + dt__choice_finish_us(&self->choice, m + 1) : us;
}

static dt_status search_from(dt__row_search *self, int m) {
    if (m == self->choice.on->n_mesh_dims)
        return consider_choice(self);
    for (int o = 0; o < self->n_options[m] && self->n_nodes < MAX_NODES; o++) {
        self->choice.options[m] = &self->options[m][o];
        self->n_nodes++;
        if (!dt__is_cheaper(price_bound(self, m), price_limit(self)) || !add_kinds(self, m) ||
            strays_beside_windows(self, m) || (self->goal.sends_nothing && must_send(self, m)))
            continue;
        DT__TRY(search_from(self, m + 1));
    }
    return DT_OK;
}

static bool is_ordered(const dt__placed_inputs *on, int i) {
    for (int m = 0; m < on->n_mesh_dims; m++)
        if (on->inputs[i]->placements[m].ordered)
            return true;
    return false;
}

/* With every order of shards that an input has. */
dt_status dt__row_search_run(dt__row_search *self, const dt__search_goal *goal, int max) {
    const dt__placed_inputs *on = self->choice.on;
    self->goal = *goal;
    self->found.max = max;
    self->found.n = 0;
    self->n_nodes = 0;
    self->choice.order = NULL;
    DT__TRY(search_from(self, 0));
    for (int i = 0; i < self->choice.call->n_inputs; i++)
        if (is_ordered(on, i)) {
            self->choice.order = on->inputs[i]->placements;
            DT__TRY(search_from(self, 0));
        }
    self->choice.arena->ctx->n_capped += self->n_nodes >= MAX_NODES;
    return DT_OK;
}
