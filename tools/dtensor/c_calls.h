/* SPDX-License-Identifier: Apache-2.0
 *
 * How an op is called in C: for each of its functions, declarations of the arguments and a call with all options.
 */
#ifndef DTENSOR_TOOL_C_CALLS_H
#define DTENSOR_TOOL_C_CALLS_H

typedef struct c_call {
    const char *op;
    const char *text; /* lines, each with its newline */
} c_call;

/* In the order of the table of ops; ends with a row without an op. */
extern const c_call c_calls[];

#endif
