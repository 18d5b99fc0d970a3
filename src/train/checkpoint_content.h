/* SPDX-License-Identifier: Apache-2.0
 *
 * What a checkpoint contains: the tensors of a list and of its optimizer as entries of files, and which bytes of them
 * this rank writes.
 */
#ifndef DT_TRAIN_CHECKPOINT_CONTENT_H
#define DT_TRAIN_CHECKPOINT_CONTENT_H

#include "train/checkpoint_view.h"
#include "train/checkpoint_writer.h"

/* The source of an entry. */
typedef struct dt__saved_source {
    const dt_spec *spec; /* NULL: plain */
    dt_tensor *tensor;   /* NULL: zeros, or a number; this rank may have none of it */
    int64_t number;
    bool is_number;
} dt__saved_source;

typedef struct dt__content {
    int n_sets;
    dt__file_set sets[2];
    dt__saved_source *sources[2]; /* of the entries of each set */
} dt__content;

/* Lists the entries of the parameters and, unless it is NULL, of the optimizer. In the arena. */
dt_status dt__content_list(dt__content *self, dt__arena *arena, const dt_params *params,
                           const dt_optimizer *optimizer);
/* Adds the pieces of this rank to a job, in whose arena they are. Each byte of a tensor is the piece of one rank of its
 * mesh: ranks with equal shards divide them. Collective over the meshes of the tensors, those whose shards are many
 * small parts of the file are redistributed, in the current scope. */
dt_status dt__content_add_pieces(const dt__content *self, dt__arena *arena, dt__save_job *job);

#endif
