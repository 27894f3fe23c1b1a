"""Figures of a car that follow from its data by hand formulas; each says what it omits.

Gradients and stiffnesses of the whole car come from its linear model
(`vehicles.manoeuvres.linear_handling`).

Linear formulas for small motions about the position at rest: wheel rates with the fraction of the
preload, ride frequencies of a mass on spring and tyre in series, roll about an axis through the
roll centres, understeer gradient from the cornering stiffnesses and pneumatic trails of the axles.
Milliken & Milliken, Race Car Vehicle Dynamics (1995), ch. 5, 16 to 18.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.html import html_table
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import GRAVITY, CarData
from bellcrank.vehicles.cars.design.trailer_data import CHASSIS, SimpleAxle
from bellcrank.vehicles.cars.keys.car_keys import ComplianceKeys
from bellcrank.vehicles.cars.metrics.frame_roll import FlexibleRoll, RollSupport, flexible_roll
from bellcrank.vehicles.cars.statics.bush_compliance import axle_compliance
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    CarStatics,
    corner_at_rest,
    corner_state,
    interpolate_table,
    roll_centre,
    spring_and_stop_force,
)
from bellcrank.vehicles.cars.statics.trailer_statics import pitch_roll_rotation

G = GRAVITY
DAMPED = "damping ratio of a quarter car at 0.1 m/s of the wheel, {}"
WHEEL_SPEED = 0.1  # m/s, of a wheel while the body moves on its springs


@dataclass(frozen=True)
class VehicleMetric:
    """A number with its unit, words, and between what it is usual (None: it says nothing)."""

    value: float
    unit: str
    label: str
    usual: tuple[float, float] | None = None

    @property
    def is_unusual(self) -> bool:
        return self.usual is not None and not self.usual[0] <= self.value <= self.usual[1]

    def format_value(self, digits: str) -> str:
        """The number in a format; "none" where there is none."""
        return "none" if math.isnan(self.value) else f"{self.value:{digits}}"


class Figures(Mapping[str, float], NotebookDisplay):
    """Numbers by name; `details` has units and words; prints as a table."""

    def __init__(self, details: Mapping[str, VehicleMetric]) -> None:
        self.details = dict(details)

    def __getitem__(self, name: str) -> float:
        if name not in self.details:
            raise KeyError(f"there is no figure {name!r}.{did_you_mean(str(name), self.details)}")
        return self.details[name].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.details)

    def __len__(self) -> int:
        return len(self.details)

    def _html_parts(self) -> list[str]:
        rows = [
            (
                f.label,
                f.format_value(".4g"),
                typeset_unit(f.unit),
                "unusual" if f.is_unusual else "",
                name,
            )
            for name, f in self.details.items()
        ]
        return [html_table(("", "value", "unit", "", "name"), rows, right=(1,))]

    def __repr__(self) -> str:
        width = max(map(len, self.details), default=0)
        lines = []
        for name, f in self.details.items():
            digits = ".5g" if f.unit else "#.5g"  # a ratio of 1 has digits as others have
            lines.append(
                f"{name:<{width}}  {f.format_value(digits):>10}  {f.unit:<8}  {f.label}".rstrip()
            )
        return "\n".join(lines)


Named = Iterator[tuple[str, VehicleMetric]]


def car_metrics(car: CarData, statics: CarStatics) -> Figures:
    """All figures of a car."""
    front, rear = (_axle_metrics(car, a, statics) for a in (car.front, car.rear))
    roll_arm, share = _roll_axis(front, rear, statics, car)
    shares = (front, share), (rear, (1 - share) * statics.rear_fraction)
    return Figures(
        dict(
            [
                *_mass_and_size_metrics(car, statics, front, rear),
                *(x for a, part in shares for x in _ride_metrics(a, car.sprung.mass * part / 2)),
                *_roll_metrics(car, statics, front, rear, roll_arm),
                *_cornering_metrics(car, statics, front, rear),
                *_added_axle_metrics(car, statics),
                *_trailer_metrics(car, statics),
            ]
        )
    )


def _named_metric(
    name: str, value: float, unit: str, label: str, usual: tuple[float, float] | None = None
) -> tuple[str, VehicleMetric]:
    return name, VehicleMetric(float(value), unit, label, usual)


def _mass_and_size_metrics(
    car: CarData, statics: CarStatics, front: _AxleMetrics, rear: _AxleMetrics
) -> Named:
    """Masses, loads and lengths."""
    on_front = front_fraction(statics)
    yield _named_metric(
        "mass", statics.mass, "kg", f"mass with loads{_without_trailers_label(car)}"
    )
    yield _named_metric("wheelbase", front.x - rear.x, "m", "wheelbase", (1.4, 4.2))
    yield _named_metric("track_front", front.track, "m", "front track", (1.0, 2.2))
    yield _named_metric("track_rear", rear.track, "m", "rear track", (1.0, 2.2))
    yield _named_metric(
        "front_share", on_front, "", "fraction of the weight on the front axle", (0.35, 0.66)
    )
    label = f"height of the mass centre above the ground{_without_trailers_label(car)}"
    yield _named_metric("cg_height", _mass_centre_height(statics), "m", label, (0.2, 1.1))
    for name, load in zip(("fl", "fr", "rl", "rr"), statics.wheel_load, strict=True):
        yield _named_metric(f"load_{name}", load, "N", f"load of wheel {name} at rest")
    yield _named_metric("steering_ratio", steering_ratio(car), "", "steering ratio", (3.0, 26.0))
    if (air := car.sections.aerodynamics) is not None:
        yield _named_metric("air_density", air.density, "kg/m3", "density of the air")


def _without_trailers_label(car: CarData) -> str:
    """What labels of a car that tows add."""
    return ", without trailers" if car.trailers else ""


def front_fraction(statics: CarStatics) -> float:
    """Fraction of the loads of all wheels of the car on its front axle."""
    front, rear = sum(statics.wheel_load[:2]), sum(statics.wheel_load[2:]) / statics.rear_fraction
    return front / (front + rear)


def _mass_centre_height(statics: CarStatics) -> float:
    """Of the mass centre above the ground."""
    return float(statics.height + statics.mass_centre[2])


def _ride_metrics(a: _AxleMetrics, m: float) -> Named:
    """How an axle springs, with a sprung mass m on each of its wheels."""
    series = a.rate * a.tyre_rate / (a.rate + a.tyre_rate)
    ride, hop = math.sqrt(series / m), math.sqrt((a.rate + a.tyre_rate) / a.unsprung)
    damped = a.damping / (2 * math.sqrt(a.rate * m))
    roll_stiffness = math.radians(a.roll_stiffness)
    yield _named_metric(
        f"wheel_rate_{a.name}", a.rate / 1000, "N/mm", f"wheel rate, {a.name}", (5.0, 400.0)
    )
    yield _named_metric(
        f"ride_{a.name}",
        ride / (2 * math.pi),
        "Hz",
        f"ride frequency of a quarter car, {a.name}",
        (0.8, 3.5),
    )
    yield _named_metric(
        f"hop_{a.name}",
        hop / (2 * math.pi),
        "Hz",
        f"wheel hop frequency of a quarter car, {a.name}",
        (7.0, 25.0),
    )
    yield _named_metric(f"damping_{a.name}", damped, "", DAMPED.format(a.name), (0.12, 1.0))
    yield _named_metric(
        f"roll_centre_{a.name}",
        a.roll_centre,
        "m",
        f"height of the roll centre, {a.name}",
        (-0.15, 0.45),
    )
    yield _named_metric(
        f"roll_stiffness_{a.name}", roll_stiffness, "N-m/deg", f"roll stiffness, {a.name}"
    )


def _roll_metrics(
    car: CarData, statics: CarStatics, front: _AxleMetrics, rear: _AxleMetrics, roll_arm: float
) -> Named:
    """Roll, and how loads move from wheel to wheel; `roll_arm`: of the sprung mass above the roll
    axis."""
    sprung, height = car.sprung.mass, _mass_centre_height(statics)
    roll_stiffness = front.roll_stiffness + rear.roll_stiffness - sprung * G * roll_arm
    roll_stiffness += sum(_simple_axle_roll_stiffness(axle) for axle in car.added_axles)
    gradient = sprung * roll_arm / roll_stiffness if roll_stiffness > 0 else math.inf
    part_label = ""
    if car.frame is not None:
        yield from _frame_metrics(car, statics, front, rear)
        gradient, part_label = (
            _flexible_frame_roll(car, statics, front, rear).front,
            ", of the front part of the body",
        )
    half_track = (front.track + rear.track) / 4
    lateral_offset = float(
        pitch_roll_rotation(statics.pitch, statics.roll)[1]
        @ (statics.mass_centre - statics.contact_points.mean(0))
    )
    load_transfer = statics.mass * height / (front.x - _rear_load_position(car, statics, rear))
    label = f"roll gradient of the springs and bars on rigid tyres{part_label}"
    yield _named_metric("roll_gradient_springs", math.degrees(gradient) * G, "deg/g", label)
    yield from _static_stability_factors(
        car,
        statics,
        _RolloverUnit(
            "", statics.mass, height, half_track, sum(statics.wheel_load), lateral_offset
        ),
    )
    yield _named_metric(
        "load_transfer",
        load_transfer,
        "N/(m/s2)",
        "longitudinal load transfer per longitudinal acceleration",
    )


def _flexible_frame_roll(
    car: CarData, statics: CarStatics, front: _AxleMetrics, rear: _AxleMetrics
) -> FlexibleRoll:
    """The roll of both parts of a frame, with all axles that each carries."""
    assert car.frame is not None
    supports = []
    for name, axle, i in (("front", front, 0), ("rear", rear, 2)):
        part_axles = [a for a in car.added_axles if car.body_part_at(a.record.at[0]) == name]
        loads = [
            sum(statics.wheel_load[i : i + 2]),
            *(statics.added.axle_load(a) for a in part_axles if statics.added),
        ]
        x = float(np.average([axle.x, *(a.record.at[0] for a in part_axles)], weights=loads))
        supports.append(
            RollSupport(
                x,
                axle.roll_stiffness + sum(map(_simple_axle_roll_stiffness, part_axles)),
                axle.roll_centre,
            )
        )
    return flexible_roll(car.frame, statics.height, supports[0], supports[1])


def _frame_metrics(
    car: CarData, statics: CarStatics, front: _AxleMetrics, rear: _AxleMetrics
) -> Named:
    """How a frame twists."""
    assert car.frame is not None
    roll = _flexible_frame_roll(car, statics, front, rear)
    yield _named_metric(
        "frame_stiffness",
        math.radians(car.frame.stiffness),
        "N-m/deg",
        "torsional stiffness of the frame",
    )
    label = "frequency of the torsion of the sprung mass without suspensions, undamped"
    yield _named_metric("frame_frequency", car.frame.torsion_frequency, "Hz", label, (2.0, 80.0))
    label = "twist of the frame at rest: roll of the rear part of the body against the front part"
    yield _named_metric("frame_twist", math.degrees(statics.twist), "deg", label, (-1.0, 1.0))
    label = "fraction of the roll moment of all springs and bars on the front part of the frame"
    yield _named_metric("roll_moment_front", roll.front_moment, "", label)
    label = "roll gradient of the springs and bars on rigid tyres, of the rear part of the body"
    yield _named_metric("roll_gradient_springs_rear", math.degrees(roll.rear) * G, "deg/g", label)


class _RolloverUnit(NamedTuple):
    """A unit that may overturn: name of a trailer, mass (kg), height of the mass centre and half
    track (m), load of its wheels (N), and the mass centre left of the middle of the tracks (m)."""

    name: str
    mass: float
    height: float
    half_track: float
    load: float
    left: float


def _static_stability_factors(
    car: CarData, statics: CarStatics, towing_unit: _RolloverUnit
) -> Named:
    """Half track less the lateral offset of the mass centre, over its height, of each group of
    units that roll together: a fifth wheel carries roll moments, a ball none. Units of a group
    count with their masses and wheel loads."""
    groups, group_index = [[towing_unit]], {CHASSIS: 0}
    for trailer, trailer_statics in zip(car.trailers, statics.trailers, strict=True):
        _, lateral, vertical = pitch_roll_rotation(trailer_statics.pitch, trailer_statics.roll)
        masses = [(trailer.sprung.mass, trailer.sprung.cg)]
        masses += [
            (a.unsprung_mass, np.array([a.record.at[0], 0.0, a.record.at[2]]))
            for a in trailer.axles
        ]
        height = (
            trailer_statics.hitch_height
            + sum(m * float(vertical @ position) for m, position in masses) / trailer.mass
        )
        half_track = float(np.mean([a.record.at[1] for a in trailer.axles]))
        if trailer.record.hitch.kind == "ball":
            groups.append([])
        group_index[trailer.name] = (
            len(groups) - 1
            if trailer.record.hitch.kind == "ball"
            else group_index[trailer.towed_by]
        )
        ground = np.array([0.0, 0.0, -trailer_statics.hitch_height])
        lateral_offset = (
            sum(m * float(lateral @ (position - ground)) for m, position in masses) / trailer.mass
        )
        unit = _RolloverUnit(
            trailer.name,
            trailer.mass,
            height,
            half_track,
            sum(trailer_statics.load.values()),
            lateral_offset,
        )
        groups[group_index[trailer.name]].append(unit)
    for units in groups:
        stability_arm, mass = (
            sum(u.load * u.half_track for u in units) / sum(u.load for u in units),
            sum(u.mass for u in units),
        )
        stability_arm -= abs(sum(u.mass * u.left for u in units)) / mass
        factor = stability_arm * mass / sum(u.mass * u.height for u in units)
        names = [u.name or "the towing unit" for u in units]
        unit_names = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        group_label = f" of {unit_names}" + (", which roll together" if len(units) > 1 else "")
        key = (
            "static_stability" if units[0] is towing_unit else f"static_stability_{units[-1].name}"
        )
        label = f"static stability factor{group_label if car.trailers else ''}"
        yield _named_metric(key, factor, "", label, (0.9, 4.0) if units[0] is towing_unit else None)


def _simple_axle_roll_stiffness(axle: SimpleAxle) -> float:
    """Roll stiffness of an axle without hard points, N m/rad."""
    half_track = axle.record.at[1]
    return (
        axle.roll_stiffness
        if axle.is_rigid
        else 2 * half_track**2 * (axle.record.stiffness + 2 * axle.bar_rate)
    )


def _added_axle_metrics(car: CarData, statics: CarStatics) -> Named:
    """Loads and stiffnesses of more axles than front and rear."""
    for axle in car.added_axles:
        assert statics.added is not None
        name = axle.name
        yield _named_metric(
            f"load_{name}", statics.added.axle_load(axle), "N", f"load of axle {name} at rest"
        )
        roll_stiffness = math.radians(_simple_axle_roll_stiffness(axle))
        yield _named_metric(
            f"roll_stiffness_{name}", roll_stiffness, "N-m/deg", f"roll stiffness, {name}"
        )
        tyre_stiffness = math.radians(_added_axle_cornering(statics, axle).stiffness) / 1000
        yield _named_metric(
            f"cornering_tyres_{name}",
            tyre_stiffness,
            "kN/deg",
            f"cornering stiffness of the tyres of axle {name}",
        )


def _cornering_metrics(
    car: CarData, statics: CarStatics, front: _AxleMetrics, rear: _AxleMetrics
) -> Named:
    """Cornering stiffnesses of the tyres, and the steering that they ask for on rigid
    suspensions."""
    for a in (front, rear):
        label = f"cornering stiffness of both {a.name} tyres at rest"
        yield _named_metric(
            f"cornering_tyres_{a.name}", math.radians(a.corners.stiffness) / 1000, "kN/deg", label
        )
    understeer, compliance_gradient = understeer_gradients(
        statics, front.corners, combined_rear_cornering(car, statics, rear.corners)
    )
    label = "understeer gradient of the tyres alone, on rigid suspensions"
    yield _named_metric("understeer_tyres", math.degrees(understeer) * G, "deg/g", label)
    if compliance_gradient:
        label = (
            "understeer gradient of the compliance of the suspensions, without the steering column"
        )
        yield _named_metric(
            "understeer_compliance", math.degrees(compliance_gradient) * G, "deg/g", label
        )


def _trailer_metrics(car: CarData, statics: CarStatics) -> Named:
    """Masses and loads of trailers."""
    for trailer, trailer_statics in zip(car.trailers, statics.trailers, strict=True):
        name, weight = trailer.name, trailer_statics.mass * G
        towing = {
            unit.towed_by for unit in car.trailers
        }  # these carry other units, too: no fraction is usual
        usual = (
            None
            if name in towing
            else (0.02, 0.12)
            if trailer.record.hitch.kind == "ball"
            else (0.15, 0.5)
        )
        yield _named_metric(
            f"mass_{name}", trailer_statics.mass, "kg", f"mass of {name} with loads"
        )
        yield _named_metric(
            f"hitch_load_{name}",
            trailer_statics.hitch_load,
            "N",
            f"vertical load of {name} on its hitch",
        )
        label = f"hitch load over the weight of {name}"
        yield _named_metric(
            f"hitch_fraction_{name}", trailer_statics.hitch_load / weight, "", label, usual
        )
        yield _named_metric(
            f"pitch_{name}",
            math.degrees(trailer_statics.pitch),
            "deg",
            f"pitch of {name} at rest, nose down",
            (-1.5, 1.5),
        )
        for axle in trailer.axles:
            load = sum(trailer_statics.load[axle.wheel_name(side)] for side in "lr")
            yield _named_metric(
                f"load_{axle.parameter_suffix}",
                load,
                "N",
                f"load of {_axle_words(axle)} of {name} at rest",
            )
    if car.trailers:
        yield _named_metric("mass_total", statics.total_mass, "kg", "mass with all trailers")


def _axle_words(axle: SimpleAxle) -> str:
    return "the axle" if axle.name == "axle" else f"axle {axle.name}"


# ---- steering


def steer_per_rack(car: CarData) -> float:
    """Turn of the left front wheel about z per rack travel (rad/m), as drawn."""
    rotation_partial = car.front.pose(0.0).delta_rack
    assert rotation_partial is not None
    return float(rotation_partial[2])


def rack_steers_left(car: CarData) -> bool:
    """Whether the rack turns wheels to the left as it moves along its axis."""
    return steer_per_rack(car) > 0


def steering_ratio(car: CarData) -> float:
    """Steering-wheel angle over the mean angle of the front wheels, as drawn."""
    return 2 * math.pi / (car.sections.steering.rack_per_turn * abs(steer_per_rack(car)))


# ---- axles


@dataclass(frozen=True)
class _AxleMetrics:
    name: str
    x: float
    track: float
    rate: float  # N/m at the wheel
    tyre_rate: float
    damping: float  # N s/m at the wheel
    unsprung: float  # kg of one wheel
    roll_centre: float
    roll_stiffness: float  # N m/rad, springs and bar
    corners: AxleCornering


def understeer_gradient(metrics: Mapping[str, float]) -> float:
    """An estimate of the understeer gradient (deg/g): that of the tyres, and what compliance adds
    to it."""
    return metrics["understeer_tyres"] + metrics.get("understeer_compliance", 0.0)


@dataclass(frozen=True)
class AxleCornering:
    """What both wheels of an axle do in a turn: x of their contacts (m), cornering stiffness
    (N/rad), trail (m), and the slip angle that compliance takes the place of, per side force of
    both (rad/N)."""

    x: float
    stiffness: float
    trail: float
    compliance: float

    @property
    def effective(self) -> float:
        """Cornering stiffness with what compliance gives way, as a driver feels it, N/rad."""
        return self.stiffness / (1 + self.compliance * self.stiffness)


def axle_cornering(car: CarData, statics: CarStatics, axle: AxleData) -> AxleCornering:
    """How an axle corners where the car stands."""
    i = 0 if axle.name == "front" else 2
    n = len(axle.tyre_offsets)
    tyre_forces = [
        axle.tyre.on(side).forces(statics.wheel_load[i + j] / n, 0.0, 0.0)
        for j, side in enumerate(("left", "right"))
    ]
    stiffnesses = [n * abs(float(f.Kya)) for f in tyre_forces]
    axle_stiffness = sum(stiffnesses)
    trail = (
        sum(k * float(f.trail) for k, f in zip(stiffnesses, tyre_forces, strict=True))
        / axle_stiffness
        if axle_stiffness
        else 0.0
    )
    x = float(statics.contact_points[i][0] + statics.contact_points[i + 1][0]) / 2
    return AxleCornering(
        x,
        axle_stiffness,
        trail,
        _lateral_compliance_steer(axle_compliance(car, statics, axle).compliance, trail),
    )


def _added_axle_cornering(statics: CarStatics, axle: SimpleAxle) -> AxleCornering:
    """How one more axle corners where the car stands. Castors yield until their centring springs
    hold them: those without springs have no stiffness."""
    assert statics.added is not None
    n = len(axle.tyre_offsets)
    loads = [
        (statics.added.load[axle.wheel_name(side)] / n, word)
        for side, word in (("l", "left"), ("r", "right"))
    ]
    tyre_forces = [axle.tyre.on(word).forces(load, 0.0, 0.0) for load, word in loads]
    axle_stiffness, trail = (
        sum(n * abs(float(f.Kya)) for f in tyre_forces),
        sum(float(f.trail) for f in tyre_forces) / 2,
    )
    if (steering := axle.record.steering) is not None:
        k = steering.stiffness
        axle_stiffness = (
            axle_stiffness * k / (k + axle_stiffness * ((steering.trail or 0.0) + trail))
        )
    return AxleCornering(axle.record.at[0], axle_stiffness, trail, 0.0)


def combined_rear_cornering(
    car: CarData, statics: CarStatics, rear: AxleCornering
) -> AxleCornering:
    """The rear axle with all added axles as one, where their lateral forces act."""
    if not car.added_axles:
        return rear
    axles = [rear, *(_added_axle_cornering(statics, axle) for axle in car.added_axles)]
    stiffness = sum(p.stiffness for p in axles)
    if not stiffness:
        return rear
    x, trail = (
        sum(p.stiffness * v for p, v in zip(axles, values, strict=True)) / stiffness
        for values in ([p.x for p in axles], [p.trail for p in axles])
    )
    yields = 1 / sum(p.effective for p in axles if p.stiffness) - 1 / stiffness
    return AxleCornering(x, stiffness, trail, yields)


def understeer_gradients(
    statics: CarStatics, front: AxleCornering, rear: AxleCornering
) -> tuple[float, float]:
    """Understeer gradients (rad s^2/m) of the tyres, and what compliance adds to it; the first is
    no number if the tyres of an axle have no cornering stiffness."""
    base, b = front.x - rear.x, float(statics.mass_centre[0]) - rear.x
    lever = base - front.trail + rear.trail  # forces act behind the contact centres
    per_front, per_rear = b + rear.trail, base - b - front.trail
    tyres = math.nan
    if front.stiffness and rear.stiffness:
        tyres = statics.mass / lever * (per_front / front.stiffness - per_rear / rear.stiffness)
    return tyres, statics.mass / lever * (per_front * front.compliance - per_rear * rear.compliance)


def _axle_metrics(car: CarData, axle: AxleData, statics: CarStatics) -> _AxleMetrics:
    i = 0 if axle.name == "front" else 2
    compliance, corners = axle_compliance(car, statics, axle), axle_cornering(car, statics, axle)
    left_wheel, right_wheel = (_wheel_metrics(axle, statics, side) for side in (1, -1))
    heave, roll = spring_rates(axle, statics)
    track = float(statics.contact_points[i][1] - statics.contact_points[i + 1][1])
    bar = 0.0 if axle.record.anti_roll_bar is None else axle.record.anti_roll_bar.stiffness or 0.0
    bar += beam_stiffness(axle, statics, track)
    rate = heave + compliance.rate
    if rate <= 0:
        end_names = " and ".join(f"'{p}'" for p in axle.spring)
        raise ModelError(
            f"{axle.name}.suspension: the wheel rate at rest is {rate / 1000:.3g} N/mm: "
            f"nothing holds the wheel. Check "
            f"the hard points {end_names} of the spring, and those of the arms.",
            car.sections.name,
        )
    return _AxleMetrics(
        axle.name,
        corners.x,
        track,
        rate,
        (left_wheel.tyre_rate + right_wheel.tyre_rate) / 2,
        (left_wheel.damping + right_wheel.damping) / 2,
        left_wheel.unsprung,
        roll_centre(axle, statics),
        track**2 / 2 * (roll + compliance.rate) + bar,
        corners,
    )


class WheelRates(NamedTuple):
    """Rates at a wheel while both wheels rise, and while one rises and the other falls, N/m."""

    heave: float
    roll: float


@dataclass(frozen=True)
class _WheelMetrics:
    """One wheel of an axle where the car stands."""

    tyre_rate: float
    damping: float
    unsprung: float


def _wheel_metrics(axle: AxleData, statics: CarStatics, side: int) -> _WheelMetrics:
    h, part = 1e-4, statics.body_attitude(axle.name)
    i = (0 if axle.name == "front" else 2) + (side < 0)
    travel, other_travel = statics.travel[i], statics.travel[i + side]
    current, *shifted = (
        corner_state(axle, side, travel, part.height + d, part.up, other_travel)
        for d in (0.0, -h, h)
    )
    ratio = _damper_ratio(axle, travel)
    tyre_rate = (shifted[0].load - shifted[1].load) / (2 * h)
    return _WheelMetrics(
        tyre_rate,
        _damping_coefficient(axle, ratio) * ratio**2,
        sum(part.mass for part in current.masses),
    )


def spring_rates(axle: AxleData, statics: CarStatics) -> WheelRates:
    """Rates of the springs and stops at a wheel where the car stands. Those of an independent
    suspension are equal."""
    h, part, i = 1e-4, statics.body_attitude(axle.name), 0 if axle.name == "front" else 2
    z = statics.travel[i : i + 2]
    free_lengths = [
        statics.free_length[axle.name] + side * axle.record.spring.perch for side in (1, -1)
    ]

    def spring_work(a: float, b: float) -> tuple[float, float]:
        """Virtual work of both springs per travel of the left wheel and of the right one."""
        first = corner_state(axle, 1, z[0] + a, part.height, part.up, z[1] + b)
        second = corner_state(axle, -1, z[1] + b, part.height, part.up, z[0] + a)
        forces = [
            spring_and_stop_force(axle, f, c.length, c.drawn)
            for f, c in zip(free_lengths, (first, second), strict=True)
        ]
        return (
            forces[0] * first.spring_motion_ratios[0] + forces[1] * second.spring_motion_ratios[1],
            forces[0] * first.spring_motion_ratios[1] + forces[1] * second.spring_motion_ratios[0],
        )

    (a, b), (c, d) = spring_work(h, h), spring_work(-h, -h)
    (p, q), (r, s) = spring_work(h, -h), spring_work(-h, h)
    return WheelRates(-((a + b) - (c + d)) / (4 * h), -((p - q) - (r - s)) / (4 * h))


def beam_stiffness(axle: AxleData, statics: CarStatics, track: float) -> float:
    """Roll stiffness (N m/rad) of the cross beam of a twist beam where the car stands, at a track
    (m)."""
    k = axle.record.twist_stiffness
    if not k:
        return 0.0
    left_state, right_state = (corner_at_rest(axle, statics, side) for side in (1, -1))
    return k * ((left_state.twist[1] - right_state.twist[1]) * track / 2) ** 2


def _lateral_compliance_steer(compliance: ComplianceKeys | None, trail: float) -> float:
    """By how much less the wheels of an axle steer into a bend per side force of both, rad/N; the
    aligning moment of their tyres is that force times the pneumatic trail, the other way round."""
    return (
        0.0
        if compliance is None
        else (compliance.steer_by_aligning_moment * trail - compliance.steer_by_lateral_force) / 2
    )


def _damping_coefficient(axle: AxleData, ratio: float) -> float:
    """Mean of both directions, N s/m along the damper, while the wheel moves with WHEEL_SPEED."""
    damper = axle.record.damper
    if damper.table is not None:
        v = WHEEL_SPEED * max(abs(ratio), 1e-6)
        return (interpolate_table(damper.table, v) - interpolate_table(damper.table, -v)) / (2 * v)
    if damper.coefficient is not None:
        return damper.coefficient
    return ((damper.compression or 0.0) + (damper.rebound or 0.0)) / 2


def _damper_ratio(axle: AxleData, travel: float) -> float:
    pose = axle.pose(travel)
    a, b = pose.point(axle.damper[0]), pose.point(axle.damper[1])
    line = a.position - b.position
    return float(line @ (a.d - b.d) / np.linalg.norm(line))


def _rear_load_position(car: CarData, statics: CarStatics, rear: _AxleMetrics) -> float:
    """x at which the loads of all axles behind the front axle act as one, m."""
    if statics.added is None:
        return rear.x
    loads = [
        sum(statics.wheel_load[2:]),
        *(statics.added.axle_load(axle) for axle in car.added_axles),
    ]
    positions = [rear.x, *(axle.record.at[0] for axle in car.added_axles)]
    return sum(x * load for x, load in zip(positions, loads, strict=True)) / sum(loads)


def _roll_axis(
    front: _AxleMetrics, rear: _AxleMetrics, statics: CarStatics, car: CarData
) -> tuple[float, float]:
    """Height of the sprung mass above the roll axis, and the fraction of it on the front axle."""
    cg, rear_x = car.sprung.cg, _rear_load_position(car, statics, rear)
    share = (float(cg[0]) - rear_x) / (front.x - rear_x)
    axis = share * front.roll_centre + (1 - share) * rear.roll_centre
    return float(statics.height + cg[2]) - axis, share
