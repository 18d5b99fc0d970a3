/* SPDX-License-Identifier: Apache-2.0
 *
 * Shards inputs or makes partials of them as a row states, runs the kernel on each rank's local tensors, and compares
 * the outputs of all ranks together with the reference, which is computed on one rank.
 *
 * A row must hold for numbers, ties and zeros; for NaN, which every reduction propagates unless the result is an
 * integer; and for infinities in tensors that are sharded or replicated, and in P(max) and P(min). Terms of an infinite
 * sum are arbitrary, so for a row that adds terms, results that are infinite, or NaN of numbers, are not compared.
 */
#include "verify/trial.h"

#include "base/assume.h"
#include "base/size.h"
#include "tensor/tensor.h"
#include "verify/simulated_windows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDINGS = 32, SEED = 7 };

static bool is_linear(dt_row_entry entry) {
    return entry == DT_ROW_P(DT_SUM) || entry == DT_ROW_P(DT_AVG) || entry == DT_ROW_P(DT_PRODUCT);
}
static bool is_extreme(dt_row_entry entry) { return entry == DT_ROW_P(DT_MAX) || entry == DT_ROW_P(DT_MIN); }

static bool has_entry(const dt_op_call *call, const dt__row *row, bool (*is)(dt_row_entry entry)) {
    for (int i = 0; i < call->n_inputs; i++)
        if (is(row->entries[i]))
            return true;
    return false;
}

bool dt__trial_applies(const dt__trial_call *trial_call, const dt__row *row, dt__trial trial) {
    const dt_op_call *call = &trial_call->placed.call;
    bool linear = has_entry(call, row, is_linear), extreme = has_entry(call, row, is_extreme);
    if (trial_call->is_refused[trial.kind])
        return false;
    if (!linear && !extreme && trial.style > 0)
        return false;
    for (int o = 0; o < call->n_outputs && trial.kind == DT__VALUES_NAN && (linear || extreme); o++)
        if (dt__is_integral(call->outputs[o].dtype) && call->outputs[o].dtype != DT_BOOL)
            return false;
    return trial.kind != DT__VALUES_INFINITE || !linear;
}

/* Where a P(max) or P(min) has infinities, other tensors are finite. */
static dt__value_kind kind_of(const dt__row *row, int input, bool extreme, dt__value_kind kind) {
    return kind == DT__VALUES_INFINITE && extreme && !is_extreme(row->entries[input]) ? DT__VALUES_MIXED : kind;
}

static int64_t elements_of(const dt_op_value *value) { return dt__elements(value->n_dims, value->shape); }

/* Memory between guard bytes. */
static void *allocate_padded(const dt__trial_call *trial_call, int64_t elements, dt_dtype dtype) {
    size_t bytes = (size_t)elements * dt_dtype_size(dtype), all = bytes + 2 * trial_call->pad;
    unsigned char *memory = dt__arena_alloc(trial_call->arena, all, 1);
    if (!memory)
        return NULL;
    memset(memory, 0x5a, all);
    return memory + trial_call->pad;
}

static bool pad_is_untouched(const dt__trial_call *trial_call, const void *part, size_t bytes) {
    const unsigned char *first = part;
    for (size_t i = 0; i < trial_call->pad; i++)
        if (first[-(ptrdiff_t)(i + 1)] != 0x5a || first[bytes + i] != 0x5a)
            return false;
    return true;
}

static dt_status new_values(const dt__trial_call *trial_call, int n, const dt_op_value *like, dt_op_value **out) {
    *out = dt__arena_copy(trial_call->arena, like, (size_t)n, sizeof *like);
    for (int i = 0; i < n && *out; i++) {
        int64_t *strides = DT__NEW_ARRAY(trial_call->arena, int64_t, DT_SPEC_MAX_DIMS);
        if (!strides)
            return DT_ERR_MEMORY;
        dt__row_strides((*out)[i].n_dims, (*out)[i].shape, strides);
        (*out)[i].strides = strides;
    }
    return *out ? DT_OK : DT_ERR_MEMORY;
}

static void *element_at(const dt_op_value *value, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < value->n_dims; d++)
        at += index[d] * value->strides[d];
    return (unsigned char *)value->data + at * (int64_t)dt_dtype_size(value->dtype);
}

static void unravel(int n_dims, const int64_t *shape, int64_t at, int64_t *index) {
    for (int d = n_dims - 1; d >= 0; d--) {
        index[d] = at % shape[d];
        at /= shape[d];
    }
}

static int64_t ravel(int n_dims, const int64_t *shape, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < n_dims; d++)
        at = at * shape[d] + index[d];
    return at;
}

static uint64_t seed_of(dt__value_kind kind, int round) { return SEED + (uint64_t)kind + 100 * (uint64_t)round; }

static dt__element global_value(const dt__trial_call *trial_call, int input, dt__value_kind kind, int round,
                                int64_t element) {
    dt__element_id spot = {seed_of(kind, round), input, element};
    if (input < 64 && trial_call->indices >> input & 1)
        return (dt__element){.i = dt__trial_index(&spot, trial_call->index_size)};
    return dt__trial_value(trial_call->placed.call.inputs[input].dtype, kind, &spot);
}

static const int64_t zero_offset[DT_SPEC_MAX_DIMS]; /* of a full tensor */

/* Memory for each value, whose shape and dtype are set. */
static dt_status allocate_values(const dt__trial_call *trial_call, int n, dt_op_value *values) {
    for (int i = 0; i < n; i++) {
        values[i].data = allocate_padded(trial_call, elements_of(&values[i]), values[i].dtype);
        if (!values[i].data)
            return DT_ERR_MEMORY;
    }
    return DT_OK;
}

static void fill_inputs(dt__trial_call *trial_call, const dt__value_kind *kinds, int round, dt_op_value *inputs) {
    for (int i = 0; i < trial_call->placed.call.n_inputs; i++) {
        int64_t n = elements_of(&inputs[i]);
        unsigned char *to = inputs[i].data;
        for (int64_t e = 0; e < n; e++, to += dt_dtype_size(inputs[i].dtype))
            dt__element_write(inputs[i].dtype, global_value(trial_call, i, kinds[i], round, e), to);
    }
}

/* Whether the values of an entry are compared: outputs, and inputs that are written without being returned. */
static bool is_result(const dt_op_call *call, int entry) {
    if (entry >= call->n_inputs)
        return true;
    for (int o = 0; o < call->n_outputs; o++)
        if (dt__output_input(call, o) == entry)
            return false;
    return dt__writes_input(call, entry);
}

static dt_status read_results(dt__trial_call *trial_call, const dt_op_value *values, dt__reference_outputs *out) {
    const dt_op_call *call = &trial_call->placed.call;
    int n_entries = call->n_inputs + call->n_outputs;
    out->has_nonzero = false;
    out->entries = DT__NEW_ARRAY(trial_call->arena, dt__element *, n_entries + 1);
    for (int i = 0; i < n_entries && out->entries; i++) {
        const dt_op_value *value = &values[i];
        if (!is_result(call, i))
            continue;
        int64_t n = elements_of(value), index[DT_SPEC_MAX_DIMS];
        dt__element *elements = out->entries[i] = DT__NEW_ARRAY(trial_call->arena, dt__element, n + 1);
        for (int64_t e = 0; e < n && elements; e++) {
            unravel(value->n_dims, value->shape, e, index);
            elements[e] = dt__element_read(value->dtype, element_at(value, index));
            out->has_nonzero |= elements[e].i != 0 || elements[e].re != 0 || elements[e].im != 0;
        }
        if (!elements)
            return DT_ERR_MEMORY;
    }
    return out->entries ? DT_OK : DT_ERR_MEMORY;
}

/* The kernel on the full tensors; each input has its own kind of values. Errors are in the context of the one rank. */
static dt_status run_reference(dt__trial_call *trial_call, const dt__value_kind *kinds, int round,
                               dt__reference_outputs *out) {
    const dt_op_call *call = &trial_call->placed.call;
    const dt__sim_rank *single_rank = dt__sim_ranks(trial_call->sim, 1);
    int n_entries = call->n_inputs + call->n_outputs;
    dt_op_value *like = DT__NEW_ARRAY(trial_call->arena, dt_op_value, n_entries), *values;
    if (!single_rank || !like)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n_entries; i++) {
        like[i] = *dt__row_value(call, i);
        like[i].global_shape = like[i].shape;
        like[i].offset = zero_offset;
    }
    DT__TRY(new_values(trial_call, n_entries, like, &values));
    DT__TRY(allocate_values(trial_call, n_entries, values));
    fill_inputs(trial_call, kinds, round, values);
    DT__TRY(dt__sim_rank_run(single_rank, &trial_call->placed, 0, values, call->n_outputs, values + call->n_inputs));
    return read_results(trial_call, values, out);
}

static dt_status find_reference(dt__trial_call *trial_call, const dt__row *row, dt__value_kind kind, int round,
                                const dt__reference_outputs **out) {
    const dt_op_call *call = &trial_call->placed.call;
    bool extreme = row && has_entry(call, row, is_extreme), mixed = false;
    dt__value_kind *kinds = DT__NEW_ARRAY(trial_call->arena, dt__value_kind, call->n_inputs + 1);
    dt__reference_outputs *reference = &trial_call->references[kind][round];
    if (!kinds)
        return DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs; i++) {
        kinds[i] = row ? kind_of(row, i, extreme, kind) : kind;
        mixed |= kinds[i] != kind;
    }
    *out = reference;
    if (!mixed && reference->entries)
        return DT_OK;
    if (mixed) {
        reference = DT__NEW(trial_call->arena, dt__reference_outputs);
        *out = reference;
    }
    return reference ? run_reference(trial_call, kinds, round, reference) : DT_ERR_MEMORY;
}

/* The local inputs of one rank. */
static dt_status fill_local_inputs(dt__trial_call *trial_call, const dt__sim_windows *windows, const dt__row *row,
                                   dt__trial trial, dt_op_value *inputs) {
    const dt_op_call *call = &trial_call->placed.call;
    const dt__row_specs *specs = windows->specs;
    bool extreme = has_entry(call, row, is_extreme);
    int64_t index[DT_SPEC_MAX_DIMS], global[DT_SPEC_MAX_DIMS];
    int r = windows->rank;
    DT__TRY(allocate_values(trial_call, call->n_inputs, inputs));
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_spec *spec = dt__row_specs_at(specs, r, i);
        dt__value_kind kind = kind_of(row, i, extreme, trial.kind);
        dt__partial_style style =
            (dt__partial_style)((trial.style < DT__N_STYLES ? trial.style : trial.style + i) % DT__N_STYLES);
        unsigned char *to = inputs[i].data;
        int64_t n = elements_of(&inputs[i]);
        for (int64_t e = 0; e < n; e++, to += dt_dtype_size(spec->dtype)) {
            unravel(inputs[i].n_dims, inputs[i].shape, e, index);
            dt__sim_windows_to_global(windows, i, index, global);
            int64_t at = ravel(spec->sharding.n_dims, spec->sharding.shape, global);
            dt__element value = global_value(trial_call, i, kind, trial.round, at);
            if (row->entries[i] < 0)
                value =
                    dt__partial_value(spec->dtype, (dt_reduce)(-1 - row->entries[i]), style,
                                      &(dt__element_id){seed_of(trial.kind, trial.round), i, at}, value, specs->n, r);
            dt__element_write(spec->dtype, value, to);
        }
    }
    return DT_OK;
}

static dt_op_value value_of(const dt_spec *spec) {
    return (dt_op_value){.dtype = spec->dtype,
                         .n_dims = spec->local.n_dims,
                         .shape = spec->local.shape,
                         .global_shape = spec->sharding.shape,
                         .offset = spec->local.offset,
                         .spec = spec};
}

/* The local tensors of one rank, a value per entry, with memory; the inputs are filled. */
static dt_status prepare_rank(dt__trial_call *trial_call, const dt__sim_windows *windows, const dt__row *row,
                              dt__trial trial, dt_op_value **values) {
    const dt_op_call *call = &trial_call->placed.call;
    const dt__row_specs *specs = windows->specs;
    dt_op_value *like = DT__NEW_ARRAY(trial_call->arena, dt_op_value, specs->n_entries);
    if (!like)
        return DT_ERR_MEMORY;
    for (int e = 0; e < specs->n_entries; e++)
        like[e] = value_of(dt__row_specs_at(specs, windows->rank, e));
    for (int i = 0; i < call->n_inputs && windows->used; i++)
        DT__TRY(dt__sim_windows_shape(trial_call->arena, windows, i, &like[i]));
    DT__TRY(new_values(trial_call, specs->n_entries, like, values));
    DT__TRY(fill_local_inputs(trial_call, windows, row, trial, *values));
    return allocate_values(trial_call, call->n_outputs, *values + call->n_inputs);
}

/* Runs all ranks: values[rank] has a value per entry. */
static dt_status run_ranks(dt__trial_call *trial_call, const dt__sim_rank *ranks, const dt__row_specs *specs,
                           const dt__row *row, dt__trial trial, dt_op_value **values, dt__text *failure) {
    const dt_op_call *call = &trial_call->placed.call;
    bool own = !dt__returns_views(call->op, row->flags);
    dt__sim_windows windows[DT__MAX_SIM_RANKS];
    for (int r = 0; r < specs->n; r++) {
        if (dt__sim_windows_new(trial_call->arena, call, row, specs, r, &windows[r]) != DT_OK) {
            dt__text_add(failure, "rank %d: %s", r, dt_error_text(call->ctx));
            return dt__sim_rank_clear_error(dt__sim_ranks(trial_call->sim, 1), trial_call->arena->ctx);
        }
        DT__TRY(prepare_rank(trial_call, &windows[r], row, trial, &values[r]));
    }
    if (row->flags & DT__ROW_STATES)
        DT__TRY(
            dt__sim_ranks_meet(trial_call->arena, ranks, specs->n, &trial_call->placed, row->flags, values, failure));
    for (int r = 0; r < specs->n && !failure->n_chars; r++) {
        dt_op_value *outputs = values[r] + call->n_inputs;
        bool is_result = windows[r].used && dt__windows_are_result(call);
        bool runs = !(row->flags & DT__ROW_STATES) && !windows[r].needs_none && !is_result;
        if (is_result)
            dt__sim_windows_copy(&windows[r], call, values[r]);
        if (runs && dt__sim_rank_run(&ranks[r], &trial_call->placed, row->flags, values[r], call->n_outputs,
                                     outputs) != DT_OK)
            dt__text_add(failure, "rank %d failed: %s", r, dt_error_text(ranks[r].ctx));
        DT__TRY(dt__sim_rank_clear_error(&ranks[r], trial_call->arena->ctx));
        for (int o = 0; o < call->n_outputs && own && !failure->n_chars; o++) {
            if (dt__output_input(call, o) >= 0)
                continue;
            size_t bytes = (size_t)elements_of(&outputs[o]) * dt_dtype_size(outputs[o].dtype);
            if (!pad_is_untouched(trial_call, outputs[o].data, bytes))
                dt__text_add(failure, "rank %d writes outside its local output", r);
        }
    }
    return DT_OK;
}

/* The outputs of a trial while they are compared. */
typedef struct comparison {
    dt__trial_call *trial_call;
    const dt__row_specs *specs;
    const dt__row *row;
    dt__trial trial;
    dt_op_value *const *values; /* [rank][entry] */
    bool linear;
    double epsilon; /* of the dtype with the largest one */
    dt__text *failure;
} comparison;

static bool is_compared(const comparison *self, dt_dtype dtype, dt__element expected) {
    if (!self->linear)
        return true;
    return !dt__element_is_infinite(dtype, expected) &&
           (self->trial.kind == DT__VALUES_NAN || !dt__element_is_nan(dtype, expected));
}

static bool compare_element(const comparison *self, int entry, int64_t at, dt__element expected, dt__element got,
                            double largest) {
    const dt_op_call *call = &self->trial_call->placed.call;
    const dt_op_value *output = dt__row_value(call, entry);
    dt_dtype dtype = output->dtype;
    double size = 1 + dt__element_magnitude(dtype, expected) + largest;
    int64_t index[DT_SPEC_MAX_DIMS];
    if (!is_compared(self, dtype, expected) ||
        dt__element_close(dtype, expected, got, ROUNDINGS * self->epsilon * size))
        return true;
    unravel(output->n_dims, output->shape, at, index);
    dt__text_add(self->failure, "element [");
    for (int d = 0; d < output->n_dims; d++)
        dt__text_add(self->failure, "%s%lld", d ? "," : "", (long long)index[d]);
    bool is_input = entry < call->n_inputs;
    dt__text_add(self->failure, "] of %s %d: expected ", is_input ? "input" : "output",
                 is_input ? entry + 1 : entry - call->n_inputs + 1);
    dt__element_text(dtype, expected, self->failure);
    dt__text_add(self->failure, ", got ");
    dt__element_text(dtype, got, self->failure);
    return false;
}

/* Of Replicate and of shards, each local element equals the global one. */
static bool compare_local(const comparison *self, int entry, const dt__element *expected) {
    int64_t index[DT_SPEC_MAX_DIMS], global[DT_SPEC_MAX_DIMS];
    for (int r = 0; r < self->specs->n; r++) {
        const dt_op_value *part = &self->values[r][entry];
        int64_t n = elements_of(part), coordinate[1] = {r};
        for (int64_t e = 0; e < n; e++) {
            unravel(part->n_dims, part->shape, e, index);
            (void)dt_spec_to_global(part->spec, coordinate, index, global);
            int64_t at = ravel(part->n_dims, part->global_shape, global);
            if (!compare_element(self, entry, at, expected[at],
                                 dt__element_read(part->dtype, element_at(part, index)), 0))
                return false;
        }
    }
    return true;
}

static bool compare_reduced(const comparison *self, int entry, dt_reduce reduce, const dt__element *expected) {
    DT__ASSUME(self->specs->n > 0);
    const dt_op_value *first = &self->values[0][entry];
    int64_t n = elements_of(first), index[DT_SPEC_MAX_DIMS];
    dt__element parts[DT__MAX_SIM_RANKS];
    for (int64_t e = 0; e < n; e++) {
        double largest = 0;
        unravel(first->n_dims, first->shape, e, index);
        for (int r = 0; r < self->specs->n; r++) {
            parts[r] = dt__element_read(first->dtype, element_at(&self->values[r][entry], index));
            double size = dt__element_magnitude(first->dtype, parts[r]);
            largest = size > largest ? size : largest;
        }
        bool adds = reduce == DT_SUM || reduce == DT_AVG;
        unsigned char rounded[16]; /* as the dtype has it: products may overflow */
        dt__element_write(first->dtype, dt__element_reduce(first->dtype, reduce, self->specs->n, parts), rounded);
        dt__element got = dt__element_read(first->dtype, rounded);
        /* Of f16, products of some factors overflow where that of all does not. */
        bool overflows = reduce == DT_PRODUCT && first->dtype == DT_F16 && isinf(got.re);
        if (!overflows && !compare_element(self, entry, e, expected[e], got, adds ? largest : 0))
            return false;
    }
    return true;
}

static double max_epsilon(const dt_op_call *call) {
    double epsilon = 0;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        dt_dtype dtype = e < call->n_inputs ? call->inputs[e].dtype : call->outputs[e - call->n_inputs].dtype;
        double here = dt__dtype_epsilon(dtype);
        epsilon = here > epsilon ? here : epsilon;
    }
    return epsilon;
}

static void compare_outputs(comparison *self, const dt__reference_outputs *reference) {
    const dt_op_call *call = &self->trial_call->placed.call;
    self->linear = has_entry(call, self->row, is_linear);
    self->epsilon = max_epsilon(call);
    bool fine = true;
    for (int e = 0; e < call->n_inputs + call->n_outputs && fine; e++) {
        dt_row_entry entry = self->row->entries[e];
        bool skipped =
            e >= call->n_inputs && self->trial.only_output && e - call->n_inputs + 1 != self->trial.only_output;
        if (is_result(call, e) && !skipped)
            fine = entry < 0 ? compare_reduced(self, e, (dt_reduce)(-1 - entry), reference->entries[e])
                             : compare_local(self, e, reference->entries[e]);
    }
}

static dt_status try_row(dt__trial_call *trial_call, const dt__sim_rank *ranks, const dt__row_specs *specs,
                         const dt__row *row, dt__trial trial, dt__text *failure) {
    const dt__reference_outputs *reference;
    dt_op_value *values[DT__MAX_SIM_RANKS];
    DT__TRY(find_reference(trial_call, row, trial.kind, trial.round, &reference));
    DT__TRY(run_ranks(trial_call, ranks, specs, row, trial, values, failure));
    comparison self = {trial_call, specs, row, trial, values, false, 0, failure};
    if (!failure->n_chars)
        compare_outputs(&self, reference);
    return dt__text_status(failure);
}

dt_status dt__trial_run(dt__trial_call *trial_call, const dt__sim_rank *ranks, const dt__row_specs *specs,
                        const dt__row *row, dt__trial trial, const char **failure) {
    dt__text found = dt__text_new(trial_call->arena->ctx);
    const dt__reference_outputs *ignored;
    *failure = NULL;
    dt_status status = find_reference(trial_call, NULL, trial.kind, trial.round,
                                      &ignored); /* cached: before the mark of what is rewound */
    dt__arena_mark mark = dt__arena_begin(trial_call->arena);
    if (status == DT_OK)
        status = try_row(trial_call, ranks, specs, row, trial, &found);
    dt__arena_rewind(trial_call->arena, mark);
    if (status == DT_OK && found.n_chars)
        status = (*failure = dt__arena_copy_text(trial_call->arena, dt__text_chars(&found))) ? DT_OK : DT_ERR_MEMORY;
    dt__text_free(&found);
    return status;
}

/* Inputs that can only be indices: i64 among other dtypes, i32 among floating point. */
static uint64_t find_indices(const dt_op_call *call) {
    uint64_t long_ones = 0, short_ones = 0;
    bool floating = false;
    int n = call->n_inputs < 64 ? call->n_inputs : 64, n_long = 0;
    for (int i = 0; i < n; i++) {
        dt_dtype dtype = call->inputs[i].dtype;
        floating |= !dt__is_integral(dtype);
        long_ones |= (uint64_t)(dtype == DT_I64) << i;
        short_ones |= (uint64_t)(dtype == DT_I32) << i;
        n_long += dtype == DT_I64;
    }
    return (n_long < n ? long_ones : 0) | (floating ? short_ones : 0);
}

static int64_t largest_size(const dt_op_call *call) {
    int64_t size = 1;
    for (int i = 0; i < call->n_inputs; i++)
        for (int d = 0; d < call->inputs[i].n_dims; d++)
            size = call->inputs[i].shape[d] > size ? call->inputs[i].shape[d] : size;
    return size;
}

static void set_sizes(dt__trial_call *self) {
    const dt_op_call *call = &self->placed.call;
    self->pad = 64;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        const dt_op_value *value = e < call->n_inputs ? &call->inputs[e] : &call->outputs[e - call->n_inputs];
        int64_t elements = elements_of(value);
        size_t bytes = (size_t)elements * dt_dtype_size(value->dtype);
        self->elements += elements;
        self->pad = bytes + 64 > self->pad ? bytes + 64 : self->pad;
    }
    self->pad = (self->pad + 63) / 64 * 64;
    self->indices = find_indices(call);
    self->index_size = self->indices ? largest_size(call) : 1;
}

static void use_integers_as_indices(dt__trial_call *self) {
    const dt_op_call *call = &self->placed.call;
    for (int i = 0; i < call->n_inputs && i < 64; i++)
        self->indices |= (uint64_t)(call->inputs[i].dtype == DT_I64) << i;
    for (int o = 0; o < call->n_outputs && self->indices; o++)
        for (int d = 0; d < call->outputs[o].n_dims; d++)
            self->index_size = dt__max_i64(self->index_size, call->outputs[o].shape[d] + 1);
}

static dt_status find_references_of(dt__trial_call *self, dt__value_kind kind) {
    const dt__reference_outputs *ignored;
    for (int round = 0; round < dt__trial_call_rounds(self); round++)
        DT__TRY(find_reference(self, NULL, kind, round, &ignored));
    return DT_OK;
}

/* All references at once, so that no trial has an index that the op refuses. An op without indices may refuse values
 * that are not finite. */
static dt_status find_references(dt__trial_call *self) {
    memset(self->references, 0, sizeof self->references);
    for (int kind = 0; kind < DT__N_VALUE_KINDS; kind++) {
        dt_status status = find_references_of(self, (dt__value_kind)kind);
        self->is_refused[kind] =
            status == DT_ERR_VALUE && !self->indices && (kind == DT__VALUES_NAN || kind == DT__VALUES_INFINITE);
        if (self->is_refused[kind])
            status = dt__sim_rank_clear_error(dt__sim_ranks(self->sim, 1), self->sim->ctx);
        DT__TRY(status);
    }
    return DT_OK;
}

dt_status dt__trial_call_new(dt__sim *sim, dt__arena *arena, const char *text, dt__trial_call *out, bool *usable,
                             size_t capacity, char *reason) {
    const dt__sim_rank *single_rank = dt__sim_ranks(sim, 1);
    *out = (dt__trial_call){.sim = sim, .arena = arena, .text = text, .index_size = 1};
    *usable = false;
    if (!single_rank)
        return dt_error_status(sim->ctx);
    if (sim->texts.ctx)
        dt__arena_free(&sim->texts);
    sim->texts = dt__arena_new(single_rank->ctx);
    dt_status status = dt__placed_call_parse(&sim->texts, text, 1, (const int64_t[]){1}, &out->placed);
    if (status == DT_OK && out->placed.call.op->n_saved) { /* with the outputs that only gradients use */
        out->placed.call.records = true;
        status = dt__op_call_infer(&sim->texts, &out->placed.call);
    }
    if (status == DT_OK) {
        set_sizes(out);
        status = find_references(out);
        if (status != DT_OK && !out->indices) /* an input that the op refuses may hold indices, as for one_hot */
            use_integers_as_indices(out);
        /* The limit of indices is found by trying. */
        while (status != DT_OK && --out->index_size > 0) {
            DT__TRY(dt__sim_rank_clear_error(single_rank, sim->ctx));
            status = find_references(out);
        }
    }
    snprintf(reason, capacity, "%s", dt_error_text(single_rank->ctx));
    *usable = status == DT_OK;
    DT__TRY(dt__sim_rank_clear_error(single_rank, sim->ctx));
    return sim->ctx->status == DT_ERR_MEMORY ? DT_ERR_MEMORY : DT_OK;
}
