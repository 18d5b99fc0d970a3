# SPDX-License-Identifier: Apache-2.0
"""Comments, texts, documents and man pages use the vocabulary of the field (the words on the right), not these:"""
import io
import re
import sys
import tokenize

import tree

BANNED = {
    r"wanted": "expected",
    r"whole numbers?": "integer",
    r"truth values?": "boolean",
    r"larger of": "max",
    r"stands?|stood": "is, is stored, exists",
    r"lies|lay": "is, is stored at",
    r"is there": "exists",
    r"gives|gave": "returns, yields",
    r"says|said": "reports, states, defines",
    r"tells|told": "reports, is notified",
    r"knows|knew": "has",
    r"asks|asked": "checks, requests",
    r"looks": "checks, reads",
    r"somebody|someone|nobody|whoever|he|she|his|him": "name the actor: the caller, the rank, the kernel",
    r"anew": "again",
    r"first come": "on first use",
    r"goes? with|going with": "is freed with",
    r"goes? on|going on|went on": "continues",
    r"the alarm": "abort flag",
    r"farewells?": "goodbye",
    r"rooms?": "capacity, space",
    r"shortages?": "failing allocation",
    r"under way": "in progress",
    r"learns?|learned": "gets, is notified",
    r"(?:find|finds|found) out": "detects",
    r"(?:come|comes|came) back": "is returned, is restored",
    r"leftovers?|left over|left behind": "remaining, still running",
    r"in the way": "blocks",
    r"now and then": "sometimes, or state how often",
    r"no matter|(?:does|do) not care": "has no effect, ignores",
    r"dearer": "costs more",
    r"made-up": "synthetic",
    r"for ever": "until it is ended",
}
# Where the words mean something else.
ALLOWED = re.compile(r"\b(?:(?:stands?|stood)[\s*#]+(?:for|alone)|stand-?ins?|as it stands|lay out|say so|(?:gives?|gave)[\s*#]+up|"
                     r"looks?[\s*#]+(?:for|up))\b", re.I)
SPACED = {words.replace(" ", r"[\s*#]+"): better for words, better in BANNED.items()}  # also across lines
WORDS = re.compile("|".join(rf"\b(?:{words})\b" for words in SPACED), re.I)
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


def complaints(name, text):
    found = []
    text = ALLOWED.sub(blank, prose(name, text))
    for match in WORDS.finditer(text):
        better = next(b for words, b in SPACED.items() if re.fullmatch(words, match.group(), re.I))
        found.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: '{match.group()}': write {better}")
    return found


def test_the_checker():
    allowed = [("a.c", "int wanted; /* what S stands\n * for */"), ("a.md", "It is `wanted`.\n```\nnobody\n```\n"),
               ("a.c", "/* there is one; they are standard */"), ("a.py", "wanted = 1  # expected"), ("a.1", "expected")]
    refused = [("a.c", "/* What nobody\n * holds. */"), ("a.c", 'fail("%s is wanted");'), ("a.h", "x; // lies here"),
               ("a.c", '"a truth value"'), ("a.md", "It says so, and stands there."), ("a.1", ".TP\nWhoever asks."),
               ("a.py", '"""Made anew."""'), ("a.c", "/* what was left\n * behind */"), ("a.c", "/* comes back */"), ("a.sh", "# goes on"), ("a.md", "Nobody"), ("Makefile", "x: ## it gives")]
    for case in allowed:
        assert not complaints(*case), (case, complaints(*case))
    for case in refused:
        assert complaints(*case), case
    assert complaints("a.c", "int a;\n/* b\n * anew */")[0].startswith("a.c:3: 'anew'")


def is_read(name):
    """Files of the library, tools, tests, benchmarks, examples and documents; not the copies of published cases."""
    if name.name in ("README.md", "CHANGES.md", "CONTRIBUTING.md", "Makefile"):
        return len(name.parts) == 1
    if name.parts[:2] in (("tests", "golden"), ("tests", "conformance")) or name.name == "test_words.py":
        return False
    return (name.parts[0] in ("src", "include", "tools", "tests", "docs", "man", "bench", "examples", "scripts") and
            name.suffix in (".c", ".h", ".hpp", ".cpp", ".py", ".md", ".sh", ".awk", ".1", ".3", ".7"))


def main():
    test_the_checker()
    found = {str(name): complaints(str(name), (tree.ROOT / name).read_text()) for name in tree.files() if is_read(name)}
    assert "README.md" in found and "src/base/ctx.c" in found and "tests/support/check.h" in found
    wrong = [line for lines in found.values() for line in lines]
    print("\n".join(wrong))
    return 1 if wrong else 0


if len(sys.argv) > 1:  # the files to check, instead of all
    sys.exit("\n".join(line for name in sys.argv[1:] for line in complaints(name, (tree.ROOT / name).read_text())))
sys.exit(main())
