/* SPDX-License-Identifier: Apache-2.0
 *
 * Under the address sanitizer, free memory of our own allocators is poisoned, so that an access is reported like a use
 * after free. Otherwise these macros do nothing.
 */
#ifndef DT_BASE_POISON_H
#define DT_BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define DT__HAS_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DT__HAS_POISON 1
#endif
#endif

#ifdef DT__HAS_POISON
#include <sanitizer/asan_interface.h>
#define DT__POISON(memory, bytes)   ASAN_POISON_MEMORY_REGION(memory, bytes)
#define DT__UNPOISON(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
#define DT__POISON(memory, bytes)   ((void)(memory), (void)(bytes))
#define DT__UNPOISON(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#endif
