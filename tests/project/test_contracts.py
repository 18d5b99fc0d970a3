# SPDX-License-Identifier: Apache-2.0
"""Every public function has a contract above it that says who must make the call: *Collective* or *Local*.

A header may say once at its top that all of its calls are Local; a contract is then still needed.
"""
import re
import sys

import headers
import tree

ALL_LOCAL = re.compile(r"\w")
SAYS_WHO = re.compile(r"\b(Collective|Local|Not collective)\b")


def complaints(text):
    head = text[:text.index("*/")]
    pattern = ALL_LOCAL if (all_local := re.search(r"All calls here are \*?Local", head)) else SAYS_WHO
    need = "a contract above it" if all_local else "a contract above it that says Collective or Local"
    return [f"{line}: {name} needs {need}"
            for line, name, comment in headers.exported_functions(text) if not pattern.search(comment)]


def check_the_checker():
    head = "/* The head. */\n\n"
    good = head + "/* Does it. Local. */\nDT_API int dt_a(int x);\nDT_API const char *\ndt_b(void);\n"
    assert complaints(good) == [], complaints(good)
    assert len(list(headers.exported_functions(good))) == 2
    assert len(complaints(head + "/* Does it. */\nDT_API int dt_a(void);\n")) == 1
    assert len(complaints(head + "/* Local. */\n\nDT_API int dt_a(void);\n")) == 1
    assert complaints("/* All calls here are *Local*. */\n\n/* Does it. */\nDT_API int dt_a(void);\n") == []
    assert len(complaints("/* All calls here are *Local*. */\n\nDT_API int dt_a(void);\n")) == 1
    assert len(complaints(head + "/* Local. */\nDT_API int dt_a(void);\n/* No. */\nDT_API int dt_b(void);\n")) == 1


def main():
    check_the_checker()
    found = [f"{header}:{complaint}" for header in headers.public_headers()
             for complaint in complaints((tree.ROOT / header).read_text())]
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
