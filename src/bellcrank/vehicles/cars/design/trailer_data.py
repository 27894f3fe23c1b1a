"""Trailers as data: sections of a car file, or files of trailers, put together with their tyres.

In: sections `trailers.NAME`, in the order in which they are hitched. Out: `TrailerData`, each with
its axles and with the spring forces that carry it level. The first is towed by the car, each other
one by the one before it or by the one that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.shipped_files import ShippedCollection
from bellcrank.core.files.text_files import read_toml
from bellcrank.vehicles.cars.design.axles import make_tyre
from bellcrank.vehicles.cars.design.mass_properties import (
    Array,
    RigidMassProperties,
    add_point_loads,
    body_mass_properties,
)
from bellcrank.vehicles.cars.keys.car_keys import (
    AddedAxleKeys,
    AxleSteeringKeys,
    LoadKeys,
    TrailerAxleKeys,
    TrailerKeys,
)
from bellcrank.vehicles.file_keys import ProblemList
from bellcrank.vehicles.force_laws import dual_tyre_offsets

CAR, CHASSIS = "car", "chassis"  # the towing unit in a file, and its body
CHASSIS_FRONT, CHASSIS_REAR = "chassis_front", "chassis_rear"  # bodies of a frame that twists
RESERVED = (
    "abs",
    "car",
    CHASSIS,
    CHASSIS_FRONT,
    CHASSIS_REAR,
    "driver",
    "fl",
    "fr",
    "frame",
    "front",
    "n",
    "o",
    "rack",
    "rear",
    "rl",
    "rr",
    "wheel",
)
SOURCES = ("shipped", "file")
TRAILERS = ShippedCollection("trailer", "bellcrank.vehicles.cars", "data/trailers")
SIDES = {"l": 1, "r": -1}  # letter behind the name of a wheel; sign of y


@dataclass(frozen=True, eq=False)
class SimpleAxle:
    """An axle of a trailer, or one more of a car (`unit` is empty then), with its tyre. Its wheels
    are called
    `wheel_name("l")` and `wheel_name("r")`."""

    unit: str
    name: str
    record: TrailerAxleKeys
    tyre: Any

    @property
    def car_axle_keys(self) -> AddedAxleKeys:
        """The record of an axle of a car."""
        assert isinstance(self.record, AddedAxleKeys)
        return self.record

    @property
    def label(self) -> str:
        """The axle in labels, behind the word "axle": "first of rear semi"; "of caravan", if it is
        called so."""
        name = "" if self.name == "axle" else self.name
        return " ".join([name, f"of {self.unit}" if self.unit else ""]).strip().replace("_", " ")

    @property
    def full_name(self) -> str:
        return f"{self.unit}.{self.name}" if self.unit else self.name

    @property
    def parameter_suffix(self) -> str:
        """What names of its parameters end in."""
        return f"{self.unit}_{self.name}" if self.unit else self.name

    def wheel_name(self, side: str) -> str:
        return f"{self.full_name}_{side}"

    @property
    def tyre_offsets(self) -> tuple[float, ...]:
        """Distances of the tyres of a wheel from its centre, along its axis to the left, m."""
        return dual_tyre_offsets(self.record.dual_spacing)

    @property
    def is_rigid(self) -> bool:
        return self.record.kind == "rigid"

    @property
    def roll_centre_z(self) -> float:
        """z of the roll centre of a rigid axle."""
        roll_centre = self.record.roll_centre
        return self.record.at[2] if roll_centre is None else roll_centre

    @property
    def roll_stiffness(self) -> float:
        """Moment per roll angle between body and axle, of springs and bar (N m/rad), of a rigid
        axle."""
        b = self.record.spring_y or self.record.at[1]
        return 2 * b**2 * self.record.stiffness + self.record.roll_stiffness

    @property
    def bar_rate(self) -> float:
        """Force on one wheel per difference of both travels, of an anti-roll bar between
        independent wheels (N/m)."""
        return self.record.roll_stiffness / (4 * self.record.at[1] ** 2)

    @property
    def unsprung_mass(self) -> float:
        """Of all that is not sprung, both sides."""
        return 2 * self.record.wheel.mass + (1 if self.is_rigid else 2) * self.record.mass


@dataclass(frozen=True, eq=False)
class TrailerData:
    """A trailer whose parts fit together; `towed_by`: the body that it is hitched to."""

    name: str
    record: TrailerKeys
    axles: tuple[SimpleAxle, ...]
    towed_by: str

    @cached_property
    def sprung(self) -> RigidMassProperties:
        return add_point_loads(
            body_mass_properties(self.record),
            (*(self.record.loads or {}).values(), *lifted_masses(self.record.axles)),
        )

    @property
    def mass(self) -> float:
        return self.sprung.mass + sum(a.unsprung_mass for a in self.axles)

    @property
    def hitch_point(self) -> Array:
        """Where it is hitched, in the axes of the unit that tows it."""
        return np.array(self.record.hitch.at)

    @property
    def abs_name(self) -> str:
        """Name of its ABS as a controller, which names of parameters begin with."""
        return f"abs_{self.name}"

    def spring_force(self, moment: float, g: float) -> float:
        """Force of each spring (N) that carries the level trailer; `moment`: of the loads on its
        own hitches (N m)."""
        moment += self.sprung.mass * g * float(self.sprung.cg[0])
        return moment / (2 * sum(a.record.at[0] for a in self.axles))


def lifted_masses(axles: Mapping[str, TrailerAxleKeys] | None) -> list[LoadKeys]:
    """Masses of lifted axles, half of each where its wheels are."""
    loads = []
    for record in (axles or {}).values():
        x, y, z = record.at
        side_mass = SimpleAxle("", "", record, None).unsprung_mass / 2
        loads += [LoadKeys(side_mass, (x, side, z)) for side in (y, -y)] if record.lifted else []
    return loads


def trailer_with_towed_units(trailers: Iterable[TrailerData], name: str) -> list[TrailerData]:
    """A trailer and all that hangs on it, in the order of the file."""
    units: list[TrailerData] = []
    for trailer in trailers:
        if trailer.name == name or trailer.towed_by in {t.name for t in units}:
            units.append(trailer)
    return units


def spring_forces(trailers: tuple[TrailerData, ...], g: float) -> tuple[tuple[float, float], ...]:
    """Spring force of one wheel of each trailer and its load on its hitch (N), all of them level:
    springs are trimmed for that."""
    forces: list[tuple[float, float]] = []
    loads: dict[str, float] = {}  # on the hitches of a unit, and their moments about its own hitch
    moments: dict[str, float] = {}
    for trailer in reversed(trailers):
        name, towing = trailer.name, trailer.towed_by
        force = trailer.spring_force(moments.get(name, 0.0), g)
        hitch_load = trailer.sprung.mass * g + loads.get(name, 0.0) - 2 * len(trailer.axles) * force
        loads[towing] = loads.get(towing, 0.0) + hitch_load
        moments[towing] = moments.get(towing, 0.0) + hitch_load * float(trailer.hitch_point[0])
        forces.append((force, hitch_load))
    return tuple(reversed(forces))


def wheel_labels(axles: Iterable[SimpleAxle]) -> dict[str, str]:
    """Wheels of axles in words, with {} for the part; and names of axles and trailers that are no
    words."""
    sides = {"l": "left", "r": "right"}
    labels: dict[str, str] = {}
    for a in axles:
        labels |= {a.wheel_name(s): f"the {w} {{}} of axle {a.label}" for s, w in sides.items()}
        labels |= {a.full_name: f"axle {a.label}"} if a.unit else {}
        labels |= {a.unit: a.unit.replace("_", " ")} if "_" in a.unit else {}
    return labels


def merge_sections(old: Any, new: Any) -> Any:
    """Sections of one over those of another; None takes a key or section away, in files the word
    "none"."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    combined = {**old, **{key: merge_sections(old.get(key), value) for key, value in new.items()}}
    return {key: value for key, value in combined.items() if value is not None and value != "none"}


def changed_sections(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Sections of a vehicle over which those of `changed` are laid."""
    if "folder" in new:
        raise ModelError(
            "changed: 'folder' is no section; paths start in the working folder, or else where the "
            "file of the vehicle is"
        )
    return dict(merge_sections(old, _with_working_folder(new)))


def _with_working_folder(keys: Mapping[str, Any]) -> dict[str, Any]:
    """The same keys, with the whole path of files that are in the working folder."""
    result: dict[str, Any] = {}
    for key, value in keys.items():
        if isinstance(value, Mapping):
            result[key] = _with_working_folder(value)
        elif key == "file" and isinstance(value, str) and Path(value).is_file():
            result[key] = str(Path(value).resolve())
        else:
            result[key] = value
    return result


def expand_trailer_files(sections: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Sections of a car whose trailers have all their keys, also those that a file of a trailer
    states."""
    trailers = sections.get("trailers")
    if not isinstance(trailers, Mapping):
        return dict(sections)
    return {
        **sections,
        "trailers": {name: _expand_trailer_file(name, x, folder) for name, x in trailers.items()},
    }


def _expand_trailer_file(name: str, keys: Any, folder: Path) -> Any:
    source = [key for key in SOURCES if isinstance(keys, Mapping) and key in keys]
    if not source:
        return keys
    section = f"trailers.{name}"
    if len(source) > 1:
        raise ModelError(f"{section}: give either shipped or file, not both.")
    if source[0] == "file":
        path = folder / str(keys["file"])
    else:
        path = TRAILERS.file(str(keys["shipped"]), f"{section}: ")
    overrides = {key: value for key, value in keys.items() if key not in SOURCES}
    return merge_sections(read_toml(path), overrides)


def make_trailers(
    records: Mapping[str, TrailerKeys] | None, front: float, folder: Path, problems: ProblemList
) -> tuple[TrailerData, ...]:
    """The trailers in the order of the file, towed by a car whose front axle is at x = `front`;
    what is wrong is added to `problems`."""
    fitted: list[TrailerData] = []
    units = [CAR]
    for name, record in (records or {}).items():
        problem_count = len(problems)
        problems.extend(_trailer_problems(name, record))
        towing = units[-1] if record.towed_by is None else record.towed_by
        if towing not in units:
            problems.append(
                f"trailers.{name}.towed_by = '{towing}' must be a unit before it in the file: "
                f"{', '.join(units)}.{did_you_mean(towing, units)}"
            )
        on_car = towing == CAR
        front_limit, reference = (
            (front, "the front axle of the car")
            if on_car
            else (0.0, f"the hitch of trailers.{towing}")
        )
        if not record.hitch.at[0] < front_limit:
            problems.append(
                f"trailers.{name}.hitch.at = {list(record.hitch.at)} m must lie behind "
                f"{reference}, at x = "
                f"{front_limit:g} m; x points forward."
            )
        if not on_car and record.hitch.levelled:
            problems.append(
                f"trailers.{name}.hitch.levelled sets the springs of the car, but {towing} "
                f"tows the "
                "trailer; springs of trailers are always set for their loads."
            )
        units.append(name)
        axles = []
        for axle, x in record.axles.items():
            if x.lifted:
                continue
            tyre = make_tyre(f"trailers.{name}.axles.{axle}.tyre", x.tyre, folder, problems)
            axles.append(SimpleAxle(name, axle, x, tyre))
        if len(problems) == problem_count:
            fitted.append(TrailerData(name, record, tuple(axles), CHASSIS if on_car else towing))
    if len(fitted) == len(records or {}):
        for trailer, (force, _) in zip(fitted, spring_forces(tuple(fitted), 1.0), strict=True):
            if not force > 0:
                problems.append(
                    f"trailers.{trailer.name}: its mass centre does not lie behind its "
                    f"hitch, so its springs do not "
                    "carry it; x points forward, from the hitch."
                )
    return tuple(fitted)


def make_added_axles(
    records: Mapping[str, AddedAxleKeys] | None,
    towed: Iterable[str],
    folder: Path,
    problems: ProblemList,
) -> tuple[SimpleAxle, ...]:
    """More axles of a car, in the order of the file; `towed`: names of its trailers."""
    axles = []
    for name, record in (records or {}).items():
        section = f"axles.{name}"
        problems.extend(_axle_problems(section, record))
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            problems.append(
                f"{section}: '{name}' must be a name of letters, digits and '_' that begins "
                f"with a letter."
            )
        if name in RESERVED or name in towed:
            problems.append(
                f"{section}: '{name}' is a name of other parts of the car; give the axle "
                f"another one."
            )
        if not record.at[1] > 0:
            problems.append(
                f"{section}.at = {list(record.at)} m must be the centre of the left wheel: "
                f"y to the left."
            )
        if record.equalisation > 1:
            problems.append(
                f"{section}.equalisation = {record.equalisation:g} must lie between 0 and 1."
            )
        if record.steering is not None and record.steering.ratio is not None:
            problems.append(
                f"{section}.steering.ratio: a car has no articulation angle; give trail "
                f"(self-steering)."
            )
        if record.lifted:
            continue
        axles.append(
            SimpleAxle(
                "", name, record, make_tyre(f"{section}.tyre", record.tyre, folder, problems)
            )
        )
    return tuple(axles)


def _axle_problems(section: str, a: TrailerAxleKeys) -> list[str]:
    problems = _steering_problems(f"{section}.steering", a.steering)
    if a.kind == "independent" and (
        a.spring_y is not None or a.roll_centre is not None or any(a.inertia)
    ):
        problems.append(f"{section}: spring_y, roll_centre and inertia belong to kind = 'rigid'.")
    return problems


def _steering_problems(section: str, steering: AxleSteeringKeys | None) -> list[str]:
    if steering is None:
        return []
    if (steering.ratio is None) == (steering.trail is None):
        return [
            f"{section}: give either ratio (by the articulation angle) or trail (self-steering)."
        ]
    if steering.ratio is not None and (steering.stiffness or steering.damping):
        return [
            f"{section}: stiffness and damping belong to a self-steering axle, which has a trail."
        ]
    return []


def _trailer_problems(name: str, record: TrailerKeys) -> list[str]:
    section, problems = f"trailers.{name}", []
    for key, word in ((section, name), *((f"{section}.axles.{a}", a) for a in record.axles)):
        if not re.fullmatch(r"[A-Za-z]\w*", word):
            problems.append(
                f"{key}: '{word}' must be a name of letters, digits and '_' that begins "
                f"with a letter."
            )
    if name in RESERVED:
        problems.append(
            f"{section}: '{name}' is a name of the car's own parts; give the trailer another one."
        )
    if all(a.lifted for a in record.axles.values()):
        problems.append(f"{section}.axles: a trailer needs an axle that is not lifted.")
    if not all(i > 0 for i in record.inertia):
        problems.append(
            f"{section}.inertia = {list(record.inertia)} must be three positive moments."
        )
    stiffnesses = {(a.kind, a.stiffness) for a in record.axles.values()}
    if record.equalisation > 0 and len(stiffnesses) > 1:
        problems.append(f"{section}: equalisation needs axles of one kind and stiffness.")
    for axle, a in record.axles.items():
        if not (a.at[0] < 0 < a.at[1]):
            problems.append(
                f"{section}.axles.{axle}.at = {list(a.at)} m must be the centre of the left "
                f"wheel behind the hitch: x "
                "negative, y positive."
            )
        problems += _axle_problems(f"{section}.axles.{axle}", a)
    brakes = record.brakes
    if brakes is not None and (brakes.gain is None) == (brakes.overrun is None):
        problems.append(
            f"{section}.brakes: give either gain (by the brakes of the car) or overrun (by "
            f"the thrust of the hitch)."
        )
    if brakes is not None and brakes.overrun is not None and brakes.lag:
        problems.append(
            f"{section}.brakes.lag belongs to brakes with a gain; overrun brakes have overrun.lag."
        )
    hitch = record.hitch
    if hitch.kind == "fifth wheel" and hitch.roll_stiffness is None:
        problems.append(
            f"{section}.hitch.roll_stiffness is missing: a fifth wheel is stiff in roll."
        )
    if hitch.kind == "ball" and (hitch.roll_stiffness is not None or hitch.roll_damping):
        problems.append(
            f"{section}.hitch: a ball is free in roll; roll_stiffness and roll_damping "
            f"belong to a fifth wheel."
        )
    return problems
