"""A page that stands alone: title, summary, links to its sections, and these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bellcrank.files.html import section
from bellcrank.files.template import filled, template


@dataclass(frozen=True)
class Section:
    """A part of a page: its anchor, its heading and its content, which is HTML."""

    key: str
    title: str
    parts: Sequence[str]


def document(title: str, summary: str, sections: Sequence[Section]) -> str:
    """The whole page; the title is plain text, the summary HTML."""
    links = "\n".join(f'<a href="#{s.key}">{escape(s.title)}</a>' for s in sections)
    body = "\n".join(section(s.key, s.title, *s.parts) for s in sections)
    fields = {"TITLE": escape(title), "SUMMARY": summary, "LINKS": links, "BODY": body}
    return filled(template("bellcrank.view/templates", "report.html"), fields)
