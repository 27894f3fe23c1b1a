"""Commands of the dialect, one function each: from the arguments as text to the answers as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.kane import euler
from bellcrank.kane.autolev import declare
from bellcrank.kane.autolev.command_help import argument_count_error, command_forms
from bellcrank.kane.autolev.declare import declare_undefined, origin_text, parse_integer
from bellcrank.kane.autolev.workspace import AutolevWorkspace, Handler, autolev_text
from bellcrank.kane.dynamics import HALF
from bellcrank.kane.frames import Frame
from bellcrank.kane.missing_quantities import MissingError, MissingQuantity
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, add, mul
from bellcrank.symbolic.vector.basis import Vector

T = TypeVar("T")

# ---- orientation


def simprot(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
    f, g = w.frame(args[0]), w.frame(args[1])
    axis = parse_integer(args[2], "the axis", 1, 3)
    w.d._require_apart(f, g)
    angle = w.scalar_with_new_names(
        args[3], "coordinate", origin_text("SIMPROT", args).removeprefix("by ")
    )
    if isinstance(angle, Vector):
        raise ModelError(f"the angle {args[3]} is a vector")
    return [_dircos_text(f, g, w.d.rotate(f, g, axis, angle).R)]


def dircos(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
    if len(args) not in (2, 3, 11):
        raise argument_count_error("DIRCOS", args)
    f, g = w.frame(args[0]), w.frame(args[1])
    if len(args) == 2:
        return [_dircos_text(f, g, w.d.dircos(f, g).R)]
    w.d._require_apart(f, g)
    if len(args) == 3:
        if args[2].upper() != "EULERP":
            raise ModelError(
                f"'{args[2]}' is not known here; the form is {command_forms('DIRCOS')}"
            )
        return _by_euler_parameters(w, f, g)
    form_text = f"DIRCOS({f},{g},..)"
    elements = [w.scalar_with_new_names(a, "coordinate", form_text) for a in args[2:]]
    if any(isinstance(e, Vector) for e in elements):
        raise ModelError("direction cosines are scalars")
    rows = [elements[0:3], elements[3:6], elements[6:9]]
    cosines = w.d.dircos(f, g, rows)
    return [_dircos_text(f, g, cosines.R)] if w.d.scalars.autoz else []


def _by_euler_parameters(w: AutolevWorkspace, f: Frame, g: Frame) -> list[str]:
    names = w.reserve_names(f"E{g}{f}{i}" for i in (1, 2, 3, 4))
    e = [w.variable(n, "coordinate") for n in names]
    for n in names:
        w.register_name(n, f"an Euler parameter, by DIRCOS({f},{g},EULERP)")
    four = euler.scalar_first(e)
    R = tuple(
        tuple(map(w.d.scalars.name_intermediate_terms, row))
        for row in euler.euler_rotation_matrix(four)
    )
    w.d._set_orientation(f, g, R, None)  # type: ignore[arg-type]
    w.d.euler[g] = four
    return [_dircos_text(f, g, R)]


def _dircos_text(f: Frame, g: Frame, R: object) -> str:
    return f"DIRCOS({f},{g},{','.join(autolev_text(x) for row in R for x in row)})"  # type: ignore[attr-defined]


def epdots(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
    f, g = w.frame(args[0]), w.frame(args[1])
    w.d.euler_rates(f, g)
    listed = euler.scalar_last(w.d.euler[g])
    for q in listed:
        w.taken[f"{q.name}'"] = f"by EPDOTS({f},{g})"
    return [f"{q}'={autolev_text(w.d.scalars.rates[q])}" for q in listed]


# ---- motion


def express(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
    name, frame = args[0].strip().upper(), w.frame(args[1])
    form = w.parse_vector_name(name)
    if form is None and not isinstance(w.results.get(name), Vector):
        raise ModelError(
            f"there is no vector {name}.{did_you_mean(name, [*w.form_names(), *w.results])}"
        )
    new = w.d.express(w.stored_vector(*form) if form else w.results[name], frame)  # type: ignore[arg-type]
    if form is None:
        w.results[name] = new
    else:
        w.motion_table(form[0])[form[1], form[2]] = new
        w.d.motion.clear_cache()
    return [_record_answer(w, name, new)]


def _two_point_velocity(
    w: AutolevWorkspace, args: tuple[str, ...], compute: Callable[..., Vector]
) -> list[str]:
    g, h, x, y = w.frame(args[0]), w.frame(args[1]), w.point(args[2]), w.point(args[3])
    name = f"V{y}{g}"
    w.reserve_names([name])
    return [_record_answer(w, name, compute(g, h, x, y))]


def _partial_velocities(
    w: AutolevWorkspace,
    stem: str,
    subject: T,
    index_args: tuple[str, ...],
    partial_of: Callable[[T, Symbol], Vector],
) -> list[str]:
    """PANGVEL and PVEL: the partial velocities of a frame or point."""
    _require_dof(w)
    speeds = w.d.scalars.speeds_with_equations
    number = (
        parse_integer(index_args[0], "the number of the speed", 1, len(speeds))
        if index_args
        else None
    )
    numbered = [(i, u) for i, u in enumerate(speeds, 1) if number in (None, i)]
    return [_store_result(w, f"{stem}{subject}N{i}", partial_of(subject, u)) for i, u in numbered]


# ---- dynamics


def _require_dof(w: AutolevWorkspace) -> None:
    if not w.dof:
        raise ModelError("there are no generalized speeds yet: give DOF(n)")


def frstar(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
    _require_dof(w)
    m = w.d.machine
    if not m.heavy_points() and not m.turning_bodies():
        raise ModelError("nothing has mass yet: give FRAMES(..) or POINTS(..)")
    if missing := m.missing_for_inertia(accelerations=True):
        raise MissingError(missing, "FRSTAR")
    torques = {b: m.inertia_torque(b) for b in m.turning_bodies()}
    answers = [_store_result(w, f"TSTAR{b}", t) for b, t in torques.items()]
    return answers + [
        _store_result(w, f"F{i}STAR", m.inertia_force(u, torques)) for i, u in _numbered_speeds(w)
    ]


def fr(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
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
    if missing := w.d.machine.missing_for_loads():
        raise MissingError(missing, "FR")
    return [_store_result(w, f"F{i}", w.d.machine.active_force(u)) for i, u in _numbered_speeds(w)]


def kane(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
    lacking = [c for c in ("FR", "FRSTAR") if c not in w.done]
    if lacking:
        raise ModelError(f"KANE needs {' and '.join(lacking)} first")
    missing = [
        MissingQuantity("rate", q.name)
        for q in w.d.scalars.coordinates
        if q not in w.d.scalars.rates
    ]
    if missing:
        raise MissingError(missing, "KANE")
    sums = [(i, add(w.results[f"F{i}STAR"], w.results[f"F{i}"])) for i, _ in _numbered_speeds(w)]  # type: ignore[arg-type]
    return [f"R={i}: {autolev_text(residual)}=0" for i, residual in sums]


def ke(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
    terms = w.d.machine.kinetic_parts()
    answers = [_store_result(w, f"ZKE{i}", part) for i, part in enumerate(terms, 1)]
    total = mul(HALF, add(*terms)) if terms else ZERO
    degrees = w.d.machine.split_by_degree(total)
    answers += [_store_result(w, f"KE{i}", part) for i, part in enumerate(degrees)]
    if degrees[2] is total:
        answers[-1] = f"KE2=({'+'.join(f'ZKE{i}' for i in range(1, len(terms) + 1)) or '0'})/2"
    _store_result(w, "KE", total)
    return [*answers, "KE=KE0+KE1+KE2"]


def _numbered_speeds(w: AutolevWorkspace) -> list[tuple[int, Symbol]]:
    return list(enumerate(w.d.scalars.speeds_with_equations, 1))


def _store_result(w: AutolevWorkspace, name: str, value: Expr | Vector) -> str:
    w.results[name] = value
    return _record_answer(w, name, value)


def _record_answer(w: AutolevWorkspace, name: str, value: Expr | Vector) -> str:
    w.register_name(name, f"{name}={autolev_text(value)}")
    return f"{name}={autolev_text(value)}"


# ---- units


def units(w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
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


def unit_of(w: AutolevWorkspace, name: str) -> str:
    """The unit of a quantity, its own or that of its class."""
    if name in w.units:
        return w.units[name]
    if any(s.name == name for s in w.masses):
        return w.units.get("MASS", "")
    if any(s.name == name for group in w.inertias.values() for s in group):
        return w.units.get("INERTIA", "")
    return ""


def _without_units(w: AutolevWorkspace) -> list[str]:
    s = w.d.scalars
    listed = [*s.constants, *w.controls, *w.specified, *s.speeds, *s.coordinates]
    names = [x.name for x in listed if not unit_of(w, x.name)]
    names += [c for c in ("T", "ENERGY") if c not in w.units]
    return [f"no unit: {', '.join(names)}"] if names else ["everything has a unit"]


@dataclass(frozen=True)
class AutolevCommand:
    """What carries out a command, how many arguments it takes, and whether it may be given once
    only."""

    carry_out: Handler
    least: int = 0
    most: int = 0
    once: bool = False

    def __call__(self, name: str, w: AutolevWorkspace, args: tuple[str, ...]) -> list[str]:
        if not self.least <= len(args) <= self.most:
            raise argument_count_error(name, args)
        if self.once and name in w.done:
            raise ModelError(f"{name} was given already")
        answers = self.carry_out(w, args)
        w.done.add(name)
        return answers or []


ANY = 10**6
TABLE = {
    "AUTOZ": AutolevCommand(declare.autoz, 1, 1),
    "DOF": AutolevCommand(declare.dof, 1, 1),
    "FRAMES": AutolevCommand(declare.frames, 1, ANY),
    "POINTS": AutolevCommand(declare.points, 1, ANY),
    "PRINCIPAL": AutolevCommand(declare.principal, 1, ANY),
    "MASSLESS": AutolevCommand(declare.massless, 1, ANY),
    "VAR": AutolevCommand(declare.var, 1, ANY),
    "CONST": AutolevCommand(declare.const, 1, ANY),
    "CONTROLS": AutolevCommand(
        lambda w, args: declare_undefined(w, args, w.controls, "CONTROLS"), 1, ANY
    ),
    "SPECIFIED": AutolevCommand(
        lambda w, args: declare_undefined(w, args, w.specified, "SPECIFIED"), 1, ANY
    ),
    "AUXILIARY": AutolevCommand(declare.auxiliary, 2, 2),
    "UNITS": AutolevCommand(units, 0, ANY),
    "SIMPROT": AutolevCommand(simprot, 4, 4),
    "DIRCOS": AutolevCommand(dircos, 0, ANY),
    "EPDOTS": AutolevCommand(epdots, 2, 2),
    "EXPRESS": AutolevCommand(express, 2, 2),
    "V2PTS": AutolevCommand(lambda w, args: _two_point_velocity(w, args, w.d.v2pts), 4, 4),
    "V1PT": AutolevCommand(lambda w, args: _two_point_velocity(w, args, w.d.v1pt), 4, 4),
    "PANGVEL": AutolevCommand(
        lambda w, args: _partial_velocities(
            w, "W", w.frame(args[0]), args[1:], w.d.machine.partial_angular_velocity
        ),
        1,
        2,
    ),
    "PVEL": AutolevCommand(
        lambda w, args: _partial_velocities(
            w, "V", w.point(args[0]), args[1:], w.d.machine.partial_velocity
        ),
        1,
        2,
    ),
    "FRSTAR": AutolevCommand(frstar, once=True),
    "FR": AutolevCommand(fr, once=True),
    "KANE": AutolevCommand(kane),
    "KE": AutolevCommand(ke, once=True),
}
