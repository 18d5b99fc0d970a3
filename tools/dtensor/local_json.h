/* SPDX-License-Identifier: Apache-2.0
 *
 * What one rank holds, as the object that `query shard` and `show --json` list.
 */
#ifndef TOOLS_DTENSOR_LOCAL_JSON_H
#define TOOLS_DTENSOR_LOCAL_JSON_H

#include "base/text.h"
#include "spec/spec.h"

/* Appends {"rank":0,"shape":[3,5],"offset":[0,0],"runs":[[[0,3]],[[0,5]]]}. Stops with false once out has more than
 * max_bytes, because a strided shard can have as many runs as the tensor has elements. */
bool local_json(const dt__sharding *sharding, const int64_t *coordinate, int64_t rank, size_t max_bytes,
                dt__text *out);

#endif
