"""Signals of inputs in C: their numbers, values and breaks."""

from __future__ import annotations

from bellcrank.emit.formula import CFormula
from bellcrank.signals import KINDS, Kind, positive_numbers

NUMBERED = (*KINDS, "pieces", "function")  # as compiled code counts them


def signal_names() -> str:
    return f"enum {{ {', '.join(name.upper() for name in NUMBERED)} }};\n"


def _printer(kind: Kind) -> CFormula:
    names = {"t": "t", "two_pi": "two_pi", **{name: name for name, _ in kind.lets}}
    return CFormula(names | {name: f"a[{i}]" for i, name in enumerate(kind.names)})


def signal_cases() -> str:
    """The cases of `input_value`."""
    lines = []
    for kind in KINDS.values():
        printer = _printer(kind)
        lines.append(f"    case {kind.name.upper()}: {{ /* {', '.join(kind.names)} */")
        lines += [f"        const real {name} = {printer.text(x)};" for name, x in kind.lets]
        *first, last = [printer.text(x) for x in kind.orders]
        lines += [f"        if (in->rate == {i})\n            return {text};" for i, text in enumerate(first)]
        lines += [f"        return {last};", "    }"]
    return "".join(f"{line}\n" for line in lines)


def signal_values() -> str:
    """Kinds of signals, and the function of the kernel that gives their values."""
    return f"""{signal_names()}
static real input_value(const Input *in, real t)
{{
    const real two_pi = 6.283185307179586, *a = in->a;
    switch (in->kind) {{
{signal_cases()}    default: /* PIECES */
        return spline_value(in->n, in->x, in->pieces, in->rate, t);
    }}
}}
"""


def kind_rows() -> str:
    """What written programs know of the kinds: word, number, how many numbers, how often differentiable."""
    return ",\n    ".join(
        f'{{"{k.name}", {k.name.upper()}, {len(k.numbers)}, {len(k.orders) - 1}}}' for k in KINDS.values()
    )


def positive_rows() -> str:
    """The numbers that must be positive: kind, place, name."""
    return ", ".join(f'{{{k.name.upper()}, {i}, "{name}"}}' for k, i, name in positive_numbers())


def break_cases() -> str:
    """The cases of `signal_breaks`: times at which a signal is not smooth."""
    lines = []
    for kind in KINDS.values():
        if kind.breaks:
            lines.append(f"    case {kind.name.upper()}:")
            lines += [f"        at[{i}] = {_printer(kind).text(x)};" for i, x in enumerate(kind.breaks)]
            lines.append(f"        return {len(kind.breaks)};")
    return "".join(f"{line}\n" for line in lines)
