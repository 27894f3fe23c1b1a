"""Commands of the dialect, one function each: from the arguments as text to the answers as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import ZERO, Expr, Symbol, add, mul
from bellcrank.kane import euler
from bellcrank.kane.autolev.declare import (
    autoz,
    auxiliary,
    const,
    controls,
    dof,
    frames,
    massless,
    points,
    principal,
    specified,
    var,
    whole,
)  # fmt: skip
from bellcrank.kane.autolev.words import forms, wrong_number
from bellcrank.kane.autolev.workspace import Handler, Workspace, show
from bellcrank.kane.dynamics import HALF
from bellcrank.kane.frames import Frame
from bellcrank.kane.missing import MissingError, Need
from bellcrank.vector.basis import Vector

# ---- orientation


def simprot(w: Workspace, args: tuple[str, ...]) -> list[str]:
    f, g = w.frame(args[0]), w.frame(args[1])
    axis = whole(args[2], "the axis", 1, 3)
    w.d._require_apart(f, g)
    where = f"SIMPROT({','.join(a.upper() for a in args)})"
    angle = w.scalar_with_new_names(args[3], "coordinate", where)
    if isinstance(angle, Vector):
        raise ModelError(f"the angle {args[3]} is a vector")
    return [_dircos_text(f, g, w.d.rotate(f, g, axis, angle).R)]


def dircos(w: Workspace, args: tuple[str, ...]) -> list[str]:
    if len(args) not in (2, 3, 11):
        raise wrong_number("DIRCOS", args)
    f, g = w.frame(args[0]), w.frame(args[1])
    if len(args) == 2:
        return [_dircos_text(f, g, w.d.dircos(f, g).R)]
    w.d._require_apart(f, g)
    if len(args) == 3:
        if args[2].upper() != "EULERP":
            raise ModelError(f"'{args[2]}' is not known here; the form is {forms('DIRCOS')}")
        return _by_euler_parameters(w, f, g)
    where = f"DIRCOS({f},{g},..)"
    elements = [w.scalar_with_new_names(a, "coordinate", where) for a in args[2:]]
    if any(isinstance(e, Vector) for e in elements):
        raise ModelError("direction cosines are scalars")
    rows = [elements[0:3], elements[3:6], elements[6:9]]
    return [_dircos_text(f, g, w.d.dircos(f, g, rows).R)] if w.d.scalars.autoz else _none(w.d.dircos(f, g, rows))


def _none(_: object) -> list[str]:
    return []


def _by_euler_parameters(w: Workspace, f: Frame, g: Frame) -> list[str]:
    names = w.claim(f"E{g}{f}{i}" for i in (1, 2, 3, 4))
    e = [w.variable(n, "coordinate") for n in names]
    for n in names:
        w.take(n, f"an Euler parameter, by DIRCOS({f},{g},EULERP)")
    four = euler.scalar_first(e)
    tidy = w.d.scalars.tidy
    R = tuple(tuple(tidy(x) for x in row) for row in euler.rotation(four))
    w.d._orient(f, g, R, None)  # type: ignore[arg-type]
    w.d.euler[g] = four
    return [_dircos_text(f, g, R)]


def _dircos_text(f: Frame, g: Frame, R: object) -> str:
    return f"DIRCOS({f},{g},{','.join(show(x) for row in R for x in row)})"  # type: ignore[attr-defined]


def epdots(w: Workspace, args: tuple[str, ...]) -> list[str]:
    f, g = w.frame(args[0]), w.frame(args[1])
    w.d.euler_rates(f, g)
    listed = euler.scalar_last(w.d.euler[g])
    for q in listed:
        w.taken[f"{q.name}'"] = f"by EPDOTS({f},{g})"
    return [f"{q}'={show(w.d.scalars.rates[q])}" for q in listed]


# ---- motion


def express(w: Workspace, args: tuple[str, ...]) -> list[str]:
    name, frame = args[0].strip().upper(), w.frame(args[1])
    form = w.form(name)
    if form is None and not isinstance(w.results.get(name), Vector):
        raise ModelError(f"there is no vector {name}.{did_you_mean(name, [*w.form_names(), *w.results])}")
    new = w.d.express(w.stored(*form) if form else w.results[name], frame)  # type: ignore[arg-type]
    if form is None:
        w.results[name] = new
    else:
        w.table(form[0])[form[1], form[2]] = new
        w.d.motion.changed()
    w.taken[name] = f"{name}={show(new)}"
    return [f"{name}={show(new)}"]


def v2pts(w: Workspace, args: tuple[str, ...]) -> list[str]:
    return _velocity(w, args, w.d.v2pts)


def v1pt(w: Workspace, args: tuple[str, ...]) -> list[str]:
    return _velocity(w, args, w.d.v1pt)


def _velocity(w: Workspace, args: tuple[str, ...], find: Callable[..., Vector]) -> list[str]:
    g, h, x, y = w.frame(args[0]), w.frame(args[1]), w.point(args[2]), w.point(args[3])
    name = f"V{y}{g}"
    w.claim([name])
    return [_taken(w, name, find(g, h, x, y))]


def pangvel(w: Workspace, args: tuple[str, ...]) -> list[str]:
    f = w.frame(args[0])
    return _partials(w, args[1:], f"W{f}N", lambda u: w.d.machine.partial_angular_velocity(f, u))


def pvel(w: Workspace, args: tuple[str, ...]) -> list[str]:
    p = w.point(args[0])
    return _partials(w, args[1:], f"V{p}N", lambda u: w.d.machine.partial_velocity(p, u))


def _partials(w: Workspace, which: tuple[str, ...], stem: str, make: object) -> list[str]:
    _require_dof(w)
    speeds = [*w.d.scalars.independent, *w.d.scalars.auxiliary]
    chosen = [whole(which[0], "the number of the speed", 1, len(speeds))] if which else list(range(1, len(speeds) + 1))
    answers = []
    for i in chosen:
        v = make(speeds[i - 1])  # type: ignore[operator]
        w.results[f"{stem}{i}"] = v
        w.taken[f"{stem}{i}"] = f"{stem}{i}={show(v)}"
        answers.append(f"{stem}{i}={show(v)}")
    return answers


# ---- dynamics


def _require_dof(w: Workspace) -> None:
    if not w.dof:
        raise ModelError("there are no generalized speeds yet: give DOF(n)")


def frstar(w: Workspace, args: tuple[str, ...]) -> list[str]:
    _require_dof(w)
    m = w.d.machine
    if not m.heavy_points() and not m.turning_bodies():
        raise ModelError("nothing has mass yet: give FRAMES(..) or POINTS(..)")
    if needs := m.needs(accelerations=True):
        raise MissingError(needs, "FRSTAR")
    torques = {b: m.inertia_torque(b) for b in m.turning_bodies()}
    answers = [_result(w, f"TSTAR{b}", t) for b, t in torques.items()]
    for i, u in _numbered(w):
        answers.append(_result(w, f"F{i}STAR", m.inertia(u, torques)))
    return answers


def fr(w: Workspace, args: tuple[str, ...]) -> list[str]:
    _require_dof(w)
    if w.waiting:
        undeclared = {n: place for n, place in w.waiting.items() if w.symbols[n].kind == "control"}
        if undeclared:
            known = [n for n in w.symbols if n not in w.waiting]
            raise ModelError(
                [
                    f"{n}, used in {place}, is not declared.{did_you_mean(n, known)} "
                    f"Give CONTROLS({n}) and {n}=formula, or CONST({n})."
                    for n, place in undeclared.items()
                ]
            )
    if needs := w.d.machine.load_needs():
        raise MissingError(needs, "FR")
    answers = [_result(w, f"F{i}", w.d.machine.active(u)) for i, u in _numbered(w)]
    return answers


def kane(w: Workspace, args: tuple[str, ...]) -> list[str]:
    lacking = [c for c in ("FR", "FRSTAR") if c not in w.done]
    if lacking:
        raise ModelError(f"KANE needs {' and '.join(lacking)} first")
    needs = [Need("rate", q.name) for q in w.d.scalars.coordinates if q not in w.d.scalars.rates]
    if needs:
        raise MissingError(needs, "KANE")
    return [f"R={i}: {show(add(_scalar(w, f'F{i}STAR'), _scalar(w, f'F{i}')))}=0" for i, _ in _numbered(w)]


def ke(w: Workspace, args: tuple[str, ...]) -> list[str]:
    parts = w.d.machine.kinetic_parts()
    answers = [_result(w, f"ZKE{i}", part) for i, part in enumerate(parts, 1)]
    total = mul(HALF, add(*parts)) if parts else ZERO
    degrees = w.d.machine.by_degree(total)
    answers += [_result(w, f"KE{i}", part) for i, part in enumerate(degrees)]
    if degrees[2] is total:
        answers[-1] = f"KE2=({'+'.join(f'ZKE{i}' for i in range(1, len(parts) + 1)) or '0'})/2"
    _result(w, "KE", total)
    return [*answers, "KE=KE0+KE1+KE2"]


def _scalar(w: Workspace, name: str) -> Expr:
    value = w.results[name]
    assert not isinstance(value, Vector)
    return value


def _numbered(w: Workspace) -> list[tuple[int, Symbol]]:
    return list(enumerate([*w.d.scalars.independent, *w.d.scalars.auxiliary], 1))


def _result(w: Workspace, name: str, value: Expr | Vector) -> str:
    w.results[name] = value
    return _taken(w, name, value)


def _taken(w: Workspace, name: str, value: Expr | Vector) -> str:
    w.take(name, f"{name}={show(value)}")
    return f"{name}={show(value)}"


# ---- units


def units(w: Workspace, args: tuple[str, ...]) -> list[str]:
    if not args:
        return _without_units(w)
    if len(args) % 2:
        raise ModelError("UNITS takes pairs: UNITS(name,unit,name,unit,..)")
    for name, unit in zip(args[::2], args[1::2], strict=True):
        key = name.strip().upper()
        w.units[key] = unit.strip().upper()
        if key not in w.symbols and key not in ("T", "MASS", "INERTIA", "ENERGY", "MOMENTUM"):
            w.notes.append(f"there is no quantity {key}.{did_you_mean(key, w.symbols)}")
    return []


def unit_of(w: Workspace, name: str) -> str:
    """The unit of a quantity, its own or that of its class."""
    if name in w.units:
        return w.units[name]
    if any(s.name == name for s in w.masses):
        return w.units.get("MASS", "")
    if any(s.name == name for group in w.inertias.values() for s in group):
        return w.units.get("INERTIA", "")
    return ""


def _without_units(w: Workspace) -> list[str]:
    s = w.d.scalars
    listed = [*s.constants, *w.controls, *w.specified, *s.speeds, *s.coordinates]
    names = [x.name for x in listed if not unit_of(w, x.name)]
    names += [c for c in ("T", "ENERGY") if c not in w.units]
    return [f"no unit: {', '.join(names)}"] if names else ["everything has a unit"]


@dataclass(frozen=True)
class Command:
    """What carries out a command, how many arguments it takes, and whether it may be given once only."""

    carry_out: Handler
    least: int = 0
    most: int = 0
    once: bool = False

    def __call__(self, name: str, w: Workspace, args: tuple[str, ...]) -> list[str]:
        if not self.least <= len(args) <= self.most:
            raise wrong_number(name, args)
        if self.once and name in w.done:
            raise ModelError(f"{name} was given already")
        answers = self.carry_out(w, args)
        w.done.add(name)
        return answers


ANY = 10**6
TABLE = {
    "AUTOZ": Command(autoz, 1, 1), "DOF": Command(dof, 1, 1), "FRAMES": Command(frames, 1, ANY),
    "SIMPROT": Command(simprot, 4, 4), "DIRCOS": Command(dircos, 0, ANY), "EPDOTS": Command(epdots, 2, 2),
    "EXPRESS": Command(express, 2, 2), "PANGVEL": Command(pangvel, 1, 2), "PVEL": Command(pvel, 1, 2),
    "VAR": Command(var, 1, ANY), "CONST": Command(const, 1, ANY), "SPECIFIED": Command(specified, 1, ANY),
    "POINTS": Command(points, 1, ANY), "MASSLESS": Command(massless, 1, ANY), "V2PTS": Command(v2pts, 4, 4),
    "V1PT": Command(v1pt, 4, 4), "PRINCIPAL": Command(principal, 1, ANY), "FRSTAR": Command(frstar, once=True),
    "CONTROLS": Command(controls, 1, ANY), "AUXILIARY": Command(auxiliary, 2, 2), "FR": Command(fr, once=True),
    "KANE": Command(kane), "KE": Command(ke, once=True), "UNITS": Command(units, 0, ANY),
}  # fmt: skip
