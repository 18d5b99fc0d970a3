/* SPDX-License-Identifier: Apache-2.0
 *
 * Call histories. Every rank of a mesh makes the same calls on the mesh's tensors in the same order. A *history* is a
 * hash of those calls, one per mesh and rank; every operation on the mesh compares it, so that ranks which diverged get
 * an error even if the calls themselves did not communicate. The last calls are kept in shared memory: their hashes,
 * with which two ranks find the first call that differs, and *labels*, which are texts that the calling rank writes
 * once per kind of call. A peer can read them even when their owner has closed its context or died.
 */
#ifndef DT_COMM_CALL_HISTORY_H
#define DT_COMM_CALL_HISTORY_H

#include "base/ctx.h"
#include "base/hash.h"

#include <stdatomic.h>

enum {
    DT__N_HISTORIES = 32,        /* meshes of one rank whose calls are kept; of others there is only the hash */
    DT__N_HISTORY_CALLS = 1024,  /* calls that are kept of each */
    DT__LABEL_BYTES = 1 << 20,   /* of all labels of a rank */
    DT__MAX_LABEL = 480,         /* bytes of one, with its end */
    DT__HISTORY_NAME_BYTES = 96, /* of the name of a mesh */
};

/* One call, in shared memory; small, because every op writes one. */
struct dt__history_call {
    _Atomic uint64_t hash; /* of this call and all before it */
    _Atomic uint64_t text; /* its label, the label of the source file, the line, and whether there is a value */
};
/* A label is its offset + 1; 0: none. */
enum { DT__LABEL_BITS = 21, DT__FILE_SHIFT = 21, DT__LINE_SHIFT = 42, DT__LINE_BITS = 20, DT__VALUE_SHIFT = 62 };
/* The argument that is shown with a call. */
/* After a label that ends in "=" it is printed as the value of that name, with ")". */
enum dt__shown_value { DT__SHOW_NONE, DT__SHOW_INT, DT__SHOW_DOUBLE, DT__SHOW_TWO_INTS }; /* of 32 bits each */
_Static_assert(DT__LABEL_BYTES < 1 << DT__LABEL_BITS, "a label fits its bits");

/* The calls of one rank on one mesh, in shared memory. */
struct dt__history_block {
    _Atomic uint64_t key;   /* fingerprint of the mesh; 0: free */
    _Atomic uint64_t n;     /* calls so far; call i is calls[i % DT__N_HISTORY_CALLS] */
    _Atomic uint64_t first; /* calls before it are unknown, for a rank on another node; else 0 */
    struct dt__history_call calls[DT__N_HISTORY_CALLS];
    _Atomic uint64_t values[DT__N_HISTORY_CALLS]; /* bits of the first argument that varies */
};

/* This rank's history of one mesh; lives as long as the context. */
typedef struct dt__history {
    uint64_t key, hash, n;
    struct dt__history_block *block; /* NULL: not kept */
    const char *last_file;           /* the one of the last call, and its label as in dt__history_call.text */
    uint64_t file_text;
    char name[DT__HISTORY_NAME_BYTES];
    dt_ctx *ctx;
    struct dt__history *next;
    uint64_t mesh_dims;               /* bits of those with several ranks */
    struct dt__data_verdict *verdict; /* that this rank has and not all others have; or NULL (verdict.h) */
    uint64_t n_reported;              /* verdicts of calls up to this number have been reported */
} dt__history;

/* Whether peers can compare histories: not in a world of one rank, nor on transports without data. */
bool dt__has_histories(const dt_ctx *ctx);
/* The history with this key, made on first use; name is the mesh's, for errors. NULL if there are none, and after an
 * error, which is recorded. */
dt__history *dt__history_of(dt_ctx *ctx, uint64_t key, const char *name);

/* The label with this fingerprint, or 0; and a new one. 0 also where there is no space left. */
uint32_t dt__label_find(dt_ctx *ctx, uint64_t fingerprint);
uint32_t dt__label_new(dt_ctx *ctx, uint64_t fingerprint, const char *text);
/* Sets the history's last file. */
void dt__history_set_file(dt__history *history, const char *file);

/* A call to add. `call` is a hash of the fixed part, `value` of the arguments that vary; `first` is the one that is
 * shown. `text` is the label, which also says how to show `first`. */
typedef struct dt__history_entry {
    uint64_t call, value, text;
    uint64_t first; /* bits of an int64_t or a double */
} dt__history_entry;

static inline uint64_t dt__label_text(uint32_t label, enum dt__shown_value shown) {
    return label | (uint64_t)shown << DT__VALUE_SHIFT;
}
static inline uint64_t dt__line_text(int line) {
    return (uint64_t)((uint32_t)line << (32 - DT__LINE_BITS)) << (DT__LINE_SHIFT + DT__LINE_BITS - 32);
}

/* Adds a call that is made in the history's last file; site_text: with the file and the line of the text. */
static inline void dt__history_put(dt__history *history, const dt__history_entry *call, uint64_t site_text) {
    uint64_t hash = (history->hash ^ call->call) * UINT64_C(0xbf58476d1ce4e5b9) + call->value;
    hash ^= hash >> 29;
    uint64_t n = history->n++;
    history->hash = hash;
    struct dt__history_block *block = history->block;
    if (!block)
        return;
    struct dt__history_call *to = &block->calls[n % DT__N_HISTORY_CALLS];
    if (call->text >> DT__VALUE_SHIFT)
        atomic_store_explicit(&block->values[n % DT__N_HISTORY_CALLS], call->first, memory_order_relaxed);
    atomic_store_explicit(&to->hash, hash, memory_order_relaxed);
    atomic_store_explicit(&to->text, call->text | site_text, memory_order_relaxed);
    atomic_store_explicit(&block->n, n + 1, memory_order_release);
}

static inline void dt__history_note(dt__history *history, const dt__history_entry *call, const dt_site *site) {
    if (site && site->file != history->last_file)
        dt__history_set_file(history, site->file);
    dt__history_put(history, call, site ? history->file_text | dt__line_text(site->line) : 0);
}

/* Adds a number to the last call: a random draw, which is known only when it is made. */
void dt__history_amend(dt__history *history, uint64_t number);

#endif
