/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of MPI that the library uses, as a table. The only code that is compiled against MPI is the module
 * (src/mpi), one shared object per MPI library, which exports one such table as dt__mpi_functions. The core opens it at
 * run time (mpi_library.c) and refers to no symbol of MPI. All functions are called by the context's own thread.
 * Failures are returned, with MPI's text.
 */
#ifndef DT_MPI_MPI_H
#define DT_MPI_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT__MPI_TABLE_VERSION = 3, DT__MPI_ERROR_BYTES = 512 };
#define DT__MPI_TABLE_SYMBOL "dt__mpi_functions"

/* A communicator of the library's own. */
typedef struct dt__mpi_world dt__mpi_world;

/* A message in transfer, as MPI represents it: an integer or a pointer. */
typedef struct dt__mpi_request {
    uint64_t bits;
} dt__mpi_request;

typedef struct dt__mpi_table {
    int version;
    const char *name; /* "openmpi" or "mpich" */
    /* Duplicates the program's communicator (comm points to it), or that of all processes if comm is NULL, after
     * initializing MPI where the program has not. nodes[rank] is the lowest rank of the same node, in memory that is
     * freed with the world. Collective. NULL after a failure. */
    dt__mpi_world *(*open)(const void *comm, int *rank, int *n_ranks, const int **nodes, char *error);
    /* Clean: no data of this rank is in transfer, and all ranks close or have closed. MPI itself is finalized when
     * the process exits, if the module has initialized it and every world was closed cleanly. */
    void (*close)(dt__mpi_world *world, bool clean);
    /* Collective, blocking, for dt_init only. */
    bool (*all_gather)(dt__mpi_world *world, const void *src, void *dst, size_t bytes, char *error);
    bool (*broadcast)(dt__mpi_world *world, void *data, size_t bytes, int root, char *error);
    /* Nonblocking messages of at most 2^30 bytes; from -1: from any rank. tag: 0 to 32767. */
    bool (*send)(dt__mpi_world *world, const void *data, size_t bytes, int to, int tag, dt__mpi_request *out);
    bool (*receive)(dt__mpi_world *world, void *data, size_t bytes, int from, int tag, dt__mpi_request *out);
    /* *done is set when the message is complete, and with it the source and the size of one received. */
    bool (*test)(dt__mpi_request *request, bool *done, int *source, size_t *bytes);
    /* Whether a test that finds its message incomplete yields the core. */
    bool (*test_yields)(void);
    /* Gives up a receive; false: it has been matched already, and will complete. */
    bool (*cancel)(dt__mpi_request *request);
    /* Has MPI_Finalize call a function if the world is open then, while communication is still possible. */
    void (*watch)(dt__mpi_world *world, void (*on_finalize)(void *arg), void *arg);
    /* Whether the program has initialized MPI, and may call it. */
    bool (*is_shared)(void);
    /* Whether the program has finalized MPI. From then on no function calls MPI, and those that can fail do. */
    bool (*is_finalized)(void);
    /* Whether the thread level of MPI forbids a context with this many threads in this thread; writes the warning. */
    bool (*lacks_threads)(int n_threads, char *warning);
    /* Receives and drops messages that have arrived without a posted receive. */
    void (*discard)(dt__mpi_world *world);
} dt__mpi_table;

#endif
