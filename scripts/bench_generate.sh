#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tokens per second of a Llama of 120M parameters (examples/16_huggingface), one thread per rank, next to the bound that
# reading its weights sets, measured in the same run, and to transformers where python3 has it. Prints a table, then a
# JSON object per row.
# PYTHON selects another python3. Usage: bench_generate.sh [--quick] [--folder DIR]
#
# A token costs the difference between generating many and few, so that loading and the prompt do not count.
set -euo pipefail
cd "$(dirname "$0")/.."
few=8
many=72
repeats=4
parent=${TMPDIR:-/tmp}
python=${PYTHON:-python3}
while [ $# -gt 0 ]; do
    case $1 in
    --quick) repeats=1 && many=24 ;;
    --folder) parent=$2 && shift ;;
    *) echo "usage: bench_generate.sh [--quick] [--folder DIR]" >&2 && exit 2 ;;
    esac
    shift
done
folder=$(mktemp -d "$parent/dtensor_bench_XXXXXX")
rows=$folder/rows
trap 'rm -rf "$folder"' EXIT

build/bench/bench_generate make "$folder/model" >>"$rows"
# One row of the tokens 1 to 8.
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 8), }" >"$folder/prompt.npy"
for i in 1 2 3 4 5 6 7 8; do
    printf '%b' "\\x0$i\\0\\0\\0\\0\\0\\0\\0" >>"$folder/prompt.npy"
done

# seconds RANKS DTYPE TOKENS
seconds() {
    local begin end
    begin=$(date +%s.%N)
    build/bin/dtrun -n "$1" --threads 1 build/examples/16_huggingface --model "$folder/model" --mesh "tp=$1" --dtype "$2" \
        --tokens "$folder/prompt.npy" --generate "$3" --out "$folder/made.json"
    end=$(date +%s.%N)
    awk "BEGIN { print $end - $begin }"
}
for ((i = 0; i < repeats; i++)); do
    for ranks in 1 2; do
        build/bin/dtrun -n $ranks --threads 1 build/bench/bench_generate read 480 >>"$rows"
        for dtype in f32 bf16; do
            printf 'ours\t%s\t%d\t%d\t%s\n' $dtype $ranks $few "$(seconds $ranks $dtype $few)" >>"$rows"
            printf 'ours\t%s\t%d\t%d\t%s\n' $dtype $ranks $many "$(seconds $ranks $dtype $many)" >>"$rows"
        done
    done
done
if "$python" -c 'import torch, transformers' 2>/dev/null; then
    "$python" bench/transformers_generate_peer.py "$folder/model" $few $many $repeats >>"$rows" 2>"$folder/log" || cat "$folder/log" >&2
else
    echo "$python has no transformers: its column is omitted."
fi

awk -F '\t' -v few=$few -v many=$many '
    $1 == "weights" { weights = $2 }
    $1 == "read" && $3 > read[$2] { read[$2] = $3 }
    $1 == "ours" && (!(($2, $3, $4) in best) || $5 < best[$2, $3, $4]) { best[$2, $3, $4] = $5 }
    $1 == "transformers" { theirs[$2, $3] = 1 / $4 }
    END {
        printf "read by 1 thread %.2f GB/s, by 2 %.2f: %.2f times\n", read[1] / 1e9, read[2] / 1e9, read[2] / read[1]
        printf "%5s %5s %10s %10s %10s %10s %12s\n", "dtype", "ranks", "tokens/s", "bound", "of bound", "of f32, 1", "transformers"
        for (d = 0; d < 2; d++)
            for (ranks = 1; ranks <= 2; ranks++) {
                dtype = d ? "bf16" : "f32"
                ours = (many - few) / (best[dtype, ranks, many] - best[dtype, ranks, few])
                bound = read[ranks] / (weights * (d ? 2 : 4))
                if (!d && ranks == 1)
                    alone = ours
                peer = theirs[dtype, ranks]
                printf "%5s %5d %10.2f %10.2f %10.2f %10.2f %12s\n", dtype, ranks, ours, bound, ours / bound, ours / alone,
                       peer ? sprintf("%.2f", peer) : ""
                printf "{\"bench\":\"generate\",\"config\":{\"dtype\":\"%s\",\"ranks\":%d},\"ours\":%.5g,\"unit\":\"tokens/s\"," \
                       "\"peer\":\"transformers\",\"theirs\":%.5g,\"bound\":%.5g,\"of_f32\":%.4g,\"read_ratio\":%.4g}\n", dtype, ranks,
                       ours, peer, bound, ours / alone, read[2] / read[1]
            }
    }' "$rows"
