/* SPDX-License-Identifier: Apache-2.0
 *
 * An invariant that always holds at this point, for reasons that are explained elsewhere, stated for readers and for
 * the static analyzer. Generates no code.
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
