"""A page that stands alone: title, summary, links to its sections, and these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bellcrank.core.files.html import html_section
from bellcrank.core.files.template import fill_template, template_text


@dataclass(frozen=True)
class DocumentSection:
    """A part of a page: its anchor, its heading and its content, which is HTML."""

    key: str
    title: str
    parts: Sequence[str]


def html_document(title: str, summary: str, sections: Sequence[DocumentSection]) -> str:
    """The whole page; the title is plain text, the summary HTML."""
    links = "\n".join(f'<a href="#{s.key}">{escape(s.title)}</a>' for s in sections)
    body = "\n".join(html_section(s.key, s.title, *s.parts) for s in sections)
    fields = {"TITLE": escape(title), "SUMMARY": summary, "LINKS": links, "BODY": body}
    return fill_template(template_text("bellcrank.analysis.view/templates", "report.html"), fields)
