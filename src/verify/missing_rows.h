/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that hold and that the op does not offer, found by trying all combinations of placements on one mesh dim.
 */
#ifndef DT_VERIFY_MISSING_ROWS_H
#define DT_VERIFY_MISSING_ROWS_H

#include "verify/row_check.h"

/* Called for each such row. */
typedef dt_status dt__missing_fn(void *user, const dt__row *row);

dt_status dt__find_missing_rows(dt__trial_call *trial_call, const dt__row_list *offered, dt__missing_fn *found,
                                void *user, int64_t *n_trials);

#endif
