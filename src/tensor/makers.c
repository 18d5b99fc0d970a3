/* SPDX-License-Identifier: Apache-2.0
 *
 * Makers of tensors. Each rank of a distributed tensor derives from its shards which values it holds; nothing is
 * communicated. In a partial one, the first coordinate holds the value and the others the identity of the reduction.
 */
#include "base/dtype.h"
#include "base/options.h"
#include "base/size.h"
#include "kernels/kernels.h"
#include "spec/spec.h"
#include "tensor/tensor_state.h"

#include <math.h>
#include <string.h>

/* A plain handle on new memory that is dense in an order of dims. */
static dt_tensor *make_plain(dt_ctx *ctx, const char *op, dt_dtype dtype, dt_shape shape, const int *order) {
    dt_tensor *tensor = dt__tensor_new(ctx, op, dtype, shape.n, shape.sizes);
    if (tensor && order)
        dt__tensor_set_order(tensor, order);
    return tensor;
}

dt_tensor *dt__tensor_make(dt_ctx *ctx, const char *op, dt_shape shape, const dt_make_options *options,
                           const int *order) {
    static const dt_make_options defaults;
    const dt_make_options *o = options ? options : &defaults;
    if (!ctx)
        return NULL;
    dt_mesh *mesh = o->mesh ? o->mesh : o->place ? dt_mesh_current(ctx) : NULL;
    if (mesh && !DT__LIVE(DT__KIND_MESH, mesh))
        return NULL;
    if (o->place && !mesh) {
        (void)dt__fail(ctx, DT_ERR_MESH, "%s: placements %s without a mesh: expected .mesh or a current mesh", op,
                       o->place);
        return NULL;
    }
    if (mesh && !dt__check_context(ctx, op, "mesh", dt_mesh_ctx(mesh)))
        return NULL;
    dt_tensor *tensor;
    dt_dtype dtype = o->dtype ? o->dtype : DT_F32;
    if (mesh) {
        dt_placement everywhere[DT_SPEC_MAX_DIMS];
        const int n = o->place ? 0 : dt_mesh_n_dims(mesh);
        int64_t elements;
        for (int m = 0; m < n; m++)
            everywhere[m] = dt_placement_replicate();
        if (dt__shape_check(ctx, op, dtype, shape.n, shape.sizes, &elements) != DT_OK)
            return NULL;
        dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.dtype = dtype,
                                                          .n_dims = shape.n,
                                                          .shape = shape.sizes,
                                                          .text = o->place,
                                                          .n_placements = n,
                                                          .placements = o->place ? NULL : everywhere,
                                                          .stride_order = order});
        tensor = spec ? dt__tensor_of_spec(spec) : NULL;
        dt_spec_release(spec);
    } else {
        tensor = make_plain(ctx, op, dtype, shape, order);
    }
    tensor = dt__with_use(tensor, o->use);
    if (tensor && o->requires_grad && dt_set_requires_grad(tensor, true) != DT_OK) {
        dt_drop(tensor);
        return NULL;
    }
    return tensor;
}

bool dt__holds_value(const dt_spec *spec, dt_reduce *identity) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!dt_mesh_coordinate(spec->mesh, coordinate))
        return true; /* it holds nothing */
    bool first = true;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *p = &spec->sharding.placements[m];
        if (!dt_placement_is_partial(*p) || p->reduce == DT_AVG || coordinate[m] == 0)
            continue;
        first = false;
        *identity = p->reduce;
    }
    return first;
}

/* Fills the local tensor, which is dense, with one element. */
static void fill_local(dt_tensor *tensor, const void *element) {
    if (!tensor->data)
        return;
    dt__spread_fill(dt__kernels_of(tensor->ctx), dt__pool_of(tensor->ctx), tensor->data, element,
                    dt_dtype_size(tensor->dtype), dt_tensor_local_elements(tensor));
}

dt_status dt__check_number(dt_ctx *ctx, const char *op, dt_dtype dtype, double value) {
    int64_t min, max;
    if (!dt__is_integer(dtype))
        return DT_OK;
    dt__integer_limits(dtype, &min, &max);
    if (dt__is_within(value, min, max))
        return DT_OK;
    return dt__fail(ctx, DT_ERR_VALUE, "%s: %.17g does not fit %s: expected a number from %lld to %lld", op, value,
                    dt_dtype_name(dtype), (long long)min, (long long)max);
}

bool dt__needs_values(dt_tensor *tensor) {
    dt_reduce reduce;
    unsigned char element[16];
    if (!tensor || !tensor->data || dt__is_idle(tensor->ctx, tensor->data))
        return false;
    if (!tensor->spec || dt__holds_value(tensor->spec, &reduce))
        return true;
    dt__write_identity(tensor->dtype, reduce, element);
    fill_local(tensor, element);
    return false;
}

/* Records the maker of a tensor, which is freed if that fails. */
static dt_tensor *recorded_maker(dt_tensor *tensor, const dt__call_details *details) {
    if (dt__note_tensor(tensor, details) == DT_OK)
        return tensor;
    dt_drop(tensor);
    return NULL;
}

static dt_tensor *fill_with(dt_tensor *tensor, double value) {
    unsigned char element[16];
    tensor = recorded_maker(tensor, &(dt__call_details){.n_values = 1, .values = {value}});
    if (dt__needs_values(tensor)) {
        dt__write_f64(tensor->dtype, value, element);
        fill_local(tensor, element);
    }
    return tensor;
}

dt_tensor *dt_scalar_sized(dt_ctx *ctx, double value, const dt_make_options *options, size_t options_size) {
    dt_make_options full;
    DT__ENTER_OPTIONS(ctx, "scalar", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !ctx || !options || dt__check_number(ctx, "scalar", options->dtype, value) != DT_OK)
        return NULL;
    return fill_with(dt__tensor_make(ctx, "scalar", (dt_shape){0, NULL}, options, NULL), value);
}

void dt__local_shard(const dt_spec *spec, const int64_t *shape, int dim, dt__shard *out) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!spec) {
        *out = (dt__shard){.global_size = shape[dim], .size = shape[dim]};
        return;
    }
    (void)dt_mesh_coordinate(spec->mesh, coordinate); /* this rank is in the mesh: it holds elements */
    dt__shard_at(&spec->sharding, dim, coordinate, out);
}

/* Ones where first <= column - row <= last. Each thread fills some rows. */
struct band {
    int64_t first, last;
    const dt__kernels *kernels;
    const dt__array *local; /* dense and row-major */
    dt__shard rows, columns;
    int64_t n_per_piece; /* rows */
};

static void fill_band_piece(void *arg, int64_t piece) {
    const struct band *band = arg;
    unsigned char zero[16], one[16];
    dt__write_f64(band->local->dtype, 0, zero);
    dt__write_f64(band->local->dtype, 1, one);
    size_t bytes = dt_dtype_size(band->local->dtype), width = (size_t)band->columns.size;
    int64_t i = piece * band->n_per_piece, end_row = dt__min_i64(i + band->n_per_piece, band->rows.size);
    unsigned char *at = (unsigned char *)band->local->data + (size_t)i * width * bytes;
    band->kernels->fill(at, zero, bytes, (size_t)(end_row - i) * width, DT__CACHED);
    for (; i < end_row; i++, at += width * bytes) {
        int64_t row = dt__shard_to_global(&band->rows, i), n = band->columns.global_size;
        int64_t low =
            band->first < -row ? 0 : dt__min_i64(row + band->first, n); /* no overflow: row is not negative */
        int64_t high = band->last < -row ? 0 : band->last >= n - row ? n : row + band->last + 1;
        int64_t begin = dt__shard_seek(&band->columns, low),
                end = dt__shard_seek(&band->columns, dt__max_i64(high, low));
        band->kernels->fill(at + (size_t)begin * bytes, one, bytes, (size_t)(end - begin), DT__CACHED);
    }
}

void dt__fill_band(dt_ctx *ctx, const dt__array *local, const dt_spec *spec, int64_t first, int64_t last) {
    struct band band = {.first = first, .last = last, .kernels = dt__kernels_of(ctx), .local = local};
    if (dt__array_count(local) == 0)
        return;
    dt__local_shard(spec, local->shape, 0, &band.rows);
    dt__local_shard(spec, local->shape, 1, &band.columns);
    int64_t row_bytes = band.columns.size * (int64_t)dt_dtype_size(local->dtype);
    int64_t n_pieces = dt__spread_pieces(ctx->threads, band.rows.size * row_bytes);
    band.n_per_piece = dt__ceil_div(band.rows.size, n_pieces);
    dt__pool_run(dt__pool_of(ctx), dt__ceil_div(band.rows.size, band.n_per_piece), fill_band_piece, &band);
}

dt_tensor *dt_tri_sized(dt_ctx *ctx, int64_t n_rows, int64_t n_columns, int64_t k, const dt_make_options *options,
                        size_t options_size) {
    dt_make_options full;
    DT__ENTER_OPTIONS(ctx, "tri", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options)
        return NULL;
    dt_tensor *tensor =
        dt__noted(dt__tensor_make(ctx, "tri", (dt_shape){2, (int64_t[]){n_rows, n_columns}}, options, NULL),
                  &(dt__call_details){.n_values = 1, .values = {(double)k}});
    if (dt__needs_values(tensor))
        dt__fill_band(
            ctx,
            &(dt__array){tensor->data, tensor->dtype, tensor->local_n_dims, tensor->local_shape, tensor->strides},
            tensor->spec, INT64_MIN, k);
    return tensor;
}

dt_tensor *dt__empty_like(const dt_tensor *tensor) {
    return tensor->spec ? dt__tensor_of_spec(tensor->spec)
                        : dt__tensor_new(tensor->ctx, "empty_like", tensor->dtype, tensor->n_dims, tensor->shape);
}

/* The bytes of a shape; an agreed error if the memory is NULL. */
static dt_status check_memory(dt_ctx *ctx, const char *op, const void *memory, dt_shape shape, dt_dtype dtype,
                              size_t *bytes) {
    int64_t n;
    DT__TRY(dt__shape_check(ctx, op, dtype, shape.n, shape.sizes, &n));
    *bytes = (size_t)n * dt_dtype_size(dtype);
    return memory || n == 0 ? DT_OK
                            : dt__fail(ctx, DT_ERR_VALUE, "%s: the memory of %lld elements of %s is NULL", op,
                                       (long long)n, dt_dtype_name(dtype));
}

dt_tensor *dt_from_memory_site(dt_ctx *ctx, const void *memory, dt_shape shape, dt_dtype dtype, const dt_site *site) {
    DT__ENTER(ctx, "from_memory", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    size_t bytes;
    if (!ctx || check_memory(ctx, "from_memory", memory, shape, dtype, &bytes) != DT_OK)
        return NULL;
    dt_tensor *tensor = dt__tensor_new(ctx, "from_memory", dtype, shape.n, shape.sizes);
    int64_t n = (int64_t)bytes, one = 1;
    if (tensor && tensor->data)
        dt__spread_copy(dt__kernels_of(ctx), dt__pool_of(ctx),
                        &(dt__strided){tensor->data, memory, 1, 1, &n, &one, &one}, DT__CACHED);
    return tensor;
}

dt_tensor *dt_adopt_site(dt_ctx *ctx, void *memory, dt_shape shape, dt_dtype dtype, dt_free_fn *free_memory,
                         void *user, const dt_site *site) {
    DT__ENTER(ctx, "adopt", site);
    size_t bytes;
    if (!ctx || DT__REFUSAL() != DT_OK || check_memory(ctx, "adopt", memory, shape, dtype, &bytes) != DT_OK) {
        if (free_memory)
            free_memory(user, memory);
        return NULL;
    }
    dt__storage *storage = dt__storage_adopt(ctx, memory, bytes, free_memory, user);
    if (!storage)
        return NULL;
    dt_tensor *tensor = dt__tensor_plain(storage, &(dt__array_desc){dtype, shape.n, shape.sizes, NULL, 0});
    dt__storage_release(storage);
    return tensor;
}

dt_tensor *dt_borrow_site(dt_ctx *ctx, void *memory, dt_shape shape, dt_dtype dtype, const dt_site *site) {
    DT__ENTER(ctx, "borrow", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return dt_adopt(ctx, memory, shape, dtype, NULL, NULL);
}

/* As dt__empty_like, but row-major. */
static dt_tensor *empty_row_major(const dt_tensor *tensor) {
    const dt_spec *spec = tensor->spec;
    if (!spec)
        return dt__empty_like(tensor);
    dt_spec *rows = dt_spec_new(spec->mesh, &(dt_spec_desc){.dtype = spec->dtype,
                                                            .n_dims = spec->sharding.n_dims,
                                                            .shape = spec->sharding.shape,
                                                            .n_placements = spec->sharding.n_mesh_dims,
                                                            .placements = spec->sharding.placements});
    dt_tensor *result = rows ? dt__tensor_of_spec(rows) : NULL;
    dt_spec_release(rows);
    return result;
}

dt_tensor *dt__clone(const dt_tensor *tensor) {
    dt_tensor *copy = dt__check_current(tensor) == DT_OK ? empty_row_major(tensor) : NULL;
    if (copy && copy->data && tensor->data)
        dt__convert(
            dt__kernels_of(tensor->ctx), dt__pool_of(tensor->ctx),
            &(dt__array){copy->data, copy->dtype, copy->local_n_dims, copy->local_shape, copy->strides},
            &(dt__array){tensor->data, tensor->dtype, tensor->local_n_dims, tensor->local_shape, tensor->strides});
    return copy;
}
