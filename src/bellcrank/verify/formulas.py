"""Formulas of a description as numbers: the model language, read once more and evaluated at one instant.

In:  the records of a description, values of parameters and inputs, and (for `Formulas`) a motion of all bodies.
Out: numbers and vectors (arrays in inertial axes), as jets in time, so that dxdt() is at hand.
Only the syntax of formulas and the records are shared with the derivation; every meaning is given here anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from bellcrank.expr.node import Expr, Func, Held, Number, Product, Sum, Symbol
from bellcrank.expr.table import Table
from bellcrank.expr.text import Syntax, evaluate_syntax, parse
from bellcrank.model.records import Description, External, ExternalValue, ForceRecord
from bellcrank.verify import jets
from bellcrank.verify.functions import FUNCTIONS
from bellcrank.verify.jets import Jet, NoDerivative, Value

if TYPE_CHECKING:
    from bellcrank.verify.bodies import Motion

COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SHORT = (("0", "origin"), ("j", "joint"), ("cm", "cm"))
ExternalRoutine = Callable[[External, list[float]], list[float]]


class CannotEvaluate(Exception):
    """A formula, or a state, for which the independent evaluation gives no number."""


@dataclass(frozen=True)
class Name:
    """A name whose space (scalar, body, point, force) is decided by where it is used."""

    text: str


class Values(dict[str, float]):
    """Values of parameters by lower-case name. One that is not given has some value between 0.2 and 0.8: it cannot
    matter, or a check must find that it does."""

    def __missing__(self, name: str) -> float:
        return 0.2 + 0.6 * (crc32(name.encode()) % 10007) / 10007


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Syntax:
    return parse(text)


def syntax_of(given: Any) -> Syntax:
    """Syntax of text, of a formula made with Python operators, of a number or of an expression."""
    if isinstance(given, str):
        return _parsed(given)
    if isinstance(given, Syntax):
        return given
    made = getattr(given, "syntax", None)
    return made if isinstance(made, Syntax) else Syntax("value", (given,))


def name_of(given: Any) -> str:
    """The name behind a handle, a name in a formula, or text."""
    name = given.text if isinstance(given, Name) else given if isinstance(given, str) else getattr(given, "name", None)
    if not isinstance(name, str):
        raise CannotEvaluate(f"{given!r} names nothing")
    return name.lower()


class Scalars:
    """Formulas without mechanics: parameters, inputs, time, definitions, tables, external routines."""

    def __init__(
        self,
        description: Description,
        parameters: Values,
        inputs: Mapping[str, Value] | None = None,
        time: Value = 0.0,
        external: ExternalRoutine | None = None,
    ) -> None:
        self.description = description
        self.parameters = parameters
        self.inputs = {k.lower(): v for k, v in (inputs or {}).items()}
        self.time = time
        self.external = external
        self.definitions = {k.lower(): v for k, v in description.definitions.items()}
        self.tables = {k.lower(): v for k, v in description.tables.items()}
        self.routines = {e.name.lower(): e for e in description.externals}
        self.returned = {
            r.lower(): (e, i) for e in description.externals if not e.entered for i, r in enumerate(e.returns)
        }
        self.states = {z.name.lower(): z for z in description.states}
        self.dummies: dict[str, Callable[[], Value]] = {}
        self._defined: dict[str, Value] = {}  # values of definitions in which no dummy occurs
        self._met_dummy = False

    # ---- entry points

    def scalar(self, given: Any) -> Value:
        return self.settle(evaluate_syntax(syntax_of(given), self.meaning))

    def triple(self, given: Any) -> Value:
        """Three scalars as a vector."""
        return jets.stack([self.scalar(x) for x in given])

    # ---- nodes

    def meaning(self, node: Syntax, parts: list[Any]) -> Any:
        match node.op:
            case "number":
                return np.float64(Fraction(node.args[0]))
            case "name":
                return Name(node.args[0])
            case "value":
                given = node.args[0]
                return self.expression(given) if isinstance(given, Expr) else given
            case "unit":
                return self.unit_vector(*node.args)
            case "call":
                return self.call(node.args[0].lower(), node, parts)
        settled = [self.settle(p) for p in parts]
        match node.op:
            case "neg":
                return -settled[0]
            case "+":
                return settled[0] + settled[1]
            case "-":
                return settled[0] - settled[1]
            case "*":
                return settled[0] * settled[1]
            case "/":
                return settled[0] * jets.reciprocal(settled[1])
            case "**":
                return jets.power(*settled)
        return FUNCTIONS[COMPARE[node.op]](*settled)

    def settle(self, value: Any) -> Value:
        return self.named(value.text.lower()) if isinstance(value, Name) else value

    def named(self, name: str) -> Value:
        """A scalar by name, in the order in which names hide each other."""
        if name in self.dummies:
            self._met_dummy = True
            return self.dummies[name]()
        if name == "t":
            return self.time
        if name == "pi":
            return math.pi
        if name in self.definitions:
            return self._definition(name)
        if name in self.returned:
            routine, index = self.returned[name]
            return self.routine(routine, [self.scalar(a) for a in routine.arguments])[index]
        if name in self.inputs:
            return self.inputs[name]
        return self.own_state(name) if name in self.states else self.parameters[name]

    def _definition(self, name: str) -> Value:
        if name in self._defined:
            return self._defined[name]
        outer, self._met_dummy = self._met_dummy, False
        found = self.scalar(self.definitions[name])
        if not self._met_dummy:
            self._defined[name] = found
        self._met_dummy |= outer
        return found

    def call(self, name: str, node: Syntax, parts: list[Any]) -> Any:
        if name in self.tables:
            return look_up(self.tables[name], [self.settle(p) for p in parts])
        if name in self.routines and not self.routines[name].returns:
            return self.routine(self.routines[name], [self.settle(p) for p in parts])[0]
        if name in FUNCTIONS:
            return FUNCTIONS[name](*(self.settle(p) for p in parts))
        return self.mechanical(name, node, parts)

    def routine(self, routine: External, arguments: list[Value]) -> list[Value]:
        """Values of an external routine; their rates are not known."""
        if self.external is None:
            raise CannotEvaluate(f"external '{routine.name}' has no meaning in a constant")
        results = self.external(routine, [float(jets.value(a)) for a in arguments])
        return [Jet([x]) for x in results]

    def mechanical(self, name: str, node: Syntax, parts: list[Any]) -> Any:
        raise CannotEvaluate(f"{name}() has no meaning in a constant")

    def unit_vector(self, body: str, axis: int) -> Value:
        raise CannotEvaluate(f"[{body}{axis}] has no meaning in a constant")

    def state(self, symbol: Symbol) -> Value:
        raise CannotEvaluate(f"{symbol.name} has no meaning in a constant")

    def own_state(self, name: str) -> Value:
        raise CannotEvaluate(f"the state {name} has no meaning in a constant")

    # ---- expressions made in Python

    def expression(self, root: Expr) -> Value:
        """The value of an expression object, its parts first."""
        done: dict[Expr, Value] = {}
        waiting = [root]
        while waiting:
            node = waiting[-1]
            missing = [p for p in node.parts if p not in done]
            if missing:
                waiting.extend(missing)
                continue
            done[waiting.pop()] = self._node(node, done)
        return done[root]

    def _node(self, node: Expr, done: dict[Expr, Value]) -> Value:
        if isinstance(node, Number):
            return np.float64(Fraction(node.value))
        if isinstance(node, Symbol):
            return self._symbol(node)
        if isinstance(node, Held):
            return done[node.definition]
        if isinstance(node, Sum):
            return sum((done[core] * float(c) for core, c in node.terms), np.float64(0.0))
        if isinstance(node, Product):
            result: Value = np.float64(Fraction(node.coefficient))
            for base, exponent in node.factors:
                result = result * jets.power(done[base], float(exponent))
            return result
        assert isinstance(node, Func)
        args = [done[a] for a in node.args]
        match node.function:
            case None:
                return FUNCTIONS[node.name](*args)
            case Table():
                return look_up(node.function, args)
            case ExternalValue():
                return self.routine(node.function.external, args)[node.function.index]
            case External():
                return self.routine(node.function, args)[0]
        raise CannotEvaluate(f"the function {node.name}() is not known")

    def _symbol(self, symbol: Symbol) -> Value:
        if symbol.kind in ("coordinate", "speed"):
            return self.state(symbol)
        if symbol.kind == "parameter":
            return self.parameters[symbol.name.lower()]
        return self.named(symbol.name.lower())


class Formulas(Scalars):
    """The whole language at one instant of a motion. Vectors are arrays in inertial axes."""

    def __init__(self, motion: Motion, **given: Any) -> None:
        super().__init__(motion.machine.description, motion.machine.parameters, **given)
        self.given = given
        self.motion = motion
        self.machine = motion.machine
        self.points = {p.name.lower(): p for p in self.description.points}
        self.forces = {f.name.lower(): f for f in self.description.forces}
        self._magnitudes: dict[str, Value] = {}
        self._nominal: Formulas | None = None
        self._shorter: Formulas | None = None
        self._own: dict[str, Value] = {}

    # ---- names

    def body(self, given: Any) -> int:
        name = name_of(given)
        if name == "n":
            return -1
        if name not in self.machine.index:
            raise CannotEvaluate(f"no body has the name '{name}'")
        return self.machine.index[name]

    def point(self, given: Any) -> tuple[int, Value]:
        """Body and coordinates in it of a point."""
        zero = np.zeros(3)
        name = "o" if given is None else name_of(given)
        if name in self.points:
            return self.machine.point(self.points[name])
        if name in ("o", "n.origin"):
            return -1, zero
        head, _, tail = name.rpartition(".")
        for ending, what in SHORT:
            if not head and name.endswith(ending) and name[: -len(ending)] in self.machine.index:
                head, tail = name[: -len(ending)], what
        if head not in self.machine.index or tail not in ("origin", "joint", "cm"):
            raise CannotEvaluate(f"no point has the name '{name}'")
        body = self.machine.bodies[self.machine.index[head]]
        if tail == "joint":
            return body.parent, body.joint_at
        return body.index, body.cm if tail == "cm" else zero

    def unit_vector(self, body: str, axis: int) -> Value:
        return self.motion.R[self.body(body)][:, axis - 1]

    def state(self, symbol: Symbol) -> Value:
        listed, values = (
            (self.machine.q_names, self.motion.q)
            if symbol.kind == "coordinate"
            else (self.machine.u_names, self.motion.u)
        )
        return values[listed.index(symbol.name.lower().replace(" ", ""))]

    def own_state(self, name: str) -> Value:
        """A state of the user's own; its rates, where they are left open, by its formula in the motion known to one order less."""
        z = self.motion.q[self.machine.q_names.index(name)]
        if not isinstance(z, Jet) or len(z) == 1 or not np.isnan(z.c[1]):
            return z
        if name not in self._own:
            if self._shorter is None:
                n = len(z) - 1
                shorter = self.machine.motion(Jet(self.motion.q.c[:n]), Jet(self.motion.u.c[:n]))
                self._shorter = Formulas(shorter, **self.given)
            rate = jets.coefficients(self._shorter.scalar(self.states[name].rate), len(z) - 1)
            unknown = np.full(len(z) - 1 - len(rate), np.nan)  # by an external routine in it
            self._own[name] = jets.integral(z.c[0], Jet(np.concatenate([rate, unknown])), len(z))
        return self._own[name]

    def joint_state(self, letter: str, parts: list[Any]) -> Value:
        """q(b), q(b, i), q(i), and u likewise."""
        values = self.motion.q if letter == "q" else self.motion.u
        if isinstance(parts[0], int | float):
            return values[int(parts[0]) - 1]
        body = self.machine.bodies[self.body(parts[0])]
        place = body.q if letter == "q" else body.u
        index = int(parts[1]) - 1 if len(parts) == 2 else 0
        return values[range(place.start, place.stop)[index]]

    # ---- mechanics

    def mechanical(self, name: str, node: Syntax, parts: list[Any]) -> Any:
        m = self.motion
        match name:
            case "q" | "u":
                return self.joint_state(name, parts)
            case "qp" | "up":
                return jets.rate(self.joint_state(name[0], parts))
            case "pos" | "vel":
                of = m.position if name == "pos" else m.velocity
                found = [of(*self.point(p)) for p in parts]
                return found[0] - found[1] if len(found) == 2 else found[0]
            case "rot":
                return m.w[self.body(parts[0])]
            case "dxdt":
                return jets.rate(self.settle(parts[0]))
            case "nominal":
                return self.nominal.settle(evaluate_syntax(node.children[0], self.nominal.meaning))
            case "partial":
                return self.partial(*node.children)
            case "fm":
                return self.magnitude(self.forces[name_of(parts[0])])
        vectors = [self.settle(p) for p in parts]
        match name:
            case "dot":
                return jets.dot(*vectors)
            case "cross":
                return jets.cross(*vectors)
            case "angle":
                return angle(*vectors)
            case "direction" | "dir":
                return direction(vectors[0])
            case "magnitude" | "mag" | "norm":
                return jets.norm(vectors[0])
            case "project" | "dplane":
                v, n = vectors
                return v - n * (jets.dot(v, n) / jets.dot(n, n))
        raise CannotEvaluate(f"the function {name}() is not known")

    @property
    def nominal(self) -> Formulas:
        """The same language with all coordinates and independent speeds at zero."""
        if self._nominal is None:
            self._nominal = Formulas(self.machine.nominal_motion(), **self.given)
        return self._nominal

    def partial(self, e: Syntax, x: Syntax) -> Value:
        """Derivative of a scalar with respect to one symbol, all others fixed: that symbol alone is given a rate."""
        symbol = x.args[0] if x.op == "value" else None
        if isinstance(symbol, Symbol) and symbol.kind in ("coordinate", "speed"):
            letter, place = "q" if symbol.kind == "coordinate" else "u", symbol.name.lower().replace(" ", "")
        elif x.op == "call" and x.args[0].lower() in ("q", "u"):
            letter = x.args[0].lower()
            place = self._state_name(letter, [evaluate_syntax(c, self.meaning) for c in x.children])
        else:
            return self._partial_scalar(e, symbol.name.lower() if isinstance(symbol, Symbol) else name_of(x.args[0]))
        q, u = jets.value(self.motion.q), jets.value(self.motion.u)
        q_rate, u_rate = np.zeros_like(q), np.zeros_like(u)
        if letter == "q":
            q_rate[self.machine.q_names.index(place)] = 1.0
        else:
            u_rate[self.machine.u_names.index(place)] = 1.0
        moved = self.machine.instant.motion(Jet([q, q_rate]), Jet([u, u_rate]))
        return self._first_order(Formulas(moved, **self.given), e)

    def _state_name(self, letter: str, parts: list[Any]) -> str:
        names = self.machine.q_names if letter == "q" else self.machine.u_names
        if isinstance(parts[0], int | float):
            return names[int(parts[0]) - 1]
        body = self.machine.bodies[self.body(parts[0])]
        place = body.q if letter == "q" else body.u
        return names[range(place.start, place.stop)[int(parts[1]) - 1 if len(parts) == 2 else 0]]

    def _partial_scalar(self, e: Syntax, name: str) -> Value:
        q, u = jets.value(self.motion.q), jets.value(self.motion.u)
        given = dict(self.given)
        machine = self.machine
        if machine.led:
            raise CannotEvaluate(f"partial() by {name} of a machine that is led from outside")
        if name == "t":
            given["time"] = Jet([jets.value(self.time), 1.0])
        elif name in self.inputs:
            given["inputs"] = {**self.inputs, name: Jet([jets.value(self.inputs[name]), 1.0])}
        else:
            machine = machine.varied(name)
        return self._first_order(Formulas(machine.motion(q, u), **given), e)

    def _first_order(self, moved: Formulas, e: Syntax) -> Value:
        result = moved.settle(evaluate_syntax(e, moved.meaning))
        return Jet([result.c[1]]) if isinstance(result, Jet) and len(result) > 1 else 0.0

    # ---- forces

    def magnitude(self, record: ForceRecord) -> Value:
        """Size of a force or moment."""
        key = record.name.lower()
        if key not in self._magnitudes:
            outer, self.dummies = self.dummies, self._dummies(record)
            try:
                self._magnitudes[key] = self.scalar(record.magnitude)
            finally:
                self.dummies = outer
        return self._magnitudes[key]

    def _dummies(self, record: ForceRecord) -> dict[str, Callable[[], Value]]:
        """x, x0 and v of a force, under the names the record gives them."""
        if record.kind == "moment":
            return {}
        motion = {
            "x": lambda: self.stretch(record)[0],
            "x0": lambda: self.nominal.stretch(record)[0],
            "v": lambda: self.stretch(record)[1],
        }
        return {new.lower(): motion[old] for new, old in zip(record.dummies, ("x", "x0", "v"), strict=True)}

    def stretch(self, record: ForceRecord) -> tuple[Value, Value]:
        """Distance along a force's direction and its rate, as the force sees them."""
        p, r = self.point(record.first), self.point(record.second)
        between = self.motion.position(*p) - self.motion.position(*r)
        apart = self.motion.velocity(*p) - self.motion.velocity(*r)
        along = self.line_of_action(record)
        return jets.dot(along, between), jets.dot(along, apart)

    def line_of_action(self, record: ForceRecord) -> Value:
        """Unit vector of a force or moment."""
        if record.kind == "strut":
            p, r = self.point(record.first), self.point(record.second)
            return direction(self.motion.position(*p) - self.motion.position(*r))
        return direction(self.settle(evaluate_syntax(syntax_of(record.direction), self.meaning)))

    def gravity(self) -> np.ndarray:
        """Acceleration of free fall, in inertial axes."""
        if self.description.gravity is None:
            return np.zeros(3)
        given, g = self.description.gravity
        if given is None:
            up = "iso" in (self.description.axes or "").lower()
            along = np.array([0.0, 0.0, -1.0 if up else 1.0])
        else:
            along = jets.value(direction(self.settle(evaluate_syntax(syntax_of(given), self.meaning))))
        return along * float(jets.value(self.scalar(g)))


def direction(v: Value) -> Value:
    return v / jets.norm(v)


def angle(a: Value, b: Value, about: Value | None = None) -> Value:
    """Angle from a to b, positive for a turn about the third vector."""
    normal = jets.cross(a, b)
    if about is None:
        return jets.atan2(jets.norm(normal), jets.dot(a, b))
    axis, turn = jets.value(about), jets.value(normal)
    size = np.linalg.norm(axis) * np.linalg.norm(turn)
    if np.linalg.norm(np.cross(axis, turn)) <= 1e-12 * size:  # a and b turn in a plane: smooth at zero
        return jets.atan2(jets.dot(about, normal) / jets.norm(about), jets.dot(a, b))
    return jets.atan2(jets.norm(normal), jets.dot(a, b)) * np.sign(axis @ turn)


def look_up(table: Table, args: list[Value]) -> Value:
    """Value of a table: straight lines or cubics; beyond its ends the end slope (one argument) or end value (two)."""
    if len(table.axes) == 1:
        return _curve(table, args[0], table.derivative[0])
    return _surface(table, args, table.derivative)


def _curve(table: Table, x: Value, n: int) -> Value:
    from scipy.interpolate import CubicSpline

    axis, values = np.array(table.axes[0]), np.array(table.values)
    spline = CubicSpline(axis, values) if table.order == 3 else None

    def at(z: Any, n: int) -> float:
        inside = min(max(float(z), axis[0]), axis[-1])
        i = min(max(int(np.searchsorted(axis, inside, side="right")) - 1, 0), len(axis) - 2)
        chord = (values[i + 1] - values[i]) / (axis[i + 1] - axis[i])
        slope = float(spline(inside, 1)) if spline is not None else chord
        if n == 0:
            start = float(spline(inside)) if spline is not None else values[i] + chord * (inside - axis[i])
            return float(start + slope * (float(z) - inside))
        if n == 1:
            return float(slope)
        return float(spline(inside, n)) if spline is not None and inside == float(z) else 0.0

    return jets.from_rate(x, lambda z: at(z, n), lambda z: _curve(table, z, n + 1))


def _surface(table: Table, args: list[Value], n: tuple[int, ...]) -> Value:
    from scipy.interpolate import RectBivariateSpline

    axes = [np.array(a) for a in table.axes]
    spline = RectBivariateSpline(*axes, np.array(table.values), kx=table.order, ky=table.order)
    known = [float(jets.value(x)) for x in args]
    inside = [min(max(x, a[0]), a[-1]) for x, a in zip(known, axes, strict=True)]
    if table.order == 1 and any(n):
        start = _bilinear_slope(axes, np.array(table.values), inside, n)
    else:
        start = float(spline.ev(*inside, dx=n[0], dy=n[1]))
    lengths = [len(x) for x in args if isinstance(x, Jet)]
    if not lengths or min(lengths) == 1:
        return Jet([start]) if lengths else start
    shorter = [Jet(x.c[:-1]) if isinstance(x, Jet) else x for x in args]
    slopes: Value = 0.0
    for i, x in enumerate(args):
        if known[i] == inside[i]:
            step = tuple(k + (j == i) for j, k in enumerate(n))
            slopes = slopes + _surface(table, shorter, step) * jets.rate(x)
    return jets.integral(np.float64(start), slopes, min(lengths))


def _bilinear_slope(axes: list[np.ndarray], values: np.ndarray, at: list[float], n: tuple[int, ...]) -> float:
    """First derivative of straight-line interpolation in the cell that holds the point; higher ones along one axis are zero."""
    if max(n) > 1:
        return 0.0
    weights = []
    cell = []
    for axis, x, k in zip(axes, at, n, strict=True):
        i = min(max(int(np.searchsorted(axis, x, side="right")) - 1, 0), len(axis) - 2)
        h = axis[i + 1] - axis[i]
        s = (x - axis[i]) / h
        weights.append(np.array([1 - s, s]) if k == 0 else np.array([-1.0, 1.0]) / h)
        cell.append(i)
    block = values[cell[0] : cell[0] + 2, cell[1] : cell[1] + 2]
    return float(weights[0] @ block @ weights[1])


__all__ = ["CannotEvaluate", "Formulas", "NoDerivative", "Scalars", "Values", "look_up", "syntax_of"]
