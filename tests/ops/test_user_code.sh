#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls of ops compile without a warning, as C and as C++; and the header is what the schema lines say.
set -euo pipefail
cd "$DTENSOR_SOURCE"
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    flags=(-Wall -Wextra -pedantic -Werror -fsyntax-only -I include)
    $compiler -x c -std=c11 "${flags[@]}" tests/ops/user_code.c
    $compiler -x c++ -std=c++17 "${flags[@]}" tests/ops/user_code.c
done
if command -v clang-format-14 >/dev/null; then
    python3 scripts/make_ops.py --check
fi
