#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our collectives next to those of Open MPI and the limit of the memory. The two programs take turns in short rounds, and
# the fastest repeat of each row counts, so that other work on the machine disturbs both alike. Prints a table, then a
# JSON object per row. Usage: bench_comm.sh [--quick] [--rounds N] [--ranks "2 4 8"] [options of build/bench/bench_comm]
set -euo pipefail
cd "$(dirname "$0")/.."
quick=""
rounds=""
all_ranks="2 4 8"
options=()
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --rounds) rounds=$2 && shift ;;
    --ranks) all_ranks=$2 && shift ;;
    *) options+=("$1") ;;
    esac
    shift
done
rounds=${rounds:-$([ -n "$quick" ] && echo 2 || echo 5)}

bench=build/bench
mpi=(mpirun --oversubscribe --bind-to none)
[ "$(id -u)" = 0 ] && mpi+=(--allow-run-as-root)
has_mpi=""
if [ -x $bench/mpi_peer ] && command -v mpirun >/dev/null; then
    has_mpi=yes
else
    echo "Open MPI is not installed: rows without a peer are not shown."
fi

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
for ranks in $all_ranks; do
    few=()
    if [ "$ranks" -gt 2 ]; then
        [ -n "$quick" ] && few=(--bytes "4,4096,262144,4194304")
    fi
    for ((round = 0; round < rounds; round++)); do
        $bench/bench_comm --ranks "$ranks" $quick "${few[@]}" "${options[@]}" | sed 's/^/ours /' >>"$rows"
        [ -z "$has_mpi" ] ||
            "${mpi[@]}" -n "$ranks" $bench/mpi_peer $quick "${few[@]}" "${options[@]}" | sed 's/^/openmpi /' >>"$rows"
    done
done

awk -f scripts/bench_comm.awk "$rows"
