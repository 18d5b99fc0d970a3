# SPDX-License-Identifier: Apache-2.0
"""The commands dtrun and dtensor of an installed package."""
from __future__ import annotations

import os
import sys
from typing import NoReturn


def _run(name: str) -> NoReturn:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    os.execv(program, [name, *sys.argv[1:]])


def dtrun() -> NoReturn:
    """Starts a program on several ranks."""
    _run("dtrun")


def dtensor() -> NoReturn:
    """Plans, rules, meshes and other questions on the command line."""
    _run("dtensor")
