#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/skipped_tests.py on a project of made-up tests, by the ctest that is installed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/CTestTestfile.cmake" <<'TESTS'
add_test(a.fine bash -c "echo fine")
add_test(a.wrong false)
TESTS
run() { # NAME COMMAND: one more test that exits with 77 where it skips
    printf 'add_test(%s bash -c [[%s]])\nset_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77)\n' "$1" "$2" "$1"
}
expect() { # EXPECTED STATUS OPTION...
    local status=0 output
    (cd "$work" && ctest --output-junit "$work/tests.xml" --test-output-size-passed 1000000 >/dev/null 2>&1) || true
    output=$("$DTENSOR_SOURCE/scripts/skipped_tests.py" "${@:3}" "$work/tests.xml") || status=$?
    if [ "$output" != "$1" ] || [ $status != "$2" ]; then
        printf 'got status %s and\n%s\nexpected status %s and\n%s\n' $status "$output" "$2" "$1" >&2
        exit 1
    fi
}
expect "Skipped: nothing" 0 --bare
run a.kernel 'echo "skipped: the kernel forbids it"; exit 77' >>"$work/CTestTestfile.cmake"
expect "Skipped: 1
  a.kernel: the kernel forbids it" 0 --bare
{
    run a.lint 'echo "tidy: skipped, there is no clang-tidy"; exit 77'
    run a.silent 'exit 77'
    # As cmocka prints: two functions of three, listed once more at the end; much is printed in between.
    run a.functions 'printf "[ RUN      ] one\nskipped: too small\n[  SKIPPED ] one\n[ RUN      ] two\n[       OK ] two\n"
        seq 10000; printf "[ RUN      ] three\n[  SKIPPED ] three\n"
        printf "[  SKIPPED ] 2 test(s), listed below:\n[  SKIPPED ] one\n[  SKIPPED ] three\n"'
} >>"$work/CTestTestfile.cmake"
all="Skipped: 5
  a.kernel: the kernel forbids it
  a.lint: there is no clang-tidy
  a.silent: no reason printed
  a.functions, one: too small
  a.functions, three: no reason printed"
expect "$all" 0
expect "$all" 1 --bare
