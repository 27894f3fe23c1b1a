"""Short obstacles as a tyre envelops them: the effective road of a wheel with one point of contact.

The tandem-cam model (Zegelaar 1998; Schmeitz 2004; Pacejka, Tyre and Vehicle Dynamics, chapter 10):
two ellipses |x/a|^c + |z/b|^c = 1, one `base` apart, move over the road. The mean height of both is
the effective height, by which the axle rises at constant load. The road that is found here leads a
rigid wheel with the loaded radius of the tyre along that path. So the usual contact, the nearest
point, gives the effective height and its inclination, in every language, and its force still has a
potential. The inclination is that of the path; the model has that of the line through both cams.
Their means over an obstacle are the same, and both agree on long waves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from scipy.ndimage import grey_dilation

from bellcrank.core.errors import ModelError
from bellcrank.vehicles.terrain.ground import PiecewiseGround

Road = TypeVar("Road", bound=PiecewiseGround)
Array = np.ndarray[Any, Any]
SHIFT, EXPONENT = (
    0.8,
    1.8,
)  # distance of the cams over the contact length, exponent of the ellipses: of common files
ROOT, LINEAR = 0.5, 1.0  # half contact length over the radius, by the deflection over it: the same
FINE = 128  # samples of a half axis
EXACT = 3e-5  # of a half axis, by which pieces differ from samples
MOST = 4_000_000  # samples of a road
SAME = 1e-9  # change of height or inclination that is none


@dataclass(frozen=True)
class TandemCams:
    """The two cams of a tyre: their distance, half axes along and upright, exponent; `radius`: of
    the loaded wheel."""

    base: float
    length: float
    height: float
    exponent: float
    radius: float

    def profile_height(self, u: Array) -> Array:
        """Height of a cam over its lowest point, at distances u from its middle, none of them
        outside it."""
        rise = np.clip(1 - np.abs(u / self.length) ** self.exponent, 0.0, 1.0) ** (
            1 / self.exponent
        )
        return np.asarray(self.height * (1 - rise))

    @property
    def influence_distance(self) -> float:
        """How far from an obstacle the effective road is another one."""
        return self.length + self.base / 2 + self.radius


def contact_length(radius: float, deflection: float) -> float:
    """Length of the contact of a common tyre."""
    n = max(deflection, 0.0) / radius
    return 2 * radius * (LINEAR * n + ROOT * math.sqrt(n))


def enveloped(
    ground: Road,
    radius: float,
    deflection: float,
    *,
    base: float | None = None,
    ellipse: tuple[float, float] | None = None,
    exponent: float = EXPONENT,
) -> Road:
    """Make the effective road of a tyre that envelops short obstacles, by the tandem-cam model.

    Parameters
    ----------
    ground : Terrain
        The road, straight before its first and after its last piece.
    radius : float
        Radius of the tyre without load (length).
    deflection : float
        Its deflection at the usual load (length).
    base : float, optional
        Distance of both cams (length); 0 for one cam. Default: 0.8 of the contact length of a
        common tyre.
    ellipse : pair of float, optional
        Half axes of the cams, along the road and upright (length). Default: the radius.
    exponent : float, default 1.8
        Exponent of the ellipses, at least 1.

    Returns
    -------
    Terrain
        The effective road, for contacts of wheels with this tyre. A plane remains the same.

    Raises
    ------
    ModelError
        If a value is not allowed, or if the ground cannot be enveloped.

    Examples
    --------
    A tyre rises before it comes to a step of 6 cm:

    >>> import bellcrank as bc
    >>> step = bc.vehicles.terrain.profile([0, 0, 5], [0, 0.06, 0.06])
    >>> road = bc.vehicles.terrain.enveloped(step, radius=0.32, deflection=0.02)
    >>> [round(float(road.height(x)), 3) for x in (-0.3, -0.1, 0.0, 0.1)]
    [0.0, 0.022, 0.049, 0.06]
    """
    half_length, half_height = (radius, radius) if ellipse is None else ellipse
    cam_distance = SHIFT * contact_length(radius, deflection) if base is None else base
    arguments = {
        "radius": radius,
        "deflection": deflection,
        "base": cam_distance,
        "ellipse": (half_length, half_height),
    }
    if not all(
        math.isfinite(x)
        for x in (radius, deflection, cam_distance, half_length, half_height, exponent)
    ):
        raise ModelError(
            f"terrain enveloped: {arguments}, exponent={exponent!r} must be finite numbers"
        )
    if not (
        0 <= deflection < radius
        and cam_distance >= 0
        and half_length > 0
        and half_height > 0
        and exponent >= 1
    ):
        raise ModelError(
            f"terrain enveloped: {arguments}, exponent={exponent!r}: radius and half axes "
            f"must be positive, deflection "
            "from 0 to below the radius, base not negative, exponent at least 1"
        )
    return envelop_with_cams(
        ground, TandemCams(cam_distance, half_length, half_height, exponent, radius - deflection)
    )


def envelop_with_cams(ground: Road, cams: TandemCams) -> Road:
    """The effective road of cams; friction and posts remain."""
    road: Any = ground
    if ground.spatial:
        raise ModelError(
            f"terrain enveloped: '{road.name}' is ground over x and y; profiles along x are "
            f"enveloped"
        )
    if ground.pieces[[0, -1]][:, [3, 4, 5]].any():
        raise ModelError(
            f"terrain enveloped: '{road.name}' is curved without end; give a part of it as "
            f"a profile"
        )
    if len(ground.pieces) == 1:
        return ground
    starts, pieces = _effective_pieces(
        ground.starts.tobytes(), ground.pieces.tobytes(), cams, road.name
    )
    effective: Road = replace(road, starts=starts, pieces=pieces)
    return effective


@lru_cache(maxsize=16)
def _effective_pieces(
    starts_bytes: bytes, pieces_bytes: bytes, cams: TandemCams, name: str
) -> tuple[Array, Array]:
    """Starts and pieces of the effective road of a road; four wheels of a car ask for the same."""
    starts = np.frombuffer(starts_bytes)
    pieces = np.frombuffer(pieces_bytes).reshape(len(starts) + 1, -1)
    count = round(FINE * cams.base / (2 * cams.length))  # samples of half a base
    step = cams.base / 2 / count if count else cams.length / FINE
    first, last = (
        starts[0] - 2.1 * cams.influence_distance,
        starts[-1] + 2.1 * cams.influence_distance,
    )
    if (last - first) / step > MOST:
        raise ModelError(
            f"terrain enveloped: '{name}' is {last - first:g} long, more than "
            f"{MOST * step:.4g} (a sample every "
            f"{step:.3g}); envelop a part of it"
        )
    x = first + step * np.arange(math.ceil((last - first) / step) + 1)
    z = _cam_heights(starts, pieces, x, cams, step)
    w = (z[2 * count :] + z[: len(z) - 2 * count]) / 2
    g = -_dilate_profile(-w, -_wheel_profile(cams.radius, step))
    cut = (
        count + (len(_wheel_profile(cams.radius, step)) - 1) // 2 + round(cams.length / step)
    )  # samples that ends disturb
    inside = slice(cut, len(x) - cut)
    g = g[cut - count : len(g) - (cut - count)]
    rows = _fit_cubic_pieces(x[inside], g, EXACT * cams.length)
    end_slopes = pieces[[0, -1], 2].tolist()
    straight = [
        [x_end, h, slope, *[0.0] * 5]
        for x_end, h, slope in zip(x[inside][[0, -1]], g[[0, -1]], end_slopes, strict=True)
    ]
    all_rows = np.array([straight[0], *rows, straight[1]], dtype=float)
    return np.append(all_rows[1:-1, 0], x[inside][-1]), all_rows


def _cam_heights(starts: Array, pieces: Array, x: Array, cams: TandemCams, step: float) -> Array:
    """Heights of a cam over the road: of its lowest point, as it rests on the road."""
    n = int(cams.length / step)
    height = _evaluate_cam_pieces(pieces[np.searchsorted(starts, x, side="right")], x)[0]
    z = _dilate_profile(height, -cams.profile_height(step * np.arange(-n, n + 1)))
    for x_edge, top in _convex_edges(starts, pieces):
        i, j = np.searchsorted(x, [x_edge - cams.length, x_edge + cams.length])
        z[i:j] = np.maximum(z[i:j], top - cams.profile_height(x[i:j] - x_edge))
    return z


def _convex_edges(starts: Array, pieces: Array) -> list[tuple[float, float]]:
    """Points of the road that stand out: at jumps, and where it bends down at once."""
    (h0, s0), (h1, s1) = (_evaluate_cam_pieces(rows, starts) for rows in (pieces[:-1], pieces[1:]))
    is_edge = (np.abs(h1 - h0) > SAME * (1 + np.abs(h0))) | (s1 < s0 - SAME * (1 + np.abs(s0)))
    return list(zip(starts[is_edge].tolist(), np.maximum(h0, h1)[is_edge].tolist(), strict=True))


def _evaluate_cam_pieces(rows: Array, x: Array) -> tuple[Array, Array]:
    """Heights and inclinations of pieces, each at its x."""
    x0, c0, c1, c2, c3, a, w, p = rows.T
    s = x - x0
    h = c0 + s * (c1 + s * (c2 + s * c3)) + a * np.cos(w * s + p)
    return h, c1 + s * (2 * c2 + 3 * c3 * s) - a * w * np.sin(w * s + p)


def _wheel_profile(radius: float, step: float) -> Array:
    """Height of a wheel over its lowest point, at samples."""
    n = int(radius / step)
    u = step * np.arange(-n, n + 1)
    return np.asarray(radius - np.sqrt(np.maximum(radius**2 - u**2, 0.0)))


def _dilate_profile(h: Array, shape: Array) -> Array:
    """The largest of h + shape, as the middle of the shape moves over the samples; ends continue
    level."""
    inside = np.ones(len(shape), dtype=bool)
    return np.asarray(grey_dilation(h, footprint=inside, structure=shape, mode="nearest"))


def _fit_cubic_pieces(x: Array, h: Array, tolerance: float) -> list[list[float]]:
    """Cubic pieces through some of the samples, with continuous inclination, that differ from none
    by more than
    `tolerance`."""
    slope, rows, intervals = np.gradient(h, x), [], [(0, len(x) - 1)]
    while intervals:
        i, j = intervals.pop()
        width = x[j] - x[i]
        rise = (h[j] - h[i]) / width
        c2 = (3 * rise - 2 * slope[i] - slope[j]) / width
        c3 = (slope[i] + slope[j] - 2 * rise) / width**2
        s = x[i : j + 1] - x[i]
        if (
            j - i > 1
            and np.abs(h[i] + s * (slope[i] + s * (c2 + s * c3)) - h[i : j + 1]).max() > tolerance
        ):
            middle = (i + j) // 2
            intervals += [(middle, j), (i, middle)]
        else:
            rows.append([x[i], h[i], slope[i], c2, c3, 0.0, 0.0, 0.0])
    return rows
