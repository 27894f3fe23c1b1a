"""Ground over x and y: heights on a grid with smooth slopes between, and the point of it nearest to
a wheel, in Python, C and JavaScript.

Between its points the height is a bicubic convolution (Keys 1981, Cubic convolution interpolation
for digital image processing, IEEE Transactions ASSP-29): it goes through all heights, slopes are
continuous, planes are planes, and each height affects its neighbours alone. Outside its edges the
ground continues straight across them: level, or with the slope of the edge. The distance to it is
continuous, so a force that follows from it alone has a potential.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bellcrank.codegen.kernel_function import KernelFunction, kernel_function_digest
from bellcrank.core.argument_checks import validate_arguments
from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.tuning import SURFACE
from bellcrank.vehicles.terrain.friction import Grip, side_frictions
from bellcrank.vehicles.terrain.road_line import MOST
from bellcrank.vehicles.terrain.surface_files import grid_spacing, read_height_points

EVEN = 1e-6  # fraction of a spacing by which points may lie next to an even grid
OUTSIDE = ("level", "slope")


class NearSurface(NamedTuple):
    """The nearest ground: its distance (negative below ground), the unit normal from it, its
    foot."""

    distance: float
    normal_x: float
    normal_y: float
    normal_z: float
    foot_x: float
    foot_y: float
    foot_z: float


class Jet(NamedTuple):
    """Height, slopes and second derivatives."""

    h: float
    x: float
    y: float
    xx: float
    xy: float
    yy: float


@dataclass(frozen=True, eq=False)
class Surface:
    """Ground over x and y. `heights[i, j]` belongs to x = start[0] + i spacing[0], y = start[1] + j
    spacing[1];
    `outside` its edges it is "level", or continues with the "slope" of the edge.

    `friction`: of the road over that of the tyres' data, for y > 0 (left) and y < 0 (right); None
    where it is one.
    """

    name: str
    start: tuple[float, float]
    spacing: tuple[float, float]
    heights: np.ndarray
    outside: str = "level"
    friction: tuple[Grip, Grip] | None = None
    friction_factor: str | None = None
    lifted: tuple[str, str] | None = None  # as of other terrains

    spatial = True

    def __post_init__(self) -> None:
        problems = []
        size = self.heights.shape
        if len(size) != 2 or min(size) < 2:
            problems.append(
                f"heights must be at least two rows and columns of numbers; they have the "
                f"shape {size}"
            )
        elif self.heights.size > MOST:
            problems.append(
                f"{self.heights.size} heights are more than {MOST}: take every second, or a part"
            )
        elif not np.all(np.isfinite(self.heights)):
            i, j = (int(k) for k in np.argwhere(~np.isfinite(self.heights))[0])
            x, y = (a + k * d for a, k, d in zip(self.start, (i, j), self.spacing, strict=True))
            count = int((~np.isfinite(self.heights)).sum())
            problems.append(
                f"the ground has no height at x = {x:g}, y = {y:g} ({count} such): gaps are "
                f"not allowed"
            )
        if not all(math.isfinite(d) and d > 0 for d in self.spacing):
            problems.append(f"spacing={self.spacing!r} must be positive")
        if not all(math.isfinite(a) for a in self.start):
            problems.append(f"start={self.start!r} must be finite")
        if self.outside not in OUTSIDE:
            problems.append(f"outside={self.outside!r} must be one of {', '.join(OUTSIDE)}")
        if problems:
            raise ModelError(f"terrain '{self.name}': " + "; ".join(problems))

    @classmethod
    @validate_arguments
    def read(
        cls,
        path: str | Path,
        *,
        spacing: float | tuple[float, float] | None = None,
        start: tuple[float, float] | None = None,
        outside: str = "level",
    ) -> Surface:
        """Read ground over x and y from a file.

        Parameters
        ----------
        path : str or Path
            A table of heights (.csv: y in the first row, x in the first column), arrays (.npz with
            x, y and h, or .npy), or OpenCRG text (.crg), of which a curved road becomes a grid over
            x and y that begins at x = u, y = 0 along x.
        spacing : float or pair of float, optional
            Distance of the points along x and y (length), for .npy and .crg.
        start : pair of float, optional
            First x and y of .npy (length). Default: x from 0, y about the middle.
        outside : {"level", "slope"}, default "level"
            As of `grid`.

        Returns
        -------
        Surface
            The ground.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import bellcrank as bc
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "ground.npz"
        ...     np.savez(path, x=[0, 1, 2], y=[0, 1], h=[[0, 0], [0.1, 0.1], [0.2, 0.2]])
        ...     print(round(float(bc.vehicles.terrain.Surface.read(path).height(1.0, 0.5)), 6))
        0.1
        """
        points = read_height_points(Path(path), grid_spacing("Surface.read", spacing), start)
        return cls.over(*points, outside, Path(path).name)

    @classmethod
    def over(cls, x: Any, y: Any, h: Any, outside: str, name: str) -> Surface:
        """Heights `h[i][j]` at `x[i]` and `y[j]`, which grow by even steps."""
        axes = []
        for letter, data in (("x", x), ("y", y)):
            try:
                values = np.asarray(data, dtype=float)
            except (TypeError, ValueError):
                raise ModelError(f"terrain {name}: {letter} must be numbers") from None
            if values.ndim != 1 or len(values) < 2 or not np.all(np.isfinite(values)):
                raise ModelError(
                    f"terrain {name}: {letter} must be at least two numbers; its shape is "
                    f"{values.shape}"
                )
            steps = np.diff(values)
            spacing = (values[-1] - values[0]) / (len(values) - 1)
            uneven = np.flatnonzero(np.abs(steps - spacing) > EVEN * abs(spacing))
            if not spacing > 0 or len(uneven):
                i = int(uneven[0]) if len(uneven) else 0
                raise ModelError(
                    f"terrain {name}: {letter} must grow by even steps; from {values[i]:g} to "
                    f"{values[i + 1]:g} it goes by {steps[i]:g}, on the whole by {spacing:g}"
                )
            axes.append((float(values[0]), float(spacing), len(values)))
        try:
            heights = np.asarray(h, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(
                f"terrain {name}: heights must be rows of numbers of the same length"
            ) from None
        (x0, dx, nx), (y0, dy, ny) = axes
        if heights.shape != (nx, ny):
            raise ModelError(
                f"terrain {name}: {nx} values of x and {ny} of y need heights of that "
                f"shape; they have "
                f"the shape {heights.shape}"
            )
        return cls(name, (x0, y0), (dx, dy), heights, outside)

    def height(self, x: Any, y: Any = 0.0) -> Any:
        """Height at x and y, numbers or arrays."""
        return self._evaluate_derivative(x, y, 0, 0)

    def slope(self, x: Any, y: Any = 0.0) -> Any:
        """dh/dx and dh/dy."""
        return self._evaluate_derivative(x, y, 1, 0), self._evaluate_derivative(x, y, 0, 1)

    def _evaluate_derivative(self, x: Any, y: Any, k: int, m: int) -> Any:
        """A derivative over arrays."""
        points = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        if not all(np.all(np.isfinite(v)) for v in points):
            raise ModelError(f"terrain '{self.name}': x and y must be finite")
        cells, weights = [], []
        for v, v0, d, n, order in zip(
            points, self.start, self.spacing, self.heights.shape, (k, m), strict=True
        ):
            u = (v - v0) / d
            inside = np.clip(u, 0.0, n - 1.0)
            i = np.minimum(inside.astype(int), n - 2)
            value, slope, _ = _cubic_weights(inside - i)
            cells.append(i)
            weights.append(
                np.stack(
                    [
                        s / d if order else w + (u - inside) * s
                        for w, s in zip(value, slope, strict=True)
                    ]
                )
            )
        h = np.array(self._padded)
        rows = cells[0] + np.arange(4).reshape(4, 1, *(1,) * cells[0].ndim)
        neighbours = h[rows, cells[1] + np.arange(4).reshape(1, 4, *(1,) * cells[1].ndim)]
        result = (weights[0][:, None] * weights[1][None] * neighbours).sum(axis=(0, 1))
        return float(result) if result.ndim == 0 else result

    def raised(self, by: float) -> Surface:
        """The same ground, higher by a length."""
        return replace(self, heights=self.heights + float(by))

    def lifted_by(self, height: str, speed: str) -> Surface:
        """The same ground on a rig that moves it up and down; as of other terrains."""
        return replace(self, lifted=(str(height), str(speed)))

    def with_friction(
        self, friction: Any = None, *, left: Any = None, right: Any = None
    ) -> Surface:
        """The same ground, more or less slippery; as of other terrains."""
        return replace(self, friction=side_frictions(friction, left, right))

    def with_friction_factor(self, factor: str) -> Surface:
        """As of other terrains."""
        return replace(self, friction_factor=str(factor))

    def __repr__(self) -> str:
        (nx, ny), (dx, dy) = self.heights.shape, self.spacing
        return f"Surface({self.name!r}: {nx} x {ny} heights, {(nx - 1) * dx:g} x {(ny - 1) * dy:g})"

    # ---- the nearest point

    @cached_property
    def _padded(self) -> list[list[float]]:
        """Heights with one more around, which makes the slope at the edges."""
        h = self.heights
        if self.outside == "level":
            return np.pad(h, 1, mode="reflect").tolist()
        return np.pad(h, 1, mode="reflect", reflect_type="odd").tolist()

    @cached_property
    def _curvature_bounds(self) -> list[list[float]]:
        """Bounds of all cells: where they times the distance are below 1, there is one nearest
        point. As of
        `ground.bend`."""
        h = np.array(self._padded)
        dx, dy = self.spacing

        def largest(differences: np.ndarray) -> np.ndarray:
            window = tuple(
                n - m
                for n, m in zip(
                    differences.shape, (self.heights.shape[0] - 2, self.heights.shape[1] - 2)
                )
            )
            return np.asarray(sliding_window_view(np.abs(differences), window).max(axis=(2, 3)))

        xx, yy = largest(np.diff(h, 2, axis=0)) / dx**2, largest(np.diff(h, 2, axis=1)) / dy**2
        xy = largest(np.diff(np.diff(h, axis=0), axis=1)) / (dx * dy)
        max_slope = np.hypot(largest(np.diff(h, axis=0)) / dx, largest(np.diff(h, axis=1)) / dy)
        bends = OVERSHOOT * np.sqrt(xx**2 + yy**2 + 2 * xy**2) * (1 + OVERSHOOT * max_slope)
        return [[float(f"{1.01 * value:.2e}") for value in row] for row in bends]

    def _has_single_foot(self, x: float, y: float, best: float) -> bool:
        """Is there one nearest point within a distance?"""
        sides = []
        for v, v0, d, n in zip((x, y), self.start, self.spacing, self.heights.shape, strict=True):
            sides.append(
                [min(max(math.floor((v + sign * best - v0) / d), 0), n - 2) for sign in (-1, 1)]
            )
        (first_row, last_row), (first_column, last_column) = sides
        return all(
            bend * best < 1
            for row in self._curvature_bounds[first_row : last_row + 1]
            for bend in row[first_column : last_column + 1]
        )

    def jet(self, x: float, y: float) -> Jet:
        """Height, slopes and second derivatives at a place."""
        (i, a), (j, b) = (
            _cell_and_weights((v - v0) / d, n)
            for v, v0, d, n in zip(
                (x, y), self.start, self.spacing, self.heights.shape, strict=True
            )
        )
        dx, dy = self.spacing
        rows = [self._padded[i + k][j : j + 4] for k in range(4)]
        across = [
            [sum(w * h for w, h in zip(b[order], row, strict=True)) for row in rows]
            for order in range(3)
        ]

        def derivative(k: int, m: int) -> float:
            return sum(w * h for w, h in zip(a[k], across[m], strict=True)) / (dx**k * dy**m)

        return Jet(
            derivative(0, 0),
            derivative(1, 0),
            derivative(0, 1),
            derivative(2, 0),
            derivative(1, 1),
            derivative(0, 2),
        )

    def nearest(self, x: float, y: float, z: float, reach: float = math.inf) -> NearSurface:
        """The point of the ground nearest to a place: distance (negative below ground), unit normal
        towards it, foot.

        Ground farther away than `reach` is not looked for; the distance is then `reach`, the normal
        upright.
        """
        x, y, z, reach = float(x), float(y), float(z), float(reach)
        return self._nearest_with_derivatives(x, y, z, reach)[0]

    def turn(self, x: float, y: float, z: float, reach: float = math.inf) -> tuple[float, ...]:
        """How the normal changes with the place: xx, xy, xz, yy, yz, zz of its slopes, which are
        symmetric; and is the ground in reach?"""
        nearest_point, jet = self._nearest_with_derivatives(
            float(x), float(y), float(z), float(reach)
        )
        if not nearest_point.distance < reach:
            return (0.0,) * 7
        size = math.sqrt(1 + jet.x * jet.x + jet.y * jet.y)
        g11, g12, g22 = 1 + jet.x * jet.x, jet.x * jet.y, 1 + jet.y * jet.y
        b11, b12, b22 = jet.xx / size, jet.xy / size, jet.yy / size
        d = nearest_point.distance
        m11, m12, m22 = g11 - d * b11, g12 - d * b12, g22 - d * b22
        determinants = (g11 * g22 - g12 * g12) * (m11 * m22 - m12 * m12)
        # S = -G^-1 B M^-1, symmetric
        p11, p12 = g22 * b11 - g12 * b12, g22 * b12 - g12 * b22
        p21, p22 = g11 * b12 - g12 * b11, g11 * b22 - g12 * b12
        s11, s12 = -(p11 * m22 - p12 * m12) / determinants, -(p12 * m11 - p11 * m12) / determinants
        s22 = -(p22 * m11 - p21 * m12) / determinants
        xz, yz = s11 * jet.x + s12 * jet.y, s12 * jet.x + s22 * jet.y
        return s11, s12, xz, s22, yz, jet.x * xz + jet.y * yz, 1.0

    def _nearest_with_derivatives(
        self, x: float, y: float, z: float, reach: float
    ) -> tuple[NearSurface, Jet]:
        if not math.isfinite(x + y + z):
            return NearSurface(*[math.nan] * 7), Jet(*[math.nan] * 6)
        below = self.jet(x, y)
        best = min(abs(z - below.h), max(reach, below.h - z))
        size = 1 + below.x * below.x + below.y * below.y
        guesses = [
            (x + (z - below.h) * below.x / size, y + (z - below.h) * below.y / size)
        ]  # on the tangent plane
        if not self._has_single_foot(x, y, best):
            guesses = [*self._locally_nearest_samples(x, y, z, best), (x, y)]
        feet = [self._refine_foot(x, y, z, s, t) for s, t in guesses]
        foot = (
            min(feet, key=lambda f: (f[0] - x) ** 2 + (f[1] - y) ** 2 + (f[2].h - z) ** 2)
            if len(feet) > 1
            else feet[0]
        )
        s, t, jet = foot
        size = math.sqrt(1 + jet.x * jet.x + jet.y * jet.y)
        normal = (-jet.x / size, -jet.y / size, 1 / size)
        distance = (z - jet.h - jet.x * (x - s) - jet.y * (y - t)) / size
        if not distance < reach:
            return NearSurface(reach, 0.0, 0.0, 1.0, x, y, z - reach), jet
        return NearSurface(distance, *normal, s, t, jet.h), jet

    def _refine_foot(
        self, x: float, y: float, z: float, s: float, t: float
    ) -> tuple[float, float, Jet]:
        """The foot by Newton's method from a point near it; steps that lead away are halved."""
        jet = self.jet(s, t)
        distance_sq = (s - x) ** 2 + (t - y) ** 2 + (jet.h - z) ** 2
        for _ in range(SURFACE.feet):
            dh = jet.h - z
            g1, g2 = s - x + dh * jet.x, t - y + dh * jet.y
            a, b, c = 1 + jet.x * jet.x, jet.x * jet.y, 1 + jet.y * jet.y
            h11, h12, h22 = a + dh * jet.xx, b + dh * jet.xy, c + dh * jet.yy
            if not (h11 > 0 and h11 * h22 - h12 * h12 > SURFACE.flat * a * c):
                h11, h12, h22 = a, b, c
            size = h11 * h22 - h12 * h12
            ds, dt = (h12 * g2 - h22 * g1) / size, (h12 * g1 - h11 * g2) / size
            for _ in range(SURFACE.halves):
                new = self.jet(s + ds, t + dt)
                new_distance_sq = (s + ds - x) ** 2 + (t + dt - y) ** 2 + (new.h - z) ** 2
                if new_distance_sq <= distance_sq * (1 + SURFACE.rounds):
                    break
                ds, dt = 0.5 * ds, 0.5 * dt
            s, t, jet, distance_sq = s + ds, t + dt, new, new_distance_sq
            if abs(ds) + abs(dt) <= SURFACE.foot * (1 + abs(s) + abs(t)):
                break
        return s, t, jet

    def _locally_nearest_samples(
        self, x: float, y: float, z: float, best: float
    ) -> list[tuple[float, float]]:
        """Those of some points around that are nearer than their neighbours."""
        n = int(SURFACE.samples)
        width = 2 * best / n
        squares = [[math.inf] * (n + 3) for _ in range(n + 3)]
        for i in range(n + 1):
            for j in range(n + 1):
                s, t = x - best + i * width, y - best + j * width
                squares[i + 1][j + 1] = (s - x) ** 2 + (t - y) ** 2 + (self.jet(s, t).h - z) ** 2
        minima = []
        for i in range(n + 1):
            for j in range(n + 1):
                value = squares[i + 1][j + 1]
                if all(
                    value <= squares[i + 1 + k][j + 1 + m] for k in (-1, 0, 1) for m in (-1, 0, 1)
                ):
                    minima.append((x - best + i * width, y - best + j * width))
        return minima

    # ---- the same in other languages

    @cached_property
    def c(self) -> tuple[str, str]:
        """C source of the ground, and the name of its function `void f(double x, double y, double
        z, double reach, double *near)` with near = distance, normal x, y, z, foot x, y."""
        from bellcrank.codegen.c.linkage import shared_source

        return shared_source(self._c_name, self._c_name, self.near_function), self._c_name

    @property
    def lanes(self) -> str:
        """No C over vectors of runs: the surface is looked for lane by lane."""
        return ""

    @cached_property
    def c_turn(self) -> tuple[str, str]:
        """The same for `turn`."""
        from bellcrank.codegen.c.linkage import shared_source

        name = f"{self._c_name}_turn"
        return shared_source(name, self._c_name, self.turn_function), name

    @cached_property
    def near_function(self) -> KernelFunction:
        """`nearest` as the kernel knows it."""
        nx, ny = self.heights.shape
        numbers = {
            "nx": nx,
            "ny": ny,
            "start": [*map(float, self.start)],
            "spacing": [*map(float, self.spacing)],
        }
        bends = np.array([float(f"{x:.2e}") for x in np.ravel(self._curvature_bounds)], np.float32)
        lists = {"heights": np.ravel(self._padded).astype(float), "bends": bends}
        return KernelFunction("GroundGrid", "grid_near_at", numbers, lists, 4, 6)

    @property
    def turn_function(self) -> KernelFunction:
        """The same for `turn`."""
        return replace(self.near_function, called="grid_turn_at", values=7)

    @cached_property
    def _c_name(self) -> str:
        return "surface_" + kernel_function_digest(self.near_function)


# of second derivatives of the convolution over second differences, at most 3 times 1.25; of slopes
# less
OVERSHOOT = 4.0


def _cubic_weights(f: Any) -> tuple[Sequence[Any], ...]:
    """Weights of four heights at the share f of a cell, for value, slope and second derivative."""
    return (
        (
            f * (f * (1 - 0.5 * f) - 0.5),
            1 + f * f * (1.5 * f - 2.5),
            f * (0.5 + f * (2 - 1.5 * f)),
            0.5 * f * f * (f - 1),
        ),
        (f * (2 - 1.5 * f) - 0.5, f * (4.5 * f - 5), 0.5 + f * (4 - 4.5 * f), f * (1.5 * f - 1)),
        (2 - 3 * f, 9 * f - 5, 4 - 9 * f, 3 * f - 1),
    )


def _cell_and_weights(u: float, n: int) -> tuple[int, tuple[Sequence[float], ...]]:
    """The cell that u (in spacings) lies in, and its weights; the ground continues straight outside
    the ends."""
    inside = min(max(u, 0.0), n - 1.0)
    i = min(int(inside), n - 2)
    w, d, dd = _cubic_weights(inside - i)
    excess = u - inside
    if excess:
        return i, (tuple(a + excess * b for a, b in zip(w, d, strict=True)), d, (0.0,) * 4)
    return i, (w, d, dd)
