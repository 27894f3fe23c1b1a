"""Constrained systems by reduced partial velocities: M u' = f for the independent speeds, link by
link.

Every link gets its partial velocities with respect to the independent speeds (those of removed
speeds folded in) and the acceleration it has when all independent accelerations are zero. Kane &
Levinson (1985), ch. 4 and 6; Sayers (1990), section 8.4, on links whose inertias are regrouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.mechanics.dynamics.bias import (
    BiasMotion,
    angular_motion_matrix,
    inertia_force,
    origin_in_parent,
    to_link_frame,
)
from bellcrank.mechanics.dynamics.composite import turning_terms
from bellcrank.mechanics.dynamics.forces import AppliedLoads
from bellcrank.mechanics.dynamics.ldl_factorization import Matrix
from bellcrank.mechanics.dynamics.tree import DegreeOfFreedom, Link, Tree
from bellcrank.mechanics.kinematics.dependent_accelerations import SpeedReduction
from bellcrank.symbolic.expr import (
    ONE,
    TWO,
    ZERO,
    Expr,
    NamedSubexpression,
    Product,
    add,
    mul,
    neg,
    sub,
)
from bellcrank.symbolic.vector.basis import NULL, Vec3, add_scaled3, neg3, scale3
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

Partial = dict[int, Vec3]  # by independent speed


@dataclass(frozen=True)
class LeafSpin:
    """The rotation of a balanced leaf about its axis: inertia, bias acceleration, partial
    velocities."""

    inertia: Expr
    alpha: Expr
    turns: dict[int, Expr]


def partial_velocity_system(
    tree: Tree,
    loads: AppliedLoads,
    gravity: dict[int, Vec3],
    reduction: SpeedReduction,
    work: DerivationWorkspace,
    pairs: bool = False,
) -> tuple[Matrix, dict[int, Expr]]:
    """Mass matrix and forces of the reduced system; `gravity` in the axes of free links.

    `pairs`: equal wheels are taken two by two, by sum and difference of their rotations, which are
    often simpler.
    """
    p = _PartialVelocities(tree, loads, gravity, reduction, work)
    for s, tau in loads.tau.items():
        for r, a in reduction.partials_of(s).items():
            p.f[r].append(mul(a, tau))
    spins = [spin for link in tree.links if (spin := p.process_link(link)) is not None]
    for spin in _pair_equal_spins(spins, work) if pairs else spins:
        p.add_spin(spin)
    for s, armature in tree.armature.items():
        rotor_partials = {r: a for r, a in reduction.partials_of(s).items() if a is not ZERO}
        p.add_spin(LeafSpin(armature, reduction.bias_term(s), rotor_partials))
    lower = {key: work.bind(value) for key, value in p.M.items()}
    forces = {r: work.bind(add(*terms)) for r, terms in p.f.items()}
    return {key: v for key, v in lower.items() if v is not ZERO}, forces


class _PartialVelocities:
    """Partial velocities of the links taken in so far, and the system that they make."""

    def __init__(
        self,
        tree: Tree,
        loads: AppliedLoads,
        gravity: dict[int, Vec3],
        reduction: SpeedReduction,
        work: DerivationWorkspace,
    ) -> None:
        self.tree, self.loads, self.gravity, self.reduction, self.work = (
            tree,
            loads,
            gravity,
            reduction,
            work,
        )
        self.motion = BiasMotion()
        self.turns: list[Partial] = []
        self.moves: list[Partial] = []
        self.M: Matrix = {}
        self.f: dict[int, list[Expr]] = {r: [] for r in reduction.free}

    def process_link(self, link: Link) -> LeafSpin | None:
        """Takes in a link; gives its spin if that is absolute."""
        motion = self.motion
        self._add_rotation_partials(link)
        motion.p.append(origin_in_parent(self.work, link))
        if link.takes_translation:
            self._add_translation_partials(link)
        else:
            self._translate_free(link)
        motion.W.append(angular_motion_matrix(self.work, motion.w[-1], motion.alpha[-1]))
        self._add_link(link)
        if not link.spin or link.axis is None:
            return None
        k = link.axis
        spin_partials = {r: W[k] for r, W in self.turns[-1].items() if W[k] is not ZERO}
        return LeafSpin(link.spin_inertia, motion.alpha[-1][k], spin_partials)

    def _add_partial(self, partials: Partial, freedom: DegreeOfFreedom) -> None:
        """Adds a degree of freedom's own share to the partial velocities of its link."""
        for r, a in self.reduction.partials_of(freedom.index).items():
            partials[r] = self.work.bind3(add_scaled3(partials.get(r, NULL), a, freedom.axis))

    def _add_rotation_partials(self, link: Link) -> None:
        motion, work = self.motion, self.work
        partials: Partial = {}
        w: Vec3 = NULL
        alpha: Vec3 = NULL
        if link.takes_rotation and link.parent >= 0:
            partials = {r: to_link_frame(work, link, v) for r, v in self.turns[link.parent].items()}
            w, alpha = (
                to_link_frame(work, link, motion.w[link.parent]),
                to_link_frame(work, link, motion.alpha[link.parent]),
            )
        base_rotation = w
        for freedom in link.rotations:
            self._add_partial(partials, freedom)
            joint_rotation = scale3(freedom.speed, freedom.axis)
            if link.takes_rotation:
                alpha = work.add(
                    alpha, work.cross(base_rotation if link.guided else w, joint_rotation)
                )
            alpha = work.bind3(
                add_scaled3(alpha, self.reduction.bias_term(freedom.index), freedom.axis)
            )
            w = work.add(w, joint_rotation)
        if link.guided:
            alpha = work.add(work.add(alpha, work.cross(base_rotation, link.w)), link.alpha)
            w = work.add(w, link.w)
        self.turns.append(partials)
        motion.w.append(w)
        motion.alpha.append(alpha)

    def _add_translation_partials(self, link: Link) -> None:
        motion, work, p = self.motion, self.work, self.motion.p[-1]
        partials: Partial = {}
        a, w_up = neg3(self.tree.gravity), NULL
        if link.parent >= 0:
            W, w_up, above = motion.W[link.parent], motion.w[link.parent], motion.a[link.parent]
            a = work.bind3(add(above[i], *(mul(W[i][j], p[j]) for j in range(3))) for i in range(3))
            parent_velocities, parent_rotations = self.moves[link.parent], self.turns[link.parent]
            for r in dict.fromkeys([*parent_velocities, *parent_rotations]):
                swing = work.cross(parent_rotations.get(r, NULL), p)
                partials[r] = work.add(parent_velocities.get(r, NULL), swing)
        for f in link.translations:
            self._add_partial(partials, f)
            coriolis, drift = work.cross(w_up, f.axis), self.reduction.bias_term(f.index)
            a = work.bind3(
                add(a[c], mul(TWO, f.speed, coriolis[c]), mul(drift, f.axis[c])) for c in range(3)
            )
        if link.guided:
            swung = work.cross(w_up, link.v)
            a = work.bind3(add(a[c], mul(TWO, swung[c]), link.a[c]) for c in range(3))
        self.moves.append({r: to_link_frame(work, link, v) for r, v in partials.items()})
        motion.a.append(to_link_frame(work, link, a))

    def _translate_free(self, link: Link) -> None:
        """A link whose speeds are components of its origin's absolute velocity: a = v' + w x v -
        g."""
        partials: Partial = {}
        v, a = NULL, neg3(self.gravity.get(link.index, NULL))
        for f in link.translations:
            self._add_partial(partials, f)
            v, a = (
                add_scaled3(v, f.speed, f.axis),
                add_scaled3(a, self.reduction.bias_term(f.index), f.axis),
            )
        rotational = self.work.cross(self.motion.w[link.index], v)
        self.moves.append(partials)
        self.motion.a.append(self.work.add(a, rotational))

    def _add_link(self, link: Link) -> None:
        """One link's fraction of mass matrix and forces, without the inertia of a spin about its
        axis."""
        work, rotations, velocities = self.work, self.turns[-1], self.moves[-1]
        force, moment = inertia_force(link, self.motion, work)
        F, N = self.loads.wrench.get(link.index, (NULL, NULL))
        force = work.bind3(sub(a, b) for a, b in zip(F, force, strict=True))
        moment = work.bind3(sub(a, b) for a, b in zip(N, moment, strict=True))
        speeds = list(dict.fromkeys([*velocities, *rotations]))
        response = {
            r: _inertia_response(link, rotations.get(r, NULL), velocities.get(r, NULL), work)
            for r in speeds
        }
        for i, r in enumerate(speeds):
            V, W = velocities.get(r, NULL), rotations.get(r, NULL)
            self.f[r] += [work.dot(force, V), work.dot(moment, W)]
            for s in speeds[: i + 1]:
                momentum, twisted = response[s]
                self._add_mass_entry(r, s, work.dot(momentum, V), work.dot(twisted, W))

    def add_spin(self, spin: LeafSpin) -> None:
        """Mass matrix and forces of a rotation about a fixed axis of a link."""
        speeds = list(spin.turns)
        for i, r in enumerate(speeds):
            momentum = self.work.bind(mul(spin.inertia, spin.turns[r]))
            self.f[r].append(neg(mul(spin.alpha, momentum)))
            for s in speeds[: i + 1]:
                self._add_mass_entry(r, s, mul(momentum, spin.turns[s]))

    def _add_mass_entry(self, r: int, s: int, *terms: Expr) -> None:
        key = (max(r, s), min(r, s))
        self.M[key] = add(self.M.get(key, ZERO), *terms)


def _inertia_response(link: Link, W: Vec3, V: Vec3, work: DerivationWorkspace) -> tuple[Vec3, Vec3]:
    """Force and moment that a unit of one speed's acceleration asks for."""
    swing, arm = work.cross(W, link.h), work.cross(link.h, V)
    force = work.bind3(add(mul(link.m, V[c]), swing[c]) for c in range(3))
    return force, work.bind3(add(arm[r], *turning_terms(link.J, W, r)) for r in range(3))


def _pair_equal_spins(spins: Sequence[LeafSpin], work: DerivationWorkspace) -> list[LeafSpin]:
    """Spins of equal inertia two by two: x1 y1 + x2 y2 = ((x1 + x2)(y1 + y2) + (x1 - x2)(y1 -
    y2))/2."""
    result: list[LeafSpin] = []
    remaining_spins = list(spins)
    while remaining_spins:
        first = remaining_spins.pop(0)
        twin = next(
            (s for s in remaining_spins if s.inertia.fingerprint == first.inertia.fingerprint), None
        )
        if twin is None:
            result.append(first)
            continue
        remaining_spins.remove(twin)
        for sign in (1, -1):
            rotations = {
                r: work.bind(
                    mul(
                        ONE / 2,
                        _sum_or_difference(first.turns.get(r, ZERO), twin.turns.get(r, ZERO), sign),
                    )
                )
                for r in dict.fromkeys([*first.turns, *twin.turns])
            }
            alpha = work.bind(mul(ONE / 2, _sum_or_difference(first.alpha, twin.alpha, sign)))
            acting = {r: W for r, W in rotations.items() if W is not ZERO}
            result.append(LeafSpin(mul(TWO, first.inertia), alpha, acting))
    return result


def _sum_or_difference(a: Expr, b: Expr, sign: int) -> Expr:
    """a + b or a - b, with both written out so that what they share cancels."""
    return add(
        _inline_definition(a), _inline_definition(b) if sign > 0 else neg(_inline_definition(b))
    )


def _inline_definition(e: Expr) -> Expr:
    if isinstance(e, NamedSubexpression):
        return e.definition
    if isinstance(e, Product) and len(e.factors) == 1 and e.factors[0][1] == 1:
        base = e.factors[0][0]
        return (
            neg(base.definition)
            if isinstance(base, NamedSubexpression) and e.coefficient == -1
            else e
        )
    return e
