"""Manoeuvres on other ground: a rough road, a kerb, a pothole, and braking where the road is
slippery on one side.

All lie on one course, so that one program serves them: first the road, then kerb, hole and parts
with other friction, level ground between. In the last parts friction jumps on both sides: low,
high, low (`friction_jump`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.metrics.frequency_weighting import apply_weighting
from bellcrank.core.metrics.metric_values import load_variation, mean, peak, rms, std
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.status import RunStatus
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.control.driver import Driver
from bellcrank.vehicles.manoeuvres.channel_metrics import channel_value_at, distance_travelled
from bellcrank.vehicles.manoeuvres.compiled_car import (
    SIGNAL_END,
    THROTTLE_FIXED,
    CompiledCar,
    abs_note,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.straight_line_tests import SLOW
from bellcrank.vehicles.terrain.terrain import Terrain, iso8608_tracks, profile

BEFORE, LENGTH, APART = (
    20.0,
    500.0,
    100.0,
)  # m: level ground before, the road, level ground between the parts
TOP, DOWN = 40.0, 20.0  # m on the kerb, and of the slope behind it
KERB = BEFORE + LENGTH + APART
HOLE = KERB + TOP + DOWN + APART
SLIPPERY = HOLE + APART
LONGEST_STOP = 30.0  # s, of braking on a slippery road
JUMPS = SLIPPERY + 600.0  # from there on friction is the same on both sides
STRETCH = 400.0  # m of low and of high friction
ONTO_HIGH = JUMPS + STRETCH
ONTO_LOW = ONTO_HIGH + STRETCH
STARTS = 10.0  # m before a kerb or hole
SPACING = 0.25  # m between points of the road
COMFORT = (
    (0.315, "not uncomfortable"),
    (0.63, "a little uncomfortable"),
    (1.0, "fairly uncomfortable"),
    (1.6, "uncomfortable"),
    (2.5, "very uncomfortable"),
    (np.inf, "extremely uncomfortable"),
)
AXLES = {"front": ("fl", "fr"), "rear": ("rl", "rr")}


@dataclass(frozen=True)
class RoadCourse:
    """The ground of all of them; called, it is made: left and right track."""

    track: float
    road: str = "B"
    seed: int = 1
    kerb: float = 0.06
    hole: float = 0.05
    hole_length: float = 0.6
    high: float = 1.0
    low: float = 0.3

    def __call__(self) -> tuple[Terrain, Terrain]:
        tracks = iso8608_tracks(
            self.road, seed=self.seed, track=self.track, length=LENGTH, spacing=SPACING
        )
        left_track, right_track = (
            self._track_terrain(t, hole) for t, hole in zip(tracks, (True, False), strict=True)
        )
        return left_track, right_track

    def _track_terrain(self, road: Terrain, hole: bool) -> Terrain:
        level = float(road.height(-1.0))
        coefficients = road.pieces.copy()
        coefficients[:, 0] += BEFORE
        coefficients[:, 1] -= level
        x, h = [KERB, KERB, KERB + TOP, KERB + TOP + DOWN], [0.0, self.kerb, self.kerb, 0.0]
        if hole:
            end = HOLE + self.hole_length
            x, h = [*x, HOLE, HOLE, end, end], [*h, 0.0, -self.hole, -self.hole, 0.0]
        obstacles = profile(x, h)
        road_starts = np.concatenate([road.starts + BEFORE, obstacles.starts])
        terrain = Terrain(
            f"course with {road.name}",
            road_starts,
            np.concatenate([coefficients, obstacles.pieces[1:]]),
        )
        jumps = [(JUMPS, self.low), (ONTO_HIGH, self.high), (ONTO_LOW, self.low)]
        left_mu, right_mu = ([(0.0, 1.0), (SLIPPERY, mu), *jumps] for mu in (self.high, self.low))
        return terrain.with_friction(left=left_mu, right=right_mu)


def compiled_car_on_course(
    vehicle: Car, settings: Mapping[str, Any], **course_settings: Any
) -> CompiledCar:
    """The car on the course."""
    track = vehicle.data.front.linkage.points["wheel_centre"][1] + vehicle.data.front.record.at[1]
    return compiled_car(
        vehicle,
        settings,
        Driver(circles=True),
        RoadCourse(round(2 * abs(float(track)), 3), **course_settings),
    )


def rough_road_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Straight ahead over a random road: what people feel, and how evenly the wheels are pressed
    on."""
    car = compiled_car_on_course(
        vehicle, settings, road=settings["road"], seed=round(settings["seed"])
    )
    v = settings["speed"] / 3.6
    run = car.simulate((BEFORE + LENGTH) / v, car.straight_running_state(v), {"speed_set": v})
    on_road = (run["x"] > BEFORE + 0.05 * LENGTH) & (run["x"] < BEFORE + LENGTH - 5)
    metrics = MetricCollector()
    t, az = run.time[on_road], apply_weighting(run.time, run["az"])[on_road]
    comfort = metrics.add(
        "az_weighted", rms(t, az), "m/s2", "vertical acceleration, weighted by Wk"
    )
    metrics.add(
        "az_rms",
        rms(t, run["az"][on_road]),
        "m/s2",
        "vertical acceleration of the mass centre, root mean square",
    )
    metrics.add(
        "crest", peak(t, az) / comfort, "", "crest factor of the weighted vertical acceleration"
    )
    metrics.add(
        "ay_weighted",
        rms(t, apply_weighting(run.time, run["ay"], "wd")[on_road]),
        "m/s2",
        "lateral acceleration, weighted by Wd",
    )
    for name in ("roll", "pitch"):
        metrics.add(f"{name}_std", std(t, run[name][on_road]), "deg", f"{name}, standard deviation")
    for axle, corners in car.data.axle_wheels.items():
        loads = [load_variation(t, run[f"{c}.tyre_load"][on_road]) for c in corners]
        metrics.add(
            f"load_{axle}",
            100 * math.hypot(*loads) / math.sqrt(2),
            "%",
            f"dynamic load coefficient, {axle} wheels",
        )
        travel = [std(t, run[f"{c}.travel"][on_road]) for c in corners]
        label = f"travel of the {axle} wheels, standard deviation"
        metrics.add(f"travel_{axle}", 1000 * math.hypot(*travel) / math.sqrt(2), "mm", label)
    lift_fractions = [
        mean(t, 1.0 * (run[f"{c}.tyre_load"][on_road] <= 0)) for c in car.data.all_wheels
    ]
    metrics.add(
        "lifted",
        100 * max(lift_fractions),
        "%",
        "largest fraction of time that a wheel is off the ground",
    )
    verdict = next(w for limit, w in COMFORT if comfort <= limit)
    return Result(
        "ride",
        vehicle.name,
        settings,
        {"road": run},
        metrics.as_metrics(),
        [],
        [
            f"at the mass centre of the body: {verdict} (ISO 2631-1)",
            "two tracks of an isotropic road, as far apart as the front wheels",
        ],
        ("az", "pitch", "roll", "fl.tyre_load", "rl.tyre_load", "fl.travel", "rl.travel"),
    )


def _contact_note(vehicle: Car) -> str:
    """How the tyres touch the road, for notes."""
    envelop = {
        bool(axle.record.tyre.enveloping) for axle in (vehicle.data.front, vehicle.data.rear)
    }
    if envelop == {True}:
        return "two elliptical cams envelop short obstacles; the belt is massless"
    subject = "the tyre touches" if envelop == {False} else "the tyre of one axle touches"
    return f"{subject} at one point, without its belt: peaks at edges are too high"


def _obstacle_test(name: str, x_edge: float, distance: float) -> Callable[..., Result]:
    """A short unevenness, over which the car rolls straight ahead."""

    def drive(vehicle: Car, settings: dict[str, Any]) -> Result:
        course_settings = {k: settings[k] for k in ("kerb", "hole", "hole_length") if k in settings}
        car, v = (
            compiled_car_on_course(vehicle, settings, **course_settings),
            settings["speed"] / 3.6,
        )
        start = car.straight_running_state(v, x_edge - STARTS)
        run = car.simulate((STARTS + distance) / v, start, {"speed_set": v}, THROTTLE_FIXED)
        metrics = MetricCollector()
        metrics.add(
            "az_max", run["az"].max(), "m/s2", "largest vertical acceleration of the body, up"
        )
        metrics.add(
            "az_min", run["az"].min(), "m/s2", "largest vertical acceleration of the body, down"
        )
        static_loads = car.at_rest.wheel_loads
        for axle, corners in car.data.axle_wheels.items():
            loads = max(float(run[f"{c}.tyre_load"].max()) for c in corners)
            metrics.add(f"load_{axle}", loads, "N", f"largest load of a {axle} wheel")
            factor = max(float(run[f"{c}.tyre_load"].max()) / static_loads[c] for c in corners)
            metrics.add(
                f"factor_{axle}", factor, "", f"largest load of a {axle} wheel over that at rest"
            )
            for direction, reduce in (("up", np.max), ("down", np.min)):
                travel = 1000 * float(reduce([reduce(run[f"{c}.travel"]) for c in corners]))
                metrics.add(
                    f"travel_{axle}_{direction}",
                    travel,
                    "mm",
                    f"farthest travel of the {axle} wheels, {direction}",
                )
            if axle not in AXLES:
                continue  # its springs are straight lines without stops
            spring = max(float(run[f"{c}.spring_force"].max()) for c in corners)
            metrics.add(
                f"spring_{axle}", spring, "N", f"largest force of a {axle} spring with its stops"
            )
        metrics.add(
            "steering_torque_max",
            np.abs(run["steering_torque"]).max(),
            "N-m",
            "largest steering torque",
        )
        for angle in ("pitch", "roll"):
            max_change = float(np.abs(run[angle] - run[angle][0]).max())
            metrics.add(f"{angle}_max", max_change, "deg", f"largest change of {angle}")
        lost = 3.6 * float(run["speed"][0] - run["speed"][-1])
        metrics.add("speed_lost", lost, "km/h", "speed that is lost")
        return Result(
            name,
            vehicle.name,
            settings,
            {name: run},
            metrics.as_metrics(),
            [],
            [_contact_note(vehicle)],
            ("az", "pitch", "roll", "steering_torque", "*.tyre_load", "*.travel"),
        )

    return drive


def split_mu_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Braking where the right wheels stand on a slippery road, the steering wheel held straight."""
    car, v = (
        compiled_car_on_course(vehicle, settings, high=settings["high"], low=settings["low"]),
        settings["speed"] / 3.6,
    )
    start = car.straight_running_state(v, SLIPPERY + 5.0)
    moment = settings["deceleration"] * car.at_rest.total_mass * car.mean_rolling_radius
    pedals = {
        "brake": sampled([0.0, settings["rise"], SIGNAL_END], [0.0, moment, moment]),
        "drive": car.throttle_release(start),
    }
    leaves = _leaves_slippery_side(car)
    stop = f"max(1 - ground_speed, {leaves}) > 0"
    run = car.simulate(LONGEST_STOP, start, pedals, THROTTLE_FIXED, until=stop)
    metrics = MetricCollector()
    metrics.add(
        "deceleration", (v - run["ground_speed"][-1]) / run.time[-1], "m/s2", "mean deceleration"
    )
    for t in (1.0, 2.0):
        if run.time[-1] > t:
            metrics.add(
                f"yaw_{t:g}", channel_value_at(run, "yaw", t), "deg", f"yaw angle after {t:g} s"
            )
            metrics.add(
                f"yaw_rate_{t:g}",
                channel_value_at(run, "yaw_rate", t),
                "deg/s",
                f"yaw rate after {t:g} s",
            )
            metrics.add(
                f"lateral_displacement_{t:g}",
                channel_value_at(run, "y", t),
                "m",
                f"lateral displacement after {t:g} s",
            )
    metrics.add("distance", distance_travelled(run)[-1], "m", "distance until the end")
    fast = run["ground_speed"] > SLOW
    max_slip = metrics.add(
        "side_slip_max",
        np.abs(run["side_slip"][fast]).max(initial=0.0),
        "deg",
        f"largest side slip above {3.6 * SLOW:g} km/h",
    )
    slip = min(float(run[f"{c}.tyre.kappa"][fast].min(initial=0.0)) for c in ("fr", "rr"))
    metrics.add(
        "slip_low",
        slip,
        "",
        f"smallest slip on the slippery side above {3.6 * SLOW:g} km/h; -1 is locked",
    )
    end_speed = float(run["ground_speed"][-1])
    has_left = end_speed > 1.01 and run.status is RunStatus.STOPPED_BY_EVENT
    until_text = " until it leaves the slippery side" if has_left else ""
    criteria = [
        Criterion(
            f"the car does not spin{until_text}: side slip up to {max_slip:.3g} deg", max_slip < 30
        )
    ]
    left_notes = [
        f"the run ends after {run.time[-1]:.3g} s at {3.6 * end_speed:.3g} km/h, as a right wheel "
        f"leaves the slippery side: the mass centre is {run['y'][-1]:.3g} m aside, the yaw angle "
        f"{run['yaw'][-1]:.3g} deg. Metrics hold until then"
    ]
    x = run["x"] - run["x"][0]
    curves = (
        Curve(
            "distance ahead, m",
            "lateral displacement of the mass centre, m",
            (("braking", x, run["y"]),),
        ),
    )
    return Result(
        "split-mu",
        vehicle.name,
        settings,
        {"braking": run},
        metrics.as_metrics(),
        criteria,
        [
            f"{abs_note(vehicle)}; the steering wheel is fixed straight ahead",
            "friction over that of the tyres' data, left and right of the middle of the road",
            *(left_notes if has_left else []),
        ],
        ("speed", "yaw_rate", "side_slip", "*.tyre.kappa"),
        curves,
    )


def _leaves_slippery_side(car: CompiledCar) -> str:
    """Formula of the lateral position (m) of the right wheel farthest to the left: positive where
    it is on the left side of the road."""
    cg = car.data.sprung.cg
    front, rear = (
        f"{float(point[0] - cg[0])!r}*sin(yaw) + ({float(point[1] - cg[1])!r})*cos(yaw)"
        for point in (car.at_rest.contact_points[i] for i in (1, 3))
    )
    return f"y + max({front}, {rear})"


RIDE = Manoeuvre(
    "ride",
    "straight ahead over a rough road",
    {
        "speed": Setting(80.0, "km/h", "speed, kept"),
        "road": Setting(RoadCourse.road, "", "class of ISO 8608, A to H"),
        "seed": Setting(float(RoadCourse.seed), "", "of the random road"),
    },
    rough_road_test,
    "roads of ISO 8608 with the coherence of an isotropic one; weighting of ISO 2631-1",
    first=("az_weighted", "load_front"),
)
KERB_UP = Manoeuvre(
    "kerb",
    "up a kerb with both sides",
    {
        "speed": Setting(20.0, "km/h", "speed"),
        "kerb": Setting(RoadCourse.kerb, "m", "height of the kerb"),
    },
    _obstacle_test("kerb", KERB, 15.0),
    first=("az_max", "factor_front"),
)
POTHOLE = Manoeuvre(
    "pothole",
    "through a pothole with the left wheels",
    {
        "speed": Setting(40.0, "km/h", "speed"),
        "hole": Setting(RoadCourse.hole, "m", "depth of the hole"),
        "hole_length": Setting(RoadCourse.hole_length, "m", "length of the hole"),
    },
    _obstacle_test("pothole", HOLE, 30.0),
    first=("az_max", "factor_front"),
)
SPLIT_MU = Manoeuvre(
    "split-mu",
    "braking on a road that is slippery on one side",
    {
        "speed": Setting(80.0, "km/h", "speed at the start"),
        "deceleration": Setting(
            5.0, "m/s2", "deceleration that the brake torque asks for on a dry road"
        ),
        "rise": Setting(0.4, "s", "rise time of the brake torque"),
        "high": Setting(RoadCourse.high, "", "friction on the left"),
        "low": Setting(RoadCourse.low, "", "friction on the right"),
    },
    split_mu_test,
    "ISO 14512, from memory; with anti-lock systems there",
    first=("yaw_1", "deceleration"),
)
