#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our collectives under mpirun next to Open MPI's own, in turn, fastest repeat of each row: four ranks as two pretended
# nodes of two; four ranks on two hosts joined by a limited link (scripts/netns.sh, as root), next to the link's bound
# too; and the start of an empty program. Prints tables, then a JSON object per row.
# Usage: bench_mpi.sh [--quick] [--rounds N] [--rate 200] [--part nodes|link|start]
set -euo pipefail
cd "$(dirname "$0")/.."
quick=""
rounds=""
rate=200 # Mbit/s of the link, in either direction
part=""
inside="" # rows of the link are measured: a call of this script by itself, on node0
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --rounds) rounds=$2 && shift ;;
    --rate) rate=$2 && shift ;;
    --part) part=$2 && shift ;;
    --inside) inside=yes ;;
    *) echo "usage: bench_mpi.sh [--quick] [--rounds N] [--rate MBIT] [--part nodes|link|start]" >&2 && exit 2 ;;
    esac
    shift
done
rounds=${rounds:-$([ -n "$quick" ] && echo 2 || echo 5)}

bench=build/bench
if [ ! -x $bench/mpi_peer ] || ! command -v mpirun.openmpi >/dev/null; then
    echo "Open MPI is not installed."
    exit 0
fi
mpi=(mpirun.openmpi --oversubscribe --bind-to none -n 4)
[ "$(id -u)" != 0 ] || mpi+=(--allow-run-as-root)
nodes=(-x DTENSOR_NODES=2)

# 4 ranks, 2 nodes of 2.
measure_nodes() {
    local sizes=4,256,4096,65536,262144,1048576,16777216
    [ -z "$quick" ] || sizes=4,4096,65536,1048576
    for ((round = 0; round < rounds; round++)); do
        "${mpi[@]}" "${nodes[@]}" $bench/bench_mpi $quick --left --bytes $sizes | sed 's/^/nodes ours /'
        "${mpi[@]}" $bench/mpi_peer $quick --left --bytes $sizes | sed 's/^/nodes openmpi /'
    done
}

# 4 ranks on 2 hosts. The repeats are long, so that two rounds are enough.
measure_link() {
    local two_hosts=(scripts/netns_mpirun.sh openmpi -n 4) op
    for ((round = 0; round < 2; round++)); do
        for op in all_reduce all_gather; do
            local options=(--left --bytes "1048576,4194304" --op "$op" --budget 0.5)
            "${two_hosts[@]}" $bench/bench_mpi "${options[@]}" | sed 's/^/link ours /'
            "${two_hosts[@]}" $bench/mpi_peer "${options[@]}" | sed 's/^/link openmpi /'
        done
        "${two_hosts[@]}" $bench/bench_mpi --shard-to-shard | sed 's/^/move /'
        "${two_hosts[@]}" $bench/mpi_redistribute_peer --shard-to-shard | sed 's/^/move /'
    done
}

# Start to finish, in milliseconds.
measure_start() {
    local started
    for ((round = 0; round < 3 * rounds; round++)); do
        for side in ours openmpi; do
            started=$(date +%s%N)
            "${mpi[@]}" $bench/"$([ $side = ours ] && echo bench_mpi || echo mpi_peer)" --start
            echo "start $side empty 4 0 left $((($(date +%s%N) - started) / 1000))"
        done
    done
}

if [ -n "$inside" ]; then
    measure_link
    exit
fi
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
is_asked() { [ "${part:-$1}" = "$1" ]; }
if is_asked nodes; then measure_nodes >>"$rows"; fi
if is_asked link; then
    scripts/netns.sh --rate "${rate}mbit" "$0" --inside >>"$rows" || [ $? = 77 ]
    sed -n 's/^skipped: /The link is not measured: /p' "$rows"
fi
if is_asked start; then measure_start >>"$rows"; fi
awk -v rate="$rate" -f scripts/bench_mpi.awk "$rows"
