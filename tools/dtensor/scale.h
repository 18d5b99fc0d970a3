/* SPDX-License-Identifier: Apache-2.0
 *
 * Dividing the length of a drawing among pieces: in proportion to their sizes, but no piece shorter than it needs.
 */
#ifndef TOOLS_DTENSOR_SCALE_H
#define TOOLS_DTENSOR_SCALE_H

#include "grid.h"

/* lengths[i] for the n pieces of the axis from `first` on. Their sum is about total, and more only where the needs
 * are more. */
void scale_pieces(const grid_axis *axis, int first, int n, int total, const int *needs, int *lengths);

#endif
