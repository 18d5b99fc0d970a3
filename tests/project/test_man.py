# SPDX-License-Identifier: Apache-2.0
"""The man pages are well formed, and dtensor(7) documents every environment variable that the library or a tool reads. Lists
in the pages (dtypes, planners) are those of the headers."""
import re
import shutil
import subprocess
import sys

import tree


def rows(path, macro, pattern):
    """The matches of the pattern in the rows of a list macro."""
    text = (tree.ROOT / path).read_text()
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*\n)", text)
    return re.findall(pattern, body[1]) if body else []


def lists():
    """Triples of a file, a pattern of its list, and the expected words."""
    dtypes = rows("include/dtensor/base.h", "DT_DTYPE_LIST", r'X\(\w+, \d+, "(\w+)"')
    planners = rows("src/plan/plan.h", "DT__PLANNER_LIST", r"X\(\w+, (\w+),")
    return [("man/dtensor.7", r"^\.Li ((?:\w+ )*f32(?: \w+)*) \.$", dtypes),
            ("man/dtensor-plan.1", r"^\.It Li (\w+)$", planners + ["all"])]


def check_lists():
    wrong = []
    for path, pattern, words in lists():
        found = [word for text in re.findall(pattern, (tree.ROOT / path).read_text(), re.M) for word in text.split()]
        if len(words) < 3:
            wrong.append(f"{path}: the list in the header is not found: this test does not find what it checks")
        if sorted(found) != sorted(words):
            wrong.append(f"{path}: expected {' '.join(words)}, got {' '.join(found)}")
    return wrong


def missing_in_synopsis(name, text):
    """Options that a page describes and its synopsis lacks; one of their names suffices, and only help and version need none."""
    synopsis, _, description = text.partition(".Sh DESCRIPTION")
    options = [re.findall(r"Fl (-?[a-z-]+)", line) for line in re.findall(r"^\.It (.*Fl .*)", description, re.M)]
    return [f"{name}: the synopsis lacks -{names[-1]}" for names in options
            if not {"-help", "-version"} & {*names} and not any(re.search(rf"Fl {option}\b", synopsis) for option in names)]


def main():
    page = ".Sh SYNOPSIS\n.Op Fl n Ar n\n.Sh DESCRIPTION\n.It Fl n Ar n , Fl -ranks Ar n\n.It Fl -json\n.It Fl -help\n"
    assert missing_in_synopsis("a.1", page) == ["a.1: the synopsis lacks --json"]
    pages = [name for name in tree.files(".1", ".3", ".7") if name.parts[0] == "man"]
    overview = (tree.ROOT / "man/dtensor.7").read_text()
    code = "".join((tree.ROOT / name).read_text() for name in tree.files(*tree.CODE) if name.parts[0] in ("src", "tools"))
    variables = set(re.findall(r'"(DTENSOR_[A-Z_]+)"', code))
    wrong = [f"man/dtensor.7 does not document {name}" for name in sorted(variables) if f".It Ev {name}\n" not in overview]
    every_page = "".join((tree.ROOT / name).read_text() for name in pages)
    wrong += [f"no man page documents {name}" for name in sorted(set(re.findall(r'getenv\("(\w+)"\)', code)))
              if f"Ev {name}" not in every_page]
    wrong += check_lists()
    wrong += [line for name in pages if name.suffix == ".1" for line in missing_in_synopsis(name, (tree.ROOT / name).read_text())]
    if "DTENSOR_LOG" not in variables:
        wrong.append("DTENSOR_LOG is not found in the sources: this test does not find what it checks")
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *map(str, pages)], cwd=tree.ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wrong += lint.stdout.splitlines()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
