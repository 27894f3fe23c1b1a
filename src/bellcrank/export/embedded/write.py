"""The files of a model for controllers and test rigs, or for Simulink.

In:  `DerivedModel`, events and the precision. Out: texts by name: a header with the interface, a
source, and what runs them: a bench and a Makefile, or an S-function.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.codegen.c.embedded import EmbeddedInitialData, embedded_source, library_calls
from bellcrank.codegen.c.printer import external_calls
from bellcrank.codegen.identifiers import MADE, comment_text
from bellcrank.codegen.number_type import DOUBLE, FLOAT, NumberType
from bellcrank.core.errors import ModelError
from bellcrank.core.files.template import fill_template, template_text
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.tuning import EVENTS
from bellcrank.export.embedded.events import embedded_events, event_list
from bellcrank.export.embedded.interface import EnumListing, enum_listing
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.initial_data import (
    fixed_parameters,
    input_at_start,
    projection_metric,
    require_complete,
    start_state,
)
from bellcrank.export.model_setup import program_setup
from bellcrank.export.program_events import with_events
from bellcrank.export.standalone.c import c_string
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.export.standalone.templates import summary_comment
from bellcrank.kernel.text import kernel_file
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.run.event_specs import resolve_events
from bellcrank.simulation.run.realtime import EDGES

FOLDER = "bellcrank.export/embedded/templates"
LONGEST_BLOCK = 58  # names of functions in MATLAB have 63 letters at most
_EVENT_WORDS = ', "an event has ended the run", "an event fires repeatedly"'
PRECISIONS: Mapping[str, NumberType] = {"double": DOUBLE, "single": FLOAT}


def embedded_files(
    derived: DerivedModel, events: Any = None, stop: Any = (), precision: str = "double"
) -> dict[str, str]:
    """Files for a controller, by name: with a bench and a Makefile; events and stop as of
    `simulate`."""
    embedded = _embedded_files(derived, "C for a controller", precision, events, stop)
    return embedded.files | {
        f"{embedded.stem}_bench.c": _test_bench(
            embedded.setup, PRECISIONS[precision], embedded.common
        ),
        "Makefile": fill_template(template_text(FOLDER, "Makefile"), {}, embedded.common),
    }


def simulink_files(derived: DerivedModel, events: Any = None, stop: Any = ()) -> dict[str, str]:
    """Files for Simulink, which computes in double precision, by name: with an S-function."""
    embedded = _embedded_files(derived, "an S-function", "double", events, stop)
    block = f"{embedded.stem[:LONGEST_BLOCK]}_sfun"
    return embedded.files | {f"{block}.c": _sfunction(derived, embedded, block)}


@dataclass(frozen=True)
class _EmbeddedFiles:
    """What both have: the source and its header, the first two files."""

    setup: ProgramSetup
    stem: str
    files: dict[str, str]
    common: Mapping[str, str]


def _embedded_files(
    derived: DerivedModel, product: str, precision: str, requested_events: Any, stop_events: Any
) -> _EmbeddedFiles:
    if precision not in PRECISIONS:
        precisions = " or ".join(f"'{x}'" for x in PRECISIONS)
        raise ModelError(f"precision {precision!r} is not known; it is {precisions}", derived.name)
    if derived.analysis.mechanism.description.rigid_contacts:
        raise ModelError(f"{product} does not contain rigid wheels; use a tyre", derived.name)
    require_complete(derived, product)
    program, number = derived.program, PRECISIONS[precision]
    usual, interface = program_setup(derived), derived.interface
    setup = with_events(
        with_stable_step(usual, derived),
        requested_events,
        stop_events,
        derived.analysis.independent_speeds,
    )
    parameters = [x.factor * (x.value or 0.0) for x in setup.parameters]
    states, inputs = (
        start_state(derived, setup),
        [input_at_start(interface, x) for x in interface.inputs],
    )
    initial_data = EmbeddedInitialData(
        parameters, states, inputs, projection_metric(derived, states, inputs)
    )
    stem = f"model_{setup.stem}" if MADE.fullmatch(f"{setup.stem}_model") else setup.stem
    events = embedded_events(derived, setup)
    source = embedded_source(program, stem, setup.method, initial_data, number, events)
    lists = _enum_listings(derived, stem.upper(), initial_data)
    if events is not None:
        event_parameters, conditions = (
            [x.quantity for x in setup.own],
            resolve_events(requested_events, stop_events, interface),
        )
        lists += [
            enum_listing(
                f"{stem.upper()}_E",
                "parameters of events: e[...]",
                event_parameters,
                interface.units,
                events.values,
            )
        ]
        lists += [event_list(setup, stem.upper(), {x.name: x.expression for x in conditions})]
    common = {"TITLE": comment_text(setup.title), "STEM": stem, "UPPER": stem.upper()}
    files = {
        f"{stem}.c": f"/* {comment_text(setup.title)}: steps of a fixed length; see {stem}.h. "
        f"*/\n\n{source}",
        f"{stem}.h": _header(
            program,
            setup,
            lists,
            number,
            _header_notes(program, usual, setup, number, source),
            common,
        ),
    }
    return _EmbeddedFiles(setup, stem, files, common)


def _header_notes(
    program: SimulationProgram,
    usual: ProgramSetup,
    setup: ProgramSetup,
    number: NumberType,
    source: str,
) -> list[str]:
    """What a reader of the header must know besides; `usual` is the setup before its step was made
    stable."""
    notes, run_defaults = (
        [f"Of the C library it may call: {', '.join(library_calls(source)) or 'nothing'}."],
        setup.interface.run,
    )
    if run_defaults.method and run_defaults.method.lower() not in METHODS:
        notes.append(
            f"The model asks for the method {run_defaults.method}; steps of a fixed length "
            f"are taken by {setup.method}."
        )
    notes += setup.notes[len(usual.notes) :]
    if setup.events:
        notes.append(
            "Events: conditions are computed at every step, in double precision. A step in "
            "which one comes about takes"
            f" longer: for each that does, fewer than {EVENTS.tries + 200} shorter steps "
            f"find its time, the action"
            f" and the rest of the step follow. More than {EVENTS.most} actions in one step "
            f"end it. Inputs, and"
            " parameters with a call of tune, that were changed between steps may bring "
            "events about"
            " at the beginning of the next."
        )
    if METHODS[setup.method].two_step:
        notes.append(
            f"Steps by {setup.method} know the rates of the step before: an input that "
            f"changes from step to step is"
            " taken to change steadily. After begin and tune a step is taken by the "
            "midpoint rule, with one evaluation"
            " more: call tune also after a jump of an input, or a change of the state, to "
            "have it so."
        )
    if program.loops is not None:
        notes.append(
            "Closed loops: where the pivots that were chosen for the start do not hold, "
            "others are chosen at every"
            " evaluation, and a step takes longer; the number of its operations has a bound "
            "there, too."
        )
    if number is not DOUBLE and external_calls(program):
        notes.append(
            "User functions, tables of linkages and the ground compute in double precision."
        )
    return notes


def _enum_listings(
    derived: DerivedModel, upper: str, initial_data: EmbeddedInitialData
) -> list[EnumListing]:
    """Parameters, states, inputs and outputs."""
    x, fixed = derived.interface, fixed_parameters(derived.program)
    marked = [p for p in x.parameters if p.symbol in fixed]
    groups = (
        (
            "p",
            "parameters: name, unit, default, label",
            x.parameters,
            initial_data.parameters,
            marked,
        ),
        ("y", "states: coordinates, then speeds", x.states, initial_data.states, ()),
        ("w", "inputs, with the values they begin with", x.inputs, initial_data.inputs, ()),
        ("out", "outputs", x.outputs, [None] * len(x.outputs), ()),
    )
    return [
        enum_listing(f"{upper}_{a.upper()}", f"{title}: {a}[...]", quantities, x.units, v, m)
        for a, title, quantities, v, m in groups
    ]


def _header(
    program: SimulationProgram,
    setup: ProgramSetup,
    lists: list[EnumListing],
    number: NumberType,
    notes: list[str],
    common: Mapping[str, str],
) -> str:
    memory = sum(c.routine.memory or 0 for c in external_calls(program).values())
    n_s, held_inputs = len(setup.states), len(program.inputs) - len(program.given_inputs)
    at_zero = (
        kernel_file("event_at_zero.h").replace("AtZero", f"{common['STEM']}_at_zero") + "\n"
        if setup.events
        else ""
    )
    evaluations = METHODS[setup.method].n_rhs_per_step + bool(memory)
    return fill_template(
        template_text(FOLDER, "model.h"),
        {
            "ABOUT": summary_comment(setup, "   "),
            "EVALUATIONS": str(evaluations),
            "OPERATIONS": str(program.count.total),
            "NOTES": "".join(
                f"   {line}\n" for note in notes for line in textwrap.wrap(comment_text(note), 112)
            ),
            "STEP": f"{setup.step!r}{number.suffix}",
            "METHOD": setup.method,
            "LISTS": "\n".join(text for x in lists if (text := x.enum_source())),
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


def _test_bench(setup: ProgramSetup, number: NumberType, common: Mapping[str, str]) -> str:
    edges = [x for x in EDGES if np.isfinite(x)]
    outputs = setup.interface.outputs
    names = ["t", *(x.name for x in setup.interface.states), *(x.name for x in outputs)]
    return fill_template(
        template_text(FOLDER, "bench.c"),
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


def _sfunction(derived: DerivedModel, embedded: _EmbeddedFiles, block: str) -> str:
    interface, fixed = derived.interface, fixed_parameters(derived.program)
    return fill_template(
        template_text(FOLDER, "sfunction.c"),
        {
            "BLOCK": block,
            "INPUTS": _wrapped_comment(comment_text(x.name) for x in interface.inputs),
            "OUTPUTS": _wrapped_comment(
                comment_text(x.name) for x in interface.outputs or interface.states
            ),
            "STATES": _wrapped_comment(comment_text(x.name) for x in interface.states)
            if interface.outputs
            else "",
            "PORTS": "2" if interface.outputs else "1",
            "N_GIVEN": str(len(interface.parameters)),
            "N_S": str(len(interface.states)),
            "N_I": str(len(interface.inputs)),
            "N_OUT": str(len(interface.outputs)),
            "EVENTS": "yes" if embedded.setup.events else "",
            "IS_FIXED": ", ".join(
                [*(str(int(x.symbol in fixed)) for x in interface.parameters), "0"]
            ),
        },
        embedded.common,
    )


def _wrapped_comment(names: Iterable[str]) -> str:
    """Names as lines of a comment."""
    return textwrap.fill(", ".join(names), 105, subsequent_indent=" " * 13, break_long_words=False)
