"""A program built from the results of a derivation: sections scheduled over the same constants,
with nothing unused.

In:  `ProgramParts`: named results as expressions over held intermediate results. Out:
`SimulationProgram`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bellcrank.program.loop_equations import LoopEquations
from bellcrank.program.program import SimulationProgram
from bellcrank.program.scheduler import StatementScheduler
from bellcrank.program.statements import (
    EMPTY_SECTION,
    CallStatement,
    NullSpaceSolve,
    Section,
    SolveStatement,
    Statement,
    count_section,
    prune_section,
    statement_expressions,
    statement_targets,
)
from bellcrank.program.unused_parameters import drop_idle_parameters, parameters_of
from bellcrank.symbolic.expr import (
    MINUS_ONE,
    Expr,
    Func,
    Number,
    Symbol,
    add,
    free_symbols,
    mul,
    postorder,
    substitute,
)


@dataclass
class ProgramParts:
    """What goes into a program."""

    name: str
    parameters: Sequence[Symbol]
    coordinates: Sequence[Symbol]
    speeds: Sequence[Symbol]
    rates: Sequence[Expr]  # of coordinates, then of speeds
    outputs: Sequence[tuple[str, Expr]] = ()
    inputs: Sequence[Symbol] = ()
    solve: tuple[Sequence[Sequence[Expr]], Sequence[Expr]] | None = (
        None  # implicit: M, f of the unknowns in rates
    )
    unknowns: Sequence[Symbol] = ()
    loops: LoopEquations | None = None
    stages: Sequence[tuple[str, int]] = ()
    kept: Sequence[
        CallStatement
    ] = ()  # once per run or once per step (routine.when: "init" or "update")
    accelerations: Sequence[
        Expr
    ] = ()  # symbols in outputs that stand for the rates of speeds, of models with loops
    multipliers: Sequence[
        tuple[Symbol, int]
    ] = ()  # symbols in outputs that stand for the multipliers of rows of loops
    entered: Sequence[CallStatement] = ()
    echo: Sequence[tuple[str, Expr]] = ()
    acting: bool = False  # do all parameters in the rates act, as idle ones have been dropped?
    outputs_matter: bool = (
        False  # name what rates and outputs share, even if the rates alone use it once
    )


def build_program(model: ProgramParts) -> SimulationProgram:
    """Schedules all results of a model."""
    model = _without_idle(model)
    system = [*(x for row in model.solve[0] for x in row), *model.solve[1]] if model.solve else []
    values = [value for _, value in model.outputs]
    plan = StatementScheduler([*model.rates, *system, *(values if model.outputs_matter else ())])
    if model.solve:
        matrix = tuple(tuple(plan.lower(x) for x in row) for row in model.solve[0])
        right_side = tuple(plan.lower(x) for x in model.solve[1])
        plan.statements.append(SolveStatement(tuple(model.unknowns), matrix, right_side))
    results = tuple(plan.lower(r) for r in model.rates)
    rates_length = len(plan.statements)
    if not model.outputs_matter:
        plan.count_uses(values)
    _solve_for_outputs(plan, model, values)
    channel = tuple(plan.lower(v) for v in values)
    statements, extra = tuple(plan.statements[:rates_length]), tuple(plan.statements[rates_length:])
    sampled_calls = [
        [call for call in model.kept if call.routine.when == when] for when in ("init", "update")
    ]
    q_rates, loops = model.rates[: len(model.coordinates)], model.loops
    correction = loops.correction if loops else None
    separate_sections: dict[str, Any] = {
        "closure": _standalone_section(plan, loops.flattened() if loops else ()),
        "sides": _standalone_section(plan, loops.flat_sides() if loops else ()),
        "correct_q": _standalone_section(plan, correction.dq if correction else ()),
        "correct_u": _standalone_section(
            plan, (*correction.du, *correction.pivots) if correction else ()
        ),
        "system": _standalone_section(
            plan, [*q_rates, *loops.flat_system(), *loops.g, *loops.v] if loops else ()
        ),
        "coordinate_rates": _standalone_section(plan, q_rates if loops else ()),
        "start": _sampled_section(plan, sampled_calls[0]),
        "update": _sampled_section(plan, sampled_calls[1]),
        "entry": _parameter_section(plan, model.entered),
        "echo": _standalone_section(plan, [value for _, value in model.echo]),
    }
    everything = [
        *plan.statements,
        *(s for section in separate_sections.values() for s in section.statements),
    ]
    final_values = [
        *results,
        *channel,
        *(r for section in separate_sections.values() for r in section.results),
    ]
    roots = (*(e for s in everything for e in statement_expressions(s)), *final_values)
    constants = prune_section(Section((), roots), plan.constants).statements
    used_symbols = dict.fromkeys(
        free_symbols(*roots, *(e for s in constants for e in statement_expressions(s)))
    )
    entered = [s for call in model.entered for s in statement_targets(call)]
    parameters = [s for s in model.parameters if s in used_symbols and s not in entered]
    inputs = [
        *(s for s in model.inputs if s in used_symbols),
        *(s for s in used_symbols if s.kind == "rate"),
    ]
    inputs += [
        s for call_group in sampled_calls for call in call_group for s in statement_targets(call)
    ]
    return SimulationProgram(
        model.name,
        (*parameters, *entered),
        tuple(model.coordinates),
        tuple(model.speeds),
        tuple(inputs),
        tuple(plan.routines),
        Section(constants, ()),
        Section(statements, results),
        Section(extra, channel),
        tuple(name for name, _ in model.outputs),
        count_section(statements, results),
        tuple(model.stages),
        loops,
        **separate_sections,
        echo_names=tuple(name for name, _ in model.echo),
    )


def _sampled_section(plan: StatementScheduler, call_statements: Sequence[CallStatement]) -> Section:
    """Calls one after another, each with what the ones before it returned; the results are all
    returned values."""
    scheduler = plan.sibling([a for call in call_statements for a in call.arguments])
    results: list[Symbol] = []
    for call in call_statements:
        arguments = tuple(scheduler.lower(a) for a in call.arguments)
        if call.routine not in scheduler.routines:
            scheduler.routines.append(call.routine)
        values = [scheduler.new_symbol() for _ in call.targets]
        scheduler.statements.append(CallStatement(tuple(values), call.routine, arguments))
        scheduler.substitute(dict(zip(statement_targets(call), values, strict=True)))
        results += values
    return Section(tuple(scheduler.statements), tuple(results))


def _parameter_section(
    plan: StatementScheduler, call_statements: Sequence[CallStatement]
) -> Section:
    """Calls one after another, before there are constants: arguments are expressions of parameters
    as they stand."""
    scheduler = plan.sibling([])
    entered_values: dict[Expr, Expr] = {}
    statements: list[Statement] = []
    for call in call_statements:
        tables = [
            n.function
            for n in postorder(call.arguments)
            if isinstance(n, Func) and n.function is not None
        ]
        scheduler.routines += [
            r for r in dict.fromkeys((*tables, call.routine)) if r not in scheduler.routines
        ]
        values = tuple(scheduler.new_symbol() for _ in call.targets)
        statements.append(
            CallStatement(
                values, call.routine, tuple(substitute(a, entered_values) for a in call.arguments)
            )
        )
        entered_values |= dict(zip(statement_targets(call), values, strict=True))
    return Section(tuple(statements), tuple(entered_values.values()))


def _standalone_section(plan: StatementScheduler, roots: Sequence[Expr]) -> Section:
    """A function over the same constants that stands for itself."""
    if not roots:
        return EMPTY_SECTION
    scheduler = plan.sibling(roots)
    results = tuple(scheduler.lower(r) for r in roots)
    return Section(tuple(scheduler.statements), results)


def _reduced_system_symbols(plan: StatementScheduler, model: ProgramParts) -> tuple[Symbol, ...]:
    """Symbols that a plan solves for: accelerations on the null space of the constraints, and the
    ratio of pivots."""
    loops = model.loops
    assert loops is not None
    M = tuple(tuple(plan.lower(x) for x in row) for row in loops.M)
    f, gamma = (tuple(plan.lower(x) for x in values) for values in (loops.f, loops.gamma))
    J = tuple(tuple(plan.lower(x) for x in row) for row in loops.J)
    targets = tuple(plan.new_symbol() for _ in (*model.speeds, "ratio"))
    plan.statements.append(NullSpaceSolve(targets, M, f, J, gamma, loops.scales))
    return targets


def _solve_for_outputs(
    plan: StatementScheduler, model: ProgramParts, values: Sequence[Expr]
) -> None:
    """Accelerations and multipliers of loops, if outputs need them, as symbols of a plan."""
    output_symbols = {x for x in postorder(values) if isinstance(x, Symbol)}
    lambdas = [symbol for symbol, _ in model.multipliers]
    if model.loops is None or output_symbols.isdisjoint([*model.accelerations, *lambdas]):
        return
    plan.count_uses(model.loops.flat_system())
    plan.substitute(
        dict(zip(model.accelerations, _reduced_system_symbols(plan, model), strict=False))
    )
    if output_symbols.isdisjoint(lambdas):
        return
    matrix, right_side = _multiplier_system(
        model.loops, model.accelerations, [row for _, row in model.multipliers]
    )
    plan.count_uses([*(x for row in matrix for x in row), *right_side])
    targets = tuple(plan.new_symbol() for _ in lambdas)
    lowered = tuple(tuple(plan.lower(x) for x in row) for row in matrix)
    plan.statements.append(
        SolveStatement(targets, lowered, tuple(plan.lower(x) for x in right_side))
    )
    plan.substitute(dict(zip(lambdas, targets, strict=True)))


def _multiplier_system(
    loops: LoopEquations, accelerations: Sequence[Expr], row_indices: Sequence[int]
) -> tuple[list[list[Expr]], list[Expr]]:
    """J W J' lambda = J W (M u' - f) for some rows, W squares of the scales of speeds, rounded to
    powers of two."""
    n = range(len(loops.f))
    J = [loops.J[i] for i in row_indices]
    W = [Number(Fraction(2) ** (2 * round(math.log2(scale)))) for scale in loops.scales.columns]
    missing = [
        add(
            *(mul(loops.M[max(i, j)][min(i, j)], accelerations[j]) for j in n),
            mul(MINUS_ONE, loops.f[i]),
        )
        for i in n
    ]
    weighted = [[mul(w, x) for w, x in zip(W, row, strict=True)] for row in J]
    matrix = [[add(*map(mul, a, b)) for b in J] for a in weighted]
    return matrix, [add(*map(mul, row, missing)) for row in weighted]


def _without_idle(model: ProgramParts) -> ProgramParts:
    """The parts without parameters that do not act."""
    matrix, right_side = model.solve or ((), ())
    values = [v for _, v in model.outputs]
    if model.acting and not model.solve and not parameters_of(values) - parameters_of(model.rates):
        return model
    clean = iter(
        drop_idle_parameters(
            [*model.rates, *(x for row in matrix for x in row), *right_side, *values]
        )
    )
    rates = [next(clean) for _ in model.rates]
    matrix = [[next(clean) for _ in row] for row in matrix]
    right_side = [next(clean) for _ in right_side]
    outputs = [(name, next(clean)) for name, _ in model.outputs]
    return replace(
        model, rates=rates, solve=(matrix, right_side) if model.unknowns else None, outputs=outputs
    )
