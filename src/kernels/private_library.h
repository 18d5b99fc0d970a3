/* SPDX-License-Identifier: Apache-2.0
 *
 * Private copies of libraries that compute for us, in a link namespace of their own (dlmopen) with a C library whose
 * environment limits each of them to one thread: our pool divides the work, into pieces that do not depend on the
 * number of threads. A program that uses the same library has another copy, with a thread count of its own. Libraries
 * are never unloaded.
 */
#ifndef DT_KERNELS_PRIVATE_LIBRARY_H
#define DT_KERNELS_PRIVATE_LIBRARY_H

#include <stdbool.h>

/* Opens the first of these libraries that is installed; the list ends with NULL. NULL if none is, or where the system
 * has no namespaces. From any thread. */
void *dt__private_library(const char *const *names);
/* Sets a pointer to a function of the library; false, and NULL, if the library is NULL or lacks it. */
bool dt__private_function(void *library, const char *name, void *function);

#endif
