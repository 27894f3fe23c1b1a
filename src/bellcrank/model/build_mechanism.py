"""Description to Mechanism: joints resolved, names checked, every problem found reported at once.

In:  a `Description`. Out: a `Mechanism` whose bodies stand in depth-first order (children in order
of entry). The choice of speeds and the composite bodies follow Sayers (1990), sections 8.1.3 to
8.1.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.bodies import make_joint, resolve_bodies
from bellcrank.model.checker import BodyDraft, DescriptionChecker
from bellcrank.model.mechanism import Body, Mechanism
from bellcrank.model.records import Description
from bellcrank.model.scope import NAME, SHORT, is_reserved
from bellcrank.symbolic.expr import Expr, Symbol, add, div
from bellcrank.symbolic.vector.basis import NULL, Vec3, add3, matvec, scale3


def build_mechanism(
    description: Description, small: bool = True, extra_orders: int = 0
) -> tuple[Mechanism, DescriptionChecker]:
    """The mechanism of a description; problems found so far stay in the checker until the analysis
    raises them. Small terms of so many orders `extra_orders` are kept than the description asks
    for."""
    checker = DescriptionChecker(description)
    scope = checker.scope
    check_names(checker)
    resolve_bodies(checker)
    order = depth_first(checker.drafts)
    for i in order:
        q, u = scope.by_body[checker.drafts[i].record.name]
        scope.coordinates.extend(q)
        scope.speeds.extend(u)
    if small:
        assign_orders(checker)
    position = {i: index for index, i in enumerate(order)}
    bodies = []
    for i in order:
        draft = checker.drafts[i]
        name, label = draft.record.name, draft.record.label or draft.record.name
        parent, joint = position.get(draft.parent, -1), make_joint(checker, draft)
        properties = draft.mass, draft.inertia, draft.cm
        bodies.append(
            Body(position[i], name, label, parent, *properties, joint, armature=draft.armature)
        )
    if not checker.problems:
        bodies = choose_speeds(bodies)
    states = tuple(scope.symbol(z.name, "coordinate") for z in description.states)
    scope.coordinates.extend(states)
    orders, threshold = dict(scope.orders), description.small_threshold + extra_orders
    return Mechanism(
        description.name, tuple(bodies), description, orders, threshold, states
    ), checker


def depth_first(drafts: Sequence[BodyDraft]) -> list[int]:
    for position, draft in enumerate(drafts):
        if draft.parent >= 0:
            drafts[draft.parent].children.append(position)
    order: list[int] = []
    stack = [i for i in reversed(range(len(drafts))) if drafts[i].parent < 0]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(reversed(drafts[i].children))
    return order


def choose_speeds(bodies: list[Body]) -> list[Body]:
    """Composite bodies and the kind of speeds (Sayers 1990, sections 8.1.4 to 8.1.6)."""
    carried_masses: dict[
        int, list[tuple[Expr, Vec3]]
    ] = {}  # composite masses fixed in a body, and where
    result = list(bodies)
    for b in reversed(bodies):
        mass, moment = b.mass, scale3(b.mass, b.cm)
        for m, position in reversed(carried_masses.get(b.index, [])):  # in order of entry
            mass, moment = add(mass, m), add3(moment, scale3(m, position))
        cm = (
            NULL
            if mass.fingerprint == 0
            else (div(moment[0], mass), div(moment[1], mass), div(moment[2], mass))
        )
        if b.joint.fixes(mass, cm):
            carried_masses.setdefault(b.parent, []).append(
                (mass, add3(b.joint.at, matvec(b.joint.C, cm)))
            )
        result[b.index] = replace(b, composite_cm=cm, joint=b.joint.with_speeds(cm, b.parent < 0))
    return result


# ---- names of a description: well formed, used once, not reserved


FORM = "a name starts with a letter and holds letters, digits, _ and dots."


def check_names(checker: DescriptionChecker) -> None:
    d = checker.description
    returned = [r for e in d.externals for r in e.returns]
    spaces = {
        "body": [b.name for b in d.bodies],
        "point": [p.name for p in d.points],
        "force": [f.name for f in d.forces],
        "scalar": [
            *(v.name for v in d.variables),
            *(z.name for z in d.states),
            *d.definitions,
            *returned,
        ],
    }
    for space, names in spaces.items():
        _check_space(checker, space, names)
    for e in d.externals:
        location = f"external '{e.name}'"
        if e.when in ("input", "echo") and not e.returns:
            checker.add_problem(
                location, f"when='{e.when}' needs returns=: the names of what it gives."
            )
        for name in e.returns if e.sets_parameters else ():
            if (record := d.parameters.get(name)) is not None and record.value is not None:
                checker.add_problem(
                    location, f"it gives '{name}', which has the value {record.value:g} already."
                )
    default_masses = {f"{b.name}m" for b in d.bodies if b.mass is None}
    for name in d.parameters:
        if is_reserved(name) and name not in {*SHORT, *default_masses}:
            checker.add_problem(f"parameter '{name}'", "the name is reserved.")
        elif not NAME.fullmatch(name):
            checker.add_problem(f"parameter {name!r}", FORM)


def _check_space(checker: DescriptionChecker, space: str, names: list[str]) -> None:
    """Names of one kind."""
    used_names: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            checker.add_problem(f"{space} {name!r}", FORM)
            continue
        if name in used_names:
            checker.add_problem(f"{space} '{name}'", "the name is used twice.")
        used_names.add(name)
        if space == "scalar" and is_reserved(name):
            checker.add_problem(f"{space} '{name}'", "the name is reserved.")
        if space == "body" and name == "n":
            checker.add_problem("body 'n'", "the name is reserved for the inertial body.")


# ---- small orders of symbols, from small(), large() and the flags of bodies


def assign_orders(checker: DescriptionChecker) -> None:
    """Gives orders to symbols; coordinates and speeds are then created again."""
    d, scope = checker.description, checker.scope
    for draft in checker.drafts:
        record, k = draft.record, len(draft.slides)
        q, u = scope.by_body[record.name]
        flags = _flags_per_axis(record.small_translations, k) + _flags_per_axis(
            record.small_angles, max(len(q), len(u)) - k
        )
        for states in (q, u):
            for s, flag in zip(states, flags, strict=False):
                if flag:
                    scope.orders[s.name] = 1
    for quantity, order in [(x, 1) for x in d.small] + [(x, -1) for x in d.large]:
        with checker.collect_problems("small()" if order > 0 else "large()"):
            e = scope.to_scalar(quantity)
            if not isinstance(e, Symbol):
                raise ModelError(f"{e} is not a parameter, variable, coordinate or speed.")
            scope.orders[e.name] = order
    if scope.orders:
        for q, u in (*scope.by_body.values(), (scope.coordinates, scope.speeds)):
            for states in (q, u):
                states[:] = [scope.symbol(s.name, s.kind) for s in states]
        scope.clear_cache()


def _flags_per_axis(flag: Any, count: int) -> list[bool]:
    if hasattr(flag, "__len__"):
        return [bool(x) for x in flag][:count] + [False] * (count - len(flag))
    return [bool(flag)] * count
