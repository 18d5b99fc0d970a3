/* SPDX-License-Identifier: Apache-2.0
 *
 * A condition that always holds at a place, for reasons that are explained elsewhere: documented for readers and for
 * the static analyzer; no code.
 */
#ifndef DT_BASE_ASSUME_H
#define DT_BASE_ASSUME_H

#ifdef __clang_analyzer__
#define DT__ASSUME(condition)                                                                                        \
    do {                                                                                                             \
        if (!(condition))                                                                                            \
            __builtin_unreachable();                                                                                 \
    } while (0)
#else
#define DT__ASSUME(condition) ((void)sizeof(condition))
#endif

#endif
