"""Co-simulation FMUs as functions of sampled controllers, called through FMPy.

A sample is one step of the FMU: its inputs are set, it computes one sample time, and its outputs
are the torques until the next sample. FMI 2 allows no other order: outputs may not be read between
inputs and a step.

The memory of a run has two numbers: a history, which is the list of samples of a run, and how many
of its samples were taken. Zeros begin a history and an instance of the FMU. Where the instance is
at another sample, as in a run that continues an earlier one, another instance computes the samples
before once more. So no FMU must save its state.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import secrets
import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError, RunError, did_you_mean, optional_package

MEMORY = 2  # numbers that a run remembers: its history and the count of its samples
OPEN = max(32, 2 * (os.cpu_count() or 1))  # instances of an FMU at a time
KNOWN = 200_000  # samples above which histories without an instance are forgotten, oldest first
EARLY = 1e-9  # s, by which the time of a step may fall short of that of a sample
REALS = ("Real", "Float64")  # of FMI 2 and FMI 3
LISTED = 12  # variables in a message


@dataclass(frozen=True)
class FmuVariableScaling:
    """A variable of the FMU: value in SI units = factor*x + offset."""

    reference: int
    factor: float
    offset: float


class FmuController:
    """A file of an FMU with the names of its inputs and outputs, as a function of time, inputs and
    memory."""

    def __init__(
        self,
        name: str,
        content: bytes,
        inputs: Sequence[str],
        outputs: Sequence[str],
        sample_time: float,
    ) -> None:
        self._recipe = (name, content, tuple(inputs), tuple(outputs), sample_time)
        self.name, self.sample_time = name, sample_time
        self._fmpy = optional_package("fmpy", "fmu")
        self._folder = tempfile.mkdtemp(prefix="bellcrank-fmu-")
        self._histories: OrderedDict[float, FmuSampleHistory] = OrderedDict()
        Finalize(
            self, _free_instances, (self._histories, self._folder), exitpriority=0
        )  # in worker processes as well
        self._lock = threading.Lock()  # FMPy changes the working folder while it loads a library
        try:
            self._fmpy.extract(io.BytesIO(content), self._folder)
            self._description = self._fmpy.read_model_description(self._folder, validate=False)
        except Exception as error:
            raise ModelError(f"'{name}' is not an FMU: {error}") from error
        description = self._description
        if description.fmiVersion not in ("2.0", "3.0"):
            raise ModelError(
                f"'{name}' is an FMU of FMI {description.fmiVersion}; a controller needs "
                f"FMI 2.0 or 3.0"
            )
        if description.coSimulation is None:
            raise ModelError(f"'{name}' is an FMU without co-simulation, which a controller needs")
        self._open = 1 if description.coSimulation.canBeInstantiatedOnlyOncePerProcess else OPEN
        self._inputs, input_problems = self._find_variables("input", inputs)
        self._outputs, output_problems = self._find_variables("output", outputs)
        if input_problems or output_problems:
            raise ModelError([*input_problems, *output_problems])

    @classmethod
    def read(
        cls, path: str | Path, inputs: Sequence[str], outputs: Sequence[str], sample_time: float
    ) -> FmuController:
        """Reads an FMU and opens it once, as a check."""
        if not isinstance(path, str | Path) or not Path(path).is_file():
            raise ModelError(f"fmu={str(path)!r:.200}: there is no such file")
        controller = cls(Path(path).name, Path(path).read_bytes(), inputs, outputs, sample_time)
        FmuInstance(controller).close()
        return controller

    def __reduce__(self) -> Any:
        """Another process opens separate instances."""
        return type(self), self._recipe

    def __call__(self, t: float, *arguments: Any) -> tuple[float, ...]:
        """The outputs of the sample at a time; the memory advances by one sample."""
        *inputs, memory = arguments
        row = (math.floor((t + EARLY) / self.sample_time), *inputs)
        with self._lock:
            history, count = self._history_of(memory), int(memory[1])
            if (
                count < len(history.rows) and history.rows[count] == row
            ):  # another run came through it
                outputs = history.outputs[count]
            else:
                if count < len(history.rows):
                    history = self._start_history(memory, history, count)
                outputs = self._step(history, row)
            memory[1] = count + 1
        return outputs

    def _history_of(self, memory: Any) -> FmuSampleHistory:
        """The history of a run, now the latest one."""
        if not memory[0]:
            return self._start_history(memory)
        if memory[0] not in self._histories:
            raise RunError(
                f"FMU '{self.name}': this run continues one whose samples are not known: it "
                f"is of another process, or "
                f"more than {KNOWN:,} samples were taken since. Begin the run at its start"
            )
        self._histories.move_to_end(memory[0])
        return self._histories[memory[0]]

    def _start_history(
        self, memory: Any, source: FmuSampleHistory | None = None, count: int = 0
    ) -> FmuSampleHistory:
        """A separate history of a run, with the first samples of another one."""
        rows, outputs = (
            ([], []) if source is None else (source.rows[:count], source.outputs[:count])
        )
        memory[0] = secrets.randbits(52) + 1
        self._histories[memory[0]] = history = FmuSampleHistory(rows, outputs)
        total = sum(len(x.rows) for x in self._histories.values())
        for token, old in list(self._histories.items())[:-1]:
            if total <= KNOWN or old.instance is not None:
                break
            total -= len(old.rows)
            del self._histories[token]
        return history

    def _step(self, history: FmuSampleHistory, row: tuple[float, ...]) -> tuple[float, ...]:
        """Takes a sample."""
        try:
            if history.instance is None:
                opened = [x for x in self._histories.values() if x.instance is not None]
                for old in opened[: max(0, len(opened) - self._open + 1)]:
                    old.close()
                history.instance = FmuInstance(self)
                for sample in history.rows:
                    history.instance.step(sample)
            outputs: tuple[float, ...] = history.instance.step(row)
        except BaseException:  # it may be within a sample
            history.close()
            raise
        history.rows.append(row)
        history.outputs.append(outputs)
        return outputs

    def _find_variables(
        self, causality: str, names: Iterable[str]
    ) -> tuple[list[FmuVariableScaling], list[str]]:
        """Variables by name, and what is wrong with the names."""
        units = {u.name: u.baseUnit for u in self._description.unitDefinitions}
        model_variables = {v.name: v for v in self._description.modelVariables}
        candidates = [
            v.name
            for v in model_variables.values()
            if v.causality == causality and _is_real_scalar(v)
        ]
        ellipsis = " ..." if len(candidates) > LISTED else ""
        listing = (
            f"Its {causality}s of type Real: {', '.join(candidates[:LISTED]) or 'none'}{ellipsis}"
        )
        variables, problems = [], []
        for name in names:
            v = model_variables.get(name)
            if v is None:
                problems.append(
                    f"'{self.name}' has no variable "
                    f"'{name}'.{did_you_mean(str(name), candidates)} {listing}"
                )
            elif v.causality != causality:
                problems.append(
                    f"variable '{name}' of '{self.name}' has causality {v.causality}, not "
                    f"{causality}. {listing}"
                )
            elif not _is_real_scalar(v):
                kind = f"an array of {v.type}" if v.dimensions else v.type
                problems.append(
                    f"variable '{name}' of '{self.name}' is {kind}, not a number of type "
                    f"Real. {listing}"
                )
            else:
                base = units.get(v.unit or getattr(v.declaredType, "unit", None))
                scale = (1.0, 0.0) if base is None else (float(base.factor), float(base.offset))
                variables.append(FmuVariableScaling(v.valueReference, *scale))
        return variables, problems


@dataclass(eq=False)
class FmuSampleHistory:
    """Samples of a run: places on the grid of the sample time with inputs, outputs, and the
    instance that is behind the last one, if it is open."""

    rows: list[tuple[float, ...]]
    outputs: list[tuple[float, ...]]
    instance: FmuInstance | None = None

    def close(self) -> None:
        if self.instance is not None:
            self.instance.close()
            self.instance = None


class FmuInstance:
    """An instance of the FMU, from its start on."""

    def __init__(self, controller: FmuController) -> None:
        self._of, self._messages = weakref.proxy(controller), deque[str](maxlen=3)
        self._next = 0  # place on the grid of the sample time that it has reached
        self._started = self._failed = False
        description = controller._description
        self._three = description.fmiVersion == "3.0"
        try:
            self._fmu = controller._fmpy.instantiate_fmu(
                controller._folder, description, "CoSimulation", logger=self._log
            )
        except Exception as error:
            platforms = (
                ", ".join(controller._fmpy.supported_platforms(controller._folder)) or "no platform"
            )
            messages = "; ".join([str(error).rstrip("."), *self._messages])
            platform_note = (
                f"The file is for {platforms}; this computer needs {controller._fmpy.platform}"
            )
            raise ModelError(
                f"FMU '{controller.name}' cannot be loaded: {messages}. {platform_note}"
            ) from error

    def step(self, row: Sequence[float]) -> tuple[float, ...]:
        """Computes one sample time from a place on the grid, with new inputs."""
        index, *inputs = row
        h, controller = self._of.sample_time, self._of
        try:
            if not self._started:
                self._start(int(index), inputs)
            while self._next < index:  # samples that were not taken: adaptive methods
                self._compute()
            self._set(inputs)
            self._compute()
            get_reals = self._fmu.getFloat64 if self._three else self._fmu.getReal
            values = get_reals([v.reference for v in controller._outputs])
        except Exception as error:
            self._failed = True
            messages = "; ".join([str(error).rstrip("."), *self._messages])
            raise RunError(
                f"FMU '{controller.name}' failed in its step from t = {index * h:g} s on: "
                f"{messages}"
            ) from error
        return tuple(
            v.factor * x + v.offset for v, x in zip(controller._outputs, values, strict=True)
        )

    def close(self) -> None:
        """Ends it; an FMU that fails now can do no harm."""
        with contextlib.suppress(Exception):
            if self._started and not self._failed:
                self._fmu.terminate()
        with contextlib.suppress(Exception):
            self._fmu.freeInstance()

    def _start(self, index: int, inputs: Sequence[float]) -> None:
        start_time = index * self._of.sample_time
        if self._three:
            self._fmu.enterInitializationMode(startTime=start_time)
        else:
            self._fmu.setupExperiment(startTime=start_time)
            self._fmu.enterInitializationMode()
        self._set(inputs)
        self._fmu.exitInitializationMode()
        self._next, self._started = index, True

    def _set(self, inputs: Sequence[float]) -> None:
        variables = self._of._inputs
        if variables:
            set_reals = self._fmu.setFloat64 if self._three else self._fmu.setReal
            set_reals(
                [v.reference for v in variables],
                [(x - v.offset) / v.factor for v, x in zip(variables, inputs, strict=True)],
            )

    def _compute(self) -> None:
        """One sample time."""
        h = self._of.sample_time
        flags = self._fmu.doStep(self._next * h, h)
        if flags and (flags[1] or flags[2]):  # FMI 3: terminateSimulation, earlyReturn
            raise RuntimeError(
                "it asked to end the run" if flags[1] else "it returned before the end of the step"
            )
        self._next += 1

    def _log(self, *arguments: Any) -> None:
        text = arguments[-1]
        self._messages.append(
            text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        )


def _is_real_scalar(v: Any) -> bool:
    return v.type in REALS and not v.dimensions


def _free_instances(histories: OrderedDict[float, FmuSampleHistory], folder: str) -> None:
    """Frees all instances before the library that they need is removed."""
    for history in histories.values():
        history.close()
    shutil.rmtree(folder, ignore_errors=True)
