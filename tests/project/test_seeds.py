# SPDX-License-Identifier: Apache-2.0
"""Randomized tests take their seeds from tests/support (test_seed), and nowhere else.

A stream of random numbers with a fixed seed cannot be run with other seeds, and its test may pass only with that one.
"""
import re
import sys

import tree

C_STREAM = re.compile(r"^(?!\s*(?:/?\*|//)).*\b(?:random|random_state|seed|\.shared|\.own)\s*=\s*(?:\(uint64_t\))?\(?\d", re.M)
PYTHON_STREAM = re.compile(r"\b(?:Random|default_rng|RandomState|random\.seed)\((?!test_seed\()")
VARIABLE = re.compile(r"getenv\(\s*\"DTENSOR_TEST_SEED|environ.*DTENSOR_TEST_SEED")


def complaints(name, text):
    pattern = PYTHON_STREAM if name.endswith(".py") else C_STREAM
    found = [(match, "a stream of random numbers starts from test_seed") for match in pattern.finditer(text)]
    if not name.startswith("tests/support/"):
        found += [(match, "the seed is read by tests/support alone") for match in VARIABLE.finditer(text)]
    return [f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {reason}" for match, reason in found]


def test_the_checker():
    allowed = [("a.c", "uint64_t random = test_seed(7);"), ("a.c", "uint64_t seed = *(const uint64_t *)arg;"),
               ("a.c", "plan.seed = test_seed(1) + 3;"), ("a.c", " * random = 3"), ("a.py", "random.Random(test_seed(3))"),
               ("a.py", "rng.random()")]
    refused = [("a.c", "    uint64_t random = 7;"), ("a.c", "f((struct f){.seed = 1})"), ("a.c", "seed = (uint64_t)(100 * n + k);"),
               ("a.c", 'getenv("DTENSOR_TEST_SEED")'), ("a.py", "random.Random(3)"), ("a.py", "np.random.default_rng()"),
               ("a.py", 'os.environ["DTENSOR_TEST_SEED"]')]
    for case in allowed:
        assert not complaints(*case), case
    for case in refused:
        assert complaints(*case), case


def main():
    test_the_checker()
    sources = [str(name) for name in tree.files(".c", ".h", ".py") if name.parts[0] == "tests"]
    assert "tests/support/random.c" in sources
    found = {name: complaints(name, (tree.ROOT / name).read_text()) for name in sources if name != "tests/project/test_seeds.py"}
    wrong = [line for lines in found.values() for line in lines]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
