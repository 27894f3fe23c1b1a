"""Tests of cars with trailers: sway, off-tracking on a small circle, and rearward amplification in
a lane change.

Damping of sway by ISO 9815: amplitudes A of successive half waves of the articulation angle, their
mean ratio r = mean((A[i] + A[i+1])/(A[i+1] + A[i+2])), damping ratio ln r/sqrt(pi^2 + ln^2 r). The
critical speed, at which the damping vanishes, is that of the linear model. Rearward amplification
by ISO 14791: largest lateral acceleration of the last unit over that of the car.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, RunError, did_you_mean
from bellcrank.core.signals import sampled
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres.channel_metrics import channel_deviation
from bellcrank.vehicles.manoeuvres.compiled_car import (
    SIGNAL_END,
    THROTTLE_FIXED,
    CompiledCar,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.footprints import vehicle_footprints
from bellcrank.vehicles.manoeuvres.linear_handling import CarMode, LinearCar
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    ON_GROUND,
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.steering_tests import BEGINS

Array = np.ndarray[Any, Any]
SLOWEST, FASTEST, STRIDE = 40.0, 300.0, 10.0  # km/h, of the search for the critical speed
SWAYS = (0.1, 3.0)  # Hz, between which sway is looked for
LARGE = 0.2  # of the largest coordinate, that articulation is in a mode of sway: bodies roll more
WIDTH = 0.6  # s, of the pulse of the steering wheel
FEWEST = 4  # half waves from which damping is measured
SMALL = 0.05  # of the first half wave, below which others are not counted
ENDLESS = 1e9  # N m and W, of a motor without limits
RANGE = np.geomspace(0.1, 1.5, 57)  # Hz
CIRCLE_POINTS = {
    "cg": "the mass centre of the car",
    "front-axle": "the middle of the front axle",
    "outer-corner": "the outer front corner of the car",
}
CIRCLE_ITERATIONS = 20
RADIUS_TOLERANCE = 1e-6  # of the radius
DIP = 0.25  # of the gain at the lowest frequency, below which the car itself hardly moves


def _trailer_names(vehicle: Car, name: str) -> list[str]:
    """Names of the trailers, of a car that must have one."""
    if not vehicle.data.trailers:
        raise ModelError(
            f"{name} needs a car with a trailer: a section [trailers.NAME] (docs/trailers.md)",
            vehicle.name,
        )
    return [t.name for t in vehicle.data.trailers]


def sway_mode(model: LinearCar, speed: float, trailers: list[str]) -> CarMode:
    """The least damped mode in which a trailer swings sideways, at a speed (m/s)."""
    articulations = [f"q({name}, 1)" for name in trailers]
    modes = []
    for mode in model.modes(speed):
        largest = max(size for name, size in mode.sizes.items() if name.startswith("q("))
        swings = max(mode.sizes[name] for name in articulations)
        if SWAYS[0] < mode.frequency < SWAYS[1] and swings > LARGE * largest:
            modes.append(mode)
    if not modes:
        raise RunError(
            f"no oscillation of the articulation angle was found at {3.6 * speed:.4g} km/h"
        )
    return min(modes, key=lambda mode: mode.damping)


def critical_speed(car: CompiledCar, trailers: list[str]) -> float:
    """The speed (km/h) above which sway grows, also above the top speed of the car; NaN if there is
    none."""
    parameter_names = {p.name for p in car.sim.interface.parameters}
    unlimited: dict[str, float] = {
        name: ENDLESS for name in ("drive_most", "power_most") if name in parameter_names
    }
    model = LinearCar(replace(car, values={**car.values, **unlimited}, cached_states={}))

    def damping(speed: float) -> float:
        return sway_mode(model, speed / 3.6, trailers).damping

    low = high = math.nan
    for speed in np.arange(SLOWEST, FASTEST + 1, STRIDE):
        try:
            if damping(speed) < 0:
                high = float(speed)
                break
        except RunError:  # the drive does not reach it, or no sway
            continue
        low = float(speed)
    if math.isnan(high) or math.isnan(low):
        return math.nan
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if damping(middle) > 0 else (low, middle)
    return (low + high) / 2


def decay_damping(time: Array, y: Array) -> tuple[float, float]:
    """Damping ratio and frequency (Hz) of a free oscillation, from its half waves (ISO 9815)."""
    extremes = [i for i in range(1, len(y) - 1) if (y[i] - y[i - 1]) * (y[i + 1] - y[i]) < 0]
    if len(extremes) < FEWEST + 1:
        return math.nan, math.nan
    sizes = np.abs(np.diff(y[extremes]))
    count = int(np.argmax(sizes < SMALL * sizes[0])) or len(sizes)
    if count < FEWEST - 1:
        return math.nan, math.nan
    sizes = sizes[:count]
    r = float(np.mean(sizes[:-1] / sizes[1:]))
    half_period = float(np.mean(np.diff(time[extremes][: count + 1])))
    return math.log(r) / math.hypot(math.pi, math.log(r)), 1 / (2 * half_period)


def trailer_sway_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A pulse of the steering wheel at each speed, then free motion."""
    trailers = _trailer_names(vehicle, "iso9815")
    car = compiled_car(vehicle, settings)
    model, metrics, runs = LinearCar(car), MetricCollector(), {}
    last = f"{trailers[-1]}.articulation"
    damping, linear, decayed = [], [], []
    for speed in settings["speeds"]:
        v = speed / 3.6
        mode = sway_mode(model, v, trailers)
        height = car.linear_steering_angle_at(v, settings["ay"])
        times = [0.0, BEGINS, BEGINS + WIDTH / 2, BEGINS + WIDTH, SIGNAL_END]
        wheel = sampled(times, [0.0, 0.0, height, 0.0, 0.0])
        run = car.simulate(
            settings["duration"],
            car.straight_running_state(v),
            {"steer": wheel, "speed_set": v},
            THROTTLE_FIXED,
        )
        runs[f"{speed:g} km/h"] = run
        free = run.time > BEGINS + WIDTH
        ratio, frequency = decay_damping(run.time[free], channel_deviation(run, last)[free])
        damping.append(ratio)
        linear.append(mode.damping)
        decayed += [f"{speed:g}"] if math.isnan(ratio) else []
        metrics.add(
            f"damping_{speed:g}", ratio, "", f"damping ratio of sway at {speed:g} km/h, of the run"
        )
        metrics.add(
            f"damping_linear_{speed:g}",
            mode.damping,
            "",
            f"damping ratio of sway at {speed:g} km/h, linear model",
        )
        metrics.add(f"frequency_{speed:g}", frequency, "Hz", f"frequency of sway at {speed:g} km/h")
    critical = critical_speed(car, trailers)
    metrics.add("critical_speed", critical, "km/h", "speed above which sway grows, linear model")
    grows = math.isnan(critical) or critical > max(settings["speeds"])
    speeds = np.array(settings["speeds"])
    lines = (("run", speeds, np.array(damping)), ("linear model", speeds, np.array(linear)))
    notes = ["the steering wheel and the throttle are fixed after the pulse"]
    if decayed:
        notes.append(
            f"no damping of the run at {', '.join(decayed)} km/h: sway decays within fewer "
            f"than {FEWEST} half waves of "
            f"more than {100 * SMALL:g} % of the first; see the damping of the linear model"
        )
    if math.isnan(critical):
        notes.append(f"no critical speed was found from {SLOWEST:g} to {FASTEST:g} km/h")
    return Result(
        "iso9815",
        vehicle.name,
        settings,
        runs,
        metrics.as_metrics(),
        [Criterion(f"sway decays up to {max(speeds):g} km/h", bool(grows))],
        notes,
        (
            last,
            f"{trailers[-1]}.articulation_rate",
            "yaw_rate",
            f"{trailers[-1]}.hitch_fy",
            "steering_wheel",
        ),
        (Curve("speed, km/h", "damping ratio of sway, -", lines),),
    )


def off_tracking_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A small circle at a low speed, steady: radii of the paths of all axles."""
    trailers = _trailer_names(vehicle, "off-tracking")
    car, v = compiled_car(vehicle, settings), settings["speed"] / 3.6
    points = _circle_points(car)
    point = settings["point"]
    if point not in points:
        raise ModelError(
            f"off-tracking: point={point!r:.40} is no point of the car that drives the circle."
            f"{did_you_mean(point, points)} It is one of {', '.join(points)}"
        )
    start, curvature = _steady_circle_state(car, v, settings["radius"], points[point])
    run = car.simulate(1.0, start, {"speed_set": v, "curve_set": curvature}, THROTTLE_FIXED)
    metrics = MetricCollector()
    paths = {name: _path_radius(run, x, y) for name, (x, y) in axle_paths(car, run).items()}
    metrics.add(
        "radius_cg",
        _path_radius(run, run["x"], run["y"]),
        "m",
        "radius of the path of the mass centre of the car",
    )
    for name, size in paths.items():
        metrics.add(f"radius_{name}", size, "m", f"radius of the path of the middle of axle {name}")
    for name in trailers:
        metrics.add(
            f"articulation_{name}",
            abs(run[f"{name}.articulation"][-1]),
            "deg",
            f"articulation angle of {name}",
        )
    last = list(paths)[-1]
    metrics.add("off_tracking", paths["front"] - paths[last], "m", f"front axle outside of {last}")
    outer, inner = _swept_radii(car, run)
    metrics.add("radius_outer", outer, "m", "largest radius of the outlines of all units")
    metrics.add("radius_inner", inner, "m", "smallest radius of the outlines of all units")
    metrics.add("swept_width", outer - inner, "m", "width of the swept annulus")
    return Result(
        "off-tracking",
        vehicle.name,
        settings,
        {"circle": run},
        metrics.as_metrics(),
        [],
        [f"a steady circle to the left; its radius is that of the path of {CIRCLE_POINTS[point]}"],
        (),
        (_combination_plan_view(car, run, paths),),
    )


def _circle_points(car: CompiledCar) -> dict[str, tuple[float, float]]:
    """Points of the car that may drive a circle to the left: ahead and left of the mass centre
    (m)."""
    outline = vehicle_footprints(car.data, car.at_rest)[0]
    front = car.at_rest.contact_points[:2].mean(axis=0) - car.data.sprung.cg
    corner = outline.ahead + outline.length / 2, outline.left - outline.width / 2
    points = (0.0, 0.0), (float(front[0]), float(front[1])), corner
    return dict(zip(CIRCLE_POINTS, points, strict=True))


def _turn_centre(run: Run) -> Array:
    """Centre of a steady turn at the end of a run, m."""
    x, y, heading = (float(run[channel][-1]) for channel in ("x", "y", "yaw"))
    heading = math.radians(heading + float(run["side_slip"][-1]))
    radius = _path_radius(run, run["x"], run["y"])
    return np.array([x - radius * math.sin(heading), y + radius * math.cos(heading)])


def _swept_radii(car: CompiledCar, run: Run) -> tuple[float, float]:
    """Largest and smallest distance (m) of the outlines of all units from the centre of a turn."""
    centre = _turn_centre(run)
    outlines = [
        outline.corners(run)[-1] - centre for outline in vehicle_footprints(car.data, car.at_rest)
    ]
    outer = max(float(np.hypot(*corners.T).max()) for corners in outlines)
    nearest = []
    for corners in outlines:
        sides = np.roll(corners, -1, axis=0) - corners
        along = np.clip(-(corners * sides).sum(axis=1) / (sides**2).sum(axis=1), 0.0, 1.0)
        nearest.append(float(np.hypot(*(corners + along[:, None] * sides).T).min()))
    return outer, min(nearest)


def _combination_plan_view(car: CompiledCar, run: Any, radii: dict[str, float]) -> Curve:
    """The units at the end of a steady turn, and the quarters of circles on which the middles of
    their axles came."""
    centre = _turn_centre(run)
    sweep = np.linspace(0.0, -math.pi / 2, 91)
    lines = []
    for name, (px, py) in axle_paths(car, run).items():
        angles = math.atan2(py[-1] - centre[1], px[-1] - centre[0]) + sweep
        lines.append(
            (
                f"axle {name}",
                centre[0] + radii[name] * np.cos(angles),
                centre[1] + radii[name] * np.sin(angles),
            )
        )
    for outline in vehicle_footprints(car.data, car.at_rest):
        corners = outline.corners(run)[-1][[0, 1, 2, 3, 0]]
        lines.append((outline.name, corners[:, 0], corners[:, 1]))
    return Curve(ON_GROUND, "y, m", tuple(lines))


def _steady_circle_state(
    car: CompiledCar, speed: float, radius: float, point: tuple[float, float]
) -> tuple[dict[str, float], float]:
    """State of the steady circle to the left on which a point of the car has a radius (m), and the
    curvature (1/m) that the driver keeps there. The driver keeps the yaw rate over the speed along
    the car, so other points have other radii. Newton's method by difference quotients."""
    try:
        curvature, last = 1 / radius, None
        for _ in range(CIRCLE_ITERATIONS):
            state = car.steady_turn_state(speed, curvature)
            error = 1 / car.motion_of(state).path_radius(*point) - 1 / radius
            if abs(error) * radius < RADIUS_TOLERANCE:
                return state, curvature
            quotient = 1.0 if last is None else (error - last[1]) / (curvature - last[0])
            last = curvature, error
            curvature -= error / quotient
    except RunError as error:
        raise RunError(
            f"off-tracking: no steady circle of {radius:g} m was found: {error}"
        ) from error
    raise RunError(f"off-tracking: no steady circle of {radius:g} m was found")


def axle_paths(car: CompiledCar, run: Any) -> dict[str, tuple[Array, Array]]:
    """x and y of the middles of all axles."""
    yaw, cg, paths = np.radians(run["yaw"]), car.data.sprung.cg, {}
    for name, i in (("front", 0), ("rear", 2)):
        x_axle, y_axle = (
            float(car.at_rest.contact_points[i : i + 2, k].mean() - cg[k]) for k in (0, 1)
        )
        x = run["x"] + x_axle * np.cos(yaw) - y_axle * np.sin(yaw)
        paths[name] = (x, run["y"] + x_axle * np.sin(yaw) + y_axle * np.cos(yaw))
    for axle in car.data.simple_axles:
        paths[axle.parameter_suffix] = (run[f"{axle.full_name}_x"], run[f"{axle.full_name}_y"])
    return paths


def _path_radius(run: Any, x: Array, y: Array) -> float:
    """Radius of the path of a point at the end of a steady turn: speed over yaw rate."""
    speed = float(np.hypot(np.gradient(x, run.time), np.gradient(y, run.time))[1:-1].mean())
    return speed / abs(math.radians(float(run["yaw_rate"][1:-1].mean())))


def rearward_amplification_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """One period of a sine of the steering wheel, the lane change of ISO 14791, and the linear
    frequency response."""
    trailers = _trailer_names(vehicle, "iso14791")
    car, v, f = compiled_car(vehicle, settings), settings["speed"] / 3.6, settings["frequency"]
    model = LinearCar(car)
    outputs = [
        "ay",
        "yaw_rate",
        *(f"{name}.{quantity}" for name in trailers for quantity in ("ay", "yaw_rate")),
    ]
    response = model.responses(v, outputs, np.array([f]))
    angle = settings["ay"] / abs(response["ay"][0])
    t = np.linspace(0.0, 1 / f, 201)
    wheel = sampled(
        [0.0, *(BEGINS + t), SIGNAL_END], [0.0, *(angle * np.sin(2 * np.pi * f * t)), 0.0]
    )
    run = car.simulate(
        BEGINS + 1 / f + 5.0,
        car.straight_running_state(v),
        {"steer": wheel, "speed_set": v},
        THROTTLE_FIXED,
    )
    metrics = MetricCollector()
    metrics.add("angle", angle, "deg", "amplitude of the steering-wheel angle")
    freqs = np.union1d(RANGE, f)
    curve = model.responses(v, outputs, freqs)
    car_gain, notes = np.abs(curve["ay"]), ["amplitude by the linear model; the throttle is fixed"]
    for name in trailers:
        for quantity, label in (("ay", "lateral acceleration"), ("yaw_rate", "yaw rate")):
            key = name if quantity == "ay" else f"{name}_yaw"
            peaks = [
                float(np.abs(channel_deviation(run, channel)).max())
                for channel in (f"{name}.{quantity}", quantity)
            ]
            metrics.add(
                f"amplification_{key}",
                peaks[0] / peaks[1],
                "",
                f"peak {label} of {name} over that of the car",
            )
        gains = np.abs(curve[f"{name}.ay"]) / car_gain
        top = int(np.argmax(gains))
        metrics.add(
            f"linear_{name}",
            abs(response[f"{name}.ay"][0] / response["ay"][0]),
            "",
            f"lateral acceleration of {name} over that of the car at {f:g} Hz, linear model",
        )
        metrics.add(
            f"linear_max_{name}",
            gains[top],
            "",
            f"largest of that between {freqs[0]:g} and {freqs[-1]:g} Hz",
        )
        metrics.add(f"linear_max_at_{name}", freqs[top], "Hz", "frequency of that")
        if car_gain[top] < DIP * car_gain[0]:
            notes.append(
                f"linear_max_{name} is where the car itself hardly moves: its lateral "
                f"acceleration at {freqs[top]:.3g} "
                f"Hz is {100 * car_gain[top] / car_gain[0]:.2g} % of that at {freqs[0]:g} Hz"
            )
    paths = axle_paths(car, run)
    last, (x0, y0) = list(paths)[-1], paths["front"]
    x, y = paths[last]
    inside = (x > x0[0]) & (x < x0[-1])
    metrics.add(
        "off_tracking",
        np.abs(y[inside] - np.interp(x[inside], x0, y0)).max(),
        "m",
        f"largest distance of the path of axle {last} from that of the front axle",
    )
    lines = tuple((name, freqs, np.abs(curve[f"{name}.ay"]) / car_gain) for name in trailers)
    return Result(
        "iso14791",
        vehicle.name,
        settings,
        {"lane_change": run},
        metrics.as_metrics(),
        [],
        notes,
        (
            "steering_wheel",
            "ay",
            f"{trailers[-1]}.ay",
            f"{trailers[-1]}.articulation",
            f"{trailers[-1]}.hitch_fy",
        ),
        (Curve("frequency, Hz", "lateral acceleration over that of the car, -", lines),),
    )


SWAY = Manoeuvre(
    "iso9815",
    "sway of a trailer after a pulse of the steering wheel, over the speed",
    {
        "speeds": Setting((60.0, 80.0, 100.0), "km/h", "speeds"),
        "ay": Setting(
            2.0, "m/s2", "lateral acceleration that the height of the pulse makes in steady state"
        ),
        "duration": Setting(9.0, "s", "duration of each run"),
    },
    trailer_sway_test,
    "ISO 9815, from memory",
    first=("critical_speed",),
    for_trailers=True,
)
OFF_TRACKING = Manoeuvre(
    "off-tracking",
    "a small circle at a low speed: paths of all axles",
    {
        "radius": Setting(12.5, "m", "radius of the circle"),
        "point": Setting(
            "cg",
            "",
            "point of the car that drives it: cg, the mass centre, front-axle or outer-corner",
        ),
        "speed": Setting(5.0, "km/h", "speed"),
    },
    off_tracking_test,
    "Low-speed off-tracking, SAE J2181",
    first=("off_tracking", "swept_width"),
    for_trailers=True,
)
AMPLIFICATION = Manoeuvre(
    "iso14791",
    "rearward amplification in a single lane change",
    {
        "speed": Setting(80.0, "km/h", "speed"),
        "frequency": Setting(0.4, "Hz", "frequency of the sine of the steering wheel"),
        "ay": Setting(1.5, "m/s2", "lateral acceleration of the car, linear"),
    },
    rearward_amplification_test,
    "ISO 14791, from memory",
    first=("off_tracking",),
    for_trailers=True,
)
