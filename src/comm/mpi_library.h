/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and opening the MPI module.
 */
#ifndef DT_COMM_MPI_LIBRARY_H
#define DT_COMM_MPI_LIBRARY_H

#include "mpi/mpi.h"

/* Whether this process was started by an MPI launcher, or has initialised MPI. */
bool dt__mpi_is_launched(void);
/* Opens the module, which stays open; NULL with the text of the error (DT__MPI_ERROR_BYTES). */
const dt__mpi_table *dt__mpi_load(char *error);

#endif
