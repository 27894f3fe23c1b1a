"""Terrain: the height of the ground along a road, with its slope and the point of the ground
nearest to a wheel.

A terrain is a row of pieces that covers the whole line, each a cubic plus a cosine: h(x) = c0 + c1
s + c2 s^2 + c3 s^3 + a cos(w s + p), s = x - (reference of the piece). Heights may jump between
pieces; the ground then has a vertical wall there, whose edges are corners. Lengths are in the
length unit of the model. Across the road the ground does not change, but for a `Surface`, which is
a grid of heights over x and y. Terrains of van Iwaarden (2003), Modeling a vehicle with use of
partial vehicles, sections 1.7 and 6.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.random_inputs import REFERENCE, ROUGHNESS, random_signal
from bellcrank.core.argument_checks import validate_arguments
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.terrain.friction import Grip, side_frictions
from bellcrank.vehicles.terrain.ground import PiecewiseGround
from bellcrank.vehicles.terrain.surface import Surface
from bellcrank.vehicles.terrain.surface_files import (
    check_finite,
    grid_spacing,
    read_road_sections,
    road_points,
)
from bellcrank.vehicles.terrain.tandem_cams import enveloped

__all__ = [
    "Road",
    "Surface",
    "Terrain",
    "banked",
    "cosine",
    "course",
    "enveloped",
    "flat",
    "grid",
    "hill",
    "iso8608",
    "iso8608_tracks",
    "profile",
    "ramp",
]

COLUMNS = 8  # of a piece: reference, c0, c1, c2, c3, a, w, p


@dataclass(frozen=True, eq=False)
class Terrain(PiecewiseGround):
    """Ground over the whole line. `starts[i]`: where piece i + 1 begins; the first comes from minus
    infinity.

    `friction`: of the road over that of the tyres' data, for y > 0 (left) and y < 0 (right); None
    where it is one.
    """

    name: str
    starts: np.ndarray
    pieces: np.ndarray  # one row of COLUMNS numbers each
    friction: tuple[Grip, Grip] | None = None
    friction_factor: str | None = None
    lifted: tuple[str, str] | None = None  # formulas of the model: by how much, and how fast

    def __post_init__(self) -> None:
        if self.pieces.shape != (len(self.starts) + 1, COLUMNS) or not np.all(
            np.isfinite(self.pieces)
        ):
            raise ModelError(
                f"terrain '{self.name}': every piece of the ground needs {COLUMNS} finite numbers"
            )
        if not np.all(np.isfinite(self.starts)) or np.any(np.diff(self.starts) <= 0):
            raise ModelError(f"terrain '{self.name}': the pieces must follow each other along x")

    def height(self, x: Any) -> Any:
        """Height at x; at a jump that of the side of larger x."""
        return self._evaluate_derivative(x, 0)

    def slope(self, x: Any) -> Any:
        """dh/dx at x; at a corner that of the side of larger x."""
        return self._evaluate_derivative(x, 1)

    def curvature(self, x: Any) -> Any:
        """d2h/dx2 at x."""
        return self._evaluate_derivative(x, 2)

    def _evaluate_derivative(self, x: Any, order: int) -> Any:
        x = np.asarray(x, dtype=float)
        if not np.all(np.isfinite(x)):
            raise ModelError(f"terrain '{self.name}': x must be finite")
        values = _evaluate_pieces(
            self.pieces[np.searchsorted(self.starts, x, side="right")], x, order
        )
        return float(values) if values.ndim == 0 else values

    @cached_property
    def jumps(self) -> list[tuple[float, float, float]]:
        """Where the height jumps: x, height before, height after."""
        h_before = _evaluate_pieces(self.pieces[:-1], self.starts, 0)
        h_after = _evaluate_pieces(self.pieces[1:], self.starts, 0)
        scale = 1e-12 * (1 + np.abs(h_before) + np.abs(h_after)) * (1 + np.abs(self.starts))
        is_jump = np.abs(h_after - h_before) > scale
        return [
            (float(x), float(b), float(a))
            for x, b, a in zip(self.starts[is_jump], h_before[is_jump], h_after[is_jump])
        ]

    @property
    def plane(self) -> tuple[float, float] | None:
        """Height at x = 0 and slope of ground that is one plane; None for any other."""
        x0, c0, c1, *bent = self.pieces[0].tolist()
        return (c0 - c1 * x0, c1) if len(self.pieces) == 1 and not any(bent[:3]) else None

    def raised(self, by: float) -> Terrain:
        """The same ground, higher by a length."""
        pieces = self.pieces.copy()
        pieces[:, 1] += check_finite(by, "raised", "by")
        return replace(self, pieces=pieces)

    def lifted_by(self, height: str, speed: str) -> Terrain:
        """The same ground on a rig that moves it up and down: formulas of the model for how high it
        is, and how fast it rises. It is for wheels with tyres."""
        return replace(self, lifted=(str(height), str(speed)))

    def with_friction(
        self, friction: Any = None, *, left: Any = None, right: Any = None
    ) -> Terrain:
        """The same ground, more or less slippery: friction over that for which tyres are given.

        A number, or pairs (x, friction) of which each holds from its x on and the first before it
        too; `left` (y > 0) and `right` may differ.
        """
        return replace(self, friction=side_frictions(friction, left, right))

    def with_friction_factor(self, factor: str) -> Terrain:
        """The same ground with its friction multiplied by a formula of the model, such as the name
        of an input."""
        return replace(self, friction_factor=str(factor))

    def __repr__(self) -> str:
        return f"Terrain({self.name!r}: {len(self.pieces)} pieces, {len(self.jumps)} jumps)"


def _evaluate_pieces(rows: np.ndarray, x: np.ndarray, order: int) -> np.ndarray:
    """Height (order 0), slope (1) or second derivative (2) of pieces at x."""
    x0, c0, c1, c2, c3, a, w, p = np.moveaxis(rows, -1, 0)
    s = x - x0
    if order == 0:
        return np.asarray(c0 + s * (c1 + s * (c2 + s * c3)) + a * np.cos(w * s + p))
    if order == 1:
        return np.asarray(c1 + s * (2 * c2 + 3 * s * c3) - a * w * np.sin(w * s + p))
    return np.asarray(2 * c2 + 6 * s * c3 - a * w * w * np.cos(w * s + p))


def _line_piece(x0: float, height: float, slope: float = 0.0) -> list[float]:
    return [x0, height, slope, 0.0, 0.0, 0.0, 0.0, 0.0]


def _make_terrain(name: str, starts: Sequence[float], pieces: Sequence[Sequence[float]]) -> Terrain:
    return Terrain(name, np.array(starts, dtype=float), np.array(pieces, dtype=float))


# ---- the terrains


def flat(height: float = 0.0) -> Terrain:
    """Make level ground. Lengths of terrains are in the length unit of the model.

    Parameters
    ----------
    height : float, default 0.0
        Height (length).

    Returns
    -------
    Terrain
        The ground.

    Examples
    --------
    >>> import bellcrank as bc
    >>> float(bc.vehicles.terrain.flat(0.1).height(7.0))
    0.1
    """
    return _make_terrain("flat", [], [_line_piece(0.0, check_finite(height, "flat", "height"))])


def ramp(
    slope: float, start: float | None = None, length: float | None = None, height: float = 0.0
) -> Terrain:
    """Make an inclined plane, or a ramp between two levels.

    Parameters
    ----------
    slope : float
        Rise over run.
    start : float, optional
        Position x (length) before which the ground is level. Default: none; a plane.
    length : float, optional
        Length along x (length), after which the ground is level again. Default: none.
    height : float, default 0.0
        Height before `start`; of a plane, at x = 0.

    Returns
    -------
    Terrain
        The ground.

    Raises
    ------
    ModelError
        If `length` is given without `start`, or if a value is not finite.

    Examples
    --------
    >>> import bellcrank as bc
    >>> float(bc.vehicles.terrain.ramp(0.5, start=10, length=2).height(20.0))
    1.0
    """
    slope, height = check_finite(slope, "ramp", "slope"), check_finite(height, "ramp", "height")
    if start is None:
        if length is not None:
            raise ModelError(f"terrain ramp: length={length!r} needs a start")
        return _make_terrain("ramp", [], [_line_piece(0.0, height, slope)])
    x = check_finite(start, "ramp", "start")
    if length is None:
        return _make_terrain("ramp", [x], [_line_piece(x, height), _line_piece(x, height, slope)])
    end = x + check_finite(length, "ramp", "length", positive=True)
    return _make_terrain(
        "ramp",
        [x, end],
        [
            _line_piece(x, height),
            _line_piece(x, height, slope),
            _line_piece(end, height + slope * (end - x)),
        ],
    )


def hill(start: float = 5.0, length: float = 4 * math.pi, height: float = 1.0) -> Terrain:
    """Make a hill, height/2 (1 - cos(2 pi (x - start)/length)), on level ground. The defaults are
    van Iwaarden's test 4.

    Parameters
    ----------
    start : float, default 5.0
        Position x of its foot (length).
    length : float, default 4 pi
        Length along x (length).
    height : float, default 1.0
        Height (length).

    Returns
    -------
    Terrain
        The ground.

    Examples
    --------
    >>> import bellcrank as bc
    >>> float(bc.vehicles.terrain.hill(start=0, length=10, height=2).height(5.0))
    2.0
    """
    x, length = (
        check_finite(start, "hill", "start"),
        check_finite(length, "hill", "length", positive=True),
    )
    amplitude = check_finite(height, "hill", "height") / 2
    return _make_terrain(
        "hill",
        [x, x + length],
        [_line_piece(x, 0.0), _cosine_piece(x, length, amplitude), _line_piece(x + length, 0.0)],
    )


def _cosine_piece(x: float, length: float, amplitude: float) -> list[float]:
    return [x, amplitude, 0.0, 0.0, 0.0, -amplitude, 2 * math.pi / length, 0.0]


def cosine(amplitude: float, wave_number: float, height: float = 0.0) -> Terrain:
    """Make wavy ground: height + amplitude cos(wave_number x).

    Parameters
    ----------
    amplitude : float
        Amplitude (length).
    wave_number : float
        Wave number in rad per length.
    height : float, default 0.0
        Mean height (length).

    Returns
    -------
    Terrain
        The ground.

    Examples
    --------
    >>> import bellcrank as bc
    >>> float(bc.vehicles.terrain.cosine(0.02, 6.28).height(0.0))
    0.02
    """
    a, w = (
        check_finite(amplitude, "cosine", "amplitude"),
        check_finite(wave_number, "cosine", "wave_number", positive=True),
    )
    return _make_terrain(
        "cosine", [], [[0.0, check_finite(height, "cosine", "height"), 0.0, 0.0, 0.0, a, w, 0.0]]
    )


def course() -> Terrain:
    """Make the test course of van Iwaarden (2003), eq. (1.27): ski jump, drops of 0.5 m at x = 25 m
    and 35 m, hill, slope.

    Returns
    -------
    Terrain
        The ground.

    Examples
    --------
    >>> import bellcrank as bc
    >>> float(bc.vehicles.terrain.course().height(22.0))
    0.2
    """
    end = 50 + 8 * math.pi
    starts = [20.0, 25.0, 35.0, 50.0, end, 80.0]
    pieces = [
        _line_piece(20.0, 0.0),
        _line_piece(20.0, 0.0, 0.1),
        _line_piece(25.0, 0.0, 0.05),
        _line_piece(35.0, 0.0),
        _cosine_piece(50.0, 8 * math.pi, 0.5),
        _line_piece(end, 0.0),
        _line_piece(80.0, 0.0, 0.15),
    ]
    return _make_terrain("course", starts, pieces)


def profile(
    x: Sequence[float], h: Sequence[float], order: int = 1, name: str = "profile"
) -> Terrain:
    """Make ground through measured points; it is level outside its ends.

    Parameters
    ----------
    x : sequence of float
        Positions (length), not decreasing; the same position twice is a step (order 1).
    h : sequence of float
        Heights (length).
    order : {1, 3}, default 1
        Straight lines or a cubic spline.
    name : str, default "profile"
        Name in messages.

    Returns
    -------
    Terrain
        The ground.

    Raises
    ------
    ModelError
        If positions decrease, or if a value is missing or not finite.

    Examples
    --------
    >>> import bellcrank as bc
    >>> float(bc.vehicles.terrain.profile([0, 1, 2], [0, 0.1, 0]).height(0.5))
    0.05
    """
    xs, hs = _check_profile_points(x, h)
    if order == 3:
        return _spline_pieces(xs, hs, name)
    if order != 1:
        raise ModelError(
            f"terrain profile: order={order!r} must be 1 (straight lines) or 3 (cubic)"
        )
    starts, pieces = [], [_line_piece(xs[0], hs[0])]
    for (a, ha), (b, hb) in pairwise(zip(xs, hs, strict=True)):
        if b > a:
            starts.append(a)
            pieces.append(_line_piece(a, ha, (hb - ha) / (b - a)))
    starts.append(xs[-1])
    pieces.append(_line_piece(xs[-1], hs[-1]))
    return _make_terrain(name, starts, pieces)


def _check_profile_points(
    x: Sequence[float], h: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Checked points of a profile; all problems are reported at once."""
    try:
        xs, hs = np.asarray(x, dtype=float), np.asarray(h, dtype=float)
    except (TypeError, ValueError):
        raise ModelError("terrain profile: x and h must be numbers") from None
    if xs.ndim != 1 or xs.shape != hs.shape or len(xs) < 2:
        raise ModelError(
            f"terrain profile: x and h must be two rows of the same length, at least 2; "
            f"they have shapes {xs.shape}, "
            f"{hs.shape}"
        )
    problems = []
    non_finite = np.flatnonzero(~np.isfinite(xs))
    if len(non_finite):
        problems.append(
            f"x[{non_finite[0]}] = {xs[non_finite[0]]} is not a finite number "
            f"({len(non_finite)} such)"
        )
    gaps = np.flatnonzero(~np.isfinite(hs))
    if len(gaps):
        problems.append(
            f"the ground has no height at x = {xs[gaps[0]]:g} (h[{gaps[0]}] = "
            f"{hs[gaps[0]]}; {len(gaps)} such): gaps "
            "are not allowed"
        )
    falling = np.flatnonzero(np.diff(xs) < 0)
    if len(falling):
        problems.append(
            f"x goes back from {xs[falling[0]]:g} to {xs[falling[0] + 1]:g} "
            f"(x[{falling[0] + 1}]); it must not decrease"
        )
    if xs[0] == xs[-1]:
        problems.append("all x are the same")
    if problems:
        raise ModelError("terrain profile: " + "; ".join(problems))
    return xs.tolist(), hs.tolist()


def _spline_pieces(xs: list[float], hs: list[float], name: str) -> Terrain:
    from scipy.interpolate import CubicSpline

    if any(b <= a for a, b in pairwise(xs)):
        raise ModelError("terrain profile: order=3 cannot jump; x must increase")
    c = CubicSpline(xs, hs, bc_type="clamped").c  # level at the ends, as the ground past
    pieces = [_line_piece(xs[0], hs[0])]
    pieces += [
        [x, d, cc, b, a, 0.0, 0.0, 0.0] for x, a, b, cc, d in zip(xs, *c.tolist(), strict=False)
    ]
    return _make_terrain(name, xs, [*pieces, _line_piece(xs[-1], hs[-1])])


def iso8608(
    road: str | float = "C",
    *,
    seed: int,
    length: float = 1000.0,
    spacing: float = 0.25,
    wavelengths: tuple[float, float] | None = None,
    waviness: float = 2.0,
) -> Terrain:
    """Make a random road of a class of ISO 8608.

    The displacement spectrum is G_d(n) = G_d(n0) (n/n0)^-waviness, one-sided, with n0 = 0.1
    cycles/m. G_d(n0) is the geometric mean of the class: 16e-6 m^3 for A, four times more with each
    letter. The road is a Gaussian process, a cubic spline through points every `spacing`, level
    before 0 and after `length`.

    Parameters
    ----------
    road : {"A" ... "H"} or float, default "C"
        Class, or G_d(n0) in m^3.
    seed : int
        Seed: the same seed gives the same road.
    length : float, default 1000.0
        Length in m.
    spacing : float, default 0.25
        Distance of the points in m.
    wavelengths : pair of float, optional
        Longest and shortest wavelength in m. Default: a quarter of the length, at most 100 m, and
        four spacings.
    waviness : float, default 2.0
        Exponent of the spectrum.

    Returns
    -------
    Terrain
        The ground.

    Examples
    --------
    >>> import bellcrank as bc
    >>> road = bc.vehicles.terrain.iso8608("B", seed=1, length=100)
    >>> abs(float(road.height(50.0))) < 0.1
    True
    """
    x, h = _random_road_points(road, seed, length, spacing, wavelengths, waviness)
    return profile(x.tolist(), h.tolist(), order=3, name=f"ISO 8608 {road}")


def iso8608_tracks(
    road: str | float = "C",
    *,
    seed: int,
    track: float = 1.5,
    length: float = 1000.0,
    spacing: float = 0.25,
    wavelengths: tuple[float, float] | None = None,
) -> tuple[Terrain, Terrain]:
    """Make the left and right track of a random road. The left one is that of `iso8608` with the
    same arguments.

    The road is isotropic with waviness 2, for which both tracks have the coherence g(n) = 2 pi n b
    K1(2 pi n b), K1 the modified Bessel function (Kamash & Robson 1978, The application of isotropy
    in road surface modelling, J. Sound and Vibration 57, 89-100): the right track is g times the
    left plus sqrt(1 - g^2) times another road, line by line.

    Parameters
    ----------
    road, seed, length, spacing, wavelengths : optional
        As of `iso8608`.
    track : float, default 1.5
        Distance b of the tracks in m.

    Returns
    -------
    (Terrain, Terrain)
        Left and right ground.

    Examples
    --------
    >>> import bellcrank as bc
    >>> left, right = bc.vehicles.terrain.iso8608_tracks("B", seed=1, length=100)
    >>> one_track = bc.vehicles.terrain.iso8608("B", seed=1, length=100)
    >>> float(left.height(50.0)) == float(one_track.height(50.0))
    True
    """
    from scipy.special import k1

    b = check_finite(track, "iso8608_tracks", "track", True)
    x, left = _random_road_points(road, seed, length, spacing, wavelengths, 2.0)
    independent = _random_road_points(
        road, np.random.SeedSequence([int(seed), 1]), length, spacing, wavelengths, 2.0
    )[1]
    lines = np.fft.rfftfreq(len(x) - 1, x[1] - x[0])
    wave = 2 * np.pi * np.maximum(lines, 1e-12) * b
    g = np.minimum(wave * k1(wave), 1.0)
    spectrum = g * np.fft.rfft(left[:-1]) + np.sqrt(1 - g**2) * np.fft.rfft(independent[:-1])
    h = np.fft.irfft(spectrum, len(x) - 1)
    right = [*h.tolist(), float(h[0])]
    return tuple(
        profile(x.tolist(), list(y), order=3, name=f"ISO 8608 {road}, {side}")
        for side, y in (("left", left.tolist()), ("right", right))
    )  # type: ignore[return-value]


def _random_road_points(
    road: str | float,
    seed: Any,
    length: float,
    spacing: float,
    wavelengths: tuple[float, float] | None,
    waviness: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Points of a random road; the last has the height of the first."""
    size = _roughness_coefficient(road)
    length, spacing = (
        check_finite(length, "iso8608", "length", True),
        check_finite(spacing, "iso8608", "spacing", True),
    )
    longest, shortest = wavelengths or (min(length / 4, 100.0), 4 * spacing)
    count = round(length / spacing)
    if not (2 * spacing < shortest < longest <= length):
        raise ModelError(
            f"terrain iso8608: wavelengths from {longest:g} to {shortest:g} m do not fit a "
            f"road of {length:g} m with "
            f"a point every {spacing:g} m"
        )
    rng = np.random.default_rng(seed)
    lines = np.arange(math.ceil(length / longest), math.floor(length / shortest) + 1) / length
    gauss = np.sqrt(rng.exponential(size=len(lines)))  # the size of a complex Gaussian number

    def density(n: np.ndarray) -> np.ndarray:
        return size * (n / REFERENCE) ** -waviness * gauss**2

    h = random_signal(density, lines, length, count, rng)
    return np.arange(count + 1) * (length / count), np.append(h, h[0])


def _roughness_coefficient(road: str | float) -> float:
    if isinstance(road, str):
        if road.upper() not in ROUGHNESS:
            raise ModelError(
                f"road class {road!r} is not known; it is one of {', '.join(ROUGHNESS)}, or "
                f"G_d in m^3"
            )
        return ROUGHNESS[road.upper()]
    return check_finite(road, "iso8608", "road", positive=True)


# ---- ground over x and y


def grid(x: Any, y: Any, h: Any, outside: str = "level", name: str = "grid") -> Surface:
    """Make ground through heights over a grid, with continuous slopes.

    Parameters
    ----------
    x, y : sequence of float
        Positions (length), increasing by even steps.
    h : array_like
        Heights `h[i][j]` at `(x[i], y[j])` (length).
    outside : {"level", "slope"}, default "level"
        Outside its edges the ground is level, or continues with the slope of the edge.
    name : str, default "grid"
        Name in messages.

    Returns
    -------
    Surface
        The ground.

    Raises
    ------
    ModelError
        If the positions are not even, or if the heights do not match them.

    Examples
    --------
    >>> import bellcrank as bc
    >>> ground = bc.vehicles.terrain.grid([0, 1, 2], [0, 1], [[0, 0], [0.1, 0.1], [0.2, 0.2]])
    >>> round(float(ground.height(1.0, 0.5)), 6)
    0.1
    """
    return Surface.over(x, y, h, outside, name)


@dataclass(frozen=True, eq=False)
class Road:
    """A road along a line that begins at the origin, along x and at height 0.

    Attributes
    ----------
    ground : Surface
        The ground.
    x, y : ndarray
        Points of the line in m.
    right, left : float
        Distances of the edges to the left of the line in m; that of the right edge is negative.
    """

    ground: Surface
    x: np.ndarray
    y: np.ndarray
    right: float
    left: float

    @classmethod
    @validate_arguments
    def read(cls, path: str | Path, *, spacing: float | tuple[float, float] | None = None) -> Road:
        """Read a road of OpenCRG text, to be driven along.

        The road is moved so that its line begins at the origin, along x and at height 0. At its
        ends it continues for one spacing, then becomes level.

        Parameters
        ----------
        path : str or Path
            The file (.crg).
        spacing : float or pair of float, optional
            Distance of the points of the ground in m along x and y. Default: that of the file.

        Returns
        -------
        Road
            `road.ground`, and its line in m: `bc.vehicles.manoeuvres.Path.through(road.x, road.y)`.

        Raises
        ------
        ModelError
            If the file cannot be read.

        Examples
        --------
        A straight road of 2 m, 3 m wide, that rises by 0.1 m per m:

        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> lines = ["$ROAD_CRG", "REFERENCE_LINE_INCREMENT = 1.0", "$", "$KD_DEFINITION", "#:LDFI"]
        >>> lines += ["D:reference line phi,rad"]
        >>> lines += ["D:long section at v = -1.5,m", "D:long section at v = 1.5,m"]
        >>> lines += ["$", "$" * 80]
        >>> lines += ["".join(f"{x:20.6f}" for x in (0.0, h, h)) for h in (0.0, 0.1, 0.2)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "rise.crg"
        ...     written = path.write_text(chr(10).join(lines))
        ...     road = bc.vehicles.terrain.Road.read(path)
        >>> road.x.tolist(), road.left - road.right, round(float(road.ground.height(1.5, 0.0)), 6)
        ([0.0, 1.0, 2.0], 3.0, 0.15)
        """
        read = read_road_sections(Path(path))
        x, y, h = road_points(Path(path), read, grid_spacing("Road.read", spacing))
        h = np.pad(h, 1, mode="reflect", reflect_type="odd")
        ground, first = (
            grid(_extend_ends(x), _extend_ends(y), h, name=Path(path).name),
            float(read.u[0]),
        )
        points = read.line.points[: len(read.u)]
        start = (ground.start[0] - first, ground.start[1])
        level = replace(ground, start=start, heights=ground.heights - ground.height(first, 0.0))
        return cls(level, points[:, 0] - first, points[:, 1], float(read.v[0]), float(read.v[-1]))


def _extend_ends(x: np.ndarray) -> np.ndarray:
    """Points with one more at either end, as far as to the next."""
    return np.concatenate([[2 * x[0] - x[1]], x, [2 * x[-1] - x[-2]]])


def banked(
    x: Sequence[float],
    y: Sequence[float],
    bank: Any,
    *,
    width: float = 20.0,
    spacing: float = 1.0,
    name: str = "banked",
) -> Surface:
    """Make a banked road along a line, level along the line.

    Parameters
    ----------
    x, y : sequence of float
        Points of the line (length).
    bank : float or sequence of float
        Rise per length to the left of the line, one for all points or for each. In a bend to the
        left it is negative.
    width : float, default 20.0
        Width (length), outside of which the height is that of the edge.
    spacing : float, default 1.0
        Distance of the points of the ground (length).
    name : str, default "banked"
        Name in messages.

    Returns
    -------
    Surface
        The ground.

    Raises
    ------
    ModelError
        If x and y are not of the same length.

    Examples
    --------
    >>> import bellcrank as bc
    >>> ground = bc.vehicles.terrain.banked([0, 100], [0, 0], bank=-0.1)
    >>> round(float(ground.height(50.0, -5.0)), 6)
    0.5
    """
    from scipy.spatial import cKDTree

    px, py = (np.asarray(v, dtype=float) for v in (x, y))
    slopes = np.broadcast_to(np.asarray(bank, dtype=float), px.shape)
    if (
        px.ndim != 1
        or px.shape != py.shape
        or len(px) < 2
        or not np.all(np.isfinite([px, py, slopes]))
    ):
        raise ModelError(
            "terrain banked: x and y must be two rows of numbers of the same length, at least 2"
        )
    wide, fine = (
        check_finite(width, "banked", "width", True),
        check_finite(spacing, "banked", "spacing", True),
    )
    s = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(px), np.diff(py)))])
    stations = np.linspace(0.0, s[-1], max(int(4 * s[-1] / fine), 2))
    line = np.column_stack([np.interp(stations, s, v) for v in (px, py)])
    tangents = np.gradient(line, stations, axis=0)
    tangents /= np.hypot(*tangents.T)[:, None]
    axes = [np.arange(v.min() - wide, v.max() + wide + fine, fine) for v in (px, py)]
    grid_points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    nearest_index = cKDTree(line).query(grid_points)[1]
    offsets = grid_points - line[nearest_index]
    lateral = (
        tangents[nearest_index, 0] * offsets[:, 1] - tangents[nearest_index, 1] * offsets[:, 0]
    )
    h = np.interp(stations[nearest_index], s, slopes) * np.clip(lateral, -wide / 2, wide / 2)
    return grid(axes[0], axes[1], h.reshape(len(axes[0]), len(axes[1])), name=name)


def __dir__() -> list[str]:
    return sorted(__all__)
