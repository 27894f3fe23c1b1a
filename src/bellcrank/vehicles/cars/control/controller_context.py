"""What controllers share: signals of the car as formulas, and what they ask of brakes and drive."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from bellcrank.api.system import System
from bellcrank.vehicles.cars.control.driver import SingleTrack
from bellcrank.vehicles.cars.design.car_data import CORNERS, CarData
from bellcrank.vehicles.cars.running_gear.braking import STOPS
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.file_keys import key_of
from bellcrank.vehicles.model_parameters import add_si_parameter

ACTIVE = 1.0  # N m, from which on a controller counts as active
YAW_RATE = "dot(rot(chassis), [n3])"


@dataclass
class ControllerOutputs:
    """Formulas of the torques that controllers add at wheels (N m), and of the factors of the drive
    torque."""

    brake: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in CORNERS})
    drive: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in CORNERS})
    factors: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class ControllerContext:
    """The car that a controller is added to: its model, data, and how it stands."""

    s: System
    car: CarData
    at_rest: CarStatics

    @property
    def single_track_model(self) -> SingleTrack:
        """The single-track car on which references are based; another spring leaves it as it is."""
        return SingleTrack.from_car(self.car, self.at_rest.as_drawn or self.at_rest)

    def half_track(self, axle: str) -> float:
        """Half the distance of the contacts of an axle, m."""
        i = 0 if axle == "front" else 2
        contact = (self.at_rest.as_drawn or self.at_rest).contact_points
        return float(contact[i][1] - contact[i + 1][1]) / 2

    def rolling_radius(self, axle: str) -> float:
        """Rolling radius of the wheels of an axle under their static load, m."""
        i = 0 if axle == "front" else 2
        fitted, load = self.car.axle(axle), (self.at_rest.as_drawn or self.at_rest).wheel_load[i]
        return float(fitted.tyre.forces(load / len(fitted.tyre_offsets), 0.0, 0.0).Re)

    def add_parameters(self, name: str, label: str, keys: Any, **defaults: float) -> None:
        """The switch of a controller, and a parameter for each number of its section; those that
        are not given have
        `defaults`, or are omitted."""
        add_si_parameter(self.s, f"{name}_on", float(keys.on), "1", f"{label}: 1 on, 0 off", (0, 1))
        for f in fields(keys):
            k, value = key_of(f), getattr(keys, f.name)
            value = defaults.get(f.name) if value is None else value
            if k.kind == "number" and value is not None:
                add_si_parameter(
                    self.s,
                    f"{name}_{f.name}",
                    value,
                    k.dimensions[0],
                    f"{label}: {k.label.partition(';')[0]}",
                )


def clip_formula(formula: str, low: str, high: str) -> str:
    return f"max({low}, min({high}, {formula}))"


def dead_zone_formula(formula: str, zone: str) -> str:
    """What a value exceeds a zone about zero by, with its sign."""
    return f"(({formula}) - {clip_formula(formula, f'-{zone}', zone)})"


def brake_slip_formula(corner: str, slow: str) -> str:
    """The slip of a braked wheel, 1 - omega R_e/V."""
    v = f"{corner}.tyre_vlong"
    return f"(1 - {corner}.tyre_spin*{corner}.tyre_rolling*sign({v})/max(abs({v}), {slow}))"


def reference_yaw_rate(s: System, name: str) -> str:
    """The yaw rate of a steady single-track car, within the friction of the road, by parameters of
    a controller."""
    s.define(f"{name}.limit", f"{name}_friction*g/max(abs(forward), {name}_slow)")
    steady = f"forward*steering_wheel/steering_ratio/(wheelbase + {name}_understeer*forward**2)"
    return clip_formula(steady, f"-{name}.limit", f"{name}.limit")


def add_bounded_state(s: System, name: str, rate: str, upper: str, units: str, label: str) -> None:
    """A state with a rate, which comes to rest at 0 and at `upper`."""
    bounded = clip_formula(rate, f"-{name}/{STOPS}", f"({upper} - {name})/{STOPS}")
    s.add_state(name, rate=bounded, units=units, label=label)
