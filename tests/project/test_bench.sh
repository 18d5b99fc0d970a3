#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/bench.sh in a synthetic project of two parts: tables are printed, measured values are collected and replaced.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{scripts,bench,build/bench}
cp "$DTENSOR_SOURCE/scripts/bench.sh" "$work/scripts/"
part() { # NAME FILE: prints its name, its arguments and the number of its runs
    printf '#!/usr/bin/env bash\necho run >>%q\necho "%s table $*;"\necho "{\\"bench\\":\\"%s\\",\\"ours\\":$(wc -l <%q)}"\n' \
        "$work/$1" "$1" "$1" "$work/$1" >"$work/$2"
    chmod +x "$work/$2"
}
touch "$work/bench/bench_one.c" "$work/bench/bench_two.c"
part one build/bench/bench_one
part two-program build/bench/bench_two
part two scripts/bench_two.sh

expect() {
    if [ "$2" != "$3" ]; then
        printf '%s: expected\n%s\ngot\n%s\n' "$1" "$3" "$2" >&2
        exit 1
    fi
}
results() { cat "$work/build/bench/results.jsonl"; }

output=$("$work/scripts/bench.sh")
expect "all parts" "$output" "== one
one table ;
== two
two table ;
Measured values: build/bench/results.jsonl"
expect "values" "$(results)" '{"bench":"one","ours":1}
{"bench":"two","ours":1}'

output=$("$work/scripts/bench.sh" --quick two)
expect "one part" "$output" "== two
two table --quick;
Measured values: build/bench/results.jsonl"
expect "values of the part are replaced" "$(results)" '{"bench":"one","ours":1}
{"bench":"two","ours":2}'

status=0
"$work/scripts/bench.sh" three 2>/dev/null || status=$?
expect "no such part" $status 2

echo 'exit 3' >>"$work/build/bench/bench_one"
status=0
"$work/scripts/bench.sh" one >/dev/null || status=$?
expect "a part that fails" $status 3
expect "values of a part that failed stay" "$(results)" '{"bench":"one","ours":1}
{"bench":"two","ours":2}'
