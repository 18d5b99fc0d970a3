/* SPDX-License-Identifier: Apache-2.0
 *
 * From a spec to blocks on a sheet. What a rank holds is a product of ranges per dim, so each dim is cut wherever the
 * range of some rank begins or ends, and a cell is held by the ranks that hold its piece of every dim. Sets of holders
 * are bits, which is why pictures end at 64 ranks. An element belongs to one shard, so two cells have either the same
 * holders or none in common: a *block* is a set of holders. Panels divide the width among the pieces in proportion to
 * their sizes, but no piece gets less than its label needs.
 */
#include "dtensor/mesh.h"
#include "show/labels.h"
#include "show/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool dt__holdings_is_partial(const holdings *held) {
    for (int dim = 0; dim < held->n_mesh_dims; dim++)
        if (held->mesh_dims[dim].reduce)
            return true;
    return false;
}

/* The position with its coordinate set to 0 along partial mesh dims: equal for the ranks that reduce together. */
static int64_t reduced_position(const holdings *held, int64_t position) {
    int64_t step = 1, reduced = 0;
    for (int dim = held->n_mesh_dims - 1; dim >= 0; dim--) {
        int64_t size = held->mesh_dims[dim].size;
        if (!held->mesh_dims[dim].reduce)
            reduced += position % size * step;
        position /= size;
        step *= size;
    }
    return reduced;
}

/* "sum", or "sum/avg" where mesh dims differ. */
static void add_reduce(dt__text *text, const holdings *held) {
    const char *last = NULL;
    for (int dim = 0; dim < held->n_mesh_dims; dim++) {
        const char *reduce = held->mesh_dims[dim].reduce;
        if (reduce && (!last || strcmp(reduce, last) != 0))
            dt__text_add(text, "%s%s", last ? "/" : "", reduce);
        last = reduce ? reduce : last;
    }
}

/* A rank and the copy of the block that it belongs to. */
typedef struct holder {
    int64_t copy, rank;
} holder;

static int compare_holders(const void *a, const void *b) {
    const holder *x = a, *y = b;
    if (x->copy != y->copy)
        return x->copy < y->copy ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* "sum(0,4), sum(1,5)" */
static void add_copies(dt__text *text, const holdings *held, const holder *holders, int64_t n, int64_t *ranks) {
    for (int64_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && holders[end].copy == holders[first].copy; end++)
            ranks[end - first] = holders[end].rank;
        dt__text_add(text, "%s", first ? ", " : "");
        add_reduce(text, held);
        dt__text_add(text, "(");
        dt__label_add_ranks(text, ranks, end - first);
        dt__text_add(text, ")");
    }
}

const char *dt__label_holders(const holdings *held, const int64_t *positions, int64_t n, dt__arena *arena) {
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, n);
    holder *holders = DT__NEW_ARRAY(arena, holder, n);
    if (!ranks || !holders)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        ranks[i] = held->ranks[positions[i]];
        holders[i] = (holder){reduced_position(held, positions[i]), ranks[i]};
    }
    if (!dt__holdings_is_partial(held))
        return dt__label_ranks(ranks, n, arena);
    dt__text text = dt__text_new(arena->ctx);
    qsort(holders, (size_t)n, sizeof *holders, compare_holders);
    add_copies(&text, held, holders, n, ranks);
    return dt__label_keep(&text, arena);
}

static void coordinate_of(const dt_mesh *mesh, int64_t position, int64_t *out) {
    for (int dim = dt_mesh_n_dims(mesh) - 1; dim >= 0; dim--) {
        out[dim] = position % dt_mesh_dim_size(mesh, dim);
        position /= dt_mesh_dim_size(mesh, dim);
    }
}

static dt_status read_runs(const dt_spec *spec, const int64_t *coordinate, int dim, dt__arena *arena, run_list *out) {
    dt_run found[HOLDINGS_MAX_RUNS];
    int64_t n = dt_spec_runs(spec, coordinate, dim, 0, HOLDINGS_MAX_RUNS, found);
    if (n < 0)
        return dt__fail(arena->ctx, DT_ERR_INTERNAL, "show: dim %d has no runs", dim);
    dt_run *runs = dt__arena_copy(arena, found, (size_t)n, sizeof *runs);
    if (!runs)
        return DT_ERR_MEMORY;
    *out = (run_list){runs, n};
    return DT_OK;
}

dt_status dt__holdings_at(const dt_spec *spec, int64_t position, dt__arena *arena, int64_t *rank, holding *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    int n_dims = dt_spec_n_dims(spec);
    run_list *runs = DT__NEW_ARRAY(arena, run_list, n_dims);
    if (!runs)
        return DT_ERR_MEMORY;
    coordinate_of(dt_spec_mesh(spec), position, coordinate);
    *rank = dt_mesh_rank_at(dt_spec_mesh(spec), coordinate);
    if (!dt_spec_local_at(spec, coordinate, &out->local))
        return dt__fail(arena->ctx, DT_ERR_INTERNAL, "show: position %lld is not in the mesh", (long long)position);
    for (int dim = 0; dim < n_dims; dim++)
        DT__TRY(read_runs(spec, coordinate, dim, arena, &runs[dim]));
    out->runs = runs;
    return DT_OK;
}

static dt_status read_all(const dt_spec *spec, dt__arena *arena, holdings *out) {
    if (out->n_positions > HOLDINGS_MAX_POSITIONS)
        return DT_OK;
    holding *of = DT__NEW_ARRAY(arena, holding, out->n_positions);
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, out->n_positions);
    if (!of || !ranks)
        return DT_ERR_MEMORY;
    for (int64_t position = 0; position < out->n_positions; position++)
        DT__TRY(dt__holdings_at(spec, position, arena, &ranks[position], &of[position]));
    out->of = of;
    out->ranks = ranks;
    return DT_OK;
}

/* "(cut 1 of 2)" where mesh dims do not cut a tensor dim from left to right. */
static void add_turn(dt__text *text, const dt_spec *spec, int mesh_dim, int dim) {
    int order[DT_SPEC_MAX_DIMS], n = dt_spec_cut_order(spec, dim, order);
    bool usual = true;
    for (int i = 1; i < n; i++)
        usual = usual && order[i] > order[i - 1];
    for (int i = 0; i < n && !usual; i++)
        if (order[i] == mesh_dim)
            dt__text_add(text, " (cut %d of %d)", i + 1, n);
}

static void add_sizes(dt__text *text, const dt_placement *placement) {
    for (int64_t i = 0; i < placement->n_extents && i < 8; i++)
        dt__text_add(text, "%s%lld", i ? "," : " of sizes ", (long long)placement->extents[i]);
    if (placement->n_extents > 8)
        dt__text_add(text, ",..");
}

/* Describes what a placement does on a mesh dim of n coordinates. */
typedef void meaning_fn(dt__text *text, const dt_spec *spec, int mesh_dim, long long n);

static void mean_replicate(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    (void)spec;
    (void)mesh_dim;
    dt__text_add(text, n == 1 ? "one copy" : "%lld copies", n);
}

static void mean_shard(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    const dt_placement *placement = &dt_spec_placements(spec)[mesh_dim];
    dt__text_add(text, "cuts dim %d into %lld", placement->dim, n);
    add_sizes(text, placement);
    add_turn(text, spec, mesh_dim, placement->dim);
}

static void mean_strided(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    const dt_placement *placement = &dt_spec_placements(spec)[mesh_dim];
    dt__text_add(text, "cuts dim %d into %lld chunks, each of them into %lld", placement->dim,
                 (long long)placement->split_factor, n);
    add_turn(text, spec, mesh_dim, placement->dim);
}

static void mean_partial(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    (void)spec;
    (void)mesh_dim;
    dt__text_add(text, "%lld partial values, still to be reduced", n);
}

static void mean_masked(dt__text *text, const dt_spec *spec, int mesh_dim, long long n) {
    (void)spec;
    (void)mesh_dim;
    dt__text_add(text, "%lld partial values, masked where the index is elsewhere", n);
}

static meaning_fn *const meanings[DT_N_PLACEMENT_KINDS] = {
    [DT_PLACEMENT_REPLICATE] = mean_replicate, [DT_PLACEMENT_SHARD] = mean_shard,
    [DT_PLACEMENT_STRIDED] = mean_strided,     [DT_PLACEMENT_PARTIAL] = mean_partial,
    [DT_PLACEMENT_MASKED] = mean_masked,
};

static const char *reduce_word(const dt_placement *placement) {
    if (placement->kind == DT_PLACEMENT_MASKED)
        return "mask";
    return placement->kind == DT_PLACEMENT_PARTIAL ? dt_reduce_name(placement->reduce) : NULL;
}

static const char *dim_name(const dt_mesh *mesh, int dim, dt__arena *arena) {
    const char *name = dt_mesh_dim_name(mesh, dim);
    return name ? dt__arena_copy_text(arena, name) : dt__label_format(arena, "mesh dim %d", dim);
}

static dt_status read_mesh_dims(const dt_spec *spec, dt__arena *arena, holdings *out) {
    const dt_mesh *mesh = dt_spec_mesh(spec);
    out->n_mesh_dims = dt_mesh_n_dims(mesh);
    holdings_mesh_dim *dims = DT__NEW_ARRAY(arena, holdings_mesh_dim, out->n_mesh_dims);
    if (!dims)
        return DT_ERR_MEMORY;
    for (int i = 0; i < out->n_mesh_dims; i++) {
        const dt_placement *placement = &dt_spec_placements(spec)[i];
        dt__text meaning = dt__text_new(arena->ctx);
        meanings[placement->kind](&meaning, spec, i, dt_mesh_dim_size(mesh, i));
        dims[i] = (holdings_mesh_dim){.name = dim_name(mesh, i, arena),
                                      .is_named = dt_mesh_dim_name(mesh, i) != NULL,
                                      .placement = dt__label_placements(1, placement, arena),
                                      .meaning = dt__label_keep(&meaning, arena),
                                      .reduce = reduce_word(placement),
                                      .size = dt_mesh_dim_size(mesh, i)};
        if (!dims[i].name || !dims[i].placement || !dims[i].meaning)
            return DT_ERR_MEMORY;
    }
    out->mesh_dims = dims;
    return DT_OK;
}

static dt_status describe(const dt_spec *spec, dt__arena *arena, holdings *out) {
    out->spec = dt__label_spec(spec, arena);
    const char *max = dt__label_bytes(dt_spec_max_bytes(spec), arena),
               *all = dt__label_bytes(dt_spec_bytes(spec), arena);
    if (!out->spec || !max || !all)
        return DT_ERR_MEMORY;
    dt__text summary = dt__text_new(arena->ctx);
    dt__text_add(&summary, "%lld rank%s, ", (long long)out->n_positions, out->n_positions == 1 ? "" : "s");
    dt__text_add(&summary, dt_spec_is_even(spec) ? "%s of %s on each" : "at most %s of %s on each", max, all);
    out->summary = dt__label_keep(&summary, arena);
    return out->summary ? DT_OK : DT_ERR_MEMORY;
}

dt_status dt__holdings_new(const dt_spec *spec, dt__arena *arena, holdings *out) {
    *out = (holdings){.n_dims = dt_spec_n_dims(spec),
                      .shape = dt_spec_shape(spec),
                      .n_positions = dt_mesh_size(dt_spec_mesh(spec))};
    DT__TRY(read_mesh_dims(spec, arena, out));
    DT__TRY(describe(spec, arena, out));
    return read_all(spec, arena, out);
}

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Adds a cut unless the axis has it; false when the axis is full. */
static bool add_cut(grid_axis *axis, int *n_cuts, int64_t cut) {
    for (int i = 0; i < *n_cuts; i++)
        if (axis->cuts[i] == cut)
            return true;
    if (*n_cuts > GRID_MAX_PIECES)
        return false;
    axis->cuts[(*n_cuts)++] = cut;
    return true;
}

static bool find_cuts(const holdings *held, int dim, grid_axis *axis) {
    int n_cuts = 0;
    add_cut(axis, &n_cuts, 0);
    if (!add_cut(axis, &n_cuts, held->shape[dim]))
        return false;
    for (int64_t position = 0; position < held->n_positions; position++) {
        run_list list = held->of[position].runs[dim];
        for (int64_t i = 0; i < list.n; i++)
            if (!add_cut(axis, &n_cuts, list.runs[i].begin) || !add_cut(axis, &n_cuts, list.runs[i].end))
                return false;
    }
    qsort(axis->cuts, (size_t)n_cuts, sizeof *axis->cuts, compare_i64);
    axis->n_pieces = n_cuts - 1;
    return true;
}

static bool holds(run_list list, int64_t index) {
    for (int64_t i = 0; i < list.n; i++)
        if (index >= list.runs[i].begin && index < list.runs[i].end)
            return true;
    return false;
}

static bool cut_dim(const holdings *held, int dim, grid_axis *axis) {
    *axis = (grid_axis){.tensor_dim = dim};
    if (!find_cuts(held, dim, axis))
        return false;
    for (int piece = 0; piece < axis->n_pieces; piece++)
        for (int64_t position = 0; position < held->n_positions; position++)
            if (holds(held->of[position].runs[dim], axis->cuts[piece]))
                axis->holders[piece] |= (grid_set)1 << position;
    return true;
}

static bool holds_nothing(const holdings *held, int64_t position) {
    for (int dim = 0; dim < held->n_dims; dim++)
        if (held->of[position].runs[dim].n == 0)
            return true;
    return false;
}

/* A dim that the tensor does not have is one piece that all ranks hold. */
static const grid_axis no_dim = {.tensor_dim = -1, .n_pieces = 1, .cuts = {0, 1}, .holders = {~(grid_set)0}};

/* The dim with the fewest pieces becomes the sequence of slices, so that there are few pictures; the others keep
 * their order. */
static void choose_axes(const grid_axis *axes, int n_dims, grid *out) {
    int slice = 0;
    for (int dim = 1; dim < n_dims; dim++)
        if (axes[dim].n_pieces < axes[slice].n_pieces)
            slice = dim;
    const grid_axis *drawn[3] = {&no_dim, &no_dim, &no_dim};
    int n = 0;
    for (int dim = 0; dim < n_dims; dim++)
        if (n_dims < 3 || dim != slice)
            drawn[n++] = &axes[dim];
    out->slices = n_dims == 3 ? axes[slice] : no_dim;
    out->rows = n == 2 ? *drawn[0] : no_dim;
    out->columns = n == 2 ? *drawn[1] : *drawn[0];
}

static int find_block(const grid *self, grid_set holders) {
    for (int i = 0; i < self->n_blocks; i++)
        if (self->blocks[i] == holders)
            return i;
    return -1;
}

int dt__grid_block(const grid *self, int slice, int row, int column) {
    return find_block(self, grid_holders(self, slice, row, column));
}

static const char *name_block(const holdings *held, grid_set holders, dt__arena *arena) {
    int64_t positions[GRID_MAX_POSITIONS], n = 0;
    for (int64_t position = 0; position < held->n_positions; position++)
        if (holders >> position & 1)
            positions[n++] = position;
    return dt__label_holders(held, positions, n, arena);
}

static dt_status name_blocks(const holdings *held, dt__arena *arena, grid *out) {
    grid_set all_ranks = held->n_positions == 64 ? ~(grid_set)0 : ((grid_set)1 << held->n_positions) - 1;
    out->rows.holders[0] &= out->rows.tensor_dim < 0 ? all_ranks : ~(grid_set)0;
    for (int slice = 0; slice < out->slices.n_pieces; slice++)
        for (int row = 0; row < out->rows.n_pieces; row++)
            for (int column = 0; column < out->columns.n_pieces; column++) {
                grid_set holders = grid_holders(out, slice, row, column);
                if (find_block(out, holders) >= 0)
                    continue;
                out->labels[out->n_blocks] = name_block(held, holders, arena);
                if (!out->labels[out->n_blocks])
                    return DT_ERR_MEMORY;
                out->blocks[out->n_blocks++] = holders;
            }
    return DT_OK;
}

dt_status dt__grid_new(const holdings *held, dt__arena *arena, grid *out, const char **why_not) {
    grid_axis axes[3];
    memset(out, 0, sizeof *out);
    *why_not = NULL;
    if (held->n_dims > 3)
        *why_not = "a tensor of more than 3 dims";
    else if (held->n_positions > GRID_MAX_POSITIONS)
        *why_not = "a mesh of more than 64 ranks";
    for (int dim = 0; !*why_not && dim < held->n_dims; dim++)
        if (held->shape[dim] == 0)
            *why_not = "a tensor without elements";
        else if (!cut_dim(held, dim, &axes[dim]))
            *why_not = "a dim in more than 256 pieces";
    if (*why_not)
        return DT_OK;
    choose_axes(axes, held->n_dims, out);
    if (out->slices.n_pieces * out->rows.n_pieces * out->columns.n_pieces > GRID_MAX_CELLS) {
        *why_not = "a tensor in more than 4096 pieces";
        return DT_OK;
    }
    for (int64_t position = 0; position < held->n_positions; position++)
        if (holds_nothing(held, position))
            out->empty |= (grid_set)1 << position;
    return name_blocks(held, arena, out);
}

dt_status dt__grid_empty_ranks(const holdings *held, const grid *self, dt__arena *arena, const char **out) {
    int64_t ranks[GRID_MAX_POSITIONS], n = 0;
    for (int64_t position = 0; position < held->n_positions; position++)
        if (self->empty >> position & 1)
            ranks[n++] = held->ranks[position];
    *out = n > 0 ? dt__label_ranks(ranks, n, arena) : NULL;
    return n > 0 && !*out ? DT_ERR_MEMORY : DT_OK;
}

/* Shares that are integers but for the last bits. */
#define ROUNDING_ERROR 1e-6

static double size_of(const grid_axis *axis, int piece) {
    return (double)(axis->cuts[piece + 1] - axis->cuts[piece]);
}

/* Divides `total` among n pieces of the axis, from `first` on, in proportion to their sizes: a piece whose share is
 * below its need gets its need, and the rest is divided again among the others. Shares are rounded down, so that equal
 * sizes look equal; their sum is more than the total only where the needs are. */
static void scale_pieces(const grid_axis *axis, int first, int n, int total, const int *needs, int *lengths) {
    bool fixed[GRID_MAX_PIECES] = {false};
    double left = total, size = 0;
    for (int i = 0; i < n; i++)
        size += size_of(axis, first + i);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < n; i++) {
            double own = size_of(axis, first + i);
            if (fixed[i] || left * own >= needs[i] * size)
                continue;
            fixed[i] = changed = true;
            lengths[i] = needs[i];
            left -= needs[i];
            size -= own;
        }
    }
    for (int i = 0; i < n; i++)
        if (!fixed[i])
            lengths[i] = (int)(left * size_of(axis, first + i) / size + ROUNDING_ERROR);
}

/* Labels up to this length are kept on one line: tried in this order until all columns fit into one panel. */
static const int unbroken_lengths[] = {12, 8, 5, 0};
enum { N_TRIES = sizeof unbroken_lengths / sizeof *unbroken_lengths };

static int max(int a, int b) { return a > b ? a : b; }

static int sum(const int *values, int n) {
    int total = 0;
    for (int i = 0; i < n; i++)
        total += values[i];
    return total;
}

int dt__panel_index_length(int64_t index) { return snprintf(NULL, 0, "%lld", (long long)index); }

/* Length of the next piece of a label that is not broken: up to and including a comma, without blanks. */
static int word_length(const char *label) {
    int n = (int)strcspn(label, ", ");
    return n + (label[n] == ',');
}

int dt__panel_label_line(const char **label, int n, const char **begin) {
    *begin = *label + strspn(*label, " ");
    int length = 0;
    while ((*begin)[length]) {
        int blanks = (int)strspn(*begin + length, " ");
        int more = blanks + word_length(*begin + length + blanks);
        if (length > 0 && length + more > n)
            break;
        length += more;
    }
    *label = *begin + length;
    return length;
}

int dt__panel_label_lines(const char *label, int n) {
    const char *begin;
    int lines = 0;
    for (; *label && lines < PANEL_MAX_LABEL_LINES; lines++)
        dt__panel_label_line(&label, n, &begin);
    return lines;
}

static int longest_word(const char *label) {
    const char *begin;
    int longest = 0;
    while (*label)
        longest = max(longest, dt__panel_label_line(&label, 1, &begin));
    return longest;
}

/* Width that a column needs for its labels and for the indices above its ends; the later one is the longer. */
static int needed_width(const grid *drawn, int slice, int column, int unbroken, const panel_metrics *metrics) {
    int need = 1;
    if (drawn->columns.tensor_dim >= 0)
        need = (dt__panel_index_length(drawn->columns.cuts[column + 1]) + 1) * metrics->index_character;
    for (int row = 0; row < drawn->rows.n_pieces; row++) {
        const char *label = drawn->labels[dt__grid_block(drawn, slice, row, column)];
        int length = (int)strlen(label);
        int n = length <= unbroken ? length : max(longest_word(label), unbroken);
        need = max(need, n * metrics->character + metrics->padding_across);
    }
    return need;
}

static int needed_height(const grid *drawn, const panel *shown, int row, const panel_metrics *metrics) {
    int lines = 1;
    for (int i = 0; i < shown->n; i++) {
        const char *label = drawn->labels[dt__grid_block(drawn, shown->slice, row, shown->first + i)];
        int n = (shown->widths[i] - metrics->padding_across) / metrics->character;
        lines = max(lines, dt__panel_label_lines(label, n));
    }
    return lines * metrics->line + metrics->padding_down;
}

/* Columns per row of the tensor. */
static double proportion(const grid *drawn) {
    const grid_axis *rows = &drawn->rows, *columns = &drawn->columns;
    return (double)columns->cuts[columns->n_pieces] / (double)rows->cuts[rows->n_pieces];
}

static int ideal_width(const grid *drawn, int max_width, const panel_metrics *metrics) {
    if (drawn->columns.tensor_dim < 0)
        return 0;
    if (drawn->rows.tensor_dim < 0)
        return max_width;
    double width = metrics->height * metrics->aspect * proportion(drawn);
    return width > max_width ? max_width : (int)width;
}

static int ideal_height(const grid *drawn, int width, const panel_metrics *metrics) {
    if (drawn->rows.tensor_dim < 0)
        return metrics->min_height;
    double height = width / proportion(drawn) / metrics->aspect;
    return height > metrics->height ? metrics->height : (int)height;
}

/* Widths that the columns need; true if all fit side by side. */
static bool find_needs(const grid *drawn, int slice, int unbroken, const panel_metrics *metrics, int *needs) {
    int n = drawn->columns.n_pieces;
    for (int column = 0; column < n; column++)
        needs[column] = needed_width(drawn, slice, column, unbroken, metrics);
    return sum(needs, n) + (n - 1) * metrics->rule <= metrics->max_width;
}

/* Puts as many columns into each panel as fit, at least one; returns the number of panels. */
static int split_columns(const grid *drawn, int slice, const int *needs, int max_width, int rule, panel *out) {
    int n_panels = 0, used = 0;
    for (int column = 0; column < drawn->columns.n_pieces; column++) {
        if (column == 0 || used + needs[column] > max_width) {
            out[n_panels++] = (panel){.slice = slice, .first = column};
            used = 0;
        }
        out[n_panels - 1].n++;
        used += needs[column] + rule;
    }
    return n_panels;
}

/* As few panels as possible, and those about equally full: the smallest width that needs no more of them. */
static int split_evenly(const grid *drawn, int slice, const int *needs, const panel_metrics *metrics, panel *out) {
    int n_panels = split_columns(drawn, slice, needs, metrics->max_width, metrics->rule, out);
    int min = 1, max_width = metrics->max_width;
    while (min < max_width) {
        int middle = (min + max_width) / 2;
        if (split_columns(drawn, slice, needs, middle, metrics->rule, out) > n_panels)
            min = middle + 1;
        else
            max_width = middle;
    }
    return split_columns(drawn, slice, needs, n_panels == 1 ? metrics->max_width : min, metrics->rule, out);
}

static double extent(const grid *drawn, const panel *shown) {
    const int64_t *cuts = drawn->columns.cuts;
    return (double)(cuts[shown->first + shown->n] - cuts[shown->first]);
}

/* One panel takes the tensor's proportions; the largest of several fills the width, and the others have its scale. */
static void fit_columns(const grid *drawn, const int *needs, double largest, const panel_metrics *metrics,
                        panel *out) {
    int max_width = metrics->max_width - (out->n - 1) * metrics->rule;
    bool only = out->n == drawn->columns.n_pieces;
    int width = only ? ideal_width(drawn, max_width, metrics) : (int)(max_width * extent(drawn, out) / largest);
    scale_pieces(&drawn->columns, out->first, out->n, width, needs + out->first, out->widths);
    out->width = sum(out->widths, out->n) + (out->n - 1) * metrics->rule;
}

/* The height follows from the width of all panels together, so that they are equally high. */
static void fit_rows(const grid *drawn, int total_width, const panel_metrics *metrics, panel *out) {
    int needs[GRID_MAX_PIECES] = {0}, n = drawn->rows.n_pieces;
    for (int row = 0; row < n; row++)
        needs[row] = needed_height(drawn, out, row, metrics);
    needs[0] = n == 1 ? max(needs[0], metrics->min_height) : needs[0];
    scale_pieces(&drawn->rows, 0, n, ideal_height(drawn, total_width, metrics), needs, out->heights);
    out->row_rule = n <= metrics->max_ruled_rows ? metrics->rule : 0;
    out->height = sum(out->heights, n) + (n - 1) * out->row_rule;
}

int dt__panel_fit(const grid *drawn, int slice, const panel_metrics *metrics, panel *out) {
    int needs[GRID_MAX_PIECES] = {0};
    for (int try = 0; try < N_TRIES; try++)
        if (find_needs(drawn, slice, unbroken_lengths[try], metrics, needs))
            break;
    int n_panels = split_evenly(drawn, slice, needs, metrics, out), width = 0;
    double largest = 0;
    for (int i = 0; i < n_panels; i++)
        largest = extent(drawn, &out[i]) > largest ? extent(drawn, &out[i]) : largest;
    for (int i = 0; i < n_panels; i++) {
        fit_columns(drawn, needs, largest, metrics, &out[i]);
        width += out[i].width;
    }
    for (int i = 0; i < n_panels; i++)
        fit_rows(drawn, width, metrics, &out[i]);
    return n_panels;
}
