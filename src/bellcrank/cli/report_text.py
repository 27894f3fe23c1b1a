"""What a person reads: headings, sizes and aligned tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bellcrank as bc
from bellcrank.core.errors import pluralize
from bellcrank.core.files.text_files import align_columns


def model_sizes(equations: bc.Equations) -> dict[str, Any]:
    return {
        "model": equations.name,
        "bodies": len(equations.derived.bodies),
        "coordinates": len(equations.coordinates),
        "speeds": len(equations.independent_speeds),
        "derivation": equations.how,
        "derivation_seconds": sum(equations.seconds.values()),
    }


def model_heading(equations: bc.Equations) -> str:
    s = model_sizes(equations)
    bodies, coordinates = (
        pluralize(s["bodies"], "body", "bodies"),
        pluralize(s["coordinates"], "coordinate"),
    )
    return (
        f"{s['model']}: {bodies}, {coordinates}, "
        f"{pluralize(s['speeds'], 'degree of freedom', 'degrees of freedom')}"
    )


def operations_text(c: dict[str, Any]) -> str:
    return (
        f"{c['add']} add, {c['multiply']} multiply, {c['divide']} divide, {c['function']} functions"
    )


def aligned_text_table(
    rows: Sequence[Sequence[str]], head: Sequence[str] | None, align: str
) -> str:
    """Aligned columns; `align` has < or > for each."""
    return align_columns([*([head] if head else []), *rows], align)


def print_written(*paths: object) -> None:
    """Reports the files that were written, of those that were asked for."""
    for path in paths:
        if path:
            print(f"wrote {path}")


def last_value(run: bc.Run, name: str) -> dict[str, Any]:
    """Value and unit of a channel at the end of a run; minus zero is zero."""
    value = json_number(run[name][-1] + 0.0) if len(run) else None
    return {"value": value, "unit": run.units.get(name, "")}


def final_table(figures: dict[str, Any], *words: str) -> str:
    """The last value of every channel with six digits; a label that repeats the name is omitted."""
    rows = []
    for name, x in figures["final"].items():
        value_text = "-" if x["value"] is None else f"{x['value']:.6g}"
        rows.append([name, value_text, x["unit"], *("" if x[w] == name else x[w] for w in words)])
    head = ["channel", f"at {figures['reached']:g} s", "unit", *("" for _ in words)]
    return aligned_text_table(rows, head, "<><" + "<" * len(words))


def three_digits(x: float) -> str:
    """Three digits, never as a power of ten."""
    return f"{x:.3g}" if abs(x) < 1000 else f"{float(f'{x:.3g}'):,.0f}"


def json_number(x: float) -> float | None:
    """A number that JSON knows."""
    return float(x) if math.isfinite(x) else None
