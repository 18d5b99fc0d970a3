/* SPDX-License-Identifier: Apache-2.0
 *
 * The BLAS library and a program that uses OpenBLAS too: neither sees the thread count of the other.
 */
#include "dtensor/dtensor.h"
#include "kernels/blas.h"
#include "support/check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { N = 700 };

static int n_threads_of_process(void) {
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks))
        n++;
    closedir(tasks);
    return n - 2; /* . and .. */
}

/* Copies the bits of a product of two random matrices to `out`. */
static void multiply(dt_ctx *ctx, float *out) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_generator_state start = {7, 0};
    assert_int_equal(dt_generator_restore(dt_generator_default(ctx), start), DT_OK);
    dt_tensor *a = dt_randn(ctx, DT_SHAPE(N, N)), *b = dt_randn(ctx, DT_SHAPE(N, N));
    dt_tensor *c = dt_matmul(a, b);
    assert_non_null(c);
    memcpy(out, dt_data(c), sizeof(float) * N * N);
    dt_scope_end(scope);
}

/* As if the program were linked with it. */
static void *openblas_of_the_program(void) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        test_skip("OpenBLAS is not installed");
    return library;
}

static void blas__leaves_the_thread_count_of_the_program_alone(void **state) {
    (void)state;
    void *library = openblas_of_the_program();
    void (*set)(int n);
    int (*get)(void);
    *(void **)&set = dlsym(library, "openblas_set_num_threads");
    *(void **)&get = dlsym(library, "openblas_get_num_threads");
    if (!set || !get)
        test_skip("this OpenBLAS does not export its number of threads");
    size_t bytes = sizeof(float) * N * N;
    float *first = malloc(bytes), *again = malloc(bytes);
    assert_true(first && again);
    for (int threads = 1; threads <= 2; threads++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .threads = threads});
        assert_non_null(ctx);
        set(2);
        int count = get(); /* what OpenBLAS makes of 2 on this machine */
        multiply(ctx, threads == 1 ? first : again);
        assert_int_equal(get(), count);
        set(1); /* later changes are the program's own, too, and change no bits */
        multiply(ctx, again);
        assert_int_equal(get(), 1);
        assert_memory_equal(first, again, bytes);
        assert_int_equal(dt_close(ctx), 0);
    }
    free(first);
    free(again);
}

static void blas__starts_no_threads_and_keeps_the_environment(void **state) {
    (void)state;
    dt__blas blas;
    setenv("OPENBLAS_NUM_THREADS", "3", 1);
    int before = n_threads_of_process();
    if (!dt__blas_load(&blas))
        test_skip("OpenBLAS is not installed");
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[4];
    blas.sgemm(DT__BLAS_ROW_MAJOR, DT__BLAS_PLAIN, DT__BLAS_PLAIN, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    assert_true(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
    assert_int_equal(n_threads_of_process(), before);
    assert_string_equal(getenv("OPENBLAS_NUM_THREADS"), "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blas__starts_no_threads_and_keeps_the_environment),
        cmocka_unit_test(blas__leaves_the_thread_count_of_the_program_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
