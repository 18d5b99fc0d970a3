/* SPDX-License-Identifier: Apache-2.0
 *
 * The norm of the gradients of many parameters, as of one vector. The sum of powers of each gradient, or its largest
 * magnitude, is partial along the mesh dims over which the gradient is sharded (power_sum). The ranks add their own
 * sums up, per mesh, and reduce the total once; a value that is replicated along a dim over which others are partial
 * is counted by coordinate 0 of it. Parameters of several meshes, such as the stages of a pipeline, have a common mesh:
 * each value is counted by one rank of its own mesh, and the total is reduced once over the common one.
 */
#include "train/train.h"

#include "base/options.h"
#include "mesh/mesh.h"
#include "move/move.h"

#include <math.h>
#include <string.h>

/* The gradients of one mesh. */
typedef struct mesh_sum {
    dt_mesh *mesh;    /* NULL: plain */
    uint64_t reduced; /* bits of mesh dims over which some value is partial */
    double value;     /* of this rank */
} mesh_sum;

typedef struct grad_norm {
    dt_ctx *ctx;
    double ord;
    dt_mesh *common; /* has all ranks of the parameters; NULL: these are on the same ranks */
    int n, n_meshes;
    dt_tensor **grads, **sums; /* per gradient */
    bool *is_copy;             /* of a parameter that counts on another mesh */
    mesh_sum *meshes;          /* at most one per gradient; or the common one */
} grad_norm;

static dt_status find_grads(dt_tensors parameters, dt__training_call *call, grad_norm *out) {
    dt__arena *arena = call->arena;
    out->grads = DT__NEW_ARRAY(arena, dt_tensor *, parameters.n);
    out->sums = DT__NEW_ARRAY(arena, dt_tensor *, parameters.n);
    out->is_copy = DT__NEW_ARRAY(arena, bool, parameters.n);
    out->meshes = DT__NEW_ARRAY(arena, mesh_sum, parameters.n + 1);
    if (!out->grads || !out->sums || !out->is_copy || !out->meshes)
        return DT_ERR_MEMORY;
    DT__TRY(dt__gradients_find(out->ctx, parameters, NULL, out->grads));
    for (int i = 0; i < parameters.n; i++) {
        dt_tensor *grad = out->grads[i];
        dt__training_call_count(call, parameters.list[i], i, grad != NULL, 0);
        if (!grad)
            continue;
        if (out->n > 0 && !grad->spec != !out->grads[0]->spec)
            return dt__fail(out->ctx, DT_ERR_VALUE,
                            "the gradient of parameter %d is %s: expected all plain or all distributed", i + 1,
                            grad->spec ? "distributed" : "plain");
        out->is_copy[out->n] = parameters.list[i]->storage->is_tied_copy;
        out->grads[out->n++] = grad;
    }
    dt__training_call_add_counts(call);
    DT__TRY(dt__training_call_meet(call, parameters));
    return out->common ? dt__mesh_check_calls(out->common) : DT_OK;
}

static dt_status contains(dt__arena *arena, const dt_mesh *outer, const dt_mesh *inner, bool *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS], *ranks = DT__NEW_ARRAY(arena, int64_t, dt_mesh_size(inner));
    if (!ranks)
        return DT_ERR_MEMORY;
    dt_mesh_ranks(inner, ranks);
    *out = true;
    for (int64_t i = 0; i < dt_mesh_size(inner) && *out; i++)
        *out = dt_mesh_coordinate_of(outer, ranks[i], coordinate);
    return DT_OK;
}

/* A rank that is not in the mesh of some parameter lacks its part of the norm, unless a common mesh is reduced over. */
static dt_status check_mesh(const grad_norm *self, dt__arena *arena, dt_mesh *first, const dt_tensor *parameter,
                            int i) {
    dt_mesh *mesh = parameter->spec->mesh;
    bool inside = self->common || dt_mesh_size(mesh) == dt_mesh_size(first);
    if (inside)
        DT__TRY(contains(arena, self->common ? self->common : first, mesh, &inside));
    if (inside)
        return DT_OK;
    if (self->common)
        return dt__fail(self->ctx, DT_ERR_VALUE,
                        "parameter %d: expected ranks of the option mesh, %s, got those of %s", i + 1,
                        dt_mesh_text(self->common), dt_mesh_text(mesh));
    return dt__fail(
        self->ctx, DT_ERR_VALUE,
        "parameter %d: expected the ranks of the parameters before it, those of %s, got those of %s; pass "
        "a mesh that has all of them as .mesh",
        i + 1, dt_mesh_text(first), dt_mesh_text(mesh));
}

static dt_status check_meshes(const grad_norm *self, dt__arena *arena, dt_tensors parameters) {
    dt_mesh *first = NULL, *last = NULL; /* parameters of one mesh usually follow each other */
    for (int i = 0; i < parameters.n; i++) {
        const dt_tensor *parameter = parameters.list[i];
        if (!parameter->spec && self->common)
            return dt__fail(self->ctx, DT_ERR_VALUE,
                            "parameter %d: expected a distributed tensor because of the option mesh, got a plain one",
                            i + 1);
        if (!parameter->spec || (last && dt__mesh_same(last, parameter->spec->mesh)))
            continue;
        last = parameter->spec->mesh;
        first = first ? first : last;
        DT__TRY(check_mesh(self, arena, first, parameter, i));
    }
    return DT_OK;
}

static mesh_sum *sum_of(grad_norm *self, dt_mesh *mesh) {
    int m = 0;
    if (self->common)
        return self->meshes;
    while (m < self->n_meshes && !dt__mesh_same(self->meshes[m].mesh, mesh))
        m++;
    if (m == self->n_meshes)
        self->meshes[self->n_meshes++] = (mesh_sum){.mesh = mesh};
    return &self->meshes[m];
}

static bool is_partial(const dt_spec *spec, int mesh_dim) {
    return dt_placement_is_partial(spec->sharding.placements[mesh_dim]);
}

/* Whether this rank counts a value: along dims that are reduced, a replicated one counts at coordinate 0. */
static bool is_counted(const dt_spec *spec, uint64_t reduced) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    if (!dt_mesh_coordinate(spec->mesh, coordinate))
        return false;
    for (int d = 0; d < dt_mesh_n_dims(spec->mesh); d++)
        if (reduced >> d & 1 && !is_partial(spec, d) && coordinate[d] != 0)
            return false;
    return true;
}

static void add(const grad_norm *self, double value, double *to) {
    if (isinf(self->ord))
        *to = value > *to || isnan(value) ? value : *to;
    else
        *to += value;
}

static void add_values(grad_norm *self) {
    for (int i = 0; i < self->n && !self->common; i++) {
        const dt_spec *spec = self->sums[i]->spec;
        mesh_sum *sum = sum_of(self, spec ? spec->mesh : NULL);
        for (int d = 0; spec && d < dt_mesh_n_dims(spec->mesh); d++)
            sum->reduced |= (uint64_t)is_partial(spec, d) << d;
    }
    for (int i = 0; i < self->n; i++) {
        const dt_spec *spec = self->sums[i]->spec;
        mesh_sum *sum = sum_of(self, spec ? spec->mesh : NULL);
        const double *value = (const double *)self->sums[i]->data;
        if (value && !self->is_copy[i] && (!spec || is_counted(spec, self->common ? UINT64_MAX : sum->reduced)))
            add(self, *value, &sum->value);
    }
}

/* The total of a mesh: one reduction over the dims along which some value is partial. */
static dt_status reduce(const grad_norm *self, mesh_sum *sum) {
    char place[DT_MESH_MAX_DIMS * sizeof "P(sum),"] = "";
    if (!sum->reduced)
        return DT_OK;
    for (int d = 0; d < dt_mesh_n_dims(sum->mesh); d++) {
        strcat(place, d ? "," : "");
        strcat(place, !(sum->reduced >> d & 1) ? "R" : isinf(self->ord) ? "P(max)" : "P(sum)");
    }
    dt_tensor *own = dt_scalar(self->ctx, sum->value, .dtype = DT_F64);
    const dt_tensor *total = dt_full_tensor(dt_from_local(self->ctx, own, sum->mesh, place));
    if (!total)
        return dt_error_status(self->ctx);
    if (total->data)
        sum->value = *(const double *)total->data;
    return DT_OK;
}

/* The norm, in the scope outside. */
static dt_status compute(grad_norm *self, bool refuses_nonfinite, dt_tensor **out) {
    double total = 0;
    const dt_foreach_power_sum_options options = {.ord = dt_number_real(self->ord)};
    if (self->common)
        self->meshes[self->n_meshes++] = (mesh_sum){.mesh = self->common, .reduced = UINT64_MAX};
    if (self->n > 0) {
        int n = dt_foreach_power_sum_sized((dt_tensors){self->n, self->grads}, self->sums, self->n, &options,
                                           sizeof options);
        if (n != self->n)
            return dt_error_status(self->ctx);
        add_values(self);
    }
    for (int m = 0; m < self->n_meshes; m++) {
        DT__TRY(reduce(self, &self->meshes[m]));
        add(self, self->meshes[m].value, &total);
    }
    if (!isinf(self->ord))
        total = self->ord == 2 ? sqrt(total) : pow(total, 1 / self->ord);
    if (refuses_nonfinite && !isfinite(total))
        return dt__fail(self->ctx, DT_ERR_VALUE, "the norm of the gradients is not finite: got %g", total);
    *out = dt_scalar(self->ctx, total, .dtype = DT_F64);
    return *out ? DT_OK : dt_error_status(self->ctx);
}

static dt_status clip(const grad_norm *self, const dt_tensor *norm, double max_norm) {
    const dt_foreach_mul_scalar_in_place_options options = {0};
    double factor = norm->data ? max_norm / (*(const double *)norm->data + 1e-6) : 0;
    if (factor >= 1 || self->n == 0)
        return DT_OK;
    return dt_foreach_mul_scalar_in_place_sized((dt_tensors){self->n, self->grads}, dt_number_real(factor), &options,
                                                sizeof options);
}

static dt_tensor *run(grad_norm *self, dt_tensors parameters, dt__training_call *call, const double *max_norm,
                      const dt_grad_norm_options *options) {
    dt_ctx *ctx = self->ctx;
    dt__training_setting setting = dt__training_begin(ctx);
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *norm = NULL;
    dt_status status = check_meshes(self, call->arena, parameters);
    if (status == DT_OK)
        status = find_grads(parameters, call, self);
    if (status == DT_OK)
        status = compute(self, options->error_if_nonfinite, &norm);
    if (status == DT_OK && max_norm)
        status = clip(self, norm, *max_norm);
    if (status == DT_OK)
        norm = dt_keep(norm);
    dt_scope_end(scope);
    dt__training_end(&setting);
    return status == DT_OK ? norm : NULL;
}

/* Adds the call to the history of the common mesh: its options, but not its parameters, which may differ between the
 * ranks of stages. */
static dt_status add_common(const grad_norm *self, const dt__field *fields, int n) {
    const dt_placement replicated[DT_MESH_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    dt_spec *total = dt_spec_new(
        self->common,
        &(dt_spec_desc){.dtype = DT_F64, .n_placements = dt_mesh_n_dims(self->common), .placements = replicated});
    if (!total)
        return dt_error_status(self->ctx);
    dt__note_fields(total, fields, n);
    dt_spec_release(total);
    return DT_OK;
}

static dt_status add_options(const grad_norm *self, dt__training_call *call, const double *max_norm,
                             const dt_grad_norm_options *options) {
    const dt__field fields[] = {
        {.name = "norm_type", .value = self->ord},
        {.name = "error_if_nonfinite", .value = options->error_if_nonfinite},
        {.name = "ranks of mesh", .value = (double)dt_mesh_size(self->common)},
        {.name = "hash of mesh", .value = self->common ? (double)(dt_mesh_fingerprint(self->common) >> 12) : 0},
        {.name = "max_norm", .value = max_norm ? *max_norm : 0},
    };
    int n = max_norm ? 5 : 4;
    for (int i = 0; i < n; i++)
        dt__training_call_add(call, fields[i].name, fields[i].value);
    return self->common ? add_common(self, fields, n) : DT_OK;
}

static dt_status check_numbers(const grad_norm *self, const double *max_norm) {
    if (!(self->ord > 0))
        return dt__fail(self->ctx, DT_ERR_VALUE, "norm_type: expected a number > 0 or inf, got %g", self->ord);
    if (max_norm && !(*max_norm >= 0))
        return dt__fail(self->ctx, DT_ERR_VALUE, "max_norm: expected a number >= 0, got %g", *max_norm);
    return DT_OK;
}

static dt_tensor *norm_of(dt_ctx *ctx, dt_tensors parameters, const double *max_norm,
                          const dt_grad_norm_options *options) {
    grad_norm self = {.ctx = ctx,
                      .ord = options->norm_type.given ? options->norm_type.value : 2,
                      .common = DT__LIVE(DT__KIND_MESH, options->mesh)};
    if ((options->mesh && !self.common) || dt__parameters_check(ctx, parameters) != DT_OK)
        return NULL;
    if (self.common && !dt__check_context(ctx, ctx->call.name, "mesh", dt_mesh_ctx(self.common)))
        return NULL;
    dt__arena arena = dt__arena_new(ctx);
    dt__training_call call;
    dt__training_call_begin(&call, &arena, parameters);
    bool fine = add_options(&self, &call, max_norm, options) == DT_OK && check_numbers(&self, max_norm) == DT_OK;
    dt_tensor *norm = fine ? run(&self, parameters, &call, max_norm, options) : NULL;
    dt__arena_free(&arena);
    return norm;
}

/* A rank without parameters has the context of the common mesh. */
static dt_ctx *ctx_of(dt_tensors parameters, const dt_grad_norm_options *options) {
    dt_ctx *ctx = dt__parameters_ctx(parameters);
    return ctx || !options ? ctx : dt_mesh_ctx(options->mesh);
}

static dt_tensor *enter(const char *name, dt_tensors parameters, const double *max_norm,
                        const dt_grad_norm_options *options, size_t options_size) {
    dt_grad_norm_options full;
    options = DT__OPTIONS(dt__parameters_ctx(parameters), name, options, options_size, &full);
    dt_ctx *ctx = ctx_of(parameters, options);
    DT__ENTER(ctx, name, options ? options->site : NULL);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return ctx && options ? norm_of(ctx, parameters, max_norm, options) : NULL;
}

dt_tensor *dt_grad_norm_sized(dt_tensors parameters, const dt_grad_norm_options *options, size_t options_size) {
    return enter("grad_norm", parameters, NULL, options, options_size);
}

dt_tensor *dt_clip_grad_norm_sized(dt_tensors parameters, double max_norm, const dt_grad_norm_options *options,
                                   size_t options_size) {
    return enter("clip_grad_norm", parameters, &max_norm, options, options_size);
}
