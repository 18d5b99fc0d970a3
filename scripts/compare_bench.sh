#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the speed of an older commit with the working tree's. Usage: compare_bench.sh [--quick] [--rounds N] BASE [part ...]
#
# The commit is extracted and built below build/compare. The benchmarks of both (by default dispatch, comm, redistribute,
# rules and plan) run alternately, and the best of all rounds counts for each row, so that both sides see the same machine.
# Prints old, new and their ratio: above 1 the working tree is faster; a row below 0.95 is marked SLOWER. The last line of
# a part is the geometric mean of its ratios, and the last lines of all repeat the means.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    echo "usage: compare_bench.sh [--quick] [--rounds N] BASE [part ...]" >&2
    exit 2
}
quick=()
rounds=5
while [[ ${1:-} == --* ]]; do
    case $1 in
    --quick) quick=(--quick) ;;
    --rounds) rounds=${2:?} && shift ;;
    *) usage ;;
    esac
    shift
done
[ $# -gt 0 ] || usage
base=$(git rev-parse --verify --short "$1^{commit}")
shift
parts=("$@")
[ $# -gt 0 ] || parts=(dispatch comm redistribute rules plan)

old=build/compare/$base
if [ ! -d "$old" ]; then
    mkdir -p "$old.part"
    git archive "$base" | tar -x -C "$old.part"
    mv "$old.part" "$old"
fi
targets=("${parts[@]/#/bench_}")
(cd "$old" && cmake --preset release >/dev/null && cmake --build build --target "${targets[@]}" >build.log) ||
    { tail -20 "$old/build.log" && exit 1; }

runs_of() { # PART: arguments of each run of a part, one line per run
    case $1 in
    redistribute) printf '%s\n' "--ranks 2" "--ranks 4" ;;
    comm) printf '%s\n' "--json --ranks 2" "--json --ranks 4 --bytes 4,4096,262144,4194304" ;;
    rules | plan) echo "--json" ;;
    *) echo "" ;;
    esac
}

rows=$(mktemp)
summary=$(mktemp)
trap 'rm -f "$rows" "$summary"' EXIT
for part in "${parts[@]}"; do
    : >"$rows"
    for ((round = 0; round < rounds; round++)); do
        for side in old new; do
            folder=.
            [ $side = new ] || folder=$old
            while read -r -a arguments; do
                "$folder/build/bench/bench_$part" "${arguments[@]}" "${quick[@]}" </dev/null | sed "s/^/$side\t/" >>"$rows"
            done < <(runs_of "$part")
        done
    done
    echo "== $part: $base (old) and the working tree (new), best of $rounds rounds"
    awk -F '\t' -v part="$part" -v summary="$summary" -f scripts/compare_bench.awk "$rows"
done
echo "== geometric means, $base over the working tree"
cat "$summary"
