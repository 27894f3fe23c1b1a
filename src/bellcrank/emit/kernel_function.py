"""A function of a model that the kernel evaluates: numbers and lists as data, formulas to be printed with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bellcrank.expr import Expr, Symbol
from bellcrank.kernel.layout import structure_fields

Listed = Sequence[int] | Sequence[float]
Formulas = tuple[tuple[Sequence[Symbol], Sequence[Symbol], Sequence[Symbol]], Mapping[int, Expr]]
FILES = {"Implicit": "implicit.c", "Lookup": "lookup.c"}  # of the kernel, by the structures in them


@dataclass(frozen=True)
class KernelFunction:
    """`kind`: its structure in the kernel, with `numbers` (some in pairs), `lists` and `formulas`: over up to three
    lists of symbols, values by their places. It has so many `arguments` and `values`, and takes `room` for numbers and
    for `pivots`, which are whole."""

    kind: str
    numbers: Mapping[str, float | Sequence[float]]
    lists: Mapping[str, Listed]
    formulas: Mapping[str, Formulas]
    arguments: int
    values: int
    room: int = 0
    pivots: int = 0

    @property
    def file(self) -> str:
        return FILES[self.kind]

    @property
    def fields(self) -> tuple[tuple[str, str, int], ...]:
        """Name, type and length of each field of the structure."""
        return structure_fields(self.file, self.kind)

    def is_whole(self, name: str) -> bool:
        """Are the numbers of a list whole?"""
        return all(isinstance(x, int) for x in self.lists[name][:1])
