"""Signals of inputs in Fortran: how they are read, their values and breaks."""

from __future__ import annotations

from bellcrank.emit.formula import FortranFormula
from bellcrank.emit.fortran.lines import wrapped
from bellcrank.signals import KINDS, Kind

ORDERS = ("", "", " twice")  # of derivatives


def _printer(kind: Kind) -> FortranFormula:
    names = {"t": "at", "two_pi": "two_pi", **{name: name for name, _ in kind.lets}}
    return FortranFormula(names | {name: f"a({i})" for i, name in enumerate(kind.names, 1)})


def signal_cases() -> dict[str, str]:
    """The cases of `signal_value`, and the names of parts that they use."""
    lets = dict.fromkeys(name for kind in KINDS.values() for name, _ in kind.lets)
    lines: list[str] = []
    for kind in KINDS.values():
        printer, count = _printer(kind), len(kind.orders)
        lines.append(f'    case ("{kind.name}") ! {", ".join(kind.names)}')
        lines += [line for name, x in kind.lets for line in wrapped(f"      {name} = {printer.text(x)}")]
        for order, x in enumerate(kind.orders):
            condition = f"if (slope == {order}) " if order else ""
            lines += wrapped(f"      {condition}value = {printer.text(x)}")
        if count < len(ORDERS):
            lines.append(f'      if (slope >= {count}) call fail("a {kind.name} is not differentiable{ORDERS[count]}")')
    return {"SIGNAL_CASES": "".join(f"{line}\n" for line in lines), "SIGNAL_LETS": ", ".join(lets)}


def read_cases() -> str:
    """The cases of `read_quantity`: how many numbers a kind has, and which must be positive."""
    lines = []
    for kind in KINDS.values():
        lines += [f'    case ("{kind.name}")', f"      call read_numbers(q, line, {len(kind.numbers)})"]
        for i, n in enumerate(kind.numbers, 1):
            if n.positive:
                failure = f'call fail("the {n.name} of a {kind.name} must be positive")'
                lines.append(f"      if (.not. q%a({i}) > 0) {failure}")
    return "".join(f"{line}\n" for line in lines)


def break_cases() -> str:
    """The cases of `find_breaks`: times at which a signal is not smooth."""
    lines = []
    for kind in KINDS.values():
        if kind.breaks:
            times = ", ".join(_printer(kind).text(x) for x in kind.breaks)
            lines += [f'          case ("{kind.name}")', *wrapped(f"            breaks = [breaks, {times}]")]
    return "".join(f"{line}\n" for line in lines)
