"""Constraints of closed loops in numbers, with default values, before the equations are derived.

Positions in which they hold are found by assembling the model and walking along the constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import BellcrankError
from bellcrank.core.numeric.loop_constraints import AssemblyError, LoopConstraints
from bellcrank.core.numeric.ranks import is_regular, rank_of
from bellcrank.core.numeric.run_spec import ProgramInput
from bellcrank.mechanics.interface.interface import Interface, make_interface
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.mechanics.kinematics.constraint_rows import ConstraintRow
from bellcrank.mechanics.kinematics.dimensions import Quantities
from bellcrank.mechanics.kinematics.numeric_rank import usual_sizes
from bellcrank.model.guess import StateGuess
from bellcrank.program.build import ProgramParts, build_program
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import CallStatement
from bellcrank.simulation.backend.protocol import ProgramCalls
from bellcrank.simulation.backend.python_model import PythonModel
from bellcrank.simulation.run.argument_checks import symbol_values
from bellcrank.simulation.run.gimbal import move_off_gimbal_lock
from bellcrank.simulation.run.loop_closure import make_loop_constraints
from bellcrank.simulation.run.signal_inputs import to_signal
from bellcrank.symbolic.expr import Expr, evaluate
from bellcrank.symbolic.expr.table import Table

WALKS, PACES, PACE = 8, 10, 0.1
TRIED = 20  # starts, in search of one that is not singular
SOON = 0.01  # s, after which rows that change with time must still agree
Failure = (BellcrankError, ArithmeticError, ValueError, np.linalg.LinAlgError)


def _callable_or_zero(routine: CallableRoutine, is_required: bool) -> Callable[..., Any] | None:
    """A routine as it can be called here; one that is not given in Python stands for 0 unless
    constraints need it."""
    if isinstance(routine, Table):
        return routine.value
    if routine.python is not None or is_required:
        return routine.python
    count = len(routine.returns)
    return lambda *arguments: (0.0,) * count if count > 1 else 0.0


@dataclass(frozen=True)
class LoopConfiguration:
    """The constraints in numbers, and where to start."""

    loop_constraints: LoopConstraints
    model: ProgramCalls
    p: list[float]
    w: list[float]
    q: np.ndarray
    fixed_mask: np.ndarray  # which coordinates have initial values

    @classmethod
    def from_analysis(
        cls,
        analysis: KinematicAnalysis,
        loops: LoopEquations,
        rates: Sequence[Expr],
        quantities: Quantities,
    ) -> LoopConfiguration | None:
        mechanism = analysis.mechanism
        parameters, inputs = analysis.parameter_symbols, analysis.input_symbols
        entered = [CallStatement(k.symbols, k.routine, k.arguments) for k in analysis.entered]
        states = mechanism.coordinates, mechanism.speeds
        program_parts = ProgramParts(
            mechanism.name, parameters, *states, rates, (), inputs, loops=loops, entered=entered
        )
        program = build_program(program_parts)
        required_routines = {
            s.routine
            for s in (*program.closure.statements, *program.entry.statements)
            if isinstance(s, CallStatement)
        }
        routines = [_callable_or_zero(r, r in required_routines) for r in program.routines]
        interface = make_interface(analysis, quantities, program)
        if None in routines or any(x.default is None for x in interface.parameters):
            return None
        try:
            p = [float(x.unit.to_equation_units(x.default)) for x in interface.parameters]
            model = PythonModel(program, routines).new_calls()
            p += model.values(
                "entry", 0.0, (), (), [*p, *(0.0 for _ in program.entry.results)], (), ()
            )
            w, q, fixed_mask = _default_start(interface)
            return cls._from_model(
                model, p, w, move_off_gimbal_lock(mechanism, q, ~fixed_mask), fixed_mask
            )
        except Failure:
            return None

    @classmethod
    def _from_model(
        cls,
        model: ProgramCalls,
        p: list[float],
        w: list[float],
        q: np.ndarray,
        fixed_mask: np.ndarray,
    ) -> LoopConfiguration:
        signals = [ProgramInput(lambda t, x=x: x) for x in w]  # type: ignore[misc]
        closure = make_loop_constraints(model, p, signals)
        assert closure is not None
        return cls(closure, model, p, w, q, fixed_mask)

    def initial_rank(self) -> int:
        """Rank of J at the assembled start."""
        return rank_of(
            self.loop_constraints.evaluate(
                0.0, self._assemble_start(), np.zeros(self.loop_constraints.n_u)
            )[3]
        )

    def regular_positions(self, speeds: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """G and J of positions with a degree of freedom, all of one rank, about a start that is
        drawn; none if no such start is found."""
        random = np.random.default_rng(3)
        for attempt in range(TRIED):
            fixed_mask = self.fixed_mask if attempt < TRIED // 2 else np.zeros_like(self.fixed_mask)
            q = np.where(fixed_mask, self.q, self.q + random.uniform(-1.0, 1.0, len(self.q)))
            fixed = fixed_mask.copy()
            if (
                attempt % 2 and not fixed.all()
            ):  # Newton's method alone is drawn back to the singular configuration
                fixed[random.choice(np.flatnonzero(~fixed))] = True
            jacobians = [
                (G, J) for G, J in self.constraint_jacobians(q, fixed) if is_regular(J, rank_of(J))
            ]
            ranks = {rank_of(J) for _, J in jacobians}
            if len(jacobians) > 1 and len(ranks) == 1 and max(ranks) < speeds:
                return jacobians
        return []

    def constraint_jacobians(
        self, guess: np.ndarray | None = None, fixed_mask: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield G and J at the assembled start and along walks from there.

        The start is the given one, or the assembly near `guess` with the coordinates of
        `fixed_mask` held.
        """
        random = np.random.default_rng(1)
        try:
            start = self._assemble_start() if guess is None else self._close(guess, fixed_mask)
            _, G, _, J = self.loop_constraints.evaluate(
                0.0, start, np.zeros(self.loop_constraints.n_u)
            )
        except (*Failure, AssemblyError):
            return
        yield G, J
        walks = WALKS if self.loop_constraints.n_u < 20 else 2
        for _ in range(walks):
            q = start
            for _ in range(PACES):
                try:
                    q = self._random_step(q, random)
                    _, G, _, J = self.loop_constraints.evaluate(
                        0.0, q, np.zeros(self.loop_constraints.n_u)
                    )
                except (*Failure, AssemblyError):
                    break
            else:
                yield G, J

    def is_consistent(self) -> bool:
        """Can all rows hold at once, in position and speed, at the start and soon after?"""
        q, free = self._assemble_start(), np.ones(self.loop_constraints.n_q, dtype=bool)
        u = np.zeros(self.loop_constraints.n_u)
        try:
            for t in (0.0, SOON):
                q, _ = self.loop_constraints.assemble(t, q, u, free, np.ones_like(u, dtype=bool))
        except (*Failure, AssemblyError):
            return False
        return True

    def closure_failure(self) -> str:
        """Why there is no start; "" if that is not known."""
        try:
            self._assemble_start()
        except AssemblyError as error:
            return str(error)
        except Failure:
            return ""
        return ""

    def typical_sizes(
        self, rows: Sequence[ConstraintRow], kinematics: Kinematics
    ) -> tuple[np.ndarray, float]:
        """Sizes that slopes of rows of their kinds have, and a length of the machine."""
        values_by_symbol = symbol_values(
            self.model.program, 0.0, self.q, np.zeros(self.loop_constraints.n_u), self.p, self.w
        )
        try:
            return usual_sizes(rows, kinematics, lambda roots: evaluate(roots, values_by_symbol))
        except Failure:
            return np.zeros(len(rows)), 1.0

    def _assemble_start(self) -> np.ndarray:
        """The start, with what is given kept if it can be."""
        try:
            return self.loop_constraints.assemble_position(
                0.0, self.q, np.zeros(self.loop_constraints.n_u), ~self.fixed_mask
            )
        except AssemblyError:
            return self._close(self.q)

    def _close(self, q: np.ndarray, fixed_mask: np.ndarray | None = None) -> np.ndarray:
        free = np.ones(self.loop_constraints.n_q, dtype=bool) if fixed_mask is None else ~fixed_mask
        return self.loop_constraints.assemble_position(
            0.0, q, np.zeros(self.loop_constraints.n_u), free
        )

    def _random_step(self, q: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """A step along the constraints in a random direction."""
        u = np.zeros(self.loop_constraints.n_u)
        _, _, _, J = self.loop_constraints.evaluate(0.0, q, u)
        _, values, V = np.linalg.svd(J)
        free = V[np.sum(values > 1e-6 * values[0]) :]
        direction = random.standard_normal(len(free)) @ free
        direction *= PACE / max(float(np.abs(direction).max()), 1e-12)
        c = self.model.constants(self.p)
        qdot = self.model.derivatives(0.0, q.tolist(), direction.tolist(), self.p, c, self.w)[0]
        rates_at_rest = self.model.derivatives(0.0, q.tolist(), u.tolist(), self.p, c, self.w)[0]
        return self._close(q + np.array(qdot) - np.array(rates_at_rest))

    def local_redundancy_note(self, rank: int) -> str:
        """A remark where a redundancy is lost with slightly other dimensions."""
        random = np.random.default_rng(2)
        p = [x * (1 + 1e-3 * random.standard_normal()) for x in self.p]
        perturbed = LoopConfiguration._from_model(self.model, p, self.w, self.q, self.fixed_mask)
        jacobians = list(perturbed.constraint_jacobians())
        if jacobians and max(rank_of(J) for _, J in jacobians) == rank:
            return ""
        return (
            "; so only for these dimensions: with slightly other ones they bind more, or cannot "
            "be closed"
        )


def _default_start(interface: Interface) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Inputs at t = 0, zero where none is given; coordinates at the start, and which are given; in
    equation units."""
    inputs = interface.inputs_by_key()
    w = [
        float(to_signal(inputs[x.key], x.name)(0.0)) * x.unit.factor
        if x.key in inputs and not x.rate
        else 0.0
        for x in interface.inputs
    ]
    q = np.array([x.unit.to_equation_units(x.default) for x in interface.coordinates])
    fixed_mask = np.zeros(len(q), dtype=bool)
    for key, value in interface.run.initial.items():
        if x := interface.find_or_none(key, ("coordinate",)):
            q[x.index], fixed_mask[x.index] = (
                x.unit.to_equation_units(float(value)),
                not isinstance(value, StateGuess),
            )
    return w, q, fixed_mask
