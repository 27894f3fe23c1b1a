"""Text of others in pages: names, docstrings and sources, which neither Markdown nor HTML may take
for their own."""

from __future__ import annotations

import re
from html import escape

PARAMETER = re.compile(r"[*\w]+(, [*\w]+)* : ")  # the head of its description in numpydoc
SPECIAL = re.compile(r"([\\*_\[\]<>&#|])")


def plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is."""
    kept = (c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text if c.isprintable())
    return "".join(kept)


def fenced(text: str, language: str) -> str:
    """A block of code, whatever it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def described(text: str) -> str:
    """A docstring as HTML: paragraphs, names in backticks, and what is indented as it stands."""
    parts = []
    for part in re.split(r"\n\s*\n", text.strip()):
        if all(line.startswith("    ") for line in part.splitlines()):
            parts.append(f"<pre><code>{escape(part)}</code></pre>")
        else:
            words = re.sub(
                r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(part.split()), quote=False)
            )
            parts.append(f"<p>{words}</p>")
    return "\n\n".join(parts)


def as_markdown(text: str) -> str:
    """A docstring for Markdown: the same text; what is in backticks, indented or an example stays
    as it is."""
    lines, example = [], False
    for line in text.splitlines():
        example = line.startswith(">>>") or (example and line.strip() != "")
        kept = example or line.startswith("    ") or PARAMETER.match(line)
        lines.append(line if kept else _line(line))
    return "\n".join(lines)


def _line(line: str) -> str:
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else SPECIAL.sub(_entity, part) for part in parts)


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[1])};"
