"""A car ready to drive: compiled once for each driver and ground; every manoeuvre begins from a
steady motion of it.

One program serves most manoeuvres: its driver changes lanes by parameters, keeps a curvature or
holds the wheel.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bellcrank.api.simulation import Simulation
from bellcrank.choices import Method
from bellcrank.core.errors import ModelError, RunError
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus
from bellcrank.vehicles.cars.building.car_model import CarSystem, RoadPlane, rolling_initial_state
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.control.driver import Driver
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY, CarData
from bellcrank.vehicles.cars.design.powertrain_data import gear_ratios, lowest_gear_reaching
from bellcrank.vehicles.cars.driveline.clutch_and_converter import MOTOR
from bellcrank.vehicles.cars.driveline.gearbox import GEAR
from bellcrank.vehicles.cars.metrics.handling_metrics import (
    Figures,
    car_metrics,
    understeer_gradient,
)
from bellcrank.vehicles.cars.model_extensions import add_rolling_start, model_content
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.driver_path import Change, Path
from bellcrank.vehicles.manoeuvres.steady_motion import (
    HORIZONTAL_POSE,
    SteadyMotion,
    SteadyMotionSolver,
)

CONTINUATION_STEP = 0.25  # m/s2 of a linear car, between the steady turns of a continuation
# m, radius of the first circle of a search, so that the steering wheel turns a little at a time
FIRST_CIRCLE_RADIUS = 100.0
CIRCLE_STEP = 1.0  # m/s2 of lateral acceleration, from circle to circle of a search
CURVATURE_GAIN = 3.0  # 1/s, with which a circle is kept
STEP, OUTPUT_EVERY = 0.001, 10
SETTLING_TIME = 4.0  # s, in which a car finds its steady motion
SPEED = 20.0  # m/s, at which models are made
METHOD: Method = "rk4"  # of integration, unless another is asked for
THROTTLE_CLOSED = {"k_speed": 0.0, "i_speed": 0.0}  # no throttle, for a car that stands
THROTTLE_RELEASE_TIME = 0.2  # s, in which a foot leaves the throttle
SIGNAL_END = 1000.0  # s, after the end of any run
ROLLOVER_ANGLE = 30.0  # deg, from which on a vehicle does not come back
STEERED = 180.0  # deg, from which on the steering wheel may be at its lock
THROTTLE_FIXED = {"k_speed": 0.0}  # the throttle as it was


@dataclass(frozen=True, eq=False)
class SteadyTurnLimit:
    """Steady turns up to the limit, in which a driver keeps one speed: the largest lateral
    acceleration (m/s2) at that speed, the change of the steering-wheel angle (deg) to the largest
    at any, why no further turn at that speed was found (empty: less lateral acceleration past it),
    and the angles and lateral accelerations of all turns."""

    ay: float
    angle: float
    failure: str
    angles: np.ndarray[Any, Any]
    lateral_accelerations: np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class CompiledCar:
    """A compiled car; `extension_state`: initial values of what it was `is_extended` by, at SPEED;
    `values`: parameters that differ from those of the compiled model."""

    data: CarData
    at_rest: CarStatics
    sim: Simulation
    driver: Driver
    is_extended: bool = False
    extension_state: Mapping[str, float] = field(default_factory=dict)
    method: Method = METHOD
    gear: float | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    cached_states: dict[Any, dict[str, float]] = field(
        default_factory=dict
    )  # states that were found

    @cached_property
    def metrics(self) -> Figures:
        """Those of the car, by hand formulas."""
        return car_metrics(self.data, self.at_rest)

    def rolling_state(self, speed: float, ground: RoadPlane | None = None) -> dict[str, float]:
        """All initial values of the car as it stands, parallel to the ground, ahead at a speed
        (m/s)."""
        scale = {
            name: speed / SPEED if name.startswith("u(") else 1.0 for name in self.extension_state
        }
        added_states = {name: scale[name] * value for name, value in self.extension_state.items()}
        zero = dict.fromkeys(
            rolling_initial_state(self.data, self.at_rest, SPEED), 0.0
        )  # in place of the values of the model
        start = zero | rolling_initial_state(self.data, self.at_rest, speed, ground)
        return added_states | start | self.driver.initial_state(self.data, self.at_rest)

    def straight_running_state(
        self, speed: float, at: float = 0.0, **parameters: float
    ) -> dict[str, float]:
        """The state of the car that runs straight ahead along x at a speed (m/s), its mass centre
        on the line y = 0 and the origin of its axes at x = `at` (m); the steering wheel and the
        throttle stay as they are. RunError if the drive does not keep that speed."""
        start = self._steady_state(speed, 0.0, at, parameters)
        self._require_speed(start, speed, 0.0)
        return start

    def nearest_straight_state(self, speed: float) -> dict[str, float]:
        """The same state at the speed nearest to the requested one that the drive keeps."""
        return self._steady_state(speed, 0.0, 0.0, {})

    def steady_turn_state(
        self, speed: float, curvature: float, **parameters: float
    ) -> dict[str, float]:
        """The state of the car that goes round steadily at a speed (m/s), with a curvature (1/m) to
        the left; the steering wheel and the throttle stay as they are. RunError if the drive does
        not keep that speed."""
        start = self._steady_state(speed, curvature, 0.0, parameters)
        self._require_speed(start, speed, curvature)
        return start

    def nearest_turn_state(self, speed: float, curvature: float) -> dict[str, float]:
        """The same state at the speed nearest to the requested one that the drive keeps."""
        return self._steady_state(speed, curvature, 0.0, {})

    def motion_of(self, state: Mapping[str, float]) -> SteadyMotion:
        """Speeds and yaw rate of a state."""
        return SteadyMotionSolver(self.sim).motion(state, {}, self._run_parameters(state))

    def _require_speed(self, state: Mapping[str, float], speed: float, curvature: float) -> None:
        """Raise RunError unless a steady state has the requested speed (m/s): a drive at its limit
        keeps another one."""
        if speed == 0:
            return
        motion, name = self.motion_of(state), self.data.sections.name
        if motion.keeps_speed(speed):
            return
        if not curvature:
            raise RunError(
                f"{name} does not run straight ahead at {3.6 * speed:.4g} km/h: its drive keeps "
                f"{3.6 * motion.speed:.4g} km/h"
            )
        raise RunError(
            f"{name} does not go round a circle of {1 / abs(curvature):.4g} m radius at "
            f"{3.6 * speed:.4g} km/h ({speed**2 * abs(curvature):.3g} m/s2): its drive keeps "
            f"{3.6 * motion.speed:.4g} km/h ({abs(motion.lateral_acceleration):.3g} m/s2) there"
        )

    def with_path_driver(
        self, start: Mapping[str, float], how: Mapping[str, float]
    ) -> dict[str, float]:
        """The same state, with a driver who follows a path from there on with the parameters `how`:
        the steering wheel does not move as he takes over."""
        speed = float(start.get("u(chassis, 1)", 0.0))
        return SteadyMotionSolver(self.sim).with_path_driver(
            start, {"speed_set": speed}, {**self.values, **how}
        )

    def path_state(
        self,
        path: Path,
        station: float,
        speed: float,
        height: Callable[[float, float], float] | None = None,
        **parameters: float,
    ) -> tuple[dict[str, float], bool]:
        """The state of the car whose mass centre is at a station of a path (m), all wheels on the
        ground, and whether it is a steady motion: on the plane below the wheels and the circle that
        the path has there. `height`: of the ground over x and y, default level. A driver who
        follows the path takes over."""
        cg, contact = self.data.sprung.cg, self.at_rest.contact_points
        x, y, heading = (
            float(np.interp(station, path.s, c)) for c in (path.x, path.y, path.heading)
        )
        curvature = float(np.interp(station, path.s, path.curvature))
        forward, lateral = (
            np.array([np.cos(heading), np.sin(heading)]),
            np.array([-np.sin(heading), np.cos(heading)]),
        )
        origin = np.array([x, y]) - cg[0] * forward - cg[1] * lateral
        plane = RoadPlane()
        if height is not None:
            heights = [float(height(*(origin + a * forward + b * lateral))) for a, b, _ in contact]
            rows = np.column_stack([np.ones(4), contact[:, :2]])
            plane = RoadPlane(*np.linalg.lstsq(rows, np.array(heights), rcond=None)[0].tolist())
        pose = {
            "q(chassis, 1)": float(origin[0]),
            "q(chassis, 2)": float(origin[1]),
            "q(chassis, 4)": heading,
        }
        pose["driver.station"] = station
        start = self.rolling_state(speed, plane) | pose
        slope = plane.ahead * forward + plane.left * lateral
        motion = SteadyMotionSolver(self.sim, (float(slope[0]), float(slope[1])))
        run_parameters, inputs = {**self._run_parameters(start), **parameters}, {"speed_set": speed}
        circles = max(1, math.ceil(abs(curvature) * speed**2 / CIRCLE_STEP))
        try:
            state = (
                start
                if height is not None
                else self.straight_running_state(speed, **{**parameters, "hands": 0.0}) | pose
            )
            for fraction in np.linspace(0.0, 1.0, circles + 1)[1:]:
                curve = {"curve_set": fraction * curvature}
                state = motion.solve(
                    state,
                    inputs | curve,
                    {**run_parameters, "k_turn": CURVATURE_GAIN, "hands": 0.0},
                    heading,
                )
        except RunError:
            return start, False
        return motion.with_path_driver(
            state, {"speed_set": speed}, {**run_parameters, "hands": 1.0}
        ), True

    def _steady_state(
        self, speed: float, curvature: float, x0: float, parameters: Mapping[str, float]
    ) -> dict[str, float]:
        key = (speed, curvature, x0, *sorted(parameters.items()))
        if key not in self.cached_states:
            start = self.rolling_state(speed)
            start["q(chassis, 1)"] = x0
            if speed != 0:
                start = self._solve_steady_turn(start, speed, curvature, parameters)
            elif self.is_extended:
                start = self._settle_at_rest(start)
            self.cached_states[key] = start
        return dict(self.cached_states[key])

    def _solve_steady_turn(
        self,
        start: dict[str, float],
        speed: float,
        curvature: float,
        parameters: Mapping[str, float],
    ) -> dict[str, float]:
        """Newton's method from the car as it stands, tighter from circle to circle."""
        motion, run_parameters = (
            SteadyMotionSolver(self.sim),
            {**self._run_parameters(start), **parameters, "k_turn": CURVATURE_GAIN},
        )
        if (gear := run_parameters.get("gear_held", 0)) > 0:
            if MOTOR in start:
                ratios = gear_ratios(self.data.sections.drive)
                start[MOTOR] *= ratios[round(gear) - 1] / ratios[round(start[GEAR]) - 1]
            start[GEAR] = gear
        circles = max(
            1, math.ceil(abs(curvature) * max(speed**2 / CIRCLE_STEP, FIRST_CIRCLE_RADIUS))
        )
        fraction = 0.0
        try:
            start = self._solve_straight_running(motion, start, speed, run_parameters)
            for fraction in np.linspace(0.0, 1.0, circles + 1)[1:] if curvature else []:
                inputs = {"speed_set": speed, "curve_set": fraction * curvature}
                start = self._solve_or_settle(motion, start, inputs, run_parameters)
        except RunError as error:
            name = self.data.sections.name
            if not fraction:
                raise RunError(
                    f"{name} does not run straight ahead at {3.6 * speed:.4g} km/h: {error}"
                ) from error
            raise RunError(
                f"{name} does not go round a circle of {1 / abs(curvature):.4g} m radius at "
                f"{3.6 * speed:.4g} km/h ({speed**2 * abs(curvature):.3g} m/s2); steady "
                f"circles were found up to "
                f"{(fraction - 1 / circles) * speed**2 * abs(curvature):.3g} m/s2"
            ) from error
        cg, yaw = self.data.sprung.cg, start["q(chassis, 4)"]
        start["q(chassis, 2)"] = -float(cg[0] * math.sin(yaw) + cg[1] * math.cos(yaw))
        return start

    def _solve_straight_running(
        self,
        motion: SteadyMotionSolver,
        start: dict[str, float],
        speed: float,
        run_parameters: Mapping[str, float],
    ) -> dict[str, float]:
        """Newton's method from the car as it stands; where that is too far away, as with a trailer
        that begins above the ground, after some time of driving straight ahead on the level ground
        before any course."""
        try:
            return motion.solve(start, {"speed_set": speed}, run_parameters)
        except RunError:
            run_up = start | {"q(chassis, 1)": -speed * SETTLING_TIME - 10.0}
            return self._settle_and_solve(
                motion, run_up, {"speed_set": speed}, run_parameters, start
            )

    def _solve_or_settle(
        self,
        motion: SteadyMotionSolver,
        start: dict[str, float],
        inputs: Mapping[str, float],
        run_parameters: Mapping[str, float],
    ) -> dict[str, float]:
        """Newton's method; of an extended car, if that fails, after some time of driving. A
        controller that begins to brake makes a kink, as the friction of a brake without torque is
        undetermined."""
        try:
            return motion.solve(start, inputs, run_parameters)
        except RunError:
            if not self.is_extended:
                raise
            return self._settle_and_solve(motion, start, inputs, run_parameters, start)

    def _settle_and_solve(
        self,
        motion: SteadyMotionSolver,
        start: dict[str, float],
        inputs: Mapping[str, float],
        run_parameters: Mapping[str, float],
        pose: Mapping[str, float],
    ) -> dict[str, float]:
        """Newton's method after some time of driving, at the place that is given."""
        run = self.simulate(SETTLING_TIME, start, inputs, run_parameters)
        end_state = {name: float(run[name][-1]) for name in motion.names}
        return motion.solve(
            end_state | {name: pose.get(name, 0.0) for name in HORIZONTAL_POSE},
            inputs,
            run_parameters,
        )

    def _settle_at_rest(self, start: dict[str, float]) -> dict[str, float]:
        """Where an extended car comes to rest from where the car stands without what was added."""
        run = self.simulate(2 * SETTLING_TIME, start, {"speed_set": 0.0}, THROTTLE_CLOSED)
        pose = {name: start.get(name, 0.0) for name in HORIZONTAL_POSE}
        return {
            state.name: float(run[state.name][-1]) for state in self.sim.interface.states
        } | pose

    def steady_turn_limit(self, speed: float) -> SteadyTurnLimit:
        """The steady turn to the left of the largest lateral acceleration at a speed (m/s), by
        continuation: from straight ahead, the steering wheel turned further from circle to
        circle."""
        motion = SteadyMotionSolver(self.sim, held=("driver.turn",))
        start = self.nearest_straight_state(speed)
        run_parameters, inputs = self._run_parameters(start), {"speed_set": speed}
        initial_turn, stride = (
            start["driver.turn"],
            math.radians(self.linear_steering_angle_at(speed, CONTINUATION_STEP)),
        )
        angles, accelerations = [0.0], [0.0]
        straight = motion.motion(start, inputs, run_parameters)
        first_slower = None if straight.keeps_speed(speed) else straight
        kept = int(first_slower is None)  # turns at the speed, before the drive is at its limit
        state, min_stride, error_text = start, stride / 16, ""
        while stride > min_stride and len(accelerations) < 400:
            try:
                state = motion.solve(
                    start | {"driver.turn": start["driver.turn"] + stride}, inputs, run_parameters
                )
            except RunError as error:
                stride, error_text = stride / 2, str(error)
                continue
            turn = motion.motion(state, inputs, run_parameters)
            first_slower = first_slower or (None if turn.keeps_speed(speed) else turn)
            kept += first_slower is None
            start = state
            angles.append(math.degrees(state["driver.turn"] - initial_turn))
            accelerations.append(turn.lateral_acceleration)
            if accelerations[-1] < 0.995 * max(accelerations):
                error_text = ""
                break
        top = int(np.argmax(accelerations))
        if first_slower is not None and kept <= top:
            error_text = (
                f"the drive keeps {3.6 * first_slower.speed:.4g} km/h in the next one in place of "
                f"{3.6 * speed:.4g} km/h"
            )
        return SteadyTurnLimit(
            max(accelerations[:kept], default=math.nan),
            angles[top],
            error_text,
            np.array(angles),
            np.array(accelerations),
        )

    def steering_angle_at(self, speed: float, ay: float) -> float:
        """Change of the steering-wheel angle (deg) from straight ahead to the steady circle of a
        lateral acceleration (m/s2) at a speed (m/s)."""
        try:
            turn_state = self.steady_turn_state(speed, ay / speed**2)
        except RunError as error:
            name = self.data.sections.name
            raise RunError(
                f"{name} does not reach {ay:g} m/s2 at {3.6 * speed:.4g} km/h in steady state: "
                f"{error}"
            ) from error
        return math.degrees(
            turn_state["driver.turn"] - self.straight_running_state(speed)["driver.turn"]
        )

    def linear_steering_angle_at(self, speed: float, ay: float) -> float:
        """The same of the linear car."""
        f = self.metrics
        slope = math.degrees(f["wheelbase"] / speed**2) + understeer_gradient(f) / GRAVITY
        return f["steering_ratio"] * slope * ay

    def throttle_release(
        self, start: Mapping[str, float], engine: float = 0.0, at: float = 0.0
    ) -> Any:
        """The input `simulate` of a driver who holds the throttle (`THROTTLE_FIXED`) and takes his
        foot off it at a time (s); then the engine brakes with a deceleration (m/s2)."""
        torque_drop = -(
            self.drive_torque(start) + engine * self.at_rest.total_mass * self.mean_rolling_radius
        )
        return sampled(
            [0.0, at, at + THROTTLE_RELEASE_TIME, SIGNAL_END]
            if at
            else [0.0, THROTTLE_RELEASE_TIME, SIGNAL_END],
            [0.0, 0.0, torque_drop, torque_drop][not at :],
        )

    def drive_torque(self, start: Mapping[str, float]) -> float:
        """Drive torque of the driver in a steady motion, N m."""
        usual = next(
            float(p.default or 0.0)
            for p in self.sim.interface.parameters
            if p.name == "driver_reach"
        )
        gain = self.values.get("driver_reach", usual)
        return float(gain * self.driver.i_speed * start["driver.sum"])

    @property
    def mean_rolling_radius(self) -> float:
        """Mean rolling radius of the wheels, m."""
        tyres = [self.data.axle(a).tyre for a, _ in CORNERS.values()]
        return float(np.mean([t.forces(3000.0, 0.0, 0.0).Re for t in tyres]))

    def with_gear_for(self, speed: float) -> CompiledCar:
        """The same car in the lowest gear that reaches a speed (m/s), unless one was asked for: at
        the limit a car needs its power."""
        drive = self.data.sections.drive
        if self.gear is not None or len(drive.gears or ()) < 2:
            return self
        return replace(
            self,
            gear=lowest_gear_reaching(drive, speed / self.mean_rolling_radius),
            cached_states={},
        )

    def _run_parameters(self, start: Mapping[str, float]) -> dict[str, float]:
        return {**self.values, **self._gear_parameter(start)}

    def _gear_parameter(self, start: Mapping[str, float]) -> dict[str, float]:
        """The parameter that holds the gear: the one that was asked for, or that with which a
        motion begins."""
        if GEAR not in (state.name for state in self.sim.interface.states):
            return {}
        return {"gear_held": self.gear or round(start.get(GEAR, 1.0))}

    def simulate(
        self,
        t_end: float,
        start: Mapping[str, float],
        inputs: Mapping[str, Any],
        parameters: Mapping[str, float] | None = None,
        until: str | None = None,
    ) -> Run:
        """A run from a state; `until` a condition is met. One that stops before has no steady
        values, peaks or response times, unless the vehicle overturns: its suspension leaves its
        range then."""
        events = {} if until is None else {"end": until}
        run = self.sim.simulate(
            t_end=t_end,
            step=STEP,
            method=self.method,
            output_every=OUTPUT_EVERY,
            initial=dict(start),
            inputs=dict(inputs),
            parameters=self._run_parameters(start) | dict(parameters or {}),
            events=events or None,
            stop=tuple(events),
        )
        if len(run.time) < 2:
            raise RunError(f"the run did not begin: {run.ended}")
        if not run.ok and abs(run["roll"][-1]) < ROLLOVER_ANGLE:
            raise RunError(f"the run did not reach its end: {run.ended}{_steering_hint(run)}")
        return run


def _steering_hint(run: Run) -> str:
    """What the steering wheel has to do with a linkage that left its range."""
    angle = run["steering_wheel"]
    if run.status is not RunStatus.NOT_CLOSED and "leaves its range" not in run.ended:
        return ""
    if abs(angle[-1]) < STEERED or abs(angle[-1]) < 0.99 * np.abs(angle).max():
        return ""
    return (
        f". The steering wheel is at {angle[-1]:.4g} deg then: the steering linkage has its lock "
        f"there, and the angle must stay below"
    )


_compiled_cars: WeakKeyDictionary[Car, dict[Any, CompiledCar]] = WeakKeyDictionary()
DEFAULT_DRIVER = Driver(
    Change(), preview=0.5, hands=0.0, circles=True
)  # between cones a driver looks near


def read_car(car: Any) -> Car:
    """The car of a `Car`, the System of one, or the path or name of a file."""
    if isinstance(car, Car):
        return car
    if isinstance(car, CarSystem) and isinstance(car.car, Car):
        if type(car.car).system is Car.system and model_content(car) != car.made:
            raise ModelError(
                "this model was changed after Car.system() made it, and manoeuvres make "
                "models of their own: give "
                "them car.extended(function), with a function of system and car that makes "
                "the same changes, or a "
                "class with a system() that does",
                car.name,
            )
        return car.car
    if isinstance(car, str | FilePath):
        return Car.read(car)
    raise ModelError(
        f"a manoeuvre needs a bc.vehicles.Car, a system of Car.system or the path of a "
        f"file, given {type(car).__name__}"
    )


def abs_note(car: Car) -> str:
    """Which units of a car with brakes have an anti-lock system that is on, for notes."""
    towed = {
        t.name.replace("_", " "): t.abs_name
        for t in car.data.trailers
        if t.record.brakes is not None
    }
    units = {"the car": "abs", **towed}
    without_abs = [unit for unit, name in units.items() if not car.controllers.get(name)]
    if len(without_abs) == len(units):
        return "no anti-lock system"
    with_abs = [unit for unit in units if unit not in without_abs]
    text = (
        f"with the anti-lock system of {', '.join(with_abs)}"
        if towed
        else "with its anti-lock system"
    )
    return f"{text}; none on {', '.join(without_abs)}" if without_abs else text


def manoeuvre_system(car: Car, driver: Driver, terrain: Any) -> CarSystem:
    """The model of a car for a manoeuvre, with what a class of the user's adds to it."""
    options = {"speed": SPEED, "driver": driver, "terrain": terrain, "posts": terrain is not None}
    try:
        inspect.signature(car.system).bind(**options)
    except TypeError as error:
        raise ModelError(
            f"{type(car).__name__}.system() cannot be called by manoeuvres: {error}. It "
            f"takes the options of "
            "Car.system() and passes them on: def system(self, **options): s = "
            "super().system(**options)",
            car.name,
        ) from error
    system = car.system(**options)
    if not isinstance(system, CarSystem):
        raise ModelError(
            f"{type(car).__name__}.system() returned {type(system).__name__} in place of "
            f"the model that "
            "super().system(**options) gives",
            car.name,
        )
    add_rolling_start(system)
    return system


def compile_car(
    car: Car,
    driver: Driver = DEFAULT_DRIVER,
    ground: Callable[[], Any] | None = None,
    method: Method = METHOD,
    gear: float | None = None,
) -> CompiledCar:
    """The car compiled with a driver on the ground that `ground` makes, with posts below the
    wheels, or on flat ground that stays; kept as long as the car is, for an equal driver and
    ground. States are found anew for each method."""
    if car.like is not None:
        return replace(
            compile_car(car.like[0], driver, ground, method, gear),
            values=car.like[1],
            cached_states={},
        )
    cache = _compiled_cars.setdefault(car, {})
    gears = len(car.data.sections.drive.gears or ())
    if gear is not None and gear not in range(1, gears + 1):
        gears_text = (
            f"its gears are 1 to {gears}"
            if gears > 1
            else "it has no gears (drive.gears of its file)"
        )
        raise ModelError(f"gear={gear:g} of a manoeuvre: {car.name} cannot hold it, {gears_text}")
    if (driver, ground) not in cache:
        system = manoeuvre_system(car, driver, None if ground is None else ground())
        sim = system.equations().compile()
        plain = CompiledCar(car.data, car.stand, sim, driver)
        own_states = plain.rolling_state(SPEED)
        initial = {str(key): float(value) for key, value in system.description.run.initial.items()}
        added_states = {
            key: value
            for key, value in initial.items()
            if key not in own_states and "(chassis" not in key
        }
        cache[driver, ground] = replace(
            plain, is_extended=car.is_extended, extension_state=added_states
        )
    key = (driver, ground, method, gear)
    if key not in cache:
        cache[key] = replace(cache[driver, ground], method=method, gear=gear, cached_states={})
    return cache[key]


def compiled_car(
    car: Car,
    settings: Mapping[str, Any],
    driver: Driver = DEFAULT_DRIVER,
    ground: Callable[[], Any] | None = None,
) -> CompiledCar:
    """The compiled car of a manoeuvre with these settings."""
    return compile_car(car, driver, ground, settings["method"], settings["gear"])
