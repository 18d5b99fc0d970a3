#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the distribution packages of a purpose are there and installs what is missing, as root or through sudo;
# otherwise prints the one line to run. Usage: setup.sh build|test|bench
set -euo pipefail
build="cmake ninja-build pkg-config g++ libjansson-dev libcmocka-dev"
test="$build clang clang-format clang-tidy libclang-rt-14-dev valgrind python3 mandoc"
bench="$build openmpi-bin libopenmpi-dev"
missing=()
for package in ${!1}; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
line="apt-get update && apt-get install -y ${missing[*]}"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "These packages are missing. Run this, then try again:" >&2
    echo "  sudo sh -c '$line'" >&2
    exit 1
fi
echo "Installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq "${missing[@]}" >/dev/null
