"""Statements arranged for speed: the same values, a shorter chain of dependent operations.

In:  a `Section`. Out: a `Schedule`: its statements balanced and in a good order. One evaluation is bound by latency,
not by the number of operations, so sums and products are rebuilt with the operands that are ready first at the
bottom, divisors that occur more than once are inverted once, and statements follow the critical path. Angles that are
known at the start have their sines and cosines taken together, which vectorises; so are functions that are known later,
where several of a kind wait for nothing of each other (`emit.alike`). Only the rounding of the last bits changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from bellcrank.emit.alike import ALIKE, side_by_side
from bellcrank.emit.cost import ADD, DIVIDE, FUNCTION, FUSED, MULTIPLY, ROOT, SELECT
from bellcrank.emit.order import ordered
from bellcrank.emit.steps import Alike, Angle, Angles, Step, step_expressions, step_targets, symbols_in
from bellcrank.expr import Expr, Func, Number, Product, Sum, Symbol, postorder
from bellcrank.expr.function_table import FUNCTIONS
from bellcrank.expr.node import ONE, Rational
from bellcrank.program.statements import (
    Assign,
    Call,
    Section,
    Solve,
    Statement,
    section_expressions,
    statement_expressions,
)


@dataclass(frozen=True)
class Schedule:
    """Statements in order, each of few operations, and the results they lead to."""

    steps: tuple[Step, ...]
    results: tuple[Expr, ...]


@dataclass(frozen=True)
class Options:
    """Which ideas are used; all of them, except when their worth is measured."""

    balance: bool = True
    reciprocals: bool = True
    critical_path: bool = True
    together: bool = True  # sines and cosines
    side_by_side: bool = True  # functions that are known late


BEST = Options()
AS_WRITTEN = Options(False, False, False, False, False)
PATIENCE = 8  # cycles that a product waits for something to be fused with
TOGETHER = 128  # angles whose sines and cosines are taken together
LONG_SUM, NAMED = 128, 8  # terms of a sum that becomes several statements, and of each of these


def schedule(section: Section, options: Options = BEST, stored: Sequence[Symbol] = ()) -> Schedule:
    """The section arranged for speed; `stored`: symbols in the order of memory, from where pairs are loaded."""
    arranger = _Arranger(section, options, stored)
    used_symbols = arranger.used
    steps = [_used(s, used_symbols) for s in arranger.steps]
    if options.side_by_side:
        steps = side_by_side(steps, arranger.results, arranger.early)
    if options.critical_path:
        steps = ordered(steps, arranger.results, arranger.early)
    return Schedule(tuple(steps), arranger.results)


def _used(s: Step, used_symbols: set[Symbol]) -> Step:
    """The step without targets that nobody uses."""
    if isinstance(s, Angles):
        angle_targets = ((a.value, [x if x in used_symbols else None for x in (a.sine, a.cosine)]) for a in s.angles)
        return Angles(tuple(Angle(value, *targets) for value, targets in angle_targets))
    if isinstance(s, Call):
        return replace(s, targets=tuple(t if t in used_symbols else None for t in s.targets))
    return s


# ---- balanced expressions


@dataclass(frozen=True)
class _Value:
    """A finished expression and the cycle at which it is there."""

    expr: Expr
    time: int


@dataclass(frozen=True)
class _Factors:
    """coefficient * top / bottom, not yet arranged."""

    coefficient: Rational
    top: tuple[_Value, ...]
    bottom: tuple[_Value, ...]


@dataclass(frozen=True)
class _Terms:
    """A sum of signed parts, not yet arranged."""

    parts: tuple[tuple[int, _Value | _Factors], ...]


_Part = _Value | _Factors | _Terms


class _Arranger:
    """Rebuilds the statements of a section one after another."""

    def __init__(self, section: Section, options: Options, stored: Sequence[Symbol]) -> None:
        self.options = options
        self._stored: dict[Expr, int] = {s: i for i, s in enumerate(stored)}
        self.steps: list[Step] = []
        self.time: dict[Symbol, int] = {}
        self._fresh = _largest_number(section) + 1
        self._inverse: dict[Expr, _Value] = {}
        self._divisors = _repeated_divisors(section) if options.reciprocals else set()
        self._taken: dict[tuple[str, Expr], Symbol] = {}
        self.early = self._together(section) if options.together else 0
        for s in section.statements:
            self._statement(s)
        self.results = tuple(self._result(r) for r in section.results)

    # ---- statements

    @property
    def used(self) -> set[Symbol]:
        """The symbols that steps and results use."""
        return set(symbols_in([*(e for s in self.steps for e in step_expressions(s)), *self.results]))

    def _result(self, root: Expr) -> Expr:
        """A result as a symbol or number, maybe with a sign, so that its operations take part in the ordering."""
        value = self.value(root)
        sign, expr = _signed(value.expr)
        named_value = self._named(replace(value, expr=expr)).expr
        return named_value if sign > 0 else Product(-1, ((named_value, 1),))

    def _statement(self, s: Statement) -> None:
        if isinstance(s, Assign):
            if s.target not in self.time:  # else taken together with other angles
                arranged = self.value(s.value)
                self._define(replace(s, value=arranged.expr), arranged.time)
        elif isinstance(s, Call):
            arguments = [self.value(a) for a in s.arguments]
            self._define(
                replace(s, arguments=tuple(a.expr for a in arguments)),
                FUNCTION + max((a.time for a in arguments), default=0),
            )
        else:
            late = max(self.time.values(), default=0) + 20 * len(s.right)
            right_side = self._values(s.right)
            if isinstance(s, Solve):
                new: Step = replace(s, matrix=tuple(map(self._values, s.matrix)), right=right_side)
            else:
                mass, rows = tuple(map(self._values, s.mass)), tuple(map(self._values, s.rows))
                new = replace(s, mass=mass, force=self._values(s.force), rows=rows, right=right_side)
            self._define(new, late)

    def _values(self, expressions: Iterable[Expr]) -> tuple[Expr, ...]:
        return tuple(self.value(x).expr for x in expressions)

    def _define(self, s: Step, time: int) -> None:
        self.steps.append(s)
        self.time.update(dict.fromkeys(step_targets(s), time))

    def _named(self, value: _Value) -> _Value:
        """The value as a symbol."""
        if isinstance(value.expr, Symbol | Number):
            return value
        symbol = Symbol(f"z{self._fresh}", "intermediate")
        self._fresh += 1
        self._define(Assign(symbol, value.expr), value.time)
        return _Value(symbol, value.time)

    def _together(self, section: Section) -> int:
        """Takes sines and cosines of all angles that follow from the leaves by arithmetic; in how many steps."""
        definition = {s.target: s.value for s in section.statements if isinstance(s, Assign)}
        late = {t for s in section.statements if not isinstance(s, Assign) for t in step_targets(s)}
        targets_of_angle: dict[Expr, dict[str, Symbol]] = {}
        for target, value in definition.items():
            if any(isinstance(n, Func) or n in late for n in postorder((value,))):
                late.add(target)
            if _trigonometric(value) and not any(isinstance(n, Func) or n in late for n in postorder(value.args)):
                targets_of_angle.setdefault(value.args[0], {})[value.name] = target
        cone: set[Symbol] = set()
        stack = symbols_in(targets_of_angle)
        while stack:
            symbol = stack.pop()
            if symbol in definition and symbol not in cone:
                cone.add(symbol)
                stack.extend(symbols_in((definition[symbol],)))
        for s in section.statements:
            if isinstance(s, Assign) and s.target in cone:
                self._statement(s)
        if targets_of_angle:
            values = [self.value(a) for a in targets_of_angle]
            angles = [
                Angle(v.expr, f.get("sin"), f.get("cos"))
                for v, f in zip(values, targets_of_angle.values(), strict=True)
            ]
            self._taken |= {("sin", a.value): a.sine for a in angles if a.sine is not None}
            self._taken |= {("cos", a.value): a.cosine for a in angles if a.cosine is not None}
            angles.sort(key=lambda a: self._stored.get(a.value, len(self._stored)))
            for i in range(0, len(angles), TOGETHER):
                self._define(Angles(tuple(angles[i : i + TOGETHER])), FUNCTION + max(v.time for v in values))
        return len(self.steps)

    # ---- expressions

    def value(self, root: Expr) -> _Value:
        """The expression, arranged."""
        arranged: dict[Expr, _Part] = {}
        for node in postorder((root,)):
            arranged[node] = self._part(node, arranged)
        return self._finished(arranged[root])

    def _part(self, node: Expr, arranged: dict[Expr, _Part]) -> _Part:
        if isinstance(node, Symbol):
            return _Value(node, self.time.get(node, 0))
        if isinstance(node, Number):
            return _Value(node, 0)
        if isinstance(node, Sum):
            return self._terms(node, arranged)
        if isinstance(node, Product):
            return self._factors(node, arranged)
        assert isinstance(node, Func)
        args = [self._finished(arranged[a]) for a in node.args]
        time = max((a.time for a in args), default=0)
        if _trigonometric(node):
            return self._one_angle(node.name, self._named(args[0]))
        if self.options.side_by_side and node.function is None and node.name in ALIKE:
            return self._one_of_many(node.name, args[0])
        if self.options.side_by_side and self.options.together and node.function is None and node.name == "tan":
            angle = self._named(args[0])
            return _Factors(1, (self._one_angle("sin", angle),), (self._one_angle("cos", angle),))
        cost = SELECT if node.function is None and FUNCTIONS[node.name].select else FUNCTION
        return _Value(Func(node.name, tuple(a.expr for a in args), node.function), time + cost)

    def _one_angle(self, name: str, angle: _Value) -> _Value:
        """Sine or cosine of an angle that is known late; the other one comes with it."""
        if not self.options.together:
            return _Value(Func(name, (angle.expr,)), angle.time + FUNCTION)
        if (name, angle.expr) not in self._taken:
            sine, cosine = (Symbol(f"z{self._fresh + i}", "intermediate") for i in (0, 1))
            self._fresh += 2
            self._define(Angles((Angle(angle.expr, sine, cosine),)), angle.time + FUNCTION)
            self._taken["sin", angle.expr], self._taken["cos", angle.expr] = sine, cosine
        symbol = self._taken[name, angle.expr]
        return _Value(symbol, self.time[symbol])

    def _one_of_many(self, name: str, argument: _Value) -> _Value:
        """A function that others may be taken together with."""
        odd = FUNCTIONS[name].odd
        sign, expr = _signed(argument.expr) if odd else (1, argument.expr)
        value = self._named(replace(argument, expr=expr))
        if (name, value.expr) not in self._taken:
            symbol = Symbol(f"z{self._fresh}", "intermediate")
            self._fresh += 1
            self._define(Alike(name, (value.expr,), (symbol,)), value.time + FUNCTION)
            self._taken[name, value.expr] = symbol
        target = self._taken[name, value.expr]
        return _Value(target if sign > 0 else Product(-1, ((target, 1),)), self.time[target])

    def _terms(self, node: Sum, arranged: dict[Expr, _Part]) -> _Part:
        signed_parts: list[tuple[int, _Value | _Factors]] = []
        for core, c in node.terms:
            part = arranged[core]
            if abs(c) != 1:
                part = _scaled(c, self._finished(part) if isinstance(part, _Terms) else part)
            sign = 1 if abs(c) != 1 or c > 0 else -1
            if isinstance(part, _Terms) and self.options.balance:
                signed_parts += [(sign * s, p) for s, p in part.parts]
            else:
                signed_parts.append((sign, self._finished(part) if isinstance(part, _Terms) else part))
        return _Terms(tuple(signed_parts))

    def _factors(self, node: Product, arranged: dict[Expr, _Part]) -> _Part:
        coefficient: Rational = node.coefficient
        top: list[_Value] = []
        bottom: list[_Value] = []
        for base, exponent in node.factors:
            part = arranged[base]
            if isinstance(part, _Factors) and exponent == 1 and self.options.balance:
                coefficient *= part.coefficient
                top += part.top
                bottom += part.bottom
                continue
            value = self._finished(part)
            if exponent < 0 and base in self._divisors:
                top += self._power(self._inverted(value), -exponent)
            else:
                (top if exponent > 0 else bottom).extend(self._power(value, exponent if exponent > 0 else -exponent))
        return _Factors(coefficient, tuple(top), tuple(bottom))

    def _inverted(self, value: _Value) -> _Value:
        if value.expr not in self._inverse:
            inverse = _Value(Product(1, ((value.expr, -1),)), value.time + DIVIDE)
            self._inverse[value.expr] = self._named(inverse)
        return self._inverse[value.expr]

    def _power(self, value: _Value, exponent: Rational) -> list[_Value]:
        """Factors whose product is value ** exponent, exponent > 0."""
        if not isinstance(exponent, int):
            integer_part, fraction = divmod(exponent, 1)
            value = self._named(value) if integer_part else value
            root = _Value(Product(1, ((value.expr, fraction),)), value.time + (ROOT if fraction == 1 / 2 else FUNCTION))
            return [root, *(self._power(value, int(integer_part)) if integer_part else [])]
        if exponent == 1:
            return [value]
        value = self._named(value)
        factors: list[_Value] = []
        while exponent > 3:
            if exponent % 2:
                factors.append(value)
            value = self._named(_Value(_product(1, [value, value]), value.time + MULTIPLY))
            exponent //= 2
        return factors + [value] * exponent

    def _finished(self, part: _Part) -> _Value:
        if isinstance(part, _Value):
            return part
        return self._product(part) if isinstance(part, _Factors) else self._sum(part)

    def _product(self, f: _Factors) -> _Value:
        sign, top = _signed_factors(f)
        if not f.bottom:
            top = self._paired(top, 2)
            if len(top) == 1:
                return _Value(top[0].expr if sign > 0 else Product(-1, ((top[0].expr, 1),)), top[0].time)
            return _Value(_product(sign, top), MULTIPLY + max(v.time for v in top))
        below = self._paired(list(f.bottom), 1)[0]
        above = self._paired(top, 1)[0] if top else _Value(ONE, 0)
        late = max(above.time, below.time + DIVIDE) + MULTIPLY
        if above.expr is not ONE and self.options.reciprocals and late < max(above.time, below.time) + DIVIDE:
            inverse = _Value(Product(1, ((below.expr, -1),)), below.time + DIVIDE)
            return _Value(_product(sign, [above, inverse]), late)
        factors = ((below.expr, -1),) if above.expr is ONE else ((above.expr, 1), (below.expr, -1))
        return _Value(Product(sign, factors), max(above.time, below.time) + DIVIDE)

    def _paired(self, factors: list[_Value], final_count: int) -> list[_Value]:
        """Multiplies until `final_count` factors are left, those that are ready first at the bottom."""
        if not self.options.balance:
            while len(factors) > final_count:
                a, b = factors[:2]
                factors = [_Value(_product(1, [a, b]), max(a.time, b.time) + MULTIPLY), *factors[2:]]
            return factors
        heap = [(v.time, i, v) for i, v in enumerate(factors)]
        heapq.heapify(heap)
        count = len(heap)
        while len(heap) > final_count:
            (_, _, a), (_, _, b) = heapq.heappop(heap), heapq.heappop(heap)
            product = _Value(_product(1, [a, b]), max(a.time, b.time) + MULTIPLY)
            heapq.heappush(heap, (product.time, count, product))
            count += 1
        return [v for _, _, v in sorted(heap)]

    def _sum(self, terms: _Terms) -> _Value:
        """Adds up, what is ready first at the bottom; a product of two is left to be fused with the addition."""
        products: list[_Term] = []
        summands: list[_Term] = []
        for i, (sign, part) in enumerate(terms.parts):
            if isinstance(part, _Factors) and not part.bottom:
                inner_sign, top = _signed_factors(part)
                top = self._paired(top, 2)
                start = max(v.time for v in top)
                if len(top) == 2:
                    products.append((start + MULTIPLY, i, sign * inner_sign, _product(1, top), start))
                else:
                    summands.append((start, i, sign * inner_sign, top[0].expr, -1))
                continue
            value = self._finished(part)
            inner_sign, expr = _signed(value.expr)
            summands.append((value.time, i, sign * inner_sign, expr, -1))
        if not self.options.balance:
            ordered_terms = sorted([*products, *summands], key=lambda x: x[1])
            exprs = tuple((e, s) for _, _, s, e, _ in ordered_terms)
            return _Value(Sum(exprs), max(x[0] for x in ordered_terms) + ADD * (len(exprs) - 1))
        heapq.heapify(products)
        heapq.heapify(summands)
        long, term_counts = len(terms.parts) > LONG_SUM, dict[Expr, int]()
        for order in range(len(terms.parts), 2 * len(terms.parts) - 1):
            a, b = _next_two(products, summands)
            new = _added(a, b, order)
            if long:
                term_counts[new[3]] = term_counts.get(a[3], 1) + term_counts.get(b[3], 1)
                if term_counts[new[3]] >= NAMED:
                    new = (*new[:3], self._named(_Value(new[3], new[0])).expr, new[4])
            heapq.heappush(summands, new)
        time, _, sign, expr, _ = (summands or products)[0]
        return _Value(expr if sign > 0 else Product(-1, ((expr, 1),)), time)


_Term = tuple[int, int, int, Expr, int]  # ready, order, sign, expression, time of the factors of a product (-1: none)


def _next_two(products: list[_Term], summands: list[_Term]) -> tuple[_Term, _Term]:
    """The terms that are added next: those that are ready first, but not two products if something is there soon that
    each of them can be fused with."""

    def first() -> _Term:
        return heapq.heappop(summands if not products or (summands and summands[0] < products[0]) else products)

    a, b = first(), first()
    if a[4] >= 0 and b[4] >= 0 and summands and summands[0][0] <= b[0] + PATIENCE:
        heapq.heappush(products, b)
        b = heapq.heappop(summands)
    return a, b


def _added(a: _Term, b: _Term, order: int) -> _Term:
    """The sum of two terms. A product that comes late stands first: compilers fuse the first one."""
    if b[4] >= 0:
        a, b = b, a
    time = max(a[4], b[0]) + FUSED if a[4] >= 0 else max(a[0], b[0]) + ADD
    if a[2] == b[2]:
        return time, order, a[2], Sum(((a[3], 1), (b[3], 1))), -1
    if a[2] < 0 and a[4] < 0:
        a, b = b, a
    return time, order, 1, Sum(((a[3], a[2]), (b[3], b[2]))), -1


def _signed_factors(f: _Factors) -> tuple[int, list[_Value]]:
    sign = -1 if f.coefficient < 0 else 1
    size: Rational = sign * f.coefficient
    return sign, [*([] if size == 1 else [_Value(Number(size), 0)]), *f.top]


def _scaled(c: Rational, part: _Value | _Factors | _Terms) -> _Factors:
    if isinstance(part, _Factors):
        return replace(part, coefficient=part.coefficient * c)
    assert isinstance(part, _Value)
    return _Factors(c, (part,), ())


def _product(sign: int, values: Sequence[_Value]) -> Expr:
    a, b = values
    return Product(sign, ((a.expr, 2),) if a.expr is b.expr else ((a.expr, 1), (b.expr, 1)))


def _signed(e: Expr) -> tuple[int, Expr]:
    """A sign and what it stands before."""
    if not isinstance(e, Product) or e.coefficient > 0:
        return 1, e
    if e.coefficient == -1 and len(e.factors) == 1 and e.factors[0][1] == 1:
        return -1, e.factors[0][0]
    return -1, Product(-e.coefficient, e.factors)


def _trigonometric(node: Expr) -> TypeGuard[Func]:
    return isinstance(node, Func) and node.function is None and node.name in ("sin", "cos")


def _largest_number(section: Section) -> int:
    names = [t.name for s in section.statements for t in step_targets(s)]
    names += [s.name for s in symbols_in(section_expressions(section))]  # some may be defined before it
    return max((int(n[1:]) for n in names if n[0] == "z" and n[1:].isdecimal()), default=0)


def _repeated_divisors(section: Section) -> set[Expr]:
    """What is divided by more than once."""
    count: dict[Expr, int] = {}
    roots = [e for s in section.statements for e in statement_expressions(s)] + list(section.results)
    for node in postorder(roots):
        if isinstance(node, Product):
            for base, exponent in node.factors:
                if exponent < 0 and isinstance(exponent, int):
                    count[base] = count.get(base, 0) - exponent
    return {base for base, n in count.items() if n > 1}
