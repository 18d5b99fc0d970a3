#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs into a new folder, moves it, and uses it as a user does: a consumer in C11 and in C++17, with gcc and with
# clang, with pkg-config and with find_package, shared and static, and the installed tools.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
consumer=$DTENSOR_SOURCE/tests/project/consumer
warnings="-Wall -Wextra -pedantic -Werror"

fail() {
    echo "$*" >&2
    exit 1
}

DESTDIR=$work/staged cmake --install "$DTENSOR_BUILD" --prefix /opt/dtensor >/dev/null
mv "$work/staged/opt/dtensor" "$work/prefix"
prefix=$work/prefix
! grep -rIl -e "$DTENSOR_BUILD" -e "$DTENSOR_SOURCE" "$prefix" || fail "an installed file contains the path of the build"

libraries=$(dirname "$(find "$prefix" -name libdtensor.so)")
export PKG_CONFIG_PATH=$libraries/pkgconfig
version=$(pkg-config --modversion dtensor)

# check_program PROGRAM shared|static: it runs, prints the version, and is linked with that kind of library.
check_program() {
    local output
    output=$(LD_LIBRARY_PATH=$libraries "$1") || fail "$1 failed"
    [ "$output" = "dtensor $version" ] || fail "$1: expected 'dtensor $version', got '$output'"
    case $2/$(readelf -d "$1") in
    shared/*'[libdtensor.so.0]'*) ;;
    shared/* | static/*libdtensor*) fail "$1 is not linked as $2" ;;
    esac
}

with_pkg_config() { # COMPILER STANDARD SOURCE
    local libs
    # shellcheck disable=SC2046,SC2086 # one word per flag
    "$1" "-std=$2" $warnings $(pkg-config --cflags dtensor) "$consumer/$3" -o "$work/shared" \
        $(pkg-config --libs dtensor)
    check_program "$work/shared" shared
    libs=$(pkg-config --static --libs dtensor)
    # shellcheck disable=SC2046,SC2086
    "$1" "-std=$2" $warnings $(pkg-config --cflags dtensor) "$consumer/$3" -o "$work/static" \
        ${libs/-ldtensor/-l:libdtensor.a}
    check_program "$work/static" static
}

with_find_package() { # C_COMPILER CXX_COMPILER
    cmake -S "$consumer" -B "$work/build-$1" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$1" \
        -DCMAKE_CXX_COMPILER="$2" -DDTENSOR_VERSION="$version" >/dev/null
    cmake --build "$work/build-$1" >"$work/log" || fail "$(cat "$work/log")"
    local language
    for language in c cpp; do
        check_program "$work/build-$1/${language}_dtensor" shared
        check_program "$work/build-$1/${language}_dtensor_static" static
    done
}

for pair in gcc:g++ clang:clang++; do
    c=${pair%:*} cxx=${pair#*:}
    if ! command -v "$c" >/dev/null || ! command -v "$cxx" >/dev/null; then
        echo "$c: not installed, skipped"
        continue
    fi
    with_pkg_config "$c" c11 consumer.c
    with_pkg_config "$cxx" c++17 consumer.cpp
    output=$(LD_LIBRARY_PATH=$libraries "$prefix/bin/dtrun" -n 4 "$work/shared") || fail "4 ranks in C++ failed"
    [ "$output" = "dtensor $version" ] || fail "4 ranks in C++: expected 'dtensor $version', got '$output'"
    with_find_package "$c" "$cxx"
    echo "$c: 4 programs by pkg-config, 4 by find_package"
done

# The commands of the README, run by a user with an empty environment; only the build exists already.
mkdir "$work/home"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$DTENSOR_SOURCE/README.md" >"$work/home/first.c"
lines=$(awk '/^```/ { inside = !inside } inside && /^\$ / { print substr($0, 3) }' "$DTENSOR_SOURCE/README.md")
(
    echo "make() { [ \"\$1\" = install ] || return 0; cmake --install '$DTENSOR_BUILD' --prefix \"\${2#PREFIX=}\" >/dev/null; }"
    echo "$lines"
) >"$work/lines"
output=$(cd "$work/home" && env -i HOME="$work/home" PATH="$PATH" bash -eu "$work/lines" 2>&1) || fail "README: $output"
[[ $output == "f32[6,1]"* ]] || fail "README: the first program printed '$output'"

for tool in "$DTENSOR_SOURCE"/tools/*/main.c; do
    [ -e "$tool" ] || continue
    name=$(basename "$(dirname "$tool")")
    "$prefix/bin/$name" --version >/dev/null || fail "the installed $name does not run"
    [ -e "$prefix/share/man/man1/$name.1" ] || fail "$name has no man page"
done
for page in "$DTENSOR_SOURCE"/man/*.[137]; do
    name=$(basename "$page")
    [ -e "$prefix/share/man/man${name##*.}/$name" ] || fail "$name is not installed"
done
