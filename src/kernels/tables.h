/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that this build has. Which of them the CPU can run is decided in choose.c.
 */
#ifndef DT_KERNELS_TABLES_H
#define DT_KERNELS_TABLES_H

#include "kernels/kernels.h"

extern const dt__kernels dt__kernels_table_plain;
extern const dt__kernels dt__kernels_table_baseline;
#ifdef __x86_64__
extern const dt__kernels dt__kernels_table_avx2;
extern const dt__kernels dt__kernels_table_avx512;
#endif

#endif
