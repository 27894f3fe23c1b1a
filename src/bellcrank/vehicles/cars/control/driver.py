"""Drivers: steering by preview of a path and a speed that is kept, as formulas and states of the
model itself.

MacAdam (1981), Application of an optimal preview control for simulation of closed-loop automobile
driving, IEEE Transactions SMC-11: the steering angle that, held over the preview time, brings a
linear single-track car nearest to the path, by least squares over points ahead. With x = (v_y, r)
of x' = A x + B d, in axes of the car,

    d = sum of g_j (y_j - f_j x)/sum of g_j^2,

y_j the path t_j ahead, f_j x where the car would be without steering, g_j d what steering adds; all
through the exponential of one matrix, so exact; gains depend on the speed alone and are tables over
it. A lag stands for the muscles, whose speed may be limited. Single point: d = (l + K V^2) 2 y/D^2
at D = V T ahead. Pure pursuit and Stanley's driver: below. The nearest station of a path is a state
that is drawn along, never searched. Speed: a moment in proportion to the error and its integral,
which waits at the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bellcrank.api.system import System
from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.symbolic.expr.table import table
from bellcrank.vehicles.cars.design.car_data import CORNERS, CarData
from bellcrank.vehicles.cars.design.powertrain_data import max_drive_torque
from bellcrank.vehicles.cars.metrics.handling_metrics import (
    axle_cornering,
    combined_rear_cornering,
    front_fraction,
    steering_ratio,
    understeer_gradients,
)
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.driver_path import Change, Path
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

PREVIEW = {"macadam": 1.0, "point": 1.0, "pursuit": 0.7, "stanley": 0.0}  # s, by kind
SPEEDS = (
    1.0,
    3.0,
    5.0,
    7.5,
    10.0,
    13.0,
    16.0,
    20.0,
    25.0,
    30.0,
    36.0,
    43.0,
    52.0,
    65.0,
)  # m/s, of the gain tables
RATE = "driver_rate"  # parameter
SLOWEST = 1.0  # m/s, from which on the driver looks ahead
NEAREST = 4.0  # m, that pure pursuit looks ahead at least
STANLEY = (2.5, 1.0, 0.3)  # gain 1/s, speed m/s added, yaw damping s
DRAWN = 5.0  # 1/s, with which the station is drawn to the nearest point
COASTS = 0.05  # of the weight, as a force that the engine brakes with; outside, the brakes do


@dataclass(frozen=True)
class Driver(PublicDir):
    """A driver: follows a path and keeps the speed, for `Car.system(driver=)`.

    The speed is kept at the input speed_set (m/s).

    Parameters
    ----------
    path : Path or Change, optional
        The path. Default: none; the steering wheel is an input alone.
    kind : {"macadam", "point", "pursuit", "stanley"}, default "macadam"
        Model of the driver.
    preview : float, optional
        Preview time in s. Default: the usual one of the kind.
    points : int, default 10
        Points ahead, of "macadam".
    delay, lag : float, default 0.0 and 0.1
        Delay of the eyes and time constant of the arms in s.
    most : float, default 500.0
        Largest steering-wheel angle in deg.
    k_speed, i_speed : float, default 1.5 and 0.5
        Gains of the speed control in 1/s and 1/s^2, parameters of the model.
    hands : float, default 1.0
        Fraction of the steering that is done, a parameter of the model.
    circles : bool, default False
        Can the driver also keep a curvature, the input curve_set (1/m)? Its gain is the parameter
        k_turn (1/s).
    speeds : tuple of float, optional
        Speeds at the points of the path in m/s. The driver keeps speed_set plus `pace` times them;
        `pace` is a parameter of the model. Default: none.
    rate : float, optional
        Largest steering-wheel rate in deg/s, behind the lag of the arms. Default: no limit.

    Raises
    ------
    ModelError
        If a value is not allowed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> driver = bc.vehicles.manoeuvres.Driver(bc.vehicles.manoeuvres.circle(50), kind="pursuit")
    >>> s = bc.vehicles.Car.read("passenger").system(speed=10, driver=driver)
    >>> driver.ahead > 0
    True
    """

    internals: ClassVar[tuple[str, ...]] = ("add_to_system", "initial_state")
    path: Path | Change | None = None
    kind: str = "macadam"
    preview: float | None = None
    points: int = 10
    delay: float = 0.0
    lag: float = 0.1
    most: float = 500.0
    k_speed: float = 1.5
    i_speed: float = 0.5
    hands: float = 1.0
    circles: bool = False
    speeds: tuple[float, ...] | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        errors = []
        if self.kind not in PREVIEW:
            errors.append(f"kind={self.kind!r} must be one of {', '.join(PREVIEW)}")
        path: Any = self.path
        if path is not None and not isinstance(path, Path | Change):
            errors.append(
                f"path={path!r:.60} must be a Path.through(x, y), a lane_change(corners) or "
                f"a circle(radius)"
            )
        for name in (
            "lag",
            "most",
            *(n for n in ("preview", "rate") if getattr(self, n) is not None),
        ):
            if not _number(getattr(self, name)) or not getattr(self, name) > 0:
                errors.append(f"{name}={getattr(self, name)!r} must be positive")
        if not _number(self.delay) or not 0 <= self.delay <= 2:
            errors.append(f"delay={self.delay!r} must lie between 0 and 2 s")
        if not isinstance(self.points, int) or not 1 <= self.points <= 50:
            errors.append(f"points={self.points!r} must be a whole number from 1 to 50")
        if self.speeds is not None:
            count = len(path.s) if isinstance(path, Path) else 0
            if len(self.speeds) != count or not all(_number(v) and v > 0 for v in self.speeds):
                errors.append(
                    f"speeds={display_text(self.speeds)} must be positive numbers, one for "
                    f"each of the {count} "
                    "points of the path"
                    if count
                    else "speeds need a path through points"
                )
        if errors:
            raise ModelError("driver: " + "; ".join(errors))

    @property
    def ahead(self) -> float:
        """How far the driver looks ahead, s."""
        return PREVIEW[self.kind] if self.preview is None else self.preview

    def add_to_system(
        self, s: System, car: CarData, statics: CarStatics, chassis: BodyHandle
    ) -> dict[str, str]:
        """Adds states and formulas; returns what the model shall take for steer, drive and
        brake."""
        single_track = SingleTrack.from_car(car, statics.as_drawn or statics)
        s.define("driver.ahead", "dot(vel(chassis.cm), direction(project([chassis1], [n3])))")
        commands, steer = self._speed_control(s, car, statics), ["steer"]
        if self.path is not None:
            self._check_path_curvature(car, single_track)
            s.add_parameter(
                "hands",
                self.hands,
                units="1",
                label="steering authority of the driver",
                range=(0, 1),
            )
            steer.append(f"hands*{self._steering(s, car, single_track)}")
        if self.circles:
            steer.append(self._curvature_control(s, car, single_track))
        return commands | {"steer": " + ".join(steer)}

    def initial_state(self, car: CarData, statics: CarStatics) -> dict[str, float]:
        """The station of the path nearest to where the car begins."""
        if not isinstance(self.path, Path):
            return {}
        return {
            "driver.station": self.path.nearest(float(car.sprung.cg[0]), float(car.sprung.cg[1]))
        }

    def _check_path_curvature(self, car: CarData, single_track: SingleTrack) -> None:
        """No path that bends tighter than the car turns."""
        assert self.path is not None
        radius, s = self.path.tightest()
        angle = math.radians(self.most) / steering_ratio(car)
        min_radius = single_track.base / math.tan(min(angle, 1.5))
        if radius < min_radius:
            raise ModelError(
                f"driver: the path bends with a radius of {radius:.3g} m at {s:.4g} m, but "
                f"with the steering wheel at "
                f"{self.most:g} deg the car turns no tighter than {min_radius:.3g} m"
            )

    def _curvature_control(self, s: System, car: CarData, single_track: SingleTrack) -> str:
        """An integral of the error of the yaw rate, scaled so that k_turn is the speed of its
        answer."""
        s.add_input("curve_set", units="1/L", label="curvature that the driver keeps")
        s.set_run(inputs={"curve_set": 0.0})
        s.add_parameter(
            "k_turn", 0.0, units="1/T", label="driver: how quickly the curvature is kept"
        )
        ratio = steering_ratio(car)
        s.add_parameter(
            "turn_understeer",
            single_track.understeer,
            units="T**2/L",
            label="driver: understeer gradient that is expected",
        )
        s.add_parameter(
            "turn_base",
            ratio * single_track.base,
            units="L",
            label="driver: steering ratio times wheelbase",
        )
        gain = (
            f"(turn_base + {ratio!r}*turn_understeer*driver.ahead**2)/max({SLOWEST}, driver.ahead)"
        )
        error = "(curve_set*driver.ahead - dot(rot(chassis), [n3]))"
        s.add_state(
            "driver.turn",
            rate=f"k_turn*{gain}*{error}",
            units="A",
            label="steering-wheel angle of the circle",
        )
        return "driver.turn"

    def _speed_control(self, s: System, car: CarData, statics: CarStatics) -> dict[str, str]:
        s.add_input("speed_set", units="L/T", label="speed that the driver keeps")
        s.set_run(inputs={"speed_set": 0.0})
        s.add_parameter(
            "k_speed", self.k_speed, units="1/T", label="driver: acceleration over speed error"
        )
        s.add_parameter(
            "i_speed", self.i_speed, units="1/T**2", label="driver: acceleration over its integral"
        )
        radius = (
            sum(float(car.axle(a).tyre.free_radius(ARRAYS, 0.0)) for a, _ in CORNERS.values()) / 4
        )
        s.add_parameter(
            "driver_reach",
            statics.total_mass * radius,
            units="M*L",
            label="mass times radius of the wheels",
        )
        speed_term, acceleration_term = self._speed_profile_terms(s)
        s.define("driver.error", f"speed_set{speed_term} - driver.ahead")
        s.define(
            "driver.moment",
            f"driver_reach*(k_speed*driver.error + i_speed*driver.sum{acceleration_term})",
        )
        drive = car.sections.drive
        torque_limit = (
            "drive_limit" if drive.map is not None else repr(max_drive_torque(car.sections) or 1e9)
        )
        below_limit = f"abs(driver.moment) < {torque_limit}"
        s.add_state(
            "driver.sum",
            rate=f"where({below_limit}, where(k_speed > 0, driver.error, 0), 0)",
            units="L",
            label="integral of the speed error",
        )
        coasting_torque = f"({COASTS}*g*driver_reach)"
        return {
            "drive": f"drive + max(-{coasting_torque}, driver.moment)",
            "brake": f"brake + max(0, -driver.moment - {coasting_torque})",
        }

    def _speed_profile_terms(self, s: System) -> tuple[str, str]:
        """What the speeds of the path add to the speed that is kept, and to the acceleration."""
        if self.speeds is None:
            return "", ""
        assert isinstance(self.path, Path)
        s.add_parameter(
            "pace", 1.0, units="1", label="driver: speed over that of the path", range=(0, 1.2)
        )
        v = np.array(self.speeds)
        columns = (
            ("driver_speed", v),
            ("driver_gain", np.gradient(v**2 / 2, np.array(self.path.s))),
        )
        for name, values in columns:
            s.define(name, table(self.path.s, values.tolist()))
        return " + pace*driver_speed(driver.station)", " + pace**2*driver_gain(driver.station)"

    def _steering(self, s: System, car: CarData, single_track: SingleTrack) -> str:
        path = self.path
        assert path is not None
        path.add_to_system(s)
        s.define("driver.cos", "dot(direction(project([chassis1], [n3])), [n1])")
        s.define("driver.sin", "dot(direction(project([chassis1], [n3])), [n2])")
        s.define("driver.x", "dot(pos(chassis.cm), [n1])")
        s.define("driver.y", "dot(pos(chassis.cm), [n2])")
        station = "driver.station" if isinstance(path, Path) else "driver.x"
        heading, _ = path.heading_and_curvature_at(s, station, "driver.here")
        s.define("driver.heading", heading)
        x, y = path.position_at(s, station, "driver.near")
        projection = "cos(driver.heading)*{0} + sin(driver.heading)*{1}"
        if isinstance(path, Path):
            path_speed = projection.format(
                "dot(vel(chassis.cm), [n1])", "dot(vel(chassis.cm), [n2])"
            )
            along_error = projection.format(f"(driver.x - {x})", f"(driver.y - {y})")
            s.add_state(
                "driver.station",
                rate=f"{path_speed} + {DRAWN}*({along_error})",
                units="L",
                label="station of the path",
            )
        lateral_error = projection.format(f"(driver.y - {y})", f"({x} - driver.x)")
        s.add_output(
            "path_error", lateral_error, label="distance from the path, to the left", units="L"
        )
        s.define("driver.pace", f"max({SLOWEST}, driver.ahead)")
        s.define(
            "driver.aside",
            "dot(vel(chassis.cm), cross([n3], direction(project([chassis1], [n3]))))",
        )
        s.define("driver.turns", "dot(rot(chassis), [n3])")
        kinds = {
            "macadam": self._macadam,
            "point": self._single_point_preview,
            "pursuit": self._pure_pursuit,
            "stanley": self._stanley,
        }
        steer_angle = kinds[self.kind](s, single_track)
        angle_limit = math.radians(self.most)
        s.define(
            "driver.wanted",
            f"max(-{angle_limit!r}, min({angle_limit!r}, {steering_ratio(car)!r}*({steer_angle})))",
        )
        s.add_parameter("t_driver", self.lag, units="T", label="lag of the driver's arms")
        s.require_positive("t_driver")
        delayed_angle = self._pade_delay(s) if self.delay > 0 else "driver.wanted"
        rate = f"({delayed_angle} - driver.steer)/t_driver"
        if self.rate is not None:
            s.add_parameter(
                RATE,
                math.radians(self.rate),
                units="A/T",
                label="driver: largest steering-wheel rate",
            )
            s.require_positive(RATE)
            rate = f"max(-{RATE}, min({RATE}, {rate}))"
        s.add_state(
            "driver.steer", rate=rate, units="A", label="steering-wheel angle of the driver"
        )
        return "driver.steer"

    def _pade_delay(self, s: System) -> str:
        """What was wanted some time ago: the delay as the Pade fraction (1 - T s/3)/(1 + 2 T s/3 +
        (T s)^2/6)."""
        s.add_parameter("t_delay", self.delay, units="T", label="delay of the driver's eyes")
        s.require_positive("t_delay")
        s.add_state(
            "driver.seen",
            rate="driver.seeing",
            units="A*T**2",
            label="driver: what was seen, twice integrated",
        )
        s.add_state(
            "driver.seeing",
            rate="driver.wanted - 4*driver.seeing/t_delay - 6*driver.seen/t_delay**2",
            units="A*T",
            label="driver: what was seen, integrated",
        )
        return "(6*driver.seen/t_delay**2 - 2*driver.seeing/t_delay)"

    def _define_preview_error(self, s: System, index: int, distance: str) -> str:
        """Defines the distance of the path from the car's axis, some way ahead."""
        assert self.path is not None
        station = "driver.station" if isinstance(self.path, Path) else "driver.x"
        name = f"driver.see_{index}"
        x, y = self.path.position_at(s, f"({station} + {distance})", f"driver.at_{index}")
        s.define(name, f"driver.cos*({y} - driver.y) - driver.sin*({x} - driver.x)")
        return name

    def _macadam(self, s: System, single_track: SingleTrack) -> str:
        times = self.ahead * np.arange(1, self.points + 1) / self.points
        rows = np.array([preview_gains(*single_track.matrices(v), v, times) for v in SPEEDS])
        terms = []
        for j, time in enumerate(times):
            s.define(f"driver_gain_{j + 1}", table(SPEEDS, rows[:, j].tolist(), 3))
            error = self._define_preview_error(s, j + 1, f"{float(time)!r}*driver.pace")
            terms.append(f"driver_gain_{j + 1}(driver.pace)*{error}")
        for name, column, variable in (
            ("aside", -2, "driver.aside"),
            ("turns", -1, "driver.turns"),
        ):
            s.define(f"driver_gain_{name}", table(SPEEDS, rows[:, column].tolist(), 3))
            terms.append(f"-driver_gain_{name}(driver.pace)*{variable}")
        return " + ".join(terms).replace("+ -", "- ")

    def _single_point_preview(self, s: System, single_track: SingleTrack) -> str:
        base, K = single_track.base, single_track.understeer
        preview_distance = f"{self.ahead!r}*driver.pace"
        preview_error = self._define_preview_error(s, 1, preview_distance)
        return f"({base!r} + {K!r}*driver.pace**2)*2*{preview_error}/({preview_distance})**2"

    def _pure_pursuit(self, s: System, single_track: SingleTrack) -> str:
        """The circle from the rear axle to a point of the path; its steering angle, with what
        understeer adds."""
        base, K = single_track.base, single_track.understeer
        rear_arm = single_track.behind
        s.define("driver.far", f"max({NEAREST}, {self.ahead!r}*driver.pace)")
        preview_error = self._define_preview_error(s, 1, f"(driver.far - {rear_arm!r})")
        return f"atan(2*{base!r}*{preview_error}/driver.far**2)*(1 + {K / base!r}*driver.pace**2)"

    def _stanley(self, s: System, single_track: SingleTrack) -> str:
        """Heading and distance at the front axle, with feed-forward of the bend and damping of the
        yaw rate: Hoffmann, Tomlin, Montemerlo & Thrun (2007), Autonomous automobile trajectory
        tracking for off-road driving."""
        assert self.path is not None
        base, K = single_track.base, single_track.understeer
        front_arm = base - single_track.behind
        preview_error = self._define_preview_error(s, 1, repr(front_arm))
        station = "driver.station" if isinstance(self.path, Path) else "driver.x"
        heading, bend = self.path.heading_and_curvature_at(
            s, f"({station} + {front_arm!r})", "driver.front"
        )
        s.define("driver.front_heading", heading)
        s.define("driver.bend", bend)
        gain, slow, damping = STANLEY
        yaw = (
            "atan2(sin(driver.front_heading)*driver.cos - cos(driver.front_heading)*driver.sin, "
            "cos(driver.front_heading)*driver.cos + sin(driver.front_heading)*driver.sin)"
        )
        return (
            f"{yaw} + atan({gain}*{preview_error}/({slow} + driver.pace)) + "
            f"{K!r}*driver.pace**2*driver.bend "
            f"- {damping}*(driver.turns - driver.pace*driver.bend)"
        )


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True)
class SingleTrack:
    """The linear car that a driver expects: mass, yaw inertia, wheelbase, distance of the rear axle
    behind the mass centre, cornering stiffnesses less what compliance gives way, understeer
    gradient (rad s^2/m, not below zero)."""

    mass: float
    inertia: float
    base: float
    behind: float
    front: float
    rear: float
    understeer: float

    @classmethod
    def from_car(cls, car: CarData, statics: CarStatics) -> SingleTrack:
        front, rear = (axle_cornering(car, statics, axle) for axle in (car.front, car.rear))
        rear = combined_rear_cornering(car, statics, rear)
        base = front.x - rear.x
        rear_arm = (
            float(statics.mass_centre[0]) - rear.x
            if car.added_axles
            else base * front_fraction(statics)
        )
        gradient = max(sum(understeer_gradients(statics, front, rear)), 0.0)
        inertia = yaw_inertia(car, statics)
        return cls(statics.mass, inertia, base, rear_arm, front.effective, rear.effective, gradient)

    def matrices(self, speed: float) -> tuple[Any, Any]:
        """A and B of (v_y, r)' = A (v_y, r) + B d."""
        m, Iz, b, C1, C2 = self.mass, self.inertia, self.behind, self.front, self.rear
        a = self.base - b
        A = [
            [-(C1 + C2) / (m * speed), -(a * C1 - b * C2) / (m * speed) - speed],
            [-(a * C1 - b * C2) / (Iz * speed), -(a * a * C1 + b * b * C2) / (Iz * speed)],
        ]
        return np.array(A), np.array([C1 / m, a * C1 / Iz])


def preview_gains(A: Any, B: Any, speed: float, times: Any) -> Any:
    """MacAdam's gains at a speed: of the points ahead, multiples of the first time, then of side
    speed and yaw rate (rad per m, m/s, rad/s)."""
    M = np.zeros((5, 5))  # of y, v_y, psi, r and the steering angle, which is held
    M[0, 1], M[0, 2], M[2, 3] = 1.0, speed, 1.0
    M[np.ix_((1, 3), (1, 3))], M[(1, 3), 4] = A, B
    step = matrix_exponential(M * times[0])
    rows = [step[0]]
    for _ in times[1:]:
        rows.append(rows[-1] @ step)
    responses = np.array(rows)
    g = responses[:, 4]
    weights = g / (g @ g)
    return np.array([*weights, weights @ responses[:, 1], weights @ responses[:, 3]])


def matrix_exponential(M: Any) -> Any:
    """The exponential of a small matrix, by the series of its 2^n-th part and squaring."""
    n = max(0, math.ceil(math.log2(max(float(np.abs(M).sum(axis=1).max()), 1e-9)))) + 2
    M = M / 2**n
    term = total = np.eye(len(M))
    for i in range(1, 13):  # the norm is below 1/4: 1e-17 of the whole is omitted
        term = term @ M / i
        total = total + term
    for _ in range(n):
        total = total @ total
    return total


def yaw_inertia(car: CarData, statics: CarStatics) -> float:
    """Moment of inertia of the whole car about the vertical through its mass centre."""
    sprung, centre = car.sprung, statics.mass_centre
    total = float(sprung.inertia[2, 2]) + sprung.mass * float(
        np.sum((sprung.cg[:2] - centre[:2]) ** 2)
    )
    for i, (axle_name, _) in enumerate(CORNERS.values()):
        record = car.axle(axle_name).record
        unsprung_mass = (
            record.carrier.mass
            + record.wheel.mass
            + sum(x.mass for x in (record.links or {}).values())
        )
        total += unsprung_mass * float(np.sum((statics.contact_points[i][:2] - centre[:2]) ** 2))
        total += record.wheel.cross_inertia or record.wheel.spin_inertia / 2
    for axle in car.added_axles:
        total += axle.unsprung_mass * float(
            np.sum((np.array([axle.record.at[0], 0.0]) - centre[:2]) ** 2)
        )
        total += 2 * axle.record.wheel.mass * axle.record.at[1] ** 2 + axle.record.inertia[2]
    return total
