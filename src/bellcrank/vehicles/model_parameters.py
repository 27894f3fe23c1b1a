"""Parameters of models of cars: a number of the file in SI units, shown as a person reads it."""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.core.units import parse_dimension
from bellcrank.vehicles.file_keys import user_unit


def add_si_parameter(
    s: System,
    name: str,
    value: float,
    dimension: str,
    label: str,
    usual: tuple[float, float] | None = None,
) -> str:
    """A parameter with its value in SI units; an angle is shown in deg. `usual`: smallest and
    largest, as shown."""
    unit = user_unit(parse_dimension(dimension))
    units = unit.text if dimension == "A" else dimension
    s.add_parameter(
        name, float(unit.from_equation_units(value)), units=units, label=label, range=usual
    )
    return name
