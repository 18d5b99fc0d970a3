/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of dtrun: the command line, with environment variables as defaults.
 */
#ifndef DTRUN_OPTIONS_H
#define DTRUN_OPTIONS_H

#include "base/machine.h"
#include "dtrun/binding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Codes that do not come from a rank; a rank that ends with signal n yields 128 + n. */
enum exit_code {
    EXIT_USAGE = 2,
    EXIT_OURS = 125, /* dtrun itself could not do its work */
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_BY_SIGNAL = 128,
};

struct options {
    int64_t n_ranks;
    int64_t n_restarts;      /* after failures, at most */
    int64_t n_done_restarts; /* before this launch */
    int64_t min_ranks;       /* of a restart; 0: all */
    enum binding binding;
    bool show_binding;
    const char *topology_text; /* a machine to pretend; NULL: this one */
    struct machine topology;   /* empty if ranks are not bound and nothing is shown */
    struct share *shares;      /* of each rank; NULL: ranks are not bound */
    bool tag_output;
    const char *output_dir;   /* of a file for each output of each rank; NULL: they go to our own */
    int64_t timeout_ms;       /* of every wait of the library; 0: its default; DT__DURATION_OFF: none */
    size_t heap_bytes;        /* of each rank; 0: the library's default */
    const char *machine_file; /* NULL: the built-in model */
    dt__machine machine;      /* of all ranks */
    int n_threads;            /* of each rank */
    enum binding requested_binding;
    int requested_threads; /* 0: as many as there are cores */
    int n_cores;           /* that the ranks share */
    int n_planned_cores;   /* that the ranks share, or those of the machine that is pretended */
    char **command;        /* program and arguments, with NULL at the end */
};

/* True if there is a program to run. Otherwise help, the binding or errors have been printed, and *code is the exit
 * code. */
bool options_read(int argc, char **argv, struct options *options, int *code);
/* Divides the machine among another number of ranks. False after printing why it cannot. */
bool options_set_ranks(struct options *options, int64_t n_ranks);
void options_free(struct options *options);

#endif
