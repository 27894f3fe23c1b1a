"""What controllers share: signals of the car as formulas, and what they ask of brakes and drive."""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.api.system import System
from bellcrank.library.vehicles.data import CORNERS, CarData
from bellcrank.library.vehicles.driver import SingleTrack
from bellcrank.library.vehicles.parameters import put
from bellcrank.library.vehicles.rest import Stand

YAW_RATE = "dot(rot(chassis), [n3])"


@dataclass
class Controls:
    """Formulas of the torques that controllers add at wheels (N m), and of the factors of the drive torque."""

    brake: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in CORNERS})
    drive: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in CORNERS})
    factors: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Place:
    """The car that a controller is added to: its model, data, and how it stands."""

    s: System
    car: CarData
    at_rest: Stand

    @property
    def known(self) -> SingleTrack:
        """The single-track car on which references are based; another spring leaves it as it is."""
        return SingleTrack.of(self.car, self.at_rest.drawn or self.at_rest)

    def half_track(self, axle: str) -> float:
        """Half the distance of the contacts of an axle, m."""
        i = 0 if axle == "front" else 2
        contact = (self.at_rest.drawn or self.at_rest).contact
        return float(contact[i][1] - contact[i + 1][1]) / 2

    def radius(self, axle: str) -> float:
        """Rolling radius of the wheels of an axle under their static load, m."""
        i = 0 if axle == "front" else 2
        return float(self.car.axle(axle).tyre.forces((self.at_rest.drawn or self.at_rest).load[i], 0.0, 0.0).Re)

    def switch(self, name: str, label: str, on: bool) -> None:
        """The parameter that switches a controller."""
        put(self.s, f"{name}_on", float(on), "1", f"{label}: 1 on, 0 off", (0, 1))


def clip(formula: str, low: str, high: str) -> str:
    return f"max({low}, min({high}, {formula}))"


def outside(formula: str, zone: str) -> str:
    """What a value exceeds a zone about zero by, with its sign."""
    return f"(({formula}) - {clip(formula, f'-{zone}', zone)})"


def slip_of(corner: str, slow: str) -> str:
    """The slip of a braked wheel, 1 - omega R_e/V."""
    v = f"{corner}.tyre_vlong"
    return f"(1 - {corner}.tyre_spin*{corner}.tyre_rolling*sign({v})/max(abs({v}), {slow}))"
