/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks the functions that every call of an op passes through, from its public function to the drop of its output. The
 * linker puts them next to each other, so that a call touches few pages of code, wherever its objects come in the link.
 */
#ifndef DT_BASE_HOT_H
#define DT_BASE_HOT_H

#define DT__HOT __attribute__((hot))

#endif
