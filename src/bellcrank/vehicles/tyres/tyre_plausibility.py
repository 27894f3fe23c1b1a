"""What of a Magic Formula tyre is not as tyres are: its data, and the forces that they produce.

A coefficient by itself says little, so most is judged by the behaviour of the tyre at its nominal
load: friction, stiffnesses, forces at zero slip, trail, deflection. A message has the value, what
is usual, and the coefficients that may be the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from bellcrank.vehicles.likely_slips import UNIT_SLIPS, likely_cause
from bellcrank.vehicles.tyres.magic_keys import SCALES, expand_key_range

__all__: list[str] = []

COMMON = "relaxation lengths are taken as those of a common tyre"
STIFFNESS_KEYS = ("PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1")
STIFFNESS_SCALES = ("LCX", "LMUX", "LKX", "LCY", "LMUY", "LKY")
LOADS = np.array([0.5, 1.0, 1.5])  # over the nominal load
NOMINAL = 1  # of LOADS
SLIPS = np.linspace(-0.5, 0.5, 101)
ANGLES = np.linspace(-0.5, 0.5, 101)  # rad
COMBINED_SLIP, COMBINED_ANGLE = 0.1, 0.1
CAMBER = math.radians(4.0)
FAST = 50.0  # m/s
MOST_MEASURES = 6  # that are reported: one wrong coefficient shows in several
MOST_KEYS = 4  # that a message names
PRESSURE_RATIO = 1.1


class PlausibleTyre(Protocol):
    """A tyre by its coefficients, as far as it is checked here."""

    @property
    def version(self) -> str: ...
    def __getitem__(self, key: str) -> float: ...
    def forces(
        self,
        Fz: Any,
        kappa: Any,
        alpha: Any,
        gamma: Any = 0.0,
        p: Any = None,
        V: Any = None,
        *,
        limits: bool = True,
    ) -> Any: ...


class UsualKey(NamedTuple):
    """Between what the number of a key lies, over the product of other keys if they are named."""

    low: float
    high: float
    quantity: str = ""
    over: str = ""


SYMMETRIC_BOUNDS = {  # largest amounts of coefficients that measured tyres have
    0.005: "Q_V1 QSY4",
    0.01: "QSY3",
    0.02: "QDZ6-7 QHZ1-2",
    0.05: "PHX1-2 PHY1-2 QSX3 RHX1",
    0.08: "SSZ1",
    0.1: "PVX1-2 RHY1-2",
    0.2: "QSX1 SSZ2 PVY1-2",
    0.5: "Q_V2 PHY3 RBY3 RVY1",
    1.0: "QHZ3-4 QDZ8-9 RVY2",
    1.5: "PCFX1-3 PCFY1-3 PCMZ1",
    2.0: "PEX4 PKX3 PPX1-4 PPY1-5 PPZ1-2 QBZ4-5 QEZ4 QSX7-8 QSX10 QSY8",
    3.0: "PKY3 PTX2-3 QDZ3 QDZ10-11 QSX2 RVY3 SSZ3-4 Q_FCX Q_FCY Q_BVX Q_BVT Q_RA2 Q_RB2 QTZ1",
    5.0: "PKY5 PKY7 PVY3-4 QBZ10 QEZ5 QSX9 PDXP1-3 PKYP1 PDYP1-3 PHYP1-3 PECP1-2 QCRP1-2 QBRP1",
    10.0: "PEX2-3 PEY2 REX2 REY2 QBZ3 RVY5 PHYP4 QDRP1-2",
    20.0: "PDX3 PDY3 QBZ2 QEZ2-3 QSX4-5 PDYP4 RBY4",
    50.0: "PKX2 RBX2 RBY2 QDZ4 QSX11",
    100.0: "PEY3 QBZ9 QSX6 Q_FZ2-3 RVY6",
    200.0: "RBX3 RVY4",
    1000.0: "PEY4-5",
}
WHEEL = "MASS UNLOADED_RADIUS UNLOADED_RADIUS"
BELT = "BELT_MASS UNLOADED_RADIUS UNLOADED_RADIUS"
CARCASS = "VERTICAL_STIFFNESS UNLOADED_RADIUS UNLOADED_RADIUS"
USUAL_KEYS = {  # zero counts as not given
    "UNLOADED_RADIUS": UsualKey(0.1, 1.0, "length"),
    "WIDTH": UsualKey(0.15, 1.6, "length", "UNLOADED_RADIUS"),
    "RIM_RADIUS": UsualKey(0.3, 0.97, "length", "UNLOADED_RADIUS"),
    "RIM_WIDTH": UsualKey(0.4, 1.4, "length", "WIDTH"),
    "ASPECT_RATIO": UsualKey(0.2, 1.2),
    "INFLPRES": UsualKey(0.3, 3.0, "pressure", "NOMPRES"),
    "NOMPRES": UsualKey(3e4, 1.5e6, "pressure"),
    "PRESMIN": UsualKey(0.1, 1.0, "pressure", "NOMPRES"),
    "PRESMAX": UsualKey(1.0, 5.0, "pressure", "NOMPRES"),
    "VERTICAL_STIFFNESS": UsualKey(2e4, 3e6, "stiffness"),
    "FNOMIN": UsualKey(150.0, 80e3, "force"),
    "FZMIN": UsualKey(0.0, 0.95, "force", "FNOMIN"),
    "FZMAX": UsualKey(1.05, 12.0, "force", "FNOMIN"),
    "KPUMIN": UsualKey(-5.0, -0.03),
    "KPUMAX": UsualKey(0.03, 5.0),
    "ALPMIN": UsualKey(-1.6, math.radians(-3.0), "angle"),
    "ALPMAX": UsualKey(math.radians(3.0), 1.6, "angle"),
    "CAMMIN": UsualKey(-1.6, math.radians(-0.5), "angle"),
    "CAMMAX": UsualKey(math.radians(0.5), 1.6, "angle"),
    "LONGVL": UsualKey(1.0, 100.0, "speed"),
    "VXLOW": UsualKey(0.02, 8.0, "speed"),
    "MASS": UsualKey(0.3, 200.0, "mass"),
    "BELT_MASS": UsualKey(0.3, 1.0, "mass", "MASS"),
    "IXX": UsualKey(0.15, 0.8, over=WHEEL),
    "IYY": UsualKey(0.25, 1.2, over=WHEEL),
    "BELT_IXX": UsualKey(0.15, 0.8, over=BELT),
    "BELT_IYY": UsualKey(0.25, 1.2, over=BELT),
    "YAW_STIFFNESS": UsualKey(0.02, 3.0, over=CARCASS),
    "VERTICAL_DAMPING": UsualKey(2.0, 6000.0, "damping"),
    "LONGITUDINAL_STIFFNESS": UsualKey(0.3, 8.0, "stiffness", "VERTICAL_STIFFNESS"),
    "LATERAL_STIFFNESS": UsualKey(0.1, 3.0, "stiffness", "VERTICAL_STIFFNESS"),
    "FREQ_LONG": UsualKey(15.0, 250.0),
    "FREQ_LAT": UsualKey(10.0, 200.0),
    "FREQ_YAW": UsualKey(10.0, 250.0),
    "FREQ_WINDUP": UsualKey(10.0, 250.0),
    "DAMP_LONG": UsualKey(0.002, 0.5),
    "DAMP_LAT": UsualKey(0.002, 0.5),
    "DAMP_YAW": UsualKey(0.001, 0.5),
    "DAMP_WINDUP": UsualKey(0.002, 0.5),
    "DAMP_RESIDUAL": UsualKey(1e-4, 0.2),
    "ELLIPS_SHIFT": UsualKey(0.3, 1.5),
    "ELLIPS_LENGTH": UsualKey(0.5, 3.0),
    "ELLIPS_HEIGHT": UsualKey(0.3, 2.0),
    "ELLIPS_ORDER": UsualKey(1.0, 3.0),
    "ELLIPS_MAX_STEP": UsualKey(0.02, 0.5, "length", "UNLOADED_RADIUS"),
    "BREFF": UsualKey(0.5, 30.0),
    "DREFF": UsualKey(-0.2, 1.5),
    "FREFF": UsualKey(-0.1, 1.0),
    "Q_RE0": UsualKey(0.9, 1.1),
    "BOTTOM_STIFF": UsualKey(0.5, 50.0, "stiffness", "VERTICAL_STIFFNESS"),
    "BOTTOM_OFFST": UsualKey(0.005, 0.3, "length", "UNLOADED_RADIUS"),
    **{key: UsualKey(0.1, 5.0) for key in SCALES if key != "LMUV"},
    "LMUV": UsualKey(0.0, 1.0),
    "PCX1": UsualKey(1.1, 2.2),
    "PDX1": UsualKey(0.3, 2.5),
    "PEX1": UsualKey(-20.0, 1.2),
    "PKX1": UsualKey(5.0, 100.0),
    "RBX1": UsualKey(2.0, 80.0),
    "RCX1": UsualKey(0.5, 2.0),
    "REX1": UsualKey(-20.0, 1.2),
    "PTX1": UsualKey(0.05, 8.0),
    "PCY1": UsualKey(1.0, 2.2),
    "PDY1": UsualKey(0.3, 2.5),
    "PEY1": UsualKey(-20.0, 1.2),
    "PKY1": UsualKey(-120.0, -4.0),
    "PKY2": UsualKey(0.2, 8.0),
    "PKY4": UsualKey(1.0, 4.0),
    "RBY1": UsualKey(2.0, 80.0),
    "RCY1": UsualKey(0.5, 2.0),
    "REY1": UsualKey(-20.0, 1.2),
    "PTY1": UsualKey(0.05, 8.0),
    "PTY2": UsualKey(0.2, 8.0),
    "QSY1": UsualKey(0.001, 0.06),
    "QBZ1": UsualKey(2.0, 60.0),
    "QCZ1": UsualKey(0.7, 2.5),
    "QDZ1": UsualKey(0.01, 0.6),
    "QEZ1": UsualKey(-15.0, 1.2),
    "PKY6": UsualKey(-8.0, 0.5),
    "PFZ1": UsualKey(0.1, 1.5),
    "Q_RA1": UsualKey(0.05, 3.0),
    "Q_RB1": UsualKey(0.1, 5.0),
    "QDTP1": UsualKey(0.5, 50.0),
    "QSY7": UsualKey(0.2, 2.0),
    "MBELT": UsualKey(0.2, 100.0, "mass"),
    **{
        key: UsualKey(-bound, bound)
        for bound, words in SYMMETRIC_BOUNDS.items()
        for word in words.split()
        for key in expand_key_range(word)
    },
}
DIMENSION_UNITS = {
    "length": "m",
    "force": "N",
    "pressure": "Pa",
    "angle": "rad",
    "speed": "m/s",
    "mass": "kg",
    "stiffness": "N/m",
    "damping": "N s/m",
}


def missing_stiffness_problems(numbers: Mapping[str, float]) -> list[str]:
    """Coefficients without which a tyre has no force at any slip, and scale factors that remove
    them."""
    problems = []
    for key in STIFFNESS_KEYS:
        if not numbers.get(key):
            state = f"{key} = 0" if key in numbers else f"{key} is missing"
            axis = "longitudinal" if "X" in key else "lateral"
            usual = USUAL_KEYS[key]
            problems.append(
                f"{state}: the tyre has no {axis} force at any slip without it; usual is "
                f"{usual.low:g} to {usual.high:g}"
            )
    for key in STIFFNESS_SCALES:
        if numbers.get(key) == 0:
            axis = "longitudinal" if "X" in key else "lateral"
            problems.append(
                f"{key} = 0: this scale factor takes all {axis} force from the tyre; usual is 1"
            )
    return problems


def implausible_properties(tyre: PlausibleTyre) -> list[str]:
    """What of a set of coefficients is not as a tyre should be: its data, what it produces."""
    unusual = _unusual_keys(tyre)
    suspects = {name for key in unusual for name in (key, *USUAL_KEYS[key].over.split())}
    messages = [*unusual.values(), *_impossible_curves(tyre)]
    behaviour = _behaviour(tyre)
    if behaviour is not None:
        found = (
            _unusual_measure(tyre, measure, behaviour, suspects)
            for measure in MEASURES
            if not suspects or suspects & set(measure.keys.split())
        )
        messages += list(filter(None, found))[:MOST_MEASURES]
    if tyre.version != "5.2":
        linear_limit = tyre["VERTICAL_STIFFNESS"] * tyre["UNLOADED_RADIUS"] / tyre["FNOMIN"]
        if 4 * tyre["Q_FZ2"] > linear_limit**2:
            messages.append(
                "Q_FZ2 is too large for VERTICAL_STIFFNESS: the stiffness at the nominal "
                "load is another one"
            )
        if tyre["LONGITUDINAL_STIFFNESS"] <= 0 or tyre["LATERAL_STIFFNESS"] <= 0:
            messages.append(f"LONGITUDINAL_STIFFNESS or LATERAL_STIFFNESS is missing: {COMMON}")
    elif not (tyre["PTX1"] and tyre["PTY1"] and tyre["PTY2"]):
        messages.append(f"PTX1, PTY1 or PTY2 is missing: {COMMON}")
    return messages


# ---- data


def _unusual_keys(tyre: PlausibleTyre) -> dict[str, str]:
    """Messages about unusual numbers, by key. Those that are unusual only in relation to one of
    these are omitted."""
    found: dict[str, str] = {}
    for key, usual in USUAL_KEYS.items():
        others = usual.over.split()
        scale = math.prod(tyre[other] for other in others)
        value, low, high = tyre[key], usual.low * scale, usual.high * scale
        comparable = scale > 0 and value != 0 and math.isfinite(value)
        if not comparable or low <= value <= high or found.keys() & others:
            continue
        unit = DIMENSION_UNITS.get(usual.quantity, "")
        words = " ".join(filter(None, (f"{low:.6g} to {high:.6g}", unit)))
        if others:
            words += f" with {' and '.join(dict.fromkeys(others))} of this tyre"
        cause = likely_cause(value, (low, high), UNIT_SLIPS.get(usual.quantity), unit)
        found[key] = " ".join(filter(None, (f"{key} = {value:.6g}", unit))) + f": usual is {words}"
        found[key] += f". {cause}" if cause else ""
    return found


# ---- curves over the range of loads


def _impossible_curves(tyre: PlausibleTyre) -> list[str]:
    """Signs that no tyre has, over the range of loads."""
    messages = []
    top = tyre["FZMAX"] if math.isfinite(tyre["FZMAX"]) else 2.5 * tyre["FNOMIN"]
    loads = np.linspace(
        max(tyre["FZMIN"], 0.05 * tyre["FNOMIN"]) if tyre["FZMIN"] < top else 0.0, top, 25
    )
    forces = tyre.forces(loads, 0.0, 0.0, limits=False)
    curves = {key: np.asarray(forces[key]) for key in ("mux", "muy", "Kxk", "Kya", "Re")}
    if not all(np.all(np.isfinite(v)) for v in curves.values()):
        return ["the coefficients give no finite forces over the range of loads"]
    for key, label in (
        ("mux", "friction along"),
        ("muy", "friction across"),
        ("Kxk", "slip stiffness"),
    ):
        if np.any(curves[key] <= 0):
            failing_loads = loads[curves[key] <= 0]
            messages.append(
                f"{key}, the {label}, is not positive at a load of {failing_loads[0]:g} N"
            )
    if np.any(curves["Kya"] >= 0):
        failing_loads = loads[curves["Kya"] >= 0]
        messages.append(
            f"Kya, the cornering stiffness, is not negative at a load of "
            f"{failing_loads[0]:g} N: are the axes ISO-W?"
        )
    if np.any(curves["Re"] <= 0):
        messages.append("the effective rolling radius is not positive over the range of loads")
    return messages


# ---- behaviour at the nominal load


class TyreBehaviour(NamedTuple):
    """Forces of some motions, by name; moments are over load and radius."""

    load: float
    radius: float
    rolling: Any  # free rolling, at LOADS
    slip: Any  # pure slip at the nominal load, at SLIPS
    angle: Any  # pure slip angle at the nominal load, at ANGLES
    cambered: Any  # inclined by CAMBER to the left and to the right, free rolling
    braked_turn: Any  # both slips, all four signs
    fast: Any  # free rolling at FAST
    inflated: Any  # free rolling at more pressure


class TyreMeasure(NamedTuple):
    """A measure of the behaviour: words, its value or values, what is usual, and the coefficients
    that it follows from."""

    label: str
    value: Callable[[TyreBehaviour], Any]
    usual: tuple[float, float]
    keys: str
    unit: str = ""


def _behaviour(tyre: PlausibleTyre) -> TyreBehaviour | None:
    """The behaviour of a tyre; None where its forces are not finite."""
    load, radius = tyre["FNOMIN"], tyre["UNLOADED_RADIUS"]
    signs = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    slips, angles = COMBINED_SLIP * signs[:, 0], COMBINED_ANGLE * signs[:, 1]
    roll: dict[str, Any] = {"limits": False}
    with np.errstate(all="ignore"):
        found = (
            tyre.forces(LOADS * load, 0.0, 0.0, **roll),
            tyre.forces(load, SLIPS, 0.0, **roll),
            tyre.forces(load, 0.0, ANGLES, **roll),
            tyre.forces(load, 0.0, 0.0, np.array([-CAMBER, CAMBER]), **roll),
            tyre.forces(load, slips, angles, **roll),
            tyre.forces(load, 0.0, 0.0, V=FAST, **roll),
            tyre.forces(load, 0.0, 0.0, p=PRESSURE_RATIO * tyre["INFLPRES"], **roll),
        )
    if not all(np.all(np.isfinite(f[k])) for f in found for k in ("Fx", "Fy", "Mx", "My", "Mz")):
        return None
    return TyreBehaviour(load, radius, *found)


def _peak(values: Any, b: TyreBehaviour) -> np.ndarray:
    """Largest force to either side over the load."""
    force = np.asarray(values) / b.load
    return np.array([-np.min(force), np.max(force)])


def _drop(values: Any, sign: int) -> np.ndarray:
    """Forces at both ends of a curve over the largest ones; positive where they keep the side.

    `sign`: of the force at the upper end of a usual curve.
    """
    force = sign * np.asarray(values)
    return np.array([-force[0] / -np.min(force), force[-1] / np.max(force)])


def _middle(b: TyreBehaviour, motion: Any, key: str) -> float:
    """A number of free rolling at the nominal load."""
    return float(np.asarray(motion[key]).ravel()[NOMINAL])


def _moment(b: TyreBehaviour, motion: Any, key: str) -> Any:
    return np.asarray(motion[key]) / (b.load * b.radius)


def _ratio(b: TyreBehaviour, motion: Any, key: str) -> Any:
    """A number of another motion over that of free rolling at the nominal load."""
    return np.asarray(motion[key]) / _middle(b, b.rolling, key)


def _over_load(b: TyreBehaviour, key: str) -> Any:
    values = np.asarray(b.rolling[key])
    return values / values[NOMINAL]


def _at(curve: Any, key: str, argument: np.ndarray, value: float) -> float:
    return float(np.interp(value, argument, np.asarray(curve[key])))


def _combined_over_pure(b: TyreBehaviour, key: str) -> Any:
    """Forces of combined slip over those of pure slip."""
    signs = np.array([-1, -1, 1, 1]) if key == "Fx" else np.array([-1, 1, -1, 1])
    curve, argument, size = (
        (b.slip, SLIPS, COMBINED_SLIP) if key == "Fx" else (b.angle, ANGLES, COMBINED_ANGLE)
    )
    pure = np.array([_at(curve, key, argument, size * s) for s in signs])
    return np.asarray(b.braked_turn[key]) / pure


def _rolling_resistance(b: TyreBehaviour) -> Any:
    """Over the load; no number where a tyre has none at all."""
    moment = _moment(b, b.rolling, "My")
    return -moment / LOADS if np.any(moment) else math.nan


def _overturning_lever(b: TyreBehaviour) -> np.ndarray:
    """Lateral movement of the contact by the side force, over the radius: to the side to which the
    force points."""
    ends = -COMBINED_ANGLE, COMBINED_ANGLE
    moment, force = (
        np.diff([_at(b.angle, key, ANGLES, angle) for angle in ends]) for key in ("Mx", "Fy")
    )
    return np.asarray(moment / (force * b.radius))


def _camber_thrust(b: TyreBehaviour) -> float:
    right, left = np.asarray(b.cambered["Fy"])[::-1]
    return float((right - left) / (2 * math.degrees(CAMBER) * b.load))


def _unusual_measure(
    tyre: PlausibleTyre, measure: TyreMeasure, b: TyreBehaviour, suspects: Collection[str]
) -> str:
    """What is unusual about a measure, and which coefficients to look at: those of the suspects
    that it follows from, or all. Empty if nothing is."""
    low, high = measure.usual
    with np.errstate(all="ignore"):
        values = np.atleast_1d(np.asarray(measure.value(b), dtype=float)).ravel()
    values = values[np.isfinite(values)]
    excess = np.maximum(low - values, values - high)
    if not np.any(excess > 0):
        return ""
    unit = f" {measure.unit}" if measure.unit else ""
    keys = measure.keys.split()
    given = [key for key in keys if key in suspects] or [key for key in keys if tyre[key] != 0]
    causes = [f"{key} = {tyre[key]:.4g}" for key in given[:MOST_KEYS]]
    advice = f"Look at {', '.join(causes)}" if causes else f"{keys[0]} is missing"
    worst = values[np.argmax(excess)]
    return f"{measure.label} is {worst:.4g}{unit}; usual is {low:g} to {high:g}{unit}. {advice}"


FRICTION_X = "PDX1 PDX2 LMUX"
FRICTION_Y = "PDY1 PDY2 LMUY"
SHAPE_X = "PCX1 PEX1 PEX2 PEX3 PEX4 PKX1 PHX1 PVX1"
SHAPE_Y = "PCY1 PEY1 PEY2 PEY3 PEY4 PKY1 PHY1 PVY1"
MEASURES = (
    TyreMeasure("friction along, mux", lambda b: b.rolling["mux"], (0.3, 2.5), FRICTION_X),
    TyreMeasure("friction across, muy", lambda b: b.rolling["muy"], (0.3, 2.5), FRICTION_Y),
    TyreMeasure(
        "friction along over that at the nominal load",
        lambda b: _over_load(b, "mux"),
        (0.75, 1.3),
        "PDX2",
    ),
    TyreMeasure(
        "friction across over that at the nominal load",
        lambda b: _over_load(b, "muy"),
        (0.75, 1.3),
        "PDY2",
    ),
    TyreMeasure(
        "slip stiffness over load, Kxk/Fz",
        lambda b: np.asarray(b.rolling["Kxk"]) / np.asarray(b.rolling["Fz"]),
        (5.0, 100.0),
        "PKX1 PKX2 PKX3 LKX",
    ),
    TyreMeasure(
        "cornering stiffness over load, -Kya/Fz",
        lambda b: -_middle(b, b.rolling, "Kya") / b.load,
        (5.0, 60.0),
        "PKY1 PKY2 PKY4 LKY",
        "1/rad",
    ),
    TyreMeasure(
        "cornering stiffness over that at the nominal load",
        lambda b: _over_load(b, "Kya"),
        (0.4, 1.6),
        "PKY1 PKY2 PKY4",
    ),
    TyreMeasure(
        "slip stiffness over that at the nominal load",
        lambda b: _over_load(b, "Kxk"),
        (0.3, 2.0),
        "PKX2 PKX3",
    ),
    TyreMeasure(
        "side force over load at zero slip, Fy/Fz",
        lambda b: np.asarray(b.rolling["Fy"]) / np.asarray(b.rolling["Fz"]),
        (-0.1, 0.1),
        "PHY1 PHY2 PVY1 PVY2",
    ),
    TyreMeasure(
        "longitudinal force over load at zero slip, Fx/Fz",
        lambda b: np.asarray(b.rolling["Fx"]) / np.asarray(b.rolling["Fz"]),
        (-0.1, 0.1),
        "PHX1 PHX2 PVX1 PVX2",
    ),
    TyreMeasure(
        "largest longitudinal force over friction and load",
        lambda b: _peak(b.slip["Fx"], b) / _middle(b, b.rolling, "mux"),
        (0.75, 1.15),
        SHAPE_X,
    ),
    TyreMeasure(
        "largest side force over friction and load",
        lambda b: _peak(b.angle["Fy"], b) / _middle(b, b.rolling, "muy"),
        (0.75, 1.15),
        SHAPE_Y,
    ),
    TyreMeasure(
        "longitudinal force at a slip of 0.5 over the largest",
        lambda b: _drop(b.slip["Fx"], 1),
        (0.4, 1.01),
        SHAPE_X,
    ),
    TyreMeasure(
        "side force at a slip angle of 0.5 rad over the largest",
        lambda b: _drop(b.angle["Fy"], -1),
        (0.4, 1.01),
        SHAPE_Y,
    ),
    TyreMeasure(
        "longitudinal force at a slip of 0.1 over friction and load",
        lambda b: (
            np.array([-_at(b.slip, "Fx", SLIPS, -0.1), _at(b.slip, "Fx", SLIPS, 0.1)])
            / (b.load * _middle(b, b.rolling, "mux"))
        ),
        (0.35, 1.15),
        SHAPE_X,
    ),
    TyreMeasure(
        "side force at a slip angle of 0.1 rad over friction and load",
        lambda b: (
            np.array([_at(b.angle, "Fy", ANGLES, -0.1), -_at(b.angle, "Fy", ANGLES, 0.1)])
            / (b.load * _middle(b, b.rolling, "muy"))
        ),
        (0.4, 1.15),
        SHAPE_Y,
    ),
    TyreMeasure(
        "overturning moment over load, radius and inclination",
        lambda b: np.diff(_moment(b, b.cambered, "Mx")) / (2 * math.degrees(CAMBER)),
        (-0.04, 0.002),
        "QSX2 QSX10 QSX11",
        "1/deg",
    ),
    TyreMeasure(
        "camber thrust over load and inclination",
        _camber_thrust,
        (-0.06, 0.003),
        "PKY6 PKY7 PVY3 PVY4 PHY3 PKY3",
        "1/deg",
    ),
    TyreMeasure(
        "friction across at an inclination of 4 deg over that without",
        lambda b: _ratio(b, b.cambered, "muy"),
        (0.85, 1.05),
        "PDY3",
    ),
    TyreMeasure(
        "cornering stiffness at an inclination of 4 deg over that without",
        lambda b: _ratio(b, b.cambered, "Kya"),
        (0.8, 1.15),
        "PKY3 PKY5",
    ),
    TyreMeasure(
        "friction along at an inclination of 4 deg over that without",
        lambda b: _ratio(b, b.cambered, "mux"),
        (0.85, 1.05),
        "PDX3",
    ),
    TyreMeasure(
        "pneumatic trail over radius",
        lambda b: np.asarray(b.rolling["trail"]) / b.radius,
        (0.01, 0.5),
        "QDZ1 QDZ2 QBZ1 QCZ1",
    ),
    TyreMeasure(
        "aligning moment over load and radius at zero slip",
        lambda b: _moment(b, b.rolling, "Mz") / LOADS,
        (-0.03, 0.03),
        "QDZ6 QDZ7 QHZ1 QHZ2",
    ),
    TyreMeasure(
        "aligning moment over load and radius, up to a slip angle of 0.5 rad",
        lambda b: _moment(b, b.angle, "Mz"),
        (-0.15, 0.15),
        "QDZ1 QBZ1 QCZ1 QEZ1 QDZ6",
    ),
    TyreMeasure(
        "aligning moment over load and radius at a slip angle of 0.5 rad",
        lambda b: _moment(b, b.angle, "Mz")[[0, -1]],
        (-0.05, 0.05),
        "QDZ1 QBZ1 QCZ1 QEZ1 QEZ2 QBZ9 QDZ6",
    ),
    TyreMeasure(
        "aligning moment over load and radius at an inclination of 4 deg",
        lambda b: _moment(b, b.cambered, "Mz"),
        (-0.05, 0.05),
        "QDZ8 QDZ9 QHZ3 QHZ4",
    ),
    TyreMeasure(
        "overturning moment over load and radius at zero slip",
        lambda b: _moment(b, b.rolling, "Mx") / LOADS,
        (-0.05, 0.05),
        "QSX1",
    ),
    TyreMeasure(
        "overturning moment over load and radius, up to a slip angle of 0.5 rad",
        lambda b: _moment(b, b.angle, "Mx"),
        (-0.15, 0.15),
        "QSX3 QSX4 QSX5 QSX6 QSX7 QSX8",
    ),
    TyreMeasure(
        "overturning moment over side force and radius",
        _overturning_lever,
        (-0.005, 0.2),
        "QSX3 QSX4 QSX5 QSX6 QSX7",
    ),
    TyreMeasure(
        "overturning moment over load and radius at an inclination of 4 deg",
        lambda b: _moment(b, b.cambered, "Mx"),
        (-0.2, 0.2),
        "QSX2 QSX10 QSX11",
    ),
    TyreMeasure(
        "rolling resistance over load",
        _rolling_resistance,
        (0.001, 0.05),
        "QSY1 QSY2 QSY7 QSY8 LMY",
    ),
    TyreMeasure(
        "rolling resistance over load at 50 m/s",
        lambda b: -_moment(b, b.fast, "My"),
        (0.0, 0.06),
        "QSY1 QSY3 QSY4",
    ),
    TyreMeasure(
        "effective rolling radius over radius",
        lambda b: np.asarray(b.rolling["Re"]) / b.radius,
        (0.88, 1.03),
        "Q_RE0 BREFF DREFF FREFF VERTICAL_STIFFNESS",
    ),
    TyreMeasure(
        "effective rolling radius at 50 m/s over radius",
        lambda b: np.asarray(b.fast["Re"]) / b.radius,
        (0.88, 1.08),
        "Q_V1 LONGVL",
    ),
    TyreMeasure(
        "vertical deflection over radius at the nominal load",
        lambda b: _middle(b, b.rolling, "rho") / b.radius,
        (0.03, 0.2),
        "VERTICAL_STIFFNESS FNOMIN UNLOADED_RADIUS INFLPRES PFZ1",
    ),
    TyreMeasure(
        "vertical deflection at 50 m/s over that at the speed of the measurements",
        lambda b: _ratio(b, b.fast, "rho"),
        (0.5, 1.3),
        "Q_V1 Q_V2",
    ),
    TyreMeasure(
        "relaxation length along over radius",
        lambda b: _middle(b, b.rolling, "sigma_x") / b.radius,
        (0.05, 6.0),
        "LONGITUDINAL_STIFFNESS PCFX1 PTX1 PTX2 PTX3 PKX1",
    ),
    TyreMeasure(
        "relaxation length across over radius",
        lambda b: _middle(b, b.rolling, "sigma_y") / b.radius,
        (0.15, 6.0),
        "LATERAL_STIFFNESS PCFY1 PCFY3 PTY1 PTY2 PKY1",
    ),
    TyreMeasure(
        "half length of the contact over radius",
        lambda b: _middle(b, b.rolling, "a") / b.radius,
        (0.08, 0.5),
        "Q_RA1 Q_RA2 QA1 QA2",
    ),
    TyreMeasure(
        "half width of the contact over radius",
        lambda b: _middle(b, b.rolling, "b") / b.radius if "b" in b.rolling else math.nan,
        (0.05, 0.7),
        "Q_RB1 Q_RB2 WIDTH",
    ),
    TyreMeasure(
        "longitudinal force at combined slip over that of pure slip",
        lambda b: _combined_over_pure(b, "Fx"),
        (0.3, 1.03),
        "RBX1 RBX2 RCX1 REX1 REX2 RHX1",
    ),
    TyreMeasure(
        "side force at combined slip over that of pure slip",
        lambda b: _combined_over_pure(b, "Fy"),
        (0.3, 1.1),
        "RBY1 RBY2 RBY3 RCY1 REY1 REY2 RHY1 RVY1 RVY4 RVY5 RVY6",
    ),
    TyreMeasure(
        "side force over load by longitudinal slip alone",
        lambda b: np.asarray(b.slip["Fy"]) / b.load,
        (-0.12, 0.12),
        "RVY1 RVY5 RVY6 PHY1 PVY1",
    ),
    TyreMeasure(
        "aligning moment over load and radius at combined slip",
        lambda b: _moment(b, b.braked_turn, "Mz"),
        (-0.15, 0.15),
        "SSZ1 SSZ2 SSZ3 SSZ4",
    ),
    TyreMeasure(
        "friction along at 10 % more pressure over that at the usual one",
        lambda b: _ratio(b, b.inflated, "mux"),
        (0.9, 1.1),
        "PPX3 PPX4",
    ),
    TyreMeasure(
        "friction across at 10 % more pressure over that at the usual one",
        lambda b: _ratio(b, b.inflated, "muy"),
        (0.9, 1.1),
        "PPY3 PPY4",
    ),
    TyreMeasure(
        "slip stiffness at 10 % more pressure over that at the usual one",
        lambda b: _ratio(b, b.inflated, "Kxk"),
        (0.85, 1.2),
        "PPX1 PPX2",
    ),
    TyreMeasure(
        "cornering stiffness at 10 % more pressure over that at the usual one",
        lambda b: _ratio(b, b.inflated, "Kya"),
        (0.85, 1.2),
        "PPY1 PPY2",
    ),
    TyreMeasure(
        "vertical deflection at 10 % more pressure over that at the usual one",
        lambda b: _ratio(b, b.inflated, "rho"),
        (0.8, 1.01),
        "PFZ1",
    ),
    TyreMeasure(
        "trail at 10 % more pressure over that at the usual one",
        lambda b: _ratio(b, b.inflated, "trail"),
        (0.7, 1.2),
        "PPZ1",
    ),
)
