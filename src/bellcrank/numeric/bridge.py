"""Bridges: smooth curves that carry closed loops through singular positions, where their rows say nothing.

A block is a set of coordinates and position rows that no other row couples, with one freedom of its own. Near a place
where two branches of its motion cross, rows are lost and accelerations found from them are noise; but the branch itself
is a smooth curve. Between two of its points A and B, in front of that place and behind it, where the rows are good, it
is a quintic with their tangents and curvatures; its residual, measured between, certifies it. Within, the equations
x = Q(s) stand in the place of the rows. Coordinates are scaled as the columns of J are. Compiled models have the same
rules in C (`emit/c/runtime/bridge.c`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .null_space import pivoted
from .projection import Closure
from .redundant import Numbers
from .tuning import BRIDGES, ELIMINATION

System = Callable[[float, np.ndarray], Numbers]
PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)  # along a curve, where it is certified
MOST_PACES, MOST_TURNS, MOST_LOOKS = 30, 8, 4


@dataclass(frozen=True)
class Curve:
    """A quintic through two points of a branch over the share s of the way from A to B; `share` gives s - s(A)."""

    A: np.ndarray
    chord: np.ndarray
    T_A: np.ndarray
    K_A: np.ndarray
    T_B: np.ndarray
    K_B: np.ndarray
    share: np.ndarray
    approached: bool  # was it built from a place in front of A?
    residual: float = 0.0

    def place(self, z: np.ndarray) -> float:
        return float(self.share @ (z - self.A))

    def at(self, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The point, its slope and its second slope."""
        powers = np.array([1.0, s, s**2, s**3, s**4, s**5])
        parts = self.T_A, self.K_A, self.chord, self.T_B, self.K_B
        found = [sum((c @ powers) * x for c, x in zip(h, parts, strict=True)) for h in _SHAPES]
        return self.A + found[0], np.asarray(found[1]), np.asarray(found[2])


_QUINTICS = np.array([
    [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5], [0, 0, 0, 10, -15, 6],
    [0, 0, 0, -4, 7, -3], [0, 0, 0, 0.5, -1, 0.5],
])  # of T_A, K_A, the chord, T_B, K_B; powers of s in rows  # fmt: skip


def _slopes(h: np.ndarray) -> np.ndarray:
    return np.column_stack([h[:, 1:] * np.arange(1, 6), np.zeros(len(h))])


_SHAPES = _QUINTICS, _slopes(_QUINTICS), _slopes(_slopes(_QUINTICS))


class Refused(Exception):
    """There is no curve: by how much branches miss each other, if that is known; or nothing can be said."""

    def __init__(self, gap: float = 0.0, unknown: bool = False) -> None:
        super().__init__(gap, unknown)
        self.gap, self.unknown = gap, unknown


class Block:
    """A block of a model in numbers. Points z are its coordinates, scaled."""

    def __init__(self, number: int, closure: Closure, system: System) -> None:
        rows, speeds, coordinates, self.usual = closure.scales.blocks[number]
        self.rows, self.speeds, self.coordinates = list(rows), list(speeds), list(coordinates)
        self.closure, self.system = closure, system
        self.row_scale = np.array(closure.scales.rows)[self.rows]
        self.scale = np.array(closure.scales.columns)[self.speeds]
        self.name = closure.names[self.rows[0]]
        self.others = [j for j in range(closure.n_u) if j not in self.speeds]

    def scaled(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The point of a state, and its speeds."""
        n_q = self.closure.n_q
        return y[self.coordinates] / self.scale, y[n_q:][self.speeds] / self.scale

    def ratio(self, J: np.ndarray) -> float:
        """The last pivot of the block's rows against the first; 1 is usual."""
        return self._basis(J, np.zeros(len(self.rows)))[0]

    def replace(self, n: Numbers, curve: Curve, y: np.ndarray) -> None:
        """Puts the equations of a curve in the place of the rows; one of them follows from the others."""
        z, u = self.scaled(y)
        s, v = curve.place(z), float(curve.share @ u)
        Q, T, K = curve.at(s)
        left_out = int(np.abs(curve.share).argmax())
        kept = [i for i in range(len(z)) if i != left_out]
        for r in self.rows:
            n.J[r], n.gamma[r], n.g[r], n.v[r] = 0.0, 0.0, 0.0, 0.0
        for i, r, size in zip(kept, self.rows, self.row_scale, strict=False):
            n.J[r, self.speeds] = ((np.arange(len(z)) == i) - T[i] * curve.share) / self.scale / size
            n.gamma[r] = K[i] * v * v / size
            n.g[r], n.v[r] = (z[i] - Q[i]) / size, (u[i] - T[i] * v) / size

    def build(self, t: float, y: np.ndarray) -> Curve:
        """The curve that goes on from a state; narrower where it is too bent. Raises Refused where there is none."""
        last, gap = np.inf, 0.0
        zone = BRIDGES.zone
        for _ in range(BRIDGES.zones):
            curve = self._between(t, y, zone)
            if curve is not None:
                if curve.residual < BRIDGES.certified:
                    return curve
                gap = gap or curve.residual
                if not curve.residual < BRIDGES.falls * last:
                    break
                last = curve.residual
            zone /= 2
        raise Refused(gap / float(self.row_scale.max()))

    def _between(self, t: float, y: np.ndarray, zone: float) -> Curve | None:
        z, u = self.scaled(y)
        approached = self._ratio_at(t, y, z) >= zone
        ends = (self._across if approached else self._around)(t, y, z, u, zone)
        if ends is None:
            return None
        (A, t_a, k_a), (B, t_b, k_b) = ends
        chord = B - A
        share = chord / (chord @ chord)
        T_A, K_A = _by_share(share, t_a, k_a)
        T_B, K_B = _by_share(share, t_b, k_b)
        if not (share @ t_a > 0 and share @ t_b > 0):
            return None
        curve = Curve(A, chord, T_A, K_A, T_B, K_B, share, approached)
        return replace(curve, residual=max(np.abs(self._position(t, y, curve.at(s)[0])[0]).max() for s in PLACES))

    def _across(self, t: float, y: np.ndarray, z: np.ndarray, u: np.ndarray, zone: float) -> _Ends | None:
        """From a point outside of the zone: to its edge, then a look to the other side."""
        ratio, tangent, bend = self._point(t, y, z, u)
        slope = self._slope(t, y, z, tangent, bend, ratio)
        if slope < 0:  # away from it: the curve is the same
            tangent = -tangent
        for _ in range(MOST_PACES):
            if ratio <= BRIDGES.edge * zone:
                break
            slope = self._slope(t, y, z, tangent, bend, ratio)
            slope = slope if slope > 0 else 0.2 * ratio
            pace = min((ratio - 0.5 * (1 + BRIDGES.edge) * zone) / slope, BRIDGES.pace)
            moved = self._onto(t, y, _ahead(z, tangent, bend, pace))
            if moved is None:
                return None
            z = moved
            ratio, tangent, bend = self._point(t, y, z, tangent)
        slope = self._slope(t, y, z, tangent, bend, ratio)
        if not (slope > 0 and 0.5 * zone <= ratio <= 2 * BRIDGES.edge * zone):
            return None
        far = (ratio + 1.1 * max(ratio, zone)) / slope
        for _ in range(MOST_LOOKS):
            if far > BRIDGES.reach:
                return None
            B = self._onto(t, y, _ahead(z, tangent, bend, far))
            if B is not None:
                behind, t_b, k_b = self._point(t, y, B, tangent)
                if behind >= BRIDGES.behind * zone:
                    return (z, tangent, bend), (B, t_b, k_b)
            far *= BRIDGES.widen
        return None

    def _around(self, t: float, y: np.ndarray, z: np.ndarray, u: np.ndarray, zone: float) -> _Ends | None:
        """From a point within the zone, both ways; in the singular position itself the speeds tell the branch."""
        speed = float(np.linalg.norm(u))
        if self._ratio_at(t, y, z) > BRIDGES.sure:
            _, tangent, bend = self._point(t, y, z, u)
        elif speed > BRIDGES.still:
            tangent, bend = u / speed, np.zeros_like(u)
        else:
            raise Refused(unknown=True)  # at rest: there are several directions

        def edge(way: float) -> _End | None:
            far = 0.5 * zone
            while far < BRIDGES.reach:
                x = _ahead(z, tangent, bend, way * far)
                far *= BRIDGES.widen
                if self._ratio_at(t, y, x) < 1.1 * zone:
                    continue
                found = self._onto(t, y, x)
                if found is None:
                    continue
                ratio, t_x, k_x = self._point(t, y, found, tangent)
                if ratio >= BRIDGES.behind * zone:
                    return found, t_x, k_x
            return None

        A, B = edge(-1.0), edge(1.0)
        return None if A is None or B is None else (A, B)

    def _with(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        state = y.copy()
        state[self.coordinates] = z * self.scale
        return state

    def _position(self, t: float, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scaled residuals of the rows, and J."""
        n_q = self.closure.n_q
        state = self._with(y, z)
        g, _, _, J = self.closure.evaluate(t, state[:n_q], state[n_q:])
        return g[self.rows] * self.row_scale, J

    def _ratio_at(self, t: float, y: np.ndarray, z: np.ndarray) -> float:
        return self.ratio(self._position(t, y, z)[1])

    def _slope(
        self, t: float, y: np.ndarray, z: np.ndarray, tangent: np.ndarray, bend: np.ndarray, now: float
    ) -> float:
        """By how much the ratio falls ahead."""
        return (now - self._ratio_at(t, y, _ahead(z, tangent, bend, BRIDGES.glance))) / BRIDGES.glance

    def _basis(self, J: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Ratio of pivots, t with J t = 0 of length 1, c with J c = right; scaled."""
        A = J[np.ix_(self.rows, self.speeds)] * np.outer(self.row_scale, self.scale)
        A = np.column_stack([A, right])
        n = len(self.speeds)
        order, used, ratio = pivoted(A, n - 1, self.usual, 0.0)
        tangent, c = np.zeros(n), np.zeros(n)
        tangent[order[:used]], c[order[:used]] = -A[:used, used], A[:used, n]
        tangent[order[used]] = 1.0
        return ratio, tangent / np.linalg.norm(tangent), c

    def _point(
        self, t: float, y: np.ndarray, z: np.ndarray, direction: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Ratio of pivots at a point of the branch, the tangent along a direction, the curvature."""
        state, none, n_q = self._with(y, z), np.zeros(len(self.rows)), self.closure.n_q
        J = self._position(t, y, z)[1]
        scale = np.outer(self.row_scale, np.array(self.closure.scales.columns)[self.others])
        if np.any(np.abs(J[np.ix_(self.rows, self.others)] * scale) > BRIDGES.foreign):
            raise Refused(unknown=True)  # with the parameters of this run it is no block
        ratio, tangent, _ = self._basis(J, none)
        if tangent @ direction < 0:
            tangent = -tangent
        speed = float(np.linalg.norm(self.scaled(y)[1]))
        speed = speed if speed > BRIDGES.still else 1.0  # forces are evaluated too: at a speed that occurs
        state[n_q + np.array(self.speeds)] = speed * tangent * self.scale
        n = self.system(t, state)
        _, _, c = self._basis(n.J, n.gamma[self.rows] * self.row_scale / speed**2)
        return ratio, tangent, c - (c @ tangent) * tangent

    def _onto(self, t: float, y: np.ndarray, z: np.ndarray) -> np.ndarray | None:
        """The nearest point of the branch, to round-off."""
        before = np.inf
        for _ in range(MOST_TURNS):
            g, J = self._position(t, y, z)
            size = float(np.abs(g).max())
            if size < BRIDGES.round_off or (size >= before and size < BRIDGES.certified):
                return z
            if not np.isfinite(size):
                return None
            before = size
            _, tangent, c = self._basis(J, g)
            z = z - (c - (c @ tangent) * tangent)
        return z if before < BRIDGES.certified else None


_End = tuple[np.ndarray, np.ndarray, np.ndarray]  # point, tangent, curvature
_Ends = tuple[_End, _End]
LEAST = ELIMINATION.vanishing  # pivots that count where the rows of a curve stand for lost ones


def _ahead(z: np.ndarray, tangent: np.ndarray, bend: np.ndarray, far: float) -> np.ndarray:
    return np.asarray(z + far * tangent + 0.5 * far * far * bend)


def _by_share(share: np.ndarray, tangent: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes by length made slopes by the share of the chord."""
    along = share @ tangent
    T, K = tangent / along, bend / along**2
    return T, K - T * (share @ K)
