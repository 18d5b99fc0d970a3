/* SPDX-License-Identifier: Apache-2.0
 *
 * Removing the file that a rank has registered, for the supervisor; other functions are in launch.h.
 */
#ifndef DT_LAUNCH_TEMPORARY_FILE_H
#define DT_LAUNCH_TEMPORARY_FILE_H

#include "launch/launch.h"

void dt__segment_remove_temporary(const struct dt__segment *segment, int64_t rank);

#endif
