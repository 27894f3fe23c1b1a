"""A force along the line of two points: a spring, damper or actuator between them."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.core.errors import ModelError
from bellcrank.model.loads.force import Force, Line
from bellcrank.model.loads.load import BodyPoint, LoadContext
from bellcrank.symbolic.vector.basis import Vector, dot, express_in_one_frame, magnitude


@dataclass
class Strut(Force):
    kind = "strut"
    along_points = True

    def _line_of_action(self, reading: LoadContext, p: BodyPoint, r: BodyPoint) -> Line:
        offset, velocity = reading.relative_motion(p, r)
        if not offset:
            raise ModelError(f"its points {p.name} and {r.name} coincide")
        offset = Vector.from_pairs(
            (e, reading.bind(c)) for e, c in express_in_one_frame(offset).terms.items()
        )
        length = reading.bind(magnitude(offset))
        return (
            offset / length,
            lambda: length,
            lambda: reading.with_drawn_values(magnitude(offset)),
            lambda: reading.bind(dot(offset, velocity) / length),
        )
