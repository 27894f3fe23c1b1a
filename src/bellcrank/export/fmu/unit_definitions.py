"""Units of variables in a description: values are in equation units, the user's unit is the display
unit."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from bellcrank.core.unit_notation import modelica_unit
from bellcrank.core.units import ONE, TIME, UNIT_SYSTEMS, Dimension, Unit
from bellcrank.mechanics.kinematics.dimensions.quantities import UNKNOWN


class UnitDefinitions:
    """Units as they are met, with all that are shown instead of each."""

    def __init__(self, system: str) -> None:
        self.system = UNIT_SYSTEMS[system]
        self.known: dict[str, tuple[Dimension, dict[str, float]]] = {}

    def unit_and_display_unit(self, unit: Unit | None, rated: bool = False) -> tuple[str, str]:
        """Unit and display unit of a variable, or with `rated` of its rate, in Modelica's syntax.
        The first is "" where the dimension is not known or has no name there, the second where
        values are shown as they are."""
        if unit is None or unit.text == UNKNOWN.text:
            return "", ""
        dimension, display_text = (
            (unit.dimension / TIME, f"{unit.text}/s") if rated else (unit.dimension, unit.text)
        )
        if dimension == ONE and unit.factor == 1.0:
            return "", ""
        name = modelica_unit(self.system.equation_unit(dimension).text)
        if name is None:
            return "", ""
        displays = self.known.setdefault(name, (dimension, {}))[1]
        display = "" if unit.factor == 1.0 else modelica_unit(display_text) or ""
        if display:
            displays[display] = 1.0 / unit.factor
        return name, display

    def unit_attributes(self, unit: Unit | None, rated: bool = False) -> str:
        """The same as attributes of an element."""
        name, display = self.unit_and_display_unit(unit, rated)
        attributes = (("unit", name), ("displayUnit", display))
        return "".join(f" {key}={quoteattr(text)}" for key, text in attributes if text)

    def to_xml(self) -> list[str]:
        """The element UnitDefinitions, in lines."""
        if not self.known:
            return []
        lines = ["  <UnitDefinitions>"]
        for name, (dimension, displays) in self.known.items():
            lines.append(f"    <Unit name={quoteattr(name)}>")
            if all(
                e.denominator == 1 for e in dimension.exponents
            ):  # those of BaseUnit are whole numbers
                length, mass, time, angle = dimension.exponents
                exponents = {"kg": mass, "m": length, "s": time, "rad": angle}
                attributes = [f'{k}="{v}"' for k, v in exponents.items() if v]
                attributes += (
                    [f'factor="{factor!r}"']
                    if (factor := self.system.si_factor(dimension)) != 1.0
                    else []
                )
                lines.append(f"      <{' '.join(['BaseUnit', *attributes])}/>")
            lines += [
                f'      <DisplayUnit name={quoteattr(x)} factor="{f!r}"/>'
                for x, f in displays.items()
            ]
            lines.append("    </Unit>")
        return [*lines, "  </UnitDefinitions>"]
