"""Units of variables in a description: values are in equation units, the user's unit is the display unit."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from bellcrank.kinematics.dimensions.quantities import UNKNOWN
from bellcrank.units import ONE, TIME, UNIT_SYSTEMS, Dimension, Unit


class UnitDefinitions:
    """Units as they are met, with all that are shown instead of each."""

    def __init__(self, system: str) -> None:
        self.system = UNIT_SYSTEMS[system]
        self.known: dict[str, tuple[Dimension, dict[str, float]]] = {}

    def attributes(self, unit: Unit | None, rated: bool = False) -> str:
        """Those of a variable in such a unit, or with `rated` of its rate; none where the dimension is not known."""
        if unit is None or unit.text == UNKNOWN.text:
            return ""
        dimension, shown = unit.dimension, unit.text
        if rated:
            dimension, shown = dimension / TIME, f"{shown}/s"
        if dimension == ONE and unit.factor == 1.0:
            return ""
        text = self.system.equation(dimension).text
        name = "1" if dimension == ONE else text
        displays = self.known.setdefault(name, (dimension, {}))[1]
        if unit.factor == 1.0:
            return f" unit={quoteattr(name)}"
        displays[shown] = 1.0 / unit.factor
        return f" unit={quoteattr(name)} displayUnit={quoteattr(shown)}"

    def xml(self) -> list[str]:
        """The element UnitDefinitions, in lines."""
        if not self.known:
            return []
        lines = ["  <UnitDefinitions>"]
        for name, (dimension, displays) in self.known.items():
            lines.append(f"    <Unit name={quoteattr(name)}>")
            if all(e.denominator == 1 for e in dimension.exponents):  # those of BaseUnit are whole numbers
                length, mass, time, angle = dimension.exponents
                named = {"kg": mass, "m": length, "s": time, "rad": angle}
                given = [f'{k}="{v}"' for k, v in named.items() if v]
                given += [f'factor="{factor!r}"'] if (factor := self.system.si(dimension)) != 1.0 else []
                lines.append(f"      <{' '.join(['BaseUnit', *given])}/>")
            lines += [f'      <DisplayUnit name={quoteattr(x)} factor="{f!r}"/>' for x, f in displays.items()]
            lines.append("    </Unit>")
        return [*lines, "  </UnitDefinitions>"]
