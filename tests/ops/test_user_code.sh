#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls of ops compile without a warning, as C and as C++; a plain number where an option must be wrapped is diagnosed
# without any flag, with the name of the macro that is meant; and the header matches the schema lines.
set -euo pipefail
cd "$DTENSOR_SOURCE"
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    flags=(-Wall -Wextra -pedantic -Werror -fsyntax-only -I include)
    $compiler -x c -std=c11 "${flags[@]}" tests/ops/user_code.c
    $compiler -x c++ -std=c++17 "${flags[@]}" tests/ops/user_code.c
    # A mistake, and the macro that the compiler's own message leads to.
    while IFS='|' read -r mistake macro; do
        program="#include <dtensor/dtensor.h>
dt_tensor *f(dt_tensor *x) { return $mistake; }"
        if messages=$($compiler -x c -std=c11 -Werror -fsyntax-only -I include - <<<"$program" 2>&1); then
            echo "$compiler does not diagnose $mistake" >&2
            exit 1
        fi
        # The source line itself does not count. All is read: with -q, the first grep could fail to write to the second.
        if ! grep -v -F "$mistake" <<<"$messages" | grep "write_$macro\b" >/dev/null; then
            printf '%s: %s: expected a message with %s, got\n%s\n' $compiler "$mistake" "$macro" "$messages" >&2
            exit 1
        fi
    done <<'END'
dt_sum(x, .dim = 0)|DT_DIMS
dt_sum(x, 0)|DT_DIMS
dt_sum(x, .dim = 1)|DT_DIMS
dt_add(x, x, .alpha = 0)|DT_NUMBER
dt_clamp(x, .min = 0.5)|DT_NUMBER
dt_argmax(x, .dim = 1)|DT_INT
dt_argmax(x, .dim = 0)|DT_INT
dt_dropout(x, .p = 0.1)|DT_REAL
dt_randn(dt_tensor_ctx(x), DT_SHAPE(2), .std = 0.02)|DT_REAL
dt_randn(dt_tensor_ctx(x), DT_SHAPE(2), .std = 0)|DT_REAL
dt_dropout(x, .training = false)|DT_TRUE_or_DT_FALSE
dt_dropout(x, .training = true)|DT_TRUE_or_DT_FALSE
dt_rand_like(x, .high = 0)|DT_REAL
dt_distribute_tensor(x, NULL, "R", .source = 0)|DT_INT
END
done
if command -v clang-format-14 >/dev/null; then
    python3 scripts/make_ops.py --check
    python3 scripts/make_cpp.py --check
    # No op's name is in the generators: what is special about an op is in its descriptor.
    for name in $("$DTENSOR_BUILD/bin/op_schemas" | sed 's/^{"name":"\([A-Za-z0-9_]*\)".*/\1/'); do
        case $name in bool | float | int) continue ;; esac # also the names of types
        if grep -n "[\"']${name}[\"']" scripts/make_ops.py scripts/op_model.py scripts/make_cpp.py; then
            echo "the generators name the op $name"
            exit 1
        fi
    done
fi
