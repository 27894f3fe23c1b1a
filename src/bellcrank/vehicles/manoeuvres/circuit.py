"""Closed courses and the fastest speed along them, quasi-steady: a point mass within limits of
acceleration.

The line is a periodic cubic spline through points, tabulated at even stations. Limits of lateral
acceleration, drive and braking depend on the speed and combine as an ellipse. The curvature k
limits the speed, v^2 |k| <= a_y(v); from there a pass forward accelerates and a pass backward
brakes, each with what the ellipse leaves. Milliken & Milliken, Race Car Vehicle Dynamics (1995),
ch. 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath
from typing import Any, ClassVar

import numpy as np

from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.csv_table import read_csv
from bellcrank.core.numeric.real_numbers import display_text, to_float, to_float_array
from bellcrank.vehicles.arguments import require_positive_argument
from bellcrank.vehicles.driver_path import Path

Array = np.ndarray[Any, Any]
STEP, STRIDE = (
    0.25,
    4,
)  # m between stations, and how many of these lie between the points of a path to follow
FASTEST = 150.0  # m/s, where nothing else limits the speed
CORNERS = 8  # points of a course at least
SHORTEST, LONGEST = 20.0, 100e3  # m, of a course
OPEN, GAP = (
    0.2,
    0.02,
)  # of the length, that the closing piece may be, and that it may be if others are much shorter
WIDER = (
    3.0  # times the longest other distance of points, from which the closing piece counts as a gap
)
BACK = 120.0  # deg, that a course does not turn at one point
START = 3.9  # rad, where laps of the club course begin
UNITS = {"": 1.0, "m": 1.0, "km": 1000.0, "mm": 0.001}


@dataclass(frozen=True, eq=False)
class SpeedProfile:
    """The fastest speed along a closed course, as `Circuit.fastest` returns it.

    Attributes
    ----------
    s : array
        Stations in m, from the line and once around.
    speed : array
        Speed in m/s.
    ax, ay : array
        Longitudinal and lateral acceleration in m/s2.
    time : array
        Time from the line in s.

    Examples
    --------
    >>> import bellcrank as bc
    >>> lap = bc.vehicles.manoeuvres.Circuit.shipped("oval").fastest(ay=9, drive=4, braking=9)
    >>> print(f"{lap.lap_time:.1f} s")
    28.0 s
    """

    s: Array
    speed: Array
    ax: Array
    ay: Array
    time: Array

    @property
    def lap_time(self) -> float:
        """Time of the whole lap in s."""
        return float(self.time[-1])


@dataclass(frozen=True)
class Circuit(PublicDir):
    """A closed course: the line that a car follows, around and around.

    Parameters
    ----------
    name : str
        Name.
    x, y : tuple of float
        Position of the stations in m, at even distances; the first is the line where laps begin.
    heading, curvature : tuple of float
        Heading in rad, curvature in 1/m, positive to the left.
    length : float
        Length of a lap in m.

    Examples
    --------
    >>> import bellcrank as bc
    >>> oval = bc.vehicles.manoeuvres.Circuit.oval(100, 30)
    >>> round(oval.length, 1), round(oval.tightest, 1)
    (388.5, 30.0)
    """

    internals: ClassVar[tuple[str, ...]] = ("unrolled_path",)
    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    heading: tuple[float, ...]
    curvature: tuple[float, ...]
    length: float

    @classmethod
    def through(cls, x: Any, y: Any, *, name: str = "course") -> Circuit:
        """Make a closed, smooth line through points.

        Parameters
        ----------
        x, y : sequence of float
            At least eight points in m, in the direction of driving. The last may repeat the first.
        name : str, default "course"
            Name.

        Returns
        -------
        Circuit
            The course.

        Raises
        ------
        ModelError
            If there are fewer points, two at the same position, or points that make no closed
            course of 20 m to 100 km.
        """
        from scipy.interpolate import CubicSpline

        px, py = to_float_array(x), to_float_array(y)
        if px is None or py is None or px.ndim != 1 or px.shape != py.shape:
            raise ModelError(
                f"Circuit.through: x={display_text(x)} and y={display_text(y)} must be "
                f"lists of finite numbers "
                "(m) of one length"
            )
        if not np.isfinite([px, py]).all():
            i = int(np.argmax(~np.isfinite(px + py)))
            raise ModelError(
                f"Circuit.through: point {i + 1} of the course, x = {px[i]:g} and y = "
                f"{py[i]:g}, must "
                "have finite coordinates (m)"
            )
        px, py, arc = _close_polyline(px, py)
        line = CubicSpline(arc, np.column_stack([px, py]), bc_type="periodic")
        fine = np.linspace(0.0, arc[-1], max(20 * len(px), int(10 * arc[-1] / STEP)))
        s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line(fine), axis=0).T))])
        count = _station_count(float(s[-1]))
        params = np.interp(np.arange(count) / count * s[-1], s, fine)
        (dx, dy), (ax, ay) = line(params, 1).T, line(params, 2).T
        bend = (dx * ay - dy * ax) / np.hypot(dx, dy) ** 3
        heading = np.unwrap(np.arctan2(dy, dx))
        x, y = line(params).T
        return cls(name, *_columns_as_tuples(x, y, heading, bend), float(s[-1]))

    @classmethod
    def oval(cls, straight: float, radius: float) -> Circuit:
        """Make an oval: two straights and two half circles, driven to the left from the middle of a
        straight.

        Parameters
        ----------
        straight : float
            Length of a straight in m.
        radius : float
            Radius of the half circles in m.

        Returns
        -------
        Circuit
            The course. Curvature changes at once between straights and half circles.
        """
        require_positive_argument("Circuit.oval", "m", straight=straight, radius=radius)
        length = 2 * straight + 2 * math.pi * radius
        _check_length(length, "Circuit.oval", "")
        count = _station_count(length)
        s = np.arange(count) / count * length
        bends = [straight / 2 + i * (straight + math.pi * radius) for i in (0, 1)]
        arc_lengths = [np.clip(s - b, 0.0, math.pi * radius) for b in bends]
        angle = (arc_lengths[0] + arc_lengths[1]) / radius
        curvature = np.where(
            ((arc_lengths[0] > 0) & (s < bends[0] + math.pi * radius))
            | ((arc_lengths[1] > 0) & (s < bends[1] + math.pi * radius)),
            1 / radius,
            0.0,
        )
        second_half = angle >= math.pi
        theta = np.where(second_half, angle - math.pi, angle)
        straight_x = np.select(
            [s <= bends[0], s <= bends[1], s > bends[1] + math.pi * radius],
            [s, straight / 2 - (s - bends[0] - math.pi * radius), s - length],
            0.0,
        )
        curved = curvature > 0
        end = np.where(second_half, -1.0, 1.0)
        x = np.where(curved, end * (straight / 2 + radius * np.sin(theta)), straight_x)
        y = np.where(
            curved,
            radius * (1 - end * np.cos(theta)),
            np.where((angle > 0) & (angle < 2 * math.pi - 1e-9), 2 * radius, 0.0),
        )
        return cls("oval", *_columns_as_tuples(x, y, angle, curvature), length)

    @classmethod
    def read(cls, path: str | FilePath) -> Circuit:
        """Read points of a closed course.

        Parameters
        ----------
        path : str or Path
            A CSV file with columns `x` and `y` in m, or with units in a second line or in brackets.

        Returns
        -------
        Circuit
            The course, with the name of the file.

        Raises
        ------
        ModelError
            If a column is missing or the points make no closed course.
        """
        table = read_csv(path)
        columns = {c.name.strip(" #").lower(): c for c in table.channels}
        values = []
        for axis in "xy":
            column = columns.get(axis) or columns.get(f"{axis}_m")
            if column is None:
                names = ", ".join(c.name for c in table.channels)
                raise ModelError(f"{path}: a course needs columns 'x' and 'y' in m; it has {names}")
            if column.unit.strip() not in UNITS:
                raise ModelError(
                    f"{path}: column '{column.name}' is in '{column.unit}'; a course may be in "
                    f"{', '.join(u for u in UNITS if u)}"
                )
            values.append(np.asarray(column.values, float) * UNITS[column.unit.strip()])
        try:
            return cls.through(*values, name=FilePath(path).stem)
        except ModelError as error:
            raise ModelError(f"{path}: {str(error).removeprefix('Circuit.through: ')}") from None

    @classmethod
    def shipped(cls, name: str) -> Circuit:
        """Take a course that comes with Bellcrank; both follow from formulas.

        Parameters
        ----------
        name : {"club", "oval"}
            "oval": straights of 200 m, half circles with a radius of 50 m. "club": a course of 1.1
            km with bends to both sides and a smallest radius of 26 m.

        Returns
        -------
        Circuit
            The course.
        """
        if name not in SHIPPED:
            raise ModelError(
                f"no course is called '{name}'.{did_you_mean(str(name), SHIPPED)} There are "
                f"{', '.join(SHIPPED)}; a "
                "course of your own is a CSV file with columns x and y (m)"
            )
        return SHIPPED[name]()

    @property
    def tightest(self) -> float:
        """Smallest radius in m."""
        return 1 / float(np.abs(self.curvature).max())

    def fastest(self, *, ay: Any, drive: Any, braking: Any) -> SpeedProfile:
        """Compute the fastest quasi-steady speed of a point mass along the course.

        Parameters
        ----------
        ay, drive, braking : float or sequence of pairs
            Largest lateral acceleration, acceleration and deceleration in m/s2: numbers, or pairs
            (speed in m/s, acceleration) with values constant outside. They combine as an ellipse. A
            `drive` of zero or less at a speed is the top speed.

        Returns
        -------
        SpeedProfile
            Speed, accelerations and time over the stations.

        Raises
        ------
        ModelError
            If a limit is not positive.

        Examples
        --------
        >>> import bellcrank as bc
        >>> circle = bc.vehicles.manoeuvres.Circuit.oval(0.001, 50)
        >>> print(f"{circle.fastest(ay=8, drive=3, braking=8).speed.max():.2f} m/s")
        20.00 m/s
        """
        grip = _acceleration_limit("ay", ay, positive_always=True)
        drive_limit = _acceleration_limit("drive", drive)
        brake = _acceleration_limit("braking", braking, positive_always=True)
        bend, ds = np.abs(self.curvature), self.length / len(self.x)
        limit = _cornering_speed(bend, grip, _top_speed(drive_limit))
        first = int(np.argmin(limit))
        bend, limit = np.roll(bend, -first), np.roll(limit, -first)
        forward = _limit_speed_along(limit, bend, ds, grip, drive_limit)
        backward = _limit_speed_along(
            np.roll(forward[::-1], 1), np.roll(bend[::-1], 1), ds, grip, brake
        )
        speed = np.roll(np.roll(backward, -1)[::-1], first)
        speed = np.append(speed, speed[0])
        time = np.concatenate([[0.0], np.cumsum(2 * ds / (speed[1:] + speed[:-1]))])
        s = np.arange(len(speed)) * ds
        ax = np.gradient(speed**2 / 2, s)
        return SpeedProfile(
            s, speed, ax, speed**2 * np.append(self.curvature, self.curvature[0]), time
        )

    def unrolled_path(self, before: float, after: float) -> tuple[Path, Array]:
        """The course as a path that can be followed: some metres before the line, a lap, and some
        metres after it; and the index of the station of the course for each point of the path."""
        ds, n = self.length / len(self.x), len(self.x)
        first, last = (
            -math.ceil(before / ds / STRIDE) * STRIDE,
            n + math.ceil(after / ds / STRIDE) * STRIDE,
        )
        index = np.arange(first, last + 1, STRIDE)
        heading = np.array(self.heading)
        end_heading = (
            heading[0]
            + round((heading[-1] + self.curvature[-1] * ds - heading[0]) / (2 * math.pi))
            * 2
            * math.pi
        )
        laps = np.floor_divide(index, n)
        stations = index % n
        angle = heading[stations] + laps * (end_heading - heading[0])
        return Path(
            *_columns_as_tuples(
                (index - index[0]) * ds,
                np.array(self.x)[stations],
                np.array(self.y)[stations],
                angle,
            )
        ), stations


Column = tuple[float, ...]


def _columns_as_tuples(
    a: Array, b: Array, c: Array, d: Array
) -> tuple[Column, Column, Column, Column]:
    """Columns as tuples of numbers."""
    return tuple(a.tolist()), tuple(b.tolist()), tuple(c.tolist()), tuple(d.tolist())


def _close_polyline(px: Array, py: Array) -> tuple[Array, Array, Array]:
    """Points of a closed course, the first again behind the last, and the distance over them; what
    is no course is an error."""
    call = "Circuit.through: "
    if len(px) > 1 and math.hypot(px[-1] - px[0], py[-1] - py[0]) < 1e-6:
        px, py = px[:-1], py[:-1]
    if len(px) < CORNERS:
        raise ModelError(f"{call}a closed course needs at least {CORNERS} points, given {len(px)}")
    n = len(px)
    px, py = np.append(px, px[0]), np.append(py, py[0])
    chords = np.hypot(np.diff(px), np.diff(py))
    if not (chords > 1e-6).all():
        i = int(np.argmin(chords)) + 1
        raise ModelError(
            f"{call}points {i} and {i % n + 1} of the course lie at the same position, x = "
            f"{px[i]:.6g} m "
            f"and y = {py[i]:.6g} m"
        )
    arc = np.concatenate([[0.0], np.cumsum(chords)])
    _check_length(
        float(arc[-1]),
        "Circuit.through",
        " Are the points in m? In a file, a unit may follow the name of a column: x [mm], x [km].",
    )
    heading = np.arctan2(np.diff(py), np.diff(px))
    angles = np.degrees(
        np.abs((np.diff(heading, append=heading[:1]) + math.pi) % (2 * math.pi) - math.pi)
    )
    gap = chords[-1] > max(WIDER * chords[:-1].max(), GAP * arc[-1])
    worst = (
        int(np.argmax(angles[:-2])) + 1
    )  # at the ends it turns back where it overlaps or is open
    if angles[:-2].max() > BACK:
        raise ModelError(
            f"{call}the course turns back by {angles[worst - 1]:.0f} deg at point {worst + 1}, x = "
            f"{px[worst]:.6g} m and y = {py[worst]:.6g} m; points must be in the direction "
            f"of driving and "
            f"turn by at most {BACK:g} deg each"
        )
    if chords[-1] > OPEN * arc[-1] or gap:
        raise ModelError(
            f"{call}the course is not closed: its last point lies {chords[-1]:.4g} m from "
            f"the first, and "
            f"all other points span {arc[-2]:.4g} m, at most {chords[:-1].max():.4g} m from "
            f"one to the "
            "next. Add points up to the first one; a straight needs some, too"
        )
    if angles[-2:].max() > BACK:
        raise ModelError(
            f"{call}the course turns back by {angles[-2:].max():.0f} deg between its last "
            f"point and the "
            f"first: its end overlaps its beginning. Omit points behind the first one, x = "
            f"{px[0]:.6g} m and y = {py[0]:.6g} m"
        )
    return px, py, arc


def _check_length(length: float, call: str, hint: str) -> None:
    if not SHORTEST <= length <= LONGEST:
        raise ModelError(
            f"{call}: the course is {length:.6g} m long; allowed are {SHORTEST:g} m to "
            f"{LONGEST / 1000:g} km.{hint}"
        )


def _station_count(length: float) -> int:
    """How many stations a course of some length (m) has."""
    return STRIDE * max(round(length / STEP / STRIDE), CORNERS)


def _acceleration_limit(
    name: str, value: Any, positive_always: bool = False
) -> Callable[[Any], Any]:
    """An acceleration over speed: a number, or pairs."""
    number = to_float(value)
    if number is not None:
        value = ((0.0, number),)
    pairs = to_float_array(value)
    if pairs is None or pairs.ndim != 2 or pairs.shape[1] != 2 or not np.isfinite(pairs).all():
        raise ModelError(
            f"Circuit.fastest: {name}={display_text(value)} must be a positive number "
            f"(m/s2) or pairs (speed "
            "in m/s, acceleration in m/s2)"
        )
    v, a = pairs.T
    if not (np.diff(v) > 0).all() or v[0] < 0:
        raise ModelError(
            f"Circuit.fastest: {name}={display_text(value)}: speeds must not be negative "
            f"and must increase"
        )
    if not (a > 0).all() if positive_always else not a[0] > 0:
        raise ModelError(f"Circuit.fastest: {name}={display_text(value)} must be positive (m/s2)")
    return partial(np.interp, xp=v, fp=a)


def _top_speed(drive_limit: Callable[[Any], Any]) -> float:
    """The speed from which on the drive accelerates no more."""
    v = np.linspace(0.0, FASTEST, 3001)
    no_drive = np.flatnonzero(drive_limit(v) <= 0)
    return float(v[no_drive[0]]) if len(no_drive) else FASTEST


def _cornering_speed(bend: Array, grip: Callable[[Any], Any], top: float) -> Array:
    """The largest speed of steady cornering at each station: below it the curvature can be driven
    at every speed."""
    v = np.linspace(0.0, top, 2001)[1:]
    root_radii = np.maximum.accumulate(v / np.sqrt(grip(v)))  # 1/sqrt of the largest curvature
    station_root_radii = 1 / np.sqrt(np.maximum(bend, 1e-12))
    speeds = np.interp(
        station_root_radii, np.concatenate([[0.0], root_radii]), np.concatenate([[0.0], v])
    )
    return np.asarray(speeds)


def _limit_speed_along(
    limit: Array,
    bend: Array,
    ds: float,
    grip: Callable[[Any], Any],
    accel_limit: Callable[[Any], Any],
) -> Array:
    """The speed with what the ellipse leaves for the acceleration, never above a limit; it begins
    at the slowest."""
    speeds, v = limit.copy(), float(limit[0])
    for i in range(1, len(limit)):
        lateral_fraction = v * v * float(bend[i - 1]) / float(grip(v))
        a = float(accel_limit(v)) * math.sqrt(max(0.0, 1 - lateral_fraction**2))
        v = min(float(limit[i]), math.sqrt(max(v * v + 2 * a * ds, 0.0)))
        speeds[i] = v
    return speeds


def _club_circuit_points() -> Circuit:
    """In polar coordinates, with three lobes of unequal size."""
    angle = START + np.linspace(0.0, 2 * math.pi, 240, endpoint=False)
    radius = 150 * (
        1 + 0.26 * np.cos(2 * angle + 0.4) + 0.15 * np.cos(3 * angle) + 0.03 * np.sin(5 * angle)
    )
    return Circuit.through(radius * np.cos(angle), radius * np.sin(angle), name="club")


SHIPPED: dict[str, Callable[[], Circuit]] = {
    "club": _club_circuit_points,
    "oval": lambda: Circuit.oval(200.0, 50.0),
}


def read_circuit(source: str | FilePath | Sequence[Any] | Circuit) -> Circuit:
    """A course by its name, its file or itself."""
    if isinstance(source, Circuit):
        return source
    if isinstance(source, FilePath) or (
        isinstance(source, str) and source.lower().endswith((".csv", ".txt"))
    ):
        return Circuit.read(source)
    if isinstance(source, str):
        return Circuit.shipped(source)
    raise ModelError(
        f"a course must be a name ({', '.join(SHIPPED)}), a CSV file or a Circuit, given "
        f"{display_text(source)}"
    )
