"""The simulation program as data: sections of straight-line statements, ready to be printed in any
language.

Constants are computed once from the parameters, everything used twice is named once, nothing unused
is there. The interpreter runs a program as it stands and is what all printers are compared against.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bellcrank.program.loop_equations import LoopEquations
from bellcrank.program.operation_count import OperationCount
from bellcrank.program.program_functions import ALWAYS, KINDS, ProgramFunction
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import (
    EMPTY_SECTION,
    AssignStatement,
    CallStatement,
    Section,
    Statement,
    count_section,
    dense_solve_count,
    prune_section,
    section_expressions,
    statement_expressions,
    statement_targets,
)
from bellcrank.symbolic.expr import Expr, Func, Symbol, free_symbols, postorder
from bellcrank.symbolic.expr.table import Table
from bellcrank.symbolic.expr.traversal import find_symbols

POSE = (
    *"xyz",
    *(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)),
)  # entries of a pose: origin, rotation by rows


@dataclass(frozen=True)
class SimulationProgram:
    """A complete model in straight-line form.

    Leaves of all expressions: `parameters`, `constants` (results of the constants section, c1, c2,
    ...), `coordinates`,
    `speeds`, `inputs` (given at run time; rates of inputs have names like dxdt(z)), time `t`, `pi`,
    and intermediates z1, z2, .... Inputs of kind "kept" are values of user functions: results of
    `start`, called once before a run, then those of `update`, called after it and at the end of
    each step. The last of `parameters` are results of
    `entry`, which uses the others alone. `derivatives` yields the rates of all coordinates, then of
    all (independent) speeds. `outputs` may use every intermediate of `derivatives`; its results are
    the extra channels in order.
    """

    name: str
    parameters: tuple[Symbol, ...]
    coordinates: tuple[Symbol, ...]
    speeds: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    routines: tuple[CallableRoutine, ...]  # externals and tables, in order of first use
    constants: Section
    derivatives: Section
    outputs: Section
    output_names: tuple[str, ...]
    count: OperationCount
    stages: tuple[tuple[str, int], ...] = ()  # operations after each pass, for the report
    loops: LoopEquations | None = None
    # places of the first of four Euler parameters that every step brings to unit size; of models
    # with loops, the correction of positions does so
    unit: tuple[int, ...] = ()
    # of closed loops; each section stands for itself
    closure: Section = EMPTY_SECTION  # g, G, v, J
    sides: Section = EMPTY_SECTION  # of directions that must point as drawn
    correct_q: Section = (
        EMPTY_SECTION  # the correction of regular positions, called once per step: dq ...
    )
    # ... then, where q has been corrected, du, and the pivots that were divided by
    correct_u: Section = EMPTY_SECTION
    # near singular configurations, and of methods with multipliers: q', M, f, J, gamma, g, v
    system: Section = EMPTY_SECTION
    coordinate_rates: Section = EMPTY_SECTION  # q' alone

    start: Section = (
        EMPTY_SECTION  # values of user functions that hold over a run; stands for itself
    )
    update: Section = (
        EMPTY_SECTION  # values of user functions that hold over a step; stands for itself
    )
    entry: Section = EMPTY_SECTION  # parameters that user functions give
    echo: Section = (
        EMPTY_SECTION  # values that user functions give to the echo of a run; stands for itself
    )
    echo_names: tuple[str, ...] = ()
    slopes: Section = (
        EMPTY_SECTION  # of rates by states, where they are asked for: those that are not zero ...
    )
    slope_places: tuple[tuple[int, int], ...] = ()  # ... the rate and the state of each ...
    sloped: tuple[int, ...] = ()  # ... and the states by which all slopes are there
    poses: Section = (
        EMPTY_SECTION  # of pictures, where they are asked for: 12 numbers for each of ...
    )
    posed: tuple[str, ...] = ()  # ... these bodies; stands for itself, ...
    marks: Section = (
        EMPTY_SECTION  # ... as do further numbers of a picture, which follow from the parameters
    )
    content: str = field(
        init=False, default="", compare=False, repr=False
    )  # what it was derived from, where kept

    @property
    def given_parameters(self) -> tuple[Symbol, ...]:
        """The parameters that are given from outside; those of user functions follow them in
        `parameters`."""
        return self.parameters[: len(self.parameters) - len(self.entry.results)]

    @cached_property
    def functions(self) -> Mapping[str, ProgramFunction]:
        """The functions of this program by name, in the order of printing; those that there are."""
        present = {name for name in KINDS if name in ALWAYS or self._needed_section(name).results}
        if self.loops is not None and self.loops.correction is not None:
            present |= {"correct_q", "correct_u"}  # also where there is nothing to be moved
        labels, kinds = (
            self._result_labels(),
            {name: kind for name, kind in KINDS.items() if name in present},
        )
        return {
            name: ProgramFunction(name, self._needed_section(name), labels[name], kind)
            for name, kind in kinds.items()
        }

    def functions_of(self, *equations: str) -> list[ProgramFunction]:
        """Those that runs with some kinds of equations of closed loops need: "minimal",
        "multipliers"."""
        return [f for f in self.functions.values() if f.kind.equations in ("", *equations)]

    def _needed_section(self, name: str) -> Section:
        section: Section = getattr(self, name)
        return prune_section(section, self.derivatives.statements) if name == "outputs" else section

    def _result_labels(self) -> dict[str, tuple[str, ...]]:
        """What the results of each function are."""
        q, u = self.coordinates, self.speeds
        q_rates, rates = ([f"{s.name}'" for s in group] for group in (q, (*q, *u)))
        sampled_names, first = (
            [s.name for s in self.inputs if s.kind == "kept"],
            len(self.start.results),
        )
        labels: dict[str, Iterable[str]] = {
            "constants": [s.name for s in self.constant_symbols],
            "derivatives": rates,
            "outputs": self.output_names,
            "start": sampled_names[:first],
            "update": sampled_names[first:],
            "entry": [s.name for s in self.parameters[len(self.given_parameters) :]],
            "echo": self.echo_names,
            "slopes": [f"{rates[i]} by {(*q, *u)[j].name}" for i, j in self.slope_places],
            "poses": [f"{body}, {entry}" for body in self.posed for entry in POSE],
            "marks": [f"number {i} of the picture" for i in range(1, len(self.marks.results) + 1)],
        }
        if self.loops is not None:
            labels["closure"] = self.loops.closure_labels(q, u)
            labels["sides"] = self.loops.side_labels(q)
            labels["system"] = [*q_rates, *self.loops.system_labels(u)]
            labels["coordinate_rates"] = q_rates
            if self.loops.correction is not None:
                correction = self.loops.correction
                labels["correct_q"] = [f"to be taken from {q[i].name}" for i in correction.q]
                prefixes = ("to be taken from", "pivot of")
                labels["correct_u"] = [
                    f"{prefix} {u[i].name}" for prefix in prefixes for i in correction.u
                ]
        return {name: tuple(x) for name, x in labels.items()}

    @property
    def given_inputs(self) -> tuple[Symbol, ...]:
        """The inputs that are given from outside; those kept from user functions follow them in
        `inputs`."""
        return tuple(s for s in self.inputs if s.kind != "kept")

    @cached_property
    def calls_by_routine(
        self,
    ) -> Mapping[CallableRoutine, list[tuple[ProgramFunction, CallStatement]]]:
        """The calls of every routine, each with the function in which it stands."""
        calls_by_routine: dict[CallableRoutine, list[tuple[ProgramFunction, CallStatement]]] = {
            r: [] for r in self.routines
        }
        for f in self.functions.values():
            for s in f.section.statements:
                if isinstance(s, CallStatement):
                    calls_by_routine.setdefault(s.routine, []).append((f, s))
        return calls_by_routine

    @cached_property
    def rate_states(self) -> tuple[int, ...]:
        """Places of the states that their rates depend on."""
        rate_symbols = set(find_symbols(section_expressions(self.derivatives)))
        return tuple(
            i for i, s in enumerate((*self.coordinates, *self.speeds)) if s in rate_symbols
        )

    @cached_property
    def table_arguments(self) -> tuple[tuple[Table, tuple[Expr, ...]], ...]:
        """Tables with their arguments, each once, as far as these do not depend on routines that
        are no tables."""
        sections = (self.constants, self.derivatives, self.outputs) if self.tables else ()
        routines = sections if self.externals else ()
        unknown = _routine_dependent_values(s for section in routines for s in section.statements)
        nodes = postorder(e for section in sections for e in section_expressions(section))
        table_calls = dict.fromkeys(
            (n.function, n.args)
            for n in nodes
            if isinstance(n, Func) and isinstance(n.function, Table)
        )
        return tuple(x for x in table_calls if unknown.isdisjoint(free_symbols(*x[1])))

    def cache_statement_facts(self) -> None:
        """Finds what follows from the statements alone, to be kept with them."""
        _ = self.calls_by_routine, self.rate_states, self.table_arguments

    @property
    def tables(self) -> list[Table]:
        """The tables among the routines."""
        return [r for r in self.routines if isinstance(r, Table)]

    @property
    def externals(self) -> list[CallableRoutine]:
        """The routines that are no tables: given from outside, or written for this program."""
        return [r for r in self.routines if not isinstance(r, Table)]

    @property
    def stateful_routine_names(self) -> list[str]:
        """Names of the routines with a memory."""
        return [r.name for r in self.routines if r.memory]

    def is_called_in_rhs(self, routine: CallableRoutine) -> bool:
        """Is a routine called for the rates of the states?"""
        return self.memory_phase(routine) == 1

    def memory_phase(self, routine: CallableRoutine) -> int:
        """When a routine may change what it remembers: 1 with rates; 2 with the rest, if rates do
        not call it."""
        return 1 if any(f.kind.phase == 1 for f, _ in self.calls_by_routine[routine]) else 2

    @property
    def per_step(self) -> OperationCount:
        """Operations done once per step in regular positions: user functions, one correction of q,
        and one of u."""
        total = count_section(self.update.statements, self.update.results)
        if self.loops is None:
            return total
        if self.loops.correction is not None:
            return total + _correction_count(
                self.correct_q, self.correct_u, len(self.loops.correction.pivots)
            )
        total = total + count_section(self.closure.statements, self.closure.results)
        for rows, columns in (
            (len(self.loops.g), len(self.coordinates)),
            (len(self.loops.v), len(self.speeds)),
        ):
            products = rows * (rows + 1) // 2 * columns + rows * columns
            total = (
                total
                + OperationCount(products, products, 0, 0, products, 0)
                + dense_solve_count(rows)
            )
        return total

    @property
    def constant_symbols(self) -> tuple[Symbol, ...]:
        return tuple(s.target for s in self.constants.statements if isinstance(s, AssignStatement))


def _routine_dependent_values(statements: Iterable[Statement]) -> set[Expr]:
    """What depends on routines that are no tables."""
    dependent: set[Expr] = set()
    for s in statements:
        is_user_call = isinstance(s, CallStatement) and not isinstance(s.routine, Table)
        if is_user_call or (
            dependent and not dependent.isdisjoint(find_symbols(statement_expressions(s)))
        ):
            dependent.update(statement_targets(s))
    return dependent


def _correction_count(correct_q: Section, correct_u: Section, pivots: int) -> OperationCount:
    """Operations of a correction: the sections, a subtraction for each value, and a look at each
    pivot."""
    corrected_count = len(correct_q.results) + len(correct_u.results) - pivots
    total = OperationCount(
        add=corrected_count, multiply=pivots, muldiv_classic=pivots, function=2 * pivots
    )
    for section in (correct_q, correct_u):
        total = total + count_section(section.statements, section.results)
    return total
