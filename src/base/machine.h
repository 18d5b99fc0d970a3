/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine model: the times from which plans and placements are priced (plan/cost.c). It is data: the built-in
 * table, or a file that `dtensor calibrate` writes. A context has one from dt_init on and never changes it. Nothing
 * here needs a context: the launcher reads a file once, before it starts ranks, and all ranks adopt it.
 *
 * A file has one entry per line; # begins a comment. The first line is the format, then follow in any order
 *
 *     dtensor-machine 1
 *     ranks_per_host 8                                               (optional; 0: all ranks are on one host)
 *     copy bytes_per_us=94168
 *     within start_us=6.6 peer_us=0.6 bytes_per_us=94168             groups on one host
 *     between start_us=6.6 peer_us=2.7 bytes_per_us=20717            (optional: as within) groups that span hosts
 *     measured all_gather group=2 ranks=4 start_us=3.1 bytes_per_us=5200                               (optional)
 *
 *     node cores=8 memory_bytes=68719476736                                                             (optional)
 *     op start_us=0.4                                               what a call takes without its kernel (optional)
 *     rate multiply f32 size=2e9 per_us=95000           flops per us of a product of this many flops     (optional)
 *     rate touch size=1048576 per_us=12000              bytes per us of a loop over this many bytes     (optional)
 *     rate gelu f32 size=1048576 per_us=2500            the same of one op, in place of both            (optional)
 *
 * A measured line replaces the formula of `within` for one kind of step: it takes start_us, and the bytes of the
 * largest result at this rate, for groups of this size while so many ranks of the host do the same in groups of
 * theirs. With cache_bytes=1048576 memory_bytes_per_us=2400 the bytes beyond the first MiB take this lower rate. Sizes
 * of groups between measured ones are interpolated, larger ones extrapolated. The word strided after the kind marks
 * the times of exchanges that read or write in short runs; without such a line, they take as long as others.
 *
 * Lines of rates are for the times of estimates (`dtensor estimate`), and no plan depends on them; rates for sizes
 * between two lines are interpolated. The lines of an op count flops where its rule or descriptor states them,
 * otherwise bytes.
 */
#ifndef DT_BASE_MACHINE_H
#define DT_BASE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dtensor/base.h"

/* What a step of a plan is. One list makes the enum and the names. NONE is a step that every rank does by itself: a
 * copy. */
#define DT__STEP_KIND_LIST(X)                                                                                        \
    X(NONE, none)                                                                                                    \
    X(ALL_GATHER, all_gather)                                                                                        \
    X(ALL_REDUCE, all_reduce)                                                                                        \
    X(REDUCE_SCATTER, reduce_scatter)                                                                                \
    X(ALL_TO_ALL, all_to_all)

typedef enum dt__step_kind {
#define X(upper, lower) DT__STEP_##upper,
    DT__STEP_KIND_LIST(X)
#undef X
        DT__N_STEP_KINDS
} dt__step_kind;

const char *dt__step_kind_name(dt__step_kind kind);

/* A kind of link: a start-up time, a time per peer and a rate. */
typedef struct dt__link {
    double start_us;     /* of a collective, whatever its size */
    double peer_us;      /* for each other member of the group */
    double bytes_per_us; /* received by one rank */
} dt__link;

/* Steps of one kind in groups of one size, as measured. */
typedef struct dt__measured_step {
    dt__step_kind kind;
    bool strided;  /* of exchanges whose blocks are not consecutive in memory */
    int64_t group; /* ranks of a group; 1 for copies */
    int64_t ranks; /* ranks of the host that do the same at the same time, in groups of this size */
    double start_us;
    double bytes_per_us;        /* of the largest result */
    double cache_bytes;         /* from here on, each further byte takes the memory's rate; 0: the same rate */
    double memory_bytes_per_us; /* 0 with cache_bytes */
} dt__measured_step;

/* How fast a rank computes: multiplications and additions of a product, bytes that a loop reads and writes, or what
 * one op does. */
typedef enum dt__rate_kind { DT__RATE_MULTIPLY, DT__RATE_TOUCH, DT__RATE_OP } dt__rate_kind;
enum { DT__RATE_NAME_BYTES = 48 };
typedef struct dt__op_rate {
    dt__rate_kind kind;
    dt_dtype dtype; /* of products and ops; f32 for loops */
    double size;    /* flops or bytes of the call */
    double per_us;
    char name[DT__RATE_NAME_BYTES]; /* of the op; empty for the other kinds */
} dt__op_rate;

enum { DT__MACHINE_MAX_MEASURED = 256, DT__MACHINE_MAX_RATES = 512, DT__MACHINE_ERROR_BYTES = 640 };

typedef struct dt__machine {
    int64_t ranks_per_host;   /* 0: all ranks are on one host */
    dt__link within, between; /* groups on one host, groups that span hosts */
    double copy_bytes_per_us; /* written by one rank */
    int n_measured;
    dt__measured_step measured[DT__MACHINE_MAX_MEASURED]; /* sorted */
    int64_t node_cores, node_memory;                      /* 0: not stated */
    double op_start_us;
    int n_op_rates;
    dt__op_rate op_rates[DT__MACHINE_MAX_RATES]; /* sorted by kind, name, dtype and size; no plan depends on them */
    /* Derived (dt__machine_derive): a cost computed from these is never above the true one, */
    dt__link min_within, min_between;
    double min_copy_bytes_per_us;
    uint64_t fingerprint; /* and a hash of all of the above; 0: the built-in table */
} dt__machine;

extern const dt__machine dt__machine_builtin;

/* Sorts the measured steps and computes the derived fields; to be called after any other field was changed. */
void dt__machine_derive(dt__machine *machine);

/* The rate of a call of this size: interpolated between the lines of its kind, in logarithms; that of f32 where the
 * dtype has none. At least one line of the kind must exist for a result below infinity. */
double dt__op_rate_at(const dt__machine *machine, dt__rate_kind kind, dt_dtype dtype, double size);
/* The rate of an op that has lines of its own, in this dtype or in f32; 0 if it has none. */
double dt__named_rate_at(const dt__machine *machine, const char *name, dt_dtype dtype, double size);

/* multiply, touch or the name of the op. */
const char *dt__rate_text(const dt__op_rate *rate);

/* Reads a file. On failure *out is unchanged, and error has "FILE:LINE: what is wrong: expected X, got Y". */
bool dt__machine_read(const char *path, dt__machine *out, char *error, size_t error_bytes);
/* The file of DTENSOR_MACHINE; the built-in table where that is unset or empty. */
bool dt__machine_from_environment(dt__machine *out, char *error, size_t error_bytes);
/* Writes the file's text; dt__machine_read returns the same bits. False if the file reports an error. */
bool dt__machine_write(const dt__machine *machine, FILE *file);

#endif
