#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# README's two commands on a bare machine: a minimal Debian with git and make and nothing else, in a folder of its own.
# The checked-out commit is cloned there, with nothing next to it. No test may be skipped but for what the kernel forbids.
# Exits with 77 and a reason if this is not possible: it needs root, debootstrap, a private mount namespace, and a reachable
# package mirror. Usage: check_bare.sh [SUITE]
set -euo pipefail
suite=${1:-bookworm}
source=$(cd "$(dirname "$0")/.." && pwd)

skip() {
    echo "check-bare: skipped, $1" >&2
    exit 77
}
[ "$(id -u)" = 0 ] || skip "it needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "namespaces are not permitted here"

# The mirror that this machine's own apt uses for Debian, if it uses one.
mirror=$(apt-get indextargets --format '$(SITE)' 'Origin: Debian' 'Created-By: Packages' 2>/dev/null | grep -v security | head -n 1) || true
root=$(mktemp -d)
chmod 755 "$root" # it becomes /, which every user may enter
trap 'rm -rf --one-file-system "$root"' EXIT

echo "== debootstrap $suite"
debootstrap --variant=minbase --include=git,make,ca-certificates "$suite" "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 || {
    tail -n 3 "$root.log" >&2
    rm -f "$root.log"
    skip "debootstrap failed"
}
rm -f "$root.log"
git clone --quiet "$source" "$root/srv/checkout"

# Mounts are seen by this namespace only, and go with its last process.
unshare --mount --pid --fork bash -euo pipefail -s "$root" <<'INSIDE'
root=$1
mount --make-rprivate /
mount --bind "$root" "$root" # so that / is a mount point, as tests with mounts of their own expect
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys" # MPI and hwloc look for network devices and cores
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs tmpfs "$root/tmp"
cp /etc/resolv.conf /etc/hosts "$root/etc/" # MPI looks up the name of its own host, and waits where nothing knows it
for command in "make demo" "make test" "scripts/skipped_tests.py --bare build/tests.xml"; do
    echo "== $command"
    chroot "$root" env -i HOME=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -c "cd /srv/checkout && $command" </dev/null
done
INSIDE
echo "check-bare: passed"
