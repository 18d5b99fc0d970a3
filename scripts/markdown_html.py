# SPDX-License-Identifier: Apache-2.0
"""Turns the Markdown of this project's pages into HTML: headings with GitHub's anchors, paragraphs, lists, tables, fences,
indented code, links, pictures, code, bold and italic text. Other constructs are not used here."""
import html
import re

FENCE = re.compile(r"( *)```(\w*).*$")
ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
INLINE = re.compile(r"(?P<code>`[^`]+`)|!\[(?P<alt>[^\]]*)\]\((?P<picture>[^)\s]+)\)|\[(?P<text>(?:`[^`]*`|[^\]])*)\]\((?P<link>[^)\s]+)\)|"
                    r"<(?P<url>https?://[^>]+)>|\*\*(?P<bold>.+?)\*\*|(?<![\w*])\*(?P<italic>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])")


def anchor(title):
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", title).strip().lower()).replace(" ", "-")


def plain(text):
    """The text of one line without its marks."""
    return INLINE.sub(lambda m: m["code"].strip("`") if m["code"] else m["alt"] or m["text"] or m["url"] or m["bold"] or m["italic"] or "", text)


class Converter:
    """resolve(target) is what a link or a picture becomes; headings collects (level, anchor, title)."""

    def __init__(self, resolve):
        self.resolve = resolve
        self.headings = []

    def inline(self, text):
        out, at = [], 0
        for match in INLINE.finditer(text):
            out.append(html.escape(text[at:match.start()], quote=False))
            out.append(self.span(match))
            at = match.end()
        return "".join(out) + html.escape(text[at:], quote=False)

    def span(self, match):
        if match["code"]:
            return f"<code>{html.escape(match['code'][1:-1], quote=False)}</code>"
        if match["picture"]:
            return f'<img src="{html.escape(self.resolve(match["picture"]))}" alt="{html.escape(match["alt"])}">'
        if match["link"]:
            return f'<a href="{html.escape(self.resolve(match["link"]))}">{self.inline(match["text"])}</a>'
        if match["url"]:
            return f'<a href="{html.escape(match["url"])}">{html.escape(match["url"])}</a>'
        kind, inside = ("strong", match["bold"]) if match["bold"] else ("em", match["italic"])
        return f"<{kind}>{self.inline(inside)}</{kind}>"

    def convert(self, text):
        return "\n".join(self.blocks(text.split("\n")))

    def blocks(self, lines):
        out, at = [], 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif FENCE.match(line):
                at = self.fence(lines, at, out)
            elif heading := re.match(r"(#+) (.*)", line):
                name = anchor(heading[2])
                while any(name == other for _, other, _ in self.headings):
                    name += "-1"
                level = len(heading[1])
                self.headings.append((level, name, plain(heading[2])))
                out.append(f'<h{level} id="{name}">{self.inline(heading[2])}</h{level}>')
                at += 1
            elif line.startswith("|"):
                at = self.table(lines, at, out)
            elif ITEM.match(line):
                at = self.list(lines, at, out)
            elif line.startswith("    "):
                end = at
                while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                    end += 1
                code = "\n".join(one[4:] for one in lines[at:end]).rstrip("\n")
                out.append(f"<pre><code>{html.escape(code, quote=False)}</code></pre>")
                at = end
            else:
                end = at
                while end < len(lines) and lines[end].strip() and not re.match(r"#+ |\||\s*```", lines[end]) and \
                        (end == at or not ITEM.match(lines[end])):
                    end += 1
                out.append(f"<p>{self.inline(chr(10).join(lines[at:end]))}</p>")
                at = end
        return out

    def fence(self, lines, at, out):
        opened = FENCE.match(lines[at])
        end = at + 1
        while end < len(lines) and lines[end].strip() != "```":
            end += 1
        code = "\n".join(line.removeprefix(opened[1]) for line in lines[at + 1:end])
        kind = f' class="{opened[2]}"' if opened[2] else ""
        out.append(f"<pre><code{kind}>{html.escape(code, quote=False)}</code></pre>")
        return end + 1

    def table(self, lines, at, out):
        rows = []
        while at < len(lines) and lines[at].startswith("|"):
            cells = re.split(r"(?<!\\)\|", lines[at].strip().strip("|") if not lines[at].strip().endswith("\\|") else lines[at].strip("|"))
            rows.append([cell.strip().replace("\\|", "|") for cell in cells])
            at += 1
        head, body = rows[0], rows[2:]
        out.append('<div class="table"><table>')
        if any(head):
            out.append("<thead><tr>" + "".join(f"<th>{self.inline(cell)}</th>" for cell in head) + "</tr></thead>")
        out += ["<tr>" + "".join(f"<td>{self.inline(cell)}</td>" for cell in row) + "</tr>" for row in body]
        out.append("</table></div>")
        return at

    def list(self, lines, at, out):
        first = ITEM.match(lines[at])
        indent, kind = len(first[1]), "ol" if first[2][0].isdigit() else "ul"
        out.append(f"<{kind}>")
        while at < len(lines) and (item := ITEM.match(lines[at])) and len(item[1]) == indent:
            inside, width = [item[3]], indent + len(item[2]) + 1
            at += 1
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" " * (indent + 1))):
                inside.append(lines[at][width:] if lines[at][:width].strip() == "" else lines[at].lstrip())
                at += 1
            while inside and not inside[-1].strip():
                inside.pop()
            parts = self.blocks(inside)
            if len(parts) == 1:
                parts = [re.sub(r"^<p>(.*)</p>$", r"\1", parts[0], flags=re.S)]
            out.append("<li>" + "\n".join(parts) + "</li>")
        out.append(f"</{kind}>")
        return at
