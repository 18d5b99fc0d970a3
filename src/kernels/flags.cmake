# SPDX-License-Identifier: Apache-2.0
# Each instruction set has a file of its own in src/kernels, compiled for it; instruction_sets.c queries the CPU before
# it offers its table. Products and sums are never fused: fused ones round differently, and all tables must compute the
# same bits. src/random computes the constants of draws, which must not depend on the architecture either.
file(GLOB kernel_sources CONFIGURE_DEPENDS src/kernels/*.c src/random/*.c)
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off)
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
# A block of registers stays in registers only if the loops over it are unrolled, however long their bodies are.
# Tracking the variables of these loops for the debugger would take as long as compiling them.
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS
             "$<$<C_COMPILER_ID:GNU>:--param=max-completely-peeled-insns=2000;-fno-var-tracking>")
# errno and the exception flags are not used; without these options selections and square roots are not vectorized.
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS -fno-math-errno -fno-trapping-math)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE src/kernels/isa_avx2.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mf16c)
  set_property(SOURCE src/kernels/isa_avx512_bf16.c APPEND PROPERTY COMPILE_OPTIONS
               -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512bf16 -mprefer-vector-width=512)
  set_property(SOURCE src/kernels/isa_avx512.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mf16c
               -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
endif()
