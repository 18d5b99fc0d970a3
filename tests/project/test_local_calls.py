# SPDX-License-Identifier: Apache-2.0
"""A call that its contract calls Local, without "every rank", is a rank's own business: it adds nothing to the call
histories that ranks compare. Checked in the function itself and in the functions of its file that it calls."""
import re
import sys

import headers
import tree

NOTES = re.compile(r"\bdt__(note_tensor|noted|noted_read|note_public_call|note_fields|training_call_begin|history_note)\(")
CALLS = re.compile(r"\b(\w+)\(")


def is_own_business(comment):
    text = " ".join(re.sub(r"\n \*", " ", comment).split())
    return bool(re.search(r"\bLocal\b", text)) and not re.search(r"\bCollective\b|every rank|as the next|all ranks", text)


def definitions(text):
    """Bodies of the functions of a source file by name."""
    found = re.finditer(r"^[a-z][\w \*]*?\b(\w+)\([^;{]*?\) \{\n(.*?)^\}", text, re.S | re.M)
    return {match[1]: match[2] for match in found}


def notes(name, bodies, seen=()):
    body = bodies.get(name, "")
    return bool(NOTES.search(body)) or any(notes(call, bodies, (*seen, name)) for call in set(CALLS.findall(body))
                                           if call in bodies and call not in (*seen, name))


def complaints(header, sources):
    local = {name for _, name, comment in headers.exported_functions(header) if is_own_business(comment)}
    return [f"{name} is Local, and adds itself to the call history: say that every rank of the mesh makes the same call"
            for text in sources for bodies in [definitions(text)] for name in sorted(local & bodies.keys())
            if notes(name, bodies)]


def test_the_checker():
    source = ("static int help(dt_tensor *t) {\n    return dt__note_tensor(t, NULL);\n}\n"
              "int dt_a(dt_tensor *t) {\n    return help(t);\n}\nint dt_b(dt_tensor *t) {\n    return 0;\n}\n")
    for contract, n in (("Does it. Local.", 1), ("Local; every rank of the mesh makes the same call.", 0),
                        ("Collective where inputs move, else Local.", 0)):
        header = f"/* {contract} */\nDT_API int dt_a(dt_tensor *t);\nDT_API int dt_b(dt_tensor *t);\n"
        assert len(complaints(header, [source])) == n, (contract, complaints(header, [source]))


def main():
    test_the_checker()
    sources = [(tree.ROOT / name).read_text() for name in tree.files(".c") if name.parts[0] == "src"]
    found = [complaint for header in headers.public_headers()
             for complaint in complaints((tree.ROOT / header).read_text(), sources)]
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
