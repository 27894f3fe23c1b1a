"""Signals of inputs in Fortran: how they are read, their values and breaks."""

from __future__ import annotations

from bellcrank.codegen.fortran.line_wrapping import wrap_statement
from bellcrank.codegen.signal_formula import FortranSignalPrinter
from bellcrank.core.signals import SIGNAL_KINDS, SignalKind

ORDERS = ("", "", " twice")  # of derivatives


def _fortran_signal_printer(kind: SignalKind) -> FortranSignalPrinter:
    names = {"t": "at", "two_pi": "two_pi", **{name: name for name, _ in kind.local_definitions}}
    return FortranSignalPrinter(
        names | {name: f"a({i})" for i, name in enumerate(kind.parameter_names, 1)}
    )


def signal_cases() -> dict[str, str]:
    """The cases of `signal_value`, and the names of parts that they use."""
    lets = dict.fromkeys(
        name for kind in SIGNAL_KINDS.values() for name, _ in kind.local_definitions
    )
    lines: list[str] = []
    for kind in SIGNAL_KINDS.values():
        printer, count = _fortran_signal_printer(kind), len(kind.derivative_formulas)
        lines.append(f'    case ("{kind.name}") ! {", ".join(kind.parameter_names)}')
        lines += [
            line
            for name, x in kind.local_definitions
            for line in wrap_statement(f"      {name} = {printer.text(x)}")
        ]
        for order, x in enumerate(kind.derivative_formulas):
            condition = f"if (slope == {order}) " if order else ""
            lines += wrap_statement(f"      {condition}value = {printer.text(x)}")
        if count < len(ORDERS):
            lines.append(
                f'      if (slope >= {count}) call fail("a {kind.name} is not '
                f'differentiable{ORDERS[count]}")'
            )
    return {"SIGNAL_CASES": "".join(f"{line}\n" for line in lines), "SIGNAL_LETS": ", ".join(lets)}


def read_cases() -> str:
    """The cases of `read_quantity`: how many numbers a kind has, and which must be positive."""
    lines = []
    for kind in SIGNAL_KINDS.values():
        lines += [
            f'    case ("{kind.name}")',
            f"      call read_numbers(q, line, {len(kind.numbers)})",
        ]
        for i, n in enumerate(kind.numbers, 1):
            if n.positive:
                failure = f'call fail("the {n.name} of a {kind.name} must be positive")'
                lines.append(f"      if (.not. q%a({i}) > 0) {failure}")
    return "".join(f"{line}\n" for line in lines)


def break_cases() -> str:
    """The cases of `find_breaks`: times at which a signal is not smooth."""
    lines = []
    for kind in SIGNAL_KINDS.values():
        if kind.breaks:
            times = ", ".join(_fortran_signal_printer(kind).text(x) for x in kind.breaks)
            lines += [
                f'          case ("{kind.name}")',
                *wrap_statement(f"            breaks = [breaks, {times}]"),
            ]
    return "".join(f"{line}\n" for line in lines)
