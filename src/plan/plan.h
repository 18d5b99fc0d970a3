/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan of a redistribution: which collectives, over which mesh dims, take a tensor from one sharding to another,
 * what they move and what that costs. A plan is a pure function of the two shardings, the planner and the machine
 * model; nothing communicates, so a plan can be made for any mesh.
 *
 *     bytes        received over all steps by the rank that receives most. A step in which rank r goes from the
 *                  indices A to B, reducing the values of g ranks, brings it (g - 1) |A ∩ B| + g |B \ A| elements.
 *                  Where several ranks get the same reduced part and that is large, it goes in two phases: each takes
 *                  these for its portion of B only, and then the others' portions.
 *     lower bound  the largest |T \ S| over ranks; |T| where something is reduced
 *     peak         source and target, and what a step reads and writes between them
 */
#ifndef DT_PLAN_PLAN_H
#define DT_PLAN_PLAN_H

#include "base/text.h"
#include "plan/machine.h"
#include "spec/spec.h"

/* One list makes the enum and the names that requests and options use. */
#define DT__PLANNER_LIST(X)                                                                                          \
    X(GREEDY, greedy)                                                                                                \
    X(GRAPH, graph)                                                                                                  \
    X(MIN_COST, min_cost)                                                                                            \
    X(DIRECT, direct)

typedef enum dt__planner {
#define X(upper, lower) DT__PLANNER_##upper,
    DT__PLANNER_LIST(X)
#undef X
        DT__N_PLANNERS
} dt__planner;

const char *dt__planner_name(dt__planner planner);
/* False where there is no planner of this name. */
bool dt__planner_parse(const char *name, dt__planner *out);

/* What is asked for. Both shardings have the same shape, and the same mesh sizes unless the meshes are given. */
typedef struct dt__move {
    const dt__sharding *from, *to;
    int64_t item_bytes;
    const dt_mesh *from_mesh, *to_mesh; /* NULL: the same ranks in the same order */
} dt__move;

/* The move between two specs, which live as long as it is used; they must agree in shape and dtype. */
dt_status dt__move_of_specs(const dt_spec *from, const dt_spec *to, dt__move *out);

/* What a step does with what ranks hold. */
typedef struct dt__transfer {
    const dt__sharding *before, *after;
    const dt_mesh *from_mesh, *to_mesh;                 /* NULL: the same ranks in the same order */
    int64_t reduced;                                    /* contributions to each element */
    int n_reduced_dims, reduced_dims[DT_SPEC_MAX_DIMS]; /* mesh dims that they come from, ascending */
    int64_t replicas;                                   /* ranks of the group that get the same part */
    int n_replica_dims, replica_dims[DT_SPEC_MAX_DIMS]; /* mesh dims of the target that they lie along, ascending */
    bool two_phases; /* each replica reduces its portion, then the portions are read (plan/two_phase.h) */
} dt__transfer;

typedef struct dt__plan_step {
    dt__step_kind collective;
    int n_mesh_dims, mesh_dims[DT_SPEC_MAX_DIMS]; /* ascending: those that change */
    const dt_placement *before, *after;           /* one per mesh dim, normalised */
    const dt__transfer *transfer;
    int64_t bytes; /* received by the rank that receives most in this step */
    int64_t most;  /* position in the mesh of that rank, or of one of several */
    double cost_us;
} dt__plan_step;

/* Steps and placements belong to the arena that the plan was made in. */
typedef struct dt__plan {
    dt__planner planner;
    int n_mesh_dims;            /* of the source */
    int n_target_mesh_dims;     /* and of the target, if it has another mesh */
    const dt_placement *source; /* strided shards that only say an order are written as that order */
    int n_steps;
    const dt__plan_step *steps;
    int n_collectives; /* steps other than DT__STEP_NONE */
    int64_t bytes, lower_bound_bytes, peak_bytes;
    double cost_us;
} dt__plan;

/* Plans the move. Refuses (placement) a target that is partial where the source is not the same partial on the same
 * ranks, because there is no way to undo a reduction, (mesh) a move between meshes by a planner other than direct,
 * and (unsupported) meshes and searches that are too large. */
dt_status dt__plan_new(dt__arena *arena, const dt__move *move, dt__planner planner, const dt__machine *machine,
                       dt__plan *out);

/* The cost of that plan by the minimum-cost planner and nothing else, if it is less than `most`, otherwise something
 * that is not; and what it costs at most, which is found faster. For those who compare many moves. Infinite where
 * dt__plan_new would refuse a partial. */
dt_status dt__plan_price(dt__arena *arena, const dt__move *move, const dt__machine *machine, double most,
                         double *out);
dt_status dt__plan_price_at_most(dt__arena *arena, const dt__move *move, const dt__machine *machine, double *out);

/* Appends "S(0)[0]S(0)[1]->S(0)R->RR": a bracket wherever several mesh dims cut one tensor dim. */
void dt__plan_trace(const dt__plan *plan, dt__text *out);
/* Appends the placements of one state, in the form that a trace has. */
void dt__plan_state_text(int n, const dt_placement *placements, dt__text *out);

#endif
