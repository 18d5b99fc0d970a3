#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command on a machine that is cut into two hosts, node0 and node1: each has its own network, host name, shared
# memory directory, System V memory and boot id, by which UCX recognizes hosts; a veth pair joins them, limited to --rate in both directions (tbf), with a
# delay where --delay is given and the kernel has netem. The command runs on node0; scripts/netns_mpirun.sh, called
# from it, starts ranks on both. Everything disappears with the command, however it ends: each host is held by a
# process that dies with this one, and nothing has a name in the system.
#
# Needs root and the namespaces of the kernel; otherwise prints "skipped: reason" and exits with 77.
# Usage: netns.sh [--rate 1gbit|none] [--delay 1ms] command [argument ...]
#        netns.sh --enter host command [argument ...]     what takes the place of ssh
set -euo pipefail

skip() {
    echo "skipped: $1"
    exit 77
}

# Enters a host. MPICH passes -x and Open MPI nothing before the host; both pass the command as words for a shell.
enter() {
    while [ "${1#-}" != "$1" ]; do shift; done
    local pid_of=NETNS_$1
    [ -n "${!pid_of:-}" ] || { echo "netns.sh: no such host: $1" >&2 && exit 1; }
    shift
    exec nsenter --target "${!pid_of}" --net --uts --ipc --mount sh -c "cd '$PWD' && exec $*"
}

rate=1gbit
delay=""
while [ $# -gt 0 ]; do
    case $1 in
    --rate) rate=$2 && shift ;;
    --delay) delay=$2 && shift ;;
    --enter) shift && enter "$@" ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || { sed -n 's/^# Usage: //p' "$0" >&2 && exit 2; }

[ "$(id -u)" = 0 ] || skip "network namespaces need root"
for tool in ip tc unshare nsenter setpriv; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done

folder=$(mktemp -d)
pids=()
clean() {
    local pid link own other
    own=$(readlink /proc/self/ns/net)
    for pid in "${pids[@]}"; do
        link=$(readlink "/proc/$pid/ns/net" 2>/dev/null) || continue
        [ "$link" != "$own" ] || continue
        for other in /proc/[0-9]*; do # whatever was started on that host
            [ "$(readlink "$other/ns/net" 2>/dev/null)" != "$link" ] || kill -KILL "${other#/proc/}" 2>/dev/null || true
        done
    done
    rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM HUP

printf '127.0.0.1 localhost\n10.77.0.1 node0\n10.77.0.2 node1\n' >"$folder/hosts"
for host in node0 node1; do
    # The pid is that of sleep: unshare and setpriv execute it in their place.
    # shellcheck disable=SC2016 # expanded by the inner shell
    setpriv --pdeathsig KILL unshare --net --uts --ipc --mount sh -c '
        hostname "$1" && ip link set lo up && mount -t sysfs sysfs /sys && mount -t tmpfs -o size=50% tmpfs /dev/shm &&
        mount --bind "$2/hosts" /etc/hosts && cat /proc/sys/kernel/random/uuid >"$2/$1.boot" &&
        mount --bind "$2/$1.boot" /proc/sys/kernel/random/boot_id && touch "$2/$1" && exec sleep infinity' - $host "$folder" \
        >"$folder/$host.log" 2>&1 &
    pids+=($!)
    export NETNS_$host=$!
    disown $!
done
for host in node0 node1; do
    pid_of=NETNS_$host
    for ((try = 0; try < 200; try++)); do
        [ ! -e "$folder/$host" ] || continue 2
        kill -0 "${!pid_of}" 2>/dev/null || break
        sleep 0.02
    done
    skip "namespaces are not available: $(tail -n 1 "$folder/$host.log")"
done

# shellcheck disable=SC2154 # exported above
ip link add name eth0 netns "$NETNS_node0" type veth peer name eth0 netns "$NETNS_node1" 2>"$folder/log" ||
    skip "veth pairs are not available: $(tail -n 1 "$folder/log")"
for host in node0 node1; do
    pid_of=NETNS_$host
    inside=(nsenter --target "${!pid_of}" --net)
    "${inside[@]}" ip addr add "10.77.0.$((${host#node} + 1))/24" dev eth0
    "${inside[@]}" ip link set eth0 up
    place=(root)
    if [ -n "$delay" ]; then
        place=(parent 1:)
        "${inside[@]}" tc qdisc add dev eth0 root handle 1: netem delay "$delay" 2>"$folder/log" ||
            skip "the kernel has no netem: $(tail -n 1 "$folder/log")"
    fi
    if [ "$rate" != none ]; then
        "${inside[@]}" tc qdisc add dev eth0 "${place[@]}" tbf rate "$rate" burst 32kb latency 50ms \
            2>"$folder/log" || skip "the kernel has no tbf: $(tail -n 1 "$folder/log")"
    fi
done

# The kernel reports a link as running some time after both ends are up; UCX uses no other.
for host in node0 node1; do
    pid_of=NETNS_$host
    for ((try = 0; try < 200; try++)); do
        state=$(nsenter --target "${!pid_of}" --net ip -br link show eth0)
        [[ $state != *" UP "* ]] || break
        sleep 0.02
    done
done

# In the background, because a trap waits for what is in the foreground.
# shellcheck disable=SC2154,SC2016 # exported above; expanded by the inner shell
setpriv --pdeathsig KILL nsenter --target "$NETNS_node0" --net --uts --ipc --mount \
    sh -c 'cd "$0" && exec "$@"' "$PWD" "$@" <&0 &
wait $!
