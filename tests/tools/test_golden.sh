#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The golden cases beside the project, if there are any: every answer is as expected.
set -euo pipefail
golden=$DTENSOR_SOURCE/../shared/golden
if [ ! -r "$golden/check.py" ]; then
    echo "skipped: there are no golden cases beside the project"
    exit 77
fi
check=(python3 "$golden/check.py" --dtensor "$DTENSOR_BUILD/bin/dtensor")
"${check[@]}" "$golden"/{layout,mesh,shard,redistribute,malformed}.jsonl
# Ops that the library does not have yet are skipped and counted.
"${check[@]}" --known-ops "$golden"/{rules,propagate}.jsonl
# Gradients are not implemented yet. Cases that are wrong are skipped, for the reasons in the file that lists them.
run=$(mktemp --suffix=.jsonl)
trap 'rm -f "$run"' EXIT
grep '^golden' "$DTENSOR_SOURCE/tests/golden_skips.txt" | sed 's/.*/"id":"&"/' | grep -vFf - "$golden/run_a.jsonl" >"$run"
"${check[@]}" --known-ops --no-grad "$run"
