"""How hard pages are to read: `python -m website.reading` prints mean sentence and longest
paragraph of every page.

Words are counted in prose alone: without code, tables, headings, pictures and links. A line of a
list is a paragraph, and a piece of code within a line is one word.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEAN, LONGEST = 20.0, 120  # words of a sentence on average, of a paragraph at most
NOT_PROSE = (
    r"^(`{3,})[^\n]*\n.*?^\1\s*$",  # blocks of code
    r"<!--.*?-->",
    r"^(?:    |\t).*$",  # indented code; lists of lists are rare
    r"^\s*\|.*$",  # tables
    r"^\s*(?:#+ |---).*$",
    r"^>>>.*$",
    r"!\[[^\]]*\]\([^)]*\)",
    r"<[^>\n]+>",
)
ENDS = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!et al)(?<!\bvs)(?<!\bch)(?<!\bp)[.!?]+(?=[\s)\"']|$)")


@dataclass(frozen=True)
class Reading:
    """Words of a page: its sentences, and its longest paragraph."""

    sentences: tuple[int, ...]
    longest: int
    text: str  # of that paragraph

    @property
    def mean(self) -> float:
        return sum(self.sentences) / max(1, len(self.sentences))

    @property
    def good(self) -> bool:
        return self.mean <= MEAN and self.longest <= LONGEST


def paragraphs(markdown: str) -> list[str]:
    """Prose of a page, a paragraph or line of a list each."""
    for pattern in NOT_PROSE:
        markdown = re.sub(
            pattern,
            "\n",
            markdown,
            flags=re.MULTILINE | re.DOTALL if "`{3" in pattern else re.MULTILINE,
        )
    markdown = re.sub(r"`[^`]*`", "code", markdown)
    markdown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    markdown = re.sub(r"^\s*(?:[-*+]|\d+\.) +", "\n", markdown, flags=re.MULTILINE)
    found = (" ".join(part.split()) for part in re.split(r"\n\s*\n", markdown))
    return [part for part in found if re.search(r"\w", part)]


def words(text: str) -> int:
    return len(re.findall(r"[^\W_][\w'’.,/^*+-]*", text))


def reading(markdown: str) -> Reading:
    """What is measured of a page."""
    parts = paragraphs(markdown)
    sentences = tuple(
        n for part in parts for sentence in ENDS.split(part) if (n := words(sentence)) > 0
    )
    text = max(parts, key=words, default="")
    return Reading(sentences, words(text), text)


def pages() -> list[Path]:
    """The README, the pages of docs/, and those for contributors."""
    return [
        *sorted(p for p in ROOT.glob("*.md") if p.name != "CHANGELOG.md"),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]


def main() -> int:
    total, bad = list[int](), 0
    print(f"{'page':44}{'words':>7}{'mean sentence':>15}{'longest paragraph':>19}")
    for path in pages():
        found = reading(path.read_text(encoding="utf-8"))
        total += found.sentences
        bad += not found.good
        mark = "" if found.good else "  too long"
        print(
            f"{path.relative_to(ROOT)!s:44}{sum(found.sentences):7}{found.mean:15.1f}{found.longest:19}{mark}"
        )
    print(
        f"{'all':44}{sum(total):7}{sum(total) / len(total):15.1f}   {bad} of {len(pages())} "
        f"pages too long"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
