#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: processors=2 timeout=300
exec python3 "$DTENSOR_SOURCE/scripts/lint.py" tidy
