"""Uniform gravity: the acceleration of free fall of all bodies, along a direction."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.core.errors import ModelError
from bellcrank.core.units import ACCELERATION
from bellcrank.model.loads.load import Load, LoadContext, LoadRecord


@dataclass
class Gravity(LoadRecord):
    kind = "gravity"
    dimension = ACCELERATION
    option = "g"
    motion = ()

    @property
    def message_label(self) -> str:
        return self.name

    def build_loads(self, reading: LoadContext) -> tuple[Load, ...]:
        along, g = reading.direction(self.direction), reading.scalar(self.magnitude)
        if not g.constant:
            raise ModelError(f"g={self.magnitude!r} must be constant")
        return (Load(self.name, self.label or self.name, self.kind, g, along, self.dimension),)
