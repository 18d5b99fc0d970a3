#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a call from Python costs, in nanoseconds, on f32[4,4] over a mesh of one rank, compared with PyTorch's DTensor
# where PYTHON has it; the seconds of import and init, compared with an empty program; and a step of the GPT, compared
# with the one in C. Usage: bench_python.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
export PYTHONPATH=build/python
torch=()
if [ "${1:-}" != --quick ] && "$python" -c 'import torch.distributed.tensor' 2>/dev/null; then
    torch=(--torch)
fi
printf '%-12s %10s %10s\n' 'ns per call' ours torch
"$python" bench/python_calls.py "${torch[@]}" | while read -r name ours theirs; do
    printf '%-12s %10s %10s\n' "$name" "$ours" "$theirs"
    peer=""
    if [ "$theirs" != - ]; then peer=",\"peer\":\"torch\",\"theirs\":$theirs"; fi
    printf '{"bench":"python","config":{"call":"%s"},"ours":%s,"unit":"ns"%s}\n' "$name" "$ours" "$peer"
done

# PROGRAM: the seconds of the fastest of ten starts
start_of() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        local begin end
        begin=$(date +%s%N)
        "$python" -c "$1"
        end=$(date +%s%N)
        echo $((end - begin))
    done | sort -n | awk 'NR == 1 { printf "%.3f", $1 / 1e9 }'
}
empty=$(start_of pass)
ours=$(start_of 'import dtensor; dtensor.init()')
printf '%-12s %10s, an empty program %s s\n' 'start' "$ours s" "$empty"
printf '{"bench":"python","config":{"call":"import and init"},"ours":%s,"unit":"s","peer":"an empty program","theirs":%s}\n' "$ours" "$empty"

if "$python" -c 'import numpy' 2>/dev/null; then
    "$python" bench/python_gpt.py "$@"
fi
