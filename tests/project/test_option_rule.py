# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists are written in one way in all calls (tensor.h): a required number is plain, an optional one is wrapped whatever its
default, and a list has one type for what is in it, required or not. The table of ops is compared with the declarations of ops.h; the
options of other headers have no plain numbers. Structs with wrapped options find plain numbers in a call (DT_OPTION, DT_CHECKED)."""
import re
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "scripts"))
import op_model  # noqa: E402

REQUIRED = {"int": "int64_t", "float": "double", "Scalar": "dt_number", "bool": "bool"}
OPTIONAL = {"int": ("dt_opt_int",), "float": ("dt_opt_real",), "Scalar": ("dt_number",), "bool": ("bool", "dt_opt_bool")}
LISTS = ("dt_shape", "dt_dims", "dt_ints", "dt_reals")
WRAPPED = ("dt_opt_", "dt_number", "dt_tensors") + LISTS
MAX_OPTIONS = 15  # DT_ENDED counts to one more, for the site


def fields(body):
    """Pairs of type and name of the fields of a struct, and whether each is declared with DT_OPTION."""
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    found = []
    for text in filter(None, (part.strip() for part in body.split(";"))):
        option = re.fullmatch(r"DT_OPTION\((.*), (\w+)\)", text, re.S)
        kind, names = option.groups() if option else re.fullmatch(r"(.*?)(\w+(?:, \w+)*)", text, re.S).groups()
        found += [(kind.strip(), name, bool(option)) for name in names.split(", ")]
    return found


def structs(text):
    return {name: fields(body) for name, body in
            re.findall(r"typedef struct (dt_\w+_options) \{(.*?)\} \1;", text, re.S) if name != "dt_init_options"}


def parameters(text):
    """Types of parameters by name, by function."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {}
    for name, taken in re.findall(r"DT_API [^;(]*?(\w+)_sized\(([^;]*?)\);", text):
        found[name] = {one: kind.strip() for kind, one in
                       (re.fullmatch(r"(.*?)(\w+)", part.strip(), re.S).groups() for part in taken.split(",")[:-1])}
    return found


def check_structs(name, options, macros):
    """The form of a struct: no plain numbers, and checked where something is wrapped."""
    wrong = []
    own = [field for field in options if field[1] != "site"]
    if len(own) > MAX_OPTIONS:
        wrong.append(f"{name}: {len(own)} options; DT_ENDED counts to {MAX_OPTIONS} and the site")
    wrong += [f"{name}.{field}: expected a wrapped number, got {kind}" for kind, field, _ in own
              if kind in ("int", "int64_t", "size_t", "double", "float")]
    if any(kind.startswith(WRAPPED) for kind, _, _ in own):
        wrong += [f"{name}.{field}: expected DT_OPTION" for _, field, is_option in own if not is_option]
        if f"DT_NAMED({name}," in macros or f"DT_CHECKED({name}," not in macros:
            wrong.append(f"{name}: expected DT_CHECKED in the macros of its calls")
    return wrong


def check_op(function, taken, options, lists):
    wrong = []
    for param in function.params:
        if param.is_option and param.unused:
            continue
        where = f"dt_{function.plain_name()}: {param.name}"
        kind = options.get(param.name) if param.is_option else taken.get(param.name)
        if param.word == "int" and param.is_list:
            lists.setdefault(param.name, set()).add(kind)
            if kind not in LISTS:
                wrong.append(f"{where}: expected {' or '.join(LISTS)}, got {kind}")
        elif not param.is_list and param.type in REQUIRED:
            expected = OPTIONAL[param.type] if param.is_option else (REQUIRED[param.type],)
            if kind not in expected:
                wrong.append(f"{where}: expected {' or '.join(expected)}, got {kind}")
    return wrong


def main():
    wrong, lists, n = [], {}, 0
    texts = {path.name: path.read_text() for path in sorted((tree.ROOT / "include/dtensor").glob("*.h"))}
    all_structs, macros = {}, "".join(texts.values())
    for text in texts.values():
        all_structs |= structs(text)
    for name, options in all_structs.items():
        wrong += check_structs(name, options, macros)
    declared = parameters(texts["ops.h"])
    for function in op_model.read_functions(builds=False):
        n += 1
        options = {name: kind for kind, name, _ in all_structs[function.options_type()]}
        wrong += check_op(function, declared[function.base()], options, lists)
    wrong += [f"lists called {name} have several types: {', '.join(sorted(kinds))}" for name, kinds in lists.items()
              if len(kinds) > 1]
    if n < 400 or len(all_structs) < 400 or len(lists) < 10:
        wrong.append(f"only {n} ops, {len(all_structs)} structs and {len(lists)} lists: this test does not find what it checks")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
