"""Assignments of the dialect: kinematical equations, vectors by form, forces, torques, definitions."""

from __future__ import annotations

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import Symbol
from bellcrank.expr.walk import symbols
from bellcrank.kane.autolev.reader import Line
from bellcrank.kane.autolev.words import COMMANDS
from bellcrank.kane.autolev.workspace import FORMS, Workspace, show
from bellcrank.kane.contradictions import contradictions
from bellcrank.kane.scalars import TIME
from bellcrank.vector.basis import Vector


def assign(w: Workspace, line: Line) -> list[str]:
    """Carries out name=formula; answers what is stored if that differs from what was typed."""
    if line.args is not None:
        if line.name in ("FORCE", "TORQUE"):
            return _load(w, line)
        raise ModelError(f"{line.name}(..)= is not a form; FORCE(..)= and TORQUE(..)= are")
    if line.name.endswith("'"):
        return _rate(w, line)
    if line.name in COMMANDS and line.name != "PE":
        raise ModelError(f"{line.name} is a command, used as {COMMANDS[line.name][0]}")
    form = w.form(line.name)
    return _scalar(w, line) if form is None else _vector(w, line, form)


def _answer(line: Line, name: str, value: object) -> list[str]:
    typed = line.right.upper().replace(" ", "")
    return [] if typed == show(value) else [f"{name}={show(value)}"]


def _rate(w: Workspace, line: Line) -> list[str]:
    name = line.name[:-1]
    if line.name in w.taken:
        raise ModelError(f"{line.name} is already defined: {w.taken[line.name]}")
    symbol = w.symbols.get(name)
    if symbol is not None and symbol.kind != "coordinate":
        meaning = w.taken.get(name, "another quantity")
        raise ModelError(f"{line.name}= defines the derivative of a coordinate, but {name} is {meaning}")
    if symbol is None:
        w.claim([name])
    value = w.language.scalar(line.right)
    if any(s.kind == "acceleration" for s in symbols(value)):
        raise ModelError(f"{line.name} is given in terms of generalized speeds, not of their derivatives")
    w.d.scalars.require_linear(value, line.name)
    q = w.variable(name, "coordinate")
    w.d.scalars.set_rate(q, value)
    text = f"{line.name}={show(value)}"
    if name not in w.taken:
        w.take(name, f"a coordinate, by {text}")
    w.taken[line.name] = text
    return _answer(line, line.name, value)


def _vector(w: Workspace, line: Line, form: tuple[str, object, object]) -> list[str]:
    kind, first, second = form
    w.claim([line.name])
    if (second, first) in w.table(kind):
        opposite = f"{dict((k, p) for p, k in FORMS)[kind]}{second}{first}"
        raise ModelError(f"{line.name} is already defined by its opposite: {w.taken.get(opposite, opposite)}")
    value = w.language.vector(line.right)
    w.table(kind)[first, second] = value  # type: ignore[index]
    w.take(line.name, f"{line.name}={show(value)}")
    if kind in ("w", "v"):
        _look_for_speeds(w, line.name, value)
    _tell_contradictions(w, line.name, kind, first, second)
    return _answer(line, line.name, value)


def _tell_contradictions(w: Workspace, name: str, kind: str, first: object, second: object) -> None:
    """Reports where what was just given contradicts the orientation and its rates, or a velocity."""
    for x in contradictions(w.d.motion, w.d.euler):
        if (x.kind, x.of, x.frame) == (kind, first, second):
            linear_text = f"is not the derivative of {'V' if kind == 'a' else 'W'}{first}{second}, which is"
            angular_text = f"contradicts the orientation of {first} in {second}, whose rates give"
            w.notes.append(f"{name} {angular_text if kind == 'w' else linear_text} {show(x.derived)}")


def _look_for_speeds(w: Workspace, name: str, value: Vector) -> None:
    """Reports a motion that no speed moves and no time prescribes: a prime is easily forgotten."""
    s = w.d.scalars
    components = [*value.terms.values()]
    has_time = any(x is TIME for e in s.resolve(components) for x in symbols(e))
    if components and not has_time and not any(s.moves(e) for e in components):
        w.notes.append(f"{name} holds no generalized speed: is a prime missing?")


def _scalar(w: Workspace, line: Line) -> list[str]:
    name = line.name
    symbol = w.symbols.get(name)
    scalars = w.d.scalars
    free = None if symbol in scalars.definitions else symbol
    pending = free is not None and free in (*w.controls, *w.specified)
    declared = free is not None and free.kind == "coordinate" and free not in scalars.rates
    if symbol is None or not (pending or name in w.waiting or (declared and name in w.taken)):
        w.claim([name])
    value = w.language.value(line.right)
    if isinstance(value, Vector):
        suggestion = did_you_mean(name, _possible_forms(w))
        raise ModelError(
            f"{name} cannot name a vector: vectors have the forms W, ALF, V, A, P (see FORMS).{suggestion}"
        )
    if symbol is not None and symbol in w.d.scalars.order((value,)) + symbols(value):
        raise ModelError(f"{name} is defined by itself")
    if name == "PE":
        w.d.potential_energy = value
        w.results[name] = value
    elif symbol is not None:
        w.become(name, value)
    else:
        new = Symbol(name, "defined")
        w.symbols[name] = new
        w.d.scalars.define(new, value)
    w.take(name, f"{name}={show(value)}")
    return _answer(line, name, value)


def _possible_forms(w: Workspace) -> list[str]:
    kinds = (("W", w.frames, w.frames), ("ALF", w.frames, w.frames), ("V", w.points, w.frames),
             ("A", w.points, w.frames), ("P", w.points, w.points))  # fmt: skip
    return [f"{p}{a}{b}" for p, first, second in kinds for a in first for b in second if a != b]


def _load(w: Workspace, line: Line) -> list[str]:
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
        raise ModelError(f"'{line.right}' is a scalar; {label} needs a vector (unit vectors are written A1, A2, A3)")
    target, reaction_on = (listed[1], listed[0]) if len(listed) == 2 else (listed[0], None)
    if target is reaction_on:
        raise ModelError(f"{label}: {target} exerts nothing on itself")
    w.d._load(line.name.lower(), target, value, reaction_on)
    w.take(label, f"{label}={show(value)}")
    return _answer(line, label, value)
