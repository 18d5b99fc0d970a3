# SPDX-License-Identifier: Apache-2.0
"""Shared memory can be read from start to end without knowing that clusters exist: no file of src/shm mentions them."""
import re
import sys

import tree

WORD = re.compile(r"(?<![a-z])(?:mpi|remote|span|cluster)", re.I)


def test_the_checker():
    for text in ("MPI may still read", "dt__mpi_of(runtime)", "channel->remotes", "work->span", "it spans nodes", "cluster/a.h"):
        assert WORD.search(text), text
    for text in ("the compiler", "a simple step", "comm/comm.h"):
        assert not WORD.search(text), text


def main():
    test_the_checker()
    names = [name for name in tree.files(".c", ".h") if name.parts[:2] == ("src", "shm")]
    wrong = [f"{name}:{number}: {line.strip()}" for name in names
             for number, line in enumerate((tree.ROOT / name).read_text().splitlines(), 1) if WORD.search(line)]
    print("\n".join(wrong) or f"{len(names)} files")
    return 1 if wrong or len(names) < 5 else 0


sys.exit(main())
