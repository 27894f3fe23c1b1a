"""The Magic Formula, versions 5.2 (PAC2002), 6.1 and 6.2: forces, moments and stiffnesses of steady
rolling.

One text over arrays and formulas (`model.describe.tyre_model`). `c` holds the coefficients by name.
Pacejka, Tire and Vehicle Dynamics (3rd ed., 2012), (4.E1)-(4.E78); Besselink, Schmeitz & Pacejka,
Vehicle System Dynamics 48 (2010) 337-352, whose equivalent slips of the aligning moment are used;
where prints differ, as the commercial solver computes (docs/tyres.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bellcrank.model.describe.tyre_model import MathFunctions, Rolling

__all__: list[str] = []

ZERO_SHIFT = 1e-6  # keeps denominators from zero, as (4.E6a)
TINY = 1e-12  # slip below which none has a direction: roots have a slope there
DEFAULT_RELAXATION = (
    0.8,
    1.6,
)  # relaxation lengths along and across at the nominal load, over the radius
MIN_LOAD_RATIO = (
    1e-3  # of the nominal load: below it forces are those there, in proportion to the load
)


def sign(m: MathFunctions, x: Any) -> Any:
    """-1 or 1, which is also that of zero."""
    return m.where(x >= 0, 1.0, -1.0)


def shifted_from_zero(m: MathFunctions, x: Any) -> Any:
    """x, moved a little away from zero."""
    return x + ZERO_SHIFT * sign(m, x)


def cos_atan(m: MathFunctions, x: Any) -> Any:
    return 1 / m.sqrt(1 + x * x)


def magic_argument(m: MathFunctions, B: Any, E: Any, x: Any) -> Any:
    """The argument of the formula's outer function, over C."""
    bx = B * x
    return m.atan(bx - E * (bx - m.atan(bx)))


def relative_slope(m: MathFunctions, c: Any, C: Any, B: Any, E: Any, x: Any) -> Any:
    """Of the formula sin(C atan(...)) over x, over the one where x is zero; None where nobody asks
    for it."""
    if not c.nonlinear:
        return None
    bx, arc = B * x, magic_argument(m, B, E, x)
    inner = bx - E * (bx - m.atan(bx))
    return m.cos(C * arc) / (1 + inner * inner) * (1 - E + E / (1 + bx * bx))


@dataclass(frozen=True)
class PureSideForce:
    """Parts of the side force in pure slip: its value, and what the moments take from it."""

    force: Any
    K: Any
    B: Any
    C: Any
    mu: Any
    shift_x: Any
    shift_y: Any
    shift_camber: Any  # SVyg
    K_camber: Any  # Kyg0
    slope: Any


@dataclass(frozen=True)
class TurnSlipFactors:
    """Factors of turn slip (zeta 0 to 8); `shift_yp`, SHyp, moves the side force over the slip
    angle. All one without."""

    z0: Any = 1.0
    z1: Any = 1.0
    z2: Any = 1.0
    z3: Any = 1.0
    z5: Any = 1.0
    z6: Any = 1.0
    shift_yp: Any = None


def normalized_changes(c: Any, state: Rolling) -> tuple[Any, Any]:
    """Relative changes of load and pressure from the nominal ones."""
    nominal = c.LFZO * c.FNOMIN
    return (state.Fz - nominal) / nominal, (
        0.0 if c.version == "5.2" else (state.p - c.NOMPRES) / c.NOMPRES
    )


def pure_longitudinal_force(
    m: MathFunctions, c: Any, state: Rolling, spin: TurnSlipFactors
) -> tuple[Any, Any, Any, Any]:
    """Fx in pure slip, slip stiffness Kxk, friction mux, and its slope over that without slip."""
    dfz, dpi = normalized_changes(c, state)
    gamma, Fz, mu = state.gamma * c.LGAX, state.Fz, c.LMUX * state.mu
    kx = state.kappa + (c.PHX1 + c.PHX2 * dfz) * c.LHX * state.low
    mux = (
        (c.PDX1 + c.PDX2 * dfz)
        * (1 + c.PPX3 * dpi + c.PPX4 * dpi**2)
        * (1 - c.PDX3 * gamma**2)
        * mu
    )
    C, D = c.PCX1 * c.LCX, mux * Fz * spin.z1
    E = m.min((c.PEX1 + c.PEX2 * dfz + c.PEX3 * dfz**2) * (1 - c.PEX4 * sign(m, kx)) * c.LEX, 1.0)
    grow = m.exp(c.PKX3 * dfz) if c.PKX3 else 1.0
    K = Fz * (c.PKX1 + c.PKX2 * dfz) * grow * (1 + c.PPX1 * dpi + c.PPX2 * dpi**2) * c.LKX
    shift = Fz * (c.PVX1 + c.PVX2 * dfz) * c.LVX * mu * spin.z1 * state.low
    B = K / shifted_from_zero(m, C * D)
    return (
        D * m.sin(C * magic_argument(m, B, E, kx)) + shift,
        K,
        mux,
        relative_slope(m, c, C, B, E, kx),
    )


def pure_side_force(
    m: MathFunctions, c: Any, state: Rolling, alpha: Any, gamma: Any, spin: TurnSlipFactors
) -> PureSideForce:
    """Fy in pure slip, at a slip angle and an inclination as the formula uses them."""
    dfz, dpi = normalized_changes(c, state)
    Fz, mu, nominal = state.Fz, c.LMUY * state.mu, c.LFZO * c.FNOMIN
    gamma = gamma * c.LGAY
    muy = (
        (c.PDY1 + c.PDY2 * dfz)
        * (1 + c.PPY3 * dpi + c.PPY4 * dpi**2)
        * (1 - c.PDY3 * gamma**2)
        * mu
    )
    C, D = c.PCY1 * c.LCY, muy * Fz * spin.z2
    K_max = c.PKY1 * nominal * (1 + c.PPY1 * dpi) * (1 - c.PKY3 * m.abs(gamma)) * spin.z3 * c.LKY
    K = K_max * m.sin(
        c.PKY4 * m.atan(Fz / nominal / ((c.PKY2 + c.PKY5 * gamma**2) * (1 + c.PPY2 * dpi)))
    )
    B = K / shifted_from_zero(m, C * D)
    camber = Fz * (c.PVY3 + c.PVY4 * dfz) * gamma * c.LKYC * mu * spin.z2
    K_camber = Fz * (c.PKY6 + c.PKY7 * dfz) * (1 + c.PPY5 * dpi) * c.LKYC
    shift_x = (c.PHY1 + c.PHY2 * dfz) * c.LHY
    if c.version == "5.2":
        shift_x = shift_x + c.PHY3 * gamma * c.LKYC
    elif spin.shift_yp is None:
        shift_x = shift_x + (K_camber * gamma - camber) / shifted_from_zero(m, K)
    else:
        shift_x = shift_x + spin.shift_yp - camber / shifted_from_zero(m, K)
    shift_x = shift_x * state.low
    shift_y = (Fz * (c.PVY1 + c.PVY2 * dfz) * c.LVY * mu * spin.z2 + camber) * state.low
    ay = alpha + shift_x
    sides = 1 + c.PEY5 * gamma**2 - (c.PEY3 + c.PEY4 * gamma) * sign(m, ay)
    E = m.min((c.PEY1 + c.PEY2 * dfz) * sides * c.LEY, 1.0)
    force = D * m.sin(C * magic_argument(m, B, E, ay)) + shift_y
    return PureSideForce(
        force, K, B, C, muy, shift_x, shift_y, camber, K_camber, relative_slope(m, c, C, B, E, ay)
    )


def combined_slip_weights(
    m: MathFunctions, c: Any, state: Rolling, alpha: Any, gamma: Any
) -> tuple[Any, Any]:
    """How much combined slip leaves of Fx and Fy: Gxa, Gyk."""
    dfz, _ = normalized_changes(c, state)
    Bx = (c.RBX1 + c.RBX3 * gamma**2) * cos_atan(m, c.RBX2 * state.kappa) * c.LXAL
    Ex = m.min(c.REX1 + c.REX2 * dfz, 1.0)
    By = (c.RBY1 + c.RBY4 * gamma**2) * cos_atan(m, c.RBY2 * (alpha - c.RBY3)) * c.LYKA
    Ey = m.min(c.REY1 + c.REY2 * dfz, 1.0)
    shift = c.RHY1 + c.RHY2 * dfz
    G_x = m.cos(c.RCX1 * magic_argument(m, Bx, Ex, alpha + c.RHX1)) / m.cos(
        c.RCX1 * magic_argument(m, Bx, Ex, c.RHX1)
    )
    G_y = m.cos(c.RCY1 * magic_argument(m, By, Ey, state.kappa + shift)) / m.cos(
        c.RCY1 * magic_argument(m, By, Ey, shift)
    )
    return G_x, G_y


def slip_induced_side_force(
    m: MathFunctions,
    c: Any,
    state: Rolling,
    alpha: Any,
    gamma: Any,
    muy: Any,
    spin: TurnSlipFactors,
) -> Any:
    """Side force that longitudinal slip brings about: SVyk."""
    dfz, _ = normalized_changes(c, state)
    D = (
        muy
        * state.Fz
        * (c.RVY1 + c.RVY2 * dfz + c.RVY3 * gamma)
        * cos_atan(m, c.RVY4 * alpha)
        * spin.z2
    )
    return D * m.sin(c.RVY5 * m.atan(c.RVY6 * state.kappa)) * c.LVYKA * state.low


def aligning_moment(
    m: MathFunctions,
    c: Any,
    state: Rolling,
    alpha: Any,
    gamma: Any,
    side: PureSideForce,
    pure: Any,
    Kxk: Any,
    Fx: Any,
    Fy: Any,
    spin: TurnSlipFactors,
) -> tuple[Any, Any]:
    """Mz and the pneumatic trail; `pure` is the side force that acts with the trail."""
    dfz, dpi = normalized_changes(c, state)
    R0, Fz, mu = c.UNLOADED_RADIUS, state.Fz, c.LMUY * state.mu
    lean, gamma = state.gamma * c.LGAZ, gamma * c.LGAZ
    forward = sign(m, state.Vx)
    K = shifted_from_zero(m, side.K)
    at_t = alpha + c.QHZ1 + c.QHZ2 * dfz + (c.QHZ3 + c.QHZ4 * dfz) * gamma
    at_r = alpha + side.shift_x + side.shift_y / K
    ratio = c.LKY / m.max(mu, ZERO_SHIFT)
    B = (
        (c.QBZ1 + c.QBZ2 * dfz + c.QBZ3 * dfz**2)
        * (1 + c.QBZ4 * lean + c.QBZ5 * m.abs(lean))
        * ratio
    )
    D = (c.QDZ1 + c.QDZ2 * dfz) * (1 - c.PPZ1 * dpi) * (1 + c.QDZ3 * lean + c.QDZ4 * lean**2)
    D = D * Fz * (R0 / c.FNOMIN) * c.LTR * spin.z5
    E = (c.QEZ1 + c.QEZ2 * dfz + c.QEZ3 * dfz**2) * (
        1 + (c.QEZ4 + c.QEZ5 * gamma) * (2 / math.pi) * m.atan(B * c.QCZ1 * at_t)
    )
    by_slip = (Kxk / K * state.kappa) ** 2 + TINY**2
    t_eq = m.atan(m.sqrt(m.tan(at_t) ** 2 + by_slip)) * sign(m, at_t)
    r_eq = m.atan(m.sqrt(m.tan(at_r) ** 2 + by_slip)) * sign(m, at_r)
    # Vx over the speed of the contact centre, whose part across is |Vx| tan(alpha)
    size = m.sqrt(1 + state.tangent(m) ** 2)
    cos_forward = state.Vx / (m.abs(state.Vx) * size + ZERO_SHIFT)
    cos_path = m.cos(alpha) if state.tan is None or c.form == "star" else 1 / size
    trail = D * m.cos(c.QCZ1 * magic_argument(m, B, m.min(E, 1.0), t_eq)) * cos_forward * state.low
    straight = (c.QDZ6 + c.QDZ7 * dfz) * c.LRES * spin.z2
    leaning = (c.QDZ8 + c.QDZ9 * dfz) * (1 + c.PPZ2 * dpi) + (c.QDZ10 + c.QDZ11 * dfz) * m.abs(
        gamma
    )
    D_r = Fz * R0 * (straight + leaning * gamma * c.LKZC * spin.z0) * mu * forward * cos_path
    B_r = (c.QBZ9 * ratio + c.QBZ10 * side.B * side.C) * spin.z6
    residual_Mz = D_r * cos_atan(m, B_r * r_eq) * state.low
    lever = R0 * (c.SSZ1 + c.SSZ2 * Fy / c.FNOMIN + (c.SSZ3 + c.SSZ4 * dfz) * lean) * c.LS
    return -trail * pure + residual_Mz + lever * Fx, trail


def overturning_moment(m: MathFunctions, c: Any, state: Rolling, Fy: Any) -> Any:
    """Mx."""
    _, dpi = normalized_changes(c, state)
    gamma, load, side = state.gamma, state.Fz / c.FNOMIN, Fy / c.FNOMIN
    turning = c.QSX1 * c.LVMX - c.QSX2 * gamma * (1 + c.PPMX1 * dpi) + c.QSX3 * side
    turning = turning + c.QSX10 * m.atan(c.QSX11 * load) * gamma
    turning = turning + c.QSX4 * m.cos(c.QSX5 * m.atan((c.QSX6 * load) ** 2)) * m.sin(
        c.QSX7 * gamma + c.QSX8 * m.atan(c.QSX9 * side)
    )
    camber_term = Fy * (c.QSX13 + c.QSX14 * m.abs(gamma)) - state.Fz * c.QSX12 * gamma * m.abs(
        gamma
    )
    return c.UNLOADED_RADIUS * c.LMX * (state.Fz * turning + camber_term)


def rolling_resistance_moment(m: MathFunctions, c: Any, state: Rolling, Fx: Any, rolls: Any) -> Any:
    """My; `rolls` is the rolling speed over the low one, between -1 and 1."""
    speed, load = state.Vx / c.LONGVL, state.Fz / c.FNOMIN
    size = c.QSY1 + c.QSY2 * Fx / c.FNOMIN + c.QSY3 * m.abs(speed) + c.QSY4 * speed**4
    if c.version == "5.2":
        size = size * load
    else:
        size = size + (c.QSY5 + c.QSY6 * load) * state.gamma**2
        size = size * _power_formula(load, c.QSY7) * _power_formula(state.p / c.NOMPRES, c.QSY8)
    return -c.UNLOADED_RADIUS * c.FNOMIN * c.LMY * size * m.sin(math.pi / 2 * rolls)


def _power_formula(x: Any, n: float) -> Any:
    return x**n if n else 1.0


def turn_slip_factors(m: MathFunctions, c: Any, state: Rolling) -> TurnSlipFactors:
    """Turn slip: factors of a path whose curvature the tyre sees."""
    dfz, _ = normalized_changes(c, state)
    R0, tan = c.UNLOADED_RADIUS, m.tan(state.alpha)
    eg = c.PECP1 * (1 + c.PECP2 * dfz)
    speed = m.max(m.abs(state.Vx) * m.sqrt(1 + tan**2), c.VXLOW)
    phi = R0 * (-state.phit - (1 - eg) * state.omega * m.sin(state.gamma) / speed)
    forward = sign(m, state.Vx)
    round_x = c.PDXP1 * (1 + c.PDXP2 * dfz) * cos_atan(m, c.PDXP3 * state.kappa) * phi
    size = m.abs(phi)
    root = c.PDYP4 * m.sqrt(size) if c.PDYP4 else 0.0
    round_y = c.PDYP1 * (1 + c.PDYP2 * dfz) * cos_atan(m, c.PDYP3 * tan) * (size + root)
    z3 = cos_atan(m, c.PKYP1 * phi**2)
    upright = pure_side_force(m, c, state, state.alpha, 0.0, TurnSlipFactors(z3=z3))
    D = (c.PHYP2 + c.PHYP3 * dfz) * forward
    sway: Any = 0.0
    if c.PHYP1 and (c.PHYP2 or c.PHYP3):
        B = upright.K_camber / (1 - eg) / (c.PHYP1 * D * upright.K)
        sway = D * m.sin(c.PHYP1 * magic_argument(m, B, c.PHYP4, phi)) * forward
    return TurnSlipFactors(
        0.0,
        cos_atan(m, round_x),
        cos_atan(m, round_y),
        z3,
        cos_atan(m, c.QDTP1 * phi),
        cos_atan(m, c.QBRP1 * phi),
        sway,
    )


def steady_forces(m: MathFunctions, c: Any, state: Rolling, rolls: Any) -> dict[str, Any]:
    """All of it: forces and moments, and what belongs to them."""
    star = c.form == "star"
    alpha = m.tan(state.alpha) * sign(m, state.Vx) if star else state.alpha
    gamma = m.sin(state.gamma) if star else state.gamma
    spin = TurnSlipFactors() if state.phit is None else turn_slip_factors(m, c, state)
    Fx0, Kxk, mux, slope_x = pure_longitudinal_force(m, c, state, spin)
    side = pure_side_force(m, c, state, alpha, gamma, spin)
    Gx, Gy = combined_slip_weights(m, c, state, alpha, gamma)
    Svyk = slip_induced_side_force(m, c, state, alpha, gamma, side.mu, spin)
    Fx, Fy = Gx * Fx0, Gy * side.force + Svyk
    upright = (
        side if c.version == "5.2" else pure_side_force(m, c, state, alpha, 0.0, TurnSlipFactors())
    )
    Mz, trail = aligning_moment(
        m, c, state, alpha, gamma, side, Gy * upright.force, Kxk, Fx, Fy, spin
    )
    return {
        "Fx": Fx,
        "Fy": Fy,
        "Mx": overturning_moment(m, c, state, Fy),
        "My": rolling_resistance_moment(m, c, state, Fx, rolls),
        "Mz": Mz,
        "mux": mux,
        "muy": side.mu,
        "Kxk": Kxk,
        "Kya": side.K,
        "trail": trail,
        **({"slope_x": slope_x, "slope_y": side.slope} if c.nonlinear else {}),
    }


def carcass_stiffness(c: Any, state: Rolling) -> tuple[Any, Any]:
    """Stiffness of the carcass along and across (6.1, 6.2)."""
    dfz, dpi = normalized_changes(c, state)
    Cx = c.LONGITUDINAL_STIFFNESS * (1 + c.PCFX1 * dfz + c.PCFX2 * dfz**2) * (1 + c.PCFX3 * dpi)
    Cy = c.LATERAL_STIFFNESS * (1 + c.PCFY1 * dfz + c.PCFY2 * dfz**2) * (1 + c.PCFY3 * dpi)
    return Cx, Cy


def relaxation_lengths(
    m: MathFunctions, c: Any, state: Rolling, Kxk: Any, Kya: Any
) -> tuple[Any, Any]:
    """Relaxation lengths along and across; of a common tyre where the file does not determine."""
    R0, nominal = c.UNLOADED_RADIUS, c.LFZO * c.FNOMIN
    if c.version == "5.2" and c.PTX1 and c.PTY1 and c.PTY2:
        dfz, _ = normalized_changes(c, state)
        long = state.Fz * (c.PTX1 + c.PTX2 * dfz) * m.exp(-c.PTX3 * dfz) * (R0 / c.FNOMIN) * c.LSGKP
        side = (
            c.PTY1
            * m.sin(2 * m.atan(state.Fz / (c.PTY2 * nominal)))
            * (1 - c.PKY3 * m.abs(state.gamma))
        )
        return long, side * R0 * c.LFZO * c.LSGAL
    if c.version == "5.2" or not c.carcass:
        return DEFAULT_RELAXATION[0] * R0 * state.Fz / nominal, DEFAULT_RELAXATION[
            1
        ] * R0 * state.Fz / nominal
    Cx, Cy = carcass_stiffness(c, state)
    return m.abs(Kxk) / Cx, m.abs(Kya) / Cy


def free_radius(c: Any, omega: Any) -> Any:
    """Radius of the turning wheel without load."""
    return c.UNLOADED_RADIUS * (c.Q_RE0 + c.Q_V1 * (omega * c.UNLOADED_RADIUS / c.LONGVL) ** 2)


def vertical_stiffness(c: Any, p: Any) -> Any:
    """Stiffness at the nominal load."""
    return c.VERTICAL_STIFFNESS * (
        1.0 if c.version == "5.2" else 1 + c.PFZ1 * (p - c.NOMPRES) / c.NOMPRES
    )


def rolling_radius(m: MathFunctions, c: Any, Fz: Any, omega: Any, p: Any) -> Any:
    """Effective rolling radius."""
    load = Fz / c.FNOMIN
    sunk = c.DREFF * m.atan(c.BREFF * load) + c.FREFF * load
    return free_radius(c, omega) - c.FNOMIN / vertical_stiffness(c, p) * sunk
