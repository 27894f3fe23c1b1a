"""The two builds of a program in C, as text."""

from __future__ import annotations

from dataclasses import dataclass

BETWEEN = "\f\n"


@dataclass(frozen=True)
class ProgramSources:
    """A program as C source, but for its end: either the kernel (`unity`), or what attaches the
    program to one that was compiled before (`linked`)."""

    common: str
    unity: str
    linked: str

    def for_build(self, build: str) -> str:
        return str(self.common + getattr(self, build))

    def joined_text(self) -> str:
        """All three in one text."""
        return BETWEEN.join((self.common, self.unity, self.linked))

    @classmethod
    def from_text(cls, text: str) -> ProgramSources:
        return cls(*text.split(BETWEEN))
