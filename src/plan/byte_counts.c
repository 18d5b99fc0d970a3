/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting what ranks receive and hold. The relevant mesh dims are those that cut something or take part in a
 * reduction; ranks that differ only along other mesh dims are alike and are counted once. The same holds for
 * coordinates of a relevant mesh dim that hold equally much in every step, whatever the other coordinates are: if sizes
 * divide evenly, for all of them. Where all cuts of the tensor dims in question are plain and those before a step begin
 * with those after it, or the other way round, only sizes matter, and these coordinates follow from the sizes: tables
 * have no others.
 */
#include "plan/byte_counts.h"

#include "base/size.h"
#include "plan/traffic.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_RANKS = 1 << 24 };

/* How many indices a coordinate holds of one tensor dim before and after a step, and how many are in both. */
typedef struct held {
    int64_t before, after, common;
} held;

/* Coordinates of a mesh dim, ascending; NULL: all of them. */
typedef struct coordinates {
    int64_t n;
    const int64_t *list;
} coordinates;

static int64_t coordinate_at(const coordinates *of, int64_t i) { return of->list ? of->list[i] : i; }

/* One tensor dim in one step: entry Σ i[m] * stride[m], for the i-th listed coordinate of each mesh dim. */
typedef struct dim_table {
    int64_t stride[DT_SPEC_MAX_DIMS]; /* 0 for mesh dims that do not cut this dim */
    int64_t n_entries;
    held *entries;
} dim_table;

typedef struct count {
    dt__arena *arena;
    int n_mesh_dims, n_dims;
    const int64_t *mesh;
    bool relevant[DT_SPEC_MAX_DIMS]; /* per mesh dim */
    int n_steps;
    const dt__transfer *steps, *whole;
    coordinates listed[DT_SPEC_MAX_DIMS];  /* per mesh dim, those of the tables */
    dim_table *tables;                     /* [n_steps + 1, n_dims]: the whole move comes last */
    coordinates counted[DT_SPEC_MAX_DIMS]; /* per mesh dim, indices of those that are counted, in `listed` */
} count;

/* Where more coordinates than this differ, all are counted. */
enum { MAX_DIFFERENT = 8 };

static const dt__transfer *step_at(const count *self, int i) {
    return i < self->n_steps ? &self->steps[i] : self->whole;
}

static int n_cuts(const dt__sharding *sharding, int dim) {
    return sharding->first_cut[dim + 1] - sharding->first_cut[dim];
}

/* Whether one list of cuts is a prefix of the other: then one shard contains the other. */
static bool is_nested(const dt__sharding *a, const dt__sharding *b, int dim) {
    int shorter = n_cuts(a, dim) < n_cuts(b, dim) ? n_cuts(a, dim) : n_cuts(b, dim);
    for (int c = 0; c < shorter; c++)
        if (!dt__same_cut(&a->cuts[a->first_cut[dim] + c], &b->cuts[b->first_cut[dim] + c]))
            return false;
    return true;
}

static void fill_table(const count *self, const dt__transfer *step, int dim, dim_table *out, int64_t n_entries) {
    bool nested = is_nested(step->before, step->after, dim);
    for (int64_t i = 0; i < n_entries; i++) {
        int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
        dt__shard before, after;
        for (int m = 0; m < self->n_mesh_dims; m++)
            if (out->stride[m])
                coordinate[m] = coordinate_at(&self->listed[m], i / out->stride[m] % self->listed[m].n);
        dt__shard_at(step->before, dim, coordinate, &before);
        dt__shard_at(step->after, dim, coordinate, &after);
        int64_t common = nested ? dt__min_i64(before.size, after.size) : dt__overlap_size(&before, &after);
        out->entries[i] = (held){before.size, after.size, common};
    }
}

static dt_status new_table(const count *self, const dt__transfer *step, int dim, dim_table *out) {
    const dt__sharding *both[] = {step->before, step->after};
    int64_t n_entries = 1;
    for (int i = 0; i < 2; i++)
        for (int c = both[i]->first_cut[dim]; c < both[i]->first_cut[dim + 1]; c++)
            out->stride[both[i]->cuts[c].mesh_dim] = 1;
    for (int m = 0; m < self->n_mesh_dims; m++)
        if (out->stride[m]) {
            out->stride[m] = n_entries;
            n_entries *= self->listed[m].n;
        }
    out->entries = DT__NEW_ARRAY(self->arena, held, n_entries);
    if (!out->entries)
        return DT_ERR_MEMORY;
    out->n_entries = n_entries;
    fill_table(self, step, dim, out, n_entries);
    return DT_OK;
}

/* Products fit, or have a factor of 0 and are 0 whatever overflows in between. */
static int64_t times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

static held held_by(const count *self, int step, const int64_t *index) {
    held all = {1, 1, 1};
    for (int d = 0; d < self->n_dims; d++) {
        const dim_table *table = &self->tables[step * self->n_dims + d];
        int64_t at = 0;
        for (int m = 0; m < self->n_mesh_dims; m++)
            at += index[m] * table->stride[m];
        all.before = times(all.before, table->entries[at].before);
        all.after = times(all.after, table->entries[at].after);
        all.common = times(all.common, table->entries[at].common);
    }
    return all;
}

/* Elements that a rank receives in a step; false where the number overflows. */
static bool received(const dt__transfer *step, const held *has, const int64_t *coordinate, int64_t *out) {
    int64_t from_others, of_own;
    if (!step->two_phases)
        return dt__mul_i64(step->reduced, has->after - has->common, &from_others) &&
               dt__mul_i64(step->reduced - 1, has->common, &of_own) && dt__add_i64(from_others, of_own, out);
    dt__shard before[DT_SPEC_MAX_DIMS], after[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < step->after->n_dims; d++) {
        dt__shard_at(step->before, d, coordinate, &before[d]);
        dt__shard_at(step->after, d, coordinate, &after[d]);
    }
    return dt__transfer_received(step, before, after, dt__transfer_replica(step, coordinate), out);
}

static dt_status too_many(const count *self) {
    return dt__fail(self->arena->ctx, DT_ERR_SHAPE,
                    "redistribute: a rank would receive or hold more than 2^63 - 1 elements");
}

/* Elements that a rank holds in step i: source and target, and what the step reads and writes between them. */
static bool held_in(const count *self, int i, const held *has, const held *whole, int64_t *out) {
    return dt__add_i64(whole->before, whole->after, out) && dt__add_i64(*out, i ? has->before : 0, out) &&
           dt__add_i64(*out, i + 1 < self->n_steps ? has->after : 0, out);
}

/* The rank at these indices into the listed coordinates. */
static dt_status count_rank(const count *self, const int64_t *index, dt__byte_counts *out) {
    held whole = held_by(self, self->n_steps, index);
    int64_t total = 0, coordinate[DT_SPEC_MAX_DIMS];
    for (int m = 0; m < self->n_mesh_dims; m++)
        coordinate[m] = coordinate_at(&self->listed[m], index[m]);
    for (int i = 0; i < self->n_steps; i++) {
        held has = held_by(self, i, index);
        int64_t now = 0, peak = 0;
        if (!received(&self->steps[i], &has, coordinate, &now) || !dt__add_i64(total, now, &total) ||
            !held_in(self, i, &has, &whole, &peak))
            return too_many(self);
        if (now > out->step_received[i]) {
            out->step_received[i] = now;
            out->step_busiest[i] = dt__position(self->n_mesh_dims, self->mesh, coordinate);
        }
        out->peak = dt__max_i64(out->peak, peak);
    }
    out->received = dt__max_i64(out->received, total);
    out->peak = dt__max_i64(out->peak, whole.before);
    out->needed = dt__max_i64(out->needed, self->whole->reduced > 1 ? whole.after : whole.after - whole.common);
    return DT_OK;
}

static void find_relevant_dims(count *self) {
    for (int i = 0; i <= self->n_steps; i++) {
        const dt__transfer *step = step_at(self, i);
        for (int m = 0; m < self->n_mesh_dims; m++)
            self->relevant[m] |= dt__is_cut(&step->before->placements[m]) || dt__is_cut(&step->after->placements[m]);
        for (int k = 0; k < step->n_replica_dims && step->two_phases; k++)
            self->relevant[step->replica_dims[k]] = true;
    }
}

static dt_status check_ranks(const count *self) {
    int64_t n = 1;
    for (int m = 0; m < self->n_mesh_dims; m++)
        if (self->relevant[m] && (!dt__mul_i64(n, self->mesh[m], &n) || n > MAX_RANKS))
            return dt__fail(self->arena->ctx, DT_ERR_UNSUPPORTED,
                            "redistribute: plans are made for up to %d ranks that hold different shards", MAX_RANKS);
    return DT_OK;
}

/* Whether two coordinates of a mesh dim hold equally much of a tensor dim in a step. */
static bool same_entries(const dim_table *table, int64_t stride, int64_t size, int64_t a, int64_t b) {
    for (int64_t outer = 0; outer < table->n_entries; outer += stride * size)
        for (int64_t inner = 0; inner < stride; inner++) {
            const held *x = &table->entries[outer + a * stride + inner],
                       *y = &table->entries[outer + b * stride + inner];
            if (x->before != y->before || x->after != y->after || x->common != y->common)
                return false;
        }
    return true;
}

static bool are_alike(const count *self, int m, int64_t a, int64_t b) {
    for (int t = 0; t < (self->n_steps + 1) * self->n_dims; t++) {
        int64_t stride = self->tables[t].stride[m];
        if (stride && !same_entries(&self->tables[t], stride, self->listed[m].n, a, b))
            return false;
    }
    return true;
}

/* Portions of a reduction in two phases depend on the coordinate itself. */
static bool has_two_phases(const count *self) {
    for (int i = 0; i < self->n_steps; i++)
        if (self->steps[i].two_phases)
            return true;
    return false;
}

static dt_status find_counted(count *self, int m) {
    int64_t *counted = DT__NEW_ARRAY(self->arena, int64_t, MAX_DIFFERENT);
    int n = 0;
    if (!counted)
        return DT_ERR_MEMORY;
    for (int64_t c = 0; c < self->listed[m].n; c++) {
        bool is_new = true;
        for (int k = 0; k < n && is_new; k++)
            is_new = !are_alike(self, m, counted[k], c);
        if (is_new && n == MAX_DIFFERENT)
            return DT_OK;
        if (is_new)
            counted[n++] = c;
    }
    self->counted[m] = (coordinates){n, counted};
    return DT_OK;
}

static dt_status count_ranks(count *self, dt__byte_counts *out) {
    int64_t n_ranks = 1;
    bool merges = !has_two_phases(self);
    for (int m = 0; m < self->n_mesh_dims; m++) {
        self->counted[m] = (coordinates){self->relevant[m] ? self->listed[m].n : 1, NULL};
        if (self->relevant[m] && merges)
            DT__TRY(find_counted(self, m));
        n_ranks *= self->counted[m].n;
    }
    for (int64_t rank = 0; rank < n_ranks; rank++) {
        int64_t index[DT_SPEC_MAX_DIMS], left = rank;
        for (int m = self->n_mesh_dims - 1; m >= 0; m--) {
            index[m] = coordinate_at(&self->counted[m], left % self->counted[m].n);
            left /= self->counted[m].n;
        }
        DT__TRY(count_rank(self, index, out));
    }
    return DT_OK;
}

/* Coordinates at which shards of a new size begin, for one mesh dim. */
typedef struct first_coordinates {
    bool all; /* any coordinate may be one */
    int n;
    int64_t list[MAX_DIFFERENT];
} first_coordinates;

static void add_first(first_coordinates *of, int64_t coordinate, int64_t n_coordinates) {
    int i = 0;
    if (coordinate >= n_coordinates)
        return;
    while (i < of->n && of->list[i] < coordinate)
        i++;
    if (i < of->n && of->list[i] == coordinate)
        return;
    of->all |= of->n == MAX_DIFFERENT;
    if (of->all)
        return;
    for (int k = of->n++; k > i; k--)
        of->list[k] = of->list[k - 1];
    of->list[i] = coordinate;
}

/* A few sizes, each once. */
typedef struct size_set {
    int n;
    int64_t list[MAX_DIFFERENT];
} size_set;

static bool add_size(size_set *of, int64_t size) {
    for (int i = 0; i < of->n; i++)
        if (of->list[i] == size)
            return true;
    if (of->n == MAX_DIFFERENT)
        return false;
    of->list[of->n++] = size;
    return true;
}

/* A plain cut of shards of these sizes: full chunks first, then perhaps a shorter one, then empty ones. False where the
 * sizes are too many. */
static bool add_cut(const dt__cut *cut, size_set *sizes, first_coordinates *firsts) {
    size_set after = {0};
    for (int i = 0; i < sizes->n; i++) {
        int64_t size = sizes->list[i], chunk = dt__cut_size(cut, size, 0);
        int64_t n_full = chunk ? size / chunk : 0, rest = chunk ? size % chunk : 0;
        add_first(&firsts[cut->mesh_dim], 0, cut->n);
        add_first(&firsts[cut->mesh_dim], n_full, cut->n);
        add_first(&firsts[cut->mesh_dim], n_full + (rest > 0), cut->n);
        if (!add_size(&after, chunk) || (n_full < cut->n && !add_size(&after, rest)) ||
            (n_full + 1 < cut->n && !add_size(&after, 0)))
            return false;
    }
    *sizes = after;
    return true;
}

static void add_cuts(const dt__sharding *of, int dim, first_coordinates *firsts, bool *simple) {
    size_set sizes = {.n = 1, .list = {of->shape[dim]}};
    for (int c = of->first_cut[dim]; c < of->first_cut[dim + 1]; c++)
        *simple = *simple && of->cuts[c].split == 1 && !of->cuts[c].starts && add_cut(&of->cuts[c], &sizes, firsts);
}

static void add_all(const dt__sharding *of, int dim, first_coordinates *firsts) {
    for (int c = of->first_cut[dim]; c < of->first_cut[dim + 1]; c++)
        firsts[of->cuts[c].mesh_dim].all = true;
}

static dt_status list_coordinates(count *self) {
    first_coordinates firsts[DT_SPEC_MAX_DIMS] = {{0}};
    bool by_size = !has_two_phases(self);
    for (int i = 0; i <= self->n_steps; i++)
        for (int d = 0; d < self->n_dims; d++) {
            const dt__transfer *step = step_at(self, i);
            bool simple = by_size && is_nested(step->before, step->after, d);
            add_cuts(step->before, d, firsts, &simple);
            add_cuts(step->after, d, firsts, &simple);
            if (simple)
                continue;
            add_all(step->before, d, firsts);
            add_all(step->after, d, firsts);
        }
    for (int m = 0; m < self->n_mesh_dims; m++) {
        const int64_t *list = NULL;
        self->listed[m] = (coordinates){self->mesh[m], NULL};
        if (!by_size || firsts[m].all || !firsts[m].n)
            continue;
        list = dt__arena_copy(self->arena, firsts[m].list, (size_t)firsts[m].n, sizeof *list);
        if (!list)
            return DT_ERR_MEMORY;
        self->listed[m] = (coordinates){firsts[m].n, list};
    }
    return DT_OK;
}

static dt_status count_all(count *self, dt__byte_counts *out) {
    find_relevant_dims(self);
    DT__TRY(check_ranks(self));
    DT__TRY(list_coordinates(self));
    self->tables = DT__NEW_ARRAY(self->arena, dim_table, (self->n_steps + 1) * self->n_dims);
    if (!self->tables)
        return DT_ERR_MEMORY;
    int n_tables = self->whole == self->steps ? self->n_steps : self->n_steps + 1;
    for (int i = 0; i < n_tables; i++)
        for (int d = 0; d < self->n_dims; d++)
            DT__TRY(new_table(self, step_at(self, i), d, &self->tables[i * self->n_dims + d]));
    if (n_tables == self->n_steps)
        memcpy(self->tables + self->n_dims, self->tables, (size_t)self->n_dims * sizeof *self->tables);
    return count_ranks(self, out);
}

dt_status dt__count_bytes(dt__arena *arena, int n_steps, const dt__transfer *steps, const dt__transfer *whole,
                          dt__byte_counts *out) {
    *out = (dt__byte_counts){.step_received = DT__NEW_ARRAY(arena, int64_t, n_steps),
                             .step_busiest = DT__NEW_ARRAY(arena, int64_t, n_steps)};
    if (!out->step_received || !out->step_busiest)
        return DT_ERR_MEMORY;
    dt__arena scratch = dt__arena_new(arena->ctx);
    count self = {
        .arena = &scratch,
        .n_mesh_dims = whole->before->n_mesh_dims,
        .n_dims = whole->before->n_dims,
        .mesh = whole->before->mesh,
        .n_steps = n_steps,
        .steps = steps,
        .whole = whole,
    };
    dt_status status = count_all(&self, out);
    dt__arena_free(&scratch);
    return status;
}
