"""What a program must know of its model besides the equations, and the parameter file that reports
it.

In:  quantities of an `Interface` under the keywords that files know them by, with values to begin
with. Out: the default input of a program and the files of its sampled inputs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bellcrank.codegen.c.rigid import RigidWheel
from bellcrank.core.files.parsfile import parsfile_line
from bellcrank.core.numeric.fixed_step_methods import (
    EXPLICIT,
    METHODS,
    join_alternatives,
    method_listing,
)
from bellcrank.core.signals import SIGNAL_KINDS, Signal
from bellcrank.mechanics.interface.interface import Interface, Quantity
from bellcrank.simulation.run.dae_methods import Dae
from bellcrank.simulation.run.dae_runs import fixed_step_methods
from bellcrank.simulation.run.event_specs import EventFormula


@dataclass(frozen=True)
class KeyedQuantity:
    """A quantity of the model under its keyword, or a channel under its short name."""

    keyword: str
    quantity: Quantity
    value: float | None = None  # in user units
    given: bool = True  # a state: is its initial value reported, or found from the others?
    signal: Signal | None = None  # an input: what it is over time, unless it must be given

    @property
    def name(self) -> str:
        return self.quantity.name

    @property
    def unit(self) -> str:
        return self.quantity.unit.text

    @property
    def factor(self) -> float:
        return self.quantity.unit.factor

    @property
    def label(self) -> str:
        return self.quantity.description

    @property
    def closed_form_signal(self) -> Signal | None:
        """A signal that a kind and its numbers describe."""
        return self.signal if self.signal is not None and self.signal.points is None else None

    @property
    def sample_file_name(self) -> str:
        """The file that holds a sampled signal."""
        plain = "".join(
            ch if ch.isalnum() and ch.isascii() else "_" for ch in Path(self.keyword).name
        )
        return f"{plain}.txt" if self.signal is not self.closed_form_signal else ""


@dataclass(frozen=True)
class KernelFeatures:
    """What the kernel does for a model besides plain steps."""

    wheels: tuple[
        tuple[RigidWheel, bool], ...
    ] = ()  # rigid ones; must each start above the ground?
    dae: Dae | None = None  # a method that keeps constraints, if it is not the usual one

    @property
    def uses_multipliers(self) -> bool:
        """Are the equations those with multipliers?"""
        return self.dae is not None and not self.dae.usual

    @property
    def equation_kind(self) -> str:
        """Those of closed loops that runs need."""
        return "multipliers" if self.uses_multipliers else "minimal"

    @property
    def allows_adaptive_steps(self) -> bool:
        """Can steps be chosen by the method?"""
        return not self.wheels and not self.uses_multipliers

    def available_methods(self, methods_known: Sequence[str]) -> list[str]:
        """Those of the methods known that this model can be run by."""
        if self.allows_adaptive_steps:
            return [*methods_known]
        possible = EXPLICIT if self.wheels or self.dae is None else fixed_step_methods(self.dae)
        return [x for x in methods_known if x in possible]


PLAIN = KernelFeatures()


@dataclass(frozen=True)
class ProgramSetup:
    """All of it. States are the coordinates, then the speeds; channels follow the states, then
    outputs and inputs."""

    interface: Interface
    title: str
    stem: str
    parameters: tuple[KeyedQuantity, ...]
    states: tuple[KeyedQuantity, ...]
    removed: tuple[str, ...]  # keywords of speeds that constraints determine
    guessed: tuple[bool, ...]  # coordinates that loops may move although they are given
    signals: tuple[KeyedQuantity, ...]
    inputs: tuple[
        tuple[int, int], ...
    ]  # each input of the program: its signal, and how often it is differentiated
    channels: tuple[KeyedQuantity, ...]
    entered: tuple[KeyedQuantity, ...]  # parameters that user functions give
    echoed: tuple[KeyedQuantity, ...]  # what user functions give to the echo
    t_end: float
    step: float
    method: str
    every: int
    notes: tuple[str, ...] = ()
    about: tuple[str, ...] = ()  # what the model consists of, in lines
    tolerances: tuple[tuple[str, float], ...] = ()  # of an adaptive method, by keyword
    events: tuple[EventFormula, ...] = ()
    own: tuple[KeyedQuantity, ...] = ()  # parameters that stand in events alone
    slides: tuple[bool, ...] = ()  # coordinates that slide
    follows: tuple[bool, ...] = ()  # states that loops move first where an event has set others
    special: KernelFeatures = PLAIN

    @property
    def settable_parameters(self) -> tuple[KeyedQuantity, ...]:
        """All parameters that a file may give."""
        return (*self.parameters, *self.own)

    @property
    def n_q(self) -> int:
        return len(self.interface.coordinates)


def shortest_number(x: float) -> str:
    """The shortest text that is read back as the same number."""
    if np.isinf(x):
        return "1e300" if x > 0 else "-1e300"
    return repr(float(x))


def default_input(setup: ProgramSetup, methods: Iterable[str] | None = None) -> str:
    """The parameter file that a program comes with: every keyword it knows, with its default;
    `methods`: if not all."""
    methods = (
        methods
        if setup.special.allows_adaptive_steps
        else setup.special.available_methods([*METHODS])
    )
    lines = [
        "PARSFILE",
        f"* Input of {setup.title}: keyword, value, then words for the reader. Values are "
        f"in the units named.",
        "* Lines that begin with * are comments; PARSFILE name continues with another file. "
        "Times in s.",
        *(f"* {note}" for note in setup.notes),
        f"TITLE {setup.title}",
        "",
        "* run",
        parsfile_line("STOPT", shortest_number(setup.t_end), "s", "end of the run"),
        parsfile_line("STEP", shortest_number(setup.step), "s", "time step"),
        parsfile_line("IPRINT", str(setup.every), "", "steps from one output to the next"),
        parsfile_line(
            "METHOD", setup.method, "", join_alternatives(methods) if methods else method_listing()
        ),
        *(
            parsfile_line(keyword, shortest_number(x), "", "tolerance")
            for keyword, x in setup.tolerances
        ),
        "",
        "* parameters",
    ]
    for p in setup.settable_parameters:
        if p.value is None:
            lines.append(
                f"* {parsfile_line(p.keyword, '...', p.unit, p.label)}: a value must be given"
            )
        else:
            lines.append(parsfile_line(p.keyword, shortest_number(p.value), p.unit, p.label))
    if setup.signals:
        lines += ["", *_signal_kinds_help()]
    for s in setup.signals:
        if s.signal is None:
            lines.append(
                f"* {parsfile_line(s.keyword, '...', s.unit, s.label)}: an input must be given"
            )
        else:
            signal_text = (
                f"file {s.sample_file_name}"
                if s.sample_file_name
                else f"{s.signal.name} {' '.join(map(shortest_number, s.signal.numbers))}"
            )
            lines.append(parsfile_line(s.keyword, signal_text, s.unit, s.label))
    lines += ["", "* initial values"]
    for q in setup.states:
        line = parsfile_line(q.keyword, shortest_number(q.value or 0.0), q.unit, q.label)
        lines.append(line if q.given else f"* {line} (found by the program)")
    routines = [q for q in (*setup.entered, *setup.echoed) if q.value is not None]
    lines += ["", "* from user functions"] if routines else []
    lines += [
        f"* {parsfile_line(q.keyword, shortest_number(q.value or 0.0), q.unit, q.label)}"
        for q in routines
    ]
    return "\n".join([*lines, "END", ""])


def _signal_kinds_help() -> list[str]:
    """What an input may be, for the reader of a parameter file."""
    kind_lines = []
    for kind in SIGNAL_KINDS.values():
        units = (f"/{n.unit}" if n.unit not in ("", "s") else "" for n in kind.numbers)
        kind_lines.append(
            " ".join(
                [
                    kind.name,
                    *map(
                        "".join,
                        zip((name.upper() for name in kind.parameter_names), units, strict=True),
                    ),
                ]
            )
        )
    lead = "* inputs: "
    return textwrap.wrap(
        " | ".join([*kind_lines, "file NAME"]),
        110,
        initial_indent=lead,
        subsequent_indent="*         ",
    )


def signal_file(sampled: KeyedQuantity) -> str:
    """Points of a sampled input: time and value, or time and the four coefficients of the cubic
    piece from there."""
    signal, head = sampled.signal, f"* {sampled.keyword} ({sampled.unit})"
    assert signal is not None and signal.points is not None and signal.pieces is not None
    points, coefficients = signal.points.tolist(), signal.pieces.tolist()
    if np.any(signal.pieces[:, 2:]):
        lines = [f"{head}: time in s, and a0 a1 a2 a3 of a0 + a1 s + a2 s^2 + a3 s^3 from there on"]
        rows = [*coefficients, [0.0] * 4]
    else:
        lines = [f"{head} over time in s, straight lines between"]
        rows = [
            *([a0] for a0, *_ in coefficients),
            [coefficients[-1][0] + coefficients[-1][1] * (points[-1] - points[-2])],
        ]
    lines += [
        " ".join([shortest_number(t), *map(shortest_number, row)])
        for t, row in zip(points, rows, strict=True)
    ]
    return "\n".join([*lines, ""])


def input_files(setup: ProgramSetup, methods: Iterable[str] | None = None) -> dict[str, str]:
    """The default input and the files it names; `methods` of the program, if not all."""
    files = {f"{setup.stem}.par": default_input(setup, methods)}
    return files | {s.sample_file_name: signal_file(s) for s in setup.signals if s.sample_file_name}
