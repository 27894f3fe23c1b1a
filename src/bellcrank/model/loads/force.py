"""A force along a direction through a point; its reaction acts through the same point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bellcrank.core.errors import ModelError
from bellcrank.core.units import FORCE
from bellcrank.model.formula import formula_names
from bellcrank.model.loads.load import BodyPoint, Load, LoadContext, LoadRecord
from bellcrank.symbolic.expr import Expr
from bellcrank.symbolic.vector.basis import Vector, dot

Line = tuple[Vector, Callable[[], Expr], Callable[[], Expr], Callable[[], Expr]]


@dataclass
class Force(LoadRecord):
    kind = "force"

    def build_loads(self, reading: LoadContext) -> tuple[Load, ...]:
        p, r = reading.point(self.first), reading.point(self.second)
        along, *motion = self._line_of_action(reading, p, r)
        size = reading.magnitude(self, dict(zip(self.dummies, motion, strict=True)))
        if p.body == r.body:
            raise ModelError(
                f"it acts between two points of the same body ({p.name}, {r.name}) and does nothing"
            )
        points = p, r if self.along_points else None, r
        identity = self.name, self.label or self.name, self.kind
        spring = self.along_points or self.dummies[0] in formula_names(self.magnitude)
        glyph = "coil" if spring else ""
        return (
            Load(*identity, size, along, FORCE, p.body, r.body, *points, self.along_points, glyph),
        )

    def _line_of_action(self, reading: LoadContext, p: BodyPoint, r: BodyPoint) -> Line:
        """Its direction, and how x, x0 and v of its magnitude are found."""
        offset, velocity = reading.relative_motion(p, r)
        along = reading.direction(self.direction)
        return (
            along,
            lambda: dot(along, offset),
            lambda: reading.with_drawn_values(dot(along, offset)),
            lambda: dot(along, velocity),
        )
