"""A moment on a body, and the opposite one on another."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.core.units import FORCE, LENGTH
from bellcrank.model.loads.load import Load, LoadContext, LoadRecord


@dataclass
class Moment(LoadRecord):
    kind = "moment"
    dimension = FORCE * LENGTH
    motion = ()
    is_moment = True

    def build_loads(self, reading: LoadContext) -> tuple[Load, ...]:
        body = reading.body(self.first)
        against = -1 if self.second is None else reading.body(self.second)
        along = reading.direction(self.direction)
        size = reading.magnitude(self, {})
        return (
            Load(
                self.name,
                self.label or self.name,
                self.kind,
                size,
                along,
                self.dimension,
                body,
                against,
            ),
        )
