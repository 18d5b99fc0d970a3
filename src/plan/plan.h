/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan of a redistribution: which collectives, over which mesh dims, take a tensor from one sharding to another,
 * what they move and what that costs. A plan is a pure function of the two shardings, the planner and the machine
 * model: nothing communicates and no tensor is needed, so a plan can be made for any mesh. Other folders include only
 * this header of src/plan.
 *
 *     bytes        received over all steps by the rank that receives most. A step in which rank r goes from the
 *                  indices A to B, reducing the values of g ranks, brings it (g - 1) |A ∩ B| + g |B \ A| elements.
 *                  Where several ranks get the same reduced shard and it is large, the reduction takes two phases:
 *                  each rank receives these for its portion of B only, and then the others' portions.
 *     lower bound  the maximum of |T \ S| over ranks; of |T| where something is reduced
 *     peak         source and target, and what a step reads and writes between them
 */
#ifndef DT_PLAN_PLAN_H
#define DT_PLAN_PLAN_H

#include "base/machine.h"
#include "base/text.h"
#include "spec/spec.h"

/* The planners. One list makes the enum, the names that options and requests use, and the table of functions
 * (planners.c); errors, tools and tests derive from it. Columns: enum, name and function, what it does. planners.h
 * lists the requirements for every planner. */
#define DT__PLANNER_LIST(X)                                                                                          \
    X(GREEDY, greedy, "mesh dim by mesh dim, as PyTorch does by default")                                            \
    X(GRAPH, graph, "PyTorch's search over single steps, with its costs")                                            \
    X(MIN_COST, min_cost, "the cheapest sequence of collectives by the machine model")                               \
    X(DIRECT, direct, "one exchange in which each rank pulls just what it lacks")

typedef enum dt__planner {
#define X(upper, lower, meaning) DT__PLANNER_##upper,
    DT__PLANNER_LIST(X)
#undef X
        DT__N_PLANNERS
} dt__planner;

const char *dt__planner_name(dt__planner planner);
/* False where there is no planner of this name. */
bool dt__planner_parse(const char *name, dt__planner *out);
/* Writes "greedy, graph, min_cost or direct", for errors; returns out. */
const char *dt__planner_names(size_t capacity, char *out);
/* "greedy, graph, min_cost, direct, ": for help, where another word follows. */
#define DT__PLANNER_NAME_AND_COMMA(upper, lower, meaning) #lower ", "
#define DT__PLANNER_NAMES                                 DT__PLANNER_LIST(DT__PLANNER_NAME_AND_COMMA)

/* A step as the machine model (base/machine.h) prices it. */
typedef struct dt__step_desc {
    dt__step_kind kind;
    int64_t group; /* number of ranks that take part */
    int64_t ranks; /* ranks of the mesh, which do the same in their own groups; at least the group */
    bool spans_hosts;
    double before_bytes, after_bytes; /* of the largest shard */
    bool strided;  /* an exchange of blocks that are not consecutive in memory; of collectives, this is not known */
    int64_t nodes; /* that a group spans, where that is known; 0: not */
} dt__step_desc;

/* Microseconds. Where the nodes of a group are known, each node receives what crosses once, its ranks in equal shares,
 * and the rest moves within nodes. Otherwise received bytes are (group - 1) / group of the result of an all-gather and
 * of an all-to-all, twice that for an all-reduce, and group - 1 contributions to the result of a reduce-scatter. Each
 * step writes its result once; an all-to-all also packs what it sends. Where steps of this kind are measured, these
 * times replace the formula within a host. */
double dt__machine_price(const dt__machine *machine, const dt__step_desc *step);
/* The formula: base + before * before_bytes + after * after_bytes. */
typedef struct dt__step_formula {
    double base, before, after;
} dt__step_formula;
dt__step_formula dt__machine_formula(const dt__machine *machine, const dt__step_desc *step);
/* Where steps like this are measured: the maximum of two lines over after_bytes; the second is the steeper
 * one and exceeds the first where results are too large for the caches. */
typedef struct dt__step_line {
    struct {
        double base, us_per_byte;
    } cache, memory;
} dt__step_line;
bool dt__machine_measured_line(const dt__machine *machine, const dt__step_desc *step, dt__step_line *out);
/* The bandwidth part, without start-up, of reducing a partial of before_bytes by a step of this kind. */
double dt__machine_reduction_us(const dt__machine *machine, const dt__step_desc *step);
/* The ranks of a mesh, as a step needs them. */
int64_t dt__mesh_ranks(int n_mesh_dims, const int64_t *mesh);
/* Whether groups along this mesh dim span hosts; ranks are numbered host by host, the last dim varies fastest. */
bool dt__machine_spans_hosts(const dt__machine *machine, int n_mesh_dims, const int64_t *mesh, int mesh_dim);

/* What is to be planned. Both shardings have the same shape, and the same mesh sizes unless the meshes are set. */
typedef struct dt__move {
    const dt__sharding *from, *to;
    int64_t item_bytes;
    const dt_mesh *from_mesh, *to_mesh; /* NULL: the same ranks in the same order */
    const int64_t *nodes; /* that groups along each mesh dim span, where ranks really are; NULL: unknown */
} dt__move;

/* The move between two specs, which outlive it; they must agree in shape and dtype. */
dt_status dt__move_of_specs(const dt_spec *from, const dt_spec *to, dt__move *out);

/* How a step changes what ranks hold. */
typedef struct dt__transfer {
    const dt__sharding *before, *after;
    const dt_mesh *from_mesh, *to_mesh;                 /* NULL: the same ranks in the same order */
    int64_t reduced;                                    /* contributions to each element */
    int n_reduced_dims, reduced_dims[DT_SPEC_MAX_DIMS]; /* mesh dims that they come from, ascending */
    int64_t replicas;                                   /* ranks of the group that get the same shard */
    int n_replica_dims, replica_dims[DT_SPEC_MAX_DIMS]; /* mesh dims of the target that they are along, ascending */
    bool two_phases; /* each replica reduces its portion, then the portions are read (two_phase.h) */
} dt__transfer;

typedef struct dt__plan_step {
    dt__step_kind collective;
    int n_mesh_dims, mesh_dims[DT_SPEC_MAX_DIMS]; /* ascending: those that change */
    const dt_placement *before, *after;           /* one per mesh dim, normalized */
    const dt__transfer *transfer;
    int64_t bytes;   /* max received by a rank in this step */
    int64_t busiest; /* position in the mesh of the first rank that receives that much */
    double cost_us;
} dt__plan_step;

/* Steps and placements belong to the arena that the plan was made in. */
typedef struct dt__plan {
    dt__planner planner;
    int n_mesh_dims;            /* of the source */
    int n_target_mesh_dims;     /* of the target, which may have another mesh */
    const dt_placement *source; /* strided shards that only express an order are written as that order */
    int n_steps;
    const dt__plan_step *steps;
    int n_collectives; /* steps other than DT__STEP_NONE */
    int64_t bytes, lower_bound_bytes, peak_bytes;
    double cost_us;
} dt__plan;

/* The states that a plan passes through, source and target included, as a planner finds them. Everything else about a
 * plan follows from them and from the move. */
struct dt__dim_state;
typedef struct dt__route {
    dt__arena *arena;
    int n_states, capacity;
    struct dt__dim_state *states; /* of the move's state space (placement_state.h), n_mesh_dims entries each */
    bool exchange;                /* its steps are exchanges of just what ranks lack, not collectives over groups */
} dt__route;

/* Copies the states of a route into the arena, which it belongs to from then on. */
dt_status dt__route_keep(dt__arena *arena, int n_mesh_dims, dt__route *route);

/* The steps of a plan, by kind. */
typedef struct dt__step_counts {
    int64_t of[DT__N_STEP_KINDS];
} dt__step_counts;
static inline bool dt__step_counts_communicate(const dt__step_counts *counts) {
    for (int kind = DT__STEP_NONE + 1; kind < DT__N_STEP_KINDS; kind++)
        if (counts->of[kind])
            return true;
    return false;
}
dt__step_counts dt__plan_count(const dt__plan *plan);
/* Those of the plan along a route on one mesh; none where the route is empty. */
dt__step_counts dt__route_count(const dt__move *move, const dt__machine *machine, const dt__route *route);

/* Plans the move. Refuses (placement) a target that is partial where the source is not the same partial on the same
 * ranks, because a reduction cannot be undone, (mesh) a move between meshes by a planner other than direct, and
 * (unsupported) meshes and searches that are too large. */
dt_status dt__plan_new(dt__arena *arena, const dt__move *move, dt__planner planner, const dt__machine *machine,
                       dt__plan *out);
/* The minimum-cost plan along a route that dt__plan_price has found for this move and machine. */
dt_status dt__plan_along(dt__arena *arena, const dt__move *move, const dt__machine *machine, const dt__route *route,
                         dt__plan *out);

/* A table of prices from one source, which outlives it, in the arena (price_table.h). NULL with DT_OK where the source
 * has strided shards, explicit extents or no elements, or too many states follow from it. */
typedef struct dt__price_table dt__price_table;
dt_status dt__price_table_new(dt__arena *arena, const dt__sharding *from, int64_t item_bytes,
                              const dt__machine *machine, dt__price_table **out);

/* The cost of the minimum-cost plan if it is below max_cost, otherwise some value that is not below it; and an upper
 * bound of that cost, which is found faster. For searches that compare many moves on one mesh: only the cost is
 * computed, and the route where that is not NULL, from the table of the source if there is one. The route is empty
 * where the cost is not below max_cost, and where the source is the target. The cost is infinite where dt__plan_new
 * would refuse a partial. */
dt_status dt__plan_price(dt__arena *arena, const dt__move *move, const dt__machine *machine, dt__price_table *table,
                         double max_cost, dt__route *route, double *us);
/* A lower bound of the price, which is found much faster. */
double dt__plan_price_lower_bound(const dt__move *move, const dt__machine *machine);
dt_status dt__plan_price_upper_bound(dt__arena *arena, const dt__move *move, const dt__machine *machine, double *out);

/* Appends "S(0)[0]S(0)[1]->S(0)R->RR": the states of a plan, without commas, and with a position in brackets
 * wherever several mesh dims shard one tensor dim. */
void dt__plan_trace(const dt__plan *plan, dt__text *out);
/* Appends the placements of one state in the form that a trace has. */
void dt__plan_state_text(int n, const dt_placement *placements, dt__text *out);

/* Row-major position in a mesh of these sizes, and back. */
int64_t dt__position(int n_mesh_dims, const int64_t *mesh, const int64_t *coordinate);
void dt__coordinate(int n_mesh_dims, const int64_t *mesh, int64_t position, int64_t *out);

/* What one rank sends to the receiver in a step. */
typedef struct dt__flow {
    int64_t sender;   /* position in the source's mesh */
    bool in_target;   /* position in the target's mesh, which is another one: the second phase */
    int64_t elements; /* over both phases, where there are two */
} dt__flow;

typedef struct dt__flows {
    int64_t n, kept; /* kept: elements of its own that the receiver uses */
    dt__flow *items; /* by sender, ascending; the receiver is not among them */
} dt__flows;

/* Who sends how much to a receiver, which is given by its position in the target's mesh (traffic.c). The elements
 * add up to the bytes of the plan. */
dt_status dt__flows_new(dt__arena *arena, const dt__transfer *transfer, int64_t receiver, dt__flows *out);
/* The number of these, which is faster to compute if shards are even. */
dt_status dt__flows_count(dt__arena *arena, const dt__transfer *transfer, int64_t receiver, int64_t *out);

/* Reductions in two phases, decided once for plans and for the executor (two_phase.c): whether n_values per element
 * are reduced so for n_replicas of shards of up to this size; */
bool dt__reduces_in_two_phases(int64_t n_values, int64_t n_replicas, int64_t shard_bytes);
/* and the dim along which such a shard is divided into portions: the slowest in memory that is long enough,
 * otherwise the longest. `order` has the dims from the slowest on; NULL: row-major. There is at least one dim. */
int dt__portion_dim(int n_dims, const int *order, const dt__shard *shard, int64_t n_replicas);

#endif
