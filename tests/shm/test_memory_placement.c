/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is placed on a NUMA node of this machine.
 */
#include "support/check.h"

#include "shm/shm_operation.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void memory__is_placed_on_a_node(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    int fd = memfd_create("test", MFD_CLOEXEC), mode = -1;
    assert_int_equal(ftruncate(fd, 2 * BYTES), 0);
    char *memory = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    errno = 0;
    assert_false(dt__place_memory(memory, BYTES, -1));
    assert_false(dt__place_memory(memory, BYTES, DT__MAX_NODES));
    assert_false(dt__place_memory(memory, BYTES, DT__MAX_NODES - 1)); /* there is none */
    if (dt__place_memory(memory, BYTES, 0)) {
        unsigned long nodes[DT__MAX_NODES / 64] = {0};
        assert_int_equal(syscall(SYS_get_mempolicy, &mode, nodes, DT__MAX_NODES + 1ul, memory, MPOL_F_ADDR), 0);
        assert_int_equal(mode, MPOL_PREFERRED);
        assert_int_equal(nodes[0], 1);
        assert_int_equal(syscall(SYS_get_mempolicy, &mode, nodes, DT__MAX_NODES + 1ul, memory + BYTES, MPOL_F_ADDR),
                         0);
        assert_int_equal(mode, MPOL_DEFAULT);
    } else {
        print_message("memory policies are not allowed here\n");
    }
    assert_int_equal(errno, 0);
    memset(memory, 1, 2 * BYTES);
    munmap(memory, 2 * BYTES);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory__is_placed_on_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
