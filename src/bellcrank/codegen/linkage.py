"""Functions given by equations (`program.implicit_function`): what the kernel knows of one, and
what the run-time source `implicit` of a language without kernel is filled with.

It is Newton's method from a start on a grid, then the first and second derivatives; not-a-number
outside the grid or where it does not settle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bellcrank.codegen.kernel_function import KernelFunction, int_array
from bellcrank.core.name_lookup import routine_name
from bellcrank.core.numeric.tuning import IMPLICIT
from bellcrank.program.implicit_function import ImplicitFunction
from bellcrank.symbolic.expr import Symbol


@dataclass(frozen=True)
class ImplicitSyntax:
    """How a language says it: the `first` entry's number and `real` numbers; entries of the
    `state`, of `rates` and of what is `solved` for; how an entry of the state is changed (`add`),
    four of them turned, and one held; how first and second derivatives are stored, and those
    `known`; what the `second` input adds to the start; how four entries are made `normal` where no
    turn does it."""

    first: int
    real: Callable[[float], str]
    state: str
    rates: str
    solved: str
    add: str
    turn: str
    hold: str
    first_rate: str
    known: str
    second_rate: str
    second: str
    normal: str = ""


def implicit_names(f: ImplicitFunction, syntax: ImplicitSyntax) -> dict[Symbol, str]:
    """Names of everything in its rows."""
    names = {s: syntax.state.format(i) for i, s in enumerate(f.state, syntax.first)}
    names |= {s: s.name for s in f.inputs}
    rates = (
        (j, k, s)
        for j, group in enumerate(f.rates, syntax.first)
        for k, s in enumerate(group, syntax.first)
    )
    return names | {s: syntax.rates.format(j, k) for j, k, s in rates}


def implicit_template_values(
    name: str, f: ImplicitFunction, syntax: ImplicitSyntax
) -> dict[str, str]:
    """What fills the source, by name."""
    first, real, size = syntax.first, syntax.real, len(f.state)
    column_of_unknown = {u: i for i, u in enumerate(f.free, first)}
    zero = real(0.0)

    def delta_text(u: int) -> str:
        return syntax.solved.format(column_of_unknown[u]) if u in column_of_unknown else zero

    normal, updates = [], []
    for u in f.updates:
        if u.kind == "turn":
            rotation = ", ".join(delta_text(u.unknown + i) for i in range(3))
            updates.append(syntax.turn.format(u.place + first, rotation))
            unturned = syntax.turn.format(u.place + first, f"{zero}, {zero}, {zero}")
            normal.append(syntax.normal.format(u.place + first) or unturned)
        elif u.unknown in column_of_unknown:
            updates.append(syntax.add.format(u.place + first, delta_text(u.unknown)))
    prescribed_lines = [
        syntax.hold.format(p.place + first, real(p.drawn), real(p.sign), f.inputs[p.given].name)
        for p in f.prescribed
    ]
    rates = [syntax.first_rate.format(u + first, i) for u, i in column_of_unknown.items()]
    rates += [
        syntax.known.format(p.given + first, p.unknown + first, real(p.sign)) for p in f.prescribed
    ]
    sizes = {
        "SIZE": size,
        "ROWS": len(f.residual),
        "UNKNOWNS": f.unknowns,
        "INPUTS": len(f.inputs),
        "PAIRS": f.input_pair_count,
    }
    sizes |= {
        "VALUES": f.value_count,
        "NODES": len(f.start),
        "LAST": len(f.start) - 1,
        "TURNS": IMPLICIT.turns,
    }
    return {
        **{key: str(n) for key, n in sizes.items()},
        "NAME": routine_name(name),
        "GIVEN": ", ".join(s.name for s in f.inputs),
        "SETTLED": real(IMPLICIT.settled),
        "LOW": real(f.low),
        "PER": real((len(f.start) - 1) / (f.high - f.low)),
        "SECOND": syntax.second if len(f.inputs) == 2 else "",
        "PRESCRIBED": "\n".join(prescribed_lines),
        "NORMAL": "\n".join(normal),
        "UPDATES": "\n".join(updates),
        "FIRST": "\n".join(rates),
        "SCATTER": "\n".join(
            syntax.second_rate.format(u + first, i) for u, i in column_of_unknown.items()
        ),
    }


def implicit_function(f: ImplicitFunction) -> KernelFunction:
    """The function as the kernel knows it."""
    size, rows, column = len(f.state), len(f.residual), {u: i for i, u in enumerate(f.free)}
    rotations = [u for u in f.updates if u.kind == "turn"]
    translations = [u for u in f.updates if u.kind != "turn" and u.unknown in column]
    numbers = {
        "size": size,
        "rows": rows,
        "unknowns": f.unknowns,
        "inputs": len(f.inputs),
        "last": len(f.start) - 1,
        "low": f.low,
        "per": (len(f.start) - 1) / (f.high - f.low),
        "n_turned": len(rotations),
        "n_moved": len(translations),
        "n_held": len(f.prescribed),
    }
    lists = {
        "start": np.array(f.start).ravel(),
        "column": int_array(f.free),
        "turned": int_array(
            [
                x
                for u in rotations
                for x in (u.place, *(column.get(u.unknown + i, -1) for i in range(3)))
            ]
        ),
        "moved": int_array([x for u in translations for x in (u.place, column[u.unknown])]),
        "held": int_array([x for p in f.prescribed for x in (p.place, p.given, p.unknown)]),
        "drawn": np.array([x for p in f.prescribed for x in (p.drawn, p.sign)], float),
    }
    values = {
        "equations": [*(-e for e in f.residual), *(e for row in f.slopes for e in row)],
        **dict(zip(("by_first", "by_second"), f.by_input, strict=False)),
        "bias": [e for pair in f.bias for e in pair],
    }
    symbol_groups = (f.state, f.inputs, [s for group in f.rates for s in group])
    scratch_size = size + rows * (rows + 1) + len(f.inputs) * f.unknowns + f.input_pair_count * rows
    formulas = {name: (symbol_groups, dict(enumerate(each))) for name, each in values.items()}
    return KernelFunction(
        "Implicit",
        "implicit_values",
        numbers,
        lists,
        len(f.inputs),
        f.value_count,
        formulas,
        scratch_size,
        rows,
    )
