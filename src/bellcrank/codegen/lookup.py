"""Look-ups (`program.grid_lookup`): what the kernel knows of one, and what the run-time source
`lookup` of a language without kernel is filled with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.codegen.kernel_function import KernelFunction
from bellcrank.codegen.straight_line import straight_lines
from bellcrank.core.name_lookup import routine_name
from bellcrank.program.grid_lookup import GridLookup
from bellcrank.symbolic.expr import Symbol

SLACK = 1e-9  # of a cell, by which an argument may lie outside


@dataclass(frozen=True)
class LookupSyntax:
    """How a language says it: `entry` of an array, the `first` one's number, `real` numbers; of
    every argument x that it is `within` its grid (`both` joins two of these), how far it is
    `beyond` it, and the `cell` it is in."""

    entry: str
    first: int
    real: Callable[[float], str]
    within: str
    both: str
    beyond: str
    cell: str
    printer: Callable[[Mapping[Symbol, str]], Any]


@dataclass(frozen=True)
class LookupTemplateValues:
    """`rows` of numbers, one for every cell; `marks`: names of the place in a cell; `printer`: that
    of the lines; texts of the values that are wanted, by their number; and `pieces` of text by
    name."""

    rows: np.ndarray[Any, Any]
    marks: list[str]
    printer: Any
    shown: dict[int, str]
    pieces: dict[str, str]


def lookup_filling(
    name: str, f: GridLookup, value_indices: Sequence[int], syntax: LookupSyntax
) -> LookupTemplateValues:
    """NAME, GIVEN (arguments), VALUES (how many), PLACES, WITHIN, CELL and LINES."""
    indices, values = f.restrict(value_indices)
    marks = [s.name for s in (*f.places, *f.beyond, *f.inside)]
    printer = syntax.printer(
        {f.numbers[k]: syntax.entry.format("a", i) for i, k in enumerate(indices, syntax.first)}
        | {s: s.name for s in (*f.places, *f.beyond, *f.inside)}
    )
    lines, value_texts = straight_lines(printer, values)
    argument_names = ("z", "r")[: len(f.lows)]
    axes = []
    for k, x in enumerate(argument_names):
        low, high, step, cells = f.lows[k], f.highs[k], f.steps[k], f.cell_counts[k]
        numbers = {"low": low, "high": high, "step": step, "per": 1 / step}
        numbers |= {"least": low - SLACK * step, "most": high + SLACK * step}
        axis_fields = {
            "x": x,
            "own": f"{x}_in" if f.beyond else x,
            "cells": str(cells),
            "last": str(cells - 1),
        }
        axis_fields |= {"place": f.places[k].name}
        if f.beyond:
            axis_fields |= {"excess": f.beyond[k].name, "inside": f.inside[k].name}
        axes.append(axis_fields | {key: syntax.real(v) for key, v in numbers.items()})
    cell_lines = [
        text.format(**axis)
        for axis in axes
        for text in ([syntax.beyond] if f.beyond else []) + [syntax.cell]
    ]
    fields = {
        "NAME": routine_name(name),
        "GIVEN": ", ".join(argument_names),
        "VALUES": str(len(f.values)),
        "PLACES": "\n".join(cell_lines),
        "WITHIN": syntax.both.join(syntax.within.format(**axis) for axis in axes),
        "CELL": "z_cell" if len(argument_names) == 1 else f"z_cell*{f.cell_counts[1]} + r_cell",
        "LINES": "\n".join(lines),
    }
    rows = f.rows[:, indices] if indices else np.zeros((len(f.rows), 1))
    return LookupTemplateValues(
        rows, marks, printer, dict(zip(value_indices, value_texts, strict=True)), fields
    )


def lookup_function(f: GridLookup, value_indices: Sequence[int]) -> KernelFunction:
    """The function as the kernel knows it, with those of the values that are wanted."""
    indices, values = f.restrict(value_indices)
    axes, slack = len(f.lows), [SLACK * step for step in f.steps]
    numbers: dict[str, float | Sequence[float]] = {
        "axes": axes,
        "beyond": int(bool(f.beyond)),
        "cells": f.cell_counts,
        "low": f.lows,
        "high": f.highs,
        "least": [x - margin for x, margin in zip(f.lows, slack, strict=True)],
        "most": [x + margin for x, margin in zip(f.highs, slack, strict=True)],
        "step": f.steps,
        "per": [1 / step for step in f.steps],
        "width": max(1, len(indices)),
        "values": len(f.values),
    }
    rows = f.rows[:, indices] if indices else np.zeros((len(f.rows), 1))
    symbol_groups = ([f.numbers[k] for k in indices], (*f.places, *f.beyond, *f.inside), ())
    formulas = {"formulas": (symbol_groups, dict(zip(value_indices, values, strict=True)))}
    return KernelFunction(
        "Lookup", "look_up", numbers, {"numbers": rows.ravel()}, axes, len(f.values), formulas
    )
