/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: from every mesh to every other, with uneven and empty shards, several files, other dtypes and states of
 * optimizers; each byte written once; names of folders, what is kept and what is removed. Ranks 1 to 5 on shm.
 */
#include "train/checkpoints.h"

typedef struct trip {
    const char *mesh, *rules;
    int64_t ranks;
} trip;

static const trip trips[] = {
    {NULL, "", 1},
    {"dp=*", "* dp=free", 2},
    {"dp=*", "*.w dp=S(1)\n* dp=free", 3},
    {"dp=2,tp=2", "*.w tp=S(1)\n* dp=free", 4},
    {"tp=*", "big.w tp=S(1)\ntok.weight tp=S(0)", 5},
};
enum { N_TRIPS = sizeof trips / sizeof *trips };

typedef struct round {
    int from, to;
    int64_t file_bytes;
} round_trip;

/* The sum of a number over all ranks. */
static int64_t sum(dt_ctx *ctx, int64_t number) {
    int64_t total = number;
    if (dt_world(ctx) > 1)
        (void)dt_comm_run(
            dt_group_world(ctx),
            &(dt_comm_call){
                .op = DT_ALL_REDUCE, .dtype = DT_I64, .reduce = DT_SUM, .src = &number, .dst = &total, .count = 1});
    return total;
}

static dt_mesh *mesh_of(dt_ctx *ctx, const trip *of) { return of->mesh ? dt_mesh_new(ctx, of->mesh) : NULL; }

/* The bytes of all tensors: parameters, two states and a number for each of those that are floats. */
static int64_t model_bytes(bool with_state) {
    int64_t bytes = 0;
    for (int i = 0; i < N_MODEL; i++) {
        int64_t n = 1;
        for (int d = 0; d < model[i].n_dims; d++)
            n *= model[i].shape[d];
        bytes += n * (int64_t)dt_dtype_size(model[i].dtype);
        if (with_state && i < N_FLOATS)
            bytes += 8 + (i == 1 ? 0 : 2 * n * (int64_t)dt_dtype_size(dt__optimizer_state_dtype(model[i].dtype)));
    }
    return bytes;
}

static int save_one(dt_ctx *ctx, void *arg) {
    const round_trip *round = arg;
    dt_mesh *mesh = mesh_of(ctx, &trips[round->from]);
    dt_params *p = model_new(ctx, mesh, trips[round->from].rules, DT_NO_DTYPE);
    dt_optimizer *opt = dt_adamw_new(ctx, 1e-3);
    model_fill(p, opt, 7);
    CHECK_OK(ctx, dt_error_status(ctx));
    dt_generator *generator = dt_generator_new(ctx, UINT64_MAX);
    CHECK_OK(ctx, dt_generator_restore(generator, ((dt_generator_state){UINT64_MAX, 12345})));
    CHECK_OK(ctx, dt_save(p, in_folder("run"), 600, .optimizer = opt, .generator = generator,
                          .file_bytes = DT_INT(round->file_bytes)));
    const int64_t written = sum(ctx, dt__train_state_of(ctx)->bytes_saved);
    CHECK(written == model_bytes(true), "%" PRId64 " bytes were written of %" PRId64, written, model_bytes(true));
    CHECK(check_model(p, opt, 7) == 0, "after the save");
    dt_generator_release(generator);
    dt_mesh_release(mesh);
    return 0;
}

static int load_one(dt_ctx *ctx, void *arg) {
    const round_trip *round = arg;
    dt_mesh *mesh = mesh_of(ctx, &trips[round->to]);
    int64_t step = -1;
    for (int as = 0; as < 3; as++) {
        const dt_dtype dtype = as == 1 ? DT_F64 : as == 2 ? DT_BF16 : DT_NO_DTYPE;
        dt_params *p = model_new(ctx, mesh, trips[round->to].rules, dtype);
        dt_optimizer *opt = as == 0 ? dt_adamw_new(ctx, 1e-3) : NULL;
        dt_generator *generator = dt_generator_new(ctx, 1);
        if (as == 0)
            dt_optimizer_set_n_steps(opt, dt_params_tensor(p, 1), 99); /* which becomes 0 */
        CHECK_OK(ctx, dt_load(p, in_folder("run"), .optimizer = opt, .generator = generator, .step = &step));
        const dt_generator_state state = dt_generator_save(generator);
        CHECK(step == 600 && state.seed == UINT64_MAX && state.draw == 12345, "step %" PRId64 ", draw %" PRIu64, step,
              state.draw);
        CHECK(check_model(p, opt, 7) == 0, "after the load");
        dt_generator_release(generator);
        dt_params_free(p);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void checkpoints__are_loaded_by_any_mesh(void **state) {
    (void)state;
    for (int from = 0; from < N_TRIPS; from++)
        for (int to = 0; to < N_TRIPS; to++) {
            round_trip round = {from, to, (from + to) % 3 ? 0 : (from + 1) * 4000};
            if (test_started_ranks() && trips[from].ranks != trips[to].ranks)
                continue; /* mpirun starts one number of ranks */
            if (to == 0 || test_started_ranks())
                run_ranks(trips[from].ranks, save_one, &round);
            run_ranks(trips[to].ranks, load_one, &round);
        }
}

/* Two stages: each rank writes and reads its own, and the folder has both. A copy that is tied to a parameter of the
 * other stage is not written, and read as that. */
static dt_params *stages_new(dt_ctx *ctx, dt_mesh *mesh) {
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "* fsdp=free");
    for (int s = 0; s < 2; s++) {
        dt_mesh *stage = dt_mesh_slice_at(mesh, "fsdp", s);
        dt_params_begin(p, "stage.%d.", s);
        dt_param(p, "weight", DT_SHAPE(6, 4), .std = DT_REAL(1), .on = stage);
        if (s == 1)
            dt_param(p, "head", DT_SHAPE(6, 4), .tied = "stage.0.weight", .on = stage);
        dt_params_end(p);
        dt_mesh_release(stage);
    }
    return p;
}

static int save_stages(dt_ctx *ctx, void *arg) {
    (void)arg;
    const int64_t world = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){2, world / 2}, 2, &(dt_mesh_options){.names = "pp,fsdp"});
    dt_params *p = stages_new(ctx, mesh);
    dt_optimizer *opt = dt_adamw_new(ctx, 1e-3);
    const int64_t mine = dt_mesh_local_rank(mesh, 0);
    CHECK_OK(ctx, dt_optimizer_set_n_steps(opt, dt_params_tensor(p, (int)mine), 3 + mine));
    dt_saving *saving = NULL;
    CHECK_OK(ctx, dt_save(p, in_folder("stages"), 1, .optimizer = opt));
    CHECK_OK(ctx, dt_save(p, in_folder("stages"), 2, .optimizer = opt, .later = &saving));
    CHECK_OK(ctx, dt_saving_wait(saving));
    const int64_t written = sum(ctx, dt__train_state_of(ctx)->bytes_saved);
    CHECK(written == 2 * 2 * (3 * 24 * 4 + 8), "%" PRId64, written);
    dt_params *loaded = stages_new(ctx, mesh);
    dt_optimizer *other = dt_adamw_new(ctx, 1e-3);
    CHECK_OK(ctx, dt_load(loaded, in_folder("stages"), .optimizer = other));
    for (int s = 0; s < 2; s++) {
        dt_tensor *a = dt_params_tensor(p, s), *b = dt_params_tensor(loaded, s);
        CHECK(dt_optimizer_n_steps(other, b) == (s == mine ? 3 + mine : 0), "%" PRId64,
              dt_optimizer_n_steps(other, b));
        const size_t n = (size_t)dt_tensor_local_elements(a) * sizeof(float);
        CHECK(!n || memcmp(dt_data(a), dt_data(b), n) == 0, "stage %d", s);
    }
    dt_tensor *a = dt_params_get(p, "stage.1.head"), *b = dt_params_get(loaded, "stage.1.head");
    const size_t n = (size_t)dt_tensor_local_elements(a) * sizeof(float);
    CHECK(a != dt_params_tensor(p, 0) && !n == (mine == 0) && (!n || memcmp(dt_data(a), dt_data(b), n) == 0), "head");
    dt_mesh_release(mesh);
    return 0;
}

/* The file of both stages, in a world of one. */
static int load_stages(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_params *p = dt_params_new(ctx);
    dt_optimizer *opt = dt_adamw_new(ctx, 1e-3);
    dt_tensor *first = dt_param(p, "stage.0.weight", DT_SHAPE(6, 4)),
              *then = dt_param(p, "stage.1.weight", DT_SHAPE(6, 4));
    CHECK_OK(ctx, dt_load(p, in_folder("stages"), .optimizer = opt));
    CHECK(dt_optimizer_n_steps(opt, first) == 3 && dt_optimizer_n_steps(opt, then) == 4, "steps");
    dt_tensor *expected = dt_randn(ctx, DT_SHAPE(6, 4), .std = DT_REAL(1));
    CHECK(memcmp(dt_data(first), dt_data(expected), 24 * sizeof(float)) == 0, "stage 0");
    expected = dt_randn(ctx, DT_SHAPE(6, 4), .std = DT_REAL(1));
    CHECK(memcmp(dt_data(then), dt_data(expected), 24 * sizeof(float)) == 0, "stage 1");
    return 0;
}

static void stages__are_saved_in_one_folder(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 6; n += 2) {
        run_ranks(n, save_stages, NULL);
        if (!test_started_ranks())
            run_ranks(1, load_stages, NULL);
    }
}

/* Whether the run has these entries and no others. */
static int check_entries(const char *run, int n, const char *const *names) {
    struct dirent **found;
    const int n_found = scandir(in_folder(run), &found, NULL, alphasort);
    char text[512] = "";
    int n_same = 0;
    for (int i = 0; i < n_found; i++) {
        (void)strncat(text, " ", sizeof text - strlen(text) - 1);
        (void)strncat(text, found[i]->d_name, sizeof text - strlen(text) - 1);
        for (int k = 0; k < n; k++)
            n_same += !strcmp(names[k], found[i]->d_name);
        free(found[i]);
    }
    free(found);
    CHECK(n_found == n + 2 && n_same == n, "expected %d entries, got%s", n, text);
    return 0;
}

static int keep_some(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "* dp=S(0)");
    dt_tensor *w = dt_param(p, "w", DT_SHAPE(5, 3));
    int64_t step = 77;
    CHECK_OK(ctx, dt_load(p, in_folder("kept"), .step = &step, .optional = true));
    CHECK(step == 77, "%" PRId64, step);
    CHECK(dt_load(p, in_folder("kept"), .step = &step) == DT_ERR_VALUE &&
              strstr(dt_error_text(ctx), "there is no checkpoint: the folder does not exist"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 0) { /* what an interrupted save leaves, and what others put there */
        CHECK(mkdir(in_folder("kept"), 0777) == 0, "mkdir");
        CHECK(mkdir(in_folder("kept/.step-000001.0123.part"), 0777) == 0, "mkdir");
        fclose(fopen(in_folder("kept/.step-000001.0123.part/model.safetensors"), "w"));
        fclose(fopen(in_folder("kept/notes"), "w"));
        CHECK(mkdir(in_folder("kept/step-best"), 0777) == 0, "mkdir");
    }
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    CHECK(dt_load(p, in_folder("kept")) == DT_ERR_VALUE && strstr(dt_error_text(ctx), "there is no checkpoint"), "%s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_no_grad_begin(ctx);
    for (int64_t i = 1; i <= 5; i++) {
        dt_fill_(w, DT_NUMBER((double)i));
        CHECK_OK(ctx, dt_save(p, in_folder("kept"), i * 300000, .keep = DT_INT(2)));
    }
    if (dt_rank(ctx) == 0)
        CHECK(check_entries("kept", 4, (const char *const[]){"notes", "step-best", "step-1200000", "step-1500000"}) ==
                  0,
              "after five");
    dt_fill_(w, DT_NUMBER(6)); /* in place of another one, which is not the newest */
    CHECK_OK(ctx, dt_save(p, in_folder("kept"), 1200000, .keep = DT_INT(2)));
    CHECK_OK(ctx, dt_load(p, in_folder("kept"), .step = &step));
    CHECK(step == 1500000 && dt_item(dt_max(w)) == 5, "%" PRId64, step);
    CHECK_OK(ctx, dt_load(p, in_folder("kept/step-1200000"), .step = &step));
    CHECK(step == 1200000 && dt_item(dt_max(w)) == 6, "%" PRId64, step);
    dt_no_grad_end(ctx);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 0) {
        CHECK(check_entries("kept", 4, (const char *const[]){"notes", "step-best", "step-1200000", "step-1500000"}) ==
                  0,
              "after six");
        folder_unlink("kept");
    }
    dt_mesh_release(mesh);
    return 0;
}

static void folders__are_kept_replaced_and_removed(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks(n, keep_some, NULL);
}

/* A run goes on from where it was, with its batches. */
static int continue_run(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    CHECK_OK(ctx, dt_save_npy(dt_arange(ctx, 0, 1000, 1, .dtype = DT_I64, .mesh = mesh), in_folder("tokens.npy")));
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "* dp=S(0)");
    dt_param(p, "w", DT_SHAPE(4, 2), .std = DT_REAL(1));
    dt_batches *text =
        dt_batches_open(ctx, in_folder("tokens.npy"), 4, .mesh = mesh, .length = DT_INT(8), .seed = DT_INT(1));
    for (int i = 0; i < 7; i++)
        dt_drop(dt_batches_next(text));
    const dt_scaler saved = {.scale = 1.0 / 3, .growth = 1.5, .backoff = 0.1, .interval = 70, .n_finite = 69};
    CHECK_OK(ctx, dt_save(p, in_folder("continued"), 7, .batches = text, .scaler = &saved, .unsynced = true));
    CHECK_OK(ctx, dt_batches_seek(text, 0));
    int64_t step = 0;
    dt_scaler scaler = dt_scaler_default();
    CHECK_OK(ctx, dt_load(p, in_folder("continued"), .batches = text, .generator = dt_generator_default(ctx),
                          .scaler = &scaler, .step = &step));
    CHECK(dt_batches_position(text) == 7 && step == 7, "%" PRId64, dt_batches_position(text));
    CHECK(scaler.scale == saved.scale && scaler.growth == 1.5 && scaler.backoff == 0.1 && scaler.interval == 70 &&
              scaler.n_finite == 69,
          "%.17g", scaler.scale);
    CHECK_OK(ctx, dt_save(p, in_folder("continued"), 8));
    CHECK(dt_load(p, in_folder("continued"), .batches = text) == DT_ERR_VALUE &&
              strstr(dt_error_text(ctx), "its metadata has no 'batches': it was saved without"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_load(p, in_folder("continued"), .scaler = &scaler) == DT_ERR_VALUE &&
              strstr(dt_error_text(ctx), "its metadata has no 'scaler.scale': it was saved without") &&
              scaler.n_finite == 69,
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_optimizer *opt = dt_sgd_new(ctx, 1, .momentum = DT_REAL(0.9));
    CHECK(dt_load(p, in_folder("continued"), .optimizer = opt) == DT_ERR_VALUE &&
              strstr(dt_error_text(ctx), "it has no state of an optimizer: it was saved without"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_save(p, in_folder("continued"), 9, .optimizer = opt));
    dt_optimizer *other = dt_adamw_new(ctx, 1);
    CHECK(dt_load(p, in_folder("continued"), .optimizer = other) == DT_ERR_VALUE &&
              strstr(dt_error_text(ctx), "2 missing: exp_avg.w, exp_avg_sq.w"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_batches_free(text);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 0)
        folder_unlink("continued");
    dt_mesh_release(mesh);
    return 0;
}

static void runs__continue_where_they_were(void **state) {
    (void)state;
    run_ranks(1, continue_run, NULL);
    run_ranks(3, continue_run, NULL);
}

/* Bytes that this thread has read so far; -1: unknown. */
static int64_t read_so_far(void) {
    FILE *file = fopen("/proc/thread-self/io", "r");
    long long n = -1;
    if (file && fscanf(file, "rchar: %lld", &n) != 1)
        n = -1;
    if (file)
        (void)fclose(file);
    return n;
}

/* A rank reads its rows, its parts of long rows, and nothing of the shards of others. */
static int read_own_bytes(dt_ctx *ctx, void *arg) {
    enum { ROWS = 97, COLUMNS = 1000, LONG_ROWS = 4, LONG_COLUMNS = 60001, SLACK = 1 << 15 };
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "rows dp=S(0)\nlong dp=S(1)");
    dt_param(p, "rows", DT_SHAPE(ROWS, COLUMNS), .std = DT_REAL(1));
    dt_param(p, "long", DT_SHAPE(LONG_ROWS, LONG_COLUMNS), .std = DT_REAL(1));
    int64_t own = 0;
    for (int i = 0; i < 2; i++)
        own += dt_tensor_local_elements(dt_params_tensor(p, i)) * (int64_t)sizeof(float);
    CHECK_OK(ctx, dt_save(p, in_folder("own"), 1, .unsynced = true));
    for (int i = 0; i < 2; i++) { /* the first one also makes what the group of the ranks keeps */
        const int64_t before = read_so_far();
        CHECK_OK(ctx, dt_load(p, in_folder("own")));
        const int64_t n = read_so_far() - before;
        CHECK(before < 0 || (n >= own && n <= own + SLACK), "expected to read %" PRId64 " bytes, got %" PRId64, own,
              n);
    }
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 0)
        folder_unlink("own");
    dt_mesh_release(mesh);
    return 0;
}

static void loads__read_the_bytes_of_the_rank(void **state) {
    (void)state;
    run_ranks(1, read_own_bytes, NULL);
    run_ranks(3, read_own_bytes, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints__are_loaded_by_any_mesh),
        cmocka_unit_test(loads__read_the_bytes_of_the_rank),
        cmocka_unit_test(stages__are_saved_in_one_folder),
        cmocka_unit_test(folders__are_kept_replaced_and_removed),
        cmocka_unit_test(runs__continue_where_they_were),
    };
    return cmocka_run_group_tests(tests, folder_begin, folder_end);
}
