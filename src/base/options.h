/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs whose size the caller passes: options, descriptors and statistics may have fewer or more fields in the
 * headers that a program was compiled with than in this library. Functions with the suffix _sized convert them with
 * this file, and use only structs of this library's size afterwards.
 */
#ifndef DT_BASE_OPTIONS_H
#define DT_BASE_OPTIONS_H

#include "dtensor/base.h"

/* Copies the caller's options into full, which has this library's size: fields that the caller does not have, or all
 * if options are NULL, become zero. NULL with an agreed error if the caller sets a field that this library does not
 * have. */
const void *dt__options_convert(dt_ctx *ctx, const char *op, const void *options, size_t size, void *full,
                                size_t full_size);

/* The caller's options themselves if their size is that of this library, otherwise converted into *full; NULL only
 * after an error. ctx is evaluated only for a conversion. */
#define DT__OPTIONS(ctx, op, options, size, full)                                                                    \
    ((options) && (size) == sizeof *(full) ? (options)                                                               \
                                           : dt__options_convert(ctx, op, options, size, full, sizeof *(full)))

/* Copies a struct of this library's size into the caller's; fields that only the caller has become zero. */
void dt__fill_sized(const void *full, size_t full_size, void *out, size_t out_size);

#endif
