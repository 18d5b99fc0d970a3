#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages, the manual and the files that they link to as HTML, with navigation and a search that needs no server.

Usage: make_docs.py [FOLDER]; the default is build/docs. Pages keep their paths: docs/course.md is docs/course.html. The order in the
navigation is that of docs/README.md. A link to nothing, or a picture without a text alternative, is an error."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import markdown_html
import tree

STYLE = """
:root { --ink: #1c2430; --soft: #5b6675; --line: #dfe4ea; --back: #ffffff; --panel: #f6f8fa; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --soft: #9aa7b5; --line: #313b47; --back: #14191f; --panel: #1c232b; --link: #6db3f2; }
  img { background: #ffffff; border-radius: 8px; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--back); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
header { display: flex; gap: 1em; align-items: center; padding: .6em 1em; border-bottom: 1px solid var(--line); position: sticky; top: 0;
  background: var(--back); z-index: 2; }
header b a { color: var(--ink); font-size: 1.15em; }
header label { display: none; cursor: pointer; font-size: 1.4em; line-height: 1; } #menu { display: none; }
#query { flex: 1; max-width: 30em; margin-left: auto; padding: .4em .7em; border: 1px solid var(--line); border-radius: 6px;
  background: var(--panel); color: var(--ink); font: inherit; min-width: 0; }
.columns { display: flex; }
nav { width: 17em; flex: none; padding: 1em; border-right: 1px solid var(--line); font-size: .92em; height: calc(100vh - 3.4em);
  overflow-y: auto; position: sticky; top: 3.4em; }
nav h2 { font-size: .8em; text-transform: uppercase; letter-spacing: .05em; color: var(--soft); margin: 1.2em 0 .3em; border: 0; }
nav a { display: block; padding: .12em 0; color: var(--ink); } nav a.here { color: var(--link); font-weight: 600; }
nav a.part { padding-left: 1em; font-size: .93em; color: var(--soft); }
main { padding: .5em 2em 4em; min-width: 0; flex: 1; max-width: 60em; }
h1, h2, h3 { line-height: 1.25; scroll-margin-top: 3.6em; } h2 { margin-top: 1.8em; border-bottom: 1px solid var(--line); padding-bottom: .2em; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .8em 1em; overflow-x: auto; font-size: .86em; line-height: 1.45; }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .92em; } p code, li code, td code { background: var(--panel); padding: .05em .25em; border-radius: 4px; }
pre code { font-size: 1em; } h1, h2, h3, p, li, dt, dd { overflow-wrap: break-word; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: .93em; } th, td { text-align: left; vertical-align: top; padding: .35em .8em .35em 0;
  border-bottom: 1px solid var(--line); }
img { max-width: 100%; height: auto; }
#results { position: fixed; right: 1em; top: 3.4em; width: min(40em, calc(100vw - 2em)); max-height: 75vh; overflow-y: auto; background: var(--back);
  border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 8px 30px #0004; z-index: 3; }
#results:empty { display: none; } #results a { display: block; padding: .6em 1em; border-bottom: 1px solid var(--line); color: var(--ink); }
#results a:hover, #results a.at { background: var(--panel); text-decoration: none; } #results b { color: var(--link); }
#results small { display: block; color: var(--soft); overflow-wrap: anywhere; } #results p { padding: 0 1em; }
dl.Bl-tag > dt { margin-top: .7em; font-weight: 600; } a.permalink { color: inherit; }
code.Fl, code.Fn, code.Nm { padding: 0; background: none; } code.Fl, table.Nm td:first-child { white-space: nowrap; } table.Nm td { border: 0; } table.head, table.foot { width: 100%; color: var(--soft); }
.Bd { margin: .8em 0; }
@media (max-width: 50em) {
  header label { display: block; } main { padding: .5em 1em 3em; } .columns { display: block; }
  nav { display: none; width: auto; height: auto; position: static; border: 0; } #menu:checked ~ .columns nav { display: block; }
  p:has(> img) { overflow-x: auto; } p > img { min-width: 38em; }
}
"""

SCRIPT = """
"use strict";
const query = document.getElementById("query"), results = document.getElementById("results");
const root = document.documentElement.dataset.root;
let at = -1;
const navigation = document.querySelector("nav"), here = document.querySelector("nav a.here");
if (here && here.offsetTop > navigation.clientHeight / 2) navigation.scrollTop = here.offsetTop - navigation.clientHeight / 3;
function escaped(text) { return text.replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}[c])); }
function find(words) {
  const found = [];
  for (const [url, page, title, text] of PAGES) {
    const head = (page + " " + title).toLowerCase(), body = text.toLowerCase();
    let score = 0;
    for (const word of words) {
      const inHead = head.includes(word), inBody = body.indexOf(word);
      if (!inHead && inBody < 0) { score = 0; break; }
      score += (inHead ? 10 : 0) + (title.toLowerCase() === word ? 20 : 0) + (inBody >= 0 ? Math.min(body.split(word).length - 1, 5) : 0);
    }
    if (score) found.push([score, url, page, title, text]);
  }
  return found.sort((a, b) => b[0] - a[0]).slice(0, 30);
}
function show() {
  const words = query.value.toLowerCase().split(/\\s+/).filter(word => word.length > 1);
  at = -1;
  if (!words.length) { results.innerHTML = ""; return; }
  const found = find(words);
  results.innerHTML = found.length ? found.map(([, url, page, title, text]) => {
    const begin = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
    return `<a href="${root}${url}"><b>${escaped(title)}</b> · ${escaped(page)}<small>${escaped(text.slice(begin, begin + 160))}</small></a>`;
  }).join("") : "<p>Nothing was found.</p>";
}
query.addEventListener("input", show);
query.addEventListener("keydown", event => {
  const links = [...results.querySelectorAll("a")];
  if (event.key === "Escape") { query.value = ""; show(); }
  else if (event.key === "Enter" && links.length) location.href = links[Math.max(at, 0)].href;
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    at = Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), links.length - 1);
    links.forEach((link, i) => link.classList.toggle("at", i === at));
    event.preventDefault();
  }
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== query) { query.focus(); event.preventDefault(); }
});
if (location.search.startsWith("?q=")) { query.value = decodeURIComponent(location.search.slice(3).replace(/\\+/g, " ")); show(); }
"""

PAGE = """<!DOCTYPE html>
<html lang="en" data-root="{root}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · dtensor</title><link rel="stylesheet" href="{root}style.css"></head>
<body>
<input type="checkbox" id="menu" aria-label="Show the navigation">
<header><label for="menu" aria-hidden="true">☰</label><b><a href="{root}index.html">dtensor</a></b>
<input id="query" type="search" placeholder="Search ( / )" aria-label="Search"></header>
<div id="results" role="listbox"></div>
<div class="columns"><nav aria-label="Pages">{navigation}</nav><main>{content}</main></div>
<script src="{root}search_index.js"></script><script src="{root}search.js"></script>
</body></html>
"""


MAX_PARTS = 50  # sections of a page that the navigation lists; a page of more is found by the search


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.names = {str(name) for name in tree.files(exempt=())}
        self.folders = {str(parent) for name in self.names for parent in pathlib.PurePath(name).parents}
        pages = [name for name in self.names if name.endswith(".md") and is_page(name)]
        manual = [name for name in self.names if re.fullmatch(r"man/\S+\.[1-9]", name)]
        self.titles = {name: title_of(name) for name in pages} | {name: re.sub(r"(.*)\.(\d)", r"\1(\2)", name[4:]) for name in manual}
        self.groups = self.navigation_groups(sorted(pages), sorted(manual))
        self.sources, self.pictures, self.index, self.wrong = set(), set(), [], []
        self.anchors, self.linked = {}, []

    def navigation_groups(self, pages, manual):
        use, change = (tree.ROOT / "docs/README.md").read_text().split("To change it:")
        groups = {"Start": ["README.md", "docs/README.md"]}
        for title, text in (("Use", use), ("Change", change)):
            linked = [os.path.normpath(f"docs/{link}") for link in re.findall(r"\]\(([^)#]+\.md)\)", text)]
            groups[title] = [name for name in dict.fromkeys(linked) if name in pages and not name.startswith("src/")]
        known = [name for names in groups.values() for name in names]
        groups["Change"] += [name for name in pages if name not in known and name.startswith("docs/")]
        groups["Folders"] = [name for name in pages if name.startswith("src/")]
        groups["Manual"] = manual
        known = [name for names in groups.values() for name in names]
        groups["More"] = [name for name in pages if name not in known]
        return groups

    def navigation(self, here, headings):
        root, out = root_of(here), []
        for title, names in self.groups.items():
            out.append(f"<h2>{title}</h2>")
            for name in names:
                mark = ' class="here" aria-current="page"' if name == here else ""
                label = name[4:].removesuffix("/README.md") or "src" if name.startswith("src/") and name != "src/README.md" else self.titles[name]
                out.append(f'<a{mark} href="{root}{page_of(name)}">{html.escape(label)}</a>')
                if name == here:
                    parts = [f'<a class="part" href="#{anchor}">{html.escape(text)}</a>' for level, anchor, text in headings if level == 2]
                    out += parts if len(parts) <= MAX_PARTS else []
        return "\n".join(out)

    def resolve(self, here):
        """The function that turns links of a page into those of its HTML, and notes what they need."""
        def link(target):
            if re.match(r"https?:|mailto:", target):
                return target
            path, _, anchor = target.partition("#")
            name = os.path.normpath(os.path.join(os.path.dirname(here), path)) if path else here
            if name.endswith(".svg"):
                self.pictures.add(name)
            elif name in self.folders:
                name = f"{name}/README.md" if f"{name}/README.md" in self.titles else name
            if name not in self.names and name not in self.folders:
                self.wrong.append(f"{here}: links to {target}, which does not exist")
                return target
            if name in self.titles:
                self.linked.append((here, name, anchor))
            elif not name.endswith(".svg"):
                self.sources.add(name)
            url = name if name.endswith(".svg") else page_of(name)
            return (os.path.relpath(url, os.path.dirname(here) or ".") if path else "") + (f"#{anchor}" if anchor else "")
        return link

    def write(self, name, title, content, headings):
        self.anchors[name] = {anchor for _, anchor, _ in headings}
        if re.search(r"<img [^>]*alt=\"\"", content):
            self.wrong.append(f"{name}: a picture has no text alternative")
        path = self.folder / page_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(root=root_of(name), title=html.escape(title), navigation=self.navigation(name, headings), content=content))

    def add_sections(self, name, title, content):
        """The sections of a page, for the search: each with its anchor, title and text."""
        for part in re.split(r"(?=<h[1-3][ >])", content):
            head = re.match(r"<h[1-3][^>]*id=\"([^\"]*)\"[^>]*>(.*?)</h[1-3]>", part, re.S)
            text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", part[head.end():] if head else part)).split())
            if text or head:
                at = f"#{head[1]}" if head else ""
                self.index.append([page_of(name) + at, title, html.unescape(re.sub(r"<[^>]+>", "", head[2])) if head else title, text])

    def markdown_page(self, name):
        converter = markdown_html.Converter(self.resolve(name))
        content = converter.convert((tree.ROOT / name).read_text())
        self.write(name, self.titles[name], content, converter.headings)
        self.add_sections(name, self.titles[name], content)

    def manual_page(self, name):
        made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", name], cwd=tree.ROOT, capture_output=True, text=True, check=True)
        content = re.sub(r'href="([\w-]+\.\d)\.html"', lambda m: f'href="{m[1]}.html"' if f"man/{m[1]}" in self.titles else 'href="#"', made.stdout)
        content = re.sub(r"<(/?)h1", r"<\1h2", content)
        ids = set(re.findall(r'id="([^"]+)"', content))  # .Sx may name a section of another page
        content = re.sub(r'<a class="Sx" href="#([^"]+)">(.*?)</a>', lambda m: m[0] if m[1] in ids else m[2], content, flags=re.S)
        headings = [(2, found[0], html.unescape(re.sub(r"<[^>]+>", "", found[1])))
                    for found in re.findall(r'<h2[^>]*id="([^"]*)"[^>]*>(.*?)</h2>', content, re.S)]
        title = self.titles[name]
        self.write(name, title, f"<h1>{title}</h1>\n{content}", headings)
        self.add_sections(name, title, content)

    def source_page(self, name):
        path = tree.ROOT / name
        if path.is_dir():
            inside = sorted({other[len(name) + 1:].split("/")[0] for other in self.names if other.startswith(f"{name}/")})
            self.sources_of_folder(name, inside)
            links = [(one, os.path.relpath(page_of(f"{name}/{one}"), os.path.dirname(name) or ".")) for one in inside]
            items = "".join(f'<li><a href="{html.escape(link)}">{html.escape(one)}</a></li>' for one, link in links)
            content = f"<h1>{html.escape(name)}</h1><ul>{items}</ul>"
        else:
            content = f"<h1>{html.escape(name)}</h1><pre><code>{html.escape(path.read_text(errors='replace'), quote=False)}</code></pre>"
        self.write(name, name, content, [])

    def sources_of_folder(self, name, inside):
        self.sources |= {f"{name}/{one}" for one in inside if f"{name}/{one}" not in self.titles}

    def make(self):
        for name in self.titles:
            (self.markdown_page if name.endswith(".md") else self.manual_page)(name)
        done = set()
        while self.sources - done:
            for name in sorted(self.sources - done):
                done.add(name)
                self.source_page(name)
        for picture in self.pictures:
            (self.folder / picture).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree.ROOT / picture, self.folder / picture)
        for here, name, anchor in self.linked:
            if anchor and anchor not in self.anchors[name]:
                self.wrong.append(f"{here}: links to {name}#{anchor}, which has no such heading")
        (self.folder / "style.css").write_text(STYLE)
        (self.folder / "search.js").write_text(SCRIPT)
        (self.folder / "search_index.js").write_text("const PAGES = " + json.dumps(self.index, ensure_ascii=False, separators=(",", ":")) + ";\n")
        (self.folder / "index.html").write_text('<!DOCTYPE html><meta http-equiv="refresh" content="0; url=README.html"><a href="README.html">dtensor</a>\n')


def is_page(name):
    parts = pathlib.PurePath(name).parts
    return len(parts) == 1 or parts[0] in ("docs", "python") or (parts[0] == "src" and parts[-1] == "README.md")


def title_of(name):
    first = next((line[2:] for line in (tree.ROOT / name).read_text().splitlines() if line.startswith("# ")), name)
    return markdown_html.plain(first)


def page_of(name):
    """Where the HTML of a page, source or folder is."""
    return f"{name.removesuffix('.md')}.html"


def root_of(name):
    return "../" * (len(pathlib.PurePath(page_of(name)).parts) - 1)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tree.ROOT / "build/docs")
    folder.mkdir(parents=True, exist_ok=True)
    site = Site(folder)
    site.make()
    if site.wrong:
        sys.exit("\n".join(site.wrong))
    print(f"{len(site.titles)} pages: {folder}/index.html")


if __name__ == "__main__":
    main()
