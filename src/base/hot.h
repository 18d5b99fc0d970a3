/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks the functions on the path of every op call, from its public function to the drop of its output. The linker puts
 * them next to each other, so that a call touches few pages of code, whatever the link order.
 */
#ifndef DT_BASE_HOT_H
#define DT_BASE_HOT_H

#define DT__HOT __attribute__((hot))

#endif
