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
        offset, velocity = reading.between(p, r)
        if not offset:
            raise ModelError(f"its points {p.name} and {r.name} coincide")
        offset = Vector.of((e, reading.hold(c)) for e, c in in_one_frame(offset).terms.items())
        length = reading.hold(magnitude(offset))
        return (
            offset / length,
            lambda: length,
            lambda: reading.nominal(magnitude(offset)),
            lambda: reading.hold(dot(offset, velocity) / length),
        )
