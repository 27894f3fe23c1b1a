"""The C program of a model, compiled, loaded and ready to be called."""

from __future__ import annotations

import ctypes
import math
import warnings
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
from bellcrank.backend.compiler import find_compiler, load_source
from bellcrank.backend.fortran import fortran_library
from bellcrank.backend.python import PythonModel
from bellcrank.emit.c.printer import external_calls
from bellcrank.emit.c.rigid import RigidWheel
from bellcrank.emit.c.source import c_source
from bellcrank.emit.routines import external_name
from bellcrank.emit.schedule import BEST, Options
from bellcrank.errors import BuildError, ModelWarning
from bellcrank.numeric.course import At, Course
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.projection import NEAR
from bellcrank.program.program import Program

KINDS = ("constant", "step", "ramp", "sine", "chirp", "pieces", "function")
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
    routines: Sequence[Callable[..., Any] | None],
    outside: Iterable[str] = (),
    flags: Sequence[str] | None = None,
    rigid: Sequence[RigidWheel] = (),
) -> CModel | PythonModel:
    """The program compiled, or in Python, with a warning that says why, if that cannot be done."""
    try:
        return CModel(program, routines, outside, flags, rigid=rigid)
    except BuildError as error:
        found = [r for r in routines if r is not None]
        if len(found) < len(routines):  # an external routine is given in C or Fortran alone
            raise
        warnings.warn(
            f"{program.name} runs in Python, many times slower than compiled: {error}", ModelWarning, stacklevel=2
        )
        return PythonModel(program, found)


class CModel:
    """derivatives, outputs and whole runs of a program in C.

    `routines` are the callables of the program's external routines and tables; those given in C are compiled in, unless `outside`
    names them. A callable that remembers has an attribute `live`, set before each call. With `dae`, runs are those of methods for
    differential-algebraic equations; with `rigid` wheels they touch, bounce and roll in runs.
    """

    name = "c"

    def __init__(
        self,
        program: Program,
        routines: Sequence[Callable[..., Any] | None],
        outside: Iterable[str] = (),
        flags: Sequence[str] | None = None,
        options: Options = BEST,
        dae: bool = False,
        rigid: Sequence[RigidWheel] = (),
    ) -> None:
        compiler = find_compiler()
        if compiler is None:
            raise BuildError("there is no C compiler (looked for CC, cc, gcc, clang and the Python package ziglang)")
        self.compiler = compiler
        # what is in Python is called back, unless it is in C as well
        away_too = [
            r.name for r, f in zip(program.routines, routines, strict=True) if f is not None and not r.known_in("c")
        ]
        outside = (*outside, *away_too)
        self.source = c_source(program, options=options, outside=outside, dae=dae, wheels=rigid)
        self.rigid = tuple(rigid)
        self.program = program
        self.routines = tuple(routines)
        calls = external_calls(program, outside).values()
        foreign = [c.routine for c in calls if c.foreign]
        linked = [fortran_library(foreign, program.name)] if foreign else []
        self._library = load_source(self.source, compiler, flags, linked)
        away = [c.routine for c in calls if c.function is None]
        memory = sum(c.routine.memory or 0 for c in calls if c.function is not None)
        place = {routine: i for i, routine in enumerate(program.routines)}
        self._called = [self.routines[place[r]] for r in away]
        self._arguments = [r.argument_count for r in away]
        self.memory = np.zeros(memory + 1)
        self.live = (
            0  # whose memories may single evaluations change? 1: called for rates, 2: for outputs and kept values
        )
        self.error: BaseException | None = None
        self._callback = External(self._external)
        self._externals = self.externals(self.memory)
        self._sizes = (len(program.coordinates), len(program.speeds), len(program.output_names))
        self._held: dict[str, tuple[Sequence[float], Any]] = {}
        for name in ("constants", "derivatives", "outputs"):
            getattr(self._library, name).restype = None
        if program.loops is not None:
            for name in ("closure", *(() if dae else ("singular_rates",))):
                getattr(self._library, name).restype = None
        self._library.run.restype = ctypes.c_int
        looped = program.loops is not None
        self.job_type: Any = RigidJob if rigid else DaeJob if dae and looped else LoopJob if looped else Job
        check_sizes(self._library, self.job_type)

    # ---- single evaluations, as of PythonModel

    def constants(self, p: Sequence[float]) -> list[float]:
        c = (ctypes.c_double * max(len(self.program.constants.statements), 1))()
        self._library.constants(_array(p), c)
        return list(c)[: len(self.program.constants.statements)]

    def derivatives(self, *at: *At) -> tuple[list[float], list[float]]:
        qd, ud = (ctypes.c_double * max(self._sizes[0], 1))(), (ctypes.c_double * max(self._sizes[1], 1))()
        self._evaluate(self._library.derivatives, at, qd, ud)
        return list(qd)[: self._sizes[0]], list(ud)[: self._sizes[1]]

    def outputs(self, *at: *At) -> list[float]:
        out = (ctypes.c_double * max(self._sizes[2], 1))()
        self._evaluate(self._library.outputs, at, out)
        return list(out)[: self._sizes[2]]

    def closure(self, *at: *At) -> list[float]:
        """g, G, v, J of closed loops in one list."""
        out = (ctypes.c_double * len(self.program.closure.results))()
        self._evaluate(self._library.closure, at, out)
        return list(out)

    def entry_values(self, p: Sequence[float]) -> list[float]:
        """Parameters that external routines give, from the others."""
        return self._kept_values("entry", (0.0, (), (), list(p), (), ()), len(self.program.entry.results))

    def echo_values(self, *at: *At) -> list[float]:
        """Values that external routines give to the echo of a run."""
        return self._kept_values("echo", at, len(self.program.echo_names))

    def start_values(self, *at: *At) -> list[float]:
        """Values of external routines that hold over a run."""
        return self._kept_values("start", at, len(self.program.start.results))

    def update_values(self, *at: *At) -> list[float]:
        """Values of external routines that hold over a step."""
        return self._kept_values("update", at, len(self.program.update.results))

    def _kept_values(self, name: str, at: At, count: int) -> list[float]:
        if not count:
            return []
        out = (ctypes.c_double * count)()
        self._evaluate(getattr(self._library, name), at, out)
        return list(out)

    def singular_rates(self, *at: *At) -> list[float]:
        """Rates of coordinates and speeds of closed loops near singular positions, and the ratio of pivots, in one list."""
        out = (ctypes.c_double * len(self.program.singular_rates.results))()
        self._evaluate(self._library.singular_rates, at, out)
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
            routine: Any = self._called[number]
            before = getattr(routine, "live", False)
            routine.live = bool(live & getattr(routine, "when", 1))
            try:
                returned = routine(*arguments[: self._arguments[number]])
            finally:
                routine.live = before
            for i, value in enumerate(returned if isinstance(returned, tuple) else (returned,)):
                values[i] = value
        except BaseException as error:  # an exception cannot pass through C: it is raised when C has returned
            self.error = error
            return 1
        return 0

    def compiled_routine(self, routine: Any) -> Callable[..., Any]:
        """An external routine that is given in C or Fortran as a function of Python, for what is evaluated there: start and loops."""
        try:
            function = getattr(self._library, external_name(routine))
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

    def externals(self, memory: np.ndarray) -> Externals:
        """External routines with a memory of their own for those in C."""
        return Externals(self._callback, memory.ctypes.data, 0, 0)

    def forget(self) -> None:
        """Clears what external routines in C remember between single evaluations."""
        self.memory[:] = 0.0

    def raise_error(self) -> None:
        """Raises what an external routine or an input raised during the last call."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    # ---- runs

    def start(
        self,
        course: Course,
        state: np.ndarray,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        weights: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> CRun:
        """A run that has not begun. `weights` of coordinates and speeds: the metric in which loops are closed."""
        return CRun(self, course, state, p, c, inputs, weights)


class CRun:
    """A run in C. Rows hold time, states, outputs and inputs of the recorded steps; `state` is the last good one."""

    def __init__(
        self,
        model: CModel,
        course: Course,
        state: np.ndarray,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        weights: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.model, self.course = model, course
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
        self.kept = np.zeros(len(model.program.inputs) - len(inputs) + 1)
        self._job = model.job_type(
            method=list(METHODS).index(course.method), total=course.total, every=course.every, h=course.step,
            t_end=course.t_end, n_breaks=len(course.breaks), with_inputs=1,
        )  # fmt: skip
        self._job.function = self._function
        self._job.inputs = ctypes.addressof(self._signals)
        self.memory = np.zeros_like(model.memory)
        self._externals = model.externals(self.memory)
        self._job.externals = ctypes.addressof(self._externals)
        for name, array in (
            ("p", self._parameters),
            ("c", self._constants),
            ("y", self.state),
            ("k", self.rates),
            ("bad", self.bad),
            ("breaks", self._breaks),
            ("kept", self.kept),
        ):
            setattr(self._job, name, array.ctypes.data)
        self._passages: list[tuple[float, float]] = []
        self._keeps = model.job_type is LoopJob
        if self._keeps:
            self._watch_loops(weights)
        self._width = 1 + len(self.state) + len(model.program.output_names) + len(model.program.inputs)
        self.status = FINISHED
        self.problem = ""
        self.reached = 0

    @property
    def time(self) -> float:
        return self.course.time(self.reached)

    def close_stages(self) -> None:
        """From here on, loops are closed at every stage of a step."""
        self._job.staged = 1

    def _watch_loops(self, weights: tuple[np.ndarray, np.ndarray] | None) -> None:
        """Room for what a run with closed loops remembers."""
        n_q, n_u, _ = self.model._sizes
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
        last = [(self._job.visit_time, self._job.visit_ratio)] if 0.0 <= self._job.visit_ratio < NEAR else []
        return [*self._passages, *last]

    def advance(self, last: int) -> np.ndarray:
        """Goes on to step `last`; the rows recorded on the way."""
        first = self.reached
        count = last // self.course.every - first // self.course.every + 2
        rows = np.empty((count, self._width))
        self._job.first, self._job.last, self._job.filled = first, last, 0
        self._job.rows = rows.ctypes.data
        self.status = self.model._library.run(ctypes.byref(self._job))
        self.reached = self._job.reached
        if self._keeps:
            self._passages += [(float(t), float(x)) for t, x in self._visits[: self._job.n_passages]]
            self._job.n_passages = 0
        if self.status in (EXTERNAL_FAILED, INPUT_FAILED):
            self.model.raise_error()
        if self.status == NOT_CLOSED:
            row = self.model.program.loops.positions[self._job.worst]  # type: ignore[union-attr]
            self.problem = not_closed(row, self._job.moved, self._job.residual)
        return rows[: self._job.filled]

    def _input(self, number: int, t: float, value: Any) -> int:
        try:
            value[0] = self._inputs[number].function(t)
        except BaseException as error:
            self.model.error = error
            return 1
        return 0


class DaeCRun(CRun):
    """A run in C by a method for differential-algebraic equations; `gains`: alpha, beta and gamma of the methods that have them."""

    def use(self, method: str, gains: tuple[float, float, float], free_fall: bool) -> None:
        """The method, before the first step."""
        self._frozen = np.zeros(2 * len(self.model.program.loops.v) + 1)  # type: ignore[union-attr]
        job = self._job
        job.dae, job.free_fall, job.frozen = DAE_METHODS.index(method), int(free_fall), self._frozen.ctypes.data
        job.alpha, job.beta, job.gamma = gains


class RigidCRun(CRun):
    """A run in C with rigid wheels. `told`: time, wheel and kind of events; `modes` of the wheels at each recorded step, if `remember`."""

    KINDS = ("impact", "rolls", "leaves the ground", "is held in a notch")

    def use(self, remember: bool) -> None:
        """Room for what is told, before the first step."""
        wheels = self.model.rigid
        self._remember = remember
        self._mode = np.zeros((len(wheels), 11))  # as in the template
        self._mode[:, 4] = 1.0
        self._room = np.zeros((4000, 3))
        self.modes: list[np.ndarray] = []
        self.told: list[tuple[float, str]] = []
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
            self.told.append((t, f"{self.model.rigid[int(wheel)].name} {self.KINDS[int(kind)]}"))
        return rows


def _signal(given: Input) -> InputSignal:
    result = InputSignal(kind=KINDS.index(given.kind), rate=given.rate, scale=given.scale)
    result.a[: len(given.numbers)] = given.numbers
    if given.points is not None and given.pieces is not None:
        result.n, result.x, result.pieces = len(given.points), given.points.ctypes.data, given.pieces.ctypes.data
    return result


def _array(values: Sequence[float]) -> Any:
    return (ctypes.c_double * max(len(values), 1))(*values)
