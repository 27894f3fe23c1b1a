"""What a finished site must keep: links that lead somewhere, anchors included, and nothing asked
from other hosts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

ASKED = {  # attributes by which a page asks for something when it is opened
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "link": ("href",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "use": ("href",),
    "image": ("href",),
}
STANDING = ("canonical", "alternate", "prev", "next")  # kinds of <link> that ask for nothing
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
OF_STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class _Page(HTMLParser):
    """The links, anchors and wishes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links, self.asked, self.anchors = list[str](), list[str](), set[str]()
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {k: v or "" for k, v in attrs}
        self.anchors |= {of[k] for k in ("id", "name") if of.get(k)}
        self._style = tag == "style"
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        if tag == "link" and of.get("rel") in STANDING:
            return
        self.asked += [of[k] for k in ASKED.get(tag, ()) if of.get(k)]
        self.asked += _of_styles(of.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        self._style = self._style and tag != "style"

    def handle_data(self, data: str) -> None:
        if self._style:
            self.asked += _of_styles(data)


def _of_styles(text: str) -> list[str]:
    return [a or b for a, b in OF_STYLES.findall(text)]


def problems_of(site: Path) -> list[str]:
    """A message for every link that leads nowhere and everything that is asked from another
    host."""
    pages = {p: _Page(p.read_text(encoding="utf-8")) for p in sorted(site.rglob("*.html"))}
    found = list[str]()
    for path, page in pages.items():
        here = path.relative_to(site)
        found += [f"{here} asks for {x}" for x in page.asked if OUTSIDE.match(x)]
        for link in [*page.links, *page.asked]:
            if OUTSIDE.match(link) or re.match(r"[a-z]+:", link):
                continue
            address, anchor = urldefrag(link)
            to = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path
            if not to.is_file():
                if path.name != "404.html":  # whose links begin where the site is served
                    found.append(f"{here} leads to {link}, which is not there")
            elif (
                anchor
                and to in pages
                and unquote(anchor) not in pages[to].anchors
                and not anchor.startswith("__")
            ):
                found.append(f"{here} leads to {link}, which has no such place")
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        found += [
            f"{path.relative_to(site)} asks for {x}" for x in _of_styles(text) if OUTSIDE.match(x)
        ]
    return found
