#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes the place of ssh between the hosts of scripts/netns.sh. Usage: netns_agent.sh [option ...] host command ...
exec "$(dirname "$0")/netns.sh" --enter "$@"
