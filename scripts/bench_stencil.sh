#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jacobi sweeps by dt_local_map with halos, compared with an MPI program with the same loop. Both take turns in short
# rounds, and the fastest sweep of each counts. Prints a table, then a JSON object per row.
# Usage: bench_stencil.sh [--quick] [--rounds N]
set -euo pipefail
cd "$(dirname "$0")/.."
quick=""
rounds=""
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --rounds) rounds=$2 && shift ;;
    *) echo "usage: bench_stencil.sh [--quick] [--rounds N]" >&2 && exit 2 ;;
    esac
    shift
done
rounds=${rounds:-$([ -n "$quick" ] && echo 2 || echo 6)}

bench=build/bench
mpi=(mpirun --oversubscribe --bind-to none)
[ "$(id -u)" = 0 ] && mpi+=(--allow-run-as-root)
has_mpi=""
if [ -x $bench/mpi_stencil_peer ] && command -v mpirun >/dev/null; then
    has_mpi=yes
else
    echo "Open MPI is not installed: its rows are omitted."
fi

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
for ranks in 2 4; do
    for ((round = 0; round < rounds; round++)); do
        $bench/bench_stencil --ranks $ranks $quick >>"$rows"
        [ -z "$has_mpi" ] || "${mpi[@]}" -n $ranks $bench/mpi_stencil_peer $quick >>"$rows"
    done
done

awk -F '\t' '
    {
        key = $2 "\t" $3
        if (!(key in known)) {
            known[key] = 1
            order[n++] = key
        }
        if (!(($1, key) in best) || $4 < best[$1, key])
            best[$1, key] = $4
        if (key in sum && sum[key] != $5)
            differs = 1
        sum[key] = $5
    }
    END {
        printf "%5s %-11s %9s %9s %7s %6s\n", "ranks", "grid f64", "ours us", "openmpi", "ratio", "target"
        for (i = 0; i < n; i++) {
            split(order[i], part, "\t")
            ours = best["ours", order[i]]
            theirs = best["openmpi", order[i]]
            large = part[2] == 4096
            printf "%5d %-11s %9.0f %9.0f %7.2f %6s %s\n", part[1], "[" part[2] "," part[2] "]", ours, theirs,
                   theirs / ours, large ? "0.8" : "", large && theirs ? (theirs / ours >= 0.8 ? "yes" : "NO") : ""
            json[i] = sprintf("{\"bench\":\"stencil\",\"config\":{\"ranks\":%d,\"grid\":%d},\"ours\":%.5g," \
                              "\"unit\":\"us\",\"peer\":\"openmpi\",\"theirs\":%.5g,\"ratio\":%.4g}",
                              part[1], part[2], ours, theirs, theirs / ours)
        }
        for (i = 0; i < n; i++)
            print json[i]
        if (differs) {
            print "bench_stencil: the sums of both programs differ" >"/dev/stderr"
            exit 1
        }
    }' "$rows"
