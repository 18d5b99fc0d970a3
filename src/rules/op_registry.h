/* SPDX-License-Identifier: Apache-2.0
 *
 * The ops that a context knows.
 */
#ifndef DT_RULES_OP_REGISTRY_H
#define DT_RULES_OP_REGISTRY_H

#include "rules/rules.h"

/* The library's ops and the registered ones; their indices run from 0 to this - 1. */
int dt__op_count(dt_ctx *ctx);

#endif
