"""What a live page knows of its model: everything but the program itself, as JSON carries it.

In:  a derivation and what a user chose. Out: `Facts`: parameters and inputs with ranges of their
sliders, channels, the start, the method and the scene. Values of users are in user units, states
in equation units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.codegen.browser import BrowserProgram, browser_program
from bellcrank.codegen.c.rigid import RigidWheel
from bellcrank.codegen.memory import FLOAT64_BYTES, PARTS, ROWS
from bellcrank.codegen.wasm.page_memory import MODES, EventTables, PageRunSettings
from bellcrank.core.errors import ModelError
from bellcrank.core.files.embed import page_text
from bellcrank.core.name_lookup import find_name, normalized_name
from bellcrank.core.numeric.real_numbers import to_interval
from bellcrank.core.numeric.tuning import PLANS
from bellcrank.core.signals import SIGNAL_KINDS, Signal
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.model_setup import kernel_features, program_setup
from bellcrank.export.page.groups import parameter_heading
from bellcrank.export.page.page_run import PageRun, make_page_run, products_of_inertia
from bellcrank.export.page.slider_ranges import (
    ModelScales,
    SliderRange,
    input_range,
    model_scales,
    parameter_range,
)
from bellcrank.export.standalone.setup import KeyedQuantity, ProgramSetup
from bellcrank.kernel.layout import layout_of
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import DECLARED, Interface, Quantity
from bellcrank.model.guess import StateGuess
from bellcrank.model.loads.contact import INPUTS
from bellcrank.program.program import SimulationProgram
from bellcrank.scene.page_scene import PLAYBACK_SPEEDS, label_fields, playback_speed, round_digits
from bellcrank.simulation.backend.c_runs import RigidCRun
from bellcrank.simulation.run.event_actions import moves_first_mask
from bellcrank.simulation.run.event_data import encode_events, event_parameter_names
from bellcrank.simulation.run.event_specs import make_event_specs
from bellcrank.simulation.run.loaded import LoadedModel, load_model
from bellcrank.simulation.run.plot_selection import (
    channels_by_unit,
    default_channels,
    duration,
    minimum_axis_ranges,
    split_by_range,
)
from bellcrank.simulation.run.point_evaluation import assemble
from bellcrank.simulation.run.result import Run

EVENT_FIELDS = (
    "h",
    "span",
    "until",
    "use_values",
    "n_happenings",
    "stopped",
    "problem",
    "culprit",
    "when",
)
FUNCTION_SAMPLES = 400  # of an input, to find the range of its slider
WINDOW = 10.0  # s that plots show at most, in real time


@dataclass(frozen=True)
class PageOptions:
    """What a user chose: sliders that stand first, by key, with ends or None; channels of plots;
    the title."""

    sliders: Mapping[str, tuple[float, float] | None]
    plots: Sequence[str] | None = None
    title: str | None = None


def read_page_options(interface: Interface, sliders: Any, plots: Any, title: Any) -> PageOptions:
    """What was given, checked: sliders are names, or ends by name; plots are names of channels."""
    ranges: dict[str, tuple[float, float] | None] = {}
    requested = (
        dict(sliders)
        if isinstance(sliders, Mapping)
        else dict.fromkeys(_require_names(sliders, "sliders"))
    )
    event_keys = make_event_specs(interface, None, None, None).parameter_keys
    for name, limits in requested.items():
        quantity = interface.find_or_none(name, DECLARED)
        kinds = (
            DECLARED
            if quantity is not None and quantity.key in event_keys
            else ("parameter", "input")
        )
        x = interface.find_or_raise(name, kinds, "parameter or input")
        ranges[x.key] = None if limits is None else _slider_ends(name, limits)
    listed = None
    if plots is not None:
        channels = [c.name for c in interface.channels]
        listed = [
            find_name(name, channels, "channel") or "" for name in _require_names(plots, "plots")
        ]
        for name, channel in zip(_require_names(plots, "plots"), listed, strict=True):
            if not channel:
                channel_list = ", ".join(channels)
                raise ModelError(
                    f"plots: the model has no channel '{name}'. Channels: {channel_list}.",
                    interface.model,
                )
    return PageOptions(ranges, listed, None if title is None else str(title))


def _require_names(names: Any, label: str) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ModelError(f"{label}={names!r} must be names, such as ['{names}']")
    return [str(name) for name in names]


def _slider_ends(name: str, limits_given: Any) -> tuple[float, float]:
    limits = to_interval(limits_given)
    if limits is None:
        raise ModelError(
            f"sliders={{'{name}': {limits_given!r}}}: give the two ends of the slider, the "
            f"lower first"
        )
    return limits


def page_data(
    derived: DerivedModel,
    program: SimulationProgram,
    page_options: PageOptions,
    size: float | None = None,
) -> tuple[dict[str, Any], BrowserProgram]:
    """All facts but the scene, and what runs; `program`: that with poses; `size`: of the machine,
    if it has bodies."""
    interface = derived.interface.with_all_inputs()
    setup = with_stable_step(
        program_setup(derived, interface, special=kernel_features(derived)), derived
    )
    loaded = load_model(derived.analysis, interface, derived.program, "python", {})
    q, u = assemble(loaded)
    names = ", ".join(derived.interface.inputs_without_signal)
    notes = (
        [f"The model has no course over time for {names}: zero, until a slider is moved."]
        if names
        else []
    )
    machine = None if size is None else model_scales(derived, loaded, size)
    wheels = setup.special.wheels
    of_ground = {f"{w.name}.{input_name}" for w, _ in wheels for input_name in INPUTS}
    order = [*range(len(setup.signals))]
    order.sort(
        key=lambda i: setup.signals[i].quantity.name in of_ground
    )  # those without a slider at last
    listed = [_input_data(setup.signals[i], setup, page_options, notes, machine) for i in order]
    events = make_event_specs(interface, None, None, None)
    values = event_parameter_names(events.formulas)
    parameter_names = [s.name for s in program.parameters]
    parameter_names += [name for name in values if name not in parameter_names]
    scaled = [
        (order.index(i), rate, x.unit.factor)
        for (i, rate), x in zip(setup.inputs, interface.inputs, strict=True)
    ]
    course = PageRunSettings([signal for _, signal in listed], scaled, setup.method, setup.step)
    if events.formulas or wheels:
        follower_flags = moves_first_mask(interface, derived.analysis.independent_speeds)
        added_count = len(parameter_names) - len(program.parameters)
        tables = EventTables(
            *encode_events(events.formulas, values), follower_flags, len(values), added_count
        )
        course = replace(course, events=tables, wheels=[w for w, _ in wheels])
    browser = browser_program(program, course)
    trial, mixed = make_page_run(derived, setup, len(browser.module)), products_of_inertia(derived)
    layout = layout_of("input.h", "Input")
    facts = {
        "title": page_options.title or setup.title,
        "kernel": len(browser.kernel),
        "at": browser.at,
        "job": browser.fields,
        "input": [layout.size // FLOAT64_BYTES, layout.fields["a"][0] // FLOAT64_BYTES],
        "results": {name: n for name, n in browser.sizes.items() if name in ("poses", "marks")},
        "sines": [ROWS, PARTS],
        "mirrored": browser.mirrored,
        "n_q": len(q),
        "n_g": 0 if program.loops is None else len(program.loops.g),
        "y": [*q.tolist(), *u.tolist()],
        "parameters": [
            _parameter_data(interface, name, page_options, machine, trial, name in mixed)
            for name in parameter_names
        ],
        "signals": [facts for facts, _ in listed if facts["name"] not in of_ground],
        "inputs": scaled,
        "outputs": len(interface.outputs),
        "channels": [{**_quantity_labels(x), "column": x.column} for x in interface.channels],
        "plots": _plot_columns(interface, page_options, trial.run),
        "least": _minimum_axis_ranges(interface, trial.run),
        "method": setup.method,
        "step": setup.step,
        "t_end": setup.t_end,
        "at_end": PLANS.at_end,
        "window": min(setup.t_end, WINDOW * max(1.0, playback_speed(setup.t_end))),
        "paces": PLAYBACK_SPEEDS,
        "pace": playback_speed(setup.t_end),
        "way": round_digits(trial.sampled_coordinates(), 4),
        "free": _assembly_attempts(loaded),
        "guided": any(r.formulas is not None for r in program.routines),  # by linkages
        "notes": notes,
    }
    if events.formulas or wheels:
        names_of = [page_text(e.name) for e in events.formulas]
        facts["events"] = _event_facts(
            names_of, [parameter_names.index(name) for name in values], wheels
        )
    return facts, browser


def _event_facts(
    names: Sequence[str], values: Sequence[int], wheels: Sequence[tuple[RigidWheel, bool]]
) -> dict[str, Any]:
    """Events by name, the parameters that they read or set, and rigid wheels: must they not start
    below the ground?"""
    fields = layout_of("events.h", "Events").fields
    return {
        "names": names,
        "values": values,
        "at": {name: fields[name][0] for name in EVENT_FIELDS},
        "wheels": [[page_text(w.name), strict] for w, strict in wheels],
        "does": RigidCRun.KINDS,
        "modes": MODES * len(wheels),
    }


def _parameter_data(
    interface: Interface,
    name: str,
    page_options: PageOptions,
    machine: ModelScales | None,
    trial: PageRun,
    mixed: bool,
) -> dict[str, Any]:
    x = interface.find_or_raise(name, DECLARED, "parameter")
    value = 0.0 if x.default is None else float(x.default)
    slider = page_options.sliders.get(x.key)
    limits = (
        trial.feasible_range(x, parameter_range(x, machine, mixed))
        if slider is None
        else SliderRange(*slider)
    )
    flags = {
        "log": limits.log,
        "shown": x.key in page_options.sliders,
        "positive": x.positive,
        "group": parameter_heading(x),
    }
    listed = {k: v for k, v in flags.items() if v}
    return {
        **_quantity_labels(x),
        "value": value,
        "range": round_digits((limits.low, limits.high)),
        **listed,
    }


def _quantity_labels(x: Quantity) -> dict[str, Any]:
    factor = {} if x.unit.factor == 1.0 else {"factor": x.unit.factor}
    return {**label_fields(x.name, x.label, x.unit.text), **factor}


def _input_data(
    s: KeyedQuantity,
    setup: ProgramSetup,
    page_options: PageOptions,
    notes: list[str],
    machine: ModelScales | None,
) -> tuple[dict[str, Any], Signal]:
    """An input: its signal in the model, or the value that it is held at where it has none that a
    page can compute."""
    x, signal = s.quantity, s.signal
    facts: dict[str, Any] = {**_quantity_labels(x), "held": None}
    values = [0.0]
    if signal is None:
        supplied = setup.interface.inputs_by_key().get(x.key)
        if callable(supplied):
            values = [float(supplied(t)) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)]
            notes.append(f"{x.name} is a function in Python: it is held where it starts.")
        signal = SIGNAL_KINDS["constant"].make_signal(values[0])
    elif signal.pieces is not None:
        values = signal.pieces[:, 0].tolist()
    elif s.closed_form_signal:
        values = [signal.value(t) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)]
    if signal.name == "constant":
        facts["held"] = signal.numbers[0]
    facts["breaks"] = signal.breaks
    supplied = page_options.sliders.get(x.key)
    limits = input_range(x, values, machine) if supplied is None else SliderRange(*supplied)
    facts["range"] = round_digits((limits.low, limits.high))
    return facts, signal


def _plot_columns(
    interface: Interface, page_options: PageOptions, run: Run | None
) -> list[list[int]]:
    """Numbers of the channels to plot, by panel: those that are chosen, else those of a plot of the
    run."""
    names = [c.name for c in interface.channels]
    default_shown = [
        name for name in interface.run.shown_channels if name in names
    ]  # a car may be driven otherwise than in the run
    requested = page_options.plots if page_options.plots is not None else default_shown or None
    listed = (
        requested if requested is not None else names[:3] if run is None else default_channels(run)
    )
    units = {c.name: c.unit.text for c in interface.channels}
    plot_panels = channels_by_unit((name, units[name]) for name in listed)
    if requested is None and run is not None:
        plot_panels = [subpanel for panel in plot_panels for subpanel in split_by_range(panel, run)]
    return [[names.index(name) for name in panel] for panel in plot_panels]


def _minimum_axis_ranges(interface: Interface, run: Run | None) -> list[float]:
    """The least range of the axis of each channel."""
    channels = interface.channels
    if run is None:
        return []
    values, units = [run[c.name] for c in channels], [c.unit.text for c in channels]
    return round_digits(minimum_axis_ranges(values, units, duration(run)), 2)


def _assembly_attempts(loaded: LoadedModel) -> list[list[int]]:
    """States that may move when loops are closed, in attempts of which each frees more; nothing
    without loops."""
    if loaded.program.loops is None:
        return []
    interface = loaded.interface
    fixed_names = [
        k for k, value in interface.run.initial.items() if not isinstance(value, StateGuess)
    ]
    fixed_keys = {
        x.key
        for k in fixed_names
        if (x := interface.find_or_none(k, ("coordinate", "speed"))) is not None
    }
    free = [i for i, x in enumerate(interface.states) if x.key not in fixed_keys]
    independent = {normalized_name(s) for s in loaded.analysis.independent_speeds}
    guessed = [i for i, x in enumerate(interface.coordinates) if "u" + x.key[1:] not in independent]
    return [free, sorted({*free, *guessed}), list(range(len(interface.states)))]
