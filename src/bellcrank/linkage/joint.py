"""Linkages as joints: what `model.joints.guided` asks for, from the exact linkage or from a table.

The exact joint calls one routine for the state of the linkage and its derivatives; carrier and links are expressions
of these, of which only those that are needed are computed. A table joint calls one look-up per part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.expr import ONE, Expr, Func, expression, substitute
from bellcrank.expr.walk import postorder
from bellcrank.linkage.implicit import SymbolicTrig, python_function, reach
from bellcrank.linkage.link_motion import link_motion
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.moving import add3, cross3, scale3
from bellcrank.linkage.plan import Frames
from bellcrank.linkage.table import Table
from bellcrank.model.joints.functions import JointMotion
from bellcrank.model.records import External
from bellcrank.vector.basis import Mat3, Vec3

Rule = Callable[[int, Sequence[Expr]], Expr]


@dataclass(frozen=True)
class Value:
    """The i-th value of a routine, with the rule of its partial derivatives."""

    external: External
    index: int
    rule: Rule = field(compare=False)

    varies = True

    def partial(self, index: int, args: Sequence[Expr]) -> Expr:
        return self.rule(index, args)

    def __call__(self, *args: float) -> float:
        return _called(self.external, args)[self.index]


@lru_cache(maxsize=16)
def _called(routine: External, args: tuple[float, ...]) -> Sequence[float]:
    """All values of a routine; formulas ask for them one by one."""
    assert routine.python is not None
    return tuple(routine.python(*args))


def _none(index: int, args: Sequence[Expr]) -> Expr:
    raise ModelError("the third derivative of a linkage is not known")


class ExactGuide:
    """A linkage solved at every evaluation. `second`: its second input moves too."""

    def __init__(self, name: str, linkage: Linkage, second: bool, writer: Any = None) -> None:
        self.linkage, self.second = linkage, second
        self.count = 2 if second else 1
        plan = linkage.plan
        total = plan.size + plan.unknowns * (self.count + (3 if second else 1))
        self.routine = External(
            name,
            ("z", "r")[: self.count],
            tuple(f"{name}.{i}" for i in range(total)),
            python=python_function(linkage, second),
            writer=writer,
        )
        self._zero = self.routine.python(*[0.0] * self.count)  # type: ignore[misc]

    # ---- values of the routine as expressions

    def _value(self, index: int, args: Sequence[Expr]) -> Expr:
        return Func(f"{self.routine.name}.{index}", tuple(args), Value(self.routine, index, self._rule(index)))

    def _y(self, j: int, k: int, args: Sequence[Expr]) -> Expr:
        """dy_k/dinput_j"""
        plan = self.linkage.plan
        return self._value(plan.size + j * plan.unknowns + k, args)

    def _yy(self, pair: int, k: int, args: Sequence[Expr]) -> Expr:
        plan = self.linkage.plan
        return self._value(plan.size + (self.count + pair) * plan.unknowns + k, args)

    def _rule(self, index: int) -> Rule:
        plan = self.linkage.plan
        if index < plan.size:
            return lambda j, args: self._state_slope(index, j, args)
        place = (index - plan.size) // plan.unknowns
        k = (index - plan.size) % plan.unknowns
        if place < self.count:
            return lambda j, args: self._rate_slope(place, k, j, args)
        return _none

    def _state_slope(self, index: int, j: int, args: Sequence[Expr]) -> Expr:
        """Slope of a number of the state by input j."""
        for placing in self.linkage.plan.placings:
            for step in placing.steps:
                k, s = step.unknown, step.place
                if step.kind in ("hinge", "slide"):
                    if index == s:
                        return self._y(j, k, args)
                    continue
                if step.kind == "free":
                    if s <= index < s + 3:
                        return self._y(j, k + index - s, args)
                    k, s = k + 3, s + 3
                if s <= index < s + 4:
                    e = [self._value(s + i, args) for i in range(4)]
                    a, b, c = (self._y(j, k + i, args) / 2 for i in range(3))
                    return (
                        -a * e[1] - b * e[2] - c * e[3],
                        a * e[0] + b * e[3] - c * e[2],
                        b * e[0] + c * e[1] - a * e[3],
                        c * e[0] + a * e[2] - b * e[1],
                    )[index - s]
        raise IndexError(index)

    def _rate_slope(self, i: int, k: int, j: int, args: Sequence[Expr]) -> Expr:
        """Slope of dy_k/dinput_i by input j; for rotations without fixed axis the order of i and j matters."""
        pair = i if i == j else 2
        value = self._yy(pair, k, args)
        if i == j:
            return value
        for placing in self.linkage.plan.placings:
            for step in placing.steps:
                if step.kind in ("ball", "free"):
                    first = step.unknown + (3 if step.kind == "free" else 0)
                    if first <= k < first + 3:
                        a, b = ([self._y(x, first + m, args) for m in range(3)] for x in (j, i))
                        return value + cross3((a[0], a[1], a[2]), (b[0], b[1], b[2]))[k - first] / 2
        return value

    # ---- the protocol

    def motion(self, part: str, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr) -> JointMotion:
        args, rates, scales = _metric(self, coordinates, speeds, metre)
        plan = self.linkage.plan
        state = [self._value(i, args) for i in range(plan.size)]
        y = [[self._y(j, k, args) for k in range(plan.unknowns)] for j in range(self.count)]
        moving = [
            sum((a * u for a, u in zip(column, rates, strict=True)), expression(0)) for column in zip(*y, strict=True)
        ]
        frames = Frames(plan, state, [*y, moving], SymbolicTrig())
        second = [self._second(k, rates, args) for k in range(plan.unknowns)]
        none = [0] * plan.unknowns
        m = link_motion(frames, part, self.linkage.origins[part], [*[none] * self.count, second])
        return _guided(m.R, m.position, m.d, m.delta, m.dd[-1], m.ddelta[-1], metre, scales)

    def _second(self, k: int, rates: Sequence[Expr], args: Sequence[Expr]) -> Expr:
        total = self._yy(0, k, args) * rates[0] * rates[0]
        if self.count == 2:
            total = total + self._yy(1, k, args) * rates[1] * rates[1] + 2 * self._yy(2, k, args) * rates[0] * rates[1]
        return total

    def nominal(self, e: Expr) -> Expr:
        return _at_zero(e, {self.routine: self._zero})

    def numbers(self, part: str, values: Sequence[float], metre: float) -> dict[str, Any]:
        low, high = reach(self.linkage)
        if not low <= values[0] / metre <= high:
            raise ModelError(
                f"linkage '{self.linkage.name}': travel {values[0] / metre:.6g} m lies outside {low:.6g} to "
                f"{high:.6g} m"
            )
        return _numbers(self.linkage, part, values, metre, self.kinds())

    def reach(self) -> list[tuple[float, float]]:
        low, high = reach(self.linkage)
        return [(low, high)] + [(-0.02, 0.02)] * (self.count - 1)

    def kinds(self) -> list[str]:
        return _kinds(self.linkage)[: self.count]


class TableGuide:
    """A linkage looked up in a table."""

    def __init__(
        self,
        name: str,
        table: Table,
        second: bool,
        writer: Callable[[str, str], Any] | None = None,
        extend: bool = False,
    ) -> None:
        if second and table.rack is None:
            raise ModelError(f"the table of '{table.name}' has no second input; make it with rack=(low, high)")
        self.table, self.second, self.name = table, second, name
        self.two = table.rack is not None
        self.count = 2 if second else 1
        self.extend = extend
        self._writer = writer
        self._routines: dict[str, External] = {}
        self._zero: dict[External, Sequence[float]] = {}

    def routine(self, part: str) -> External:
        if part not in self._routines:
            name = f"{self.name}_{part}"
            total = 42 if self.two else 24

            def look_up(z: float, r: float = 0.0) -> list[float]:
                try:
                    links = [p for p in (part,) if p != self.table.chain.carrier]
                    pose = self.table.solve(z, r if self.two else None, links=links, extend=self.extend)
                except ModelError:
                    return [float("nan")] * total
                return _flat(pose if part == self.table.chain.carrier else pose.link[part])

            arguments = ("z", "r")[: 2 if self.two else 1]
            returns = tuple(f"{name}.{i}" for i in range(total))
            writer = None if self._writer is None else self._writer(name, part)
            self._routines[part] = made = External(name, arguments, returns, python=look_up, writer=writer)
            self._zero[made] = look_up(*[0.0] * len(arguments))
        return self._routines[part]

    def _value(self, part: str, index: int, args: Sequence[Expr]) -> Expr:
        routine = self.routine(part)
        return Func(f"{routine.name}.{index}", tuple(args), Value(routine, index, self._rule(part, index)))

    def _vec(self, part: str, first: int, args: Sequence[Expr]) -> Vec3:
        x, y, z = (self._value(part, first + i, args) for i in range(3))
        return x, y, z

    def _rule(self, part: str, index: int) -> Rule:
        """p' = d, R' = delta x R, d' = dd, delta' = ddelta (and half a cross product where the order matters)."""
        n = 2 if self.two else 1
        d, delta, dd = 12, 12 + 3 * n, 12 + 6 * n
        pairs = 3 if self.two else 1
        ddelta = dd + 3 * pairs

        def pair(i: int, j: int) -> int:
            return i if i == j else 2

        if index < 3:
            return lambda j, args: self._value(part, d + 3 * j + index, args)
        if index < 12:
            row, column = divmod(index - 3, 3)

            def turned(j: int, args: Sequence[Expr]) -> Expr:
                axis = self._vec(part, delta + 3 * j, args)
                body: Vec3 = tuple(self._value(part, 3 + 3 * r + column, args) for r in range(3))  # type: ignore[assignment]
                return expression(cross3(axis, body)[row])

            return turned
        if index < delta:
            i, c = divmod(index - d, 3)
            return lambda j, args: self._value(part, dd + 3 * pair(i, j) + c, args)
        if index < dd:
            i, c = divmod(index - delta, 3)

            def bent(j: int, args: Sequence[Expr]) -> Expr:
                value = self._value(part, ddelta + 3 * pair(i, j) + c, args)
                if i == j:
                    return value
                a, b = self._vec(part, delta + 3 * j, args), self._vec(part, delta + 3 * i, args)
                return value + cross3(a, b)[c] / 2

            return bent
        return _none

    def motion(self, part: str, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr) -> JointMotion:
        args, rates, scales = _metric(self, coordinates, speeds, metre)
        given = [*args, expression(0)][: 2 if self.two else 1]
        n = 2 if self.two else 1
        R = tuple(self._vec(part, 3 + 3 * r, given) for r in range(3))
        d = [self._vec(part, 12 + 3 * j, given) for j in range(self.count)]
        delta = [self._vec(part, 12 + 3 * n + 3 * j, given) for j in range(self.count)]
        products = [(0, rates[0] * rates[0])]
        if self.count == 2:
            products += [(1, rates[1] * rates[1]), (2, 2 * rates[0] * rates[1])]
        first = 12 + 6 * n
        pairs = 3 if self.two else 1
        a = add3(*(scale3(x, self._vec(part, first + 3 * k, given)) for k, x in products))
        alpha = add3(*(scale3(x, self._vec(part, first + 3 * (pairs + k), given)) for k, x in products))
        return _guided(R, self._vec(part, 0, given), d, delta, a, alpha, metre, scales)

    def nominal(self, e: Expr) -> Expr:
        return _at_zero(e, self._zero)

    def numbers(self, part: str, values: Sequence[float], metre: float) -> dict[str, Any]:
        return _numbers(self.table, part, values, metre, self.kinds(), self.extend)

    def reach(self) -> list[tuple[float, float]]:
        rack = [] if self.table.rack is None else [(float(self.table.rack[0]), float(self.table.rack[-1]))]
        return [(self.table.low, self.table.high), *rack][: self.count]

    def kinds(self) -> list[str]:
        return _kinds(self.table)[: self.count]


def _kinds(linkage: Any) -> list[str]:
    return ["angle" if i.kind == "roll" else "length" for i in linkage.chain.inputs]


def _metric(
    guide: Any, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr
) -> tuple[list[Expr], list[Expr], list[Expr]]:
    """Coordinates and speeds in m and rad, and the factor of each speed."""
    scales = [ONE / metre if kind == "length" else ONE for kind in guide.kinds()]
    args = [q * s for q, s in zip(coordinates, scales, strict=True)]
    return args, [u * s for u, s in zip(speeds, scales, strict=True)], scales


def _guided(R: Any, p: Any, d: Any, delta: Any, a: Any, alpha: Any, metre: Expr, scales: Sequence[Expr]) -> JointMotion:
    """The motion in the units of the equations, from one in m."""
    return JointMotion(
        _matrix(R),
        _vector(p, metre),
        tuple(_vector(d[j], metre * s) for j, s in enumerate(scales)),
        tuple(_vector(delta[j], s) for j, s in enumerate(scales)),
        _vector(a, metre),
        _vector(alpha, ONE),
    )


def _vector(v: Any, factor: Expr) -> Vec3:
    x, y, z = (expression(c) * factor for c in v)
    return x, y, z


def _matrix(m: Any) -> Mat3:
    a, b, c = (_vector(row, ONE) for row in m)
    return a, b, c


def _at_zero(e: Expr, zero: Any) -> Expr:
    """e with the values of routines at zero inputs in place of their calls."""
    found: dict[Expr, Expr] = {}
    for node in postorder((e,)):
        if isinstance(node, Func) and isinstance(node.function, Value) and node.function.external in zero:
            found[node] = expression(float(zero[node.function.external][node.function.index]))
    return substitute(e, found) if found else e


def _flat(pose: Any) -> list[float]:
    """p, R, d, delta, dd, ddelta of one pose in one list (see `TableGuide._rule`)."""
    if pose.d_rack is None:
        parts = [pose.d, pose.delta, pose.dd, pose.ddelta]
    else:
        parts = [pose.d, pose.d_rack, pose.delta, pose.delta_rack, pose.dd, pose.dd_rack, pose.dd_mixed]
        parts += [pose.ddelta, pose.ddelta_rack, pose.ddelta_mixed]
    return [float(x) for part in (pose.position, pose.rotation, *parts) for x in np.ravel(part)]


@lru_cache(maxsize=256)
def _pose_at(linkage: Any, travel: float, second: tuple[tuple[str, Any], ...]) -> Any:
    """The pose of all links; a check asks for those of one state several times."""
    return linkage.solve(travel, **dict(second))


def _numbers(
    linkage: Any, part: str, values: Sequence[float], metre: float, kinds: Sequence[str], extend: bool = False
) -> dict[str, Any]:
    """Motion of a part as arrays, from the linkage or table itself; lengths in the unit of the equations."""
    scales = [1.0 / metre if k == "length" else 1.0 for k in kinds]
    given = [v * s for v, s in zip(values, scales, strict=True)]
    second: dict[str, Any] = {linkage.inputs[1]: given[1]} if len(given) == 2 else {}
    second |= {"extend": True} if extend else {}
    pose = _pose_at(linkage, given[0], tuple(second.items()))
    pose = pose if part == linkage.chain.carrier else pose.link[part]
    result: dict[str, Any] = {"p": pose.position * metre, "R": pose.rotation}
    result["d"], result["delta"] = [pose.d * metre * scales[0]], [pose.delta * scales[0]]
    result["dd"] = {(0, 0): pose.dd * metre * scales[0] ** 2}
    result["ddelta"] = {(0, 0): pose.ddelta * scales[0] ** 2}
    if len(given) == 2:
        both = scales[0] * scales[1]
        result["d"].append(pose.d_rack * metre * scales[1])
        result["delta"].append(pose.delta_rack * scales[1])
        result["dd"] |= {(1, 1): pose.dd_rack * metre * scales[1] ** 2, (0, 1): pose.dd_mixed * metre * both}
        result["ddelta"] |= {(1, 1): pose.ddelta_rack * scales[1] ** 2, (0, 1): pose.ddelta_mixed * both}
    return result
