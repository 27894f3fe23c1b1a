"""Commands of the dialect, one function each: from the arguments as text to the answers as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import ZERO, Expr, Symbol, add, mul
from bellcrank.kane import euler
from bellcrank.kane.autolev import declare
from bellcrank.kane.autolev.declare import by, to_be_defined, whole
from bellcrank.kane.autolev.words import forms, wrong_number
from bellcrank.kane.autolev.workspace import Handler, Workspace, show
from bellcrank.kane.dynamics import HALF
from bellcrank.kane.frames import Frame
from bellcrank.kane.missing import MissingError, Need
from bellcrank.vector.basis import Vector

T = TypeVar("T")

# ---- orientation


def simprot(w: Workspace, args: tuple[str, ...]) -> list[str]:
    f, g = w.frame(args[0]), w.frame(args[1])
    axis = whole(args[2], "the axis", 1, 3)
    w.d._require_apart(f, g)
    angle = w.scalar_with_new_names(args[3], "coordinate", by("SIMPROT", args).removeprefix("by "))
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
    form_text = f"DIRCOS({f},{g},..)"
    elements = [w.scalar_with_new_names(a, "coordinate", form_text) for a in args[2:]]
    if any(isinstance(e, Vector) for e in elements):
        raise ModelError("direction cosines are scalars")
    rows = [elements[0:3], elements[3:6], elements[6:9]]
    cosines = w.d.dircos(f, g, rows)
    return [_dircos_text(f, g, cosines.R)] if w.d.scalars.autoz else []


def _by_euler_parameters(w: Workspace, f: Frame, g: Frame) -> list[str]:
    names = w.claim(f"E{g}{f}{i}" for i in (1, 2, 3, 4))
    e = [w.variable(n, "coordinate") for n in names]
    for n in names:
        w.take(n, f"an Euler parameter, by DIRCOS({f},{g},EULERP)")
    four = euler.scalar_first(e)
    R = tuple(tuple(map(w.d.scalars.tidy, row)) for row in euler.rotation(four))
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
    return [_taken(w, name, new)]


def _velocity(w: Workspace, args: tuple[str, ...], compute: Callable[..., Vector]) -> list[str]:
    g, h, x, y = w.frame(args[0]), w.frame(args[1]), w.point(args[2]), w.point(args[3])
    name = f"V{y}{g}"
    w.claim([name])
    return [_taken(w, name, compute(g, h, x, y))]


def _partials(
    w: Workspace, stem: str, subject: T, index_args: tuple[str, ...], partial_of: Callable[[T, Symbol], Vector]
) -> list[str]:
    """PANGVEL and PVEL: the partial velocities of a frame or point."""
    _require_dof(w)
    speeds = w.d.scalars.moving
    number = whole(index_args[0], "the number of the speed", 1, len(speeds)) if index_args else None
    numbered = [(i, u) for i, u in enumerate(speeds, 1) if number in (None, i)]
    return [_result(w, f"{stem}{subject}N{i}", partial_of(subject, u)) for i, u in numbered]


# ---- dynamics


def _require_dof(w: Workspace) -> None:
    if not w.dof:
        raise ModelError("there are no generalized speeds yet: give DOF(n)")


def frstar(w: Workspace, args: tuple[str, ...]) -> list[str]:
    _require_dof(w)
    m = w.d.machine
    if not m.heavy_points() and not m.turning_bodies():
        raise ModelError("nothing has mass yet: give FRAMES(..) or POINTS(..)")
    if missing := m.needs(accelerations=True):
        raise MissingError(missing, "FRSTAR")
    torques = {b: m.inertia_torque(b) for b in m.turning_bodies()}
    answers = [_result(w, f"TSTAR{b}", t) for b, t in torques.items()]
    return answers + [_result(w, f"F{i}STAR", m.inertia(u, torques)) for i, u in _numbered(w)]


def fr(w: Workspace, args: tuple[str, ...]) -> list[str]:
    _require_dof(w)
    declared = [n for n in w.symbols if n not in w.waiting]
    undeclared = [
        f"{n}, used in {first_use}, is not declared.{did_you_mean(n, declared)} "
        f"Give CONTROLS({n}) and {n}=formula, or CONST({n})."
        for n, first_use in w.waiting.items()
        if w.symbols[n].kind == "control"
    ]
    if undeclared:
        raise ModelError(undeclared)
    if missing := w.d.machine.load_needs():
        raise MissingError(missing, "FR")
    return [_result(w, f"F{i}", w.d.machine.active(u)) for i, u in _numbered(w)]


def kane(w: Workspace, args: tuple[str, ...]) -> list[str]:
    lacking = [c for c in ("FR", "FRSTAR") if c not in w.done]
    if lacking:
        raise ModelError(f"KANE needs {' and '.join(lacking)} first")
    missing = [Need("rate", q.name) for q in w.d.scalars.coordinates if q not in w.d.scalars.rates]
    if missing:
        raise MissingError(missing, "KANE")
    sums = [(i, add(w.results[f"F{i}STAR"], w.results[f"F{i}"])) for i, _ in _numbered(w)]  # type: ignore[arg-type]
    return [f"R={i}: {show(residual)}=0" for i, residual in sums]


def ke(w: Workspace, args: tuple[str, ...]) -> list[str]:
    terms = w.d.machine.kinetic_parts()
    answers = [_result(w, f"ZKE{i}", part) for i, part in enumerate(terms, 1)]
    total = mul(HALF, add(*terms)) if terms else ZERO
    degrees = w.d.machine.by_degree(total)
    answers += [_result(w, f"KE{i}", part) for i, part in enumerate(degrees)]
    if degrees[2] is total:
        answers[-1] = f"KE2=({'+'.join(f'ZKE{i}' for i in range(1, len(terms) + 1)) or '0'})/2"
    _result(w, "KE", total)
    return [*answers, "KE=KE0+KE1+KE2"]


def _numbered(w: Workspace) -> list[tuple[int, Symbol]]:
    return list(enumerate(w.d.scalars.moving, 1))


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
        return answers or []


ANY = 10**6
TABLE = {
    "AUTOZ": Command(declare.autoz, 1, 1), "DOF": Command(declare.dof, 1, 1),
    "FRAMES": Command(declare.frames, 1, ANY), "POINTS": Command(declare.points, 1, ANY),
    "PRINCIPAL": Command(declare.principal, 1, ANY), "MASSLESS": Command(declare.massless, 1, ANY),
    "VAR": Command(declare.var, 1, ANY), "CONST": Command(declare.const, 1, ANY),
    "CONTROLS": Command(lambda w, args: to_be_defined(w, args, w.controls, "CONTROLS"), 1, ANY),
    "SPECIFIED": Command(lambda w, args: to_be_defined(w, args, w.specified, "SPECIFIED"), 1, ANY),
    "AUXILIARY": Command(declare.auxiliary, 2, 2), "UNITS": Command(units, 0, ANY),
    "SIMPROT": Command(simprot, 4, 4), "DIRCOS": Command(dircos, 0, ANY), "EPDOTS": Command(epdots, 2, 2),
    "EXPRESS": Command(express, 2, 2),
    "V2PTS": Command(lambda w, args: _velocity(w, args, w.d.v2pts), 4, 4),
    "V1PT": Command(lambda w, args: _velocity(w, args, w.d.v1pt), 4, 4),
    "PANGVEL": Command(
        lambda w, args: _partials(w, "W", w.frame(args[0]), args[1:], w.d.machine.partial_angular_velocity), 1, 2
    ),
    "PVEL": Command(lambda w, args: _partials(w, "V", w.point(args[0]), args[1:], w.d.machine.partial_velocity), 1, 2),
    "FRSTAR": Command(frstar, once=True), "FR": Command(fr, once=True), "KANE": Command(kane),
    "KE": Command(ke, once=True),
}  # fmt: skip
