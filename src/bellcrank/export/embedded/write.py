"""The files of a model for controllers and test rigs, or for Simulink.

In:  `Derived`, events and the precision. Out: texts by name: a header with the interface, a source, and what runs
them: a bench and a Makefile, or an S-function.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.derive.derived import Derived
from bellcrank.emit.c.embedded import Begin, embedded_source, library_calls
from bellcrank.emit.c.printer import external_calls
from bellcrank.emit.names import MADE, comment
from bellcrank.emit.number import DOUBLE, FLOAT, Number
from bellcrank.errors import ModelError
from bellcrank.export.begin import fixed_parameters, metric_of_loops, require_whole, start_of, start_state
from bellcrank.export.embedded.events import event_list, events_of
from bellcrank.export.embedded.interface import Listed, listed
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.model_setup import setup_of
from bellcrank.export.program_events import with_events
from bellcrank.export.standalone.c import c_string
from bellcrank.export.standalone.setup import Setup
from bellcrank.export.standalone.text import about
from bellcrank.files.template import filled, template
from bellcrank.kernel.text import kernel_file
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.tuning import EVENTS
from bellcrank.program.program import Program
from bellcrank.run.actions import listed_events
from bellcrank.run.realtime import EDGES

FOLDER = "bellcrank.export/embedded/templates"
LONGEST_BLOCK = 58  # names of functions in MATLAB have 63 letters at most
_EVENT_WORDS = ', "an event has ended the run", "an event fires repeatedly"'
PRECISIONS: Mapping[str, Number] = {"double": DOUBLE, "single": FLOAT}


def embedded_files(derived: Derived, events: Any = None, stop: Any = (), precision: str = "double") -> dict[str, str]:
    """Files for a controller, by name: with a bench and a Makefile; events and stop as of `simulate`."""
    embedded = _made(derived, "C for a controller", precision, events, stop)
    return embedded.files | {
        f"{embedded.stem}_bench.c": _bench(embedded.setup, PRECISIONS[precision], embedded.common),
        "Makefile": filled(template(FOLDER, "Makefile"), {}, embedded.common),
    }


def simulink_files(derived: Derived, events: Any = None, stop: Any = ()) -> dict[str, str]:
    """Files for Simulink, which computes in double precision, by name: with an S-function."""
    embedded = _made(derived, "an S-function", "double", events, stop)
    block = f"{embedded.stem[:LONGEST_BLOCK]}_sfun"
    return embedded.files | {f"{block}.c": _sfunction(derived, embedded, block)}


@dataclass(frozen=True)
class _Made:
    """What both have: the source and its header, the first two files."""

    setup: Setup
    stem: str
    files: dict[str, str]
    common: Mapping[str, str]


def _made(derived: Derived, product: str, precision: str, requested_events: Any, stop_events: Any) -> _Made:
    if precision not in PRECISIONS:
        precisions = " or ".join(f"'{x}'" for x in PRECISIONS)
        raise ModelError(f"precision {precision!r} is not known; it is {precisions}", derived.name)
    if derived.analysis.mechanism.description.contacts:
        raise ModelError(f"{product} does not contain rigid wheels; use a tyre", derived.name)
    require_whole(derived, product)
    program, number = derived.program, PRECISIONS[precision]
    usual, interface = setup_of(derived), derived.interface
    setup = with_events(
        with_stable_step(usual, derived), requested_events, stop_events, derived.analysis.independent_speeds
    )
    parameters = [x.factor * (x.value or 0.0) for x in setup.parameters]
    states, inputs = start_state(derived, setup), [start_of(interface, x) for x in interface.inputs]
    initial_data = Begin(parameters, states, inputs, metric_of_loops(derived, states, inputs))
    stem = f"model_{setup.stem}" if MADE.fullmatch(f"{setup.stem}_model") else setup.stem
    events = events_of(derived, setup)
    source = embedded_source(program, stem, setup.method, initial_data, number, events)
    lists = _lists(derived, stem.upper(), initial_data)
    if events is not None:
        event_parameters, conditions = (
            [x.quantity for x in setup.own],
            listed_events(requested_events, stop_events, interface),
        )
        lists += [
            listed(
                f"{stem.upper()}_E", "parameters of events: e[...]", event_parameters, interface.units, events.values
            )
        ]
        lists += [event_list(setup, stem.upper(), {x.name: x.expression for x in conditions})]
    common = {"TITLE": comment(setup.title), "STEM": stem, "UPPER": stem.upper()}
    files = {
        f"{stem}.c": f"/* {comment(setup.title)}: steps of a fixed length; see {stem}.h. */\n\n{source}",
        f"{stem}.h": _header(program, setup, lists, number, _notes(program, usual, setup, number, source), common),
    }
    return _Made(setup, stem, files, common)


def _notes(program: Program, usual: Setup, setup: Setup, number: Number, source: str) -> list[str]:
    """What a reader of the header must know besides; `usual` is the setup before its step was made stable."""
    notes, run_defaults = (
        [f"Of the C library it may call: {', '.join(library_calls(source)) or 'nothing'}."],
        setup.interface.run,
    )
    if run_defaults.method and run_defaults.method.lower() not in METHODS:
        notes.append(
            f"The model asks for the method {run_defaults.method}; steps of a fixed length are taken by {setup.method}."
        )
    notes += setup.notes[len(usual.notes) :]
    if setup.events:
        notes.append(
            "Events: conditions are computed at every step, in double precision. A step in which one comes about takes"
            f" longer: for each that does, fewer than {EVENTS.tries + 200} shorter steps find its time, the action"
            f" and the rest of the step follow. More than {EVENTS.most} actions in one step end it. Inputs, and"
            " parameters with a call of tune, that were changed between steps may bring events about"
            " at the beginning of the next."
        )
    if METHODS[setup.method].two_step:
        notes.append(
            f"Steps by {setup.method} know the rates of the step before: an input that changes from step to step is"
            " taken to change steadily. After begin and tune a step is taken by the midpoint rule, with one evaluation"
            " more: call tune also after a jump of an input, or a change of the state, to have it so."
        )
    if program.loops is not None:
        notes.append(
            "Closed loops: where the pivots that were chosen for the start do not hold, others are chosen at every"
            " evaluation, and a step takes longer; the number of its operations has a bound there, too."
        )
    if number is not DOUBLE and external_calls(program):
        notes.append("User functions, tables of linkages and the ground compute in double precision.")
    return notes


def _lists(derived: Derived, upper: str, initial_data: Begin) -> list[Listed]:
    """Parameters, states, inputs and outputs."""
    x, fixed = derived.interface, fixed_parameters(derived.program)
    marked = [p for p in x.parameters if p.symbol in fixed]
    groups = (
        ("p", "parameters: name, unit, default, label", x.parameters, initial_data.parameters, marked),
        ("y", "states: coordinates, then speeds", x.states, initial_data.states, ()),
        ("w", "inputs, with the values they begin with", x.inputs, initial_data.inputs, ()),
        ("out", "outputs", x.outputs, [None] * len(x.outputs), ()),
    )
    return [
        listed(f"{upper}_{a.upper()}", f"{title}: {a}[...]", quantities, x.units, v, m)
        for a, title, quantities, v, m in groups
    ]


def _header(
    program: Program, setup: Setup, lists: list[Listed], number: Number, notes: list[str], common: Mapping[str, str]
) -> str:
    memory = sum(c.routine.memory or 0 for c in external_calls(program).values())
    n_s, held_inputs = len(setup.states), len(program.inputs) - len(program.given_inputs)
    at_zero = (
        kernel_file("event_at_zero.h").replace("AtZero", f"{common['STEM']}_at_zero") + "\n" if setup.events else ""
    )
    evaluations = METHODS[setup.method].evaluations + bool(memory)
    return filled(
        template(FOLDER, "model.h"),
        {
            "ABOUT": about(setup, "   "),
            "EVALUATIONS": str(evaluations),
            "OPERATIONS": str(program.count.total),
            "NOTES": "".join(f"   {line}\n" for note in notes for line in textwrap.wrap(comment(note), 112)),
            "STEP": f"{setup.step!r}{number.suffix}",
            "METHOD": setup.method,
            "LISTS": "\n".join(text for x in lists if (text := x.text())),
            "REAL": number.c,
            "N_P": str(len(program.parameters) or 1),
            "N_S": str(n_s),
            "N_I": str(len(program.given_inputs) or 1),
            "N_OUT": str(len(program.output_names) or 1),
            "N_C": str(len(program.constant_symbols) or 1),
            "KEPT": str(held_inputs or ""),
            "LOOPS": "yes" if program.loops is not None else "",
            "MEMORY": str(memory or ""),
            "PAST": "yes" if METHODS[setup.method].two_step else "",
            "CARRIED": str(n_s) if number is not DOUBLE else "",
            "EVENTS": str(len(setup.events) or ""),
            "COMMA": "," if setup.events else " ",
            "AT_ZERO": at_zero,
            "N_E": str(len(setup.own) or 1),
        },
        common,
    )


def _bench(setup: Setup, number: Number, common: Mapping[str, str]) -> str:
    edges = [x for x in EDGES if np.isfinite(x)]
    outputs = setup.interface.outputs
    names = ["t", *(x.name for x in setup.interface.states), *(x.name for x in outputs)]
    return filled(
        template(FOLDER, "bench.c"),
        {
            "N_S": str(len(setup.states)),
            "N_OUT": str(len(outputs)),
            "N_EDGES": str(len(edges)),
            "EDGES": ", ".join(map(repr, edges)),
            "NAMES": ", ".join(c_string("".join(n.split()).replace(",", ";")) for n in names),
            "DIGITS": "17" if number is DOUBLE else "9",
            "T_END": repr(setup.t_end),
            "WORDS": _EVENT_WORDS if setup.events else "",
        },
        common,
    )


def _sfunction(derived: Derived, embedded: _Made, block: str) -> str:
    interface, fixed = derived.interface, fixed_parameters(derived.program)
    return filled(
        template(FOLDER, "sfunction.c"),
        {
            "BLOCK": block,
            "INPUTS": _wrapped(comment(x.name) for x in interface.inputs),
            "OUTPUTS": _wrapped(comment(x.name) for x in interface.outputs or interface.states),
            "STATES": _wrapped(comment(x.name) for x in interface.states) if interface.outputs else "",
            "PORTS": "2" if interface.outputs else "1",
            "N_GIVEN": str(len(interface.parameters)),
            "N_S": str(len(interface.states)),
            "N_I": str(len(interface.inputs)),
            "N_OUT": str(len(interface.outputs)),
            "EVENTS": "yes" if embedded.setup.events else "",
            "IS_FIXED": ", ".join([*(str(int(x.symbol in fixed)) for x in interface.parameters), "0"]),
        },
        embedded.common,
    )


def _wrapped(names: Iterable[str]) -> str:
    """Names as lines of a comment."""
    return textwrap.fill(", ".join(names), 105, subsequent_indent=" " * 13, break_long_words=False)
