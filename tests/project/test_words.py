# SPDX-License-Identifier: Apache-2.0
"""Comments, texts, documents and man pages read as a native speaker would write them.

SPELLINGS are never used: spelling is American. HABITS are constructions that make readers stumble when there are many of them;
each has a number that the whole tree stays below. Natural uses are fine, so this is not a list of forbidden words.
"""
import io
import re
import sys
import tokenize

import tree

SPELLINGS = {
    r"\w*(?:behaviour|colour|favour|neighbour|honour)\w*": "-or",
    r"(?:un|re|de|ab)?(?:normal|initial|final|optim|synchron|recogn|random|summar|organ|serial|vector|parallel|character|general|"
    r"factor|real|minim|maxim|visual|special|memor|emphas|priorit|token|local|custom|material|equal|stabil|discret|util|linear|"
    r"penal|quant|regular)is(?:e|es|ed|er|ers|ing|ation|ations)": "-ize",
    r"centre[sd]?|grey|licence[sd]?|fulfil|towards|artefacts?|analys(?:e|ed|es)(?=\b)": "center, gray, license, fulfill, toward, artifact, analyze",
    r"(?:label|cancel|signal|model|travel|level|total)l(?:ed|ing)": "one l",
}
HABITS = {
    r"of which": 5,
    r"(?:by|in|from|to|at|with) which": 220,
    r"behind": 6,
    r"beside": 1,
    r"(?:/\*|\*|//|#)\s*The same": 32,
}
C_PROSE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
CODE_BLOCK = re.compile(r"^```.*?^```|^(?: {4}|\t)[^\n]*|`[^`\n]*`", re.S | re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def only(spans, text):
    """The text with everything blanked outside the spans, so that lines keep their numbers."""
    kept = [" " if c != "\n" else c for c in text]
    for begin, end in spans:
        kept[begin:end] = text[begin:end]
    return "".join(kept)


def python_prose(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(starts[t.start[0] - 1] + t.start[1], starts[t.end[0] - 1] + t.end[1])
            for t in tokens if t.type in (tokenize.COMMENT, tokenize.STRING)]


def prose(name, text):
    """The comments and texts of the file."""
    if name.endswith((".c", ".h", ".hpp", ".cpp")):
        return only([match.span() for match in C_PROSE.finditer(text) if not text[:match.start()].endswith("#include ")], text)
    if name.endswith(".py"):
        return only(python_prose(text), text)
    if name.endswith(".md"):
        return CODE_BLOCK.sub(blank, text)
    if name.endswith((".sh", ".awk", "Makefile", ".txt")):
        return only([match.span() for match in re.finditer(r"#[^\n]*|\"[^\"\n]*\"", text)], text)
    return text


def misspelled(name, text):
    found = []
    text = prose(name, text)
    for words, better in SPELLINGS.items():
        for match in re.finditer(rf"\b(?:{words})\b", text, re.I):
            found.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: '{match.group()}': spelling is American: {better}")
    return found


def habits(name, text):
    """Where each habit occurs: [(pattern, "file:line")]."""
    text = prose(name, text)
    return [(habit, f"{name}:{text.count(chr(10), 0, match.start()) + 1}") for habit in HABITS
            for match in re.finditer((r"\b" if habit[0].isalpha() or habit.startswith("(?:by") else "") + habit.replace(" ", r"[\s*#]+") + r"\b", text, re.I)]


def test_the_checker():
    for case in (("a.c", "int colour; /* otherwise, pairwise, precise, advise */"), ("a.md", "A `colour`, normalized.\n```\nneighbour\n```\n"),
                 ("a.py", "normalise = 1  # supervise"), ("a.1", "labeled")):
        assert not misspelled(*case), (case, misspelled(*case))
    for case in (("a.c", "/* Its neighbours\n */"), ("a.c", 'fail("uninitialised");'), ("a.h", "x; // is normalised"), ("a.md", "labelled"),
                 ("a.1", ".TP\nBehaviour"), ("a.py", '"""The licence."""'), ("Makefile", "x: ## in grey")):
        assert misspelled(*case), case
    assert misspelled("a.c", "int a;\n/* b\n * colour */")[0].startswith("a.c:3: 'colour'")
    text = "/* The same for x,\n * of\n * which y is behind. */\nint beside;\n"
    assert sorted(where for _, where in habits("a.c", text)) == ["a.c:1", "a.c:2", "a.c:3"], habits("a.c", text)


def is_read(name):
    """Files of the library, tools, tests, benchmarks, examples and documents; not the copies of published cases."""
    if name.name in ("README.md", "CHANGES.md", "CONTRIBUTING.md", "Makefile"):
        return len(name.parts) == 1
    if name.parts[:2] in (("tests", "golden"), ("tests", "conformance")) or name.name == "test_words.py":
        return False
    return (name.parts[0] in ("src", "include", "tools", "tests", "docs", "man", "bench", "examples", "scripts", "python") and
            name.suffix in (".c", ".h", ".hpp", ".cpp", ".py", ".md", ".sh", ".awk", ".1", ".3", ".7"))


def main():
    test_the_checker()
    texts = {str(name): (tree.ROOT / name).read_text() for name in tree.files() if is_read(name)}
    assert "README.md" in texts and "src/base/ctx.c" in texts and "tests/support/check.h" in texts
    wrong = [line for name, text in texts.items() for line in misspelled(name, text)]
    found = [habit for name, text in texts.items() for habit in habits(name, text)]
    for habit, most in HABITS.items():
        places = [where for one, where in found if one == habit]
        if len(places) > most:
            wrong.append(f"'{habit}' occurs {len(places)} times, expected at most {most}; write subject first, active verb:")
            wrong += [f"  {place}" for place in places]
    print("\n".join(wrong))
    return 1 if wrong else 0


if len(sys.argv) > 1:  # the files to check, instead of all: spellings and every habit
    for name in sys.argv[1:]:
        text = (tree.ROOT / name).read_text()
        print("\n".join(misspelled(name, text) + [f"{where}: {habit}" for habit, where in habits(name, text)]))
    sys.exit(0)
sys.exit(main())
