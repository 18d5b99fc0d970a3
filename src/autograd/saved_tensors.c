/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading saved values. A value that was changed since it was saved is an error, not a wrong gradient.
 */
#include "autograd/gradient_walk.h"

#include "base/dtype.h"

#include <stdio.h>

bool dt__saved_is_changed(const dt__recorded_call *record, int i) {
    const dt__recorded_tensor *tensor = &record->tensors[i];
    return tensor->storage && tensor->storage->version != tensor->version;
}

/* "input 1" or "output 0" */
static void tensor_name(const dt__recorded_call *record, int i, char *out, size_t capacity) {
    bool input = i < record->n_inputs;
    (void)snprintf(out, capacity, "%s %d", input ? "input" : "output", input ? i + 1 : i - record->n_inputs + 1);
}

static void refuse(const dt__recorded_call *record, int i) {
    const dt__storage *storage = record->tensors[i].storage;
    char name[32], site[DT__SITE_TEXT_BYTES], changed[DT__SITE_TEXT_BYTES + 128];
    tensor_name(record, i, name, sizeof name);
    dt__site_text(record->site.file ? &record->site : NULL, site, sizeof site);
    if (!storage) {
        (void)dt__fail(record->ctx, DT_ERR_STATE, "%s of %s%s is not saved", name, record->name, site);
        return;
    }
    dt__storage_change_text(storage, changed, sizeof changed);
    (void)dt__fail(
        record->ctx, DT_ERR_STATE,
        "%s of %s%s, which its gradient needs, has been%s since: expected version %llu, got %llu; clone it "
        "before it is changed",
        name, record->name, site, changed, (unsigned long long)record->tensors[i].version,
        (unsigned long long)storage->version);
}

dt_tensor *dt__saved_tensor(const dt__recorded_call *record, int i) {
    const dt__recorded_tensor *saved = &record->tensors[i];
    if (!saved->storage || dt__saved_is_changed(record, i)) {
        refuse(record, i);
        return NULL;
    }
    int64_t offset = saved->data ? (saved->data - saved->storage->data) / (int64_t)dt_dtype_size(saved->dtype) : 0;
    if (saved->spec) {
        dt_tensor *tensor = dt__tensor_wrap(saved->spec, saved->storage, offset, saved->strides);
        if (tensor && saved->use)
            dt__set_use_spec(tensor, saved->use);
        return tensor;
    }
    return dt__tensor_plain(saved->storage,
                            &(dt__array_desc){saved->dtype, saved->n_dims, saved->sizes, saved->strides, offset});
}

dt_tensor *dt__saved_value(const dt__backward_call *call, int i) {
    dt__recorded_call *record = call->record;
    dt_tensor *tensor = dt__saved_tensor(record, i);
    if (!tensor || !call->creates_graph)
        return tensor;
    bool input = i < record->n_inputs;
    dt__recorded_call *made_by = input ? record->tensors[i].made_by : record;
    if (made_by && dt__is_inexact(tensor->dtype)) {
        made_by->head.n_refs++;
        tensor->record = &made_by->head;
        tensor->output = input ? record->tensors[i].output : (uint16_t)(i - record->n_inputs);
    }
    return tensor;
}

void dt__saved_release(dt__recorded_tensor *tensor) {
    dt__storage *storage = tensor->storage;
    if (!storage)
        return;
    tensor->storage = NULL;
    storage->n_saved--;
    dt__storage_release(storage);
}

void dt__release_saved(dt__recorded_call *record) {
    for (int i = 0; i < record->n_inputs + record->n_outputs; i++) {
        record->is_released |= record->tensors[i].storage != NULL;
        dt__saved_release(&record->tensors[i]);
    }
}
