#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Requests per second that `dtensor query` answers (small `shard` requests), next to the target of 20,000 for editors and
# test suites. Prints a table line and a JSON object. Usage: bench_query.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
n=200000
[ "${1:-}" = --quick ] && n=60000
requests=$(mktemp)
trap 'rm -f "$requests"' EXIT
awk -v n=$n 'BEGIN {
    split("[2] [4] [8] [2,2] [2,4]", mesh, " ")
    split("S(0)|S(1)|P(sum)|R,S(0)|S(0),S(1)", placements, "|")
    for (i = 0; i < n; i++) {
        k = i % 5 + 1
        printf "{\"q\":\"shard\",\"mesh\":%s,\"shape\":[%d,%d],\"placements\":\"%s\"}\n", mesh[k], i % 4096 + 1, \
            i % 77 + 1, placements[k]
    }
}' >"$requests"
begin=$(date +%s%N)
answered=$(build/bin/dtensor query <"$requests" | grep -c '"local"')
end=$(date +%s%N)
[ "$answered" = "$n" ] || { echo "bench_query: $answered of $n requests were answered" >&2; exit 1; }
awk -v n=$n -v ns=$((end - begin)) 'BEGIN {
    rate = n / ns * 1e9
    printf "shard requests  %8.0f per second   target %d   ratio %.2f\n", rate, 20000, rate / 20000
    printf "{\"bench\":\"query\",\"config\":{\"q\":\"shard\"},\"ours\":%.0f,\"unit\":\"1/s\",\"peer\":\"limit\",\"theirs\":20000,\"ratio\":%.2f}\n", \
        rate, rate / 20000
}'
