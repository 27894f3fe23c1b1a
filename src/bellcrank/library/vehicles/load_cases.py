"""Load cases of an axle: what braking, cornering and bumps do to every rod, joint, spring and to the rack.

A case gives forces at the contact of the left wheel, or multiples of gravity from which they follow: load transfer by
the height of the mass centre, across the car in the fractions of roll stiffnesses and roll centres; wheels of an axle
share its forces as they share its load. The travel is that at which springs, stops and anti-roll bar hold the wheel,
unless a case gives it. Weights and inertia forces of the suspension's parts are in it, and the moment by which the tyre
of a car resists inclination.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.describe.tyre_model import Rolling
from bellcrank.errors import ModelError
from bellcrank.files.text import read_toml
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.bushes import gives
from bellcrank.library.vehicles.data import GRAVITY, Array, CarData
from bellcrank.library.vehicles.figures import Figures
from bellcrank.library.vehicles.keys import UNITS, Problems, Stated, key, read_record
from bellcrank.library.vehicles.laws import leaning
from bellcrank.library.vehicles.motor import drive_share
from bellcrank.library.vehicles.rest import Stand, drawn_length, push_of, road, spin_axis
from bellcrank.linkage.elastic import axial
from bellcrank.linkage.loads import CaseLoads, LoadTable
from bellcrank.linkage.statics import Held, Load, held
from bellcrank.linkage.wheel import see_wheel

SPRING = "spring"
TURNS = 40  # of Newton's method for the travels
LONGEST = 0.02  # m, of a step
FOUND = 1e-6  # N of the springs


@dataclass(frozen=True)
class LoadCase:
    """What acts on a wheel; the other wheel of the axle has the same unless the car corners."""

    fx: float = key("force ahead at the contact of the left wheel", "F", 0.0)
    fy: float = key("force to the left", "F", 0.0)
    fz: float = key("force up", "F", 0.0)
    mx: float = key("moment about the line ahead", "F*L", 0.0)
    my: float = key("moment about the line to the left", "F*L", 0.0)
    mz: float = key("aligning moment, about the line up", "F*L", 0.0)
    braking: float | None = key("deceleration of the car over gravity", default=None, sign=0, usual=(0, 1.6))
    driving: float | None = key("acceleration of the car over gravity", default=None, sign=0, usual=(0, 1.5))
    cornering: float | None = key("lateral acceleration over gravity, left wheel outside", default=None, sign=0,
                                  usual=(0, 3))  # fmt: skip
    bump: float | None = key("vertical load over that at rest", default=None, sign=0, usual=(0, 6))
    travel: float | None = key("wheel travel; without it springs and stops say it", "L", None)
    rack: float = key("rack travel", "L", 0.0)
    torque: str = key("what takes the torque of fx about the axis of the wheel: the carrier (brake, hub motor) or the "
                      "body (drive shaft)", default="carrier", kind="text", choices=("carrier", "body"))  # fmt: skip

    @property
    def by_gravity(self) -> bool:
        return any(x is not None for x in (self.braking, self.driving, self.cornering, self.bump))


CASES: Mapping[str, LoadCase] = {
    "rest": LoadCase(bump=1.0),
    "bump 3 g": LoadCase(bump=3.0),
    "braking 1 g": LoadCase(braking=1.0),
    "cornering 0.8 g": LoadCase(cornering=0.8),
    "braking and cornering 0.6 g": LoadCase(braking=0.6, cornering=0.6),
    "driving 0.4 g": LoadCase(driving=0.4),
}


def read_cases(source: str | Path | Mapping[str, Any]) -> dict[str, LoadCase]:
    """Load cases of a TOML file or a mapping: a section for each, by its name, with `units` as in car files."""
    given = dict(source) if isinstance(source, Mapping) else read_toml(Path(source))
    problems = Problems()
    stated = Stated().within(given.pop(UNITS), "units", problems) if UNITS in given else Stated()
    found: dict[str, LoadCase] = {}
    for name, section in given.items():
        case = read_record(LoadCase, section, name, problems, stated)
        if case is None:
            continue
        if case.by_gravity and (case.fx, case.fy, case.fz) != (0.0, 0.0, 0.0):
            problems.append(
                f"{name}: give forces fx, fy, fz, or multiples of gravity from which they follow, not both."
            )
        elif case.braking and case.driving:
            problems.append(f"{name}: give braking or driving, not both.")
        found[str(name)] = case
    if not given and not problems:
        problems.append("it holds no load case: a section such as [braking] with braking = 1.0.")
    if problems:
        raise ModelError(problems, "load cases" if isinstance(source, Mapping) else str(source))
    return found


def linkage_loads(linkage: Any, cases: Mapping[str, LoadCase]) -> LoadTable:
    """Load cases of hard points alone: forces, links without mass, the first strut of the file holds the travel."""
    chain = linkage.chain
    if not chain.struts:
        raise ModelError("loads need a strut in the file of hard points ([struts.spring])", chain.name)
    if "roll" in linkage.inputs:
        raise ModelError("loads are those of one wheel; this is a solid axle", chain.name)
    found = []
    for name, case in cases.items():
        if case.by_gravity:
            raise ModelError(f"load case '{name}': multiples of gravity need a car; give forces fx, fy, fz", chain.name)
        rack, travel = _rack(linkage, name, case), case.travel or 0.0
        w = see_wheel(linkage, travel, rack)
        # forces are given ahead, left, up; the file may have its y to the right and its z down
        turn = np.array([1.0, float(chain.up), float(chain.up)])
        force, moment = _given(case)
        arm = (w.contact[0] - w.centre[0]) * w.flip
        own = _at_wheel(force * turn, moment * turn, arm, w.axis[0] * w.flip, case.torque)
        pose = w.pose[0]
        at = w.centre[0] * w.flip
        strut = chain.struts[0]
        carried = held(linkage, pose, [Load(chain.carrier, own[0], at + arm, own[1])], {strut.name: strut.points})
        found.append(CaseLoads(name, travel, rack, force, moment, carried))
    return _table(chain.name, found, ["links have no mass; struts take what holds the travel given"])


def axle_loads(
    car: CarData, at_rest: Stand, figures: Figures, axle: str, cases: Mapping[str, LoadCase] | None = None
) -> LoadTable:
    """Load cases of the left suspension of an axle; of one that corners, of the wheel outside and that inside."""
    fitted = car.axle(axle)
    found: list[CaseLoads] = []
    rubber = _Rubber(gives(car, at_rest, fitted).rate, axial(fitted.linkage.chain, fitted.bushes))
    for name, case in (CASES if cases is None else cases).items():
        rack = _rack(fitted.linkage, name, case)
        sides = _sides(car, at_rest, figures, fitted, case)
        wheels = [_Wheel(car, at_rest, fitted, rack if i == 0 else -rack, s, rubber) for i, s in enumerate(sides)]
        try:
            travels = [case.travel] * len(wheels) if case.travel is not None else _settled(wheels)
            apart = _apart(wheels, travels) if case.travel is None else 0.0
            carried = [w.held(z, apart * (1 - 2 * i)) for i, (w, z) in enumerate(zip(wheels, travels, strict=True))]
        except ModelError as error:
            told = [f"load case '{name}': {p}" for p in error.problems]
            raise ModelError(told, f"{car.sections.name}, {axle}") from None
        words = [name] if len(sides) == 1 else [f"{name}, outside", f"{name}, inside"]
        for word, w, z, h in zip(words, wheels, travels, carried, strict=True):
            found.append(CaseLoads(word, float(z), w.rack, w.side.force, w.side.moment, h))
    notes = ["a wheel inside is given as if it were on the left"] if any(", inside" in c.name for c in found) else []
    return _table(f"{car.sections.name}, {axle}", found, notes)


def _table(name: str, found: Sequence[CaseLoads], notes: Sequence[str]) -> LoadTable:
    told = dict.fromkeys([*notes, *(n for c in found for n in c.held.notes)])
    return LoadTable(name, tuple(found), tuple(told))


def _given(case: LoadCase) -> tuple[Array, Array]:
    return np.array([case.fx, case.fy, case.fz]), np.array([case.mx, case.my, case.mz])


def _rack(linkage: Any, name: str, case: LoadCase) -> float:
    if case.rack and "rack" not in linkage.inputs:
        raise ModelError(f"load case '{name}': the suspension has no rack", linkage.name)
    return case.rack


# ---- what acts on the wheels


@dataclass(frozen=True)
class _Side:
    """What acts on a wheel that is looked at as the left one: ahead, left, up; acceleration of the car in m/s^2.
    `leans`: its tyre resists inclination in addition to the moment given."""

    force: Array
    moment: Array
    acceleration: Array
    torque: str
    leans: bool = True


def _sides(car: CarData, at_rest: Stand, f: Figures, axle: FittedAxle, case: LoadCase) -> list[_Side]:
    """The left wheel, and where the car corners the right one, mirrored."""
    force, moment = _given(case)
    if not case.by_gravity:
        return [_Side(force, moment, np.zeros(3), case.torque, leans=False)]
    front = axle.name == "front"
    i = 0 if front else 2
    load = sum(at_rest.load[i : i + 2])
    ahead = (case.driving or 0.0) - (case.braking or 0.0)
    across = case.cornering or 0.0
    weight = at_rest.mass * GRAVITY
    shifted = weight * ahead * f["cg_height"] / f["wheelbase"] * (-1 if front else 1)
    loads = [max(0.0, x) for x in _shared(at_rest, f, axle.name, load * _or_one(case.bump) + shifted, across)]
    share = car.sections.brakes.front_share if ahead < 0 else drive_share(car.sections.drive)
    along = weight * ahead * (share if front else 1 - share)
    torque = "carrier" if ahead <= 0 else car.sections.drive.reaction
    total = max(sum(loads), 1e-9)
    found = []
    for fz, out in zip(loads, (1.0, -1.0), strict=True):
        own = np.array([along * fz / total, -out * load * across * fz / total, fz]) + 0.0  # no minus before a zero
        found.append(_Side(own, moment, np.array([ahead, -out * across, 0.0]) * GRAVITY, torque))
    return found if across else [found[0]]


def _or_one(x: float | None) -> float:
    return 1.0 if x is None else x


def _shared(at_rest: Stand, f: Figures, axle: str, load: float, across: float) -> tuple[float, float]:
    """Loads of the wheels outside and inside: the moment of the weight about the roll axis in the fractions of the roll
    stiffnesses, the rest by the roll centres."""
    stiff = f[f"roll_stiffness_{axle}"] / (f["roll_stiffness_front"] + f["roll_stiffness_rear"])
    share = f["front_share"]
    axis = share * f["roll_centre_front"] + (1 - share) * f["roll_centre_rear"]
    weight = at_rest.mass * GRAVITY
    own = weight * (share if axle == "front" else 1 - share)
    arm = stiff * weight * (f["cg_height"] - axis) + own * f[f"roll_centre_{axle}"]
    moved = across * arm / f[f"track_{axle}"]
    return load / 2 + moved, load / 2 - moved


def _at_wheel(force: Array, moment: Array, arm: Array, axis: Array, torque: str) -> tuple[Array, Array]:
    """Force and moment on the carrier; a moment about the axis of the wheel that the body takes is omitted."""
    if torque == "body":
        moment = moment - (np.cross(arm, force) @ axis) * axis
    return force, moment


# ---- a wheel at a travel


@dataclass(frozen=True)
class _Rubber:
    """Bushes of an axle: their rate at a wheel, and their stiffnesses along the axes of hinges, N/m."""

    rate: float
    axial: Mapping[str, float]


@dataclass(frozen=True)
class _Wheel:
    car: CarData
    at_rest: Stand
    axle: FittedAxle
    rack: float
    side: _Side
    rubber: _Rubber

    def held(self, travel: float, bar: float) -> Held:
        """What the parts carry; `bar`: push of the anti-roll bar on its end, down."""
        axle, record, chain = self.axle, self.axle.record, self.axle.linkage.chain
        pose = self._pose(travel)
        level = road(self.at_rest.pitch)
        up = level[2]
        axis = pose.rotation @ spin_axis(record.toe, record.camber)
        upright = float(np.sqrt(1 - (axis @ up) ** 2))
        arm = self._radius(float(np.arcsin(axis @ up))) * ((axis @ up) * axis - up) / upright
        force, moment = _at_wheel(self.side.force @ level, self.side.moment @ level, arm, axis, self.side.torque)
        if self.side.leans:
            moment = moment + leaning(axle.tyre.on("left"), float(self.side.force[2]), axis, up)
        loads = [Load(chain.carrier, force, pose.position + arm, moment)]
        field = -(self.side.acceleration @ level) - GRAVITY * up
        parts = [(record.carrier, chain.carrier), *((m, name) for name, m in (record.links or {}).items())]
        for part, name in parts:
            home = pose if name == chain.carrier else pose.link[name]
            origin = np.array(axle.linkage.origins[name])
            place = home.carried((origin if part.cg is None else np.array(part.cg)) - origin).position
            loads.append(Load(name, part.mass * field, place))
        loads.append(Load(chain.carrier, record.wheel.mass * field, pose.position))
        if axle.bushes:
            i = 0 if axle.name == "front" else 2
            push = -self.rubber.rate * (travel - self.at_rest.travel[i])
            loads.append(Load(chain.carrier, np.array([0.0, 0.0, push]), pose.position))
        if record.anti_roll_bar is not None and bar:
            at = record.anti_roll_bar.at
            loads.append(Load(chain.points[at].body, np.array([0.0, 0.0, -bar]), pose.point(at).position))
        return held(axle.linkage, pose, loads, {SPRING: axle.spring}, self.rubber.axial)

    def _pose(self, travel: float) -> Any:
        linkage = self.axle.linkage
        return linkage.solve(travel, self.rack) if self.rack else self.axle.pose(travel)

    def _radius(self, camber: float) -> float:
        """Distance of wheel centre and contact under the load."""
        tyre, fz = self.axle.tyre, float(self.side.force[2])
        free = float(tyre.free_radius(ARRAYS, 0.0))
        rolls = Rolling(0.0, 0.0, 0.0, camber, tyre.usual[0], tyre.usual[1], 0.0)

        def more(radius: float) -> float:
            return float(tyre.press(ARRAYS, rolls, radius)[0]) - fz

        if fz <= 0.0:
            return free
        if more(free / 2) < 0:
            raise ModelError(f"the tyre is pressed to half of its radius by {fz:.0f} N")
        from scipy.optimize import brentq

        return float(brentq(more, free / 2, 1.1 * free, xtol=1e-14))

    def length(self, travel: float) -> float:
        a, b = (self._pose(travel).point(p).position for p in self.axle.spring)
        return float(np.linalg.norm(a - b))

    def lacks(self, travel: float, bar: float) -> float:
        """How much more the spring would have to push than it does at a travel."""
        law = push_of(
            self.axle, self.at_rest.free_length[self.axle.name], self.length(travel),
            drawn_length(self.axle, self.axle.spring),
        )  # fmt: skip
        return self.held(travel, bar).parts[SPRING].size - law

    def end(self, travel: float) -> float:
        """Height of the end of the anti-roll bar."""
        given = self.axle.record.anti_roll_bar
        return 0.0 if given is None else float(self._pose(travel).point(given.at).position[2])


def _apart(wheels: Sequence[_Wheel], travels: Sequence[float]) -> float:
    """Push of the anti-roll bar on its end outside, down."""
    if len(wheels) == 1:
        return 0.0
    first, second = (w.end(z) for w, z in zip(wheels, travels, strict=True))
    return wheels[0].at_rest.bar[wheels[0].axle.name] * (first - second)


def _settled(wheels: Sequence[_Wheel]) -> list[float]:
    """Travels at which springs, stops and anti-roll bar hold the wheels of an axle."""
    axle, at_rest = wheels[0].axle, wheels[0].at_rest
    z = np.full(len(wheels), at_rest.travel[0 if axle.name == "front" else 2])

    def lacks(at: Array) -> Array:
        bar = _apart(wheels, list(at))
        return np.array([w.lacks(float(x), bar * (1 - 2 * i)) for i, (w, x) in enumerate(zip(wheels, at, strict=True))])

    h = 1e-6
    try:
        for _ in range(TURNS):
            r = lacks(z)
            if float(np.abs(r).max()) < FOUND:
                return [float(x) for x in z]
            J = np.array([(lacks(z + h * e) - r) / h for e in np.eye(len(z))]).T
            move = np.linalg.solve(J, -r)
            z = z + move * min(1.0, LONGEST / max(float(np.abs(move).max()), 1e-12))
        failed = f"{float(np.abs(r).max()):.4g} N are left open at travels {np.round(1000 * z, 1).tolist()} mm"
    except (ModelError, np.linalg.LinAlgError) as error:
        failed = error.problems[0] if isinstance(error, ModelError) else "the equations are singular"
    raise ModelError(f"springs and stops do not hold the wheel: {failed}")
