/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and opening the MPI module.
 */
#ifndef DT_CLUSTER_MPI_LIBRARY_H
#define DT_CLUSTER_MPI_LIBRARY_H

#include "mpi/mpi.h"

/* Opens the module, which stays open; NULL with the text of the error. */
const dt__mpi_table *dt__mpi_load(char *error, size_t error_bytes);

#endif
