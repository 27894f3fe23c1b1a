"""A function of a model that the kernel evaluates: numbers and lists as data, formulas to be
printed with the model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bellcrank.kernel.layout import structure_fields
from bellcrank.symbolic.expr import Expr, Symbol

Formulas = tuple[tuple[Sequence[Symbol], Sequence[Symbol], Sequence[Symbol]], Mapping[int, Expr]]
Lists = Mapping[str, np.ndarray[Any, Any]]
STRUCTURES = {
    "Implicit": "implicit.c",
    "Lookup": "lookup.c",
    "Ground": "ground.c",
    "GroundGrid": "ground_grid.c",
}
FILES = {"ground_turn_at": "ground_shape.c"}  # of functions that do not stand with their structure


@dataclass(frozen=True)
class KernelFunction:
    """`kind`: its structure in the kernel, with `numbers` (some in pairs), `lists` and `formulas`:
    over up to three lists of symbols, values by their places. `called`: the function of the kernel.
    It has so many `arguments` and
    `values`, and takes `room` for numbers and for `pivots`, which are whole."""

    kind: str
    called: str
    numbers: Mapping[str, float | Sequence[float]]
    lists: Lists
    arguments: int
    values: int
    formulas: Mapping[str, Formulas] = field(default_factory=dict)
    room: int = 0
    pivots: int = 0

    @property
    def kernel_file(self) -> str:
        """The file of the kernel that has the function."""
        return FILES.get(self.called, self.structure_file)

    @property
    def structure_file(self) -> str:
        """That which has the structure."""
        return STRUCTURES[self.kind]

    @property
    def fields(self) -> tuple[tuple[str, str, int], ...]:
        """Name, type and length of each field of the structure."""
        return structure_fields(self.structure_file, self.kind)


def kernel_function_digest(f: KernelFunction) -> str:
    """Names a function without formulas by what it is."""
    digest = hashlib.sha256(repr(sorted(f.numbers.items())).encode())
    for name in sorted(f.lists):
        digest.update(f.lists[name].tobytes())
    return digest.hexdigest()[:12]


def int_array(values: Sequence[int]) -> np.ndarray[Any, Any]:
    """A list of whole numbers."""
    return np.array(values, np.int32)
