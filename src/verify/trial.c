/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts and splits whole inputs as a row says, runs the kernel on each rank's part, and compares what the parts are
 * together with the truth of one rank.
 *
 * What a row has to hold for: numbers, ties, zeros; NaN, which every reduction hands on, except where the result is an
 * integer, as NaN has none; infinities in tensors that are cut or kept whole, and in extremes. Parts of infinity do not
 * add up, so a row that adds parts is not asked about results that are infinite, or NaN of numbers.
 */
#include "verify/trial.h"

#include "base/assume.h"
#include "tensor/tensor.h"

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

bool dt__trial_applies(const dt__trial_call *subject, const dt__row *row, dt__trial trial) {
    const dt_op_call *call = &subject->of.call;
    bool linear = has_entry(call, row, is_linear), extreme = has_entry(call, row, is_extreme);
    if (!linear && !extreme && trial.style > 0)
        return false;
    for (int o = 0; o < call->n_outputs && trial.fill == DT__VALUES_NAN && (linear || extreme); o++)
        if (dt__is_integral(call->outputs[o].dtype) && call->outputs[o].dtype != DT_BOOL)
            return false;
    return trial.fill != DT__VALUES_INFINITE || !linear;
}

/* Beside an extreme with infinities, other tensors are finite. */
static dt__value_kind fill_of(const dt__row *row, int input, bool extreme, dt__value_kind fill) {
    return fill == DT__VALUES_INFINITE && extreme && !is_extreme(row->entries[input]) ? DT__VALUES_MIXED : fill;
}

static int64_t elements_of(const dt_op_value *value) { return dt__elements(value->n_dims, value->shape); }

/* Memory for a part, amid bytes that belong to nobody. */
static void *padded(const dt__trial_call *subject, int64_t elements, dt_dtype dtype) {
    size_t bytes = (size_t)elements * dt_dtype_size(dtype), all = bytes + 2 * subject->pad;
    unsigned char *memory = dt__arena_alloc(subject->arena, all, 1);
    if (!memory)
        return NULL;
    memset(memory, 0x5a, all);
    return memory + subject->pad;
}

static bool pad_is_untouched(const dt__trial_call *subject, const void *part, size_t bytes) {
    const unsigned char *first = part;
    for (size_t i = 0; i < subject->pad; i++)
        if (first[-(ptrdiff_t)(i + 1)] != 0x5a || first[bytes + i] != 0x5a)
            return false;
    return true;
}

static dt_status new_values(const dt__trial_call *subject, int n, const dt_op_value *like, dt_op_value **out) {
    *out = dt__arena_copy(subject->arena, like, (size_t)n, sizeof *like);
    for (int i = 0; i < n && *out; i++) {
        int64_t *strides = DT__NEW_ARRAY(subject->arena, int64_t, DT_SPEC_MAX_DIMS);
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

static uint64_t seed_of(dt__value_kind fill, int round) { return SEED + (uint64_t)fill + 100 * (uint64_t)round; }

static dt__element whole_value(const dt__trial_call *subject, int input, dt__value_kind fill, int round,
                               int64_t element) {
    dt__element_id spot = {seed_of(fill, round), input, element};
    if (input < 64 && subject->indices >> input & 1)
        return (dt__element){.i = dt__trial_index(&spot, subject->index_size)};
    return dt__trial_value(subject->of.call.inputs[input].dtype, fill, &spot);
}

static const int64_t nowhere[DT_SPEC_MAX_DIMS]; /* offset of a whole tensor */

/* Memory for each value, whole or part; what dims and dtype say is set. */
static dt_status give_memory(const dt__trial_call *subject, int n, dt_op_value *values) {
    for (int i = 0; i < n; i++) {
        values[i].data = padded(subject, elements_of(&values[i]), values[i].dtype);
        if (!values[i].data)
            return DT_ERR_MEMORY;
    }
    return DT_OK;
}

static void fill_whole(dt__trial_call *subject, const dt__value_kind *fills, int round, dt_op_value *inputs) {
    for (int i = 0; i < subject->of.call.n_inputs; i++) {
        int64_t n = elements_of(&inputs[i]);
        unsigned char *to = inputs[i].data;
        for (int64_t e = 0; e < n; e++, to += dt_dtype_size(inputs[i].dtype))
            dt__element_write(inputs[i].dtype, whole_value(subject, i, fills[i], round, e), to);
    }
}

static dt_status read_whole(dt__trial_call *subject, const dt_op_value *outputs, dt__reference_outputs *out) {
    int n_outputs = subject->of.call.n_outputs;
    out->says_something = false;
    out->outputs = DT__NEW_ARRAY(subject->arena, dt__element *, n_outputs + 1);
    for (int o = 0; o < n_outputs && out->outputs; o++) {
        const dt_op_value *value = &outputs[o];
        int64_t n = elements_of(value), index[DT_SPEC_MAX_DIMS];
        dt__element *elements = out->outputs[o] = DT__NEW_ARRAY(subject->arena, dt__element, n + 1);
        for (int64_t e = 0; e < n && elements; e++) {
            unravel(value->n_dims, value->shape, e, index);
            elements[e] = dt__element_read(value->dtype, element_at(value, index));
            out->says_something |= elements[e].i != 0 || elements[e].re != 0 || elements[e].im != 0;
        }
        if (!elements)
            return DT_ERR_MEMORY;
    }
    return out->outputs ? DT_OK : DT_ERR_MEMORY;
}

/* The kernel on the whole tensors; each input has its own kind of values. A refusal is in the lone rank's context. */
static dt_status run_whole(dt__trial_call *subject, const dt__value_kind *fills, int round,
                           dt__reference_outputs *out) {
    const dt_op_call *call = &subject->of.call;
    const dt__sim_rank *alone = dt__sim_ranks(subject->stage, 1);
    dt_op_value *inputs, *outputs;
    if (!alone)
        return DT_ERR_MEMORY;
    DT__TRY(new_values(subject, call->n_inputs, call->inputs, &inputs));
    DT__TRY(new_values(subject, call->n_outputs, call->outputs, &outputs));
    for (int i = 0; i < call->n_inputs + call->n_outputs; i++) {
        dt_op_value *value = i < call->n_inputs ? &inputs[i] : &outputs[i - call->n_inputs];
        value->whole = value->shape;
        value->offset = nowhere;
    }
    DT__TRY(give_memory(subject, call->n_inputs, inputs));
    DT__TRY(give_memory(subject, call->n_outputs, outputs));
    fill_whole(subject, fills, round, inputs);
    DT__TRY(dt__sim_rank_run(alone, &subject->of, 0, inputs, call->n_outputs, outputs));
    return read_whole(subject, outputs, out);
}

static dt_status find_truth(dt__trial_call *subject, const dt__row *row, dt__value_kind fill, int round,
                            const dt__reference_outputs **out) {
    const dt_op_call *call = &subject->of.call;
    bool extreme = row && has_entry(call, row, is_extreme), mixed = false;
    dt__value_kind *fills = DT__NEW_ARRAY(subject->arena, dt__value_kind, call->n_inputs + 1);
    dt__reference_outputs *truth = &subject->truths[fill][round];
    if (!fills)
        return DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs; i++) {
        fills[i] = row ? fill_of(row, i, extreme, fill) : fill;
        mixed |= fills[i] != fill;
    }
    *out = truth;
    if (!mixed && truth->outputs)
        return DT_OK;
    if (mixed) {
        truth = DT__NEW(subject->arena, dt__reference_outputs);
        *out = truth;
    }
    return truth ? run_whole(subject, fills, round, truth) : DT_ERR_MEMORY;
}

/* Parts of the inputs on one rank. */
static dt_status cut_inputs(dt__trial_call *subject, const dt__row_specs *arranged, const dt__row *row,
                            dt__trial trial, int r, dt_op_value *inputs) {
    const dt_op_call *call = &subject->of.call;
    bool extreme = has_entry(call, row, is_extreme);
    int64_t coordinate[1] = {r}, index[DT_SPEC_MAX_DIMS], global[DT_SPEC_MAX_DIMS];
    DT__TRY(give_memory(subject, call->n_inputs, inputs));
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_spec *spec = dt__row_specs_at(arranged, r, i);
        dt__value_kind fill = fill_of(row, i, extreme, trial.fill);
        dt__partial_style style =
            (dt__partial_style)((trial.style < DT__N_STYLES ? trial.style : trial.style + i) % DT__N_STYLES);
        unsigned char *to = inputs[i].data;
        int64_t n = elements_of(&inputs[i]);
        for (int64_t e = 0; e < n; e++, to += dt_dtype_size(spec->dtype)) {
            unravel(inputs[i].n_dims, inputs[i].shape, e, index);
            (void)dt_spec_to_global(spec, coordinate, index, global);
            int64_t at = ravel(spec->sharding.n_dims, spec->sharding.shape, global);
            dt__element value = whole_value(subject, i, fill, trial.round, at);
            if (row->entries[i] < 0)
                value = dt__partial_value(spec->dtype, (dt_reduce)(-1 - row->entries[i]), style,
                                          &(dt__element_id){seed_of(trial.fill, trial.round), i, at}, value,
                                          arranged->n, r);
            dt__element_write(spec->dtype, value, to);
        }
    }
    return DT_OK;
}

static dt_op_value value_of(const dt_spec *spec) {
    return (dt_op_value){.dtype = spec->dtype,
                         .n_dims = spec->local.n_dims,
                         .shape = spec->local.shape,
                         .whole = spec->sharding.shape,
                         .offset = spec->local.offset,
                         .spec = spec};
}

/* What all ranks made: outputs[rank] has a value per output. */
static dt_status run_parts(dt__trial_call *subject, const dt__sim_rank *ranks, const dt__row_specs *arranged,
                           const dt__row *row, dt__trial trial, dt_op_value **outputs, dt__text *what) {
    const dt_op_call *call = &subject->of.call;
    bool own = !dt__makes_views(call->op, row->flags);
    int first_own = call->op->flags & DT_OP_INPLACE ? 1 : 0;
    dt_op_value *like = DT__NEW_ARRAY(subject->arena, dt_op_value, arranged->n_entries), *inputs;
    if (!like)
        return DT_ERR_MEMORY;
    for (int r = 0; r < arranged->n && !what->n_chars; r++) {
        for (int e = 0; e < arranged->n_entries; e++)
            like[e] = value_of(dt__row_specs_at(arranged, r, e));
        DT__TRY(new_values(subject, call->n_inputs, like, &inputs));
        DT__TRY(new_values(subject, call->n_outputs, like + call->n_inputs, &outputs[r]));
        DT__TRY(cut_inputs(subject, arranged, row, trial, r, inputs));
        DT__TRY(give_memory(subject, call->n_outputs, outputs[r]));
        if (dt__sim_rank_run(&ranks[r], &subject->of, row->flags, inputs, call->n_outputs, outputs[r]) != DT_OK)
            dt__text_add(what, "rank %d refuses: %s", r, dt_error_text(ranks[r].ctx));
        DT__TRY(dt__sim_rank_clear_error(&ranks[r], subject->arena->ctx));
        for (int o = first_own; o < call->n_outputs && own && !what->n_chars; o++) {
            size_t bytes = (size_t)elements_of(&outputs[r][o]) * dt_dtype_size(outputs[r][o].dtype);
            if (!pad_is_untouched(subject, outputs[r][o].data, bytes))
                dt__text_add(what, "rank %d writes outside its part", r);
        }
    }
    return DT_OK;
}

/* What is compared. */
typedef struct judged {
    dt__trial_call *subject;
    const dt__row_specs *arranged;
    const dt__row *row;
    dt__trial trial;
    dt_op_value *const *outputs; /* [rank][output] */
    bool linear;
    double epsilon; /* of the coarsest dtype */
    dt__text *what;
} judged;

static bool is_asked(const judged *self, dt_dtype dtype, dt__element want) {
    if (!self->linear)
        return true;
    return !dt__element_is_infinite(dtype, want) &&
           (self->trial.fill == DT__VALUES_NAN || !dt__element_is_nan(dtype, want));
}

static bool check(const judged *self, int o, int64_t at, dt__element want, dt__element got, double largest) {
    const dt_op_value *output = &self->subject->of.call.outputs[o];
    dt_dtype dtype = output->dtype;
    double size = 1 + dt__element_size(dtype, want) + largest;
    int64_t index[DT_SPEC_MAX_DIMS];
    if (!is_asked(self, dtype, want) || dt__element_close(dtype, want, got, ROUNDINGS * self->epsilon * size))
        return true;
    unravel(output->n_dims, output->shape, at, index);
    dt__text_add(self->what, "element [");
    for (int d = 0; d < output->n_dims; d++)
        dt__text_add(self->what, "%s%lld", d ? "," : "", (long long)index[d]);
    dt__text_add(self->what, "] of result %d: wanted ", o);
    dt__element_text(dtype, want, self->what);
    dt__text_add(self->what, ", got ");
    dt__element_text(dtype, got, self->what);
    return false;
}

/* Of Replicate and of cuts, each rank's part is what the whole has there. */
static bool check_parts(const judged *self, int o, const dt__element *want) {
    int64_t index[DT_SPEC_MAX_DIMS], global[DT_SPEC_MAX_DIMS];
    for (int r = 0; r < self->arranged->n; r++) {
        const dt_op_value *part = &self->outputs[r][o];
        int64_t n = elements_of(part), coordinate[1] = {r};
        for (int64_t e = 0; e < n; e++) {
            unravel(part->n_dims, part->shape, e, index);
            (void)dt_spec_to_global(part->spec, coordinate, index, global);
            int64_t at = ravel(part->n_dims, part->whole, global);
            if (!check(self, o, at, want[at], dt__element_read(part->dtype, element_at(part, index)), 0))
                return false;
        }
    }
    return true;
}

static bool check_partial(const judged *self, int o, dt_reduce reduce, const dt__element *want) {
    DT__ASSUME(self->arranged->n > 0);
    const dt_op_value *first = &self->outputs[0][o];
    int64_t n = elements_of(first), index[DT_SPEC_MAX_DIMS];
    dt__element parts[DT__MAX_SIM_RANKS];
    for (int64_t e = 0; e < n; e++) {
        double largest = 0;
        unravel(first->n_dims, first->shape, e, index);
        for (int r = 0; r < self->arranged->n; r++) {
            parts[r] = dt__element_read(first->dtype, element_at(&self->outputs[r][o], index));
            double size = dt__element_size(first->dtype, parts[r]);
            largest = size > largest ? size : largest;
        }
        bool adds = reduce == DT_SUM || reduce == DT_AVG;
        dt__element got = dt__element_reduce(first->dtype, reduce, self->arranged->n, parts);
        if (!check(self, o, e, want[e], got, adds ? largest : 0))
            return false;
    }
    return true;
}

static double coarsest(const dt_op_call *call) {
    double epsilon = 0;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        dt_dtype dtype = e < call->n_inputs ? call->inputs[e].dtype : call->outputs[e - call->n_inputs].dtype;
        double here = dt__dtype_epsilon(dtype);
        epsilon = here > epsilon ? here : epsilon;
    }
    return epsilon;
}

static void judge(judged *self, const dt__reference_outputs *truth) {
    const dt_op_call *call = &self->subject->of.call;
    self->linear = has_entry(call, self->row, is_linear);
    self->epsilon = coarsest(call);
    bool fine = true;
    for (int o = 0; o < call->n_outputs && fine; o++) {
        dt_row_entry entry = self->row->entries[call->n_inputs + o];
        fine = entry < 0 ? check_partial(self, o, (dt_reduce)(-1 - entry), truth->outputs[o])
                         : check_parts(self, o, truth->outputs[o]);
    }
}

static dt_status try_row(dt__trial_call *subject, const dt__sim_rank *ranks, const dt__row_specs *arranged,
                         const dt__row *row, dt__trial trial, dt__text *what) {
    const dt__reference_outputs *truth;
    dt_op_value *outputs[DT__MAX_SIM_RANKS];
    DT__TRY(find_truth(subject, row, trial.fill, trial.round, &truth));
    DT__TRY(run_parts(subject, ranks, arranged, row, trial, outputs, what));
    judged self = {subject, arranged, row, trial, outputs, false, 0, what};
    if (!what->n_chars)
        judge(&self, truth);
    return dt__text_status(what);
}

dt_status dt__trial_run(dt__trial_call *subject, const dt__sim_rank *ranks, const dt__row_specs *arranged,
                        const dt__row *row, dt__trial trial, const char **what) {
    dt__text found = dt__text_new(subject->arena->ctx);
    const dt__reference_outputs *ignored;
    *what = NULL;
    dt_status status =
        find_truth(subject, NULL, trial.fill, trial.round, &ignored); /* kept: made before what is dropped */
    dt__arena_mark mark = dt__arena_begin(subject->arena);
    if (status == DT_OK)
        status = try_row(subject, ranks, arranged, row, trial, &found);
    dt__arena_rewind(subject->arena, mark);
    if (status == DT_OK && found.n_chars)
        status = (*what = dt__arena_copy_text(subject->arena, dt__text_chars(&found))) ? DT_OK : DT_ERR_MEMORY;
    dt__text_free(&found);
    return status;
}

/* Inputs that can only be indices: i64 beside other dtypes, i32 beside floating point. */
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

static void measure(dt__trial_call *self) {
    const dt_op_call *call = &self->of.call;
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

/* All truths at once, so that no trial meets an index that is refused. */
static dt_status find_truths(dt__trial_call *self) {
    const dt__reference_outputs *ignored;
    memset(self->truths, 0, sizeof self->truths);
    for (int fill = 0; fill < DT__N_VALUE_KINDS; fill++)
        for (int round = 0; round < dt__trial_call_rounds(self); round++)
            DT__TRY(find_truth(self, NULL, (dt__value_kind)fill, round, &ignored));
    return DT_OK;
}

dt_status dt__trial_call_new(dt__sim *stage, dt__arena *arena, const char *text, dt__trial_call *out, bool *usable,
                             size_t room, char *why) {
    const dt__sim_rank *alone = dt__sim_ranks(stage, 1);
    *out = (dt__trial_call){.stage = stage, .arena = arena, .text = text, .index_size = 1};
    *usable = false;
    if (!alone)
        return dt_error_status(stage->ctx);
    if (stage->texts.ctx)
        dt__arena_free(&stage->texts);
    stage->texts = dt__arena_new(alone->ctx);
    dt_status status = dt__placed_call_parse(&stage->texts, text, 1, (const int64_t[]){1}, &out->of);
    if (status == DT_OK) {
        measure(out);
        status = find_truths(out);
        /* The largest index that the op takes is found by asking it. */
        while (status != DT_OK && --out->index_size > 0) {
            DT__TRY(dt__sim_rank_clear_error(alone, stage->ctx));
            status = find_truths(out);
        }
    }
    snprintf(why, room, "%s", dt_error_text(alone->ctx));
    *usable = status == DT_OK;
    DT__TRY(dt__sim_rank_clear_error(alone, stage->ctx));
    return stage->ctx->status == DT_ERR_MEMORY ? DT_ERR_MEMORY : DT_OK;
}
