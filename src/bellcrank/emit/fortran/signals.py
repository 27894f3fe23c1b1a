"""Signals of inputs in Fortran: their numbers, values and breaks."""

from __future__ import annotations

from bellcrank.emit.formula import FortranFormula
from bellcrank.emit.fortran.lines import wrapped
from bellcrank.signals import KINDS, Kind, positive_numbers


def _printer(kind: Kind, a: str) -> FortranFormula:
    names = {"t": "at", "two_pi": "two_pi", **{name: name for name, _ in kind.lets}}
    return FortranFormula(names | {name: f"{a}({i})" for i, name in enumerate(kind.names, 1)})


def signal_cases() -> dict[str, str]:
    """The cases of `signal_value`, and the names of parts that they use."""
    lets = dict.fromkeys(name for kind in KINDS.values() for name, _ in kind.lets)
    lines: list[str] = []
    for kind in KINDS.values():
        printer = _printer(kind, "a")
        lines.append(f'      case ("{kind.name}") ! {", ".join(kind.names)}')
        lines += [line for name, x in kind.lets for line in wrapped(f"        {name} = {printer.text(x)}")]
        for order, x in enumerate(kind.orders):
            condition = f"if (slope == {order}) " if order else ""
            lines += wrapped(f"        {condition}value = {printer.text(x)}")
    return {"SIGNAL_CASES": "".join(f"{line}\n" for line in lines), "SIGNAL_LETS": ", ".join(lets)}


def break_cases() -> str:
    """The cases of `find_breaks`: times at which a signal is not smooth."""
    lines = []
    for kind in KINDS.values():
        if kind.breaks:
            times = ", ".join(_printer(kind, "s%a").text(x) for x in kind.breaks)
            lines += [f'        case ("{kind.name}")', f"          some = [{times}]"]
    return "".join(f"{line}\n" for line in lines)


def kind_tables() -> dict[str, str]:
    """Names of the kinds, how many numbers they have, how often they can be differentiated, which numbers must be
    positive."""
    width, kinds = max(8, *map(len, KINDS)), list(KINDS.values())
    positive = positive_numbers()
    longest = max(len(name) for _, _, name in positive)
    return {
        "N_KINDS": str(len(kinds)),
        "KIND_LENGTH": str(width),
        "KINDS": ", ".join(f'"{k.name:{width}}"' for k in kinds),
        "KIND_NUMBERS": ", ".join(str(len(k.numbers)) for k in kinds),
        "KIND_SMOOTH": ", ".join(str(len(k.orders) - 1) for k in kinds),
        "N_POSITIVE": str(len(positive)),
        "POSITIVE_KINDS": ", ".join(f'"{k.name:{width}}"' for k, _, _ in positive),
        "POSITIVE_NUMBERS": ", ".join(str(i + 1) for _, i, _ in positive),
        "POSITIVE_LENGTH": str(longest),
        "POSITIVE_NAMES": ", ".join(f'"{name:{longest}}"' for _, _, name in positive),
    }
