"""Bodies that spin about an axis of symmetry: steady motions in which speeds along turning axes are not constant.

Speeds of a body with three rotations are along its own axes, so those of a top in steady precession turn with its
spin. Where the model does not change when the last angle is advanced and the speeds are turned back by as much, the
motion relative to a frame that does not spin is dynamics of its own: x' - q3' G x, G the generator of that turn. Its
equilibria are the steady motions, its eigenvalues their stability. The last angle itself is cyclic there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.analysis.jacobian_runner import Find, Groups
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.run.stepping import NO_VALUE

PROBES, NEAR, SHIFT, SAME = 3, 0.1, 0.7, 1e-9


@dataclass(frozen=True)
class Spin:
    """The coordinate that spins, and G: speeds by speeds."""

    coordinate: int
    G: np.ndarray


def spins(plant: Plant, at: Point) -> tuple[Spin, ...]:
    """Spins about axes of symmetry of a model with these parameters and inputs."""
    found: tuple[Spin, ...] = plant.once(("spins", at.p, at.w), lambda: tuple(_found(plant, at)))
    return found


def _found(plant: Plant, at: Point) -> list[Spin]:
    if plant.loaded.program.loops is not None:
        return []
    return [s for s in _candidates(plant) if _symmetric(plant, at, s)]


def _candidates(plant: Plant) -> list[Spin]:
    """The last of three angles of every body whose speeds are all states."""
    places = {q.name: q.place for q in plant.interface.coordinates}
    speeds = {u.name: u.place for u in plant.interface.speeds}
    names = {s.name for s in plant.derived.analysis.mechanism.coordinates}
    found = []
    for body in plant.derived.analysis.mechanism.bodies:
        turn = body.joint.last_turn
        if turn is None:
            continue
        angle, k, groups = turn
        last = angle.name
        if last not in names or last not in places or any(u.name not in speeds for g in groups for u in g):
            continue
        G = np.zeros((len(speeds), len(speeds)))
        for group in groups:
            i, j = (speeds[group[(k + n) % 3].name] for n in (1, 2))
            G[i, j], G[j, i] = 1.0, -1.0
        found.append(Spin(places[last], G))
    return found


def _symmetric(plant: Plant, at: Point, spin: Spin) -> bool:
    """Do rates turn with the speeds when the angle is advanced? Tried at states near a point."""
    from scipy.linalg import expm

    turn, rng, n = expm(SHIFT * spin.G), np.random.default_rng(3), len(at.q)
    for _ in range(PROBES):
        q, u = at.q + NEAR * rng.uniform(-1, 1, n), at.u + rng.uniform(-1, 1, len(at.u))
        moved = q.copy()
        moved[spin.coordinate] += SHIFT
        here, there = _rates(plant, at, q, u), _rates(plant, at, moved, turn @ u)
        expected = np.concatenate([here[:n], turn @ here[n:]])
        if not np.all(np.abs(there - expected) <= SAME * np.abs(here).max(initial=1.0)):
            return False
    return True


def _rates(plant: Plant, at: Point, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    loaded, p = plant.loaded, list(at.p)
    try:
        qdot, udot = loaded.model.calls().derivatives(at.t, q.tolist(), u.tolist(), p, loaded.constants(p), list(at.w))
    except NO_VALUE:
        return np.full(len(q) + len(u), np.nan)
    return np.array([*qdot, *udot])


class Despun:
    """Values and Jacobians of a model seen from frames that do not spin with its bodies."""

    def __init__(self, find: Find, plant: Plant, listed: Sequence[Spin]) -> None:
        self.find, self.spins, self.columns, self.notes = find, listed, find.columns, find.notes
        place = {s: j for j, s in enumerate(find.columns)}
        self.by_q, self.by_u = (
            [place[x.symbol] for x in group if x.symbol is not None]
            for group in (plant.interface.coordinates, plant.interface.speeds)
        )

    def __call__(self, at: Point) -> tuple[Groups, Groups]:
        values, derivatives = self.find(at)
        rates, S, n = values["rates"].copy(), derivatives["rates"].copy(), len(at.q)
        for s in self.spins:
            S[n:] -= np.outer(s.G @ at.u, S[s.coordinate])
            S[n:, self.by_u] -= rates[s.coordinate] * s.G
            rates[n:] -= rates[s.coordinate] * (s.G @ at.u)
        S[:, [self.by_q[s.coordinate] for s in self.spins]] = 0.0
        return {**values, "rates": rates}, {**derivatives, "rates": S}

    def values(self, at: Point) -> Groups:
        values = self.find.values(at)
        rates, n = values["rates"].copy(), len(at.q)
        for s in self.spins:
            rates[n:] -= rates[s.coordinate] * (s.G @ at.u)
        return {**values, "rates": rates}


def despun(find: Find, plant: Plant, at: Point) -> Find:
    """What finds values and Jacobians, without the spins of symmetric bodies."""
    listed = spins(plant, at)
    return Despun(find, plant, listed) if listed else find
