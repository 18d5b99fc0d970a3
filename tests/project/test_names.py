# SPDX-License-Identifier: Apache-2.0
"""Names in the public headers: none is a macro and something else, and pairs of verbs are consistent."""
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
    types |= set(re.findall(r"^typedef [^;({]*?(\w+)\([^;]*\);", text, re.M))
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
    found += [f"{name}: expected retain and release, or begin and end"
              for name in plain if re.search(r"_(hold|ref|unref|push|pop|enter|leave)$", name)]
    return sorted(found)


def test_the_checker():
    invalid = ("struct dt_a {\n    int x;\n};\n#define dt_a(x) x\n/* Local. */\nDT_API void dt_b_retain(int x);\n"
           "typedef enum dt_e {\n    DT_X,\n} dt_e;\n#define DT_X 1\nDT_API int dt_c_stats(void);\n")
    assert len(complaints(*names(invalid))) == 4, complaints(*names(invalid))


def main():
    test_the_checker()
    all_names = [set(), set(), set(), set()]
    for header in headers.public_headers():
        for found, more in zip(all_names, names((tree.ROOT / header).read_text())):
            found |= more
    assert "dt_zeros" in all_names[0] and "dt_op" in all_names[1] and "dt_init_sized" in all_names[2], "the headers were not parsed"
    wrong = complaints(*all_names)
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
