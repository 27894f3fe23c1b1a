"""A function given by equations in Python: Newton's method from a start on a grid, then its first and second derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.names import identifier
from bellcrank.emit.python.source import PythonPrinter
from bellcrank.expr import Expr, Symbol
from bellcrank.numeric.tuning import IMPLICIT
from bellcrank.program.implicit import Implicit
from bellcrank.program.scheduler import Scheduler

_TURN = f'''
from math import cos, sin


def implicit_turn(s, i, a, b, c):
    """Euler parameters s[i:i + 4] after a rotation by a small vector."""
    x = 0.25 * (a * a + b * b + c * c)
    r = math.sqrt(x)
    f, w = 0.5 * (math.sin(r) / r if x > {IMPLICIT.small!r} else 1 - x / 6 + x * x / 120), math.cos(r)
    p, q, v = f * a, f * b, f * c
    e0, e1, e2, e3 = s[i : i + 4]
    n = (w * e0 - p * e1 - q * e2 - v * e3, w * e1 + p * e0 + q * e3 - v * e2)
    n += (w * e2 + q * e0 + v * e1 - p * e3, w * e3 + v * e0 + p * e2 - q * e1)
    size = math.sqrt(sum(x * x for x in n))
    s[i : i + 4] = [x / size for x in n]
'''


def python_implicit(name: str, function: Implicit) -> str:
    """The routine `name(z[, r])`, which returns all values; not-a-number outside the grid or where Newton's method does not settle."""
    f, own = function, identifier(name)
    given = ", ".join(s.name for s in f.inputs)
    n, size, rows = len(f.inputs), len(f.state), len(f.residual)
    names: dict[Symbol, str] = {s: f"s[{i}]" for i, s in enumerate(f.state)}
    names |= {s: s.name for s in f.inputs}
    names |= {s: f"y[{j}][{k}]" for j, group in enumerate(f.rates) for k, s in enumerate(group)}
    place = {u: i for i, u in enumerate(f.free)}
    seconds = f.start_second or [()] * len(f.start)
    start = [(*a, *b, *c) for a, b, c in zip(f.start, f.start_slope, seconds, strict=True)]
    by_second = f" + r * (a[{2 * size} + k] * (1 - t) + b[{2 * size} + k] * t)" if f.start_second else ""
    per = (len(f.start) - 1) / (f.high - f.low)

    def change(u: int) -> str:
        return f"g[{place[u]}]" if u in place else "0.0"

    moved = []
    for u in f.updates:
        if u.kind == "turn":
            moved.append(f"implicit_turn(s, {u.place}, {', '.join(change(u.unknown + i) for i in range(3))})")
        elif u.unknown in place:
            moved.append(f"s[{u.place}] += {change(u.unknown)}")
    normal = [f"implicit_turn(s, {u.place}, 0.0, 0.0, 0.0)" for u in f.updates if u.kind == "turn"]
    inputs = given.split(", ")
    held = [f"s[{p.place}] = {p.drawn!r} + {p.sign!r} * {inputs[p.given]}" for p in f.prescribed]
    known = [f"    if j == {p.given}:\n            y[j][{p.unknown}] = {p.sign!r}" for p in f.prescribed]
    lines = [
        _TURN.strip("\n"), "", "",
        f"{own}_start = (", *(f"    ({', '.join(repr(float(x)) for x in row)},)," for row in start), ")", "", "",
        f"def {own}_rows(s, {given}):",
    ]  # fmt: skip
    statements, shown = _planned([-e for e in f.residual] + [e for row in f.slopes for e in row], names)
    lines += statements
    lines += [f"    return [{', '.join(shown[:rows])}], ["]
    lines += [f"        [{', '.join(shown[rows + i * rows : rows + (i + 1) * rows])}]," for i in range(rows)]
    lines += ["    ]", "", ""]
    for kind, groups, extra in (("by_input", f.by_input, ""), ("bias", f.bias, ", y")):
        statements, shown = _planned([e for group in groups for e in group], names)
        lines += [f"def {own}_{kind}(s, {given}{extra}):", *statements, "    return ("]
        lines += [f"        [{', '.join(shown[i * rows : (i + 1) * rows])}]," for i in range(len(groups))]
        lines += ["    )", "", ""]
    lines += [
        f"def {own}({given}):",
        f"    lost = (math.nan,) * {f.values}",
        f"    place = (z - {f.low!r}) * {per!r}",
        f"    if not 0.0 <= place <= {len(start) - 1}:",
        "        return lost",
        f"    i = min(int(place), {len(start) - 2})",
        f"    t, a, b = place - i, {own}_start[i], {own}_start[i + 1]",
        f"    h = ((1 + 2 * t) * (1 - t) ** 2, t * t * (3 - 2 * t), t * (1 - t) ** 2 / {per!r}, t * t * (t - 1) / {per!r})",
        f"    s = [h[0] * a[k] + h[1] * b[k] + h[2] * a[{size} + k] + h[3] * b[{size} + k]{by_second} for k in range({size})]",
        *(f"    {line}" for line in [*held, *normal]),
        f"    for _ in range({IMPLICIT.turns}):",
        f"        g, J = {own}_rows(s, {given})",
        "        try:",
        "            g = np.linalg.solve(J, g).tolist()",
        "        except np.linalg.LinAlgError:",
        "            return lost",
        "        largest = max(map(abs, g))",
        *(f"        {line}" for line in moved),
        "        if not largest < 1.0:",
        "            return lost",
        f"        if largest < {IMPLICIT.settled!r}:",
        "            break",
        "    else:",
        "        return lost",
        f"    J = np.array({own}_rows(s, {given})[1])",
        f"    y = [[0.0] * {f.unknowns} for _ in range({n})]",
        f"    for j, g in enumerate({own}_by_input(s, {given})):",
        "        g = np.linalg.solve(J, g).tolist()",
        *(f"        y[j][{u}] = g[{i}]" for u, i in place.items()),
        *(f"    {line}" for line in known),
        "    values = [*s, *(x for row in y for x in row)]",
        f"    for g in {own}_bias(s, {given}, y):",
        "        g = np.linalg.solve(J, g).tolist()",
        f"        values += [{', '.join(change(u) for u in range(f.unknowns))}]",
        "    return values",
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def _planned(values: Sequence[Expr], names: dict[Symbol, str]) -> tuple[list[str], list[str]]:
    """Straight-line code, and the texts of the results."""
    plan = Scheduler(values)
    lowered = [plan.lower(e) for e in values]
    printer = PythonPrinter(dict(names), ())
    lines = [f"    {line}" for s in [*plan.constants, *plan.statements] for line in printer.statement(s)]
    return lines, [printer.expr(e) for e in lowered]
