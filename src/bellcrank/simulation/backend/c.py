"""The C program of a model, compiled, loaded and ready to be called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bellcrank.codegen.c.printer import external_calls
from bellcrank.codegen.c.program_sources import ProgramSources
from bellcrank.codegen.c.rigid import RigidWheel
from bellcrank.codegen.c.tables import table_numbers
from bellcrank.codegen.calling_conventions import external_name
from bellcrank.codegen.schedule import AS_WRITTEN, DEFAULT_OPTIONS, ScheduleOptions
from bellcrank.core.errors import BuildError, issue_warning
from bellcrank.core.numeric.run_spec import ProgramInput
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import SimulationProgram
from bellcrank.program.routine import CallableRoutine
from bellcrank.simulation.backend.bound_rhs import BoundRhs
from bellcrank.simulation.backend.c_assembly import CAssembler
from bellcrank.simulation.backend.c_calls import CCalls, CompiledProgram
from bellcrank.simulation.backend.c_runs import CRun, DaeCRun, LoopCRun, RigidCRun
from bellcrank.simulation.backend.c_structures import Double, check_structure_sizes
from bellcrank.simulation.backend.cache import get_or_make_text
from bellcrank.simulation.backend.compiler import NO_COMPILER, Compiler, find_compiler
from bellcrank.simulation.backend.external import with_own_memory, wrap_user_function
from bellcrank.simulation.backend.protocol import Functions, ProgramCalls
from bellcrank.simulation.backend.python_model import PythonModel
from bellcrank.simulation.backend.tiers import build_libraries
from bellcrank.symbolic.expr.collection import no_collection

MOST_SPEEDS = 100  # of a model with closed loops that is attached to the kernel


def c_model(
    program: SimulationProgram,
    functions: Functions,
    outside: Iterable[str] = (),
    rigid: Sequence[RigidWheel] = (),
    speed: str = "fast",
) -> CModel | PythonModel:
    """The program compiled, or in Python, with a warning that says why, if that cannot be done."""
    try:
        return CModel(program, functions, outside, rigid=rigid, speed=speed)
    except BuildError as error:
        python_functions = [f for f in functions if f is not None]
        if len(python_functions) < len(functions):  # a user function is given in C or Fortran alone
            raise
        from bellcrank.simulation.backend.wasm import WasmModel, wasm_obstacle

        target = "Python, many times" if wasm_obstacle() else "WebAssembly, a few times"
        issue_warning(f"{program.name} runs in {target} slower than compiled: {error}")
        return (
            PythonModel(program, python_functions)
            if wasm_obstacle()
            else WasmModel(program, python_functions, rigid=rigid)
        )


def _can_be_linked(program: SimulationProgram) -> bool:
    """Can it be attached to the kernel? Memory for large loops would not fit a stack."""
    return program.loops is None or len(program.speeds) <= MOST_SPEEDS


class CModel:
    """A program in C, compiled and loaded.

    `functions` are those of the program's user functions and tables; routines given in C are
    compiled in, unless
    `outside` names them. With `dae`, runs are those of methods for differential-algebraic
    equations; with `rigid` wheels they touch, bounce and roll in runs. A `speed` of "quick" is that
    of the compiler, not of the program, and "soon" even more so; with "auto" a library that is soon
    ready serves until the fast one is.
    """

    name = "c"

    def __init__(
        self,
        program: SimulationProgram,
        functions: Functions,
        outside: Iterable[str] = (),
        flags: Sequence[str] | None = None,
        options: ScheduleOptions | None = None,
        dae: bool = False,
        stiff: bool = False,
        rigid: Sequence[RigidWheel] = (),
        speed: str = "fast",
    ) -> None:
        compiler = find_compiler()
        if compiler is None:
            raise BuildError(NO_COMPILER)
        self.compiler: Compiler | None = compiler
        self.program, self.functions, self._speed = program, tuple(functions), speed
        options = options or (DEFAULT_OPTIONS if speed in ("fast", "auto") else AS_WRITTEN)
        # what is in Python is called back, unless it is in C as well
        pairs = zip(program.routines, functions, strict=True)
        self._outside = (
            *outside,
            *(r.name for r, f in pairs if f is not None and not r.known_in("c")),
        )
        routine_calls = external_calls(program, self._outside).values()
        foreign = [c.routine for c in routine_calls if c.foreign]
        is_generated = all(
            c.c_name is None or c.routine.formulas is not None for c in routine_calls
        )
        tables = (
            table_numbers(program.tables) if is_generated and program.tables else None
        )  # code of users is loaded once

        def write() -> str:
            from bellcrank.codegen.c.source import c_sources

            with no_collection():
                return c_sources(
                    program,
                    options=options,
                    outside=self._outside,
                    dae=dae,
                    stiff=stiff,
                    wheels=rigid,
                    bound=True,
                    looks=True,
                    assembles=not dae,
                    extra={} if dae else inertia_functions(program),
                    # code of users is compiled once: it may have variables of its own
                    halves=is_generated,
                    table_data=tables is not None,
                ).joined_text()

        is_cacheable = program.content and is_generated and not rigid
        cache_key = f"{program.content} {options!r} {self._outside!r} {dae} {stiff}"
        sources = ProgramSources.from_text(
            get_or_make_text(cache_key, write) if is_cacheable else write()
        )
        self.source, foreign_libraries = sources.for_build("unity"), []
        if tables is not None:
            self.source += f"/* numbers of tables: {tables.digest} */\n"
        if foreign:
            from bellcrank.simulation.backend.fortran_functions import fortran_library

            foreign_libraries = [fortran_library(foreign, program.name)]
        builds = build_libraries(
            sources,
            compiler,
            speed,
            foreign_libraries,
            is_generated,
            flags,
            _can_be_linked(program),
            tables,
        )
        routine_index = {routine: i for i, routine in enumerate(program.routines)}
        callbacks = [
            (routine_index[c.routine], c.routine.argument_count)
            for c in routine_calls
            if c.c_name is None
        ]
        memory_size = sum(c.routine.memory or 0 for c in routine_calls if c.c_name is not None)
        run = (
            RigidCRun if rigid else CRun if program.loops is None else DaeCRun if dae else LoopCRun
        )
        check_structure_sizes(builds.latest.current.loaded)
        assembler = CAssembler if run is LoopCRun and not stiff else None
        self._compiled = CompiledProgram(program, builds, callbacks, memory_size, run, assembler)

    def notes(self) -> list[str]:
        """How it was compiled, in messages."""
        libraries = self._compiled.variants.latest
        notes = [f"compiled by {self.compiler.name}"] if self.compiler is not None else []
        if libraries.problem:
            notes.append(
                f"stays with the library that was soon ready, since the fast one is not "
                f"made: {libraries.problem}"
            )
        elif libraries.current.speed == "linked":
            notes.append(
                "linked to the solver kernel in the cache; once runs have taken more than a "
                "second, a faster library "
                "is compiled in the background for later runs, whose last digits may differ"
            )
        elif not libraries.is_final.is_set():
            notes.append(
                "runs with a library that was soon ready; once runs have taken more than a "
                "second, the fast one is "
                "compiled in the background and takes over, with the same results"
            )
        return notes

    def new_calls(self, functions: Functions | None = None) -> CCalls:
        """The functions of the program for one run or evaluation."""
        return CCalls(
            self._compiled, with_own_memory(self.functions) if functions is None else functions
        )

    def bind_rhs(
        self,
        program_calls: ProgramCalls,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
    ) -> BoundRhs:
        """Return a function for the state derivatives; user functions are those of
        `program_calls`."""
        assert isinstance(program_calls, CCalls)
        return BoundRhs(program_calls, p, c, inputs)

    def compile_similar(
        self, program: SimulationProgram, functions: Functions, once: bool = False
    ) -> CModel | PythonModel:
        """Another program, compiled; routines that this one calls back are called back there, too.
        What is evaluated
        `once` in a while is made as soon as can be."""
        return c_model(program, functions, self._outside, speed="soon" if once else self._speed)

    def with_stiff_methods(self, program: SimulationProgram, functions: Functions) -> CModel:
        """The same program, with slopes, and with runs by stiff methods, too."""
        return CModel(program, functions, self._outside, stiff=True, speed=self._speed)

    def with_dae_methods(self) -> CModel:
        """The same program with runs by methods for differential-algebraic equations."""
        return CModel(self.program, self.functions, self._outside, dae=True, speed=self._speed)

    def python_functions(self) -> Functions:
        """Functions of all routines and tables; those in C or Fortran alone are wrapped where
        Python closes loops."""
        if self.program.loops is None:
            return self.functions
        pairs = zip(self.program.routines, self.functions, strict=True)
        return tuple(
            f or wrap_user_function(self.program, r, self._wrap_compiled_function(r))
            for r, f in pairs
        )

    def _wrap_compiled_function(self, routine: CallableRoutine) -> Callable[..., Any]:
        """A user function that is given in C or Fortran as a function of Python, for start and
        loops."""
        try:
            function = getattr(self._compiled.library, external_name(routine))
        except AttributeError:
            raise BuildError(
                f"external '{routine.name}' is not seen outside of its text in C: is it static?"
            ) from None
        count = len(routine.returns)
        function.restype = None if count else ctypes.c_double

        def call(*arguments: Any) -> Any:
            c_arguments = [ctypes.c_double(a) for a in arguments[: routine.argument_count]]
            values = (ctypes.c_double * count)()
            c_arguments += [values] if count else []  # type: ignore[list-item]
            c_arguments += [a.ctypes.data_as(Double) for a in arguments[routine.argument_count :]]
            result = function(*c_arguments)
            return tuple(values) if count else result

        return call
