/* SPDX-License-Identifier: Apache-2.0
 *
 * What saving and loading of checkpoints share inside this folder: how they see lists of parameters and optimizers.
 */
#ifndef DT_TRAIN_CHECKPOINT_VIEW_H
#define DT_TRAIN_CHECKPOINT_VIEW_H

#include "dtensor/checkpoint.h"
#include "train/optimizer_methods.h"
#include "train/train.h"

/* A name of a list. */
typedef struct dt__param_entry {
    const char *name;
    dt_tensor *tensor;
    const char *tied; /* the name that stands for the same tensor before; NULL: none */
    bool is_frozen;
    const char *original; /* the name of the parameter that this one is a copy of, on another mesh; NULL: none */
} dt__param_entry;
dt__param_entry dt__params_entry(const dt_params *self, int i);
/* Whether a name is in the list. */
bool dt__params_has(const dt_params *self, const char *name);
/* Adds a tensor under a name, with a reference. */
dt_status dt__params_append(dt_params *self, const char *name, dt_tensor *tensor);
dt_mesh *dt__params_mesh(const dt_params *self);
/* An agreed error where a rule has no effect. */
dt_status dt__params_check(const dt_params *self);

/* The states of an optimizer by name, in the order of its rows; and its method with its numbers. */
int dt__optimizer_states(const dt_optimizer *self, const char *names[DT__MAX_STATES]);
const dt__method *dt__optimizer_method(const dt_optimizer *self, const dt__method_numbers **numbers);
dt_ctx *dt__optimizer_ctx(const dt_optimizer *self);
/* The dtype of the state of a parameter. */
dt_dtype dt__optimizer_state_dtype(dt_dtype parameter);
/* The state of a parameter and its number of steps; NULL: it was not stepped yet. */
dt_tensor *const *dt__optimizer_row(const dt_optimizer *self, const dt_tensor *parameter, int64_t *n_steps);
/* Sets the number of steps of a parameter, and makes its state where it has none; 0: as if it had never been stepped.
 * Memory. */
dt_status dt__optimizer_restore(dt_optimizer *self, dt_tensor *parameter, int64_t n_steps);

/* checkpoint_save.c: writes a list to model.safetensors in a folder, or to several files and their index, which replace
 * what has their names when all are complete. Collective over the mesh of the list. */
dt_status dt__save_files(const dt_params *params, const char *folder, int64_t file_bytes, bool unsynced);

dt_ctx *dt__batches_ctx(const dt_batches *self);
/* The objects of a call: they are alive and of one context, and the rules of the list have an effect; otherwise an
 * agreed error. */
dt_status dt__checkpoint_check(const dt_params *params, const char *folder, const dt_optimizer *optimizer,
                               const dt_generator *generator, const dt_batches *batches);

#endif
