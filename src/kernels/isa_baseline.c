/* SPDX-License-Identifier: Apache-2.0
 *
 * The table that every CPU of the architecture runs: SSE2 on x86-64, NEON on AArch64, 16-byte generic vectors
 * elsewhere.
 */
#ifdef __x86_64__
#include "kernels/simd_sse2.h"
#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include "kernels/simd_neon.h"
#endif

#include "kernels/isa_table.h"
