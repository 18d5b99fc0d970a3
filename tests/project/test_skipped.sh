#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/skipped_tests.py on a project of synthetic tests, by the installed ctest.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/CTestTestfile.cmake" <<'TESTS'
add_test(a.valid bash -c "echo valid")
add_test(a.wrong false)
TESTS
add_skipped() { # NAME COMMAND: a test that exits with 77 if it is skipped
    printf 'add_test(%s bash -c [[%s]])\nset_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77)\n' "$1" "$2" "$1"
}
expect() { # EXPECTED STATUS OPTION...
    local status=0 output
    (cd "$work" && ctest --output-junit "$work/tests.xml" --test-output-size-passed 1000000 >/dev/null 2>&1) || true
    output=$("$DTENSOR_SOURCE/scripts/skipped_tests.py" "${@:3}" "$work/tests.xml") || status=$?
    if [ "$output" != "$1" ] || [ $status != "$2" ]; then
        printf 'expected status %s and\n%s\ngot status %s and\n%s\n' "$2" "$1" $status "$output" >&2
        exit 1
    fi
}
expect "Skipped: nothing" 0 --bare
add_skipped a.kernel 'echo "skipped: the kernel forbids it"; exit 77' >>"$work/CTestTestfile.cmake"
expect "Skipped: 1
  a.kernel: the kernel forbids it" 0 --bare
{
    add_skipped a.lint 'echo "tidy: skipped, there is no clang-tidy"; exit 77'
    add_skipped a.silent 'exit 77'
    # Output of cmocka: two of three functions are skipped, and listed again at the end, after much other output.
    add_skipped a.functions 'printf "[ RUN      ] one\nskipped: too small\n[  SKIPPED ] one\n[ RUN      ] two\n[       OK ] two\n"
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
