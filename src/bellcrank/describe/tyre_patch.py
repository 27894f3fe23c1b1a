"""The contact of a rolling tyre with camber: wheel plane against road plane, slips from deflections, the whole wrench.

The wheel is a disc about its axis a (to the left); n is the normal of the road at the nearest ground, h the height of
the wheel's centre above it. x = a x n/|a x n| is the heading, y = n x x the side, gamma the inclination, sin gamma =
a . n. The contact centre lies in the wheel plane, l = h/cos gamma below the centre. There act Fx, Fy along x and y, the
load along n, and the moments Mx, My, Mz about these axes; on the wheel's centre the same wrench has the moment

    (Mx + h Fy + l sin(gamma) Fz) x + (My - h Fx) y + (Mz - l sin(gamma) Fx) n

Slips come from the deflection e of the patch against the rim, so that nothing is divided by a speed that may vanish:

    e' = -V_s - |V_x|/sigma e_c - V_f,    V_f = (e - e_c)/T,    kappa = (e_c + t_d e')/sigma + V_f/max(|V_x|, v)

and tan(alpha) likewise across, with the other sign; V_sx = V_x - omega R_e, V_sy = V_y. e_c is e within the deflection
that sticks, t_d a damping that fades with speed. Rolling steadily, kappa = -V_sx/|V_x| and tan(alpha) = V_sy/|V_x|
whatever their size; at standstill e is an elastic deflection of the carcass with its stiffness K/sigma, which holds; a
patch that is moved farther slides with the speed V_f. Pacejka, Tire and Vehicle Dynamics (3rd ed., 2012), section 7.2
and (8.127); flow beyond a limit as in `describe.slip`.
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
from bellcrank.units import unit_system

FORMULAS: Any = SimpleNamespace(**SCALAR)
GRIP = 2.0  # slip that still sticks, over friction/stiffness
SLIDES = 1.0  # m/s: sliding of the patch counts as slip relative to at least this speed
DAMPING, SLOW = 0.004, 2.5  # s and m/s: damping of the carcass at standstill, and the speed from which there is none
TINY, LEAST = 1e-6, 1e-6  # N, of a stiffness; m, of a deflection that sticks
SHORTEST = 0.05  # m, of a relaxation length: it vanishes with the load
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
    n = {"x": part("nx"), "z": part("nz")}
    lean = define("lean", part("ax") * n["x"] + part("az") * n["z"])  # sin gamma
    upright = define("upright", 1 / part("h"))
    gamma = define("inclination", m.atan2(lean, upright))
    height = part("distance")
    below = define("below", height / upright)
    speed = define("vlong", _dot(part, "v", "t") / metre)
    omega = define("spin", _dot(part, "w", "a"))
    across = define("vside", (_dot(part, "v", "s") + height * _dot(part, "w", "t")) / metre)
    rising = define("rise", (part("vx") * n["x"] + part("vz") * n["z"]) / upright)
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
    still = tyre.steady(m, at, scales)
    radius = define("rolling", tyre.rolling_radius(m, at.Fz, omega, pressure) if rim is None else below / metre)
    sigma = {i: define(f"sigma{i}", m.max(SHORTEST, still[f"sigma_{i}"])) for i in "xy"}
    grip = {"x": still["mux"] / m.max(m.abs(still["Kxk"]), TINY), "y": still["muy"] / m.max(m.abs(still["Kya"]), TINY)}
    most = {i: define(f"most{i}", m.max(LEAST, GRIP * grip[i] * at.Fz * sigma[i]) * metre) for i in "xy"}
    slip = {"x": define("slipx", speed - omega * radius), "y": define("slipy", across)}
    kappa, tan = _deflections(s, name, define, part, load, speed, slip, sigma, most, metre)
    alpha = define("alpha_seen", m.atan(tan))
    found = tyre.steady(m, replace(at, kappa=kappa, alpha=alpha, tan=tan), scales)
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
    ends = " + ".join(f"{name}_f{i}*{name}_ec{i}/2" for i in "xy")
    define("kept", ends)
    define("stored", stored + part("kept"))
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


def _deflections(
    s: Builder,
    name: str,
    define: Any,
    part: Any,
    load: Any,
    speed: Any,
    slip: Any,
    sigma: Any,
    most: Any,
    metre: float,
) -> tuple[Any, Any]:
    """States of the patch, and the slips the tyre sees: kappa, tan(alpha)."""
    m, words = FORMULAS, {"x": "along", "y": "across"}
    e = {i: part(f"e{i}") for i in "xy"}
    beyond = define("beyond", m.max(1.0, m.sqrt((e["x"] / most["x"]) ** 2 + (e["y"] / most["y"]) ** 2 + TINY**2)))
    held = {i: define(f"ec{i}", e[i] / beyond) for i in "xy"}
    slow = define("slow", m.min(1.0, m.abs(speed) / SLOW))
    fading = define("fading", DAMPING * (1 - slow**2 * (3 - 2 * slow)))
    seen = {}
    for i in "xy":
        flow = define(f"flow{i}", (e[i] - held[i]) / (metre * FLOW))
        moving = -slip[i] - m.abs(speed) * held[i] / (sigma[i] * metre) - flow
        rate = define(f"e{i}_rate", m.where(load > 0, moving * metre, -e[i] / FLOW))
        s.add_state(f"{name}_e{i}", rate=rate, units="L", label=f"deflection of {name} {words[i]}")
        stuck = (held[i] + fading * rate) / (sigma[i] * metre)
        seen[i] = stuck + flow / m.max(m.abs(speed), SLIDES)
    return define("kappa", seen["x"]), define("tan", -seen["y"])


def _add_wrench(s: Builder, name: str, point: Any, wheel: Any, axes: Any, part: Any, define: Any) -> None:
    """The force at the wheel's centre, and the moment about it on the wheel."""
    height, offset = part("distance"), define("offset", part("below") * part("lean"))
    turns = {
        "t": define("turnx", part("mx") + height * part("fy") + offset * part("load")),
        "s": define("turny", part("my") - height * part("fx")),
        "n": define("turnz", part("mz") - offset * part("fx")),
    }
    for i, e in axes.items():
        normal = {"x": "nx", "z": "nz"}.get(i)
        force = part("fx") * part(f"t{i}") + part("fy") * part(f"s{i}")
        moment = turns["t"] * part(f"t{i}") + turns["s"] * part(f"s{i}")
        if normal:
            force, moment = force + part("load") * part(normal), moment + turns["n"] * part(normal)
        s.add_force(f"{name}.{i}", magnitude=force, direction=e, at=point, label=f"force of the ground, {i}")
        s.add_moment(f"{name}.turn{i}", magnitude=moment, direction=e, on=wheel, label=f"moment of the ground, {i}")
