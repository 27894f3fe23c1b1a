"""What a hand-led derivation shows to the outside: its channels, and its interface.

In:  the steps so far, and the system they lead to. Out: `OutputChannel`s as expressions, and the
`Interface` of the program. Units are labels here: values are taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.core.errors import ModelError
from bellcrank.core.units import ONE as PURE
from bellcrank.core.units import Unit
from bellcrank.kane.steps import DerivationSteps
from bellcrank.kane.system import REAL, KaneSystem
from bellcrank.mechanics.interface.interface import Interface, Quantity, RunDefaults
from bellcrank.mechanics.kinematics.results import OutputChannel
from bellcrank.program.program import SimulationProgram
from bellcrank.symbolic.expr import Expr, Symbol, add, substitute
from bellcrank.symbolic.expr.traversal import free_symbols
from bellcrank.symbolic.vector.basis import dot


def make_channels(d: DerivationSteps, system: KaneSystem) -> list[OutputChannel]:
    s, notes = d.scalars, d.notes
    listed: list[tuple[str, Expr, str, str]] = []
    for name, value in notes.channels.items():
        words = notes.units.get(name, ""), notes.labels.get(name, name)
        listed.append((name, value, *notes.channel_words.get(name, words)))
    for x, value in system.reactions.items():
        listed.append(
            (x.name, value, notes.units.get(x.name, ""), f"{x.name}, from an auxiliary speed")
        )
    for group in notes.groups:
        listed += _group_channels(d, group)
    state_names = {q.name for q in (*s.coordinates, *s.independent_speeds)}
    for u in s.speeds:
        if u in s.definitions and u.name not in state_names:
            listed.append((u.name, u, notes.units.get(u.name, ""), f"dependent speed {u.name}"))
    values = s.resolve(value for _, value, _, _ in listed)
    substitutions: dict[Expr, Expr] = {x: e for x, e in system.reactions.items()}
    values = [substitute(v, substitutions) if substitutions else v for v in values]
    for v in values:
        undefined = [x.name for x in free_symbols(v) if x.kind not in (*REAL, "acceleration")]
        if undefined:
            raise ModelError(
                f"a channel holds {', '.join(undefined)}, which has no definition", d.name
            )
    return [
        OutputChannel(name, label, v, unit or None)
        for (name, _, unit, label), v in zip(listed, values, strict=True)
    ]


def _group_channels(d: DerivationSteps, group: str) -> list[tuple[str, Expr, str, str]]:
    if group == "energy":
        kinetic = d.kinetic_energy()
        rows = [("kinetic", kinetic, "", "kinetic energy")]
        if d.potential_energy is not None:
            rows.append(("potential", d.potential_energy, "", "potential energy"))
            rows.append(
                ("energy", add(kinetic, d.potential_energy), "", "kinetic and potential energy")
            )
        return rows
    kinds = (
        ("p", d.linear_momentum(), "linear momentum along"),
        ("h", d.angular_momentum(), "angular momentum about the mass centre,"),
    )
    axes = list(enumerate(d.newtonian.axes, 1))
    return [
        (f"{letter}{i}", dot(e, v), "", f"{words} {e}")
        for letter, v, words in kinds
        for i, e in axes
    ]


def hand_interface(
    d: DerivationSteps, program: SimulationProgram, outputs: Sequence[OutputChannel]
) -> Interface:
    """Everything the derivation shows to the outside, in the order of its program."""
    notes, run = d.notes, d.notes.run
    bodies = {e.name: str(frame) for frame, four in d.euler.items() for e in four}
    start = {four[0].name: 1.0 for four in d.euler.values()}

    def quantities_of_kind(
        kind: str, symbols: Sequence[Symbol], first: int = -1
    ) -> tuple[Quantity, ...]:
        """Quantities of one kind; `first` is the column of the first in rows of results."""
        quantities = []
        for i, s in enumerate(symbols):
            key, index = s.name, i if first > 0 or kind == "parameter" else -1
            words = Unit(PURE, 1.0, notes.units.get(key, "")), notes.labels.get(key, s.name)
            value = (
                start.get(s.name, 0.0)
                if s.kind in ("coordinate", "speed")
                else notes.values.get(key)
            )
            column, body = first + i if first > 0 else -1, bodies.get(s.name, "")
            base = s.name if kind == "input" else ""
            quantities.append(
                Quantity(
                    s.name, kind, s, *words, value, column, body=body, base_input=base, index=index
                )
            )
        return tuple(quantities)

    n_q = len(program.coordinates)
    n_s = n_q + len(program.speeds)
    inputs = quantities_of_kind("input", program.inputs, 1 + n_s + len(outputs))
    unused = [s for s in d.scalars.inputs if s not in program.inputs]
    return Interface(
        model=d.name,
        units="mks",
        parameters=quantities_of_kind("parameter", program.parameters),
        function_parameters=(),
        coordinates=quantities_of_kind("coordinate", program.coordinates, 1),
        speeds=quantities_of_kind("speed", program.speeds, 1 + n_q),
        dependent_speeds=quantities_of_kind(
            "removed", [u for u in d.scalars.speeds if u in d.scalars.definitions]
        ),
        inputs=inputs,
        signals=(*inputs, *quantities_of_kind("input", unused)),
        sampled_inputs=(),
        outputs=tuple(
            Quantity(
                o.name,
                "output",
                None,
                Unit(PURE, 1.0, o.units or ""),
                o.label,
                None,
                1 + n_s + i,
                index=i,
            )
            for i, o in enumerate(outputs)
        ),
        echo=(),
        run=RunDefaults.from_record(run),
        unused_parameters=quantities_of_kind(
            "idle", [c for c in d.scalars.constants if c not in program.parameters]
        ),
    )
