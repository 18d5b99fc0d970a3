/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields of a request that say more about placements than their text: `"order":{"0":[1,0]}`, the mesh dims that cut a
 * tensor dim, and `"extents":{"0":[3,5,2]}`, explicit sizes.
 */
#ifndef TOOLS_DTENSOR_REQUEST_PLACEMENTS_H
#define TOOLS_DTENSOR_REQUEST_PLACEMENTS_H

#include "dtensor/spec.h"
#include "request.h"

/* Writes what the field says, if it is there, into the n placements. */
dt_status request_order(const request *asked, const char *field, dt_placement *placements, int n);
dt_status request_extents(const request *asked, const char *field, dt_placement *placements, int n);

#endif
