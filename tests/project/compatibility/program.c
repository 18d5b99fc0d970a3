/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that passes and gets every struct that is passed with its size. test_compatibility.py compiles it with the
 * current headers, with headers in which these structs are shorter (an older version), and with headers in which they
 * end in a field `appended` (a newer version), and runs it with the current library. With
 * -DSET_APPENDED it sets that field.
 */
#include <dtensor/dtensor.h>

#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                                             \
    do                                                                                                               \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "program.c:%d: %s: %s\n", __LINE__, #condition, dt_error_text(ctx));                     \
            return 1;                                                                                                \
        }                                                                                                            \
    while (0)

/* A struct that the library fills, followed by bytes that it must not change. */
#define GUARDED(type)                                                                                                \
    struct {                                                                                                         \
        type value;                                                                                                  \
        unsigned char guard[64];                                                                                     \
    }
static int is_intact(const unsigned char *guard) {
    for (int i = 0; i < 64; i++)
        if (guard[i] != 0xab)
            return 0;
    return 1;
}

static dt_status same_as_first(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status twice_f32(dt_op_call *call) {
    for (int64_t i = 0; i < call->inputs[0].shape[0]; i++)
        ((float *)call->outputs[0].data)[i] = 2 * ((const float *)call->inputs[0].data)[i];
    return DT_OK;
}
static dt_status clone_first(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)ctx, (void)user;
    outputs[0] = dt_clone(inputs[0]);
    return outputs[0] ? DT_OK : DT_ERR_MEMORY;
}

static int use_all_structs(dt_ctx *ctx) {
    int64_t one = 1;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &one, 1, &(dt_mesh_options){.names = "dp"});
    CHECK(mesh && dt_mesh_dim(mesh, "dp") == 0);
    CHECK(dt_mesh_unflatten(mesh, 0, (int64_t[]){1, 1}, 2, &(dt_mesh_options){.names = "a,b"}));

    int64_t shape[] = {4, 6};
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_F64, .n_dims = 2, .shape = shape, .text = "S(1)"});
    CHECK(spec && dt_spec_dtype(spec) == DT_F64);
    GUARDED(dt_local) local;
    memset(&local, 0xab, sizeof local);
    dt_spec_local_of(spec, 0, &local.value);
    CHECK(local.value.n_dims == 2 && local.value.shape[1] == 6 && is_intact(local.guard));
    memset(&local, 0xab, sizeof local);
    CHECK(dt_spec_local_at(spec, (int64_t[]){0}, &local.value) && local.value.shape[0] == 4 &&
          is_intact(local.guard));

    double value = 3, sum = 0;
    dt_comm_call call = {
        .op = DT_ALL_REDUCE, .dtype = DT_F64, .reduce = DT_SUM, .src = &value, .dst = &sum, .count = 1};
    CHECK(dt_comm_stats_begin(ctx) == DT_OK);
    CHECK(dt_comm_run(dt_group_world(ctx), &call) == DT_OK && sum == 3);
    CHECK(dt_work_wait(dt_comm_start(dt_group_world(ctx), &call)) == DT_OK);
    CHECK(dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_reduce"}).n == 2);
    CHECK(dt_comm_stats(ctx, NULL).n == 2);

    dt_tensor *x = dt_full(ctx, DT_SHAPE(4, 6), 2, .dtype = DT_F64, .mesh = mesh, .place = "S(0)");
    CHECK(dt_tensor_dtype(x) == DT_F64 && dt_tensor_mesh(x) == mesh);
    CHECK(dt_tensor_dtype(dt_randn(ctx, DT_SHAPE(3), .std = DT_REAL(2), .dtype = DT_F64)) == DT_F64);
    CHECK(dt_tensor_dtype(dt_redistribute(x, "R", .dtype = DT_F32)) == DT_F32);
    dt_tensor *rows = dt_sum(x, .dim = DT_DIMS(1), .keepdim = true);
    CHECK(dt_tensor_n_dims(rows) == 2 && dt_item(dt_sum(rows)) == 48);
    CHECK(dt_item(dt_sum(dt_add(x, x, .alpha = DT_NUMBER(2)))) == 144);
    CHECK(dt_item(dt_sum(dt_bmm(dt_ones(ctx, DT_SHAPE(1, 2, 2)), dt_ones(ctx, DT_SHAPE(1, 2, 2))))) == 8);
    CHECK(dt_tensor_elements(dt_full_tensor(x)) == 24 && dt_to_local(x));
    CHECK(dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(2)), mesh, "S(0)", .extents = (int64_t[]){2}));

    dt_tensor *copy = NULL;
    dt_local_mapping mapping = {.run = clone_first, .n_inputs = 1, .inputs = &x, .n_outputs = 1};
    CHECK(dt_local_map(ctx, &mapping, &copy) == DT_OK && copy);

    {
        dt_op twice = {
            .schema = "twice(Tensor x) -> Tensor", .rule = "... -> ...", .shape = same_as_first, .kernel = twice_f32};
        static dt_op registered;
        registered = twice;
        CHECK(dt_op_register(ctx, &registered) == DT_OK);
    }
    CHECK(dt_item(dt_sum(dt_call(ctx, "twice", dt_ones(ctx, DT_SHAPE(5))))) == 10);

    GUARDED(dt_heap_statistics) heap;
    memset(&heap, 0xab, sizeof heap);
    dt_heap_stats_sized(ctx, &heap.value, sizeof heap.value);
    CHECK(heap.value.live_bytes > 0 && is_intact(heap.guard));
    GUARDED(dt_cache_statistics) cache;
    memset(&cache, 0xab, sizeof cache);
    dt_cache_stats_sized(ctx, &cache.value, sizeof cache.value);
    CHECK(cache.value.n_misses > 0 && is_intact(cache.guard));
    CHECK(!dt_failed(ctx));
    return 0;
}

#ifdef SET_APPENDED
static int is_refused(dt_ctx *ctx) {
    int refused = dt_failed(ctx) && dt_error_status(ctx) == DT_ERR_VALUE &&
                  strstr(dt_error_text(ctx), "options of a newer version of dtensor");
    return dt_error_clear(ctx) == DT_OK && refused;
}

static int set_appended(dt_ctx *ctx) {
    int64_t one = 1;
    CHECK(!dt_init(&(dt_init_options){.transport = "self", .appended = 1}));
    CHECK(!dt_zeros(ctx, DT_SHAPE(2), .appended = 1) && is_refused(ctx));
    CHECK(!dt_randn(ctx, DT_SHAPE(2), .appended = 1) && is_refused(ctx));
    CHECK(!dt_sum(dt_ones(ctx, DT_SHAPE(2)), .appended = 1) && is_refused(ctx));
    CHECK(!dt_mesh_from_shape(ctx, &one, 1, &(dt_mesh_options){.appended = 1}) && is_refused(ctx));
    CHECK(dt_comm_run(dt_group_world(ctx), &(dt_comm_call){.op = DT_BARRIER, .appended = 1}) != DT_OK &&
          is_refused(ctx));
    CHECK(dt_op_register(ctx, &(dt_op){.schema = "appended(Tensor x) -> Tensor", .appended = 1}) != DT_OK &&
          is_refused(ctx));
    return 0;
}
#endif

int main(void) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .threads = 1});
    CHECK(ctx);
    int wrong = use_all_structs(ctx);
#ifdef SET_APPENDED
    wrong = wrong || set_appended(ctx);
#endif
    return dt_close(ctx) || wrong;
}
