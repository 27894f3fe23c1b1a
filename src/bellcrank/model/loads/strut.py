"""A force along the line of two points: a spring, damper or actuator between them."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.errors import ModelError
from bellcrank.model.loads.force import Force, Line
from bellcrank.model.loads.load import Point, Reading
from bellcrank.vector.basis import Vector, dot, in_one_frame, magnitude


@dataclass
class Strut(Force):
    kind = "strut"
    along_points = True

    def _line(self, reading: Reading, p: Point, r: Point) -> Line:
        between, apart = reading.between(p, r)
        if not between:
            raise ModelError(f"its points {p.name} and {r.name} coincide")
        between = Vector.of((e, reading.hold(c)) for e, c in in_one_frame(between).terms.items())
        length = reading.hold(magnitude(between))
        return (
            between / length,
            lambda: length,
            lambda: reading.nominal(magnitude(between)),
            lambda: reading.hold(dot(between, apart) / length),
        )
