"""Statements arranged for speed: the same values, a shorter chain of dependent operations.

In:  a `Section`. Out: a `StepSchedule`: its statements balanced and in a good order. One evaluation
is bound by latency, not by the number of operations, so sums and products are rebuilt with the
operands that are ready first at the bottom, divisors that occur more than once are inverted once,
and statements follow the critical path. Angles that are known at the start have their sines and
cosines taken together, which vectorises; so are functions that are known later, where several of a
kind wait for nothing of each other (`codegen.vectorize_calls`). Only the rounding of the last bits
changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from bellcrank.codegen.cost import ADD, DIVIDE, FUNCTION, FUSED, MULTIPLY, ROOT, SELECT
from bellcrank.codegen.schedule_steps import (
    SinCos,
    SinCosGroup,
    Step,
    VectorizedCall,
    step_expressions,
    step_targets,
    symbols_in_order,
)
from bellcrank.codegen.step_order import order_steps
from bellcrank.codegen.vectorize_calls import ALIKE, vectorize_calls
from bellcrank.program.statements import (
    AssignStatement,
    CallStatement,
    Section,
    SolveStatement,
    Statement,
    section_expressions,
    statement_expressions,
)
from bellcrank.symbolic.expr import Expr, Func, Number, Product, Sum, Symbol, postorder
from bellcrank.symbolic.expr.function_table import FUNCTIONS
from bellcrank.symbolic.expr.node import ONE, Rational


@dataclass(frozen=True)
class StepSchedule:
    """Statements in order, each of few operations, and the results they lead to."""

    steps: tuple[Step, ...]
    results: tuple[Expr, ...]


@dataclass(frozen=True)
class ScheduleOptions:
    """Which ideas are used; all of them, except when their worth is measured."""

    balance: bool = True
    reciprocals: bool = True
    critical_path: bool = True
    together: bool = True  # sines and cosines
    side_by_side: bool = True  # functions that are known late


DEFAULT_OPTIONS = ScheduleOptions()
AS_WRITTEN = ScheduleOptions(False, False, False, False, False)
FUSION_WAIT_CYCLES = 8  # cycles that a product waits for something to be fused with
TOGETHER = 128  # angles whose sines and cosines are taken together
LONG_SUM, NAMED = 128, 8  # terms of a sum that becomes several statements, and of each of these


def schedule_section(
    section: Section, options: ScheduleOptions = DEFAULT_OPTIONS, stored: Sequence[Symbol] = ()
) -> StepSchedule:
    """The section arranged for speed; `stored`: symbols in the order of memory, from where pairs
    are loaded."""
    arranger = _SectionScheduler(section, options, stored)
    used_symbols = arranger.used
    steps = [_drop_unused_targets(s, used_symbols) for s in arranger.steps]
    if options.side_by_side:
        steps = vectorize_calls(steps, arranger.results, arranger.early)
    if options.critical_path:
        steps = order_steps(steps, arranger.results, arranger.early)
    return StepSchedule(tuple(steps), arranger.results)


def _drop_unused_targets(s: Step, used_symbols: set[Symbol]) -> Step:
    """The step without targets that nobody uses."""
    if isinstance(s, SinCosGroup):
        angle_targets = (
            (a.value, [x if x in used_symbols else None for x in (a.sine, a.cosine)])
            for a in s.angles
        )
        return SinCosGroup(tuple(SinCos(value, *targets) for value, targets in angle_targets))
    if isinstance(s, CallStatement):
        return replace(s, targets=tuple(t if t in used_symbols else None for t in s.targets))
    return s


# ---- balanced expressions


@dataclass(frozen=True)
class _TimedValue:
    """A finished expression and the cycle at which it is there."""

    expr: Expr
    time: int


@dataclass(frozen=True)
class _PendingProduct:
    """coefficient * top / bottom, not yet arranged."""

    coefficient: Rational
    top: tuple[_TimedValue, ...]
    bottom: tuple[_TimedValue, ...]


@dataclass(frozen=True)
class _PendingSum:
    """A sum of signed parts, not yet arranged."""

    parts: tuple[tuple[int, _TimedValue | _PendingProduct], ...]


_Part = _TimedValue | _PendingProduct | _PendingSum


class _SectionScheduler:
    """Rebuilds the statements of a section one after another."""

    def __init__(
        self, section: Section, options: ScheduleOptions, stored: Sequence[Symbol]
    ) -> None:
        self.options = options
        self._stored: dict[Expr, int] = {s: i for i, s in enumerate(stored)}
        self.steps: list[Step] = []
        self.time: dict[Symbol, int] = {}
        self._fresh = _largest_number(section) + 1
        self._inverse: dict[Expr, _TimedValue] = {}
        self._divisors = _repeated_divisors(section) if options.reciprocals else set()
        self._taken: dict[tuple[str, Expr], Symbol] = {}
        self.early = self._group_angles(section) if options.together else 0
        for s in section.statements:
            self._schedule_statement(s)
        self.results = tuple(self._schedule_result(r) for r in section.results)

    # ---- statements

    @property
    def used(self) -> set[Symbol]:
        """The symbols that steps and results use."""
        return set(
            symbols_in_order([*(e for s in self.steps for e in step_expressions(s)), *self.results])
        )

    def _schedule_result(self, root: Expr) -> Expr:
        """A result as a symbol or number, maybe with a sign, so that its operations take part in
        the ordering."""
        value = self.schedule_expression(root)
        sign, expr = _split_sign(value.expr)
        named_value = self._name_value(replace(value, expr=expr)).expr
        return named_value if sign > 0 else Product(-1, ((named_value, 1),))

    def _schedule_statement(self, s: Statement) -> None:
        if isinstance(s, AssignStatement):
            if s.target not in self.time:  # else taken together with other angles
                arranged = self.schedule_expression(s.value)
                self._append_step(replace(s, value=arranged.expr), arranged.time)
        elif isinstance(s, CallStatement):
            arguments = [self.schedule_expression(a) for a in s.arguments]
            self._append_step(
                replace(s, arguments=tuple(a.expr for a in arguments)),
                FUNCTION + max((a.time for a in arguments), default=0),
            )
        else:
            late = max(self.time.values(), default=0) + 20 * len(s.right)
            right_side = self._schedule_values(s.right)
            if isinstance(s, SolveStatement):
                new: Step = replace(
                    s, matrix=tuple(map(self._schedule_values, s.matrix)), right=right_side
                )
            else:
                mass, rows = (
                    tuple(map(self._schedule_values, s.mass)),
                    tuple(map(self._schedule_values, s.rows)),
                )
                new = replace(
                    s, mass=mass, force=self._schedule_values(s.force), rows=rows, right=right_side
                )
            self._append_step(new, late)

    def _schedule_values(self, expressions: Iterable[Expr]) -> tuple[Expr, ...]:
        return tuple(self.schedule_expression(x).expr for x in expressions)

    def _append_step(self, s: Step, time: int) -> None:
        self.steps.append(s)
        self.time.update(dict.fromkeys(step_targets(s), time))

    def _name_value(self, value: _TimedValue) -> _TimedValue:
        """The value as a symbol."""
        if isinstance(value.expr, Symbol | Number):
            return value
        symbol = Symbol(f"z{self._fresh}", "intermediate")
        self._fresh += 1
        self._append_step(AssignStatement(symbol, value.expr), value.time)
        return _TimedValue(symbol, value.time)

    def _group_angles(self, section: Section) -> int:
        """Takes sines and cosines of all angles that follow from the leaves by arithmetic; in how
        many steps."""
        definition = {
            s.target: s.value for s in section.statements if isinstance(s, AssignStatement)
        }
        late = {
            t
            for s in section.statements
            if not isinstance(s, AssignStatement)
            for t in step_targets(s)
        }
        targets_of_angle: dict[Expr, dict[str, Symbol]] = {}
        for target, value in definition.items():
            if any(isinstance(n, Func) or n in late for n in postorder((value,))):
                late.add(target)
            if _is_sincos_step(value) and not any(
                isinstance(n, Func) or n in late for n in postorder(value.args)
            ):
                targets_of_angle.setdefault(value.args[0], {})[value.name] = target
        cone: set[Symbol] = set()
        stack = symbols_in_order(targets_of_angle)
        while stack:
            symbol = stack.pop()
            if symbol in definition and symbol not in cone:
                cone.add(symbol)
                stack.extend(symbols_in_order((definition[symbol],)))
        for s in section.statements:
            if isinstance(s, AssignStatement) and s.target in cone:
                self._schedule_statement(s)
        if targets_of_angle:
            values = [self.schedule_expression(a) for a in targets_of_angle]
            angles = [
                SinCos(v.expr, f.get("sin"), f.get("cos"))
                for v, f in zip(values, targets_of_angle.values(), strict=True)
            ]
            self._taken |= {("sin", a.value): a.sine for a in angles if a.sine is not None}
            self._taken |= {("cos", a.value): a.cosine for a in angles if a.cosine is not None}
            angles.sort(key=lambda a: self._stored.get(a.value, len(self._stored)))
            for i in range(0, len(angles), TOGETHER):
                self._append_step(
                    SinCosGroup(tuple(angles[i : i + TOGETHER])),
                    FUNCTION + max(v.time for v in values),
                )
        return len(self.steps)

    # ---- expressions

    def schedule_expression(self, root: Expr) -> _TimedValue:
        """The expression, arranged."""
        arranged: dict[Expr, _Part] = {}
        for node in postorder((root,)):
            arranged[node] = self._visit_node(node, arranged)
        return self._finish(arranged[root])

    def _visit_node(self, node: Expr, arranged: dict[Expr, _Part]) -> _Part:
        if isinstance(node, Symbol):
            return _TimedValue(node, self.time.get(node, 0))
        if isinstance(node, Number):
            return _TimedValue(node, 0)
        if isinstance(node, Sum):
            return self._visit_sum(node, arranged)
        if isinstance(node, Product):
            return self._visit_product(node, arranged)
        assert isinstance(node, Func)
        args = [self._finish(arranged[a]) for a in node.args]
        time = max((a.time for a in args), default=0)
        if _is_sincos_step(node):
            return self._one_angle(node.name, self._name_value(args[0]))
        if self.options.side_by_side and node.function is None and node.name in ALIKE:
            return self._groupable_call(node.name, args[0])
        if (
            self.options.side_by_side
            and self.options.together
            and node.function is None
            and node.name == "tan"
        ):
            angle = self._name_value(args[0])
            return _PendingProduct(
                1, (self._one_angle("sin", angle),), (self._one_angle("cos", angle),)
            )
        cost = SELECT if node.function is None and FUNCTIONS[node.name].select else FUNCTION
        return _TimedValue(Func(node.name, tuple(a.expr for a in args), node.function), time + cost)

    def _one_angle(self, name: str, angle: _TimedValue) -> _TimedValue:
        """Sine or cosine of an angle that is known late; the other one comes with it."""
        if not self.options.together:
            return _TimedValue(Func(name, (angle.expr,)), angle.time + FUNCTION)
        if (name, angle.expr) not in self._taken:
            sine, cosine = (Symbol(f"z{self._fresh + i}", "intermediate") for i in (0, 1))
            self._fresh += 2
            self._append_step(
                SinCosGroup((SinCos(angle.expr, sine, cosine),)), angle.time + FUNCTION
            )
            self._taken["sin", angle.expr], self._taken["cos", angle.expr] = sine, cosine
        symbol = self._taken[name, angle.expr]
        return _TimedValue(symbol, self.time[symbol])

    def _groupable_call(self, name: str, argument: _TimedValue) -> _TimedValue:
        """A function that others may be taken together with."""
        odd = FUNCTIONS[name].odd
        sign, expr = _split_sign(argument.expr) if odd else (1, argument.expr)
        value = self._name_value(replace(argument, expr=expr))
        if (name, value.expr) not in self._taken:
            symbol = Symbol(f"z{self._fresh}", "intermediate")
            self._fresh += 1
            self._append_step(VectorizedCall(name, (value.expr,), (symbol,)), value.time + FUNCTION)
            self._taken[name, value.expr] = symbol
        target = self._taken[name, value.expr]
        return _TimedValue(target if sign > 0 else Product(-1, ((target, 1),)), self.time[target])

    def _visit_sum(self, node: Sum, arranged: dict[Expr, _Part]) -> _Part:
        signed_parts: list[tuple[int, _TimedValue | _PendingProduct]] = []
        for core, c in node.terms:
            part = arranged[core]
            if abs(c) != 1:
                part = _scale_part(c, self._finish(part) if isinstance(part, _PendingSum) else part)
            sign = 1 if abs(c) != 1 or c > 0 else -1
            if isinstance(part, _PendingSum) and self.options.balance:
                signed_parts += [(sign * s, p) for s, p in part.parts]
            else:
                signed_parts.append(
                    (sign, self._finish(part) if isinstance(part, _PendingSum) else part)
                )
        return _PendingSum(tuple(signed_parts))

    def _visit_product(self, node: Product, arranged: dict[Expr, _Part]) -> _Part:
        coefficient: Rational = node.coefficient
        top: list[_TimedValue] = []
        bottom: list[_TimedValue] = []
        for base, exponent in node.factors:
            part = arranged[base]
            if isinstance(part, _PendingProduct) and exponent == 1 and self.options.balance:
                coefficient *= part.coefficient
                top += part.top
                bottom += part.bottom
                continue
            value = self._finish(part)
            if exponent < 0 and base in self._divisors:
                top += self._power_factors(self._reciprocal(value), -exponent)
            else:
                (top if exponent > 0 else bottom).extend(
                    self._power_factors(value, exponent if exponent > 0 else -exponent)
                )
        return _PendingProduct(coefficient, tuple(top), tuple(bottom))

    def _reciprocal(self, value: _TimedValue) -> _TimedValue:
        if value.expr not in self._inverse:
            inverse = _TimedValue(Product(1, ((value.expr, -1),)), value.time + DIVIDE)
            self._inverse[value.expr] = self._name_value(inverse)
        return self._inverse[value.expr]

    def _power_factors(self, value: _TimedValue, exponent: Rational) -> list[_TimedValue]:
        """Factors whose product is value ** exponent, exponent > 0."""
        if not isinstance(exponent, int):
            integer_part, fraction = divmod(exponent, 1)
            value = self._name_value(value) if integer_part else value
            root = _TimedValue(
                Product(1, ((value.expr, fraction),)),
                value.time + (ROOT if fraction == 1 / 2 else FUNCTION),
            )
            return [root, *(self._power_factors(value, int(integer_part)) if integer_part else [])]
        if exponent == 1:
            return [value]
        value = self._name_value(value)
        factors: list[_TimedValue] = []
        while exponent > 3:
            if exponent % 2:
                factors.append(value)
            value = self._name_value(
                _TimedValue(_binary_product(1, [value, value]), value.time + MULTIPLY)
            )
            exponent //= 2
        return factors + [value] * exponent

    def _finish(self, part: _Part) -> _TimedValue:
        if isinstance(part, _TimedValue):
            return part
        return (
            self._balance_product(part)
            if isinstance(part, _PendingProduct)
            else self._balance_sum(part)
        )

    def _balance_product(self, f: _PendingProduct) -> _TimedValue:
        sign, top = _signed_factors(f)
        if not f.bottom:
            top = self._multiply_pairs(top, 2)
            if len(top) == 1:
                return _TimedValue(
                    top[0].expr if sign > 0 else Product(-1, ((top[0].expr, 1),)), top[0].time
                )
            return _TimedValue(_binary_product(sign, top), MULTIPLY + max(v.time for v in top))
        below = self._multiply_pairs(list(f.bottom), 1)[0]
        above = self._multiply_pairs(top, 1)[0] if top else _TimedValue(ONE, 0)
        late = max(above.time, below.time + DIVIDE) + MULTIPLY
        if (
            above.expr is not ONE
            and self.options.reciprocals
            and late < max(above.time, below.time) + DIVIDE
        ):
            inverse = _TimedValue(Product(1, ((below.expr, -1),)), below.time + DIVIDE)
            return _TimedValue(_binary_product(sign, [above, inverse]), late)
        factors = ((below.expr, -1),) if above.expr is ONE else ((above.expr, 1), (below.expr, -1))
        return _TimedValue(Product(sign, factors), max(above.time, below.time) + DIVIDE)

    def _multiply_pairs(self, factors: list[_TimedValue], final_count: int) -> list[_TimedValue]:
        """Multiplies until `final_count` factors are left, those that are ready first at the
        bottom."""
        if not self.options.balance:
            while len(factors) > final_count:
                a, b = factors[:2]
                factors = [
                    _TimedValue(_binary_product(1, [a, b]), max(a.time, b.time) + MULTIPLY),
                    *factors[2:],
                ]
            return factors
        heap = [(v.time, i, v) for i, v in enumerate(factors)]
        heapq.heapify(heap)
        count = len(heap)
        while len(heap) > final_count:
            (_, _, a), (_, _, b) = heapq.heappop(heap), heapq.heappop(heap)
            product = _TimedValue(_binary_product(1, [a, b]), max(a.time, b.time) + MULTIPLY)
            heapq.heappush(heap, (product.time, count, product))
            count += 1
        return [v for _, _, v in sorted(heap)]

    def _balance_sum(self, terms: _PendingSum) -> _TimedValue:
        """Adds up, what is ready first at the bottom; a product of two is left to be fused with the
        addition."""
        products: list[_Term] = []
        summands: list[_Term] = []
        for i, (sign, part) in enumerate(terms.parts):
            if isinstance(part, _PendingProduct) and not part.bottom:
                inner_sign, top = _signed_factors(part)
                top = self._multiply_pairs(top, 2)
                start = max(v.time for v in top)
                if len(top) == 2:
                    products.append(
                        (start + MULTIPLY, i, sign * inner_sign, _binary_product(1, top), start)
                    )
                else:
                    summands.append((start, i, sign * inner_sign, top[0].expr, -1))
                continue
            value = self._finish(part)
            inner_sign, expr = _split_sign(value.expr)
            summands.append((value.time, i, sign * inner_sign, expr, -1))
        if not self.options.balance:
            ordered_terms = sorted([*products, *summands], key=lambda x: x[1])
            exprs = tuple((e, s) for _, _, s, e, _ in ordered_terms)
            return _TimedValue(
                Sum(exprs), max(x[0] for x in ordered_terms) + ADD * (len(exprs) - 1)
            )
        heapq.heapify(products)
        heapq.heapify(summands)
        long, term_counts = len(terms.parts) > LONG_SUM, dict[Expr, int]()
        for order in range(len(terms.parts), 2 * len(terms.parts) - 1):
            a, b = _next_two(products, summands)
            new = _add_terms(a, b, order)
            if long:
                term_counts[new[3]] = term_counts.get(a[3], 1) + term_counts.get(b[3], 1)
                if term_counts[new[3]] >= NAMED:
                    new = (*new[:3], self._name_value(_TimedValue(new[3], new[0])).expr, new[4])
            heapq.heappush(summands, new)
        time, _, sign, expr, _ = (summands or products)[0]
        return _TimedValue(expr if sign > 0 else Product(-1, ((expr, 1),)), time)


_Term = tuple[
    int, int, int, Expr, int
]  # ready, order, sign, expression, time of the factors of a product (-1: none)


def _next_two(products: list[_Term], summands: list[_Term]) -> tuple[_Term, _Term]:
    """The terms that are added next: those that are ready first, but not two products if something
    is there soon that each of them can be fused with."""

    def pop_earliest() -> _Term:
        return heapq.heappop(
            summands if not products or (summands and summands[0] < products[0]) else products
        )

    a, b = pop_earliest(), pop_earliest()
    if a[4] >= 0 and b[4] >= 0 and summands and summands[0][0] <= b[0] + FUSION_WAIT_CYCLES:
        heapq.heappush(products, b)
        b = heapq.heappop(summands)
    return a, b


def _add_terms(a: _Term, b: _Term, order: int) -> _Term:
    """The sum of two terms. A product that comes late stands first: compilers fuse the first
    one."""
    if b[4] >= 0:
        a, b = b, a
    time = max(a[4], b[0]) + FUSED if a[4] >= 0 else max(a[0], b[0]) + ADD
    if a[2] == b[2]:
        return time, order, a[2], Sum(((a[3], 1), (b[3], 1))), -1
    if a[2] < 0 and a[4] < 0:
        a, b = b, a
    return time, order, 1, Sum(((a[3], a[2]), (b[3], b[2]))), -1


def _signed_factors(f: _PendingProduct) -> tuple[int, list[_TimedValue]]:
    sign = -1 if f.coefficient < 0 else 1
    size: Rational = sign * f.coefficient
    return sign, [*([] if size == 1 else [_TimedValue(Number(size), 0)]), *f.top]


def _scale_part(c: Rational, part: _TimedValue | _PendingProduct | _PendingSum) -> _PendingProduct:
    if isinstance(part, _PendingProduct):
        return replace(part, coefficient=part.coefficient * c)
    assert isinstance(part, _TimedValue)
    return _PendingProduct(c, (part,), ())


def _binary_product(sign: int, values: Sequence[_TimedValue]) -> Expr:
    a, b = values
    return Product(sign, ((a.expr, 2),) if a.expr is b.expr else ((a.expr, 1), (b.expr, 1)))


def _split_sign(e: Expr) -> tuple[int, Expr]:
    """A sign and what it stands before."""
    if not isinstance(e, Product) or e.coefficient > 0:
        return 1, e
    if e.coefficient == -1 and len(e.factors) == 1 and e.factors[0][1] == 1:
        return -1, e.factors[0][0]
    return -1, Product(-e.coefficient, e.factors)


def _is_sincos_step(node: Expr) -> TypeGuard[Func]:
    return isinstance(node, Func) and node.function is None and node.name in ("sin", "cos")


def _largest_number(section: Section) -> int:
    names = [t.name for s in section.statements for t in step_targets(s)]
    names += [
        s.name for s in symbols_in_order(section_expressions(section))
    ]  # some may be defined before it
    return max((int(n[1:]) for n in names if n[0] == "z" and n[1:].isdecimal()), default=0)


def _repeated_divisors(section: Section) -> set[Expr]:
    """What is divided by more than once."""
    count: dict[Expr, int] = {}
    roots = [e for s in section.statements for e in statement_expressions(s)] + list(
        section.results
    )
    for node in postorder(roots):
        if isinstance(node, Product):
            for base, exponent in node.factors:
                if exponent < 0 and isinstance(exponent, int):
                    count[base] = count.get(base, 0) - exponent
    return {base for base, n in count.items() if n > 1}
