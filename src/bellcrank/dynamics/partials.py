"""Constrained systems by reduced partial velocities: M u' = f for the independent speeds, link by link.

Every link gets its partial velocities with respect to the independent speeds (those of removed speeds folded in) and
the acceleration it has when all independent accelerations are zero. Kane & Levinson (1985), ch. 4 and 6; Sayers
(1990), section 8.4, on links whose inertias are regrouped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bellcrank.dynamics.bias import BiasMotion, down, inertia_force, offset, turning
from bellcrank.dynamics.composite import turning_terms
from bellcrank.dynamics.factor import Matrix
from bellcrank.dynamics.forces import Loads
from bellcrank.dynamics.tree import Freedom, Link, Tree
from bellcrank.expr import ONE, TWO, ZERO, Expr, Held, Product, add, mul, neg, sub
from bellcrank.kinematics.eliminate import Reduction
from bellcrank.vector.basis import NULL, Vec3
from bellcrank.vector.work import Work

Partial = dict[int, Vec3]  # by independent speed


@dataclass(frozen=True)
class Spin:
    """The rotation of a balanced leaf about its axis: inertia, bias acceleration, partial velocities."""

    inertia: Expr
    alpha: Expr
    turns: dict[int, Expr]


def by_partials(
    tree: Tree, loads: Loads, gravity: dict[int, Vec3], reduction: Reduction, work: Work, pairs: bool = False
) -> tuple[Matrix, dict[int, Expr]]:
    """Mass matrix and forces of the reduced system; `gravity` in the axes of free links.

    `pairs`: equal wheels are taken two by two, by sum and difference of their rotations, which are often simpler.
    """
    motion = BiasMotion()
    turns: list[Partial] = []
    moves: list[Partial] = []
    M: Matrix = {}
    f: dict[int, list[Expr]] = {r: [] for r in reduction.free}
    spins: list[Spin] = []
    for s, tau in loads.tau.items():
        for r, a in reduction.slope(s).items():
            f[r].append(mul(a, tau))
    for link in tree.links:
        _rotate(link, motion, turns, reduction, work)
        _translate(tree, link, motion, turns, moves, gravity, reduction, work)
        motion.W.append(turning(work, motion.w[-1], motion.alpha[-1]))
        _add_link(link, motion, loads, turns[-1], moves[-1], M, f, work)
        if link.spin and link.axis is not None:
            k = link.axis
            own = {r: W[k] for r, W in turns[-1].items() if W[k] is not ZERO}
            spins.append(Spin(link.spin_inertia, motion.alpha[-1][k], own))
    for spin in _paired(spins, work) if pairs else spins:
        _add_spin(spin, M, f, work)
    lower = {key: work.hold(value) for key, value in M.items()}
    return {key: v for key, v in lower.items() if v is not ZERO}, {r: work.hold(add(*terms)) for r, terms in f.items()}


def _combine(parts: Partial, freedom: Freedom, reduction: Reduction, work: Work) -> None:
    """Adds a freedom's own share to the partial velocities of its link."""
    for r, a in reduction.slope(freedom.index).items():
        old = parts.get(r, NULL)
        parts[r] = work.hold3(add(old[c], mul(a, freedom.axis[c])) for c in range(3))


def _rotate(link: Link, motion: BiasMotion, turns: list[Partial], reduction: Reduction, work: Work) -> None:
    at_ground = link.parent < 0
    parts: Partial = {}
    w: Vec3 = NULL
    alpha: Vec3 = NULL
    if link.takes_rotation and not at_ground:
        parts = {r: down(work, link, v) for r, v in turns[link.parent].items()}
        w, alpha = down(work, link, motion.w[link.parent]), down(work, link, motion.alpha[link.parent])
    carried = w
    for freedom in link.freedoms:
        if freedom.rotational:
            _combine(parts, freedom, reduction, work)
            own: Vec3 = tuple(mul(freedom.speed, e) for e in freedom.axis)  # type: ignore[assignment]
            drift = reduction.drift(freedom.index)
            if link.takes_rotation:
                alpha = work.add(alpha, work.cross(carried if link.guided else w, own))
            alpha = work.hold3(add(alpha[c], mul(drift, freedom.axis[c])) for c in range(3))
            w = work.add(w, own)
    if link.guided:
        alpha = work.add(work.add(alpha, work.cross(carried, link.w)), link.alpha)
        w = work.add(w, link.w)
    turns.append(parts)
    motion.w.append(w)
    motion.alpha.append(alpha)


def _translate(
    tree: Tree,
    link: Link,
    motion: BiasMotion,
    turns: list[Partial],
    moves: list[Partial],
    gravity: dict[int, Vec3],
    reduction: Reduction,
    work: Work,
) -> None:
    p = offset(work, link)
    motion.p.append(p)
    slides = [f for f in link.freedoms if not f.rotational]
    if not link.takes_translation:
        _free_translation(link, slides, motion, moves, gravity.get(link.index, NULL), reduction, work)
        return
    if link.parent < 0:
        a: Vec3 = tuple(neg(g) for g in tree.gravity)  # type: ignore[assignment]
        parts: Partial = {}
        w_up = NULL
    else:
        W, w_up = motion.W[link.parent], motion.w[link.parent]
        above = motion.a[link.parent]
        a = work.hold3(add(above[i], *(mul(W[i][j], p[j]) for j in range(3))) for i in range(3))
        speeds = dict.fromkeys([*moves[link.parent], *turns[link.parent]])
        parts = {}
        for r in speeds:
            swing = work.cross(turns[link.parent].get(r, NULL), p)
            parts[r] = work.add(moves[link.parent].get(r, NULL), swing)
    for freedom in slides:
        _combine(parts, freedom, reduction, work)
        coriolis = work.cross(w_up, freedom.axis)
        drift = reduction.drift(freedom.index)
        a = work.hold3(add(a[c], mul(TWO, freedom.speed, coriolis[c]), mul(drift, freedom.axis[c])) for c in range(3))
    if link.guided:
        swung = work.cross(w_up, link.v)
        a = work.hold3(add(a[c], mul(TWO, swung[c]), link.a[c]) for c in range(3))
    moves.append({r: down(work, link, v) for r, v in parts.items()})
    motion.a.append(down(work, link, a))


def _free_translation(
    link: Link,
    slides: list[Freedom],
    motion: BiasMotion,
    moves: list[Partial],
    gravity: Vec3,
    reduction: Reduction,
    work: Work,
) -> None:
    """A link whose speeds are components of its origin's absolute velocity: a = v' + w x v - g."""
    parts: Partial = {}
    v: list[Expr] = [ZERO] * 3
    a: list[Expr] = [neg(g) for g in gravity]
    for freedom in slides:
        _combine(parts, freedom, reduction, work)
        drift = reduction.drift(freedom.index)
        for c in range(3):
            v[c] = add(v[c], mul(freedom.speed, freedom.axis[c]))
            a[c] = add(a[c], mul(drift, freedom.axis[c]))
    turned = work.cross(motion.w[link.index], (v[0], v[1], v[2]))
    moves.append(parts)
    motion.a.append(work.add((a[0], a[1], a[2]), turned))


def _add_link(
    link: Link,
    motion: BiasMotion,
    loads: Loads,
    turns: Partial,
    moves: Partial,
    M: Matrix,
    f: dict[int, list[Expr]],
    work: Work,
) -> None:
    """One link's share of mass matrix and forces, without the inertia of a spin about its axis."""
    force, moment = inertia_force(link, motion, work)
    F, N = loads.wrench.get(link.index, (NULL, NULL))
    force = work.hold3(sub(a, b) for a, b in zip(F, force, strict=True))
    moment = work.hold3(sub(a, b) for a, b in zip(N, moment, strict=True))
    speeds = list(dict.fromkeys([*moves, *turns]))
    response = {r: _response(link, turns.get(r, NULL), moves.get(r, NULL), work) for r in speeds}
    dot: Callable[[Vec3, Vec3], Expr] = work.dot
    for i, r in enumerate(speeds):
        V, W = moves.get(r, NULL), turns.get(r, NULL)
        f[r] += [dot(force, V), dot(moment, W)]
        for s in speeds[: i + 1]:
            pushed, twisted = response[s]
            key = (max(r, s), min(r, s))
            M[key] = add(M.get(key, ZERO), dot(pushed, V), dot(twisted, W))


def _response(link: Link, W: Vec3, V: Vec3, work: Work) -> tuple[Vec3, Vec3]:
    """Force and moment that a unit of one speed's acceleration asks for."""
    swing, arm = work.cross(W, link.h), work.cross(link.h, V)
    force = work.hold3(add(mul(link.m, V[c]), swing[c]) for c in range(3))
    return force, work.hold3(add(arm[r], *turning_terms(link.J, W, r)) for r in range(3))


def _add_spin(spin: Spin, M: Matrix, f: dict[int, list[Expr]], work: Work) -> None:
    """Mass matrix and forces of a rotation about a fixed axis of a link."""
    speeds = list(spin.turns)
    for i, r in enumerate(speeds):
        pushed = work.hold(mul(spin.inertia, spin.turns[r]))
        f[r].append(neg(mul(spin.alpha, pushed)))
        for s in speeds[: i + 1]:
            key = (max(r, s), min(r, s))
            M[key] = add(M.get(key, ZERO), mul(pushed, spin.turns[s]))


def _paired(spins: Sequence[Spin], work: Work) -> list[Spin]:
    """Spins of equal inertia two by two: x1 y1 + x2 y2 = ((x1 + x2)(y1 + y2) + (x1 - x2)(y1 - y2))/2."""
    result: list[Spin] = []
    left = list(spins)
    while left:
        first = left.pop(0)
        twin = next((s for s in left if s.inertia.fingerprint == first.inertia.fingerprint), None)
        if twin is None:
            result.append(first)
            continue
        left.remove(twin)
        for sign in (1, -1):
            turns = {
                r: work.hold(mul(ONE / 2, _total(first.turns.get(r, ZERO), twin.turns.get(r, ZERO), sign)))
                for r in dict.fromkeys([*first.turns, *twin.turns])
            }
            alpha = work.hold(mul(ONE / 2, _total(first.alpha, twin.alpha, sign)))
            acting = {r: W for r, W in turns.items() if W is not ZERO}
            result.append(Spin(mul(TWO, first.inertia), alpha, acting))
    return result


def _total(a: Expr, b: Expr, sign: int) -> Expr:
    """a + b or a - b, with both written out so that what they share cancels."""
    return add(_opened(a), _opened(b) if sign > 0 else neg(_opened(b)))


def _opened(e: Expr) -> Expr:
    if isinstance(e, Held):
        return e.definition
    if isinstance(e, Product) and len(e.factors) == 1 and e.factors[0][1] == 1:
        base = e.factors[0][0]
        return neg(base.definition) if isinstance(base, Held) and e.coefficient == -1 else e
    return e
