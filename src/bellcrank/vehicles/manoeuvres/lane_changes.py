"""Lane changes between cones, driven along a path.

Lanes are given as in the standards: lengths, widths by the width of the car, and how far the second
lane lies aside. The path goes through the middle of the lanes, by quintic steps that begin and end
within them. A cone is touched where the outline of a unit leaves a lane within its length. Lanes
are as wide as the widest unit requires.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.control.driver import PREVIEW
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.design.trailer_data import CHASSIS
from bellcrank.vehicles.driver_path import Change
from bellcrank.vehicles.manoeuvres.compiled_car import (
    DEFAULT_DRIVER,
    ROLLOVER_ANGLE,
    THROTTLE_FIXED,
    CompiledCar,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.footprints import Footprint, vehicle_footprints
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    ON_GROUND,
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.straight_line_tests import SLOW
from bellcrank.vehicles.manoeuvres.track import CONES

Array = np.ndarray[Any, Any]
FIRST_CONE_X = 40.0  # m, from where the car starts to the first cone
THROTTLE_RELEASE_DISTANCE = (
    2.0  # m behind the first cone where the throttle is released, where it is
)
STOPPING_SPEED = 1.0  # m/s: a vehicle that slows down to it does not come through
TRUCK_PREVIEW = 0.7  # s: looking nearer, the driver answers to the sway of a high mass centre
JACKKNIFE_ANGLE = 60.0  # deg of articulation: jack-knifed
FREE = 2.0  # s behind the cones, in which sway of trailers must not grow
SEARCHED = (30.0, 200.0)  # km/h
STRIDES = (16.0, 1.0)  # km/h, of the search, at first and at last
# Lines of a driver who uses the lanes: fractions of lanes 1, 3, 3 and 5 that steps reach into, and
# of the room by the car in lanes 3 and 5 by which the line stays short of their middles
LINES = {"iso3888-1": (0.4, 0.3, 0.3, 0.3, 0.0, 0.0), "iso3888-2": (0.3, 0.35, 0.1, 0.3, 0.7, 0.3)}
LINE_SEARCH_STEPS = (4.0, 4.0, 4.0, 4.0, 0.3, 0.3)  # m, by which a line is changed at first


@dataclass(frozen=True)
class Lane:
    """A segment between cones: from x to x (m), right and left edge."""

    begin: float
    end: float
    right: float
    left: float

    @property
    def middle(self) -> float:
        return (self.right + self.left) / 2


def iso3888_1(width: float, offset: float) -> list[Lane]:
    """Double lane change: right edges of lanes 1 and 5 in line, that of lane 3 by `offset` to the
    left."""
    w1, w3, w5 = 1.1 * width + 0.25, 1.2 * width + 0.25, 1.3 * width + 0.25
    y_right = -w1 / 2
    x = FIRST_CONE_X
    return [
        Lane(x, x + 15, y_right, y_right + w1),
        Lane(x + 45, x + 70, y_right + offset, y_right + offset + w3),
        Lane(x + 95, x + 125, y_right, y_right + w5),
    ]


def iso3888_2(width: float, offset: float) -> list[Lane]:
    """Obstacle avoidance: the right edge of lane 3 by `offset` to the left of the left edge of lane
    1."""
    w1, w3, w5 = 1.1 * width + 0.25, width + 1.0, max(1.3 * width + 0.25, 3.0)
    y_right = -w1 / 2
    x = FIRST_CONE_X
    return [
        Lane(x, x + 12, y_right, y_right + w1),
        Lane(x + 25.5, x + 36.5, y_right + w1 + offset, y_right + w1 + offset + w3),
        Lane(x + 49, x + 61, y_right + w1 - w5, y_right + w1),
    ]


@dataclass(frozen=True, eq=False)
class LaneChangeRun:
    """One way through the cones: the smallest distance of the car from the edges of lanes, x where
    it was, and that of trailers (m; negative: a cone was touched); what happened to an unstable
    unit; whether the car came through."""

    run: Run
    clearance: float
    clearance_x: float
    trailer_clearance: float
    instability: str
    is_completed: bool

    @property
    def clearance_score(self) -> float:
        """The distance of all units, positive if clean; negative also where they do not come
        through as they should."""
        room = min(self.clearance, self.trailer_clearance)
        return room if self.is_completed and not self.instability else min(room, 0.0) - 1.0


def clearance(run: Run, lanes: list[Lane], outline: Footprint) -> tuple[float, float]:
    """The smallest distance of an outline from the edges of lanes, and x where it was; negative: a
    cone was touched."""
    points = outline.sides(run)
    px, py = points[..., 0], points[..., 1]
    room = np.full(px.shape, np.inf)
    for lane in lanes:
        inside = (px >= lane.begin) & (px <= lane.end)
        room = np.where(inside, np.minimum(py - lane.right, lane.left - py), room)
    i = np.unravel_index(int(np.argmin(room)), room.shape)
    return float(room[i]), float(px[i])


def lane_instability_message(run: Run, trailers: Sequence[str], beyond: float) -> str:
    """What happened to a unit that did not stay stable; all units have left the cones where the car
    is at x > `beyond` (m). Empty: nothing."""
    for unit, roll in (("the car", "roll"), *((name, f"{name}.roll") for name in trailers)):
        if np.abs(run[roll]).max() > ROLLOVER_ANGLE:
            return f"{unit} overturns"
    is_past = run["x"] > beyond
    for name in trailers:
        angle = np.abs(run[f"{name}.articulation"])
        if angle.max() > JACKKNIFE_ANGLE:
            return f"{name} jack-knifes: its articulation angle is up to {angle.max():.0f} deg"
        if is_past.any() and angle[is_past].max() > angle[~is_past].max():
            return f"the sway of {name} grows behind the cones"
    return ""


def max_unit_width(data: CarData) -> float:
    """Width (m) of the widest unit, by which lanes are made."""
    return max(data.sections.body.width, *(t.record.width for t in data.trailers), 0.0)


def _tail_distance(data: CarData) -> float:
    """How far (m) the last unit reaches behind the mass centre of the body, all in line."""
    positions, tails = {CHASSIS: 0.0}, [0.0]
    for trailer in data.trailers:
        positions[trailer.name] = positions[trailer.towed_by] + float(trailer.hitch_point[0])
        tails.append(
            positions[trailer.name] + trailer.record.body_centre_x - trailer.record.length / 2
        )
    return float(data.sprung.cg[0]) - min(tails)


def _lane_change_test(
    name: str, lanes_of: Callable[[float, float], list[Lane]]
) -> Callable[..., Result]:
    def drive(vehicle: Car, settings: dict[str, Any]) -> Result:
        lanes, trailers = (
            lanes_of(max_unit_width(vehicle.data), settings["offset"]),
            vehicle.data.trailers,
        )
        kind, preview = settings["driver"], settings["preview"]
        if preview is None and kind == DEFAULT_DRIVER.kind:
            preview = (
                TRUCK_PREVIEW if vehicle.data.sections.kind == "truck" else DEFAULT_DRIVER.preview
            )
        driver = replace(
            DEFAULT_DRIVER,
            kind=kind,
            preview=preview,
            delay=settings["delay"] or 0.0,
            lag=settings["lag"],
            rate=settings["rate"],
        )
        car = compiled_car(vehicle, settings, driver)
        usual_way = default_line_offsets(LINES[name], lanes, max_unit_width(vehicle.data))
        engine = settings.get("engine")
        drive = _run_through_cones(
            car, lanes, lane_change_path(lanes, usual_way), settings["speed"], engine
        )
        run, room = drive.run, drive.clearance
        runs, metrics = {"lane_change": run}, MetricCollector()
        metrics.add(
            "clearance", room, "m", "smallest distance from the line of cones; negative: touched"
        )
        metrics.add(
            "clearance_at",
            drive.clearance_x - FIRST_CONE_X,
            "m",
            "position of the smallest distance, from the first cone",
        )
        metrics.add(
            "path_error", np.abs(run["path_error"]).max(), "m", "largest distance from the path"
        )
        fast = run["ground_speed"] > SLOW
        for channel, label in (
            ("steering_wheel", "steering-wheel angle"),
            ("steering_torque", "steering torque"),
            ("ay", "lateral acceleration"),
            ("yaw_rate", "yaw rate"),
            ("side_slip", f"side slip above {3.6 * SLOW:g} km/h"),
            ("roll", "roll"),
        ):
            values = run[channel][fast] if channel == "side_slip" else run[channel]
            metrics.add(
                f"{channel}_max",
                np.abs(values).max(initial=0.0),
                run.units[channel],
                f"largest {label}",
            )
        lowest = min(float(run[f"{c}.tyre_load"].min()) for c in vehicle.data.all_wheels)
        metrics.add("load_min", lowest, "N", "smallest wheel load")
        metrics.add("exit_speed", 3.6 * run["speed"][-1], "km/h", "speed at the end")
        criteria = [
            Criterion(
                f"no cone is touched: {1000 * room:.0f} mm from the nearest",
                room > 0 and drive.is_completed,
            )
        ]
        if not drive.is_completed:
            criteria.append(
                Criterion(f"the car comes through: it ends at x = {run['x'][-1]:.0f} m", False)
            )
        if trailers:
            label = "smallest distance of trailers from the line of cones; negative: touched"
            trailer_clearance = metrics.add(
                "clearance_trailers", drive.trailer_clearance, "m", label
            )
            label = (
                f"no cone is touched by trailers: {1000 * trailer_clearance:.0f} mm from the "
                f"nearest"
            )
            criteria.append(Criterion(label, trailer_clearance > 0))
        if trailers or drive.instability:
            criteria.append(
                Criterion(
                    drive.instability or "no unit overturns, jack-knifes or sways more and more",
                    not drive.instability,
                )
            )
        throttle_note = (
            "the throttle is fixed"
            if engine is None
            else f"the throttle is released {THROTTLE_RELEASE_DISTANCE:g} m after the first cone"
        )
        notes = [throttle_note, "offset counts from edge to edge of the lanes"]
        if max_unit_width(vehicle.data) > vehicle.data.sections.body.width:
            notes.append(
                f"lanes are for the width of the widest trailer, {max_unit_width(vehicle.data):g} m"
            )
        if settings["search"]:
            label = "highest entry speed without a cone, on the best line found"
            label += "; all units count and are stable" if trailers else ""
            fastest, best, clean = _find_clean_speed(car, lanes, usual_way, engine)
            metrics.add("clean_speed", fastest, "km/h", label)
            if clean is not None:
                runs["clean"] = clean
                corners_text = ", ".join(
                    f"({x - FIRST_CONE_X:.1f}, {y:.2f})"
                    for x, y in lane_change_path(lanes, best).corners
                )
                notes.append(
                    f"the best line deviates from straight ahead at x and y of {corners_text} m"
                )
        return Result(
            name,
            vehicle.name,
            settings,
            runs,
            metrics.as_metrics(),
            criteria,
            notes,
            ("path_error", "steering_wheel", "ay", "yaw_rate", "roll", "speed"),
            (_lane_plan_view(run, lanes),),
        )

    return drive


def _lane_plan_view(run: Run, lanes: list[Lane]) -> Curve:
    """The way of the mass centre between the cones."""
    gap = [np.nan]
    x = np.concatenate([[a.begin, a.end, *gap, a.begin, a.end, *gap] for a in lanes])
    y = np.concatenate([[a.right, a.right, *gap, a.left, a.left, *gap] for a in lanes])
    return Curve(
        ON_GROUND, "y of the mass centre, m", (("car", run["x"], run["y"]),), ((CONES, x, y),)
    )


def _run_through_cones(
    car: CompiledCar, lanes: list[Lane], path: Change, speed: float, engine: float | None
) -> LaneChangeRun:
    """One way through the cones at a speed (km/h), the throttle held, or released so that the
    engine brakes (m/s2)."""
    v = speed / 3.6
    start = car.straight_running_state(v)
    car_outline, *trailer_outlines = vehicle_footprints(car.data, car.at_rest)
    inputs: dict[str, Any] = {"speed_set": v}
    if engine is not None:
        when = (
            FIRST_CONE_X + THROTTLE_RELEASE_DISTANCE - car_outline.ahead - car_outline.length / 2
        ) / v
        inputs["drive"] = car.throttle_release(start, engine, when)
    parameters = {**THROTTLE_FIXED, "hands": 1.0, **path.parameters()}
    start = car.with_path_driver(start, parameters)
    beyond = lanes[-1].end + max(car_outline.length, _tail_distance(car.data))
    x_stop = beyond + (FREE * v if trailer_outlines else 0.0)
    run = car.simulate(
        x_stop / v * 1.5 + 2,
        start,
        inputs,
        parameters,
        until=f"max(x - {x_stop!r}, {STOPPING_SPEED} - ground_speed) > 0",
    )
    room, x_nearest = clearance(run, lanes, car_outline)
    trailer_clearance = min(
        (clearance(run, lanes, outline)[0] for outline in trailer_outlines), default=math.inf
    )
    toppled = lane_instability_message(run, [t.name for t in car.data.trailers], beyond)
    return LaneChangeRun(
        run, room, x_nearest, trailer_clearance, toppled, bool(run["x"][-1] > lanes[-1].end)
    )


def lane_change_path(lanes: list[Lane], shape: tuple[float, ...]) -> Change:
    """The line through lanes; `shape` says how far its steps reach into them (m: out of lane 1,
    into and out of lane 3, into lane 5), and by how much it stays short of their middles (m: in
    lane 3, in lane 5)."""
    first, second, third = lanes
    a, b, c, d, inset_3, inset_5 = shape
    y = second.middle - inset_3
    return Change(
        (
            (first.end - a, first.middle),
            (second.begin + b, y),
            (second.end - c, y),
            (third.begin + d, third.middle + inset_5),
        )
    )


def default_line_offsets(
    shares: tuple[float, ...], lanes: list[Lane], width: float
) -> tuple[float, ...]:
    """A line of LINES in m, for a car of a width."""
    ones = (lanes[0], lanes[1], lanes[1], lanes[2])
    into = (share * (lane.end - lane.begin) for share, lane in zip(shares, ones, strict=False))
    short = (
        share * (lane.left - lane.right - width) / 2
        for share, lane in zip(shares[4:], lanes[1:], strict=True)
    )
    return (*into, *short)


def _find_clean_speed(
    car: CompiledCar, lanes: list[Lane], offsets: tuple[float, ...], engine: float | None
) -> tuple[float, tuple[float, ...], Run | None]:
    """The highest clean speed (km/h), its line and run: faster as long as a line is found at which
    it is clean."""
    slowest, stride = SEARCHED[0], STRIDES[0]
    speed = slowest if engine is None else slowest + stride  # coasting, the car must come through
    best, clean = math.nan, None
    while stride >= STRIDES[1] and speed <= SEARCHED[1]:
        offsets_tried, score, run = _search_clean_line(car, lanes, offsets, speed, engine)
        if score > 0:
            offsets, best, clean = offsets_tried, speed, run
        else:
            if math.isnan(best):
                return best, offsets, None
            speed, stride = best, stride / 2
        speed += stride
    return best, offsets, clean


def _search_clean_line(
    car: CompiledCar,
    lanes: list[Lane],
    offsets: tuple[float, ...],
    speed: float,
    engine: float | None,
) -> tuple[tuple[float, ...], float, Run | None]:
    """A line at which a speed is clean, or that with most room: changed one way after the other, by
    less and less."""
    max_reach = (lanes[1].end - lanes[1].begin) / 2 - 0.5

    def score_of_line(offsets: tuple[float, ...]) -> tuple[float, Run | None]:
        if not (0 <= offsets[1] <= max_reach and 0 <= offsets[2] <= max_reach):
            return -math.inf, None
        drive = _run_through_cones(car, lanes, lane_change_path(lanes, offsets), speed, engine)
        return drive.clearance_score, drive.run

    room, run = score_of_line(offsets)
    for size in (1.0, 0.5, 0.25):
        for i, scale in enumerate(LINE_SEARCH_STEPS):
            for sign in (1.0, -1.0):
                if room > 0:
                    return offsets, room, run
                candidate = (*offsets[:i], offsets[i] + sign * size * scale, *offsets[i + 1 :])
                trial = score_of_line(candidate)
                if trial[0] > room:
                    offsets, (room, run) = candidate, trial
                    break
    return offsets, room, run


def _lane_change_settings(
    speed: float, truck: float, offset: float, words: str
) -> dict[str, Setting]:
    return {
        "speed": Setting(speed, "km/h", "entry speed", truck=truck),
        "offset": Setting(offset, "m", words),
        "driver": Setting("macadam", "", ", ".join(PREVIEW)),
        "preview": Setting(
            None,
            "s",
            f"preview time of the driver; {DEFAULT_DRIVER.preview:g} of macadam "
            f"({TRUCK_PREVIEW:g} in trucks), "
            "else the usual one of its kind if not given",
        ),
        "delay": Setting(None, "s", "delay of the driver's eyes; none if not given"),
        "lag": Setting(DEFAULT_DRIVER.lag, "s", "lag of the driver's arms, of first order"),
        "rate": Setting(
            None, "deg/s", "largest steering-wheel rate of the driver; no limit if not given"
        ),
        "search": Setting(False, "", "whether the highest clean speed is searched"),
    }


DOUBLE = Manoeuvre(
    "iso3888-1",
    "double lane change",
    _lane_change_settings(80.0, 50.0, 3.5, "of lane 3 to the left, right edge to right edge"),
    _lane_change_test("iso3888-1", iso3888_1),
    "ISO 3888-1: lengths and widths by two sources; that the offset counts from edge to "
    "edge, from memory",
    first=("clearance", "ay_max", "clean_speed"),
)
AVOIDANCE = Manoeuvre(
    "iso3888-2",
    "obstacle avoidance",
    _lane_change_settings(
        60.0, 35.0, 1.0, "of lane 3 to the left, from the left edge of lane 1 to its right edge"
    )
    | {"engine": Setting(0.5, "m/s2", "deceleration by the engine when the throttle is released")},
    _lane_change_test("iso3888-2", iso3888_2),
    "ISO 3888-2: lengths and widths by two sources; that left edges of lanes 1 and 5 are in "
    "line, and where "
    "the throttle is released, from memory",
    first=("clearance", "ay_max", "clean_speed"),
)
