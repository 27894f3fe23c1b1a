"""Signals of inputs in C: their numbers, values and breaks."""

from __future__ import annotations

from bellcrank.codegen.signal_formula import CSignalPrinter
from bellcrank.core.signals import SIGNAL_KINDS, SignalKind, positive_numbers

NUMBERED = (*SIGNAL_KINDS, "pieces", "function")  # as compiled code counts them


def signal_names() -> str:
    return f"enum {{ {', '.join(name.upper() for name in NUMBERED)} }};\n"


def _c_signal_printer(kind: SignalKind) -> CSignalPrinter:
    names = {"t": "t", "two_pi": "two_pi", **{name: name for name, _ in kind.local_definitions}}
    return CSignalPrinter(names | {name: f"a[{i}]" for i, name in enumerate(kind.parameter_names)})


def signal_cases() -> str:
    """The cases of `input_value`."""
    lines = []
    for kind in SIGNAL_KINDS.values():
        printer = _c_signal_printer(kind)
        lines.append(f"    case {kind.name.upper()}: {{ /* {', '.join(kind.parameter_names)} */")
        lines += [
            f"        const real {name} = {printer.text(x)};" for name, x in kind.local_definitions
        ]
        *first, last = [printer.text(x) for x in kind.derivative_formulas]
        lines += [
            f"        if (in->rate == {i})\n            return {text};"
            for i, text in enumerate(first)
        ]
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
    """What written programs know of the kinds: word, number, how many numbers, how often
    differentiable."""
    return ",\n    ".join(
        f'{{"{k.name}", {k.name.upper()}, {len(k.numbers)}, {len(k.derivative_formulas) - 1}}}'
        for k in SIGNAL_KINDS.values()
    )


def positive_rows() -> str:
    """The numbers that must be positive: kind, place, name."""
    return ", ".join(f'{{{k.name.upper()}, {i}, "{name}"}}' for k, i, name in positive_numbers())


def break_cases() -> str:
    """The cases of `signal_breaks`: times at which a signal is not smooth."""
    lines = []
    for kind in SIGNAL_KINDS.values():
        if kind.breaks:
            lines.append(f"    case {kind.name.upper()}:")
            lines += [
                f"        at[{i}] = {_c_signal_printer(kind).text(x)};"
                for i, x in enumerate(kind.breaks)
            ]
            lines.append(f"        return {len(kind.breaks)};")
    return "".join(f"{line}\n" for line in lines)
