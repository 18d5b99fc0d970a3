#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts ranks on the two hosts of scripts/netns.sh: ranks 0 … n/2-1 (rounded up) on node0, the others on node1.
# Usage, inside netns.sh: netns_mpirun.sh openmpi|mpich -n N program [argument ...]
set -euo pipefail
mpi=$1 n=$3
shift 3
agent=$(cd "$(dirname "$0")" && pwd)/netns_agent.sh
first=$(((n + 1) / 2)) hosts=node0:$(((n + 1) / 2))
[ "$n" -eq "$first" ] || hosts+=,node1:$((n - first))
case $mpi in
openmpi)
    root=()
    [ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
    export OMPI_MCA_orte_keep_fqdn_hostnames=1
    exec mpirun.openmpi "${root[@]}" --oversubscribe --bind-to none --mca plm_rsh_agent "$agent" \
        --mca orte_launch_agent /usr/bin/orted --host "$hosts" -n "$n" "$@"
    ;;
mpich) exec mpirun.mpich -launcher ssh -launcher-exec "$agent" -hosts "$hosts" -n "$n" "$@" ;;
*) echo "netns_mpirun.sh: expected openmpi or mpich, got $mpi" >&2 && exit 2 ;;
esac
