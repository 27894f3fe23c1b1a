"""The simulation program as data: sections of straight-line statements, ready to be printed in any language.

In:  named results as expressions over held intermediate results. Out: `Program`. Constants are computed once from the
parameters, everything used twice is named once, nothing unused is there. The interpreter runs a program as it stands and is
what all printers are compared against.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from bellcrank.expr import (
    MINUS_ONE,
    Expr,
    Func,
    Held,
    Number,
    Product,
    Sum,
    Symbol,
    add,
    mul,
    postorder,
    power,
    substitute,
)
from bellcrank.expr.node import PI, Rational
from bellcrank.program.count import Count, count_expression
from bellcrank.program.idle import drop_idle_parameters


@dataclass(frozen=True)
class Assign:
    """target = value; the value's leaves are symbols and numbers."""

    target: Symbol
    value: Expr
    comment: str = ""


@dataclass(frozen=True)
class Call:
    """targets = routine(arguments): an external routine that is called once; targets follow its returned values (None: unused)."""

    targets: tuple[Symbol | None, ...]
    routine: Any
    arguments: tuple[Expr, ...]


@dataclass(frozen=True)
class Solve:
    """matrix . targets = right, a symmetric positive definite system solved numerically."""

    targets: tuple[Symbol, ...]
    matrix: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]


@dataclass(frozen=True)
class Scales:
    """What is usual for the rows of loops: ranks in regular positions, and numbers that bring J to entries of about one.

    `usual` is the ratio of the last pivot of the scaled J to the first in a good position.
    """

    rank_g: int
    rank_v: int
    rows: tuple[float, ...]
    columns: tuple[float, ...]
    usual: float = 1.0
    order: tuple[tuple[int, int], ...] = ()  # row and column of the pivots that the derivatives divide by ...
    usual_order: float = 1.0  # ... and the ratio of the smallest to the largest entry of J in a good position


@dataclass(frozen=True)
class Reduce:
    """targets: u' of M u' = f + J' lambda, J u' = gamma, solved numerically on the null space of J (see `null_space`).

    The last target tells how near a singular position is. `mass` holds rows of the lower triangle.
    """

    targets: tuple[Symbol, ...]
    mass: tuple[tuple[Expr, ...], ...]
    force: tuple[Expr, ...]
    rows: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]
    scales: Scales


Statement = Assign | Call | Solve | Reduce


@dataclass(frozen=True)
class Section:
    """Statements in order, and the results they lead to (symbols, numbers or expressions)."""

    statements: tuple[Statement, ...]
    results: tuple[Expr, ...]


@dataclass(frozen=True)
class Program:
    """A complete model in straight-line form.

    Leaves of all expressions: `parameters`, `constants` (results of the constants section, c1, c2, ...), `coordinates`,
    `speeds`, `inputs` (given at run time; rates of inputs have names like dxdt(z)), time `t`, `pi`, and intermediates
    z1, z2, .... Inputs of kind "kept" are values of external routines: results of `start`, called once before a run, then
    those of `update`, called after it and at the end of each step. The last of `parameters` are results of `entry`, called when
    the others are known; it uses nothing but parameters. `derivatives` yields the rates of all coordinates, then of all (independent) speeds. `outputs` may use
    every intermediate of `derivatives`; its results are the extra channels in order.
    """

    name: str
    parameters: tuple[Symbol, ...]
    coordinates: tuple[Symbol, ...]
    speeds: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    routines: tuple[Any, ...]  # externals and tables, in order of first use
    constants: Section
    derivatives: Section
    outputs: Section
    output_names: tuple[str, ...]
    count: Count
    stages: tuple[tuple[str, int], ...] = ()  # operations after each pass, for the report
    loops: Loops | None = None
    # of closed loops; each section stands for itself
    closure: Section = Section((), ())  # g, G, v, J
    quick_q: Section = Section((), ())  # the correction of regular positions, called once per step: dq ...
    quick_u: Section = Section((), ())  # ... then, where q has been corrected, du, and the pivots that were divided by
    careful: Section = Section((), ())  # rates near singular positions, and the ratio of pivots

    system: Section = Section((), ())  # of methods for differential-algebraic equations: q', M, f, J, gamma, g, v
    turning: Section = Section((), ())  # q' alone

    start: Section = Section((), ())  # values of external routines that hold over a run; stands for itself
    update: Section = Section((), ())  # values of external routines that hold over a step; stands for itself
    entry: Section = Section((), ())  # parameters that external routines give
    echo: Section = Section((), ())  # values that external routines give to the echo of a run; stands for itself
    echo_names: tuple[str, ...] = ()

    @property
    def given_parameters(self) -> tuple[Symbol, ...]:
        """The parameters that are given from outside; those of external routines follow them in `parameters`."""
        return self.parameters[: len(self.parameters) - len(self.entry.results)]

    @property
    def given_inputs(self) -> tuple[Symbol, ...]:
        """The inputs that are given from outside; those kept from external routines follow them in `inputs`."""
        return tuple(s for s in self.inputs if s.kind != "kept")

    def in_rates(self, routine: Any) -> bool:
        """Is an external routine called for the rates of the states?"""
        sections = (self.derivatives, self.closure, self.careful)
        return any(isinstance(s, Call) and s.routine is routine for x in sections for s in x.statements)

    @property
    def per_step(self) -> Count:
        """Operations done once per step in regular positions: external routines, one correction of q, and one of u."""
        total = count_section(self.update.statements, self.update.results)
        if self.loops is None:
            return total
        if self.loops.quick is not None:
            return total + _quick_count(self.quick_q, self.quick_u, len(self.loops.quick.pivots))
        total = total + count_section(self.closure.statements, self.closure.results)
        for rows, columns in ((len(self.loops.g), len(self.coordinates)), (len(self.loops.v), len(self.speeds))):
            products = rows * (rows + 1) // 2 * columns + rows * columns
            total = total + Count(products, products, 0, 0, products, 0) + dense_solve_count(rows)
        return total

    @property
    def constant_symbols(self) -> tuple[Symbol, ...]:
        return tuple(s.target for s in self.constants.statements if isinstance(s, Assign))


ATOMS = (Symbol, Number)


class Scheduler:
    """Names what is shared and puts it in order."""

    def __init__(self, roots: Iterable[Expr]) -> None:
        self.constants: list[Statement] = []
        self.statements: list[Statement] = []
        self._constant: dict[Expr, Expr] = {}
        self._constant_by_value: dict[int, Expr] = {}
        self._new: dict[Expr, Expr] = {}
        self._uses: dict[Expr, int] = {}
        self._calls: dict[tuple[Any, ...], list[Symbol | None]] = {}
        self._z = 0
        self.routines: list[Any] = []
        self.count_uses(roots)

    def sibling(self, roots: Iterable[Expr]) -> Scheduler:
        """A plan for another function over the same constants."""
        other = Scheduler(roots)
        other.constants, other.routines = self.constants, self.routines
        other._constant, other._constant_by_value = self._constant, self._constant_by_value
        return other

    def count_uses(self, roots: Iterable[Expr]) -> None:
        """How often each node is used below the roots and as one; held nodes stand for their definitions."""
        roots = list(roots)
        for r in roots:
            while isinstance(r, Held):
                r = r.definition
            self._uses[r] = self._uses.get(r, 0) + 1
        for node in postorder(roots):
            for part in node.parts:
                inner = part.definition if isinstance(part, Held) else part
                self._uses[inner] = self._uses.get(inner, 0) + 1
            if isinstance(node, Held):
                # its definition was counted once for the held node itself, which is not a use
                self._uses[node.definition] = self._uses.get(node.definition, 0) - 1

    # ---- constants

    def constant(self, e: Expr) -> Expr:
        """The stored value of a constant expression."""
        if isinstance(e, ATOMS):
            return e
        if e in self._constant:
            return self._constant[e]
        if e.fingerprint in self._constant_by_value:
            return self._constant_by_value[e.fingerprint]
        value = self._plain_constant(e)
        if isinstance(value, ATOMS):
            self._constant[e] = value
            return value
        symbol = Symbol(f"c{len(self.constants) + 1}", "stored")
        self.constants.append(Assign(symbol, value))
        self._constant[e] = symbol
        self._constant_by_value[e.fingerprint] = symbol
        return symbol

    def _plain_constant(self, root: Expr) -> Expr:
        """A constant expression over parameters and earlier constants."""
        done = _Over(self._constant)
        for node in postorder((root,), known=self._constant):
            if isinstance(node, Held):
                inner = done[node.definition]
                if not isinstance(inner, ATOMS) and node is not root and node.definition is not root:
                    inner = self._store(node, inner)
                done[node] = inner
            else:
                done[node] = _rebuilt(node, done)
        return done[root]

    def _store(self, node: Expr, value: Expr) -> Expr:
        known = self._constant_by_value.get(node.fingerprint)
        if known is None:
            known = Symbol(f"c{len(self.constants) + 1}", "stored")
            self.constants.append(Assign(known, value))
            self._constant_by_value[node.fingerprint] = known
        self._constant[node] = known
        return known

    # ---- variables

    def lower(self, root: Expr) -> Expr:
        """root over symbols, with statements for everything shared appended."""
        if root.constant:
            return self.constant(root)
        for node in postorder((root,), known=self._new):
            if node.constant:
                continue
            if isinstance(node, Held):
                self._new[node] = self._new[node.definition]
                continue
            self._new[node] = self._named(node, self._lowered(node))
        return self._new[root]

    def _named(self, node: Expr, value: Expr) -> Expr:
        if isinstance(value, ATOMS) or (self._uses.get(node, 0) < 2 and not _trigonometric(node)):
            return value
        if (
            isinstance(value, Product)
            and len(value.factors) == 1
            and value.factors[0][1] == 1
            and abs(value.coefficient) == 1
        ):
            return value  # a sign costs nothing
        return self.name_value(value)

    def name_value(self, value: Expr) -> Symbol:
        symbol = self.new_symbol()
        self.statements.append(Assign(symbol, value))
        return symbol

    def stands_for(self, values: Mapping[Expr, Expr]) -> None:
        """From here on, symbols stand for others."""
        self._new.update(values)

    def new_symbol(self) -> Symbol:
        self._z += 1
        return Symbol(f"z{self._z}", "intermediate")

    def _lowered(self, node: Expr) -> Expr:
        if isinstance(node, Symbol):
            return node
        if isinstance(node, Sum):
            return self._sum(node)
        if isinstance(node, Product):
            return self._product(1, node)
        assert isinstance(node, Func)
        args = tuple(self.constant(a) if a.constant else self._new[a] for a in node.args)
        if node.function is None:
            return Func(node.name, args)
        return self._routine(node, args)

    def _routine(self, node: Func, args: tuple[Expr, ...]) -> Expr:
        external = getattr(node.function, "external", node.function)
        if external not in self.routines:
            self.routines.append(external)
        if not getattr(external, "varies", False):
            return Func(node.name, args, node.function)
        key = (external, args)
        count_returned = max(len(external.returns), 1)
        index = getattr(node.function, "index", 0)
        if key not in self._calls:
            self._calls[key] = [None] * count_returned
            self.statements.append(Call((), external, args))
            self._calls[key].append(Symbol(str(len(self.statements) - 1)))
        slots = self._calls[key]
        place = int(slots[-1].name)  # type: ignore[union-attr]
        if slots[index] is None:
            slots[index] = self.new_symbol()
        self.statements[place] = Call(tuple(slots[:-1]), external, args)
        result = slots[index]
        assert result is not None
        return result

    def _sum(self, node: Sum) -> Expr:
        terms: list[tuple[Expr, Rational]] = []
        still: list[Expr] = []
        for core, c in node.terms:
            if core.constant:
                still.append(mul(Number(c), core))
                continue
            if isinstance(core, Product) and self._uses.get(core, 0) < 2:
                value = self._product(c, core)
            else:
                value = self._new[core]
                if c != 1:
                    value = _scaled(c, value)
            terms.append((value, 1))
        if still:
            terms.append((self.constant(add(*still)), 1))
        return _plain_sum(terms)

    def _product(self, coefficient: Rational, node: Product) -> Expr:
        """Factors with all constants gathered into one."""
        number: Rational = node.coefficient * coefficient
        still: list[Expr] = []
        factors: list[tuple[Expr, Rational]] = []
        for base, exponent in node.factors:
            if base.constant:
                still.append(power(base, Number(exponent)))
            else:
                value = self._new[base]
                if (
                    isinstance(value, Product)
                    and len(value.factors) == 1
                    and abs(value.coefficient) == 1
                    and exponent in (1, -1)
                ):
                    number = number * value.coefficient
                    value, inner = value.factors[0]
                    exponent = exponent * inner
                factors.append((value, exponent))
        whole = mul(Number(number), *still)
        if isinstance(whole, Number):
            return _plain_product(whole.value, factors)
        sign: Rational = 1
        stored = self.constant(whole)
        if isinstance(stored, Product) and len(stored.factors) == 1:
            sign, stored = stored.coefficient, stored.factors[0][0]
        return _plain_product(sign, [(stored, 1), *factors])


class _Over(dict[Expr, Expr]):
    """A dictionary on top of another one."""

    def __init__(self, below: dict[Expr, Expr]) -> None:
        super().__init__()
        self.below = below

    def __missing__(self, key: Expr) -> Expr:
        return self.below[key]


def _trigonometric(node: Expr) -> bool:
    return isinstance(node, Func) and node.function is None and node.name in ("sin", "cos")


def _scaled(c: Rational, value: Expr) -> Expr:
    if isinstance(value, Product):
        return _plain_product(c * value.coefficient, list(value.factors))
    return _plain_product(c, [(value, 1)])


def _plain_product(coefficient: Rational, factors: Sequence[tuple[Expr, Rational]]) -> Expr:
    """A product as it stands: no flattening, no collection."""
    coefficient = (
        coefficient.numerator if not isinstance(coefficient, int) and coefficient.denominator == 1 else coefficient
    )
    if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    if not factors:
        return Number(coefficient)
    return Product(coefficient, tuple(factors))


def _plain_sum(terms: Sequence[tuple[Expr, Rational]]) -> Expr:
    return terms[0][0] if len(terms) == 1 else Sum(tuple(terms))


def _rebuilt(node: Expr, done: dict[Expr, Expr]) -> Expr:
    if isinstance(node, Sum):
        return _plain_sum([(_scaled(c, done[core]) if c != 1 else done[core], 1) for core, c in node.terms])
    if isinstance(node, Product):
        return _plain_product(node.coefficient, [(done[b], x) for b, x in node.factors])
    if isinstance(node, Func):
        return Func(node.name, tuple(done[a] for a in node.args), node.function)
    return node


@dataclass(frozen=True)
class Quick:
    """The correction of regular positions: only what depends on the rest is moved, by pivots in fixed order.

    `q` and `u` are the places of the coordinates and speeds that are moved; `dq` and `du` what is taken from them; a pivot times its
    scale is usually 1.
    """

    q: tuple[int, ...]
    u: tuple[int, ...]
    dq: tuple[Expr, ...]
    du: tuple[Expr, ...]
    pivots: tuple[Expr, ...]
    pivot_scales: tuple[float, ...]


@dataclass(frozen=True)
class Loops:
    """Constraints by name: positions g with their slopes G = dg/dq, speeds v (all rows) with J = dv/du."""

    names: tuple[str, ...]  # of the rows of v
    positions: tuple[str, ...]  # of the rows of g: loops, and the unit size of Euler parameters
    g: tuple[Expr, ...]
    G: tuple[tuple[Expr, ...], ...]
    v: tuple[Expr, ...]
    J: tuple[tuple[Expr, ...], ...]
    scales: Scales
    M: tuple[tuple[Expr, ...], ...]  # mass matrix of the tree, rows of its lower triangle
    f: tuple[Expr, ...]
    gamma: tuple[Expr, ...]  # J u' = gamma
    quick: Quick | None = None

    def flat(self) -> list[Expr]:
        """g, G, v, J in one list, rows after each other."""
        return [*self.g, *(x for row in self.G for x in row), *self.v, *self.flat_rows()]

    @property
    def paired(self) -> int:
        """How many rows of g, from the first on, have their rates in the same rows of v; Euler parameters' have none."""
        return sum(a == b for a, b in zip(self.names, self.positions, strict=False))

    def flat_system(self) -> list[Expr]:
        """M, f, J, gamma in one list."""
        return [*(x for row in self.M for x in row), *self.f, *self.flat_rows(), *self.gamma]

    def flat_rows(self) -> list[Expr]:
        """J in one list."""
        return [x for row in self.J for x in row]


@dataclass(frozen=True)
class KeptCall:
    """targets = routine(arguments), called once per run or once per step (routine.when: "init" or "update")."""

    targets: tuple[Symbol, ...]
    routine: Any
    arguments: tuple[Expr, ...]


@dataclass
class Parts:
    """What goes into a program."""

    name: str
    parameters: Sequence[Symbol]
    coordinates: Sequence[Symbol]
    speeds: Sequence[Symbol]
    rates: Sequence[Expr]  # of coordinates, then of speeds
    outputs: Sequence[tuple[str, Expr]] = ()
    inputs: Sequence[Symbol] = ()
    solve: tuple[Sequence[Sequence[Expr]], Sequence[Expr]] | None = (
        None  # implicit: M, f; rates then hold solution symbols
    )
    unknowns: Sequence[Symbol] = ()
    loops: Loops | None = None
    stages: Sequence[tuple[str, int]] = field(default_factory=tuple)
    kept: Sequence[KeptCall] = ()
    accelerations: Sequence[Expr] = ()  # symbols in outputs that stand for the rates of speeds, of models with loops
    multipliers: Sequence[tuple[Symbol, int]] = ()  # symbols in outputs that stand for the multipliers of rows of loops
    entered: Sequence[KeptCall] = ()
    echo: Sequence[tuple[str, Expr]] = ()
    outputs_matter: bool = False  # name what rates and outputs share, even if the rates alone use it once


def build_program(parts: Parts) -> Program:
    """Schedules all results of a model."""
    parts = _without_idle(parts)
    system = [*(x for row in parts.solve[0] for x in row), *parts.solve[1]] if parts.solve else []
    values = [value for _, value in parts.outputs]
    plan = Scheduler([*parts.rates, *system, *(values if parts.outputs_matter else ())])
    if parts.solve:
        matrix = tuple(tuple(plan.lower(x) for x in row) for row in parts.solve[0])
        right = tuple(plan.lower(x) for x in parts.solve[1])
        plan.statements.append(Solve(tuple(parts.unknowns), matrix, right))
    results = tuple(plan.lower(r) for r in parts.rates)
    split = len(plan.statements)
    if not parts.outputs_matter:
        plan.count_uses(values)
    _solve_for_outputs(plan, parts, values)
    channel = tuple(plan.lower(v) for v in values)
    statements, extra = tuple(plan.statements[:split]), tuple(plan.statements[split:])
    closure = _closure(plan, parts.loops)
    quick = parts.loops.quick if parts.loops else None
    quick_q = _own_section(plan, quick.dq if quick else ())
    quick_u = _own_section(plan, (*quick.du, *quick.pivots) if quick else ())
    careful = _careful(plan, parts)
    redundant, turning = _system(plan, parts)
    start, update = (_kept(plan, [k for k in parts.kept if k.routine.when == when]) for when in ("init", "update"))
    entry = _entry(plan, parts.entered)
    echo = _own_section(plan, [value for _, value in parts.echo])
    total = count_section(statements, results)
    alone = (closure, quick_q, quick_u, careful, redundant, turning, start, update, entry, echo)
    everything = [*plan.statements, *(s for section in alone for s in section.statements)]
    ends = [*results, *channel, *(r for section in alone for r in section.results)]
    constants = _needed(plan.constants, everything, ends)
    used = _used_symbols(constants, everything, ends)
    given = {s for call in parts.entered for s in call.targets}
    parameters = tuple(p for p in parts.parameters if p in used and p not in given)
    parameters += tuple(s for call in parts.entered for s in call.targets)
    inputs = [s for s in parts.inputs if s in used]
    inputs += sorted((s for s in used if s.kind == "rate"), key=lambda s: s.sort)
    for when in ("init", "update"):
        inputs += [s for k in parts.kept if k.routine.when == when for s in k.targets]
    return Program(
        parts.name,
        parameters,
        tuple(parts.coordinates),
        tuple(parts.speeds),
        tuple(inputs),
        tuple(plan.routines),
        Section(tuple(constants), ()),
        Section(statements, results),
        Section(extra, channel),
        tuple(name for name, _ in parts.outputs),
        total,
        tuple(parts.stages),
        parts.loops,
        closure,
        quick_q,
        quick_u,
        careful,
        redundant,
        turning,
        start,
        update,
        entry,
        echo,
        tuple(name for name, _ in parts.echo),
    )


def _kept(plan: Scheduler, calls: Sequence[KeptCall]) -> Section:
    """Calls one after another, each with what the ones before it returned; the results are all returned values."""
    own = plan.sibling([a for call in calls for a in call.arguments])
    results: list[Symbol] = []
    for call in calls:
        arguments = tuple(own.lower(a) for a in call.arguments)
        if call.routine not in own.routines:
            own.routines.append(call.routine)
        values = [own.new_symbol() for _ in call.targets]
        own.statements.append(Call(tuple(values), call.routine, arguments))
        own.stands_for({target: value for target, value in zip(call.targets, values, strict=True)})
        results += values
    return Section(tuple(own.statements), tuple(results))


def _entry(plan: Scheduler, calls: Sequence[KeptCall]) -> Section:
    """Calls one after another, before there are constants: arguments are expressions of parameters as they stand."""
    own = plan.sibling([])
    known: dict[Expr, Expr] = {}
    statements: list[Statement] = []
    for call in calls:
        tables = [n.function for n in postorder(call.arguments) if isinstance(n, Func) and n.function is not None]
        own.routines += [r for r in dict.fromkeys((*tables, call.routine)) if r not in own.routines]
        values = tuple(own.new_symbol() for _ in call.targets)
        statements.append(Call(values, call.routine, tuple(substitute(a, known) for a in call.arguments)))
        known |= dict(zip(call.targets, values, strict=True))
    return Section(tuple(statements), tuple(known.values()))


def _closure(plan: Scheduler, loops: Loops | None) -> Section:
    """The function of the constraints, on its own."""
    return _own_section(plan, loops.flat() if loops else ())


def _own_section(plan: Scheduler, roots: Sequence[Expr]) -> Section:
    """A function over the same constants that stands for itself."""
    if not roots:
        return Section((), ())
    own = plan.sibling(roots)
    results = tuple(own.lower(r) for r in roots)
    return Section(tuple(own.statements), results)


def _quick_count(quick_q: Section, quick_u: Section, pivots: int) -> Count:
    """Operations of a correction: the sections, a subtraction for each value, and a look at each pivot."""
    moved = len(quick_q.results) + len(quick_u.results) - pivots
    total = Count(add=moved, multiply=pivots, muldiv_classic=pivots, function=2 * pivots)
    for section in (quick_q, quick_u):
        total = total + count_section(section.statements, section.results)
    return total


def _careful(plan: Scheduler, parts: Parts) -> Section:
    """Rates of all coordinates and speeds without a choice of independent speeds, on their own."""
    if parts.loops is None:
        return Section((), ())
    q_rates = list(parts.rates[: len(parts.coordinates)])
    own = plan.sibling([*q_rates, *parts.loops.flat_system()])
    rates = tuple(own.lower(x) for x in q_rates)
    targets = _reduced(own, parts)
    return Section(tuple(own.statements), (*rates, *targets))


def _reduced(plan: Scheduler, parts: Parts) -> tuple[Symbol, ...]:
    """Symbols of the accelerations on the null space of the constraints, and of the ratio of pivots, solved for in a plan."""
    loops = parts.loops
    assert loops is not None
    M = tuple(tuple(plan.lower(x) for x in row) for row in loops.M)
    f, gamma = (tuple(plan.lower(x) for x in values) for values in (loops.f, loops.gamma))
    J = tuple(tuple(plan.lower(x) for x in row) for row in loops.J)
    targets = tuple(plan.new_symbol() for _ in (*parts.speeds, "ratio"))
    plan.statements.append(Reduce(targets, M, f, J, gamma, loops.scales))
    return targets


def _solve_for_outputs(plan: Scheduler, parts: Parts, values: Sequence[Expr]) -> None:
    """Accelerations and multipliers of loops, if outputs need them, as symbols of a plan."""
    used = {x for x in postorder(values) if isinstance(x, Symbol)}
    lambdas = [symbol for symbol, _ in parts.multipliers]
    if parts.loops is None or used.isdisjoint([*parts.accelerations, *lambdas]):
        return
    plan.count_uses(parts.loops.flat_system())
    plan.stands_for(dict(zip(parts.accelerations, _reduced(plan, parts), strict=False)))
    if used.isdisjoint(lambdas):
        return
    matrix, right = _multiplier_system(parts.loops, parts.accelerations, [row for _, row in parts.multipliers])
    plan.count_uses([*(x for row in matrix for x in row), *right])
    targets = tuple(plan.new_symbol() for _ in lambdas)
    lowered = tuple(tuple(plan.lower(x) for x in row) for row in matrix)
    plan.statements.append(Solve(targets, lowered, tuple(plan.lower(x) for x in right)))
    plan.stands_for(dict(zip(lambdas, targets, strict=True)))


def _multiplier_system(
    loops: Loops, accelerations: Sequence[Expr], places: Sequence[int]
) -> tuple[list[list[Expr]], list[Expr]]:
    """J W J' lambda = J W (M u' - f) for some rows, W squares of the scales of speeds, rounded to powers of two."""
    n = range(len(loops.f))
    J = [loops.J[i] for i in places]
    W = [Number(Fraction(2) ** (2 * round(math.log2(scale)))) for scale in loops.scales.columns]
    missing = [
        add(*(mul(loops.M[max(i, j)][min(i, j)], accelerations[j]) for j in n), mul(MINUS_ONE, loops.f[i])) for i in n
    ]
    weighted = [[mul(w, x) for w, x in zip(W, row, strict=True)] for row in J]
    matrix = [[add(*map(mul, a, b)) for b in J] for a in weighted]
    return matrix, [add(*map(mul, row, missing)) for row in weighted]


def _system(plan: Scheduler, parts: Parts) -> tuple[Section, Section]:
    """The redundant equations M u' = f + J' lambda, J u' = gamma with q', g and v, as numbers; and q' on its own."""
    loops = parts.loops
    if loops is None:
        return Section((), ()), Section((), ())
    q_rates = list(parts.rates[: len(parts.coordinates)])
    roots = [*q_rates, *loops.flat_system(), *loops.g, *loops.v]
    return _own_section(plan, roots), _own_section(plan, q_rates)


def _without_idle(parts: Parts) -> Parts:
    """The parts without parameters that do not act."""
    n = len(parts.unknowns)
    matrix, right = parts.solve or ((), ())
    values = [v for _, v in parts.outputs]
    clean = iter(drop_idle_parameters([*parts.rates, *(x for row in matrix for x in row), *right, *values]))
    rates = [next(clean) for _ in parts.rates]
    matrix = [[next(clean) for _ in row] for row in matrix]
    right = [next(clean) for _ in right]
    outputs = [(name, next(clean)) for name, _ in parts.outputs]
    return replace(parts, rates=rates, solve=(matrix, right) if n else None, outputs=outputs)


def count_section(statements: Iterable[Statement], results: Iterable[Expr]) -> Count:
    """Operations of a section as it is printed."""
    total = Count()
    for s in statements:
        for e in statement_expressions(s):
            total = total + count_expression(e)
        if isinstance(s, Call):
            total = total + Count(function=1, calls_classic=1)
        elif isinstance(s, Solve):
            total = total + dense_solve_count(len(s.right))
    for r in results:
        total = total + count_expression(r)
    return total


def _needed(constants: list[Statement], statements: list[Statement], results: list[Expr]) -> list[Statement]:
    """The constants that are used, directly or by others that are."""
    used = _used_symbols([], statements, results)
    kept: list[Statement] = []
    for s in reversed(constants):
        assert isinstance(s, Assign)
        if s.target in used:
            kept.append(s)
            used |= _used_symbols([s], [], [])
    return kept[::-1]


def statement_expressions(s: Statement) -> tuple[Expr, ...]:
    """The expressions a statement evaluates."""
    if isinstance(s, Assign):
        return (s.value,)
    if isinstance(s, Call):
        return s.arguments
    if isinstance(s, Reduce):
        return (*(x for row in (*s.mass, *s.rows) for x in row), *s.force, *s.right)
    return (*(x for row in s.matrix for x in row), *s.right)


def _used_symbols(constants: list[Statement], statements: list[Statement], results: list[Expr]) -> set[Symbol]:
    roots = [e for s in [*constants, *statements] for e in statement_expressions(s)] + results
    return {n for n in postorder(roots) if isinstance(n, Symbol) and n is not PI}


def dense_solve_count(n: int) -> Count:
    """Operations of an LDL^T factorisation and two substitutions with n unknowns."""
    products = sum(j * (j + 1) // 2 for j in range(n)) + n * (n - 1)
    divisions = n * (n - 1) // 2 + n
    return Count(products, products, divisions, 0, products + divisions, 0)
