# SPDX-License-Identifier: Apache-2.0
"""The pages as HTML: every link, anchor and picture exists, pictures have a text alternative, and the search finds what is there.
Their source has prose in lines of at most 120 characters."""
import html.parser
import json
import os
import pathlib
import re
import sys
import tempfile

import make_docs
import markdown_html


ROOT = pathlib.Path(__file__).parents[2]
GENERATED = {"files.md", "gradient-placements.md"}
PROSE_WIDTH = 120


def long_lines(name, text):
    """Prose only: no tables, headings, code blocks or HTML, whose lines cannot be wrapped."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        if len(line) > PROSE_WIDTH and not is_code and not re.match(r"\||#|<| {4}", line):
            yield f"{name}:{number}: expected at most {PROSE_WIDTH} characters, got {len(line)}"


def test_long_lines_are_found():
    line = "word " * 25
    assert list(long_lines("a.md", f"{line}\n\n| {line} |\n# {line}\n```\n{line}\n```\n    {line}\n")) == [
        "a.md:1: expected at most 120 characters, got 125"]


def stale_sites(name, text):
    """Lines of the project's sources in errors that are shown, "neg(f32[8,6]) (at ../tests/x.c:67)", which do not make that call."""
    arguments = r"\([^\n()]*(?:\([^()]*\)[^\n()]*)*\)"
    for before, inside, path, line in re.findall(rf"(?:(\w+){arguments} )?\((\w+ )?at \.\./((?:src|tests|examples)/[\w/.]+):(\d+)\)", text):
        source = (ROOT / path).read_text().splitlines() if (ROOT / path).exists() else []
        call = f"dt_{before or inside.strip()}"
        if call not in "".join(source[int(line) - 1:int(line)]):
            yield f"{name}: {path}:{line} has no call of {call}"


def test_stale_sites_are_found():
    path = "tests/project/test_docs.py"
    here = next(n for n, line in enumerate((ROOT / path).read_text().splitlines(), 1) if "dt_neg" in line)
    for text, n in ((f"neg(f32[8] S(0)) (at ../{path}:{here}) on rank 2", 0), (f"relu(f32[8] S(0)) (at ../{path}:{here})", 1),
                    (f"(neg at ../{path}:{here})", 0), (f"expected 1 (at ../{path}:{here})", 0), ("(at ../tests/nowhere.c:1)", 1)):
        assert len(list(stale_sites("a.md", text))) == n, text


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.ids, self.unnamed = [], set(), 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.targets += [attrs[key] for key in ("href", "src") if attrs.get(key)]
        self.ids.add(attrs.get("id"))
        self.unnamed += tag == "img" and not attrs.get("alt")


def complaints(folder):
    pages = {path: Links(path.read_text()) for path in folder.rglob("*.html")}
    for path, links in pages.items():
        if links.unnamed:
            yield f"{path.relative_to(folder)}: a picture has no text alternative"
        for target in links.targets:
            file, _, anchor = target.partition("#")
            to = pathlib.Path(os.path.normpath(path.parent / file)) if file else path
            if re.match(r"https?:", target):
                continue
            if not to.exists():
                yield f"{path.relative_to(folder)}: links to {target}, which does not exist"
            elif anchor and to.suffix == ".html" and anchor not in pages[to].ids:
                yield f"{path.relative_to(folder)}: links to {target}, which has no such place"


def convert(text):
    return markdown_html.Converter(lambda target: target).convert(text)


def test_the_converter():
    for text, expected in (
            ("# A `b`: c", '<h1 id="a-b-c">A <code>b</code>: c</h1>'),
            ("a *b* **c** `x*y*` <https://x.org>", '<p>a <em>b</em> <strong>c</strong> <code>x*y*</code> <a href="https://x.org">https://x.org</a></p>'),
            ("[`a`](b.md#c) a_b_c 2*3*4 < 5", '<p><a href="b.md#c"><code>a</code></a> a_b_c 2*3*4 &lt; 5</p>'),
            ("![a \"b\"](c.svg)", '<p><img src="c.svg" alt="a &quot;b&quot;"></p>'),
            ("- a\n  b\n- c", "<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>"),
            ("1. a\n\n   ```sh\n   $ b\n   ```\n2. c", '<ol>\n<li><p>a</p>\n<pre><code class="sh">$ b</code></pre></li>\n<li>c</li>\n</ol>'),
            ("| a | b |\n|---|---|\n| `x\\|y` | 2 |", '<div class="table"><table>\n<thead><tr><th>a</th><th>b</th></tr></thead>\n'
             "<tr><td><code>x|y</code></td><td>2</td></tr>\n</table></div>"),
            ("a\n\n    b < c", "<p>a</p>\n<pre><code>b &lt; c</code></pre>")):
        assert convert(text) == expected, (text, convert(text))


def main():
    test_the_converter()
    test_long_lines_are_found()
    test_stale_sites_are_found()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site = make_docs.Site(folder)
        site.make()
        wrong = site.wrong + list(complaints(folder))
        index = json.loads((folder / "search_index.js").read_text().removeprefix("const PAGES = ").rstrip(";\n"))
        for words in ("placement selection", "dt_redistribute", "DTENSOR_TIMEOUT", "dtensor plan"):
            if not any(words in f"{title} {text}" or words in page for _, page, title, text in index):
                wrong.append(f"the search finds no {words}")
        (folder / "README.html").write_text('<img src="nothing.svg"><a href="docs/architecture.html#nothing">')
        if len(list(complaints(folder))) < 3:
            wrong.append("this test accepts wrong links and pictures")
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/README.md")):
        if path.name not in GENERATED:
            wrong += long_lines(path.relative_to(ROOT), path.read_text())
        wrong += stale_sites(path.relative_to(ROOT), path.read_text())
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
