"""What a program must know of its model besides the equations: keywords, user units, words, and values to begin with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bellcrank.files.parsfile import parsfile_line
from bellcrank.numeric.methods import listing


@dataclass(frozen=True)
class Quantity:
    """A parameter or a state: one of `unit` is `factor` equation units. `value` in user units, None if there is none."""

    keyword: str
    unit: str
    label: str
    factor: float
    value: float | None
    given: bool = True  # a state: is its initial value told, or found from the others?
    name: str = ""  # in the model


@dataclass(frozen=True)
class Signal:
    """An input over time in user units: `kind` and its `numbers`, or points and cubic pieces; kind "" is none."""

    keyword: str
    unit: str
    label: str
    factor: float
    kind: str = ""
    numbers: tuple[float, ...] = ()
    points: np.ndarray | None = None
    pieces: np.ndarray | None = None
    name: str = ""  # in the model

    @property
    def file(self) -> str:
        """The file that holds a sampled signal."""
        return f"{_plain(self.keyword)}.txt" if self.points is not None else ""

    @property
    def straight(self) -> bool:
        """Whether straight lines join the points."""
        return self.pieces is not None and not np.any(self.pieces[:, 2:])


@dataclass(frozen=True)
class OutputChannel:
    """A channel of the output file: a state, an output or an input."""

    name: str
    short: str
    unit: str
    label: str
    generic: str
    body: str
    factor: float
    column: int  # in a row of time, states, outputs and inputs


@dataclass(frozen=True)
class Facts:
    """All of it. States are the coordinates, then the speeds; channels follow the states, then outputs and inputs."""

    title: str
    stem: str
    units: str
    parameters: tuple[Quantity, ...]
    states: tuple[Quantity, ...]
    n_q: int
    removed: tuple[str, ...]  # keywords of speeds that constraints determine
    guessed: tuple[bool, ...]  # coordinates that loops may move although they are given
    signals: tuple[Signal, ...]
    inputs: tuple[tuple[int, int], ...]  # each input of the program: its signal, and how often it is differentiated
    channels: tuple[OutputChannel, ...]
    t_end: float
    step: float
    method: str
    every: int
    notes: tuple[str, ...] = ()
    entered: tuple[Quantity, ...] = ()  # parameters that external routines give
    about: tuple[str, ...] = ()  # what the model consists of, in lines
    echoed: tuple[Quantity, ...] = ()  # what external routines give to the echo


def number(x: float) -> str:
    """The shortest text that is read back as the same number."""
    if np.isinf(x):
        return "1e300" if x > 0 else "-1e300"
    return repr(float(x))


def default_input(facts: Facts) -> str:
    """The parameter file that a program comes with: every keyword it knows, with its default."""
    lines = [
        "PARSFILE",
        f"* Input of {facts.title}: keyword, value, then words for the reader. Values are in the units named.",
        "* Lines that begin with * are comments; PARSFILE name goes on with another file. Times in s.",
        *(f"* {note}" for note in facts.notes),
        f"TITLE {facts.title}",
        "",
        "* run",
        parsfile_line("STOPT", number(facts.t_end), "s", "end of the run"),
        parsfile_line("STEP", number(facts.step), "s", "time step"),
        parsfile_line("IPRINT", str(facts.every), "", "steps from one output to the next"),
        parsfile_line("METHOD", facts.method, "", listing()),
        "",
        "* parameters",
    ]
    for p in facts.parameters:
        if p.value is None:
            lines.append(f"* {parsfile_line(p.keyword, '...', p.unit, p.label)}: a value must be given")
        else:
            lines.append(parsfile_line(p.keyword, number(p.value), p.unit, p.label))
    if facts.signals:
        lines += [
            "",
            "* inputs: constant VALUE | step AT HEIGHT BEFORE | ramp START SLOPE END | sine AMPLITUDE HZ PHASE START",
        ]
        lines += ["*         | chirp AMPLITUDE HZ1 HZ2 DURATION START | file NAME"]
    for s in facts.signals:
        if not s.kind:
            lines.append(f"* {parsfile_line(s.keyword, '...', s.unit, s.label)}: an input must be given")
        elif s.file:
            lines.append(parsfile_line(s.keyword, f"file {s.file}", s.unit, s.label))
        else:
            lines.append(parsfile_line(s.keyword, f"{s.kind} {' '.join(map(number, s.numbers))}", s.unit, s.label))
    lines += ["", "* initial values"]
    for q in facts.states:
        line = parsfile_line(q.keyword, number(q.value or 0.0), q.unit, q.label)
        lines.append(line if q.given else f"* {line} (found by the program)")
    routines = [q for q in (*facts.entered, *facts.echoed) if q.value is not None]
    lines += ["", "* from external routines"] if routines else []
    lines += [f"* {parsfile_line(q.keyword, number(q.value or 0.0), q.unit, q.label)}" for q in routines]
    return "\n".join([*lines, "END", ""])


def signal_file(signal: Signal) -> str:
    """Points of a sampled input: time and value, or time and the four coefficients of the cubic piece that begins there."""
    assert signal.points is not None and signal.pieces is not None
    if signal.straight:
        lines = [f"* {signal.keyword} ({signal.unit}) over time in s, straight lines between"]
        last = float(signal.pieces[-1, 0] + signal.pieces[-1, 1] * (signal.points[-1] - signal.points[-2]))
        values = [*signal.pieces[:, 0].tolist(), last]
        lines += [f"{number(t)} {number(v)}" for t, v in zip(signal.points.tolist(), values, strict=True)]
    else:
        lines = [
            f"* {signal.keyword} ({signal.unit}): time in s, and a0 a1 a2 a3 of a0 + a1 s + a2 s^2 + a3 s^3 from there on"
        ]
        rows = [*signal.pieces.tolist(), [0.0] * 4]
        lines += [" ".join([number(t), *map(number, row)]) for t, row in zip(signal.points.tolist(), rows, strict=True)]
    return "\n".join([*lines, ""])


def input_files(facts: Facts) -> dict[str, str]:
    """The default input and the files it names."""
    files = {f"{facts.stem}.par": default_input(facts)}
    return files | {s.file: signal_file(s) for s in facts.signals if s.file}


def _plain(text: str) -> str:
    return "".join(ch if ch.isalnum() and ch.isascii() else "_" for ch in Path(text).name)
