"""The C program of a model, compiled, loaded and ready to be called."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.backend.c_job import (
    DaeJob,
    Double,
    External,
    Externals,
    Function,
    InputSignal,
    Job,
    LoopJob,
    RigidJob,
    check_sizes,
)
from bellcrank.backend.compiler import Compiler, find_compiler, load_source
from bellcrank.backend.external import external_function, remembering
from bellcrank.backend.fortran import fortran_library
from bellcrank.backend.model import Functions, Weights
from bellcrank.backend.python import PythonModel
from bellcrank.emit.c.printer import external_calls
from bellcrank.emit.c.rigid import RigidWheel
from bellcrank.emit.c.signals import NUMBERED
from bellcrank.emit.c.source import c_source
from bellcrank.emit.routines import external_name
from bellcrank.emit.schedule import BEST, Options
from bellcrank.errors import BuildError, warn
from bellcrank.numeric.course import At, Course
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.tuning import LOOPS
from bellcrank.program.program import Program

MOST_PASSAGES = 1000  # near singular positions, in one block of steps
DAE_METHODS = ("projection", "dlmm", "clmm", "baumgarte", "stabilised", "post", "half-explicit")
FINISHED, NOT_FINITE, EXTERNAL_FAILED, INPUT_FAILED, NOT_CLOSED = range(5)


def not_closed(row: str, moved: float, residual: float) -> str:
    """What ends a run whose loops had to be moved too far to stay closed."""
    left = f", and a residual of {residual:.2g} is left" if residual > 1e-9 else ""
    return f"the loop {row} cannot be kept closed: a correction of {moved:.2g} was needed{left}"


@dataclass(frozen=True)
class Input:
    """One input of a program over time, in equation units.

    `function` gives its value. Where C knows the signal too, `kind` and `numbers` (or `points` and cubic `pieces`) tell it, in user
    units (`points` and `pieces` are contiguous arrays): the value, differentiated `rate` times, is scale * signal.
    """

    function: Callable[[float], float]
    kind: str = "function"
    numbers: tuple[float, ...] = ()
    points: np.ndarray | None = None
    pieces: np.ndarray | None = None
    rate: int = 0
    scale: float = 1.0
    breaks: tuple[float, ...] = ()  # times of jumps and kinks


def c_model(
    program: Program,
    functions: Functions,
    outside: Iterable[str] = (),
    rigid: Sequence[RigidWheel] = (),
) -> CModel | PythonModel:
    """The program compiled, or in Python, with a warning that says why, if that cannot be done."""
    try:
        return CModel(program, functions, outside, rigid=rigid)
    except BuildError as error:
        found = [f for f in functions if f is not None]
        if len(found) < len(functions):  # an external routine is given in C or Fortran alone
            raise
        warn(f"{program.name} runs in Python, many times slower than compiled: {error}")
        return PythonModel(program, found)


class CModel:
    """A program in C, compiled and loaded.

    `functions` are those of the program's external routines and tables; routines given in C are compiled in, unless `outside`
    names them. With `dae`, runs are those of methods for differential-algebraic equations; with `rigid` wheels they touch, bounce
    and roll in runs.
    """

    name = "c"

    def __init__(
        self,
        program: Program,
        functions: Functions,
        outside: Iterable[str] = (),
        flags: Sequence[str] | None = None,
        options: Options = BEST,
        dae: bool = False,
        rigid: Sequence[RigidWheel] = (),
    ) -> None:
        compiler = find_compiler()
        if compiler is None:
            raise BuildError("there is no C compiler (looked for CC, cc, gcc, clang and the Python package ziglang)")
        self.compiler: Compiler | None = compiler
        # what is in Python is called back, unless it is in C as well
        given = zip(program.routines, functions, strict=True)
        self._outside = (*outside, *(r.name for r, f in given if f is not None and not r.known_in("c")))
        self.source = c_source(program, options=options, outside=self._outside, dae=dae, wheels=rigid)
        self.rigid = tuple(rigid)
        self.program = program
        self.functions = tuple(functions)
        calls = external_calls(program, self._outside).values()
        foreign = [c.routine for c in calls if c.foreign]
        linked = [fortran_library(foreign, program.name)] if foreign else []
        self.library = load_source(self.source, compiler, flags, linked)
        away = [c.routine for c in calls if c.function is None]
        self.memory_size = sum(c.routine.memory or 0 for c in calls if c.function is not None)
        place = {routine: i for i, routine in enumerate(program.routines)}
        self.called_back = tuple((place[r], r.argument_count) for r in away)  # routine, number of arguments
        for name in ("constants", "derivatives", "outputs"):
            getattr(self.library, name).restype = None
        if program.loops is not None:
            for name in ("closure", *(() if dae else ("singular_rates",))):
                getattr(self.library, name).restype = None
        self.library.run.restype = ctypes.c_int
        looped = program.loops is not None
        self.job_type: Any = RigidJob if rigid else DaeJob if dae and looped else LoopJob if looped else Job
        check_sizes(self.library, self.job_type)

    def calls(self, functions: Functions | None = None) -> CCalls:
        """The functions of the program for one run or evaluation."""
        return CCalls(self, remembering(self.functions) if functions is None else functions)

    def like(self, program: Program, functions: Functions) -> CModel:
        """Another program, compiled; its external routines are called back."""
        return CModel(program, functions, [r.name for r in program.routines])

    def for_dae(self) -> CModel:
        """The same program with runs by methods for differential-algebraic equations."""
        return CModel(self.program, self.functions, self._outside, dae=True)

    def functions_in_python(self) -> tuple[Callable[..., Any] | None, ...]:
        """Functions of all routines and tables; those in C or Fortran alone are wrapped where loops are evaluated in Python."""
        if self.program.loops is None:
            return self.functions
        pairs = zip(self.program.routines, self.functions, strict=True)
        return tuple(f or external_function(self.program, r, self.compiled_routine(r)) for r, f in pairs)

    def compiled_routine(self, routine: Any) -> Callable[..., Any]:
        """An external routine that is given in C or Fortran as a function of Python, for what is evaluated there: start and loops."""
        try:
            function = getattr(self.library, external_name(routine))
        except AttributeError:
            raise BuildError(f"external '{routine.name}' is not seen outside of its text in C: is it static?") from None
        count = len(routine.returns)
        function.restype = None if count else ctypes.c_double

        def call(*arguments: Any) -> Any:
            given = [ctypes.c_double(a) for a in arguments[: len(routine.arguments)]]
            values = (ctypes.c_double * count)()
            given += [values] if count else []  # type: ignore[list-item]
            given += [a.ctypes.data_as(Double) for a in arguments[len(routine.arguments) :]]
            result = function(*given)
            return tuple(values) if count else result

        return call


class CCalls:
    """Calls of a compiled program with memories of their own; a function that remembers has `live`, set before each call of it."""

    name = "c"

    def __init__(self, model: CModel, functions: Functions) -> None:
        self.model, self.program = model, model.program
        self._called = [(functions[place], count) for place, count in model.called_back]
        self._callback = External(self._external) if self._called else External()
        self.memory = np.zeros(model.memory_size + 1)
        self.live = 0
        self.error: BaseException | None = None
        self._externals = self.externals(self.memory)
        self._held: dict[str, tuple[Sequence[float], Any]] = {}

    # ---- single evaluations

    def constants(self, p: Sequence[float]) -> list[float]:
        count = len(self.program.constants.statements)
        c = (ctypes.c_double * max(count, 1))()
        self.model.library.constants(_array(p), c)
        return list(c)[:count]

    def derivatives(self, *at: *At) -> tuple[list[float], list[float]]:
        n_q, n_u = len(self.program.coordinates), len(self.program.speeds)
        qd, ud = (ctypes.c_double * max(n_q, 1))(), (ctypes.c_double * max(n_u, 1))()
        self._evaluate(self.model.library.derivatives, at, qd, ud)
        return list(qd)[:n_q], list(ud)[:n_u]

    def outputs(self, *at: *At) -> list[float]:
        count = len(self.program.output_names)
        out = (ctypes.c_double * max(count, 1))()
        self._evaluate(self.model.library.outputs, at, out)
        return list(out)[:count]

    def values(self, section: str, *at: *At) -> list[float]:
        """Results of a section that stands for itself."""
        count = len(getattr(self.program, section).results)
        if not count:
            return []
        out = (ctypes.c_double * count)()
        self._evaluate(getattr(self.model.library, section), at, out)
        return list(out)

    def _evaluate(self, function: Any, at: At, *results: Any) -> None:
        t, q, u, p, c, w = at
        self._externals.live = self.live
        self._externals.failed = 0
        function(
            ctypes.c_double(t), _array(q), _array(u), self._kept("p", p), self._kept("c", c), _array(w), *results,
            ctypes.byref(self._externals),
        )  # fmt: skip
        self.raise_error()

    def _kept(self, name: str, values: Sequence[float]) -> Any:
        """An array that is made again only if another list is given."""
        if name not in self._held or self._held[name][0] is not values:
            self._held[name] = (values, _array(values))
        return self._held[name][1]

    # ---- external routines

    def _external(self, number: int, live: int, arguments: Any, values: Any) -> int:
        try:
            routine: Any = self._called[number][0]
            before = getattr(routine, "live", False)
            routine.live = bool(live & getattr(routine, "when", 1))
            try:
                returned = routine(*arguments[: self._called[number][1]])
            finally:
                routine.live = before
            for i, value in enumerate(returned if isinstance(returned, tuple) else (returned,)):
                values[i] = value
        except BaseException as error:  # an exception cannot pass through C: it is raised when C has returned
            self.error = error
            return 1
        return 0

    def externals(self, memory: np.ndarray) -> Any:
        """External routines with a memory of their own for those in C."""
        return Externals(self._callback, memory.ctypes.data, 0, 0)

    def raise_error(self) -> None:
        """Raises what an external routine or an input raised during the last call."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    # ---- runs, which have not begun

    def start(
        self,
        course: Course,
        state: np.ndarray,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        weights: Weights | None = None,
        staged: bool = False,
    ) -> CRun:
        """A run. `weights` of coordinates and speeds: the metric in which loops are closed; `staged`: are they at every stage?"""
        run = CRun(self, course, state, p, c, inputs, weights)
        if staged:
            run.close_stages()
        return run

    def start_dae(
        self, course: Course, state: np.ndarray, p: Sequence[float], inputs: Sequence[Input], dae: Any
    ) -> DaeCRun:
        """A run by a method for differential-algebraic equations."""
        return DaeCRun(self, course, state, p, self.constants(p), inputs, dae)

    def start_rigid(
        self,
        course: Course,
        state: np.ndarray,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        tell: Callable[[str, float], None],
        remember: bool,
    ) -> RigidCRun:
        """A run with rigid wheels, which tells its events."""
        return RigidCRun(self, course, state, p, c, inputs, tell, remember)


class CRun:
    """A run in C. Rows hold time, states, outputs and inputs of the recorded steps; `state` is the last good one."""

    def __init__(
        self,
        calls: CCalls,
        course: Course,
        state: np.ndarray,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        weights: Weights | None = None,
    ) -> None:
        self.calls, self.course = calls, course
        self._program, model = calls.program, calls.model
        self.state = np.array(state, dtype=float)
        self.bad = np.full_like(self.state, math.nan)
        self.rates = np.zeros_like(self.state)
        self._parameters = np.array([*p, 0.0])
        self._constants = np.array([*c, 0.0])
        self._inputs = inputs
        self._signals = (InputSignal * max(len(inputs), 1))(
            *(_signal(i) for i in inputs)
        )  # self._inputs keeps their arrays
        self._function = Function(self._input)
        self._breaks = np.array([*course.breaks, 0.0])
        self._kept = np.zeros(len(self._program.inputs) - len(inputs) + 1)
        self._job = model.job_type(
            method=list(METHODS).index(course.method), total=course.total, every=course.every, h=course.step,
            t_end=course.t_end, n_breaks=len(course.breaks), with_inputs=1,
        )  # fmt: skip
        self._job.function = self._function
        self._job.inputs = ctypes.addressof(self._signals)
        self.memory = np.zeros_like(calls.memory)
        self._externals = calls.externals(self.memory)
        self._job.externals = ctypes.addressof(self._externals)
        for name, array in (
            ("p", self._parameters),
            ("c", self._constants),
            ("y", self.state),
            ("k", self.rates),
            ("bad", self.bad),
            ("breaks", self._breaks),
            ("kept", self._kept),
        ):
            setattr(self._job, name, array.ctypes.data)
        self._passages: list[tuple[float, float]] = []
        self._keeps = model.job_type is LoopJob
        if self._keeps:
            self._watch_loops(weights)
        self._width = 1 + len(self.state) + len(self._program.output_names) + len(self._program.inputs)
        self.status = FINISHED
        self.problem = ""
        self.reached = 0

    @property
    def kept(self) -> np.ndarray:
        """Values of external routines that hold at present."""
        return self._kept[:-1]

    @property
    def time(self) -> float:
        return self.course.time(self.reached)

    def close_stages(self) -> None:
        """From here on, loops are closed at every stage of a step."""
        self._job.staged = 1

    def _watch_loops(self, weights: Weights | None) -> None:
        """Room for what a run with closed loops remembers."""
        n_q, n_u = len(self._program.coordinates), len(self._program.speeds)
        self._roots = [np.sqrt(w) for w in weights or (np.ones(n_q), np.ones(n_u))]
        self._past = np.zeros(3 * (1 + n_u))
        self._visits = np.zeros((MOST_PASSAGES, 2))
        job = self._job
        job.root_q, job.root_u = (r.ctypes.data for r in self._roots)
        job.past, job.passages, job.most_passages = self._past.ctypes.data, self._visits.ctypes.data, MOST_PASSAGES
        job.visit_ratio = 1.0

    @property
    def passages(self) -> list[tuple[float, float]]:
        """Time and ratio of pivots of every visit near a singular position, as far as there was room for them."""
        if not self._keeps:
            return []
        last = [(self._job.visit_time, self._job.visit_ratio)] if 0.0 <= self._job.visit_ratio < LOOPS.near else []
        return [*self._passages, *last]

    def advance(self, last: int) -> np.ndarray:
        """Goes on to step `last`; the rows recorded on the way."""
        first = self.reached
        count = last // self.course.every - first // self.course.every + 2
        rows = np.empty((count, self._width))
        self._job.first, self._job.last, self._job.filled = first, last, 0
        self._job.rows = rows.ctypes.data
        self.status = self.calls.model.library.run(ctypes.byref(self._job))
        self.reached = self._job.reached
        if self._keeps:
            self._passages += [(float(t), float(x)) for t, x in self._visits[: self._job.n_passages]]
            self._job.n_passages = 0
        if self.status in (EXTERNAL_FAILED, INPUT_FAILED):
            self.calls.raise_error()
        if self.status == NOT_CLOSED:
            row = self._program.loops.positions[self._job.worst]  # type: ignore[union-attr]
            self.problem = not_closed(row, self._job.moved, self._job.residual)
        return rows[: self._job.filled]

    def _input(self, number: int, t: float, value: Any) -> int:
        try:
            value[0] = self._inputs[number].function(t)
        except BaseException as error:
            self.calls.error = error
            return 1
        return 0


class DaeCRun(CRun):
    """A run in C by a method for differential-algebraic equations."""

    def __init__(
        self,
        calls: CCalls,
        course: Course,
        state: np.ndarray,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        dae: Any,
    ) -> None:
        super().__init__(calls, course, state, p, c, inputs)
        self._frozen = np.zeros(2 * len(self._program.loops.v) + 1)  # type: ignore[union-attr]
        job = self._job
        job.dae, job.free_fall = DAE_METHODS.index(dae.method), int(dae.base == "free fall")
        job.frozen = self._frozen.ctypes.data
        job.alpha, job.beta, job.gamma = dae.alpha, dae.beta, dae.gamma


class RigidCRun(CRun):
    """A run in C with rigid wheels. `tell` gets name and time of its events; `modes` of the wheels at each recorded step, if `remember`."""

    KINDS = ("impact", "rolls", "leaves the ground", "is held in a notch")

    def __init__(
        self,
        calls: CCalls,
        course: Course,
        state: np.ndarray,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        tell: Callable[[str, float], None],
        remember: bool,
    ) -> None:
        super().__init__(calls, course, state, p, c, inputs)
        self._tell, self._remember = tell, remember
        self._names = [w.name for w in calls.model.rigid]
        self._mode = np.zeros((len(self._names), 11))  # as in the template
        self._mode[:, 4] = 1.0
        self._room = np.zeros((4000, 3))
        self.modes: list[np.ndarray] = []
        job = self._job
        job.modes, job.modes_of_row = self._mode.ctypes.data, self._mode.size
        job.told, job.most_told = self._room.ctypes.data, len(self._room)

    def advance(self, last: int) -> np.ndarray:
        snapshots = np.empty((0, *self._mode.shape))
        if self._remember:
            snapshots = np.empty((last - self.reached + 2, *self._mode.shape))
            self._job.all_modes = snapshots.ctypes.data
        self._job.n_told = 0
        rows = super().advance(last)
        self.modes.extend(snapshots[: len(rows)])
        for t, wheel, kind in self._room[: self._job.n_told].tolist():
            self._tell(f"{self._names[int(wheel)]} {self.KINDS[int(kind)]}", t)
        return rows


def _signal(given: Input) -> InputSignal:
    result = InputSignal(kind=NUMBERED.index(given.kind), rate=given.rate, scale=given.scale)
    result.a[: len(given.numbers)] = given.numbers
    if given.points is not None and given.pieces is not None:
        result.n, result.x, result.pieces = len(given.points), given.points.ctypes.data, given.pieces.ctypes.data
    return result


def _array(values: Sequence[float]) -> Any:
    return (ctypes.c_double * max(len(values), 1))(*values)
