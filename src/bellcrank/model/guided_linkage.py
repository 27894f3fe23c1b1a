"""Linkages as joints: what `model.joints.guided` asks for, from the exact linkage or from a table.

The exact joint calls one routine for the state of the linkage and its derivatives; carrier and
links are expressions of these, of which only those that are needed are computed. A table joint
calls one look-up per part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.linkage.implicit_linkage import LinkageFunction, solvable_travel, value_count
from bellcrank.linkage.link_motion import link_motion
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.pose import ONE_INPUT, TWO_INPUTS
from bellcrank.linkage.pose_table import Table
from bellcrank.linkage.solution_plan import BodyFrames
from bellcrank.linkage.vector_jets import add_jets3, cross_jets3, euler_parameter_rates, scale_jet3
from bellcrank.model.joints.functions import JointMotion
from bellcrank.model.records import UserFunction
from bellcrank.symbolic.expr import ONE, Expr, Func, expression, substitute
from bellcrank.symbolic.expr.traversal import postorder
from bellcrank.symbolic.expr.user_function_value import Rule
from bellcrank.symbolic.vector.basis import Vec3

MOST_SOLVED = 1024
_poses_ahead: dict[
    tuple[Any, ...], Any
] = {}  # poses of linkages by their inputs, found ahead, until they are asked for


@dataclass(frozen=True)
class RoutineValue:
    """The i-th value of a routine, with the rule of its partial derivatives."""

    external: UserFunction
    index: int
    rule: Rule = field(compare=False)

    varies = True

    def partial(self, index: int, args: Sequence[Expr]) -> Expr:
        return self.rule(index, args)

    def __call__(self, *args: float) -> float:
        return _routine_values(self.external, args)[self.index]


@lru_cache(maxsize=16)
def _routine_values(routine: UserFunction, args: tuple[float, ...]) -> Sequence[float]:
    """All values of a routine; formulas ask for them one by one."""
    assert routine.python is not None
    return tuple(routine.python(*args))


def _reject_third_derivative(index: int, args: Sequence[Expr]) -> Expr:
    raise ModelError("the third derivative of a linkage is not known")


class LinkageGuide:
    """What both kinds share: a linkage or table, of which `count` inputs move; `_zero`: values of
    routines as drawn."""

    extend = False

    def __init__(self, name: str, linkage: Any, second: bool) -> None:
        self.name, self.linkage, self.second = name, linkage, second
        self.count = 2 if second else 1
        self._zero: dict[UserFunction, Sequence[float]] = {}

    def coordinate_kinds(self) -> list[str]:
        return ["angle" if i.kind == "roll" else "length" for i in self.linkage.chain.inputs][
            : self.count
        ]

    def with_drawn_values(self, e: Expr) -> Expr:
        """e with the values of routines at zero inputs in place of their calls."""
        replacements: dict[Expr, Expr] = {}
        zero = self._values_as_drawn()
        for node in postorder((e,)):
            if (
                isinstance(node, Func)
                and isinstance(node.function, RoutineValue)
                and node.function.external in zero
            ):
                replacements[node] = expression(
                    float(zero[node.function.external][node.function.index])
                )
        return substitute(e, replacements) if replacements else e

    def _values_as_drawn(self) -> dict[UserFunction, Sequence[float]]:
        """Values of the routines at zero inputs."""
        return self._zero

    def numeric_motion(self, part: str, values: Sequence[float], metre: float) -> dict[str, Any]:
        """Motion of a part as arrays, from the linkage or table itself; lengths in the unit of the
        equations."""
        scales, inputs = self._scaled_inputs(values, metre)
        second: dict[str, Any] = {self.linkage.inputs[1]: inputs[1]} if len(inputs) == 2 else {}
        second |= {"extend": True} if self.extend else {}
        pose = _cached_pose(self.linkage, inputs[0], tuple(second.items()))
        pose = pose if part == self.linkage.chain.carrier else pose.link[part]
        result: dict[str, Any] = {"p": pose.position * metre, "R": pose.rotation}
        result["d"], result["delta"] = [pose.d * metre * scales[0]], [pose.delta * scales[0]]
        result["dd"] = {(0, 0): pose.dd * metre * scales[0] ** 2}
        result["ddelta"] = {(0, 0): pose.ddelta * scales[0] ** 2}
        if len(inputs) == 2:
            mixed_scale = scales[0] * scales[1]
            result["d"].append(pose.d_rack * metre * scales[1])
            result["delta"].append(pose.delta_rack * scales[1])
            result["dd"] |= {
                (1, 1): pose.dd_rack * metre * scales[1] ** 2,
                (0, 1): pose.dd_mixed * metre * mixed_scale,
            }
            result["ddelta"] |= {
                (1, 1): pose.ddelta_rack * scales[1] ** 2,
                (0, 1): pose.ddelta_mixed * mixed_scale,
            }
        return result

    def _scaled_inputs(
        self, values: Sequence[float], metre: float
    ) -> tuple[list[float], list[float]]:
        """Factors from the unit of the equations to m and rad, and the values in these."""
        scales = [1.0 / metre if k == "length" else 1.0 for k in self.coordinate_kinds()]
        return scales, [v * s for v, s in zip(values, scales, strict=True)]

    def presolve(self, several: Sequence[Sequence[float]], metre: float) -> None:
        """A table is soon looked up."""

    def _inputs_in_si(
        self, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr
    ) -> Any:
        """Coordinates and speeds in m and rad, and the factor of each speed."""
        scales = [ONE / metre if kind == "length" else ONE for kind in self.coordinate_kinds()]
        args = [q * s for q, s in zip(coordinates, scales, strict=True)]
        return args, [u * s for u, s in zip(speeds, scales, strict=True)], scales


class ExactGuide(LinkageGuide):
    """A linkage solved at every evaluation. `second`: its second input moves too."""

    def __init__(self, name: str, linkage: Linkage, second: bool, formulas: Any = None) -> None:
        super().__init__(name, linkage, second)
        python = LinkageFunction(linkage, second)
        returns = tuple(f"{name}.{i}" for i in range(value_count(linkage, second)))
        arguments = ("z", "r")[: self.count]
        self.routine = UserFunction(
            name, arguments, returns, python=python, formulas=formulas, rule=self._derivative_rule
        )

    def _values_as_drawn(self) -> dict[UserFunction, Sequence[float]]:
        if not self._zero:
            assert self.routine.python is not None
            self._zero[self.routine] = self.routine.python(*[0.0] * self.count)
        return self._zero

    # ---- values of the routine as expressions

    def _value(self, index: int, args: Sequence[Expr]) -> Expr:
        return Func(
            f"{self.routine.name}.{index}",
            tuple(args),
            RoutineValue(self.routine, index, self._derivative_rule(index)),
        )

    def _first_derivative(self, j: int, k: int, args: Sequence[Expr]) -> Expr:
        """dy_k/dinput_j"""
        plan = self.linkage.plan
        return self._value(plan.size + j * plan.unknowns + k, args)

    def _second_derivative(self, pair: int, k: int, args: Sequence[Expr]) -> Expr:
        plan = self.linkage.plan
        return self._value(plan.size + (self.count + pair) * plan.unknowns + k, args)

    def _derivative_rule(self, index: int) -> Rule:
        plan = self.linkage.plan
        if index < plan.size:
            return lambda j, args: self._state_partial(index, j, args)
        input_index, k = divmod(index - plan.size, plan.unknowns)
        return (
            _reject_third_derivative
            if input_index >= self.count
            else lambda j, args: self._first_derivative_partial(input_index, k, j, args)
        )

    def _state_partial(self, index: int, j: int, args: Sequence[Expr]) -> Expr:
        """Slope of a number of the state by input j."""
        u = next(
            u
            for u in self.linkage.plan.state_updates
            if u.place <= index < u.place + (1 if u.kind == "add" else 4)
        )
        if u.kind == "add":
            return self._first_derivative(j, u.unknown, args)
        e = [self._value(u.place + i, args) for i in range(4)]
        half_rates = [self._first_derivative(j, u.unknown + i, args) / 2 for i in range(3)]
        return expression(euler_parameter_rates(e, half_rates)[index - u.place])

    def _first_derivative_partial(self, i: int, k: int, j: int, args: Sequence[Expr]) -> Expr:
        """Slope of dy_k/dinput_i by input j; for rotations without fixed axis the order of i and j
        matters."""
        value = self._second_derivative(i if i == j else 2, k, args)
        rotation_unknowns = [
            u.unknown
            for u in self.linkage.plan.state_updates
            if u.kind == "turn" and 0 <= k - u.unknown < 3
        ]
        if i == j or not rotation_unknowns:
            return value
        a, b = (
            tuple(self._first_derivative(x, rotation_unknowns[0] + m, args) for m in range(3))
            for x in (j, i)
        )
        return value + cross_jets3(a, b)[k - rotation_unknowns[0]] / 2  # type: ignore[arg-type]

    # ---- the protocol

    def motion(
        self, part: str, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr
    ) -> JointMotion:
        args, rates, scales = self._inputs_in_si(coordinates, speeds, metre)
        plan = self.linkage.plan
        state = [self._value(i, args) for i in range(plan.size)]
        y = [
            [self._first_derivative(j, k, args) for k in range(plan.unknowns)]
            for j in range(self.count)
        ]
        moving = [
            sum((a * u for a, u in zip(column, rates, strict=True)), expression(0))
            for column in zip(*y, strict=True)
        ]
        frames = BodyFrames(plan, state, [*y, moving])
        second = [self._acceleration(k, rates, args) for k in range(plan.unknowns)]
        zeros = [0] * plan.unknowns
        m = link_motion(frames, part, self.linkage.origins[part], [*[zeros] * self.count, second])
        return _joint_motion(m.R, m.position, m.d, m.delta, m.dd[-1], m.ddelta[-1], metre, scales)

    def _acceleration(self, k: int, rates: Sequence[Expr], args: Sequence[Expr]) -> Expr:
        total = self._second_derivative(0, k, args) * rates[0] * rates[0]
        if self.count == 2:
            total = (
                total
                + self._second_derivative(1, k, args) * rates[1] * rates[1]
                + 2 * self._second_derivative(2, k, args) * rates[0] * rates[1]
            )
        return total

    def numeric_motion(self, part: str, values: Sequence[float], metre: float) -> dict[str, Any]:
        low, high = solvable_travel(self.linkage) if values[0] else (0.0, 0.0)
        if not low <= values[0] / metre <= high:
            raise ModelError(
                f"linkage '{self.linkage.name}': travel {values[0] / metre:.6g} m lies "
                f"outside {low:.6g} to "
                f"{high:.6g} m"
            )
        return super().numeric_motion(part, values, metre)

    def presolve(self, several: Sequence[Sequence[float]], metre: float) -> None:
        low, high = solvable_travel(self.linkage)
        requested = {tuple(self._scaled_inputs(values, metre)[1]) for values in several}
        unsolved = sorted(
            x for x in requested if low <= x[0] <= high and (self.linkage, *x) not in _poses_ahead
        )
        if not unsolved:
            return
        travel, *second = np.array(unsolved).T
        poses = self.linkage.solve(
            travel, **dict(zip(self.linkage.inputs[1:], second, strict=False))
        )
        if len(_poses_ahead) > MOST_SOLVED:
            _poses_ahead.clear()
        _poses_ahead.update({(self.linkage, *x): poses[i] for i, x in enumerate(unsolved)})

    def coordinate_ranges(self) -> list[tuple[float, float]]:
        return [solvable_travel(self.linkage)] + [(-0.02, 0.02)] * (self.count - 1)


class TableGuide(LinkageGuide):
    """A linkage looked up in a table; `formulas` makes those of a part of it."""

    def __init__(
        self,
        name: str,
        table: Table,
        second: bool,
        formulas: Callable[[str], Any],
        extend: bool = False,
    ) -> None:
        if second and table.rack is None:
            raise ModelError(
                f"the table of '{table.name}' has no second input; make it with rack=(low, high)"
            )
        super().__init__(name, table, second)
        self.inputs = 2 if table.rack is not None else 1  # of the table
        self.pairs = 3 if table.rack is not None else 1
        self.extend, self._formulas = extend, formulas
        self._routines: dict[str, UserFunction] = {}

    def routine(self, part: str) -> UserFunction:
        if part not in self._routines:
            name = f"{self.name}_{part}"
            total = 12 + 6 * (self.inputs + self.pairs)
            carrier = self.linkage.chain.carrier

            def look_up_pose(z: float, *r: float) -> list[float]:
                try:
                    pose = self.linkage.solve(
                        z, *r, links=[] if part == carrier else [part], extend=self.extend
                    )
                except ModelError:
                    return [math.nan] * total
                return _flatten_pose(pose if part == carrier else pose.link[part])

            returns = tuple(f"{name}.{i}" for i in range(total))
            arguments = ("z", "r")[: self.inputs]
            rule = partial(self._derivative_rule, part)
            external = UserFunction(
                name,
                arguments,
                returns,
                python=look_up_pose,
                formulas=self._formulas(part),
                rule=rule,
            )
            self._routines[part], self._zero[external] = (
                external,
                look_up_pose(*[0.0] * self.inputs),
            )
        return self._routines[part]

    def _value(self, part: str, index: int, args: Sequence[Expr]) -> Expr:
        routine = self.routine(part)
        number: Expr | None = routine.formulas.number(index) if routine.formulas else None
        if number is not None:
            return number
        return Func(
            f"{routine.name}.{index}",
            tuple(args),
            RoutineValue(routine, index, self._derivative_rule(part, index)),
        )

    def _vector_value(self, part: str, first: int, args: Sequence[Expr]) -> Vec3:
        x, y, z = (self._value(part, first + i, args) for i in range(3))
        return x, y, z

    def _derivative_rule(self, part: str, index: int) -> Rule:
        """p' = d, R' = delta x R, d' = dd, delta' = ddelta (and half a cross product where the
        order matters)."""
        d, delta, dd = 12, 12 + 3 * self.inputs, 12 + 6 * self.inputs
        ddelta = dd + 3 * self.pairs

        def pair(i: int, j: int) -> int:
            return i if i == j else 2

        if index < 3:
            return lambda j, args: self._value(part, d + 3 * j + index, args)
        if index < 12:
            row, column = divmod(index - 3, 3)

            def rotation_partial(j: int, args: Sequence[Expr]) -> Expr:
                axis = self._vector_value(part, delta + 3 * j, args)
                body = tuple(self._value(part, 3 + 3 * r + column, args) for r in range(3))
                return expression(cross_jets3(axis, body)[row])  # type: ignore[arg-type]

            return rotation_partial
        if index < delta:
            i, c = divmod(index - d, 3)
            return lambda j, args: self._value(part, dd + 3 * pair(i, j) + c, args)
        if index < dd:
            i, c = divmod(index - delta, 3)

            def delta_partial(j: int, args: Sequence[Expr]) -> Expr:
                value = self._value(part, ddelta + 3 * pair(i, j) + c, args)
                if i == j:
                    return value
                a, b = (
                    self._vector_value(part, delta + 3 * j, args),
                    self._vector_value(part, delta + 3 * i, args),
                )
                return value + cross_jets3(a, b)[c] / 2

            return delta_partial
        return _reject_third_derivative

    def motion(
        self, part: str, coordinates: Sequence[Expr], speeds: Sequence[Expr], metre: Expr
    ) -> JointMotion:
        args, rates, scales = self._inputs_in_si(coordinates, speeds, metre)
        arguments, n = [*args, expression(0)][: self.inputs], self.inputs
        R = tuple(self._vector_value(part, 3 + 3 * r, arguments) for r in range(3))
        d = [self._vector_value(part, 12 + 3 * j, arguments) for j in range(self.count)]
        delta = [self._vector_value(part, 12 + 3 * n + 3 * j, arguments) for j in range(self.count)]
        products = [(0, rates[0] * rates[0])]
        if self.count == 2:
            products += [(1, rates[1] * rates[1]), (2, 2 * rates[0] * rates[1])]
        first = 12 + 6 * n
        a = add_jets3(
            *(
                scale_jet3(x, self._vector_value(part, first + 3 * k, arguments))
                for k, x in products
            )
        )
        alpha = add_jets3(
            *(
                scale_jet3(x, self._vector_value(part, first + 3 * (self.pairs + k), arguments))
                for k, x in products
            )
        )
        return _joint_motion(
            R, self._vector_value(part, 0, arguments), d, delta, a, alpha, metre, scales
        )

    def coordinate_ranges(self) -> list[tuple[float, float]]:
        grids = [self.linkage.travel, self.linkage.rack][: self.count]
        return [(float(x[0]), float(x[-1])) for x in grids]


def _joint_motion(
    R: Any, p: Any, d: Any, delta: Any, a: Any, alpha: Any, metre: Expr, scales: Sequence[Expr]
) -> JointMotion:
    """The motion in the units of the equations, from one in m."""
    a_row, b_row, c_row = (_vector(row, ONE) for row in R)
    return JointMotion(
        (a_row, b_row, c_row),
        _vector(p, metre),
        tuple(_vector(d[j], metre * s) for j, s in enumerate(scales)),
        tuple(_vector(delta[j], s) for j, s in enumerate(scales)),
        _vector(a, metre),
        _vector(alpha, ONE),
    )


def _vector(v: Any, factor: Expr) -> Vec3:
    x, y, z = (expression(c) * factor for c in v)
    return x, y, z


def _flatten_pose(pose: Any) -> list[float]:
    """p, R, d, delta, dd, ddelta of one pose in one list (see `TableGuide._rule`)."""
    names = ONE_INPUT if pose.d_rack is None else TWO_INPUTS
    return [float(x) for name in names for x in np.ravel(getattr(pose, name))]


@lru_cache(maxsize=256)
def _cached_pose(linkage: Any, travel: float, second: tuple[tuple[str, Any], ...]) -> Any:
    """The pose of all links; a check asks for those of one state several times."""
    cached = _poses_ahead.pop(
        (linkage, travel, *(x for name, x in second if name != "extend")), None
    )
    return linkage.solve(travel, **dict(second)) if cached is None else cached
