"""From Kane's equations to a program: mass matrix, solution, interface.

In:  the steps of a derivation. Out: `HandDerived`, the same data that the derivation of a
description gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.kane.channels import hand_interface, make_channels
from bellcrank.kane.linear_solution import possible_poles
from bellcrank.kane.loop_constraints import closed_rates, program_rows, select_kane_constraints
from bellcrank.kane.steps import DerivationSteps
from bellcrank.kane.system import KaneSystem, kane_system
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.derive.matrices import Matrices
from bellcrank.mechanics.derive.pipeline import OPTIMISE, SOLVE, StageTimer
from bellcrank.mechanics.derive.results import DifferentiableResults, constraint_rows
from bellcrank.mechanics.dynamics.accelerations import MAX_DOF_FACTORIZATION
from bellcrank.mechanics.dynamics.ldl_factorization import best_order
from bellcrank.mechanics.dynamics.ldl_factorization import solve_ldl as factored
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.mechanics.kinematics.dimensions import Quantities
from bellcrank.mechanics.kinematics.results import KinematicAnalysis, OutputChannel
from bellcrank.model.mechanism import Mechanism
from bellcrank.model.records import Description
from bellcrank.program.build import ProgramParts, build_program
from bellcrank.program.operation_count import count_operations
from bellcrank.program.optimize import optimize_operations
from bellcrank.program.program import SimulationProgram
from bellcrank.program.unused_parameters import drop_idle_parameters
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, add, inline_named, mul, substitute
from bellcrank.symbolic.expr.simplify import simplify
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

FEW = 60  # intermediate results up to which equations are also tried written out


@dataclass(frozen=True)
class HandMechanism(Mechanism):
    """What later stages ask of a mechanism: the states in the order of their declaration, and what
    binds them."""

    q: tuple[Symbol, ...] = ()
    u: tuple[Symbol, ...] = ()
    bound: tuple[tuple[str, Expr], ...] = ()  # Euler parameters: text, and what is zero

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.q

    @property
    def speeds(self) -> tuple[Symbol, ...]:
        return self.u

    @property
    def normalization_constraints(self) -> list[tuple[str, Expr]]:
        return list(self.bound)


@dataclass(frozen=True)
class HandDerived(DerivedModel):
    """A hand-led derivation as data."""

    derivation: DerivationSteps
    system: KaneSystem

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(str(b) for b in self.derivation.machine.bodies)

    @property
    def interface(self) -> Interface:
        return hand_interface(self.derivation, self.program, self.analysis.outputs)

    @cached_property
    def matrices(self) -> Matrices:
        return simplify(self.system.M), simplify(self.system.f)

    @cached_property
    def results(self) -> DifferentiableResults:
        """All that may be differentiated: rates and outputs, and the unit size of Euler
        parameters."""
        s, system = self.derivation.scalars, self.system
        states = [*s.coordinates, *system.speeds]
        loops, k = self.analysis.loops, self.analysis.kinematics
        if loops is None:
            rates = _symbolic_rates(self.derivation, system)
        else:
            udot = closed_rates(
                system, loops, k, DerivationWorkspace([*s.coordinates, *system.speeds])
            )
            rates = [*system.rates, *(udot[i] for i in range(len(system.speeds)))]
        outputs = tuple(_named_outputs(system, rates, self.analysis.outputs))
        constants = tuple(sorted(s.constants, key=lambda c: c.name.lower()))
        named_rates = tuple((f"{x.name}'", rate) for x, rate in zip(states, rates, strict=True))
        return DifferentiableResults(
            named_rates, outputs, *constraint_rows(self.analysis), constants, tuple(s.inputs)
        )


def derive_hand_led(d: DerivationSteps, solve: str = "auto", level: str = "default") -> HandDerived:
    """The equations of motion of a derivation."""
    if solve not in SOLVE or solve == "order-n":
        methods_allowed = "a hand-led derivation can be solved 'auto', 'explicit' or 'implicit'"
        raise ModelError(f"solve={solve!r}: {methods_allowed}", d.name)
    if level not in OPTIMISE:
        raise ModelError(
            f"optimise={level!r} is not known; it is one of {', '.join(OPTIMISE)}", d.name
        )
    clock = StageTimer()
    with clock.stage("derive"):
        system = kane_system(d)
        implicit = solve == "implicit" or (
            solve == "auto" and len(system.speeds) > MAX_DOF_FACTORIZATION
        )
        outputs = make_channels(d, system)
        analysis = _make_analysis(d, outputs)
        if d.bound:
            if solve != "auto":
                message = (
                    f"solve={solve!r} is not available with constraints that leave all speeds "
                    f"as states; leave it out"
                )
                raise ModelError(message, d.name)
            program, method = (
                _loop_program(d, system, analysis),
                "Kane's method by hand, with constraints",
            )
        elif implicit:
            program, method = (
                _implicit_kane_program(d, system, outputs),
                "Kane's method by hand, mass matrix solved numerically",
            )
        else:
            program, method = _explicit_program(d, system, outputs, level), "Kane's method by hand"
    return HandDerived(
        analysis, Quantities(), program, method, dict(clock.seconds), solve, d, system
    )


def _make_analysis(d: DerivationSteps, outputs: list[OutputChannel]) -> KinematicAnalysis:
    """What later stages ask of an analysis: dependent speeds, and outputs."""
    s = d.scalars
    sizes = [
        (f"unit size of the Euler parameters of {frame}", add(*(mul(e, e) for e in four)) - 1)
        for frame, four in d.euler.items()
    ]
    q, u = tuple(s.coordinates), tuple(s.speeds)
    mechanism = HandMechanism(d.name, (), Description(d.name), q=q, u=u, bound=tuple(sizes))
    dependent = {
        u: e for u, e in zip(s.speeds, s.resolve(s.speeds), strict=True) if u in s.definitions
    }
    kinematics = Kinematics(mechanism, DerivationWorkspace(), dict(dependent), rates=dict(s.rates))
    removed = [d.removed[u] for u in dependent]
    result = KinematicAnalysis(
        mechanism, kinematics, {}, removed=removed, outputs=outputs, notes=_pole_notes(d, dependent)
    )
    if d.bound:
        rows = select_kane_constraints(s, d.configuration, d.unsolved, d.name)
        reason = "has no coefficient that cannot vanish in motion: all speeds stay states"
        unsolved_notes = [f"the constraint {v} = 0 {reason}" for v in d.unsolved]
        result.loops, result.notes = rows.elimination, [*result.notes, *unsolved_notes, *rows.notes]
    return result


def _loop_program(
    d: DerivationSteps, system: KaneSystem, analysis: KinematicAnalysis
) -> SimulationProgram:
    """The program of a model whose speeds all stay states."""
    loops, k, q = analysis.loops, analysis.kinematics, d.scalars.coordinates
    assert loops is not None
    udot = closed_rates(system, loops, k, DerivationWorkspace([*q, *system.speeds]))
    rates = [*system.rates, *(udot[i] for i in range(len(system.speeds)))]
    rows = program_rows(
        system, loops, k, q, analysis.mechanism.normalization_constraints, d.notes.values
    )
    values = [(o.name, o.value) for o in analysis.outputs]
    accelerations = system.accelerations
    s, short = d.scalars, optimize_operations(drop_idle_parameters(rates))
    return build_program(
        ProgramParts(
            d.name,
            s.constants,
            q,
            system.speeds,
            short,
            values,
            s.inputs,
            loops=rows,
            accelerations=accelerations,
        )
    )


def _pole_notes(d: DerivationSteps, dependent: dict[Symbol, Expr]) -> list[str]:
    """Notes on positions in which rates of coordinates, or dependent speeds, are not determined."""
    s = d.scalars
    rates = zip(s.coordinates, s.resolve(s.rates[q] for q in s.coordinates), strict=True)
    names_by_pole: dict[Expr, list[str]] = {}
    for name, value in [
        *((f"{q}'", rate) for q, rate in rates),
        *((u.name, e) for u, e in dependent.items()),
    ]:
        for pole in possible_poles([value]):
            names_by_pole.setdefault(pole, []).append(name)
    return [
        f"{', '.join(names)} cannot be found where {pole} = 0"
        for pole, names in names_by_pole.items()
    ]


def _explicit_program(
    d: DerivationSteps, system: KaneSystem, outputs: list[OutputChannel], level: str
) -> SimulationProgram:
    """The rates in symbols. Intermediate results are kept, or written out where that comes out
    cheaper."""
    ways = [_symbolic_rates(d, system)]
    if 0 < len(d.scalars.intermediate) <= FEW:
        plain = [inline_named(x) for x in (*system.f, *(x for row in system.M for x in row))]
        n = len(system.f)
        rows = [plain[n * (i + 1) : n * (i + 2)] for i in range(n)]
        ways.append(_symbolic_rates(d, replace(system, f=plain[:n], M=rows)))
    raw = [count_operations(roots).total for roots in ways]
    clean = [drop_idle_parameters(roots) for roots in ways]
    if level == "none":
        best = raw.index(min(raw))
        return _build_kane_program(
            d, system, clean[best], outputs, stages=[("formulation", raw[best])]
        )
    short = [optimize_operations(x, thorough=level == "thorough") for x in clean]
    totals = [count_operations(x).total for x in short]
    best = totals.index(min(totals))
    return _build_kane_program(
        d,
        system,
        short[best],
        outputs,
        stages=[("formulation", raw[best]), ("extraction", totals[best])],
    )


def _symbolic_rates(d: DerivationSteps, system: KaneSystem) -> list[Expr]:
    """Rates of coordinates and speeds, M factored in symbols."""
    work = DerivationWorkspace([*d.scalars.coordinates, *system.speeds])
    n = len(system.speeds)
    M = {
        (i, j): x
        for i in range(n)
        for j in range(i + 1)
        if (x := work.bind(system.M[i][j])) is not ZERO
    }
    order = best_order(M, range(n))
    names = {i: f"the speed {u}" for i, u in enumerate(system.speeds)}
    udot = factored(M, {i: work.bind(x) for i, x in enumerate(system.f)}, order, names, work)
    return [*system.rates, *(udot[i] for i in range(n))]


def _implicit_kane_program(
    d: DerivationSteps, system: KaneSystem, outputs: list[OutputChannel]
) -> SimulationProgram:
    unknowns = [Symbol(f"x{i + 1}", "intermediate") for i in range(len(system.speeds))]
    matrix = [
        [system.M[max(i, j)][min(i, j)] for j in range(len(unknowns))] for i in range(len(unknowns))
    ]
    return _build_kane_program(
        d, system, [*system.rates, *unknowns], outputs, solve=(matrix, system.f), unknowns=unknowns
    )


def _build_kane_program(
    d: DerivationSteps,
    system: KaneSystem,
    rates: list[Expr],
    outputs: list[OutputChannel],
    **options: Any,
) -> SimulationProgram:
    s, values = d.scalars, _named_outputs(system, rates, outputs)
    description = ProgramParts(
        d.name, s.constants, s.coordinates, system.speeds, rates, values, s.inputs, **options
    )
    return build_program(description)


def _named_outputs(
    system: KaneSystem, rates: list[Expr], outputs: list[OutputChannel]
) -> list[tuple[str, Expr]]:
    """Outputs by name, accelerations in them written out."""
    accelerations: dict[Expr, Expr] = dict(
        zip(system.accelerations, rates[len(system.rates) :], strict=True)
    )
    return [(o.name, substitute(o.value, accelerations)) for o in outputs]
