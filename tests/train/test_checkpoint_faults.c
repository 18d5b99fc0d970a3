/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes wrong with checkpoints: disks that are full, ranks that cannot write or make other calls, saves that are
 * not waited for, and folders that are not what they seem. Every error is that of all ranks, the older checkpoint
 * stays, and nothing else remains. Ranks 1, 2 and 3 on shm.
 */
#include "train/checkpoints.h"

#include <sys/resource.h>

static dt_params *small_new(dt_ctx *ctx, dt_mesh *mesh, double value) {
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "w dp=S(0)");
    dt_param(p, "w", DT_SHAPE(301, 70), .value = DT_REAL(value));
    dt_param(p, "b", DT_SHAPE(7), .value = DT_REAL(value));
    return p;
}

/* The entries of a run, without those of all folders. */
static int count_entries(const char *run) {
    DIR *dir = opendir(in_folder(run));
    int n = -2;
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static dt_status limit_files(rlim_t bytes) {
    struct rlimit limit;
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? DT_OK : DT_ERR_SYSTEM;
}

/* One rank may write no large file: the save fails on all, and the one before it stays. */
static int fill_disk(dt_ctx *ctx, void *arg) {
    (void)arg;
    const int64_t world = dt_world(ctx), victim = world - 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = small_new(ctx, mesh, 1), *other = small_new(ctx, mesh, 2);
    dt_saving *saving = NULL;
    CHECK_OK(ctx, dt_save(p, in_folder("full"), 1));
    for (int later = 0; later < 2; later++) {
        if (dt_rank(ctx) == victim)
            CHECK(limit_files(4096) == DT_OK, "setrlimit");
        dt_status status = dt_save(other, in_folder("full"), 2, .later = later ? &saving : NULL);
        if (status == DT_OK && later)
            status = dt_saving_wait(saving);
        const char *text = dt_error_text(ctx);
        CHECK(status == DT_ERR_SYSTEM && strstr(text, "model.safetensors cannot be written: File too large"), "%s",
              text);
        CHECK(strstr(text, "(ulimit -f) is 4096 bytes") && (world == 1 || strstr(text, ": rank ")), "%s", text);
        CHECK_OK(ctx, dt_error_clear(ctx));
        if (dt_rank(ctx) == victim)
            CHECK(limit_files(RLIM_INFINITY) == DT_OK, "setrlimit");
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
        CHECK(count_entries("full") == 1, "%d entries", count_entries("full"));
        CHECK_OK(ctx, dt_load(other, in_folder("full")));
        CHECK(dt_item(dt_max(dt_params_tensor(other, 0))) == 1, "the values before");
    }
    CHECK_OK(ctx, dt_saving_wait(saving)); /* has nothing to wait for */
    CHECK_OK(ctx, dt_save(other, in_folder("full"), 2, .later = &saving));
    CHECK_OK(ctx, dt_saving_wait(saving));
    CHECK(count_entries("full") == 2, "%d entries", count_entries("full"));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 0)
        folder_unlink("full");
    dt_mesh_release(mesh);
    return 0;
}

static void full__disks_leave_the_older_checkpoint(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, fill_disk, NULL);
}

/* Parameters may change as soon as dt_save returns; the next save waits for the one before. */
static int save_later(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = small_new(ctx, mesh, 0), *loaded = small_new(ctx, mesh, 0);
    dt_saving *saving = NULL;
    int64_t step = 0;
    for (int i = 1; i <= 4; i++) {
        dt_no_grad_begin(ctx);
        dt_fill_(dt_params_tensor(p, 0), DT_NUMBER(i));
        CHECK_OK(ctx, dt_save(p, in_folder("later"), i, .keep = DT_INT(2), .later = &saving));
        dt_fill_(dt_params_tensor(p, 0), DT_NUMBER(-1));
        dt_no_grad_end(ctx);
        if (i == 1) {
            CHECK(dt_load(loaded, in_folder("later")) == DT_ERR_VALUE, "loaded what has no name yet");
            CHECK_OK(ctx, dt_error_clear(ctx));
            continue;
        }
        CHECK_OK(ctx, dt_load(loaded, in_folder("later"), .step = &step));
        CHECK(step == i - 1 && dt_item(dt_min(dt_params_tensor(loaded, 0))) == i - 1, "step %" PRId64, step);
    }
    CHECK_OK(ctx, dt_saving_wait(saving));
    CHECK_OK(ctx, dt_saving_wait(saving));
    CHECK_OK(ctx, dt_saving_wait(NULL));
    CHECK_OK(ctx, dt_load(loaded, in_folder("later"), .step = &step));
    CHECK(step == 4 && dt_item(dt_min(dt_params_tensor(loaded, 0))) == 4, "step %" PRId64, step);
    CHECK(count_entries("later") == 2, "%d entries", count_entries("later"));
    dt_saving *foreign = (dt_saving *)(void *)&step;
    CHECK(dt_save(p, in_folder("later"), 5, .later = &foreign) == DT_ERR_STATE, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 0)
        folder_unlink("later");
    dt_mesh_release(mesh);
    return 0;
}

static void later__saves_have_the_values_of_the_call(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks(n, save_later, NULL);
}

static void keep_line(void *user, dt_log_level level, const char *line) {
    (void)level;
    (void)snprintf(user, 512, "%s", line);
}

/* A context of its own, which ends with a save that nobody waited for. */
static void unfinished__saves_are_errors_of_close(void **state) {
    (void)state;
    char expected[512], line[512] = "";
    if (!test_leads())
        return;
    dt_ctx *ctx = dt_init(&(dt_init_options){.log = keep_line, .log_user = line, .log_level = DT_LOG_ERROR});
    dt_params *p = small_new(ctx, NULL, 1);
    dt_saving *saving = NULL;
    assert_int_equal(dt_save(p, in_folder("unfinished"), 1), DT_OK);
    assert_int_equal(dt_save(p, in_folder("unfinished"), 2, .later = &saving), DT_OK);
    assert_int_equal(dt_close(ctx), 1);
    (void)snprintf(expected, sizeof expected,
                   "the save of %s/step-000002 is not finished, and its files were removed", in_folder("unfinished"));
    if (!strstr(line, expected) || !strstr(line, "expected dt_saving_wait before dt_close"))
        fail_msg("expected '%s', got '%s'", expected, line);
    assert_int_equal(count_entries("unfinished"), 1);
    folder_unlink("unfinished");
}

/* Metadata has decimal points, also where the program's locale has decimal commas. */
static void numbers__do_not_depend_on_the_locale(void **state) {
    (void)state;
    static const char expected[] = "\"optimizer.lr\":\"0.5\"";
    char path[512], header[1024] = "";
    if (!test_leads())
        return;
    test_commas_begin();
    dt_ctx *ctx = dt_init(NULL);
    dt_params *p = small_new(ctx, NULL, 1);
    assert_int_equal(dt_save(p, in_folder("commas"), 1, .optimizer = dt_sgd_new(ctx, 0.5)), DT_OK);
    (void)snprintf(path, sizeof path, "%s/step-000001/model.safetensors", in_folder("commas"));
    FILE *file = fopen(path, "rb");
    assert_true(file && !fseek(file, 8, SEEK_SET) && fread(header, 1, sizeof header - 1, file) && !fclose(file));
    if (!strstr(header, expected))
        fail_msg("expected %s, got %s", expected, header);
    folder_unlink("commas");
    assert_int_equal(dt_close(ctx), 0);
    test_commas_end();
}

/* Rank 1 makes another call; the error shows what differs. */
static int differ(dt_ctx *ctx, void *arg) {
    static const char *const differing[] = {"\", 2, ", "keep=2", "file_bytes=100", "unsynced=true",
                                            "later",   "draw=3", "optimizer=SGD",  "scaler.scale=2;"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = small_new(ctx, mesh, 1);
    dt_optimizer *opt = dt_sgd_new(ctx, 1);
    dt_saving *saving = NULL;
    for (int i = 0; i < 8; i++) {
        const int at = dt_rank(ctx) == 1 ? i : -1;
        dt_scaler scaler = dt_scaler_default();
        scaler.scale = at == 7 ? 2 : 1;
        dt_generator *generator = dt_generator_new(ctx, 9);
        (void)dt_generator_restore(generator, ((dt_generator_state){9, at == 5 ? 3 : 2}));
        dt_status status =
            dt_save(p, in_folder("differs"), at == 0 ? 2 : 1, .keep = DT_INT(at == 1 ? 2 : 0),
                    .file_bytes = DT_INT(at == 2 ? 100 : 0), .unsynced = at == 3, .later = at == 4 ? &saving : NULL,
                    .generator = generator, .scaler = &scaler, .optimizer = at == 6 ? opt : NULL);
        CHECK(status == DT_ERR_MISMATCH && strstr(dt_error_text(ctx), differing[i]), "%d: %s", i, dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        dt_generator_release(generator);
    }
    CHECK(count_entries("differs") <= 0, "%d entries", count_entries("differs"));
    CHECK(dt_save(p, in_folder("differs"), -1) == DT_ERR_VALUE, "step");
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_save(p, in_folder("differs"), 1, .keep = DT_INT(-1)) == DT_ERR_VALUE, "keep");
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_save(p, NULL, 1) == DT_ERR_VALUE, "folder");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void calls__that_differ_are_errors(void **state) {
    (void)state;
    run_ranks(3, differ, NULL);
}

/* Folders that are not checkpoints of the list. */
static const struct {
    const char *name, *file, *header;
    const char *text; /* of the error */
} hostile[] = {
    {"missing", "model.safetensors", "{\"w\":{\"dtype\":\"F32\",\"shape\":[21077],\"data_offsets\":[0,84308]}}",
     "its names are not those of the parameters: 1 missing: b, 0 unknown"},
    {"unknown", "model.safetensors",
     "{\"w\":{\"dtype\":\"F32\",\"shape\":[301,70],\"data_offsets\":[0,84280]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[7],\"data_offsets\":[84280,84308]},"
     "\"c\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[84308,84308]}}",
     "0 missing, 1 unknown: c"},
    {"shape", "model.safetensors",
     "{\"w\":{\"dtype\":\"F32\",\"shape\":[70,301],\"data_offsets\":[0,84280]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[7],\"data_offsets\":[84280,84308]}}",
     "w has another shape: expected [301,70], got [70,301]"},
    {"step", "model.safetensors",
     "{\"__metadata__\":{\"step\":\"-1\"},\"w\":{\"dtype\":\"F32\",\"shape\":[301,70],\"data_offsets\":[0,84280]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[7],\"data_offsets\":[84280,84308]}}",
     "its metadata has 'step' = '-1': expected a number"},
    {"scale", "model.safetensors",
     "{\"__metadata__\":{\"step\":\"1\",\"scaler.scale\":\"0x\"},"
     "\"w\":{\"dtype\":\"F32\",\"shape\":[301,70],\"data_offsets\":[0,84280]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[7],\"data_offsets\":[84280,84308]}}",
     "its metadata has 'scaler.scale' = '0x': expected a number above 0"},
    {"cut", "model.safetensors",
     "{\"w\":{\"dtype\":\"F32\",\"shape\":[301,70],\"data_offsets\":[0,84280]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[84280,84312]}}",
     "the file is cut off"},
    {"overlap", "model.safetensors",
     "{\"w\":{\"dtype\":\"F32\",\"shape\":[301,70],\"data_offsets\":[0,84280]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[7],\"data_offsets\":[84276,84304]}}",
     "overlaps"},
    {"outside", "model.safetensors.index.json", "{\"weight_map\":{\"w\":\"../secret\",\"b\":\"../secret\"}}",
     "expected a name in its own folder"},
    {"nothing", "model.safetensors.index.json", "{\"weight_map\":{\"w\":\"a\",\"b\":\"a\"}}", "cannot be opened"},
};
enum { N_HOSTILE = sizeof hostile / sizeof *hostile, DATA_BYTES = 84308 };

static void write_hostile(int i) {
    static char zeros[DATA_BYTES];
    char path[128];
    const uint64_t n = strlen(hostile[i].header);
    (void)mkdir(in_folder(hostile[i].name), 0777);
    (void)snprintf(path, sizeof path, "%s/%s", hostile[i].name, hostile[i].file);
    FILE *file = fopen(in_folder(path), "wb");
    const bool is_index = strstr(hostile[i].file, "json") != NULL;
    if (!is_index)
        (void)fwrite(&n, 1, sizeof n, file);
    (void)fwrite(hostile[i].header, 1, n, file);
    if (!is_index)
        (void)fwrite(zeros, 1, sizeof zeros, file);
    (void)fclose(file);
}

static int load_hostile(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = small_new(ctx, mesh, 5);
    int64_t step = 3;
    dt_scaler scaler = dt_scaler_default();
    for (int i = 0; i < N_HOSTILE; i++) {
        const dt_status status = dt_load(p, in_folder(hostile[i].name), .step = &step, .scaler = &scaler);
        CHECK(status != DT_OK && strstr(dt_error_text(ctx), hostile[i].text), "%s: expected '%s', got '%s'",
              hostile[i].name, hostile[i].text, dt_error_text(ctx));
        CHECK(!strstr(dt_error_text(ctx), ": rank "), "not the error of all ranks: %s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(step == 3 && dt_item(dt_min(dt_params_tensor(p, 0))) == 5, "%s: something was changed",
              hostile[i].name);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void hostile__folders_change_nothing(void **state) {
    (void)state;
    if (test_leads())
        for (int i = 0; i < N_HOSTILE; i++)
            write_hostile(i);
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks(n, load_hostile, NULL);
}

/* A rule without effect is an error of each way to save and to load, before anything is written. */
static int use_lost_rules(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "weihgt dp=S(0)");
    dt_param(p, "weight", DT_SHAPE(7));
    for (int i = 0; i < 4; i++) {
        const dt_status status = i == 0   ? dt_save(p, in_folder("rules"), 1)
                                 : i == 1 ? dt_load(p, in_folder("rules"))
                                 : i == 2 ? dt_load(p, in_folder("rules"), .optional = true)
                                          : dt_params_save(p, in_folder("rules"));
        CHECK(status == DT_ERR_VALUE && strstr(dt_error_text(ctx), "did you mean weight?"), "%d: %s", i,
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    CHECK(count_entries("rules") < 0, "there is a folder");
    dt_mesh_release(mesh);
    return 0;
}

static void rules__without_effect_are_errors(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks(n, use_lost_rules, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full__disks_leave_the_older_checkpoint),
        cmocka_unit_test(later__saves_have_the_values_of_the_call),
        cmocka_unit_test(unfinished__saves_are_errors_of_close),
        cmocka_unit_test(numbers__do_not_depend_on_the_locale),
        cmocka_unit_test(calls__that_differ_are_errors),
        cmocka_unit_test(hostile__folders_change_nothing),
        cmocka_unit_test(rules__without_effect_are_errors),
    };
    return cmocka_run_group_tests(tests, folder_begin, folder_end);
}
