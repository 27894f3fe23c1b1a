"""Runs of a compiled program: plain ones, with closed loops, by other methods for constraints, with
rigid wheels."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from bellcrank.codegen.c.kernel_tables import method_number
from bellcrank.codegen.c.signals import NUMBERED
from bellcrank.codegen.kernel_data import bridge_room
from bellcrank.core.numeric.loop_projector import SingularityPassage
from bellcrank.core.numeric.run_spec import (
    DAE_METHODS,
    FINISHED,
    NOT_CLOSED,
    Checkpoint,
    ProgramInput,
    RunSpec,
    Weights,
    loop_open_message,
)
from bellcrank.core.numeric.step_statistics import StepStatistics
from bellcrank.core.numeric.tuning import LOOPS
from bellcrank.simulation.backend.c_structures import (
    NO_FUNCTION,
    Function,
    InputSignal,
    Job,
    array_address,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bellcrank.core.numeric.loop_constraints import Block
    from bellcrank.program.loop_equations import LoopEquations
    from bellcrank.simulation.backend.c_structures import DoublePointer
    from bellcrank.simulation.backend.event_monitor import EventMonitor
    from bellcrank.simulation.backend.protocol import (
        AdaptiveTolerances,
        DaeSettings,
        KernelCalls,
    )

Result = TypeVar("Result")
KernelArgument = float | np.ndarray | None

FIRST_PAUSE = 1000  # steps of a run with an adaptive method up to its first look at the keyboard
PAUSE_SECONDS = 0.1  # between two others
EVENT_ROWS = 200  # that events add to a block of steps before it pauses
WHEEL_MODES = 11  # numbers of a rigid wheel, as in rigid.c
MOST_PASSAGES = 1000  # near singular configurations, in one block of steps
BEGUN, AGAIN = 1, 2  # of a job: as in run.c
COUNTED = (
    "steps",
    "rejected",
    "evaluations",
    "shortest",
    "longest",
    "fastest",
    "slowed",
    "held",
    "pace",
)
NO_BREAKS = np.zeros(1)
NO_BREAKS_AT = array_address(NO_BREAKS)
GIVEN = ("p", "c", "breaks", "bad", "told", "depths")  # arrays that are a run's own


class RunArrayLayout(NamedTuple):
    """The arrays that every run of a program has, one behind the other in one room: what stands
    there before anything is given, and where each begins and ends."""

    initial_values: NDArray[np.float64]
    places: dict[str, tuple[int, int]]


class RunArrays(dict[str, np.ndarray]):
    """What C reads and writes, by name; arrays in the `room` of a run are made when they are asked
    for."""

    def __init__(self, room: NDArray[np.float64], ranges: dict[str, tuple[int, int]]) -> None:
        self._room, self._places = room, ranges

    def __missing__(self, name: str) -> np.ndarray:
        start, end = self._places[name]
        array = self[name] = self._room[start:end]
        return array

    def materialize(self) -> RunArrays:
        """With all that there are."""
        for name in self._places:
            self[name]
        return self


class CRun:
    """A run in C. Rows hold time, states, outputs and inputs of the recorded steps; `state` is the
    last good one."""

    shares_memory: ClassVar[bool] = True  # may C be given addresses?
    checkpoint_fields: ClassVar[tuple[str, ...]] = (
        "t",
        "behind",
    )  # what a run that continues takes over, next to shared arrays

    def __init__(self, program_calls: KernelCalls, spec: RunSpec) -> None:
        self.calls: KernelCalls = program_calls
        self.spec = spec
        self._program, inputs = program_calls.program, spec.inputs
        self.inputs = inputs  # keeps the arrays of the signals
        self.signals = (InputSignal * max(len(inputs), 1))(*map(to_input_struct, inputs))
        has_callbacks = any(i.kind == "function" for i in inputs)
        self._function = Function(self._input_callback) if has_callbacks else NO_FUNCTION
        self.calls_python = has_callbacks or bool(program_calls.compiled.python_functions)
        self.memory = np.zeros(len(program_calls.memory))
        self._externals = program_calls.new_externals(self.memory)
        self._job = job = Job()  # fields one by one, which is soonest done
        job.method, job.total, job.every, job.h = (
            method_number(spec.method),
            spec.n_steps,
            spec.output_every,
            spec.step,
        )
        job.t_end, job.t_start, job.t = (
            spec.t_end,
            spec.t_start,
            spec.step_start(spec.first_step + 1),
        )
        job.with_inputs, job.function, job.inputs = (
            1,
            self._function,
            ctypes.addressof(self.signals),
        )
        job.externals = ctypes.addressof(self._externals)
        self._arrays = self._make_array_block(spec)
        self.state = self._arrays["y"]
        job.n_breaks, job.breaks = len(spec.breaks), NO_BREAKS_AT
        if spec.breaks:
            self._attach_arrays(breaks=np.array([*spec.breaks, 0.0]))
        self._width = (
            1 + len(self.state) + len(self._program.output_names) + len(self._program.inputs)
        )
        self.status, self.problem, self.steps_done = FINISHED, "", spec.first_step
        self.rows = np.empty(0)
        self.singular_passages: list[SingularityPassage] = []
        if spec.output_time_grid is not None:
            self._set_tolerances(spec)
        self.event_monitor: EventMonitor | None = spec.events
        if self.event_monitor is not None:
            self.event_monitor.attach_run(self)
            job.events = ctypes.addressof(self.event_monitor.fields)
            self.calls_python = True

    def _set_tolerances(self, spec: RunSpec) -> None:
        """An adaptive run."""
        x: AdaptiveTolerances = spec.tolerances
        work = np.zeros(self.calls.workspace_size())
        atol, caps = (np.array([*x, 0.0]) for x in (x.atol, x.size_caps))
        self._attach_arrays(times=np.array(spec.output_time_grid), atol=atol, caps=caps, work=work)
        self._attach_arrays(
            groups=np.array(x.unit_groups, dtype=np.int64), largest=np.zeros(len(atol))
        )
        self._job.rtol, self._job.most, self._job.pause, self._job.look = (
            x.rtol,
            spec.max_steps,
            FIRST_PAUSE,
            spec.stiffness_check,
        )

    def continue_from(self, previous: CRun) -> None:
        """Continues with another method where a run has come to; its steps count."""
        self.restore(replace(previous.save(), integrator_state=None))
        self._arrays["largest"][:] = previous._arrays["largest"]
        for name in COUNTED:
            setattr(self._job, name, getattr(previous._job, name))

    def _attach_arrays(self, **arrays: np.ndarray) -> None:
        """Arrays that C reads and writes."""
        for name, array in arrays.items():
            setattr(self._job, name, array_address(array))
            self._arrays[name] = array

    def _default_arrays(self, spec: RunSpec) -> dict[str, list[float]]:
        """What the arrays that every run has begin with; what is given (`_given_numbers`) stands in
        the first."""
        zeros = [0.0] * len(spec.state)
        return {
            "y": zeros,
            "p": [0.0] * (len(spec.p) + 1),
            "c": [0.0] * (len(spec.c) + 1),
            "k": zeros,
            "old": zeros,
            "bad": [math.nan] * len(zeros),
            "kept": [0.0] * (len(self._program.inputs) - len(spec.inputs) + 1),
        }

    def _given_numbers(self, spec: RunSpec) -> list[float]:
        """What is given, in the order of the first arrays."""
        return [*np.asarray(spec.state, float).tolist(), *spec.p, 0.0, *spec.c, 0.0]

    def _make_array_block(self, spec: RunSpec) -> RunArrays:
        """The arrays that every run has; they are laid out once for a program."""
        layout = self.calls.compiled.layouts.get(type(self))
        if layout is None:
            defaults, ranges, offset = self._default_arrays(spec), {}, 0
            for name, values in defaults.items():
                ranges[name] = offset, offset + len(values)
                offset += len(values)
            layout = RunArrayLayout(np.array([*chain.from_iterable(defaults.values())]), ranges)
            self.calls.compiled.layouts[type(self)] = layout
        room, numbers = layout.initial_values.copy(), self._given_numbers(spec)
        room[: len(numbers)] = numbers
        job, base_address = self._job, array_address(room)
        for name, (offset, _) in layout.places.items():
            setattr(job, name, base_address + offset * 8)
        return RunArrays(room, layout.places)

    @property
    def _loops(self) -> LoopEquations:
        """Those of the program, which has some."""
        loops = self._program.loops
        assert loops is not None
        return loops

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that C reads and writes, by name."""
        return {**self._arrays.materialize(), "memory": self.memory}

    @property
    def rates(self) -> NDArray[np.float64]:
        """At the state."""
        return self._arrays["k"]

    @property
    def nonfinite_state(self) -> NDArray[np.float64]:
        """The state that is not finite, if any."""
        return self._arrays["bad"]

    @property
    def _sampled_array(self) -> NDArray[np.float64]:
        return self._arrays["kept"]

    @property
    def job(self) -> Any:
        """The job as C knows it."""
        return self._job

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return self._width

    @property
    def sampled_values(self) -> NDArray[np.float64]:
        """Values of user functions that hold at present."""
        return self._sampled_array[:-1]

    @property
    def time(self) -> float:
        return (
            self.spec.step_end(self.steps_done)
            if self.spec.output_time_grid is None
            else float(self._job.t)
        )

    @property
    def statistics(self) -> StepStatistics:
        """What the steps took that a method chose."""
        j = self._job
        figures = (
            j.steps,
            j.rejected,
            j.evaluations,
            j.shortest,
            j.longest,
            j.slopes,
            j.factors,
            j.failures,
        )
        stiff = (j.fastest, j.slowed, bool(j.held), j.pace, j.backs, j.went_back)
        return StepStatistics(j.most, *figures, *stiff, j.culprit, j.excess, self.nonfinite_state)

    def save(self) -> Checkpoint:
        """What a run that continues from here takes over."""
        arrays = {
            name: a.copy() for name, a in self._arrays.materialize().items() if name not in GIVEN
        }
        fields = {name: _field_value(getattr(self._job, name)) for name in self.checkpoint_fields}
        return Checkpoint(
            self.sampled_values.copy(),
            self.memory.copy(),
            integrator_state={"stepper": type(self).__name__, **arrays, **fields},
        )

    def restore(self, saved: Checkpoint) -> None:
        """Continues from what another run left."""
        self._sampled_array[:-1], self.memory[:] = saved.sampled_values, saved.memory
        self._job.begun = AGAIN
        inside = saved.integrator_state
        if inside is None or inside["stepper"] != type(self).__name__:
            return
        self._job.begun = BEGUN
        for name, array in self._arrays.materialize().items():
            if name not in GIVEN:
                array[...] = inside[name]
        for name in self.checkpoint_fields:
            setattr(self._job, name, inside[name])

    def set_parameters(self, p: Sequence[float], c: Sequence[float]) -> None:
        """Takes other parameters and constants."""
        self._arrays["p"][:-1], self._arrays["c"][:-1] = p, c

    def reinitialize(
        self, state: NDArray[np.float64], p: Sequence[float], c: Sequence[float]
    ) -> None:
        """Begins as it did, from another state and with other parameters; of runs without loops and
        wheels."""
        self.state[:] = state
        self.set_parameters(p, c)
        for array in (self.rates, self._sampled_array, self.memory):
            array[:] = 0.0
        job, self.steps_done, self.status, self.problem = (
            self._job,
            self.spec.first_step,
            FINISHED,
            "",
        )
        job.begun, job.status, job.reached, job.t = (
            0,
            FINISHED,
            self.steps_done,
            self.spec.step_start(self.steps_done + 1),
        )

    def advance(self, last: int) -> NDArray[np.float64]:
        """Continues to step `last`, or as far as it comes before it pauses; the rows recorded on
        the way."""
        first = self.steps_done
        count = last // self.spec.output_every - first // self.spec.output_every + 2
        if self.event_monitor is not None:
            count += EVENT_ROWS
            if (
                self.spec.output_time_grid is not None
            ):  # a step with an event in it records all rows up to that
                count += self.spec.n_steps - last
        rows = np.empty((count, self._width))
        self._job.first, self._job.last, self._job.filled, self._job.most_rows = (
            first,
            last,
            0,
            count,
        )
        self.set_row_buffer(rows)
        began = time.perf_counter()
        self.status = self.call_kernel("run")
        seconds = time.perf_counter() - began
        self.calls.add_run_time(seconds)
        if self.spec.output_time_grid is not None:
            pause_factor = PAUSE_SECONDS / max(seconds, 1e-9)
            self._job.pause = max(
                1, min(int(self._job.pause * min(pause_factor, 2.0)), self._job.most)
            )
        self.update_status(self.status)
        return rows[: self._job.filled]

    def update_status(self, status: int) -> None:
        """Notes how far C came, and why it came no further."""
        self.status, self.steps_done = status, self._job.reached

    def set_row_buffer(self, rows: NDArray[np.float64]) -> None:
        """Lets C write its rows there."""
        self.rows, self._job.rows = rows, array_address(rows)

    def call_kernel(self, name: str, *arguments: KernelArgument) -> int:
        """Calls a function of the kernel for this run; given are numbers, arrays or None."""
        function = getattr(self.calls.library, name)
        c_arguments: list[object] = [
            ctypes.c_void_p(array_address(x)) if isinstance(x, np.ndarray) else x for x in arguments
        ]
        c_arguments = [ctypes.c_double(x) if isinstance(x, float) else x for x in c_arguments]
        return int(self.call_c(lambda: function(ctypes.byref(self._job), *c_arguments)))

    def check_events(
        self,
        t: float,
        sampled_values: NDArray[np.float64],
        memory: NDArray[np.float64],
        steps_done: int,
    ) -> NDArray[np.float64] | None:
        """Look for events in a step of SciPy that ends at t, after `steps_done` output times.

        Return the row before the event that ends the step, and the row after it if it has an
        action; None without one.
        """
        rows = np.empty((4, self._width))
        self._sampled_array[:-1], self.memory[:] = sampled_values, memory
        self._job.t, self._job.reached, self._job.total = (
            t,
            steps_done,
            len(self._arrays["times"]) - 1,
        )
        self.set_row_buffer(rows)
        return rows[: self._job.filled] if self.call_kernel("look_at_step") else None

    def set_check_times(self, times: NDArray[np.float64]) -> None:
        """Looks at output times within steps, too."""
        self._attach_arrays(times=np.array(times))

    def event_workspace_size(self, sizes: ctypes.Structure) -> int:
        """How many numbers events need, by their counts."""
        room = self.calls.library.event_room
        room.restype = ctypes.c_int64
        return int(room(ctypes.byref(sizes)))

    @property
    def extra_arrays(self) -> dict[str, np.ndarray]:
        """What C writes besides `arrays`, by name."""
        return {}

    def call_c(self, call: Callable[[], Result]) -> Result:
        """Calls C; raises what routines or inputs in Python raised."""
        return self.calls.callbacks.call_c(call) if self.calls_python else call()

    def _input_callback(self, number: int, t: float, value: DoublePointer | list[float]) -> int:
        return self.calls.callbacks.run_guarded(self._evaluate_input, number, t, value)

    def _evaluate_input(self, number: int, t: float, value: DoublePointer | list[float]) -> None:
        value[0] = self.inputs[number].function(t)


class LoopCRun(CRun):
    """A run in C whose loops are kept closed. `singular_passages`: visits near singular
    configurations."""

    checkpoint_fields = (
        *CRun.checkpoint_fields,
        "ratio",
        "steady",
        "n_past",
        "wary",
        "near",
        "curves",
        "portions",
        "visit",
    )

    def __init__(self, program_calls: KernelCalls, spec: RunSpec) -> None:
        super().__init__(program_calls, spec)
        self._over: list[SingularityPassage] = []
        self._visits, job = np.empty((MOST_PASSAGES, 6)), self._job
        job.passages, job.most_passages = array_address(self._visits), MOST_PASSAGES
        job.visit[1], job.staged = 1.0, spec.closes_every_stage

    def _default_arrays(self, spec: RunSpec) -> dict[str, list[float]]:
        n_q, n_u = len(self._program.coordinates), len(self._program.speeds)
        past, bridges = [0.0] * (3 * (1 + n_u)), [0.0] * (bridge_room(self._blocks) + 1)
        defaults = super()._default_arrays(spec)
        first_arrays = {name: defaults.pop(name) for name in ("y", "p", "c")} | {
            "root_q": [1.0] * n_q,
            "root_u": [1.0] * n_u,
        }
        return first_arrays | defaults | {"past": past, "bridges": bridges}

    def _given_numbers(self, spec: RunSpec) -> list[float]:
        numbers = super()._given_numbers(spec)
        for weights in spec.weights or ():
            numbers += map(math.sqrt, weights.tolist())
        return numbers

    @property
    def _blocks(self) -> tuple[Block, ...]:
        return self._loops.scales.blocks

    @property
    def extra_arrays(self) -> dict[str, np.ndarray]:
        return {"passages": self._visits}

    def restore(self, saved: Checkpoint) -> None:
        super().restore(saved)
        setattr(self._job, "from", self.state.ctypes.data)

    def advance(self, last: int) -> NDArray[np.float64]:
        rows, job = super().advance(last), self._job
        self._over += map(
            self._make_passage, self._visits[: min(job.n_passages, MOST_PASSAGES)].tolist()
        )
        job.n_passages = 0
        self.singular_passages = [*self._over]
        if 0.0 <= job.visit[1] < LOOPS.near:
            self.singular_passages.append(self._make_passage(list(job.visit)))
        return rows

    @property
    def job_address(self) -> int:
        """Where the job is."""
        return ctypes.addressof(self._job)

    @property
    def weight_roots(self) -> Weights:
        """Of the weights of coordinates and speeds."""
        return self._arrays["root_q"], self._arrays["root_u"]

    def set_weights(self, weights: Weights) -> None:
        for root, w in zip(self.weight_roots, weights, strict=True):
            np.sqrt(w, out=root)

    def close_loops(
        self, y: NDArray[np.float64], free: np.ndarray, nudges: int
    ) -> tuple[int, float, bool]:
        """Brings a state onto the constraints: -1 or the row that stays open, its residual, is a
        direction reversed?"""
        residual, reverse = ctypes.c_double(), ctypes.c_int()
        arguments = (
            array_address(y),
            array_address(free),
            nudges,
            ctypes.addressof(residual),
            ctypes.addressof(reverse),
        )
        row = self.call_c(
            lambda: self.calls.libraries.current.assemble(self.job_address, *arguments)
        )
        return row, residual.value, bool(reverse.value)

    def compute_weights(self) -> None:
        """Takes the weights at its state."""
        job = self._job
        self.call_c(
            lambda: self.calls.libraries.current.compute_weights(
                self.job_address, job.y, job.root_q, job.root_u
            )
        )

    def project_onto_branch(self) -> int:
        """Brings its state onto a branch; the status."""
        return int(
            self.call_c(lambda: self.calls.libraries.current.project_onto_branch(self.job_address))
        )

    def set_state(self, t: float, state: NDArray[np.float64]) -> None:
        """Takes a time and state, with nothing behind it."""
        job, arrays = self._job, self._arrays
        self.state[:], job.t = state, t
        for name in ("past", "bridges"):
            arrays[name][:] = 0.0
        job.n_past = job.wary = job.near = job.curves = job.portions = 0
        job.visit[:] = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)

    def update_status(self, status: int) -> None:
        super().update_status(status)
        if status == NOT_CLOSED:
            row = self._loops.positions[self._job.worst]
            self.problem = loop_open_message(row, self._job.moved, self._job.residual)

    def _make_passage(self, visit: list[float]) -> SingularityPassage:
        time, ratio, block, residual, reversal, missed = visit
        if ratio == SingularityPassage.DIVIDED:
            return SingularityPassage(time, ratio)
        rows = self._blocks[int(block) - 1][0] if block else ()
        loop = self._loops.names[rows[0]] if rows else ""
        return SingularityPassage(time, ratio, loop, residual, bool(reversal), bool(missed))


class DaeCRun(CRun):
    """A run in C by a method for differential-algebraic equations."""

    checkpoint_fields = (*CRun.checkpoint_fields, "fresh", "way")

    def __init__(self, program_calls: KernelCalls, spec: RunSpec) -> None:
        super().__init__(program_calls, spec)
        job = self._job
        dae: DaeSettings = spec.dae
        self._attach_arrays(frozen=np.zeros(2 * len(self._loops.v) + 1))
        job.dae, job.free_fall = DAE_METHODS.index(dae.method), int(dae.base == "free fall")
        job.alpha, job.beta, job.gamma = dae.alpha, dae.beta, dae.gamma


class RigidCRun(CRun):
    """A run in C with rigid wheels."""

    checkpoint_fields = (*CRun.checkpoint_fields, "from_time")
    KINDS = ("impact", "rolls", "leaves the ground", "is held in a notch")

    def __init__(self, program_calls: KernelCalls, spec: RunSpec) -> None:
        super().__init__(program_calls, spec)
        modes = np.zeros((len(spec.wheels), WHEEL_MODES))
        modes[:, 4] = 1.0
        self._room, self._depths = np.zeros((4000, 3)), np.zeros(len(spec.wheels))
        self._attach_arrays(modes=modes, told=self._room, depths=self._depths)
        self._job.most_told = len(self._room)

    def raise_wheels(self) -> dict[str, float]:
        """Moves wheels that start below the ground out of it; which, and how deep they were."""
        self.call_kernel("raise_wheels")
        return self.take_raised_wheels()

    def take_raised_wheels(self) -> dict[str, float]:
        """Wheels that were moved out of the ground since this was asked last, and how deep they
        were."""
        depths = {
            name: d
            for name, d in zip(self.spec.wheels, self._depths.tolist(), strict=True)
            if d > 0
        }
        self._depths[:] = 0.0
        return depths

    def advance(self, last: int) -> NDArray[np.float64]:
        rows = super().advance(last)
        self.report_wheel_events()
        return rows

    def report_wheel_events(self) -> None:
        """Reports the wheels what happened since this was called last."""
        count, self._job.n_told = self._job.n_told, 0
        for t, wheel, kind in self._room[:count].tolist():
            if self.spec.wheel_callback is not None:
                self.spec.wheel_callback(
                    f"{self.spec.wheels[int(wheel)]} {self.KINDS[int(kind)]}", t
                )


def _field_value(value: object) -> object:
    """A field of a job as it is kept: an array as a tuple."""
    return tuple(value) if isinstance(value, ctypes.Array) else value


def to_input_struct(source: ProgramInput) -> InputSignal:
    """An input as C knows it; the arrays stay those of the input."""
    result = InputSignal(
        kind=NUMBERED.index(source.kind), rate=source.derivative, scale=source.scale
    )
    result.a[: len(source.coefficients)] = source.coefficients
    if source.points is not None and source.pieces is not None:
        result.n, result.x, result.pieces = (
            len(source.points),
            source.points.ctypes.data,
            source.pieces.ctypes.data,
        )
    return result
