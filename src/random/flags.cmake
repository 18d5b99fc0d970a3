# SPDX-License-Identifier: Apache-2.0
# As src/kernels/flags.cmake: one file per instruction set, and products and sums never fused, so that all give the same
# bits.
file(GLOB random_sources CONFIGURE_DEPENDS src/random/*.c)
set_property(SOURCE ${random_sources} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off -fno-math-errno)
set_property(SOURCE ${random_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE src/random/avx2.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mf16c)
  set_property(SOURCE src/random/avx512.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mf16c -mavx512f -mavx512bw
               -mavx512dq -mavx512vl)
endif()
