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
    ranges: dict[str, tuple[float, float] | None] = {}
    requested = dict(sliders) if isinstance(sliders, Mapping) else dict.fromkeys(_names(sliders, "sliders"))
    event_keys = read_events(interface, None, None, None).used
    for name, limits in requested.items():
        quantity = interface.get(name, DECLARED)
        kinds = DECLARED if quantity is not None and quantity.key in event_keys else ("parameter", "input")
        x = interface.find(name, kinds, "parameter or input")
        ranges[x.key] = None if limits is None else _ends(name, limits)
    listed = None
    if plots is not None:
        channels = [c.name for c in interface.channels]
        listed = [find_name(name, channels, "channel") or "" for name in _names(plots, "plots")]
        for name, channel in zip(_names(plots, "plots"), listed, strict=True):
            if not channel:
                channel_list = ", ".join(channels)
                raise ModelError(
                    f"plots: the model has no channel '{name}'. Channels: {channel_list}.", interface.model
                )
    return Chosen(ranges, listed, None if title is None else str(title))


def _names(names: Any, label: str) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ModelError(f"{label}={names!r} must be names, such as ['{names}']")
    return [str(name) for name in names]


def _ends(name: str, limits_given: Any) -> tuple[float, float]:
    limits = interval(limits_given)
    if limits is None:
        raise ModelError(f"sliders={{'{name}': {limits_given!r}}}: give the two ends of the slider, the lower first")
    return limits


def facts_of(
    derived: Derived, program: Program, page_options: Chosen, size: float | None = None
) -> tuple[dict[str, Any], BrowserProgram]:
    """All facts but the scene, and what runs; `program`: that with poses; `size`: of the machine, if it has bodies."""
    interface = derived.interface.with_all_inputs()
    setup = with_stable_step(setup_of(derived, interface, special=special_of(derived)), derived)
    loaded = load(derived.analysis, interface, derived.program, "python", {})
    q, u = assemble(loaded)
    names = ", ".join(derived.interface.without_course)
    notes = [f"The model has no course over time for {names}: zero, until a slider is moved."] if names else []
    machine = None if size is None else machine_of(derived, loaded, size)
    wheels = setup.special.wheels
    of_ground = {f"{w.name}.{input_name}" for w, _ in wheels for input_name in INPUTS}
    order = [*range(len(setup.signals))]
    order.sort(key=lambda i: setup.signals[i].quantity.name in of_ground)  # those without a slider at last
    listed = [_signal(setup.signals[i], setup, page_options, notes, machine) for i in order]
    events = read_events(interface, None, None, None)
    values = value_names(events.formulas)
    parameter_names = [s.name for s in program.parameters]
    parameter_names += [name for name in values if name not in parameter_names]
    scaled = [
        (order.index(i), rate, x.unit.factor) for (i, rate), x in zip(setup.inputs, interface.inputs, strict=True)
    ]
    course = Course([signal for _, signal in listed], scaled, setup.method, setup.step)
    if events.formulas or wheels:
        follower_flags = following(interface, derived.analysis.independent_speeds)
        added_count = len(parameter_names) - len(program.parameters)
        tables = EventTables(*event_tables(events.formulas, values), follower_flags, len(values), added_count)
        course = replace(course, events=tables, wheels=[w for w, _ in wheels])
    browser = browser_program(program, course)
    trial, mixed = trial_of(derived, setup, len(browser.module)), off_diagonal(derived)
    layout = layout_of("input.h", "Input")
    facts = {
        "title": page_options.title or setup.title,
        "kernel": len(browser.kernel),
        "at": browser.at,
        "job": browser.fields,
        "input": [layout.size // SIZE, layout.fields["a"][0] // SIZE],
        "results": {name: n for name, n in browser.sizes.items() if name in ("poses", "marks")},
        "sines": [ROWS, PARTS],
        "mirrored": browser.mirrored,
        "n_q": len(q),
        "n_g": 0 if program.loops is None else len(program.loops.g),
        "y": [*q.tolist(), *u.tolist()],
        "parameters": [
            _parameter(interface, name, page_options, machine, trial, name in mixed) for name in parameter_names
        ],
        "signals": [facts for facts, _ in listed if facts["name"] not in of_ground],
        "inputs": scaled,
        "outputs": len(interface.outputs),
        "channels": [{**_words(x), "column": x.column} for x in interface.channels],
        "plots": _plots(interface, page_options, trial.run),
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
        facts["events"] = _event_facts(names_of, [parameter_names.index(name) for name in values], wheels)
    return facts, browser


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
    interface: Interface, name: str, page_options: Chosen, machine: Machine | None, trial: Trial, mixed: bool
) -> dict[str, Any]:
    x = interface.find(name, DECLARED, "parameter")
    value = 0.0 if x.default is None else float(x.default)
    slider = page_options.sliders.get(x.key)
    limits = trial.bearable(x, parameter_ends(x, machine, mixed)) if slider is None else Ends(*slider)
    flags = {"log": limits.log, "shown": x.key in page_options.sliders, "positive": x.positive, "group": group_of(x)}
    listed = {k: v for k, v in flags.items() if v}
    return {**_words(x), "value": value, "range": few_digits((limits.low, limits.high)), **listed}


def _words(x: Quantity) -> dict[str, Any]:
    factor = {} if x.unit.factor == 1.0 else {"factor": x.unit.factor}
    return {**shown_words(x.name, x.label, x.unit.text), **factor}


def _signal(
    s: Keyed, setup: Setup, page_options: Chosen, notes: list[str], machine: Machine | None
) -> tuple[dict[str, Any], Signal]:
    """An input: its signal in the model, or the value that it is held at where it has none that a page can compute."""
    x, signal = s.quantity, s.signal
    facts: dict[str, Any] = {**_words(x), "held": None}
    values = [0.0]
    if signal is None:
        supplied = setup.interface.given_inputs().get(x.key)
        if callable(supplied):
            values = [float(supplied(t)) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)]
            notes.append(f"{x.name} is a function in Python: it is held where it starts.")
        signal = KINDS["constant"].signal(values[0])
    elif signal.pieces is not None:
        values = signal.pieces[:, 0].tolist()
    elif s.formula:
        values = [signal.value(t) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)]
    if signal.name == "constant":
        facts["held"] = signal.numbers[0]
    facts["breaks"] = signal.breaks
    supplied = page_options.sliders.get(x.key)
    limits = input_ends(x, values, machine) if supplied is None else Ends(*supplied)
    facts["range"] = few_digits((limits.low, limits.high))
    return facts, signal


def _plots(interface: Interface, page_options: Chosen, run: Run | None) -> list[list[int]]:
    """Numbers of the channels to plot, by panel: those that are chosen, else those of a plot of the run."""
    names = [c.name for c in interface.channels]
    default_shown = [
        name for name in interface.run.shown if name in names
    ]  # a car may be driven otherwise than in the run
    requested = page_options.plots if page_options.plots is not None else default_shown or None
    listed = requested if requested is not None else names[:3] if run is None else default_channels(run)
    units = {c.name: c.unit.text for c in interface.channels}
    plot_panels = panels((name, units[name]) for name in listed)
    if requested is None and run is not None:
        plot_panels = [subpanel for panel in plot_panels for subpanel in spread(panel, run)]
    return [[names.index(name) for name in panel] for panel in plot_panels]


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
    fixed_names = [k for k, value in interface.run.initial.items() if not isinstance(value, Guess)]
    fixed_keys = {x.key for k in fixed_names if (x := interface.get(k, ("coordinate", "speed"))) is not None}
    free = [i for i, x in enumerate(interface.states) if x.key not in fixed_keys]
    independent = {key_of(s) for s in loaded.analysis.independent_speeds}
    guessed = [i for i, x in enumerate(interface.coordinates) if "u" + x.key[1:] not in independent]
    return [free, sorted({*free, *guessed}), list(range(len(interface.states)))]
