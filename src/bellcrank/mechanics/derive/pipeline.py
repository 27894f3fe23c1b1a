"""The whole path on one page: description -> mechanism -> analysis -> derivation -> program.

Each step is timed, so that one can see where a derivation spends its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from bellcrank.choices import Optimise, Solve, choice_values
from bellcrank.core.errors import ModelError, did_you_mean, issue_warning
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.derive.loop_choice import FindPlace
from bellcrank.mechanics.derive.loop_equations import program_loops
from bellcrank.mechanics.derive.small_terms import lacks_terms
from bellcrank.mechanics.dynamics.accelerations import (
    PASSES,
    AccelerationDerivation,
    candidate_derivations,
    reduced_system,
    require_freedom,
)
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis, analyse
from bellcrank.mechanics.kinematics.dimensions import infer_quantities
from bellcrank.mechanics.kinematics.idle_loads import idle_loads, motor_notes
from bellcrank.mechanics.kinematics.results import ConstraintForm
from bellcrank.mechanics.kinematics.switching_loads import dry_friction
from bellcrank.model.build_mechanism import build_mechanism
from bellcrank.model.records import Description
from bellcrank.program.build import ProgramParts, build_program
from bellcrank.program.common_subexpressions import network_cost
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.program.operation_count import count_operations
from bellcrank.program.optimize import first_extraction, optimize_known_count
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import CallStatement
from bellcrank.program.unused_parameters import drop_idle_parameters
from bellcrank.symbolic.expr import (
    ZERO,
    Expr,
    NamedSubexpression,
    Symbol,
    free_symbols,
    rewrite_nodes,
    small_threshold,
)
from bellcrank.symbolic.expr.collection import no_collection

MOST_TERMS = (
    3  # orders that are kept past the threshold where leading terms of small variables cancel
)
SOLVE = choice_values(Solve)
OPTIMISE = choice_values(Optimise)


class StageTimer:
    """Seconds spent per stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def derive_model(
    description: Description,
    assemble: FindPlace,
    solve: str,
    small: bool,
    level: str,
    without: Collection[str] = (),
    form: ConstraintForm = ConstraintForm.AUTO,
) -> DerivedModel:
    """Equations of motion of a description, without some passes; `form`: what becomes of speed
    constraints. `assemble` evaluates closed loops in numbers, where the choice of dependent speeds
    needs that."""
    if solve not in SOLVE:
        raise ModelError(
            f"solve={solve!r} is not known; it is one of {', '.join(SOLVE)}", description.name
        )
    if level not in OPTIMISE:
        raise ModelError(
            f"optimise={level!r} is not known; it is one of {', '.join(OPTIMISE)}", description.name
        )
    for name in map(str, without):
        if name not in PASSES:
            pass_names = ", ".join(PASSES)
            raise ModelError(
                f"without={name!r} is not a pass.{did_you_mean(name, PASSES)} Passes: "
                f"{pass_names}.",
                description.name,
            )
    derived = partial(_derive_with_orders, description, assemble)
    derived_model = derived(solve, small, level, without, form)
    loads_in_doubt = dry_friction(derived_model.analysis.loads)
    loads_in_doubt += idle_loads(derived_model.analysis)
    derived_model.analysis.notes += [*loads_in_doubt, *motor_notes(derived_model.analysis)]
    for sentence in loads_in_doubt:
        issue_warning(f"model '{description.name}': {sentence}")
    if (
        derived_model.analysis.loose
        and derived_model.analysis.loops
        and derived_model.independent_speeds
    ):
        derived_model.analysis.notes += _elimination_notes(
            derived_model, partial(derived, "auto", small, level, without)
        )
    orders, threshold = derived_model.analysis.mechanism.orders, description.small_threshold
    if not orders or derived_model.analysis.loops is not None:
        return derived_model
    for extra_orders in range(MOST_TERMS):
        reference = derived(solve, small, "none", without, form, extra_orders + 2)
        if not lacks_terms(derived_model.program, reference.program, orders, threshold):
            break
        derived_model = derived(solve, small, level, without, form, extra_orders + 1)
        note = (
            f"terms of small order up to {threshold + extra_orders} were kept, since leading "
            f"ones cancel"
        )
        derived_model.analysis.notes.append(note)
    return derived_model


def _elimination_notes(
    derived_model: DerivedModel, derived: Callable[[ConstraintForm], DerivedModel]
) -> list[str]:
    """Notes on speed constraints that were not solved for one speed each, with what that costs;
    `derived`: the same model in another form."""
    loose, speeds = derived_model.analysis.loose, len(derived_model.analysis.mechanism.speeds)
    notes = [
        f"the constraint {r.quoted_name} has no coefficient that cannot vanish in motion "
        f"(that of {r.speed} is "
        f"{r.pivot})"
        for r in loose
    ]
    try:
        eliminated = derived(ConstraintForm.ELIMINATE).program
    except ModelError:  # degrees of freedom without mass, once speeds are removed
        cost = ""
    else:
        ours, theirs = (
            p.count.as_dict(p.per_step)["total"] for p in (derived_model.program, eliminated)
        )
        cost = f", at {ours} operations instead of {theirs}"
    form = f"all {speeds} speeds stay states and the dependent ones are chosen at run time{cost}"
    return [*notes, f"{form}; constraints='eliminate' removes them all the same"]


def _derive_with_orders(
    description: Description,
    assemble: FindPlace,
    solve: str,
    small: bool,
    level: str,
    without: Collection[str],
    form: ConstraintForm,
    extra_orders: int = 0,
) -> DerivedModel:
    """The derivation with small terms of so many orders more than the threshold asks for."""
    clock = StageTimer()
    with small_threshold(description.small_threshold + extra_orders), no_collection():
        with clock.stage("analyse"):
            mechanism, checker = build_mechanism(description, small, extra_orders)
            analysis = analyse(mechanism, checker, form)
            require_freedom(analysis)
        with clock.stage("units"):
            quantities, problems = infer_quantities(analysis)
            if problems:
                raise ModelError(problems, description.name)
        loops = None
        if analysis.loops is not None:
            with clock.stage("loops"):
                loops = program_loops(analysis, quantities, assemble)
        with clock.stage("derive"):
            try:
                program, method = _choose_program(analysis, loops, solve, level, frozenset(without))
            except ModelError as error:
                raise ModelError(error.problems, description.name) from None
    return DerivedModel(analysis, quantities, program, method, dict(clock.seconds), solve)


def _choose_program(
    analysis: KinematicAnalysis,
    loops: LoopEquations | None,
    solve: str,
    level: str,
    without: frozenset[str],
) -> tuple[SimulationProgram, str]:
    coordinates = list(analysis.mechanism.coordinates)
    q_rates = [analysis.kinematics.rates[q] for q in coordinates]
    if solve != "auto" and analysis.loose and loops:
        rows = ", ".join(r.quoted_name for r in analysis.loose)
        cause = (
            f"solve={solve!r} needs the constraints solved for one speed each, and {rows} "
            f"cannot be in every motion"
        )
        raise ModelError(
            f"{cause}: leave solve at 'auto', or accept that with constraints='eliminate'"
        )
    if solve != "auto" and loops:
        raise ModelError(
            f"solve={solve!r} is not available for models with closed loops yet; leave it at 'auto'"
        )
    if solve == "implicit":
        return _implicit_program(analysis, q_rates), "implicit: mass matrix solved numerically"
    thorough = level == "thorough"
    derived_ways = list(candidate_derivations(analysis, solve, without, thorough))
    root_lists = [_derivative_roots(analysis, q_rates, w) for w in derived_ways]
    raw = [count_operations(roots).total for roots in root_lists]
    order = sorted(range(len(derived_ways)), key=lambda i: (raw[i], i))
    best = order[0]
    if level == "none" or "extract" in without:
        roots = drop_idle_parameters(root_lists[best])
        stages = [("formulation", raw[best])]
        return _build_program(
            analysis, roots, loops=loops, acting=True, stages=stages
        ), derived_ways[best].method_label
    margin, max_candidates = (1.1, 8) if thorough else (1.02, 2)
    candidates = [i for i in order if raw[i] <= margin * raw[best]][:max_candidates]
    clean = {i: drop_idle_parameters(root_lists[i]) for i in candidates}
    extracted = {i: first_extraction(clean[i], thorough) for i in candidates}
    best = min(candidates, key=lambda i: network_cost(extracted[i]))
    is_unchanged = clean[best] == root_lists[best]
    operations = raw[best] if is_unchanged else count_operations(clean[best]).total
    roots, total = optimize_known_count(clean[best], operations, extracted[best], thorough)
    stages = [("formulation", raw[best]), ("extraction", total)]
    return _build_program(analysis, roots, loops=loops, acting=True, stages=stages), derived_ways[
        best
    ].method_label


def _derivative_roots(
    analysis: KinematicAnalysis, q_rates: list[Expr], way: AccelerationDerivation
) -> list[Expr]:
    index = {u: i for i, u in enumerate(analysis.mechanism.speeds)}
    return [*q_rates, *(way.udot[index[u]] for u in analysis.state_speeds)]


def _build_program(
    analysis: KinematicAnalysis,
    rates: list[Expr],
    loops: LoopEquations | None = None,
    solve: tuple[Sequence[Sequence[Expr]], Sequence[Expr]] | None = None,
    unknowns: Sequence[Symbol] = (),
    stages: Sequence[tuple[str, int]] = (),
    acting: bool = False,
) -> SimulationProgram:
    """The program with its outputs. Accelerations in them are the rates just derived; with loops,
    the program solves for them and for multipliers once more in numbers, so that outputs hold where
    a pivot of the elimination vanishes."""
    speeds = analysis.state_speeds
    accelerations = [analysis.kinematics.symbol_derivative(u) for u in speeds]
    substitutions: dict[Expr, Expr] = {}
    if loops is None:
        substitutions.update(
            zip(accelerations, rates[len(analysis.mechanism.coordinates) :], strict=True)
        )
    multipliers = _multiplier_symbols(analysis)
    substitutions.update((value, symbol) for symbol, value, _ in multipliers)
    values = rewrite_nodes([o.value for o in analysis.outputs], substitutions.get)
    outputs = [(o.name, value) for o, value in zip(analysis.outputs, values, strict=True)]
    sampled, entered = (
        [CallStatement(k.symbols, k.routine, k.arguments) for k in call_group]
        for call_group in (analysis.kept, analysis.entered)
    )
    a, rows = analysis, [(symbol, row) for symbol, _, row in multipliers]
    program = build_program(
        ProgramParts(
            a.mechanism.name,
            a.parameter_symbols,
            a.mechanism.coordinates,
            speeds,
            rates,
            outputs,
            a.input_symbols,
            solve,
            unknowns,
            loops,
            stages,
            sampled,
            accelerations,
            rows,
            entered,
            [(o.name, o.value) for o in a.echo],
            acting,
        )
    )
    for routine in program.routines:
        if routine.when == "output" and program.is_called_in_rhs(routine):
            raise ModelError(
                f"external '{routine.name}' is called for outputs only (when='output'),"
                " but the equations of motion use it"
            )
    if loops is not None:
        return program
    index_of_coordinate = {q: i for i, q in enumerate(program.coordinates)}
    return replace(
        program,
        unit=tuple(
            min(index_of_coordinate[e] for e in free_symbols(norm))
            for _, norm in a.mechanism.normalization_constraints
        ),
    )


def _multiplier_symbols(analysis: KinematicAnalysis) -> list[tuple[Symbol, Expr, int]]:
    """Symbols for the multipliers in reactions of loops, what they stand for, and their rows."""
    if analysis.loops is None or not all(
        isinstance(value, NamedSubexpression) for value in analysis.multipliers
    ):
        return []
    row_indices = [
        next(i for i, row in enumerate(analysis.loops.rows) if row is r)
        for r in analysis.loops.used_rows
    ]
    pairs = zip(analysis.multipliers, row_indices, strict=bool(analysis.multipliers))
    return [(Symbol(f"lambda {row + 1}", "multiplier"), value, row) for value, row in pairs]


def _implicit_program(analysis: KinematicAnalysis, q_rates: list[Expr]) -> SimulationProgram:
    system = reduced_system(analysis)
    index = system.index
    unknowns = [Symbol(f"x{n + 1}", "intermediate") for n in range(len(index))]
    matrix = [[system.M.get((max(i, j), min(i, j)), ZERO) for j in index] for i in index]
    right_side = [system.f[i] for i in index]
    return _build_program(
        analysis, [*q_rates, *unknowns], solve=(matrix, right_side), unknowns=unknowns
    )
