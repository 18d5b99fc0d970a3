/* SPDX-License-Identifier: Apache-2.0
 *
 * Specs, and the table that interns them. A description is checked and normalized before it is looked up, so that a hit
 * allocates nothing and different descriptions of one sharding find the same spec. The table holds no reference: the
 * last dt_spec_release removes the spec from it. Ids only grow.
 */
#include "spec/spec.h"
#include "base/hot.h"

#include "base/hash.h"
#include "base/options.h"
#include "mesh/mesh.h"
#include "spec/placement_text.h"
#include "spec/shard_sizes.h"
#include "spec/stride_order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct spec_table {
    dt__map specs;
    dt__freed_queue freed;
    uint64_t last_id;
} spec_table;

static void destroy_spec(spec_table *table, dt_spec *spec) {
    dt_mesh_release(spec->mesh);
    dt__arena_free(&spec->arena);
    DT__LIFE_END(&table->freed, spec);
    dt__freed_trim(&table->freed, spec->ctx, sizeof *spec);
}

static void free_table(dt_ctx *ctx, void *state) {
    spec_table *table = state;
    size_t at = 0;
    for (dt_spec *spec; (spec = dt__map_next(&table->specs, &at));)
        destroy_spec(table, spec);
    dt__freed_free(&table->freed, ctx, sizeof(dt_spec));
    dt__map_free(&table->specs);
    dt__free(ctx, table, sizeof *table);
}

static spec_table *table_of(dt_ctx *ctx) {
    if (ctx->slots[DT__SLOT_SPEC].state)
        return ctx->slots[DT__SLOT_SPEC].state;
    spec_table *table = dt__alloc(ctx, sizeof *table);
    if (!table) {
        dt__fail_memory(ctx, sizeof *table, "the context's specs");
        return NULL;
    }
    *table = (spec_table){.specs = dt__map_new(ctx)};
    ctx->slots[DT__SLOT_SPEC].state = table;
    ctx->slots[DT__SLOT_SPEC].free_state = free_table;
    return table;
}

/* A checked and normalized description; it points into memory of the caller's. */
typedef struct spec_key {
    dt_mesh *mesh;
    dt_dtype dtype;
    dt__sharding_desc sharding;
    const int *stride_order;
} spec_key;

static uint64_t hash_placement(const dt_placement *placement, uint64_t hash) {
    uint64_t small = (uint64_t)placement->kind << 24 | (uint64_t)placement->reduce << 16 |
                     (uint64_t)placement->dim << 8 | (uint64_t)placement->position;
    hash = dt__hash_u64(small, dt__hash_u64((uint64_t)placement->split_factor, hash));
    return placement->n_extents ? dt__hash(placement->extents, (size_t)placement->n_extents * sizeof(int64_t), hash)
                                : hash;
}

/* Of everything but the ranks of the mesh. */
static uint64_t hash_layout(const spec_key *key) {
    const dt__sharding_desc *sharding = &key->sharding;
    uint64_t hash = dt__hash_u64((uint64_t)key->dtype << 8 | (uint64_t)sharding->n_dims, 0);
    hash = dt__hash(sharding->shape, (size_t)sharding->n_dims * sizeof *sharding->shape, hash);
    for (int m = 0; m < sharding->n_mesh_dims; m++)
        hash = hash_placement(&sharding->placements[m], hash);
    return dt__hash(key->stride_order, (size_t)sharding->n_dims * sizeof *key->stride_order, hash);
}

/* Equal meshes may have been made for different ranks or worlds, by a tool. */
static bool same_mesh(const dt_mesh *a, const dt_mesh *b) {
    return a == b || (dt_mesh_equal(a, b) && a->self.world == b->self.world && a->self.rank == b->self.rank);
}

static bool same_spec(const void *value, const void *probe) {
    const dt_spec *spec = value;
    const spec_key *key = probe;
    size_t n_dims = (size_t)key->sharding.n_dims;
    if (spec->dtype != key->dtype || (size_t)spec->sharding.n_dims != n_dims || !same_mesh(spec->mesh, key->mesh) ||
        (n_dims && memcmp(spec->sharding.shape, key->sharding.shape, n_dims * sizeof(int64_t)) != 0) ||
        (n_dims && memcmp(spec->stride_order, key->stride_order, n_dims * sizeof(int)) != 0))
        return false;
    for (int m = 0; m < key->sharding.n_mesh_dims; m++)
        if (!dt_placement_equal(&spec->sharding.placements[m], &key->sharding.placements[m]))
            return false;
    return true;
}

/* Derives sizes of all shards and the local tensor of this rank. */
static dt_status derive_sizes(dt_spec *spec) {
    const dt__sharding *sharding = &spec->sharding;
    int64_t largest[DT_SPEC_MAX_DIMS], coordinate[DT_SPEC_MAX_DIMS];
    int64_t item_bytes = (int64_t)dt_dtype_size(spec->dtype);
    spec->n_shards = 1;
    spec->is_even = true;
    for (int d = 0; d < sharding->n_dims; d++) {
        DT__TRY(dt__sharding_dim_largest(spec->ctx, sharding, d, &largest[d]));
        spec->n_shards *= dt__sharding_dim_shards(sharding, d);
        spec->is_even &= dt__sharding_dim_is_even(sharding, d);
    }
    dt__product(sharding->n_dims, largest, item_bytes, &spec->max_bytes);
    dt__product(sharding->n_dims, sharding->shape, 1, &spec->elements);
    spec->bytes = spec->elements * item_bytes;
    dt__spec_local(spec, dt_mesh_coordinate(spec->mesh, coordinate) ? coordinate : NULL, &spec->local);
    return DT_OK;
}

static dt_status fill_spec(dt_spec *spec, const spec_key *key) {
    int n_dims = key->sharding.n_dims;
    int *stride_order = dt__arena_copy(&spec->arena, key->stride_order, (size_t)n_dims, sizeof *stride_order);
    int64_t *strides = DT__NEW_ARRAY(&spec->arena, int64_t, n_dims);
    if (!stride_order || !strides)
        return DT_ERR_MEMORY;
    dt__dense_strides(n_dims, key->sharding.shape, stride_order, strides);
    spec->stride_order = stride_order;
    spec->is_permuted = dt__is_permuted(n_dims, strides);
    spec->strides = strides;
    DT__TRY(dt__sharding_build(&spec->arena, &key->sharding, &spec->sharding));
    return derive_sizes(spec);
}

static dt_spec *make_spec(spec_table *table, const spec_key *key, uint64_t layout, uint64_t fingerprint) {
    dt_ctx *ctx = dt_mesh_ctx(key->mesh);
    dt_spec *spec = dt__alloc(ctx, sizeof *spec);
    if (!spec)
        return dt__fail_memory(ctx, sizeof *spec, "a spec"), NULL;
    *spec = (dt_spec){
        .ctx = ctx,
        .n_refs = 1,
        .fingerprint = fingerprint,
        .layout_fingerprint = layout,
        .mesh = dt_mesh_retain(key->mesh),
        .dtype = key->dtype,
        .arena = dt__arena_new(ctx),
    };
    dt__life_begin(&spec->life, ctx);
    if (fill_spec(spec, key) != DT_OK || !dt__map_add(&table->specs, fingerprint, spec)) {
        destroy_spec(table, spec);
        return NULL;
    }
    spec->id = ++table->last_id;
    if (__builtin_expect(spec->ctx->estimate != NULL, 0))
        dt__rank_classes_note(spec);
    return spec;
}

static dt_spec *intern(const spec_key *key) {
    spec_table *table = table_of(dt_mesh_ctx(key->mesh));
    if (!table)
        return NULL;
    uint64_t layout = hash_layout(key), fingerprint = dt__hash_u64(layout, dt_mesh_fingerprint(key->mesh));
    dt_spec *found = dt__map_get(&table->specs, fingerprint, same_spec, key);
    return found ? dt_spec_retain(found) : make_spec(table, key, layout, fingerprint);
}

static dt_status check_dtype(dt_ctx *ctx, const spec_key *key) {
    if (!dt_dtype_size(key->dtype))
        return dt__fail(ctx, DT_ERR_DTYPE, "unknown dtype %d", (int)key->dtype);
    return dt__placements_check_dtype(ctx, key->sharding.n_mesh_dims, key->sharding.placements, key->dtype);
}

static dt_status check_memory_layout(dt_ctx *ctx, const spec_key *key) {
    int64_t bytes, strides[DT_SPEC_MAX_DIMS];
    const dt__sharding_desc *sharding = &key->sharding;
    if (!dt__is_stride_order(sharding->n_dims, key->stride_order))
        return dt__fail(ctx, DT_ERR_VALUE, "the stride order does not name each of the %d dims once",
                        sharding->n_dims);
    if (!dt__product(sharding->n_dims, sharding->shape, (int64_t)dt_dtype_size(key->dtype), &bytes))
        return dt__fail(ctx, DT_ERR_SHAPE, "the tensor has more than 2^63 - 1 bytes");
    if (!dt__dense_strides(sharding->n_dims, sharding->shape, key->stride_order, strides))
        return dt__fail(ctx, DT_ERR_SHAPE, "the strides of this empty tensor are above 2^63 - 1");
    return DT_OK;
}

/* "f32[4] S(0),S(3) on mesh(dp=2,tp=2)", as it was requested. */
static void describe_key(const void *subject, char *out, size_t capacity) {
    const spec_key *key = subject;
    const dt__sharding_desc *sharding = &key->sharding;
    const char *mesh = dt_mesh_text(key->mesh);
    char placements[256] = "";
    if (sharding->n_placements > 0)
        (void)dt_placements_text(sharding->n_placements, sharding->placements, sizeof placements, placements);
    size_t used = (size_t)snprintf(out, capacity, "%s[", dt_dtype_name(key->dtype));
    for (int d = 0; d < sharding->n_dims && d < DT_SPEC_MAX_DIMS && used < capacity; d++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%" PRId64, d ? "," : "", sharding->shape[d]);
    if (used < capacity)
        (void)snprintf(out + used, capacity - used, "] %s on mesh(%s)", placements, mesh ? mesh : "?");
}

/* Normalizes the placements; row_major is the default of the stride order. */
static dt_status check_key(dt_ctx *ctx, spec_key *key, dt_placement *placements, int *row_major) {
    DT__TRY(dt__placements_normalize(ctx, &key->sharding, placements));
    key->sharding.placements = placements;
    dt__stride_order_row_major(key->sharding.n_dims, row_major);
    DT__TRY(check_dtype(ctx, key));
    return check_memory_layout(ctx, key);
}

/* desc has placements as values. */
static dt_spec *new_of_values(dt_mesh *mesh, const dt_spec_desc *desc) {
    dt_ctx *ctx = dt_mesh_ctx(mesh);
    int64_t sizes[DT_SPEC_MAX_DIMS];
    dt_placement placements[DT_SPEC_MAX_DIMS];
    int row_major[DT_SPEC_MAX_DIMS];
    spec_key key = {
        .mesh = mesh,
        .dtype = desc->dtype ? desc->dtype : DT_F32,
        .sharding = {dt_mesh_n_dims(mesh), sizes, desc->n_dims, desc->shape, desc->n_placements, desc->placements},
        .stride_order = desc->stride_order ? desc->stride_order : row_major,
    };
    for (int m = 0; m < key.sharding.n_mesh_dims && m < DT_SPEC_MAX_DIMS; m++)
        sizes[m] = dt_mesh_dim_size(mesh, m);
    bool is_subject = !ctx->call.subject; /* a call on no tensor: its errors show the spec that it requests */
    if (is_subject) {
        ctx->call.subject = &key;
        ctx->call.describe = describe_key;
    }
    dt_status status = check_key(ctx, &key, placements, row_major);
    if (is_subject)
        ctx->call.subject = NULL;
    return status == DT_OK ? intern(&key) : NULL;
}

static dt_spec *new_of_text(dt_mesh *mesh, const dt_spec_desc *desc) {
    dt__arena arena = dt__arena_new(dt_mesh_ctx(mesh));
    dt_spec_desc values = *desc;
    dt_placement *placements;
    dt_spec *spec = NULL;
    if (dt__placements_parse_on(&arena, desc->text, mesh, desc->others, &values.n_placements, &placements) == DT_OK) {
        values.placements = placements;
        spec = new_of_values(mesh, &values);
    }
    dt__arena_free(&arena);
    return spec;
}

/* The member of a description that is missing, or NULL. */
static const char *missing_member(const dt_spec_desc *desc) {
    if (!desc)
        return "the description";
    if (desc->n_dims > 0 && !desc->shape)
        return "the shape";
    return desc->n_placements > 0 && !desc->placements ? "the list of placements" : NULL;
}

dt_spec *dt_spec_new_sized(dt_mesh *mesh, const dt_spec_desc *desc, size_t desc_size, const dt_site *site) {
    DT__ENTER(dt_mesh_ctx(mesh), "spec_new", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    dt_spec_desc full;
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    if (!mesh)
        return NULL;
    if (desc && !(desc = DT__STRUCT(dt_mesh_ctx(mesh), desc, desc_size, &full)))
        return NULL;
    if (missing_member(desc)) {
        dt__fail(dt_mesh_ctx(mesh), DT_ERR_VALUE, "%s is NULL", missing_member(desc));
        return NULL;
    }
    if (desc->text && desc->n_placements) {
        dt__fail(dt_mesh_ctx(mesh), DT_ERR_VALUE, "placements are set both as the text '%s' and as values",
                 desc->text);
        return NULL;
    }
    return desc->text ? new_of_text(mesh, desc) : new_of_values(mesh, desc);
}

dt_ctx *dt_spec_ctx(const dt_spec *spec) { return spec ? spec->ctx : NULL; }

DT__HOT dt_spec *dt_spec_retain(dt_spec *spec) {
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    if (spec)
        spec->n_refs++;
    return spec;
}

DT__HOT void dt_spec_release_site(dt_spec *spec, const dt_site *site) {
    if (!spec || (!dt__is_freed(&spec->life) && --spec->n_refs > 0))
        return;
    DT__ENTER(spec->ctx, "spec_release", site); /* not before, because each tensor releases a spec */
    spec = DT__LIVE(DT__KIND_SPEC, spec);
    if (!spec)
        return;
    spec_table *table = spec->ctx->slots[DT__SLOT_SPEC].state;
    dt__map_remove(&table->specs, spec->fingerprint, spec);
    destroy_spec(table, spec);
}
