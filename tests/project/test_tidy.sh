#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long processors=2
exec python3 "$DTENSOR_SOURCE/scripts/lint.py" tidy
