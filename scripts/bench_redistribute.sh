#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our redistributions next to the same moves written with Open MPI's collectives, next to PyTorch's DTensor on gloo where
# python3 has it, and next to the limit of the memory. The programs take turns in short rounds, and the fastest repeat of
# each row counts. Prints a table, then a JSON object per row. Usage: bench_redistribute.sh [--quick] [--rounds N]
set -euo pipefail
cd "$(dirname "$0")/.."
quick=""
rounds=""
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --rounds) rounds=$2 && shift ;;
    *) echo "usage: bench_redistribute.sh [--quick] [--rounds N]" >&2 && exit 2 ;;
    esac
    shift
done
rounds=${rounds:-$([ -n "$quick" ] && echo 2 || echo 8)}

bench=build/bench
mpi=(mpirun --oversubscribe --bind-to none)
[ "$(id -u)" = 0 ] && mpi+=(--allow-run-as-root)
has_mpi=""
has_torch=""
if [ -x $bench/mpi_redistribute_peer ] && command -v mpirun >/dev/null; then
    has_mpi=yes
else
    echo "Open MPI is not installed: its rows are omitted."
fi
if python3 -c 'import torch.distributed.tensor' 2>/dev/null; then
    has_torch=yes
else
    echo "PyTorch is not installed (python3 -m pip install torch): its rows are omitted."
fi

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
for ranks in 2 4; do
    for ((round = 0; round < rounds; round++)); do
        $bench/bench_redistribute --ranks $ranks $quick >>"$rows"
        [ -z "$has_mpi" ] || "${mpi[@]}" -n $ranks $bench/mpi_redistribute_peer $quick >>"$rows"
    done
    [ -z "$has_torch" ] || python3 bench/torch_redistribute_peer.py --ranks $ranks $quick >>"$rows"
done

awk -F '\t' -f scripts/bench_redistribute.awk "$rows"
