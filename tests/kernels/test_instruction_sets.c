/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/support.h"

static void tables__are_found_by_name(void **state) {
    (void)state;
    assert_ptr_equal(dt__kernels_named("plain"), &dt__kernels_plain);
    assert_non_null(dt__kernels_named("baseline"));
    assert_null(dt__kernels_named("sse9"));
    assert_null(dt__kernels_named(NULL));
    for (int t = 0; t < N_NAMES; t++)
        if (table_at(t))
            assert_string_equal(table_at(t)->name, table_names[t]);
}

static void best__is_the_last_that_runs_unless_the_environment_names_another(void **state) {
    (void)state;
    unsetenv("DTENSOR_KERNELS");
    int last = N_NAMES - 1;
    while (!table_at(last))
        last--;
    assert_string_equal(dt__kernels_best()->name, table_names[last]);
    for (int t = 0; t < N_NAMES; t++) {
        setenv("DTENSOR_KERNELS", table_names[t], 1);
        assert_string_equal(dt__kernels_best()->name, table_at(t) ? table_names[t] : table_names[last]);
    }
    setenv("DTENSOR_KERNELS", "no such table", 1);
    assert_string_equal(dt__kernels_best()->name, table_names[last]);
    unsetenv("DTENSOR_KERNELS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables__are_found_by_name),
        cmocka_unit_test(best__is_the_last_that_runs_unless_the_environment_names_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
