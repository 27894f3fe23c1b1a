"""Signals of inputs in JavaScript: values and breaks by kind."""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.emit.formula import FormulaPrinter
from bellcrank.signals import KINDS, Kind


class JavaScriptFormula(FormulaPrinter):
    """min, sin and so on are those of Math."""

    AND = "&&"

    def chosen(self, test: str, yes: str, no: str) -> tuple[str, int]:
        return f"{test} ? {yes} : {no}", 0

    def call(self, name: str, arguments: list[str]) -> tuple[str, int]:
        return super().call(f"Math.{name}", arguments)


def javascript_signals(used: Iterable[str]) -> str:
    """`KINDS`: for each kind of signal that is used, `value(rate, t, a)` and `breaks(a)` with its numbers a."""
    listed = [_kind(KINDS[name]) for name in sorted(set(used))]
    return "\n".join(["const two_pi = 2*Math.PI, KINDS = {", *listed, "};", ""])


def _kind(kind: Kind) -> str:
    names = {"t": "t", "two_pi": "two_pi", **{name: name for name, _ in kind.lets}}
    printer = JavaScriptFormula(names | {name: f"a[{i}]" for i, name in enumerate(kind.names)})
    lines = [f"{kind.name}: {{", "  value(rate, t, a) {"]
    lines += [f"    const {name} = {printer.text(x)};" for name, x in kind.lets]
    *first, last = [printer.text(x) for x in kind.orders]
    lines += [f"    if (rate === {i}) return {text};" for i, text in enumerate(first)]
    listed = ", ".join(printer.text(x) for x in kind.breaks)
    return "\n".join([*lines, f"    return {last};", "  },", f"  breaks: a => [{listed}],", "},"])
