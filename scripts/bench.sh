#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks and collects their measurements in build/bench/results.jsonl, one JSON object per line.
# Usage: bench.sh [--quick] [part ...], all parts by default.
#
# A part is build/bench/bench_<part>, or scripts/bench_<part>.sh where peers must be started in turn. Lines on its
# standard output that begin with a brace are collected, the others (its table) are shown. A part that is run
# again replaces its own lines and leaves those of the other parts.
set -euo pipefail
cd "$(dirname "$0")/.."
quick=()
if [ "${1:-}" = --quick ]; then
    quick=(--quick)
    shift
fi

parts=("$@")
if [ ${#parts[@]} -eq 0 ]; then
    for source in bench/bench_*.c scripts/bench_*.sh; do
        [ -e "$source" ] || continue
        name=$(basename "$source")
        name=${name#bench_}
        parts+=("${name%.*}")
    done
    mapfile -t parts < <(printf '%s\n' "${parts[@]}" | sort -u)
fi

results=build/bench/results
mkdir -p "$results"
for part in "${parts[@]}"; do
    if [ -x "scripts/bench_$part.sh" ]; then
        program=scripts/bench_$part.sh
    elif [ -x "build/bench/bench_$part" ]; then
        program=build/bench/bench_$part
    else
        echo "bench: no such part: $part" >&2
        exit 2
    fi
    echo "== $part"
    "$program" "${quick[@]}" | awk -v file="$results/$part.part" '
        BEGIN { printf "" >file }
        /^\{/ { print >file; next }
        { print; fflush() }'
    mv "$results/$part.part" "$results/$part.jsonl"
done
cat "$results"/*.jsonl >build/bench/results.jsonl
echo "Measured values: build/bench/results.jsonl"
