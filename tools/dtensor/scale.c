/* SPDX-License-Identifier: Apache-2.0
 *
 * Proportional division with minima: a piece whose share is below its need gets its need, and the rest is divided
 * anew among the others, until no share is too small.
 */
#include "scale.h"

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
    /* Ends are rounded, not lengths, so that rounding errors do not add up. */
    double before = 0;
    for (int i = 0; i < n; i++) {
        if (fixed[i])
            continue;
        double after = before + left * size_of(axis, first + i) / size;
        lengths[i] = (int)(after + 0.5) - (int)(before + 0.5);
        before = after;
    }
}
