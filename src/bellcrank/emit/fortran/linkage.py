"""A function given by equations in Fortran: Newton's method from a start on a grid, then its first and second derivatives."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bellcrank.emit.fortran.printer import FortranPrinter, wrapped
from bellcrank.emit.names import identifier
from bellcrank.expr import Expr, Symbol
from bellcrank.numeric.tuning import IMPLICIT
from bellcrank.program.implicit import Implicit
from bellcrank.program.scheduler import Scheduler


def fortran_implicit(name: str, function: Implicit) -> str:
    """`subroutine name(z[, r], values)` and those it calls; not-a-number outside the grid or where Newton's method does not settle."""
    f, own = function, identifier(name)
    given = ", ".join(s.name for s in f.inputs)
    rows = len(f.residual)
    names: dict[Symbol, str] = {s: f"s({i})" for i, s in enumerate(f.state, 1)}
    names |= {s: s.name for s in f.inputs}
    names |= {s: f"y({k}, {j})" for j, group in enumerate(f.rates, 1) for k, s in enumerate(group, 1)}
    slopes = [(f"a({i}, {j})", e) for i, row in enumerate(f.slopes, 1) for j, e in enumerate(row, 1)]
    residual = [(f"g({i})", -e) for i, e in enumerate(f.residual, 1)]
    both = {"g": f"({rows})", "a": f"({rows}, {rows})"}
    by_input, bias = (
        [(f"g({i}, {j})", e) for j, group in enumerate(groups, 1) for i, e in enumerate(group, 1)]
        for groups in (f.by_input, f.bias)
    )
    taken = {"s": f"({len(f.state)})", **dict.fromkeys(given.split(", "), "")}
    rates = {"y": f"({f.unknowns}, {len(f.inputs)})"}
    return "\n".join(
        [
            *_routine(f"{own}_rows", taken, both, [*residual, *slopes], names),
            *_routine(f"{own}_by_input", taken, {"g": f"({rows}, {len(f.inputs)})"}, by_input, names),
            *_routine(f"{own}_bias", taken | rates, {"g": f"({rows}, {f.pairs})"}, bias, names),
            *_solution(own, f, given),
        ]
    )


def _routine(
    name: str,
    taken: dict[str, str],
    returned: dict[str, str],
    results: Sequence[tuple[str, Expr]],
    names: dict[Symbol, str],
) -> list[str]:
    plan = Scheduler([e for _, e in results])
    lowered = [plan.lower(e) for _, e in results]
    printer = FortranPrinter(dict(names), {}, {}, {})
    body = [line for s in [*plan.constants, *plan.statements] for line in printer.statement(s)]
    body += [
        line
        for (target, _), e in zip(results, lowered, strict=True)
        for line in wrapped(f"{target} = {printer.expr(e)}")
    ]
    text = "\n".join(body)
    lines = [f"  subroutine {name}({', '.join([*taken, *returned])})"]
    lines += [f"    real(dp), intent(in) :: {x}{size}" for x, size in taken.items()]
    lines += [f"    real(dp), intent(out) :: {x}{size}" for x, size in returned.items()]
    if declared := list(dict.fromkeys(printer.declared)):
        lines += [f"    {line}" for line in wrapped(f"real(dp) :: {', '.join(declared)}")]
    for x, size in taken.items():  # an argument that is not used is named, so that the compiler need not wonder
        if not re.search(rf"\b{x}\b", text):
            first = f"{x}({', '.join('1' for _ in size.split(','))})" if size else x
            lines.append(f"    if ({first} > huge(1.0_dp)) return ! not used")
    return [*lines, *(f"    {line}" for line in body), f"  end subroutine {name}", ""]


def _solution(own: str, f: Implicit, given: str) -> list[str]:
    n, size, rows, last = len(f.inputs), len(f.state), len(f.residual), len(f.start) - 1
    place = {u: i for i, u in enumerate(f.free, 1)}
    seconds = f.start_second or [()] * len(f.start)
    start = [(*a, *b, *c) for a, b, c in zip(f.start, f.start_slope, seconds, strict=True)]
    width = len(start[0])
    per = last / (f.high - f.low)

    def change(u: int) -> str:
        return f"g({place[u]})" if u in place else "0.0_dp"

    moved = []
    for u in f.updates:
        if u.kind == "turn":
            turned = ", ".join(change(u.unknown + i) for i in range(3))
            moved.append(f"call implicit_turn(s({u.place + 1}:{u.place + 4}), {turned})")
        elif u.unknown in place:
            moved.append(f"s({u.place + 1}) = s({u.place + 1}) + {change(u.unknown)}")
    normal = [
        f"call implicit_turn(s({u.place + 1}:{u.place + 4}), 0.0_dp, 0.0_dp, 0.0_dp)"
        for u in f.updates
        if u.kind == "turn"
    ]
    inputs = given.split(", ")
    held = [f"s({p.place + 1}) = {p.drawn!r}_dp + ({p.sign!r}_dp)*{inputs[p.given]}" for p in f.prescribed]
    known = [f"if (j == {p.given + 1}) y({p.unknown + 1}, j) = {p.sign!r}_dp" for p in f.prescribed]
    second = ""
    if f.start_second:
        third = f"{2 * size + 1}:{3 * size}"
        second = f" + r*(start({third}, i)*(1 - t) + start({third}, i + 1)*t)"
    lines = [
        f"  subroutine {own}({given}, values)",
        "    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan",
        f"    real(dp), intent(in) :: {given}",
        f"    real(dp), intent(out) :: values({f.values})",
        f"    real(dp) :: s({size}), g({rows}), a({rows}, {rows}), y({f.unknowns}, {n}), first({rows}, {n}), right({rows}, {f.pairs})",
        "    real(dp) :: place, t, largest",
        f"    integer :: i, j, k, turn, pivot({rows})",
        "    logical :: regular",
        f"    real(dp), save :: start({width}, {last + 1})",
    ]
    for k, row in enumerate(start, 1):
        text = f"data (start(k, {k}), k = 1, {width}) / {', '.join(f'{float(x)!r}_dp' for x in row)}/"
        lines += [f"    {line}" for line in wrapped(text)]
    blend = (
        f"s = (1 + 2*t)*(1 - t)**2*start(1:{size}, i) + t*t*(3 - 2*t)*start(1:{size}, i + 1)"
        f" + (t*(1 - t)**2*start({size + 1}:{2 * size}, i) + t*t*(t - 1)*start({size + 1}:{2 * size}, i + 1))/{per!r}_dp{second}"
    )
    lines += [
        "    values = ieee_value(1.0_dp, ieee_quiet_nan)",
        f"    place = (z - ({f.low!r}_dp))*{per!r}_dp",
        f"    if (.not. (place >= 0 .and. place <= {last})) return",
        f"    i = min(int(place), {last - 1}) + 1",
        "    t = place - (i - 1)",
        *(f"    {line}" for line in [*wrapped(blend), *held, *normal]),
        f"    do turn = 1, {IMPLICIT.turns}",
        f"      call {own}_rows(s, {given}, g, a)",
        f"      call implicit_factor({rows}, a, pivot, regular)",
        "      if (.not. regular) return",
        f"      call implicit_solve({rows}, a, pivot, g)",
        "      largest = maxval(abs(g))",
        *(f"      {line}" for line in moved),
        "      if (.not. largest < 1) return",
        f"      if (largest < {IMPLICIT.settled!r}_dp) exit",
        "    end do",
        f"    if (turn > {IMPLICIT.turns}) return",
        f"    values(1:{size}) = s",
        f"    k = {size}",
        "    y = 0",
        f"    call {own}_by_input(s, {given}, first)",
        f"    do j = 1, {n}",
        "      g = first(:, j)",
        f"      call implicit_solve({rows}, a, pivot, g)",
        *(f"      y({u + 1}, j) = g({i})" for u, i in place.items()),
        *(f"      {line}" for line in known),
        f"      values(k + 1:k + {f.unknowns}) = y(:, j)",
        f"      k = k + {f.unknowns}",
        "    end do",
        f"    call {own}_bias(s, {given}, y, right)",
        f"    do j = 1, {f.pairs}",
        "      g = right(:, j)",
        f"      call implicit_solve({rows}, a, pivot, g)",
        *(f"      values(k + {u + 1}) = {change(u)}" for u in range(f.unknowns)),
        f"      k = k + {f.unknowns}",
        "    end do",
        f"  end subroutine {own}",
        "",
    ]
    return lines
