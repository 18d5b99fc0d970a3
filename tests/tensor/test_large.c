/* SPDX-License-Identifier: Apache-2.0
 *
 * More than 2^31 elements. ctest: labels=long timeout=900
 *
 * mpi: no: it needs gigabytes on every rank; mpi.large_counts moves as many elements
 */
#include "tensor/tensors.h"

#include <stdlib.h>
#include <unistd.h>

static int use_large_tensor(dt_ctx *ctx, void *arg) {
    const char *path = arg;
    const int64_t n = (INT64_C(1) << 31) + 11;
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    dt_tensor *t = dt_arange(ctx, 0, (double)n, 1, .dtype = DT_U8, .mesh = mesh, .place = "S(0)"); /* wraps at 256 */
    CHECK(t, "%s", dt_error_text(ctx));
    char *text = dt_format(t);
    CHECK(dt_rank(ctx) || strstr(text, "[ 0  1  2 ...  8  9 10]"), "%s", text);
    free(text);
    CHECK_OK(ctx, dt_save_npy(t, path));
    dt_tensor *full = dt_full_tensor(t);
    CHECK(dt_tensor_elements(full) == n, "%lld", (long long)dt_tensor_elements(full));
    CHECK(dt_item(dt_select(full, 0, -1)) == 10 && dt_item(dt_select(full, 0, (INT64_C(1) << 31) - 1)) == 255,
          "an element of the full tensor is wrong");
    dt_tensor *tail = dt_clone(dt_slice(full, 0, n - 22, n, 2));
    for (int64_t i = 0; i < 11; i++)
        CHECK(((uint8_t *)dt_data(tail))[i] == (uint8_t)(n - 22 + 2 * i), "an element of the strided copy is wrong");
    dt_drop(t);
    dt_tensor *again = dt_load_npy(ctx, path, .mesh = mesh, .place = "_S(0,3)");
    dt_tensor *back = dt_full_tensor(again);
    CHECK(memcmp(dt_data(back), dt_data(full), (size_t)n) == 0, "the loaded tensor differs");
    dt_mesh_release(mesh);
    return 0;
}

static void tensors__have_more_than_2_31_elements(void **state) {
    (void)state;
    char path[] = "/tmp/dtensor_large_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    run_ranks(2, use_large_tensor, path);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tensors__have_more_than_2_31_elements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
