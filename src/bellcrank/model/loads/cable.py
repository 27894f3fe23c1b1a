"""A cable, belt or tendon that runs through points: the same tension in all of its segments, no
friction at the points.

Its power is minus the tension times the rate of its length. A segment between points of one body is
part of the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.loads.load import Load, LoadContext, Motion
from bellcrank.model.loads.strut import Strut
from bellcrank.symbolic.expr import MINUS_ONE, Expr, add


@dataclass
class Cable(Strut):
    through: Sequence[Any] = ()

    kind = "cable"
    option = "tension"
    sense = -1

    @property
    def point_sequence(self) -> tuple[Any, ...]:
        return tuple(self.through)

    def build_loads(self, reading: LoadContext) -> tuple[Load, ...]:
        segments = list(pairwise(reading.point(p) for p in self.through))
        lines = [self._line_of_action(reading, p, r) for p, r in segments]
        x, x0, v = zip(*(line[1:] for line in lines), strict=True)
        motion: Motion = {
            name: partial(_sum_of_calls, m)
            for name, m in zip(self.dummies, (x, x0, v), strict=True)
        }
        size, identity = (
            reading.magnitude(self, motion),
            (self.name, self.label or self.name, self.kind),
        )
        loads = tuple(
            Load(
                *identity,
                size,
                line[0] * MINUS_ONE,
                self.dimension,
                p.body,
                r.body,
                p,
                r,
                r,
                True,
                "rod",
            )
            for (p, r), line in zip(segments, lines, strict=True)
            if p.body != r.body
        )
        if not loads:
            raise ModelError("all its points belong to one body, so it does nothing")
        return loads


def _sum_of_calls(terms: Sequence[Callable[[], Expr]]) -> Expr:
    return add(*(term() for term in terms))
