#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every header is self-contained: the public ones as strict C11 and as C++17, the internal ones as the library uses them.
set -euo pipefail
cd "$DTENSOR_SOURCE"
failed=0

# include_twice HEADER COMPILER FLAGS...: including it first, and twice, compiles without a warning.
include_twice() {
    local header=$1 compiler=$2
    shift 2
    printf '#include "%s"\n#include "%s"\ntypedef int nothing_else;\n' "$header" "$header" |
        "$compiler" -Wall -Wextra -Werror "$@" -fsyntax-only -I include - || failed=1
}

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for header in include/dtensor/*.h; do
        include_twice "dtensor/${header##*/}" $compiler -x c -std=c11 -pedantic
        include_twice "dtensor/${header##*/}" $compiler -x c++ -std=c++17 -pedantic
    done
    for header in include/dtensor/*.hpp; do
        include_twice "dtensor/${header##*/}" $compiler -x c++ -std=c++17 -pedantic
    done
    for header in src/*/*.h; do
        if [[ $header == */simd_neon.h ]]; then continue; fi # of another architecture: make check-aarch64 compiles it
        include_twice "${header#src/}" $compiler -x c -std=gnu11 -D_GNU_SOURCE -I src -Wno-unused-function
    done
done
exit $failed
