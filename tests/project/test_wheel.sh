#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long timeout=3600 processors=2
# `pip install .` in an empty venv, with no package index; and what `make wheel` makes, in the venv of another root: a
# minimal system with Python and none of the libraries that the wheel needs (as root, where debootstrap is installed).
set -euo pipefail
skip() {
    echo "skipped: $1"
    exit 77
}
[ -e "$DTENSOR_BUILD/python/dtensor/_dtensor.abi3.so" ] || skip "the Python package was not built"
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip "python3 is older than 3.11, or has no venv"
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT
unset PYTHONPATH
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1

cat >"$work/program.py" <<'PROGRAM'
import sys
import dtensor as dt

n = dt.get_world_size()
mesh = dt.init_device_mesh("cpu", (n,))
x = dt.ones(300, 200, device_mesh=mesh, placements="S(0)")
assert (x @ dt.ones(200, 300, device_mesh=mesh, placements="R")).sum().item() == 300 * 200 * 300
assert not sys.argv[1:] or n == int(sys.argv[1]), n
dt.ones(300, 300) @ dt.ones(300, 300)
maps = [line.split()[-1] for line in open("/proc/self/maps") if "libopenblas" in line or "libdtensor." in line]
print(*sorted(set(maps)), sep="\n")
PROGRAM

# VENV: the programs of an installed package start, alone and on ranks.
check() {
    local bin=$1/bin
    "$bin/python" "$work/program.py" 1
    "$bin/dtrun" -n 3 "$bin/python" "$work/program.py" 3
    "$bin/dtensor" --version
    if command -v mpirun >/dev/null; then
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
            mpirun -n 2 "$bin/python" "$work/program.py" 2
    fi
}

cd "$work"
"$DTENSOR_SOURCE/scripts/make_dist.py" "$work"
tar -xzf dtensor-*.tar.gz
tree=$(echo "$work"/dtensor-*/)
python3 -m venv plain
plain/bin/pip install "$tree" >pip.log 2>&1 || { tail -40 pip.log && exit 1; }
check "$work/plain"

python3 "$tree/python/backend/dtensor_backend.py" "$work/wheel"
wheel=$(echo "$work"/wheel/*.whl)
python3 -m zipfile -l "$wheel" >files
modules=$(cd "$DTENSOR_BUILD/lib" && ls libdtensor_mpi_*.so 2>/dev/null) || true
for file in lib/libdtensor.so.0 ${modules//libdtensor/lib/libdtensor} lib/libopenblas.so.0 bin/dtrun bin/dtensor licenses/ py.typed; do
    grep -q "dtensor/$file" files || { echo "the wheel has no $file:" && cat files && exit 1; }
done
python3 -m venv bundled
bundled/bin/pip install "$wheel" >pip.log 2>&1 || { tail -40 pip.log && exit 1; }
check "$work/bundled"

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || ! unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
    echo "not tried in another root: it needs root, debootstrap and namespaces"
    exit 0
fi
# shellcheck source=/dev/null
. /etc/os-release
# shellcheck disable=SC2016 # apt expands it
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | grep -v security | head -n 1) || true
root=$work/root
debootstrap --variant=minbase --include=python3,python3-venv "$VERSION_CODENAME" "$root" ${mirror:+"$mirror"} >debootstrap.log 2>&1 ||
    { tail -n 3 debootstrap.log && echo "not tried in another root: debootstrap failed" && exit 0; }
cp "$wheel" "$work/program.py" "$root/srv"
unshare --mount --pid --fork bash -euo pipefail -s "$root" <<'INSIDE'
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
chroot "$root" env -i HOME=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 PIP_NO_INDEX=1 bash -euo pipefail -c '
    cd /srv
    python3 -m venv venv
    venv/bin/pip install ./*.whl >pip.log 2>&1 || { cat pip.log; exit 1; }
    venv/bin/dtrun -n 3 venv/bin/python program.py 3
    venv/bin/dtensor show "f32[4,4] S(0) on mesh(2)" >/dev/null
    venv/bin/python program.py 1 | tee maps
    grep -q /srv/venv/lib.*/libopenblas maps || { echo "the BLAS of the wheel is not loaded"; exit 1; }'
INSIDE
