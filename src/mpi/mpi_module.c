/* SPDX-License-Identifier: Apache-2.0
 *
 * The module: the table of mpi/mpi.h on top of one MPI library. It is compiled once for each MPI that is found,
 * with that MPI's own flags; nothing else in the project sees mpi.h. DTENSOR_MPI_NAME is the name of that MPI.
 *
 * If the program has not initialized MPI, the module does, and finalizes it when the process exits. It does not
 * finalize MPI if a world was not closed, or not cleanly: MPI_Finalize waits for the other ranks, and a rank that ends
 * because of an error would wait for ranks that wait for it.
 */
#define _DEFAULT_SOURCE
#include "mpi/mpi.h"

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dt__mpi_world {
    MPI_Comm comm;
    int *nodes;
    bool has_hosts; /* several */
    void (*on_finalize)(void *arg);
    void *arg;
    struct dt__mpi_world *next; /* of the open ones, or of the closed ones */
};

_Static_assert(sizeof(MPI_Request) <= sizeof(dt__mpi_request), "a request fits");

enum { FINALIZE_SECONDS = 10 };

static int n_open;           /* worlds that are not closed */
static bool has_initialized; /* this module, not the program */
static bool was_finalized;   /* MPI, by the program, or by this module at exit */
static bool was_unclean;     /* one was closed with messages in transfer, or with ranks that did not close theirs */
static struct dt__mpi_world *open_worlds;
static struct dt__mpi_world *closed; /* worlds whose communicators are freed when MPI is finalized */
static int *nodes_of_all;            /* those of MPI_COMM_WORLD, once they are known */
static int key = MPI_KEYVAL_INVALID;

static bool check(int code, const char *call, char *error) {
    int n = 0;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    if (code == MPI_SUCCESS)
        return true;
    if (error) {
        MPI_Error_string(code, text, &n);
        snprintf(error, DT__MPI_ERROR_BYTES, "%.64s: %.400s", call, text); /* 512 bytes */
    }
    return false;
}

/* Waits for a collective that a call has started. The waits of MPICH itself never yield: where ranks share cores, each
 * of its collectives costs every rank that arrives early a time slice. */
static bool wait_for(int code, MPI_Request *request, const char *call, char *error) {
    int done = 0;
    while (code == MPI_SUCCESS && (code = MPI_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done)
        sched_yield();
    return check(code, call, error);
}

/* Receives the messages that other ranks have sent, unaware that this one was closing. */
static void discard_messages(MPI_Comm comm) {
    int found = 1, n = 0;
    MPI_Status status;
    while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &status) == MPI_SUCCESS && found) {
        MPI_Get_count(&status, MPI_BYTE, &n);
        void *message = malloc(n > 0 ? (size_t)n : 1);
        if (!message)
            return;
        MPI_Recv(message, n, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
        free(message);
    }
}

/* Leaves MPI alone until all ranks have left the last barrier, for MPICH over UCX's TCP. Its MPI_Finalize closes the
 * connections to all ranks, waits until these have acknowledged it, and then waits in the process manager's barrier,
 * where it acknowledges nothing. A rank that acknowledges while it is still in an earlier barrier, and closes later,
 * waits forever for one that is in the process manager's. A rank that makes no progress before it closes acknowledges
 * after its own request, which the other one has then received. The time is a multiple of what a barrier takes. */
static void keep_still(MPI_Comm comm) {
#ifdef MPICH_VERSION
    enum { N_BARRIERS = 20 };
    const double min_seconds = 0.1, max_seconds = 2;
    MPI_Barrier(comm);
    double seconds = MPI_Wtime();
    MPI_Barrier(comm);
    seconds = N_BARRIERS * (MPI_Wtime() - seconds);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    seconds = seconds < min_seconds ? min_seconds : seconds > max_seconds ? max_seconds : seconds;
    usleep((useconds_t)(1e6 * seconds));
#else
    (void)comm;
#endif
}

/* Called by MPI_Finalize, that of the program or of this module, while communication is still possible. Communicators
 * are kept until then, so that a message to a closed world is never taken for one to a later world. */
static int free_closed(MPI_Comm self, int self_key, void *value, void *extra) {
    (void)self, (void)self_key, (void)value, (void)extra;
    bool is_clean = !was_unclean && !n_open;
    for (dt__mpi_world *world = open_worlds; world; world = world->next)
        if (world->on_finalize)
            world->on_finalize(world->arg);
    was_finalized = true;
    while (closed) {
        dt__mpi_world *world = closed;
        closed = world->next;
        if (is_clean) {
            MPI_Request request;
            wait_for(MPI_Ibarrier(world->comm, &request), &request, "MPI_Ibarrier", NULL);
            discard_messages(world->comm);
            if (!closed && world->has_hosts)
                keep_still(world->comm);
            MPI_Comm_free(&world->comm);
        }
        free(world);
    }
    return MPI_SUCCESS;
}

static void *end_process(void *status) {
    sleep(FINALIZE_SECONDS);
    fflush(NULL);
    _exit((int)(intptr_t)status);
}

/* MPICH over UCX's TCP may wait in MPI_Finalize for a rank that is past it, with every message of the library
 * delivered: the process ends then without it. */
static void finalize_at_exit(int status, void *unused) {
    int finalized = 0;
    pthread_t watchdog;
    (void)unused;
    MPI_Finalized(&finalized);
    if (finalized || n_open || was_unclean)
        return;
    if (!pthread_create(&watchdog, NULL, end_process, (void *)(intptr_t)status))
        pthread_detach(watchdog);
    MPI_Finalize();
}

/* Only the context's thread calls MPI. */
static bool initialize(char *error) {
    int initialized = 0, finalized = 0, level;
    MPI_Finalized(&finalized);
    if (finalized) {
        snprintf(error, DT__MPI_ERROR_BYTES, "MPI_Finalize was called in this process before dt_init");
        return false;
    }
    MPI_Initialized(&initialized);
    if (initialized)
        return true;
    if (!check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread", error))
        return false;
    on_exit(finalize_at_exit, NULL);
    has_initialized = true;
    return true;
}

/* nodes[i]: the lowest rank on the node of rank i. */
static bool find_nodes(MPI_Comm comm, int rank, int *nodes, char *error) {
    MPI_Comm node = MPI_COMM_NULL;
    int lowest = rank;
    bool found = check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node),
                       "MPI_Comm_split_type", error) &&
                 check(MPI_Bcast(&lowest, 1, MPI_INT, 0, node), "MPI_Bcast", error) &&
                 check(MPI_Allgather(&lowest, 1, MPI_INT, nodes, 1, MPI_INT, comm), "MPI_Allgather", error);
    if (node != MPI_COMM_NULL)
        MPI_Comm_free(&node);
    return found;
}

/* Those of MPI_COMM_WORLD are found once, and kept: all of its worlds have the same ranks. */
static bool set_nodes(dt__mpi_world *world, MPI_Comm base, int rank, int n_ranks, char *error) {
    if (base == MPI_COMM_WORLD && nodes_of_all) {
        world->nodes = nodes_of_all;
    } else {
        world->nodes = malloc((size_t)n_ranks * sizeof *world->nodes);
        if (!world->nodes) {
            snprintf(error, DT__MPI_ERROR_BYTES, "out of memory");
            return false;
        }
        if (!find_nodes(world->comm, rank, world->nodes, error))
            return false;
        nodes_of_all = base == MPI_COMM_WORLD ? world->nodes : nodes_of_all;
    }
    for (int i = 0; i < n_ranks; i++)
        world->has_hosts = world->has_hosts || world->nodes[i] != world->nodes[0];
    return true;
}

static void close_world(dt__mpi_world *world, bool clean) {
    n_open--;
    was_unclean = was_unclean || !clean;
    if (world->nodes != nodes_of_all)
        free(world->nodes);
    world->nodes = NULL;
    for (dt__mpi_world **link = &open_worlds; *link; link = &(*link)->next)
        if (*link == world) {
            *link = world->next;
            break;
        }
    world->next = closed;
    closed = world;
}

/* Under the default error handler, a communicator that MPI cannot duplicate ends the program: it is refused
 * beforehand. */
static bool check_communicator(MPI_Comm comm, char *error) {
    int has_two_groups = 0;
    if (comm == MPI_COMM_NULL) {
        snprintf(error, DT__MPI_ERROR_BYTES,
                 "mpi_comm: expected a communicator, got MPI_COMM_NULL; a rank that MPI_Comm_split left out has no "
                 "context and makes no call");
        return false;
    }
    if (MPI_Comm_test_inter(comm, &has_two_groups) == MPI_SUCCESS && has_two_groups) {
        snprintf(
            error, DT__MPI_ERROR_BYTES,
            "mpi_comm: expected a communicator of one group, got an intercommunicator; MPI_Intercomm_merge makes "
            "one of it");
        return false;
    }
    return true;
}

static dt__mpi_world *open_world(const void *comm, int *rank, int *n_ranks, const int **nodes, char *error) {
    if (!initialize(error))
        return NULL;
    MPI_Comm base = comm ? *(const MPI_Comm *)comm : MPI_COMM_WORLD;
    if (!check_communicator(base, error))
        return NULL;
    if (key == MPI_KEYVAL_INVALID) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_closed, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    }
    dt__mpi_world *world = calloc(1, sizeof *world);
    if (!world) {
        snprintf(error, DT__MPI_ERROR_BYTES, "out of memory");
        return NULL;
    }
    n_open++;
    world->comm = MPI_COMM_NULL;
    MPI_Request request;
    if (!wait_for(MPI_Comm_idup(base, &world->comm, &request), &request, "MPI_Comm_idup", error) ||
        !check(MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", error) ||
        !check(MPI_Comm_rank(world->comm, rank), "MPI_Comm_rank", error) ||
        !check(MPI_Comm_size(world->comm, n_ranks), "MPI_Comm_size", error) ||
        !set_nodes(world, base, *rank, *n_ranks, error)) {
        close_world(world, false);
        return NULL;
    }
    *nodes = world->nodes;
    world->next = open_worlds;
    open_worlds = world;
    return world;
}

static void watch(dt__mpi_world *world, void (*on_finalize)(void *arg), void *arg) {
    world->on_finalize = on_finalize;
    world->arg = arg;
}

static bool all_gather(dt__mpi_world *world, const void *src, void *dst, size_t bytes, char *error) {
    MPI_Request request;
    int code = MPI_Iallgather(src, (int)bytes, MPI_BYTE, dst, (int)bytes, MPI_BYTE, world->comm, &request);
    return wait_for(code, &request, "MPI_Iallgather", error);
}

static bool broadcast(dt__mpi_world *world, void *data, size_t bytes, int root, char *error) {
    MPI_Request request;
    int code = MPI_Ibcast(data, (int)bytes, MPI_BYTE, root, world->comm, &request);
    return wait_for(code, &request, "MPI_Ibcast", error);
}

static dt__mpi_request pack(MPI_Request request) {
    dt__mpi_request packed = {0};
    memcpy(&packed.bits, &request, sizeof request);
    return packed;
}

static MPI_Request unpack(const dt__mpi_request *packed) {
    MPI_Request request;
    memcpy(&request, &packed->bits, sizeof request);
    return request;
}

static bool send(dt__mpi_world *world, const void *data, size_t bytes, int to, int tag, dt__mpi_request *out) {
    MPI_Request request;
    if (was_finalized || MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, world->comm, &request) != MPI_SUCCESS)
        return false;
    *out = pack(request);
    return true;
}

static bool receive(dt__mpi_world *world, void *data, size_t bytes, int from, int tag, dt__mpi_request *out) {
    MPI_Request request;
    if (was_finalized || MPI_Irecv(data, (int)bytes, MPI_BYTE, from < 0 ? MPI_ANY_SOURCE : from, tag, world->comm,
                                   &request) != MPI_SUCCESS)
        return false;
    *out = pack(request);
    return true;
}

static bool test(dt__mpi_request *packed, bool *done, int *source, size_t *bytes) {
    MPI_Request request = unpack(packed);
    MPI_Status status;
    int flag = 0, n = 0;
    if (was_finalized)
        return false;
    int code = MPI_Test(&request, &flag, &status);
    *packed = pack(request);
    *done = flag;
    if (code != MPI_SUCCESS)
        return false;
    if (!flag || !source)
        return true;
    *source = status.MPI_SOURCE;
    code = MPI_Get_count(&status, MPI_BYTE, &n);
    *bytes = n > 0 ? (size_t)n : 0;
    return code == MPI_SUCCESS;
}

/* Open MPI yields if its launcher has found that processes share cores, or if the user requests it; MPICH never
 * does. */
static bool test_yields(void) {
#ifdef OMPI_MAJOR_VERSION
    static const char *const variables[] = {"OMPI_MCA_mpi_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(variables[i]);
        if (value && (!strcmp(value, "1") || !strcmp(value, "true")))
            return true;
    }
#endif
    return false;
}

static bool cancel(dt__mpi_request *packed) {
    MPI_Request request = unpack(packed);
    MPI_Status status;
    int flag = 0, canceled = 0;
    if (was_finalized)
        return false;
    MPI_Cancel(&request);
    MPI_Test(&request, &flag, &status);
    *packed = pack(request);
    if (flag)
        MPI_Test_cancelled(&status, &canceled);
    return flag;
}

static void discard(dt__mpi_world *world) {
    if (!was_finalized)
        discard_messages(world->comm);
}

static bool is_shared(void) { return !has_initialized; }
static bool is_finalized(void) { return was_finalized; }

static bool lacks_threads(int n_threads, char *warning) {
    int level = MPI_THREAD_MULTIPLE, is_main = 1;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    if (level == MPI_THREAD_SINGLE && n_threads > 1) {
        snprintf(warning, DT__MPI_ERROR_BYTES,
                 "MPI was initialized with MPI_THREAD_SINGLE, but this context has %d threads: expected "
                 "MPI_THREAD_FUNNELED or more; call MPI_Init_thread, or set DTENSOR_THREADS=1",
                 n_threads);
        return true;
    }
    if (level < MPI_THREAD_SERIALIZED && !is_main) {
        snprintf(warning, DT__MPI_ERROR_BYTES,
                 "this context belongs to a thread that did not initialize MPI: expected MPI_THREAD_SERIALIZED, or "
                 "MPI_THREAD_MULTIPLE if other threads call MPI at the same time, got MPI_THREAD_%s",
                 level == MPI_THREAD_SINGLE ? "SINGLE" : "FUNNELED");
        return true;
    }
    return false;
}

extern const dt__mpi_table dt__mpi_functions;
const dt__mpi_table dt__mpi_functions = {
    .version = DT__MPI_TABLE_VERSION,
    .name = DTENSOR_MPI_NAME,
    .open = open_world,
    .close = close_world,
    .all_gather = all_gather,
    .broadcast = broadcast,
    .send = send,
    .receive = receive,
    .test = test,
    .test_yields = test_yields,
    .cancel = cancel,
    .watch = watch,
    .is_shared = is_shared,
    .is_finalized = is_finalized,
    .lacks_threads = lacks_threads,
    .discard = discard,
};
