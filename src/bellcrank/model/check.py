"""Description to Mechanism: joints resolved, names checked, every problem found reported at once.

In:  a `Description`. Out: a `Mechanism` whose bodies stand in depth-first order (children in order of entry).
The choice of speeds and the composite bodies follow Sayers (1990), sections 8.1.3 to 8.1.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bellcrank.expr import Expr, add, div
from bellcrank.model.bodies import joint_of, resolve_bodies
from bellcrank.model.mechanism import Body, Mechanism
from bellcrank.model.names import check_names
from bellcrank.model.orders import assign_orders
from bellcrank.model.reading import Checker, Draft
from bellcrank.model.records import Description
from bellcrank.vector.basis import NULL, Vec3, add3, matvec, scale3


def freeze(description: Description, small: bool = True, more: int = 0) -> tuple[Mechanism, Checker]:
    """The mechanism of a description; problems found so far stay in the checker until the analysis raises them. Small
    terms of so many orders `more` are kept than the description asks for."""
    checker = Checker(description)
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
    position = {i: place for place, i in enumerate(order)}
    bodies = []
    for i in order:
        draft = checker.drafts[i]
        name, label = draft.record.name, draft.record.label or draft.record.name
        parent, joint = position.get(draft.parent, -1), joint_of(checker, draft)
        own = draft.mass, draft.inertia, draft.cm
        bodies.append(Body(position[i], name, label, parent, *own, joint, armature=draft.armature))
    if not checker.problems:
        bodies = choose_speeds(bodies)
    states = tuple(scope.symbol(z.name, "coordinate") for z in description.states)
    scope.coordinates.extend(states)
    orders, threshold = dict(scope.orders), description.small_threshold + more
    return Mechanism(description.name, tuple(bodies), description, orders, threshold, states), checker


def depth_first(drafts: Sequence[Draft]) -> list[int]:
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
    carried: dict[int, list[tuple[Expr, Vec3]]] = {}  # composite masses fixed in a body, and where
    result = list(bodies)
    for b in reversed(bodies):
        mass, moment = b.mass, scale3(b.mass, b.cm)
        for m, at in reversed(carried.get(b.index, [])):  # in order of entry
            mass, moment = add(mass, m), add3(moment, scale3(m, at))
        cm = NULL if mass.fingerprint == 0 else (div(moment[0], mass), div(moment[1], mass), div(moment[2], mass))
        if b.joint.fixes(mass, cm):
            carried.setdefault(b.parent, []).append((mass, add3(b.joint.at, matvec(b.joint.C, cm))))
        result[b.index] = replace(b, composite_cm=cm, joint=b.joint.with_speeds(cm, b.parent < 0))
    return result
