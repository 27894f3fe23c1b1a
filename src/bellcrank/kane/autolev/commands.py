"""Commands of the dialect, one function each: from the arguments as text to the answers as text."""

from __future__ import annotations

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import ZERO, Expr, Symbol, add, mul
from bellcrank.kane import euler
from bellcrank.kane.autolev.workspace import FRAME, Handler, Workspace, show
from bellcrank.kane.dynamics import HALF, Body
from bellcrank.kane.frames import Frame
from bellcrank.kane.missing import Need, missing
from bellcrank.kane.motion import Point
from bellcrank.vector import Vector

PAIRS = ((1, 1), (2, 2), (3, 3), (1, 2), (2, 3), (3, 1))


def need(args: tuple[str, ...], least: int, most: int | None, syntax: str) -> None:
    """Complains about a wrong number of arguments."""
    if len(args) < least or (most is not None and len(args) > most):
        raise ModelError(f"{len(args)} argument{'' if len(args) == 1 else 's'} given; the form is {syntax}")


def whole(text: str, what: str, low: int, high: int) -> int:
    if not text.isdigit() or not low <= int(text) <= high:
        raise ModelError(f"{what} must be a whole number from {low} to {high}, not '{text}'")
    return int(text)


# ---- declarations


def autoz(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, 1, "AUTOZ(ON) or AUTOZ(OFF)")
    if args[0].upper() not in ("ON", "OFF"):
        raise ModelError(f"AUTOZ is ON or OFF, not '{args[0]}'")
    w.d.scalars.autoz = args[0].upper() == "ON"
    return []


def dof(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, 1, "DOF(n)")
    n = whole(args[0], "the number of degrees of freedom", 1, 200)
    if w.dof:
        raise ModelError(f"DOF is already given: DOF({w.dof})")
    for name in w.claim(f"U{i}" for i in range(1, n + 1)):
        w.symbols[name] = Symbol(name, "speed")
        w.d.scalars.speeds.append(w.symbols[name])
        w.take(name, f"a generalized speed, by DOF({n})")
    w.dof = n
    return []


def frames(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "FRAMES(A,B,..)")
    names = w.claim(args, FRAME)
    w.claim([x for n in names for x in (f"{n}STAR", f"MASS{n}", *(f"{n}{i}" for i in (1, 2, 3)))])
    for n in names:
        cm = Point(f"{n}STAR")
        w.points[cm.name] = cm
        w.take(cm.name, f"the mass centre of {n}")
        mass = w.constant(f"MASS{n}", f"the mass of {n}")
        w.masses.append(mass)
        body = Body(n, cm, mass, ((ZERO,) * 3,) * 3)
        _set_inertia(w, body, [f"I{n}({i},{j})" for i, j in PAIRS])
        w.frames[n] = body
        w.take(n, f"a frame, by FRAMES({','.join(a.upper() for a in args)})")
        w.d.motion.frames.append(body)
        w.d.machine.bodies.append(body)
    return []


def _set_inertia(w: Workspace, body: Body, names: list[str]) -> None:
    for old in w.inertias.get(body, []):
        w.d.scalars.constants.remove(old)
        del w.symbols[old.name]
        del w.taken[old.name]
    s = [w.constant(name, f"an inertia scalar of {body}") for name in names]
    w.inertias[body] = s
    if len(s) == 3:
        body.inertia = ((s[0], ZERO, ZERO), (ZERO, s[1], ZERO), (ZERO, ZERO, s[2]))
    elif s:
        body.inertia = ((s[0], s[3], s[5]), (s[3], s[1], s[4]), (s[5], s[4], s[2]))
    else:
        body.inertia = ((ZERO,) * 3,) * 3


def principal(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "PRINCIPAL(A,B,..)")
    bodies = [w.frame(a) for a in args]
    for b in bodies:
        if not isinstance(b, Body):
            raise ModelError(f"{b} has no inertia")
        if len(w.inertias[b]) == 3:
            raise ModelError(f"PRINCIPAL({b}) is already given")
    if w.done & {"FRSTAR", "KE"}:
        raise ModelError("PRINCIPAL comes too late: inertia scalars were used by FRSTAR or KE already")
    for b in bodies:
        assert isinstance(b, Body)
        _set_inertia(w, b, [f"I{b}({i})" for i in (1, 2, 3)])
    return []


def points(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "POINTS(Q,R,..)")
    names = w.claim(args)
    w.claim(f"MASS{n}" for n in names)
    for n in names:
        p = Point(n)
        w.points[n] = p
        w.take(n, f"a point, by POINTS({','.join(a.upper() for a in args)})")
        mass = w.constant(f"MASS{n}", f"the mass of {n}")
        w.masses.append(mass)
        w.d.machine.masses[p] = mass
    return []


def massless(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "MASSLESS(Q,R,..)")
    listed: list[Frame | Point] = []
    for a in args:
        key = a.strip().upper()
        if key not in w.points and key not in w.frames:
            raise w.unknown(key, "point", [*w.points, *w.frames], "POINTS")
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
    return []


def var(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "VAR(X1,X2,..)")
    for name in w.claim(args):
        w.variable(name, "coordinate")
        w.take(name, f"a variable, by VAR({','.join(a.upper() for a in args)})")
    return []


def const(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "CONST(C1,C2,..)")
    for name in w.claim(args):
        w.constants.append(w.constant(name, f"a constant, by CONST({','.join(a.upper() for a in args)})"))
    return []


def controls(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "CONTROLS(C1,C2,..)")
    return _to_be_defined(w, args, w.controls, "CONTROLS")


def specified(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, None, "SPECIFIED(X1,X2,..)")
    return _to_be_defined(w, args, w.specified, "SPECIFIED")


def _to_be_defined(w: Workspace, args: tuple[str, ...], into: list[Symbol], command: str) -> list[str]:
    for name in w.claim(args):
        symbol = w.variable(name, "control")
        if symbol in w.d.scalars.coordinates:
            w.d.scalars.coordinates.remove(symbol)
        into.append(symbol)
        w.waiting.pop(name, None)
        w.taken[name] = f"to be defined by {name}=formula, by {command}({','.join(a.upper() for a in args)})"
    return []


def auxiliary(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 2, 2, "AUXILIARY(U3,R3)")
    u, r = w.claim(args)
    s = w.d.scalars
    w.symbols[u] = Symbol(u, "speed")
    s.auxiliary.append(w.symbols[u])
    measured = Symbol(r, "reaction")
    s.unknown.append(measured)
    w.become(r, measured)
    w.take(u, f"an auxiliary speed, by AUXILIARY({u},{r})")
    w.take(r, f"the component that {u} measures, by AUXILIARY({u},{r})")
    s.version += 1
    return []


# ---- orientation


def simprot(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 4, 4, "SIMPROT(F,G,axis,angle)")
    f, g = w.frame(args[0]), w.frame(args[1])
    axis = whole(args[2], "the axis", 1, 3)
    w.d._require_apart(f, g)
    where = f"SIMPROT({','.join(a.upper() for a in args)})"
    angle = w.scalar_with_new_names(args[3], "coordinate", where)
    if isinstance(angle, Vector):
        raise ModelError(f"the angle {args[3]} is a vector")
    return [_dircos_text(f, g, w.d.rotate(f, g, axis, angle).R)]


def dircos(w: Workspace, args: tuple[str, ...]) -> list[str]:
    syntax = "DIRCOS(F,G), DIRCOS(F,G,c11,..,c33) or DIRCOS(F,G,EULERP)"
    if len(args) not in (2, 3, 11):
        need(args, 99, None, syntax)
    f, g = w.frame(args[0]), w.frame(args[1])
    if len(args) == 2:
        return [_dircos_text(f, g, w.d.dircos(f, g).R)]
    w.d._require_apart(f, g)
    if len(args) == 3:
        if args[2].upper() != "EULERP":
            raise ModelError(f"'{args[2]}' is not known here; the form is {syntax}")
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
    need(args, 2, 2, "EPDOTS(F,G)")
    f, g = w.frame(args[0]), w.frame(args[1])
    w.d.euler_rates(f, g)
    listed = euler.scalar_last(w.d.euler[g])
    for q in listed:
        w.taken[f"{q.name}'"] = f"by EPDOTS({f},{g})"
    return [f"{q}'={show(w.d.scalars.rates[q])}" for q in listed]


# ---- motion


def express(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 2, 2, "EXPRESS(V,F)")
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
    need(args, 4, 4, "V2PTS(G,H,X,Y)")
    return _velocity(w, args, "V2PTS")


def v1pt(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 4, 4, "V1PT(G,H,X,Y)")
    return _velocity(w, args, "V1PT")


def _velocity(w: Workspace, args: tuple[str, ...], command: str) -> list[str]:
    g, h, x, y = w.frame(args[0]), w.frame(args[1]), w.point(args[2]), w.point(args[3])
    name = f"V{y}{g}"
    w.claim([name])
    v = w.d.v2pts(g, h, x, y) if command == "V2PTS" else w.d.v1pt(g, h, x, y)
    w.take(name, f"{name}={show(v)}")
    return [f"{name}={show(v)}"]


def pangvel(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, 2, "PANGVEL(F) or PANGVEL(F,n)")
    f = w.frame(args[0])
    return _partials(w, args[1:], f"W{f}N", lambda u: w.d.machine.partial_angular_velocity(f, u))


def pvel(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 1, 2, "PVEL(P) or PVEL(P,n)")
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
    need(args, 0, 0, "FRSTAR")
    _require_dof(w)
    _once(w, "FRSTAR")
    m = w.d.machine
    if not m.heavy_points() and not m.turning_bodies():
        raise ModelError("nothing has mass yet: give FRAMES(..) or POINTS(..)")
    if needs := m.needs(accelerations=True):
        raise missing(needs, "FRSTAR")
    torques = {b: m.inertia_torque(b) for b in m.turning_bodies()}
    answers = [_result(w, f"TSTAR{b}", t) for b, t in torques.items()]
    for i, u in _numbered(w):
        answers.append(_result(w, f"F{i}STAR", m.inertia(u, torques)))
    w.done.add("FRSTAR")
    return answers


def fr(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 0, 0, "FR")
    _require_dof(w)
    _once(w, "FR")
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
        raise missing(needs, "FR")
    answers = [_result(w, f"F{i}", w.d.machine.active(u)) for i, u in _numbered(w)]
    w.done.add("FR")
    return answers


def kane(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 0, 0, "KANE")
    lacking = [c for c in ("FR", "FRSTAR") if c not in w.done]
    if lacking:
        raise ModelError(f"KANE needs {' and '.join(lacking)} first")
    needs = [Need("rate", q.name) for q in w.d.scalars.coordinates if q not in w.d.scalars.rates]
    if needs:
        raise missing(needs, "KANE")
    w.done.add("KANE")
    return [f"R={i}: {show(add(_scalar(w, f'F{i}STAR'), _scalar(w, f'F{i}')))}=0" for i, _ in _numbered(w)]


def ke(w: Workspace, args: tuple[str, ...]) -> list[str]:
    need(args, 0, 0, "KE")
    _once(w, "KE")
    parts = w.d.machine.kinetic_parts()
    answers = [_result(w, f"ZKE{i}", part) for i, part in enumerate(parts, 1)]
    total = mul(HALF, add(*parts)) if parts else ZERO
    degrees = w.d.machine.by_degree(total)
    answers += [_result(w, f"KE{i}", part) for i, part in enumerate(degrees)]
    _result(w, "KE", total)
    w.done.add("KE")
    return [*answers, "KE=KE0+KE1+KE2"]


def _scalar(w: Workspace, name: str) -> Expr:
    value = w.results[name]
    assert not isinstance(value, Vector)
    return value


def _once(w: Workspace, name: str) -> None:
    if name in w.done:
        raise ModelError(f"{name} was given already")


def _numbered(w: Workspace) -> list[tuple[int, Symbol]]:
    return list(enumerate([*w.d.scalars.independent, *w.d.scalars.auxiliary], 1))


def _result(w: Workspace, name: str, value: Expr | Vector) -> str:
    w.results[name] = value
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


TABLE: dict[str, Handler] = {
    "AUTOZ": autoz, "DOF": dof, "FRAMES": frames, "SIMPROT": simprot, "DIRCOS": dircos, "EPDOTS": epdots, "EXPRESS": express,
    "PANGVEL": pangvel, "PVEL": pvel, "VAR": var, "CONST": const, "SPECIFIED": specified, "POINTS": points, "MASSLESS": massless,
    "V2PTS": v2pts, "V1PT": v1pt, "PRINCIPAL": principal, "FRSTAR": frstar, "CONTROLS": controls, "AUXILIARY": auxiliary, "FR": fr,
    "KANE": kane, "KE": ke, "UNITS": units,
}  # fmt: skip
