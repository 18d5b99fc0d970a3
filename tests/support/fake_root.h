/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder that takes the place of / for functions that read files of /proc and /sys below a root: a test writes there
 * what the machine is to look like. One per test program.
 */
#ifndef DT_TESTS_FAKE_ROOT_H
#define DT_TESTS_FAKE_ROOT_H

/* Set-up and tear-down of a test or of a group of tests. */
int fake_root_make(void **state);
int fake_root_remove(void **state);

const char *fake_root(void);
/* Writes a file, such as /proc/meminfo, below the root, with its folders. */
void fake_root_write(const char *name, const char *text);

#endif
