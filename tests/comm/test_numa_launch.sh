#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From dtrun to the collectives: on a pretended machine ranks have the NUMA nodes that --show-binding prints, and share what
# they read from other nodes if that takes less time by the model.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
printf 'dtensor-machine 1\ncopy bytes_per_us=10000\nwithin start_us=1 peer_us=0 bytes_per_us=10000\n' >"$folder/plain"
{ cat "$folder/plain"; echo 'numa bytes_per_us=100'; } >"$folder/slow"
{ cat "$folder/plain"; echo 'numa bytes_per_us=1e9'; } >"$folder/fast"

# Usage: expect MODEL OPTIONS... -- LINES
expect() {
    local model=$1 options=() actual
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    actual=$(DTENSOR_MACHINE=$folder/$model "$DTENSOR_BUILD/bin/dtrun" --heap 64M "${options[@]}" \
        "$DTENSOR_BUILD/tests/comm.numa_nodes" | sort)
    if [ "$actual" != "$(printf '%s\n' "$@")" ]; then
        printf '%s %s: expected\n%s\ngot\n%s\n' "$model" "${options[*]}" "$(printf '%s\n' "$@")" "$actual"
        exit 1
    fi
}

two=(--topology "numa:2 core:2 pu:1")
expect slow -n 4 "${two[@]}" -- "rank 0: node 0, shares" "rank 1: node 0, shares" "rank 2: node 1, shares" "rank 3: node 1, shares"
expect slow -n 3 "${two[@]}" -- "rank 0: node 0, alone" "rank 1: node 1, shares" "rank 2: node 1, shares"
expect fast -n 4 "${two[@]}" -- "rank 0: node 0, alone" "rank 1: node 0, alone" "rank 2: node 1, alone" "rank 3: node 1, alone"
expect plain -n 4 "${two[@]}" -- "rank 0: node 0, alone" "rank 1: node 0, alone" "rank 2: node 1, alone" "rank 3: node 1, alone"
expect slow -n 2 --bind none "${two[@]}" -- "rank 0: node -1, alone" "rank 1: node -1, alone"
expect slow -n 5 --bind package --topology "package:2 numa:2 core:4 pu:2" -- "rank 0: node -1, alone" "rank 1: node -1, alone" \
    "rank 2: node -1, alone" "rank 3: node -1, alone" "rank 4: node -1, alone"
expect slow -n 5 --bind numa --topology "package:2 numa:2 core:4 pu:2" -- "rank 0: node 0, alone" "rank 1: node 1, alone" \
    "rank 2: node 2, shares" "rank 3: node 2, shares" "rank 4: node 3, alone"
expect slow -n 3 --topology "core:4 pu:1" -- "rank 0: node -1, alone" "rank 1: node -1, alone" "rank 2: node -1, alone"
