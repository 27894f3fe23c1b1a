"""Loaded: a model that can be evaluated, and the context of one run or one evaluation.

In:  a program with its interface, the analysed model it came from, and what a user gives in place
of user functions. Out: `LoadedModel`, which never changes, so that any number of threads may use
it. What a run or an evaluation changes is in a `EvaluationContext` of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bellcrank.choices import Backend, choice_values
from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.run_spec import ProgramInput
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.c import c_model
from bellcrank.simulation.backend.compiler import NO_COMPILER, SPEEDS, find_compiler
from bellcrank.simulation.backend.external import (
    StatefulFunction,
    resolve_functions,
    with_own_memory,
)
from bellcrank.simulation.backend.protocol import BoundRhsProtocol, ExecutableModel, ProgramCalls
from bellcrank.simulation.backend.python_model import PythonModel
from bellcrank.simulation.run.argument_checks import check_inertias, inertia_notes, program_inputs
from bellcrank.simulation.run.argument_checks import parameter_values as given_parameters
from bellcrank.simulation.run.initial_state_cache import InitialStateCache
from bellcrank.simulation.run.rigid_layout import rigid_wheel_layouts
from bellcrank.simulation.run.table_range import TableRangeCheck

BACKENDS = choice_values(Backend)


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A program ready to be called. `functions`: of all user functions and tables; None for those
    in C alone."""

    analysis: KinematicAnalysis
    interface: Interface
    program: SimulationProgram
    model: ExecutableModel
    functions: tuple[Callable[..., Any] | None, ...]

    @property
    def name(self) -> str:
        return self.interface.model

    @cached_property
    def n_q(self) -> int:
        return len(self.program.coordinates)

    @cached_property
    def n_states(self) -> int:
        return self.n_q + len(self.program.speeds)

    @cached_property
    def rate_state_indices(self) -> np.ndarray:
        """Places of the states that their rates depend on."""
        return np.array(self.program.rate_states, dtype=int)

    @property
    def stateful_routine_names(self) -> list[str]:
        """User functions with a memory."""
        return self.program.stateful_routine_names

    @cached_property
    def python_model(self) -> ExecutableModel:
        """The program in Python, for what is evaluated there whatever the backend: start and
        loops."""
        return (
            self.model if self.model.name == "python" else PythonModel(self.program, self.functions)
        )

    @cached_property
    def stiff_model(self) -> ExecutableModel:
        """The program with slopes, and where it is compiled with runs by stiff methods, made when
        it is asked for."""
        from bellcrank.program.derivatives import with_rhs_jacobian

        program = with_rhs_jacobian(self.program)
        added_routines = program.routines[len(self.program.routines) :]
        return self.model.with_stiff_methods(
            program, (*self.model.functions, *(r.python for r in added_routines))
        )

    @cached_property
    def vectorized_programs(self) -> dict[tuple[object, ...], Any]:
        """The program for many runs at once, in lanes or on a GPU, by what it is for, as far as it
        was asked for."""
        return {}

    @cached_property
    def dae_model(self) -> ExecutableModel | None:
        """The program with runs by methods for differential-algebraic equations; None where Python
        drives them."""
        return self.model.with_dae_methods()

    @cached_property
    def initial_state_cache(self) -> InitialStateCache:
        """How runs with closed loops began."""
        return InitialStateCache(bool(self.program.externals))

    @cached_property
    def table_range_check(self) -> TableRangeCheck:
        """What the tables of the program are asked at."""
        return TableRangeCheck(self.program)

    def new_context(self) -> EvaluationContext:
        """What one run or one evaluation changes."""
        return EvaluationContext(self)

    # ---- values in equation units

    def parameter_values(self, overrides: Mapping[str, float | str] | None = None) -> list[float]:
        """Return all parameters; `overrides` (user units) replace defaults. The list is not to be
        changed."""
        p = (
            self._default_parameters
            if overrides is None
            else given_parameters(self.interface, overrides)
        )
        if not self.interface.function_parameters:
            return p
        zeros = [0.0 for _ in self.interface.function_parameters]
        return [*p, *self.model.new_calls().values("entry", 0.0, (), (), [*p, *zeros], (), ())]

    @cached_property
    def _default_parameters(self) -> list[float]:
        return given_parameters(self.interface)

    @cached_property
    def _default_inputs(self) -> list[ProgramInput]:
        return program_inputs(self.interface, None)

    def constants(self, p: list[float]) -> list[float]:
        """What follows from parameters alone."""
        return self._cached_constants(tuple(p))

    @cached_property
    def _cached_constants(self) -> Callable[[tuple[float, ...]], list[float]]:
        return lru_cache(maxsize=8)(self._compute_constants)

    def _compute_constants(self, p: tuple[float, ...]) -> list[float]:
        check_inertias(self.analysis.mechanism.bodies, self.interface, p)
        try:
            constants = self.model.new_calls().constants(list(p))
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            constants, reason = [], str(error)
        else:
            reason = "" if np.all(np.isfinite(constants)) else "a result is not finite"
        if reason:
            problem = (
                f"the constants of the model cannot be computed with these parameters ({reason})"
            )
            zero = [
                f"'{x.name}'"
                for x, value in zip(self.interface.parameters, p, strict=False)
                if value == 0
            ]
            hint = (
                f"zero are {', '.join(zero)}; may one of them not be zero?"
                if zero
                else "is a value too large?"
            )
            raise ModelError(f"{problem}: {hint}", self.name)
        return constants

    def inputs(
        self, values: Mapping[str, Any] | None, span: tuple[float, float] | None = None
    ) -> list[ProgramInput]:
        """Every input over time; those that are sampled must cover a run over a span of time."""
        if values is None and (span is None or all(i.points is None for i in self._default_inputs)):
            return self._default_inputs
        return program_inputs(self.interface, values, span)

    def bound_rhs(
        self, parameters: Mapping[str, float | str] | None, inputs: Mapping[str, Any] | None
    ) -> BoundRhsProtocol | None:
        """Rates by one call with these parameters and inputs (user units); None where Python
        evaluates them."""
        if parameters is None and inputs is None:
            return self._default_bound_rhs
        p = tuple(self.parameter_values(parameters))
        return self._cached_bound_rhs(p) if inputs is None else self._make_bound_rhs(p, inputs)

    def bound_rhs_in(
        self,
        context: EvaluationContext,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
    ) -> BoundRhsProtocol | None:
        """Rates by one call in a context (equation units): those that all share, if values are the
        usual ones."""
        cached = vars(self)  # a model without a default has no usual values
        is_default = p is cached.get("_default_parameters") and inputs is cached.get(
            "_default_inputs"
        )
        if is_default and not self.interface.sampled_inputs and not self.stateful_routine_names:
            return self._default_bound_rhs
        return self.model.bind_rhs(context.model, p, c, inputs)

    @cached_property
    def _default_bound_rhs(self) -> BoundRhsProtocol | None:
        return self._make_bound_rhs(tuple(self.parameter_values()))

    @cached_property
    def _cached_bound_rhs(self) -> Callable[[tuple[float, ...]], BoundRhsProtocol | None]:
        return lru_cache(maxsize=8)(self._make_bound_rhs)

    def _make_bound_rhs(
        self, p: tuple[float, ...], inputs: Mapping[str, Any] | None = None
    ) -> BoundRhsProtocol | None:
        return self.model.bind_rhs(
            self.new_context().model, p, self._cached_constants(p), self.inputs(inputs)
        )

    def notes(self) -> list[str]:
        """How the model runs, in messages."""
        if self.model.name != "python":
            notes = self.model.notes()
        else:
            from bellcrank.simulation.backend.wasm import wasm_obstacle

            lacking = f"{NO_COMPILER}; WebAssembly {wasm_obstacle()}"
            notes = [f"runs in Python{f': {lacking}' if find_compiler() is None else ''}"]
        if self.stateful_routine_names:
            message = (
                f"what {', '.join(self.stateful_routine_names)} remembers changes once per "
                f"accepted step"
            )
            notes.append(f"{message}; with method='rk2' at the middle of a step too, as in AUTOSIM")
        return [*notes, *inertia_notes(self.analysis.mechanism.bodies, self.interface)]


def load_model(
    analysis: KinematicAnalysis,
    interface: Interface,
    program: SimulationProgram,
    backend: str,
    external: Mapping[str, Any],
    speed: str = "auto",
) -> LoadedModel:
    """The program loaded. `backend`: "c" compiles, "wasm" runs it by wasmtime, "python" in Python;
    "auto" takes the first of these that can be had."""
    for name, value, choices in (("backend", backend, BACKENDS), ("speed", speed, SPEEDS)):
        if value not in choices:
            choice_names = ", ".join(repr(b) for b in choices)
            raise ModelError(
                f"{name}={value!r} is not known; it is one of {choice_names}", interface.model
            )
    description = analysis.mechanism.description
    functions = resolve_functions(program, description.externals, external, interface.model)
    only_c = [f"'{r.name}'" for r, f in zip(program.routines, functions, strict=True) if f is None]
    model: ExecutableModel
    if backend == "c" or (backend == "auto" and find_compiler() is not None):
        model = c_model(
            program,
            functions,
            external,
            rigid_wheel_layouts(description.rigid_contacts, program),
            speed,
        )
    elif only_c:
        problem = (
            f"external {', '.join(only_c)} is given in C or Fortran alone, but the model runs "
            f"in Python"
        )
        raise ModelError(f"{problem}: give python= as well", interface.model)
    elif backend == "python":
        model = PythonModel(program, functions)
    else:
        from bellcrank.simulation.backend.wasm import WasmModel, wasm_obstacle

        if backend == "wasm" and wasm_obstacle():
            raise ModelError(f"backend='wasm': WebAssembly {wasm_obstacle()}", interface.model)
        if wasm_obstacle():
            model = PythonModel(program, functions)
        else:
            model = WasmModel(
                program, functions, rigid=rigid_wheel_layouts(description.rigid_contacts, program)
            )
    return LoadedModel(analysis, interface, program, model, tuple(model.python_functions()))


class EvaluationContext:
    """What one run or one evaluation changes: memories of user functions, and what was raised in
    them.

    `model` calls the program, `python_calls` the same in Python; both share the memories of
    routines in Python.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.functions = with_own_memory(loaded.functions)
        self.model: ProgramCalls = loaded.model.new_calls(self.functions)
        self.memories = [f for f in self.functions if isinstance(f, StatefulFunction)]

    @cached_property
    def python_calls(self) -> ProgramCalls:
        model = self.loaded.python_model
        return self.model if model is self.loaded.model else model.new_calls(self.functions)

    @cached_property
    def stiff_calls(self) -> ProgramCalls:
        """The program with slopes; runs by stiff methods, where it is compiled."""
        model = self.loaded.stiff_model
        return model.new_calls([*self.functions, *model.functions[len(self.functions) :]])

    @cached_property
    def dae_calls(self) -> ProgramCalls | None:
        """Runs by methods for differential-algebraic equations."""
        model = self.loaded.dae_model
        return None if model is None else model.new_calls(self.functions)

    @property
    def functions_by_name(self) -> dict[str, Callable[..., Any]]:
        """User functions and tables by name, as far as they can be called from Python."""
        pairs = zip(self.loaded.program.routines, self.functions, strict=True)
        return {r.name: f for r, f in pairs if f is not None}

    @property
    def library_history(self) -> str:
        """Which libraries were there to be called: "fast", "quick", or "early", which the fast one
        may follow."""
        cached_calls = map(vars(self).get, ("model", "stiff_calls", "dae_calls"))
        program_calls: list[ProgramCalls] = [x for x in cached_calls if x is not None]
        return ", then ".join(dict.fromkeys([speed for x in program_calls for speed in x.speeds]))

    def enable_memory_updates(self, live: int) -> None:
        """Whose memories single evaluations may change: 1 of routines called for rates, 2 of the
        others, 0 none."""
        for routine in self.memories:
            routine.is_writable = bool(live & routine.memory_phase)
        self.model.writable_phase = live
