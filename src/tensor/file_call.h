/* SPDX-License-Identifier: Apache-2.0
 *
 * A file call as a collective. The ranks of the mesh synchronize before anything is read or written, and compare their
 * calls; they synchronize again after each stage, where every rank shares its failure. So all return the same result:
 * success, or one error that names the rank that failed and the reason, even if that rank ends right afterward. A call
 * on a mesh of one rank, or on plain tensors, whose errors are local, does not synchronize.
 */
#ifndef DT_TENSOR_FILE_CALL_H
#define DT_TENSOR_FILE_CALL_H

#include "base/text.h"
#include "comm/comm.h"
#include "dtensor/mesh.h"

#include <sys/stat.h>

enum { DT__FILE_PATH_BYTES = 2048 };

/* What a rank publishes when ranks synchronize. */
typedef struct dt__file_record {
    char call[DT__CALL_TEXT_BYTES]; /* as in an error: save_npy("a.npy", f32[8,6] S(0) on mesh(tp=3)) */
    int32_t status;                 /* of the failure, or DT_OK */
    bool wants_name;                /* saving: this rank could not open a file without a name */
    char failure[1024];
    char file_text[192]; /* loading: what this rank has opened; must agree */
    uint64_t file_hash;
    int64_t handle[5];                   /* saving, of the first rank: how the others open the file, */
    char temporary[DT__FILE_PATH_BYTES]; /* and its name, if ranks are on several nodes */
    uint64_t tag, history;               /* of the call, and of the calls on the mesh before it */
} dt__file_record;
_Static_assert(sizeof(dt__file_record) <= DT__EXCHANGE_COPIED_BYTES, "a record needs not be in the heap");

typedef struct dt__file_call {
    dt_ctx *ctx;
    const dt__exchange_call *kind;
    const char *path;
    bool is_plain;      /* on no mesh */
    dt_group *group;    /* of the mesh's ranks; NULL: this rank alone */
    int64_t first_rank; /* of the mesh */
    bool is_first;      /* this rank is */
    bool spans_nodes;   /* the ranks of the mesh are on several */
    uint64_t tag;
    dt__history *history; /* of the mesh; or NULL */
    dt__file_record own;
    /* After a meeting: */
    int64_t handle[5]; /* the first rank's */
    char temporary[DT__FILE_PATH_BYTES];
    bool wants_name; /* any rank's */
} dt__file_call;

/* Begins a call; dt__file_call_end accepts one that failed to begin. The mesh may be NULL. */
dt_status dt__file_call_begin(dt__file_call *call, dt_ctx *ctx, const dt__exchange_call *kind, const char *path,
                              dt_mesh *mesh);
void dt__file_call_end(dt__file_call *call);
/* Sets what the ranks compare: the text, and a hash of the rest. */
dt_status dt__file_call_describe(dt__file_call *call, const dt__text *text, uint64_t hash);
/* Sets what loading ranks also compare: the file and a text that describes it. */
void dt__file_call_opened(dt__file_call *call, const struct stat *info, const char *text);

/* An error of this rank alone, with the path: it is kept for the next meeting, or recorded as a local error. */
dt_status dt__file_call_fail(dt__file_call *call, dt_status status, const char *text);
/* An error that every rank has if its call is the same: kept for the next meeting, or recorded as an agreed error. */
dt_status dt__file_call_refuse(dt__file_call *call, dt_status status, const char *format, ...) DT_PRINTF(3);

/* The end of a stage that returned this status on this rank. Meets the other ranks and compares calls; DT_OK if no rank
 * has failed. Otherwise the error is recorded, the same on every rank. An error that is recorded already (memory) is
 * returned at once: the runtime notifies the peers. Collective over the mesh. */
dt_status dt__file_call_meet(dt__file_call *call, dt_status status);

#endif
