"""Paths to follow: a line in the plane by its arc length, as cubic tables; it continues straight at
both ends. And lane changes along x by parameters, so that one program drives all of them.

Both say how a driver adds them to a model and asks for place, heading and curvature at a station,
as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from bellcrank.api.system import System
from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.real_numbers import display_text, to_float_array
from bellcrank.symbolic.expr.table import table
from bellcrank.vehicles.arguments import require_finite_argument, require_positive_argument

STEP = 1.0  # m between the points of the tables
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Path(PublicDir):
    """A line in the plane, which continues straight at both ends.

    Parameters
    ----------
    s : tuple of float
        Arc length of the points in m.
    x, y : tuple of float
        Position of the points in m.
    heading : tuple of float
        Heading of the points in rad.

    Examples
    --------
    >>> import bellcrank as bc
    >>> path = bc.vehicles.manoeuvres.Path.through([0, 50, 100], [0, 0, 0])
    >>> path.length, round(path.nearest(20, 3))
    (100.0, 20)
    """

    internals: ClassVar[tuple[str, ...]] = (
        "add_to_system",
        "position_at",
        "heading_and_curvature_at",
    )
    s: tuple[float, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    heading: tuple[float, ...]

    @classmethod
    def through(cls, x: Any, y: Any) -> Path:
        """Make a smooth line through points, cubic over the length of their chords.

        Parameters
        ----------
        x, y : sequence of float
            At least three points in m.

        Returns
        -------
        Path
            The line.

        Raises
        ------
        ModelError
            If there are fewer points, or two at the same position.
        """
        from scipy.interpolate import CubicSpline

        px, py = np.asarray(x, float), np.asarray(y, float)
        if (
            px.ndim != 1
            or px.shape != py.shape
            or len(px) < 3
            or not np.isfinite(px).all() & np.isfinite(py).all()
        ):
            raise ModelError(
                "a path needs x and y of at least three points, the same count of each"
            )
        chords = np.hypot(np.diff(px), np.diff(py))
        if not (chords > 0).all():
            raise ModelError(
                f"two points of the path lie at the same place, near point {int(np.argmin(chords))}"
            )
        arc = np.concatenate([[0.0], np.cumsum(chords)])
        line = CubicSpline(arc, np.column_stack([px, py]))
        fine = np.linspace(0.0, arc[-1], max(int(8 * arc[-1] / STEP), 16))
        tangents = line(fine, 1)
        s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line(fine), axis=0).T))])
        heading = np.unwrap(np.arctan2(tangents[:, 1], tangents[:, 0]))
        stations = np.linspace(0.0, s[-1], max(int(np.ceil(s[-1] / STEP)) + 1, 4))
        values = (np.interp(stations, s, c) for c in (*line(fine).T, heading))
        return cls(*(tuple(map(float, v)) for v in (stations, *values)))

    @property
    def length(self) -> float:
        return self.s[-1]

    @property
    def curvature(self) -> Array:
        """1/m at the points, positive to the left."""
        return np.gradient(np.array(self.heading), np.array(self.s))

    def tightest(self) -> tuple[float, float]:
        """Find the smallest radius.

        Returns
        -------
        tuple of float
            The radius and the station where it is, in m.
        """
        curvatures = np.abs(self.curvature)
        i = int(np.argmax(curvatures))
        return (1 / float(curvatures[i]) if curvatures[i] > 0 else np.inf), self.s[i]

    def add_to_system(self, s: System) -> None:
        """Adds what the formulas below need."""
        columns = (self.x, self.y, self.heading, self.curvature.tolist())
        for name, values in zip(
            ("path_x", "path_y", "path_heading", "path_curvature"), columns, strict=True
        ):
            s.define(name, table(self.s, values, 3))

    def position_at(self, s: System, station: str, name: str) -> tuple[str, str]:
        """x and y at a station; `name` is free for what is defined."""
        return f"path_x({station})", f"path_y({station})"

    def heading_and_curvature_at(self, s: System, station: str, name: str) -> tuple[str, str]:
        """Heading and curvature at a station."""
        return f"path_heading({station})", f"path_curvature({station})"

    def nearest(self, x: float, y: float) -> float:
        """Find the station nearest to a position.

        Parameters
        ----------
        x, y : float
            Position in m.

        Returns
        -------
        float
            Arc length in m.
        """
        fine = np.linspace(0.0, self.length, 20 * len(self.s))
        px, py = (np.interp(fine, self.s, v) for v in (self.x, self.y))
        return float(fine[int(np.argmin((px - x) ** 2 + (py - y) ** 2))])


@dataclass(frozen=True)
class Change(PublicDir):
    """A lane change along x and back: quintic steps between corners.

    Parameters
    ----------
    corners : tuple of pairs, default ((15.0, 0.0), (45.0, 3.5), (70.0, 3.5), (95.0, 0.0))
        Four corners (x, y) in m, with increasing x. They are parameters path_x1 to path_x4 and
        path_y1 to path_y3 of the model, so that one program drives all lane changes.

    Raises
    ------
    ModelError
        If the corners are not valid.

    Examples
    --------
    >>> import bellcrank as bc
    >>> change = bc.vehicles.manoeuvres.Change(((10, 0), (40, 3), (60, 3), (90, 0)))
    >>> change.parameters()["path_x2"]
    40.0
    """

    internals: ClassVar[tuple[str, ...]] = Path.internals
    corners: tuple[tuple[float, float], ...] = ((15.0, 0.0), (45.0, 3.5), (70.0, 3.5), (95.0, 0.0))

    def __post_init__(self) -> None:
        xs = [x for x, _ in self.corners]
        if (
            len(xs) != 4
            or not all(b > a for a, b in pairwise(xs))
            or self.corners[1][1] != self.corners[2][1]
        ):
            raise ModelError(
                f"lane change: corners={self.corners!r:.120} must be four with growing x, "
                f"the middle two "
                "with the same y"
            )

    def parameters(self) -> dict[str, float]:
        """Give the corners by the names of the parameters.

        Returns
        -------
        dict
            Values in m.
        """
        parameters = {f"path_x{i}": float(x) for i, (x, _) in enumerate(self.corners, 1)}
        return parameters | {
            f"path_y{i}": float(self.corners[j][1]) for i, j in ((1, 0), (2, 1), (3, 3))
        }

    def tightest(self) -> tuple[float, float]:
        """Find the smallest radius.

        Returns
        -------
        tuple of float
            The radius and the x where it is, in m.
        """
        radii = []
        for (x0, y0), (x1, y1) in (self.corners[:2], self.corners[2:]):
            bend = (
                abs(y1 - y0) * 10 / np.sqrt(3) / (x1 - x0) ** 2
            )  # of a quintic step, at 0.21 of it
            radii.append((1 / bend if bend > 0 else np.inf, x0 + 0.21 * (x1 - x0)))
        return min(radii)

    def add_to_system(self, s: System) -> None:
        for name, value in self.parameters().items():
            s.add_parameter(
                name, value, units="L", label=f"{name[5]} of corner {name[6]} of the lane change"
            )

    def _step_terms(self, s: System, station: str, name: str) -> list[tuple[str, str, str]]:
        """Fraction of each step that is passed, its length and how far it goes aside."""
        steps = []
        for i, (a, b) in enumerate(((1, 2), (3, 4)), 1):
            s.define(
                f"{name}_share{i}",
                f"max(0, min(1, ({station} - path_x{a})/(path_x{b} - path_x{a})))",
            )
            steps.append(
                (f"{name}_share{i}", f"(path_x{b} - path_x{a})", f"(path_y{i + 1} - path_y{i})")
            )
        return steps

    def position_at(self, s: System, station: str, name: str) -> tuple[str, str]:
        steps = [
            f"{offset}*{u}**3*(10 - 15*{u} + 6*{u}**2)"
            for u, _, offset in self._step_terms(s, station, name)
        ]
        return station, f"(path_y1 + {' + '.join(steps)})"

    def heading_and_curvature_at(self, s: System, station: str, name: str) -> tuple[str, str]:
        steps = self._step_terms(s, station, name)
        s.define(
            f"{name}_slope",
            " + ".join(f"30*{offset}/{l}*({u}*(1 - {u}))**2" for u, l, offset in steps),
        )
        bend = " + ".join(f"60*{offset}/{l}**2*{u}*(1 - {u})*(1 - 2*{u})" for u, l, offset in steps)
        return f"atan({name}_slope)", f"({bend})/(1 + {name}_slope**2)**1.5"


def lane_change(
    corners: Sequence[tuple[float, float]], before: float = 500.0, after: float = 500.0
) -> Path:
    """Make a path that is straight, then takes quintic steps from corner to corner, then is
    straight again.

    Parameters
    ----------
    corners : sequence of pairs
        Corners (x, y) in m.
    before : float, default 500.0
        Length before the origin in m.
    after : float, default 500.0
        Length after the last corner in m.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import bellcrank as bc
    >>> path = bc.vehicles.manoeuvres.lane_change([(15, 0), (45, 3.5)], before=10, after=50)
    >>> round(path.y[0], 3), round(path.y[-1], 3)
    (0.0, 3.5)
    """
    require_finite_argument("lane_change", "m", before=before)
    require_positive_argument("lane_change", "m", after=after)
    points = to_float_array(corners)
    if points is None or points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ModelError(
            f"lane_change: corners={display_text(corners)} must be pairs (x, y) of finite "
            f"numbers (m)"
        )
    if not (np.diff(points[:, 0], prepend=-before) > 0).all():
        raise ModelError(
            f"lane_change: corners={display_text(corners)} must have x that grows, after "
            f"-{before:g} m"
        )
    straight = corners[0][0] + before
    xs, ys = [np.linspace(-before, corners[0][0], max(int(straight), 2))], []
    ys.append(np.full(len(xs[0]), corners[0][1]))
    for (x0, y0), (x1, y1) in pairwise(corners):
        fraction = np.linspace(0.0, 1.0, max(int(x1 - x0), 4) + 1)[1:]
        xs.append(x0 + fraction * (x1 - x0))
        ys.append(y0 + (y1 - y0) * fraction**3 * (10 - 15 * fraction + 6 * fraction**2))
    x_end, y_end = corners[-1]
    xs.append(np.linspace(x_end, x_end + after, max(int(after), 2))[1:])
    ys.append(np.full(len(xs[-1]), y_end))
    return Path.through(np.concatenate(xs), np.concatenate(ys))


def circle(radius: float, straight: float = 30.0, turns: float = 1.0) -> Path:
    """Make a path that is straight, then a circle, with curvature that grows over the second half
    of the straight part.

    Parameters
    ----------
    radius : float
        Radius in m: positive to the left, negative to the right.
    straight : float, default 30.0
        Length of the straight part in m.
    turns : float, default 1.0
        Number of rotations.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import bellcrank as bc
    >>> path = bc.vehicles.manoeuvres.circle(50)
    >>> round(path.tightest()[0])
    50
    """
    require_finite_argument("circle", "m", radius=radius)
    require_positive_argument("circle", "m", straight=straight)
    require_positive_argument("circle", "rotations", turns=turns)
    if radius == 0:
        raise ModelError(
            "circle: radius=0 must be positive (to the left) or negative (to the right) (m)"
        )
    size = abs(radius)
    ds = 0.25
    s = np.arange(0.0, straight + 2 * np.pi * size * turns, ds)
    bend = np.clip((s - straight / 2) / (straight / 2), 0.0, 1.0)
    heading = np.cumsum(bend) * ds / radius
    x, y = np.cumsum(np.cos(heading)) * ds, np.cumsum(np.sin(heading)) * ds
    return Path.through(x[::4], y[::4])
