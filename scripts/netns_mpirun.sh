#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts ranks on the two hosts of scripts/netns.sh: ranks 0 … n/2-1 (rounded up) on node0, the others on node1.
# Usage, inside netns.sh: netns_mpirun.sh openmpi|mpich [-x VARIABLE[=VALUE] ...] -n N program [argument ...]
set -euo pipefail
mpi=$1
shift
# -x is Open MPI's; MPICH passes all variables, so that a value has only to be set.
passed=()
while [ "${1:-}" = -x ]; do
    [[ $2 != *=* ]] || export "${2?}"
    [ "$mpi" != openmpi ] || passed+=(-x "$2")
    shift 2
done
if [ "${1:-}" != -n ] || ! [[ ${2:-} =~ ^[0-9]+$ ]] || [ -z "${3:-}" ]; then
    echo "netns_mpirun.sh: expected [-x VARIABLE[=VALUE] ...] -n N program, got: $*" >&2
    exit 2
fi
n=$2
shift 2
agent=$(cd "$(dirname "$0")" && pwd)/netns_agent.sh
first=$(((n + 1) / 2)) hosts=node0:$(((n + 1) / 2))
[ "$n" -eq "$first" ] || hosts+=,node1:$((n - first))
case $mpi in
openmpi)
    root=()
    [ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
    export OMPI_MCA_orte_keep_fqdn_hostnames=1
    exec mpirun.openmpi "${root[@]}" --oversubscribe --bind-to none --mca plm_rsh_agent "$agent" \
        --mca orte_launch_agent /usr/bin/orted --host "$hosts" "${passed[@]}" -n "$n" "$@"
    ;;
mpich) exec mpirun.mpich -launcher ssh -launcher-exec "$agent" -hosts "$hosts" -n "$n" "$@" ;;
*) echo "netns_mpirun.sh: expected openmpi or mpich, got $mpi" >&2 && exit 2 ;;
esac
