"""Units and names of all that a person reads: parameters, inputs, states, outputs.

In:  an `Analysis`. Out: `Quantities`: for every name a dimension (where it can be told), a user unit and a label.

What is not declared is deduced from where it stands (Sayers 1990, section 9.1, Table 9.1.1): a mass is a mass, and `k`
in the force `k*(x - x0)` is F/L. The deduction reads the formulas as the modeller wrote them, not the expressions they
became: there a velocity is L/T even if an arm of length 1 has vanished from it or a small sine has become an angle.
Each formula is a graph of two relations, parts that are alike (terms of a sum) and factors of a product; what is known
travels through it both ways until nothing changes.

Angles count as numbers wherever dimensions are compared and matter for the unit alone: see `settled`. A number that
multiplies may stand for a quantity (`2*k`: a stiffness times a length), so what is found through such a product is
believed last and never called a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import MINUS_ONE, ONE, ZERO, Expr, Func, Held, Number, Product, Sum, Symbol, postorder
from bellcrank.expr.text import Syntax, evaluate_syntax
from bellcrank.kinematics.analysis import Analysis, Output
from bellcrank.model.formula import show, to_syntax
from bellcrank.model.mechanism import Body, Mechanism
from bellcrank.model.records import BodyRecord, ParameterRecord, VariableRecord
from bellcrank.units import ACCELERATION, ANGLE, FORCE, LENGTH, MASS, TIME, Dimension, Unit, UnitSystem, unit_system
from bellcrank.units import ONE as PURE
from bellcrank.vector.basis import Vec3

UNKNOWN = Unit(PURE, 1.0, "?")
"""The unit of a quantity whose dimension cannot be told: its values are taken as they are."""

SPEED, SPIN, MOMENT, INERTIA = LENGTH / TIME, ANGLE / TIME, FORCE * LENGTH, MASS * LENGTH**2

GENERIC = {
    LENGTH: "Translation",
    SPEED: "Translational Speed",
    ACCELERATION: "Translational Acceleration",
    ANGLE: "Rotation Angle",
    SPIN: "Angular Speed",
    ANGLE / TIME**2: "Angular Acceleration",
    FORCE: "Force",
    MOMENT: "Moment",
    MOMENT / TIME: "Power",
    MASS * SPEED: "Momentum",
    MOMENT * TIME: "Angular Momentum",
    MASS: "Mass",
    TIME: "Time",
}
"""Generic names of channels, by dimension (Sayers 1990, Appendix C)."""


@dataclass
class Quantities:
    """Dimensions, user units and words. Scalars are keyed by lower-case name, states by symbol, outputs by name."""

    dimension: dict[str, Dimension] = field(default_factory=dict)
    """Of parameters and variables; one that cannot be told is missing."""
    unit: dict[str, Unit] = field(default_factory=dict)
    label: dict[str, str] = field(default_factory=dict)
    states: dict[str, Unit] = field(default_factory=dict)
    state_label: dict[str, str] = field(default_factory=dict)
    output_unit: dict[str, Unit] = field(default_factory=dict)
    generic: dict[str, str] = field(default_factory=dict)
    """Generic names of states and outputs."""


def infer(analysis: Analysis) -> tuple[Quantities, list[str]]:
    """The quantities of a model, and the problems found: definite conflicts, and units that cannot be read."""
    d = analysis.mechanism.description
    display = _Display(unit_system(d.units))
    problems: list[str] = []
    scalars: list[tuple[str, ParameterRecord | VariableRecord]] = [("parameter", r) for r in d.parameters.values()]
    scalars += [("variable", v) for v in d.variables]
    given = {r.name.lower(): display.read(r.units, f"{kind} '{r.name}'", problems) for kind, r in scalars}
    given_out = {o.name: display.read(o.units, f"output '{o.name}'", problems) for o in analysis.outputs}

    states = _states(analysis)
    result = Quantities(
        states={s: display[kind] for s, (kind, _, _) in states.items()},
        state_label={s: words for s, (_, _, words) in states.items()},
        generic={s: generic for s, (_, generic, _) in states.items()},
    )
    graph = Graph(
        analysis.mechanism,
        {s.lower(): kind for s, (kind, _, _) in states.items()},
        {key: unit.dimension for key, unit in given.items() if unit is not None},
    )
    values = _read_model(graph, analysis, given_out)
    graph.solve()
    problems.extend(graph.conflicts())

    names = {r.name.lower(): r.name for _, r in scalars} | analysis.parameters
    words = graph.labels() | {r.name.lower(): r.label for _, r in scalars if r.label}
    for key, name in names.items():
        dimension = graph.scalar(name).dimension
        if dimension is not None:
            result.dimension[key] = dimension
        result.unit[key] = given.get(key) or display.of(dimension)
        result.label[key] = words.get(key, name)
    for output in analysis.outputs:
        value = values.get(output.name)
        unit = given_out[output.name] or display.of(value.dimension if value is not None else None)
        result.output_unit[output.name] = unit
        result.generic[output.name] = _generic(output, unit)
    return result, list(dict.fromkeys(problems))


def settled(d: Dimension) -> Dimension:
    """A deduced dimension as a quantity has it.

    The angle stays in angles and their rates, and where force is per angle or angle per force (F*L/A, F/A, F*L*T/A,
    A/F). Elsewhere it goes: a radius found from r*u = v is a length, a mass found from m*r*u**2 a mass.
    """
    if not d.angle:
        return d
    if d.mass:
        keep = d.time != 0 and (d.mass > 0) != (d.angle > 0)
    else:
        keep = d.angle == 1 and not d.length and d.time in (0, -1, -2)
    return d if keep else _without_angle(d)


def _without_angle(d: Dimension) -> Dimension:
    return Dimension(d.length, d.mass, d.time)


@lru_cache(maxsize=4096)
def _times(a: Dimension, b: Dimension, power: Fraction) -> Dimension:
    """a * b**power"""
    return a * b**power


class _Display(dict[Dimension, Unit]):
    """User units by dimension, made when first asked for."""

    def __init__(self, system: UnitSystem) -> None:
        super().__init__()
        self.system = system

    def __missing__(self, dimension: Dimension) -> Unit:
        self[dimension] = self.system.display(dimension)
        return self[dimension]

    def of(self, deduced: Dimension | None) -> Unit:
        return UNKNOWN if deduced is None else self[settled(deduced)]

    def read(self, text: str | None, where: str, problems: list[str]) -> Unit | None:
        """The unit a text stands for; a text that cannot be read is a problem."""
        if text is None:
            return None
        try:
            return self.system.parse(text)
        except ModelError as error:
            problems.append(f"{where}: {error}")
            return None


def _generic(output: Output, unit: Unit) -> str:
    if output.generic is not None:
        return output.generic
    if unit.dimension == MOMENT and "energy" in output.label.lower():
        return "Energy"
    return output.label if unit is UNKNOWN else GENERIC.get(unit.dimension, output.label)


# ------------------------------------------------------------------------------------------ formulas as a graph


@dataclass(eq=False, slots=True)
class Node:
    """One place of a formula.

    `op`: number, known, scalar (parameter or variable), name (a definition), sum, product, neg, call, any (a value of
    unknown kind). All `alike` nodes have one dimension, the node's own if `joined`. `factors` are its parts with
    their powers, numbers apart: it is `loose` if there are any, and `turns` if pi is among them, which may be an angle.
    A dimension is `firm` if no number that multiplies stands between it and what is declared.
    """

    op: str
    where: str
    name: str
    parts: tuple[Node, ...]
    alike: tuple[Node, ...] = ()
    joined: bool = False
    factors: tuple[tuple[Node, Fraction], ...] = ()
    powers: tuple[Fraction, ...] = ()  # of all parts of a product; signs of the terms of a sum
    loose: bool = False
    turns: bool = False
    value: Fraction | None = None  # of a number
    dimension: Dimension | None = None
    firm: bool = False
    source: str = ""  # where the dimension of a scalar was found


@dataclass(frozen=True)
class Root:
    """A formula: `what` of `where` it gives, the dimension needed there, and words for the parameters in it."""

    node: Node
    where: str
    what: str
    needed: Dimension | None
    words: str
    strict: bool  # the need was declared for this formula, so that even a bare state must meet it


UNIT, HALF = Fraction(1), Fraction(1, 2)
RESULT = dict.fromkeys(("atan2", "angle", "asin", "acos", "atan"), ANGLE)
RESULT |= dict.fromkeys(("sin", "cos", "tan", "exp", "log", "sign", "direction", "dir", "lt", "le", "gt", "ge"), PURE)
ARGUMENT = dict.fromkeys(("sin", "cos", "tan"), ANGLE) | dict.fromkeys(("asin", "acos", "atan", "exp", "log"), PURE)
POWERS = {"dot": (UNIT, UNIT), "cross": (UNIT, UNIT), "sqrt": (HALF,), "dxdt": (UNIT,), "partial": (UNIT, -UNIT)}
PASS = {"abs", "magnitude", "mag", "norm", "nominal", "project", "dplane"}  # dimension of the first argument
COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
VECTORS = {"pos": LENGTH, "vel": SPEED, "rot": SPIN}


class Graph:
    """All formulas of a model. Names are looked up as in `model.scope`; `states` and `given` are known dimensions."""

    def __init__(self, mechanism: Mechanism, states: dict[str, Dimension], given: dict[str, Dimension]) -> None:
        d = mechanism.description
        self.mechanism, self.states, self.given = mechanism, states, given
        self.bodies = {b.name.lower(): b for b in mechanism.bodies}
        self.loads = {f.name.lower(): MOMENT if f.kind == "moment" else FORCE for f in d.forces}
        self.returned = {name.lower() for e in d.externals for name in e.returns}
        self.dummies: dict[str, Dimension] = {}
        self.where = ""
        self.nodes: list[Node] = []
        self.roots: list[Root] = []
        self.scalars: dict[str, Node] = {}
        self.definitions = {name.lower(): self._node("name", name) for name in d.definitions}
        self._expressions: dict[Expr, Node] = {}

    # ---- building

    def read(
        self, value: Any, where: str, what: str, needed: Dimension | None, words: str, strict: bool = False
    ) -> Node | None:
        """Takes in a formula; None for a plain number, which may be anything."""
        if isinstance(value, int | float):
            return None
        self.where = where
        node = self._settle(evaluate_syntax(to_syntax(value), self._meaning))
        self.roots.append(Root(node, where, what, needed, words, strict))
        if needed is not None:
            self._learn(node, needed, True, where)
        return node

    def define(self, name: str, value: Any) -> None:
        """Takes in the formula behind a name."""
        node = self.read(value, f"definition '{name}'", "", None, name)
        known = self.definitions[name.lower()]
        if node is None or node.op == "number":
            known.op = "number"
        else:
            known.parts = known.alike = (node,)
            known.joined = True

    def read_alike(self, values: Iterable[Any], where: str, words: str) -> None:
        """Takes in components of a direction, whose length does not matter."""
        nodes = [self.read(v, where, "", None, words) for v in values]
        group = self._node("call")
        group.alike = tuple(n for n in nodes if n is not None)

    def _node(self, op: str, name: str = "", parts: Iterable[Node] = ()) -> Node:
        node = Node(op, self.where, name, tuple(parts))
        self.nodes.append(node)
        return node

    def _known(self, name: str, dimension: Dimension) -> Node:
        node = self._node("known", name)
        node.dimension, node.firm = dimension, True
        return node

    def _number(self, value: Fraction | int | None) -> Node:
        node = self._node("number", _shown(value))
        node.value = None if value is None else Fraction(value)
        return node

    def scalar(self, name: str) -> Node:
        """The parameter or variable of that name."""
        key = name.lower()
        if key not in self.scalars:
            node = self.scalars[key] = self._node("scalar", name)
            node.dimension, node.firm = self.given.get(key), key in self.given
        return self.scalars[key]

    def _settle(self, value: Node | Syntax) -> Node:
        """The node of a name: looked up only where a scalar is meant, not in vel(p) or q(b)."""
        if isinstance(value, Node):
            return value
        if value.op != "name":
            return self._node("any", show(value))
        name: str = value.args[0]
        key = name.lower()
        if key in self.dummies:
            return self._known(name, self.dummies[key])
        if key in ("t", "pi"):
            return self._known(key, TIME if key == "t" else PURE)
        if key in self.definitions:
            return self.definitions[key]
        return self._node("any", name) if key in self.returned else self.scalar(name)

    def _meaning(self, node: Syntax, parts: list[Any]) -> Any:
        match node.op:
            case "number":
                return self._number(node.args[0])
            case "unit":
                return self._known(show(node), PURE)
            case "value":
                return self._expression(node.args[0]) if isinstance(node.args[0], Expr) else node
            case "name":
                return node
            case "call":
                return self._call(node, node.args[0].lower(), parts)
        a, *rest = (self._settle(p) for p in parts)
        match node.op:
            case "neg":
                return self._negative(a)
            case "+" | "-":
                return self._sum([(a, UNIT), (rest[0], UNIT if node.op == "+" else -UNIT)])
            case "*" | "/":
                return self._product([(a, UNIT), (rest[0], UNIT if node.op == "*" else -UNIT)])
            case "**":
                return self._power(a, rest[0])
        return self._function(COMPARE[node.op], [a, *rest])

    def _call(self, node: Syntax, name: str, parts: list[Any]) -> Node:
        if name in VECTORS:
            return self._known(show(node), VECTORS[name])
        if name == "fm":
            return self._known(show(node), self.loads[_name(parts[0])])
        if name in ("q", "u", "qp", "up"):
            kind = self.states[self._state(name[0], parts)]
            return self._known(show(node), kind if name in ("q", "u") else kind / TIME)
        return self._function(name, [self._settle(p) for p in parts])

    def _state(self, letter: str, parts: list[Any]) -> str:
        """The coordinate or speed that q(b), q(b, i), q(i), or u likewise, stand for."""
        owner = self.mechanism if isinstance(parts[0], Node) else self.bodies[_name(parts[0])]
        index = parts[-1].value if isinstance(parts[-1], Node) and parts[-1].value is not None else 1
        return (owner.coordinates if letter == "q" else owner.speeds)[int(index) - 1].name.lower()

    def _negative(self, part: Node) -> Node:
        if part.op == "number":
            return self._number(None if part.value is None else -part.value)
        node = self._node("neg", "", (part,))
        node.alike, node.joined = node.parts, True
        return node

    def _sum(self, terms: Sequence[tuple[Node, Fraction]]) -> Node:
        if all(p.op == "number" for p, _ in terms):
            values = [p.value * sign for p, sign in terms if p.value is not None]
            return self._number(sum(values, Fraction(0)) if len(values) == len(terms) else None)
        node = self._node("sum", "", (p for p, _ in terms))
        node.alike, node.joined, node.powers = node.parts, True, tuple(sign for _, sign in terms)
        return node

    def _product(self, factors: Sequence[tuple[Node, Fraction]]) -> Node:
        if all(p.op == "number" for p, _ in factors):
            return self._number(_constant(factors))
        node = self._node("product", "", (p for p, _ in factors))
        node.powers = tuple(x for _, x in factors)
        node.factors = tuple((p, x) for p, x in factors if p.op != "number" and x)
        reciprocal = factors[0][0].value == 1 and factors[-1][1] < 0  # 1/x: the 1 is only there to write it
        node.loose = any(p.op == "number" for p, _ in factors[1 if reciprocal else 0 :])
        node.turns = any(p.turns or (p.op == "known" and p.name == "pi") for p in node.parts)
        return node

    def _power(self, base: Node, exponent: Node) -> Node:
        if exponent.op == "number" and exponent.value is not None:
            return self._product([(base, exponent.value)])
        self._learn(exponent, PURE, True, self.where)
        return self._node("any", "pow", (base, exponent))

    def _function(self, name: str, parts: list[Node]) -> Node:
        if name == "pow":
            return self._power(*parts)
        node = self._node("call", name, parts)
        if name in POWERS:
            node.factors = tuple((p, x) for p, x in zip(parts, POWERS[name]) if p.op != "number")
            if name == "dxdt":
                node.factors += ((self._known("t", TIME), -UNIT),)
        elif name in PASS:
            node.alike, node.joined = (parts[0],), True
        elif name in ("min", "max", "where"):
            node.alike, node.joined = node.parts[1 if name == "where" else 0 :], True
        elif name in RESULT:
            node.dimension, node.firm = RESULT[name], True
            if name in ARGUMENT:
                self._learn(parts[0], ARGUMENT[name], True, self.where)
            elif name == "atan2" or name in COMPARE.values():
                node.alike = node.parts
        else:
            node.op = "any"  # an external routine or a table
        return node

    def _expression(self, root: Expr) -> Node:
        """The node of an expression made in Python."""
        done = self._expressions
        for e in postorder((root,)):
            if e not in done:
                done[e] = self._of_expression(e, done)
        return done[root]

    def _of_expression(self, e: Expr, done: dict[Expr, Node]) -> Node:
        if isinstance(e, Number):
            return self._number(Fraction(e.value))
        if isinstance(e, Symbol):
            return self._symbol(e, e.name.lower())
        if isinstance(e, Held):
            return done[e.definition]
        if isinstance(e, Func):
            parts = [done[a] for a in e.args]
            return self._function(e.name, parts) if e.function is None else self._node("any", e.name, parts)
        if isinstance(e, Sum):
            terms = ((self._scaled(c, [(done[core], UNIT)]), UNIT if c > 0 else -UNIT) for core, c in e.terms)
            return self._sum(list(terms))
        assert isinstance(e, Product)
        size = self._scaled(e.coefficient, [(done[base], Fraction(x)) for base, x in e.factors])
        return size if e.coefficient > 0 else self._negative(size)

    def _scaled(self, coefficient: int | Fraction, factors: list[tuple[Node, Fraction]]) -> Node:
        """The product of the factors and the size of the coefficient."""
        if abs(coefficient) != 1:
            factors = [(self._number(abs(Fraction(coefficient))), UNIT), *factors]
        return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else self._product(factors)

    def _symbol(self, s: Symbol, key: str) -> Node:
        match s.kind:
            case "parameter" | "variable":
                return self.scalar(s.name)
            case "coordinate" | "speed":
                return self._known(s.name, self.states[key])
            case "acceleration":
                return self._known(s.name, self.states[key.replace("up(", "u(", 1)] / TIME)
            case "rate" if key.startswith("dxdt("):
                return self._function("dxdt", [self.scalar(s.name[5:-1])])
            case "time" | "constant":
                return self._known(s.name, TIME if s.kind == "time" else PURE)
        return self._node("any", s.name)

    # ---- solving

    def solve(self) -> None:
        """Lets what is known travel until nothing changes: first what is firm, then through numbers.

        A sum waits for all its terms as long as anything else moves, so that its use speaks before its parts: in
        (kroll - m*g*h)*roll, kroll is a moment per angle.
        """
        nodes = [n for n in self.nodes if n.alike or n.factors]
        for firm in (True, False):
            changed = True
            while changed:
                nodes = [n for n in nodes if not _finished(n)]
                changed = self._sweep(nodes, firm, False) or self._sweep(nodes, firm, True)

    def _sweep(self, nodes: list[Node], firm: bool, partial: bool) -> bool:
        changed = False
        for node in (*nodes, *reversed(nodes)):
            if node.factors:
                changed |= self._relate_factors(node, firm)
            else:
                changed |= self._relate_alike(node, firm, partial)
        return changed

    def _relate_factors(self, node: Node, firm: bool) -> bool:
        """A product of known factors is known; one unknown factor follows from the rest."""
        unknown = [factor for factor in node.factors if not _has(factor[0], firm)]
        if (firm and node.loose) or len(unknown) > 1 or bool(unknown) != _has(node, firm):
            return False
        if not unknown:
            return self._learn(node, _multiplied((p.dimension, x) for p, x in node.factors), firm, node.where)
        part, power = unknown[0]
        assert node.dimension is not None
        others = _multiplied((p.dimension, x) for p, x in node.factors if p is not part)
        rest = _times(node.dimension, others, -UNIT)
        if node.turns:
            rest = _without_angle(rest)
        return self._learn(part, rest if power == 1 else rest ** (1 / power), firm, node.where)

    def _relate_alike(self, node: Node, firm: bool, partial: bool) -> bool:
        """Parts of one kind tell the whole, the whole tells the parts, and if `partial` the parts tell each other."""
        parts = [p for p in node.alike if p.op not in ("number", "any")]
        known = [p.dimension for p in parts if p.dimension is not None and _has(p, firm)]
        dimension = node.dimension if node.joined and _has(node, firm) else None
        if dimension is None:
            if not known or (len(known) < len(parts) and not partial):
                return False
            dimension = _common(known)
        changed = node.joined and self._learn(node, dimension, firm, node.where)
        if len(known) < len(parts):
            for part in parts:
                changed |= self._learn(part, dimension, firm, node.where)
        return changed

    def _learn(self, node: Node, dimension: Dimension, firm: bool, where: str) -> bool:
        if node.op in ("number", "any") or _has(node, firm):
            return False
        if node.op == "scalar":
            dimension, node.source = settled(dimension), where
        node.dimension, node.firm = dimension, firm
        return True

    # ---- what came of it

    def conflicts(self) -> list[str]:
        """Sums of different quantities, and formulas that give another quantity than is needed.

        States and time by themselves may be arguments and magnitudes: in sin(t) and -q(b) a factor 1 is meant that
        nobody writes.
        """
        problems: list[str] = []
        own: dict[Node, Dimension | None] = {}
        named: dict[Node, bool] = {}
        for node in _postorder(r.node for r in self.roots):
            named[node] = node.op == "scalar" or any(named[p] for p in node.parts)
            own[node] = _own(node, own)
            clash = _clash(node, own)
            if clash is not None:
                verb = "adds" if node.op == "sum" else "compares"
                terms = ", ".join(f"{_text(p)} is {own[p]}{_origin(p, node.where)}" for p in clash)
                problems.append(f"{node.where}: {_text(node)} {verb} quantities of different units: {terms}")
                own[node] = None
            if node.op == "call" and node.name in ARGUMENT and named[node.parts[0]]:
                found = own[node.parts[0]]
                if found is not None and not found.same_kind(PURE):
                    needed = "an angle" if ARGUMENT[node.name] is ANGLE else "a pure number"
                    inside = f"the units of {_text(node.parts[0])} are {found}"
                    problems.append(f"{node.where}: {_text(node)} needs {needed}, but {inside}")
        for root in self.roots:
            found, needed_here = own[root.node], root.needed
            if found is None or needed_here is None or found.same_kind(needed_here):
                continue
            if root.strict or named[root.node]:
                units = f"the units of its {root.what} {_text(root.node)} are {found}{_origin(root.node, root.where)}"
                problems.append(f"{root.where}: {units}, but {needed_here} is needed")
        return problems

    def labels(self) -> dict[str, str]:
        """Words for parameters and variables, by the place where they are met first."""
        found: dict[str, str] = {}
        for root in self.roots:
            stack = [(root.node, "", False)]
            seen: set[Node] = set()
            while stack:
                node, word, negative = stack.pop()
                if node.op == "scalar":
                    direct = f"negative {root.words}" if negative else root.words
                    found.setdefault(node.name.lower(), f"{_word(node, word)} in {root.words}" if word else direct)
                elif node.op != "name" and node not in seen:  # a definition speaks for itself
                    seen.add(node)
                    inner = word if node.op == "neg" else _inner_word(node)
                    stack.extend((p, inner, node.op == "neg" and not negative) for p in reversed(node.parts))
        return found


def _has(node: Node, firm: bool) -> bool:
    return node.dimension is not None and (node.firm or not firm)


def _finished(node: Node) -> bool:
    parts = node.alike or [p for p, _ in node.factors]
    return (node.firm or not (node.joined or node.factors)) and all(p.firm or p.op in ("number", "any") for p in parts)


def _multiplied(factors: Iterable[tuple[Dimension | None, Fraction]]) -> Dimension:
    result = PURE
    for dimension, power in factors:
        assert dimension is not None
        result = dimension if result is PURE and power == 1 else _times(result, dimension, power)
    return result


def _common(dimensions: list[Dimension]) -> Dimension:
    """The dimension of a sum of different angles: that of a term which has one."""
    if len(dimensions) == 1:
        return dimensions[0]
    candidates = [settled(d) for d in dimensions]
    return next((d for d in candidates if d.angle), candidates[0])


def _constant(factors: Iterable[tuple[Node, Fraction]]) -> Fraction | None:
    """The value of a product of numbers, as far as an exponent may need it."""
    result = UNIT
    for part, power in factors:
        if part.value is None or power.denominator != 1 or abs(power) > 9 or (part.value == 0 and power < 0):
            return None
        result *= part.value**power.numerator
    return result


def _shown(value: Fraction | int | None) -> str:
    try:
        return "a number" if value is None else f"{float(value):g}"
    except OverflowError:
        return "a large number"


def _own(node: Node, own: dict[Node, Dimension | None]) -> Dimension | None:
    """What a node certainly is by its parts."""
    if node.factors:
        factors = [(own.get(p, p.dimension), x) for p, x in node.factors]
        return None if node.loose or any(d is None for d, _ in factors) else _multiplied(factors)
    if node.joined:
        return next((d for d in map(own.__getitem__, node.alike) if d is not None), None)
    return node.dimension if node.firm else None


def _clash(node: Node, own: dict[Node, Dimension | None]) -> tuple[Node, Node] | None:
    """The first two parts that should be of one kind and are not."""
    known = [(p, d) for p, d in ((p, own[p]) for p in node.alike) if d is not None]
    return next(((known[0][0], p) for p, d in known if not d.same_kind(known[0][1])), None)


def _postorder(roots: Iterable[Node]) -> Iterator[Node]:
    seen: set[Node] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                yield node
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((p, False) for p in reversed(node.parts))


def _name(given: Any) -> str:
    """Lower-case name of a body or force: a name in a formula or a handle."""
    inside = given.args[0] if isinstance(given, Syntax) else given
    return (inside if isinstance(inside, str) else str(inside.name)).lower()


def _origin(node: Node, where: str) -> str:
    return f" (by {node.source})" if node.op == "scalar" and node.source not in ("", where) else ""


COEFFICIENTS = {
    FORCE / LENGTH: "stiffness coefficient",
    MOMENT / ANGLE: "stiffness coefficient",
    FORCE / SPEED: "damping coefficient",
    MOMENT / SPIN: "damping coefficient",
    ANGLE: "angle",
}


def _word(node: Node, word: str) -> str:
    return word if node.dimension is None else COEFFICIENTS.get(node.dimension, word)


def _inner_word(node: Node) -> str:
    return {"sum": "term", "product": "coefficient"}.get(node.op) or f"argument to {node.name.upper()}"


# ------------------------------------------------------------------------------------------------------------ text

LONGEST = 120
RANK = {"sum": 1, "neg": 1, "product": 2}


def _text(root: Node) -> str:
    """A node as a person would write it, cut where it gets long."""
    done: dict[Node, str] = {}
    for node in _postorder((root,)):
        text = _piece(node, done)
        done[node] = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return done[root]


def _piece(node: Node, done: dict[Node, str]) -> str:
    def inside(part: Node, rank: int) -> str:
        return f"({done[part]})" if RANK.get(part.op, 3) < rank else done[part]

    match node.op:
        case "sum":
            text = inside(node.parts[0], 1) if node.powers[0] > 0 else f"-{inside(node.parts[0], 2)}"
            rest = zip(node.parts[1:], node.powers[1:])
            return text + "".join(f" {'+' if sign > 0 else '-'} {inside(p, 2)}" for p, sign in rest)
        case "neg":
            return f"-{inside(node.parts[0], 2)}"
        case "product":
            text = ""
            for part, power in zip(node.parts, node.powers):
                n = abs(power) if text else power
                piece = inside(part, 2 if n == 1 and not text else 3)
                piece += "" if n == 1 else f"**{n}" if n.denominator == 1 and n > 0 else f"**({n})"
                text += f"{'' if not text else '/' if power < 0 else '*'}{piece}"
            return text
        case "call" | "any" if node.parts:
            return f"{node.name}({', '.join(done[p] for p in node.parts)})"
    return node.name


# ------------------------------------------------------------------------------------------- the formulas of a model


def _read_model(graph: Graph, analysis: Analysis, output_units: dict[str, Unit | None]) -> dict[str, Node | None]:
    """Takes in everything that holds a formula, facts first; gives the nodes of the outputs."""
    d = analysis.mechanism.description
    for record in d.bodies:
        _read_body(graph, record)
    for point in d.points:
        for i, x in enumerate(point.at, 1):
            words = f"coordinate of {point.label or point.name} in dir {i}"
            graph.read(x, f"point '{point.name}'", "coordinate", LENGTH, words)
    if d.gravity is not None:
        graph.read(d.gravity[1], "gravity", "g", ACCELERATION, "acceleration of gravity")
        if d.gravity[0] is not None:
            graph.read(d.gravity[0], "gravity", "direction", None, "direction of gravity")
    for name, value in d.definitions.items():
        graph.define(name, value)
    for force in d.forces:
        where, words = f"{force.kind} '{force.name}'", force.label or force.name
        if force.kind != "moment":
            graph.dummies = dict(zip(map(str.lower, force.dummies), (LENGTH, LENGTH, SPEED)))
        graph.read(force.magnitude, where, "magnitude", graph.loads[force.name.lower()], words)
        graph.dummies = {}
        if force.direction is not None:
            graph.read(force.direction, where, "direction", None, f"direction of {words}")
    for i, constraint in enumerate(d.constraints, 1):
        e = constraint.expression
        where = f"constraint '{e if isinstance(e, str) else show(to_syntax(e))}'"
        graph.read(e, where, "", None, constraint.label or f"constraint #{i}")
    for external in d.externals:
        for i, x in enumerate(external.arguments if external.returns else (), 1):
            graph.read(x, f"external '{external.name}'", "", None, f"argument {i} of {external.name}")
    values: dict[str, Node | None] = {}
    for output in d.outputs:
        unit = output_units.get(output.name)
        needed, words = unit.dimension if unit else None, output.label or output.name
        values[output.name] = graph.read(output.expression, f"output '{output.name}'", "value", needed, words, True)
    return values


def _read_body(graph: Graph, record: BodyRecord) -> None:
    where, called = f"body '{record.name}'", _called(record.name, record.label)
    mass = f"{record.name}m" if record.mass is None else record.mass
    graph.read(mass, where, "mass", MASS, f"mass of {called}")
    for r, c, x in _inertia(record):
        kind = "moment" if r == c else "product"
        graph.read(x, where, f"{kind} of inertia", INERTIA, f"{kind} of inertia of {called} ({r}{c})")
    for what, given, place in (
        ("joint_at", record.joint_at, f"attachment point for {called}"),
        ("cm", record.cm, f"center of mass of {called}"),
    ):
        for i, x in enumerate(given, 1):
            graph.read(x, where, what, LENGTH, f"coordinate of {place} in dir {i}")
    for what, given in (
        ("translation", record.translate),
        ("rotation", record.rotate),
        ("rotation", record.rotation_axis),
        ("reference", record.reference_axis),
    ):
        for axis in _axes(given):
            graph.read_alike(axis, where, f"{what} axis of {called}")


def _inertia(record: BodyRecord) -> Iterator[tuple[int, int, Any]]:
    """Row, column and value of the upper triangle, as far as it is given."""
    given = record.inertia
    if isinstance(given, int | float):
        return
    full = given is not None and hasattr(given[0], "__len__") and not isinstance(given[0], str)
    for r in (1, 2, 3):
        for c in range(r, 4):
            if given is None:
                yield r, c, f"{record.name}i{r}{c}"
            elif full:
                yield r, c, given[r - 1][c - 1]
            elif r == c:
                yield r, c, given[r - 1]


def _axes(given: Any) -> list[Sequence[Any]]:
    """The axes that are given by components."""
    if given is None or isinstance(given, int | str):
        return []
    vectors = [a for a in given if hasattr(a, "__len__") and not isinstance(a, str)]
    return vectors or ([] if all(isinstance(a, int | float) for a in given) else [given])


# ---------------------------------------------------------------------------------------------------------- states


def _called(name: str, label: str | None) -> str:
    """A body in a sentence: its label with an article, or its symbol."""
    if label is None or label == name:
        return name.upper()
    return label if label.lower().startswith("the ") else f"the {label}"


def _states(analysis: Analysis) -> dict[str, tuple[Dimension, str, str]]:
    """Dimension, generic name and label of all coordinates, then of all speeds, worded as Sayers (1990) does."""
    bodies = analysis.mechanism.bodies
    parents = [bodies[b.parent] if b.parent >= 0 else None for b in bodies]
    found: dict[str, tuple[Dimension, str, str]] = {}
    for b, parent in zip(bodies, parents):
        found.update(_coordinates(b, parent, _joint_place(analysis, b, parent)))
    for b, parent in zip(bodies, parents):
        found.update(_speeds(b, parent, _joint_place(analysis, b, parent)))
    return found


def _coordinates(b: Body, parent: Body | None, place: str) -> Iterator[tuple[str, tuple[Dimension, str, str]]]:
    symbol, called = b.name.upper(), _called(b.name, b.label)
    for slide, q in zip(b.slides, b.q_t):
        along = _direction(slide, parent.name if parent else "n")
        yield q.name, (LENGTH, "Translation", f"Translation of {symbol}0 relative to {place} along {along}")
    base = _called(parent.name, parent.label) if parent else "the inertial reference"
    if b.euler:
        for i, q in enumerate(b.q_r):
            yield q.name, (PURE, "Euler Parameter", f"Euler parameter e{i} of {called} relative to {base}")
        return
    chain = [base, called]
    if len(b.q_r) == 3:
        chain = [parent.name.upper() if parent else "N", f"{symbol}pp", f"{symbol}p", symbol]
    for axis, q, turned, fixed in zip(b.axes, b.q_r, chain[1:], chain):
        yield q.name, (ANGLE, "Rotation", f"Rotation of {turned} relative to {fixed} about axis #{_axis(axis)}")


def _speeds(b: Body, parent: Body | None, place: str) -> Iterator[tuple[str, tuple[Dimension, str, str]]]:
    symbol = b.name.upper()
    for i, u in enumerate(b.u_t):
        if b.free_translation:
            words = f"Abs. trans. speed of {symbol}* along axis {b.speed_axes[i] + 1}"
        else:
            along = _direction(b.slides[i], parent.name if parent else "n")
            words = f"Trans. speed of {symbol}0 relative to {place.removeprefix('the ')} along {along}"
        yield u.name, (SPEED, "Translational Speed", words)
    for i, u in enumerate(b.u_r):
        if b.free_rotation:
            words = f"Abs. rotation of {symbol} about axis #{i + 1}"
        elif parent is None:
            words = f"Abs. rot. of {symbol}, axis {_axis(b.axes[i])}"
        else:
            words = f"Rot. of {symbol} relative to {parent.name.upper()}, axis {_axis(b.axes[i])}"
        yield u.name, (SPIN, "Angular Speed", words)


def _joint_place(analysis: Analysis, b: Body, parent: Body | None) -> str:
    """The point of the parent from which a translation is counted."""
    if all(x is ZERO for x in b.joint_at):
        return f"{parent.name.upper()}0" if parent else "the fixed origin"
    if parent is not None and parent.cm == b.joint_at:
        return f"the center of mass of {parent.name.upper()}"
    here = (p for p in analysis.points.values() if p.body == b.parent and p.at == b.joint_at)
    point = next(here, None)
    return point.label if point else f"the attachment point for {_called(b.name, b.label)}"


def _direction(v: Vec3, frame: str) -> str:
    number = _axis(v)
    if number.startswith("("):
        return f"{number} of {frame.upper()}"
    return f"{number[:-1]}[{frame}{number[-1]}]"


def _axis(v: Vec3) -> str:
    """Number of a coordinate axis, with its sign, or the components of another axis."""
    for k in range(3):
        if v[k] in (ONE, MINUS_ONE):
            return f"{'-' if v[k] is MINUS_ONE else ''}{k + 1}"
    return f"({', '.join(map(str, v))})"
