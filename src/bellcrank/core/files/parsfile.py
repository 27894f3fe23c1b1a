"""Parameter files ("parsfiles"): a keyword, a value and a comment to a line. Sayers (1990),
Appendix B.

    PARSFILE                       the first line says what this is
    * a comment
    TITLE   any words
    bm      10.0    kg   mass of b          what follows the value is for the reader
    q(a)    -0.5    rad
    z_road  step 0.5 0.05 0                 an input: a number, a kind of signal and its numbers,
                                            or a file
    PARSFILE other.par                      continues with that file, then comes back
    END                                     of this file; may be omitted

Capitals do not matter in keywords. A keyword that comes again replaces the value before. Nothing
here is ever executed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bellcrank.core.argument_checks import validate_arguments
from bellcrank.core.errors import RunError
from bellcrank.core.files.text_files import read_text, to_one_line
from bellcrank.core.signals import SIGNAL_KINDS

DEEPEST = 20  # files within files
RUN_KEYWORDS = ("stopt", "step", "iprint", "method", "rtol", "atol")
RESERVED = ("parsfile", "title", "end", *RUN_KEYWORDS)
SIGNALS = {name: len(kind.numbers) for name, kind in SIGNAL_KINDS.items()} | {"file": 0}
"""Kinds of inputs and how many numbers each takes."""


@dataclass(frozen=True)
class ParsEntry:
    """One line: `keyword` without blanks and in small letters, the words after it, and where it
    stands."""

    keyword: str
    words: tuple[str, ...]
    path: Path
    line: int

    @property
    def location(self) -> str:
        return f"{self.path}, line {self.line}"


@dataclass(frozen=True)
class ParsFile:
    """Lines of a parameter file in the order in which they count, those of other files in their
    places.

    `bc.settings_of(equations, file)` turns them into arguments of `simulate`.

    Attributes
    ----------
    title : str
        The last title.
    entries : tuple of Entry
        Lines: `.keyword` in small letters, `.words` after it, `.path` and `.line` where they stand.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bellcrank as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "run.par"
    ...     lines = ["PARSFILE", "TITLE short run", "STOPT 3", "END"]
    ...     written = path.write_text(chr(10).join(lines))
    ...     file = bc.ParsFile.read(path)
    >>> file.title, [(entry.keyword, entry.words) for entry in file.entries]
    ('short run', [('stopt', ('3',))])
    """

    title: str
    entries: tuple[ParsEntry, ...]

    @classmethod
    @validate_arguments
    def read(cls, path: str | Path) -> ParsFile:
        """Read a parameter file and those it names.

        Parameters
        ----------
        path : str or Path
            The file (.par, .echo). Its first line is PARSFILE.

        Returns
        -------
        ParsFile
            Its lines.

        Raises
        ------
        RunError
            If the file cannot be read or does not begin with PARSFILE.

        Examples
        --------
        >>> import bellcrank as bc
        >>> bc.ParsFile.read("missing.par")
        Traceback (most recent call last):
            ...
        bellcrank.core.errors.RunError: cannot read missing.par: No such file or directory
        """
        entries: list[ParsEntry] = []
        title = _read_entries(Path(path), entries, "", 0)
        return cls(title, tuple(entries))


def _read_entries(path: Path, entries: list[ParsEntry], title: str, depth: int) -> str:
    if depth >= DEEPEST:
        raise RunError(f"{path}: parameter files name each other more than {DEEPEST} deep")
    text = read_text(path)
    has_head = False
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if not content or content.startswith("*"):
            continue
        if not has_head:
            if content.split()[0].lower() != "parsfile" or len(content.split()) > 1:
                raise RunError(
                    f"{path}, line {number}: a parameter file begins with the line PARSFILE"
                )
            has_head = True
            continue
        keyword, value_text = split_keyword(content)
        if keyword == "end":
            break
        if keyword == "title":
            title = value_text
        elif keyword == "parsfile":
            if not value_text:
                raise RunError(f"{path}, line {number}: PARSFILE needs the name of a file")
            title = _read_entries(path.parent / value_text, entries, title, depth + 1)
        else:
            entries.append(ParsEntry(keyword, tuple(value_text.split()), path, number))
    if not has_head:
        raise RunError(f"{path}: a parameter file begins with the line PARSFILE; this one is empty")
    return title


def split_keyword(content: str) -> tuple[str, str]:
    """The keyword of a line, in small letters without blanks (q(b, 4) is one), and what follows
    it."""
    first = content.split(None, 1)[0]
    end = len(first)
    if "(" in first and ")" not in first:
        close = content.find(")")
        end = close + 1 if close > 0 else len(first)
    return "".join(content[:end].split()).lower(), content[end:].strip()


def parse_number(text: str) -> float | None:
    """A finite number as C and Fortran write it (1.5, 2E-3, 1D0), or None."""
    if not text or any(ch not in "0123456789+-.eEdD" for ch in text):
        return None
    try:
        value = float(text.replace("d", "e").replace("D", "E"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def keyword_for(name: str, keywords: Iterable[str] = ()) -> str:
    """The keyword of a quantity: its name without blanks, changed where it would be one of the
    file's own."""
    keyword = "".join(name.split())
    used_keywords = {*RESERVED, *(t.lower() for t in keywords)}
    while keyword.lower() in used_keywords or keyword.startswith("*"):
        keyword += "_"
    return keyword


def parsfile_line(keyword: str, value: str, *words: str) -> str:
    """A line with its value and words in columns."""
    return f"{keyword:<15} {value:<24} {'  '.join(to_one_line(w) for w in words if w)}".rstrip()
