/* SPDX-License-Identifier: Apache-2.0
 *
 * Placement selection: one row per mesh dim. A combination of rows that sends nothing is selected before any that
 * sends; of those that send, the one for which moving the inputs and reducing the partial outputs later costs the
 * least (finish_us), but none that repeats more of the work (repeated_work) than the one that costs the least to move.
 *
 * Mesh dims interact (what one of them shards, another has less of; steps are joined), so the minimum-cost planner
 * prices a combination as a whole, and the search is branch and bound over mesh dims, with the bound of cost_bound.h.
 * A first round by the bounds alone finds a good combination, whose price is an upper bound. Several shards of one
 * tensor dim may come in any order that an input has.
 */
#include "base/dtype.h"
#include "rules/cost_bound.h"
#include "rules/move_prices.h"
#include "rules/row_options.h"
#include "rules/ways.h"

#include <math.h>
#include <string.h>

/* After so many combinations the search ends with the best so far. Only meshes of many dims with inputs whose
 * placements conflict get there. */
enum { MAX_NODES = 1 << 20 };

typedef struct priced_candidate {
    double us;
    dt__candidate candidate;
} priced_candidate;

typedef struct search {
    dt__arena *arena;
    const dt_op_call *call;
    const dt__placed_inputs *on;
    int n_mesh_dims, n_inputs, n_entries;
    const int *n_options; /* per mesh dim */
    dt__row_option *const *options;
    const dt_placement *order;     /* shards are ordered as in these placements; NULL: from left to right */
    const dt__row_option **chosen; /* per mesh dim */
    bool *may_cut;                 /* [input, mesh dim]: some row shards it there */
    dt__cost_bound *bounds;        /* [mesh dims decided, input] */
    dt__least_starts starts;
    unsigned char *kinds; /* [mesh dim, entry]: reductions of partials so far, by bits */
    dt__move_prices prices;
    dt_placement *target;             /* scratch: n_mesh_dims */
    double *spent;                    /* scratch: per input */
    dt__way way;                      /* scratch: of the combination */
    dt_placement **placed;            /* scratch: n_entries lists */
    const dt__row **rows;             /* scratch: per mesh dim */
    double *source_bytes;             /* per input: of a local tensor, about */
    bool approximate;                 /* prices are lower bounds */
    bool sends_nothing;               /* combinations that send are not searched for */
    bool finishes;                    /* prices include finish_us */
    double max_work;                  /* combinations that repeat more of the work are not searched for */
    double min_us;                    /* no combination costs less to move */
    double ceiling;                   /* candidates that cost no less are not searched for */
    const dt__row_option **winner;    /* per mesh dim: the best by approximate prices, */
    const dt_placement *winner_order; /* and its order of shards */
    int64_t n_nodes;
    int max_found, n_found;
    priced_candidate *found; /* the cheapest first */
} search;

/* The place of a mesh dim among those that shard: by the order that is followed, else from left to right. */
static int rank_of(const search *self, int m) {
    return self->order && dt__is_cut(&self->order[m]) ? self->order[m].position : m;
}

static bool shard_same_dim(const dt_placement *a, const dt_placement *b) {
    return dt__is_cut(a) && dt__is_cut(b) && a->dim == b->dim;
}

/* Sets positions, as normalised placements have them. */
static void set_positions(const search *self, dt_placement *placements) {
    int n = self->n_mesh_dims;
    for (int m = 0; m < n; m++)
        for (int other = 0; other < m; other++)
            if (shard_same_dim(&placements[m], &placements[other]))
                placements[rank_of(self, other) <= rank_of(self, m) ? m : other].position++;
    for (int m = 0; m < n && self->order; m++)
        for (int other = 0; other < n; other++)
            for (int third = 0; third < other; third++)
                if (shard_same_dim(&placements[m], &placements[other]) &&
                    shard_same_dim(&placements[m], &placements[third]))
                    placements[m].ordered |= placements[third].position > placements[other].position;
}

/* The placement of an input that a row shards. Windows are fetched from shards of any kind. */
static dt_placement shard_of(const search *self, int m, int i) {
    const dt__row_option *option = self->chosen[m];
    dt_placement current = self->on->inputs[i]->placements[m];
    bool stays = option->row && option->row->flags & DT_ROW_WINDOW && dt__is_cut(&current) &&
                 option->row->entries[i] == DT_ROW_S(current.dim);
    current.position = 0;
    current.ordered = false;
    return stays ? current : dt__row_option_placement(option, i);
}

/* The placements to which input i is redistributed for the chosen options. */
static void find_target(const search *self, int i, dt_placement *out) {
    const dt_placement *current = self->on->inputs[i]->placements;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        dt_row_entry row_entry = dt__row_option_entry(self->chosen[m], i);
        if (row_entry < 0) /* Replicate, of which each rank makes the partial, unless the input is one */
            out[m] = dt__is_partial_of(&current[m], row_entry) ? current[m] : dt_placement_replicate();
        else
            out[m] = shard_of(self, m, i);
    }
    set_positions(self, out);
}

/* A dim with explicit extents is sharded by one mesh dim only. */
static bool is_possible(int n, const dt_placement *placements) {
    for (int m = 0; m < n; m++)
        for (int other = 0; other < n && placements[m].n_extents; other++)
            if (other != m && dt__is_cut(&placements[other]) && placements[other].dim == placements[m].dim)
                return false;
    return true;
}

/* The price of input i's target if it is below `limit`, otherwise some number that is not; a lower bound while prices
 * are approximate. */
static dt_status price_input(search *self, int i, double limit, double *us) {
    find_target(self, i, self->target);
    *us = 0;
    if (dt__same_placements(self->n_mesh_dims, self->target, self->on->inputs[i]->placements))
        return DT_OK;
    *us = INFINITY;
    if (!is_possible(self->n_mesh_dims, self->target))
        return DT_OK;
    if (!self->approximate)
        return dt__move_price_below(&self->prices, i, self->target, limit, us);
    *us = dt__cost_bound_us(self->on->machine, &self->bounds[(int64_t)self->n_mesh_dims * self->n_inputs + i]);
    return DT_OK;
}

/* The cost of making partials of Replicate where that takes writing zeros or ones. */
static double filling_us(const search *self, int i) {
    const dt_op_value *value = &self->call->inputs[i];
    double bytes = (double)dt_dtype_size(value->dtype);
    bool fills = false;
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < self->n_mesh_dims; m++) {
        dt_row_entry row_entry = dt__row_option_entry(self->chosen[m], i);
        if (row_entry > 0)
            bytes /= (double)self->on->mesh[m];
        else if (row_entry == DT_ROW_P(DT_SUM) || row_entry == DT_ROW_P(DT_PRODUCT))
            fills |= !dt__is_partial_of(&self->on->inputs[i]->placements[m], row_entry);
    }
    return fills ? bytes / self->on->machine->copy_bytes_per_us : 0;
}

/* The placements of an input or output as the rows have them. */
static void find_placements(const search *self, int entry, dt_placement *out) {
    for (int m = 0; m < self->n_mesh_dims; m++) {
        const dt_placement *current = entry < self->n_inputs ? &self->on->inputs[entry]->placements[m] : NULL;
        dt_row_entry row_entry = dt__row_option_entry(self->chosen[m], entry);
        if (current && row_entry < 0 && dt__is_partial_of(current, row_entry))
            out[m] = *current;
        else
            out[m] = current ? shard_of(self, m, entry) : dt__row_option_placement(self->chosen[m], entry);
    }
    set_positions(self, out);
}

/* A kernel that needs its offset, and a scan, needs a contiguous run of each sharded dim. */
static bool is_contiguous(const search *self, const dt__row *row) {
    for (int i = 0; i < self->n_inputs; i++) {
        if (row->entries[i] <= 0)
            continue;
        for (int m = 0; m < self->n_mesh_dims; m++)
            if (dt__row_option_entry(self->chosen[m], i) == row->entries[i] && self->chosen[m]->cut &&
                self->chosen[m]->cut->kind == DT_PLACEMENT_STRIDED)
                return false;
    }
    return true;
}

/* Windows follow from the offsets and sizes of outputs. */
static bool has_plain_outputs(const search *self) {
    for (int m = 0; m < self->n_mesh_dims; m++)
        for (int e = self->n_inputs; e < self->n_entries; e++)
            if (dt__row_option_placement(self->chosen[m], e).kind == DT_PLACEMENT_STRIDED)
                return false;
    return true;
}

/* A dim of an input that is fetched is sharded by rows that use windows only: others rely on their shards. */
static bool is_windowed(const search *self, const dt__row *row) {
    for (int i = 0; i < self->n_inputs; i++)
        for (int m = 0; m < self->n_mesh_dims && row->entries[i] > 0; m++)
            if (dt__row_option_entry(self->chosen[m], i) == row->entries[i] &&
                !(self->chosen[m]->row->flags & DT_ROW_WINDOW))
                return false;
    return true;
}

static unsigned flags_of(const search *self) {
    unsigned flags = 0;
    for (int m = 0; m < self->n_mesh_dims; m++)
        flags |= self->chosen[m]->row ? self->chosen[m]->row->flags : 0;
    return flags;
}

static dt_status reshape_outputs(search *self, dt_placement *const *out, bool *fits) {
    const dt_op_value *value = &self->call->inputs[0];
    dt_placement input[DT_SPEC_MAX_DIMS];
    dt__sharding from;
    find_placements(self, 0, input);
    *fits = is_possible(self->n_mesh_dims, input);
    if (!*fits)
        return DT_OK;
    DT__TRY(dt__sharding_of_value(self->arena, self->on, value, input, &from));
    for (int o = 0; o < self->call->n_outputs && *fits; o++) {
        const dt_op_value *output = &self->call->outputs[o];
        dt_placement mapped[DT_SPEC_MAX_DIMS];
        dt__sharding_desc desc = {
            .n_mesh_dims = self->n_mesh_dims,
            .mesh = self->on->mesh,
            .n_dims = output->n_dims,
            .shape = output->shape,
            .n_placements = self->n_mesh_dims,
            .placements = mapped,
        };
        DT__TRY(dt__reshape_placements(self->arena, &from, output->n_dims, output->shape, mapped, fits));
        if (*fits)
            DT__TRY(dt__placements_normalise(self->arena->ctx, &desc, out[o]));
    }
    return DT_OK;
}

/* Placements of the outputs; *fits is false where the outputs cannot have them. */
static dt_status find_outputs(search *self, dt_placement *const *out, bool *fits) {
    unsigned flags = flags_of(self);
    *fits = true;
    for (int m = 0; m < self->n_mesh_dims && *fits; m++) {
        unsigned of_row = self->chosen[m]->row ? self->chosen[m]->row->flags : 0;
        if (of_row & (DT_ROW_OFFSET | DT_ROW_SCAN))
            *fits = is_contiguous(self, self->chosen[m]->row);
        if (of_row & DT_ROW_WINDOW)
            *fits = has_plain_outputs(self) && is_windowed(self, self->chosen[m]->row);
    }
    if (flags & DT_ROW_RESHAPE && *fits)
        return reshape_outputs(self, out, fits);
    for (int o = 0; o < self->call->n_outputs && *fits; o++) {
        find_placements(self, self->n_inputs + o, out[o]);
        *fits = is_possible(self->n_mesh_dims, out[o]);
    }
    return DT_OK;
}

/* Tensors that are written keep their placements, as inputs and where they are outputs. */
static bool keeps_written(const search *self, dt_placement *const *outputs) {
    for (int i = 0; i < self->n_inputs; i++) {
        if (!dt__writes_input(self->call, i))
            continue;
        find_target(self, i, self->target);
        if (!dt__same_placements(self->n_mesh_dims, self->target, self->on->inputs[i]->placements))
            return false;
    }
    for (int o = 0; o < self->call->n_outputs; o++) {
        int input = dt__output_input(self->call, o);
        if (input >= 0 && !dt__same_placements(self->n_mesh_dims, outputs[o], self->on->inputs[input]->placements))
            return false;
    }
    return true;
}

static dt_placement **new_lists(dt__arena *arena, int n_lists, int n) {
    dt_placement **lists = DT__NEW_ARRAY(arena, dt_placement *, n_lists + 1);
    dt_placement *all = DT__NEW_ARRAY(arena, dt_placement, n_lists * n + 1);
    for (int i = 0; i < n_lists && lists && all; i++)
        lists[i] = all + (int64_t)i * n;
    return all ? lists : NULL;
}

/* The bytes of an output on one rank, about; mesh dims that are not decided count as cutting it. */
static double output_bytes(const search *self, int o, int n_decided) {
    const dt_op_value *value = &self->call->outputs[o];
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < self->n_mesh_dims; m++)
        if (m >= n_decided || dt__row_option_entry(self->chosen[m], self->n_inputs + o) > 0)
            bytes /= (double)self->on->mesh[m];
    return bytes;
}

/* Whether the op makes this partial sum of inputs that are not partial. */
static bool makes_partial_sum(const search *self, int o, int m) {
    bool made = dt__row_option_entry(self->chosen[m], self->n_inputs + o) == DT_ROW_P(DT_SUM);
    for (int i = 0; i < self->n_inputs && made; i++)
        made = dt__row_option_entry(self->chosen[m], i) >= 0;
    return made;
}

/* What the partial outputs will cost to reduce, at least: the bandwidth of reduce-scatters, of all-reduces where there
 * is no dim to scatter, groups within a host first, without start-up. Views and in-place ops only pass on a partial.
 * Partial sums in f16 and bf16 are rounded before they are added: an op that makes one is charged a whole all-reduce,
 * so that it does so only where that pays. A lower bound while not all mesh dims are decided. */
static double finish_us(const search *self, int n_decided) {
    const dt__machine *machine = self->on->machine;
    double us = 0;
    if (self->call->op->flags & DT_OP_VIEW || dt__call_writes(self->call))
        return 0;
    for (int o = 0; o < self->call->n_outputs; o++) {
        double bytes = output_bytes(self, o, n_decided);
        bool scatters = self->call->outputs[o].n_dims > 0, is_half = dt__is_half(self->call->outputs[o].dtype);
        for (int link = DT__WITHIN; link < DT__N_LINKS; link++)
            for (int m = 0; m < n_decided; m++) {
                int64_t group = self->on->mesh[m];
                bool far = dt__machine_spans_hosts(machine, self->n_mesh_dims, self->on->mesh, m);
                bool is_partial = dt__row_option_entry(self->chosen[m], self->n_inputs + o) < 0;
                if (!is_partial || group == 1 || far != (link == DT__BETWEEN))
                    continue;
                dt__step_desc reduction = {.kind = scatters ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE,
                                           .group = group,
                                           .ranks = dt__mesh_ranks(self->n_mesh_dims, self->on->mesh),
                                           .spans_hosts = far,
                                           .before_bytes = bytes,
                                           .after_bytes = bytes};
                dt__step_desc all_reduce = reduction;
                all_reduce.kind = DT__STEP_ALL_REDUCE;
                us += is_half && makes_partial_sum(self, o, m) ? dt__machine_price(machine, &all_reduce)
                                                               : dt__machine_reduction_us(machine, &reduction);
                bytes /= scatters ? (double)group : 1;
            }
    }
    return us;
}

/* How many ranks repeat the same work although an input was distributed over them. */
static double repeated_work(const search *self) {
    double work = 1;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        bool repeats = true, was_distributed = false;
        for (int i = 0; i < self->n_inputs && repeats; i++) {
            const dt_placement *current = &self->on->inputs[i]->placements[m];
            dt_row_entry entry = dt__row_option_entry(self->chosen[m], i);
            repeats = entry <= 0 && !dt__is_partial_of(current, entry);
            was_distributed |= !dt_placement_is_replicate(*current);
        }
        work *= repeats && was_distributed ? (double)self->on->mesh[m] : 1;
    }
    return work;
}

/* What the rows of the combination exchange. */
static dt_status find_way(search *self) {
    bool communicates = false;
    self->way = (dt__way){.group = 1};
    for (int m = 0; m < self->n_mesh_dims; m++) {
        self->rows[m] = self->chosen[m]->row;
        communicates |= self->rows[m] && self->rows[m]->flags & DT__ROW_WAYS;
    }
    if (!communicates)
        return DT_OK;
    for (int e = 0; e < self->n_entries; e++) {
        find_placements(self, e, self->placed[e]);
        if (!is_possible(self->n_mesh_dims, self->placed[e])) {
            self->way.us = INFINITY;
            return DT_OK;
        }
    }
    dt__combination combination = {self->on, self->rows, (const dt_placement *const *)self->placed,
                                   (const dt_placement *const *)self->placed + self->n_inputs};
    dt__arena_mark mark = dt__arena_begin(self->arena);
    dt_status status = dt__way_of(self->arena, self->call, &combination, &self->way);
    dt__arena_rewind(self->arena, mark);
    return status;
}

/* The combination as a candidate, whose price is us. */
static dt_status make_candidate(search *self, dt_placement *const *outputs, double us, dt__candidate *out) {
    double finish = finish_us(self, self->n_mesh_dims);
    int n = self->n_mesh_dims;
    dt_placement **inputs = new_lists(self->arena, self->n_inputs, n);
    dt_placement **moved = new_lists(self->arena, self->n_inputs, n);
    const dt__row **rows = DT__NEW_ARRAY(self->arena, const dt__row *, n + 1);
    const double *input_us = dt__arena_copy(self->arena, self->spent, (size_t)self->n_inputs, sizeof *input_us);
    if (!inputs || !moved || !rows || !input_us)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->n_inputs; i++) {
        find_placements(self, i, inputs[i]);
        find_target(self, i, moved[i]);
    }
    for (int m = 0; m < n; m++)
        rows[m] = self->chosen[m]->row;
    *out = (dt__candidate){
        .n_mesh_dims = n,
        .inputs = (const dt_placement *const *)inputs,
        .moved = (const dt_placement *const *)moved,
        .outputs = (const dt_placement *const *)outputs,
        .rows = rows,
        .input_us = input_us,
        .way = self->way,
        .cost_us = us - (self->finishes ? finish : 0),
        .finish_us = finish,
        .repeated_work = repeated_work(self),
        .flags = flags_of(self),
    };
    return DT_OK;
}

static double price_limit(const search *self) {
    return self->n_found < self->max_found ? self->ceiling : self->found[self->n_found - 1].us;
}

static bool is_same(const search *self, const dt__candidate *a, const dt__candidate *b) {
    bool same = !memcmp(a->rows, b->rows, (size_t)self->n_mesh_dims * sizeof(*a->rows));
    for (int i = 0; i < self->n_inputs && same; i++)
        same = dt__same_placements(self->n_mesh_dims, a->inputs[i], b->inputs[i]);
    return same;
}

static bool is_found(const search *self, const dt__candidate *one) {
    for (int f = 0; f < self->n_found; f++)
        if (is_same(self, &self->found[f].candidate, one))
            return true;
    return false;
}

static void insert(search *self, double us, const dt__candidate *one) {
    int at = self->n_found;
    while (at > 0 && dt__is_cheaper(us, self->found[at - 1].us))
        at--;
    int last = self->n_found < self->max_found ? self->n_found++ : self->n_found - 1;
    memmove(&self->found[at + 1], &self->found[at], (size_t)(last - at) * sizeof *self->found);
    self->found[at] = (priced_candidate){us, *one};
    if (self->approximate) {
        memcpy(self->winner, self->chosen, (size_t)self->n_mesh_dims * sizeof(*self->chosen));
        self->winner_order = self->order;
    }
}

static bool same_cut(const dt_placement *a, const dt_placement *b) {
    dt_placement moved = *a;
    moved.position = b->position;
    moved.ordered = b->ordered;
    return dt_placement_equal(&moved, b);
}

/* The mesh dims of more than one rank that cut a dim, in their order. */
static int list_cuts(const search *self, const dt_placement *placements, int dim, int *out) {
    int n = 0;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        if (!dt__is_cut(&placements[m]) || placements[m].dim != dim || self->on->mesh[m] == 1)
            continue;
        int at = n++;
        for (; at > 0 && placements[out[at - 1]].position > placements[m].position; at--)
            out[at] = out[at - 1];
        out[at] = m;
    }
    return n;
}

/* Whether each rank holds all of its new shard: what cut a dim before still cuts it first, in the same way. The bounds
 * have excluded shards that are gathered or moved and partials that are reduced. */
static bool is_local_move(const search *self, int i, const dt_placement *target) {
    const dt_placement *current = self->on->inputs[i]->placements;
    int before[DT_SPEC_MAX_DIMS], after[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < self->call->inputs[i].n_dims; d++) {
        int n_before = list_cuts(self, current, d, before), n_after = list_cuts(self, target, d, after);
        if (n_before > n_after)
            return false;
        for (int c = 0; c < n_before; c++)
            if (before[c] != after[c] || !same_cut(&current[before[c]], &target[after[c]]))
                return false;
    }
    return true;
}

static bool sends_nothing(search *self) {
    for (int i = 0; i < self->n_inputs; i++) {
        find_target(self, i, self->target);
        if (!dt__same_placements(self->n_mesh_dims, self->target, self->on->inputs[i]->placements) &&
            !is_local_move(self, i, self->target))
            return false;
    }
    return true;
}

/* The price of all inputs, or infinity as soon as it reaches the limit; bounds replace the prices of inputs that are
 * not priced yet. */
static dt_status price_all(search *self, double *us) {
    const dt__cost_bound *bounds = self->bounds + (int64_t)self->n_mesh_dims * self->n_inputs;
    double rest = 0;
    for (int i = 0; i < self->n_inputs; i++)
        rest += dt__cost_bound_us(self->on->machine, &bounds[i]) + filling_us(self, i);
    DT__TRY(find_way(self));
    *us = self->way.us + (self->finishes ? finish_us(self, self->n_mesh_dims) : 0);
    if (!dt__is_cheaper(*us + rest, price_limit(self))) {
        *us = INFINITY;
        return DT_OK;
    }
    for (int i = 0; i < self->n_inputs; i++) {
        double filling = filling_us(self, i);
        rest -= dt__cost_bound_us(self->on->machine, &bounds[i]) + filling;
        DT__TRY(price_input(self, i, price_limit(self) - *us - rest - filling, &self->spent[i]));
        *us += self->spent[i] + filling;
        if (!dt__is_cheaper(*us + rest, price_limit(self))) {
            *us = INFINITY;
            return DT_OK;
        }
    }
    return DT_OK;
}

/* All mesh dims have their option. */
static dt_status consider_candidate(search *self) {
    double us;
    bool fits;
    dt__candidate one;
    if ((self->sends_nothing && !sends_nothing(self)) || (self->finishes && repeated_work(self) > self->max_work))
        return DT_OK;
    DT__TRY(price_all(self, &us));
    if (isinf(us) || (self->sends_nothing && self->way.bytes > 0))
        return DT_OK;
    dt_placement **outputs = new_lists(self->arena, self->call->n_outputs, self->n_mesh_dims);
    if (!outputs)
        return DT_ERR_MEMORY;
    DT__TRY(find_outputs(self, outputs, &fits));
    if (!fits || (dt__call_writes(self->call) && !keeps_written(self, outputs)))
        return DT_OK;
    DT__TRY(make_candidate(self, outputs, us, &one));
    if (self->max_found == 1 || !is_found(self, &one))
        insert(self, us, &one);
    return DT_OK;
}

/* One tensor may have partials of sum and avg together, but of no other two reductions. */
static bool has_mixed_reductions(unsigned kinds) {
    unsigned linear = 1u << DT_SUM | 1u << DT_AVG;
    return kinds & ~linear ? (kinds & (kinds - 1)) != 0 : false;
}

static bool add_kinds(search *self, int m, const dt__row_option *one) {
    unsigned char *kinds = self->kinds + (int64_t)(m + 1) * self->n_entries;
    const unsigned char *before = kinds - self->n_entries;
    for (int e = 0; e < self->n_entries; e++) {
        dt_row_entry row_entry = dt__row_option_entry(one, e);
        kinds[e] = before[e];
        if (row_entry < 0)
            kinds[e] |= (unsigned char)(1u << (-1 - row_entry));
        if (has_mixed_reductions(kinds[e]))
            return false;
    }
    return true;
}

/* A lower bound of the price of all inputs once mesh dim m has this option. */
static double decide_mesh_dim(search *self, int m, const dt__row_option *one) {
    const dt__cost_bound *before = self->bounds + (int64_t)m * self->n_inputs;
    dt__cost_bound *after = self->bounds + (int64_t)(m + 1) * self->n_inputs;
    double us = 0;
    for (int i = 0; i < self->n_inputs; i++) {
        bool may_cut = self->may_cut[i * self->n_mesh_dims + m];
        dt__cost_bound_decide(self->on, i, m, may_cut, dt__row_option_entry(one, i), &before[i], &after[i]);
        us += dt__cost_bound_us(self->on->machine, &after[i]);
    }
    return us;
}

/* Whether some input has to be gathered, moved or reduced, once mesh dim m is decided. */
static bool must_send(const search *self, int m) {
    const dt__cost_bound *bounds = self->bounds + (int64_t)(m + 1) * self->n_inputs;
    for (int i = 0; i < self->n_inputs; i++)
        if (bounds[i].kinds)
            return true;
    return false;
}

/* A window may need nothing, which shows once all mesh dims are decided. */
static bool exchanges_states(const search *self, int m) {
    const dt__row *row = self->chosen[m]->row;
    return row && row->flags & DT__ROW_STATES && self->on->mesh[m] > 1;
}

/* Beside windows, mesh dims that need not change stay as they are. */
static bool strays_beside_windows(const search *self, int m) {
    bool windows = false, strays = false;
    for (int other = 0; other <= m; other++) {
        const dt__row_option *option = self->chosen[other];
        windows |= option->row && option->row->flags & DT_ROW_WINDOW;
        strays |= option->strays;
    }
    return windows && strays;
}

/* A lower bound of the price once mesh dim m has its option. */
static double price_bound(search *self, int m) {
    double us = fmax(decide_mesh_dim(self, m, self->chosen[m]), self->min_us);
    return self->finishes ? us + finish_us(self, m + 1) : us;
}

static dt_status search_from(search *self, int m) {
    if (m == self->n_mesh_dims)
        return consider_candidate(self);
    for (int o = 0; o < self->n_options[m] && self->n_nodes < MAX_NODES; o++) {
        self->chosen[m] = &self->options[m][o];
        self->n_nodes++;
        if (!dt__is_cheaper(price_bound(self, m), price_limit(self)) || !add_kinds(self, m, self->chosen[m]) ||
            strays_beside_windows(self, m) ||
            (self->sends_nothing && (must_send(self, m) || exchanges_states(self, m))))
            continue;
        DT__TRY(search_from(self, m + 1));
    }
    return DT_OK;
}

static double local_bytes(const search *self, int i) {
    const dt_op_value *value = &self->call->inputs[i];
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < self->n_mesh_dims; m++)
        if (dt__is_cut(&self->on->inputs[i]->placements[m]))
            bytes /= (double)self->on->mesh[m];
    return bytes;
}

static void begin_bounds(search *self, const dt__row_list *rows) {
    dt__least_starts_find(self->on, &self->starts);
    for (int i = 0; i < self->n_inputs; i++) {
        bool *may_cut = &self->may_cut[i * self->n_mesh_dims];
        for (int r = 0; r < rows->n_rows; r++)
            for (int m = 0; m < self->n_mesh_dims && rows->rows[r].entries[i] > 0; m++)
                may_cut[m] = true;
        dt__cost_bound_begin(self->on, i, &self->call->inputs[i], may_cut, &self->starts, &self->bounds[i]);
    }
}

static dt_status prepare(search *self) {
    dt__row_list rows;
    int n = self->n_mesh_dims;
    int *n_options = DT__NEW_ARRAY(self->arena, int, n + 1);
    dt__row_option **options = DT__NEW_ARRAY(self->arena, dt__row_option *, n + 1);
    self->chosen = DT__NEW_ARRAY(self->arena, const dt__row_option *, n + 1);
    self->winner = DT__NEW_ARRAY(self->arena, const dt__row_option *, n + 1);
    self->may_cut = DT__NEW_ARRAY(self->arena, bool, n * self->n_inputs);
    self->bounds = DT__NEW_ARRAY(self->arena, dt__cost_bound, (n + 1) * self->n_inputs);
    self->source_bytes = DT__NEW_ARRAY(self->arena, double, self->n_inputs);
    self->kinds = DT__NEW_ARRAY(self->arena, unsigned char, (n + 1) * self->n_entries);
    self->target = DT__NEW_ARRAY(self->arena, dt_placement, n + 1);
    self->spent = DT__NEW_ARRAY(self->arena, double, self->n_inputs);
    self->found = DT__NEW_ARRAY(self->arena, priced_candidate, self->max_found + 1);
    self->placed = new_lists(self->arena, self->n_entries, n);
    self->rows = DT__NEW_ARRAY(self->arena, const dt__row *, n + 1);
    if (!self->placed || !self->rows || !n_options || !options || !self->chosen || !self->winner || !self->may_cut ||
        !self->bounds || !self->source_bytes || !self->kinds || !self->target || !self->spent || !self->found)
        return DT_ERR_MEMORY;
    self->n_options = n_options;
    self->options = options;
    DT__TRY(dt__move_prices_begin(self->arena, self->call, self->on, &self->prices));
    DT__TRY(dt__op_call_rows(self->arena, self->call, &rows));
    for (int i = 0; i < self->n_inputs; i++)
        self->source_bytes[i] = local_bytes(self, i);
    for (int m = 0; m < n; m++)
        DT__TRY(dt__row_options_list(self->arena, self->call, self->on, &rows, m, self->source_bytes, &options[m],
                                     &n_options[m]));
    begin_bounds(self, &rows);
    return DT_OK;
}

static bool is_ordered(const search *self, int i) {
    for (int m = 0; m < self->n_mesh_dims; m++)
        if (self->on->inputs[i]->placements[m].ordered)
            return true;
    return false;
}

/* All combinations, with every order of shards that an input has. */
static dt_status search_all(search *self) {
    self->order = NULL;
    DT__TRY(search_from(self, 0));
    for (int i = 0; i < self->n_inputs; i++)
        if (is_ordered(self, i)) {
            self->order = self->on->inputs[i]->placements;
            DT__TRY(search_from(self, 0));
        }
    return DT_OK;
}

/* The price of the winner by approximate prices. */
static dt_status price_winner(search *self, double *us) {
    self->order = self->winner_order;
    memcpy(self->chosen, self->winner, (size_t)self->n_mesh_dims * sizeof(*self->chosen));
    for (int m = 0; m < self->n_mesh_dims; m++)
        decide_mesh_dim(self, m, self->chosen[m]);
    return price_all(self, us);
}

static dt_status search_below(search *self, int max_found, double ceiling) {
    self->max_found = max_found;
    self->n_found = 0;
    self->n_nodes = 0;
    self->ceiling = ceiling;
    DT__TRY(search_all(self));
    self->arena->ctx->n_capped += self->n_nodes >= MAX_NODES;
    return DT_OK;
}

/* A little above a price that is known, so that it is found again in spite of rounding. */
static double just_above(double us) { return us * (1 + 1e-6) + 1e-6; }

/* The cheapest by the prices that are set: first with approximate ones; the price of their winner bounds the best, so
 * that few prices must be exact. */
static dt_status find_cheapest(search *self) {
    double us;
    self->approximate = true;
    DT__TRY(search_below(self, 1, INFINITY));
    self->approximate = false;
    if (self->n_found == 0)
        return DT_OK;
    self->n_found = 0;
    DT__TRY(price_winner(self, &us));
    return search_below(self, 1, just_above(us));
}

/* Replaces the cheapest candidate if it repeats more of the work than the one that is cheapest to move. */
static dt_status limit_work(search *self) {
    const dt__candidate cheapest = self->found[0].candidate;
    self->finishes = false;
    DT__TRY(search_below(self, 1, just_above(cheapest.cost_us)));
    const dt__candidate moved = self->found[0].candidate;
    if (cheapest.repeated_work <= moved.repeated_work) {
        self->found[0].candidate = cheapest;
        return DT_OK;
    }
    self->finishes = true;
    self->max_work = moved.repeated_work;
    self->min_us = moved.cost_us;
    DT__TRY(search_below(self, 1, just_above(moved.cost_us + moved.finish_us)));
    self->max_work = INFINITY;
    self->min_us = 0;
    return DT_OK;
}

/* Leaves the selected candidate in `found`, if there is one. */
static dt_status select_candidate(search *self) {
    self->sends_nothing = true;
    DT__TRY(find_cheapest(self));
    self->sends_nothing = false;
    if (self->n_found)
        return DT_OK;
    self->finishes = true;
    self->max_work = INFINITY;
    DT__TRY(find_cheapest(self));
    return self->n_found == 0 || self->found[0].candidate.repeated_work == 1 ? DT_OK : limit_work(self);
}

/* Appends the cheapest by the prices that are set, without those that are listed already. */
static dt_status append_cheapest(search *self, int max, dt__candidate *out, int *n) {
    DT__TRY(search_below(self, max, INFINITY));
    for (int f = 0; f < self->n_found && *n < max; f++) {
        bool listed = false;
        for (int c = 0; c < *n && !listed; c++)
            listed = is_same(self, &out[c], &self->found[f].candidate);
        if (!listed)
            out[(*n)++] = self->found[f].candidate;
    }
    return DT_OK;
}

static dt_status refuse(const search *self) {
    char text[160] = "";
    if (self->n_inputs)
        dt_placements_text(self->n_mesh_dims, self->on->inputs[0]->placements, sizeof text, text);
    return dt_op_refuse(self->call, DT_ERR_PLACEMENT,
                        "an in-place op cannot keep the placements %s of its first tensor; redistribute it first",
                        text);
}

dt_status dt__list_candidates(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on, int max,
                              dt__candidate *out, int *n) {
    search self = {
        .arena = arena,
        .call = call,
        .on = on,
        .n_mesh_dims = on->n_mesh_dims,
        .n_inputs = call->n_inputs,
        .n_entries = call->n_inputs + call->n_outputs,
        .max_found = max,
    };
    DT__TRY(prepare(&self));
    DT__TRY(select_candidate(&self));
    if (self.n_found == 0)
        return refuse(&self);
    out[0] = self.found[0].candidate;
    *n = 1;
    if (max == 1)
        return DT_OK;
    self.sends_nothing = true;
    self.finishes = false;
    DT__TRY(append_cheapest(&self, max, out, n));
    self.sends_nothing = false;
    self.finishes = true;
    self.max_work = INFINITY;
    return append_cheapest(&self, max, out, n);
}

dt_status dt__select_placements(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                                dt__candidate *out) {
    int n;
    return dt__list_candidates(arena, call, on, 1, out, &n);
}
