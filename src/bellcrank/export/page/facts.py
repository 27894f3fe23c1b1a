"""What a live page knows of its model: everything but the program itself, as JSON carries it.

In:  a derivation and what a user chose. Out: `Facts`: parameters and inputs with ranges of their sliders, channels, the
start, the method and the scene. Values of users are in user units, states in equation units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.backend.c_runs import RigidCRun
from bellcrank.derive.derived import Derived
from bellcrank.emit.browser import BrowserProgram, browser_program
from bellcrank.emit.c.rigid import RigidWheel
from bellcrank.emit.memory import PARTS, ROWS, SIZE
from bellcrank.emit.wasm.placed import MODES, Course, EventTables
from bellcrank.errors import ModelError
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.model_setup import setup_of, special_of
from bellcrank.export.page.groups import group_of
from bellcrank.export.page.ranges import Ends, Machine, input_ends, machine_of, parameter_ends
from bellcrank.export.page.trial import Trial, off_diagonal, trial_of
from bellcrank.export.standalone.setup import Keyed, Setup
from bellcrank.files.embed import plain
from bellcrank.interface.interface import DECLARED, Interface, Quantity
from bellcrank.kernel.layout import layout_of
from bellcrank.model.guess import Guess
from bellcrank.model.loads.contact import INPUTS
from bellcrank.names import find_name, key_of
from bellcrank.numeric.real import interval
from bellcrank.numeric.tuning import PLANS
from bellcrank.program.program import Program
from bellcrank.run.actions import read_events
from bellcrank.run.evaluate import assemble
from bellcrank.run.event_data import event_tables, value_names
from bellcrank.run.jumps import following
from bellcrank.run.loaded import Loaded, load
from bellcrank.run.result import Run
from bellcrank.run.shown import default_channels, least_ranges, panels, seconds_of, spread
from bellcrank.scene.browser import PACES, few_digits, pace_of, shown_words
from bellcrank.signals import KINDS, Signal

EVENT_FIELDS = ("h", "span", "until", "use_values", "n_happenings", "stopped", "problem", "culprit", "when")
FUNCTION_SAMPLES = 400  # of an input, to find the range of its slider
WINDOW = 10.0  # s that plots show at most, in real time


@dataclass(frozen=True)
class Chosen:
    """What a user chose: sliders that stand first, by key, with ends or None; channels of plots; the title."""

    sliders: Mapping[str, tuple[float, float] | None]
    plots: Sequence[str] | None = None
    title: str | None = None


def chosen_of(interface: Interface, sliders: Any, plots: Any, title: Any) -> Chosen:
    """What was given, checked: sliders are names, or ends by name; plots are names of channels."""
    found: dict[str, tuple[float, float] | None] = {}
    given = dict(sliders) if isinstance(sliders, Mapping) else dict.fromkeys(_names(sliders, "sliders"))
    used = read_events(interface, None, None, None).used
    for name, ends in given.items():
        own = interface.get(name, DECLARED)
        kinds = DECLARED if own is not None and own.key in used else ("parameter", "input")
        x = interface.find(name, kinds, "parameter or input")
        found[x.key] = None if ends is None else _ends(name, ends)
    listed = None
    if plots is not None:
        channels = [c.name for c in interface.channels]
        listed = [find_name(name, channels, "channel") or "" for name in _names(plots, "plots")]
        for name, known in zip(_names(plots, "plots"), listed, strict=True):
            if not known:
                shown = ", ".join(channels)
                raise ModelError(f"plots: the model has no channel '{name}'. Channels: {shown}.", interface.model)
    return Chosen(found, listed, None if title is None else str(title))


def _names(given: Any, what: str) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ModelError(f"{what}={given!r} must be names, such as ['{given}']")
    return [str(name) for name in given]


def _ends(name: str, given: Any) -> tuple[float, float]:
    found = interval(given)
    if found is None:
        raise ModelError(f"sliders={{'{name}': {given!r}}}: give the two ends of the slider, the lower first")
    return found


def facts_of(
    derived: Derived, program: Program, chosen: Chosen, reach: float | None = None
) -> tuple[dict[str, Any], BrowserProgram]:
    """All facts but the scene, and what runs; `program`: that with poses; `reach`: of the machine, if it has bodies."""
    interface = derived.interface.with_all_inputs()
    setup = with_stable_step(setup_of(derived, interface, special=special_of(derived)), derived)
    loaded = load(derived.analysis, interface, derived.program, "python", {})
    q, u = assemble(loaded)
    names = ", ".join(derived.interface.without_course)
    notes = [f"The model has no course over time for {names}: zero, until a slider is moved."] if names else []
    machine = None if reach is None else machine_of(derived, loaded, reach)
    wheels = setup.special.wheels
    of_ground = {f"{w.name}.{what}" for w, _ in wheels for what in INPUTS}
    order = [*range(len(setup.signals))]
    order.sort(key=lambda i: setup.signals[i].quantity.name in of_ground)  # those without a slider at last
    listed = [_signal(setup.signals[i], setup, chosen, notes, machine) for i in order]
    events = read_events(interface, None, None, None)
    values = value_names(events.formulas)
    known = [s.name for s in program.parameters]
    known += [name for name in values if name not in known]
    scaled = [
        (order.index(i), rate, x.unit.factor) for (i, rate), x in zip(setup.inputs, interface.inputs, strict=True)
    ]
    course = Course([signal for _, signal in listed], scaled, setup.method, setup.step)
    if events.formulas or wheels:
        follows = following(interface, derived.analysis.independent_speeds)
        more = len(known) - len(program.parameters)
        tables = EventTables(*event_tables(events.formulas, values), follows, len(values), more)
        course = replace(course, events=tables, wheels=[w for w, _ in wheels])
    made = browser_program(program, course)
    trial, mixed = trial_of(derived, setup, len(made.module)), off_diagonal(derived)
    layout = layout_of("input.h", "Input")
    facts = {
        "title": chosen.title or setup.title,
        "kernel": len(made.kernel),
        "at": made.at,
        "job": made.fields,
        "input": [layout.size // SIZE, layout.fields["a"][0] // SIZE],
        "results": {name: n for name, n in made.sizes.items() if name in ("poses", "marks")},
        "sines": [ROWS, PARTS],
        "mirrored": made.mirrored,
        "n_q": len(q),
        "n_g": 0 if program.loops is None else len(program.loops.g),
        "y": [*q.tolist(), *u.tolist()],
        "parameters": [_parameter(interface, name, chosen, machine, trial, name in mixed) for name in known],
        "signals": [facts for facts, _ in listed if facts["name"] not in of_ground],
        "inputs": scaled,
        "outputs": len(interface.outputs),
        "channels": [{**_words(x), "column": x.column} for x in interface.channels],
        "plots": _plots(interface, chosen, trial.run),
        "least": _least(interface, trial.run),
        "method": setup.method,
        "step": setup.step,
        "t_end": setup.t_end,
        "at_end": PLANS.at_end,
        "window": min(setup.t_end, WINDOW * max(1.0, pace_of(setup.t_end))),
        "paces": PACES,
        "pace": pace_of(setup.t_end),
        "way": few_digits(trial.poses(), 4),
        "free": _free(loaded),
        "guided": any(r.formulas is not None for r in program.routines),  # by linkages
        "notes": notes,
    }
    if events.formulas or wheels:
        names_of = [plain(e.name) for e in events.formulas]
        facts["events"] = _event_facts(names_of, [known.index(name) for name in values], wheels)
    return facts, made


def _event_facts(
    names: Sequence[str], values: Sequence[int], wheels: Sequence[tuple[RigidWheel, bool]]
) -> dict[str, Any]:
    """Events by name, the parameters that they read or set, and rigid wheels: must they not start below the ground?"""
    fields = layout_of("events.h", "Events").fields
    return {
        "names": names,
        "values": values,
        "at": {name: fields[name][0] for name in EVENT_FIELDS},
        "wheels": [[plain(w.name), strict] for w, strict in wheels],
        "does": RigidCRun.KINDS,
        "modes": MODES * len(wheels),
    }


def _parameter(
    interface: Interface, name: str, chosen: Chosen, machine: Machine | None, trial: Trial, mixed: bool
) -> dict[str, Any]:
    x = interface.find(name, DECLARED, "parameter")
    value = 0.0 if x.default is None else float(x.default)
    given = chosen.sliders.get(x.key)
    ends = trial.bearable(x, parameter_ends(x, machine, mixed)) if given is None else Ends(*given)
    more = {"log": ends.log, "shown": x.key in chosen.sliders, "positive": x.positive, "group": group_of(x)}
    listed = {k: v for k, v in more.items() if v}
    return {**_words(x), "value": value, "range": few_digits((ends.low, ends.high)), **listed}


def _words(x: Quantity) -> dict[str, Any]:
    factor = {} if x.unit.factor == 1.0 else {"factor": x.unit.factor}
    return {**shown_words(x.name, x.label, x.unit.text), **factor}


def _signal(
    s: Keyed, setup: Setup, chosen: Chosen, notes: list[str], machine: Machine | None
) -> tuple[dict[str, Any], Signal]:
    """An input: its signal in the model, or the value that it is held at where it has none that a page can compute."""
    x, signal = s.quantity, s.signal
    found: dict[str, Any] = {**_words(x), "held": None}
    values = [0.0]
    if signal is None:
        given = setup.interface.given_inputs().get(x.key)
        if callable(given):
            values = [float(given(t)) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)]
            notes.append(f"{x.name} is a function in Python: it is held where it starts.")
        signal = KINDS["constant"].signal(values[0])
    elif signal.pieces is not None:
        values = signal.pieces[:, 0].tolist()
    elif s.formula:
        values = [signal.value(t) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)]
    if signal.name == "constant":
        found["held"] = signal.numbers[0]
    found["breaks"] = signal.breaks
    given = chosen.sliders.get(x.key)
    ends = input_ends(x, values, machine) if given is None else Ends(*given)
    found["range"] = few_digits((ends.low, ends.high))
    return found, signal


def _plots(interface: Interface, chosen: Chosen, run: Run | None) -> list[list[int]]:
    """Numbers of the channels to plot, by panel: those that are chosen, else those of a plot of the run."""
    names = [c.name for c in interface.channels]
    stated = [name for name in interface.run.shown if name in names]  # a car may be driven otherwise than in the run
    asked = chosen.plots if chosen.plots is not None else stated or None
    listed = asked if asked is not None else names[:3] if run is None else default_channels(run)
    units = {c.name: c.unit.text for c in interface.channels}
    shown = panels((name, units[name]) for name in listed)
    if asked is None and run is not None:
        shown = [part for panel in shown for part in spread(panel, run)]
    return [[names.index(name) for name in panel] for panel in shown]


def _least(interface: Interface, run: Run | None) -> list[float]:
    """The least range of the axis of each channel."""
    channels = interface.channels
    if run is None:
        return []
    values, units = [run[c.name] for c in channels], [c.unit.text for c in channels]
    return few_digits(least_ranges(values, units, seconds_of(run)), 2)


def _free(loaded: Loaded) -> list[list[int]]:
    """States that may move when loops are closed, in attempts of which each frees more; nothing without loops."""
    if loaded.program.loops is None:
        return []
    interface = loaded.interface
    kept = [k for k, value in interface.run.initial.items() if not isinstance(value, Guess)]
    given = {x.key for k in kept if (x := interface.get(k, ("coordinate", "speed"))) is not None}
    free = [i for i, x in enumerate(interface.states) if x.key not in given]
    independent = {key_of(s) for s in loaded.analysis.independent_speeds}
    guessed = [i for i, x in enumerate(interface.coordinates) if "u" + x.key[1:] not in independent]
    return [free, sorted({*free, *guessed}), list(range(len(interface.states)))]
