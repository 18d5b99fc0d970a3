# SPDX-License-Identifier: Apache-2.0
"""Files and identifiers in documents exist, and docs/files.md lists all of src/."""
import re
import sys

import file_table
import tree

NAMED = re.compile(r"`((?:[\w.]+/)*[\w.-]+\.(?:c|h|py|sh|md|awk|txt)|(?:src|include|tools|tests|scripts|docs|man|bench|fuzz)/[\w./]+)`")
IDENTIFIER = re.compile(r"`((?:dt|DT)_\w+)")


def missing(text, names):
    """Files and folders in the text that are not in the project."""
    known = {str(parent) for name in names for parent in name.parents} | set(map(str, names))
    known |= {path[path.index("/") + 1:] for path in known if "/" in path}  # x/y.h of src/x/y.h
    known |= {path.rsplit("/", 1)[1] for path in known if "/" in path}
    placeholder = re.compile(r"(?:^|[/_])[xy](?:[./]|$)")  # src/x/y.c, bench_x.c
    return [found for found in NAMED.findall(text) if found.rstrip("/") not in known and not placeholder.search(found)]


def unknown(text, code):
    """Identifiers of the library in the text that are not in the code."""
    return [name for name in IDENTIFIER.findall(text) if not re.search(rf"\b{name}", code)]


def test_the_checker():
    names = tree.files(".c", ".h", ".md")
    assert missing("`docs/architecture.md`, `src/base`, `base/ctx.h`, `ctx.c`, `a.npy`, x.c, `bench_x.c`", names) == []
    for wrong in ("`no_such.c`", "`src/no_such/`", "`src/base/no_such.h`", "`mesh/ctx.h`"):
        assert missing(wrong, names), wrong
    assert unknown("`dt_init`, `dt__fail(ctx)`, dt_gone", "dt_ctx *dt_init(void); dt__fail") == []
    assert unknown("`dt_gone`", "dt_init") == ["dt_gone"]
    head = "/* SPDX-License-Identifier: Apache-2.0\n *\n * What a file\n * holds: x | y. More.\n *\n * And more.\n */\n"
    assert file_table.first_sentence(head) == "What a file holds: x \\| y.", file_table.first_sentence(head)
    assert file_table.first_sentence("int x;\n") == ""


def main():
    test_the_checker()
    names = tree.files(exempt=())
    code = "\n".join((tree.ROOT / name).read_text() for name in names
                     if name.suffix in tree.CODE and name.parts[0] in ("src", "include", "tests"))
    wrong = []
    for page in names:
        if page.suffix == ".md" and (page.parts[0] in ("docs", "src") or len(page.parts) == 1):
            text = (tree.ROOT / page).read_text()
            wrong += [f"{page}: {found} does not exist" for found in missing(text, names) + unknown(text, code)]
    if (tree.ROOT / file_table.PAGE).read_text() != file_table.table():
        wrong.append(f"{file_table.PAGE} is out of date: run scripts/file_table.py")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
