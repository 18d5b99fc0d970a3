/* SPDX-License-Identifier: Apache-2.0
 *
 * Every public function that can fail, made to fail: the text of its error begins with the name of the call and has
 * its file and line. tests/project/test_error_sites.py compares the cases here with the public headers. Each case runs
 * twice, because decisions are cached.
 */
#include "support/check.h"
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct world {
    dt_ctx *ctx;
    dt_mesh *mesh; /* rows=N,columns=1 */
    dt_group *group;
    bool without_memory;    /* allocations fail */
    dt_tensor *x, *y, *row; /* f32[4,6] S(0),R, f32[6,4] R,R and f32[6] R,R */
    dt_tensor *index;       /* i64[4] R,R */
    dt_tensor *mask;        /* bool[4,6] R,R */
    dt_tensor *plain;       /* f32[4,6] */
} world;

static void *resize(void *user, void *old, size_t old_size, size_t new_size) {
    const world *w = user;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return w->without_memory && new_size > old_size ? NULL : realloc(old, new_size);
}

static bool permit(void *user, size_t bytes) {
    const world *w = user;
    return !w->without_memory || bytes == 0;
}

static bool open_world(world *w, dt_ctx *ctx) {
    char shape[64];
    w->ctx = ctx;
    snprintf(shape, sizeof shape, "rows=%lld,columns=1", (long long)dt_world(ctx));
    w->mesh = dt_mesh_new(ctx, shape);
    w->group = dt_group_world(ctx);
    w->x = dt_ones(ctx, DT_SHAPE(4, 6), .mesh = w->mesh, .place = "S(0),R");
    w->y = dt_ones(ctx, DT_SHAPE(6, 4), .mesh = w->mesh);
    w->row = dt_ones(ctx, DT_SHAPE(6), .mesh = w->mesh);
    w->index = dt_zeros(ctx, DT_SHAPE(4), .dtype = DT_I64, .mesh = w->mesh);
    w->mask = dt_ones(ctx, DT_SHAPE(4, 6), .dtype = DT_BOOL, .mesh = w->mesh);
    w->plain = dt_ones(ctx, DT_SHAPE(4, 6));
    return !dt_failed(ctx);
}

/* The context of one rank, with its memory hook. */
static dt_ctx *open_alone(world *w) {
    *w = (world){.ctx = NULL};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = {resize, w, permit}});
    assert_true(ctx && open_world(w, ctx));
    return ctx;
}

static void close_world(world *w) {
    dt_mesh_release(w->mesh);
    assert_int_equal(dt_close(w->ctx), 0);
}

/* Whether the error names this call and this line; clears it. */
static bool error_names(world *w, const char *call, const char *file, int line) {
    char where[512];
    const char *text = dt_error_text(w->ctx);
    size_t n = strlen(call);
    snprintf(where, sizeof where, " (at %s:%d)", file, line);
    w->without_memory = false;
    bool ok = dt_failed(w->ctx) && !strncmp(text, call, n) && strchr(": ,", text[n]) && strstr(text, where);
    if (!ok)
        fprintf(stderr, "%s:%d: expected '%s: ...%s', got '%s'\n", file, line, call, where, text);
    return dt_error_clear(w->ctx) == DT_OK && ok;
}

/* dt_FUNCTION fails, and its error names NAME. */
#define FAILS_ONCE(function, call) ((void)(call), (void)(n_wrong += !error_names(w, #function, __FILE__, __LINE__)))
#define FAILS_AS(function, name, call)                                                                               \
    for (int again = 0; again < 2; again++) {                                                                        \
        (void)(call);                                                                                                \
        n_wrong += !error_names(w, name, __FILE__, __LINE__);                                                        \
    }
#define FAILS(function, call) FAILS_AS(function, #function, call)
/* dt_FUNCTION fails because allocations fail, and its error names NAME. */
#define FAILS_WITHOUT_MEMORY_AS(function, name, call) FAILS_AS(function, name, ((w->without_memory = true), (call)))
#define FAILS_WITHOUT_MEMORY(function, call)          FAILS_WITHOUT_MEMORY_AS(function, #function, call)

static int fail_schedules(world *w) {
    dt_ctx *ctx = w->ctx;
    int n_wrong = 0;
    dt_schedule *freed = dt_schedule_new(ctx, "0F0,0B0");
    dt_schedule_free(freed);
    FAILS(schedule_new, dt_schedule_new(ctx, "no schedule"));
    FAILS(schedule_simulate, dt_schedule_simulate(freed, NULL, NULL));
    FAILS(schedule_simulate_stages, dt_schedule_simulate_stages(freed, NULL, NULL));
    FAILS(schedule_timeline, dt_schedule_timeline(freed, NULL));
    FAILS(schedule_free, dt_schedule_free(freed));
    FAILS(pipeline_run, dt_pipeline_run(freed, NULL, NULL, NULL));
    FAILS(pipeline_mesh, dt_pipeline_mesh(freed, NULL, 0));
    FAILS(pipeline_input, dt_pipeline_input(ctx, 0));
    FAILS(pipeline_output, dt_pipeline_output(ctx, 0, NULL));
    FAILS(pipeline_metric, dt_pipeline_metric(ctx, 0, NULL));
    FAILS(curve_save_svg, dt_curve_save_svg(ctx, NULL, 0, NULL));
    return n_wrong;
}

static int fail_config(world *w) {
    dt_ctx *ctx = w->ctx;
    int n_wrong = 0;
    char path[] = "/tmp/dtensor-config-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "{\"a\": \"b\"}", 10) == 10 && !close(file));
    const dt_config *config = dt_config_open(ctx, path);
    (void)unlink(path);
    FAILS(config_open, dt_config_open(ctx, path));
    FAILS(config_real, dt_config_real(config, "a", 1));
    FAILS(config_int, dt_config_int(config, "a", 1));
    FAILS(config_bool, dt_config_bool(config, "a", true));
    return n_wrong;
}

static int fail_batches(world *w) {
    dt_ctx *ctx = w->ctx;
    int n_wrong = 0;
    dt_batches *batches = dt_batches_open(ctx, "/proc/self/exe", 1, .format = "u16", .length = DT_INT(8));
    FAILS(batches_open, dt_batches_open(ctx, "/none/x.npy", 1));
    FAILS(batches_seek, dt_batches_seek(batches, -1));
    dt_batches_free(batches);
    FAILS(batches_next, dt_batches_next(batches));
    FAILS(batches_free, dt_batches_free(batches));
    return n_wrong;
}

/* A checkpoint cannot get the name of a file. */
static int fail_checkpoints(world *w) {
    dt_ctx *ctx = w->ctx;
    int n_wrong = 0;
    char folder[] = "/tmp/dtensor_sites_XXXXXX", file[64];
    dt_params *params = dt_params_new(ctx);
    dt_saving *saving = NULL;
    (void)dt_param(params, "w", DT_SHAPE(2));
    FAILS(load, dt_load(params, "/none"));
    FAILS(save, dt_save(params, "/none", -1));
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(file, sizeof file, "%s/step-000001", folder);
    (void)fclose(fopen(file, "w"));
    (void)dt_save(params, folder, 1, .later = &saving);
    FAILS_ONCE(saving_wait, dt_saving_wait(saving));
    (void)unlink(file);
    (void)rmdir(folder);
    dt_params_free(params);
    return n_wrong;
}

/* Some of these fail only without memory, or for a layout that was released. */
static int fail_layouts(world *w) {
    dt_ctx *ctx = w->ctx;
    int n_wrong = 0;
    bool injective;
    const int64_t size = 0;
    dt_tuple none = dt_tuple_list(NULL, 0);
    dt_layout *overlap = dt_layout_parse(ctx, "(3,2):(2,3)"), *freed = dt_layout_parse(ctx, "2");
    dt_layout_release(freed);
    FAILS(layout_release, dt_layout_release(freed));
    FAILS(layout_coalesce, dt_layout_coalesce(freed));
    FAILS(layout_flatten, dt_layout_flatten(freed));
    FAILS(layout_right_inverse, dt_layout_right_inverse(freed));
    FAILS(layout_is_injective, dt_layout_is_injective(freed, &injective));
    FAILS(layout_parse, dt_layout_parse(ctx, "(3,"));
    FAILS(layout_new, dt_layout_new(ctx, NULL, NULL));
    FAILS(layout_from_shape, dt_layout_from_shape(ctx, &size, NULL, 1));
    FAILS(layout_at_coordinate, dt_layout_at_coordinate(overlap, &none));
    FAILS(layout_left_inverse, dt_layout_left_inverse(overlap));
    FAILS(layout_complement, dt_layout_complement(overlap, 12));
    FAILS(layout_composition, dt_layout_composition(overlap, freed));
    dt_layout_release(overlap);
    return n_wrong;
}

/* Errors that follow from arguments: all ranks have them, and no rank waits. */
static int fail_by_arguments(world *w) {
    dt_ctx *ctx = w->ctx;
    double value[2] = {0};
    int64_t zero = 0, two = 2;
    int n_wrong = 0, n;
    const dt_dtype no_dtype = (dt_dtype)99;
    dt_tensor *outputs[8], *part[8];
    n_wrong += fail_layouts(w) + fail_schedules(w) + fail_config(w) + fail_batches(w) + fail_checkpoints(w);
    FAILS(heap_free, dt_heap_free(ctx, value));
    FAILS(group_new, dt_group_new(ctx, &zero, 0));
    FAILS(comm_run, dt_comm_run(w->group, &(dt_comm_call){.op = (dt_collective)99}));
    FAILS(comm_start, dt_comm_start(w->group, &(dt_comm_call){.op = DT_BROADCAST, .dtype = no_dtype}));
    FAILS(comm_policy, dt_comm_policy(ctx, (dt_policy)99));
    FAILS(comm_scope_begin, dt_comm_scope_begin(ctx, "a/b"));
    FAILS(explain, dt_explain(ctx, "nothing($1)", w->x));
    FAILS(local_map, dt_local_map(ctx, &(dt_local_mapping){.n_inputs = 0}, outputs));
    FAILS_AS(op_run, "nothing", dt_op_run(ctx, "nothing", 0, NULL, DT_SITE, outputs, 8, &n));
    FAILS(op_run, dt_op_run(ctx, NULL, 0, NULL, DT_SITE, outputs, 8, &n));
    FAILS_AS(op_run_tensors, "nothing", dt_call(ctx, "nothing", w->x));
    FAILS(op_register, dt_op_register(ctx, &(dt_op){.schema = NULL}));
    FAILS(op_verify, dt_op_verify(ctx, "nothing"));
    FAILS(mesh_new, dt_mesh_new(ctx, "rows="));
    FAILS(mesh_from_shape, dt_mesh_from_shape(ctx, &zero, 1, NULL));
    FAILS(mesh_from_ranks, dt_mesh_from_ranks(ctx, NULL, &two, 1, NULL));
    FAILS(mesh_from_groups, dt_mesh_from_groups(ctx, NULL, 2, NULL, NULL));
    FAILS(mesh_slice, dt_mesh_slice(w->mesh, "depth"));
    FAILS(mesh_flatten, dt_mesh_flatten(w->mesh, "rows"));
    FAILS(mesh_unflatten, dt_mesh_unflatten(w->mesh, 1, &two, 1, NULL));
    FAILS(mesh_concatenate, dt_mesh_concatenate((dt_mesh *[]){w->mesh, w->mesh}, 2));
    FAILS(mesh_n_slices, dt_mesh_n_slices(w->mesh, "depth"));
    FAILS(mesh_slice_at, dt_mesh_slice_at(w->mesh, "rows", 99));
    FAILS(mesh_local_rank, dt_mesh_local_rank(w->mesh, 9));
    FAILS(mesh_group, dt_mesh_group(w->mesh, 9));
    FAILS(mesh_scope_end, dt_mesh_scope_end(ctx));
    dt_generator *generator = dt_generator_new(ctx, 1);
    FAILS(generator_child, dt_generator_child(generator, ""));
    FAILS(generator_restore, dt_generator_restore(generator, (dt_generator_state){0, UINT64_MAX}));
    dt_generator_release(generator);
    FAILS(generator_release, dt_generator_release(generator));
    FAILS(group_release, dt_group_release(w->group));
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    int64_t size = 3;
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.n_dims = 1, .shape = &size, .text = "R"});
    dt_spec_release(spec);
    FAILS(spec_release, dt_spec_release(spec));
    dt_mesh_release(mesh);
    FAILS(mesh_release, dt_mesh_release(mesh));
    FAILS(rand, dt_rand(ctx, DT_SHAPE(-1)));
    FAILS(randn, dt_randn(ctx, DT_SHAPE(-1)));
    FAILS(truncated_normal, dt_truncated_normal(ctx, DT_SHAPE(-1)));
    FAILS(exponential, dt_exponential(ctx, DT_SHAPE(-1)));
    FAILS(randint, dt_randint(ctx, 0, 9, DT_SHAPE(-1)));
    FAILS(bernoulli, dt_bernoulli(ctx, 0.5, DT_SHAPE(-1)));
    FAILS(dropout_mask, dt_dropout_mask(ctx, 0.5, DT_SHAPE(-1)));
    FAILS(randperm, dt_randperm(ctx, -1));
    FAILS(rand_like, dt_rand_like(w->x, .dtype = no_dtype));
    FAILS(randn_like, dt_randn_like(w->x, .dtype = no_dtype));
    FAILS(randint_like, dt_randint_like(w->x, 5, 5));
    FAILS(bernoulli_like, dt_bernoulli_like(w->x, 2));
    FAILS(dropout_mask_like, dt_dropout_mask_like(w->x, 2));
    FAILS_AS(uniform_in_place, "uniform_", dt_uniform_(w->index));
    FAILS_AS(normal_in_place, "normal_", dt_normal_(w->index));
    FAILS_AS(truncated_normal_in_place, "truncated_normal_", dt_truncated_normal_(w->index));
    FAILS_AS(exponential_in_place, "exponential_", dt_exponential_(w->index));
    FAILS_AS(randint_in_place, "randint_", dt_randint_(w->index, 5, 5));
    FAILS_AS(bernoulli_in_place, "bernoulli_", dt_bernoulli_(w->index, 2));
    FAILS(distribute_tensor, dt_distribute_tensor(w->plain, w->mesh, "S(9),R"));
    FAILS(from_local, dt_from_local(ctx, w->plain, w->mesh, "S(9),R"));
    FAILS(redistribute, dt_redistribute(w->x, "S(5),R"));
    FAILS(at, dt_at(w->x, "a"));
    FAILS(set_at, dt_set_at(w->x, w->x, "a"));
    FAILS(reduced, dt_reduced(w->x, .place = "S(5),R"));
    FAILS(redistribute_start, dt_redistribute_start(w->x, "S(5),R"));
    FAILS(item, dt_item(w->x));
    FAILS(item_i64, dt_item_i64(w->x));
    FAILS_AS(copy_in_place, "copy_", dt_copy_(w->x, w->y));
    FAILS(placements_parse, dt_placements_parse(ctx, "S(", &n));
    dt_placement shard = dt_placement_shard(0);
    FAILS(placements_set_order, dt_placements_set_order(ctx, 1, &shard, 0, 1, (int[]){3}));
    FAILS(placements_set_extents, dt_placements_set_extents(ctx, 1, &shard, 4, 1, &two));
    FAILS(spec_new, dt_spec_new(w->mesh, &(dt_spec_desc){.n_dims = 1, .shape = &two, .text = "S(5),R"}));
    FAILS(spec_parse, dt_spec_parse(ctx, "f32[8"));
    dt_spec *many_dims = dt_spec_parse(ctx, "f32[2,2,2,2] R on mesh(1)");
    FAILS(spec_svg, dt_spec_svg(many_dims));
    dt_spec_release(many_dims);
    dt_scope scope = dt_scope_begin(ctx);
    dt_scope_end(scope);
    FAILS(scope_end, dt_scope_end(scope));
    dt_scope inner = dt_scope_begin(ctx);
    FAILS(drop_newer, dt_drop_newer(ctx, w->x));
    dt_scope_end(inner);
    FAILS(apart_end, dt_apart_end(ctx));
    FAILS(no_grad_end, dt_no_grad_end(ctx));
    FAILS(backward, dt_backward(w->x));
    FAILS(gradients, dt_gradients(DT_TENSORS(w->x), DT_TENSORS(w->x), part));
    FAILS(redistribute_list, dt_redistribute_list(DT_TENSORS(w->x), &(const char *){"Q"}, part));
    dt_tensor *leaf = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true), *kept_value = dt_exp(leaf), *results[1];
    dt_tensor *factor = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true);
    dt_rest *rest = NULL;
    (void)dt_gradients(DT_TENSORS(dt_sum(dt_mul(kept_value, factor))), DT_TENSORS(kept_value), results,
                       .rest = &rest);
    dt_no_grad_begin(ctx);
    (void)dt_fill_(kept_value, 0);
    (void)dt_no_grad_end(ctx);
    FAILS_ONCE(backward_rest, dt_backward_rest(rest));
    FAILS(checkpoint, dt_checkpoint(NULL, NULL, DT_TENSORS(w->x)));
    FAILS(checkpoint_owner, dt_checkpoint_owner(NULL, NULL, NULL, DT_TENSORS(w->x)));
    FAILS(zero_grad, dt_zero_grad(DT_TENSORS(w->x, NULL)));
    FAILS(retain_grad, dt_retain_grad(w->x));
    FAILS(grad_hook_add, dt_grad_hook_add(w->x, NULL, NULL));
    FAILS(grad_hook_add_owner, dt_grad_hook_add_owner(w->x, NULL, NULL, NULL));
    FAILS(grad_hook_remove, dt_grad_hook_remove(w->x, 1));
    dt_optimizer *sgd = dt_sgd_new(ctx, 0.1), *freed = dt_sgd_new(ctx, 0.1);
    dt_optimizer_free(freed);
    FAILS(adam_new, dt_adam_new(ctx, -1));
    FAILS(adamw_new, dt_adamw_new(ctx, -1));
    FAILS(sgd_new, dt_sgd_new(ctx, -1));
    FAILS(adagrad_new, dt_adagrad_new(ctx, -1));
    FAILS(rmsprop_new, dt_rmsprop_new(ctx, -1));
    FAILS(adamax_new, dt_adamax_new(ctx, -1));
    FAILS(nadam_new, dt_nadam_new(ctx, -1));
    FAILS(radam_new, dt_radam_new(ctx, -1));
    FAILS(lion_new, dt_lion_new(ctx, -1));
    FAILS(optimizer_step, dt_optimizer_step(sgd, .parameters = DT_TENSORS(w->x, NULL)));
    FAILS(optimizer_set_lr, dt_optimizer_set_lr(sgd, -1));
    FAILS(optimizer_set_n_steps, dt_optimizer_set_n_steps(sgd, w->x, -1));
    FAILS(optimizer_state, dt_optimizer_state(freed, w->x, "exp_avg"));
    FAILS(optimizer_free, dt_optimizer_free(freed));
    FAILS(grad_norm, dt_grad_norm(DT_TENSORS(w->x), .norm_type = DT_REAL(-1)));
    FAILS(clip_grad_norm, dt_clip_grad_norm(DT_TENSORS(w->x), -1));
    dt_optimizer_free(sgd);
    dt_params *params = dt_params_new(ctx, .rules = "a decay=0"), *freed_params = dt_params_new(ctx);
    dt_params_free(freed_params);
    FAILS(params_new, dt_params_new(ctx, .rules = "*"));
    FAILS(params_open, dt_params_open(ctx, "/none/x.safetensors"));
    FAILS(params_save, dt_params_save(params, ""));
    FAILS(params_save_npz, dt_params_save_npz(params, ""));
    FAILS(params_load_npz, dt_params_load_npz(params, ""));
    FAILS(params_free, dt_params_free(freed_params));
    FAILS(param, dt_param(params, "", DT_SHAPE(2)));
    FAILS(params_begin, dt_params_begin(freed_params, "h."));
    FAILS(params_end, dt_params_end(params));
    FAILS(params_get, dt_params_get(params, "b"));
    FAILS(params_list, dt_params_list(params, "b"));
    FAILS(params_clone, dt_params_clone(freed_params));
    FAILS(params_lerp, dt_params_lerp(params, NULL, 0.5));
    FAILS(params_check, dt_params_check(params));
    FAILS(params_text, dt_params_text(freed_params));
    dt_params_free(params);
    FAILS(as_stored_end, dt_as_stored_end(ctx));
    dt_tensor *kept = dt_tensor_retain(dt_ones(ctx, DT_SHAPE(2)));
    dt_drop(kept);
    FAILS(drop, dt_drop(kept));
    dt_tensor_release(kept);
    FAILS(use, dt_use(DT_TENSORS(kept)));
    FAILS(use_release, dt_use_release(kept));
    FAILS(set_use, dt_set_use(w->plain, "R"));
    FAILS(tensor_release, dt_tensor_release(w->plain));
    FAILS(empty, dt_empty(ctx, DT_SHAPE(-1)));
    FAILS(zeros, dt_zeros(ctx, DT_SHAPE(-1)));
    FAILS(ones, dt_ones(ctx, DT_SHAPE(-1)));
    FAILS(full, dt_full(ctx, DT_SHAPE(-1), 3));
    FAILS(scalar, dt_scalar(ctx, 3, .mesh = w->mesh, .place = "S(0),R"));
    FAILS(arange, dt_arange(ctx, 0, 9, -1));
    FAILS(linspace, dt_linspace(ctx, 0, 9, -1));
    FAILS(eye, dt_eye(ctx, -1, 3));
    FAILS(tril_indices, dt_tril_indices(ctx, -1, 3, 0));
    FAILS(triu_indices, dt_triu_indices(ctx, -1, 3, 0));
    FAILS(tri, dt_tri(ctx, -1, 3, 0));
    FAILS(from_memory, dt_from_memory(ctx, NULL, DT_SHAPE(3), DT_F32));
    FAILS(borrow, dt_borrow(ctx, NULL, DT_SHAPE(3), DT_F32));
    FAILS(adopt, dt_adopt(ctx, NULL, DT_SHAPE(3), DT_F32, NULL, NULL));
    FAILS(narrow, dt_narrow(w->plain, 7, 0, 1));
    FAILS_AS(narrow_tensor, "narrow", dt_narrow_tensor(w->plain, 0, w->plain, 1));
    FAILS(permute, dt_permute(w->plain, DT_DIMS(0, 0)));
    FAILS(diagonal, dt_diagonal(w->plain, 0, 1, 1));
    FAILS(unfold, dt_unfold(w->plain, 7, 1, 1));
    FAILS(as_strided, dt_as_strided(w->plain, DT_SHAPE(99), DT_INTS(9), 0));
    FAILS(set_requires_grad, dt_set_requires_grad(w->index, true));
    FAILS(from_dlpack, dt_from_dlpack(ctx, &(dt_dlpack_managed){.tensor = {.device = {7, 0}}}));
    FAILS(from_dlpack_versioned, dt_from_dlpack_versioned(ctx, &(dt_dlpack_versioned){.major = 9}));
    FAILS(comm_broadcast, dt_comm_broadcast(w->group, value, value, 1, no_dtype, 0));
    FAILS(comm_scatter, dt_comm_scatter(w->group, value, value, 1, no_dtype, 0));
    FAILS(comm_gather, dt_comm_gather(w->group, value, value, 1, no_dtype, 0));
    FAILS(comm_all_gather, dt_comm_all_gather(w->group, value, value, 1, no_dtype));
    FAILS(comm_all_reduce, dt_comm_all_reduce(w->group, value, value, 1, DT_F64, (dt_reduce)99));
    FAILS(comm_reduce_scatter, dt_comm_reduce_scatter(w->group, value, value, 1, no_dtype, DT_SUM));
    FAILS(comm_all_to_all, dt_comm_all_to_all(w->group, value, value, 1, no_dtype));
    FAILS(comm_send, dt_comm_send(w->group, value, 1, no_dtype, 0));
    FAILS(comm_recv, dt_comm_recv(w->group, value, 1, no_dtype, 0));
    FAILS_AS(add, "add", dt_add(w->x, w->y));
    FAILS_AS(matmul, "matmul", dt_matmul(w->x, w->x));
    FAILS_AS(linear, "linear", dt_linear(w->x, w->y)); /* inside a decomposition */
    FAILS_AS(split, "split", dt_split(w->x, 0, part, 8));
    FAILS_AS(cat, "cat", dt_cat(DT_TENSORS(w->x, w->y)));
    dt_tensors list = DT_TENSORS(w->x, w->x), other = DT_TENSORS(w->x, w->y);
    FAILS_AS(foreach_add_in_place, "_foreach_add_", dt_foreach_add_(list, other));
    FAILS_AS(foreach_mul_in_place, "_foreach_mul_", dt_foreach_mul_(list, other));
    return n_wrong;
}

static void detach_until_failure(world *w, const dt_site *site) {
    for (int i = 0; i < 100000 && !dt_failed(w->ctx); i++)
        (void)dt_detach_site(w->x, site);
}

static void to_local_until_failure(world *w, const dt_site *site) {
    for (int i = 0; i < 100000 && !dt_failed(w->ctx); i++)
        (void)dt_to_local_sized(w->x, &(dt_to_local_options){.site = site}, sizeof(dt_to_local_options));
}

/* Objects that are allocated on first use. */
static int fail_first_use(world *w) {
    dt_ctx *ctx = w->ctx;
    int n_wrong = 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "1x1");
    FAILS_WITHOUT_MEMORY(group_world, dt_group_world(ctx));
    FAILS_WITHOUT_MEMORY(scope_begin, dt_scope_begin(ctx));
    FAILS_WITHOUT_MEMORY(mesh_text, dt_mesh_text(mesh));
    FAILS_WITHOUT_MEMORY(generator_default, dt_generator_default(ctx));
    FAILS_WITHOUT_MEMORY(implicit_replication_begin, dt_implicit_replication_begin(ctx));
    FAILS_WITHOUT_MEMORY(comm_stats_begin, dt_comm_stats_begin(ctx));
    dt_mesh_release(mesh);
    return n_wrong;
}

/* Errors of this rank: no memory, or a file that cannot be opened. */
static int fail_locally(world *w) {
    dt_ctx *ctx = w->ctx;
    int n_wrong = 0;
    FAILS(heap_alloc, dt_heap_alloc(ctx, SIZE_MAX / 4));
    FAILS(load_npy, dt_load_npy(ctx, "/none/x.npy"));
    FAILS(load_npz, dt_load_npz(ctx, "/none/x.npz", "x"));
    FAILS(save_npy, dt_save_npy(w->plain, "/none/x.npy"));
    FAILS(save_npz, dt_save_npz("/none/x.npz", 1, (const char *[]){"x"}, (dt_tensor *[]){w->plain}));
    FAILS(trace_begin, dt_trace_begin(ctx, "/none/trace"));
    for (int again = 0; again < 2; again++) {
        n_wrong += dt_trace_begin(ctx, "/dev/full") != DT_OK || !dt_relu(w->x);
        FAILS_ONCE(trace_end, dt_trace_end(ctx));
    }
    dt_transfer *transfer = dt_redistribute_start(w->x, "R,R");
    (void)dt_fill_(w->x, 1);
    FAILS_ONCE(transfer_wait, dt_transfer_wait(transfer));
    FAILS_WITHOUT_MEMORY(to_dlpack, dt_to_dlpack(w->plain));
    FAILS_WITHOUT_MEMORY(to_dlpack_versioned, dt_to_dlpack_versioned(w->plain));
    FAILS_WITHOUT_MEMORY(mesh_scope_begin, dt_mesh_scope_begin(w->mesh));
    FAILS_WITHOUT_MEMORY(generator_new, dt_generator_new(ctx, 3));
    FAILS_WITHOUT_MEMORY(comm_stats_text, dt_comm_stats_text(ctx));
    FAILS_WITHOUT_MEMORY(comm_stats_json, dt_comm_stats_json(ctx));
    FAILS_WITHOUT_MEMORY(comm_steps_text, dt_comm_steps_text(ctx, 1, 1));
    FAILS_WITHOUT_MEMORY(memory_text, dt_memory_text(ctx));
    w->without_memory = true; /* handles are pooled: it fails when the pool is empty */
    FAILS_ONCE(to_local, to_local_until_failure(w, DT_SITE));
    w->without_memory = true;
    FAILS_ONCE(detach, detach_until_failure(w, DT_SITE));
    FAILS_WITHOUT_MEMORY(full_tensor, dt_full_tensor(w->x));
    FAILS_WITHOUT_MEMORY(print, dt_print(w->x));
    FAILS_WITHOUT_MEMORY(format, dt_format(w->x));
    FAILS_WITHOUT_MEMORY(empty_like, dt_empty_like(w->x));
    FAILS_WITHOUT_MEMORY(full_like, dt_full_like(w->x, 3));
    FAILS_WITHOUT_MEMORY(zeros_like, dt_zeros_like(w->x));
    FAILS_WITHOUT_MEMORY(ones_like, dt_ones_like(w->x));
    FAILS_WITHOUT_MEMORY(clone, dt_clone(w->x));
    dt_tensor *transposed = dt_permute(w->plain, DT_DIMS(1, 0));
    FAILS_WITHOUT_MEMORY(contiguous, dt_contiguous(transposed));
    return n_wrong;
}

/* Ops without memory: the decision, or the result. */
static int fail_ops(world *w) {
    dt_tensor *x = w->x, *y = w->y, *row = w->row, *index = w->index, *mask = w->mask, *part[8];
    dt_tensor *product = dt_matmul(x, y);
    int n_wrong = 0;
    FAILS_WITHOUT_MEMORY(add, dt_add(x, x));
    FAILS_WITHOUT_MEMORY(threshold_backward, dt_threshold_backward(x, x, 0));
    FAILS_WITHOUT_MEMORY(gelu_backward, dt_gelu_backward(x, x));
    FAILS_AS(slice_backward, "slice_backward", dt_slice_backward(x, DT_SHAPE(1), 0, 0, 1, 1));
    FAILS_AS(select_backward, "select_backward", dt_select_backward(x, DT_SHAPE(1), 0, 0));
    FAILS_AS(diagonal_backward, "diagonal_backward", dt_diagonal_backward(x, DT_SHAPE(1), 0, 0, 0));
    FAILS_AS(unfold_backward, "unfold_backward", dt_unfold_backward(x, DT_SHAPE(1), 0, 1, 1));
    FAILS_AS(gather_backward, "gather_backward", dt_gather_backward(x, x, DT_SHAPE(1), 0));
    FAILS_AS(index_select_backward, "index_select_backward", dt_index_select_backward(x, x, DT_SHAPE(1), 0));
    FAILS_AS(index_backward, "index_backward", dt_index_backward(x, DT_TENSORS(x), DT_SHAPE(1)));
    FAILS_AS(embedding_dense_backward, "embedding_dense_backward", dt_embedding_dense_backward(x, x, 3));
    FAILS_WITHOUT_MEMORY_AS(add_scalar, "add", dt_add_scalar(x, 2));
    FAILS_WITHOUT_MEMORY_AS(add_in_place, "add_", dt_add_(x, x));
    FAILS_WITHOUT_MEMORY_AS(add_scalar_in_place, "add_", dt_add_scalar_(x, 2));
    FAILS_WITHOUT_MEMORY(addmm, dt_addmm(product, x, y));
    FAILS_WITHOUT_MEMORY_AS(addmm_in_place, "addmm_", dt_addmm_(product, x, y));
    FAILS_WITHOUT_MEMORY(amax, dt_amax(x));
    FAILS_WITHOUT_MEMORY(argmax, dt_argmax(x));
    FAILS_WITHOUT_MEMORY(bmm, dt_bmm(w->plain, w->plain));
    FAILS_WITHOUT_MEMORY(cat, dt_cat(DT_TENSORS(x, x)));
    dt_tensors both = DT_TENSORS(x, x);
    FAILS_WITHOUT_MEMORY_AS(foreach_add_scalar_in_place, "_foreach_add_", dt_foreach_add_scalar_(both, 2));
    FAILS_WITHOUT_MEMORY_AS(foreach_mul_scalar_in_place, "_foreach_mul_", dt_foreach_mul_scalar_(both, 2));
    FAILS_WITHOUT_MEMORY(clamp, dt_clamp(x, .min = DT_NUMBER(0)));
    FAILS_WITHOUT_MEMORY_AS(clamp_tensor, "clamp", dt_clamp_tensor(x, .min = x));
    FAILS_WITHOUT_MEMORY_AS(clamp_in_place, "clamp_", dt_clamp_(x, .min = DT_NUMBER(0)));
    FAILS_WITHOUT_MEMORY_AS(clamp_tensor_in_place, "clamp_", dt_clamp_tensor_(x, .min = x));
    FAILS_WITHOUT_MEMORY_AS(copy_in_place, "copy_", dt_copy_(x, x));
    FAILS_WITHOUT_MEMORY(cumsum, dt_cumsum(x, 0));
    FAILS_WITHOUT_MEMORY(div, dt_div(x, x));
    FAILS_WITHOUT_MEMORY_AS(div_scalar, "div", dt_div_scalar(x, 2));
    FAILS_WITHOUT_MEMORY_AS(div_in_place, "div_", dt_div_(x, x));
    FAILS_WITHOUT_MEMORY_AS(div_scalar_in_place, "div_", dt_div_scalar_(x, 2));
    FAILS_WITHOUT_MEMORY(dropout, dt_dropout(x));
    FAILS_WITHOUT_MEMORY(embedding, dt_embedding(index, x));
    FAILS_WITHOUT_MEMORY(eq, dt_eq(x, x));
    FAILS_WITHOUT_MEMORY_AS(eq_scalar, "eq", dt_eq_scalar(x, 2));
    FAILS_WITHOUT_MEMORY(exp, dt_exp(x));
    FAILS_WITHOUT_MEMORY_AS(exp_in_place, "exp_", dt_exp_(x));
    FAILS_WITHOUT_MEMORY(expand, dt_expand(row, DT_SHAPE(3, 6)));
    FAILS_WITHOUT_MEMORY_AS(fill_in_place, "fill_", dt_fill_(x, 2));
    FAILS_WITHOUT_MEMORY_AS(fill_tensor_in_place, "fill_", dt_fill_tensor_(x, row));
    FAILS_WITHOUT_MEMORY(gather, dt_gather(x, 0, index));
    FAILS_WITHOUT_MEMORY(gelu, dt_gelu(x));
    FAILS_WITHOUT_MEMORY(index, dt_index(x, DT_TENSORS(index)));
    FAILS_WITHOUT_MEMORY(index_select, dt_index_select(x, 0, index));
    FAILS_WITHOUT_MEMORY(layer_norm, dt_layer_norm(x, DT_SHAPE(6)));
    FAILS_WITHOUT_MEMORY(linear, dt_linear(x, x));
    FAILS_WITHOUT_MEMORY(log, dt_log(x));
    FAILS_WITHOUT_MEMORY(matmul, dt_matmul(x, y));
    FAILS_WITHOUT_MEMORY(max, dt_max(x));
    FAILS_WITHOUT_MEMORY_AS(max_dim, "max", dt_max_dim(x, 0));
    FAILS_WITHOUT_MEMORY_AS(max_other, "max", dt_max_other(x, x));
    FAILS_WITHOUT_MEMORY(maximum, dt_maximum(x, x));
    FAILS_WITHOUT_MEMORY(mean, dt_mean(x));
    FAILS_WITHOUT_MEMORY(min, dt_min(x));
    FAILS_WITHOUT_MEMORY_AS(min_dim, "min", dt_min_dim(x, 0));
    FAILS_WITHOUT_MEMORY_AS(min_other, "min", dt_min_other(x, x));
    FAILS_WITHOUT_MEMORY(mm, dt_mm(x, y));
    FAILS_WITHOUT_MEMORY(mul, dt_mul(x, x));
    FAILS_WITHOUT_MEMORY_AS(mul_scalar, "mul", dt_mul_scalar(x, 2));
    FAILS_WITHOUT_MEMORY_AS(mul_in_place, "mul_", dt_mul_(x, x));
    FAILS_WITHOUT_MEMORY_AS(mul_scalar_in_place, "mul_", dt_mul_scalar_(x, 2));
    FAILS_WITHOUT_MEMORY(neg, dt_neg(x));
    FAILS_WITHOUT_MEMORY_AS(neg_in_place, "neg_", dt_neg_(x));
    FAILS_WITHOUT_MEMORY(relu, dt_relu(x));
    FAILS_WITHOUT_MEMORY_AS(relu_in_place, "relu_", dt_relu_(x));
    FAILS_WITHOUT_MEMORY(reshape, dt_reshape(x, DT_SHAPE(24)));
    FAILS_WITHOUT_MEMORY(select, dt_select(x, 0, 1));
    FAILS_WITHOUT_MEMORY(slice, dt_slice(x, 0, 0, 1, 1));
    FAILS_WITHOUT_MEMORY(softmax, dt_softmax(x, 1));
    FAILS_WITHOUT_MEMORY(split, dt_split(x, 2, part, 8));
    FAILS_WITHOUT_MEMORY_AS(split_sizes, "split", dt_split_sizes(x, DT_INTS(1, 3), part, 8));
    FAILS_WITHOUT_MEMORY(sqrt, dt_sqrt(x));
    FAILS_WITHOUT_MEMORY_AS(sqrt_in_place, "sqrt_", dt_sqrt_(x));
    FAILS_WITHOUT_MEMORY(sub, dt_sub(x, x));
    FAILS_WITHOUT_MEMORY_AS(sub_scalar, "sub", dt_sub_scalar(x, 2));
    FAILS_WITHOUT_MEMORY_AS(sub_in_place, "sub_", dt_sub_(x, x));
    FAILS_WITHOUT_MEMORY_AS(sub_scalar_in_place, "sub_", dt_sub_scalar_(x, 2));
    FAILS_WITHOUT_MEMORY(sum, dt_sum(x));
    FAILS_WITHOUT_MEMORY(tanh, dt_tanh(x));
    FAILS_WITHOUT_MEMORY_AS(tanh_in_place, "tanh_", dt_tanh_(x));
    FAILS_WITHOUT_MEMORY(to, dt_to(x, DT_F64));
    FAILS_WITHOUT_MEMORY(topk, dt_topk(x, 2));
    FAILS_WITHOUT_MEMORY(transpose, dt_transpose(x, 0, 1));
    FAILS_WITHOUT_MEMORY(var_mean, dt_var_mean(x));
    FAILS_WITHOUT_MEMORY_AS(var_mean_correction, "var_mean", dt_var_mean_correction(x));
    FAILS_WITHOUT_MEMORY(view, dt_view(y, DT_SHAPE(24)));
    FAILS_WITHOUT_MEMORY(where, dt_where(mask, x, x));
    FAILS_WITHOUT_MEMORY_AS(where_scalar_other, "where", dt_where_scalar_other(mask, x, 2));
    FAILS_WITHOUT_MEMORY_AS(where_scalar_self, "where", dt_where_scalar_self(mask, 2, x));
    FAILS_WITHOUT_MEMORY_AS(where_scalars, "where", dt_where_scalars(mask, 2, 3));
    return n_wrong;
}

static void error_sites__of_arguments(void **state) {
    (void)state;
    world w;
    open_alone(&w);
    assert_int_equal(fail_by_arguments(&w), 0);
    close_world(&w);
}

static void error_sites__of_memory_and_files(void **state) {
    (void)state;
    world w;
    open_alone(&w);
    assert_int_equal(fail_locally(&w), 0);
    close_world(&w);
}

static void error_sites__of_ops(void **state) {
    (void)state;
    world w;
    open_alone(&w);
    assert_int_equal(fail_ops(&w), 0);
    close_world(&w);
}

static void error_sites__of_first_uses(void **state) {
    (void)state;
    world w = {.ctx = NULL};
    w.ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = {resize, &w, permit}});
    assert_int_equal(fail_first_use(&w), 0);
    assert_int_equal(dt_close(w.ctx), 0);
}

static void error_sites__without_a_context(void **state) {
    (void)state;
    char error[512], where[512], *spawn_error = NULL;
    dt_init_options options = {.transport = "pigeons", .error = error, .error_bytes = sizeof error};
    snprintf(where, sizeof where, " (at %s:%d)", __FILE__, __LINE__ + 1);
    assert_null(dt_init(&options)); /* FAILS(init, */
    assert_int_equal(strncmp(error, "init: ", 6), 0);
    assert_non_null(strstr(error, where));
    snprintf(where, sizeof where, " (at %s:%d)", __FILE__, __LINE__ + 1);
    assert_int_equal(dt_spawn(0, NULL, NULL, &spawn_error), DT_ERR_PEER); /* FAILS(spawn, */
    assert_int_equal(strncmp(spawn_error, "spawn: ", 7), 0);
    assert_non_null(strstr(spawn_error, where));
    free(spawn_error);
}

static void error_sites__without_a_site(void **state) {
    (void)state;
    world w;
    open_alone(&w);
    (void)dt_item_site(w.x, NULL);
    assert_string_equal(dt_error_text(w.ctx), w.mesh ? "item: f32[4,6] S(0),R on mesh(rows=1,columns=1): expected 1 "
                                                       "element, got 24"
                                                     : "");
    (void)dt_error_clear(w.ctx);
    assert_null(dt_matmul_sized(w.x, w.x, NULL, 0));
    assert_null(strstr(dt_error_text(w.ctx), "(at "));
    (void)dt_error_clear(w.ctx);
    close_world(&w);
}

/* An error of the program has its text and the site. */
static void error_sites__of_the_program(void **state) {
    (void)state;
    world w;
    open_alone(&w);
    dt_site site = {"train.c", 12};
    (void)dt_error_set_site(w.ctx, DT_ERR_VALUE, &site, "loss is %s", "nan");
    assert_string_equal(dt_error_text(w.ctx), "loss is nan (at train.c:12)");
    (void)dt_error_clear(w.ctx);
    char text[8192];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    (void)dt_error_set_site(w.ctx, DT_ERR_VALUE, &site, "%s", text); /* too long: the site is kept */
    const char *cut = dt_error_text(w.ctx);
    assert_string_equal(cut + strlen(cut) - strlen("x... (at train.c:12)"), "x... (at train.c:12)");
    (void)dt_error_clear(w.ctx);
    (void)dt_mesh_new_site(w.ctx, "a=1,,", &site); /* two lines: at the end of the first */
    assert_string_equal(dt_error_text(w.ctx), "mesh_new: mesh: column 5: expected a name (at train.c:12)\n"
                                              "    a=1,,\n        ^");
    (void)dt_error_clear(w.ctx);
    int n_wrong = 0; /* FAILS(error_set, */
    (void)dt_error_set(w.ctx, DT_OK, "no"), n_wrong += !error_names(&w, "error_set", __FILE__, __LINE__);
    assert_int_equal(n_wrong, 0);
    close_world(&w);
}

static int line_of_inner_call;

static dt_status run_inner(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)ctx;
    (void)user;
    line_of_inner_call = __LINE__ + 1;
    outputs[0] = dt_matmul(inputs[0], inputs[0]);
    return DT_OK;
}

/* The function of a local_map is the program's: its calls are the ones to name. Afterwards local_map is, again. */
static void error_sites__in_functions_of_the_program(void **state) {
    (void)state;
    world w;
    open_alone(&w);
    dt_tensor *output;
    dt_local_mapping mapping = {.run = run_inner, .n_inputs = 1, .inputs = &w.x, .n_outputs = 1};
    assert_int_not_equal(dt_local_map(w.ctx, &mapping, &output), DT_OK);
    assert_true(error_names(&w, "matmul", __FILE__, line_of_inner_call));
    mapping.in = (const char *[]){"R,R"};
    assert_int_not_equal(dt_local_map(w.ctx, &mapping, &output), DT_OK);
    assert_true(error_names(&w, "local_map", __FILE__, __LINE__ - 1));
    close_world(&w);
}

static int three_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    world self = {.ctx = NULL}, *w = &self;
    CHECK(open_world(w, ctx), "%s", dt_error_text(ctx));
    CHECK(fail_by_arguments(w) == 0, "errors without the call or the line, see above");
    dt_mesh_release(w->mesh);
    return 0;
}

static void error_sites__on_three_ranks(void **state) {
    (void)state;
    run_ranks(3, three_ranks, NULL);
}

static void test_work(dt_work *work, const dt_site *site) {
    while (dt_work_test_site(work, site) == DT_IN_PROGRESS)
        ;
}

static void test_transfer(dt_transfer *transfer, const dt_site *site) {
    while (dt_transfer_test_site(transfer, site) == DT_IN_PROGRESS)
        ;
}

/* Rank 1 makes another call than its peers: the error of each rank names its own call. */
static int mismatched_collectives(dt_ctx *ctx, void *arg) {
    (void)arg;
    world self = {.ctx = NULL}, *w = &self;
    bool other = dt_rank(ctx) == 1;
    double value[3] = {0};
    int n_wrong = 0;
    CHECK(open_world(w, ctx), "%s", dt_error_text(ctx));
    dt_tensor *total = dt_sum(w->x);
#define MISMATCH(function, call)                                                                                     \
    if (other) {                                                                                                     \
        (void)dt_comm_all_gather(dt_group_world(ctx), value, value, 0, DT_F64);                                      \
        n_wrong += !error_names(w, "comm_all_gather", __FILE__, __LINE__);                                           \
    } else {                                                                                                         \
        (void)(call);                                                                                                \
        n_wrong += !error_names(w, #function, __FILE__, __LINE__);                                                   \
    }
    MISMATCH(comm_barrier, dt_comm_barrier(dt_group_world(ctx)));
    MISMATCH(print, dt_print(w->x));
    MISMATCH(full_tensor, dt_full_tensor(w->x));
    MISMATCH(item, dt_item(total));
    MISMATCH(softmax, dt_softmax(w->x, 0));
    MISMATCH(redistribute, dt_redistribute(w->x, "S(1),R"));
    /* The last rank to start a call notices when it starts, the others later. */
    for (int tests = 0; tests < 2; tests++) {
        dt_group *group = dt_group_new(ctx, (int64_t[]){0, 1, 2}, 3);
        int line = __LINE__ + 1;
        dt_work *work = dt_comm_start(group, &(dt_comm_call){.op = DT_BARRIER, .tag = other});
        if (dt_failed(ctx))
            n_wrong += !error_names(w, "comm_start", __FILE__, line);
        else if (tests)
            FAILS_ONCE(work_test, test_work(work, DT_SITE));
        else
            FAILS_ONCE(work_wait, dt_work_wait(work)), work = NULL;
        if (work)
            (void)dt_work_wait(work);
        dt_group_release(group);
    }
    int line = __LINE__ + 1;
    dt_transfer *transfer = other ? NULL : dt_redistribute_start(w->x, "R,R");
    if (other)
        (void)dt_comm_all_gather(dt_group_world(ctx), value, value, 0, DT_F64), line = __LINE__;
    if (other || dt_failed(ctx))
        n_wrong += !error_names(w, other ? "comm_all_gather" : "redistribute_start", __FILE__, line);
    else
        FAILS_ONCE(transfer_test, test_transfer(transfer, DT_SITE));
    if (transfer)
        (void)dt_transfer_wait(transfer);
    (void)dt_error_clear(ctx);
    CHECK(n_wrong == 0, "%d errors without the call or the line, see above", n_wrong);
    return 0;
}

static void error_sites__of_collectives(void **state) {
    (void)state;
    run_ranks(3, mismatched_collectives, NULL);
}

/* A collective fails on rank 0 because rank 1 is in another one: the line of the peer names the call of its program. */
static int in_different_calls(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "P(sum)");
    CHECK(x, "%s", dt_error_text(ctx));
    float one = 1, sum = 0;
    int line = __LINE__ + 4;
    if (dt_rank(ctx) == 0)
        (void)dt_comm_all_reduce(dt_group_world(ctx), &one, &sum, 1, DT_F32, DT_SUM);
    else
        (void)dt_item(dt_sum(x));
    if (dt_rank(ctx) == 0) {
        char *peer = dt_failed(ctx) ? strstr(dt_error_text(ctx), "\n  rank 1") : NULL,
             *call = peer ? strstr(peer, "(item at ") : NULL;
        CHECK(call && atoi(strchr(call, ':') + 1) == line, "expected item at line %d: %s", line, dt_error_text(ctx));
    } else
        CHECK(dt_failed(ctx) && strstr(dt_error_text(ctx), "(comm_all_reduce at "), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void peers__are_shown_with_the_call_of_their_program(void **state) {
    (void)state;
    run_ranks(2, in_different_calls, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers__are_shown_with_the_call_of_their_program),
        cmocka_unit_test(error_sites__of_arguments),
        cmocka_unit_test(error_sites__of_memory_and_files),
        cmocka_unit_test(error_sites__of_ops),
        cmocka_unit_test(error_sites__of_first_uses),
        cmocka_unit_test(error_sites__without_a_context),
        cmocka_unit_test(error_sites__without_a_site),
        cmocka_unit_test(error_sites__of_the_program),
        cmocka_unit_test(error_sites__in_functions_of_the_program),
        cmocka_unit_test(error_sites__on_three_ranks),
        cmocka_unit_test(error_sites__of_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
