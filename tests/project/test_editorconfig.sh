#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
exec python3 "$DTENSOR_SOURCE/scripts/lint.py" editorconfig
