"""A motorcycle as frozen data: sections that were read, tyres, and how it stands at rest, by
statics in closed form.

In: the content of a motorcycle file, a mapping of sections. Out: `MotorcycleData`, or one error
that reports all problems at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.describe.tyre_model import Rolling
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.keys.car_keys import Vector
from bellcrank.vehicles.file_keys import ProblemList, read_key_record
from bellcrank.vehicles.motorcycles.motorcycle_keys import (
    MotorcycleBodyKeys,
    MotorcycleFileKeys,
    MotorcycleTyreData,
    SwingArmStrutKeys,
)
from bellcrank.vehicles.tyres.magic_formula import MagicFormula
from bellcrank.vehicles.tyres.motorcycle_tyre import MotorcycleTyre
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

NEEDED = ("radius", "cornering", "camber")  # of a tyre without a file
ALONG = 0.5  # relaxation length along the wheel over that across it
HALVINGS = 60
LEAST = 0.5  # of its radius, to which a tyre at rest may be compressed


@dataclass(frozen=True, eq=False)
class MotorcycleData:
    """A motorcycle whose parts fit together."""

    sections: MotorcycleFileKeys
    front_tyre: Any
    rear_tyre: Any

    @property
    def wheelbase(self) -> float:
        return self.sections.front.wheelbase

    def masses(self) -> Iterator[tuple[str, float, float, float]]:
        """Name, mass, and x and z of the mass centre of each part."""
        keys = self.sections
        bodies: dict[str, MotorcycleBodyKeys | None] = {
            "frame": keys.frame,
            "rider": keys.rider,
            "steer": keys.front.steer,
            "fork": keys.front.slider,
            "arm": keys.rear.arm,
        }
        for name, part in bodies.items():
            if part is not None:
                yield name, part.mass, part.cg[0], part.cg[2]
        yield "front.wheel", keys.front.wheel.mass, self.wheelbase, self.heights[0]
        yield "rear.wheel", keys.rear.wheel.mass, 0.0, self.heights[1]

    @cached_property
    def loads(self) -> tuple[float, float]:
        """Load of the front and of the rear wheel at rest, N: they do not depend on heights."""
        keys = self.sections
        bodies = [
            p
            for p in (keys.frame, keys.rider, keys.front.steer, keys.front.slider, keys.rear.arm)
            if p
        ]
        weights = [(p.mass, p.cg[0]) for p in bodies]
        weights += [(keys.front.wheel.mass, self.wheelbase), (keys.rear.wheel.mass, 0.0)]
        front = GRAVITY * sum(m * x for m, x in weights) / self.wheelbase
        return front, GRAVITY * sum(m for m, _ in weights) - front

    @cached_property
    def heights(self) -> tuple[float, float]:
        """Heights of the centres of front and rear wheel at rest, m."""
        front, rear = (
            upright_loaded_radius(t, f)
            for t, f in zip((self.front_tyre, self.rear_tyre), self.loads, strict=True)
        )
        return front, rear

    @cached_property
    def trail(self) -> float:
        """Ground trail at rest, m."""
        front = self.sections.front
        if front.trail is not None:
            return front.trail
        assert front.offset is not None
        return (self.heights[0] * math.sin(front.rake) - front.offset) / math.cos(front.rake)

    @property
    def offset(self) -> float:
        """Distance of the front wheel centre before the steering axis, m."""
        rake = self.sections.front.rake
        return self.heights[0] * math.sin(rake) - self.trail * math.cos(rake)

    @cached_property
    def preloads(self) -> tuple[float, float]:
        """Forces of the struts of fork and swing arm at rest, N; zero where there is none."""
        keys, (front, rear) = self.sections, self.loads
        fork = 0.0
        if keys.front.spring is not None and keys.front.slider is not None:
            sliding_mass = keys.front.slider.mass + keys.front.wheel.mass
            fork = (front - sliding_mass * GRAVITY) * math.cos(keys.front.rake)
        arm, strut = keys.rear.arm, keys.rear.spring
        if arm is None or strut is None:
            return fork, 0.0
        pivot_x = arm.pivot[0]
        pivot_moment = (
            pivot_x * (rear - keys.rear.wheel.mass * GRAVITY)
            + (arm.cg[0] - pivot_x) * arm.mass * GRAVITY
        )
        return fork, -pivot_moment / strut_lever(strut, arm.pivot)

    @cached_property
    def mass(self) -> float:
        return sum(m for _, m, _, _ in self.masses())

    @cached_property
    def centre(self) -> tuple[float, float]:
        """x and z of the mass centre of all at rest, m."""
        masses = list(self.masses())
        return sum(m * x for _, m, x, _ in masses) / self.mass, sum(
            m * z for _, m, _, z in masses
        ) / self.mass


def strut_lever(strut: SwingArmStrutKeys, pivot: Vector) -> float:
    """Moment of a strut about the pivot, about the axis to the left, per force that pushes its ends
    apart, m."""
    line = [a - f for a, f in zip(strut.arm, strut.frame, strict=True)]
    length = math.hypot(*line)
    return ((strut.arm[2] - pivot[2]) * line[0] - (strut.arm[0] - pivot[0]) * line[2]) / length


def upright_loaded_radius(tyre: Any, load: float) -> float:
    """The radius at which an upright tyre at rest carries a load, m."""
    state = Rolling(load, 0.0, 0.0, 0.0, tyre.usual[0], 0.0, 0.0)
    low, high = LEAST * float(tyre.free_radius(ARRAYS, 0.0)), float(tyre.free_radius(ARRAYS, 0.0))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if float(tyre.radial_load(ARRAYS, state, middle)[0]) > load
            else (low, middle)
        )
    return (low + high) / 2


def make_motorcycle(content: Mapping[str, Any], folder: Path) -> MotorcycleData:
    """The motorcycle that a mapping of sections describes; paths in it start at `folder`."""
    name, problems = str(content.get("name", "motorcycle")), ProblemList()
    sections = read_key_record(MotorcycleFileKeys, content, "", problems)
    if sections is None:
        raise ModelError([p.removeprefix(": ") for p in problems], name)
    front, rear = (
        _read_tyre(f"{end}.tyre", getattr(sections, end).tyre, folder, problems)
        for end in ("front", "rear")
    )
    _check_sections(sections, problems)
    if problems:
        raise ModelError(problems, name)
    data = MotorcycleData(sections, front, rear)
    for end, load in zip(("front", "rear"), data.loads, strict=True):
        if not load > 0:
            problems.append(
                f"the {end} wheel carries {load:.0f} N at rest: the mass centre lies "
                f"outside the wheelbase."
            )
    if not problems:
        _check_static_loads(data, problems)
    if problems:
        raise ModelError(problems, name)
    return data


def _check_static_loads(data: MotorcycleData, problems: ProblemList) -> None:
    """What can be seen only where it stands."""
    keys = data.sections
    for end, tyre, load in zip(
        ("front", "rear"), (data.front_tyre, data.rear_tyre), data.loads, strict=True
    ):
        peak = float(
            tyre.radial_load(
                ARRAYS, Rolling(load, 0.0, 0.0, 0.0, tyre.usual[0], 0.0, 0.0), LEAST * tyre.radius
            )[0]
        )
        if peak < load:
            problems.append(
                f"{end}.tyre: compressed to half its radius it carries {peak:.4g} N, less "
                f"than the load of "
                f"{load:.4g} N at rest; in which unit is its vertical stiffness?"
            )
    if problems:
        return
    fork, strut = data.preloads
    if fork < 0:
        problems.append(
            f"front.spring: the fork pulls with {-fork:.0f} N at rest: wheel and slider are "
            f"heavier than "
            f"the load of {data.loads[0]:.0f} N of the front wheel."
        )
    if strut < 0:
        problems.append(
            f"rear.spring: the strut pulls with {-strut:.0f} N at rest: are frame and arm "
            f"interchanged?"
        )
    if keys.chain is not None:
        x, _, z = keys.chain.sprocket
        spacing, radii = (
            math.hypot(x, z - data.heights[1]),
            (keys.chain.rear_radius, keys.chain.front_radius),
        )
        if spacing <= sum(radii):
            problems.append(
                f"chain.sprocket lies {spacing:.4g} m from the axle of the rear wheel: the "
                f"sprockets, with "
                f"radii {radii[0]:.4g} and {radii[1]:.4g} m, overlap."
            )


def _check_sections(keys: MotorcycleFileKeys, problems: ProblemList) -> None:
    front, rear = keys.front, keys.rear
    if not front.rake < math.pi / 2:
        problems.append(
            f"front.rake = {math.degrees(front.rake):.4g} deg must lie between 0 and 90 deg."
        )
    if (front.trail is None) == (front.offset is None):
        problems.append("front: give either trail or offset.")
    if (front.spring is None) != (front.slider is None):
        problems.append("front: spring and slider belong together; a rigid fork has neither.")
    if (rear.spring is None) != (rear.arm is None):
        problems.append("rear: spring and arm belong together; a rigid frame has neither.")
    if rear.spring is not None and rear.arm is not None:
        if math.dist(rear.spring.frame, rear.spring.arm) < 1e-6:
            problems.append("rear.spring: frame and arm are the same point.")
        elif abs(strut_lever(rear.spring, rear.arm.pivot)) < 1e-6:
            problems.append(
                "rear.spring: the strut points at rear.arm.pivot and cannot carry the frame."
            )
        if not rear.arm.pivot[0] > 0:
            problems.append(
                f"rear.arm.pivot: x = {rear.arm.pivot[0]:g} m must lie before the rear wheel."
            )
    bodies = {
        "frame": keys.frame,
        "rider": keys.rider,
        "front.steer": front.steer,
        "front.slider": front.slider,
        "rear.arm": rear.arm,
    }
    for name, part in bodies.items():
        if part is not None and not all(i > 0 for i in part.inertia):
            problems.append(
                f"{name}.inertia = {list(part.inertia)} must be three positive moments."
            )
        if part is not None and not part.cg[2] > 0:
            problems.append(f"{name}.cg = {list(part.cg)} m must lie above the road: z positive.")
    points = {f"{name}.cg": part.cg for name, part in bodies.items() if part is not None}
    points |= {} if rear.arm is None else {"rear.arm.pivot": rear.arm.pivot}
    points |= (
        {}
        if rear.spring is None
        else {f"rear.spring.{x}": getattr(rear.spring, x) for x in ("frame", "arm")}
    )
    for label, position in points.items():
        if position[1]:
            problems.append(
                f"{label} = {list(position)} m must lie in the plane of symmetry: y = 0."
            )


def _read_tyre(
    section: str, tyre_data: MotorcycleTyreData, folder: Path, problems: ProblemList
) -> Any:
    values = {
        k: v for k, v in vars(tyre_data).items() if v is not None and k not in ("file", "crown")
    }
    if tyre_data.file is not None:
        problems.extend(f"{section}.{key} has no meaning for a tyre by file." for key in values)
        try:
            return replace(MagicFormula.read(folder / tyre_data.file), crown=tyre_data.crown)
        except ModelError as error:
            return problems.extend(f"{section}: {p}" for p in error.problems)
    missing = [key for key in NEEDED if key not in values]
    if missing:
        return problems.add_problem(
            f"{section}: {', '.join(missing)} missing; give them, or file (a .tir file)."
        )
    if "friction" in values:
        values["mu"] = values.pop("friction")
    if "relaxation" in values:
        values["relaxation"] = (ALONG * values["relaxation"], values["relaxation"])
    tyre = MotorcycleTyre(crown=tyre_data.crown, **values)
    problems.extend(f"{section}: {p}" for p in tyre.problems())
    return tyre
