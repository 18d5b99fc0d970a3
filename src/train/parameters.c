/* SPDX-License-Identifier: Apache-2.0
 *
 * The common start of optimizers and gradient norms: they check their list of parameters, and note their call in the
 * histories of its meshes, with each option and each parameter by name. Ranks that differ in any of these would
 * diverge, and no transfer would show it.
 */
#include "train/train.h"

#include "autograd/autograd.h"
#include "mesh/mesh.h"

#include <stdio.h>

/* Parameters of one call that have entries of their own in a history; further ones are only hashed, so that a call on
 * thousands does not displace the calls before it. */
enum { MAX_ENTRIES = 128 };

dt_ctx *dt__parameters_ctx(dt_tensors parameters) {
    for (int i = 0; i < parameters.n; i++)
        if (parameters.list[i])
            return parameters.list[i]->ctx;
    return NULL;
}

dt_status dt__parameters_check(dt_ctx *ctx, dt_tensors parameters) {
    for (int i = 0; i < parameters.n; i++) {
        const dt_tensor *parameter = parameters.list[i];
        if (!parameter)
            return dt_failed(ctx) ? dt_error_status(ctx) : dt__fail(ctx, DT_ERR_VALUE, "parameter %d is NULL", i + 1);
        if (!DT__LIVE_ARGUMENT(DT__KIND_TENSOR, parameter, i + 1))
            return DT_ERR_STATE;
        if (parameter->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "parameter %d belongs to another context", i + 1);
    }
    return DT_OK;
}

dt_status dt__gradients_find(dt_ctx *ctx, dt_tensors parameters, const dt__param_group *named, dt_tensor **out) {
    for (int i = 0; i < parameters.n; i++) {
        const dt_tensor *grad = out[i] = dt_grad(parameters.list[i]);
        if (!dt__gradient_is_held(grad))
            continue;
        char text[256], dims[128] = "";
        size_t used = 0;
        for (int m = 0; m < grad->spec->sharding.n_mesh_dims && used < sizeof dims; m++)
            if (dt_placement_is_partial(grad->spec->sharding.placements[m]))
                used += (size_t)snprintf(dims + used, sizeof dims - used, "%s%s", used ? "," : "",
                                         dt_mesh_dim_name(grad->spec->mesh, m));
        (void)dt_tensor_text(grad, sizeof text, text);
        return dt__fail(
            ctx, DT_ERR_STATE,
            "parameter %d%s%s: expected a complete gradient, got %s, held along '%s'; call dt_backward without "
            "hold for the last micro-batch, whose loss uses the parameter",
            i + 1, named ? ", " : "", named ? named[i].name : "", text, dims);
    }
    return DT_OK;
}

static dt__training_mesh *add_mesh(dt__training_call *self, const dt_spec *spec) {
    if (self->n_meshes == self->capacity) {
        int capacity = 2 * self->capacity + 4;
        dt__training_mesh *meshes = DT__NEW_ARRAY(self->arena, dt__training_mesh, capacity);
        if (!meshes) {
            self->status = DT_ERR_MEMORY;
            return NULL;
        }
        for (int m = 0; m < self->n_meshes; m++)
            meshes[m] = self->meshes[m];
        self->meshes = meshes;
        self->capacity = capacity;
    }
    self->meshes[self->n_meshes] = (dt__training_mesh){.spec = spec};
    return &self->meshes[self->n_meshes++];
}

static dt__training_mesh *find_mesh(dt__training_call *self, const dt_spec *spec) {
    if (!dt__mesh_history(spec->mesh))
        return NULL;
    int m = 0;
    while (m < self->n_meshes && !dt__mesh_same(self->meshes[m].spec->mesh, spec->mesh))
        m++;
    return m < self->n_meshes ? &self->meshes[m] : add_mesh(self, spec);
}

/* The mesh of a parameter, or NULL if no peer compares its calls. Parameters of one mesh usually follow each other. */
static inline dt__training_mesh *mesh_of(dt__training_call *self, const dt_spec *spec) {
    if (spec->mesh != self->last_mesh) {
        self->last = find_mesh(self, spec);
        self->last_mesh = spec->mesh;
    }
    return self->last;
}

void dt__training_call_begin(dt__training_call *self, dt__arena *arena, dt_tensors parameters) {
    *self = (dt__training_call){.arena = arena, .is_noted = dt__call_is_noted(arena->ctx)};
    for (int i = 0; i < parameters.n && self->is_noted; i++)
        if (parameters.list[i]->spec)
            (void)mesh_of(self, parameters.list[i]->spec);
    dt__training_call_add(self, "parameters", parameters.n);
}

static void add(const dt__training_mesh *mesh, const char *name, double value) {
    dt__note_fields(mesh->spec, &(dt__field){.name = name, .value = value}, 1);
}

void dt__training_call_add(dt__training_call *self, const char *name, double value) {
    for (int m = 0; m < self->n_meshes; m++)
        add(&self->meshes[m], name, value);
}

void dt__training_call_add_text(dt__training_call *self, const char *name, const char *text) {
    for (int m = 0; m < self->n_meshes; m++)
        dt__note_fields(self->meshes[m].spec, &(dt__field){.name = name, .text = text}, 1);
}

static uint64_t made_by(const dt_tensor *parameter) { return parameter->record ? parameter->record->made_by : 0; }

void dt__training_call_add_parameter(dt__training_call *self, const dt_tensor *parameter, const char *name, int i) {
    dt__training_mesh *mesh = self->is_noted && parameter->spec ? mesh_of(self, parameter->spec) : NULL;
    if (!mesh)
        return;
    const dt__field fields[] = {{.name = name, .value = i + 1},
                                {.name = "call that made it", .value = (double)made_by(parameter)}};
    if (mesh->n_entries++ < MAX_ENTRIES)
        dt__note_fields(parameter->spec, fields, 2);
    else
        dt__history_amend(dt__mesh_history(parameter->spec->mesh),
                          dt__hash_u64((uint64_t)i ^ made_by(parameter) << 32, parameter->spec->fingerprint));
}

void dt__training_call_count(dt__training_call *self, const dt_tensor *parameter, int i, bool has_grad,
                             int64_t n_steps) {
    dt__training_mesh *mesh = self->is_noted && parameter->spec ? mesh_of(self, parameter->spec) : NULL;
    if (!mesh)
        return;
    mesh->n_steps += n_steps;
    if (has_grad) {
        mesh->n_grads++;
        mesh->hash = (mesh->hash ^ parameter->spec->fingerprint ^ (uint64_t)i ^ made_by(parameter) << 32) *
                     UINT64_C(0xbf58476d1ce4e5b9);
    } else if (!mesh->first_without) {
        mesh->first_without = i + 1;
    }
}

void dt__training_call_add_counts(dt__training_call *self) {
    for (int m = 0; m < self->n_meshes; m++) {
        const dt__training_mesh *mesh = &self->meshes[m];
        add(mesh, "parameters with a gradient", mesh->n_grads);
        add(mesh, "first parameter without a gradient", mesh->first_without);
        add(mesh, "hash of the parameters with a gradient", (double)(mesh->hash >> 12));
        if (mesh->n_steps)
            add(mesh, "steps of all parameters", (double)mesh->n_steps);
    }
}

dt_status dt__training_call_meet(const dt__training_call *self, dt_tensors parameters) {
    DT__TRY(self->status);
    for (int m = 0; m < self->n_meshes; m++) {
        DT__TRY(dt__mesh_check_calls(self->meshes[m].spec->mesh));
        DT__TRY(dt__check_replicas(self->meshes[m].spec->mesh, parameters.n, parameters.list));
    }
    return DT_OK;
}

dt_status dt__training_call_note(dt_ctx *ctx, dt_tensors parameters, const char *name, double value) {
    dt__arena arena = dt__arena_new(ctx);
    dt__training_call call;
    dt__training_call_begin(&call, &arena, parameters);
    dt__training_call_add(&call, name, value);
    dt_status status = dt__training_call_meet(&call, parameters);
    dt__arena_free(&arena);
    return status;
}
