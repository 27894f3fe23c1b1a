"""Pieces of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.files.text_files import to_one_line

PAGES = (".html", ".htm")


class HtmlText(str):
    """Text that is HTML already."""

    __slots__ = ()


def cell_html(cell: object) -> str:
    """A cell as HTML; text is made plain."""
    if isinstance(cell, HtmlText):
        return cell
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return escape(to_one_line(cell)) if cell is not None else ""


def html_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()
) -> HtmlText:
    """A table; `right` are the columns of numbers."""
    listed = list(rows)
    if not listed:
        return HtmlText("<p>none</p>")

    def line(cells: Sequence[object], tag: str) -> str:
        marks = [' class="number"' if i in right else "" for i in range(len(cells))]
        return (
            "<tr>"
            + "".join(
                f"<{tag}{m}>{cell_html(c)}</{tag}>" for m, c in zip(marks, cells, strict=True)
            )
            + "</tr>"
        )

    body = "\n".join(line(r, "td") for r in listed)
    return HtmlText(
        f"<table>\n<thead>{line(head, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    )


def html_section(key: str, title: str, *bodies: str) -> HtmlText:
    """A section with its heading."""
    return HtmlText(
        f'<section id="{key}">\n<h2>{escape(title)}</h2>\n' + "\n".join(bodies) + "\n</section>"
    )


def paragraph(text: str) -> HtmlText:
    return HtmlText(f"<p>{cell_html(text)}</p>")


def details(title: str, content: str, is_open: bool) -> HtmlText:
    """Content that can be folded away."""
    attribute = " open" if is_open else ""
    return HtmlText(
        f"<details{attribute}><summary>{escape(title)}</summary>\n{content}\n</details>"
    )


def preformatted(text: str) -> HtmlText:
    """Text that is aligned by blanks."""
    return HtmlText(f"<pre>{escape(text)}</pre>")


def heading(text: str) -> HtmlText:
    return HtmlText(f"<p><strong>{cell_html(text)}</strong></p>")


def page_path(path: str | Path) -> Path:
    """The path of a page to write, which ends as pages do."""
    if Path(path).suffix.lower() not in PAGES:
        raise RunError(f"cannot write {path}: a page ends in {' or '.join(PAGES)}")
    return Path(path)


def save_page(path: str | Path, text: str) -> Path:
    """Writes a page."""
    target = page_path(path)
    report_io_errors("write", target, lambda: write_text(target, text))
    return target
