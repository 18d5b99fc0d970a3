/* SPDX-License-Identifier: Apache-2.0
 *
 * File calls as collectives: a rank that saves or loads something else than its peers, a rank whose file system
 * fails, and kinds of paths: links, devices, folders, files with a mode and an owner. Every rank gets the same error,
 * which has both calls or the rank that failed and the reason, and no temporary files remain. Ranks 1, 2, 3, 5.
 * What ranks leave in memory and in the folder is checked by one process, also where mpirun starts the ranks.
 */
#include "move/folder.h"
#include "support/launch.h"
#include "tensor/tensors.h"

#include "move/save_npy.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The error of each rank, which the test compares. */
struct board {
    char texts[8][4096];
    dt_status statuses[8];
    bool has_nodes; /* ranks are on several */
};
static struct board *board;

static int set_up(void **state) {
    board = test_shared_memory(sizeof *board);
    (void)test_leads();
    return folder_begin(state);
}

static const test_ranks with_timeout = {.options = {.timeout_s = 20}};

/* Returns whether this process checks what the ranks have left: not if mpirun started another number of them. */
static bool run_with_timeout(int64_t n, dt_rank_fn *fn, void *arg) {
    test_ranks ranks = with_timeout;
    ranks.n = n;
    if (test_leads())
        memset(board, 0, sizeof *board);
    run_ranks_with(&ranks, fn, arg);
    return test_leads() && (!test_started_ranks() || test_started_ranks() == n);
}

static void post_error(dt_ctx *ctx) {
    board->statuses[dt_rank(ctx)] = dt_error_status(ctx);
    if (dt_rank(ctx) == 0)
        board->has_nodes = dt__group_spans_nodes(dt_group_world(ctx));
    (void)snprintf(board->texts[dt_rank(ctx)], sizeof board->texts[0], "%s", dt_error_text(ctx));
}

/* How the call of one rank differs. */
enum difference {
    OTHER_PATH,
    OTHER_SHAPE,
    OTHER_DTYPE,
    OTHER_PLACEMENT,
    OTHER_MESH,
    OTHER_NAME,
    OTHER_NUMBER,
    OTHER_ORDER,
    OTHER_KIND,
    OTHER_CALL,
    OTHER_PLAIN,
    N_SAVE_DIFFERENCES,
    LOAD_PATH = N_SAVE_DIFFERENCES,
    LOAD_NAME,
    LOAD_PLACEMENT,
    LOAD_GRAD,
    LOAD_CHECK,
    LOAD_KIND,
    LOAD_MESH,
    LOAD_CALL,
    N_DIFFERENCES
};

/* Parts of the errors of all ranks: of the calls of the others and of the differing rank. */
static const struct {
    const char *name, *usual_call, *differing_call;
} differences[N_DIFFERENCES] = {
    [OTHER_PATH] = {"path", "a.npz\", w=f32[8,6] S(0)", "b.npz\", w=f32[8,6] S(0)"},
    [OTHER_SHAPE] = {"shape", "w=f32[8,6] S(0)", "w=f32[8,5] S(0)"},
    [OTHER_DTYPE] = {"dtype", "w=f32[8,6] S(0)", "w=i32[8,6] S(0)"},
    [OTHER_PLACEMENT] = {"placement", "w=f32[8,6] S(0)", "w=f32[8,6] S(1)"},
    [OTHER_MESH] = {"mesh", "on mesh(tp=", "on mesh(dp="},
    [OTHER_NAME] = {"name", "w=f32[8,6]", "v=f32[8,6]"},
    [OTHER_NUMBER] = {"number", "w=f32[8,6]", "b=i64[7]"},
    [OTHER_ORDER] = {"order", "w=f32[8,6] S(0)", "b=i64[7] R"},
    [OTHER_KIND] = {"kind", "save_npz(\"", "save_npy(\""},
    [OTHER_CALL] = {"call", "save_npz(\"", "barrier"},
    [OTHER_PLAIN] = {"plain tensors", "save_npz(\"",
                     "barrier"}, /* a local call: detected at the next collective one */
    [LOAD_PATH] = {"path of a load", "load_npz(\"", "c.npz\", \"w\""},
    [LOAD_NAME] = {"name of a load", "a.npz\", \"w\"", "a.npz\", \"b\""},
    [LOAD_PLACEMENT] = {"placement of a load", "place=S(0)", "place=S(1)"},
    [LOAD_GRAD] = {"requires_grad", "load_npz(\"", "requires_grad=true"},
    [LOAD_CHECK] = {"check", "load_npz(\"", "check=true"},
    [LOAD_KIND] = {"kind of a load", "load_npz(\"", "load_npy(\""},
    [LOAD_MESH] = {"mesh of a load", "mesh(tp=", "mesh(dp="},
    [LOAD_CALL] = {"call instead of a load", "load_npz(\"", "all_reduce of f32 x 1, sum"},
};

/* A rank that waits long for a late one compares the calls that both have made: the error is then about the first that
 * differs, which is the one that made the tensor, or the save or load itself. */
static const struct {
    const char *usual, *differing;
} differing_ops[N_DIFFERENCES] = {
    [OTHER_SHAPE] = {"ones(size=[8,6]; dtype=f32) S(0)", "ones(size=[8,5]; dtype=f32) S(0)"},
    [OTHER_DTYPE] = {"ones(size=[8,6]; dtype=f32) S(0)", "ones(size=[8,6]; dtype=i32) S(0)"},
    [OTHER_PLACEMENT] = {"ones(size=[8,6]; dtype=f32) S(0)", "ones(size=[8,6]; dtype=f32) S(1)"},
};

struct differing {
    enum difference kind;
    int64_t rank;
};

/* Between nodes ranks gather the texts of their calls, and another collective differs from that. */
static const char *usual_call(enum difference kind) {
    bool is_other_collective = kind == OTHER_CALL || kind == OTHER_PLAIN || kind == LOAD_CALL;
    return board->has_nodes && is_other_collective ? "all_gather of u8" : differences[kind].usual_call;
}

static dt_status make_save(dt_ctx *ctx, dt_mesh *mesh, dt_mesh *other, const struct differing *differing) {
    bool differs = differing && differing->rank == dt_rank(ctx);
    enum difference kind = differs ? differing->kind : N_DIFFERENCES;
    dt_mesh *m = kind == OTHER_MESH ? other : mesh;
    dt_tensor *w =
        dt_ones(ctx, kind == OTHER_SHAPE ? DT_SHAPE(8, 5) : DT_SHAPE(8, 6), .mesh = m,
                .dtype = kind == OTHER_DTYPE ? DT_I32 : DT_F32, .place = kind == OTHER_PLACEMENT ? "S(1)" : "S(0)");
    dt_tensor *b = dt_arange(ctx, 0, 7, 1, .dtype = DT_I64, .mesh = m, .place = "R");
    dt_tensor *tensors[] = {w, b}, *swapped[] = {b, w};
    const char *names[] = {kind == OTHER_NAME ? "v" : "w", "b"}, *swapped_names[] = {"b", "w"};
    const char *path = in_folder(kind == OTHER_PATH ? "b.npz" : "a.npz");
    switch (kind) {
    case OTHER_NUMBER:
        return dt_save_npz(path, 1, names, tensors);
    case OTHER_ORDER:
        return dt_save_npz(path, 2, swapped_names, swapped);
    case OTHER_KIND:
        return dt_save_npy(w, path);
    case OTHER_PLAIN:
        if (dt_save_npz(path, 1, names, (dt_tensor *[]){dt_ones(ctx, DT_SHAPE(3))}) != DT_OK)
            return DT_ERR_INTERNAL;
        return dt_comm_barrier(dt_group_world(ctx));
    case OTHER_CALL:
        return dt_comm_barrier(dt_group_world(ctx));
    default:
        return dt_save_npz(path, 2, names, tensors);
    }
}

static dt_status make_load(dt_ctx *ctx, dt_mesh *mesh, dt_mesh *other, const struct differing *differing) {
    bool differs = differing && differing->rank == dt_rank(ctx);
    enum difference kind = differs ? differing->kind : N_DIFFERENCES;
    float one = 1;
    if (kind == LOAD_CALL)
        return dt_comm_all_reduce(dt_group_world(ctx), &one, &one, 1, DT_F32, DT_SUM);
    const char *path = in_folder(kind == LOAD_PATH ? "c.npz" : "a.npz"),
               *place = kind == LOAD_PLACEMENT ? "S(1)" : "S(0)";
    dt_mesh *m = kind == LOAD_MESH ? other : mesh;
    dt_tensor *t = kind == LOAD_KIND
                       ? dt_load_npy(ctx, path, .mesh = m, .place = place)
                       : dt_load_npz(ctx, path, kind == LOAD_NAME ? "b" : "w", .mesh = m, .place = place,
                                     .requires_grad = kind == LOAD_GRAD, .check = kind == LOAD_CHECK);
    return t ? DT_OK : dt_error_status(ctx);
}

static int make_differing_calls(dt_ctx *ctx, void *arg) {
    const struct differing *differing = arg;
    int64_t n = dt_world(ctx);
    bool loads = differing->kind >= N_SAVE_DIFFERENCES;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, &(dt_mesh_options){.names = "tp"});
    dt_mesh *other = dt_mesh_from_shape(ctx, &n, 1, &(dt_mesh_options){.names = "dp"});
    if (loads) {
        CHECK_OK(ctx, make_save(ctx, mesh, other, NULL));
        if (dt_rank(ctx) == 0)
            CHECK(link(in_folder("a.npz"), in_folder("c.npz")) == 0, "link");
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    }
    dt_status status = (loads ? make_load : make_save)(ctx, mesh, other, differing);
    CHECK(status == DT_ERR_MISMATCH, "rank %lld, other %s on rank %lld: expected mismatch, got %s: %s",
          (long long)dt_rank(ctx), differences[differing->kind].name, (long long)differing->rank,
          dt_status_name(status), dt_error_text(ctx));
    post_error(ctx);
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, make_save(ctx, mesh, other, NULL));
    CHECK_OK(ctx, make_load(ctx, mesh, other, NULL));
    if (dt_rank(ctx) == 0)
        CHECK(folder_count() == (loads ? 2 : 1), "%d files", folder_each(folder_print_name));
    dt_mesh_release(mesh);
    dt_mesh_release(other);
    return 0;
}

static void calls__of_a_rank_that_differ_are_an_error_on_all(void **state) {
    (void)state;
    static const int64_t worlds[] = {2, 3, 5};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        for (int kind = 0; kind < N_DIFFERENCES; kind++) {
            struct differing differing = {(enum difference)kind, (kind + (int64_t)w) % worlds[w]};
            if (!run_with_timeout(worlds[w], make_differing_calls, &differing))
                continue;
            for (int64_t rank = 0; rank < worlds[w]; rank++) {
                const char *text = board->texts[rank];
                char rank_text[32], on_rank[32];
                (void)snprintf(rank_text, sizeof rank_text, "rank %lld calls", (long long)differing.rank);
                (void)snprintf(on_rank, sizeof on_rank, " on rank %lld", (long long)differing.rank);
                bool is_about_calls = strstr(text, "made different calls on mesh(tp=") && strstr(text, on_rank);
                bool is_about_save = strstr(text, usual_call(differing.kind)) &&
                                     strstr(text, differences[kind].differing_call) && strstr(text, rank_text);
                if (differing_ops[kind].usual)
                    is_about_calls = is_about_calls && strstr(text, differing_ops[kind].usual) &&
                                     strstr(text, differing_ops[kind].differing);
                if (!is_about_save && !is_about_calls)
                    fail_msg("rank %lld, other %s on rank %lld: expected %s and %s of %s, got: %s", (long long)rank,
                             differences[kind].name, (long long)differing.rank, usual_call(differing.kind),
                             differences[kind].differing_call, rank_text, text);
            }
            folder_empty();
        }
}

/* The error about two long calls shows the tensors that differ. */
static int differ_in_tensor_47(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { N = 60 };
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *tensors[N];
    char names[N][32];
    const char *list[N];
    for (int i = 0; i < N; i++) {
        (void)snprintf(names[i], sizeof names[i], "layer.%d", i);
        list[i] = names[i];
        tensors[i] = dt_ones(ctx, DT_SHAPE(i == 47 && dt_rank(ctx) == 1 ? 4 : 5), .mesh = mesh, .place = "S(0)");
    }
    CHECK(dt_save_npz(in_folder("long.npz"), N, list, tensors) == DT_ERR_MISMATCH, "expected a mismatch");
    const char *text = dt_error_text(ctx);
    bool is_about_save =
        strstr(text, "layer.47=f32[5]") && strstr(text, "layer.47=f32[4]") && strstr(text, "long.npz\"");
    bool is_about_op = strstr(text, "call 48 is ones(size=[") != NULL; /* a rank has waited long for a late one */
    CHECK(is_about_save || is_about_op, "%s", text);
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void calls__that_are_long_are_shown_where_they_differ(void **state) {
    (void)state;
    if (run_with_timeout(3, differ_in_tensor_47, NULL))
        assert_int_equal(folder_count(), 0);
}

/* Ranks compare random draws, too. */
static int draw_different_numbers(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_generator *generator = dt_generator_new(ctx, dt_rank(ctx) == 1 ? 2 : 1);
    dt_tensor *t = dt_randn(ctx, DT_SHAPE(9), .mesh = mesh, .place = "S(0)", .generator = generator);
    CHECK(t, "%s", dt_error_text(ctx));
    CHECK(dt_save_npy(t, in_folder("random.npy")) == DT_ERR_MISMATCH, "expected a mismatch");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_generator_release(generator);
    dt_mesh_release(mesh);
    return 0;
}

static void save__compares_random_draws(void **state) {
    (void)state;
    if (run_with_timeout(3, draw_different_numbers, NULL))
        assert_int_equal(folder_count(), 0);
}

/* A call that is invalid on every rank is an agreed error; on one rank only, a mismatch. */
static int save_invalid(dt_ctx *ctx, void *arg) {
    bool on_one = *(const bool *)arg;
    int64_t n = dt_world(ctx), reversed[8], first = 0, one = 1;
    for (int64_t i = 0; i < n; i++)
        reversed[i] = n - 1 - i;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL), *back = dt_mesh_from_ranks(ctx, reversed, &n, 1, NULL);
    dt_mesh *alone = dt_mesh_from_ranks(ctx, &first, &one, 1, NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(9), .mesh = mesh, .place = "S(0)");
    dt_tensor *others[] = {dt_ones(ctx, DT_SHAPE(9), .mesh = back, .place = "S(0)"),
                           dt_ones(ctx, DT_SHAPE(9), .mesh = alone), dt_ones(ctx, DT_SHAPE(9))};
    static const char *const distinct[] = {"a", "b"}, *const same[] = {"a", "a"};
    bool invalid = !on_one || dt_rank(ctx) == 1;
    dt_status expected = on_one ? DT_ERR_MISMATCH : DT_ERR_VALUE;
    dt_status status = dt_save_npz(in_folder("x.npz"), 2, invalid ? same : distinct, (dt_tensor *[]){t, t});
    CHECK(status == expected && dt_error_status(ctx) == expected, "%s: %s", dt_status_name(status),
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    for (int i = 0; i < 3; i++) { /* several meshes, and plain tensors with distributed ones */
        expected = on_one ? DT_ERR_MISMATCH : DT_ERR_MESH;
        status = dt_save_npz(in_folder("x.npz"), 2, distinct, (dt_tensor *[]){t, invalid ? others[i] : t});
        CHECK(status == expected && dt_error_status(ctx) == expected, "%d: %s: %s", i, dt_status_name(status),
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    CHECK_OK(ctx, dt_save_npz(in_folder("x.npz"), 2, distinct, (dt_tensor *[]){t, t}));
    dt_mesh_release(mesh);
    dt_mesh_release(back);
    dt_mesh_release(alone);
    return 0;
}

static void save__refuses_invalid_calls_on_all_ranks(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 3; n++)
        for (int on_one = 0; on_one < 2; on_one++)
            if (run_with_timeout(n, save_invalid, &(bool){on_one})) {
                assert_int_equal(folder_count(), 1);
                folder_empty();
            }
}

/* Ranks do not load shards of two different files. */
static int load_two_files(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(chdir(in_folder(dt_rank(ctx) == 1 ? "one" : "two")) == 0, "chdir");
    dt_tensor *t = dt_load_npy(ctx, "same.npy", .mesh = mesh, .place = "S(0)");
    CHECK(fchdir(before) == 0 && close(before) == 0, "fchdir");
    CHECK(!t && dt_error_status(ctx) == DT_ERR_MISMATCH, "loaded: %s", dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), "ranks 0 and 1 read different files") && strstr(dt_error_text(ctx), "f32[9]"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void save_two_files(void) {
    dt_ctx *ctx = dt_init(NULL);
    static const char *const folders[] = {"one", "two"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mkdir(in_folder(folders[i]), 0700), 0);
        char name[32];
        (void)snprintf(name, sizeof name, "%s/same.npy", folders[i]);
        assert_int_equal(dt_save_npy(dt_ones(ctx, DT_SHAPE(9)), in_folder(name)), DT_OK);
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void load__compares_the_file(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("with the thread sanitizer ranks are threads, which share the working folder and limits");
    if (test_leads())
        save_two_files();
    if (!run_with_timeout(3, load_two_files, NULL))
        return;
    unlink(in_folder("one/same.npy"));
    unlink(in_folder("two/same.npy"));
    folder_empty();
}

/* The file system fails on one rank or on all: all report the same error, with the rank and the reason. */
struct limited {
    int64_t rank; /* -1: all */
    bool zip, named;
    rlim_t bytes;
};

static bool is_blocked(int number) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, number);
}

static int exceed_limit(dt_ctx *ctx, void *arg) {
    const struct limited *limited = arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(1000, 50), .mesh = n > 1 ? mesh : NULL, .place = n > 1 ? "S(0)" : NULL);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit small = {limited->bytes, before.rlim_max};
    if (limited->rank < 0 || limited->rank == dt_rank(ctx))
        setrlimit(RLIMIT_FSIZE, &small);
    dt__save_options options = {.named = limited->named, .limit = 1 << 30};
    const char *path = in_folder("limited");
    dt_status status =
        limited->zip ? dt__save_npz(path, 1, (const char *[]){"t"}, &t, &options) : dt__save_npy(t, path, &options);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(status == DT_ERR_SYSTEM, "%s: %s", dt_status_name(status), dt_error_text(ctx));
    post_error(ctx);
    struct sigaction action;
    sigset_t pending;
    sigaction(SIGXFSZ, NULL, &action);
    sigpending(&pending);
    CHECK(action.sa_handler == SIG_DFL && !is_blocked(SIGXFSZ) && !sigismember(&pending, SIGXFSZ), "SIGXFSZ");
    CHECK(n > 1 || limited->rank >= 0 || dt_failed(ctx), "no error");
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_save_npy(t, path));
    dt_mesh_release(mesh);
    return 0;
}

static void save__reports_the_rank_that_failed_and_why(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("with the thread sanitizer ranks are threads, which share the working folder and limits");
    static const int64_t worlds[] = {1, 2, 3, 5};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        for (int i = 0; i < 8; i++) {
            int64_t n = worlds[w], rank = i < 4 ? i % n : -1;
            struct limited limited = {rank, i % 2, i / 2 % 2,
                                      100}; /* small, because the last rank may write only the tail */
            if (!run_with_timeout(n, exceed_limit, &limited))
                continue;
            for (int64_t r = 0; r < n; r++) {
                char expected[32];
                (void)snprintf(expected, sizeof expected, "rank %lld: ", (long long)rank);
                if (!strstr(board->texts[r], limited.zip ? "save_npz: " : "save_npy: ") ||
                    !strstr(board->texts[r], "limited: cannot be written: File too large") ||
                    (rank >= 0 && n > 1 && !strstr(board->texts[r], expected)))
                    fail_msg("rank %lld of %lld, %s: %s", (long long)r, (long long)n, expected, board->texts[r]);
                assert_string_equal(board->texts[r], board->texts[0]);
            }
            assert_int_equal(folder_count(), 1);
            folder_empty();
        }
}

/* A rank outside the mesh gets no error. */
static int fail_without_last_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx) - 1;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(9), .mesh = mesh, .place = "S(0)");
    dt_status status = dt_save_npy(t, in_folder("no/such/folder.npy"));
    CHECK(status == (dt_rank(ctx) == n ? DT_OK : DT_ERR_SYSTEM) && status == dt_error_status(ctx), "%s",
          dt_error_text(ctx));
    if (status != DT_OK)
        CHECK_OK(ctx, dt_error_clear(ctx)); /* an agreed error: clearing it is not collective */
    CHECK_OK(ctx, dt_save_npy(t, in_folder("beside.npy")));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    dt_mesh_release(mesh);
    return 0;
}

static void save__does_not_fail_on_ranks_outside_the_mesh(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 4; n++)
        if (run_with_timeout(n, fail_without_last_rank, NULL)) {
            assert_int_equal(folder_count(), 1);
            folder_empty();
        }
}

/* A full disk: a small tmpfs in a mount namespace of the test, which ranks that mpirun started are not in. */
static int fill_disk(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(1 << 18), .mesh = mesh, .place = "S(0)");
    for (int i = 0; i < 5; i++) {
        dt_status status = i % 2 ? dt_save_npz(in_folder("disk/full"), 1, (const char *[]){"t"}, &t)
                                 : dt_save_npy(t, in_folder("disk/full"));
        CHECK(status == DT_ERR_SYSTEM && dt_error_status(ctx) == DT_ERR_SYSTEM, "%s: %s", dt_status_name(status),
              dt_error_text(ctx));
        CHECK(strstr(dt_error_text(ctx), "disk/full: cannot be written: No space left on device"), "%s",
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void run_on_small_disk(void) {
    if (mkdir(in_folder("disk"), 0700) || unshare(CLONE_NEWNS) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", in_folder("disk"), "tmpfs", 0, "size=256k,mode=700")) {
        fprintf(stderr, "skipped: cannot mount a small disk: %s\n", strerror(errno));
        _exit(77);
    }
    static const int64_t worlds[] = {1, 2, 3, 5};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        run_with_timeout(worlds[w], fill_disk, NULL);
    DIR *disk = opendir(in_folder("disk"));
    int n = 0;
    while (disk && readdir(disk))
        n++;
    _exit(n == 2 ? 0 : 1);
}

static void save__reports_a_full_disk(void **state) {
    (void)state;
    if (test_started_ranks())
        return;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        run_on_small_disk();
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    folder_empty();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* A path, and the result of saving to it. */
struct at_path {
    const char *path;
    dt_status status; /* on all ranks */
    const char *text;
};

static int save_at_path(dt_ctx *ctx, void *arg) {
    const struct at_path *at = arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *t = dt_distribute_tensor(dt_arange(ctx, 0, 7, 1), mesh, "S(0)", .everywhere = true);
    dt_status status = dt_save_npy(t, in_folder(at->path));
    CHECK(status == at->status && dt_error_status(ctx) == at->status, "%s: expected %s, got %s: %s", at->path,
          dt_status_name(at->status), dt_status_name(status), dt_error_text(ctx));
    if (at->text)
        CHECK(strstr(dt_error_text(ctx), at->text), "%s: expected %s, got %s", at->path, at->text,
              dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    if (status == DT_OK) {
        dt_tensor *again = dt_load_npy(ctx, in_folder(at->path), .mesh = mesh, .place = "S(0)");
        CHECK(tensors_equal(again, t), "%s: %s", at->path, dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

/* Returns whether this process checks what the ranks have left. */
static bool save_on_ranks(const char *path, dt_status status, const char *text) {
    struct at_path at = {path, status, text};
    bool checks = false;
    for (int64_t n = 1; n <= 3; n += 2)
        checks |= run_with_timeout(n, save_at_path, &at);
    return checks;
}

static struct stat info_of(const char *name) {
    struct stat info = {0};
    assert_int_equal(lstat(in_folder(name), &info), 0);
    return info;
}

/* A link in the folder, made by the process that checks. */
static void make_link(const char *target, const char *name) {
    if (test_leads())
        assert_int_equal(symlink(target, in_folder(name)), 0);
}

static void save__follows_links_and_keeps_the_mode(void **state) {
    (void)state;
    if (test_leads())
        assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    make_link("sub/new.npy", "dangling");
    if (save_on_ranks("dangling", DT_OK, NULL)) {
        assert_true(S_ISLNK(info_of("dangling").st_mode));
        assert_true(S_ISREG(info_of("sub/new.npy").st_mode));
        assert_int_equal(chmod(in_folder("sub/new.npy"), 0640), 0);
    }
    make_link("dangling", "chain");
    if (save_on_ranks("chain", DT_OK, NULL)) {
        assert_true(S_ISLNK(info_of("chain").st_mode));
        assert_int_equal(info_of("sub/new.npy").st_mode & 07777, 0640);
    }
    make_link(in_folder("sub/new.npy"), "absolute");
    if (save_on_ranks("absolute", DT_OK, NULL)) {
        assert_true(S_ISLNK(info_of("absolute").st_mode));
        assert_int_equal(info_of("sub/new.npy").st_mode & 07777, 0640);
    }
    make_link("loop", "loop");
    (void)save_on_ranks("loop", DT_ERR_SYSTEM, "Too many levels of symbolic links");
    mode_t mask = umask(027);
    bool checks = save_on_ranks("plain.npy", DT_OK, NULL);
    umask(mask);
    if (!checks)
        return;
    assert_int_equal(info_of("plain.npy").st_mode & 07777, 0640);
    assert_int_equal(folder_count(), 6);
    unlink(in_folder("sub/new.npy"));
    folder_empty();
}

static void save__to_other_than_regular_files_is_refused(void **state) {
    (void)state;
    if (test_leads()) {
        assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
        assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
        (void)mknod(in_folder("node"), S_IFCHR | 0666, (dev_t)0x103); /* needs root */
    }
    make_link("/dev/null", "null");
    save_on_ranks("sub", DT_ERR_VALUE, "expected a regular file or a new name, got a directory");
    save_on_ranks("null", DT_ERR_VALUE, "expected a regular file or a new name, got a character device");
    save_on_ranks("no/such/folder.npy", DT_ERR_SYSTEM, "cannot be created: No such file or directory");
    if (access(in_folder("node"), F_OK) == 0 && save_on_ranks("node", DT_ERR_VALUE, "got a character device"))
        assert_true(S_ISCHR(info_of("node").st_mode));
    if (!save_on_ranks("fifo", DT_ERR_VALUE, "expected a regular file or a new name, got a FIFO"))
        return;
    assert_true(S_ISFIFO(info_of("fifo").st_mode));
    folder_empty();
}

/* As another user, in a child process: a read-only file, a read-only folder, an owner that cannot be kept. */
static void save_as_another_user(void) {
    if (setgid(12345) || setuid(12345))
        _exit(77);
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(3));
    static const struct at_path cases[] = {
        {"theirs", DT_ERR_SYSTEM, "the owner (0:0) cannot be kept: Operation not permitted"},
        {"readonly", DT_ERR_SYSTEM, "cannot be replaced: Permission denied"},
        {"closed/new", DT_ERR_SYSTEM, "cannot be created: Permission denied"},
        {"planted", DT_ERR_SYSTEM, "a link of another user in a folder that all may write"},
        {"mine", DT_OK, NULL},
    };
    int code = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_status status = dt_save_npy(t, in_folder(cases[i].path));
        if (status == cases[i].status && (!cases[i].text || strstr(dt_error_text(ctx), cases[i].text))) {
            dt_error_clear(ctx);
            continue;
        }
        fprintf(stderr, "%s: %s: %s\n", cases[i].path, dt_status_name(status), dt_error_text(ctx));
        code = 1;
        dt_error_clear(ctx);
    }
    dt_close(ctx);
    _exit(code);
}

static void create_file(const char *name, mode_t mode, uid_t owner) {
    int fd = open(in_folder(name), O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0 && fchmod(fd, mode) == 0 && fchown(fd, owner, owner) == 0);
    close(fd);
}

static void save__needs_permission(void **state) {
    (void)state;
    if (geteuid() != 0)
        test_skip("changing owners and users needs root");
    if (test_started_ranks()) /* it needs no ranks, and other users do not see the folder of a launch */
        return;
    assert_int_equal(chmod(folder, 01777), 0);
    create_file("theirs", 0666, 0);
    create_file("readonly", 0444, 0);
    create_file("mine", 0600, 12345);
    assert_int_equal(mkdir(in_folder("closed"), 0755), 0);
    create_file("secret", 0666, 12345);
    assert_int_equal(symlink("secret", in_folder("planted")), 0);
    assert_int_equal(lchown(in_folder("planted"), 23456, 23456), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        save_as_another_user();
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(folder_count(), 6);
    assert_int_equal(info_of("mine").st_uid, 12345);
    assert_int_equal(chmod(folder, 0700), 0);
    folder_empty();
}

static void save__by_root_keeps_the_owner(void **state) {
    (void)state;
    if (geteuid() != 0)
        test_skip("changing owners and users needs root");
    if (test_leads())
        create_file("mine", 0600, 12345);
    if (!save_on_ranks("mine", DT_OK, NULL))
        return;
    assert_int_equal(info_of("mine").st_uid, 12345);
    assert_int_equal(info_of("mine").st_gid, 12345);
    assert_int_equal(info_of("mine").st_mode & 07777, 0600);
    folder_empty();
}

/* Loading from a path that is not a regular file does not block. */
static int load_at_path(dt_ctx *ctx, void *arg) {
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *t = dt_load_npy(ctx, arg, .mesh = mesh, .place = "S(0)");
    CHECK(!t && dt_error_status(ctx) == DT_ERR_VALUE, "loaded: %s", dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), "expected a regular file, got a"), "%s", dt_error_text(ctx));
    post_error(ctx);
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_load_npy(ctx, arg), "expected an error, got a tensor");
    dt_error_clear(ctx);
    dt_mesh_release(mesh);
    return 0;
}

static void load__of_other_than_regular_files_is_refused(void **state) {
    (void)state;
    if (test_leads())
        assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    char fifo[400];
    bool checks = false;
    (void)snprintf(fifo, sizeof fifo, "%s", in_folder("fifo"));
    for (int64_t n = 1; n <= 3; n++) {
        run_with_timeout(n, load_at_path, fifo);
        run_with_timeout(n, load_at_path, "/dev/zero");
        checks |= run_with_timeout(n, load_at_path, folder);
    }
    if (checks)
        folder_empty();
}

/* A file that one rank cannot open. */
static int load_with_failure(dt_ctx *ctx, void *arg) {
    int64_t n = dt_world(ctx), failing = *(const int64_t *)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(9), .mesh = mesh, .place = "S(0)");
    CHECK_OK(ctx, dt_save_npy(t, in_folder("some.npy")));
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    struct rlimit small = {0, before.rlim_max};
    if (dt_rank(ctx) == failing)
        setrlimit(RLIMIT_NOFILE, &small);
    dt_tensor *loaded = dt_load_npy(ctx, in_folder("some.npy"), .mesh = mesh, .place = "S(0)");
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(!loaded && dt_error_status(ctx) == DT_ERR_SYSTEM, "%s", dt_error_text(ctx));
    post_error(ctx);
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(tensors_equal(dt_load_npy(ctx, in_folder("some.npy"), .mesh = mesh, .place = "S(0)"), t), "%s",
          dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void load__reports_the_rank_that_failed_and_why(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("with the thread sanitizer ranks are threads, which share the working folder and limits");
    for (int64_t n = 2; n <= 5; n++)
        for (int64_t failing = 0; failing < n; failing += 2) {
            if (!run_with_timeout(n, load_with_failure, &failing))
                continue;
            char expected[64];
            (void)snprintf(expected, sizeof expected, "load_npy: rank %lld: ", (long long)failing);
            for (int64_t r = 0; r < n; r++) {
                if (!strstr(board->texts[r], expected) || !strstr(board->texts[r], "Too many open files"))
                    fail_msg("rank %lld of %lld: %s", (long long)r, (long long)n, board->texts[r]);
                assert_string_equal(board->texts[r], board->texts[0]);
            }
            folder_empty();
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls__of_a_rank_that_differ_are_an_error_on_all),
        cmocka_unit_test(calls__that_are_long_are_shown_where_they_differ),
        cmocka_unit_test(save__compares_random_draws),
        cmocka_unit_test(save__refuses_invalid_calls_on_all_ranks),
        cmocka_unit_test(load__compares_the_file),
        cmocka_unit_test(save__reports_the_rank_that_failed_and_why),
        cmocka_unit_test(save__does_not_fail_on_ranks_outside_the_mesh),
        cmocka_unit_test(save__reports_a_full_disk),
        cmocka_unit_test(save__follows_links_and_keeps_the_mode),
        cmocka_unit_test(save__to_other_than_regular_files_is_refused),
        cmocka_unit_test(save__needs_permission),
        cmocka_unit_test(save__by_root_keeps_the_owner),
        cmocka_unit_test(load__of_other_than_regular_files_is_refused),
        cmocka_unit_test(load__reports_the_rank_that_failed_and_why),
    };
    return cmocka_run_group_tests(tests, set_up, folder_end);
}
