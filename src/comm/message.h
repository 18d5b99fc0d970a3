/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages that a rank sends to itself: copied when sent, received in order. No transport takes part.
 */
#ifndef DT_COMM_MESSAGE_H
#define DT_COMM_MESSAGE_H

#include "comm/runtime.h"

/* DT_OK when the message is stored, or taken and copied to dst; DT_IN_PROGRESS for a receive that finds none; an
 * error where the message does not fit the receive. */
dt_status dt__message_send(dt_work *work);
dt_status dt__message_receive(dt_work *work);
/* Whether a receive will find its message: one was sent, and no earlier receive is still to be served. */
bool dt__message_is_there(const dt_work *work);
void dt__messages_free(dt_group *group);

#endif
