"""Stiff methods in C: their tables, the slopes that a program knows, and the order in which systems are solved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from bellcrank.emit.c.methods import numbers
from bellcrank.numeric.collocation import RADAU5
from bellcrank.numeric.rosenbrock import RODAS5P
from bellcrank.program.program import Program
from bellcrank.program.structure import Costs, Elimination, costs, dependence, elimination


def stiff_tables(program: Program) -> str:
    """What stiff methods know of a program: the order in which systems are solved, costs, places of its slopes."""
    order = elimination(dependence(program), len(program.coordinates))
    slopes = _slope_tables(program, order) if program.sloped else ""
    return order_tables(order) + _cost_tables(costs(program)) + slopes


def order_tables(e: Elimination) -> str:
    """The order of elimination: the first N_FIRST states, with what lies below and beside each."""
    lines = [f"enum {{ N_FIRST = {len(e.down)} }};", *_list("STATE_ORDER", e.order)]
    for starts, places, rows in (("DOWN", "BELOW", e.down), ("ACROSS", "BESIDE", e.across)):
        lines += _list(starts, [0, *accumulate(map(len, rows))])
        lines += _list(places, [x for row in rows for x in row])
    return "\n".join([*lines, ""])


def _cost_tables(c: Costs) -> str:
    """In evaluations of rates."""
    named = {"SLOPES_COST": c.slopes, "FACTOR_COST": c.factor, "SOLVE_COST": c.solve}
    return "".join(f"#define {name} {cost!r}\n" for name, cost in named.items())


def _slope_tables(program: Program, e: Elimination) -> str:
    """Where the slopes that a program knows stand in the matrix of all, whose states are in the order of elimination;
    is every column known?"""
    n, place = len(e.order), {state: at for at, state in enumerate(e.order)}
    lines = [f"enum {{ N_SLOPES = {len(program.slope_places)} }};"]
    lines += _list("SLOPE_PLACE", [place[i] * n + place[j] for i, j in program.slope_places])
    lines += _list("SLOPE_COLUMN", [j for _, j in program.slope_places])
    lines += _list("SLOPED", [int(j in program.sloped) for j in range(n)])
    return "\n".join([*lines, ""])


def _list(name: str, row: Sequence[int]) -> list[str]:
    return [f"static const int {name}[] = {{", *numbers(row or [0], "    ", ""), "};"]


def radau_tables() -> str:
    m = RADAU5
    lines = [
        f"enum {{ FIRST_ORDER = {m.first_order} }};",
        f"#define STIFF_EXPONENT {float(m.exponent)!r}",
        f"#define STIFF_GROWTH {m.growth!r}",
        f"#define REAL_VALUE {m.real!r}",
    ]
    vectors = {"NODE[3]": m.nodes, "ERROR_SHARE[3]": m.error, "PAIR_VALUE[2]": m.pair}
    for name, row in vectors.items():
        lines.append(f"static const real {name} = {{{', '.join(map(repr, row))}}};")
    for name, rows in {"TO": m.to, "BACK": m.back}.items():
        lines.append(f"static const real {name}[3][3] = {{")
        lines += [f"    {{{', '.join(map(repr, row))}}}," for row in rows]
        lines.append("};")
    return "\n".join([*lines, ""])


def rodas_tables() -> str:
    m = RODAS5P
    stages = len(m.nodes)
    lines = [
        f"enum {{ RODAS_STAGES = {stages}, RODAS_FIRST_ORDER = {m.first_order} }};",
        f"#define RODAS_EXPONENT {float(m.exponent)!r}",
        f"#define RODAS_GROWTH {m.growth!r}",
        f"#define RODAS_GAMMA {m.gamma!r}",
    ]
    for name, row in {"NODE": m.nodes, "D": m.d, "B": m.b, "E": m.error}.items():
        lines += [f"static const real RODAS_{name}[] = {{", *numbers(row, "    ", ""), "};"]
    for name, rows in {"A": m.A, "C": m.C, "H": m.dense}.items():
        lines.append(f"static const real RODAS_{name}[][{stages}] = {{")
        lines += [line for row in rows for line in numbers(row or (0.0,), "    {", "},")]
        lines.append("};")
    return "\n".join([*lines, ""])
