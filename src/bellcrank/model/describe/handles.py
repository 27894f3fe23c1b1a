"""What add_body, add_point and the like return: handles that name things in formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bellcrank.model.formula import Formula
from bellcrank.model.owner import OwnName
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.formula_parser import AXES, SyntaxNode


class StateHandles:
    """Coordinates or speeds of a body, counted from 1."""

    def __init__(self, symbols: list[Symbol], description: str) -> None:
        self._symbols = symbols
        self._what = description

    def __getitem__(self, index: int) -> Expr:
        if not isinstance(index, int) or not 1 <= index <= len(self._symbols):
            raise IndexError(
                f"{self._what}[{index!r}]: the index goes from 1 to {len(self._symbols)}"
            )
        return self._symbols[index - 1]

    def __len__(self) -> int:
        return len(self._symbols)

    def __iter__(self) -> Iterator[Expr]:
        return iter(self._symbols)

    def __repr__(self) -> str:
        return repr(self._symbols)


@dataclass(frozen=True)
class PointHandle:
    """A point by name; `b.origin`, `b.joint` and `b.cm` exist for every body."""

    name: str


class BodyHandle:
    """A body by name. `b.x`, `b.y`, `b.z` (or `b[1]`, `b[2]`, `b[3]`) are its unit vectors;
    `b.q[i]`, `b.u[i]` its coordinates and speeds."""

    def __init__(
        self, name: str, q: list[Symbol], u: list[Symbol], owner: tuple[int, str] | None = None
    ) -> None:
        self.name = OwnName(name, owner)
        self.q = StateHandles(q, f"{name}.q")
        self.u = StateHandles(u, f"{name}.u")
        self.origin = PointHandle(OwnName(f"{name}.origin", owner))
        self.joint = PointHandle(OwnName(f"{name}.joint", owner))
        self.cm = PointHandle(OwnName(f"{name}.cm", owner))

    def __getitem__(self, axis: int | str) -> Formula:
        number = AXES.get(axis) if isinstance(axis, str) else axis
        if number not in (1, 2, 3):
            raise IndexError(
                f"body '{self.name}' has unit vectors 1, 2, 3 or 'x', 'y', 'z', not {axis!r}"
            )
        return Formula(SyntaxNode("unit", (self.name, number)))

    @property
    def x(self) -> Formula:
        """The first unit vector."""
        return self[1]

    @property
    def y(self) -> Formula:
        """The second unit vector."""
        return self[2]

    @property
    def z(self) -> Formula:
        """The third unit vector."""
        return self[3]

    def __repr__(self) -> str:
        return f"Body({self.name})"


@dataclass(frozen=True)
class ForceHandle:
    """A force or moment by name, for fm()."""

    name: str
