/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs whose size the caller passes: in the headers that a program was compiled with, options, descriptors and
 * statistics may have fewer or more fields than in this library. Functions with the suffix _sized convert them with
 * this file, and use only structs of this library's size afterwards.
 */
#ifndef DT_BASE_OPTIONS_H
#define DT_BASE_OPTIONS_H

#include "base/ctx.h"

/* Copies the caller's struct into full, which has this library's size: fields that the caller does not have, or all if
 * it is NULL, become zero. NULL with an agreed error of the call `name` if the caller sets a field that this library
 * does not have; site is the field of full that has the site of the call, or NULL. */
const void *dt__struct_convert(dt_ctx *ctx, const char *name, const void *given, size_t size, void *full,
                               size_t full_size, const dt_site **site);

/* The caller's struct itself if its size is that of this library, otherwise converted into *full; NULL only after an
 * error. ctx is evaluated only for a conversion. STRUCT is for use inside a call that was entered, OPTIONS for options
 * that have the site of a call which has not been. */
#define DT__STRUCT(ctx, given, size, full)                                                                           \
    ((given) && (size) == sizeof *(full)                                                                             \
         ? (given)                                                                                                   \
         : dt__struct_convert(ctx, "struct", given, size, full, sizeof *(full), NULL))
#define DT__OPTIONS(ctx, name, options, size, full)                                                                  \
    ((options) && (size) == sizeof *(full)                                                                           \
         ? (options)                                                                                                 \
         : dt__struct_convert(ctx, name, options, size, full, sizeof *(full), &(full)->site))

/* Converts the options in place, and enters the call whose site they have. Options are NULL only after an error. */
#define DT__ENTER_OPTIONS(ctx, name, options, size, full)                                                            \
    (options) = DT__OPTIONS(ctx, name, options, size, full);                                                         \
    DT__ENTER(ctx, name, (options) ? (options)->site : NULL)

/* Copies a struct of this library's size into the caller's; fields that only the caller has become zero. */
void dt__fill_sized(const void *full, size_t full_size, void *out, size_t out_size);

#endif
