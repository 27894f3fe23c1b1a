"""Loaded: a model that can be evaluated, and the context of one run or one evaluation.

In:  a program with its interface, the analysed model it came from, and what a user gives in place of user
functions. Out: `Loaded`, which never changes, so that any number of threads may use it. What a run or an evaluation
changes is in a `Context` of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bellcrank.backend.c import c_model
from bellcrank.backend.compiler import NO_COMPILER, SPEEDS, find_compiler
from bellcrank.backend.external import Memory, functions_of, remembering
from bellcrank.backend.protocol import Bound, Calls, Model
from bellcrank.backend.python import PythonModel
from bellcrank.choices import Backend, choices_of
from bellcrank.errors import ModelError
from bellcrank.interface.interface import Interface
from bellcrank.kinematics.analysis import Analysis
from bellcrank.numeric.run_spec import Input
from bellcrank.program.program import Program
from bellcrank.run.rigid_layout import rigid_wheels
from bellcrank.run.start_cache import Starts
from bellcrank.run.table_range import TableWatch
from bellcrank.run.values import check_masses, given_parameters, inertia_notes, input_signals

BACKENDS = choices_of(Backend)


@dataclass(frozen=True, eq=False)
class Loaded:
    """A program ready to be called. `functions`: of all user functions and tables; None for those in C alone."""

    analysis: Analysis
    interface: Interface
    program: Program
    model: Model
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
    def felt(self) -> np.ndarray:
        """Places of the states that their rates depend on."""
        return np.array(self.program.rate_states, dtype=int)

    @property
    def remembers(self) -> list[str]:
        """User functions with a memory."""
        return self.program.remembers

    @cached_property
    def python(self) -> Model:
        """The program in Python, for what is evaluated there whatever the backend: start and loops."""
        return self.model if self.model.name == "python" else PythonModel(self.program, self.functions)

    @cached_property
    def stiff(self) -> Model:
        """The program with slopes, and where it is compiled with runs by stiff methods, made when it is asked for."""
        from bellcrank.program.slopes import with_slopes

        program = with_slopes(self.program)
        added_routines = program.routines[len(self.program.routines) :]
        return self.model.for_stiff(program, (*self.model.functions, *(r.python for r in added_routines)))

    @cached_property
    def side_by_side(self) -> dict[Any, Any]:
        """The program for many runs at once, in lanes or on a GPU, by what it is for, as far as it was asked for."""
        return {}

    @cached_property
    def dae(self) -> Model | None:
        """The program with runs by methods for differential-algebraic equations; None where Python drives them."""
        return self.model.for_dae()

    @cached_property
    def starts(self) -> Starts:
        """How runs with closed loops began."""
        return Starts(bool(self.program.externals))

    @cached_property
    def table_watch(self) -> TableWatch:
        """What the tables of the program are asked at."""
        return TableWatch(self.program)

    def context(self) -> Context:
        """What one run or one evaluation changes."""
        return Context(self)

    # ---- values in equation units

    def parameter_values(self, overrides: Mapping[str, float | str] | None = None) -> list[float]:
        """Return all parameters; `overrides` (user units) replace defaults. The list is not to be changed."""
        p = self._usual_parameters if overrides is None else given_parameters(self.interface, overrides)
        if not self.interface.entered:
            return p
        zeros = [0.0 for _ in self.interface.entered]
        return [*p, *self.model.calls().values("entry", 0.0, (), (), [*p, *zeros], (), ())]

    @cached_property
    def _usual_parameters(self) -> list[float]:
        return given_parameters(self.interface)

    @cached_property
    def _usual_inputs(self) -> list[Input]:
        return input_signals(self.interface, None)

    def constants(self, p: list[float]) -> list[float]:
        """What follows from parameters alone."""
        return self._constants(tuple(p))

    @cached_property
    def _constants(self) -> Callable[[tuple[float, ...]], list[float]]:
        return lru_cache(maxsize=8)(self._found_constants)

    def _found_constants(self, p: tuple[float, ...]) -> list[float]:
        check_masses(self.analysis.mechanism.bodies, self.interface, p)
        try:
            constants = self.model.calls().constants(list(p))
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            constants, reason = [], str(error)
        else:
            reason = "" if np.all(np.isfinite(constants)) else "a result is not finite"
        if reason:
            problem = f"the constants of the model cannot be computed with these parameters ({reason})"
            zero = [f"'{x.name}'" for x, value in zip(self.interface.parameters, p, strict=False) if value == 0]
            hint = f"zero are {', '.join(zero)}; may one of them not be zero?" if zero else "is a value too large?"
            raise ModelError(f"{problem}: {hint}", self.name)
        return constants

    def inputs(self, values: Mapping[str, Any] | None, span: tuple[float, float] | None = None) -> list[Input]:
        """Every input over time; those that are sampled must cover a run over a span of time."""
        if values is None and (span is None or all(i.points is None for i in self._usual_inputs)):
            return self._usual_inputs
        return input_signals(self.interface, values, span)

    def bound(self, parameters: Mapping[str, float | str] | None, inputs: Mapping[str, Any] | None) -> Bound | None:
        """Rates by one call with these parameters and inputs (user units); None where Python evaluates them."""
        if parameters is None and inputs is None:
            return self._usual_bound
        p = tuple(self.parameter_values(parameters))
        return self._bound_to(p) if inputs is None else self._made_bound(p, inputs)

    def bound_in(
        self, context: Context, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input]
    ) -> Bound | None:
        """Rates by one call in a context (equation units): those that all share, if values are the usual ones."""
        cached = vars(self)  # a model without a default has no usual values
        is_default = p is cached.get("_usual_parameters") and inputs is cached.get("_usual_inputs")
        if is_default and not self.interface.kept and not self.remembers:
            return self._usual_bound
        return self.model.bound(context.model, p, c, inputs)

    @cached_property
    def _usual_bound(self) -> Bound | None:
        return self._made_bound(tuple(self.parameter_values()))

    @cached_property
    def _bound_to(self) -> Callable[[tuple[float, ...]], Bound | None]:
        return lru_cache(maxsize=8)(self._made_bound)

    def _made_bound(self, p: tuple[float, ...], inputs: Mapping[str, Any] | None = None) -> Bound | None:
        return self.model.bound(self.context().model, p, self._constants(p), self.inputs(inputs))

    def notes(self) -> list[str]:
        """How the model runs, in messages."""
        if self.model.name != "python":
            notes = self.model.notes()
        else:
            from bellcrank.backend.wasm import missing

            lacking = f"{NO_COMPILER}; WebAssembly {missing()}"
            notes = [f"runs in Python{f': {lacking}' if find_compiler() is None else ''}"]
        if self.remembers:
            message = f"what {', '.join(self.remembers)} remembers changes once per accepted step"
            notes.append(f"{message}; with method='rk2' at the middle of a step too, as in AUTOSIM")
        return [*notes, *inertia_notes(self.analysis.mechanism.bodies, self.interface)]


def load(
    analysis: Analysis,
    interface: Interface,
    program: Program,
    backend: str,
    external: Mapping[str, Any],
    speed: str = "auto",
) -> Loaded:
    """The program loaded. `backend`: "c" compiles, "wasm" runs it by wasmtime, "python" in Python; "auto" takes the
    first of these that can be had."""
    for name, value, choices in (("backend", backend, BACKENDS), ("speed", speed, SPEEDS)):
        if value not in choices:
            choice_names = ", ".join(repr(b) for b in choices)
            raise ModelError(f"{name}={value!r} is not known; it is one of {choice_names}", interface.model)
    description = analysis.mechanism.description
    functions = functions_of(program, description.externals, external, interface.model)
    only_c = [f"'{r.name}'" for r, f in zip(program.routines, functions, strict=True) if f is None]
    model: Model
    if backend == "c" or (backend == "auto" and find_compiler() is not None):
        model = c_model(program, functions, external, rigid_wheels(description.contacts, program), speed)
    elif only_c:
        problem = f"external {', '.join(only_c)} is given in C or Fortran alone, but the model runs in Python"
        raise ModelError(f"{problem}: give python= as well", interface.model)
    elif backend == "python":
        model = PythonModel(program, functions)
    else:
        from bellcrank.backend.wasm import WasmModel, missing  # few need it

        if backend == "wasm" and missing():
            raise ModelError(f"backend='wasm': WebAssembly {missing()}", interface.model)
        if missing():
            model = PythonModel(program, functions)
        else:
            model = WasmModel(program, functions, rigid=rigid_wheels(description.contacts, program))
    return Loaded(analysis, interface, program, model, tuple(model.functions_in_python()))


class Context:
    """What one run or one evaluation changes: memories of user functions, and what was raised in them.

    `model` calls the program, `python` the same in Python; both share the memories of routines in Python.
    """

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.functions = remembering(loaded.functions)
        self.model: Calls = loaded.model.calls(self.functions)
        self.memories = [f for f in self.functions if isinstance(f, Memory)]

    @cached_property
    def python(self) -> Calls:
        model = self.loaded.python
        return self.model if model is self.loaded.model else model.calls(self.functions)

    @cached_property
    def stiff(self) -> Calls:
        """The program with slopes; runs by stiff methods, where it is compiled."""
        model = self.loaded.stiff
        return model.calls([*self.functions, *model.functions[len(self.functions) :]])

    @cached_property
    def dae(self) -> Calls | None:
        """Runs by methods for differential-algebraic equations."""
        model = self.loaded.dae
        return None if model is None else model.calls(self.functions)

    @property
    def named_functions(self) -> dict[str, Callable[..., Any]]:
        """User functions and tables by name, as far as they can be called from Python."""
        pairs = zip(self.loaded.program.routines, self.functions, strict=True)
        return {r.name: f for r, f in pairs if f is not None}

    @property
    def library(self) -> str:
        """Which libraries were there to be called: "fast", "quick", or "early", which the fast one may follow."""
        models = [x for x in map(vars(self).get, ("model", "stiff", "dae")) if x is not None]
        return ", then ".join(dict.fromkeys([speed for model in models for speed in model.speeds]))

    def set_live(self, live: int) -> None:
        """Whose memories single evaluations may change: 1 of routines called for rates, 2 of the others, 0 none."""
        for routine in self.memories:
            routine.live = bool(live & routine.when)
        self.model.live = live
