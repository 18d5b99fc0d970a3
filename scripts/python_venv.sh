#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a virtual environment for the tests of the Python package. Its base is the user's python3 or the distribution's,
# whichever has more of the packages that the tests use, and it sees these packages; nothing is downloaded. One that is
# still right stays. If python3 is that of an active environment, a link to this one is made. Where no python3 has NumPy
# and pytest, or none can be made, it says so and succeeds: tests then run with python3. Usage: python_venv.sh [folder]
set -euo pipefail
unset PYTHONPATH PYTHONHOME
folder=${1:-build/python-venv}

# Describes a python: the number of packages; its base and their names. Nothing if it does not fit.
describe() {
    "$1" -c '
import importlib.util, sys
found = [name for name in ("numpy", "pytest", "mypy", "mpi4py", "torch") if importlib.util.find_spec(name)]
if sys.version_info >= (3, 11) and found[:2] == ["numpy", "pytest"]:
    print(len(found), sys.base_prefix, sys.version.split()[0], *found)' 2>/dev/null || true
}

most=0
for candidate in python3 /usr/bin/python3; do
    description=$(describe "$candidate")
    if [ "${description%% *}" ] && [ "${description%% *}" -gt "$most" ]; then
        most=${description%% *} base=$candidate expected=$description
    fi
done
if [ "$most" = 0 ]; then
    rm -rf "$folder"
    echo "python_venv.sh: no python3 from 3.11 has NumPy and pytest" >&2
    exit 0
fi
[ "$(describe "$folder/bin/python")" != "$expected" ] || exit 0

rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
active=$("$base" -c 'import sys; print(sys.prefix if sys.prefix != sys.base_prefix else "")')
if [ -n "$active" ]; then
    ln -s "$active" "$folder"
elif ! log=$("$base" -m venv --system-site-packages --without-pip "$folder" 2>&1) ||
    [ "$(describe "$folder/bin/python")" != "$expected" ]; then
    rm -rf "$folder"
    echo "python_venv.sh: no virtual environment of $base: ${log:-it does not have the packages}" >&2
fi
