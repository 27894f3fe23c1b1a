"""Axles put together: the linkage of the hard points, the tyre, and what of an axle's keys must fit
together.

In: an `AxleKeys` record. Out: `AxleData`, with the left linkage in the axes of the car (x forward,
y left, z up).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.linkage import Linkage, shipped
from bellcrank.linkage.axle_sides import name_on_side
from bellcrank.linkage.chain import AXES, Chain, Point, with_axis_signs
from bellcrank.linkage.elastokinematics import BushStiffness, make_bush
from bellcrank.linkage.hard_point_files import KEYS, read_file, read_hard_points
from bellcrank.linkage.pose import Pose
from bellcrank.linkage.suspensions import build_chain
from bellcrank.simulation.backend.model_cache import cached_object
from bellcrank.vehicles.cars.design.geometry_checks import axle_problems
from bellcrank.vehicles.cars.keys.car_keys import AxleKeys, EnvelopingKeys, LinkKeys, TyreData
from bellcrank.vehicles.file_keys import ProblemList
from bellcrank.vehicles.force_laws import dual_tyre_offsets
from bellcrank.vehicles.tyres.fiala import Fiala
from bellcrank.vehicles.tyres.magic_formula import MagicFormula
from bellcrank.vehicles.tyres.tmeasy import TMeasy

FIALA = ("c_slip", "c_alpha", "umax", "umin", "width", "radius", "vertical_stiffness")
OTHER = ("vertical_stiffness", "vertical_damping", "rolling_resistance")  # of a tyre by size


@dataclass(frozen=True, eq=False)
class AxleData:
    """An axle with its left linkage, or the one of both wheels, and its tyre; `spring` and `damper`
    are the hard points that they join on the left."""

    name: str
    record: AxleKeys
    linkage: Linkage
    tyre: Any
    spring: tuple[str, str]
    damper: tuple[str, str]
    bushes: Mapping[str, BushStiffness] = field(default_factory=dict)

    poses: dict[float | tuple[float, float], Pose] = field(default_factory=dict, repr=False)

    @property
    def is_steered(self) -> bool:
        return "rack" in self.linkage.inputs

    @property
    def tyre_offsets(self) -> tuple[float, ...]:
        """Distances of the tyres of a wheel from its centre, along its axis to the left, m."""
        return dual_tyre_offsets(self.record.dual_spacing)

    @property
    def carries_both_wheels(self) -> bool:
        """Whether one linkage carries both wheels: a solid axle or a twist beam."""
        return self.linkage.chain.both

    @property
    def half_track(self) -> float:
        """Lateral distance of the wheel centres as drawn from the middle of the car, m."""
        return self.linkage.chain.place(self.linkage.chain.hub)[1] + self.record.at[1]

    def linkage_inputs(self, left: float, right: float) -> tuple[float, float]:
        """Travel (m) and roll (rad) of a linkage of both wheels at their travels."""
        return (left + right) / 2, math.asin((left - right) / self.linkage.chain.track)

    def unsprung_parts(self, side: int) -> Iterator[tuple[LinkKeys, str, float]]:
        """Carrier and links of one side (1 left, -1 right) with the mass centre of that side, their
        bodies in the linkage, and the fraction of each that counts for it: of a part that both
        wheels share, half."""
        bodies = [(self.record.carrier, self.linkage.chain.carrier)]
        bodies += [(part, name) for name, part in (self.record.links or {}).items()]
        for part, name in bodies:
            if not self.carries_both_wheels:
                yield part, name, 1.0
                continue
            side_name = name_on_side(name, side)
            shared = side_name == name_on_side(name, -side)
            x, y, z = self.linkage.origins[name] if part.cg is None else part.cg
            yield (
                replace(part, cg=(x, y if shared else side * y, z)),
                side_name,
                0.5 if shared else 1.0,
            )

    def points_as_in_file(self, points: Mapping[str, Point]) -> dict[str, list[str]]:
        """Hard points (m, axes of the car, left side) as the file of the axle states them."""
        x, y, z = AXES[self.linkage.chain.drawn]
        mirror = -1 if self.linkage.mirrored else 1
        signs = (x, mirror * y, z)
        return {
            n: [f"{1000 * s * v:.12g} mm" for s, v in zip(signs, p, strict=True)]
            for n, p in points.items()
        }

    def pose(self, travel: float, right: float | None = None) -> Pose:
        """The left linkage at a travel, rack in the middle; that of both wheels with the travel of
        the right one, which is the same unless it is given. Kept, as a search asks for the same
        again and again."""
        if not self.carries_both_wheels:
            self.solve_poses([travel])
            return self.poses[travel]
        key = travel, travel if right is None else right
        if key not in self.poses:
            middle, roll = self.linkage_inputs(*key)
            self.poses[key] = self.linkage.solve(middle, roll=roll)
        return self.poses[key]

    def solve_poses(self, travels: Iterable[float]) -> None:
        """Solves for several travels at once, in the time that one takes."""
        new = (
            []
            if self.carries_both_wheels
            else [z for z in dict.fromkeys(travels) if z not in self.poses]
        )
        if new:
            poses = self.linkage.solve(np.array(new))
            self.poses.update((z, poses[i]) for i, z in enumerate(new))


def make_axle(
    name: str, record: AxleKeys, axes: str | None, folder: Path, problems: ProblemList
) -> AxleData | None:
    """The axle; None where something is wrong, which `problems` then reports. `axes`: of hard
    points that do not state theirs."""
    problem_count = len(problems)
    linkage = _read_linkage(name, record, axes, folder, problems)
    tyre = make_tyre(f"{name}.tyre", record.tyre, folder, problems)
    _check_spring_and_damper(name, record, problems)
    if name == "front" and record.dual_spacing is not None:
        problems.append("front.dual_spacing: the steered wheels of a car have one tyre each.")
    if linkage is None:
        return None
    spring, damper = (
        _strut_end_points(f"{name}.{element}.strut", text, linkage, problems)
        for element, text in (("spring", record.spring.strut), ("damper", record.damper.strut))
    )
    if linkage.chain.both:
        problems.extend(_dependent_axle_problems(name, record, linkage, (*spring, *damper)))
        if record.anti_roll_bar is not None and record.anti_roll_bar.at == "wheel_centre":
            record = replace(
                record, anti_roll_bar=replace(record.anti_roll_bar, at=linkage.chain.hub)
            )
    elif record.twist_stiffness is not None:
        problems.append(
            f"{name}.twist_stiffness belongs to a twist beam; this is a {linkage.chain.kind}."
        )
    elif name == "front" and "rack" not in linkage.inputs:
        problems.append(
            "front.suspension has no rack: add [front.suspension.rack], so that the wheels "
            "can be steered."
        )
    record = _axle_in_iso_axes(record, linkage.chain.drawn)
    points = linkage.chain.points
    if record.anti_roll_bar is not None and record.anti_roll_bar.at not in points:
        bar_end = record.anti_roll_bar.at
        problems.append(
            f"{name}.anti_roll_bar.at: no hard point is called "
            f"'{bar_end}'.{did_you_mean(bar_end, points)}"
        )
    record = _with_bar_roll_stiffness(name, record, linkage, problems)
    for link in record.links or {}:
        if link not in linkage.links:
            problems.append(
                f"{name}.links: the suspension has no link "
                f"'{link}'.{did_you_mean(link, linkage.links)} It has "
                f"{', '.join(linkage.links) or 'none'}."
            )
    bushes = _read_bushes(name, record, linkage, problems)
    return (
        AxleData(name, record, linkage, tyre, spring, damper, bushes)
        if len(problems) == problem_count
        else None
    )


def _dependent_axle_problems(
    name: str, record: AxleKeys, linkage: Linkage, end_names: Iterable[str]
) -> Iterator[str]:
    """What an axle whose linkage carries both wheels cannot have."""
    if name == "front":
        yield (
            "front.suspension: a solid axle or twist beam has no rack, so the front wheels "
            "could not be steered."
        )
    if record.bushes:
        yield (
            f"{name}.bushes are those of one wheel; give {name}.compliance for a solid axle or "
            f"a twist beam."
        )
    if record.at[1] != 0:
        yield (
            f"{name}.at: its y must be 0, as the hard points are those of both sides; given "
            f"{record.at[1]:g} m."
        )
    points = linkage.chain.points
    for end in dict.fromkeys(end_names):
        if end in points and (name_on_side(end, -1) == end or name_on_side(end, -1) not in points):
            yield (
                f"{name}: the hard point '{end}' of a spring or damper has no counterpart "
                f"on the right; on a solid "
                "axle or twist beam give the left one of two, such as 'spring_left' and "
                "'spring_right'."
            )
    if (linkage.chain.kind == "twist_beam") != (record.twist_stiffness is not None):
        if record.twist_stiffness is None:
            yield (
                f"{name}.twist_stiffness is missing: the torsional stiffness of the cross beam, "
                f"such as '90 N-m/deg'."
            )
        else:
            yield f"{name}.twist_stiffness belongs to a twist beam; this is a {linkage.chain.kind}."


def _axle_in_iso_axes(record: AxleKeys, axes: str) -> AxleKeys:
    """The axle with what it states in the axes of its hard points turned into those of the car."""
    signs = AXES[axes]
    links = {
        n: replace(link, cg=with_axis_signs(link.cg, signs))
        for n, link in (record.links or {}).items()
    }
    bushes = {
        n: replace(b, axis=with_axis_signs(b.axis, signs), up=with_axis_signs(b.up, signs))
        for n, b in (record.bushes or {}).items()
    }
    carrier = replace(record.carrier, cg=with_axis_signs(record.carrier.cg, signs))
    return replace(
        record, carrier=carrier, links=links or record.links, bushes=bushes or record.bushes
    )


def _with_bar_roll_stiffness(
    name: str, record: AxleKeys, linkage: Linkage, problems: ProblemList
) -> AxleKeys:
    """The axle with the roll stiffness of its anti-roll bar, also where that is given by its
    rate."""
    bar = record.anti_roll_bar
    if bar is None:
        return record
    if (bar.stiffness is None) == (bar.rate is None):
        phrase = "both are" if bar.rate is not None else "none is"
        key = f"{name}.anti_roll_bar"
        problems.append(
            f"{key}: give either stiffness (N-m/deg) or rate (N/mm at the drop links); "
            f"{phrase} given."
        )
    elif bar.rate is not None and bar.at in linkage.chain.points:
        arm = bar_roll_arm(linkage, record.at[1], bar.at)
        return replace(record, anti_roll_bar=replace(bar, stiffness=bar.rate * arm**2))
    return record


def bar_roll_arm(linkage: Linkage, lateral_offset: float, end_name: str) -> float:
    """Displacement of the ends of an anti-roll bar against each other per roll angle at the wheels,
    m, as drawn."""
    pose = linkage.solve(0.0)
    if not linkage.chain.both:
        return float(2 * (pose.position[1] + lateral_offset) * pose.point(end_name).d[2])
    left_partial, right_partial = (
        pose.point(name_on_side(end_name, side)).d_rack for side in (1, -1)
    )
    assert left_partial is not None and right_partial is not None
    return float(left_partial[2] - right_partial[2])


def _read_bushes(
    name: str, record: AxleKeys, linkage: Linkage, problems: ProblemList
) -> dict[str, BushStiffness]:
    bushes = {}
    if record.bushes and record.compliance is not None:
        problems.append(
            f"{name}: give bushes or compliance, not both: what a wheel gives follows from "
            f"its bushes."
        )
    for point, keys in (record.bushes or {}).items():
        try:
            bushes[point] = make_bush(linkage.chain, point, **vars(keys))
        except ModelError as error:
            problems.extend(f"{name}.bushes: {p}" for p in error.problems)
    return bushes


MERGED = (
    "points",
    "lengths",
    "attach",
    "struts",
)  # of a file of hard points: what a car may change one by one


def _merge_hard_points(sheet: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Statements of a file of hard points, with what is given for the car; lengths in the unit of
    the file."""
    merged = {key: changes[key] for key in ("rack", *MERGED) if key in changes}
    for key in MERGED:
        if isinstance(merged.get(key), Mapping):
            merged[key] = {**sheet.get(key, {}), **merged[key]}
    return sheet | merged


def _read_linkage(
    name: str, record: AxleKeys, axes: str | None, folder: Path, problems: ProblemList
) -> Linkage | None:
    keys = dict(record.suspension)
    section = f"{name}.suspension"
    source = [key for key in ("shipped", "file") if key in keys]
    try:
        if source:
            allowed_keys = ("rack", *MERGED, "note")
            extra = [
                *source[1:],
                *(key for key in keys if key not in ("shipped", "file", *allowed_keys)),
            ]
            if extra:
                problems.append(
                    f"{section}: hard points come from '{source[0]}', whose "
                    f"{', '.join(extra)} cannot be changed; what "
                    f"can is {', '.join(allowed_keys)}."
                )
            path = (
                shipped(keys["shipped"]) if source[0] == "shipped" else folder / str(keys["file"])
            )
            statements = {"name": path.stem, **_merge_hard_points(read_file(path), keys)}
        else:
            for key in keys:
                if key not in KEYS:
                    suggestion = did_you_mean(str(key), ("shipped", "file", *KEYS))
                    problems.append(f"{section}: '{key}' is not known.{suggestion}")
            statements = {
                "name": name,
                "axes": axes,
                **{k: v for k, v in keys.items() if k in KEYS},
            }
        drawn = _chain_in_car_axes(build_chain(read_hard_points(statements)))
        is_right = drawn.side == "right"
        point_problems = list(axle_problems(name, record, drawn.mirrored() if is_right else drawn))
        problems.extend(point_problems)
        linkage = None if point_problems else _cached_linkage(json.dumps(statements, default=list))
    except ModelError as error:
        problems.extend(f"{section}: {p}" for p in error.problems)
        return None
    return linkage.mirror() if linkage is not None and is_right else linkage


def _chain_in_car_axes(chain: Chain) -> Chain:
    """The linkage in the axes of the car; its rack moves to the left."""
    chain = chain.in_iso()
    if all(i.kind != "rack" or i.axis[1] >= 0 for i in chain.inputs):
        return chain
    reversed_axes = (-1, -1, -1)
    inputs = tuple(
        replace(i, axis=with_axis_signs(i.axis, reversed_axes)) if i.kind == "rack" else i
        for i in chain.inputs
    )
    joints = tuple(
        replace(j, axis=with_axis_signs(j.axis, reversed_axes)) if j.name == "rack_guide" else j
        for j in chain.joints
    )
    return replace(chain, inputs=inputs, joints=joints)


@lru_cache(maxsize=32)
def _cached_linkage(source: str) -> Linkage:
    """A linkage is kept for cars that share it, on disk too: following its travel to the ends takes
    longest."""
    return cached_object(source, partial(_solve_travel_range, source))


def _solve_travel_range(source: str) -> Linkage:
    linkage = Linkage(_chain_in_car_axes(build_chain(read_hard_points(json.loads(source)))))
    with suppress(ModelError):  # who asks for a travel that cannot be reached will meet it
        linkage.range()
    return linkage


def _strut_end_points(
    key: str, text: str, linkage: Linkage, problems: ProblemList
) -> tuple[str, str]:
    struts = {s.name: s.points for s in linkage.chain.struts}
    if linkage.chain.both and f"{text}_left" in struts:
        text = f"{text}_left"
    points = linkage.chain.points
    end_names = [part.strip() for part in text.split(",")]
    if len(end_names) == 2:
        for end in end_names:
            if end not in points:
                problems.append(
                    f"{key}: no hard point is called '{end}'.{did_you_mean(end, points)}"
                )
        return end_names[0], end_names[1]
    if text not in struts:
        names = ", ".join(struts) or "none"
        problems.append(
            f"{key}: the suspension has no strut '{text}'.{did_you_mean(text, struts)} It "
            f"has {names}; or name two "
            "hard points, 'spring_base, spring_arm'."
        )
        return "", ""
    return struts[text]


def _check_spring_and_damper(name: str, record: AxleKeys, problems: ProblemList) -> None:
    spring, damper = record.spring, record.damper
    if sum(x is not None for x in (spring.stiffness, spring.table, spring.air)) != 1:
        problems.append(f"{name}.spring: give one of stiffness, table and air.")
    if spring.air is not None and (spring.free_length is not None or spring.perch):
        problems.append(
            f"{name}.spring: an air spring has no free_length and no perch; its pressure is "
            f"set by `travel`."
        )
    if spring.table is not None and any(
        b <= a for (_, a), (_, b) in zip(spring.table, spring.table[1:])
    ):
        problems.append(
            f"{name}.spring.table: the force must grow with the shortening, or the car has "
            f"no stand."
        )
    damper_forms = (
        damper.coefficient is not None,
        damper.compression is not None or damper.rebound is not None,
        damper.table is not None,
    )
    if sum(damper_forms) != 1:
        problems.append(
            f"{name}.damper: give one of coefficient, compression and rebound, or table."
        )
    for v, force in damper.table or ():
        if v * force < 0 or (v == 0 and force != 0):
            problems.append(
                f"{name}.damper.table: {force:g} N at {v:g} m/s adds energy; force and "
                f"speed have the same sign, both "
                "positive in compression, and the force at 0 m/s is 0."
            )
    if damper_forms[1] and (damper.compression is None or damper.rebound is None):
        problems.append(f"{name}.damper: compression and rebound belong together.")


def make_tyre(section: str, tyre_data: TyreData, folder: Path, problems: ProblemList) -> Any:
    """The tyre of a section; None where something is wrong, which `problems` then reports."""
    sources = [w for w in ("file", "size", "model") if getattr(tyre_data, w) is not None]
    if len(sources) != 1:
        message = f"; {' and '.join(sources)} are given" if sources else ""
        return problems.add_problem(
            f"{section}: give one of file (a .tir file), size or model{message}."
        )
    allowed_keys = {"file": ("pressure",), "size": ("kind", *OTHER), "model": (*FIALA, *OTHER)}[
        sources[0]
    ]
    defaults = TyreData()
    for key, value in vars(tyre_data).items():
        if value != getattr(defaults, key) and key not in (sources[0], "enveloping", *allowed_keys):
            problems.append(f"{section}.{key} has no meaning for a tyre by {sources[0]}.")
    problems.extend(f"{section}.{p}" for p in _cam_problems(tyre_data.enveloping))
    values = {
        key: getattr(tyre_data, key) for key in allowed_keys if getattr(tyre_data, key) is not None
    }
    try:
        return _tyre_from_keys(section, tyre_data, values, folder, problems)
    except ModelError as error:
        problems.extend(f"{section}: {p}" for p in error.problems)
        return None


def _cam_problems(enveloping: EnvelopingKeys | None) -> Iterator[str]:
    if enveloping is not None and enveloping.ellipse is not None and len(enveloping.ellipse) != 2:
        yield (
            f"enveloping.ellipse = {list(enveloping.ellipse)} must be two half axes: along the "
            f"road and upright."
        )
    if enveloping is not None and enveloping.exponent is not None and enveloping.exponent < 1:
        yield (
            f"enveloping.exponent = {enveloping.exponent:g} must be at least 1: the cam is "
            f"hollow otherwise."
        )


def _tyre_from_keys(
    section: str,
    tyre_data: TyreData,
    values: Mapping[str, Any],
    folder: Path,
    problems: ProblemList,
) -> Any:
    if tyre_data.file is not None:
        tyre: Any = MagicFormula.read(folder / tyre_data.file)
        return tyre.scaled(INFLPRES=tyre_data.pressure) if tyre_data.pressure is not None else tyre
    if tyre_data.size is not None:
        overrides = {key: value for key, value in values.items() if key in OTHER}
        return replace(TMeasy.of_size(tyre_data.size, kind=tyre_data.kind), **overrides)
    for key in FIALA:
        if key not in values:
            problems.append(
                f"{section}.{key} is missing: model = 'fiala' needs {', '.join(FIALA)}."
            )
            return None
    tyre = Fiala(**values)
    problems.extend(f"{section}: {p}" for p in tyre.problems())
    return tyre
