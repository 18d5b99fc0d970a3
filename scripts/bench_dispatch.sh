#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What running an op costs: times (bench_dispatch), those of PyTorch where python3 has it, and instructions of plain and
# distributed calls as callgrind counts them, next to the limit of 400 for what distribution adds, and with the log on. Usage:
# bench_dispatch.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
program=build/bench/bench_dispatch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" "$@" | tee "$work/ours"

if python3 -c 'import torch.distributed.tensor' 2>/dev/null; then
    python3 bench/torch_dispatch_peer.py "$@" "$work/ours"
else
    echo "torch: skipped, python3 has no torch.distributed.tensor"
fi
if ! command -v valgrind >/dev/null; then
    echo "instructions: skipped, valgrind is not installed"
    exit 0
fi
n=1000
count() { # OP KIND: instructions of one call
    if ! valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect=bench_calls "$program" \
        --run "$1" "$2" $n >"$work/report" 2>&1; then
        echo 0
        return
    fi
    awk -v n=$n '/Collected/ { printf "%.0f\n", $NF / n }' "$work/report"
}
printf '%-12s %12s %12s %8s %7s\n' instructions plain distributed added limit
for op in add mul mul_scalar relu mm linear sum softmax layer_norm view transpose add_; do
    plain=$(count $op plain)
    spread=$(count $op distributed)
    if [ "$plain" = 0 ] || [ "$spread" = 0 ]; then
        printf '%-12s skipped: the op does not run\n' $op
        continue
    fi
    printf '%-12s %12d %12d %8d %7d\n' $op "$plain" "$spread" $((spread - plain)) 400
    printf '{"bench":"dispatch","config":{"op":"%s","what":"instructions added"},"ours":%d,"unit":"instructions","peer":"limit","theirs":400}\n' \
        $op $((spread - plain))
done
# What a log that is off costs a call whose decision is cached: its instructions next to those with the log on.
printf '%-12s %12s %12s %8s\n' log off debug added
for op in add mm; do
    off=$(DTENSOR_LOG=off count $op distributed)
    on=$(DTENSOR_LOG=debug count $op distributed)
    printf '%-12s %12d %12d %8d\n' $op "$off" "$on" $((on - off))
done
