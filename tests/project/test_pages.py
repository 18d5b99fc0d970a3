# SPDX-License-Identifier: Apache-2.0
"""Lists in the pages are those of the tables in the sources: functions of gradient formulas, transports, dependencies, folders of
src/, and functions that are called by folders above the one that defines them."""
import re
import sys

import tree

ARCHITECTURE = "docs/architecture.md"
# What CMake calls a dependency, if that is not its name; None: none of the library's.
CMAKE_NAMES = {"PkgConfig": None, "Threads": "threads", "dtensor": None}


def read(path):
    return (tree.ROOT / path).read_text()


def difference(page, what, found, expected):
    """Complaints about the words of a page that are not those of a table."""
    if not expected or not found:
        return [f"{page}: {what}: this test does not find what it checks"]
    return [f"{page}: {what}: {word} does not exist" for word in sorted(set(found) - set(expected))] + \
           [f"{page}: {what}: {word} is missing" for word in sorted(set(expected) - set(found))]


def called(text):
    """Names in front of a parenthesis."""
    return re.findall(r"\b([a-z]\w*)\(", text)


def gradient_functions():
    table = re.search(r"functions\[DT__N_FUNCTIONS\] = \{(.*?)\};", read("src/rules/gradient_text.c"), re.S)[1]
    names = re.findall(r'\{"(\w+)", \d+\}', table)
    offered = re.search(r" \*     f\(a, b, c=d\)(.*?)\n \*\n", read("include/dtensor/op.h"), re.S)[1]
    wrong = difference("include/dtensor/op.h", "functions of formulas", called(offered), names)
    ops = re.findall(r"\bdt_(\w+?)(?:_sized|_site)?\(", read("include/dtensor/ops.h"))
    prose = re.sub(r"^```.*?^```", "", read("docs/gradients.md"), flags=re.M | re.S)
    written = [name for text in re.findall(r"`([^`]*)`", prose) for name in called(text) if not name.startswith("dt_")]
    return wrong + [f"docs/gradients.md: {name} is neither an op nor a function of formulas"
                    for name in written if name not in names + ops]


def transports():
    sources = [read(name) for name in tree.files(".c") if name.parts[0] == "src"]
    table = re.search(r"transports\[\] = \{(.*?)\};", next(text for text in sources if "transports[] = {" in text), re.S)[1]
    names = []
    for symbol in re.findall(r"&(dt__transport_\w+)", table):
        names += [re.search(rf"const dt__transport {symbol} = \{{\s*\.name = \"(\w+)\"", text)[1]
                  for text in sources if f"const dt__transport {symbol} = {{" in text]
    sentence = re.search(r"Transports implement one table of functions: (.*?)\.\s", read(ARCHITECTURE), re.S)[1]
    row = re.search(r"^\| transport \| (.*?) \|", read("docs/glossary.md"), re.M)[1]
    return difference(ARCHITECTURE, "transports", re.findall(r"`(\w+)`", sentence), names) + \
        difference("docs/glossary.md", "transports", re.findall(r"`(\w+)`", row), names)


def dependencies():
    page = read(ARCHITECTURE)
    rows = re.findall(r"^\| ([^|]*) \| ([^|]*) \| [^|]* \|$", page[page.index("## Dependencies"):], re.M)[1:]
    words = [word.strip().lower() for names, _ in rows for word in names.split(",")]
    cmake = "".join(read(name) for name in tree.files(exempt=()) if name.name == "CMakeLists.txt")
    required = re.findall(r"find_package\((\w+) REQUIRED", cmake) + re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\w+)", cmake)
    required = [CMAKE_NAMES.get(name, name.lower()) for name in required]
    wrong = [f"{ARCHITECTURE}: dependencies: {name}, which CMake requires, is missing"
             for name in required if name and name not in words]
    if "zlib" not in required or "jansson" not in required:
        wrong.append("CMakeLists.txt: this test does not find what it checks")
    packages = re.findall(r"\b(?:(?:lib|zlib)[\w-]+|python3(?![\w-]))", "".join(re.findall(r'packages\[(?:build|test)\]="([^"]*)"', read("scripts/setup.sh"))))
    named = [package for _, cell in rows for package in re.findall(r"`([\w-]+)`", cell)]
    return wrong + difference(ARCHITECTURE, "packages of dependencies", named, packages)


def folders():
    listed = re.findall(r"^    src/(\w+)/", read(ARCHITECTURE), re.M)
    return difference(ARCHITECTURE, "folders", listed, {name.parts[1] for name in tree.files(".c", ".h") if name.parts[0] == "src"})


def hooks():
    table = re.search(r"^HOOKS = \{(.*?)\}", read("tests/project/test_link_order.py"), re.M | re.S)[1]
    sentence = re.search(r"called by folders above the one that defines\s+them: (.*?)\.\s", read(ARCHITECTURE), re.S)[1]
    return difference(ARCHITECTURE, "functions defined below", re.findall(r"`(dt__\w+)`", sentence), re.findall(r'"(dt__\w+)"', table))


def test_the_checker():
    assert difference("a", "b", ["x", "y"], ["y", "x"]) == []
    assert difference("a", "b", ["x"], ["y"]) == ["a: b: x does not exist", "a: b: y is missing"]
    assert difference("a", "b", [], ["y"]) and difference("a", "b", ["x"], [])
    assert called("kept(shape, dim), sizes; f (x), either(a, b)") == ["kept", "either"]


def main():
    test_the_checker()
    wrong = gradient_functions() + transports() + dependencies() + folders() + hooks()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
