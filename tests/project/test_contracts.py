# SPDX-License-Identifier: Apache-2.0
"""Every public function has a contract above it that states which ranks must make the call: *Collective* or *Local*."""
import re
import sys

import headers
import tree

STATES_RANKS = re.compile(r"\b(Collective|Local|Not collective)\b")


def complaints(text):
    return [f"{line}: {name} needs a contract above it with Collective or Local"
            for line, name, comment in headers.exported_functions(text) if not STATES_RANKS.search(comment)]


def test_the_checker():
    valid = "/* Does it. Local. */\nDT_API int dt_a(int x);\nDT_API const char *\ndt_b(void);\n"
    assert complaints(valid) == [], complaints(valid)
    assert len(list(headers.exported_functions(valid))) == 2
    assert len(complaints("/* Does it. */\nDT_API int dt_a(void);\n")) == 1
    assert len(complaints("/* Local. */\n\nDT_API int dt_a(void);\n")) == 1
    assert len(complaints("/* Local. */\nDT_API int dt_a(void);\n/* No. */\nDT_API int dt_b(void);\n")) == 1


def main():
    test_the_checker()
    found = [f"{header}:{complaint}" for header in headers.public_headers()
             for complaint in complaints((tree.ROOT / header).read_text())]
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
