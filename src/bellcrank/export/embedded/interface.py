"""Names of a model in C: an enumerator for every parameter, state, input and output, with unit,
default and label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bellcrank.codegen.identifiers import comment_text
from bellcrank.core.name_lookup import routine_name
from bellcrank.core.units import UNIT_SYSTEMS
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.mechanics.kinematics.dimensions.quantities import UNKNOWN


@dataclass(frozen=True)
class EnumEntry:
    """A place in an array: its `name` in C, and the words of a comment."""

    name: str
    words: str


@dataclass(frozen=True)
class EnumListing:
    """The entries of an array."""

    title: str
    entries: tuple[EnumEntry, ...]

    def enum_source(self) -> str:
        """An enumeration; nothing if there are no entries."""
        if not self.entries:
            return ""
        lines = [f"    {x.name} = {i}, /* {x.words} */" for i, x in enumerate(self.entries)]
        return "\n".join([f"enum {{ /* {self.title} */", *lines, "};", ""])


def enum_listing(
    prefix: str,
    title: str,
    quantities: Sequence[Quantity],
    system: str,
    values: Sequence[float | None],
    marked: Iterable[Quantity] = (),
) -> EnumListing:
    """Quantities with their values in equation units; `marked` are fixed."""
    fixed = {x.name for x in marked}
    words = (
        comment_text(_entry_comment(x, system, v, x.name in fixed))
        for x, v in zip(quantities, values, strict=True)
    )
    return EnumListing(
        title, tuple(map(EnumEntry, entry_names(prefix, [x.name for x in quantities]), words))
    )


def entry_names(prefix: str, names: Iterable[str]) -> list[str]:
    """An enumerator for each name."""
    enumerators: list[str] = []
    for quantity_name in names:
        base = f"{prefix}_{routine_name(quantity_name).strip('_').upper() or 'X'}"
        name, number = base, 2
        while name in enumerators:
            name, number = f"{base}_{number}", number + 1
        enumerators.append(name)
    return enumerators


def _entry_comment(x: Quantity, system: str, value: float | None, fixed: bool) -> str:
    unit = UNIT_SYSTEMS[system].equation_unit(x.unit.dimension).text or "1"
    unit_text = "unit not known" if x.unit.text == UNKNOWN.text else unit
    if x.unit.factor != 1.0:
        unit_text += f" ({x.unit.text} = {x.unit.factor:.17g})"
    words = (
        f"{x.name}, {unit_text}"
        + ("" if value is None else f", {value:.12g}")
        + (", fixed" if fixed else "")
    )
    return words + (f": {x.label}" if x.label and x.label != x.name else "")
