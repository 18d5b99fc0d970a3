#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/docs: all pages and the manual as HTML, and the manual as PDF and plain text in build/docs/manual.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf build/docs
mkdir -p build/docs/manual
scripts/make_docs.py build/docs
for page in man/*.[1-9]; do
    name=$(basename "$page")
    mandoc -T pdf "$page" >"build/docs/manual/$name.pdf"
    mandoc -T utf8 "$page" | col -b >"build/docs/manual/$name.txt"
done
