"""Load cases of an axle: what braking, cornering and bumps do to every rod, joint, spring and to
the rack.

A case gives forces at the contact of the left wheel, or multiples of gravity from which they
follow: load transfer by the height of the mass centre, across the car in the fractions of roll
stiffnesses and roll centres; wheels of an axle share its forces as they share its load. The travel
is that at which springs, stops and anti-roll bar hold the wheel, unless a case gives it. Weights
and inertia forces of the suspension's parts are in it, and the moment by which the tyre of a car
resists inclination.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.files.text_files import read_toml
from bellcrank.linkage.elastokinematics import axial_stiffnesses
from bellcrank.linkage.link_forces import BodyLoad, solve_link_forces
from bellcrank.linkage.load_table import LoadCaseForces, LoadTable
from bellcrank.linkage.wheel_motion import linkage_wheel_motion
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import GRAVITY, Array, CarData
from bellcrank.vehicles.cars.design.powertrain_data import front_drive_fraction
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures
from bellcrank.vehicles.cars.statics.bush_compliance import axle_compliance
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.cars.statics.wheel_statics import (
    BushingRates,
    DependentAxleStatics,
    WheelLoad,
    WheelStatics,
    anti_roll_bar_force,
    equilibrium_travels,
    wheel_load_on_carrier,
)
from bellcrank.vehicles.file_keys import UNITS, ProblemList, SectionUnits, file_key, read_key_record


@dataclass(frozen=True)
class LoadCase:
    """What acts on a wheel; the other wheel of the axle has the same unless the car corners."""

    fx: float = file_key("force ahead at the contact of the left wheel", "F", 0.0)
    fy: float = file_key("force to the left", "F", 0.0)
    fz: float = file_key("force up", "F", 0.0)
    mx: float = file_key("moment about the line ahead", "F*L", 0.0)
    my: float = file_key("moment about the line to the left", "F*L", 0.0)
    mz: float = file_key("aligning moment, about the line up", "F*L", 0.0)
    braking: float | None = file_key(
        "deceleration of the car over gravity", default=None, sign=0, usual=(0, 1.6)
    )
    driving: float | None = file_key(
        "acceleration of the car over gravity", default=None, sign=0, usual=(0, 1.5)
    )
    cornering: float | None = file_key(
        "lateral acceleration over gravity, left wheel outside", default=None, sign=0, usual=(0, 3)
    )
    bump: float | None = file_key(
        "vertical load over that at rest", default=None, sign=0, usual=(0, 6)
    )
    travel: float | None = file_key("wheel travel; without it springs and stops say it", "L", None)
    rack: float = file_key("rack travel", "L", 0.0)
    torque: str = file_key(
        "what takes the torque of fx about the axis of the wheel: the carrier (brake, hub "
        "motor) or the "
        "body (drive shaft)",
        default="carrier",
        kind="text",
        choices=("carrier", "body"),
    )

    @property
    def uses_accelerations(self) -> bool:
        return any(x is not None for x in (self.braking, self.driving, self.cornering, self.bump))


CASES: Mapping[str, LoadCase] = {
    "rest": LoadCase(bump=1.0),
    "bump 3 g": LoadCase(bump=3.0),
    "braking 1 g": LoadCase(braking=1.0),
    "cornering 0.8 g": LoadCase(cornering=0.8),
    "braking and cornering 0.6 g": LoadCase(braking=0.6, cornering=0.6),
    "driving 0.4 g": LoadCase(driving=0.4),
}


def read_load_cases(source: str | Path | Mapping[str, Any]) -> dict[str, LoadCase]:
    """Load cases of a TOML file or a mapping: a section for each, by its name, with `units` as in
    car files."""
    content = dict(source) if isinstance(source, Mapping) else read_toml(Path(source))
    problems = ProblemList()
    section_units = (
        SectionUnits().with_section_units(content.pop(UNITS), "units", problems)
        if UNITS in content
        else SectionUnits()
    )
    cases: dict[str, LoadCase] = {}
    for name, section in content.items():
        case = read_key_record(LoadCase, section, name, problems, section_units)
        if case is None:
            continue
        if case.uses_accelerations and (case.fx, case.fy, case.fz) != (0.0, 0.0, 0.0):
            problems.append(
                f"{name}: give forces fx, fy, fz, or multiples of gravity from which they "
                f"follow, not both."
            )
        elif case.braking and case.driving:
            problems.append(f"{name}: give braking or driving, not both.")
        cases[str(name)] = case
    if not content and not problems:
        problems.append("it holds no load case: a section such as [braking] with braking = 1.0.")
    if problems:
        raise ModelError(problems, "load cases" if isinstance(source, Mapping) else str(source))
    return cases


def linkage_loads(linkage: Any, cases: Mapping[str, LoadCase]) -> LoadTable:
    """Load cases of hard points alone: forces, links without mass, the first strut of the file
    holds the travel."""
    chain = linkage.chain
    if not chain.struts:
        raise ModelError(
            "loads need a strut in the file of hard points ([struts.spring])", chain.name
        )
    if "roll" in linkage.inputs:
        raise ModelError(
            "loads of a solid axle or twist beam need a car; hard points alone have no right wheel",
            chain.name,
        )
    results = []
    for name, case in cases.items():
        if case.uses_accelerations:
            raise ModelError(
                f"load case '{name}': multiples of gravity need a car; give forces fx, fy, fz",
                chain.name,
            )
        rack, travel = _rack_position(linkage, name, case), case.travel or 0.0
        w = linkage_wheel_motion(linkage, travel, rack)
        # forces are given ahead, left, up; the file may have its y to the right and its z down
        signs = np.array([1.0, float(chain.up), float(chain.up)])
        force, moment = _case_loads(case)
        arm = (w.contact[0] - w.centre[0]) * w.flip
        carrier_load = wheel_load_on_carrier(
            force * signs, moment * signs, arm, w.axis[0] * w.flip, case.torque
        )
        pose = w.pose[0]
        centre = w.centre[0] * w.flip
        strut = chain.struts[0]
        link_forces = solve_link_forces(
            linkage,
            pose,
            [BodyLoad(chain.carrier, carrier_load[0], centre + arm, carrier_load[1])],
            {strut.name: strut.points},
        )
        results.append(LoadCaseForces(name, travel, rack, force, moment, link_forces))
    return _load_table(
        chain.name, results, ["links have no mass; struts take what holds the travel given"]
    )


def axle_loads(
    car: CarData,
    statics: CarStatics,
    figures: Figures,
    axle: str,
    cases: Mapping[str, LoadCase] | None = None,
) -> LoadTable:
    """Load cases of the left suspension of an axle; of one that corners, of the wheel outside and
    that inside."""
    fitted = car.axle(axle)
    if fitted.carries_both_wheels:
        return _dependent_axle_loads(
            car, statics, figures, fitted, CASES if cases is None else cases
        )
    results: list[LoadCaseForces] = []
    rubber = BushingRates(
        axle_compliance(car, statics, fitted).rate,
        axial_stiffnesses(fitted.linkage.chain, fitted.bushes),
    )
    for name, case in (CASES if cases is None else cases).items():
        rack = _rack_position(fitted.linkage, name, case)
        sides = _wheel_loads(car, statics, figures, fitted, case)
        wheels = [
            WheelStatics(car, statics, fitted, rack if i == 0 else -rack, s, rubber)
            for i, s in enumerate(sides)
        ]
        try:
            travels = (
                [case.travel] * len(wheels)
                if case.travel is not None
                else equilibrium_travels(wheels)
            )
            bar_force = anti_roll_bar_force(wheels, travels) if case.travel is None else 0.0
            link_forces = [
                w.part_forces(z, bar_force * (1 - 2 * i))
                for i, (w, z) in enumerate(zip(wheels, travels, strict=True))
            ]
        except ModelError as error:
            messages = [f"load case '{name}': {p}" for p in error.problems]
            raise ModelError(messages, f"{car.sections.name}, {axle}") from None
        labels = [name] if len(sides) == 1 else [f"{name}, outside", f"{name}, inside"]
        for label, w, z, h in zip(labels, wheels, travels, link_forces, strict=True):
            results.append(LoadCaseForces(label, float(z), w.rack, w.side.force, w.side.moment, h))
    notes = (
        ["a wheel inside is given as if it were on the left"]
        if any(", inside" in c.name for c in results)
        else []
    )
    return _load_table(f"{car.sections.name}, {axle}", results, notes)


def _dependent_axle_loads(
    car: CarData,
    statics: CarStatics,
    figures: Figures,
    axle: AxleData,
    cases: Mapping[str, LoadCase],
) -> LoadTable:
    """Load cases of an axle whose linkage carries both wheels."""
    results, context = [], f"{car.sections.name}, {axle.name}"
    for name, case in cases.items():
        _rack_position(axle.linkage, name, case)
        sides = _wheel_loads(car, statics, figures, axle, case)
        axle_statics = DependentAxleStatics(car, statics, axle, (sides[0], sides[-1]))
        try:
            travels = (
                axle_statics.equilibrium_travels() if case.travel is None else [case.travel] * 2
            )
            link_forces = axle_statics.part_forces(travels)
        except ModelError as error:
            raise ModelError(
                [f"load case '{name}': {p}" for p in error.problems], context
            ) from None
        results.append(
            LoadCaseForces(
                name, float(travels[0]), 0.0, sides[0].force, sides[0].moment, link_forces
            )
        )
    return _load_table(
        context,
        results,
        ["travel and forces are those of the left wheel, which is outside in a bend"],
    )


def _load_table(name: str, results: Sequence[LoadCaseForces], notes: Sequence[str]) -> LoadTable:
    all_notes = dict.fromkeys([*notes, *(n for c in results for n in c.link_forces.notes)])
    return LoadTable(name, tuple(results), tuple(all_notes))


def _case_loads(case: LoadCase) -> tuple[Array, Array]:
    return np.array([case.fx, case.fy, case.fz]), np.array([case.mx, case.my, case.mz])


def _rack_position(linkage: Any, name: str, case: LoadCase) -> float:
    if case.rack and "rack" not in linkage.inputs:
        raise ModelError(f"load case '{name}': the suspension has no rack", linkage.name)
    return case.rack


# ---- what acts on the wheels


def _wheel_loads(
    car: CarData, statics: CarStatics, f: Figures, axle: AxleData, case: LoadCase
) -> list[WheelLoad]:
    """The left wheel, and where the car corners the right one, mirrored."""
    force, moment = _case_loads(case)
    if not case.uses_accelerations:
        return [WheelLoad(force, moment, np.zeros(3), case.torque, resists_camber=False)]
    front = axle.name == "front"
    i = 0 if front else 2
    load = sum(statics.wheel_load[i : i + 2])
    longitudinal = (case.driving or 0.0) - (case.braking or 0.0)
    lateral = case.cornering or 0.0
    weight = statics.mass * GRAVITY
    part = 1.0 if front else statics.rear_fraction
    shifted = f["load_transfer"] * GRAVITY * longitudinal * (-1 if front else part)
    roll_fraction = _roll_fraction(car, f, axle.name)
    loads = [
        max(0.0, x)
        for x in _lateral_load_transfer(
            statics, f, axle.name, load * _or_one(case.bump) + shifted, lateral, roll_fraction
        )
    ]
    front_fraction = (
        car.sections.brakes.front_share
        if longitudinal < 0
        else front_drive_fraction(car.sections.drive)
    )
    added_ratio = sum(
        a.car_axle_keys.brake_ratio if longitudinal < 0 else a.car_axle_keys.drive_ratio
        for a in car.added_axles
    )
    axle_force = (
        weight
        * longitudinal
        * (front_fraction if front else (1 - front_fraction) / (1 + added_ratio))
    )
    brake_reaction = "body" if car.sections.brakes.react_on_body(axle.name) else "carrier"
    torque = brake_reaction if longitudinal <= 0 else car.sections.drive.reaction
    total = max(sum(loads), 1e-9)
    wheel_loads = []
    for fz, side in zip(loads, (1.0, -1.0), strict=True):
        contact_force = (
            np.array([axle_force * fz / total, -side * load * lateral * fz / total, fz]) + 0.0
        )  # no minus before a zero
        wheel_loads.append(
            WheelLoad(
                contact_force,
                moment,
                np.array([longitudinal, -side * lateral, 0.0]) * GRAVITY,
                torque,
            )
        )
    return wheel_loads if lateral else [wheel_loads[0]]


def _or_one(x: float | None) -> float:
    return 1.0 if x is None else x


def _roll_fraction(car: CarData, f: Figures, axle: str) -> float:
    """Fraction of the roll moment on the springs of an axle: by the roll stiffnesses of all axles,
    or of those on its part of a frame that twists."""
    axle_stiffness, added_stiffnesses = (
        f[f"roll_stiffness_{axle}"],
        [(a, f[f"roll_stiffness_{a.name}"]) for a in car.added_axles],
    )
    if car.frame is None:
        return axle_stiffness / (
            f["roll_stiffness_front"]
            + f["roll_stiffness_rear"]
            + sum(k for _, k in added_stiffnesses)
        )
    in_front = f["roll_moment_front"]
    part_stiffness = axle_stiffness + sum(
        k for a, k in added_stiffnesses if car.body_part_at(a.record.at[0]) == axle
    )
    return (in_front if axle == "front" else 1 - in_front) * axle_stiffness / part_stiffness


def _lateral_load_transfer(
    statics: CarStatics, f: Figures, axle: str, load: float, lateral: float, stiff: float
) -> tuple[float, float]:
    """Loads of the wheels outside and inside: the moment of the weight about the roll axis in the
    fraction `stiff`, the rest by the roll centres."""
    front_fraction = f["front_share"]
    axis = front_fraction * f["roll_centre_front"] + (1 - front_fraction) * f["roll_centre_rear"]
    weight = statics.mass * GRAVITY
    axle_weight = weight * (
        front_fraction if axle == "front" else (1 - front_fraction) * statics.rear_fraction
    )
    arm = stiff * weight * (f["cg_height"] - axis) + axle_weight * f[f"roll_centre_{axle}"]
    transfer = lateral * arm / f[f"track_{axle}"]
    return load / 2 + transfer, load / 2 - transfer
