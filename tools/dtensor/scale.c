/* SPDX-License-Identifier: Apache-2.0
 *
 * Proportional division with minima: a piece whose share is below its need gets its need, and the rest is divided
 * anew among the others, until no share is too small. Shares are rounded down, so that equal sizes look equal.
 */
#include "scale.h"

/* Shares that are whole numbers but for the last bits. */
#define ROUNDING_ERROR 1e-6

static double size_of(const grid_axis *axis, int piece) {
    return (double)(axis->cuts[piece + 1] - axis->cuts[piece]);
}

void scale_pieces(const grid_axis *axis, int first, int n, int total, const int *needs, int *lengths) {
    bool fixed[GRID_MAX_PIECES] = {false};
    double left = total, size = 0;
    for (int i = 0; i < n; i++)
        size += size_of(axis, first + i);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < n; i++) {
            double own = size_of(axis, first + i);
            if (fixed[i] || left * own >= needs[i] * size)
                continue;
            fixed[i] = changed = true;
            lengths[i] = needs[i];
            left -= needs[i];
            size -= own;
        }
    }
    for (int i = 0; i < n; i++)
        if (!fixed[i])
            lengths[i] = (int)(left * size_of(axis, first + i) / size + ROUNDING_ERROR);
}
