/* SPDX-License-Identifier: Apache-2.0
 *
 * The search: nodes in one growing array, a hash table that finds the node of a state, and a heap of entries. A
 * state that is reached again more cheaply gets a new entry; the old one is skipped when it is popped.
 */
#include "plan/best_first_search.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

enum { MAX_NODES = 1 << 20 };

typedef struct dt__search_node {
    double cost, bound;
    int64_t found; /* number of the valid entry */
    uint64_t hash; /* of the state */
    int parent;    /* -1: the source */
    bool closed;
} dt__search_node;

typedef struct dt__search_entry {
    double cost; /* so far, and the bound of the rest */
    int64_t found;
    int node;
} dt__search_entry;

static dt__dim_state *state_of(const dt__search *search, int node) {
    return &search->states[(int64_t)node * search->space->n_mesh_dims];
}

static size_t state_bytes(const dt__search *search) {
    return (size_t)search->space->n_mesh_dims * sizeof(dt__dim_state);
}

/* A larger copy of an array in the arena. */
static void *grow_array(dt__search *search, const void *items, size_t n, size_t capacity, size_t item_bytes) {
    void *out = dt__arena_alloc(search->arena, capacity, item_bytes);
    if (!out)
        search->status = DT_ERR_MEMORY;
    else if (n)
        memcpy(out, items, n * item_bytes);
    return out;
}

static int *slot_of(const dt__search *search, const dt__dim_state *state, uint64_t hash) {
    for (uint64_t i = hash;; i++) {
        int *slot = &search->table[i & (uint64_t)(search->n_table - 1)];
        if (!*slot || (search->nodes[*slot - 1].hash == hash &&
                       !memcmp(state_of(search, *slot - 1), state, state_bytes(search))))
            return slot;
    }
}

static bool grow_nodes(dt__search *search) {
    int capacity = search->capacity ? 2 * search->capacity : 64;
    size_t n = (size_t)search->n_nodes;
    if (search->rules->max_states && search->n_nodes >= search->rules->max_states) {
        search->gave_up = true;
        return false;
    }
    if (capacity > MAX_NODES) {
        search->status =
            dt__fail(search->arena->ctx, DT_ERR_UNSUPPORTED,
                     "redistribute: more than %d states between source and target; planner direct needs no "
                     "search",
                     MAX_NODES / 2);
        return false;
    }
    dt__search_node *nodes = grow_array(search, search->nodes, n, (size_t)capacity, sizeof *nodes);
    dt__dim_state *states =
        nodes ? grow_array(search, search->states, n, (size_t)capacity, state_bytes(search)) : NULL;
    int *table = states ? grow_array(search, NULL, 0, 2 * (size_t)capacity, sizeof *table) : NULL;
    if (!table)
        return false;
    search->nodes = nodes;
    search->states = states;
    search->table = table;
    search->n_table = 2 * capacity;
    search->capacity = capacity;
    for (int i = 0; i < search->n_nodes; i++)
        *slot_of(search, state_of(search, i), search->nodes[i].hash) = i + 1;
    return true;
}

static bool before(const dt__search_entry *a, const dt__search_entry *b) {
    return a->cost < b->cost || (a->cost == b->cost && a->found < b->found);
}

static void push(dt__search *search, dt__search_entry entry) {
    if (search->n_heap == search->heap_capacity) {
        int capacity = search->heap_capacity ? 2 * search->heap_capacity : 128;
        dt__search_entry *heap =
            grow_array(search, search->heap, (size_t)search->n_heap, (size_t)capacity, sizeof *heap);
        if (!heap)
            return;
        search->heap = heap;
        search->heap_capacity = capacity;
    }
    int at = search->n_heap++;
    for (; at > 0 && before(&entry, &search->heap[(at - 1) / 2]); at = (at - 1) / 2)
        search->heap[at] = search->heap[(at - 1) / 2];
    search->heap[at] = entry;
}

static dt__search_entry pop(dt__search *search) {
    dt__search_entry first = search->heap[0], last = search->heap[--search->n_heap];
    int at = 0;
    for (int child; (child = 2 * at + 1) < search->n_heap; at = child) {
        if (child + 1 < search->n_heap && before(&search->heap[child + 1], &search->heap[child]))
            child++;
        if (!before(&search->heap[child], &last))
            break;
        search->heap[at] = search->heap[child];
    }
    search->heap[at] = last;
    return first;
}

/* The state can be reached at this cost. */
static void reach(dt__search *search, const dt__dim_state *state, int parent, double cost) {
    if (search->rules->max_cost > 0 && cost >= search->rules->max_cost)
        return;
    if (search->n_nodes == search->capacity && !grow_nodes(search))
        return;
    uint64_t hash = dt__hash(state, state_bytes(search), 0);
    int *slot = slot_of(search, state, hash);
    if (!*slot) {
        dt__bound_fn *bound = search->rules->bound;
        memcpy(state_of(search, search->n_nodes), state, state_bytes(search));
        search->nodes[search->n_nodes++] = (dt__search_node){
            .cost = -1, .hash = hash, .bound = bound ? bound(search->space, state, search->rules->user) : 0};
        *slot = search->n_nodes;
    }
    int at = *slot - 1;
    dt__search_node *node = &search->nodes[at];
    bool known = node->cost >= 0;
    if (node->closed || (known && node->cost <= cost))
        return;
    if (search->rules->max_cost > 0 && cost + node->bound >= search->rules->max_cost)
        return;
    node->cost = cost;
    node->parent = parent;
    node->found = search->n_found++;
    push(search, (dt__search_entry){cost + node->bound, node->found, at});
}

void dt__search_step(dt__search *search, int m, int token, int position, double cost) {
    dt__dim_state next[DT_SPEC_MAX_DIMS];
    if (search->status != DT_OK || search->gave_up)
        return;
    memcpy(next, state_of(search, search->current), state_bytes(search));
    next[m] = (dt__dim_state){(uint8_t)token, (uint8_t)position};
    reach(search, next, search->current, search->nodes[search->current].cost + cost);
}

static void consider_jump(dt__search *search, const dt__dim_state *state) {
    if (!search->rules->jump)
        return;
    double cost = search->nodes[search->current].cost + search->rules->jump(search->space, state);
    if (cost < search->jump_cost) {
        search->jump_cost = cost;
        search->jump = search->current;
    }
}

/* The node of the target, once nothing cheaper is possible; -1 where there is no route. */
static int find_target(dt__search *search) {
    dt__dim_state state[DT_SPEC_MAX_DIMS];
    while (search->n_heap && search->status == DT_OK && !search->gave_up) {
        dt__search_entry entry = pop(search);
        dt__search_node *node = &search->nodes[entry.node];
        if (node->closed || node->found != entry.found)
            continue;
        node->closed = true;
        search->current = entry.node;
        memcpy(state, state_of(search, entry.node), state_bytes(search));
        if (!memcmp(state, search->space->to, state_bytes(search)))
            return entry.node;
        consider_jump(search, state);
        search->rules->expand(search, state);
    }
    return -1;
}

static dt_status add_path(const dt__search *search, int node, dt__route *out) {
    if (node < 0)
        return DT_OK;
    DT__TRY(add_path(search, search->nodes[node].parent, out));
    return dt__route_add(out, search->space, state_of(search, node));
}

static dt_status add_paths(const dt__search *search, int target, dt__route *out, dt__route *jumped) {
    DT__TRY(search->status);
    DT__TRY(add_path(search, target, out));
    if (search->jump < 0)
        return DT_OK;
    DT__TRY(add_path(search, search->jump, jumped));
    return dt__route_add(jumped, search->space, search->space->to);
}

dt_status dt__search_run(const dt__state_space *space, const dt__search_rules *rules, dt__route *out,
                         dt__route *jumped) {
    dt__arena arena = dt__arena_new(out->arena->ctx);
    dt__search search = {.space = space, .rules = rules, .arena = &arena, .jump = -1, .jump_cost = INFINITY};
    reach(&search, space->from, -1, 0);
    dt_status status = add_paths(&search, find_target(&search), out, jumped);
    dt__arena_free(&arena);
    return status;
}
