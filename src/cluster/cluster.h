/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks on several nodes: the mpi transport.
 */
#ifndef DT_CLUSTER_CLUSTER_H
#define DT_CLUSTER_CLUSTER_H

#include "comm/comm.h"

extern const dt__transport dt__transport_mpi;

/* Data up to this size is copied when it is sent to another node; larger data is read from the memory of the caller. */
size_t dt__packets_max_bytes(void);

/* Whether this process was started by an MPI launcher, or has initialized MPI. */
bool dt__mpi_is_launched(void);

#endif
