"""A lap of a closed course: the quasi-steady speed that the car's own limits allow, and the car
driven at it.

Limits over the speed are measured with the compiled car: steady turns by continuation, a slow
increase of the drive and of the brake torque until a wheel slips or the torque ends. The driver
follows the line and keeps `pace` times the quasi-steady speed, from one steady motion before the
line on, so the lap is a flying one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, RunError
from bellcrank.core.signals import ramp
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.control.driver import PREVIEW, Driver
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.design.powertrain_data import max_drive_torque
from bellcrank.vehicles.manoeuvres.car_trailer_tests import axle_paths
from bellcrank.vehicles.manoeuvres.circuit import SHIPPED, Circuit, SpeedProfile, read_circuit
from bellcrank.vehicles.manoeuvres.compiled_car import THROTTLE_FIXED, CompiledCar, compile_car
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    ON_GROUND,
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)

Array = np.ndarray[Any, Any]
Table = tuple[tuple[float, float], ...]
LIMITS = ("ay", "drive", "braking")
DISTANCE = "lap_distance"
LEAD = 40.0, 150.0  # m before the line, between which the car begins where the course bends least
AFTER = 200.0  # m behind the line, for drivers to look at
LOST = 3.0  # m outside the course, where the run ends
LOW, FACTOR = (
    0.75,
    1.4,
)  # lowest speed of the limits over that of the tightest bend, and from speed to speed
USUAL = 8.0  # m/s2, for a first guess of that
RISE, FIRM, SLIPS = (
    1.2,
    1.6,
    0.15,
)  # s, torque over the weight at the end of it, slip past which it counts no more
SMOOTH = 0.1  # s, over which accelerations are averaged
MOST_SECTORS = 100
NEAREST = 4  # searches of the station next to an axle
SLOW = 3.0  # m/s, below which slips say nothing


def acceleration_limits(
    car: CompiledCar, circuit: Circuit, settings: dict[str, float | None], locks: bool = True
) -> dict[str, Any]:
    """Limits over the speed, as far as the course needs them: numbers where they are given.
    `locks`: no ABS keeps the wheels from locking."""
    missing = [name for name in LIMITS if settings[name] is None]
    tables: dict[str, list[tuple[float, float]]] = {name: [] for name in missing}
    speed = LOW * math.sqrt(USUAL * circuit.tightest)
    while missing:
        try:
            start = car.straight_running_state(speed)
            if "ay" in missing:
                tables["ay"].append((speed, car.steady_turn_limit(speed).ay))
            for name, torque in (("drive", "drive"), ("braking", "brake")):
                if name in missing:
                    tables[name].append(_longitudinal_limit(car, start, torque, locks))
        except RunError:
            if not all(tables.values()):
                raise
            if "drive" in missing:  # no steady motion: the drive cannot keep this speed
                tables["drive"].append((speed, 0.0))
            break
        current_limits = {
            name: settings[name] if name not in missing else tuple(tables[name]) for name in LIMITS
        }
        if "drive" in missing and tables["drive"][-1][1] <= 0:
            break
        if circuit.fastest(**current_limits).speed.max() <= speed:
            break
        speed *= FACTOR
    return {
        name: settings[name] if name not in missing else tuple(sorted(tables[name]))
        for name in LIMITS
    }


def _longitudinal_limit(
    car: CompiledCar, start: dict[str, float], torque: str, locks: bool
) -> tuple[float, float]:
    """Speed and largest acceleration, or deceleration, while a torque rises."""
    drive = car.data.sections.drive
    sign = 1.0 if torque == "drive" else -1.0
    weight = FIRM * car.at_rest.total_mass * GRAVITY * car.mean_rolling_radius
    max_torque = (
        car.data.sections.brakes.torque
        if torque == "brake"
        else max_drive_torque(car.data.sections)
    )
    max_torque = (
        weight
        if max_torque is None or (drive.map is not None and torque == "drive")
        else min(max_torque, weight)
    )
    automatic = (
        {"gear_held": 0.0}
        if torque == "drive" and car.gear is None and len(drive.gears or ()) > 1
        else {}
    )
    inputs: dict[str, Any] = {torque: ramp(0.0, max_torque / RISE, RISE)}
    if torque == "brake":
        inputs["drive"] = car.throttle_release(start)
    run = car.simulate(
        RISE + 0.5, start, inputs, THROTTLE_FIXED | automatic, until=f"ground_speed < {SLOW}"
    )
    slips = np.max([np.abs(run[f"{c}.tyre.kappa"]) for c in car.data.wheels], axis=0)
    slipping = np.flatnonzero(slips > SLIPS)
    end = int(slipping[0]) if len(slipping) and (torque == "drive" or locks) else len(run.time)
    width = max(1, round(SMOOTH / float(run.time[1] - run.time[0])))
    ax = np.convolve(sign * run["ax"], np.ones(width) / width, mode="same")[: max(end, width)]
    inner = ax[width // 2 : len(ax) - width // 2]
    i = int(np.argmax(inner)) + width // 2
    return float(run["ground_speed"][i]), float(ax[i])


def flying_lap(vehicle: Car, settings: dict[str, Any]) -> Result:
    """A flying lap, followed by a driver; compared with the quasi-steady lap."""
    circuit, count = read_circuit(settings["track"]), round(settings["sectors"])
    _check_lap_settings(vehicle, settings)
    gear, method, pace = settings["gear"], settings["method"], settings["pace"]
    plain = compile_car(vehicle, method=method, gear=gear)
    limits = acceleration_limits(
        plain, circuit, {n: settings[n] for n in LIMITS}, not vehicle.controllers.get("abs")
    )
    best = circuit.fastest(**limits)
    path, stations = circuit.unrolled_path(LEAD[1], AFTER)
    speeds = tuple(float(v) for v in best.speed[stations])
    driver = Driver(
        path,
        settings["driver"],
        settings["preview"],
        delay=settings["delay"] or 0.0,
        circles=True,
        speeds=speeds,
    )
    car = compile_car(vehicle, driver, None, method, gear)
    start_index = int(
        np.argmin(np.abs(path.curvature[: np.searchsorted(path.s, LEAD[1] - LEAD[0])]))
    )
    line = path.length - circuit.length - AFTER  # station where the lap begins
    start, steady = car.path_state(path, path.s[start_index], pace * speeds[start_index], pace=0.0)
    end = line + circuit.length
    max_error = settings["width"] / 2 + LOST
    stop_condition = f"max(driver.station/{end + 2.0!r}, abs(path_error)/{max_error!r}) > 1"
    automatic = (
        {"gear_held": 0.0}
        if gear is None and len(vehicle.data.sections.drive.gears or ()) > 1
        else {}
    )
    run = car.simulate(
        2 * best.lap_time / pace + 20.0,
        start,
        {"speed_set": 0.0},
        {"pace": pace, **automatic},
        until=stop_condition,
    )
    station = _add_lap_distance(run, line)
    through = bool(station[-1] >= circuit.length)
    sector_ends = circuit.length * np.arange(count + 1) / count
    sector_times = np.interp(sector_ends, station, run.time, right=math.nan)
    is_on_lap = (station >= 0) & (station <= circuit.length)
    if not is_on_lap.any():
        raise RunError(
            f"{vehicle.name} left the course before the line; a lower pace than {pace:g}, "
            f"or another driver "
            "or preview may keep it on"
        )
    metrics = MetricCollector()
    metrics.add("time", sector_times[-1] - sector_times[0], "s", "lap time as driven")
    metrics.add("time_limit", best.lap_time, "s", "quasi-steady lap time at the limits of the car")
    for i in range(count):
        limit = float(np.diff(np.interp(sector_ends[i : i + 2], best.s, best.time))[0])
        metrics.add(
            f"sector_{i + 1}", sector_times[i + 1] - sector_times[i], "s", f"time of sector {i + 1}"
        )
        metrics.add(f"sector_{i + 1}_limit", limit, "s", f"quasi-steady time of sector {i + 1}")
    metrics.add("distance", circuit.length, "m", "length of the course along its line")
    for name, reduce in (("max", np.max), ("min", np.min)):
        metrics.add(
            f"speed_{name}",
            3.6 * reduce(run["ground_speed"][is_on_lap]),
            "km/h",
            f"{name}imum speed",
        )
    metrics.add(
        "ay_max", np.abs(run["ay"][is_on_lap]).max(), "m/s2", "largest lateral acceleration"
    )
    metrics.add("ax_max", run["ax"][is_on_lap].max(), "m/s2", "largest acceleration")
    metrics.add("ax_min", run["ax"][is_on_lap].min(), "m/s2", "largest deceleration, negative")
    error = np.abs(run["path_error"][is_on_lap])
    metrics.add("path_error", error.max(), "m", "largest distance from the line")
    metrics.add(
        "path_error_at",
        station[is_on_lap][int(np.argmax(error))],
        "m",
        "distance along the lap where that was",
    )
    clearances = {
        name: settings["width"] / 2 - distances[is_on_lap]
        for name, distances in _max_wheel_deviations(car, run, circuit, line).items()
    }
    axle = min(clearances, key=lambda name: float(clearances[name].min()))
    edge = metrics.add(
        "edge",
        clearances[axle].min(),
        "m",
        "smallest distance of the wheels from the edges; negative: outside",
    )
    edge_at = metrics.add(
        "edge_at",
        station[is_on_lap][int(np.argmin(clearances[axle]))],
        "m",
        "distance along the lap where that was",
    )
    metrics.add(
        "side_slip_max", np.abs(run["side_slip"][is_on_lap]).max(), "deg", "largest side slip"
    )
    criteria = [
        Criterion(
            f"the car comes around: {min(station[-1], circuit.length):.0f} of "
            f"{circuit.length:.0f} m",
            through,
        ),
        Criterion(
            f"its wheels stay on the course: {1000 * edge:.0f} mm from the edge, axle "
            f"{axle} at {edge_at:.0f} m",
            edge > 0,
        ),
    ]
    notes = [
        f"the driver keeps {pace:g} of the quasi-steady speed, on the line of the course as it is"
    ]
    for name, label in (("ay", "lateral"), ("drive", "acceleration"), ("braking", "deceleration")):
        if settings[name] is None:
            low, high = (f"{a:.3g}" for a in sorted((limits[name][0][1], limits[name][-1][1])))
            speed = " to ".join(f"{3.6 * v:.0f}" for v in (limits[name][0][0], limits[name][-1][0]))
            notes.append(f"limit of the car, {label}: {low} to {high} m/s2 at {speed} km/h")
    if not steady:
        notes.append("the run does not begin in steady motion")
    shown_settings = {**settings, "track": circuit.name}
    return Result(
        "lap",
        vehicle.name,
        shown_settings,
        {"lap": run},
        metrics.as_metrics(),
        criteria,
        notes,
        tuple((c, DISTANCE) for c in ("ay", "ax", "steering_wheel", "path_error")),
        (_speed_curves(run, best), _lap_plan_view(run, circuit, settings["width"])),
    )


def _check_lap_settings(vehicle: Car, settings: dict[str, Any]) -> None:
    """Settings that no vehicle, or not this one, can have."""
    if settings["sectors"] != round(settings["sectors"]) or settings["sectors"] > MOST_SECTORS:
        raise ModelError(
            f"manoeuvre lap: sectors={settings['sectors']:g} must be a whole number from 1 "
            f"to {MOST_SECTORS}"
        )
    wide = max(
        [2 * abs(float(y)) for _, y, _ in vehicle.stand.contact_points]
        + [2 * axle.record.at[1] for axle in vehicle.data.simple_axles]
    )
    if settings["width"] <= wide:
        raise ModelError(
            f"manoeuvre lap: width={settings['width']:g} m of the course must be more than "
            f"the track of "
            f"{vehicle.name}, {wide:.4g} m"
        )


def _max_wheel_deviations(
    car: CompiledCar, run: Run, circuit: Circuit, line: float
) -> dict[str, Array]:
    """Largest distance of the wheels of each axle from the line, m: the axles of trailers follow
    inside of it."""
    contact, half_tracks = car.at_rest.contact_points, {}
    paths = axle_paths(car, run)
    for name, i in (("front", 0), ("rear", 2)):
        half_tracks[name] = abs(float(contact[i][1] - contact[i + 1][1])) / 2
    half_tracks |= {
        axle.parameter_suffix: float(axle.record.at[1]) for axle in car.data.simple_axles
    }
    n, ds = len(circuit.x), circuit.length / len(circuit.x)
    x, y, heading = np.array(circuit.x), np.array(circuit.y), np.unwrap(circuit.heading)
    station, yaw = run["driver.station"] - line, np.radians(run["yaw"])
    distances = {}
    for name, (px, py) in paths.items():
        s = (
            station + (px - run["x"]) * np.cos(yaw) + (py - run["y"]) * np.sin(yaw)
        )  # a first guess, from the car
        for _ in range(NEAREST):
            k = np.round(s / ds).astype(int)
            i = k % n
            s = k * ds + (px - x[i]) * np.cos(heading[i]) + (py - y[i]) * np.sin(heading[i])
        i = np.round(s / ds).astype(int) % n
        distances[name] = (
            np.abs((py - y[i]) * np.cos(heading[i]) - (px - x[i]) * np.sin(heading[i]))
            + half_tracks[name]
        )
    return distances


def _add_lap_distance(run: Run, line: float) -> Array:
    """The distance along the lap as a channel of the run, negative before the line."""
    distance: Array = run["driver.station"] - line
    run.channels[DISTANCE], run.units[DISTANCE], run.labels[DISTANCE] = (
        distance,
        "m",
        "distance along the lap",
    )
    return distance


def _speed_curves(run: Run, best: SpeedProfile) -> Curve:
    """Speed over the distance, as driven and quasi-steady."""
    lines = (
        ("driven", run[DISTANCE], 3.6 * run["ground_speed"]),
        ("limit", best.s, 3.6 * best.speed),
    )
    return Curve("distance along the lap, m", "speed, km/h", lines)


def _lap_plan_view(run: Run, circuit: Circuit, width: float) -> Curve:
    """The way of the mass centre between the edges of the course."""
    x, y, heading = (np.append(c, c[0]) for c in (circuit.x, circuit.y, circuit.heading))
    edges = [
        (x - offset * np.sin(heading), y + offset * np.cos(heading))
        for offset in (-width / 2, width / 2)
    ]
    ex, ey = (np.concatenate([edges[0][k], [np.nan], edges[1][k]]) for k in (0, 1))
    return Curve(
        ON_GROUND, "y of the mass centre, m", (("car", run["x"], run["y"]),), (("edges", ex, ey),)
    )


LAP = Manoeuvre(
    "lap",
    "a flying lap of a closed course: lap time at the limit, and driven",
    {
        "track": Setting(
            "club",
            "",
            f"closed course: {', '.join(SHIPPED)}, or a CSV file of x and y in m",
            data=True,
        ),
        "pace": Setting(0.9, "", "speed of the driver over that of the quasi-steady lap"),
        "width": Setting(8.0, "m", "width of the course"),
        "sectors": Setting(3.0, "", "number of sectors of equal length"),
        "ay": Setting(
            None, "m/s2", "limit of lateral acceleration; that of the car over speed if not given"
        ),
        "drive": Setting(
            None, "m/s2", "limit of acceleration; that of the car over speed if not given"
        ),
        "braking": Setting(
            None, "m/s2", "limit of deceleration; that of the car over speed if not given"
        ),
        "driver": Setting("macadam", "", ", ".join(PREVIEW)),
        "preview": Setting(0.5, "s", "preview time of the driver"),
        "delay": Setting(None, "s", "delay of the driver's eyes; none if not given"),
    },
    flying_lap,
    "quasi-steady speed within the limits of the car: Milliken & Milliken, Race Car Vehicle "
    "Dynamics, ch. 9",
    first=("time", "time_limit"),
    in_all=False,
)
