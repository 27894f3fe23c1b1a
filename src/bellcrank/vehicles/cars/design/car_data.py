"""A car as frozen data: sections that were read, axles put together, the body with its loads.

In: the content of a car file, a mapping of sections. Out: `CarData`, or one error that reports all
problems at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.linkage.chain import AXES, with_axis_signs
from bellcrank.vehicles.cars.design.air_maps import air_problems
from bellcrank.vehicles.cars.design.axles import AxleData, make_axle
from bellcrank.vehicles.cars.design.frame_data import FrameData, make_frame_data
from bellcrank.vehicles.cars.design.geometry_checks import car_problems
from bellcrank.vehicles.cars.design.mass_properties import Array as Array
from bellcrank.vehicles.cars.design.mass_properties import (
    RigidMassProperties,
    add_point_loads,
    body_mass_properties,
)
from bellcrank.vehicles.cars.design.powertrain_data import drive_problems
from bellcrank.vehicles.cars.design.trailer_data import (
    CAR,
    SIDES,
    SimpleAxle,
    TrailerData,
    lifted_masses,
    make_added_axles,
    make_trailers,
)
from bellcrank.vehicles.cars.keys.car_keys import CarFileKeys
from bellcrank.vehicles.cars.keys.controller_keys import ControllerKeys
from bellcrank.vehicles.file_keys import ProblemList, read_key_record

GRAVITY = 9.80665  # m/s^2, that of models
CORNER_WORDS = {"fl": "front left", "fr": "front right", "rl": "rear left", "rr": "rear right"}
CORNERS = {
    "fl": ("front", 1),
    "fr": ("front", -1),
    "rl": ("rear", 1),
    "rr": ("rear", -1),
}  # axle; sign of y


@dataclass(frozen=True, eq=False)
class CarData:
    """A car whose parts fit together."""

    sections: CarFileKeys
    front: AxleData
    rear: AxleData
    trailers: tuple[TrailerData, ...] = ()
    added_axles: tuple[SimpleAxle, ...] = ()  # axles next to front and rear
    frame: FrameData | None = None  # None: rigid

    @property
    def axle_wheels(self) -> dict[str, tuple[str, str]]:
        """Left and right wheel of every axle of the car, without those of trailers: front and rear
        first."""
        added_wheels = {
            axle.name: (axle.wheel_name("l"), axle.wheel_name("r")) for axle in self.added_axles
        }
        return {"front": ("fl", "fr"), "rear": ("rl", "rr"), **added_wheels}

    @property
    def wheels(self) -> tuple[str, ...]:
        """Wheels of the car by name, without those of trailers: fl, fr, rl, rr first."""
        return tuple(wheel for pair in self.axle_wheels.values() for wheel in pair)

    @property
    def wheels_of_units(self) -> list[tuple[str, ...]]:
        """Wheels of the car and of each trailer: those of the left, then those of the right side of
        each axle."""
        towed = [
            tuple(a.wheel_name(side) for a in t.axles for side in SIDES) for t in self.trailers
        ]
        return [self.wheels, *towed]

    @property
    def all_wheels(self) -> tuple[str, ...]:
        """Wheels of the car and of its trailers."""
        return tuple(wheel for unit in self.wheels_of_units for wheel in unit)

    @property
    def simple_axles(self) -> tuple[SimpleAxle, ...]:
        """Axles without hard points: more axles of the car, axles of the trailers."""
        return (*self.added_axles, *(axle for trailer in self.trailers for axle in trailer.axles))

    @property
    def controllers(self) -> dict[str, bool]:
        """Whether each controller of the file is on at the beginning, by name."""
        records: dict[str, Any] = {"abs": self.sections.brakes.abs}
        records |= {t.abs_name: getattr(t.record.brakes, "abs", None) for t in self.trailers}
        records |= {
            f.name: getattr(self.sections.controllers, f.name, None) for f in fields(ControllerKeys)
        }
        return {name: record.on for name, record in records.items() if record is not None}

    def axle(self, name: str) -> AxleData:
        return self.front if name == "front" else self.rear

    def body_part_at(self, x: float) -> str:
        """The part of the body, "front" or "rear", on which something lies that is not of the front
        axle."""
        return "rear" if self.frame is None else self.frame.body_part_at(x)

    @cached_property
    def sprung(self) -> RigidMassProperties:
        return add_point_loads(
            body_mass_properties(self.sections.body),
            (*(self.sections.loads or {}).values(), *lifted_masses(self.sections.axles)),
        )


def make_data(content: Mapping[str, Any], folder: Path) -> CarData:
    """The car that a mapping of sections describes; paths in it start at `folder`."""
    problems = ProblemList()
    sections = read_key_record(CarFileKeys, content, "", problems)
    if sections is None:
        raise ModelError([p.removeprefix(": ") for p in problems], _car_name(content))
    sections = _sections_in_iso_axes(sections)
    axes = sections.axes if "axes" in content else None
    front, rear = (
        make_axle(name, getattr(sections, name), axes, folder, problems)
        for name in ("front", "rear")
    )
    trailers = make_trailers(sections.trailers, sections.front.at[0], folder, problems)
    added_axles = make_added_axles(sections.axles, sections.trailers or {}, folder, problems)
    if sections.rear.motor is not None and any(a.car_axle_keys.drive_ratio for a in added_axles):
        problems.append(
            "axles: drive_ratio follows the drive of the car, so the rear axle cannot have "
            "its own motor."
        )
    if added_axles and sections.setup is not None and sections.setup.has_diagonal_load:
        problems.append(
            "setup: loads of single wheels and cross_weight cannot be asked of a car with "
            "more axles than "
            "front and rear; heights, toe and camber can."
        )
    if front is not None and rear is not None:
        problems.extend(car_problems(sections, front.linkage.chain, rear.linkage.chain))
    inertia = np.array(sections.body.inertia)
    if not (inertia > 0).all():
        problems.append(f"body.inertia = {inertia.tolist()} must be three positive moments.")
    if not 0 <= sections.brakes.front_share <= 1:
        problems.append(
            f"brakes.front_share = {sections.brakes.front_share:g} must lie between 0 and 1."
        )
    for name, axle in (("front", sections.front), ("rear", sections.rear)):
        if (
            sections.brakes.react_on_body(name)
            and axle.compliance is not None
            and axle.compliance.toe_by_brake_torque
        ):
            problems.append(
                f"{name}.compliance.toe_by_brake_torque: inboard brakes do not twist the "
                f"wheel carrier."
            )
    if sections.setup is not None and any(
        a.spring.air is not None for a in (sections.front, sections.rear)
    ):
        cross_keys = [
            k
            for k, v in vars(sections.setup).items()
            if v is not None and k.startswith(("load_", "cross_"))
        ]
        problems.extend(
            f"setup.{k}: cross weights need spring perches, which air springs do not have."
            for k in cross_keys
        )
    drive_problems(sections, problems)
    problems.extend(air_problems(sections.aerodynamics))
    if problems:
        raise ModelError(problems, _car_name(content))
    assert front is not None and rear is not None
    front_x, rear_x = (
        float(a.linkage.points[a.linkage.chain.hub][0] + a.record.at[0]) for a in (front, rear)
    )
    frame = make_frame_data(sections, front_x, rear_x, problems)
    if problems:
        raise ModelError(problems, _car_name(content))
    return CarData(sections, front, rear, trailers, added_axles, frame)


def _sections_in_iso_axes(sections: CarFileKeys) -> CarFileKeys:
    """The sections with positions in ISO 8855 axes."""
    signs = AXES[sections.axes]
    body = replace(
        sections.body,
        cg=with_axis_signs(sections.body.cg, signs),
        inertia_xz=signs[0] * signs[2] * sections.body.inertia_xz,
    )
    front, rear = (
        replace(a, at=with_axis_signs(a.at, signs)) for a in (sections.front, sections.rear)
    )
    loads = {
        n: replace(x, at=with_axis_signs(x.at, signs)) for n, x in (sections.loads or {}).items()
    }
    axles = {
        n: replace(x, at=with_axis_signs(x.at, signs)) for n, x in (sections.axles or {}).items()
    }
    trailers = dict(sections.trailers or {})
    for i, (name, x) in enumerate(
        trailers.items()
    ):  # positions on a trailer are from its own hitch, in ISO 8855
        if x.towed_by == CAR or (x.towed_by is None and i == 0):
            trailers[name] = replace(
                x, hitch=replace(x.hitch, at=with_axis_signs(x.hitch.at, signs))
            )
    frame = sections.frame
    if frame is not None:
        part = frame.front
        if part is not None:
            xz = signs[0] * signs[2] * part.inertia_xz
            part = replace(part, cg=with_axis_signs(part.cg, signs), inertia_xz=xz)
        joint = None if frame.at is None else with_axis_signs(frame.at, signs)
        sections = replace(sections, frame=replace(frame, at=joint, front=part))
    air = sections.aerodynamics
    if air is not None and air.ride is not None:
        ride = replace(
            air.ride,
            front_at=with_axis_signs(air.ride.front_at, signs),
            rear_at=with_axis_signs(air.ride.rear_at, signs),
        )
        sections = replace(sections, aerodynamics=replace(air, ride=ride))
    return replace(
        sections,
        body=body,
        front=front,
        rear=rear,
        loads=loads or sections.loads,
        axles=axles or None,
        trailers=trailers or None,
    )


def _car_name(content: Mapping[str, Any]) -> str:
    return str(content.get("name", "car"))
