#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long timeout=3600 processors=2
# The archive of a release builds, passes tests and installs in a folder of its own that is not a repository.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CEILING_DIRECTORIES=$work

"$DTENSOR_SOURCE/scripts/make_dist.py" "$work"
tar -xzf "$work"/dtensor-*.tar.gz -C "$work"
cd "$work"/dtensor-*/
cmake --preset release >"$work/log" || { cat "$work/log" && exit 1; }
targets=$(cd tests && for test in base layout mesh spec; do ls "$test"/test_*.c; done | sed 's|/test_|.|; s|\.c$||')
# shellcheck disable=SC2086 # one word per target
cmake --build build --parallel 2 --target programs $targets >"$work/log" || { tail -50 "$work/log" && exit 1; }
ctest --test-dir build --output-on-failure -R '^(base|layout|mesh|spec)\.' | tail -40
cmake --install build --prefix "$work/installed" >/dev/null
"$work/installed/bin/dtensor" --version
"$work/installed/bin/dtrun" -n 2 build/examples/04_redistribute >/dev/null
