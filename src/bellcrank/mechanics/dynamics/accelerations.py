"""Derivation: from analysed kinematics to accelerations.

In:  an `KinematicAnalysis`. Out: `AccelerationDerivation`s: u' as expressions over held
intermediate results, by composite bodies with a symbolic factorisation or by articulated bodies;
and, on request, the mass matrix and forces for the user's own speeds. Several ways are derived
where it is not known beforehand which needs the fewest operations; `program` counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from bellcrank.core.errors import ModelError, pluralize
from bellcrank.mechanics.dynamics.articulated import solve_articulated
from bellcrank.mechanics.dynamics.bias import BiasMotion, bias_motion, to_link_frame
from bellcrank.mechanics.dynamics.composite import assemble_composite
from bellcrank.mechanics.dynamics.forces import AppliedLoads, assemble_loads, link_components
from bellcrank.mechanics.dynamics.ldl_factorization import (
    Matrix,
    adjacency,
    best_order,
    solve_ldl,
    symmetric_entry,
)
from bellcrank.mechanics.dynamics.partial_velocities import partial_velocity_system
from bellcrank.mechanics.dynamics.regroup import regroup_inertia
from bellcrank.mechanics.dynamics.tree import Link, Tree, build_tree, shift_reference
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.mechanics.kinematics.constraint_rows import acceleration_right_side
from bellcrank.mechanics.kinematics.dependent_accelerations import (
    SpeedReduction,
    eliminate_rows,
    rate_rows,
)
from bellcrank.symbolic.expr import ZERO, Expr, Number, add, div, mul, neg, sub
from bellcrank.symbolic.vector.basis import NULL, Vec3, add3, add_scaled3
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace, is_zero

# degrees of freedom above which a symbolic factorisation cannot compete with articulated bodies
MAX_DOF_FACTORIZATION = 16


@dataclass(frozen=True)
class AccelerationDerivation:
    """One way to the accelerations: u' by speed index (independent speeds), with a line saying
    how."""

    udot: dict[int, Expr]
    method_label: str


@dataclass
class TreeSystem:
    """M y = rhs in internal unknowns, and what turns y into u'."""

    tree: Tree
    motion: BiasMotion
    loads: AppliedLoads
    work: DerivationWorkspace
    gravity: dict[int, Vec3] = field(default_factory=dict)  # of free links, link axes


PASSES = {
    "fingerprints": "equal values are one intermediate result, whatever their form",
    "regroup": "inertial parameters that act in combination are moved to the parent",
    "spin": "the rotation of a balanced leaf is taken as absolute",
    "shift": "unknowns are shifted so that no joint has a bias acceleration along itself",
    "reference": "the origin of a free body is put where its joints need the fewest operations",
    "pairs": "equal wheels of constrained models are taken by sum and difference",
    "composite": "composite bodies with an ordered symbolic factorisation",
    "articulated": "articulated bodies",
    "extract": "common factors, sums and products are taken out of the finished equations",
}


def prepare_tree_system(
    analysis: KinematicAnalysis,
    reference: dict[int, Vec3] | None,
    spin: bool,
    without: frozenset[str] = frozenset(),
) -> TreeSystem:
    """Tree, regrouped inertias, bias motion and loads. `reference` shifts the origins of free
    links."""
    work = analysis.kinematics.work.copy()
    work.by_value = "fingerprints" not in without
    tree = build_tree(analysis.mechanism, work, analysis.kinematics.speed)
    ground = analysis.kinematics.frames[-1]
    tree.gravity = ground.coordinates(analysis.gravity)
    for index, r in (reference or {}).items():
        shift_reference(tree, index, r, work)
    if "regroup" not in without:
        regroup_inertia(tree, work, spin=spin and "spin" not in without)
    gravity: dict[int, Vec3] = {}
    if analysis.gravity:
        for link in tree.links:
            if not link.takes_translation:
                gravity[link.index] = link_components(
                    analysis, tree, link.index, analysis.gravity, work
                )
    motion = bias_motion(tree, work, gravity, shift="shift" not in without)
    return TreeSystem(tree, motion, assemble_loads(analysis, tree, work), work, gravity)


def mass_units(tree: Tree) -> list[Expr]:
    """Constants that masses and inertias can be divided by, since no valid model has them zero:
    what a leaf resists its own acceleration with, and the mass of all that a free link carries."""
    units: dict[Expr, None] = {}
    for link in tree.links:
        if not link.takes_translation:
            units[
                add(
                    *(
                        carried_link.m
                        for carried_link in tree.links
                        if link.index in tree.path_to_ground(carried_link.index)
                    )
                )
            ] = None
        elif not (link.guided or tree.children(link.index)) and len(link.freedoms) == 1:
            (f,) = link.freedoms
            if not f.rotational:
                resistance = link.m
            elif link.axis is not None:
                resistance = (
                    link.spin_inertia
                    if link.spin
                    else add(*(link.J[c][c] for c in range(3) if c != link.axis))
                )
            else:
                continue
            units[add(resistance, tree.armature.get(f.index, ZERO))] = None
    return [unit for unit in units if unit.constant and not isinstance(unit, Number)]


def scale_system(system: TreeSystem, unit: Expr) -> TreeSystem:
    """The same system with masses, inertias and loads divided by a constant: accelerations stay
    what they are."""
    work, tree, loads = system.work.copy(), system.tree, system.loads

    def divide(x: Expr) -> Expr:
        return work.bind(div(x, unit))

    def divide3(v: Vec3) -> Vec3:
        return divide(v[0]), divide(v[1]), divide(v[2])

    links = [
        replace(
            link,
            m=divide(link.m),
            h=divide3(link.h),
            J=(divide3(link.J[0]), divide3(link.J[1]), divide3(link.J[2])),
            spin_inertia=divide(link.spin_inertia),
        )
        for link in tree.links
    ]
    armature = {s: divide(a) for s, a in tree.armature.items()}
    tau = {s: divide(x) for s, x in loads.tau.items()}
    wrench = {
        index: (divide3(force), divide3(moment)) for index, (force, moment) in loads.wrench.items()
    }
    return replace(
        system,
        tree=replace(tree, links=links, armature=armature),
        loads=AppliedLoads(tau, wrench),
        work=work,
    )


def user_reference(analysis: KinematicAnalysis) -> dict[int, Vec3]:
    """Origins of free links at the points whose velocities are the speeds."""
    tree = build_tree(analysis.mechanism, analysis.kinematics.work.copy())
    return {link.index: link.speed_point for link in tree.links if not link.takes_translation}


def reference_choices(analysis: KinematicAnalysis) -> list[dict[int, Vec3]]:
    """Promising origins of free links: each coordinate that brings most joints onto a coordinate
    plane."""
    work = analysis.kinematics.work.copy()
    tree = build_tree(analysis.mechanism, work)
    choices: list[dict[int, Vec3]] = [{}]
    for link in tree.links:
        if link.takes_translation:
            continue
        joints = [c.p for c in tree.children(link.index) if c.takes_translation and not c.guided]
        per_axis: list[list[Expr]] = []
        for axis in range(3):
            values = Counter({ZERO: 0})
            values.update(p[axis] for p in joints)
            per_axis.append([v for v, n in values.items() if n == max(values.values())])
        # where counts tie, each value is tried on its own, the others at their first
        base = [options[0] for options in per_axis]
        points: list[Vec3] = [(base[0], base[1], base[2])]
        for axis, options in enumerate(per_axis):
            for value in options[1:]:
                coordinates = [*base[:axis], value, *base[axis + 1 :]]
                points.append((coordinates[0], coordinates[1], coordinates[2]))
        choices = [{**c, link.index: p} for c in choices for p in points][:8]
    return choices


def candidate_derivations(
    analysis: KinematicAnalysis,
    solve_by: str,
    without: frozenset[str] = frozenset(),
    units: bool = False,
) -> Iterator[AccelerationDerivation]:
    """The ways worth counting. `solve_by` is explicit, order-n or auto; `without` switches passes
    off; `units`: also with masses, inertias and loads divided by a constant."""
    names = freedom_names(analysis)
    if analysis.loops:
        yield _loop_derivation(analysis, names, without)
        return
    if analysis.removed:
        yield from _reduced_derivations(analysis, names, without)
        return
    choices = (
        reference_choices(analysis) if "reference" not in without else [user_reference(analysis)]
    )
    guided = recursion_obstacle(analysis)
    composite_too = bool(guided) or (
        "composite" not in without
        and (len(names) <= MAX_DOF_FACTORIZATION or "articulated" in without)
    )
    if guided and solve_by == "order-n":
        raise ModelError(
            f"solve='order-n' is not available for {guided}. Use 'auto', 'explicit' or 'implicit'"
        )
    for reference in choices:
        plain = prepare_tree_system(analysis, reference, True, without)
        for system in (
            plain,
            *(scale_system(plain, unit) for unit in (mass_units(plain.tree) if units else ())),
        ):
            start = system.work.copy()
            if solve_by == "explicit" or (solve_by == "auto" and composite_too):
                yield _composite_body_method(system, names)
            if solve_by == "order-n" or (
                solve_by == "auto" and "articulated" not in without and not guided
            ):
                yield _articulated_body_method(replace(system, work=start), names)


def recursion_obstacle(analysis: KinematicAnalysis) -> str:
    """What keeps a model from order-n, "" if nothing does: an articulated body knows no speed that
    moves several links, or turns and moves one."""
    return next(
        (b.joint.by_recursion for b in analysis.mechanism.bodies if b.joint.by_recursion), ""
    )


def freedom_names(analysis: KinematicAnalysis) -> dict[int, str]:
    names, body_of = {}, {u: b for b in reversed(analysis.mechanism.bodies) for u in b.speeds}
    for i, u in enumerate(analysis.mechanism.speeds):
        body = body_of[u]
        kind = "rotation" if body.joint.turns(u) else "translation"
        names[i] = f"the {kind} {u.name} of body '{body.name}'"
    return names


def _composite_body_method(system: TreeSystem, names: dict[int, str]) -> AccelerationDerivation:
    M, rhs = assemble_composite(system.tree, system.motion, system.loads, system.work)
    order, work = best_order(M, range(len(names))), system.work.copy()
    y = solve_ldl(M, rhs, order, names, work)
    description = f"composite bodies, order {tuple(i + 1 for i in order)}"
    return AccelerationDerivation(
        recover_accelerations(system, y, work, absolute_spin=True), description
    )


def _articulated_body_method(system: TreeSystem, names: dict[int, str]) -> AccelerationDerivation:
    y = solve_articulated(system.tree, system.motion, system.loads, system.work, names)
    return AccelerationDerivation(
        recover_accelerations(system, y, system.work, absolute_spin=False), "articulated bodies"
    )


def recover_accelerations(
    system: TreeSystem, y: dict[int, Expr], work: DerivationWorkspace, absolute_spin: bool
) -> dict[int, Expr]:
    """u' from the internal unknowns: shift, spin and base point undone."""
    tree, motion = system.tree, system.motion
    udot: dict[int, Expr] = {}
    extra: dict[int, Vec3] = {}

    def added_angular_acceleration(index: int) -> Vec3:
        """Angular acceleration of a link in addition to the bias."""
        if index < 0:
            return NULL
        if index not in extra:
            link = tree.links[index]
            rotation = (
                to_link_frame(work, link, added_angular_acceleration(link.parent))
                if link.takes_rotation
                else NULL
            )
            for f in link.rotations:
                rotation = add_scaled3(rotation, y[f.index], f.axis)
            extra[index] = work.bind3(rotation)
        return extra[index]

    for link in tree.links:
        for f in link.freedoms:
            if f.rotational or link.takes_translation:
                value = add(y[f.index], motion.delta[f.index])
                if link.spin and absolute_spin:
                    value = sub(
                        value,
                        work.dot(
                            to_link_frame(work, link, added_angular_acceleration(link.parent)),
                            f.axis,
                        ),
                    )
                udot[f.index] = work.bind(value)
        if not link.takes_translation:
            _free_point(link, system, y, added_angular_acceleration, udot, work)
    return udot


def _free_point(
    link: Link,
    system: TreeSystem,
    y: dict[int, Expr],
    alpha: Callable[[int], Vec3],
    udot: dict[int, Expr],
    work: DerivationWorkspace,
) -> None:
    """Accelerations of a free link's own speeds: v' = a + g + alpha x r - w x (v - w x r)."""
    w = system.motion.w[link.index]
    r = work.bind3(sub(a, b) for a, b in zip(link.speed_point, link.reference, strict=True))
    total, v = NULL, NULL
    for f in link.translations:
        total, v = add_scaled3(total, y[f.index], f.axis), add_scaled3(v, f.speed, f.axis)
    if link.index in system.gravity:
        total = add3(total, system.gravity[link.index])
    if not is_zero(r):
        rotational = work.cross(add3(alpha(link.index), system.motion.alpha[link.index]), r)
        total = add3(total, rotational)
        v = work.bind3(sub(x, b) for x, b in zip(v, work.cross(w, r), strict=True))
    convective = work.cross(w, v)
    for f in link.translations:
        udot[f.index] = work.bind(
            add(*(mul(f.axis[c], sub(total[c], convective[c])) for c in range(3)))
        )


# ---- constrained systems, user's speeds


@dataclass
class ReducedSystem:
    """M y = f for the independent speeds, by speed index; their u' are y + delta."""

    M: Matrix
    f: dict[int, Expr]
    work: DerivationWorkspace
    index: list[int]
    delta: dict[int, Expr] = field(default_factory=dict)  # what is not zero


def reduced_system(
    analysis: KinematicAnalysis, shifted: bool = False, without: frozenset[str] = frozenset()
) -> ReducedSystem:
    """Equations in the user's speeds, constraints included: T^T M T y = T^T (rhs - M k); y is u'
    unless `shifted`."""
    system = prepare_tree_system(analysis, user_reference(analysis), False, without)
    work = system.work
    M, rhs = assemble_composite(system.tree, system.motion, system.loads, work)
    delta = recover_accelerations(
        system,
        dict.fromkeys(range(len(analysis.mechanism.speeds)), ZERO),
        work,
        absolute_spin=False,
    )
    reduction = rate_rows(analysis.removed, analysis.kinematics, work)
    shift: dict[int, Expr] = {}
    for s, drift in reduction.drifts.items():
        dependent_shift = add(*(mul(a, delta[r]) for r, a in reduction.partials[s].items()))
        shift[s] = work.bind(add(drift, dependent_shift, neg(delta[s])))
    M, rhs = project_mass_matrix(M, rhs, reduction, shift, work)
    free = reduction.free
    if shifted:
        return ReducedSystem(M, rhs, work, free, {i: delta[i] for i in free})
    row_columns = adjacency(M)
    rhs = {
        i: work.bind(
            add(rhs[i], *(mul(symmetric_entry(M, i, j), delta[j]) for j in row_columns.get(i, ())))
        )
        for i in free
    }
    return ReducedSystem(M, rhs, work, free)


def project_mass_matrix(
    M: Matrix,
    rhs: dict[int, Expr],
    reduction: SpeedReduction,
    shift: dict[int, Expr],
    work: DerivationWorkspace,
) -> tuple[Matrix, dict[int, Expr]]:
    """T^T M T and T^T (rhs - M k) with y_s = sum A_sr y_r + k_s for the removed speeds s."""
    free, partials = reduction.free, reduction.partials
    everything = [*free, *partials]
    corrected = {
        i: work.bind(
            sub(rhs[i], add(*(mul(symmetric_entry(M, i, s), k) for s, k in shift.items())))
        )
        for i in everything
    }
    row_columns = adjacency(M)
    MT: dict[int, dict[int, Expr]] = {i: {} for i in everything}  # what is not zero by its pattern
    for i in everything:
        for r in sorted({r for s in row_columns.get(i, ()) for r in partials.get(s, (s,))}):
            dependent_terms = (
                mul(symmetric_entry(M, i, s), a[r]) for s, a in partials.items() if r in a
            )
            MT[i][r] = work.bind(add(symmetric_entry(M, i, r), *dependent_terms))
    projected_mass: Matrix = {}
    f: dict[int, Expr] = {}
    for i in free:
        dependent_partials = {s: a[i] for s, a in partials.items() if i in a}
        f[i] = work.bind(
            add(corrected[i], *(mul(a, corrected[s]) for s, a in dependent_partials.items()))
        )
        for j in sorted({j for s in (i, *dependent_partials) for j in MT[s] if j <= i}):
            dependent_terms = (mul(a, MT[s].get(j, ZERO)) for s, a in dependent_partials.items())
            value = work.bind(add(MT[i].get(j, ZERO), *dependent_terms))
            if value is not ZERO:
                projected_mass[i, j] = value
    return projected_mass, f


def _reduced_derivations(
    analysis: KinematicAnalysis, names: dict[int, str], without: frozenset[str]
) -> Iterator[AccelerationDerivation]:
    """Constrained systems: the tree's matrix projected, and partial velocities link by link."""
    suffix = f"reduced by {pluralize(len(analysis.removed), 'constraint')}"
    yield _solve_reduced(
        reduced_system(analysis, True, without), names, f"composite bodies {suffix}"
    )
    system = prepare_constrained_tree(analysis, without)
    start = system.work.copy()
    yield _solve_reduced(
        partial_velocities(analysis, system), names, f"partial velocities {suffix}"
    )
    if "pairs" not in without:
        in_pairs = partial_velocities(analysis, replace(system, work=start), pairs=True)
        yield _solve_reduced(in_pairs, names, f"partial velocities {suffix}, equal wheels in pairs")


def prepare_constrained_tree(
    analysis: KinematicAnalysis, without: frozenset[str] = frozenset()
) -> TreeSystem:
    """What partial velocities of a constrained system start from."""
    return prepare_tree_system(analysis, user_reference(analysis), True, without)


def partial_velocities(
    analysis: KinematicAnalysis, system: TreeSystem, pairs: bool = False
) -> ReducedSystem:
    """M u' = f of a constrained system, from reduced partial velocities."""
    reduction = speed_reduction(analysis, system.work)
    M, f = partial_velocity_system(
        system.tree, system.loads, system.gravity, reduction, system.work, pairs
    )
    return ReducedSystem(M, f, system.work, reduction.free)


def speed_reduction(analysis: KinematicAnalysis, work: DerivationWorkspace) -> SpeedReduction:
    """How the accelerations of dependent speeds follow from the independent ones."""
    k, loops = analysis.kinematics, analysis.loops
    if not loops:
        return rate_rows(analysis.removed, k, work)
    return eliminate_rows(
        loops.used_rows,
        [acceleration_right_side(r, k) for r in loops.used_rows],
        loops.pivots,
        k.mechanism.speeds,
        work,
    )


def _loop_derivation(
    analysis: KinematicAnalysis, names: dict[int, str], without: frozenset[str]
) -> AccelerationDerivation:
    assert analysis.loops is not None
    system = partial_velocities(analysis, prepare_constrained_tree(analysis, without))
    count = pluralize(len(analysis.loops.pivots), "loop constraint")
    way = _solve_reduced(system, names, f"partial velocities with {count}")
    return replace(way, udot=state_accelerations(analysis, way.udot, system.work))


def state_accelerations(
    analysis: KinematicAnalysis, udot: dict[int, Expr], work: DerivationWorkspace
) -> dict[int, Expr]:
    """Those of all state speeds: with loops, of the dependent ones too, by u_s' = T u_r' + c."""
    udot = dict(udot)
    if analysis.loops:
        reduction = speed_reduction(analysis, work)
        for s in range(len(analysis.mechanism.speeds)):
            if s not in udot:
                terms = [mul(a, udot[r]) for r, a in reduction.partials_of(s).items()]
                udot[s] = work.bind(add(reduction.bias_term(s), *terms))
    return udot


def _solve_reduced(
    system: ReducedSystem, names: dict[int, str], description: str
) -> AccelerationDerivation:
    y = solve_ldl(system.M, system.f, best_order(system.M, system.index), names, system.work)
    return AccelerationDerivation(
        {i: system.work.bind(add(y[i], system.delta.get(i, ZERO))) for i in system.index},
        description,
    )


def require_freedom(analysis: KinematicAnalysis) -> None:
    if not analysis.mechanism.speeds:
        raise ModelError(
            "the model has no degrees of freedom: give a body translate= or rotate=",
            analysis.mechanism.name,
        )
