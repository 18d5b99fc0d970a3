/* SPDX-License-Identifier: Apache-2.0
 *
 * Placement selection against exhaustive search, and the selections of known calls, of ops in place and with special
 * shards.
 */
#include "rules/calls.h"

#include "rules/cost_bound.h"
#include "rules/ways.h"

#include <math.h>
#include <stdlib.h>

/* The model of the tests; some try others. */
static const dt__machine *model = &dt__machine_builtin;

/* Measured steps of every kind, unrelated to each other. */
static dt__machine measured_model(uint64_t *seed) {
    dt__machine machine = dt__machine_builtin;
    machine.ranks_per_host = test_below(seed, 2) ? 0 : 8;
    for (int kind = 0; kind < DT__N_STEP_KINDS; kind++)
        for (int64_t ranks = 2; ranks <= 16; ranks *= 2)
            for (int64_t group = kind ? 2 : 1; group <= (kind ? ranks : 1); group *= 2) {
                dt__measured_step *step = &machine.measured[machine.n_measured++];
                *step = (dt__measured_step){.kind = (dt__step_kind)kind, .group = group, .ranks = ranks};
                step->start_us = (double)(1 + test_below(seed, 100)) / 10;
                step->bytes_per_us = (double)(1000 + test_below(seed, 50000));
                if (test_below(seed, 2)) {
                    step->cache_bytes = (double)(1 + test_below(seed, 100000));
                    step->memory_bytes_per_us = step->bytes_per_us / (double)(1 + test_below(seed, 5));
                }
            }
    dt__machine_derive(&machine);
    return machine;
}

/* What a combination of rows costs by definition, with new plans. */
typedef struct outcome {
    double us, finish_us, work; /* of moving the inputs, of reducing partial outputs; ranks that do the same work */
    bool sends;
} outcome;

/* Row -1 is all Replicate; of an input that is Replicate, windows are taken as it is. */
static dt_row_entry entry_of(const dt__placed_call *placed, const dt__row_list *rows, int m, int row, int e) {
    bool windows = row >= 0 && rows->rows[row].flags & DT_ROW_WINDOW && e < placed->call.n_inputs;
    if (row < 0 || (windows && dt_placement_is_replicate(placed->inputs[e]->placements[m])))
        return DT_ROW_R;
    return rows->rows[row].entries[e];
}

static void add_input(test_calls *self, const dt__placed_call *placed, const dt__row_list *rows, const int *chosen,
                      int i, outcome *out) {
    const dt_op_value *value = &placed->call.inputs[i];
    dt_placement to[4];
    bool fills = false;
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < self->n_mesh_dims; m++) {
        dt_row_entry entry = entry_of(placed, rows, m, chosen[m], i);
        const dt_placement *current = &placed->inputs[i]->placements[m];
        bool is_there = entry < 0 && dt_placement_is_partial(*current) && DT_ROW_P(current->reduce) == entry;
        to[m] = entry > 0 ? dt_placement_shard(entry - 1) : is_there ? *current : dt_placement_replicate();
        bytes /= entry > 0 ? (double)self->mesh[m] : 1;
        fills |= !is_there && (entry == DT_ROW_P(DT_SUM) || entry == DT_ROW_P(DT_PRODUCT));
    }
    dt__sharding_desc desc = {self->n_mesh_dims, self->mesh, value->n_dims, value->shape, self->n_mesh_dims, to};
    dt__arena_mark mark = dt__arena_begin(&self->arena);
    dt__sharding target;
    dt__plan plan;
    assert_int_equal(dt__sharding_new(&self->arena, &desc, &target), DT_OK);
    dt__move move = {.from = placed->inputs[i], .to = &target, .item_bytes = (int64_t)dt_dtype_size(value->dtype)};
    assert_int_equal(dt__plan_new(&self->arena, &move, DT__PLANNER_MIN_COST, model, &plan), DT_OK);
    out->us += plan.cost_us + (fills ? bytes / model->copy_bytes_per_us : 0);
    out->sends |= plan.n_collectives > 0;
    dt__arena_rewind(&self->arena, mark);
}

/* Reduce-scatters over all partial mesh dims, within a host before those between hosts: the bytes received. All shapes
 * have dims, and no dtype is a half. */
static void add_output(test_calls *self, const dt__placed_call *placed, const dt__row_list *rows, const int *chosen,
                       int o, outcome *out) {
    const dt_op_value *value = &placed->call.outputs[o];
    const dt__machine *machine = model;
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < self->n_mesh_dims; m++)
        bytes /= entry_of(placed, rows, m, chosen[m], placed->call.n_inputs + o) > 0 ? (double)self->mesh[m] : 1;
    for (int far = 0; far < 2; far++)
        for (int m = 0; m < self->n_mesh_dims; m++) {
            if (entry_of(placed, rows, m, chosen[m], placed->call.n_inputs + o) >= 0 ||
                dt__machine_spans_hosts(machine, self->n_mesh_dims, self->mesh, m) != far)
                continue;
            double left = bytes / (double)self->mesh[m];
            dt__step_desc scatter = {.kind = DT__STEP_REDUCE_SCATTER,
                                     .group = self->mesh[m],
                                     .ranks = dt__mesh_ranks(self->n_mesh_dims, self->mesh),
                                     .spans_hosts = far,
                                     .before_bytes = bytes};
            out->finish_us += machine->n_measured ? dt__machine_reduction_us(machine, &scatter)
                                                  : (bytes - left) / (far ? machine->between.bytes_per_us
                                                                          : machine->within.bytes_per_us);
            bytes = left;
        }
}

/* What rows exchange that communicate. */
static void add_way(test_calls *self, const dt__placed_call *placed, const dt__row_list *rows, const int *chosen,
                    outcome *out) {
    enum { MAX_ENTRIES = 8 };
    dt_placement placements[MAX_ENTRIES][4], *lists[MAX_ENTRIES];
    const dt__row *used[4];
    dt__way way;
    bool communicates = false;
    assert_in_range(rows->n_entries, 1, MAX_ENTRIES);
    for (int m = 0; m < self->n_mesh_dims; m++) {
        used[m] = chosen[m] < 0 ? NULL : &rows->rows[chosen[m]];
        communicates |= used[m] && used[m]->flags & DT__ROW_WAYS;
    }
    if (!communicates)
        return;
    dt__arena_mark mark = dt__arena_begin(&self->arena);
    for (int e = 0; e < rows->n_entries; e++) {
        const dt_op_value *value = dt__row_value(&placed->call, e);
        dt_placement to[4];
        for (int m = 0; m < self->n_mesh_dims; m++) {
            dt_row_entry entry = entry_of(placed, rows, m, chosen[m], e);
            to[m] = entry > 0   ? dt_placement_shard(entry - 1)
                    : entry < 0 ? dt_placement_partial((dt_reduce)(-1 - entry))
                                : dt_placement_replicate();
        }
        dt__sharding_desc desc = {self->n_mesh_dims, self->mesh, value->n_dims, value->shape, self->n_mesh_dims, to};
        lists[e] = placements[e];
        assert_int_equal(dt__placements_normalize(self->arena.ctx, &desc, lists[e]), DT_OK);
    }
    dt__placed_inputs on = calls_inputs(self, placed);
    on.machine = model;
    dt__combination combination = {&on, used, (const dt_placement *const *)lists,
                                   (const dt_placement *const *)lists + placed->call.n_inputs};
    assert_int_equal(dt__way_of(&self->arena, &placed->call, &combination, &way), DT_OK);
    out->us += way.us;
    out->sends |= way.bytes > 0;
    dt__arena_rewind(&self->arena, mark);
}

static outcome outcome_by_definition(test_calls *self, const dt__placed_call *placed, const dt__row_list *rows,
                                     const int *chosen) {
    outcome out = {.work = 1};
    for (int i = 0; i < placed->call.n_inputs; i++)
        add_input(self, placed, rows, chosen, i, &out);
    for (int o = 0; o < placed->call.n_outputs; o++)
        add_output(self, placed, rows, chosen, o, &out);
    add_way(self, placed, rows, chosen, &out);
    for (int m = 0; m < self->n_mesh_dims; m++) {
        bool repeats = true, was_distributed = false;
        for (int i = 0; i < placed->call.n_inputs; i++) {
            const dt_placement *current = &placed->inputs[i]->placements[m];
            dt_row_entry entry = entry_of(placed, rows, m, chosen[m], i);
            repeats &= entry <= 0 && !(dt_placement_is_partial(*current) && DT_ROW_P(current->reduce) == entry);
            was_distributed |= !dt_placement_is_replicate(*current);
        }
        out.work *= repeats && was_distributed ? (double)self->mesh[m] : 1;
    }
    return out;
}

/* Sum and avg may be mixed in one tensor; no other reductions. */
static bool mixes_reductions(test_calls *self, const dt__row_list *rows, const int *chosen) {
    for (int e = 0; e < rows->n_entries; e++) {
        bool linear = false, other[DT_N_REDUCES] = {false};
        int n_other = 0;
        for (int m = 0; m < self->n_mesh_dims; m++) {
            dt_row_entry entry = chosen[m] < 0 ? DT_ROW_R : rows->rows[chosen[m]].entries[e];
            int kind = -1 - entry;
            if (entry >= 0)
                continue;
            if (kind == DT_SUM || kind == DT_AVG)
                linear = true;
            else if (!other[kind])
                other[kind] = ++n_other > 0;
        }
        if (n_other + linear > 1)
            return true;
    }
    return false;
}

/* Windows of inputs that are all Replicate on a mesh dim are not used: nothing is sharded there. */
static bool shards_nothing(test_calls *self, const dt__placed_call *placed, const dt__row_list *rows,
                           const int *chosen) {
    for (int m = 0; m < self->n_mesh_dims; m++) {
        bool nothing = chosen[m] >= 0 && rows->rows[chosen[m]].flags & DT_ROW_WINDOW;
        for (int i = 0; i < placed->call.n_inputs && nothing; i++)
            nothing = entry_of(placed, rows, m, chosen[m], i) == DT_ROW_R;
        if (nothing)
            return true;
    }
    return false;
}

/* Whether all inputs are placed as the row has them. */
static bool keeps_inputs(const dt__placed_call *placed, const dt__row_list *rows, int m, int row) {
    for (int i = 0; i < placed->call.n_inputs; i++) {
        const dt_placement *current = &placed->inputs[i]->placements[m];
        dt_row_entry entry = entry_of(placed, rows, m, row, i);
        bool same = entry > 0   ? dt_placement_is_shard(*current) && current->dim == entry - 1
                    : entry < 0 ? dt_placement_is_partial(*current) && entry == DT_ROW_P(current->reduce)
                                : dt_placement_is_replicate(*current);
        if (!same)
            return false;
    }
    return true;
}

/* With windows along others, a mesh dim stays as it is, if a local row can leave it so. */
static bool strays_beside_windows(test_calls *self, const dt__placed_call *placed, const dt__row_list *rows,
                                  const int *chosen) {
    bool windows = false, strays = false;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        bool can_stay = false;
        windows |= chosen[m] >= 0 && rows->rows[chosen[m]].flags & DT_ROW_WINDOW;
        for (int row = -1; row < rows->n_rows; row++)
            can_stay |= !(row >= 0 && rows->rows[row].flags & DT__ROW_WAYS) && keeps_inputs(placed, rows, m, row);
        strays |= can_stay && !keeps_inputs(placed, rows, m, chosen[m]);
    }
    return windows && strays;
}

static bool about(double a, double b) { return fabs(a - b) <= 1e-6 * (1 + b); }

/* Whether a candidate is what trying every combination selects; calls without special cuts and without reshapes. Where
 * several are cheapest to move, any of them may limit the work. */
static bool is_selected(int n, const outcome *all, const dt__candidate *selected) {
    double least = INFINITY, quiet = INFINITY;
    for (int k = 0; k < n; k++) {
        least = fmin(least, all[k].us);
        quiet = fmin(quiet, all[k].sends ? INFINITY : all[k].us);
    }
    if (!isinf(quiet))
        return about(selected->cost_us, quiet);
    for (int first = 0; first < n; first++) {
        double best = INFINITY;
        for (int k = 0; k < n && about(all[first].us, least); k++)
            if (all[k].work <= all[first].work)
                best = fmin(best, all[k].us + all[k].finish_us);
        if (about(selected->cost_us + selected->finish_us, best) && selected->repeated_work <= all[first].work)
            return true;
    }
    return false;
}

static bool is_best(test_calls *self, const dt__placed_call *placed, const dt__candidate *selected) {
    dt__row_list rows;
    int n = 0, chosen[4] = {-1, -1, -1, -1};
    assert_int_equal(dt__op_call_rows(&self->arena, &placed->call, &rows), DT_OK);
    int64_t n_all = 1;
    for (int m = 0; m < self->n_mesh_dims; m++)
        n_all *= rows.n_rows + 1;
    outcome *all = malloc((size_t)n_all * sizeof *all);
    assert_non_null(all);
    for (;;) {
        if (!mixes_reductions(self, &rows, chosen) && !shards_nothing(self, placed, &rows, chosen) &&
            !strays_beside_windows(self, placed, &rows, chosen))
            all[n++] = outcome_by_definition(self, placed, &rows, chosen);
        int m = 0;
        while (m < self->n_mesh_dims && ++chosen[m] == rows.n_rows)
            chosen[m++] = -1;
        if (m == self->n_mesh_dims)
            break;
    }
    bool best = is_selected(n, all, selected);
    free(all);
    return best;
}

static const char *const kinds[] = {"R", "P(sum)", "S(0)", "S(1)", "S(2)"};

/* Random placements for a tensor with n dims. */
static void add_placements(uint64_t *seed, int n_mesh_dims, int n_dims, char *out) {
    for (int m = 0; m < n_mesh_dims; m++) {
        strcat(out, m ? "," : " ");
        strcat(out, kinds[test_below(seed, 2 + n_dims)]);
    }
}

/* A call with "@n" in place of the placements of a tensor with n dims. */
static void random_call(uint64_t *seed, int n_mesh_dims, const char *pattern, char *out) {
    *out = 0;
    for (; *pattern; pattern++) {
        size_t n = strlen(out);
        if (*pattern == '@')
            add_placements(seed, n_mesh_dims, *++pattern - '0', out);
        else {
            out[n] = *pattern;
            out[n + 1] = 0;
        }
    }
}

static void compare_with_search(const char *mesh, int n_rounds) {
    static const char *const patterns[] = {
        "mm(f32[64,32]@2; f32[32,48]@2)",
        "add(f32[63,5]@2; f32[5]@1)",
        "addmm(f32[48]@1; f32[64,32]@2; f32[32,48]@2)",
        "linear(f32[8,16,32]@3; f32[1024,32]@2; f32[1024]@1)",
        "where(bool[8,16]; f32[8,16]@2; f32[8,16]@2)",
        "layer_norm(f32[8,4096,24]@3; [24]; f32[24]@1; f32[24]@1)",
        "gather(f32[4096,8]@2; 0; i64[64,8])",
        "mean(f32[512,512,8]@3; [1])",
        "cat({f32[8,16]@2; f32[8,16]@2}; 1)",
        "softmax(f32[7,16,3]@3; 1)",
        "slice(f32[64,512]@2; 0; 3; 50)",
        "flip(f32[63,512]@2; [0])",
    };
    uint64_t seed = test_seed(5);
    for (int round = 0; round < n_rounds; round++)
        for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
            test_calls self = calls_open(mesh);
            char text[512];
            random_call(&seed, self.n_mesh_dims, patterns[p], text);
            dt__placed_call placed = calls_parse(&self, text);
            dt__placed_inputs inputs = calls_inputs(&self, &placed);
            inputs.machine = model;
            dt__candidate selected;
            assert_int_equal(dt__select_placements(&self.arena, &placed.call, &inputs, &selected), DT_OK);
            if (!is_best(&self, &placed, &selected))
                fail_msg("%s on %s: selected %.9g + %.9g us, which is not the best", text, mesh, selected.cost_us,
                         selected.finish_us);
            calls_close(&self);
        }
}

static void selection__equals_exhaustive_search(void **state) { /* SDS-019 SDS-021 SDS-025 */
    (void)state;
    compare_with_search("3", 40);
    compare_with_search("2,4", 20);
    compare_with_search("16,2", 20);
}

static void selection__equals_exhaustive_search_on_three_mesh_dims(void **state) { /* SDS-019 */
    (void)state;
    compare_with_search("2,2,3", 4);
    compare_with_search("4,2,8", 2);
}

static void selection__equals_exhaustive_search_with_measured_models(void **state) {
    (void)state;
    uint64_t seed = test_seed(9);
    for (int i = 0; i < 8; i++) {
        dt__machine machine = measured_model(&seed);
        model = &machine;
        compare_with_search("3", 2);
        compare_with_search("2,4", 2);
        if (i < 2)
            compare_with_search("2,2,3", 1);
        model = &dt__machine_builtin;
    }
}

/* The bound is at most the cost, for targets with even and uneven shards and partials. */
static void bound__is_never_above_the_cost(void **state) {
    (void)state;
    static const char *const meshes[] = {"4", "2,3", "2,4,8", "3,2,2", "2,2,4,4"};
    static const int64_t shapes[][3] = {{64, 32, 16}, {7, 5, 3}, {1024, 512, 64}, {1, 9, 2}, {1 << 21, 32, 16}};
    uint64_t seed = test_seed(3);
    dt__machine machines[4];
    for (int i = 0; i < 4; i++)
        machines[i] = measured_model(&seed);
    for (int round = 0; round < 20000; round++) {
        model = round % 8 < 4 ? &machines[round % 8] : &dt__machine_builtin;
        const char *mesh = meshes[test_below(&seed, 5)];
        char texts[2][100];
        test_calls self = calls_open(mesh);
        const int64_t *shape = shapes[test_below(&seed, 5)];
        dt_op_value value = {.dtype = DT_F32, .n_dims = 3, .shape = shape};
        dt_placement from[4], to[4];
        dt_row_entry entry[4];
        dt__sharding source, target;
        dt__cost_bound current, next;
        bool may_split[4]; /* also false, where no row shards the input */
        double us;
        for (int m = 0; m < self.n_mesh_dims; m++) {
            int a = (int)test_below(&seed, 5), b = (int)test_below(&seed, 5);
            from[m] = a < 3    ? dt_placement_shard(a)
                      : a == 3 ? dt_placement_partial(DT_SUM)
                               : dt_placement_replicate();
            entry[m] = b < 3 ? DT_ROW_S(b) : a == 3 && b == 3 ? DT_ROW_P(DT_SUM) : DT_ROW_R;
            to[m] = b < 3 ? dt_placement_shard(b) : a == 3 && b == 3 ? from[m] : dt_placement_replicate();
            may_split[m] = b < 3 || test_below(&seed, 2);
        }
        dt__sharding_desc desc = {self.n_mesh_dims, self.mesh, 3, shape, self.n_mesh_dims, from};
        assert_int_equal(dt__sharding_new(&self.arena, &desc, &source), DT_OK);
        desc.placements = to;
        assert_int_equal(dt__sharding_new(&self.arena, &desc, &target), DT_OK);
        dt__move move = {.from = &source, .to = &target, .item_bytes = 4};
        assert_int_equal(dt__plan_price(&self.arena, &move, model, NULL, INFINITY, NULL, &us), DT_OK);
        double least = dt__plan_price_lower_bound(&move, model);
        if (least > us * (1 + 1e-9))
            fail_msg("%s to %s on %s: the lower bound %.9g is above the cost %.9g",
                     calls_placements(self.n_mesh_dims, source.placements, texts[0], sizeof texts[0]),
                     calls_placements(self.n_mesh_dims, target.placements, texts[1], sizeof texts[1]), mesh, least,
                     us);
        dt__placed_inputs inputs = {self.n_mesh_dims, self.mesh, (const dt__sharding *const[]){&source}, model};
        dt__cost_bound_begin(&inputs, 0, &value, may_split, &current);
        double before = 0;
        for (int m = 0; m < self.n_mesh_dims; m++) {
            dt__cost_bound_decide(&inputs, 0, m, may_split[m], entry[m], &current, &next);
            current = next;
            double bound = dt__cost_bound_us(model, &current);
            if (bound > us * (1 + 1e-9))
                fail_msg("f32[%" PRId64 ",%" PRId64 ",%" PRId64 "] %s to %s on %s: bound %.9g is above the cost %.9g",
                         shape[0], shape[1], shape[2],
                         calls_placements(self.n_mesh_dims, source.placements, texts[0], sizeof texts[0]),
                         calls_placements(self.n_mesh_dims, target.placements, texts[1], sizeof texts[1]), mesh,
                         bound, us);
            assert_true(bound >= before * (1 - 1e-9));
            before = bound;
        }
        calls_close(&self);
    }
    model = &dt__machine_builtin;
}

static void selection__known_calls(void **state) {
    (void)state;
    static const struct {
        const char *mesh, *call, *expected;
        bool is_free;
    } cases[] = {
        {"4", "mm(f32[6,8] S(0); f32[8,12] R)", "S(0); R -> S(0)", true},         /* STR-015 */
        {"4", "mm(f32[6,8] R; f32[8,12] S(1))", "R; S(1) -> S(1)", true},         /* STR-015 CMR-001 */
        {"4", "mm(f32[6,8] S(1); f32[8,12] S(0))", "S(1); S(0) -> P(sum)", true}, /* CMR-003 */
        {"4", "mm(f32[6,8] R; f32[8,12] R)", "R; R -> R", true},
        {"2,2", "mm(f32[8,4] S(0),R; f32[4,8] R,S(1))", "S(0),R; R,S(1) -> S(0),S(1)", true},        /* CMR-007 */
        {"4", "bmm(f32[8,6,8] S(2); f32[8,8,12] S(1))", "S(2); S(1) -> P(sum)", true},               /* STR-016 */
        {"4", "add(f32[4,4,4] S(1); f32[4] R)", "S(1); R -> S(1)", true},                            /* CMR-005 */
        {"2,2", "add(f32[20,6] S(1),R; f32[6] S(0),R)", "S(1),R; S(0),R -> S(1),R", true},           /* CMR-014 */
        {"2,2,2", "mm(f32[64,32] S(0),R,R; f32[32,64] R,R,R)", "S(0),R,R; R,R,R -> S(0),R,R", true}, /* SDS-018 */
        {"2,2", "matmul(f32[16,16] S(0),S(1); f32[16,16] R,S(0))", "S(0),S(1); R,S(0) -> S(0),P(sum)",
         true}, /* DEC-002 */
        {"4", "linear(f32[8,4] S(1); f32[6,4] S(1); f32[6] R)", "S(1); S(1); P(sum) -> P(sum)", false},
        {"4", "mean(f32[5,3] S(0))", "S(0) -> P(sum)", true},
        {"4", "exp(f32[5,3] P(max))", "P(max) -> P(max)", true},
        {"4", "mul(f32[5,3] P(max); -2)", "P(max) -> P(min)", true},
        {"2,2", "sub(f32[5,3] R,P(max); f32[5,3] R,R)", "R,P(max); R,R -> R,P(max)", true},
        {"4", "split(f32[8,4] S(1); 3)", "S(1) -> S(1); S(1); S(1)", true},
        {"2,2", "cat({f32[8,8,8] P(sum),S(1); f32[8,8,8] P(sum),S(1)})", "P(sum),S(1); P(sum),S(1) -> P(sum),S(1)",
         true}, /* SDS-004 */
        {"4", "argmax(f32[8,8] S(0); 1)", "S(0) -> S(0)", true},
        {"4", "embedding(i64[8,16] R; f32[32,8] S(0))", "R; S(0) -> P(sum)", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double us = assert_selection(cases[i].mesh, cases[i].call, cases[i].expected);
        if (cases[i].is_free && us != 0)
            fail_msg("%s: expected no cost, got %g us", cases[i].call, us);
    }
}

/* Strided shards, orders and explicit extents are used as they are. */
static void selection__keeps_special_shards(void **state) { /* SDS-008 */
    (void)state;
    static const char *const cases[][3] = {
        {"4", "gelu(f32[16,3] _S(0,2))", "_S(0,2) -> _S(0,2)"},
        {"3", "gelu(f32[10,3] S(0:3,5,2))", "S(0:3,5,2) -> S(0:3,5,2)"},
        {"2,2", "gelu(f32[16,3] S(0)[1],S(0)[0])", "S(0)[1],S(0)[0] -> S(0)[1],S(0)[0]"},
        {"3", "add(f32[10,3] S(0:3,5,2); f32[10,3] R)", "S(0:3,5,2); S(0:3,5,2) -> S(0:3,5,2)"},
        {"2,2", "mm(f32[16,8] S(0)[1],S(0)[0]; f32[8,4] R,R)", "S(0)[1],S(0)[0]; R,R -> S(0)[1],S(0)[0]"},
        {"4", "mm(f32[16,8] _S(1,2); f32[8,4] _S(0,2))", "_S(1,2); _S(0,2) -> P(sum)"},
        {"3", "transpose(f32[10,3] S(0:3,5,2); 0; 1)", "S(0:3,5,2) -> S(1:3,5,2)"},
        {"2,2", "view(f32[8,4,8] R,S(1); [32,8])", "R,S(1) -> R,_S(0,8)"},
        {"2,2", "view(f32[32,8] R,_S(0,8); [8,4,8])", "R,_S(0,8) -> R,S(1)"},
        {"3", "view(f32[5,4] S(0); [20])", "S(0) -> S(0:8,8,4)"},
        {"3", "view(f32[20] S(0:8,8,4); [5,4])", "S(0:8,8,4) -> S(0)"},
        {"2,2", "reshape(f32[16] S(0),S(0); [2,8])", "S(0),S(0) -> S(0),S(1)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(assert_selection(cases[i][0], cases[i][1], cases[i][2]) < 1);
}

static void selection__in_place_keeps_the_first_tensor(void **state) { /* CMR-016 */
    (void)state;
    assert_selection("2,2", "add_(f32[12,4,8] S(0),S(2); f32[12,1,8] R,S(2))", "S(0),S(2); S(0),S(2) -> S(0),S(2)");
    assert_selection("4", "add_(f32[8,4] P(sum); f32[8,4] R)", "P(sum); P(sum) -> P(sum)");
    assert_selection("4", "add_(f32[8,4] R; f32[8,4] S(0))", "R; R -> R");
    assert_selection("4", "copy_(f32[8,4] S(1); f32[4] P(sum))", "S(1); S(0) -> S(1)");
    assert_selection("4", "mul_(f32[8,4] P(sum); 2)", "P(sum) -> P(sum)");
    assert_selection("4", "fill_(f32[8,4] P(sum); 0)", "P(sum) -> P(sum)");
}

static void selection__in_place_refuses_to_move_it(void **state) { /* SDS-016 PW-010 */
    (void)state;
    static const char *const refused[] = {"add_(f32[] P(sum); 2.0)", "mul_(f32[8,4] P(max); f32[8,4] R)",
                                          "clamp_(f32[] P(sum); max=10)", "exp_(f32[8] P(sum))",
                                          "neg_(f32[8] P(max))"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        test_calls self = calls_open("4");
        dt__placed_call placed = calls_parse(&self, refused[i]);
        dt__placed_inputs inputs = calls_inputs(&self, &placed);
        dt__candidate selected;
        assert_int_equal(dt__select_placements(&self.arena, &placed.call, &inputs, &selected), DT_ERR_PLACEMENT);
        assert_error_contains(self.ctx, DT_ERR_PLACEMENT, "in-place op cannot keep");
        calls_close(&self);
    }
}

static void selection__latency_counts(void **state) { /* STR-014 */
    (void)state;
    assert_selection("4", "addmm(f32[8] S(0); f32[50,6] P(sum); f32[6,8] S(1))", "S(0); R; S(1) -> S(1)");
}

/* Of combinations that send, a partial output counts with the bandwidth of reducing it, but repeating the work does not
 * win by that, and nothing wins over one that sends nothing. */
static void selection__partial_outputs_cost(void **state) {
    (void)state;
    assert_selection("2,2", "matmul(f32[4096,4096] S(0),R; f32[4096,4096] S(0),R)", "S(0),R; R,S(1) -> S(0),S(1)");
    assert_selection("3", "mm(f32[64,32] S(1); f32[32,48] S(1))", "R; S(1) -> S(1)");
    assert_selection("4", "mm(f32[4096,8] S(1); f32[8,4096] S(0))", "S(1); S(0) -> P(sum)"); /* sends nothing */
    assert_selection("4", "mm(f32[4096,8] S(1); f32[8,4096] R)", "S(1); S(0) -> P(sum)");
    assert_selection("3", "mm(f16[4,6] S(1); f16[6,4] S(1))", "R; S(1) -> S(1)"); /* partial sums would be rounded */
}

/* A row that needs its offset is not used with strided shards. */
static void selection__offsets_need_contiguous_runs(void **state) {
    (void)state;
    assert_selection("4", "index_select(f32[16,3] S(0); 0; i64[5] R)", "S(0); R -> P(sum)");
    assert_selection("4", "index_select(f32[16,3] S(0:1,2,3,10); 0; i64[5] R)", "S(0:1,2,3,10); R -> P(sum)");
    assert_true(assert_selection("4", "index_select(f32[16,3] _S(0,2); 0; i64[5] R)", "") > 0);
}

/* Tensors without elements, whatever the other sizes are. */
static void selection__huge_sizes_beside_an_empty_dim(void **state) {
    (void)state;
    assert_selection("2,2", "softmax(f32[1,9223372036854775807,8,0,2] S(1),P(sum); 0)", "");
    assert_selection("2,2", "neg(f32[9223372036854775807,8,0] S(0),P(max))", "");
}

static void candidates__are_in_order_of_cost(void **state) {
    (void)state;
    test_calls self = calls_open("2,2");
    dt__placed_call placed = calls_parse(&self, "mm(f32[64,32] S(0),P(sum); f32[32,48] R,S(1))");
    dt__placed_inputs inputs = calls_inputs(&self, &placed);
    dt__candidate best, candidates[8];
    int n;
    assert_int_equal(dt__select_placements(&self.arena, &placed.call, &inputs, &best), DT_OK);
    assert_int_equal(dt__list_candidates(&self.arena, &placed.call, &inputs, 8, candidates, &n), DT_OK);
    assert_int_equal(n, 8);
    assert_true(candidates[0].cost_us == best.cost_us);
    for (int i = 2; i < n; i++)
        assert_true(candidates[i].cost_us + candidates[i].finish_us >=
                    candidates[i - 1].cost_us + candidates[i - 1].finish_us - 1e-9);
    calls_close(&self);
}

static bool select_once(dt_ctx *ctx, void *user) {
    dt__arena arena = dt__arena_new(ctx);
    dt__placed_call placed;
    dt__candidate selected;
    int64_t mesh[] = {2, 3};
    bool ok = dt__ops_open(ctx) == DT_OK && dt__placed_call_parse(&arena, user, 2, mesh, &placed) == DT_OK;
    dt__placed_inputs inputs = {2, mesh, placed.inputs, &dt__machine_builtin};
    ok = ok && dt__select_placements(&arena, &placed.call, &inputs, &selected) == DT_OK;
    dt__arena_free(&arena);
    return ok;
}

static void selection__survives_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(
                    select_once, "linear(f32[5,4] S(0),P(sum); f32[6,4] S(1),R; f32[6] R,S(0))") > 5);
    assert_true(assert_survives_failing_allocations(select_once, "view(f32[5,4] R,S(0); [20])") > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection__equals_exhaustive_search),
        cmocka_unit_test(selection__equals_exhaustive_search_on_three_mesh_dims),
        cmocka_unit_test(selection__equals_exhaustive_search_with_measured_models),
        cmocka_unit_test(bound__is_never_above_the_cost),
        cmocka_unit_test(selection__known_calls),
        cmocka_unit_test(selection__keeps_special_shards),
        cmocka_unit_test(selection__in_place_keeps_the_first_tensor),
        cmocka_unit_test(selection__in_place_refuses_to_move_it),
        cmocka_unit_test(selection__latency_counts),
        cmocka_unit_test(selection__partial_outputs_cost),
        cmocka_unit_test(selection__offsets_need_contiguous_runs),
        cmocka_unit_test(selection__huge_sizes_beside_an_empty_dim),
        cmocka_unit_test(candidates__are_in_order_of_cost),
        cmocka_unit_test(selection__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
