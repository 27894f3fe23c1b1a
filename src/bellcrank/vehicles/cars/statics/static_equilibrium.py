"""How a car stands: height, attitude, travels and wheel loads, and the springs that hold it there.

Statics by virtual work, exact for rigid links: at every corner the tyre's load, the moment with
which it resists inclination, the weights and the spring do no work over the travel; all loads carry
all weights. Poses of the right side are those of the left, mirrored. Where one linkage carries both
wheels (solid axle, twist beam), what belongs to a wheel moves with the travel of the other wheel
too, and does work over it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, ModelWarning
from bellcrank.linkage.axle_sides import (
    AxleInputRates,
    axle_input_rates,
    beam_twist_angle,
    name_on_side,
)
from bellcrank.linkage.pose import Pose, cross_last_axis
from bellcrank.vehicles.cars.design.axles import AxleData, bar_roll_arm
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY, Array, CarData
from bellcrank.vehicles.cars.design.frame_data import FrameData
from bellcrank.vehicles.cars.design.trailer_data import SimpleAxle
from bellcrank.vehicles.cars.keys.car_keys import AirSpringKeys, SpringKeys
from bellcrank.vehicles.cars.statics.body_balance import (
    Attitude,
    BalanceState,
    BarEndHeight,
    CornerMass,
    CornerState,
    SprungPartLoads,
    combine_frame_parts,
    rear_attitude,
)
from bellcrank.vehicles.cars.statics.body_balance import (
    vertical_in_body_axes as vertical_in_body_axes,
)
from bellcrank.vehicles.cars.statics.trailer_statics import (
    AddedAxleEquilibrium,
    AddedAxleStatics,
    HitchLoad,
    TrailerEquilibrium,
    TrailerStatics,
)
from bellcrank.vehicles.force_laws import (
    ATMOSPHERE,
    SMALLEST,
    bump_stop_force,
    polytropic_air_force,
    wheel_static_load,
)
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

RESIDUAL_TOLERANCE = 1e-6  # N and N m that may be left open
MAX_STEP = 0.03  # m and rad, of a step
MAX_ITERATIONS = 15  # of Newton's method


@dataclass(frozen=True, eq=False)
class CarStatics:
    """A car at rest on level ground. Corners in the order fl, fr, rl, rr; pitch positive with the
    nose down, roll with the left side up (ISO 8855); `height`: of the origin of the car's axes
    above the ground."""

    height: float
    pitch: float
    roll: float
    travel: tuple[float, ...]
    wheel_load: tuple[float, ...]
    free_length: dict[str, float]  # of the springs, by axle
    bar_stiffness: dict[str, float]  # stiffness of the anti-roll bars between their ends, N/m
    mass_centre: Array  # of all masses
    contact_points: Array  # points, one row for each corner
    mass: float
    as_drawn: CarStatics | None = (
        None  # the same car as drawn, which does not depend on its springs
    )
    trailers: tuple[TrailerStatics, ...] = ()
    added: AddedAxleStatics | None = None  # axles next to front and rear
    twist: float = 0.0  # of a flexible frame: roll of the rear part against the front part
    rear: Attitude | None = (
        None  # of the rear part of a flexible frame; height, pitch and roll are of the front part
    )

    def body_attitude(self, axle: str) -> Attitude:
        """How the part of the body stands that carries "front" or "rear"."""
        front = Attitude(self.height, self.pitch, self.roll)
        return front if axle == "front" or self.rear is None else self.rear

    @property
    def wheel_loads(self) -> dict[str, float]:
        """Load of each wheel of the car by name, N."""
        return dict(zip(CORNERS, self.wheel_load, strict=True)) | (
            self.added.load if self.added is not None else {}
        )

    @property
    def rear_fraction(self) -> float:
        """Load of the rear axle over that of all axles behind the front axle."""
        rear = sum(self.wheel_load[2:])
        return rear / (rear + (0.0 if self.added is None else sum(self.added.load.values())))

    @property
    def total_mass(self) -> float:
        """Mass of the car and of its trailers, kg."""
        return self.mass + sum(t.mass for t in self.trailers)


def solve_static_equilibrium(car: CarData) -> CarStatics:
    """Solves for the car at rest."""
    axles = (car.front, car.rear)
    bars = {a.name: bar_stiffness(a) for a in axles}
    free: dict[str, float] = {}
    adjusted = [a for a in axles if a.record.spring.free_length is None]
    unadjusted = [a for a in axles if a not in adjusted]
    drawn = solve_drawn_equilibrium(car)
    level_loads = StaticsResidual(car, bars, free, symmetric=True)
    free |= {
        a.name: a.record.spring.free_length
        for a in unadjusted
        if a.record.spring.free_length is not None
    }
    travels = {a.name: a.record.spring.travel for a in axles}
    towed, added_axles, n = (
        TrailerEquilibrium(car.trailers),
        AddedAxleEquilibrium(car.added_axles),
        2 + len(unadjusted),
    )
    level_hitch_loads = towed.level_hitch_loads()

    def symmetric_residual(x: Array) -> Array:
        axle_travels = {**travels, **{a.name: float(z) for a, z in zip(unadjusted, x[2:])}}
        loads, added_load = added_axles.level_axle_loads(x[0], x[1], x[n:])
        balance = level_loads.load_balance(
            x[0],
            x[1],
            0.0,
            [axle_travels[axle] for axle, _ in CORNERS.values()],
            added_load,
            *level_hitch_loads,
        )
        spring_work = [balance.virtual_work[2 * axles.index(a)] for a in unadjusted]
        return np.array(
            [
                balance.vertical_residual,
                balance.moment[1],
                *spring_work,
                *added_axles.load_errors(loads, sum(balance.load[2:])),
            ]
        )

    first = [
        drawn.height,
        drawn.pitch,
        *(0.0 for _ in unadjusted),
        *added_axles.initial_travels(drawn.height, drawn.pitch),
    ]
    x = solve_equilibrium(car, symmetric_residual, first, _no_equilibrium_message(car, unadjusted))
    travels |= {a.name: float(z) for a, z in zip(unadjusted, x[2:])}
    _, added_load = added_axles.level_axle_loads(x[0], x[1], x[n:])
    level_balance = level_loads.load_balance(
        x[0],
        x[1],
        0.0,
        [travels[axle] for axle, _ in CORNERS.values()],
        added_load,
        *level_hitch_loads,
    )
    for a in adjusted:
        i, z = 2 * axles.index(a), travels[a.name]
        free[a.name] = sum(free_lengths(a, (z, z), level_balance.virtual_work[i : i + 2])) / 2
    full_loads = StaticsResidual(car, bars, free, symmetric=False)
    start = [
        x[0],
        x[1],
        0.0,
        *(travels[axle] for axle, _ in CORNERS.values()),
        *added_axles.level_coordinates(x[n:]),
    ]
    trailer_offset, frame = len(start), car.frame

    def balance_of_all_units(
        y: Array,
    ) -> tuple[BalanceState, list[float], tuple[TrailerStatics, ...], AddedAxleStatics]:
        front = Attitude(y[0], y[1], y[2])
        twist = 0.0 if frame is None else y[-1]
        rear = front if frame is None else rear_attitude(frame, front, twist)
        added_residual, front_load, added_statics = added_axles.axle_balance(
            front, y[7:trailer_offset], lambda axle: not _is_on_rear_part(frame, axle)
        )
        trailer_residual, hitch_loads, trailer_statics = towed.trailer_balance(
            *rear, y[trailer_offset:]
        )
        if frame is not None:
            rear_residual, rear_load, rear_statics = added_axles.axle_balance(
                rear, y[7:trailer_offset], lambda axle: _is_on_rear_part(frame, axle)
            )
            added_residual, hitch_loads, added_statics = (
                added_residual + rear_residual,
                [rear_load, *hitch_loads],
                added_statics.merged_with(rear_statics),
            )
        return (
            full_loads.load_balance(*front, y[3:7], front_load, twist=twist, on_rear=hitch_loads),
            added_residual + trailer_residual,
            trailer_statics,
            added_statics,
        )

    def full_residual(y: Array) -> Array:
        balance, residuals, *_ = balance_of_all_units(y)
        return np.array(
            [
                balance.vertical_residual,
                *balance.moment[:2],
                *balance.virtual_work,
                *residuals,
                *balance.torsion,
            ]
        )

    untwisted = [] if frame is None else [0.0]
    y = solve_equilibrium(
        car,
        full_residual,
        [*start, *towed.initial_unknowns(x[0], x[1]), *untwisted],
        _no_equilibrium_message(car, unadjusted),
    )
    balance, _, trailer_statics, added_statics = balance_of_all_units(y)
    if min(balance.load) <= 0:
        corner = list(CORNERS)[int(np.argmin(balance.load))]
        raise ModelError(
            f"the car does not stand on four wheels: the load of {corner} is not positive",
            car.sections.name,
        )
    loads = dict(added_statics.load)
    for unit in trailer_statics:
        loads |= unit.load
    lifted = [wheel for wheel, load in loads.items() if load <= 0]
    if lifted:
        raise ModelError(
            f"the load of {lifted[0]} is not positive: it does not stand", car.sections.name
        )
    statics = replace(
        _statics_from_unknowns(y[:7], balance, added_axles, free, bars, drawn),
        trailers=trailer_statics,
    )
    if frame is not None:
        front = statics.body_attitude("front")
        statics = replace(
            statics, twist=float(y[-1]), rear=rear_attitude(frame, front, float(y[-1]))
        )
    return replace(statics, added=added_statics) if car.added_axles else statics


def _is_on_rear_part(frame: FrameData | None, axle: SimpleAxle) -> bool:
    return frame is not None and frame.body_part_at(axle.record.at[0]) == "rear"


def solve_drawn_equilibrium(car: CarData) -> CarStatics:
    """The car at rest with its wheels where they are drawn, level from left to right, whatever its
    springs and bars."""
    level_loads = StaticsResidual(car, {}, {}, symmetric=True)
    travels = [car.axle(axle).record.spring.travel for axle, _ in CORNERS.values()]
    added_axles, height = AddedAxleEquilibrium(car.added_axles), _initial_height(car)

    def level_balance(x: Array) -> tuple[BalanceState, list[float]]:
        loads, added_load = added_axles.level_axle_loads(x[0], x[1], x[2:])
        balance = level_loads.load_balance(x[0], x[1], 0.0, travels, added_load)
        return balance, added_axles.load_errors(loads, sum(balance.load[2:]))

    def level_residual(x: Array) -> Array:
        balance, missing = level_balance(x)
        return np.array([balance.vertical_residual, balance.moment[1], *missing])

    x = solve_equilibrium(
        car,
        level_residual,
        [height, 0.0, *added_axles.initial_travels(height, 0.0)],
        _no_equilibrium_message(car, ()),
    )
    statics = _statics_from_unknowns(
        np.array([*x[:2], 0.0, *travels]), level_balance(x)[0], added_axles, {}, {}
    )
    attitude = Attitude(x[0], x[1], 0.0)
    return (
        replace(
            statics,
            added=added_axles.axle_balance(attitude, added_axles.level_coordinates(x[2:]))[2],
        )
        if car.added_axles
        else statics
    )


def _statics_from_unknowns(
    y: Array,
    balance: BalanceState,
    added_axles: AddedAxleEquilibrium,
    free: dict[str, float],
    bars: dict[str, float],
    drawn: CarStatics | None = None,
) -> CarStatics:
    height, pitch, roll, *travel = map(float, y)
    mass, centre = added_axles.total_mass_and_centre(balance.mass, balance.centre)
    return CarStatics(
        height,
        pitch,
        roll,
        tuple(travel),
        balance.load,
        free,
        bars,
        centre,
        balance.contact,
        mass,
        drawn,
    )


def _no_equilibrium_message(car: CarData, unadjusted: Sequence[AxleData]) -> str:
    """What is said of a car whose springs do not hold it, with those that are given by their free
    lengths."""
    message = "the springs do not hold the car: no position at rest was found"
    for axle in unadjusted:
        free_length, drawn = axle.record.spring.free_length or 0.0, drawn_length(axle, axle.spring)
        force = spring_and_stop_force(axle, free_length, drawn, drawn)
        message += (
            f"; with free_length {1000 * free_length:.4g} mm each {axle.name} spring pushes "
            f"{force:.4g} N "
            f"where the car is drawn, {1000 * drawn:.4g} mm long"
        )
    message += f"; the body with its loads weighs {car.sprung.mass * GRAVITY:.5g} N"
    for axle in (car.front, car.rear):
        unusual_notes = [note for note in axle.tyre.notes if "usual is" in note]
        message += f"; {axle.name}.tyre: {unusual_notes[0]}" if unusual_notes else ""
    for trailer in car.trailers:
        x, _, z = trailer.sprung.cg
        wheels = ", ".join(
            f"{axle.record.at[0]:.4g} m and {axle.record.at[2]:.4g} m" for axle in trailer.axles
        )
        message += (
            f"; {trailer.name} weighs {trailer.mass * GRAVITY:.5g} N, its mass centre is at "
            f"x = {x:.4g} m and "
            f"z = {z:.4g} m from its hitch, wheel centres at {wheels}"
        )
    return message


class StaticsResidual:
    """Loads and weights of a car at a height, an attitude and travels; springs and bars of axles in
    `free`."""

    def __init__(
        self, car: CarData, bars: dict[str, float], free: dict[str, float], symmetric: bool
    ) -> None:
        self.car, self.bars, self.free = car, bars, free
        self.flat = np.array([1.0, 0.0 if symmetric else 1.0, 1.0])
        self._corners: dict[tuple[Any, ...], CornerState] = {}  # a search moves one wheel at a time

    def load_balance(
        self,
        height: float,
        pitch: float,
        roll: float,
        travels: Any,
        *pulls: HitchLoad,
        twist: float = 0.0,
        on_rear: Sequence[HitchLoad] = (),
    ) -> BalanceState:
        """Of a body, or the front part of a flexible frame with a twist (rad); `on_rear`: pulls in
        axes of what carries the rear axle."""
        front, frame = Attitude(height, pitch, roll), self.car.frame
        rear = front if frame is None else rear_attitude(frame, front, twist)
        sprung, steering = self.car.sprung, self.car.sections.steering
        masses = [(sprung.mass, sprung.cg * self.flat), (steering.rack_mass, rack_centre(self.car))]
        if frame is not None:
            masses[0] = (frame.front.mass, frame.front.cg * self.flat)
        corners = []
        self.car.front.solve_poses(map(float, travels[:2]))
        self.car.rear.solve_poses(map(float, travels[2:]))
        for i, ((axle, side), travel) in enumerate(zip(CORNERS.values(), travels, strict=True)):
            opposite = travels[i + side] if self.car.axle(axle).carries_both_wheels else None
            attitude = front if axle == "front" else rear
            key = (axle, side, travel, opposite, attitude)
            if key not in self._corners:
                self._corners[key] = corner_state(
                    self.car.axle(axle), side, travel, attitude.height, attitude.up, opposite
                )
            corners.append(self._corners[key])
        virtual_work = []
        for i, ((axle, side), c) in enumerate(zip(CORNERS.values(), corners, strict=True)):
            a, opposite, vertical = (
                self.car.axle(axle),
                corners[i + side],
                (front if axle == "front" else rear).up,
            )
            work = self._corner_virtual_work(a, side, c, 0, vertical) + (
                self._corner_virtual_work(a, -side, opposite, 1, vertical)
                if a.carries_both_wheels
                else 0.0
            )
            if axle in self.free:
                work += bar_and_beam_work(a, self.bars[axle], c, opposite)
            virtual_work.append(work)
        if frame is None:
            return SprungPartLoads(masses, corners, [*pulls, *on_rear], front.up).balance_state(
                virtual_work
            )
        rear_mass = [(frame.rear.mass, frame.rear.cg * self.flat)]
        first = SprungPartLoads(masses, corners[:2], pulls, front.up).balance_state(virtual_work)
        second = SprungPartLoads(rear_mass, corners[2:], on_rear, rear.up).balance_state(())
        return combine_frame_parts(frame, first, second, twist, (front.up, rear.up))

    def _corner_virtual_work(
        self, axle: AxleData, side: int, c: CornerState, wheel: int, vertical: Array
    ) -> float:
        """Virtual work of load, weights and spring of a corner, per travel of its wheel (0) or of
        the other one (1)."""
        contact_partial, rotation_partial = (
            (c.contact_partial, c.rotation_partial) if wheel == 0 else (c.slope_other, c.turn_other)
        )
        work = c.load * float(vertical @ contact_partial) - sum(
            p.mass * GRAVITY * float(vertical @ p.by[wheel]) for p in c.masses
        )
        work += float(c.moment @ rotation_partial)
        if axle.name in self.free:
            free_length = self.free[axle.name] + side * axle.record.spring.perch
            work += (
                spring_and_stop_force(axle, free_length, c.length, c.drawn)
                * c.spring_motion_ratios[wheel]
            )
        return work


def bar_and_beam_work(axle: AxleData, bar: float, c: CornerState, other: CornerState) -> float:
    """Virtual work of the anti-roll bar and the cross beam per travel of the wheel of `c`; `bar`:
    stiffness, N/m."""
    work = -bar * (c.end.height - other.end.height) * (c.end.by[0] - other.end.by[1])
    twist, twist_partial = c.twist
    return work - (axle.record.twist_stiffness or 0.0) * twist * twist_partial


class _CornerKinematics:
    """The linkage of a corner in the axes of the car: places and their derivatives by the travels
    of both wheels."""

    def __init__(
        self, axle: AxleData, side: int, travel: float, other_travel: float | None
    ) -> None:
        self.axle, self.side, self.chain = axle, side, axle.linkage.chain
        self.at, self.both = np.array(axle.record.at), axle.carries_both_wheels
        if axle.carries_both_wheels:
            opposite = travel if other_travel is None else float(other_travel)
            self.pose = axle.pose(*((travel, opposite) if side > 0 else (opposite, travel)))
            self.rates: tuple[AxleInputRates, ...] = axle_input_rates(self.pose, side)
            self.mirror = np.ones(3)
        else:
            self.pose, self.mirror = axle.pose(travel), np.array([1.0, float(side), 1.0])

    def name_on_side(self, left_name: str) -> str:
        """What is called `left_name` on the left side."""
        return name_on_side(left_name, self.side) if self.both else left_name

    def body(self, name: str) -> Pose:
        return self.pose if name == self.chain.carrier else self.pose.link[name]

    def position_partials(self, point: Any) -> tuple[Array, Array]:
        """Derivatives of a place, by the travels of this wheel and of the other one."""
        if self.both:
            return self.rates[0].per_wheel_travel(point.d, point.d_rack), self.rates[
                1
            ].per_wheel_travel(point.d, point.d_rack)
        return point.d * self.mirror, np.zeros(3)

    def rotation_partials(self, body: Pose) -> tuple[Array, Array]:
        """Derivatives of the rotation of a body."""
        if self.both:
            first, second = (r.per_wheel_travel(body.delta, body.delta_rack) for r in self.rates)
            return first, second
        return (body.delta * self.mirror * -1 if self.side < 0 else body.delta), np.zeros(3)

    def position(self, point: Any) -> Array:
        return np.asarray((point.position + self.at) * self.mirror)

    def spin_axis(self, body: Pose) -> Array:
        """The axis of spin of the wheel, to the left."""
        drawn = spin_axis(self.axle.record.toe, self.axle.record.camber)
        if self.both:
            return np.asarray(body.rotation @ (drawn * [self.side, 1.0, self.side]))
        return np.asarray((body.rotation @ drawn) * self.mirror * self.side)

    def twist(self) -> tuple[float, float]:
        """Twist of the cross beam, left arm up, and its derivative by the travel of this wheel."""
        if self.chain.kind != "twist_beam":
            return 0.0, 0.0
        relative_rotation = (
            self.rotation_partials(self.pose)[0]
            - self.rotation_partials(self.pose.link["right_arm"])[0]
        )
        return beam_twist_angle(self.pose), float(relative_rotation @ self.pose.rotation[:, 1])


def corner_state(
    axle: AxleData, side: int, travel: float, height: float, up: Array, other: float | None = None
) -> CornerState:
    """Numbers of one corner; `up` is the normal of the road in axes of the car; `other`: travel of
    the other wheel of a linkage of both, default: the same."""
    record, linkage = axle.record, axle.linkage
    kinematics = _CornerKinematics(axle, side, float(travel), other)
    pose, masses = kinematics.pose, []
    for part, name, fraction in axle.unsprung_parts(side):
        origin = np.array(linkage.origins[name])
        point = kinematics.body(name).carried(
            (origin if part.cg is None else np.array(part.cg)) - origin
        )
        masses.append(
            CornerMass(
                fraction * part.mass,
                kinematics.position(point),
                kinematics.position_partials(point),
            )
        )
    hub = pose.point(kinematics.name_on_side(linkage.chain.hub))
    body = kinematics.body(linkage.chain.points[kinematics.name_on_side(linkage.chain.hub)].body)
    centre, partials, rots = (
        kinematics.position(hub),
        kinematics.position_partials(hub),
        kinematics.rotation_partials(body),
    )
    masses.append(CornerMass(record.wheel.mass, centre, partials))
    axis = kinematics.spin_axis(body)
    ground = wheel_static_load(axle, side, centre, axis, up, height)
    arm = ground.contact - centre
    a, b = (pose.point(kinematics.name_on_side(p)) for p in axle.spring)
    line = (a.position - b.position) * kinematics.mirror
    length = float(np.linalg.norm(line))
    by_a, by_b = kinematics.position_partials(a), kinematics.position_partials(b)
    ratios = (
        float(line @ (by_a[0] - by_b[0])) / length,
        float(line @ (by_a[1] - by_b[1])) / length,
    )
    end = pose.point(
        kinematics.name_on_side(
            linkage.chain.hub if record.anti_roll_bar is None else record.anti_roll_bar.at
        )
    )
    rises = kinematics.position_partials(end)
    (partial, partial_other), (rot, rot_other) = partials, rots
    return CornerState(
        masses,
        ground.load,
        ground.contact,
        partial + cross_last_axis(rot, arm),
        rot,
        partial_other + cross_last_axis(rot_other, arm),
        rot_other,
        ground.moment,
        length,
        drawn_length(axle, axle.spring),
        ratios,
        BarEndHeight(float(end.position[2]), (float(rises[0][2]), float(rises[1][2]))),
        centre,
        axis,
        kinematics.twist(),
    )


def corner_at_rest(axle: AxleData, statics: CarStatics, side: int) -> CornerState:
    """The left (1) or right (-1) corner of an axle where the car stands."""
    i = (0 if axle.name == "front" else 2) + (side < 0)
    travel, other_travel, attitude = (
        statics.travel[i],
        statics.travel[i + side],
        statics.body_attitude(axle.name),
    )
    return corner_state(axle, side, travel, attitude.height, attitude.up, other_travel)


def roll_centre(axle: AxleData, statics: CarStatics) -> float:
    """Height (m) of the roll centre, force based: the mean of both wheels, which stand at their own
    travels; of an axle whose wheels move together, the mean lateral movement of the contacts over
    their roll angle."""
    corners = [corner_at_rest(axle, statics, side) for side in (1, -1)]
    if axle.carries_both_wheels:
        contact_partials = [
            side * (c.contact_partial - c.slope_other)
            for side, c in zip((1, -1), corners, strict=True)
        ]
        roll = (contact_partials[0][2] - contact_partials[1][2]) / (
            corners[0].contact[1] - corners[1].contact[1]
        )
        return float((contact_partials[0][1] + contact_partials[1][1]) / (2 * roll))
    return float(
        np.mean([c.contact[1] * c.contact_partial[1] / c.contact_partial[2] for c in corners])
    )


def pitched_road_axes(pitch: float) -> Array:
    """Rows: ahead, left and up of the road in the axes of a car that does not roll."""
    s, c = np.sin(pitch), np.cos(pitch)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def spin_axis(toe: float, camber: float) -> Array:
    """The axis of a left wheel as built, to the left."""
    return np.array([np.sin(toe) * np.cos(camber), np.cos(toe) * np.cos(camber), -np.sin(camber)])


def drawn_length(axle: AxleData, end_names: tuple[str, str]) -> float:
    a, b = (np.array(axle.linkage.points[p]) for p in end_names)
    return float(np.linalg.norm(a - b))


def spring_and_stop_force(axle: AxleData, free_length: float, length: float, drawn: float) -> float:
    """The push of spring and stops at a length."""
    record = axle.record
    force = spring_force(record.spring, free_length, length, drawn)
    for stop_keys, sign in ((record.bump_stop, 1), (record.rebound_stop, -1)):
        if stop_keys is not None:
            force += sign * float(
                bump_stop_force(
                    ARRAYS,
                    stop_keys.gap,
                    stop_keys.stiffness,
                    stop_keys.cubic,
                    sign * (drawn - length),
                )
            )
    return force


def static_spring_state(axle: AxleData, statics: CarStatics) -> tuple[float, float]:
    """Length (m) and force (N) of the springs of an axle whose two wheels stand alike."""
    spring, i = axle.record.spring, 0 if axle.name == "front" else 2
    travel = spring.travel if spring.free_length is None else sum(statics.travel[i : i + 2]) / 2
    pose = axle.pose(travel)
    a, b = (pose.point(p).position for p in axle.spring)
    length = float(np.linalg.norm(a - b))
    return length, spring_force(
        spring, statics.free_length[axle.name], length, drawn_length(axle, axle.spring)
    )


def spring_force(spring: SpringKeys, free_length: float, length: float, drawn: float) -> float:
    """Force of a spring at a length; a table continues with its end slopes, as it does in models.
    The free length of an air spring is the one at which its air would have the pressure of the
    atmosphere."""
    if spring.air is not None:
        ratio = air_volume(spring.air, free_length, drawn) / air_volume(spring.air, length, drawn)
        return float(polytropic_air_force(0.0, spring.air.area, spring.air.exponent, ratio))
    if spring.stiffness is not None:
        return spring.stiffness * (free_length - length)
    assert spring.table is not None
    return interpolate_table(spring.table, free_length - length)


def air_volume(air: AirSpringKeys, length: float, drawn: float) -> float:
    """Volume of an air spring at a length, m3."""
    return max(air.volume + air.area * (length - drawn), SMALLEST * air.volume)


def interpolate_table(points: Sequence[tuple[float, float]], x: float) -> float:
    """The value of a table at x, linear between points, with its end slopes outside of them."""
    i = next((i for i, (a, _) in enumerate(points[1:-1], 1) if x < a), len(points) - 1)
    (x0, y0), (x1, y1) = points[i - 1], points[i]
    return y0 + (y1 - y0) / (x1 - x0) * (x - x0)


def free_lengths(
    axle: AxleData, travels: Sequence[float], missing_work: Sequence[float]
) -> tuple[float, float]:
    """Free lengths with which the springs, left and right, do the work that is left at travels of
    their wheels."""
    vertical = np.array([0.0, 0.0, 1.0])
    corners = [
        corner_state(axle, side, z, 0.0, vertical, other_travel)
        for side, z, other_travel in zip((1, -1), travels, travels[::-1], strict=True)
    ]
    (a, b), (c, d) = corners[0].spring_motion_ratios, corners[1].spring_motion_ratios
    if abs(a * c - b * d) < 1e-12:
        raise ModelError(
            f"{axle.name}.spring does not feel the wheel: its length does not change with "
            f"the travel",
            "car",
        )
    forces = np.linalg.solve([[a, d], [b, c]], [-missing_work[0], -missing_work[1]])
    lengths = []
    for state, force in zip(corners, forces, strict=True):
        net_force = float(force) - spring_and_stop_force(
            axle, state.length, state.length, state.drawn
        )  # less that of the stops
        lengths.append(_free_length(axle.record.spring, net_force, state.length, state.drawn))
    return lengths[0], lengths[1]


def _free_length(spring: SpringKeys, force: float, length: float, drawn: float) -> float:
    """Free length of a spring that pushes with a force at a length."""
    if spring.air is not None:
        air = spring.air
        if force <= -ATMOSPHERE * air.area:
            raise ModelError(
                f"an air spring of {air.area:g} m2 cannot pull with {-force:.4g} N", "car"
            )
        ratio = (force / (ATMOSPHERE * air.area) + 1) ** (1 / air.exponent)
        return drawn + (air_volume(air, length, drawn) * ratio - air.volume) / air.area
    if spring.stiffness is not None:
        return length + force / spring.stiffness
    assert spring.table is not None
    return length + interpolate_table([(y, x) for x, y in spring.table], force)


def bar_stiffness(axle: AxleData) -> float:
    """Stiffness of the anti-roll bar between its ends (N/m), from its moment over roll at the
    wheels."""
    bar = axle.record.anti_roll_bar
    if bar is None or not bar.stiffness:
        return 0.0
    arm = bar_roll_arm(axle.linkage, axle.record.at[1], bar.at)
    if abs(arm) < 1e-3:
        raise ModelError(
            f"{axle.name}.anti_roll_bar: its end '{bar.at}' does not move with the wheel", "car"
        )
    return bar.stiffness / arm**2


def rack_centre(car: CarData) -> Array:
    """Where the rack is: in the middle of the car, at the inner ends of the tie rods."""
    chain = car.front.linkage.chain
    end_points = [np.array(p.at) for p in chain.points.values() if p.body == "rack"]
    return (
        sum(end_points, np.zeros(3)) / max(len(end_points), 1) + np.array(car.front.record.at)
    ) * [1.0, 0.0, 1.0]


def _initial_height(car: CarData) -> float:
    """A height at which all tyres carry something."""
    heights = [
        a.tyre.free_radius(ARRAYS, 0.0)
        - 0.02
        - a.record.at[2]
        - a.pose(a.record.spring.travel).point(a.linkage.chain.hub).position[2]
        for a in (car.front, car.rear)
    ]
    return float(min(heights))


def solve_equilibrium(car: CarData, residual: Any, start: Sequence[float], failing: str) -> Array:
    """Where the residual vanishes; a car that its springs do not hold is reported."""
    try:
        with warnings.catch_warnings():  # on the way linkages may come near their ends
            warnings.simplefilter("ignore", ModelWarning)
            x, norm = _newton(residual, np.array(start, float))
    except (ModelError, np.linalg.LinAlgError) as error:
        reason = (
            error.problems[0] if isinstance(error, ModelError) else "its equations are singular"
        )
    else:
        if norm < RESIDUAL_TOLERANCE:
            return x
        reason = f"{norm:.3g} N are left open"
    raise ModelError(f"{failing} ({reason})", car.sections.name)


def _newton(residual: Any, x: Array) -> tuple[Array, float]:
    """Newton's method with differences, each matrix used as long as it serves; and what is left
    open."""
    h, r = 1e-7, residual(x)
    for _ in range(MAX_ITERATIONS):
        if float(np.abs(r).max()) < RESIDUAL_TOLERANCE:
            break
        J = np.array([(residual(x + h * e) - r) / h for e in np.eye(len(x))]).T
        converges = True
        while converges and not float(np.abs(r).max()) < RESIDUAL_TOLERANCE:
            step = np.linalg.solve(J, -r)
            x = x + step * min(1.0, MAX_STEP / max(float(np.abs(step).max()), 1e-12))
            previous, r = r, residual(x)
            converges = float(np.abs(r).max()) < 0.3 * float(np.abs(previous).max())
    return x, float(np.abs(r).max())
