#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/python_venv.sh with python3s that have more or fewer packages than the distribution's.
set -euo pipefail
system=/usr/bin/python3
$system -c 'import sys, numpy, pytest, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    { echo "skipped: $system is older than 3.11, or has no NumPy, pytest or venv" && exit 77; }
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir "$state/bin"

# The python3 that is first in PATH.
replace_python() {
    printf '#!/usr/bin/env bash\nstate=%q\n%s\n' "$state" "$1" >"$state/bin/python3"
    chmod +x "$state/bin/python3"
}
make_venv() {
    status=0
    output=$(PATH=$state/bin:$PATH PYTHONPATH=$state/none "$DTENSOR_SOURCE/scripts/python_venv.sh" "$state/made" 2>&1) || status=$?
}
# expect CASE GOT EXPECTED, where EXPECTED is a pattern.
expect() {
    # shellcheck disable=SC2053 # a pattern
    [[ $2 == $3 ]] || {
        echo "$1: expected '$3', got '$2'" >&2
        exit 1
    }
}
prefixes() { env -u PYTHONPATH "$state/made/bin/python" -c 'import numpy, pytest, sys; print(sys.prefix, sys.base_prefix)'; }
inode() { stat --format %i "$state/made"; }

replace_python 'exit 1'
make_venv
expect "of the distribution" "$status/$output/$(prefixes)" "0//$state/made /usr"
first=$(inode)
make_venv
expect "one that is right" "$status/$output/$(inode)" "0//$first"
rm "$state/made/bin/python"
make_venv
expect "one that is broken" "$status/$output/$(prefixes)" "0//$state/made /usr"

for name in numpy pytest mypy mpi4py torch; do
    mkdir -p "$state/packages/$name"
    touch "$state/packages/$name/__init__.py"
done
$system -m venv --without-pip "$state/own"
cp -r "$state/packages/." "$state"/own/lib/python3*/site-packages/
# shellcheck disable=SC2016 # for the script
replace_python 'exec "$state/own/bin/python" "$@"'
make_venv
expect "the user's own, which has more" "$status/$output/$(readlink "$state/made")" "0//$state/own"
make_venv
expect "a link stays" "$status/$output/$(readlink "$state/made")" "0//$state/own"
rm -r "$state"/own/lib/python3*/site-packages/numpy
make_venv
expect "the user's own, without NumPy" "$status/$output/$(prefixes)" "0//$state/made /usr"
expect "the user's own is left alone" "$(ls "$state"/own/bin/python "$state"/own/lib/python3*/site-packages)" "*pytest*"

# shellcheck disable=SC2016 # for the script
replace_python '[ "$1" != -m ] || { echo "no venv here" && exit 1; }
PYTHONPATH=$state/packages exec /usr/bin/python3 "$@"'
make_venv
expect "cannot be made" "$status/$output" "0/python_venv.sh: no virtual environment of python3: no venv here"
[ ! -e "$state/made" ]
# shellcheck disable=SC2016 # for the script
replace_python 'PYTHONPATH=$state/packages exec /usr/bin/python3 "$@"'
make_venv
expect "does not have the packages" "$status/$output" "0/*: it does not have the packages"
[ ! -e "$state/made" ]
