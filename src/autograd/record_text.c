/* SPDX-License-Identifier: Apache-2.0
 *
 * Records as text, for tests and for errors.
 */
#include "autograd/record.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>

/* The records found so far, each once. */
typedef struct found_records {
    dt__arena *arena;
    dt__map numbers;
    int n, capacity;
    const dt__recorded_call **list;
} found_records;

static dt_status add(found_records *found, const dt__recorded_call *record) {
    if (!record || dt__map_get(&found->numbers, record->number, NULL, NULL))
        return DT_OK;
    if (found->n == found->capacity) {
        int capacity = found->capacity * 2 + 16;
        const dt__recorded_call **list = DT__NEW_ARRAY(found->arena, const dt__recorded_call *, capacity);
        if (!list)
            return DT_ERR_MEMORY;
        for (int i = 0; i < found->n; i++)
            list[i] = found->list[i];
        found->list = list;
        found->capacity = capacity;
    }
    found->list[found->n++] = record;
    return dt__map_add(&found->numbers, record->number, (void *)(uintptr_t)record) ? DT_OK : DT_ERR_MEMORY;
}

static int by_number(const void *a, const void *b) {
    const dt__recorded_call *const *x = a, *const *y = b;
    return (*x)->number < (*y)->number ? -1 : 1;
}

static int position_of(const found_records *found, const dt__recorded_call *record) {
    int i = 0;
    while (found->list[i] != record)
        i++;
    return i + 1;
}

static dt_op_value value_of(const dt__recorded_tensor *tensor) {
    return (dt_op_value){.dtype = tensor->dtype,
                         .n_dims = tensor->n_dims,
                         .shape = tensor->spec ? tensor->spec->sharding.shape : tensor->sizes,
                         .spec = tensor->spec};
}

static void add_function(const dt__recorded_call *record, const dt_op_value *inputs, dt__text *out) {
    dt__text_add(out, "%s(", record->name);
    for (int i = 0; i < record->n_inputs; i++) {
        dt__text_add(out, i ? "; " : "");
        dt__op_value_text(&inputs[i], out);
    }
    for (int i = 0; i < record->n_numbers; i++)
        dt__text_add(out, "; %" PRId64, record->numbers[i]);
    dt__text_add(out, ")");
}

static dt_status add_record(const found_records *found, int i, dt__text *out) {
    const dt__recorded_call *record = found->list[i];
    int n_inputs = record->n_inputs, n = n_inputs + record->n_outputs;
    dt_op_value *values = DT__NEW_ARRAY(found->arena, dt_op_value, n);
    const dt_spec **uses = DT__NEW_ARRAY(found->arena, const dt_spec *, n);
    if (!values || !uses)
        return DT_ERR_MEMORY;
    for (int k = 0; k < n; k++) {
        values[k] = value_of(&record->tensors[k]);
        uses[k] = record->tensors[k].use;
    }
    dt__text_add(out, "%d ", i + 1);
    if (record->head.is_leaf) {
        dt__text_add(out, "leaf ");
        dt__op_value_text(&values[0], out);
        dt__text_add(out, "\n");
        return DT_OK;
    }
    if (record->info)
        dt__call_form_text(record->info, record->overload, record->args, values, uses, 0, out);
    else
        add_function(record, values, out);
    dt__text_add(out, " ->");
    for (int k = n_inputs; k < n; k++) {
        dt__text_add(out, k > n_inputs ? "; " : " ");
        dt__op_value_text(&values[k], out);
    }
    dt__text_add(out, record->is_view ? "; view of" : record->is_in_place ? "; changes" : "; from");
    for (int k = 0; k < n_inputs; k++) {
        const dt__recorded_tensor *input = &record->tensors[k];
        dt__text_add(out, k ? ", " : " ");
        if (!input->made_by)
            dt__text_add(out, "-");
        else {
            dt__text_add(out, "%d", position_of(found, input->made_by));
            if (input->made_by->n_outputs > 1)
                dt__text_add(out, ".%d", input->output + 1);
        }
    }
    const char *before = "; saves ";
    for (int k = 0; k < n; k++)
        if (record->tensors[k].storage) {
            dt__text_add(out, "%s%s%d", before, k < n_inputs ? "input " : "output ",
                         k < n_inputs ? k + 1 : k - n_inputs + 1);
            before = ", ";
        }
    dt__text_add(out, "\n");
    return DT_OK;
}

static dt_status add_records(const dt_tensor *tensor, found_records *found, dt__text *out) {
    DT__TRY(add(found, dt__recorded_call_of(tensor)));
    for (int i = 0; i < found->n; i++)
        for (int k = 0; k < found->list[i]->n_inputs; k++)
            DT__TRY(add(found, found->list[i]->tensors[k].made_by));
    if (found->n)
        qsort(found->list, (size_t)found->n, sizeof *found->list, by_number);
    for (int i = 0; i < found->n; i++)
        DT__TRY(add_record(found, i, out));
    return dt__text_status(out);
}

dt_status dt__record_text(const dt_tensor *tensor, dt__text *out) {
    dt__arena arena = dt__arena_new(tensor->ctx);
    found_records found = {.arena = &arena, .numbers = dt__map_new(tensor->ctx)};
    dt_status status = add_records(tensor, &found, out);
    dt__map_free(&found.numbers);
    dt__arena_free(&arena);
    return status;
}
