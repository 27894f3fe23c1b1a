"""Uniform gravity: the acceleration of free fall of all bodies, along a direction."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.errors import ModelError
from bellcrank.model.loads.load import Load, LoadRecord, Reading
from bellcrank.units import ACCELERATION


@dataclass
class Gravity(LoadRecord):
    kind = "gravity"
    dimension = ACCELERATION
    option = "g"
    motion = ()

    @property
    def where(self) -> str:
        return self.name

    def read(self, reading: Reading) -> tuple[Load, ...]:
        along, g = reading.direction(self.direction), reading.scalar(self.magnitude)
        if not g.constant:
            raise ModelError(f"g={self.magnitude!r} must be constant")
        return (Load(self.name, self.label or self.name, self.kind, g, along, self.dimension),)
