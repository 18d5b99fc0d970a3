/* SPDX-License-Identifier: Apache-2.0
 *
 * The public call in progress in a context: what errors, warnings and counts name. Every public function that can fail
 * enters it in its first line. Only the outermost call counts: functions of the library call each other, and the user
 * should read the name and the line of the program. A cleanup attribute leaves it on every return path.
 */
#ifndef DT_BASE_PUBLIC_CALL_H
#define DT_BASE_PUBLIC_CALL_H

#include "dtensor/base.h"

enum { DT__APART = 1 << 16 };

typedef struct dt__public_call {
    const char *name;    /* as the program writes it, without dt_: "mesh_new", "add"; NULL: dt_error_set */
    const dt_site *site; /* where the program does; NULL: unknown */
    const void *subject; /* what it is called on, such as a tensor; NULL: nothing that errors should show */
    /* Writes the text of the subject; called for an error only. */
    void (*describe)(const void *subject, char *out, size_t capacity);
    int depth;         /* of nested calls; 0: none is in progress, and name and site are meaningless */
    int apart;         /* dt_apart_begin without its end, times DT__APART */
    dt_site host_site; /* what the host has reported; `site` points to it */
} dt__public_call;

#endif
