#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ops, lists, files and prints of ranks that count as nodes of two, where collectives carry what ranks of one node read
# from each other: test programs that compare values, run with DTENSOR_TEST_SPAN.
#
# ctest: processors=2
set -euo pipefail
status=0
for program in dispatch.meet dispatch.meeting_ops dispatch.verdicts dispatch.windows dispatch.stencil dispatch.comm_stats dispatch.list_ops \
    dispatch.convolution ops.convolutions dispatch.use_placement move.redistribute move.redistribute_list move.agreement move.divergence \
    move.dtypes move.files move.global_shape move.print move.reduced; do
    if ! out=$(DTENSOR_TEST_SPAN=2 "$DTENSOR_BUILD/tests/$program" 2>&1); then
        printf '%s, two ranks per node:\n%s\n' "$program" "$out"
        status=1
    fi
done
exit $status
