# SPDX-License-Identifier: Apache-2.0
"""Names of the public headers: none is a macro and something else, and pairs of words are used alike everywhere."""
import re
import sys

import headers
import tree


def names(text):
    """Macros, types, functions and enumerators of a header, each a set."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    macros = set(re.findall(r"^[ \t]*#[ \t]*define (\w+)", text, re.M))
    types = set(re.findall(r"\b(?:struct|enum|union) (\w+)", text))
    types |= set(re.findall(r"^(?:typedef\b[^;{]*|\}) ?\*?(\w+);", text, re.M))
    types |= set(re.findall(r"^typedef [^;(]*?(\w+)\([^;]*\);", text, re.M))
    functions = set(re.findall(r"^(?:DT_API|static inline) [^;({]*?(\w+)\(", text, re.M))
    enumerators = {name for body in re.findall(r"enum \w* ?\{(.*?)\}", text, re.S)
                   for name in re.findall(r"^\s*(DT_\w+)\b(?!\()", body, re.M)}
    return macros, types, functions, enumerators


def complaints(macros, types, functions, enumerators):
    found = [f"{name} is a macro and also a type, a function or an enumerator"
             for name in macros & (types | functions | enumerators)]
    found += [f"{name} is a type and also a function" for name in types & functions]
    plain = {re.sub(r"_(site|sized)$", "", name) for name in functions}
    for name in plain:
        for ending, other in (("_retain", "_release"), ("_begin", "_end")):
            partner = name[:-len(ending)] + other
            if name.endswith(ending) and partner not in plain:
                found.append(f"{name} has no {partner}")
        if name.endswith("_stats") and name[:-len("_stats")] + "_statistics" not in types:
            found.append(f"{name} does not return a {name[:-len('_stats')]}_statistics")
    found += [f"{name}: a name of one pair of words is used for another"
              for name in plain if re.search(r"_(hold|ref|unref|push|pop|enter|leave)$", name)]
    return sorted(found)


def check_the_checker():
    bad = ("struct dt_a {\n    int x;\n};\n#define dt_a(x) x\n/* Local. */\nDT_API void dt_b_retain(int x);\n"
           "typedef enum dt_e {\n    DT_X,\n} dt_e;\n#define DT_X 1\nDT_API int dt_c_stats(void);\n")
    assert len(complaints(*names(bad))) == 4, complaints(*names(bad))


def main():
    check_the_checker()
    together = [set(), set(), set(), set()]
    for header in headers.public_headers():
        for found, more in zip(together, names((tree.ROOT / header).read_text())):
            found |= more
    assert "dt_zeros" in together[0] and "dt_op" in together[1] and "dt_init_sized" in together[2], "it does not see the headers"
    wrong = complaints(*together)
    wrong += [f"{header}: write capacity, not room" for header in headers.public_headers()
              if re.search(r"\broom\b", (tree.ROOT / header).read_text())]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
