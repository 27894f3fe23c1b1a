"""Lane changes between cones, driven along a path.

Lanes are given as in the standards: lengths, widths by the width of the car, and how far the second lane lies aside.
The path goes through the middle of the lanes, by quintic steps that begin and end within them. A cone is touched where
the outline of the car (a rectangle of its length and width about the middle of the axles) leaves a lane within its
length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.library.manoeuvres.ready import HELD, USUAL, Ready, as_set
from bellcrank.library.manoeuvres.result import Criterion, Curve, Manoeuvre, Metrics, Result, Setting
from bellcrank.library.manoeuvres.straight import SLOW
from bellcrank.library.manoeuvres.track import CONES
from bellcrank.library.vehicles.car import Car
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.driver import PREVIEW
from bellcrank.library.vehicles.path import Change
from bellcrank.library.vehicles.rest import Stand
from bellcrank.run.result import Run

Array = np.ndarray[Any, Any]
ENTRY = 40.0  # m, from where the car starts to the first cone
RELEASE = 2.0  # m behind the first cone where the throttle is released, where it is
OUTLINE = 9  # points of each side
SEARCHED = (30.0, 200.0)  # km/h
STRIDES = (16.0, 1.0)  # km/h, of the search, at first and at last
# Lines of a driver who uses the lanes: fractions of lanes 1, 3, 3 and 5 that steps reach into, and of the room by the
# car in lanes 3 and 5 by which the line stays short of their middles
LINES = {"iso3888-1": (0.4, 0.3, 0.3, 0.3, 0.0, 0.0), "iso3888-2": (0.3, 0.35, 0.1, 0.3, 0.7, 0.3)}
MOVES = (4.0, 4.0, 4.0, 4.0, 0.3, 0.3)  # m, by which a line is changed at first


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
    """Double lane change: right edges of lanes 1 and 5 in line, that of lane 3 by `offset` to the left."""
    w1, w3, w5 = 1.1 * width + 0.25, 1.2 * width + 0.25, 1.3 * width + 0.25
    right = -w1 / 2
    x = ENTRY
    return [
        Lane(x, x + 15, right, right + w1),
        Lane(x + 45, x + 70, right + offset, right + offset + w3),
        Lane(x + 95, x + 125, right, right + w5),
    ]


def iso3888_2(width: float, offset: float) -> list[Lane]:
    """Obstacle avoidance: the right edge of lane 3 by `offset` to the left of the left edge of lane 1."""
    w1, w3, w5 = 1.1 * width + 0.25, width + 1.0, max(1.3 * width + 0.25, 3.0)
    right = -w1 / 2
    x = ENTRY
    return [
        Lane(x, x + 12, right, right + w1),
        Lane(x + 25.5, x + 36.5, right + w1 + offset, right + w1 + offset + w3),
        Lane(x + 49, x + 61, right + w1 - w5, right + w1),
    ]


def clearance(
    run: Run, lanes: list[Lane], length: float, width: float, middle: tuple[float, float]
) -> tuple[float, float]:
    """The smallest distance of the car's outline from the edges of lanes, and x where it was; negative: a cone was
    touched. `middle` of the car, ahead and to the left of the mass centre."""
    yaw = np.radians(run["yaw"])[:, None]
    along = np.linspace(-length / 2, length / 2, OUTLINE) + middle[0]
    x = np.concatenate([along, along])
    y = np.concatenate([np.full(OUTLINE, width / 2), np.full(OUTLINE, -width / 2)]) + middle[1]
    px = run["x"][:, None] + x * np.cos(yaw) - y * np.sin(yaw)
    py = run["y"][:, None] + x * np.sin(yaw) + y * np.cos(yaw)
    room = np.full(px.shape, np.inf)
    for lane in lanes:
        inside = (px >= lane.begin) & (px <= lane.end)
        room = np.where(inside, np.minimum(py - lane.right, lane.left - py), room)
    i = np.unravel_index(int(np.argmin(room)), room.shape)
    return float(room[i]), float(px[i])


def trailer_clearance(run: Run, lanes: list[Lane], axles: Sequence[tuple[str, float]]) -> float:
    """The smallest distance of trailers from the edges of lanes where their axles are; `axles`: full names, and how far
    they or their bodies reach to each side."""
    room = math.inf
    for axle, half in axles:
        x, y = run[f"{axle}_x"], run[f"{axle}_y"]
        for lane in lanes:
            inside = (x >= lane.begin) & (x <= lane.end)
            room = min(
                room, float(np.minimum(y[inside] - lane.right, lane.left - y[inside]).min(initial=math.inf)) - half
            )
    return room


def _change(name: str, lanes_of: Callable[[float, float], list[Lane]]) -> Callable[..., Result]:
    def drive(vehicle: Car, settings: dict[str, Any]) -> Result:
        body = vehicle.data.sections.body
        lanes = lanes_of(body.width, settings["offset"])
        kind, ahead = settings["driver"], settings["preview"]
        if ahead is None and kind == USUAL.kind:
            ahead = USUAL.preview
        driver = replace(USUAL, kind=kind, preview=ahead, delay=settings["delay"] or 0.0)
        car = as_set(vehicle, settings, driver)
        usual_way = usual_line(LINES[name], lanes, body.width)
        engine = settings.get("engine")
        run, room, at = _driven(car, lanes, line(lanes, usual_way), settings["speed"], engine)
        runs, found = {"lane_change": run}, Metrics()
        found.add("clearance", room, "m", "smallest distance from the line of cones; negative: touched")
        found.add("clearance_at", at - ENTRY, "m", "position of the smallest distance, from the first cone")
        found.add("path_error", np.abs(run["path_error"]).max(), "m", "largest distance from the path")
        fast = run["ground_speed"] > SLOW
        for channel, words in (("steering_wheel", "steering-wheel angle"), ("steering_torque", "steering torque"),
                               ("ay", "lateral acceleration"), ("yaw_rate", "yaw rate"),
                               ("side_slip", f"side slip above {3.6 * SLOW:g} km/h"), ("roll", "roll")):  # fmt: skip
            values = run[channel][fast] if channel == "side_slip" else run[channel]
            found.add(f"{channel}_max", np.abs(values).max(initial=0.0), run.units[channel], f"largest {words}")
        lowest = min(float(run[f"{c}.tyre_load"].min()) for c in ("fl", "fr", "rl", "rr"))
        found.add("load_min", lowest, "N", "smallest wheel load")
        found.add("exit_speed", 3.6 * run["speed"][-1], "km/h", "speed at the end")
        through = bool(run["x"][-1] > lanes[-1].end)
        criteria = [Criterion(f"no cone is touched: {1000 * room:.0f} mm from the nearest", room > 0 and through)]
        if not through:
            criteria.append(Criterion(f"the car comes through: it ends at x = {run['x'][-1]:.0f} m", False))
        behind = [
            (a.full_name, max(a.record.at[1], t.record.width / 2)) for t in vehicle.data.trailers for a in t.axles
        ]
        if behind:
            follows = trailer_clearance(run, lanes, behind)
            words = "smallest distance of trailers at their axles from the line of cones; negative: touched"
            found.add("clearance_trailers", follows, "m", words)
            words = f"no cone is touched by trailers at their axles: {1000 * follows:.0f} mm from the nearest"
            criteria.append(Criterion(words, follows > 0))
        held = (
            "the throttle is fixed"
            if engine is None
            else f"the throttle is released {RELEASE:g} m after the first cone"
        )
        notes = [held, "offset counts from edge to edge of the lanes"]
        if settings["search"]:
            fastest, best, clean = _fastest(car, lanes, usual_way, engine)
            found.add("clean_speed", fastest, "km/h", "highest entry speed without a cone, on the best line found")
            if clean is not None:
                runs["clean"] = clean
                told = ", ".join(f"({x - ENTRY:.1f}, {y:.2f})" for x, y in line(lanes, best).corners)
                notes.append(f"the best line deviates from straight ahead at x and y of {told} m")
        return Result(name, vehicle.name, settings, runs, found.done(), criteria, notes,
                      ("path_error", "steering_wheel", "ay", "yaw_rate", "roll", "speed"),
                      (_from_above(run, lanes),))  # fmt: skip

    return drive


def _from_above(run: Run, lanes: list[Lane]) -> Curve:
    """The way of the mass centre between the cones."""
    gap = [np.nan]
    x = np.concatenate([[a.begin, a.end, *gap, a.begin, a.end, *gap] for a in lanes])
    y = np.concatenate([[a.right, a.right, *gap, a.left, a.left, *gap] for a in lanes])
    return Curve("x, m", "y of the mass centre, m", (("car", run["x"], run["y"]),), ((CONES, x, y),))


def middle_of(at_rest: Stand, data: CarData) -> tuple[float, float]:
    """The middle of the car, ahead and to the left of the mass centre of its body, m."""
    front, rear, cg = at_rest.contact[0][0], at_rest.contact[2][0], data.sprung.cg
    return float((front + rear) / 2 - cg[0]), -float(cg[1])


def _driven(
    car: Ready, lanes: list[Lane], path: Change, speed: float, engine: float | None
) -> tuple[Run, float, float]:
    """One way through the cones at a speed (km/h), the throttle held, or released so that the engine brakes (m/s2)."""
    v = speed / 3.6
    start = car.settled(v)
    body = car.data.sections.body
    ahead, left = middle_of(car.at_rest, car.data)
    inputs: dict[str, Any] = {"speed_set": v}
    if engine is not None:
        when = (ENTRY + RELEASE - ahead - body.length / 2) / v
        inputs["drive"] = car.foot_off(start, engine, when)
    how = {**HELD, "hands": 1.0, **path.parameters()}
    start = car.taking_over(start, how)
    ends = lanes[-1].end + car.data.sections.body.length
    run = car.drive(ends / v * 1.5 + 2, start, inputs, how, until=f"x > {ends!r}")
    room, at = clearance(run, lanes, body.length, body.width, (ahead, left))
    return run, room, at


def line(lanes: list[Lane], moved: tuple[float, ...]) -> Change:
    """The line through lanes; `moved` says how far its steps reach into them (m: out of lane 1, into and out of lane 3,
    into lane 5), and by how much it stays short of their middles (m: in lane 3, in lane 5)."""
    first, second, third = lanes
    a, b, c, d, aside, back = moved
    y = second.middle - aside
    return Change(((first.end - a, first.middle), (second.begin + b, y), (second.end - c, y),
                   (third.begin + d, third.middle + back)))  # fmt: skip


def usual_line(shares: tuple[float, ...], lanes: list[Lane], width: float) -> tuple[float, ...]:
    """A line of LINES in m, for a car of a width."""
    ones = (lanes[0], lanes[1], lanes[1], lanes[2])
    into = (share * (lane.end - lane.begin) for share, lane in zip(shares, ones, strict=False))
    short = (share * (lane.left - lane.right - width) / 2 for share, lane in zip(shares[4:], lanes[1:], strict=True))
    return (*into, *short)


def _fastest(
    car: Ready, lanes: list[Lane], moved: tuple[float, ...], engine: float | None
) -> tuple[float, tuple[float, ...], Run | None]:
    """The highest clean speed (km/h), its line and run: faster as long as a line is found at which it is clean."""
    slowest, stride = SEARCHED[0], STRIDES[0]
    speed = slowest if engine is None else slowest + stride  # coasting, the car must come through
    best, clean = math.nan, None
    while stride >= STRIDES[1] and speed <= SEARCHED[1]:
        found, room, run = _better(car, lanes, moved, speed, engine)
        if room > 0:
            moved, best, clean = found, speed, run
        else:
            if math.isnan(best):
                return best, moved, None
            speed, stride = best, stride / 2
        speed += stride
    return best, moved, clean


def _better(
    car: Ready, lanes: list[Lane], moved: tuple[float, ...], speed: float, engine: float | None
) -> tuple[tuple[float, ...], float, Run | None]:
    """A line at which a speed is clean, or that with most room: changed one way after the other, by less and less."""
    most = (lanes[1].end - lanes[1].begin) / 2 - 0.5

    def tried(moved: tuple[float, ...]) -> tuple[float, Run | None]:
        if not (0 <= moved[1] <= most and 0 <= moved[2] <= most):
            return -math.inf, None
        run, room, _ = _driven(car, lanes, line(lanes, moved), speed, engine)
        return (room if run["x"][-1] > lanes[-1].end else min(room, 0.0) - 1.0), run

    room, run = tried(moved)
    for size in (1.0, 0.5, 0.25):
        for i, scale in enumerate(MOVES):
            for way in (1.0, -1.0):
                if room > 0:
                    return moved, room, run
                other = (*moved[:i], moved[i] + way * size * scale, *moved[i + 1 :])
                found = tried(other)
                if found[0] > room:
                    moved, (room, run) = other, found
                    break
    return moved, room, run


def _settings(speed: float, truck: float, offset: float, words: str) -> dict[str, Setting]:
    return {
        "speed": Setting(speed, "km/h", "entry speed", truck=truck),
        "offset": Setting(offset, "m", words),
        "driver": Setting("macadam", "", ", ".join(PREVIEW)),
        "preview": Setting(
            None,
            "s",
            f"preview time of the driver; {USUAL.preview:g} of macadam, else the usual one of its kind if not given",
        ),
        "delay": Setting(None, "s", "delay of the driver's eyes; none if not given"),
        "search": Setting(False, "", "whether the highest clean speed is searched"),
    }


DOUBLE = Manoeuvre(
    "iso3888-1",
    "double lane change",
    _settings(80.0, 50.0, 3.5, "of lane 3 to the left, right edge to right edge"),
    _change("iso3888-1", iso3888_1),
    "ISO 3888-1: lengths and widths by two sources; that the offset counts from edge to edge, from memory",
    first=("clearance", "ay_max", "clean_speed"),
)
AVOIDANCE = Manoeuvre(
    "iso3888-2",
    "obstacle avoidance",
    _settings(60.0, 35.0, 1.0, "of lane 3 to the left, from the left edge of lane 1 to its right edge")
    | {"engine": Setting(0.5, "m/s2", "deceleration by the engine when the throttle is released")},
    _change("iso3888-2", iso3888_2),
    "ISO 3888-2: lengths and widths by two sources; that left edges of lanes 1 and 5 are in line, and where "
    "the throttle is released, from memory",
    first=("clearance", "ay_max", "clean_speed"),
)
