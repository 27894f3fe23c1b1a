"""What metrics are read from: slopes, steady values, first crossings and peaks of channels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus

Array = np.ndarray[Any, Any]
ACROSS = "ay_path"
NEAR = (
    0.99  # of the largest lateral acceleration of steady turns, from which on it counts as reached
)
KEEPS = 0.97  # of a speed, above which it counts as kept
MARGIN = 0.3  # m/s2, past where a gradient is taken


def derivative_at(x: Array, y: Array, x0: float, width: float = 0.5) -> float:
    """dy/dx near a place, by a straight line."""
    is_near = np.abs(x - x0) < width
    return (
        float(np.polyfit(x[is_near], y[is_near], 1)[0])
        if np.count_nonzero(is_near) > 2
        else float("nan")
    )


def channel_deviation(run: Run, name: str) -> Array:
    """A channel less its value in the steady motion with which the run begins."""
    difference: Array = run[name] - run[name][0]
    return difference


def path_lateral_acceleration(run: Run) -> Array:
    """Acceleration across the course of the mass centre, to the left: what bends its path, also
    while the car spins. It becomes a channel of the run, so that plots are over the acceleration
    that metrics have."""
    slip = np.radians(run["side_slip"])
    ay_path: Array = run["ay"] * np.cos(slip) - run["ax"] * np.sin(slip)
    run.channels[ACROSS] = ay_path
    run.units[ACROSS], run.labels[ACROSS] = run.units["ay"], "lateral acceleration across the path"
    return ay_path


def steady_circle_plots(*channels: str) -> tuple[str | tuple[str, str], ...]:
    """What to plot of a steady circle, over the acceleration across the path."""
    return *(
        (n, ACROSS) for n in ("steering_wheel", "roll", "side_slip", "steering_torque", *channels)
    ), "speed"


def limit_message(run: Run, ay: Array, largest: Callable[[float], float] | None = None) -> str:
    """Whether the limit of a car was found in a slow run, or what ended it before. `largest`:
    lateral acceleration (m/s2) of the steady turns of a speed (m/s), NaN if unknown, which a run at
    a fixed steering-wheel angle may approach without passing it."""
    top = int(np.argmax(ay))
    if top < len(ay) - 1 and (ay[-1] < 0.995 * ay[top] or run.time[top] < 0.9 * run.time[-1]):
        return f"the limit was reached: above {ay[top]:.3g} m/s2 the lateral acceleration falls"
    if run.status is RunStatus.STOPPED_BY_EVENT:
        return f"the limit was reached: at {ay[top]:.3g} m/s2 the car leaves the steady turn"
    end_text = f"{ay[top]:.3g} m/s2 at {3.6 * run['speed'][top]:.4g} km/h"
    ay_limit = math.nan if largest is None else largest(float(run["speed"][top]))
    steady = (
        f"; steady turns at that speed have {ay_limit:.3g} m/s2 at most"
        if math.isfinite(ay_limit)
        else ""
    )
    if ay[top] > NEAR * ay_limit:
        return f"the limit was reached: {end_text}{steady}"
    return (
        f"the limit was not reached: at the end of the run, {end_text}, the lateral "
        f"acceleration still grows{steady}"
    )


def speed_loss_notes(run: Run, target_speed: float) -> list[str]:
    """A note on a run that ends below the speed that was asked for (m/s)."""
    end_speed = float(run["speed"][-1])
    if end_speed > KEEPS * target_speed:
        return []
    return [
        f"the drive lacks power or grip: the speed at the end is {3.6 * end_speed:.4g} km/h "
        f"in place of "
        f"{3.6 * target_speed:.4g} km/h"
    ]


def reachable_accelerations(
    accelerations: Iterable[float], ay_max: float
) -> tuple[list[float], list[str]]:
    """Those lateral accelerations (m/s2) at which gradients are taken of a car that reaches
    `ay_max`, and a note on the others."""
    reachable = [a for a in accelerations if ay_max >= a + MARGIN]
    missing = ", ".join(f"{a:g}" for a in accelerations if ay_max < a + MARGIN)
    note = (
        f"no gradients at {missing} m/s2: a gradient needs {MARGIN:g} m/s2 more than where "
        f"it is taken, and the "
        f"run reached {ay_max:.3g} m/s2"
    )
    return reachable, [note] if missing else []


def distance_travelled(run: Run) -> Array:
    """Distance along the path of the mass centre since the run began, m."""
    steps = np.hypot(np.diff(run["x"]), np.diff(run["y"]))
    return np.concatenate([[0.0], np.cumsum(steps)])


def steady_state_deviation(run: Run, name: str) -> float:
    """The mean of the last second, less the value with which the run begins."""
    return float(channel_deviation(run, name)[run.time > run.time[-1] - 1.0].mean())


def first_crossing_time(t: Array, y: Array, level: float) -> float:
    """When y first reaches a level; NaN if never."""
    i = int(np.argmax(y >= level))
    if i == 0:
        return float("nan")
    return float(np.interp(level, y[i - 1 : i + 1], t[i - 1 : i + 1]))


def find_peak(t: Array, y: Array) -> tuple[float, float]:
    """Time and value of the largest y, by a parabola through its neighbours: samples are too far
    apart for lags."""
    i = int(np.argmax(y))
    if i in (0, len(y) - 1) or y[i - 1] + y[i + 1] == 2 * y[i]:
        return float(t[i]), float(y[i])
    y_prev, y_peak, y_next = y[i - 1 : i + 2]
    offset = 0.5 * (y_prev - y_next) / (y_prev - 2 * y_peak + y_next)
    return float(t[i] + offset * (t[i + 1] - t[i])), float(
        y_peak - 0.25 * (y_prev - y_next) * offset
    )


def peak_indices(y: Array) -> Iterator[int]:
    """Places where y is largest compared with its neighbours."""
    inner = y[1:-1]
    yield from (np.flatnonzero((inner > y[:-2]) & (inner >= y[2:])) + 1).tolist()


def channel_value_at(run: Run, name: str, time: float) -> float:
    """A channel at a time."""
    return float(np.interp(time, run.time, run[name]))


def zero_crossings(y: Array) -> Iterator[tuple[int, float]]:
    """Where y passes zero: the index before it, and the fraction of the step to it."""
    for i in np.flatnonzero((y[:-1] < 0) != (y[1:] < 0)).tolist():
        yield i, float(y[i] / (y[i] - y[i + 1]))
