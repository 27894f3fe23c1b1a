"""Pieces of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from bellcrank.errors import RunError
from bellcrank.files.record import guarded
from bellcrank.files.text import one_line
from bellcrank.files.whole import write_text

PAGES = (".html", ".htm")


class Raw(str):
    """Text that is HTML already."""

    __slots__ = ()


def shown(cell: object) -> str:
    """A cell as HTML; text is made plain."""
    if isinstance(cell, Raw):
        return cell
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return escape(one_line(cell)) if cell is not None else ""


def table(head: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> Raw:
    """A table; `right` are the columns of numbers."""
    listed = list(rows)
    if not listed:
        return Raw("<p>none</p>")

    def line(cells: Sequence[object], tag: str) -> str:
        marks = [' class="number"' if i in right else "" for i in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{m}>{shown(c)}</{tag}>" for m, c in zip(marks, cells, strict=True)) + "</tr>"

    body = "\n".join(line(r, "td") for r in listed)
    return Raw(f"<table>\n<thead>{line(head, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>")


def section(key: str, title: str, *bodies: str) -> Raw:
    """A section with its heading."""
    return Raw(f'<section id="{key}">\n<h2>{escape(title)}</h2>\n' + "\n".join(bodies) + "\n</section>")


def paragraph(text: str) -> Raw:
    return Raw(f"<p>{shown(text)}</p>")


def folded(title: str, content: str, is_open: bool) -> Raw:
    """Content that can be folded away."""
    return Raw(f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>\n{content}\n</details>")


def verbatim(text: str) -> Raw:
    """Text that is aligned by blanks."""
    return Raw(f"<pre>{escape(text)}</pre>")


def heading(text: str) -> Raw:
    return Raw(f"<p><strong>{shown(text)}</strong></p>")


def page_path(path: str | Path) -> Path:
    """The path of a page to write, which ends as pages do."""
    if Path(path).suffix.lower() not in PAGES:
        raise RunError(f"cannot write {path}: a page ends in {' or '.join(PAGES)}")
    return Path(path)


def save_page(path: str | Path, text: str) -> Path:
    """Writes a page."""
    target = page_path(path)
    guarded("write", target, lambda: write_text(target, text))
    return target
