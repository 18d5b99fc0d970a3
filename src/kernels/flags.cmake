# SPDX-License-Identifier: Apache-2.0
# Each instruction set has files of its own in src/kernels, compiled for it; choose.c asks the CPU before it offers
# their table. Products and sums are never fused: fused ones round differently, and all tables must give the same bits.
file(GLOB kernel_sources CONFIGURE_DEPENDS src/kernels/*.c)
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off)
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
# A block of registers stays in registers only if the loops over it are unrolled, however long their bodies are. Where
# each variable of these loops lies at each instruction would take as long to work out as the loops themselves.
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS
             "$<$<C_COMPILER_ID:GNU>:--param=max-completely-peeled-insns=2000;-fno-var-tracking>")
# Nobody reads errno or the exception flags; without these, selections and square roots are not made vectors of.
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS -fno-math-errno -fno-trapping-math)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE src/kernels/avx2.c src/kernels/loops_avx2.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mf16c)
  set_property(SOURCE src/kernels/avx512.c src/kernels/loops_avx512.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mf16c
               -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
endif()
