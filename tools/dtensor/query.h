/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor query`: one line in, one line out. A request has a context and an arena of its own; what it allocates is
 * freed with them. A kind of request is a row with the fields that it may have and the function that answers it.
 */
#ifndef TOOLS_DTENSOR_QUERY_H
#define TOOLS_DTENSOR_QUERY_H

#include "base/arena.h"
#include "base/text.h"
#include "dtensor/comm.h"
#include "dtensor/redistribute.h"
#include "rules/rules.h"

#include <jansson.h>

/* Writes the answer to the line (n bytes, without its newline) into out, which is cleared first: a JSON object
 * without a newline. A request that cannot be served is answered by an error object. */
void query_answer(const char *line, size_t n, dt__text *out);

/* Ends the ranks that `run` keeps alive. */
void query_run_end(void);

enum {
    REQUEST_MAX_FIELDS = 12,
    REQUEST_MAX_ANSWER_BYTES = 64 << 20, /* of one answer */
};

typedef struct request {
    dt_ctx *ctx;
    dt__arena *arena;
    const json_t *fields; /* an object */
} request;

typedef struct request_field {
    const char *name;
    bool required;
} request_field;

/* The answer is appended to out; after an error what was appended is discarded. */
typedef struct request_kind {
    const char *q;
    request_field fields[REQUEST_MAX_FIELDS]; /* apart from "q"; ends with a row without a name */
    dt_status (*answer)(const request *req, dt__text *out);
} request_kind;

extern const request_kind query_layout, query_mesh, query_shard, query_redistribute; /* query_mesh.c */
extern const request_kind query_rules, query_propagate, query_run;                   /* query_op.c */

/* Refuses unknown fields and missing ones; owner ("shard") is named in the error. */
dt_status request_check_fields(const request *req, const char *owner, const request_field *allowed);

/* The field's value, or NULL. */
const json_t *request_get(const request *req, const char *name);

/* Readers of a value in the field `name`. Errors name the field, what was expected and what was found. */
dt_status request_int(const request *req, const char *name, const json_t *value, int64_t min, int64_t max,
                      int64_t *out);
dt_status request_string(const request *req, const char *name, const json_t *value, const char **out);
/* A dtype; f32 where value is NULL. */
dt_status request_dtype(const request *req, const char *name, const json_t *value, dt_dtype *out);
/* A list of integers from min to max, in the arena. */
dt_status request_ints(const request *req, const char *name, const json_t *value, int64_t min, int64_t max,
                       int64_t **out, int *n);
/* The sizes in a field of the request, such as "shape". */
dt_status request_sizes(const request *req, const char *field, int64_t min, int64_t **out, int *n);

/* Records "field 'do': expected a list, got 7" as an error of code `field`. */
dt_status request_wrong(const request *req, const char *name, const char *expected, const json_t *got);

/* Refuses an answer that has grown beyond REQUEST_MAX_ANSWER_BYTES. */
dt_status request_check_size(const request *req, const dt__text *out);

/* Applies `"order":{"0":[1,0]}`, the mesh dims that cut a tensor dim, or `"extents":{"0":[3,5,2]}`, explicit sizes, to
 * the n placements, if the field exists. */
dt_status request_order(const request *req, const char *field, dt_placement *placements, int n);
dt_status request_extents(const request *req, const char *field, dt_placement *placements, int n);

/* What a request has of its tensors: shapes; also placements on its mesh; also values. */
typedef enum request_tensors { REQUEST_SHAPES, REQUEST_PLACED, REQUEST_VALUES } request_tensors;

/* Reads a call (`op`, `tensors`, `args`, `kwargs` and `mesh`) without the values, into the arena. Its outputs are
 * inferred, unless an argument is to be read from values (dt_op.read), which the request has. */
dt_status request_call(const request *req, request_tensors have, dt__placed_call *out);

/* Reads the values of the call's inputs, in the order of the call, each as dense memory in the arena. */
dt_status request_data(const request *req, const dt__placed_call *placed, const void ***out);
/* n elements as a list; NULL when memory is out. */
json_t *request_data_json(dt_dtype dtype, const void *data, int64_t n);

/* Ranks that stay alive between requests: threads of this process, each a rank of the shm transport with a context of
 * its own. NULL when they cannot be started. */
typedef struct rank_pool rank_pool;
rank_pool *rank_pool_open(int64_t n_ranks);
int64_t rank_pool_size(const rank_pool *self);
/* Runs fn on every rank and waits for all. */
void rank_pool_run(rank_pool *self, dt_rank_fn *fn, void *arg);
/* Ends the ranks. NULL is fine. */
void rank_pool_close(rank_pool *self);

/* On each rank of the mesh: makes its local tensors of the inputs from their full values. For a partial input every
 * rank gets other values, which reduce to the given ones. */
dt_status rank_inputs(dt_mesh *mesh, const dt__placed_call *placed, const void *const *data, dt_tensor **inputs);

#endif
