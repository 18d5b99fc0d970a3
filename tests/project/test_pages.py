# SPDX-License-Identifier: Apache-2.0
"""Lists in the pages are those of the tables in the sources: functions of gradient formulas, transports, dependencies, folders of
src/, and functions that are called by folders above the one that defines them. Pages stay short enough to be read: the README, the
architecture, and the page that each folder of src/ has. CHANGES.md and CITATION.cff have the version of the headers."""
import re
import sys

import make_dist
import tree

ARCHITECTURE = "docs/architecture.md"
BUILDING = "docs/building.md"
TRANSPORTS = "src/comm/README.md"
HOOKS = "src/autograd/README.md"
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
    sources = "".join(read(name) for name in tree.files(".c") if name.parts[0] == "src")
    table = re.search(r"transports\[\] = \{(.*?)\};", sources, re.S)[1]
    names = dict(re.findall(r"const dt__transport (dt__transport_\w+) = \{\s*\.name = \"(\w+)\"", sources))
    selected = [names.pop(symbol) for symbol in re.findall(r"&(dt__transport_\w+)", table)]
    sentences = [re.search(rf"{words} (.*?)\.\s", read(TRANSPORTS), re.S)[1]
                 for words in ("Programs select one of", "The library itself selects")]
    row = re.search(r"^\| transport \| (.*?) \|", read("docs/glossary.md"), re.M)[1]
    option = re.search(r"const char \*transport; /\* (.*?);", read("include/dtensor/base.h"))[1]
    return difference(TRANSPORTS, "transports of programs", re.findall(r"`(\w+)`", sentences[0]), selected) + \
        difference(TRANSPORTS, "transports of the library", re.findall(r"`(\w+)`", sentences[1]), names.values()) + \
        difference("docs/glossary.md", "transports", re.findall(r"`(\w+)`", row), selected) + \
        difference("include/dtensor/base.h", "transports", re.findall(r'"(\w+)"', option), selected)


def dependencies():
    page = read(BUILDING)
    rows = re.findall(r"^\| ([^|]*) \| ([^|]*) \| [^|]* \|$", page[page.index("## Dependencies"):], re.M)[1:]
    words = [word.strip().lower() for names, _ in rows for word in names.split(",")]
    cmake = "".join(read(name) for name in tree.files(exempt=()) if name.name == "CMakeLists.txt")
    required = re.findall(r"find_package\((\w+) REQUIRED", cmake) + re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\w+)", cmake)
    required = [CMAKE_NAMES.get(name, name.lower()) for name in required]
    wrong = [f"{BUILDING}: dependencies: {name}, which CMake requires, is missing"
             for name in required if name and name not in words]
    if "zlib" not in required or "jansson" not in required:
        wrong.append("CMakeLists.txt: this test does not find what it checks")
    packages = re.findall(r"\b(?:(?:lib|zlib)[\w-]+|python3(?:-dev)?(?![\w-]))", "".join(re.findall(r'packages\[(?:build|test)\]="([^"]*)"', read("scripts/setup.sh"))))
    named = [package for _, cell in rows for package in re.findall(r"`([\w-]+)`", cell)]
    return wrong + difference(BUILDING, "packages of dependencies", named, packages)


def folders():
    listed = re.findall(r"^    src/(\w+)/", read(ARCHITECTURE), re.M)
    return difference(ARCHITECTURE, "folders", listed, {name.parts[1] for name in tree.files(".c", ".h") if name.parts[0] == "src"})


def hooks():
    table = re.search(r"^HOOKS = \{(.*?)\}", read("tests/project/test_link_order.py"), re.M | re.S)[1]
    sentence = re.search(r"called by folders above the one that defines them: (.*?)\. ", " ".join(read(HOOKS).split()))[1]
    return difference(HOOKS, "functions defined below", re.findall(r"`(dt__\w+)`", sentence), re.findall(r'"(dt__\w+)"', table))


def sizes():
    """Complaints about pages that are too long, and about folders without a page."""
    wrong = []
    if len(read(ARCHITECTURE).split()) > 2500:
        wrong.append(f"{ARCHITECTURE}: has more than 2500 words: move details to the page of their folder")
    pages = {"README.md": 150} | {f"src/{folder}/README.md": 120 for folder in re.findall(r"^    src/(\w+)/", read(ARCHITECTURE), re.M)}
    for page, most in pages.items():
        if not (tree.ROOT / page).exists():
            wrong.append(f"{page}: does not exist; it says how the folder works inside and why")
        elif read(page).count("\n") > most:
            wrong.append(f"{page}: has more than {most} lines")
    return wrong


def release():
    """CHANGES.md begins with the version of the headers, and CITATION.cff has it with the same date, if it has been released."""
    head = re.search(r"^## (\S+) \((\S+)\)$", read("CHANGES.md"), re.M)
    cited = {key: (re.findall(rf"^{key}: (\S+)$", read("CITATION.cff"), re.M) or [""])[0] for key in ("version", "date-released")}
    wrong = [f"{page}: expected version {make_dist.version()}, got {found}"
             for page, found in (("CHANGES.md", head[1]), ("CITATION.cff", cited["version"])) if found != make_dist.version()]
    if head[2] != "unreleased" and head[2] != cited["date-released"]:
        wrong.append(f"CITATION.cff: expected the date of CHANGES.md, {head[2]}, got '{cited['date-released']}'")
    return wrong


def test_the_checker():
    assert difference("a", "b", ["x", "y"], ["y", "x"]) == []
    assert difference("a", "b", ["x"], ["y"]) == ["a: b: x does not exist", "a: b: y is missing"]
    assert difference("a", "b", [], ["y"]) and difference("a", "b", ["x"], [])
    assert called("kept(shape, dim), sizes; f (x), either(a, b)") == ["kept", "either"]


def main():
    test_the_checker()
    wrong = gradient_functions() + transports() + dependencies() + folders() + hooks() + release() + sizes()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
