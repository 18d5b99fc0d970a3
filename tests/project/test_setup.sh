#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup.sh on simulated machines: the package tools are replaced by small scripts, which have the packages of
# $state/installed and $state/offered and record what they are called with.
set -euo pipefail
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir "$state/bin"

replace_tool() {
    printf '#!/usr/bin/env bash\nstate=%q\n%s\n' "$state" "$2" >"$state/bin/$1"
    chmod +x "$state/bin/$1"
}
replace_tool dpkg-query '
if [ "$3" = "\${Depends}" ]; then
    grep -qx clang "$state/installed" && cat "$state/clang_depends"
    exit
fi
for name in "${@:4}"; do
    if grep -qxF "$name" "$state/installed"; then printf "installed:%s " "$name"; fi
done'
replace_tool apt-cache '
case $1 in
show) if grep -qxF "$2" "$state/offered"; then echo "Package: $2"; else exit 100; fi ;;
depends) grep -qx clang "$state/offered" && cat "$state/clang_depends" ;;
esac'
replace_tool apt-get '
if [ "$1" = update ]; then cat "$state/offered_later" >>"$state/offered"; fi
echo "$*" >>"$state/done"
[ ! -e "$state/offline" ]'
replace_tool id 'cat "$state/user"'
replace_tool sudo '
[ "$(cat "$state/sudo")" = yes ] || exit 1
[ "$1" = -n ] || { echo sudo >>"$state/done"; "$@"; }'

# machine INSTALLED OFFERED: the user is root, and clang 18 is the default clang.
machine() {
    tr ' ' '\n' <<<"$1" >"$state/installed"
    tr ' ' '\n' <<<"$2" >"$state/offered"
    : >"$state/done"
    : >"$state/offered_later"
    rm -f "$state/offline"
    echo "clang-18 (>= 18~)" >"$state/clang_depends"
    echo 0 >"$state/user"
    echo no >"$state/sudo"
}
setup() {
    status=0
    output=$(PATH=$state/bin:$PATH "$DTENSOR_SOURCE/scripts/setup.sh" "$@" 2>&1) || status=$?
    did=$(cat "$state/done")
}
# expect CASE GOT EXPECTED, where EXPECTED is a pattern.
expect() {
    # shellcheck disable=SC2053 # a pattern
    [[ $2 == $3 ]] || {
        echo "$1: expected '$3', got '$2'" >&2
        exit 1
    }
}

build="gcc libc6-dev cmake ninja-build pkg-config python3 python3-dev libjansson-dev libhwloc-dev zlib1g-dev libcmocka-dev"
test="$build mandoc g++ clang python3-numpy python3-pytest shellcheck locales openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2"
all="$test clang-format-14 clang-tidy-14 gcc-aarch64-linux-gnu libc6-dev-arm64-cross"

machine "$build" ""
setup build
expect "nothing missing" "$status/$output/$did" "0//"

machine "" "$build"
setup build
expect "all missing, status" "$status" 0
expect "all missing" "$did" "update -qq"$'\n'"install -y --no-install-recommends -qq $build"

machine "${build/pkg-config/pkgconf}" "pkg-config"
setup build
expect "another name is installed" "$status/$did" "0/"

machine "${build/gcc/clang}" "gcc"
setup build
expect "another compiler is installed" "$status/$did" "0/"

machine "$test" "clang-format clang-tidy"
setup test
expect "only the second name is offered" "$did" "*-qq clang-format clang-tidy"

machine "$test" "clang-format-14 clang-format clang-tidy clang-tidy-14"
setup test
expect "the first name is preferred" "$did" "*-qq clang-format-14 clang-tidy-14"

machine "$all" "libclang-rt-18-dev libclang-rt-14-dev"
setup all
expect "clang's run-time has a package" "$did" "*-qq libclang-rt-18-dev"

machine "$all" ""
setup all
expect "clang's run-time has no package" "$status/$output/$did" "0//"

machine "$all libclang-rt-18-dev" "libclang-rt-18-dev"
setup all
expect "clang's run-time is installed" "$status/$did" "0/"

machine "" "" # a new image, whose lists are empty until the update
tr ' ' '\n' <<<"$all libclang-rt-18-dev" >"$state/offered_later"
setup all
expect "names are chosen after the update" "$did" "*-qq $build mandoc g++ clang clang-format-14 clang-tidy-14 * libclang-rt-18-dev"

machine "${build/cmake /}" "cmake"
echo 1000 >"$state/user"
setup build
expect "no root, status" "$status/$did" "1/"
expect "no root" "$output" "*sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends cmake'"

machine "${build/cmake /}" "cmake"
echo 1000 >"$state/user"
echo yes >"$state/sudo"
setup build
expect "sudo" "$status/$did" $'0/sudo\nupdate -qq\nsudo\ninstall * cmake'

machine "$build" "libopenblas0"
setup build
expect "an optional package" "$status/$did" "0/update -qq *"$'\n'"install -y --no-install-recommends * -qq libopenblas0"

machine "$build" "libopenblas0"
touch "$state/offline"
setup build
expect "an optional package, without a network" "$status/$output" "0/*Not installed, but optional: libopenblas0"

machine "$build" "libopenblas0"
echo 1000 >"$state/user"
setup build
expect "an optional package, no root" "$status/$did" "0/"
expect "an optional package, no root" "$output" "*install -y --no-install-recommends libopenblas0'*Not installed, but optional: libopenblas0"

machine "${build/cmake /}" "cmake libopenblas0"
touch "$state/offline"
setup build
expect "a package, without a network" "$((status > 0))/$output" "1/"

setup everything
expect "no such purpose" "$status/$output" "2/usage:*"
