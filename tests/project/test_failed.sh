#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/failed_tests.py on a project of synthetic tests, by the installed ctest with the options of the Makefile: the last
# output of a failed test is printed, also after a long output.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
size=$(grep -o -- '--test-output-size-failed [0-9]*' "$DTENSOR_SOURCE/Makefile")
report_failures() {
    # shellcheck disable=SC2086 # two words
    (cd "$work" && ctest --output-junit "$work/tests.xml" $size >/dev/null 2>&1) || true
    "$DTENSOR_SOURCE/scripts/failed_tests.py" "$work/tests.xml"
}
echo 'add_test(a.valid bash -c "echo valid")' >"$work/CTestTestfile.cmake"
if [ -n "$(report_failures)" ]; then
    echo "expected no output without failed tests" >&2
    exit 1
fi
cat >>"$work/CTestTestfile.cmake" <<'TESTS'
add_test(a.short bash -c "echo a short text; exit 1")
add_test(a.long bash -c "seq 200000; echo the last line; exit 1")
add_test(a.killed bash -c "echo before the end; kill -9 $$")
add_test(a.late bash -c "echo before the time-out; sleep 60")
set_tests_properties(a.late PROPERTIES TIMEOUT 1)
add_test(a.silent false)
TESTS
output=$(report_failures)
for part in "== failed: a.short
a short text" "== failed: a.long
(199801 lines before are in $work/tests.xml)
199802" "200000
the last line" "== failed: a.killed
before the end" "== failed: a.late
before the time-out" "== failed: a.silent
(no output)" "Failed: a.short, a.long, a.killed, a.late, a.silent"; do
    if [[ $output != *"$part"* ]]; then
        printf 'expected\n%s\ngot\n%s\n' "$part" "$output" >&2
        exit 1
    fi
done
