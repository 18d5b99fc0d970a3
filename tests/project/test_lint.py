# SPDX-License-Identifier: Apache-2.0
"""scripts/lint.py reports what it should."""
import pathlib
import sys
import tempfile

import lint

SPACES = {"charset": "utf-8", "end_of_line": "lf", "insert_final_newline": "true", "trim_trailing_whitespace": "true",
          "indent_style": "space"}
CASES = [
    (SPACES, b"int x;\n    int y;\n", []),
    (SPACES, b"", []),
    (SPACES, b"int x;", [1]),
    (SPACES, b"int x; \n", [1]),
    (SPACES, b"a\r\nb\n", [1]),
    (SPACES, b"a\n\tb\n  \tc\n", [2, 3]),
    (SPACES, b"a\n\xff\n", [2]),
    (SPACES, "“ü”\n".encode(), []),
    ({**SPACES, "indent_style": "tab"}, b"all:\n\tx\n    y\n\t    z\n", [3]),
    ({**SPACES, "max_line_length": "5"}, b"12345\n123456\n", [2]),
    ({}, b"a \r\n\tb", []),
]


def check_editorconfig():
    for settings, data, expected in CASES:
        got = [line for line, _ in lint.editorconfig_complaints(data, settings)]
        assert got == expected, f"{data!r}: expected complaints in lines {expected}, got {got}"
    patterns = {pattern for group, _ in lint.editorconfig_sections() for pattern in group}
    assert {"*", "*.c", "*.h", "Makefile"} <= patterns, patterns


def check_dependencies():
    """A result of clang-tidy is cached until a file that the source includes, directly or indirectly, has changed."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "a.c").write_text('#include <stdio.h>\n#include "b.h"\n')
        (root / "b.h").write_text('  #  include "a.c"\n#include "deep/c.h"\n')
        (root / "deep").mkdir()
        (root / "deep/c.h").write_text("")
        (root / "d.h").write_text("")
        included = set()
        lint.included((root / "a.c").resolve(), [root], included)
        names = {str(path.relative_to(root.resolve())) for path in included}
        assert names == {"a.c", "b.h", "deep/c.h"}, names


def main():
    check_editorconfig()
    check_dependencies()
    assert lint.main(["no such part"]) == 2
    return 0


sys.exit(main())
