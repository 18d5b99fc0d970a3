#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the distribution packages of a purpose are installed and installs missing ones, as root or with sudo;
# otherwise prints the line to run. Supports Debian 12 and Ubuntu from 22.04; elsewhere it does nothing and leaves it
# to CMake to report what is missing. Usage: setup.sh build|test|all|bare|bench|docs
#
# "a|b" is one package under two names: either satisfies it if installed, otherwise the first that apt offers is
# taken. "a?" is optional: it is installed if apt offers it, and nothing fails where that is not possible.
set -euof pipefail

declare -A packages
packages[build]="gcc|clang libc6-dev cmake ninja-build pkg-config|pkgconf python3 python3-dev libjansson-dev libhwloc-dev zlib1g-dev libcmocka-dev libopenblas0?"
packages[docs]="mandoc"
packages[test]="${packages[build]} ${packages[docs]} g++ clang clang-format-14|clang-format clang-tidy-14|clang-tidy
    python3-numpy python3-pytest python3-mpi4py? mypy? libdnnl2? shellcheck locales openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2"
packages[all]="${packages[test]} gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user? slurm-wlm?"
packages[bare]="debootstrap"
packages[bench]="${packages[build]} openmpi-bin libopenmpi-dev"
packages[all]+=" debootstrap?" # a long test tries a wheel in a root of its own

purpose=${1:-}
if [ -z "$purpose" ] || [ -z "${packages[$purpose]:-}" ]; then
    echo "usage: setup.sh build|test|all|bare|bench|docs" >&2
    exit 2
fi
command -v dpkg-query >/dev/null || exit 0

# Some releases keep clang's sanitizer run-time in a package named by clang's version.
clang_runtime() {
    local depends
    depends=$(dpkg-query -W -f '${Depends}' clang 2>/dev/null || apt-cache depends clang 2>/dev/null || true)
    if [[ $depends =~ clang-([0-9]+) ]]; then echo "libclang-rt-${BASH_REMATCH[1]}-dev?"; fi
}

is_offered() { [[ $(apt-cache show "$1" 2>/dev/null) == *Package:* ]]; }

# The packages to install, one per line; "missing required" leaves out optional ones.
missing() {
    local required=${packages[$purpose]} installed package name
    if [ "$purpose" = all ]; then required+=" $(clang_runtime)"; fi
    # shellcheck disable=SC2046 # one word per name
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' $(tr '|?' '  ' <<<"$required") 2>/dev/null || true)"
    for package in $required; do
        if [ "${1:-}" = required ] && [[ $package = *'?' ]]; then continue; fi
        local names=${package//[|?]/ }
        for name in $names; do
            if [[ $installed == *" installed:$name "* ]]; then continue 2; fi
        done
        for name in $names; do
            if is_offered "$name"; then break; fi
        done
        if [[ $package != *'?' ]] || is_offered "$name"; then echo "$name"; fi
    done
}

names=$(missing)
[ -n "$names" ] || exit 0
install="apt-get install -y --no-install-recommends"
options=()
go_on() {
    echo "Not installed, but optional: ${names//$'\n'/ }" >&2
    exit 0
}
if [ -z "$(missing required)" ]; then # a failure below is none
    options=(-o Acquire::Retries=0 -o Acquire::http::Timeout=10)
    trap go_on ERR
fi

if [ "$(id -u)" = 0 ]; then
    as_root=()
elif sudo -n true 2>/dev/null; then
    as_root=(sudo)
else
    echo "Some packages are missing. Run this line, then try again:" >&2
    echo "  sudo sh -c 'apt-get update && $install ${names//$'\n'/ }'" >&2
    false
fi
"${as_root[@]}" apt-get update -qq "${options[@]}"
names=$(missing) # apt may offer more now
echo "Installing: ${names//$'\n'/ }" >&2
# shellcheck disable=SC2086 # one word per name
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $install "${options[@]}" -qq $names >/dev/null
