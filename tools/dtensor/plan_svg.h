/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan drawn as SVG: who sends what to whom, to scale. A scene is what it shows: a row per rank, a column
 * per state, and an arrow for everything that a rank sends to another in the step between two columns. Of meshes with
 * more than 64 ranks it shows one receiver, the one that receives most, with its largest senders.
 */
#ifndef TOOLS_DTENSOR_PLAN_SVG_H
#define TOOLS_DTENSOR_PLAN_SVG_H

#include "base/text.h"
#include "plan/plan.h"

enum { SCENE_MAX_RANKS = 64, SCENE_MAX_SENDERS = 12 /* of a step, where not all ranks are shown */ };

typedef struct scene_row {
    int64_t rank;
    int64_t source, target; /* positions in the meshes of source and target; -1: not in it */
} scene_row;

typedef struct scene_arrow {
    int from, to; /* rows */
    int64_t bytes;
} scene_arrow;

typedef struct scene_step {
    const dt__plan_step *step;
    scene_arrow *arrows; /* by receiver, then by sender */
    int64_t n_arrows;
    int64_t n_left_out;     /* senders that are not shown */
    int64_t left_out_bytes; /* sent by them */
} scene_step;

typedef struct scene {
    const dt__plan *plan;
    int64_t item_bytes;
    scene_row *rows; /* by rank */
    int n_rows;
    int receiver;      /* the only row that is shown to receive, or -1: all are */
    int max_receiver;  /* row of the rank that receives most in one step */
    scene_step *steps; /* plan->n_steps */
    int64_t max_bytes; /* that one rank sends or receives in one step */
} scene;

dt_status scene_new(dt__arena *arena, const dt_spec *from, const dt_spec *to, const dt__plan *plan, scene *out);

/* The sharding of a column; column 0 is the source. */
const dt__sharding *scene_state(const scene *self, const dt_spec *from, int column);
/* Position of a row in the mesh of a column; -1: not in it. */
int64_t scene_position(const scene *self, int column, int row);

/* Texts that the drawing shares with the report. */
typedef struct plan_svg_texts {
    const char *title, *summary;
    const char **states; /* per column */
    const char **steps;  /* three lines per step */
} plan_svg_texts;

/* Appends the document. */
dt_status plan_svg(const dt_spec *from, const dt_spec *to, const dt__plan *plan, const plan_svg_texts *texts,
                   dt__arena *arena, dt__text *out);

#endif
