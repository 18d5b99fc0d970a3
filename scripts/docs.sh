#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/docs from the man pages: HTML, PDF and plain text.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/docs
for page in man/*.[1-9]; do
    name=$(basename "$page")
    mandoc -T html -O style=mandoc.css,man=%N.%S.html "$page" >"build/docs/$name.html"
    mandoc -T pdf "$page" >"build/docs/$name.pdf"
    mandoc -T utf8 "$page" | col -b >"build/docs/$name.txt"
done
cat >build/docs/mandoc.css <<'CSS'
body { max-width: 50em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.5; }
table.head, table.foot { width: 100%; color: #666; }
td.head-vol { text-align: center; }
td.head-rtitle, td.foot-os { text-align: right; }
pre, code { font-family: monospace; }
pre { background: #f4f4f4; padding: 0.7em 1em; overflow-x: auto; }
table { border-collapse: collapse; }
td, th { padding: 0.2em 1em 0.2em 0; vertical-align: top; text-align: left; }
CSS
echo "The manual is in build/docs"
