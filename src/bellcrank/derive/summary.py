"""A few lines about a derivation: freedoms, operations, how derived, seconds."""

from __future__ import annotations

from bellcrank.derive.derived import Derived
from bellcrank.errors import counted


def summary(d: Derived) -> str:
    """The lines."""
    c, p = d.program.count, d.program
    q, u = counted(len(p.coordinates), "coordinate"), counted(len(d.independent_speeds), "independent speed")
    lines = [
        f"{d.name}: {counted(len(d.bodies), 'body', 'bodies')}, {q}, {u}",
        f"operations: {c.add} add, {c.multiply} multiply, {c.divide} divide, {c.function} functions (total {c.total});"
        f" classic {c.add} / {c.muldiv_classic} and {c.calls_classic} calls",
        f"derived by {d.how} in {sum(d.seconds.values()):.3f} s",
    ]
    lines += [f"passes: {', '.join(f'{name} {n}' for name, n in p.stages)}"] if p.stages else []
    return "\n".join([*lines, *(f"note: {n}" for n in d.analysis.notes)])
