#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=5400 processors=2
# README's two commands on a minimal Debian.
exec "$DTENSOR_SOURCE/scripts/check_bare.sh"
