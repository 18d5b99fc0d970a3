/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of tensors in requests and answers: flat lists, row by row. Numbers that JSON cannot write are "nan", "inf"
 * and "-inf"; complex ones are [re,im].
 */
#ifndef TOOLS_DTENSOR_REQUEST_DATA_H
#define TOOLS_DTENSOR_REQUEST_DATA_H

#include "request_call.h"

/* Reads the values of the call's inputs, in the order of the call, each as dense memory in the arena. */
dt_status request_data(const request *asked, const dt__placed_call *parts, const void ***out);
/* Appends n elements as a list. */
void request_data_add(dt__text *out, dt_dtype dtype, const void *data, int64_t n);

#endif
