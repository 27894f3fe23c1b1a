"""What comments of generated source say about names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bellcrank.codegen.identifiers import comment_text
from bellcrank.program.program import SimulationProgram
from bellcrank.symbolic.expr import Symbol


@dataclass(frozen=True)
class NameComments:
    """Labels and units, by the name of a symbol, or by `output_key` of an output."""

    label: Mapping[str, str] = field(default_factory=dict)
    unit: Mapping[str, str] = field(default_factory=dict)

    def array_comments(
        self, p: SimulationProgram, groups: Mapping[str, Sequence[Symbol]], entry: str, first: int
    ) -> list[str]:
        """Everything in arrays, which the first letters of `entry` name: quantities in groups, then
        outputs."""
        letters, reference = entry.split(" ")
        lines = []
        for letter, (title, group) in zip(letters, groups.items(), strict=True):
            lines += [title] if group else []
            lines += [
                self._entry_comment(reference.format(letter, i), s.name, s.name)
                for i, s in enumerate(group, first)
            ]
        lines += ["outputs"] if p.output_names else []
        outputs = enumerate(p.output_names, first)
        return lines + [
            self._entry_comment(reference.format("out", i), name, output_key(name))
            for i, name in outputs
        ]

    def _entry_comment(self, reference: str, name: str, key: str) -> str:
        unit, label = self.unit.get(key, ""), self.label.get(key, "")
        name_and_unit = f"{comment_text(name)}{f' ({comment_text(unit)})' if unit else ''}"
        return (
            f"  {reference:7} {name_and_unit:24} {comment_text(label) if label != name else ''}"
        ).rstrip()


NO_WORDS = NameComments()


def output_key(name: str) -> str:
    """The key of an output, which may be called as a parameter is."""
    return f"output {name}"


def program_summary(p: SimulationProgram) -> list[str]:
    """How large a program is, and its units."""
    count = p.count
    return [
        f"{len(p.coordinates)} coordinates, {len(p.speeds)} independent speeds. One "
        f"evaluation of their rates"
        f" takes {count.add} additions,",
        f"{count.multiply} multiplications, {count.divide} divisions and {count.function} "
        f"function calls. Written"
        " by Bellcrank; equation units: rad and",
        "consistent units of length, mass and time. Units below are the user's.",
        "",
    ]
