#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the form of the sources. Usage: lint.py [format|editorconfig|shell|tidy|analyze ...], all of them by default;
lint.py --fix formats the code instead; it fails where the formatter is not installed.

Exits with 0 if there are no complaints, 1 after printing them, 77 if every requested part was skipped because its tool is
not installed.
"""
import configparser
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import tree

# Other versions of the formatter break lines differently.
LLVM = "14"


class Skip(Exception):
    pass


def find_tool(name, version=None):
    for candidate in ([f"{name}-{version}"] if version else []) + [name]:
        path = shutil.which(candidate)
        if path and (not version or f"version {version}." in run([path, "--version"])[1]):
            return path
    raise Skip(f"there is no {name}" + (f" of version {version}" if version else ""))


def run(command):
    result = subprocess.run(command, cwd=tree.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace")
    return result.returncode, result.stdout


def check_format():
    tool = find_tool("clang-format", LLVM)
    _, output = run([tool, "--dry-run", "--ferror-limit=3", "--", *map(str, tree.files(*tree.CODE))])
    return output.splitlines()


def fix_format():
    try:
        status, output = run([find_tool("clang-format", LLVM), "-i", "--", *map(str, tree.files(*tree.CODE))])
    except Skip as reason:
        status, output = 1, f"format: cannot format: {reason}\n"
    print(output, end="")
    return status


def check_shell():
    tool = find_tool("shellcheck")
    scripts = [name for name in tree.files()
               if name.suffix in (".sh", ".bash") or (tree.ROOT / name).read_bytes().startswith(b"#!/usr/bin/env bash")]
    status, output = run([tool, "--format=gcc", "--shell=bash", "--exclude=SC2016", *map(str, scripts)])
    return output.splitlines() if status else []


def editorconfig_sections():
    """Pairs of a list of patterns and its settings, in the order of the file."""
    parser = configparser.ConfigParser()
    parser.read_string("[preamble]\n" + (tree.ROOT / ".editorconfig").read_text())
    for section in parser.sections()[1:]:
        braces = re.search(r"\{([^}]*)\}", section)
        alternatives = braces[1].split(",") if braces else [""]
        head, tail = (section[:braces.start()], section[braces.end():]) if braces else (section, "")
        yield [head + part + tail for part in alternatives], dict(parser[section])


def editorconfig_complaints(data, settings):
    """What the bytes of one file do against its settings, as (line number, complaint)."""
    try:
        text = data.decode(settings.get("charset", "utf-8"))
    except UnicodeDecodeError as error:
        yield data[:error.start].count(b"\n") + 1, "is not UTF-8"
        return
    if settings.get("insert_final_newline") == "true" and text and not text.endswith("\n"):
        yield text.count("\n") + 1, "has no newline at its end"
    wrong_indent = {"space": r"\s*\t", "tab": r" "}.get(settings.get("indent_style"))
    for number, line in enumerate(text.split("\n"), 1):
        if settings.get("end_of_line") == "lf" and line.endswith("\r"):
            yield number, "ends with a carriage return"
        elif settings.get("trim_trailing_whitespace") == "true" and line != line.rstrip():
            yield number, "ends with white space"
        if wrong_indent and re.match(wrong_indent, line):
            yield number, f"is not indented by {settings['indent_style']}s"
        if len(line) > int(settings.get("max_line_length", len(line))):
            yield number, f"is longer than {settings['max_line_length']} characters"


def check_editorconfig():
    sections = list(editorconfig_sections())
    complaints = []
    for name in tree.files():
        settings = {}
        for patterns, values in sections:
            if any(fnmatch.fnmatch(name.name, pattern) for pattern in patterns):
                settings.update(values)
        data = (tree.ROOT / name).read_bytes()
        if b"\0" not in data:
            complaints += [f"{name}:{line}: {what}" for line, what in editorconfig_complaints(data, settings)]
    return complaints


def included(path, folders, seen):
    """Adds a file and the project's headers that it includes, directly or not, to seen."""
    if path in seen:
        return
    seen.add(path)
    for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(errors="replace"), re.M):
        for folder in [path.parent, *folders]:
            if (folder / name).is_file():
                included((folder / name).resolve(), folders, seen)
                break


def find_clang_tidy(folder):
    """clang-tidy, after it has shown that it complains: silence means something only then."""
    tool = find_tool("clang-tidy", LLVM)
    probe = folder / "probe.c"
    probe.write_text("void probe(int *x) {\n    if (x);\n    *x = 1;\n}\n")
    if "suspicious-semicolon" not in run([tool, "--checks=-*,bugprone-suspicious-semicolon", str(probe), "--"])[1]:
        raise Skip(f"{tool} does not complain about {probe.relative_to(tree.ROOT)}, as it should")
    return tool


def check_with_clang_tidy(options, folders):
    """Runs clang-tidy on every compiled source of these folders; one that was found clean is not looked at again until
    it, a header of it, or the settings change."""
    build = tree.ROOT / "build"
    if not (build / "compile_commands.json").exists():
        raise Skip("there is no build/compile_commands.json; run make build first")
    cache = build / "lint"
    cache.mkdir(exist_ok=True)
    tool = find_clang_tidy(cache)
    options = [*options, *(f"--extra-arg=-Wno-{what}" for what in ("unknown-warning-option", "unused-command-line-argument"))]
    common = "".join([run([tool, "--version"])[1], (tree.ROOT / ".clang-tidy").read_text(), *options]).encode()

    def check(entry):
        sources = set()
        included(tree.ROOT / entry["file"], [tree.ROOT / name for name in ("src", "include", "tests")], sources)
        digest = hashlib.sha256(common + entry["command"].encode())
        for path in sorted(sources):
            digest.update(str(path.relative_to(tree.ROOT)).encode() + b"\0" + path.read_bytes())
        verdict = cache / digest.hexdigest()
        if verdict.exists():
            return []
        status, output = run([tool, "--quiet", f"-p={build}", *options, entry["file"]])
        complaints = [line for line in output.splitlines() if not re.match(r"\d+ warnings? generated", line)]
        if status == 0 and not complaints:
            verdict.touch()
        return complaints if complaints or status == 0 else [f"{entry['file']}: clang-tidy ended with {status}"]

    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if any(tree.ROOT / folder in pathlib.Path(entry["file"]).parents for folder in folders)
               and entry["file"].endswith(".c")]  # the checks are chosen for C
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [complaint for complaints in pool.map(check, entries) for complaint in complaints]


def check_tidy():
    return check_with_clang_tidy([], ("src", "tools", "tests", "bench", "examples", "fuzz"))


def check_analyze():
    """Tests are left out: one that fails may leak. So are null pointers: the analyzer does not see that a NULL comes with
    an error status, and the sanitizers find them."""
    checks = ("-*,clang-analyzer-*,-clang-analyzer-core.NullDereference,-clang-analyzer-security.insecureAPI.*,"
              "-clang-analyzer-optin.performance.Padding")
    return check_with_clang_tidy([f"--checks={checks}"], ("src", "tools"))


PARTS = {"format": check_format, "editorconfig": check_editorconfig, "shell": check_shell, "tidy": check_tidy,
         "analyze": check_analyze}


def main(names):
    verdicts = []
    if names == ["--fix"]:
        return fix_format()
    for name in names or PARTS:
        if name not in PARTS:
            print(f"lint: no such part: {name}; expected one of {', '.join(PARTS)}", file=sys.stderr)
            return 2
        try:
            complaints = PARTS[name]()
            print("\n".join(complaints + [f"{name}: {len(complaints)} lines of complaint" if complaints else f"{name}: clean"]))
            verdicts.append(1 if complaints else 0)
        except Skip as reason:
            print(f"{name}: skipped, {reason}")
            verdicts.append(77)
    return 1 if 1 in verdicts else min(verdicts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
