"""What a stand-alone program must know of a model, gathered from its equations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bellcrank.export.standalone.facts import Facts, OutputChannel, Quantity, Signal
from bellcrank.expr import Symbol
from bellcrank.files.parsfile import keyword_for
from bellcrank.files.record import short_names
from bellcrank.kinematics.dimensions.quantities import UNKNOWN
from bellcrank.numeric.methods import DEFAULT, METHODS
from bellcrank.run.inputs import as_signal, differentiated

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

TAKEN = (
    "model",
    "program",
    "makefile",
    "all",
    "run",
    "clean",
    "routines",
    "integrate",
    "arguments",
    "projection",
    "branch",
    "null_space",
)  # files and targets beside it


def program_facts(equations: Equations) -> Facts:
    """Keywords, units, words and defaults of everything in a model's program."""
    d = equations.analysis.mechanism.description
    run = d.run
    t_end = float(run.t_end) if run.t_end is not None else 1.0
    notes = []
    method = (run.method or DEFAULT).lower()
    if method not in METHODS:
        notes.append(f"The model asks for the method {run.method}; programs have a fixed step, so {DEFAULT} is used.")
        method = DEFAULT
    taken: list[str] = []
    parameters = tuple(_parameter(equations, p.name, taken) for p in equations.program.given_parameters)
    signals, inputs = _signals(equations, taken, notes)
    return Facts(
        title=" ".join(equations.name.split()) or "model",
        stem=stem_of(equations.name),
        units=d.units,
        parameters=parameters,
        states=_states(equations),
        n_q=len(equations.coordinates),
        removed=tuple(_key(r.speed.name) for r in equations.analysis.removed),
        guessed=_guessed(equations),
        signals=signals,
        inputs=inputs,
        channels=_channels(equations),
        t_end=t_end,
        step=float(run.step) if run.step is not None else t_end / 1000,
        method=method,
        every=run.output_every or 1,
        notes=tuple(notes),
        about=_about(equations),
        entered=tuple(_from_routine(equations, s.name) for s in _entered(equations)),
        echoed=tuple(_from_routine(equations, name) for name in equations.program.echo_names),
    )


def _about(equations: Equations) -> tuple[str, ...]:
    """Bodies, forces and constraints of a model for a reader of its program."""
    analysis = equations.analysis
    bodies = analysis.mechanism.bodies
    freedom, listed = len(equations.independent_speeds), []
    names = ("the inertial reference", *(b.name for b in bodies))
    listed.append(f"{len(bodies)} bodies, {freedom} degree{'' if freedom == 1 else 's'} of freedom")
    for b in bodies:
        label = f" ({b.label})" if b.label and b.label != b.name else ""
        joint = ", ".join(s.name for s in b.coordinates) or "fixed"
        listed.append(f"  {b.name}{label} on {names[b.parent + 1]}: {joint}")
    listed += ["forces and moments"] if analysis.loads else []
    for load in analysis.loads:
        label = f" ({load.label})" if load.label != load.name else ""
        against = f" against {names[load.against + 1]}" if load.against >= 0 else ""
        listed.append(f"  {load.kind} {load.name}{label} on {names[load.body + 1]}{against}")
    rows = [r.text for r in (analysis.loops.rows if analysis.loops else ())]
    rows += [f"{r.speed.name} follows from {r.text}" for r in analysis.removed]
    listed += ["constraints", *(f"  {text}" for text in rows)] if rows else []
    return tuple(listed)


def _entered(equations: Equations) -> tuple[Symbol, ...]:
    return equations.program.parameters[len(equations.program.given_parameters) :]


def _from_routine(equations: Equations, name: str) -> Quantity:
    """A value that an external routine gives when parameters have been read, or with the echo; it is no keyword."""
    q, key = equations.quantities, name.lower()
    unit = q.unit.get(key, UNKNOWN)
    return Quantity(name, unit.text, q.label.get(key, name), unit.factor, None, name=name)


def stem_of(name: str) -> str:
    """The name of a model as that of a program: small letters, digits and underscores."""
    stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
    if not stem or stem[0].isdigit() or stem in TAKEN:
        stem = f"model_{stem}".strip("_") + ("" if stem else "_1")
    return stem


def _parameter(equations: Equations, name: str, taken: list[str]) -> Quantity:
    q, key = equations.quantities, name.lower()
    record = equations.analysis.mechanism.description.parameters.get(key)
    keyword = keyword_for(name, taken)
    taken.append(keyword)
    value = None if record is None or record.value is None else float(record.value)
    return Quantity(keyword, q.unit[key].text, q.label.get(key, name), q.unit[key].factor, value, name=name)


def _key(name: str) -> str:
    return "".join(name.split())


def state_name(key: Any, coordinates: list[Symbol], speeds: list[Symbol]) -> str:
    """q(b, 2), Q(5) or a symbol, as the name of a state without blanks."""
    name = _key(key.name if isinstance(key, Symbol) else str(key)).lower()
    if name[:2] in ("q(", "u(") and name[2:-1].isdigit():
        listed = coordinates if name[0] == "q" else speeds
        if 1 <= int(name[2:-1]) <= len(listed):
            return _key(listed[int(name[2:-1]) - 1].name).lower()
    return name


def _states(equations: Equations) -> tuple[Quantity, ...]:
    q = equations.quantities
    given = _initial(equations)
    start = {b.q_r[0].name: 1.0 for b in equations.analysis.mechanism.bodies if b.euler}
    loops = equations.program.loops is not None
    result = []
    for s in (*equations.coordinates, *equations.speeds):
        unit, key = q.states[s.name], _key(s.name)
        value = given.get(key.lower())
        shown = value if value is not None else start.get(s.name, 0.0)
        told = value is not None or not loops
        result.append(Quantity(key, unit.text, q.state_label.get(s.name, s.name), unit.factor, shown, told, s.name))
    return tuple(result)


def _initial(equations: Equations) -> Mapping[str, float]:
    """Initial values by state, in user units. If one of them is a speed that constraints determine, the speeds it leads to."""
    listed = (equations.coordinates, equations.speeds)
    given = equations.analysis.mechanism.description.run.initial
    named = {state_name(k, *listed): float(v) for k, v in given.items()}
    known = {_key(s.name).lower() for group in listed for s in group}
    if not set(named) - known:
        return named
    externals = equations.analysis.mechanism.description.externals
    stubs = {e.name: _zeros(len(e.returns)) for e in externals if e.python is None}
    found = equations.compile(backend="python", external=stubs).complete(None)
    values = {}
    for group, numbers in zip(listed, found, strict=True):
        for s, x in zip(group, numbers.tolist(), strict=True):
            values[_key(s.name).lower()] = equations.quantities.states[s.name].from_equation(x)
    return values


def _zeros(n: int) -> Callable[..., Any]:
    return lambda *arguments: (0.0,) * n if n else 0.0


def _guessed(equations: Equations) -> tuple[bool, ...]:
    independent = {_key(u.name)[1:] for u in equations.independent_speeds}
    return tuple(_key(s.name)[1:] not in independent for s in equations.coordinates)


def _signals(
    equations: Equations, taken: list[str], notes: list[str]
) -> tuple[tuple[Signal, ...], tuple[tuple[int, int], ...]]:
    d, q = equations.analysis.mechanism.description, equations.quantities
    given = {str(k).lower(): v for k, v in d.run.inputs.items()}
    names: list[str] = []
    inputs = []
    for s in equations.program.given_inputs:
        name, times = differentiated(s.name) if s.kind == "rate" else (s.name, 0)
        if name not in names:
            names.append(name)
        inputs.append((names.index(name), times))
    signals = []
    for name in names:
        key = name.lower()
        keyword = keyword_for(name, taken)
        taken.append(keyword)
        common = (keyword, q.unit[key].text, q.label.get(key, name), q.unit[key].factor)
        if key not in given:
            signals.append(Signal(*common, name=name))
            continue
        signal = as_signal(given[key], name)
        if signal.name == "function":
            notes.append(f"The input {name} of the model is a function in Python: give another one here.")
            signals.append(Signal(*common, name=name))
        else:
            signals.append(Signal(*common, signal.name, signal.numbers, signal.points, signal.pieces, name))
    return tuple(signals), tuple(inputs)


def _channels(equations: Equations) -> tuple[OutputChannel, ...]:
    q = equations.quantities
    bodies = {s.name: b.name for b in equations.analysis.mechanism.bodies for s in (*b.coordinates, *b.speeds)}
    outputs = {o.name: o for o in equations.analysis.outputs}
    states = [s.name for s in (*equations.coordinates, *equations.speeds)]
    names = [*states, *equations.program.output_names]
    columns = list(range(1, len(names) + 1))
    for i, s in enumerate(equations.program.inputs, len(names) + 1):
        if s.kind == "variable" and s.name not in names:
            names.append(s.name)
            columns.append(i)
    shorts = short_names(["t", *names])[1:]
    result = []
    for name, short, column in zip(names, shorts, columns, strict=True):
        if name in outputs or name in q.states:
            unit = q.output_unit[name] if name in outputs else q.states[name]
            label = outputs[name].label if name in outputs else q.state_label.get(name, name)
        else:
            unit, label = q.unit[name.lower()], q.label.get(name.lower()) or name
        body = (outputs[name].body or "") if name in outputs else bodies.get(name, "")
        result.append(OutputChannel(name, short, unit.text, label, q.generic.get(name, ""), body, unit.factor, column))
    return tuple(result)
