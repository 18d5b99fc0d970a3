/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports: texts for people, such as the first error of a context, that a rank leaves in its block of the segment for
 * the supervisor to print. The supervisor prints a text that several ranks report once, with the ranks that have it; of
 * the ranks that fail in one operation, each with its own text, it prints one (an incident, comm/board.h).
 * This is the side of the ranks; the side of the supervisor is in launch.h.
 */
#ifndef DT_LAUNCH_RANK_REPORTS_H
#define DT_LAUNCH_RANK_REPORTS_H

#include "launch/launch.h"

/* Leaves the text, of an incident or not (0), to the supervisor. False if the rank must print it itself: there is no
 * supervisor that prints reports, this process has redirected its standard error, or too many reports wait. */
bool dt__report_post(struct dt__rank_block *block, const char *text, uint64_t incident);
/* Leaves the text of a rank that could not open its context. */
bool dt__report_post_early(const dt__ticket *ticket, const char *text);

#endif
