/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by parameters, optimizers and gradient norms: the parameters of a list with their factors, the gradients of a
 * list of parameters, and the state of the context while they are written.
 */
#ifndef DT_TRAIN_TRAIN_H
#define DT_TRAIN_TRAIN_H

#include "dispatch/dispatch.h"
#include "dtensor/autograd.h"
#include "dtensor/batches.h"
#include "dtensor/ops.h"
#include "dtensor/params.h"
#include "dtensor/train.h"
#include "train/param_rules.h"
#include "train/stored_checkpoint.h"

/* Of a context; NULL after an error. */
typedef struct dt__train_state {
    dt__freed_queue freed, freed_params, freed_batches;
    dt_params *open_params;
    dt_batches *open_batches;
    struct dt_saving *savings;
    int64_t bytes_saved; /* by this rank, of tensors in checkpoints */
} dt__train_state;
dt__train_state *dt__train_state_of(dt_ctx *ctx);
/* Frees the memory of lists of parameters when the context closes. */
void dt__params_abandon(dt_params *open);
/* Frees readers of batches, with their files. */
void dt__batches_abandon(dt_batches *open);
/* Ends saves that were not waited for: their folders are removed. Returns one of them, or NULL; and frees the memory of
 * all. */
const struct dt_saving *dt__savings_abandon(struct dt_saving *first);
void dt__savings_free(struct dt_saving *first);
/* "run/step-000600" of a save, as the program wrote it. */
void dt__saving_text(const struct dt_saving *self, size_t capacity, char *out);

/* A parameter that an optimizer steps, with its factors. */
typedef struct dt__param_group {
    dt_tensor *tensor;
    const char *name;
    double decay, lr;
} dt__param_group;
dt_ctx *dt__params_ctx(const dt_params *self);
/* The parameters that are not frozen, each tensor once, in memory of the list; an agreed error where a rule has no
 * effect. */
dt_status dt__params_ready(dt_params *self, dt__param_group **out, int *n);

/* tied_gradients.c: adds up the gradients of parameters that are copies of each other on several meshes, on each of
 * them. Collective over these meshes. */
dt_status dt__tied_gradients_sum(dt_params *params);
/* The index of the original of parameter i, if it is a copy on another mesh; -1: it is not a copy. */
int dt__params_original(const dt_params *self, int i);

/* The context of the first parameter that is not NULL; NULL: there is none. */
dt_ctx *dt__parameters_ctx(dt_tensors parameters);
/* Refuses parameters that are NULL, freed or of another context. */
dt_status dt__parameters_check(dt_ctx *ctx, dt_tensors parameters);

/* The public call in progress, as it is added to the histories of its parameters' meshes. */
typedef struct dt__training_mesh {
    const dt_spec *spec; /* of the first parameter on it */
    int n_entries;       /* parameters that were added by themselves */
    int n_grads, first_without;
    uint64_t hash; /* of the parameters with a gradient */
    int64_t n_steps;
} dt__training_mesh;
typedef struct dt__training_call {
    bool is_noted;
    dt__arena *arena;
    dt_status status; /* memory: a mesh is missing */
    int n_meshes, capacity;
    dt__training_mesh *meshes;
    const dt_mesh *last_mesh; /* of the last parameter, */
    dt__training_mesh *last;  /* and what is noted for it */
} dt__training_call;
/* Begins with the number of parameters. What it notes is in the arena. */
void dt__training_call_begin(dt__training_call *self, dt__arena *arena, dt_tensors parameters);
/* Adds a value or a text by name, which every rank must have; and parameter i by its position and spec. */
void dt__training_call_add(dt__training_call *self, const char *name, double value);
void dt__training_call_add_text(dt__training_call *self, const char *name, const char *text);
void dt__training_call_add_parameter(dt__training_call *self, const dt_tensor *parameter, const char *name, int i);
/* Counts parameter i, with its steps so far; and adds the counts, after the last one. */
void dt__training_call_count(dt__training_call *self, const dt_tensor *parameter, int i, bool has_grad,
                             int64_t n_steps);
void dt__training_call_add_counts(dt__training_call *self);
/* Ends the call: with DTENSOR_CHECK_CALLS its ranks compare it now, and with DTENSOR_CHECK_REPLICAS the parameters. */
dt_status dt__training_call_meet(const dt__training_call *self, dt_tensors parameters);
/* A whole call that has one value. */
dt_status dt__training_call_note(dt_ctx *ctx, dt_tensors parameters, const char *name, double value);

/* The gradient of each parameter, or NULL. Refuses gradients that are held (dt_backward); the error has the names of a
 * list, NULL: it has none. */
dt_status dt__gradients_find(dt_ctx *ctx, dt_tensors parameters, const dt__param_group *named, dt_tensor **out);

/* Until the end, nothing is recorded and use placements are ignored. */
typedef struct dt__training_setting {
    dt_ctx *ctx;
    const dt__recorder *recorder;
} dt__training_setting;
static inline dt__training_setting dt__training_begin(dt_ctx *ctx) {
    dt__training_setting setting = {ctx, ctx->recorder};
    ctx->recorder = NULL;
    ctx->as_stored++;
    return setting;
}
static inline void dt__training_end(const dt__training_setting *setting) {
    setting->ctx->recorder = setting->recorder;
    setting->ctx->as_stored--;
}

#endif
