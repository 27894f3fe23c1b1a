"""A program built from the results of a derivation: sections scheduled over the same constants, with nothing unused.

In:  `Parts`: named results as expressions over held intermediate results. Out: `Program`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bellcrank.expr import MINUS_ONE, Expr, Func, Number, Symbol, add, mul, postorder, substitute, symbols
from bellcrank.program.idle import drop_idle_parameters, parameters_of
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program
from bellcrank.program.scheduler import Scheduler
from bellcrank.program.statements import (
    NOTHING,
    Call,
    Reduce,
    Section,
    Solve,
    Statement,
    count_section,
    needed,
    statement_expressions,
    statement_targets,
)


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
    solve: tuple[Sequence[Sequence[Expr]], Sequence[Expr]] | None = None  # implicit: M, f of the unknowns in rates
    unknowns: Sequence[Symbol] = ()
    loops: Loops | None = None
    stages: Sequence[tuple[str, int]] = ()
    kept: Sequence[Call] = ()  # once per run or once per step (routine.when: "init" or "update")
    accelerations: Sequence[Expr] = ()  # symbols in outputs that stand for the rates of speeds, of models with loops
    multipliers: Sequence[tuple[Symbol, int]] = ()  # symbols in outputs that stand for the multipliers of rows of loops
    entered: Sequence[Call] = ()
    echo: Sequence[tuple[str, Expr]] = ()
    acting: bool = False  # do all parameters in the rates act, as idle ones have been dropped?
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
    kept = [[call for call in parts.kept if call.routine.when == when] for when in ("init", "update")]
    q_rates, loops = parts.rates[: len(parts.coordinates)], parts.loops
    correction = loops.correction if loops else None
    alone: dict[str, Any] = {
        "closure": _own_section(plan, loops.flat() if loops else ()),
        "sides": _own_section(plan, loops.flat_sides() if loops else ()),
        "correct_q": _own_section(plan, correction.dq if correction else ()),
        "correct_u": _own_section(plan, (*correction.du, *correction.pivots) if correction else ()),
        "system": _own_section(plan, [*q_rates, *loops.flat_system(), *loops.g, *loops.v] if loops else ()),
        "coordinate_rates": _own_section(plan, q_rates if loops else ()),
        "start": _kept(plan, kept[0]),
        "update": _kept(plan, kept[1]),
        "entry": _entry(plan, parts.entered),
        "echo": _own_section(plan, [value for _, value in parts.echo]),
    }
    everything = [*plan.statements, *(s for section in alone.values() for s in section.statements)]
    ends = [*results, *channel, *(r for section in alone.values() for r in section.results)]
    roots = (*(e for s in everything for e in statement_expressions(s)), *ends)
    constants = needed(Section((), roots), plan.constants).statements
    used = dict.fromkeys(symbols(*roots, *(e for s in constants for e in statement_expressions(s))))
    entered = [s for call in parts.entered for s in statement_targets(call)]
    parameters = [s for s in parts.parameters if s in used and s not in entered]
    inputs = [*(s for s in parts.inputs if s in used), *(s for s in used if s.kind == "rate")]
    inputs += [s for calls in kept for call in calls for s in statement_targets(call)]
    return Program(
        parts.name, (*parameters, *entered), tuple(parts.coordinates), tuple(parts.speeds), tuple(inputs),
        tuple(plan.routines), Section(constants, ()), Section(statements, results), Section(extra, channel),
        tuple(name for name, _ in parts.outputs), count_section(statements, results), tuple(parts.stages), loops,
        **alone, echo_names=tuple(name for name, _ in parts.echo),
    )  # fmt: skip


def _kept(plan: Scheduler, calls: Sequence[Call]) -> Section:
    """Calls one after another, each with what the ones before it returned; the results are all returned values."""
    own = plan.sibling([a for call in calls for a in call.arguments])
    results: list[Symbol] = []
    for call in calls:
        arguments = tuple(own.lower(a) for a in call.arguments)
        if call.routine not in own.routines:
            own.routines.append(call.routine)
        values = [own.new_symbol() for _ in call.targets]
        own.statements.append(Call(tuple(values), call.routine, arguments))
        own.stands_for(dict(zip(statement_targets(call), values, strict=True)))
        results += values
    return Section(tuple(own.statements), tuple(results))


def _entry(plan: Scheduler, calls: Sequence[Call]) -> Section:
    """Calls one after another, before there are constants: arguments are expressions of parameters as they stand."""
    own = plan.sibling([])
    known: dict[Expr, Expr] = {}
    statements: list[Statement] = []
    for call in calls:
        tables = [n.function for n in postorder(call.arguments) if isinstance(n, Func) and n.function is not None]
        own.routines += [r for r in dict.fromkeys((*tables, call.routine)) if r not in own.routines]
        values = tuple(own.new_symbol() for _ in call.targets)
        statements.append(Call(values, call.routine, tuple(substitute(a, known) for a in call.arguments)))
        known |= dict(zip(statement_targets(call), values, strict=True))
    return Section(tuple(statements), tuple(known.values()))


def _own_section(plan: Scheduler, roots: Sequence[Expr]) -> Section:
    """A function over the same constants that stands for itself."""
    if not roots:
        return NOTHING
    own = plan.sibling(roots)
    results = tuple(own.lower(r) for r in roots)
    return Section(tuple(own.statements), results)


def _reduced(plan: Scheduler, parts: Parts) -> tuple[Symbol, ...]:
    """Symbols that a plan solves for: accelerations on the null space of the constraints, and the ratio of pivots."""
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


def _without_idle(parts: Parts) -> Parts:
    """The parts without parameters that do not act."""
    matrix, right = parts.solve or ((), ())
    values = [v for _, v in parts.outputs]
    if parts.acting and not parts.solve and not parameters_of(values) - parameters_of(parts.rates):
        return parts
    clean = iter(drop_idle_parameters([*parts.rates, *(x for row in matrix for x in row), *right, *values]))
    rates = [next(clean) for _ in parts.rates]
    matrix = [[next(clean) for _ in row] for row in matrix]
    right = [next(clean) for _ in right]
    outputs = [(name, next(clean)) for name, _ in parts.outputs]
    return replace(parts, rates=rates, solve=(matrix, right) if parts.unknowns else None, outputs=outputs)
