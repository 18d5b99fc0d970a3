/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of --show-binding.
 */
#ifndef DTRUN_BINDING_TEXT_H
#define DTRUN_BINDING_TEXT_H

#include "dtrun/options.h"

#include <stdio.h>

/* Prints the machine, the kind of binding, and one line per rank. */
void binding_print(const struct options *options, FILE *file);

#endif
