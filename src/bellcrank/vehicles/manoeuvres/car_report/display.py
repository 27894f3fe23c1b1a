"""Numbers and units as a report shows them: km/h, mm, N/mm, deg, and three significant digits."""

from __future__ import annotations

import math
import re

from bellcrank.core.unit_notation import typeset_unit
from bellcrank.vehicles.cars.metrics.handling_metrics import VehicleMetric

DIGITS = 3
LEAST = 0.005  # %, what is smaller is nothing
WHOLE = ("mm", "kg")  # sizes and masses above 1000 keep their last digit
SIZES = re.compile(
    r"travel|track|wheelbase|height|roll centre|clearance|distance "
    r".*(path|cone|edge)|\btrail\b|length of"
)
COUNTS = ("", "-")  # units of whole numbers from 10 on that are shown as such
TURN = re.compile(r"yaw rate over|yaw gain")
PLAIN = (  # labels of channels as vehicle engineers read them
    (re.compile(r" of chassis$"), ""),
    (re.compile(r"^normal force of (?:the )?([\w ]+?)[. ]tyre$"), r"wheel load, \1"),
    (re.compile(r"^normal force of the tyres$"), "wheel load"),
    (
        re.compile(r"^slip over the speed of (?:the )?([\w ]+?)[. ]tyre$"),
        r"longitudinal slip over the speed, \1",
    ),
    (re.compile(r"^slip over the speed of the tyres$"), "longitudinal slip over the speed"),
    (re.compile(r"^torque of the driver at the steering wheel$"), "steering-wheel torque"),
    (
        re.compile(
            r"^(articulation angle): yaw of (.+) against the unit that tows it, to the left$"
        ),
        r"\1 of \2",
    ),
    (re.compile(r"^(.+ of the hitch on .+), in axes of the towing unit$"), r"\1"),
    (re.compile(r"^(wheel travel) of (?:the )?([\w ]+?)(?: wheel)?, up$"), r"\1 up, \2"),
)
WRITTEN = {"": "-", "1": "-", "deg/s/deg": "(deg/s)/deg", "m/s2/deg": "(m/s²)/deg"}


def format_report_number(value: float, unit: str = "") -> str:
    """A number with three significant digits and without an exponent."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if math.isnan(value):
        return "none"
    if value == 0 or (unit in COUNTS and abs(value) >= 10 and value == round(value)):
        return f"{value:.0f}"
    size = math.floor(math.log10(abs(value)))
    if unit in WHOLE and size >= DIGITS:
        return f"{value:.0f}"
    rounded = round(value, DIGITS - 1 - size)
    if unit == "%" and abs(rounded) < LEAST:
        return f"{0.0:.{DIGITS - 1}f}"
    size = math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(0, DIGITS - 1 - size)}f}"


def display_factor_and_unit(label: str, unit: str) -> tuple[float, str]:
    """The factor and the unit in which a report shows a quantity."""
    if unit == "m" and SIZES.search(label):
        return 1000.0, "mm"
    if unit == "m/s" and ("speed" in label or "wind" in label):
        return (1000.0, "mm/s") if "damper" in label else (3.6, "km/h")
    if unit == "N/m":
        return 0.001, "N/mm"
    if unit == "" and label.startswith("fraction"):
        return 100.0, "%"
    if unit == "1/s" and TURN.search(label):
        return 1.0, "(deg/s)/deg"
    return 1.0, WRITTEN[unit] if unit in WRITTEN else typeset_unit(unit)


def format_metric(figure: VehicleMetric) -> tuple[str, str]:
    """A figure as text, and its unit."""
    factor, unit = display_factor_and_unit(figure.label, figure.unit)
    return format_report_number(factor * figure.value, unit), unit.replace(
        " ", "\u00a0"
    )  # a unit is not broken over lines


def format_axis_label(words: str) -> tuple[str, float]:
    """The label of an axis ("label, unit") as a report writes it, and the factor of its values."""
    label, _, unit = words.rpartition(", ")
    if not label:
        return words, 1.0
    factor, unit = display_factor_and_unit(label, unit)
    for pattern, plain in PLAIN:
        label = pattern.sub(plain, label)
    return (f"{label}, {unit}" if unit.startswith("(") else f"{label} ({unit})"), factor
