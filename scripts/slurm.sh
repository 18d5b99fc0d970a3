#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command on a Slurm cluster of one node with four CPUs that exists only for the command: munged, slurmctld and
# slurmd in their own process, network and mount namespaces, with their configuration in a temporary folder and no
# network to elsewhere. Everything ends with the command: the daemons are in its process namespace.
#
# Needs root, the namespaces of the kernel, and slurm-wlm; otherwise prints "skipped: reason" and exits with 77.
# Usage: slurm.sh command [argument ...]     such as: slurm.sh srun --mpi=pmix -n 4 ./train
set -euo pipefail

skip() {
    echo "skipped: $1"
    exit 77
}

if [ "${1:-}" != --inside ]; then
    [ $# -gt 0 ] || { sed -n 's/^# Usage: //p' "$0" >&2 && exit 2; }
    [ "$(id -u)" = 0 ] || skip "a Slurm of one's own needs root"
    for tool in unshare setpriv ip munged slurmctld slurmd srun; do
        command -v "$tool" >/dev/null || [ -x "/usr/sbin/$tool" ] || skip "$tool is not installed"
    done
    unshare --pid --fork --mount --net --uts true 2>/dev/null || skip "the kernel allows no namespaces"
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    status=0
    setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount --mount-proc --net --uts \
        "$0" --inside "$folder" "$@" || status=$?
    exit $status
fi

folder=$2
shift 2
export PATH=$PATH:/usr/sbin SLURM_CONF=$folder/slurm.conf
hostname node0
ip link set lo up
ip link add slurm0 type veth peer name slurm1 # getaddrinfo finds no address where there is the loopback alone
ip address add 10.78.0.1/24 dev slurm0
ip link set slurm0 up
ip link set slurm1 up
chmod 755 "$folder"
mkdir "$folder/state" "$folder/spool" "$folder/munge" "$folder/tmp"
chmod 700 "$folder/munge"
printf '127.0.0.1 localhost\n10.78.0.1 node0\n' >"$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 600 "$folder/munge/key"
cat >"$SLURM_CONF" <<EOF
ClusterName=dtensor
SlurmctldHost=node0(10.78.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
ReturnToService=2
SwitchType=switch/none
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
TmpFS=$folder/tmp
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=node0 NodeAddr=10.78.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=node0 Default=YES MaxTime=INFINITE State=UP
EOF
fail() {
    cat "$folder"/*.log >&2 || true
    echo "slurm.sh: $1" >&2
    exit 1
}
munged --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" --pid-file="$folder/munge/pid" \
    --seed-file="$folder/munge/seed" --log-file="$folder/munge.log" || fail "munged does not start"
slurmctld -c || fail "slurmctld does not start"
slurmd -N node0 2>"$folder/start.log" || slurmd 2>>"$folder/start.log" || fail "slurmd does not start"
for ((try = 0; try < 100; try++)); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" != idle ] || break
    sleep 0.1
done
[ "$(sinfo --noheader --format=%T)" = idle ] || fail "the node does not become idle"
status=0
"$@" || status=$?
exit $status
