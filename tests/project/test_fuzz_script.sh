#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts/fuzz.sh prints where it cannot run: a wrong number, no clang, a clang without the run-time library of the fuzzer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expect() { # STATUS TEXT PATH ARGUMENT...
    local status=0 output
    output=$(PATH=$3 "$DTENSOR_SOURCE/scripts/fuzz.sh" "${@:4}" 2>&1) || status=$?
    if [ $status != "$1" ] || [[ $output != *"$2"* ]]; then
        printf 'got status %s and\n%s\nexpected status %s and\n%s\n' $status "$output" "$1" "$2" >&2
        exit 1
    fi
}
for tool in env bash dirname tail; do ln -s "$(command -v $tool)" "$work/"; done
for seconds in 0 soon -1 1.5; do expect 2 "usage: fuzz.sh [seconds per target" "$PATH" $seconds; done
expect 77 "fuzz: skipped, no clang is installed" "$work" 1
cat >"$work/clang" <<'CLANG'
#!/usr/bin/env bash
echo "/usr/bin/ld: cannot find libclang_rt.fuzzer-x86_64.a: No such file or directory" >&2
exit 1
CLANG
chmod +x "$work/clang"
expect 1 "install its run-time library (libclang-rt-dev):
/usr/bin/ld: cannot find libclang_rt.fuzzer-x86_64.a" "$work" 1
