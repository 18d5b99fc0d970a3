/* SPDX-License-Identifier: Apache-2.0
 *
 * Hops and links of a running pipeline: see pipeline_hop.h. Tensors have the same placements on both stages, so that
 * each rank sends its local tensor to one rank.
 */
#include "train/pipeline_hop.h"

#include "base/cursor.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "dtensor/autograd.h"
#include "dtensor/ops.h"

#include <string.h>

bool dt__hop_has_gradient(const dt__hop_tensor *self) { return dt__is_inexact(self->array.dtype); }

/* The placements, up to the end of the tensor's part of the text. */
static const char *take_place(dt__arena *arena, dt__cursor *cursor) {
    (void)dt__cursor_peek(cursor);
    const size_t n = strcspn(cursor->at, ";");
    const char *place = n ? dt__arena_copy_chars(arena, cursor->at, n) : NULL;
    cursor->at += n;
    return place;
}

dt_status dt__hop_parse(dt__arena *arena, const char *text, dt__hop *out) {
    dt__cursor cursor = dt__cursor_new(arena->ctx, DT_ERR_VALUE, "hop", text);
    out->n = 0;
    do {
        if (out->n == DT__MAX_HOP_TENSORS)
            return dt__cursor_fail(&cursor, "expected at most %d tensors", DT__MAX_HOP_TENSORS);
        dt__hop_tensor *tensor = &out->tensors[out->n++];
        DT__TRY(dt__cursor_array(&cursor, &tensor->array));
        if (tensor->array.n_dims == 0 || tensor->array.shape[0] == 0)
            return dt__cursor_fail(&cursor, "expected a shape whose dim 0 is the rows of a micro-batch");
        tensor->place = take_place(arena, &cursor);
        if (tensor->array.shape[0] != out->tensors[0].array.shape[0])
            return dt__cursor_fail(&cursor, "expected the %lld rows of the first tensor",
                                   (long long)out->tensors[0].array.shape[0]);
    } while (dt__cursor_take(&cursor, ";"));
    return DT_OK;
}

dt_spec *dt__hop_spec(const dt__hop_tensor *self, dt_mesh *mesh, int64_t rows) {
    int64_t shape[DT_SPEC_MAX_DIMS];
    const dt_placement replicated[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    memcpy(shape, self->array.shape, sizeof shape);
    shape[0] = rows;
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = self->array.dtype,
                                             .n_dims = self->array.n_dims,
                                             .shape = shape,
                                             .text = self->place,
                                             .n_placements = self->place ? 0 : dt_mesh_n_dims(mesh),
                                             .placements = self->place ? NULL : replicated});
}

/* Each link has channels of its own: between the same two ranks, the stages of another link may have other orders. */
dt_status dt__link_open(dt__pipeline_links *self, int64_t i, bool sends_forward, int64_t peer) {
    const int64_t first = sends_forward ? self->ctx->rank : peer, second = sends_forward ? peer : self->ctx->rank;
    dt__stage_link *link = &self->links[i];
    link->forward = dt__group_new_directed(self->ctx, (int64_t[]){first, second}, 2, dt__hash_u64((uint64_t)i, 21));
    link->backward = dt__group_new_directed(self->ctx, (int64_t[]){second, first}, 2, dt__hash_u64((uint64_t)i, 22));
    return link->forward && link->backward ? DT_OK : dt_error_status(self->ctx);
}

/* The first member of a channel sends, the second receives. */
enum { SENDER, RECEIVER };

dt_status dt__link_send(dt__pipeline_links *self, dt_group *channel, dt_tensor *tensor, uint64_t tag) {
    dt__sending *sending = self->unused ? self->unused : DT__NEW(self->arena, dt__sending);
    if (!sending)
        return DT_ERR_MEMORY;
    self->unused = sending == self->unused ? sending->next : self->unused;
    dt_tensor *dense = dt_detach(tensor);
    if (dense && !dt__is_dense(dense->local_n_dims, dense->local_shape, dense->strides))
        dense = dt__clone(dense);
    if (!dense)
        return dt_error_status(self->ctx);
    const dt_comm_call call = {.op = DT_SEND,
                               .dtype = dense->dtype,
                               .src = dense->data,
                               .count = dt_tensor_local_elements(dense),
                               .root = RECEIVER,
                               .tag = tag};
    *sending = (dt__sending){.next = self->sendings, .tensor = dt_tensor_retain(dense)};
    self->sendings = sending;
    sending->work = dt__comm_start_within(channel, &call, self->history);
    return sending->work ? DT_OK : dt_error_status(self->ctx);
}

dt_tensor *dt__link_receive(dt__pipeline_links *self, dt_group *channel, dt_spec *spec, uint64_t tag) {
    dt_tensor *tensor = dt__tensor_of_spec(spec);
    if (!tensor)
        return NULL;
    const dt_comm_call call = {.op = DT_RECV,
                               .dtype = tensor->dtype,
                               .dst = tensor->data,
                               .count = dt_tensor_local_elements(tensor),
                               .root = SENDER,
                               .tag = tag};
    return dt__comm_run_within(channel, &call, self->history) == DT_OK ? tensor : NULL;
}

static void end_sending(dt__pipeline_links *self, dt__sending **at) {
    dt__sending *sending = *at;
    dt_tensor_release(sending->tensor);
    *at = sending->next;
    sending->next = self->unused;
    self->unused = sending;
}

void dt__links_poll(dt__pipeline_links *self) {
    for (dt__sending **at = &self->sendings; *at;) {
        if ((*at)->work && dt_work_test((*at)->work) == DT_IN_PROGRESS) {
            at = &(*at)->next;
            continue;
        }
        if ((*at)->work)
            (void)dt_work_wait((*at)->work);
        end_sending(self, at);
    }
}

dt_status dt__links_drain(dt__pipeline_links *self) {
    dt_status status = DT_OK;
    while (self->sendings) {
        dt_status one = self->sendings->work ? dt_work_wait(self->sendings->work) : DT_OK;
        status = status == DT_OK ? one : status;
        end_sending(self, &self->sendings);
    }
    return status;
}

void dt__links_close(dt__pipeline_links *self, int64_t n) {
    for (int64_t i = 0; i < n && self->links; i++) {
        dt_group_release(self->links[i].forward);
        dt_group_release(self->links[i].backward);
    }
}
