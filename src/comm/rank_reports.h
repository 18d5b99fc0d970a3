/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports: texts for people, such as the first error of a context, that a rank leaves in its block of the segment for
 * the supervisor to print. The supervisor prints a text that several ranks report once, with the ranks that have it.
 * This is the side of the ranks; the side of the supervisor is in comm.h.
 */
#ifndef DT_COMM_RANK_REPORTS_H
#define DT_COMM_RANK_REPORTS_H

#include "comm/segment.h"

/* Leaves the text to the supervisor. False if the rank must print it itself: there is no supervisor that prints
 * reports, this process has redirected its standard error, or too many reports wait. */
bool dt__report_post(struct dt__segment *segment, int64_t rank, const char *text);
/* The same for a rank that could not open its context. */
bool dt__report_post_early(const dt__ticket *ticket, const char *text);

#endif
