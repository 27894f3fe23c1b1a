"""Assignments of the dialect: kinematical equations, vectors by form, forces, torques,
definitions."""

from __future__ import annotations

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.kane.autolev.command_help import COMMANDS
from bellcrank.kane.autolev.line_parser import AutolevLine
from bellcrank.kane.autolev.workspace import FORMS, AutolevWorkspace, autolev_text
from bellcrank.kane.contradictions import find_contradictions
from bellcrank.kane.scalars import TIME
from bellcrank.symbolic.expr import Symbol
from bellcrank.symbolic.expr.traversal import free_symbols
from bellcrank.symbolic.vector.basis import Vector


def run_assignment(w: AutolevWorkspace, line: AutolevLine) -> list[str]:
    """Carries out name=formula; answers what is stored if that differs from what was typed."""
    if line.args is not None:
        if line.name in ("FORCE", "TORQUE"):
            return _assign_load(w, line)
        raise ModelError(f"{line.name}(..)= is not a form; FORCE(..)= and TORQUE(..)= are")
    if line.name.endswith("'"):
        return _assign_rate(w, line)
    if line.name in COMMANDS and line.name != "PE":
        raise ModelError(f"{line.name} is a command, used as {COMMANDS[line.name][0]}")
    form = w.parse_vector_name(line.name)
    return _assign_scalar(w, line) if form is None else _assign_vector(w, line, form)


def _changed_value_answer(line: AutolevLine, name: str, value: object) -> list[str]:
    typed = line.right.upper().replace(" ", "")
    return [] if typed == autolev_text(value) else [f"{name}={autolev_text(value)}"]


def _assign_rate(w: AutolevWorkspace, line: AutolevLine) -> list[str]:
    name = line.name[:-1]
    if line.name in w.taken:
        raise ModelError(f"{line.name} is already defined: {w.taken[line.name]}")
    symbol = w.symbols.get(name)
    if symbol is not None and symbol.kind != "coordinate":
        meaning = w.taken.get(name, "another quantity")
        raise ModelError(
            f"{line.name}= defines the derivative of a coordinate, but {name} is {meaning}"
        )
    if symbol is None:
        w.reserve_names([name])
    value = w.language.scalar(line.right)
    if any(s.kind == "acceleration" for s in free_symbols(value)):
        raise ModelError(
            f"{line.name} is given in terms of generalized speeds, not of their derivatives"
        )
    w.d.scalars.require_linear(value, line.name)
    q = w.variable(name, "coordinate")
    w.d.scalars.set_rate(q, value)
    text = f"{line.name}={autolev_text(value)}"
    if name not in w.taken:
        w.register_name(name, f"a coordinate, by {text}")
    w.taken[line.name] = text
    return _changed_value_answer(line, line.name, value)


def _assign_vector(
    w: AutolevWorkspace, line: AutolevLine, form: tuple[str, object, object]
) -> list[str]:
    kind, first, second = form
    w.reserve_names([line.name])
    if (second, first) in w.motion_table(kind):
        opposite = f"{dict((k, p) for p, k in FORMS)[kind]}{second}{first}"
        raise ModelError(
            f"{line.name} is already defined by its opposite: {w.taken.get(opposite, opposite)}"
        )
    value = w.language.vector(line.right)
    w.motion_table(kind)[first, second] = value  # type: ignore[index]
    w.register_name(line.name, f"{line.name}={autolev_text(value)}")
    if kind in ("w", "v"):
        _warn_of_unspeeded_motion(w, line.name, value)
    _report_contradictions(w, line.name, kind, first, second)
    return _changed_value_answer(line, line.name, value)


def _report_contradictions(
    w: AutolevWorkspace, name: str, kind: str, first: object, second: object
) -> None:
    """Reports where what was just given contradicts the orientation and its rates, or a
    velocity."""
    for x in find_contradictions(w.d.motion, w.d.euler):
        if (x.kind, x.of, x.frame) == (kind, first, second):
            linear_text = (
                f"is not the derivative of {'V' if kind == 'a' else 'W'}{first}{second}, which is"
            )
            angular_text = f"contradicts the orientation of {first} in {second}, whose rates give"
            w.notes.append(
                f"{name} {angular_text if kind == 'w' else linear_text} {autolev_text(x.derived)}"
            )


def _warn_of_unspeeded_motion(w: AutolevWorkspace, name: str, value: Vector) -> None:
    """Reports a motion that no speed moves and no time prescribes: a prime is easily forgotten."""
    s = w.d.scalars
    components = [*value.terms.values()]
    has_time = any(x is TIME for e in s.resolve(components) for x in free_symbols(e))
    if components and not has_time and not any(s.depends_on_speeds(e) for e in components):
        w.notes.append(f"{name} holds no generalized speed: is a prime missing?")


def _assign_scalar(w: AutolevWorkspace, line: AutolevLine) -> list[str]:
    name = line.name
    symbol = w.symbols.get(name)
    scalars = w.d.scalars
    free = None if symbol in scalars.definitions else symbol
    pending = free is not None and free in (*w.controls, *w.specified)
    declared = free is not None and free.kind == "coordinate" and free not in scalars.rates
    if symbol is None or not (pending or name in w.waiting or (declared and name in w.taken)):
        w.reserve_names([name])
    value = w.language.evaluate_text(line.right)
    if isinstance(value, Vector):
        suggestion = did_you_mean(name, _possible_forms(w))
        raise ModelError(
            f"{name} cannot name a vector: vectors have the forms W, ALF, V, A, P (see "
            f"FORMS).{suggestion}"
        )
    if symbol is not None and symbol in w.d.scalars.definition_order((value,)) + free_symbols(
        value
    ):
        raise ModelError(f"{name} is defined by itself")
    if name == "PE":
        w.d.potential_energy = value
        w.results[name] = value
    elif symbol is not None:
        w.bind_symbol(name, value)
    else:
        new = Symbol(name, "defined")
        w.symbols[name] = new
        w.d.scalars.define(new, value)
    w.register_name(name, f"{name}={autolev_text(value)}")
    return _changed_value_answer(line, name, value)


def _possible_forms(w: AutolevWorkspace) -> list[str]:
    kinds = (
        ("W", w.frames, w.frames),
        ("ALF", w.frames, w.frames),
        ("V", w.points, w.frames),
        ("A", w.points, w.frames),
        ("P", w.points, w.points),
    )
    return [f"{p}{a}{b}" for p, first, second in kinds for a in first for b in second if a != b]


def _assign_load(w: AutolevWorkspace, line: AutolevLine) -> list[str]:
    assert line.args is not None
    lookup = w.point if line.name == "FORCE" else w.frame
    names = line.args[0].split("/") if len(line.args) == 1 else []
    if not 1 <= len(names) <= 2:
        raise ModelError(f"the form is {line.name}(X)=vector or {line.name}(X/Y)=vector")
    listed = [lookup(p) for p in names]
    label = f"{line.name}({'/'.join(str(x) for x in listed)})"
    if label in w.taken:
        raise ModelError(f"{label} is already defined: {w.taken[label]}")
    if "FR" in w.done:
        raise ModelError(f"{label} comes too late: FR was formed already")
    value = w.scalar_with_new_names(line.right, "control", label)
    if not isinstance(value, Vector):
        raise ModelError(
            f"'{line.right}' is a scalar; {label} needs a vector (unit vectors are written "
            f"A1, A2, A3)"
        )
    target, reaction_on = (listed[1], listed[0]) if len(listed) == 2 else (listed[0], None)
    if target is reaction_on:
        raise ModelError(f"{label}: {target} exerts nothing on itself")
    w.d._add_load(line.name.lower(), target, value, reaction_on)
    w.register_name(label, f"{label}={autolev_text(value)}")
    return _changed_value_answer(line, label, value)
