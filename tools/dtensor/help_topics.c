/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of help topics: at most a screen of 80 columns each.
 */
#include "help_topics.h"

#include <stddef.h>
#include <string.h>

const help_topic help_topics[] = {
    {"meshes", "how meshes are written",
     "A mesh arranges ranks in a grid whose dims have names, row by row.\n"
     "\n"
     "  dp=2,tp=4        two dims, eight ranks; rank 5 is at dp=1, tp=1\n"
     "  2x4              the same grid without names\n"
     "  dp=2,tp=*        tp takes what is left of the world (--ranks N, or the launch)\n"
     "  mesh(dp=2,tp=4)  inside the text of a tensor or a call\n"
     "\n"
     "Slices, flattened meshes and groups:\n"
     "\n"
     "  dtensor mesh dp=2,cp=2,tp=2 --slice dp,tp\n"},
    {"placements", "S(0), R, P(sum) and their relatives",
     "A tensor has a placement for each dim of its mesh.\n"
     "\n"
     "  S(0)          tensor dim 0 is sharded: blocks by the ceil rule, late ones may be empty\n"
     "  S(0:7,6)      blocks of these sizes\n"
     "  _S(0,2)       a strided shard: a block of each of 2 chunks\n"
     "  R             replicated: every coordinate holds all of it\n"
     "  P(sum)        partial: the values are the sum over the coordinates; also\n"
     "                P(avg), P(product), P(max), P(min)\n"
     "\n"
     "  S(0),R        for two mesh dims, from left to right\n"
     "  tp=S(1)       by name; mesh dims that are not named are R\n"
     "\n"
     "  dtensor show 'f32[7,8] S(0),S(1) on mesh(dp=2,tp=3)'\n"},
    {"tensors", "how tensors and calls are written",
     "A tensor is written as dtype, shape, placements and mesh:\n"
     "\n"
     "  f32[1024,512] S(0),R on mesh(dp=2,tp=4)\n"
     "  f32[8,6] S(0) use bf16 R on mesh(4)   stored sharded, read as a replica in bf16\n"
     "\n"
     "A call is an op with its arguments, separated by semicolons; the mesh follows:\n"
     "\n"
     "  matmul(f32[64,32] S(0); f32[32,48] R) on mesh(4)\n"
     "  sum(f32[8,4] S(0); dim=[0]; keepdim=true) on mesh(4)\n"
     "\n"
     "Dtypes: f16 bf16 f32 f64 c64 c128 i8 i16 i32 i64 u8 bool.\n"},
    {"errors", "kinds of errors, and what to do about them",
     "An error has the form  op: what is wrong: expected X, got Y (at file:line).\n"
     "\n"
     "  agreed    follows from data that all ranks have; all fail alike, nothing was sent\n"
     "  local     memory, files or the transport of one rank; its peers get an error\n"
     "  verdict   bad values in a shard, such as an index out of range; reported by all\n"
     "            ranks at the next transfer\n"
     "\n"
     "A context keeps its first error and refuses calls until dt_error_clear. dt_close\n"
     "prints it and returns the exit code. A launch that does not go on:\n"
     "\n"
     "  kill -USR1 PID-OF-DTRUN     what every rank is doing\n"
     "  DTENSOR_TIMEOUT=20          a shorter deadline for every wait\n"
     "  DTENSOR_CHECK_CALLS=1       ranks compare every call\n"
     "  DTENSOR_CHECK_REPLICAS=1    ranks compare replicas that they read\n"},
    {"environment", "environment variables",
     "Those that users set; dtensor(7) has all of them with their defaults.\n"
     "\n"
     "  DTENSOR_THREADS    threads of each rank\n"
     "  DTENSOR_TIMEOUT    deadline of every wait; off: none\n"
     "  DTENSOR_HEAP       memory of each rank's tensors\n"
     "  DTENSOR_BIND       how dtrun binds ranks\n"
     "  DTENSOR_MACHINE    file of a machine model (dtensor calibrate)\n"
     "  DTENSOR_LOG        off, error, warn, info or debug\n"
     "  DTENSOR_TRACE      file for a trace of ops and transfers; .json opens in Perfetto\n"
     "  DTENSOR_TRANSPORT  shm, mpi, self or fake, instead of the launch's own\n"
     "  DTENSOR_MPI        openmpi, mpich or the path of a module\n"
     "  DTENSOR_NODES      pretends that a launch under MPI has so many nodes\n"},
    {NULL, NULL, NULL},
};

const help_topic *help_topic_find(const char *name) {
    for (const help_topic *topic = help_topics; topic->name; topic++)
        if (!strcmp(name, topic->name))
            return topic;
    return NULL;
}
