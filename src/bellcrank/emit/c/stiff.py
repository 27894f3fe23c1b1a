"""Tables of stiff methods in C."""

from __future__ import annotations

from bellcrank.emit.c.methods import numbers
from bellcrank.numeric.collocation import RADAU5
from bellcrank.numeric.rosenbrock import RODAS5P


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
