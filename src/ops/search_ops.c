/* SPDX-License-Identifier: Apache-2.0
 *
 * Positions in sorted sequences: searchsorted and bucketize. A position is the number of boundaries below a value, so
 * boundaries that are sharded make partial sums, unless they are sorted by another tensor.
 */
#include "base/dtype.h"
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. bucketize has its values first, searchsorted its sequence. */
enum { VALUES, SEQUENCE, OUT_INT32, RIGHT, SIDE, SORTER };

/* NULL: the value is a number. */
static const dt_op_value *input_of(const dt_op_call *call, int name) {
    const dt_arg *arg = dt__arg_at(call, name);
    return arg && arg->type == DT_ARG_TENSOR ? &call->inputs[arg->as.first] : NULL;
}

static bool is_right(const dt_op_call *call) {
    const dt_arg *side = dt__arg_at(call, SIDE);
    return dt__arg_at(call, RIGHT)->as.b || (side && side->type == DT_ARG_TEXT && !strcmp(side->as.text, "right"));
}

/* One sequence for all values, or one for each row of values. */
static bool has_rows(const dt_op_call *call) { return input_of(call, SEQUENCE)->n_dims > 1; }

static dt_status check_options(const dt_op_call *call) {
    const dt_op_value *sequence = input_of(call, SEQUENCE), *sorter = input_of(call, SORTER);
    const dt_arg *side = dt__arg_at(call, SIDE);
    if (side && side->type == DT_ARG_TEXT) {
        bool right = !strcmp(side->as.text, "right");
        if (!right && strcmp(side->as.text, "left") != 0)
            return dt_op_refuse(call, DT_ERR_VALUE, "side: expected 'left' or 'right', got '%s'", side->as.text);
        if (!right && dt__arg_at(call, RIGHT)->as.b)
            return dt_op_refuse(call, DT_ERR_VALUE, "side and right contradict each other: 'left' and true");
    }
    if (!sorter)
        return DT_OK;
    bool same = sorter->n_dims == sequence->n_dims && sorter->dtype == DT_I64;
    for (int d = 0; d < sequence->n_dims && same; d++)
        same = sorter->shape[d] == sequence->shape[d];
    return same ? DT_OK
                : dt_op_refuse(call, DT_ERR_SHAPE, "sorter: expected i64 indices in the shape of the sequence");
}

static dt_status shape_search(dt_op_call *call) {
    const dt_op_value *sequence = input_of(call, SEQUENCE), *values = input_of(call, VALUES);
    dt_dtype dtype = dt__arg_at(call, OUT_INT32)->as.b ? DT_I32 : DT_I64;
    DT__TRY(dt__refuse_complex(call));
    if (sequence->n_dims == 0 || (sequence->n_dims > 1 && !dt__arg_at(call, SIDE)))
        return dt_op_refuse(call, DT_ERR_SHAPE, "the boundaries: expected one dim, got %d", sequence->n_dims);
    DT__TRY(check_options(call));
    if (!values)
        return has_rows(call) ? dt_op_refuse(call, DT_ERR_SHAPE, "expected one sequence for a number, got %d dims",
                                             sequence->n_dims)
                              : dt_op_add_output(call, dtype, 0, NULL);
    if (values->dtype != sequence->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "the dtypes of values and boundaries differ: %s and %s; convert one with dt_to",
                            dt_dtype_name(values->dtype), dt_dtype_name(sequence->dtype));
    bool fits = !has_rows(call) || values->n_dims == sequence->n_dims;
    for (int d = 0; has_rows(call) && d < sequence->n_dims - 1 && fits; d++)
        fits = values->shape[d] == sequence->shape[d];
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the first dims of the values differ from those of the sequence");
    return dt_op_add_output(call, dtype, values->n_dims, values->shape);
}

static void rows_search(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *sequence = input_of(call, SEQUENCE), *values = input_of(call, VALUES);
    const dt_op_value *sorter = input_of(call, SORTER);
    const int output = call->n_inputs, of_sequence = dt__arg_at(call, SEQUENCE)->as.first;
    dt_row_entry entries[4] = {0};
    for (int d = 0; values && d < values->n_dims; d++) {
        bool of_row = has_rows(call) && d < sequence->n_dims - 1;
        entries[dt__arg_at(call, VALUES)->as.first] = entries[output] = DT_ROW_S(d);
        entries[of_sequence] = of_row ? DT_ROW_S(d) : DT_ROW_R;
        if (sorter)
            entries[dt__arg_at(call, SORTER)->as.first] = entries[of_sequence];
        dt_rows_add(rows, 0, entries);
    }
    if (!sorter) {
        memset(entries, 0, sizeof entries);
        entries[of_sequence] = DT_ROW_S(sequence->n_dims - 1);
        entries[output] = DT_ROW_P(DT_SUM);
        dt_rows_add(rows, 0, entries);
    }
    if (values)
        dt_rows_monotone(rows, dt__arg_at(call, VALUES)->as.first, true);
}

/* Values and sequences, dense and in f64 or i64. */
typedef struct searching {
    bool is_float, right, is_i32;
    int64_t n, n_sequence, values_per_row; /* values, boundaries of a row */
    const void *values, *sequence;
    const int64_t *sorter; /* NULL: in order */
    void *out;
} searching;

enum { SEARCH_PIECE = 1 << 12 };

enum { SHORT_ROW = 16 };

/* The number of boundaries below the value, or not above it: found by halves, and counted in a short row. NaN is after
 * all numbers. */
#define SEARCH_IN(T)                                                                                                 \
    do {                                                                                                             \
        const T value = ((const T *)all->values)[i], *row = (const T *)all->sequence + first;                        \
        const bool is_nan = value != value;                                                                          \
        while (n > (sorter ? 0 : SHORT_ROW)) {                                                                       \
            int64_t half = n / 2, at = sorter ? sorter[low + half] : low + half;                                     \
            bool below = is_nan || (all->right ? row[at] <= value : row[at] < value);                                \
            low = below ? low + half + 1 : low;                                                                      \
            n = below ? n - half - 1 : half;                                                                         \
        }                                                                                                            \
        for (const T *at = row + low, *last = at + n; at < last; at++)                                               \
            low += is_nan || (all->right ? *at <= value : *at < value);                                              \
    } while (0)

static void search_piece(void *arg, int64_t piece) {
    const searching *all = arg;
    int64_t end = dt__min_i64((piece + 1) * SEARCH_PIECE, all->n);
    for (int64_t i = piece * SEARCH_PIECE; i < end; i++) {
        int64_t first = all->values_per_row ? i / all->values_per_row * all->n_sequence : 0;
        int64_t low = 0, n = all->n_sequence;
        const int64_t *sorter = all->sorter ? all->sorter + first : NULL;
        if (all->is_float)
            SEARCH_IN(double);
        else
            SEARCH_IN(int64_t);
        if (all->is_i32)
            ((int32_t *)all->out)[i] = (int32_t)low;
        else
            ((int64_t *)all->out)[i] = low;
    }
}

/* Searches, unless an index of a sorter is no position in its row. */
static dt_status search_all(const dt_op_call *call, searching *all, int64_t n_sorter) {
    for (int64_t i = 0; all->sorter && i < n_sorter; i++)
        if (all->sorter[i] < 0 || all->sorter[i] >= all->n_sequence)
            return dt__bad_index(call, all->sorter[i], all->n_sequence);
    dt__pool_run(dt__pool_of(call->ctx), dt__ceil_div(all->n, SEARCH_PIECE), search_piece, all);
    return DT_OK;
}

static dt_status search(dt_op_call *call) {
    enum { N_ARRAYS = 3 };
    const dt_op_value *sequence = input_of(call, SEQUENCE), *values = input_of(call, VALUES);
    const dt_op_value *sorter = input_of(call, SORTER);
    dt__constant constant;
    const dt_arg *number = dt__arg_at(call, VALUES);
    const bool is_float = dt__is_float(sequence->dtype) || number->type == DT_ARG_FLOAT;
    const dt_dtype dtype = is_float ? DT_F64 : DT_I64;
    dt__array from[N_ARRAYS] = {values ? dt__array_of(values) : dt__array_of_number(number, dtype, &constant),
                                dt__array_of(sequence)};
    dt__scratch dense[N_ARRAYS];
    int n_dense = sorter ? 3 : 2, n = 0;
    dt_status status = DT_OK;
    if (sorter)
        from[2] = dt__array_of(sorter);
    for (; n < n_dense && status == DT_OK; n++) {
        status = dt__scratch_new(call, n == 2 ? DT_I64 : dtype, from[n].n_dims, from[n].shape, &dense[n]);
        if (status != DT_OK)
            break;
        dt__run_convert(call, &dense[n].array, &from[n]);
    }
    if (status == DT_OK) {
        searching all = {.is_float = is_float,
                         .right = is_right(call),
                         .is_i32 = call->outputs[0].dtype == DT_I32,
                         .n = dt__array_count(&from[0]),
                         .n_sequence = sequence->shape[sequence->n_dims - 1],
                         .values_per_row = has_rows(call) ? values->shape[values->n_dims - 1] : 0,
                         .values = dense[0].array.data,
                         .sequence = dense[1].array.data,
                         .sorter = sorter ? dense[2].array.data : NULL,
                         .out = call->outputs[0].data};
        status = search_all(call, &all, dt__array_count(&from[1]));
    }
    while (n > 0)
        dt__scratch_free(call, &dense[--n]);
    return status;
}

#define SEARCHES .shape = shape_search, .rows = rows_search, .kernel = search, .flags = DT_OP_NOT_DIFFERENTIABLE

const dt_op dt__op_searchsorted = {
    .schema = "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, "
              "str? side=None, Tensor? sorter=None) -> Tensor | "
              "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
              "str? side=None, Tensor? sorter=None) -> Tensor",
    .summary = "Where values belong in sorted sequences: before, or on the right after, elements that are equal.",
    SEARCHES,
    .arguments = "self,sorted_sequence,out_int32,right,side,sorter",
    .samples = "searchsorted(f32[6]; f32[5,3])\nsearchsorted(f32[5,6]; f32[5,3]; right=true)\n"
               "searchsorted(i64[6]; i64[4]; out_int32=true; side=\"right\")\nsearchsorted(f32[6]; 2.5)",
};
const dt_op dt__op_bucketize = {
    .schema =
        "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor | "
        "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    .summary = "The number of the interval between sorted boundaries that each element is in.",
    SEARCHES,
    .arguments = "self,boundaries,out_int32,right",
    .samples = "bucketize(f32[5,3]; f32[6])\nbucketize(i32[4]; i32[6]; right=true)\nbucketize(2.5; f32[6])",
};
