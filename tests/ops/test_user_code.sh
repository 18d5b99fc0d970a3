#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls of ops compile without a warning, as C and as C++; a plain number where an option must be wrapped is diagnosed
# without any flag; and the header is what the schema lines say.
set -euo pipefail
cd "$DTENSOR_SOURCE"
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    flags=(-Wall -Wextra -pedantic -Werror -fsyntax-only -I include)
    $compiler -x c -std=c11 "${flags[@]}" tests/ops/user_code.c
    $compiler -x c++ -std=c++17 "${flags[@]}" tests/ops/user_code.c
    for mistake in 'dt_sum(x, .dim = 0)' 'dt_sum(x, 0)' 'dt_add(x, x, .alpha = 0)' \
        'dt_clamp(x, .min = 0.5)' 'dt_argmax(x, .dim = 1)' 'dt_dropout(x, .p = 0.1)' \
        'dt_dropout(x, .training = false)' 'dt_rand_like(x, .high = 0)' \
        'dt_distribute_tensor(x, NULL, "R", .source = 0)'; do
        program="#include <dtensor/dtensor.h>
dt_tensor *f(dt_tensor *x) { return $mistake; }"
        if $compiler -x c -std=c11 -Werror -fsyntax-only -I include - <<<"$program" 2>/dev/null; then
            echo "$compiler does not diagnose $mistake" >&2
            exit 1
        fi
    done
done
if command -v clang-format-14 >/dev/null; then
    python3 scripts/make_ops.py --check
    python3 scripts/make_cpp.py --check
fi
