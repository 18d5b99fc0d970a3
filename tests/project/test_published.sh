#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check_published.sh finds differences between the copies in tests/ and a folder. If the folder from which they
# were copied is next to the project, there are none.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/project/scripts" "$work/project/tests" "$work/published"
cp "$DTENSOR_SOURCE/scripts/check_published.sh" "$work/project/scripts/"
check="$work/project/scripts/check_published.sh"
cp -r "$DTENSOR_SOURCE"/tests/{golden,conformance} "$work/published/"
gzip -d "$work"/published/golden/*.jsonl.gz

expect() { # STATUS PATTERN ARGUMENT...
    local status=0 output
    output=$("$check" "${@:3}" 2>&1) || status=$?
    if [ $status != "$1" ] || ! grep -q -- "$2" <<<"$output"; then
        printf 'expected status %s and "%s", got status %s and\n%s\n' "$1" "$2" $status "$output" >&2
        exit 1
    fi
}
expect 2 usage
expect 2 usage "$work"
expect 0 ' 0 differences' --update "$work/published"
expect 0 ' 0 differences' "$work/published"
diff -r "$DTENSOR_SOURCE/tests/conformance" "$work/project/tests/conformance"
echo '{}' >>"$work/published/golden/mesh.jsonl"
expect 1 'differs: golden/mesh.jsonl' "$work/published"
echo '- more' >>"$work/published/conformance/INDEX.md"
expect 1 'differs: conformance/INDEX.md' "$work/published"
mv "$work/published/golden/README.md" "$work/published/golden/OTHER.md"
expect 1 'only in the project: golden/README.md' "$work/published"
expect 1 'only in .*: golden/OTHER.md' "$work/published"
expect 0 ' 0 differences' --update "$work/published"

if [ -d "$DTENSOR_SOURCE/../shared/golden" ]; then
    "$DTENSOR_SOURCE/scripts/check_published.sh" "$DTENSOR_SOURCE/../shared"
else
    echo "not compared with the folder that they were copied from: it is not next to the project"
fi
