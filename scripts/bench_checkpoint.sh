#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Saving and loading a checkpoint of 500 MB, compared with dd, which writes as many bytes, and with PyTorch's
# distributed checkpoint where python3 has torch; also saving it as one .npz file. Prints a table, then a JSON object
# per row.
# PYTHON selects another python3. Usage: bench_checkpoint.sh [--quick] [--folder DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
megabytes=500
repeats=5
parent=${TMPDIR:-/tmp}
python=${PYTHON:-python3}
while [ $# -gt 0 ]; do
    case $1 in
    --quick) repeats=2 ;;
    --folder) parent=$2 && shift ;;
    *) echo "usage: bench_checkpoint.sh [--quick] [--folder DIR]" >&2 && exit 2 ;;
    esac
    shift
done
folder=$(mktemp -d "$parent/dtensor_bench_XXXXXX")
rows=$folder/rows
trap 'rm -rf "$folder"' EXIT

# Seconds of dd, as it prints them. Its input is zeros, which cost nothing to read.
dd_seconds() {
    rm -f "$folder/dd"
    LC_ALL=C dd if=/dev/zero of="$folder/dd" bs=16M count=$((megabytes * 1048576)) iflag=count_bytes "$@" 2>&1 |
        sed -n 's/.* \([0-9.e-]*\) s, .*/\1/p'
}
for ((i = 0; i <= repeats; i++)); do
    unsynced=$(dd_seconds)
    printf 'dd\t1\tR\t%s\t%s\n' save "$unsynced" save_npz "$unsynced" >>"$rows"
    printf 'dd\t1\tR\tsave_synced\t%s\n' "$(dd_seconds conv=fsync)" >>"$rows"
done
rm -f "$folder/dd"
has_torch=""
if "$python" -c 'import torch.distributed.checkpoint' 2>/dev/null; then
    has_torch=yes
else
    echo "$python has no torch: its columns are omitted."
fi
for ranks in 1 2 4; do
    build/bin/dtrun -n $ranks --threads 1 build/bench/bench_checkpoint "$folder/run" $megabytes $repeats >>"$rows"
    rm -rf "$folder/run"
    [ -z "$has_torch" ] || "$python" bench/torch_checkpoint_peer.py $ranks "$folder/torch" $megabytes $repeats >>"$rows"
    rm -rf "$folder/torch"
done

awk -F '\t' '
    {
        key = $2 "\t" $3 "\t" $4
        if ($1 == "dd") {
            if (!($4 in dd) || $5 < dd[$4])
                dd[$4] = $5
            next
        }
        if (!(key in known)) {
            known[key] = 1
            order[n++] = key
        }
        if (!(($1, key) in best) || $5 < best[$1, key])
            best[$1, key] = $5
    }
    END {
        printf "%5s %-5s %-12s %8s %8s %8s %8s %8s\n", "ranks", "place", "what", "ours s", "dd s", "dd/ours", "DCP s", "DCP/ours"
        for (i = 0; i < n; i++) {
            split(order[i], part, "\t")
            ours = best["ours", order[i]]
            theirs = best["torch", order[i]]
            other = dd[part[3]]
            printf "%5d %-5s %-12s %8.3f %8s %8s %8s %8s\n", part[1], part[2], part[3], ours,
                   other ? sprintf("%.3f", other) : "", other ? sprintf("%.2f", other / ours) : "",
                   theirs ? sprintf("%.3f", theirs) : "", theirs ? sprintf("%.2f", theirs / ours) : ""
            printf "{\"bench\":\"checkpoint\",\"config\":{\"ranks\":%d,\"place\":\"%s\",\"what\":\"%s\"},\"ours\":%.5g," \
                   "\"unit\":\"s\",\"peer\":\"DCP\",\"theirs\":%.5g,\"dd\":%.5g}\n", part[1], part[2], part[3], ours, theirs, other
        }
    }' "$rows"
