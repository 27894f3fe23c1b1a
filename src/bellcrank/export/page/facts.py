"""What a live page knows of its model: everything but the program itself, as JSON carries it.

In:  a derivation and what a user chose. Out: `Facts`: parameters and inputs with ranges of their sliders, channels, the
start, the method and the scene. Values of users are in user units, states in equation units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.derive.derived import Derived
from bellcrank.emit.browser import BrowserProgram
from bellcrank.errors import ModelError
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.model_setup import setup_of
from bellcrank.export.page.ranges import Machine, machine_of, parameter_ends
from bellcrank.export.standalone.setup import Keyed, Setup
from bellcrank.interface.interface import Interface, Quantity
from bellcrank.model.guess import Guess
from bellcrank.names import find_name, key_of
from bellcrank.numeric.methods import METHODS, Sum
from bellcrank.program.program import Program
from bellcrank.run.evaluate import complete
from bellcrank.run.loaded import Loaded, load
from bellcrank.scene.browser import PACES, pace_of

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
    for name, ends in given.items():
        x = interface.find(name, ("parameter", "input"), "parameter or input")
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
    try:
        low, high = (float(x) for x in given)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ModelError(f"sliders={{'{name}': {given!r}}}: give the two ends of the slider, the lower first")
    return low, high


def facts_of(
    derived: Derived, program: Program, made: BrowserProgram, chosen: Chosen, reach: float | None = None
) -> dict[str, Any]:
    """All facts but the scene; `program`: the one that runs, with poses; `reach`: of the machine, if it has bodies."""
    interface = derived.interface.with_all_inputs()
    setup = with_stable_step(setup_of(derived, interface), derived)
    loaded = load(derived.analysis, interface, derived.program, "python", {})
    q, u = complete(loaded)
    names = ", ".join(derived.interface.without_course)
    notes = [f"The model has no course over time for {names}: zero, until a slider is moved."] if names else []
    machine = None if reach is None else machine_of(derived, loaded, reach)
    channels = [_channel(interface, x) for x in interface.channels]
    return {
        "title": chosen.title or setup.title,
        "pages": made.memory.pages,
        "at": {**made.memory.at, "n": len(q) + len(u)},
        "n_q": len(q),
        "unit": list(program.unit),
        "y": [*q.tolist(), *u.tolist()],
        "parameters": [_parameter(interface, s.name, chosen) for s in program.parameters],
        "signals": [_signal(s, setup, chosen, notes, machine) for s in setup.signals],
        "inputs": [[*pair, x.unit.factor] for pair, x in zip(setup.inputs, interface.inputs, strict=True)],
        "outputs": len(interface.outputs),
        "channels": channels,
        "plots": _plots(interface, chosen),
        "chosen": chosen.plots is not None,
        "method": method_facts(setup.method),
        "step": setup.step,
        "t_end": setup.t_end,
        "window": min(setup.t_end, WINDOW * max(1.0, pace_of(setup.t_end))),
        "paces": PACES,
        "pace": pace_of(setup.t_end),
        "free": _free(loaded),
        "guided": any(r.formulas is not None for r in program.routines),  # by linkages
        "notes": notes,
    }


def method_facts(name: str) -> dict[str, Any]:
    """A method as its tableau."""
    m = METHODS[name]

    def total(s: Sum) -> dict[str, Any]:
        return {"terms": s.terms, "by": s.by}

    stages = [{"node": s.node, "sum": total(s.sum)} for s in m.stages]
    two_step = m.two_step and total(m.two_step)
    known = {"name": name, "stages": stages, "result": total(m.result), "semi_implicit": m.semi_implicit}
    return {**known, "two_step": two_step}


def _parameter(interface: Interface, name: str, chosen: Chosen) -> dict[str, Any]:
    x = interface.find(name, ("parameter", "idle"), "parameter")
    value = 0.0 if x.default is None else float(x.default)
    ends = chosen.sliders.get(x.key) or parameter_ends(value)
    return {**_words(x), "value": value, "range": ends, "shown": x.key in chosen.sliders, "positive": x.positive}


def _words(x: Quantity) -> dict[str, Any]:
    return {"name": x.name, "label": x.label or x.name, "unit": x.unit.text, "factor": x.unit.factor}


def _signal(s: Keyed, setup: Setup, chosen: Chosen, notes: list[str], machine: Machine | None) -> dict[str, Any]:
    """An input: its signal in the model, or the value that it is held at where it has none that a page can compute."""
    x, signal = s.quantity, s.signal
    found: dict[str, Any] = {**_words(x), "held": None}
    values = [0.0]
    if signal is None:
        given = setup.interface.given_inputs().get(x.key)
        if callable(given):
            values = [float(given(t)) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)]
            notes.append(f"{x.name} is a function in Python: it is held where it starts.")
        found["held"] = values[0]
        found |= {"kind": "constant", "numbers": [values[0]]}
    else:
        values = [signal.value(t) for t in np.linspace(0.0, setup.t_end, FUNCTION_SAMPLES)] if s.formula else values
        if signal.points is not None and signal.pieces is not None:
            found |= {"points": signal.points.tolist(), "pieces": signal.pieces.ravel().tolist()}
            found["bends"] = list(signal.breaks)
            values = signal.pieces[:, 0].tolist()
        else:
            found |= {"kind": signal.name, "numbers": [max(min(v, 1e300), -1e300) for v in signal.numbers]}
            if signal.name == "constant":
                found["held"] = signal.numbers[0]
    most = 2 * max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    most = most or (1.0 if machine is None else machine.usual(x))
    found["range"] = chosen.sliders.get(x.key) or (-most, most)
    return found


def _channel(interface: Interface, x: Quantity) -> dict[str, Any]:
    n = len(interface.states)
    first = {"y": 1, "out": 1 + n, "w": 1 + n + len(interface.outputs)}
    of = "out" if x.kind == "output" else "y" if x.kind in ("coordinate", "speed") else "w"
    return {**_words(x), "of": of, "place": x.column - first[of]}


def _plots(interface: Interface, chosen: Chosen) -> list[int]:
    """Numbers of the channels to plot; where none are chosen, those that may be, of which a page takes some."""
    names = [c.name for c in interface.channels]
    if chosen.plots is not None:
        return [names.index(name) for name in chosen.plots]
    states, outputs = ([i for i, c in enumerate(interface.channels) if c.kind == k] for k in ("coordinate", "output"))
    return [*outputs, *states]


def _free(loaded: Loaded) -> list[dict[str, list[int]]]:
    """What may move when loops are closed, in attempts of which each frees more; nothing without loops."""
    if loaded.program.loops is None:
        return []
    interface = loaded.interface
    kept = [k for k, value in interface.run.initial.items() if not isinstance(value, Guess)]
    given = {x.key for k in kept if (x := interface.get(k, ("coordinate", "speed"))) is not None}
    q = [i for i, x in enumerate(interface.coordinates) if x.key not in given]
    u = [i for i, x in enumerate(interface.speeds) if x.key not in given]
    independent = {key_of(s) for s in loaded.analysis.independent_speeds}
    guessed = [i for i, x in enumerate(interface.coordinates) if "u" + x.key[1:] not in independent]
    everything = {"q": list(range(len(interface.coordinates))), "u": list(range(len(interface.speeds)))}
    return [{"q": q, "u": u}, {"q": sorted({*q, *guessed}), "u": u}, everything]
