"""Words of a private dialect in public text, with what the field says instead: `python -m
tests.vocabulary [FILE ...]`.

Public text is README.md, CHANGELOG.md, the pages of docs, and the strings and docstrings of
src/bellcrank.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bellcrank"
INSTEAD = {
    r"told|tells?": "reports, warns, shows",
    r"says? so": "reports it, warns",
    r"(?<!of )freedoms?": "degrees of freedom",
    r"go(?:es|ing)? on|starts? again": "continue, resume, restart",
    r"slopes? of (?:the )?(?:rates|states?|it|[a-z]+ by)|exact slopes?": "derivatives, Jacobian",
    r"to the bit|(?:the|same|equal|other|last) bits of|has the bits|have the bits": "bit-identical",
    r"films?": "animation, video",
    r"machine at rest|whole machine|the machine (?:moves|stands)": "mechanism, system",
    r"held against|beside": "compared with, next to",
    r"beyond": "outside the range, above the limit",
    r"states of your own|own states": "user-defined states",
    r"external routines?": "user functions",
    r"(?:methods? )?that chooses? (?:their|its) steps?|chooses? (?:their|its) steps?": "adaptive methods",
    r"hold by themselves": "redundant constraint equations",
    r"singular positions?": "singular configuration",
    r"nominal positions?": "reference configuration",
    r"proofs?|proves?|proved|believed?": "verification, verifies",
    r"run away|indifferent": "diverging variables; neutral",
    r"acts? again|events? that acts?": "fires again; an event with an action",
    r"side by side": "vectorised, batched; next to each other",
    r"fused operations?": "fused multiply-adds",
    r"refuse[sd]?|refusing": "not supported, raises an error",
    r"left out|leaves? out": "omitted, omits",
    r"shares? (?:in|of)|a share": "fraction, proportion",
    r"pace of the clock": "real time",
    r"stretch(?:es)?": "segment",
    r"trips?|calm|doubts?|doubtful|twins?|felt": "run; stable; post-run checks; pairs; coupled",
    r"nearby names": "suggestions",
    r"leans?|leaning": "camber, inclination, roll angle",
    r"sentences?": "message",
    r"way aside": "lateral deviation",
    r"what nothing uses": "unused",
}
_WORDS = re.compile(r"\b(?:" + "|".join(INSTEAD) + r")\b", re.IGNORECASE)
_CODE = re.compile(r"^(`{3,}).*?^\1$|`[^`\n]*`|\]\([^)]*\)|^ {4}.*?$", re.MULTILINE | re.DOTALL)


def house_words(text: str) -> Iterator[tuple[int, str, str]]:
    """Each such word in a text: its line, the word, and what to write instead."""
    for m in _WORDS.finditer(text.replace("\n", " ")):
        instead = next(
            x for word, x in INSTEAD.items() if re.search(rf"\b(?:{word})\b", m[0], re.IGNORECASE)
        )
        yield text.count("\n", 0, m.start()) + 1, m[0], instead


def prose(page: str) -> str:
    """A page without its code and links."""
    return _CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), page)


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module, docstrings too, with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, re.sub(r"`[^`\n]*`", "", node.value)


def found_in(path: Path) -> list[str]:
    """What stands in a file, a line for each word."""
    text = path.read_text(encoding="utf-8")
    pieces = [(1, prose(text))] if path.suffix == ".md" else list(strings(path))
    name = path.relative_to(ROOT)
    return [
        f"{name}:{at + n - 1}: {word!r}: {instead}"
        for at, x in pieces
        for n, word, instead in house_words(x)
    ]


def public_files() -> list[Path]:
    """All files with public text."""
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted(SOURCE.rglob("*.py")),
    ]


if __name__ == "__main__":
    chosen = [Path(x).resolve() for x in sys.argv[1:]] or public_files()
    found = [line for path in chosen for line in found_in(path)]
    print(*found, f"{len(found)} words", sep="\n")
