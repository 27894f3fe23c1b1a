"""What a stand-alone program must know of a model, gathered from its derivation."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from bellcrank.core.errors import ModelError, pluralize
from bellcrank.core.files.parsfile import keyword_for
from bellcrank.core.files.record import short_names
from bellcrank.core.name_lookup import normalized_name
from bellcrank.core.numeric.fixed_step_methods import DEFAULT, METHODS
from bellcrank.export.standalone.setup import PLAIN, KernelFeatures, KeyedQuantity, ProgramSetup
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import Interface, Quantity
from bellcrank.model.guess import StateGuess
from bellcrank.simulation.run.dae_methods import Dae, to_dae
from bellcrank.simulation.run.dae_runs import dae_problems
from bellcrank.simulation.run.initial_assembly import slide_mask
from bellcrank.simulation.run.loaded import LoadedModel, load_model
from bellcrank.simulation.run.point_evaluation import assemble
from bellcrank.simulation.run.rigid import rigid_problems
from bellcrank.simulation.run.rigid_layout import rigid_wheel_layouts
from bellcrank.simulation.run.signal_inputs import to_signal

TAKEN = frozenset(
    (
        "model",
        "program",
        "kernel",
        "main",
        "plain",
        "makefile",
        "all",
        "run",
        "clean",
        "routines",
        "arguments",
        "signals",
        "numpy",
        *sys.stdlib_module_names,
    )
)  # files and targets next to it; a program in Python comes before the modules that others import


def program_setup(
    derived: DerivedModel,
    interface: Interface | None = None,
    methods: Collection[str] = tuple(METHODS),
    special: KernelFeatures = PLAIN,
) -> ProgramSetup:
    """Keywords, units, words and defaults of everything in a model's program; `interface` with
    other defaults.

    `methods`: those that the program has; a model that asks for another one gets the usual one.
    `special`: what the kernel does besides plain steps.
    """
    methods = special.available_methods([*methods])
    interface = interface or derived.interface
    run, notes = interface.run, list[str]()
    t_end = float(run.t_end) if run.t_end is not None else 1.0
    method = (run.method or DEFAULT).lower()
    if method not in methods:
        notes.append(
            f"The model asks for the method {run.method}; {DEFAULT} is used unless METHOD is given."
        )
        method = DEFAULT
    used_keywords = _ambiguous(interface)
    parameters = tuple(
        KeyedQuantity(_take_keyword(x, used_keywords), x, x.default) for x in interface.parameters
    )
    bases = list(dict.fromkeys(x.base_input for x in interface.inputs))
    listed = short_names(["t", *(x.name for x in interface.channels)])[1:]
    return ProgramSetup(
        interface,
        title=" ".join(interface.model.split()) or "model",
        stem=program_stem(interface.model),
        parameters=parameters,
        states=_keyed_states(derived, interface, used_keywords),
        removed=tuple(_without_blanks(x) for x in interface.dependent_speeds),
        guessed=_guessed_flags(derived, interface),
        slides=tuple(slide_mask(derived.analysis.mechanism, derived.program)),
        signals=tuple(_keyed_input(interface, base, used_keywords, notes) for base in bases),
        inputs=tuple((bases.index(x.base_input), x.rate) for x in interface.inputs),
        channels=tuple(
            KeyedQuantity(short, x) for short, x in zip(listed, interface.channels, strict=True)
        ),
        entered=tuple(KeyedQuantity(x.name, x) for x in interface.function_parameters),
        echoed=tuple(KeyedQuantity(x.name, x) for x in interface.echo),
        t_end=t_end,
        step=float(run.step) if run.step is not None else t_end / 1000,
        method=method,
        every=run.output_every or 1,
        notes=tuple(notes),
        about=_model_summary(derived),
        special=special,
    )


def kernel_features(derived: DerivedModel, dae: str | Dae | None = None) -> KernelFeatures:
    """What the kernel does besides plain steps; raises an error if it cannot do that for this
    model."""
    contacts, dae_method = (
        derived.analysis.mechanism.description.rigid_contacts,
        None if dae is None else to_dae(dae),
    )
    problems = dae_problems(dae_method, derived.program) if dae_method is not None else []
    problems += (
        rigid_problems(derived.program, dae_method is None or dae_method.usual) if contacts else []
    )
    if problems:
        raise ModelError(problems, derived.name)
    wheels = (
        zip(rigid_wheel_layouts(contacts, derived.program), contacts, strict=True)
        if contacts
        else ()
    )
    return KernelFeatures(tuple((w, c.below == "error") for w, c in wheels), dae_method)


def _model_summary(derived: DerivedModel) -> tuple[str, ...]:
    """Bodies, forces and constraints of a model for a reader of its program."""
    analysis = derived.analysis
    bodies = analysis.mechanism.bodies
    freedom, listed = len(analysis.independent_speeds), []
    names = ("the inertial reference", *(b.name for b in bodies))
    listed.append(
        f"{pluralize(len(derived.bodies), 'body', 'bodies')}, "
        f"{pluralize(freedom, 'degree')} of freedom"
    )
    for b in bodies:
        label = f" ({b.label})" if b.label and b.label != b.name else ""
        joint = ", ".join(s.name for s in b.coordinates) or "fixed"
        listed.append(f"  {b.name}{label} on {names[b.parent + 1]}: {joint}")
    listed += ["forces and moments"] if analysis.loads else []
    for x in analysis.loads:
        label = f" ({x.label})" if x.label != x.name else ""
        against = f" against {names[x.against + 1]}" if x.against >= 0 else ""
        listed.append(f"  {x.kind} {x.name}{label} on {names[x.body + 1]}{against}")
    rows = [r.name for r in (analysis.loops.rows if analysis.loops else ())]
    rows += [f"{r.speed.name} follows from {r.name}" for r in analysis.removed]
    listed += ["constraints", *(f"  {text}" for text in rows)] if rows else []
    return tuple(listed)


def program_stem(name: str) -> str:
    """The name of a model as that of a program: small letters, digits and underscores."""
    stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
    if not stem or stem[0].isdigit() or stem in TAKEN:
        stem = f"model_{stem}".strip("_") + ("" if stem else "_1")
    return stem


def _take_keyword(x: Quantity, used_keywords: list[str]) -> str:
    used_keywords.append(keyword_for(x.name, used_keywords))
    return used_keywords[-1]


def _without_blanks(x: Quantity) -> str:
    return "".join(x.name.split())


def _ambiguous(interface: Interface) -> list[str]:
    """Names that are several in a parameter file, where capitals do not count: none of them is a
    keyword."""
    quantities = (
        *interface.parameters,
        *interface.signals,
        *interface.states,
        *interface.dependent_speeds,
    )
    count = Counter(x.key.lower() for x in quantities)
    return [key for key, n in count.items() if n > 1]


def _keyed_states(
    derived: DerivedModel, interface: Interface, used_keywords: list[str]
) -> tuple[KeyedQuantity, ...]:
    initial, loops = _initial_values(derived, interface), derived.program.loops is not None
    states = []
    for x in interface.states:
        value = initial.get(x.key, x.default)
        plain = (
            None if value is None else float(value)
        )  # numbers of NumPy are printed with its name
        states.append(
            KeyedQuantity(
                _state_keyword(x, used_keywords),
                x,
                plain,
                not loops or _is_initial_value(initial.get(x.key)),
            )
        )
    return tuple(states)


def _is_initial_value(value: float | None) -> bool:
    """Is it an initial value, not a guess?"""
    return value is not None and not isinstance(value, StateGuess)


def _state_keyword(x: Quantity, used_keywords: list[str]) -> str:
    """The name of a state, or its number where capitals alone report it from another."""
    if x.key.lower() not in used_keywords:
        return x.key
    return f"{x.key[0]}({x.index + 1})" if "(" in x.key else _take_keyword(x, used_keywords)


def _initial_values(derived: DerivedModel, interface: Interface) -> Mapping[str, float]:
    """Initial values by state, in user units; for a speed that constraints determine, those that it
    leads to."""
    quantities = {
        k: interface.find_or_none(k, ("coordinate", "speed")) for k in interface.run.initial
    }
    if None not in quantities.values():
        return {x.key: interface.run.initial[k] for k, x in quantities.items() if x is not None}
    q, u = assemble(load_in_python(derived, interface))
    return {
        x.key: float(x.unit.from_equation_units(value))
        for x, value in zip(interface.states, (*q, *u), strict=True)
    }


def load_in_python(derived: DerivedModel, interface: Interface | None = None) -> LoadedModel:
    """The model as it runs in Python; routines that are not given there return zeros."""
    externals = derived.analysis.mechanism.description.externals
    stubs = {e.name: _zero_function(len(e.returns)) for e in externals if e.python is None}
    return load_model(
        derived.analysis, interface or derived.interface, derived.program, "python", stubs
    )


def _zero_function(n: int) -> Callable[..., Any]:
    return lambda *arguments: (0.0,) * n if n else 0.0


def _guessed_flags(derived: DerivedModel, interface: Interface) -> tuple[bool, ...]:
    independent = {normalized_name(u)[1:] for u in derived.analysis.independent_speeds}
    return tuple(x.key[1:] not in independent for x in interface.coordinates)


def _keyed_input(
    interface: Interface, base: str, used_keywords: list[str], notes: list[str]
) -> KeyedQuantity:
    """An input with what it is over time in runs of the model."""
    x = interface.find_or_raise(base, ("input",), "input")
    keyword = _take_keyword(x, used_keywords)
    signals = interface.inputs_by_key()
    signal = to_signal(signals[x.key], x.name) if x.key in signals else None
    if signal is not None and signal.name == "function":
        notes.append(
            f"The input {x.name} of the model is a function in Python: give another one here."
        )
        signal = None
    return KeyedQuantity(keyword, x, signal=signal)
