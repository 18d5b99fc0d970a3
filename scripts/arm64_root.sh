#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks the arm64 libraries that tests are linked with into a folder, for a cross build: from the packages that apt
# offers, without making arm64 an architecture of this system. Leaves a complete folder alone. Prints a reason and exits
# with 77 where packages cannot be fetched. Usage: arm64_root.sh FOLDER
set -euo pipefail

root=$(mkdir -p "$1" && cd "$1" && pwd)
packages="zlib1g zlib1g-dev libcmocka0 libcmocka-dev libjansson4 libjansson-dev libhwloc15 libhwloc-dev"
[ ! -e "$root/complete" ] || exit 0
skip() { echo "skipped: $1"; exit 77; }
command -v apt-get >/dev/null || skip "apt-get is not installed"

# Lists and packages of its own; the sources and keys are the system's.
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists="$root/apt/lists"
    -o Dir::State::status=/dev/null -o Dir::Cache="$root/apt/cache" -o Debug::NoLocking=true -o APT::Sandbox::User="$(id -un)")
apt-get "${options[@]}" update >"$root/apt/log" 2>&1 || skip "apt-get cannot update its lists: $(tail -1 "$root/apt/log")"
# shellcheck disable=SC2086 # one word per package
(cd "$root/apt" && apt-get "${options[@]}" download $packages >log 2>&1) ||
    skip "apt-get cannot fetch packages: $(tail -1 "$root/apt/log")"
for package in "$root"/apt/*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$root/apt"
touch "$root/complete"
