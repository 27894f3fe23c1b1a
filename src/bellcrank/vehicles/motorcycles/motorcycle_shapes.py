"""What pictures show of a motorcycle besides its wheels: frame, fork, swing arm, engine and rider.

All points are those of the motorcycle at rest, from the rear contact: x forward, y to the left, z
up.
"""

from __future__ import annotations

import math

from bellcrank.api.system import System
from bellcrank.vehicles.motorcycles.motorcycle_data import MotorcycleData

Point = tuple[float, float, float]
PAINT, LEATHER, HELMET, STEEL, DARK = "#b3392f", "#3c4a57", "#22303c", "#9aa3ab", "#4a4f55"
ABOVE = 0.12  # m from the top of the front wheel to the steering head, at least
REACH, GRIPS, SHOULDERS = (
    0.12,
    0.32,
    0.2,
)  # m: of a grip behind the head; half of the width of handlebar and shoulders


def add_shapes(s: System, data: MotorcycleData) -> None:
    """Adds them to the model."""
    front, rear, w = data.sections.front, data.sections.rear, data.wheelbase
    (h1, h2), arm = data.heights, rear.arm if rear.spring is not None else None
    has_arm, has_fork = arm is not None, front.spring is not None and front.slider is not None
    sin, cos = math.sin(front.rake), math.cos(front.rake)
    top = max(0.62 * w, 2 * h1 + ABOVE)
    axle, hub, head = (w, 0.0, h1), (0.0, 0.0, h2), (w + data.trail - top * sin / cos, 0.0, top)
    pivot = (0.35 * w, 0.0, h2) if arm is None else arm.pivot
    origins = {
        "frame": (0.0, 0.0, 0.0),
        "steer": (w + data.trail, 0.0, 0.0),
        "fork": axle,
        "arm": pivot,
    }
    rider = data.sections.rider
    hip = 0.0
    if rider is not None:
        x, z = rider.cg[0], rider.cg[2]
        hip = z - 0.25 if rider.lean is None else rider.lean.height
        origins["rider"] = origins["frame"] if rider.lean is None else (x, 0.0, hip)

    def inside(body: str, p: Point) -> Point:
        """The same point in the axes of a body; those of the fork are inclined by the rake."""
        x, y, z = (a - b for a, b in zip(p, origins[body], strict=True))
        return (cos * x + sin * z, y, cos * z - sin * x) if body in ("steer", "fork") else (x, y, z)

    def draw(body: str, points: tuple[Point, ...], size: float, color: str, label: str) -> None:
        s.add_shape(
            body=body,
            kind="line",
            at=tuple(inside(body, p) for p in points),
            size=size,
            color=color,
            label=label,
        )

    def along(length: float, y: float) -> Point:
        """A point of a leg of the fork, so far above the axle."""
        return axle[0] - sin * length, y, axle[2] + cos * length

    thick = 0.05 if has_arm else 0.03
    tail = (-0.05 * w, 0.0, top) if has_arm else (0.2 * w, 0.0, top)
    seat = (0.35 * w, 0.0, 0.94 * top)
    draw(
        "frame",
        (head, seat, tail, pivot, head) if has_arm else (head, tail, pivot, head),
        1.2 * thick,
        PAINT,
        "frame",
    )
    carrier, color = ("arm", STEEL) if has_arm else ("frame", PAINT)
    for y in (-1.0, 1.0):
        end, leg = (
            _offset_sideways(hub, y * _leg_offset(data.rear_tyre, thick)),
            y * _leg_offset(data.front_tyre, thick),
        )
        draw(
            carrier,
            (_offset_sideways(pivot, end[1]), end) if has_arm else (pivot, end, tail),
            0.8 * thick,
            color,
            "swing arm",
        )
        grip = (head[0] - REACH, y * GRIPS, head[2] + 0.1)
        draw(
            "steer",
            (_offset_sideways(head, 0.0, 0.08), _offset_sideways(grip, grip[1] / 2), grip),
            0.6 * thick,
            DARK,
            "handlebar",
        )
        if has_fork:
            long = (top - h1) / cos
            draw(
                "steer",
                (along(long, leg), along(0.4 * long, leg)),
                0.8 * thick,
                STEEL,
                "tube of the fork",
            )
            draw("steer", (along(long, leg), head), thick, DARK, "clamp of the fork")
            draw(
                "fork",
                (along(0.55 * long, leg), _offset_sideways(axle, leg)),
                1.1 * thick,
                DARK,
                "slider of the fork",
            )
        else:
            crown = 2 * h1 + 0.05
            low = (w + data.trail - crown * sin / cos, 0.0, crown)
            draw(
                "steer",
                (
                    _offset_sideways(head, 0.0, 0.08),
                    low,
                    _offset_sideways(low, leg),
                    _offset_sideways(axle, leg),
                ),
                0.8 * thick,
                STEEL,
                "fork",
            )
        if rider is not None:
            shoulder = (x + 0.15, y * SHOULDERS, z + 0.15)
            draw("rider", ((x, 0.0, hip), shoulder), 0.16, LEATHER, "rider")
            draw(
                "rider",
                (shoulder, (x + 0.28, y * 0.34, z - 0.12), grip),
                0.08,
                LEATHER,
                "arm of the rider",
            )
            knee = (x + 0.38, y * SHOULDERS, hip - 0.12)
            foot = (pivot[0], y * SHOULDERS, pivot[2] - 0.05)
            draw("frame", ((x, y * 0.1, hip), knee, foot), 0.13, LEATHER, "leg of the rider")
    if rider is not None:
        position = inside("rider", (x + 0.22, 0.0, z + 0.38))
        s.add_shape(
            body="rider", kind="sphere", size=0.13, at=position, color=HELMET, label="helmet"
        )
    if has_arm:
        engine = (pivot[0] + 0.24, 0.0, pivot[2] + 0.02)
        s.add_shape(
            body="frame", kind="box", size=(0.36, 0.3, 0.3), at=engine, color=DARK, label="engine"
        )


def _offset_sideways(p: Point, y: float, rise: float = 0.0) -> Point:
    return p[0], y, p[2] + rise


def _leg_offset(tyre: object, clearance: float) -> float:
    """Where a leg is next to a wheel: half of its width and some room."""
    return float(getattr(tyre, "width", 0.12)) / 2 + clearance
