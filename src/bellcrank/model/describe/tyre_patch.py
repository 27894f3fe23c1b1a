"""The contact of a rolling tyre with camber: wheel plane against road plane, slips from
deflections, the whole wrench.

The wheel is a disc about its axis a (to the left); n is the normal of the road at the nearest
ground, h the height of the wheel's centre above it. x = a x n/|a x n| is the heading, y = n x x the
side, gamma the inclination, sin gamma = a . n. The contact centre lies in the wheel plane, l =
h/cos gamma below the centre. There act Fx, Fy along x and y, the load along n, and the moments Mx,
My, Mz about these axes; on the wheel's centre the same wrench has the moment

    (Mx + h Fy + b Fz) x + (My - h Fx) y + (Mz - b Fx) n,    b = l sin(gamma)

A tyre with a crown radius c (attribute `crown`) is a torus instead, as of a motorcycle: a circle of
that radius about one of radius R - c in the wheel plane. It touches the road where its surface is
lowest, b = (R - c) sin(gamma) to the left of the wheel's centre, pressed in by R - l along n, l = h
+ (R - c) (1 - cos(gamma)). Load and deflection are conjugate, so the spring has a potential at any
inclination. Its rolling radius is smaller by c (1 - cos(gamma)), and the contact centre moves ahead
by c sin(gamma) cos(gamma) psi' more than the wheel's centre. R is the free radius, psi' how fast
the heading turns. The inclination of a tyre with the attribute `lags_camber` acts after the
relaxation length, as its slip.

The patch is deflected against the rim by e; V_sx = V_x - omega R_e, V_sy = V_y. Nothing is divided
by a speed that may vanish:

    e' = -V_s - |V_x|/sigma e_c - V_f,    V_f = (e - e_c)/T,
    kappa = e_c/sigma + V_f/max(|V_x|, v)

and tan(alpha) likewise across, with the other sign. e_c is e within the deflection that sticks, V_f
the speed with which the patch slides. Rolling steadily, kappa = -V_sx/|V_x| and tan(alpha) =
V_sy/|V_x| whatever their size. At standstill the force is that of the carcass, C (e + t_d e') up to
the friction, with one stiffness C at every load: a spring with a potential, so that what slides,
stops or is held never gains energy, however the load changes. A patch that sticks does not turn
with the wheel: e has the rates (e_y, -e_x) psi' as the heading turns, and the force acts at the
patch, with the moment e_x F_y - e_y F_x. The force of the formula takes its place as the wheel
rolls or slides faster, wholly from the slow speed v on. With nonlinear transients sigma of the
rates shrinks with the slope of the formula over slip, as the wheel rolls; without transients there
are no deflections, and slips are those of the moment, as of tables. The stored energy belongs to
that: of the spring at standstill, of bristles with the same stiffness and friction where the wheel
rolls. At standstill a wheel turns its patch by R_e, and the moment of F_x about its axis has the
same lever. Pacejka, Tire and Vehicle Dynamics (3rd ed., 2012), section 7.2 and (8.127); flow above
a limit as in `model.describe.slip`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from bellcrank.core.units import unit_system
from bellcrank.model.describe.builder import Builder
from bellcrank.model.describe.patch import wheel_motion
from bellcrank.model.describe.slip import SLIDING_TIME_CONSTANT
from bellcrank.model.describe.tyre_model import Rolling, TyreModel
from bellcrank.model.formula import SCALAR, Formula, call_formula, to_syntax
from bellcrank.model.records import RangeRecord
from bellcrank.symbolic.expr.table import table

FORMULAS: Any = SimpleNamespace(**SCALAR)
# m/s: until here the law of standstill fades (docs/tyres.md); sliding is slip relative to at least
# this
STANDSTILL_SPEED = 2.0
DAMPING = (
    0.004  # s, of the carcass: rubber with a loss factor of 0.12 at 5 Hz, where a car swings on it
)
TINY, LEAST = 1e-6, 1e-6  # of a ratio; m, of a deflection that sticks
MIN_RELAXATION_LENGTH = 0.05  # m, of a relaxation length: it vanishes with the load
MIN_SLOPE_RATIO = (
    0.1  # of relaxation lengths that follow the slope of the force, over those of small slip
)
CHANNELS = {
    "fx": ("Fx", "F", "longitudinal force"),
    "fy": ("Fy", "F", "lateral force"),
    "fz": ("Fz", "F", "vertical force"),
    "mx": ("Mx", "F*L", "overturning moment"),
    "my": ("My", "F*L", "rolling resistance"),
    "mz": ("Mz", "F*L", "aligning moment"),
}


def formula_for_name(text: str) -> Formula:
    return Formula(to_syntax(text))


@dataclass(frozen=True)
class _WheelDefinitions:
    """Where the definitions of a wheel are written, with names that begin with its own."""

    s: Builder
    name: str

    @property
    def metre(self) -> float:
        return unit_system(self.s.description.units).parse_unit("m").factor

    @property
    def newton(self) -> float:
        return unit_system(self.s.description.units).parse_unit("N").factor

    def define(self, part: str, formula: Any) -> Formula:
        self.s.define(f"{self.name}_{part}", formula)
        return self.part(part)

    def part(self, word: str) -> Formula:
        return formula_for_name(f"{self.name}_{word}")


@dataclass(frozen=True)
class _WheelAttitude:
    """How a wheel stands and moves against the road: speeds in m/s, lengths in those of the
    equations."""

    gamma: Formula
    height: Formula  # of its centre
    below: Formula  # from there to the contact centre
    speed: Formula
    omega: Formula
    across: Formula
    rising: Formula  # rate of `below`
    arm: Formula  # from the axis to the line of the longitudinal force


@dataclass(frozen=True)
class _ContactForces:
    """What the road does to a wheel, in N and m, the slips at which it does, and the energy kept by
    deflections (J)."""

    found: dict[str, Any]
    kappa: Formula
    alpha: Formula
    kept: Any = 0.0


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
    """Definitions, states, forces, moments and outputs of a wheel on a tyre; nearest ground is
    defined already.

    `spring`: stiffness and damping as formulas, where they are not those of the tyre; `mu`:
    friction of the road;
    `brake`: rolling resistance in addition to that of the tyre, force times time per length.
    """
    m, w = FORMULAS, _WheelDefinitions(s, name)
    metre, newton = w.metre, w.newton
    axes = wheel_motion(s, name, point, wheel)
    crown = getattr(tyre, "crown", 0.0) * metre
    rolls = (
        _wheel_attitude(w)
        if not crown
        else _torus_attitude(w, crown, lambda spin: _free_radius(w, tyre, rim, spin))
    )
    scales = {
        key: formula_for_name(scale_name)
        for key, scale_name in _scale_factor_names(s, name, tyre).items()
    }
    pressure: Any = _pressure_parameter(s, name, tyre)
    _add_ranges(w, tyre)
    tyre = _with_table_data(s, name, tyre)
    rolling = Rolling(
        0.0,
        0.0,
        0.0,
        rolls.gamma,
        pressure,
        rolls.speed,
        rolls.omega,
        low=tyre.standstill_weight(m, rolls.speed),
        mu=mu,
    )
    load, stored = _define_load(w, tyre, rolling, rolls, rim, spring)
    rolling = replace(rolling, Fz=w.define("newtons", load / newton))
    radius = w.define(
        "rolling",
        tyre.rolling_radius(m, rolling.Fz, rolling.omega, pressure)
        if rim is None
        else rolls.below / metre,
    )
    if crown:
        radius = w.define("inclined", radius - crown / metre * (1 - w.part("upright")))
    slip = {
        "x": w.define("slipx", rolling.Vx - rolling.omega * radius),
        "y": w.define("slipy", rolls.across),
    }
    if tyre.transient == "none":
        contact = _steady_slip_forces(w, tyre, rolling, scales, slip)
    else:
        contact = _transient_slip_forces(
            w,
            tyre,
            rolling,
            scales,
            slip,
            load,
            None if rim is not None else radius - rolls.arm / metre,
        )
    if brake is not None:
        resists = m.where(load > 0, brake * rolling.omega * rolls.height**2, 0.0) / (newton * metre)
        contact.found["My"] = contact.found["My"] - resists
    _add_tyre_channels(w, contact, rolling)
    w.define("stored", stored + contact.kept * newton * metre)
    _add_wrench(
        s, name, point, wheel, axes, w.part, w.define, "crown_offset" if crown else "offset"
    )


def _wheel_attitude(w: _WheelDefinitions) -> _WheelAttitude:
    """Defines how a wheel stands and moves, over its axes and velocities; `turning`: how fast its
    heading turns about the normal of the road, to the left."""
    lean = w.define("lean", _dot_by_name(w.part, "a", "n"))  # sin gamma
    upright = w.define("upright", 1 / w.part("h"))
    height = w.part("distance")
    below = w.define("below", height / upright)
    w.define("offset", below * lean)
    w.define(
        "turning",
        _dot_by_name(w.part, "w", "n") - lean * w.part("h") * _dot_by_name(w.part, "w", "s"),
    )
    return _WheelAttitude(
        gamma=w.define("inclination", FORMULAS.atan(lean * w.part("h"))),
        height=height,
        below=below,
        speed=w.define("vlong", _dot_by_name(w.part, "v", "t") / w.metre),
        omega=w.define("spin", _dot_by_name(w.part, "w", "a")),
        across=w.define(
            "vside",
            (_dot_by_name(w.part, "v", "s") + height * _dot_by_name(w.part, "w", "t")) / w.metre,
        ),
        rising=w.define("rise", (_dot_by_name(w.part, "v", "n") - w.part("lifts")) / upright),
        arm=below,
    )


def _torus_attitude(
    w: _WheelDefinitions, crown: float, free: Callable[[Formula], Any]
) -> _WheelAttitude:
    """The same of a wheel with a tyre of a crown radius."""
    flat = _wheel_attitude(w)
    lean, upright, height = w.part("lean"), w.part("upright"), flat.height
    ring = w.define("ring", free(flat.omega) - crown)
    offset = w.define("crown_offset", ring * lean)
    centre_speed = flat.speed + w.part("turning") * crown * lean * upright / w.metre
    return replace(
        flat,
        below=w.define("crown_below", height + ring * (1 - upright)),
        speed=w.define("crown_vlong", centre_speed),
        rising=w.define(
            "crown_rise",
            _dot_by_name(w.part, "v", "n")
            - w.part("lifts")
            + offset * _dot_by_name(w.part, "w", "t"),
        ),
        arm=w.define("crown_arm", height * upright + offset * lean),
    )


def _define_load(
    w: _WheelDefinitions,
    tyre: TyreModel,
    rolling: Rolling,
    wheel: _WheelAttitude,
    rim: Any,
    spring: tuple[Any, Any] | None,
) -> tuple[Formula, Any]:
    """The load of a wheel on its tyre or on a given spring, and the energy stored by it."""
    m, metre, newton = FORMULAS, w.metre, w.newton
    depth = w.define("depth", m.max(0.0, _free_radius(w, tyre, rim, wheel.omega) - wheel.below))
    if spring is None:
        pushes, energy = tyre.radial_load(m, rolling, wheel.below / metre)
        elastic, damped = (
            w.define("elastic", pushes * newton),
            tyre.vertical_damping * newton / metre,
        )
        stored = energy * newton * metre
    else:
        elastic, damped = w.define("elastic", spring[0] * depth), spring[1]
        stored = spring[0] * depth**2 / 2
    return w.define(
        "load", m.where(depth > 0, m.max(0.0, elastic - damped * wheel.rising), 0.0)
    ), stored


def _free_radius(w: _WheelDefinitions, tyre: TyreModel, rim: Any, omega: Formula) -> Any:
    """The radius of a wheel without load."""
    return tyre.free_radius(FORMULAS, omega) * w.metre if rim is None else rim


def _steady_slip_forces(
    w: _WheelDefinitions,
    tyre: TyreModel,
    rolling: Rolling,
    scales: dict[str, Formula],
    slip: dict[str, Formula],
) -> _ContactForces:
    """Without deflections: slips are those of the moment."""
    m = FORMULAS
    size = m.max(m.abs(rolling.Vx), TINY)
    kappa, alpha = (
        w.define("kappa", -slip["x"] / size),
        w.define("alpha_seen", m.atan(slip["y"] / size)),
    )
    return _ContactForces(
        tyre.steady_state_forces(
            m, tyre.with_bounded_slips(m, replace(rolling, kappa=kappa, alpha=alpha)), scales
        ),
        kappa,
        alpha,
    )


def _transient_slip_forces(
    w: _WheelDefinitions,
    tyre: TyreModel,
    rolling: Rolling,
    scales: dict[str, Formula],
    slip: dict[str, Formula],
    load: Formula,
    lever: Any,
) -> _ContactForces:
    """By two states, the deflections. `lever`: by how much the rolling radius is longer than that
    of the force, whose place it takes as the wheel rolls; None where they are one."""
    m, s, name = FORMULAS, w.s, w.name
    standstill = tyre.steady_state_forces(m, rolling, scales)
    sigma = {
        i: w.define(f"sigma{i}", m.max(MIN_RELAXATION_LENGTH, standstill[f"sigma_{i}"]))
        for i in "xy"
    }
    limit = {i: w.define(f"limit{i}", standstill[f"mu{i}"] * standstill["load"]) for i in "xy"}
    carcass = dict(zip("xy", tyre.carcass_stiffness(m, rolling, scales), strict=True))
    patch = _StandstillDeflection(w.define, w.part, rolling.Vx, sigma, limit, carcass, w.metre)
    kappa, tan = w.define("kappa", patch.seen["x"]), w.define("tan", -patch.seen["y"])
    alpha = w.define("alpha_seen", m.atan(tan))
    gamma = (
        _lagged_inclination(w, rolling, sigma["y"])
        if getattr(tyre, "lags_camber", False)
        else rolling.gamma
    )
    wrench = tyre.steady_state_forces(
        m, replace(rolling, kappa=kappa, alpha=alpha, tan=tan, gamma=gamma), scales
    )
    patch.define_rates(
        w.define, load, w.part("turning"), slip, {i: wrench.get(f"slope_{i}") for i in "xy"}
    )
    for i, direction in {"x": "along", "y": "across"}.items():
        s.add_state(
            f"{name}_e{i}",
            rate=patch.rate[i] * w.metre,
            units="L",
            label=f"deflection of {name} {direction}",
        )
    stiff = {"x": m.abs(standstill["Kxk"]) / sigma["x"], "y": m.abs(standstill["Kya"]) / sigma["y"]}
    rolls, force = patch.rolls, patch.force
    wrench |= {
        f"F{i}": w.define(f"force{i}", force[i] + rolls * (wrench[f"F{i}"] - force[i]))
        for i in "xy"
    }
    wrench["Mz"] = wrench["Mz"] + (1 - rolls) * (
        patch.e["x"] * wrench["Fy"] - patch.e["y"] * wrench["Fx"]
    )
    if lever is not None:
        wrench["My"] = wrench["My"] - (1 - rolls) * wrench["Fx"] * lever
    return _ContactForces(wrench, kappa, alpha, patch.recoverable_energy(limit, stiff))


def _lagged_inclination(w: _WheelDefinitions, rolling: Rolling, sigma: Formula) -> Formula:
    """The inclination as it acts: a state that follows over the relaxation length."""
    rate = FORMULAS.abs(rolling.Vx) / sigma * (rolling.gamma - w.part("camber"))
    w.s.add_state(
        f"{w.name}_camber",
        rate=rate,
        units="A",
        label=f"inclination that acts in the patch of {w.name}",
    )
    return w.part("camber")


def _add_tyre_channels(w: _WheelDefinitions, contact: _ContactForces, rolling: Rolling) -> None:
    """Outputs: the wrench, which is defined by them, and slips."""
    m, s, name, kappa = FORMULAS, w.s, w.name, contact.kappa
    values = {**contact.found, "Fz": rolling.Fz}
    for channel, (key, dimension, label) in CHANNELS.items():
        force = w.define(channel, values[key] * w.newton * (w.metre if dimension == "F*L" else 1.0))
        s.add_output(f"{name}.{channel}", force, label=f"{label} of {name}", units=dimension)
    outputs = {
        "kappa": (kappa, "1", "slip over the speed"),
        "alpha": (contact.alpha, "A", "slip angle"),
        "gamma": (rolling.gamma, "A", "inclination"),
        "slip": (kappa / m.max(m.abs(1 + kappa), 1e-3), "1", "slip over the rolling speed"),
    }
    for channel, (formula, dimension, label) in outputs.items():
        s.add_output(f"{name}.{channel}", formula, label=f"{label} of {name}", units=dimension)


def _add_ranges(w: _WheelDefinitions, tyre: TyreModel) -> None:
    """The ranges in which the tyre is known."""
    for key, (label, low, high) in tyre.ranges.items():
        factor = w.newton if key == "Fz" else 1.0
        w.s.description.ranges.append(
            RangeRecord(f"{w.name}.{key.lower()}", low * factor, high * factor, label)
        )


def _with_table_data(s: Builder, name: str, tyre: Any) -> Any:
    """The tyre with its coefficients as values of a table, so that the equations of another one are
    the same."""
    if not hasattr(tyre, "with_formulas"):
        return tyre
    numbers, table_name = tyre.numbers, tyre.named_numbers or f"{name}_numbers"
    if table_name not in s.description.tables:
        s.define(table_name, table(range(len(numbers) + 1), [*numbers.values(), 0.0]))
        for i, key in enumerate(numbers):
            s.define(f"{table_name}_{key}", call_formula(table_name, i))
    return tyre.with_formulas({key: formula_for_name(f"{table_name}_{key}") for key in numbers})


def _dot_by_name(part: Any, first: str, second: str) -> Formula:
    return (
        part(f"{first}x") * part(f"{second}x")
        + part(f"{first}y") * part(f"{second}y")
        + part(f"{first}z") * part(f"{second}z")
    )


def _scale_factor_names(s: Builder, name: str, tyre: TyreModel) -> dict[str, str]:
    """Names of the parameters that stand for the scale factors of a tyre."""
    scale_names = dict(tyre.named_scales)
    for key, value in tyre.scales.items():
        if key not in scale_names:
            scale_names[key] = f"{name}_{key}"
            s.add_parameter(scale_names[key], value, units="1", label=f"{key} of {name}")
    return scale_names


def _pressure_parameter(s: Builder, name: str, tyre: TyreModel) -> Any:
    """The pressure in Pa: a parameter, where the tyre knows of one."""
    if not tyre.has_pressure:
        return tyre.usual[0]
    pascal = unit_system(s.description.units).parse_unit("Pa").factor
    s.add_parameter(f"{name}_pressure", tyre.usual[0], units="Pa", label=f"pressure of {name}")
    return formula_for_name(f"{name}_pressure") / pascal


def _smoothstep(y: Any) -> Any:
    """From 0 to 1 as y does, flat at both ends."""
    return y**2 * (3 - 2 * y)


class _StandstillDeflection:
    """The deflection of the patch: its rates, the slips the tyre sees, and the forces of standstill
    in N."""

    def __init__(
        self, define: Any, part: Any, speed: Any, sigma: Any, limit: Any, carcass: Any, metre: float
    ) -> None:
        m = FORMULAS
        self.speed, self.sigma, self.limit = speed, sigma, limit
        self.carcass, self.e = carcass, {i: part(f"e{i}") / metre for i in "xy"}
        self.most = {i: define(f"most{i}", m.max(LEAST, limit[i] / carcass[i])) for i in "xy"}
        overload = define(
            "over", m.sqrt(sum((self.e[i] / self.most[i]) ** 2 for i in "xy") + TINY**2)
        )
        rolling_ratio = define("goes", (speed / STANDSTILL_SPEED) ** 2)
        beyond = define(
            "beyond", m.max(1.0, overload / (1 + _smoothstep(m.min(1.0, rolling_ratio))))
        )
        self.stuck = {i: define(f"ec{i}", self.e[i] / beyond) for i in "xy"}
        self.once = define("once", m.max(1.0, overload))
        self.flow = {
            i: define(f"flow{i}", (self.e[i] - self.stuck[i]) / SLIDING_TIME_CONSTANT) for i in "xy"
        }
        self.seen = {
            i: self.stuck[i] / sigma[i] + self.flow[i] / m.max(m.abs(speed), STANDSTILL_SPEED)
            for i in "xy"
        }
        slides = (self.flow["x"] ** 2 + self.flow["y"] ** 2) / STANDSTILL_SPEED**2
        self.rolls = define(
            "rolls", _smoothstep(define("pace", m.min(1.0, rolling_ratio + slides)))
        )

    def define_rates(self, define: Any, load: Any, turning: Any, slip: Any, slope: Any) -> None:
        """Defines the rates, and with them the forces of standstill; `slope`: that of the force
        over slip, over the one without slip, where relaxation lengths follow it."""
        m = FORMULAS
        self.rate = {}
        stuck_turning = define("still", (1 - self.rolls) * turning)
        past = {"x": stuck_turning * self.e["y"], "y": -stuck_turning * self.e["x"]}
        for i in "xy":
            moving = past[i] - slip[i] - m.abs(self.speed) * self.stuck[i] / self.sigma[i]
            if slope[i] is not None:
                min_ratio = m.max(MIN_SLOPE_RATIO, MIN_RELAXATION_LENGTH / self.sigma[i])
                quicker = define(f"quicker{i}", 1 / m.max(min_ratio, m.min(1.0, slope[i])))
                moving = moving * (1 + self.rolls * (quicker - 1))
            self.rate[i] = define(
                f"e{i}_rate",
                m.where(load > 0, moving - self.flow[i], -self.e[i] / SLIDING_TIME_CONSTANT),
            )
        relative_force = {
            i: define(f"push{i}", (self.e[i] / self.once + DAMPING * self.rate[i]) / self.most[i])
            for i in "xy"
        }
        fraction = define(
            "share",
            1 / m.max(1.0, m.sqrt(relative_force["x"] ** 2 + relative_force["y"] ** 2 + TINY**2)),
        )
        self.force = {i: self.limit[i] * fraction * relative_force[i] for i in "xy"}

    def recoverable_energy(self, limit: Any, stiff: Any) -> Any:
        """What the deflection gives back (J): at standstill a spring up to the friction, rolling
        bristles."""
        m = FORMULAS
        spring_energy = sum(self.carcass[i] * (self.e[i] / self.once) ** 2 for i in "xy") * (
            self.once - 0.5
        )
        ratio = {i: stiff[i] * self.stuck[i] / m.max(limit[i], TINY) for i in "xy"}
        overload = m.sqrt(ratio["x"] ** 2 + ratio["y"] ** 2 + TINY**2) / 3
        theta, slides = m.min(1.0, overload), m.min(1.0, 1 / overload)
        work = 0.25 - theta / 3 + theta**2 / 12 + slides / 3 - slides**2 / 12
        rolling = sum(stiff[i] * self.stuck[i] ** 2 for i in "xy") * work
        return spring_energy + self.rolls * (rolling - spring_energy)


def _add_wrench(
    s: Builder,
    name: str,
    point: Any,
    wheel: Any,
    axes: Any,
    part: Any,
    define: Any,
    offset_name: str,
) -> None:
    """The force at the wheel's centre, and the moment about it on the wheel; `offset_name`: name of
    the offset b."""
    height, offset = part("distance"), part(offset_name)
    moments = {
        "t": define("turnx", part("mx") + height * part("fy") + offset * part("load")),
        "s": define("turny", part("my") - height * part("fx")),
        "n": define("turnz", part("mz") - offset * part("fx")),
    }
    for i, e in axes.items():
        force = (
            part("fx") * part(f"t{i}") + part("fy") * part(f"s{i}") + part("load") * part(f"n{i}")
        )
        moment = (
            moments["t"] * part(f"t{i}")
            + moments["s"] * part(f"s{i}")
            + moments["n"] * part(f"n{i}")
        )
        s.add_force(
            f"{name}.{i}", magnitude=force, direction=e, at=point, label=f"force of the ground, {i}"
        )
        s.add_moment(
            f"{name}.turn{i}",
            magnitude=moment,
            direction=e,
            on=wheel,
            label=f"moment of the ground, {i}",
        )
