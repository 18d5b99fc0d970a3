#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares tests/golden and tests/conformance, file by file, with the folders of the same names in DIR, from which they are
# copied; with --update, copies them again. Files of cases (golden/*.jsonl) are kept compressed.
# Exits with 1 and a list if anything differs. Usage: check_published.sh [--update] DIR
set -euo pipefail
update=false
if [ "${1:-}" = --update ]; then
    update=true
    shift
fi
published=${1:-}
if [ $# -ne 1 ] || [ ! -d "$published/golden" ] || [ ! -d "$published/conformance" ]; then
    echo "usage: check_published.sh [--update] DIR; DIR has the folders golden and conformance" >&2
    exit 2
fi
published=$(cd "$published" && pwd)
cd "$(dirname "$0")/../tests"

# Names relative to a folder, without the ending of compressed files.
names() { (cd "$1" && find golden conformance -type f ! -name '*.pyc' | sed 's/\.gz$//' | sort); }
is_compressed() { [[ $1 =~ ^golden/[^/]*\.jsonl$ ]]; }
content() { if is_compressed "$1"; then gzip -dc "$1.gz"; else cat "$1"; fi; }

if $update; then
    rm -rf golden conformance
    names "$published" | while read -r name; do
        mkdir -p "$(dirname "$name")"
        if is_compressed "$name"; then
            gzip -9nc "$published/$name" >"$name.gz"
        else
            install -m "$([ -x "$published/$name" ] && echo 755 || echo 644)" "$published/$name" "$name"
        fi
    done
fi

differences=0
differ() {
    echo "$1"
    differences=$((differences + 1))
}
while read -r name; do differ "only in $published: $name"; done < <(comm -13 <(names .) <(names "$published"))
while read -r name; do differ "only in the project: $name"; done < <(comm -23 <(names .) <(names "$published"))
n=0
while read -r name; do
    n=$((n + 1))
    cmp -s <(content "$name") "$published/$name" || differ "differs: $name"
done < <(comm -12 <(names .) <(names "$published"))
echo "$n files compared with $published, $differences differences"
[ $differences = 0 ]
