"""Formulas with mechanics: the whole model language at one instant of a motion.

In:  a `ReferenceMotion` of all bodies. Out: numbers and vectors (arrays in inertial axes), as jets
in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bellcrank.model.records import LoadRecord
from bellcrank.symbolic.expr.formula_parser import SyntaxNode
from bellcrank.symbolic.expr.node import Symbol
from bellcrank.verify import jets
from bellcrank.verify.bodies import Place, ReferenceMotion
from bellcrank.verify.formulas import (
    CannotEvaluate,
    ScalarEvaluator,
    name_behind,
    reference_state_key,
)
from bellcrank.verify.jets import Jet, JetBatch, Value

SHORT = (("0", "origin"), ("j", "joint"), ("cm", "cm"))


class MechanicsEvaluator(ScalarEvaluator):
    """The whole language at one instant of a motion. Vectors are arrays in inertial axes."""

    def __init__(
        self,
        motion: ReferenceMotion,
        values: Callable[[ReferenceMotion], MechanicsEvaluator] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            motion.machine.description,
            motion.machine.parameters,
            fixed=motion.machine.fixed,
            **options,
        )
        self.given = options
        self.values = (
            values  # the same language over the values of a motion alone, where such is known
        )
        self.motion = motion
        self.machine = motion.machine
        self.points = {p.name: p for p in self.description.points}
        self.forces = {f.name: f for f in self.description.forces}
        self.known: dict[Any, Any] = {}  # what is known of formulas, with other states at once
        self._magnitudes: dict[str, Value] = {}
        self._own: dict[str, Value] = {}
        self._leaves_open = False  # are rates of states of the user's own left as they are?

    # ---- names

    def point(self, handle: Any) -> Place:
        """A point by its handle or name; None is the inertial origin."""
        zero = np.zeros(3)
        name = "o" if handle is None else name_behind(handle)
        if name in self.points:
            return self.machine.point_of_record(self.points[name])
        if name in ("o", "n.origin"):
            return -1, zero
        head, _, tail = name.rpartition(".")
        for ending, kind in SHORT:
            if not head and name.endswith(ending) and name[: -len(ending)] in self.machine.index:
                head, tail = name[: -len(ending)], kind
        if head not in self.machine.index or tail not in ("origin", "joint", "cm"):
            raise CannotEvaluate(f"no point has the name '{name}'")
        body = self.machine.bodies[self.machine.index[head]]
        if tail == "joint":
            return body.parent, body.joint.at
        return body.index, body.cm if tail == "cm" else zero

    def unit_vector(self, body: str, axis: int) -> Value:
        return self.motion.R[self.machine.body_index(body)][:, axis - 1]

    def state(self, symbol: Symbol) -> Value:
        letter, index = self._state_place(symbol)
        return getattr(self.motion, letter)[index]

    def _state_place(self, symbol: Symbol) -> tuple[str, int]:
        letter = "q" if symbol.kind == "coordinate" else "u"
        return letter, getattr(self.machine, f"{letter}_names").index(
            reference_state_key(symbol.name)
        )

    def user_state(self, name: str) -> Value:
        """A state of the user's own; rates that are left open follow from its formula, one order
        lower."""
        z = self.motion.q[self.machine.q_names.index(name)]
        if not isinstance(z, Jet) or len(z) == 1 or self._leaves_open or not np.isnan(z.c[1]).any():
            return z
        if name not in self._own:
            rate = jets.coefficients(
                self._user_state_rate(name), len(z) - 1, isinstance(z, JetBatch)
            )
            unknown = np.full(
                (len(z) - 1 - len(rate), *rate.shape[1:]), np.nan
            )  # by a user function in it
            self._own[name] = jets.integrate_jet(
                z.c[0], type(z)(np.concatenate([rate, unknown])), len(z), type(z)
            )
        return self._own[name]

    def _user_state_rate(self, name: str) -> Value:
        """The rate of a state of the user's own, one order lower than the state."""
        if (
            self.values is not None
            and len(self.motion.q) == 2
            and jets.jet_class(self.motion.q) is Jet
        ):
            try:
                return self.values(self.motion).evaluate(self.states[name].rate)
            except jets.NoDerivative:
                pass
        try:
            return self._with_lower_order.evaluate(self.states[name].rate)
        except (
            jets.NoDerivative
        ):  # a rate of coordinates is needed: those of such states stay open, which is seen
            formulas = MechanicsEvaluator(self.motion, self.values, **self.given)
            formulas._leaves_open = True
            return formulas.evaluate(self.states[name].rate)

    @cached_property
    def _with_lower_order(self) -> MechanicsEvaluator:
        """The same language with one order less known."""
        n = len(self.motion.q) - 1
        jet_type = type(self.motion.q)
        shorter = self.machine.motion(jet_type(self.motion.q.c[:n]), jet_type(self.motion.u.c[:n]))
        return MechanicsEvaluator(shorter, self.values, **self.given)

    def joint_state(self, letter: str, operands: list[Any]) -> Value:
        """q(b), q(b, i), q(i), and u likewise."""
        return getattr(self.motion, letter)[self._state_index(letter, operands)]

    def _state_index(self, letter: str, operands: list[Any]) -> int:
        if isinstance(operands[0], int | float):
            return int(operands[0]) - 1
        state_range = getattr(self.machine.bodies[self.machine.body_index(operands[0])], letter)
        return range(state_range.start, state_range.stop)[
            int(operands[1]) - 1 if len(operands) == 2 else 0
        ]

    # ---- mechanics

    def mechanical(self, name: str, node: SyntaxNode, operands: list[Any]) -> Any:
        m = self.motion
        match name:
            case "q" | "u":
                return self.joint_state(name, operands)
            case "qp" | "up":
                return self.rate(self.joint_state(name[0], operands))
            case "pos" | "vel":
                measure = m.position if name == "pos" else m.velocity
                vectors = [measure(*self.point(p)) for p in operands]
                return vectors[0] - vectors[1] if len(vectors) == 2 else vectors[0]
            case "rot":
                return m.w[self.machine.body_index(operands[0])]
            case "dxdt":
                return self.rate(self.resolve_name(operands[0]))
            case "nominal":
                return self.nominal.evaluate(node.children[0])
            case "partial":
                return self.partial(*node.children)
            case "fm":
                return self.magnitude(self.forces[name_behind(operands[0])])
        if name not in VECTORS:
            raise CannotEvaluate(f"the function {name}() is not known")
        return VECTORS[name](*(self.resolve_name(p) for p in operands))

    @cached_property
    def nominal(self) -> MechanicsEvaluator:
        """The same language with all coordinates and independent speeds at zero."""
        return MechanicsEvaluator(self.machine.nominal_motion, **self.given)

    def partial(self, e: SyntaxNode, x: SyntaxNode) -> Value:
        """Derivative of a scalar with respect to one symbol, all others fixed: that symbol alone is
        given a rate."""
        if self.values_only:
            raise jets.NoDerivative("a partial derivative needs series")
        symbol = x.args[0] if x.op == "value" else None
        if isinstance(symbol, Symbol) and symbol.kind in ("coordinate", "speed"):
            letter, index = self._state_place(symbol)
        elif x.op == "call" and x.args[0].lower() in ("q", "u"):
            letter = x.args[0].lower()
            index = self._state_index(letter, [self.evaluate_unresolved(c) for c in x.children])
        else:
            return self._partial_scalar(e, symbol.name if isinstance(symbol, Symbol) else x.args[0])
        q, u = jets.constant_term(self.motion.q), jets.constant_term(self.motion.u)
        q_rate, u_rate = np.zeros_like(q), np.zeros_like(u)
        (q_rate if letter == "q" else u_rate)[index] = 1.0
        jet_type = jets.jet_class(self.motion.q)
        perturbed = self.machine.without_second_rates.motion(
            jet_type([q, q_rate]), jet_type([u, u_rate])
        )
        return self._first_order(MechanicsEvaluator(perturbed, **self.given), e)

    def _partial_scalar(self, e: SyntaxNode, variable: Any) -> Value:
        name = name_behind(variable)
        q, u = jets.constant_term(self.motion.q), jets.constant_term(self.motion.u)
        options = dict(self.given)
        machine = self.machine
        if jets.jet_class(self.motion.q) is JetBatch:
            raise CannotEvaluate("partial() by a scalar of several states at once")
        if machine.led:
            raise CannotEvaluate(f"partial() by {name} of a machine that is led from outside")
        if variable == "t":
            options["time"] = Jet([jets.constant_term(self.time), 1.0])
        elif name in self.inputs:
            options["inputs"] = {
                **self.inputs,
                name: Jet([jets.constant_term(self.inputs[name]), 1.0]),
            }
        else:
            machine = machine.with_parameter_jet(name)
        return self._first_order(MechanicsEvaluator(machine.motion(q, u), **options), e)

    def _first_order(self, perturbed: MechanicsEvaluator, e: SyntaxNode) -> Value:
        result = perturbed.evaluate(e)
        return type(result)([result.c[1]]) if isinstance(result, Jet) and len(result) > 1 else 0.0

    # ---- forces

    def magnitude(self, record: LoadRecord) -> Value:
        """Size of a force or moment."""
        key = record.name
        if key not in self._magnitudes:
            outer, self.dummies = self.dummies, self._dummies(record)
            try:
                self._magnitudes[key] = self.evaluate(record.magnitude)
            finally:
                self.dummies = outer
        return self._magnitudes[key]

    def _dummies(self, record: LoadRecord) -> dict[str, Callable[[], Value]]:
        """x, x0 and v of a force, under the names the record gives them."""
        if record.is_moment:
            return {}
        x, x0, v = (name for name in record.dummies)
        return {
            x: lambda: self.line_length_and_rate(record)[0],
            x0: lambda: self.nominal.line_length_and_rate(record)[0],
            v: lambda: self.line_length_and_rate(record)[1],
        }

    def line_length_and_rate(self, record: LoadRecord) -> tuple[Value, Value]:
        """Distance along a force's direction and its rate, as the force sees them."""
        x: Value = 0.0
        v: Value = 0.0
        for p, r, along in self.force_lines(record):
            x = x + along @ self.motion.relative_position(p, r)
            v = v + along @ (self.motion.velocity(*p) - self.motion.velocity(*r))
        return x, v

    def force_lines(self, record: LoadRecord) -> Iterator[tuple[Place, Place, Value]]:
        """Points that a force acts between, and the unit vector from the second to the first, or
        its direction."""
        for p, r in pairwise(map(self.point, record.point_sequence)):
            yield (
                p,
                r,
                direction(
                    self.motion.relative_position(p, r)
                    if record.along_points
                    else self.evaluate(record.direction)
                ),
            )

    def gravity(self) -> np.ndarray:
        """Acceleration of free fall, in inertial axes."""
        if self.description.gravity is None:
            return np.zeros(3)
        record = self.description.gravity
        return jets.constant_term(
            direction(self.evaluate(record.direction)) * self.evaluate(record.magnitude)
        )


def direction(v: Value) -> Value:
    return v / jets.norm(v)


def project(v: Value, n: Value) -> Value:
    """What of v lies in the plane across n."""
    return v - n * ((v @ n) / (n @ n))


def angle(a: Value, b: Value, about: Value | None = None) -> Value:
    """Angle from a to b, positive for a turn about the third vector."""
    normal = jets.cross(a, b)
    if about is None:
        return jets.atan2(jets.norm(normal), a @ b)
    if jets.jet_class(about, normal) is JetBatch:
        flat = _is_coplanar(
            *(np.moveaxis(jets.coefficients(x, 1, True)[0], 0, -1) for x in (about, normal))
        )
        if np.all(flat):
            return jets.atan2((about @ normal) / jets.norm(about), a @ b)
        if np.any(flat):
            raise CannotEvaluate("an angle that is smooth at zero in some of several states")
        return jets.atan2(jets.norm(normal), a @ b) * jets.constant_jets(
            np.sign(jets.constant_term(about @ normal))
        )
    axis, normal_value = jets.constant_term(about), jets.constant_term(normal)
    if _is_coplanar(axis, normal_value):  # a and b turn in a plane: smooth at zero
        return jets.atan2((about @ normal) / jets.norm(about), a @ b)
    return jets.atan2(jets.norm(normal), a @ b) * np.sign(axis @ normal_value)


def _is_coplanar(axis: np.ndarray, normal: np.ndarray) -> Any:
    size = np.linalg.norm(axis, axis=-1) * np.linalg.norm(normal, axis=-1)
    return np.linalg.norm(np.cross(axis, normal), axis=-1) <= 1e-12 * size


VECTORS: Mapping[str, Callable[..., Value]] = {
    "dot": lambda a, b: a @ b,
    "cross": jets.cross,
    "angle": angle,
    **dict.fromkeys(("direction", "dir"), direction),
    **dict.fromkeys(("magnitude", "mag", "norm"), jets.norm),
    **dict.fromkeys(("project", "dplane"), project),
}
