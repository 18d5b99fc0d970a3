#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak processors=2 timeout=3600
exec python3 "$DTENSOR_SOURCE/scripts/lint.py" analyze
