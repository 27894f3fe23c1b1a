"""The likely cause of an unusual number: another unit, another sign, a misplaced decimal point."""

from __future__ import annotations

import math
from collections.abc import Mapping

UNIT_SLIPS: dict[str, dict[str, float]] = {  # by the quantity: SI values of units that are confused
    "length": {"mm": 1e-3, "cm": 1e-2, "inches": 0.0254},
    "force": {"kN": 1e3, "kgf": 9.80665},
    "stiffness": {"N/mm": 1e3},
    "damping": {"N s/mm": 1e3},
    "pressure": {"bar": 1e5, "kPa": 1e3, "MPa": 1e6, "psi": 6894.757293168},
    "angle": {"degrees": math.pi / 180},
    "speed": {"km/h": 1 / 3.6},
    "rotational speed": {"rpm": math.pi / 30},
    "torsional stiffness": {"N m/deg": 180 / math.pi},
    "torque": {"kN m": 1e3},
    "power": {"kW": 1e3},
    "mass": {"g": 1e-3, "t": 1e3},
}
POWERS = (10.0, 0.1, 100.0, 0.01, 1000.0, 0.001, 1e6, 1e-6)  # of a misplaced decimal point


def likely_cause(
    value: float,
    usual: tuple[float, float],
    unit_slips: Mapping[str, float] | None = None,
    unit: str = "",
) -> str:
    """A question that names what would make the value usual; empty if nothing simple does.

    `value` and `usual` are in `unit`, which the question names as the one that was expected;
    `unit_slips` are values of other units in it.
    """
    low, high = usual

    def would_be_usual(factor: float) -> bool:
        return value != 0 and low <= value * factor <= high

    for other_unit, factor in (unit_slips or {}).items():
        if would_be_usual(factor):
            return f"Is it in {other_unit}" + (f" instead of {unit}?" if unit else "?")
    for other_unit, factor in (unit_slips or {}).items():
        if would_be_usual(1 / factor):
            return f"Are {other_unit} declared for a number in {unit}?" if unit else ""
    if would_be_usual(-1.0):
        return "Is the sign wrong?"
    power = next((p for p in POWERS if would_be_usual(p)), None)
    if power is not None:
        return f"Is the decimal point misplaced ({value * power:.4g} would be usual)?"
    return ""


def as_sentence(text: str) -> str:
    """A text with a stop at its end."""
    return text if text.endswith(("?", ".")) else f"{text}."
