/* SPDX-License-Identifier: Apache-2.0
 *
 * How ranks of one host share cores.
 */
#include "support/check.h"

#include "cluster/core_shares.h"

static void assert_shared(const dt__rank_cpus *ranks, int64_t n, int64_t total, const int64_t *own) {
    for (int64_t me = 0; me < n; me++) {
        int64_t cores;
        assert_int_equal(dt__share_cores(ranks, n, me, &cores), total);
        assert_int_equal(cores, own[me]);
    }
}

/* As mpirun binds them: to nothing, to cores, to sockets, the first with three ranks and the second with two. */
static void cores__of_equal_sets_are_shared(void **state) {
    (void)state;
    assert_shared((dt__rank_cpus[]){{7, 16}, {7, 16}, {7, 16}}, 3, 16, (int64_t[]){5, 5, 5});
    assert_shared((dt__rank_cpus[]){{1, 1}, {2, 1}, {3, 1}, {4, 1}}, 4, 4, (int64_t[]){1, 1, 1, 1});
    assert_shared((dt__rank_cpus[]){{1, 8}, {1, 8}, {2, 8}, {1, 8}, {2, 8}}, 5, 16, (int64_t[]){2, 2, 4, 2, 4});
    assert_shared((dt__rank_cpus[]){{9, 2}, {9, 2}, {9, 2}}, 3, 2, (int64_t[]){1, 1, 1});
    assert_shared((dt__rank_cpus[]){{0, 4}}, 1, 4, (int64_t[]){4});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores__of_equal_sets_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
