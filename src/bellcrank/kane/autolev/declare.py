"""Declarations of the dialect: speeds, bodies, points, constants, and quantities to be defined."""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.core.errors import ModelError
from bellcrank.kane.autolev.workspace import FRAME, AutolevWorkspace
from bellcrank.kane.dynamics import Body
from bellcrank.kane.frames import Frame
from bellcrank.kane.motion import Point
from bellcrank.symbolic.expr import ZERO, Symbol

PAIRS = ((1, 1), (2, 2), (3, 3), (1, 2), (2, 3), (3, 1))

MASSLESS = ((ZERO,) * 3,) * 3


def origin_text(command: str, args: Iterable[str]) -> str:
    """How something came to be."""
    return f"by {command}({','.join(a.upper() for a in args)})"


def parse_integer(text: str, label: str, low: int, high: int) -> int:
    number = int(text) if text.isdecimal() and len(text) < 10 else -1
    if not low <= number <= high:
        raise ModelError(f"{label} must be a whole number from {low} to {high}, not '{text}'")
    return number


def autoz(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    if args[0].upper() not in ("ON", "OFF"):
        raise ModelError(f"AUTOZ is ON or OFF, not '{args[0]}'")
    w.d.scalars.autoz = args[0].upper() == "ON"


def dof(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    n = parse_integer(args[0], "the number of degrees of freedom", 1, 200)
    if w.dof:
        raise ModelError(f"DOF is already given: DOF({w.dof})")
    for name in w.reserve_names(f"U{i}" for i in range(1, n + 1)):
        w.symbols[name] = Symbol(name, "speed")
        w.d.scalars.speeds.append(w.symbols[name])
        w.register_name(name, f"a generalized speed, by DOF({n})")
    w.dof = n


def frames(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    names = w.reserve_names(args, FRAME)
    w.reserve_names(
        [x for n in names for x in (f"{n}STAR", f"MASS{n}", *(f"{n}{i}" for i in (1, 2, 3)))]
    )
    for n in names:
        cm, mass = _heavy_point(w, f"{n}STAR", n, f"the mass centre of {n}")
        body = Body(n, cm, mass, MASSLESS)
        _set_inertia(w, body, [f"I{n}({i},{j})" for i, j in PAIRS])
        w.frames[n] = body
        w.register_name(n, f"a frame, {origin_text('FRAMES', args)}")
        w.d.motion.frames.append(body)
        w.d.machine.bodies.append(body)


def _heavy_point(
    w: AutolevWorkspace, name: str, owner: str, description: str
) -> tuple[Point, Symbol]:
    """A point, and the constant that is the mass of a body or point."""
    w.points[name] = Point(name)
    w.register_name(name, description)
    w.masses.append(w.constant(f"MASS{owner}", f"the mass of {owner}"))
    return w.points[name], w.masses[-1]


def _set_inertia(w: AutolevWorkspace, body: Body, names: list[str]) -> None:
    for old in w.inertias.get(body, []):
        w.d.scalars.constants.remove(old)
        del w.symbols[old.name]
        del w.taken[old.name]
    s = [w.constant(name, f"an inertia scalar of {body}") for name in names]
    w.inertias[body] = s
    if len(s) == 3:
        body.inertia = ((s[0], ZERO, ZERO), (ZERO, s[1], ZERO), (ZERO, ZERO, s[2]))
    else:
        body.inertia = (
            ((s[0], s[3], s[5]), (s[3], s[1], s[4]), (s[5], s[4], s[2])) if s else MASSLESS
        )


def principal(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    bodies = [w.frame(a) for a in args]
    for b in bodies:
        if not isinstance(b, Body):
            raise ModelError(f"{b} has no inertia")
        if len(w.inertias[b]) == 3:
            raise ModelError(f"PRINCIPAL({b}) is already given")
    if w.done & {"FRSTAR", "KE"}:
        raise ModelError(
            "PRINCIPAL comes too late: inertia scalars were used by FRSTAR or KE already"
        )
    for b in bodies:
        assert isinstance(b, Body)
        _set_inertia(w, b, [f"I{b}({i})" for i in (1, 2, 3)])


def points(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    names = w.reserve_names(args)
    w.reserve_names(f"MASS{n}" for n in names)
    for n in names:
        p, mass = _heavy_point(w, n, n, f"a point, {origin_text('POINTS', args)}")
        w.d.machine.masses[p] = mass


def massless(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    listed: list[Frame | Point] = []
    for a in args:
        key = a.strip().upper()
        if key not in w.points and key not in w.frames:
            raise w.unknown_name_error(key, "point", [*w.points, *w.frames], "POINTS")
        listed.append(w.points[key] if key in w.points else w.frames[key])
    if w.done & {"FRSTAR", "KE"}:
        raise ModelError("MASSLESS comes too late: masses were used by FRSTAR or KE already")
    for x in listed:
        if x is w.d.newtonian:
            raise ModelError("N has no mass anyway")
        mass = w.symbols.get(f"MASS{x}")
        if mass not in w.masses:
            raise ModelError(f"{x} is massless already")
        w.d.scalars.constants.remove(mass)
        w.masses.remove(mass)
        del w.symbols[mass.name]
        w.taken[mass.name] = f"nothing: {x} is MASSLESS"
        if isinstance(x, Body):
            x.mass = ZERO
            _set_inertia(w, x, [])
        else:
            w.d.machine.masses.pop(x, None)  # type: ignore[arg-type]


def var(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    for name in w.reserve_names(args):
        w.variable(name, "coordinate")
        w.register_name(name, f"a variable, {origin_text('VAR', args)}")


def const(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    for name in w.reserve_names(args):
        w.constants.append(w.constant(name, f"a constant, {origin_text('CONST', args)}"))


def declare_undefined(
    w: AutolevWorkspace, args: tuple[str, ...], into: list[Symbol], command: str
) -> None:
    """CONTROLS and SPECIFIED."""
    for name in w.reserve_names(args):
        symbol = w.variable(name, "control")
        if symbol in w.d.scalars.coordinates:
            w.d.scalars.coordinates.remove(symbol)
        into.append(symbol)
        w.waiting.pop(name, None)
        w.taken[name] = f"to be defined by {name}=formula, {origin_text(command, args)}"


def auxiliary(w: AutolevWorkspace, args: tuple[str, ...]) -> None:
    u, r = w.reserve_names(args)
    s = w.d.scalars
    w.symbols[u] = Symbol(u, "speed")
    s.auxiliary.append(w.symbols[u])
    measured = Symbol(r, "reaction")
    s.unknown.append(measured)
    w.bind_symbol(r, measured)
    w.register_name(u, f"an auxiliary speed, by AUXILIARY({u},{r})")
    w.register_name(r, f"the component that {u} measures, by AUXILIARY({u},{r})")
    s.version += 1
