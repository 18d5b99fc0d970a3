# SPDX-License-Identifier: Apache-2.0
"""Runs the tools of the build for the tests of this folder."""
import json
import os
import subprocess

BUILD = os.environ.get("DTENSOR_BUILD", "build")
SOURCE = os.environ.get("DTENSOR_SOURCE", ".")
DTENSOR = os.path.join(BUILD, "bin", "dtensor")
HERE = os.path.dirname(os.path.abspath(__file__))


def environment(**changes):
    """An environment that does not depend on that of the caller."""
    plain = {name: value for name, value in os.environ.items()
             if name not in ("NO_COLOR", "COLUMNS", "TERM", "LANG") and not name.startswith("LC_")}
    return {**plain, "LC_ALL": "C.UTF-8", "TERM": "xterm", **changes}


def run(*arguments, stdin=b"", **changes):
    """Runs `dtensor arguments…` with pipes: (exit code, standard output, standard error)."""
    result = subprocess.run([DTENSOR, *arguments], input=stdin, capture_output=True, env=environment(**changes), timeout=300)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def tensor(mesh, shape, placements, dtype="f32"):
    """The text of a tensor; shapes are "8,6" or "[8,6]"."""
    return f"{dtype}[{shape.strip('[]')}] {placements} on mesh({mesh})"


def commands():
    """The names of the subcommands, from the help."""
    table = run("--help")[1].split("commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in table.splitlines()]


def query(*requests):
    """Answers of one `dtensor query` to requests, which are objects or raw bytes."""
    lines = [request if isinstance(request, bytes) else json.dumps(request).encode() for request in requests]
    code, out, err = run("query", stdin=b"\n".join(lines) + b"\n")
    if code or err:
        raise AssertionError(f"query exited with {code}: {err}")
    return [json.loads(line) for line in out.splitlines()]
