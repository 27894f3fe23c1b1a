"""The contact of a rolling tyre with camber: wheel plane against road plane, slips from deflections, the whole wrench.

The wheel is a disc about its axis a (to the left); n is the normal of the road at the nearest ground, h the height of
the wheel's centre above it. x = a x n/|a x n| is the heading, y = n x x the side, gamma the inclination, sin gamma =
a . n. The contact centre lies in the wheel plane, l = h/cos gamma below the centre. There act Fx, Fy along x and y, the
load along n, and the moments Mx, My, Mz about these axes; on the wheel's centre the same wrench has the moment

    (Mx + h Fy + l sin(gamma) Fz) x + (My - h Fx) y + (Mz - l sin(gamma) Fx) n

The patch is deflected against the rim by e; V_sx = V_x - omega R_e, V_sy = V_y. Nothing is divided by a speed that may
vanish:

    e' = -V_s - |V_x|/sigma e_c - V_f,    V_f = (e - e_c)/T,    kappa = e_c/sigma + V_f/max(|V_x|, v)

and tan(alpha) likewise across, with the other sign. e_c is e within the deflection that sticks, V_f the speed with
which the patch slides. Rolling steadily, kappa = -V_sx/|V_x| and tan(alpha) = V_sy/|V_x| whatever their size. At
standstill the force is that of the carcass, C (e + t_d e') up to the friction, with one stiffness C at every load: a
spring with a potential, so that what slides, stops or is held never gains energy, however the load changes. The force
of the formula takes its place as the wheel rolls or slides faster, wholly from the slow speed v on. With nonlinear
transients sigma of the rates shrinks with the slope of the formula over slip, as the wheel rolls; without transients
there are no deflections, and slips are those of the moment, as of tables. The stored energy
belongs to that: of the spring at standstill, of bristles with the same stiffness and friction where the wheel rolls.
At standstill a wheel turns its patch by R_e, and the moment of F_x about its axis has the same lever. Pacejka, Tire and
Vehicle Dynamics (3rd ed., 2012), section 7.2 and (8.127); flow beyond a limit as in `describe.slip`.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from bellcrank.describe.builder import Builder
from bellcrank.describe.patch import wheel_motion
from bellcrank.describe.slip import FLOW
from bellcrank.describe.tyre_model import Rolling, TyreModel
from bellcrank.model.formula import SCALAR, Formula, to_syntax
from bellcrank.model.records import RangeRecord
from bellcrank.units import unit_system

FORMULAS: Any = SimpleNamespace(**SCALAR)
SLOW = 2.0  # m/s: until here the law of standstill fades (docs/tyres.md); sliding is slip relative to at least this
DAMPING = 0.004  # s, of the carcass: rubber with a loss factor of 0.12 at 5 Hz, where a car swings on it
TINY, LEAST = 1e-6, 1e-6  # of a ratio; m, of a deflection that sticks
SHORTEST = 0.05  # m, of a relaxation length: it vanishes with the load
STEEPEST = 0.1  # of relaxation lengths that follow the slope of the force, over those of small slip
CHANNELS = {
    "fx": ("Fx", "F", "force along"), "fy": ("Fy", "F", "side force"), "fz": ("Fz", "F", "load"),
    "mx": ("Mx", "F*L", "overturning moment"), "my": ("My", "F*L", "rolling resistance"),
    "mz": ("Mz", "F*L", "aligning moment"),
}  # fmt: skip


def name_of(text: str) -> Formula:
    return Formula(to_syntax(text))


def add_tyre(
    s: Builder,
    name: str,
    point: Any,
    wheel: Any,
    tyre: TyreModel,
    rim: Any,
    spring: tuple[Any, Any] | None,
    mu: Any,
    brake: Any = None,
) -> None:
    """Definitions, states, forces, moments and outputs of a wheel on a tyre; nearest ground is defined already.

    `spring`: stiffness and damping as formulas, where they are not those of the tyre; `mu`: friction of the road;
    `brake`: rolling resistance beside that of the tyre, force times time per length.
    """
    m = FORMULAS
    units = unit_system(s.description.units)
    metre, newton = units.parse_unit("m").factor, units.parse_unit("N").factor

    def define(part: str, formula: Any) -> Formula:
        s.define(f"{name}_{part}", formula)
        return name_of(f"{name}_{part}")

    def part(word: str) -> Formula:
        return name_of(f"{name}_{word}")

    axes = wheel_motion(s, name, point, wheel)
    lean = define("lean", _dot(part, "a", "n"))  # sin gamma
    upright = define("upright", 1 / part("h"))
    gamma = define("inclination", m.atan(lean * part("h")))
    height = part("distance")
    below = define("below", height / upright)
    speed = define("vlong", _dot(part, "v", "t") / metre)
    omega = define("spin", _dot(part, "w", "a"))
    across = define("vside", (_dot(part, "v", "s") + height * _dot(part, "w", "t")) / metre)
    rising = define("rise", (_dot(part, "v", "n") - part("lifts")) / upright)
    scales = {key: name_of(given) for key, given in _scales(s, name, tyre).items()}
    pressure: Any = _pressure(s, name, tyre)
    at = Rolling(0.0, 0.0, 0.0, gamma, pressure, speed, omega, low=tyre.fades(m, speed), mu=mu)

    depth = define("depth", m.max(0.0, (tyre.free_radius(m, omega) * metre if rim is None else rim) - below))
    if spring is None:
        pushes, kept = tyre.press(m, at, below / metre)
        elastic, damped = define("elastic", pushes * newton), tyre.vertical_damping * newton / metre
        stored = kept * newton * metre
    else:
        elastic, damped = define("elastic", spring[0] * depth), spring[1]
        stored = spring[0] * depth**2 / 2
    load = define("load", m.where(depth > 0, m.max(0.0, elastic - damped * rising), 0.0))

    at = replace(at, Fz=define("newtons", load / newton))
    radius = define("rolling", tyre.rolling_radius(m, at.Fz, omega, pressure) if rim is None else below / metre)
    slip = {"x": define("slipx", speed - omega * radius), "y": define("slipy", across)}
    if tyre.transient == "none":
        size = m.max(m.abs(speed), TINY)
        kappa, alpha = define("kappa", -slip["x"] / size), define("alpha_seen", m.atan(slip["y"] / size))
        found = tyre.steady(m, tyre.slow(m, replace(at, kappa=kappa, alpha=alpha)), scales)
        rolls, kept = 1.0, 0.0
    else:
        still = tyre.steady(m, at, scales)
        sigma = {i: define(f"sigma{i}", m.max(SHORTEST, still[f"sigma_{i}"])) for i in "xy"}
        limit = {i: define(f"limit{i}", still[f"mu{i}"] * still["load"]) for i in "xy"}
        carcass = dict(zip("xy", tyre.carcass(m, at, scales), strict=True))
        held = _Standstill(define, part, speed, sigma, limit, carcass, metre)
        kappa, tan = define("kappa", held.seen["x"]), define("tan", -held.seen["y"])
        alpha = define("alpha_seen", m.atan(tan))
        found = tyre.steady(m, replace(at, kappa=kappa, alpha=alpha, tan=tan), scales)
        held.move(define, load, slip, {i: found.get(f"slope_{i}") for i in "xy"})
        for i, words in {"x": "along", "y": "across"}.items():
            s.add_state(f"{name}_e{i}", rate=held.rate[i] * metre, units="L", label=f"deflection of {name} {words}")
        stiff = {"x": m.abs(still["Kxk"]) / sigma["x"], "y": m.abs(still["Kya"]) / sigma["y"]}
        rolls, kept = held.rolls, held.energy(limit, stiff)
        found |= {f"F{i}": define(f"force{i}", held.force[i] + rolls * (found[f"F{i}"] - held.force[i])) for i in "xy"}
    if (
        rim is None and tyre.transient != "none"
    ):  # at standstill a wheel turns its patch by the radius that its force has as a lever
        found["My"] = found["My"] - (1 - rolls) * found["Fx"] * (radius - below / metre)
    if brake is not None:
        found["My"] = found["My"] - m.where(load > 0, brake * omega * height**2, 0.0) / (newton * metre)
    values = {**found, "Fz": at.Fz}
    for channel, (key, dimension, words) in CHANNELS.items():
        force = define(channel, values[key] * newton * (metre if dimension == "F*L" else 1.0))
        s.add_output(force, f"{name}.{channel}", label=f"{words} of {name}", units=dimension)
    outputs = {
        "kappa": (kappa, "1", "slip over the speed"), "alpha": (alpha, "A", "slip angle"),
        "gamma": (gamma, "A", "inclination"),
        "slip": (kappa / m.max(m.abs(1 + kappa), 1e-3), "1", "slip over the rolling speed"),
    }  # fmt: skip
    for channel, (formula, dimension, words) in outputs.items():
        s.add_output(formula, f"{name}.{channel}", label=f"{words} of {name}", units=dimension)
    for key, (words, low, high) in tyre.ranges.items():
        factor = newton if key == "Fz" else 1.0
        s.description.ranges.append(RangeRecord(f"{name}.{key.lower()}", low * factor, high * factor, words))
    define("stored", stored + kept * newton * metre)
    _add_wrench(s, name, point, wheel, axes, part, define)


def _dot(part: Any, one: str, other: str) -> Formula:
    return (
        part(f"{one}x") * part(f"{other}x") + part(f"{one}y") * part(f"{other}y") + part(f"{one}z") * part(f"{other}z")
    )


def _scales(s: Builder, name: str, tyre: TyreModel) -> dict[str, str]:
    """Names of the parameters that stand for the scale factors of a tyre."""
    named = dict(tyre.named_scales)
    for key, value in tyre.scales.items():
        if key not in named:
            named[key] = f"{name}_{key}"
            s.add_parameter(named[key], value, units="1", label=f"{key} of {name}")
    return named


def _pressure(s: Builder, name: str, tyre: TyreModel) -> Any:
    """The pressure in Pa: a parameter, where the tyre knows of one."""
    if not tyre.has_pressure:
        return tyre.usual[0]
    pascal = unit_system(s.description.units).parse_unit("Pa").factor
    s.add_parameter(f"{name}_pressure", tyre.usual[0], units="Pa", label=f"pressure of {name}")
    return name_of(f"{name}_pressure") / pascal


def _rises(y: Any) -> Any:
    """From 0 to 1 as y does, flat at both ends."""
    return y**2 * (3 - 2 * y)


class _Standstill:
    """The deflection of the patch: its rates, the slips the tyre sees, and the forces of standstill in N."""

    def __init__(self, define: Any, part: Any, speed: Any, sigma: Any, limit: Any, carcass: Any, metre: float) -> None:
        m = FORMULAS
        self.speed, self.sigma, self.limit = speed, sigma, limit
        self.carcass, self.e = carcass, {i: part(f"e{i}") / metre for i in "xy"}
        self.most = {i: define(f"most{i}", m.max(LEAST, limit[i] / carcass[i])) for i in "xy"}
        over = define("over", m.sqrt(sum((self.e[i] / self.most[i]) ** 2 for i in "xy") + TINY**2))
        goes = define("goes", (speed / SLOW) ** 2)
        beyond = define("beyond", m.max(1.0, over / (1 + _rises(m.min(1.0, goes)))))
        self.stuck = {i: define(f"ec{i}", self.e[i] / beyond) for i in "xy"}
        self.once = define("once", m.max(1.0, over))
        self.flow = {i: define(f"flow{i}", (self.e[i] - self.stuck[i]) / FLOW) for i in "xy"}
        self.seen = {i: self.stuck[i] / sigma[i] + self.flow[i] / m.max(m.abs(speed), SLOW) for i in "xy"}
        slides = (self.flow["x"] ** 2 + self.flow["y"] ** 2) / SLOW**2
        self.rolls = define("rolls", _rises(define("pace", m.min(1.0, goes + slides))))

    def move(self, define: Any, load: Any, slip: Any, slope: Any) -> None:
        """Defines the rates, and with them the forces of standstill; `slope`: that of the force over slip, over the
        one without slip, where relaxation lengths follow it."""
        m = FORMULAS
        self.rate = {}
        for i in "xy":
            moving = -slip[i] - m.abs(self.speed) * self.stuck[i] / self.sigma[i]
            if slope[i] is not None:
                least = m.max(STEEPEST, SHORTEST / self.sigma[i])
                quicker = define(f"quicker{i}", 1 / m.max(least, m.min(1.0, slope[i])))
                moving = moving * (1 + self.rolls * (quicker - 1))
            self.rate[i] = define(f"e{i}_rate", m.where(load > 0, moving - self.flow[i], -self.e[i] / FLOW))
        push = {i: define(f"push{i}", (self.e[i] / self.once + DAMPING * self.rate[i]) / self.most[i]) for i in "xy"}
        share = define("share", 1 / m.max(1.0, m.sqrt(push["x"] ** 2 + push["y"] ** 2 + TINY**2)))
        self.force = {i: self.limit[i] * share * push[i] for i in "xy"}

    def energy(self, limit: Any, stiff: Any) -> Any:
        """What the deflection gives back (J): at standstill a spring up to the friction, rolling bristles."""
        m = FORMULAS
        still = sum(self.carcass[i] * (self.e[i] / self.once) ** 2 for i in "xy") * (self.once - 0.5)
        ratio = {i: stiff[i] * self.stuck[i] / m.max(limit[i], TINY) for i in "xy"}
        over = m.sqrt(ratio["x"] ** 2 + ratio["y"] ** 2 + TINY**2) / 3
        theta, slides = m.min(1.0, over), m.min(1.0, 1 / over)
        work = 0.25 - theta / 3 + theta**2 / 12 + slides / 3 - slides**2 / 12
        rolling = sum(stiff[i] * self.stuck[i] ** 2 for i in "xy") * work
        return still + self.rolls * (rolling - still)


def _add_wrench(s: Builder, name: str, point: Any, wheel: Any, axes: Any, part: Any, define: Any) -> None:
    """The force at the wheel's centre, and the moment about it on the wheel."""
    height, offset = part("distance"), define("offset", part("below") * part("lean"))
    turns = {
        "t": define("turnx", part("mx") + height * part("fy") + offset * part("load")),
        "s": define("turny", part("my") - height * part("fx")),
        "n": define("turnz", part("mz") - offset * part("fx")),
    }
    for i, e in axes.items():
        force = part("fx") * part(f"t{i}") + part("fy") * part(f"s{i}") + part("load") * part(f"n{i}")
        moment = turns["t"] * part(f"t{i}") + turns["s"] * part(f"s{i}") + turns["n"] * part(f"n{i}")
        s.add_force(f"{name}.{i}", magnitude=force, direction=e, at=point, label=f"force of the ground, {i}")
        s.add_moment(f"{name}.turn{i}", magnitude=moment, direction=e, on=wheel, label=f"moment of the ground, {i}")
