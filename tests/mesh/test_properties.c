/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs of slice, flatten, unflatten and concatenate on random meshes against a model without layouts: the
 * model stores every mesh as an explicit array of ranks and permutes its entries.
 */
#include "mesh/meshes.h"

enum { N_PROGRAMS = 20000, MAX_RANKS = 240, MAX_DIMS = 12 };

static uint64_t random_state;

static int64_t draw(int64_t below) { return test_below(&random_state, below); }

typedef struct model {
    int n_dims;
    int64_t sizes[MAX_DIMS];
    char names[MAX_DIMS][24];
    int64_t ranks[MAX_RANKS]; /* row-major */
    int64_t coordinate[MAX_DIMS];
    int64_t root[MAX_RANKS]; /* index of each rank in the list of the root, or -1 */
} model;

static int64_t size_of(const model *m) {
    int64_t n = 1;
    for (int i = 0; i < m->n_dims; i++)
        n *= m->sizes[i];
    return n;
}

static int64_t index_of(const model *m, const int64_t *coordinate) {
    int64_t index = 0;
    for (int i = 0; i < m->n_dims; i++)
        index = index * m->sizes[i] + coordinate[i];
    return index;
}

static void find_coordinate(model *m, int64_t rank) {
    int64_t index = 0;
    while (m->ranks[index] != rank)
        index++;
    for (int i = m->n_dims - 1; i >= 0; i--) {
        m->coordinate[i] = index % m->sizes[i];
        index /= m->sizes[i];
    }
}

/* These dims in this order, the others fixed at this rank's coordinate. */
static model select_dims(const model *m, const int *dims, int n) {
    model out = *m;
    out.n_dims = n;
    for (int i = 0; i < n; i++) {
        out.sizes[i] = m->sizes[dims[i]];
        memcpy(out.names[i], m->names[dims[i]], sizeof out.names[i]);
        out.coordinate[i] = m->coordinate[dims[i]];
    }
    for (int64_t index = 0; index < size_of(&out); index++) {
        int64_t at[MAX_DIMS], rest = index;
        memcpy(at, m->coordinate, sizeof at);
        for (int i = n - 1; i >= 0; i--) {
            at[dims[i]] = rest % out.sizes[i];
            rest /= out.sizes[i];
        }
        out.ranks[index] = m->ranks[index_of(m, at)];
    }
    return out;
}

/* Distance in the root's list of the nearest and of the farthest rank along a dim; 0 for a dim of size 1. */
static void distances(const model *m, int dim, int64_t *nearest, int64_t *farthest) {
    int64_t at[MAX_DIMS];
    memcpy(at, m->coordinate, sizeof at);
    at[dim] = 0;
    int64_t zero = m->root[m->ranks[index_of(m, at)]];
    *nearest = *farthest = 0;
    for (at[dim] = 1; at[dim] < m->sizes[dim]; at[dim]++) {
        int64_t distance = m->root[m->ranks[index_of(m, at)]] - zero;
        *nearest = *nearest == 0 || distance < *nearest ? distance : *nearest;
        *farthest = distance > *farthest ? distance : *farthest;
    }
}

/* The strides of each dim are larger than the extents of those after it. */
static bool in_order(const model *m, const int *dims, int n) {
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            int64_t low, high, low_next, high_next;
            distances(m, dims[i], &low, &high);
            distances(m, dims[k], &low_next, &high_next);
            if (low && high_next && low <= high_next)
                return false;
        }
    return true;
}

static void join_names(char *text, size_t capacity, const model *m, const int *dims, int n, char separator) {
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        size_t used = strlen(text);
        if (i)
            snprintf(text + used, capacity - used, "%c%s", separator, m->names[dims[i]]);
        else
            snprintf(text + used, capacity - used, "%s", m->names[dims[i]]);
    }
}

static int draw_dims(const model *m, bool shuffled, int *dims) {
    int n = 0;
    while (n == 0)
        for (int i = 0; i < m->n_dims; i++)
            if (draw(3))
                dims[n++] = i;
    for (int i = 1; shuffled && i < n; i++) {
        int other = (int)draw(i + 1), dim = dims[i];
        dims[i] = dims[other];
        dims[other] = dim;
    }
    return n;
}

/* One program: the current mesh and its model. */
typedef struct program {
    dt_ctx *ctx;
    dt_mesh *mesh;
    model model;
    int n_names;
    long refused;
} program;

static void set_mesh(program *p, dt_mesh *mesh, const model *m) {
    dt_mesh_release(p->mesh);
    p->mesh = mesh;
    p->model = *m;
}

static void step_slice(program *p) {
    int dims[MAX_DIMS], n = draw_dims(&p->model, !draw(4), dims);
    char names[256];
    join_names(names, sizeof names, &p->model, dims, n, ',');
    model expected = select_dims(&p->model, dims, n);
    bool allowed = in_order(&p->model, dims, n), all = n == p->model.n_dims;
    for (int i = 0; i < n; i++)
        all = all && dims[i] == i;
    dt_mesh *got = dt_mesh_slice(p->mesh, names);
    if (!got != !(allowed || all))
        fail_msg("slice %s of %s: %s", names, dt_mesh_text(p->mesh),
                 got ? "expected an error" : dt_error_text(p->ctx));
    if (!got) {
        assert_refused(p->ctx, NULL, "order of the mesh");
        p->refused++;
        return;
    }
    set_mesh(p, got, &expected);
}

static void step_concatenate(program *p) {
    int dims[MAX_DIMS], n = draw_dims(&p->model, true, dims), n_parts = 0;
    dt_mesh *parts[MAX_DIMS];
    model expected = select_dims(&p->model, dims, n);
    for (int i = 0; i < n;) { /* single dims, and pairs that are in order */
        int n_joined = i + 1 < n && in_order(&p->model, &dims[i], 2) ? 2 : 1;
        char names[256];
        join_names(names, sizeof names, &p->model, &dims[i], n_joined, ',');
        parts[n_parts++] = require(p->ctx, dt_mesh_slice(p->mesh, names));
        i += n_joined;
    }
    dt_mesh *got = require(p->ctx, dt_mesh_concatenate(parts, n_parts));
    for (int i = 0; i < n_parts; i++)
        dt_mesh_release(parts[i]);
    set_mesh(p, got, &expected);
}

static void step_flatten(program *p) {
    model expected = p->model;
    int64_t size = size_of(&p->model);
    expected.n_dims = 1;
    expected.sizes[0] = size;
    expected.coordinate[0] = index_of(&p->model, p->model.coordinate);
    snprintf(expected.names[0], sizeof expected.names[0], "f%d", p->n_names++);
    set_mesh(p, require(p->ctx, dt_mesh_flatten(p->mesh, expected.names[0])), &expected);
}

/* Whether a dim of several modes can be split into these sizes: of each stride of the new dims and each number of
 * indices in the last modes, one divides the other. */
static bool can_split(const dt_mesh *mesh, int dim, const int64_t *sizes, int n) {
    int64_t stride = 1;
    for (int i = n - 1; i >= 0; i--, stride *= sizes[i + 1]) {
        int64_t n_indices = 1;
        for (int m = mesh->dims[dim].n_modes - 1; m >= 0; m--) {
            n_indices *= mesh->dims[dim].modes[m].size;
            if (n_indices % stride != 0 && stride % n_indices != 0)
                return false;
        }
    }
    return true;
}

static void step_unflatten(program *p) {
    int dim = (int)draw(p->model.n_dims), n = 1 + (int)draw(3);
    int64_t sizes[3], rest = p->model.sizes[dim];
    if (p->model.n_dims - 1 + n > MAX_DIMS)
        return;
    for (int i = 0; i < n; i++) {
        sizes[i] = i + 1 < n ? 1 + draw(rest) : rest;
        while (rest % sizes[i] != 0)
            sizes[i]--;
        rest /= sizes[i];
    }
    model expected = p->model;
    expected.n_dims += n - 1;
    for (int i = expected.n_dims - 1; i >= dim + n; i--) {
        expected.sizes[i] = p->model.sizes[i - n + 1];
        memcpy(expected.names[i], p->model.names[i - n + 1], sizeof expected.names[i]);
    }
    char names[80] = "";
    for (int i = 0; i < n; i++) {
        expected.sizes[dim + i] = sizes[i];
        snprintf(expected.names[dim + i], sizeof expected.names[0], "u%d", p->n_names++);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? "," : "", expected.names[dim + i]);
    }
    find_coordinate(&expected, p->ctx->rank);
    bool allowed = can_split(p->mesh, dim, sizes, n);
    dt_mesh *got = dt_mesh_unflatten(p->mesh, dim, sizes, n, &(dt_mesh_options){.names = names});
    if (!got != !allowed)
        fail_msg("unflatten dim %d of %s: %s", dim, dt_mesh_text(p->mesh),
                 got ? "expected an error" : dt_error_text(p->ctx));
    if (!got) {
        assert_refused(p->ctx, NULL, "cannot be split");
        p->refused++;
        return;
    }
    set_mesh(p, got, &expected);
}

static void compare_with_model(program *p) {
    const model *m = &p->model;
    int64_t ranks[MAX_RANKS], coordinate[MAX_DIMS], n = size_of(m);
    const char *text = dt_mesh_text(p->mesh);
    assert_int_equal(dt_mesh_n_dims(p->mesh), m->n_dims);
    assert_int_equal(dt_mesh_size(p->mesh), n);
    for (int i = 0; i < m->n_dims; i++) {
        assert_string_equal(dt_mesh_dim_name(p->mesh, i), m->names[i]);
        assert_int_equal(dt_mesh_dim_size(p->mesh, i), m->sizes[i]);
    }
    dt_mesh_ranks(p->mesh, ranks);
    for (int64_t i = 0; i < n; i++)
        if (ranks[i] != m->ranks[i])
            fail_msg("%s: index %lld: expected rank %lld, got %lld", text, (long long)i, (long long)m->ranks[i],
                     (long long)ranks[i]);
    assert_true(dt_mesh_coordinate(p->mesh, coordinate));
    assert_memory_equal(coordinate, m->coordinate, (size_t)m->n_dims * sizeof *coordinate);
    for (int dim = 0; dim < m->n_dims; dim++) {
        model group = select_dims(m, &dim, 1);
        assert_true(dt_mesh_group_ranks(p->mesh, dim, ranks));
        assert_memory_equal(ranks, group.ranks, (size_t)m->sizes[dim] * sizeof *ranks);
    }
    for (int64_t rank = 0; rank < p->ctx->world; rank++) {
        int64_t at = -1;
        for (int64_t i = 0; i < n; i++)
            at = m->ranks[i] == rank ? i : at;
        assert_int_equal(dt_mesh_coordinate_of(p->mesh, rank, coordinate), at >= 0);
        if (at >= 0) {
            assert_int_equal(index_of(m, coordinate), at);
            assert_int_equal(dt_mesh_rank_at(p->mesh, coordinate), rank);
        }
    }
    dt_mesh *again = require(p->ctx, dt_mesh_new(p->ctx, text));
    assert_true(dt_mesh_equal(again, p->mesh));
    assert_string_equal(dt_mesh_text(again), text);
    dt_mesh_release(again);
}

static void draw_root(program *p) {
    model *m = &p->model;
    int64_t shape[5], n = 1;
    char names[] = "a,b,c,d,e";
    *m = (model){.n_dims = 1 + (int)draw(5)};
    for (int i = 0; i < m->n_dims; i++) {
        shape[i] = 1 + draw(5);
        if (n * shape[i] > MAX_RANKS / 3)
            shape[i] = 1;
        n *= m->sizes[i] = shape[i];
        m->names[i][0] = (char)('a' + i);
    }
    names[2 * m->n_dims - 1] = 0;
    p->ctx->world = n + draw(3) * draw(n + 1);
    int64_t all[MAX_RANKS];
    for (int64_t i = 0; i < p->ctx->world; i++) {
        int64_t other = draw(3) ? i : draw(i + 1);
        all[i] = all[other];
        all[other] = i;
    }
    bool listed = draw(2);
    memset(m->root, -1, sizeof m->root);
    for (int64_t i = 0; i < n; i++) {
        m->ranks[i] = listed ? all[i] : i;
        m->root[m->ranks[i]] = i;
    }
    p->ctx->rank = m->ranks[draw(n)];
    find_coordinate(m, p->ctx->rank);
    dt_mesh_options options = {.names = names};
    p->mesh = require(p->ctx, listed ? dt_mesh_from_ranks(p->ctx, m->ranks, shape, m->n_dims, &options)
                                     : dt_mesh_from_shape(p->ctx, shape, m->n_dims, &options));
}

static void programs__agree_with_explicit_arrays(void **state) {
    (void)state;
    static void (*const steps[])(program *) = {step_slice, step_concatenate, step_flatten, step_unflatten};
    random_state = test_seed(2);
    long refused = 0, n_steps = 0;
    for (int i = 0; i < N_PROGRAMS; i++) {
        world w;
        program p = {.ctx = world_begin(&w, 1, 0)};
        draw_root(&p);
        compare_with_model(&p);
        for (int64_t left = draw(6); left > 0; left--, n_steps++) {
            steps[draw(4)](&p);
            compare_with_model(&p);
        }
        dt_mesh_release(p.mesh);
        refused += p.refused;
        world_end(&w);
    }
    assert_in_range(refused, n_steps / 200, n_steps / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs__agree_with_explicit_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
